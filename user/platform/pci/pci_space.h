/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Configuration space of PCI functions, read with libpci: of this machine, of a copy of its sysfs,
 * or from output of lspci. libpci ends the program on errors; here they are returned like any
 * other, and nothing is printed.
 */
#ifndef PLATFORM_PCI_PCI_SPACE_H
#define PLATFORM_PCI_PCI_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bdf.h"
#include "base/diag.h"
#include "model.h"
#include "platform/sys/sysfs.h"

/**
 * struct pci_dvsec - the capability that T410 firmware writes into root ports (DVSEC 10de/4)
 * @present: it exists and is long enough
 * @bus, @segment: of the root port; low 8 bits of the segment only
 * @rp, @rc, @socket: bit in port masks, root complex, socket
 */
struct pci_dvsec {
	bool present;
	uint8_t bus;
	uint8_t segment;
	uint8_t rp;
	uint8_t rc;
	uint8_t socket;
};

/**
 * struct pci_config - a function's data in configuration space
 * @readable: its header could be read; nothing else is valid otherwise
 * @cut: without rights only the header, 64 bytes, can be read. The rest is as if there were no
 *	capabilities
 * @gone: all ones: the device has been removed
 * @vendor, @device: as the header says, 0xffff for virtual functions
 * @class_code: with the programming interface
 * @bridge: has buses below, @secondary to @subordinate
 * @express: has a PCI Express capability, and with it @port_type
 * @port_type: device/port type, 4 = root port
 * @link_port: port number of the link capabilities
 * @first_vf, @vf_stride, @nr_vfs, @vf_device: of SR-IOV; @nr_vfs is 0 without
 * @dvsec: of NVIDIA
 */
struct pci_config {
	bool readable;
	bool cut;
	bool gone;
	uint16_t vendor;
	uint16_t device;
	uint32_t class_code;
	bool bridge;
	uint8_t secondary;
	uint8_t subordinate;
	bool express;
	uint8_t port_type;
	uint8_t link_port;
	uint16_t first_vf;
	uint16_t vf_stride;
	uint16_t nr_vfs;
	uint16_t vf_device;
	struct pci_dvsec dvsec;
};

struct pci_space;

/**
 * pci_space_open() - begin reading
 * @fs: sysfs of this machine or a copy; NULL with @dump
 * @dump: file with the output of "lspci -D -xxxx", also with -v; NULL with @fs
 * @d: the error in the dump, and its line
 * @ret: close with pci_space_close()
 *
 * Return: 0; -EINVAL for a file that is no dump; an error of reading it; -ENOMEM.
 */
int pci_space_open(const struct sysfs *fs, const char *dump, struct diag *d,
		   struct pci_space **ret);
void pci_space_close(struct pci_space *s);

/**
 * pci_space_list() - addresses of all functions
 * @s: where to look
 * @ret: ordered, each once; free() it
 * @ret_nr: how many
 * @ret_odd: entries that are no addresses, or appear twice
 *
 * Return: 0; -ENOENT when there is no PCI at all; -ENOMEM; an error of reading.
 */
int pci_space_list(struct pci_space *s, struct bdf **ret, size_t *ret_nr, size_t *ret_odd);

/**
 * pci_space_read() - read a function's configuration space
 * @s: where to look
 * @a: the function
 * @d: libpci's message on failure
 * @ret: its data; not @readable when there is no such function or file
 *
 * Return: 0, -ENOMEM, or -EINVAL when libpci gives up.
 */
int pci_space_read(struct pci_space *s, const struct bdf *a, struct diag *d,
		   struct pci_config *ret);

/**
 * pci_space_name() - vendor and device, or the class, in words
 * @s: any
 * @vendor, @device, @class_code: of the function
 * @ret: from the installed pci.ids if there is one, else the class from a short list, or
 *	"class 0x0880"; always something
 * @size: size of @ret in bytes
 */
void pci_space_name(struct pci_space *s, uint16_t vendor, uint16_t device, uint32_t class_code,
		    char *ret, size_t size);

/**
 * pci_dump_clean() - copy the needed lines of a dump, each checked
 * @file: as lspci printed it
 * @d: the error, with file and line
 * @ret_fd: a file in memory, at its beginning; close it
 * @ret: addresses in the order of the dump; free() them
 * @ret_nr: how many
 *
 * libpci's own reader of dumps writes beyond its buffers for some of them.
 *
 * Return: 0, -EINVAL, -ENOMEM, or an error of reading.
 */
int pci_dump_clean(const char *file, struct diag *d, int *ret_fd, struct bdf **ret, size_t *ret_nr);

#endif
