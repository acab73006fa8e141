#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_job_merge.py T410TRACE: "t410trace job --merge" on closing reports made of the example."""

import copy
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

program = sys.argv[1]
TESTS = pathlib.Path(__file__).resolve().parent.parent
EXAMPLE = json.loads((TESTS.parent / "docs/examples/job.json").read_text(encoding="utf-8"))
SECOND = 10**9
failed = 0


def run(*arguments, status=0, text=None):
    done = subprocess.run(
        [program, "job", *map(str, arguments)], capture_output=True, text=True, check=False, input=text, timeout=60
    )
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}, not {status}: {done.stdout} {done.stderr}")
    done.told = " ".join(done.stderr.split())
    return done


def merged(*arguments, status=0, text=None):
    """The account as JSON, which keeps its schema."""
    done = run(*arguments, "--json", status=status, text=text)
    judged = subprocess.run(
        [TESTS / "check-report", "-"], input=done.stdout, capture_output=True, text=True, check=False
    )
    assert judged.returncode == 0, judged.stdout
    account = json.loads(done.stdout)
    account["told"] = done.told
    return account


def report(node, job="12", cgroup=881, later=0):
    """The closing report of a node; @later: seconds by which it ran later."""
    changed = copy.deepcopy(EXAMPLE)
    changed["host"]["name"] = node
    changed["job"]["id"] = job
    changed["job"]["cgroup"]["id"] = cgroup
    for name in ("start_ns", "end_ns"):
        changed[name] += later * SECOND
    changed["job"]["key"] = f"slurm-{job}-{cgroup}-{changed['start_ns'] // SECOND}"
    return changed


def put(folder, value, name=None):
    """A file as nodes write it: KEY.NODE.json"""
    path = folder / (name or f"{value['job']['key']}.{value['host']['name']}.json")
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def check(function):
    global failed
    with tempfile.TemporaryDirectory() as directory:
        try:
            function(pathlib.Path(directory))
            print(f"ok job merge: {function.__doc__}")
        except (AssertionError, KeyError, IndexError, ValueError, subprocess.SubprocessError) as error:
            failed = 1
            print(f"not ok job merge: {function.__doc__}: {error!r}".replace("\n", " "))


@check
def sums(folder):
    """files, a folder and a stream give the same account, with the sums of its nodes"""
    paths = [put(folder, report(f"n{i}")) for i in (1, 2, 3)]
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    accounts = [
        merged("--merge", folder),
        merged("--merge", *paths),
        merged("12", "--merge", folder),
        merged("slurm:12", "--merge", "-", text=text),
        merged("--merge", "-", text=text.replace("}\n{", "}{")),
        merged("--merge", "-", text=json.dumps(report("n1"), indent=2) + text),
    ]
    assert accounts[-1]["nodes"].pop("twice") == ["report 2 of standard input"]
    accounts[0]["nodes"].pop("twice")
    for account in accounts[1:]:
        account["nodes"].pop("twice", None)
        assert account == accounts[0], account
    for name, metric in accounts[0]["metrics"].items():
        assert metric["value"] == 3 * EXAMPLE["metrics"][name]["value"], name
    for counter, of_one in zip(accounts[0]["counters"], EXAMPLE["counters"]):
        assert counter["value"] == 3 * of_one["value"] and counter["nodes"] == 3, counter
    assert accounts[0]["host"]["name"] == "n[1-3]" and accounts[0]["nodes"]["complete"] is True


@check
def bounds(folder):
    """the error of a sum is the root of the squares of the nodes' errors"""
    for i in range(4):
        put(folder, report(f"n{i}"))
    for counter, of_one in zip(merged("--merge", folder)["counters"], EXAMPLE["counters"]):
        for end in ("low", "high"):
            error, wanted = abs(counter["value"] - counter[end]), 2 * abs(of_one["value"] - of_one[end])
            assert wanted <= error <= wanted + 1, (counter, of_one)


@check
def missing(folder):
    """nodes without a report are named, in all formats, with status 3"""
    for i in (1, 3):
        put(folder, report(f"n{i}.example.org"))
    account = merged("--merge", folder, "--nodes", "n[1-4],login", status=3)
    assert account["nodes"]["missing"] == ["login", "n2", "n4"], account["nodes"]
    assert account["nodes"]["expected"] == 5 and "login,n[2,4]" in account["told"], account["told"]
    assert "there is no report of login,n[2,4]" in run("--merge", folder, "--nodes", "n[1-4],login", status=3).stdout
    assert "login,n[2,4]" in run("--merge", folder, "--nodes", "n[1-4],login", "--compact", status=3).told
    # a job that shrank
    account = merged("--merge", folder, "--nodes", "n1")
    assert account["nodes"]["unexpected"] == ["n3.example.org"] and account["nodes"]["missing"] == []
    assert "is no list of hosts" in run("--merge", folder, "--nodes", "n[1-4", status=2).told


@check
def all_missing(folder):
    """without any report the record names all nodes, and has no number of theirs"""
    run_it = ("--merge", folder, "--nodes", "n[1-3]", "--compact", "slurm:7")
    done = run(*run_it, status=3)
    assert "no report of job slurm:7" in done.told, done.told
    record = json.loads(run("--decode", done.stdout.strip()).stdout)
    assert record == {"t4j": 1, "s": "slurm", "j": "7", "N": {"n": 0, "of": 3, "no": 3, "miss": "n[1-3]"}}, record
    judged = subprocess.run([TESTS / "check-report", "-"], input=json.dumps(record) + "\n", capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout
    (folder / "n1.json").write_text("{", encoding="utf-8")
    assert json.loads(run("--decode", run(*run_it, status=3).stdout.strip()).stdout)["N"]["bad"] == 1
    for without in ("--compact", "slurm:7"):
        run(*(word for word in run_it if word != without), status=4)


@check
def refused(folder):
    """damaged, foreign and misnamed reports are named and in no sum"""
    put(folder, report("n1"))
    put(folder, report("n2"), "n3.json")
    put(folder, report("n4") | {"schema": "t410trace.job/2"}, "n4.json")
    (folder / "n5.json").write_text("", encoding="utf-8")
    (folder / "n6.json").write_text(json.dumps(report("n6"))[:-500], encoding="utf-8")
    (folder / "n7.json").symlink_to(folder / "n6.json")
    (folder / ".n8.json").write_text("unfinished", encoding="utf-8")
    wrong = report("n9")
    wrong["counters"][0]["value"] -= 1
    put(folder, wrong, "n9.json")
    (folder / "n10.json").mkdir()
    account = merged("--merge", folder, status=3)
    found = {pathlib.Path(entry["report"]).stem: entry["reason"] for entry in account["nodes"]["refused"]}
    assert found == {
        "n3": "name",
        "n4": "version",
        "n5": "damaged",
        "n6": "damaged",
        "n7": "owner",
        "n9": "damaged",
        "n10": "owner",
    }, found
    assert [node["host"] for node in account["nodes"]["list"]] == ["n1"]
    assert "7 reports are left out" in account["told"], account["told"]
    again = folder / "merged"
    again.mkdir()
    put(again, {key: value for key, value in account.items() if key != "told"}, "n1.json")
    done = run("--merge", again, status=4)
    assert "merged account already" in done.told, done.told
    assert "No such file" in run("--merge", folder / "gone.json", status=4).told


@check
def hostile(folder):
    """files without end, without bottom, that are no files, or that anybody could have written"""
    put(folder, report("n1"))
    (folder / "n2.json").write_text("[" * 10**6, encoding="utf-8")
    (folder / "n3.json").write_text('{"a":' * 10**5, encoding="utf-8")
    with open(folder / "n4.json", "wb") as file:
        file.truncate(10**12)
    os.mkfifo(folder / "n5.json")
    put(folder, report("n6"), "n6.json").chmod(0o666)
    put(folder, report("n7", job="13"), "n7.json")
    put(folder, report("n8"), "n\x1b[2J\n8.json")
    done = run("12", "--merge", folder, "--compact", status=3)
    assert "\x1b" not in done.stderr, done.stderr
    account = merged("12", "--merge", folder, status=3)
    found = {pathlib.Path(entry["report"]).stem: entry["reason"] for entry in account["nodes"]["refused"]}
    wanted = {"n2": "damaged", "n3": "damaged", "n4": "damaged", "n5": "owner", "n6": "owner", "n7": "job"}
    assert found == wanted | {"n\x1b[2J\n8": "name"}, found
    assert account["nodes"]["reported"] == 1
    assert "\x1b" not in run("12", "--merge", folder, status=3).stdout
    assert "Input/output error" in run("--merge", "/proc/self/mem", status=4).told


@check
def days_of_many(folder):
    """the CPU time of a large job is more than 64 bits have, and is exact"""
    most = 2**63 - 1
    for i in range(3):
        large = report(f"n{i}")
        for step in large["steps"]:
            step["on_cpu_ns"] = 0
        large["on_cpu_ns"] = large["steps"][0]["on_cpu_ns"] = most
        put(folder, large)
    account = merged("--merge", folder)
    assert int(account["on_cpu_ns"]) == int(account["steps"][0]["on_cpu_ns"]) == 3 * most, account["on_cpu_ns"]
    assert "320255-23:21:50" in run("--merge", folder).stdout
    decoded = run("--decode", run("--merge", folder, "--compact").stdout.strip()).stdout
    assert json.loads(decoded)["cpu"] == 3 * most // 10**6
    lines = list(csv.DictReader(run("--merge", folder, "--csv", "-").stdout.splitlines()))
    assert str(3 * most) in [line["value"] for line in lines if line["record"] == "cpu"]


@check
def owners(folder):
    """files of another user, and folders that everybody may write to, are refused"""
    assert not os.getuid(), "only root can change owners"
    put(folder, report("n1"))
    os.chown(put(folder, report("n2")), 4242, -1)
    account = merged("--merge", folder, status=3)
    assert [entry["reason"] for entry in account["nodes"]["refused"]] == ["owner"]
    assert merged("--merge", folder, "--owner", "4242")["nodes"]["reported"] == 2
    assert merged("--merge", folder, "--owner", "yes")["nodes"]["reported"] == 2
    os.chown(folder, 4242, -1)
    assert merged("--merge", folder)["nodes"]["reported"] == 2
    folder.chmod(0o777)
    assert "everybody may write" in run("--merge", folder, status=1).told


@check
def runs(folder):
    """of a requeued job the last run is shown, or all, or those since a time"""
    for node in ("n1", "n2"):
        put(folder, report(node, cgroup=881))
        put(folder, report(node, cgroup=990, later=500))
    put(folder, report("n3", cgroup=991, later=500))
    account = merged("12", "--merge", folder)
    assert account["nodes"]["reported"] == 3 and "1 earlier run" in account["told"], account["told"]
    lines = run("12", "--merge", folder, "--all", "--json").stdout.splitlines()
    assert [json.loads(line)["nodes"]["reported"] for line in lines] == [3, 2]
    account = merged("12", "--merge", folder, "--since", f"@{EXAMPLE['end_ns'] // SECOND + 300}")
    assert account["nodes"]["reported"] == 3 and not account["told"], account["told"]
    # a folder of one run
    single = folder / "1795190401"
    single.mkdir()
    put(single, report("n1"), "n1.json")
    put(single, report("n2", later=5000), "n2.json")
    assert merged("--merge", single)["nodes"]["reported"] == 2


@check
def jobs(folder):
    """of a folder of many jobs only the files of the job are read; without it each has an account"""
    for job in ("12", "120", "13"):
        put(folder, report("n1", job))
    put(folder, report("n2"))
    (folder / "slurm-13-5-1763740800.n7.json").write_text("damaged", encoding="utf-8")
    assert merged("12", "--merge", folder)["nodes"]["reported"] == 2
    assert merged("13", "--merge", folder, status=3)["nodes"]["reported"] == 1
    assert merged("120", "--merge", folder)["job"]["id"] == "120"
    lines = run("--merge", folder, "--json", status=3).stdout.splitlines()
    assert [json.loads(line)["job"]["id"] for line in lines] == ["12", "13", "120"]
    assert "no report of job 99" in run("99", "--merge", folder, status=4).told


@check
def kinds(folder):
    """nodes that count something else are beside the rest, and only CPU time is added up"""
    put(folder, report("n1"))
    put(folder, report("n2"))
    other = report("n3")
    other["host"]["platform"] = "grace"
    put(folder, other)
    account = merged("--merge", folder)
    assert account["metrics"] == {} and account["counters"] == []
    assert account["on_cpu_ns"] == 3 * EXAMPLE["on_cpu_ns"]
    assert [(kind["host"]["platform"], kind["nodes"]) for kind in account["nodes"]["kinds"]] == [
        ("t410", 2),
        ("grace", 1),
    ]


@check
def values(folder):
    """comma-separated values have the sums and the nodes of the JSON"""
    for i in (1, 2):
        put(folder, report(f"n{i}"))
    account = merged("--merge", folder)
    lines = list(csv.DictReader(run("--merge", folder, "--csv", "-").stdout.splitlines()))
    shares = {line["name"]: line for line in lines if line["record"] == "share"}
    assert len(shares) == len(account["counters"])
    for counter in account["counters"]:
        for key in ("value", "low", "high"):
            assert int(shares[counter["name"]][key]) == counter[key], counter
    for node in account["nodes"]["list"]:
        of_node = {line["name"]: line for line in lines if line["record"] == "node" and line["host"] == node["host"]}
        found = {name: int(line["value"]) for name, line in of_node.items()}
        assert found == node["metrics"] | {"on_cpu_ns": node["on_cpu_ns"]}, found
        assert int(of_node["mem_read_bytes"]["low"]) == EXAMPLE["metrics"]["mem_read_bytes"]["low"]


@check
def page(folder):
    """the page has a bar for each node, the largest first, and names are escaped"""
    for i, part in enumerate((3, 1, 2)):
        smaller = json.loads(json.dumps(report(f"n{i}<b>")))
        for counter in smaller["counters"]:
            # a whole part, so that all sums stay sums
            for key in ("value", "low", "high", "inseparable"):
                counter[key] *= part
            counter["machine"]["value"] += counter["value"] - counter["value"] // part
            counter["machine"]["attributed"] += counter["value"] - counter["value"] // part
        for metric in smaller["metrics"].values():
            for key in ("value", "low", "high"):
                metric[key] *= part
        (folder / f"{i}.json").write_text(json.dumps(smaller), encoding="utf-8")
    out = folder / "page.html"
    run("--merge", *sorted(folder.glob("*.json")), "--html", out)
    text = out.read_text(encoding="utf-8")
    rows = re.findall(r'<th scope="row">(n.*?)</th><td class="bar"><i style="width:([0-9.]+)%', text)
    assert [name for name, _ in rows] == ["n0&lt;b&gt;", "n2&lt;b&gt;", "n1&lt;b&gt;"], rows
    widths = [float(width) for _, width in rows]
    assert abs(widths[1] - widths[0] * 2 / 3) < 0.02 and abs(widths[2] - widths[0] / 3) < 0.02, widths
    put(folder, report("n1", "13"))
    assert "name the job" in run("--merge", *sorted(folder.glob("*.json")), "--html", out, status=1).told


@check
def arguments(folder):
    """options that do not go together are refused"""
    path = put(folder, report("n1"))
    assert "reports need --merge" in run(path, status=2).told
    assert "needs --merge" in run("12", "--nodes", "n1", status=2).told
    assert "--wait" in run("12", "--merge", folder, "--wait", "1s", status=2).told
    assert "--state" in run("12", "--merge", folder, "--state", "x", status=2).told


sys.exit(failed)
