# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Use apt with its own lists and cache, the machine's mirror, and signature checks. The machine's apt state does not
# change. To be sourced after lib.sh.

: "${cache:?source lib.sh first}"

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Print the mirror from which this machine installs its own release.
apt_mirror()
{
	local release mirror
	release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016 # apt expands them
	mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' |
		awk -v release="$release" '$2 == release && !seen++ { print $1 }')
	[[ -n $mirror ]] || die "apt knows no Debian mirror for \"$release\": check \"apt-get indextargets\", or run apt-get update"
	printf '%s\n' "$mirror"
}

# apt_setup SUITE...: set up the lists for binary packages, which the functions below use.
apt_setup()
{
	apt_state=$cache/apt/$1
	apt_update deb "$@"
}

# apt_setup_sources SUITE...: set up the lists for source packages.
apt_setup_sources()
{
	apt_state=$cache/apt/$1-sources
	apt_update deb-src "$@"
}

apt_update()
{
	local type=$1 mirror suite
	shift
	[[ -r $keyring ]] || die "$keyring is missing: install debian-archive-keyring"
	mirror=$(apt_mirror)
	mkdir -p "$apt_state/lists" "$apt_state/cache/archives/partial"
	for suite in "$@"; do
		printf '%s [signed-by=%s] %s %s main\n' "$type" "$keyring" "$mirror" "$suite"
	done >"$apt_state/sources.list"
	apt_options=(
		-o "Dir::Etc::SourceList=$apt_state/sources.list"
		-o Dir::Etc::SourceParts=/dev/null
		-o "Dir::State::Lists=$apt_state/lists"
		-o "Dir::Cache=$apt_state/cache"
		-o "APT::Architectures=$(dpkg --print-architecture)"
		-o APT::Sandbox::User=
		-o Debug::NoLocking=true
	)
	step "apt lists of $*" apt-get "${apt_options[@]}" --error-on=any update
}

# apt_fetch_source FOLDER PACKAGE: download the files of the source package into FOLDER.
apt_fetch_source()
{
	mkdir -p "$1"
	(cd "$1" && step "fetching the source of $2" apt-get "${apt_options[@]}" source --download-only "$2")
}

# apt_fetch FOLDER PACKAGE[=VERSION]...: download the .deb files into FOLDER.
apt_fetch()
{
	local folder=$1
	shift
	mkdir -p "$folder"
	(cd "$folder" && step "fetching $*" apt-get "${apt_options[@]}" download "$@")
}

# apt_names PREFIX: print the names of the packages that start with PREFIX.
apt_names()
{
	apt-cache "${apt_options[@]}" pkgnames "$1" | sort -V
}

# apt_version PACKAGE: print its newest version, or nothing if there is no such package.
apt_version()
{
	apt-cache "${apt_options[@]}" madison "$1" | awk '{ print $3 }' | sort -V | tail -n 1
}
