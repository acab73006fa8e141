// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pci/root_port.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "platform/pci/topology_internal.h"

/* Class of PCI bridges, which root ports are */
#define CLASS_BRIDGE 0x0604

/*
 * The first address behind the host bridge ("pci0002:80") in the real path of a
 * function. Other devices may stand before the host bridge.
 */
static bool first_address(const char *path, char ret[PCI_NAME_LEN])
{
	bool below = false;

	while (*path) {
		size_t length = strcspn(path, "/");

		if (below && bdf_is_name(path, length)) {
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
	char target[PATH_MAX], line[32];
	uint64_t class;
	int err;

	if (!bdf_is_name(bdf, strlen(bdf)))
		return diag_fail(d, -EINVAL, "\"%.40s\" is not a PCI address like 0002:81:00.0",
				 bdf);
	err = sysfs_link(fs, target, "bus/pci/devices/%s", bdf);
	if (err) {
		diag_fail(d, err, "there is no PCI device %s: %s", bdf, strerror(-err));
		return diag_advise(d, err, "\"lspci -D\" shows those that there are");
	}
	if (!first_address(target, ret))
		return diag_fail(d, -EINVAL, "%s is not below a PCI host bridge: %.200s", bdf,
				 target);
	err = sysfs_read(fs, line, sizeof(line), "bus/pci/devices/%s/class", ret);
	if (!err)
		err = parse_u64(line, &class);
	if (err)
		return diag_fail(d, err, "cannot read the class of %s: %s", ret, strerror(-err));
	if (class >> 8 != CLASS_BRIDGE)
		return diag_fail(d, -EINVAL, "%s is part of the root complex itself: no root port",
				 ret);
	return 0;
}

/* The place that the port's capability gives; neither a map nor a rule of thumb is used. */
static int read_port(const struct pci_config *config, struct diag *d, struct root_port *port)
{
	struct pci_wiring w;
	struct bdf a;

	if (!config->readable)
		return diag_fail(d, -ENOENT, "cannot read the configuration space of %s",
				 port->name);
	if (config->cut) {
		diag_fail(d, -EACCES, "the configuration space of root port %s ends after 64 bytes",
			  port->name);
		return diag_advise(d, -EACCES, "reading more needs CAP_SYS_ADMIN: run as root");
	}
	if (!config->dvsec.present) {
		diag_fail(d, -ENODATA, "root port %s does not say which root complex it is of",
			  port->name);
		return diag_advise(
			d, -ENODATA,
			"T410 firmware does, with a DVSEC 10de/4; other platforms do not");
	}
	if (bdf_parse(port->name, &a))
		return diag_fail(d, -EINVAL, "%s is not a PCI address", port->name);
	pci_wiring_find(config, &a, NULL, PMU_PLATFORM_UNKNOWN, &w);
	if (w.how != WIRING_FIRMWARE)
		return diag_fail(d, -ENODATA, "root port %s: %s", port->name, w.note);
	port->bus = config->dvsec.bus;
	port->segment = config->dvsec.segment;
	port->rp = (uint8_t)w.rp;
	port->rc = (uint8_t)w.rc;
	port->socket = (uint8_t)w.socket;
	return 0;
}

static int port_of(const struct sysfs *fs, struct pci_space *space, const char *bdf, struct diag *d,
		   struct root_port *ret)
{
	struct pci_config config = { 0 };
	struct root_port port = { 0 };
	struct bdf a;
	int err = find_port(fs, bdf, d, port.name);

	if (!err && bdf_parse(port.name, &a))
		err = diag_fail(d, -EINVAL, "%s is not a PCI address", port.name);
	if (!err)
		err = pci_space_read(space, &a, d, &config);
	if (!err)
		err = read_port(&config, d, &port);
	if (!err)
		*ret = port;
	return err;
}

int root_port_of(const struct sysfs *fs, const char *bdf, struct diag *d, struct root_port *ret)
{
	struct pci_space *space = NULL;
	int err = pci_space_open(fs, NULL, d, &space);

	if (!err)
		err = port_of(fs, space, bdf, d, ret);
	pci_space_close(space);
	return err;
}

int root_ports_read(const struct sysfs *fs, struct root_port **ret, size_t *ret_nr)
{
	cleanup_texts struct text_list names = { 0 };
	struct pci_space *space = NULL;
	struct root_port *ports = NULL;
	size_t nr = 0;
	int err = sysfs_list(fs, &names, "bus/pci/devices");

	if (err != -ENOMEM)
		err = pci_space_open(fs, NULL, NULL, &space);
	if (err != -ENOMEM)
		ports = calloc(names.nr + 1, sizeof(*ports));
	for (size_t i = 0; ports && space && i < names.nr; i++) {
		struct root_port port;

		/* All functions that are root ports themselves. */
		if (!port_of(fs, space, names.items[i], NULL, &port) &&
		    !strcmp(port.name, names.items[i]))
			ports[nr++] = port;
	}
	pci_space_close(space);
	if (!ports)
		return -ENOMEM;
	*ret = ports;
	*ret_nr = nr;
	return 0;
}
