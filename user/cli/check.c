// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace check: capabilities of this machine and their gaps. */
#include "cli/commands.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/selftest.h"
#include "cli/values.h"
#include "platform/check/checks.h"
#include "platform/sys/resctrl.h"
#include "platform/sys/sysfs.h"

#define CHECK_SCHEMA "t410trace.check/1"

static json_t *checks_to_json(const struct check_list *list)
{
	json_t *checks = json_array();

	for (size_t i = 0; i < list->nr; i++) {
		const struct check_row *row = &list->rows[i];

		output_append(&checks, json_pack("{s:s, s:s, s:s, s:s}", "name", row->name,
						 "status", check_status_name(row->status), "found",
						 row->found, "remedy", row->remedy));
	}
	return json_pack("{s:s, s:b, s:o}", "schema", CHECK_SCHEMA, "ok", check_all_ok(list),
			 "checks", checks);
}

/* One line for each row; its remedy and overlong text go below it. */
static int print_checks(const struct check_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct check_row *row = &list->rows[i];
		const char *status = check_status_name(row->status);

		if (37 + strlen(row->found) <= OUTPUT_COLUMNS) {
			printf("%-7s  %-26s  %s\n", status, row->name, row->found);
		} else {
			printf("%-7s  %s\n", status, row->name);
			output_wrapped(stdout, 9, row->found);
		}
		output_wrapped(stdout, 11, row->remedy);
	}
	printf("\n%s\n", check_all_ok(list) ? "t410trace can work here."
					    : "t410trace cannot work here, see the rows marked "
					      "missing.");
	return 0;
}

static int print_as_json(const struct check_list *list)
{
	return output_json(checks_to_json(list));
}

static int (*const writers[NR_OUTPUT_FORMATS])(const struct check_list *list) = {
	[OUTPUT_TEXT] = print_checks,
	[OUTPUT_JSON] = print_as_json,
};

static int show(const struct options *o, const struct sysfs *fs, struct diag *d, bool *ret_ok)
{
	struct check_list list = { 0 };
	int err;

	err = check_machine(fs, "/proc", o->run.resctrl ? o->run.resctrl : RESCTRL_ROOT, &list);
	if (err)
		return diag_error(d, err, "cannot look at this machine");
	err = writers[o->run.output.format](&list);
	if (err)
		diag_error(d, err, "cannot show the checks");
	else
		*ret_ok = check_all_ok(&list);
	check_list_free(&list);
	return err;
}

static int run(struct options *o)
{
	struct sysfs fs = { .fd = -1 };
	struct diag d = { 0 };
	bool ok = false;
	int err;

	if (o->selftest)
		return selftest_command(o);
	err = sysfs_open(NULL, &d, &fs);
	if (!err)
		err = show(o, &fs, &d, &ok);
	sysfs_close(&fs);
	return output_end(o->who, err, &d) || !ok ? EXIT_FAILED : EXIT_OK_;
}

static const struct option_row rows[] = {
	{ 0, 0, PLATFORM_IS, PLATFORM },
	{ 0, 0,
	  "Where the kernel's monitoring groups are, whose sum is compared with the counters "
	  "(default " RESCTRL_ROOT "; none: it is not)",
	  OPTION("resctrl", 0, "DIR|none", value_resctrl, run.resctrl) },
	{ 0, 0, "Print JSON (" CHECK_SCHEMA ", or t410trace.selftest/1)", AS_JSON },
	{ 0, 0,
	  "Move a known number of bytes on each socket, and compare them with what t410trace says: "
	  "below 20 s, 256 MiB, two CPUs of a socket at a time",
	  SWITCH("selftest", 0, selftest) },
	{ 0 },
};

const struct command command_check = {
	.name = "check",
	.brief = "what this machine has and lacks for t410trace",
	.doc = "Show whether this machine has what t410trace needs.",
	.options = rows,
	.statuses = 1u << EXIT_INCOMPLETE,
	.incomplete = "the self-test could not decide",
	.run = run,
};
