/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a PCI device to its root port and on to the PMUs of its root complex. T410
 * firmware writes the numbers into a capability (DVSEC 10de/4) of each root port.
 */
#ifndef PLATFORM_PCI_ROOT_PORT_H
#define PLATFORM_PCI_ROOT_PORT_H

#include <stdint.h>

#include "base/diag.h"
#include "model.h"
#include "platform/sys/sysfs.h"

#define PCI_NAME_LEN MODEL_BDF_LEN

/**
 * struct root_port - a root port and its place
 * @name: its PCI address
 * @segment: PCI domain, its low 8 bits, as the capability has it
 * @bus: its bus, as the capability has it
 * @rp: number of the port in its root complex; bit in port masks
 * @rc: root complex, as in the names of PMUs
 * @socket: socket, as in the names of PMUs
 */
struct root_port {
	char name[PCI_NAME_LEN];
	uint8_t segment;
	uint8_t bus;
	uint8_t rp;
	uint8_t rc;
	uint8_t socket;
};

/**
 * root_port_of() - the root port above a PCI function
 * @fs: sysfs
 * @bdf: the function's PCI address, or that of a root port itself
 * @d: the failed step and the remedy
 * @ret: the port
 *
 * Return: 0; -ENOENT when there is no such function; -EINVAL for one that is not below a root port;
 * -EACCES when configuration space may not be read (CAP_SYS_ADMIN); -ENODATA for a port without the
 * capability, or with an impossible one; or an error of reading. Numbers of buses and segments that
 * differ from Linux's are no error: the rest holds anyway.
 */
int root_port_of(const struct sysfs *fs, const char *bdf, struct diag *d, struct root_port *ret);

/**
 * root_ports_read() - all root ports with a known place
 * @fs: sysfs
 * @ret: the ports, ordered by address; free() it
 * @ret_nr: how many; 0 also when there is no PCI, no capability or no right to read it
 *
 * Return: 0 or -ENOMEM.
 */
int root_ports_read(const struct sysfs *fs, struct root_port **ret, size_t *ret_nr);

#endif
