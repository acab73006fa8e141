/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A second thread that does one piece of work at a time, while its owner does another one. What
 * they share is the owner's care: the work may use anything that nobody else changes meanwhile.
 */
#ifndef BASE_WORKER_H
#define BASE_WORKER_H

#include <stdbool.h>

struct worker;

/** worker_useful() - may this process run on two CPUs or more? */
bool worker_useful(void);

/**
 * worker_new() - start the thread; signals are never delivered to it
 * @ret: free with worker_free()
 *
 * Return: 0, or a negative errno when there can be no thread.
 */
int worker_new(struct worker **ret);

/** worker_free() - end the thread; work under way is finished first */
void worker_free(struct worker *w);

/** worker_start() - do @fn(@arg) in the thread; what was started before has been waited for */
void worker_start(struct worker *w, void (*fn)(void *arg), void *arg);

/** worker_wait() - return when what was started is done; at once when nothing was */
void worker_wait(struct worker *w);

#endif
