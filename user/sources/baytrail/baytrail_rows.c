// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/baytrail/baytrail_rows.h"

#include <string.h>

#include "base/array.h"

#define CLOCK	   "Clock_Counter"
#define CHANNEL(p) p "_Rank0_Read64B", p "_Rank1_Read64B", p "_Rank0_Write64B", p "_Rank1_Write64B"
#define REQUESTS(p)                                                                     \
	p "_ReadPartial", p "_Read32B", p "_Read64B", p "_WritePartial", p "_Write32B", \
		p "_Write64B"
#define SIZES(p) p "_Read32B", p "_Read64B", p "_Write32B", p "_Write64B"

/* A part: the prefix of its events, that of its metrics, and its name */
#define CHANNEL0 "DDR_Chan0", "chan0", "channel 0"
#define CHANNEL1 "DDR_Chan1", "chan1", "channel 1"
#define MODULE0	 "Mod0", "module0", "module 0"
#define MODULE1	 "Mod1", "module1", "module 1"
#define GRAPHICS "GFX", "graphics", "graphics"
#define DISPLAY	 "Disp", "display", "the display"
#define IMAGING	 "Imaging", "imaging", "imaging"
#define VIDEO	 "VED", "video", "video encoding and decoding"
#define SLOW	 "LowSpeedPF", "lowspeed", "the low-speed platform fabric"

const struct baytrail_group baytrail_groups[] = {
	{ "UNC_SOC_Memory_DDR_BW",
	  "memory, both channels",
	  { CHANNEL("DDR_Chan0"), CHANNEL("DDR_Chan1") },
	  { { BAYTRAIL_DDR, "DDR", "ddr", "memory" },
	    { BAYTRAIL_CHANNEL, CHANNEL0 },
	    { BAYTRAIL_CHANNEL, CHANNEL1 } } },
	{ "UNC_SOC_Memory_DDR0_BW",
	  "memory, channel 0",
	  { CHANNEL("DDR_Chan0"), CLOCK },
	  { { BAYTRAIL_CHANNEL, CHANNEL0 } } },
	{ "UNC_SOC_Memory_DDR1_BW",
	  "memory, channel 1",
	  { CHANNEL("DDR_Chan1"), CLOCK },
	  { { BAYTRAIL_CHANNEL, CHANNEL1 } } },
	{ "UNC_SOC_DDR_Self_Refresh",
	  "self-refresh of the memory",
	  { "DDR_Chan0_Self_Refresh", "DDR_Chan1_Self_Refresh", CLOCK },
	  { { BAYTRAIL_REFRESH, CHANNEL0 }, { BAYTRAIL_REFRESH, CHANNEL1 } } },
	{ "UNC_SOC_All_Reqs",
	  "requests of all agents",
	  { "Mod0_Reqs", "Mod1_Reqs", "GFX_Reqs", "Disp_Reqs", "Imaging_Reqs", "VED_Reqs",
	    "LowSpeedPF_Reqs", CLOCK },
	  { { BAYTRAIL_ALL, "", "all", "all agents" },
	    { BAYTRAIL_REQS, MODULE0 },
	    { BAYTRAIL_REQS, MODULE1 },
	    { BAYTRAIL_REQS, GRAPHICS },
	    { BAYTRAIL_REQS, DISPLAY },
	    { BAYTRAIL_REQS, IMAGING },
	    { BAYTRAIL_REQS, VIDEO },
	    { BAYTRAIL_REQS, SLOW } } },
	{ "UNC_SOC_Module0_BW",
	  "module 0",
	  { REQUESTS("Mod0"), CLOCK },
	  { { BAYTRAIL_MODULE, MODULE0 } } },
	{ "UNC_SOC_Module1_BW",
	  "module 1",
	  { REQUESTS("Mod1"), CLOCK },
	  { { BAYTRAIL_MODULE, MODULE1 } } },
	{ "UNC_SOC_Module0_1_BW",
	  "both modules",
	  { SIZES("Mod0"), SIZES("Mod1") },
	  { { BAYTRAIL_SIZES, MODULE0 }, { BAYTRAIL_SIZES, MODULE1 } } },
	{ "UNC_SOC_Module0_1_Snoops",
	  "snoops of both modules",
	  { "Mod0_Snoop_Replies", "Mod0_Snoop_Reqs", "Mod1_Snoop_Replies", "Mod1_Snoop_Reqs",
	    CLOCK },
	  { { 0 } } },
	{ "UNC_SOC_Graphics_BW",
	  "graphics",
	  { REQUESTS("GFX"), CLOCK },
	  { { BAYTRAIL_AGENT, GRAPHICS } } },
	{ "UNC_SOC_Display_BW",
	  "the display",
	  { REQUESTS("Disp"), CLOCK },
	  { { BAYTRAIL_AGENT, DISPLAY } } },
	{ "UNC_SOC_Imaging_BW",
	  "imaging",
	  { REQUESTS("Imaging"), CLOCK },
	  { { BAYTRAIL_AGENT, IMAGING } } },
	{ "UNC_SOC_LowSpeedPF_BW",
	  "the low-speed platform fabric",
	  { REQUESTS("LowSpeedPF"), CLOCK },
	  { { BAYTRAIL_AGENT, SLOW } } },
	{ "UNC_SOC_VED_BW",
	  "video encoding and decoding",
	  { REQUESTS("VED"), CLOCK },
	  { { BAYTRAIL_AGENT, VIDEO } } },
};
const size_t nr_baytrail_groups = ARRAY_SIZE(baytrail_groups);

#define MB_PER_S       " / (1000000 * duration_s)"
#define READS(p)       p "_Rank0_Read64B + " p "_Rank1_Read64B"
#define WRITES(p)      p "_Rank0_Write64B + " p "_Rank1_Write64B"
#define MEMORY(counts) "(" counts ") * ddr_bytes" MB_PER_S
#define BY_SIZE(way)   "@_" way "32B * 32 + @_" way "64B * 64"
#define PARTIAL(way)   "@_" way "Partial - @_" way "32B - @_" way "64B"
#define AGENT(kind, why)                                                                         \
	{ kind, "baytrail.@.read", "reads of @" why, "MB/s", "(" BY_SIZE("Read") ")" MB_PER_S }, \
		{ kind, "baytrail.@.write", "writes of @" why, "MB/s",                           \
		  "(" BY_SIZE("Write") ")" MB_PER_S },                                           \
	{                                                                                        \
		kind, "baytrail.@.total", "traffic of @" why, "MB/s",                            \
			"(" BY_SIZE("Read") " + " BY_SIZE("Write") ")" MB_PER_S                  \
	}

/* The size of a partial request is unknown: bytes without them are a lower bound. */
const struct baytrail_metric baytrail_metrics[] = {
	{ BAYTRAIL_DDR, "baytrail.@.total", "traffic of @", "MB/s",
	  MEMORY(READS("DDR_Chan0") " + " READS("DDR_Chan1") " + " WRITES("DDR_Chan0") " + " WRITES(
		  "DDR_Chan1")) },
	{ BAYTRAIL_DDR, "baytrail.@.read", "reads of @", "MB/s",
	  MEMORY(READS("DDR_Chan0") " + " READS("DDR_Chan1")) },
	{ BAYTRAIL_DDR, "baytrail.@.write", "writes of @", "MB/s",
	  MEMORY(WRITES("DDR_Chan0") " + " WRITES("DDR_Chan1")) },
	{ BAYTRAIL_CHANNEL, "baytrail.@.total", "traffic of @", "MB/s",
	  MEMORY(READS("@") " + " WRITES("@")) },
	{ BAYTRAIL_CHANNEL, "baytrail.@.read", "reads of @", "MB/s", MEMORY(READS("@")) },
	{ BAYTRAIL_CHANNEL, "baytrail.@.write", "writes of @", "MB/s", MEMORY(WRITES("@")) },
	{ BAYTRAIL_CHANNEL, "baytrail.@.rank0_read", "reads of @, rank 0", "MB/s",
	  MEMORY("@_Rank0_Read64B") },
	{ BAYTRAIL_CHANNEL, "baytrail.@.rank1_read", "reads of @, rank 1", "MB/s",
	  MEMORY("@_Rank1_Read64B") },
	{ BAYTRAIL_CHANNEL, "baytrail.@.rank0_write", "writes of @, rank 0", "MB/s",
	  MEMORY("@_Rank0_Write64B") },
	{ BAYTRAIL_CHANNEL, "baytrail.@.rank1_write", "writes of @, rank 1", "MB/s",
	  MEMORY("@_Rank1_Write64B") },
	{ BAYTRAIL_REFRESH, "baytrail.@.self_refresh", "time in self-refresh of @", "percent",
	  "100 * @_Self_Refresh / (dram_hz * duration_s)" },
	{ BAYTRAIL_REQS, "baytrail.@.requests", "traffic of @, upper estimate: 64 bytes a request",
	  "MB/s", "@_Reqs * 64" MB_PER_S },
	{ BAYTRAIL_ALL, "baytrail.@.requests", "traffic of @, upper estimate: 64 bytes a request",
	  "MB/s",
	  "(Mod0_Reqs + Mod1_Reqs + GFX_Reqs + Disp_Reqs + Imaging_Reqs + VED_Reqs + "
	  "LowSpeedPF_Reqs) * 64" MB_PER_S },
	AGENT(BAYTRAIL_MODULE, ", lower estimate: without partial requests"),
	{ BAYTRAIL_MODULE, "baytrail.@.partial_reads", "partial reads of @", "requests",
	  PARTIAL("Read") },
	{ BAYTRAIL_MODULE, "baytrail.@.partial_writes", "partial writes of @", "requests",
	  PARTIAL("Write") },
	AGENT(BAYTRAIL_SIZES, ", lower estimate: without partial requests"),
	AGENT(BAYTRAIL_AGENT, ", lower estimate: without partial requests"),
};
const size_t nr_baytrail_metrics = ARRAY_SIZE(baytrail_metrics);

static const struct baytrail_agent agents[] = {
	{ "DDR_Chan0_Rank0", "channel 0, rank 0", BAYTRAIL_ANYBODY },
	{ "DDR_Chan0_Rank1", "channel 0, rank 1", BAYTRAIL_ANYBODY },
	{ "DDR_Chan1_Rank0", "channel 1, rank 0", BAYTRAIL_ANYBODY },
	{ "DDR_Chan1_Rank1", "channel 1, rank 1", BAYTRAIL_ANYBODY },
	{ "Mod0", "module 0", BAYTRAIL_MODULE0 },
	{ "Mod1", "module 1", BAYTRAIL_MODULE1 },
	{ "GFX", "graphics", BAYTRAIL_DEVICE },
	{ "Disp", "display", BAYTRAIL_DEVICE },
	{ "Imaging", "imaging", BAYTRAIL_DEVICE },
	{ "VED", "video", BAYTRAIL_DEVICE },
	{ "LowSpeedPF", "lowspeed", BAYTRAIL_DEVICE },
};

/* Only whole lines of an agent have a known size; partial requests do not. */
static const struct {
	const char *suffix;
	enum direction direction;
	uint32_t bytes;
	enum estimate estimate;
} sizes[] = {
	{ "_Read32B", DIRECTION_READ, 32, ESTIMATE_LOWER },
	{ "_Read64B", DIRECTION_READ, 64, ESTIMATE_LOWER },
	{ "_Write32B", DIRECTION_WRITE, 32, ESTIMATE_LOWER },
	{ "_Write64B", DIRECTION_WRITE, 64, ESTIMATE_LOWER },
	{ "_Reqs", DIRECTION_READWRITE, 64, ESTIMATE_UPPER },
};

bool baytrail_traffic(const char *event, struct baytrail_traffic *ret)
{
	for (size_t a = 0; a < ARRAY_SIZE(agents); a++) {
		size_t len = strlen(agents[a].prefix);

		if (strncmp(event, agents[a].prefix, len) != 0)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			if (strcmp(event + len, sizes[i].suffix) != 0)
				continue;
			*ret = (struct baytrail_traffic){ &agents[a], sizes[i].direction,
							  sizes[i].bytes, sizes[i].estimate };
			if (agents[a].owner == BAYTRAIL_ANYBODY)
				ret->estimate = ESTIMATE_NONE;
			return true;
		}
	}
	return false;
}
