/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hyp/ring.c does, step by step, with its mutants. Included by ring.pml, which has its variables.
 *
 * models: hyp/ring.h:hyptrace_ring_reserve eea50f8ce1007d1ba2f77b5771ea6264a178343023bd0ac6b9fb1aa8cf3f4147
 * models: hyp/ring.h:hyptrace_ring_commit 8f9f93bce95839232b43fc962df791bbca0ecc19e15fe8367dc14d83b8cdb7bc
 * models: hyp/hooks.h:hyptrace 553a82f01627d7a641a1265cc6b3b72283f082d88904a9b141913b04cade7ae8
 * models: hyp/hooks.h:hyptrace_cpu_off 0f15a59c0c634452ad3c61f22f45c8adce7ccaa889f76a7f1250e4c87fa482d4
 * models: hyp/hooks.h:hyptrace_cpu_on be73a9abacb08d6f16e7f9300a96c0f89defea2da92d544575a3a43537ef38fd
 * models: hyp/ring.c:next_position 1cb50101fe0fa0b8506a3a697aa013c77f036969bf470eee54f0b54987b4eb6d
 * models: hyp/ring.c:is_loaded 8f4f87a7340321b63dcf151479f45e2a7aab92ca99971379ed9e30f7b1c3b181
 * models: hyp/ring.c:is_mine 5b5f69cece8523f12ab69c65d6e704d3ec9ddaea69cbd6a6d7cb5bb869f325fc
 * models: hyp/ring.c:publish 92ecd5a40b15ff8e686558c7246c2c70f50d14f0dff62c2275d3430e96e13a36
 * models: hyp/ring.c:enter_page fce719793c4d8271ddbeb7e295895097aa26637e8724975860bc144724292db5
 * models: hyp/ring.c:overwrite_head 74bf09c2169c19d9a8fd69ed37eb08e35f1baf1432b9544bd497c9697d330027
 * models: hyp/ring.c:advance b462ee5eb1fdf2b055e06a7f03023430c0b56a62ea1ef0cc3505e063e8bc2894
 * models: hyp/ring.c:hyptrace_ring_make_room a5df5a72b8d1f539075a0aa8427fc21b649af99f2a7e1e53554e8cb093e7e9d0
 * models: hyp/ring.c:clear_ring b6f61c6e88b1f17daeaea790981fd3226d4dcbe879af41378bb08423230849b7
 * models: hyp/ring.c:hyptrace_ring_attach 1e4899360551a0af7d7a378fb9ebb391f875d5b6259554ea61d8fbfd4d3b1a3f
 * models: hyp/ring.c:hyptrace_ring_detach e5b0ce44d75c7b11dd032ffd5f6aa8ae678e92959dd4dd136fc5c45f5099aedd
 * models: hyp/ring.c:hyptrace_ring_park fc83390bfb86b3585630ea7e732d3117bd1510cec5351432f5abfbc79076e78e
 * models: hyp/ring.c:hyptrace_ring_unpark f7bb716cee1e908406354e909cb907f7484046bacaf55bfc55cc55a7101c29b2
 * models: hyp/ring.c:exchange 5baf7c8ba617ec4317310de5442545586a650d9b1bce82d931c2ff4464ec9986
 * models: hyp/ring.c:hyptrace_ring_swap 69ade7a95d742f83480bb42e35c6dabf25825e1a947a491b0e7e8fa16a378e36
 * models: hyp/ring.c:hyptrace_ring_reset c5c7b529aa597b2bd0801fe4952f02d3ba83830ef96ddb7ede4be56b7af3e2fa
 * models: hyp/ring.c:hyptrace_ring_sync 407681bcba0a7b23b28f9508c1cfabb63a86f8f9261ac76570ce440377455148
 * models: hyp/load.c:begin_free 7bb7bafdbf81dd8c7d1df5620b056fc64b110fb9ed66b35150996336e1a8b506
 */

inline check_write(id)
{
	assert(!gone);
	assert(id != reader_page || tail_taken);
	assert(id != reader_page || !final_seen);
}

/* All of publish() but its last store */
inline publish_counts()
{
	assert(!gone);
	meta_entries = reader_entries;
}

inline publish()
{
	publish_counts();
	meta_tail = tail_taken;
}

inline enter_page()
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
			enter_page();
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
		pos = pos + size;
#if MUTANT == 16	/* (A): seen before it is there */
		commit[page] = pos;
#endif
		d_step {
			check_write(page);
			words[page * ROOM + pos - size] = seq;
			if
			:: size > 1 -> words[page * ROOM + pos - 1] = MORE;
			:: else
			fi;
			seq++;
		}
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
			publish();
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
			publish();
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
			publish();
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
			publish();
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
			enter_page();
			publish();
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
			publish();
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
