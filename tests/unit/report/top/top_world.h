/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Views of made-up intervals and metrics, on a screen of any size. */
#ifndef TEST_TOP_WORLD_H
#define TEST_TOP_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/top/draw.h"
#include "report/top/keys.h"
#include "sample_report.h"
#include "valgrind.h"

#define SECOND 1000000000ULL

/* A view of a past of made-up intervals */
struct stage {
	struct past *past;
	struct view view;
	struct canvas canvas;
	size_t rows;
	size_t columns;
};

static inline void add(struct stage *s, struct report *r)
{
	assert_int_equal(view_add(&s->view, r), 0);
	report_free(r);
}

/* The k-th second: process 77 does more and more, and one is there in odd seconds only. */
static inline struct report *second(enum row_kind kind, uint64_t k)
{
	struct report *r = sample_report(kind);

	r->start_ns = k * SECOND;
	r->end_ns = (k + 1) * SECOND;
	r->start_time_ns += k * SECOND;
	if (kind == ROW_PROCESS) {
		sample_add_row(r, 77, "growing", "/batch/job_7", 20000000 * k, 500000000);
		if (k % 2)
			sample_add_row(r, 78, "\x1b[31mwide 漢字", "/batch/\x1b]0;x\a", 40000000,
				       100000000);
		sample_add_row(r, 79, "quiet", "/batch/job_7", 0, 1000);
		sample_balance(r);
	}
	return r;
}

static inline void open_stage(struct stage *s, enum row_kind kind, uint64_t seconds, size_t rows,
			      size_t columns)
{
	*s = (struct stage){ .past = past_new(PAST_MAX_BYTES), .rows = rows, .columns = columns };
	assert_non_null(s->past);
	view_init(&s->view, s->past);
	/* Of processes a list, where tests do not ask for the tree */
	s->view.tree = kind == ROW_CGROUP || kind == ROW_JOB;
	s->view.interval_ns = SECOND;
	for (uint64_t k = 0; k < seconds; k++)
		add(s, second(kind, k));
}

static inline void close_stage(struct stage *s)
{
	view_free(&s->view);
	past_free(s->past);
	canvas_free(&s->canvas);
}

static inline void redraw(struct stage *s)
{
	assert_int_equal(canvas_resize(&s->canvas, s->rows, s->columns), 0);
	assert_int_equal(draw_view(&s->view, &s->canvas), 0);
}

static inline enum keys_wish press(struct stage *s, const uint32_t *keys)
{
	enum keys_wish wish = KEYS_NOTHING;

	/* As on a screen, there is a picture between two keys. */
	for (redraw(s); *keys; keys++) {
		wish = keys_press(&s->view, *keys);
		redraw(s);
	}
	return wish;
}
#define PRESS(s, ...) press(s, (const uint32_t[]){ __VA_ARGS__, 0 })

static inline void put_char(FILE *out, uint32_t c)
{
	if (c < 0x80) {
		fputc((int)c, out);
	} else if (c < 0x800) {
		fputc((int)(0xc0 | c >> 6), out);
		fputc((int)(0x80 | (c & 0x3f)), out);
	} else if (c < 0x10000) {
		fputc((int)(0xe0 | c >> 12), out);
		fputc((int)(0x80 | (c >> 6 & 0x3f)), out);
		fputc((int)(0x80 | (c & 0x3f)), out);
	} else {
		fputc((int)(0xf0 | c >> 18), out);
		fputc((int)(0x80 | (c >> 12 & 0x3f)), out);
		fputc((int)(0x80 | (c >> 6 & 0x3f)), out);
		fputc((int)(0x80 | (c & 0x3f)), out);
	}
}

/* Lines without blanks at their ends, to be freed; NULL without memory */
static inline char *canvas_text(const struct canvas *c)
{
	char *text = NULL;
	enum canvas_look look;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t row = 0; row < c->rows; row++) {
		size_t end = c->columns;

		while (end && canvas_shown(c, row, end - 1, &look) == ' ')
			end--;
		for (size_t column = 0; column < end; column++) {
			uint32_t one = canvas_shown(c, row, column, &look);

			if (one)
				put_char(out, one);
		}
		fputc('\n', out);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static inline char *text_of(struct stage *s)
{
	char *text;

	redraw(s);
	text = canvas_text(&s->canvas);
	assert_non_null(text);
	return text;
}

static inline void has(struct stage *s, const char *what)
{
	char *text = text_of(s);

	if (!strstr(text, what))
		fail_msg("\"%s\" is not in:\n%s", what, text);
	free(text);
}

static inline void lacks(struct stage *s, const char *what)
{
	char *text = text_of(s);

	if (strstr(text, what))
		fail_msg("\"%s\" is in:\n%s", what, text);
	free(text);
}

/* Metrics of two sockets, as "stat" has them: one is absent, one was counted half of the time. */
struct measured {
	struct host_info host;
	struct stat_pmu pmus[2];
	struct stat_counter counters[6];
	struct stat_metric metrics[6];
	struct stat_layout layout;
};

static inline void lay_out_metrics(struct measured *m)
{
	static const struct {
		const char *id, *title, *unit;
	} rows[] = { { "t410.ucf.mem_read_bandwidth", "Memory read bandwidth", "GB/s" },
		     { "t410.ucf.slc_hit_ratio", "SLC read hit ratio", "ratio" },
		     { "t410.ucf.read_latency_ns", "Read latency", "ns" } };

	*m = (struct measured){ .host = { .name = "n1", .platform = "t410", .sockets = 2 } };
	for (uint32_t i = 0; i < 6; i++) {
		struct stat_metric *metric = &m->metrics[i];

		*metric = (struct stat_metric){ .id = rows[i % 3].id,
						.title = rows[i % 3].title,
						.unit = rows[i % 3].unit,
						.formula = "event",
						.pmu = i / 3,
						.input = { i },
						.nr_inputs = 1 };
		strcpy(metric->name, rows[i % 3].id);
		strcpy(m->counters[i].name, rows[i % 3].id);
		strcpy(m->counters[i].unit, "bytes");
		m->counters[i].pmu = i / 3;
	}
	for (int i = 0; i < 2; i++) {
		m->pmus[i] = (struct stat_pmu){ .socket = i, .rc = -1 };
		strcpy(m->pmus[i].family, "ucf");
		strcpy(m->pmus[i].title, "Unified Coherence Fabric");
	}
	m->layout = (struct stat_layout){ m->pmus, 2, m->counters, 6, m->metrics, 6, { 0 } };
}

static inline struct stat_report *measure(const struct measured *m, double value)
{
	struct stat_report *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	*r = (struct stat_report){ .host = &m->host,
				   .layout = &m->layout,
				   .start_ns = SECOND / 2,
				   .end_ns = SECOND,
				   .start_time_ns = 1795190400ull * SECOND,
				   .budget = 0.005,
				   .counts = calloc(6, sizeof(*r->counts)),
				   .values = calloc(6, sizeof(*r->values)),
				   .costs = calloc(2, sizeof(*r->costs)) };
	assert_true(r->counts && r->values && r->costs);
	for (int i = 0; i < 6; i++) {
		r->counts[i] = (struct stat_count){ STAT_PRESENT, 7, 7, SECOND, SECOND, 7, 7 };
		r->values[i] = (struct stat_value){ STAT_PRESENT, value + i, SECOND,
						    SECOND,	  value + i, value + i };
	}
	r->values[1].covered_ns = SECOND / 2;
	r->values[5].absence = STAT_REFUSED;
	return r;
}

#endif
