/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of libnvidia-ml.so.1 that is used, in declarations of our own: layouts and numbers are
 * those of NVML 8 to 13. A function that a library does not have is NULL.
 */
#ifndef GPU_NVML_API_H
#define GPU_NVML_API_H

#include <stddef.h>
#include <stdint.h>

/* Results */
enum {
	NVML_OK = 0,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_TOO_SMALL = 7,
	NVML_NO_DRIVER = 9,
	NVML_NO_FUNCTION = 13,
	NVML_LOST = 15,
};

/* In place of a number that the driver does not have */
#define NVML_NO_VALUE UINT64_MAX

struct nvml_handle;
struct nvml_gpm_sample;

/* Older libraries write its first members only. */
struct nvml_pci {
	char legacy[16];
	uint32_t domain, bus, device, ids, subsystem;
	char bus_id[32];
};

/* One for each process that did something; percents are averages since the time asked for. */
struct nvml_used {
	uint32_t pid;
	uint64_t time_us; /* CLOCK_REALTIME */
	uint32_t sm, memory, encoder, decoder;
};

struct nvml_account {
	uint32_t pid, running, percent, memory_percent;
	uint64_t memory_max;
	uint32_t samples;
	uint64_t sum, memory_sum; /* hundredths of percents */
	uint64_t time_ms, start_us;
};

struct nvml_metric {
	uint32_t id;
	int result;
	double value;
	const char *names[3];
};

struct nvml_metrics {
	uint32_t version, nr;
	struct nvml_gpm_sample *from, *to;
	struct nvml_metric items[];
};

struct nvml_support {
	uint32_t version, yes;
};

/*
 * A list of processes. Entries have 16 bytes in the first version of the functions and 24 in the
 * others, but 32 in the third of drivers 535.43 to 535.86, which do not say so. So a list is a
 * number of words, and its entries are as long as what was written (nvml_lists.c).
 */
typedef int nvml_list(struct nvml_handle *, uint32_t *nr, uint32_t *words);

struct nvml_api {
	int (*init)(void);
	int (*shutdown)(void);
	int (*version)(char *ret, uint32_t size);
	int (*count)(uint32_t *ret);
	int (*by_index)(uint32_t index, struct nvml_handle **ret);
	int (*by_address)(const char *address, struct nvml_handle **ret);
	int (*pci)(struct nvml_handle *, struct nvml_pci *ret);
	int (*uuid)(struct nvml_handle *, char *ret, uint32_t size);
	int (*c2c)(struct nvml_handle *, uint32_t *ret_enabled);
	int (*mig)(struct nvml_handle *, uint32_t *ret_now, uint32_t *ret_pending);
	nvml_list *compute, *graphics, *mps;
	int (*used)(struct nvml_handle *, struct nvml_used *ret, uint32_t *nr, uint64_t since_us);
	int (*accounting)(struct nvml_handle *, uint32_t *ret_enabled);
	int (*account)(struct nvml_handle *, struct nvml_account *);
	int (*gpm_support)(struct nvml_handle *, struct nvml_support *);
	int (*gpm_alloc)(struct nvml_gpm_sample **ret);
	int (*gpm_free)(struct nvml_gpm_sample *);
	int (*gpm_sample)(struct nvml_handle *, struct nvml_gpm_sample *);
	int (*gpm_metrics)(struct nvml_metrics *);
	const char *(*error)(int result);
};

_Static_assert(sizeof(struct nvml_pci) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct nvml_used) == 32, "nvmlProcessUtilizationSample_t");
_Static_assert(offsetof(struct nvml_used, sm) == 16, "nvmlProcessUtilizationSample_t");
_Static_assert(sizeof(struct nvml_account) == 64, "nvmlAccountingStats_v2_t");
_Static_assert(offsetof(struct nvml_account, sum) == 32, "nvmlAccountingStats_v2_t");
_Static_assert(sizeof(struct nvml_metric) == 40, "nvmlGpmMetric_t");
_Static_assert(offsetof(struct nvml_metrics, items) == 24, "nvmlGpmMetricsGet_t");
_Static_assert(sizeof(struct nvml_support) == 8, "nvmlGpmSupport_t");

#endif
