#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What goes with the metrics names only metrics and labels that there are: dashboard, rules, documents, manifest."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Labels that Prometheus adds, and words of PromQL that look like labels.
OF_PROMETHEUS = {"instance", "job"}


def exposition():
    """Samples of the example, and of a machine with energy: name to set of labels; families in them."""
    names, families = {}, set()
    files = "docs/examples/metrics.txt", "tests/golden/metrics-energy.txt"
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in files)
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            families.add(line.split()[2])
        elif not line.startswith("#"):
            name = re.match(r"\w+", line)[0]
            names.setdefault(name, set()).update(re.findall(r'(\w+)="', line))
    return names, families


def wrong_in_query(query, names, recorded):
    """Metrics and labels of a query that do not exist."""
    bare = re.sub(r'"[^"]*"', '""', query)
    used = set(re.findall(r"(?<!:)\bt410trace_\w+", bare))
    wrong = [n for n in sorted(used) if n not in names]
    wrong += [r for r in re.findall(r"\b\w+:t410trace_\w+:\w+", bare) if r not in recorded]
    known = OF_PROMETHEUS.union(*(names.get(n, set()) for n in used))
    labels = set(re.findall(r"[{,]\s*(\w+)\s*[=!]", bare))
    for group in re.findall(r"\b(?:by|on|group_left|without)\s*\(([^)]*)\)", bare):
        labels |= {g.strip() for g in group.split(",") if g.strip()}
    return wrong + sorted(labels - known if used else ())


def queries():
    dashboard = json.loads((ROOT / "share/grafana/t410trace.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield f"dashboard, {panel['title']}", target["expr"]
    for file in sorted((ROOT / "share/prometheus").glob("*.yml")):
        for group in yaml.safe_load(file.read_text(encoding="utf-8"))["groups"]:
            for rule in group["rules"]:
                yield f"rule {rule.get('alert') or rule['record']}", rule["expr"]
    text = (ROOT / "docs/METRICS.md").read_text(encoding="utf-8")
    block = text[text.index("## Queries"):text.index("## Dashboard")]
    for query in re.split(r"\n\s*\n", block):
        if query.lstrip().startswith("#") and "t410trace_" in query:
            yield "docs/METRICS.md", re.sub(r"^\s*#.*$", "", query, flags=re.M)


def check_queries():
    names, _ = exposition()
    rules = sorted((ROOT / "share/prometheus").glob("*.yml"))
    recorded = {name for file in rules for name in re.findall(r"record: (\S+)", file.read_text(encoding="utf-8"))}
    for where, query in queries():
        wrong = wrong_in_query(query, names, recorded)
        if wrong:
            yield f"{where}: unknown: {', '.join(wrong)}"
    if not wrong_in_query('rate(t410trace_nothing{socket="0"}[1m])', names, recorded):
        yield "an unknown metric is not found"
    if not wrong_in_query('t410trace_jobs_total{colour="red"}', names, recorded):
        yield "an unknown label is not found"


def check_documents():
    _, families = exposition()
    text = (ROOT / "docs/METRICS.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", text[text.index("## Families"):text.index("## How many")]))
    for family in sorted(families):
        short = family.removeprefix("t410trace_")
        if short not in named and f"{short}_info" not in named:
            yield f"docs/METRICS.md does not explain {family}"


def check_rules():
    done = subprocess.run(["promtool", "check", "rules", ROOT / "share/prometheus/t410trace.rules.yml"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"promtool check rules: {done.stderr or done.stdout}"


def check_unattributed():
    """Who has much unattributed traffic is told, where sources are told apart and where they are not."""
    names = "t410trace_memory_bytes_total", "t410trace_memory_unattributed_bytes_total"
    machines = {("t410", "cpu"): 50, ("epyc", "any"): 50, ("calm", "any"): 10, ("busy", "device"): 100}
    series = [
        {"series": f'{name}{{instance="{instance}",source="{source}"}}', "values": f"0+{step}x60"}
        for (instance, source), part in machines.items()
        for name, step in zip(names, (100, part))
    ]
    query = 'ALERTS{alertname="T410traceUnattributed", alertstate="firing"}'
    labels = 'alertname="T410traceUnattributed",alertstate="firing",severity="info"'
    wanted = [{"labels": f'ALERTS{{{labels},instance="{instance}"}}', "value": 1} for instance in ("epyc", "t410")]
    asked = {"expr": query, "eval_time": "50m", "exp_samples": wanted}
    yield from told_by_rules(series, [asked])


def told_by_rules(series, asked):
    test = {"interval": "1m", "input_series": series, "promql_expr_test": asked}
    rules = ROOT / "share/prometheus/t410trace.rules.yml"
    with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as file:
        json.dump({"rule_files": [str(rules)], "tests": [test]}, file)
        file.flush()
        done = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"promtool test rules: {done.stdout}{done.stderr}"


def check_stopped():
    """A daemon that closes no interval is told of in time, and one whose intervals are long is not."""
    steady = {f"{s}s": (s, "".join(f" {i * 60 // s}" for i in range(600))) for s in (10, 60, 300, 600, 900, 3600)}
    # It goes on for 200 minutes, then no more.
    stopped = {f"{s}s stopped": (s, "".join(f" {min(i, 200) * 60 // s}" for i in range(600))) for s in (10, 60, 600, 3600)}
    # One that is there for the last hour alone, with a count of before
    new = {"new": (3600, " _x540 7x60")}
    series = []
    for instance, (seconds, values) in {**steady, **stopped, **new}.items():
        series += [
            {"series": f't410trace_intervals_total{{instance="{instance}"}}', "values": values},
            {"series": f't410trace_interval_setting_seconds{{instance="{instance}"}}', "values": f"{seconds}x600"},
        ]
    query = 'ALERTS{alertname="T410traceIntervalsStopped", alertstate="firing"}'
    labels = 'alertname="T410traceIntervalsStopped",alertstate="firing",severity="warning"'
    asked = [
        {"expr": query, "eval_time": when,
         "exp_samples": [{"labels": f'ALERTS{{{labels},instance="{s}s stopped"}}', "value": 1} for s in seconds]}
        for when, seconds in (("199m", ()), ("215m", (10, 60)), ("275m", (10, 60, 600)), ("595m", (10, 60, 600, 3600)))
    ]
    yield from told_by_rules(series, asked)


def check_manifest():
    text = (ROOT / "packaging/kubernetes/daemonset.yaml").read_text(encoding="utf-8")
    objects = {o["kind"]: o for o in yaml.safe_load_all(text)}
    if set(objects) != {"Namespace", "ConfigMap", "DaemonSet"}:
        yield f"objects: {sorted(objects)}"
        return
    spec = objects["DaemonSet"]["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    if spec["selector"]["matchLabels"].items() - spec["template"]["metadata"]["labels"].items():
        yield "the selector does not fit the labels of its pods"
    if {m["name"] for m in container["volumeMounts"]} != {v["name"] for v in pod["volumes"]}:
        yield "volumes and mounts do not fit"
    unit = (ROOT / "packaging/systemd/t410trace.service").read_text(encoding="utf-8")
    wanted = set(re.search(r"^CapabilityBoundingSet=(.*)$", unit, re.M)[1].split())
    added = {f"CAP_{c}" for c in container["securityContext"]["capabilities"]["add"]}
    if added != wanted:
        yield f"capabilities {sorted(added)}, the systemd unit has {sorted(wanted)}"
    ports = {p["containerPort"] for p in container["ports"]}
    config = objects["ConfigMap"]["data"]["serve.conf"]
    if {int(p) for p in re.findall(r"^listen = .*:(\d+)$", config, re.M)} != ports:
        yield "settings and container do not agree on the port"
    done = subprocess.run([sys.argv[1], "serve", "--check-config", "--config", "/dev/stdin"], input=config,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"settings: {done.stderr}"


def main():
    failed = False
    for check in (check_queries, check_documents, check_rules, check_unattributed, check_stopped, check_manifest):
        name = f"metrics: {check.__name__.removeprefix('check_')}"
        problems = list(check())
        failed = failed or bool(problems)
        print(f"not ok {name}: {problems[0]}" if problems else f"ok {name}")
        for problem in problems[1:]:
            print(problem)
    return failed


if __name__ == "__main__":
    sys.exit(main())
