// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Why programs cannot be loaded. The errno alone does not tell: the verifier rejects a program with
 * the same EACCES as a security module. Only the verifier writes a log, which libbpf prints, so
 * with a log missing rights are not the cause.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/bpf/ledger_internal.h"

#define LOCKDOWN   "/sys/kernel/security/lockdown"
/* libbpf's words around the log of a program */
#define LOG_BEGIN  "-- BEGIN PROG LOAD LOG --\n"
#define LOG_END	   "-- END PROG LOAD LOG --"
/* begin of the log's last line, which is a summary and no reason */
#define LOG_COUNTS "processed "

static void (*log_line)(const char *text);

/* The first of each kind that libbpf printed since the load began: later ones are consequences. */
static struct {
	char warning[256];
	char program[64];
	char lines[300]; /* the last ones of the verifier's log, "" without a log */
	char last[100];
} said;
static char reason[256];

/* @line is the begin of one; returns the begin of the next, NULL after the last. */
static const char *next_of(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : NULL;
}

/* Keep the lines of a log that tell the reason. */
static void keep_log(const char *message, const char *log)
{
	const char *last[3] = { NULL };

	for (const char *line = log; line && *line && strncmp(line, LOG_END, strlen(LOG_END)) != 0;
	     line = next_of(line)) {
		if (*line == '\n' || !strncmp(line, LOG_COUNTS, strlen(LOG_COUNTS)))
			continue;
		memmove(last, last + 1, sizeof(last) - sizeof(last[0]));
		last[ARRAY_SIZE(last) - 1] = line;
	}
	for (size_t i = 0; i < ARRAY_SIZE(last); i++) {
		if (!last[i])
			continue;
		snprintf(said.last, sizeof(said.last), "%.*s", (int)strcspn(last[i], "\n"),
			 last[i]);
		str_append(said.lines, sizeof(said.lines), "%s%s", said.lines[0] ? "; " : "",
			   said.last);
	}
	/* "libbpf: prog 'ledger_switch': -- BEGIN" */
	if (sscanf(message, "%*[^']'%63[^']'", said.program) != 1)
		str_copy(said.program, sizeof(said.program), "a program");
}

static int on_libbpf_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *message;
	const char *log;

	if (level == LIBBPF_DEBUG || vasprintf(&message, fmt, ap) < 0)
		return 0;
	log = strstr(message, LOG_BEGIN);
	if (log && !said.lines[0])
		keep_log(message, log + strlen(LOG_BEGIN));
	if (level == LIBBPF_WARN && !said.warning[0])
		snprintf(said.warning, sizeof(said.warning), "%.*s", (int)strcspn(message, "\n"),
			 message);
	if (log_line)
		log_line(message);
	free(message);
	return 0;
}

void ledger_listen(void (*log)(const char *text))
{
	log_line = log;
	libbpf_set_print(on_libbpf_print);
}

void ledger_load_begins(void)
{
	memset(&said, 0, sizeof(said));
}

static bool is_locked_down(void)
{
	char line[64];

	return !read_line_at(AT_FDCWD, LOCKDOWN, line, sizeof(line)) &&
	       strstr(line, "[confidentiality]");
}

static void say_help(int err, struct diag *d)
{
	if (is_locked_down())
		diag_help(d, "the kernel is locked down (confidentiality): no BPF program may read "
			     "its memory. Boot with lockdown=integrity");
	else if (err == -EPERM)
		diag_help(d, "run as root, or give the program the capabilities CAP_BPF and "
			     "CAP_PERFMON; \"t410trace check\" shows which are missing");
	else if (said.lines[0])
		diag_help(d,
			  "if \"t410trace check\" finds nothing missing, please report this as a "
			  "bug, with the kernel's release; the verifier's last lines: %s",
			  said.lines);
	else if (access(KERNEL_TYPES, R_OK))
		diag_help(d, "the kernel has no type information (" KERNEL_TYPES "): use one built "
			     "with CONFIG_DEBUG_INFO_BTF=y");
	else
		diag_help(d, "\"t410trace check\" tells what this kernel lacks");
}

int ledger_load_problem(int err, const char *what, const char *compiler, struct diag *d)
{
	const char *number = strerror(-err);

	if (err == -EACCES && !said.lines[0])
		err = -EPERM;
	if (err != -EPERM && said.lines[0])
		snprintf(reason, sizeof(reason), "the verifier refuses %s, compiled by %.40s: %s",
			 said.program, compiler, said.last);
	else
		snprintf(reason, sizeof(reason), "%s%s%.200s%s", number,
			 said.warning[0] ? " (" : "", said.warning, said.warning[0] ? ")" : "");
	diag_fail(d, err, "%s: %s", what, reason);
	say_help(err, d);
	return err;
}

const char *ledger_load_reason(void)
{
	return reason;
}
