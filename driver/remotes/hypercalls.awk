# SPDX-License-Identifier: GPL-2.0-only
#
# Writes hypercalls.h for pkvm.c: the numbers, names and arguments of the hypercalls of a kernel tree.
# Kbuild runs it while it builds the module:
#
#	awk -f hypercalls.awk part=enum KVM_ASM part=handlers HYP_MAIN HOOKS
#
# KVM_ASM is the preprocessed asm/kvm_asm.h: its enum __kvm_host_smccc_func has the numbers. HYP_MAIN
# is arch/arm64/kvm/hyp/nvhe/hyp-main.c, and HOOKS is hyp/hooks.h: the function handle_NAME() reads the
# arguments by DECLARE_REG(type, name, host_ctxt, register). Without files there are no hypercalls.
#
# An argument is listed if it is in a register from 1 to 4, as the event host_hcall has no others. A
# handler that this script does not fully understand is called raw: nothing is known of its arguments.

BEGIN {
	prefix = "__KVM_HOST_SMCCC_FUNC_"
	tree_enum = tree_code = ""
	max_register = 4
	# What the names may take in the netlink message of an event: it has room for 16 KiB.
	max_name_bytes = 14 * 1024
	# Of the numbers for modules, so many have a name.
	nr_module_calls = 16
}

part == "enum" && /enum[ \t]+__kvm_host_smccc_func/ {
	in_enum = 1
}

part == "enum" && in_enum {
	tree_enum = tree_enum " " $0
	in_enum = !/}/
}

part == "handlers" {
	add_line($0)
}

END {
	read_enum()
	write_header()
}

# Collect the code in one string, without comments and strings.
function add_line(line)
{
	if (sub(/\\[ \t]*$/, " ", line)) {
		unfinished = unfinished line
		return
	}
	line = without_text(unfinished line)
	unfinished = ""
	if (line ~ /^[ \t]*#/) {
		add_macro(line)
		# Mark a directive, which may leave out what follows.
		line = "#"
	}
	tree_code = tree_code "\n" line
}

# Replace comments, strings and characters, which may have braces.
function without_text(line,    done, token)
{
	for (;;) {
		if (in_comment) {
			if (!match(line, /\*\//))
				return done
			line = substr(line, RSTART + RLENGTH)
			in_comment = 0
		}
		if (!match(line, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/\*|\/\//))
			return done line
		done = done substr(line, 1, RSTART - 1)
		token = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		if (token == "//")
			return done
		in_comment = token == "/*"
		done = done (in_comment ? " " : "0")
	}
}

# Keep a macro with parameters: a handler may read its arguments by one.
function add_macro(line,    name, end)
{
	if (!sub(/^[ \t]*#[ \t]*define[ \t]+/, "", line) || !match(line, /^[A-Za-z_0-9]+\(/))
		return
	name = substr(line, 1, RLENGTH - 1)
	end = split_list(line, RLENGTH)
	if (!end || name == "DECLARE_REG" || name == "cpu_reg")
		return
	# With two definitions, or # in it, it is not clear what the macro does.
	if (name in macro_body)
		macro_body[name] = "#"
	else
		macro_body[name] = substr(line, end + 1)
	macro_params[name] = list_text
}

# Split the list that begins with the parenthesis at @open. Return where it ends, 0 if it does not.
function split_list(text, open,    at, depth, c)
{
	split("", list)
	list_size = 1
	list[1] = list_text = ""
	depth = 1
	for (at = open + 1; at <= length(text); at++) {
		c = substr(text, at, 1)
		if (index("([{", c))
			depth++
		else if (index(")]}", c) && !--depth)
			return at
		list_text = list_text c
		if (c == "," && depth == 1)
			list[++list_size] = ""
		else
			list[list_size] = list[list_size] c
	}
	return 0
}

function trim(text)
{
	gsub(/[ \t\n]+/, " ", text)
	gsub(/^ | $/, "", text)
	return text
}

# Replace a word by a text.
function replace_word(text, word, by,    done, c, rest)
{
	while (match(text, word)) {
		c = substr(text, RSTART - 1, RSTART > 1) substr(text, RSTART + RLENGTH, 1)
		done = done substr(text, 1, RSTART - 1) (c ~ /[A-Za-z_0-9]/ ? word : by)
		text = substr(text, RSTART + RLENGTH)
	}
	return done text
}

# Find a call of @name in @text, from @from on. Set call_at, call_end and list; return whether there is one.
function find_call(text, name, from,    at, rest, before)
{
	for (;;) {
		rest = substr(text, from)
		if (!match(rest, name "[ \t\n]*\\("))
			return 0
		at = from + RSTART - 1
		before = substr(text, at - 1, at > 1)
		from = at + RLENGTH
		if (before ~ /[A-Za-z_0-9]/)
			continue
		call_at = at
		call_end = split_list(text, from - 1)
		return call_end
	}
}

# Replace the calls of the tree's own macros in the body of a handler.
function expand_macros(code,    name, round, changed, params, i, text, nr, by)
{
	for (round = 0; round < 4; round++) {
		changed = 0
		for (name in macro_body) {
			while (!(macro_body[name] ~ /#/) && find_call(code, name, 1)) {
				nr = split(macro_params[name], params, ",")
				if (nr != list_size)
					return code
				text = macro_body[name]
				for (i = 1; i <= nr; i++)
					by[i] = trim(list[i])
				for (i = 1; i <= nr; i++)
					text = replace_word(text, trim(params[i]), by[i])
				code = substr(code, 1, call_at - 1) " " text " " substr(code, call_end + 1)
				# A macro that calls itself never ends.
				if (++changed > 100)
					return code
			}
		}
		if (!changed)
			break
	}
	return code
}

# Set body and context, the name of the parameter. Return 0 unless there is exactly one definition.
function find_handler(name,    from, nr, rest, start)
{
	from = 1
	while (find_call(tree_code, "handle_" name, from)) {
		from = call_end + 1
		rest = substr(tree_code, from)
		if (!match(rest, /^[ \t\n]*\{/))
			continue
		start = from + RLENGTH - 1
		context = list_size == 1 ? trim(list[1]) : ""
		if (!sub(/^struct kvm_cpu_context \*/, "", context) || context !~ /^[A-Za-z_0-9]+$/)
			return 0
		from = split_list(tree_code, start)
		if (!from)
			return 0
		body = list_text
		nr++
	}
	return nr == 1
}

# Android's handlers pass the result to functions such as errno_to_smccc(ret, host_ctxt), which set the registers. Remove
# the context from their arguments. Return whether there are any.
function remove_results(    at, end, i, text, found)
{
	while (match(body, /[a-z_]+(_to_smccc|_smccc_encode)[ \t\n]*\(/)) {
		at = RSTART
		end = split_list(body, RSTART + RLENGTH - 1)
		if (!end)
			return found
		text = "result("
		for (i = 1; i <= list_size; i++)
			text = text (i > 1 ? ", " : "") (trim(list[i]) == context ? "0" : list[i])
		body = substr(body, 1, at - 1) text substr(body, end)
		found = 1
	}
	return found
}

# Read a handler: arg_type[] and arg_name[] by register, and returns. Return 0 if it is raw.
function read_handler(name,    type, i, register, rest, is_set, is_read)
{
	split("", arg_type)
	split("", arg_name)
	split("", is_read)
	returns = 0
	if (!find_handler(name) || body ~ /#/)
		return 0
	body = expand_macros(body)
	is_set = remove_results()

	while (find_call(body, "DECLARE_REG", 1)) {
		register = list_size == 4 ? trim(list[4]) : ""
		if (register !~ /^[0-9]+$/ || trim(list[3]) != context)
			return 0
		type = trim(list[1])
		name = trim(list[2])
		sub(/^_+/, "", name)
		if (type !~ /^[A-Za-z_0-9 *]+$/ || name !~ /^[A-Za-z][A-Za-z_0-9]*$/)
			return 0
		if (register in arg_type && (arg_type[register] != type || arg_name[register] != name))
			return 0
		arg_type[register] = type
		arg_name[register] = name
		body = substr(body, 1, call_at - 1) substr(body, call_end + 1)
	}

	while (find_call(body, "cpu_reg", 1)) {
		register = list_size == 2 ? trim(list[2]) : ""
		if (register !~ /^[0-9]+$/ || trim(list[1]) != context)
			return 0
		rest = substr(body, call_end + 1, 80)
		if (rest ~ /^[ \t\n]*=[^=]/)
			is_set = is_set || register == 1
		else
			is_read[register] = 1
		body = substr(body, 1, call_at - 1) substr(body, call_end + 1)
	}

	# What else uses the registers may read more of them.
	if (replace_word(body, context, "") != body)
		return 0
	for (i = max_register; i; i--) {
		if (i in is_read && !(i in arg_type)) {
			if (i == 1 && is_set)
				return 0
			arg_type[i] = "u64"
			arg_name[i] = "arg" i
		}
		if (i < max_register && (i + 1) in arg_type && !(i in arg_type))
			return 0
	}
	returns = is_set
	return 1
}

# The value of NAME, (NAME + 1), 0x10 and the like; "" if it is not known.
function value_of(text,    words, nr, i, sign, sum, word)
{
	text = trim(text)
	while (substr(text, 1, 1) == "(" && split_list(text, 1) == length(text))
		text = trim(list_text)
	if (text ~ /\([^)]*[+-]/)
		return ""
	gsub(/[()]/, " ", text)
	gsub(/[+-]/, " & ", text)
	nr = split(trim(text), words, " ")
	sign = 1
	for (i = 1; i <= nr; i++) {
		word = words[i]
		if (i % 2 == 0) {
			if (word !~ /^[+-]$/)
				return ""
			sign = word == "-" ? -1 : 1
			continue
		}
		if (word ~ /^0[xX][0-9a-fA-F]+[uUlL]*$/)
			word = from_hex(word)
		else if (word ~ /^(0|[1-9][0-9]*)[uUlL]*$/)
			word = word + 0
		else if (word in values)
			word = values[word]
		else
			return ""
		if (word == "")
			return ""
		sum += sign * word
	}
	return nr % 2 ? sum : ""
}

function from_hex(text,    i, sum)
{
	text = tolower(substr(text, 3))
	gsub(/[ul]/, "", text)
	for (i = 1; i <= length(text); i++)
		sum = sum * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return sum
}

# Read the constants: ids[] and names[] of hypercalls. Other constants, such as limits, are in capitals.
function read_enum(    at, nr, i, constants, word, value, name)
{
	if (!match(tree_enum, /enum[ \t]+__kvm_host_smccc_func[ \t]*\{/))
		return
	if (!split_list(tree_enum, RSTART + RLENGTH - 1))
		return
	nr = list_size
	for (i = 1; i <= nr; i++)
		constants[i] = trim(list[i])
	value = -1
	for (i = 1; i <= nr; i++) {
		at = index(constants[i], "=")
		word = trim(at ? substr(constants[i], 1, at - 1) : constants[i])
		if (at)
			value = value_of(substr(constants[i], at + 1))
		else if (value != "")
			value++
		values[word] = value
		name = substr(word, length(prefix) + 1)
		if (substr(word, 1, length(prefix)) != prefix || name !~ /[a-z]/)
			continue
		if (value == "" || value < 0 || value > 65535 || value in is_taken)
			continue
		# Android: the first number of those that EL2 modules register when they are loaded
		if (name == "__dynamic_hcalls") {
			for (at = 0; at < nr_module_calls; at++)
				add_call(value + at, "module_hcall_" at)
			continue
		}
		is_taken[value] = 1
		is_named[value] = 1
		add_call(value, name)
	}
}

function add_call(id, name)
{
	ids[++nr_calls] = id
	names[nr_calls] = name
}

function write_header(    i, bytes)
{
	print "/* SPDX-License-Identifier: GPL-2.0-only */"
	print "/* Made by driver/remotes/hypercalls.awk when the module is built. */"
	for (i = 1; i <= nr_calls; i++) {
		# Once in the print format, and once as a symbol with its headers
		bytes += 2 * length(names[i]) + 48
		if (bytes > max_name_bytes)
			break
		printf "%s \\\n\t{ %d, \"%s\" }", (i == 1 ? "#define HYPTRACE_HCALL_NAMES" : ","), ids[i],
		       names[i]
	}
	print (nr_calls ? "\n" : "") "\nstatic const struct hyptrace_hypercall hypercalls[] = {"
	for (i = 1; i <= nr_calls; i++)
		write_call(ids[i], names[i])
	print "};"
	for (i = 1; i <= nr_calls; i++)
		if (ids[i] in is_named)
			printf "static_assert(%s%s == %d);\n", prefix, names[i], ids[i]
}

function write_call(id, name,    i)
{
	printf "\t{ .id = %d, .name = \"%s\"", id, name
	if (read_handler(name)) {
		if (returns)
			printf ", .returns = true"
		for (i = 1; i <= max_register && i in arg_type; i++)
			printf "%s{ \"%s\", \"%s\" }", (i == 1 ? ",\n\t  .args = { " : ", "),
			       arg_type[i], arg_name[i]
		if (i > 1)
			printf " }, .nr_args = %d", i - 1
	} else {
		printf ", .raw = true"
	}
	print " },"
}
