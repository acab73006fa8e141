// SPDX-License-Identifier: GPL-2.0-only
/*
 * t410_shapes: uncore PMUs in the shapes that drivers of other vendors give them, made for tests
 * in the virtual T410 and for nothing else. Perf core and scheduler are real, this driver is not:
 * it says nothing about the hardware or the drivers whose names its PMUs have.
 *
 * A text table (parameter "table", a path) says which PMUs there are:
 *
 *	pmu NAME boxes=N first=N width=BITS counters=N cpus=LIST
 *	cores NAME width=BITS counters=N
 *	format NAME TEXT
 *	event NAME TEXT
 *	count CONFIG BYTES SLOTS...
 *
 * "pmu" begins one, or as many as there are boxes, with numbers from "first" on behind the name.
 * "cpus" has one CPU for each die: it reads, its package is counted. "cores" has one PMU for all
 * CPUs, each counted by itself. The lines below belong to it. "format" and "event" are files in
 * sysfs, and so are events called NAME.scale and NAME.unit. What programs store to the slots of the
 * traffic port, "0+1" for two of them, is what an event counts, a word of SLOTS for each die or
 * CPU. One count is so many BYTES; boxes take lines in turns.
 *
 * Rules are those of the drivers: no tasks and no samples, an event moves to the CPU that reads, a
 * group that needs more than "counters" is refused, counters that are taken make others wait, and
 * a CPU that goes offline hands over to another one of its package.
 */
#include <linux/cpuhotplug.h>
#include <linux/io.h>
#include <linux/kernel_read_file.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "port.h"

#define MAX_SHAPES  4
#define MAX_BOXES   32
#define MAX_PLACES  8 /* dies, or CPUs of "cores" */
#define MAX_FILES   16
#define MAX_COUNTED 32
#define TABLE_SIZE  16384

/* What an event counts: a bit for each slot, by place */
struct counted {
	u64 config;
	u64 bytes;
	u64 slots[MAX_PLACES];
};

struct text_file {
	struct device_attribute attr;
	const char *text;
};

struct shape {
	const char *name;
	bool cores;
	u32 boxes, first, width, counters, nr_places, nr_counted, nr_formats, nr_events;
	u32 cpus[MAX_PLACES];
	struct counted counted[MAX_COUNTED];
	struct text_file formats[MAX_FILES], events[MAX_FILES];
	struct attribute *format_list[MAX_FILES + 1], *event_list[MAX_FILES + 1];
	struct attribute_group format_group, event_group;
	const struct attribute_group *groups[4];
};

/* Where a box is read: on @cpu, -1 when the whole package is offline */
struct place {
	int cpu, package;
	unsigned long used; /* counters */
};

struct box {
	struct pmu pmu;
	char name[32];
	const struct shape *shape;
	u32 index;
	struct place place[MAX_PLACES];
};

static char *table;
module_param(table, charp, 0400);
MODULE_PARM_DESC(table, "path of the table of PMUs");

static void __iomem *port;
static char *text;
static struct shape *shapes;
static struct box *boxes;
static u32 nr_shapes, nr_boxes;
static int hotplug;

/* --- the table */

static u32 *number_called(struct shape *s, const char *word)
{
	if (!strcmp(word, "boxes"))
		return &s->boxes;
	if (!strcmp(word, "first"))
		return &s->first;
	if (!strcmp(word, "width"))
		return &s->width;
	return strcmp(word, "counters") ? NULL : &s->counters;
}

static int read_cpus(struct shape *s, char *list)
{
	char *one;

	while ((one = strsep(&list, ",")))
		if (s->nr_places == MAX_PLACES || kstrtou32(one, 0, &s->cpus[s->nr_places++]))
			return -EINVAL;
	return 0;
}

/* "pmu" and "cores" */
static int read_shape(struct shape *s, char *rest, bool cores)
{
	char *word;
	u32 *number;

	*s = (struct shape){ .cores = cores, .boxes = 1 };
	s->name = strsep(&rest, " ");
	while ((word = strsep(&rest, " "))) {
		char *value = word;

		strsep(&value, "=");
		number = number_called(s, word);
		if (!value || (number ? kstrtou32(value, 0, number)
				      : strcmp(word, "cpus") || read_cpus(s, value)))
			return -EINVAL;
	}
	for (u32 cpu = 0; cores && cpu < num_possible_cpus() && cpu < MAX_PLACES; cpu++)
		s->cpus[s->nr_places++] = cpu;
	return s->nr_places && s->width && s->width <= 64 && s->counters && s->boxes ? 0 : -EINVAL;
}

static ssize_t text_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", container_of(attr, struct text_file, attr)->text);
}

static int read_file(struct text_file *files, struct attribute **list, u32 *nr, char *rest)
{
	struct text_file *file = &files[*nr];

	if (*nr == MAX_FILES)
		return -E2BIG;
	sysfs_attr_init(&file->attr.attr);
	file->attr.attr.name = strsep(&rest, " ");
	file->attr.attr.mode = 0444;
	file->attr.show = text_show;
	file->text = rest;
	list[(*nr)++] = &file->attr.attr;
	return rest ? 0 : -EINVAL;
}

static int read_counted(struct shape *s, char *rest)
{
	struct counted *c = &s->counted[s->nr_counted];
	char *word, *slot;
	u32 place = 0, n;

	if (s->nr_counted == MAX_COUNTED || !(word = strsep(&rest, " ")) ||
	    kstrtou64(word, 0, &c->config) || !(word = strsep(&rest, " ")) ||
	    kstrtou64(word, 0, &c->bytes) || !c->bytes)
		return -EINVAL;
	while ((word = strsep(&rest, " ")) && place < MAX_PLACES) {
		while ((slot = strsep(&word, "+"))) {
			if (kstrtou32(slot, 0, &n) || n >= 64)
				return -EINVAL;
			c->slots[place] |= BIT_ULL(n);
		}
		place++;
	}
	s->nr_counted++;
	return place == s->nr_places ? 0 : -EINVAL;
}

static int read_line(char *line)
{
	struct shape *s = nr_shapes ? &shapes[nr_shapes - 1] : NULL;
	char *rest = line, *word = strsep(&rest, " ");

	if (!*word || *word == '#')
		return 0;
	if (!rest)
		return -EINVAL;
	if (!strcmp(word, "pmu") || !strcmp(word, "cores"))
		return nr_shapes == MAX_SHAPES
			       ? -E2BIG
			       : read_shape(&shapes[nr_shapes++], rest, *word == 'c');
	if (!s)
		return -EINVAL;
	if (!strcmp(word, "format"))
		return read_file(s->formats, s->format_list, &s->nr_formats, rest);
	if (!strcmp(word, "event"))
		return read_file(s->events, s->event_list, &s->nr_events, rest);
	return strcmp(word, "count") ? -EINVAL : read_counted(s, rest);
}

static int read_table(void)
{
	void *buffer = text;
	char *line, *rest = text;
	ssize_t size;
	int err, number = 0;

	if (!table)
		return -EINVAL;
	size = kernel_read_file_from_path(table, 0, &buffer, TABLE_SIZE - 1, NULL, READING_POLICY);
	if (size < 0)
		return size;
	while ((line = strsep(&rest, "\n"))) {
		number++;
		err = read_line(line);
		if (err) {
			pr_info("%s:%d: cannot be used\n", table, number);
			return err;
		}
	}
	return nr_shapes ? 0 : -EINVAL;
}

/* --- the PMUs */

static struct box *box_of(const struct perf_event *event)
{
	return container_of(event->pmu, struct box, pmu);
}

static u32 place_of(const struct box *box, int cpu)
{
	u32 p = 0;

	if (box->shape->cores)
		return cpu;
	while (p < box->shape->nr_places &&
	       box->place[p].package != topology_physical_package_id(cpu))
		p++;
	return p;
}

static u64 value(const struct perf_event *event)
{
	const struct box *box = box_of(event);
	const struct shape *s = box->shape;
	const struct counted *c = &s->counted[event->hw.config];
	u64 slots = c->slots[place_of(box, event->cpu)], bytes = 0;

	for (u32 n = 0; slots; n++, slots >>= 1)
		if (slots & 1)
			bytes += readq(port + PORT_SLOTS + n * PORT_SLOT_STRIDE + PORT_SLOT_TOTAL);
	/* boxes take lines in turns */
	return div64_u64(div64_u64(bytes, c->bytes) + s->boxes - 1 - box->index, s->boxes);
}

static void shape_read(struct perf_event *event)
{
	u64 now = value(event), before = local64_xchg(&event->hw.prev_count, now);

	local64_add((now - before) & GENMASK_ULL(box_of(event)->shape->width - 1, 0),
		    &event->count);
}

static void shape_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, value(event));
	event->hw.state = 0;
}

static void shape_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	shape_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int shape_add(struct perf_event *event, int flags)
{
	struct box *box = box_of(event);
	struct place *place = &box->place[place_of(box, event->cpu)];
	int free = find_first_zero_bit(&place->used, box->shape->counters);

	if (free == box->shape->counters)
		return -EAGAIN;
	__set_bit(free, &place->used);
	event->hw.idx = free;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		shape_start(event, flags);
	return 0;
}

static void shape_del(struct perf_event *event, int flags)
{
	struct box *box = box_of(event);

	shape_stop(event, flags);
	__clear_bit(event->hw.idx, &box->place[place_of(box, event->cpu)].used);
}

/* Does a group with this event fit at all? */
static bool fits(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	u32 nr = 1;

	if (leader == event)
		return true;
	nr += leader->pmu == event->pmu;
	for_each_sibling_event(sibling, leader) nr += sibling->pmu == event->pmu;
	return nr <= box_of(event)->shape->counters;
}

static int shape_init(struct perf_event *event)
{
	const struct box *box = box_of(event);
	const struct shape *s = box->shape;
	u32 place, n = 0;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (is_sampling_event(event) || event->attach_state & PERF_ATTACH_TASK || event->cpu < 0)
		return -EINVAL;
	place = place_of(box, event->cpu);
	if (place >= s->nr_places || box->place[place].cpu < 0)
		return -EINVAL;
	while (n < s->nr_counted && s->counted[n].config != event->attr.config)
		n++;
	if (n == s->nr_counted || event->attr.config1 || event->attr.config2 || !fits(event))
		return -EINVAL;
	event->hw.config = n;
	event->cpu = box->place[place].cpu;
	return 0;
}

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *page)
{
	const struct pmu *pmu = dev_get_drvdata(dev);
	const struct box *box = container_of(pmu, struct box, pmu);
	ssize_t size = 0;

	for (u32 p = 0; p < box->shape->nr_places; p++)
		if (box->place[p].cpu >= 0)
			size += sysfs_emit_at(page, size, "%s%d", size ? "," : "",
					      box->place[p].cpu);
	return size + sysfs_emit_at(page, size, "\n");
}
static DEVICE_ATTR_RO(cpumask);
static struct attribute *mask[] = { &dev_attr_cpumask.attr, NULL };
static const struct attribute_group mask_group = { .attrs = mask };

static int add_box(struct shape *s, u32 index)
{
	struct box *box = &boxes[nr_boxes];
	int err;

	if (nr_boxes == MAX_BOXES)
		return -E2BIG;
	*box = (struct box){
		.shape = s,
		.index = index,
		.pmu = {
			.module = THIS_MODULE,
			.task_ctx_nr = perf_invalid_context,
			.capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
			.attr_groups = s->groups,
			.event_init = shape_init,
			.add = shape_add,
			.del = shape_del,
			.start = shape_start,
			.stop = shape_stop,
			.read = shape_read,
		},
	};
	for (u32 p = 0; p < s->nr_places; p++) {
		box->place[p].cpu = s->cpus[p];
		box->place[p].package = topology_physical_package_id(s->cpus[p]);
	}
	if (s->boxes > 1)
		snprintf(box->name, sizeof(box->name), "%s%u", s->name, s->first + index);
	else
		strscpy(box->name, s->name);
	err = perf_pmu_register(&box->pmu, box->name, -1);
	if (!err)
		nr_boxes++;
	return err;
}

static int add_shape(struct shape *s)
{
	int err = 0;

	s->format_group = (struct attribute_group){ .name = "format", .attrs = s->format_list };
	s->event_group = (struct attribute_group){ .name = "events", .attrs = s->event_list };
	s->groups[0] = &s->format_group;
	s->groups[1] = &s->event_group;
	s->groups[2] = s->cores ? NULL : &mask_group;
	for (u32 i = 0; i < s->boxes && !err; i++)
		err = add_box(s, i);
	return err;
}

/* --- CPUs that come and go */

static int shape_cpu_online(unsigned int cpu)
{
	for (u32 b = 0; b < nr_boxes; b++) {
		struct place *place = boxes[b].place;
		u32 p = place_of(&boxes[b], cpu);

		if (p < boxes[b].shape->nr_places && place[p].cpu < 0)
			place[p].cpu = cpu;
	}
	return 0;
}

static int shape_cpu_offline(unsigned int cpu)
{
	unsigned int other;

	for (u32 b = 0; b < nr_boxes; b++) {
		struct box *box = &boxes[b];
		u32 p = place_of(box, cpu);

		if (box->shape->cores || p >= box->shape->nr_places || box->place[p].cpu != cpu)
			continue;
		box->place[p].cpu = -1;
		for_each_online_cpu(other)
		{
			if (other == cpu || place_of(box, other) != p)
				continue;
			box->place[p].cpu = other;
			perf_pmu_migrate_context(&box->pmu, cpu, other);
			break;
		}
	}
	return 0;
}

static void remove_all(void)
{
	if (hotplug > 0)
		cpuhp_remove_state_nocalls(hotplug);
	while (nr_boxes)
		perf_pmu_unregister(&boxes[--nr_boxes].pmu);
	kfree(boxes);
	kfree(shapes);
	kfree(text);
	if (port)
		iounmap(port);
}

static int __init t410_shapes_init(void)
{
	int err = 0;

	port = ioremap(PORT_BASE, PORT_SIZE);
	text = kzalloc(TABLE_SIZE, GFP_KERNEL);
	shapes = kcalloc(MAX_SHAPES, sizeof(*shapes), GFP_KERNEL);
	boxes = kcalloc(MAX_BOXES, sizeof(*boxes), GFP_KERNEL);
	if (!port || !text || !shapes || !boxes)
		err = -ENOMEM;
	if (!err)
		err = read_table();
	for (u32 s = 0; s < nr_shapes && !err; s++)
		err = add_shape(&shapes[s]);
	if (!err) {
		hotplug = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "perf/t410_shapes:online",
						    shape_cpu_online, shape_cpu_offline);
		err = hotplug < 0 ? hotplug : 0;
	}
	if (err)
		remove_all();
	return err;
}
module_init(t410_shapes_init);

static void __exit t410_shapes_exit(void)
{
	remove_all();
}
module_exit(t410_shapes_exit);

MODULE_DESCRIPTION("PMUs in the shapes of other vendors, for tests in the virtual T410");
MODULE_LICENSE("GPL");
