// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Headers of recordings. */
#include "events.h"

#include <errno.h>

#include "trace/header.h"

static int decode(const struct bytes *o, struct trace_header *ret, const char **ret_wrong)
{
	struct bytes_in in = { .at = o->data, .end = o->data + o->nr };

	return header_decode(&in, ret, ret_wrong);
}

static void odd_filters_are_damage(void **state)
{
	static const char *const odd[] = { "a", "a=1,", "a,b", "a b", "\xff" };
	struct counter counters[NR_SAMPLE_COUNTERS];
	struct trace_header h = sample_header;
	struct bytes o = { 0 };

	(void)state;
	memcpy(counters, sample_counters, sizeof(counters));
	h.layout.counters = counters;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		struct trace_header got = { 0 };
		const char *wrong = NULL;

		strcpy(counters[2].filters, odd[i]);
		o.nr = 0;
		header_encode(&h, &o);
		assert_int_equal(decode(&o, &got, &wrong), -EBADMSG);
		assert_string_equal(wrong, "filters of a counter that are none");
		assert_null(got.layout.counters);
	}
	free(o.data);
}

/* A text that is longer than its place, and a header that goes on behind its end. */
static void odd_sizes_are_damage(void **state)
{
	struct trace_header h = { 0 };
	struct bytes o = { 0 };
	const char *wrong = NULL;
	char name[sizeof(h.host.name) + 1];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	bytes_put(&o, 0);
	bytes_put_text(&o, name);
	assert_int_equal(decode(&o, &h, &wrong), -EBADMSG);
	assert_string_equal(wrong, "the header is not as it should be");
	o.nr = 0;
	header_encode(&sample_header, &o);
	bytes_put(&o, 0);
	wrong = NULL;
	assert_int_equal(decode(&o, &h, &wrong), -EBADMSG);
	assert_string_equal(wrong, "the header is not as it should be");
	assert_null(h.layout.counters);
	free(o.data);
}

static void peaks_stay(void **state)
{
	struct trace_header h = { 0 }, with = sample_header;
	struct bytes o = { 0 };
	const char *wrong;
	size_t without;

	(void)state;
	header_encode(&sample_header, &o);
	without = o.nr;
	with.host.peaks = (struct peaks){
		.items = { { PEAK_CMEM, PEAK_FIRMWARE, 0, 307200000000ull },
			   { PEAK_PCIE, PEAK_GIVEN, PEAK_EVERY_SOCKET, 64000000000ull } },
		.nr = 2,
		.note = "16 memory devices",
	};
	o.nr = 0;
	header_encode(&with, &o);
	assert_true(o.nr > without);
	assert_int_equal(decode(&o, &h, &wrong), 0);
	assert_int_equal(h.host.peaks.nr, 2);
	assert_memory_equal(h.host.peaks.items, with.host.peaks.items, 2 * sizeof(struct peak));
	assert_string_equal(h.host.peaks.note, "16 memory devices");
	header_release(&h);
	/* no rate at all, and two of one thing */
	with.host.peaks.items[0].bytes_per_s = 0;
	o.nr = 0;
	header_encode(&with, &o);
	assert_int_equal(decode(&o, &h, &wrong), -EBADMSG);
	assert_string_equal(wrong, "a peak that cannot be");
	with.host.peaks.items[0] = with.host.peaks.items[1];
	o.nr = 0;
	header_encode(&with, &o);
	assert_int_equal(decode(&o, &h, &wrong), -EBADMSG);
	assert_string_equal(wrong, "two peaks of one thing");
	free(o.data);
}

static void filters_directions_and_destinations_stay(void **state)
{
	struct counter counters[NR_SAMPLE_COUNTERS];
	struct trace_header from = sample_header, h = { 0 };
	struct bytes o = { 0 };
	const char *wrong;

	(void)state;
	memcpy(counters, sample_counters, sizeof(counters));
	counters[3].direction = DIRECTION_READWRITE;
	counters[3].unit = UNIT_NANOJOULES;
	from.layout.counters = counters;
	header_encode(&from, &o);
	assert_int_equal(o.err, 0);
	assert_int_equal(decode(&o, &h, &wrong), 0);
	assert_same_header(&h, &from);
	assert_int_equal(h.layout.counters[3].direction, DIRECTION_READWRITE);
	assert_int_equal(h.layout.counters[1].destination, DESTINATION_REMOTE);
	header_release(&h);
	free(o.data);
}

/* What the kernel does not tell is the last in the header. */
static void notes_of_requests_stay(void **state)
{
	struct trace_header h = { 0 }, noted = sample_header;
	struct bytes o = { 0 };
	const char *wrong;

	(void)state;
	strcpy(noted.host.io_note, "sent packets cannot be attributed to processes");
	strcpy(noted.host.tick, "all");
	strcpy(noted.host.tick_note, "the kernel has no tracepoint");
	header_encode(&noted, &o);
	assert_int_equal(decode(&o, &h, &wrong), 0);
	assert_same_header(&h, &noted);
	header_release(&h);
	strcpy(noted.host.tick, "\x1b[2J");
	assert_string_equal(header_check(&noted), "an unknown way to close windows at ticks");
	o.nr = 0;
	header_encode(&sample_header, &o);
	assert_int_equal(o.err, 0);
	/* A header of version 6 ends before the two texts on ticks. */
	o.nr--;
	assert_int_equal(decode(&o, &h, &wrong), -EBADMSG);
	o.nr--;
	assert_int_equal(decode(&o, &h, &wrong), 0);
	assert_same_header(&h, &sample_header);
	header_release(&h);
	/* a header without the text on requests, and without its length */
	o.nr--;
	assert_int_equal(decode(&o, &h, &wrong), -EBADMSG);
	free(o.data);
}

/* Each row may have as many latencies as there are pairs. */
static void probes_times_counters_are_bounded(void **state)
{
	struct counter counters[65];
	struct probe probes[TRACE_MAX_PROBES] = { 0 };
	struct trace_header h = sample_header;

	(void)state;
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		counters[i] = sample_counters[0];
	h.layout.counters = counters;
	h.layout.nr_counters = sizeof(counters) / sizeof(*counters);
	h.probes = probes;
	h.nr_probes = TRACE_MAX_PROBES;
	assert_string_equal(header_check(&h), "too many probes");
}

static void impossible_counters_are_refused(void **state)
{
	static const char *const bad[] = {
		"a", "a=1,", "a=1,b", "a=9223372036854775808", ",", "="
	};
	struct counter counters[NR_SAMPLE_COUNTERS];
	struct trace_header h = sample_header;

	(void)state;
	memcpy(counters, sample_counters, sizeof(counters));
	h.layout.counters = counters;
	assert_null(header_check(&h));
	counters[2].destination = NR_DESTINATIONS;
	assert_string_equal(header_check(&h), "a counter of an unknown kind");
	counters[2].destination = DESTINATION_CXL;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		strcpy(counters[3].filters, bad[i]);
		assert_string_equal(header_check(&h), "filters of a counter that are none");
	}
	strcpy(counters[3].filters, "a=9223372036854775807,b=0x10");
	assert_null(header_check(&h));
}

/* The linker gives these the calls of the program: see tests.mk. */
void *__real_reallocarray(void *p, size_t nr, size_t size);
char *__real_strdup(const char *text);
void *__wrap_reallocarray(void *p, size_t nr, size_t size);
char *__wrap_strdup(const char *text);

/* How many more succeed; negative: all do. */
static long left = -1;

void *__wrap_reallocarray(void *p, size_t nr, size_t size)
{
	return left >= 0 && left-- == 0 ? NULL : __real_reallocarray(p, nr, size);
}

char *__wrap_strdup(const char *text)
{
	return left >= 0 && left-- == 0 ? NULL : __real_strdup(text);
}

/* The sample from its parts: two groups first, then two more, as a run with devices does it. */
static int build(struct trace_header *h)
{
	/* The second half begins anew with its numbers. */
	static const struct group later[] = { { 1, 0, 1 }, { 0, 1, 2 } };
	const struct layout *l = &sample_header.layout;
	struct counter counters[3];
	int err;

	*h = sample_header;
	h->layout = (struct layout){ 0 };
	h->cgroups = h->jobs = NULL;
	h->probes = NULL;
	h->devices = NULL;
	h->nr_cgroups = h->nr_jobs = h->nr_probes = h->nr_devices = 0;
	memcpy(counters, sample_counters + 3, sizeof(counters));
	for (size_t i = 0; i < 3; i++)
		counters[i].group -= 2;
	err = header_add_sockets(h, l->cpu_socket, l->nr_cpus, l->socket_ids, l->nr_sockets);
	if (!err)
		err = header_add_counters(h, sample_counters, 3, sample_groups, 2);
	if (!err)
		err = header_add_latencies(h, sample_probes, 1);
	if (!err)
		err = header_add_counters(h, counters, 3, later, 2);
	if (!err)
		err = header_add_latencies(h, sample_probes + 1, 1);
	if (!err)
		err = header_add_devices(h, sample_devices, NR_SAMPLE_DEVICES);
	if (!err)
		err = header_add_selection(h, sample_cgroups, 2, NULL, 0);
	memset(counters, 0xff, sizeof(counters));
	return err;
}

/* Each part is copied, and numbers are those of the whole. */
static void headers_are_built_of_parts(void **state)
{
	struct trace_header h;

	(void)state;
	assert_int_equal(NR_SAMPLE_COUNTERS, 6);
	assert_int_equal(build(&h), 0);
	assert_null(header_check(&h));
	assert_same_header(&h, &sample_header);
	assert_int_equal(h.layout.groups[3].first, 4);
	assert_int_equal(h.layout.counters[5].group, 3);
	assert_ptr_not_equal(h.layout.cpu_socket, sample_cpus);
	assert_ptr_not_equal(h.cgroups[0], sample_cgroups[0]);
	assert_ptr_not_equal(h.devices, sample_devices);
	header_release(&h);
	assert_null(h.layout.counters);
	/* nothing of anything is no error, and no missing memory */
	h = (struct trace_header){ 0 };
	assert_int_equal(header_add_sockets(&h, NULL, 0, NULL, 0), 0);
	assert_int_equal(header_add_counters(&h, NULL, 0, NULL, 0), 0);
	assert_int_equal(header_add_latencies(&h, NULL, 0), 0);
	assert_int_equal(header_add_devices(&h, NULL, 0), 0);
	assert_int_equal(header_add_selection(&h, NULL, 0, NULL, 0), 0);
	assert_null(header_check(&h));
	header_release(&h);
}

/* Wherever memory runs out, what there is can be released (valgrind sees what is not). */
static void headers_without_memory(void **state)
{
	int err = -ENOMEM, failures = 0;

	(void)state;
	for (long after = 0; err; after++) {
		struct trace_header h;

		left = after;
		err = build(&h);
		left = -1;
		if (err) {
			assert_int_equal(err, -ENOMEM);
			failures++;
		}
		header_release(&h);
	}
	assert_int_equal(failures, 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(odd_filters_are_damage),
		cmocka_unit_test(odd_sizes_are_damage),
		cmocka_unit_test(filters_directions_and_destinations_stay),
		cmocka_unit_test(peaks_stay),
		cmocka_unit_test(notes_of_requests_stay),
		cmocka_unit_test(probes_times_counters_are_bounded),
		cmocka_unit_test(impossible_counters_are_refused),
		cmocka_unit_test(headers_are_built_of_parts),
		cmocka_unit_test(headers_without_memory),
	};

	return cmocka_run_group_tests_name("header", tests, NULL, NULL);
}
