// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _XOPEN_SOURCE_EXTENDED 1
#include "report/top/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <curses.h>

#include "base/array.h"
#include "base/clock.h"
#include "report/top/canvas.h"
#include "report/top/draw.h"

/* Time between two pictures: nobody sees more of them. */
#define PICTURE_NS  33000000ull
/* A lone Escape is distinguished from another key's sequence by input within this time. */
#define ESCAPE_MS   25
#define KEY_CTRL_L  12
#define KEY_CTRL_Z  26
#define MAX_ROWS    500
#define MAX_COLUMNS 1000

/**
 * struct screen - see screen.h
 * @out: output of ncurses: the terminal, and while it draws, @paper
 * @paper: a memory file for a whole picture; -1: it is written piece by piece
 * @picture, @cap: the same in memory
 */
struct screen {
	struct view *view;
	struct screen_owner owner;
	struct canvas canvas;
	SCREEN *terminal;
	FILE *in, *out;
	int paper;
	char *picture;
	size_t cap;
	int signals;
	bool colours;
	bool old;
	bool gone;
	uint64_t drawn_ns;
	chtype looks[NR_LOOKS];
};

/* --- taking the terminal */

static int refuse(struct diag *d, const char *why)
{
	diag_fail(d, -ENOTTY, "there is no terminal to draw on: %s", why);
	return diag_advise(d, -ENOTTY,
			   "\"t410trace -a\" and \"t410trace report FILE\" write tables anywhere; "
			   "with --html they make a page to look at");
}

int screen_check(struct diag *d)
{
	const char *term = getenv("TERM");

	if (!isatty(STDOUT_FILENO))
		return refuse(d, "standard output is none");
	if (!term || !term[0])
		return refuse(d, "TERM is not set");
	if (!strcmp(term, "dumb") || !strcmp(term, "unknown"))
		return refuse(d, "TERM says that it cannot move the cursor");
	return 0;
}

/* Keys come from the terminal, whatever standard input is. */
static int open_keys(struct screen *s, struct diag *d)
{
	int fd = isatty(STDIN_FILENO) ? dup(STDIN_FILENO) : open("/dev/tty", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	s->in = fd < 0 ? NULL : fdopen(fd, "r");
	if (s->in)
		return 0;
	if (fd >= 0)
		close(fd);
	return refuse(d, "there is no keyboard");
}

/* A separate descriptor, so that it can be replaced by another file for a while. */
static int open_output(struct screen *s, struct diag *d)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	s->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!s->out) {
		int err = -errno;

		if (fd >= 0)
			close(fd);
		return diag_error(d, err, "cannot write to the terminal");
	}
	s->paper = memfd_create("picture", MFD_CLOEXEC);
	return 0;
}

static int open_signals(struct screen *s, struct diag *d)
{
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGWINCH);
	sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, NULL);
	s->signals = signalfd(-1, &block, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals < 0 ? diag_error(d, -errno, "cannot receive signals") : 0;
}

static void choose_looks(struct screen *s)
{
	static const struct {
		attr_t plain;
		short colour; /* -1: the terminal's own */
		attr_t coloured;
	} rows[NR_LOOKS] = {
		[LOOK_PLAIN] = { A_NORMAL, -1, A_NORMAL },
		[LOOK_DIM] = { A_DIM, -1, A_DIM },
		[LOOK_STRONG] = { A_BOLD, -1, A_BOLD },
		[LOOK_TITLE] = { A_REVERSE, -1, A_REVERSE },
		[LOOK_HEADING] = { A_REVERSE, COLOR_CYAN, A_REVERSE },
		[LOOK_SELECTED] = { A_REVERSE | A_BOLD, COLOR_BLUE, A_REVERSE | A_BOLD },
		[LOOK_KEY] = { A_BOLD, COLOR_CYAN, A_BOLD },
		[LOOK_GOOD] = { A_REVERSE, COLOR_GREEN, A_NORMAL },
		[LOOK_WARNING] = { A_BOLD, COLOR_YELLOW, A_BOLD },
		[LOOK_BAD] = { A_BOLD | A_REVERSE, COLOR_RED, A_BOLD | A_REVERSE },
		[LOOK_WORKLOADS] = { A_NORMAL, COLOR_GREEN, A_NORMAL },
		[LOOK_DEVICES] = { A_NORMAL, COLOR_CYAN, A_NORMAL },
		[LOOK_REMOTE] = { A_NORMAL, COLOR_MAGENTA, A_NORMAL },
		[LOOK_NOBODY] = { A_NORMAL, COLOR_YELLOW, A_NORMAL },
		[LOOK_GRAPH] = { A_NORMAL, COLOR_GREEN, A_NORMAL },
	};
	const char *none = getenv("NO_COLOR");

	s->colours = has_colors() && !(none && none[0]) && start_color() == OK;
	if (s->colours)
		use_default_colors();
	for (short i = 0; i < NR_LOOKS; i++) {
		s->looks[i] = s->colours ? rows[i].coloured : rows[i].plain;
		if (!s->colours || rows[i].colour < 0)
			continue;
		init_pair((short)(i + 1), rows[i].colour, -1);
		s->looks[i] |= COLOR_PAIR(i + 1);
	}
}

static int start(struct screen *s, struct diag *d)
{
	/* Only the character set: numbers are written as everywhere. */
	setlocale(LC_CTYPE, "");
	s->canvas.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	/* Otherwise ncurses and we would disagree on the width of names */
	s->terminal = newterm(NULL, s->out, s->in);
	if (!s->terminal) {
		diag_fail(
			d, -ENOTTY,
			"there is no terminal to draw on: the terminfo database has no TERM=%.64s",
			getenv("TERM"));
		return diag_advise(d, -ENOTTY,
				   "TERM=xterm-256color suits most terminals, and ncurses-term has "
				   "descriptions of more; TERMINFO names another database");
	}
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	leaveok(stdscr, TRUE);
	choose_looks(s);
	return 0;
}

int screen_open(struct view *v, const struct screen_owner *owner, struct diag *d,
		struct screen **ret)
{
	struct screen *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return diag_no_memory(d);
	*s = (struct screen){ .view = v, .owner = *owner, .paper = -1, .signals = -1, .old = true };
	err = screen_check(d);
	if (!err)
		err = open_keys(s, d);
	if (!err)
		err = open_output(s, d);
	if (!err)
		err = open_signals(s, d);
	if (!err)
		err = start(s, d);
	if (err) {
		screen_close(s);
		return err;
	}
	*ret = s;
	return 0;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	if (s->terminal) {
		endwin();
		delscreen(s->terminal);
	}
	if (s->in)
		fclose(s->in);
	if (s->out)
		fclose(s->out);
	if (s->paper >= 0)
		close(s->paper);
	free(s->picture);
	if (s->signals >= 0)
		close(s->signals);
	canvas_free(&s->canvas);
	free(s);
}

/* --- keys */

static void tell_gone(struct screen *s)
{
	if (!s->gone)
		s->owner.gone(s->owner.arg);
	s->gone = true;
}

static uint32_t function_key(wint_t key)
{
	static const struct {
		wint_t curses;
		uint32_t ours;
	} keys[] = {
		{ KEY_UP, KEYS_ARROW_UP },     { KEY_DOWN, KEYS_ARROW_DOWN },
		{ KEY_LEFT, KEYS_ARROW_LEFT }, { KEY_RIGHT, KEYS_ARROW_RIGHT },
		{ KEY_PPAGE, KEYS_PAGE_UP },   { KEY_NPAGE, KEYS_PAGE_DOWN },
		{ KEY_HOME, KEYS_FIRST },      { KEY_END, KEYS_LAST },
		{ KEY_BTAB, KEYS_BACK_TAB },   { KEY_BACKSPACE, KEYS_ERASE },
		{ KEY_ENTER, KEYS_RETURN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].curses == key)
			return keys[i].ours;
	for (uint32_t i = 1; i <= 12; i++)
		if (key == (wint_t)KEY_F(i))
			return KEYS_FUNCTION + i;
	return 0;
}

/* The shell gets the terminal until it puts us into the foreground again. */
static void suspend(struct screen *s)
{
	endwin();
	raise(SIGTSTP);
	clearok(stdscr, TRUE);
	refresh();
	screen_old(s);
}

static int press(struct screen *s, uint32_t key, struct diag *d)
{
	enum keys_wish wish;

	screen_old(s);
	if (key == KEY_CTRL_Z) {
		suspend(s);
		return 0;
	}
	if (key == KEY_CTRL_L) {
		clearok(stdscr, TRUE);
		return 0;
	}
	/* Keys that arrive together: each one acts on the result of the one before. */
	if (view_update(s->view))
		return diag_no_memory(d);
	wish = keys_press(s->view, key);
	return wish == KEYS_NOTHING ? 0 : s->owner.wish(s->owner.arg, wish, d);
}

static bool has_hung_up(const struct screen *s)
{
	struct pollfd p = { .fd = fileno(s->in), .events = POLLIN };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL);
}

static int on_keys(void *arg, struct diag *d)
{
	struct screen *s = arg;
	int err = 0, kind;
	wint_t key;

	while (!err && !s->gone && (kind = get_wch(&key)) != ERR) {
		uint32_t code = kind == KEY_CODE_YES ? function_key(key) : (uint32_t)key;

		if (code)
			err = press(s, code, d);
	}
	if (!err && has_hung_up(s))
		tell_gone(s);
	return err;
}

static int keys_fd(void *arg)
{
	const struct screen *s = arg;

	return s->gone ? -1 : fileno(s->in);
}

/* --- signals */

static void resize(struct screen *s)
{
	struct winsize w;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_row || !w.ws_col)
		return;
	resizeterm(w.ws_row, w.ws_col);
	clearok(stdscr, TRUE);
	screen_old(s);
}

static int on_signals(void *arg, struct diag *d)
{
	struct screen *s = arg;
	struct signalfd_siginfo si;

	(void)d;
	while (read(s->signals, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGHUP)
			tell_gone(s);
		else
			resize(s);
	}
	return 0;
}

static int signals_fd(void *arg)
{
	const struct screen *s = arg;

	return s->signals;
}

/* --- pictures */

void screen_old(struct screen *s)
{
	s->old = true;
}

static void put_cell(const struct screen *s, size_t row, size_t column)
{
	enum canvas_look kind;
	wchar_t text[2] = { (wchar_t)canvas_shown(&s->canvas, row, column, &kind), 0 };
	chtype look = s->looks[kind];
	cchar_t cell;

	if (!text[0])
		return;
	setcchar(&cell, text, look & ~A_COLOR, (short)PAIR_NUMBER(look), NULL);
	mvadd_wch((int)row, (int)column, &cell);
}

static void write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t n = write(fd, text, length);

		if (n > 0) {
			text += n;
			length -= n;
		} else if (n < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
		} else if (n < 0 && errno != EINTR) {
			return; /* it is gone, which reading from it tells */
		}
	}
}

/* Copy a picture of ncurses from @paper to the terminal. */
static void send_picture(struct screen *s)
{
	off_t length = lseek(s->paper, 0, SEEK_CUR);

	if (length > 0 && (size_t)length > s->cap) {
		free(s->picture);
		s->picture = malloc(length);
		s->cap = s->picture ? length : 0;
	}
	if (length > 0 && s->picture && pread(s->paper, s->picture, length, 0) == length)
		write_all(STDOUT_FILENO, s->picture, length);
	else if (length)
		clearok(curscr, TRUE); /* redraw the next one completely */
	lseek(s->paper, 0, SEEK_SET);
}

/*
 * ncurses writes after each cursor movement, past its stream's buffer: some hundred times a
 * picture, and a terminal at the other end of a network shows it in pieces. Size and modes of the
 * terminal are queried and set at other times.
 */
static void show(struct screen *s)
{
	int fd = fileno(s->out);

	if (s->paper < 0 || dup3(s->paper, fd, O_CLOEXEC) < 0) {
		refresh();
		return;
	}
	refresh();
	dup3(STDOUT_FILENO, fd, O_CLOEXEC);
	send_picture(s);
}

static int draw(struct screen *s, struct diag *d)
{
	int rows, columns, err;

	getmaxyx(stdscr, rows, columns);
	err = canvas_resize(&s->canvas, (size_t)(rows < MAX_ROWS ? rows : MAX_ROWS),
			    (size_t)(columns < MAX_COLUMNS ? columns : MAX_COLUMNS));
	if (!err)
		err = draw_view(s->view, &s->canvas);
	if (err)
		return diag_no_memory(d);
	erase();
	for (size_t row = 0; row < s->canvas.rows; row++)
		for (size_t column = 0; column < s->canvas.columns; column++)
			put_cell(s, row, column);
	show(s);
	s->old = false;
	s->drawn_ns = monotonic_ns();
	return 0;
}

static uint64_t picture_ns(void *arg)
{
	const struct screen *s = arg;

	return s->old && !s->gone ? s->drawn_ns + PICTURE_NS : UINT64_MAX;
}

static int on_picture(void *arg, struct diag *d)
{
	return draw(arg, d);
}

int screen_look(struct screen *s, struct diag *d)
{
	int err = on_signals(s, d);

	if (!err && !s->gone)
		err = on_keys(s, d);
	return !err && picture_ns(s) <= monotonic_ns() ? draw(s, d) : err;
}

int screen_add(struct screen *s, struct loop *l, struct diag *d)
{
	static const struct loop_source keys = { .fd = keys_fd, .run = on_keys };
	static const struct loop_source signals = { .fd = signals_fd, .run = on_signals };
	static const struct loop_source picture = { .when = picture_ns, .run = on_picture };
	int err = loop_add(l, &keys, s, d);

	if (!err)
		err = loop_add(l, &signals, s, d);
	return err ? err : loop_add(l, &picture, s, d);
}
