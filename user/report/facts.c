// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/facts.h"

#include "base/array.h"
#include "base/sums.h"
#include "report/devices.h"

#define SOCKET_FACT(member, title, unit) \
	{ #member, title, FACT_##unit, offsetof(struct report_socket, member), NULL, NULL, NULL },
const struct fact_of facts_of_sockets[] = { FACTS_OF_SOCKETS(SOCKET_FACT) };

#define ROW_FACT(member, title, unit, ...) \
	{ #member, title, FACT_##unit, offsetof(struct report_row, member), __VA_ARGS__ },
const struct fact_of facts_of_rows[] = { FACTS_OF_ROWS(ROW_FACT) };

struct walk {
	const struct report *r;
	unsigned int records;
	fact_fn fn;
	void *arg;
};

const char *fact_unit_name(enum fact_unit u)
{
	return u == FACT_NS ? "ns" : u == FACT_COUNT ? "count" : unit_name((enum unit)u);
}

const char *facts_why_absent(uint64_t enabled_ns, uint64_t running_ns)
{
	return enabled_ns && !running_ns ? "not_running" : "not_read";
}

static int tell(const struct walk *w, const struct fact *f)
{
	return w->records & FACTS(f->record) ? w->fn(w->arg, f) : 0;
}

/* --- what a fact can have */

static void set_coverage(struct fact *f, uint64_t part, uint64_t whole)
{
	f->has_coverage = true;
	f->coverage = part < whole ? (double)part / (double)whole : 1;
}

static void set_bar(struct fact *f, uint64_t value, uint64_t low, uint64_t high)
{
	f->known = FACT_BAR;
	f->value = value;
	f->low = low;
	f->high = high;
}

static void set_real(struct fact *f, double real)
{
	f->known = FACT_TENTHS;
	f->real = real;
}

/* Of a socket by its index, if the report has it. */
static void set_socket(const struct walk *w, struct fact *f, uint32_t socket)
{
	f->has_socket = socket < w->r->nr_sockets;
	if (f->has_socket)
		f->socket = w->r->sockets[socket].id;
}

static void set_direction(struct fact *f, enum direction direction)
{
	f->has_direction = true;
	f->direction = direction;
}

static void set_destination(struct fact *f, enum destination destination)
{
	f->has_destination = true;
	f->destination = destination;
}

static const struct report_device *device_at(const struct report *r, uint32_t number)
{
	return devices_of(r, number) ? &r->devices[number - 1] : NULL;
}

/* --- the machine */

static struct fact of_counter(const struct walk *w, enum fact_record record,
			      const struct report_counter *rc)
{
	const struct counter *c = rc->counter;
	struct fact f = {
		.record = record,
		.unit = (enum fact_unit)c->unit,
		.name = c->name,
		.max = sizeof(c->name),
		.device = device_at(w->r, c->device),
		.counter = rc,
		.source = source_name(c->source),
		.has_socket = true,
		.socket = report_socket_id(w->r, c),
		.covers = true,
		.covered_ns = rc->covered_ns,
	};

	set_direction(&f, c->direction);
	set_destination(&f, c->destination);
	if (rc->valid)
		set_coverage(&f, rc->running_ns, rc->enabled_ns);
	return f;
}

static int tell_counter(const struct walk *w, const struct report_counter *rc)
{
	struct fact f = of_counter(w, FACT_COUNTER, rc);
	int err;

	/* No bytes of its device. */
	if (rc->counter->term)
		return 0;
	if (rc->valid)
		set_bar(&f, rc->value, rc->low, rc->high);
	else
		f.reason = facts_why_absent(rc->enabled_ns, rc->running_ns);
	err = tell(w, &f);
	f.record = FACT_UNATTRIBUTED;
	f.known = FACT_WHOLE;
	for (int k = 0; k < NR_REASONS && rc->valid && unit_is_split(rc->counter->unit); k++) {
		f.value = rc->unattributed[k];
		f.reason = reason_name(k);
		if (f.value && !err)
			err = tell(w, &f);
	}
	return err;
}

static int tell_numbers(const struct walk *w, struct fact f, const struct fact_of *of, size_t nr,
			const void *subject)
{
	int err = 0;

	f.known = FACT_WHOLE;
	f.max = SIZE_MAX;
	for (f.of = of; f.of < of + nr && !err; f.of++) {
		f.name = f.of->name;
		f.unit = f.of->unit;
		f.value = fact_of(f.of, subject);
		err = tell(w, &f);
	}
	return err;
}

static struct fact of_probe(const struct walk *w, const struct report_probe *rp)
{
	const struct probe *p = rp->probe;
	struct fact f = {
		.record = FACT_LATENCY,
		.unit = FACT_NS,
		.name = p->name,
		.max = sizeof(p->name),
		.device = device_at(w->r, p->device),
		.probe = rp,
	};

	set_socket(w, &f, p->socket);
	set_direction(&f, p->direction);
	set_destination(&f, p->destination);
	return f;
}

static int tell_probe(const struct walk *w, const struct report_probe *rp)
{
	struct fact f = of_probe(w, rp);

	f.covers = true;
	f.covered_ns = rp->covered_ns;
	if (rp->valid)
		set_real(&f, rp->latency_ns);
	else
		f.reason = rp->samples ? "no_request" : "not_read";
	return tell(w, &f);
}

static int tell_part(const struct walk *w, const struct report_part *rp)
{
	struct fact f = {
		.record = FACT_PART,
		.unit = FACT_BYTES,
		.name = rp->part->name,
		.max = sizeof(rp->part->name),
		.part = rp,
		.source = part_name(rp->part->kind),
		.covers = true,
		.covered_ns = rp->covered_ns,
	};

	set_socket(w, &f, rp->part->socket);
	set_direction(&f, rp->part->direction);
	if (rp->valid) {
		set_bar(&f, rp->bytes, rp->low, rp->high);
		set_coverage(&f, rp->running_ns, rp->enabled_ns);
	} else {
		f.reason = facts_why_absent(rp->enabled_ns, rp->running_ns);
	}
	return tell(w, &f);
}

int facts_machine(const struct report *r, unsigned int records, fact_fn fn, void *arg)
{
	const struct walk w = { r, records, fn, arg };
	struct fact cpu = { .record = FACT_CPU };
	int err = 0;

	for (size_t i = 0; i < r->nr_counters && !err; i++)
		err = tell_counter(&w, &r->counters[i]);
	for (uint32_t i = 0; i < r->nr_sockets && !err; i++) {
		set_socket(&w, &cpu, i);
		err = tell_numbers(&w, cpu, facts_of_sockets, NR_FACTS_OF_SOCKETS, &r->sockets[i]);
	}
	for (size_t i = 0; i < r->nr_probes && !err; i++)
		err = tell_probe(&w, &r->probes[i]);
	for (size_t i = 0; i < r->nr_parts && !err; i++)
		err = tell_part(&w, &r->parts[i]);
	return err;
}

/* --- devices */

static struct fact of_device(const struct report_device *rd)
{
	const struct device *d = rd->device;

	return (struct fact){
		.name = d->name[0] ? d->name : d->bdf,
		.max = d->name[0] ? sizeof(d->name) : sizeof(d->bdf),
		.device = rd,
	};
}

/* Bytes of a direction; @bar: value, low, high */
static int tell_moved(const struct walk *w, struct fact f, enum direction direction,
		      const uint64_t bar[3])
{
	f.record = FACT_DEVICE;
	f.unit = FACT_BYTES;
	set_direction(&f, direction);
	set_bar(&f, bar[0], bar[1], bar[2]);
	return tell(w, &f);
}

static int tell_whole(const struct walk *w, struct fact f, enum fact_record record,
		      enum fact_unit unit, enum direction direction, uint64_t value)
{
	f.record = record;
	f.unit = unit;
	f.known = FACT_WHOLE;
	f.value = value;
	set_direction(&f, direction);
	return tell(w, &f);
}

static int tell_side(const struct walk *w, const struct fact *f, const struct device_bytes *side,
		     enum direction direction)
{
	int err = 0;

	if (side->valid)
		err = tell_moved(w, *f, direction,
				 (uint64_t[]){ side->bytes, side->low, side->high });
	if (!err && side->requests_valid)
		err = tell_whole(w, *f, FACT_DEVICE, (enum fact_unit)UNIT_REQUESTS, direction,
				 side->requests);
	if (!err && side->io_valid)
		err = tell_whole(w, *f, FACT_IO, FACT_BYTES, direction, side->io_bytes);
	return err;
}

static uint64_t share_ns(double share, uint64_t ns)
{
	return whole_capped(share * (double)ns);
}

static int tell_user(const struct walk *w, struct fact f, const struct device_users *all,
		     const struct device_user *u)
{
	int err;

	f.record = FACT_USER;
	f.unit = FACT_NS;
	f.max = SIZE_MAX;
	f.user = u;
	f.name = "held_ns";
	f.known = FACT_WHOLE;
	f.value = u->held_ns;
	err = tell(w, &f);
	if (err || !all->told_ns)
		return err;
	f.covers = true;
	f.covered_ns = all->told_ns;
	if (all->copies) {
		f.name = "copy_ns";
		f.value = u->copy_ns;
		err = tell(w, &f);
	}
	f.name = "busy_ns";
	set_bar(&f, u->busy_ns, u->busy_ns, u->busy_ns);
	if (all->samples) {
		f.low = share_ns(u->low, all->told_ns);
		f.high = share_ns(u->high, all->told_ns);
	}
	return err ? err : tell(w, &f);
}

int facts_device(const struct report *r, size_t device, unsigned int records, fact_fn fn, void *arg)
{
	const struct walk w = { r, records, fn, arg };
	const struct report_device *d = &r->devices[device];
	struct fact f = of_device(d);
	int err;

	if (d->device->wiring != WIRING_UNKNOWN) {
		f.has_socket = true;
		f.socket = report_socket_at(r, d->device->socket);
	}
	if (d->enabled_ns) {
		f.has_coverage = f.covers = true;
		f.coverage = devices_coverage(r, d);
		f.covered_ns = d->enabled_ns;
	}
	err = tell_side(&w, &f, &d->read, DIRECTION_READ);
	if (!err)
		err = tell_side(&w, &f, &d->write, DIRECTION_WRITE);
	for (size_t i = 0; i < d->by.nr && !err; i++)
		err = tell_user(&w, of_device(d), &d->by, &d->by.users[i]);
	if (err || !d->latency_valid)
		return err;
	f.record = FACT_DEVICE;
	f.unit = FACT_NS;
	set_direction(&f, DIRECTION_READ);
	set_real(&f, d->latency_ns);
	return tell(&w, &f);
}

/* --- rows */

static int tell_share(const struct walk *w, const struct report_row *row, const struct share *s)
{
	struct fact f = of_counter(w, FACT_SHARE, &w->r->counters[s->counter]);

	f.row = row;
	f.has_separable = true;
	f.separable = s->separable;
	set_bar(&f, s->value, s->low, s->high);
	return tell(w, &f);
}

static int tell_seen(const struct walk *w, const struct report_row *row,
		     const struct seen_latency *s)
{
	struct fact f = of_probe(w, &w->r->probes[s->probe]);

	f.row = row;
	set_real(&f, s->latency_ns);
	if (s->of_bytes)
		set_coverage(&f, s->bytes, s->of_bytes);
	return tell(w, &f);
}

static int tell_row_device(const struct walk *w, const struct report_row *row,
			   const struct row_device *d)
{
	const struct report_device *rd = device_at(w->r, d->device + 1);
	struct fact f;
	int err = 0;

	if (!rd)
		return 0;
	f = of_device(rd);
	f.row = row;
	if (d->counted && rd->read.valid)
		err = tell_moved(w, f, DIRECTION_READ,
				 (uint64_t[]){ d->read_bytes, d->read_low, d->read_high });
	if (!err && d->counted && rd->write.valid)
		err = tell_moved(w, f, DIRECTION_WRITE,
				 (uint64_t[]){ d->write_bytes, d->write_low, d->write_high });
	if (!err && rd->read.io_valid)
		err = tell_whole(w, f, FACT_IO, FACT_BYTES, DIRECTION_READ, d->io_read_bytes);
	if (!err && rd->write.io_valid)
		err = tell_whole(w, f, FACT_IO, FACT_BYTES, DIRECTION_WRITE, d->io_write_bytes);
	return err;
}

int facts_row(const struct report *r, const struct report_row *row, unsigned int records,
	      fact_fn fn, void *arg)
{
	const struct walk w = { r, records, fn, arg };
	const struct fact cpu = { .record = FACT_CPU, .row = row };
	int err = tell_numbers(&w, cpu, facts_of_rows, NR_FACTS_OF_ROWS, row);

	for (size_t i = 0; records & FACTS(FACT_SHARE) && i < row->nr_shares && !err; i++)
		err = tell_share(&w, row, &row->shares[i]);
	for (size_t i = 0; i < row->nr_latencies && !err; i++)
		err = tell_seen(&w, row, &row->latencies[i]);
	for (size_t i = 0; i < row->nr_devices && !err; i++)
		err = tell_row_device(&w, row, &row->devices[i]);
	return err;
}

/* --- the interval */

int facts_quality(const struct report *r, unsigned int records, fact_fn fn, void *arg)
{
	const struct walk w = { r, records, fn, arg };
#define QUALITY_FACT(name, from, unit) { FACT_QUALITY, #name, FACT_##unit, r->quality.name },
#define WINDOWS_FACT(name)                                \
	{                                                 \
		FACT_ESTIMATE, #name, FACT_COUNT, r->name \
	}
	const struct {
		enum fact_record record;
		const char *name;
		enum fact_unit unit;
		uint64_t value;
	} numbers[] = {
		QUALITY_NUMBERS(QUALITY_FACT) WINDOWS_FACT(saturated_windows),
		WINDOWS_FACT(estimated_windows),
		WINDOWS_FACT(simple_windows),
		{ FACT_QUALITY, "unplaced_ns", FACT_NS, r->unplaced_ns },
	};
	/* The last one is told where there is any. */
	const size_t nr = ARRAY_SIZE(numbers) - !r->unplaced_ns;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const struct fact f = {
			.record = numbers[i].record,
			.unit = numbers[i].unit,
			.known = FACT_WHOLE,
			.name = numbers[i].name,
			.max = SIZE_MAX,
			.value = numbers[i].value,
		};

		err = tell(&w, &f);
	}
	return err;
}

int facts_each(const struct report *r, fact_fn fn, void *arg)
{
	int err = facts_machine(r, FACTS_ALL, fn, arg);

	for (size_t i = 0; i < r->nr_devices && !err; i++)
		err = facts_device(r, i, FACTS_ALL, fn, arg);
	for (size_t i = 0; i < r->nr_rows && !err; i++)
		err = facts_row(r, &r->rows[i], FACTS_ALL, fn, arg);
	return err ? err : facts_quality(r, FACTS_ALL, fn, arg);
}
