// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "gendoc_completion.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

/* argp adds these to every command. */
#define COMMON	   " --help --usage --version"

/* A single quote inside of single quotes */
#define ZSH_QUOTE  "'\\''"
#define FISH_QUOTE "\\'"

static void put_names(void)
{
	for (size_t i = 1; commands[i]; i++)
		printf(" %s", commands[i]->name);
}

static void put_words(const struct command *c)
{
	const struct option_row *o;

	/* A command with nothing to run explains the others. */
	if (!c->run)
		put_names();
	for (size_t i = 0; (o = option_at(c, i)); i++)
		if (o->name)
			printf(" --%s%s", o->name, o->arg ? "=" : "");
	fputs(COMMON, stdout);
}

/* Was the option of this name before this one, in another command or the same? */
static bool is_known(const char *name, size_t command, size_t row)
{
	const struct option_row *o;

	for (size_t c = 0; c <= command; c++)
		for (size_t i = 0; (o = option_at(commands[c], i)); i++) {
			if (c == command && i == row)
				return false;
			if (o->name && !strcmp(o->name, name))
				return true;
		}
	return false;
}

/* Completion of the word behind "--by" */
static void put_choices(const struct option_row *o)
{
	const char *word;

	printf("\t*' --%s='*([a-z-]) | *' --%s '*([a-z-]))\n\t\tCOMPREPLY=($(compgen -W '", o->name,
	       o->name);
	for (unsigned int i = 0; (word = o->choice(i)); i++)
		printf("%s%s", i ? " " : "", word);
	puts("' -- \"${word#=}\"))\n\t\treturn ;;");
}

static void put_all_choices(void)
{
	const struct option_row *o;

	for (size_t c = 0; commands[c]; c++)
		for (size_t i = 0; (o = option_at(commands[c], i)); i++)
			if (o->choice && !is_known(o->name, c, i))
				put_choices(o);
}

static void bash(void)
{
	puts("# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n"
	     "# shellcheck shell=bash disable=SC2207  # words have no blanks\n"
	     "# Completion for t410trace; made from its option rows by \"make docs\".\n"
	     "shopt -s extglob\n"
	     "_t410trace() {\n"
	     "\tlocal word=${COMP_WORDS[COMP_CWORD]} words place");
	fputs("\tcase ${COMP_WORDS[1]} in\n", stdout);
	for (size_t i = 1; commands[i]; i++) {
		printf("\t%s) words='", commands[i]->name);
		put_words(commands[i]);
		puts("' ;;");
	}
	fputs("\t*) words='", stdout);
	put_words(commands[0]);
	puts("' ;;\n\tesac");
	fputs("\t[ \"$COMP_CWORD\" -gt 1 ] || words+='", stdout);
	put_names();
	puts("'\n"
	     "\t# \"=\" is a word of its own for bash\n"
	     "\tcase ${COMP_LINE:0:COMP_POINT} in");
	put_all_choices();
	puts("\t*' --device='*([[:alnum:]_]) | *' --device '*([[:alnum:]_]) | "
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
}

/* The words that may stand behind an option */
enum argument {
	ARG_NONE,
	ARG_TEXT,
	ARG_CHOICE,
	ARG_FILE,
	ARG_FOLDER,
	ARG_DEVICE,
};

static enum argument argument_of(const struct option_row *o)
{
	if (!o->arg)
		return ARG_NONE;
	if (o->choice)
		return ARG_CHOICE;
	if (!strcmp(o->arg, "FILE") || !strcmp(o->arg, "OUT"))
		return ARG_FILE;
	if (!strncmp(o->arg, "DIR", 3) || !strcmp(o->arg, "FOLDER"))
		return ARG_FOLDER;
	return strncmp(o->arg, "DEVICE", 6) ? ARG_TEXT : ARG_DEVICE;
}

/*
 * The first clause of a text, in single quotes; @quote is a quote within. zsh ends a description at
 * a bracket.
 */
static void put_brief(const char *doc, const char *quote)
{
	for (const char *c = doc; *c && *c != ';' && !(strchr(".:,", *c) && c[1] == ' '); c++) {
		if (!strncmp(c, " (", 2))
			break;
		if (*c == '\'')
			fputs(quote, stdout);
		else if (*c == '[' || *c == ']')
			putchar(*c == '[' ? '(' : ')');
		else if (*c != '\\')
			putchar(*c);
	}
}

static void put_option_brief(const struct option_row *o, const char *quote)
{
	char *doc = option_doc(o);

	put_brief(doc ? doc : "", quote);
	free(doc);
}

static void put_choice_words(const struct option_row *o)
{
	const char *word;

	for (unsigned int i = 0; (word = o->choice(i)); i++)
		printf("%s%s", i ? " " : "", word);
}

static void zsh_option(const struct option_row *o, const char *name)
{
	fputs("\t\t\t'", stdout);
	if (o->many)
		putchar('*');
	else if (o->letter)
		printf("(-%c --%s)", o->letter, o->name);
	printf("%s[", name);
	put_option_brief(o, ZSH_QUOTE);
	putchar(']');
	switch (argument_of(o)) {
	case ARG_NONE:
		break;
	case ARG_CHOICE:
		fputs(":word:(", stdout);
		put_choice_words(o);
		putchar(')');
		break;
	case ARG_FILE:
		fputs(":file:_files", stdout);
		break;
	case ARG_FOLDER:
		fputs(":folder:_files -/", stdout);
		break;
	case ARG_DEVICE:
		fputs(":device:_t410trace_devices", stdout);
		break;
	case ARG_TEXT:
		fputs(":value: ", stdout);
		break;
	}
	puts("' \\");
}

static void zsh_command(const struct command *c)
{
	const struct option_row *o;
	char name[64];

	puts("\t\t_arguments -s -S \\");
	for (size_t i = 0; (o = option_at(c, i)); i++) {
		if (!o->name)
			continue;
		snprintf(name, sizeof(name), "--%s%s", o->name, o->arg ? "=" : "");
		zsh_option(o, name);
		if (!o->letter)
			continue;
		snprintf(name, sizeof(name), "-%c%s", o->letter, o->arg ? "+" : "");
		zsh_option(o, name);
	}
	puts("\t\t\t'--help[all options]' '--usage[a short form]' '--version[the version]' \\");
	/* A command with nothing to run explains the others. */
	if (c->run)
		puts("\t\t\t'*:file:_files' ;;");
	else
		puts("\t\t\t'1:command:(($commands))' ;;");
}

static void zsh(void)
{
	puts("#compdef t410trace\n"
	     "# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n"
	     "# Completion for t410trace; made from its option rows by \"make docs\".\n"
	     "_t410trace_devices() {\n"
	     "\t# what is on a device, not loops and bridges\n"
	     "\tlocal -a places=(/sys/{block,class/net,class/infiniband}/*/device(N:h:t))\n"
	     "\tcompadd -- all $places\n"
	     "}\n"
	     "_t410trace() {\n"
	     "\tlocal -a commands=(");
	for (size_t i = 1; commands[i]; i++) {
		printf("\t\t'%s:", commands[i]->name);
		put_brief(commands[i]->brief, ZSH_QUOTE);
		puts("'");
	}
	puts("\t)\n"
	     "\t[[ $CURRENT -ne 2 || $words[2] == -* ]] || _describe command commands\n"
	     "\tlocal command=$words[2]\n"
	     "\tif (( CURRENT > 2 && $commands[(I)$command:*] )); then\n"
	     "\t\tshift words\n"
	     "\t\t(( CURRENT-- ))\n"
	     "\telse\n"
	     "\t\tcommand=\n"
	     "\tfi\n"
	     "\tcase $command in");
	for (size_t i = 1; commands[i]; i++) {
		printf("\t%s)\n", commands[i]->name);
		zsh_command(commands[i]);
	}
	puts("\t*)");
	zsh_command(commands[0]);
	puts("\tesac\n"
	     "}\n"
	     "_t410trace \"$@\"");
}

static void fish_option(const struct command *c, const struct option_row *o)
{
	printf("complete -c t410trace -n '__t410trace_is %s' -l %s", c->name[0] ? c->name : "main",
	       o->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	switch (argument_of(o)) {
	case ARG_NONE:
		break;
	case ARG_CHOICE:
		fputs(" -x -a '", stdout);
		put_choice_words(o);
		putchar('\'');
		break;
	case ARG_FILE:
		fputs(" -r -F", stdout);
		break;
	case ARG_FOLDER:
		fputs(" -x -a '(__fish_complete_directories)'", stdout);
		break;
	case ARG_DEVICE:
		fputs(" -x -a '(__t410trace_devices)'", stdout);
		break;
	case ARG_TEXT:
		fputs(" -x", stdout);
		break;
	}
	fputs(" -d '", stdout);
	put_option_brief(o, FISH_QUOTE);
	puts("'");
}

static void fish(void)
{
	const struct option_row *o;

	puts("# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n"
	     "# Completion for t410trace; made from its option rows by \"make docs\".");
	fputs("set -g __t410trace_commands", stdout);
	put_names();
	puts("\n"
	     "function __t410trace_is\n"
	     "\tset -l words (commandline -opc)\n"
	     "\tset -l command main\n"
	     "\tif set -q words[2]; and contains -- $words[2] $__t410trace_commands\n"
	     "\t\tset command $words[2]\n"
	     "\tend\n"
	     "\ttest $command = $argv[1]\n"
	     "end\n"
	     "function __t410trace_devices\n"
	     "\techo all\n"
	     "\t# what is on a device, not loops and bridges\n"
	     "\tfor place in /sys/{block,class/net,class/infiniband}/*/device\n"
	     "\t\tbasename (dirname $place)\n"
	     "\tend\n"
	     "end");
	for (size_t i = 1; commands[i]; i++) {
		printf("complete -c t410trace -n 'test (count (commandline -opc)) -eq 1' -a %s -d "
		       "'",
		       commands[i]->name);
		put_brief(commands[i]->brief, FISH_QUOTE);
		puts("'");
	}
	puts("complete -c t410trace -n '__t410trace_is help' -f -a \"$__t410trace_commands\"\n"
	     "complete -c t410trace -l help -d 'All options'\n"
	     "complete -c t410trace -l usage -d 'A short form'\n"
	     "complete -c t410trace -l version -d 'The version'");
	for (size_t c = 0; commands[c]; c++)
		for (size_t i = 0; (o = option_at(commands[c], i)); i++)
			if (o->name)
				fish_option(commands[c], o);
}

int completion(const char *shell)
{
	static const struct {
		const char *name;
		void (*put)(void);
	} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (!strcmp(shells[i].name, shell)) {
			shells[i].put();
			return 0;
		}
	fprintf(stderr, "gendoc: %s: only bash, zsh and fish are known\n", shell);
	return 1;
}
