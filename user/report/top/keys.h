/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The effect of keys on a view. */
#ifndef REPORT_TOP_KEYS_H
#define REPORT_TOP_KEYS_H

#include "report/top/view.h"

/* Keys that are characters have their number; the rest is beyond the last character. */
enum top_key {
	KEYS_CTRL_C = 3,
	KEYS_TABULATOR = 9,
	KEYS_RETURN = 13,
	KEYS_ESCAPE = 27,
	KEYS_ERASE = 127,
	KEYS_ARROW_UP = 0x110000,
	KEYS_ARROW_DOWN,
	KEYS_ARROW_LEFT,
	KEYS_ARROW_RIGHT,
	KEYS_PAGE_UP,
	KEYS_PAGE_DOWN,
	KEYS_FIRST,
	KEYS_LAST,
	KEYS_BACK_TAB,
	KEYS_FUNCTION, /* KEYS_FUNCTION + 1 is F1 */
	KEYS_FUNCTION_12 = KEYS_FUNCTION + 12,
};

/* A key's request to the program */
enum keys_wish {
	KEYS_NOTHING,
	KEYS_END,
	KEYS_RECORD,
	KEYS_LONGER,  /* interval */
	KEYS_SHORTER, /* interval */
	KEYS_ROWS,    /* of the next kind */
};

/** keys_press() - handle a key; returns a request that the view cannot handle */
enum keys_wish keys_press(struct view *v, uint32_t key);

/** keys_interval() - the next longer or shorter interval; the same at either end */
uint64_t keys_interval(uint64_t interval_ns, bool longer);

/**
 * keys_rows() - the next kind of rows
 * @by: the current kind
 * @by_thread: CPU time is known by thread; otherwise by process
 */
enum row_kind keys_rows(enum row_kind by, bool by_thread);

#endif
