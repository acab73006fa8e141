#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_platforms.py T410TRACE: what "list" says of copies of other vendors' sysfs.

What it prints is compared with tests/golden/list-MACHINE.txt, and the rows that it explains with
perf's own event lists (tests/fixtures/perf-events.tsv).
"""
import difflib
import fractions
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
OURS = {"match", "vid"}
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
    for row in re.split(r"\n(?=  [\w.-]+: (?:read|write|readwrite|energy),)", lines):
        event = re.match(r"  ([\w.]+): .*?, (\d+)\s+bytes?\s+(?:a|for\s+9)\s+count", row, re.S)
        energy = re.match(r"  ([\w-]+): energy.*?(\d+)\s+nanojoules\s+for\s+(\d+)\s+counts", row, re.S)
        terms = re.search(r"documents: (\S+)", row) or energy and re.search(r"sysfs: (event\S+)", row)
        if event and terms:
            rows[event[1]] = terms_of(terms[1]), int(event[2])
        elif energy and terms:
            joules = fractions.Fraction(int(energy[2]), int(energy[3])) / 10**9
            rows[energy[1]] = terms_of(terms[1]), joules
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
        ours = {k: v for k, v in rows[event][0].items()
                if k not in OURS and not (k == "mask" and "dmc" in pmu)} if not problem else {}
        if not problem and ours != terms_of(terms):
            problem = f"row {rows[event][0]}, perf {terms}"
        if not problem and size != "-" and rows[event][1] != fractions.Fraction(size):
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
    (icelake / "bus/event_source/devices/uncore_hbm_0").mkdir()
    done = run(trace, "list", "--sysfs", icelake, "--explain", "uncore_hbm_0")
    verdict("--explain of HBM", "" if "uncore_hbm_0: not counted. HBM is not in the total" in done.stdout
            else done.stdout + done.stderr)
    done = run(trace, "list", "--sysfs", icelake, "--explain", "uncore_imc_0", "--json")
    verdict("--explain with --json is refused", "" if done.returncode == 2 else done.stdout)


OWN = """{
  "schema": "t410trace.platform/1",
  "platform": "mine",
  "title": "a chip of mine",
  "pmus": [ {
      "pmu": "uncore_imc_<n>", "name": "mc", "title": "memory controllers",
      "socket": "cpus",
      "from": "its guide",
      "rows": [
        { "event": "cas_count_read", "direction": "read", "source": "any", "from": "page 8" },
        { "event": "w", "terms": "event=0x5,umask=0xf0", "bytes": 64, "counts": 9,
          "direction": "write", "source": "any", "destination": "cmem", "from": "page 9" } ] } ] }
"""
W = '"w", "terms": "event=0x5,umask=0xf0"'
JOULES = '"unit": "joules", "nanojoules": 1953125, "counts": 8388608, "source": "any"'
WRONG_ENERGY = [
    (JOULES.replace('"nanojoules": 1953125, ', ""), '"nanojoules" is missing', True),
    (JOULES.replace("nanojoules", "bytes"), 'a row of joules has no "bytes"', True),
    (JOULES + ', "direction": "read"', 'a row of joules has no "direction"', True),
    (JOULES.replace('"unit": "joules", ', '"direction": "read", '),
     '"nanojoules" needs "unit": "joules"', True),
    (JOULES.replace('"joules"', '"calories"'), '"unit" must be one of "bytes", "joules"', True),
]
# what is changed, into what, line, what is said; whether the schema knows that it is wrong
WRONG = [
    ('"bytes": 64', '"bytes": 0', 11, '"bytes" must be a whole number from 1', True),
    ('"counts": 9', '"counts": 1.5', 11, '"counts" must be a whole number from 1', True),
    ('"bytes": 64, ', "", 11, '"counts" is of no use without "bytes"', False),
    ('"bytes"', '"byte"', 11, 'unknown key "byte"; did you mean "bytes"? known are', True),
    ('"title": "a', '"colour": "red", "title": "a', 4, 'unknown key "colour"', True),
    ('  "platform": "mine",\n', "", 1, '"platform" is missing', True),
    ('"mine"', '"My chip"', 3, '"platform" must be small letters', True),
    ('form/1"', 'form/2"', 2, '"schema" must be "t410trace.platform/1"', True),
    ('"cpus"', '"cpu"', 7, '"socket" must be one of "name", "cpus", "only"', True),
    ('"write"', '"up"', 12, '"direction" must be one of "read", "write", "readwrite"', True),
    ('"direction": "write"', '"part": "remote", "direction": "readwrite"', 12,
     "a part is of reads or of writes", False),
    ('_<n>"', '_<z>"', 6, '"pmu" must be a name in sysfs; <n> and <i>', True),
    ("umask=0xf0", "umask", 11, '"terms" must be up to 8 settings', True),
    ("umask=0xf0", "umusk=0xf0", 11, 'uncore_imc_0 has no filter "umusk" it takes: edge, ev', False),
    ("umask=0xf0", "umask=0xf000000000", 11, "does not fit into umask", False),
    ("umask=0xf0", "umask=0xcf", 11, "counts the bytes of the row at line 10 once more", False),
    (W, '"cas_count_read"', 11, "counts the bytes of the row at line 10 once more", False),
    (W, '"w"', 11, 'no event "w" it has: cas_count_', False),
    ('"cas_count_read"', '"clockticks"', 10, '"bytes" is missing, and sysfs does not say', False),
    ("uncore_imc", "uncore_mc", 5, 'is called uncore_mc_<n> did you mean "uncore_imc', False),
    ('"title": "a', '"cpu": "GenuineIntel-6-55", "title": "a', 4, "CPU is GenuineIntel-6-8F", False),
    ('"direction": "w', '"part": "port", "direction": "w', 12, '"part" must be one of "none", "local"', True),
    ("umask=0xf0", 'umask=0xcf", "part": "local', 11, "counts the bytes of the row at line 10 once more", False),
    ('"rows": [', '"rows": 7, "x": [', 9, 'unknown key "x"', True),
    ("} ] } ] }", "} ] } ] ]", 12, "no JSON", None),
    (OWN, "", 1, "no JSON", None),
    (OWN, "[]", 1, "must be an object", True),
]


def fits(schema, text):
    try:
        jsonschema.validate(json.loads(text), schema)
    except jsonschema.ValidationError:
        return False
    return True


def check_own(trace, machines, file):
    schema = json.loads((TESTS.parent / "share/t410trace.platform-1.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)

    def listed(text):
        file.write_text(text, encoding="utf-8")
        done = run(trace, "list", "--platform", file, "--sysfs", machines["sapphire"])
        return done.returncode, re.sub(r"\s+", " ", done.stdout + done.stderr)

    verdict("the schema takes the file", "" if fits(schema, OWN) else OWN)
    file.write_text(OWN, encoding="utf-8")
    done = run(trace, "list", "--platform", file, "--sysfs", machines["sapphire"], "--json")
    names = {(pmu["kind"], pmu["platform"]) for pmu in json.loads(done.stdout)["pmus"]}
    listed_schema = json.loads((TESTS.parent / "share/t410trace.list-1.schema.json").read_text())
    verdict("the list of its PMUs as JSON", "" if ("mc", "mine") in names and
            fits(listed_schema, done.stdout) else f"{names}")
    status, said = listed(OWN)
    verdict("rows of the user's own", "" if not status and "mc: memory controllers, 16 PMUs" in said
            and "Reports of" not in said else said)
    status, said = listed(OWN.replace(W, '"w", "optional": true'))
    verdict("an optional row", said if status else "")
    status, said = listed(OWN.replace('"direction": "w', '"part": "remote", "direction": "w'))
    verdict("a part", "" if not status and "Parts of the traffic are measured by uncore_imc_<n>" in said
            else said)
    status, said = listed(OWN.replace('"direction": ', '"part": "remote", "direction": '))
    verdict("parts alone", "" if status and f"{file}:5: all rows are parts" in said else said)
    for midr, words in (("0x00000000c00fac30", "mc: memory controllers, 8 PMUs"),
                        ("0x00000000c00fac40", "CPU is 0x00000000c00fac30")):
        file.write_text(OWN.replace('"title": "a', f'"cpu": "{midr}", "title": "a', 1)
                        .replace("uncore_imc_<n>", "ampere_mcu_pmu_<n>").replace(",umask=0xf0", "")
                        .replace("cas_count_read", 'r", "terms": "event=0x4", "bytes": 64, "from": "x')
                        .replace('"x", "direction": "read", "source": "any", "from": "page 8"',
                                 '"x", "direction": "read", "source": "any"'), encoding="utf-8")
        done = run(trace, "list", "--platform", file, "--sysfs", machines["ampereone"])
        said = re.sub(r"\s+", " ", done.stdout + done.stderr)
        verdict(f"a file for the MIDR {midr}", "" if words in said else said)
    both = OWN.replace('"write"', '"readwrite"')
    status, said = listed(both)
    verdict("a row of reads and writes together", said if status or not fits(schema, both) else "")
    joules = OWN.replace('"bytes": 64, "counts": 9,\n          "direction": "write", "source": "any", '
                         '"destination": "cmem"', JOULES)
    status, said = listed(joules)
    verdict("a row of energy", said if status or not fits(schema, joules) or joules == OWN else "")
    for new, words, known in WRONG_ENERGY:
        text = OWN.replace('"bytes": 64, "counts": 9,\n          "direction": "write", "source": "any", '
                           '"destination": "cmem"', new)
        status, said = listed(text)
        verdict(f"a row with {new}", "" if status and words in said else f"{status}: {said}")
        if fits(schema, text) == known:
            verdict(f"the schema about {new}", "is of another opinion")
    for old, new, line, words, known in WRONG:
        text = OWN.replace(old, new, 1)
        status, said = listed(text)
        right = status and f"{file}:{line}: " in said and words in said
        verdict(f"a file with {new[:30]!r}", "" if right else f"{status}: {said}")
        if known is not None and fits(schema, text) == known:
            verdict(f"the schema about {new[:30]!r}", "is of another opinion")
    done = run(trace, "list", "--platform", file.parent / "none")
    verdict("no file", "" if "No such file" in done.stderr else done.stderr)
    config = file.with_suffix(".conf")
    config.write_text(f"platform = {file}\n", encoding="utf-8")
    for text, status, words in ((OWN, 0, "the settings are right"),
                                ("{}", 1, f'{file}:1: "schema" is missing')):
        file.write_text(text, encoding="utf-8")
        done = run(trace, "serve", "--check-config", "--config", config)
        said = re.sub(r"\s+", " ", done.stdout + done.stderr)
        verdict(f"the daemon: {words[:30]}",
                "" if bool(done.returncode) == bool(status) and words in said else said)
    file.write_text(OWN, encoding="utf-8")
    for words in (("check",), ("-a", "-d", "1ms")):
        done = run(trace, *words, "--platform", file)
        said = re.sub(r"\s+", " ", done.stdout + done.stderr)
        verdict(f"{words[0]} tells why it does not fit", "" if done.returncode == 1 and
                f"{file}:5: no PMU in /sys is called uncore_imc_<n>" in said else said)


METRICS = """{
  "schema": "t410trace.platform/1",
  "platform": "site",
  "title": "our machines",
  "metrics": [
    { "pmu": "imc", "name": "reads", "title": "Reads", "unit": "GB/s",
      "formula": "cas_count_read * 64 / duration_ns", "from": "page 9" },
    { "pmu": "imc", "name": "read_share", "title": "Share of reads", "unit": "percent",
      "formula": "100 * cas_count_read / (cas_count_read + cas_count_write)",
      "traffic_from": "all", "traffic_to": "CPU memory", "default": false, "from": "page 9" } ] }
"""
FORMULA = '"100 * cas_count_read / (cas_count_read + cas_count_write)"'
DUPLICATE = METRICS[METRICS.index('    { "pmu": "imc", "name": "read_share"'):METRICS.rindex(" ] }")]
# as WRONG
WRONG_METRICS = [
    (FORMULA, '"cas_count_reed / cas_count_write"', 9,
     'uncore_imc_0 has no event "cas_count_reed" did you mean "cas_count_read"? it has cas_count_', False),
    (FORMULA, '"cas_count_read / 0"', 9, "it divides by zero, or is too large", False),
    (FORMULA, '"1 / (cas_count_read - cas_count_read)"', 9, "it divides by zero", False),
    (FORMULA, '"cas_count_read * 1e300 * 1e300"', 9, "it divides by zero, or is too large", False),
    (FORMULA, '"read_share * 2"', 9, 'has no event "read_share"', False),
    (FORMULA, '"reads * 2"', 9, 'has no event "reads"', False),
    (FORMULA, '"cas_count_read +"', 9, "ends where a name, a number", False),
    (FORMULA, '"cas_count_read ^ 2"', 9, '"^" at position 16, where an operator should be;'
     " formulas have names, numbers, + - * / and parentheses", False),
    (FORMULA, '"' + "(" * 40 + "cas_count_read" + ")" * 40 + '"', 9, "more than 32 parentheses", False),
    (FORMULA, '"' + "cas_count_read + " * 40 + '1"', 9, '"formula" must be text of 1 to 512 bytes', True),
    (FORMULA, '"' + " + ".join(f"e{i}" for i in range(13)) + '"', 9, "more than 12 names", False),
    (FORMULA, '"duration_ns / duration_s"', 9, "the formula has no event", False),
    (FORMULA, '""', 9, '"formula" must be text of 1 to 512', True),
    (FORMULA, "7", 9, '"formula" must be text', True),
    (FORMULA, '"socket_<o>_rd"', 8, '"name" needs <o>', False),
    ('"percent"', '"per cent"', 8, 'unknown unit "per cent"; did you mean "percent"? known are', False),
    ('"read_share"', '"reads"', 8, "the metric of line 6 is site.imc.reads, too", False),
    ('"read_share"', '"Share"', 8, '"name" must be small letters, digits and _', True),
    ('"read_share"', '"' + "x" * 41 + '"', 8, '"name" must be text of 1 to 40', True),
    ('"site"', '"xeon-sapphire"', 6, "xeon-sapphire.imc.read_bandwidth is a built-in metric", False),
    ('"imc", "name": "read_', '"icm", "name": "read_', 8, 'no PMU is called "icm"; did you mean "imc"?', False),
    ('"imc", "name": "read_', '"ucf", "name": "read_', 8, 'this machine has no PMU "ucf"', False),
    ('"default": false', '"default": 0', 10, '"default" must be true or false', True),
    ('"traffic_to"', '"trafic_to"', 10, 'unknown key "trafic_to"; did you mean "traffic_to"?', True),
    ('"title": "Share of reads", ', "", 8, '"title" is missing', True),
    ('"metrics"', '"pmus"', 6, 'unknown key "unit"', True),
    ("    { ", "    [], { ", 6, "this must be an object", True),
    (DUPLICATE, ", ".join([DUPLICATE] * 64), 5, '"metrics" must be a list of 1 to 64 objects', True),
]


def check_metrics(trace, machines, file):
    schema = json.loads((TESTS.parent / "share/t410trace.platform-1.schema.json").read_text())
    listed_schema = json.loads((TESTS.parent / "share/t410trace.list-1.schema.json").read_text())

    def listed(text, machine="sapphire", *options):
        file.write_text(text, encoding="utf-8")
        done = run(trace, "list", "--platform", file, "--sysfs", machines[machine], *options)
        return done.returncode, re.sub(r"\s+", " ", done.stdout + done.stderr)

    status, said = listed(METRICS)
    verdict("metrics of the user's own", "" if not status and fits(schema, METRICS) and
            "notes" in said and "metrics of your file site.imc.reads: Reads, GB/s cas_count_read * 64 / "
            "duration_ns site.imc.read_share: Share of reads, percent 100 * cas" in said else said)
    verdict("the built-in counters stay", "" if "imc: memory controller channels, 16 PMUs" in said else said)
    status, said = listed(METRICS, "sapphire", "--json")
    metrics = [] if status else json.loads(said)["metrics"]
    verdict("they are in JSON", "" if [(m["name"], m["default"], m["to"]) for m in metrics] == [
        ("site.imc.reads", True, None), ("site.imc.read_share", False, "CPU memory")] else said)
    jsonschema.validate(json.loads(said), listed_schema)
    both = OWN.replace('"pmus"', METRICS[METRICS.index('"metrics"'):METRICS.rindex("}")]
                       .replace('"imc"', '"mc"').replace("cas_count_write", "w") + ', "pmus"', 1)
    status, said = listed(both)
    verdict("metrics of the user's own PMUs", "" if not status and fits(schema, both) and
            "mine.mc.read_share: Share" in said else said)
    optional = METRICS.replace('"formula"', '"optional": true, "formula"')
    status, said = listed(optional, "zen4")
    verdict("an optional metric elsewhere", "" if not status and fits(schema, optional) and
            "site.imc" not in said else said)
    for old, new, line, words, known in WRONG_METRICS:
        text = METRICS.replace(old, new) if "xeon" in new else METRICS.replace(old, new, 1)
        if "xeon" in new:
            text = text.replace('"reads"', '"read_bandwidth"')
        status, said = listed(text)
        right = status and text != METRICS and f"{file}:{line}: " in said and words in said
        verdict(f"metrics with {new[:40]!r}", "" if right else f"{status}: {said}")
        if fits(schema, text) == known:
            verdict(f"the schema about {new[:40]!r}", "is of another opinion")
    status, said = listed(METRICS[:METRICS.index(',\n  "metrics"')] + "}")
    verdict("neither PMUs nor metrics", "" if status and '"pmus" or "metrics" is missing' in said else said)
    machines["t410"] = file.parent / "t410"
    run("sh", TESTS / "fixtures/mk-sysfs.sh", TESTS / "fixtures/t410-sysfs.txt",
        machines["t410"]).check_returncode()
    example = (TESTS.parent / "docs/examples/platform.json").read_text(encoding="utf-8")
    status, said = listed(example, "t410")
    verdict("the example of the documents", "" if not status and fits(schema, example) and
            said.count("site.") == 3 else said)


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
        check_own(trace, machines, pathlib.Path(directory, "own.json"))
        check_metrics(trace, machines, pathlib.Path(directory, "metrics.json"))
    sys.exit(failed)


main()
