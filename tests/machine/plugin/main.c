/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plugin: when QEMU has built its board, add our register blocks, our PCI
 * segments and the tables that tell the guest about them.
 *
 *	-plugin libt410.so,shm=FILE,tables=FILE,pci=FILE
 *		[,shape=t410|grace|ampereone|kunpeng|cmn][,sockets=1|2][,width=BITS][,turn=MICROSECONDS]
 *		[,peer=gpu|gpu0|gpu1|cpu|none][,log=FILE][,cache=L2KIB:LLCKIB,truth=FILE]
 *	-plugin libt410.so,dump=DIR
 *
 * The second form writes QEMU's own ACPI tables to DIR and ends QEMU. shape,
 * sockets and peer must be those that acpi/gen.py was given: the tables tell the
 * guest what the registers here do. log= gets a line for each access to a PMU. turn=
 * goes with -icount: see clock.c. cache= counts what guest programs really move: see watch.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "port.h"
#include "qemu_api.h"

#define EXPORT	 __attribute__((visibility("default")))
#define MIN_BITS 16
#define MAX_BITS 64
#define MIN_TURN 10
#define MAX_TURN 1000000

/* Which plugin interface this is for; QEMU 7.2 wants 1 */
EXPORT int qemu_plugin_version = 1;

struct machine machine = { .sockets = MAX_SOCKETS, .counter_bits = MAX_BITS };

static struct {
	char *shm, *tables, *pci, *dump, *log, *truth;
} files;
static uint64_t plugin_id;
static FILE *access_log;

/* The blocks behind the CoreSight units have no table of their own: three ranges */
static uint64_t pmu_read(void *opaque, uint64_t addr, unsigned int size)
{
	unsigned int socket = (unsigned int)(addr / PMU_SOCKET_STRIDE);
	unsigned int offset = (unsigned int)(addr % PMU_SOCKET_STRIDE);
	uint64_t value = 0;

	(void)opaque;
	disks_poll();
	if (machine.shape == SHAPE_KUNPENG)
		value = ddrc_read(socket, offset - PMU_DRAM);
	else if (machine.shape == SHAPE_CMN)
		value = cmn_read(socket, offset, size);
	else if (offset < PMU_CMEM)
		units_read(addr, size, &value);
	else if (machine.shape != SHAPE_T410 || socket >= machine.sockets)
		value = 0;
	else if (offset < PMU_LINK)
		value = cmem_read(socket, offset - PMU_CMEM);
	else if (offset < PMU_LINK + NR_LINKS * PMU_LINK_STRIDE)
		value = link_read(socket, (offset - PMU_LINK) / PMU_LINK_STRIDE,
				  (offset - PMU_LINK) % PMU_LINK_STRIDE);
	if (access_log)
		fprintf(access_log, "R%u %08llx = %llx\n", size,
			(unsigned long long)(PMU_BASE + addr), (unsigned long long)value);
	return value;
}

static void pmu_write(void *opaque, uint64_t addr, uint64_t value, unsigned int size)
{
	unsigned int socket = (unsigned int)(addr / PMU_SOCKET_STRIDE);
	unsigned int offset = (unsigned int)(addr % PMU_SOCKET_STRIDE);

	(void)opaque;
	if (access_log)
		fprintf(access_log, "W%u %08llx = %llx\n", size,
			(unsigned long long)(PMU_BASE + addr), (unsigned long long)value);
	disks_poll();
	if (machine.shape == SHAPE_KUNPENG)
		ddrc_write(socket, offset - PMU_DRAM, value);
	else if (machine.shape == SHAPE_CMN)
		cmn_write(socket, offset, size, value);
	else if (offset < PMU_CMEM)
		units_write(addr, size, value);
	else if (machine.shape != SHAPE_T410 || socket >= machine.sockets)
		return;
	else if (offset < PMU_LINK)
		cmem_write(socket, offset - PMU_CMEM, value);
	else if (offset < PMU_LINK + NR_LINKS * PMU_LINK_STRIDE)
		link_write(socket, (offset - PMU_LINK) / PMU_LINK_STRIDE,
			   (offset - PMU_LINK) % PMU_LINK_STRIDE, value);
}

static uint64_t port_mmio_read(void *opaque, uint64_t addr, unsigned int size)
{
	uint64_t value;

	(void)opaque;
	(void)size;
	disks_poll();
	return watch_read(addr, &value) ? value : port_read(addr);
}

static void port_mmio_write(void *opaque, uint64_t addr, uint64_t value, unsigned int size)
{
	(void)opaque;
	(void)size;
	if (!watch_write(addr, value))
		port_write(addr, value);
}

static uint64_t esp_mmio_read(void *opaque, uint64_t addr, unsigned int size)
{
	(void)opaque;
	(void)size;
	return esp_read(addr);
}

static void esp_mmio_write(void *opaque, uint64_t addr, uint64_t value, unsigned int size)
{
	(void)opaque;
	(void)size;
	esp_write(addr, (uint32_t)value);
}

static uint64_t ecam_read(void *opaque, uint64_t addr, unsigned int size)
{
	(void)opaque;
	return pci_config_read(addr, size);
}

static void ecam_write(void *opaque, uint64_t addr, uint64_t value, unsigned int size)
{
	(void)opaque;
	pci_config_write(addr, value, size);
}

#define ACCESS(least, most)                                                 \
	.endianness = DEVICE_LITTLE_ENDIAN,                                 \
	.valid = { .min_access_size = (least), .max_access_size = (most) }, \
	.impl = { .min_access_size = (least), .max_access_size = (most) }

static const MemoryRegionOps pmu_ops = {
	.read = pmu_read,
	.write = pmu_write,
	ACCESS(4, 8),
};
static const MemoryRegionOps port_ops = {
	.read = port_mmio_read,
	.write = port_mmio_write,
	ACCESS(8, 8),
};
static const MemoryRegionOps esp_ops = {
	.read = esp_mmio_read,
	.write = esp_mmio_write,
	ACCESS(4, 4),
};
static const MemoryRegionOps ecam_ops = {
	.read = ecam_read,
	.write = ecam_write,
	ACCESS(1, 4),
};

static void add_region(const char *name, const MemoryRegionOps *ops, uint64_t base, uint64_t size)
{
	MemoryRegion *mr = calloc(1, MEMORY_REGION_ROOM);

	if (!mr)
		abort();
	memory_region_init_io(mr, NULL, ops, NULL, name, size);
	memory_region_add_subregion(get_system_memory(), base, mr);
}

static void machine_ready(Notifier *n, void *data)
{
	int err;

	(void)n;
	(void)data;
	if (files.dump)
		tables_dump(files.dump);
	add_region("t410-pmu", &pmu_ops, PMU_BASE, PMU_SIZE);
	add_region("t410-port", &port_ops, PORT_BASE, PORT_SIZE);
	add_region("t410-esp", &esp_ops, ESP_BASE, ESP_SIZE);
	add_region("t410-ecam", &ecam_ops, ECAM_BASE, ECAM_SIZE);
	clock_init();
	irq_init();
	disks_init();
	err = watch_init(plugin_id, files.truth);
	if (err) {
		fprintf(stderr, "t410: no such caches: %s\n", strerror(-err));
		exit(1);
	}
	tables_inject(files.tables);
}

static Notifier ready = { .notify = machine_ready };

static int parse_number(const char *text, unsigned int min, unsigned int max, unsigned int *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || n < min || n > max)
		return -EINVAL;
	*ret = (unsigned int)n;
	return 0;
}

static int parse_word(const char *text, const char *const *words, unsigned int nr,
		      unsigned int *ret)
{
	for (unsigned int i = 0; i < nr; i++)
		if (!strcmp(text, words[i])) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

static int parse_option(char *text)
{
	static const char *const shapes[] = { [SHAPE_T410] = "t410",
					      [SHAPE_GRACE] = "grace",
					      [SHAPE_AMPEREONE] = "ampereone",
					      [SHAPE_KUNPENG] = "kunpeng",
					      [SHAPE_CMN] = "cmn" };
	static const char *const peers[] = { [PEER_GPU] = "gpu",
					     [PEER_GPU0] = "gpu0",
					     [PEER_GPU1] = "gpu1",
					     [PEER_CPU] = "cpu",
					     [PEER_NONE] = "none" };
	const struct {
		const char *name;
		char **ret;
	} paths[] = { { "shm", &files.shm }, { "tables", &files.tables },
		      { "pci", &files.pci }, { "dump", &files.dump },
		      { "log", &files.log }, { "truth", &files.truth } };
	char *value = strchr(text, '=');
	unsigned int n;
	int err = -EINVAL;

	if (!value)
		return -EINVAL;
	*value++ = 0;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (!strcmp(text, paths[i].name)) {
			/* QEMU frees its arguments when we return */
			*paths[i].ret = strdup(value);
			return *paths[i].ret ? 0 : -ENOMEM;
		}
	if (!strcmp(text, "sockets"))
		err = parse_number(value, 1, MAX_SOCKETS, &machine.sockets);
	else if (!strcmp(text, "width"))
		err = parse_number(value, MIN_BITS, MAX_BITS, &machine.counter_bits);
	else if (!strcmp(text, "turn"))
		err = parse_number(value, MIN_TURN, MAX_TURN, &machine.turn_us);
	else if (!strcmp(text, "cache"))
		err = watch_option(value);
	else if (!strcmp(text, "shape") &&
		 !(err = parse_word(value, shapes, ARRAY_SIZE(shapes), &n)))
		machine.shape = n;
	else if (!strcmp(text, "peer") && !(err = parse_word(value, peers, ARRAY_SIZE(peers), &n)))
		machine.peer = n;
	value[-1] = '='; /* for the message */
	return err;
}

static int open_files(void)
{
	int err;

	if (!files.shm || !files.tables || !files.pci) {
		fprintf(stderr, "t410: shm=, tables= and pci= are needed, or dump=\n");
		return -EINVAL;
	}
	err = shm_map(files.shm);
	if (err) {
		fprintf(stderr, "t410: %s: %s\n", files.shm, strerror(-err));
		return err;
	}
	err = pci_load(files.pci);
	if (err) {
		fprintf(stderr, "t410: %s: %s\n", files.pci, strerror(-err));
		return err;
	}
	if (files.log) {
		access_log = fopen(files.log, "w");
		if (!access_log) {
			fprintf(stderr, "t410: %s: %s\n", files.log, strerror(errno));
			return -EIO;
		}
		/* readable while the machine runs, and after it was killed */
		setlinebuf(access_log);
	}
	return 0;
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	plugin_id = id;
	for (int i = 0; i < argc; i++)
		if (parse_option(argv[i])) {
			fprintf(stderr, "t410: option not understood: %s\n", argv[i]);
			return 1;
		}
	if (!files.dump && open_files())
		return 1;
	if (machine.shape == SHAPE_KUNPENG || machine.shape == SHAPE_CMN)
		machine.counter_bits = 32; /* so the machine looks for overflows */
	units_init();
	link_init();
	ddrc_init();
	cmn_init();
	qemu_add_machine_init_done_notifier(&ready);
	return 0;
}
