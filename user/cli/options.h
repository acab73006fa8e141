/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options of all commands, and settings of the daemon: a row each. A row has the name, the parser
 * for its text, the field for the value, and the text for --help, the manual page and shell
 * completion.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "counts_options.h"
#include "daemon/serve_config.h"
#include "job.h"
#include "run_options.h"

/**
 * struct stat_options - options of t410trace stat only; texts are as typed
 * @metrics, @events, @windows: see struct metric_options
 * @socket: only PMUs of this socket, -1 = all
 * @per_port, @per_gpu: see struct metric_options
 * @pid: process to follow, 0 = none
 */
struct stat_options {
	struct text_list metrics;
	struct text_list events;
	struct text_list windows;
	int32_t socket;
	bool per_port;
	bool per_gpu;
	int32_t pid;
};

/**
 * struct machine_options - the machine that list and topology show
 * @sysfs: a copy of /sys, NULL for the machine's own
 * @platform: file with the user's own rows, in use already; NULL for none
 * @pmu: the PMU or family that list shows, NULL: all
 * @explain: the PMU that list explains, NULL: none
 * @lspci: a dump of PCI functions instead, NULL for none
 * @ports: topology also shows registers of root ports
 */
struct machine_options {
	const char *sysfs;
	const char *pmu;
	const char *explain;
	const char *platform;
	const char *lspci;
	bool ports;
};

/**
 * struct account_options - options of job and jobs
 * @file: the store, NULL for the usual one
 * @since_ns: nothing from before this time (CLOCK_REALTIME), 0 = from the beginning
 * @scheduler: only its jobs, SCHEDULER_NONE = all
 * @name, @wanted: the job as given, and as its account has it
 * @compact: one line of text for another database
 * @decode: such a line, "-" for one from standard input
 * @wait_ns: time to wait for the job's end, UINT64_MAX = none
 * @all: all jobs of this id
 * @history: with its intervals
 * @merge, @merge_more: closing reports to merge, by the option and behind it
 * @nodes: the job's nodes, as a list of Slurm; NULL: not known
 * @owners: users whose files are accepted in a folder
 * @running, @ended: only running, or only ended jobs
 * @user: only jobs of this user
 * @nr: number of latest jobs, 0 = all; JOBS_USUAL: not given
 */
struct account_options {
	const char *file;
	uint64_t since_ns;
	enum scheduler scheduler;
	const char *name;
	struct job_wanted wanted;
	bool compact;
	const char *decode;
	uint64_t wait_ns;
	bool all;
	bool history;
	struct text_list merge;
	struct text_list merge_more;
	const char *nodes;
	struct job_users owners;
	bool running;
	bool ended;
	const char *user;
	uint64_t nr;
};

/* No valid number: a hundred, or as many as fit on a terminal */
#define JOBS_USUAL   UINT64_MAX
#define MAX_SETTINGS 40

/**
 * struct options - values of the rows
 * @commands, @command: all commands, and the current one
 * @topic: the command that help is about, NULL: all
 * @who: its name, for messages: "t410trace list"
 * @run: options of a run and of its reports
 * @config: the daemon's file of settings, NULL: the default one, if it exists
 * @check_config: only check the settings
 * @selftest: move known bytes instead of only checking
 * @settings: text of each setting in order, NULL = not given
 * @joined: texts of @settings that were concatenated
 */
struct options {
	const struct command *const *commands;
	const struct command *command;
	const struct command *topic;
	const char *who;
	struct run_options run;
	struct stat_options stat;
	struct counts_joining counts;
	struct machine_options machine;
	struct account_options account;
	struct serve_config serve;
	const char *config;
	bool check_config;
	bool selftest;
	const char *settings[MAX_SETTINGS];
	struct text_list joined;
};

struct option_row;

/**
 * typedef value_parser - parses a value
 * @o: the row
 * @text: as typed; the value may point to it
 * @field: the row's field
 * @d: gets the problem of @text, which the caller names; and the remedy
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
typedef int value_parser(const struct option_row *o, const char *text, void *field, struct diag *d);

/**
 * struct option_row - a row; one without a name is a heading
 * @commands: bits of the commands that have it, see struct command; 0 in rows of one command
 * @group: rows of a group are listed together
 * @doc: for people; "%s" is replaced by the names of schedulers
 * @name, @letter: "interval", 'i' or 0
 * @arg: name of its argument, NULL for a switch
 * @parse: of its argument; NULL for a switch, whose field is a bool or gets @value
 * @offset, @size: its field in struct options
 * @min, @max: bounds: nanoseconds, bytes, percent, or numbers as they are
 * @least: of times and sizes that 0 turns off: the least other one
 * @bare: unit of a time without one, NULL: a unit is required
 * @value: what a switch writes into a field of 4 bytes
 * @choice: the allowed words of its argument, by value; NULL after the last one
 * @many: of settings: may be repeated; its texts are separated by newlines
 * @setting: a setting of the daemon, too: "name = text" in its file
 * @fallback: of settings: default text, NULL: the field stays as it is
 * @restart: of settings: a change needs a restart
 */
struct option_row {
	unsigned int commands;
	int group;
	const char *doc;
	const char *name;
	int letter;
	const char *arg;
	value_parser *parse;
	size_t offset;
	size_t size;
	double min;
	double max;
	double least;
	const char *bare;
	unsigned int value;
	const char *(*choice)(unsigned int value);
	bool many;
	bool setting;
	const char *fallback;
	bool restart;
};

/* Name and argument of a row, and the field of struct options that gets it */
#define OPTION(called, short_name, takes, parser, into)                              \
	.name = (called), .letter = (short_name), .arg = (takes), .parse = (parser), \
	.offset = offsetof(struct options, into), .size = sizeof(((struct options *)NULL)->into)
#define SWITCH(called, short_name, into) OPTION(called, short_name, NULL, NULL, into)
#define AS_JSON				 SWITCH("json", 0, run.output.format), .value = OUTPUT_JSON
#define HEADING(text)			 .doc = (text)
#define WITHIN(least, most)		 .min = (least), .max = (most)

/* Rows shared by several commands, with an empty one at the end. */
extern const struct option_row shared_options[];

/** command_find() - the one of @commands with a name; NULL with a problem that lists the names */
const struct command *command_find(const struct command *const *commands, const char *name,
				   struct diag *d);

/** option_at() - rows of a command in order; NULL after the last one */
const struct option_row *option_at(const struct command *c, size_t i);

/** option_doc() - the row's whole text for people, to be freed; NULL without memory */
char *option_doc(const struct option_row *o);

/** option_set() - parse @text into the row's field of @ret; as value_parser() */
int option_set(const struct option_row *o, const char *text, struct options *ret, struct diag *d);

/**
 * options_parse() - read the command line
 * @commands: all of them, for --help
 * @c: the current one
 * @argc, @argv: from the command's name on
 * @ret: release with options_free()
 *
 * Does not return when the arguments are wrong: argp prints the problem and ends
 * the process with status EXIT_USAGE.
 */
void options_parse(const struct command *const *commands, const struct command *c, int argc,
		   char **argv, struct options *ret);
void options_free(struct options *o);

#endif
