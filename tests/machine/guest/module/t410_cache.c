// SPDX-License-Identifier: GPL-2.0-only
/*
 * t410_cache: the guest's side of the cache model of the virtual T410, made for its tests and
 * for nothing else.
 *
 * - A PMU of the cores, with two events that the model counts for each CPU. QEMU's own has
 *   none of memory. Its names and numbers are those of Arm's events, so t410trace takes them by
 *   its usual options (--weights l3d_cache_refill,l2d_cache_wb).
 * - At each switch the model is told for which process and cgroup the CPU works now. That is
 *   the truth by process; it shares nothing with t410trace's BPF programs.
 *
 * Loading it switches the model on. It stays until the machine is switched off.
 */
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

#include "port.h"

#define EVENT_L2D_CACHE_WB     0x18
#define EVENT_L3D_CACHE_REFILL 0x2a

static void __iomem *port;
static struct tracepoint *sched_switch;

static void __iomem *of_cpu(unsigned int reg)
{
	return port + PORT_CPUS + smp_processor_id() * PORT_CPU_STRIDE + reg;
}

/* --- for whom a CPU works */

static u64 cgroup_of(struct task_struct *task)
{
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(task));
	rcu_read_unlock();
	return id;
}

static void tell(struct task_struct *task)
{
	writeq(cgroup_of(task), of_cpu(PORT_CPU_CGROUP));
	writeq(task->tgid, of_cpu(PORT_CPU_PID));
}

static void switched(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		     unsigned int prev_state)
{
	tell(next);
}

static void tell_current(void *unused)
{
	tell(current);
}

static void find_switch(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_switch"))
		sched_switch = tp;
}

/* --- the PMU */

static u64 count(const struct perf_event *event)
{
	return readq(of_cpu(event->attr.config == EVENT_L2D_CACHE_WB ? PORT_CPU_WRITEBACKS
								     : PORT_CPU_REFILLS));
}

static void cache_read(struct perf_event *event)
{
	u64 now = count(event), before = local64_xchg(&event->hw.prev_count, now);

	local64_add(now - before, &event->count);
}

static void cache_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, count(event));
	event->hw.state = 0;
}

static void cache_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	cache_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int cache_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		cache_start(event, flags);
	return 0;
}

static void cache_del(struct perf_event *event, int flags)
{
	cache_stop(event, flags);
}

static int cache_init(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->attr.config != EVENT_L2D_CACHE_WB &&
	    event->attr.config != EVENT_L3D_CACHE_REFILL)
		return -ENOENT;
	/* counts are those of a CPU, whoever it works for */
	if (event->cpu < 0 || is_sampling_event(event) || event->attach_state & PERF_ATTACH_TASK)
		return -EOPNOTSUPP;
	return 0;
}

PMU_FORMAT_ATTR(event, "config:0-15");
static struct attribute *formats[] = { &format_attr_event.attr, NULL };
static const struct attribute_group format_group = { .name = "format", .attrs = formats };

static ssize_t named_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct perf_pmu_events_attr *e = container_of(attr, struct perf_pmu_events_attr, attr);

	return sysfs_emit(page, "event=0x%02llx\n", e->id);
}

static struct attribute *events[] = {
	PMU_EVENT_ATTR_ID(l3d_cache_refill, named_show, EVENT_L3D_CACHE_REFILL),
	PMU_EVENT_ATTR_ID(l2d_cache_wb, named_show, EVENT_L2D_CACHE_WB),
	NULL,
};
static const struct attribute_group event_group = { .name = "events", .attrs = events };

/* As PMUs of cores have it */
static ssize_t cpus_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return cpumap_print_to_pagebuf(true, page, cpu_possible_mask);
}
static DEVICE_ATTR_RO(cpus);
static struct attribute *about[] = { &dev_attr_cpus.attr, NULL };
static const struct attribute_group about_group = { .attrs = about };

static const struct attribute_group *groups[] = { &format_group, &event_group, &about_group, NULL };

static struct pmu cache_pmu = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
	.attr_groups = groups,
	.event_init = cache_init,
	.add = cache_add,
	.del = cache_del,
	.start = cache_start,
	.stop = cache_stop,
	.read = cache_read,
};

static int __init t410_cache_init(void)
{
	int err;

	port = ioremap(PORT_BASE, PORT_SIZE);
	if (!port)
		return -ENOMEM;
	for_each_kernel_tracepoint(find_switch, NULL);
	err = sched_switch ? tracepoint_probe_register(sched_switch, switched, NULL) : -ENOENT;
	if (err)
		goto unmap;
	on_each_cpu(tell_current, NULL, 1);
	err = perf_pmu_register(&cache_pmu, "t410_cache", -1);
	if (err)
		goto unregister;
	writeq(1, port + PORT_CACHE_ON);
	if (readq(port + PORT_CACHE_ON) == 1)
		return 0;
	pr_err("this machine has no cache model\n");
	err = -ENODEV;
	perf_pmu_unregister(&cache_pmu);
unregister:
	tracepoint_probe_unregister(sched_switch, switched, NULL);
	tracepoint_synchronize_unregister();
unmap:
	iounmap(port);
	return err;
}
module_init(t410_cache_init);

MODULE_DESCRIPTION("Cache model of the virtual T410: a PMU of the cores, and whose traffic it is");
MODULE_LICENSE("GPL");
