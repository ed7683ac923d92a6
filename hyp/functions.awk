#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0-only
# Print the stubs of the functions of EL2 that can be traced, where they are, and their names, as an assembler file. Reads
# what "nm" prints of kvm_nvhe.tmp.o, then what "objdump -r -j .discard.hyptrace" prints of it.

function number(text,	i, value)
{
	value = 0
	for (i = 1; i <= length(text); i++)
		value = value * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
	return value
}

BEGIN {
	# Those that never return, and those that others leave and enter EL2 by
	split("handle_trap hyp_panic hyp_panic_bad_stack __kvm_host_psci_cpu_entry kvm_host_psci_cpu_entry " \
	      "kvm_unexpected_el2_exception kvm_nvhe_prepare_backtrace __pkvm_init_finalise __pkvm_init", list)
	for (i in list)
		never[list[i]] = 1
}

# nm: a symbol of the text
NF == 3 && $2 ~ /^[tTwW]$/ {
	if ($3 == "__hyp_section_.hyp.text")
		base = number($1)
	if ($3 !~ /^[$.]/ && !($1 in name))
		name[$1] = $3
	place[$3] = number($1)
}

# objdump: where a function has its NOP
$2 == "R_AARCH64_ABS64" {
	split($3, part, "[+]0x")
	at = number(part[2])
	if (part[1] != ".hyp.text")
		at += place[part[1]] - base
	places[++nr] = at
}

END {
	for (address in name)
		at_name[number(address) - base] = name[address]
	print "/* SPDX-License-Identifier: GPL-2.0-only */"
	print "\t.section .hyp.text, \"ax\"\n\t.balign 4\n\t.globl hyptrace_function_stubs\nhyptrace_function_stubs:"
	for (i = 1; i <= nr; i++) {
		# a BTI may come before the NOP
		known = places[i] in at_name ? at_name[places[i]] : at_name[places[i] - 4]
		if (known == "" || known in never)
			continue
		printf "\tmov\tw9, #%d\n\tmov\tx11, x30\n\tbl\thyptrace_function_enter\n\tb\t__hyp_section_.hyp.text + %d\n",
			kept, places[i] + 4
		keep[kept++] = places[i] " " known
	}
	print "\t.section .hyp.rodata, \"a\"\n\t.balign 4\n\t.globl hyptrace_function_places, hyptrace_function_places_end"
	print "hyptrace_function_places:"
	for (i = 0; i < kept; i++) {
		split(keep[i], part, " ")
		printf "\t.long\t__hyp_section_.hyp.text + %d - .\n", part[1]
	}
	print "hyptrace_function_places_end:"
	# For the host
	print "\t.section .rodata.hyptrace_functions, \"a\"\n\t.globl hyptrace_function_names, hyptrace_function_names_end"
	print "hyptrace_function_names:"
	for (i = 0; i < kept; i++) {
		split(keep[i], part, " ")
		printf "\t.asciz\t\"%s\"\n", part[2]
	}
	print "hyptrace_function_names_end:"
}
