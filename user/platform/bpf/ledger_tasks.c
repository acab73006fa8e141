// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel's answers about tasks: about all that we may see, or one by its number. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/btf.h>
#include <string.h>
#include <unistd.h>

#include "platform/bpf/ledger.h"
#include "platform/bpf/ledger_internal.h"

int ledger_lookup_open(struct ledger *l, struct diag *d)
{
	int err;

	if (!ledger_kernel_has("bpf_task_from_pid", BTF_KIND_FUNC))
		return 0;
	ledger_load_begins();
	l->lookup = t410lookup__open();
	err = l->lookup ? 0 : -errno;
	if (!err) {
		l->lookup->rodata->v1_controller = l->v1_number;
		l->lookup->rodata->v1_subsys = l->v1_subsys;
		err = t410lookup__load(l->lookup);
	}
	if (!err)
		return 0;
	ledger_lookup_close(l);
	return ledger_load_problem(err, "cannot load the BPF program that finds tasks",
				   (const char *)l->skel->rodata->compiler, d);
}

void ledger_lookup_close(struct ledger *l)
{
	t410lookup__destroy(l->lookup);
	l->lookup = NULL;
}

/* Read an iterator's records of tasks; destroys @link, which is its link. */
static int read_tasks(struct bpf_link *link, const struct ledger_sink *sink)
{
	struct ledger_task batch[32];
	size_t have = 0, nr;
	ssize_t n = 0;
	int fd, err = 0;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? -errno : 0;
	while (!err) {
		n = read(fd, (char *)batch + have, sizeof(batch) - have);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			err = -errno;
		if (!n)
			break;
		have += n > 0 ? n : 0;
		nr = have / sizeof(batch[0]);
		for (size_t i = 0; i < nr; i++)
			sink->task(sink->arg, &batch[i]);
		have -= nr * sizeof(batch[0]);
		memmove(batch, &batch[nr], have);
	}
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

int ledger_tasks(struct ledger *l, const struct ledger_sink *sink)
{
	return read_tasks(bpf_program__attach_iter(l->skel->progs.task_list, NULL), sink);
}

bool ledger_finds_tasks(const struct ledger *l)
{
	return l->lookup;
}

int ledger_task(struct ledger *l, uint32_t pid, const struct ledger_sink *sink)
{
	l->lookup->bss->asked_task = pid;
	return read_tasks(bpf_program__attach_iter(l->lookup->progs.task_one, NULL), sink);
}
