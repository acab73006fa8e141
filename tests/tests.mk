# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests, documents and checks; included by the Makefile.

UNIT	:= $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(sort $(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c)))

# An archive: each test has only what it tests, and the samples are compiled once.
UNITLIB	:= $(B)/tests/unit/common.a

$(UNITLIB): $(B)/tests/unit/sample_report.o $(B)/tests/unit/sample_devices.o $(LIBOBJ)
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcsT $@ $^

# Compiled once and linked again: a change in user/ compiles no test
# cmocka 2 calls old what cmocka 1 has no other name for.
$(B)/tests/unit/%.o: CPPFLAGS += -Itests/unit -DCMOCKA_DISABLE_DEPRECATION_WARNINGS
.PRECIOUS: $(UNIT:%=%.o) $(B)/tests/unit/%.o
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(UNITLIB)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< $(UNITLIB) -lcmocka $(LIBS)

# It makes the allocations of the keeper fail, one after the other
$(B)/tests/unit/engine/accounts/test_accounts_memory: LDFLAGS += -Wl,--wrap=calloc,--wrap=reallocarray,--wrap=strdup
$(B)/tests/unit/replay/test_replay: LDFLAGS += -Wl,--wrap=calloc
$(B)/tests/unit/trace/test_header: LDFLAGS += -Wl,--wrap=reallocarray,--wrap=strdup
$(B)/tests/unit/sources/esp/test_esp_library.o: CPPFLAGS += -Itests/unit/sources/esp
# It plays the clock
$(B)/tests/unit/base/test_clock: LDFLAGS += -Wl,--wrap=clock_gettime
# It plays the hardware of an ESP
$(B)/tests/unit/sources/esp/test_esp: LDFLAGS += -Wl,--wrap=esp_register_get,--wrap=esp_register_put
$(B)/tests/unit/live/lookup/test_live_watch: LDFLAGS += -Wl,--wrap=clock_gettime,--wrap=ledger_reader_stop \
	-Wl,--wrap=ledger_drain,--wrap=ledger_weights_stand_still,--wrap=ledger_weights_drop \
	-Wl,--wrap=ledger_weights_put

# It says who has which device open
$(B)/tests/unit/live/lookup/test_live_cpus: LDFLAGS += -Wl,--wrap=clock_gettime,--wrap=ledger_cpu_runs \
	-Wl,--wrap=ledger_cpu_socket
$(B)/tests/unit/live/sources/test_device_io: LDFLAGS += -Wl,--wrap=owners_find,--wrap=owners_others \
	-Wl,--wrap=clock_gettime

# It plays the clock, and the boundaries of sockets
$(B)/tests/unit/live/run/test_mark_time: LDFLAGS += -Wl,--wrap=clock_gettime,--wrap=ledger_mark

# It plays the kernel
$(B)/tests/unit/platform/bpf/test_ledger_flush: LDFLAGS += -Wl,--wrap=ledger_drain,--wrap=ledger_run_on \
	-Wl,--wrap=sched_getcpu -pthread

# It plays the kernel, too
$(B)/tests/unit/platform/bpf/test_ledger_misses: LDFLAGS += -Wl,--wrap=bpf_program__fd,--wrap=bpf_obj_get_info_by_fd

# What old kernels call things; see there
OLD	:= $(patsubst %,$(B)/tests/kernels/%.o,514 515 518)
$(OLD): $(B)/tests/kernels/%.o: tests/fixtures/old_kernels.c $(B)/.bpfflags
	@mkdir -p $(@D)
	$(call say,BPF,$@)
	$(Q)$(CLANG) -O2 -g -target bpf $(WARN) -DLINUX=$* -c -o $@ $<
$(B)/tests/unit/platform/bpf/test_old_kernels: | $(OLD)
$(B)/tests/unit/platform/bpf/test_old_kernels.o: $(SKEL)
$(B)/tests/unit/platform/bpf/test_old_kernels.o: CPPFLAGS += -DKERNELS='"$(B)/tests/kernels"'

# Built, not run: tests/run.sh runs them
.PHONY: unit-programs
unit-programs: $(UNIT) $(B)/tests/unit/make_accounts $(PROGRAM) $(GPU)

# The ledger without the rest of t410trace, for live tests and the benchmark
$(B)/tests/live/weigh $(B)/tests/live/iowho $(B)/tests/live/reader: $(B)/tests/live/%: tests/live/%.c $(LIBOBJ)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(WARN) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(LIBOBJ) $(LIBS)

# t410trace with one more source, for live tests; the row is in user/live/run/sources.c
$(B)/tests/live/sources.o: user/live/run/sources.c $(B)/.flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) -DEXTRA_SOURCE=source_file $(WARN) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/tests/live/t410trace-file: $(B)/tests/live/sources.o $(B)/tests/live/source_file.o \
		$(filter-out $(B)/user/live/run/sources.o,$(LIBOBJ)) $(B)/user/cli/main.o
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# Accounts, metrics and the HTTP server with made-up numbers, for Prometheus
$(B)/tests/live/exporter: tests/live/exporter.c $(LIBOBJ)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(WARN) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(LIBOBJ) -lcmocka $(LIBS)

.PHONY: check
check:
	@packaging/deps.sh
	@tests/run.sh

# After a change: what is quick and fails most often. Accuracy takes half of the time, and depends on
# these folders alone.
ENGINE	:= $(addprefix user/,base engine model replay trace) include tests/accuracy
.PHONY: quick
quick:
	@packaging/deps.sh
	@QUICK=1 exec tests/run.sh style programs emulation $$([ -z "$$(git status --porcelain $(ENGINE))" ] || echo accuracy)

# Parts of it: make check-style, check-accuracy, check-emulation, check-unit, check-live, check-build,
# check-bpf, check-asan, check-valgrind, check-hardware, check-machine. T="book split*" picks unit tests
# by their names, also for check-asan and check-valgrind. Not a part of it, but of check-all:
# check-clangs is check-bpf with all clangs of this Debian release, check-kernel boots the release's own
# kernel and runs live tests in it, check-riscv64 the same with the program and Debian's kernel for
# riscv64, check-drivers has more of other makers' drivers, check-large more CPUs, check-fleet jobs on
# three nodes, and 1,000 that end at once, check-operation packages under systemd, check-pages clicks pages
# of reports in a browser, check-packages makes and installs packages
check-%:
	@T='$(T)' exec tests/run.sh $*

# The README's two commands on fresh Debian releases; as root. The short form takes some 15 minutes a
# release; all of it: make check-fresh FRESH=trixie PARTS=all
.PHONY: check-fresh
check-fresh:
	@PARTS="$(PARTS)" exec tests/fresh.sh $(FRESH)

# Thirty seeds of every kind of scenario, beside simpler methods: the table of docs/ACCURACY.md (3 min)
.PHONY: accuracy
accuracy: $(PROGRAM)
	tests/accuracy/accuracy.py table ./$(PROGRAM) docs/ACCURACY.md

# What each number of the estimate does: the error at half, one and double of it, for
# docs/ESTIMATE.md. It goes on where it was ended (25 min)
SCALED	:= $(filter $(addprefix $(B)/user/engine/,filter/filter% split/% book/book_scale.o),$(OBJ))
SCALED_OBJ := $(SCALED:$(B)/%=$(B)/sensitivity/%) $(B)/tests/accuracy/scaled.o
SENSITIVE := $(addprefix $(B)/sensitivity/,t410trace test_io_accuracy)

$(B)/sensitivity/user/%.o: user/%.c $(B)/.flags | $(B)/.need
	@mkdir -p $(@D)
	$(call say,SCALED,$<)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) -DSENSITIVITY $(WARN) $(CFLAGS) -MMD -MP -c -o $@ $<
$(B)/tests/accuracy/scaled.o: CPPFLAGS += -DSENSITIVITY

$(B)/sensitivity/t410trace: $(B)/user/cli/main.o
$(B)/sensitivity/test_io_accuracy: $(B)/tests/unit/engine/split/test_io_accuracy.o
$(SENSITIVE): $(SCALED_OBJ) $(filter-out $(SCALED),$(LIBOBJ))
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

.PHONY: sensitivity
sensitivity: $(PROGRAM) $(SENSITIVE) $(B)/tests/unit/engine/split/test_io_accuracy
	tests/accuracy/sensitivity.py $(B) ./$(PROGRAM) docs/ESTIMATE.md

# Benches of the engine, which run without a kernel's help
BENCH	:= $(addprefix $(B)/tests/bench/,accounts estimate jobs large memory replay store top)

$(BENCH): $(B)/tests/bench/%: tests/bench/%.c tests/bench/synthetic.c $(LIBOBJ)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(WARN) $(CFLAGS) -MMD -MP $(LDFLAGS) -o $@ \
		$(filter %.c,$^) $(LIBOBJ) $(LIBS)

# Built, not run: tests/build.sh sees to it that they follow the program
.PHONY: bench-programs
bench-programs: $(BENCH)

.PHONY: bench-engine
bench-engine: $(BENCH)
	tests/bench/engine.sh $(B)/tests/bench

# What it costs beside its hooks: start, the idle daemon, 1,000 processes, size, build; as root (4 min)
.PHONY: bench-run
bench-run: $(PROGRAM)
	@packaging/deps.sh
	PYTHONDONTWRITEBYTECODE=1 tests/bench/bench_run.py ./$(PROGRAM)

# Observers and loads of the comparison
OBSERVED := bpftrace redis-server redis-tools

.PHONY: bench
bench: $(PROGRAM) bench-engine
	@packaging/deps.sh $(OBSERVED)
	tests/bench/bench.sh bench ./$(PROGRAM)
	tests/bench/bench.sh disturb ./$(PROGRAM)

# Does the ring overrun where CPUs switch as often as they can: a table of docs/PERFORMANCE.md; as root (7 min)
.PHONY: bench-storm
bench-storm: $(PROGRAM)
	@packaging/deps.sh
	PYTHONDONTWRITEBYTECODE=1 tests/bench/bench_storm.py --document docs/PERFORMANCE.md $(OPTIONS) ./$(PROGRAM)

# What it slows others down by, beside other observers: the table of docs/PERFORMANCE.md; as root, on a
# machine that does nothing else (15 min). OPTIONS="--pairs 6" is a short one
.PHONY: bench-disturb
bench-disturb: $(PROGRAM)
	@packaging/deps.sh $(OBSERVED)
	tests/bench/bench.sh disturb ./$(PROGRAM) --document docs/PERFORMANCE.md --progress $(OPTIONS)

# The virtual T410: downloads and builds what is missing
.PHONY: machine
machine:
	@packaging/deps.sh
	@tests/machine/run prepare

# Debian's programs alone and beside three others, with true traffic from a cache model: the second
# table of docs/ACCURACY.md (6 min). Needs make ARCH=arm64 LINK=shared
.PHONY: real-programs
real-programs: $(PROGRAM)
	@packaging/deps.sh
	T410_REPORT=./$(PROGRAM) T410_TABLE=docs/ACCURACY.md tests/machine/real.sh

# The picture of docs/TOP.md from a terminal, and those of docs/PAGE.md, by Debian's chromium
.PHONY: pictures
pictures: $(PROGRAM) $(B)/tests/unit/make_accounts
	@packaging/deps.sh chromium chromium-driver python3-selenium fonts-dejavu-core pngquant
	tests/pages/pictures.py ./$(PROGRAM) docs/pictures $(B)/tests/unit/make_accounts
	tests/pages/terminal_picture.py ./$(PROGRAM) docs/pictures/top.svg

.PHONY: demo
demo:
	@packaging/deps.sh
	@tests/machine/demo.sh

# The program that knows all option rows; it runs on the machine that builds.
$(B)/gendoc: tests/gendoc.c tests/gendoc_completion.c tests/gendoc_completion.h $(LIBOBJ)
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(WARN) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) $(LIBOBJ) $(LIBS)

# The way of the data through the rooms, for README.md and docs/ARCHITECTURE.md
.PHONY: picture
picture:
	docs/flow.py > docs/flow.svg.tmp
	mv docs/flow.svg.tmp docs/flow.svg

# The recording of which docs/examples.py makes the reports in documents, from the virtual T410 (2 min).
# Needs make ARCH=arm64 LINK=shared
.PHONY: scene
scene:
	tests/machine/scene.sh

.PHONY: docs
docs: picture $(B)/gendoc $(PROGRAM)
	docs/examples.py ./$(PROGRAM) README.md docs/*.md
	$(B)/gendoc man < man/t410trace.1.in > man/t410trace.1.tmp
	mv man/t410trace.1.tmp man/t410trace.1
	$(B)/gendoc completion bash > completion/t410trace.tmp
	mv completion/t410trace.tmp completion/t410trace
	$(B)/gendoc completion zsh > completion/_t410trace.tmp
	mv completion/_t410trace.tmp completion/_t410trace
	$(B)/gendoc completion fish > completion/t410trace.fish.tmp
	mv completion/t410trace.fish.tmp completion/t410trace.fish
	$(B)/gendoc recording < docs/RECORDING.md > docs/RECORDING.md.tmp
	mv docs/RECORDING.md.tmp docs/RECORDING.md

.PHONY: format
format:
	clang-format-14 -i $$(git ls-files '*.c' '*.h' | grep -v '^vmlinux/')

# Kernels to take the types from; "make vmlinux" rewrites only headers whose kernel is given.
VMLINUX_BTF_$(NATIVE) ?= /sys/kernel/btf/vmlinux
.PHONY: vmlinux
vmlinux:
	vmlinux/generate.sh $(VMLINUX_BTF_$(NATIVE)) vmlinux/$(NATIVE)/vmlinux.h vmlinux/compile.sh
	$(foreach a,$(filter-out $(NATIVE),arm64 amd64 riscv64),$(if $(VMLINUX_BTF_$(a)),\
		vmlinux/generate.sh $(VMLINUX_BTF_$(a)) vmlinux/$(a)/vmlinux.h vmlinux/compile.sh,\
		@echo "vmlinux/$(a)/vmlinux.h kept: give VMLINUX_BTF_$(a)=FILE (a vmlinux of that architecture)"))
