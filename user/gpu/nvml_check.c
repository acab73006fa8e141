// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows of --check about the GPUs of NVML. */
#include <stdio.h>

#include "base/text.h"
#include "gpu/nvml_internal.h"

#define FOUND_LEN 480

static void check_gpus(const struct nvml *n)
{
	static const char *const links[] = { "an unknown link", "PCIe", "C2C" };
	char version[80] = "", found[FOUND_LEN] = "";

	if (n->api.version && n->api.version(version, sizeof(version)))
		version[0] = '\0';
	gpu_row("gpu_nvml", true, "", "NVML %s", version[0] ? version : "of an unknown version");
	for (size_t i = 0; i < n->nr; i++)
		str_append(found, sizeof(found), "%s%s on %s%s%s", i ? ", " : "",
			   n->gpus[i].g->address, links[n->gpus[i].g->link],
			   n->gpus[i].mig ? ", MIG" : "",
			   n->gpus[i].handle ? "" : ", cannot be read");
	gpu_row("gpu_links", n->nr, n->nr ? "" : "nvidia-smi should show GPUs", "%s",
		n->nr ? found : "the driver has no GPU");
}

static void check_accounting(const struct nvml *n)
{
	size_t on = 0, mig = 0;

	for (size_t i = 0; i < n->nr; i++) {
		on += n->gpus[i].accounting;
		mig += n->gpus[i].mig;
	}
	if (mig == n->nr)
		return;
	gpu_row("gpu_accounting", on + mig == n->nr,
		on + mig == n->nr ? ""
				  : "as root, nvidia-smi -am 1: then busy times lose no sample, "
				    "otherwise they are whole percents",
		"on %zu of %zu GPUs", on, n->nr - mig);
}

static void check_counters(const struct nvml *n)
{
	size_t counted = 0, refused = 0;

	for (size_t i = 0; i < n->nr; i++) {
		counted += n->gpus[i].g->counts[GPU_PCIE_OUT] || n->gpus[i].g->counts[GPU_C2C_OUT];
		refused += n->gpus[i].refused;
	}
	gpu_row("gpu_counters", !refused,
		refused ? "bytes of links need CAP_SYS_ADMIN, or the driver's option "
			  "RmProfilingAdminOnly=0"
			: "",
		"%zu of %zu GPUs count bytes at their links (GPM)%s", counted, n->nr,
		counted || refused ? "" : ": from Hopper on, without MIG");
}

void nvml_check(const struct nvml *n)
{
	check_gpus(n);
	if (!n->nr)
		return;
	check_accounting(n);
	check_counters(n);
}
