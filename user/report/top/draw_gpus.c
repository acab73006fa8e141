// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page of GPUs: bytes of their links and of PCIe, users with their busy shares, owners. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/devices.h"
#include "report/gpus.h"
#include "report/notes.h"
#include "report/top/draw_internal.h"

#define GPU_NAME   14 /* columns */
#define GPU_USERS  6  /* lines of a GPU */
#define RANGE_SIZE 12
#define SHARE_SIZE 11
#define INDENT	   2

enum gpu_column {
	GPU_OVER,
	GPU_READ,
	GPU_READ_RANGE,
	GPU_WRITE,
	GPU_WRITE_RANGE,
	GPU_BUSY,
	GPU_BUSY_RANGE,
	NR_GPU_COLUMNS,
};

/* In this order, those that are needed most first, as many as there is room for */
static const enum gpu_column by_need[] = { GPU_OVER,	   GPU_READ,	    GPU_WRITE,	   GPU_BUSY,
					   GPU_READ_RANGE, GPU_WRITE_RANGE, GPU_BUSY_RANGE };

static const struct {
	const char *head;
	bool unit; /* "GB/s" belongs behind it */
	size_t width;
} gpu_columns[NR_GPU_COLUMNS] = {
	[GPU_OVER] = { "LINK", false, 4 },
	[GPU_READ] = { "READ", true, 9 },
	[GPU_READ_RANGE] = { "RANGE", false, RANGE_SIZE },
	[GPU_WRITE] = { "WRITE", true, 10 },
	[GPU_WRITE_RANGE] = { "RANGE", false, RANGE_SIZE },
	[GPU_BUSY] = { "BUSY", false, 5 },
	[GPU_BUSY_RANGE] = { "95%", false, SHARE_SIZE },
};

/**
 * struct gpus_page - the page while it is written
 * @has: columns with room
 * @users_at: where the name of a user ends: in front of its busy share
 */
struct gpus_page {
	const struct view *v;
	FILE *out;
	size_t width;
	bool has[NR_GPU_COLUMNS];
	size_t users_at;
};

static void choose_columns(struct gpus_page *p)
{
	size_t used = GPU_NAME;

	for (size_t i = 0; i < ARRAY_SIZE(by_need); i++) {
		size_t more = gpu_columns[by_need[i]].width + 1;

		p->has[by_need[i]] = used + more <= p->width;
		used += p->has[by_need[i]] ? more : 0;
	}
	p->users_at = GPU_NAME;
	for (size_t i = 0; i < GPU_BUSY; i++)
		p->users_at += p->has[i] ? gpu_columns[i].width + 1 : 0;
}

static void put_heading(const struct gpus_page *p)
{
	const char *unit = draw_unit(p->v);
	char text[FORMAT_NUMBER_LEN];

	fprintf(p->out, "# %-*s", GPU_NAME, "GPU");
	for (int i = 0; i < NR_GPU_COLUMNS; i++) {
		if (!p->has[i])
			continue;
		snprintf(text, sizeof(text), "%s%s%s", gpu_columns[i].head,
			 gpu_columns[i].unit && unit[0] != '/' ? " " : "",
			 gpu_columns[i].unit ? unit : "");
		draw_padded(p->out, text, gpu_columns[i].width + 1);
	}
	fputc('\n', p->out);
}

/* "63%"; a hundredth of a percent is beyond what samples tell. */
static void share_text(double share, char ret[FORMAT_NUMBER_LEN])
{
	snprintf(ret, FORMAT_NUMBER_LEN, "%.0f%%", share * 100);
}

static void share_range(double share, double low, double high, char ret[FORMAT_NUMBER_LEN])
{
	if (low == share && high == share)
		strcpy(ret, "exact");
	else
		snprintf(ret, FORMAT_NUMBER_LEN, "%.0f-%.0f%%", low * 100, high * 100);
}

static void put_share(const struct gpus_page *p, bool known, double share, double low, double high)
{
	char text[FORMAT_NUMBER_LEN] = "-";

	if (known)
		share_text(share, text);
	if (p->has[GPU_BUSY])
		draw_padded(p->out, text, gpu_columns[GPU_BUSY].width + 1);
	text[0] = '\0';
	if (known)
		share_range(share, low, high, text);
	if (p->has[GPU_BUSY_RANGE])
		draw_padded(p->out, text, gpu_columns[GPU_BUSY_RANGE].width + 1);
}

static void put_side(const struct gpus_page *p, const struct report_device *d,
		     const struct device_bytes *side, enum gpu_column value)
{
	uint64_t ns = devices_time_ns(p->v->report, d);
	char text[FORMAT_NUMBER_LEN];

	if (side->valid)
		draw_amount_of(p->v, side->bytes, ns, text);
	else
		strcpy(text, d->enabled_ns ? "unread" : "-");
	if (p->has[value])
		draw_padded(p->out, text, gpu_columns[value].width + 1);
	text[0] = '\0';
	if (side->valid)
		draw_range(p->v, side->bytes, side->low, side->high, ns, text);
	if (p->has[value + 1])
		draw_padded(p->out, text, gpu_columns[value + 1].width + 1);
}

/* A line of what went over a link, with the name of the GPU in front if it is the first. */
static int put_over(const struct gpus_page *p, const char *name, const struct report_device *d,
		    const char *over)
{
	cleanup_free char *cut = NULL;

	if (format_cut(name, GPU_NAME, FORMAT_CUT_LEFT, &cut))
		return -ENOMEM;
	fprintf(p->out, "%s%*s", cut, (int)(GPU_NAME - format_width(cut)), "");
	if (p->has[GPU_OVER])
		draw_padded(p->out, over, gpu_columns[GPU_OVER].width + 1);
	put_side(p, d, &d->read, GPU_READ);
	put_side(p, d, &d->write, GPU_WRITE);
	return 0;
}

/* --- users */

static int put_user(const struct gpus_page *p, const struct device_users *by,
		    const struct device_user *u)
{
	char text[GPUS_TEXT_LEN];
	cleanup_free char *cut = NULL;

	gpus_user(u, text);
	if (u->processes > 1)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %u processes",
			 u->processes);
	if (by->told_ns && by->copies && u->busy_ns)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %.0f%% of it copies",
			 100.0 * (double)u->copy_ns / (double)u->busy_ns);
	if (format_cut(text, p->users_at - INDENT, FORMAT_CUT_RIGHT, &cut))
		return -ENOMEM;
	fprintf(p->out, "%*s%s%*s", INDENT, "", cut,
		(int)(p->users_at - INDENT - format_width(cut)), "");
	put_share(p, by->told_ns, u->share, u->low, u->high);
	fputc('\n', p->out);
	return 0;
}

static int put_users(const struct gpus_page *p, const struct device_users *by)
{
	size_t nr = by->nr < GPU_USERS || p->v->all ? by->nr : GPU_USERS;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = put_user(p, by, &by->users[i]);
	if (!err && by->nr_all > nr)
		fprintf(p->out, "%*s%zu more users\n", INDENT, "", by->nr_all - nr);
	return err;
}

/* A line of text below a GPU */
static int put_below(const struct gpus_page *p, const char *label, const char *text)
{
	char line[GPUS_TEXT_LEN + 64];
	cleanup_free char *cut = NULL;

	snprintf(line, sizeof(line), "%s%s", label, text);
	if (format_cut(line, p->width - INDENT, FORMAT_CUT_RIGHT, &cut))
		return -ENOMEM;
	fprintf(p->out, "%*s%s\n", INDENT, "", cut);
	return 0;
}

static int put_owner(const struct gpus_page *p, const struct report_device *gpu)
{
	char text[GPUS_TEXT_LEN];

	/* With contexts, those that share it are the users above. */
	if (gpu->by.rule == OWNER_CONTEXTS && gpu->by.found == OWNERSHIP_SHARED)
		return put_below(p, "shared: its bytes have no owner", "");
	gpus_owner(p->v->report, gpu, text);
	if (gpu->by.found != OWNERSHIP_ONE && !gpu->exclusive[0])
		return put_below(p, "no owner of its bytes: ", text);
	/* With contexts it is the user of the line above. */
	if (gpu->by.rule == OWNER_CONTEXTS && gpu->by.nr == 1)
		return 0;
	return put_below(p,
			 gpu->by.rule == OWNER_CONTEXTS ? "owner, by contexts: "
							: "owner, by open nodes: ",
			 text);
}

static int put_gpu(const struct gpus_page *p, const struct report_device *gpu)
{
	const struct report_device *link = gpus_link(p->v->report, gpu);
	const char *name = FORMAT_SAFE(gpu->device->bdf);
	double share, low, high;
	bool known = gpus_busy(&gpu->by, &share, &low, &high);
	int err = put_over(p, name, link ?: gpu, link ? "C2C" : "PCIe");

	if (err)
		return err;
	put_share(p, known, share, low, high);
	fputc('\n', p->out);
	if (link) {
		err = put_over(p, "", gpu, "PCIe");
		fputc('\n', p->out);
	}
	if (!err && link && link->how == HOW_NONE && link->why_none[0])
		err = put_below(p, "C2C: ", FORMAT_SAFE(link->why_none));
	if (!err)
		err = put_users(p, &gpu->by);
	if (!err && gpus_idle(&gpu->by))
		err = put_below(p, "held but idle", "");
	return err ? err : put_owner(p, gpu);
}

/* --- all of them */

static bool any_how(const struct report *r, enum device_how how)
{
	for (size_t i = 0; i < r->nr_devices; i++)
		if (devices_is_link(&r->devices[i]) && r->devices[i].how == how)
			return true;
	return false;
}

int draw_gpus(const struct view *v, FILE *out, size_t width)
{
	const struct report *r = v->report;
	struct gpus_page p = { .v = v, .out = out, .width = width };
	int err = 0;

	if (!gpus_any(r))
		return notes_line(out, width,
				  "No GPU is followed: -D all, or -D with its address, does that.");
	choose_columns(&p);
	put_heading(&p);
	for (size_t i = 0; i < r->nr_devices && !err; i++)
		if (r->devices[i].device->kind == DEVICE_GPU)
			err = put_gpu(&p, &r->devices[i]);
	if (err)
		return err;
	fputc('\n', out);
	if (any_how(r, HOW_DERIVED))
		err = notes_line(
			out, width,
			"C2C bytes are derived: what the socket counts of all devices, less "
			"what PCIe moved. RANGE has both ends for certain.");
	if (err)
		return err;
	return notes_line(
		out, width,
		"As the GPU sees it: READ is memory of CPUs that it reads. C2C and PCIe are "
		"beside each other, and beside the sockets. BUSY is the part of the time in "
		"which its engines worked.");
}
