/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The session of a verb that shows or writes events: it opens what the options name, chooses
 * events, merges those of all CPUs, and hands them over in batches.
 *
 * A verb calls session_parse(), session_open(), session_choose() if it takes -e or -F,
 * session_hold() if it is live, session_run() and session_close(). One that does not read each
 * event as it happens calls session_start(), session_look() and loop_run(), not session_run().
 */
#ifndef SESSION_H
#define SESSION_H

#include "lib/hyptrace_file.h"
#include "lib/hyptrace_model.h"
#include "loop.h"
#include "select.h"

/* The file of a recording that was given no name */
#define FILE_DEFAULT	"hyptrace.dat"

/* The options of a verb, and where its events are */
enum session_takes {
	SESSION_QUIET		= 1 << 0,	/* -q */
	SESSION_EVENT		= 1 << 1,	/* -e */
	SESSION_FILTER		= 1 << 2,	/* -F */
	SESSION_INPUT		= 1 << 3,	/* -i FILE */
	SESSION_TIMES		= 1 << 4,	/* --from and --to, with a file */
	SESSION_FIRST		= 1 << 5,	/* -n: live: end after so many events */
	SESSION_LAST		= 1 << 6,	/* -n: the last events of a file or a snapshot */
	SESSION_DURATION	= 1 << 7,	/* --duration, without a file */
	SESSION_COMMAND		= 1 << 8,	/* -- COMMAND, without a file */
	SESSION_BOUND		= 1 << 9,	/* --order-bound */
	SESSION_NO_START	= 1 << 10,	/* --no-start */
	SESSION_WORDS		= 1 << 11,	/* the verb takes arguments of its own */
	SESSION_FILE		= 1 << 12,	/* there is always a file: [FILE], or the default */
	SESSION_SNAPSHOT	= 1 << 13,	/* without a file: what the rings hold */
	SESSION_NO_RINGS	= 1 << 14,	/* it is no error that the rings are not loaded */
	SESSION_HOLDS_FILTERS	= 1 << 15,	/* the verb's filters at EL2 are no gaps */
	SESSION_COUNT		= 1 << 16,	/* -n: for the verb, in place of the other two */
	SESSION_INTERVALS	= 1 << 17,	/* -n: for the verb: its intervals */
	SESSION_GAPS		= 1 << 18,	/* also with -q, say why events are missing */
	SESSION_OWN_RINGS	= 1 << 19,	/* the verb itself reads the rings */
	SESSION_PMU		= 1 << 20,	/* --pmu */
};

/*
 * --pmu: what the PMU of each CPU counts at EL2 during events. A verb that reads events gives those
 * of the kind HYPTRACE_KIND_PMU to pmu_note(); pmu_take() has their counts when the event comes
 * that they belong to, right after them.
 */
#define PMU_MAX		HYPTRACE_PMU_COUNTER_MAX

struct pmu {
	const char	*words[PMU_MAX];	/* as the user has typed them */
	uint32_t	numbers[PMU_MAX];	/* what they stand for */
	unsigned int	nr;			/* 0 without --pmu */
	uint32_t	id;			/* of the event pmu */
	const char	*only;			/* the event to measure; NULL: each that can be */
	const char	**held;			/* events that are held, for free() */
	unsigned int	nr_held;
};

/* What the last events pmu of a CPU say; all 0 is nothing */
struct pmu_counts {
	uint64_t	ts;			/* their time */
	uint64_t	event;			/* the value of their field of */
	const struct hyptrace_meaning *meaning;
	unsigned int	has;			/* a bit for each of @n */
	uint64_t	n[PMU_MAX];		/* in the order of the words */
};

/* An argument of --from or --to */
enum moment_kind {
	MOMENT_NONE,		/* not given */
	MOMENT_ABSOLUTE,	/* of the file's clock */
	MOMENT_AFTER_FIRST,	/* after the first event */
	MOMENT_BEFORE_LAST,	/* before the last event */
};

struct moment {
	enum moment_kind	kind;
	uint64_t		ns;
};

/* gaps.c: why events are missing although none was lost: others have stopped or filtered them */
struct gap {
	char	*text;
	bool	is_now;	/* the last look has found it */
	bool	was;	/* so had the look before */
	bool	in_file;
};

/* What a verb has found so far */
struct gaps {
	struct context			*ctx;
	const char			*remote;
	const char			*own;		/* the verb's own filter; or NULL */
	bool				owns_filters;	/* all filters of @events are the verb's */
	bool				hears_triggers;	/* the verb says which trigger has fired */
	bool				has_looked;
	bool				is_quiet;	/* find them, but say nothing */
	struct hyptrace_file_writer	*file;	/* gets the sentences, too; or NULL */
	const char			**events;	/* names; the verb needs all of these */
	unsigned int			nr_events;
	uint32_t			state;		/* of the remote at the last look */
	unsigned int			nr_fired;	/* triggers that had fired then */
	struct gap			*list;
	unsigned int			nr;
};

void gaps_begin(struct gaps *gaps, struct context *ctx, const char *remote,
		const struct event_choice *choice, struct hyptrace_event *const *events,
		unsigned int nr);
void gaps_set_file(struct gaps *gaps, struct hyptrace_file_writer *file);
void gaps_look(struct gaps *gaps, bool all);
void gaps_watch(struct gaps *gaps);
void gaps_end(struct gaps *gaps);
uint64_t gaps_count_filtered(const struct context *ctx, const struct hyptrace_file *file);
void gaps_note_filtered(const char *name, uint64_t nr);
void gaps_note_file(const struct context *ctx, const struct hyptrace_file *file, const char *path);

struct session;

/* Only batch() is needed. */
struct session_ops {
	/*
	 * The next events. Events were lost before one whose record.lost is not 0; a record without
	 * data is only a loss. The payloads are valid until batch() returns. To end the session,
	 * set loop.is_over: of a file nothing follows, of a live remote what is recorded already.
	 */
	void (*batch)(struct session *s, const struct hyptrace_stream_event *events,
		      unsigned int nr);
	/* live: tracing has begun, and the command follows; returns an exit code */
	int (*begin)(struct session *s);
	/* live: as in struct loop_ops; the argument of the loop is the session */
	uint64_t (*tick)(struct loop *l, uint64_t now);
	void (*input)(struct loop *l);
	/* live: the end was requested: later events do not come */
	void (*stop)(struct session *s);
};

struct session {
	struct context			*ctx;
	unsigned int			takes;		/* enum session_takes */
	const struct session_ops	*ops;
	void				*arg;		/* of the verb */

	/* the options; a verb may set them before session_parse() */
	const char			*path;		/* the file; NULL: live */
	bool				quiet;
	bool				is_one_of_many;	/* the last line names the file */
	bool				no_start;
	struct choice			choice;
	struct pmu			pmu;
	struct moment			from;
	struct moment			to;
	uint64_t			count;		/* 0: all */
	uint64_t			duration;	/* 0: for ever */
	uint64_t			bound;
	struct child			child;
	char				*command_line;	/* as it was given */
	/* not 0: of hyptrace_file_run(), whose threads then call batch() at the same time */
	unsigned int			file_flags;

	/* from session_open() on */
	const char			*name;		/* of the remote or of the file */
	struct hyptrace_remote		*remote;	/* NULL with a file */
	const char			*clock;
	bool				has_offset;
	int64_t				offset;		/* CLOCK_REALTIME minus the clock */
	struct hyptrace_formats		*formats;
	struct hyptrace_event		*const *events;
	unsigned int			nr_events;
	struct hyptrace_hypercall	*const *calls;
	unsigned int			nr_calls;
	struct hyptrace_file		*file;
	struct hyptrace_stream		*stream;

	bool				is_outside;	/* --from and --to choose no event */
	uint64_t			refused;	/* events, by filters at EL2 */
	/* of a snapshot, after session_run() */
	bool				has_rings;
	uint64_t			consumed;	/* events that a consumer has taken */

	/* what became of the events; only a live remote discards any */
	struct hyptrace_stream_counts	counts;
	uint64_t			damaged;	/* places that could not be read */

	/* of the session itself */
	int				command_words;	/* after "--" */
	struct hyptrace_event		**own_events;
	struct hyptrace_hypercall	**own_calls;
	struct session_ring		*rings;
	unsigned int			nr_rings;
	struct gaps			gaps;
	bool				is_changed;	/* the remote or an event */
	uint64_t			refused_before;
	uint64_t			not_taken;	/* read, but not by the stream */
	struct loop			loop;
};

/* options.c */
void session_parse(struct session *s, struct context *ctx, const struct session_ops *ops, int argc,
		   char **argv, void *arg);

/* run.c */
int session_open(struct session *s);
void session_set_filter(struct session *s, hyptrace_stream_filter_fn filter, void *arg);
int session_choose(struct session *s);
int session_run(struct session *s);
int session_close(struct session *s, int code);

/* session.c */
void session_note_counts(const struct session *s, const char *what, uint64_t nr,
			 const char *printed);
int session_fail(const struct session *s, const struct hyptrace_error *err);
void session_note_damage(const struct hyptrace_error *err, void *s);
int event_hold(struct hyptrace *h, const struct hyptrace_event *event, bool enable,
	       const struct hyptrace_filter *filter, uint32_t trigger, uint32_t after,
	       struct hyptrace_error *err);
void event_release_all(struct hyptrace *h, const char *remote);

/* pmu.c */
error_t pmu_parse(struct pmu *pmu, char *list);
void pmu_note(const struct pmu *pmu, struct pmu_counts *counts,
	      const struct hyptrace_meaning *meaning, const struct hyptrace_record *rec);
bool pmu_take(const struct pmu *pmu, struct pmu_counts *counts, enum hyptrace_kind kind,
	      uint64_t ts);
int session_open_pmu(struct session *s);
int session_hold_pmu(struct session *s, const struct event_choice *choice);
void session_release_pmu(struct session *s);

/* live.c */
int session_hold(struct session *s, const struct event_choice *choice);
int session_hold_chosen(struct session *s, const struct words *words);
int session_open_stream(struct session *s);
int session_start(struct session *s);
void session_look(struct session *s);
int session_run_stream(struct session *s);

/* snapshot.c */
int session_run_snapshot(struct session *s);
uint64_t session_add_lost(uint64_t lost, uint64_t more);

/* file.c */
int session_open_file(struct session *s);
int session_run_file(struct session *s);
void session_count_file(struct session *s);

/* What became of a ring's events while a verb was its only consumer, by the driver's counters */
struct ring_counts {
	uint64_t	events;		/* read */
	uint64_t	lost;		/* as the sub-buffers report it */
	uint64_t	filtered;	/* refused by filters at EL2 */
	uint64_t	clears;		/* of the ring */
};

struct ring_counts ring_counts_of(const struct hyptrace_cpu *cpu);
void ring_counts_add(struct ring_counts *sum, const struct ring_counts *counts);
bool ring_counts_end(struct ring_counts *counts, const struct hyptrace_cpu *cpu, bool last,
		     struct hyptrace_file_writer *w);

#endif /* SESSION_H */
