/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much of a root complex' time each device gets: what is seen only now and then is the less
 * certain, the more it changes from turn to turn. Pure.
 */
#ifndef PLATFORM_PLAN_DEVICE_TURNS_H
#define PLATFORM_PLAN_DEVICE_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of an equal turn that a device gets that moves nothing. */
#define DEVICE_IDLE_WEIGHT 0.25
/* Most that a device gets for being restless. */
#define DEVICE_MAX_WEIGHT  3.0
/* Part of the time that ports are counted as a whole, where devices below them take turns, */
#define DEVICE_PORT_PART   0.02
/* and when this has been done so often and fits. */
#define DEVICE_PORT_TURNS  3
#define DEVICE_PORT_LATER  0.005
/* How long that lasts each time, in relation to the turn of a device. */
#define DEVICE_PORT_LENGTH 0.4

/**
 * struct device_turn - what was seen in the turns of a setting
 * @apart: a port as a whole, for which a fixed part of the time is set aside
 * @port: the port that this device is below, or that is counted as a whole; 0 = none
 * @rate: bytes a second in the last turn
 * @mean: of late
 * @spread: mean square of the differences between neighbouring turns, halved: the variance
 *	between turns, whatever the slow course of things
 * @seen: number of turns
 * @silent: of these, how many in a row moved nothing that matters, up to now
 */
struct device_turn {
	bool apart;
	uint32_t port;
	double rate;
	double mean;
	double spread;
	uint64_t seen;
	uint64_t silent;
};

/**
 * device_turn_add() - a turn, or a part of one, is over
 * @t: its setting
 * @bytes: what was counted in @running_ns; not 0
 */
void device_turn_add(struct device_turn *t, uint64_t bytes, uint64_t running_ns);

/**
 * device_turns_weigh() - parts of the time
 * @t: the settings of a root complex
 * @nr: how many
 * @ret: weights: 1 for a constant rate, up to DEVICE_MAX_WEIGHT for the most restless one,
 *	DEVICE_IDLE_WEIGHT for one that was silent for some turns, 0 for one that is @apart
 *
 * The error of a device's bytes is its standard deviation between turns divided by the root of
 * their number; the sum of squares of all errors is least when the time of each is in
 * proportion to its standard deviation. The bounds keep everybody in sight.
 */
void device_turns_weigh(const struct device_turn *t, size_t nr, double *ret);

/**
 * device_turns_port() - part of the time for a port as a whole
 * @t, @nr: the settings of a root complex
 * @port: one that is @apart
 *
 * Each look at the port is time in which none of its devices is seen. So it is rare once the
 * devices' sum was seen to fit, and often again as soon as it does not.
 *
 * Return: DEVICE_PORT_PART or DEVICE_PORT_LATER.
 */
double device_turns_port(const struct device_turn *t, size_t nr, size_t port);

#endif
