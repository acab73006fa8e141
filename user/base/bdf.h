/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of PCI functions as text: domain:bus:device.function, all hexadecimal. */
#ifndef BASE_BDF_H
#define BASE_BDF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct bdf - a PCI address
 * @domain: also called segment; up to 2^31 - 1, as in Linux and libpci
 * @bus: in it
 * @devfn: device << 3 | function, or with ARI all function; with the bus above it the
 *	requester id
 */
struct bdf {
	uint32_t domain;
	uint8_t bus;
	uint8_t devfn;
};

/**
 * bdf_parse() - take an address apart
 * @text: "0002:81:00.0", with or without zeros in front, in small or capital letters;
 *	without a domain it is domain 0
 * @ret: the address
 *
 * Return: 0, or -EINVAL when it is not one.
 */
int bdf_parse(const char *text, struct bdf *ret);

/**
 * bdf_format() - the way Linux writes it: "0002:81:00.0"
 * @b: the address
 * @ret: gets it; 20 bytes are always enough
 * @size: its size
 */
void bdf_format(const struct bdf *b, char *ret, size_t size);

/** bdf_is_name() - is @text, up to @length, an address the way that Linux writes it? */
bool bdf_is_name(const char *text, size_t length);

/**
 * bdf_of_path() - the PCI function that a path in sysfs belongs to
 * @path: for example "../../devices/pci0002:80/0002:80:00.0/0002:81:00.0/nvme/nvme0"
 * @ret: gets the last PCI address in it, 20 bytes are always enough
 *
 * Return: what follows the address ("/nvme/nvme0"), or NULL when there is none.
 */
const char *bdf_of_path(const char *path, char *ret);

/** bdf_compare() - negative, 0 or positive: order of domain, bus, device, function */
int bdf_compare(const struct bdf *a, const struct bdf *b);

/** bdf_canonical() - like bdf_format() of bdf_parse(); 0, -EINVAL with @ret untouched */
int bdf_canonical(const char *text, char *ret, size_t size);

/**
 * device_address() - bdf_canonical(), that of a link of such a function, or the number of an
 *	accelerator or another agent on a system-on-chip
 * @text: "2:81:0.0", "9:1:0.0/c2c", "acc3" or "agent0"
 * @ret: "0002:81:00.0", "0009:01:00.0/c2c", "acc3", "agent0"
 * @size: size of @ret
 *
 * Return: 0, -EINVAL with @ret untouched.
 */
int device_address(const char *text, char *ret, size_t size);

#endif
