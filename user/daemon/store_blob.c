// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/store_blob.h"

#include <zlib.h>

#include "base/fields.h"

/*
 * 1: without clock_back_ns; 2, 3, 4: with fewer numbers of quality; 5: without groups; 6: sums of 64
 * bits, which look the same, and without others_unknown_ns; 7: without GPUs; all are still read
 */
#define BLOB_VERSION 8
#define CRC_BYTES    4

/* Something new in them needs a new version of the form. */
_Static_assert(NR_QUALITY_NUMBERS == 29, "all losses");
_Static_assert(sizeof(struct self_cost) == 8 * sizeof(uint64_t), "all costs");
_Static_assert(NR_REASONS == 6, "all reasons");

/* Types of fields beside those of base/fields.h. */
enum {
	BLOB_COUNTER = FIELD_OWN, /* an index of a counter */
	BLOB_PATH,		  /* a text, or none */
	BLOB_REASONS,		  /* NR_REASONS */
	BLOB_ORIGIN,		  /* nothing: the steps begin where this number is */
};

#define FROM(structure, member)	  .base = BASE_FIELD, .of = offsetof(structure, member)
#define N(structure, member, ...) ROW(NULL, structure, member, __VA_ARGS__)
#define TEXT(structure, member)	  ROW_CHARS(NULL, structure, member, )
#define LIST(structure, member, number, rows, ...) \
	ROW_LIST(NULL, structure, member, number, rows, __VA_ARGS__)
#define OWN(type, structure, member) ROW_OWN(NULL, type, structure, member, )

static const struct field total_rows[] = {
	OWN(BLOB_COUNTER, struct account_total, counter),
	ROW_SUM(struct account_total, value),
	/* short, as the value is in between */
	ROW_SUM(struct account_total, low, FROM(struct account_total, value), .below = true),
	ROW_SUM(struct account_total, high, FROM(struct account_total, value)),
	ROW_SUM(struct account_total, inseparable),
};
static const struct fields total_fields = FIELDS(total_rows, struct account_total);

static const struct field io_rows[] = {
	TEXT(struct account_io, bdf),
	TEXT(struct account_io, name),
	N(struct account_io, read_bytes),
	N(struct account_io, write_bytes),
};
static const struct fields io_fields = FIELDS(io_rows, struct account_io);

static const struct field part_rows[] = {
	TEXT(struct account_part, step),
	N(struct account_part, start_ns, .base = BASE_ORIGIN),
	N(struct account_part, end_ns, FROM(struct account_part, start_ns)),
	N(struct account_part, ended),
	ROW_SUM(struct account_part, on_cpu_ns),
	LIST(struct account_part, totals, nr_totals, &total_fields),
	LIST(struct account_part, io, nr_io, &io_fields),
};
static const struct fields part_fields = FIELDS(part_rows, struct account_part);

static const struct field node_rows[] = {
	OWN(BLOB_COUNTER, struct account_node_total, counter),
	ROW_SUM(struct account_node_total, attributed),
	ROW_SUMS(struct account_node_total, unattributed, NR_REASONS),
	/* these three are 0, or the same for all counters, most of the time */
	ROW_SUM(struct account_node_total, value, .base = BASE_SUM,
		.of = offsetof(struct account_node_total, attributed), .size = 1 + NR_REASONS),
	N(struct account_node_total, enabled_ns, .base = BASE_BEFORE),
	N(struct account_node_total, running_ns, FROM(struct account_node_total, enabled_ns),
	  .below = true),
	N(struct account_node_total, missing),
};
static const struct fields node_fields = FIELDS(node_rows, struct account_node_total);

/* Numbers of a quality from the index @from on, which came with a version */
#define LOSSES(from, nr, version)                                                       \
	{                                                                               \
		.type = FIELD_U64S, .size = nr, .since = version,                       \
		.offset = offsetof(struct quality, windows) + (from) * sizeof(uint64_t) \
	}
static const struct field quality_rows[] = {
	ROW_WORD(NULL, struct quality, method, NULL, NR_METHODS),
	TEXT(struct quality, weights),
	LOSSES(0, 20, 1),
	LOSSES(20, 7, 3),
	LOSSES(27, 1, 4),
	LOSSES(28, 1, 5),
};
static const struct fields quality_fields = FIELDS(quality_rows, struct quality);
static const struct field self_rows[] = { { .type = FIELD_U64S, .size = 8 } };
static const struct fields self_fields = FIELDS(self_rows, struct self_cost);

static const struct field gap_rows[] = {
	N(struct account_gap, start_ns),
	N(struct account_gap, end_ns, FROM(struct account_gap, start_ns)),
};
static const struct fields gap_fields = FIELDS(gap_rows, struct account_gap);

static const struct field group_rows[] = {
	TEXT(struct account_group, group),  TEXT(struct account_group, step),
	N(struct account_group, bytes),	    N(struct account_group, ns),
	N(struct account_group, intervals), N(struct account_group, without),
};
static const struct fields group_fields = FIELDS(group_rows, struct account_group);

#define LINK(way)                                                                  \
	ROW_SUM(struct account_gpu, link[way].value),                              \
		ROW_SUM(struct account_gpu, link[way].low,                         \
			FROM(struct account_gpu, link[way].value), .below = true), \
		ROW_SUM(struct account_gpu, link[way].high,                        \
			FROM(struct account_gpu, link[way].value))
static const struct field gpu_rows[] = {
	TEXT(struct account_gpu, bdf),
	TEXT(struct account_gpu, uuid),
	N(struct account_gpu, held_ns),
	N(struct account_gpu, alone_ns),
	N(struct account_gpu, known_ns),
	N(struct account_gpu, idle_ns),
	N(struct account_gpu, busy_ns),
	N(struct account_gpu, busy_low_ns),
	N(struct account_gpu, busy_high_ns),
	N(struct account_gpu, link_ns),
	LINK(DIRECTION_READ),
	LINK(DIRECTION_WRITE),
};
static const struct fields gpu_fields = FIELDS(gpu_rows, struct account_gpu);

static const struct field job_rows[] = {
	N(struct account_job, job.cgroup_id),
	N(struct account_job, job.provisional),
	N(struct account_job, late_start),
	OWN(BLOB_PATH, struct account_job, path),
	TEXT(struct account_job, boot),
	LIST(struct account_job, gaps, nr_gaps, &gap_fields, .max = ACCOUNT_MAX_GAPS,
	     .inside = true),
	N(struct account_job, gap_ns),
	N(struct account_job, intervals),
	N(struct account_job, covered_ns),
	ROW_STRUCT(struct account_job, whole, &part_fields),
	OWN(BLOB_ORIGIN, struct account_job, whole.start_ns),
	LIST(struct account_job, steps, nr_steps, &part_fields, .max = ACCOUNT_MAX_STEPS),
	OWN(BLOB_REASONS, struct account_job, node),
	LIST(struct account_job, node, nr_node, &node_fields),
	ROW_STRUCT(struct account_job, quality, &quality_fields),
	ROW_STRUCT(struct account_job, self, &self_fields),
	N(struct account_job, clock_back_ns, .since = 2),
	LIST(struct account_job, groups, nr_groups, &group_fields, .max = ACCOUNT_MAX_GROUPS,
	     .since = 6),
	N(struct account_job, others_unknown_ns, .since = 7),
	LIST(struct account_job, gpus, nr_gpus, &gpu_fields, .max = ACCOUNT_MAX_GPUS, .since = 8),
};
static const struct fields job_fields = FIELDS(job_rows, struct account_job);

static const struct field job_span_rows[] = {
	N(struct account_job, intervals),
	N(struct account_job, covered_ns),
	N(struct account_job, gap_ns),
	ROW_STRUCT(struct account_job, whole, &part_fields),
};
static const struct fields job_span_fields = FIELDS(job_span_rows, struct account_job);

static const struct field counter_rows[] = {
	ROW_SUM(struct account_node_total, value),
	ROW_SUM(struct account_node_total, attributed),
	ROW_SUMS(struct account_node_total, unattributed, NR_REASONS),
};
static const struct fields counter_fields = FIELDS(counter_rows, struct account_node_total);

static const struct field losses_rows[] = {
	ROW_STRUCT(struct accounts_node, quality, &quality_fields),
	ROW_STRUCT(struct accounts_node, self, &self_fields),
};
static const struct fields losses_fields = FIELDS(losses_rows, struct accounts_node);

static const struct field span_rows[] = {
	N(struct accounts_node, intervals),
	N(struct accounts_node, covered_ns),
	N(struct accounts_node, gaps),
	N(struct accounts_node, gap_ns),
	OWN(BLOB_REASONS, struct accounts_node, totals),
	LIST(struct accounts_node, totals, nr_totals, &node_fields),
	ROW_STRUCT(struct accounts_node, quality, &quality_fields),
	ROW_STRUCT(struct accounts_node, self, &self_fields),
};
static const struct fields span_fields = FIELDS(span_rows, struct accounts_node);

/* --- written */

static void put_own(struct fields_out *o, const struct field *f, const void *of)
{
	const char *path;

	switch (f->type) {
	case BLOB_PATH:
		path = field_text(f, of);
		bytes_put(&o->bytes, path != NULL);
		bytes_put(&o->bytes, path ? strlen(path) : 0);
		bytes_put_raw(&o->bytes, path, path ? strlen(path) : 0);
		break;
	case BLOB_REASONS:
		bytes_put(&o->bytes, NR_REASONS);
		break;
	case BLOB_ORIGIN:
		o->time = *(const uint64_t *)field_at(f, of);
		break;
	default:
		bytes_put(&o->bytes, field_get(f, of));
	}
}

static int put(struct bytes *b, const struct fields *rows, const void *of, uint64_t origin_ns)
{
	struct fields_out o = { .bytes = *b, .plain = true, .time = origin_ns, .own = put_own };
	uint32_t crc;

	o.bytes.nr = 0;
	o.bytes.err = 0;
	bytes_put(&o.bytes, BLOB_VERSION);
	fields_put(&o, rows, of);
	crc = o.bytes.err ? 0 : crc32(0, o.bytes.data, o.bytes.nr);
	bytes_put_raw(&o.bytes, (uint8_t[]){ crc, crc >> 8, crc >> 16, crc >> 24 }, CRC_BYTES);
	*b = o.bytes;
	return b->err;
}

int blob_job(struct bytes *b, const struct account_job *j)
{
	return put(b, &job_fields, j, 0);
}

int blob_counter(struct bytes *b, const struct account_node_total *t)
{
	return put(b, &counter_fields, t, 0);
}

int blob_node(struct bytes *b, const struct accounts_node *n)
{
	return put(b, &losses_fields, n, 0);
}

int blob_span(struct bytes *b, const struct accounts_node *piece)
{
	return put(b, &span_fields, piece, 0);
}

int blob_job_span(struct bytes *b, const struct account_job *piece, uint64_t origin_ns)
{
	return put(b, &job_span_fields, piece, origin_ns);
}

/* --- read */

static void take_path(struct bytes_in *in, char **ret)
{
	bool known = bytes_get_max(in, 1);
	size_t length = bytes_get(in);
	const char *text = bytes_get_raw(in, length);

	bytes_bad(in, text && memchr(text, '\0', length));
	if (in->err || !known)
		return;
	*ret = strndup(text, length);
	if (!*ret)
		in->err = -ENOMEM;
}

static void take_own(struct fields_in *from, const struct field *f, void *of)
{
	const size_t *nr_counters = from->arg;
	struct bytes_in *in = &from->bytes;
	uint64_t counter;

	switch (f->type) {
	case BLOB_PATH:
		take_path(in, (char **)((char *)of + f->offset));
		break;
	case BLOB_REASONS:
		bytes_bad(in, bytes_get(in) != NR_REASONS);
		break;
	case BLOB_ORIGIN:
		from->time = *(const uint64_t *)field_at(f, of);
		break;
	default:
		counter = bytes_get(in);
		bytes_bad(in, counter >= *nr_counters);
		field_set(f, of, in->err ? 0 : counter);
	}
}

/* Is it whole, of a version that is known, and as it must be? */
static int take(const void *data, size_t size, const struct fields *rows, size_t nr_counters,
		uint64_t origin_ns, void *of)
{
	struct fields_in in = {
		.plain = true, .time = origin_ns, .own = take_own, .arg = &nr_counters
	};
	const uint8_t *bytes = data;
	uint32_t crc;

	if (!bytes || size < CRC_BYTES)
		return -EUCLEAN;
	size -= CRC_BYTES;
	crc = bytes[size] | bytes[size + 1] << 8 | bytes[size + 2] << 16 |
	      (uint32_t)bytes[size + 3] << 24;
	if (crc32(0, bytes, size) != crc)
		return -EUCLEAN;
	in.bytes = bytes_from(bytes, size);
	in.version = bytes_get(&in.bytes);
	if (in.version > BLOB_VERSION)
		return -EPROTONOSUPPORT;
	bytes_bad(&in.bytes, !in.version);
	fields_take(&in, rows, of);
	bytes_bad(&in.bytes, in.bytes.at != in.bytes.end);
	return in.bytes.err == -EBADMSG ? -EUCLEAN : in.bytes.err;
}

int blob_read_job(const void *data, size_t size, size_t nr_counters, struct account_job *ret)
{
	struct account_job j = *ret;
	int err;

	j.path = NULL;
	j.node = NULL;
	j.steps = NULL;
	j.groups = NULL;
	j.gpus = NULL;
	memset(&j.whole, 0, sizeof(j.whole));
	j.nr_node = j.nr_steps = j.nr_groups = j.nr_gpus = 0;
	j.clock_back_ns = j.others_unknown_ns = 0;
	err = take(data, size, &job_fields, nr_counters, 0, &j);
	if (err)
		account_job_release(&j);
	else
		*ret = j;
	return err;
}

int blob_read_counter(const void *data, size_t size, struct account_node_total *ret)
{
	struct account_node_total t = *ret;
	int err = take(data, size, &counter_fields, 0, 0, &t);

	if (!err)
		*ret = t;
	return err;
}

int blob_read_node(const void *data, size_t size, struct accounts_node *ret)
{
	struct accounts_node n = *ret;
	int err = take(data, size, &losses_fields, 0, 0, &n);

	if (!err)
		*ret = n;
	return err;
}

int blob_read_span(const void *data, size_t size, size_t nr_counters, struct accounts_node *ret)
{
	struct accounts_node n = { 0 };
	int err = take(data, size, &span_fields, nr_counters, 0, &n);

	if (err)
		accounts_node_release(&n);
	else
		*ret = n;
	return err;
}

int blob_read_job_span(const void *data, size_t size, size_t nr_counters, uint64_t origin_ns,
		       struct account_job *ret)
{
	struct account_job j = { 0 };
	int err = take(data, size, &job_span_fields, nr_counters, origin_ns, &j);

	if (err)
		account_job_release(&j);
	else
		*ret = j;
	return err;
}
