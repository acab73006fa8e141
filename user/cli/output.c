// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/output.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

#include "base/utf8.h"
#include "report/format.h"

size_t output_width(FILE *out)
{
	struct winsize w;

	if (ioctl(fileno(out), TIOCGWINSZ, &w) || !w.ws_col)
		return OUTPUT_COLUMNS;
	return w.ws_col;
}

size_t output_height(FILE *out)
{
	struct winsize w;

	/* The last line is for the prompt. */
	return ioctl(fileno(out), TIOCGWINSZ, &w) || !w.ws_row ? 0 : w.ws_row - 1u;
}

bool output_is_pipe(FILE *out)
{
	struct stat st;

	return !fstat(fileno(out), &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

void output_wrapped(FILE *out, int indent, const char *text)
{
	output_labelled(out, indent, "", text);
}

void output_labelled(FILE *out, int indent, const char *label, const char *text)
{
	int column = 0;
	int len;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		len = (int)strcspn(text, " ");
		if (column && column + 1 + len > OUTPUT_COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		if (column)
			column += fprintf(out, " %.*s", len, text);
		else
			column = fprintf(out, "%-*s%.*s", indent, label, len, text);
		label = "";
		text += len;
	}
	if (column)
		fputc('\n', out);
}

/* Start of the lines that point at a place with a caret; the text's end if there are none. */
static const char *caret_lines(const char *what)
{
	size_t length = strlen(what);
	const char *first = strchr(what, '\n');

	return first && what[length - 1] == '^' ? first : what + length;
}

void output_diag(const char *who, const struct diag *d)
{
	const char *rest = caret_lines(d->what);
	char text[sizeof(d->what) + 64], line[sizeof(text)];

	snprintf(text, sizeof(text), "%s: %.*s", who, (int)(rest - d->what), d->what);
	/* Names are untrusted: they must not add lines or colours. */
	utf8_harmless(line, sizeof(line), text, strlen(text));
	output_wrapped(stderr, 0, line);
	while (*rest) {
		const char *next = strchrnul(++rest, '\n');

		utf8_harmless(line, sizeof(line), rest, (size_t)(next - rest));
		fprintf(stderr, "%s\n", line);
		rest = next;
	}
	utf8_harmless(line, sizeof(line), d->help, strlen(d->help));
	output_wrapped(stderr, 2, line);
}

int output_json(json_t *json)
{
	int err;

	if (!json)
		return -ENOMEM;
	err = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
	json_decref(json);
	if (err)
		return ferror(stdout) ? 0 : -ENOMEM;
	putchar('\n');
	return 0;
}

void output_append(json_t **array, json_t *item)
{
	if (json_array_append_new(*array, item)) {
		json_decref(*array);
		*array = NULL;
	}
}

int output_finish(const char *who)
{
	int err;

	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	/* If an earlier write failed, its errno is gone. */
	err = errno ? -errno : -EIO;
	fprintf(stderr, "%s: cannot write the output: %s\n", who, strerror(-err));
	return err;
}

int output_end(const char *who, int err, const struct diag *d)
{
	int finished;

	if (err)
		output_diag(who, d);
	finished = output_finish(who);
	return err ? err : finished;
}

static int refused(const struct output *o, int err, struct diag *d)
{
	diag_fail(d, err, "cannot write to %s: %s", o->path, strerror(-err));
	if (err == -EACCES || err == -EROFS)
		diag_help(d, "the file and its folder must be writable: a new file takes the place "
			     "of an older one");
	return err;
}

int output_open(const char *path, mode_t mode, struct diag *d, struct output *ret)
{
	int err;

	*ret = (struct output){ .file = stdout, .path = "standard output", .at = OUT_FILE_NONE };
	if (!path || out_file_is_stdout(path))
		return 0;
	ret->path = path;
	ret->file = NULL;
	err = out_file_open(path, mode, &ret->at);
	if (!err) {
		ret->file = fdopen(ret->at.fd, "w");
		err = ret->file ? 0 : -errno;
	}
	if (!err)
		return 0;
	out_file_close(&ret->at);
	return refused(ret, err, d);
}

int output_check(const char *path, struct diag *d)
{
	const struct output o = { .path = path };
	struct out_file at;
	struct stat st;
	int err;

	/* Opening a pipe waits for its reader, and closing it ends the reader's input. */
	if (!path || out_file_is_stdout(path) ||
	    (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return 0;
	err = out_file_open(path, OUTPUT_RECORDING, &at);
	if (err)
		return refused(&o, err, d);
	out_file_close(&at);
	return 0;
}

int output_show(struct output *o, struct diag *d)
{
	int err = out_file_publish(&o->at);

	return err ? refused(o, err, d) : 0;
}

int output_failed(const struct output *o, int err, struct diag *d)
{
	diag_fail(d, err, "cannot write the report to %s: %s", o->path, strerror(-err));
	if (err == -ENOSPC && o->at.path && !o->at.published)
		diag_help(d, "free some space; nothing was written to it");
	else if (err == -ENOSPC)
		diag_help(d, "free some space; reports before this one are complete");
	else if (err == -EPIPE)
		diag_help(d, "the reader of the output has ended");
	return err;
}

void output_dated_name(char *ret, size_t size, const char *suffix)
{
	time_t now = time(NULL);
	char when[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(when, sizeof(when), "-%Y%m%d-%H%M%S", &tm);
	snprintf(ret, size, "t410trace%s%s", when, suffix);
}

void output_told(const char *who, const struct output *o)
{
	char size[FORMAT_NUMBER_LEN], text[PATH_MAX + 64];
	struct stat st;

	if (!o->path || out_file_is_stdout(o->path) || stat(o->path, &st) || !S_ISREG(st.st_mode))
		return;
	format_bytes((uint64_t)st.st_size, size);
	utf8_harmless(text, sizeof(text), o->path, strlen(o->path));
	fprintf(stderr, "%s: wrote %s (%s)\n", who, text, size);
}

int output_close(struct output *o, int err, struct diag *d)
{
	FILE *file = o->file;
	int closed = 0;

	o->file = NULL;
	if (!file || file == stdout)
		return err;
	errno = 0;
	if (fflush(file) || ferror(file))
		closed = errno ? -errno : -EIO;
	if (!err && !closed)
		closed = out_file_publish(&o->at);
	fclose(file);
	o->at.fd = -1;
	out_file_close(&o->at);
	return err || !closed ? err : refused(o, closed, d);
}
