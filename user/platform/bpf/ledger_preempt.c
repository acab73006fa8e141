// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tasks keep their CPU while they send a record: see preempt_off() in bpf/shared.bpf.h. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "platform/bpf/ledger_internal.h"

static struct bpf_insn call_of(int32_t function)
{
	return (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
				  .src_reg = BPF_PSEUDO_KFUNC_CALL,
				  .imm = function };
}

void ledger_preempt_find(const struct btf *btf, struct ledger_preempt *ret)
{
	int off = btf ? btf__find_by_name_kind(btf, "bpf_preempt_disable", BTF_KIND_FUNC) : 0;
	int on = off > 0 ? btf__find_by_name_kind(btf, "bpf_preempt_enable", BTF_KIND_FUNC) : 0;
	const struct bpf_insn program[] = {
		call_of(off),
		call_of(on),
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd;

	*ret = (struct ledger_preempt){ 0 };
	if (on <= 0)
		return;
	/* A kernel that has them may refuse them: without a JIT they cannot be called. */
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "t410_preempt", "GPL", program,
			   ARRAY_SIZE(program), NULL);
	if (fd < 0)
		return;
	close(fd);
	*ret = (struct ledger_preempt){ .off = off, .on = on };
}

static bool stands_for(const struct bpf_insn *in, int32_t number)
{
	return in->code == (BPF_ALU64 | BPF_MOV | BPF_K) && in->dst_reg == BPF_REG_0 &&
	       in->imm == number;
}

static int use_in(struct bpf_program *prog, const struct ledger_preempt *p)
{
	size_t nr = bpf_program__insn_cnt(prog);
	struct bpf_insn *insns = malloc(nr * sizeof(*insns));
	int err;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), nr * sizeof(*insns));
	for (size_t i = 0; i < nr; i++) {
		if (stands_for(&insns[i], LEDGER_PREEMPT_OFF))
			insns[i] = call_of(p->off);
		else if (stands_for(&insns[i], LEDGER_PREEMPT_ON))
			insns[i] = call_of(p->on);
	}
	err = bpf_program__set_insns(prog, insns, nr);
	free(insns);
	return err;
}

int ledger_preempt_use(const struct bpf_object *obj, const struct ledger_preempt *p)
{
	struct bpf_program *prog;
	int err = 0;

	bpf_object__for_each_program(prog, obj)
	{
		if (p->off && !err)
			err = use_in(prog, p);
	}
	return err;
}
