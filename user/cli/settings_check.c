// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/settings_check.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "daemon/http.h"
#include "daemon/http_socket.h"
#include "daemon/private_files.h"
#include "daemon/store.h"

struct checking {
	void (*tell)(const struct diag *d);
	size_t problems;
};

static void problem(struct checking *c, const struct diag *d)
{
	c->problems++;
	c->tell(d);
}

static void parent_of(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		slash[slash == path] = '\0';
}

/* A folder that is there must be writable, one that is not can be made in its parent. */
static void check_folder(struct checking *c, const char *setting, const char *folder, bool made)
{
	char path[PATH_MAX];
	struct diag d = { 0 };
	int err;

	str_copy(path, sizeof(path), folder);
	if (made && access(path, F_OK) && errno == ENOENT)
		parent_of(path);
	if (!access(path, W_OK | X_OK))
		return;
	err = -errno;
	/* the unit makes this folder; and rights are those of the daemon's user, not of any other */
	if ((err == -ENOENT && !strcmp(path, STORE_DEFAULT_FOLDER)) ||
	    (err == -EACCES && geteuid()))
		return;
	diag_fail(&d, err, "%s: cannot write to %s: %s", setting, path, strerror(-err));
	if (err == -EROFS)
		diag_help(&d, "%s", PRIVATE_READ_ONLY);
	else
		diag_help(&d, err == -ENOENT ? "make the folder"
					     : "it must belong to the daemon's user");
	problem(c, &d);
}

static void check_readable(struct checking *c, const char *setting, const char *file)
{
	struct diag d = { 0 };

	if (!file || !file[0] || !access(file, R_OK))
		return;
	diag_fail(&d, -errno, "%s: cannot read %s: %s", setting, file, strerror(errno));
	problem(c, &d);
}

/* Those that can be opened are closed at once. */
static void check_addresses(struct checking *c, const char *list)
{
	char one[HTTP_ADDRESS_LEN], folder[HTTP_ADDRESS_LEN];

	while (http_next_address(&list, one)) {
		struct http_socket s;
		struct diag d = { 0 };
		int err;

		if (one[0] == '/') {
			str_copy(folder, sizeof(folder), one);
			parent_of(folder);
			check_folder(c, "listen", folder, false);
			continue;
		}
		err = http_socket_open(one, &s, &d);
		if (!err)
			close(s.fd);
		else if (err != -EADDRINUSE)
			problem(c, &d);
	}
}

/* Its first word, where that can only be the name of a program. The shell knows its own words. */
static void check_source(struct checking *c, const char *command)
{
	char script[PATH_MAX + 64];
	size_t length = strspn(command, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_./-");
	struct diag d = { 0 };

	if (!length || length >= PATH_MAX || (command[length] && command[length] != ' '))
		return;
	snprintf(script, sizeof(script), "command -v %.*s >/dev/null 2>&1", (int)length, command);
	if (!system(script))
		return;
	diag_fail(&d, -ENOENT, "source: there is no program %.*s", (int)length, command);
	diag_help(&d, "give its whole path: a service has a short PATH");
	problem(c, &d);
}

size_t settings_check(const struct settings *s, void (*tell)(const struct diag *d))
{
	const struct serve_config *serve = &s->values.serve;
	const struct run_options *run = &s->values.run;
	struct checking c = { .tell = tell };
	char folder[PATH_MAX];

	str_copy(folder, sizeof(folder), serve->state);
	parent_of(folder);
	check_folder(&c, "state", folder, false);
	if (serve->spool[0])
		check_folder(&c, "spool", serve->spool, true);
	check_readable(&c, "pci-map", run->pci_map);
	check_addresses(&c, serve->listen);
	for (size_t i = 0; i < run->sources.nr; i++)
		check_source(&c, run->sources.items[i]);
	return c.problems;
}
