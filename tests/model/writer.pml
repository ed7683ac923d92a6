/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hyp/ring.c does, step by step, with its mutants. Included by ring.pml, which has its variables.
 *
 * models: hyp/ring.h:hyptrace_ring_reserve 61e914d76e832efdf37b9f0d00e456c4384a5f696cd41946b553186d51330b6d
 * models: hyp/ring.h:hyptrace_ring_commit 7e6364aaa387cf3019538671eb14500f742d607178c239a138ebd28a5304b4b6
 * models: hyp/ring.h:hyptrace_ring_fits e1127b1ef2195ee7a3652ce850bc54d42da7e4c70b102dff5c8f0725906c644f
 * models: hyp/ring.h:hyptrace_ring_put 68f0c591cc01ecce3ad61fbb046a6948bd36e05dd95425f37b401826ec1d5fb2
 * models: hyp/trace.c:record_slowly e3d61393ec706e3bd1f081d9f603713f1e04b43a350878b31cfb9a521b200328
 * models: hyp/hooks.h:hyptrace 62f44d0ac0ed06a473ea7340a2f2227d72a39744b656ed8b4ac3cff34a5d4043
 * models: hyp/hooks.h:hyptrace_cpu_off 445be54d48a2e6294369c84c61cd0929209d4e1084536159bdf7002bddfe094b
 * models: hyp/hooks.h:hyptrace_cpu_on 445be54d48a2e6294369c84c61cd0929209d4e1084536159bdf7002bddfe094b
 * models: hyp/ring.h:hyptrace_next_position e2a1a2673200fe930b68899e03a7fe6af025aac94e2e444bb6e27bea0718a086
 * models: hyp/ring.h:hyptrace_ring_is_loaded 87f9d7442cf48016396f0d7452a329c29b3dd9fed9c173eaaf6f65900acc8310
 * models: hyp/ring.h:hyptrace_ring_is_mine 4286cb19d3b89d9ee0fe1e0f81985579dc3a05161f7c5bbeb734d771d4fd85b4
 * models: hyp/ring.c:hyptrace_ring_publish f2f2ceaf8f10864a93e5fb4e6050b62967432f2405c4e44180d7f5030878fc38
 * models: hyp/ring.c:hyptrace_ring_enter c6e38a00351ca090090557b61c2a029bc12487b106ad446e4c47f2de0ddf0a29
 * models: hyp/ring.c:overwrite_head 39c97a3849e863e58b576f6291b7b386bfc231e8f16145598439949abc8da5c5
 * models: hyp/ring.c:advance b0c1bb30ab3eefc5fd0e2e43f311b0864c08513a43f8b74374a8de17fe8f1131
 * models: hyp/ring.c:hyptrace_ring_make_room 3974cd4f91c547c0082fbd98746c36b023bfb6cab08ab1238b0df28372a78896
 * models: hyp/ring.c:begin_with_gap 1b6746a6f42b2b10e3da1c72a4c129d9c0b9f753056392f43043f76494d8470a
 * models: hyp/ring.c:clear_ring c4f98c8e92357774afc6c29c678f0ad06a48e0d6a03fb2dbd67d718c394c29cd
 * models: hyp/ring.c:hyptrace_ring_attach a72c6724fd2ac40212c075c314f0168e24617739203125ec68dbc3d8feeea85f
 * models: hyp/ring.c:hyptrace_ring_detach c6b0f9a8e9e0c56dab99e7b36fdf6b18312f5649120dbcfba2b5823ac1ff4c68
 * models: hyp/ring.c:hyptrace_ring_park f219dc039ebc551ce036bf3db7cedfb0c75a585c63217c62e4689071129e7a9a
 * models: hyp/ring.c:hyptrace_ring_unpark d0182913e4709e599e577ca064ed92ad1c45173a56dd1204989a90cd17f9ac0e
 * models: hyp/ring.c:exchange 020013cda357ca94fd5ec84febbe96863967102f9c96ad0ec3a653a029d54851
 * models: hyp/ring.c:hyptrace_ring_swap 33c74f0d850a441c64d6e060e6ae067fe5bbbe5605d28565510e040585d97257
 * models: hyp/ring.c:hyptrace_ring_reset ce45d25b015d3edf7df8e7e71d16e39f07d9bf9b5285f0c01d7d9d1959601df4
 * models: hyp/ring.c:hyptrace_ring_sync 29dc5a9b679cad25fc50af53d8cc66f70a61c9fdd1570db6ce51485e71f1ca78
 * models: hyp/load.c:begin_free d3ce78db80299f1c5d5a03eac151f5d5f92f65af433466e387d06e4277044f59
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

/* Only a renewal enters a sub-buffer while there are losses to tell of. */
inline begin_with_gap()
{
	d_step {
		LOCK();
		slot_lost[tail] = pending;
		pending = 0;
		check_write(page);
		hyptrace_ring_enter();
		ok = true;
		UNLOCK();
	}
}

/* hyptrace_ring_reserve(), hyptrace_ring_commit(), and the payload in between */
inline record()
{
	if
	:: size > end - pos && pos > 0 -> advance();
#if RENEWS
	:: size > end - pos && pos == 0 -> begin_with_gap();
#endif
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
#if RENEWS
			moving = false;
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
#if RENEWS
		:: state != BUILDING && moving -> ret = EAGAIN;
#endif
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
