// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/filter/filter.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"

static struct params params_of(enum filter_kind kind)
{
	const struct params unknown = { .prior = UNKNOWN_PRIOR,
					.kin = UNKNOWN_KIN,
					.wander = UNKNOWN_WANDER,
					.tau_s = UNKNOWN_TAU_S,
					.background = UNKNOWN_BACKGROUND,
					.start = UNKNOWN_START,
					.phase = UNKNOWN_PHASE,
					.max_phase = MAX_PHASE,
					.max_noise = MAX_NOISE,
					.limited = true,
					.timing_tau_s = TIMING_TAU_S,
					.each = SIMPLE_UNKNOWN,
					.tail = SHOCK_TAIL };
	const struct params traffic = { .prior = TRAFFIC_PRIOR,
					.common = TRAFFIC_MEAN,
					.wander = TRAFFIC_WANDER,
					.tau_s = TRAFFIC_TAU_S,
					.background = TRAFFIC_BACKGROUND,
					.phase = TRAFFIC_PHASE,
					.max_phase = MAX_PHASE,
					.max_noise = MAX_NOISE,
					.timing_tau_s = TRAFFIC_TIMING_TAU_S,
					.each = SIMPLE_TRAFFIC,
					.beside = SIMPLE_BESIDE,
					.tail = SHOCK_TAIL };
	const struct params of[NR_FILTER_KINDS] = {
		[FILTER_CPU_TIME] = unknown,
		[FILTER_WORK] = unknown,
		[FILTER_TRAFFIC] = traffic,
		[FILTER_MINIMUM] = traffic,
		[FILTER_IO] = { .prior = IO_PRIOR,
				.wander = IO_WANDER,
				.tau_s = IO_TAU_S,
				.background = IO_BACKGROUND,
				.phase = IO_PHASE,
				.max_phase = IO_MAX_PHASE,
				.max_noise = IO_MAX_NOISE,
				.mean = IO_MEAN,
				.timing_tau_s = TIMING_TAU_S,
				.bursts = IO_BURSTS },
	};

	return of[kind];
}

static void begin(struct filter *f)
{
	f->noise = NOISE_AT_FIRST;
	f->phase = f->params.phase;
	f->timing = f->params.mean > 0 ? 0 : TIMING_AT_FIRST_S;
	memset(f->lag, 0, sizeof(f->lag));
	memset(f->lag_num, 0, sizeof(f->lag_num));
	memset(f->lag_den, 0, sizeof(f->lag_den));
	f->lead = f->lead_num = f->lead_den = 0;
	f->bytes = f->activity = f->mean = 0;
	f->blocks = 0;
	memset(f->evidence, 0, sizeof(f->evidence));
	f->simple = (struct simple_model){ 0 };
	filter_state_free(&f->state);
}

struct filter_workspace *filter_workspace_new(void)
{
	return calloc(1, sizeof(struct filter_workspace));
}

void filter_workspace_free(struct filter_workspace *workspace)
{
	if (!workspace)
		return;
	matrix_free(&workspace->spare);
	filter_work_free(&workspace->work);
	matrix_free(&workspace->out.expected);
	matrix_free(&workspace->out.carried);
	matrix_free(&workspace->out.covariance);
	matrix_free(&workspace->out.alike);
	free(workspace);
}

int filter_new(enum filter_kind kind, struct filter_workspace *workspace, struct filter **ret)
{
	struct filter *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->params = params_of(kind);
	f->workspace = workspace;
	f->work = &workspace->work;
	f->out = &workspace->out;
	begin(f);
	*ret = f;
	return 0;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	filter_state_free(&f->state);
	free(f->parked);
	free(f);
}

void filter_forget(struct filter *f, uint32_t workload)
{
	for (size_t i = 1; i < f->state.nr; i++)
		if (f->state.entries[i].workload == workload)
			f->state.entries[i].workload = NO_WORKLOAD;
	for (size_t i = 0; i < f->nr_parked; i++) {
		struct parked *p = &f->parked[i];
		size_t same;

		if (p->workload != workload)
			continue;
		/* Its kin may need it; of ended ones, each program keeps one. */
		same = p->kin ? filter_kin_parked(f, p->kin) : i;
		p->workload = NO_WORKLOAD;
		if (same == SIZE_MAX)
			continue;
		if (f->parked[same].since_s < p->since_s)
			f->parked[same] = *p;
		f->parked[i--] = f->parked[--f->nr_parked];
	}
}

/*
 * Evidence from earlier blocks counts less and less. Shocks come last: they are fitted to the
 * block, so little of it looks like noise once they are there, and sizes learned after them would
 * be too small.
 */
static int solve_and_learn(struct filter *f, const struct filter_input *in)
{
	/* Scales of I/O are known. */
	bool refine = f->params.mean <= 0 && f->work->nr_fresh;
	int rounds = f->blocks < (uint64_t)EARLY_BLOCKS ? SIZE_ROUNDS : LATER_ROUNDS;
	double before[2 * NR_SIZES];
	int err = 0;

	for (int i = 0; i < 2 * NR_SIZES; i++)
		before[i] = EVIDENCE_KEPT * f->evidence[i];
	err = filter_solve_block(f, in, refine);
	for (int i = 0; !err && i < JUMP_ROUNDS && f->blocks && !in->lead; i++) {
		size_t steps = f->work->nr_steps;
		bool jumped;

		err = filter_jump_find(f, &jumped);
		if (err || !jumped)
			break;
		/* A step within the block does not change the state at its start. */
		if (f->work->nr_steps == steps)
			err = filter_solve_prepare(f, in);
		if (!err)
			err = filter_solve_block(f, in, false);
	}
	for (int round = 0; !err; round++) {
		if (round)
			err = filter_solve_block(f, in, false);
		if (err || !filter_solve_learn_sizes(f, before) || round == rounds)
			break;
	}
	for (int i = 0; !err && f->params.tail > 0 && i < SHOCK_ROUNDS; i++) {
		err = filter_phase_shock(f);
		err = err ? err : filter_solve_block(f, in, false);
	}
	return err;
}

/*
 * Despite all that was learned, the bytes deviate more than they should: the intensities are wrong,
 * and would stay wrong because the filter holds them to be certain.
 */
static bool lost_track(const struct filter *f)
{
	const struct work *w = f->work;

	return matrix_dot(w->white, w->white, w->t) > LOST_TRACK * w->t;
}

/*
 * Intensities were learned from counts that seemed to be known window by window; only now it turns
 * out that they are not.
 */
static bool was_misled(const struct filter *f, const struct filter_limit *before)
{
	return f->work->paced && !before->known;
}

/* State that a block changes before the filter is advanced over it. */
struct attempt {
	double noise, phase, timing, evidence[2 * NR_SIZES];
	double lag_num[FILTER_LAGS], lag_den[FILTER_LAGS][FILTER_LAGS];
};

static struct attempt before_attempt(const struct filter *f)
{
	struct attempt was = { .noise = f->noise, .phase = f->phase, .timing = f->timing };

	memcpy(was.evidence, f->evidence, sizeof(was.evidence));
	memcpy(was.lag_num, f->lag_num, sizeof(was.lag_num));
	memcpy(was.lag_den, f->lag_den, sizeof(was.lag_den));
	return was;
}

/* The block will be solved again; the lag learned from it stays. */
static void try_again(struct filter *f, const struct attempt *was)
{
	f->noise = was->noise;
	f->phase = was->phase;
	f->timing = was->timing;
	memcpy(f->evidence, was->evidence, sizeof(was->evidence));
	memcpy(f->lag_num, was->lag_num, sizeof(was->lag_num));
	memcpy(f->lag_den, was->lag_den, sizeof(was->lag_den));
	filter_solve_forget_fresh(f);
	filter_jump_forget(f);
}

/* Enters the workloads of a block and solves it. */
static int enter_and_solve(struct filter *f, const struct filter_input *in)
{
	struct attempt was = before_attempt(f);
	int err = filter_work_shape(f->work, in->nr_windows, in->nr_workloads + 1, f->state.nr);

	f->work->nr_steps = 0;
	memset(f->work->widened, 0, sizeof(f->work->widened));
	for (int round = 0; !err; round++) {
		double before[FILTER_LAGS] = { f->lag[0], f->lag[1] };

		filter_phase_calm(f);
		err = filter_solve_prepare(f, in);
		if (!err)
			err = solve_and_learn(f, in);
		if (err || in->lead)
			return err;
		filter_lag_learn(f, in);
		if (round == LAG_ROUNDS ||
		    fabs(f->lag[0] - before[0]) + fabs(f->lag[1] - before[1]) < LAG_NEWS)
			break;
		try_again(f, &was);
	}
	return err;
}

/* The same; solved once more if the result shows that there is a limit, or none. */
static int find_limit_and_solve(struct filter *f, const struct filter_input *in)
{
	struct attempt was = before_attempt(f);
	double lag[FILTER_LAGS];
	int err;

	memcpy(lag, f->lag, sizeof(lag));
	err = enter_and_solve(f, in);
	if (err || in->no_limit || !filter_saturation_judge(f, in))
		return err;
	try_again(f, &was);
	memcpy(f->lag, lag, sizeof(lag));
	return enter_and_solve(f, in);
}

int filter_block(struct filter *f, const struct filter_input *in, const struct filter_output **ret)
{
	const struct filter_limit limit = f->limit;
	int err;

	if (!in->nr_windows || in->nr_windows > FILTER_MAX_WINDOWS || !in->nr_workloads ||
	    in->nr_workloads > FILTER_MAX_WORKLOADS || !in->lead != !(f->params.mean > 0))
		return -EINVAL;
	err = filter_state_update(f, in);
	if (err)
		return err; /* nothing happened: all knowledge stays */
	err = find_limit_and_solve(f, in);
	if (!err && f->blocks++ && (lost_track(f) || was_misled(f, &limit))) {
		if (!was_misled(f, &limit))
			f->limit = limit;
		begin(f);
		err = filter_state_update(f, in);
		if (!err)
			err = find_limit_and_solve(f, in);
	}
	if (!err && !in->lead)
		filter_simple_judge(f, in);
	if (!err)
		err = filter_result_make(f, in);
	if (!err) {
		if (in->lead)
			filter_lag_learn_lead(f, in);
		err = filter_state_advance(f, in);
	}
	if (err) {
		begin(f);
		f->limit = (struct filter_limit){ 0 };
		return err;
	}
	*ret = f->out;
	return 0;
}
