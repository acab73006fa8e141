/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JSON to a stream, without building it in memory first. Errors stay in the stream. */
#ifndef BASE_JSON_OUT_H
#define BASE_JSON_OUT_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

/* Each writes a member of an object with a comma in front of it. */

/** json_number() - above 2^63 - 1 as a text of digits: not all readers could hold it */
void json_number(FILE *f, const char *key, uint64_t value);

/**
 * json_name() - a text from outside
 *
 * What is no UTF-8 is replaced, and KEY_hex has the bytes.
 */
void json_name(FILE *f, const char *key, const char *text);

/** json_foreign() - the same behind its key */
void json_foreign(FILE *f, const char *key, const char *text);

/* Values without a key. */
void json_value(FILE *f, uint64_t value);
void json_element(FILE *f, const char *text); /* {"hex":...} when it is no UTF-8 */
void json_quoted(FILE *f, const char *text);  /* bytes that are no UTF-8 are replaced */

#endif
