/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that use wider registers where a machine has them. They do the same operations on more
 * elements at a time: the results are the same to the last bit. Each variant is a function with its
 * instructions named, and the caller asks the CPU. Both compilers can do that; what the linker
 * chooses (target_clones) only gcc has, and it chooses before the sanitizers are ready.
 */
#ifndef ENGINE_FILTER_WIDE_H
#define ENGINE_FILTER_WIDE_H

#include <stdbool.h>

#define INLINE inline __attribute__((always_inline))

/**
 * enum wide - what a variant may use
 * @WIDE_NONE: what every CPU of this kind has
 * @WIDE_AVX2: registers of 32 bytes
 * @WIDE_AVX512: of 64 bytes. Only on CPUs that came with or after VBMI2 (Ice Lake, Zen 4): the ones
 *	before lower their clock for them, also for others.
 */
enum wide {
	WIDE_NONE,
	WIDE_AVX2,
	WIDE_AVX512,
};

/** wide_max - no wider ones are used; tests lower it, while nothing else runs */
extern enum wide wide_max;

#ifdef __x86_64__
#define TARGET_AVX2   __attribute__((target("avx2")))
#define TARGET_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq")))

/** wide_has() - is a variant to be used on this machine? */
static inline bool wide_has(enum wide wide)
{
	if (wide > wide_max)
		return false;
	return wide == WIDE_AVX512
		       ? __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
				 __builtin_cpu_supports("avx512dq") &&
				 __builtin_cpu_supports("avx512vbmi2")
	       : wide == WIDE_AVX2 ? !!__builtin_cpu_supports("avx2")
				   : true;
}

/**
 * WIDE() - define a function whose loops over elements compilers make wide
 * @storage: static, or nothing
 * @type: its return type
 * @name: its name; NAME_any() is defined before, as INLINE, and does the work
 * @params, @args: in parentheses, with types and without
 *
 * With AVX-512 compilers still use registers of 32 bytes here, but more of them, and masks; with
 * 64 bytes it took as long.
 */
#define WIDE(storage, type, name, params, args)                   \
	TARGET_AVX2 static type name##_avx2 params                \
	{                                                         \
		return name##_any args;                           \
	}                                                         \
	TARGET_AVX512 static type name##_avx512 params            \
	{                                                         \
		return name##_any args;                           \
	}                                                         \
	storage type name params                                  \
	{                                                         \
		return wide_has(WIDE_AVX512) ? name##_avx512 args \
		       : wide_has(WIDE_AVX2) ? name##_avx2 args   \
					     : name##_any args;   \
	}
#else
static inline bool wide_has(enum wide wide)
{
	return wide == WIDE_NONE;
}

#define WIDE(storage, type, name, params, args) \
	storage type name params                \
	{                                       \
		return name##_any args;         \
	}
#endif

#endif
