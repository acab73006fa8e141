// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/files_apart.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* @name: what it is, or the option that names it; @written: emptied before it is filled */
struct named_file {
	const char *name;
	const char *path;
	bool written;
};

static bool is_stream(const struct named_file *f)
{
	return !strcmp(f->path, "-");
}

/* Devices, pipes and terminals may be given twice: nothing in them is overwritten. */
static bool find(const struct named_file *f, struct stat *ret)
{
	bool is_stdin = !f->written && is_stream(f);

	return !(is_stdin ? fstat(STDIN_FILENO, ret) : stat(f->path, ret)) && S_ISREG(ret->st_mode);
}

static bool are_same(const struct named_file *a, const struct named_file *b)
{
	struct stat x, y, any;

	if (find(a, &x) && find(b, &y))
		return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
	/* Neither is there yet. */
	return !strcmp(a->path, b->path) && stat(a->path, &any) && errno == ENOENT;
}

static int check_pair(const struct named_file *a, const struct named_file *b, struct diag *d)
{
	if (!a->path || !b->path || !b->written || is_stream(b) || !are_same(a, b))
		return 0;
	if (a->written)
		return diag_fail(d, -EINVAL, "%s and %s name the same file, %s", a->name, b->name,
				 b->path);
	return diag_fail(d, -EINVAL, "%s %s would overwrite %s: give another file", b->name,
			 b->path, a->name);
}

int files_apart(const struct options *o, struct diag *d)
{
	const struct output_options *out = &o->run.output;
	const struct named_file files[] = {
		{ "the recording", o->run.file, false },
		{ "the file of counts", o->counts.file, false },
		{ "-o", out->file, true },
		{ "--html", out->html, true },
		{ "--csv", out->csv, true },
		{ "--perfetto", out->perfetto, true },
	};
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(files); i++)
		for (size_t k = i + 1; !err && k < ARRAY_SIZE(files); k++)
			err = check_pair(&files[i], &files[k], d);
	return err;
}
