// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/store_blob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/text.h"

/*
 * 1: without clock_back_ns; 2, 3, 4: with fewer numbers of quality; 5: without groups; all are still
 * read
 */
#define BLOB_VERSION		  6
#define CRC_BYTES		  4

/* Bytes of the shortest elements of lists: a list cannot be longer than what is left. */
#define MIN_TOTAL		  5
#define MIN_IO			  4
#define MIN_PART		  7
#define MIN_NODE		  (6 + NR_REASONS)
#define MIN_GROUP		  6

#define FIELD(type, name)	  offsetof(struct type, name)

#define QUALITY_FIELD(name, from) offsetof(struct quality, name),

static const size_t quality_fields[] = { QUALITY_NUMBERS(QUALITY_FIELD) };
/* So many of them were there in each version. */
static const size_t quality_of_version[] = { 0, 20, 20, 27, 28, 29, ARRAY_SIZE(quality_fields) };

static const size_t self_fields[] = {
	FIELD(self_cost, cpu_ns),	  FIELD(self_cost, switches),
	FIELD(self_cost, switch_ns),	  FIELD(self_cost, timed),
	FIELD(self_cost, probes),	  FIELD(self_cost, probe_ns),
	FIELD(self_cost, probe_deferred), FIELD(self_cost, probe_failed),
};

/* Something new in them needs a new version of the form. */
_Static_assert(NR_QUALITY_NUMBERS == 29, "all losses");
_Static_assert(sizeof(struct self_cost) == sizeof(self_fields) / sizeof(size_t) * 8, "all costs");
_Static_assert(NR_REASONS == 6, "all reasons");

static void put_text(struct bytes *b, const char *text)
{
	size_t length = strlen(text);

	bytes_put(b, length);
	bytes_put_raw(b, text, length);
}

static void put_fields(struct bytes *b, const void *from, const size_t *fields, size_t nr)
{
	uint64_t value;

	for (size_t i = 0; i < nr; i++) {
		memcpy(&value, (const char *)from + fields[i], sizeof(value));
		bytes_put(b, value);
	}
}

static void put_losses(struct bytes *b, const struct quality *q, const struct self_cost *self)
{
	bytes_put(b, q->method);
	put_text(b, q->weights);
	put_fields(b, q, quality_fields, ARRAY_SIZE(quality_fields));
	put_fields(b, self, self_fields, ARRAY_SIZE(self_fields));
}

/* @origin_ns: a time not long before */
static void put_part(struct bytes *b, const struct account_part *p, uint64_t origin_ns)
{
	put_text(b, p->step);
	bytes_put(b, p->start_ns - origin_ns);
	bytes_put(b, p->end_ns - p->start_ns);
	bytes_put(b, p->ended);
	bytes_put(b, p->on_cpu_ns);
	bytes_put(b, p->nr_totals);
	for (size_t i = 0; i < p->nr_totals; i++) {
		const struct account_total *t = &p->totals[i];

		bytes_put(b, t->counter);
		bytes_put(b, t->value);
		/* short, as the value is in between */
		bytes_put(b, t->value - t->low);
		bytes_put(b, t->high - t->value);
		bytes_put(b, t->inseparable);
	}
	bytes_put(b, p->nr_io);
	for (size_t i = 0; i < p->nr_io; i++) {
		put_text(b, p->io[i].bdf);
		put_text(b, p->io[i].name);
		bytes_put(b, p->io[i].read_bytes);
		bytes_put(b, p->io[i].write_bytes);
	}
}

/* @enabled_ns: of the counter before */
static void put_node_total(struct bytes *b, const struct account_node_total *t, uint64_t enabled_ns)
{
	uint64_t rest = t->value - t->attributed;

	bytes_put(b, t->counter);
	bytes_put(b, t->attributed);
	for (size_t i = 0; i < NR_REASONS; i++) {
		bytes_put(b, t->unattributed[i]);
		rest -= t->unattributed[i];
	}
	/* these three are 0, or the same for all counters, most of the time */
	bytes_put(b, rest);
	bytes_put(b, t->enabled_ns - enabled_ns);
	bytes_put(b, t->enabled_ns - t->running_ns);
	bytes_put(b, t->missing);
}

static void begin(struct bytes *b)
{
	b->nr = 0;
	b->err = 0;
	bytes_put(b, BLOB_VERSION);
}

static int seal(struct bytes *b)
{
	uint32_t crc = b->err ? 0 : crc32(0, b->data, b->nr);
	uint8_t bytes[CRC_BYTES] = { crc, crc >> 8, crc >> 16, crc >> 24 };

	bytes_put_raw(b, bytes, sizeof(bytes));
	return b->err;
}

int blob_job(struct bytes *b, const struct account_job *j)
{
	begin(b);
	bytes_put(b, j->job.cgroup_id);
	bytes_put(b, j->job.provisional);
	bytes_put(b, j->late_start);
	bytes_put(b, !!j->path);
	put_text(b, j->path ? j->path : "");
	put_text(b, j->boot);
	bytes_put(b, j->nr_gaps);
	for (size_t i = 0; i < j->nr_gaps; i++) {
		bytes_put(b, j->gaps[i].start_ns);
		bytes_put(b, j->gaps[i].end_ns - j->gaps[i].start_ns);
	}
	bytes_put(b, j->gap_ns);
	bytes_put(b, j->intervals);
	bytes_put(b, j->covered_ns);
	put_part(b, &j->whole, 0);
	bytes_put(b, j->nr_steps);
	for (size_t i = 0; i < j->nr_steps; i++)
		put_part(b, &j->steps[i], j->whole.start_ns);
	bytes_put(b, NR_REASONS);
	bytes_put(b, j->nr_node);
	for (size_t i = 0; i < j->nr_node; i++)
		put_node_total(b, &j->node[i], i ? j->node[i - 1].enabled_ns : 0);
	put_losses(b, &j->quality, &j->self);
	bytes_put(b, j->clock_back_ns);
	bytes_put(b, j->nr_groups);
	for (size_t i = 0; i < j->nr_groups; i++) {
		put_text(b, j->groups[i].group);
		put_text(b, j->groups[i].step);
		bytes_put(b, j->groups[i].bytes);
		bytes_put(b, j->groups[i].ns);
		bytes_put(b, j->groups[i].intervals);
		bytes_put(b, j->groups[i].without);
	}
	return seal(b);
}

int blob_node(struct bytes *b, const struct accounts_node *n)
{
	begin(b);
	put_losses(b, &n->quality, &n->self);
	return seal(b);
}

int blob_span(struct bytes *b, const struct accounts_node *piece)
{
	begin(b);
	bytes_put(b, piece->intervals);
	bytes_put(b, piece->covered_ns);
	bytes_put(b, piece->gaps);
	bytes_put(b, piece->gap_ns);
	bytes_put(b, NR_REASONS);
	bytes_put(b, piece->nr_totals);
	for (size_t i = 0; i < piece->nr_totals; i++)
		put_node_total(b, &piece->totals[i], i ? piece->totals[i - 1].enabled_ns : 0);
	put_losses(b, &piece->quality, &piece->self);
	return seal(b);
}

int blob_job_span(struct bytes *b, const struct account_job *piece, uint64_t origin_ns)
{
	begin(b);
	bytes_put(b, piece->intervals);
	bytes_put(b, piece->covered_ns);
	bytes_put(b, piece->gap_ns);
	put_part(b, &piece->whole, origin_ns);
	return seal(b);
}

/* What is left to be read. */
struct cursor {
	struct bytes_in in;
	size_t nr_counters;
	uint64_t version;
};

static uint64_t take_u64(struct cursor *c)
{
	return bytes_get(&c->in);
}

static bool take_bool(struct cursor *c)
{
	return bytes_get_max(&c->in, 1);
}

static void take_text(struct cursor *c, char *ret, size_t size)
{
	bytes_get_chars(&c->in, ret, bytes_get_max(&c->in, size - 1));
}

/* Room for a list that bytes are there for; NULL for an empty one. */
static void *take_list(struct cursor *c, size_t size, size_t min_bytes, size_t *ret_nr)
{
	uint64_t nr = take_u64(c);
	void *list;

	*ret_nr = 0;
	bytes_bad(&c->in, nr > (size_t)(c->in.end - c->in.at) / min_bytes);
	if (c->in.err || !nr)
		return NULL;
	list = calloc(nr, size);
	if (list)
		*ret_nr = nr;
	else
		c->in.err = -ENOMEM;
	return list;
}

static uint32_t take_counter(struct cursor *c)
{
	uint64_t counter = take_u64(c);

	bytes_bad(&c->in, counter >= c->nr_counters);
	return c->in.err ? 0 : counter;
}

static void take_fields(struct cursor *c, void *to, const size_t *fields, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t value = take_u64(c);

		memcpy((char *)to + fields[i], &value, sizeof(value));
	}
}

static void take_losses(struct cursor *c, struct quality *q, struct self_cost *self)
{
	q->method = (enum method)bytes_get_max(&c->in, NR_METHODS - 1);
	take_text(c, q->weights, sizeof(q->weights));
	take_fields(c, q, quality_fields, quality_of_version[c->version]);
	take_fields(c, self, self_fields, ARRAY_SIZE(self_fields));
}

static void take_part(struct cursor *c, struct account_part *p, uint64_t origin_ns)
{
	take_text(c, p->step, sizeof(p->step));
	p->start_ns = origin_ns + take_u64(c);
	p->end_ns = p->start_ns + take_u64(c);
	p->ended = take_bool(c);
	p->on_cpu_ns = take_u64(c);
	p->totals = take_list(c, sizeof(*p->totals), MIN_TOTAL, &p->nr_totals);
	for (size_t i = 0; i < p->nr_totals; i++) {
		struct account_total *t = &p->totals[i];

		t->counter = take_counter(c);
		t->value = take_u64(c);
		t->low = t->value - take_u64(c);
		t->high = t->value + take_u64(c);
		t->inseparable = take_u64(c);
	}
	p->io = take_list(c, sizeof(*p->io), MIN_IO, &p->nr_io);
	for (size_t i = 0; i < p->nr_io; i++) {
		take_text(c, p->io[i].bdf, sizeof(p->io[i].bdf));
		take_text(c, p->io[i].name, sizeof(p->io[i].name));
		p->io[i].read_bytes = take_u64(c);
		p->io[i].write_bytes = take_u64(c);
	}
}

static void take_node_total(struct cursor *c, struct account_node_total *t, uint64_t enabled_ns)
{
	t->counter = take_counter(c);
	t->attributed = take_u64(c);
	t->value = t->attributed;
	for (size_t i = 0; i < NR_REASONS; i++) {
		t->unattributed[i] = take_u64(c);
		t->value += t->unattributed[i];
	}
	t->value += take_u64(c);
	t->enabled_ns = enabled_ns + take_u64(c);
	t->running_ns = t->enabled_ns - take_u64(c);
	t->missing = take_u64(c);
}

static void take_path(struct cursor *c, char **ret)
{
	bool known = take_bool(c);
	size_t length = bytes_get(&c->in);
	const char *text = bytes_get_raw(&c->in, length);

	bytes_bad(&c->in, text && memchr(text, '\0', length));
	if (c->in.err || !known)
		return;
	*ret = strndup(text, length);
	if (!*ret)
		c->in.err = -ENOMEM;
}

static void take_gaps(struct cursor *c, struct account_job *j)
{
	j->nr_gaps = bytes_get_max(&c->in, ACCOUNT_MAX_GAPS);
	for (size_t i = 0; i < j->nr_gaps; i++) {
		j->gaps[i].start_ns = take_u64(c);
		j->gaps[i].end_ns = j->gaps[i].start_ns + take_u64(c);
	}
}

static void take_groups(struct cursor *c, struct account_job *j)
{
	j->groups = take_list(c, sizeof(*j->groups), MIN_GROUP, &j->nr_groups);
	bytes_bad(&c->in, j->nr_groups > ACCOUNT_MAX_GROUPS);
	for (size_t i = 0; i < j->nr_groups && !c->in.err; i++) {
		struct account_group *g = &j->groups[i];

		take_text(c, g->group, sizeof(g->group));
		take_text(c, g->step, sizeof(g->step));
		g->bytes = take_u64(c);
		g->ns = take_u64(c);
		g->intervals = take_u64(c);
		g->without = take_u64(c);
	}
}

static void take_job(struct cursor *c, struct account_job *j)
{
	j->job.cgroup_id = take_u64(c);
	j->job.provisional = take_bool(c);
	j->late_start = take_bool(c);
	take_path(c, &j->path);
	take_text(c, j->boot, sizeof(j->boot));
	take_gaps(c, j);
	j->gap_ns = take_u64(c);
	j->intervals = take_u64(c);
	j->covered_ns = take_u64(c);
	take_part(c, &j->whole, 0);
	j->steps = take_list(c, sizeof(*j->steps), MIN_PART, &j->nr_steps);
	bytes_bad(&c->in, j->nr_steps > ACCOUNT_MAX_STEPS);
	for (size_t i = 0; i < j->nr_steps && !c->in.err; i++)
		take_part(c, &j->steps[i], j->whole.start_ns);
	bytes_bad(&c->in, take_u64(c) != NR_REASONS);
	j->node = take_list(c, sizeof(*j->node), MIN_NODE, &j->nr_node);
	for (size_t i = 0; i < j->nr_node; i++)
		take_node_total(c, &j->node[i], i ? j->node[i - 1].enabled_ns : 0);
	take_losses(c, &j->quality, &j->self);
	j->clock_back_ns = c->version > 1 ? take_u64(c) : 0;
	if (c->version > 5)
		take_groups(c, j);
}

/* Is it whole, and of a version that is known? */
static int unseal(const void *data, size_t size, struct cursor *c)
{
	const uint8_t *bytes = data;
	uint32_t crc;

	if (!bytes || size < CRC_BYTES)
		return -EUCLEAN;
	size -= CRC_BYTES;
	crc = bytes[size] | bytes[size + 1] << 8 | bytes[size + 2] << 16 |
	      (uint32_t)bytes[size + 3] << 24;
	if (crc32(0, bytes, size) != crc)
		return -EUCLEAN;
	c->in = bytes_from(bytes, size);
	c->version = take_u64(c);
	if (c->version > BLOB_VERSION)
		return -EPROTONOSUPPORT;
	return c->version ? 0 : -EUCLEAN;
}

static int finish(struct cursor *c)
{
	bytes_bad(&c->in, c->in.at != c->in.end);
	return c->in.err == -EBADMSG ? -EUCLEAN : c->in.err;
}

int blob_read_job(const void *data, size_t size, size_t nr_counters, struct account_job *ret)
{
	struct cursor c = { .nr_counters = nr_counters };
	struct account_job j = *ret;
	int err = unseal(data, size, &c);

	if (err)
		return err;
	j.path = NULL;
	j.node = NULL;
	j.steps = NULL;
	j.groups = NULL;
	memset(&j.whole, 0, sizeof(j.whole));
	j.nr_node = j.nr_steps = j.nr_groups = 0;
	take_job(&c, &j);
	err = finish(&c);
	if (err)
		account_job_release(&j);
	else
		*ret = j;
	return err;
}

int blob_read_node(const void *data, size_t size, struct accounts_node *ret)
{
	struct cursor c = { 0 };
	struct accounts_node n = *ret;
	int err = unseal(data, size, &c);

	if (err)
		return err;
	take_losses(&c, &n.quality, &n.self);
	err = finish(&c);
	if (!err) {
		ret->quality = n.quality;
		ret->self = n.self;
	}
	return err;
}

int blob_read_span(const void *data, size_t size, size_t nr_counters, struct accounts_node *ret)
{
	struct cursor c = { .nr_counters = nr_counters };
	struct accounts_node n = { 0 };
	int err = unseal(data, size, &c);

	if (err)
		return err;
	n.intervals = take_u64(&c);
	n.covered_ns = take_u64(&c);
	n.gaps = take_u64(&c);
	n.gap_ns = take_u64(&c);
	bytes_bad(&c.in, take_u64(&c) != NR_REASONS);
	n.totals = take_list(&c, sizeof(*n.totals), MIN_NODE, &n.nr_totals);
	for (size_t i = 0; i < n.nr_totals; i++)
		take_node_total(&c, &n.totals[i], i ? n.totals[i - 1].enabled_ns : 0);
	take_losses(&c, &n.quality, &n.self);
	err = finish(&c);
	if (err)
		accounts_node_release(&n);
	else
		*ret = n;
	return err;
}

int blob_read_job_span(const void *data, size_t size, size_t nr_counters, uint64_t origin_ns,
		       struct account_job *ret)
{
	struct cursor c = { .nr_counters = nr_counters };
	struct account_job j = { 0 };
	int err = unseal(data, size, &c);

	if (err)
		return err;
	j.intervals = take_u64(&c);
	j.covered_ns = take_u64(&c);
	j.gap_ns = take_u64(&c);
	take_part(&c, &j.whole, origin_ns);
	err = finish(&c);
	if (err)
		account_job_release(&j);
	else
		*ret = j;
	return err;
}
