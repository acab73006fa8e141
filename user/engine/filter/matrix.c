// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/filter/matrix.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * As wide as a block of columns. Compilers make of it what the machine has; nothing
 * is left to their judgement, so both give the same sums.
 */
typedef float lanes __attribute__((vector_size(MATRIX_COLS * sizeof(float))));
/* Of rows that begin anywhere. */
typedef double quad __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double))));

static size_t padded(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Gives a matrix room for its elements and the padding, and sets none of them. */
static int take_room(struct matrix *m, size_t rows, size_t cols)
{
	size_t r = padded(rows, MATRIX_ROWS), c = padded(cols, MATRIX_COLS);
	size_t need = r * c;

	if (need > m->cap) {
		float *v = aligned_alloc(sizeof(lanes), need * sizeof(*v));

		if (!v)
			return -ENOMEM;
		free(m->v);
		m->v = v;
		m->cap = need;
	}
	m->rows = r;
	m->cols = c;
	m->ld = c;
	return 0;
}

int matrix_shape(struct matrix *m, size_t rows, size_t cols)
{
	int err = take_room(m, rows, cols);

	if (!err && m->rows && m->cols)
		memset(m->v, 0, m->rows * m->cols * sizeof(*m->v));
	return err;
}

int matrix_room(struct matrix *m, size_t rows, size_t cols)
{
	int err = take_room(m, rows, cols);

	for (size_t i = 0; !err && i < rows; i++)
		for (size_t j = cols; j < m->cols; j++)
			matrix_row(m, i)[j] = 0;
	for (size_t i = rows; !err && i < m->rows; i++)
		for (size_t j = 0; j < m->cols; j++)
			matrix_row(m, i)[j] = 0;
	return err;
}

void matrix_free(struct matrix *m)
{
	free(m->v);
	*m = (struct matrix){ 0 };
}

int matrix_transpose(const struct matrix *m, struct matrix *ret)
{
	int err = matrix_room(ret, m->cols, m->rows);

	for (size_t i = 0; !err && i < m->rows; i++)
		for (size_t j = 0; j < m->cols; j++)
			ret->v[j * ret->ld + i] = m->v[i * m->ld + j];
	return err;
}

/* The left matrix of a product: element (i, l) is @row * i + @col * l behind @v. */
struct left {
	const float *v;
	size_t row;
	size_t col;
};

static struct left as_it_is(const struct matrix *m)
{
	return (struct left){ m->v, m->ld, 1 };
}

static struct left transposed(const struct matrix *m)
{
	return (struct left){ m->v, 1, m->ld };
}

#define INLINE inline __attribute__((always_inline))

/*
 * Four rows and @nr blocks of columns of c, kept in registers over all of k. Two blocks keep
 * a core busy: additions to the same sum wait for each other. @set: c is anything before.
 */
static INLINE void multiply_block(struct matrix *c, float scale, const struct left *a,
				  const struct matrix *b, size_t k, size_t i, size_t j, int nr,
				  bool set)
{
	const float *a0 = a->v + i * a->row, *a1 = a0 + a->row, *a2 = a1 + a->row;
	const float *a3 = a2 + a->row, *bj = b->v + j;
	float *ci = matrix_row(c, i) + j;
	lanes s[2][MATRIX_ROWS] = { { { 0 } } };

	for (size_t l = 0; l < k; l++, bj += b->ld)
		for (int n = 0; n < nr; n++) {
			lanes x = *(const lanes *)(bj + n * MATRIX_COLS);

			s[n][0] += a0[l * a->col] * x;
			s[n][1] += a1[l * a->col] * x;
			s[n][2] += a2[l * a->col] * x;
			s[n][3] += a3[l * a->col] * x;
		}
	for (int n = 0; n < nr; n++, ci += MATRIX_COLS)
		for (int r = 0; r < MATRIX_ROWS; r++)
			*(lanes *)(ci + r * c->ld) =
				set ? s[n][r] : *(lanes *)(ci + r * c->ld) + scale * s[n][r];
}

/* Blocks of columns that are worked on together from column @j on. */
static INLINE size_t blocks_at(const struct matrix *c, size_t j)
{
	return j + 2 * MATRIX_COLS <= c->cols ? 2 : 1;
}

/* Four rows, from row @i on, of these. */
static INLINE void multiply_blocks(struct matrix *c, float scale, const struct left *a,
				   const struct matrix *b, size_t k, size_t i, size_t j, bool set)
{
	if (blocks_at(c, j) == 2)
		multiply_block(c, scale, a, b, k, i, j, 2, set);
	else
		multiply_block(c, scale, a, b, k, i, j, 1, set);
}

/* What is at and below the diagonal of c. */
static INLINE void multiply_lower(struct matrix *c, float scale, const struct left *a,
				  const struct matrix *b, size_t k)
{
	for (size_t j = 0; j < c->cols; j += blocks_at(c, j) * MATRIX_COLS)
		for (size_t i = j; i < c->rows; i += MATRIX_ROWS)
			multiply_blocks(c, scale, a, b, k, i, j, false);
}

MATRIX_WIDE void matrix_multiply(struct matrix *c, const struct matrix *a, const struct matrix *b,
				 size_t k)
{
	const struct left left = as_it_is(a);

	for (size_t j = 0; j < c->cols; j += blocks_at(c, j) * MATRIX_COLS)
		for (size_t i = 0; i < c->rows; i += MATRIX_ROWS)
			multiply_blocks(c, 1, &left, b, k, i, j, true);
}

MATRIX_WIDE void matrix_multiply_lower(struct matrix *c, float scale, const struct matrix *a,
				       const struct matrix *b, size_t k)
{
	const struct left left = as_it_is(a);

	multiply_lower(c, scale, &left, b, k);
}

MATRIX_WIDE void matrix_multiply_lower_of(struct matrix *c, float scale, const struct matrix *a,
					  const struct matrix *b, size_t k)
{
	const struct left left = transposed(a);

	multiply_lower(c, scale, &left, b, k);
}

MATRIX_WIDE void matrix_add_rows(float *to, const struct matrix *m, size_t nr,
				 const struct matrix *by, size_t col)
{
	const float *x = by->v + col, *row = m->v;
	size_t k = 0;

	/* Four rows at a time, each read from its begin to its end; then one at a time. */
	for (; k + 4 <= nr; k += 4, x += 4 * by->ld, row += 4 * m->ld) {
		const float x0 = x[0], x1 = x[by->ld], x2 = x[2 * by->ld], x3 = x[3 * by->ld];
		const float *row1 = row + m->ld, *row2 = row1 + m->ld, *row3 = row2 + m->ld;

		for (size_t j = 0; j < m->cols; j += MATRIX_COLS) {
			lanes s = *(lanes *)(to + j);

			s += x0 * *(const lanes *)(row + j);
			s += x1 * *(const lanes *)(row1 + j);
			s += x2 * *(const lanes *)(row2 + j);
			s += x3 * *(const lanes *)(row3 + j);
			*(lanes *)(to + j) = s;
		}
	}
	for (; k < nr; k++, x += by->ld, row += m->ld)
		for (size_t j = 0; j < m->cols; j += MATRIX_COLS)
			*(lanes *)(to + j) += *x * *(const lanes *)(row + j);
}

/* So many rows are read at a time, down their columns: their lines stay in the cache meanwhile. */
#define MIRRORED 16

void matrix_mirror(struct matrix *m)
{
	size_t nr = m->rows < m->cols ? m->rows : m->cols;

	for (size_t i = 0; i < nr; i += MIRRORED)
		for (size_t j = 0; j < nr && j < i + MIRRORED; j++)
			for (size_t k = i > j ? i : j; k < i + MIRRORED && k < nr; k++)
				m->v[j * m->ld + k] = m->v[k * m->ld + j];
}

/* Four running sums: the order is fixed, and the additions do not wait for each other. */
static INLINE double dot_inline(const double *a, const double *b, size_t nr)
{
	quad s = { 0 };
	size_t i = 0;

	for (; i + 4 <= nr; i += 4)
		s += *(const quad *)(a + i) * *(const quad *)(b + i);
	for (; i < nr; i++)
		s[0] += a[i] * b[i];
	return (s[0] + s[1]) + (s[2] + s[3]);
}

MATRIX_WIDE double matrix_dot(const double *a, const double *b, size_t nr)
{
	return dot_inline(a, b, nr);
}

/*
 * Four products with the same row @b, of rows @ld apart: as dot_inline() for each, to the
 * last bit, but their additions do not wait for each other.
 */
static INLINE void dot_four(const double *a, size_t ld, const double *b, size_t nr, double *ret)
{
	const double *a1 = a + ld, *a2 = a1 + ld, *a3 = a2 + ld;
	quad s0 = { 0 }, s1 = { 0 }, s2 = { 0 }, s3 = { 0 };
	size_t i = 0;

	for (; i + 4 <= nr; i += 4) {
		quad x = *(const quad *)(b + i);

		s0 += *(const quad *)(a + i) * x;
		s1 += *(const quad *)(a1 + i) * x;
		s2 += *(const quad *)(a2 + i) * x;
		s3 += *(const quad *)(a3 + i) * x;
	}
	for (; i < nr; i++) {
		s0[0] += a[i] * b[i];
		s1[0] += a1[i] * b[i];
		s2[0] += a2[i] * b[i];
		s3[0] += a3[i] * b[i];
	}
	ret[0] = (s0[0] + s0[1]) + (s0[2] + s0[3]);
	ret[1] = (s1[0] + s1[1]) + (s1[2] + s1[3]);
	ret[2] = (s2[0] + s2[1]) + (s2[2] + s2[3]);
	ret[3] = (s3[0] + s3[1]) + (s3[2] + s3[3]);
}

MATRIX_WIDE int matrix_cholesky(const double *c, size_t nr, double *ret)
{
	for (size_t i = 0, done = 0; i < nr; i++) {
		double *li = ret + i * nr, d;

		/* What the next four rows have in common; only the triangle is left of them. */
		if (i % MATRIX_ROWS == 0 && i + MATRIX_ROWS <= nr) {
			for (done = 0; done < i; done++) {
				double sum[MATRIX_ROWS];

				dot_four(li, nr, ret + done * nr, done, sum);
				for (int r = 0; r < MATRIX_ROWS; r++)
					li[r * nr + done] = (c[(i + r) * nr + done] - sum[r]) /
							    ret[done * nr + done];
			}
		} else if (i % MATRIX_ROWS == 0) {
			done = 0;
		}
		for (size_t j = done; j < i; j++)
			li[j] = (c[i * nr + j] - dot_inline(li, ret + j * nr, j)) / ret[j * nr + j];
		d = c[i * nr + i] - dot_inline(li, li, i);
		if (!(d > 0))
			return -EDOM;
		li[i] = sqrt(d);
	}
	return 0;
}

void matrix_cholesky_forward(const double *l, size_t nr, double *x)
{
	for (size_t i = 0; i < nr; i++)
		x[i] = (x[i] - matrix_dot(l + i * nr, x, i)) / l[i * nr + i];
}

void matrix_cholesky_backward(const double *l, size_t nr, double *x)
{
	for (size_t i = nr; i-- > 0;) {
		x[i] /= l[i * nr + i];
		for (size_t j = 0; j < i; j++)
			x[j] -= l[i * nr + j] * x[i];
	}
}

MATRIX_WIDE int matrix_cholesky_forward_all(const double *l, size_t nr, struct matrix *x,
					    struct matrix *scratch)
{
	int err = matrix_room(scratch, nr, nr);
	const struct left left = as_it_is(scratch);

	if (err)
		return err;
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j <= i; j++)
			matrix_row(scratch, i)[j] = l[i * nr + j];
	for (size_t i = 0; i < nr; i += MATRIX_ROWS) {
		size_t end = i + MATRIX_ROWS < nr ? i + MATRIX_ROWS : nr;

		/* What the rows above contribute, four rows at a time; then the triangle. */
		for (size_t j = 0; i && j < x->cols; j += blocks_at(x, j) * MATRIX_COLS)
			multiply_blocks(x, -1, &left, x, i, i, j, false);
		for (size_t r = i; r < end; r++) {
			const float *lr = matrix_row(scratch, r);
			float *xr = matrix_row(x, r);

			for (size_t s = i; s < r; s++)
				for (size_t j = 0; j < x->cols; j += MATRIX_COLS)
					*(lanes *)(xr + j) -=
						lr[s] * *(lanes *)(matrix_row(x, s) + j);
			for (size_t j = 0; j < x->cols; j += MATRIX_COLS)
				*(lanes *)(xr + j) /= lr[r];
		}
	}
	return 0;
}
