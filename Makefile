# SPDX-License-Identifier: GPL-2.0-only
# The user's entry. Kernel builds read Kbuild instead.

KDIR ?= /lib/modules/$(shell uname -r)/build

.PHONY: help demo check vm deps kernel rootfs guest tools modules patch-tree unit lint generated bench mutate clean

help:
	@echo 'make demo                trace a real pKVM hypervisor under emulation'
	@echo 'make check               all tests; FULL=1 on kernels of each flavour too, which takes hours'
	@echo 'make vm                  a shell in the machine'
	@echo 'make tools               the hyptrace command'
	@echo 'make modules [KDIR=]     the modules, out of tree (default: the running kernel)'
	@echo 'make patch-tree KSRC=    put the project into a kernel tree of yours'
	@echo 'make deps kernel rootfs guest   the parts of the test bed, one by one'
	@echo 'make unit lint generated parts of the tests; whether generated files are up to date'
	@echo 'make mutate              whether the unit tests notice a changed statement; MUTANTS=, SEED=, MINUTES='
	@echo 'make bench               what an event costs, beside mainline; BENCH=full for all rows'
	@echo 'make clean               what was built here; the cache stays'
	@echo
	@echo 'KERNEL=6.12 (default), 7.2, 7.3 or newest chooses the kernel of the machine, KSRC=PATH any other'
	@echo 'tree. A newer series takes the newest patch in hyp/linux, and stops if that does not fit.'
	@echo 'FLAVOUR=debug adds its checkers, HYPTRACE_CACHE=PATH is the place for all that is fetched and built.'
	@echo 'Flavours: 16k and 64k pages, rt, 4096cpus, el2debug, be (tests only), debug, kcsan.'

demo: deps
	tests/vm/demo.sh

check: deps
	FULL="$(FULL)" tests/check.sh

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
		-o -name modules.order -o -name Module.symvers \) -type f -exec rm -f {} +
