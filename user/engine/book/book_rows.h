/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the book, shared by its files only: see book.h. */
#ifndef ENGINE_BOOK_BOOK_ROWS_H
#define ENGINE_BOOK_BOOK_ROWS_H

#include "engine/book/book.h"
#include "engine/split/rotation.h"

/*
 * A process or thread: pid and start. A cgroup: its id. A job: its key, and in @start_ns which step
 * of it; 0 for none. All zero: the pool.
 */
struct book_key {
	uint64_t start_ns;
	uint64_t cgroup_id;
	uint32_t pid;
	uint32_t zero;
};
#define BOOK_NO_JOB 1 /* as a step of job 0: workloads without a job */

/*
 * A counter in a row; @high as in struct share, @low, @below and @sure sums of struct bounds, of
 * which book_report.c makes the lower end. @squares: sum of the squares of
 * its windows' bytes, which tells how lumpy they came; see struct device_share for devices.
 */
struct entry_share {
	uint64_t value;
	uint64_t low;
	uint64_t high;
	uint64_t below;
	uint64_t sure;
	uint64_t tangled; /* bytes of intervals in which it was not separable */
	double squares;
};

/*
 * One of a device: most rows have a part in few devices, if in any. @samples: its bytes in turns
 * that are over. @open: bytes of turn number @turn.
 */
struct device_share {
	uint32_t counter;
	uint32_t turn;
	double open;
	struct rotation_sums samples;
	struct entry_share share;
};

/**
 * struct book_derived - bytes of a link that are a difference of other counters
 * @known: they were counted
 * @moved: the difference, with its sign
 * @low, @high: what holds the bytes
 * @why: not @known: why
 */
struct book_derived {
	bool known;
	double moved;
	uint64_t low, high;
	const char *why;
};

/*
 * Bytes of a row's requests of a device, by enum direction as the device sees it; and those of a
 * link, in the time that the row owned it.
 */
struct book_device_io {
	uint32_t device;
	uint64_t bytes[2];
	struct book_derived link[2];
};

/* A latency in a row, for a link: @byte_ns is the sum of bytes times latency. */
struct entry_seen {
	uint64_t bytes;
	double byte_ns;
};

/* Beyond this many the count alone says how many there are. */
#define BOOK_MAX_TANGLED 32

/**
 * struct book_row - entries of one row
 * @key: identity
 * @workload: one of its workloads, for the name
 * @tgid, @comm, @comm_known, @kernel, @exited, @cgroup_id, @path: names, set by
 *	book_finish(); @path is owned and NULL when unknown
 * @job: it is or belongs to; owned, NULL for none
 * @on_cpu_ns: CPU time
 * @pooled: bytes of workloads that were estimated together, of all counters
 * @number: of the row in the book plus 1, for the splitter; 0 = none yet
 * @tangled: some of the rows it cannot be told from; @nr_tangled_all: how many there are
 * @device_shares, @io: ordered by counter, by device; missing ones are 0
 * @seen: one a link; in the same piece of memory
 * @shares: one a counter that is not of a device: book_share() finds both
 */
struct book_row {
	struct book_key key;
	uint32_t workload;
	uint32_t tgid;
	char comm[MODEL_COMM_LEN];
	bool comm_known;
	bool kernel;
	bool exited;
	uint64_t cgroup_id;
	char *path;
	struct row_job *job;
	uint64_t on_cpu_ns;
	uint64_t pooled;
	uint32_t number;
	struct book_key *tangled;
	size_t nr_tangled, cap_tangled;
	size_t nr_tangled_all;
	struct device_share *device_shares;
	size_t nr_device_shares, cap_device_shares;
	struct book_device_io *io;
	size_t nr_io, cap_io;
	UT_hash_handle hh;
	struct entry_seen *seen;
	struct entry_share shares[];
};

/* How many rows had a device to themselves all the time. */
enum exclusive {
	EXCLUSIVE_UNKNOWN, /* no interval yet */
	EXCLUSIVE_ONE,
	EXCLUSIVE_NOBODY,  /* none, or it is not known */
	EXCLUSIVE_SEVERAL, /* one after another, or together */
};

/**
 * struct book_user - a user of a device
 * @user: as in reports, without its key and shares
 * @cgroup_id: of @user.cgroup, 0 = unknown
 * @row: the row that has all its processes
 * @rows: how many rows have them: 0, 1, or 2 for several
 * @seen_ns: while they are added up: times up to here are in @user.held_ns
 */
struct book_user {
	struct device_user user;
	uint64_t cgroup_id;
	struct book_key row;
	unsigned int rows;
	uint64_t seen_ns;
};

/**
 * struct book_owner - a row, or all workloads without one, that owns bytes of a device
 * @row: its key
 * @outside: no row: the workloads are not in scope
 * @weight: its part of the bytes; busy time
 */
struct book_owner {
	struct book_key row;
	bool outside;
	uint64_t weight;
};

/**
 * struct book_users - the users of a device
 * @rule, @found, @undivided, @told_ns, @samples, @copies: see struct device_users
 * @gone: see struct book_use
 * @items, @nr: the users, of open nodes those that prevent an owner; @more: number of further ones
 * @owners, @nr_owners: of the bytes, in the interval of the book
 */
struct book_users {
	enum owner_rule rule;
	enum ownership found;
	bool undivided;
	bool gone;
	uint64_t told_ns;
	uint64_t samples;
	bool copies;
	struct book_user *items;
	size_t nr, cap;
	size_t more;
	struct book_owner *owners;
	size_t nr_owners, cap_owners;
};

/**
 * struct book_device - a device over the interval
 * @io: bytes of requests, by enum direction, whoever caused them
 * @exclusive, @owner: did one row have it alone, and which
 * @claims: while memory traffic is divided: it may have moved some of a counter's
 * @by: its users
 */
struct book_device {
	uint64_t io[2];
	enum exclusive exclusive;
	struct book_key owner;
	bool claims;
	struct book_users by;
};

/* What a counter is for in the books. */
enum role {
	ROLE_MEMORY, /* not of a device */
	ROLE_BYTES,  /* all bytes of its device and direction, or a part that no other counts */
	ROLE_DESTINATION, /* bytes that a ROLE_BYTES counter counts, too */
	ROLE_REQUESTS,
	ROLE_WORK, /* what an accelerator did */
	ROLE_TERM, /* see enum term: nobody owns these bytes */
};

/**
 * struct book_turns - the turns of a counter of a device
 * @ns: how long it counted in each
 * @end_ns: of the last window in which it counted
 * @broken: the next one is not of the same turn
 */
struct book_turns {
	double *ns;
	size_t nr, cap;
	uint64_t end_ns;
	bool broken;
};

/* Bytes of a counter as they were counted, and those of windows that end after the users are gone. */
struct book_gone {
	uint64_t all;
	uint64_t after;
};

/**
 * struct book_early - of a group of a device: windows that began before the interval
 * @ns: time of them that lies before it
 * @bytes: their upper bound in that time, by enum direction: it is not known when in a
 *	window they were moved
 */
struct book_early {
	double ns;
	double bytes[2];
};

/**
 * struct book_span - of a group of a device: time of its windows
 * @start_ns, @end_ns: from the first one to the last one; 0 = there is none
 * @rate: the largest one of windows, bytes by ns, by enum direction
 */
struct book_span {
	uint64_t start_ns, end_ns;
	double rate[2];
};

/**
 * struct book - see book.h
 * @roles: by counter
 * @places: by counter: where in book_row.shares it is; meaningless for those of devices
 * @nr_places: how many there are
 * @beside: by group: the next one of its PMU, and behind the last one the first
 * @derived: by device: see book_is_derived()
 * @squares: by counter: of what its windows had, as in struct entry_share
 * @skipped_ns: by counter of a device: time of intervals in which it never had its turn, and
 *	that its value says nothing of yet; see book_fill_gaps()
 * @rotations, @early, @spans: by group; of devices only
 * @turns, @gone: by counter; of devices only
 * @devices: by device
 * @unowned_io: bytes of requests without a known cause
 * @spare: memory of rows of the interval before, in their order
 */
struct book {
	const struct layout *layout;
	struct book_scope scope;
	enum role *roles;
	uint32_t *places;
	size_t nr_places;
	uint32_t *beside;
	bool *derived;
	double *squares;
	uint64_t *skipped_ns;
	struct rotation *rotations;
	struct book_early *early;
	struct book_span *spans;
	struct book_turns *turns;
	struct book_gone *gone;
	struct book_device *devices;
	uint64_t unowned_io;
	size_t nr_links;
	struct identity *id;
	struct report_counter *counters;
	struct report_socket *sockets;
	struct book_row *rows;
	struct book_row *spare;
	struct book_row **row_of; /* by workload; NULL: not looked up yet */
	struct book_row **by_number;
	size_t nr_numbers, cap_numbers;
	size_t nr_row_of, cap_row_of;
	uint64_t windows;
	uint64_t pooled;
};

/** book_row_get() - the row of a key, made when new; 0 or -ENOMEM */
int book_row_get(struct book *b, const struct book_key *key, struct book_row **ret);

/** book_row_get_same() - the row of the key of a row of another book; as book_row_get() */
int book_row_get_same(struct book *b, const struct book_row *row, struct book_row **ret);

/** book_rows_clear() - no rows; their memory is kept for those of the next interval */
void book_rows_clear(struct book *b);

/** book_rows_free() - nor is their memory kept */
void book_rows_free(struct book *b);

/** book_share() - a row's entry for a counter; NULL when it has none yet */
struct entry_share *book_share(const struct book *b, const struct book_row *row, uint32_t counter);

/** book_share_get() - the same, made when new; 0 or -ENOMEM */
int book_share_get(const struct book *b, struct book_row *row, uint32_t counter,
		   struct entry_share **ret);

/** book_device_share_get() - the same for a counter of a device */
int book_device_share_get(struct book_row *row, uint32_t counter, struct device_share **ret);

/** book_device_share() - a row's entry for a counter of a device; NULL when it has none yet */
struct device_share *book_device_share(const struct book_row *row, uint32_t counter);

/** book_turn() - a window in which a counter of a device counted; 0 or -ENOMEM */
int book_turn(struct book *b, uint32_t counter, const struct trace_window *w);

/** book_turn_bytes() - bytes of a row in the last window of book_turn() */
void book_turn_bytes(const struct book *b, struct device_share *s, uint64_t bytes);

/**
 * book_turn_doubt() - half of the 95% interval of a row's bytes
 * @b: the book
 * @s: before it is scaled
 * @ratio: its factor when it is scaled
 *
 * Return: below 0 when nothing is known of turns.
 */
double book_turn_doubt(const struct book *b, const struct device_share *s, double ratio);

/** book_io_get() - a row's requests of a device, made when new; 0 or -ENOMEM */
int book_io_get(struct book_row *row, uint32_t device, struct book_device_io **ret);

/** book_row_add() - enter another row's numbers and names; 0 or -ENOMEM */
int book_row_add(struct book *b, struct book_row *to, const struct book_row *from);

void book_row_delete(struct book *b, struct book_row *row);

/** book_row_tangle() - the row cannot be told from the one of a key; 0 or -ENOMEM */
int book_row_tangle(struct book_row *row, const struct book_key *other);

/** book_job_key() - of the row of a cgroup (NULL: an unknown one) in a book by job */
struct book_key book_job_key(const struct cgroup_name *c);

/** book_job_row() - that row, made when new; 0 or -ENOMEM */
int book_job_row(struct book *b, const struct cgroup_name *c, struct book_row **ret);

/** book_quiet_jobs() - rows of jobs that did nothing, and which jobs ended; 0 or -ENOMEM */
int book_quiet_jobs(struct book *b);

/** book_name_job() - fill in the job of a row, in a book by job; 0 or -ENOMEM */
int book_name_job(struct book *b, struct book_row *row);

/** book_pool() - pool ended rows with the least bytes when there are more than @max */
int book_pool(struct book *b, size_t max);

/** book_row_key() - as in reports */
void book_row_key(const struct book *b, const struct book_key *key, char *ret);

/** book_row_bytes() - of all counters, to order rows */
uint64_t book_row_bytes(const struct book *b, const struct book_row *row);

/**
 * book_scale() - a counter looked for a part of the time only: all of it is value * num / den
 * @b: rows and reasons of the counter keep their proportions, and still add up exactly
 * @counter: which
 * @num, @den: the time it should have counted, and the time it did
 *
 * Return: 0 or -ENOMEM.
 */
int book_scale(struct book *b, uint32_t counter, uint64_t num, uint64_t den);

/** book_stops_new() - which groups are of one PMU; 0 or an error: no memory */
int book_stops_new(struct book *b);

/**
 * book_stopped() - part of a group's bytes that was not counted while others of its PMU took turns
 *
 * @r: its own times; see rotation_stopped(). Return: 0 where there are no such turns.
 */
double book_stopped(const struct book *b, uint32_t group, const struct rotation *r);

/** book_widen() - that part is in the upper ends of counters and of rows */
void book_widen(struct book *b);

/** book_devices_new() - roles of counters and room for devices; 0 or -ENOMEM */
int book_devices_new(struct book *b);

/** book_is_nobodys() - is it a counter of a whole port, or a term? Nobody owns its bytes */
bool book_is_nobodys(const struct book *b, const struct counter *c);

/** book_device_window() - a window of a group of a device */
void book_device_window(struct book *b, const struct trace_window *w);

/**
 * book_memory_of_devices() - devices' memory traffic is that of their owners
 * @b: all entries are made and scaled
 *
 * Counters of memory traffic that devices cause get rows: of a socket and direction, each row
 * has the part of the traffic that it has of the devices' bytes, and no more bytes than these.
 * What is left stays unattributed.
 */
void book_memory_of_devices(struct book *b);

/** book_note_gone() - bytes of a device in a window up to @end_ns: may its users have moved them? */
void book_note_gone(struct book *b, uint32_t counter, uint64_t end_ns, uint64_t bytes);

/**
 * book_owned() - bytes of devices that no request explains are their owners'
 * @b: all entries are made and scaled
 *
 * Return: 0 or a negative errno.
 */
int book_owned(struct book *b);

/** book_user_release() - free the memory, not the structure */
void book_user_release(struct device_user *u);

/** book_user_is() - are two users one owner? Open nodes have one by cgroup, contexts by job, too */
bool book_user_is(enum owner_rule rule, const struct book_user *a, const struct book_user *b);

/** book_users_find() - the user of an instance that is one owner with another, or NULL */
struct book_user *book_users_find(struct book_users *u, const struct book_user *like);

/**
 * book_users_put() - one more user
 * @u: the users
 * @new: copied; what it points to is taken over, also by an error
 * @ret: the user; NULL with 0 returned: it is one too many, and counted only
 *
 * Return: 0 or -ENOMEM.
 */
int book_users_put(struct book_users *u, struct book_user *new, struct book_user **ret);

/** book_user_leave_step() - of several steps of a job it is the job itself; 0 or -ENOMEM */
int book_user_leave_step(struct book_user *u, const struct row_job *other);

/** book_users_clear() - no users, and no memory */
void book_users_clear(struct book_users *u);

/** book_users_add() - @part follows @total in time; 0 or -ENOMEM */
int book_users_add(struct book_users *total, const struct book_users *part);

/** book_users_report() - users as in reports; 0 or -ENOMEM */
int book_users_report(const struct book *b, uint32_t device, struct device_users *ret);

/** book_number() - the number of a workload's row, see split_sink.row; 0 or -ENOMEM */
int book_number(struct book *b, uint32_t workload, uint32_t *ret);

/** book_known_row() - the row of a workload, if it has one already */
struct book_row *book_known_row(const struct book *b, uint32_t workload);

/** book_job_own_row() - the row of a job's own cgroup, made when new; 0 or -ENOMEM */
int book_job_own_row(struct book *b, const struct job *j, struct book_row **ret);

/** book_devices_add() - everything beside rows; @part follows @total in time; 0 or -ENOMEM */
int book_devices_add(struct book *total, const struct book *part);

/**
 * struct device_sum - bytes of a device, or of parts of it
 * @counted: it was counted; otherwise there is no value
 * @value: bytes
 * @below, @above: how far the 95% interval reaches
 * @edges: part of @above, see rotation_edges()
 * @early: part of @below: upper bound for windows before the interval
 */
struct device_sum {
	bool counted;
	uint64_t value;
	double below, above;
	double edges;
	double early;
};

/** book_device_sum() - @which is an enum direction or ROTATION_BOTH */
struct device_sum book_device_sum(const struct book *b, uint32_t device, int which);

/** book_term_sum() - the same of counters of a term */
struct device_sum book_term_sum(const struct book *b, uint32_t device, int direction,
				enum term term);

/** book_is_derived() - is it a link whose bytes are a difference? */
bool book_is_derived(const struct book *b, uint32_t device);

/** book_derive() - bytes of such a link; not known where one of the counters was not read */
struct book_derived book_derive(const struct book *b, uint32_t device, int direction);

/** book_derived_value() - the difference, cut: never below 0 or beyond what holds it */
uint64_t book_derived_value(const struct book_derived *d);

/** book_links_own() - the bytes of links are those of their owners, if they have one; 0, -ENOMEM */
int book_links_own(struct book *b);

/** book_links_add() - a link in a later interval */
void book_links_add(struct book_device_io *to, const struct book_device_io *from);

/** struct book_part - a row's bytes of a link */
struct book_part {
	uint64_t value, low, high;
};

/** book_link_part() - a row's bytes of a link; those of all rows are no more than its own */
void book_link_part(const struct book *b, const struct book_device_io *io, int direction,
		    struct book_part *ret);

/**
 * book_claimed() - what PCIe devices claim of a counter of memory traffic, whoever owns it
 *
 * Return: false if it is no counter of traffic of devices.
 */
bool book_claimed(struct book *b, size_t counter, double *ret_value, double *ret_high);

/**
 * book_memory_of_links() - memory traffic of devices that owners of links have
 *
 * After book_memory_of_devices(): links have only what no PCIe device has, and never more than they
 * moved.
 */
void book_memory_of_links(struct book *b);

/**
 * book_report_devices() - devices of a report, and the shares of rows
 * @b: the book
 * @r: has its counters, probes and rows, and in these the requests
 *
 * Return: 0 or -ENOMEM.
 */
int book_report_devices(const struct book *b, struct report *r);

/** book_of_bytes() - bytes of a row of a report that weigh the latency of a probe */
uint64_t book_of_bytes(const struct book *b, const struct report_row *row, uint32_t probe);

/**
 * cgroup_tree() - parents for the rows of a report by cgroup or job
 * @b: names
 * @r: has the leaf rows; gets a row for each parent, which includes its children
 *
 * Return: 0 or -ENOMEM.
 */
int cgroup_tree(const struct book *b, struct report *r);

#endif
