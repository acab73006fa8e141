// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes with contexts on a GPU. Monitors have none, though they hold its node. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "gpu/nvml_internal.h"

/* No number of a process, and no amount of memory */
#define UNWRITTEN 0xa5c3965au

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

static int add(struct nvml *n, struct nvml_gpu *u, const uint32_t *entry, size_t words)
{
	/* Memory is in words 2 and 3; a list without instances ends there. */
	uint32_t pid = entry[0], instance = words > 4 ? entry[4] : GPU_NO_INSTANCE;
	uint64_t start_ns;
	int err = processes_start(n->processes, pid, u->g->time_ns, &start_ns);

	/* It has ended meanwhile. */
	if (err == -ESRCH)
		return 0;
	if (err) {
		if (u->said != err)
			say("process %u on GPU %s: %s: contexts are not known", pid, u->g->address,
			    strerror(-err));
		u->said = err;
		return -1;
	}
	if (gpu_hold(u->g, pid, start_ns, instance))
		return 0;
	if (u->said != -E2BIG)
		say("GPU %s has more than %d contexts: they are not known", u->g->address,
		    GPU_MAX_PROCESSES);
	u->said = -E2BIG;
	return -1;
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
	if (!result && !nr)
		return 0;
	if (result == NVML_TOO_SMALL)
		nr = GPU_MAX_PROCESSES + 1;
	else if (result)
		return result;
	words = nr <= GPU_MAX_PROCESSES ? entry_words(n->words, all, nr) : 0;
	if (!words) {
		if (u->said != -EBADMSG)
			say("GPU %s: a list of %u processes in an unknown form: contexts are not "
			    "known",
			    u->g->address, nr);
		u->said = -EBADMSG;
		return -1;
	}
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

	for (size_t i = 0; i < ARRAY_SIZE(lists) && !result; i++) {
		if (lists[i])
			result = take_list(n, u, lists[i]);
		/* Some GPUs have no graphics, and some no MPS. All have the first. */
		if (i && result == NVML_NOT_SUPPORTED)
			result = 0;
	}
	return result;
}
