/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The daemon's data path with folders of its own; include after cmocka.h. */
#ifndef TESTS_KEEPER_WORLD_H
#define TESTS_KEEPER_WORLD_H

#include "account_world.h"
#include "daemon/serve_keeper.h"
#include "tree.h"

#define SLURM SCHEDULER_SLURM

/* A keeper with folders of its own. */
struct bench {
	struct tree tree;
	struct serve_config config;
	struct serve_keeper keeper;
};

static inline void start(struct bench *b)
{
	struct diag d = { 0 };

	b->keeper = SERVE_KEEPER_INIT;
	assert_int_equal(serve_keeper_open(&b->keeper, &b->config, &d), 0);
}

static inline void setup(struct bench *b)
{
	*b = (struct bench){ 0 };
	tree_make(&b->tree);
	b->config = (struct serve_config){ .interval_ns = WORLD_SECOND,
					   .schedulers = 1u << SLURM,
					   .spool_max_files = 100,
					   .names = true,
					   .readers = NO_READERS,
					   .top = 10 };
	tree_path(&b->tree, "accounts.db", b->config.state);
	tree_path(&b->tree, "spool", b->config.spool);
	start(b);
}

static inline void restart(struct bench *b)
{
	serve_keeper_close(&b->keeper);
	start(b);
}

static inline void teardown(struct bench *b)
{
	serve_keeper_close(&b->keeper);
	tree_remove(&b->tree);
}

static inline void interval(struct bench *b, struct report *r)
{
	struct diag d = { 0 };

	assert_int_equal(serve_keeper_interval(&b->keeper, &b->config, r, &d), 0);
}

#endif
