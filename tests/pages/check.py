#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check.py T410TRACE FOLDER MAKE_ACCOUNTS: pages in a browser, clicked like a user would, beside the JSON report.

Pictures of what was seen go to FOLDER.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import each_test  # noqa: E402  pylint: disable=wrong-import-position
import everything  # noqa: E402  pylint: disable=wrong-import-position

import scene
from browser import Browser

program, folder, maker = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
PLOTS = ("plot-socket-0", "plot-socket-1", "plot-ways", "plot-devices", "plot-latencies", "plot-cpu")


def report(*arguments):
    done = subprocess.run([program, "report", trace, *arguments], capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def labels(browser, plot):
    """What stands below a plot: the same for all when they show the same time"""
    return browser.run(
        "return [...document.querySelectorAll('#' + arguments[0] + ' .dygraph-axis-label-x')].map(e => e.textContent)",
        plot,
    )


def counted(report_of, socket, stack="bytes"):
    """Counters of what a plot is a stack of"""
    return [
        c for c in report_of["counters"]
        if c["socket"] == socket and "bdf" not in c and "value" in c
        and (c["unit"] == "nanojoules" if stack == "energy" else c["unit"] == "bytes" and stack in ("bytes", c["direction"]))
    ]  # fmt: skip


def moved(report_of, row, socket, stack="bytes"):
    """What a row moved or used on a socket: value, low, high; CPUs' part"""
    counters = {c["name"] for c in counted(report_of, socket, stack) if c["source"] != "device"}
    shares = [s for s in row["shares"] if s["counter"] in counters]
    return [sum(s[key] for s in shares) for key in ("value", "low", "high")]


def said(browser, plot):
    """Below a plot with the pointer in it: the point, and text, numbers and class of each layer"""
    point = int(browser.find(f"#{plot} [data-point]").get_attribute("data-point"))
    spans = browser.run("return [...document.querySelectorAll('#' + arguments[0] + ' .readout span')]"
                        ".map(e => [e.textContent, e.dataset.bytes, e.className])", plot)  # fmt: skip
    return point, [(text, [int(n) for n in numbers.split()], name) for text, numbers, name in spans]


def name_of(row):
    return f"{row['pid']} {row['comm']}"


def test_opens_alone():
    with Browser() as b:
        b.open(page)
        b.picture(folder / "page.png", "body")
        asked = [url for url in b.requests() if not url.startswith(("about:", "data:"))]
        assert asked == [f"file://{page}"], asked
        assert b.complaints() == []
        for plot in PLOTS:
            assert labels(b, plot) == labels(b, PLOTS[0]) != [], plot
            drawn = b.run("const c = document.querySelector('#' + arguments[0] + ' canvas');"
                          "return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v)", plot)  # fmt: skip
            assert drawn, f"{plot} is empty"


def test_names_are_texts():
    with Browser() as b:
        b.open(page)
        assert b.run("return document.images.length") == 0
        texts = b.texts("#workloads tbody th")
        assert "8001 </script>" in texts and "8002 <img onerror=x>" in texts, texts
        assert any("<img onerror=x>" in text for text in b.texts(".readout"))


def test_values_below_the_pointer():
    intervals, seen = report("--json"), 0
    with Browser() as b:
        b.open(page)
        for socket in (0, 1):
            b.at(f"plot-socket-{socket}", 0.61, 0.8)
            point, spans = said(b, f"plot-socket-{socket}")
            rows = {name_of(row): moved(intervals[point], row, socket) for row in intervals[point]["workloads"]}
            duration = intervals[point]["interval"]["duration_ns"]
            for text, numbers, _ in spans:
                for name, want in rows.items():
                    if text.startswith(name + " "):
                        assert numbers == want, (text, numbers, want)
                        rate, low, high = (f"{v / duration:.3f}" for v in want)
                        assert f"{name} {rate} GB/s" in text, (text, rate)
                        assert low == high or f"({low} – {high})" in text, (text, low, high)
                        seen += 1
            assert spans[0][2] == "here", "nothing is below the pointer"
            rest = {e["reason"]: 0 for e in intervals[point]["unattributed"]}
            for entry in intervals[point]["unattributed"]:
                if entry["counter"].startswith(f"ucf{socket}"):
                    rest[entry["reason"]] += entry["value"]
            for text, numbers, _ in spans:
                if text.startswith("unattributed: devices"):
                    assert numbers == [rest["device"]], (numbers, rest)
            others = [b.find(f"#{plot} [data-point]").get_attribute("data-point") for plot in PLOTS]
            assert set(others) == {str(point)}, others
    assert seen >= 4, "too few workloads are shown"


def test_latency_below_the_pointer():
    intervals = report("--json")
    with Browser() as b:
        b.open(page)
        b.at("plot-latencies", 0.4, 0.5)
        point = int(b.find("#plot-latencies [data-point]").get_attribute("data-point"))
        want = intervals[point]["latencies"][0]["latency_ns"]
        (text,) = b.texts("#plot-latencies .readout span")
        assert abs(float(text.split()[1]) - want) < 0.2, (text, want)


def test_sorts():
    (summary,) = report("--json", "--summary")
    with Browser() as b:
        b.open(page)
        for heading, key in (("CPU s", lambda w: -w["on_cpu_ns"]), ("Process", lambda w: w["pid"])):
            column = b.texts("#workloads thead th").index(heading) + 1
            b.click(f"#workloads thead th:nth-child({column})")
            want = [name_of(w) for w in sorted(summary["workloads"], key=key)]
            assert b.texts("#workloads tbody th") == want, (heading, b.texts("#workloads tbody th"))
        b.click(f"#workloads thead th:nth-child({column})")
        assert b.texts("#workloads tbody th") == want[::-1]
        assert "sort=workloads.0.down" in b.driver.current_url


def test_sorted_rows_have_whole_names():
    with Browser() as b:
        tree = folder / "tree.html"
        subprocess.run([program, "report", "--by", "cgroup", trace, "--html", tree], check=True)
        b.open(tree)
        b.picture(folder / "tree.png", "#rows")
        assert "step_0" in b.texts("#workloads tbody th")
        b.click("#workloads thead th:nth-child(1)")
        names = b.texts("#workloads tbody th")
        assert "step_0" not in names and "/slurm/job_12/step_0" in names, names


def test_filters():
    with Browser() as b:
        b.open(page)
        b.find(".filter input").send_keys("SLURM")
        assert len(b.texts("#workloads tbody th")) == 3
        assert "3 of 11" in b.texts(".filter")[0]
        b.open(page, "#filter=postgres")
        assert b.texts("#workloads tbody th") == ["6001 postgres"]


def test_selects_a_row():
    (summary,) = report("--json", "--summary")
    row = next(w for w in summary["workloads"] if w["pid"] == 5150)
    with Browser(height=1400) as b:
        b.open(page)
        before = b.run("return document.querySelector('#plot-socket-1 canvas.over').toDataURL()")
        place = b.texts("#workloads tbody th").index(name_of(row)) + 1
        b.click(f"#workloads tbody tr:nth-child({place})")
        assert b.texts("#selected h3")[0].startswith("Selected: 5150 gmx, /slurm/job_15")
        shares = b.run("return [...document.querySelectorAll('#detail tbody tr')]"
                       ".map(tr => [...tr.cells].map(c => c.title || c.textContent).slice(0, 4))")  # fmt: skip
        want = [[s["counter"], *(f"{s[key]} bytes" for key in ("value", "low", "high"))] for s in row["shares"] if s["high"]]
        assert shares == want, (shares, want)
        assert all(re.fullmatch(r".* \d+(\.\d+)? [kMGT]?B", text) for text in b.texts("#detail tbody tr")), b.texts("#detail tr")
        after = b.run("return document.querySelector('#plot-socket-1 canvas.over').toDataURL()")
        assert before != after, "no band in the stack"
        b.run("scrollTo(0, 0)")
        b.picture(folder / "selected.png")
        b.click("#selected button")
        assert not b.texts("#selected h3")


def test_selected_row_is_in_the_stack():
    with Browser() as b:
        b.open(page)
        legend = "#plot-socket-0 .readout span"
        assert "other workloads" in b.texts(legend) and "6050 cron" not in b.texts(legend)
        b.open(page, "#row=pid%3A6050%3A6050")
        assert "6050 cron" in b.texts(legend)
        b.click("#selected button")
        assert "6050 cron" not in b.texts(legend)


def stack_is_right(browser, intervals, socket, stack, unit):
    """What stands below a plot is what the reports say of that kind; returns how many rows it has."""
    browser.at(f"plot-socket-{socket}", 0.61, 0.8)
    point, spans = said(browser, f"plot-socket-{socket}")
    r, seen = intervals[point], 0
    for row in r["workloads"]:
        want = moved(r, row, socket, stack)
        for text, numbers, _ in spans:
            if text.startswith(name_of(row) + " "):
                assert numbers == want, (stack, text, numbers, want)
                rate = want[0] / r["interval"]["duration_ns"]
                assert f" {rate:.3f} {unit}" in text, (stack, text, rate)
                seen += 1
    counters = counted(r, socket, stack)
    whole = sum(numbers[0] for _, numbers, _ in spans)
    assert whole == sum(c["value"] for c in counters), (stack, whole, counters)
    names = {c["name"] for c in counters}
    devices = sum(e["value"] for e in r["unattributed"] if e["counter"] in names and e["reason"] == "device")
    assert sum(n[0] for text, n, _ in spans if text.startswith("unattributed: devices")) == devices, stack
    return seen


def test_stacks_of_a_direction():
    intervals = report("--json")
    with Browser(height=1400) as b:
        b.open(page)
        assert [line.strip() for line in b.texts(".stack label")] == ["reads and writes", "reads", "writes"]
        for stack, title in (("read", "memory reads"), ("write", "memory writes"), ("bytes", "memory bandwidth")):
            b.click(f".stack input[value={stack}]")
            for socket in (0, 1):
                assert b.texts(f"#plot-socket-{socket} h3") == [f"Socket {socket}: {title}, GB/s"]
                assert stack_is_right(b, intervals, socket, stack, "GB/s") >= 2
            assert (f"stack={stack}" in b.driver.current_url) == (stack != "bytes"), b.driver.current_url


def test_selected_row_goes_with_the_stack():
    intervals = report("--json")
    with Browser(height=1400) as b:
        b.open(page, "#row=pid%3A6002%3A6002&stack=write")
        assert b.find(".stack input[value=write]").is_selected(), "the link shows another stack"
        for stack in ("write", "read"):
            b.click(f".stack input[value={stack}]")
            b.at("plot-selected-0", 0.61, 0.5)
            point, ((text, numbers, _),) = said(b, "plot-selected-0")
            (row,) = [w for w in intervals[point]["workloads"] if w["pid"] == 6002]
            want = moved(intervals[point], row, 0, stack)
            assert numbers == want and want[1] < want[2], (stack, text, numbers, want)
            assert b.texts("#selected h3")[1].startswith(f"Socket 0: memory {stack}s"), b.texts("#selected h3")
            assert f"stack={stack}" in b.driver.current_url and "row=pid" in b.driver.current_url
        b.run("scrollTo(0, 0)")
        b.picture(folder / "stack.png")


def test_stack_of_power():
    of, power = folder / "everything.ndjson", folder / "power.html"
    everything.write(of)
    everything.run(program, of, "--html", power)
    intervals = everything.reports(program, of)
    with Browser() as b:
        b.open(power, "#stack=energy")
        assert b.texts(".stack label")[-1].strip() == "power"
        assert b.texts("#plot-socket-0 h3") == ["Socket 0: power, W"]
        assert stack_is_right(b, intervals, 0, "energy", "W") >= 1
        assert b.texts("#plot-socket-1") == ["Socket 1: no counter of power had a value."]
        b.click(".stack input[value=bytes]")
        assert b.texts("#plot-socket-1 h3") == ["Socket 1: memory bandwidth, GB/s"]
        b.picture(folder / "power.png", "body")


def test_zooms_all_plots():
    with Browser() as b:
        b.open(page)
        whole = labels(b, PLOTS[0])
        b.at("plot-cpu", 0.3, 0.5, drag_to=0.5)
        zoomed = labels(b, PLOTS[0])
        assert zoomed != whole
        assert all(labels(b, plot) == zoomed for plot in PLOTS), [labels(b, plot) for plot in PLOTS]
        address = b.driver.current_url
        assert "#t=" in address
        b.at("plot-socket-1", 0.5, 0.5)
        point = int(b.find("#plot-socket-1 [data-point]").get_attribute("data-point"))
        assert 20 <= point <= 27, point
        b.open(page, "#" + address.partition("#")[2] + "&row=pid%3A6001%3A6001")
        assert labels(b, PLOTS[0]) == zoomed, "the link shows another time"
        assert labels(b, "plot-selected-0") == zoomed, "the selected row shows another time"
        assert "6001 postgres" in b.texts("#selected h3")[0]
        b.at("plot-socket-0", 0.5, 0.5, twice=True)
        assert labels(b, PLOTS[1]) == whole


def test_dark_and_light():
    with Browser() as b:
        b.open(page)
        colours = []
        for dark in (True, False):
            b.dark(dark)
            colours.append(b.run("return getComputedStyle(document.body).backgroundColor"))
            if dark:
                b.picture(folder / "dark.png", "body")
        assert colours == ["rgb(21, 24, 27)", "rgb(255, 255, 255)"], colours


def test_narrow():
    with Browser(400, 800) as b:
        b.open(page)
        b.picture(folder / "narrow.png", "body")
        assert b.run("return document.documentElement.scrollWidth") <= 400
        assert b.run("return document.querySelector('.graph').clientWidth") > 300


def test_nothing_is_clipped():
    for width in (1280, 480):
        with Browser(width, 900) as b:
            b.open(page)
            cut = b.run("return [...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth)"
                        ".map(e => e.firstChild.id)")  # fmt: skip
            assert not cut and b.run("return document.documentElement.scrollWidth") <= width, (width, cut)
            b.picture(folder / f"width-{width}.png", "body")
            # a list of a row's cells has their headings
            want = r"Read GB/s \d\.\d+" if width == 480 else r"\d\.\d+"
            seen = b.run("const c = document.querySelector('#workloads tbody tr').cells[2];"
                         "const of = getComputedStyle(c, '::before').content.replaceAll('\"', '');"
                         "return (of === 'none' ? '' : of) + c.textContent")  # fmt: skip
            assert re.fullmatch(want, seen), seen


def test_times_are_those_of_clocks():
    with Browser() as b:
        b.open(page)
        for zoom in ("", "#t=10~12", "#t=10.2~10.3"):
            b.open(page, zoom)
            for text in labels(b, PLOTS[0]):
                assert re.fullmatch(r"00:00:\d\d(\.\d+)?", text), (zoom, text)


def test_colours_have_one_meaning():
    """Hatches are of unattributed bytes; reads and writes have colours that no workload has."""
    with Browser() as b:
        b.open(page)
        looks = {}
        for plot in PLOTS:
            looks[plot] = b.run(
                "return [...document.querySelectorAll('#' + arguments[0] + ' .readout span')]"
                ".map(e => [e.textContent, e.querySelector('.swatch').getAttribute('style')])",
                plot,
            )
        stacks = looks["plot-socket-0"] + looks["plot-socket-1"]
        hatched = {text for text, style in stacks if "gradient" in style}
        assert hatched == {text for text, _ in stacks if text.startswith("unattributed")} and len(hatched) >= 2, stacks
        assert len({style for text, style in stacks if text in hatched}) == len(hatched), stacks
        workloads = {re.search(r"#\w+", style)[0] for text, style in stacks if text not in hatched}
        ways = {text: re.search(r"#\w+", style)[0] for text, style in looks["plot-ways"]}
        assert ways["socket 0 read"] == ways["socket 1 read"] != ways["socket 0 written"], ways
        assert not set(ways.values()) & workloads, (ways, workloads)
        assert len(set(style for _, style in looks["plot-ways"])) == 4, "sockets look the same"


def test_empty_columns_are_folded():
    with Browser() as b:
        b.open(page)
        heads = b.texts("#sockets thead th")
        assert "Busy s" in heads and "Not booked s" not in heads, heads
        b.click("#sockets caption button")
        assert b.texts("#sockets thead th") == heads[:4] + ["Idle s", "Not booked s"] + heads[4:]
        assert b.texts("#sockets caption button") == ["hide 2 empty columns"]
        # a number is no value, however small
        assert "Socket" in b.texts("#latencies thead th")


def test_without_script():
    with Browser(script=False) as b:
        b.open(page)
        b.picture(folder / "noscript.png", "body")
        assert "Plots need JavaScript" in b.texts("noscript p")[0]
        assert len(b.texts("#workloads tbody th")) == 11 and len(b.texts("#counters tbody tr")) == 14
        assert not b.texts(".plot") and not b.texts("p.script")


def test_prints():
    with Browser() as b:
        b.open(page)
        assert len(b.command("Page.printToPDF", printBackground=True)["data"]) > 50000


def test_job():
    """The page of a job: what its plots say is what its JSON says; where nobody looked there is nothing."""
    store, job = folder / "accounts.db", folder / "job.html"
    for old in folder.glob("accounts.db*"):
        old.unlink()
    subprocess.run([maker, store, "course=30"], check=True)
    # status 3: the account has a gap
    subprocess.run([program, "job", "30", "--state", store, "--html", job], check=False)
    done = subprocess.run(
        [program, "job", "30", "--state", store, "--json", "--history"], capture_output=True, check=False
    )
    steps = json.loads(done.stdout)["history"]["intervals"]
    with Browser(height=1400) as b:
        b.open(job)
        b.picture(folder / "job.png", "body")
        assert b.complaints() == []
        for plot in ("plot-memory", "plot-pcie", "plot-cpus"):
            assert labels(b, plot), plot
        # eight times ten seconds; the third and fourth are the gap
        for place, step in ((0.1, 0), (0.22, 1), (0.6, 2), (0.95, 5)):
            b.at("plot-memory", place, 0.5)
            found = [
                list(map(int, e.split()))
                for e in b.run(
                    "return [...document.querySelectorAll('#plot-memory .readout [data-bytes]')]"
                    ".map(e => e.dataset.bytes)"
                )
            ]
            metrics = steps[step]["metrics"]
            want = [[m[key] for key in ("value", "low", "high")] for name, m in metrics.items() if name in
                    ("mem_read_bytes", "mem_write_bytes")]  # fmt: skip
            incomplete = "some counters have no value" in b.texts("#plot-memory .readout")[0]
            assert incomplete == (step == 1), (step, b.texts("#plot-memory .readout"))
            assert sorted(found) == sorted(want), (place, found, want)
        b.at("plot-memory", 0.4, 0.5)
        assert "nothing was counted" in b.texts("#plot-memory .readout")[0]
        assert len(b.texts("#intervals tbody tr")) == 6


def test_job_on_nodes():
    """Each node has a bar that is seen; missing nodes are named first."""
    spool, job = folder / "spool", folder / "job-nodes.html"
    spool.mkdir(exist_ok=True)
    report = json.loads((pathlib.Path(__file__).parents[2] / "docs/examples/job.json").read_text(encoding="utf-8"))
    for node in ("n1", "n2", "n3"):
        report["host"]["name"] = node
        (spool / f"{node}.json").write_text(json.dumps(report), encoding="utf-8")
    # status 3: n4 is missing
    subprocess.run([program, "job", "--merge", spool, "--nodes", "n[1-4]", "--html", job], check=False)
    for width in (1100, 400):
        with Browser(width) as b:
            b.open(job)
            b.picture(folder / f"job-nodes-{width}.png", "body")
            assert b.complaints() == []
            assert "no report of n4" in b.texts("#incomplete")[0]
            widths = b.run(
                "return [...document.querySelectorAll('#nodes-0 td.bar')]"
                ".map(e => [...e.children].reduce((sum, bar) => sum + bar.getBoundingClientRect().width, 0))"
            )
            assert len(widths) == 3 and min(widths) > 100, (width, widths)


if __name__ == "__main__":
    folder.mkdir(parents=True, exist_ok=True)
    trace, page = folder / "scene.ndjson", folder / "page.html"
    scene.write(trace, hostile=True)
    subprocess.run([program, "report", trace, "--html", page], check=True)
    sys.exit(each_test.run_all("pages", globals()))
