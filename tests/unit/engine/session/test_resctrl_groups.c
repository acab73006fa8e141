// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Monitoring groups as events of a trace: whose they are, and that files keep them. */
#include "trace_files.h"

#include "base/array.h"
#include "engine/session/resctrl_groups.h"
#include "recording_format.h"
#include "sample_report.h"
#include "temp_file.h"
#include "trace/ndjson.h"

static const struct report_row *row_of(const struct report *r, const struct report_resctrl *f)
{
	for (size_t i = 0; f->row[0] && i < r->nr_rows; i++)
		if (!strcmp(r->rows[i].key, f->row))
			return &r->rows[i];
	return NULL;
}

static struct report *report_of(const struct resctrl_groups *groups, bool all)
{
	struct report *r = sample_report(ROW_CGROUP);

	r->summary = all;
	assert_int_equal(resctrl_groups_report(groups, all, r), 0);
	return r;
}

/* A group of a step has all tasks of the job if the step has: that is known without the cgroups. */
static void rows_above_may_have_it(void **state)
{
	static const struct {
		const char *cgroup;
		uint32_t of_tasks, above;
		const char *row; /* NULL: none */
		uint32_t row_tasks;
	} rows[] = {
		{ "/slurm/job_12", 3, 0, "/slurm/job_12", 3 },
		{ "/slurm/job_12", 9, 0, "/slurm/job_12", 9 },
		{ "/slurm/job_12/step_0/deep", 3, 1, "/slurm/job_12/step_0", 3 },
		{ "/slurm/job_12/other/deep", 3, 2, "/slurm/job_12", 3 },
		{ "/slurm/job_12/other/deep", 3, 1, NULL, 0 },
		{ "/slurm/job_12x", 3, 1, "/slurm", 3 },
		{ "/slurm/job_12x", 3, 0, NULL, 0 },
		{ NULL, 0, 0, NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct trace_resctrl said = { .group = "g",
						    .state = "counted",
						    .end_ns = 5,
						    .domains = 1,
						    .tasks = 3,
						    .cgroup = rows[i].cgroup,
						    .of_tasks = rows[i].of_tasks,
						    .above = rows[i].above };
		const struct report_row *row;
		struct resctrl_groups *groups;
		struct report *r;

		assert_int_equal(resctrl_groups_new(false, &groups), 0);
		assert_int_equal(resctrl_groups_add(groups, &said), 0);
		assert_int_equal(resctrl_groups_close(groups), 0);
		r = report_of(groups, false);
		assert_int_equal(r->nr_resctrl, 1);
		row = row_of(r, r->resctrl);
		assert_int_equal(row != NULL, rows[i].row != NULL);
		if (row) {
			assert_string_equal(row->cgroup, rows[i].row);
			assert_int_equal(r->resctrl->of_tasks, rows[i].row_tasks);
		}
		report_free(r);
		resctrl_groups_free(groups);
	}
}

static void nonsense_is_refused(void **state)
{
	static const struct trace_resctrl wrong[] = {
		{ .group = "", .state = "counted" },
		{ .group = "g", .state = "counting" },
		{ .group = "g", .state = "new", .bytes = 1 },
		{ .group = "g", .state = "counted", .start_ns = 2, .end_ns = 1 },
		{ .group = "g", .state = "counted", .domains = 1, .missing = 2 },
	};
	struct resctrl_groups *groups;
	struct report *r;

	(void)state;
	assert_int_equal(resctrl_groups_new(true, &groups), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(resctrl_groups_add(groups, &wrong[i]), -EINVAL);
	assert_int_equal(resctrl_groups_close(groups), 0);
	r = report_of(groups, true);
	assert_int_equal(r->nr_resctrl, 0);
	report_free(r);
	resctrl_groups_free(groups);
}

/* --- files */

static const struct trace_resctrl kept[] = {
	{ "web/mon_groups/a", "counted", 1000, 2000, UINT64_MAX, 2, 1, 3, "/slurm/job_12", 4, 1 },
	{ "b", "unassigned", 1000, 2001, 0, 2, 2, 0, NULL, 0, 0 },
};

static int compare_event(void *arg, const struct trace_event *e)
{
	size_t *nr = arg;
	const struct trace_resctrl *is = &e->resctrl, *was = &kept[*nr];

	if (e->type != TRACE_RESCTRL)
		return 0;
	assert_true(*nr < ARRAY_SIZE(kept));
	assert_string_equal(is->group, was->group);
	assert_string_equal(is->state, was->state);
	assert_int_equal(is->start_ns, was->start_ns);
	assert_int_equal(is->end_ns, was->end_ns);
	assert_true(is->bytes == was->bytes);
	assert_int_equal(is->domains, was->domains);
	assert_int_equal(is->missing, was->missing);
	assert_int_equal(is->tasks, was->tasks);
	assert_int_equal(is->cgroup != NULL, was->cgroup != NULL);
	if (is->cgroup)
		assert_string_equal(is->cgroup, was->cgroup);
	assert_int_equal(is->of_tasks, was->of_tasks);
	assert_int_equal(is->above, was->above);
	++*nr;
	return 0;
}

static void assert_file_has_them(void)
{
	struct trace_end end = { 0 };
	struct trace_file *f;
	struct diag d = { 0 };
	size_t nr = 0;
	const struct trace_sink sink = { compare_event, &nr };

	if (trace_file_open(temp_path, &d, &f))
		fail_msg("%s", d.what);
	assert_true(trace_file_header(f)->resctrl);
	if (trace_file_read(f, &sink, &d, &end))
		fail_msg("%s", d.what);
	assert_int_equal(nr, ARRAY_SIZE(kept));
	assert_int_equal(end.refused, 0);
	trace_file_close(f);
}

static void send_kept(const struct trace_sink *sink, int answer)
{
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		assert_int_equal(trace_send_resctrl(sink, &kept[i]), answer);
}

static uint32_t version_of_recording(void)
{
	struct recording_preamble p;
	FILE *f = fopen(temp_path, "r");

	assert_non_null(f);
	assert_int_equal(fread(&p, sizeof(p), 1, f), 1);
	fclose(f);
	return p.version;
}

/* Files that say that groups were read have them; others are of an older version, without. */
static void files_keep_groups(void **state)
{
	struct trace_header h = sample_header;
	struct recording_writer *w;
	struct ndjson_writer *n;
	struct trace_sink sink;
	struct diag d = { 0 };
	FILE *f = temp_open();

	(void)state;
	h.resctrl = true;
	assert_int_equal(ndjson_create(f, &h, &d, &n), 0);
	sink = ndjson_sink(n);
	send_kept(&sink, 0);
	assert_int_equal(ndjson_finish(n, &d), 0);
	fclose(f);
	assert_file_has_them();
	for (int there = 1; there >= 0; there--) {
		h.resctrl = there;
		assert_int_equal(unlink(temp_path), 0);
		assert_int_equal(recording_create(temp_path, &h, 0, &d, &w), 0);
		sink = recording_sink(w);
		send_kept(&sink, there ? 0 : -EINVAL);
		assert_int_equal(recording_finish(w, &d, NULL), 0);
		assert_int_equal(version_of_recording(),
				 there ? RECORDING_NO_ONLINE : RECORDING_NO_PARTS);
		if (there)
			assert_file_has_them();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_above_may_have_it),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(files_keep_groups),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
