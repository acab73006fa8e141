/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Formulas of metrics: names of counters, numbers, + - * / and parentheses. A name with other
 * characters is in quotes: 'energy-pkg'. Pure; an undefined result has no value, which is not the
 * same as zero.
 */
#ifndef TABLES_FORMULA_H
#define TABLES_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

struct formula;

/**
 * formula_parse() - read a formula
 * @text: for example "(rd_cum_outs / rd_req) / (cycles / duration_ns)"
 * @d: on failure: the error and its place
 * @ret: release with formula_free()
 *
 * Return: 0, -EINVAL when @text is no formula, -E2BIG when it is too long or nested too
 * deeply, -ENOMEM.
 */
int formula_parse(const char *text, struct diag *d, struct formula **ret);
void formula_free(struct formula *f);

/** formula_nr_names() - number of different names in a formula */
size_t formula_nr_names(const struct formula *f);

/** formula_name() - the name with index @i, in the order they first appear; owned by @f */
const char *formula_name(const struct formula *f, size_t i);

/**
 * formula_eval() - compute
 * @f: the formula
 * @values: of the names, in their order; NaN = no value
 * @ret: the result
 *
 * Return: true, or false when a value is missing, a denominator is zero or the result is
 * not finite: then the metric is undefined and @ret untouched.
 */
bool formula_eval(const struct formula *f, const double *values, double *ret);

#endif
