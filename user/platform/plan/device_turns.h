/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each device's part of a root complex' time: a device seen only now and then is the less certain,
 * the more its rate changes from turn to turn. Pure.
 */
#ifndef PLATFORM_PLAN_DEVICE_TURNS_H
#define PLATFORM_PLAN_DEVICE_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An idle device's part of an equal turn. */
#define DEVICE_IDLE_WEIGHT 0.25
/* The largest weight, for the most variable device. */
#define DEVICE_MAX_WEIGHT  3.0
/* Part of the time that ports are counted as a whole, where devices below them take turns, */
#define DEVICE_PORT_PART   0.02
/* and when this has been done so often and fits. */
#define DEVICE_PORT_TURNS  3
#define DEVICE_PORT_LATER  0.005
/* How long that lasts each time, in relation to the turn of a device. */
#define DEVICE_PORT_LENGTH 0.4

/**
 * struct device_turn - observations in the turns of a setting
 * @apart: a port as a whole, for which a fixed part of the time is set aside
 * @port: the port that this device is below, or that is counted as a whole; 0 = none
 * @rate: bytes a second in the last turn
 * @mean: of recent turns
 * @spread: mean square of the differences between neighbouring turns, halved: the variance between
 *	turns, without slow trends
 * @seen: number of turns
 * @silent: of these, the latest in a row without significant traffic
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
 * @bytes: bytes counted in @running_ns; not 0
 */
void device_turn_add(struct device_turn *t, uint64_t bytes, uint64_t running_ns);

/**
 * device_turns_weigh() - parts of the time
 * @t: the settings of a root complex
 * @nr: how many
 * @ret: weights: 1 for a constant rate, up to DEVICE_MAX_WEIGHT for the most variable one,
 *	DEVICE_IDLE_WEIGHT after some silent turns, 0 for one that is @apart
 *
 * The error of a device's bytes is its standard deviation between turns divided by the root of
 * their number; the sum of squares of all errors is least when the time of each is in proportion to
 * its standard deviation. The bounds keep every device in sight.
 */
void device_turns_weigh(const struct device_turn *t, size_t nr, double *ret);

/**
 * device_turns_port() - a port's own part of the time
 * @t, @nr: the settings of a root complex
 * @port: one that is @apart
 *
 * While the port is counted, none of its devices is. So this is rare once the devices' sum fits,
 * and frequent again as soon as it does not.
 *
 * Return: DEVICE_PORT_PART or DEVICE_PORT_LATER.
 */
double device_turns_port(const struct device_turn *t, size_t nr, size_t port);

#endif
