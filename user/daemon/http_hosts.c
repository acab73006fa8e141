// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/http_hosts.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"

#define NAME_LEN 256 /* of the domain name system, with the end */
#define RESOLVER "/etc/resolv.conf"

static bool is_address(const char *name)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

static bool is_localhost(const char *name)
{
	size_t length = strlen(name), local = strlen("localhost");

	return length >= local && !strcasecmp(name + length - local, "localhost") &&
	       (length == local || name[length - local - 1] == '.');
}

/* The name in "name", "name:port" or "[address]:port", without a dot at its end. */
static bool take_name(const char *host, char ret[NAME_LEN])
{
	bool brackets = host[0] == '[';
	size_t length = strcspn(host += brackets, brackets ? "]" : ":");
	const char *end = host + length + (brackets && host[length]);

	if (!length || length >= NAME_LEN || (brackets && !host[length]) ||
	    (*end && (*end != ':' || end[1 + strspn(end + 1, "0123456789")])))
		return false;
	memcpy(ret, host, length);
	length -= ret[length - 1] == '.';
	ret[length] = '\0';
	return length && (!brackets || is_address(ret));
}

static bool is_listed(const char *name, const char *names)
{
	size_t length;

	for (; *names; names += length) {
		names += strspn(names, ", ");
		length = strcspn(names, ", ");
		/* as the name that is asked for, without a dot at its end */
		if (length && length - (names[length - 1] == '.') == strlen(name) &&
		    !strncasecmp(names, name, strlen(name)))
			return true;
	}
	return false;
}

/* Domains in which this machine looks for short names: in them its own is found, too. */
static bool is_searched(const char *domain)
{
	cleanup_fclose FILE *f = fopen(RESOLVER, "re");
	char line[LINE_MAX], *rest, *word;

	while (f && fgets(line, sizeof(line), f)) {
		word = strtok_r(line, " \t\n", &rest);
		if (!word || (strcmp(word, "search") != 0 && strcmp(word, "domain") != 0))
			continue;
		while ((word = strtok_r(NULL, " \t\n", &rest)))
			if (!strcasecmp(word, domain))
				return true;
	}
	return false;
}

static bool is_this_machine(const char *name)
{
	char own[HOST_NAME_MAX + 1];
	size_t label;

	if (gethostname(own, sizeof(own)))
		return false;
	own[sizeof(own) - 1] = '\0';
	label = strcspn(own, ".");
	if (!label || strncasecmp(name, own, label) != 0)
		return false;
	return !name[label] || !strcasecmp(name, own) ||
	       (name[label] == '.' && is_searched(name + label + 1));
}

bool http_hosts_has(const char *host, bool loopback, const char *names)
{
	char name[NAME_LEN];

	return take_name(host, name) &&
	       (is_address(name) || is_localhost(name) || is_listed(name, names) ||
		(!loopback && is_this_machine(name)));
}
