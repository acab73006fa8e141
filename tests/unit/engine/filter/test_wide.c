// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Wider registers give the same bits: as plain loops over single numbers in the documented order,
 * and as each other. On a machine without AVX-512, or without AVX2, the widest that it has stands
 * for those.
 */
#include <stdio.h>

#include "engine/filter/wide.h"
#include "filter_sim.h"

#define MAX_SIZE 150
#define BLOCKS	 4

static const enum wide widths[] = { WIDE_NONE, WIDE_AVX2, WIDE_AVX512 };
#define NR_WIDTHS (sizeof(widths) / sizeof(widths[0]))

static void fill(struct matrix *m, size_t rows, size_t cols)
{
	assert_int_equal(matrix_shape(m, rows, cols), 0);
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < cols; j++)
			matrix_row(m, i)[j] = draw_normal(&d);
}

static void fill_line(double *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		v[i] = draw_normal(&d);
}

static void copy(struct matrix *to, const struct matrix *from)
{
	assert_int_equal(matrix_shape(to, from->rows, from->cols), 0);
	memcpy(to->v, from->v, from->rows * from->ld * sizeof(*to->v));
}

/* @lower: only at and below the diagonal */
static void same_bits(const struct matrix *is, const struct matrix *should, bool lower)
{
	for (size_t i = 0; i < should->rows; i++) {
		size_t nr = lower && i + 1 < should->cols ? i + 1 : should->cols;

		assert_memory_equal(matrix_row(is, i), matrix_row(should, i),
				    nr * sizeof(*should->v));
	}
}

/* One sum after the other, in single precision. */
static float plain_product(const struct matrix *a, const struct matrix *b, size_t k, size_t i,
			   size_t j)
{
	volatile float sum = 0;

	for (size_t l = 0; l < k; l++) {
		volatile float part = matrix_row(a, i)[l] * matrix_row(b, l)[j];

		sum = sum + part;
	}
	return sum;
}

/* Four running sums, as matrix_dot() documents them. */
static double plain_dot(const double *a, const double *b, size_t nr)
{
	volatile double s[4] = { 0 };

	for (size_t i = 0; i < nr; i++) {
		volatile double part = a[i] * b[i];
		size_t to = i < nr / 4 * 4 ? i % 4 : 0;

		s[to] = s[to] + part;
	}
	return (s[0] + s[1]) + (s[2] + s[3]);
}

static size_t some_size(void)
{
	return 1 + draw_below(&d, MAX_SIZE);
}

/* Sets about a third of the columns to zero; @ret: the others, which are all that a sum needs. */
static size_t choose_terms(struct matrix *m, size_t k, uint16_t *ret)
{
	size_t nr = 0;

	for (size_t l = 0; l < k; l++) {
		if (draw_below(&d, 3))
			ret[nr++] = l;
		for (size_t i = 0; i < m->rows && !(nr && ret[nr - 1] == l); i++)
			matrix_row(m, i)[l] = 0;
	}
	return nr;
}

static void check_products(size_t rows, size_t k, size_t cols)
{
	cleanup_matrix struct matrix a = { 0 }, at = { 0 }, b = { 0 }, c = { 0 };
	cleanup_matrix struct matrix whole = { 0 }, lower = { 0 }, before = { 0 };
	cleanup_matrix struct matrix set = { 0 }, some = { 0 };
	uint16_t terms[MAX_SIZE];
	float scale = draw_normal(&d);
	size_t nr;

	fill(&a, rows, k);
	copy(&some, &a);
	nr = choose_terms(&some, k, terms);
	fill(&b, k, cols);
	fill(&before, rows, cols);
	copy(&whole, &before);
	copy(&lower, &before);
	copy(&set, &before);
	assert_int_equal(matrix_transpose(&a, &at), 0);
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < cols; j++) {
			volatile float part = scale * plain_product(&a, &b, k, i, j);

			matrix_row(&whole, i)[j] = plain_product(&some, &b, k, i, j);
			if (j > i)
				continue;
			matrix_row(&lower, i)[j] = matrix_row(&before, i)[j] + part;
			matrix_row(&set, i)[j] = 0.0f + part;
		}
	for (size_t w = 0; w < NR_WIDTHS; w++) {
		wide_max = widths[w];
		copy(&c, &before);
		matrix_multiply(&c, &a, &b, terms, nr);
		same_bits(&c, &whole, false);
		copy(&c, &before);
		matrix_multiply_lower(&c, scale, &a, &b, k);
		same_bits(&c, &lower, true);
		copy(&c, &before);
		matrix_multiply_lower_of(&c, scale, &at, &b, k);
		same_bits(&c, &lower, true);
		copy(&c, &before);
		matrix_set_lower(&c, scale, &a, &b, k);
		same_bits(&c, &set, true);
		copy(&c, &before);
		matrix_set_lower_of(&c, scale, &at, &b, k);
		same_bits(&c, &set, true);
	}
}

static void products_have_the_same_bits(void **state)
{
	(void)state;
	d = (struct draw){ 20261124 };
	for (size_t i = 0; i < draw_times(60, 6); i++)
		check_products(some_size(), some_size(), some_size());
	check_products(100, 150, 150);
}

static void sums_of_rows_have_the_same_bits(void **state)
{
	(void)state;
	d = (struct draw){ 20261125 };
	for (size_t round = 0; round < draw_times(60, 6); round++) {
		cleanup_matrix struct matrix m = { 0 }, by = { 0 }, before = { 0 };
		cleanup_matrix struct matrix should = { 0 }, to = { 0 };
		size_t rows = some_size(), cols = some_size();

		fill(&m, rows, cols);
		fill(&by, rows, 3);
		fill(&before, 1, cols);
		copy(&should, &before);
		for (size_t k = 0; k < rows; k++)
			for (size_t j = 0; j < cols; j++) {
				volatile float part = matrix_row(&by, k)[1] * matrix_row(&m, k)[j];

				should.v[j] = should.v[j] + part;
			}
		for (size_t w = 0; w < NR_WIDTHS; w++) {
			wide_max = widths[w];
			copy(&to, &before);
			matrix_add_rows(to.v, &m, rows, &by, 1);
			same_bits(&to, &should, false);
		}
	}
}

/* As many rows at once as one after the other. */
static void products_add_up_as_rows_do(void **state)
{
	(void)state;
	d = (struct draw){ 20261127 };
	for (size_t round = 0; round < draw_times(60, 6); round++) {
		cleanup_matrix struct matrix a = { 0 }, b = { 0 }, before = { 0 };
		cleanup_matrix struct matrix should = { 0 }, c = { 0 };
		size_t rows = some_size(), k = some_size(), cols = some_size();

		fill(&a, k, rows);
		fill(&b, k, cols);
		fill(&before, rows, cols);
		copy(&should, &before);
		wide_max = WIDE_NONE;
		for (size_t i = 0; i < rows; i++)
			matrix_add_rows(matrix_row(&should, i), &b, k, &a, i);
		for (size_t w = 0; w < NR_WIDTHS; w++) {
			wide_max = widths[w];
			copy(&c, &before);
			matrix_add_products(&c, &a, &b, k);
			same_bits(&c, &should, false);
		}
	}
}

/* A positive definite matrix. */
static void definite(double *c, size_t nr)
{
	fill_line(c, nr * nr);
	for (size_t i = 0; i < nr; i++)
		c[i * nr + i] = nr + fabs(c[i * nr + i]);
}

static bool plain_triangle(const double *c, size_t nr, double *l)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j <= i; j++) {
			double v = c[i * nr + j] - plain_dot(l + i * nr, l + j * nr, j);

			if (j == i && !(v > 0))
				return false;
			l[i * nr + j] = j == i ? sqrt(v) : v / l[j * nr + j];
		}
	return true;
}

/* What the rows of four together have from those above, then row by row, in single precision. */
static void plain_forward_all(const double *l, size_t nr, struct matrix *x)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < x->cols; j++) {
			volatile float sum = 0, v = matrix_row(x, i)[j], part;

			for (size_t k = 0; k < i / 4 * 4; k++) {
				part = (float)l[i * nr + k] * matrix_row(x, k)[j];
				sum = sum + part;
			}
			v = v - sum;
			for (size_t k = i / 4 * 4; k < i; k++) {
				part = (float)l[i * nr + k] * matrix_row(x, k)[j];
				v = v - part;
			}
			matrix_row(x, i)[j] = v / (float)l[i * nr + i];
		}
}

static void check_triangle(size_t nr, size_t cols)
{
	static double c[MAX_SIZE * MAX_SIZE], l[MAX_SIZE * MAX_SIZE], found[MAX_SIZE * MAX_SIZE];
	cleanup_matrix struct matrix b = { 0 }, x = { 0 }, all = { 0 }, scratch = { 0 };
	double one[MAX_SIZE], solved[MAX_SIZE], x1[MAX_SIZE];

	definite(c, nr);
	fill(&b, nr, cols);
	fill_line(one, nr);
	assert_true(plain_triangle(c, nr, l));
	for (size_t i = 0; i < nr; i++)
		solved[i] = (one[i] - plain_dot(l + i * nr, solved, i)) / l[i * nr + i];
	copy(&all, &b);
	plain_forward_all(l, nr, &all);
	for (size_t w = 0; w < NR_WIDTHS; w++) {
		wide_max = widths[w];
		assert_int_equal(matrix_cholesky(c, nr, found), 0);
		for (size_t i = 0; i < nr; i++)
			assert_memory_equal(found + i * nr, l + i * nr, (i + 1) * sizeof(*l));
		memcpy(x1, one, sizeof(x1));
		matrix_cholesky_forward(found, nr, x1);
		assert_memory_equal(x1, solved, nr * sizeof(*x1));
		copy(&x, &b);
		assert_int_equal(matrix_cholesky_forward_all(found, nr, &x, &scratch), 0);
		same_bits(&x, &all, false);
	}
}

static void triangles_have_the_same_bits(void **state)
{
	(void)state;
	d = (struct draw){ 20261126 };
	for (size_t nr = 1; nr < 20; nr++)
		check_triangle(nr, some_size());
	for (size_t i = 0; i < draw_times(20, 2); i++)
		check_triangle(some_size(), some_size());
}

/* All that a filter says of a block, one after the other. */
static size_t said(const struct sim *s, double *ret)
{
	const struct filter_output *o = s->out;
	size_t nr = 0;

	for (size_t t = 0; t < s->t; t++) {
		ret[nr++] = o->background[t];
		for (size_t i = 0; i < s->n; i++) {
			ret[nr++] = matrix_row(&o->expected, t)[i];
			ret[nr++] = matrix_row(&o->carried, t)[i];
		}
	}
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = 0; j < s->n; j++)
			ret[nr++] = matrix_row(&o->covariance, i)[j];
	ret[nr++] = o->noise;
	ret[nr++] = o->mix;
	return nr;
}

static void filters_say_the_same_to_the_bit(void **state)
{
	static const size_t sizes[] = { 1, 7, 40, 90 };
	static double should[40000], is[40000];
	double intensity[FILTER_MAX_WORKLOADS];

	(void)state;
	for (size_t i = 0; i < FILTER_MAX_WORKLOADS; i++)
		intensity[i] = 1 + i % 9;
	for (int kind = 0; kind < NR_FILTER_KINDS; kind++)
		for (size_t k = 0; k < draw_times(4, 3); k++)
			for (size_t w = 0; w < NR_WIDTHS; w++) {
				struct sim *s = sim_new(kind, 100, sizes[k]);
				size_t nr;

				wide_max = widths[w];
				s->noise = 0.05;
				s->lag[0] = 0.1;
				blocks(s, intensity, BLOCKS);
				nr = said(s, w ? is : should);
				assert_true(nr < sizeof(is) / sizeof(is[0]));
				if (w)
					assert_memory_equal(is, should, nr * sizeof(*is));
				sim_free(s);
			}
}

/* The order of widths is one of preference: with all allowed, the widest is taken. */
static void what_is_not_allowed_is_not_used(void **state)
{
	(void)state;
	wide_max = WIDE_NONE;
	assert_false(wide_has(WIDE_AVX2) || wide_has(WIDE_AVX512));
	wide_max = WIDE_AVX2;
	assert_false(wide_has(WIDE_AVX512));
	wide_max = WIDE_AVX512;
	assert_true(wide_has(WIDE_NONE));
	assert_true(wide_has(WIDE_AVX2) || !wide_has(WIDE_AVX512));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_allowed_is_not_used),
		cmocka_unit_test(products_have_the_same_bits),
		cmocka_unit_test(sums_of_rows_have_the_same_bits),
		cmocka_unit_test(products_add_up_as_rows_do),
		cmocka_unit_test(triangles_have_the_same_bits),
		cmocka_unit_test(filters_say_the_same_to_the_bit),
	};

	return cmocka_run_group_tests_name("wide", tests, NULL, NULL);
}
