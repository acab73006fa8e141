// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/check/checks_machine.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "platform/pmu/fit.h"
#include "platform/sys/cpus.h"

/* The sockets whose CPUs a PMU tells; NULL without memory. */
static struct cpu_socket *sockets_of(const struct pmu_list *pmus, uint32_t *ret_nr)
{
	struct cpu_socket *known = calloc(pmus->nr + 1, sizeof(*known));
	uint32_t nr = 0, k;

	for (size_t i = 0; known && i < pmus->nr; i++) {
		const struct pmu *pmu = &pmus->pmus[i];

		for (k = 0; k < nr && (int64_t)known[k].id != pmu->socket; k++)
			;
		if (k == nr && pmu->socket >= 0 && cpulist_count(&pmu->cpus))
			known[nr++] = (struct cpu_socket){ (uint32_t)pmu->socket, &pmu->cpus };
	}
	*ret_nr = nr;
	return known;
}

static size_t count_nodes(const struct sysfs *fs)
{
	cleanup_texts struct text_list names = { 0 };
	size_t nr = 0;

	if (sysfs_list(fs, &names, "devices/system/node"))
		return 0;
	for (size_t i = 0; i < names.nr; i++)
		nr += !strncmp(names.items[i], "node", 4) &&
		      strspn(names.items[i] + 4, "0123456789");
	return nr;
}

/* The chip that the PMUs are of, where the CPU's own number does not tell it; "" if neither does. */
static const char *chip_of_pmus(const struct pmu_list *pmus, const char *cpu)
{
	const struct pmu_platform_row *chip = pmu_platform_row(pmu_list_platform(pmus));

	return chip && !strstr(cpu, chip->title) ? chip->title : "";
}

int check_sockets(const struct sysfs *fs, const struct pmu_list *pmus, struct check_row *ret_row)
{
	uint32_t nr_known = 0;
	cleanup_free struct cpu_socket *known = sockets_of(pmus, &nr_known);
	size_t nodes = count_nodes(fs);
	struct cpu_map cpus = { 0 };
	struct diag d = { 0 };
	char cpu[200];
	const char *chip;
	unsigned int nr;
	int err = known ? cpu_map_read(fs, known, nr_known, &d, &cpus) : -ENOMEM;

	*ret_row = (struct check_row){ .name = "machine", .status = CHECK_OK };
	if (err) {
		str_append(ret_row->found, sizeof(ret_row->found), "%s", d.what);
		return err == -ENOMEM ? err : 0;
	}
	pmu_fit_cpu(fs, cpu, sizeof(cpu));
	nr = cpulist_count(&cpus.online);
	chip = chip_of_pmus(pmus, cpu);
	str_append(ret_row->found, sizeof(ret_row->found), "%s%s%s%s, %u socket%s, %u CPU%s",
		   chip[0] ? "PMUs of " : "", chip, chip[0] ? ", CPU " : "", cpu, cpus.nr_sockets,
		   cpus.nr_sockets == 1 ? "" : "s", nr, nr == 1 ? "" : "s");
	if (nodes)
		str_append(ret_row->found, sizeof(ret_row->found), ", %zu NUMA node%s", nodes,
			   nodes == 1 ? "" : "s");
	cpu_map_free(&cpus);
	return 0;
}

void check_judge_serve(const char *text, int err, struct check_row *ret_row)
{
	bool fine = err == CHECK_NOT_TRIED ? !text || text[0] == '-' || atoi(text) <= 2 : !err;

	*ret_row = (struct check_row){ .name = "serve", .status = fine ? CHECK_OK : CHECK_LIMITED };
	str_append(ret_row->found, sizeof(ret_row->found),
		   fine ? "the daemon's capabilities are enough for its counters"
			: "the daemon cannot count: it has no CAP_SYS_ADMIN");
	if (fine)
		return;
	str_append(ret_row->found, sizeof(ret_row->found), ", and perf_event_paranoid is %.32s",
		   text ? text : "unknown");
	str_copy(ret_row->remedy, sizeof(ret_row->remedy),
		 "\"t410trace serve\" needs sysctl kernel.perf_event_paranoid=2, or the capability "
		 "in its unit (docs/SERVE.md); a run as root does not");
}

/* A cpu-clock event on the CPU we are on, as the reader of the windows opens it. */
int check_open_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
	};
	int cpu = sched_getcpu();
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* With CAP_PERFMON alone; the thread has its own capabilities again afterwards. */
static int try_event(void)
{
	const cap_value_t admin = CAP_SYS_ADMIN, perfmon = CHECK_CAP_PERFMON;
	cap_t now = cap_get_proc(), less = now ? cap_dup(now) : NULL;
	int err = less ? 0 : -ENOMEM;

	if (!err && (cap_set_flag(less, CAP_EFFECTIVE, 1, &admin, CAP_CLEAR) ||
		     cap_set_flag(less, CAP_EFFECTIVE, 1, &perfmon, CAP_SET) || cap_set_proc(less)))
		err = CHECK_NOT_TRIED;
	if (!err) {
		err = check_open_event();
		if (cap_set_proc(now))
			err = -errno;
	}
	cap_free(less);
	cap_free(now);
	return err;
}

int check_serve(const char *paranoid, struct check_row *ret_row)
{
	int err = try_event();

	if (err == -ENOMEM)
		return err;
	check_judge_serve(paranoid, err, ret_row);
	return 0;
}
