// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/serve_log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"

/* JOURNAL_STREAM names the journal's socket; somebody may have redirected us since. */
static bool to_journal(void)
{
	static int known = -1;
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	if (known < 0)
		known = stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
			!fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
	return known;
}

void serve_log(int priority, const char *fmt, ...)
{
	char raw[2048], text[sizeof(raw)];
	va_list args;
	size_t length;

	va_start(args, fmt);
	vsnprintf(raw, sizeof(raw), fmt, args);
	va_end(args);
	length = strlen(raw);
	while (length && raw[length - 1] == '\n')
		length--;
	/* What comes from names of files and the like cannot make lines of its own. */
	utf8_harmless(text, sizeof(text), raw, length);
	if (to_journal())
		fprintf(stderr, "<%d>%s\n", priority, text);
	else
		fprintf(stderr, "%s: %s%s\n", SERVE_WHO, priority == LOG_WARNING ? "warning: " : "",
			text);
}

void serve_log_diag(int priority, const char *before, const struct diag *d)
{
	serve_log(priority, "%s%s%s%s", before, d->what, d->help[0] ? "; " : "", d->help);
}
