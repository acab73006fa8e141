// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/peak_note.h"

#include "base/text.h"
#include "platform/sys/smbios.h"

bool peak_note(const struct sysfs *fs, char *ret, size_t size)
{
	struct diag absent = { 0 };
	char text[512];

	if (smbios_sentence(fs, &absent, text, sizeof(text)))
		return false;
	ret[0] = '\0';
	str_append(ret, size, "peak of memory: %s", text);
	return true;
}
