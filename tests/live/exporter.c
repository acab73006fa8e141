// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Metrics of a made-up machine for Prometheus: two sockets, energy, a disk, jobs that come and go at
 * known rates.
 *
 * Everything but the numbers is what the daemon has: the accounts, the series, the server. Prints
 * the port, and ends with its standard input. With an argument it is one node of several: a job that
 * is on all of them, and ends, moves so many times as much.
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../unit/account_world.h"
#include "base/clock.h"
#include "engine/accounts/accounts.h"
#include "daemon/http.h"
#include "report/openmetrics/openmetrics.h"

#define INTERVAL_NS (WORLD_SECOND / 4)
#define JOB_LIFE    8  /* intervals, of those that come and go */
#define SHARED_LIFE 60 /* of the job that is on several nodes */

struct exporter {
	struct accounts *accounts;
	struct openmetrics *metrics;
	uint64_t begin_ns; /* of the interval */
	uint64_t number;
	unsigned int times; /* 0: the only node */
};

static uint64_t bytes(double per_second, uint64_t ns)
{
	return (uint64_t)(per_second * (double)ns / 1e9);
}

/*
 * On socket 1 there is energy instead of what CPUs read of the other socket, and a counter of both
 * directions instead of the disk's: 9 and 11.
 */
static void tell_counters(struct report *r)
{
	static const struct counter energy = { .name = "power1/energy-pkg",
					       .socket = 1,
					       .source = SOURCE_ANY,
					       .direction = DIRECTION_READWRITE,
					       .unit = UNIT_NANOJOULES };
	static const struct counter both = { .name = "df1/dram",
					     .socket = 1,
					     .source = SOURCE_ANY,
					     .direction = DIRECTION_READWRITE };

	r->counters[9].counter = &energy;
	r->counters[11].counter = &both;
}

static void fill_machine(struct report *r, uint64_t ns)
{
	r->devices[0].read.valid = r->devices[0].write.valid = true;
	for (uint32_t i = 0; i < 2; i++) {
		r->sockets[i].busy_ns = 60 * ns;
		r->sockets[i].idle_ns = 28 * ns;
		world_rest(r, i * 6, REASON_IDLE, bytes(1e7, ns));
		world_rest(r, i * 6 + 4, REASON_DEVICE, bytes(3e9, ns));
		world_rest(r, i * 6 + 5, REASON_DEVICE, bytes(2e8, ns));
	}
	r->self.cpu_ns = ns / 200;
	r->self.switch_ns = ns / 500;
}

static void fill_jobs(struct exporter *e, struct report *r, uint64_t ns)
{
	struct report_row *row;
	char id[32];

	/* one that stays, on socket 0, and one on socket 1 that uses the disk */
	row = world_row(r, SCHEDULER_SLURM, "1", 1001, "", true);
	snprintf(row->job->name, sizeof(row->job->name), "lbm");
	snprintf(row->job->user, sizeof(row->job->user), "alice");
	row->on_cpu_ns = 40 * ns;
	world_share(r, row, 0, bytes(10e9, ns));
	world_share(r, row, 9, bytes(80e9, ns));
	world_share(r, row, 11, bytes(3e9, ns));
	world_share(r, row, 1, bytes(4e9, ns));
	row = world_row(r, SCHEDULER_KUBERNETES, "6f3c5a1e-0d2b-4f7c-9a55-0e6d1c2b3a49", 1002, "",
			true);
	snprintf(row->job->name, sizeof(row->job->name), "say \"hi\"\n");
	row->on_cpu_ns = 10 * ns;
	world_share(r, row, 6, bytes(2e9, ns));
	world_share(r, row, 8, bytes(5e8, ns));
	world_io(row, 0, bytes(6e7, ns), bytes(1e7, ns));
	row->devices[0].counted = true;
	row->devices[0].read_bytes = row->devices[0].read_low = bytes(6e7, ns);
	row->devices[0].read_high = bytes(7e7, ns);
	/* each two seconds another one, whose number comes again after a while */
	snprintf(id, sizeof(id), "%u", (unsigned int)(100 + e->number / JOB_LIFE % 3));
	row = world_row(r, SCHEDULER_SLURM, id, 2000 + e->number / JOB_LIFE, "", true);
	world_share(r, row, 0, bytes(1e9, ns));
	row->on_cpu_ns = 8 * ns;
	row->exited = e->number % JOB_LIFE == JOB_LIFE - 1;
	if (e->times && e->number < SHARED_LIFE) {
		row = world_row(r, SCHEDULER_SLURM, "50", 1003, "", true);
		world_share(r, row, 0, e->times * bytes(1e9, ns));
		row->on_cpu_ns = ns;
		row->exited = e->number == SHARED_LIFE - 1;
	}
	row = world_row(r, SCHEDULER_NONE, NULL, 0, "", true);
	row->on_cpu_ns = 2 * ns;
	world_share(r, row, 0, bytes(1e8, ns));
	world_share(r, row, 2, bytes(3e7, ns));
}

static void interval(struct exporter *e)
{
	uint64_t now = monotonic_ns();
	struct report *r = world_report(0);

	tell_counters(r);
	r->sequence = e->number;
	r->start_ns = e->begin_ns;
	r->end_ns = now;
	r->start_time_ns = clock_ns(CLOCK_REALTIME) - (now - e->begin_ns);
	fill_machine(r, now - e->begin_ns);
	fill_jobs(e, r, now - e->begin_ns);
	for (size_t i = 0; i < r->nr_counters; i++) {
		r->counters[i].enabled_ns = r->counters[i].covered_ns = now - e->begin_ns;
		r->counters[i].running_ns = (now - e->begin_ns) / (i == 3 ? 2 : 1);
	}
	if (accounts_interval(e->accounts, r) || openmetrics_interval(e->metrics, r))
		exit(1);
	accounts_saved(e->accounts);
	report_free(r);
	e->begin_ns = now;
	e->number++;
}

static int page(void *arg, const struct http_request *q, struct http_page *ret)
{
	enum exposition format = openmetrics_negotiate(q->accept);
	struct exporter *e = arg;
	struct openmetrics_state s = { .host = &world_host,
				       .node = accounts_node(e->accounts),
				       .names = true,
				       .jobs_running = accounts_nr(e->accounts),
				       .interval_ns = INTERVAL_NS,
				       .cost_ns = 1000000 };
	FILE *out;
	int err;

	if (strcmp(q->path, "/metrics") != 0)
		return -ENOENT;
	out = open_memstream(&ret->body, &ret->size);
	if (!out)
		return -ENOMEM;
	err = openmetrics_write(out, e->metrics, &s, format);
	if (fclose(out) || err) {
		free(ret->body);
		return -ENOMEM;
	}
	ret->status = 200;
	ret->type = openmetrics_type(format);
	return 0;
}

int main(int argc, char **argv)
{
	struct accounts_options ao = { .boot = WORLD_BOOT, .schedulers = ~0u };
	struct openmetrics_options o = { .top = 4, .keep = 8 };
	struct exporter e = { .begin_ns = monotonic_ns(), .times = argc > 1 ? atoi(argv[1]) : 0 };
	struct http *h = NULL;
	struct diag d = { 0 };

	if (accounts_new(&ao, &e.accounts) || openmetrics_new(&o, &e.metrics) ||
	    http_open("127.0.0.1:0", page, &e, &d, &h)) {
		fprintf(stderr, "exporter: %s\n", d.what);
		return 1;
	}
	printf("%u\n", http_port(h));
	fflush(stdout);
	for (;;) {
		struct pollfd p[2] = { { .fd = http_fd(h), .events = POLLIN },
				       { .fd = 0, .events = POLLIN } };
		int64_t left = (int64_t)(e.begin_ns + INTERVAL_NS - monotonic_ns()) / 1000000 + 1;
		int timeout = http_timeout_ms(h);

		if (left < 0)
			left = 0;
		poll(p, 2, timeout >= 0 && timeout < left ? timeout : (int)left);
		if (p[1].revents)
			break;
		http_run(h);
		if (monotonic_ns() - e.begin_ns >= INTERVAL_NS)
			interval(&e);
	}
	http_close(h);
	openmetrics_free(e.metrics);
	accounts_free(e.accounts);
	return 0;
}
