/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accounts and metrics of made-up reports, and the metrics' text read back, for tests of metrics. */
#ifndef TESTS_METRICS_WORLD_H
#define TESTS_METRICS_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <uthash.h>

#include "account_world.h"
#include "engine/accounts/accounts.h"
#include "report/openmetrics/openmetrics.h"

/* --- reading the text */

struct sample {
	char *key;	/* name and labels */
	uint64_t value; /* seconds: in nanoseconds */
	UT_hash_handle hh;
};

static inline void samples_free(struct sample **all)
{
	struct sample *s, *next;

	HASH_ITER (hh, *all, s, next) {
		HASH_DEL(*all, s);
		free(s->key);
		free(s);
	}
}

static inline const struct sample *sample(struct sample *all, const char *key)
{
	struct sample *s;

	HASH_FIND_STR(all, key, s);
	return s;
}

static inline uint64_t value_of(struct sample *all, const char *key)
{
	const struct sample *s = sample(all, key);

	if (!s)
		fail_msg("there is no %s", key);
	return s->value;
}

static inline uint64_t number(const char *text)
{
	char digits[64];
	size_t n = 0;

	for (; *text && n < sizeof(digits) - 1; text++)
		if (*text != '.')
			digits[n++] = *text;
	digits[n] = '\0';
	assert_int_equal(strspn(digits, "0123456789"), n);
	return strtoull(digits, NULL, 10);
}

/* Takes the text apart; two samples of the same name and labels fail the test. */
static inline struct sample *read_samples(char *text)
{
	struct sample *all = NULL, *s;
	char *line, *rest, *end;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (line[0] == '#')
			continue;
		end = strrchr(line, ' ');
		assert_non_null(end);
		*end = '\0';
		s = calloc(1, sizeof(*s));
		assert_non_null(s);
		s->key = strdup(line);
		s->value = number(end + 1);
		if (sample(all, s->key))
			fail_msg("twice: %s", s->key);
		HASH_ADD_KEYPTR(hh, all, s->key, strlen(s->key), s);
	}
	return all;
}

struct world {
	struct accounts *accounts;
	struct openmetrics *metrics;
};

static inline void world_open(struct world *w, size_t top, uint32_t keep)
{
	struct accounts_options ao = { .boot = WORLD_BOOT, .schedulers = ~0u };
	struct openmetrics_options o = { .top = top, .keep = keep };

	assert_int_equal(accounts_new(&ao, &w->accounts), 0);
	assert_int_equal(openmetrics_new(&o, &w->metrics), 0);
}

static inline void world_close(struct world *w)
{
	accounts_free(w->accounts);
	openmetrics_free(w->metrics);
}

/* Adds a report, and releases it. */
static inline void world_add(struct world *w, struct report *r)
{
	assert_int_equal(accounts_interval(w->accounts, r), 0);
	assert_int_equal(openmetrics_interval(w->metrics, r), 0);
	report_free(r);
}

static inline char *world_text(const struct world *w, enum exposition e)
{
	struct openmetrics_state s = { .host = &world_host,
				       .names = true,
				       .node = accounts_node(w->accounts),
				       .jobs_running = accounts_nr(w->accounts),
				       .unreported = 1,
				       .start_ns = WORLD_SECOND * 1763740800ull,
				       .reports_written = 7,
				       .reports_removed = 2,
				       .store_errors = 2,
				       .spool_errors = 3,
				       .interval_ns = WORLD_SECOND,
				       .setting_ns = 10 * WORLD_SECOND,
				       .cost_ns = 1500000 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(openmetrics_write(out, w->metrics, &s, e), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static inline struct sample *world_samples(const struct world *w)
{
	char *text = world_text(w, EXPOSITION_OPENMETRICS);
	struct sample *all = read_samples(text);

	free(text);
	return all;
}

/* An interval in which jobs 1, 2, .. read so many bytes of counter 0. */
static inline struct report *reads(uint64_t number, size_t nr, const uint64_t *bytes)
{
	struct report *r = world_report(number);
	char id[32];

	for (size_t i = 0; i < nr; i++) {
		if (!bytes[i])
			continue;
		snprintf(id, sizeof(id), "%zu", i + 1);
		world_row(r, SCHEDULER_SLURM, id, 500 + i, "", true);
		world_share(r, &r->rows[r->nr_rows - 1], 0, bytes[i]);
	}
	return r;
}

#endif
