// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/bpf/kernel_clock.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"

/* The NMI-safe clock may differ by some ns while the kernel adjusts it. */
#define TOLERANCE_NS 100000

int kernel_clock_read(struct clock_reading *ret)
{
	/* *(u64 *)context = bpf_ktime_get_ns(); */
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_1 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, load, .prog_flags = BPF_F_SLEEPABLE);
	LIBBPF_OPTS(bpf_test_run_opts, test, .ctx_in = &ret->kernel_ns,
		    .ctx_size_in = sizeof(ret->kernel_ns));
	/* Programs of this type return more than 32 bits; Linux has them since 5.14. */
	cleanup_close int fd = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "t410_clock", "Dual BSD/GPL",
					     program, ARRAY_SIZE(program), &load);
	int err;

	if (fd < 0)
		return fd;
	ret->kernel_ns = 0;
	ret->before_ns = monotonic_ns();
	err = bpf_prog_test_run_opts(fd, &test);
	ret->after_ns = monotonic_ns();
	return err;
}

int64_t kernel_clock_lead(const struct clock_reading *c)
{
	int64_t before = (int64_t)(c->before_ns - c->kernel_ns);
	int64_t after = (int64_t)(c->after_ns - c->kernel_ns);

	if (before > TOLERANCE_NS)
		return before;
	return after < -TOLERANCE_NS ? after : 0;
}

int kernel_clock_problem(int64_t lead_ns, struct diag *d)
{
	diag_fail(d, -ETIME, "CLOCK_MONOTONIC of this process is %.4f s %s the kernel's",
		  (lead_ns < 0 ? -(double)lead_ns : (double)lead_ns) / (double)NS_PER_S,
		  lead_ns < 0 ? "behind" : "ahead of");
	return diag_advise(d, -ETIME,
			   "it is in a time namespace (unshare -T, CRIU, timeOffsets of a "
			   "container): run \"nsenter -t 1 -T t410trace ...\", in a container with "
			   "the pid namespace of the machine");
}

int kernel_clock_check(struct diag *d)
{
	struct clock_reading c;
	int64_t lead = kernel_clock_read(&c) ? 0 : kernel_clock_lead(&c);

	return lead ? kernel_clock_problem(lead, d) : 0;
}
