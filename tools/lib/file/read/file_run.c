// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read a file with several threads. Each takes the next piece of the file, uses its events, and
 * flushes them when those of the pieces before are flushed. So the result is that of one thread.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "event/format_foreign.h"
#include "file.h"

#define THREADS_MAX	4
#define BY_CPU_MAX	64
/* A file with fewer bytes of sub-buffers is read before all threads run, */
#define BYTES_MIN	(2 << 20)
/* and so are fewer events. */
#define LAST_MIN	200000

/* Events of a piece, and bytes of their payloads, at most */
#define PIECE_EVENTS	4096
#define PIECE_BYTES	(640 << 10)
/* Events to add at once, of which only the last one can be long */
#define ADD_EVENTS	512
static_assert(ADD_EVENTS * FILE_SHORT_EVENT <= PIECE_BYTES / 4, "a piece has room for them");
/* Bytes of a sub-buffer, and so of a long event, at most */
#define SUBBUF_MAX	(PIECE_BYTES / 5)
static_assert(PIECE_EVENTS * FILE_SHORT_EVENT + SUBBUF_MAX <= PIECE_BYTES, "also of one CPU");

enum mode {
	ALONE,		/* one thread, one piece */
	BY_CPU,		/* a piece is a CPU, and pieces have no order */
	/*
	 * A piece is events that one thread at a time merges and copies. But those of the only CPU,
	 * if they are all of a buffer, are used where they are: the thread gives its own buffer for
	 * the next ones.
	 */
	IN_BATCHES,
};

/* A piece in memory */
struct copies {
	int				ret;		/* what ends it */
	struct hyptrace_error		err;
	size_t				used;		/* bytes of @data */
	struct hyptrace_stream_event	events[PIECE_EVENTS];
	char				data[PIECE_BYTES + FILE_SLACK] __attribute__((aligned(8)));
};

struct worker {
	struct file_batch		batch;		/* first: see hyptrace_file_wait() */
	struct team			*team;
	pthread_t			thread;
	struct hyptrace_formats		*formats;	/* NULL: those of the file */
	void				*state;
	struct hyptrace_file		*file;		/* what it reads itself */
	struct copies			*copies;	/* or what was read for it */
	char				*buf;		/* to exchange; or NULL */
	uint64_t			number;		/* of its piece, from 0 on */
	bool				stopped;	/* its events are not wanted any more */
};

struct team {
	const struct hyptrace_file_work	*work;
	struct hyptrace_file		*file;
	enum mode			mode;
	unsigned int			nr_threads;
	struct worker			*workers[BY_CPU_MAX];
	bool				one_cpu;	/* whose buffers are exchanged */

	pthread_mutex_t			reading;	/* protects @file and what follows */
	uint64_t			next;		/* number of the next piece */
	unsigned int			at;		/* index of the next CPU */
	bool				over;		/* there are no more pieces */
	bool				has_times;	/* the two times are known */
	uint64_t			first;
	uint64_t			previous;

	pthread_mutex_t			writing;	/* protects what follows */
	pthread_cond_t			changed;	/* @turn has */
	uint64_t			turn;		/* the piece that can be flushed */
	int				ret;		/* why reading has ended early, or 0 */
	struct hyptrace_error		err;
};

static bool is_ordered(const struct team *team)
{
	return team->mode != BY_CPU;
}

/* Wait until the pieces before that of a worker are flushed. */
static void wait_turn(struct worker *w)
{
	struct team *team = w->team;

	if (!is_ordered(team))
		return;
	pthread_mutex_lock(&team->writing);
	while (team->turn != w->number)
		pthread_cond_wait(&team->changed, &team->writing);
	w->stopped |= !!team->ret;
	pthread_mutex_unlock(&team->writing);
}

static int wait_for(struct file_batch *batch)
{
	struct worker *w = (struct worker *)batch;

	wait_turn(w);
	return w->stopped ? -ECANCELED : 0;
}

/**
 * hyptrace_file_wait - wait until all before a batch was flushed
 * @batch:	the batch; also in flush() after batch()
 *
 * For a state that has no more room: it can write what it has, as if flush() had been called.
 *
 * Return: 0, or -ECANCELED if reading has ended: write nothing.
 */
int hyptrace_file_wait(const struct hyptrace_file_batch *batch)
{
	struct file_batch *of = (struct file_batch *)batch;

	return of->wait(of);
}

/* End reading, with a negative errno and its reason, or with 1. */
static void stop(struct worker *w, int ret, const struct hyptrace_error *err)
{
	struct team *team = w->team;

	pthread_mutex_lock(&team->writing);
	if (!team->ret && err)
		team->err = *err;
	if (!team->ret)
		team->ret = ret;
	pthread_mutex_unlock(&team->writing);
	pthread_mutex_lock(&team->reading);
	team->over = true;
	pthread_mutex_unlock(&team->reading);
	w->stopped = true;
}

static void flush(struct worker *w)
{
	wait_turn(w);
	if (!w->stopped && is_ordered(w->team) && w->team->work->flush &&
	    w->team->work->flush(w->state))
		stop(w, 1, NULL);
}

/* Report what comes after the events so far. After -EBADMSG, reading can continue. */
static void fail(struct worker *w, int ret, const struct hyptrace_error *err)
{
	const struct hyptrace_file_work *work = w->team->work;

	flush(w);
	if (w->stopped)
		return;
	if (ret != -EBADMSG) {
		stop(w, ret, err);
		return;
	}
	pthread_mutex_lock(&w->team->writing);
	if (work->damage)
		work->damage(err, work->arg);
	pthread_mutex_unlock(&w->team->writing);
}

static void use(struct worker *w, const struct hyptrace_stream_event *events, unsigned int nr)
{
	w->batch.batch.events = events;
	w->batch.batch.nr = nr;
	if (!w->team->work->batch(w->state, &w->batch.batch))
		return;
	flush(w);
	if (!w->stopped)
		stop(w, 1, NULL);
}

/* Read a piece to its end. */
static void read_piece(struct worker *w)
{
	const struct hyptrace_stream_event *events;
	struct hyptrace_file_batch *batch = &w->batch.batch;
	struct hyptrace_error err;
	int ret;

	do {
		ret = hyptrace_file_batch(w->file, &events, &err);
		if (ret > 0) {
			use(w, events, ret);
			if (!batch->has_times)
				batch->first = events[0].record.ts;
			batch->previous = events[ret - 1].record.ts;
			batch->has_times = w->team->mode == ALONE;
		} else if (ret != -ENODATA) {
			fail(w, ret, &err);
		}
	} while (!w->stopped && (ret > 0 || ret == -EBADMSG));
	flush(w);
}

/* Both have FILE_SLACK bytes behind: one step copies nearly each payload. */
static inline void copy_payload(char *to, const char *from, int size)
{
	do {
		memcpy(to, from, FILE_SLACK);
		to += FILE_SLACK;
		from += FILE_SLACK;
		size -= FILE_SLACK;
	} while (size > 0);
}

/* Add the next events to a piece. Return as hyptrace_file_batch(). */
static int add_events(struct worker *w)
{
	struct hyptrace_file *file = w->team->file;
	struct copies *c = w->copies;
	const unsigned int room = PIECE_EVENTS - w->batch.batch.nr;
	struct hyptrace_stream_event *event = c->events + w->batch.batch.nr;
	int nr = hyptrace_file_fill(file, event, w->buf || room < ADD_EVENTS ? room : ADD_EVENTS,
				    &c->err), i;

	w->batch.batch.nr += nr > 0 ? nr : 0;
	if (w->buf && nr > 0 && file->emptied) {
		char *used = file->sources[0].buf;

		file->sources[0].buf = w->buf;
		w->buf = used;
		return nr;
	}
	for (i = 0; i < nr; i++, event++) {
		struct hyptrace_record *rec = &event->record;

		if (!rec->data)
			continue;
		copy_payload(c->data + c->used, rec->data, rec->size);
		rec->data = c->data + c->used;
		c->used += (rec->size + 7) & ~7U;
	}
	return nr;
}

/* Read the events of the next piece. */
static void take_events(struct worker *w)
{
	struct team *team = w->team;
	struct copies *c = w->copies;
	struct hyptrace_file_batch *batch = &w->batch.batch;

	batch->has_times = team->has_times;
	batch->first = team->first;
	batch->previous = team->previous;
	batch->nr = 0;
	c->used = 0;
	do {
		c->ret = add_events(w);
	} while (c->ret > 0 && !w->buf && batch->nr < PIECE_EVENTS && c->used <= PIECE_BYTES / 4);
	if (batch->nr) {
		if (!team->has_times)
			team->first = c->events[0].record.ts;
		team->previous = c->events[batch->nr - 1].record.ts;
		team->has_times = true;
	}
	team->over = c->ret <= 0 && c->ret != -EBADMSG;
}

static void use_events(struct worker *w)
{
	struct copies *c = w->copies;

	if (w->batch.batch.nr)
		use(w, c->events, w->batch.batch.nr);
	flush(w);
	if (c->ret < 0 && c->ret != -ENODATA)
		fail(w, c->ret, &c->err);
}

/* Take the next CPU. Return false if there is none. */
static bool take_cpu(struct worker *w)
{
	struct team *team = w->team;
	struct hyptrace_file_cpu *const *cpus = team->file->meta.cpus;
	const unsigned int nr = team->file->meta.nr_cpus;

	while (team->at < nr && !hyptrace_file_is_chosen(team->file, cpus[team->at]->id))
		team->at++;
	w->number = team->at++;
	team->over = w->number >= nr;
	return !team->over;
}

static void read_cpu(struct worker *w)
{
	w->file->chosen = &w->team->file->meta.cpus[w->number]->id;
	w->file->nr_chosen = 1;
	w->batch.batch.has_times = false;
	hyptrace_file_rewind(w->file);
	read_piece(w);
}

/* Count what a worker has read, and pass the turn on. */
static void end_piece(struct worker *w)
{
	struct team *team = w->team;

	wait_turn(w);
	pthread_mutex_lock(&team->writing);
	if (w->file != team->file)
		hyptrace_file_part_count(team->file, w->file);
	team->turn++;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->writing);
}

/* Take and use the next piece. Return false if there is none. */
static bool do_piece(struct worker *w)
{
	struct team *team = w->team;
	bool over;

	pthread_mutex_lock(&team->reading);
	over = team->over;
	if (!over)
		w->number = team->next++;
	if (!over && team->mode == IN_BATCHES)
		take_events(w);
	else if (!over && team->mode == BY_CPU)
		over = !take_cpu(w);
	else if (!over && team->mode == ALONE)
		team->over = true;
	pthread_mutex_unlock(&team->reading);
	if (over)
		return false;
	if (team->mode == IN_BATCHES)
		use_events(w);
	else if (team->mode == BY_CPU)
		read_cpu(w);
	else
		read_piece(w);
	end_piece(w);
	return true;
}

static void *do_pieces(void *arg)
{
	while (do_piece(arg))
		;
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
	free(w->copies);
	free(w->buf);
	free(w);
}

static bool prepare(struct worker *w, bool is_first)
{
	const struct team *team = w->team;
	struct hyptrace_formats *formats = team->file->formats;

	if (!is_first && team->mode != BY_CPU) {
		w->formats = hyptrace_file_make_formats(team->file, NULL);
		formats = w->formats;
		if (!formats)
			return false;
	}
	w->state = team->work->begin ? team->work->begin(formats, team->work->arg) :
		   team->work->arg;
	if (team->work->begin && !w->state)
		return false;
	w->file = team->file;
	if (team->mode == IN_BATCHES)
		w->copies = malloc(sizeof(*w->copies));
	else if (team->mode != ALONE)
		w->file = hyptrace_file_part_new(team->file, NULL);
	if (team->one_cpu)
		w->buf = malloc(team->file->sources[0].size + FILE_SLACK);
	return w->file && (team->mode != IN_BATCHES || w->copies) && (!team->one_cpu || w->buf);
}

static struct worker *worker_new(struct team *team, bool is_first)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->team = team;
	w->batch.wait = wait_for;
	if (prepare(w, is_first))
		return w;
	worker_free(w);
	return NULL;
}

static unsigned int count_threads(unsigned int max)
{
	cpu_set_t set;
	unsigned int nr;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	nr = CPU_COUNT(&set);
	return nr < max ? nr : max;
}

static void choose_by_cpu(struct team *team)
{
	const unsigned int nr = team->file->chosen ? team->file->nr_chosen :
						     team->file->meta.nr_cpus;

	if (nr < 2)
		return;
	team->mode = BY_CPU;
	team->nr_threads = count_threads(nr < BY_CPU_MAX ? nr : BY_CPU_MAX);
}

/* Is a file read faster by several threads? */
static bool threads_help(const struct hyptrace_file *file)
{
	uint64_t size = 0;
	unsigned int i;

	for (i = 0; i < file->meta.nr_cpus; i++)
		size += file->data[i].size;
	/* libtraceevent prints events without a description: its state is for one thread */
	return !file->tep && size >= BYTES_MIN && (!file->last || file->last >= LAST_MIN) &&
	       count_threads(THREADS_MAX) > 1;
}

/* Choose how to read the file, with how many threads. */
static int choose(struct team *team, struct hyptrace_error *err)
{
	const unsigned int flags = team->work->flags;
	struct hyptrace_file *file = team->file;
	int ret;

	team->nr_threads = 1;
	/* libtraceevent prints the host's events: its state is for one thread */
	if (file->sides & HYPTRACE_SIDE_HOST)
		return 0;
	if (flags & HYPTRACE_FILE_BY_CPU && !file->last) {
		choose_by_cpu(team);
		return 0;
	}
	if (flags & HYPTRACE_FILE_ALONE || !threads_help(file) ||
	    file->meta.info.subbuf_size > SUBBUF_MAX)
		return 0;
	team->mode = IN_BATCHES;
	team->nr_threads = count_threads(THREADS_MAX);
	ret = hyptrace_file_begin(file, err);
	team->one_cpu = !ret && file->nr_sources == 1 && !file->sources[0].copy;
	return ret;
}

/* Start the other threads; fewer of them take longer. Then read, too. */
static void read_all(struct team *team)
{
	unsigned int nr = 1, i;

	for (; nr < team->nr_threads; nr++) {
		team->workers[nr] = worker_new(team, false);
		if (!team->workers[nr])
			break;
	}
	for (i = 1; i < nr; i++) {
		if (!pthread_create(&team->workers[i]->thread, NULL, do_pieces, team->workers[i]))
			continue;
		while (nr > i)
			worker_free(team->workers[--nr]);
	}
	do_pieces(team->workers[0]);
	for (i = 1; i < nr; i++) {
		pthread_join(team->workers[i]->thread, NULL);
		worker_free(team->workers[i]);
	}
	worker_free(team->workers[0]);
}

/**
 * hyptrace_file_run - read all chosen events of a file, if possible with several threads
 * @file:	the file; reading starts again. The threads call its filter at the same time.
 * @wanted:	what to do with the events
 * @size:	bytes of @wanted
 * @err:	the reason if it fails; may be NULL
 *
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
	int ret;

	memcpy(&work, wanted, size < sizeof(work) ? size : sizeof(work));
	hyptrace_file_rewind(file);
	if (work.flags & HYPTRACE_FILE_TURNS)
		return hyptrace_file_take_turns(file, &work, threads_help(file) ?
						count_threads(THREADS_MAX) : 1, err);
	ret = choose(&team, err);
	if (ret)
		return ret;
	team.workers[0] = worker_new(&team, true);
	if (!team.workers[0])
		return hyptrace_error_memory(err);
	/* a thread that reads itself counts for the file */
	if (team.mode != IN_BATCHES)
		memset(&file->counts, 0, sizeof(file->counts));
	read_all(&team);
	if (team.ret < 0 && err)
		*err = team.err;
	return team.ret;
}
