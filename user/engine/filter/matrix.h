/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The little linear algebra that the filter needs, on matrices of a few hundred
 * rows. Every result is a fixed sequence of operations: the same input gives the
 * same output, however the machine is loaded.
 *
 * Rows lie one after the other, @ld elements apart. The number of rows is padded to
 * a multiple of MATRIX_ROWS and that of columns to one of MATRIX_COLS; the padding
 * is zero and stays so.
 */
#ifndef ENGINE_FILTER_MATRIX_H
#define ENGINE_FILTER_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#define MATRIX_ROWS 4
#define MATRIX_COLS 16

/**
 * struct matrix - single precision: quantities with an error of their own
 * @v: the elements; NULL when empty
 * @rows, @cols: as padded
 * @ld: distance of two rows
 * @cap: elements allocated
 */
struct matrix {
	float *v;
	size_t rows;
	size_t cols;
	size_t ld;
	size_t cap;
};

/**
 * matrix_shape() - give a matrix a size and set it to zero
 * @m: its memory is used again when it is large enough
 * @rows, @cols: without padding
 *
 * Return: 0 or -ENOMEM.
 */
int matrix_shape(struct matrix *m, size_t rows, size_t cols);

/**
 * matrix_resize() - the same for a matrix that is filled anyway
 *
 * Only the padding is set to zero; elements are anything until the caller sets them.
 */
int matrix_resize(struct matrix *m, size_t rows, size_t cols);
void matrix_free(struct matrix *m);

/* frees the matrix at the end of its scope */
#define cleanup_matrix __attribute__((cleanup(matrix_free)))

/** matrix_row() - the first element of a row */
static inline float *matrix_row(const struct matrix *m, size_t i)
{
	return m->v + i * m->ld;
}

/** matrix_transpose() - @ret gets the shape and the elements; 0 or -ENOMEM */
int matrix_transpose(const struct matrix *m, struct matrix *ret);

/**
 * matrix_multiply() - c = a * b, whatever was in c, from some terms of each sum
 * @a: c->rows rows
 * @b: as many rows as @a has columns, c->cols columns
 * @terms: columns of @a and rows of @b
 * @nr: of them
 */
void matrix_multiply(struct matrix *c, const struct matrix *a, const struct matrix *b,
		     const uint16_t *terms, size_t nr);

/**
 * matrix_add_products() - c += a' * b, one product after the other
 *
 * Row i becomes what matrix_add_rows() makes of it with row k of @b times a[k][i], to the last bit.
 */
void matrix_add_products(struct matrix *c, const struct matrix *a, const struct matrix *b,
			 size_t k);

/**
 * matrix_multiply_lower() - c += scale * a * b, at and below the diagonal
 *
 * For a product that is known to be symmetric: half the work. A few elements above
 * the diagonal are added to as well.
 */
void matrix_multiply_lower(struct matrix *c, float scale, const struct matrix *a,
			   const struct matrix *b, size_t k);

/**
 * matrix_multiply_lower_of() - c += scale * a' * b, at and below the diagonal
 *
 * As matrix_multiply_lower(), to the last bit, with @a transposed: a is k x c->rows.
 */
void matrix_multiply_lower_of(struct matrix *c, float scale, const struct matrix *a,
			      const struct matrix *b, size_t k);

/**
 * matrix_set_lower() - c = scale * a * b, at and below the diagonal
 *
 * As matrix_multiply_lower() makes it of zeros, to the last bit. What is above the diagonal is
 * anything afterwards.
 */
void matrix_set_lower(struct matrix *c, float scale, const struct matrix *a, const struct matrix *b,
		      size_t k);

/** matrix_set_lower_of() - the same with @a transposed, as matrix_multiply_lower_of() */
void matrix_set_lower_of(struct matrix *c, float scale, const struct matrix *a,
			 const struct matrix *b, size_t k);

/**
 * matrix_add_rows() - to += row k of m * by[k][col], one after the other
 * @to: m->cols elements, aligned as a row of a matrix; not in those of @m
 * @nr: rows
 * @by: as many rows
 */
void matrix_add_rows(float *to, const struct matrix *m, size_t nr, const struct matrix *by,
		     size_t col);

/** matrix_mirror() - copy what is below the diagonal to above it */
void matrix_mirror(struct matrix *m);

/**
 * matrix_cholesky() - the triangle L with L * L' = c
 * @c: symmetric, nr x nr, double precision; only at and below the diagonal is read
 * @nr: rows; also the distance of two rows
 * @ret: L at and below the diagonal; may be @c
 *
 * Return: 0, or -EDOM when @c is not positive definite; @ret is spoilt then.
 */
int matrix_cholesky(const double *c, size_t nr, double *ret);

/** matrix_cholesky_forward() - solves L x = b in place */
void matrix_cholesky_forward(const double *l, size_t nr, double *x);

/** matrix_cholesky_backward() - solves L' x = b in place */
void matrix_cholesky_backward(const double *l, size_t nr, double *x);

/**
 * matrix_cholesky_forward_all() - solves L X = B in place, for all columns of B
 * @l: nr x nr
 * @x: nr rows
 * @scratch: gets the shape it needs
 *
 * Return: 0 or -ENOMEM.
 */
int matrix_cholesky_forward_all(const double *l, size_t nr, struct matrix *x,
				struct matrix *scratch);

/**
 * matrix_cholesky_inverse() - (L L')^-1, at and below the diagonal
 * @l: nr x nr
 * @ret: gets the shape it needs; what is above the diagonal is anything
 * @scratch, @more: the same
 *
 * Return: 0 or -ENOMEM.
 */
int matrix_cholesky_inverse(const double *l, size_t nr, struct matrix *ret, struct matrix *scratch,
			    struct matrix *more);

/** matrix_dot() - sum of products */
double matrix_dot(const double *a, const double *b, size_t nr);

#endif
