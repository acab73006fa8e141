// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Output of lspci, made safe for libpci, whose reader takes offsets as signed numbers unchecked,
 * and gives up at the long lines of "lspci -vvv". Only checked addresses and bytes are passed on.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/pci/pci_space.h"

#define SPACE_SIZE    4096
/* lspci's full output for a whole machine is a few megabytes. */
#define MAX_DUMP      (256u << 20)
#define MAX_FUNCTIONS (1u << 16)
#define MAX_LINE      65536

struct dump {
	const char *file;
	size_t line;
	struct diag *d;
	FILE *out;
	struct bdf *functions;
	size_t nr;
	size_t cap;
	size_t nr_bytes; /* of the current function */
	size_t nr_all;
	bool open; /* lines of bytes belong to a function */
};

static int junk(const struct dump *u, const char *what)
{
	diag_fail(u->d, -EINVAL, "%s:%zu: %s", u->file, u->line, what);
	return diag_advise(u->d, -EINVAL,
			   "expected is what \"lspci -D -xxxx\" prints, run as root");
}

/* The address that a line begins with, "0002:81:00.0 NVMe..." or without the domain. */
static bool take_address(const char *line, struct bdf *ret)
{
	size_t length = strcspn(line, " ");
	char text[MODEL_BDF_LEN];

	if (line[length] != ' ' || length >= sizeof(text) || length < 7)
		return false;
	memcpy(text, line, length);
	text[length] = '\0';
	return !bdf_parse(text, ret);
}

static int add_function(struct dump *u, const struct bdf *a)
{
	/* the form that libpci's reader of dumps understands */
	if (a->domain > 0xfffff)
		return junk(u, "a domain of more than five digits");
	if (u->nr >= MAX_FUNCTIONS)
		return junk(u, "more functions than any machine has");
	if (array_reserve(u->functions, u->cap, u->nr))
		return -ENOMEM;
	u->functions[u->nr++] = *a;
	u->open = true;
	u->nr_bytes = 0;
	fprintf(u->out, "%s%04x:%02x:%02x.%x x\n", u->nr > 1 ? "\n" : "", a->domain, a->bus,
		a->devfn >> 3, a->devfn & 7);
	return 0;
}

static int hex_digit(char c)
{
	return !isxdigit((unsigned char)c) ? -1 : c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* "1a0: 01 02 ...": a line of bytes? Other lines of lspci begin with a blank. */
static bool is_bytes(const char *line)
{
	size_t digits = strspn(line, "0123456789abcdefABCDEF");

	return digits >= 2 && digits <= 8 && line[digits] == ':' &&
	       (line[digits + 1] == ' ' || !line[digits + 1]);
}

static int add_bytes(struct dump *u, const char *line)
{
	char *at;
	unsigned long offset = strtoul(line, &at, 16);
	size_t nr = 0;

	if (!u->open)
		return junk(u, "bytes that belong to no function");
	if (offset != u->nr_bytes)
		return junk(u, "bytes are missing or in the wrong order");
	fprintf(u->out, "%03lx:", offset);
	for (at++; *at; at += 3, nr++) {
		int high = *at == ' ' ? hex_digit(at[1]) : -1;
		int low = high < 0 ? -1 : hex_digit(at[2]);

		if (low < 0)
			return junk(u, "damaged bytes");
		if (offset + nr >= SPACE_SIZE)
			return junk(u, "more than 4096 bytes of one function");
		fprintf(u->out, " %x%x", high, low);
	}
	fputc('\n', u->out);
	u->nr_bytes += nr;
	u->nr_all += nr;
	return nr ? 0 : junk(u, "a line of no bytes");
}

static int take_line(struct dump *u, char *line)
{
	struct bdf a;

	line[strcspn(line, "\r")] = '\0';
	if (!*line) {
		u->open = false;
		return 0;
	}
	if (is_bytes(line))
		return add_bytes(u, line);
	return take_address(line, &a) ? add_function(u, &a) : 0;
}

static int take_lines(struct dump *u, FILE *in)
{
	char line[MAX_LINE];
	size_t all = 0;
	int err;

	while ((err = next_line(in, line, sizeof(line))) > 0) {
		u->line++;
		all += strlen(line) + 1;
		err = all > MAX_DUMP ? junk(u, "larger than any dump") : take_line(u, line);
		if (err)
			return err;
	}
	if (err == -EINVAL || err == -E2BIG) {
		u->line++;
		return junk(u, "not a text");
	}
	if (err)
		return diag_fail(u->d, err, "cannot read %s: %s", u->file, strerror(-err));
	if (u->nr_all)
		return 0;
	u->line += !u->line;
	return junk(u, u->nr ? "no bytes of configuration space" : "no dump of PCI functions");
}

int pci_dump_clean(const char *file, struct diag *d, int *ret_fd, struct bdf **ret, size_t *ret_nr)
{
	cleanup_close int fd = memfd_create("dump", MFD_CLOEXEC);
	cleanup_fclose FILE *in = fopen(file, "re");
	cleanup_fclose FILE *out = NULL;
	struct dump u = { .file = file, .d = d };
	int err, more, copy;

	if (!in) {
		err = -errno;
		return diag_fail(d, err, "cannot read %s: %s", file, strerror(-err));
	}
	copy = fd < 0 ? -1 : dup(fd);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		return diag_fail(d, err, "cannot copy %s: %s", file, strerror(-err));
	}
	u.out = out;
	err = take_lines(&u, in);
	more = fflush(out) ? -errno : ferror(out) ? -EIO : 0;
	if (!err && more)
		err = diag_fail(d, more, "cannot copy %s: %s", file, strerror(-more));
	if (err) {
		free(u.functions);
		return err;
	}
	*ret_fd = take_fd(&fd);
	*ret = u.functions;
	*ret_nr = u.nr;
	return 0;
}
