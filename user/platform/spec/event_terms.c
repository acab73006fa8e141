// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/spec/event_terms.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/spelling.h"
#include "platform/spec/want.h"

#define EVENT_FIELD "event"
#define MAX_TERMS   64
#define NO_TERM	    SIZE_MAX

/*
 * @list: filters, and the event when it is chosen by number
 * @from: by filter: the term of the specification that it comes from
 * @event_from: the term that names @event
 */
struct terms {
	const char *text;
	const struct spec_event *spec;
	const struct pmu *pmu;
	struct diag *d;
	const char *event;
	size_t event_from;
	struct pmu_term list[MAX_TERMS];
	size_t from[MAX_TERMS];
	size_t nr;
};

/* Point at a place with @words as the message; its remedy is kept. */
static int point(struct terms *t, size_t at, int err, const struct diag *words)
{
	spec_fail(t->text, at, t->d, err, "%s", words->what);
	return diag_advise(t->d, err, "%s", words->help);
}

/* Nothing is called @word. */
static int unknown(struct terms *t, struct spec_piece piece, const char *word, bool events)
{
	struct spelling names = { .word = word };
	char there[PMU_NAME_LEN + 32];

	for (size_t i = 0; events && i < t->pmu->nr_events; i++)
		spelling_add(&names, t->pmu->events[i].name);
	for (size_t i = 0; i < t->pmu->nr_formats; i++)
		if (strcmp(t->pmu->formats[i].name, EVENT_FIELD))
			spelling_add(&names, t->pmu->formats[i].name);
	snprintf(there, sizeof(there), events ? "%s has" : "filters of %s are:", t->pmu->name);
	spec_fail(t->text, piece.at, t->d, -ENOENT, "%s has no %s \"%.*s\"", t->pmu->name,
		  events ? "event or filter" : "filter",
		  (int)(piece.length < 64 ? piece.length : 64), t->text + piece.at);
	if (names.nr || events)
		spelling_advise(&names, there, t->d, 0);
	else
		diag_help(t->d, "it takes no filters");
	if (t->pmu->problem[0])
		str_append(t->d->help, sizeof(t->d->help), " (not all of it could be read: %s)",
			   t->pmu->problem);
	return -ENOENT;
}

static int no_event(struct terms *t)
{
	struct spelling names = { .word = "" };

	for (size_t i = 0; i < t->pmu->nr_events; i++)
		spelling_add(&names, t->pmu->events[i].name);
	spec_fail(t->text, t->spec->terms_at, t->d, -EINVAL, "which event of %s?", t->pmu->name);
	return spelling_advise(&names, "name one, or give event=NUMBER; it has", t->d, -EINVAL);
}

static int read_value(struct terms *t, struct spec_piece piece, uint64_t *ret)
{
	char text[32];
	int err = spec_copy(t->text, piece, text, sizeof(text)) ? parse_u64(text, ret) : -EINVAL;

	if (err == -ERANGE)
		return spec_fail(t->text, piece.at, t->d, err, "this number has more than 64 bits");
	if (err) {
		spec_fail(t->text, piece.at, t->d, err, "this is not a number");
		diag_help(t->d, "decimal, or hexadecimal with 0x in front");
	}
	return err;
}

static int add(struct terms *t, size_t from, const char *name, uint64_t value)
{
	if (t->nr == ARRAY_SIZE(t->list))
		return spec_fail(t->text, t->spec->terms[from].name.at, t->d, -EINVAL,
				 "too many filters in one event");
	str_copy(t->list[t->nr].name, sizeof(t->list[t->nr].name), name);
	t->list[t->nr].value = value;
	t->from[t->nr++] = from;
	return 0;
}

/* The bits of @format in @word; they are cleared there. */
static uint64_t take_bits(const struct pmu_format *format, uint64_t *word)
{
	unsigned int used = 0;
	uint64_t value = 0;

	for (size_t i = 0; i < format->nr_ranges; i++) {
		unsigned int low = format->ranges[i].low;
		unsigned int width = format->ranges[i].high - low + 1;
		uint64_t mask = width == 64 ? UINT64_MAX : (1ULL << width) - 1;

		value |= (*word >> low & mask) << used;
		*word &= ~(mask << low);
		used += width;
	}
	return value;
}

/* A whole configuration word is split into its fields, so that the same rules apply to it. */
static int add_word(struct terms *t, size_t from, size_t at, unsigned int word, uint64_t value)
{
	bool event = !t->event && word == 0;
	uint64_t rest = value, bits;
	int err = 0;

	for (size_t i = 0; i < t->pmu->nr_formats && !err; i++) {
		const struct pmu_format *format = &t->pmu->formats[i];

		if (format->word != word)
			continue;
		bits = take_bits(format, &rest);
		if (bits || (event && !strcmp(format->name, EVENT_FIELD)))
			err = add(t, from, format->name, bits);
	}
	if (err || !rest)
		return err;
	spec_fail(t->text, at, t->d, -EINVAL, "no field of %s has bits 0x%llx of config%.0u",
		  t->pmu->name, (unsigned long long)rest, word);
	return diag_advise(t->d, -EINVAL,
			   "they would do nothing; what is known are the fields in %s/%s/format",
			   PMU_DEVICES, t->pmu->name);
}

/* Is this "config", "config1" and so on? */
static bool is_word(const char *name, unsigned int *ret)
{
	static const char *const words[PMU_NR_WORDS] = { "config", "config1", "config2",
							 "config3" };

	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(name, words[i]))
			continue;
		*ret = i;
		return true;
	}
	return false;
}

static int add_assignment(struct terms *t, size_t from)
{
	const struct spec_term *term = &t->spec->terms[from];
	char name[PMU_NAME_LEN];
	unsigned int word;
	uint64_t value;
	int err;

	spec_copy(t->text, term->name, name, sizeof(name));
	if (pmu_format_find(t->pmu, name)) {
		err = read_value(t, term->value, &value);
		return err ? err : add(t, from, name, value);
	}
	if (is_word(name, &word)) {
		err = read_value(t, term->value, &value);
		return err ? err : add_word(t, from, term->value.at, word, value);
	}
	if (!pmu_event_find(t->pmu, name))
		return unknown(t, term->name, name, false);
	return spec_fail(t->text, term->name.at, t->d, -EINVAL,
			 "%s is an event, which takes no value", name);
}

/* "r111", as perf has it: the first word of the configuration. */
static bool is_raw(const char *name, uint64_t *ret)
{
	char number[PMU_NAME_LEN + 2];

	if (name[0] != 'r' || !isxdigit((unsigned char)name[1]))
		return false;
	snprintf(number, sizeof(number), "0x%s", name + 1);
	return !parse_u64(number, ret);
}

static int add_word_alone(struct terms *t, size_t from)
{
	struct spec_piece piece = t->spec->terms[from].name;
	char name[PMU_NAME_LEN];
	uint64_t value;
	int err;

	spec_copy(t->text, piece, name, sizeof(name));
	if (!strcmp(name, EVENT_FIELD))
		return spec_fail(t->text, piece.at + piece.length, t->d, -EINVAL,
				 "the number of the event is missing");
	if (pmu_format_find(t->pmu, name))
		return add(t, from, name, 1);
	if (isdigit((unsigned char)name[0])) {
		err = read_value(t, piece, &value);
		return err ? err : add(t, from, EVENT_FIELD, value);
	}
	if (is_raw(name, &value))
		return add_word(t, from, piece.at, 0, value);
	return unknown(t, piece, name, true);
}

/* The event by its name, wherever it stands. */
static int find_event(struct terms *t)
{
	for (size_t i = 0; i < t->spec->nr_terms; i++) {
		const struct spec_term *term = &t->spec->terms[i];
		const struct pmu_event *event;
		char name[PMU_NAME_LEN];

		spec_copy(t->text, term->name, name, sizeof(name));
		event = term->has_value ? NULL : pmu_event_find(t->pmu, name);
		if (!event)
			continue;
		if (!t->event) {
			t->event = event->name;
			t->event_from = i;
		} else if (!pmu_format_find(t->pmu, name)) {
			spec_fail(t->text, term->name.at, t->d, -EINVAL,
				  "%s is a second event, beside %s", name, t->event);
			return diag_advise(t->d, -EINVAL,
					   "each event has its own slashes: "
					   "PMU/EVENT,FILTER=VALUE/,PMU/EVENT/");
		}
	}
	return 0;
}

static int read_terms(struct terms *t)
{
	int err = find_event(t);

	for (size_t i = 0; i < t->spec->nr_terms && !err; i++) {
		if (i == t->event_from)
			continue;
		if (t->spec->terms[i].has_value)
			err = add_assignment(t, i);
		else
			err = add_word_alone(t, i);
	}
	if (err || t->event)
		return err;
	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->list[i].name, EVENT_FIELD))
			return 0;
	return no_event(t);
}

/* Encode more terms one by one to find the one that does not fit. */
static int check_encoding(struct terms *t)
{
	struct pmu_config config;
	struct diag words = { 0 };
	int err;

	for (size_t nr = t->event ? 0 : 1; nr <= t->nr; nr++) {
		const struct spec_term *term;

		err = pmu_encode(t->pmu, t->event, t->list, nr, &words, &config);
		if (!err)
			continue;
		term = &t->spec->terms[nr ? t->from[nr - 1] : t->event_from];
		return point(t, err == -ERANGE && term->has_value ? term->value.at : term->name.at,
			     err, &words);
	}
	return 0;
}

static int check_rules(struct terms *t)
{
	const struct constraint_row *row;
	struct diag words = { 0 };
	size_t term;
	int err;

	row = want_broken(t->pmu, t->event, t->list, t->nr, &term);
	if (!row)
		return 0;
	err = want_check(t->pmu, t->event, t->list, t->nr, &words);
	if (row->rule == CONSTRAINT_UNLISTED_EVENT) {
		/* another PMU of the family may have what this one hides */
		err = -ENOENT;
		for (size_t i = 0; i < t->pmu->nr_events; i++)
			str_append(words.help, sizeof(words.help), "%s%s", i ? ", " : ": ",
				   t->pmu->events[i].name);
	}
	return point(t, t->spec->terms[t->from[term]].name.at, err, &words);
}

/* A name without slashes has no terms to check. */
static int name_alone(struct terms *t, struct want *ret)
{
	struct diag words = { 0 };
	char name[PMU_NAME_LEN];
	int err;

	spec_copy(t->text, t->spec->name, name, sizeof(name));
	err = want_make(t->pmu, name, NULL, 0, &words, ret);
	return err ? point(t, t->spec->name.at, err, &words) : 0;
}

int event_terms_want(const char *text, const struct spec_event *event, const struct pmu *pmu,
		     struct diag *d, struct want *ret)
{
	struct terms t = { .text = text, .spec = event, .pmu = pmu, .event_from = NO_TERM };
	struct diag words = { 0 };
	int err;

	t.d = d ? d : &words;
	if (!event->slashes)
		return name_alone(&t, ret);
	err = read_terms(&t);
	if (!err)
		err = check_encoding(&t);
	if (!err)
		err = check_rules(&t);
	if (err)
		return err;
	err = want_make(pmu, t.event, t.list, t.nr, &words, ret);
	return err ? point(&t, event->name.at, err, &words) : 0;
}
