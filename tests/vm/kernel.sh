#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build the kernel of the test bed with the project in it; lib.sh tells the variables that choose which. Sources are
# fetched if they are not in the cache yet, and only what changed is built again.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tree.sh"

modules=(CONFIG_HYPTRACE=m CONFIG_HYPTRACE_PKVM=m CONFIG_HYPTRACE_TEST=m)

# The compiler tells ccache what it has read, so that nothing goes through the preprocessor twice, and what was read
# once need not be read again to tell whether it is the same.
export CCACHE_DEPEND=1 CCACHE_INODECACHE=1

# More than half of what the compiler does is reading headers. Without what serves better messages it is quicker, and
# no code that comes out is another; indentation is looked at by the tests of style.
quick="-pipe -ftrack-macro-expansion=0 -Wno-misleading-indentation"

kmake()
{
	make -C "$tree" O="$build" ARCH=arm64 CROSS_COMPILE="$cross" CC="$(<"$build/.cc")" LOCALVERSION= \
		KCFLAGS="$quick${KCFLAGS:+ $KCFLAGS}" \
		KBUILD_BUILD_TIMESTAMP=1970-01-01 KBUILD_BUILD_USER=hyptrace KBUILD_BUILD_HOST=hyptrace "$@"
}

prepare_tree()
{
	local patch
	if [[ -n $ksrc ]]; then
		step "copying $ksrc" tree_copy "$ksrc" "$pristine"
	else
		"$vm/fetch.sh" "$series"
	fi
	if [[ -n $unpatched ]]; then
		if [[ ! -d $tree ]]; then
			cp -al "$pristine" "$tree"
			rm -f "$tree/drivers/hyptrace"
			[[ ! -d $pristine.pristine ]] || cp -a "$pristine.pristine" "$tree.pristine"
			tree_restore "$tree"
		fi
		return
	fi
	patch=$(series_patch)
	say_patch "$patch"
	tree_patch "$tree" "$patch"
	tree_link "$tree"
}

# The parts of the configuration: each file for all series, and for this one or the newest before it.
config_parts()
{
	printf '%s\n' "$vm/config/base"
	series_file "$vm/config/" "$series" ''
	[[ -n $flavour ]] || return 0
	[[ ! -f $vm/config/$flavour ]] || printf '%s\n' "$vm/config/$flavour"
	series_file "$vm/config/$flavour-" "$series" ''
}

# A series without a configuration of its own may have lost an option that an older one has.
option_is_gone()
{
	[[ ! -f $vm/config/$series ]] &&
		! grep -rqxE --include='Kconfig*' "(menu)?config[[:blank:]]+${1#CONFIG_}" "$tree"
}

# The configuration, made anew only if what it is made of changed. Of a symbol that is set twice the last one counts.
configure()
{
	local line symbol missed='' gone='' parts
	# make keeps the objects of the plain kernel that a flavour does not change
	[[ -z $flavour || -d $build || ! -f ${build%"-$flavour"}/.fragment ]] || cp -a "${build%"-$flavour"}" "$build"
	mkdir -p "$build"
	if [[ ! -f $build/.cc ]]; then
		echo "$(command -v ccache >/dev/null && echo ccache) ${cross}gcc" >"$build/.cc"
	fi
	mapfile -t parts < <(config_parts)
	cat "${parts[@]}" >"$build/.fragment.new"
	if [[ -z $unpatched ]]; then
		printf '%s\n' "${modules[@]}" >>"$build/.fragment.new"
		cat "$tree/drivers/hyptrace/Kconfig" >"$build/.kconfig.new"
	else
		: >"$build/.kconfig.new"
	fi
	if [[ -f $build/.config ]] && cmp -s "$build/.fragment.new" "$build/.fragment" &&
		cmp -s "$build/.kconfig.new" "$build/.kconfig"; then
		return
	fi
	rm -f "$build/.fragment"
	KCONFIG_ALLCONFIG=$build/.fragment.new step "configuring $name" kmake allnoconfig
	while read -r line; do
		symbol=${line%%=*}
		[[ $symbol == CONFIG_* ]] || continue
		if [[ $line == *=n ]]; then
			! grep -q "^$symbol=" "$build/.config" || missed+=" $symbol"
		elif ! grep -qxF "$line" "$build/.config"; then
			if option_is_gone "$symbol"; then
				gone+=" $symbol"
			else
				missed+=" $symbol"
			fi
		fi
	done < <(tac "$build/.fragment.new" | awk -F = '!seen[$1]++')
	[[ -z $gone ]] || say "$name has no$gone: left out of the configuration"
	[[ -z $missed ]] || die "Kconfig of $name did not take:$missed. Their dependencies are not met, or" \
		"there is no such symbol: see $build/.config"
	mv "$build/.kconfig.new" "$build/.kconfig"
	mv "$build/.fragment.new" "$build/.fragment"
}

# An unpatched kernel has the modules built outside, from a copy: the work tree stays clean.
build_outside()
{
	local work=$build/hyptrace
	[[ -f $repo/Kbuild ]] || return 0
	mkdir -p "$work"
	rsync -a --exclude-from="$repo/.gitignore" "$repo"/{Kbuild,driver,hyp,uapi} "$work/"
	kmake -j"$(nproc)" M="$work" "${modules[@]}" modules
	kmake -s M="$work" INSTALL_MOD_PATH="$out.new" "${modules[@]}" modules_install
}

# Modules that only tests use
build_test_modules()
{
	local work=$build/hyptrace-tests settings=(HYPTRACE="$tree/drivers/hyptrace")
	[[ -z $unpatched ]] || settings=(HYPTRACE="$build/hyptrace" KBUILD_EXTRA_SYMBOLS="$build/hyptrace/Module.symvers")
	mkdir -p "$work"
	rsync -a "$repo/tests/kselftest/modules/" "$work/"
	kmake -j"$(nproc)" M="$work" "${settings[@]}" modules
	kmake -s M="$work" INSTALL_MOD_PATH="$out.new" "${settings[@]}" modules_install
}

# What is booted: image, symbols and modules.
install_kernel()
{
	rm -rf "$out.new"
	mkdir -p "$out.new/lib/modules"
	cp "$build/arch/arm64/boot/Image" "$build/System.map" "$build/.config" "$out.new/"
	kmake -s INSTALL_MOD_PATH="$out.new" modules_install
	[[ -z $unpatched ]] || build_outside
	build_test_modules
	rm -f "$out.new"/lib/modules/*/build
	rm -rf "$out.old"
	[[ ! -d $out ]] || mv "$out" "$out.old"
	mv "$out.new" "$out"
	rm -rf "$out.old"
}

set_kernel ''
name="Linux $series${unpatched:+ unpatched}${flavour:+ $flavour}"
[[ -z $flavour || -f $vm/config/$flavour ]] || die "there is no flavour \"$flavour\": $vm/config/$flavour is missing"
need "${cross}gcc"
need bison
need flex
need bc
lock "kernel-$kernel"
(lock sources && prepare_tree)
configure
step "building $name" kmake -j"$(nproc)" Image modules
[[ -n $unpatched ]] || "$vm/el2-symbols.sh"
step "installing $name" install_kernel
