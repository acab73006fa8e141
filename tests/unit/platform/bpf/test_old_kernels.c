// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Do the BPF programs fit old kernels? libbpf relocates them by type information of such a kernel
 * (tests/fixtures/old_kernels.c), and a walk through each program sees whether anything can be
 * reached that the kernel does not have: a type, a member or a value that libbpf did not find, a
 * helper, or an argument of a tracepoint. The verifier refuses just that. What the kernel of this
 * machine says is of no importance: its system call is played here. The same walk sees whether
 * programs that tasks run send their records with preemption off.
 */
#include <bpf/btf.h>
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "platform/bpf/ledger_internal.h"
#include "skip.h"

/* What libbpf puts in the place of an instruction whose relocation has no target. */
#define POISON	  0xbad2310

/* For every map, enough for what libbpf maps of it. */
#define MAP_BYTES (64 << 20)

/* The last one is none of the program's: whether preemption is off */
#define REGISTERS 12
#define HELD	  11

/* The functions that programs call in place of the stand-ins */
static const struct ledger_preempt functions = { .off = 1001, .on = 1002 };

/* Tasks run these programs, and the kernel would let others have their CPU. */
static bool preempted;

/**
 * struct value - what is known of a register
 * @kind: NOTHING has been seen of it, a NUMBER, the program's CONTEXT, or ANYTHING
 */
struct value {
	enum { NOTHING, NUMBER, CONTEXT, ANYTHING } kind;
	uint64_t number;
};

struct walk {
	const struct bpf_insn *insns;
	size_t nr;
	struct value (*at)[REGISTERS];
	size_t *todo;
	size_t nr_todo;
	bool *waits;
	bool *reached;
};

/* Relocations by types that the kernel has not got; what the present one is about. */
static int nameless;
static char about[256];

static long new_fd(bool is_map)
{
	int fd = memfd_create("bpf", MFD_CLOEXEC);

	return is_map && ftruncate(fd, MAP_BYTES) ? -1 : fd;
}

/* libbpf's call ends here instead of in the C library. */
long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number != SYS_bpf)
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	switch (a[0]) {
	case BPF_MAP_CREATE:
	case BPF_PROG_LOAD:
	case BPF_BTF_LOAD:
		return new_fd(a[0] == BPF_MAP_CREATE);
	case BPF_MAP_UPDATE_ELEM:
	case BPF_MAP_FREEZE:
	case BPF_PROG_BIND_MAP:
		return 0;
	default:
		errno = a[0] == BPF_BTF_GET_NEXT_ID ? ENOENT : EINVAL;
		return -1;
	}
}

static void go_to(struct walk *w, size_t pc, const struct value regs[REGISTERS])
{
	bool changed;

	assert_true(pc < w->nr);
	changed = !w->reached[pc];
	for (int r = 0; r < REGISTERS; r++) {
		struct value *v = &w->at[pc][r];

		if (v->kind == ANYTHING || regs[r].kind == NOTHING ||
		    (v->kind == regs[r].kind && v->number == regs[r].number))
			continue;
		*v = v->kind == NOTHING ? regs[r] : (struct value){ ANYTHING, 0 };
		changed = true;
	}
	w->reached[pc] = true;
	if (changed && !w->waits[pc]) {
		w->waits[pc] = true;
		w->todo[w->nr_todo++] = pc;
	}
}

/* A function of the program, of whose arguments nothing is known. */
static void enter(struct walk *w, size_t pc, struct value held)
{
	struct value regs[REGISTERS];

	for (int r = 0; r < REGISTERS; r++)
		regs[r] = (struct value){ ANYTHING, 0 };
	regs[HELD] = held;
	go_to(w, pc, regs);
}

/* Whether a branch is taken: 0, 1, or -1 when it is not known. */
static int taken(const struct bpf_insn *in, const struct value regs[REGISTERS])
{
	struct value a = regs[in->dst_reg], b = { NUMBER, (uint64_t)(int64_t)in->imm };

	if (BPF_SRC(in->code) == BPF_X)
		b = regs[in->src_reg];
	if (a.kind != NUMBER || b.kind != NUMBER)
		return -1;
	if (BPF_CLASS(in->code) == BPF_JMP32) {
		a.number = (uint32_t)a.number;
		b.number = (uint32_t)b.number;
	}
	switch (BPF_OP(in->code)) {
	case BPF_JEQ:
		return a.number == b.number;
	case BPF_JNE:
		return a.number != b.number;
	case BPF_JSET:
		return (a.number & b.number) != 0;
	default:
		return -1;
	}
}

static void set(const struct bpf_insn *in, struct value regs[REGISTERS])
{
	struct value *to = &regs[in->dst_reg];
	bool is_move = BPF_OP(in->code) == BPF_MOV && !in->off;

	if (is_move && BPF_SRC(in->code) == BPF_K)
		*to = (struct value){ NUMBER, (uint64_t)(int64_t)in->imm };
	else if (is_move)
		*to = regs[in->src_reg];
	else
		*to = (struct value){ ANYTHING, 0 };
	if (BPF_CLASS(in->code) != BPF_ALU)
		return;
	if (to->kind == NUMBER)
		to->number = (uint32_t)to->number;
	else
		to->kind = ANYTHING;
}

/* Follows one instruction other than a call to what can come next. */
static void follow(struct walk *w, size_t pc, struct value regs[REGISTERS])
{
	const struct bpf_insn *in = &w->insns[pc];
	bool is_wide = in->code == (BPF_LD | BPF_IMM | BPF_DW);
	int is_taken;

	switch (BPF_CLASS(in->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		set(in, regs);
		break;
	case BPF_LD:
		regs[in->dst_reg] = (struct value){ ANYTHING, 0 };
		if (is_wide && in->src_reg == BPF_PSEUDO_FUNC)
			enter(w, pc + 1 + in->imm, regs[HELD]);
		else if (is_wide && !in->src_reg)
			regs[in->dst_reg] = (struct value){
				NUMBER, (uint32_t)in->imm | (uint64_t)(uint32_t)in[1].imm << 32
			};
		break;
	case BPF_LDX:
		regs[in->dst_reg] = (struct value){ ANYTHING, 0 };
		break;
	case BPF_STX:
		/* atomic operations return what was there */
		if (BPF_MODE(in->code) == BPF_ATOMIC && in->imm & BPF_FETCH)
			regs[in->imm == BPF_CMPXCHG ? 0 : in->src_reg] =
				(struct value){ ANYTHING, 0 };
		break;
	case BPF_JMP:
	case BPF_JMP32:
		if (BPF_OP(in->code) == BPF_EXIT)
			return;
		is_taken = BPF_OP(in->code) == BPF_JA ? 1 : taken(in, regs);
		if (is_taken)
			go_to(w, pc + 1 + in->off, regs);
		if (is_taken == 1)
			return;
		break;
	}
	go_to(w, pc + 1 + is_wide, regs);
}

static void call(struct walk *w, size_t pc, struct value regs[REGISTERS])
{
	const struct bpf_insn *in = &w->insns[pc];

	if (in->src_reg == BPF_PSEUDO_CALL)
		enter(w, pc + 1 + in->imm, regs[HELD]);
	if (in->src_reg == BPF_PSEUDO_KFUNC_CALL)
		regs[HELD] = (struct value){ NUMBER, in->imm == functions.off };
	for (int r = 0; r <= 5; r++)
		regs[r] = (struct value){ ANYTHING, 0 };
	go_to(w, pc + 1, regs);
}

/* What kernels refuse of one instruction that is reached, NULL for nothing. */
static const char *refused(const struct bpf_insn *in, const struct value regs[REGISTERS],
			   uint32_t nr_helpers, int nr_args)
{
	if (BPF_CLASS(in->code) == BPF_LDX && regs[in->src_reg].kind == CONTEXT && nr_args >= 0 &&
	    in->off >= nr_args * 8)
		return "an argument of the tracepoint";
	if (in->code != (BPF_JMP | BPF_CALL) || in->src_reg)
		return NULL;
	if (preempted && in->imm == BPF_FUNC_ringbuf_output &&
	    (regs[HELD].kind != NUMBER || !regs[HELD].number))
		return "its CPU, which others can have,";
	if (in->imm == POISON)
		return "a type, member or value";
	return (uint32_t)in->imm >= nr_helpers ? "a helper" : NULL;
}

/* What the program reaches that the kernel lacks, NULL for nothing. @nr_args: of its tracepoint, -1: none. */
static const char *lacks(const struct bpf_program *prog, uint32_t nr_helpers, int nr_args)
{
	struct walk w = { .insns = bpf_program__insns(prog), .nr = bpf_program__insn_cnt(prog) };
	const char *what = NULL;

	w.at = calloc(w.nr, sizeof(*w.at));
	w.todo = calloc(w.nr, sizeof(*w.todo));
	w.waits = calloc(w.nr, sizeof(*w.waits));
	w.reached = calloc(w.nr, sizeof(*w.reached));
	assert_true(w.at && w.todo && w.waits && w.reached);
	enter(&w, 0, (struct value){ NUMBER, 0 });
	w.at[0][1].kind = CONTEXT;
	while (w.nr_todo && !what) {
		size_t pc = w.todo[--w.nr_todo];
		struct value regs[REGISTERS];

		w.waits[pc] = false;
		memcpy(regs, w.at[pc], sizeof(regs));
		what = refused(&w.insns[pc], regs, nr_helpers, nr_args);
		if (w.insns[pc].code == (BPF_JMP | BPF_CALL))
			call(&w, pc, regs);
		else
			follow(&w, pc, regs);
	}
	free(w.at);
	free(w.todo);
	free(w.waits);
	free(w.reached);
	return what;
}

/* The number of helpers that the kernel has. */
static uint32_t helpers_of(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "bpf_func_id", BTF_KIND_ENUM);
	const struct btf_type *type = btf__type_by_id(btf, id);

	assert_non_null(type);
	for (int i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(type)[i].name_off),
			    "__BPF_FUNC_MAX_ID"))
			return btf_enum(type)[i].val;
	fail_msg("no end of helpers");
	return 0;
}

/* How many arguments the program's tracepoint has; -1: it is of none, -2: the kernel has not got it. */
static int args_of(const struct btf *btf, const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);
	const struct btf_type *type;
	char name[64];
	int id;

	if (strncmp(section, "tp_btf/", 7) != 0)
		return -1;
	snprintf(name, sizeof(name), "btf_trace_%s", section + 7);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -2;
	type = btf__type_by_id(btf, btf__type_by_id(btf, id)->type); /* a pointer */
	return btf_vlen(btf__type_by_id(btf, type->type)) - 1;
}

/* The one before has ended: it is without a type when nothing was said of one. */
static void relocation_begins(const char *message)
{
	nameless += about[0] != '\0';
	if (about[0])
		print_message("# no such type: %s", about);
	snprintf(about, sizeof(about), "%.250s", message);
}

/*
 * libbpf tells of each relocation what it is about ("relo #1: <byte_off> [2] struct task_struct.pid"),
 * and then which types of that name the kernel has ("relo #1: matching candidate #0 <...>").
 */
static void on_print(const char *message)
{
	const char *relo = strstr(message, ": relo #");

	if (!relo || !strstr(relo, " <"))
		return;
	if (strstr(relo, "matching candidate"))
		about[0] = '\0';
	else
		relocation_begins(message);
}

static int on_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char message[1024];

	vsnprintf(message, sizeof(message), fmt, ap);
	if (level == LIBBPF_DEBUG)
		on_print(message);
	else
		print_error("%s", message);
	return 0;
}

/* Those of tp_btf/ that no task loses its CPU in: interrupts are off, or soft ones are. */
static bool is_preempted(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	return !strncmp(section, "tp_btf/", 7) && strcmp(section, "tp_btf/sched_switch") != 0 &&
	       strcmp(section, "tp_btf/hrtimer_expire_entry") != 0 &&
	       strcmp(section, "tp_btf/net_dev_start_xmit") != 0;
}

/*
 * Relocates all programs for the kernel of @path and counts those that it would refuse, by name. @p:
 * the kernel preempts programs, and they call these functions; NULL: it does not.
 */
static int refused_programs(const char *path, bool report, const struct ledger_preempt *p)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = path);
	struct t410trace *skel = t410trace__open_opts(&opts);
	struct btf *btf = btf__parse(path, NULL);
	struct bpf_program *prog;
	int bad = 0, loaded = 0;

	assert_non_null(skel);
	assert_non_null(btf);
	bpf_object__for_each_program(prog, skel->obj)
		bpf_program__set_autoload(prog, args_of(btf, prog) != -2);
	nameless = 0;
	libbpf_set_print(on_libbpf);
	if (p)
		assert_int_equal(ledger_preempt_use(skel->obj, p), 0);
	assert_int_equal(t410trace__load(skel), 0);
	relocation_begins("");
	/* libbpf would look for them in modules, which needs CAP_SYS_ADMIN. */
	bad += nameless;
	bpf_object__for_each_program(prog, skel->obj)
	{
		const char *what;

		if (!bpf_program__autoload(prog))
			continue;
		loaded++;
		preempted = p && is_preempted(prog);
		what = lacks(prog, helpers_of(btf), args_of(btf, prog));
		bad += what != NULL;
		if (what && report)
			print_error("%s: %s needs %s that the kernel lacks\n", path,
				    bpf_program__name(prog), what);
	}
	assert_true(loaded > 20);
	btf__free(btf);
	t410trace__destroy(skel);
	return bad;
}

static void needs_types(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip_because("libbpf wants type information of this kernel");
}

static void linux_5_15(void **state)
{
	(void)state;
	needs_types();
	assert_int_equal(refused_programs(KERNELS "/515.o", true, NULL), 0);
}

static void linux_5_18(void **state)
{
	(void)state;
	needs_types();
	assert_int_equal(refused_programs(KERNELS "/518.o", true, NULL), 0);
}

/* The enum has another name, and its value is another one. */
static void append_is_found(void **state)
{
	struct btf *btf = btf__parse(KERNELS "/515.o", NULL);

	(void)state;
	assert_non_null(btf);
	assert_int_equal(ledger_zone_append(btf), 13);
	btf__free(btf);
	assert_int_equal(ledger_zone_append(NULL), 0);
	needs_types();
	btf = btf__load_vmlinux_btf();
	assert_non_null(btf);
	assert_true(ledger_zone_append(btf) > 1);
	btf__free(btf);
}

/* Disks have no sequence numbers and sockets no such cgroups: this test can see what is missing. */
static void linux_5_14_is_too_old(void **state)
{
	(void)state;
	needs_types();
	assert_int_equal(refused_programs(KERNELS "/514.o", false, NULL), 5);
}

/* Those of tasks, of cgroups and of disks that are done: without the calls, each could lose its CPU. */
static void tasks_keep_their_cpu(void **state)
{
	const struct ledger_preempt none = { 0 };

	(void)state;
	needs_types();
	assert_int_equal(refused_programs(KERNELS "/518.o", true, &functions), 0);
	assert_int_equal(refused_programs(KERNELS "/518.o", false, &none), 4 + 3 + 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linux_5_15),		cmocka_unit_test(linux_5_18),
		cmocka_unit_test(append_is_found),	cmocka_unit_test(linux_5_14_is_too_old),
		cmocka_unit_test(tasks_keep_their_cpu),
	};

	/* another kernel, for whoever wants to know */
	if (argc > 1)
		return refused_programs(argv[1], true, NULL) != 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
