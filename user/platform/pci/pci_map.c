// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pci/pci_map.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

#define MAX_NUMBER  255
/* of Grace; a T410 has 7 */
#define MAX_PORT    9
#define MAX_GPU	    7
#define MAX_ENTRIES 4096
#define MAX_LINE    4096

struct map_text {
	const char *file;
	size_t line;
	const char *start; /* of the line */
	struct diag *d;
};

static int __attribute__((format(printf, 3, 4)))
wrong(const struct map_text *t, const char *at, const char *format, ...)
{
	char what[200];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	diag_fail(t->d, -EINVAL, "%s:%zu:%zu: %s", t->file, t->line, (size_t)(at - t->start) + 1,
		  what);
	return diag_advise(
		t->d, -EINVAL,
		"a line is for example \"0002:80:00.0 socket=0 rc=1 rp=1\" (a root port or "
		"another function) or \"0002:* socket=0 rc=1 rp=1\" (a segment)");
}

static int take_address(const struct map_text *t, const char *word, struct pci_map_entry *e)
{
	size_t length = strlen(word);
	char text[MODEL_BDF_LEN + 8];

	if (length > 2 && length < MODEL_BDF_LEN && !strcmp(word + length - 2, ":*")) {
		snprintf(text, sizeof(text), "%.*s:0:0.0", (int)length - 2, word);
		e->segment = true;
		if (!bdf_parse(text, &e->address))
			return 0;
	} else if (!bdf_parse(word, &e->address)) {
		return 0;
	}
	return wrong(t, word, "\"%.40s\" is neither a PCI address nor a segment", word);
}

static int take_value(const struct map_text *t, const char *word, struct pci_map_entry *e,
		      unsigned int *seen)
{
	struct {
		const char *name;
		uint32_t *value;
		uint64_t max;
	} const keys[] = {
		{ "socket=", &e->socket, MAX_NUMBER },
		{ "rc=", &e->rc, MAX_NUMBER },
		{ "rp=", &e->rp, MAX_PORT },
		{ "gpu=", &e->gpu, MAX_GPU },
	};
	uint64_t value;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t length = strlen(keys[i].name);

		if (strncmp(word, keys[i].name, length))
			continue;
		if (*seen & 1u << i)
			return wrong(t, word, "%.*s is there twice", (int)length - 1, word);
		if (parse_u64(word + length, &value) || value > keys[i].max)
			return wrong(t, word + length, "%.*s is not a number up to %u: \"%.40s\"",
				     (int)length - 1, word, (unsigned int)keys[i].max,
				     word + length);
		*seen |= 1u << i;
		*keys[i].value = (uint32_t)value + (keys[i].value == &e->gpu);
		return 0;
	}
	return wrong(t, word, "\"%.40s\" is none of socket=, rc=, rp= and gpu=", word);
}

static int add_entry(const struct map_text *t, const char *word, struct pci_map *m,
		     const struct pci_map_entry *e)
{
	const struct pci_map_entry *before = pci_map_find(m, &e->address, e->segment);

	if (before)
		return wrong(t, word, "line %zu is about %.40s already", before->line, word);
	if (m->nr >= MAX_ENTRIES)
		return wrong(t, word, "more lines than any machine needs");
	if (array_reserve(m->entries, m->cap, m->nr))
		return diag_no_memory(t->d);
	m->entries[m->nr++] = *e;
	return 0;
}

static int take_line(struct map_text *t, char *line, struct pci_map *m)
{
	struct pci_map_entry e = { .line = t->line };
	const char *first = NULL;
	unsigned int seen = 0;
	char *at = line;
	int err = 0;

	t->start = line;
	line[strcspn(line, "#\r\n")] = '\0';
	for (at += strspn(at, " \t"); !err && *at; at += strspn(at, " \t")) {
		char *word = at;

		at += strcspn(at, " \t");
		if (*at)
			*at++ = '\0';
		if (first)
			err = take_value(t, word, &e, &seen);
		else
			err = take_address(t, first = word, &e);
	}
	if (err || !first)
		return err;
	if ((seen & 7) != 7)
		return wrong(t, at, "%s is missing",
			     !(seen & 1)   ? "socket="
			     : !(seen & 2) ? "rc="
					   : "rp=");
	return add_entry(t, first, m, &e);
}

int pci_map_read(const char *file, struct diag *d, struct pci_map **ret)
{
	cleanup_fclose FILE *in = fopen(file, "re");
	struct map_text t = { .file = file, .d = d };
	struct pci_map *m = calloc(1, sizeof(*m));
	char line[MAX_LINE] = "";
	int err = 0, more = 0;

	if (!in || !m) {
		err = in ? -ENOMEM : -errno;
		free(m);
		return diag_fail(d, err, "cannot read %s: %s", file, strerror(-err));
	}
	while (!err && (more = next_line(in, line, sizeof(line))) > 0) {
		t.line++;
		t.start = line;
		err = take_line(&t, line, m);
	}
	if (more == -EINVAL || more == -E2BIG) {
		t.line++;
		t.start = line;
		err = wrong(&t, line, "not a text");
	} else if (more < 0) {
		err = diag_fail(d, more, "cannot read %s: %s", file, strerror(-more));
	}
	if (err)
		pci_map_free(m);
	else
		*ret = m;
	return err;
}

void pci_map_free(struct pci_map *m)
{
	if (!m)
		return;
	free(m->entries);
	free(m);
}

const struct pci_map_entry *pci_map_find(const struct pci_map *m, const struct bdf *a, bool segment)
{
	for (size_t i = 0; m && i < m->nr; i++) {
		const struct pci_map_entry *e = &m->entries[i];

		if (e->segment == segment && e->address.domain == a->domain &&
		    (segment || !bdf_compare(&e->address, a)))
			return e;
	}
	return NULL;
}
