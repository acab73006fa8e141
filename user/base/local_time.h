/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef BASE_LOCAL_TIME_H
#define BASE_LOCAL_TIME_H

#include <time.h>

/**
 * local_time() - the moment of a local time, which mktime() chooses by chance in a repeated hour
 * @tm: the fields from the year to the second
 * @after: of two moments with this local time, the first one is meant that is not before; 0: the first
 *
 * A local time that is skipped is taken in the offset that makes it earlier: then nothing that came
 * behind it is left out.
 */
time_t local_time(const struct tm *tm, time_t after);

#endif
