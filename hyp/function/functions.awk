#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0-only
# Print the stubs of the functions of EL2 that can be traced, where they are, and their names, as an assembler file. Reads
# what nm prints of kvm_nvhe.tmp.o, then what "objdump -r" prints of it, whose section .discard.hyptrace has the places of the
# NOPs, and "objdump -dr" of its text. A function that recording may call cannot be traced.

function number(text,	i, value)
{
	value = 0
	for (i = 1; i <= length(text); i++)
		value = value * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
	return value
}

# The function may be called while an event is recorded, and so may all that it calls.
function exclude(name,	i, list, count)
{
	if (name ~ /^@/)
		name = at_name[substr(name, 2) + 0]
	if (name in never)
		return
	never[name] = 1
	count = split(calls[name], list)
	for (i = 1; i <= count; i++)
		exclude(list[i])
}

# Note that this function calls another one: by its name, or by its place in the section. What branches into the middle of
# a function belongs to it: an alternative.
function call(target,	part)
{
	if (split(target, part, "[+]0x") == 1)
		calls[current] = calls[current] " " target
	else if (part[1] == ".hyp.text")
		calls[current] = calls[current] " @" number(part[2]) + base
}

BEGIN {
	# Those that never return, those that others leave and enter EL2 by, and the project's own hypercall
	split("handle_trap hyp_panic hyp_panic_bad_stack __kvm_host_psci_cpu_entry kvm_host_psci_cpu_entry " \
	      "__kvm_host_psci_cpu_on_entry __kvm_host_psci_cpu_resume_entry kvm_unexpected_el2_exception " \
	      "kvm_nvhe_prepare_backtrace __pkvm_init_finalise __pkvm_init handle___hyptrace", list)
	for (i in list)
		never[list[i]] = 1
}

# nm: a symbol of the text
NF == 3 && $2 ~ /^[tTwW]$/ {
	if ($3 == "__hyp_section_.hyp.text")
		base = number($1)
	place[$3] = number($1)
}

# objdump -r: where a function has its NOP. To some objdumps, -j does not say which relocations.
/^RELOCATION RECORDS FOR/ {
	is_list = /\[\.discard\.hyptrace\]/
}

$2 == "R_AARCH64_ABS64" && is_list && !current {
	split($3, part, "[+]0x")
	places[++nr] = number(part[2])
	if (part[1] != ".hyp.text")
		places[nr] += place[part[1]] - base
}

# objdump -d: a function, and which ones it calls or branches to
/^[0-9a-f]+ <.*>:$/ {
	current = substr($2, 2, length($2) - 3)
	at_name[number($1)] = current
}

$2 ~ /^(bl?|b[.][a-z]+|cbn?z|tbn?z)$/ && match($0, /<[^>]+>/) {
	call(substr($0, RSTART + 1, RLENGTH - 2))
}

$2 ~ /^R_AARCH64_(CALL26|JUMP26|CONDBR19|TSTBR14)$/ {
	call($3)
}

END {
	for (i in calls)
		if (i ~ /^(__hyptrace_|hyptrace_(functions_|panic|psci_resume|rings_seal|ring_(un)?park|count_o))/)
			exclude(i)
	for (i = 1; i <= nr; i++) {
		# a BTI may come before the NOP
		known = places[i] + base in at_name ? at_name[places[i] + base] : at_name[places[i] + base - 4]
		# the compiler may split a function into parts
		whole = known
		sub(/[.].*/, "", whole)
		if (known == "" || known in never || whole in never || known ~ /^_*hyptrace_/)
			continue
		# sorted by name, so that a pattern of names is few ranges of ids
		for (j = kept++; j && name[j - 1] > known; j--) {
			name[j] = name[j - 1]
			at[j] = at[j - 1]
		}
		name[j] = known
		at[j] = places[i]
	}
	print "/* SPDX-License-Identifier: GPL-2.0-only */"
	print "\t.section .hyp.text, \"ax\"\n\t.balign 4\n\t.globl hyptrace_function_stubs\nhyptrace_function_stubs:"
	for (i = 0; i < kept; i++)
		printf "\tmov\tx11, x30\n\tbl\thyptrace_function_enter\n\tb\t__hyp_section_.hyp.text + %d\n\tnop\n", at[i] + 4
	print "\t.section .hyp.rodata, \"a\"\n\t.balign 4\n\t.globl hyptrace_function_places, hyptrace_function_places_end"
	print "hyptrace_function_places:"
	for (i = 0; i < kept; i++)
		printf "\t.long\t__hyp_section_.hyp.text + %d - .\n", at[i]
	print "hyptrace_function_places_end:"
	# For the host
	print "\t.section .rodata.hyptrace_functions, \"a\"\n\t.globl hyptrace_function_names, hyptrace_function_names_end"
	print "hyptrace_function_names:"
	for (i = 0; i < kept; i++)
		printf "\t.asciz\t\"%s\"\n", name[i]
	print "hyptrace_function_names_end:"
}
