// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/spelling.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/files_apart.h"
#include "cli/formats.h"

#define MAX_ROWS    64
#define FIRST_KEY   0x100 /* base for keys of rows without a letter; the row's number is added */
#define LIST_COLUMN 12	  /* base for keys of names in the list of commands */

static bool is_end(const struct option_row *o)
{
	return !o->name && !o->doc;
}

const struct option_row *option_at(const struct command *c, size_t i)
{
	const struct option_row *o = c->bit ? shared_options : c->options;

	for (;; o++) {
		if (is_end(o))
			return NULL;
		if ((!c->bit || o->commands & c->bit) && !i--)
			return o;
	}
}

char *option_doc(const struct option_row *o)
{
	const char *at = strstr(o->doc, "%s"), *rest = at ? at + strlen("%s") : o->doc;
	char names[SCHEDULER_NAMES_LEN] = "", *text;

	if (at)
		scheduler_names(names, "or");
	return asprintf(&text, "%.*s%s%s%s%s", at ? (int)(at - o->doc) : 0, o->doc, names, rest,
			o->bare ? "; a number alone is " : "", o->bare ? o->bare : "") < 0
		       ? NULL
		       : text;
}

int option_set(const struct option_row *o, const char *text, struct options *ret, struct diag *d)
{
	void *field = (char *)ret + o->offset;

	if (o->parse)
		return o->parse(o, text, field, d);
	if (o->size == sizeof(o->value))
		memcpy(field, &o->value, sizeof(o->value));
	else
		*(bool *)field = true;
	return 0;
}

const struct command *command_find(const struct command *const *commands, const char *name,
				   struct diag *d)
{
	struct spelling known = { .word = name };

	for (size_t i = 1; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name)) {
			spelling_free(&known);
			return commands[i];
		}
		spelling_add(&known, commands[i]->name);
	}
	diag_fail(d, -EINVAL, "unknown command \"%s\"", name);
	spelling_advise(&known, "commands are", d, 0);
	return NULL;
}

static int key_of(const struct option_row *o, size_t i)
{
	return o->letter ? o->letter : FIRST_KEY + (int)i;
}

static const struct option_row *row_of(const struct command *c, int key, size_t *ret)
{
	const struct option_row *o;

	for (*ret = 0; (o = option_at(c, *ret)); ++*ret)
		if (o->name && key_of(o, *ret) == key)
			break;
	return o;
}

/* argp prints the problem and ends the process. */
static void fail(struct argp_state *state, const char *what, const struct diag *d)
{
	argp_error(state, "%s%s%s%s%s", what, what[0] ? ": " : "", d->what, d->help[0] ? "; " : "",
		   d->help);
}

/* Append to earlier texts, if they count, too */
static error_t take_setting_text(struct options *all, const char *before, const char *arg,
				 const char **ret)
{
	if (before && text_list_print(&all->joined, "%s\n%s", before, arg))
		return ENOMEM;
	*ret = before ? all->joined.items[all->joined.nr - 1] : arg;
	return 0;
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct options *all = state->input;
	struct diag d = { 0 };
	char name[256];
	size_t i;
	const struct option_row *o = row_of(all->command, key, &i);

	if (!o)
		return ARGP_ERR_UNKNOWN;
	/* the file comes first */
	if (o->setting) {
		return take_setting_text(all, o->many ? all->settings[i] : NULL, arg,
					 &all->settings[i]);
	}
	if (!option_set(o, arg, all, &d))
		return 0;
	if (o->letter)
		snprintf(name, sizeof(name), "-%c %.200s", o->letter, arg);
	else
		snprintf(name, sizeof(name), "--%s %.200s", o->name, arg);
	fail(state, name, &d);
	return EINVAL;
}

static error_t take_argument(char *arg, struct argp_state *state)
{
	struct options *all = state->input;
	const struct command *c = all->command;
	struct diag d = { 0 };
	int err;

	/* After "--", or where only a program can follow: ARGP_KEY_ARGS takes them all. */
	if (c->takes_command && (!c->argument || state->quoted))
		return ARGP_ERR_UNKNOWN;
	err = c->argument ? c->argument(all, arg, &d)
			  : diag_fail(&d, -EINVAL, "unexpected argument \"%s\"", arg);
	if (err)
		fail(state, "", &d);
	return 0;
}

static void finish(struct argp_state *state)
{
	struct options *all = state->input;
	const struct output_options *show = &all->run.output;
	struct diag d = { 0 };
	int err = 0;

	if (show->quiet && show->verbose)
		err = diag_fail(&d, -EINVAL, "-q and -v exclude each other");
	if (!err && all->command->check)
		err = all->command->check(all, &d);
	if (!err)
		err = formats_check(all, &d) ?: files_apart(all, &d);
	if (err)
		fail(state, "", &d);
}

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct options *all = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return take_argument(arg, state);
	case ARGP_KEY_ARGS:
		all->run.command = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		finish(state);
		return 0;
	}
	return take_option(key, arg, state);
}

/* --- help */

static void put_commands(const struct command *const *commands, FILE *out)
{
	fputs("Commands:\n", out);
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->name[0])
			fprintf(out, "  t410trace %-*s%s\n", LIST_COLUMN, commands[i]->name,
				commands[i]->brief);
}

static void put_statuses(const struct command *c, FILE *out)
{
	const unsigned int all = 1u << EXIT_OK_ | 1u << EXIT_FAILED | 1u << EXIT_USAGE;

	fputs("Exit status:", out);
	for (int i = 0; i < NR_EXIT_STATUSES; i++) {
		const char *brief = exit_statuses[i].brief;

		if (i == EXIT_INCOMPLETE && c->incomplete)
			brief = c->incomplete;
		if ((all | c->statuses) & (1u << i))
			fprintf(out, "%s %d %s", i ? "," : "", i, brief);
	}
	fputs(c->takes_command ? "; with COMMAND its own status." : ".", out);
}

/* Text below the options */
static char *closing(const struct options *all)
{
	const struct command *c = all->command;
	const char *more = c->more ? c->more : "";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (!strcmp(more, "@COMMANDS@"))
		put_commands(all->commands, out);
	else if (more[0])
		fprintf(out, "%s\n", more);
	if (more[0])
		putc('\n', out);
	put_statuses(c, out);
	fclose(out);
	return text;
}

/* argp requests each text, and frees those that differ. */
static char *filter(int key, const char *text, void *input)
{
	const struct options *all = input;
	size_t i;
	const struct option_row *o = row_of(all->command, key, &i);

	if (key == ARGP_KEY_HELP_POST_DOC)
		return closing(all);
	return o ? option_doc(o) : (char *)text;
}

void options_parse(const struct command *const *commands, const struct command *c, int argc,
		   char **argv, struct options *ret)
{
	struct argp_option made[MAX_ROWS + 1] = { 0 };
	const struct option_row *o;
	char doc[1024];
	const struct argp argp = {
		.options = made,
		.parser = take,
		.args_doc = c->args,
		.doc = doc,
		.help_filter = filter,
	};

	*ret = (struct options){
		.commands = commands,
		.command = c,
		.who = c->name[0] ? argv[0] : "t410trace",
		.run = run_options_default(),
		.stat.socket = -1,
		.account = { .wait_ns = UINT64_MAX, .nr = JOBS_USUAL },
	};
	/* no default of its own: a recording has a method */
	ret->run.interval_ns = 0;
	if (c->defaults)
		c->defaults(ret);
	for (size_t i = 0; i < MAX_ROWS && (o = option_at(c, i)); i++)
		made[i] = (struct argp_option){ o->name, o->name ? key_of(o, i) : 0,
						o->arg,	 0,
						o->doc,	 o->group };
	/* Without text behind the \v argp does not ask for it */
	snprintf(doc, sizeof(doc), "%s\v ", c->doc);
	argp_err_exit_status = EXIT_USAGE;
	/* In order: options after COMMAND belong to it. */
	argp_parse(&argp, argc, argv, c->takes_command ? ARGP_IN_ORDER : 0, NULL, ret);
}

void options_free(struct options *o)
{
	run_options_free(&o->run);
	text_list_free(&o->stat.metrics);
	text_list_free(&o->stat.events);
	text_list_free(&o->stat.windows);
	text_list_free(&o->joined);
	text_list_free(&o->account.merge);
	text_list_free(&o->account.merge_more);
}
