// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A libnvidia-ml.so.1 that plays GPUs, for tests of t410trace-gpu. It follows a script, the file
 * $NVML_SCRIPT, which may change at any time: it is read again then. Its lines are
 *
 *     init ERROR                      error of nvmlInit
 *     clock MS                        CLOCK_REALTIME is ahead by so much (needs LD_PRELOAD)
 *     stamps MS                       stamps of samples are behind by so much
 *     percent N                       overrides the percents of all samples
 *     gpu ADDRESS UUID C2C MIG ACCOUNTING GPM ERROR
 *                                     GPM: 1 has counters, 2 needs rights; ERROR: of all its lists
 *     process ADDRESS PID KIND INSTANCE PERCENT SUM SAMPLES
 *                                     KIND: c, g or m; INSTANCE -1: none; SUM, SAMPLES: accounting
 *     rate ADDRESS MIB                bytes in a second, of each of its counters
 *     crowd ADDRESS FIRST NUMBER      so many processes of kind c, with numbers from FIRST on
 *     unit N                          units of stamps in a second, in place of 1000000
 *     stale                           all functions fail (1) until the next nvmlInit
 *     twin                            all GPUs have the address of the first one
 *     fail FUNCTION ERROR             one of nvml_api.h's, by its member there
 *
 * VERSION (1, 2, 3) is that of its lists of processes, ENTRY the words of an entry. With OLD it has
 * only what an old library has. It writes what
 * it was asked to $NVML_SCRIPT.log: init, shutdown, and list for each list of processes.
 * Written from the documentation of NVML alone; it shares nothing with user/gpu, so that an error
 * there is not made twice.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION 3
#endif
#ifndef ENTRY
#define ENTRY (VERSION == 1 ? 4 : 6)
#endif
#define MAX			  4200

#define VERSIONED_(name, version) name##version
#define VERSIONED(name, version)  VERSIONED_(name, version)
#if VERSION == 1
#define LIST(name) name
#else
#define LIST(name) VERSIONED(name##_v, VERSION)
#endif

struct gpu {
	char address[32], uuid[64];
	int c2c, mig, accounting, gpm, error;
	double rate;
};

struct process {
	char address[32], kind;
	int pid, instance, percent;
	unsigned long long sum;
	unsigned int samples;
};

struct sample {
	struct gpu *gpu;
	struct timespec when;
};

struct metric {
	unsigned int id;
	int result;
	double value;
	char *names[3];
};

struct metrics {
	unsigned int version, nr;
	struct sample *from, *to;
	struct metric items[];
};

struct used {
	unsigned int pid;
	unsigned long long time;
	unsigned int sm, memory, encoder, decoder;
};

struct account {
	unsigned int pid, running, percent, memory;
	unsigned long long most;
	unsigned int samples;
	unsigned long long sum, memory_sum, time, start;
};

static struct gpu gpus[64];
static struct process processes[MAX];
static int nr_gpus, nr_processes, init_error, percent = -1, stale, twin, failing_with;
static long clock_ms, stamps_ms;
static long long unit;
static char failing[32];
static struct stat seen;

static void note(const char *what)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s.log", getenv("NVML_SCRIPT"));
	f = fopen(path, "a");
	if (f) {
		fprintf(f, "%s\n", what);
		fclose(f);
	}
}

static struct gpu *gpu_at(const char *address)
{
	for (int i = 0; i < nr_gpus; i++)
		if (!strcmp(gpus[i].address, address))
			return &gpus[i];
	return NULL;
}

/* The result of a function that works otherwise */
static int fails(const char *name)
{
	return stale ? 1 : !strcmp(name, failing) ? failing_with : 0;
}

static void take_crowd(const char *address, int first, int number)
{
	for (int i = 0; i < number && nr_processes < MAX; i++) {
		struct process *p = &processes[nr_processes++];

		*p = (struct process){ .kind = 'c', .pid = first + i, .instance = -1 };
		snprintf(p->address, sizeof(p->address), "%s", address);
	}
}

/* GPUs keep their places: programs hold their addresses. */
static void take_line(const char *line)
{
	struct process *p = &processes[nr_processes];
	char address[32];
	struct gpu new = { 0 }, *g;
	double rate;
	int first, number;

	stale |= !strcmp(line, "stale\n");
	twin |= !strcmp(line, "twin\n");
	sscanf(line, "fail %31s %d", failing, &failing_with);
	sscanf(line, "unit %lld", &unit);
	if (sscanf(line, "crowd %31s %d %d", address, &first, &number) == 3)
		take_crowd(address, first, number);
	sscanf(line, "init %d", &init_error);
	sscanf(line, "clock %ld", &clock_ms);
	sscanf(line, "stamps %ld", &stamps_ms);
	sscanf(line, "percent %d", &percent);
	if (sscanf(line, "gpu %31s %63s %d %d %d %d %d", new.address, new.uuid, &new.c2c, &new.mig,
		   &new.accounting, &new.gpm, &new.error) == 7) {
		g = gpu_at(new.address);
		g = g ? g : &gpus[nr_gpus++];
		new.rate = g->rate;
		*g = new;
	}
	if (nr_processes < MAX &&
	    sscanf(line, "process %31s %d %c %d %d %llu %u", p->address, &p->pid, &p->kind,
		   &p->instance, &p->percent, &p->sum, &p->samples) == 7)
		nr_processes++;
	if (sscanf(line, "rate %31s %lf", address, &rate) == 2 && gpu_at(address))
		gpu_at(address)->rate = rate;
}

static void read_script(void)
{
	const char *name = getenv("NVML_SCRIPT");
	struct stat now;
	char line[256];
	FILE *f;

	/* Its number alone would not do: the next file but one may have it again. */
	if (!name || stat(name, &now) ||
	    (now.st_ino == seen.st_ino && now.st_mtim.tv_sec == seen.st_mtim.tv_sec &&
	     now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec))
		return;
	f = fopen(name, "r");
	if (!f)
		return;
	seen = now;
	nr_processes = init_error = 0;
	clock_ms = stamps_ms = 0;
	unit = 1000000;
	stale = twin = failing_with = 0;
	failing[0] = '\0';
	percent = -1;
	while (fgets(line, sizeof(line), f))
		take_line(line);
	fclose(f);
}

/* The clock of a program that this library is preloaded to */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int err = syscall(SYS_clock_gettime, clock, ret);
	long long ns;

	if (clock != CLOCK_REALTIME)
		return err;
	read_script();
	ns = ret->tv_sec * 1000000000ll + ret->tv_nsec + clock_ms * 1000000ll;
	ret->tv_sec = ns / 1000000000;
	ret->tv_nsec = ns % 1000000000;
	return err;
}

int nvmlInit_v2(void)
{
	read_script();
	note("init");
	stale = 0;
	return init_error;
}

int nvmlShutdown(void)
{
	note("shutdown");
	return 0;
}

#ifndef OLD
int nvmlSystemGetNVMLVersion(char *ret, unsigned int size)
{
	if (fails("version"))
		return fails("version");
	snprintf(ret, size, "13.595.45.04");
	return 0;
}

const char *nvmlErrorString(int result)
{
	return result == 15 ? "GPU is lost" : result == 4 ? "Insufficient Permissions" : "Error";
}

#endif

int nvmlDeviceGetCount_v2(unsigned int *ret)
{
	if (fails("count"))
		return fails("count");
	*ret = nr_gpus;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **ret)
{
	if (fails("by_index"))
		return fails("by_index");
	*ret = &gpus[index];
	return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **ret)
{
	struct gpu *g = gpu_at(address);

	read_script();
	*ret = g;
	return fails("by_address") ? fails("by_address") : !g ? 6 : g->error == 15 ? 15 : 0;
}

struct pci {
	char legacy[16];
	unsigned int domain, bus, device, ids, subsystem;
	char address[32];
};

#if VERSION == 3
int nvmlDeviceGetPciInfo_v3(struct gpu *g, struct pci *ret)
#else
int nvmlDeviceGetPciInfo_v2(struct gpu *g, struct pci *ret)
#endif
{
	memset(ret, 0, VERSION == 3 ? sizeof(*ret) : 52);
	g = twin ? gpus : g;
	if (fails("pci"))
		return fails("pci");
	return sscanf(g->address, "%x:%x:%x", &ret->domain, &ret->bus, &ret->device) == 3 ? 0 : 999;
}

#ifndef OLD
int nvmlDeviceGetUUID(struct gpu *g, char *ret, unsigned int size)
{
	if (fails("uuid"))
		return fails("uuid");
	snprintf(ret, size, "%s", g->uuid);
	return 0;
}

int nvmlDeviceGetC2cModeInfoV(struct gpu *g, unsigned int *ret)
{
	if (fails("c2c"))
		return fails("c2c");
	*ret = g->c2c;
	return 0;
}

int nvmlDeviceGetMigMode(struct gpu *g, unsigned int *ret, unsigned int *ret_pending)
{
	read_script();
	*ret = *ret_pending = g->mig;
	return fails("mig");
}

#endif

/* --- who has a context */

static int list(struct gpu *g, unsigned int *nr, unsigned int *words, char kind)
{
	const char *name = kind == 'c' ? "compute" : kind == 'g' ? "graphics" : "mps";
	unsigned int found = 0;

	read_script();
	note("list");
	if (g->error || fails(name))
		return g->error ? g->error : fails(name);
	for (int i = 0; i < nr_processes; i++) {
		const struct process *p = &processes[i];
		unsigned int entry[8] = { p->pid, 0, 1 << 20, 0, p->instance, p->instance };

		if (p->kind != kind || strcmp(p->address, g->address) != 0)
			continue;
		if (found < *nr)
			memcpy(words + found * ENTRY, entry, ENTRY * sizeof(*words));
		found++;
	}
	if (found > *nr) {
		*nr = found;
		return 7;
	}
	*nr = found;
	return 0;
}

int LIST(nvmlDeviceGetComputeRunningProcesses)(void *g, unsigned int *nr, unsigned int *words)
{
	return list(g, nr, words, 'c');
}

int LIST(nvmlDeviceGetGraphicsRunningProcesses)(void *g, unsigned int *nr, unsigned int *words)
{
	return list(g, nr, words, 'g');
}

#if VERSION > 1 && !defined(OLD)
int LIST(nvmlDeviceGetMPSComputeRunningProcesses)(void *g, unsigned int *nr, unsigned int *words)
{
	return list(g, nr, words, 'm');
}
#endif

#ifndef OLD
/* --- who was busy */

/* Those that did something have one entry, of the newest sample of theirs. */
int nvmlDeviceGetProcessUtilization(struct gpu *g, struct used *ret, unsigned int *nr,
				    unsigned long long since)
{
	unsigned int found = 0;
	struct timespec now;
	unsigned long long stamp;

	if (g->mig || fails("used"))
		return g->mig ? 3 : fails("used");
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
	stamp = now.tv_sec * 1000000ull + now.tv_nsec / 1000 + clock_ms * 1000 - stamps_ms * 1000;
	for (int i = 0; i < nr_processes && found < *nr; i++) {
		const struct process *p = &processes[i];

		/* Stale stamps are returned in spite of the time that was asked for. */
		if (!p->percent || strcmp(p->address, g->address) != 0 ||
		    (stamp <= since && !stamps_ms))
			continue;
		ret[found++] = (struct used){ .pid = p->pid,
					      .time = (double)unit / 1000000 * stamp,
					      .sm = percent < 0 ? p->percent : percent };
	}
	*nr = found;
	return found ? 0 : 6;
}

int nvmlDeviceGetAccountingMode(struct gpu *g, unsigned int *ret)
{
	if (fails("accounting"))
		return fails("accounting");
	*ret = g->accounting;
	return 0;
}

int nvmlDeviceGetAccountingStats_v2(struct gpu *g, struct account *a)
{
	if (fails("account"))
		return fails("account");
	for (int i = 0; i < nr_processes; i++)
		if (processes[i].pid == (int)a->pid && !strcmp(processes[i].address, g->address)) {
			a->sum = processes[i].sum;
			a->samples = processes[i].samples;
			return 0;
		}
	return 6;
}

/* --- counters of links */

int nvmlGpmQueryDeviceSupport(struct gpu *g, unsigned int *ret)
{
	if (fails("gpm_support"))
		return fails("gpm_support");
	ret[1] = g->gpm != 0;
	return 0;
}

int nvmlGpmSampleAlloc(struct sample **ret)
{
	if (fails("gpm_alloc"))
		return fails("gpm_alloc");
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : 20;
}

int nvmlGpmSampleFree(struct sample *s)
{
	free(s);
	return 0;
}

int nvmlGpmSampleGet(struct gpu *g, struct sample *ret)
{
	read_script();
	ret->gpu = g;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ret->when);
	if (fails("gpm_sample"))
		return fails("gpm_sample");
	return g->gpm == 2 ? 4 : g->gpm == 3 ? 999 : 0;
}

/* As a newer library than its user, it has more metrics than the user knows. */
int nvmlGpmMetricsGet(struct metrics *m)
{
	if (fails("gpm_metrics"))
		return fails("gpm_metrics");
	memset(m->items + m->nr, 0, (400 - m->nr) * sizeof(m->items[0]));
	for (unsigned int i = 0; i < m->nr; i++) {
		m->items[i].result = m->version == 1 ? 0 : 25;
		m->items[i].value = m->from->gpu->rate;
	}
	return 0;
}
#endif
