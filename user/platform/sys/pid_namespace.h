/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose numbers of processes are whose: the kernel's records have those of the machine, system
 * calls take those of our pid namespace, and /proc those of the namespace that it was mounted in.
 */
#ifndef PLATFORM_SYS_PID_NAMESPACE_H
#define PLATFORM_SYS_PID_NAMESPACE_H

#include <stdbool.h>

/**
 * pid_namespace_has_proc() - does /proc have the numbers of our pid namespace?
 * @proc: "/proc", or a copy for tests
 *
 * Otherwise a folder of it is of another process than the one with this number here.
 */
bool pid_namespace_has_proc(const char *proc);

/**
 * pid_namespace_is_machine() - is our pid namespace that of the machine, and @proc too?
 * @proc: as above
 *
 * Then all numbers are the same.
 */
bool pid_namespace_is_machine(const char *proc);

#endif
