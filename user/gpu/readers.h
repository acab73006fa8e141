/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that read the lines at a Unix socket. Each gets the header and then all lines. One that
 * is too slow misses looks, and never delays the others.
 */
#ifndef GPU_READERS_H
#define GPU_READERS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READERS_MAX 8

/**
 * struct reader - a program
 * @fd: its connection
 * @text, @size, @sent: lines that it has not taken yet
 * @stuck_ns: since when it has taken none; 0: it waits for lines
 */
struct reader {
	int fd;
	char *text;
	size_t size;
	size_t sent;
	uint64_t stuck_ns;
};

/**
 * struct readers - all of them
 * @listens: the socket
 * @header: the first line of each
 */
struct readers {
	int listens;
	char *header;
	struct reader items[READERS_MAX];
	size_t nr;
};

/**
 * readers_open() - listen
 * @r: all zero but for @header
 * @path: of the socket; one that a dead program left is replaced
 *
 * The service manager gets READY=1.
 *
 * Return: 0 or a negative errno, -EADDRINUSE where another program listens.
 */
int readers_open(struct readers *r, const char *path);

/** readers_send() - lines for all that have taken the last ones */
void readers_send(struct readers *r, const char *text, size_t size, uint64_t now_ns);

/** readers_poll() - descriptors to wait for; @ret has room for READERS_MAX + 1. Returns their number */
size_t readers_poll(const struct readers *r, struct pollfd *ret);

/** readers_step() - new ones, those that go, and lines that wait */
void readers_step(struct readers *r, uint64_t now_ns);

#endif
