/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands of t410trace. Each one parses its own arguments: argv[0] is
 * "t410trace NAME", the rest is what followed the name. What they return is the
 * exit status. The option rows are visible so that the manual page and the shell
 * completion can be made from them.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <argp.h>

#include "base/exit_status.h"

/** cmd_trace() - follow workloads and report; the main job */
int cmd_trace(int argc, char **argv);

/** cmd_record() - the main job's trace into a file */
int cmd_record(int argc, char **argv);

/** cmd_report() - reports of such a file */
int cmd_report(int argc, char **argv);

/** cmd_stat() - what the PMUs count, system-wide, and metrics made of it */
int cmd_stat(int argc, char **argv);
/** cmd_neighbours() - who moved more while a latency was high */
int cmd_neighbours(int argc, char **argv);

/** cmd_list() - show the uncore PMUs with their events and filters */
int cmd_list(int argc, char **argv);

/** cmd_topology() - show PCI devices, their root ports and the PMUs of these */
int cmd_topology(int argc, char **argv);

/** cmd_check() - show whether this machine has what t410trace needs */
int cmd_check(int argc, char **argv);

/** cmd_job() - show the account of a job */
int cmd_job(int argc, char **argv);

/** cmd_jobs() - list the jobs that have accounts */
int cmd_jobs(int argc, char **argv);

/** cmd_serve() - keep accounts of jobs, for months */
int cmd_serve(int argc, char **argv);

extern const struct argp_option list_options[];
extern const struct argp_option topology_options[];
extern const struct argp_option check_options[];
extern const struct argp_option job_options[];
extern const struct argp_option jobs_options[];

#endif
