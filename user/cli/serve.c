// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace serve: accounts of jobs, for months. One thread, the loop of all commands. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/text.h"
#include "base/times.h"
#include "cli/commands.h"
#include "live/run/live.h"
#include "cli/settings.h"
#include "cli/settings_check.h"
#include "daemon/serve_keeper.h"
#include "daemon/serve_log.h"
#include "daemon/serve_pages.h"
#include "live/run/signals.h"
#include "daemon/http.h"
#include "platform/pmu/platform_file.h"
#include "platform/sys/activation.h"
#include "platform/sys/notify.h"
#include "platform/sys/privileges.h"
#include "version.h"

/* The ring is emptied at this interval; a ring that fills faster wakes us. */
#define DRAIN_NS    (100 * NS_PER_MS)
/* The begin or end of a job closes the interval, but not more often than this. */
#define CLOSE_NS    (200 * NS_PER_MS)
/*
 * The first interval is short: existing jobs already have a row in it, so that a job that begins
 * later is not taken for one of them.
 */
#define FIRST_NS    (20 * NS_PER_MS)
/*
 * Free memory in the middle of the heap goes back to the kernel this often: accounts of short jobs
 * lie between those of long ones.
 */
#define TRIM_NS	    (10 * NS_PER_S)
/* Closing reports may hold up the rest of the loop for this long at once, */
#define REPORTS_NS  (20 * NS_PER_MS)
/* and the end for this long: the rest is written after the next start. */
#define FAREWELL_NS (10 * NS_PER_S)

/**
 * struct serve - the daemon
 * @given: the command line
 * @settings: in use; the live run points to them
 * @config: of these, the ones that do not affect the run
 * @closed_ns, @next_ns, @drain_ns, @watchdog_ns, @trim_ns: when the last interval was closed, and
 *	when each task is due (CLOCK_MONOTONIC)
 * @changed: begins and ends of jobs in closed intervals
 * @ready: the first interval was closed
 * @more: closing reports wait, and can be written
 * @loop: SIGTERM and SIGINT end it
 */
struct serve {
	const struct options *given;
	struct settings settings;
	struct serve_config *config;
	struct live *live;
	struct serve_keeper keeper;
	struct serve_pages pages;
	struct http *http;
	struct notify notify;
	int signals;
	uint64_t closed_ns;
	uint64_t next_ns;
	uint64_t drain_ns;
	uint64_t watchdog_ns;
	uint64_t trim_ns;
	uint64_t changed;
	bool ready;
	bool more;
	struct loop loop;
};

static void bpf_log(const char *text)
{
	serve_log(LOG_INFO, "%s", text);
}

/* --- start */

/* Addresses of the settings, and sockets of the service manager. */
static int open_http(struct serve *s, struct diag *d)
{
	int nr = activation_take();
	int err = http_open(s->config->listen, serve_pages_get, &s->pages, d, &s->http);

	for (int i = 0; !err && i < nr; i++)
		err = http_take(s->http, ACTIVATION_FIRST_FD + i, d);
	if (!err)
		http_hosts(s->http, s->config->hosts);
	return err;
}

static int open_live(struct serve *s, struct diag *d)
{
	const struct run_options *r = &s->settings.values.run;
	int err = live_open(r, NULL, s->given->run.output.verbose ? bpf_log : NULL, d, &s->live);

	if (err == -ENODEV && !r->no_counters)
		str_append(d->help, sizeof(d->help),
			   " With counters = no there are accounts of CPU time and requests.");
	return err;
}

/*
 * Files and addresses first, so that their errors show at once. The live run is last, so that its
 * first interval has no unobserved time.
 */
static int open_all(struct serve *s, struct diag *d)
{
	const char *rows = s->settings.values.machine.platform;
	int err = rows ? platform_file_use(rows, d) : 0;

	if (!err)
		err = signals_open(HANGUP_RELOADS, d, NULL, &s->signals);
	if (!err)
		err = privileges_keep(false, d);
	if (!err)
		err = serve_keeper_open(&s->keeper, s->config, d);
	if (!err)
		err = open_http(s, d);
	if (!err)
		err = open_live(s, d);
	if (!err)
		err = privileges_keep(true, d);
	if (!err)
		s->keeper.host = *live_host(s->live);
	return err;
}

static void warn_names(const struct serve *s)
{
	if (s->config->names && http_is_open(s->http))
		serve_log(
			LOG_WARNING,
			"names = yes, listen = %s: whoever reaches this machine can read names of "
			"jobs and users",
			s->config->listen);
}

static const char *spool_of(const struct serve *s)
{
	return s->config->spool[0] ? s->config->spool : "no spool";
}

static void say_ready(const struct serve *s)
{
	char text[512], address[512], privileges[160];
	const char *note;

	for (size_t i = 0; (note = live_note(s->live, i)); i++)
		serve_log(LOG_NOTICE, "%s", note);
	str_copy(text, sizeof(text),
		 s->settings.values.run.sources.nr
			 ? "no counters but those of sources"
			 : "no counters: accounts have CPU time and requests of devices only");
	if (!s->settings.values.run.no_counters)
		live_describe_counters(s->live, text, sizeof(text));
	serve_log(LOG_INFO, "%s", text);
	for (size_t i = 1; live_describe_line(s->live, i, text, sizeof(text)); i++)
		serve_log(LOG_INFO, "%s", text);
	warn_names(s);
	http_describe(s->http, address, sizeof(address));
	privileges_text(privileges, sizeof(privileges));
	serve_log(LOG_NOTICE,
		  "version " T410TRACE_VERSION
		  " is ready: intervals of %g s, accounts in %s, reports in %s, %s, with %s",
		  s->config->interval_ns / 1e9, s->config->state, spool_of(s), address, privileges);
	notify_send(&s->notify, "READY=1\nSTATUS=Ready at %s", address);
}

/* --- intervals */

static void say_status(const struct serve *s)
{
	const struct serve_keeper *k = &s->keeper;
	const struct serve_trouble *of[] = { &k->counters_trouble, &k->store_trouble,
					     serve_keeper_spool(k), &k->clock_trouble };
	const char *trouble = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(of) && !trouble; i++)
		trouble = of[i]->now ? of[i]->why : NULL;

	notify_send(&s->notify,
		    "STATUS=%zu jobs, %" PRIu64 " closing reports written, %" PRIu64
		    " waiting%s%.200s",
		    accounts_nr_running(k->accounts), k->reported, k->unreported,
		    trouble ? "; " : "", trouble ? trouble : "");
}

static int close_interval(struct serve *s, bool last, struct diag *d)
{
	uint64_t start = monotonic_ns(), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct report *r;
	int err;

	s->changed = live_jobs_changed(s->live, s->config->schedulers);
	err = live_report(s->live, last, d, &r);
	if (err)
		return err;
	r->sequence = s->keeper.intervals;
	err = serve_keeper_interval(&s->keeper, s->config, r, d);
	s->closed_ns = monotonic_ns();
	s->keeper.cost_ns = s->closed_ns - start;
	s->keeper.cost_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	s->more = s->keeper.unreported;
	if (s->closed_ns >= s->trim_ns) {
		malloc_trim(0);
		s->trim_ns = s->closed_ns + TRIM_NS;
	}
	return err;
}

/* Is it time? Begins and ends of jobs that come together share an interval. */
static uint64_t close_ns(void *arg)
{
	const struct serve *s = arg;
	bool changed = live_jobs_changed(s->live, s->config->schedulers) != s->changed;
	uint64_t soonest = s->closed_ns + CLOSE_NS;

	if (!s->ready)
		return s->next_ns;
	if (changed || s->next_ns < soonest)
		return soonest;
	return s->next_ns;
}

static int on_close(void *arg, struct diag *d)
{
	struct serve *s = arg;
	uint64_t now = monotonic_ns();
	int err;

	/* If we are late, do not make up for it with short intervals. */
	while (s->next_ns <= now)
		s->next_ns += s->config->interval_ns;
	err = close_interval(s, false, d);
	if (err)
		return err;
	if (!s->ready) {
		s->ready = true;
		say_ready(s);
	} else {
		say_status(s);
	}
	return 0;
}

/* --- SIGHUP */

/* Steps that can fail come first, so that all settings change or none. */
static int change(struct serve *s, const struct settings *to, bool *ret_restart, struct diag *d)
{
	const struct serve_config *next = &to->values.serve;
	struct spool spool = { .folder = -1 };
	bool other = strcmp(s->config->spool, next->spool) != 0;
	char fixed[256];
	int err = 0;

	if (other)
		err = spool_open(next->spool, next->spool_max_files, next->spool_max_bytes, d,
				 &spool);
	if (!err)
		err = http_listen(s->http, next->listen, d);
	if (err) {
		spool_close(&spool);
		return err;
	}
	serve_keeper_change(&s->keeper, next, other ? &spool : NULL);
	http_hosts(s->http, next->hosts);
	if (next->interval_ns != s->config->interval_ns)
		s->next_ns = s->closed_ns + next->interval_ns;
	settings_fixed(&s->settings, to, fixed, sizeof(fixed));
	settings_take(&s->settings, to);
	s->more = s->keeper.unreported;
	*ret_restart = fixed[0];
	if (fixed[0])
		serve_log(LOG_WARNING, "changed, but only a restart makes it so: %s", fixed);
	return 0;
}

static void reload(struct serve *s)
{
	struct settings next;
	struct diag d = { 0 };
	bool restart = false;
	int err;

	notify_send(&s->notify, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, monotonic_ns() / 1000);
	err = settings_read(s->given, &d, &next);
	if (!err)
		err = change(s, &next, &restart, &d);
	serve_pages_reloaded(&s->pages, err, restart);
	settings_free(&next);
	if (err) {
		serve_log_diag(LOG_ERR, "the settings stay as they were: ", &d);
	} else {
		char address[512];

		warn_names(s);
		http_describe(s->http, address, sizeof(address));
		serve_log(LOG_NOTICE, "settings read again: intervals of %g s, reports in %s, %s",
			  s->config->interval_ns / 1e9, spool_of(s), address);
	}
	notify_send(&s->notify, "READY=1");
}

/* --- the loop */

static int records_fd(void *arg)
{
	const struct serve *s = arg;

	return live_fd(s->live);
}

static uint64_t drain_ns(void *arg)
{
	const struct serve *s = arg;

	return earlier(s->drain_ns, live_next_ns(s->live));
}

/* Then the news and trouble of counters. */
static int drain(void *arg, struct diag *d)
{
	struct serve *s = arg;
	int err = live_drain(s->live, d);
	char news[LIVE_WATCH_NEWS_LEN], why[256];

	s->drain_ns = monotonic_ns() + DRAIN_NS;
	while (live_news(s->live, news))
		serve_log(LOG_WARNING, "%s", news);
	serve_keeper_counters(&s->keeper, live_trouble(s->live, why, sizeof(why)) ? why : NULL);
	return err;
}

static uint64_t reports_ns(void *arg)
{
	const struct serve *s = arg;

	return s->more ? 0 : UINT64_MAX;
}

static int write_reports(void *arg, struct diag *d)
{
	struct serve *s = arg;

	(void)d;
	s->more = serve_keeper_reports(&s->keeper, monotonic_ns() + REPORTS_NS);
	return 0;
}

static int pages_fd(void *arg)
{
	const struct serve *s = arg;

	return http_fd(s->http);
}

static uint64_t pages_ns(void *arg)
{
	const struct serve *s = arg;
	int ms = http_timeout_ms(s->http);

	return ms < 0 ? UINT64_MAX : monotonic_ns() + ms * NS_PER_MS;
}

static int hand_out_pages(void *arg, struct diag *d)
{
	struct serve *s = arg;

	(void)d;
	http_run(s->http);
	return 0;
}

static int signals_fd(void *arg)
{
	const struct serve *s = arg;

	return s->signals;
}

static int on_signal(void *arg, struct diag *d)
{
	struct serve *s = arg;
	int sig;

	(void)d;
	while ((sig = signals_take(s->signals))) {
		if (sig == SIGHUP)
			reload(s);
		else
			loop_end(&s->loop);
	}
	return 0;
}

static uint64_t watchdog_ns(void *arg)
{
	const struct serve *s = arg;

	return s->watchdog_ns;
}

static int watchdog(void *arg, struct diag *d)
{
	struct serve *s = arg;

	(void)d;
	notify_send(&s->notify, "WATCHDOG=1");
	s->watchdog_ns = monotonic_ns() + s->notify.watchdog_ns;
	return 0;
}

/* In this order: an interval includes earlier records, and its reports do not wait for pages. */
static const struct loop_source sources[] = {
	{ .fd = records_fd, .when = drain_ns, .run = drain },
	{ .when = close_ns, .run = on_close },
	{ .when = reports_ns, .run = write_reports },
	{ .fd = pages_fd, .when = pages_ns, .run = hand_out_pages },
	{ .fd = signals_fd, .run = on_signal },
	{ .when = watchdog_ns, .run = watchdog },
};

/* Jobs that the store did not take are lost when we exit. */
static void say_lost(const struct accounts *a)
{
	size_t over = accounts_nr(a) - accounts_nr_running(a);

	if (over)
		serve_log(LOG_ERR,
			  "%zu job%s over and could not be saved: no closing report, or one with "
			  "state stale after the next start",
			  over, over == 1 ? " is" : "s are");
}

/* Close and keep everything so far. Jobs go on: the next start notes a pause. */
static int farewell(struct serve *s, struct diag *d)
{
	int err;

	notify_send(&s->notify, "STOPPING=1\nSTATUS=Keeping the last interval");
	err = close_interval(s, true, d);
	if (err)
		return err;
	if (s->more)
		serve_keeper_reports(&s->keeper, monotonic_ns() + FAREWELL_NS);
	serve_log(LOG_NOTICE,
		  "ended as asked: %" PRIu64 " intervals, %" PRIu64
		  " closing reports written, %" PRIu64 " waiting, %zu jobs go on",
		  s->keeper.intervals, s->keeper.reported, s->keeper.unreported,
		  accounts_nr_running(s->keeper.accounts));
	say_lost(s->keeper.accounts);
	return 0;
}

static int run(struct serve *s, struct diag *d)
{
	int err = 0;

	s->closed_ns = s->pages.started_ns = monotonic_ns();
	s->pages.start_ns = clock_ns(CLOCK_REALTIME);
	s->next_ns = s->closed_ns + FIRST_NS;
	s->watchdog_ns = s->notify.watchdog_ns == UINT64_MAX ? UINT64_MAX : 0;
	s->changed = live_jobs_changed(s->live, s->config->schedulers);
	for (size_t i = 0; !err && i < ARRAY_SIZE(sources); i++)
		err = loop_add(&s->loop, &sources[i], s, d);
	if (!err)
		err = loop_run(&s->loop, d);
	return err ? err : farewell(s, d);
}

static void close_all(struct serve *s)
{
	http_close(s->http);
	serve_pages_release(&s->pages);
	/* Before the live run: the last report points into it. */
	serve_keeper_close(&s->keeper);
	live_free(s->live);
	notify_close(&s->notify);
	loop_free(&s->loop);
	if (s->signals >= 0)
		close(s->signals);
}

static void tell_problem(const struct diag *d)
{
	serve_log_diag(LOG_ERR, "", d);
}

static int check_only(const struct options *given, const struct settings *settings)
{
	const char *file = settings_file(given);

	if (settings_check(settings, tell_problem))
		return EXIT_USAGE;
	printf("%s: the settings are right\n", access(file, F_OK) ? "no file, defaults" : file);
	return EXIT_OK_;
}

static int keep(struct serve *s, struct diag *d)
{
	int err, status;

	s->keeper.verbose = s->given->run.output.verbose;
	s->pages = (struct serve_pages){ .keeper = &s->keeper, .config = s->config };
	notify_open(&s->notify);
	err = open_all(s, d);
	if (!err)
		err = run(s, d);
	if (err)
		serve_log_diag(LOG_ERR, "", d);
	status = err ? exit_of(err) : s->keeper.store_trouble.now ? EXIT_INCOMPLETE : EXIT_OK_;
	close_all(s);
	return status;
}

static int serve(struct options *o)
{
	struct serve s = { .given = o, .signals = -1, .keeper = SERVE_KEEPER_INIT };
	struct diag d = { 0 };
	int status = EXIT_USAGE;

	s.config = &s.settings.values.serve;
	if (settings_read(o, &d, &s.settings))
		serve_log_diag(LOG_ERR, "", &d);
	else
		status = o->check_config ? check_only(o, &s.settings) : keep(&s, &d);
	settings_free(&s.settings);
	return status;
}

const struct command command_serve = {
	.name = "serve",
	.brief = "keep accounts of jobs: reports, totals, metrics",
	.doc = "Keep accounts of jobs, for months: a closing report of each job into a folder, "
	       "totals that survive restarts, and metrics for Prometheus.",
	.more = "It stays in the foreground, for a service manager. SIGTERM and SIGINT end it, "
		"SIGHUP reads the settings again.",
	.bit = FOR_SERVE,
	.statuses = 1u << EXIT_INCOMPLETE,
	.incomplete = "ended as asked, but the last accounts could not be saved",
	.run = serve,
};
