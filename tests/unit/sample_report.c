// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/json/json.h"
#include "report/table/table.h"
#include "sample_report.h"

#define NR_SOCKETS 2
#define SECOND	   1000000000ULL

/* Counters in the order: socket, source, direction. */
#define COUNTER(s, src, field, dir, suffix)                                                        \
	{                                                                                          \
		.name = "ucf" #s "/mem_bytes_" suffix "/" field "=1", .pmu = "nvidia_ucf_pmu_" #s, \
		.event = "mem_bytes_" suffix, .filters = field "=1", .socket = s, .group = s,      \
		.source = src, .direction = dir,                                                   \
	}
#define BOTH(s, src, field) \
	COUNTER(s, src, field, DIRECTION_READ, "rd"), COUNTER(s, src, field, DIRECTION_WRITE, "wr")
#define SOCKET(s)                                                                     \
	BOTH(s, SOURCE_CPU, "src_loc_cpu"), BOTH(s, SOURCE_DEVICE, "src_loc_noncpu"), \
		BOTH(s, SOURCE_REMOTE, "src_rem")

static const struct counter counters[SAMPLE_COUNTERS] = { SOCKET(0), SOCKET(1) };

static const struct host_info t410_host = {
	.name = "n1",
	.kernel = "7.2.13",
	.platform = "t410",
	.sockets = NR_SOCKETS,
};

static const struct host_info other_host = {
	.name = "laptop",
	.kernel = "6.1.0-31-amd64",
	.platform = "none",
	.sockets = 1,
};

static void *must(void *p)
{
	assert_non_null(p);
	return p;
}

static struct report *new_report(enum row_kind by)
{
	struct report *r = must(calloc(1, sizeof(*r)));

	r->host = &t410_host;
	r->by = by;
	r->start_ns = 5 * SECOND;
	r->end_ns = 6 * SECOND;
	r->start_time_ns = 1795190400ULL * SECOND + 7000000;
	r->quality.method = METHOD_STATE_SPACE;
	snprintf(r->quality.weights, sizeof(r->quality.weights), "l3d_cache_refill,l2d_cache_wb");
	r->quality.windows = 200;
	r->quality.weight_windows = 198;
	r->quality.fallback_windows = 2;
	r->quality.pooled_workloads = 37;
	r->self = (struct self_cost){ 4200000, 18234, 3900000, 142, 80, 1840000, 7, 2 };
	return r;
}

static struct report_row *add_row(struct report *r, const char *cgroup, uint64_t on_cpu_ns)
{
	struct report_row *row;

	/* By halves: with the sanitizers each call copies all rows. */
	if (malloc_usable_size(r->rows) < (r->nr_rows + 1) * sizeof(*r->rows))
		r->rows = must(reallocarray(r->rows, r->nr_rows * 3 / 2 + 1, sizeof(*r->rows)));
	row = &r->rows[r->nr_rows++];
	memset(row, 0, sizeof(*row));
	row->kind = r->by;
	row->leaf = true;
	row->separable = true;
	row->on_cpu_ns = on_cpu_ns;
	row->cgroup = cgroup ? must(strdup(cgroup)) : NULL;
	return row;
}

/* Bytes of the CPU counters: reads and writes of socket 0, then of socket 1. */
static void set_shares(struct report *r, struct report_row *row, const uint64_t bytes[4])
{
	size_t i, n = 0;

	row->shares = must(calloc(4, sizeof(*row->shares)));
	for (i = 0; i < r->nr_counters; i++) {
		if (r->counters[i].counter->source != SOURCE_CPU)
			continue;
		row->shares[n].counter = (uint32_t)i;
		row->shares[n].value = bytes[n];
		row->shares[n].low = bytes[n] - bytes[n] / 16;
		row->shares[n].high = bytes[n] + bytes[n] / 16;
		row->shares[n].separable = true;
		n++;
	}
	row->nr_shares = n;
}

void sample_tangle(struct report_row *row, const char *keys, size_t nr_all)
{
	char *copy = must(strdup(keys)), *rest = copy, *key;
	size_t i;

	row->separable = false;
	row->nr_tangled_all = nr_all;
	for (i = 0; i < row->nr_shares; i++) {
		struct share *s = &row->shares[i];

		if (!s->value)
			continue;
		s->separable = false;
		s->low = s->value / 3;
		s->high = s->value + (uint64_t)3000000000;
	}
	free(row->tangled);
	row->nr_tangled = 0;
	row->tangled = must(calloc(MODEL_MAX_TANGLED, sizeof(*row->tangled)));
	while ((key = strsep(&rest, " ")))
		if (*key)
			snprintf(row->tangled[row->nr_tangled++], MODEL_KEY_LEN, "%s", key);
	free(copy);
}

static struct report_row *add_task(struct report *r, uint32_t pid, uint32_t tid, const char *comm,
				   const char *cgroup, const uint64_t bytes[4], uint64_t on_cpu_ns)
{
	struct report_row *row = add_row(r, cgroup, on_cpu_ns);

	row->pid = pid;
	row->tid = tid;
	row->start_ns = 99;
	row->cgroup_id = cgroup ? 881 : 0;
	row->comm_known = comm != NULL;
	if (comm)
		memcpy(row->comm, comm, strnlen(comm, sizeof(row->comm)));
	snprintf(row->key, sizeof(row->key), "%s:%u:99", tid ? "tid" : "pid", tid ? tid : pid);
	if (r->nr_counters)
		set_shares(r, row, bytes);
	return row;
}

static void add_cgroup(struct report *r, uint64_t id, const char *parent, const char *path,
		       const uint64_t bytes[4], uint64_t on_cpu_ns, const char *kind)
{
	struct report_row *row = add_row(r, path, on_cpu_ns);

	row->cgroup_id = id;
	row->leaf = strcmp(kind, "parent") != 0;
	snprintf(row->key, sizeof(row->key), "cgroup:%llu%s", (unsigned long long)id,
		 strcmp(kind, "own") ? "" : ":own");
	snprintf(row->parent, sizeof(row->parent), "%s", parent);
	set_shares(r, row, bytes);
}

static void add_counters(struct report *r)
{
	size_t i;

	r->counters = must(calloc(SAMPLE_COUNTERS, sizeof(*r->counters)));
	r->nr_counters = SAMPLE_COUNTERS;
	for (i = 0; i < r->nr_counters; i++) {
		struct report_counter *c = &r->counters[i];

		c->counter = &counters[i];
		c->valid = true;
		c->enabled_ns = c->running_ns = c->covered_ns = SECOND;
		if (counters[i].source == SOURCE_DEVICE)
			c->unattributed[REASON_DEVICE] = 1234567890 + i;
		else if (counters[i].source == SOURCE_REMOTE)
			c->unattributed[REASON_REMOTE] = 987654321 * (i % 2) + i;
	}
}

static void add_sockets(struct report *r, size_t nr)
{
	size_t i;

	r->sockets = must(calloc(nr, sizeof(*r->sockets)));
	r->nr_sockets = nr;
	for (i = 0; i < nr; i++)
		r->sockets[i] = (struct report_socket){
			.id = (uint32_t)i,
			.nr_cpus = 88,
			.busy_ns = (i ? 20 : 50) * SECOND,
			.idle_ns = (i ? 68 : 38) * SECOND,
		};
}

/* A tenth of what was scaled, where it was not counted all the time. */
static void sample_bounds(struct report_counter *c)
{
	uint64_t doubt = c->running_ns < c->enabled_ns ? c->value / 10 : 0;

	c->low = c->value - doubt;
	c->high = c->value + doubt;
}

void sample_balance(struct report *r)
{
	size_t i, j;
	int k;

	for (i = 0; i < r->nr_counters; i++)
		r->counters[i].attributed = 0;
	for (i = 0; i < r->nr_rows; i++)
		for (j = 0; r->rows[i].leaf && j < r->rows[i].nr_shares; j++)
			r->counters[r->rows[i].shares[j].counter].attributed +=
				r->rows[i].shares[j].value;
	for (i = 0; i < r->nr_counters; i++) {
		r->counters[i].value = r->counters[i].attributed;
		for (k = 0; k < NR_REASONS; k++)
			r->counters[i].value += r->counters[i].unattributed[k];
		sample_bounds(&r->counters[i]);
	}
	for (i = 0; i < r->nr_rows; i++)
		for (j = 0; j < r->rows[i].nr_shares; j++) {
			struct share *s = &r->rows[i].shares[j];

			if (s->high > r->counters[s->counter].value)
				s->high = r->counters[s->counter].value;
		}
}

void sample_split_by_cpu_time(struct report *r)
{
	size_t i, j;

	for (i = 0; i < r->nr_rows; i++) {
		struct report_row *row = &r->rows[i];

		row->separable = true;
		free(row->tangled);
		row->tangled = NULL;
		row->nr_tangled = row->nr_tangled_all = 0;
		for (j = 0; j < row->nr_shares; j++) {
			struct share *s = &row->shares[j];

			s->separable = true;
			s->low = 0;
			s->high = s->value ? r->counters[s->counter].value : 0;
		}
	}
	r->quality.method = METHOD_CPU_TIME;
	snprintf(r->quality.weights, sizeof(r->quality.weights), "cpu-time");
	r->quality.weight_windows = r->quality.fallback_windows = 0;
	r->quality.pooled_workloads = 0;
}

static void add_processes(struct report *r)
{
	static const uint64_t none[4];
	struct report_row *row;

	add_task(r, 2, 0, "kworker/u352:11", "/", (const uint64_t[4]){ 40321, 11290, 0, 0 },
		 1204000);
	r->rows[r->nr_rows - 1].kernel = true;
	add_task(r, 4242, 0, "lbm", "/slurm/job_12/step_0",
		 (const uint64_t[4]){ 31234567891, 15234567003, 0, 0 }, 44 * SECOND);
	add_task(r, 1104310, 0, "python3", "/slurm/job_13/step_batch/user/task_0",
		 (const uint64_t[4]){ 1012345678, 312345678, 6012345001, 2912345002 },
		 7 * SECOND + 250000000);
	sample_tangle(&r->rows[r->nr_rows - 1], "pid:990:99", 1);
	row = add_task(r, 990, 0, "postgres", "/system.slice/postgresql.service",
		       (const uint64_t[4]){ 0, 0, 212345001, 92345002 }, 12 * SECOND);
	row->exited = true;
	sample_tangle(row, "pid:1104310:99", 1);
	add_task(r, 31337, 0, NULL, NULL, none, 400000);
}

static void add_threads(struct report *r)
{
	static const uint64_t none[4];

	add_task(r, 4242, 4242, "lbm", "/slurm/job_12/step_0",
		 (const uint64_t[4]){ 11234567891, 5234567003, 0, 0 }, SECOND);
	sample_tangle(&r->rows[r->nr_rows - 1], "tid:4243:99 tid:4250:99", 5);
	add_task(r, 4242, 4243, "lbm-worker-long", "/slurm/job_12/step_0",
		 (const uint64_t[4]){ 1234567891, 234567003, 0, 0 }, 980000000);
	sample_tangle(&r->rows[r->nr_rows - 1], "tid:4242:99 tid:4250:99", 5);
	add_task(r, 4242, 4244, "lbm-io", "/slurm/job_12/step_0",
		 (const uint64_t[4]){ 0, 0, 34567891, 4567003 }, 12000000);
	r->rows[r->nr_rows - 1].exited = true;
	add_task(r, 17, 17, "ksoftirqd/1", "/", none, 90000);
	r->rows[r->nr_rows - 1].kernel = true;
}

static void add_cgroups(struct report *r)
{
	add_cgroup(r, 31, "cgroup:30", "/slurm/job_12/step_0",
		   (const uint64_t[4]){ 31234567891, 15234567003, 0, 0 }, 44 * SECOND, "leaf");
	add_cgroup(r, 30, "cgroup:20", "/slurm/job_12",
		   (const uint64_t[4]){ 31234567991, 15234567103, 0, 0 }, 44 * SECOND + 5000000,
		   "parent");
	add_cgroup(r, 30, "cgroup:30", "/slurm/job_12", (const uint64_t[4]){ 100, 100, 0, 0 },
		   5000000, "own");
	add_cgroup(r, 20, "", "/slurm",
		   (const uint64_t[4]){ 32246913669, 15546912781, 6012345001, 2912345002 },
		   51 * SECOND + 5000000, "parent");
	sample_tangle(&r->rows[r->nr_rows - 1], "cgroup:50", 1);
	add_cgroup(r, 40, "cgroup:20", "/slurm/job_13",
		   (const uint64_t[4]){ 1012345678, 312345678, 6012345001, 2912345002 }, 7 * SECOND,
		   "leaf");
	sample_tangle(&r->rows[r->nr_rows - 1], "cgroup:50", 1);
	add_cgroup(r, 50, "", "/system.slice/postgresql.service",
		   (const uint64_t[4]){ 0, 0, 212345001, 92345002 }, 12 * SECOND, "leaf");
	r->rows[r->nr_rows - 1].exited = true;
	sample_tangle(&r->rows[r->nr_rows - 1], "cgroup:40", 1);
	add_cgroup(r, 1, "", "/", (const uint64_t[4]){ 40321, 11290, 0, 0 }, 1204000, "leaf");
	add_cgroup(r, 77, "", NULL, (const uint64_t[4]){ 0, 0, 0, 0 }, 400000, "leaf");
}

/* @step: NULL for the row of the job as a whole, "" for what is in no step */
static struct report_row *add_job(struct report *r, enum scheduler scheduler, const char *id,
				  uint64_t cgroup_id, const char *step, const uint64_t bytes[4],
				  uint64_t on_cpu_ns)
{
	struct report_row *row = add_row(r, NULL, on_cpu_ns);

	row->job = must(calloc(1, sizeof(*row->job)));
	row->job->scheduler = scheduler;
	row->job->cgroup_id = row->cgroup_id = cgroup_id;
	snprintf(row->job->id, sizeof(row->job->id), "%s", id);
	snprintf(row->job->step, sizeof(row->job->step), "%s", step ? step : "");
	snprintf(row->key, sizeof(row->key), "job:%llu%s%s", (unsigned long long)cgroup_id,
		 step ? ":" : "",
		 !step	 ? ""
		 : *step ? step
			 : "own");
	if (step)
		snprintf(row->parent, sizeof(row->parent), "job:%llu",
			 (unsigned long long)cgroup_id);
	set_shares(r, row, bytes);
	return row;
}

static void add_jobs(struct report *r)
{
	static const char pod[] = "3f2a9d4e-77b1-4c0e-9a52-0c7b1f6e2d11";
	static const char container[] =
		"4f0e8f3c2b1a4f0e8f3c2b1a4f0e8f3c2b1a4f0e8f3c2b1a4f0e8f3c2b1a4f0e";
	static const uint64_t none[4];
	struct report_row *row;

	add_job(r, SCHEDULER_SLURM, "12", 30, "0",
		(const uint64_t[4]){ 31234567891, 15234567003, 0, 0 }, 44 * SECOND);
	add_job(r, SCHEDULER_SLURM, "12", 30, "", (const uint64_t[4]){ 100, 100, 0, 0 }, 5000000);
	add_job(r, SCHEDULER_SLURM, "12", 30, "extern", none, 0)->exited = true;
	row = add_job(r, SCHEDULER_SLURM, "12", 30, NULL,
		      (const uint64_t[4]){ 31234567991, 15234567103, 0, 0 }, 44 * SECOND + 5000000);
	row->leaf = false;
	snprintf(row->job->name, sizeof(row->job->name), "lattice-boltzmann-3d");
	snprintf(row->job->user, sizeof(row->job->user), "eve");
	row = add_job(r, SCHEDULER_SLURM, "1234567", 40, NULL,
		      (const uint64_t[4]){ 1012345678, 312345678, 6012345001, 2912345002 },
		      7 * SECOND);
	snprintf(row->job->name, sizeof(row->job->name), "stream");
	snprintf(row->job->user, sizeof(row->job->user), "a-user-with-a-name");
	row->exited = true;
	sample_tangle(row, "job:50", 1);
	row = add_job(r, SCHEDULER_DOCKER, container, 50, NULL,
		      (const uint64_t[4]){ 0, 0, 212345001, 92345002 }, 12 * SECOND);
	sample_tangle(row, "job:40", 1);
	add_job(r, SCHEDULER_KUBERNETES, pod, 60, container, none, 0);
	row = add_job(r, SCHEDULER_KUBERNETES, pod, 60, NULL, none, 0);
	row->leaf = false;
	snprintf(row->job->name, sizeof(row->job->name), "web-0");
	row = add_row(r, NULL, 1204000);
	snprintf(row->key, sizeof(row->key), "job:none");
	set_shares(r, row, (const uint64_t[4]){ 40321, 11290, 0, 0 });
	/* a number that is not known yet */
	add_job(r, SCHEDULER_SLURM, "sABCDEFGHJKMNP", 70, NULL, none, 0)->job->provisional = true;
}

struct report *sample_report(enum row_kind by)
{
	struct report *r = new_report(by);

	add_counters(r);
	add_sockets(r, NR_SOCKETS);
	if (by == ROW_PROCESS)
		add_processes(r);
	else if (by == ROW_THREAD)
		add_threads(r);
	else if (by == ROW_JOB)
		add_jobs(r);
	else
		add_cgroups(r);
	r->counters[0].unattributed[REASON_IDLE] = 2345678;
	r->counters[1].unattributed[REASON_IDLE] = 345678;
	r->counters[0].unattributed[REASON_OTHER] = 3012345678;
	r->counters[0].unattributed[REASON_BACKGROUND] = 81234567;
	r->counters[6].unattributed[REASON_BACKGROUND] = 61234567;
	sample_balance(r);
	return r;
}

void sample_together(struct report *r, uint32_t first)
{
	static struct counter together[SAMPLE_COUNTERS];

	memcpy(together, counters, sizeof(together));
	for (size_t i = 0; i < r->nr_counters; i++) {
		if (together[i].socket >= first) {
			together[i].direction = DIRECTION_READWRITE;
			together[i].destination = DESTINATION_CMEM;
		}
		r->counters[i].counter = &together[i];
	}
}

void sample_with_energy(struct report *r)
{
	static struct counter told[SAMPLE_COUNTERS];

	memcpy(told, counters, sizeof(told));
	for (size_t i = 0; i < r->nr_counters; i++) {
		if (told[i].source == SOURCE_CPU && told[i].direction == DIRECTION_WRITE) {
			told[i].source = SOURCE_ANY;
			told[i].direction = DIRECTION_READWRITE;
			told[i].unit = UNIT_NANOJOULES;
			snprintf(told[i].name, sizeof(told[i].name), "power%u/energy-pkg",
				 told[i].socket);
		}
		r->counters[i].counter = &told[i];
	}
}

void sample_by_destination(struct report *r)
{
	static const enum destination to[2][2] = { { DESTINATION_CMEM, DESTINATION_REMOTE },
						   { DESTINATION_GMEM, DESTINATION_CXL } };
	static struct counter told[SAMPLE_COUNTERS];

	memcpy(told, counters, sizeof(told));
	for (size_t i = 0; i < r->nr_counters; i++) {
		if (told[i].source == SOURCE_CPU)
			told[i].destination = to[told[i].socket][told[i].direction];
		r->counters[i].counter = &told[i];
	}
}

struct report *sample_without_counters(void)
{
	struct report *r = new_report(ROW_PROCESS);

	r->host = &other_host;
	r->quality.windows = 0;
	add_sockets(r, 1);
	add_processes(r);
	sample_split_by_cpu_time(r);
	return r;
}

struct report *sample_without_rows(void)
{
	struct report *r = new_report(ROW_PROCESS);

	add_counters(r);
	add_sockets(r, NR_SOCKETS);
	sample_balance(r);
	return r;
}

void sample_add_row(struct report *r, uint32_t pid, const char *comm, const char *cgroup,
		    uint64_t bytes, uint64_t on_cpu_ns)
{
	add_task(r, pid, r->by == ROW_THREAD ? pid : 0, comm, cgroup,
		 (const uint64_t[4]){ bytes, bytes, bytes, bytes }, on_cpu_ns);
}

char *sample_text(int (*write)(FILE *out, const struct report *r, const void *arg),
		  const struct report *r, const void *arg)
{
	char *text = NULL;
	size_t len;
	FILE *f = must(open_memstream(&text, &len));

	assert_int_equal(write(f, r, arg), 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(strlen(text), len);
	return text;
}

static int put_table(FILE *out, const struct report *r, const void *arg)
{
	return table_write(out, r, arg);
}

char *sample_table(const struct report *r, const struct table_options *o)
{
	return sample_text(put_table, r, o);
}

static int put_json(FILE *out, const struct report *r, const void *arg)
{
	(void)arg;
	return json_write(out, r);
}

char *sample_json(const struct report *r)
{
	return sample_text(put_json, r, NULL);
}

void sample_check_golden(const char *name, const char *text)
{
	char path[256];
	char *golden = NULL;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof(path), "tests/golden/%s", name);
	if (getenv("T410_UPDATE_GOLDEN")) {
		f = must(fopen(path, "w"));
		assert_true(fputs(text, f) >= 0);
		assert_int_equal(fclose(f), 0);
		return;
	}
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s is missing", path);
	assert_true(getdelim(&golden, &cap, '\0', f) > 0);
	fclose(f);
	assert_string_equal(text, golden);
	free(golden);
}
