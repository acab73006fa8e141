// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/tee.h"

#define HAND_ON(call, ...)                                                                     \
	({                                                                                     \
		struct tee *tee_ = arg;                                                        \
		int err_ = 0;                                                                  \
		for (size_t i_ = 0; i_ < tee_->nr && !err_; i_++)                              \
			if (tee_->sinks[i_].call)                                              \
				err_ = tee_->sinks[i_].call(tee_->sinks[i_].arg, __VA_ARGS__); \
		tee_->events += !err_;                                                         \
		err_;                                                                          \
	})

static int on_task(void *arg, const struct trace_task *t)
{
	return HAND_ON(task, t);
}

static int on_task_exit(void *arg, uint32_t pid, uint64_t start_ns)
{
	return HAND_ON(task_exit, pid, start_ns);
}

static int on_resync(void *arg, bool begin)
{
	return HAND_ON(resync, begin);
}

static int on_cgroup(void *arg, uint64_t id, const char *path)
{
	return HAND_ON(cgroup, id, path);
}

static int on_job(void *arg, const struct trace_job_news *j)
{
	return HAND_ON(job, j);
}

static int on_follow(void *arg, uint32_t pid)
{
	return HAND_ON(follow, pid);
}

static int on_slice(void *arg, const struct trace_slice *s)
{
	return HAND_ON(slice, s);
}

static int on_window(void *arg, const struct trace_window *w)
{
	return HAND_ON(window, w);
}

static int on_sample(void *arg, const struct trace_sample *s)
{
	return HAND_ON(sample, s);
}

static int on_io(void *arg, const struct trace_io *io)
{
	return HAND_ON(io, io);
}

static int on_lost(void *arg, const struct trace_lost *l)
{
	return HAND_ON(lost, l);
}

static int on_mark(void *arg, const struct trace_mark *m)
{
	return HAND_ON(mark, m);
}

struct trace_sink tee_sink(struct tee *t)
{
	return (struct trace_sink){
		.task = on_task,
		.task_exit = on_task_exit,
		.resync = on_resync,
		.cgroup = on_cgroup,
		.job = on_job,
		.follow = on_follow,
		.slice = on_slice,
		.window = on_window,
		.sample = on_sample,
		.io = on_io,
		.lost = on_lost,
		.mark = on_mark,
		.arg = t,
	};
}
