/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A Spin model of the ring of hyp/ring.c (in writer.pml) and of the reader of driver/core/reader.c. Run by spin.sh.
 *
 * It has three processes: the CPU that owns the ring, the driver's reader, and another CPU that makes any calls.
 * An access to data that others may access without the lock is a step of its own. Accesses that only the holder
 * of the lock can observe are one step together. Memory is sequentially consistent here: the litmus tests check
 * the barriers.
 *
 * The writer records numbered events of one or two words into sub-buffers of ROOM words. The reader must get, in
 * order, exactly the numbers that were not reported lost.
 *
 *  -DPAGES=n	sub-buffers, the reader's included	-DROOM=n	words in each
 *  -DEVENTS=n	events that are written			-DBIG=n		how many may have two words
 *  -DDISCARD=1	drop new events when full		-DPARTS=n	how often the reader may leave the last event
 *  -DRESETS=n	resets by the reader			-DBACK=1	resets set the time back
 *  -DMOVES=n	how often the CPU attaches, detaches, parks or unparks
 *  -DCALLS=n	calls by the other CPU			-DFREE=1	it may free the ring
 *  -DEXCHANGES=n	resizes: exchanges of the ring		-DNEW_PAGES=n	sub-buffers of the new ring
 *  -DMUTANT=n	insert fault n; a comment at its place names it
 *
 * The functions that this file models. If check-sync.sh reports that one has changed, correct the model where
 * needed, then run check-sync.sh --update.
 *
 * models: driver/core/reader.c:reader_reset aa4a7e8a834b78e542f157d1f08f3778a2219252b5f368f8596aa1a6e0cc546c
 * models: driver/core/reader.c:reader_swap 7f611bdb3b89994f88928b54f4021f2055119c1cc83b7b74565649ad71a8be4b
 * models: driver/core/look.c:hyptrace_reader_look_again f31ba48ae9116e514630ec7c5eccdeca4143c8ae6fc9aec7026246fb6be142e8
 * models: driver/core/look.c:committed_bytes 354a412af234c9f958850a6ec06fda5af5c33376cf8a1c183e8160d04bcca449
 * models: driver/core/reader.c:hyptrace_reader_begin_read 75ec0d6daebebd2b14c006fa7108baaebd3d2ad3206959c60634c265e2a6bc0d
 * models: driver/core/reader.c:has_more 439299d145943e61b1c396d38ccf0975a7ae8f14d73bc62d344d51a66fb611e7
 * models: driver/core/reader.c:reader_fill 9def0feb5a8dad6544f80e1701b2591227b419234b45f46a258a683bb84e7401
 * models: driver/core/reader.c:entries_of_page f97f27aceec890ad1a0c2327d8f3db5776603a463349b28f437e68468549cf4a
 * models: driver/core/reader.c:reader_consume addaeee489a0be190cc634a598e4f1503c1c5eb3ac6ab4823d35e2d9cdeb0cf0
 * models: driver/core/reader.c:hyptrace_reader_take e963c697a3873610a2c4202a221616015f98e97a35ad286ad4e980aca1703bd5
 * models: driver/core/reader.c:hyptrace_reader_clear 4ab8c3a0f0bb4692678bfc3b840474c0286b9671e07373b0746f9e047939ddbf
 * models: driver/remotes/writer.c:swap_reader_page fea79e39e4a9483f34c1f9a7b4336a50e11be56dd2a10a6db3d1b44d5b94c4b7
 * models: driver/remotes/writer.c:reset_ring ecc3d3dfe4f80c9cb8e7c7044961ab8ecce37417a4e4a346575035752da14233
 */

#ifndef PAGES
#define PAGES 4
#endif
#ifndef ROOM
#define ROOM 2
#endif
#ifndef EVENTS
#define EVENTS 16
#endif
#ifndef BIG
#define BIG 0
#endif
#ifndef DISCARD
#define DISCARD 0
#endif
#ifndef PARTS
#define PARTS 0
#endif
#ifndef RESETS
#define RESETS 0
#endif
#ifndef BACK
#define BACK 0
#endif
#ifndef MOVES
#define MOVES 0
#endif
#ifndef CALLS
#define CALLS 0
#endif
#ifndef FREE
#define FREE 0
#endif
#ifndef EXCHANGES
#define EXCHANGES 0
#endif
#ifndef NEW_PAGES
#define NEW_PAGES PAGES
#endif
#ifndef MUTANT
#define MUTANT 0
#endif

#define POSITIONS	(PAGES - 1)
#if EXCHANGES
#define NEW_POSITIONS	(NEW_PAGES - 1)
#if NEW_PAGES > PAGES
#define MAX_POSITIONS	NEW_POSITIONS
#else
#define MAX_POSITIONS	POSITIONS
#endif
#define ALL_PAGES	(PAGES + NEW_POSITIONS)
#define NR_POSITIONS	positions
#else
#define MAX_POSITIONS	POSITIONS
#define ALL_PAGES	PAGES
#define NR_POSITIONS	POSITIONS
#endif
#define NEXT(pos)	((pos) + 1 < NR_POSITIONS -> (pos) + 1 : 0)
#define FILL_ROUNDS_MAX	4	/* of driver/core/reader.c */
#define TORN		255	/* a record without its payload */
#define MORE		0	/* the second word of a record */
#define STALE		200	/* overwrites data that nobody may read: a single value keeps the number of states small */

mtype = { BUILDING, DETACHED, PARKED, ATTACHED };
mtype = { OK, EAGAIN, ESTALE, ENODEV };

/* The pages, by their id */
byte commit[ALL_PAGES];
byte words[ALL_PAGES * ROOM];

/* struct hyptrace_ring: the fields of the writer */
bool on;		/* @enabled, which is a keyword in Promela */
byte pos, end, page, recorded;

/* struct hyptrace_ring: the fields under the lock */
bool lock;
bool events;
byte page_first, overrun, dropped, pending;
byte reader_lost, reader_commit, reader_entries, reader_page = PAGES - 1;
byte head, tail;
bool writer_in_reader_page;
mtype state = DETACHED;
byte slot_page[MAX_POSITIONS], slot_lost[MAX_POSITIONS], slot_entries[MAX_POSITIONS], slot_commit[MAX_POSITIONS];

#if EXCHANGES
/* The spare or retired ring, and the number of positions of both rings */
byte positions = POSITIONS, spare_positions = NEW_POSITIONS, spare_head, nr_unmoved;
bool moves_pending;
byte spare_page[MAX_POSITIONS], spare_lost[MAX_POSITIONS], spare_entries[MAX_POSITIONS], spare_commit[MAX_POSITIONS];
#endif

/*
 * struct hyptrace_meta. Its counters equal those of the ring whenever a process takes the
 * lock.
 */
byte meta_entries, meta_nr, meta_tail_id;
bool meta_tail;

/* struct hyptrace_reader */
byte consumed, page_events, lost, nr_read;

/* Only in the model */
byte seq = 1;		/* number of the next event */
byte expect = 1;	/* number of the next event that was neither read nor reported lost */
bool final_seen;	/* the reader considers its page final */
bool idle;		/* the reader is between two looks */
bool changed;		/* the reader must look again */
bool done;		/* the CPU has written its last event */
bool gone;		/* EL2 has released the pages */
bool want_reset;	/* the reader wants the CPU to reset the ring */
#if BACK
byte nr_unwiped;		/* a field of the ring, under the lock */
#endif
#if EXCHANGES
bool want_exchange;	/* the reader wants the CPU to exchange the ring */
#endif

#if EXCHANGES
#define NOTHING_WANTED	(!want_reset && !want_exchange)
#else
#define NOTHING_WANTED	(!want_reset)
#endif

#define LOCK()		lock == 0; lock = 1
#define UNLOCK()	lock = 0

#include "writer.pml"
#if EXCHANGES
#include "resize.pml"
#endif

/* While nobody changes the ring, written = read + lost + unread must hold. */
inline check_counts()
{
	d_step {
		i = consumed;
		n = 0;
		do
		:: i < commit[reader_page] ->
			if
			:: words[reader_page * ROOM + i] != MORE -> n++;
			:: else
			fi;
			i++;
		:: else -> break;
		od;
		i = head;
		do
		:: i != tail -> n = n + slot_entries[i]; i = NEXT(i);
		:: else -> break;
		od;
		if
		:: writer_in_reader_page
		:: else -> n = n + recorded - page_first;
		fi;
		assert(recorded == nr_read + overrun + n);
		n = 0;
		i = 0;
	}
}

/* The CPU that owns the ring */
active proctype owner()
{
	byte nr_events, moves = MOVES, big = BIG;
	byte size, old, i, n;
	bool ok;
	mtype ret;
#if MUTANT == 5
	byte early_page;
	bool early_full;
#endif

	d_step {
		i = 0;
		do
		:: i < POSITIONS -> slot_page[i] = i; i++;
		:: else -> break;
		od;
#if EXCHANGES
		i = 0;
		do
		:: i < NEW_POSITIONS -> spare_page[i] = PAGES + i; i++;
		:: else -> break;
		od;
#endif
		i = 0;
		end = ROOM;
	}
	attach(true, 1);

	do
	/* hyptrace(): on this CPU nothing interrupts it. */
	:: atomic { on && nr_events < EVENTS ->
			nr_events++;
			assert(state == ATTACHED);
			assert(!gone);
		}
		if
		:: size = 1;
#if BIG
		:: big > 0 -> big--; size = 2;
#endif
		fi;
		record();
		if
		:: idle && !lock && !gone -> check_counts();
		:: else
		fi;
#if MOVES
	:: moves > 0 -> moves--;
		if
		:: attach(true, 1);
		:: attach(true, 0);
		:: detach(true);
		:: park();
		:: unpark();
		fi;
#endif
#if RESETS
	:: want_reset ->
		reset(true, ret);
		want_reset = false;
#endif
#if EXCHANGES
	:: want_exchange ->
		exchange(true, ret);
		assert(ret == OK);
		want_exchange = false;
#endif
	:: atomic { (nr_events == EVENTS || (!on && moves == 0)) && NOTHING_WANTED ->
			nr_events = EVENTS;
			done = true;
			changed = true;
			break;
		}
	od;
	skip;	/* a jump must not lead to a d_step */
	detach(true);
}

active proctype reader()
{
	byte size, old, i, n, to, round, resets = RESETS, parts = PARTS, exchanges = EXCHANGES;
	bool final, any;
	mtype ret;

	end > 0;	/* wait until the ring is built */
	idle = true;
	do
	:: atomic { changed -> changed = false; idle = false; }
		round = 0;
fill:
		atomic { final = !meta_tail; final_seen = final; }
		to = commit[reader_page];
		if
		:: to > consumed ->
#if PARTS
			/*
			 * The driver does this if the number of lost events needs room in the
			 * page.
			 */
			if
			:: parts > 0 && to > consumed + 1 && words[reader_page * ROOM + to - 1] != MORE ->
				parts--;
				to--;
				final = false;
			:: true
			fi;
#endif
			d_step {
				expect = expect + lost;
				lost = 0;
				n = 0;
				i = consumed;
				do
				:: i < to ->
					if
					:: words[reader_page * ROOM + i] != MORE || gone ->
						assert(gone || words[reader_page * ROOM + i] == expect);
						expect++;
						n++;
						words[reader_page * ROOM + i] = STALE;
					:: else
					fi;
					i++;
				:: else -> break;
				od;
				i = 0;
			}
			/* entries_of_page() */
			d_step {
				assert(gone || !final || meta_entries == page_events + n);
				consumed = to;
				page_events = page_events + n;
				nr_read = nr_read + n;
				n = 0;
				changed = true;
			}
		:: else ->
			/* has_more() */
			if
			:: final -> any = true;		/* a read() has more to deliver */
			:: true ->
				d_step { any = commit[reader_page] > consumed; i = meta_tail_id; }
				any = any || meta_nr > 0;
#if MUTANT != 26	/* the reader ignores the sub-buffer that the writer is in */
				any = any || (i != reader_page && commit[i] > 0);
#endif
				i = 0;
			fi;
			if
			:: any -> swap();
			:: else -> ret = EAGAIN;
			fi;
			any = false;
			if
			:: ret == ENODEV -> goto out;
			:: ret == EAGAIN
			:: else ->
				round++;
				assert(round < FILL_ROUNDS_MAX);
				goto fill;
			fi;
		fi;
		d_step { to = 0; round = 0; final = 0; ret = 0; idle = true; }
#if RESETS
	/* hyptrace_reader_clear(): on the CPU, or on any other CPU while it is off */
	:: atomic { resets > 0 -> resets--; idle = false; }
		if
		:: atomic { !done -> want_reset = true; }
			!want_reset;
			ret = OK;
		:: reset(false, ret);
		fi;
#if BACK
		/* reset_ring() */
		do
		:: nr_unwiped > 0 ->
			if
			:: atomic { !done -> want_reset = true; }
				!want_reset;
			:: reset(false, ret);
			fi;
			ret = OK;
		:: else -> break;
		od;
		skip;	/* a jump must not lead to a d_step */
#endif
		d_step {
			if
			:: ret == OK ->
				consumed = 0;
				page_events = 0;
				lost = 0;
				nr_read = 0;
			:: else
			fi;
			changed = true;
			ret = 0;
			idle = true;
		}
#endif
#if EXCHANGES
	/* hyptrace_reader_exchange_ring(): on the CPU, or on any other CPU while it is off */
	:: atomic { exchanges > 0 -> exchanges--; idle = false; }
		if
		:: atomic { !done -> want_exchange = true; }
			!want_exchange;
			ret = OK;
		:: exchange(false, ret);
		fi;
		do
		:: ret == OK && moves_pending -> move();
		:: else -> break;
		od;
		if
		:: ret == OK -> take_down_spare();
		:: else
		fi;
		d_step { changed = true; ret = 0; idle = true; }
#endif
	:: done && !changed -> break;
	od;
	atomic {
		LOCK();
		if
		:: gone
		:: else ->
			assert(!writer_in_reader_page || recorded - page_first == page_events);
			assert(expect + lost + pending == seq);
			assert(recorded == nr_read + overrun);
		fi;
		UNLOCK();
	}
out:
	skip;
}

#if CALLS
/* Another CPU, which a hostile host lets make any calls */
active proctype other()
{
	byte calls = CALLS;

	do
	:: calls > 0 -> calls--;
		if
		:: attach(false, 0);
		:: attach(false, 1);
		:: detach(false);
		:: d_step {
				LOCK();
				if
				:: state == BUILDING
				:: else -> hyptrace_ring_publish();
				fi;
				UNLOCK();
			}
#if FREE
		/* hyptrace_load_free() */
		:: d_step {
				LOCK();
				if
				:: state == DETACHED -> state = BUILDING; gone = true;
				:: else
				fi;
				UNLOCK();
			}
#endif
		fi;
	:: calls == 0 -> break;
	od;
}
#endif
