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
OF_PROMETHEUS = {"instance", "job", "cluster"}


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
    # no sample has a GPU
    source = (ROOT / "user/report/openmetrics/openmetrics_gpus.c").read_text(encoding="utf-8")
    for family in re.findall(r'"(t410trace_(?:workload_)?gpu_\w+)"', source):
        families.add(family)
        names[f"{family}_total"] = {"workload", "device", "UUID", "pci_bus_id", "direction"}
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


# A node for each alert: its series by minute, for five hours, beside those of a calm node. The name is that
# of the alert; labels are those that the alert has beside the node's.
NODES = {
    "T410traceDown": ("", {'up{job="t410trace"}': "1x10 0x290"}),
    "T410traceRestarts": ("", {"t410trace_start_time_seconds": "1x10 2x4 3x4 4x4 5x278"}),
    "T410traceUnhealthy": ('part="intervals"', {'t410trace_healthy{part="intervals"}': "1x10 0x290"}),
    "T410traceStoreFails": ('part="store"', {'t410trace_healthy{part="store"}': "1x10 0x290"}),
    "T410traceCountersFail": ('part="counters"', {'t410trace_healthy{part="counters"}': "1x10 0x290"}),
    "T410traceJobsDropped": ('event="dropped"', {'t410trace_jobs_total{event="dropped"}': "0x10 3x290"}),
    "T410traceReportsWait": ("", {"t410trace_unreported_jobs": "0x10 2x290"}),
    "T410traceReportsLost": ("", {'t410trace_reports_total{event="removed"}': "0x10 3x290"}),
    "T410traceReloadFailed": ("", {"t410trace_reload_successful": "1x10 0x290"}),
    "T410traceRestartNeeded": ("", {"t410trace_restart_needed": "1x2000"}),
    "T410traceCpuTimeLost": ("", {"t410trace_lost_cpu_seconds_total": "0+2x300",
                                  "t410trace_covered_seconds_total": "0+60x300"}),
    "T410traceCountersShared": (
        'counter="a"', {'t410trace_event_running_seconds_total{counter="a"}': "0+20x300",
                        't410trace_event_enabled_seconds_total{counter="a"}': "0+60x300"}),
    "T410traceUnattributed": ("", {'t410trace_memory_unattributed_bytes_total{source="cpu"}': "0+50x300",
                                   't410trace_memory_bytes_total{source="cpu"}': "0+100x300"}),
}
SEVERITIES = {"T410traceStoreFails": "critical", "T410traceJobsDropped": "critical", "T410traceRestartNeeded": "info",
              "T410traceCountersShared": "info", "T410traceUnattributed": "info"}


def alerts():
    rules = yaml.safe_load((ROOT / "share/prometheus/t410trace.rules.yml").read_text(encoding="utf-8"))
    return [rule["alert"] for group in rules["groups"] for rule in group["rules"] if "alert" in rule]


def of_node(series, node):
    return series.replace("}", f',instance="{node}"}}') if "{" in series else f'{series}{{instance="{node}"}}'


def check_alerts():
    """Each alert comes for the node that has its trouble, and for no other."""
    if set(NODES) | {"T410traceAbsent"} != set(alerts()):
        yield f"alerts without a test: {set(alerts()) ^ set(NODES)}"
    series = [{"series": of_node(name, alert), "values": values}
              for alert, (_, all_of_it) in NODES.items() for name, values in all_of_it.items()]
    asked = []
    for alert, (labels, all_of_it) in NODES.items():
        severity = SEVERITIES.get(alert, "warning")
        job = 'job="t410trace",' if alert == "T410traceDown" else ""
        sample = f'ALERTS{{alertname="{alert}",alertstate="firing",{job}severity="{severity}",instance="{alert}"'
        when = "1600m" if alert == "T410traceRestartNeeded" else "55m" if alert == "T410traceRestarts" else "110m"
        asked.append({"expr": f'ALERTS{{alertname="{alert}", alertstate="firing"}}', "eval_time": when,
                      "exp_samples": [{"labels": sample + (f",{labels}}}" if labels else "}"), "value": 1}]})
    yield from told_by_rules(series, asked)
    absent = 'ALERTS{alertname="T410traceAbsent",alertstate="firing",job="t410trace",severity="warning"}'
    yield from told_by_rules(
        [{"series": 'up{job="node"}', "values": "1x60"}],
        [{"expr": 'ALERTS{alertstate="firing"}', "eval_time": "30m", "exp_samples": [{"labels": absent, "value": 1}]}])


def steps(each, minutes=30, of=300):
    """A counter that grows by so much when an interval of half an hour is closed."""
    return " ".join(str(minute // minutes * each) for minute in range(of))


def check_long_intervals():
    """At interval = 30m, with little trouble of each kind, there is no alert at any time."""
    series = [
        {"series": of_node(name, "calm"), "values": values} for name, values in {
            'up{job="t410trace"}': "1x300",
            "t410trace_start_time_seconds": "1x100 2x200",
            **{f't410trace_healthy{{part="{part}"}}': "1x300" for part in ("intervals", "store", "counters")},
            't410trace_jobs_total{event="dropped"}': "5x300",
            't410trace_reports_total{event="removed"}': "7x300",
            "t410trace_unreported_jobs": "0x100 1x29 0x171",
            "t410trace_reload_successful": "1x300",
            "t410trace_restart_needed": "0x100 1x200",
            # 0.8 % of the time, 60 % of it, 15 % of the bytes
            "t410trace_lost_cpu_seconds_total": steps(14.4),
            "t410trace_covered_seconds_total": steps(1800),
            't410trace_event_running_seconds_total{counter="a"}': steps(1080),
            't410trace_event_enabled_seconds_total{counter="a"}': steps(1800),
            't410trace_memory_unattributed_bytes_total{source="cpu"}': steps(15),
            't410trace_memory_bytes_total{source="cpu"}': steps(100),
        }.items()
    ]
    asked = [{"expr": 'ALERTS{alertstate="firing"}', "eval_time": f"{minute}m", "exp_samples": []}
             for minute in range(5, 300, 7)]
    yield from told_by_rules(series, asked)


def check_restarts():
    """Counters that begin again, and series that come, go and are missing, are no trouble."""
    again = "0+{0}x59 _x3 0+{0}x237"
    series = [
        {"series": of_node(name, "calm"), "values": values} for name, values in {
            'up{job="t410trace"}': "1x59 0x3 1x237",
            "t410trace_start_time_seconds": "1x59 _x3 2x237",
            **{f't410trace_healthy{{part="{part}"}}': "1x59 _x3 1x237" for part in ("intervals", "store", "counters")},
            't410trace_jobs_total{event="dropped"}': "5x59 _x3 0x237",
            't410trace_reports_total{event="removed"}': "7x59 _x3 0x237",
            't410trace_reports_total{event="unwritten"}': "0x59 _x3 0x237",
            "t410trace_unreported_jobs": "0x59 _x3 0x237",
            "t410trace_reload_successful": "1x59 _x3 1x237",
            "t410trace_restart_needed": "1x59 _x3 0x237",
            "t410trace_lost_cpu_seconds_total": again.format(0.4),
            "t410trace_covered_seconds_total": again.format(60),
            't410trace_event_running_seconds_total{counter="a"}': again.format(36),
            't410trace_event_enabled_seconds_total{counter="a"}': again.format(60),
            # of one counter only one of both is there
            't410trace_event_running_seconds_total{counter="b"}': again.format(1),
            't410trace_memory_unattributed_bytes_total{source="cpu"}': again.format(15),
            't410trace_memory_bytes_total{source="cpu"}': again.format(100),
        }.items()
    ]
    # a machine without counters has no series of bytes, and one without jobs none of theirs
    series += [{"series": of_node(name, "bare"), "values": "1x300"}
               for name in ('up{job="t410trace"}', "t410trace_covered_seconds_total")]
    asked = [{"expr": 'ALERTS{alertstate="firing"}', "eval_time": f"{minute}m", "exp_samples": []}
             for minute in range(5, 300, 3)]
    yield from told_by_rules(series, asked)


def check_runbook():
    """Each alert has its line in SERVE.md."""
    text = (ROOT / "docs/SERVE.md").read_text(encoding="utf-8")
    text = text[text.index("## By symptom"):]
    for alert in alerts():
        if f"`{alert}`" not in text and f"`{alert.removeprefix('T410trace')}`" not in text:
            yield f"docs/SERVE.md, By symptom: nothing about {alert}"


def check_manifest():
    text = (ROOT / "packaging/kubernetes/daemonset.yaml").read_text(encoding="utf-8")
    objects = {o["kind"]: o for o in yaml.safe_load_all(text)}
    if set(objects) != {"Namespace", "PriorityClass", "NetworkPolicy", "ConfigMap", "DaemonSet"}:
        yield f"objects: {sorted(objects)}"
        return
    spec = objects["DaemonSet"]["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    if spec["selector"]["matchLabels"].items() - spec["template"]["metadata"]["labels"].items():
        yield "the selector does not fit the labels of its pods"
    if {m["name"] for m in container["volumeMounts"]} != {v["name"] for v in pod["volumes"]}:
        yield "volumes and mounts do not fit"
    if pod["priorityClassName"] != objects["PriorityClass"]["metadata"]["name"]:
        yield "the pods have a priority class that is not there"
    policy = objects["NetworkPolicy"]["spec"]
    if policy["podSelector"]["matchLabels"] != spec["selector"]["matchLabels"]:
        yield "the network policy is for other pods"
    if {p["port"] for p in policy["ingress"][0]["ports"]} != {p["containerPort"] for p in container["ports"]}:
        yield "the network policy is for another port"
    if container["readinessProbe"]["httpGet"]["path"] == "/healthz":
        yield "a node with a full disk would not be scraped"
    if not {"appArmorProfile", "seccompProfile"} <= container["securityContext"].keys():
        yield "nothing is said about AppArmor or seccomp"
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
    for check in (check_queries, check_documents, check_rules, check_unattributed, check_alerts, check_long_intervals,
                  check_restarts, check_runbook, check_manifest):
        name = f"metrics: {check.__name__.removeprefix('check_')}"
        problems = list(check())
        failed = failed or bool(problems)
        print(f"not ok {name}: {problems[0]}" if problems else f"ok {name}")
        for problem in problems[1:]:
            print(problem)
    return failed


if __name__ == "__main__":
    sys.exit(main())
