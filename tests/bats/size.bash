# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Loading rings of a certain size. To be sourced after helper.bash.

# loads SIZE BYTES: it loads, is shown as asked and as had, and a mark comes through.
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

# Pages that the kernel can name a use of, and those that are free: all but what modules have taken by themselves. (To
# drop the caches and look at what is free would have every program read anew.)
known_pages()
{
	awk '$1 ~ /^(nr_free_pages|count:|nr_(in)?active_(anon|file)|nr_slab_(un)?reclaimable|nr_page_table_pages)$/ {
		sum += $2 } END { print sum }' /proc/zoneinfo
}

# has_pages N: or nearly so; the smallest ring of 1 MB has twice that for two CPUs.
has_pages()
{
	(($(known_pages) >= $1 - (1 << 20) / $(page_size)))
}

# gives_back N: so many soon: some are freed by RCU or a worker.
gives_back()
{
	within 10 has_pages "$1"
}
