/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef GENDOC_COMPLETION_H
#define GENDOC_COMPLETION_H

/**
 * completion() - print completion of t410trace's commands and options, from their rows
 * @shell: "bash", "zsh" or "fish"
 *
 * Returns 0, or 1 if the shell is not known.
 */
int completion(const char *shell);

#endif
