/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Growable lists of texts: names, notes, arguments. */
#ifndef BASE_TEXT_LIST_H
#define BASE_TEXT_LIST_H

#include <stddef.h>

/**
 * struct text_list - texts; all zero is an empty list
 * @items, @nr, @cap: see base/array.h; owned, as is every text
 */
struct text_list {
	char **items;
	size_t nr;
	size_t cap;
};

/** text_list_add() - add a copy of @text; 0 or -ENOMEM */
int text_list_add(struct text_list *list, const char *text);

/** text_list_print() - add a text that is made like that of printf(); 0 or -ENOMEM */
__attribute__((format(printf, 2, 3))) int text_list_print(struct text_list *list, const char *fmt,
							  ...);
void text_list_free(struct text_list *list);

/* A list that is freed at the end of the block. */
#define cleanup_texts __attribute__((cleanup(text_list_free)))

#endif
