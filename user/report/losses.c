// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/format.h"

#define LOSS(field, u, w, ...)                                                               \
	{                                                                                    \
		.offset = offsetof(struct quality, field), .name = #field, .unit = LOSS_##u, \
		.whole = LOSS_##w, __VA_ARGS__                                               \
	}
#define SAY(text_one, text_many)   .one = (text_one), .many = (text_many)
#define SHORT(text_one, text_many) .short_one = (text_one), .short_many = (text_many)

const struct loss losses[NR_LOSSES] = {
	LOSS(invalid_windows, COUNTED, OF_WINDOWS,
	     SAY("%s window could not be read (its bytes are in the next one)",
		 "%s windows could not be read (their bytes are in the next ones)"),
	     SHORT("%s unread window", "%s unread windows")),
	LOSS(unscheduled_windows, COUNTED, OF_WINDOWS,
	     SAY("%s window had no turn of some counters (the next one covers it)",
		 "%s windows had no turn of some counters (the next ones cover them)"),
	     SHORT("%s window without a turn", "%s windows without a turn")),
	LOSS(lost_windows, COUNTED, OF_WINDOWS,
	     SAY("%s window did not fit into the buffer (its bytes are in the next one)",
		 "%s windows did not fit into the buffer (their bytes are in the next ones)"),
	     SHORT("%s lost window", "%s lost windows")),
	LOSS(merged_windows, COUNTED, OF_WINDOWS,
	     SAY("%s window was much longer than asked for",
		 "%s windows were much longer than asked for"),
	     SHORT("%s late window", "%s late windows")),
	LOSS(lost_slices_ns, TIMED, OF_CPU_TIME,
	     SAY("%s s of CPU time could not be booked on a task",
		 "%s s of CPU time could not be booked on a task"),
	     SHORT("%s s of CPU time lost", "%s s of CPU time lost")),
	LOSS(kept_flushes, COUNTED, INTERNAL,
	     SAY("%s time records had to wait for the buffer",
		 "%s times records had to wait for the buffer")),
	LOSS(lost_tasks, COUNTED, OF_NOTHING,
	     SAY("%s start, exec or end of a task was missed",
		 "%s starts, execs or ends of tasks were missed"),
	     SHORT("%s missed start or end of a task", "%s missed starts or ends of tasks")),
	LOSS(lost_cgroups, COUNTED, OF_NOTHING,
	     SAY("%s change of a cgroup was missed", "%s changes of cgroups were missed"),
	     SHORT("%s missed change of a cgroup", "%s missed changes of cgroups")),
	LOSS(late_slices, COUNTED, OF_NOTHING,
	     SAY("%s slice or request came after its interval was closed",
		 "%s slices or requests came after their interval was closed"),
	     SHORT("%s late slice", "%s late slices")),
	LOSS(lost_slices, COUNTED, OF_NOTHING,
	     SAY("%s slice or request was lost by the program that wrote the trace",
		 "%s slices or requests were lost by the program that wrote the trace"),
	     SHORT("%s lost slice", "%s lost slices")),
	LOSS(bad_records, COUNTED, OF_NOTHING,
	     SAY("%s invalid record was left out", "%s invalid records were left out"),
	     SHORT("%s bad record", "%s bad records")),
	LOSS(unseen_switches, COUNTED, INTERNAL,
	     SAY("%s context switch was hidden by the kernel",
		 "%s context switches were hidden by the kernel")),
	LOSS(unknown_tasks, COUNTED, HARMLESS,
	     SAY("%s row has no known name", "%s rows have no known name")),
	LOSS(reader_moves, COUNTED, INTERNAL,
	     SAY("%s time the CPU that reads a PMU changed",
		 "%s times the CPU that reads a PMU changed")),
	LOSS(rows_pooled, COUNTED, HARMLESS,
	     SAY("%s row was merged because there were too many",
		 "%s rows were merged because there were too many")),
	LOSS(lost_io, COUNTED, OF_NOTHING,
	     SAY("%s request to a device could not be noted",
		 "%s requests to devices could not be noted"),
	     SHORT("%s missed request to a device", "%s missed requests to devices")),
	LOSS(unowned_io_bytes, IN_BYTES, HARMLESS,
	     SAY("%s of requests to devices have no known cause",
		 "%s of requests to devices have no known cause")),
	LOSS(device_held_ns, TIMED, HARMLESS,
	     SAY("%s s of devices' turns were lost to other users of the counters",
		 "%s s of devices' turns were lost to other users of the counters")),
	LOSS(counter_restarts, COUNTED, HARMLESS,
	     SAY("%s time counters started again after an implausible reading",
		 "%s times counters started again after implausible readings")),
	LOSS(uncounted_ns, TIMED, OF_TIME,
	     SAY("%s s of counters before that are missing",
		 "%s s of counters before that are missing"),
	     SHORT("%s s not counted", "%s s not counted")),
	LOSS(weights_reopened, COUNTED, INTERNAL,
	     SAY("%s time the core events of a CPU were opened again",
		 "%s times the core events of a CPU were opened again")),
	LOSS(unweighed_ns, TIMED, HARMLESS),
	LOSS(device_changes, COUNTED, HARMLESS,
	     SAY("%s time a function came, went or changed hands below a counted port",
		 "%s times functions came, went or changed hands below counted ports")),
};

uint64_t loss_value(const struct quality *q, const struct loss *l)
{
	uint64_t value;

	memcpy(&value, (const char *)q + l->offset, sizeof(value));
	return value;
}

size_t losses_lasting(const struct quality *q)
{
	size_t nr = 0;

	for (const struct loss *l = losses; l < losses + NR_LOSSES; l++)
		nr += l->whole > LOSS_HARMLESS && l->whole != LOSS_OF_WINDOWS && loss_value(q, l);
	return nr;
}

void loss_say(const struct loss *l, uint64_t value, bool brief, char ret_text[LOSS_TEXT_LEN])
{
	const char *one = brief ? l->short_one : l->one, *many = brief ? l->short_many : l->many;
	char number[FORMAT_NUMBER_LEN];

	if (l->unit == LOSS_TIMED)
		format_seconds(value, number);
	else if (l->unit == LOSS_IN_BYTES)
		format_bytes(value, number);
	else
		snprintf(number, sizeof(number), "%" PRIu64, value);
	/* The formats come from the table above alone. */
	snprintf(ret_text, LOSS_TEXT_LEN, value == 1 ? one : many, number);
}
