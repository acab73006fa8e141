// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The account of a job in one short line, for the database of a scheduler: the sums of the job, which
 * always fit. Keys are short because the whole is; share/t410trace.job-compact-1.schema.json says
 * what they mean.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/array.h"
#include "base/base32.h"
#include "base/cleanup.h"
#include "base/hostlist.h"
#include "report/job/job_nodes.h"
#include "report/job/job_report.h"
#include "report/job/job_sums.h"
#include "report/losses.h"
#include "report/put.h"

/* No record becomes longer than this when it is unpacked. */
#define DECODED_MAX (1024 * 1024)

/* Bytes of a record, of names in it, and kinds of nodes */
#define RECORD_MOST 4000
#define NAMES_BYTES 300
#define KINDS_MOST  3

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)sum128_cut(value, INT64_MAX));
}

static void put_ms(json_t *o, const char *key, uint64_t ns, int *err)
{
	put(o, key, number(ns / 1000000), err);
}

/* Digits of all but the job's own bytes; more would take a third of the record for nothing. */
static sum128 unit_of(sum128 value)
{
	sum128 unit = 1;

	while (value / unit >= 10000)
		unit *= 10;
	return unit;
}

static sum128 rounded_down(sum128 value)
{
	return value - value % unit_of(value);
}

static sum128 rounded_up(sum128 value)
{
	sum128 down = rounded_down(value);

	return down == value ? value : down + unit_of(value);
}

/* The value is exact, its interval a little wider than it was; and what the machine had. */
static json_t *sum_array(const struct job_sum_value *v, int *err)
{
	json_t *a = json_array();

	put_element(a, exact_integer(v->value), err);
	put_element(a, exact_integer(v->low == v->value ? v->low : rounded_down(v->low)), err);
	put_element(a, exact_integer(v->high == v->value ? v->high : rounded_up(v->high)), err);
	put_element(a, exact_integer(rounded_up(v->machine)), err);
	return a;
}

/*
 * Sums by short names: "mr" is mem_read_bytes, "mb" mem_readwrite_bytes, "pw" pcie_write_bytes,
 * "nj" energy_nanojoules.
 */
static void key_of(size_t metric, char ret[3])
{
	static const char letters[NR_JOB_SUMS] = { 'm', 'c', 'g', 'x', 'r', 'd', 'p' };
	static const char ways[NR_DIRECTIONS] = { 'r', 'w', 'b' };
	bool energy = metric == NR_JOB_METRICS - 1;

	ret[0] = energy ? 'n' : letters[metric / NR_DIRECTIONS];
	ret[1] = energy ? 'j' : ways[metric % NR_DIRECTIONS];
	ret[2] = '\0';
}

static json_t *sums_object(const struct accounts_node *n, const struct account_job *j, int *err)
{
	json_t *o = json_object();

	for (size_t i = 0; i < NR_JOB_METRICS; i++) {
		struct job_sum_value v = job_metric(n, j, &j->whole, i);
		char key[3];

		key_of(i, key);
		if (v.counted)
			put(o, key, sum_array(&v, err), err);
	}
	return o;
}

/* --- a job on several nodes */

/* Forms in which a record has its nodes; each is shorter than the one before. */
enum detail {
	DETAIL_ALL,
	DETAIL_NO_LISTS, /* how many nodes are missing, not which */
	DETAIL_LEAST,	 /* and of sums over all destinations only, how nodes differ */
	NR_DETAILS,
};

static json_t *spread_array(const struct job_nodes *n, const struct job_spread *s, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(s->points); i++)
		put_element(a, exact_integer(s->points[i]), err);
	put_element(a, json_string(n->items[s->first].name), err);
	put_element(a, json_string(n->items[s->last].name), err);
	return a;
}

static json_t *spreads_object(const struct job_nodes *n, const struct job_kind *k,
			      enum detail detail, int *err)
{
	json_t *o = json_object();

	for (size_t i = 0; i < NR_JOB_SPREADS; i++) {
		bool least = i >= NR_JOB_METRICS - 1 || i / NR_DIRECTIONS == JOB_SUM_MEM;
		char key[] = "cpu";

		if (!k->spreads[i].sum || (detail == DETAIL_LEAST && !least))
			continue;
		if (i != JOB_SPREAD_CPUS)
			key_of(i, key);
		put(o, key, spread_array(n, &k->spreads[i], err), err);
	}
	return o;
}

/* As many names as have room */
static void put_names(json_t *o, const char *key, char *names, enum detail detail, int *err)
{
	if (!names)
		*err = *err ?: -ENOMEM;
	else if (names[0] && detail == DETAIL_ALL)
		put_text(o, key, names, err);
	free(names);
}

static bool is_stale(const struct job_node *n)
{
	return n->state == ACCOUNT_STALE;
}

static bool is_incomplete(const struct job_node *n)
{
	return n->incomplete || n->gap_ns;
}

static json_t *nodes_object(const struct job_nodes *n, enum detail detail, int *err)
{
	const char *const *missing = (const char *const *)n->missing.items;
	json_t *o = json_object();

	put_number(o, "n", job_nodes_count(n), err);
	if (n->expected)
		put_number(o, "of", n->expected, err);
	if (n->missing.nr)
		put_number(o, "no", n->missing.nr, err);
	if (n->nr_refused)
		put_number(o, "bad", n->nr_refused, err);
	put_names(o, "miss", hostlist_fold(missing, n->missing.nr, NAMES_BYTES), detail, err);
	put_names(o, "stale", job_nodes_names(n, is_stale, NAMES_BYTES), detail, err);
	put_names(o, "lost", job_nodes_names(n, is_incomplete, NAMES_BYTES), detail, err);
	if (n->nr_kinds == 1)
		put(o, "sp", spreads_object(n, &n->kinds[0], detail, err), err);
	return o;
}

/* Nodes that count different things are beside each other. */
static json_t *kinds_array(const struct job_nodes *n, enum detail detail, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n->nr_kinds && i < KINDS_MOST; i++) {
		const struct job_kind *k = &n->kinds[i];
		json_t *o = json_object();

		put_text(o, "p", k->host.platform, err);
		put_number(o, "n", k->nr_nodes, err);
		put(o, "m", sums_object(&k->node, &k->job, err), err);
		put(o, "sp", spreads_object(n, k, detail, err), err);
		put_element(a, o, err);
	}
	return a;
}

/* Its quality, briefly: numbers that are as they should be are left out. */
static void put_trust(json_t *o, const struct account_job *j, int *err)
{
	const struct quality *q = &j->quality;
	double least = 1;
	uint64_t missing = 0,
		 lost = losses_lasting(q) + (q->invalid_windows != 0) + (q->lost_windows != 0);

	for (size_t i = 0; i < j->nr_node; i++) {
		double ratio = job_running_ratio(&j->node[i]);

		missing += j->node[i].missing != 0;
		least = ratio < least ? ratio : least;
	}
	put_text(o, "q", method_name(q->method), err);
	if (least < 1)
		put(o, "run", json_real(least), err);
	if (missing)
		put_number(o, "miss", missing, err);
	if (lost)
		put_number(o, "lost", lost, err);
	if (j->gap_ns)
		put_ms(o, "gap", j->gap_ns, err);
	if (j->late_start)
		put_number(o, "late", 1, err);
}

/* How many, how long, and how busy where that is known: of all of them together. */
static void put_gpus(json_t *o, const struct job_context *c, const struct account_job *j, int *err)
{
	uint64_t held = 0, known = 0, busy = 0, nr = c->nodes ? 0 : j->nr_gpus;
	json_t *gpus;

	if (!j->nr_gpus)
		return;
	gpus = json_object();
	for (size_t i = 0; i < j->nr_gpus; i++) {
		held = sum_capped(held, j->gpus[i].held_ns);
		known = sum_capped(known, j->gpus[i].known_ns);
		busy = sum_capped(busy, j->gpus[i].busy_ns);
	}
	for (size_t i = 0; c->nodes && i < c->nodes->nr; i++)
		nr += c->nodes->items[i].gpus.nr;
	put_number(gpus, "n", nr, err);
	put_ms(gpus, "h", held, err);
	if (known) {
		put_ms(gpus, "k", known, err);
		put_ms(gpus, "b", busy, err);
	}
	put(o, "gpu", gpus, err);
}

static void put_who(json_t *o, const struct job_context *c, const struct account_job *j, int *err)
{
	put_number(o, "t4j", 1, err);
	put_name(o, "h", c->host->name, sizeof(c->host->name), err);
	put_text(o, "s", scheduler_name(j->job.scheduler), err);
	put_name(o, "j", j->job.id, sizeof(j->job.id), err);
	if (j->job.name[0])
		put_name(o, "n", j->job.name, sizeof(j->job.name), err);
	if (j->job.user[0])
		put_name(o, "u", j->job.user, sizeof(j->job.user), err);
	put(o, "cg", number(j->job.cgroup_id), err);
	put_text(o, "st", account_state_name(j->state), err);
	put_ms(o, "b", j->whole.start_ns, err);
	put_ms(o, "d", job_duration(j, &j->whole), err);
	put_ms(o, "cov", j->covered_ns, err);
	put(o, "cpu", number(sum128_cut(j->whole.on_cpu_ns / 1000000, INT64_MAX)), err);
}

static int compose(const struct job_context *c, const struct account_job *j, enum detail detail,
		   char **ret)
{
	json_t *o = json_object();
	int err = 0;

	put_who(o, c, j, &err);
	put(o, "m", sums_object(c->node, j, &err), &err);
	put_gpus(o, c, j, &err);
	put_trust(o, j, &err);
	if (c->nodes)
		put(o, "N", nodes_object(c->nodes, detail, &err), &err);
	if (c->nodes && c->nodes->nr_kinds > 1)
		put(o, "k", kinds_array(c->nodes, detail, &err), &err);
	*ret = err ? NULL : json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(4));
	json_decref(o);
	return err ? err : *ret ? 0 : -ENOMEM;
}

static int pack(const char *json, char **ret)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)json, .avail_in = (uInt)strlen(json) };
	cleanup_free uint8_t *bytes = NULL;
	size_t room;
	int done;

	/* 16: with a gzip header, so that common tools unpack it */
	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, z.avail_in);
	bytes = malloc(room);
	z.next_out = bytes;
	z.avail_out = (uInt)room;
	done = bytes ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
	deflateEnd(&z);
	if (done != Z_STREAM_END)
		return -ENOMEM;
	*ret = base32_encode(bytes, z.total_out);
	return *ret ? 0 : -ENOMEM;
}

static int seal(const char *json, char **ret)
{
	cleanup_free char *packed = NULL;
	int err = pack(json, &packed);

	if (err)
		return err;
	return asprintf(ret, "%s%s", JOB_COMPACT_PREFIX, packed) < 0 ? -ENOMEM : 0;
}

static int record_of(const struct job_context *c, const struct account_job *j, enum detail detail,
		     char **ret)
{
	cleanup_free char *json = NULL;

	return compose(c, j, detail, &json) ?: seal(json, ret);
}

int job_compact(const struct job_context *c, const struct account_job *j, char **ret)
{
	char *text = NULL;
	int err = record_of(c, j, DETAIL_ALL, &text);

	for (int i = DETAIL_ALL + 1; !err && i < NR_DETAILS && strlen(text) > RECORD_MOST; i++) {
		free(text);
		err = record_of(c, j, (enum detail)i, &text);
	}
	if (!err)
		*ret = text;
	return err;
}

int job_compact_missing(enum scheduler scheduler, const char *id, const struct job_nodes *nodes,
			char **ret)
{
	cleanup_free char *json = NULL;
	json_t *o = json_object();
	int err = 0;

	put_number(o, "t4j", 1, &err);
	put_text(o, "s", scheduler_name(scheduler), &err);
	put_text(o, "j", id, &err);
	put(o, "N", nodes_object(nodes, DETAIL_ALL, &err), &err);
	if (!err)
		json = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return err ? err : json ? seal(json, ret) : -ENOMEM;
}

/* Unpack at most this much; larger records are not ours. */
static int unpack(const uint8_t *bytes, size_t nr, char **ret)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)nr };
	cleanup_free char *text = malloc(DECODED_MAX + 1);
	int done;

	if (!text)
		return -ENOMEM;
	if (nr > UINT32_MAX || inflateInit2(&z, 15 + 16) != Z_OK)
		return nr > UINT32_MAX ? -EINVAL : -ENOMEM;
	z.next_out = (Bytef *)text;
	z.avail_out = DECODED_MAX;
	done = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (done == Z_MEM_ERROR)
		return -ENOMEM;
	if (done != Z_STREAM_END || z.avail_in || memchr(text, 0, z.total_out))
		return -EINVAL;
	text[z.total_out] = 0;
	*ret = take_ptr(text);
	return 0;
}

/* Is it a JSON object at all? */
static int check(const char *text)
{
	json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	bool object = json_is_object(o);

	json_decref(o);
	return object ? 0 : -EINVAL;
}

/* "t4j1l:" in letters of any case; @text is moved behind it. What has no "l" is of an early commit. */
static int take_prefix(const char **text)
{
	static const char stem[] = "t4j";
	const char *number = *text + strlen(stem), *end;
	bool early;
	size_t nr;

	if (strncasecmp(*text, stem, strlen(stem)) != 0)
		return -EINVAL;
	nr = strspn(number, "0123456789");
	end = number + nr;
	early = *end == ':';
	if (tolower(*end) == 'l')
		end++;
	if (!nr || *number == '0' || *end != ':')
		return -EINVAL;
	*text = end + 1;
	return nr > 1 || *number != '1' ? -EPROTONOSUPPORT : early ? -ENOTSUP : 0;
}

int job_compact_decode(const char *text, char **ret)
{
	cleanup_free uint8_t *bytes = NULL;
	cleanup_free char *json = NULL;
	size_t nr = 0;
	int err = take_prefix(&text);

	if (!err)
		err = base32_decode(text, &bytes, &nr);
	if (!err)
		err = unpack(bytes, nr, &json);
	if (!err)
		err = check(json);
	if (!err)
		*ret = take_ptr(json);
	return err;
}
