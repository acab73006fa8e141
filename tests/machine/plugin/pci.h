/* SPDX-License-Identifier: GPL-2.0-only */
/* PCI functions: what pci.c (access) and pci_function.c (contents) share. */
#ifndef T410_PCI_H
#define T410_PCI_H

#include <stdbool.h>
#include <stdint.h>

#define CONFIG_SIZE 4096

/* A line of the list that acpi/gen.py writes, see pci.c */
enum pci_type { TYPE_END_POINT, TYPE_ROOT_PORT, TYPE_UPSTREAM, TYPE_DOWNSTREAM, NR_TYPES };
struct pci_line {
	enum pci_type type;
	unsigned int segment, bus, device, function;
	unsigned int vendor, device_id, class;
	unsigned int multi;		      /* the device has more functions */
	unsigned int secondary, subordinate;  /* bridges: root ports and both sides of a switch */
	unsigned int dvsec, port, rc, socket; /* root ports; dvsec: has it */
	unsigned int rasdes;		      /* root ports: one of DesignWare */
	unsigned int vfs;		      /* end points: virtual functions it can have */
	unsigned int vf_device_id;
};

struct dwc;

struct pci_function {
	uint32_t key;		       /* segment, bus, device, function as in the ECAM address */
	const struct pci_function *pf; /* of a virtual function */
	unsigned int vf_index;
	struct dwc *dwc; /* its counter, or NULL */
	uint8_t config[CONFIG_SIZE];
	uint8_t writable[CONFIG_SIZE]; /* bits that the guest may change */
};

/** pci_fill() - contents of a bridge or end point */
void pci_fill(struct pci_function *f, const struct pci_line *l);

/** pci_fill_vf() - contents of virtual function @index of @pf, its place included */
void pci_fill_vf(struct pci_function *f, const struct pci_function *pf, unsigned int index);

/** pci_vfs_enabled() - number of virtual functions that the guest has switched on */
unsigned int pci_vfs_enabled(const struct pci_function *pf);

/* dwc.c: the capability of a root port of DesignWare, and where it is */
#define DWC_CAP 0x100

/** dwc_new() - a root port's counter, with its header put into @config; NULL: no memory */
struct dwc *dwc_new(unsigned int socket, unsigned int port, uint8_t *config);

/** dwc_read(), dwc_write() - of 32 bits; false if it is none of its registers */
bool dwc_read(const struct dwc *d, unsigned int offset, uint64_t *ret_value);
void dwc_write(struct dwc *d, unsigned int offset, uint64_t value);

#endif
