/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets that the service manager opened for us, by the protocol of sd_listen_fds(3). */
#ifndef PLATFORM_SYS_ACTIVATION_H
#define PLATFORM_SYS_ACTIVATION_H

#define ACTIVATION_FIRST_FD 3

/**
 * activation_take() - how many there are
 *
 * They begin at ACTIVATION_FIRST_FD. Programs that we start do not inherit them, nor the variables
 * about them.
 *
 * Return: their number, 0 without a service manager or when they are for another process.
 */
int activation_take(void);

#endif
