// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks that options of a run make sense together. */
#include "cli/run_check.h"

#include <errno.h>
#include <string.h>

int run_check_measuring(const struct run_options *r, uint64_t interval_ns, bool settings,
			struct diag *d)
{
	const char *dash = settings ? "" : "--";
	bool events = strcmp(r->weights, "auto") != 0 && strcmp(r->weights, "cpu-time") != 0;

	if (r->window_ns > interval_ns) {
		diag_fail(d, -EINVAL, "%swindow is longer than %s", dash,
			  settings ? "interval" : "the report interval (-i)");
		return diag_advise(d, -EINVAL, "give a shorter window, or a longer interval");
	}
	if (events && !method_row(r->method)->events)
		return diag_fail(d, -EINVAL, "%sweights %.64s: %smethod %s would not use it", dash,
				 r->weights, dash, method_name(r->method));
	if (!r->gpu[0])
		return diag_fail(d, -EINVAL, "%sgpu: give auto, none or a command", dash);
	if (strcmp(r->gpu, "auto") != 0 && strcmp(r->gpu, "none") != 0 && !r->devices.nr)
		return diag_fail(d, -EINVAL, "%sgpu %.64s: it is for devices, which %s chooses",
				 dash, r->gpu, settings ? "the setting devices" : "-D");
	if (r->pci_map && !r->devices.nr)
		return diag_fail(d, -EINVAL, "%spci-map %s: it is for devices, which %s chooses",
				 dash, r->pci_map, settings ? "the setting devices" : "-D");
	if (r->esp && r->devices.nr)
		return diag_fail(
			d, -EINVAL,
			"-D: with --esp, the accelerators are all devices that are counted");
	if (r->esp && r->by_destination)
		return diag_fail(d, -EINVAL,
				 "--split destination: an ESP does not tell where bytes go");
	if (r->no_counters && r->by_destination)
		return diag_fail(d, -EINVAL, "%ssplit destination: nothing is counted with %s",
				 dash, settings ? "counters = no" : "--no-counters");
	/* A daemon's settings may give the peak even if counters are not used. */
	if (!settings && r->no_counters && !r->sources.nr && peaks_given(&r->peaks))
		return diag_fail(d, -EINVAL, "--peak: nothing is counted with --no-counters");
	return 0;
}

static bool chooses(const struct run_options *r)
{
	return r->pids.nr || r->cgroups.nr || r->jobs.nr;
}

int run_check_selection(const struct run_options *r, struct diag *d)
{
	if (r->all && chooses(r))
		return diag_fail(d, -EINVAL,
				 "-a follows everything: it cannot be combined with -p, -G or -J");
	return 0;
}

int run_check_live(struct run_options *r, struct diag *d)
{
	int err = run_check_selection(r, d);

	if (!r->interval_ns)
		r->interval_ns = RUN_INTERVAL_NS;
	if (!chooses(r) && !r->command)
		r->all = true;
	return err ? err : run_check_measuring(r, r->interval_ns, false, d);
}

int run_check_counts(const struct counts_joining *c, struct diag *d)
{
	if (c->file && !c->counts.group)
		return diag_fail(d, -EINVAL, "--counts %s: of which group? give --group NAME",
				 c->file);
	if (c->file)
		return 0;
	if (c->counts.group || c->counts.one_channel || c->counts.dram_hz || c->modules ||
	    c->offset_s)
		return diag_fail(d, -EINVAL,
				 "--group, --one-channel, --dram-hz, --modules and --counts-offset "
				 "are about --counts FILE");
	return 0;
}

int run_take_recording(struct options *o, const char *text, struct diag *d)
{
	if (o->run.file)
		return diag_fail(d, -EINVAL, "%s: one recording at a time", text);
	o->run.file = text;
	return 0;
}
