/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that the build embeds into the program: scripts and styles of the page. */
#ifndef REPORT_HTML_ASSETS_H
#define REPORT_HTML_ASSETS_H

#include <stdio.h>

enum asset {
	ASSET_STYLE,	  /* share/report.css */
	ASSET_SCRIPT,	  /* share/report.js */
	ASSET_PLOT_STYLE, /* of dygraphs */
	ASSET_PLOT_SCRIPT,
	ASSET_PLOT_LICENCE,
	NR_ASSETS,
};

/**
 * struct asset_text - a file
 * @begin, @end: its text, without a NUL
 */
struct asset_text {
	const char *begin;
	const char *end;
};

/** asset_text() - the text of a file */
struct asset_text asset_text(enum asset a);

/** asset_write() - write it unchanged */
void asset_write(FILE *out, enum asset a);

#endif
