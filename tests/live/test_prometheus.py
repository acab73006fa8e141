# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A real Prometheus scrapes the metrics: a made-up machine, whose numbers are known, and the daemon."""

import contextlib
import json
import pathlib
import re
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request

from daemon import Jobs, serving
from live import require

HERE = pathlib.Path(__file__).resolve().parent
SHARE = HERE.parent.parent / "share"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
LIMIT_S = 60
JOB = 410410
# What the exporter makes up (bytes per second), by a query of one value.
KNOWN_RATES = {
    'rate(t410trace_workload_memory_bytes_total{workload="slurm:1",socket="0",direction="read"}[10s])': 10e9,
    'rate(t410trace_workload_memory_bytes_total{workload="slurm:1",socket="0",direction="write"}[10s])': 4e9,
    'rate(t410trace_workload_memory_uncertainty_bytes_total{workload="slurm:1",direction="write"}[10s])': 0.5e9,
    'rate(t410trace_workload_memory_bytes_total{workload="none",socket="0",destination="gmem"}[10s])': 3e7,
    'rate(t410trace_workload_device_bytes_total{direction="read",workload!~"other|none"}[10s])': 6e7,
    'rate(t410trace_workload_cpu_seconds_total{workload="slurm:1"}[10s])': 40,
    'rate(t410trace_memory_bytes_total{socket="0",source="device"}[10s])': 3e9,
    'sum(rate(t410trace_memory_attributed_bytes_total{source="cpu"}[10s]))': 17.13e9,
    'rate(t410trace_cpu_seconds_total{socket="1",mode="busy"}[10s])': 60,
    'rate(t410trace_self_seconds_total{part="process"}[10s])': 0.005,
    'rate(t410trace_event_running_seconds_total{counter="ucf0/mem_bytes_rd/src_loc_cpu=1,dst_rem=1"}[10s])': 0.5,
    "rate(t410trace_intervals_total[10s])": 4,
}
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


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url, accept=None):
    request = urllib.request.Request(url, headers={"Accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers.get("Content-Type"), answer.read().decode()


class Prometheus:
    """Debian's Prometheus, which scrapes itself and one endpoint once a second."""

    def __init__(self, folder, port):
        program = shutil.which("prometheus")
        require(program, "prometheus is missing: make deps installs it")
        self.port = free_port()
        self.log = folder / "prometheus.log"
        config = folder / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n"
            f"rule_files: ['{SHARE}/prometheus/t410trace.rules.yml']\n"
            "scrape_configs:\n"
            f"- {{job_name: self, static_configs: [{{targets: ['127.0.0.1:{self.port}']}}]}}\n"
            f"- {{job_name: t410trace, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}\n"
        )
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [program, f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait(LIMIT_S)

    def api(self, what, **arguments):
        _, text = get(f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(arguments)}")
        return json.loads(text)["data"]

    def query(self, expression):
        return [(r["metric"], float(r["value"][1])) for r in self.api("query", query=expression)["result"]]

    def value(self, expression):
        found = self.query(expression)
        require(len(found) == 1, f"{expression}: {len(found)} series instead of one")
        return found[0][1]

    def wait(self, expression):
        """Until there is something that the expression finds."""
        end = time.monotonic() + LIMIT_S
        while True:
            with contextlib.suppress(OSError):
                if self.query(expression):
                    return
            require(time.monotonic() < end, f"Prometheus finds nothing for {expression}: {self.log.read_text()}")
            time.sleep(0.2)

    def judge(self):
        """It took everything, without a complaint."""
        for target in self.api("targets")["activeTargets"]:
            require(target["health"] == "up" and not target["lastError"],
                    f"target {target['scrapeUrl']}: {target['health']}, {target['lastError']}")
        for name in COMPLAINTS:
            for labels, value in self.query(name):
                require(value == 0, f"{name} is {value}: {labels}")
        require(self.value('min_over_time(up{job="t410trace"}[1m])') == 1, "the target was down")
        require(self.value('scrape_samples_scraped{job="t410trace"}')
                == self.value('scrape_samples_post_metric_relabeling{job="t410trace"}'), "samples were dropped")
        for line in self.log.read_text().splitlines():
            require(not re.search(r"level=(warn|error)", line), f"Prometheus complains: {line}")
        # the newer format was agreed upon: the older one has no units
        units = {m["unit"] for m in self.api("targets/metadata", metric="t410trace_cpu_seconds")}
        require(units == {"seconds"}, f"units of t410trace_cpu_seconds: {units}")


@contextlib.contextmanager
def made_up_machine(bed):
    with subprocess.Popen([bed.exporter], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()
    require(process.returncode == 0, f"exporter: exit status {process.returncode}")


def promtool(text):
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    require(done.returncode == 0 and not done.stderr, f"promtool check metrics: {done.stderr}")


def dashboard_queries():
    """All queries of the dashboard, with its variables filled in."""
    dashboard = json.loads((SHARE / "grafana/t410trace.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            text = target["expr"]
            for name, value in {"$__rate_interval": "10s", "$instance": ".*", "$workload": ".*"}.items():
                text = text.replace(name, value)
            require("$" not in text, f"{panel['title']}: unknown variable in {text}")
            yield panel["title"], text
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
            require(found, f"variable {variable['name']}: {variable['query']}")
            yield f"variable {variable['name']}", f"count by ({found[2]}) ({found[1].replace('$instance', '.*')})"


def test_made_up_machine(bed):
    """Known rates arrive; jobs that come and go make no trouble; both formats are clean."""
    with made_up_machine(bed) as port, Prometheus(pathlib.Path(bed.scratch), port) as prometheus:
        prometheus.wait('count_over_time(up{job="t410trace"}[30s]) >= 15')
        for expression, expected in KNOWN_RATES.items():
            got = prometheus.value(expression)
            # the edges of the range are not those of intervals
            require(abs(got - expected) < 0.1 * expected, f"{expression}: {got}, not {expected}")
        names = {m.get("name") for m, _ in prometheus.query("t410trace_workload_info")}
        require({"lbm", 'say "hi"\n'} <= names, f"names of workloads: {names}")
        # what workloads and "other" did is what was attributed, to the byte, since the first scrape
        both = [prometheus.value(f"sum({name}{{source=\"cpu\"}})") for name in
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
            require(prometheus.query(expression), f"{title}: nothing for {expression}")
        rules = [r for g in prometheus.api("rules")["groups"] for r in g["rules"]]
        require(len(rules) >= 9, f"{len(rules)} rules")
        for rule in rules:
            require(rule["health"] == "ok", f"rule {rule['name']}: {rule}")
            if rule["type"] == "recording":
                require(prometheus.query(rule["name"]), f"nothing for {rule['name']}")
        prometheus.judge()


def test_daemon(bed):
    """The real daemon without counters: a job gets series, and they end some time after it."""
    with Jobs() as jobs, serving(bed, interval="500ms") as daemon:
        daemon.start()
        with Prometheus(pathlib.Path(bed.scratch), daemon.port) as prometheus:
            jobs.begin(JOB)
            cpu = f't410trace_workload_cpu_seconds_total{{workload="slurm:{JOB}"}}'
            end = time.monotonic() + LIMIT_S
            with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as load:
                try:
                    jobs.move(f"slurmstepd.scope/job_{JOB}/step_0", load.pid)
                    prometheus.wait(f"count_over_time({cpu}[30s]) >= 8")
                    mine = prometheus.value(f"rate({cpu}[6s])")
                    busy = prometheus.value('sum(rate(t410trace_cpu_seconds_total{mode="busy"}[6s]))')
                    workloads = prometheus.value("sum(rate(t410trace_workload_cpu_seconds_total[6s]))")
                finally:
                    load.kill()
            jobs.end(JOB)
            require(0.2 < mine < 1.1, f"a busy loop has {mine} CPUs")
            require(mine < workloads < busy * 1.2 + 0.2, f"workloads {workloads} CPUs, all {busy}")
            info = prometheus.query(f't410trace_workload_info{{workload="slurm:{JOB}"}}')
            require(info and info[0][0]["scheduler"] == "slurm" and info[0][0]["id"] == str(JOB), f"info: {info}")
            while prometheus.query(cpu):
                require(time.monotonic() < end, "the series of a job that ended stay")
                time.sleep(0.5)
            promtool(daemon.get("/metrics"))
            prometheus.judge()
        daemon.stop()


TESTS = [test_made_up_machine, test_dashboard_and_rules, test_daemon]
