/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the HTTP server: under which names it answers. */
#ifndef DAEMON_HTTP_HOSTS_H
#define DAEMON_HTTP_HOSTS_H

#include <stdbool.h>

/**
 * http_hosts_has() - is a request for this machine?
 * @host: its Host header, "node1:9410"; the port does not matter
 * @loopback: the server listens on a loopback address
 * @names: further names, separated by commas
 *
 * A page of the web can let its own name point to this machine, so that the browser hands it our
 * answers. It cannot do so with an address, with localhost, or with a name that is not its own.
 */
bool http_hosts_has(const char *host, bool loopback, const char *names);

#endif
