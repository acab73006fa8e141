// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Address ranges of BARs. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "platform/spec/event_spec.h"
#include "platform/spec/spec_text.h"
#include "base/spelling.h"

#define PCI_DEVICES	  "bus/pci/devices"
#define NR_BARS		  6

/* Flags of a line of "resource", see include/linux/ioport.h of the kernel. */
#define RESOURCE_IO	  0x100
#define RESOURCE_MEM	  0x200
#define RESOURCE_MEM_64	  0x100000
#define RESOURCE_DISABLED 0x10000000
#define RESOURCE_UNSET	  0x20000000

struct resource {
	uint64_t start;
	uint64_t end;
	uint64_t flags;
};

/* A requested BAR; @bdf includes the domain, as in sysfs. */
struct bar {
	const char *text;
	struct diag *d;
	char bdf[32];
	unsigned int index;
	size_t index_at;
};

static int format_fail(const struct bar *bar, size_t at, const char *what)
{
	spec_fail(bar->text, at, bar->d, -EINVAL, "%s", what);
	return diag_advise(bar->d, -EINVAL,
			   "a BAR is written as DOMAIN:BUS:DEVICE.FUNCTION:BARn, "
			   "for example 0002:81:00.0:BAR0");
}

/* Parse @least to @max hexadecimal digits at @at; false for anything else. */
static bool take_hex(const char *text, size_t *at, size_t least, size_t max, unsigned long *ret)
{
	char digits[16];
	size_t length = 0;

	while (isxdigit((unsigned char)text[*at + length]))
		length++;
	if (length < least || length > max)
		return false;
	memcpy(digits, text + *at, length);
	digits[length] = '\0';
	*ret = strtoul(digits, NULL, 16);
	*at += length;
	return true;
}

static bool take_char(const char *text, size_t *at, char c)
{
	if (text[*at] != c)
		return false;
	(*at)++;
	return true;
}

/* "0002:81:00.0" or "81:00.0"; @at moves behind it or to the error. */
static int take_bdf(struct bar *bar, size_t *at)
{
	unsigned long domain = 0, bus, device, function;
	const char *text = bar->text;
	size_t ahead = *at, place;

	if (take_hex(text, &ahead, 4, 8, &domain) && take_char(text, &ahead, ':'))
		*at = ahead;
	if (!take_hex(text, at, 2, 2, &bus))
		return format_fail(bar, *at,
				   "a PCI address with two digits for the bus is expected "
				   "here");
	if (!take_char(text, at, ':'))
		return format_fail(bar, *at, "a colon is expected here");
	place = *at;
	if (!take_hex(text, at, 2, 2, &device) || device > 31)
		return format_fail(bar, place, "a device number from 00 to 1f is expected here");
	if (!take_char(text, at, '.'))
		return format_fail(bar, *at, "a dot is expected here");
	place = *at;
	if (!take_hex(text, at, 1, 1, &function) || function > 7)
		return format_fail(bar, place, "a function number from 0 to 7 is expected here");
	snprintf(bar->bdf, sizeof(bar->bdf), "%04lx:%02lx:%02lx.%lx", domain, bus, device,
		 function);
	return 0;
}

static int parse(struct bar *bar)
{
	const char *text = bar->text;
	size_t at = 0;
	int err;

	err = take_bdf(bar, &at);
	if (err)
		return err;
	/* a blank as well: it is displayed like this */
	if (!take_char(text, &at, ':') && !take_char(text, &at, ' '))
		return format_fail(bar, at, "a colon and the BAR are expected here");
	bar->index_at = at;
	if (!strncasecmp(text + at, "bar", 3)) {
		at += 3;
		take_char(text, &at, ' ');
	}
	if (text[at] < '0' || text[at] >= '0' + NR_BARS)
		return format_fail(bar, at, "a BAR number from 0 to 5 is expected here");
	bar->index = text[at++] - '0';
	if (text[at])
		return format_fail(bar, at, "nothing is expected behind the BAR");
	return 0;
}

static int no_device(const struct sysfs *fs, const struct bar *bar)
{
	struct spelling names = { .word = bar->bdf };
	cleanup_texts struct text_list devices = { 0 };

	spec_fail(bar->text, 0, bar->d, -ENOENT, "there is no PCI device %s", bar->bdf);
	if (sysfs_list(fs, &devices, PCI_DEVICES) || !devices.nr) {
		return diag_advise(bar->d, -ENOENT, "%s/%s shows no PCI devices at all", fs->root,
				   PCI_DEVICES);
	}
	for (size_t i = 0; i < devices.nr; i++)
		spelling_add(&names, devices.items[i]);
	return spelling_advise(&names, "PCI devices are", bar->d, -ENOENT);
}

static bool parse_line(char *line, struct resource *ret)
{
	uint64_t *const values[] = { &ret->start, &ret->end, &ret->flags };
	char *rest = line, *word;

	line[strcspn(line, "\n")] = '\0';
	for (size_t i = 0; i < 3; i++) {
		word = strsep(&rest, " ");
		if (!word || parse_u64(word, values[i]))
			return false;
	}
	return !rest;
}

static int read_resources(const struct sysfs *fs, const struct bar *bar,
			  struct resource ret[NR_BARS])
{
	struct resource resources[NR_BARS] = { 0 };
	cleanup_fclose FILE *file = NULL;
	cleanup_close int fd = -1;
	char path[PATH_MAX], line[128];

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/resource", bar->bdf);
	fd = openat(fs->fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		int err = -errno;

		return diag_fail(bar->d, err, "cannot read %s/%s: %s", fs->root, path,
				 strerror(-err));
	}
	/* from here on the descriptor belongs to file */
	take_fd(&fd);
	for (size_t i = 0; i < NR_BARS; i++) {
		bool got = fgets(line, sizeof(line), file);

		if (ferror(file))
			return diag_fail(bar->d, -EIO, "cannot read %s/%s", fs->root, path);
		if (!got || !parse_line(line, &resources[i]))
			return diag_fail(bar->d, -EINVAL, "%s/%s: line %zu is not understood",
					 fs->root, path, i + 1);
	}
	memcpy(ret, resources, sizeof(resources));
	return 0;
}

/* List the device's memory BARs when the requested one is none. */
static void help_with_bars(const struct bar *bar, const struct resource *resources)
{
	char help[sizeof(bar->d->help)] = "";

	for (unsigned int i = 0; i < NR_BARS; i++)
		if (resources[i].flags & RESOURCE_MEM && resources[i].end > resources[i].start)
			str_append(help, sizeof(help), "%sBAR%u", help[0] ? ", " : "", i);
	if (help[0])
		diag_help(bar->d, "memory is behind: %s", help);
	else
		diag_help(bar->d, "it has no BAR with memory");
}

/* An empty line: why? */
static int no_bar(const struct bar *bar, const struct resource *resources)
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < NR_BARS; i++)
		any |= resources[i].start | resources[i].end;
	if (!any && geteuid()) {
		spec_fail(bar->text, bar->index_at, bar->d, -EACCES,
			  "all addresses of %s are zero: they may be hidden from users without "
			  "rights",
			  bar->bdf);
		return diag_advise(bar->d, -EACCES, "run it as root, or with CAP_SYS_ADMIN");
	}
	if (bar->index && resources[bar->index - 1].flags & RESOURCE_MEM_64)
		spec_fail(bar->text, bar->index_at, bar->d, -ENODATA,
			  "BAR%u of %s is empty: it is the upper half of the 64-bit BAR%u",
			  bar->index, bar->bdf, bar->index - 1);
	else
		spec_fail(bar->text, bar->index_at, bar->d, -ENODATA, "BAR%u of %s is empty",
			  bar->index, bar->bdf);
	help_with_bars(bar, resources);
	return -ENODATA;
}

/* Windows needed for a range: each is a power of two in size and aligned to it. */
static unsigned int nr_windows(uint64_t start, uint64_t end)
{
	unsigned int nr = 0;

	/* the last address of a window that ends within the range */
	while (start <= end) {
		uint64_t last = start;

		for (uint64_t size = 2; size && !(start & (size - 1)) && start + size - 1 <= end;
		     size *= 2)
			last = start + size - 1;
		nr++;
		if (last == UINT64_MAX)
			break;
		start = last + 1;
	}
	return nr;
}

static int check_bar(const struct bar *bar, const struct resource *resources)
{
	const struct resource *r = &resources[bar->index];
	uint64_t size = r->end - r->start + 1;

	if (!r->start && !r->end)
		return no_bar(bar, resources);
	if (r->flags & (RESOURCE_UNSET | RESOURCE_DISABLED)) {
		spec_fail(bar->text, bar->index_at, bar->d, -ENODATA,
			  "the kernel gave BAR%u of %s no address", bar->index, bar->bdf);
		help_with_bars(bar, resources);
		return -ENODATA;
	}
	if (r->flags & RESOURCE_IO || !(r->flags & RESOURCE_MEM)) {
		spec_fail(bar->text, bar->index_at, bar->d, -EINVAL,
			  "BAR%u of %s is %s, and the PMU sees memory only", bar->index, bar->bdf,
			  r->flags & RESOURCE_IO ? "I/O ports" : "no memory");
		help_with_bars(bar, resources);
		return -EINVAL;
	}
	if (r->end < r->start || !size)
		return spec_fail(bar->text, bar->index_at, bar->d, -EINVAL,
				 "the addresses of BAR%u of %s make no sense: 0x%llx to 0x%llx",
				 bar->index, bar->bdf, (unsigned long long)r->start,
				 (unsigned long long)r->end);
	if (size & (size - 1) || r->start & (size - 1)) {
		spec_fail(bar->text, bar->index_at, bar->d, -EINVAL,
			  "BAR%u of %s is not a single window: %u would be needed for 0x%llx to "
			  "0x%llx",
			  bar->index, bar->bdf, nr_windows(r->start, r->end),
			  (unsigned long long)r->start, (unsigned long long)r->end);
		return diag_advise(bar->d, -EINVAL,
				   "a window has a power of two as its size and is aligned to it; "
				   "give parts as events of their own: "
				   "pcie_tgt/wr_bytes,dst_addr_en=1,dst_addr_base=ADDRESS,"
				   "dst_addr_mask=MASK/");
	}
	return 0;
}

int range_spec_terms(const struct sysfs *fs, const char *text, struct diag *d,
		     struct pmu_term ret_terms[3], char *ret_label, size_t label_size)
{
	struct resource resources[NR_BARS] = { 0 };
	struct diag unseen;
	struct bar bar = { .text = text, .d = d ? d : &unseen };
	const struct resource *r;
	int err;

	err = parse(&bar);
	if (err)
		return err;
	if (!sysfs_exists(fs, PCI_DEVICES "/%s", bar.bdf))
		return no_device(fs, &bar);
	err = read_resources(fs, &bar, resources);
	if (!err)
		err = check_bar(&bar, resources);
	if (err)
		return err;
	r = &resources[bar.index];
	ret_terms[0] = (struct pmu_term){ "dst_addr_en", 1 };
	ret_terms[1] = (struct pmu_term){ "dst_addr_base", r->start };
	ret_terms[2] = (struct pmu_term){ "dst_addr_mask", ~(r->end - r->start) };
	snprintf(ret_label, label_size, "%s BAR%u", bar.bdf, bar.index);
	return 0;
}
