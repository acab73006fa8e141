#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Run the live tests, one line each. Started by run.sh."""

import argparse
import importlib
import pathlib
import shutil
import sys

from live import HERE, Bed, Failed, Imprecise, Skip

# An imprecise figure must come right once in so many times.
ATTEMPTS = 5


def all_tests():
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(path.stem)
        for test in module.TESTS:
            name = f"{path.stem.removeprefix('test_')}/{test.__name__.removeprefix('test_')}"
            yield name.replace("_", "-"), test


def attempt(test, options):
    """Runs a test once; returns the kind of line to print, and the reason."""
    bed = Bed(options.program, options.tools)
    try:
        test(bed)
        return "ok", ""
    except Skip as reason:
        return "skip", str(reason)
    except Imprecise as reason:
        return "again", str(reason)
    except Failed as reason:
        return "not ok", str(reason)
    except Exception as error:  # pylint: disable=broad-except
        # Whatever it is, the other tests still run.
        return "not ok", f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(bed.scratch)


def run_test(name, test, options):
    """Prints the result; returns False for a failure."""
    for number in range(1, ATTEMPTS + 1):
        result, reason = attempt(test, options)
        if result != "again":
            break
        if number < ATTEMPTS:
            print(f"# {name}, attempt {number}: {reason}", flush=True)
    result = "not ok" if result == "again" else result
    reason = " ".join(reason.split())
    print(f"{result} {name}: {reason}" if reason else f"{result} {name}", flush=True)
    return result != "not ok"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of the built helpers")
    parser.add_argument("--skip", metavar="REASON", help="run nothing, for this reason")
    parser.add_argument("program", type=pathlib.Path, help="t410trace")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only tests with this in the name")
    options = parser.parse_args()
    failed = ran = 0

    for name, test in all_tests():
        if options.names and not any(part in name for part in options.names):
            continue
        ran += 1
        if options.skip:
            print(f"skip {name}: {options.skip}")
        else:
            failed += not run_test(name, test, options)
    if not ran:
        print("not ok: no such test")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
