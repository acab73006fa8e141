/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Diagnostics: what went wrong, in words for a user, carried from the layer
 * that knows it to the command that prints it. Layers below cli/ never print.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <errno.h>

/**
 * struct diag - one problem, ready to be shown
 * @what: names the thing and what is wrong with it; empty when nothing is
 * @help: what the user can do about it; may be empty
 */
struct diag {
	char what[512];
	char help[512];
};

/**
 * diag_fail() - record a problem
 * @d: where to; NULL drops the text
 * @err: negative errno, returned unchanged so that callers can return it
 * @fmt: text for @what; replaces an earlier one and clears @help
 *
 * Return: @err.
 */
int diag_fail(struct diag *d, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/**
 * diag_no_memory() - record that memory ran out; for -ENOMEM and nothing else
 * @d: where to; NULL drops the text
 *
 * Return: -ENOMEM.
 */
int diag_no_memory(struct diag *d);

/**
 * diag_error() - record an error that is known by its number only
 * @d: where to; NULL drops the text
 * @err: negative errno; -ENOMEM is told as diag_no_memory() does
 * @what: what could not be done, "cannot open it"
 *
 * Return: @err.
 */
int diag_error(struct diag *d, int err, const char *what);

/**
 * diag_advise() - record the remedy for the problem of the last diag_fail()
 * @d: the same; NULL drops the text
 * @err: returned unchanged so that callers can return it
 * @fmt: text for @help
 *
 * Return: @err.
 */
int diag_advise(struct diag *d, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* diag_help() - the same where nothing is to be returned */
#define diag_help(d, ...) ((void)diag_advise(d, 0, __VA_ARGS__))

#endif
