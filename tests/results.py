#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Read what tests print; tests/README.md has the form of a result.

results.py tap FOLDER NAME...      the TAP of unit programs becomes results; FOLDER has NAME.tap,
                                   NAME.err and NAME.status of each
results.py tally PART STATUS LOG   judge the log of a part: new failures are printed and added to it;
                                   the last line is the tally

A line that is neither is a failure: what cannot be read may be a test that failed.
"""

import pathlib
import re
import sys
import textwrap

ALLOWED_SKIPS = pathlib.Path(__file__).resolve().parent / "allowed-skips"
# cmocka 1 writes a skip as "not ok 2 # SKIP name", cmocka 2 and the standard as "ok 2 - name # SKIP".
TAP_RESULT = re.compile(
    r"(?P<word>ok|not ok) (?P<number>\d+)(?: - (?P<name>.*?))?(?P<skip> # SKIP\b ?(?P<rest>.*))?"
)
RESULT = re.compile(r"(?P<word>ok|not ok|skip) (?P<name>.+?)(?:: (?P<reason>.*))?")
TALLY = re.compile(r"(\d+) passed(?:, \d+ at a second try)?, (\d+) failed(?:, (\d+) skipped)?")
AGAIN = "at a second try"


class Tap:
    """What one program has said so far; it may run several groups of tests."""

    def __init__(self, program):
        self.program = program
        self.plan = None
        self.group = 0
        self.results = []
        self.wrong = []
        self.why_skipped = ""
        self.in_detail = False

    def result(self, found):
        name = f"{self.program}: {found['name'] or found['rest']}"
        self.group += 1
        if int(found["number"]) != self.group:
            self.wrong.append(f"result {found['number']} comes as number {self.group}")
        if found["skip"]:
            self.results.append(f"skip {name.replace(': ', '/', 1)}: {self.why_skipped}")
        else:
            self.results.append(f"{found['word']} {name}")
        self.why_skipped = ""

    def end_group(self):
        if self.plan != (self.group or None):
            self.wrong.append(f"it planned {self.plan} tests and had {self.group}")

    def line(self, text):
        # cmocka 2 has more about a failure between these two, as TAP 14
        if text == "  ---" or self.in_detail:
            self.in_detail = text != "  ..."
        elif re.fullmatch(r"1\.\.\d+", text):
            self.end_group()
            self.plan, self.group = int(text[3:]), 0
        elif found := TAP_RESULT.fullmatch(text):
            self.result(found)
        elif text.startswith("# skipped: "):
            # what skip_because() of tests/unit/skip.h says before cmocka's line
            self.why_skipped = text.removeprefix("# skipped: ")
        elif text and not text.startswith("#") and not text.startswith("TAP version "):
            self.wrong.append(f"this is no TAP: {text}")

    def verdict(self, status):
        """All results; then what is wrong with the program as a whole."""
        failed = any(line.startswith("not ok") for line in self.results)
        # cmocka's status is the number of failures
        if status and (not failed or status > 123):
            self.wrong = [f"exit status {status}, see below"]
        elif not self.results:
            self.wrong = ["it ran no test"]
        else:
            self.end_group()
        return self.results + [f"not ok {self.program}: {why}" for why in self.wrong]


def tap(folder, programs):
    for program in programs:
        files = {kind: pathlib.Path(folder, f"{program}.{kind}") for kind in ("tap", "err", "status")}
        if not files["status"].exists():
            print(f"not ok {program}: it did not run")
            continue
        text = {kind: path.read_bytes().decode("utf-8", "replace") for kind, path in files.items()}
        said = Tap(program)
        for line in text["tap"].splitlines():
            said.line(line)
        lines = said.verdict(int(text["status"]))
        print("\n".join(lines))
        if any(line.startswith("not ok") for line in lines):
            print(textwrap.indent(text["tap"] + text["err"], "    "))


class Part:
    """The results of a part of "make check", and what is wrong with how it said them."""

    def __init__(self, name, allowed):
        self.name = name
        self.allowed = allowed
        self.count = {"ok": 0, "not ok": 0, "skip": 0}
        self.again = 0
        self.since_tally = dict(self.count)
        self.unknown = []
        self.wrong = []

    def result(self, found):
        word, name, reason = found["word"], found["name"], found["reason"]
        self.since_tally[word] += 1
        self.again += word == "ok" and reason == AGAIN
        if word == "skip" and not reason:
            self.wrong.append(f"{name}: a skip without a reason")
        elif word == "skip" and name not in self.allowed:
            self.wrong.append(f"{name}: this skip is not in tests/allowed-skips")
        else:
            self.count[word] += 1

    def line(self, text):
        if found := RESULT.fullmatch(text):
            self.result(found)
        elif found := TALLY.fullmatch(text):
            said = [int(number or 0) for number in found.groups()]
            had = list(self.since_tally.values())
            if said != had:
                self.wrong.append(f"{self.name}: a tally says {text}, and the results before it are {had}")
            self.since_tally = dict.fromkeys(self.since_tally, 0)
        elif text.strip() and not text.startswith("#"):
            self.unknown.append(text)

    def verdict(self, status):
        """What is wrong beside the tests that failed. Details of a failure may be in any form."""
        if self.count["not ok"] == 0:
            if status or not any(self.count.values()):
                self.wrong.append(f"{self.name}: ended with status {status} after {self.count['ok']} results")
            self.wrong += [f"{self.name}: this is no result: {text}" for text in self.unknown[:3]]
        return [f"not ok {why}" for why in self.wrong]

    def tally(self):
        again = f", {self.again} {AGAIN}" if self.again else ""
        return (
            f"   {self.name}: {self.count['ok']} passed{again},"
            f" {self.count['not ok'] + len(self.wrong)} failed, {self.count['skip']} skipped"
        )


def tally(name, status, log):
    lines = ALLOWED_SKIPS.read_text(encoding="utf-8").splitlines()
    part = Part(name, {line for line in lines if not line.startswith("#")})
    path = pathlib.Path(log)
    for text in path.read_bytes().decode("utf-8", "replace").splitlines():
        part.line(text)
    said = [*part.verdict(status), part.tally()]
    with path.open("a", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in said)
    print("\n".join(said))


def main():
    words = sys.argv[1:]
    if words[:1] == ["tap"] and len(words) > 2:
        tap(words[1], words[2:])
    elif words[:1] == ["tally"] and len(words) == 4:
        tally(words[1], int(words[2]), words[3])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
