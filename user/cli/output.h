/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the commands for writing to the terminal. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/out_file.h"

#define OUTPUT_COLUMNS 80

/** output_width() - columns of the terminal behind @out, OUTPUT_COLUMNS without one */
size_t output_width(FILE *out);

/** output_height() - lines of the terminal behind @out minus one, 0 without one */
size_t output_height(FILE *out);

/** output_is_pipe() - does a program read it? */
bool output_is_pipe(FILE *out);

/**
 * output_wrapped() - print text in lines of at most OUTPUT_COLUMNS columns
 * @out: where to
 * @indent: blanks in front of each line
 * @text: broken at blanks; a longer word gets a line of its own
 */
void output_wrapped(FILE *out, int indent, const char *text);

/** output_labelled() - the same with a label in place of the blanks of the first line */
void output_labelled(FILE *out, int indent, const char *label, const char *text);

/**
 * output_diag() - print a problem and its remedy on standard error
 * @who: name of the command, "t410trace list"
 * @d: the problem
 */
void output_diag(const char *who, const struct diag *d);

/**
 * output_json() - print a JSON value in readable form on standard output
 * @json: the value; released. NULL means that it could not be built
 *
 * Return: 0 or -ENOMEM. Errors of writing show up in output_finish().
 */
int output_json(json_t *json);

/**
 * output_append() - add to an array, or drop the array
 * @array: address of the array; set to NULL when @item is NULL or there is no
 *	memory, so that one check at the end is enough
 * @item: the new element; released when it cannot be added
 */
void output_append(json_t **array, json_t *item);

/**
 * output_finish() - make sure that all output has been written
 * @who: name of the command, for the message on standard error
 *
 * Return: 0, or a negative errno, for example when the disk is full.
 */
int output_finish(const char *who);

/**
 * output_end() - end a command that prints: print its problem, if any, and output_finish()
 * @who: name of the command
 * @err: 0, or a negative errno; then @d is printed
 * @d: the problem
 *
 * Return: 0 or a negative errno.
 */
int output_end(const char *who, int err, const struct diag *d);

/* Mode of a new file, as in out_file_open(): reports are for all, recordings as perf's. */
#define OUTPUT_REPORT	 0666
#define OUTPUT_RECORDING 0600

/**
 * struct output - a file of reports, or standard output
 * @file: to print to; NULL when it is not open
 * @path: its name in messages
 * @at: its final place
 */
struct output {
	FILE *file;
	const char *path;
	struct out_file at;
};

/**
 * output_open() - open the output for reports; an existing file stays until output_show() or
 * output_close()
 * @path: a file, pipe or device; "-" and NULL for standard output; must outlive @ret
 * @mode: OUTPUT_REPORT or OUTPUT_RECORDING
 * @d: gets the problem
 * @ret: close it with output_close()
 *
 * Return: 0 or a negative errno.
 */
int output_open(const char *path, mode_t mode, struct diag *d, struct output *ret);

/** output_check() - could output_open() write here? Leaves nothing behind; 0 or a negative errno */
int output_check(const char *path, struct diag *d);

/** output_show() - move the file to its place now: it can be read as it grows. 0 or an errno */
int output_show(struct output *o, struct diag *d);

/**
 * output_failed() - describe that a report could not be written
 * @o: where to
 * @err: a negative errno
 * @d: gets the problem
 *
 * Return: @err.
 */
int output_failed(const struct output *o, int err, struct diag *d);

/** output_told() - tell on standard error that a file of its own was written; @who: the command */
void output_told(const char *who, const struct output *o);

/** output_dated_name() - a recording's name of the moment in UTC: "t410trace-DATE-TIME", and @suffix */
void output_dated_name(char *ret, size_t size, const char *suffix);

/**
 * output_close() - make sure that all has been written, and move the file to its place
 * @o: the output; one that is not open (all zero) is fine
 * @err: the command's error: then a file that is not yet at its place is dropped
 * @d: gets the problem, if @err is 0
 *
 * Return: @err, or a negative errno.
 */
int output_close(struct output *o, int err, struct diag *d);

#endif
