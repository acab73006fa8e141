// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace help: what "t410trace COMMAND --help" shows. */
#include <errno.h>
#include <stdio.h>

#include "cli/commands.h"

static int take_name(struct options *o, const char *text, struct diag *d)
{
	if (o->topic)
		return diag_fail(d, -EINVAL, "%s: one command at a time", text);
	o->topic = command_find(o->commands, text, d);
	return o->topic ? 0 : -EINVAL;
}

/* The texts end the process, as those of --help do: there is nothing to run. */
static int show(struct options *o, struct diag *d)
{
	const struct command *c = o->topic ?: o->commands[0];
	char name[64], option[] = "--help";
	char *argv[] = { name, option, NULL };
	struct options unused;

	snprintf(name, sizeof(name), "t410trace%s%s", c->name[0] ? " " : "", c->name);
	options_parse(o->commands, c, 2, argv, &unused);
	return diag_fail(d, -EINVAL, "no help about %s", name);
}

static const struct option_row rows[] = { { 0 } };

const struct command command_help = {
	.name = "help",
	.brief = "the options of a command",
	.args = "[COMMAND]",
	.doc = "Show what COMMAND does and its options, as \"t410trace COMMAND --help\" does.",
	.options = rows,
	.argument = take_name,
	.check = show,
};
