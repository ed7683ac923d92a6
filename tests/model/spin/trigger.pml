/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A Spin model of hyp/trigger.c and hyp/select.c: which events the CPUs record, while the host pauses, arms and sets
 * triggers, changes what a CPU records that is off, and while CPUs go off and on. Run by spin.sh.
 *
 * It has two CPUs that trace, with two events, and another one that makes calls. An access to data that others may
 * access without the lock is a step of its own. Memory is sequentially consistent here: the litmus tests armed, fired
 * and stopped check the barriers.
 *
 *  -DRECORDS=n	hooks that each CPU reaches		-DCALLS=n	calls of the other CPU
 *  -DOFFS=n	how often a CPU goes off, or fails to	-DAFTER=n	in how many sub-buffers the recording stops
 *  -DSTARTS=m	events that start the recording		-DSTOPS=m	events that stop it
 *  -DNOTIFIES=m	events that notify			-DMUTANT=n	insert fault n; a comment names it
 *
 * models: hyp/trigger.c:hyptrace_trigger_set 2d0e8298f666adf0f9a085143ffdf4f756254349197fc2ba97c03e05e988e819
 * models: hyp/trigger.c:allow 060fc841122364192e88a1baf88b2f8b2f4778cc68d60a4d1c08363c055a30ca
 * models: hyp/trigger.c:hyptrace_trigger_pause fba8fd48d28e20705fcf8c9b72abc86377f1f809fb5d2af35f872a6c7c76b959
 * models: hyp/trigger.c:hyptrace_trigger_arm 57cb8aa43721d326a6431761e7287c2747e02ed1272bef63cc20db6b2dde58a6
 * models: hyp/trigger.c:start a7fe79e6c4f8f7d3076958d9e45312de329b4a767d1b8949f53874ed46fc5c12
 * models: hyp/trigger.c:stop d2f52c2c7f4998fce02ab04f9dcab003bf063fbc5e7d3a3eeea1867a6943259c
 * models: hyp/trigger.c:end_recording e9cce3b2c09f0b637e04040f0a1ee4dc0ad75bbfe7e520e42ef62fca5ad60bb4
 * models: hyp/trigger.c:__hyptrace_trigger_fire eebb79b77469af41bd373f109159ebf058fde01a0b1bfda544b00ba3dacba71a
 * models: hyp/trigger.c:__hyptrace_trigger_count_subbuf aa519c17f33146f89fea27136374a07b94c70a0df68d298019a037cf856762a5
 * models: hyp/trigger.h:hyptrace_trigger_fire f8173129c5638ea3d365faf8499bc0b27d894566d600d3a89e1c1445c6ea6acd
 * models: hyp/trigger.h:hyptrace_trigger_count_subbuf a1bdedd241ea970ef42e1f379009190374f86fedfd1256c0d347b900d10b77bb
 * models: hyp/select.c:update_events_on f25782f5335b28c3726a0706971d60f78b4affc969b3dbe391f4d38a17fa5593
 * models: hyp/select.c:change_users d939a49aed0b846cad9d3e520a05ae98a4bbfd3f40d768c2bc41955c763089af
 * models: hyp/select.c:hyptrace_allow_events e58e5fcfc4dacf44d6d76e403a1a40d6e89c70bca38a17e513ae422e0881d44e
 * models: hyp/select.c:hyptrace_select_events c3be026600f146a8c53eb48fc359e6c347b1c92a3b2917c1de83935155ff9491
 * models: hyp/ring.c:hyptrace_ring_attach 982c8296909dfe9e8e69b528adf91ba96a37a84d3668d20453f0c3cb5eae7a44
 * models: hyp/ring.c:hyptrace_ring_detach fe8910b76d5d06f54679e7e6ffc9544b4ad5d400091f0a81767126060636a41f
 * models: hyp/ring.c:hyptrace_ring_park 9fb4aaf4abca0fab0c959573d4b9d6637b4adbf0983496e404932dab0e6f32ad
 * models: hyp/ring.c:hyptrace_ring_unpark 13f858533bab94f69a5b18f220bd76970a04c4fc5ca04e204c8501d0ab900ab8
 */

#ifndef RECORDS
#define RECORDS 2
#endif
#ifndef CALLS
#define CALLS 3
#endif
#ifndef OFFS
#define OFFS 0
#endif
#ifndef AFTER
#define AFTER 0
#endif
#ifndef STARTS
#define STARTS 0
#endif
#ifndef STOPS
#define STOPS 0
#endif
#ifndef NOTIFIES
#define NOTIFIES 0
#endif
#ifndef MUTANT
#define MUTANT 0
#endif

/* Events as masks; NONE is no event. */
#define A	1
#define B	2
#define ALL	(A | B)
#define NONE	4
#define CPUS	2

mtype = { DETACHED, ATTACHED, PARKED };

bit trigger_lock, users_lock, ring_lock[CPUS];
byte nr_users[4];		/* by mask of one event */
byte events_on, barred, armed, stop_after, last_arm;
byte starting = STARTS, stopping = STOPS, notifying = NOTIFIES;
bool paused;

mtype state[CPUS] = DETACHED;
byte events[CPUS], selected[CPUS], notified[CPUS], nr_after[CPUS], after_arm[CPUS];

/* What must be true: set where the calls take effect */
bool quiet;			/* no hook that begins now may record */
byte fired_start, fired_stop;	/* since the last ARM */
byte entered[CPUS];		/* sub-buffers since the event that stops */
byte ended;			/* CPUs that trace no more */

#define LOCK(lock)	atomic { lock == 0 -> lock = 1 }
#define UNLOCK(lock)	lock = 0
#define USED		((nr_users[A] > 0) * A + (nr_users[B] > 0) * B)
#define ON		(USED & (ALL - barred))

inline update_events_on()
{
	on = ON + (USED && !ON) * NONE;
	events_on = on;
	on = 0;
}

inline allow_events(mask)
{
#if MUTANT != 36	/* another CPU changes its events meanwhile */
	LOCK(users_lock);
#endif
	barred = ALL - (mask);
	update_events_on();
#if MUTANT != 36
	UNLOCK(users_lock);
#endif
}

/* changed ^ mask has a bit where only one has it. */
inline change_user(cpu, mask, event)
{
	if
	:: (selected[cpu] & event) && !(mask & event) -> nr_users[event] = nr_users[event] - 1;
	:: !(selected[cpu] & event) && (mask & event) -> nr_users[event] = nr_users[event] + 1;
	:: else
	fi
}

inline select_events(cpu, mask)
{
	LOCK(users_lock);
	d_step {
		change_user(cpu, mask, A);
		change_user(cpu, mask, B);
		selected[cpu] = mask;
	}
	update_events_on();
	UNLOCK(users_lock);
}

inline pause()
{
	LOCK(trigger_lock);
	paused = true;
	allow_events(0);
	quiet = true;
	UNLOCK(trigger_lock);
}

inline arm()
{
	LOCK(trigger_lock);
	d_step {
		quiet = false;
		fired_start = 0;
		fired_stop = 0;
		last_arm++;
		paused = false;
	}
#if MUTANT != 30	/* sub-buffers are counted still after the triggers are armed again */
	stop_after = 0;
#endif
	if
	:: starting ->
		armed = starting | notifying;
		allow_events(starting);
	:: else ->
		armed = stopping | notifying;
		allow_events(ALL);
	fi;
	UNLOCK(trigger_lock);
}

/* The host takes the trigger of an event away, or gives it back. */
inline set_trigger(event)
{
	LOCK(trigger_lock);
	d_step {
		if
		:: (starting | stopping | notifying) & event ->
			starting = starting & (ALL - event);
			stopping = stopping & (ALL - event);
			notifying = notifying & (ALL - event);
		:: else ->
			starting = starting | (STARTS & event);
			stopping = stopping | (STOPS & event);
			notifying = notifying | (NOTIFIES & event);
		fi
	}
	armed = (armed & (ALL - event)) | (notifying & event);
	UNLOCK(trigger_lock);
}

inline end_recording()
{
	allow_events(0);
	quiet = true;
}

inline start()
{
	fired_start++;
	assert(fired_start == 1);
	armed = stopping | notifying;
	if
#if MUTANT == 31	/* an event ends the pause */
	:: true -> allow_events(ALL);
#else
	:: !paused -> allow_events(ALL);
	:: else
#endif
	fi
}

inline stop()
{
	d_step {
		fired_stop++;
		assert(fired_stop == 1);
		entered[0] = 0;
		entered[1] = 0;
	}
	armed = notifying;
	if
	:: !paused ->
		stop_after = AFTER;
		if
		:: AFTER == 0 -> end_recording();
		:: else
		fi
	:: else
	fi
}

inline fire(cpu, event)
{
	if
	:: armed & event ->
		LOCK(ring_lock[cpu]);
		if
		:: notifying & event -> notified[cpu]++;
		:: else ->
			LOCK(trigger_lock);
			if
#if MUTANT != 32	/* two CPUs fire the same trigger */
			:: !(armed & event)
#endif
			:: else ->
				if
				:: starting & event -> start();
				:: stopping & event -> stop();
				:: else	/* its trigger has gone */
				fi
			fi;
			UNLOCK(trigger_lock);
		fi;
		UNLOCK(ring_lock[cpu]);
	:: else
	fi
}

inline enter_subbuf(cpu)
{
	LOCK(ring_lock[cpu]);
	if
	:: stop_after ->
		LOCK(trigger_lock);
		d_step {
			if
#if MUTANT != 33	/* sub-buffers of an earlier stop count */
			:: after_arm[cpu] != last_arm ->
				after_arm[cpu] = last_arm;
				nr_after[cpu] = 0;
#endif
			:: else
			fi
		}
		if
		:: stop_after ->
			nr_after[cpu]++;
			entered[cpu]++;
			if
			:: nr_after[cpu] >= stop_after ->
				assert(fired_stop == 1 && entered[cpu] >= AFTER);
				end_recording();
			:: else
			fi
		:: else
		fi;
		UNLOCK(trigger_lock);
	:: else
	fi;
	UNLOCK(ring_lock[cpu]);
}

/* What a hook does that records without a filter. */
inline hook(cpu, event)
{
	d_step { was_quiet = quiet; since = last_arm; }
	if
	:: events_on & event ->
		if
		:: selected[cpu] & event ->
			if
			:: AFTER -> enter_subbuf(cpu);
			:: true
			fi;
			/* what began before the pause may still be recorded */
			assert(!was_quiet || last_arm != since);
			fire(cpu, event);
		:: else
		fi
	:: else
	fi
}

inline attach(cpu, is_local, mask)
{
	LOCK(ring_lock[cpu]);
	if
#if MUTANT == 34	/* a CPU that is off records at once */
	:: true ->
#else
	:: !is_local && state[cpu] == PARKED -> events[cpu] = mask;
	:: !is_local && state[cpu] != PARKED
	:: is_local ->
#endif
		events[cpu] = mask;
		if
		:: is_local -> state[cpu] = ATTACHED;
		:: else
		fi;
		select_events(cpu, mask);
	fi;
	assert(state[cpu] == ATTACHED || selected[cpu] == 0);
	UNLOCK(ring_lock[cpu]);
}

inline detach(cpu, is_local)
{
	LOCK(ring_lock[cpu]);
	if
	:: !is_local && state[cpu] == ATTACHED
	:: else ->
		state[cpu] = DETACHED;
		select_events(cpu, 0);
	fi;
	UNLOCK(ring_lock[cpu]);
}

inline park(cpu)
{
	LOCK(ring_lock[cpu]);
	if
	:: state[cpu] == ATTACHED ->
		state[cpu] = PARKED;
#if MUTANT != 35	/* a CPU that is off is still counted as one that records */
		select_events(cpu, 0);
#endif
	:: else
	fi;
	UNLOCK(ring_lock[cpu]);
}

inline unpark(cpu)
{
	if
	:: state[cpu] == PARKED ->
		LOCK(ring_lock[cpu]);
		if
		:: state[cpu] == PARKED ->
			state[cpu] = ATTACHED;
			select_events(cpu, events[cpu]);
		:: else
		fi;
		UNLOCK(ring_lock[cpu]);
	:: else
	fi
}

active [CPUS] proctype tracer()
{
	byte hooks = RECORDS, offs = OFFS, since, on;
	bool was_quiet;

	attach(_pid, true, ALL);
	do
	:: hooks -> hooks--; hook(_pid, A);
	:: hooks -> hooks--; hook(_pid, B);
	:: offs -> offs--; park(_pid); unpark(_pid);
	:: !hooks && !offs -> break;
	od;
	detach(_pid, true);
	ended++;
}

active proctype host()
{
	byte calls = CALLS, on;

	do
	:: calls -> calls--; pause();
	:: calls -> calls--; arm();
	:: calls && (STARTS | STOPS | NOTIFIES) -> calls--; set_trigger(A);
	:: calls && OFFS -> calls--; attach(0, false, B);
	:: calls && OFFS -> calls--; detach(0, false);
	:: ended == CPUS -> break;
	od;
	/* Nobody records any more. */
	assert(nr_users[A] == 0 && nr_users[B] == 0 && events_on == 0);
}
