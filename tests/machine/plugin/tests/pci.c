/* SPDX-License-Identifier: GPL-2.0-only */
/* Configuration space without QEMU: argument is a file for pci_load(). */
#include <stdio.h>
#include <stdlib.h>

#include "../machine.h"
#include "check.h"
#include "fake.h"

static uint64_t at(unsigned int segment, unsigned int bus, unsigned int devfn, unsigned int reg)
{
	return (uint64_t)segment << 28 | bus << 20 | devfn << 12 | reg;
}

static void write_list(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f)) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

#define CAP 0x100
#define TX  0x20
#define RX  0x21

/* The counter of a root port of DesignWare, as its driver uses it */
static void test_root_port(const char *path)
{
	const uint64_t ctl = at(4, 0, 0, CAP + 0x10), data = at(4, 0, 0, CAP + 0x14);

	fake_start(SHAPE_AMPEREONE, 64);
	write_list(path, "root_port segment=4 bus=0 vendor=1def device_id=e200 class=60400 "
			 "secondary=1 subordinate=ff port=1 socket=1 rasdes=1\n");
	CHECK(pci_load(path), 0);
	add_flow(KIND_ROOTPORT, TX, UNIT_REQUESTS, 0);
	add_flow(KIND_ROOTPORT, RX, UNIT_REQUESTS, 1);
	for (int i = 0; i < 2; i++) {
		memory.flow[i].socket = memory.flow[i].port = 1;
		memory.flow[i].request_bytes = 16;
	}
	CHECK(pci_config_read(at(4, 0, 0, CAP), 4), 0x0001000b);
	CHECK(pci_config_read(at(4, 0, 0, CAP + 4), 4) & 0xfffff, 0x40002);
	CHECK(pci_config_read(at(2, 0xc0, 0, CAP), 4), 0x00010023); /* not of others */
	move(0, 1600);
	pci_config_write(ctl, TX << 24 | 1, 4);
	CHECK(pci_config_read(ctl, 4), TX << 24 | 1);
	CHECK(pci_config_read(data, 4), 0);
	move(0, 1600);
	move(1, 16);
	CHECK(pci_config_read(data, 4), 100);
	move(0, 16ull << 32);
	CHECK(pci_config_read(data, 4), 100);
	CHECK(pci_config_read(data + 4, 4), 1);
	pci_config_write(ctl, TX << 24, 4);
	move(0, 1600);
	CHECK(pci_config_read(data, 4), 100);
	pci_config_write(ctl, RX << 24 | 1, 4); /* begins anew */
	CHECK(pci_config_read(data, 4), 0);
	CHECK(pci_config_read(data + 4, 4), 0);
	move(1, 32);
	CHECK(pci_config_read(data, 4), 2);
}

int main(int argc, char **argv)
{
	const uint64_t sriov = at(2, 0xc1, 0, 0x140);

	if (argc != 2)
		return EXIT_FAILURE;
	write_list(argv[1], "# a comment\n"
			    "root_port segment=2 bus=c0 vendor=10de device_id=7e10 class=060400 "
			    "secondary=c1 subordinate=df dvsec=1 port=3 rc=1 socket=1\n"
			    "end_point segment=2 bus=c1 vendor=15b3 device_id=1021 class=20700 "
			    "vfs=a\n"
			    "upstream segment=3 bus=1 vendor=10b5 device_id=c010 class=60400 "
			    "secondary=2 subordinate=4\n"
			    "downstream segment=3 bus=2 device=1 class=60400 secondary=3 "
			    "subordinate=4 port=1\n"
			    "end_point segment=3 bus=3 class=20000 multi=1\n"
			    "end_point segment=3 bus=3 function=1 class=20000 multi=1\n");
	CHECK(pci_load(argv[1]), 0);
	CHECK(pci_config_read(at(2, 0xc0, 0, 0), 4), 0x7e1010de);
	CHECK(pci_config_read(at(2, 0xc0, 0, 8), 4), 0x06040000);
	CHECK(pci_config_read(at(2, 0xc0, 0, 0x100), 4), 0x00010023);
	CHECK(pci_config_read(at(2, 0xc0, 0, 0x104), 4), 0x014010de);
	CHECK(pci_config_read(at(2, 0xc0, 0, 0x10c), 4), 0x010302c0);
	CHECK(pci_config_read(at(2, 0xc0, 0, 0x110), 1), 1);
	CHECK(pci_config_read(at(2, 0xc0, 0, 0x4f), 1), 3); /* link capabilities */
	CHECK(pci_config_read(at(2, 0xc0, 8, 0), 4), UINT32_MAX);
	CHECK(pci_config_read(at(2, 0xc0, 0, 0x42), 2), 0x42); /* types of ports */
	CHECK(pci_config_read(at(3, 1, 0, 0x42), 2), 0x52);
	CHECK(pci_config_read(at(3, 2, 8, 0x42), 2), 0x62);
	CHECK(pci_config_read(at(3, 2, 8, 0x18), 4), 0x040302);
	CHECK(pci_config_read(at(3, 1, 0, 0x100), 4), 0); /* no place in the chip */
	CHECK(pci_config_read(at(3, 3, 0, 0x0e), 1), 0x80);
	CHECK(pci_config_read(at(3, 3, 1, 0x0e), 1), 0x80);
	CHECK(pci_config_read(at(2, 0xc1, 0, 0x0e), 1), 0);
	CHECK(pci_config_read(at(3, 0xc0, 0, 0), 2), UINT16_MAX);
	pci_config_write(at(2, 0xc0, 0, 0), 0, 4); /* read-only */
	CHECK(pci_config_read(at(2, 0xc0, 0, 0), 4), 0x7e1010de);

	/* virtual functions: absent, present, too many asked for, absent again */
	CHECK(pci_config_read(at(2, 0xc1, 3, 8), 4), UINT32_MAX);
	pci_config_write(sriov + 0x10, 4, 2);
	CHECK(pci_config_read(at(2, 0xc1, 3, 8), 4), UINT32_MAX);
	pci_config_write(sriov + 8, 9, 2);
	CHECK(pci_config_read(at(2, 0xc1, 3, 8), 4), 0x02070000);
	CHECK(pci_config_read(at(2, 0xc1, 4, 0), 4), UINT32_MAX); /* no ids, but there */
	CHECK(pci_config_read(at(2, 0xc1, 4, 0x0e), 1), 0);
	CHECK(pci_config_read(at(2, 0xc1, 5, 8), 4), UINT32_MAX);
	pci_config_write(sriov + 0x10, 0xffff, 2);
	CHECK(pci_config_read(at(2, 0xc1, 10, 8), 4), 0x02070000);
	CHECK(pci_config_read(at(2, 0xc1, 11, 8), 4), UINT32_MAX);
	pci_config_write(sriov + 8, 0, 2);
	CHECK(pci_config_read(at(2, 0xc1, 3, 8), 4), UINT32_MAX);

	test_root_port(argv[1]);
	write_list(argv[1], "end_point segment=2 bus=100\n");
	CHECK(pci_load(argv[1]) < 0, true);
	write_list(argv[1], "end_point colour=2\n");
	CHECK(pci_load(argv[1]) < 0, true);
	write_list(argv[1], "hub bus=2\n");
	CHECK(pci_load(argv[1]) < 0, true);
	return checks_end("configuration space");
}
