/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parsers of option values. Strict: text that is not fully understood is an error. */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "cli/options.h"

/* The user whose manager runs Flux's jobs; no error if the user does not exist. */
#define USER_JOBS_DEFAULT "flux"

/* A field of 4 or 8 bytes gets a number, a pointer the text, a larger field a copy. */
value_parser value_text;     /* any */
value_parser value_platform; /* file with rows of the user's own; used at once but for a setting */
value_parser value_path;     /* from the root; also none, if that is the fallback */
value_parser
	value_addresses;    /* addresses with ports and paths of sockets between commas, or none */
value_parser value_group;   /* gid of a group, or NO_READERS */
value_parser value_spool;   /* from the root; "" for none */
value_parser value_host;    /* a name, or none */
value_parser value_hosts;   /* names between commas, or none */
value_parser value_number;  /* a whole number */
value_parser value_time;    /* nanoseconds */
value_parser value_since;   /* a point in time, as time_arg_parse() says */
value_parser value_size;    /* bytes */
value_parser value_percent; /* double, a part of one */
value_parser value_choice;  /* number of the word, see @choice */
value_parser value_scheduler;  /* enum scheduler */
value_parser value_schedulers; /* bits by enum scheduler */
value_parser value_user_jobs;  /* struct job_users */
value_parser value_pid;	       /* uint32_t */
value_parser value_pids;       /* struct pid_list, added to */
value_parser
	value_list; /* struct text_list: parts between commas are added; of a setting they are all */
value_parser value_lines;     /* struct text_list: its lines; none may be empty */
value_parser value_item;      /* struct text_list: the whole text is added */
value_parser value_jobs;      /* struct text_list of jobs, see job_text_parse() */
value_parser value_weights;   /* text, see weight_spec_parse() */
value_parser value_cgroup_v1; /* text, see cgroup1_is_wanted() */
value_parser value_by;	      /* struct run_options */
value_parser value_resctrl;   /* text: a folder, or none */
value_parser value_peak;      /* struct peaks_wanted, initially empty */
value_parser value_history;   /* struct history_config: "10s for 1h, 5m for 30d", or none */

/* The option shared by several commands, beside shared_options */
#define PLATFORM OPTION("platform", 0, "FILE", value_platform, machine.platform)
#define PLATFORM_IS                                                                          \
	"Rows for a machine that no row knows, in place of those here; metrics of your own " \
	"(docs/PLATFORMS.md)"

#endif
