// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Ids of jobs as schedulers and engines print them, and as cgroups have them. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/utf8.h"
#include "job.h"

#define DIGITS		 "0123456789"
#define HEX		 "0123456789abcdefABCDEF"
#define POD_NAME	 "0123456789abcdefghijklmnopqrstuvwxyz-."
#define UID_LENGTH	 36 /* 8-4-4-4-12 */
#define CONTAINER_LENGTH 64
#define F58_SIGN	 "\xc6\x92" /* U+0192, before a Flux id in F58 */
#define DOTHEX		 19	    /* 0000.0004.74ab.0000 */

static const char base58[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

static const char any_form[] = "must be the id of a job, as in 12 or slurm:12";
static const char slurm_forms[] =
	"must be a number as squeue and sacct print it, with a step or the task of an array if one "
	"is meant: 12, 12.batch, 12_3, 12_3.0";
static const char slurm_tasks[] =
	"is many tasks of an array: give one, as in 12_3, or the array as a whole, 12";
static const char slurm_parts[] =
	"is a part of a heterogeneous job: give its own number, JobId= in \"scontrol show job\"";
static const char slurm_cut[] =
	"was cut by sacct: \"sacct -o JobID%30\" prints it as a whole, as in 12.batch";
static const char flux_forms[] = "must be a number, in one of the forms of \"flux job id "
				 "--to=FORM\": f58, dec, hex, dothex, kvs";
static const char container_forms[] = "must be the id of a container as \"ps --no-trunc\" of its "
				      "engine prints it, or its first 12 "
				      "digits or more";
static const char uuid_forms[] = "must be the name of a machine: \"virsh domname UUID\" prints it";
static const char pod_forms[] =
	"must be the uid or the name of a pod, or the id of one of its containers";
static const char unit_forms[] =
	"must be a unit that has processes: a service, scope, mount, socket or swap";

/* Length of a number that 32 bits can have at the beginning of a text, or 0 */
static size_t number_length(const char *text, bool zero)
{
	size_t n = strspn(text, DIGITS);
	uint64_t value;
	char copy[12];

	if (!n || n > 10 || (text[0] == '0' && (n > 1 || !zero)))
		return 0;
	snprintf(copy, sizeof(copy), "%.*s", (int)n, text);
	return !parse_u64(copy, &value) && value <= UINT32_MAX ? n : 0;
}

static bool is_step(const char *text)
{
	static const char *const words[] = { "batch", "extern", "interactive" };
	size_t n = number_length(text, true);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(text, words[i]))
			return true;
	if (n && text[n] == '+')
		n += 1 + number_length(text + n + 1, true);
	return n && !text[n];
}

/* A number, and a step or array task. Returns the error; NULL for none. */
static const char *read_slurm(const char *text, struct job_wanted *ret)
{
	size_t n = number_length(text, false), task;

	if (n && text[n] == '_') {
		if (text[n + 1] == '[')
			return slurm_tasks;
		task = number_length(text + n + 1, true);
		n = task ? n + 1 + task : 0;
	}
	if (!n)
		return slurm_forms;
	if (text[n] == '+')
		return slurm_parts;
	if (text[n] == '.' && text[n + 1] && text[strlen(text) - 1] == '+')
		return slurm_cut;
	if (text[n] && (text[n] != '.' || !is_step(text + n + 1)))
		return slurm_forms;
	snprintf(ret->id, sizeof(ret->id), "%.*s", (int)n, text);
	str_copy(ret->step, sizeof(ret->step), text[n] ? text + n + 1 : "");
	return NULL;
}

/* A placeholder until the number is known */
static bool is_sluid(const char *text)
{
	return text[0] == 's' && strlen(text) == 14 &&
	       strspn(text + 1, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == 13;
}

static bool read_base(const char *text, const char *digits, unsigned int base, uint64_t *ret)
{
	uint64_t value = 0;

	for (const char *s = text; *s; s++) {
		const char *digit = strchr(digits, *s);

		if (!digit || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(digit - digits), &value))
			return false;
	}
	*ret = value;
	return *text;
}

/* Four groups of four digits */
static bool read_dothex(const char *text, uint64_t *ret)
{
	char plain[DOTHEX] = "";

	if (strlen(text) != DOTHEX)
		return false;
	for (size_t i = 0; i < DOTHEX; i++) {
		if ((i % 5 == 4) != (text[i] == '.'))
			return false;
		str_append(plain, sizeof(plain), "%.*s", i % 5 != 4, text + i);
	}
	return read_base(plain, "0123456789abcdef", 16, ret);
}

static bool read_flux_number(const char *text, uint64_t *ret)
{
	if (!strncmp(text, "job.", 4))
		return read_dothex(text + 4, ret);
	if (!strncmp(text, F58_SIGN, 2))
		return read_base(text + 2, base58, 58, ret);
	if (!strncmp(text, "0x", 2))
		return read_base(text + 2, "0123456789abcdef", 16, ret);
	if (text[0] == 'f')
		return read_base(text + 1, base58, 58, ret);
	return read_dothex(text, ret) || read_base(text, DIGITS, 10, ret);
}

static void put_f58(uint64_t value, char *ret, size_t size)
{
	char digits[16], *at = digits + sizeof(digits);

	*--at = '\0';
	do {
		*--at = base58[value % 58];
		value /= 58;
	} while (value);
	snprintf(ret, size, "f%s", at);
}

/* As in unit names: F58 with a plain "f" */
static const char *read_flux(const char *text, char *ret, size_t size)
{
	uint64_t value;

	if (!read_flux_number(text, &value))
		return flux_forms;
	put_f58(value, ret, size);
	return NULL;
}

static bool text_is_decimal(const char *text)
{
	return !text[strspn(text, DIGITS)];
}

/* The first characters of a pod's uid, or all of it, with hyphens or as in the names of cgroups */
static bool is_uid(const char *text, size_t at_least)
{
	size_t i;

	for (i = 0; text[i] && i < UID_LENGTH; i++) {
		bool border = i == 8 || i == 13 || i == 18 || i == 23;

		if (border ? text[i] != '-' && text[i] != '_' : !strchr(HEX, text[i]))
			return false;
	}
	return i >= at_least && !text[i];
}

static bool is_container(const char *text)
{
	size_t n = strlen(text);

	return n >= JOB_SHORT_ID && n <= CONTAINER_LENGTH && strspn(text, HEX) == n;
}

/* Ids of containers and uids of pods, as cgroups have them; false for anything else */
static bool put_hex(const char *text, struct job_wanted *w)
{
	if (!is_container(text) && !is_uid(text, JOB_SHORT_ID))
		return false;
	str_copy(w->id, sizeof(w->id), text);
	for (char *s = w->id; *s; s++)
		*s = *s == '_' ? '-' : *s >= 'A' && *s <= 'F' ? (char)(*s + 'a' - 'A') : *s;
	return true;
}

/* Units have their names in our ids, and systemctl prints them as they are in cgroups. */
static void unescape(char *text)
{
	char *to = text;

	while (*text) {
		unsigned int value;
		int used = 0;

		if (sscanf(text, "\\x%2x%n", &value, &used) == 1 && used == 4 && value) {
			*to++ = (char)value;
			text += used;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

/* As for systemctl, a name without a suffix is that of a service. */
static const char *read_unit(struct job_wanted *w)
{
	static const char *const suffixes[] = { ".service", ".scope", ".mount", ".socket",
						".swap" };
	const char *dot;

	unescape(w->id);
	dot = strrchr(w->id, '.');
	if (!dot)
		str_append(w->id, sizeof(w->id), "%s", suffixes[0]);
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (!dot || !strcmp(dot, suffixes[i]))
			return NULL;
	return unit_forms;
}

/* Of any scheduler: a spelling that only one of them uses selects it. */
static const char *read_any(const char *text, struct job_wanted *w)
{
	struct job_wanted slurm = { .scheduler = SCHEDULER_SLURM };
	const char *wrong = read_slurm(text, &slurm);
	uint64_t value;

	if (wrong && wrong != slurm_forms)
		return wrong;
	if (slurm.step[0]) {
		*w = slurm;
	} else if (!strncmp(text, F58_SIGN, 2) ||
		   (text[0] != 'f' && !text_is_decimal(text) && read_flux_number(text, &value))) {
		w->scheduler = SCHEDULER_FLUX;
		return read_flux(text, w->id, sizeof(w->id));
	} else if (wrong) {
		/* Decimal, longer than Slurm's: a Flux number, or the begin of a container id */
		if (text_is_decimal(text))
			read_flux(text, w->flux, sizeof(w->flux));
		if (!put_hex(text, w))
			unescape(w->id);
	}
	return NULL;
}

static const char *read_of(enum scheduler s, const char *text, struct job_wanted *w)
{
	switch (s) {
	case SCHEDULER_NONE:
		return read_any(text, w);
	case SCHEDULER_SLURM:
		return is_sluid(text) ? NULL : read_slurm(text, w);
	case SCHEDULER_FLUX:
		return read_flux(text, w->id, sizeof(w->id));
	case SCHEDULER_KUBERNETES:
		return put_hex(text, w) || !text[strspn(text, POD_NAME)] ? NULL : pod_forms;
	case SCHEDULER_DOCKER:
	case SCHEDULER_PODMAN:
	case SCHEDULER_CONTAINER:
		return is_container(text) && put_hex(text, w) ? NULL : container_forms;
	case SCHEDULER_LIBVIRT:
		return is_uid(text, UID_LENGTH) ? uuid_forms : NULL;
	case SCHEDULER_SYSTEMD:
		return read_unit(w);
	default:
		return NULL;
	}
}

/* kubectl writes the engine before a container id, and the kind before a pod name. */
static const char *without_prefix(const char *text)
{
	static const char *const prefixes[] = { "docker://", "containerd://", "cri-o://", "pod/" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(text, prefixes[i], strlen(prefixes[i])))
			return text + strlen(prefixes[i]);
	return !strncmp(text, "pod", 3) && is_uid(text + 3, UID_LENGTH) ? text + 3 : text;
}

const char *job_wanted_parse(const char *text, struct job_wanted *ret)
{
	char shown[JOB_ID_LEN];
	const char *id;

	*ret = (struct job_wanted){ 0 };
	if (!job_text_parse(without_prefix(text), &ret->scheduler, &id))
		return any_form;
	id = without_prefix(id);
	/* as long as ids are, with the characters that utf8_harmless() leaves */
	if (utf8_harmless(shown, sizeof(shown), id, strlen(id)) || strcmp(shown, id) ||
	    strchr(id, '/'))
		return any_form;
	str_copy(ret->id, sizeof(ret->id), id);
	return read_of(ret->scheduler, id, ret);
}

bool job_array_fits(const char *array, const char *wanted)
{
	size_t n = strlen(wanted);

	return array[0] && !strncmp(array, wanted, n) && (!array[n] || array[n] == '_');
}
