// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Map kernel maps into memory, run programs on a CPU, look things up in the kernel's BTF. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/bpf/ledger_internal.h"

int ledger_map_memory(const struct bpf_map *map, uint32_t nr, size_t value_size, void **ret,
		      size_t *ret_size)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t size = (nr * value_size + page - 1) / page * page;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	*ret_size = size;
	return 0;
}

int ledger_run_on(const struct bpf_program *prog, int cpu, uint32_t *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	if (bpf_prog_test_run_opts(bpf_program__fd(prog), &o))
		return -errno;
	if (ret)
		*ret = o.retval;
	return 0;
}

uint64_t ledger_misses(const struct bpf_program *prog)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_program__fd(prog) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
		return 0;
	return info.recursion_misses;
}

bool ledger_kernel_has(const char *name, uint32_t kind)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool has = btf && btf__find_by_name_kind(btf, name, kind) > 0;

	btf__free(btf);
	return has;
}

bool ledger_has_tracepoint(const struct btf *btf, const char *name)
{
	char type[64];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return btf && btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
}

int ledger_enum_value(const struct btf *btf, const char *type, const char *name, uint32_t *ret)
{
	int id = btf ? btf__find_by_name_kind(btf, type, BTF_KIND_ENUM) : -ENOENT;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;
	const struct btf_enum *e = t ? btf_enum(t) : NULL;

	for (uint32_t i = 0; t && i < btf_vlen(t); i++) {
		if (strcmp(btf__name_by_offset(btf, e[i].name_off), name) != 0)
			continue;
		*ret = e[i].val;
		return 0;
	}
	return -ENOENT;
}

uint32_t ledger_zone_append(const struct btf *btf)
{
	uint32_t op = 0;

	if (ledger_enum_value(btf, "req_op", "REQ_OP_ZONE_APPEND", &op))
		ledger_enum_value(btf, "req_opf", "REQ_OP_ZONE_APPEND", &op);
	return op;
}
