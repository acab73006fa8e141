#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_page.py T410TRACE: pages of reports say what the JSON reports of the same recording say."""

import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import each_test
import everything
import invented

program = sys.argv[1]
HOSTILE = {100: ("</script>", "/box/</script><b>"), 200: ("<img onerror=x>", '/box/"\'&amp;<!--'), 300: ("a\x1b[31m\u202e", "/")}
VOID = {"meta", "input", "br", "link", "img", "wbr"}


class Page(html.parser.HTMLParser):
    """Tables by id: rows of cells (text, attributes); scripts; how elements stand in each other."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.scripts, self.open, self.tags = {}, [], [], []
        self.table = self.cell = None
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag in VOID:
            return
        if tag == "tfoot" and self.open[-1] == "tbody":
            self.open.pop()
        self.open.append(tag)
        if tag == "table":
            self.table = self.tables.setdefault(attributes["id"], [])
        elif tag == "tr":
            self.table.append((attributes, []))
        elif tag in ("td", "th"):
            self.cell = ["", attributes]
            self.table[-1][1].append(self.cell)
        elif tag == "script":
            self.scripts.append([attributes, ""])

    def handle_endtag(self, tag):
        if tag in ("table", "tbody") and self.open[-1] in ("tbody", "tfoot") and self.open[-1] != tag:
            self.open.pop()
        if tag == "tbody" and self.open[-1] == "table":
            return
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}"
        self.open.pop()
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, data):
        if self.cell:
            self.cell[0] += data
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1] += data

    def data(self):
        (text,) = [text for attributes, text in self.scripts if attributes.get("id") == "data"]
        return json.loads(text)

    def rows(self, table):
        return [cells for attributes, cells in self.tables[table] if "data-row" in attributes]


def run(*arguments, status=0):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, check=False)
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {done.stderr}"
    return done


def reports(*arguments):
    return [json.loads(line) for line in run("report", *arguments, "--json").stdout.splitlines()]


def page_of(directory, trace, *arguments):
    path, out = pathlib.Path(directory) / "trace.ndjson", pathlib.Path(directory) / "page.html"
    trace.write(path)
    done = run("report", *arguments, path, "--html", out)
    assert done.stdout == b"", "it printed a report as well"
    text = out.read_bytes().decode("utf-8")
    return text, Page(text), path


def hostile():
    trace = invented.noisy(400)
    trace.processes = HOSTILE
    header = trace.header
    trace.header = lambda: header() | {"host": "</title><b>\x1b[31m", "kernel": "<i>", "platform": "<u>"}
    return trace


# What plots may be stacks of: of which series, and of counters of which directions, or of energy
STACKS = {
    "bytes": ("read", "write", "readwrite"),
    "read": ("read",),
    "write": ("write",),
    "readwrite": ("readwrite",),
    "energy": ("energy",),
}


def series(row, socket, points, stack="bytes"):
    """[value, low, high] by point"""
    found = [[0, 0, 0] for _ in range(points)]
    for kind in STACKS[stack]:
        for first, *numbers in row["moved"].get(kind, {}).get(str(socket), []):
            for i in range(len(numbers) // 3):
                value, below, above = numbers[3 * i : 3 * i + 3]
                for k, number in enumerate((value, value - below, value + above)):
                    found[first + i][k] += number
    return found


def counters_of(report, socket, stack):
    """Those of memory or energy that the plot is a stack of"""
    return [
        c for c in report["counters"]
        if c["socket"] == socket and "bdf" not in c
        and (c["unit"] == "nanojoules" if stack == "energy" else c["unit"] == "bytes" and c["direction"] in STACKS[stack])
    ]  # fmt: skip


def test_values_of_plots():
    with tempfile.TemporaryDirectory() as directory:
        _, page, path = page_of(directory, invented.noisy())
        data = page.data()
        intervals = reports(path)
        assert len(intervals) == len(data["begin_ns"]) > 5
        assert set(data["intervals"]) == {1}
        for row in data["rows"]:
            moved = series(row, 0, len(intervals))
            for i, report in enumerate(intervals):
                found = [w for w in report["workloads"] if w["key"] == row["key"]]
                shares = found[0]["shares"] if found else []
                want = [sum(s[key] for s in shares) for key in ("value", "low", "high")]
                assert moved[i] == want, f"{row['key']} at {i}: {moved[i]}, not {want}"
        all_bytes = data["sockets"][0]["kinds"]["bytes"]
        for i, report in enumerate(intervals):
            assert data["start_ns"] + data["begin_ns"][i] == report["interval"]["start_ns"]
            assert all_bytes["value"][i] == sum(c["value"] for c in report["counters"])
            for entry in report["unattributed"]:
                assert all_bytes["unattributed"][entry["reason"]][i] == entry["value"]
            assert data["sockets"][0]["busy_ns"][i] == report["sockets"][0]["busy_ns"]
            (probe,) = report["latencies"]
            assert abs(data["probes"][0]["ns"][i] - probe["latency_ns"]) < 0.11


def test_values_of_tables():
    with tempfile.TemporaryDirectory() as directory:
        _, page, path = page_of(directory, invented.noisy())
        (summary,) = reports(path, "--summary")
        by_key = {w["key"]: w for w in summary["workloads"]}
        rows = page.rows("workloads")
        assert len(rows) == len(by_key) == len(page.data()["rows"]) == 3
        heads = [text for text, _ in page.tables["workloads"][0][1]]
        for cells, row in zip(rows, page.data()["rows"]):
            want = by_key[row["key"]]
            cell = dict(zip(heads, cells))
            sums = [sum(s[key] for s in want["shares"]) for key in ("value", "low", "high")]
            assert int(cell["Bytes"][1]["data-v"]) == sums[0]
            assert [int(cell["95% interval"][1][f"data-{end}"]) for end in ("low", "high")] == sums[1:]
            assert int(cell["CPU s"][1]["data-v"]) == want["on_cpu_ns"]
            assert row["shares"] == [
                [i, s["value"], s["low"], s["high"], s["separable"]]
                for s in want["shares"]
                for i, c in enumerate(summary["counters"])
                if c["name"] == s["counter"]
            ]
        for (_, cells), counter in zip(page.tables["counters"][1:], summary["counters"]):
            assert cells[0][0] == counter["name"]
            parts = [counter[key] for key in ("value", "low", "high", "attributed", "unattributed")]
            assert [int(attributes["data-v"]) for _, attributes in cells[5:10]] == parts
            assert [attributes["title"] for _, attributes in cells[5:10]] == [f"{part} bytes" for part in parts]


def test_tiles():
    """The sums of all counters and the verdict are on top, with the exact numbers as titles."""
    with tempfile.TemporaryDirectory() as directory:
        text, _, path = page_of(directory, invented.noisy())
        (summary,) = reports(path, "--summary")
        found = dict(re.findall(r'class="tile[^"]*"><span>([^<]*)</span><strong(?: title="([^"]*)")?>', text))
        counters = [c for c in summary["counters"] if c["unit"] == "bytes" and "bdf" not in c]
        sums = {key: sum(c[key] for c in counters) for key in ("value", "attributed")}
        names = {"read": "Read", "write": "Written", "readwrite": "Read and written"}
        for direction in {c["direction"] for c in counters}:
            want = sum(c["value"] for c in counters if c["direction"] == direction)
            assert found.pop(names[direction]) == f"{want} bytes", (direction, want, found)
        assert found.pop("Attributed") == f"{sums['attributed']} of {sums['value']} bytes", found
        assert list(found) == ["Verdict"] and text.index('class="tiles"') < text.index("<nav>")
        verdict = re.search(r"<span>Verdict</span><strong>(\w+)</strong>", text)[1]
        title = run("report", path, "--summary").stdout.decode().splitlines()[0]
        assert re.search(rf", {verdict}(: |$)", title), (verdict, title)


def test_sections_are_in_the_links():
    with tempfile.TemporaryDirectory() as directory:
        for trace in invented.noisy(), invented.noisy(300):
            _, page, _ = page_of(directory, trace)
            ids = [attributes["id"] for tag, attributes in page.tags if "id" in attributes
                   and (tag in ("section", "h2") or attributes["id"] == "counters")]  # fmt: skip
            links = [attributes["href"][1:] for tag, attributes in page.tags if tag == "a"]
            assert links == ids, (links, ids)


def test_neighbours():
    with tempfile.TemporaryDirectory() as directory:
        _, page, path = page_of(directory, invented.noisy())
        told = json.loads(run("neighbours", path, "--json").stdout)
        rows = {cells[0][0]: cells for _, cells in page.tables["neighbours-0"][1:]}
        for neighbour in told["probes"][0]["neighbours"]:
            name = f"{neighbour['pid']} {neighbour['comm']}" if "pid" in neighbour else f"({neighbour['reason']})"
            cells = rows[name]
            assert abs(int(cells[1][1]["data-v"]) - neighbour["calm_bytes_per_s"]) <= 1
            assert cells[-1][0] == neighbour["role"].replace("none", "")


def sums_of_page(data, socket, points, stack):
    """What stands on a socket by point: of all leaf rows and others, of devices for rows, of nobody"""
    rows = [row for row in data["rows"] if row.get("leaf", True)] + [data["others"]]
    moved = [sum(values) for values in zip(*([v for v, _, _ in series(row, socket, points, stack)] for row in rows))]
    count = data["sockets"][socket]["kinds"][stack]
    rest = [count["owned"], *count["unattributed"].values()]
    return [m + sum(r[i] or 0 for r in rest) for i, m in enumerate(moved)]


def stacks_are_right(data, intervals, seen):
    """Each stack is what its counters said, and of each row what its shares said. Adds kinds to @seen."""
    points = len(intervals)
    for socket in (0, 1):
        for stack, count in data["sockets"][socket]["kinds"].items():
            seen.add((socket, stack))
            counted = [[c for c in counters_of(r, socket, stack) if "value" in c] for r in intervals]
            want = [sum(c["value"] for c in of) for of in counted]
            assert [v or 0 for v in count["value"]] == want, (stack, count["value"], want)
            assert [v is None for v in count["value"]] == [not of for of in counted], (stack, socket)
            assert sums_of_page(data, socket, points, stack) == want, (stack, socket)
            for row in data["rows"]:
                moved = series(row, socket, points, stack)
                for i, r in enumerate(intervals):
                    names = {c["name"] for c in counters_of(r, socket, stack) if c["source"] != "device"}
                    shares = [s for w in r["workloads"] if w["key"] == row["key"] for s in w["shares"]
                              if s["counter"] in names]  # fmt: skip
                    numbers = [sum(s[key] for s in shares) for key in ("value", "low", "high")]
                    assert moved[i] == numbers, (stack, row["key"], i, moved[i], numbers)


def directions_apart(data, intervals):
    """Both directions apart, and energy, are what the counters said"""
    apart, power = data["plots"]
    ways = {"read": "read", "written": "write", "read or written": "readwrite"}
    for layer in apart["layers"] + power["layers"]:
        _, socket, way = (layer["label"] + " ").split(" ", 2)
        for i, r in enumerate(intervals):
            found = [
                c["value"] for c in r["counters"] if c["socket"] == int(socket) and "bdf" not in c and "value" in c
                and (c["direction"] == ways[way.strip()] and c["unit"] == "bytes" if way else c["unit"] == "nanojoules")
            ]  # fmt: skip
            assert layer["value"][i] == sum(found), (layer["label"], i, found)
            assert (layer["counted_ns"][i] > 0) == bool(found) or way, (layer["label"], i)
    assert len(apart["layers"]) >= 2 and power["layers"]


def test_everything():
    with tempfile.TemporaryDirectory() as directory:
        trace = pathlib.Path(directory) / "trace.ndjson"
        everything.write(trace)
        for more in ([], ["--by", "cgroup"], ["--by", "job"], ["--top", "2"]):
            everything.run(program, trace, *more, "--html", f"{directory}/page.html")
            data = Page(pathlib.Path(directory, "page.html").read_text(encoding="utf-8")).data()
            intervals = everything.reports(program, trace, *more)
            assert len(intervals) == len(data["intervals"]) == 3
            seen = set()
            stacks_are_right(data, intervals, seen)
            assert seen == {(s, k) for s in (0, 1) for k in ("bytes", "read", "write")} | {(0, "energy")}, seen
            incomplete = [[s["kinds"][stack]["incomplete"] for s in data["sockets"]] for stack in ("bytes", "write", "read")]
            assert incomplete == [[[0, 0, 0], [1, 1, 1]]] * 2 + [[[0, 0, 0], [0, 0, 0]]], incomplete
            directions_apart(data, intervals)
            for i, r in enumerate(intervals):
                (device,) = r["devices"]
                assert data["devices"][0]["value"][i] == device["read_bytes"] + device["write_bytes"]
                assert data["devices"][0]["high"][i] == device["read_high"] + device["write_high"]


def test_jobs():
    with tempfile.TemporaryDirectory() as directory:
        trace = pathlib.Path(directory) / "trace.ndjson"
        everything.write(trace)
        everything.run(program, trace, "--by", "job", "--html", f"{directory}/page.html")
        page = Page(pathlib.Path(directory, "page.html").read_text(encoding="utf-8"))
        rows = [(cells[0][0], cells[-1][0]) for cells in page.rows("workloads")]
        assert rows[:2] == [("slurm 12", "+lattice of eve"), ("step 0", "")], rows


def test_energy():
    with tempfile.TemporaryDirectory() as directory:
        trace = pathlib.Path(directory) / "trace.ndjson"
        everything.write(trace)
        everything.run(program, trace, "--html", f"{directory}/page.html")
        page = Page(pathlib.Path(directory, "page.html").read_text(encoding="utf-8"))
        (summary,) = everything.reports(program, trace, "--summary")
        place = [cell[0] for cell in page.tables["workloads"][0][1]].index("Energy")
        keys = [row["key"] for row in page.data()["rows"]]
        cells = dict(zip(keys, (row[place] for row in page.rows("workloads"))))
        for row in summary["workloads"]:
            want = [str(s["value"]) for s in row["shares"] if s["counter"] == "power0/energy-pkg"]
            assert cells[row["key"]][1].get("data-v") == (want[0] if want else None), row["key"]
        assert any("data-v" in cell[1] for cell in cells.values())


def test_names_stay_texts():
    with tempfile.TemporaryDirectory() as directory:
        text, page, _ = page_of(directory, hostile())
        for tag, attributes in page.tags:
            assert tag not in ("img", "b", "i", "u", "iframe", "link", "a") or tag == "a" and attributes["href"][0] == "#", tag
            assert not any(name.startswith("on") or name in ("src",) for name in attributes), attributes
            assert "style" not in attributes or attributes["style"].startswith("--depth:"), attributes
        assert len(page.scripts) == 3 and page.scripts[0][0]["type"] == "application/json"
        names = [cells[0][0] for cells in page.rows("workloads")]
        assert sorted(names)[:2] == ["100 </script>", "200 <img onerror=x>"], names
        assert "\x1b" not in text and "\u202e" not in text
        assert {row["name"] for row in page.data()["rows"]} == set(names)
        assert "<" not in [t for a, t in page.scripts if a.get("id") == "data"][0]


def test_nothing_from_elsewhere():
    with tempfile.TemporaryDirectory() as directory:
        text, _, _ = page_of(directory, invented.noisy(300))
        assert not re.search(r"https?:|ftp:|url\(|@import|sourceMappingURL", text, re.I)
        assert "default-src 'none'" in text
        assert "Dan Vanderkam" in text and "Permission is hereby granted" in text, "no licence of dygraphs"
        assert len(text) < 400000


def test_rows_of_other_kinds():
    with tempfile.TemporaryDirectory() as directory:
        _, page, path = page_of(directory, invented.noisy(300), "--by", "cgroup")
        (summary,) = reports(path, "--summary", "--by", "cgroup")
        assert {row["key"] for row in page.data()["rows"]} == {w["key"] for w in summary["workloads"]}
        assert "cgroups" not in page.tables
        shown = [cells[0][0] for cells in page.rows("workloads")]
        assert shown == ["/", "box", "a", "b", "other"], shown
        assert [row["name"] for row in page.data()["rows"]] == ["/", "/box", "/box/a", "/box/b", "/other"]
        _, page, _ = page_of(directory, invented.noisy(300), "--top", "1")
        assert len(page.rows("workloads")) == 1
        foot = [cells[0][0] for attributes, cells in page.tables["workloads"] if not attributes]
        assert "2 more, together" in foot, foot


def test_cgroup_tree():
    with tempfile.TemporaryDirectory() as directory:
        _, page, path = page_of(directory, invented.noisy(300))
        (summary,) = reports(path, "--summary")
        moved = {w["cgroup"]["path"]: sum(s["value"] for s in w["shares"]) for w in summary["workloads"]}
        tree = {cells[0][1]["title"]: int(cells[2][1]["data-v"]) for _, cells in page.tables["cgroups"][1:]}
        assert list(tree) == ["/", "/box", "/box/a", "/box/b", "/other"], tree
        assert tree["/"] == sum(moved.values()) and tree["/box"] == moved["/box/a"] + moved["/box/b"]


def test_monitoring_groups():
    """What the kernel counted, beside the rows: the numbers of the summary, and none where it has none."""
    recording = pathlib.Path(__file__).resolve().parent.parent / "fixtures/recording-9"
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory) / "page.html"
        for by in ("cgroup", "job", "process"):
            run("report", "-a", "--by", by, recording, "--html", out)
            page = Page(out.read_bytes().decode("utf-8"))
            assert ("groups" in page.tables) == (by != "process"), by
            if by == "process":
                continue
            (summary,) = reports("-a", "--by", by, recording, "--summary")
            own = {w["key"]: sum(s["value"] for s in w["shares"]) for w in summary["workloads"]}
            heads = [text for text, _ in page.tables["groups"][0][1]]
            assert len(page.tables["groups"]) - 1 == len(summary["resctrl"]) == 7
            for (_, cells), group in zip(page.tables["groups"][1:], summary["resctrl"]):
                cell = dict(zip(heads, cells))
                counted = cell["resctrl"][1].get("data-v"), cell["resctrl GB/s"][1].get("data-v")
                if group["state"] == "counted":
                    assert int(counted[0]) == group["mbm_total_bytes"], group
                else:
                    assert counted == (None, None) and cell["resctrl"][0] == "\N{EN DASH}", group
                    assert cell["State"][0] != "counted", group
                assert cell["Here"][1].get("data-v") == (str(own[group["key"]]) if group["key"] else None), group
                missing = f"{group['intervals_missing']} of {group['intervals']}"
                assert cell["Missing intervals"][0] == missing, group
                assert cell["Missing domains"][0] == f"{group['domains_missing']} of {group['domains']}", group


def test_without_counters():
    with tempfile.TemporaryDirectory() as directory:
        trace = invented.noisy(300)
        header, window = trace.header, trace.window
        trace.window = lambda w: (line | {"values": []} if "values" in line else line for line in window(w))
        trace.header = lambda: header() | {"counters": [], "probes": []}
        text, page, _ = page_of(directory, trace)
        heads = [cell[0] for cell in page.tables["workloads"][0][1]]
        assert heads == ["Process", "Cgroup", "CPU s", "Note"], heads
        assert "Nothing was counted" in text and page.data()["rows"][0]["cpu"]


def test_refusals():
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "trace.ndjson"
        invented.noisy(300).write(path)
        for more in (["--json"], ["-o", "x"]):
            done = run("report", path, "--html", f"{directory}/page.html", *more, status=2)
            assert b"--html" in done.stderr, done.stderr
        done = run("report", path, "--html", f"{directory}/no/page.html", status=1)
        assert b"cannot write to" in done.stderr
        done = run("report", path, "--html", "/dev/full", status=1)
        assert b"cannot write" in done.stderr


if __name__ == "__main__":
    sys.exit(each_test.run_all("page", globals()))
