// SPDX-License-Identifier: GPL-2.0-only
/* Threads read a file piece by piece, and flush in order: the result is that of one thread. */
#include <pthread.h>
#include <sched.h>

#include "file.h"

#define THREADS_MAX	4
#define BY_CPU_MAX	64
/* CPUs that take turns at the same time: their order must not depend on the threads */
#define TURNS_MAX	8
/* A file with fewer bytes of sub-buffers is read before all threads run, */
#define BYTES_MIN	(2 << 20)
/* and so are fewer events. */
#define LAST_MIN	200000

/* Events of a piece at most, and of a turn: who waits for it shall not wait often */
#define PIECE_EVENTS	4096
#define TURN_EVENTS	16384
/* Threads share larger sub-buffers, of which each piece keeps some, only by CPU. */
#define SUBBUF_MAX	(128 << 10)

enum mode {
	ALONE,		/* one thread, one piece */
	BY_CPU,		/* a piece is a CPU, and pieces have no order */
	IN_TURNS,	/* a piece is the next events of a worker's CPU */
	IN_BATCHES,	/* a piece is the next events, which one thread at a time merges */
};

struct piece {
	int				ret;		/* as hyptrace_file_fill() */
	struct hyptrace_error		err;
	struct file_buffer		*emptied;	/* have payloads of pieces up to this */
	struct hyptrace_stream_event	events[PIECE_EVENTS];
};

struct worker {
	struct hyptrace_file_batch	batch;		/* first: see hyptrace_file_wait() */
	struct team			*team;
	pthread_t			thread;
	struct hyptrace_formats		*formats;	/* NULL: those of the file */
	void				*state;
	struct hyptrace_file		*file;		/* what it reads itself */
	struct piece			*piece;		/* or what was read for it */
	uint64_t			number;		/* of its piece, from 0 on */
	bool				at_end;		/* @file has no more events */
	bool				stopped;	/* its events are not wanted any more */
};

struct team {
	const struct hyptrace_file_work	*work;
	struct hyptrace_file		*file;
	enum mode			mode;
	bool				ordered;	/* pieces are flushed in their order */
	/* thread i of them has the workers i, i + nr_threads and so on */
	unsigned int			nr_threads;
	unsigned int			nr_workers;
	struct worker			*workers[BY_CPU_MAX];

	pthread_mutex_t			reading;	/* protects @file and what follows */
	uint64_t			next;		/* number of the next piece */
	unsigned int			at;		/* index of the next CPU */
	bool				over;		/* there are no more pieces */
	bool				has_times;	/* the two times are known */
	uint64_t			first;
	uint64_t			previous;

	/* protects what follows and, IN_TURNS, @next and @at */
	pthread_mutex_t			writing;
	pthread_cond_t			changed;	/* @turn or @ret has */
	uint64_t			turn;		/* the piece that can be flushed */
	int				ret;		/* why reading has ended early, or 0 */
	struct hyptrace_error		err;
};

/**
 * hyptrace_file_wait - wait until all before a batch was flushed, if there is an order
 * @batch:	the batch; also in flush() after batch()
 *
 * For a state that has no more room: it can write what it has, as if flush() had been called.
 *
 * Return: 0, or -ECANCELED if reading has ended: write nothing.
 */
int hyptrace_file_wait(const struct hyptrace_file_batch *batch)
{
	struct worker *w = (struct worker *)batch;
	struct team *team = w->team;

	pthread_mutex_lock(&team->writing);
	while (team->ordered && team->turn != w->number && !team->ret)
		pthread_cond_wait(&team->changed, &team->writing);
	w->stopped |= !!team->ret;
	pthread_mutex_unlock(&team->writing);
	return w->stopped ? -ECANCELED : 0;
}

/* End reading, with a negative errno and its reason, or with 1. end_piece() wakes up the others. */
static void stop(struct worker *w, int ret, const struct hyptrace_error *err)
{
	struct team *team = w->team;

	pthread_mutex_lock(&team->writing);
	if (!team->ret && err)
		team->err = *err;
	if (!team->ret)
		team->ret = ret;
	pthread_mutex_unlock(&team->writing);
	w->stopped = true;
}

static void flush(struct worker *w)
{
	const struct hyptrace_file_work *work = w->team->work;
	const unsigned int order = work->flags & (HYPTRACE_FILE_BY_CPU | HYPTRACE_FILE_TURNS);

	if (!hyptrace_file_wait(&w->batch) && order != HYPTRACE_FILE_BY_CPU && work->flush &&
	    work->flush(w->state))
		stop(w, 1, NULL);
}

/* Report what comes after the events so far. After -EBADMSG, reading can continue. */
static void fail(struct worker *w, int ret, const struct hyptrace_error *err)
{
	const struct hyptrace_file_work *work = w->team->work;

	flush(w);
	if (ret != -EBADMSG)
		stop(w, ret, err);
	if (w->stopped || !work->damage)
		return;
	pthread_mutex_lock(&w->team->writing);
	work->damage(err, work->arg);
	pthread_mutex_unlock(&w->team->writing);
}

static void use(struct worker *w, const struct hyptrace_stream_event *events, unsigned int nr)
{
	w->batch.events = events;
	w->batch.nr = nr;
	if (!w->team->work->batch(w->state, &w->batch))
		return;
	flush(w);
	stop(w, 1, NULL);
}

static void read_piece(struct worker *w)
{
	const enum mode mode = w->team->mode;
	const bool by_events = mode == IN_TURNS && w->team->ordered;
	const struct hyptrace_stream_event *events;
	struct hyptrace_error err;
	unsigned int nr = 0;
	int ret;

	do {
		ret = hyptrace_file_batch(w->file, &events, &err);
		if (ret > 0) {
			use(w, events, ret);
			if (!w->batch.has_times)
				w->batch.first = events[0].record.ts;
			w->batch.previous = events[ret - 1].record.ts;
			w->batch.has_times = mode == ALONE;
			nr += ret;
		} else if (ret != -ENODATA) {
			fail(w, ret, &err);
		}
		/* nothing else tells that reading has ended */
		if (!w->team->ordered)
			hyptrace_file_wait(&w->batch);
	} while (!w->stopped && ret != -ENODATA && (!by_events || nr < TURN_EVENTS));
	w->at_end = ret == -ENODATA;
	flush(w);
}

/* All pieces before were flushed: nobody uses the buffers any more that this piece has emptied. */
static void take_events(struct worker *w)
{
	struct team *team = w->team;
	struct hyptrace_file *file = team->file;
	struct piece *p = w->piece;
	struct hyptrace_file_batch *batch = &w->batch;

	batch->has_times = team->has_times;
	batch->first = team->first;
	batch->previous = team->previous;
	hyptrace_file_reuse(file, &p->emptied);
	p->ret = hyptrace_file_fill(file, p->events, PIECE_EVENTS, &p->err);
	p->emptied = file->emptied;
	file->emptied = NULL;
	batch->nr = p->ret > 0 ? p->ret : 0;
	if (batch->nr) {
		if (!team->has_times)
			team->first = p->events[0].record.ts;
		team->previous = p->events[batch->nr - 1].record.ts;
		team->has_times = true;
	}
	team->over = p->ret < 0 && p->ret != -EBADMSG;
}

static bool take_cpu(struct worker *w)
{
	struct team *team = w->team;
	struct hyptrace_file_cpu *const *cpus = team->file->meta.info.cpus;
	const unsigned int nr = team->file->meta.info.nr_cpus;

	while (team->at < nr && !hyptrace_file_is_chosen(team->file, cpus[team->at]->id))
		team->at++;
	if (team->at == nr)
		return false;
	w->file->chosen = &cpus[team->at++]->id;
	w->file->nr_chosen = 1;
	hyptrace_file_rewind(w->file);
	return true;
}

static bool begin_state(struct worker *w)
{
	const struct hyptrace_file_work *work = w->team->work;

	w->state = work->arg;
	if (work->begin)
		w->state = work->begin(w->formats ?: w->team->file->meta.info.formats, work->arg);
	return w->state || !work->begin;
}

/* IN_TURNS: take the next piece, of the next CPU if that so far has no more events. */
static void take_turn(struct worker *w)
{
	struct team *team = w->team;

	if (w->at_end && !take_cpu(w)) {
		w->stopped = true;
		return;
	}
	if (w->at_end && !begin_state(w)) {
		w->stopped = true;
		team->ret = hyptrace_error_memory(&team->err);
	}
	w->at_end = false;
	w->number = team->next++;
}

static bool take_piece(struct worker *w)
{
	struct team *team = w->team;
	bool over;

	pthread_mutex_lock(&team->reading);
	over = team->over || w->stopped;
	if (!over && team->mode != IN_TURNS)
		w->number = team->next++;
	if (!over && team->mode == IN_BATCHES)
		take_events(w);
	else if (!over && team->mode == BY_CPU)
		over = !take_cpu(w);
	else if (!over && team->mode == ALONE)
		team->over = true;
	pthread_mutex_unlock(&team->reading);
	return !over;
}

static void count_part(struct hyptrace_file_counts *all, const struct hyptrace_file_counts *part)
{
	all->delivered += part->delivered;
	all->filtered += part->filtered;
	all->lost += part->lost;
	all->lost_more |= part->lost_more;
	all->damaged += part->damaged;
}

/* Count what a worker has read, and pass the turn on. */
static void end_piece(struct worker *w)
{
	struct team *team = w->team;

	pthread_mutex_lock(&team->writing);
	if (team->mode == IN_TURNS && w->at_end && !w->stopped) {
		team->work->end(w->state);
		w->state = NULL;
	}
	if (w->file != team->file && (w->at_end || w->stopped))
		count_part(&team->file->counts, &w->file->counts);
	if (team->mode == IN_TURNS && !w->stopped)
		take_turn(w);
	team->turn++;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->writing);
}

/* Use the pieces of the workers of a thread, of which @arg is the first. */
static void *do_pieces(void *arg)
{
	struct worker *w = arg;
	struct team *team = w->team;
	const unsigned int first = w->number;
	unsigned int i;
	bool more;

	do {
		more = false;
		for (i = first; i < team->nr_workers; i += team->nr_threads) {
			w = team->workers[i];
			if (!take_piece(w))
				continue;
			if (team->mode == IN_BATCHES) {
				if (w->batch.nr)
					use(w, w->piece->events, w->batch.nr);
				flush(w);
				if (w->piece->ret < 0 && w->piece->ret != -ENODATA)
					fail(w, w->piece->ret, &w->piece->err);
			} else {
				read_piece(w);
			}
			end_piece(w);
			more = true;
		}
	} while (more);
	return NULL;
}

static void worker_free(struct worker *w)
{
	const struct team *team = w->team;

	if (w->state && team->work->begin && team->work->end)
		team->work->end(w->state);
	hyptrace_formats_free(w->formats);
	if (w->file != team->file)
		hyptrace_file_part_free(w->file);
	if (w->piece)
		hyptrace_file_reuse(team->file, &w->piece->emptied);
	free(w->piece);
	free(w);
}

/* Make a reader for a thread: it shares what the file says, and has sources of its own. */
static struct hyptrace_file *part_new(const struct hyptrace_file *f)
{
	struct hyptrace_file *part = malloc(sizeof(*part));

	if (!part)
		return NULL;
	*part = *f;
	memset(part, 0, offsetof(struct hyptrace_file, options));
	return part;
}

static struct worker *worker_new(struct team *team, unsigned int number)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->team = team;
	w->file = team->file;
	w->number = number;
	/* what libtraceevent has parsed cannot be copied: then there is one thread */
	if (number && (team->mode != BY_CPU || team->work->begin) && !team->file->tep) {
		w->formats = hyptrace_file_make_formats(team->file, NULL);
		if (!w->formats)
			goto fail;
	}
	/* each CPU has a state */
	if (team->mode != IN_TURNS && !begin_state(w))
		goto fail;
	if (team->mode == IN_BATCHES)
		w->piece = calloc(1, sizeof(*w->piece));
	else if (team->mode != ALONE)
		w->file = part_new(team->file);
	if (!w->file || (team->mode == IN_BATCHES && !w->piece))
		goto fail;
	w->at_end = true;
	if (team->mode == IN_TURNS)
		take_turn(w);
	return w;

fail:
	worker_free(w);
	return NULL;
}

static unsigned int count_threads(unsigned int max)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return MIN((unsigned int)CPU_COUNT(&set), max);
}

/* Is a file read faster by several threads, and may there be any? */
static bool threads_help(const struct team *team)
{
	const struct hyptrace_file *file = team->file;
	uint64_t size = 0;
	unsigned int i;

	for (i = 0; i < file->meta.info.nr_cpus; i++)
		size += file->data[i].size;
	/* libtraceevent prints events without a description: its state is for one thread */
	return !(team->work->flags & HYPTRACE_FILE_ALONE) && !file->tep && size >= BYTES_MIN &&
	       (!file->options.last || file->options.last >= LAST_MIN) &&
	       count_threads(THREADS_MAX) > 1;
}

static void choose(struct team *team)
{
	const unsigned int flags = team->work->flags;
	const struct hyptrace_file *file = team->file;
	const unsigned int nr_cpus = file->chosen ? file->nr_chosen : file->meta.info.nr_cpus;
	const bool by_cpu = flags & HYPTRACE_FILE_BY_CPU;
	const unsigned int max = MIN(nr_cpus, BY_CPU_MAX);

	team->ordered = !by_cpu;
	team->nr_workers = 1;
	if (flags & HYPTRACE_FILE_TURNS) {
		team->mode = IN_TURNS;
		/* more threads than CPUs: one that waits for its turn does not hold up others */
		if (!by_cpu)
			team->nr_workers = MIN(nr_cpus, TURNS_MAX);
		if (threads_help(team))
			team->nr_threads = by_cpu ? count_threads(max) : team->nr_workers;
	} else if (file->options.sides & HYPTRACE_SIDE_HOST) {
		/* libtraceevent prints the host's events: its state is for one thread */
		return;
	} else if (by_cpu && !file->options.last) {
		team->mode = BY_CPU;
		team->nr_threads = count_threads(max);
	} else if (threads_help(team) && file->meta.info.subbuf_size <= SUBBUF_MAX) {
		team->mode = IN_BATCHES;
		team->ordered = true;
		team->nr_threads = count_threads(THREADS_MAX);
	}
	team->nr_workers = MAX(MAX(team->nr_workers, team->nr_threads), 1U);
}

/* Make the workers. The order of turns needs all of them; else fewer take longer. */
static int make_workers(struct team *team, struct hyptrace_error *err)
{
	unsigned int nr;

	for (nr = 0; nr < team->nr_workers; nr++) {
		team->workers[nr] = worker_new(team, nr);
		if (team->workers[nr])
			continue;
		team->nr_workers = nr;
		return nr && team->mode != IN_TURNS ? 0 : hyptrace_error_memory(err);
	}
	return 0;
}

/* Start the other threads; fewer of them take longer. Then read, too. */
static void read_all(struct team *team)
{
	unsigned int nr = 1;

	/* they wait until nr_threads is known */
	pthread_mutex_lock(&team->reading);
	while (nr < team->nr_threads && nr < team->nr_workers &&
	       !pthread_create(&team->workers[nr]->thread, NULL, do_pieces, team->workers[nr]))
		nr++;
	team->nr_threads = nr;
	pthread_mutex_unlock(&team->reading);
	do_pieces(team->workers[0]);
	while (nr > 1)
		pthread_join(team->workers[--nr]->thread, NULL);
}

/**
 * hyptrace_file_run - read all chosen events of a file, if possible with several threads
 * @file:	the file; reading starts again. The threads call its filter at the same time.
 * @wanted:	what to do with the events
 * @size:	bytes of @wanted
 * @err:	the reason if it fails; may be NULL
 * Return: 0; 1 if batch() or flush() has ended it; or a negative errno.
 */
int hyptrace_file_run(struct hyptrace_file *file, const struct hyptrace_file_work *wanted,
		      size_t size, struct hyptrace_error *err)
{
	struct hyptrace_file_work work = {};
	struct team team = {
		.work = &work, .file = file,
		.reading = PTHREAD_MUTEX_INITIALIZER, .writing = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	unsigned int i;
	int ret;

	memcpy(&work, wanted, size < sizeof(work) ? size : sizeof(work));
	hyptrace_file_rewind(file);
	choose(&team);
	ret = make_workers(&team, err);
	if (!ret)
		read_all(&team);
	for (i = 0; i < team.nr_workers; i++)
		worker_free(team.workers[i]);
	if (team.ret < 0 && err)
		*err = team.err;
	return ret ? ret : team.ret;
}
