#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build the kernel of the test bed, with the project in it; lib.sh lists the variables that choose the kernel. Fetch the
# source if it is not in the cache. Build again only what has changed.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tree.sh"

modules=(CONFIG_HYPTRACE=m CONFIG_HYPTRACE_PKVM=m CONFIG_HYPTRACE_TEST=m)

# Let ccache use the compiler's list of headers instead of running the preprocessor, and let it remember the hash of
# each header.
export CCACHE_DEPEND=1 CCACHE_INODECACHE=1

# The compiler spends more than half of its time on headers. These options of gcc only drop information for messages, so it
# is faster and generates the same code. The lint tests check indentation.
quick="-pipe -ftrack-macro-expansion=0 -Wno-misleading-indentation"

kmake()
{
	make -C "$tree" O="$build" "${compiler[@]}" LOCALVERSION= KCFLAGS="${quick:+$quick }${KCFLAGS:-}" \
		KBUILD_BUILD_TIMESTAMP=1970-01-01 KBUILD_BUILD_USER=hyptrace KBUILD_BUILD_HOST=hyptrace "$@"
}

prepare_tree()
{
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
	tree_patch "$tree"
	tree_link "$tree"
}

# Print the files that make up the configuration: for base and for the flavour, the file for all series and the one for
# this series, or for the newest series before it.
config_parts()
{
	printf '%s\n' "$vm/config/base"
	series_file "$vm/config/" "$series" ''
	[[ ! -f $pristine/arch/arm64/configs/gki_defconfig ]] || printf '%s\n' "$vm/config/android"
	[[ -n $flavour ]] || return 0
	[[ ! -f $vm/config/$flavour ]] || printf '%s\n' "$vm/config/$flavour"
	series_file "$vm/config/$flavour-" "$series" ''
}

# Succeed if the kernel's own hypervisor has a tracer.
has_el2_tracing()
{
	grep -qx CONFIG_NVHE_EL2_TRACING=y "$build/.fragment.new"
}

# option_is_gone OPTION: succeed if the kernel no longer has this option. Only a series without a configuration of its
# own may lack one.
option_is_gone()
{
	[[ ! -f $vm/config/$series ]] &&
		! grep -rqxE --include='Kconfig*' "(menu)?config[[:blank:]]+${1#CONFIG_}" "$tree"
}

# Configure the kernel if its configuration files have changed. If a symbol is set twice, the last value counts.
configure()
{
	local line symbol missed='' gone='' parts
	# Start a flavour with the objects of the plain kernel: make keeps those that the flavour does not change.
	[[ -z $flavour || -d $build || ! -f ${build%"-$flavour"}/.fragment ]] || cp -a "${build%"-$flavour"}" "$build"
	mkdir -p "$build"
	set_compiler
	[[ -z $llvm ]] || quick=
	mapfile -t parts < <(config_parts)
	cat "${parts[@]}" >"$build/.fragment.new"
	! has_el2_tracing || modules+=(CONFIG_HYPTRACE_KERNEL=m)
	if [[ -z $unpatched ]]; then
		# a flavour may have other values
		{ printf '%s\n' "${modules[@]}" && cat "${parts[@]}"; } >"$build/.fragment.new"
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
	[[ -z $missed ]] || die "the configuration of $name does not have:$missed. Their dependencies are not met, or" \
		"there is no such symbol: see $build/.config"
	mv "$build/.kconfig.new" "$build/.kconfig"
	mv "$build/.fragment.new" "$build/.fragment"
}

# Build the modules for an unpatched kernel out of tree. Build a copy, so that no objects are written to the repository.
build_outside()
{
	local work=$build/hyptrace
	[[ -f $repo/Kbuild ]] || return 0
	mkdir -p "$work"
	rsync -a --exclude-from="$repo/.gitignore" "$repo"/{Kbuild,driver,hyp,uapi} "$work/"
	kmake -j"$(nproc)" M="$work" "${modules[@]}" modules
	kmake -s M="$work" INSTALL_MOD_PATH="$out.new" "${modules[@]}" modules_install
}

# Build the modules that only tests use.
build_test_modules()
{
	local work=$build/hyptrace-tests settings=(HYPTRACE="$tree/drivers/hyptrace")
	[[ -z $unpatched ]] || settings=(HYPTRACE="$build/hyptrace" KBUILD_EXTRA_SYMBOLS="$build/hyptrace/Module.symvers")
	mkdir -p "$work"
	rsync -a "$repo/tests/kselftest/modules/" "$work/"
	kmake -j"$(nproc)" M="$work" "${settings[@]}" modules
	kmake -s M="$work" INSTALL_MOD_PATH="$out.new" "${settings[@]}" modules_install
}

# Install the files that run.sh boots: image, symbols and modules.
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
name="Linux $series${unpatched:+ unpatched}${llvm:+ LLVM=$llvm}${flavour:+ $flavour}"
[[ -z $flavour || -f $vm/config/$flavour ]] ||
	die "there is no flavour \"$flavour\": try functions, 16k, 64k, rt, 4096cpus, el2debug, debug or kcsan"
need bison
need flex
need bc
lock "kernel-$kernel"
(lock sources && prepare_tree)
configure
step "building $name" kmake -j"$(nproc)" Image modules
[[ -n $unpatched ]] || "$vm/el2-symbols.sh"
step "installing $name" install_kernel
