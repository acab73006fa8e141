// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/perf_events.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

static int kernel_open(const struct perf_event_attr *attr, int pid, int cpu, int leader)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static ssize_t kernel_read(int fd, uint64_t *words, size_t nr)
{
	ssize_t got = read(fd, words, nr * sizeof(*words));

	return got < 0 ? -errno : got;
}

static int kernel_enable(int leader)
{
	return ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) ? -errno : 0;
}

static int kernel_disable(int leader)
{
	return ioctl(leader, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

static void kernel_close(int fd)
{
	close(fd);
}

static uint64_t thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

const struct perf_ops perf_kernel = {
	.open = kernel_open,
	.read = kernel_read,
	.enable = kernel_enable,
	.disable = kernel_disable,
	.close = kernel_close,
	.now = monotonic_ns,
	.spent = thread_cpu_ns,
};

void perf_events_close(const struct perf_ops *ops, int *fds, size_t nr)
{
	while (nr--) {
		if (fds[nr] >= 0)
			ops->close(fds[nr]);
		fds[nr] = -1;
	}
}

int perf_attr(uint32_t type, const struct pmu_config *config, uint64_t read_format,
	      struct perf_event_attr *ret)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config->config,
		.config1 = config->config1,
		.config2 = config->config2,
		.read_format = read_format,
	};

#ifdef PERF_ATTR_SIZE_VER8
	attr.config3 = config->config3;
#else
	if (config->config3)
		return -EOPNOTSUPP;
#endif
	*ret = attr;
	return 0;
}

int perf_group_open(const struct perf_ops *ops, const struct perf_event_attr *attrs, size_t nr,
		    int cpu, bool pinned, int *fds)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		struct perf_event_attr attr = attrs[i];

		attr.disabled = !i;
		attr.pinned = pinned && !i;
		fds[i] = ops->open(&attr, -1, cpu, i ? fds[0] : -1);
		if (fds[i] == -EINVAL && i)
			break;
		if (fds[i] < 0) {
			int err = fds[i];

			perf_events_close(ops, fds, i);
			return err;
		}
	}
	return i;
}

void counters_rights_help(struct diag *d)
{
	char paranoid[16] = "?";

	read_line_at(-1, "/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	if (!strcmp(paranoid, "3") || !strcmp(paranoid, "4"))
		diag_help(d,
			  "kernel.perf_event_paranoid is %s: run as root or with CAP_SYS_ADMIN "
			  "(CAP_PERFMON is enough from 2 down: set it to 2 with "
			  "\"sysctl kernel.perf_event_paranoid=2\"; without capabilities to 0)",
			  paranoid);
	else
		diag_help(d,
			  "kernel.perf_event_paranoid is %s: run as root or with CAP_PERFMON, or "
			  "set it to 0 with \"sysctl kernel.perf_event_paranoid=0\"",
			  paranoid);
}
