/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands share for writing to the terminal. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "base/diag.h"

#define OUTPUT_COLUMNS 80

/** output_width() - columns of the terminal behind @out, OUTPUT_COLUMNS if it is none */
size_t output_width(FILE *out);

/** output_height() - lines of the terminal behind @out without its last one, 0 if it is none */
size_t output_height(FILE *out);

/**
 * output_wrapped() - print text in lines of at most OUTPUT_COLUMNS columns
 * @out: where to
 * @indent: blanks in front of each line
 * @text: broken at blanks; a longer word gets a line of its own
 */
void output_wrapped(FILE *out, int indent, const char *text);

/**
 * output_diag() - print a problem and its remedy on standard error
 * @who: name of the command, "t410trace list"
 * @d: the problem
 */
void output_diag(const char *who, const struct diag *d);

/**
 * output_json() - print a JSON value in readable form on standard output
 * @json: the value; released. NULL stands for one that could not be built
 *
 * Return: 0 or -ENOMEM. Errors of writing show up in output_finish().
 */
int output_json(json_t *json);

/**
 * output_append() - add to an array, or give it up
 * @array: address of the array; set to NULL when @item is NULL or there is no
 *	memory, so that one check at the end is enough
 * @item: the new element; released when it cannot be added
 */
void output_append(json_t **array, json_t *item);

/**
 * output_finish() - make sure that all output has really been written
 * @who: name of the command, for the message on standard error
 *
 * Return: 0, or a negative errno, for example when the disk is full.
 */
int output_finish(const char *who);

/**
 * output_end() - the end of a command that prints: its problem, if it has one, and
 *	output_finish()
 * @who: name of the command
 * @err: 0, or a negative errno; then @d is printed
 * @d: the problem
 *
 * Return: 0 or a negative errno.
 */
int output_end(const char *who, int err, const struct diag *d);

/**
 * output_open() - open what reports are written to; empties an existing file
 * @path: a file, NULL for standard output
 * @d: gets the problem
 * @ret: end it with output_close()
 *
 * Return: 0 or a negative errno.
 */
int output_open(const char *path, struct diag *d, FILE **ret);

/**
 * output_failed() - put in words that a report could not be written
 * @path: as in output_open()
 * @err: a negative errno
 * @d: gets the problem
 *
 * Return: @err.
 */
int output_failed(const char *path, int err, struct diag *d);

/** output_close() - make sure that all has been written; NULL is fine. 0 or a negative errno */
int output_close(FILE *out, const char *path, struct diag *d);

#endif
