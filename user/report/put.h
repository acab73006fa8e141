/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps that build a JSON document. They share one error variable, which is never overwritten: the
 * first error wins, later steps do nothing, and the unfinished document is dropped at the end.
 */
#ifndef REPORT_PUT_H
#define REPORT_PUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/sums.h"
#include "model.h"

/** put() - add a value, always taking its reference; NULL is out of memory */
void put(json_t *object, const char *key, json_t *value, int *err);

/** put_element() - add a value to an array, as put() does */
void put_element(json_t *array, json_t *value, int *err);

/** exact_integer() - a whole number; as a string of digits beyond INT64_MAX, the limit of readers */
json_t *exact_integer(sum128 value);

/** put_number() - add exact_integer() */
void put_number(json_t *object, const char *key, sum128 value, int *err);

void put_bool(json_t *object, const char *key, bool value, int *err);

/** put_name() - add a name of at most @max bytes, made valid UTF-8; NULL is null */
void put_name(json_t *object, const char *key, const char *name, size_t max, int *err);

/**
 * put_line() - write a finished document as one line, in one write
 * @out: where to
 * @object: the document; released
 * @digits: of real numbers, 0 = all
 * @err: error while it was built; nothing is written then
 *
 * Return: @err, -ENOMEM, or an error of writing.
 */
int put_line(FILE *out, json_t *object, size_t digits, int err);

/** put_text() - put_name() of a terminated string */
void put_text(json_t *object, const char *key, const char *text, int *err);

/** put_host() - add "host" */
void put_host(json_t *object, const struct host_info *h, int *err);

/** put_interval() - add "interval"; @start_time_ns is the time of day */
void put_interval(json_t *object, uint64_t start_ns, uint64_t end_ns, uint64_t start_time_ns,
		  int *err);

#endif
