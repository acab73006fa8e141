/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Three namespaces of process numbers: the kernel's records use the machine's, system calls use our
 * pid namespace, and /proc uses the one it was mounted in.
 */
#ifndef PLATFORM_SYS_PID_NAMESPACE_H
#define PLATFORM_SYS_PID_NAMESPACE_H

#include <stdbool.h>

/**
 * pid_namespace_has_proc() - does /proc have the numbers of our pid namespace?
 * @proc: "/proc", or a copy for tests
 *
 * Otherwise its folders belong to different processes than these numbers do here.
 */
bool pid_namespace_has_proc(const char *proc);

/**
 * pid_namespace_is_machine() - are our pid namespace and that of @proc the machine's?
 * @proc: as above
 *
 * Then all numbers are the same.
 */
bool pid_namespace_is_machine(const char *proc);

#endif
