/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of hyp/resize.c and its mutants: a CPU that traces gets another ring. ring.pml includes this file with
 * -DEXCHANGES. Building and freeing the spare ring needs no model: only the driver uses it then.
 *
 * models: hyp/resize.c:swap_memory c9f60c39316c7ef70e73336f54c3cce8cbd0fd36d8102af7ad3630161a0b8675
 * models: hyp/resize.c:exchange 6b1fbff004ef970c34c7afa4278291e18f0ed506aa759cc0cb0ce936148b4ce9
 * models: hyp/resize.c:hyptrace_ring_exchange 0201fb544b715b9c983cc06bf88111a7e1409fae46ca02c009fd445dd81953c3
 * models: hyp/resize.c:move 61307bd893c55277f56ffe7d6ef8496b708520358def662d467a331c61df3a35
 * models: hyp/resize.c:hyptrace_ring_move aea19d7006b2ff3474759703f49821de567252badce4dadf05618cfcc56fcf1c
 * models: hyp/ring.h:hyptrace_previous_position 6b89ac3d6f9ffbcf5d510940a686b078acc49c23dd9c569cf5c6eecfca11283b
 * models: driver/remotes/writer.c:exchange_ring ddeed8c3dfbbaa07ddb6ef4d06249d73fb1ace88b1ffeea7d46ea8bf5f5d861c
 * models: driver/remotes/writer.c:move_events 7763739354fd26f825baf2a094176035417d5e530ffa0e3be4c9c9066902384f
 * models: driver/core/reader.c:hyptrace_reader_exchange_ring 1db92a628247babdbc6116f280950680dd4ac8772b743a71cade48cb3ed73f6d
 */

#define PREVIOUS(pos)	((pos) -> (pos) - 1 : positions - 1)

inline swap_bytes(a, b)
{
	size = a;
	a = b;
	b = size;
	size = 0;
}

inline leave()
{
	if
#if MUTANT != 20	/* writer_in_reader_page stays set when the writer leaves the reader's page */
	:: writer_in_reader_page ->
		writer_in_reader_page = false;
		reader_entries = recorded - page_first;
		reader_commit = pos;
#endif
	:: else ->
		slot_entries[tail] = recorded - page_first;
		slot_commit[tail] = pos;
	fi;
}

inline swap_memory()
{
	i = 0;
	do
	:: i < MAX_POSITIONS ->
		swap_bytes(slot_page[i], spare_page[i]);
		swap_bytes(slot_lost[i], spare_lost[i]);
		swap_bytes(slot_entries[i], spare_entries[i]);
		swap_bytes(slot_commit[i], spare_commit[i]);
		i++;
	:: else -> break;
	od;
	i = 0;
	swap_bytes(positions, spare_positions);
}

/* The reader keeps its sub-buffer: reader_page is the reader's page in both rings. */
inline exchange(is_local, answer)
{
	d_step {
		LOCK();
		if
		:: state == BUILDING -> answer = ENODEV;
		:: state == ATTACHED && !is_local -> answer = EAGAIN;
		:: else ->
			assert(nr_unmoved == 0);
			nr_unmoved = (tail < head -> tail + positions - head : tail - head);
#if MUTANT == 21	/* the reader's page is counted as one of the ring */
			nr_unmoved = nr_unmoved + (pos > 0);
#else
			nr_unmoved = nr_unmoved + (!writer_in_reader_page && pos > 0);
#endif
			leave();
			spare_head = head;
			swap_memory();
			head = 0;
			tail = 0;
			moves_pending = true;
			slot_lost[0] = 0;
			page = slot_page[0];
			check_write(page);
			hyptrace_ring_enter();
#if MUTANT != 22	/* the next event is recorded without a gap record for the dropped events */
			if
			:: pending -> end = pos;
			:: else
			fi;
#endif
			hyptrace_ring_publish();
			changed = true;
			answer = OK;
		fi;
		UNLOCK();
	}
}

inline move()
{
	d_step {
		LOCK();
		if
		:: nr_unmoved == 0 -> moves_pending = false;
		:: else ->
			nr_unmoved--;
#if MUTANT == 23	/* the oldest sub-buffer is moved first, not the youngest */
			old = spare_head;
			spare_head = (spare_head + 1) % spare_positions;
#else
			old = (spare_head + nr_unmoved) % spare_positions;
#endif
			i = PREVIOUS(head);
			if
			:: !moves_pending
#if MUTANT != 24	/* the sub-buffer that the writer is in is considered free */
			:: moves_pending && i == tail ->
				overrun = overrun + spare_entries[old];
#if MUTANT == 25	/* losses before a sub-buffer that does not fit are forgotten */
				slot_lost[head] = slot_lost[head] + spare_entries[old];
#else
				slot_lost[head] = slot_lost[head] + spare_entries[old] + spare_lost[old];
#endif
#endif
			:: else ->
				swap_bytes(slot_page[i], spare_page[old]);
				slot_lost[i] = spare_lost[old];
				slot_entries[i] = spare_entries[old];
				slot_commit[i] = spare_commit[old];
				head = i;
			fi;
			spare_lost[old] = STALE;
			spare_entries[old] = STALE;
			spare_commit[old] = STALE;
			i = 0;
			old = 0;
		fi;
		hyptrace_ring_publish();
		UNLOCK();
	}
}

/* EL2 gives back the pages of the spare ring: the CPU's ring must not have any of them. */
inline take_down_spare()
{
	d_step {
		LOCK();
		i = 0;
		do
		:: i < spare_positions ->
			assert(spare_page[i] != page && spare_page[i] != reader_page);
			commit[spare_page[i]] = STALE;
			i++;
		:: else -> break;
		od;
		i = 0;
		spare_head = 0;
		UNLOCK();
	}
}
