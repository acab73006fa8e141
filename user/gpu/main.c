// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * t410trace-gpu: which processes use which GPU, as lines of t410trace.source/1. It is a program of
 * its own, because the driver's library can be loaded by a dynamic program alone, may hang, and
 * needs devices that the daemon does not have.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "gpu/check.h"
#include "gpu/fdinfo.h"
#include "gpu/nvml.h"
#include "gpu/readers.h"
#include "version.h"

/* The driver's counters need samples more than a tenth of a second apart. */
#define SHORTEST_NS (NS_PER_S / 5)
#define NS_PER_HOUR (3600 * NS_PER_S)

/* Exit statuses; SIGTERM ends the program as it ends all others. */
enum {
	DONE = 0,
	FAILED = 1,
	USAGE = 2,
	NOTHING = 3,
};

static const char help[] =
	"Usage: t410trace-gpu [OPTION]...\n"
	"Print which processes have contexts on the GPUs of this machine, how long each was\n"
	"busy there, and bytes that GPUs count at their links, as lines of t410trace.source/1\n"
	"(docs/SOURCES.md). GPUs are those of NVML (libnvidia-ml.so.1) and of the drivers\n"
	"amdgpu, i915 and xe.\n"
	"\n"
	"  --every TIME   time between two looks, 200ms to 1h (default: 1s)\n"
	"  --once         end after two looks\n"
	"  --socket PATH  print to all that connect to this Unix socket, and look only then\n"
	"  --check        say what there is and what lacks, for t410trace check\n"
	"  --away TIME    after SIGUSR1, let the driver of NVML go for so long (default: 60s)\n"
	"  --proc DIR     processes (default: /proc)\n"
	"  --sysfs DIR    PCI devices (default: /sys)\n"
	"  --help         this text\n"
	"  --version      version and commit\n"
	"\n"
	"SIGUSR1 lets the driver go, for a reset or a change of MIG; SIGUSR2 takes it again.\n"
	"\n"
	"Exit status: 0 done or help, 1 failed, 2 wrong arguments, 3 there is no GPU.\n";

struct settings {
	uint64_t every_ns;
	uint64_t away_ns;
	const char *proc;
	const char *sysfs;
	const char *socket;
	bool once;
	bool check;
};

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, struct settings *s)
{
	enum { EVERY = 1, ONCE, AWAY, SOCKET, CHECK, PROC, SYSFS, HELP, VERSION };
	static const struct option options[] = {
		{ "every", required_argument, NULL, EVERY },
		{ "once", no_argument, NULL, ONCE },
		{ "away", required_argument, NULL, AWAY },
		{ "socket", required_argument, NULL, SOCKET },
		{ "check", no_argument, NULL, CHECK },
		{ "proc", required_argument, NULL, PROC },
		{ "sysfs", required_argument, NULL, SYSFS },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	uint64_t *time;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case EVERY:
		case AWAY:
			time = c == EVERY ? &s->every_ns : &s->away_ns;
			if (!parse_time(optarg, "s", time) && *time >= SHORTEST_NS &&
			    *time <= NS_PER_HOUR)
				break;
			say("\"%s\" is no time from 200ms to 1h", optarg);
			return USAGE;
		case ONCE:
			s->once = true;
			break;
		case SOCKET:
			s->socket = optarg;
			break;
		case CHECK:
			s->check = true;
			break;
		case PROC:
			s->proc = optarg;
			break;
		case SYSFS:
			s->sysfs = optarg;
			break;
		case HELP:
			fputs(help, stdout);
			return DONE;
		case VERSION:
			puts("t410trace-gpu " T410TRACE_VERSION " (" T410TRACE_COMMIT ")");
			return DONE;
		default:
			return USAGE;
		}
	}
	if (optind == argc)
		return -1;
	say("\"%s\": there are only options, see --help", argv[optind]);
	return USAGE;
}

/* Whose numbers are those of the driver's lists? Outside of the machine's own namespace: unknown. */
static bool sees_all(const struct processes *p)
{
	if (!processes_initial(p))
		say("this is a pid namespace of a container: which processes a driver means is not "
		    "known, and no contexts are");
	else if (processes_hidden(p))
		say("/proc hides processes of others (hidepid): no contexts are known; this needs "
		    "CAP_SYS_PTRACE");
	else
		return true;
	return false;
}

/**
 * struct output - what the program does from one look to the next
 * @readers: with --socket
 * @text, @size: the header, and then the lines of a look, for them
 * @out: where lines go
 * @signals: SIGUSR1 and SIGUSR2
 * @away_ns: until then the driver is let go
 */
struct output {
	const struct settings *s;
	struct nvml *n;
	struct readers readers;
	char *text;
	size_t size;
	FILE *out;
	int signals;
	uint64_t away_ns;
};

static void take_signal(struct output *o)
{
	struct signalfd_siginfo news;
	uint64_t now_ns = monotonic_ns();

	if (read(o->signals, &news, sizeof(news)) != sizeof(news) || !o->n)
		return;
	o->away_ns = news.ssi_signo == SIGUSR1 ? now_ns + o->s->away_ns : 0;
	if (o->away_ns)
		nvml_release(o->n, o->away_ns);
	else
		nvml_retake(o->n);
}

/* Without readers there is no end: nobody needs a look. */
static void pause_until(struct output *o, uint64_t end_ns)
{
	struct pollfd fds[READERS_MAX + 2] = { { .fd = o->signals, .events = POLLIN } };
	uint64_t now_ns = monotonic_ns();
	bool idle = o->s->socket && !o->readers.nr;

	/* An open driver keeps GPUs awake. */
	if (idle && o->n)
		nvml_release(o->n, o->away_ns);
	while (idle || now_ns < end_ns) {
		struct timespec left = { 0 };
		size_t nr = 1;

		if (!idle)
			left = (struct timespec){ (time_t)((end_ns - now_ns) / NS_PER_S),
						  (long)((end_ns - now_ns) % NS_PER_S) };
		if (o->s->socket)
			nr += readers_poll(&o->readers, fds + 1);
		if (ppoll(fds, nr, idle ? NULL : &left, NULL) > 0 && fds[0].revents)
			take_signal(o);
		now_ns = monotonic_ns();
		if (o->s->socket)
			readers_step(&o->readers, now_ns);
		if (idle && o->readers.nr)
			return;
	}
}

static int open_output(struct output *o, const struct gpu_list *l, const sigset_t *signals)
{
	const struct settings *s = o->s;
	int err;

	o->signals = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	o->out = s->socket ? open_memstream(&o->text, &o->size) : stdout;
	if (o->signals < 0 || !o->out)
		return -errno;
	lines_header(o->out, l, s->every_ns / 1000000 * 1000000);
	if (!s->socket)
		return 0;
	fflush(o->out);
	o->readers.header = strdup(o->text);
	err = o->readers.header ? readers_open(&o->readers, s->socket) : -ENOMEM;
	if (err)
		say("--socket %s: %s", s->socket, strerror(-err));
	return err;
}

/* Lines of a look, to their readers. */
static int put_lines(struct output *o, struct gpu_list *l)
{
	if (o->s->socket)
		rewind(o->out);
	lines_look(o->out, l, monotonic_ns());
	if (fflush(o->out)) {
		say("cannot write: %s", strerror(errno));
		return -EIO;
	}
	if (o->s->socket)
		readers_send(&o->readers, o->text, o->size, monotonic_ns());
	return 0;
}

/* Looks until the end; the status. */
static int look(struct output *o, struct processes *p, struct gpu_list *l, struct fdinfo *f)
{
	const struct settings *s = o->s;
	bool known = sees_all(p);
	uint64_t next_ns = monotonic_ns();
	int err = 0;

	for (unsigned int looks = 1; !err; looks++) {
		if (s->socket && !o->readers.nr) {
			pause_until(o, 0);
			next_ns = monotonic_ns();
		}
		processes_look(p);
		if (o->n)
			nvml_look(o->n);
		if (f)
			err = fdinfo_look(f, s->once);
		for (size_t i = 0; i < l->nr; i++)
			l->items[i].known &= known;
		if (put_lines(o, l))
			return FAILED;
		/* The second one says who was busy since the first. */
		if (s->once && looks == 2)
			return DONE;
		next_ns += s->every_ns;
		/* Looks that were missed are not made up for. */
		if (next_ns < monotonic_ns())
			next_ns = monotonic_ns();
		pause_until(o, next_ns);
	}
	return FAILED;
}

static int run(const struct settings *s, struct processes *p, struct gpu_list *l, struct nvml *n,
	       struct fdinfo *f, const sigset_t *signals)
{
	struct output o = { .s = s, .n = n, .signals = -1 };
	int status = open_output(&o, l, signals) ? FAILED : look(&o, p, l, f);

	if (s->socket && o.out)
		fclose(o.out);
	free(o.text);
	free(o.readers.header);
	if (o.signals >= 0)
		close(o.signals);
	return status;
}

int main(int argc, char **argv)
{
	struct settings s = {
		.every_ns = NS_PER_S, .away_ns = 60 * NS_PER_S, .proc = "/proc", .sysfs = "/sys"
	};
	struct gpu_list list = { 0 };
	struct processes processes;
	struct fdinfo *f = NULL;
	struct nvml *n = NULL;
	sigset_t signals;
	int err, other_err = 0, status = parse(argc, argv, &s);

	if (status >= 0)
		return status;
	/* Outside of a pause they wait for the next one. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	err = processes_open(&processes, s.proc);
	if (err) {
		say("%s: %s", s.proc, strerror(-err));
		return FAILED;
	}
	err = nvml_open(&processes, &list, &n);
	/* One driver's fault, which has been said, is none of the GPUs of others. */
	if (err != -ENOMEM)
		other_err = fdinfo_open(&processes, s.sysfs, &list, &f);
	if (other_err || f)
		err = other_err;
	if (s.check) {
		check_all(&processes, s.sysfs, n, f);
		nvml_close(n);
		fdinfo_close(f);
		free(list.items);
		return DONE;
	}
	if (!err && !list.nr)
		say("there is no GPU of a driver that is known: NVML, amdgpu, i915 or xe");
	if (err == -ENOMEM)
		say("no memory");
	status = err ? FAILED : !list.nr ? NOTHING : run(&s, &processes, &list, n, f, &signals);
	nvml_close(n);
	fdinfo_close(f);
	free(list.items);
	return status;
}
