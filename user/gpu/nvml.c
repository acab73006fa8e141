// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "gpu/nvml_internal.h"

#define LIBRARY	 "libnvidia-ml.so.1"
/* A GPU or a driver that failed is tried again so often. */
#define AGAIN_NS (5 * NS_PER_S)

/* --- the library */

/* Where a function has versions, the newest that the library has is taken. */
static const struct {
	size_t offset;
	const char *names[3];
	bool required;
} functions[] = {
#define FUNCTION(member, ...)                                             \
	{                                                                 \
		offsetof(struct nvml_api, member), { __VA_ARGS__ }, false \
	}
#define REQUIRED(member, ...)                                            \
	{                                                                \
		offsetof(struct nvml_api, member), { __VA_ARGS__ }, true \
	}
	REQUIRED(init, "nvmlInit_v2", "nvmlInit"),
	REQUIRED(shutdown, "nvmlShutdown"),
	FUNCTION(version, "nvmlSystemGetNVMLVersion"),
	REQUIRED(count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"),
	REQUIRED(by_index, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"),
	REQUIRED(by_address, "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"),
	REQUIRED(pci, "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"),
	REQUIRED(compute, "nvmlDeviceGetComputeRunningProcesses_v3",
		 "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses"),
	REQUIRED(graphics, "nvmlDeviceGetGraphicsRunningProcesses_v3",
		 "nvmlDeviceGetGraphicsRunningProcesses_v2",
		 "nvmlDeviceGetGraphicsRunningProcesses"),
	FUNCTION(mps, "nvmlDeviceGetMPSComputeRunningProcesses_v3",
		 "nvmlDeviceGetMPSComputeRunningProcesses_v2",
		 "nvmlDeviceGetMPSComputeRunningProcesses"),
	FUNCTION(uuid, "nvmlDeviceGetUUID"),
	FUNCTION(c2c, "nvmlDeviceGetC2cModeInfoV"),
	FUNCTION(mig, "nvmlDeviceGetMigMode"),
	FUNCTION(used, "nvmlDeviceGetProcessUtilization"),
	FUNCTION(accounting, "nvmlDeviceGetAccountingMode"),
	FUNCTION(account, "nvmlDeviceGetAccountingStats_v2"),
	FUNCTION(gpm_support, "nvmlGpmQueryDeviceSupport"),
	FUNCTION(gpm_alloc, "nvmlGpmSampleAlloc"),
	FUNCTION(gpm_free, "nvmlGpmSampleFree"),
	FUNCTION(gpm_sample, "nvmlGpmSampleGet"),
	FUNCTION(gpm_metrics, "nvmlGpmMetricsGet"),
	FUNCTION(error, "nvmlErrorString"),
};

static const char *error_text(const struct nvml *n, int result)
{
	const char *text = n->api.error ? n->api.error(result) : NULL;

	return text ? text : "no text for this error";
}

static int find_functions(struct nvml *n)
{
	memset(&n->api, 0, sizeof(n->api));
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *found = NULL;

		for (size_t k = 0; k < ARRAY_SIZE(functions[i].names) && !found; k++)
			if (functions[i].names[k])
				found = dlsym(n->library, functions[i].names[k]);
		if (!found && functions[i].required) {
			say(LIBRARY " has no %s", functions[i].names[0]);
			return -ENOSYS;
		}
		memcpy((char *)&n->api + functions[i].offset, &found, sizeof(found));
	}
	return 0;
}

/* 0; -ENODEV: there is none, which is worth no word; else said, but not twice in a row. */
static int take(struct nvml *n)
{
	int result = 0, err;

	n->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!n->library)
		return -ENODEV;
	err = find_functions(n);
	if (!err) {
		result = n->api.init();
		err = !result ? 0 : result == NVML_NO_DRIVER ? -ENODEV : -EIO;
	}
	if (err == -EIO && n->said != result)
		say("NVML cannot be used: %s (%d)", error_text(n, result), result);
	n->said = result;
	if (err) {
		dlclose(n->library);
		n->library = NULL;
	}
	return err;
}

/* --- its GPUs */

/* @result is said once, until there is another one; others were said where they were found. */
static void failed(struct nvml *n, struct nvml_gpu *u, int result, uint64_t now_ns)
{
	if (result > 0 && u->said != result)
		say("GPU %s: %s (%d): its contexts are not known%s", u->g->address,
		    error_text(n, result), result,
		    result == NVML_NO_PERMISSION ? "; this needs root" : "");
	if (result > 0)
		u->said = result;
	u->seen_ns = u->nr_before = u->nr_bases = 0;
	if (result < 0 || result == NVML_NO_PERMISSION)
		return;
	nvml_gpm_free(n, u);
	u->handle = NULL;
	u->again_ns = now_ns + AGAIN_NS;
}

/* Root may change them while the driver is open. What was known of activity has no sequel then. */
static void take_modes(struct nvml *n, struct nvml_gpu *u)
{
	uint32_t split = 0, pending, on = 0;
	bool mig = n->api.mig && !n->api.mig(u->handle, &split, &pending) && split;
	bool accounting = !mig && n->api.account && n->api.accounting &&
			  !n->api.accounting(u->handle, &on) && on;

	if (mig != u->mig || accounting != u->accounting)
		u->seen_ns = u->nr_bases = 0;
	u->mig = mig;
	u->accounting = accounting;
}

static void take_gpu(struct nvml *n, struct nvml_gpu *u, uint64_t now_ns)
{
	char address[32], *rest;
	int result;

	/* as NVML writes it: a domain has eight digits */
	snprintf(address, sizeof(address), "%08lx", strtoul(u->g->address, &rest, 16));
	str_append(address, sizeof(address), "%s", rest);
	result = n->api.by_address(address, &u->handle);
	if (result)
		failed(n, u, result, now_ns);
	else
		take_modes(n, u);
}

/* Libraries without this function, and GPUs without the link, are on PCIe. */
static enum gpu_link link_of(const struct nvml *n, struct nvml_handle *handle)
{
	uint32_t c2c = 0;
	int result = n->api.c2c ? n->api.c2c(handle, &c2c) : NVML_NOT_SUPPORTED;

	if (result == NVML_NOT_SUPPORTED || result == NVML_NO_FUNCTION || (!result && !c2c))
		return GPU_LINK_PCIE;
	return !result && c2c == 1 ? GPU_LINK_C2C : GPU_LINK_UNKNOWN;
}

static bool is_known(const struct nvml *n, const char *address)
{
	for (size_t i = 0; i < n->nr; i++)
		if (!strcmp(n->gpus[i].g->address, address))
			return true;
	return false;
}

static int add_gpu(struct nvml *n, uint32_t index, uint64_t now_ns)
{
	struct nvml_handle *handle;
	struct nvml_pci pci = { 0 };
	struct nvml_gpu *u;
	char address[24];
	int result = n->api.by_index(index, &handle);

	if (!result)
		result = n->api.pci(handle, &pci);
	if (result) {
		say("GPU number %u: %s (%d): left out", index, error_text(n, result), result);
		return 0;
	}
	snprintf(address, sizeof(address), "%04x:%02x:%02x.0", pci.domain, pci.bus & 0xff,
		 pci.device & 0x1f);
	if (is_known(n, address)) {
		say("GPU number %u: another one has its address %s: left out", index, address);
		return 0;
	}
	u = &n->gpus[n->nr];
	u->g = gpu_add(n->list, address);
	if (!u->g)
		return -ENOMEM;
	n->nr++;
	if (n->api.uuid && n->api.uuid(handle, u->g->uuid, sizeof(u->g->uuid)))
		u->g->uuid[0] = '\0';
	u->g->uuid[sizeof(u->g->uuid) - 1] = '\0';
	u->g->link = link_of(n, handle);
	take_gpu(n, u, now_ns);
	return 0;
}

static int add_gpus(struct nvml *n)
{
	uint32_t nr = 0;
	int result = n->api.count(&nr), err = 0;

	if (result) {
		say("NVML cannot be used: %s (%d)", error_text(n, result), result);
		return -EIO;
	}
	if (nr > GPU_MAX_DEVICES)
		say("%u GPUs: the first %d are looked at", nr, GPU_MAX_DEVICES);
	n->gpus = calloc(GPU_MAX_DEVICES, sizeof(*n->gpus));
	if (!n->gpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && i < GPU_MAX_DEVICES && !err; i++)
		err = add_gpu(n, i, monotonic_ns());
	return err;
}

int nvml_open(const struct processes *p, struct gpu_list *l, struct nvml **ret)
{
	struct nvml *n = calloc(1, sizeof(*n));
	int err;

	*ret = NULL;
	if (!n)
		return -ENOMEM;
	n->processes = p;
	n->list = l;
	nvml_clock(n, monotonic_ns());
	n->blind_ns = 0;
	err = take(n);
	if (!err)
		err = add_gpus(n);
	if (err) {
		nvml_close(n);
		return err == -ENODEV ? 0 : err;
	}
	nvml_gpm_open(n);
	*ret = n;
	return 0;
}

void nvml_release(struct nvml *n, uint64_t until_ns)
{
	n->away_ns = until_ns;
	if (!n->library)
		return;
	for (size_t i = 0; i < n->nr; i++) {
		struct nvml_gpu *u = &n->gpus[i];

		nvml_gpm_free(n, u);
		u->handle = NULL;
		u->again_ns = u->seen_ns = u->nr_before = u->nr_bases = 0;
	}
	n->api.shutdown();
	dlclose(n->library);
	n->library = NULL;
}

void nvml_retake(struct nvml *n)
{
	n->away_ns = 0;
}

void nvml_close(struct nvml *n)
{
	if (!n)
		return;
	nvml_release(n, 0);
	free(n->gpus);
	free(n);
}

/* --- a look */

static void look_at(struct nvml *n, struct nvml_gpu *u)
{
	int result;

	u->nr_before = u->g->known ? u->g->nr : 0;
	memcpy(u->before, u->g->processes, u->nr_before * sizeof(*u->before));
	gpu_begin(u->g, monotonic_ns());
	if (n->library && !u->handle && u->g->time_ns >= u->again_ns)
		take_gpu(n, u, u->g->time_ns);
	if (!u->handle)
		return;
	take_modes(n, u);
	nvml_gpm_look(n, u);
	result = nvml_lists(n, u);
	if (result) {
		failed(n, u, result, u->g->time_ns);
		return;
	}
	if (u->said)
		say("GPU %s: it can be read again", u->g->address);
	u->said = 0;
	gpu_end(u->g, u->before, u->nr_before);
	nvml_activity(n, u);
}

void nvml_look(struct nvml *n)
{
	uint64_t now_ns = monotonic_ns();
	bool any = false;

	nvml_clock(n, now_ns);
	if (!n->library && now_ns >= n->away_ns && take(n))
		n->away_ns = now_ns + AGAIN_NS;
	for (size_t i = 0; i < n->nr; i++) {
		look_at(n, &n->gpus[i]);
		any |= n->gpus[i].handle != NULL;
	}
	/* Perhaps it is the library: it stays useless when its driver was loaded again. */
	if (n->library && n->nr && !any)
		nvml_release(n, now_ns + AGAIN_NS);
}
