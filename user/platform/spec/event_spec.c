// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/spec/event_spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/spec/core_spec.h"
#include "platform/spec/event_terms.h"
#include "platform/pmu/pmu_match.h"
#include "platform/spec/spec_text.h"

enum member_kind {
	MEMBER_NAMED,	 /* on the PMUs that were named */
	MEMBER_ANYWHERE, /* on every PMU that has it */
	MEMBER_CORE,	 /* an event of the cores or the kernel */
};

/**
 * struct member - an event of a bundle
 * @spec: as the user wrote it
 * @choice: MEMBER_NAMED: the PMUs
 * @core: MEMBER_CORE: the event
 */
struct member {
	const struct spec_event *spec;
	enum member_kind kind;
	struct pmu_choice choice;
	struct want core;
};

struct spec_parse {
	const struct sysfs *fs;
	const struct pmu_list *pmus;
	int32_t socket;
	const char *text;
	struct diag *d;
	uint32_t last_set;
	struct want_list added;
};

/* A piece for messages: longer text is no valid name anyway. */
#define SHOWN(job, piece) (int)((piece).length < 64 ? (piece).length : 64), (job)->text + (piece).at

/* Keep only PMUs of the socket that can count. */
static int restrict_choice(const struct spec_parse *job, struct spec_piece name,
			   struct pmu_choice *choice)
{
	const struct pmu *broken = NULL;
	struct pmu_choice all = *choice;
	char help[sizeof(job->d->help)] = "";
	size_t nr = 0;

	for (size_t i = 0; i < all.nr; i++)
		str_append(help, sizeof(help), "%s%s", i ? ", " : "", all.pmus[i]->name);
	for (size_t i = 0; i < all.nr; i++) {
		if (job->socket >= 0 && all.pmus[i]->socket != job->socket)
			continue;
		if (all.pmus[i]->usable)
			choice->pmus[nr++] = all.pmus[i];
		else if (!broken)
			broken = all.pmus[i];
	}
	choice->nr = nr;
	if (nr)
		return 0;
	if (broken) {
		spec_fail(job->text, name.at, job->d, -EINVAL, "%s cannot be counted",
			  broken->name);
		return diag_advise(job->d, -EINVAL, "what is known about it in sysfs: %s",
				   broken->problem);
	}
	spec_fail(job->text, name.at, job->d, -ENOENT, "nothing of \"%.*s\" belongs to socket %d",
		  SHOWN(job, name), job->socket);
	return diag_advise(job->d, -ENOENT, "on other sockets: %s", help);
}

static int unknown_pmu(const struct spec_parse *job, struct spec_piece piece, const char *name)
{
	struct spelling names = { .word = name };

	if (name[0] && name[0] != '.' && sysfs_exists(job->fs, PMU_DEVICES "/%s", name)) {
		spec_fail(job->text, piece.at, job->d, -ENOENT,
			  "%s is neither a known uncore PMU nor that of the cores", name);
		return diag_advise(job->d, -ENOENT, "perf stat can count what it has");
	}
	spec_fail(job->text, piece.at, job->d, -ENOENT, "there is no PMU \"%.*s\"",
		  SHOWN(job, piece));
	if (!job->pmus->nr) {
		return diag_advise(job->d, -ENOENT,
				   "this machine shows no uncore PMU that is known at all; "
				   "\"t410trace check\" says what is missing");
	}
	pmu_names_add(job->pmus, &names);
	return spelling_advise(&names, "known are patterns with * and ?, and", job->d, -ENOENT);
}

/* An event on named PMUs, or on that of the cores. */
static int classify_named(struct spec_parse *job, struct member *m)
{
	struct spec_piece piece = m->spec->name;
	char name[PMU_NAME_LEN];
	int err;

	spec_copy(job->text, piece, name, sizeof(name));
	m->kind = MEMBER_NAMED;
	if (pmu_match(job->pmus, name, &m->choice))
		return diag_no_memory(job->d);
	if (m->choice.nr)
		return restrict_choice(job, piece, &m->choice);
	err = core_spec_slashes(job->fs, job->text, m->spec, job->d, &m->core);
	if (err <= 0) {
		m->kind = MEMBER_CORE;
		return err;
	}
	return unknown_pmu(job, piece, name);
}

/* A PMU was named, but none of its events. */
static int only_a_pmu(const struct spec_parse *job, struct spec_piece piece, const struct pmu *pmu)
{
	struct spelling names = { .word = "" };
	char help[sizeof(job->d->help)];

	for (size_t i = 0; i < pmu->nr_events; i++)
		spelling_add(&names, pmu->events[i].name);
	spelling_help(&names, "it has", help, sizeof(help));
	spelling_free(&names);
	spec_fail(job->text, piece.at, job->d, -EINVAL, "\"%.*s\" is a PMU, but which event of it?",
		  SHOWN(job, piece));
	return diag_advise(job->d, -EINVAL, "write %.*s/EVENT/; %s", SHOWN(job, piece), help);
}

/* Report an unknown event: neither the uncore nor the cores have it. */
static int unknown_event(const struct spec_parse *job, struct spec_piece piece, const char *name)
{
	struct spelling names = { .word = name };
	struct pmu_choice choice = { 0 };

	if (pmu_match(job->pmus, name, &choice))
		return diag_no_memory(job->d);
	if (choice.nr) {
		const struct pmu *pmu = choice.pmus[0];

		pmu_choice_free(&choice);
		return only_a_pmu(job, piece, pmu);
	}
	for (size_t i = 0; i < job->pmus->nr; i++)
		for (size_t k = 0; k < job->pmus->pmus[i].nr_events; k++)
			spelling_add(&names, job->pmus->pmus[i].events[k].name);
	core_spec_names(job->fs, &names);
	spec_fail(job->text, piece.at, job->d, -ENOENT, "there is no event \"%.*s\"",
		  SHOWN(job, piece));
	return spelling_advise(&names, "PMU/EVENT/, rNUMBER for the cores, or one of", job->d,
			       -ENOENT);
}

static bool anybody_has(const struct pmu_list *pmus, const char *event)
{
	for (size_t i = 0; i < pmus->nr; i++)
		if (pmu_event_find(&pmus->pmus[i], event))
			return true;
	return false;
}

static int classify(struct spec_parse *job, struct member *m)
{
	char name[PMU_NAME_LEN];
	int err;

	if (m->spec->slashes)
		return classify_named(job, m);
	spec_copy(job->text, m->spec->name, name, sizeof(name));
	if (anybody_has(job->pmus, name)) {
		m->kind = MEMBER_ANYWHERE;
		return 0;
	}
	m->kind = MEMBER_CORE;
	err = core_spec_name(job->fs, job->text, m->spec->name, job->d, &m->core);
	return err > 0 ? unknown_event(job, m->spec->name, name) : err;
}

/* Modifiers of perf that would make a difference here, and why they are not available. */
static const struct {
	const char *letters;
	const char *uncore;
	const char *core;
} refused[] = {
	{ "ukhGHI", "these counters cannot leave out user, kernel or guest traffic",
	  "what users and the kernel do is counted together" },
	{ "pPS", "nothing is sampled here", "nothing is sampled here" },
	{ "e", "no other user could use the counters meanwhile",
	  "no other user could use the counters meanwhile" },
	{ "WX", "a group stays a group here, and takes turns with others as a whole",
	  "a group stays a group here, and takes turns with others as a whole" },
	{ "bR", "that is about how perf reads counters", "that is about how perf reads counters" },
};

static int check_modifiers(const struct spec_parse *job, struct spec_piece piece, bool core)
{
	for (size_t at = piece.at; at < piece.at + piece.length; at++) {
		char letter = job->text[at];
		const char *why = "perf has no such modifier";

		/* events of a plan are pinned anyway */
		if (letter == 'D')
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
			if (strchr(refused[i].letters, letter))
				why = core ? refused[i].core : refused[i].uncore;
		spec_fail(job->text, at, job->d, -EINVAL, "modifier \"%c\": %s", letter, why);
		return diag_advise(
			job->d, -EINVAL,
			"leave it out; D, for pinned, is the only one that is understood");
	}
	return 0;
}

static bool same_choice(const struct pmu_choice *a, const struct pmu_choice *b)
{
	return a->nr == b->nr && !memcmp(a->pmus, b->pmus, a->nr * sizeof(*a->pmus));
}

/* A group is on one PMU, or on each of several PMUs. */
static int check_group(const struct spec_parse *job, const struct member *members, size_t nr)
{
	const struct member *first = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct member *m = &members[i];

		if ((m->kind == MEMBER_CORE) != (members[0].kind == MEMBER_CORE)) {
			spec_fail(job->text, m->spec->name.at, job->d, -EINVAL,
				  "a group cannot have events of the cores beside others");
			return diag_advise(job->d, -EINVAL, "give each PMU a group of its own");
		}
		if (m->kind != MEMBER_NAMED)
			continue;
		if (first && !same_choice(&first->choice, &m->choice)) {
			spec_fail(job->text, m->spec->name.at, job->d, -EINVAL,
				  "a group is on one PMU: %s is not %s", m->choice.pmus[0]->name,
				  first->choice.pmus[0]->name);
			return diag_advise(
				job->d, -EINVAL,
				"give each PMU a group of its own; the short name of a "
				"family stands for one group on each of its PMUs, when all "
				"events have it");
		}
		first = first ? first : m;
	}
	return 0;
}

static int add_want(struct spec_parse *job, struct want *want, uint32_t set)
{
	want->set = set;
	want->asked = true;
	return want_add(&job->added, want) ? diag_no_memory(job->d) : 0;
}

static int add_core(struct spec_parse *job, struct member *members, size_t nr, bool group)
{
	uint32_t set = group ? ++job->last_set : 0;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = add_want(job, &members[i].core, set);
	return err;
}

/* All events of a bundle on one PMU; @ret_got: how many it has. */
static int add_on_pmu(struct spec_parse *job, const struct member *members, size_t nr, bool group,
		      const struct pmu *pmu, struct diag *words, size_t *ret_got)
{
	uint32_t set = group ? job->last_set + 1 : 0;
	size_t before = job->added.nr;
	struct want want;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		*ret_got = i;
		err = event_terms_want(job->text, members[i].spec, pmu, words, &want);
		if (!err && add_want(job, &want, set))
			return -ENOMEM;
	}
	if (err)
		job->added.nr = before;
	else
		job->last_set += group;
	return err;
}

/*
 * On each of the PMUs. One that lacks an event is left out when another has them all: a link's
 * events depend on its peer.
 */
static int add_uncore(struct spec_parse *job, const struct member *members, size_t nr, bool group,
		      const struct pmu_choice *choice)
{
	size_t before = job->added.nr, got, furthest = 0;
	struct diag best = { 0 };

	for (size_t i = 0; i < choice->nr; i++) {
		struct diag words = { 0 };
		int err;

		err = add_on_pmu(job, members, nr, group, choice->pmus[i], &words, &got);
		if (err == -ENOMEM)
			return diag_no_memory(job->d);
		if (err && err != -ENOENT) {
			*job->d = words;
			return err;
		}
		/* the PMU that has most of it shows best which part is missing */
		if (err && (!best.what[0] || got > furthest)) {
			best = words;
			furthest = got;
		}
	}
	if (job->added.nr > before)
		return 0;
	*job->d = best;
	return -ENOENT;
}

/* The PMUs of a bundle: the named ones, or all. */
static int add_members(struct spec_parse *job, struct member *members, size_t nr, bool group)
{
	struct pmu_choice all = { 0 };
	int err;

	if (members[0].kind == MEMBER_CORE)
		return add_core(job, members, nr, group);
	for (size_t i = 0; i < nr; i++)
		if (members[i].kind == MEMBER_NAMED)
			return add_uncore(job, members, nr, group, &members[i].choice);
	for (size_t i = 0; i < job->pmus->nr; i++) {
		if (pmu_choice_add(&all, &job->pmus->pmus[i])) {
			pmu_choice_free(&all);
			return diag_no_memory(job->d);
		}
	}
	err = restrict_choice(job, members[0].spec->name, &all);
	if (!err)
		err = add_uncore(job, members, nr, group, &all);
	pmu_choice_free(&all);
	return err;
}

static int add_bundle(struct spec_parse *job, const struct spec_bundle *bundle)
{
	cleanup_free struct member *members = calloc(bundle->nr, sizeof(*members));
	int err = 0;

	if (!members)
		return diag_no_memory(job->d);
	for (size_t i = 0; i < bundle->nr && !err; i++) {
		members[i].spec = &bundle->events[i];
		err = classify(job, &members[i]);
		if (!err)
			err = check_modifiers(job, members[i].spec->modifiers,
					      members[i].kind == MEMBER_CORE);
	}
	if (!err)
		err = check_modifiers(job, bundle->modifiers, members[0].kind == MEMBER_CORE);
	if (!err)
		err = check_group(job, members, bundle->nr);
	if (!err)
		err = add_members(job, members, bundle->nr, bundle->group);
	for (size_t i = 0; i < bundle->nr; i++)
		pmu_choice_free(&members[i].choice);
	return err;
}

static int add_all(struct spec_parse *job)
{
	struct spec_reader reader = { .text = job->text, .more = true, .d = job->d };
	struct spec_bundle bundle;
	int err;

	while ((err = spec_next(&reader, &bundle)) > 0) {
		err = add_bundle(job, &bundle);
		spec_bundle_free(&bundle);
		if (err)
			break;
	}
	return err;
}

/* Append to the list of the caller, all or nothing. */
static int hand_over(struct spec_parse *job, struct want_list *list)
{
	struct want *wants;

	wants = reallocarray(list->wants, list->nr + job->added.nr, sizeof(*wants));
	if (!wants)
		return diag_no_memory(job->d);
	memcpy(wants + list->nr, job->added.wants, job->added.nr * sizeof(*wants));
	list->wants = wants;
	list->nr += job->added.nr;
	list->cap = list->nr;
	list->last_set = job->last_set;
	return 0;
}

int event_spec_add(const struct sysfs *fs, const struct pmu_list *pmus, int32_t socket,
		   const char *text, struct diag *d, struct want_list *list)
{
	struct diag unseen;
	struct spec_parse job = {
		.fs = fs,
		.pmus = pmus,
		.socket = socket,
		.text = text,
		.d = d ? d : &unseen,
		.last_set = list->last_set,
	};
	int err = add_all(&job);

	if (!err)
		err = hand_over(&job, list);
	want_list_free(&job.added);
	return err;
}
