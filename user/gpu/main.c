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

#include "base/clock.h"
#include "base/units.h"
#include "gpu/fdinfo.h"
#include "gpu/nvml.h"

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
	"  --away TIME    after SIGUSR1, let the driver of NVML go for so long (default: 60s)\n"
	"  --proc DIR     processes (default: /proc)\n"
	"  --sysfs DIR    PCI devices (default: /sys)\n"
	"  --help         this text\n"
	"\n"
	"SIGUSR1 lets the driver go, for a reset or a change of MIG; SIGUSR2 takes it again.\n"
	"\n"
	"Exit status: 0 done or help, 1 failed, 2 wrong arguments, 3 there is no GPU.\n";

struct settings {
	uint64_t every_ns;
	uint64_t away_ns;
	const char *proc;
	const char *sysfs;
	bool once;
};

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, struct settings *s)
{
	enum { EVERY = 1, ONCE, AWAY, PROC, SYSFS, HELP };
	static const struct option options[] = {
		{ "every", required_argument, NULL, EVERY },
		{ "once", no_argument, NULL, ONCE },
		{ "away", required_argument, NULL, AWAY },
		{ "proc", required_argument, NULL, PROC },
		{ "sysfs", required_argument, NULL, SYSFS },
		{ "help", no_argument, NULL, HELP },
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
		case PROC:
			s->proc = optarg;
			break;
		case SYSFS:
			s->sysfs = optarg;
			break;
		case HELP:
			fputs(help, stdout);
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
	if (processes_initial(p))
		return true;
	say("this is a pid namespace of a container: which processes a driver means is not known, "
	    "and no contexts are");
	return false;
}

static void pause_until(uint64_t end_ns, const struct settings *s, struct nvml *n)
{
	uint64_t now_ns = monotonic_ns();
	struct timespec left;
	sigset_t signals;
	int got = 0;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	while (got >= 0 || errno == EINTR) {
		left = (struct timespec){ 0 };
		if (now_ns < end_ns) {
			left.tv_sec = (end_ns - now_ns) / NS_PER_S;
			left.tv_nsec = (end_ns - now_ns) % NS_PER_S;
		}
		got = sigtimedwait(&signals, NULL, &left);
		now_ns = monotonic_ns();
		if (n && got == SIGUSR1)
			nvml_release(n, now_ns + s->away_ns);
		if (n && got == SIGUSR2)
			nvml_retake(n);
	}
}

static int run(const struct settings *s, struct processes *p, struct gpu_list *l, struct nvml *n,
	       struct fdinfo *f)
{
	bool known = sees_all(p);
	uint64_t next_ns = monotonic_ns();
	int err = 0;

	lines_header(stdout, l, s->every_ns / 1000000 * 1000000);
	for (unsigned int looks = 1; !err; looks++) {
		processes_look(p);
		if (n)
			nvml_look(n);
		if (f)
			err = fdinfo_look(f, s->once);
		for (size_t i = 0; i < l->nr; i++)
			l->items[i].known &= known;
		lines_look(stdout, l, monotonic_ns());
		if (fflush(stdout)) {
			say("cannot write: %s", strerror(errno));
			return FAILED;
		}
		/* The second one says who was busy since the first. */
		if (s->once && looks == 2)
			return DONE;
		next_ns += s->every_ns;
		/* Looks that were missed are not made up for. */
		if (next_ns < monotonic_ns())
			next_ns = monotonic_ns();
		pause_until(next_ns, s, n);
	}
	return FAILED;
}

int main(int argc, char **argv)
{
	struct settings s = { NS_PER_S, 60 * NS_PER_S, "/proc", "/sys", false };
	struct gpu_list list = { 0 };
	struct processes processes;
	struct fdinfo *f = NULL;
	struct nvml *n = NULL;
	sigset_t signals;
	int err, status = parse(argc, argv, &s);

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
	if (!err)
		err = fdinfo_open(&processes, s.sysfs, &list, &f);
	if (!err && !list.nr)
		say("there is no GPU of a driver that is known: NVML, amdgpu, i915 or xe");
	if (err == -ENOMEM)
		say("no memory");
	status = err ? FAILED : !list.nr ? NOTHING : run(&s, &processes, &list, n, f);
	nvml_close(n);
	fdinfo_close(f);
	free(list.items);
	return status;
}
