/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program as a source of counters: it is started, read, and started again when it ends or hangs.
 * Nothing that it prints or does may hold up the run, or become bytes that were not counted.
 */
#ifndef LIVE_PROGRAM_PROGRAM_H
#define LIVE_PROGRAM_PROGRAM_H

#include "base/clock.h"
#include "live/program/lines.h"
#include "live/program/process.h"
#include "live/program/text.h"
#include "live/program/users.h"
#include "live/program/windows.h"

/* A busy machine may take some seconds to start a program. */
#define PROGRAM_GREET_NS (10 * NS_PER_S)

/* Pending news; the newest are kept. */
#define PROGRAM_NEWS	 8
#define PROGRAM_NEWS_LEN 192
#define PROGRAM_WHY_LEN	 96

/**
 * struct program - a program; the rest is private
 * @command: as for the shell
 * @optional: the run goes on without it, and its header may come later. It tells of devices, and
 *	counts at their links
 * @name: its own name; before its first header its number
 * @header: the first one; all later ones must be like it. That of an optional program may change
 * @placed: its devices are in the header of the trace; set by its owner, cleared with a new header
 * @windows: its readings; set up by its owner before program_begin()
 * @looks: by device of its header; as above
 * @bad_lines: lines that were invalid, or came at the wrong time
 * @restarts: times it was started again
 * @wake_ns: its lines are not read before this time
 * @error: of the sink of windows, or no memory
 */
struct program {
	const char *command;
	bool optional;
	char name[PROGRAM_NAME_LEN];
	struct program_header header;
	bool placed;
	struct program_windows windows;
	struct program_looks looks[PROGRAM_MAX_DEVICES];
	uint64_t bad_lines;
	uint64_t restarts;
	uint64_t wake_ns;
	int error;
	/* private */
	struct program_process process;
	struct program_lines out;
	struct program_lines err;
	struct program_users users;
	bool running;
	bool greeted;
	uint64_t now_ns;
	uint64_t started_ns;
	uint64_t good_ns;
	uint64_t again_ns;
	uint64_t pause_ns;
	char why[PROGRAM_WHY_LEN];
	char told_why[PROGRAM_WHY_LEN];
	char said[PROGRAM_NEWS_LEN];
	uint64_t told_bad;
	uint64_t tell_bad_ns;
	uint64_t errors_ns;
	unsigned int errors;
	char news[PROGRAM_NEWS][PROGRAM_NEWS_LEN];
	size_t nr_news;
};

/**
 * program_open() - start it for the first time
 * @p: all zero but for @optional
 * @command: as for the shell, or unix:PATH; must outlive @p
 * @number: its name before its header has one, from 1 on
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int program_open(struct program *p, const char *command, size_t number, struct diag *d);

/**
 * program_greet() - wait for its header
 * @p: opened
 * @deadline_ns: until then
 * @d: gets the reason if there is none, with the program's last error line
 *
 * Return: 0, -ENODATA, or an error of the header.
 */
int program_greet(struct program *p, uint64_t deadline_ns, struct diag *d);

/** program_cannot_run() - it is not there, or has nothing to tell: as its status says (docs/SOURCES.md) */
bool program_cannot_run(const struct program *p);

/** program_begin() - begin the books: readings from now on count */
void program_begin(struct program *p, uint64_t now_ns);

/** program_fd() - readable when it has printed something; -1: not polled, see @wake_ns */
int program_fd(const struct program *p);

/** program_next_ns() - when program_step() has timed work */
uint64_t program_next_ns(const struct program *p);

/**
 * program_step() - read its output, and check its health
 *
 * Return: 0 or @error.
 */
int program_step(struct program *p, uint64_t now_ns);

/** program_mark() - read all of its output, and hand it on; as program_step() */
int program_mark(struct program *p, uint64_t now_ns);

/** program_news() - take a line of news; false when there is none */
bool program_news(struct program *p, char *ret_text, size_t size);

/** program_trouble() - has it, or a counter of it, long had no good reading? @ret_text gets why */
bool program_trouble(const struct program *p, uint64_t now_ns, char *ret_text, size_t size);

/** program_close() - end it; program_free() waits for that, for at most a second */
void program_close(struct program *p);
void program_free(struct program *p);

#endif
