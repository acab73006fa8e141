// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The account of a job in one short line, for the database of a scheduler. Keys are short because
 * the whole is; share/t410trace.job-compact-1.schema.json says what they mean.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "report/job/job_report.h"
#include "report/job/job_sums.h"
#include "report/put.h"

/*
 * Longer ones are made shorter by leaving out what is said least often: steps, then counters and
 * monitoring groups.
 */
#define COMPACT_MAX   4000
#define COMPACT_STEPS 32
/* What a record can become, whatever it says. */
#define DECODED_MAX   (1024 * 1024)

enum detail {
	DETAIL_ALL,
	DETAIL_FEW_STEPS,
	DETAIL_NO_STEPS,
	DETAIL_SUMS_ONLY,
	NR_DETAILS,
};

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)(value < INT64_MAX ? value : INT64_MAX));
}

static void put_ms(json_t *o, const char *key, uint64_t ns, int *err)
{
	put(o, key, number(ns / 1000000), err);
}

/* Digits of what is not the job's own bytes; more would take a third of the record and say nothing. */
static uint64_t unit_of(uint64_t value)
{
	uint64_t unit = 1;

	while (value / unit >= 10000)
		unit *= 10;
	return unit;
}

static uint64_t rounded_down(uint64_t value)
{
	return value - value % unit_of(value);
}

static uint64_t rounded_up(uint64_t value)
{
	uint64_t down = rounded_down(value);

	return down == value ? value : sum_capped(down, unit_of(value));
}

/* The value is exact, its interval a little wider than it was. */
static json_t *bounds(const struct job_sum_value *v, int *err)
{
	json_t *a = json_array();

	put_element(a, number(v->value), err);
	put_element(a, number(v->low == v->value ? v->low : rounded_down(v->low)), err);
	put_element(a, number(v->high == v->value ? v->high : rounded_up(v->high)), err);
	return a;
}

/* A sum; of the job as a whole, also what the machine had. */
static json_t *with_machine(const struct job_sum_value *v, bool step, int *err)
{
	json_t *a = bounds(v, err);

	if (!step)
		put_element(a, number(rounded_up(v->machine)), err);
	return a;
}

/*
 * Sums by short names: "mr" is mem_read_bytes, "mb" mem_readwrite_bytes, "pw" pcie_write_bytes,
 * "nj" energy_nanojoules.
 */
static json_t *sums_object(const struct job_context *c, const struct account_job *j,
			   const struct account_part *p, int *err)
{
	static const char letters[NR_JOB_SUMS] = { 'm', 'c', 'g', 'x', 'r', 'd', 'p' };
	static const char ways[NR_DIRECTIONS] = { 'r', 'w', 'b' };
	struct job_sum_value energy = job_sum_energy(c->node, j, p);
	bool step = p != &j->whole;
	json_t *o = json_object();

	for (int i = 0; i < NR_JOB_SUMS * NR_DIRECTIONS; i++) {
		enum job_sum sum = i / NR_DIRECTIONS;
		enum direction way = i % NR_DIRECTIONS;
		struct job_sum_value v = job_sum_of(c->node, j, p, sum, way);
		char key[] = { letters[sum], ways[way], 0 };

		/* Of steps, what was nothing is left out. */
		if (!v.counted || (step && !v.high))
			continue;
		/* Where memory is is said of the job only. */
		if (step && sum != JOB_SUM_MEM && sum != JOB_SUM_PCIE)
			continue;
		put(o, key, with_machine(&v, step, err), err);
	}
	if (energy.counted && (!step || energy.high))
		put(o, "nj", with_machine(&energy, step, err), err);
	return o;
}

static json_t *counters_array(const struct job_context *c, const struct account_job *j, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < j->nr_node && !*err; i++) {
		const struct account_counter *counter = &c->node->counters[j->node[i].counter];
		struct job_sum_value v = job_sum_counter(j, &j->whole, i);
		json_t *o = json_object();

		put_name(o, "n", counter->name, sizeof(counter->name), err);
		if (counter->socket)
			put_number(o, "s", counter->socket, err);
		if (counter->unit != UNIT_BYTES)
			put_text(o, "un", unit_name(counter->unit), err);
		if (v.counted) {
			put(o, "v", number(v.value), err);
			put(o, "o", number(rounded_down(v.others)), err);
			put(o, "u", number(rounded_down(v.unattributed)), err);
		}
		put_element(a, o, err);
	}
	return a;
}

static json_t *steps_array(const struct job_context *c, const struct account_job *j, size_t most,
			   int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < j->nr_steps && i < most && !*err; i++) {
		const struct account_part *p = &j->steps[i];
		json_t *o = json_object();

		put_name(o, "n", p->step, sizeof(p->step), err);
		put_ms(o, "d", job_duration(j, p), err);
		put_ms(o, "cpu", p->on_cpu_ns, err);
		put(o, "m", sums_object(c, j, p, err), err);
		put_element(a, o, err);
	}
	return a;
}

/* What the kernel's monitoring groups counted: of steps only where steps are, at the end none. */
static bool has_group(const struct account_group *g, enum detail detail)
{
	return detail < DETAIL_NO_STEPS || (detail < DETAIL_SUMS_ONLY && !g->step[0]);
}

static size_t nr_groups(const struct account_job *j, enum detail detail)
{
	size_t nr = 0;

	for (size_t i = 0; i < j->nr_groups; i++)
		nr += has_group(&j->groups[i], detail);
	return nr;
}

static json_t *groups_array(const struct account_job *j, enum detail detail, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < j->nr_groups && !*err; i++) {
		const struct account_group *g = &j->groups[i];
		json_t *o;

		if (!has_group(g, detail))
			continue;
		o = json_object();
		put_name(o, "n", g->group, sizeof(g->group), err);
		if (g->step[0])
			put_name(o, "t", g->step, sizeof(g->step), err);
		put(o, "v", number(g->bytes), err);
		put_ms(o, "d", g->ns, err);
		put(o, "i", number(g->intervals), err);
		if (g->without)
			put(o, "miss", number(g->without), err);
		put_element(a, o, err);
	}
	return a;
}

/* How far to trust it, in a word or two: what is as it should be is not said. */
static void put_trust(json_t *o, const struct account_job *j, int *err)
{
	const struct quality *q = &j->quality;
	double least = 1;
	uint64_t missing = 0, lost = 0;
	const uint64_t losses[] = { q->invalid_windows, q->lost_windows, q->lost_slices_ns,
				    q->lost_tasks,	q->lost_cgroups, q->late_slices,
				    q->lost_slices,	q->bad_records,	 q->uncounted_ns,
				    q->lost_io };

	for (size_t i = 0; i < j->nr_node; i++) {
		double ratio = job_running_ratio(&j->node[i]);

		missing += j->node[i].missing != 0;
		least = ratio < least ? ratio : least;
	}
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		lost += losses[i] != 0;
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
	put_ms(o, "cpu", j->whole.on_cpu_ns, err);
}

static void put_cut(json_t *o, const struct account_job *j, enum detail detail, int *err)
{
	json_t *cut = json_object();
	size_t left = detail == DETAIL_FEW_STEPS ? COMPACT_STEPS : 0;

	if (detail != DETAIL_ALL && j->nr_steps > left)
		put_number(cut, "t", j->nr_steps - left, err);
	if (detail == DETAIL_SUMS_ONLY)
		put_number(cut, "k", j->nr_node, err);
	if (nr_groups(j, detail) < j->nr_groups)
		put_number(cut, "r", j->nr_groups - nr_groups(j, detail), err);
	if (json_object_size(cut))
		put(o, "cut", cut, err);
	else
		json_decref(cut);
}

static int compose(const struct job_context *c, const struct account_job *j, enum detail detail,
		   char **ret)
{
	json_t *o = json_object();
	int err = 0;

	put_who(o, c, j, &err);
	put(o, "m", sums_object(c, j, &j->whole, &err), &err);
	if (detail < DETAIL_SUMS_ONLY)
		put(o, "k", counters_array(c, j, &err), &err);
	if (detail < DETAIL_NO_STEPS && j->nr_steps)
		put(o, "t",
		    steps_array(c, j, detail == DETAIL_ALL ? SIZE_MAX : COMPACT_STEPS, &err), &err);
	if (nr_groups(j, detail))
		put(o, "r", groups_array(j, detail, &err), &err);
	put_trust(o, j, &err);
	put_cut(o, j, detail, &err);
	*ret = err ? NULL : json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(4));
	json_decref(o);
	return err ? err : *ret ? 0 : -ENOMEM;
}

static int pack(const char *json, bool caseless, char **ret)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)json, .avail_in = (uInt)strlen(json) };
	cleanup_free uint8_t *bytes = NULL;
	size_t room;
	int done;

	/* 16: with the head of gzip, so that common tools unpack it */
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
	*ret = caseless ? base32_encode(bytes, z.total_out) : base64_encode(bytes, z.total_out);
	return *ret ? 0 : -ENOMEM;
}

int job_compact(const struct job_context *c, const struct account_job *j, bool caseless, char **ret)
{
	const char *prefix = caseless ? JOB_CASELESS_PREFIX : JOB_COMPACT_PREFIX;

	for (int detail = DETAIL_ALL; detail < NR_DETAILS; detail++) {
		cleanup_free char *json = NULL;
		cleanup_free char *packed = NULL;
		char *text;
		int err = compose(c, j, detail, &json);

		if (!err)
			err = pack(json, caseless, &packed);
		if (err)
			return err;
		if (strlen(packed) + strlen(prefix) > COMPACT_MAX && detail != DETAIL_SUMS_ONLY)
			continue;
		if (asprintf(&text, "%s%s", prefix, packed) < 0)
			return -ENOMEM;
		*ret = text;
		break;
	}
	return 0;
}

/* Unpack at most so much; what says to be more is not one of ours. */
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

/* Is it an object of JSON at all? */
static int check(const char *text)
{
	json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	bool object = json_is_object(o);

	json_decref(o);
	return object ? 0 : -EINVAL;
}

/*
 * What a record is, from its prefix: "T4J1:" or, in letters of any case, "t4j1l:"; @text is moved
 * behind it.
 */
static int take_prefix(const char **text, bool *caseless)
{
	size_t stem = strlen("T4J"), nr;
	const char *number = *text + stem, *end;

	if (strncasecmp(*text, JOB_COMPACT_PREFIX, stem) != 0)
		return -EINVAL;
	nr = strspn(number, "0123456789");
	end = number + nr;
	*caseless = *end == 'l' || *end == 'L';
	if (!nr || *number == '0' || end[*caseless] != ':')
		return -EINVAL;
	/* Where the case was lost, so are the digits of base64. */
	if (!*caseless && strncmp(*text, JOB_COMPACT_PREFIX, stem) != 0)
		return -EINVAL;
	*text = end + *caseless + 1;
	return nr == 1 && *number == '1' ? 0 : -EPROTONOSUPPORT;
}

int job_compact_decode(const char *text, char **ret)
{
	cleanup_free uint8_t *bytes = NULL;
	cleanup_free char *json = NULL;
	size_t nr = 0;
	bool caseless;
	int err = take_prefix(&text, &caseless);

	if (!err)
		err = caseless ? base32_decode(text, &bytes, &nr)
			       : base64_decode(text, &bytes, &nr);
	if (!err)
		err = unpack(bytes, nr, &json);
	if (!err)
		err = check(json);
	if (!err)
		*ret = take_ptr(json);
	return err;
}
