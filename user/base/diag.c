// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int diag_fail(struct diag *d, int err, const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return err;
	va_start(ap, fmt);
	vsnprintf(d->what, sizeof(d->what), fmt, ap);
	va_end(ap);
	d->help[0] = '\0';
	return err;
}

int diag_no_memory(struct diag *d)
{
	return diag_fail(d, -ENOMEM, "out of memory");
}

int diag_error(struct diag *d, int err, const char *what)
{
	if (err == -ENOMEM)
		return diag_no_memory(d);
	return diag_fail(d, err, "%s: %s", what, strerror(-err));
}

int diag_advise(struct diag *d, int err, const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return err;
	va_start(ap, fmt);
	vsnprintf(d->help, sizeof(d->help), fmt, ap);
	va_end(ap);
	return err;
}
