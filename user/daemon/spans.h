/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The history of jobs as it grows: what accounts had when the span that is being written began.
 * The difference to what they have now is the span. So whatever is written late or twice, all
 * spans of a job add up to its account.
 */
#ifndef DAEMON_SPANS_H
#define DAEMON_SPANS_H

#include "daemon/store.h"
#include "engine/accounts/accounts.h"

struct span_base;

/**
 * struct spans - the span that is being written; all zero: there is none
 * @on: there is one
 * @number: of it
 * @start_ns: its begin, 0: not known before its first interval
 * @node: the machine's totals then; owned
 * @jobs: what jobs had then, by key; owned
 * @now: the span, while it is written
 * @piece: of it; owned
 */
struct spans {
	bool on;
	uint64_t number;
	uint64_t start_ns;
	struct accounts_node node;
	struct span_base *jobs;
	struct store_span now;
	struct accounts_node piece;
};

/** spans_begin() - begin a span here; 0, or a negative errno with all as it was */
int spans_begin(struct spans *h, struct accounts *a, uint64_t number);

/** spans_end() - forget all; the next span begins somewhere else */
void spans_end(struct spans *h);

/**
 * spans_put() - write the span, in an interval of the store and behind its totals
 * @h: the history
 * @s: the store
 * @n: the machine's totals now
 * @length_ns: how long spans are
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int spans_put(struct spans *h, struct store *s, const struct accounts_node *n, uint64_t length_ns,
	      struct diag *d);

/** spans_put_job() - write a job's part in it, after spans_put(); 0 or a negative errno */
int spans_put_job(struct spans *h, struct store *s, const struct account_job *j, struct diag *d);

/**
 * spans_put_rest() - the span ends here: a job that has a part in it was there until now
 *
 * Of all jobs, also those that did not change since they were written. 0 or a negative errno
 */
int spans_put_rest(struct spans *h, struct store *s, const struct account_job *j, struct diag *d);

/** spans_full() - is the span so long? */
bool spans_full(const struct spans *h, const struct accounts_node *n, uint64_t length_ns);

#endif
