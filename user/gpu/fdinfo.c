// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "gpu/fdinfo_internal.h"

/* A look may take one part of these of the time to the next, */
#define LOOK_PART  200
/* but a source that says nothing for 5 s is taken for one that hangs. */
#define LONGEST_NS (4 * NS_PER_S)

/**
 * struct fdinfo - the GPUs, and their clients at the last look
 * @folder: of PCI devices
 * @gpus, @drivers, @nr: the GPUs, in the list
 * @mute, @told: a client of it says nothing of itself, as all do with old drivers; that was said
 * @clients, @nr_clients: of all GPUs
 * @before, @nr_before: those of the look before
 * @next_ns: time of the next look
 * @said: error that was said last
 */
struct fdinfo {
	const struct processes *processes;
	int folder;
	struct gpu_device **gpus;
	const struct fdinfo_driver **drivers;
	bool mute[GPU_MAX_DEVICES], told[GPU_MAX_DEVICES];
	size_t nr;
	struct fdinfo_client *clients, *before;
	size_t nr_clients, cap_clients;
	size_t nr_before, cap_before;
	uint64_t next_ns;
	int said;
};

/* --- the GPUs */

static int add_gpu(struct fdinfo *f, const char *address, struct gpu_list *l)
{
	const struct fdinfo_driver *d;
	char path[64], link[PATH_MAX];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof(path), "%.32s/driver", address);
	n = readlinkat(f->folder, path, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = '\0';
	name = strrchr(link, '/');
	d = fdinfo_driver_of(name ? name + 1 : link);
	snprintf(path, sizeof(path), "%.32s/drm", address);
	if (!d || faccessat(f->folder, path, F_OK, 0))
		return 0;
	f->gpus[f->nr] = gpu_add(l, address);
	f->drivers[f->nr] = d;
	return f->gpus[f->nr++] ? 0 : -ENOMEM;
}

/* In the order of their names: a header is the same each time. */
static int add_gpus(struct fdinfo *f, const char *sysfs, struct gpu_list *l)
{
	struct dirent **names = NULL;
	char path[PATH_MAX];
	int nr, err = 0;

	snprintf(path, sizeof(path), "%s/bus/pci/devices", sysfs);
	nr = scandir(path, &names, NULL, alphasort);
	f->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < nr; i++) {
		if (!err && l->nr < GPU_MAX_DEVICES && names[i]->d_name[0] != '.')
			err = add_gpu(f, names[i]->d_name, l);
		free(names[i]);
	}
	free(names);
	return err;
}

int fdinfo_open(const struct processes *p, const char *sysfs, struct gpu_list *l,
		struct fdinfo **ret)
{
	struct fdinfo *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	*ret = NULL;
	if (!f)
		return err;
	f->processes = p;
	f->folder = -1;
	f->gpus = calloc(GPU_MAX_DEVICES, sizeof(*f->gpus));
	f->drivers = calloc(GPU_MAX_DEVICES, sizeof(*f->drivers));
	if (f->gpus && f->drivers)
		err = add_gpus(f, sysfs, l);
	if (err || !f->nr) {
		fdinfo_close(f);
		return err;
	}
	*ret = f;
	return 0;
}

void fdinfo_close(struct fdinfo *f)
{
	if (!f)
		return;
	if (f->folder >= 0)
		close(f->folder);
	free(f->gpus);
	free(f->drivers);
	free(f->clients);
	free(f->before);
	free(f);
}

/* --- their clients */

/* Forks and other descriptors of a client are no further clients: the oldest process has it. */
static int add_client(struct fdinfo *f, const struct fdinfo_client *c)
{
	for (size_t i = 0; i < f->nr_clients; i++) {
		struct fdinfo_client *known = &f->clients[i];

		if (known->id != c->id || strcmp(known->address, c->address) != 0)
			continue;
		if (c->start_ns < known->start_ns)
			*known = *c;
		return 0;
	}
	if (array_reserve(f->clients, f->cap_clients, f->nr_clients))
		return -ENOMEM;
	f->clients[f->nr_clients++] = *c;
	return 0;
}

/* A node of a GPU without a word of its client: there is a context, or none. */
static void note_mute(struct fdinfo *f, const char *node)
{
	char path[96];

	for (size_t i = 0; i < f->nr; i++) {
		snprintf(path, sizeof(path), "%s/drm/%.48s", f->gpus[i]->address, node);
		f->mute[i] |= !faccessat(f->folder, path, F_OK, 0);
	}
}

static int look_at_file(struct fdinfo *f, DIR *files, const char *pid, const char *name,
			uint64_t start_ns)
{
	static const char nodes[] = "/dev/dri/";
	const struct fdinfo_driver *d;
	struct fdinfo_client c;
	char link[64];
	ssize_t n = readlinkat(dirfd(files), name, link, sizeof(link) - 1);

	link[n > 0 ? n : 0] = '\0';
	if (n < (ssize_t)sizeof(nodes) || strncmp(link, nodes, sizeof(nodes) - 1) != 0)
		return n < 0 && (errno == EACCES || errno == EPERM) ? -errno : 0;
	cleanup_fclose FILE *in = file_at(f->processes->proc, "%s/fdinfo/%s", pid, name);
	if (!in)
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	if (!fdinfo_read(in, &c, &d)) {
		note_mute(f, link + sizeof(nodes) - 1);
		return 0;
	}
	c.pid = strtoul(pid, NULL, 10);
	c.start_ns = start_ns;
	return add_client(f, &c);
}

static int look_at_process(struct fdinfo *f, const char *pid)
{
	cleanup_closedir DIR *files = NULL;
	struct dirent *entry;
	uint64_t start_ns = 0;
	char path[32];
	int err = 0;

	snprintf(path, sizeof(path), "%.16s/fd", pid);
	files = dir_at(f->processes->proc, path);
	if (!files)
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	while (!err && (entry = readdir(files))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (!start_ns)
			err = processes_start(f->processes, strtoul(pid, NULL, 10), UINT64_MAX / 2,
					      &start_ns);
		if (!err)
			err = look_at_file(f, files, pid, entry->d_name, start_ns);
	}
	return err == -ESRCH ? 0 : err;
}

static int look_at_all(struct fdinfo *f)
{
	cleanup_closedir DIR *proc = dir_at(f->processes->proc, ".");
	struct dirent *entry;
	int err = proc ? 0 : -errno;

	while (!err && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			err = look_at_process(f, entry->d_name);
	return err;
}

/* --- the look */

static const struct fdinfo_client *client_before(const struct fdinfo *f,
						 const struct fdinfo_client *c)
{
	for (size_t i = 0; i < f->nr_before; i++)
		if (f->before[i].id == c->id && !strcmp(f->before[i].address, c->address))
			return &f->before[i];
	return NULL;
}

static const struct fdinfo_client *any_before(const struct fdinfo *f, const char *address)
{
	for (size_t i = 0; i < f->nr_before; i++)
		if (!strcmp(f->before[i].address, address))
			return &f->before[i];
	return NULL;
}

/* false: too many */
static bool hold(struct fdinfo *f, size_t gpu, struct fdinfo_client *c, bool *ret_known)
{
	struct gpu_device *g = f->gpus[gpu];
	struct gpu_process *p;
	uint64_t busy_ns, copy_ns;

	if (!gpu_hold(g, c->pid, c->start_ns, GPU_NO_INSTANCE))
		return false;
	p = gpu_held(g, c->pid);
	*ret_known &=
		fdinfo_busy(f->drivers[gpu], c, client_before(f, c), any_before(f, c->address),
			    g->time_ns - g->since_ns, &busy_ns, &copy_ns);
	p->busy_ns += busy_ns;
	p->copy_ns += copy_ns;
	return true;
}

static void fill(struct fdinfo *f, size_t gpu, uint64_t now_ns, int err)
{
	static struct gpu_process before[GPU_MAX_PROCESSES];
	struct gpu_device *g = f->gpus[gpu];
	size_t nr = g->known ? g->nr : 0;
	bool again = g->known;

	memcpy(before, g->processes, nr * sizeof(*before));
	gpu_begin(g, now_ns);
	for (size_t i = 0; i < f->nr_clients && !err; i++)
		if (!strcmp(f->clients[i].address, g->address) && fdinfo_works(&f->clients[i]) &&
		    !hold(f, gpu, &f->clients[i], &again))
			err = -E2BIG;
	if (!err && f->mute[gpu] && !f->told[gpu]) {
		say("GPU %s: not all of its clients tell what they do, as with drivers before "
		    "Linux 5.19: contexts are not known",
		    g->address);
		f->told[gpu] = true;
	}
	if (err || f->mute[gpu])
		return;
	gpu_end(g, before, nr);
	g->active = g->copies = again;
}

int fdinfo_look(struct fdinfo *f, bool now)
{
	uint64_t begin_ns = monotonic_ns(), cost_ns;
	struct fdinfo_client *old = f->before;
	size_t cap = f->cap_before;
	int err;

	if (!now && begin_ns < f->next_ns)
		return 0;
	f->before = f->clients;
	f->nr_before = f->nr_clients;
	f->cap_before = f->cap_clients;
	f->clients = old;
	f->cap_clients = cap;
	f->nr_clients = 0;
	memset(f->mute, 0, sizeof(f->mute));
	err = look_at_all(f);
	if (err && err != f->said)
		say("open files of processes: %s: contexts are not known%s", strerror(-err),
		    err == -EACCES || err == -EPERM ? "; this needs CAP_SYS_PTRACE" : "");
	f->said = err;
	/* These are all that there were at the begin, and perhaps some that came later. */
	for (size_t i = 0; i < f->nr; i++)
		fill(f, i, begin_ns, err);
	cost_ns = (monotonic_ns() - begin_ns) * LOOK_PART;
	f->next_ns = begin_ns + (cost_ns < LONGEST_NS ? cost_ns : LONGEST_NS);
	return err == -ENOMEM ? err : 0;
}
