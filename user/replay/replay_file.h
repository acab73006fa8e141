/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A trace file from start to end: open, replay, and the notes for the user. */
#ifndef REPLAY_REPLAY_FILE_H
#define REPLAY_REPLAY_FILE_H

#include "sources/baytrail/counts_join.h"
#include "replay/replay.h"
#include "trace/recording.h"
#include "trace/tee.h"

/**
 * struct replay_file - a file that is replayed
 * @who: name of the command, for messages
 * @args: the user's options
 * @counts: counts of another tool that belong to it, NULL for none
 * @also: additional sinks for the replay's events; set before replay_file_read()
 * @replay: from replay_file_open() on
 * @file, @join, @end: of replay_file.c
 */
struct replay_file {
	const char *who;
	const struct run_options *args;
	const struct counts_joining *counts;
	struct tee also;
	struct replay *replay;
	struct trace_file *file;
	struct counts_join *join;
	struct trace_end end;
};

/**
 * replay_file_open() - read the header and prepare
 * @f: has @who and @args; always needs replay_file_close()
 * @output: where reports go; copied
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int replay_file_open(struct replay_file *f, const struct replay_output *output, struct diag *d);

/** replay_file_header() - of the replayed trace; valid until replay_file_close() */
const struct trace_header *replay_file_header(const struct replay_file *f);

/** replay_file_name() - its name for messages */
const char *replay_file_name(const struct replay_file *f);

/** replay_file_progress() - as trace_file_progress() */
void replay_file_progress(const struct replay_file *f, uint64_t *ret_done, uint64_t *ret_all);

/** replay_file_wait() - as trace_file_wait() */
void replay_file_wait(struct replay_file *f, const struct input_wait *w);

/** replay_file_ended() - as trace_file_ended() */
bool replay_file_ended(const struct replay_file *f);

/** replay_file_read() - all events; an error when no interval is complete; or 0 */
int replay_file_read(struct replay_file *f, struct diag *d);

/** replay_file_describe() - print missing parts on standard error; true when there are any */
bool replay_file_describe(const struct replay_file *f);

void replay_file_close(struct replay_file *f);

#endif
