/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPUs that come online or go offline during a run. The first CPU time of a CPU tells that it has
 * come: then sysfs says on which socket it is, and the trace has that before the CPU time. The end
 * of an interval tells which have gone, and finds those that have not run yet.
 */
#ifndef LIVE_LOOKUP_LIVE_CPUS_H
#define LIVE_LOOKUP_LIVE_CPUS_H

#include "platform/bpf/ledger.h"
#include "platform/sys/cpus.h"
#include "trace.h"

#define LIVE_CPUS_NEWS_LEN 192

/**
 * struct live_cpus - see above
 * @map: gets the sockets of new CPUs; not owned
 * @fs: sysfs; not owned
 * @ledger: gets them too; not owned
 * @out: gets events; of the run, not owned
 * @known: CPUs that are online, as the trace has it
 * @tried_ns: when sysfs had no answer for a CPU, by number; owned, see live_cpus_new()
 * @next_ns: when live_cpus_step() looks again
 * @news: a line for people about a CPU on no socket of the run, "" for none
 * @said: there was such a line
 */
struct live_cpus {
	struct cpu_map *map;
	const struct sysfs *fs;
	struct ledger *ledger;
	const struct trace_sink *out;
	struct cpulist known;
	uint64_t *tried_ns;
	uint64_t next_ns;
	char news[LIVE_CPUS_NEWS_LEN];
	bool said;
};

/** live_cpus_new() - begin with the CPUs that are online; up to @out all is set. 0 or -ENOMEM */
int live_cpus_new(struct live_cpus *c);
void live_cpus_free(struct live_cpus *c);

/**
 * live_cpus_met() - there is CPU time of a CPU, which comes next in the trace
 *
 * A CPU that is known to be online costs the test of a bit. For another one sysfs is read, at most
 * once a second.
 *
 * Return: 0 or an error of @out.
 */
int live_cpus_met(struct live_cpus *c, uint32_t cpu);

/**
 * live_cpus_step() - look for CPUs that have run, once a second; reads shared memory only
 *
 * So the ledger of a new CPU knows its windows before it sends anything. Return: as above.
 */
int live_cpus_step(struct live_cpus *c);

/**
 * live_cpus_mark() - an interval ends, and all its CPU time has been handed on
 * @online: CPUs that are online; empty: unknown
 *
 * Return: as above.
 */
int live_cpus_mark(struct live_cpus *c, const struct cpulist *online);

/** live_cpus_news() - take the line of news; false when there is none */
bool live_cpus_news(struct live_cpus *c, char *ret_text, size_t size);

#endif
