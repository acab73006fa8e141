/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --html: a run as a page in a file. */
#ifndef CLI_PAGE_FILE_H
#define CLI_PAGE_FILE_H

#include "base/diag.h"
#include "cli/output.h"
#include "neighbourhood.h"
#include "run_options.h"

struct html;

/**
 * struct page_file - the page of a run; without --html all functions do nothing
 * @args: the user's options
 * @out: where to
 * @html: its content
 * @written: it was written: without an interval it would be empty
 */
struct page_file {
	const struct run_options *args;
	struct output out;
	struct html *html;
	bool written;
};

/** page_file_ask() - ask for what a page needs, if there is to be one */
void page_file_ask(struct run_options *r);

/**
 * page_file_open() - open the file, as output_open() does
 * @args: must outlive @ret
 * @d: gets the problem
 * @ret: always needs page_file_close()
 *
 * Return: 0 or a negative errno.
 */
int page_file_open(const struct run_options *args, struct diag *d, struct page_file *ret);

/** page_file_add() - add an interval; 0 or a negative errno */
int page_file_add(struct page_file *p, const struct report *r, struct diag *d);

/** page_file_write() - write the page of all intervals; 0 or a negative errno */
int page_file_write(struct page_file *p, const struct neighbours_report *r, struct diag *d);

/** page_file_close() - close the file, as output_close() does */
int page_file_close(struct page_file *p, int err, struct diag *d);

#endif
