# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the functions of a test script, one line each."""


def run_all(area, names):
    """@names: globals() of the script. What is called test_... is run; 1 if one failed, else 0."""
    failed = 0
    for name, test in sorted(names.items()):
        if not name.startswith("test_"):
            continue
        name = name.removeprefix("test_")
        try:
            test()
            print(f"ok {area}: {name}")
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {area}: {name}: {type(error).__name__}: {error}")
    return 1 if failed else 0
