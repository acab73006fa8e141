// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf_programs: prints how many BPF programs are loaded in the kernel, whoever holds them.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	union bpf_attr attr;
	unsigned int nr = 0;

	memset(&attr, 0, sizeof(attr));
	while (!syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr))) {
		attr.start_id = attr.next_id;
		nr++;
	}
	/* behind the last one */
	if (errno != ENOENT) {
		perror("bpf_programs");
		return 1;
	}
	printf("%u\n", nr);
	return 0;
}
