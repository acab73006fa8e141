/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of QEMU 7.2 that this plugin calls. QEMU exports them for its
 * own loadable modules, so a plugin can reach them too, and Debian's binary is
 * used as it is. They are no stable interface: the launcher refuses versions of
 * QEMU that this has not been tried with. Only what is used is declared; objects
 * whose layout we do not know are opaque, and where QEMU wants the caller to
 * provide the memory we give it much more than it needs.
 */
#ifndef T410_QEMU_API_H
#define T410_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MemoryRegion MemoryRegion;
typedef struct FWCfgState FWCfgState;
typedef struct Object Object;
typedef struct IRQState *qemu_irq;
typedef struct QEMUTimer QEMUTimer;
typedef struct Notifier Notifier;
typedef struct BlockBackend BlockBackend;

#define MEMORY_REGION_ROOM 8192
#define TIMER_ROOM	   1024

struct Notifier {
	void (*notify)(Notifier *n, void *data);
	struct {
		void *next;
		void **previous;
	} link;
};

enum device_endian { DEVICE_LITTLE_ENDIAN = 2 };

/* Field order is QEMU's; sizes in bytes */
typedef struct MemoryRegionOps {
	uint64_t (*read)(void *opaque, uint64_t addr, unsigned int size);
	void (*write)(void *opaque, uint64_t addr, uint64_t value, unsigned int size);
	void *read_with_attrs;
	void *write_with_attrs;
	enum device_endian endianness;
	struct {
		unsigned int min_access_size, max_access_size;
		bool unaligned;
		void *accepts;
	} valid;
	struct {
		unsigned int min_access_size, max_access_size;
		bool unaligned;
	} impl;
} MemoryRegionOps;

void qemu_add_machine_init_done_notifier(Notifier *n);

MemoryRegion *get_system_memory(void);
void memory_region_init_io(MemoryRegion *mr, Object *owner, const MemoryRegionOps *ops,
			   void *opaque, const char *name, uint64_t size);
void memory_region_add_subregion(MemoryRegion *parent, uint64_t offset, MemoryRegion *mr);

FWCfgState *fw_cfg_find(void);
void *fw_cfg_modify_file(FWCfgState *s, const char *name, void *data, size_t len);
void fw_cfg_add_file(FWCfgState *s, const char *name, void *data, size_t len);

/* A device is an object, so Object also stands for QEMU's DeviceState here */
Object *object_resolve_path_type(const char *path, const char *type_name, bool *ret_ambiguous);
qemu_irq qdev_get_gpio_in(Object *device, int n);
void qemu_set_irq(qemu_irq irq, int level);

enum qemu_clock { QEMU_CLOCK_REALTIME = 0, QEMU_CLOCK_VIRTUAL = 1 };
#define SCALE_NS 1
void timer_init_full(QEMUTimer *t, void *group, enum qemu_clock clock, int scale, int attributes,
		     void (*callback)(void *opaque), void *opaque);
void timer_mod_ns(QEMUTimer *t, int64_t expire);
int64_t qemu_clock_get_ns(enum qemu_clock clock);

enum block_acct_type { BLOCK_ACCT_READ = 1, BLOCK_ACCT_WRITE = 2, BLOCK_MAX_IOTYPE = 5 };

/* The beginning of it; the lock is a pthread_mutex_t and a flag */
typedef struct BlockAcctStats {
	uint64_t lock[6];
	uint64_t nr_bytes[BLOCK_MAX_IOTYPE];
	uint64_t nr_ops[BLOCK_MAX_IOTYPE];
} BlockAcctStats;

BlockBackend *blk_by_name(const char *name);
BlockAcctStats *blk_get_stats(BlockBackend *blk);

#endif
