// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tiles on top of the page: what was moved, how much of it has an owner, how sure that is. */
#include <inttypes.h>
#include <string.h>

#include "base/sums.h"
#include "report/format.h"
#include "report/html/markup.h"
#include "report/html/page.h"
#include "report/verdict.h"

/* A tile: a large text, a small one below it; @exact is the title of the large one. */
static void put_tile(FILE *out, const char *head, const char *exact, const char *large,
		     const char *small)
{
	fprintf(out, "<div class=\"tile\"><span>%s</span><strong", head);
	if (exact[0])
		fprintf(out, " title=\"%s\"", exact);
	fputs(">", out);
	markup_text(out, large);
	fputs("</strong><small>", out);
	markup_text(out, small);
	fputs("</small></div>\n", out);
}

static void put_direction(FILE *out, const char *head, uint64_t bytes, uint64_t ns)
{
	char rate[FORMAT_NUMBER_LEN], sum[FORMAT_NUMBER_LEN], exact[48], large[48];

	format_rate(bytes, ns, rate);
	format_bytes(bytes, sum);
	snprintf(exact, sizeof(exact), "%" PRIu64 " bytes", bytes);
	snprintf(large, sizeof(large), "%s GB/s", rate);
	put_tile(out, head, exact, large, sum);
}

/* Bytes with an owner, of all of the counters that @all is the sum of */
static uint64_t attributed(const struct report *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *rc = &r->counters[i];

		if (rc->valid && !rc->counter->device && rc->counter->unit == UNIT_BYTES)
			sum = sum_capped(sum, rc->attributed);
	}
	return sum;
}

void page_tiles(FILE *out, const struct page *p)
{
	static const char *const heads[NR_DIRECTIONS] = { "Read", "Written", "Read and written" };
	const struct report *r = p->summary;
	const struct amounts all = rows_machine(r);
	const struct verdict v = report_verdict(r);
	const char *reasons = v.text + strlen(verdict_word_name(v.word));
	uint64_t owned = attributed(r), whole = amounts_bytes(&all);
	char part[FORMAT_NUMBER_LEN], rest[FORMAT_NUMBER_LEN], small[64], exact[80];
	bool counts[NR_DIRECTIONS] = { false };

	for (size_t i = 0; i < r->nr_counters; i++)
		if (r->counters[i].valid && !r->counters[i].counter->device &&
		    r->counters[i].counter->unit == UNIT_BYTES)
			counts[r->counters[i].counter->direction] = true;
	fputs("<div class=\"tiles\">\n", out);
	for (int d = 0; d < NR_DIRECTIONS; d++)
		if (counts[d])
			put_direction(out, heads[d], all.bytes[d], r->end_ns - r->start_ns);
	if (whole) {
		format_percent(owned, whole, part);
		format_bytes(whole - owned, rest);
		snprintf(small, sizeof(small), "%s unattributed", rest);
		snprintf(exact, sizeof(exact), "%" PRIu64 " of %" PRIu64 " bytes", owned, whole);
		put_tile(out, "Attributed", exact, part, small);
	}
	fprintf(out, "<div class=\"tile %s\"><span>Verdict</span><strong>%s</strong><small>",
		verdict_word_name(v.word), verdict_word_name(v.word));
	markup_text(out, *reasons ? reasons + strspn(reasons, ": ") : "no loss that matters");
	fputs("</small></div>\n</div>\n", out);
}
