// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Moves memory as STREAM's triad does: stream THREADS ROUNDS. Each thread adds two arrays of its own
 * into a third one; together they are larger than caches are. Prints the seconds from the moment
 * that all have filled their arrays until the last one is done.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LENGTH	    ((size_t)4 << 20)
#define MAX_THREADS 1024
#define FACTOR	    3.0

static pthread_barrier_t together;
static long rounds;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c)
{
	for (size_t i = 0; i < LENGTH; i++)
		a[i] = b[i] + FACTOR * c[i];
}

/* Returns NULL if the sums are right. */
static void *move(void *unused)
{
	double *a = calloc(LENGTH, sizeof(*a)), *b = calloc(LENGTH, sizeof(*b)),
	       *c = calloc(LENGTH, sizeof(*c));
	void *wrong = NULL;

	(void)unused;
	if (!a || !b || !c)
		exit(1);
	for (size_t i = 0; i < LENGTH; i++) {
		a[i] = 0;
		b[i] = 1;
		c[i] = (double)i;
	}
	pthread_barrier_wait(&together);
	for (long r = 0; r < rounds; r++) {
		triad(a, b, c);
		__asm__ volatile("" ::: "memory"); /* or one round would do */
	}
	pthread_barrier_wait(&together);
	for (size_t i = 0; i < LENGTH; i++)
		if (a[i] != 1 + FACTOR * (double)i)
			wrong = &together;
	free(a);
	free(b);
	free(c);
	return wrong;
}

int main(int argc, char **argv)
{
	int threads = argc == 3 ? atoi(argv[1]) : 0, nr;
	pthread_t thread[MAX_THREADS];
	int failed = 0;
	double begin;
	void *wrong;

	rounds = argc == 3 ? atol(argv[2]) : 0;
	if (threads < 1 || threads > MAX_THREADS || rounds < 1) {
		fprintf(stderr, "usage: stream THREADS ROUNDS\n");
		return 2;
	}
	pthread_barrier_init(&together, NULL, threads + 1);
	for (nr = 0; nr < threads; nr++) {
		if (pthread_create(&thread[nr], NULL, move, NULL)) {
			perror("stream: pthread_create");
			return 1;
		}
	}
	pthread_barrier_wait(&together);
	begin = now_s();
	pthread_barrier_wait(&together);
	begin = now_s() - begin;
	while (nr--) {
		pthread_join(thread[nr], &wrong);
		failed |= !!wrong;
	}
	printf("%.6f\n", begin);
	return failed;
}
