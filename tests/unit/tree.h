/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A directory tree of its own for a test, below the system's temporary directory. */
#ifndef TEST_TREE_H
#define TEST_TREE_H

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory of the tests, seen from where they are started. */
#ifndef TESTS_DIR
#define TESTS_DIR "tests"
#endif

struct tree {
	char root[64];
};

static inline void tree_make(struct tree *tree)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(tree->root, sizeof(tree->root), "%.40s/t410-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(tree->root));
}

/* Full path of something in the tree; its directories are made. */
static inline void tree_path(const struct tree *tree, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", tree->root, name);
	for (char *at = path + strlen(tree->root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
}

static inline void tree_write(const struct tree *tree, const char *name, const void *data,
			      size_t len)
{
	char path[PATH_MAX];
	FILE *file;

	tree_path(tree, name, path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static inline void tree_put(const struct tree *tree, const char *name, const char *text)
{
	tree_write(tree, name, text, strlen(text));
}

static inline void tree_link(const struct tree *tree, const char *name, const char *target)
{
	char path[PATH_MAX];

	tree_path(tree, name, path);
	assert_int_equal(symlink(target, path), 0);
}

static inline void tree_drop(const struct tree *tree, const char *name)
{
	char path[PATH_MAX];

	tree_path(tree, name, path);
	assert_int_equal(remove(path), 0);
}

/* Fill the tree from tests/fixtures/NAME-sysfs.txt. */
static inline void tree_make_machine(struct tree *tree, const char *name)
{
	char command[512];

	tree_make(tree);
	assert_int_equal(rmdir(tree->root), 0);
	snprintf(command, sizeof(command), "%s/fixtures/mk-sysfs.sh %s/fixtures/%s-sysfs.txt %s",
		 TESTS_DIR, TESTS_DIR, name, tree->root);
	assert_int_equal(system(command), 0);
}

/* Fill the tree with a machine of tests/fixtures/platforms.py. */
static inline void tree_make_platform(struct tree *tree, const char *name)
{
	char command[512];

	tree_make(tree);
	assert_int_equal(rmdir(tree->root), 0);
	snprintf(command, sizeof(command), "%s/fixtures/platforms.py %s %s", TESTS_DIR, name,
		 tree->root);
	assert_int_equal(system(command), 0);
}

/* The 34 PMUs of a virtual T410. */
static inline void tree_make_t410(struct tree *tree)
{
	tree_make_machine(tree, "t410");
}

/* The 10 PMUs of a virtual Grace. */
static inline void tree_make_grace(struct tree *tree)
{
	tree_make_machine(tree, "grace");
}

static inline int tree_remove_one(const char *path, const struct stat *st, int type,
				  struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void tree_remove(const struct tree *tree)
{
	assert_int_equal(nftw(tree->root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

#endif
