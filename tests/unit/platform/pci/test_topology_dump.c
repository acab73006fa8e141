// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The PCI topology of dumps, which may come from anybody. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pci_world.h"
#include "platform/pci/topology.h"
#include "random.h"

static int read_dump(struct world *w, struct topology *t)
{
	char path[PATH_MAX];
	struct topology_source src = { .dump = path, .platform = PMU_PLATFORM_T410 };

	tree_path(&w->tree, "dump", path);
	return topology_read(&src, &w->d, t);
}

static int read_text(struct world *w, const char *text, size_t length, struct topology *t)
{
	tree_write(&w->tree, "dump", text, length);
	return read_dump(w, t);
}

static FILE *dump_begin(struct world *w)
{
	char path[PATH_MAX];
	FILE *out;

	tree_path(&w->tree, "dump", path);
	out = fopen(path, "w");
	assert_non_null(out);
	return out;
}

static void test_guide(void **state)
{
	struct world *w = *state;
	struct topology t;
	FILE *out = dump_begin(w);

	/* in the wrong order, which lspci does not promise */
	for (size_t i = NR_GUIDE; i-- > 0;) {
		config_port(w->c, &guide[i]);
		dump_add(out, guide[i].name, w->c, CONFIG_SIZE);
	}
	config_make(w->c, 0x123415b3, 0x020000, TYPE_ENDPOINT);
	config_virtual(w->c, 0x82, 2, 2, 0x101e);
	dump_add(out, "0002:81:00.0", w->c, CONFIG_SIZE);
	config_make(w->c, 0xffffffff, 0x020000, TYPE_ENDPOINT);
	dump_add(out, "0002:81:10.2", w->c, CONFIG_SIZE);
	dump_add(out, "0002:81:10.4", w->c, CONFIG_SIZE);
	dump_add(out, "0002:81:10.6", w->c, CONFIG_SIZE);
	fclose(out);
	assert_int_equal(read_dump(w, &t), 0);
	assert_int_equal(t.nr, NR_GUIDE + 4);
	for (size_t i = 0; i < NR_GUIDE; i++) {
		const struct pci_function *f = &t.functions[topology_find(&t, guide[i].name)];

		assert_int_equal(f->wiring.how, WIRING_FIRMWARE);
		assert_int_equal(f->wiring.socket, guide[i].socket);
		assert_int_equal(f->wiring.rc, guide[i].rc);
		assert_int_equal(f->wiring.rp, guide[i].rp);
	}
	for (int i = 0; i < 3; i++) {
		char name[16];
		const struct pci_function *f;

		snprintf(name, sizeof(name), "0002:81:10.%d", 2 + 2 * i);
		f = &t.functions[topology_find(&t, name)];
		assert_string_equal(t.functions[f->port].bdf, "0002:80:00.0");
		assert_int_equal(f->kind, DEVICE_NET);
		assert_int_equal(f->numa_node, -1);
		/* the third one is none of the two that are switched on */
		assert_int_equal(f->physfn,
				 i < 2 ? topology_find(&t, "0002:81:00.0") : TOPOLOGY_NONE);
		assert_int_equal(f->vendor, i < 2 ? 0x15b3 : 0xffff);
		assert_int_equal(f->device, i < 2 ? 0x101e : 0xffff);
	}
	assert_int_equal(t.notes.nr, 0);
	topology_free(&t);
}

/* lspci without rights, without domains, with -vvv around it, with DOS line ends */
static void test_forms(void **state)
{
	struct world *w = *state;
	struct topology t;
	FILE *out = dump_begin(w);

	config_port(w->c, &guide[0]);
	dump_add(out, "00:00.0", w->c, 64);
	fprintf(out,
		"0000:01:00.0 NVMe:\r\n\tControl: I/O-\r\n\t\tLong: %0400d\r\n00: 11 22\r\n\r\n",
		0);
	/* five digits are the most that libpci reads */
	fprintf(out, "10000:e0:06.0 System peripheral\n00: 86 80 ");
	fclose(out);
	assert_int_equal(read_dump(w, &t), -EINVAL);
	out = dump_begin(w);
	dump_add(out, "00:00.0", w->c, 64);
	fprintf(out, "0000:01:00.0 NVMe:\r\n\tLong: %0400d\r\n00: 11 22\r\n\r\n", 0);
	fprintf(out, "10000:e0:06.0 System peripheral\n00: 86 80");
	fclose(out);
	assert_int_equal(read_dump(w, &t), 0);
	assert_int_equal(t.nr, 3);
	assert_true(t.cut);
	assert_non_null(strstr(t.notes.items[t.notes.nr - 1], "lspci -xxxx has to run as root"));
	/* a header that is not all there is no header */
	assert_int_equal(t.functions[1].vendor, 0);
	assert_string_equal(t.functions[2].bdf, "10000:e0:06.0");
	assert_int_equal(t.functions[0].role, PCI_ROLE_ROOT_PORT);
	assert_int_equal(t.functions[0].wiring.how, WIRING_UNKNOWN);
	topology_free(&t);
}

static void test_junk(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} bad[] = {
		{ "", "dump:1: no dump of PCI functions" },
		{ "\n", "no dump" },
		{ "hello\nworld\n", "no dump" },
		{ "00:00.0 x\n", "no bytes" },
		{ "00: 11\n", ":1: bytes that belong to no function" },
		{ "00:00.0 x\n\n00: 11\n", ":3: bytes that belong to no function" },
		{ "00:00.0 x\n00: 1", ":2: damaged bytes" },
		{ "00:00.0 x\n00: 111\n", ":2: damaged bytes" },
		{ "00:00.0 x\n00: g1\n", ":2: damaged bytes" },
		{ "00:00.0 x\n00: 11  22\n", ":2: damaged bytes" },
		{ "00:00.0 x\n00:\n", ":2: a line of no bytes" },
		{ "00:00.0 x\nffffffff: 00\n", ":2: bytes are missing or in the wrong order" },
		{ "00:00.0 x\n80000000: 00\n", ":2: bytes are missing" },
		{ "00:00.0 x\n00: 11\n00: 11\n", ":3: bytes are missing" },
		{ "00:00.0 x\n10: 11\n", ":2: bytes are missing" },
		{ "100000:00:00.0 x\n00: 11\n", ":1: a domain of more than five digits" },
		{ "7fffffff:00:00.0 x\n00: 11\n", ":1: a domain" },
		/* nothing of these is an address */
		{ "80000000:00:00.0 x\n00: 11\n", ":2: bytes that belong" },
		{ "00:20.0 x\n00: 11\n", ":2: bytes that belong" },
		{ "00:00.8 x\n00: 11\n", ":2: bytes that belong" },
		{ "100:00.0 x\n00: 11\n", ":2: bytes that belong" },
		{ "00:00.0\n00: 11\n", ":2: bytes that belong" },
	};
	struct world *w = *state;
	struct topology t, before;
	char path[PATH_MAX];
	struct topology_source src = { .dump = path };

	memset(&t, 0x5a, sizeof(t));
	before = t;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		w->d = (struct diag){ 0 };
		assert_int_equal(read_text(w, bad[i].text, strlen(bad[i].text), &t), -EINVAL);
		if (!strstr(w->d.what, bad[i].words))
			fail_msg("\"%s\" does not say \"%s\"", w->d.what, bad[i].words);
	}
	assert_int_equal(read_text(w, "00:00.0 x\n00: 11\0\n", 18, &t), -EINVAL);
	tree_path(&w->tree, "nothing", path);
	assert_int_equal(topology_read(&src, &w->d, &t), -ENOENT);
	tree_path(&w->tree, "", path);
	assert_int_equal(topology_read(&src, &w->d, &t), -EISDIR);
	assert_memory_equal(&t, &before, sizeof(t));
}

static void add_bridge(struct world *w, FILE *out, const char *name, uint8_t own, uint8_t first,
		       uint8_t last)
{
	config_bridge(w->c, TYPE_ROOT, own, first, last);
	dump_add(out, name, w->c, CONFIG_SIZE);
}

/* Bridges to themselves, to each other, above what is above them. */
static void test_circles(void **state)
{
	struct world *w = *state;
	struct topology t;
	FILE *out = dump_begin(w);

	add_bridge(w, out, "0000:00:00.0", 0, 0, 255);
	add_bridge(w, out, "0000:01:00.0", 1, 2, 2);
	add_bridge(w, out, "0000:02:00.0", 2, 1, 1);
	add_bridge(w, out, "0000:03:00.0", 3, 5, 9);
	add_bridge(w, out, "0000:03:01.0", 3, 6, 12);
	add_bridge(w, out, "0000:07:00.0", 7, 8, 7);
	add_bridge(w, out, "0000:0b:00.0", 11, 255, 255);
	/* twice the same function */
	add_bridge(w, out, "0000:0b:00.0", 11, 254, 255);
	add_bridge(w, out, "0001:05:00.0", 5, 6, 6);
	fclose(out);
	assert_int_equal(read_dump(w, &t), 0);
	assert_int_equal(t.nr, 8);
	assert_string_equal(t.notes.items[0],
			    "0000:00:00.0: a bridge with buses 00 to ff below it cannot "
			    "be on bus 00");
	for (size_t i = 0; i < t.nr; i++) {
		uint32_t parent = t.functions[i].parent;

		if (parent == TOPOLOGY_NONE)
			continue;
		assert_true(t.functions[parent].bus < t.functions[i].bus);
		assert_int_equal(t.functions[parent].domain, t.functions[i].domain);
	}
	assert_string_equal(t.functions[t.functions[topology_find(&t, "0:7:0.0")].parent].bdf,
			    "0000:03:01.0");
	assert_int_equal(t.functions[topology_find(&t, "1:5:0.0")].parent, TOPOLOGY_NONE);
	topology_free(&t);
}

/* A space full of capabilities that lead anywhere. */
static void test_noise(void **state)
{
	struct world *w = *state;
	struct draw r = { 7 };
	struct topology t;

	for (int i = 0; i < 40; i++) {
		FILE *out = dump_begin(w);

		for (int k = 0; k < 8; k++) {
			char name[32];

			for (size_t at = 0; at < CONFIG_SIZE; at++)
				w->c[at] = (uint8_t)draw_u64(&r);
			w->c[0x06] |= 0x10;
			w->c[0x0e] = 1;
			w->c[0x34] = EXPRESS;
			w->c[EXPRESS] = 0x10;
			/* all kinds of lists, many of ours */
			for (size_t at = 0x100; at < CONFIG_SIZE; at += 4)
				if (draw_u64(&r) % 2)
					put_le(w->c + at, 0x23 | (uint32_t)draw_u64(&r) << 20, 4);
			snprintf(name, sizeof(name), "%04x:%02x:%02x.%x", k / 4, w->c[0], k, k);
			dump_add(out, name, w->c, 16 * (1 + draw_u64(&r) % 256));
		}
		fclose(out);
		assert_int_equal(read_dump(w, &t), 0);
		assert_true(t.nr <= 8);
		topology_free(&t);
	}
}

/* A good dump with bytes changed, cut off and doubled: no crash. */
static void test_damage(void **state)
{
	struct world *w = *state;
	struct draw r = { 11 };
	FILE *out = dump_begin(w);
	char path[PATH_MAX], *text, *copy;
	size_t length, nr_read = 0;

	for (size_t i = 0; i < 4; i++) {
		config_port(w->c, &guide[i]);
		dump_add(out, guide[i].name, w->c, 0x220);
	}
	length = (size_t)ftell(out);
	fclose(out);
	text = malloc(length);
	copy = malloc(length);
	assert_true(text && copy);
	tree_path(&w->tree, "dump", path);
	out = fopen(path, "r");
	assert_non_null(out);
	assert_int_equal(fread(text, 1, length, out), length);
	fclose(out);
	for (int i = 0; i < 300; i++) {
		size_t nr = draw_u64(&r) % 4 ? length : draw_u64(&r) % length;
		struct topology t;

		memcpy(copy, text, length);
		for (uint64_t k = draw_u64(&r) % 6; k; k--)
			copy[draw_u64(&r) % length] = " \n:.0f8x"[draw_u64(&r) % 8];
		if (!read_text(w, copy, nr, &t)) {
			nr_read++;
			topology_free(&t);
		}
	}
	/* neither all nor none */
	assert_in_range(nr_read, 10, 290);
	free(text);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_guide, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_forms, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_junk, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_circles, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_noise, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_damage, world_make, world_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
