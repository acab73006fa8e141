# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A real Prometheus scrapes the metrics: a made-up machine, whose numbers are known, and the daemon."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import urllib.parse
import urllib.request

from daemon import Jobs, hold_port, new_job, serving, small_disk, wait_for
from held import held, move_held
from live import LIMIT_S, MS, clock_ns, precise, require, same_time

HERE = pathlib.Path(__file__).resolve().parent
SHARE = HERE.parent.parent / "share"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
# Who watches is not held up: a scrape that comes too late is not what is tested.
FIRST_OF_ALL = ["nice", "-n", "-20"]
# What the exporter makes up (each second that intervals cover), by a query of one value.
KNOWN_RATES = {
    'rate(t410trace_workload_memory_bytes_total{workload="slurm:1",socket="0",direction="read"}[10s])': 10e9,
    'rate(t410trace_workload_memory_bytes_total{workload="slurm:1",socket="0",direction="write"}[10s])': 4e9,
    'rate(t410trace_workload_memory_uncertainty_bytes_total{workload="slurm:1",direction="write"}[10s])': 0.5e9,
    'rate(t410trace_workload_memory_bytes_total{workload="none",socket="0",destination="gmem"}[10s])': 3e7,
    'rate(t410trace_workload_device_bytes_total{direction="read",workload!~"other|none"}[10s])': 6e7,
    'rate(t410trace_workload_cpu_seconds_total{workload="slurm:1"}[10s])': 40,
    'rate(t410trace_memory_bytes_total{socket="0",source="device"}[10s])': 3e9,
    'rate(t410trace_workload_memory_bytes_total{workload="slurm:1",direction="readwrite"}[10s])': 3e9,
    'rate(t410trace_workload_energy_joules_total{workload="slurm:1"}[10s])': 80,
    'sum(rate(t410trace_memory_attributed_bytes_total{source="cpu"}[10s]))': 17.63e9,
    'rate(t410trace_cpu_seconds_total{socket="1",mode="busy"}[10s])': 60,
    'rate(t410trace_self_seconds_total{part="process"}[10s])': 0.005,
    'rate(t410trace_event_running_seconds_total{counter="ucf0/mem_bytes_rd/src_loc_cpu=1,dst_rem=1"}[10s])': 0.5,
}
COVERED = "rate(t410trace_covered_seconds_total[10s])"
# Recorded where a node is at its limit or has a GPU, as in tests/cli/test_fleet_rules.py: not the exporter's
OF_OTHER_NODES = (
    "instance:t410trace_workload_at_limit:rate5m",
    "instance:t410trace_workload_gpu_idle:ratio_rate10m",
    "fleet:t410trace_gpus_held_idle:count",
)
# Of the dashboard, when all is chosen
VARIABLES = {"$cluster": ".*", "$job": ".*", "$instance": ".*", "$workload": ".*"}
# Of Prometheus itself: all must be 0.
COMPLAINTS = (
    "prometheus_target_scrapes_sample_duplicate_timestamp_total",
    "prometheus_target_scrapes_sample_out_of_order_total",
    "prometheus_target_scrapes_sample_out_of_bounds_total",
    "prometheus_target_scrapes_exceeded_sample_limit_total",
    "prometheus_target_scrapes_exceeded_body_size_limit_total",
    "prometheus_target_scrape_pool_exceeded_label_limits_total",
    "prometheus_rule_evaluation_failures_total",
)


def get(url, accept=None):
    request = urllib.request.Request(url, headers={"Accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
        return answer.headers.get("Content-Type"), answer.read().decode()


class Prometheus:
    """Debian's Prometheus, which scrapes itself and endpoints once a second."""

    def __init__(self, folder, *ports):
        program = shutil.which("prometheus")
        require(program, "prometheus is missing: make deps installs it")
        self.held = hold_port()
        self.port = self.held.getsockname()[1]
        self.log = folder / "prometheus.log"
        config = folder / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n"
            f"rule_files: ['{SHARE}/prometheus/*.rules.yml']\n"
            "scrape_configs:\n"
            f"- {{job_name: self, static_configs: [{{targets: ['127.0.0.1:{self.port}']}}]}}\n"
            f"- {{job_name: t410trace, static_configs: [{{targets: {[f'127.0.0.1:{port}' for port in ports]}}}]}}\n"
        )
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*FIRST_OF_ALL, program, f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with self.held:
            self.process.terminate()
            self.process.wait(LIMIT_S)

    def api(self, what, **arguments):
        _, text = get(f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(arguments)}")
        return json.loads(text)["data"]

    def query(self, expression, **at):
        found = self.api("query", query=expression, **at)["result"]
        return [(r["metric"], float(r["value"][1])) for r in found]

    def value(self, expression, **at):
        """A scrape that comes too late leaves nothing to find."""
        found = self.query(expression, **at)
        precise(len(found) == 1, f"{expression}: {len(found)} series instead of one")
        return found[0][1]

    def rules(self):
        """All rules, once each of them was evaluated."""
        found = [rule for group in self.api("rules")["groups"] for rule in group["rules"]]
        return None if any(rule["health"] == "unknown" for rule in found) else found

    def wait(self, expression):
        """Until there is something that the expression finds."""

        def found():
            with contextlib.suppress(OSError):
                return self.query(expression)
            require(self.process.poll() is None, f"Prometheus ended: {self.log.read_text()}")
            return None

        wait_for(f"Prometheus finds something for {expression}", found)

    def judge(self):
        """It took everything, without a complaint. It also complains when one of us gets no CPU for a second."""
        for target in self.api("targets")["activeTargets"]:
            precise(target["health"] == "up" and not target["lastError"],
                    f"target {target['scrapeUrl']}: {target['health']}, {target['lastError']}")
        for name in COMPLAINTS:
            for labels, value in self.query(name):
                precise(value == 0, f"{name} is {value}: {labels}")
        precise(self.value('min(min_over_time(up{job="t410trace"}[1m]))') == 1, "a target was down")
        dropped = 'scrape_samples_scraped{job="t410trace"} - scrape_samples_post_metric_relabeling'
        precise(self.value(f"max({dropped})") == 0, "samples were dropped")
        for line in self.log.read_text().splitlines():
            precise(not re.search(r"level=(warn|error)", line), f"Prometheus complains: {line}")
        # the newer format was agreed upon: the older one has no units
        units = {m["unit"] for m in self.api("targets/metadata", metric="t410trace_cpu_seconds")}
        precise(units == {"seconds"}, f"units of t410trace_cpu_seconds: {units}")


@contextlib.contextmanager
def made_up_machine(bed, *arguments):
    with subprocess.Popen([*FIRST_OF_ALL, bed.exporter, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()
    require(process.returncode == 0, f"exporter: exit status {process.returncode}")


def promtool(text):
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    require(done.returncode == 0 and not done.stderr, f"promtool check metrics: {done.stderr}")


def filled(query):
    for name, value in VARIABLES.items():
        query = query.replace(name, value)
    return query


def dashboard_queries():
    """All queries of the dashboard, with its variables filled in."""
    dashboard = json.loads((SHARE / "grafana/t410trace.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            text = target["expr"]
            for name, value in {"$__rate_interval": "10s", **VARIABLES}.items():
                text = text.replace(name, value)
            require("$" not in text, f"{panel['title']}: unknown variable in {text}")
            yield panel["title"], text
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
            require(found, f"variable {variable['name']}: {variable['query']}")
            yield f"variable {variable['name']}", f"count by ({found[2]}) ({filled(found[1])})"


def test_made_up_machine(bed):
    """Known rates arrive; jobs that come and go make no trouble; both formats are clean."""
    with made_up_machine(bed) as port, Prometheus(pathlib.Path(bed.scratch), port) as prometheus:
        prometheus.wait('count_over_time(up{job="t410trace"}[30s]) >= 15')
        for expression, expected in KNOWN_RATES.items():
            # both sides of the fraction are of the same scrapes, and so of the same intervals
            got = prometheus.value(f"{expression} / on() group_left() {COVERED}")
            precise(abs(got - expected) < 0.001 * expected, f"{expression}: {got}, not {expected}")
        # the edges of the range are not those of intervals
        covered = prometheus.value(COVERED)
        precise(abs(covered - 1) <= 0.1, f"{covered} seconds are covered each second")
        # none is shorter
        closed = prometheus.value(f"rate(t410trace_intervals_total[10s]) / {COVERED}")
        precise(1 < closed < 4.01, f"{closed} intervals a second")
        names = {m.get("name") for m, _ in prometheus.query("t410trace_workload_info")}
        precise({"lbm", 'say "hi"\n'} <= names, f"names of workloads: {names}")
        # what workloads and "other" did is what was attributed, to the byte, since the first scrape
        at = time.time()
        both = [prometheus.value(f"sum({name}{{source=\"cpu\"}})", time=at) for name in
                ("t410trace_workload_memory_bytes_total", "t410trace_memory_attributed_bytes_total")]
        require(both[0] <= both[1], f"workloads have {both[0]}, more than the machine's {both[1]}")
        prometheus.judge()
        url = f"http://127.0.0.1:{port}/metrics"
        kind, text = get(url, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
        require(kind == OPENMETRICS and text.endswith("# EOF\n"), f"{kind}: {text[-100:]}")
        kind, text = get(url)
        require(kind.startswith("text/plain; version=0.0.4"), kind)
        promtool(text)


def test_dashboard_and_rules(bed):
    """Every query of the dashboard and every recorded series finds something."""
    with made_up_machine(bed) as port, Prometheus(pathlib.Path(bed.scratch), port) as prometheus:
        prometheus.wait('count_over_time(up{job="t410trace"}[30s]) >= 8')
        prometheus.wait('instance:t410trace_memory_unattributed:ratio_rate5m')
        for title, expression in dashboard_queries():
            # one after the other: some need a scrape or two more than others
            wait_for(f"{title}: something for {expression}", lambda e=expression: prometheus.query(e))
        rules = wait_for("all rules to have had their turn", prometheus.rules)
        require(len(rules) >= 9, f"{len(rules)} rules")
        for rule in rules:
            precise(rule["health"] == "ok", f"rule {rule['name']}: {rule}")
            if rule["type"] == "recording" and rule["name"] not in OF_OTHER_NODES:
                prometheus.wait(rule["name"])
        prometheus.judge()


def last_values(ports, series):
    """Sum over the pages of what a series had before it ended."""
    last = {}

    def all_ended():
        ended = 0
        for port in ports:
            found = re.findall(rf"^{re.escape(series)} (\S+)", get(f"http://127.0.0.1:{port}/metrics")[1], re.M)
            last.update({port: float(value) for value in found})
            ended += port in last and not found
        return ended == len(ports)

    wait_for(f"the end of {series}", all_ended)
    return sum(last.values())


def test_three_nodes(bed):
    """A job on three nodes: its rate is the sum, and so is, to the byte, what it has moved, after it has ended."""
    with contextlib.ExitStack() as stack:
        ports = [stack.enter_context(made_up_machine(bed, str(times))) for times in (1, 2, 3)]
        prometheus = stack.enter_context(Prometheus(pathlib.Path(bed.scratch), *ports))
        one = 't410trace_workload_memory_bytes_total{workload="slurm:50"'
        prometheus.wait(f"count(count_over_time({one}}}[30s]) >= 8) == 3")
        at = time.time()
        # both sides are of the same scrapes; the nodes begin their intervals at times of their own
        seconds = prometheus.value("avg(rate(t410trace_covered_seconds_total[6s]))", time=at)
        rate = prometheus.value(f"sum(rate({one}}}[6s]))", time=at)
        precise(abs(rate - 6e9 * seconds) < 0.02 * 6e9, f"the job moves {rate} B/s in {seconds} s a second, not 6e9")
        prometheus.wait('fleet:t410trace_workload_nodes:count{workload="slurm:50"} == 3')
        ratio = 'fleet:t410trace_workload_imbalance:ratio_rate5m{workload="slurm:50"}'
        prometheus.wait(f"abs({ratio} - 1.5) < 0.05")
        moved = last_values(ports, f'{one},socket="0",source="cpu",direction="read",destination="cmem"}}')
        prometheus.wait(f"absent({one}}})")
        total = prometheus.value(f"sum(last_over_time({one}}}[1d]))")
        # a scrape that came too late has not seen the end
        precise(total == moved > 0, f"the job has moved {moved} bytes by the pages, {total} by Prometheus")
        prometheus.judge()


def series_of(daemon, series):
    """Value of a series on the page, if it is there."""
    found = re.findall(rf"^{re.escape(series)} (\S+)", daemon.get("/metrics"), re.M)
    return float(found[0]) if found else None


def account_and_series(daemon, job, series):
    """CPU time of a job in its account and in its series (ns), both after the same interval."""

    def both():
        before = daemon.any_health()["intervals"]
        jobs = json.loads(daemon.get("/jobs"))["jobs"]
        (account,) = [one["on_cpu_ns"] for one in jobs if one["job"]["id"] == str(job)]
        value = series_of(daemon, series)
        return (account, round(value * 1e9)) if daemon.any_health()["intervals"] == before else None

    return wait_for("three pages of one interval", both)


def check_load(bed, daemon, prometheus, job, step):
    """A busy loop in a job: its CPU time in Prometheus grows as its account does, and that as its own clock."""
    series = f't410trace_workload_cpu_seconds_total{{workload="slurm:{job}"}}'
    with bed.process("sh", "-c", "while :; do :; done") as load:
        elsewhere = move_held(load, step)
        prometheus.wait(f"count_over_time({series}[30s]) >= 8")
        # The interval with which series begin is in "other".
        first = account_and_series(daemon, job, series)
        at = time.time()
        mine = prometheus.value(f"rate({series}[6s])", time=at)
        busy = prometheus.value('sum(rate(t410trace_cpu_seconds_total{mode="busy"}[6s]))', time=at)
        workloads = prometheus.value("sum(rate(t410trace_workload_cpu_seconds_total[6s]))", time=at)
        # an interval that is closed late has its time in fewer seconds
        precise(0 < mine < 1.1, f"a busy loop has {mine} CPUs")
        # series that came or went within the time are extended
        precise(mine < workloads < busy * 1.2 + 0.2, f"workloads {workloads} CPUs, all {busy}")
        with held(load):
            used = clock_ns(load.pid) - elsewhere
            daemon.wait_intervals(1)
            last = account_and_series(daemon, job, series)
            same_time("the account", last[0], used, 3 * MS)
            require(last[1] - first[1] == last[0] - first[0], f"series and account: {first}, then {last}")
            prometheus.wait(f"abs({series} - {last[1] / 1e9}) < 1e-8")
        load.kill()
    return series


def test_daemon(bed):
    """The real daemon without counters: a job gets series, and they end some time after it."""
    job = new_job()
    with small_disk(bed, "disk", "50m") as disk, Jobs() as jobs, serving(
        bed, interval="500ms", spool=disk / "spool", state=disk / "accounts.db"
    ) as daemon:
        daemon.start()
        os.setpriority(os.PRIO_PROCESS, daemon.process.pid, -20)
        with Prometheus(pathlib.Path(bed.scratch), daemon.port) as prometheus:
            step = jobs.top / jobs.begin(job) / "step_0"
            series = check_load(bed, daemon, prometheus, job, step)
            jobs.end(job)
            daemon.report(job)
            info = prometheus.query(f't410trace_workload_info{{workload="slurm:{job}"}}')
            precise(info, "no info of the job")
            require(info[0][0]["scheduler"] == "slurm" and info[0][0]["id"] == str(job), f"info: {info}")
            # as many intervals as there were in the last 90 seconds: not more than there were at all
            daemon.wait_intervals(daemon.any_health()["intervals"] + 2)
            require(series_of(daemon, series) is None, "the series of a job that ended stay")
            wait_for("the end of the series", lambda: not prometheus.query(series))
            promtool(daemon.get("/metrics"))
            prometheus.judge()
        daemon.stop()


def test_three_daemons(bed):
    """What Prometheus keeps of a job that has ended is the sum of its closing reports, less the intervals that began its series."""
    job = new_job()
    series = f't410trace_workload_cpu_seconds_total{{workload="slurm:{job}"}}'
    with Jobs() as jobs, contextlib.ExitStack() as stack:
        daemons = [
            stack.enter_context(serving(bed, folder=bed.scratch / f"node{ms}", interval=f"{ms}ms")) for ms in (300, 500, 700)
        ]
        for daemon in daemons:
            daemon.start()
            os.setpriority(os.PRIO_PROCESS, daemon.process.pid, -20)
        prometheus = stack.enter_context(Prometheus(pathlib.Path(bed.scratch), *(daemon.port for daemon in daemons)))
        step = jobs.top / jobs.begin(job) / "step_0"
        with bed.process("sh", "-c", "while :; do :; done") as load:
            move_held(load, step)
            prometheus.wait(f"count(count_over_time({series}[1m]) >= 8) == 3")
            load.kill()
        jobs.end(job)
        reports = [daemon.report(job) for daemon in daemons]
        prometheus.wait(f"absent({series})")
        used = sum(report["on_cpu_ns"] for report in reports) / 1e9
        kept = prometheus.value(f"sum(last_over_time({series}[1d]))")
        increase = prometheus.value(f"sum(increase({series}[5m]))")
        # the first interval of each; one that is closed late is longer
        longest = sum(report["quality"]["covered_ns"] / report["quality"]["intervals"] for report in reports) / 1e9
        print(f"# three daemons: closing reports {used:.3f} s of CPU time, last values {used - kept:.3f} s less, "
              f"increase() {used - increase:.3f} s less; their intervals are {longest:.3f} s in all")
        precise(0 <= used - kept < 3 * longest, f"{kept} s are kept, the job has used {used} s")
        prometheus.judge()
        for daemon in daemons:
            daemon.stop()


TESTS = [test_made_up_machine, test_dashboard_and_rules, test_three_nodes, test_daemon, test_three_daemons]
