// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a PCI function to its root port, on trees made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "platform/pci/root_port.h"
#include "pci_world.h"

#define UNTOUCHED 0x5a

/* The function at the end of @parents, class and configuration space of @port or junk. */
static void add_port(struct world *w, const char *bridge, const struct guide_port *port)
{
	config_port(w->c, port);
	world_add(w, bridge, port->name, CONFIG_SIZE);
}

static void add_device(struct world *w, const char *parents, const char *name, uint32_t class_code)
{
	config_make(w->c, 0x123410de, class_code, TYPE_ENDPOINT);
	world_add(w, parents, name, CONFIG_SIZE);
}

static void is_port(const struct root_port *got, const struct guide_port *want)
{
	assert_string_equal(got->name, want->name);
	assert_int_equal(got->segment, want->segment);
	assert_int_equal(got->bus, want->bus);
	assert_int_equal(got->rp, want->rp);
	assert_int_equal(got->rc, want->rc);
	assert_int_equal(got->socket, want->socket);
}

static void test_listing(void **state)
{
	struct world *w = *state;
	struct root_port *all;
	size_t nr;

	for (size_t i = 0; i < NR_GUIDE; i++) {
		const struct guide_port *want = &guide[i];
		struct root_port got;
		char bridge[32];

		snprintf(bridge, sizeof(bridge), "pci00%02x:%02x", want->segment, want->bus);
		add_port(w, bridge, want);
		assert_int_equal(root_port_of(&w->fs, want->name, &w->d, &got), 0);
		is_port(&got, want);
	}
	/* All at once, beside what is no root port. */
	add_device(w, "pci0002:80/0002:80:00.0", "0002:81:00.0", 0x010802);
	assert_int_equal(root_ports_read(&w->fs, &all, &nr), 0);
	assert_int_equal(nr, NR_GUIDE);
	for (size_t i = 0; i < nr; i++)
		is_port(&all[i], &guide[i]);
	free(all);
}

static void test_none(void **state)
{
	struct world *w = *state;
	struct root_port *all = NULL;
	size_t nr = 7;

	assert_int_equal(root_ports_read(&w->fs, &all, &nr), 0);
	assert_int_equal(nr, 0);
	free(all);
}

/* Behind switches, and behind a platform device in front of the host bridge. */
static void test_below(void **state)
{
	struct world *w = *state;
	struct root_port got;

	add_port(w, "platform/soc/pci0002:80", &guide[1]);
	add_device(w, "platform/soc/pci0002:80/0002:80:00.0/0002:81:00.0/0002:82:01.0",
		   "0002:84:00.3", 0x010802);
	assert_int_equal(root_port_of(&w->fs, "0002:84:00.3", &w->d, &got), 0);
	is_port(&got, &guide[1]);
}

static void refused(struct world *w, const char *bdf, int err, const char *words)
{
	struct root_port got, before;

	memset(&got, UNTOUCHED, sizeof(got));
	before = got;
	w->d = (struct diag){ 0 };
	assert_int_equal(root_port_of(&w->fs, bdf, &w->d, &got), err);
	assert_memory_equal(&got, &before, sizeof(got));
	if (!strstr(w->d.what, words))
		fail_msg("\"%s\" does not say \"%s\"", w->d.what, words);
}

static void test_refusals(void **state)
{
	static const char *const junk[] = { "",
					    "0002:81:00",
					    "81:00.0",
					    "0002:81:00.0/",
					    "../../x:81:00.0",
					    "0002-81:00.0",
					    "000200020002000200020002:81:00.0" };
	struct world *w = *state;
	struct guide_port other = guide[1];
	struct root_port got;

	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		refused(w, junk[i], -EINVAL, "not a PCI address");
	refused(w, "0002:81:00.0", -ENOENT, "no PCI device 0002:81:00.0");
	add_device(w, "pci0007:00", "0007:00:02.0", 0x010802);
	refused(w, "0007:00:02.0", -EINVAL, "root complex itself");
	config_bridge(w->c, TYPE_ROOT, 0, 1, 2);
	world_add(w, "pci0008:00", "0008:00:00.0", 0);
	refused(w, "0008:00:00.0", -ENOENT, "configuration space of 0008:00:00.0");
	tree_write(&w->tree, "devices/pci0008:00/0008:00:00.0/config", w->c, 64);
	refused(w, "0008:00:00.0", -EACCES, "ends after 64 bytes");
	tree_write(&w->tree, "devices/pci0008:00/0008:00:00.0/config", w->c, CONFIG_SIZE);
	refused(w, "0008:00:00.0", -ENODATA, "does not say");
	/* the firmware numbers buses differently: what matters holds anyway */
	other.bus = 0x81;
	add_port(w, "pci0002:80", &other);
	assert_int_equal(root_port_of(&w->fs, "0002:80:00.0", &w->d, &got), 0);
	is_port(&got, &other);
	add_device(w, "virtual", "0009:00:00.0", 0x060400);
	refused(w, "0009:00:00.0", -EINVAL, "host bridge");
}

static void lists(struct world *w, int err)
{
	struct root_port got;

	tree_write(&w->tree, "devices/pci0002:80/0002:80:00.0/config", w->c, CONFIG_SIZE);
	assert_int_equal(root_port_of(&w->fs, "0002:80:00.0", &w->d, &got), err);
	if (!err)
		is_port(&got, &guide[1]);
}

/* Lists that lead nowhere, in circles, or end in the middle. */
static void test_lists(void **state)
{
	struct world *w = *state;
	uint8_t good[CONFIG_SIZE];

	add_port(w, "pci0002:80", &guide[1]);
	memcpy(good, w->c, sizeof(good));
	lists(w, 0);
	/* too short to hold the socket */
	put_le(w->c + 0x204, 0x10deu | 0x10u << 20, 4);
	lists(w, -ENODATA);
	/* a length that nobody filled in */
	put_le(w->c + 0x204, 0x10de, 4);
	lists(w, 0);
	/* of another kind, of another vendor */
	w->c[0x208] = 5;
	lists(w, -ENODATA);
	memcpy(w->c, good, sizeof(good));
	w->c[0x204] = 0xdf;
	lists(w, -ENODATA);
	memcpy(w->c, good, sizeof(good));
	/* a circle that leaves out ours, a pointer below the list */
	config_extended(w->c, 0x140, 0x0001, 0x100);
	lists(w, -ENODATA);
	config_extended(w->c, 0x140, 0x0001, 0x80);
	memcpy(w->c + 0x80, good + 0x200, 0x14);
	lists(w, -ENODATA);
	memcpy(w->c, good, sizeof(good));
	/* ours is the last thing in the space, and would go beyond it */
	config_extended(w->c, 0x140, 0x0001, 0xfec);
	memcpy(w->c + 0xfec, good + 0x200, 0x11);
	lists(w, 0);
	config_extended(w->c, 0x140, 0x0001, 0xff0);
	memcpy(w->c + 0xff0, good + 0x200, 0x10);
	lists(w, -ENODATA);
	/* a port that cannot be */
	memcpy(w->c, good, sizeof(good));
	w->c[0x20e] = 8;
	lists(w, -ENODATA);
	memset(w->c, 0xff, sizeof(w->c));
	lists(w, -ENODATA);
}

/* The file may end anywhere: rights, or a function without extended space. */
static void test_ends(void **state)
{
	struct world *w = *state;
	static const struct {
		size_t size;
		int err;
	} ends[] = {
		{ 63, -ENOENT },     { 64, -EACCES },	  { 128, -ENODATA }, { 256, -ENODATA },
		{ 0x200, -ENODATA }, { 0x210, -ENODATA }, { 0x211, 0 },	     { CONFIG_SIZE, 0 }
	};

	add_port(w, "pci0002:80", &guide[1]);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct root_port got;

		tree_write(&w->tree, "devices/pci0002:80/0002:80:00.0/config", w->c, ends[i].size);
		assert_int_equal(root_port_of(&w->fs, "0002:80:00.0", &w->d, &got), ends[i].err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_listing, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_none, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_below, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_refusals, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_lists, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_ends, world_make, world_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
