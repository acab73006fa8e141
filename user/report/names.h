/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of rows in texts for people; all are safe to print. */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include <stdbool.h>

#include "model.h"

/** names_is_own() - does a row stand for the tasks directly in a cgroup? */
bool names_is_own(const struct report_row *row);

/**
 * names_cgroup() - the path of a row's cgroup
 * @row: the row
 * @above: prefix to leave out when the row is below it; NULL for none
 * @ret_text: receives the text; the caller frees it
 *
 * Return: 0 or -ENOMEM.
 */
int names_cgroup(const struct report_row *row, const char *above, char **ret_text);

/**
 * names_job() - name of a row in a report by job: "slurm 12", "step 0"
 * @row: the row
 * @below: the row of its job is above it
 * @ret_text: receives the text; the caller frees it
 *
 * Ids of containers are cut to the twelve digits that their users know.
 *
 * Return: 0 or -ENOMEM.
 */
int names_job(const struct report_row *row, bool below, char **ret_text);

/**
 * names_row() - a row by number and name, by path, or by job: "4242 lbm", "/slurm/job_12"
 * @row: the row
 * @ret_text: receives the text; the caller frees it
 *
 * Return: 0 or -ENOMEM.
 */
int names_row(const struct report_row *row, char **ret_text);

#endif
