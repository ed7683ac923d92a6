// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terminal of hyptrace top, by ncurses. It is loaded here and not with the command: that would
 * make each verb start 400,000 instructions later.
 *
 * The signals of the terminal are blocked and read from a descriptor, so that ncurses is never
 * interrupted: with SIGTSTP the terminal becomes as it was before the program stops.
 */
#define NCURSES_NOMACROS
#include <curses.h>
#include <dlfcn.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

#include "output/die.h"
#include "top.h"

/* After an Esc so long, ms, no other byte of a key can follow */
#define ESCAPE_MSEC	50

#define QUOTED(number)	#number
#define LIBRARY(major)	"libncursesw.so." QUOTED(major)

/* The functions of ncurses, called as CALL(name)(...) */
#define CALL(name)	((__typeof__(name) *)calls[CALL_##name].function)
#define ALL_CALLS(each) \
	each(cbreak) each(clearok) each(curs_set) each(delscreen) each(endwin) each(getmaxx) \
	each(getmaxy) each(is_term_resized) each(keypad) each(mvwaddnstr) each(newterm) \
	each(newwin) each(nodelay) each(noecho) each(nonl) each(reset_prog_mode) \
	each(resizeterm) each(set_escdelay) each(wattrset) each(werase) each(wgetch) each(wrefresh)

#define NUMBER_OF(name)	CALL_##name,
#ifdef STATIC
#define ENTRY(name)	{ #name, (void *)(name) },
#else
#define ENTRY(name)	{ #name, NULL },
#endif

enum { ALL_CALLS(NUMBER_OF) };

static struct {
	const char	*name;
	void		*function;
} calls[] = { ALL_CALLS(ENTRY) };

/* Return why it fails, or NULL. */
static const char *load_curses(void)
{
	void *library = NULL;
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]) && !calls[i].function; i++) {
		library = library ? library : dlopen(LIBRARY(NCURSES_VERSION_MAJOR), RTLD_NOW);
		if (library)
			calls[i].function = dlsym(library, calls[i].name);
		if (!calls[i].function)
			return dlerror();
	}
	return NULL;
}

static struct {
	SCREEN		*screen;
	WINDOW		*window;	/* the whole screen */
	int		signals;
	int		epoll;
	sigset_t	before;
} terminal = { .signals = -1, .epoll = -1 };

bool top_terminal_has_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* Never called: the signal is blocked. */
static void ignore(int sig)
{
	(void)sig;
}

/* Wait for keys and for signals on one descriptor. */
static int open_input(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	sigset_t set;

	/*
	 * ncurses leaves a signal alone that has a handler. Else it ignores SIGTSTP while it draws,
	 * and the kernel then forgets one that was not read yet.
	 */
	signal(SIGTSTP, ignore);
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	sigprocmask(SIG_BLOCK, &set, &terminal.before);
	terminal.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	terminal.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (terminal.signals < 0 || terminal.epoll < 0 ||
	    epoll_ctl(terminal.epoll, EPOLL_CTL_ADD, STDIN_FILENO, &event) ||
	    epoll_ctl(terminal.epoll, EPOLL_CTL_ADD, terminal.signals, &event))
		return -errno;
	return 0;
}

/* Return a descriptor that is readable when top_terminal_key() has something; -1 with a message. */
int top_terminal_begin(void)
{
	const char *name = getenv("TERM"), *reason = load_curses();
	int ret;

	if (reason) {
		cmd_note("cannot use the terminal: %s (install ncurses, or use -b)", reason);
		return -1;
	}
	ret = open_input();
	if (!ret)
		terminal.screen = CALL(newterm)(NULL, stdout, stdin);
	if (!terminal.screen) {
		top_terminal_end();
		if (ret)
			cmd_note("cannot wait for keys: %s", strerror(-ret));
		else
			cmd_note("cannot use the terminal: there is no description of \"%s\" (set TERM, or use -b)",
				 name ? name : "");
		return -1;
	}
	/* also if the memory is exhausted, which exits at once */
	atexit(top_terminal_end);
	terminal.window = or_die(CALL(newwin)(0, 0, 0, 0));
	CALL(cbreak)();
	CALL(noecho)();
	CALL(nonl)();
	CALL(keypad)(terminal.window, TRUE);
	CALL(nodelay)(terminal.window, TRUE);
	CALL(set_escdelay)(ESCAPE_MSEC);
	CALL(curs_set)(0);
	return terminal.epoll;
}

void top_terminal_end(void)
{
	if (terminal.screen) {
		CALL(endwin)();
		CALL(delscreen)(terminal.screen);
	}
	if (terminal.signals >= 0)
		close(terminal.signals);
	if (terminal.epoll >= 0) {
		close(terminal.epoll);
		signal(SIGTSTP, SIG_DFL);
		sigprocmask(SIG_SETMASK, &terminal.before, NULL);
	}
	terminal.screen = NULL;
	terminal.signals = -1;
	terminal.epoll = -1;
}

void top_terminal_size(struct top_screen *screen)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col &&
	    CALL(is_term_resized)(size.ws_row, size.ws_col))
		CALL(resizeterm)(size.ws_row, size.ws_col);
	screen->width = CALL(getmaxx)(terminal.window);
	screen->height = CALL(getmaxy)(terminal.window);
}

void top_terminal_show(const struct top_screen *screen)
{
	static const int attributes[] = {
		[TOP_PLAIN] = A_NORMAL,
		[TOP_TITLE] = A_BOLD,
		[TOP_HEAD] = A_REVERSE,
		[TOP_SELECTED] = A_REVERSE,
		[TOP_LOSS] = A_BOLD,
	};
	unsigned int i;

	CALL(werase)(terminal.window);
	for (i = 0; i < screen->nr; i++) {
		CALL(wattrset)(terminal.window, attributes[screen->lines[i].style]);
		/* an error is ignored: the cursor cannot stand behind the last column */
		CALL(mvwaddnstr)(terminal.window, i, 0, screen->lines[i].text, -1);
	}
	CALL(wattrset)(terminal.window, A_NORMAL);
	CALL(wrefresh)(terminal.window);
}

/* Restore the terminal, then stop as SIGTSTP does by default. */
static void stop(void)
{
	sigset_t set;

	CALL(endwin)();
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* stopped here; SIGCONT continues */
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGTSTP, ignore);
}

/* Return true if the screen must be drawn again. */
static bool take_signals(void)
{
	struct signalfd_siginfo info;
	bool redraw = false;

	while (read(terminal.signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTSTP)
			stop();
		/* after SIGSTOP, the terminal has the modes of the shell */
		if (info.ssi_signo == SIGCONT)
			CALL(reset_prog_mode)();
		/* others may have written to the terminal meanwhile */
		if (info.ssi_signo != SIGWINCH)
			CALL(clearok)(terminal.window, TRUE);
		redraw = true;
	}
	return redraw;
}

static bool is_gone(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 0) > 0 && input.revents & (POLLHUP | POLLERR);
}

/* Does not wait. TOP_KEY_NONE: there is nothing more */
enum top_key top_terminal_key(void)
{
	static const struct {
		int		code;
		enum top_key	key;
	} keys[] = {
		{ ERR, TOP_KEY_NONE }, { KEY_RESIZE, TOP_KEY_REDRAW },
		{ '<', TOP_KEY_LEFT }, { KEY_LEFT, TOP_KEY_LEFT },
		{ '>', TOP_KEY_RIGHT }, { KEY_RIGHT, TOP_KEY_RIGHT },
		{ 'k', TOP_KEY_UP }, { KEY_UP, TOP_KEY_UP },
		{ 'j', TOP_KEY_DOWN }, { KEY_DOWN, TOP_KEY_DOWN },
		{ '\r', TOP_KEY_ENTER }, { '\n', TOP_KEY_ENTER }, { KEY_ENTER, TOP_KEY_ENTER },
		{ '\033', TOP_KEY_BACK }, { KEY_BACKSPACE, TOP_KEY_BACK },
		{ '\b', TOP_KEY_BACK }, { 0x7f, TOP_KEY_BACK },
		{ 'g', TOP_KEY_GROUP }, { '1', TOP_KEY_PER_CPU },
		{ 'p', TOP_KEY_PAUSE }, { ' ', TOP_KEY_PAUSE }, { 'r', TOP_KEY_RESET },
		{ 'h', TOP_KEY_HELP }, { '?', TOP_KEY_HELP }, { 'q', TOP_KEY_QUIT },
	};
	size_t i;
	int code;

	if (take_signals())
		return TOP_KEY_REDRAW;
	if (is_gone())
		return TOP_KEY_GONE;
	code = CALL(wgetch)(terminal.window);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return TOP_KEY_OTHER;
}
