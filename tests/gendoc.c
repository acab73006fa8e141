// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gendoc man < man/t410trace.1.in    the manual page, with OPTIONS of each command
 * gendoc completion SHELL            completion for bash, zsh or fish
 * gendoc recording < docs/RECORDING.md    that page, with the events of recordings
 *
 * The first two come from the option rows that the program itself parses, so they cannot
 * say anything else than --help. In the manual page's source, a line
 * "@OPTIONS name@" is replaced by the options of that command, "@EXIT_STATUS@" by what
 * exit statuses mean.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "gendoc_completion.h"
#include "recording_format.h"
#include "trace/fields.h"

#define GROUPS 5

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

static void put_doc(const struct option_row *o)
{
	char *doc = option_doc(o);

	put_roff(doc ? doc : "");
	free(doc);
}

static void put_option(const struct option_row *o)
{
	puts(".TP");
	fputs("\\fB", stdout);
	if (o->letter)
		printf("\\-%c\\fR, \\fB", o->letter);
	fputs("\\-\\-", stdout);
	put_roff(o->name);
	fputs("\\fR", stdout);
	if (o->arg) {
		fputs(" \\fI", stdout);
		put_roff(o->arg);
		fputs("\\fR", stdout);
	}
	putchar('\n');
	put_doc(o);
	puts(".");
}

static void put_options(const struct command *c)
{
	const struct option_row *o;

	for (int group = 0; group < GROUPS; group++)
		for (size_t i = 0; (o = option_at(c, i)); i++) {
			if (o->group != group)
				continue;
			if (o->name)
				put_option(o);
			else
				printf(".SS %s\n", o->doc);
		}
}

static void put_exit_statuses(void)
{
	for (int i = 0; i < NR_EXIT_STATUSES; i++) {
		printf(".TP\n.B %d\n", i);
		put_roff(exit_statuses[i].text);
		putchar('\n');
	}
}

static int man(void)
{
	char line[1024], name[32];

	while (fgets(line, sizeof(line), stdin)) {
		const struct command *command = NULL;

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
		for (size_t i = 0; commands[i]; i++)
			if (!strcmp(commands[i]->name, name))
				command = commands[i];
		if (!command) {
			fprintf(stderr, "gendoc: no command \"%s\"\n", name);
			return 1;
		}
		put_options(command);
	}
	return 0;
}

#define EVENTS	   "<!-- events -->\n"
#define EVENTS_END "<!-- end of events -->\n"
#define WIDTH	   100

/* The fields of an event as a text, in which commas may end a line */
static void put_flags(FILE *f, const struct fields *rows)
{
	const char *between = "flags (";

	for (size_t i = 0; i < rows->nr; i++) {
		if (!rows->rows[i].flag)
			continue;
		fprintf(f, "%s%u %s", between, rows->rows[i].flag, rows->rows[i].name);
		between = ", ";
	}
	putc(')', f);
}

static const char *name_at(const struct fields *rows, size_t offset)
{
	for (size_t i = 0; i < rows->nr; i++)
		if (rows->rows[i].name && rows->rows[i].offset == offset)
			return rows->rows[i].name;
	return "?";
}

static void put_number(FILE *f, const struct fields *rows, const struct field *field)
{
	switch (field->base) {
	case BASE_TIME:
		fprintf(f, "delta from the last time to %s, which is the last time then",
			field->name);
		break;
	case BASE_FIELD:
		fprintf(f, "delta %s − %s", field->name, name_at(rows, field->of));
		break;
	case BASE_LENGTH:
		fprintf(f, "delta %s − (end_ns − start_ns)", field->name);
		break;
	default:
		fputs(field->name, f);
	}
}

static void put_field(FILE *f, const struct fields *rows, const struct field *field);

static void put_list(FILE *f, const struct field *list)
{
	fprintf(f, "number of %s (at most %llu), for each: ", list->name,
		(unsigned long long)list->max);
	for (size_t i = 0; i < list->each->nr; i++) {
		fputs(i ? ", " : "", f);
		put_field(f, list->each, &list->each->rows[i]);
	}
}

static void put_field(FILE *f, const struct fields *rows, const struct field *field)
{
	static const char *const own[] = {
		[FIELD_WHO] = "key index, as with slices",
		[FIELD_CPU] = "CPU",
		[FIELD_SOCKET] = "index of the socket",
		[FIELD_PLACE] = "index of the socket + 1, 0 for none",
		[FIELD_PROBE] = "index of the probe",
		[FIELD_DEVICE] = "index of the device",
		[FIELD_PART] = "index of the part",
		[FIELD_INSTANCE] = "instance + 1, 0 for none",
		[FIELD_GROUP] = "group",
		[FIELD_READINGS] =
			"for each counter of the group: value, delta enabled − (end_ns − "
			"start_ns), delta running − enabled",
		[FIELD_ENDS] = "with its flag for each socket delta end − time_ns",
	};

	if (field->unless)
		fprintf(f, "unless %s: ", name_at(rows, field->unless));
	if (field->type == FIELD_FLAGS)
		put_flags(f, rows);
	else if (field->type == FIELD_TEXT && field->size <= RECORDING_MAX_TEXT)
		fprintf(f, "text %s (at most %u bytes)", field->name, field->size - 1);
	else if (field->type == FIELD_TEXT)
		fprintf(f, "text %s", field->name);
	else if (field->type == FIELD_TOTALS)
		fprintf(f, "number of %s, and these in the order of `user/trace/fields.c`",
			field->name);
	else if (field->type == FIELD_LIST)
		put_list(f, field);
	else if (field->type < FIELD_OWN)
		put_number(f, rows, field);
	else
		fputs(own[field->type], f);
}

/* The row of a place, from 0 on; NULL behind the last one */
static const struct field *field_in(const struct fields *rows, size_t place)
{
	for (size_t i = 0; i < rows->nr; i++)
		if (rows->placed ? rows->rows[i].place == place + 1 : i == place)
			return &rows->rows[i];
	return NULL;
}

/* A list's item, with lines as long as those of the page */
static void put_wrapped(char *text)
{
	size_t column = 0;

	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		size_t length = 0;

		for (const char *c = word; *c; c++)
			length += (*c & 0xc0) != 0x80;
		if (column && column + 1 + length > WIDTH) {
			printf("\n  %s", word);
			column = 2 + length;
		} else {
			printf("%s%s", column ? " " : "", word);
			column += length + (column > 0);
		}
	}
	putchar('\n');
}

static bool put_event(const struct trace_row *row)
{
	const struct field *field;
	const char *between = "";
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return false;
	fprintf(f, "- %u, **%s**", row->code * 2, row->name);
	if (row->since)
		fprintf(f, " (version %u)", row->since);
	fputs(": ", f);
	for (size_t i = 0; (field = field_in(&row->fields, i)); i++) {
		if (field->type == FIELD_BOOL)
			continue;
		fputs(between, f);
		put_field(f, &row->fields, field);
		between = "; ";
	}
	if (fclose(f))
		return false;
	put_wrapped(text);
	free(text);
	return true;
}

static int recording(void)
{
	bool inside = false;
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		inside &= strcmp(line, EVENTS_END) != 0;
		if (!inside)
			fputs(line, stdout);
		if (strcmp(line, EVENTS))
			continue;
		inside = true;
		putchar('\n');
		for (unsigned int code = 1; code < 128; code++)
			for (size_t i = 0; i < NR_TRACE_EVENTS; i++)
				if (trace_rows[i].code == code && !put_event(&trace_rows[i]))
					return 1;
		putchar('\n');
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "man"))
		return man();
	if (argc == 3 && !strcmp(argv[1], "completion"))
		return completion(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "recording"))
		return recording();
	fprintf(stderr, "usage: gendoc man|recording|completion SHELL\n");
	return 2;
}
