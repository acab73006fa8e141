// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files of counts: our own CSV, and output of vendors' tools. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/local_time.h"
#include "base/text.h"
#include "sources/baytrail/counts.h"
#include "sources/baytrail/baytrail_rows.h"
#include "trace.h"

#define MAX_LINE    4096
#define MAX_COLUMNS 16
/* 126 years: times are differences, or seconds since 1970. */
#define MAX_TIME_S  4e9

/* Kind of the first column of a CSV line. */
enum clock_column {
	TIME_NS, /* time: counts are totals since an unknown start */
	TIME_S,
	SECONDS, /* duration: counts are of this time */
};

/* Counts at one time, by counter of the group */
struct line {
	uint64_t ns;
	bool known[BAYTRAIL_MAX_EVENTS];
	uint64_t counts[BAYTRAIL_MAX_EVENTS];
};

struct reader;

/*
 * Format of a tool's output.
 * @begins: is this its first line?
 * @take: gets that line and all that follow, without surrounding blanks
 * @end: the file has ended; NULL: nothing to do
 */
struct file_layout {
	bool (*begins)(const char *text);
	int (*take)(struct reader *r, char *text);
	int (*end)(struct reader *r);
};

/*
 * @number: line number
 * @layout: NULL: not yet known
 * @column: by column behind the times: its counter; -1: not in the group
 * @last: the line before; in @begun. Its time is where the last one ended
 * @now: being assembled from several lines; if @open
 * @tsc, @tsc_hz: of emon: clocks of its sample; clocks a second, 0 = unknown
 * @separator: of cells; 0: blanks
 * @elapsed_s: duration of a summary
 */
struct reader {
	struct counts *c;
	const char *name;
	unsigned int number;
	struct diag *d;
	const struct file_layout *layout;
	enum clock_column clock;
	int column[MAX_COLUMNS];
	size_t nr;
	bool begun;
	struct line last;
	bool open;
	struct line now;
	double tsc;
	double tsc_hz;
	char separator;
	double elapsed_s;
	int (*take)(void *arg, const struct stat_segment *s);
	void *arg;
};

static int __attribute__((format(printf, 2, 3))) wrong(const struct reader *r, const char *fmt, ...)
{
	char what[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	diag_fail(r->d, -EBADMSG, "%.150s:%u: %s", r->name, r->number, what);
	return diag_advise(r->d, -EBADMSG, "docs/BAYTRAIL.md says what files of counts look like");
}

static char *without_blanks(char *text)
{
	char *end;

	text += strspn(text, " \t\r");
	for (end = text + strlen(text); end > text && strchr(" \t\r", end[-1]);)
		*--end = '\0';
	return text;
}

/* "UNC_SOC_Memory_DDR_BW.DDR_Chan0_Rank0_Read64B" is an event of the group, too. */
static int counter_of(const struct reader *r, const char *name)
{
	const struct stat_layout *l = &r->c->layout;
	size_t len = strlen(l->pmus[0].name);

	if (!strncasecmp(name, l->pmus[0].name, len) && name[len] && strchr(".:/", name[len]))
		name += len + 1;
	for (uint32_t i = 0; i < l->nr_counters; i++)
		if (!strcmp(l->counters[i].event, name))
			return (int)i;
	return -1;
}

/* "15,625,000" */
static int take_count(const struct reader *r, const char *text, uint64_t *ret)
{
	char digits[32];
	size_t nr = 0;

	for (const char *c = text; *c && nr < sizeof(digits) - 1; c++)
		if (*c != ',')
			digits[nr++] = *c;
	digits[nr] = '\0';
	return parse_u64(digits, ret) ? wrong(r, "\"%.40s\" is not a count", text) : 0;
}

static int send(struct reader *r, uint64_t start_ns, uint64_t end_ns, const struct line *line,
		const struct line *before)
{
	struct reading readings[BAYTRAIL_MAX_EVENTS];
	uint32_t counters[BAYTRAIL_MAX_EVENTS];
	struct stat_segment s = {
		.start_ns = start_ns, .end_ns = end_ns, .counters = counters, .readings = readings
	};
	uint64_t time = end_ns - start_ns;

	for (uint32_t i = 0; i < BAYTRAIL_MAX_EVENTS; i++) {
		uint64_t base = before ? before->counts[i] : 0;

		if (!line->known[i] || (before && !before->known[i]))
			continue;
		if (line->counts[i] < base) {
			r->c->fallen++;
			continue;
		}
		counters[s.nr] = i;
		readings[s.nr++] = (struct reading){ line->counts[i] - base, time, time };
	}
	return s.nr ? r->take(r->arg, &s) : 0;
}

/* --- CSV */

/* The next part of a line, without surrounding blanks. NULL behind the last one. */
static char *next_part(char **line)
{
	char *part = strsep(line, ",");

	return part ? without_blanks(part) : NULL;
}

static const char *const clock_names[] = { "time_ns", "time_s", "seconds" };

static bool commas_begin(const char *text)
{
	size_t len = strcspn(text, ", \t");

	for (size_t i = 0; i < ARRAY_SIZE(clock_names); i++)
		if (strlen(clock_names[i]) == len && !strncmp(text, clock_names[i], len))
			return true;
	return false;
}

static int take_name(struct reader *r, const char *part)
{
	int counter = counter_of(r, part);

	if (counter < 0)
		return wrong(r, "%s has no counter \"%.40s\"", r->c->layout.pmus[0].name, part);
	for (size_t k = 0; k < r->nr; k++)
		if (r->column[k] == counter)
			return wrong(r, "%s is there twice", part);
	r->column[r->nr++] = counter;
	return 0;
}

static int take_header(struct reader *r, char *line)
{
	char *part = next_part(&line);
	int err = 0;

	while (r->clock <= SECONDS && strcmp(clock_names[r->clock], part) != 0)
		r->clock++;
	if (r->clock > SECONDS)
		return wrong(r, "no comma behind \"%.40s\"", part);
	r->c->relative = r->clock == SECONDS;
	while (!err && (part = next_part(&line)))
		err = take_name(r, part);
	return err || r->nr ? err : wrong(r, "no counters");
}

static int take_time(const struct reader *r, const char *part, uint64_t *ret)
{
	double seconds;

	if (r->clock == TIME_NS)
		return parse_u64(part, ret) || *ret > INT64_MAX
			       ? wrong(r, "\"%.40s\" is not a time in nanoseconds", part)
			       : 0;
	if (parse_double(part, &seconds) || seconds < 0 || seconds > MAX_TIME_S)
		return wrong(r, "\"%.40s\" is not a time in seconds", part);
	*ret = (uint64_t)(seconds * NS_PER_S + 0.5);
	return 0;
}

static int take_counts(const struct reader *r, char *text, struct line *ret)
{
	char *part = next_part(&text);
	int err = take_time(r, part, &ret->ns);
	size_t i = 0;

	for (; !err && (part = next_part(&text)); i++) {
		if (i == r->nr)
			return wrong(r, "more than %zu counts", r->nr);
		/* An empty cell is no count, which differs from 0. */
		if (!*part)
			continue;
		if (parse_u64(part, &ret->counts[r->column[i]]))
			return wrong(r, "\"%.40s\" is not a count", part);
		ret->known[r->column[i]] = true;
	}
	return err || i == r->nr ? err : wrong(r, "%zu counts, not %zu", i, r->nr);
}

static int commas_take(struct reader *r, char *text)
{
	struct line line = { 0 };
	int err;

	if (!r->nr)
		return take_header(r, text);
	err = take_counts(r, text, &line);
	if (err)
		return err;
	if (r->clock == SECONDS) {
		uint64_t start_ns = r->last.ns;

		if (!line.ns)
			return wrong(r, "counts of no time");
		if (line.ns > INT64_MAX - r->last.ns)
			return wrong(r, "counts of more than %g s", (double)INT64_MAX / NS_PER_S);
		r->last.ns += line.ns;
		return send(r, start_ns, r->last.ns, &line, NULL);
	}
	/* Totals: the next later line includes its counts, too. */
	if (r->begun && line.ns <= r->last.ns) {
		r->c->disordered++;
		return 0;
	}
	if (r->begun)
		err = send(r, r->last.ns, line.ns, &line, &r->last);
	r->last = line;
	r->begun = true;
	return err;
}

/* --- emon: samples, each a date and then a line "EVENT clocks count..." with tabs */

/* Local time: in an hour that comes twice, samples that go back belong to the second time. */
static bool take_date(const char *text, uint64_t after_ns, uint64_t *ret_ns)
{
	struct tm tm = { 0 };
	int ms, end = 0;
	time_t seconds;

	if (sscanf(text, "%2d/%2d/%4d %2d:%2d:%2d.%3d%n", &tm.tm_mon, &tm.tm_mday, &tm.tm_year,
		   &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms, &end) != 7 ||
	    text[end])
		return false;
	tm.tm_mon--;
	tm.tm_year -= 1900;
	seconds = local_time(&tm, (time_t)(after_ns / NS_PER_S));
	if (seconds < 0 || ms < 0)
		return false;
	*ret_ns = (uint64_t)seconds * NS_PER_S + (uint64_t)ms * NS_PER_MS;
	return true;
}

static bool emon_begins(const char *text)
{
	uint64_t ns;

	return !strncmp(text, "Version Info:", strlen("Version Info:")) || take_date(text, 0, &ns);
}

/* "TSC Freq ....... 1,746.00 MHz", in front of all samples if emon was asked for it */
static void take_frequency(struct reader *r, const char *text)
{
	char digits[32] = "";
	size_t nr = 0;

	if (strncmp(text, "TSC Freq", strlen("TSC Freq")) != 0 || !strstr(text, "MHz"))
		return;
	text += strcspn(text, "0123456789");
	for (; *text && (isdigit((unsigned char)*text) || strchr(",.", *text)); text++)
		if (*text != ',' && nr < sizeof(digits) - 1)
			digits[nr++] = *text;
	if (parse_double(digits, &r->tsc_hz) || r->tsc_hz <= 0)
		r->tsc_hz = 0;
	r->tsc_hz *= 1e6;
}

/* A sample ends at its date. It begins at the end of the one before, or its clocks earlier. */
static int end_sample(struct reader *r)
{
	uint64_t length_ns = r->tsc_hz > 0 ? (uint64_t)(r->tsc / r->tsc_hz * NS_PER_S) : 0;
	uint64_t start_ns = r->begun ? r->last.ns : 0;
	int err = 0;

	if (!r->open)
		return 0;
	r->open = false;
	if (r->begun && r->now.ns <= r->last.ns) {
		r->c->disordered++;
		return 0;
	}
	if (length_ns && length_ns < r->now.ns && r->now.ns - length_ns > start_ns)
		start_ns = r->now.ns - length_ns;
	/* The length of the first sample may be unknown. */
	if (start_ns)
		err = send(r, start_ns, r->now.ns, &r->now, NULL);
	r->last = r->now;
	r->begun = true;
	return err;
}

static int take_event(struct reader *r, char *text)
{
	char *name = without_blanks(strsep(&text, "\t")), *part = strsep(&text, "\t");
	int counter = counter_of(r, name);
	uint64_t clocks, count, sum = 0;
	bool known = false;
	int err;

	/* The same run may count events of the cores. */
	if (counter < 0)
		return 0;
	if (!part || !text)
		return wrong(r, "no count of %s", name);
	err = take_count(r, without_blanks(part), &clocks);
	while (!err && (part = strsep(&text, "\t"))) {
		part = without_blanks(part);
		if (!*part || !strcmp(part, "N/A"))
			continue;
		err = take_count(r, part, &count);
		sum += err ? 0 : count;
		known = true;
	}
	r->tsc = err ? 0 : (double)clocks;
	r->now.counts[counter] = sum;
	r->now.known[counter] |= known;
	r->nr += known;
	return err;
}

static int emon_take(struct reader *r, char *text)
{
	uint64_t ns, last_ns = r->open ? r->now.ns : r->begun ? r->last.ns : 0;
	int err;

	if (take_date(text, last_ns, &ns)) {
		err = end_sample(r);
		r->now = (struct line){ .ns = ns };
		r->open = true;
		return err;
	}
	if (!strcmp(text, "----------") || !strcmp(text, "=========="))
		return end_sample(r);
	if (r->open)
		return take_event(r, text);
	take_frequency(r, text);
	return 0;
}

static int emon_end(struct reader *r)
{
	int err = end_sample(r);

	return err || r->nr ? err
			    : wrong(r, "no sample has an event of %s", r->c->layout.pmus[0].name);
}

/* --- VTune's timeline: a line for each bin */

/* Cells have the separator of the titles: a comma, a semicolon, a tab, or blanks. */
static char *next_cell(const struct reader *r, char **line)
{
	char *cell = *line, *at;

	if (!cell)
		return NULL;
	if (r->separator)
		at = strchr(cell, r->separator);
	else
		at = strstr(cell, "  ");
	*line = at ? at + 1 + (r->separator ? 0 : strspn(at + 1, " ")) : NULL;
	if (at)
		*at = '\0';
	return without_blanks(cell);
}

static bool timeline_begins(const char *text)
{
	return !strncmp(text, "timeBin", strlen("timeBin"));
}

/* "Hardware Event Count:DDR_Chan0_Rank0_Read64B:Self" */
static int counter_in(const struct reader *r, const char *title)
{
	const struct stat_layout *l = &r->c->layout;

	for (uint32_t i = 0; i < l->nr_counters; i++) {
		const char *event = l->counters[i].event, *at = strstr(title, event);
		const char *end = at ? at + strlen(event) : NULL;

		if (at && (at == title || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
		    !(isalnum((unsigned char)*end) || *end == '_'))
			return (int)i;
	}
	return -1;
}

static int take_titles(struct reader *r, char *text)
{
	const char *between = strpbrk(text, ",;\t");
	bool any = false;
	char *cell;

	r->separator = between ? *between : '\0';
	r->c->relative = true;
	for (int i = 0; (cell = next_cell(r, &text)); i++) {
		if (i < 3)
			continue;
		if (r->nr == MAX_COLUMNS)
			return wrong(r, "more than %d columns", MAX_COLUMNS);
		r->column[r->nr] = counter_in(r, cell);
		any |= r->column[r->nr++] >= 0;
	}
	return any ? 0 : wrong(r, "no column has an event of %s", r->c->layout.pmus[0].name);
}

static int timeline_take(struct reader *r, char *text)
{
	struct line line = { 0 };
	double time[2] = { 0 };
	char *cell;
	int err = 0;

	if (!r->nr)
		return take_titles(r, text);
	if (!isdigit((unsigned char)*text))
		return 0; /* a rule of dashes, or the tool's closing message */
	for (size_t i = 0; !err && (cell = next_cell(r, &text)); i++) {
		if (i == 0)
			continue;
		if (i < 3) {
			if (parse_double(cell, &time[i - 1]) || time[i - 1] < 0 ||
			    time[i - 1] > MAX_TIME_S)
				return wrong(r, "\"%.40s\" is not a time in seconds", cell);
			continue;
		}
		if (i - 3 >= r->nr)
			return wrong(r, "more cells than titles");
		if (!*cell || r->column[i - 3] < 0)
			continue;
		err = take_count(r, cell, &line.counts[r->column[i - 3]]);
		line.known[r->column[i - 3]] = true;
	}
	if (err)
		return err;
	line.ns = (uint64_t)(time[1] * NS_PER_S + 0.5);
	if (time[1] <= time[0] || (uint64_t)(time[0] * NS_PER_S + 0.5) < r->last.ns) {
		r->c->disordered++;
		return 0;
	}
	r->last.ns = line.ns;
	return send(r, (uint64_t)(time[0] * NS_PER_S + 0.5), line.ns, &line, NULL);
}

/* --- VTune's summary: the duration, and then the sum of each event */

static bool summary_begins(const char *text)
{
	static const char *const first[] = { "vtune:", "amplxe:", "Elapsed Time:",
					     "Collection and Platform Info" };

	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		if (!strncmp(text, first[i], strlen(first[i])))
			return true;
	return false;
}

static int summary_take(struct reader *r, char *text)
{
	char *cell, *end = NULL;
	int counter;

	/* The tool's own header may precede a timeline as well. */
	if (timeline_begins(text)) {
		r->nr = 0;
		r->open = true;
	}
	if (r->open)
		return timeline_take(r, text);
	if (!strncmp(text, "Elapsed Time:", strlen("Elapsed Time:"))) {
		text += strlen("Elapsed Time:");
		r->elapsed_s = strtod(text, &end);
		if (end == text || !(r->elapsed_s > 0) || r->elapsed_s > MAX_TIME_S)
			return wrong(r, "\"%.40s\" is not a time in seconds", without_blanks(text));
		return 0;
	}
	cell = text;
	text += strcspn(text, " \t");
	if (*text)
		*text++ = '\0';
	/* "EVENT[Unit0]" */
	cell[strcspn(cell, "[")] = '\0';
	counter = counter_of(r, cell);
	if (counter < 0)
		return 0;
	text = without_blanks(text);
	text[strcspn(text, " \t")] = '\0';
	r->nr++;
	if (take_count(r, text, &r->now.ns))
		return -EBADMSG;
	r->now.counts[counter] += r->now.ns;
	r->now.known[counter] = true;
	return 0;
}

static int summary_end(struct reader *r)
{
	if (r->open)
		return 0;
	if (!r->nr)
		return wrong(r, "no event of %s", r->c->layout.pmus[0].name);
	if (!r->elapsed_s)
		return wrong(r, "no line says \"Elapsed Time:\"");
	r->c->relative = true;
	return send(r, 0, (uint64_t)(r->elapsed_s * NS_PER_S + 0.5), &r->now, NULL);
}

/* --- all formats */

static const struct file_layout layouts[] = {
	{ commas_begin, commas_take, NULL },
	{ emon_begins, emon_take, emon_end },
	{ timeline_begins, timeline_take, NULL },
	{ summary_begins, summary_take, summary_end },
};

static int take_line(struct reader *r, char *text)
{
	text = without_blanks(text);
	if (!*text || *text == '#')
		return 0;
	for (size_t i = 0; !r->layout && i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].begins(text))
			r->layout = &layouts[i];
	return r->layout ? r->layout->take(r, text)
			 : wrong(r,
				 "\"%.40s\" begins no file of counts: the first column must be "
				 "time_ns, time_s or seconds, unless emon or VTune wrote it",
				 text);
}

int counts_read(struct counts *c, FILE *in, const char *name,
		int (*take)(void *arg, const struct stat_segment *s), void *arg, struct diag *d)
{
	struct reader r = { .c = c, .name = name, .d = d, .take = take, .arg = arg };
	char text[MAX_LINE];
	int err = 0, more;

	while (!err && (more = next_line(in, text, sizeof(text))) > 0) {
		r.number++;
		err = take_line(&r, text);
	}
	if (!err && !more && r.layout && r.layout->end)
		err = r.layout->end(&r);
	if (err)
		return d->what[0] ? err : diag_error(d, err, "cannot book what was counted");
	if (more == -E2BIG || more == -EINVAL) {
		r.number++;
		return wrong(&r, "this line is not text, or too long");
	}
	return more < 0 ? diag_error(d, more, "cannot read the file of counts") : 0;
}
