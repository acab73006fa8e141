/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The losses of struct quality, in words. */
#ifndef REPORT_LOSSES_H
#define REPORT_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

#define NR_LOSSES     23
#define LOSS_TEXT_LEN 128

/* A loss is doubtful for the part of this that it is. */
enum loss_whole {
	LOSS_INTERNAL, /* it changes no number of the report: only details have it */
	LOSS_HARMLESS, /* no number of the report is less certain */
	LOSS_OF_NOTHING,
	LOSS_OF_WINDOWS, /* their bytes are in the next one */
	LOSS_OF_CPU_TIME,
	LOSS_OF_TIME, /* of the report */
};

/**
 * struct loss - a number of struct quality; "%s" in a text is its value
 * @offset: in struct quality
 * @name: as in JSON
 * @unit: of the value
 * @whole: the numbers that it makes doubtful
 * @one, @many: a sentence, for the value 1 and for others; NULL: it is only in the list of all
 * @short_one, @short_many: a few words; NULL up to LOSS_HARMLESS
 */
struct loss {
	size_t offset;
	const char *name;
	enum { LOSS_COUNTED, LOSS_TIMED, LOSS_IN_BYTES } unit;
	enum loss_whole whole;
	const char *one;
	const char *many;
	const char *short_one;
	const char *short_many;
};

extern const struct loss losses[NR_LOSSES];

/** loss_value() - its value, 0 for no loss */
uint64_t loss_value(const struct quality *q, const struct loss *l);

/** losses_lasting() - how many kinds of losses no later window makes good: the report is incomplete */
size_t losses_lasting(const struct quality *q);

/** loss_say() - the sentence of @l with a value, or, if @brief, the few words */
void loss_say(const struct loss *l, uint64_t value, bool brief, char ret_text[LOSS_TEXT_LEN]);

#endif
