// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace.h"

static bool slice_valid(const struct trace_header *h, const struct trace_slice *s)
{
	return s->cpu < h->layout.nr_cpus && s->start_ns <= s->end_ns &&
	       s->on_cpu_ns <= s->end_ns - s->start_ns && s->weights_ns <= s->on_cpu_ns;
}

static bool io_valid(const struct trace_header *h, const struct trace_io *io)
{
	if (io->device >= h->nr_devices || io->end_ns < io->start_ns)
		return false;
	if (io->exclusive && (io->read_bytes || io->write_bytes || io->pid == TRACE_PID_LOST))
		return false;
	if (io->pid == TRACE_PID_LOST)
		return true;
	if (io->pid == TRACE_PID_IDLE)
		return io->cgroup_id != 0;
	return io->tgid && io->tgid != TRACE_PID_LOST && (h->by_thread || io->tgid == io->pid);
}

static bool cpu_valid(const struct trace_header *h, const struct trace_cpu *c)
{
	return h->online && c->cpu < h->layout.nr_cpus &&
	       (c->socket == LAYOUT_NO_SOCKET || (c->online && c->socket < h->layout.nr_sockets));
}

static bool list_valid(const struct trace_header *h, uint32_t device, uint64_t start_ns,
		       uint64_t end_ns, uint32_t nr)
{
	return device < h->nr_devices && start_ns <= end_ns && nr <= TRACE_MAX_CONTEXTS;
}

static bool is_process(uint32_t pid)
{
	return pid != TRACE_PID_IDLE && pid != TRACE_PID_LOST;
}

static bool contexts_valid(const struct trace_header *h, const struct trace_contexts *c)
{
	bool valid = list_valid(h, c->device, c->start_ns, c->end_ns, c->nr);

	for (uint32_t i = 0; valid && i < c->nr; i++)
		valid = is_process(c->processes[i].pid) && c->processes[i].since_ns <= c->end_ns;
	return valid;
}

static bool activity_valid(const struct trace_header *h, const struct trace_activity *a)
{
	bool valid = list_valid(h, a->device, a->start_ns, a->end_ns, a->nr) &&
		     !a->samples == !a->period_ns;

	for (uint32_t i = 0; valid && i < a->nr; i++)
		valid = is_process(a->processes[i].pid) &&
			a->processes[i].copy_ns <= (a->copies ? a->processes[i].busy_ns : 0);
	return valid;
}

bool trace_valid(const struct trace_header *h, const struct trace_event *e)
{
	switch (e->type) {
	case TRACE_SLICE:
		return slice_valid(h, &e->slice);
	case TRACE_WINDOW:
		return e->window.group < h->layout.nr_groups &&
		       e->window.start_ns < e->window.end_ns;
	case TRACE_SAMPLE:
		return e->sample.probe < h->nr_probes && e->sample.start_ns < e->sample.end_ns;
	case TRACE_IO:
		return io_valid(h, &e->io);
	case TRACE_PART:
		return e->part.part < h->nr_parts && e->part.start_ns < e->part.end_ns &&
		       e->part.running_ns <= e->part.enabled_ns;
	case TRACE_RESCTRL:
		return h->resctrl && e->resctrl.group && e->resctrl.state &&
		       e->resctrl.start_ns <= e->resctrl.end_ns;
	case TRACE_LOST:
		return e->lost.what && e->lost.socket < h->layout.nr_sockets &&
		       e->lost.start_ns <= e->lost.end_ns;
	case TRACE_CPU:
		return cpu_valid(h, &e->cpu);
	case TRACE_CONTEXTS:
		return h->contexts && contexts_valid(h, &e->contexts);
	case TRACE_ACTIVITY:
		return h->contexts && activity_valid(h, &e->activity);
	case TRACE_HOLDERS:
		return h->holders && contexts_valid(h, &e->contexts);
	case TRACE_MARK:
		/* Only a trace without marks ends with one that has no ends. */
		return e->mark.ends_ns || e->mark.last;
	default:
		return e->type < NR_TRACE_EVENTS;
	}
}
