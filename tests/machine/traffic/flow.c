/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "flow.h"
#include "names.h"

#define DEFAULT_REQUEST_BYTES 32
#define CMEM_REQUEST_BYTES    32 /* of the hardware, whatever the requester asked for */
#define ARRAY_SIZE(a)	      (sizeof(a) / sizeof((a)[0]))

/* What a line says besides the flow itself */
struct request {
	struct flow flow;
	const char *direction;
	uint64_t rate; /* bytes per second */
	uint64_t with_cmem, with_ucf;
};

struct key {
	const char *name;
	size_t offset;
	size_t size;
	uint64_t max;
	int (*parse)(enum kind kind, const char *text, uint64_t *ret);
};

static int parse_plain(enum kind kind, const char *text, uint64_t *ret)
{
	(void)kind;
	return parse_number(text, ret);
}

static int parse_id(enum kind kind, const char *text, uint64_t *ret)
{
	(void)kind;
	return parse_bdf(text, ret);
}

static int parse_size(enum kind kind, const char *text, uint64_t *ret)
{
	uint64_t value;

	(void)kind;
	if (parse_number(text, &value) || !value)
		return -EINVAL; /* it is divided by */
	*ret = value;
	return 0;
}

#define FIELD(member) offsetof(struct request, member), sizeof(((struct request *)0)->member)

static const struct key keys[] = {
	{ "socket", FIELD(flow.socket), 3, parse_plain },
	{ "rc", FIELD(flow.rc), 5, parse_plain },
	{ "rp", FIELD(flow.port), 9, parse_plain },
	{ "port", FIELD(flow.port), 9, parse_plain },
	{ "peer", FIELD(flow.port), 3, parse_plain },
	{ "tile", FIELD(flow.port), 7, parse_plain },
	{ "bdf", FIELD(flow.bdf), UINT16_MAX, parse_id },
	{ "src", FIELD(flow.src), 31, src_by_name },
	{ "dst", FIELD(flow.dst), 31, dst_by_name },
	{ "addr", FIELD(flow.address), UINT64_MAX, parse_plain },
	{ "req", FIELD(flow.request_bytes), UINT32_MAX, parse_size },
	{ "slc_hit", FIELD(flow.slc_hit), 100, parse_plain },
	{ "latency", FIELD(flow.latency_cycles), UINT32_MAX, parse_plain },
	{ "rate", FIELD(rate), UINT64_MAX, parse_plain },
	{ "cmem", FIELD(with_cmem), 1, parse_plain },
	{ "ucf", FIELD(with_ucf), 1, parse_plain },
};

int complain(const char *what, const char *word)
{
	fprintf(stderr, "t410ctl: %s: %s\n", what, word);
	return -EINVAL;
}

static int set_key(struct request *r, const char *name, const char *text)
{
	if (!strcmp(name, "dir")) {
		r->direction = text;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct key *k = &keys[i];
		uint64_t value;
		uint32_t narrow;

		if (strcmp(k->name, name))
			continue;
		if (k->parse(r->flow.kind, text, &value) || value > k->max)
			return complain("bad value", text);
		narrow = (uint32_t)value;
		memcpy((char *)r + k->offset,
		       k->size == sizeof(narrow) ? (const void *)&narrow : &value, k->size);
		return 0;
	}
	return complain("unknown key", name);
}

static int add_event(struct flow *f, uint64_t id, uint32_t unit, uint64_t rate)
{
	if (f->nr_events == SHM_MAX_EVENTS)
		return complain("too many events", f->name);
	f->event[f->nr_events++] = (struct flow_event){
		.id = (uint32_t)id,
		.unit = unit,
		.ramp = { .rate = rate, .since_ns = now },
	};
	return 0;
}

/* What an event of a slot counts of its bytes, by name */
static uint32_t unit_by_name(const char *name)
{
	static const char *const names[] = {
		[UNIT_BYTES] = "bytes",
		[UNIT_REQUESTS] = "requests",
		[UNIT_OUTSTANDING] = "outstanding",
		[UNIT_BEATS] = "beats",
		[UNIT_LINES] = "lines",
	};

	for (uint32_t i = UNIT_BYTES; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return i;
	return UNIT_NONE;
}

/* "EVENT:RATE", of a slot "EVENT:UNIT" */
static int set_event(struct flow *f, const char *event, const char *text)
{
	uint64_t id, rate;
	uint32_t unit;

	if (event_by_name(f->kind, event, &id) || id > UINT32_MAX)
		return complain("unknown event", event);
	if (f->slot != NO_SLOT) {
		unit = unit_by_name(text);
		return unit == UNIT_NONE ? complain("bad unit", text) : add_event(f, id, unit, 0);
	}
	if (parse_number(text, &rate))
		return complain("bad rate", text);
	return add_event(f, id, UNIT_NONE, rate);
}

static int parse_words(struct request *r, int nr, char **words)
{
	bool has_dst = false;

	for (int i = 0; i < nr; i++) {
		char *mark = strpbrk(words[i], "=:");
		bool is_key = mark && *mark == '=';
		int err;

		if (!mark)
			return complain("not understood", words[i]);
		*mark = 0;
		err = is_key ? set_key(r, words[i], mark + 1)
			     : set_event(&r->flow, words[i], mark + 1);
		if (err)
			return err;
		has_dst |= is_key && !strcmp(words[i], "dst");
	}
	if (!has_dst)
		r->flow.dst = default_dst(r->flow.kind, r->flow.socket);
	return 0;
}

/* Events that follow from bytes in a direction; without a slot, at the byte rate */
static int add_effects(struct flow *f, const char *direction, uint64_t rate)
{
	struct effect effects[SHM_MAX_EVENTS];
	unsigned int n = effects_of(f, direction, effects);

	if (!n)
		return complain("no such direction for this kind and target", direction);
	for (unsigned int i = 0; i < n; i++) {
		int err = add_event(
			f, effects[i].event, effects[i].unit,
			unit_count(f, effects[i].unit, bytes_seen(f, effects[i].event, rate)));

		if (err)
			return err;
	}
	return 0;
}

/* The same bytes in another unit, e.g. the DRAM reads behind a device's reads */
static int companion(const struct request *r, enum kind kind, struct flow *ret)
{
	static const uint32_t ucf_dst[] = {
		[PCIE_DST_CMEM] = UCF_DST_CMEM,
		[PCIE_DST_GMEM] = UCF_DST_GMEM,
		[PCIE_DST_CXL] = UCF_DST_OTHER,
		[PCIE_DST_REM] = UCF_DST_REM,
	};
	const struct flow *f = &r->flow;

	*ret = (struct flow){
		.kind = kind,
		.socket = f->socket,
		.request_bytes = kind == KIND_CMEM ? CMEM_REQUEST_BYTES : f->request_bytes,
		.latency_cycles = f->latency_cycles,
		.slc_hit = f->slc_hit,
		.slot = f->slot,
		.slot_start = f->slot_start,
	};
	snprintf(ret->name, sizeof(ret->name), "%.*s.%s", SHM_NAME_LEN - 6, f->name,
		 kind_name(kind));
	if (kind == KIND_UCF) {
		ret->src = UCF_SRC_NONCPU;
		ret->dst = f->dst < ARRAY_SIZE(ucf_dst) ? ucf_dst[f->dst] : UCF_DST_CMEM;
	}
	return add_effects(ret, r->direction, r->rate);
}

static bool reads_local_dram(const struct request *r)
{
	const struct flow *f = &r->flow;

	if (strcmp(r->direction, "rd"))
		return false;
	return (f->kind == KIND_UCF && f->dst == UCF_DST_CMEM) ||
	       (f->kind == KIND_PCIE && f->dst == PCIE_DST_CMEM);
}

/* Peer-to-peer traffic turns round before it comes to the fabric */
static bool passes_ucf(const struct flow *f)
{
	return f->kind == KIND_PCIE && f->dst != PCIE_DST_P2P;
}

static int finish_directed(struct request *r, struct flow *more, unsigned int *nr_more)
{
	int err = add_effects(&r->flow, r->direction, r->rate);

	if (!err && r->with_ucf && passes_ucf(&r->flow))
		err = companion(r, KIND_UCF, &more[(*nr_more)++]);
	if (!err && r->with_cmem && reads_local_dram(r))
		err = companion(r, KIND_CMEM, &more[(*nr_more)++]);
	return err;
}

int flow_add(const char *name, const char *kind_word, int slot, int nr, char **words)
{
	struct request r = { .flow = { .kind = kind_by_name(kind_word),
				       .slot = slot,
				       .request_bytes = DEFAULT_REQUEST_BYTES } };
	struct flow more[2];
	unsigned int nr_more = 0;
	int err;

	if (r.flow.kind == KIND_NONE)
		return complain("unknown kind", kind_word);
	if (strlen(name) >= SHM_NAME_LEN)
		return complain("name too long", name);
	strcpy(r.flow.name, name);
	if (slot != NO_SLOT)
		r.flow.slot_start = shm->slot[slot].bytes;
	err = parse_words(&r, nr, words);
	if (err)
		return err;
	if (!r.direction && (r.rate || r.with_cmem || r.with_ucf))
		return complain("rate=, cmem= and ucf= need dir=", name);
	if (!r.direction && slot != NO_SLOT && !r.flow.nr_events)
		return complain("a slot needs dir= or events", name);
	if (slot != NO_SLOT && r.rate)
		return complain("a slot has no rate=", name);
	if (r.direction)
		err = finish_directed(&r, more, &nr_more);
	if (err)
		return err;
	if (shm->nr_flows + 1 + nr_more > SHM_MAX_FLOWS)
		return complain("too many flows", name);
	shm->flow[shm->nr_flows++] = r.flow;
	for (unsigned int i = 0; i < nr_more; i++)
		shm->flow[shm->nr_flows++] = more[i];
	return 0;
}
