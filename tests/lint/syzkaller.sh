# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Check the description for syzkaller: its language, and that it has all of the device and the netlink family. Sourced by run.sh.

: "${work:?set work to a temporary folder}"

# tests/syzkaller/hyptrace.txt has all ioctls, structs, commands and attributes, as they are.
check_syzkaller()
{
	tests/lint/syzkaller.py
}

# syzkaller_reports FILE SCRIPT TEXT: change a file of a copy of the tree with a script of sed: syzkaller.py must say TEXT
syzkaller_reports()
{
	local copy=$work/syzkaller code=0
	rm -rf "$copy"
	mkdir -p "$copy/tests" "$copy/hyp" "$copy/driver"
	cp -r uapi "$copy/"
	cp -r tests/syzkaller "$copy/tests/"
	cp hyp/events.h "$copy/hyp/"
	cp -r driver/device "$copy/driver/"
	sed -i -E "$2" "$copy/$1"
	! cmp -s "$1" "$copy/$1" || { echo "\"$2\" does not change $1" && return 1; }
	tests/lint/syzkaller.py "$copy" >"$work/syzkaller.said" || code=$?
	[[ $code == 1 && $(<"$work/syzkaller.said") == *"$3"* ]] ||
		{ echo "after $2: not \"$3\", but, with exit code $code:" && cat "$work/syzkaller.said" && return 1; }
}

# syzkaller.py reports what is missing, what does not exist, and what is not as in the headers and the yaml.
# shellcheck disable=SC2016 # "$" is part of the names
check_syzkaller_of_what_is_new()
{
	local text=tests/syzkaller/hyptrace.txt yaml=uapi/hyptrace.yaml header=uapi/linux/hyptrace.h

	# Attributes and commands
	syzkaller_reports $text '/^\tHYPTRACE_A_PAGE_PFN/d' 'hyptrace_page_attrs: HYPTRACE_A_PAGE_PFN is missing' &&
		syzkaller_reports $yaml '/^  - name: page$/,/attributes/s/attributes:/&\n      - name: added\n        type: u32/' \
			'hyptrace_page_attrs: HYPTRACE_A_PAGE_ADDED is missing' &&
		syzkaller_reports $yaml '/^      - name: owners$/,+2d' 'hyptrace_page_attrs: there is no attribute HYPTRACE_A_PAGE_OWNERS' &&
		syzkaller_reports $text 's/(HYPTRACE_A_PAGE_)PFN/\1PPN/g' "'HYPTRACE_A_PAGE_PPN' undeclared" &&
		syzkaller_reports $text '/^sendmsg.HYPTRACE_CMD_MARK/d' 'there is no sendmsg$HYPTRACE_CMD_MARK(' &&
		syzkaller_reports $text 's/(sendmsg.HYPTRACE_CMD_)MARK/\1MARKS/' 'sendmsg$HYPTRACE_CMD_MARKS: there is no such command' &&
		syzkaller_reports $text '/^sendmsg.HYPTRACE_CMD_MARK/s/hyptrace_control_attrs/hyptrace_page_attrs/' \
			'there is no sendmsg$HYPTRACE_CMD_MARK(' &&
		syzkaller_reports $yaml 's/^    - name: mark$/    - name: added\n      attribute-set: page\n&/' \
			'there is no sendmsg$HYPTRACE_CMD_ADDED(' || return
	# Policies
	syzkaller_reports $yaml '/^      - name: pfn$/,/type/s/u64/u32/' 'HYPTRACE_A_PAGE_PFN must be an int32' &&
		syzkaller_reports uapi/linux/hyptrace_netlink.h 's/(HYPTRACE_VISIT_COUNT_MAX).*/\1 0x100000000/' 'no range of an int32' &&
		syzkaller_reports $yaml 's/max: visit-count-max/max: page-count-max/' 'HYPTRACE_A_VISIT_COUNT must be int32[1:256]' &&
		syzkaller_reports $yaml 's/^      - name: discard$/      - name: added\n&/' 'HYPTRACE_A_CONTROL_MODE has other values than' &&
		syzkaller_reports $yaml 's/nested-attributes: term$/nested-attributes: field/' 'must be array[hyptrace_field_attrs]' || return
	# The device
	syzkaller_reports $header 's/^#define HYPTRACE_IOC_HOLD.*/&\n#define HYPTRACE_IOC_ADDED _IO(HYPTRACE_IOC_MAGIC, 0x03)/' \
		'there is no ioctl$HYPTRACE_IOC_ADDED(fd fd_hyptrace, cmd const[HYPTRACE_IOC_ADDED])' &&
		syzkaller_reports $header 's/(IOC_WAKEUP\t)_IOW/\1_IOWR/' 'arg ptr[inout, hyptrace_wakeup])' &&
		syzkaller_reports $header 's/^\t__u32\tpercent;/\t__u64\tpercent;/' 'hyptrace_wakeup: percent is at 12, but in the header at 16' &&
		syzkaller_reports $header 's/^\t__u64\tevents;/&\n\t__u64\tadded;/' 'hyptrace_hold: its fields are not size, ' &&
		syzkaller_reports $text 's/^(\tremote\t.*)HYPTRACE_NAME_SIZE/\164/' 'it has 88 bytes, but in the header 56' &&
		syzkaller_reports $header 's/^#define HYPTRACE_ATTACH_SNAP.*/&\n#define HYPTRACE_ATTACH_ADDED\t(1U << 1)/' \
			'no flags have HYPTRACE_ATTACH_ADDED' &&
		syzkaller_reports $text '/^splice/d' 'the calls for fd_hyptrace are' &&
		syzkaller_reports driver/device/chardev.c 's/(\.name\t= )"hyptrace"/\1"added"/' 'but the driver has added, ' &&
		syzkaller_reports $text 's/"lock_wait"/"added"/' 'there is no event "added"' || return
	# The language
	syzkaller_reports $text 's/^hyptrace_wakeup \{/& {/' '"{" is too much' &&
		syzkaller_reports $text 's/^(read.hyptrace\(.*)\)/\1/' 'the end' &&
		syzkaller_reports $text 's/int32\[0:100\]/int32[0;100]/' 'is not of the language' &&
		syzkaller_reports $text 's/int32\[0:100\]/int24/' 'hyptrace_wakeup: there is no type int24' &&
		syzkaller_reports $text 's/int32\[0:100\]/int32[100:0]/' 'hyptrace_wakeup: this is no range of an int32' &&
		syzkaller_reports $text 's/len\[events, /len[event, /' 'hyptrace_hold: there is no field event' &&
		syzkaller_reports $text 's/(reserved\tconst\[0), int32/\1/' 'const has no size' &&
		syzkaller_reports $text 's/^hyptrace_cpus =/added_cpus =/' 'there are no flags hyptrace_cpus' &&
		syzkaller_reports $text 's/^hyptrace_cpus =/added = 1\n&/' 'added is not used' &&
		syzkaller_reports $text 's/^hyptrace_cpus =/hyptrace_hold = 1\n&/' 'hyptrace_hold is already in line' &&
		syzkaller_reports $text 's/(mode const\[0\]\)) fd_hyptrace$/\1/' 'no call returns fd_hyptrace' &&
		syzkaller_reports $text 's/nlattr\[HYPTRACE_A_PAGE_PFN, /nlattr[/' 'nlattr has 1 arguments'
}
