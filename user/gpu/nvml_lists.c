// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes with contexts on a GPU. Monitors have none, though they hold its node. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "gpu/nvml_internal.h"

/* No number of a process, and no amount of memory */
#define UNWRITTEN 0xa5c3965au
/* A driver knows of the end of a process before this. */
#define ENDED_NS  (3 * NS_PER_S)

/* Words of an entry of @nr: see nvml_list. 0: none that is known */
static size_t entry_words(const uint32_t *words, size_t all, uint32_t nr)
{
	static const size_t known[] = { 4, 6, 8 };
	size_t written = all;

	while (written && words[written - 1] == UNWRITTEN)
		written--;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (written == nr * known[i])
			return known[i];
	return 0;
}

/* The reason why nothing is known: @err is said once, until there is another one. */
__attribute__((format(printf, 3, 4))) static int unknown(struct nvml_gpu *u, int err,
							 const char *fmt, ...)
{
	char why[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	if (u->said != err)
		say("GPU %s: %s: its contexts are not known", u->g->address, why);
	u->said = err;
	return -1;
}

static int too_many(struct nvml_gpu *u)
{
	return unknown(u, -E2BIG, "there are more than %d", GPU_MAX_PROCESSES);
}

/* It has just ended, or the driver means another one: that of a container, or of a guest. */
static int missing(struct nvml_gpu *u, uint32_t pid)
{
	struct nvml_missing m = { pid, u->g->time_ns };

	for (size_t i = 0; i < u->nr_missed; i++)
		if (u->missed[i].pid == pid)
			m.since_ns = u->missed[i].since_ns;
	if (u->nr_missing < ARRAY_SIZE(u->missing)) {
		u->missing[u->nr_missing++] = m;
		if (u->g->time_ns - m.since_ns <= ENDED_NS)
			return 0;
	}
	return unknown(u, -ESRCH, "there is no process %u", pid);
}

static int add(struct nvml *n, struct nvml_gpu *u, const uint32_t *entry, size_t words)
{
	/* Memory is in words 2 and 3; a list without instances ends there. */
	uint32_t pid = entry[0], instance = words > 4 ? entry[4] : GPU_NO_INSTANCE;
	uint64_t start_ns;
	int err;

	if (!pid || pid > INT32_MAX)
		return unknown(u, -EINVAL, "the driver has no number for a process");
	err = processes_start(n->processes, pid, u->g->time_ns, &start_ns);
	if (err == -ESRCH)
		return missing(u, pid);
	/* It has ended meanwhile, and its number came again. */
	if (err == -EEXIST)
		return 0;
	if (err)
		return unknown(u, err, "process %u: %s", pid, strerror(-err));
	return gpu_hold(u->g, pid, start_ns, instance) ? 0 : too_many(u);
}

static int take_list(struct nvml *n, struct nvml_gpu *u, nvml_list *list)
{
	const size_t all = ARRAY_SIZE(n->words);
	uint32_t nr = GPU_MAX_PROCESSES;
	size_t words;
	int result;

	for (size_t i = 0; i < all; i++)
		n->words[i] = UNWRITTEN;
	result = list(u->handle, &nr, n->words);
	if (result == NVML_TOO_SMALL)
		return too_many(u);
	if (result || !nr)
		return result;
	words = nr <= GPU_MAX_PROCESSES ? entry_words(n->words, all, nr) : 0;
	if (!words)
		return unknown(u, -EBADMSG, "a list of %u processes in an unknown form", nr);
	for (uint32_t i = 0; i < nr; i++) {
		result = add(n, u, n->words + i * words, words);
		if (result)
			return result;
	}
	return 0;
}

int nvml_lists(struct nvml *n, struct nvml_gpu *u)
{
	nvml_list *const lists[] = { n->api.compute, n->api.graphics, n->api.mps };
	int result = 0;

	memcpy(u->missed, u->missing, sizeof(u->missed));
	u->nr_missed = u->nr_missing;
	u->nr_missing = 0;
	for (size_t i = 0; i < ARRAY_SIZE(lists) && !result; i++) {
		if (lists[i])
			result = take_list(n, u, lists[i]);
		/* Some GPUs have no graphics, and some no MPS. All have the first. */
		if (i && (result == NVML_NOT_SUPPORTED || result == NVML_NO_FUNCTION))
			result = 0;
	}
	return result;
}
