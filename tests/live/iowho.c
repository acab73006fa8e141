// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The kernel side's books of devices, as text: iowho [-C CGROUP2] [-t]
 *
 * Says "ready" and then obeys lines of its standard input:
 *
 *	disk NAME DEVICE	requests of the disk are of device DEVICE; -1: no longer
 *	interface NAME DEVICE
 *	stacked NAME DEVICE	the same for an interface that is made of others
 *	keep			leaves records in the ring, full or not, up to the next "show"
 *	show			brings the books up to now, says what has come since the start:
 *				io DEVICE PID CGROUP READ_BYTES WRITE_BYTES REQUESTS SLOTS
 *				losses IO BAD UNSEEN, note TEXT
 *
 * Every line is answered, in the end by "ok" or "error ERRNO". -C: where the cgroup v2 tree is, "" for nowhere;
 * -t: by thread; -1 CONTROLLER: its v1 cgroups stand in for those of the v2 tree.
 */
#include <inttypes.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "ledger_tool.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/cpulist.h"
#include "platform/sys/cgroup1.h"

struct row {
	struct ledger_io_slot sum;
	uint32_t slots;
};

static struct ledger *ledger;
static struct row *rows;
static size_t nr_rows, cap_rows;
static uint64_t bad;
static bool keep;

static struct row *row_of(const struct ledger_io_slot *s)
{
	for (size_t i = 0; i < nr_rows; i++)
		if (rows[i].sum.device == s->device && rows[i].sum.pid == s->pid &&
		    rows[i].sum.start_ns == s->start_ns && rows[i].sum.cgroup_id == s->cgroup_id)
			return &rows[i];
	if (array_reserve(rows, cap_rows, nr_rows))
		fatal("memory", NULL);
	rows[nr_rows] = (struct row){ .sum = *s };
	rows[nr_rows].sum.read_bytes = 0;
	rows[nr_rows].sum.write_bytes = 0;
	rows[nr_rows].sum.requests = 0;
	return &rows[nr_rows++];
}

static void on_io(void *arg, const struct ledger_io *r)
{
	(void)arg;
	for (uint32_t i = 0; i < r->nr; i++) {
		const struct ledger_io_slot *s = &r->slots[i];
		struct row *row = row_of(s);

		row->slots++;
		row->sum.read_bytes += s->read_bytes;
		row->sum.write_bytes += s->write_bytes;
		row->sum.requests += s->requests;
		if (s->first_ns > s->last_ns || s->last_ns > r->h.time_ns)
			bad++;
	}
}

static const struct ledger_sink sink = { ignore_slices, ignore_window, ignore_task,
					 ignore_cgroup, on_io,	       NULL };

static void show(void)
{
	struct ledger_losses losses;

	/* The first makes room for what did not find any. */
	if (ledger_drain(ledger, &sink) || ledger_flush(ledger, &sink) ||
	    ledger_settle(ledger, &sink))
		fatal("flush", NULL);
	ledger_losses(ledger, &losses);
	for (size_t i = 0; i < nr_rows; i++) {
		const struct ledger_io_slot *s = &rows[i].sum;

		printf("io %u %lld %llu %llu %llu %u %u\n", s->device,
		       s->pid == LEDGER_LOST_PID ? -1ll : s->pid, s->cgroup_id, s->read_bytes,
		       s->write_bytes, s->requests, rows[i].slots);
	}
	printf("losses %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", losses.io, losses.bad + bad,
	       losses.unseen);
	printf("note %s\n", ledger_io_note(ledger));
	keep = false;
}

static void obey(char *line)
{
	char name[64];
	int device, err = 0;

	if (sscanf(line, "disk %63s %d", name, &device) == 2)
		err = ledger_io_disk(ledger, name, device);
	else if (sscanf(line, "interface %63s %d", name, &device) == 2)
		err = ledger_io_interface(ledger, if_nametoindex(name), false, device);
	else if (sscanf(line, "stacked %63s %d", name, &device) == 2)
		err = ledger_io_interface(ledger, if_nametoindex(name), true, device);
	else if (!strncmp(line, "keep", 4))
		keep = true;
	else if (!strncmp(line, "show", 4))
		show();
	else
		err = -EINVAL;
	if (err)
		printf("error %d\n", -err);
	else
		printf("ok\n");
	fflush(stdout);
}

/* Lines are short and written at once: no buffer is needed that poll() does not see. */
static void follow(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char text[4096], *line, *rest;
	ssize_t n;

	for (;;) {
		if (poll(&input, 1, 20) > 0) {
			n = read(STDIN_FILENO, text, sizeof(text) - 1);
			if (n <= 0)
				return;
			text[n] = '\0';
			rest = text;
			while ((line = strsep(&rest, "\n")) && *line)
				obey(line);
		}
		ledger_mark(ledger, 0, monotonic_ns());
		if (!keep && ledger_drain(ledger, &sink))
			fatal("drain", NULL);
	}
}

static void log_text(const char *text)
{
	fputs(text, stderr);
}

int main(int argc, char **argv)
{
	uint32_t cpu_socket[CPULIST_MAX_CPUS] = { 0 };
	struct ledger_options o = { .cpu_socket = cpu_socket, .io = true };
	struct diag d = { 0 };
	int option;

	while ((option = getopt(argc, argv, "1:C:tv")) != -1) {
		if (option == '1') {
			o.v1_controller = optarg;
			o.v1_number = cgroup1_number(optarg);
		} else if (option == 'C')
			o.cgroup_mount = optarg;
		else if (option == 't')
			o.by_thread = true;
		else if (option == 'v')
			o.log = log_text;
		else
			return 2;
	}
	o.nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (ledger_open(&o, &d, &ledger) || ledger_attach(ledger, &d))
		fatal("ledger", &d);
	printf("ready\n");
	fflush(stdout);
	follow();
	ledger_free(ledger);
	free(rows);
	return 0;
}
