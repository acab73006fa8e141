# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A machine of a test: the PMUs of a made-up sysfs are the kernel's software events of one CPU, so the
real perf counts them.
"""

import json
import pathlib

from live import check_status

DEVICES = pathlib.Path("/sys/bus/event_source/devices")
# PERF_TYPE_SOFTWARE; PERF_COUNT_SW_CPU_CLOCK, _CONTEXT_SWITCHES, and one that no kernel has
SOFTWARE, CLOCK, SWITCHES, NONE = 1, 0, 3, 255


def row(event, code, direction, size, part=None):
    """Traffic: so many bytes a count."""
    more = {"part": part} if part else {}
    return more | {
        "event": event,
        "terms": f"event={code}",
        "bytes": size,
        "direction": direction,
        "source": "any",
        "from": "a test",
    }


def machine(bed, pmus, metrics=None):
    """
    The folder that stands for all PMUs, and the file with their rows.

    @pmus: rows of each family, and how many PMUs it has.
    @metrics: formulas of the file
    """
    own = {"schema": "t410trace.platform/1", "platform": "mine", "title": "a machine of a test"}
    own["pmus"] = []
    if metrics:
        own["metrics"] = metrics
    for pmu, (rows, count) in pmus.items():
        for i in range(count):
            at = bed.scratch / f"devices/{pmu}_{i}"
            (at / "format").mkdir(parents=True)
            (at / "events").mkdir()
            (at / "format/event").write_text("config:0-7\n")
            (at / "type").write_text(f"{SOFTWARE}\n")
            (at / "cpumask").write_text(f"{bed.cpu}\n")
        own["pmus"].append(
            {
                "pmu": f"{pmu}_<n>",
                "name": pmu[3:],
                "title": "software events",
                "socket": "cpus",
                "from": "a test",
                "rows": rows,
            }
        )
    file = bed.scratch / "own.json"
    file.write_text(json.dumps(own))
    return file


def known_pmus(bed, memory):
    """
    Instead, PMUs that rows of the program's own know by name: the kernel's PMU of energy, which counts
    the clock, and with @memory a channel of AMD's, which counts nothing that happens here.
    """
    pmus = {
        "power": {
            "format/event": "config:0-7",
            "events/energy-pkg": f"event=0x0{CLOCK}",
            "events/energy-pkg.scale": "2.3283064365386962890625e-10",
            "events/energy-pkg.unit": "Joules",
        },
        "amd_umc_0": {"format/event": "config:0-7", "format/rdwrmask": "config1:8-9"},
    }
    if not memory:
        del pmus["amd_umc_0"]
    for pmu, files in pmus.items():
        at = bed.scratch / f"devices/{pmu}"
        (at / "format").mkdir(parents=True)
        (at / "events").mkdir()
        for name, text in files.items():
            (at / name).write_text(f"{text}\n")
        (at / "type").write_text(f"{SOFTWARE}\n")
        (at / "cpumask").write_text(f"{bed.cpu}\n")


def on_machine(bed, pmus, *args, memory=True, status=0, metrics=None):
    """A run of t410trace that sees no other PMUs; the mount is gone with it. @status: None: any"""
    if pmus:
        args = *args, "--platform", machine(bed, pmus, metrics)
    else:
        known_pmus(bed, memory)
    script = f'mount --bind {bed.scratch}/devices {DEVICES} && exec "$@"'
    done = bed.command("unshare", "-m", "sh", "-c", script, "sh", bed.program, *args)
    if status is not None:
        check_status(done, status)
    return done
