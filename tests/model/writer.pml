/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hyp/ring.c does, step by step, with its mutants. Included by ring.pml, which has its variables.
 *
 * models: hyp/ring.h:hyptrace_ring_reserve d9c6b91685e33fb795d38787bdd85d3ccb35429959ed1cf5266b92e6eb49eac7
 * models: hyp/ring.h:hyptrace_ring_commit e9e50513072c225b820d91ede565c1b81b001ac3e07e4fd507b3e11c979451e3
 * models: hyp/ring.h:hyptrace_ring_fits 82b92b27d1e3b1f96d9a82a30fed5d5c2de41ac8e0723817dc8832869c25d32d
 * models: hyp/ring.h:hyptrace_ring_put e0b36f8fcdc1b8aec1aaac1875a8254207d8fa8f84d8b6a1dae58919e5229119
 * models: hyp/trace.c:record_slowly faae3ebbcf8c61f982b2e5ef14334ebcd688ee91626b9c4dc3fd36a1d0f212e3
 * models: hyp/hooks.h:hyptrace 113d4679eb751cee7f40910a5efe7ed75f407364628b1e22b6dca74ef2a62315
 * models: hyp/hooks.h:hyptrace_cpu_off 0f15a59c0c634452ad3c61f22f45c8adce7ccaa889f76a7f1250e4c87fa482d4
 * models: hyp/hooks.h:hyptrace_cpu_on be73a9abacb08d6f16e7f9300a96c0f89defea2da92d544575a3a43537ef38fd
 * models: hyp/ring.h:hyptrace_next_position a0dc63ac6e34f3d20a0cc70b6ac4e797c59d514bc4e67ced84d64c9c7778371b
 * models: hyp/ring.h:hyptrace_ring_is_loaded ebd950e020ccddaca712ff1f6ed4b52ee480f95cdf2016d5c10e2c73a40dae6c
 * models: hyp/ring.h:hyptrace_ring_is_mine 1582d052bfdc096762a316feef55e38e88555e77077c027b7fc66b98ca1c1b54
 * models: hyp/ring.c:hyptrace_ring_publish d3126ac3635bdacdceaecde8173d52b74d27244ac8dfe5f5f2a5e556a6e03d9d
 * models: hyp/ring.c:hyptrace_ring_enter 558d3a4d674a4cecccef4562257ba5446244f4fdf0133eef608b0e3d3cd8d2f4
 * models: hyp/ring.c:overwrite_head e4ac00c099b5dcbd718c380eed5d71fa45bb3cc8d7b9876c9f371b5fc9e41435
 * models: hyp/ring.c:advance 96f5c24b670fe8ce61dea128e1fe695e5e7f2f94cac26407f08c223a25f4cf75
 * models: hyp/ring.c:hyptrace_ring_make_room 67f5c3f978de0bd3fc69d88447c7fcdbc422e74e93effb88f527a9a2a7cce64e
 * models: hyp/ring.c:clear_ring ac48907a0a6dfa85597adfa8c799f1853d93710264fcc150103fe0f5c8db7ad1
 * models: hyp/ring.c:hyptrace_ring_attach fa7c6ae3c5d6ded4e973371fff823fddb028eebc95c8379b9f2fa11726b3ecc1
 * models: hyp/ring.c:hyptrace_ring_detach 2284fcae59f4099348a83d4a798376d81b6761c812896c6c9949d203a2350fa2
 * models: hyp/ring.c:hyptrace_ring_park 96c4f943889b242214e2bb2f738fea2b8240c3b9b5d3d3489e60b2245a18b8a4
 * models: hyp/ring.c:hyptrace_ring_unpark 6f831af1c645bb36338570194d25fb40f80baaa521521ba1b3baf4a4c6472e33
 * models: hyp/ring.c:exchange a24a6a48e6235ffdf404e128024a647a20f93126d6ca159057ebee80cc07430d
 * models: hyp/ring.c:hyptrace_ring_swap a61ee9be0cf759e9b7cacf2a3e55b47b0ac295db09e813e96f9578e06ac334af
 * models: hyp/ring.c:hyptrace_ring_reset 69986a7b8f4b165bba05e623745cb8a178bc761c2fdd9532172711f67ebb6767
 * models: hyp/ring.c:hyptrace_ring_sync fe85225264489ab7c24da0b5e40bb91420775e1bb8fed4595200b0b567b267ca
 * models: hyp/load.c:begin_free c453d00131fdd707c06cb0996e3983a347d9f76ba053aeb28519532b3442e0cd
 */

inline check_write(id)
{
	assert(!gone);
	assert(id != reader_page || tail_taken);
	assert(id != reader_page || !final_seen);
}

/* All of hyptrace_ring_publish() but its last store */
inline publish_counts()
{
	assert(!gone);
	meta_entries = reader_entries;
}

inline hyptrace_ring_publish()
{
	publish_counts();
	meta_tail = tail_taken;
}

inline hyptrace_ring_enter()
{
	commit[page] = 0;
	words[page * ROOM] = STALE;
	words[page * ROOM + 1] = STALE;
#if ROOM > 2
	words[page * ROOM + 2] = STALE;
#endif
	page_first = recorded;
	end = ROOM;
	pos = 0;
}

inline overwrite_head()
{
	old = head;
	head = NEXT(head);
#if MUTANT == 4		/* what was lost before the page that is overwritten is forgotten */
	slot_lost[head] = slot_lost[head] + slot_entries[old];
#elif MUTANT == 17	/* its events are not told as lost */
	slot_lost[head] = slot_lost[head] + slot_lost[old];
#else
	slot_lost[head] = slot_lost[head] + slot_lost[old] + slot_entries[old];
#endif
#if MUTANT != 18	/* they are not counted */
	overrun = overrun + slot_entries[old];
#endif
	slot_lost[old] = STALE;
	slot_entries[old] = STALE;
	slot_commit[old] = STALE;
	old = 0;
}

inline advance()
{
#if MUTANT == 5		/* mainline's: the head is looked at before others are kept out, and not again */
	d_step {
		early_page = slot_page[NEXT(tail)];
		early_full = NEXT(tail) == head;
	}
#define FULL()		early_full
#else
#define FULL()		(NEXT(tail) == head)
#endif
	d_step {
		LOCK();
		ok = true;
		if
#if MUTANT != 1		/* the page that the writer leaves is taken for the ring's */
		:: tail_taken ->
			tail_taken = false;
			reader_entries = recorded - page_first;
#if MUTANT != 9		/* how far the reader's page goes is not kept */
			reader_final = pos;
#endif
			page = slot_page[tail];
#endif
		:: else ->
			if
			:: FULL() && DISCARD ->
				dropped++;
				pending++;
				seq++;
#if MUTANT != 10	/* a smaller event may slip in before the gap is told */
				end = pos;
#endif
				ok = false;
			:: else ->
				slot_entries[tail] = recorded - page_first;
				slot_commit[tail] = pos;
#if MUTANT == 11	/* the gap is told with the page before it */
				slot_lost[tail] = slot_lost[tail] + pending;
				pending = 0;
#endif
				if
				:: FULL() -> overwrite_head();
				:: else
				fi;
				tail = NEXT(tail);
#if MUTANT == 5
				page = early_page;
				early_page = 0;
				early_full = 0;
#else
				page = slot_page[tail];
#endif
			fi;
		fi;
	}
	if
	:: ok ->
		d_step {
			slot_lost[tail] = pending;
			pending = 0;
			check_write(page);
			hyptrace_ring_enter();
		}
	:: else
	fi;
#if MUTANT == 8		/* (B): said to be final before it is */
	meta_tail = tail_taken;
	d_step { publish_counts(); UNLOCK(); changed = true; }
#else
	d_step { publish_counts(); }
	d_step { meta_tail = tail_taken; UNLOCK(); changed = true; }
#endif
}

/* hyptrace_ring_reserve(), hyptrace_ring_commit(), and the payload in between */
inline record()
{
	if
	:: size > end - pos && pos > 0 -> advance();
	:: else -> ok = true;
	fi;
	if
	:: ok ->
		d_step { check_write(page); words[page * ROOM + pos] = TORN; }
#if MUTANT == 16	/* (A): seen before it is there */
		commit[page] = pos + size;
#endif
		d_step {
			check_write(page);
			words[page * ROOM + pos] = seq;
			if
			:: size > 1 -> words[page * ROOM + pos + size - 1] = MORE;
			:: else
			fi;
			seq++;
		}
		pos = pos + size;
		recorded++;
		d_step { check_write(page); commit[page] = pos; changed = true; }
	:: else
	fi;
	d_step { size = 0; ok = 0; }
}

inline attach(is_mine, with)
{
	d_step {
		LOCK();
		if
		:: state == BUILDING
		:: state != BUILDING && is_mine ->
			state = ATTACHED;
			events = with;
			on = with;
			hyptrace_ring_publish();
		:: state == PARKED && !is_mine -> events = with;
		:: else
		fi;
		UNLOCK();
	}
}

inline detach(is_mine)
{
	d_step {
		LOCK();
		if
		:: state == BUILDING
#if MUTANT != 12	/* a CPU loses its ring while it writes */
		:: state == ATTACHED && !is_mine
#endif
		:: else ->
			state = DETACHED;
			on = 0;
			hyptrace_ring_publish();
		fi;
		UNLOCK();
	}
}

inline park()
{
	d_step {
		LOCK();
		if
		:: state == ATTACHED ->
			state = PARKED;
#if MUTANT != 13	/* a CPU that is off could go on */
			on = 0;
#endif
			hyptrace_ring_publish();
		:: else
		fi;
		UNLOCK();
	}
}

inline unpark()
{
	d_step {
		LOCK();
		if
#if MUTANT == 14	/* a CPU goes on though its ring was taken from it */
		:: state == DETACHED -> on = events;
#endif
		:: state == PARKED ->
			state = ATTACHED;
			on = events;
			hyptrace_ring_publish();
		:: else
		fi;
		UNLOCK();
	}
}

inline reset(is_mine, answer)
{
	d_step {
		LOCK();
		if
		:: state == BUILDING -> answer = ENODEV;
#if MUTANT != 15	/* a ring is cleared under its writer */
		:: state == ATTACHED && !is_mine -> answer = EAGAIN;
#endif
		:: else ->
			commit[reader_page] = 0;
			final_seen = false;
#if MUTANT != 6		/* the writer is in the ring again, and is not told */
			tail_taken = false;
#endif
			reader_lost = 0;
			reader_final = 0;
			reader_entries = 0;
			head = 0;
			tail = 0;
			overrun = 0;
			dropped = 0;
#if MUTANT != 7		/* what was refused before the reset is told after it */
			pending = 0;
#endif
			recorded = 0;
			slot_lost[0] = 0;
			page = slot_page[0];
			hyptrace_ring_enter();
			hyptrace_ring_publish();
			expect = seq;
			answer = OK;
		fi;
		UNLOCK();
	}
}

inline swap()
{
	/* pos is the writer's: it may move on while the lock is held */
	d_step {
		LOCK();
		if
		:: state == BUILDING -> ret = ENODEV;
#if MUTANT != 3		/* what came in meanwhile is given back unread */
		:: state != BUILDING && !tail_taken && consumed < reader_final -> ret = ESTALE;
#endif
#if MUTANT == 19	/* mainline's: the page that is being written is given back */
		:: else -> ret = (head == tail && pos == 0 -> EAGAIN : OK);
#elif MUTANT == 3
		:: else -> ret = (tail_taken || (head == tail && pos == 0) -> EAGAIN : OK);
#else
		:: else -> ret = (tail_taken || (head == tail && pos == 0) -> EAGAIN : OK);
#endif
		fi;
	}
	d_step {
		if
		:: ret == OK ->
			reader_lost = slot_lost[head];
			old = head;
			if
#if MUTANT != 2		/* nobody knows that the reader's page is being written */
			:: head == tail ->
				tail_taken = true;
				reader_entries = 0;
				reader_final = 0;
#endif
			:: else ->
				reader_entries = slot_entries[head];
				reader_final = slot_commit[head];
				slot_entries[head] = STALE;
				slot_commit[head] = STALE;
				if
				:: head == tail
				:: else -> head = NEXT(head);
				fi;
			fi;
			slot_lost[old] = STALE;
			commit[reader_page] = STALE;
			size = slot_page[old];
			slot_page[old] = reader_page;
			reader_page = size;
			size = 0;
			old = 0;
			hyptrace_ring_publish();
			final_seen = false;
			/* reader_swap() */
			consumed = 0;
			page_events = 0;
			lost = lost + reader_lost;
		:: else
		fi;
		UNLOCK();
	}
}
