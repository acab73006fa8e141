// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/text_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

static int take(struct text_list *list, char *text)
{
	if (!text || array_reserve(list->items, list->cap, list->nr)) {
		free(text);
		return -ENOMEM;
	}
	list->items[list->nr++] = text;
	return 0;
}

int text_list_add(struct text_list *list, const char *text)
{
	return take(list, strdup(text));
}

int text_list_print(struct text_list *list, const char *fmt, ...)
{
	char *text;
	va_list args;
	int length;

	va_start(args, fmt);
	length = vasprintf(&text, fmt, args);
	va_end(args);
	return take(list, length < 0 ? NULL : text);
}

void text_list_free(struct text_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct text_list){ 0 };
}
