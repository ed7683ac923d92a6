# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Check how the test bed chooses by kernel series, and what it refuses. The checks use small fake trees, archives
# and patches, and need no kernel. Sourced by run.sh.

: "${work:?set work to a temporary folder}"

# expect GLOB TITLE: check that standard input matches
expect()
{
	local got
	got=$(cat)
	# shellcheck disable=SC2053 # it is a glob
	[[ $got == $1 ]] || { printf '%s: "%s" instead of "%s"\n' "$2" "$got" "$1" && return 1; }
}

# The .hooks file of each patch must list the patch's hooks, in the same order.
check_hooks_listed()
{
	local patch list bad=0
	need patch
	for patch in hyp/linux/*.patch; do
		list=${patch%.patch}.hooks
		[[ -f $list ]] || { echo "$list is missing" && bad=1 && continue; }
		diff <(awk '$1 == "+++" { file = substr($2, 3); next }
			/^\+/ && tolower($0) ~ /hyptrace/ {
				sub(/^\+[ \t]*/, ""); sub(/[ \t]*\\?$/, ""); gsub(/[ \t]+/, " ")
				print file, $0
			}' "$patch") <(sed '/^#/d; /^$/d; s/^\([^ ]*\) [^ ]* /\1 /' "$list") ||
			{ echo "$list differs from $patch: see tests/vm/hooks.sh --update" && bad=1; }
	done
	return "$bad"
}

# make_fake_tree FOLDER FUNCTION: make a kernel tree whose FUNCTION calls run_guest()
make_fake_tree()
{
	local name
	mkdir -p "$1/drivers" "$1/arch"
	printf 'VERSION = 99\nPATCHLEVEL = 1\n' >"$1/Makefile"
	touch "$1/Kconfig" "$1/drivers/Makefile"
	for name in begin_run finish_run; do
		printf 'static int %s(struct vcpu *vcpu)\n{\n\tprepare(vcpu);\n' "$name"
		[[ $name != "$2" ]] || printf '\trun_guest(vcpu);\n\treport(vcpu);\n'
		printf '\treturn 0;\n}\n\n'
	done >"$1/arch/run.c"
}

# If a patch would put a hook into another function, patch-tree.sh must name the hook and must not change the
# tree.
check_hook_in_another_function()
{
	local said before
	need patch
	make_fake_tree "$work/made-for" finish_run
	make_fake_tree "$work/newer" begin_run
	cp -r "$work/made-for" "$work/patched"
	sed -i 's/^\trun_guest(vcpu);/\thyptrace(hyp_exit, 1);\n&/' "$work/patched/arch/run.c"
	(cd "$work" && diff -U 1 made-for/arch/run.c patched/arch/run.c |
		sed '1s,.*,--- a/arch/run.c,; 2s,.*,+++ b/arch/run.c,') >"$work/99.1.patch"
	! KSRC='' PATCH=$work/99.1.patch tests/vm/patch-tree.sh "$work/made-for" >"$work/out" 2>&1 ||
		{ echo "patch-tree.sh has applied a patch without a .hooks file" && return 1; }
	expect "*99.1.hooks is missing*" "a patch without a list" <"$work/out" || return
	tests/vm/hooks.sh --update "$work/99.1.patch" "$work/made-for" || return

	before=$(cat "$work/newer/arch/run.c")
	! PATCH=$work/99.1.patch tests/vm/patch-tree.sh "$work/newer" >"$work/out" 2>&1 ||
		{ echo "patch-tree.sh has put a hook into another function" && return 1; }
	said=$(cat "$work/out")
	expect "*found in begin_run in arch/run.c: hyptrace(hyp_exit, 1);*" "the function" <<<"$said" || return
	expect "*missing from finish_run in arch/run.c: hyptrace(hyp_exit, 1);*" "the function meant" <<<"$said" || return
	expect "*Nothing was changed*" "the sentence" <<<"$said" || return
	[[ $(cat "$work/newer/arch/run.c") == "$before" && ! -e $work/newer/drivers/hyptrace ]] ||
		{ echo "patch-tree.sh has changed the tree" && return 1; }

	# A hunk that does not fit: the message names the hook, its file and its function.
	sed -i 's/run_guest(/start_guest(/' "$work/newer/arch/run.c"
	before=$(cat "$work/newer/arch/run.c")
	! PATCH=$work/99.1.patch tests/vm/patch-tree.sh "$work/newer" >"$work/out" 2>&1 ||
		{ echo "patch-tree.sh has applied a patch that does not fit" && return 1; }
	expect "*does not fit into finish_run in arch/run.c: hyptrace(hyp_exit, 1);*Nothing was changed*" "the hunk" \
		<"$work/out" || return
	[[ $(cat "$work/newer/arch/run.c") == "$before" && ! -e $work/newer/drivers/hyptrace ]] ||
		{ echo "patch-tree.sh has changed the tree" && return 1; }

	PATCH=$work/99.1.patch tests/vm/patch-tree.sh "$work/made-for" >"$work/out" 2>&1 || { cat "$work/out" && return 1; }
	grep -q 'hyptrace(hyp_exit, 1);' "$work/made-for/arch/run.c" || { echo "patch-tree.sh has not applied the patch" && return 1; }
}

# hooks.sh names the place of each hook: functions, tables, enums, macros, and functions that a macro defines.
check_hook_places()
{
	mkdir -p "$work/places"
	cat >"$work/places/a.c" <<'END'
#include <hyptrace/1>
enum calls {
	__hyptrace_2,
};
#define both(a)		\
	do_hyptrace_4(a);	\
	done(a)
static const hcall_t table[] = {
	HANDLE_FUNC(__hyptrace_5),
};
static int __attribute__((cold)) several(int a,
					 int hyptrace_6)
{
	if (a) {
		hyptrace_7();
	}
label:
	return hyptrace_8;
}
DEFINE_CALL(int, shared, u64, pfn)
{
	hyptrace_9();
}
int hyptrace_10;
END
	tests/vm/hooks.sh --list "$work/places" a.c | awk '{ print $2 }' | xargs |
		expect '- calls both table several several several DEFINE_CALL(int,shared,u64,pfn) -' "the places"
}

# A series without a patch uses the patch of the newest older series. There is none before the first.
check_series_without_patch()
{
	local series pair found
	for series in 6.9 6.12 7.2 7.10; do
		touch "$work/$series.patch"
	done
	for pair in 6.1:none 6.9:6.9 6.11:6.9 7.1:6.12 7.2:7.2 7.9:7.2 7.11:7.10 10.0:7.10; do
		found=$(series_file "$work/" "${pair%:*}" .patch)
		expect "${pair#*:}" "Linux ${pair%:*}" <<<"$(basename "${found:-none}" .patch)" || return
	done
}

# archive_of [SERIES...]: make a fake apt that offers the sources of these series, and lists one more only by
# name. Without SERIES it fails.
archive_of()
{
	local bin=$work/bin
	mkdir -p "$bin"
	cat >"$bin/apt-get" <<-END
		#!/bin/sh
		[ "\$1" != indextargets ] || { . /etc/os-release; echo "http://example.invalid \$VERSION_CODENAME"; exit; }
		exit $((!$#))
	END
	cat >"$bin/apt-cache" <<-END
		#!/bin/sh
		for word; do last=\$word; done
		case "\$*" in
		*pkgnames*) printf 'linux-source-%s\n' 99.9 $* ;;
		*madison*) case " $* " in *" \${last##*-} "*) echo "\$last | \${last##*-}.1-1 | nowhere" ;; esac ;;
		esac
	END
	chmod +x "$bin"/*
}

# The newest series is that of the archive, or that of the cache if the archive does not answer.
check_newest_series()
{
	local series
	for series in 6.12 7.9 7.10; do
		mkdir -p "$work/cache/src/$series"
		touch "$work/cache/src/$series/Makefile"
	done
	mkdir -p "$work/cache/src/8.1" "$work/cache/src/7.10.pristine"
	newest()
	{
		PATH=$work/bin:$PATH HYPTRACE_CACHE=$work/cache HYPTRACE_LOCKED='' tests/vm/fetch.sh "$@" 2>"$work/err"
	}
	archive_of 6.12 7.8 7.11 7.9
	newest --newest | expect 7.11 "of the archive" || return
	# A series that the archive no longer has: the message lists those that it has.
	! newest 7.2 || return
	expect "*no linux-source-7.2*It has: 6.12 7.8 7.9 7.11.*" "a series that is gone" <"$work/err" || return
	archive_of
	newest --newest | expect 7.10 "of the cache" || return
	expect "*cannot be asked*Linux 7.10*" "the message" <"$work/err"
}
