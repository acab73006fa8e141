// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/cgroup2.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/magic.h>

#include "base/cleanup.h"
#include "base/text.h"

/* Of the root of a cgroup tree */
#define ROOT_INODE 1

/* Fields of a mountinfo line before the optional ones, see proc(5). */
enum mount_field {
	FIELD_ID,
	FIELD_PARENT,
	FIELD_DEVICE,
	FIELD_ROOT,
	FIELD_POINT,
	FIELD_OPTIONS,
	NR_FIELDS,
};

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/*
 * The kernel writes blanks, newlines and backslashes of a path as a backslash and three octal
 * digits. Undo that in place; false for any other escape.
 */
static bool unescape(char *text)
{
	char *to = text;
	int c;

	while (*text) {
		if (*text != '\\') {
			*to++ = *text++;
			continue;
		}
		if (!is_octal(text[1]) || !is_octal(text[2]) || !is_octal(text[3]))
			return false;
		c = (text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0');
		if (c == 0 || c > 255)
			return false;
		*to++ = (char)c;
		text += 4;
	}
	*to = '\0';
	return true;
}

/* Is it in a list with commas? */
static bool has_option(char *list, const char *option)
{
	char *save = NULL;

	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save))
		if (!strcmp(word, option))
			return true;
	return false;
}

/*
 * Take a line apart. Return true and set @ret_root and @ret_point, which point into @line, when
 * it is a mount of a cgroup2 file system or, with @controller, of its v1 hierarchy.
 */
static bool parse_mount(char *line, const char *controller, char **ret_root, char **ret_point)
{
	char *field[NR_FIELDS];
	char *save = NULL;
	char *word = strtok_r(line, " \n", &save);

	for (size_t i = 0; i < NR_FIELDS; i++) {
		if (!word)
			return false;
		field[i] = word;
		word = strtok_r(NULL, " \n", &save);
	}
	/* Any number of optional fields, ended by a lone hyphen. */
	while (word && strcmp(word, "-"))
		word = strtok_r(NULL, " \n", &save);
	word = word ? strtok_r(NULL, " \n", &save) : NULL;
	if (!word || strcmp(word, controller ? "cgroup" : "cgroup2"))
		return false;
	if (controller) {
		strtok_r(NULL, " \n", &save); /* device name, anything */
		word = strtok_r(NULL, " \n", &save);
		if (!word || !has_option(word, controller))
			return false;
	}
	if (field[FIELD_POINT][0] != '/' || !unescape(field[FIELD_POINT]))
		return false;
	*ret_root = field[FIELD_ROOT];
	*ret_point = field[FIELD_POINT];
	return true;
}

bool cgroup_mount_is_whole(const char *mount)
{
	struct statfs fs;
	struct stat st;

	return !statfs(mount, &fs) && !stat(mount, &st) && st.st_ino == ROOT_INODE &&
	       (fs.f_type == CGROUP2_SUPER_MAGIC || fs.f_type == CGROUP_SUPER_MAGIC);
}

/* Rank of a mount: 2 has the root, 1 calls itself the root, 0 does not. */
static int rank_of(const char *root, const char *point)
{
	return cgroup_mount_is_whole(point) ? 2 : !strcmp(root, "/");
}

static int find(FILE *mountinfo, const char *controller, char *ret_path, size_t size)
{
	cleanup_free char *found = NULL;
	cleanup_free char *line = NULL;
	char *root, *point;
	size_t room = 0;
	int best = -1;

	errno = 0;
	while (getline(&line, &room, mountinfo) >= 0) {
		int rank;

		if (!parse_mount(line, controller, &root, &point))
			continue;
		rank = rank_of(root, point);
		if (rank <= best)
			continue;
		best = rank;
		free(found);
		found = strdup(point);
		if (!found)
			return -ENOMEM;
	}
	if (!feof(mountinfo))
		return errno == ENOMEM ? -ENOMEM : -EIO;
	if (!found)
		return -ENOENT;
	if (strlen(found) >= size)
		return -ENAMETOOLONG;
	return str_copy(ret_path, size, found);
}

int cgroup2_mount_find(FILE *mountinfo, char *ret_path, size_t size)
{
	return find(mountinfo, NULL, ret_path, size);
}

int cgroup1_mount_find(FILE *mountinfo, const char *controller, char *ret_path, size_t size)
{
	return find(mountinfo, controller, ret_path, size);
}
