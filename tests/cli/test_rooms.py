#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""tests/rooms.py with made-up sources: what it has to refuse, and what not."""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import each_test  # pylint: disable=wrong-import-position
import rooms  # pylint: disable=wrong-import-position

KNOTS = "# none\n"


def look(sources, knots=KNOTS):
    """What rooms.py finds in a tree of these files; sources are compiled as in a build."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "tests").mkdir()
        (root / "tests/allowed-knots").write_text(knots, encoding="utf-8")
        for name, text in sources.items():
            path = root / "user" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        for name in sources:
            if name.endswith(".c"):
                target = root / "build/user" / (name[:-2] + ".o")
                target.parent.mkdir(parents=True, exist_ok=True)
                compile_it = ["cc", "-I", root / "user", "-c", "-o", target, root / "user" / name]
                subprocess.run(compile_it, check=True)
        rooms.ROOT = root
        return rooms.findings(root / "build")


def calls(name, other):
    """A source that takes a symbol and includes nothing"""
    return f"int {other}(void); int {name}(void); int {name}(void) {{ return {other}(); }}"


LOW = {
    "base/low.h": "int low(void);",
    "base/low.c": '#include "base/low.h"\nint low(void) { return 0; }',
}
HIGH = {
    "report/high.h": "int high(void);",
    "report/high.c": '#include "report/high.h"\n#include "base/low.h"\n' + calls("high", "low"),
}


def test_down():
    """A room may use the one below, and files of a room each other."""
    assert look(LOW | HIGH | {"report/more.c": calls("more", "high")}) == []


def test_include_up():
    up = {"base/low.c": LOW["base/low.c"] + '\n#include "report/high.h"'}
    assert look(LOW | HIGH | up) == [
        "user/base/low.c takes user/report/high.h from user/report/high.h: base may not use report"
    ]


def test_include_up_of_a_header():
    up = {"base/low.h": LOW["base/low.h"] + '\n#include "report/high.h"'}
    assert [line.split()[0] for line in look(LOW | HIGH | up)] == ["user/base/low.h"]


def test_symbol_up():
    """Nothing is included, and yet it is called: only nm tells."""
    found = look(HIGH | LOW | {"base/up.c": calls("up", "high")})
    assert found == [
        "user/base/up.c takes high from user/report/high.c: base may not use report"
    ], found


def test_data_up():
    up = {"report/data.c": "int datum = 1;", "base/up.c": "extern int datum; int *up = &datum;"}
    assert look(up) == [
        "user/base/up.c takes datum from user/report/data.c: base may not use report"
    ]


def test_aside():
    """Below is not enough: the engine asks no machine, and PMUs know nothing of BPF."""
    for room, other in ("engine/book", "platform/sys"), ("platform/pmu", "platform/bpf"):
        found = look({f"{other}/o.c": "int o(void) { return 0; }", f"{room}/r.c": calls("r", "o")})
        assert found == [
            f"user/{room}/r.c takes o from user/{other}/o.c: {room} may not use {other}"
        ], found


def test_circle():
    found = look({"base/a.c": calls("a", "b"), "base/b.c": calls("b", "a")})
    assert found == ["these files call each other in a circle: user/base/a.c user/base/b.c"], found


def test_long_circle():
    """Through a third one, with a file beside it that is in none"""
    arrows = ("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")
    found = look({f"base/{name}.c": calls(name, other) for name, other in arrows})
    assert found == [
        "these files call each other in a circle: user/base/a.c user/base/b.c user/base/c.c"
    ], found


def test_two_circles():
    circle = {"base/a.c": calls("a", "b"), "base/b.c": calls("b", "a")}
    found = look(circle | {"base/x.c": calls("x", "y"), "base/y.c": calls("y", "x")})
    assert len(found) == 2, found


def test_allowed():
    """A knot with a reason is let through; one that is gone has to go from the list."""
    knots = "user/base/up.c user/report/high.c: why\ncircle user/base/a.c user/base/b.c: why\n"
    up = {"base/up.c": calls("up", "high")}
    circle = {"base/a.c": calls("a", "b"), "base/b.c": calls("b", "a")}
    assert look(LOW | HIGH | up | circle, knots) == []
    found = look(LOW | HIGH | up, knots)
    gone = "tests/allowed-knots: not needed any more: "
    assert found == [gone + "circle user/base/a.c user/base/b.c"], found
    found = look(LOW | HIGH | circle, knots)
    assert found == [gone + "user/base/up.c user/report/high.c"], found


def test_other_door():
    """The periphery is used by the rows that the core has for it."""
    esp = {"sources/esp/soc.c": "int soc(void) { return 0; }"}
    assert look(esp | {"cli/esp_stat.c": calls("esp_stat", "soc")}) == []
    found = look(esp | {"cli/stat.c": calls("stat", "soc")})
    assert found == [
        "user/cli/stat.c takes soc from user/sources/esp/soc.c: "
        "only live/run/sources.c, cli/esp_list.c, cli/esp_stat.c may"
    ], found


def test_guard_of_another_room():
    guard = "#ifndef {0}\n#define {0}\nint low(void);\n#endif"
    assert look(LOW | {"base/low.h": guard.format("BASE_LOW_H")}) == []
    found = look(LOW | {"base/low.h": guard.format("CLI_LOW_H")})
    assert found == ["user/base/low.h: its include guard is CLI_LOW_H, not BASE_LOW_H"], found


def test_hardware_by_name():
    """Whatever differs between PMUs is a property of a row."""
    table = {"tables/families.h": "enum pmu_kind {\n\tPMU_A,\n\tPMU_UNKNOWN,\n};\nenum { PMU_LEN };"}
    assert look(table | {"tables/a.c": "int a; /* PMU_A */", "cli/b.c": "int b; /* PMU_UNKNOWN PMU_LEN */"}) == []
    found = look(table | {"cli/b.c": "int b; /* PMU_A */"})
    assert found == ["user/cli/b.c: PMU_A belongs in a table: ask for a property of its row"], found


def test_unknown_room():
    found = look({"cellar/c.c": "int c;"})
    assert found == ["user/cellar/c.c: the room cellar has no row in tests/rooms.py"], found


if __name__ == "__main__":
    sys.exit(each_test.run_all("rooms", globals()))
