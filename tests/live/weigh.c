// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The kernel side's weights, added up: weigh [-f] [-k] [-t] [-w MS] EVENT[,EVENT]
 *
 * Keeps the ledger by process until its standard input ends, with a window every MS
 * (default 10), and says "ready" once it does; -k keeps the records in the ring until
 * then, full or not; -t closes windows at ticks, too; -f flushes all CPUs at each window's end, as
 * at the end of an interval. At the end, one line each, with a count per event:
 *
 *	process TGID CPU_NS COVERED_NS COUNT...
 *	unowned COUNT...	at most
 *	uneven NS...		distance of counts and covered time, slot by slot (task-clock)
 *	least COUNT...		what the events themselves say that processes must have
 *	most COUNT...
 *	losses KEPT WEIGHTS UNSEEN BAD
 *	slices TGID NR		of each process, in how many pieces its time came
 *	cgroup ID CPU_NS	of each cgroup
 *	windows NR NS		how many there were meanwhile, and in which time
 *	gap NS			CPU time of all CPUs that is missing, or there twice
 *	ways ASLEEP INTERRUPTED	of CPUs meanwhile, by how flushes got at them
 *	note TEXT		why "auto" did not get what it wanted
 *
 * The books of a CPU begin and end at a moment that the events were read just before and
 * just after: what they count in between may be in the books or not, nothing else.
 *
 * With EVENT "cpu-time" there are no weights: that is what the benchmark compares with.
 */
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "ledger_tool.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/cpulist.h"
#include "platform/core/weights.h"

struct row {
	uint64_t key; /* of processes their number, of cgroups theirs */
	uint64_t cpu_ns;
	uint64_t covered_ns;
	uint64_t count[LEDGER_MAX_WEIGHTS];
	uint64_t slices;
};

struct sums {
	struct row *rows;
	size_t nr, cap;
};

/* The books of a CPU are open between the first records that are complete up to two moments. */
enum books { BOOKS_BEFORE, BOOKS_OPEN, BOOKS_AFTER };

/* What all CPUs together had counted, and how much of that has no owner. */
struct counts {
	uint64_t kernel[LEDGER_MAX_WEIGHTS];
	uint64_t unowned[LEDGER_MAX_WEIGHTS];
};

/* Running totals of the ledger. */
struct totals {
	struct ledger_losses losses;
	struct ledger_ways ways;
};

static struct weights weights;
static struct ledger *ledger;
static struct sums sums, cgroups;
static enum books books[CPULIST_MAX_CPUS];
static uint64_t booked_to_ns[CPULIST_MAX_CPUS]; /* begin of the books and all time in them */
static uint64_t gap_ns, windows, window_ns;
static uint64_t turn_ns = UINT64_MAX; /* records that reach it open or close the books */
static enum books turn_to;
static uint64_t bad;
static uint64_t uneven[LEDGER_MAX_WEIGHTS];

static struct row *row_of(struct sums *all, uint64_t key)
{
	for (size_t i = 0; i < all->nr; i++)
		if (all->rows[i].key == key)
			return &all->rows[i];
	if (array_reserve(all->rows, all->cap, all->nr))
		fatal("memory", NULL);
	all->rows[all->nr] = (struct row){ .key = key };
	return &all->rows[all->nr++];
}

static void weigh(struct row *row, const struct ledger_slot *s, const struct ledger_weight *w)
{
	/* Nobody is weighed for longer than he was there, nor without time. */
	if (w->covered_ns > s->on_cpu_ns || (!w->covered_ns && w->count[0]))
		bad++;
	row->covered_ns += w->covered_ns;
	for (int e = 0; e < LEDGER_MAX_WEIGHTS; e++) {
		row->count[e] += w->count[e];
		uneven[e] += llabs((long long)(w->count[e] - w->covered_ns));
	}
}

static void on_slices(void *arg, const struct ledger_slices *r, const struct ledger_weights *w)
{
	uint32_t cpu = r->h.cpu % CPULIST_MAX_CPUS;

	(void)arg;
	for (uint32_t i = 0; books[cpu] == BOOKS_OPEN && i < r->nr; i++) {
		struct row *row = row_of(&sums, r->slots[i].tgid);

		row->cpu_ns += r->slots[i].on_cpu_ns;
		row_of(&cgroups, r->slots[i].cgroup_id)->cpu_ns += r->slots[i].on_cpu_ns;
		row->slices += r->slots[i].on_cpu_ns != 0;
		booked_to_ns[cpu] += r->slots[i].on_cpu_ns;
		if (w)
			weigh(row, &r->slots[i], &w->slots[i]);
	}
	/* Each record says how far the books have come, and the sum of all slots must agree. */
	if (books[cpu] == BOOKS_OPEN)
		gap_ns += llabs((long long)(r->until_ns - booked_to_ns[cpu]));
	booked_to_ns[cpu] = r->until_ns;
	if (r->until_ns >= turn_ns && books[cpu] != turn_to)
		books[cpu]++;
}

static const struct ledger_sink sink = { on_slices,	ignore_window, ignore_task,
					 ignore_cgroup, NULL,	       NULL };

static void read_counts(struct counts *ret)
{
	struct ledger_losses losses;

	*ret = (struct counts){ 0 };
	for (uint32_t e = 0; e < weights.nr; e++) {
		for (uint32_t cpu = 0; cpu < weights.nr_cpus; cpu++) {
			struct ledger_value value;

			if (weights.fds[e][cpu] >= 0 &&
			    read(weights.fds[e][cpu], &value, sizeof(value)) == sizeof(value))
				ret->kernel[e] += value.count;
		}
	}
	ledger_losses(ledger, &losses);
	memcpy(ret->unowned, losses.unowned, sizeof(ret->unowned));
}

static void flush(void)
{
	if (ledger_flush(ledger, &sink) || ledger_settle(ledger, &sink))
		fatal("flush", NULL);
}

/* Opens or closes the books of all CPUs, between the readings @before and @after. */
static void turn(enum books to, struct counts *before, struct counts *after)
{
	/* The next one wants all time up to now, not up to a window's end. */
	flush();
	read_counts(before);
	turn_to = to;
	turn_ns = monotonic_ns();
	flush();
	read_counts(after);
	turn_ns = UINT64_MAX;
}

static void start(const char *spec, bool tick)
{
	uint32_t cpu_socket[CPULIST_MAX_CPUS] = { 0 };
	struct ledger_options o = { .cpu_socket = cpu_socket, .tick = tick };
	struct diag d = { 0 };
	struct sysfs fs;

	o.nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (sysfs_open(NULL, &d, &fs) ||
	    weights_open(&perf_kernel, &fs, spec, o.nr_cpus, &d, &weights))
		fatal("weights", &d);
	sysfs_close(&fs);
	o.nr_weights = weights.nr;
	if (ledger_open(&o, &d, &ledger))
		fatal("ledger", &d);
	if (ledger_tick_missing(ledger)[0])
		fatal(ledger_tick_missing(ledger), NULL);
	for (uint32_t e = 0; e < weights.nr; e++)
		if (ledger_weights(ledger, e, weights.fds[e], &d))
			fatal("ledger", &d);
	if (ledger_attach(ledger, &d))
		fatal("ledger", &d);
}

static void follow(int window_ms, bool keep, bool flushes)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t begin_ns = monotonic_ns();
	char byte;

	while (poll(&input, 1, window_ms) <= 0 || read(STDIN_FILENO, &byte, 1) > 0) {
		ledger_mark(ledger, 0, monotonic_ns());
		windows++;
		if (flushes)
			flush();
		else if (!keep && ledger_drain(ledger, &sink))
			fatal("drain", NULL);
	}
	window_ns = monotonic_ns() - begin_ns;
}

static void say_counts(const char *what, const uint64_t *counts)
{
	printf("%s", what);
	for (uint32_t e = 0; e < weights.nr; e++)
		printf(" %" PRIu64, counts[e]);
	printf("\n");
}

/* Of two readings at the begin and two at the end: what is between the inner, and the outer ones. */
static void say_bounds(const struct counts at[4])
{
	uint64_t unowned[LEDGER_MAX_WEIGHTS], least[LEDGER_MAX_WEIGHTS], most[LEDGER_MAX_WEIGHTS];

	for (uint32_t e = 0; e < weights.nr; e++) {
		unowned[e] = at[3].unowned[e] - at[0].unowned[e];
		least[e] = at[2].kernel[e] - at[1].kernel[e];
		least[e] -= least[e] < unowned[e] ? least[e] : unowned[e];
		most[e] = at[3].kernel[e] - at[0].kernel[e] - (at[2].unowned[e] - at[1].unowned[e]);
	}
	say_counts("unowned", unowned);
	say_counts("uneven", uneven);
	say_counts("least", least);
	say_counts("most", most);
}

static void say(const struct counts at[4], const struct totals *before)
{
	struct ledger_losses now;
	struct ledger_ways ways;
	char text[128];

	ledger_losses(ledger, &now);
	for (size_t i = 0; i < sums.nr; i++) {
		const struct row *row = &sums.rows[i];

		snprintf(text, sizeof(text), "process %" PRIu64 " %" PRIu64 " %" PRIu64, row->key,
			 row->cpu_ns, row->covered_ns);
		say_counts(text, row->count);
	}
	say_bounds(at);
	printf("losses %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	       now.kept_flushes - before->losses.kept_flushes, now.weights - before->losses.weights,
	       now.unseen - before->losses.unseen, now.bad + bad);
	for (size_t i = 0; i < sums.nr; i++)
		printf("slices %" PRIu64 " %" PRIu64 "\n", sums.rows[i].key, sums.rows[i].slices);
	for (size_t i = 0; i < cgroups.nr; i++)
		printf("cgroup %" PRIu64 " %" PRIu64 "\n", cgroups.rows[i].key,
		       cgroups.rows[i].cpu_ns);
	printf("windows %" PRIu64 " %" PRIu64 "\n", windows, window_ns);
	printf("gap %" PRIu64 "\n", gap_ns);
	ledger_ways(ledger, &ways);
	printf("ways %" PRIu64 " %" PRIu64 "\n", ways.asleep - before->ways.asleep,
	       ways.interrupted - before->ways.interrupted);
	printf("note %s\n", weights.note);
}

int main(int argc, char **argv)
{
	struct totals before;
	struct counts at[4];
	int window_ms = 10, option;
	bool flushes = false, keep = false, tick = false;

	while ((option = getopt(argc, argv, "fktw:")) != -1) {
		if (option == 'f')
			flushes = true;
		else if (option == 'k')
			keep = true;
		else if (option == 't')
			tick = true;
		else if (option == 'w' && atoi(optarg) > 0)
			window_ms = atoi(optarg);
		else
			return 2;
	}
	if (argc != optind + 1)
		return 2;
	start(argv[optind], tick);
	/* The ledger of a CPU that has not switched yet begins with its first flush. */
	flush();
	ledger_losses(ledger, &before.losses);
	turn(BOOKS_OPEN, &at[0], &at[1]);
	ledger_ways(ledger, &before.ways);
	printf("ready\n");
	fflush(stdout);
	follow(window_ms, keep, flushes);
	turn(BOOKS_AFTER, &at[2], &at[3]);
	say(at, &before);
	ledger_free(ledger);
	weights_close(&weights);
	free(sums.rows);
	free(cgroups.rows);
	return 0;
}
