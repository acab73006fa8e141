// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Loads a BPF object, attaches all its programs, says "ready", and keeps them
 * until its standard input ends: whoever started it need not remember to stop it.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int attach_all(struct bpf_object *object)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(
		prog, object) if (!bpf_program__attach(prog)) /* the link lives as long as we do */
		return -errno;
	return 0;
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	char byte;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: load FILE.bpf.o\n");
		return 2;
	}
	object = bpf_object__open_file(argv[1], NULL);
	err = object ? bpf_object__load(object) : -errno;
	if (!err)
		err = attach_all(object);
	if (err) {
		fprintf(stderr, "load: %s: %s\n", argv[1], strerror(-err));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	bpf_object__close(object);
	return 0;
}
