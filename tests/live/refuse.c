// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Preloaded: every BPF program named in REFUSE (commas between) reaches the kernel as one that the
 * verifier refuses, as if a compiler had made it so: it reads a register that was never written.
 */
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static bool is_named(const char *name)
{
	const char *list = getenv("REFUSE");
	size_t length = strlen(name);

	for (; list && length; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
		if (!strncmp(list, name, length) && (!list[length] || list[length] == ','))
			return true;
	return false;
}

/* libbpf has no other way to the kernel. */
long syscall(long number, ...)
{
	static const struct bpf_insn unwritten[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_9 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	union bpf_attr *attr, mine;
	long arg[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	attr = (union bpf_attr *)arg[1];
	if (number == SYS_bpf && arg[0] == BPF_PROG_LOAD && is_named(attr->prog_name)) {
		memset(&mine, 0, sizeof(mine));
		memcpy(&mine, attr, (size_t)arg[2] < sizeof(mine) ? (size_t)arg[2] : sizeof(mine));
		mine.insns = (uintptr_t)unwritten;
		mine.insn_cnt = 2;
		mine.func_info_cnt = mine.line_info_cnt = mine.core_relo_cnt = 0;
		arg[1] = (long)&mine;
	}
	return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
