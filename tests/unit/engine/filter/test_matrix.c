// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/filter/matrix.h"
#include "random.h"

#define MAX 40

static const size_t sizes[] = { 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 23, 31, 32, 33, 39, 40 };
#define NR_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static struct draw d = { 20261121 };

static void fill(struct matrix *m, size_t rows, size_t cols)
{
	assert_int_equal(matrix_shape(m, rows, cols), 0);
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < cols; j++)
			matrix_row(m, i)[j] = 2 * draw_unit(&d) - 1;
}

static void near(double is, double should, double tolerance)
{
	if (!(fabs(is - should) <= tolerance))
		fail_msg("%.9g instead of %.9g", is, should);
}

static void padding_is_zero(const struct matrix *m, size_t rows, size_t cols)
{
	assert_int_equal(m->rows % MATRIX_ROWS, 0);
	assert_int_equal(m->cols % MATRIX_COLS, 0);
	assert_true(m->rows >= rows && m->rows < rows + MATRIX_ROWS);
	assert_true(m->cols >= cols && m->cols < cols + MATRIX_COLS);
	for (size_t i = 0; i < m->rows; i++)
		for (size_t j = 0; j < m->cols; j++)
			if (i >= rows || j >= cols)
				assert_true(matrix_row(m, i)[j] == 0);
}

/* The element of scale * a * b, by the definition. */
static double product(const struct matrix *a, const struct matrix *b, size_t k, size_t i, size_t j)
{
	double sum = 0;

	for (size_t l = 0; l < k; l++)
		sum += (double)matrix_row(a, i)[l] * matrix_row(b, l)[j];
	return sum;
}

static void check_multiply(size_t rows, size_t k, size_t cols)
{
	cleanup_matrix struct matrix a = { 0 }, b = { 0 }, c = { 0 };
	uint16_t terms[MAX];
	size_t nr = 0;

	fill(&a, rows, k);
	/* Every third column is zero: its terms need not be added. */
	for (size_t l = 0; l < k; l++)
		if (l % 3 != 1)
			terms[nr++] = l;
	for (size_t i = 0; i < rows; i++)
		for (size_t l = 1; l < k; l += 3)
			matrix_row(&a, i)[l] = 0;
	fill(&b, k, cols);
	fill(&c, rows, cols);
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < cols; j++)
			matrix_row(&c, i)[j] = i + 2.0f * j;
	matrix_multiply(&c, &a, &b, terms, nr);
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < cols; j++)
			near(matrix_row(&c, i)[j], product(&a, &b, k, i, j), 3e-5);
	padding_is_zero(&c, rows, cols);
}

static void products_are_those_of_plain_loops(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_SIZES; i++) {
		check_multiply(sizes[i], sizes[i], sizes[i]);
		for (size_t j = 0; j < NR_SIZES; j += 3)
			check_multiply(sizes[i], sizes[j], sizes[(i + j) % NR_SIZES]);
	}
}

static void symmetric_products_and_their_mirror(void **state)
{
	(void)state;
	for (size_t s = 0; s < NR_SIZES; s++) {
		cleanup_matrix struct matrix a = { 0 }, at = { 0 }, c = { 0 }, of = { 0 };
		size_t n = sizes[s], k = sizes[(s + 5) % NR_SIZES];

		fill(&a, n, k);
		assert_int_equal(matrix_transpose(&a, &at), 0);
		assert_int_equal(matrix_shape(&c, n, n), 0);
		matrix_multiply_lower(&c, 3, &a, &at, k);
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j <= i; j++)
				near(matrix_row(&c, i)[j], 3 * product(&a, &at, k, i, j), 3e-5);
		matrix_mirror(&c);
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < n; j++)
				assert_true(matrix_row(&c, i)[j] == matrix_row(&c, j)[i]);
		padding_is_zero(&c, n, n);
		/* from the transposed one: the same to the last bit */
		assert_int_equal(matrix_shape(&of, n, n), 0);
		matrix_multiply_lower_of(&of, 3, &at, &at, k);
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j <= i; j++)
				assert_true(matrix_row(&of, i)[j] == matrix_row(&c, i)[j]);
		padding_is_zero(&of, n, n);
	}
}

static void rows_add_up(void **state)
{
	(void)state;
	for (size_t s = 0; s < NR_SIZES; s++) {
		cleanup_matrix struct matrix m = { 0 }, by = { 0 }, to = { 0 };
		size_t rows = sizes[s], cols = sizes[(s + 7) % NR_SIZES];
		double sum[MAX];

		fill(&m, rows, cols);
		fill(&by, rows, 3);
		fill(&to, 1, cols);
		for (size_t j = 0; j < cols; j++) {
			sum[j] = matrix_row(&to, 0)[j];
			for (size_t k = 0; k + 1 < rows; k++)
				sum[j] += (double)matrix_row(&by, k)[2] * matrix_row(&m, k)[j];
		}
		/* All rows but the last one, which must not count. */
		matrix_add_rows(matrix_row(&to, 0), &m, rows ? rows - 1 : 0, &by, 2);
		for (size_t j = 0; j < cols; j++)
			near(matrix_row(&to, 0)[j], sum[j], 1e-5 * (1 + rows));
		padding_is_zero(&to, 1, cols);
	}
}

static void transposed_twice_is_the_same(void **state)
{
	cleanup_matrix struct matrix a = { 0 }, t = { 0 }, back = { 0 };

	(void)state;
	for (size_t s = 0; s < NR_SIZES; s++) {
		size_t rows = sizes[s], cols = sizes[NR_SIZES - 1 - s];

		fill(&a, rows, cols);
		assert_int_equal(matrix_transpose(&a, &t), 0);
		assert_int_equal(matrix_transpose(&t, &back), 0);
		for (size_t i = 0; i < rows; i++)
			for (size_t j = 0; j < cols; j++) {
				assert_true(matrix_row(&t, j)[i] == matrix_row(&a, i)[j]);
				assert_true(matrix_row(&back, i)[j] == matrix_row(&a, i)[j]);
			}
		for (size_t j = 0; j < t.rows; j++)
			for (size_t i = 0; i < t.cols; i++)
				if (i >= rows || j >= cols)
					assert_true(matrix_row(&t, j)[i] == 0);
	}
}

/* A positive definite matrix: B * B' and something on the diagonal. */
static void definite(double *c, size_t nr)
{
	static double b[MAX][MAX];

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < nr; j++)
			b[i][j] = 2 * draw_unit(&d) - 1;
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < nr; j++) {
			c[i * nr + j] = i == j ? 1 : 0;
			for (size_t l = 0; l < nr; l++)
				c[i * nr + j] += b[i][l] * b[j][l];
		}
}

static void triangles_multiply_to_the_matrix(void **state)
{
	static double c[MAX * MAX], l[MAX * MAX];

	(void)state;
	for (size_t nr = 1; nr <= MAX; nr++) {
		definite(c, nr);
		assert_int_equal(matrix_cholesky(c, nr, l), 0);
		for (size_t i = 0; i < nr; i++) {
			assert_true(l[i * nr + i] > 0);
			for (size_t j = 0; j <= i; j++) {
				double sum = 0;

				for (size_t k = 0; k <= j; k++)
					sum += l[i * nr + k] * l[j * nr + k];
				near(sum, c[i * nr + j], 1e-12 * nr);
			}
		}
		/* in place, and what is above the diagonal does not matter */
		for (size_t i = 0; i < nr; i++)
			for (size_t j = i + 1; j < nr; j++)
				c[i * nr + j] = NAN;
		assert_int_equal(matrix_cholesky(c, nr, c), 0);
		for (size_t i = 0; i < nr; i++)
			for (size_t j = 0; j <= i; j++)
				assert_true(c[i * nr + j] == l[i * nr + j]);
	}
}

static void solutions_fit(void **state)
{
	static double c[MAX * MAX], l[MAX * MAX];
	double x[MAX], b[MAX];

	(void)state;
	for (size_t nr = 1; nr <= MAX; nr++) {
		definite(c, nr);
		for (size_t i = 0; i < nr; i++)
			x[i] = b[i] = draw_normal(&d);
		assert_int_equal(matrix_cholesky(c, nr, l), 0);
		matrix_cholesky_forward(l, nr, x);
		for (size_t i = 0; i < nr; i++)
			near(matrix_dot(l + i * nr, x, i + 1), b[i], 1e-10);
		matrix_cholesky_backward(l, nr, x);
		for (size_t i = 0; i < nr; i++)
			near(matrix_dot(c + i * nr, x, nr), b[i], 1e-10);
	}
}

static void many_right_sides_at_once(void **state)
{
	static double c[MAX * MAX], l[MAX * MAX];
	cleanup_matrix struct matrix x = { 0 }, b = { 0 }, scratch = { 0 };

	(void)state;
	for (size_t nr = 1; nr <= MAX; nr++) {
		size_t cols = 1 + draw_below(&d, MAX);
		double one[MAX];

		definite(c, nr);
		assert_int_equal(matrix_cholesky(c, nr, l), 0);
		fill(&b, nr, cols);
		assert_int_equal(matrix_shape(&x, nr, cols), 0);
		memcpy(x.v, b.v, x.rows * x.ld * sizeof(*x.v));
		assert_int_equal(matrix_cholesky_forward_all(l, nr, &x, &scratch), 0);
		for (size_t j = 0; j < cols; j++) {
			for (size_t i = 0; i < nr; i++)
				one[i] = matrix_row(&b, i)[j];
			matrix_cholesky_forward(l, nr, one);
			for (size_t i = 0; i < nr; i++)
				near(matrix_row(&x, i)[j], one[i], 1e-4);
		}
		padding_is_zero(&x, nr, cols);
	}
}

static void an_inverse_times_its_matrix_is_one(void **state)
{
	static double c[MAX * MAX], l[MAX * MAX];
	cleanup_matrix struct matrix inverse = { 0 }, scratch = { 0 }, more = { 0 };

	(void)state;
	for (size_t nr = 1; nr <= MAX; nr++) {
		definite(c, nr);
		assert_int_equal(matrix_cholesky(c, nr, l), 0);
		assert_int_equal(matrix_cholesky_inverse(l, nr, &inverse, &scratch, &more), 0);
		matrix_mirror(&inverse);
		for (size_t i = 0; i < nr; i++)
			for (size_t j = 0; j < nr; j++) {
				double sum = 0;

				for (size_t k = 0; k < nr; k++)
					sum += c[i * nr + k] * matrix_row(&inverse, k)[j];
				near(sum, i == j, 1e-4);
			}
	}
}

static void what_is_not_definite_is_refused(void **state)
{
	double negative[] = { 1, 0, 0, -1 }, zero[] = { 1, 0, 0, 0 };
	double indefinite[] = { 1, 0, 2, 1 }, nan[] = { NAN, 0, 0, 1 };
	double later[] = { 1, 0, NAN, 1 }, infinite[] = { 1, 0, INFINITY, 1 }, ret[4];

	(void)state;
	assert_int_equal(matrix_cholesky(negative, 2, ret), -EDOM);
	assert_int_equal(matrix_cholesky(zero, 2, ret), -EDOM);
	assert_int_equal(matrix_cholesky(indefinite, 2, ret), -EDOM);
	assert_int_equal(matrix_cholesky(nan, 2, ret), -EDOM);
	assert_int_equal(matrix_cholesky(later, 2, ret), -EDOM);
	assert_int_equal(matrix_cholesky(infinite, 2, ret), -EDOM);
}

static void nothing_is_a_matrix_too(void **state)
{
	cleanup_matrix struct matrix empty = { 0 }, t = { 0 }, c = { 0 };

	(void)state;
	assert_int_equal(matrix_shape(&empty, 0, 0), 0);
	assert_int_equal(matrix_transpose(&empty, &t), 0);
	assert_int_equal(t.rows, 0);
	matrix_multiply(&empty, &empty, &t, NULL, 0);
	matrix_multiply_lower(&empty, 1, &empty, &t, 0);
	matrix_multiply_lower_of(&empty, 1, &empty, &t, 0);
	matrix_add_rows(NULL, &empty, 0, &empty, 0);
	matrix_mirror(&empty);
	assert_int_equal(matrix_cholesky(NULL, 0, NULL), 0);
	matrix_cholesky_forward(NULL, 0, NULL);
	matrix_cholesky_backward(NULL, 0, NULL);
	assert_true(matrix_dot(NULL, NULL, 0) == 0);
	/* a sum over nothing is nothing, and adds nothing */
	assert_int_equal(matrix_shape(&empty, 3, 0), 0);
	fill(&c, 3, 3);
	matrix_row(&c, 2)[1] = 7;
	matrix_multiply_lower(&c, 1, &c, &c, 0);
	assert_true(matrix_row(&c, 2)[1] == 7);
	matrix_multiply(&c, &c, &c, NULL, 0);
	assert_true(matrix_row(&c, 2)[1] == 0);
	matrix_free(&c);
	assert_null(c.v);
	matrix_free(&c);
}

/* Memory is used again, but nothing of what was in it. */
static void a_new_shape_is_zero(void **state)
{
	cleanup_matrix struct matrix m = { 0 };
	float *v;

	(void)state;
	fill(&m, 30, 30);
	v = m.v;
	assert_int_equal(matrix_shape(&m, 5, 9), 0);
	assert_ptr_equal(m.v, v);
	padding_is_zero(&m, 5, 9);
	for (size_t i = 0; i < m.rows; i++)
		for (size_t j = 0; j < m.cols; j++)
			assert_true(matrix_row(&m, i)[j] == 0);
}

/* Elements are the caller's to set, but nobody else sets the padding. */
static void room_has_padding_that_is_zero(void **state)
{
	(void)state;
	for (size_t s = 0; s < NR_SIZES; s++) {
		cleanup_matrix struct matrix m = { 0 };
		size_t rows = sizes[s], cols = sizes[(s + 3) % NR_SIZES];
		float *v;

		assert_int_equal(matrix_shape(&m, MAX, MAX), 0);
		v = m.v;
		for (size_t i = 0; i < m.rows * m.ld; i++)
			v[i] = 5;
		assert_int_equal(matrix_resize(&m, rows, cols), 0);
		assert_ptr_equal(m.v, v);
		padding_is_zero(&m, rows, cols);
	}
}

static void dot_products(void **state)
{
	double a[MAX], b[MAX];

	(void)state;
	for (size_t nr = 0; nr <= MAX; nr++) {
		long double sum = 0;

		for (size_t i = 0; i < nr; i++) {
			a[i] = draw_normal(&d);
			b[i] = draw_normal(&d);
			sum += (long double)a[i] * b[i];
		}
		near(matrix_dot(a, b, nr), sum, 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_those_of_plain_loops),
		cmocka_unit_test(symmetric_products_and_their_mirror),
		cmocka_unit_test(rows_add_up),
		cmocka_unit_test(transposed_twice_is_the_same),
		cmocka_unit_test(triangles_multiply_to_the_matrix),
		cmocka_unit_test(solutions_fit),
		cmocka_unit_test(many_right_sides_at_once),
		cmocka_unit_test(an_inverse_times_its_matrix_is_one),
		cmocka_unit_test(what_is_not_definite_is_refused),
		cmocka_unit_test(nothing_is_a_matrix_too),
		cmocka_unit_test(a_new_shape_is_zero),
		cmocka_unit_test(room_has_padding_that_is_zero),
		cmocka_unit_test(dot_products),
	};

	return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
