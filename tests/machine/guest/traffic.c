// SPDX-License-Identifier: GPL-2.0-only
/*
 * traffic: a load whose traffic is known to the byte. It burns CPU time and, in
 * proportion to its own CPU time, tells the machine's traffic port how many bytes
 * it "moved". What a slot of the port stands for - CPU reads of local memory, a
 * device behind a root port, a link - is up to the scenario, so one program makes
 * every kind of traffic; with several slots it makes several kinds at once.
 *
 * When it ends it reports the truth, a JSON line for each thread and slot. Times
 * are CLOCK_MONOTONIC; cpu_ns is the thread's CPU time since start_ns, cpu_before_ns
 * that until then. With --rate, bytes is exactly cpu_ns * rate / 10^6, rounded down.
 * late_ns is the part of cpu_ns after which the store came too late: an emulated CPU
 * that waits for one of the host has its clocks run on, and no work gets done.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "load.h"
#include "port.h"

/* CPU time between two stores to the port, and between two looks at the clock */
#define STORE_NS    NS_PER_MS
#define LOOK_NS	    (NS_PER_MS / 20)
/* Work for STORE_NS that took longer had to wait */
#define LATE_NS	    (5 * NS_PER_MS)
#define MAX_SLOTS   16
#define MAX_THREADS 64

static struct {
	unsigned int slot[MAX_SLOTS];
	unsigned int nr_slots;
	unsigned int threads;
	int cpu; /* -1: any */
	uint64_t bytes_per_ms;
	uint64_t bytes_per_piece;
	struct span on;
	struct span off;
	uint64_t seed;
	uint64_t run_ns;
	const char *cgroup;
	const char *name;
	const char *report;
} options = { .threads = 1, .cpu = -1, .run_ns = NS_PER_S, .name = "traffic" };

/* What one thread did */
struct account {
	uint64_t start_ns;
	uint64_t cpu_start_ns;
	uint64_t cpu_ns;
	uint64_t late_ns;
	uint64_t bytes;
	uint64_t stores;
};

/* Where a thread is in its duty cycle */
struct duty {
	uint64_t start_ns; /* of the "on" part */
	uint64_t on_ns;	   /* its length */
	uint64_t random;   /* state of the generator */
};

static volatile uint64_t *port;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;

static volatile uint64_t *slot_register(unsigned int slot, unsigned int offset)
{
	return &port[(PORT_SLOTS + slot * PORT_SLOT_STRIDE + offset) / sizeof(*port)];
}

/*
 * Debian's kernel guards /dev/mem, but only memory and what a driver has claimed;
 * the port is neither, so no driver of our own is needed.
 */
static void map_port(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	unsigned int i;

	if (fd < 0)
		fail("/dev/mem");
	port = mmap(NULL, PORT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PORT_BASE);
	if (port == MAP_FAILED)
		fail("traffic port");
	close(fd);
	if (port[PORT_MAGIC / sizeof(*port)] != PORT_MAGIC_VALUE) {
		fprintf(stderr, "traffic: this machine has no traffic port\n");
		exit(1);
	}
	for (i = 0; i < options.nr_slots; i++) {
		if (options.slot[i] < port[PORT_NR_SLOTS / sizeof(*port)] &&
		    *slot_register(options.slot[i], PORT_SLOT_BOUND))
			continue;
		fprintf(stderr, "traffic: the scenario has no slot %u\n", options.slot[i]);
		exit(1);
	}
}

/* Work that no compiler removes and that touches no memory. */
static void burn(uint64_t rounds)
{
	uint64_t x = rounds;

	for (; rounds; rounds--) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		__asm__ volatile("" : "+r"(x));
	}
}

/* How many rounds take that much CPU time on this machine, now */
static uint64_t rounds_for(uint64_t ns)
{
	uint64_t rounds = 500, begin, used;

	do {
		rounds *= 2;
		begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
		burn(rounds);
		used = now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	} while (used < NS_PER_MS);
	return rounds * ns / used + 1;
}

static void emit(struct account *a, uint64_t bytes)
{
	unsigned int i;

	if (!bytes)
		return;
	for (i = 0; i < options.nr_slots; i++)
		*slot_register(options.slot[i], PORT_SLOT_ADD) = bytes;
	a->bytes += bytes;
	a->stores++;
}

/* Emit what the CPU time so far amounts to. 128 bits: a fast one needs them. */
static void settle(struct account *a)
{
	uint64_t cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - a->cpu_start_ns;

	if (cpu_ns - a->cpu_ns > LATE_NS)
		a->late_ns += cpu_ns - a->cpu_ns;
	a->cpu_ns = cpu_ns;
	if (options.bytes_per_ms)
		emit(a, (unsigned __int128)a->cpu_ns * options.bytes_per_ms / NS_PER_MS - a->bytes);
}

static void report(const struct account *a, uint64_t end_ns)
{
	char line[PATH_MAX + 512];
	unsigned int i;
	int fd, n;

	pthread_mutex_lock(&report_lock);
	fd = open_report(options.report);
	for (i = 0; i < options.nr_slots; i++) {
		n = snprintf(line, sizeof(line),
			     "{\"name\":\"%s\",\"pid\":%d,\"tid\":%ld,\"cgroup_id\":%llu,"
			     "\"cgroup\":\"%s\",\"slot\":%u,\"bytes\":%llu,\"writes\":%llu,"
			     "\"cpu_ns\":%llu,\"cpu_before_ns\":%llu,\"late_ns\":%llu,"
			     "\"start_ns\":%llu,\"end_ns\":%llu}\n",
			     options.name, getpid(), syscall(SYS_gettid), own_cgroup_id, own_cgroup,
			     options.slot[i], (unsigned long long)a->bytes,
			     (unsigned long long)a->stores, (unsigned long long)a->cpu_ns,
			     (unsigned long long)a->cpu_start_ns, (unsigned long long)a->late_ns,
			     (unsigned long long)a->start_ns, (unsigned long long)end_ns);
		write_report(fd, options.report, line, n);
	}
	if (options.report)
		close(fd);
	pthread_mutex_unlock(&report_lock);
}

/* SplitMix64: any seed is a good one, and the same lengths come on every machine. */
static uint64_t draw_number(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static uint64_t draw_length(const struct span *s, uint64_t *state)
{
	return s->least_ns + draw_number(state) % (s->most_ns - s->least_ns + 1);
}

static void begin_on_part(struct duty *d)
{
	d->start_ns = now_ns(CLOCK_MONOTONIC);
	d->on_ns = draw_length(&options.on, &d->random);
}

/* Sleep if the "on" part of the duty cycle is over. */
static bool pause_if_due(uint64_t now, struct duty *d)
{
	if (!options.off.most_ns || now - d->start_ns < d->on_ns)
		return false;
	sleep_ns(draw_length(&options.off, &d->random));
	begin_on_part(d);
	return true;
}

static void *work(void *unused)
{
	uint64_t rounds = rounds_for(options.bytes_per_piece ? STORE_NS : LOOK_NS);
	struct account a = { .start_ns = now_ns(CLOCK_MONOTONIC),
			     .cpu_start_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) };
	/* threads of one program must not have the same lengths */
	struct duty d = { .random = options.seed + syscall(SYS_gettid) - getpid() };
	uint64_t now;

	begin_on_part(&d);
	while (!stopped && (now = now_ns(CLOCK_MONOTONIC)) - a.start_ns < options.run_ns) {
		if (pause_if_due(now, &d))
			continue;
		burn(rounds);
		if (options.bytes_per_piece)
			emit(&a, options.bytes_per_piece);
		if (options.bytes_per_piece ||
		    now_ns(CLOCK_THREAD_CPUTIME_ID) - a.cpu_start_ns - a.cpu_ns >= STORE_NS)
			settle(&a);
	}
	settle(&a);
	report(&a, now_ns(CLOCK_MONOTONIC));
	return unused;
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: traffic --slot N[,N...] (--rate BYTES_PER_CPU_MS | --per-iter BYTES)\n"
	      "               [--duty ON_MS/OFF_MS] [--seed N] [--seconds S] [--threads T]\n"
	      "               [--cpu N] [--cgroup PATH] [--name NAME] [--report FILE]\n"
	      "--rate      bytes for each millisecond of CPU time\n"
	      "--per-iter  bytes for each piece of work of about a millisecond\n"
	      "--duty      work and sleep in turn; LEAST-MOST instead of a time: a new one each "
	      "time\n"
	      "--seed      the times that are drawn are others\n"
	      "--cgroup    join this group first, below " CGROUP_MOUNT "; made if needed\n"
	      "--report    append the truth to FILE (default: standard output)\n",
	      stderr);
	exit(2);
}

static void parse_slots(char *text)
{
	char *one;

	while ((one = strsep(&text, ","))) {
		if (options.nr_slots == MAX_SLOTS)
			usage();
		options.slot[options.nr_slots++] = number(one, INT_MAX);
	}
}

static void parse_duty(const char *text)
{
	options.on = parse_span(text, '/', &text);
	if (*text != '/')
		usage();
	options.off = parse_span(text + 1, '\0', &text);
}

static void parse_options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "slot", required_argument, NULL, 's' },
		{ "rate", required_argument, NULL, 'r' },
		{ "per-iter", required_argument, NULL, 'i' },
		{ "duty", required_argument, NULL, 'd' },
		{ "seed", required_argument, NULL, 'S' },
		{ "seconds", required_argument, NULL, 't' },
		{ "threads", required_argument, NULL, 'n' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "cgroup", required_argument, NULL, 'g' },
		{ "name", required_argument, NULL, 'N' },
		{ "report", required_argument, NULL, 'o' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 's')
			parse_slots(optarg);
		else if (c == 'r')
			options.bytes_per_ms = number(optarg, UINT64_MAX);
		else if (c == 'i')
			options.bytes_per_piece = number(optarg, UINT64_MAX);
		else if (c == 'd')
			parse_duty(optarg);
		else if (c == 'S')
			options.seed = number(optarg, UINT64_MAX);
		else if (c == 't')
			options.run_ns = seconds(optarg);
		else if (c == 'n')
			options.threads = number(optarg, MAX_THREADS);
		else if (c == 'c')
			options.cpu = number(optarg, CPU_SETSIZE - 1);
		else if (c == 'g')
			options.cgroup = optarg;
		else if (c == 'N')
			options.name = optarg;
		else if (c == 'o')
			options.report = optarg;
		else
			usage();
	}
	if (!options.nr_slots || !options.bytes_per_ms == !options.bytes_per_piece ||
	    !options.threads || optind < argc)
		usage();
}

int main(int argc, char **argv)
{
	pthread_t thread[MAX_THREADS];
	unsigned int i;

	parse_options(argc, argv);
	map_port();
	begin_load(options.cpu, options.cgroup);
	for (i = 1; i < options.threads; i++) {
		errno = pthread_create(&thread[i], NULL, work, NULL);
		if (errno)
			fail("thread");
	}
	work(NULL);
	for (i = 1; i < options.threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
