/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The loops of matrix.c for registers of one width; it includes this file once for each. What
 * matters for a sum is the order of its terms, which is the same in all of them: so are the
 * results, to the last bit.
 *
 * KERNEL(name): the name of this width
 * TARGET: attribute of functions with its instructions
 * LANES: floats in a register; DOUBLES: doubles of those four of which matrix_dot() has running sums
 * ROWS: how many rows of a product are in registers, a multiple of MATRIX_ROWS
 */

#define lanes  KERNEL(lanes)
#define pieces KERNEL(pieces)
#define PIECES (4 / DOUBLES)
#define across KERNEL(across)
#define ACROSS (LANES / 2)

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
/* Of rows that begin anywhere. */
typedef double pieces
	__attribute__((vector_size(DOUBLES * sizeof(double)), aligned(sizeof(double))));

/* Of as many rows as a register holds. */
typedef double across
	__attribute__((vector_size(ACROSS * sizeof(double)), aligned(sizeof(double))));

/*
 * @rows rows and @nr registers of columns of c, kept there over all of k: so many that a core is
 * busy although additions to the same sum wait for each other.
 * @terms: the k terms of a sum; NULL: the first ones
 */
TARGET static INLINE void KERNEL(block)(struct matrix *c, float scale, const struct left *a,
					const struct matrix *b, const uint16_t *terms, size_t k,
					size_t i, size_t j, int rows, int nr, enum into into)
{
	float *ci = matrix_row(c, i) + j;
	lanes s[2][ROWS] = { { { 0 } } };

	if (into == INTO_SUMS) {
#pragma GCC unroll 2
		for (int n = 0; n < nr; n++)
#pragma GCC unroll 8
			for (int r = 0; r < rows; r++)
				s[n][r] = *(lanes *)(ci + r * c->ld + n * LANES);
	}
	for (size_t l = 0; l < k; l++) {
		size_t term = terms ? terms[l] : l;
		const float *al = a->v + i * a->row + term * a->col;
		const float *bl = b->v + j + term * b->ld;

#pragma GCC unroll 2
		for (int n = 0; n < nr; n++) {
			lanes x = *(const lanes *)(bl + n * LANES);

#pragma GCC unroll 8
			for (int r = 0; r < rows; r++)
				s[n][r] += al[r * a->row] * x;
		}
	}
#pragma GCC unroll 2
	for (int n = 0; n < nr; n++)
#pragma GCC unroll 8
		for (int r = 0; r < rows; r++) {
			lanes *to = (lanes *)(ci + r * c->ld + n * LANES);

			if (into == INTO_TOTAL)
				*to += scale * s[n][r];
			else if (into == INTO_ZERO)
				*to = (lanes){ 0 } + scale * s[n][r];
			else
				*to = s[n][r];
		}
}

/* Columns that are worked on together from column @j on. */
TARGET static INLINE size_t KERNEL(columns)(const struct matrix *c, size_t j)
{
	return LANES == MATRIX_COLS && j + LANES == c->cols ? LANES : 2 * LANES;
}

/* All rows from row @i on to @end, and these. */
TARGET static INLINE void KERNEL(blocks)(struct matrix *c, float scale, const struct left *a,
					 const struct matrix *b, const uint16_t *terms, size_t k,
					 size_t i, size_t end, size_t j, enum into into)
{
	const bool two = KERNEL(columns)(c, j) == 2 * LANES;

	for (; two && i + ROWS <= end; i += ROWS)
		KERNEL(block)(c, scale, a, b, terms, k, i, j, ROWS, 2, into);
	for (; !two && i + ROWS <= end; i += ROWS)
		KERNEL(block)(c, scale, a, b, terms, k, i, j, ROWS, 1, into);
	for (; i < end; i += MATRIX_ROWS)
		if (two)
			KERNEL(block)(c, scale, a, b, terms, k, i, j, MATRIX_ROWS, 2, into);
		else
			KERNEL(block)(c, scale, a, b, terms, k, i, j, MATRIX_ROWS, 1, into);
}

TARGET static void KERNEL(multiply)(struct matrix *c, const struct left *a, const struct matrix *b,
				    const uint16_t *terms, size_t nr)
{
	for (size_t j = 0; j < c->cols; j += KERNEL(columns)(c, j))
		KERNEL(blocks)(c, 1, a, b, terms, nr, 0, c->rows, j, INTO_NOTHING);
}

/* One product after the other is added to c. */
TARGET static void KERNEL(add_products)(struct matrix *c, const struct left *a,
					const struct matrix *b, size_t k)
{
	for (size_t j = 0; j < c->cols; j += KERNEL(columns)(c, j))
		KERNEL(blocks)(c, 1, a, b, NULL, k, 0, c->rows, j, INTO_SUMS);
}

/* What is at and below the diagonal of c. */
TARGET static void KERNEL(multiply_lower)(struct matrix *c, float scale, const struct left *a,
					  const struct matrix *b, size_t k)
{
	for (size_t j = 0; j < c->cols; j += KERNEL(columns)(c, j))
		KERNEL(blocks)(c, scale, a, b, NULL, k, j, c->rows, j, INTO_TOTAL);
}

/* The same where that was zero. */
TARGET static void KERNEL(set_lower)(struct matrix *c, float scale, const struct left *a,
				     const struct matrix *b, size_t k)
{
	for (size_t j = 0; j < c->cols; j += KERNEL(columns)(c, j))
		KERNEL(blocks)(c, scale, a, b, NULL, k, j, c->rows, j, INTO_ZERO);
}

TARGET static void KERNEL(add_rows)(float *to, const struct matrix *m, size_t nr,
				    const struct matrix *by, size_t col)
{
	const float *x = by->v + col, *row = m->v;
	size_t k = 0;

	/* Four rows at a time, each read from its begin to its end; then one at a time. */
	for (; k + 4 <= nr; k += 4, x += 4 * by->ld, row += 4 * m->ld) {
		const float x0 = x[0], x1 = x[by->ld], x2 = x[2 * by->ld], x3 = x[3 * by->ld];
		const float *row1 = row + m->ld, *row2 = row1 + m->ld, *row3 = row2 + m->ld;

		for (size_t j = 0; j < m->cols; j += LANES) {
			lanes s = *(lanes *)(to + j);

			s += x0 * *(const lanes *)(row + j);
			s += x1 * *(const lanes *)(row1 + j);
			s += x2 * *(const lanes *)(row2 + j);
			s += x3 * *(const lanes *)(row3 + j);
			*(lanes *)(to + j) = s;
		}
	}
	for (; k < nr; k++, x += by->ld, row += m->ld)
		for (size_t j = 0; j < m->cols; j += LANES)
			*(lanes *)(to + j) += *x * *(const lanes *)(row + j);
}

/* What a row's four running sums, in pieces, add up to. */
TARGET static INLINE double KERNEL(sum)(const pieces *s)
{
	const pieces *last = s + PIECES - 1;

	return (s[0][0] + s[0][1]) + ((*last)[2 % DOUBLES] + (*last)[3 % DOUBLES]);
}

/*
 * The products of @rows rows, @ld apart, with the same row @b. Four running sums each: the order is
 * fixed, and the additions do not wait for each other.
 */
TARGET static INLINE void KERNEL(dots)(const double *a, size_t ld, const double *b, size_t nr,
				       int rows, double *ret)
{
	pieces s[MATRIX_ROWS][PIECES] = { { { 0 } } };
	size_t i = 0;

	for (; i + 4 <= nr; i += 4)
#pragma GCC unroll 2
		for (int p = 0; p < PIECES; p++) {
			const pieces x = *(const pieces *)(b + i + p * DOUBLES);

#pragma GCC unroll 4
			for (int r = 0; r < rows; r++)
				s[r][p] += *(const pieces *)(a + r * ld + i + p * DOUBLES) * x;
		}
	for (; i < nr; i++)
#pragma GCC unroll 4
		for (int r = 0; r < rows; r++)
			s[r][0][0] += a[r * ld + i] * b[i];
#pragma GCC unroll 4
	for (int r = 0; r < rows; r++)
		ret[r] = KERNEL(sum)(s[r]);
}

TARGET static double KERNEL(dot)(const double *a, const double *b, size_t nr)
{
	double ret;

	KERNEL(dots)(a, 0, b, nr, 1, &ret);
	return ret;
}

/* The product of one row with row @row of a triangle whose columns are rows of @u. */
TARGET static INLINE double KERNEL(common)(const double *u, size_t ld, size_t row, size_t i)
{
	double s[4] = { 0 };
	size_t l = 0;

	for (; l + 4 <= row; l += 4)
#pragma GCC unroll 4
		for (int q = 0; q < 4; q++)
			s[q] += u[(l + q) * ld + i] * u[(l + q) * ld + row];
	for (; l < row; l++)
		s[0] += u[l * ld + i] * u[l * ld + row];
	return (s[0] + s[1]) + (s[2] + s[3]);
}

/* The same of as many rows as @nr registers hold, from row @i on; it is taken from them. */
TARGET static INLINE void KERNEL(take_common)(double *u, size_t ld, size_t row, size_t i, int nr)
{
	across s[4][2] = { { { 0 } } }, *to;
	size_t l = 0;

	for (; l + 4 <= row; l += 4)
#pragma GCC unroll 4
		for (int q = 0; q < 4; q++)
#pragma GCC unroll 2
			for (int n = 0; n < nr; n++)
				s[q][n] += *(const across *)(u + (l + q) * ld + i + n * ACROSS) *
					   u[(l + q) * ld + row];
	for (; l < row; l++)
#pragma GCC unroll 2
		for (int n = 0; n < nr; n++)
			s[0][n] += *(const across *)(u + l * ld + i + n * ACROSS) * u[l * ld + row];
#pragma GCC unroll 2
	for (int n = 0; n < nr; n++) {
		to = (across *)(u + row * ld + i + n * ACROSS);
		*to -= (s[0][n] + s[1][n]) + (s[2][n] + s[3][n]);
	}
}

/*
 * The triangle is made above the diagonal, where rows of a column lie side by side, and copied from
 * there. Sums are those of matrix_dot(). A register may reach over the diagonal: what comes of
 * that is not used.
 */
TARGET static int KERNEL(cholesky)(const double *c, size_t nr, double *ret)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j <= i; j++) {
			double v = c[i * nr + j];

			ret[i * nr + j] = 0;
			ret[j * nr + i] = v;
		}
	for (size_t j = 0; j < nr; j++) {
		size_t over = (nr - j) % ACROSS ? ACROSS - (nr - j) % ACROSS : 0, i = j - over;
		double *row = ret + j * nr, d;

		/* Where the matrix begins before the register does. */
		for (i = over > j ? j : i; over > j && i < j + ACROSS - over; i++)
			row[i] -= KERNEL(common)(ret, nr, j, i);
		for (; i + 2 * ACROSS <= nr; i += 2 * ACROSS)
			KERNEL(take_common)(ret, nr, j, i, 2);
		if (i < nr)
			KERNEL(take_common)(ret, nr, j, i, 1);
		if (!(row[j] > 0))
			return -EDOM;
		d = row[j] = sqrt(row[j]);
		for (i = j + 1; (nr - i) % ACROSS; i++)
			row[i] /= d;
		for (; i < nr; i += ACROSS)
			*(across *)(row + i) /= d;
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < i; j++)
			ret[i * nr + j] = ret[j * nr + i];
	return 0;
}

TARGET static void KERNEL(forward)(const double *l, size_t nr, double *x)
{
	for (size_t i = 0; i < nr; i++)
		x[i] = (x[i] - KERNEL(dot)(l + i * nr, x, i)) / l[i * nr + i];
}

/* @tri: the triangle in single precision */
TARGET static void KERNEL(forward_all)(const struct matrix *tri, size_t nr, struct matrix *x)
{
	const struct left left = as_it_is(tri);

	for (size_t i = 0; i < nr; i += MATRIX_ROWS) {
		size_t end = i + MATRIX_ROWS < nr ? i + MATRIX_ROWS : nr;

		/* The contributions of the rows above, four rows at a time; then the triangle. */
		for (size_t j = 0; i && j < x->cols; j += KERNEL(columns)(x, j))
			KERNEL(blocks)(x, -1, &left, x, NULL, i, i, i + MATRIX_ROWS, j, INTO_TOTAL);
		for (size_t r = i; r < end; r++) {
			const float *lr = matrix_row(tri, r);
			float *xr = matrix_row(x, r);

			for (size_t s = i; s < r; s++)
				for (size_t j = 0; j < x->cols; j += LANES)
					*(lanes *)(xr + j) -=
						lr[s] * *(lanes *)(matrix_row(x, s) + j);
			for (size_t j = 0; j < x->cols; j += LANES)
				*(lanes *)(xr + j) /= lr[r];
		}
	}
}

#undef lanes
#undef pieces
#undef PIECES
#undef across
#undef ACROSS
#undef KERNEL
#undef TARGET
#undef LANES
#undef DOUBLES
#undef ROWS
