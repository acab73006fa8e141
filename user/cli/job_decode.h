/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef CLI_JOB_DECODE_H
#define CLI_JOB_DECODE_H

/**
 * job_decode() - print the JSON in a compact record
 * @who: name of the command
 * @text: the record, or "-" for what comes in on standard input; blanks around it are fine
 *
 * Return: exit status.
 */
int job_decode(const char *who, const char *text);

#endif
