#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""rooms.py OBJECTS: do references between the rooms of user/ only go down?

OBJECTS is the folder that holds the objects of a build, for example build/amd64. Two things are
read: what each source includes, and what each object takes from another one (nm). The rooms
stand in ROOMS from the ground up. A room may use itself and the rooms of its row that stand
before it. A room in DOORS is used by the files of its row alone. Files that call each other in a circle are refused as well. tests/allowed-knots lists
what may stay, each with its reason; an entry that is no longer needed is an error. The guard of a
header names its room and file, so that a header that moves takes its guard along.

Every finding is a line. No line means that all is well.
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GROUND = "base tables model"
# room: what it may use besides itself; only rooms of earlier rows count
ROOMS = {
    "base": "",
    "gpu": "base",
    "tables": "base",
    "model": "base tables",
    "platform/sys": "base tables",
    "platform/pmu": f"{GROUND} platform",
    "platform/bpf": "base tables platform",
    "platform/core": "base tables platform",
    "platform/spec": "base tables platform",
    "platform/pci": "base tables platform",
    "platform/devices": "base tables platform",
    "platform/plan": "base tables platform",
    "platform/meter": "base tables platform",
    "platform/metrics": "base tables platform",
    "platform/check": "base tables platform",
    "engine/identity": GROUND,
    "engine/filter": GROUND,
    "engine/split": f"{GROUND} engine",
    "engine/timeline": f"{GROUND} engine",
    "engine/latency": f"{GROUND} engine",
    "engine/book": f"{GROUND} engine",
    "engine/accounts": f"{GROUND} engine",
    "engine/stat": f"{GROUND} engine",
    "engine/session": f"{GROUND} engine",
    "trace": GROUND,
    "sources/baytrail": f"{GROUND} trace",
    "replay": f"{GROUND} engine trace sources",
    "live/program": f"{GROUND} trace",
    "live/lookup": f"{GROUND} platform trace",
    "live/sources": f"{GROUND} platform engine trace live/program live/lookup",
    "sources/esp": f"{GROUND} platform engine trace live/lookup live/sources",
    "live/run": f"{GROUND} platform engine trace live/lookup live/sources sources",
    "live/selftest": f"{GROUND} platform live",
    "report": GROUND,
    "report/table": f"{GROUND} report",
    "report/json": f"{GROUND} report",
    "report/csv": f"{GROUND} report",
    "report/perfetto": f"{GROUND} report",
    "report/job": f"{GROUND} report",
    "report/stat": f"{GROUND} report",
    "report/openmetrics": f"{GROUND} report",
    "report/html": f"{GROUND} report",
    "report/top": f"{GROUND} report",
    "daemon": f"{GROUND} platform engine report",
    "cli": f"{GROUND} platform engine trace replay live report daemon sources",
}
# The periphery: a capability beside the core has one row in each table of it, and no other door.
DOORS = {
    "sources/esp": "live/run/sources.c cli/esp_list.c cli/esp_stat.c",
    "sources/baytrail": "replay/replay_file.c replay/replay_file.h cli/counts_stat.c",
}
ORDER = list(ROOMS)
NO_HARDWARE = {"PMU_UNKNOWN", "PMU_CORE", "PMU_OWN", "PMU_PLATFORM_UNKNOWN", "PMU_PLATFORM_OWN"}


def room_of(path):
    """user/engine/book/book.c is in engine/book"""
    return str(pathlib.PurePath(path).parent).removeprefix("user/")


def may_use(room, other):
    if room == other:
        return True
    return ORDER.index(other) < ORDER.index(room) and any(
        other == name or other.startswith(name + "/") for name in ROOMS[room].split()
    )


def is_door(source, room):
    """May this file use that room?"""
    return room not in DOORS or room_of(source) == room or source.removeprefix("user/") in DOORS[room].split()


def includes(sources):
    """(source, header of user/ that it includes)"""
    pattern = re.compile(r'^#include "([a-z0-9_/]+\.h)"', re.M)
    for source in sources:
        for header in pattern.findall((ROOT / source).read_text(encoding="utf-8")):
            if (ROOT / "user" / header).exists():
                yield source, f"user/{header}", f"user/{header}"


def guards(headers):
    """Findings about include guards; a header without one is meant to be included several times."""
    for header in headers:
        guard = re.search(r"^#ifndef (\w+)$", (ROOT / header).read_text(encoding="utf-8"), re.M)
        right = re.sub(r"\W", "_", header.removeprefix("user/")).upper()
        if guard and guard[1] != right:
            yield f"{header}: its include guard is {guard[1]}, not {right}"


def hardware(sources):
    """Findings about PMUs and chips by name outside of the tables."""
    families = ROOT / "user/tables/families.h"
    if not families.exists():
        return
    enums = re.findall(r"^enum pmu_(?:kind|platform) {(.*?)^};", families.read_text(encoding="utf-8"), re.M | re.S)
    names = set(re.findall(r"\bPMU_\w+", "".join(enums))) - NO_HARDWARE
    for source in sources:
        if room_of(source) != "tables":
            used = set(re.findall(r"\bPMU_\w+", (ROOT / source).read_text(encoding="utf-8")))
            for name in sorted(names & used):
                yield f"{source}: {name} belongs in a table: ask for a property of its row"


def symbols(objects, sources):
    """(source, source whose symbol it takes, the symbol)"""
    owner, wanted = {}, collections.defaultdict(set)
    names = {str(objects / source)[:-2] + ".o": source for source in sources if source.endswith(".c")}
    listed = subprocess.run(["nm", "-gA", *names], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        where, _, what = line.partition(":")
        *_, kind, symbol = what.split()
        if kind in "Uuw":
            wanted[names[where]].add(symbol)
        else:
            owner[symbol] = names[where]
    for source, taken in wanted.items():
        for symbol in sorted(taken):
            if owner.get(symbol, source) != source:
                yield source, owner[symbol], symbol


def circles(arrows):
    """Sets of files that reach each other (Tarjan's strongly connected components)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for after in sorted(arrows[node]):
            if after not in index:
                visit(after)
                low[node] = min(low[node], low[after])
            elif after in stack:
                low[node] = min(low[node], index[after])
        if low[node] == index[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(sorted(part))

    for node in list(arrows):
        if node not in index:
            visit(node)
    return found


def allowed_knots():
    """Lines of tests/allowed-knots: FROM TO: reason, or circle FILE FILE...: reason"""
    text = (ROOT / "tests/allowed-knots").read_text(encoding="utf-8")
    return {line.partition(":")[0] for line in text.splitlines() if line and line[0] != "#"}


def judge(sources, uses, allowed):
    """The findings, as lines"""
    found, arrows, needed = [], collections.defaultdict(set), set()
    for source in sources:
        if room_of(source) not in ROOMS:
            found.append(f"{source}: the room {room_of(source)} has no row in tests/rooms.py")
    if found:
        return found
    for source, other, what in uses:
        if other.endswith(".c"):
            arrows[source].add(other)
        if not may_use(room_of(source), room_of(other)):
            knot = f"{source} {other}"
            if knot in allowed:
                needed.add(knot)
            else:
                found.append(f"{source} takes {what} from {other}: {room_of(source)} may not use {room_of(other)}")
        elif not is_door(source, room_of(other)):
            doors = DOORS[room_of(other)].replace(" ", ", ")
            found.append(f"{source} takes {what} from {other}: only {doors} may")
    for circle in circles(arrows):
        knot = " ".join(["circle", *circle])
        if knot in allowed:
            needed.add(knot)
        else:
            found.append(f"these files call each other in a circle: {' '.join(circle)}")
    found += [f"tests/allowed-knots: not needed any more: {knot}" for knot in sorted(allowed - needed)]
    return found


def findings(objects):
    sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "user").rglob("*.[ch]"))
    uses = [*includes(sources), *symbols(objects, sources)]
    headers = (source for source in sources if source.endswith(".h"))
    return judge(sources, uses, allowed_knots()) + [*guards(headers), *hardware(sources)]


if __name__ == "__main__":
    for finding in findings(ROOT / sys.argv[1]):
        print(finding)
