# SPDX-License-Identifier: GPL-2.0-only
# Targets for users and developers: see "make help". A kernel build reads Kbuild instead.

KDIR ?= /lib/modules/$(shell uname -r)/build

.PHONY: help demo check vm deps kernel rootfs guest tools modules patch-tree unit lint generated bench mutate clean

help:
	@echo 'make demo                trace a real pKVM hypervisor under emulation'
	@echo 'make check               run all tests; FULL=1 adds the kernels of all flavours, which takes hours'
	@echo 'make check QUICK=1       most unit and lint tests and one short run in the machine'
	@echo 'make vm                  open a shell in the machine of the demo'
	@echo 'make tools               build the library and the command; STATIC=1 makes the command one file'
	@echo 'make modules [KDIR=]     build the modules out of tree (default: for the running kernel)'
	@echo 'make patch-tree KSRC=    add the hooks and this project to a kernel tree'
	@echo 'make deps kernel rootfs guest   prepare one part of the test bed'
	@echo 'make unit lint generated run one part of the tests; generated: are generated files up to date?'
	@echo 'make mutate              list changes that no unit test notices; MUTANTS=, SEED=, MINUTES='
	@echo 'make bench               measure what an event costs here and in mainline; BENCH=full for all rows'
	@echo 'make clean               remove what was built here; the cache stays'
	@echo
	@echo 'KERNEL=6.12 (default), 7.2, 7.3 or newest chooses the kernel of the machine. KSRC=PATH chooses'
	@echo 'another tree. A series without a patch in hyp/linux takes the newest one before it.'
	@echo 'FLAVOUR= chooses a configuration: 16k, 64k (pages), rt, 4096cpus, el2debug, be (tests only),'
	@echo 'debug, kcsan. HYPTRACE_CACHE=PATH is the folder for all that is fetched and built.'

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

modules:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

patch-tree:
	tests/vm/patch-tree.sh "$(KSRC)"

unit:
	tests/unit/run.sh

lint:
	tests/lint/run.sh

generated:
	tests/lint/run.sh generated

mutate: deps
	tests/mutate/run.py

bench: deps
	tests/bench/run.sh

clean:
	$(MAKE) -C tools clean
	find . -path ./.git -prune -o \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' -o -name '.*.cmd' \
		-o -name modules.order -o -name Module.symvers -o -name 'hypercalls.[hi]' \) -type f -exec rm -f {} +
