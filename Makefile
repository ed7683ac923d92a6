# SPDX-License-Identifier: GPL-2.0-only
# Targets for users and developers: see "make help". A kernel build reads Kbuild instead.

KDIR ?= /lib/modules/$(shell uname -r)/build

.PHONY: help demo check vm deps kernel rootfs guest tools static deb modules patch-tree unit lint generated bench harden mutate clean

help:
	@echo 'make demo                trace a real pKVM hypervisor under emulation'
	@echo 'make check               run all tests; FULL=1 adds packages and the kernels of all flavours: hours'
	@echo 'make check QUICK=1       most unit and lint tests and one short run in the machine'
	@echo 'make vm                  open a shell in the machine of the demo'
	@echo 'make tools               build the library and the command; STATIC=1 makes the command one file'
	@echo 'make static [O=]         build the command for Android: one file for arm64, tools/build/arm64/hyptrace/hyptrace'
	@echo 'make deb [DEB_OUT=]      build Debian packages for amd64 and arm64 in tools/packaging/build; DEB_ARCH= for one'
	@echo 'make modules [KDIR=]     build the modules out of tree (default: for the running kernel)'
	@echo 'make patch-tree KSRC=    add the hooks and this project to a kernel tree; CHECK=1 only says where, UNDO=1'
	@echo '                         takes all out again'
	@echo 'make deps kernel rootfs guest   prepare one part of the test bed'
	@echo 'make unit lint generated run one part of the tests; generated: are generated files up to date?'
	@echo 'make harden              attack all of it at random; PARTS=, SEED=, TIMES= (percent)'
	@echo 'make mutate              list changes that no unit test notices; MUTANTS=, SEED=, MINUTES='
	@echo 'make bench               measure what an event costs here and in mainline; BENCH=full for all rows'
	@echo 'make clean               remove what was built here; the cache stays'
	@echo
	@echo 'KERNEL=6.12 (default), 7.2, 7.3 or newest chooses the kernel of the machine. KSRC=PATH chooses'
	@echo 'another tree.'
	@echo 'FLAVOUR= chooses a configuration: 16k, 64k (pages), rt, 4096cpus, el2debug, be (tests only),'
	@echo 'debug, kcsan, functions (of EL2, and the PMU). LLVM=1 builds any of them by clang.'
	@echo 'HYPTRACE_CACHE=PATH is the folder for all that is fetched and built.'

demo: deps
	tests/vm/demo.sh

check: deps
	FULL="$(FULL)" QUICK="$(QUICK)" tests/check.sh

vm: deps kernel rootfs guest
	tests/vm/run.sh --interactive

deps:
	tests/vm/deps.sh

kernel:
	tests/vm/kernel.sh

rootfs:
	tests/vm/rootfs.sh

guest: rootfs
	tests/vm/guest.sh

tools:
	$(MAKE) -C tools

static: deps rootfs
	bash -c '. tests/vm/cross-env.sh && exec $(MAKE) -C tools STATIC=1 O="$(abspath $(or $(O),tools/build/arm64))"'

deb:
	DEB_ARCH="$(DEB_ARCH)" DEB_OUT="$(DEB_OUT)" tools/packaging/deb.sh

modules:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

patch-tree:
	tests/vm/patch-tree.sh $(if $(filter-out 0 n no,$(CHECK)),--check) $(if $(filter-out 0 n no,$(UNDO)),--undo) "$(KSRC)"

unit:
	tests/unit/run.sh

lint:
	tests/lint/run.sh

generated:
	tests/lint/run.sh generated

mutate: deps
	tests/mutate/run.py

harden: deps
	SEED="$(SEED)" TIMES="$(TIMES)" tests/harden/run.sh $(PARTS)

bench: deps
	tests/bench/run.sh

clean:
	rm -rf tools/build/arm64 tools/packaging/build
	$(MAKE) -C tools clean
	find . -path ./.git -prune -o \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' -o -name '.*.cmd' \
		-o -name modules.order -o -name Module.symvers -o -name 'hypercalls.[hi]' \) -type f -exec rm -f {} +
