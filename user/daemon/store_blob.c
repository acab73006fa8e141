// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/store_blob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/leb128.h"
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

/* Room for @nr more bytes; false when there is none. */
static bool make_room(struct blob *b, size_t nr)
{
	size_t cap = b->cap ? b->cap : 1024;
	uint8_t *bigger;

	if (b->failed || b->cap - b->nr >= nr)
		return !b->failed;
	while (cap - b->nr < nr)
		cap *= 2;
	bigger = realloc(b->data, cap);
	if (!bigger) {
		b->failed = true;
		return false;
	}
	b->data = bigger;
	b->cap = cap;
	return true;
}

static void put_u64(struct blob *b, uint64_t value)
{
	if (make_room(b, LEB128_MAX))
		b->nr += leb128_put(b->data + b->nr, value);
}

static void put_bytes(struct blob *b, const void *data, size_t nr)
{
	if (!nr || !make_room(b, nr))
		return;
	memcpy(b->data + b->nr, data, nr);
	b->nr += nr;
}

static void put_text(struct blob *b, const char *text)
{
	size_t length = strlen(text);

	put_u64(b, length);
	put_bytes(b, text, length);
}

static void put_fields(struct blob *b, const void *from, const size_t *fields, size_t nr)
{
	uint64_t value;

	for (size_t i = 0; i < nr; i++) {
		memcpy(&value, (const char *)from + fields[i], sizeof(value));
		put_u64(b, value);
	}
}

static void put_losses(struct blob *b, const struct quality *q, const struct self_cost *self)
{
	put_u64(b, q->method);
	put_text(b, q->weights);
	put_fields(b, q, quality_fields, ARRAY_SIZE(quality_fields));
	put_fields(b, self, self_fields, ARRAY_SIZE(self_fields));
}

/* @origin_ns: a time not long before */
static void put_part(struct blob *b, const struct account_part *p, uint64_t origin_ns)
{
	put_text(b, p->step);
	put_u64(b, p->start_ns - origin_ns);
	put_u64(b, p->end_ns - p->start_ns);
	put_u64(b, p->ended);
	put_u64(b, p->on_cpu_ns);
	put_u64(b, p->nr_totals);
	for (size_t i = 0; i < p->nr_totals; i++) {
		const struct account_total *t = &p->totals[i];

		put_u64(b, t->counter);
		put_u64(b, t->value);
		/* short, as the value is in between */
		put_u64(b, t->value - t->low);
		put_u64(b, t->high - t->value);
		put_u64(b, t->inseparable);
	}
	put_u64(b, p->nr_io);
	for (size_t i = 0; i < p->nr_io; i++) {
		put_text(b, p->io[i].bdf);
		put_text(b, p->io[i].name);
		put_u64(b, p->io[i].read_bytes);
		put_u64(b, p->io[i].write_bytes);
	}
}

/* @enabled_ns: of the counter before */
static void put_node_total(struct blob *b, const struct account_node_total *t, uint64_t enabled_ns)
{
	uint64_t rest = t->value - t->attributed;

	put_u64(b, t->counter);
	put_u64(b, t->attributed);
	for (size_t i = 0; i < NR_REASONS; i++) {
		put_u64(b, t->unattributed[i]);
		rest -= t->unattributed[i];
	}
	/* these three are 0, or the same for all counters, most of the time */
	put_u64(b, rest);
	put_u64(b, t->enabled_ns - enabled_ns);
	put_u64(b, t->enabled_ns - t->running_ns);
	put_u64(b, t->missing);
}

static void begin(struct blob *b)
{
	b->nr = 0;
	b->failed = false;
	put_u64(b, BLOB_VERSION);
}

static int seal(struct blob *b)
{
	uint32_t crc = b->failed ? 0 : crc32(0, b->data, b->nr);
	uint8_t bytes[CRC_BYTES] = { crc, crc >> 8, crc >> 16, crc >> 24 };

	put_bytes(b, bytes, sizeof(bytes));
	return b->failed ? -ENOMEM : 0;
}

int blob_job(struct blob *b, const struct account_job *j)
{
	begin(b);
	put_u64(b, j->job.cgroup_id);
	put_u64(b, j->job.provisional);
	put_u64(b, j->late_start);
	put_u64(b, !!j->path);
	put_text(b, j->path ? j->path : "");
	put_text(b, j->boot);
	put_u64(b, j->nr_gaps);
	for (size_t i = 0; i < j->nr_gaps; i++) {
		put_u64(b, j->gaps[i].start_ns);
		put_u64(b, j->gaps[i].end_ns - j->gaps[i].start_ns);
	}
	put_u64(b, j->gap_ns);
	put_u64(b, j->intervals);
	put_u64(b, j->covered_ns);
	put_part(b, &j->whole, 0);
	put_u64(b, j->nr_steps);
	for (size_t i = 0; i < j->nr_steps; i++)
		put_part(b, &j->steps[i], j->whole.start_ns);
	put_u64(b, NR_REASONS);
	put_u64(b, j->nr_node);
	for (size_t i = 0; i < j->nr_node; i++)
		put_node_total(b, &j->node[i], i ? j->node[i - 1].enabled_ns : 0);
	put_losses(b, &j->quality, &j->self);
	put_u64(b, j->clock_back_ns);
	put_u64(b, j->nr_groups);
	for (size_t i = 0; i < j->nr_groups; i++) {
		put_text(b, j->groups[i].group);
		put_text(b, j->groups[i].step);
		put_u64(b, j->groups[i].bytes);
		put_u64(b, j->groups[i].ns);
		put_u64(b, j->groups[i].intervals);
		put_u64(b, j->groups[i].without);
	}
	return seal(b);
}

int blob_node(struct blob *b, const struct accounts_node *n)
{
	begin(b);
	put_losses(b, &n->quality, &n->self);
	return seal(b);
}

int blob_span(struct blob *b, const struct accounts_node *piece)
{
	begin(b);
	put_u64(b, piece->intervals);
	put_u64(b, piece->covered_ns);
	put_u64(b, piece->gaps);
	put_u64(b, piece->gap_ns);
	put_u64(b, NR_REASONS);
	put_u64(b, piece->nr_totals);
	for (size_t i = 0; i < piece->nr_totals; i++)
		put_node_total(b, &piece->totals[i], i ? piece->totals[i - 1].enabled_ns : 0);
	put_losses(b, &piece->quality, &piece->self);
	return seal(b);
}

int blob_job_span(struct blob *b, const struct account_job *piece, uint64_t origin_ns)
{
	begin(b);
	put_u64(b, piece->intervals);
	put_u64(b, piece->covered_ns);
	put_u64(b, piece->gap_ns);
	put_part(b, &piece->whole, origin_ns);
	return seal(b);
}

/* What is left to be read. After the first error everything is 0 and empty. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	size_t nr_counters;
	uint64_t version;
	int err;
};

static void damaged(struct cursor *c)
{
	if (!c->err)
		c->err = -EUCLEAN;
	c->at = c->end;
}

static uint64_t take_u64(struct cursor *c)
{
	uint64_t value = 0;

	if (!leb128_get(&c->at, c->end, &value))
		damaged(c);
	return value;
}

static bool take_bool(struct cursor *c)
{
	uint64_t value = take_u64(c);

	if (value > 1)
		damaged(c);
	return value == 1;
}

static const char *take_bytes(struct cursor *c, size_t *ret_length)
{
	uint64_t length = take_u64(c);
	const char *text = (const char *)c->at;

	*ret_length = 0;
	if (length > (size_t)(c->end - c->at) || memchr(text, '\0', length)) {
		damaged(c);
		return text;
	}
	c->at += length;
	*ret_length = length;
	return text;
}

static void take_text(struct cursor *c, char *ret, size_t size)
{
	size_t length;
	const char *text = take_bytes(c, &length);

	if (length >= size) {
		damaged(c);
		length = 0;
	}
	memcpy(ret, text, length);
	ret[length] = '\0';
}

/* Room for a list that bytes are there for; NULL for an empty one. */
static void *take_list(struct cursor *c, size_t size, size_t min_bytes, size_t *ret_nr)
{
	uint64_t nr = take_u64(c);
	void *list;

	*ret_nr = 0;
	if (nr > (size_t)(c->end - c->at) / min_bytes)
		damaged(c);
	if (c->err || !nr)
		return NULL;
	list = calloc(nr, size);
	if (!list) {
		damaged(c);
		c->err = -ENOMEM;
		return NULL;
	}
	*ret_nr = nr;
	return list;
}

static uint32_t take_counter(struct cursor *c)
{
	uint64_t counter = take_u64(c);

	if (counter < c->nr_counters)
		return counter;
	damaged(c);
	return 0;
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
	uint64_t method = take_u64(c);

	if (method >= NR_METHODS)
		damaged(c);
	q->method = c->err ? METHOD_STATE_SPACE : (enum method)method;
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
	size_t length;
	const char *text = take_bytes(c, &length);

	if (c->err || !known)
		return;
	*ret = strndup(text, length);
	if (!*ret) {
		damaged(c);
		c->err = -ENOMEM;
	}
}

static void take_gaps(struct cursor *c, struct account_job *j)
{
	uint64_t nr = take_u64(c);

	if (nr > ACCOUNT_MAX_GAPS) {
		damaged(c);
		nr = 0;
	}
	j->nr_gaps = nr;
	for (size_t i = 0; i < j->nr_gaps; i++) {
		j->gaps[i].start_ns = take_u64(c);
		j->gaps[i].end_ns = j->gaps[i].start_ns + take_u64(c);
	}
}

static void take_groups(struct cursor *c, struct account_job *j)
{
	j->groups = take_list(c, sizeof(*j->groups), MIN_GROUP, &j->nr_groups);
	if (j->nr_groups > ACCOUNT_MAX_GROUPS)
		damaged(c);
	for (size_t i = 0; i < j->nr_groups && !c->err; i++) {
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
	if (j->nr_steps > ACCOUNT_MAX_STEPS)
		damaged(c);
	for (size_t i = 0; i < j->nr_steps && !c->err; i++)
		take_part(c, &j->steps[i], j->whole.start_ns);
	if (take_u64(c) != NR_REASONS)
		damaged(c);
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
	c->at = bytes;
	c->end = bytes + size;
	c->version = take_u64(c);
	if (!c->err && c->version > BLOB_VERSION)
		return -EPROTONOSUPPORT;
	return c->version ? 0 : -EUCLEAN;
}

static int finish(struct cursor *c)
{
	if (c->at != c->end)
		damaged(c);
	return c->err;
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
	if (take_u64(&c) != NR_REASONS)
		damaged(&c);
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
