/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef T410TRACE_VERSION_H
#define T410TRACE_VERSION_H

#define T410TRACE_VERSION "0.1.0"

#endif
