/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hyp/ring.c does, step by step, with its mutants. Included by ring.pml, which has its variables.
 *
 * models: hyp/ring.h:hyptrace_ring_reserve 61e914d76e832efdf37b9f0d00e456c4384a5f696cd41946b553186d51330b6d
 * models: hyp/ring.h:hyptrace_ring_commit 7e6364aaa387cf3019538671eb14500f742d607178c239a138ebd28a5304b4b6
 * models: hyp/ring.h:hyptrace_ring_fits e1127b1ef2195ee7a3652ce850bc54d42da7e4c70b102dff5c8f0725906c644f
 * models: hyp/ring.h:hyptrace_ring_put 793630041b264f93c60159cb8ea19e3b0b27c0ce049cd337a225782e5510bf44
 * models: hyp/trace.c:record_slowly e3d61393ec706e3bd1f081d9f603713f1e04b43a350878b31cfb9a521b200328
 * models: hyp/hooks.h:hyptrace 62f44d0ac0ed06a473ea7340a2f2227d72a39744b656ed8b4ac3cff34a5d4043
 * models: hyp/hooks.h:hyptrace_cpu_off 445be54d48a2e6294369c84c61cd0929209d4e1084536159bdf7002bddfe094b
 * models: hyp/hooks.h:hyptrace_cpu_on 445be54d48a2e6294369c84c61cd0929209d4e1084536159bdf7002bddfe094b
 * models: hyp/ring.h:hyptrace_next_position e2a1a2673200fe930b68899e03a7fe6af025aac94e2e444bb6e27bea0718a086
 * models: hyp/ring.h:hyptrace_ring_is_loaded 87f9d7442cf48016396f0d7452a329c29b3dd9fed9c173eaaf6f65900acc8310
 * models: hyp/ring.h:hyptrace_ring_is_mine 4286cb19d3b89d9ee0fe1e0f81985579dc3a05161f7c5bbeb734d771d4fd85b4
 * models: hyp/ring.c:hyptrace_ring_publish c4d8f9bb66671a4602e2ba26508cbc09425999ef883ca9f2bf9700d53128bc92
 * models: hyp/ring.c:hyptrace_ring_nr_complete 74c6b5db599a2811cf377eb0482acf7ced079b67615031c86efeb72e1aa2c0df
 * models: hyp/ring.c:hyptrace_ring_tail_has_data cf9e197769f815e74a9090342c29dc91ffe6e43307dae5c9a3697b371138da42
 * models: hyp/ring.c:tail_id e76719dc52ffca523cbb22dd163738128483a7b6a618edb4bc4e276f7de6b256
 * models: hyp/ring.c:hyptrace_ring_enter a2aaf96f0adc73b5eb46f289353d365c098e197944a2f2373683b371f0200812
 * models: hyp/ring.c:overwrite_head 8c67a23038c1e7ca1b82af675639f1e8d86667d4bdacfaa6f37e27fcb0c296fc
 * models: hyp/ring.c:hyptrace_ring_leave 167f6edad32d8bf58cdd63f89dcd7e7d5a56959538a805c9a97fdce11f547fca
 * models: hyp/ring.c:advance_tail ee40cd3557319a60eee46fe8327b51f4e19b0770ad7419adc16601f67cfb277c
 * models: hyp/ring.c:go_on 24bb2c94ab7729148cff3effc6b1fadd9049bf6ae307fd7486582b3b9c290c79
 * models: hyp/ring.c:must_drop d594caab49c40adf1dc76d32fcae5670a26cf7b5bbfc511abb16184db42647b7
 * models: hyp/ring.c:drop 2fcc3731ff7c05c71babab5af4f23ea47f0016f3f05570bbf9fc96a9422f2a7f
 * models: hyp/ring.c:advance 5e0bc50f9a3a33ef1704a6d5464a1eda3065ea9353dbcb222f8b5259abee5c96
 * models: hyp/ring.c:hyptrace_ring_make_room e526587d2d77214334e4dafc4c754fe1da6a95cbd871b9dc1b7378bc55f08ab4
 * models: hyp/ring.c:stamp_anew 6c7058f4e98ee3f638dbf16952ba535f5fcf8f4a348455b1deb23f04a0f837ad
 * models: hyp/ring.c:put_time_extend bf04d1cf746ca3b888339aae2337968b0eae06c9bf5d64cab4de24edbdeb8915
 * models: hyp/ring.c:begin_with_gap 7e056893a9ca60e5a319ec76261699acbf95e7db7fbd6de0fd4a8da68f90e45f
 * models: hyp/ring.c:clear_ring 6427764a201263ac5861de4ad2b62c3fbe77a29a75fc034f926715ed34a77ed7
 * models: hyp/ring.c:hyptrace_ring_attach 580ce258a203b28fad916b22c600b8ff8c891cb90080c6d21a6aab30a7cd9f31
 * models: hyp/ring.c:hyptrace_ring_detach 0656a2629cabaf19831df6b3e6250a9db3904d34694a02482b8823c70f6c01da
 * models: hyp/ring.c:hyptrace_ring_park 0eeb67f0d35d28125d114f140cd699bafe581bb4013f3d2a8122358874d32463
 * models: hyp/ring.c:hyptrace_ring_unpark 2eaebb6678f011bb7afc55c798535825f45a7662fa65c42c1a3807c4b6f7c6a0
 * models: hyp/ring.c:exchange 020013cda357ca94fd5ec84febbe96863967102f9c96ad0ec3a653a029d54851
 * models: hyp/ring.c:hyptrace_ring_swap 33c74f0d850a441c64d6e060e6ae067fe5bbbe5605d28565510e040585d97257
 * models: hyp/ring.c:wipe_old_times d545b5437020b1061001d827196c9e75f7723ab323056d94de575adb3099753f
 * models: hyp/ring.c:reset 47daeeb346e215c9c6b12cc1e49a0128889b9c7e561138e10b835c75dae5f17d
 * models: hyp/ring.c:hyptrace_ring_reset 1f2c14bcf8db0350fdea135ea4db8628d2aea3a7f23ef7a3a04a93f6394390d5
 * models: hyp/ring.c:hyptrace_ring_sync 29dc5a9b679cad25fc50af53d8cc66f70a61c9fdd1570db6ce51485e71f1ca78
 * models: hyp/load.c:begin_free 04b2f5cecccde5b05937366a8d32e3c48cb7cb5a068d8defcea5d97ae561dd6d
 */

inline check_write(id)
{
	assert(!gone);
	assert(id != reader_page || tail_taken);
	assert(id != reader_page || !final_seen);
}

/* All of hyptrace_ring_publish() but its last store. What (M) orders a waiter would see a little later anyway. */
inline publish_counts()
{
	assert(!gone);
	meta_entries = reader_entries;
	meta_nr = (tail < head -> tail + NR_POSITIONS - head : tail - head);
	meta_tail_id = (tail_taken -> reader_page : slot_page[tail]);
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
#if BACK && MUTANT != 27	/* sub-buffers that were written again are wiped */
				if
				:: tail == 0 -> unwiped = 0;
				:: else
				fi;
#endif
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
		hyptrace_ring_publish();
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

#if BACK
/* One of them a call. What was written since the reset must stay. */
inline wipe_old_times()
{
	if
	:: unwiped > tail + 1 ->
		unwiped--;
		assert(unwiped > tail && head <= tail);
		assert(slot_page[unwiped] != page && slot_page[unwiped] != reader_page);
		commit[slot_page[unwiped]] = STALE;
	:: else
	fi;
	if
	:: unwiped <= tail + 1 -> unwiped = 0;
	:: else
	fi;
}
#endif

inline clear_ring()
{
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
	expect = seq;
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
#if BACK
			if
			:: unwiped == 0 -> clear_ring(); unwiped = POSITIONS;
			:: else
			fi;
			wipe_old_times();
#else
			clear_ring();
#endif
			hyptrace_ring_publish();
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
