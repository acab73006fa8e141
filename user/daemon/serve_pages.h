/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the daemon shows over HTTP. */
#ifndef DAEMON_SERVE_PAGES_H
#define DAEMON_SERVE_PAGES_H

#include "daemon/serve_keeper.h"
#include "daemon/http.h"

/* A page that was made before, for as long as nothing changes. */
struct serve_page {
	uint64_t changes;   /* of the keeper when it was made */
	uint32_t unhealthy; /* bits of enum health_part then */
	int status;
	char *text;
	size_t size;
};

/**
 * struct serve_pages - see above
 * @keeper, @config: what is shown; not owned
 * @started_ns, @start_ns: CLOCK_MONOTONIC; the same as CLOCK_REALTIME
 * @reload_failed, @restart_needed: see struct openmetrics_state; serve_pages_reloaded() sets them
 * @cache: by page, without names and with them, NULL before the first request; owned
 */
struct serve_pages {
	const struct serve_keeper *keeper;
	const struct serve_config *config;
	uint64_t started_ns;
	uint64_t start_ns;
	bool reload_failed;
	bool restart_needed;
	struct serve_page *cache;
};

/** serve_pages_get() - make a page, for http_open(); @arg is a struct serve_pages */
int serve_pages_get(void *arg, const struct http_request *q, struct http_page *ret);

/** serve_pages_reloaded() - settings were read again; drops what was made before */
void serve_pages_reloaded(struct serve_pages *p, bool failed, bool restart_needed);

void serve_pages_release(struct serve_pages *p);

#endif
