# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the functions of a test script, one line each."""

import concurrent.futures


def run(area, name, test):
    name = name.removeprefix("test_")
    try:
        test()
        return f"ok {area}: {name}"
    except Exception as error:  # pylint: disable=broad-except
        return f"not ok {area}: {name}: {type(error).__name__}: {error}"


def run_all(area, names, at_once=1):
    """@names: globals() of the script. What is called test_... is run; 1 if one failed, else 0.
    @at_once: of tests that wait, share nothing, and leave standard output alone."""
    failed = 0
    tests = sorted((name, test) for name, test in names.items() if name.startswith("test_"))
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        # a single one runs here: while it redirects the output, no line of another may be printed
        each = pool.map if at_once > 1 else map
        for line in each(lambda test: run(area, *test), tests):
            failed |= line.startswith("not ok")
            print(line, flush=True)
    return int(failed)
