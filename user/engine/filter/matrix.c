// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/filter/matrix.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/filter/wide.h"

static size_t padded(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Gives a matrix memory for its elements and the padding, and sets none of them. */
static int reserve(struct matrix *m, size_t rows, size_t cols)
{
	size_t r = padded(rows, MATRIX_ROWS), c = padded(cols, MATRIX_COLS);
	size_t need = r * c;

	if (need > m->cap) {
		float *v = aligned_alloc(MATRIX_COLS * sizeof(*v), need * sizeof(*v));

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
	int err = reserve(m, rows, cols);

	if (!err && m->rows && m->cols)
		memset(m->v, 0, m->rows * m->cols * sizeof(*m->v));
	return err;
}

int matrix_resize(struct matrix *m, size_t rows, size_t cols)
{
	int err = reserve(m, rows, cols);

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

/* Four elements: as wide as registers of any CPU are. */
typedef float quad __attribute__((vector_size(4 * sizeof(float))));

#ifdef __clang__
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int picks __attribute__((vector_size(4 * sizeof(int))));
#define PICK(a, b, ...) __builtin_shuffle(a, b, (picks){ __VA_ARGS__ })
#endif

/* Four rows of @from, four elements of each, become columns of @to. */
static INLINE void turn(const float *from, size_t ld, float *to, size_t to_ld)
{
	quad a = *(const quad *)from, b = *(const quad *)(from + ld);
	quad c = *(const quad *)(from + 2 * ld), d = *(const quad *)(from + 3 * ld);
	quad ab = PICK(a, b, 0, 4, 1, 5), ab2 = PICK(a, b, 2, 6, 3, 7);
	quad cd = PICK(c, d, 0, 4, 1, 5), cd2 = PICK(c, d, 2, 6, 3, 7);

	*(quad *)to = PICK(ab, cd, 0, 1, 4, 5);
	*(quad *)(to + to_ld) = PICK(ab, cd, 2, 3, 6, 7);
	*(quad *)(to + 2 * to_ld) = PICK(ab2, cd2, 0, 1, 4, 5);
	*(quad *)(to + 3 * to_ld) = PICK(ab2, cd2, 2, 3, 6, 7);
}

int matrix_transpose(const struct matrix *m, struct matrix *ret)
{
	int err = matrix_resize(ret, m->cols, m->rows);

	for (size_t i = 0; !err && i < m->rows; i += 4)
		for (size_t j = 0; j < m->cols; j += 4)
			turn(m->v + i * m->ld + j, m->ld, ret->v + j * ret->ld + i, ret->ld);
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

/* What a product does to c. */
enum into {
	INTO_NOTHING, /* it is c, whatever that was */
	INTO_TOTAL,   /* it is added, times something */
	INTO_ZERO,    /* the same as if c had been zero */
	INTO_SUMS,    /* its terms are added one after the other */
};

#define KERNEL(name) name##_any
#define TARGET
#define LANES	4
#define DOUBLES 2
#define ROWS	4
#include "engine/filter/matrix_kernels.h"

#ifdef __x86_64__
#define KERNEL(name) name##_avx2
#define TARGET	     TARGET_AVX2
#define LANES	     8
#define DOUBLES	     4
#define ROWS	     4
#include "engine/filter/matrix_kernels.h"

#define KERNEL(name) name##_avx512
#define TARGET	     TARGET_AVX512
#define LANES	     16
#define DOUBLES	     4
#define ROWS	     8
#include "engine/filter/matrix_kernels.h"
#endif

enum wide wide_max = WIDE_AVX512;

/* Functions of matrix_kernels.h, for one width. */
struct kernels {
	void (*multiply)(struct matrix *c, const struct left *a, const struct matrix *b,
			 const uint16_t *terms, size_t nr);
	void (*add_products)(struct matrix *c, const struct left *a, const struct matrix *b,
			     size_t k);
	void (*multiply_lower)(struct matrix *c, float scale, const struct left *a,
			       const struct matrix *b, size_t k);
	void (*set_lower)(struct matrix *c, float scale, const struct left *a,
			  const struct matrix *b, size_t k);
	void (*add_rows)(float *to, const struct matrix *m, size_t nr, const struct matrix *by,
			 size_t col);
	double (*dot)(const double *a, const double *b, size_t nr);
	int (*cholesky)(const double *c, size_t nr, double *ret);
	void (*forward)(const double *l, size_t nr, double *x);
	void (*forward_all)(const struct matrix *tri, size_t nr, struct matrix *x);
};

#define KERNELS(wide)                                                                          \
	{                                                                                      \
		multiply_##wide, add_products_##wide, multiply_lower_##wide, set_lower_##wide, \
			add_rows_##wide, dot_##wide, cholesky_##wide, forward_##wide,          \
			forward_all_##wide                                                     \
	}

static const struct kernels *kernels(void)
{
	static const struct kernels any = KERNELS(any);
#ifdef __x86_64__
	static const struct kernels avx2 = KERNELS(avx2), avx512 = KERNELS(avx512);

	if (wide_has(WIDE_AVX512))
		return &avx512;
	if (wide_has(WIDE_AVX2))
		return &avx2;
#endif
	return &any;
}

void matrix_multiply(struct matrix *c, const struct matrix *a, const struct matrix *b,
		     const uint16_t *terms, size_t nr)
{
	const struct left left = as_it_is(a);

	kernels()->multiply(c, &left, b, terms, nr);
}

void matrix_add_products(struct matrix *c, const struct matrix *a, const struct matrix *b, size_t k)
{
	const struct left left = transposed(a);

	kernels()->add_products(c, &left, b, k);
}

void matrix_multiply_lower(struct matrix *c, float scale, const struct matrix *a,
			   const struct matrix *b, size_t k)
{
	const struct left left = as_it_is(a);

	kernels()->multiply_lower(c, scale, &left, b, k);
}

void matrix_multiply_lower_of(struct matrix *c, float scale, const struct matrix *a,
			      const struct matrix *b, size_t k)
{
	const struct left left = transposed(a);

	kernels()->multiply_lower(c, scale, &left, b, k);
}

void matrix_set_lower(struct matrix *c, float scale, const struct matrix *a, const struct matrix *b,
		      size_t k)
{
	const struct left left = as_it_is(a);

	kernels()->set_lower(c, scale, &left, b, k);
}

void matrix_set_lower_of(struct matrix *c, float scale, const struct matrix *a,
			 const struct matrix *b, size_t k)
{
	const struct left left = transposed(a);

	kernels()->set_lower(c, scale, &left, b, k);
}

void matrix_add_rows(float *to, const struct matrix *m, size_t nr, const struct matrix *by,
		     size_t col)
{
	kernels()->add_rows(to, m, nr, by, col);
}

/* Number of rows read at a time, down their columns: their lines stay in the cache meanwhile. */
#define MIRRORED 16

void matrix_mirror(struct matrix *m)
{
	size_t nr = m->rows < m->cols ? m->rows : m->cols;

	for (size_t i = 0; i < nr; i += MIRRORED)
		for (size_t j = 0; j < nr && j < i + MIRRORED; j += 4) {
			for (size_t k = i > j ? i : j + 4; k < i + MIRRORED && k < nr; k += 4)
				turn(m->v + k * m->ld + j, m->ld, m->v + j * m->ld + k, m->ld);
			for (size_t k = j + 1; i <= j && k < j + 4; k++)
				for (size_t l = j; l < k; l++)
					m->v[l * m->ld + k] = m->v[k * m->ld + l];
		}
}

double matrix_dot(const double *a, const double *b, size_t nr)
{
	return kernels()->dot(a, b, nr);
}

int matrix_cholesky(const double *c, size_t nr, double *ret)
{
	return kernels()->cholesky(c, nr, ret);
}

void matrix_cholesky_forward(const double *l, size_t nr, double *x)
{
	kernels()->forward(l, nr, x);
}

void matrix_cholesky_backward(const double *l, size_t nr, double *x)
{
	for (size_t i = nr; i-- > 0;) {
		x[i] /= l[i * nr + i];
		for (size_t j = 0; j < i; j++)
			x[j] -= l[i * nr + j] * x[i];
	}
}

int matrix_cholesky_forward_all(const double *l, size_t nr, struct matrix *x,
				struct matrix *scratch)
{
	int err = matrix_resize(scratch, nr, nr);

	if (err)
		return err;
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j <= i; j++)
			matrix_row(scratch, i)[j] = l[i * nr + j];
	kernels()->forward_all(scratch, nr, x);
	return 0;
}

int matrix_cholesky_inverse(const double *l, size_t nr, struct matrix *ret, struct matrix *scratch,
			    struct matrix *more)
{
	int err = matrix_shape(scratch, nr, nr);

	for (size_t i = 0; !err && i < nr; i++)
		matrix_row(scratch, i)[i] = 1;
	err = err ? err : matrix_cholesky_forward_all(l, nr, scratch, more);
	err = err ? err : matrix_resize(ret, nr, nr);
	if (!err)
		matrix_set_lower_of(ret, 1, scratch, scratch, nr);
	return err;
}
