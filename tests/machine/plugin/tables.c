/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ACPI tables. QEMU passes its tables to the firmware as one file and a script
 * of loader commands: allocate a file's memory, add its address to a pointer.
 * For each pointer that leads to a table header the firmware installs a table.
 * We add a file with our tables and commands for it at the end of the script.
 *
 * The file starts with 8 bytes for each table, its offset in the file, which
 * the loader turns into the address; the first offset tells where the tables
 * begin and so how many there are.
 *
 * QEMU writes its script when the machine is complete and would write it again
 * on reset, so this runs after the first and the machine must not reset.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "qemu_api.h"

#define SCRIPT_FILE	  "etc/table-loader"
#define QEMU_FILE	  "etc/acpi/tables"
#define OUR_FILE	  "etc/t410/tables"
#define POINTER_SIZE	  8
#define MAX_COMMANDS	  512

#define FILE_NAME_LEN	  56
#define ZONE_HIGH	  1
#define ALLOCATE_ALIGN	  64
#define TABLE_HEADER_SIZE 36

enum command {
	CMD_ALLOCATE = 1,
	CMD_ADD_POINTER = 2,
	CMD_WRITE_POINTER = 4 /* the last one QEMU 7.2 knows */
};

/* One command of the script, 128 bytes */
struct loader_command {
	uint32_t command;
	union {
		struct {
			char file[FILE_NAME_LEN];
			uint32_t align;
			uint8_t zone;
		} __attribute__((packed)) allocate;
		struct {
			char dest_file[FILE_NAME_LEN];
			char src_file[FILE_NAME_LEN];
			uint32_t offset;
			uint8_t size;
		} __attribute__((packed)) pointer;
		uint8_t room[124];
	};
} __attribute__((packed));
_Static_assert(sizeof(struct loader_command) == 128, "layout is the firmware's");

static void __attribute__((noreturn)) die(const char *what, const char *which)
{
	fprintf(stderr, "t410: %s: %s\n", which, what);
	exit(1);
}

static void *read_all(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	void *data;
	long len;

	if (!f || fseek(f, 0, SEEK_END) || (len = ftell(f)) < 0)
		die("cannot be read", path);
	rewind(f);
	data = malloc((size_t)len + 1);
	if (!data || fread(data, 1, (size_t)len, f) != (size_t)len)
		die("cannot be read", path);
	fclose(f);
	*ret_len = (size_t)len;
	return data;
}

/* QEMU keeps the script in a longer file, padded with zeros */
static size_t count_commands(const struct loader_command *script)
{
	size_t n = 0;

	while (n < MAX_COMMANDS && script[n].command >= CMD_ALLOCATE &&
	       script[n].command <= CMD_WRITE_POINTER)
		n++;
	return n;
}

/* The file becomes empty, which is all right for one that is written again */
static void *take_file(const char *name)
{
	void *data = fw_cfg_modify_file(fw_cfg_find(), name, NULL, 0);

	if (!data)
		die("QEMU has no such file", name);
	return data;
}

void tables_inject(const char *path)
{
	struct loader_command *old = take_file(SCRIPT_FILE), *script, *c;
	size_t len, nr_old = count_commands(old), nr_tables;
	void *tables = read_all(path, &len);
	uint64_t first = 0;

	if (len >= sizeof(first))
		memcpy(&first, tables, sizeof(first));
	if (!first || first > len || first % POINTER_SIZE)
		die("is not what acpi/gen.py writes", path);
	nr_tables = first / POINTER_SIZE;

	script = calloc(nr_old + 1 + nr_tables, sizeof(*script));
	if (!script)
		die("no memory", path);
	memcpy(script, old, nr_old * sizeof(*script));
	c = script + nr_old;
	c->command = CMD_ALLOCATE;
	strcpy(c->allocate.file, OUR_FILE);
	c->allocate.align = ALLOCATE_ALIGN;
	c->allocate.zone = ZONE_HIGH;
	for (size_t i = 0; i < nr_tables; i++) {
		c++;
		c->command = CMD_ADD_POINTER;
		strcpy(c->pointer.dest_file, OUR_FILE);
		strcpy(c->pointer.src_file, OUR_FILE);
		c->pointer.offset = (uint32_t)(i * POINTER_SIZE);
		c->pointer.size = POINTER_SIZE;
	}
	/* QEMU keeps both for as long as the machine runs */
	fw_cfg_modify_file(fw_cfg_find(), SCRIPT_FILE, script,
			   (nr_old + 1 + nr_tables) * sizeof(*script));
	fw_cfg_add_file(fw_cfg_find(), OUR_FILE, tables, len);
}

static bool is_signature(const uint8_t *t)
{
	for (int i = 0; i < 4; i++)
		if (!isupper(t[i]) && !isdigit(t[i]))
			return false; /* digits too: DBG2 */
	return true;
}

/* QEMU's tables follow each other in their file; what comes after is zero */
void tables_dump(const char *dir)
{
	const uint8_t *t = take_file(QEMU_FILE);

	while (is_signature(t)) {
		char path[4096];
		uint32_t len;
		FILE *f;

		memcpy(&len, t + 4, sizeof(len));
		snprintf(path, sizeof(path), "%s/%.4s.dat", dir, (const char *)t);
		f = fopen(path, "wb");
		if (len < TABLE_HEADER_SIZE || !f || fwrite(t, 1, len, f) != len || fclose(f))
			die("cannot be written", path);
		t += len;
	}
	exit(0);
}
