// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/job_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/output.h"
#include "cli/state_file.h"

/* Accounts are out of date when this many intervals are missing; at least this long. */
#define LATE_INTERVALS 4
#define LATE_NS	       (10 * NS_PER_S)

int job_file_open(const char *file, struct diag *d, struct job_file *ret)
{
	struct job_file f = { 0 };
	int err = store_open(state_file_name(file), false, d, &f.store);

	if (err)
		return err;
	err = store_read_node(f.store, &f.host, &f.node, d);
	if (err) {
		store_close(f.store);
		return err;
	}
	f.now_ns = clock_ns(CLOCK_REALTIME);
	f.kept = store_kept(f.store);
	*ret = f;
	return 0;
}

void job_file_done(struct job_file *f)
{
	if (!f->store)
		return;
	f->damaged = *store_damaged(f->store);
	store_close(f->store);
	f->store = NULL;
}

void job_file_close(struct job_file *f)
{
	job_file_done(f);
	accounts_node_release(&f->node);
}

struct job_context job_file_context(const struct job_file *f)
{
	return (struct job_context){ .host = &f->host, .node = &f->node };
}

static void age(uint64_t ns, char *ret, size_t size)
{
	uint64_t s = ns / NS_PER_S;

	if (s < 120)
		snprintf(ret, size, "%llu s", (unsigned long long)s);
	else if (s < 2 * 3600)
		snprintf(ret, size, "%llu min", (unsigned long long)(s / 60));
	else if (s < 2 * 86400)
		snprintf(ret, size, "%llu h", (unsigned long long)(s / 3600));
	else
		snprintf(ret, size, "%llu days", (unsigned long long)(s / 86400));
}

bool job_file_state(const struct job_file *f, char *ret, size_t size)
{
	uint64_t old_ns = f->now_ns > f->node.until_ns ? f->now_ns - f->node.until_ns : 0;
	uint64_t interval_ns = f->node.intervals ? f->node.covered_ns / f->node.intervals : 0;
	uint64_t late_ns = LATE_INTERVALS * interval_ns;
	char ago[32];

	age(old_ns, ago, sizeof(ago));
	if (!f->kept) {
		snprintf(ret, size,
			 "nobody keeps accounts at present (\"t410trace serve\" does): the "
			 "last interval ended %s ago",
			 ago);
		return false;
	}
	if (old_ns > (late_ns > LATE_NS ? late_ns : LATE_NS)) {
		snprintf(ret, size,
			 "the last interval ended %s ago, although \"t410trace serve\" %s "
			 "running: its log says why",
			 ago, f->kept < 0 ? "may be" : "is");
		return false;
	}
	snprintf(ret, size, "accounts are kept, and the last interval ended %s ago", ago);
	return true;
}

bool job_file_damage(const struct job_file *f, struct diag *d)
{
	if (!f->damaged.nr)
		return false;
	if (f->damaged.nr == 1)
		diag_fail(d, 0, "the account %s is damaged and left out", f->damaged.key);
	else
		diag_fail(d, 0, "%llu accounts are damaged and left out; the last one is %s",
			  (unsigned long long)f->damaged.nr, f->damaged.key);
	diag_help(d, "\"t410trace serve\" puts them aside when it comes across them");
	return true;
}

int job_file_write(const char *path, const char *text, size_t size, struct diag *d)
{
	struct output out;
	int err = output_open(path, OUTPUT_REPORT, d, &out);

	if (err)
		return err;
	if (fwrite(text, 1, size, out.file) != size || fflush(out.file))
		err = output_failed(&out, -errno, d);
	return output_close(&out, err, d);
}
