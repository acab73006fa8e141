# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make                 ./t410trace and ./t410trace-gpu for this machine
# make ARCH=arm64      build/arm64/t410trace, static; also ARCH=amd64 and ARCH=riscv64
# make ARCH=arm64 LINK=shared  build/arm64-shared/t410trace, with its libraries in lib/ beside it
# make CC=clang        with clang instead of gcc
# make demo            install what is missing, show the main job in a virtual T410
# make check           install what is missing, run all tests
# make quick           after a change: build, style of what changed, fast tests; under a minute
# make check-unit T='book split*'   only these unit tests
# V=1                  show whole commands
# make machine         prepare the virtual T410; tests/machine/run runs commands in it
# make deps            install what building and testing need
# make docs            manual page and completion of shells from the option rows, docs/flow.svg from the rooms
# make pictures        docs/pictures from an invented recording, in a browser
# make vmlinux         vmlinux/ from the kernels' type information
# make install         PREFIX=/usr/local SYSCONFDIR=/etc DESTDIR=; make uninstall with the same
# make deb             build/deb/*.deb; make rpm; make image, for Kubernetes
# make dist            build/dist/t410trace-VERSION.tar.gz, the sources as a release

MACHINE	:= $(shell uname -m)
NATIVE	:= $(if $(filter aarch64,$(MACHINE)),arm64,amd64)
ARCH	?= $(NATIVE)
LINK	?= static
B	:= build/$(ARCH)$(VARIANT)
PREFIX	?= /usr/local
SYSCONFDIR ?= /etc

CLANG	?= clang
BPFTOOL	?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra
CPPFLAGS += -D_GNU_SOURCE -Iinclude -Iuser -I$(B)
# Arm has one instruction for a * b + c that rounds once. With it a recording would have other
# estimates there than on x86, and with clang others than with gcc.
CPPFLAGS += -ffp-contract=off
LIBS	:= -lbpf -lelf -lpci -lz -ljansson -lcap -lsqlite3 -lmicrohttpd -lncursesw -ltinfo -lm -pthread

triplet-arm64 := aarch64-linux-gnu
triplet-amd64 := x86_64-linux-gnu
triplet-riscv64 := riscv64-linux-gnu
TRIPLET	:= $(triplet-$(ARCH))
$(if $(TRIPLET),,$(error ARCH=$(ARCH): only arm64, amd64 and riscv64 are supported))
$(if $(filter static shared,$(LINK)),,$(error LINK=$(LINK): only static and shared are supported))
$(if $(filter riscv64-shared,$(ARCH)-$(LINK)),$(error LINK=shared: only for arm64 and amd64))

# An explicit ARCH, also one of the environment, gives a static program that runs on any machine of that kind,
# built with libraries of the compiler's own release (see packaging/sysroot.sh). Two of them
# must be built from source packages, which not every mirror has. LINK=shared does without: tests in the
# virtual T410 use that program. Its loader and libraries must be in $(BESIDE) where it runs.
BESIDE	:= /opt/t410trace/lib
ifneq ($(origin ARCH),file)
SYSROOT	:= build/sysroot-$(ARCH)
SYSLIBS	:= $(SYSROOT)/usr/lib/$(TRIPLET)
CPPFLAGS += -isystem $(SYSROOT)/usr/include -isystem $(SYSROOT)/usr/include/$(TRIPLET)
LDFLAGS	+= -L$(SYSLIBS)
ifeq ($(LINK),shared)
loader-arm64 := ld-linux-aarch64.so.1
loader-amd64 := ld-linux-x86-64.so.2
OWNLIBS	:=
# rpath, not runpath: it holds for libraries of libraries, too
LDFLAGS	+= -Wl,-rpath-link,$(SYSLIBS) -Wl,--disable-new-dtags,-rpath,$(BESIDE) \
	-Wl,--dynamic-linker,$(BESIDE)/$(loader-$(ARCH))
else
OWNLIBS	:= $(addprefix $(SYSLIBS)/,libpci.a libmicrohttpd.a)
LDFLAGS	+= -static -Wl,--wrap=dlopen
endif
ifeq ($(ARCH),riscv64)
OWNLIBS	+= $(SYSLIBS)/libelf.a
# The C library is the sysroot's, and so is what starts programs. Debian 12's linker dies of it.
LLD	?= $(firstword $(wildcard $(patsubst %,/usr/lib/llvm-%/bin/ld.lld,19 20 21 22)))
ifneq ($(LLD),)
LDFLAGS	+= -fuse-ld=lld -B$(dir $(LLD))
else ifneq ($(findstring 2.40,$(shell $(TRIPLET)-ld --version)),)
$(error ARCH=riscv64: the linker 2.40 cannot link libraries of Debian 13: install the package lld-19)
endif
LDFLAGS	+= -B$(SYSLIBS)
endif
# Both are linked from the same objects
PROGRAM	:= build/$(ARCH)$(if $(filter shared,$(LINK)),-shared)$(VARIANT)/t410trace
# -static: glibc warns about getpwnam and the like in libcap, which we do not call
ifneq ($(ARCH),$(NATIVE))
ifeq ($(origin CC),default)
CC	:= $(TRIPLET)-gcc
else ifneq ($(findstring clang,$(CC)),)
# override: CC may come from the command line
override CC += --target=$(TRIPLET)
endif
endif
else
SYSROOT	:=
OWNLIBS	:=
$(if $(filter shared,$(LINK)),$(error LINK=shared needs an ARCH))
# VARIANT=-asan and the like: another build beside the normal one
PROGRAM	:= $(if $(VARIANT),$(B)/t410trace,t410trace)
endif

# REUSE=build/amd64: what has nothing to do with BPF is not built, but taken from there. Builds that
# differ in CLANG alone take seconds so (tests/clangs.sh).
PLAIN	:= $(or $(REUSE),$(B))
SRC	:= $(filter-out user/gpu/%,$(sort $(wildcard user/*/*.c user/*/*/*.c)))
WITHBPF	:= $(filter user/platform/bpf/%,$(SRC))
OBJ	:= $(WITHBPF:%.c=$(B)/%.o) $(patsubst %.c,$(PLAIN)/%.o,$(filter-out $(WITHBPF),$(SRC)))
LIBOBJ	:= $(filter-out $(PLAIN)/user/cli/main.o $(PLAIN)/user/cli/gendoc.o,$(OBJ)) \
	$(if $(SYSROOT),$(if $(filter static,$(LINK)),$(B)/packaging/static.o))
# t410trace-gpu loads a driver's library: it is dynamic, also beside a static t410trace.
GPUSRC	:= $(sort $(wildcard user/gpu/*.c))
GPUOBJ	:= $(GPUSRC:%.c=$(PLAIN)/%.o) $(addprefix $(PLAIN)/user/base/,json_out.o text.o units.o utf8.o)
GPU	:= $(if $(GPUSRC),$(PROGRAM)-gpu)
# The linker wants definitions before their use: maps.bpf.c first. lookup.bpf.c is by itself.
BPFSRC	:= bpf/maps.bpf.c $(filter-out bpf/maps.bpf.c bpf/lookup.bpf.c,$(sort $(wildcard bpf/*.bpf.c)))
BPFOBJ	:= $(BPFSRC:%.c=$(B)/%.o)
SKEL	:= $(B)/t410trace.skel.h $(B)/t410lookup.skel.h

BPFFLAGS := -O2 -g -target bpf -mcpu=v3 $(WARN) -Wno-unused-parameter -Ivmlinux/$(ARCH) -Ibpf -Iinclude \
	$(if $(SYSROOT),-isystem $(SYSROOT)/usr/include) -idirafter /usr/include/$(triplet-$(NATIVE))

comma	:= ,

# The commit, for --version; "-" if it is not known
COMMIT	:= $(word 2,$(shell packaging/version.sh))
# Not a part of the flags that are remembered: where a tree lies changes nothing in what is made.
MAP	:= -ffile-prefix-map='$(CURDIR)'=.

# One short line a file; whole commands with V=1, nothing with -s
Q	:= $(if $(filter 1,$(V)),,@)
silent	:= $(findstring s,$(firstword -$(MAKEFLAGS)))
say	= $(if $(Q),$(if $(silent),,@printf '  %-7s %s\n' $1 $(or $2,$@)))

.PHONY: all
all: $(PROGRAM) $(GPU)

# What is made with other flags, compilers or places than these is made again.
STAMP.flags := $(CC) $(CPPFLAGS) $(CFLAGS)
STAMP.bpfflags := $(CLANG) $(BPFFLAGS) $(BPFTOOL)
STAMP.sysconfdir := $(SYSCONFDIR)
STAMP.commit := $(COMMIT)
STAMP.$(LINK) := $(CC) $(LDFLAGS)
.PHONY: FORCE
$(addprefix $(B)/,.flags .bpfflags .sysconfdir .commit .link.$(LINK)): FORCE
	@mkdir -p $(@D)
	@stamp='$(subst ','\'',$(STAMP$(suffix $@)))'; \
	[ "$$stamp" = "$$(cat $@ 2> /dev/null)" ] || printf '%s\n' "$$stamp" > $@

$(PROGRAM): $(LIBOBJ) $(PLAIN)/user/cli/main.o $(B)/.link.$(LINK)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $(filter %.o,$^) $(LIBS)
	$(if $(filter shared,$(LINK)),@packaging/beside.sh $@ $(SYSLIBS) $(@D)/lib)

ifneq ($(GPU),)
$(GPU): $(GPUOBJ) $(B)/.link.$(LINK)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(filter-out -static -Wl$(comma)--wrap=dlopen,$(LDFLAGS)) -Wl,--gc-sections \
		-o $@ $(filter %.o,$^) -ldl
endif

# Said once and clearly, instead of by the first of many errors
$(B)/.need: packaging/need.sh | $(addsuffix /.complete,$(SYSROOT)) $(OWNLIBS)
	@mkdir -p $(@D)
	@DYGRAPHS=$(DYGRAPHS) packaging/need.sh $(CC) $(CPPFLAGS)
	@touch $@

# What pages of reports have in them, as assets.c takes it: files of ours, and Debian's dygraphs
# without addresses of the web. Nothing of them is architecture's own.
DYGRAPHS ?= /usr/share/javascript/dygraphs
DYGRAPHS_LICENCE ?= /usr/share/doc/libjs-dygraphs/copyright
ASSETS	:= $(addprefix $(B)/assets/,report.css report.js dygraph.css dygraph.js dygraph.licence)

$(B)/assets/report.%: share/report.%
	@mkdir -p $(@D)
	@cp $< $@
$(B)/assets/dygraph.licence: $(wildcard $(DYGRAPHS_LICENCE)) | $(B)/.need
	@mkdir -p $(@D)
	@# Debian 13's has addresses for reading on: a page has none, so they are texts without "https:"
	@sed -E 's|https?://||g' $(DYGRAPHS_LICENCE) > $@
$(B)/assets/dygraph.%: packaging/embed.sh $(wildcard $(DYGRAPHS)/dygraph.min.*) | $(B)/.need
	@mkdir -p $(@D)
	$(call say,EMBED)
	$(Q)packaging/embed.sh $(DYGRAPHS)/dygraph.min.$* > $@.tmp
	@mv $@.tmp $@

$(B)/user/report/html/assets.o: $(ASSETS)
$(B)/user/report/html/assets.o: CPPFLAGS += -DASSETS='"$(B)/assets"'

# What nobody calls is left out of the program, and so are tables for unwinding without debugging
# information: a tenth of it.
SMALL	:= -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables

$(addprefix $(B)/user/cli/,settings.o shared_options.o state_file.o): $(B)/.sysconfdir
$(addprefix $(B)/user/cli/,settings.o shared_options.o state_file.o): \
	CPPFLAGS += -DSERVE_CONFIG_FILE='"$(SYSCONFDIR)/t410trace/serve.conf"'

# In main.o of each program alone, which no unit test has: a commit compiles these, and links again.
MAINS	:= $(addprefix $(B)/user/,cli/main.o gpu/main.o)
$(MAINS): $(B)/.commit
$(MAINS): CPPFLAGS += -DT410TRACE_COMMIT='"$(COMMIT)"'

$(B)/%.o: %.c $(B)/.flags | $(B)/.need
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(WARN) $(CFLAGS) $(SMALL) $(LOOPS) $(MAP) -MMD -MP -c -o $@ $<

$(WITHBPF:%.c=$(B)/%.o) $(addprefix $(B)/tests/unit/platform/bpf/test_ledger_,io.o flush.o misses.o problem.o): $(SKEL)

# Loops over what workloads did are a good part of the cost of an interval. -O3 works on several
# elements at a time, in the same order of operations; what is built to be debugged is left alone.
# Not matrix.c: it says itself what goes together, and valgrind does not know all that comes of -O3.
$(B)/user/engine/filter/filter%.o $(B)/user/engine/split/apportion.o \
$(B)/user/engine/split/split_shares.o: LOOPS = $(if $(filter -O2,$(CFLAGS)),-O3)

$(B)/bpf/%.bpf.o: bpf/%.bpf.c vmlinux/$(ARCH)/vmlinux.h $(B)/.bpfflags | $(B)/.need
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPFFLAGS) $(MAP) -MMD -MP -c -o $@ $<

$(B)/t410trace.bpf.o: $(BPFOBJ)
	$(call say,BPFLINK)
	$(Q)$(BPFTOOL) gen object $@ $^

$(B)/t410lookup.bpf.o: $(B)/bpf/lookup.bpf.o
	$(call say,BPFLINK)
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKEL): $(B)/%.skel.h: $(B)/%.bpf.o
	$(call say,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< name $* > $@.tmp
	@mv $@.tmp $@

build/sysroot-%/.complete: packaging/sysroot.sh
	packaging/sysroot.sh $* $(@D)

# Debian has none that can be linked statically
ifneq ($(OWNLIBS),)
$(OWNLIBS): $(SYSLIBS)/lib%.a: $(SYSROOT)/.complete
	packaging/static-lib.sh $* $(ARCH) $(SYSROOT)
endif

-include $(shell find $(B) -name '*.d' 2>/dev/null)

include tests/tests.mk
include packaging/packaging.mk

.PHONY: deps
deps:
	packaging/deps.sh

.PHONY: clean
clean:
	rm -rf build t410trace t410trace-gpu
