/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notes about this machine's PMUs that a user must know. */
#ifndef PLATFORM_PMU_EXPLAIN_H
#define PLATFORM_PMU_EXPLAIN_H

#include "platform/pmu/pmu.h"

/**
 * pmu_notes() - explain what is odd about the PMUs of a machine
 * @pmus: what was found
 * @kernel_release: as in "uname -r"; NULL when it is not known
 * @ret_notes: sentences, each without a newline; none when there is nothing to explain
 *
 * Return: 0 or -ENOMEM.
 */
int pmu_notes(const struct pmu_list *pmus, const char *kernel_release, struct text_list *ret_notes);

/**
 * pmu_identity() - the hardware that an identifier stands for
 * @identifier: content of the identifier file
 * @ret: for example "PCIe target, traffic to BARs and CXL (pcie_tgt) of the T410"
 * @size: size of @ret; longer text is cut
 *
 * Return: false when the identifier is not known; @ret is untouched then.
 */
bool pmu_identity(const char *identifier, char *ret, size_t size);

#endif
