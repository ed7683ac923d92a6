// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace catch --snapshot: "record --snapshot" saves what all rings hold each time that something
 * is caught. Nothing is consumed, and between two catches nothing is done.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "output/die.h"
#include "catch.h"

/* The name of a file: the time (UTC), and the reason */
#define STAMP		"20260101T000000.000Z"
#define ENDING		".dat"
/* What a file has behind its name while it is written */
#define PARTIAL		".part"

#define RATE_NSEC	(60 * NSEC_PER_SEC)

struct saver {
	struct catcher	*c;
	int		dir;
	const char	*reason;	/* why a snapshot is due, or NULL */
	uint64_t	*saved_at;	/* of the last c->rate snapshots */
	uint64_t	nr_saved;
	uint64_t	nr_skipped;	/* the rate was too high */
	uint64_t	nr_failed;
	uint64_t	notified;	/* events that had fired before the last snapshot */
	uint64_t	written;	/* events of all CPUs at the last look */
	uint64_t	look_at;	/* when to look for new events */
	bool		is_quiet;	/* none came since the last snapshot for that reason */
};

static const char idle[] = "idle";

static int is_ours(const struct dirent *entry)
{
	static const char digits[] = "0123456789";
	const char *name = entry->d_name, *stamp = STAMP, *end = strrchr(name, '-');

	for (; *stamp; stamp++, name++)
		if (strchr(digits, *stamp) ? !*name || !strchr(digits, *name) : *name != *stamp)
			return 0;
	end = end == name ? strchr(end, '.') : NULL;
	return end && !strncmp(end, ENDING, strlen(ENDING));
}

/* Remove unfinished files, and the oldest but @saved until the others are within the limits. */
static void prune(const struct saver *saver, const char *saved)
{
	auto_free uint64_t *sizes = NULL;
	const struct catcher *c = saver->c;
	uint64_t bytes = 0;
	struct dirent **files;
	int nr = scandirat(saver->dir, ".", &files, is_ours, alphasort), i, left = 0;
	struct stat st;

	if (nr < 0) {
		cmd_note("cannot read %s: %s", c->dir, strerror(errno));
		return;
	}
	sizes = xcalloc(nr + 1, sizeof(*sizes));
	for (i = 0; i < nr; i++) {
		if (strstr(files[i]->d_name, ENDING PARTIAL))
			continue;
		if (!fstatat(saver->dir, files[i]->d_name, &st, AT_SYMLINK_NOFOLLOW))
			sizes[i] = st.st_size;
		bytes += sizes[i];
		left++;
	}
	for (i = 0; i < nr; i++) {
		const char *name = files[i]->d_name;
		const bool is_partial = strstr(name, ENDING PARTIAL);

		if (!is_partial && (!strcmp(name, saved) ||
				    ((!c->keep || (uint64_t)left <= c->keep) &&
				     (!c->bytes || bytes <= c->bytes))))
			continue;
		if (unlinkat(saver->dir, name, 0)) {
			cmd_note("cannot remove %s/%s: %s", c->dir, name, strerror(errno));
		} else if (!is_partial) {
			bytes -= sizes[i];
			left--;
		}
	}
	while (nr)
		free(files[--nr]);
	free(files);
}

static void save(struct saver *saver)
{
	struct catcher *c = saver->c;
	struct printer *p = c->session.ctx->p;
	char stamp[sizeof(STAMP)];
	auto_free char *name = NULL;
	struct timespec now;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	len = strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", gmtime(&now.tv_sec));
	snprintf(stamp + len, sizeof(stamp) - len, ".%03ldZ", now.tv_nsec / 1000000 % 1000);
	name = xasprintf("%s/%s-%s" ENDING, c->dir, stamp, saver->reason);
	if (child_save_snapshot(saver->c->session.name, name)) {
		c->nr_caught++;
		saver->is_quiet = saver->reason == idle;
		printer_line(p, STYLE_PLAIN, "%s", name);
		printer_str(p, "file", name);
		printer_str(p, "reason", saver->reason);
		printer_end(p);
		out_flush(&c->session.ctx->out);
		prune(saver, strrchr(name, '/') + 1);
	} else {
		cmd_note("cannot save %s: see above", name);
		saver->nr_failed++;
	}
}

static bool count(const struct catcher *c, uint64_t *written, uint64_t *notified)
{
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	unsigned int nr, i;

	if (cmd_get_cpus(c->session.ctx, c->session.name, &cpus, &nr))
		return false;
	*written = 0;
	*notified = 0;
	for (i = 0; i < nr; i++) {
		*written += cpus[i]->written;
		*notified += cpus[i]->notified;
	}
	return true;
}

static const char *trigger_of(const struct catcher *c)
{
	return c->event ? c->event->name : "trigger";
}

static void save_if_due(struct saver *saver)
{
	const uint64_t now = clock_now(CLOCK_MONOTONIC);
	struct catcher *c = saver->c;
	uint64_t *at = &saver->saved_at[saver->nr_saved % c->rate], written, notified;

	if (!saver->reason)
		return;
	if (saver->nr_saved >= c->rate && now - *at < RATE_NSEC) {
		saver->nr_skipped++;
	} else {
		*at = now;
		saver->nr_saved++;
		/* what fires from now on may not be in the file */
		if (count(c, &written, &notified))
			saver->notified = notified;
		save(saver);
	}
	saver->reason = NULL;
}

static int take(struct loop *l)
{
	struct saver *saver = l->arg;
	struct catcher *c = saver->c;

	save_if_due(saver);
	if (c->has_changed)
		return cmd_fail("cannot go on to catch \"%s\": somebody else has disabled it or changed its trigger",
				c->event->name);
	if (c->has_stopped)
		return cmd_fail("cannot go on to catch: tracing of \"%s\" was switched off",
				c->session.name);
	return c->limit && c->nr_caught >= c->limit ? EXIT_DONE : LOOP_WAIT;
}

static uint64_t tick(struct loop *l, uint64_t now)
{
	struct saver *saver = l->arg;
	const uint64_t period = saver->c->idle;
	uint64_t written, notified;
	bool is_first = !saver->look_at;

	if (!period)
		return UINT64_MAX;
	if (now < saver->look_at)
		return saver->look_at;
	saver->look_at = now + period;
	if (!count(saver->c, &written, &notified))
		return saver->look_at;
	if (written != saver->written || is_first)
		saver->is_quiet = false;
	else if (!saver->is_quiet)
		saver->reason = idle;
	saver->written = written;
	/* take() comes again at once */
	return saver->reason ? now : saver->look_at;
}

static int hear(const struct hyptrace_notification *notification, void *arg)
{
	const struct hyptrace_remote *remote = notification->remote;
	struct saver *saver = ((struct loop *)arg)->arg;
	unsigned int i;

	if (!catch_hear(saver->c, notification))
		return 0;
	if (!remote->nr_fired)
		saver->reason = trigger_of(saver->c);
	for (i = 0; i < remote->nr_fired; i++)
		if (remote->has_ended && remote->fired[i].action == HYPTRACE_TRIGGER_ACTION_STOP)
			saver->reason = "stopped";
	return 0;
}

static int heard(struct loop *l, bool lost)
{
	struct saver *saver = l->arg;

	if (lost) {
		catch_ask(saver->c);
		saver->reason = trigger_of(saver->c);
	}
	return LOOP_WAIT;
}

static void input(struct loop *l)
{
	struct saver *saver = l->arg;
	struct signalfd_siginfo info;

	if (read(l->input_fd, &info, sizeof(info)) == sizeof(info))
		saver->reason = "signal";
}

/* The end has come: save what has fired since the last notification. */
static void finish(struct saver *saver)
{
	uint64_t written, notified;

	if (!saver->c->limit && count(saver->c, &written, &notified) && notified > saver->notified)
		saver->reason = trigger_of(saver->c);
	save_if_due(saver);
}

static int prepare(struct saver *saver, const struct loop_ops *ops)
{
	struct catcher *c = saver->c;
	struct session *s = &c->session;
	sigset_t set;
	int code = catch_check(s->remote);

	if (code)
		return code;
	if (s->remote->state != HYPTRACE_STATE_TRACING)
		return cmd_fail("cannot wait for events of \"%s\": tracing is off (use \"hyptrace start\", or words at boot)",
				s->name);
	saver->dir = open(c->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (saver->dir < 0 || faccessat(saver->dir, ".", W_OK | X_OK, 0))
		return cmd_fail("cannot write to %s: %s", c->dir, strerror(errno));
	if (flock(saver->dir, LOCK_EX | LOCK_NB))
		return cmd_fail("cannot write to %s: another \"hyptrace catch\" does", c->dir);
	code = catch_listen(c, ops, saver);
	if (code)
		return code;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (signals_catch() < 0 || sigprocmask(SIG_BLOCK, &set, NULL))
		return cmd_fail("cannot catch signals: %s", strerror(errno));
	s->loop.input_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->loop.input_fd < 0)
		return cmd_fail("cannot catch signals: %s", strerror(errno));
	code = catch_hold(c);
	if (code)
		return code;
	count(c, &saver->written, &saver->notified);
	code = catch_arm(c);
	saver->reason = NULL;
	return code;
}

int catch_save(struct catcher *c)
{
	static const struct loop_ops ops = {
		.take = take, .tick = tick, .hear = hear, .heard = heard, .input = input,
	};
	struct saver saver = { .c = c, .dir = -1 };
	struct session *s = &c->session;
	struct loop *l = &s->loop;
	int code;

	saver.saved_at = xcalloc(c->rate, sizeof(*saver.saved_at));
	code = prepare(&saver, &ops) ?: child_start(&s->child);
	if (!code) {
		if (!s->quiet)
			cmd_note("waiting for %s (end with Ctrl-C)", c->what ?: c->idle ?
				 "a trigger that fires, a time without events, or SIGUSR1" :
				 "a trigger that fires, or SIGUSR1");
		code = loop_run(l);
		if (!code)
			finish(&saver);
	}
	event_release_all(s->ctx->h, s->name);
	if (!code && saver.nr_failed)
		code = cmd_fail("%" PRIu64 " snapshot%s could not be saved", saver.nr_failed,
				saver.nr_failed == 1 ? "" : "s");
	if ((!s->quiet && (!code || saver.nr_failed)) || saver.nr_skipped)
		cmd_note("%" PRIu64 " snapshot%s saved, %" PRIu64 " skipped%s", c->nr_caught,
			 c->nr_caught == 1 ? "" : "s", saver.nr_skipped,
			 saver.nr_skipped ? " (more than --rate in a minute)" : "");
	if (l->input_fd >= 0)
		close(l->input_fd);
	if (saver.dir >= 0)
		close(saver.dir);
	free(saver.saved_at);
	return code;
}
