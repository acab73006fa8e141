#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_platforms.py T410TRACE: what "list" says of copies of other vendors' sysfs.

What it prints is compared with tests/golden/list-MACHINE.txt, and the rows that it explains with
perf's own event lists (tests/fixtures/perf-events.tsv).
"""
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema

TESTS = pathlib.Path(__file__).resolve().parents[1]
MAKE = TESTS / "fixtures/platforms.py"
# Filters that the row adds to the event
OURS = {"mask", "match"}
failed = False


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)


def verdict(name, problem):
    global failed
    failed |= bool(problem)
    print(f"not ok {name}:\n{problem}" if problem else f"ok {name}")


def terms_of(text):
    return {name: int(value, 0) for name, value in (t.split("=") for t in text.split(","))}


def family(pmu):
    return re.sub(r"\d[0-9a-f]*", "", pmu.replace("dmc620", "dmc"))


def rows_of(trace, machine, pmu):
    """The rows that --explain shows: event to (terms, bytes)"""
    lines = run(trace, "list", "--sysfs", machine, "--explain", pmu).stdout
    rows = {}
    for row in re.split(r"\n(?=  [\w.]+: (?:read|write),)", lines):
        event = re.match(r"  ([\w.]+): .*?, (\d+)\s+bytes?\s+a\s+count", row, re.S)
        terms = re.search(r"documents: (\S+)", row)
        if event and terms:
            rows[event[1]] = terms_of(terms[1]), int(event[2])
    return rows


def check_lists(trace, machines):
    schema = json.loads((TESTS.parent / "share/t410trace.list-1.schema.json").read_text())
    for name, machine in machines.items():
        done = run(trace, "list", "--sysfs", machine)
        golden = (TESTS / f"golden/list-{name}.txt").read_text(encoding="utf-8")
        diff = difflib.unified_diff(golden.splitlines(), done.stdout.splitlines(), lineterm="")
        verdict(f"list of {name}", "\n".join(diff) + done.stderr)
        try:
            jsonschema.validate(json.loads(run(trace, "list", "--sysfs", machine, "--json").stdout), schema)
            problem = ""
        except jsonschema.ValidationError as error:
            problem = f"{error.json_path}: {error.message[:200]}"
        verdict(f"list of {name} as JSON", problem)


def check_perf(trace, machines):
    """Each row is in perf's lists, and says the same."""
    seen = set()
    for line in (TESTS / "fixtures/perf-events.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, pmu, event, terms, size, *_ = line.split("\t")
        rows = rows_of(trace, machines[name], pmu)
        problem = "" if event in rows else f"no such row, there are {', '.join(rows)}"
        ours = {k: v for k, v in rows[event][0].items() if k not in OURS} if not problem else {}
        if not problem and ours != terms_of(terms):
            problem = f"row {rows[event][0]}, perf {terms}"
        if not problem and size != "-" and rows[event][1] != int(size):
            problem = f"row {rows[event][1]} bytes, perf {size}"
        seen.add((name, family(pmu), event))
        verdict(f"{event} of {name} as in {line.split(chr(9))[5]}", problem)
    for name, machine in machines.items():
        for pmu in sorted(p.name for p in (machine / "bus/event_source/devices").iterdir()):
            missing = {e for e in rows_of(trace, machine, pmu)
                       if (name, family(pmu), e) not in seen}
            if missing:
                verdict(f"{pmu} of {name}", f"perf-events.tsv lacks {missing}")


def check_explain(trace, machines):
    icelake = machines["icelake"]
    for pmu, status, words in (
        ("uncore_imc_1", 0, "reports leave it out: uncore_imc_free_running_0 counts the same bytes"),
        ("uncore_imc_1", 0, "by the CPU, GenuineIntel-6-6A (Ice Lake servers)"),
        ("uncore_imc_1", 0, "config 0xf04, config1 0, config2 0"),
        ("uncore_imx_1", 1, 'there is no PMU "uncore_imx_1"'),
        ("uncore_imx_1", 1, 'did you mean "uncore_imc_1"?'),
        ("../devices", 1, 'there is no PMU "../devices"'),
        ("", 1, 'there is no PMU ""'),
    ):
        done = run(trace, "list", "--sysfs", icelake, "--explain", pmu)
        said = re.sub(r"\s+", " ", done.stdout + done.stderr)
        verdict(f"--explain {pmu!r}: {words[:40]}",
                "" if done.returncode == status and words in said else f"{done.returncode}: {said}")
    done = run(trace, "list", "--sysfs", machines["alderlake"], "--explain", "uncore_imc_0")
    verdict("--explain of a PMU whose CPU is another", "" if done.returncode == 0 and
            "not counted. The CPU is GenuineIntel-6-97 (Intel's" in done.stdout else done.stdout)
    done = run(trace, "list", "--sysfs", icelake, "--explain", "uncore_imc_0", "--json")
    verdict("--explain with --json is refused", "" if done.returncode == 2 else done.stdout)


def main():
    trace = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as directory:
        machines = {}
        for name in run(MAKE).stdout.split():
            machines[name] = pathlib.Path(directory, name)
            run(MAKE, name, machines[name]).check_returncode()
        check_lists(trace, machines)
        check_perf(trace, machines)
        check_explain(trace, machines)
    sys.exit(failed)


main()
