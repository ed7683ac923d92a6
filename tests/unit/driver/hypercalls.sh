#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test driver/remotes/hypercalls.awk with each awk of this machine: on small trees that are made here, and on the kernel
# trees in the test bed's cache. A program that includes the header prints it, so the header must also compile: the
# compiler checks the numbers.

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
driver=$here/../../../driver
cache=${HYPTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hyptrace}
prefix=__KVM_HOST_SMCCC_FUNC_
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

awks=(awk)
for name in mawk gawk original-awk busybox; do
	! command -v "$name" >/dev/null || awks+=("$name")
done

# The program: it prints number, name, arguments, and "=" if the hypercall returns a value. Then, for each number of the
# print format, what libtraceevent prints.
{
	printf '#include <%s>\n' assert.h stdbool.h stdio.h event-parse.h trace-seq.h
	echo 'typedef unsigned int u32;'
	sed -n '/^#define HYPTRACE_MAX_HYPERCALL_ARGS/p; /^struct hyptrace_hypercall/,/^};/p' "$driver/core/remote.h"
	cat <<-'EOF'
	#include "enum.h"
	#include "hypercalls.h"
	#ifndef HYPTRACE_HCALL_NAMES
	#define HYPTRACE_HCALL_NAMES { 0xffffffff, "none" }
	#endif
	#define TEXT(...) #__VA_ARGS__
	#define TEXT_OF(...) TEXT(__VA_ARGS__)

	static const struct { u32 id; const char *name; } names[] = { HYPTRACE_HCALL_NAMES };

	static const char format[] = "name: e\nID: 4\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:u32 id;\toffset:4;\tsize:4;\tsigned:0;\n\n"
		"print fmt: \"%s\", __print_symbolic(REC->id, " TEXT_OF(HYPTRACE_HCALL_NAMES) ")\n";

	static void print_names(void)
	{
		struct tep_handle *tep = tep_alloc();
		struct tep_event *event;
		struct trace_seq seq;
		unsigned int i;

		if (tep_parse_format(tep, &event, format, sizeof(format) - 1, "hyptrace"))
			return;
		trace_seq_init(&seq);
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			u32 data[] = { 4, names[i].id };
			struct tep_record record = { .data = data, .size = sizeof(data) };

			trace_seq_reset(&seq);
			tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
			trace_seq_terminate(&seq);
			printf("%u %s\n", names[i].id, seq.buffer);
		}
		trace_seq_destroy(&seq);
		tep_free(tep);
	}

	int main(void)
	{
		unsigned int i, arg;

		for (i = 0; i < sizeof(hypercalls) / sizeof(hypercalls[0]); i++) {
			const struct hyptrace_hypercall *call = &hypercalls[i];

			printf("%u %s", call->id, call->name);
			for (arg = 0; arg < call->nr_args; arg++)
				printf("%s%s %s", arg ? ", " : "(", call->args[arg].type, call->args[arg].name);
			printf("%s%s%s\n", arg ? ")" : "", call->returns ? " =" : "", call->raw ? " raw" : "");
		}
		puts("names");
		print_names();
		return 0;
	}
	EOF
} >"$work/print.c"
flags=$(pkg-config --cflags --libs libtraceevent)

fail()
{
	printf '%s\n' "$@"
	bad=1
}

# make_header AWK: make hypercalls.h from enum.h and hyp-main.c
make_header()
{
	local awk=("$1")
	[[ $1 != busybox ]] || awk=(busybox awk)
	LC_ALL=C "${awk[@]}" -f "$driver/remotes/hypercalls.awk" part=enum "$work/enum.h" \
		part=handlers "$work/hyp-main.c" >"$work/hypercalls.h" 2>"$work/said" && [[ ! -s $work/said ]]
}

# run TITLE: make the header with each awk; write what it has to calls and names
run()
{
	local awk
	for awk in "${awks[@]}"; do
		make_header "$awk" || fail "$1: $awk:" "$(cat "$work/said")"
		[[ $awk != awk ]] || cp "$work/hypercalls.h" "$work/first.h"
		cmp -s "$work/first.h" "$work/hypercalls.h" || fail "$1: $awk makes another header"
	done
	: >"$work/all"
	# shellcheck disable=SC2086 # they are several words
	if gcc -std=gnu11 -Wall -Werror -o "$work/print" "$work/print.c" $flags 2>"$work/said"; then
		"$work/print" >"$work/all"
	else
		fail "$1: the header does not compile:" "$(cat "$work/said")"
	fi
	sed '/^names$/,$d' "$work/all" >"$work/calls"
	sed '0,/^names$/d' "$work/all" >"$work/names"
}

# expect TITLE LINE...: the header must have these hypercalls
expect()
{
	run "$1"
	diff <(printf '%s\n' "${@:2}") "$work/calls" >"$work/said" || fail "$1:" "$(cat "$work/said")"
}

# numbered NAME...: make an enum with these names, numbered from 1
numbered()
{
	{
		printf 'enum __kvm_host_smccc_func {\n\tFIRST,\n'
		printf "\t$prefix%s,\n" "$@"
		printf '};\n'
	} >"$work/enum.h"
}

# handler NAME TITLE RESULT: the handler's body is standard input
handler()
{
	numbered __x
	{
		cat <<-'EOF'
		#define READ(ctxt, nr, to) ({ DECLARE_REG(struct vm *, __vm, ctxt, nr); use(__vm, to); })
		#define READ_TWO(c, to) READ(c, 1, to); DECLARE_REG(u64, gfn, c, 2)
		#define EITHER(c) DECLARE_REG(u64, a, c, 1)
		#define EITHER(c) DECLARE_REG(u64, b, c, 1)
		#define PASTE(c, n) DECLARE_REG(u64, a##n, c, 1)
		static void handle___x(struct kvm_cpu_context *host_ctxt);
		static void handle___x_nsh(struct kvm_cpu_context *host_ctxt)
		{
			DECLARE_REG(bool, other, host_ctxt, 1);
		}

		static void
		handle___x(struct kvm_cpu_context *host_ctxt)
		{
		EOF
		cat
		printf '}\n\nvoid trap(struct kvm_cpu_context *host_ctxt)\n{\n\thandle___x(host_ctxt);\n}\n'
	} >"$work/hyp-main.c"
	expect "$1" "1 __x$2"
}

# The enum: explicit values, limits, and an expression that only the compiler understands
cat >"$work/enum.h" <<-EOF
	enum __kvm_host_smccc_func;
	enum other { OTHER };
	enum __kvm_host_smccc_func
	{
	 ${prefix}__one = 0 + 1, ${prefix}__two,
	 ${prefix}MIN_PKVM, __after_min = ${prefix}MIN_PKVM - 1,
	 ${prefix}__three,
	 ${prefix}__hex = 0x1fUL, ${prefix}__next = (${prefix}__hex) + 1,
	 ${prefix}__again = ${prefix}__two,
	 ${prefix}__unknown = sizeof(u32) * 10, ${prefix}__after_unknown,
	 ${prefix}__known = 200, ${prefix}__last,
	 ${prefix}__in_parentheses = ((${prefix}__last + 5)),
	 ${prefix}__not_clear = 300 - (2 + 1),
	 ${prefix}MAX
	};
EOF
: >"$work/hyp-main.c"
expect 'numbers' '1 __one raw' '2 __two raw' '3 __three raw' '31 __hex raw' '32 __next raw' '200 __known raw' \
	'201 __last raw' '206 __in_parentheses raw'
diff <(sed 's/ raw//' "$work/calls") "$work/names" || fail 'numbers: the names differ from the hypercalls'

printf 'enum __kvm_host_smccc_func {\n\t%s__one = 1,\n\t%s__dynamic_hcalls = 64,\n};\n' "$prefix" "$prefix" >"$work/enum.h"
mapfile -t modules < <(for ((i = 0; i < 16; i++)); do echo "$((64 + i)) module_hcall_$i raw"; done)
expect 'hypercalls of modules' '1 __one raw' "${modules[@]}"

: >"$work/enum.h"
run 'no enum'
[[ ! -s $work/calls && $(<"$work/names") == '4294967295 none' ]] || fail 'no enum: there are hypercalls'

# So many names do not fit the message of an event. The list has all.
# shellcheck disable=SC2046 # they are words
numbered $(seq -f '__a_hypercall_with_a_long_name_%g' 400)
run 'many names'
[[ $(wc -l <"$work/calls") == 400 ]] || fail 'many names: some hypercalls are missing'
awk '{ bytes += 2 * length($2) + 48 } END { exit !(bytes > 13 * 1024 && bytes < 14 * 1024) }' "$work/names" ||
	fail "many names: $(wc -l <"$work/names") are in the print format"

handler 'no arguments' '' <<<'do_it();'
handler 'one argument' '(u64 pfn) =' <<<'DECLARE_REG(u64, pfn, host_ctxt, 1); cpu_reg(host_ctxt, 1) = f(pfn);'
handler 'no result' '(u64 pfn)' <<<'DECLARE_REG(u64, pfn, host_ctxt, 1); cpu_reg(host_ctxt, 0) = 0;'
handler 'over two lines' '(unsigned long start, struct kvm_vcpu * vcpu)' <<-'EOF'
	DECLARE_REG(unsigned long,
		    start, host_ctxt, 1);
	DECLARE_REG(struct kvm_vcpu *, vcpu,
		    host_ctxt, 2);
EOF
handler 'another order, more than four' '(int a, int b, int c, int d)' <<-'EOF'
	DECLARE_REG(int, d, host_ctxt, 4);
	DECLARE_REG(int, e, host_ctxt, 5);
	DECLARE_REG(int, b, host_ctxt, 2);
	DECLARE_REG(int, c, host_ctxt, 3);
	DECLARE_REG(int, a, host_ctxt, 1);
EOF
handler 'comments, strings, characters' '(u64 pfn)' <<-'EOF'
	/* } it's DECLARE_REG(u64, no, host_ctxt, 2); */ char c = '}';
	// DECLARE_REG(u64, no, host_ctxt, 3); don't
	say("}\" /* host_ctxt"); DECLARE_REG(u64, pfn, host_ctxt, 1); /*
	host_ctxt } */
EOF
handler 'a register without a name' '(u64 arg1)' <<<'if (cpu_reg(host_ctxt, 1) == 3) f(cpu_reg(host_ctxt, 1));'
handler 'result by a function' '(struct kvm * kvm, u64 nr) =' <<-'EOF'
	DECLARE_REG(struct kvm *, kvm, host_ctxt, 1);
	DECLARE_REG(u64, nr, host_ctxt, 2);
	if (!nr)
		errno_to_smccc(-EINVAL, host_ctxt);
	else
		hyp_reqs_smccc_encode(f(kvm, g(nr)), host_ctxt, &reqs);
EOF
handler 'helper macro' '(struct vm * vm) =' <<<'cpu_reg(host_ctxt, 1) = READ(host_ctxt, 1, &(x){ 1, 2 });'
handler 'helper macro in a helper macro' '(struct vm * vm, u64 gfn)' <<<'READ_TWO(host_ctxt, &x);'
handler 'macro that is defined twice' ' raw' <<<'EITHER(host_ctxt);'
handler 'macro that makes names' ' raw' <<<'PASTE(host_ctxt, 1);'
handler 'helper of another file' ' raw' <<<'read_args(host_ctxt, &args);'
handler 'helper with a longer name' ' raw' <<<'MY_READ(host_ctxt, 1, x);'
handler 'registers without a macro' ' raw' <<<'f(host_ctxt->regs.regs[1]);'
handler 'number of a register that is no number' ' raw' <<<'DECLARE_REG(u64, pfn, host_ctxt, PFN);'
handler 'another context' ' raw' <<<'DECLARE_REG(u64, pfn, other_ctxt, 1);'
handler 'type that is an expression' ' raw' <<<'DECLARE_REG(typeof(x), pfn, host_ctxt, 1);'
handler 'gap' ' raw' <<<'DECLARE_REG(u64, a, host_ctxt, 1); DECLARE_REG(u64, c, host_ctxt, 3);'
handler 'two names' ' raw' <<<'DECLARE_REG(u64, a, host_ctxt, 1); DECLARE_REG(u64, b, host_ctxt, 1);'
handler 'result that is read' ' raw' <<<'cpu_reg(host_ctxt, 1) = 5; log(cpu_reg(host_ctxt, 1));'
handler 'directive' ' raw' <<-'EOF'
	DECLARE_REG(u64, pfn, host_ctxt, 1);
	#ifdef CONFIG_A
	DECLARE_REG(u64, gfn, host_ctxt, 2);
	#endif
EOF

numbered __a __b __c __d
cat >"$work/hyp-main.c" <<-'EOF'
	#ifdef CONFIG_A
	static void handle___a(struct kvm_cpu_context *c) { DECLARE_REG(u64, pfn, c, 1); }
	#else
	static void handle___a(struct kvm_cpu_context *c) { }
	#endif
	HANDLER(__b) { DECLARE_REG(u64, pfn, host_ctxt, 1); }
	static void handle___c(struct kvm_cpu_context *c, int more) { DECLARE_REG(u64, pfn, c, 1); }
	static void handle___d(struct kvm_cpu_context *c) { DECLARE_REG(u64, pfn, c, 1);
EOF
expect 'definitions that are not clear' '1 __a raw' '2 __b raw' '3 __c raw' '4 __d raw'

# kernel_tree TREE: all handlers of the tree's table are understood
kernel_tree()
{
	local source=$1/arch/arm64/kvm/hyp/nvhe/hyp-main.c name line
	{
		grep -h "define ${prefix}__kvm_hyp_init" "$1/arch/arm64/include/asm/kvm_asm.h"
		sed -n -e '/define MARKER(/,/[^\\]$/p' -e '/^enum __kvm_host_smccc_func/,/^}/p' \
			"$1/arch/arm64/include/asm/kvm_asm.h"
	} | gcc -E -P - >"$work/enum.h"
	cat "$source" "$here/../../../hyp/hooks.h" >"$work/hyp-main.c"
	run "$1"
	diff <(sed -n 's/^\tHANDLE_FUNC(\(.*\)),.*/\1/p' "$source" | sort) <(sed 's/^[0-9]* //' "$work/names" | sort) ||
		fail "$1: the names are not those of host_hcall[]"
	diff <(sed 's/\([^ ]* [^ (]*\).*/\1/' "$work/calls") "$work/names" || fail "$1: the names differ from the hypercalls"
	! grep ' raw$' "$work/calls" || fail "$1: the hypercalls above are raw"
	for line in '__pkvm_host_share_hyp(u64 pfn) =' '__kvm_flush_vm_context' '__pkvm_prot_finalize =' \
		'__kvm_tlb_flush_vmid(struct kvm_s2_mmu * mmu)' '__kvm_timer_set_cntvoff(u64 arg1)' \
		'__kvm_tlb_flush_vmid_range(struct kvm_s2_mmu * mmu, phys_addr_t start, unsigned long pages)'; do
		sed 's/^[0-9]* //' "$work/calls" | grep -qxF "$line" || fail "$1: no $line"
	done
	for name in __kvm_vcpu_run __kvm_adjust_pc; do
		grep -qE "$name\(struct kvm_vcpu \* (host_)?vcpu\)" "$work/calls" || fail "$1: no vcpu in $name"
	done
}

for source in "$cache"/src/[0-9]*.[0-9]*/arch/arm64/kvm/hyp/nvhe/hyp-main.c; do
	[[ ! -f $source || $source == *.pristine/* ]] || kernel_tree "${source%/arch/arm64/kvm/hyp/nvhe/hyp-main.c}"
done
exit "$bad"
