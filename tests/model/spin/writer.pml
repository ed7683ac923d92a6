/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of hyp/ring.c and its mutants. Included by ring.pml, which declares the variables.
 *
 * models: hyp/ring.h:hyptrace_ring_reserve 1146edf396bff33d108278b865f6a33bf6aa2ad7073939c4ed056e52840ae7c4
 * models: hyp/ring.h:hyptrace_ring_commit 581b337e3f9677300c82e46ddcf69644933887aeda9483b834d0792d7ace2b31
 * models: hyp/ring.h:hyptrace_ring_fits 91a2f9f50b89451ab04d45f365716e32ed6c8b10be95c5f0b871b7bb72b57d03
 * models: hyp/ring.h:hyptrace_ring_put 18009d94bb299863ba1e9ce02ac7499e2ef09fd911992d0aba28a8aad5b18609
 * models: hyp/trace.c:record_slowly c284ef7b4b08c1dde0f17c7dc5b65aa3238e775559ffd457653853f474f1a4aa
 * models: hyp/hooks.h:hyptrace 478b4d8e0e84ef7c2dd163d7520156abe4d715f8fbe6315a7fb9b49e116f53f9
 * models: hyp/hooks.h:hyptrace_cpu_off ffcad43bdebe10f7c24ed9c0833d20db4a87f9082313fb1b09fcc048235f5978
 * models: hyp/hooks.h:hyptrace_cpu_on 7a311d595facbc15ae30e1b532dff82b1cf919a40d6ebf85d04ec7f385426728
 * models: hyp/ring.h:hyptrace_next_position e2a1a2673200fe930b68899e03a7fe6af025aac94e2e444bb6e27bea0718a086
 * models: hyp/ring.h:hyptrace_ring_is_loaded 87f9d7442cf48016396f0d7452a329c29b3dd9fed9c173eaaf6f65900acc8310
 * models: hyp/ring.h:hyptrace_ring_is_local 4286cb19d3b89d9ee0fe1e0f81985579dc3a05161f7c5bbeb734d771d4fd85b4
 * models: hyp/ring.c:hyptrace_ring_publish 6248b44039cc579840c5b9d96387f0e0bfb8faf87c08a917783dbae777af8dfd
 * models: hyp/ring.c:hyptrace_ring_count_complete 74c6b5db599a2811cf377eb0482acf7ced079b67615031c86efeb72e1aa2c0df
 * models: hyp/ring.c:hyptrace_ring_tail_has_data 768b059df5d08650ed0427b00aaac4df9d5a69dc5ff5d673f89b83368b99a9fc
 * models: hyp/ring.c:tail_id 51b944f9d4d699a53613cb4d72993ca61ca33a0f2353859fff71ad223f6c43b4
 * models: hyp/ring.c:hyptrace_ring_enter 842ba0402a3b53fa867f2f062dfb110bf781827d2de388a200ca5a1fba192c98
 * models: hyp/ring.c:overwrite_head 31c3742d219be1997561356681536aad31df4cf6b634759d18058733dcf1037b
 * models: hyp/ring.c:hyptrace_ring_leave 3500242198f25005a8853e931c65329a60191c081168798a4b7606e2fc8fb29d
 * models: hyp/ring.c:advance_tail d56a79c29b21a92110a97b6910d64e26a467d69250ad9d6d8f69f9e0312b7f10
 * models: hyp/ring.c:enter_next_subbuf 4601f6c9d18868be8c1f3274474800d6c4180cb1b73718ba10b1d772dccc20c9
 * models: hyp/ring.c:must_drop 1e5156616edce82224bb561bb47f10467733f66d94bacaffe7652f5b49a2584c
 * models: hyp/ring.c:drop_event 1c58f00ca546523e1adf8299e5cab32bcf65abc05f9534008bff7df98ccb31ec
 * models: hyp/ring.c:advance 01226d7a158f94bc156ea0fb254f366e2b9674df2f1528b94380baf58fcb1a63
 * models: hyp/ring.c:hyptrace_ring_make_room 3403182580b37f00239d6f2a330fc4d157dcce958acb2297a58dd1b5d8493f9b
 * models: hyp/ring.c:update_time_stamp 22d57d33349c25d5449a581535ff0a04c33d97acb589a464816a65e08c2f7af1
 * models: hyp/ring.c:put_time_extend bf04d1cf746ca3b888339aae2337968b0eae06c9bf5d64cab4de24edbdeb8915
 * models: hyp/ring.c:reenter_with_gap 055f9435c26b43e6290c573844fa013c510c86e7cbe3827b034f003cc313641d
 * models: hyp/ring.c:clear_ring 02a0443d8653da95b545c3262b572b8f704bb07171fb61efdc6bb3ec270d0754
 * models: hyp/ring.c:hyptrace_ring_attach 982c8296909dfe9e8e69b528adf91ba96a37a84d3668d20453f0c3cb5eae7a44
 * models: hyp/ring.c:hyptrace_ring_detach fe8910b76d5d06f54679e7e6ffc9544b4ad5d400091f0a81767126060636a41f
 * models: hyp/ring.c:hyptrace_ring_park 9fb4aaf4abca0fab0c959573d4b9d6637b4adbf0983496e404932dab0e6f32ad
 * models: hyp/ring.c:hyptrace_ring_unpark 13f858533bab94f69a5b18f220bd76970a04c4fc5ca04e204c8501d0ab900ab8
 * models: hyp/ring.c:swap_reader_page 90e7859bfee35d808d8e89801733f9634db689a76d08fa741d5f295110fe8890
 * models: hyp/ring.c:hyptrace_ring_swap 30fab651c7fa8bd8ef9d07d9490244342b50f6f9c11004cf3df8e8e655264c02
 * models: hyp/ring.c:wipe_old_times 69da6a47e14e9f288b5afa996be511d170a43725df764eb3a802c2f961b93808
 * models: hyp/ring.c:reset_ring 197b27c0a2e50a15a695980ab6706c0518e571ef34fea6db7de11d42c435a236
 * models: hyp/ring.c:hyptrace_ring_reset 0b51a12d185d329eb9b91f5d0fe01e4f9302059fb5d6a3e45a66f1a19b2f12dc
 * models: hyp/ring.h:hyptrace_ring_sync 43f4c420f5d4d73b73d0fe9f87ed28a0f4a43e296aedbb339b148bc90baa6eaa
 * models: hyp/load.c:begin_free 8e8379ee6dffdfcf2e0d258a9cf1a0e6314db6e9b9f0b961dce8164a692db760
 */

inline check_write(id)
{
	assert(!gone);
	assert(id != reader_page || writer_in_reader_page);
	assert(id != reader_page || !final_seen);
}

/*
 * All of hyptrace_ring_publish() but its last store. The stores that (M) orders need no steps
 * of their own: a waiter would only see them a little later.
 */
inline publish_counts()
{
	assert(!gone);
	meta_entries = reader_entries;
	meta_nr = (tail < head -> tail + NR_POSITIONS - head : tail - head);
	meta_tail_id = (writer_in_reader_page -> reader_page : slot_page[tail]);
}

inline hyptrace_ring_publish()
{
	publish_counts();
	meta_tail = writer_in_reader_page;
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
#if MUTANT == 4		/* losses before an overwritten sub-buffer are forgotten */
	slot_lost[head] = slot_lost[head] + slot_entries[old];
#elif MUTANT == 17	/* the events of an overwritten sub-buffer are not reported lost */
	slot_lost[head] = slot_lost[head] + slot_lost[old];
#else
	slot_lost[head] = slot_lost[head] + slot_lost[old] + slot_entries[old];
#endif
#if MUTANT != 18	/* overwritten events are not counted */
	overrun = overrun + slot_entries[old];
#endif
	slot_lost[old] = STALE;
	slot_entries[old] = STALE;
	slot_commit[old] = STALE;
	old = 0;
}

inline advance()
{
#if MUTANT == 5		/* as in mainline: the head is read before the lock is taken, and not again */
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
#if MUTANT != 1		/* the reader's page, when the writer leaves it, is considered one of the ring */
		:: writer_in_reader_page ->
			writer_in_reader_page = false;
			reader_entries = recorded - page_first;
#if MUTANT != 9		/* the final commit of the reader's page is not stored */
			reader_commit = pos;
#endif
			page = slot_page[tail];
#endif
		:: else ->
			if
			:: FULL() && DISCARD ->
				dropped++;
				pending++;
				seq++;
#if MUTANT != 10	/* a smaller event may be recorded before the gap record */
				end = pos;
#endif
				ok = false;
			:: else ->
				slot_entries[tail] = recorded - page_first;
				slot_commit[tail] = pos;
#if MUTANT == 11	/* losses are reported before the wrong sub-buffer, one too early */
				slot_lost[tail] = slot_lost[tail] + pending;
				pending = 0;
#endif
				if
				:: FULL() -> overwrite_head();
				:: else
				fi;
				tail = NEXT(tail);
#if BACK && MUTANT != 27	/* sub-buffers written since the reset are wiped */
				if
				:: tail == 0 -> nr_unwiped = 0;
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
#if MUTANT == 8		/* (B): the page is published as final before it is */
	meta_tail = writer_in_reader_page;
	d_step { publish_counts(); UNLOCK(); changed = true; }
#else
	d_step { publish_counts(); }
	d_step { meta_tail = writer_in_reader_page; UNLOCK(); changed = true; }
#endif
}

/* Only after an exchange may the present sub-buffer need a gap record. */
inline reenter_with_gap()
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
#if EXCHANGES
	:: size > end - pos && pos == 0 -> reenter_with_gap();
#endif
	:: else -> ok = true;
	fi;
	if
	:: ok ->
		d_step { check_write(page); words[page * ROOM + pos] = TORN; }
#if MUTANT == 16	/* (A): the event is committed before it is written */
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

inline attach(is_local, with)
{
	d_step {
		LOCK();
		if
		:: state == BUILDING
		:: state != BUILDING && is_local ->
			state = ATTACHED;
			events = with;
			on = with;
			hyptrace_ring_publish();
		:: state == PARKED && !is_local -> events = with;
		:: else
		fi;
		UNLOCK();
	}
}

inline detach(is_local)
{
	d_step {
		LOCK();
		if
		:: state == BUILDING
#if MUTANT != 12	/* another CPU detaches a CPU that writes */
		:: state == ATTACHED && !is_local
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
#if MUTANT != 13	/* a parked CPU may still write */
			on = 0;
#endif
			hyptrace_ring_publish();
		:: else
		fi;
		UNLOCK();
	}
}

/* hyptrace_cpu_on() tests without the lock first. */
inline unpark()
{
	if
	:: state == PARKED ->
		d_step {
			LOCK();
			if
#if MUTANT == 14	/* a CPU that is switched on does not test again with the lock held */
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
	:: else
	fi;
}

#if BACK
/* Wipe one position per call. Sub-buffers written since the reset must stay. */
inline wipe_old_times()
{
	if
	:: nr_unwiped > tail + 1 ->
		nr_unwiped--;
		assert(nr_unwiped > tail && head <= tail);
		assert(slot_page[nr_unwiped] != page && slot_page[nr_unwiped] != reader_page);
		commit[slot_page[nr_unwiped]] = STALE;
	:: else
	fi;
	if
	:: nr_unwiped <= tail + 1 -> nr_unwiped = 0;
	:: else
	fi;
}
#endif

inline clear_ring()
{
	commit[reader_page] = 0;
	final_seen = false;
#if MUTANT != 6		/* after a reset the writer is still considered to be in the reader's page */
	writer_in_reader_page = false;
#endif
#if EXCHANGES
	moves_pending = false;
#endif
	reader_lost = 0;
	reader_commit = 0;
	reader_entries = 0;
	head = 0;
	tail = 0;
	overrun = 0;
	dropped = 0;
#if MUTANT != 7		/* events dropped before the reset are reported after it */
	pending = 0;
#endif
	recorded = 0;
	slot_lost[0] = 0;
	page = slot_page[0];
	hyptrace_ring_enter();
	expect = seq;
}

inline reset(is_local, answer)
{
	d_step {
		LOCK();
		if
		:: state == BUILDING -> answer = ENODEV;
#if MUTANT != 15	/* another CPU resets the ring of a CPU that writes */
		:: state == ATTACHED && !is_local -> answer = EAGAIN;
#endif
		:: else ->
#if BACK
			if
			:: nr_unwiped == 0 -> clear_ring(); nr_unwiped = POSITIONS;
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
	/* Two steps, since the lock does not stop the writer: pos may change in between. */
	d_step {
		LOCK();
		if
		:: state == BUILDING -> ret = ENODEV;
#if EXCHANGES
		:: state != BUILDING && moves_pending -> ret = EAGAIN;
#endif
#if MUTANT != 3		/* events recorded since the last read are given back unread */
		:: state != BUILDING && !writer_in_reader_page && consumed < reader_commit -> ret = ESTALE;
#endif
#if MUTANT == 19	/* as in mainline: the page that the writer is in is given back */
		:: else -> ret = (head == tail && pos == 0 -> EAGAIN : OK);
#elif MUTANT == 3
		:: else -> ret = (writer_in_reader_page || (head == tail && pos == 0) -> EAGAIN : OK);
#else
		:: else -> ret = (writer_in_reader_page || (head == tail && pos == 0) -> EAGAIN : OK);
#endif
		fi;
	}
	d_step {
		if
		:: ret == OK ->
			reader_lost = slot_lost[head];
			old = head;
			if
#if MUTANT != 2		/* it is not stored that the writer is in the reader's page */
			:: head == tail ->
				writer_in_reader_page = true;
				reader_entries = 0;
				reader_commit = 0;
#endif
			:: else ->
				reader_entries = slot_entries[head];
				reader_commit = slot_commit[head];
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
