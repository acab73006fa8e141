// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts of Bay Trail that another tool printed: the file, and every formula. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "engine/stat/stat_book.h"
#include "sources/baytrail/counts.h"
#include "sources/baytrail/baytrail_rows.h"

#define S 1000000000ull

struct world {
	struct counts counts;
	struct stat_book *book;
	struct stat_report *report;
	struct diag d;
	uint64_t end_ns;
};

static int take(void *arg, const struct stat_segment *s)
{
	struct world *w = arg;

	if (!w->book)
		assert_int_equal(stat_book_new(&w->counts.layout, s->start_ns, &w->d, &w->book), 0);
	w->end_ns = s->end_ns;
	return stat_book_segment(w->book, s);
}

static int read_text(struct world *w, const struct counts_options *o, const char *text)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	int err;

	*w = (struct world){ 0 };
	assert_non_null(f);
	assert_int_equal(counts_new(o, &w->d, &w->counts), 0);
	err = counts_read(&w->counts, f, "file.csv", take, w, &w->d);
	fclose(f);
	if (!err && w->book)
		assert_int_equal(stat_book_summary(w->book, w->end_ns,
						   &(struct stat_cost){ .sets = 1 }, &w->report),
				 0);
	return err;
}

static void leave(struct world *w)
{
	stat_report_free(w->report);
	stat_book_free(w->book);
	counts_free(&w->counts);
}

static const struct stat_value *value_of(const struct world *w, const char *id)
{
	for (size_t i = 0; i < w->counts.layout.nr_metrics; i++)
		if (!strcmp(w->counts.layout.metrics[i].id, id))
			return &w->report->values[i];
	fail_msg("no metric %s", id);
	return NULL;
}

/* Known answers: group, counts of some time, metric, its value. */
struct known {
	struct counts_options o;
	const char *text;
	const char *id;
	double value;
};

static void known_answers(void **state)
{
	static const struct known known[] = {
		{ { "UNC_SOC_Memory_DDR_BW", false, 0 },
		  "seconds,DDR_Chan0_Rank0_Read64B\n1,15625000\n",
		  "baytrail.chan0.rank0_read",
		  1000 },
		{ { "UNC_SOC_Memory_DDR_BW", true, 0 },
		  "seconds,DDR_Chan0_Rank0_Read64B\n1,15625000\n",
		  "baytrail.chan0.rank0_read",
		  500 },
		{ { "UNC_SOC_Memory_DDR_BW", false, 0 },
		  "seconds,DDR_Chan0_Rank0_Read64B,DDR_Chan0_Rank1_Read64B,DDR_Chan0_Rank0_"
		  "Write64B,"
		  "DDR_Chan0_Rank1_Write64B,DDR_Chan1_Rank0_Read64B,DDR_Chan1_Rank1_Read64B,"
		  "DDR_Chan1_Rank0_Write64B,DDR_Chan1_Rank1_Write64B\n"
		  "2,1000000,2000000,4000000,8000000,16000000,32000000,64000000,128000000\n",
		  "baytrail.ddr.write",
		  204.0 * 64 / 2 },
		{ { "UNC_SOC_Memory_DDR1_BW", false, 0 },
		  "seconds,DDR_Chan1_Rank0_Read64B,DDR_Chan1_Rank1_Read64B,Clock_Counter\n"
		  "0.5,1000000,2000000,7\n",
		  "baytrail.chan1.read",
		  3.0 * 64 * 2 },
		{ { "unc_soc_module0_bw", false, 0 },
		  "seconds,Mod0_ReadPartial,Mod0_Read32B,Mod0_Read64B\n1,1000,300,600\n",
		  "baytrail.module0.partial_reads",
		  100 },
		{ { "UNC_SOC_Module0_BW", false, 0 },
		  "seconds,Mod0_ReadPartial,Mod0_Read32B,Mod0_Read64B\n1,1000,300,600\n",
		  "baytrail.module0.read",
		  0.048 },
		{ { "UNC_SOC_Module0_1_BW", false, 0 },
		  "seconds,Mod1_Write64B,Mod1_Write32B\n1,1000000,1000000\n",
		  "baytrail.module1.write",
		  96 },
		{ { "UNC_SOC_Graphics_BW", false, 0 },
		  "seconds,GFX_ReadPartial,GFX_Read32B,GFX_Read64B\n2,50,0,1000000\n",
		  "baytrail.graphics.read",
		  32 },
		{ { "UNC_SOC_DDR_Self_Refresh", false, 800e6 },
		  "seconds,DDR_Chan0_Self_Refresh\n1,400000000\n",
		  "baytrail.chan0.self_refresh",
		  50 },
		{ { "UNC_SOC_All_Reqs", false, 0 },
		  "seconds,Mod0_Reqs,Mod1_Reqs,GFX_Reqs,Disp_Reqs,Imaging_Reqs,VED_Reqs,"
		  "LowSpeedPF_Reqs\n1,1000000,0,500000,0,0,0,0\n",
		  "baytrail.all.requests",
		  96 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct known *k = &known[i];
		const struct stat_value *v;
		struct world w;

		if (read_text(&w, &k->o, k->text))
			fail_msg("%s: %s", k->id, w.d.what);
		v = value_of(&w, k->id);
		if (v->absence != STAT_PRESENT || fabs(v->value - k->value) > 1e-9 * k->value)
			fail_msg("%s of %s is %g, not %g", k->id, k->o.group, v->value, k->value);
		leave(&w);
	}
}

/* All groups, each with counts of 1000 for all of its events: no formula is without a value. */
static void all_groups(void **state)
{
	(void)state;
	assert_int_equal(nr_baytrail_groups, 14);
	for (size_t i = 0; i < nr_baytrail_groups; i++) {
		const struct baytrail_group *g = &baytrail_groups[i];
		const struct counts_options o = { g->name, false, 800e6 };
		char text[1024] = "seconds", line[256] = "1";
		struct world w;

		for (size_t e = 0; e < BAYTRAIL_MAX_EVENTS && g->events[e]; e++) {
			snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%s",
				 g->events[e]);
			strcat(line, ",1000");
		}
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "\n%s\n", line);
		assert_int_equal(read_text(&w, &o, text), 0);
		for (size_t m = 0; m < w.counts.layout.nr_metrics; m++)
			if (w.report->values[m].absence != STAT_PRESENT)
				fail_msg("%s of %s has no value", w.counts.layout.metrics[m].id,
					 g->name);
		assert_true(w.counts.layout.nr_metrics || strstr(g->name, "Snoops"));
		leave(&w);
	}
}

/* Totals since whenever, at times: what falls or is not there is absent, and not 0. */
static void totals(void **state)
{
	const struct counts_options o = { "UNC_SOC_Module0_BW", false, 0 };
	struct world w;

	(void)state;
	assert_int_equal(
		read_text(&w, &o,
			  "# the tool's own words\ntime_s, Mod0_Read32B ,Mod0_Read64B,"
			  "Mod0_ReadPartial\n10,1000,500,\n11,4000,700,\n\n12,3000,900,\r\n"
			  "13,3500,1000,\n"),
		0);
	assert_int_equal(w.counts.fallen, 1);
	assert_int_equal(w.end_ns, 13 * S);
	assert_int_equal(w.report->counts[1].counted, 3500); /* 3000 and 500 */
	assert_int_equal(w.report->counts[2].counted, 500);
	assert_int_equal(w.report->counts[0].absence, STAT_NOT_READ);
	assert_int_equal(value_of(&w, "baytrail.module0.partial_reads")->absence, STAT_NOT_READ);
	/* Of the two seconds in which both are known */
	assert_true(fabs(value_of(&w, "baytrail.module0.read")->value -
			 (3500 * 32 + 300 * 64) / 2e6) < 1e-12);
	leave(&w);
	assert_int_equal(read_text(&w, &o, "time_ns,Mod0_Read32B\n5,1\n1000000005,3\n"), 0);
	assert_int_equal(w.report->counts[1].counted, 2);
	leave(&w);
}

#define SAMPLE(date, tsc, first, second)                         \
	"11/23/2026 13:00:" date "\nINST_RETIRED.ANY\t1\t2\t3\n" \
	"UNC_SOC_Module0_BW.Mod0_Read32B\t" tsc "\t" first "\nMod0_Read64B\t" tsc "\t" second

/* What emon and VTune print: their own layouts say the same as lines with commas. */
static void vendors(void **state)
{
	static const struct {
		const char *text;
		uint64_t first, second; /* counts of Read32B and Read64B */
		double seconds;
		uint64_t disordered;
		bool relative;
	} known[] = {
		/* The first sample says when the second one begins. */
		{ "Version Info: emon\n\n" SAMPLE("01.500", "9", "5", "6") "\n----------\n" SAMPLE(
			  "02.500", "9", "1,000\t234",
			  "N/A") "\n----------\n==========\n" SAMPLE("04.000", "9", "1", "7"),
		  1235, 7, 2.5, 0, false },
		/* It is told how long all of them were; there are pauses between them. */
		{ "Version Info: emon\nTSC Freq ........... 1,000.00 MHz\n" SAMPLE(
			  "01.500", "500,000,000", "5",
			  "6") "\n----------\n" SAMPLE("02.500", "250,000,000", "7",
						       "8") "\n----------\n",
		  12, 14, 0.75, 0, false },
		{ SAMPLE("01.000", "9", "5", "6") "\n----------\n" SAMPLE(
			  "03.000", "9", "7",
			  "8") "\n----------\n" SAMPLE("03.000", "9", "7",
						       "8") "\n----------\n" SAMPLE("02.000", "9",
										    "7",
										    "8") "\n-------"
											 "---\n",
		  7, 8, 2, 2, false },
		{ "vtune: Using result path `r000'\nvtune: Executing actions 75 % Generating\n"
		  "timeBin  Bin Start Time  Bin End Time  Uncore Event Count:Mod0_Read32B:Self  "
		  "Uncore Event Count:Mod0_Read64B:Self\n"
		  "-------  --------------  ------------  ----  ----\n"
		  "0                 0.000         1.500       1,000   20\n"
		  "1                 1.500         2.000          30    4\n"
		  "vtune: Executing actions 100 % done\n",
		  1030, 24, 2, 0, true },
		{ "timeBin,Bin Start Time,Bin End Time,CPU Time:Self,Mod0_Read32B,Mod0_Read64B\n"
		  "0,0,1,6.5s,10,20\n1,1,2,7.5s,1,2\n2,1,2,7.5s,1,2\n",
		  11, 22, 2, 1, true },
		{ "Elapsed Time: 4.000s\n    Paused Time: 0s\nUncore Event summary\n"
		  "--------------------\nUncore Event Type  Uncore Event Count:Self\n"
		  "UNC_SOC_Module0_BW.Mod0_Read32B[UNIT0]  1,500\nMod0_Read64B   20\n",
		  1500, 20, 4, 0, true },
	};
	const struct counts_options o = { "UNC_SOC_Module0_BW", false, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct world w;
		uint64_t ns;

		if (read_text(&w, &o, known[i].text) || !w.report)
			fail_msg("%zu: %s", i, w.d.what);
		ns = w.report->end_ns - w.report->start_ns;
		assert_int_equal(w.report->counts[1].counted, known[i].first);
		assert_int_equal(w.report->counts[2].counted, known[i].second);
		assert_int_equal(w.counts.disordered, known[i].disordered);
		assert_int_equal(w.counts.relative, known[i].relative);
		if (i != 1 && fabs((double)ns / S - known[i].seconds) > 1e-6)
			fail_msg("%zu: %g s", i, (double)ns / S);
		leave(&w);
	}
	/* A duplicate of totals costs nothing: the next line has its counts. */
	{
		struct world w;

		assert_int_equal(
			read_text(&w, &o, "time_s,Mod0_Read32B\n1,5\n2,7\n2,8\n1.5,6\n3,9\n"), 0);
		assert_int_equal(w.counts.disordered, 2);
		assert_int_equal(w.report->counts[1].counted, 4);
		leave(&w);
	}
}

/* emon says local time: it goes on in an hour that comes twice. */
static void repeated_hour(void **state)
{
	static const char text[] = "10/25/2026 02:59:59.500\n"
				   "UNC_SOC_Module0_BW.Mod0_Read32B\t9\t5\n----------\n"
				   "10/25/2026 02:00:01.000\n"
				   "UNC_SOC_Module0_BW.Mod0_Read32B\t9\t7\n----------\n";
	const struct counts_options o = { "UNC_SOC_Module0_BW", false, 0 };
	struct world w;

	(void)state;
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	assert_int_equal(read_text(&w, &o, text), 0);
	assert_int_equal(w.counts.disordered, 0);
	assert_non_null(w.report);
	assert_int_equal(w.report->end_ns - w.report->start_ns, 1500000000);
	assert_int_equal(w.report->counts[1].counted, 7);
	leave(&w);
	unsetenv("TZ");
	tzset();
}

static void wrong_files(void **state)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{ "time,Mod0_Read32B\n", "the first column must be" },
		{ "seconds\n", "no counters" },
		{ "seconds,Mod1_Read32B\n", "has no counter \"Mod1_Read32B\"" },
		{ "seconds,Mod0_Read32B,Mod0_Read32B\n", "is there twice" },
		{ "seconds,Mod0_Read32B\n1,2,3\n", "file.csv:2: more than 1 counts" },
		{ "seconds,Mod0_Read32B,Mod0_Read64B\n1,2\n", "1 counts, not 2" },
		{ "seconds,Mod0_Read32B\n0,2\n", "counts of no time" },
		{ "seconds,Mod0_Read32B\n-1,2\n", "not a time in seconds" },
		{ "seconds,Mod0_Read32B\n1,2.5\n", "\"2.5\" is not a count" },
		{ "seconds,Mod0_Read32B\n1,-2\n", "is not a count" },
		{ "time_ns\tMod0_Read32B\n", "no comma behind \"time_ns\tMod0_Read32B\"" },
		{ "seconds,Mod0_Read32B\n4e9,1\n4e9,1\n4e9,1\n", "file.csv:4: counts of more" },
		{ "Version Info: x\n", "no sample has an event of UNC_SOC_Module0_BW" },
		{ "11/23/2026 13:00:01.500\nMod0_Read32B\t7\n", "file.csv:2: no count of" },
		{ "11/23/2026 13:00:01.500\nMod0_Read32B\t7\tx\n", "\"x\" is not a count" },
		{ "timeBin  Bin Start Time  Bin End Time  Mod1_Read32B\n", "no column has an" },
		{ "timeBin,Bin Start Time,Bin End Time,Mod0_Read32B\n0,0,x,3\n",
		  "\"x\" is not a time in seconds" },
		{ "timeBin,Bin Start Time,Bin End Time,Mod0_Read32B\n0,0,1,3,4\n",
		  "file.csv:2: more cells than titles" },
		{ "vtune: Using result path\n", "no event of" },
		{ "vtune: x\nMod0_Read32B 7\n", "no line says \"Elapsed Time:\"" },
		{ "Elapsed Time: soon\n", "is not a time" },
		{ "time_ns,Mod0_Read32B\n1.5,2\n", "not a time in nanoseconds" },
	};
	const struct counts_options o = { "UNC_SOC_Module0_BW", false, 0 };
	const struct counts_options unknown = { "UNC_SOC_Modul0_BW", false, 0 };
	struct counts c;
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		if (read_text(&w, &o, wrong[i].text) != -EBADMSG || !strstr(w.d.what, wrong[i].why))
			fail_msg("%s: %s", wrong[i].text, w.d.what);
		leave(&w);
	}
	assert_int_equal(counts_new(&unknown, &w.d, &c), -EINVAL);
	assert_non_null(strstr(w.d.help, "UNC_SOC_Module0_BW"));
	counts_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers), cmocka_unit_test(all_groups),
		cmocka_unit_test(totals),	 cmocka_unit_test(vendors),
		cmocka_unit_test(repeated_hour), cmocka_unit_test(wrong_files),
	};

	return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
