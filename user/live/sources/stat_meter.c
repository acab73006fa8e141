// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/sources/stat_meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/text.h"
#include "engine/stat/stat_book.h"
#include "platform/meter/meter.h"
#include "platform/pmu/explain.h"
#include "platform/pmu/fit.h"
#include "platform/pmu/platform_file.h"
#include "platform/sys/smbios.h"
#include "trace.h"

/*
 * A turn should be long compared with the cost of changing turns, some microseconds for each PMU of
 * a CPU, and short compared with the changes of a workload. In an interval each set of events
 * should get two turns, in a short one rather short turns than none.
 */
#define TURN_NS		   50000000ull
#define TURN_MANY_NS	   20000000ull
#define TURN_MIN_NS	   5000000ull
#define TURNS_PER_INTERVAL 8
/* To guess the number of sets; only trying tells what really fits. */
#define EVENTS_PER_TURN	   6

struct stat_meter {
	double budget;
	struct sysfs fs;
	struct pmu_list pmus;
	struct metric_selection selection;
	struct meter *meter;
	struct stat_book *book;
	struct host_info host;
	struct stat_cost *costs; /* by PMU of the layout */
	uint32_t *pmu_of;	 /* by number of the meter: PMU of the layout */
	uint32_t *counters;	 /* of the current segment */
	struct reading *readings;
	uint8_t *taken; /* by counter: it is in that segment already */
	uint64_t sequence;
	uint64_t cpu_ns, interval_cpu_ns; /* our CPU time when the run and the interval began */
};

static uint64_t own_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* --- choice of counters */

static bool has_socket(const struct pmu_list *pmus, int32_t socket)
{
	for (size_t i = 0; i < pmus->nr; i++)
		if (pmus->pmus[i].socket == socket)
			return true;
	return false;
}

/* As in live runs. */
static void find_peaks(struct stat_meter *m, const struct peaks_wanted *wanted)
{
	uint32_t ids[SMBIOS_MAX_SOCKETS], nr = 0;
	struct diag absent = { 0 };

	for (; nr < m->host.sockets && nr < SMBIOS_MAX_SOCKETS; nr++)
		ids[nr] = nr;
	if (nr && !wanted->none && !wanted->bytes_per_s[PEAK_CMEM])
		smbios_peaks(&m->fs, ids, nr, &absent, &m->host.peaks);
	peaks_apply(&m->host.peaks, wanted);
}

static void describe_host(struct stat_meter *m, const struct peaks_wanted *wanted)
{
	const struct pmu_platform_row *platform;
	struct utsname u;

	if (!uname(&u)) {
		str_copy(m->host.name, sizeof(m->host.name), u.nodename);
		str_copy(m->host.kernel, sizeof(m->host.kernel), u.release);
	}
	platform = pmu_platform_row(pmu_list_platform(&m->pmus));
	str_copy(m->host.platform, sizeof(m->host.platform), platform ? platform->name : "none");
	for (size_t i = 0; i < m->pmus.nr; i++) {
		const struct pmu *pmu = &m->pmus.pmus[i];

		if (pmu->socket >= 0 && (uint32_t)pmu->socket >= m->host.sockets)
			m->host.sockets = pmu->socket + 1;
	}
	find_peaks(m, wanted);
}

static void describe_cores(struct stat_meter *m, const char *whose)
{
	for (size_t i = 0; i < m->selection.layout.nr_pmus; i++) {
		struct stat_pmu *p = &m->selection.layout.pmus[i];

		if (p->cores)
			str_copy(p->title, sizeof(p->title), whose);
	}
}

static int add_notes(struct stat_meter *m, struct diag *d)
{
	cleanup_texts struct text_list notes = { 0 };
	int err = pmu_notes(&m->pmus, m->host.kernel, &notes);

	if (!err)
		err = pmu_fit_doubts(&m->fs, &m->pmus, &notes);
	for (size_t i = 0; !err && i < notes.nr; i++)
		err = metric_selection_note(&m->selection, notes.items[i]);
	return err ? diag_error(d, err, "cannot say how the PMUs are") : 0;
}

/* Virtual machines have the energy PMU too, with nothing to count. */
static bool only_energy(const struct pmu_list *pmus)
{
	for (size_t i = 0; i < pmus->nr; i++)
		if (!pmus->pmus[i].family->energy_only)
			return false;
	return true;
}

static int choose(struct stat_meter *m, const struct metric_options *o, struct diag *d)
{
	int err = sysfs_open(NULL, d, &m->fs);

	if (!err)
		err = pmu_list_read(&m->fs, d, &m->pmus);
	if (!err)
		err = platform_file_check(&m->fs, &m->pmus, d);
	if (!err && o->socket >= 0 && m->pmus.nr && !has_socket(&m->pmus, o->socket)) {
		err = diag_fail(d, -ENODEV, "no uncore PMU is about socket %d", o->socket);
		diag_help(d, "\"t410trace list\" shows which sockets there are");
	}
	if (!err)
		err = metric_select(&m->fs, &m->pmus, o, d, &m->selection);
	if (!err && !m->selection.wants.nr) {
		if (!m->pmus.nr || (only_energy(&m->pmus) && !o->nr_metrics))
			return no_pmu_diag(&m->fs, d);
		err = diag_fail(d, -ENODEV, "no PMU here counts what was asked for");
		diag_help(d, "\"t410trace list\" shows the PMUs, their events and filters");
	}
	return err;
}

static int reserve(struct stat_meter *m, struct diag *d)
{
	const struct stat_layout *l = &m->selection.layout;

	m->costs = calloc(l->nr_pmus + 1, sizeof(*m->costs));
	m->pmu_of = calloc(l->nr_pmus + 1, sizeof(*m->pmu_of));
	m->counters = calloc(l->nr_counters + 1, sizeof(*m->counters));
	m->readings = calloc(l->nr_counters + 1, sizeof(*m->readings));
	m->taken = calloc(l->nr_counters + 1, sizeof(*m->taken));
	if (!m->costs || !m->pmu_of || !m->counters || !m->readings || !m->taken)
		return diag_no_memory(d);
	return 0;
}

int stat_meter_new(const struct stat_meter_options *o, struct diag *d, struct stat_meter **ret)
{
	struct stat_meter *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return diag_no_memory(d);
	m->fs.fd = -1;
	m->budget = o->budget;
	err = choose(m, &o->metrics, d);
	if (!err) {
		describe_host(m, &o->peaks);
		describe_cores(m, o->cores);
		err = add_notes(m, d);
	}
	if (!err)
		err = reserve(m, d);
	if (err) {
		stat_meter_free(m);
		return err;
	}
	*ret = m;
	return 0;
}

void stat_meter_free(struct stat_meter *m)
{
	if (!m)
		return;
	stat_meter_stop(m);
	metric_selection_free(&m->selection);
	pmu_list_free(&m->pmus);
	sysfs_close(&m->fs);
	free(m->costs);
	free(m->pmu_of);
	free(m->counters);
	free(m->readings);
	free(m->taken);
	free(m);
}

/* --- counting */

static bool has_note(const struct stat_layout *l, const char *text)
{
	for (size_t i = 0; i < l->notes.nr; i++)
		if (!strcmp(l->notes.items[i], text))
			return true;
	return false;
}

/* Note events that the kernel rejected in the book, with a note for each PMU. */
static int note_refused(struct stat_meter *m, struct diag *d)
{
	const struct stat_layout *l = &m->selection.layout;
	uint32_t last = UINT32_MAX;
	char text[512];
	int err = 0;

	for (size_t i = 0; !err && i < m->selection.wants.nr; i++) {
		int refused = meter_refused(m->meter, i);
		uint32_t counter = m->selection.counter_of[i];

		if (!refused)
			continue;
		stat_book_refuse(m->book, counter);
		if (l->counters[counter].pmu == last)
			continue;
		last = l->counters[counter].pmu;
		snprintf(text, sizeof(text), "%s is refused: %s", l->counters[counter].name,
			 strerror(-refused));
		/* An earlier start may have noted it, too. */
		if (!has_note(l, text))
			err = metric_selection_note(&m->selection, text);
	}
	return err ? diag_error(d, err, "cannot say what is refused") : 0;
}

static uint64_t turn_length(const struct stat_layout *l, uint64_t time)
{
	uint64_t turn, max = 1;

	for (size_t i = 0, nr = 0; i < l->nr_counters; i++) {
		/* The kernel multiplexes events of the cores, not we. */
		if (l->pmus[l->counters[i].pmu].cores)
			continue;
		/* counters of a PMU are mostly consecutive */
		nr = i && l->counters[i].pmu == l->counters[i - 1].pmu ? nr + 1 : 1;
		max = nr > max ? nr : max;
	}
	turn = time / 2 / (max / EVENTS_PER_TURN + 1);
	if (turn < TURN_MANY_NS)
		turn = TURN_MANY_NS;
	if (turn > time / TURNS_PER_INTERVAL)
		turn = time / TURNS_PER_INTERVAL;
	if (turn < TURN_MIN_NS)
		turn = TURN_MIN_NS;
	return turn < TURN_NS ? turn : TURN_NS;
}

int stat_meter_start(struct stat_meter *m, uint64_t time_ns, pid_t pid, bool on_exec,
		     struct diag *d)
{
	const struct stat_layout *l = &m->selection.layout;
	const struct meter_options o = {
		.budget = m->budget,
		.turn_ns = turn_length(l, time_ns ? time_ns : NS_PER_S),
		.first_ns = time_ns && time_ns < NS_PER_S ? time_ns : NS_PER_S,
		.pid = pid,
		.enable_on_exec = on_exec,
	};
	int err;

	memset(m->costs, 0, l->nr_pmus * sizeof(*m->costs));
	m->sequence = 0;
	m->cpu_ns = m->interval_cpu_ns = own_cpu_ns();
	err = stat_book_new(l, monotonic_ns(), d, &m->book);
	if (!err)
		err = meter_open(&m->selection.wants, &m->fs, &o, d, &m->meter);
	if (!err) {
		for (size_t i = 0; i < m->selection.wants.nr; i++) {
			uint32_t number = meter_pmu(m->meter, i);

			if (number < l->nr_pmus)
				m->pmu_of[number] = l->counters[m->selection.counter_of[i]].pmu;
		}
		err = note_refused(m, d);
	}
	if (err)
		stat_meter_stop(m);
	return err;
}

void stat_meter_stop(struct stat_meter *m)
{
	meter_close(m->meter);
	stat_book_free(m->book);
	m->meter = NULL;
	m->book = NULL;
}

/* From wants, some of which mean the same event, to counters. */
static int on_segment(void *arg, const struct stat_segment *segment)
{
	struct stat_meter *m = arg;
	const struct stat_layout *l = &m->selection.layout;
	struct stat_segment mine = *segment;

	mine.nr = 0;
	mine.counters = m->counters;
	mine.readings = m->readings;
	if (segment->pmu >= l->nr_pmus)
		return -EINVAL;
	mine.pmu = m->pmu_of[segment->pmu];
	for (size_t i = 0; i < segment->nr; i++) {
		uint32_t counter = m->selection.counter_of[segment->counters[i]];

		if (m->taken[counter])
			continue;
		m->taken[counter] = 1;
		m->counters[mine.nr] = counter;
		m->readings[mine.nr++] = segment->readings[i];
	}
	for (size_t i = 0; i < mine.nr; i++)
		m->taken[m->counters[i]] = 0;
	return stat_book_segment(m->book, &mine);
}

uint64_t stat_meter_next_ns(const struct stat_meter *m)
{
	return meter_next_ns(m->meter);
}

int stat_meter_step(struct stat_meter *m, struct diag *d)
{
	const struct meter_sink sink = { on_segment, m };

	return meter_step(m->meter, monotonic_ns(), &sink, d);
}

int stat_meter_read(struct stat_meter *m, bool last, struct diag *d)
{
	const struct stat_layout *l = &m->selection.layout;
	const struct meter_sink sink = { on_segment, m };
	int err = meter_read(m->meter, last, &sink, d);

	for (size_t i = 0; !err && i < l->nr_pmus; i++)
		meter_cost(m->meter, i, &m->costs[m->pmu_of[i]]);
	return err;
}

/* --- reports */

/* The parts of a report besides its book. */
static void finish_report(struct stat_meter *m, struct stat_report *r)
{
	uint64_t cpu_ns = own_cpu_ns();

	r->host = &m->host;
	r->sequence = m->sequence++;
	r->start_time_ns = r->start_ns + clock_ahead_ns(CLOCK_REALTIME);
	r->budget = m->budget;
	r->busiest = meter_busiest(m->meter);
	r->cpu_ns = cpu_ns - (r->summary ? m->cpu_ns : m->interval_cpu_ns);
	m->interval_cpu_ns = cpu_ns;
}

int stat_meter_interval(struct stat_meter *m, struct diag *d, struct stat_report **ret)
{
	int err = stat_book_interval(m->book, monotonic_ns(), m->costs, ret);

	if (err)
		return diag_error(d, err, "cannot make the report");
	finish_report(m, *ret);
	return 0;
}

int stat_meter_summary(struct stat_meter *m, struct diag *d, struct stat_report **ret)
{
	int err = stat_book_summary(m->book, monotonic_ns(), m->costs, ret);

	if (err)
		return diag_error(d, err, "cannot make the report");
	finish_report(m, *ret);
	return 0;
}
