// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/check/checks_resctrl.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"
#include "platform/bpf/counters.h"
#include "platform/sys/cpus.h"
#include "platform/sys/resctrl.h"

#define AUDIT_NS      500000000ull
/* Traffic below this says nothing: caches and refresh decide where it is counted. */
#define LEAST_PER_S   100000000.0
/* More than a quarter apart, in either direction */
#define MOST_RATIO    1.25
#define READING_WORDS 3 /* of PERF_TIMES: value, enabled, running */

static const char remedy[] =
	"do not rely on resctrl on this machine: it counts at the caches, without devices, and "
	"some kernels scale it wrongly; \"t410trace check --selftest\" judges the counters";

/* "the groups say 2.0 times more"; false when both agree, or are too small to tell. */
static bool differ(double counted, double monitored, char *ret, size_t size)
{
	double ratio = monitored > 0 ? counted / monitored : 1e9;

	if ((counted < LEAST_PER_S && monitored < LEAST_PER_S) ||
	    (ratio <= MOST_RATIO && ratio >= 1 / MOST_RATIO))
		return false;
	if (monitored > 0)
		snprintf(ret, size, "the groups say %.1f times %s", ratio > 1 ? ratio : 1 / ratio,
			 ratio > 1 ? "less" : "more");
	else
		snprintf(ret, size, "the groups say that nothing was moved");
	return true;
}

static void limit(struct check_row *row, const char *what_to_do)
{
	row->status = CHECK_LIMITED;
	str_copy(row->remedy, sizeof(row->remedy), what_to_do);
}

static void judge_sum(const struct resctrl_audit *a, double s, struct check_row *ret_row)
{
	double counted = (double)a->counted / s, monitored = (double)a->monitored / s;
	char *found = ret_row->found, words[80];
	bool apart = differ(counted, monitored, words, sizeof(words));

	str_append(found, sizeof(ret_row->found), "; counters: %.3f GB/s", counted / 1e9);
	if (counted < LEAST_PER_S && monitored < LEAST_PER_S) {
		str_append(found, sizeof(ret_row->found), "; too little to compare");
	} else if (a->missing && counted >= monitored / MOST_RATIO) {
		str_append(found, sizeof(ret_row->found),
			   "; %" PRIu32 " of %" PRIu32 " domains have no number", a->missing,
			   a->domains);
		limit(ret_row,
		      "the sum of the groups cannot be compared; reports show groups with what "
		      "they lack");
	} else if (apart) {
		str_append(found, sizeof(ret_row->found), "; %s", words);
		limit(ret_row, remedy);
	}
}

static void judge_sockets(const struct resctrl_audit *a, double s, struct check_row *ret_row)
{
	double all = (double)a->monitored - (double)a->counted;
	bool sum_fits = ret_row->status == CHECK_OK;
	char words[80];

	for (size_t i = 0; i < a->nr_sockets; i++) {
		const struct resctrl_socket *k = &a->sockets[i];
		double more = (double)k->monitored - (double)k->counted;
		bool elsewhere = sum_fits && fabs(all) <= fabs(more) / 4;

		if (k->missing ||
		    !differ((double)k->counted / s, (double)k->monitored / s, words, sizeof(words)))
			continue;
		str_append(ret_row->found, sizeof(ret_row->found), "; socket %" PRId32 ": %s%s",
			   k->id, words,
			   elsewhere ? ", as when tasks use memory of other sockets" : "");
		if (!elsewhere && sum_fits)
			limit(ret_row, remedy);
	}
}

void check_judge_resctrl(const struct resctrl_audit *a, struct check_row *ret_row)
{
	double s = a->ns ? (double)a->ns / NS_PER_S : 1;

	*ret_row = (struct check_row){ .name = "resctrl", .status = CHECK_OK };
	snprintf(ret_row->found, sizeof(ret_row->found),
		 "%zu monitoring group%s, %.3f GB/s together", a->groups, a->groups == 1 ? "" : "s",
		 (double)a->monitored / s / 1e9);
	if (a->why[0]) {
		str_append(ret_row->found, sizeof(ret_row->found),
			   "; not compared with counters: %s", a->why);
		return;
	}
	judge_sum(a, s, ret_row);
	judge_sockets(a, s, ret_row);
}

/* A sum of the counters of each socket now */
struct sums {
	double bytes[RESCTRL_MAX_SOCKETS];
};

/* A negative errno when one does not count all the time. */
static int read_counters(const struct counters *c, struct sums *ret)
{
	*ret = (struct sums){ 0 };
	for (size_t i = 0; i < c->nr_events; i++) {
		const struct counted_event *e = &c->events[i];
		uint64_t words[READING_WORDS] = { 0 };

		if ((e->row->source != SOURCE_CPU && e->row->source != SOURCE_ANY) ||
		    e->row->unit != UNIT_BYTES)
			continue;
		if (c->ops->read(e->fd, words, READING_WORDS) != sizeof(words))
			return -EIO;
		if (words[2] < words[1])
			return -EBUSY;
		ret->bytes[c->items[e->counter].socket % RESCTRL_MAX_SOCKETS] +=
			(double)words[0] * e->scale.bytes / e->scale.counts;
	}
	return 0;
}

/* A domain's socket with counters, NULL when it is not known. */
static struct resctrl_socket *socket_of(const struct sysfs *fs, const struct cpu_map *cpus,
					const struct resctrl_domain *d, struct resctrl_audit *a)
{
	int cache = resctrl_domain_cache(d);
	int cpu = cache < 0 ? -1 : cpu_of_l3(fs, cpus->nr_cpus, cache);

	return cpu >= 0 && cpus->socket[cpu] < a->nr_sockets ? &a->sockets[cpus->socket[cpu]]
							     : NULL;
}

/* Add the bytes of control group @to on each socket; false when a domain's socket is unknown. */
static bool add_domains(const struct sysfs *fs, const struct cpu_map *cpus,
			const struct resctrl_group *from, const struct resctrl_group *to,
			struct resctrl_audit *a)
{
	for (size_t i = 0; i < to->nr; i++) {
		struct resctrl_socket *s = socket_of(fs, cpus, &to->domains[i], a);
		uint64_t bytes = 0;

		if (!s)
			return false;
		s->domains++;
		if (!from || resctrl_domain_since(from, &to->domains[i], &bytes) != RESCTRL_VALID)
			s->missing++;
		s->monitored += bytes;
	}
	return true;
}

static void add_groups(const struct sysfs *fs, const struct cpu_map *cpus,
		       const struct resctrl_reading *from, const struct resctrl_reading *to,
		       struct resctrl_audit *a)
{
	a->groups = to->nr;
	for (size_t i = 0; i < to->nr; i++) {
		const struct resctrl_group *g = &to->groups[i], *before;
		struct report_resctrl r = { 0 };

		if (!g->control)
			continue;
		before = resctrl_find(from, g->path);
		resctrl_since(before, g, &r);
		a->domains += r.domains;
		a->missing += r.state == RESCTRL_VALID ? r.missing : r.domains;
		a->monitored += r.state == RESCTRL_VALID ? r.bytes : 0;
		a->ns = r.ns ? r.ns : a->ns;
		if (a->nr_sockets && !add_domains(fs, cpus, before, g, a))
			a->nr_sockets = 0;
	}
	a->missing += to->cut;
	if (to->cut)
		a->nr_sockets = 0;
}

/* Sockets are compared one by one if there are several. */
static int make_sockets(const struct sysfs *fs, const struct counters *c, struct cpu_map *cpus,
			struct resctrl_audit *a)
{
	struct cpu_socket known[RESCTRL_MAX_SOCKETS];
	struct diag d = { 0 };
	int err;

	if (c->nr_sockets < 2 || c->nr_sockets > RESCTRL_MAX_SOCKETS)
		return 0;
	for (size_t i = 0; i < c->nr_sockets; i++) {
		known[i] = (struct cpu_socket){ c->sockets[i].id, c->sockets[i].cpus };
		a->sockets[i].id = c->sockets[i].id;
	}
	err = cpu_map_read(fs, known, c->nr_sockets, &d, cpus);
	a->nr_sockets = err ? 0 : c->nr_sockets;
	return err == -ENOMEM ? err : 0;
}

static void wait_ns(uint64_t ns)
{
	struct timespec t = { .tv_nsec = (long)ns };

	nanosleep(&t, NULL);
}

static void add_counted(const struct sums *before, const struct sums *after,
			struct resctrl_audit *a)
{
	for (size_t i = 0; i < RESCTRL_MAX_SOCKETS; i++) {
		double bytes = after->bytes[i] - before->bytes[i];

		if (bytes <= 0)
			continue;
		a->counted += (uint64_t)bytes;
		a->sockets[i].counted = (uint64_t)bytes;
	}
}

static int audit(const struct sysfs *fs, const char *root, const struct counters *c,
		 struct resctrl_audit *a)
{
	struct resctrl_reading from, to = { 0 };
	struct sums before = { 0 }, after = { 0 };
	struct cpu_map cpus = { 0 };
	int err = make_sockets(fs, c, &cpus, a), bad = 0;

	if (!err)
		err = resctrl_read(root, &from);
	if (err) {
		cpu_map_free(&cpus);
		return err;
	}
	bad = a->why[0] ? 0 : read_counters(c, &before);
	wait_ns(AUDIT_NS);
	err = resctrl_read(root, &to);
	if (!bad && !a->why[0])
		bad = read_counters(c, &after);
	if (!err)
		add_groups(fs, &cpus, &from, &to, a);
	if (bad)
		str_copy(a->why, sizeof(a->why),
			 bad == -EBUSY ? "others hold some of them" : "they cannot be read");
	else
		add_counted(&before, &after, a);
	resctrl_free(&from);
	resctrl_free(&to);
	cpu_map_free(&cpus);
	return err;
}

int check_resctrl(const struct perf_ops *ops, const struct sysfs *fs, const char *root,
		  const struct pmu_list *pmus, struct check_row *ret_row)
{
	struct resctrl_audit a = { 0 };
	struct counters c = { 0 };
	struct diag d = { 0 };
	int err;

	/* without monitoring nothing is opened */
	if (!resctrl_is_there(root))
		return -ENOENT;
	if (counters_open(ops, pmus, COUNTERS_SUMS, &d, &c))
		str_copy(a.why, sizeof(a.why), d.what);
	err = audit(fs, root, &c, &a);
	counters_close(&c);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	check_judge_resctrl(&a, ret_row);
	return 0;
}
