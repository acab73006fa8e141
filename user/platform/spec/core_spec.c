// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/spec/core_spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "platform/core/weights.h"

/* On a machine without any PMU the cores cannot count. */
static int read_cores(const struct sysfs *fs, struct diag *d, struct weight_cores *ret)
{
	int err = weight_cores_read(fs, ret);

	if (err == -ENOENT) {
		*ret = (struct weight_cores){ 0 };
		return 0;
	}
	return err ? diag_fail(d, err, "cannot list %s/%s: %s", fs->root, PMU_DEVICES,
			       strerror(-err))
		   : 0;
}

static struct want core_want(const struct weight_event *e)
{
	struct want want = {
		.type = e->type,
		.config = { e->config, e->config1, e->config2, 0 },
	};

	str_copy(want.name, sizeof(want.name), e->name);
	str_copy(want.event, sizeof(want.event), e->name);
	return want;
}

static int find(const struct sysfs *fs, const struct weight_cores *cores, const char *text,
		struct spec_piece piece, struct diag *d, struct want *ret)
{
	struct weight_event event = { 0 };
	struct diag words = { 0 };
	char name[WEIGHT_NAME_LEN];
	int err;

	if (!spec_copy(text, piece, name, sizeof(name)))
		return 1;
	err = weight_event_find(fs, cores, name, &words, &event);
	if (!err)
		*ret = core_want(&event);
	if (!err || err == -ENOENT)
		return err ? 1 : 0;
	spec_fail(text, piece.at, d, err, "%s", words.what);
	if (err == -ENODEV)
		diag_help(d, "events of the kernel, such as page-faults, and those of the uncore "
			     "can be counted");
	return err;
}

int core_spec_name(const struct sysfs *fs, const char *text, struct spec_piece piece,
		   struct diag *d, struct want *ret)
{
	struct weight_cores cores;
	int err = read_cores(fs, d, &cores);

	return err ? err : find(fs, &cores, text, piece, d, ret);
}

int core_spec_slashes(const struct sysfs *fs, const char *text, const struct spec_event *event,
		      struct diag *d, struct want *ret)
{
	const struct spec_term *term = &event->terms[0];
	struct spelling names = { 0 };
	struct weight_cores cores;
	char name[WEIGHT_NAME_LEN];
	size_t at = event->terms_at;
	int err;

	err = read_cores(fs, d, &cores);
	if (err)
		return err;
	spec_copy(text, event->name, name, sizeof(name));
	if (!cores.nr_pmus || strcmp(name, cores.pmu))
		return 1;
	if (event->nr_terms != 1 || term->has_value) {
		if (event->nr_terms)
			at = event->terms[event->nr_terms > 1].name.at;
		spec_fail(text, at, d, -EINVAL,
			  "only the name of an event, or rNUMBER, is "
			  "understood for the PMU of the cores");
		return diag_advise(d, -EINVAL, "for example %s/r11/", cores.pmu);
	}
	err = find(fs, &cores, text, term->name, d, ret);
	if (err <= 0)
		return err;
	spec_copy(text, term->name, name, sizeof(name));
	names.word = name;
	core_spec_names(fs, &names);
	spec_fail(text, term->name.at, d, -ENOENT, "%s has no such event", cores.pmu);
	return spelling_advise(&names, "rNUMBER (hexadecimal), or one of", d, -ENOENT);
}

void core_spec_names(const struct sysfs *fs, struct spelling *s)
{
	cleanup_texts struct text_list files = { 0 };
	struct weight_cores cores;
	const char *name;

	for (size_t i = 0; (name = weight_event_known(i)); i++)
		spelling_add(s, name);
	if (weight_cores_read(fs, &cores) || cores.nr_pmus != 1)
		return;
	if (sysfs_list(fs, &files, PMU_DEVICES "/%s/events", cores.pmu))
		return;
	for (size_t i = 0; i < files.nr; i++)
		spelling_add(s, files.items[i]);
}
