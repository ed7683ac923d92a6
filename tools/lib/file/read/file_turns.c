// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the CPUs of a file with several threads. The CPUs take turns: a piece is the next events of
 * one of them, and pieces are flushed in an order that does not depend on the threads.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

/* CPUs that are read at the same time */
#define SLOTS_MAX	8
/* Events of a piece at least, unless the CPU has no more */
#define PIECE_EVENTS	4096

/* Reads a CPU, and then another one */
struct slot {
	struct file_batch		batch;		/* first: see hyptrace_file_wait() */
	struct turns			*turns;
	struct hyptrace_formats		*formats;
	struct hyptrace_file		*file;
	void				*state;		/* of the CPU; NULL before it */
	unsigned int			*cpu;		/* its number */
	uint64_t			number;		/* of its piece */
	bool				busy;		/* a thread has taken the piece, */
	bool				done;		/* has used its events, */
	bool				at_end;		/* and there are no more */
	bool				over;		/* there are no more CPUs */
};

struct turns {
	const struct hyptrace_file_work	*work;
	struct hyptrace_file		*file;
	unsigned int			next_cpu;	/* index of the next CPU to take */
	struct slot			slots[SLOTS_MAX];
	unsigned int			nr_slots;
	pthread_mutex_t			lock;		/* protects what follows, and the slots */
	pthread_cond_t			changed;
	unsigned int			at;		/* the slot whose piece is taken next */
	uint64_t			next;		/* number of that piece */
	uint64_t			turn;		/* number of the piece to flush next */
	bool				flushing;	/* a thread does */
	struct hyptrace_error		err;
	atomic_int			ret;		/* why reading has ended early, or 0 */
};

static int wait_turn(struct file_batch *batch)
{
	struct slot *slot = (struct slot *)batch;
	struct turns *t = slot->turns;
	int ret;

	pthread_mutex_lock(&t->lock);
	while (t->turn != slot->number && !t->ret)
		pthread_cond_wait(&t->changed, &t->lock);
	ret = t->ret ? -ECANCELED : 0;
	pthread_mutex_unlock(&t->lock);
	return ret;
}

static void stop(struct turns *t, int ret, const struct hyptrace_error *err)
{
	pthread_mutex_lock(&t->lock);
	if (!t->ret && err)
		t->err = *err;
	if (!t->ret)
		t->ret = ret;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

/* Only one thread at a time flushes, and so takes CPUs. */
static void take_cpu(struct slot *slot)
{
	const struct hyptrace_file *f = slot->turns->file;
	unsigned int *at = &slot->turns->next_cpu;

	while (*at < f->meta.nr_cpus && !hyptrace_file_is_chosen(f, f->meta.cpus[*at]->id))
		(*at)++;
	slot->over = *at == f->meta.nr_cpus;
	if (!slot->over)
		slot->cpu = &f->meta.cpus[(*at)++]->id;
}

static bool begin_cpu(struct slot *slot)
{
	struct turns *t = slot->turns;

	slot->file->chosen = slot->cpu;
	slot->file->nr_chosen = 1;
	hyptrace_file_rewind(slot->file);
	slot->at_end = false;
	slot->state = t->work->begin(slot->formats, t->work->arg);
	if (!slot->state)
		t->ret = hyptrace_error_memory(&t->err);
	return slot->state;
}

/* Take the next piece. The order of CPUs is known, so this waits for a slot that is busy. */
static struct slot *take(struct turns *t)
{
	struct slot *slot = NULL;
	unsigned int nr = 0;

	pthread_mutex_lock(&t->lock);
	while (nr < t->nr_slots && !t->ret) {
		slot = &t->slots[t->at];
		if (slot->busy) {
			pthread_cond_wait(&t->changed, &t->lock);
			continue;
		}
		t->at = (t->at + 1) % t->nr_slots;
		if (!slot->over)
			break;
		nr++;
	}
	if (nr == t->nr_slots || t->ret || (!slot->state && !begin_cpu(slot)))
		slot = NULL;
	if (slot) {
		slot->number = t->next++;
		slot->busy = true;
	}
	pthread_mutex_unlock(&t->lock);
	return slot;
}

static void flush(struct slot *slot)
{
	struct turns *t = slot->turns;

	if (!t->ret && t->work->flush(slot->state))
		stop(t, 1, NULL);
	if (!slot->at_end)
		return;
	t->work->end(slot->state);
	slot->state = NULL;
	hyptrace_file_part_count(t->file, slot->file);
	take_cpu(slot);
}

static struct slot *find_turn(struct turns *t)
{
	unsigned int i;

	for (i = 0; i < t->nr_slots; i++)
		if (t->slots[i].done && t->slots[i].number == t->turn)
			return &t->slots[i];
	return NULL;
}

/* A piece was used: flush it if the pieces before it are flushed, and those after it that wait. */
static void end_piece(struct slot *slot)
{
	struct turns *t = slot->turns;

	pthread_mutex_lock(&t->lock);
	slot->done = true;
	while (!t->flushing && (slot = find_turn(t))) {
		t->flushing = true;
		pthread_mutex_unlock(&t->lock);
		flush(slot);
		pthread_mutex_lock(&t->lock);
		slot->done = false;
		slot->busy = false;
		t->flushing = false;
		t->turn++;
		pthread_cond_broadcast(&t->changed);
	}
	pthread_mutex_unlock(&t->lock);
}

/* Report what comes after the events so far. */
static void fail(struct slot *slot, int ret, const struct hyptrace_error *err)
{
	const struct hyptrace_file_work *work = slot->turns->work;

	if (wait_turn(&slot->batch))
		return;
	if (work->flush(slot->state))
		stop(slot->turns, 1, NULL);
	else if (ret != -EBADMSG)
		stop(slot->turns, ret, err);
	else if (work->damage)
		work->damage(err, work->arg);
}

static void use_piece(struct slot *slot)
{
	struct turns *t = slot->turns;
	struct hyptrace_file_batch *batch = &slot->batch.batch;
	unsigned int nr = 0;

	while (nr < PIECE_EVENTS && !slot->at_end && !t->ret) {
		struct hyptrace_error err;
		int ret = hyptrace_file_batch(slot->file, &batch->events, &err);

		if (ret > 0) {
			batch->nr = ret;
			nr += ret;
			if (t->work->batch(slot->state, batch))
				stop(t, 1, NULL);
		} else if (ret == -ENODATA) {
			slot->at_end = true;
		} else {
			fail(slot, ret, &err);
		}
	}
}

static void *do_pieces(void *arg)
{
	struct turns *t = arg;
	struct slot *slot;

	while ((slot = take(t))) {
		use_piece(slot);
		end_piece(slot);
	}
	return NULL;
}

static int begin_slots(struct turns *t, struct hyptrace_error *err)
{
	while (t->nr_slots < SLOTS_MAX) {
		struct slot *slot = &t->slots[t->nr_slots];

		slot->batch.wait = wait_turn;
		slot->turns = t;
		take_cpu(slot);
		if (slot->over)
			break;
		t->nr_slots++;
		slot->file = hyptrace_file_part_new(t->file, err);
		/* what libtraceevent has parsed cannot be copied: then there is one thread */
		slot->formats = t->file->tep ? t->file->formats :
					       hyptrace_file_make_formats(t->file, NULL);
		if (!slot->file || !slot->formats)
			return hyptrace_error_memory(err);
	}
	return 0;
}

static void end_slots(struct turns *t)
{
	unsigned int i;

	for (i = 0; i < t->nr_slots; i++) {
		struct slot *slot = &t->slots[i];

		if (slot->state)
			t->work->end(slot->state);
		hyptrace_file_part_free(slot->file);
		if (slot->formats != t->file->formats)
			hyptrace_formats_free(slot->formats);
	}
}

/* hyptrace_file_run() with HYPTRACE_FILE_TURNS, begin(), flush() and end() */
int hyptrace_file_take_turns(struct hyptrace_file *file, const struct hyptrace_file_work *work,
			     unsigned int nr_threads, struct hyptrace_error *err)
{
	struct turns t = {
		.work = work, .file = file,
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
	};
	pthread_t threads[SLOTS_MAX];
	unsigned int nr = 0;
	int ret = begin_slots(&t, err);

	if (!ret) {
		memset(&file->counts, 0, sizeof(file->counts));
		/* fewer threads take longer */
		while (nr + 1 < nr_threads && nr + 1 < t.nr_slots &&
		       !pthread_create(&threads[nr], NULL, do_pieces, &t))
			nr++;
		do_pieces(&t);
		while (nr)
			pthread_join(threads[--nr], NULL);
		ret = t.ret;
	}
	end_slots(&t);
	if (t.ret < 0 && err)
		*err = t.err;
	return ret;
}
