// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics of the cores: a workload's work beside moving bytes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "platform/metrics/internal.h"
#include "platform/core/weights.h"

/* The cores, and the events that their PMU has in sysfs. */
struct core_world {
	struct weight_cores cores;
	struct text_list files;
	enum pmu_platform platform;
};

static int world_read(const struct sysfs *fs, struct core_world *ret)
{
	struct core_world w = { 0 };
	int err = weight_cores_read(fs, &w.cores);

	if (err == -ENOMEM)
		return err;
	if (err)
		w.cores.nr_pmus = 0;
	w.platform = w.cores.core ? w.cores.core->platform : PMU_PLATFORM_UNKNOWN;
	if (w.cores.nr_pmus == 1 &&
	    sysfs_list(fs, &w.files, PMU_DEVICES "/%s/events", w.cores.pmu) == -ENOMEM)
		return -ENOMEM;
	*ret = w;
	return 0;
}

/*
 * Of the common events the kernel shows those that the core reports. The core's manual lists the
 * rest.
 */
static bool is_common(uint16_t code)
{
	return code <= 0x3f || (code >= 0x4000 && code <= 0x403f);
}

static const char *file_of(const struct core_world *w, const char *name)
{
	for (size_t i = 0; i < w->files.nr; i++)
		if (!strcasecmp(w->files.items[i], name) && !strchr(w->files.items[i], '.'))
			return w->files.items[i];
	return NULL;
}

/*
 * An Arm core that is not in our table: formulas of architectural events from some guides hold
 * there too, if the kernel shows these events. Numbers from a manual may mean something else.
 */
static bool is_other_arm(const struct core_world *w)
{
	return w->platform == PMU_PLATFORM_UNKNOWN && w->cores.midr;
}

/* The want of a core event; -ENOENT when these cores do not have it. */
static int core_want(const struct metric_job *job, const struct core_world *w, const char *name,
		     struct want *ret)
{
	const struct core_event_row *row = core_event_find(w->platform, name);
	const char *file = file_of(w, name);
	struct want want = { .type = w->cores.type };
	struct weight_event event;
	size_t i;

	if (file && !weight_event_find(job->fs, &w->cores, file, NULL, &event)) {
		want.type = event.type;
		want.config = (struct pmu_config){ event.config, event.config1, event.config2, 0 };
	} else if (row && !is_common(row->code) && !is_other_arm(w)) {
		want.config.config = row->code;
	} else {
		return -ENOENT;
	}
	for (i = 0; name[i] && i + 1 < sizeof(want.event); i++)
		want.event[i] = name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i];
	str_copy(want.name, sizeof(want.name), want.event);
	*ret = want;
	return 0;
}

static int take_events(struct metric_job *job, const struct core_world *w, bool by_name,
		       struct metric_plan *p, bool *ret_complete)
{
	for (uint32_t i = 0; i < p->metric.nr_inputs; i++) {
		const char *event = formula_name(p->formula, i);
		struct want want;

		if (metric_constant(p, i, 0))
			continue;
		if (core_want(job, w, event, &want)) {
			*ret_complete = false;
			return by_name ? metric_note(job,
						     "%s: these cores do not have the event %s",
						     p->metric.name, event)
				       : 0;
		}
		metric_input(p, i, &want);
	}
	*ret_complete = p->nr_wants > 0;
	return 0;
}

static bool row_fits(const struct core_world *w, const struct metric_row *row)
{
	const struct pmu_platform_row *of = pmu_platform_row(row->platform);

	if (row->kind != PMU_CORE)
		return false;
	if (row->platform == PMU_PLATFORM_OWN)
		return true;
	if (is_other_arm(w))
		return of && of->general_cores && !row->own_core;
	return pmu_platform_fits(row->platform, w->platform);
}

static int add_metric(struct metric_job *job, const struct core_world *w,
		      const struct metric_row *row)
{
	struct metric_plan p;
	bool by_name, complete;
	int err;

	if (!metric_wanted(job, row, row->id, row->by_default && job->o->workload, &by_name) ||
	    !row_fits(w, row))
		return 0;
	err = metric_begin(job, row, -1, -1, &p);
	if (err)
		return err;
	/* The user has named it in the file, at least. */
	err = take_events(job, w, by_name || row->platform == PMU_PLATFORM_OWN, &p, &complete);
	if (!err && complete)
		err = metric_commit(job, &p);
	metric_end(&p);
	return err;
}

/* Explain to users who expect metrics of the cores why there are none. */
static int say_why_none(struct metric_job *job, const struct core_world *w)
{
	if (!job->o->workload || job->o->nr_metrics)
		return 0;
	if (w->cores.nr_pmus > 1)
		return metric_note(job, "no metrics of the cores: there are several kinds of them");
	if (!w->cores.nr_pmus)
		return metric_note(job, "no metrics of the cores: they have no PMU here, or the "
					"hypervisor hides it");
	return metric_note(job,
			   "no metrics of the cores: this kind (MIDR %#llx) has none of the events "
			   "that they need",
			   (unsigned long long)w->cores.midr);
}

int metric_select_core(struct metric_job *job)
{
	size_t before = job->s->layout.nr_metrics;
	const struct metric_row *row;
	struct core_world w;
	int err = world_read(job->fs, &w);

	if (err)
		return err;
	for (size_t i = 0; !err && w.cores.nr_pmus == 1 && (row = metric_row_at(i)); i++)
		if (row->kind == PMU_CORE)
			err = add_metric(job, &w, row);
	if (!err && job->s->layout.nr_metrics == before)
		err = say_why_none(job, &w);
	else if (!err && is_other_arm(&w))
		err = metric_note(
			job,
			"the cores are of a kind without a table (MIDR %#llx): metrics of "
			"architectural events, as the Grace tuning guide has them",
			(unsigned long long)w.cores.midr);
	text_list_free(&w.files);
	return err;
}
