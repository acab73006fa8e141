/* SPDX-License-Identifier: GPL-2.0-only */
/* Flows: from words to entries of the shared memory. */
#ifndef TRAFFIC_FLOW_H
#define TRAFFIC_FLOW_H

#include "shm.h"

extern struct shm *shm;
extern uint64_t now; /* of this run of the tool, CLOCK_MONOTONIC in ns */

/** complain() - print "what: word" to stderr; returns -EINVAL */
int complain(const char *what, const char *word);

/**
 * flow_add() - add a flow, and the companions it asks for
 * @name: of the flow
 * @kind_word: a kind's name
 * @slot: slot that feeds it, or NO_SLOT
 * @nr, @words: key=value and EVENT:RATE; modified
 *
 * All or nothing: on error no flow has been added.
 *
 * Return: 0, or a negative errno after a complaint.
 */
int flow_add(const char *name, const char *kind_word, int slot, int nr, char **words);

#endif
