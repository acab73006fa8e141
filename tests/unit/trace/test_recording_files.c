// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files and pipes of recordings: names, rights. */
#include "trace_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording_format.h"

#define NOBODY 65534

static char dir[] = "/tmp/t410trace-test-XXXXXX";
static char path[128];

static int make_dir(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "%s/rec", mkdtemp(dir) ? dir : "");
	return dir[0] ? 0 : -1;
}

/* Checks the mode of all files if @mode is set, removes them, and gives their number. */
static size_t take_files(mode_t mode)
{
	DIR *d = opendir(dir);
	size_t nr = 0;

	assert_non_null(d);
	for (const struct dirent *e; (e = readdir(d));) {
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		assert_int_equal(fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW), 0);
		if (mode)
			assert_int_equal(st.st_mode & 07777, mode);
		assert_int_equal(unlinkat(dirfd(d), e->d_name, 0), 0);
		nr++;
	}
	closedir(d);
	return nr;
}

static int drop_dir(void **state)
{
	(void)state;
	take_files(0);
	return rmdir(dir);
}

static void record(uint64_t max_bytes)
{
	struct recording_writer *w;
	struct trace_sink sink;
	struct diag d = { 0 };

	assert_int_equal(recording_create(path, &sample_header, max_bytes, &d, &w), 0);
	sink = recording_sink(w);
	random_trace(&sink, 8, 30000, true);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
}

static void put_older(mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* As perf.data, or as the file that is replaced; all segments alike, and nothing is left beside */
static void test_modes(void **state)
{
	mode_t mask = umask(022);

	(void)state;
	record(0);
	assert_int_equal(take_files(0600), 1);
	put_older(0640);
	record(0);
	assert_int_equal(take_files(0640), 1);
	put_older(0640);
	record(RECORDING_MIN_BYTES);
	assert_in_range(take_files(0640), 2, 8);
	umask(mask);
}

static void test_write_protected(void **state)
{
	struct recording_writer *w;
	struct diag d = { 0 };

	(void)state;
	put_older(0400);
	/* root may write to all */
	assert_true(geteuid() || (!chown(dir, NOBODY, NOBODY) && !chown(path, NOBODY, NOBODY)));
	assert_true(geteuid() || !seteuid(NOBODY));
	assert_int_equal(recording_create(path, &sample_header, 0, &d, &w), -EACCES);
	assert_true(getuid() || !seteuid(0));
	assert_int_equal(take_files(0400), 1);
}

/* What a shell makes of >(zstd > rec), and standard output */
static int record_into(const char *name, int fd)
{
	int out = dup(STDOUT_FILENO), err;
	struct recording_writer *w;
	struct diag d = { 0 };

	dup2(fd, STDOUT_FILENO);
	err = recording_create(name, &sample_header, 0, &d, &w);
	if (!err)
		err = recording_finish(w, &d, NULL);
	dup2(out, STDOUT_FILENO);
	close(out);
	return err;
}

static void test_pipes(void **state)
{
	char of_shell[32];
	const char *names[] = { of_shell, "-", "/dev/stdout" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct trace_file *f;
		struct diag d = { 0 };
		int ends[2], err;

		assert_int_equal(pipe(ends), 0);
		snprintf(of_shell, sizeof(of_shell), "/dev/fd/%d", ends[1]);
		err = record_into(names[i], ends[1]);
		close(ends[1]);
		assert_int_equal(err, 0);
		snprintf(of_shell, sizeof(of_shell), "/dev/fd/%d", ends[0]);
		assert_int_equal(trace_file_open(of_shell, &d, &f), 0);
		assert_same_header(trace_file_header(f), &sample_header);
		trace_file_close(f);
		close(ends[0]);
	}
	assert_int_equal(take_files(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_write_protected),
		cmocka_unit_test(test_pipes),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
