# SPDX-License-Identifier: GPL-2.0-only
"""What tests of verdicts share: right results pass, spoilt ones fail, and where they are wrong."""

import contextlib
import copy
import io
import json
import tempfile
from pathlib import Path

from results import Failure


def failing(scenario, tests):
    """Names of the @tests that do not pass on this scenario, and why."""
    failed = {}
    for test in tests:
        try:
            test(scenario)
        except Failure as failure:
            failed[test.__name__] = str(failure)
    return failed


def as_text(content):
    """A text as it is, a list as lines, what is no text as JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(line if isinstance(line, str) else json.dumps(line) for line in content)
    return json.dumps(content)


def failing_in(files, tests, make_scenario, name="scenario"):
    """The same of made-up @files, contents by name, in a folder of this @name. Figures are not printed:
    they are invented, too."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, name)
        folder.mkdir()
        (folder / "done").touch()
        for file, content in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(as_text(content), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()):
            return failing(make_scenario(folder), tests)


def spoilers_of(module):
    """All functions of a module (its globals()) that spoil something, by name."""
    return [it for name, it in sorted(module.items()) if name.startswith(("spoil_", "spare_"))]


def refuse_spoilt(what, right, failed, spoilers):
    """
    Prints a line for right results and for each spoiler.

    right(): results that must pass; failed(results): names of the tests that do not pass, perhaps
    with reasons; a spoiler changes the results and returns the names that must fail. Returns how
    many were judged wrongly.
    """
    wrong = 0
    for spoil in [None, *spoilers]:
        results = copy.deepcopy(right())
        wanted = spoil(results) if spoil else set()
        found = failed(results)
        name = f"judge-{what}-{spoil.__name__ if spoil else 'right'}".replace("_", "-")
        if set(found) == wanted:
            print(f"ok {name}")
        else:
            wrong += 1
            print(f"not ok {name}: failed {found or 'nowhere'}, expected {sorted(wanted)}")
    return wrong
