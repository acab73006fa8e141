// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/serve_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/times.h"

#define MINUTE_NS (60 * NS_PER_S)
#define HOUR_NS	  (60 * MINUTE_NS)
#define DAY_NS	  (24 * HOUR_NS)

/* If the file cannot be read, the last interval in the store is still there to compare with. */
static void read_file(struct serve_clock *c)
{
	cleanup_fclose FILE *f = fopen(c->file, "re");
	char boot[ACCOUNT_BOOT_LEN];
	uint64_t wall_ns, boot_ns;
	int stopped;

	if (!f)
		return;
	c->noted = c->wrong = true;
	if (fscanf(f, "%39s %" SCNu64 " %" SCNu64 " %d", boot, &boot_ns, &wall_ns, &stopped) != 4)
		return;
	c->wall_ns = wall_ns;
	if (strcmp(boot, c->boot) != 0)
		return;
	c->boot_ns = boot_ns;
	c->stopped = stopped;
}

static int write_file(const struct serve_clock *c)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
	cleanup_close int fd = open(c->file, flags, 0600);
	char text[128];
	int length = snprintf(text, sizeof(text), "%s %" PRIu64 " %" PRIu64 " %d\n", c->boot,
			      c->boot_ns, c->wall_ns, c->stopped);

	if (fd < 0)
		return -errno;
	/* of a write that is cut */
	errno = ENOSPC;
	return write(fd, text, length) == length && !fsync(fd) ? 0 : -errno;
}

void serve_clock_open(struct serve_clock *c, const char *store, const char *boot, uint64_t until_ns)
{
	*c = (struct serve_clock){ .wall_ns = until_ns, .stopped = true };
	snprintf(c->file, sizeof(c->file), "%s" SERVE_CLOCK_SUFFIX, store);
	str_copy(c->boot, sizeof(c->boot), boot);
	read_file(c);
}

static bool is_far(const struct serve_clock *c, int64_t ahead_ns, uint64_t keep_ns)
{
	uint64_t back = later(keep_ns / 10, MINUTE_NS);
	uint64_t on = c->stopped ? later(keep_ns / 4, DAY_NS) : back;

	return ahead_ns < -(int64_t)back || ahead_ns > (int64_t)on;
}

static void explain(const struct serve_clock *c, int64_t ahead_ns, int err, char *ret, size_t size)
{
	double ns = ahead_ns < 0 ? -(double)ahead_ns : (double)ahead_ns;
	bool days = ns >= 2.0 * DAY_NS;

	snprintf(ret, size, "%.*f %s %s %s: nothing is forgotten for its age until it is back, ",
		 days ? 1 : 2, ns / (days ? DAY_NS : HOUR_NS), days ? "days" : "hours",
		 ahead_ns < 0 ? "behind" : "ahead of",
		 c->stopped ? "the last interval in the accounts" : "the boot clock");
	if (err)
		str_append(ret, size, "or until a restart, as %s cannot be written: %s", c->file,
			   strerror(-err));
	else
		str_append(ret, size, "or until %s is removed because the clock is right", c->file);
}

/* To remove it says that the clock is right, but not where the accounts are gone, too. */
static void look_for_file(struct serve_clock *c)
{
	char store[sizeof(c->file)];

	if (!c->noted || !access(c->file, F_OK) || errno != ENOENT)
		return;
	c->noted = false;
	str_copy(store, sizeof(store), c->file);
	store[strlen(store) - strlen(SERVE_CLOCK_SUFFIX)] = '\0';
	if (!access(store, F_OK))
		c->wall_ns = c->first_ns = c->last_ns = 0;
}

/* An interval begins before its end. */
static void note_shown(struct serve_clock *c, uint64_t wall_ns)
{
	uint64_t start_ns = wall_ns > HOUR_NS ? wall_ns - HOUR_NS : 1;

	c->first_ns = c->first_ns ? earlier(c->first_ns, start_ns) : start_ns;
	c->last_ns = later(c->last_ns, wall_ns);
}

bool serve_clock_check(struct serve_clock *c, uint64_t wall_ns, uint64_t boot_ns, uint64_t keep_ns,
		       char *ret_why, size_t size)
{
	int64_t ahead_ns = 0;
	int err = 0;

	look_for_file(c);
	if (!c->boot_ns)
		c->boot_ns = boot_ns;
	if (c->wall_ns)
		ahead_ns = (int64_t)(wall_ns - c->wall_ns) - (int64_t)(boot_ns - c->boot_ns);
	c->wrong = keep_ns && is_far(c, ahead_ns, keep_ns);
	if (c->wrong) {
		note_shown(c, wall_ns);
		err = c->noted ? 0 : write_file(c);
		c->noted = !err;
		explain(c, ahead_ns, err, ret_why, size);
		return false;
	}
	if (c->noted)
		c->noted = unlink(c->file) && errno != ENOENT;
	c->wall_ns = wall_ns;
	c->boot_ns = boot_ns;
	c->stopped = false;
	return true;
}
