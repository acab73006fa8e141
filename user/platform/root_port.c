// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Configuration space is read from sysfs directly: Debian has no static libpci, and
 * the static builds must run on any machine. Two lists of one kind are all that is read.
 */
#include "platform/root_port.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

#define CONFIG_SIZE	4096
#define CONFIG_STANDARD 256 /* where extended capabilities begin */
#define DVSEC_ID	0x0023
#define DVSEC_VENDOR	0x10de
#define DVSEC_NVIDIA_RP 0x0004
#define DVSEC_LENGTH	0x11
/* Each capability has 8 bytes at least: a longer list has a loop. */
#define MAX_CAPS	((CONFIG_SIZE - CONFIG_STANDARD) / 8)
/* Class of PCI bridges, which root ports are */
#define CLASS_BRIDGE	0x0604

static uint32_t word_at(const uint8_t *config, size_t at)
{
	return config[at] | config[at + 1] << 8 | config[at + 2] << 16 |
	       (uint32_t)config[at + 3] << 24;
}

/* Is it ours, and long enough for what we read? A length of 0 was never filled in. */
static bool is_ours(const uint8_t *config, size_t at, size_t size)
{
	uint32_t header, length;

	if (at + DVSEC_LENGTH > size || (word_at(config, at) & 0xffff) != DVSEC_ID)
		return false;
	header = word_at(config, at + 4);
	length = header >> 20;
	return (header & 0xffff) == DVSEC_VENDOR &&
	       (word_at(config, at + 8) & 0xffff) == DVSEC_NVIDIA_RP &&
	       (!length || length >= DVSEC_LENGTH);
}

int root_port_parse(const uint8_t *config, size_t size, struct root_port *ret)
{
	size_t at = CONFIG_STANDARD;

	/* Without rights the kernel gives 64 bytes, of some bridges 128. */
	if (size < CONFIG_STANDARD)
		return -EACCES;
	for (int i = 0; i < MAX_CAPS && at >= CONFIG_STANDARD && at + 4 <= size; i++) {
		uint32_t header = word_at(config, at);

		if (!header || header == UINT32_MAX)
			break;
		if (is_ours(config, at, size)) {
			ret->bus = config[at + 0x0c];
			ret->segment = config[at + 0x0d];
			ret->rp = config[at + 0x0e];
			ret->rc = config[at + 0x0f];
			ret->socket = config[at + 0x10];
			return 0;
		}
		at = header >> 20 & 0xffc;
	}
	return -ENODATA;
}

/* Is the text, up to @length, a PCI address: "0002:81:00.0"? */
static bool is_address(const char *text, size_t length)
{
	/* from the end: function, device, bus; the rest is the domain */
	static const char tail[] = "xx:xx.x";
	size_t nr = sizeof(tail) - 1;

	if (length < nr + 5 || length >= PCI_NAME_LEN || text[length - nr - 1] != ':')
		return false;
	for (size_t i = 0; i < nr; i++) {
		char c = text[length - nr + i];

		if (tail[i] == 'x' ? !isxdigit((unsigned char)c) : c != tail[i])
			return false;
	}
	for (size_t i = 0; i < length - nr - 1; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/*
 * The first address behind the host bridge ("pci0002:80") in the real path of a
 * function. Other devices may stand before the host bridge.
 */
static bool first_address(const char *path, char ret[PCI_NAME_LEN])
{
	bool below = false;

	while (*path) {
		size_t length = strcspn(path, "/");

		if (below && is_address(path, length)) {
			memcpy(ret, path, length);
			ret[length] = '\0';
			return true;
		}
		below |= length > 3 && !strncmp(path, "pci", 3) &&
			 isxdigit((unsigned char)path[3]) && memchr(path, ':', length);
		path += length + (path[length] == '/');
	}
	return false;
}

static int find_port(const struct sysfs *fs, const char *bdf, struct diag *d, char *ret)
{
	char path[PATH_MAX], target[PATH_MAX], line[32];
	uint64_t class;
	ssize_t length;
	int err;

	if (!is_address(bdf, strlen(bdf)))
		return diag_fail(d, -EINVAL, "\"%.40s\" is no PCI address like 0002:81:00.0", bdf);
	snprintf(path, sizeof(path), "bus/pci/devices/%s", bdf);
	length = readlinkat(fs->fd, path, target, sizeof(target) - 1);
	if (length < 0) {
		err = -errno;
		diag_fail(d, err, "there is no PCI device %s: %s", bdf, strerror(-err));
		diag_help(d, "\"lspci -D\" shows those that there are");
		return err;
	}
	target[length] = '\0';
	if (!first_address(target, ret))
		return diag_fail(d, -EINVAL, "%s is not below a PCI host bridge: %.200s", bdf,
				 target);
	snprintf(path, sizeof(path), "bus/pci/devices/%s/class", ret);
	err = sysfs_read(fs, path, line, sizeof(line));
	if (!err)
		err = parse_u64(line, &class);
	if (err)
		return diag_fail(d, err, "cannot read the class of %s: %s", ret, strerror(-err));
	if (class >> 8 != CLASS_BRIDGE)
		return diag_fail(d, -EINVAL, "%s is part of the root complex itself: no root port",
				 ret);
	return 0;
}

static int read_config(const struct sysfs *fs, const char *port, struct diag *d, uint8_t *config,
		       size_t *ret_size)
{
	cleanup_close int fd = -1;
	char path[PATH_MAX];
	ssize_t got;
	size_t size = 0;
	int err;

	snprintf(path, sizeof(path), "bus/pci/devices/%s/config", port);
	fd = openat(fs->fd, path, O_RDONLY | O_CLOEXEC);
	do {
		got = fd < 0 ? -1 : pread(fd, config + size, CONFIG_SIZE - size, size);
		if (got > 0)
			size += got;
	} while (got > 0 && size < CONFIG_SIZE);
	if (got < 0) {
		err = -errno;
		return diag_fail(d, err, "cannot read the configuration space of %s: %s", port,
				 strerror(-err));
	}
	*ret_size = size;
	return 0;
}

/* Firmware and Linux number buses and domains by themselves: both must mean the same port. */
static int check_port(const struct root_port *port, struct diag *d)
{
	unsigned int domain, bus;

	if (sscanf(port->name, "%x:%x:", &domain, &bus) == 2 && bus == port->bus &&
	    (domain & 0xff) == port->segment && port->rp < 8)
		return 0;
	diag_fail(d, -ENODATA, "root port %s says that it is port %u of segment %x, bus %x",
		  port->name, port->rp, port->segment, port->bus);
	diag_help(d, "the firmware numbers its buses differently: which PMU belongs to the port "
		     "is not certain");
	return -ENODATA;
}

int root_port_of(const struct sysfs *fs, const char *bdf, struct diag *d, struct root_port *ret)
{
	uint8_t config[CONFIG_SIZE];
	struct root_port port = { 0 };
	size_t size = 0;
	int err = find_port(fs, bdf, d, port.name);

	if (!err)
		err = read_config(fs, port.name, d, config, &size);
	if (err)
		return err;
	err = root_port_parse(config, size, &port);
	if (err == -EACCES) {
		diag_fail(d, err, "the configuration space of root port %s ends after %zu bytes",
			  port.name, size);
		diag_help(d, "reading more needs CAP_SYS_ADMIN: run as root");
		return err;
	}
	if (err) {
		diag_fail(d, err, "root port %s does not say which root complex it is of",
			  port.name);
		diag_help(d, "T410 firmware does, with a DVSEC 10de/4; other platforms do not");
		return err;
	}
	err = check_port(&port, d);
	if (!err)
		*ret = port;
	return err;
}

int root_ports_read(const struct sysfs *fs, struct root_port **ret, size_t *ret_nr)
{
	struct sysfs_names names = { 0 };
	struct root_port *ports;
	size_t nr = 0;
	int err = sysfs_list(fs, "bus/pci/devices", &names);

	if (err == -ENOMEM)
		return err;
	ports = calloc(names.nr + 1, sizeof(*ports));
	if (!ports) {
		sysfs_names_free(&names);
		return -ENOMEM;
	}
	for (size_t i = 0; i < names.nr; i++) {
		struct root_port port;

		/* Of all functions, those that are a root port themselves. */
		if (!root_port_of(fs, names.names[i], NULL, &port) &&
		    !strcmp(port.name, names.names[i]))
			ports[nr++] = port;
	}
	sysfs_names_free(&names);
	*ret = ports;
	*ret_nr = nr;
	return 0;
}
