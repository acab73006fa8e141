/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the store keeps of an account beside the columns for queries: bytes of a fixed, versioned
 * form that does not depend on the machine. Numbers are LEB128; texts are their length and their bytes. The last four bytes are a
 * CRC-32 of those before, lowest byte first. What is read may be hostile.
 */
#ifndef DAEMON_STORE_BLOB_H
#define DAEMON_STORE_BLOB_H

#include "account.h"
#include "base/bytes.h"

/** blob_job() - write all of an account but who it is (scheduler, id, name, user, key) and its state */
int blob_job(struct bytes *b, const struct account_job *j);

/** blob_counter() - write the sums of a counter of the machine, which have more than 64 bits */
int blob_counter(struct bytes *b, const struct account_node_total *t);

/** blob_node() - write losses and cost of the machine's totals */
int blob_node(struct bytes *b, const struct accounts_node *n);

/** blob_span() - write a piece of the machine's totals, see account.h */
int blob_span(struct bytes *b, const struct accounts_node *piece);

/**
 * blob_job_span() - write a job's part of it: whole without steps, intervals and gaps
 * @origin_ns: begin of the machine's piece
 */
int blob_job_span(struct bytes *b, const struct account_job *piece, uint64_t origin_ns);

/**
 * blob_read_job() - read what blob_job() wrote
 * @data, @size: the bytes
 * @nr_counters: counters that it may refer to
 * @ret: its other fields are left alone; release it with account_job_release()
 *
 * Return: 0, -EPROTONOSUPPORT for a later version, -EUCLEAN for damage, -ENOMEM. @ret has
 * nothing new to release after an error.
 */
int blob_read_job(const void *data, size_t size, size_t nr_counters, struct account_job *ret);

/** blob_read_counter() - the same for what blob_counter() wrote: fills the sums of @ret */
int blob_read_counter(const void *data, size_t size, struct account_node_total *ret);

/** blob_read_node() - the same for what blob_node() wrote */
int blob_read_node(const void *data, size_t size, struct accounts_node *ret);

/** blob_read_span() - the same for what blob_span() wrote; release with accounts_node_release() */
int blob_read_span(const void *data, size_t size, size_t nr_counters, struct accounts_node *ret);

/** blob_read_job_span() - the same for what blob_job_span() wrote: fills @ret->whole and sums */
int blob_read_job_span(const void *data, size_t size, size_t nr_counters, uint64_t origin_ns,
		       struct account_job *ret);

#endif
