/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notes on a report's numbers that a reader must know, in sentences. */
#ifndef REPORT_NOTES_H
#define REPORT_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model.h"
#include "report/verdict.h"

/**
 * notes_wrapped() - write a text with line breaks
 * @out: where to
 * @text: as format_terminal() makes it; broken at spaces, and a word that is wider than a line is
 *	truncated
 * @width: columns of a line; the second and later lines are indented by 2
 *
 * Return: 0 or -ENOMEM. Errors of the stream are left to the caller.
 */
int notes_wrapped(FILE *out, const char *text, size_t width);

/** notes_line() - format a text and write it with notes_wrapped(); 0 or -ENOMEM */
__attribute__((format(printf, 3, 4))) int notes_line(FILE *out, size_t width, const char *format,
						     ...);

/**
 * struct sentence - a text that is composed in memory
 * @f: where to, from sentence_begin() to sentence_end()
 */
struct sentence {
	FILE *f;
	char *text;
	size_t len;
};

/** sentence_begin() - a stream for its parts; NULL without memory */
FILE *sentence_begin(struct sentence *s);

/**
 * sentence_end() - write it with notes_wrapped(), and release it
 * @s: nothing is written of an empty one
 * @out: where to; NULL: nowhere
 * @width: columns of a line
 * @err: an error so far: nothing is written
 *
 * Return: @err, 0 or -ENOMEM.
 */
int sentence_end(struct sentence *s, FILE *out, size_t width, int err);

/**
 * struct notes_basis - facts about how numbers were obtained
 * @quality, @self: of their time
 * @duration_ns: that time
 * @tick: where windows were closed at ticks, NULL when unknown
 * @counted: there are counters
 * @partial: notes say already what is missing
 */
struct notes_basis {
	const struct quality *quality;
	const struct self_cost *self;
	const char *tick;
	uint64_t duration_ns;
	bool counted;
	bool partial;
};

/** notes_basis_of() - those of a report */
struct notes_basis notes_basis_of(const struct report *r);

/**
 * notes_trust() - notes_write() for anything but a report
 * @out: where to
 * @b: facts about the numbers
 * @width, @quiet, @verbose: see notes_write()
 *
 * Return: 0 or -ENOMEM. Errors of the stream are left to the caller.
 */
int notes_trust(FILE *out, const struct notes_basis *b, size_t width, bool quiet, bool verbose);

/**
 * notes_write() - write the method, every loss and, if asked for, the own cost
 * @out: where to
 * @r: the report
 * @width: columns of a line
 * @quiet: write only problems of the numbers
 * @verbose: also write losses that are zero, and the tracer's own cost
 *
 * Return: 0 or -ENOMEM. Errors of the stream are left to the caller.
 */
int notes_write(FILE *out, const struct report *r, size_t width, bool quiet, bool verbose);

/**
 * struct notes_beside - what the reader of a report knows already
 * @verdict: of the report, in its title
 * @settled: notes_constant() is as in an earlier report of the run, which told it
 */
struct notes_beside {
	const struct verdict *verdict;
	bool settled;
};

/** notes_constant() - stands for what is told once a run: method, activity, gaps of the kernel */
uint64_t notes_constant(const struct report *r);

/**
 * notes_rest() - write of notes_write(), not @verbose, what the reader does not know yet
 * @beside: what the reader knows
 *
 * Each loss but LOSS_INTERNAL is in the verdict or here. Return: as notes_write().
 */
int notes_rest(FILE *out, const struct report *r, const struct notes_beside *beside, size_t width,
	       bool quiet);

#endif
