/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of the daemon's settings, from text. Strict: what is not wholly understood is an error. */
#ifndef CLI_SERVE_VALUES_H
#define CLI_SERVE_VALUES_H

#include <stddef.h>

#include "base/diag.h"

/* The one whose manager runs Flux's jobs; no error where there is no such user. */
#define USER_JOBS_DEFAULT "flux"

/*
 * Each takes
 * @text: the value
 * @field: what it becomes: uint64_t for numbers, times (ns) and sets (bits), char[] for texts, bool,
 *	double for the budget, enum method, struct job_users
 * @size: of the field
 * @d: gets the problem, which names the value
 *
 * and returns 0 or -EINVAL.
 */
int serve_value_interval(const char *text, void *field, size_t size, struct diag *d);
int serve_value_window(const char *text, void *field, size_t size, struct diag *d);
int serve_value_number(const char *text, void *field, size_t size, struct diag *d);
int serve_value_days(const char *text, void *field, size_t size, struct diag *d);
int serve_value_top(const char *text, void *field, size_t size, struct diag *d);
int serve_value_bool(const char *text, void *field, size_t size, struct diag *d);
int serve_value_split(const char *text, void *field, size_t size, struct diag *d);
int serve_value_method(const char *text, void *field, size_t size, struct diag *d);
int serve_value_weights(const char *text, void *field, size_t size, struct diag *d);
int serve_value_budget(const char *text, void *field, size_t size, struct diag *d);
int serve_value_schedulers(const char *text, void *field, size_t size, struct diag *d);
int serve_value_user_jobs(const char *text, void *field, size_t size, struct diag *d);
int serve_value_cgroup_v1(const char *text, void *field, size_t size, struct diag *d);
int serve_value_address(const char *text, void *field, size_t size, struct diag *d);
int serve_value_text(const char *text, void *field, size_t size, struct diag *d);
int serve_value_path(const char *text, void *field, size_t size, struct diag *d);
int serve_value_path_or_none(const char *text, void *field, size_t size, struct diag *d);

#endif
