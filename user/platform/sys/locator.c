// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/locator.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"

#define MOST_DIGITS 4

/* The number behind a word and at most one separator; -1 without one. */
static int32_t number_behind(const char *text)
{
	int32_t value = 0;
	size_t digits;

	text += *text && strchr(" _-#", *text) ? 1 : 0;
	digits = strspn(text, "0123456789");
	if (!digits || digits > MOST_DIGITS)
		return -1;
	while (digits--)
		value = value * 10 + (*text++ - '0');
	return value;
}

/* Does a word begin here, and is it this one? Digits may follow it, letters may not. */
static bool is_word(const char *text, const char *at, const char *word)
{
	size_t length = strlen(word);

	return (at == text || !isalnum((unsigned char)at[-1])) && !strncasecmp(at, word, length) &&
	       !isalpha((unsigned char)at[length]);
}

static int32_t number_of(const char *text, const char *word)
{
	for (const char *at = text; *at; at++)
		if (is_word(text, at, word) && number_behind(at + strlen(word)) >= 0)
			return number_behind(at + strlen(word));
	return -1;
}

/* The surest word first, in either name. A node may be a part of a socket: it comes last. */
static int32_t socket_of(const char *device, const char *bank)
{
	static const char *const words[] = { "CPU", "PROC", "PROCESSOR", "SOCKET",
					     "SKT", "P",    "S",	 "NODE" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		int32_t number = number_of(device, words[i]);

		number = number < 0 ? number_of(bank, words[i]) : number;
		if (number >= 0)
			return number;
	}
	return -1;
}

/* How much of a name is up to and with its channel: 0 if it tells none. */
static size_t channel_word(const char *text)
{
	static const char *const words[] = { "CHANNEL", "CHAN", "CH" };

	for (const char *at = text; *at; at++) {
		if (at != text && isalnum((unsigned char)at[-1]))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			const char *end = at + strlen(words[i]);
			size_t digits;

			if (strncasecmp(at, words[i], strlen(words[i])) != 0)
				continue;
			end += *end && strchr(" _-#", *end) ? 1 : 0;
			digits = strspn(end, "0123456789");
			if (digits)
				return end + digits - text;
			/* a letter: "CHA", "CHANNEL_B" */
			if (isalpha((unsigned char)*end) && !isalpha((unsigned char)end[1]))
				return end + 1 - text;
		}
	}
	return 0;
}

/* "DIMM_A1", "DIMMB2", "CPU0 DIMM C1", "P1-DIMMA1", "A1": the letter is the channel. */
static size_t channel_letter(const char *text)
{
	const char *at = text, *end;
	size_t length = strlen(text);

	for (const char *next = text; *next; next++)
		if (!strncasecmp(next, "DIMM", 4))
			at = next + 4;
	at += at != text && *at && strchr(" _-", *at) ? 1 : 0;
	if (!isalpha((unsigned char)*at))
		return 0;
	end = at + 1;
	return strspn(end, "0123456789") && end + strspn(end, "0123456789") == text + length
		       ? (size_t)(end - text)
		       : 0;
}

void locator_read(const char *device, const char *bank, struct locator *ret)
{
	size_t in_device = channel_word(device), in_bank = channel_word(bank);

	*ret = (struct locator){ .socket = socket_of(device, bank) };
	if (!in_device && !in_bank)
		in_device = channel_letter(device);
	/* Of two names that each tell half of it, both halves. The socket tells "A" from "A". */
	if (in_device && in_device < 64)
		str_append(ret->channel, sizeof(ret->channel), "%d|%.*s|", ret->socket,
			   (int)in_device, device);
	if (in_bank && in_bank < 64)
		str_append(ret->channel, sizeof(ret->channel), "%d||%.*s", ret->socket,
			   (int)in_bank, bank);
}
