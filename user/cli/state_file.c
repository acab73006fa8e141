// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/state_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "daemon/store.h"

#define BLANKS " \t\r"

/* "state = /a/b" in a line of settings; NULL for anything else */
static char *state_in(char *line)
{
	char *at = line + strspn(line, BLANKS);
	size_t length;

	if (strncmp(at, "state", 5) != 0)
		return NULL;
	at += 5 + strspn(at + 5, BLANKS);
	if (*at++ != '=')
		return NULL;
	at += strspn(at, BLANKS);
	for (length = strlen(at); length && strchr(BLANKS, at[length - 1]); length--)
		at[length - 1] = '\0';
	return at[0] == '/' ? at : NULL;
}

const char *state_file_name(const char *given)
{
	static char state[PATH_MAX];
	cleanup_fclose FILE *f = NULL;
	char line[PATH_MAX + 64], *found;

	if (given || state[0])
		return given ? given : state;
	str_copy(state, sizeof(state), STORE_DEFAULT_FILE);
	f = fopen(SERVE_CONFIG_FILE, "re");
	while (f && next_line(f, line, sizeof(line)) > 0) {
		found = state_in(line);
		if (found)
			str_copy(state, sizeof(state), found);
	}
	return state;
}
