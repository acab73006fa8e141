// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/reader.h"
#include <errno.h>
int ndjson_open(const char *path, struct input *in, struct diag *d, struct trace_header *header,
		struct ndjson_reader **ret)
{
	return -ENOSYS;
}
int ndjson_read(struct ndjson_reader *r, const struct trace_sink *sink, struct diag *d,
		struct trace_end *ret)
{
	return -ENOSYS;
}
void ndjson_reader_free(struct ndjson_reader *r)
{
}
