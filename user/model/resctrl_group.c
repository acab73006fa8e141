// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "resctrl_group.h"

#include <string.h>

#include "base/array.h"

NAMES(resctrl_state_name, enum resctrl_state, [RESCTRL_VALID] = "counted",
      [RESCTRL_UNAVAILABLE] = "unavailable", [RESCTRL_UNASSIGNED] = "unassigned",
      [RESCTRL_BACKWARD] = "backward", [RESCTRL_NEW] = "new", [RESCTRL_UNREADABLE] = "unreadable")

NAMES(resctrl_match_name, enum resctrl_match, [RESCTRL_BY_NONE] = "none",
      [RESCTRL_BY_TASKS] = "tasks", [RESCTRL_BY_NAME] = "name")

enum resctrl_state resctrl_state_find(const char *name)
{
	enum resctrl_state s = 0;

	while (s < NR_RESCTRL_STATES && strcmp(resctrl_state_name(s), name) != 0)
		s++;
	return s;
}
