// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/html/assets.h"

/* The assembler includes each file as it is. The Makefile passes their paths. */
#define ASSET(name, file)                                                                     \
	__asm__(".section .rodata\n" #name "_begin:\n.incbin \"" ASSETS "/" file "\"\n" #name \
		"_end:\n.byte 0\n.previous\n");                                               \
	extern const char name##_begin[] __attribute__((visibility("hidden")));               \
	extern const char name##_end[] __attribute__((visibility("hidden")))

ASSET(asset_style, "report.css");
ASSET(asset_script, "report.js");
ASSET(asset_plot_style, "dygraph.css");
ASSET(asset_plot_script, "dygraph.js");
ASSET(asset_plot_licence, "dygraph.licence");

struct asset_text asset_text(enum asset a)
{
	static const struct asset_text texts[NR_ASSETS] = {
		[ASSET_STYLE] = { asset_style_begin, asset_style_end },
		[ASSET_SCRIPT] = { asset_script_begin, asset_script_end },
		[ASSET_PLOT_STYLE] = { asset_plot_style_begin, asset_plot_style_end },
		[ASSET_PLOT_SCRIPT] = { asset_plot_script_begin, asset_plot_script_end },
		[ASSET_PLOT_LICENCE] = { asset_plot_licence_begin, asset_plot_licence_end },
	};

	return texts[a];
}

void asset_write(FILE *out, enum asset a)
{
	struct asset_text t = asset_text(a);

	fwrite(t.begin, 1, (size_t)(t.end - t.begin), out);
}
