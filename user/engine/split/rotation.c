// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/split/rotation.h"

#include <math.h>

#include "base/array.h"
#include "engine/filter/constants.h"

/*
 * A turn of the kernel: one tick at 250 Hz (perf_event_mux_interval_ms). At most this fraction of
 * it counts as not counted.
 */
#define KERNEL_TURN_NS 4e6
#define KERNEL_MAX     0.5

void rotation_sums_add(struct rotation_sums *to, double bytes, double ns)
{
	to->bytes += bytes;
	to->squares += bytes * bytes;
	to->products += bytes * ns;
}

static void close_sample(struct rotation *r)
{
	if (r->open_ns <= 0)
		return;
	r->samples++;
	r->sample_squares += r->open_ns * r->open_ns;
	for (int i = 0; i < ROTATION_NR; i++) {
		rotation_sums_add(&r->sample[i], r->open[i], r->open_ns);
		r->open[i] = 0;
	}
	r->open_ns = 0;
}

void rotation_window(struct rotation *r, uint64_t enabled_ns, uint64_t running_ns,
		     const uint64_t bytes[2])
{
	const double b[ROTATION_NR] = { bytes[0], bytes[1], (double)bytes[0] + bytes[1] };
	double ns = running_ns;

	if (!enabled_ns && !running_ns)
		return;
	r->enabled_ns += enabled_ns;
	r->running_ns += running_ns;
	r->turns += running_ns && !r->ran;
	r->began = r->any ? r->began : running_ns != 0;
	r->ran = running_ns != 0;
	r->any = true;
	if (!running_ns) {
		close_sample(r);
		return;
	}
	r->open_ns += ns;
	r->window_squares += ns * ns;
	for (int i = 0; i < ROTATION_NR; i++) {
		r->open[i] += b[i];
		rotation_sums_add(&r->window[i], b[i], ns);
	}
	/* There are gaps inside such windows, so that each is a look of its own. */
	if (running_ns < enabled_ns)
		close_sample(r);
}

void rotation_end(struct rotation *r)
{
	close_sample(r);
}

void rotation_add(struct rotation *total, const struct rotation *next)
{
	if (!next->any)
		return;
	total->enabled_ns += next->enabled_ns;
	total->running_ns += next->running_ns;
	/* A turn that continued from one sum into the next is one turn. */
	total->turns += next->turns - (total->ran && next->began);
	total->began = total->any ? total->began : next->began;
	total->ran = next->ran;
	total->any = true;
	total->samples += next->samples;
	total->sample_squares += next->sample_squares;
	total->window_squares += next->window_squares;
	for (int i = 0; i < ROTATION_NR; i++) {
		total->sample[i].bytes += next->sample[i].bytes;
		total->sample[i].squares += next->sample[i].squares;
		total->sample[i].products += next->sample[i].products;
		total->window[i].bytes += next->window[i].bytes;
		total->window[i].squares += next->window[i].squares;
		total->window[i].products += next->window[i].products;
	}
}

double rotation_quantile(size_t freedom)
{
	static const double few[] = { 12.706, 4.303, 3.182, 2.776, 2.571,
				      2.447,  2.365, 2.306, 2.262, 2.228 };

	if (freedom <= ARRAY_SIZE(few))
		return few[freedom - 1];
	/* first terms of the expansion in 1 / freedom, good to three digits here */
	return Z_95 + 2.372 / freedom + 2.82 / ((double)freedom * freedom);
}

/* The sum of squared differences from the mean rate. */
static double residue(const struct rotation_sums *s, double time_squares, double rate)
{
	return fmax(s->squares - 2 * rate * s->products + rate * rate * time_squares, 0);
}

/*
 * n of n * ratio samples were drawn without replacement: the variance of the total is that of one
 * times (n * ratio)^2 * (1 - 1 / ratio) / n.
 */
double rotation_sample_doubt(size_t nr, double ratio, const struct rotation_sums *sums,
			     double time_squares, double rate)
{
	double n = nr, times = ratio * (ratio - 1);

	if (nr == 1)
		return Z_95 * sqrt(times * sums->squares);
	return rotation_quantile(nr - 1) *
	       sqrt(n / (n - 1) * times * residue(sums, time_squares, rate));
}

double rotation_doubt(const struct rotation *r, int which)
{
	double ratio, rate, lumps;

	if (!r->running_ns || r->enabled_ns <= r->running_ns || !r->samples)
		return 0;
	ratio = (double)r->enabled_ns / r->running_ns;
	rate = r->window[which].bytes / r->running_ns;
	/* There are many windows, so that n / (n - 1) is 1. */
	lumps = Z_95 *
		sqrt(ratio * (ratio - 1) * residue(&r->window[which], r->window_squares, rate));
	return fmax(lumps, rotation_sample_doubt(r->samples, ratio, &r->sample[which],
						 r->sample_squares, rate));
}

double rotation_edges(const struct rotation *r, int which)
{
	if (!r->running_ns || r->enabled_ns <= r->running_ns)
		return 0;
	return r->window[which].bytes * fmin(r->turns * EDGE_NS / r->running_ns, EDGE_MAX) *
	       ((double)r->enabled_ns / r->running_ns);
}

double rotation_stopped(const struct rotation *r, uint64_t turns, uint64_t gap_ns)
{
	return r->running_ns ? fmin(2 * EDGE_NS * turns, gap_ns) / r->running_ns : 0;
}

double rotation_unseen_doubt(double counted, double ratio, double squares)
{
	return fmax(SCALE_DOUBT * counted * (ratio - 1),
		    Z_95 * sqrt(ratio * (ratio - 1) * squares));
}

double rotation_kernel_edges(double value, double enabled_ns, double running_ns)
{
	double turns = fmin(running_ns, enabled_ns - running_ns) / KERNEL_TURN_NS + 1, fraction;

	if (!(running_ns > 0) || enabled_ns <= running_ns)
		return 0;
	fraction = fmin(turns * EDGE_NS / running_ns, KERNEL_MAX);
	return value * fraction / (1 - fraction);
}
