// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gendoc man < man/t410trace.1.in    the manual page, with OPTIONS of each command
 * gendoc completion                  completion for bash
 *
 * Both come from the option rows that the program itself parses, so they cannot
 * say anything else than --help. In the manual page's source, a line
 * "@OPTIONS name@" is replaced by the options of that command, "@EXIT_STATUS@" by what
 * exit statuses mean.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/commands.h"
#include "cli/serve_config.h"
#include "cli/stat_args.h"
#include "cli/trace_args.h"

/* Filled in by main(): some rows are made when asked for. */
static struct command {
	const char *name; /* "" is the main job */
	const struct argp_option *options;
} commands[] = {
	{ "", NULL },
	{ "record", NULL },
	{ "report", NULL },
	{ "stat", stat_options },
	{ "neighbours", NULL },
	{ "list", list_options },
	{ "topology", topology_options },
	{ "check", check_options },
	{ "serve", NULL },
	{ "job", job_options },
	{ "jobs", jobs_options },
};

/* argp adds these to every command. */
static const struct argp_option common[] = {
	{ "help", '?', NULL, 0, "Show the options", 0 },
	{ "usage", 0x10000, NULL, 0, "Show a short usage message", 0 },
	{ "version", 'V', NULL, 0, "Show the version", 0 },
	{ 0 },
};

static bool is_end(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc;
}

static bool has_short(const struct argp_option *o)
{
	return o->key > ' ' && o->key < 127;
}

/* A minus sign that may be copied, and no escapes from the text. */
static void put_roff(const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
	}
}

static void put_option(const struct argp_option *o)
{
	puts(".TP");
	fputs("\\fB", stdout);
	if (has_short(o))
		printf("\\-%c\\fR, \\fB", o->key);
	fputs("\\-\\-", stdout);
	put_roff(o->name);
	fputs("\\fR", stdout);
	if (o->arg) {
		fputs(" \\fI", stdout);
		put_roff(o->arg);
		fputs("\\fR", stdout);
	}
	putchar('\n');
	put_roff(o->doc);
	puts(".");
}

static void put_options(const struct argp_option *o)
{
	for (; !is_end(o); o++) {
		if (o->name)
			put_option(o);
		else if (o->doc) /* heading of a group */
			printf(".SS %s\n", o->doc);
	}
}

static void put_exit_statuses(void)
{
	for (int i = 0; i < NR_EXIT_STATUSES; i++) {
		printf(".TP\n.B %d\n", i);
		put_roff(exit_status_text(i));
		putchar('\n');
	}
}

static int man(void)
{
	char line[1024], name[32];

	while (fgets(line, sizeof(line), stdin)) {
		const struct argp_option *options = NULL;

		if (!strcmp(line, "@EXIT_STATUS@\n")) {
			put_exit_statuses();
			continue;
		}
		if (strncmp(line, "@OPTIONS", 8)) {
			fputs(line, stdout);
			continue;
		}
		if (sscanf(line, "@OPTIONS %31[a-z]@", name) != 1)
			name[0] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
			if (!strcmp(commands[i].name, name))
				options = commands[i].options;
		if (!options) {
			fprintf(stderr, "gendoc: no command \"%s\"\n", name);
			return 1;
		}
		put_options(options);
	}
	return 0;
}

static void put_words(const struct argp_option *o)
{
	for (; !is_end(o); o++)
		if (o->name)
			printf(" --%s%s", o->name, o->arg ? "=" : "");
}

static int completion(void)
{
	puts("# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n"
	     "# shellcheck shell=bash disable=SC2207  # words have no blanks\n"
	     "# Completion for t410trace; made from its option rows by \"make docs\".\n"
	     "shopt -s extglob\n"
	     "_t410trace() {\n"
	     "\tlocal word=${COMP_WORDS[COMP_CWORD]} words place");
	fputs("\tcase ${COMP_WORDS[1]} in\n", stdout);
	for (size_t i = 1; i < ARRAY_SIZE(commands); i++) {
		printf("\t%s) words='", commands[i].name);
		put_words(commands[i].options);
		put_words(common);
		puts("' ;;");
	}
	fputs("\t*) words='", stdout);
	put_words(commands[0].options);
	put_words(common);
	puts("' ;;\n\tesac");
	fputs("\t[ \"$COMP_CWORD\" -gt 1 ] || words+='", stdout);
	for (size_t i = 1; i < ARRAY_SIZE(commands); i++)
		printf(" %s", commands[i].name);
	puts("'\n"
	     "\t# \"=\" is a word of its own for bash\n"
	     "\tcase ${COMP_LINE:0:COMP_POINT} in\n"
	     "\t*' --by='*([a-z]) | *' --by '*([a-z]))\n"
	     "\t\tCOMPREPLY=($(compgen -W 'process cgroup job thread' -- \"${word#=}\"))\n"
	     "\t\treturn ;;\n"
	     "\t*' --method='*([a-z-]) | *' --method '*([a-z-]))\n"
	     "\t\tCOMPREPLY=($(compgen -W 'state-space weights cpu-time' -- \"${word#=}\"))\n"
	     "\t\treturn ;;\n"
	     "\t*' --weights='*([a-z-]) | *' --weights '*([a-z-]))\n"
	     "\t\tCOMPREPLY=($(compgen -W 'auto cpu-time' -- \"${word#=}\"))\n"
	     "\t\treturn ;;\n"
	     "\t*' --format='*([a-z]) | *' --format '*([a-z]))\n"
	     "\t\tCOMPREPLY=($(compgen -W 'recording ndjson' -- \"${word#=}\"))\n"
	     "\t\treturn ;;\n"
	     "\t*' --scheduler='*([a-z]) | *' --scheduler '*([a-z]))\n"
	     "\t\tCOMPREPLY=($(compgen -W 'slurm flux kubernetes docker podman libvirt systemd' "
	     "-- \"${word#=}\"))\n"
	     "\t\treturn ;;\n"
	     "\t*' --split='*([a-z]) | *' --split '*([a-z]))\n"
	     "\t\tCOMPREPLY=($(compgen -W 'destination' -- \"${word#=}\"))\n"
	     "\t\treturn ;;\n"
	     "\t*' --counters='*([a-z]) | *' --counters '*([a-z]))\n"
	     "\t\tCOMPREPLY=($(compgen -W 'yes no' -- \"${word#=}\"))\n"
	     "\t\treturn ;;\n"
	     "\t*' --device='*([[:alnum:]_]) | *' --device '*([[:alnum:]_]) | "
	     "*' -D '*([[:alnum:]_]))\n"
	     "\t\t# what is on a device, not loops and bridges\n"
	     "\t\twords=all\n"
	     "\t\tfor place in /sys/{block,class/net,class/infiniband}/*/device; do\n"
	     "\t\t\tplace=${place%/device}\n"
	     "\t\t\t[ ! -e \"$place\" ] || words+=\" ${place##*/}\"\n"
	     "\t\tdone\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"${word#=}\"))\n"
	     "\t\treturn ;;\n"
	     "\tesac\n"
	     "\tcase $word in\n"
	     "\t-*|'') COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
	     "\t*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\")) "
	     ";;\n"
	     "\tesac\n"
	     "\t[[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace\n"
	     "}\n"
	     "complete -F _t410trace t410trace");
	return 0;
}

int main(int argc, char **argv)
{
	commands[0].options = trace_args_options(COMMAND_LIVE);
	commands[1].options = trace_args_options(COMMAND_RECORD);
	commands[2].options = trace_args_options(COMMAND_REPORT);
	commands[4].options = trace_args_options(COMMAND_NEIGHBOURS);
	commands[8].options = serve_options();
	if (argc == 2 && !strcmp(argv[1], "man"))
		return man();
	if (argc == 2 && !strcmp(argv[1], "completion"))
		return completion();
	fprintf(stderr, "usage: gendoc man|completion\n");
	return 2;
}
