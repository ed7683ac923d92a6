# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Loading rings of a certain size. To be sourced after helper.bash.

# loads SIZE BYTES: succeed if the rings load, status shows the requested and allocated size, and a mark can be read.
loads()
{
	ht load --size "$1" || return
	same "$(of '[.size_requested, .size_allocated >= .size_requested, .size_allocated % .subbuf_size,
		.size_allocated - .size_requested <= 2 * .subbuf_size,
		.nr_subbufs * .subbuf_size - .size_allocated == .subbuf_size] | join(" ")')" \
		"$2 true 0 true true" "size of $1" || return
	ht enable selftest && ht start && ht mark 99 || return
	same "$(drain | ids)" 99 "mark with $1" || return
	ht unload
}

# Print the number of pages that are free or used for something the kernel counts, so all but those that modules have
# allocated. (Dropping the caches and counting free pages is slower: every program would be read again.)
known_pages()
{
	awk '$1 ~ /^(nr_free_pages|count:|nr_(in)?active_(anon|file)|nr_slab_(un)?reclaimable|nr_page_table_pages)$/ {
		sum += $2 } END { print sum }' /proc/zoneinfo
}

# has_pages N: succeed if at most 1 MB is missing from N pages. Rings of 1 MB for two CPUs take twice that.
has_pages()
{
	(($(known_pages) >= $1 - (1 << 20) / $(page_size)))
}

# gives_back N: wait until has_pages N succeeds: RCU and workers free some pages a little later.
gives_back()
{
	within 10 has_pages "$1"
}
