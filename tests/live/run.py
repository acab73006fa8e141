#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Run the live tests, one line each. Started by run.sh."""

import argparse
import importlib
import pathlib
import shutil
import signal
import sys

from disturbed import Watch
from live import HERE, Bed, Busy, Failed, Imprecise, Missed, Skip

# A figure that others have disturbed must come right once in so many times.
ATTEMPTS = 5
# Of all tests, and one of a few. More that needed another try say something of us, not of others.
MOST_AGAIN = 0.02
# Of a reason: some tests put in what they read, which may be a whole page.
MAX_REASON = 1000
# tests/run.sh counts lines that end like this.
AGAIN = "at a second try"


def all_tests():
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(path.stem)
        for test in module.TESTS:
            name = f"{path.stem.removeprefix('test_')}/{test.__name__.removeprefix('test_')}"
            yield name.replace("_", "-"), test


def attempt(test, bed):
    """Runs a test once; returns the kind of line to print, and the reason."""
    try:
        test(bed)
        return "ok", ""
    except Busy as reason:
        return "busy", str(reason)
    except Skip as reason:
        return "skip", str(reason)
    except Missed as reason:
        return "missed", str(reason)
    except Imprecise as reason:
        return "imprecise", str(reason)
    except Failed as reason:
        return "not ok", str(reason)
    except Exception as error:  # pylint: disable=broad-except
        # Whatever it is, the other tests still run.
        return "not ok", f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(bed.scratch)


class Runner:
    """
    Runs tests. Only what others have disturbed, by evidence, is tried again (see Missed, too): at
    once, or with @disturbed, a list of names, by whoever asked for it.
    """

    def __init__(self, make_bed, watch, disturbed=None):
        self.make_bed = make_bed
        self.watch = watch
        self.disturbed = disturbed
        self.ran = self.failed = self.again = 0

    def tries(self, name, test):
        """Up to a result that stands; returns it, and how many tries it took."""
        for number in range(1, ATTEMPTS + 1):
            self.watch.start()
            result, reason = attempt(test, self.make_bed())
            if result == "busy":
                return "skip" if self.disturbed is None else "disturbed", reason, number
            if result not in ("imprecise", "missed"):
                return result, reason, number
            seen = self.watch.end()
            if result != "missed" and not seen.is_evidence():
                return "not ok", f"{reason}; and nobody was in the way: {seen}", number
            if self.disturbed is not None:
                return "disturbed", f"{reason}; {seen}", number
            if number < ATTEMPTS:
                print(f"# {name}, try {number}: {' '.join(reason.split())}; {seen}", flush=True)
        return "not ok", f"{reason}, at each of {ATTEMPTS} tries; {seen}", ATTEMPTS

    def run(self, name, test):
        """Prints the result."""
        result, reason, tries = self.tries(name, test)
        self.ran += 1
        self.failed += result == "not ok"
        if result == "disturbed":
            self.disturbed.append(name)
            result = "# disturbed"
        if result == "ok" and tries > 1:
            self.again += 1
            reason = AGAIN
        reason = " ".join(reason.split())[:MAX_REASON]
        print(f"{result} {name}: {reason}" if reason else f"{result} {name}", flush=True)

    def judge(self):
        """Of all tests together: did too many need another try?"""
        share = self.again / self.ran
        if share > MOST_AGAIN and self.again > 1:
            self.failed += 1
            print(
                f"not ok tries: {self.again} of {self.ran} tests passed only {AGAIN}"
                f" ({share:.1%}, at most {MOST_AGAIN:.0%}): is the machine too busy to tell?"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of the built helpers")
    parser.add_argument("--skip", metavar="REASON", help="run nothing, for this reason")
    parser.add_argument(
        "--disturbed",
        metavar="FILE",
        type=pathlib.Path,
        help="other work goes on beside the tests: names of those that it disturbed, for --these",
    )
    parser.add_argument("--these", metavar="FILE", type=pathlib.Path, help="only those named in it")
    parser.add_argument("program", type=pathlib.Path, help="t410trace")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only tests with this in the name")
    options = parser.parse_args()
    tests = [
        (name, test)
        for name, test in all_tests()
        if not options.names or any(part in name for part in options.names)
    ]
    if options.these:
        these = options.these.read_text(encoding="utf-8").split()
        tests = [(name, test) for name, test in tests if name in these]
    if not tests:
        print("not ok: no such test")
        return 1
    if options.skip:
        for name, _ in tests:
            print(f"skip {name}: {options.skip}")
        return 0
    # Whoever started this may ignore it, as nohup does, and then t410trace would, too.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # As Ctrl-C, which a run in the background does not hear: tests put away what they have made.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watch = Watch(f"{options.tools}/stalls")
    disturbed = [] if options.disturbed else None
    runner = Runner(lambda: Bed(options.program, options.tools), watch, disturbed)
    for name, test in tests:
        runner.run(name, test)
    if options.disturbed:
        options.disturbed.write_text("".join(f"{name}\n" for name in disturbed), encoding="utf-8")
    # A share of a few tests says nothing.
    elif not options.names and not options.these:
        runner.judge()
    watch.close()
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
