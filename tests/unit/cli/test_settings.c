// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Settings of the daemon, read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/settings.h"
#include "tables/own_rows.h"
#include "temp_file.h"
#include "tree.h"

static const char rows[] =
	"{ \"schema\": \"t410trace.platform/1\", \"platform\": \"mine\", \"title\": \"mine\",\n"
	"  \"pmus\": [ { \"pmu\": \"mc_<n>\", \"name\": \"mc\", \"title\": \"mc\",\n"
	"    \"socket\": \"cpus\", \"from\": \"nowhere\", \"rows\": [\n"
	"      { \"event\": \"reads\", \"direction\": \"read\", \"source\": \"any\",\n"
	"        \"from\": \"x\" } ] } ] }\n";

/* A value that was read does nothing: another file of rows needs a restart, all else does not. */
static void test_another_platform(void **state)
{
	struct options given = { .command = &command_serve, .config = temp_path };
	struct settings before, after;
	struct diag d = { 0 };
	struct tree tree;
	char path[PATH_MAX], text[2 * PATH_MAX], names[64];

	(void)state;
	tree_make(&tree);
	tree_put(&tree, "one.json", rows);
	tree_put(&tree, "two.json", rows);
	tree_path(&tree, "one.json", path);
	snprintf(text, sizeof(text), "platform = %s\ntop = 4\n", path);
	temp_put(text);
	if (settings_read(&given, &d, &before))
		fail_msg("%s", d.what);
	assert_null(own_rows());
	tree_path(&tree, "two.json", path);
	snprintf(text, sizeof(text), "platform = %s\ntop = 5\n", path);
	temp_put(text);
	if (settings_read(&given, &d, &after))
		fail_msg("%s", d.what);
	assert_null(own_rows());
	settings_fixed(&before, &after, names, sizeof(names));
	assert_string_equal(names, "platform");
	settings_take(&before, &after);
	assert_int_equal(before.values.serve.top, 5);
	settings_free(&before);
	settings_free(&after);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_another_platform),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
