// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "referee.h"

#include <string.h>

#include "base/array.h"

NAMES(referee_state_name, enum referee_state, [REFEREE_VALID] = "counted",
      [REFEREE_UNAVAILABLE] = "unavailable", [REFEREE_UNASSIGNED] = "unassigned",
      [REFEREE_BACKWARD] = "backward", [REFEREE_NEW] = "new", [REFEREE_UNREADABLE] = "unreadable")

NAMES(referee_match_name, enum referee_match, [REFEREE_BY_NONE] = "none",
      [REFEREE_BY_TASKS] = "tasks", [REFEREE_BY_NAME] = "name")

enum referee_state referee_state_find(const char *name)
{
	enum referee_state s = 0;

	while (s < NR_REFEREE_STATES && strcmp(referee_state_name(s), name) != 0)
		s++;
	return s;
}
