// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names of the cgroups of schedulers, container engines and systemd. One row per layout; the first
 * row that fits decides, so the most specific maker comes first: a container in a Slurm job is the
 * job's, a unit is used only if nothing else fits.
 *
 * A pattern is a sequence of components. In a component (...) is the id, <...> the step %n a number
 *	from 1 on %d a number %s the characters of a SLUID %f a Flux job id without its "f" %x a
 *	container id, 64 hexadecimal digits %u the uid of a pod %q "-burstable", "-besteffort" or ""
 *	%r what engines call a pod's containers %m anything, at least a character %_ %- nothing, or
 *	anything that ends with this character %t the suffix of a unit that can have processes and
 *	all other characters stand for themselves. A component has at most one of %m, %_ and %-, so
 *	that the matcher never tries more places than there are characters.
 */
#include "tables/job_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/utf8.h"

#define SLURM_V1    "Slurm 20.11 to 25.11, cgroup/v1 plugin"
#define SLURM_V2    "Slurm 22.05 and later, cgroup_v2.html; \"NODE_\" if built for several slurmd"
#define SLURM_SLUID "Slurm 26.05, cgroup.conf(5): CgroupJobIdPaths=no"
#define FLUX	    "flux-core 0.50 to 0.80, job-exec with service sdexec"
#define KUBELET_SD  "Kubernetes 1.10 to 1.34, cgroup driver systemd"
#define KUBELET_FS  "Kubernetes 1.6 to 1.34, cgroup driver cgroupfs"
#define CONTAINERD  "containerd 1.1 to 2.1, kubelet and runc of different drivers"
#define CRI	    "crictl 1.24 and containerd without a kubelet"
#define DOCKER	    "Docker 1.8 to 28"
#define PODMAN	    "Podman 3 to 5"
#define LIBVIRT	    "libvirt 1.1.1 to 11, cgroups.html"
#define ACTIONS	    "runners of GitHub Actions 2020 to 2026, jobs in containers"
#define ECS	    "Amazon ECS agent 1.15 and later, cgroup driver cgroupfs"
#define NERDCTL	    "nerdctl 0.8 to 2.2"
#define PARENT	    "docker-run(1), dockerd(8): --cgroup-parent, cgroup driver cgroupfs; nerdctl"
#define PREFIX	    "runc, systemd driver: SLICE:PREFIX:ID of other engines"
#define LXC_PAYLOAD "LXC 4 to 6, LXD 4 and later, Incus: lxc.container.conf(5)"
#define LXC_SPLIT   "LXC 3.1 to 4.0, LXD 3.11 and later"
#define LXC_PLAIN   "LXC and LXD before that; Proxmox VE 4 to 9: lxc.cgroup.dir.container"
#define MACHINED    "systemd 205 and later, systemd-nspawn(1), systemd-machined(8)"
#define SYSTEMD	    "systemd 205 and later, systemd.unit(5)"

enum spelling {
	PLAIN,
	POD_UID, /* "_" for "-", which systemd would take for a level of slices */
	UNIT,	 /* \x2d and the like; a "_" before names that clash with kernel files */
};

enum {
	RULE_INNERMOST = 1 << 0,   /* of several matches, the deepest; otherwise the topmost */
	RULE_AT_ROOT = 1 << 1,	   /* only at the root of the tree */
	RULE_SYSTEM = 1 << 2,	   /* not below a user's own cgroups */
	RULE_PROVISIONAL = 1 << 3, /* the id is a placeholder */
};

#define MAX_PARTS 5

/**
 * struct job_rule - a layout
 * @scheduler: its maker
 * @job: pattern of one or more components; the last one is the job's own cgroup
 * @parts: patterns of the step component below, if there is one
 * @except: component that @job excludes
 * @spelling: of the id
 * @flags: RULE_*
 * @source: source of the row
 */
struct job_rule {
	enum scheduler scheduler;
	const char *job;
	const char *parts[MAX_PARTS];
	const char *except;
	enum spelling spelling;
	unsigned int flags;
	const char *source;
};

/* Cgroups whose layout is up to a user */
static const char users_own[] = "user@%m.service";

#define SLURM(pattern, more, from)                                                      \
	{                                                                               \
		.scheduler = SCHEDULER_SLURM, .job = pattern, .parts = { "step_<%m>" }, \
		.flags = RULE_SYSTEM | (more), .source = from                           \
	}
#define CONTAINERS                                                                           \
	{                                                                                    \
		"cri-containerd-<%x>.scope", "crio-<%x>.scope", "docker-<%x>.scope", "<%x>", \
			"crio-<%x>"                                                          \
	}
#define POD(pattern, from)                                                              \
	{                                                                               \
		.scheduler = SCHEDULER_KUBERNETES, .job = pattern, .parts = CONTAINERS, \
		.spelling = POD_UID, .source = from                                     \
	}
#define ALONE(who, pattern, how, from)                                            \
	{                                                                         \
		.scheduler = who, .job = pattern, .spelling = how, .source = from \
	}

/* clang-format off */
static const struct job_rule rules[] = {
	SLURM("%_slurmstepd.scope/job_(%n)", 0, SLURM_V2),
	SLURM("%_slurmstepd.scope/(s%s)", RULE_PROVISIONAL, SLURM_SLUID),
	SLURM("slurm/uid_%d/job_(%n)", 0, SLURM_V1),
	SLURM("slurm_%m/uid_%d/job_(%n)", 0, SLURM_V1),

	ALONE(SCHEDULER_FLUX, "imp-shell-%d-(f%f).service", PLAIN, FLUX),
	ALONE(SCHEDULER_FLUX, "shell-%d-(f%f).service", PLAIN, FLUX),

	POD("%-kubepods%q-pod(%u).slice", KUBELET_SD),
	POD("kubepods/pod(%u)", KUBELET_FS),
	POD("kubepods/burstable/pod(%u)", KUBELET_FS),
	POD("kubepods/besteffort/pod(%u)", KUBELET_FS),
	POD("%-kubepods%q-pod(%u).slice:%r:<%x>", CONTAINERD),
	ALONE(SCHEDULER_KUBERNETES, "cri-containerd-(%x).scope", PLAIN, CRI),
	ALONE(SCHEDULER_KUBERNETES, "%m:cri-containerd:(%x)", PLAIN, CRI),
	ALONE(SCHEDULER_KUBERNETES, "crio-(%x).scope", PLAIN, CRI),
	ALONE(SCHEDULER_KUBERNETES, "k8s.io/(%x)", PLAIN, CRI),

	ALONE(SCHEDULER_DOCKER, "docker-(%x).scope", PLAIN, DOCKER),
	ALONE(SCHEDULER_DOCKER, "docker/(%x)", PLAIN, DOCKER),
	ALONE(SCHEDULER_DOCKER, "%m:docker:(%x)", PLAIN, DOCKER),
	ALONE(SCHEDULER_DOCKER, "actions_job/(%x)", PLAIN, ACTIONS),
	ALONE(SCHEDULER_DOCKER, "ecs/%m/(%x)", PLAIN, ECS),
	ALONE(SCHEDULER_DOCKER, "ecs/%m/%m/(%x)", PLAIN, ECS),

	{ .scheduler = SCHEDULER_PODMAN, .job = "%-libpod_pod_(%x).slice",
	  .parts = { "libpod-<%x>.scope", "<%x>" }, .source = PODMAN },
	{ .scheduler = SCHEDULER_PODMAN, .job = "libpod_parent/(%x)",
	  .parts = { "libpod-<%x>", "<%x>" }, .source = PODMAN },
	ALONE(SCHEDULER_PODMAN, "libpod-(%x).scope", PLAIN, PODMAN),
	ALONE(SCHEDULER_PODMAN, "libpod-payload-(%x)", PLAIN, PODMAN ", --cgroups=split (Quadlet)"),
	ALONE(SCHEDULER_PODMAN, "%m:libpod:(%x)", PLAIN, PODMAN ", another manager than the engine's"),
	ALONE(SCHEDULER_PODMAN, "libpod-(%x)", PLAIN, PODMAN ", --cgroup-manager=cgroupfs"),

	/* Unknown engine. A parent named like a pod is Kubernetes' in a layout not known here. */
	{ .scheduler = SCHEDULER_CONTAINER, .job = "%m-(%x).scope", .except = "%mconmon-%x.scope",
	  .source = NERDCTL "; " PREFIX },
	ALONE(SCHEDULER_CONTAINER, "%m:nerdctl:(%x)", PLAIN, NERDCTL),
	{ .scheduler = SCHEDULER_CONTAINER, .job = "%m/(%x)", .except = "pod%m",
	  .source = PARENT },

	ALONE(SCHEDULER_LXC, "lxc.payload.(%m)", PLAIN, LXC_PAYLOAD),
	ALONE(SCHEDULER_LXC, "lxc.payload/(%m)", PLAIN, LXC_SPLIT),
	ALONE(SCHEDULER_LXC, "lxc/(%m)", PLAIN, LXC_PLAIN),

	ALONE(SCHEDULER_LIBVIRT, "machine-qemu\\x2d%d\\x2d(%m).scope", UNIT, LIBVIRT),
	ALONE(SCHEDULER_LIBVIRT, "machine-lxc\\x2d%d\\x2d(%m).scope", UNIT, LIBVIRT),
	ALONE(SCHEDULER_LIBVIRT, "machine-ch\\x2d%d\\x2d(%m).scope", UNIT, LIBVIRT),
	ALONE(SCHEDULER_LIBVIRT, "qemu-%d-(%m).libvirt-qemu", PLAIN, LIBVIRT),
	ALONE(SCHEDULER_LIBVIRT, "lxc-%d-(%m).libvirt-lxc", PLAIN, LIBVIRT),
	ALONE(SCHEDULER_LIBVIRT, "machine/(%m).libvirt-qemu", PLAIN, LIBVIRT " (before 1.2.17)"),

	/* Units inside of a systemd container belong to the container. */
	ALONE(SCHEDULER_SYSTEMD, "(machine-%m.scope)", UNIT, MACHINED),
	ALONE(SCHEDULER_SYSTEMD, "(systemd-nspawn@%m.service)", UNIT, MACHINED),

	{ .scheduler = SCHEDULER_SYSTEMD, .job = "(init.scope)", .flags = RULE_AT_ROOT,
	  .source = SYSTEMD },
	/* init.scope elsewhere is a user manager itself, in user@UID.service. */
	{ .scheduler = SCHEDULER_SYSTEMD, .job = "(%m%t)", .except = "init.scope",
	  .spelling = UNIT, .flags = RULE_INNERMOST, .source = SYSTEMD },
};
/* clang-format on */

static const struct job_variables variables[NR_SCHEDULERS] = {
	/*
	 * sbatch(1), srun(1): OUTPUT ENVIRONMENT VARIABLES. slurmstepd is in step_N/slurm and calls
	 * itself "slurmstepd: [12.batch]" (cgroup_v2.html).
	 */
	[SCHEDULER_SLURM] = { .id = "SLURM_JOB_ID",
			      .array = "SLURM_ARRAY_JOB_ID",
			      .task = "SLURM_ARRAY_TASK_ID",
			      .name = "SLURM_JOB_NAME",
			      .user = "SLURM_JOB_USER",
			      .keeper = "slurm",
			      .title = "slurmstepd: [" },
	/* The path has the id, and Flux gives tasks no name. */
	[SCHEDULER_FLUX] = { .user = "USER", .proof = "FLUX_JOB_ID" },
	/* A pod's hostname is the pod's name; only containers of pods have the other variable. */
	[SCHEDULER_KUBERNETES] = { .name = "HOSTNAME",
				   .proof = "KUBERNETES_SERVICE_HOST",
				   .hostname = true },
	[SCHEDULER_DOCKER] = { .name = "HOSTNAME", .hostname = true },
	[SCHEDULER_CONTAINER] = { .name = "HOSTNAME", .hostname = true },
	/* podman-run(1): ENVIRONMENT */
	[SCHEDULER_PODMAN] = { .name = "HOSTNAME", .proof = "container", .hostname = true },
};

struct span {
	const char *begin;
	const char *end;
};

struct captures {
	struct span id;
	struct span step;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Digits and upper case without I, L, O, U */
static bool is_crockford(char c)
{
	return is_digit(c) || (c >= 'A' && c <= 'Z' && !memchr("ILOU", c, 4));
}

/* Digits and letters without 0, I, O, l */
static bool is_base58(char c)
{
	return c != '0' && c != 'I' && c != 'O' && c != 'l' && (is_digit(c) || is_letter(c));
}

static size_t run(bool (*is)(char c), const char *t, const char *end, size_t max)
{
	size_t n = 0;

	while (n < max && t + n < end && is(t[n]))
		n++;
	return n;
}

/* At most ten digits that fit 32 bits; no leading zeros. */
static size_t number_length(const char *t, const char *end, bool zero)
{
	size_t n = run(is_digit, t, end, 11);

	if (n > 10 || (n && t[0] == '0' && (n > 1 || !zero)))
		return 0;
	return n;
}

/* 8-4-4-4-12 digits with "-" or "_" between them; 32 digits in a row for a static pod. */
static size_t pod_uid_length(const char *t, const char *end)
{
	size_t n = run(is_hex, t, end, 33);

	if (n == 32)
		return n;
	if (n != 8 || end - t < 36 || (t[8] != '-' && t[8] != '_'))
		return 0;
	for (size_t i = 0; i < 36; i++) {
		bool border = i == 8 || i == 13 || i == 18 || i == 23;

		if (border ? t[i] != t[8] : !is_hex(t[i]))
			return 0;
	}
	return 36;
}

static size_t word_length(const char *t, const char *end, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(end - t) >= n && !memcmp(t, words[i], n))
			return n;
	}
	return 0;
}

/* Length of a text that a class of fixed extent matches; 0 for no match. */
static size_t class_length(char class, const char *t, const char *end)
{
	static const char *const qos[] = { "-burstable", "-besteffort" };
	static const char *const engines[] = { "cri-containerd", "crio", "docker" };
	static const char *const suffixes[] = { ".service", ".scope", ".mount", ".socket",
						".swap" };

	switch (class) {
	case 'n':
		return number_length(t, end, false);
	case 'd':
		return number_length(t, end, true);
	case 's':
		return run(is_crockford, t, end, 13) == 13 ? 13 : 0;
	case 'f':
		return run(is_base58, t, end, 11);
	case 'x':
		return run(is_hex, t, end, 64) == 64 ? 64 : 0;
	case 'u':
		return pod_uid_length(t, end);
	case 'q':
		return word_length(t, end, qos, ARRAY_SIZE(qos));
	case 'r':
		return word_length(t, end, engines, ARRAY_SIZE(engines));
	default:
		return word_length(t, end, suffixes, ARRAY_SIZE(suffixes));
	}
}

static const char *fits(const char *p, struct span t, struct captures *c);

/* The character that must follow in the text; NUL for the end of the component. */
static char first_of(const char *p)
{
	p += strspn(p, "()<>");
	if (p[0] == '%' && p[1] == 't')
		return '.';
	return *p == '/' ? '\0' : *p;
}

/*
 * A class that matches as much as possible, followed by the rest of the pattern: a literal
 * character, or after %m also %t or the end.
 */
static const char *fits_any(char class, const char *p, struct span t, struct captures *c)
{
	bool name = class == 'm';
	char first = first_of(p), key = name ? first : class;
	const char *found = NULL, *at = t.end;

	if (name && !key)
		return at > t.begin ? fits(p, (struct span){ at, at }, c) : NULL;
	if (!name && *t.begin == first)
		found = fits(p, t, c);
	while (!found && (at = memrchr(t.begin, key, (size_t)(at - t.begin))) &&
	       (!name || at > t.begin)) {
		if (name || (at + 1 < t.end && at[1] == first))
			found = fits(p, (struct span){ name ? at : at + 1, t.end }, c);
	}
	return found;
}

/* End of the pattern of a component, if the component @t fits it; otherwise NULL. */
static const char *fits(const char *p, struct span t, struct captures *c)
{
	for (; *p && *p != '/'; p++) {
		if (*p == '%') {
			char class = *++p;
			size_t n;

			if (class == 'm' || class == '_' || class == '-')
				return fits_any(class, p + 1, t, c);
			n = class_length(class, t.begin, t.end);
			if (!n && class != 'q')
				return NULL;
			t.begin += n;
		} else if (*p == '(') {
			c->id.begin = t.begin;
		} else if (*p == ')') {
			c->id.end = t.begin;
		} else if (*p == '<') {
			c->step.begin = t.begin;
		} else if (*p == '>') {
			c->step.end = t.begin;
		} else if (t.begin == t.end || *t.begin++ != *p) {
			return NULL;
		}
	}
	return t.begin == t.end ? p : NULL;
}

#define MAX_COMPONENTS 64 /* deeper ones are ignored as parts of the ones above */

/* Split a path into components; empty ones between two slashes are skipped. */
static size_t split(const char *path, struct span ret_parts[MAX_COMPONENTS])
{
	size_t nr = 0;

	while (nr < MAX_COMPONENTS) {
		path += strspn(path, "/");
		if (!*path)
			break;
		ret_parts[nr].begin = path;
		path += strcspn(path, "/");
		ret_parts[nr++].end = path;
	}
	return nr;
}

/* Does the pattern of several components fit from @at on? Returns their number, or 0. */
static size_t fits_path(const char *pattern, const struct span *parts, size_t at, size_t nr,
			struct captures *c)
{
	for (size_t i = at; i < nr; i++) {
		pattern = fits(pattern, parts[i], c);
		if (!pattern)
			return 0;
		if (!*pattern++)
			return i + 1 - at;
	}
	return 0;
}

/* The first component that is a user's manager, above all of its cgroups; @nr: none */
static size_t users_part(const struct span *parts, size_t nr)
{
	struct captures unused;
	size_t i = 0;

	while (i < nr && !fits(users_own, parts[i], &unused))
		i++;
	return i;
}

/* Find the rule's cgroup among the components. Returns the number of components up to it, or 0. */
static size_t find(const struct job_rule *r, const struct span *parts, size_t nr,
		   struct captures *ret_captures)
{
	size_t places = r->flags & RULE_AT_ROOT ? nr > 0 : nr;
	char first = r->job[r->job[0] == '('];

	for (size_t i = 0; i < places; i++) {
		size_t at = r->flags & RULE_INNERMOST ? nr - 1 - i : i;
		size_t taken;

		/* Nearly all mismatches differ in the first character. */
		if (first != '%' && first != *parts[at].begin)
			continue;
		taken = fits_path(r->job, parts, at, nr, ret_captures);
		if (!taken || (r->except && fits(r->except, parts[at], ret_captures)))
			continue;
		if (!(r->flags & RULE_SYSTEM) || users_part(parts, at) == at)
			return at + taken;
	}
	return 0;
}

static int hex_value(char c)
{
	return is_digit(c) ? c - '0' : c - 'a' + 10;
}

/* Copy an id as its users spell it. */
static void put_id(struct job_path *ret, struct span id, enum spelling how)
{
	char raw[4 * JOB_ID_LEN]; /* a "?" stands for up to four bytes */
	const char *s = id.begin;
	size_t n = 0;

	if (how == UNIT && *s == '_')
		s++;
	while (s < id.end && n < sizeof(raw)) {
		if (how == UNIT && id.end - s >= 4 && s[0] == '\\' && s[1] == 'x' && is_hex(s[2]) &&
		    is_hex(s[3])) {
			raw[n++] = (char)(hex_value(s[2]) << 4 | hex_value(s[3]));
			s += 4;
		} else {
			raw[n++] = how == POD_UID && *s == '_' ? '-' : *s;
			s++;
		}
	}
	utf8_harmless(ret->id, sizeof(ret->id), raw, n);
}

/* The step, if the component below the job's is one. */
static void find_step(const struct job_rule *r, const struct span *parts, size_t at, size_t nr,
		      struct captures *c, size_t *length)
{
	for (size_t i = 0; at < nr && i < MAX_PARTS && r->parts[i]; i++) {
		struct captures below = { 0 };

		if (fits(r->parts[i], parts[at], &below)) {
			c->step = below.step;
			*length += (size_t)(parts[at].end - parts[at - 1].end);
			return;
		}
	}
}

/* The owner: true only in its place, where only the system's manager makes cgroups. */
static uint32_t owner_of(const struct span *parts, size_t at)
{
	char expected[96], digits[12];
	const char *number = parts[at].begin + strlen("user@");
	uint64_t uid;
	int n;

	snprintf(digits, sizeof(digits), "%.*s",
		 (int)strnlen(number, (size_t)(parts[at].end - number)), number);
	digits[strspn(digits, "0123456789")] = '\0';
	if (at != 2 || parse_u64(digits, &uid) || uid >= JOB_OWNER_UNKNOWN)
		return JOB_OWNER_UNKNOWN;
	n = snprintf(expected, sizeof(expected), "user.slice/user-%s.slice/user@%s.service", digits,
		     digits);
	if (n != parts[at].end - parts[0].begin || memcmp(parts[0].begin, expected, n) != 0)
		return JOB_OWNER_UNKNOWN;
	return (uint32_t)uid;
}

static bool is_believed(const struct job_users *users, uint32_t uid)
{
	if (!users || users->all || !uid)
		return true;
	for (uint32_t i = 0; i < users->nr; i++)
		if (users->uids[i] == uid)
			return uid != JOB_OWNER_UNKNOWN;
	return false;
}

bool job_resolve(const char *path, struct job_path *ret)
{
	return job_resolve_for(path, NULL, ret);
}

bool job_resolve_for(const char *path, const struct job_users *users, struct job_path *ret)
{
	struct span parts[MAX_COMPONENTS];
	const char *slash = strchr(path, '/');
	uint32_t owner = 0;
	size_t nr, users_at;

	/* with or without "freezer:" in front */
	if (!slash || (slash != path && slash[-1] != ':'))
		return false;
	nr = split(slash, parts);
	users_at = users_part(parts, nr);
	if (users_at < nr)
		owner = owner_of(parts, users_at);
	if (users_at < nr && !is_believed(users, owner))
		nr = users_at + 1;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const struct job_rule *r = &rules[i];
		struct captures c = { 0 };
		size_t at = find(r, parts, nr, &c);

		if (!at)
			continue;
		ret->scheduler = r->scheduler;
		ret->provisional = r->flags & RULE_PROVISIONAL;
		ret->owner = at > users_at + 1 ? owner : 0;
		ret->length = ret->step_length = (size_t)(parts[at - 1].end - path);
		find_step(r, parts, at, nr, &c, &ret->step_length);
		put_id(ret, c.id, r->spelling);
		utf8_harmless(ret->step, sizeof(ret->step), c.step.begin,
			      (size_t)(c.step.end - c.step.begin));
		return true;
	}
	return false;
}

const struct job_variables *job_variables(enum scheduler s)
{
	static const struct job_variables none;

	return (size_t)s < ARRAY_SIZE(variables) ? &variables[s] : &none;
}
