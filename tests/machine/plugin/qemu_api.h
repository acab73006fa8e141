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

/* The plugin interface itself, as 7.2 has it */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint32_t qemu_plugin_meminfo_t;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };
typedef void qemu_plugin_vcpu_mem_cb_t(unsigned int cpu, qemu_plugin_meminfo_t info,
				       uint64_t address, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*callback)(uint64_t id, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      qemu_plugin_vcpu_mem_cb_t *callback,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *data);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
int qemu_plugin_n_vcpus(void);
int qemu_plugin_n_max_vcpus(void);

/* Opaque for other plugins: they would get a physical address of it, by searching */
struct qemu_plugin_hwaddr {
	bool is_io;
	bool is_store;
	union {
		struct {
			void *section;
			uint64_t offset;
		} io;
		struct {
			void *hostaddr;
		} ram;
	} v;
};
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t address);

typedef struct CPUState CPUState;
CPUState *qemu_get_cpu(int index);
bool cpu_thread_is_idle(CPUState *cpu);
void cpu_exit(CPUState *cpu);
typedef union {
	void *host_ptr;
	unsigned long host_ulong;
} run_on_cpu_data;
void async_run_on_cpu(CPUState *cpu, void (*function)(CPUState *cpu, run_on_cpu_data data),
		      run_on_cpu_data data);
extern __thread CPUState *current_cpu;
void tb_flush(CPUState *cpu);

BlockBackend *blk_by_name(const char *name);
BlockAcctStats *blk_get_stats(BlockBackend *blk);

#endif
