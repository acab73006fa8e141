// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/files_apart.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/out_file.h"
#include "cli/formats.h"
#include "cli/state_file.h"

/* @name: a description, or the option that names it; @written: existing content is replaced */
struct named_file {
	const char *name;
	const char *path;
	bool written;
};

/* Devices, pipes and terminals may be given twice: writing overwrites nothing there. */
static bool find(const struct named_file *f, struct stat *ret)
{
	bool is_stdin = !f->written && !strcmp(f->path, "-");

	return !(is_stdin ? fstat(STDIN_FILENO, ret) : stat(f->path, ret)) && S_ISREG(ret->st_mode);
}

static bool are_same(const struct named_file *a, const struct named_file *b)
{
	cleanup_free char *first = NULL, *second = NULL;
	struct stat x, y;

	if (out_file_is_stdout(b->path))
		return a->written && out_file_is_stdout(a->path);
	if (find(a, &x) && find(b, &y))
		return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
	if (!stat(a->path, &x) || !stat(b->path, &y))
		return false;
	/* Neither exists yet. */
	first = out_file_resolve(a->path);
	second = out_file_resolve(b->path);
	return first && second && !strcmp(first, second);
}

static int check_pair(const struct named_file *a, const struct named_file *b, struct diag *d)
{
	if (!a->path || !b->path || !b->written || !are_same(a, b))
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
	struct named_file files[4 + NR_FORMATS] = {
		{ "the recording", o->run.file, false },
		{ "the file of counts", o->counts.file, false },
		{ "the accounts", state_file_name(o->account.file), false },
		{ "-o", out->file, true },
	};
	int err = 0;

	for (size_t i = 0; i < NR_FORMATS; i++)
		files[4 + i] = (struct named_file){ report_formats[i].option,
						    format_path(&report_formats[i], out), true };
	for (size_t i = 0; !err && i < ARRAY_SIZE(files); i++)
		for (size_t k = i + 1; !err && k < ARRAY_SIZE(files); k++)
			err = check_pair(&files[i], &files[k], d);
	return err;
}
