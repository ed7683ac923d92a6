/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A Spin model of hyp/count.c: a CPU counts events in pages that another CPU gives and takes away, and changes what it
 * counts while it is off. Run by spin.sh.
 *
 * The CPU counts without the lock. It must find all pages then, and no other CPU may set its counters to 0 meanwhile.
 *
 *  -DHOOKS=n	events that the CPU counts		-DCALLS=n	calls of the other CPU
 *  -DOWN=n	calls of the CPU itself			-DOFFS=n	how often it goes off, or fails to
 *  -DMUTANT=n	insert fault n; a comment names it
 *
 * models: hyp/count.c:may_change 4896ad523bdbb2dca6102f85db62095e20fd54406c264583f65ef8a11b0b70dd
 * models: hyp/count.c:has_all_pages 112a347c3a54b06cba861596caafaebc378d0400f6f63b67ea40123f81388fe3
 * models: hyp/count.c:take_pair 89d9b81c072373ee94f89ede695861dd2f35977fbfd62a6429138b3952a254a8
 * models: hyp/count.c:hyptrace_count_page 56b1ddf5c689116910c975871b662aacd85c0444600dd7f9abdb8479d178fd0c
 * models: hyp/count.c:free_pair 07a89dd2efdd82e867eaa795f5beb0e2eea84656e7ed1e7ae303a789ce68365c
 * models: hyp/count.c:hyptrace_count_free 11ee0b735253c5a68901c6bb143ccdd7c4e0def7587a0d2b706fdce203aa92c8
 * models: hyp/count.c:select_counted f6dce8a29a7a668c3f0b3d4d8c7ac8879ae641fcdf829844337cd147a5ad0c3f
 * models: hyp/count.c:hyptrace_count_set bd8fa88518fe96674d03e8f2d3a1bbcfb803b24061d0d6d5113e621a968b4bae
 * models: hyp/count.c:hyptrace_count_reset a76961f7bcc6a176d03a556f2ee35985cb5c81a8ed7b151f347ad6165045be53
 * models: hyp/count.c:hyptrace_count_off 14418457247722bd83fd0867824537fb7c62d4808bcf0f004b4ce85f4c36b01d
 * models: hyp/count.c:hyptrace_count_on 1759216bded36976a2865fe5044f42fdbbbc3258858bea646e27155aca7ba137
 */

#ifndef HOOKS
#define HOOKS 3
#endif
#ifndef CALLS
#define CALLS 6
#endif
#ifndef OWN
#define OWN 2
#endif
#ifndef OFFS
#define OFFS 1
#endif
#ifndef MUTANT
#define MUTANT 0
#endif

#define PAIRS	2

bit count_lock;
byte nr_pages;
bool is_half;			/* half of the last pair was freed */
bool events, selected, off;
bool counts;			/* the CPU is counting an event */

#define LOCK()		atomic { count_lock == 0 -> count_lock = 1 }
#define UNLOCK()	count_lock = 0
#define HAS_ALL		(nr_pages == PAIRS && !is_half)

inline may_change(is_local)
{
	if
#if MUTANT == 41	/* another CPU changes what a CPU counts that is on */
	:: true -> allowed = true;
#else
	:: is_local || off -> allowed = true;
	:: else -> allowed = false;
#endif
	fi
}

inline set(is_local, what)
{
	LOCK();
	may_change(is_local);
	if
	:: !allowed
#if MUTANT != 43	/* a CPU counts though pages are missing */
	:: allowed && what && !HAS_ALL
#endif
	:: else ->
		events = what;
		if
		:: !off -> selected = events;
		:: else
		fi
	fi;
	UNLOCK();
}

inline reset(is_local)
{
	LOCK();
	may_change(is_local);
	if
#if MUTANT != 44	/* the counters of a CPU that counts are reset by another one */
	:: events && !allowed
#endif
	:: !HAS_ALL
	:: else ->
		assert(is_local || !counts);
	fi;
	UNLOCK();
}

inline give_page()
{
	LOCK();
	if
	:: nr_pages == PAIRS || is_half
	:: else -> nr_pages++;
	fi;
	UNLOCK();
}

/* The host may do what makes EL2 fail to give back a page. */
inline free_page()
{
	LOCK();
	if
#if MUTANT != 40	/* pages are freed while a CPU counts */
	:: events
#endif
	:: nr_pages == 0
	:: else ->
		is_half = true;
		if
		:: nr_pages--; is_half = false;
		:: true
		fi
	fi;
	UNLOCK();
}

inline go_off()
{
	LOCK();
#if MUTANT != 42	/* a CPU counts what it does on its way off */
	selected = false;
#endif
	off = true;
	UNLOCK();
}

inline come_on()
{
	LOCK();
	if
	:: off ->
		off = false;
		selected = events;
	:: else
	fi;
	UNLOCK();
}

inline hook()
{
	if
	:: selected ->
		counts = true;
		assert(HAS_ALL);
		counts = false;
	:: else
	fi
}

active proctype owner()
{
	byte hooks = HOOKS, own = OWN, offs = OFFS;
	bool allowed;

	do
	:: hooks -> hooks--; hook();
	:: own -> own--; set(true, true);
	:: own -> own--; set(true, false);
	:: own -> own--; reset(true);
	:: offs -> offs--; go_off(); hook(); come_on();
	:: else -> break;
	od
}

active proctype other()
{
	byte calls = CALLS;
	bool allowed;

	do
	:: calls -> calls--; set(false, true);
	:: calls -> calls--; set(false, false);
	:: calls -> calls--; reset(false);
	:: calls -> calls--; give_page();
	:: calls -> calls--; free_page();
	:: else -> break;
	od
}
