// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

int parse_u64(const char *text, uint64_t *ret_value)
{
	unsigned long long value;
	int base = 10;
	char *end;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	/* strtoull() would take blanks, a sign and, in base 16, a second 0x. */
	if (base == 16 ? !isxdigit((unsigned char)text[0]) : !isdigit((unsigned char)text[0]))
		return -EINVAL;
	if (base == 16 && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, base);
	if (*end)
		return -EINVAL;
	if (errno == ERANGE)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

bool take_number(const char **text, int32_t *ret_value)
{
	int64_t value = 0;

	if (!isdigit((unsigned char)**text) ||
	    (**text == '0' && isdigit((unsigned char)(*text)[1])))
		return false;
	while (isdigit((unsigned char)**text)) {
		value = value * 10 + (*(*text)++ - '0');
		if (value > INT32_MAX)
			return false;
	}
	*ret_value = (int32_t)value;
	return true;
}

int take_setting(const char **list, char *ret_name, size_t size, uint64_t *ret_value)
{
	size_t name = strspn(*list, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-.");
	const char *number = *list + name + 1;
	char digits[24];
	size_t length;

	if (!name || name >= size || number[-1] != '=')
		return -EINVAL;
	length = strcspn(number, ",");
	/* A comma at the end promises another one. */
	if (length >= sizeof(digits) || (number[length] && !number[length + 1]))
		return -EINVAL;
	memcpy(digits, number, length);
	digits[length] = '\0';
	if (parse_u64(digits, ret_value))
		return -EINVAL;
	memcpy(ret_name, *list, name);
	ret_name[name] = '\0';
	*list = number + length + (number[length] == ',');
	return 0;
}

int parse_double(const char *text, double *ret_value)
{
	locale_t c_locale;
	double value;
	bool range;
	char *end;

	/* Only these characters: keeps out blanks, "inf", "nan" and hexadecimal. */
	if (!text[0] || text[strspn(text, "0123456789+-.eE")])
		return -EINVAL;
	c_locale = newlocale(LC_NUMERIC_MASK, "C", NULL);
	if (!c_locale)
		return -ENOMEM;
	errno = 0;
	value = strtod_l(text, &end, c_locale);
	range = errno == ERANGE;
	freelocale(c_locale);
	if (end == text || *end)
		return -EINVAL;
	if (range || !isfinite(value))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int read_line_at(int dirfd, const char *path, char *ret_line, size_t size)
{
	cleanup_free char *line = NULL;
	cleanup_close int fd = -1;
	size_t used = 0;
	char *newline;
	ssize_t got;

	/* Without O_NONBLOCK a FIFO in the place of a file would hang us. */
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	/* Read into memory of our own, because ret_line stays as it is on failure. */
	line = malloc(size + 1);
	if (!line)
		return -ENOMEM;
	do {
		got = read(fd, line + used, size - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		used += got;
	} while (got != 0 && used < size && !memchr(line, '\n', used));

	newline = memchr(line, '\n', used);
	if (newline)
		used = newline - line;
	if (used >= size)
		return -E2BIG;
	line[used] = '\0';
	if (strlen(line) != used)
		return -EINVAL;
	memcpy(ret_line, line, used + 1);
	return 0;
}

FILE *file_at(int dirfd, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	FILE *f = NULL;
	int length, fd;

	va_start(args, fmt);
	length = vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	if (length >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !(f = fdopen(fd, "r")))
		close(fd);
	return f;
}

int next_line(FILE *in, char *ret_line, size_t size)
{
	size_t length = 0;
	int c;

	errno = 0;
	while ((c = getc(in)) != EOF && c != '\n') {
		if (!c)
			return -EINVAL;
		if (length + 1 >= size)
			return -E2BIG;
		ret_line[length++] = (char)c;
	}
	if (ferror(in))
		return errno ? -errno : -EIO;
	ret_line[length] = '\0';
	return c == '\n' || length;
}

int str_copy(char *dst, size_t size, const char *src)
{
	size_t len = strnlen(src, size);

	if (len < size) {
		memcpy(dst, src, len + 1);
		return 0;
	}
	memcpy(dst, src, size - 1);
	dst[size - 1] = '\0';
	return -ENAMETOOLONG;
}

int str_append(char *dst, size_t size, const char *fmt, ...)
{
	size_t used = strnlen(dst, size);
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(dst + used, size - used, fmt, ap);
	va_end(ap);
	return len < 0 || (size_t)len >= size - used ? -ENAMETOOLONG : 0;
}
