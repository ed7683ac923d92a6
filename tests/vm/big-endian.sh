#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the kselftest programs on a big-endian kernel (FLAVOUR=be): those that need no library and no shell, or the named
# ones. Debian has no big-endian programs, so this script builds musl from Debian's source and links them with it. The
# last line is "N passed, N failed".

export FLAVOUR=be
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
. "$repo/tests/kselftest/tap.sh"

set_kernel ''
programs=/usr/local/libexec/hyptrace-kselftest
musl=$cache/musl
root=$guest/be
modules=(hyptrace hyptrace_test hyptrace_pkvm)
rounds=20
be_cc="${cross}gcc -mbig-endian -mno-outline-atomics"

build_musl()
{
	local source=$1/source
	mkdir "$source"
	tar -xzf "$1"/musl_*.orig.tar.gz -C "$source" --strip-components=1
	cd "$source"
	CC=$be_cc AR=${cross}ar RANLIB=${cross}ranlib CFLAGS=-O1 \
		./configure --target=aarch64_be-linux-musl --prefix="$musl" --disable-shared
	make -j"$(nproc)" DESTDIR="$1/installed" install
}

make_musl()
{
	local new
	[[ ! -d $musl ]] || return 0
	new=$(mktemp -d "$cache/musl.XXXXXX")
	apt_setup_sources trixie
	apt_fetch_source "$new" musl
	step "building a big-endian musl" build_musl "$new"
	mv "$new/installed$musl" "$musl"
	rm -rf "$new"
}

# Link the headers of the kernel's interface, without those of glibc.
uapi_headers()
{
	local folder
	mkdir -p "$root.headers"
	for folder in linux asm-generic aarch64-linux-gnu/asm; do
		ln -sfn "$SYSROOT/usr/include/$folder" "$root.headers/${folder##*/}"
	done
}

build_programs()
{
	local lib=$musl/lib name
	CC="$be_cc -nostdinc -isystem $musl/include -isystem $("${cross}gcc" -print-file-name=include)"
	CC+=" -isystem $root.headers"
	LDFLAGS="-static -nostdlib $lib/crt1.o $lib/crti.o $lib/crtn.o"
	LDLIBS="$lib/libc.a $root.libgcc.o $lib/libc.a"
	export CC LDFLAGS LDLIBS
	$CC -O2 -Wall -Wextra -Werror -c -o "$root.libgcc.o" "$vm/big-endian-libgcc.c"
	make -s -C "$repo/tests/kselftest" -j"$(nproc)" O="$guest/be-kselftest" DESTDIR="$root" \
		KSELFTEST="$tree/tools/testing/selftests" WITHOUT=test_tracefs install
	mkdir -p "$root"/{bin,sbin,ctl,proc,sys,dev,tmp,modules,usr/local/bin}
	link "$vm/big-endian-init.c" "$root/sbin/init"
	for name in sh modprobe rmmod; do
		ln -f "$root/sbin/init" "$root/bin/$name"
	done
	link "$vm/workload.c" "$root/usr/local/bin/workload"
}

# link SOURCE PROGRAM: compile and link one program.
link()
{
	# shellcheck disable=SC2086 # the variables have several words
	$CC -std=gnu11 -O2 -Wall -Wextra -Werror $LDFLAGS -o "$2" "$1" $LDLIBS
}

# Write the commands for the machine, one on each line, and set $titles to their titles.
commands()
{
	local name module files=
	titles=()
	for module in "${modules[@]}"; do
		add_command "modprobe $module" "modprobe $module"
	done
	for name in "${names[@]}"; do
		if [[ $name == test_kernel_map ]]; then
			add_command "$name" "$name -V subbuf_size_8k -F snapshot"
		else
			add_command "$name" "$name"
		fi
	done
	for module in hyptrace_pkvm hyptrace_test hyptrace; do
		add_command "rmmod $module" "rmmod $module"
	done
	for module in "${modules[@]}"; do
		files+=$(cd "$out/lib/modules" && find . -name "$module.ko" -printf ' /modules/%P')
	done
	add_command "$rounds rounds of loading, tracing and unloading" "cycle $rounds test,hypervisor$files"
}

# add_command TITLE WORDS: add a command and its title.
add_command()
{
	titles+=("$1")
	echo "$2" >>"$root/commands"
}

# report N: count the results of command N: those of a test program one by one, any other command as one result.
report()
{
	local title=${titles[$1 - 1]} code
	awk -v n="$1" '$0 == "# === begin " n { on = 1; next } $0 ~ "^# === ended " n " " { exit } on' "$said" >"$part"
	code=$(sed -n "s/^# === ended $1 \([0-9]*\)\$/\1/p" "$said")
	if [[ -z $code ]]; then
		echo "not ok # $title did not run to its end"
		((++failed))
	elif [[ $title == test_* ]]; then
		# shellcheck disable=SC2016 # the started shell expands them
		tap "$title" bash -c 'cat "$1"; exit "$2"' - "$part" "$code"
	else
		sed 's/^/# /' "$part"
		if ((code)); then
			echo "not ok # $title: it ended with $code"
			((++failed))
		else
			echo "ok # $title"
			((++passed))
		fi
	fi
}

"$vm/kernel.sh"
"$vm/rootfs.sh"
lock tools
. "$vm/cross-env.sh"
make_musl
uapi_headers
step "building the big-endian programs" build_programs

names=("$@")
if ((!$#)); then
	for program in "$root$programs"/test_*; do
		names+=("${program##*/}")
	done
fi
: >"$root/commands"
commands

said=$(mktemp) part=$(mktemp)
trap 'rm -f "$said" "$part"' EXIT
code=0
say "running ${#titles[@]} commands on the big-endian kernel"
"$vm/run.sh" --root "$root" --require-protected --timeout 1800 -- commands >"$said" || code=$?
for ((number = 1; number <= ${#titles[@]}; number++)); do
	report "$number"
done
if ((code && !failed)); then
	echo "not ok # the machine failed with $code"
	((++failed))
fi
tap_total
