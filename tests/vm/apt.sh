# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# A private apt: own lists and cache, the machine's mirror, signatures checked. To be sourced after lib.sh.

: "${cache:?source lib.sh first}"

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The mirror that this machine takes its own release from.
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

# apt_setup SUITE...: the state that apt_fetch and others work on.
apt_setup()
{
	apt_state=$cache/apt/$1
	apt_update deb "$@"
}

# apt_setup_sources SUITE...: the same for source packages.
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

# apt_fetch_source FOLDER PACKAGE: leave the files of the source package in FOLDER.
apt_fetch_source()
{
	mkdir -p "$1"
	(cd "$1" && step "fetching the source of $2" apt-get "${apt_options[@]}" source --download-only "$2")
}

# apt_fetch FOLDER PACKAGE[=VERSION]...: leave the .deb files in FOLDER.
apt_fetch()
{
	local folder=$1
	shift
	mkdir -p "$folder"
	(cd "$folder" && step "fetching $*" apt-get "${apt_options[@]}" download "$@")
}

# apt_names PREFIX: names of packages that begin so.
apt_names()
{
	apt-cache "${apt_options[@]}" pkgnames "$1" | sort -V
}

# apt_version PACKAGE: its newest version, nothing if there is none.
apt_version()
{
	apt-cache "${apt_options[@]}" madison "$1" | awk '{ print $3 }' | sort -V | tail -n 1
}
