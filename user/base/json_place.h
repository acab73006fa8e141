/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where in a JSON text something stands. The text must have been parsed before: it is valid. */
#ifndef BASE_JSON_PLACE_H
#define BASE_JSON_PLACE_H

#include <stddef.h>

/** json_place_value() - the first value of a text: its beginning without blanks */
const char *json_place_value(const char *text);

/**
 * json_place_key() - where a key of an object is
 * @object: its opening brace
 * @key: the key
 *
 * Return: the key's opening quote; NULL when there is none, or when @object is no object.
 */
const char *json_place_key(const char *object, const char *key);

/** json_place_member() - where the value of a key begins, NULL when there is none */
const char *json_place_member(const char *object, const char *key);

/** json_place_item() - where the item with index @i of an array begins, NULL when there is none */
const char *json_place_item(const char *array, size_t i);

/** json_place_line() - the number of the line at which a place of a text is, from 1 */
unsigned int json_place_line(const char *text, const char *place);

#endif
