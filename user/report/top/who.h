/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A row's identity, packed: the part that stays the same between intervals. */
#ifndef REPORT_TOP_WHO_H
#define REPORT_TOP_WHO_H

#include "model.h"
#include "report/top/pack.h"

/** pack_who() - into an empty @w; @ret_key: where the row's key is in it, as a packed text */
void pack_who(struct bytes *w, const struct report_row *r, size_t *ret_key);

/** unpack_who() - the reverse; texts that are no arrays stay in @bytes. 0 or -ENOMEM */
int unpack_who(const uint8_t *bytes, size_t size, struct report_row *r);

#endif
