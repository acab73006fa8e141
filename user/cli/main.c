// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "version.h"

const char *argp_program_version = "t410trace " T410TRACE_VERSION " (" T410TRACE_COMMIT ")";

/*
 * If standard output or error is closed at the start, our output would end up in the next file that
 * we open: a recording, the accounts. Descriptors opened for reading refuse writes.
 */
static int hold_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* the lowest free number: this one */
		if (open("/dev/null", O_RDONLY) != fd)
			return -1;
	}
	return 0;
}

static int unknown_command(const char *word, struct diag *d)
{
	struct stat st;

	str_append(d->help, sizeof(d->help), "; \"t410trace -- %s\" runs and follows a program",
		   word);
	if (!stat(word, &st) && S_ISREG(st.st_mode))
		str_append(d->help, sizeof(d->help), ", \"t410trace report %s\" reads a recording",
			   word);
	output_diag("t410trace", d);
	return EXIT_USAGE;
}

static bool parsing;

/* --help, --version and "help" exit while options are parsed, without checking their output. */
static void end_of_help(void)
{
	if (parsing && output_finish("t410trace"))
		_exit(EXIT_FAILURE);
}

static int run(const struct command *c, int argc, char **argv)
{
	struct options o;
	struct diag d = { 0 };
	int status;

	parsing = true;
	options_parse(commands, c, argc, argv, &o);
	parsing = false;
	status = formats_writable(&o.run.output, &d) ? EXIT_FAILURE : c->run(&o);
	if (d.what[0])
		output_diag(o.who, &d);
	options_free(&o);
	return status;
}

int main(int argc, char **argv)
{
	const struct command *c;
	struct diag d = { 0 };
	char name[64];

	if (hold_standard_files() || atexit(end_of_help))
		return EXIT_FAILURE;
	if (argc < 2 || argv[1][0] == '-')
		return run(commands[0], argc, argv);
	c = command_find(commands, argv[1], &d);
	if (!c)
		return unknown_command(argv[1], &d);
	/* argp takes the name in its messages from here */
	snprintf(name, sizeof(name), "t410trace %s", c->name);
	argv[1] = name;
	return run(c, argc - 1, argv + 1);
}
