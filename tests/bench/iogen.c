// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Known traffic of devices, for the benchmark and the live tests:
 *
 *	iogen read|write FILE COUNT [KIB]	COUNT blocks of 4 (KIB) KiB at random places, O_DIRECT
 *	iogen dirty FILE COUNT			as write, through the page cache; says "written" and waits
 *	iogen ahead FILE KIB			asks for that much to be read ahead, and is gone
 *	iogen send-udp|send-tcp ADDRESS PORT COUNT SIZE
 *	iogen sink-udp|sink-tcp ADDRESS PORT [BYTES]
 *						says "listening", then receives until it has BYTES
 *						or its input ends; says how many bytes
 *
 * Says "ready PID" and waits for a line before it begins; the places are always the same.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/fs.h>

#define MAX_BYTES (8u << 20)

static void fatal(const char *what)
{
	fprintf(stderr, "iogen: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void wait_for_a_line(const char *what)
{
	char text[64];

	printf("%s %d\n", what, getpid());
	fflush(stdout);
	if (read(STDIN_FILENO, text, sizeof(text)) < 0)
		fatal("standard input");
}

static uint64_t size_of(int fd)
{
	uint64_t size;
	struct stat st;

	if (fstat(fd, &st))
		fatal("fstat");
	if (!S_ISBLK(st.st_mode))
		return st.st_size;
	if (ioctl(fd, BLKGETSIZE64, &size))
		fatal("size");
	return size;
}

static void disk(const char *what, const char *path, unsigned long count, size_t bytes)
{
	int direct = strcmp(what, "dirty") ? O_DIRECT : 0;
	int fd = open(path, (strcmp(what, "read") ? O_RDWR : O_RDONLY) | direct | O_CLOEXEC);
	uint64_t blocks = fd < 0 ? 0 : size_of(fd) / bytes, random = 1;
	void *block = NULL;

	if (fd < 0 || !blocks || posix_memalign(&block, 4096, bytes))
		fatal(path);
	memset(block, 'b', bytes);
	wait_for_a_line("ready");
	for (unsigned long i = 0; i < count; i++) {
		/* small files: every block once, in a mixed order, while there are new ones */
		uint64_t place = count <= blocks ? i * 7919 % blocks : random >> 16;
		off_t at = place % blocks * bytes;
		ssize_t n;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		n = *what == 'r' ? pread(fd, block, bytes, at) : pwrite(fd, block, bytes, at);
		if (n != (ssize_t)bytes)
			fatal(path);
	}
	if (!direct)
		wait_for_a_line("written");
}

/* In pieces: of one call, kernels before 6.12 read no more than the disk takes in one request. */
#define AHEAD_BYTES (128u << 10)

static void ahead(const char *path, unsigned long bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fatal(path);
	wait_for_a_line("ready");
	for (unsigned long done = 0; done < bytes; done += AHEAD_BYTES)
		if (posix_fadvise(fd, done, AHEAD_BYTES, POSIX_FADV_WILLNEED))
			fatal("posix_fadvise");
	_exit(0);
}

static int open_socket(const char *what, char **argv, struct sockaddr_in *ret)
{
	int fd =
		socket(AF_INET, (strstr(what, "udp") ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);

	*ret = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])) };
	if (fd < 0 || inet_pton(AF_INET, argv[0], &ret->sin_addr) != 1)
		fatal("socket");
	return fd;
}

static void transmit(const char *what, char **argv)
{
	unsigned long count = strtoul(argv[2], NULL, 0), size = strtoul(argv[3], NULL, 0);
	char *data = calloc(1, MAX_BYTES);
	struct sockaddr_in to;
	int fd;

	if (!data || size > MAX_BYTES)
		fatal("size");
	wait_for_a_line("ready");
	fd = open_socket(what, argv, &to);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		fatal("connect");
	for (unsigned long i = 0; i < count; i++) {
		ssize_t n = send(fd, data, size, 0);

		/* a full queue, or nobody listens any more */
		if (n < 0 && (errno == ENOBUFS || errno == ECONNREFUSED))
			i--;
		else if (n != (ssize_t)size)
			fatal("send");
	}
}

static void receive(const char *what, char **argv)
{
	int fd, one = 1, large = 64 << 20;
	static char data[1 << 20];
	struct sockaddr_in at;
	struct pollfd wait[2];
	uint64_t sum = 0, enough = argv[2] ? strtoull(argv[2], NULL, 0) : UINT64_MAX;
	ssize_t n;

	wait_for_a_line("ready");
	fd = open_socket(what, argv, &at);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &large, sizeof(large));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)))
		fatal("bind");
	if (strstr(what, "tcp") && listen(fd, 1))
		fatal("listen");
	printf("listening\n");
	fflush(stdout);
	if (strstr(what, "tcp"))
		fd = accept(fd, NULL, NULL);
	if (fd < 0)
		fatal("accept");
	wait[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
	wait[1] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	while (sum < enough && poll(wait, 2, -1) > 0) {
		if (!wait[0].revents)
			break; /* told to stop, and nothing is left */
		n = recv(fd, data, sizeof(data), 0);
		if (n <= 0)
			break;
		sum += n;
	}
	printf("received %llu\n", (unsigned long long)sum);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (argc >= 4 &&
	    (!strcmp(what, "read") || !strcmp(what, "write") || !strcmp(what, "dirty")))
		disk(what, argv[2], strtoul(argv[3], NULL, 0),
		     argc > 4 ? atoi(argv[4]) * 1024 : 4096);
	else if (argc == 4 && !strcmp(what, "ahead"))
		ahead(argv[2], strtoul(argv[3], NULL, 0) * 1024);
	else if (argc == 6 && !strncmp(what, "send-", 5))
		transmit(what, argv + 2);
	else if ((argc == 4 || argc == 5) && !strncmp(what, "sink-", 5))
		receive(what, argv + 2);
	else
		return 2;
	return 0;
}
