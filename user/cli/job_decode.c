// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/job_decode.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "report/job/job_report.h"

#define MAX_RECORD (1 << 20) /* more than any record of an account */
#define BLANKS	   " \t\r\n"

/* All of standard input. */
static int read_input(char **ret, struct diag *d)
{
	cleanup_free char *text = malloc(MAX_RECORD + 1);
	size_t nr;

	if (!text)
		return diag_fail(d, -ENOMEM, "cannot read a record: out of memory");
	nr = fread(text, 1, MAX_RECORD + 1, stdin);
	if (ferror(stdin))
		return diag_fail(d, -errno, "cannot read standard input: %s", strerror(errno));
	if (nr > MAX_RECORD)
		return diag_fail(d, -E2BIG, "standard input is too long for a compact record");
	text[nr] = '\0';
	if (strlen(text) != nr)
		return diag_fail(d, -EINVAL, "standard input is no text");
	*ret = take_ptr(text);
	return 0;
}

static int decode(char *text, struct diag *d)
{
	cleanup_free char *json = NULL;
	size_t length;
	int err;

	text += strspn(text, BLANKS);
	for (length = strlen(text); length && strchr(BLANKS, text[length - 1]); length--)
		text[length - 1] = '\0';
	err = job_compact_decode(text, &json);
	if (!err) {
		puts(json);
		return 0;
	}
	if (err == -EPROTONOSUPPORT) {
		diag_fail(d, err, "this compact record is of a later version");
		diag_help(d, "use the t410trace that wrote it, or a later one");
	} else if (err == -EINVAL) {
		diag_fail(d, err, "this is no compact record, or it is damaged");
		diag_help(d, "a record is one line that begins with " JOB_COMPACT_PREFIX
			     "; databases may have cut it");
	} else {
		diag_fail(d, err, "cannot decode the record: %s", strerror(-err));
	}
	return err;
}

int job_decode(const char *who, const char *text)
{
	cleanup_free char *copy = NULL;
	struct diag d = { 0 };
	int err = 0;

	if (!strcmp(text, "-")) {
		err = read_input(&copy, &d);
	} else {
		copy = strdup(text);
		if (!copy)
			err = diag_fail(&d, -ENOMEM, "cannot decode the record: out of memory");
	}
	if (!err)
		err = decode(copy, &d);
	return end_output(who, err, &d) ? EXIT_FAILED : EXIT_OK_;
}
