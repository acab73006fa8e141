#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""packaging/kubernetes/daemonset.yaml, without a cluster; prints "ok" or "not ok" for each test.

kubernetes.py types FOLDER: is it what Kubernetes' API knows? The types of its OpenAPI description
    (1.30) are fetched with npm into FOLDER, and TypeScript's compiler holds the manifest beside
    them: unknown keys, wrong kinds of values, what must be there. Wrong ones must be refused.
kubernetes.py run ROOT FOLDER [EMULATOR]: runc runs the container of the manifest with the files of
    an image in ROOT, and is asked what a kubelet and Prometheus ask. No cluster gives it a network
    and secures it; privileges, mounts, arguments and settings are those of the manifest.
"""

import copy
import json
import pathlib
import re
import subprocess
import sys
import time

import yaml

MANIFEST = pathlib.Path(__file__).resolve().parents[1] / "packaging/kubernetes/daemonset.yaml"
# of capability.h
BITS = {"CAP_DAC_READ_SEARCH": 2, "CAP_NET_ADMIN": 12, "CAP_SYS_PTRACE": 19, "CAP_SYS_ADMIN": 21, "CAP_PERFMON": 38, "CAP_BPF": 39}
PACKAGES = ("typescript@5.4.5", "kubernetes-types@1.30.0")
MODULES = {"v1": "core/v1", "apps/v1": "apps/v1", "networking.k8s.io/v1": "networking/v1",
           "scheduling.k8s.io/v1": "scheduling/v1"}


def source(objects):
    """They as a program that only has to fit the types."""
    lines = []
    for n, o in enumerate(objects):
        lines += [f'import {{ {o["kind"]} as Kind{n} }} from "kubernetes-types/{MODULES[o["apiVersion"]]}";',
                  f"export const object{n}: Kind{n} = {json.dumps(o, indent=1)};"]
    return "\n".join(lines)


def changed(objects, kind, path, value):
    """A copy, with another value at path in the object of that kind; None removes it."""
    objects = copy.deepcopy(objects)
    place = next(o for o in objects if o["kind"] == kind)
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return objects


def judge(name, fine, said):
    print(f"ok packages {name}" if fine else f"not ok packages {name}: {said}", flush=True)


def objects_of_manifest():
    return list(yaml.safe_load_all(MANIFEST.read_text(encoding="utf-8")))


def types(folder):
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["npm", "install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", *PACKAGES],
                          cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"skip packages manifest: its types cannot be had: {' '.join(done.stderr.split())[:200]}")
        return
    objects = objects_of_manifest()
    container = ["spec", "template", "spec", "containers", 0]
    wrong = {
        "unknown key": ("DaemonSet", [*container, "securityContext", "seccompProfil"], {"type": "Unconfined"}, "seccompProfil"),
        "wrong place": ("DaemonSet", ["spec", "maxUnavailable"], "10%", "maxUnavailable"),
        "word for a truth": ("DaemonSet", [*container, "securityContext", "allowPrivilegeEscalation"], "no", "boolean"),
        "lacking key": ("DaemonSet", ["spec", "selector"], None, "selector"),
        "word for a number": ("PriorityClass", ["value"], "high", "number"),
        "list for a number": ("NetworkPolicy", ["spec", "ingress", 0, "ports", 0, "port"], [9410], "number[]"),
    }
    texts = {"manifest": objects, **{name: changed(objects, *how[:3]) for name, how in wrong.items()}}
    files = {name: f"{name.replace(' ', '-')}.ts" for name in texts}
    for name, file in files.items():
        (folder / file).write_text(source(texts[name]), encoding="utf-8")
    done = subprocess.run(["node", "node_modules/typescript/bin/tsc", "--noEmit", "--strict", *files.values()], cwd=folder,
                          capture_output=True, text=True, check=False)
    said = {name: [line for line in done.stdout.splitlines() if line.startswith(f"{file}(")] for name, file in files.items()}
    # the wrong ones are errors: without any the compiler has not looked
    fits = done.returncode and not said["manifest"] and any(said.values())
    judge("manifest", fits, said["manifest"] or done.stdout + done.stderr)
    for name, how in wrong.items():
        judge(f"manifest with {name}", any(how[3] in line for line in said[name]), said[name] or "accepted")


def bundle(root, folder, emulator):
    """What a container runtime is told for the pod's container, as the kubelet would."""
    objects = {o["kind"]: o for o in objects_of_manifest()}
    pod = objects["DaemonSet"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    secure = container["securityContext"]
    assert secure["seccompProfile"]["type"] == "Unconfined" and not secure["privileged"] and pod["hostPID"]
    names = {f["valueFrom"]["fieldRef"]["fieldPath"]: f["name"] for f in container["env"]}
    env = {names["spec.nodeName"]: "node7"}
    args = [re.sub(r"\$\((\w+)\)", lambda m: env[m[1]], a) for a in container["args"]]
    mounts = [("/proc", "proc", "proc", ["nosuid", "noexec", "nodev"]), ("/dev", "tmpfs", "tmpfs", ["nosuid", "mode=755"]),
              ("/sys", "sysfs", "sysfs", ["nosuid", "noexec", "nodev", "ro"])]
    volumes = {v["name"]: v for v in pod["volumes"]}
    for m in container["volumeMounts"]:
        host = volumes[m["name"]].get("hostPath", {}).get("path", "")
        if not host.startswith("/sys"):
            # the node's folders, and what the kubelet makes of the settings
            host = str(folder / m["name"])
            pathlib.Path(host).mkdir(exist_ok=True)
        mounts.append((m["mountPath"], "bind", host, ["rbind", "ro" if m.get("readOnly") else "rw"]))
    # this machine has no counters, and a test no time
    settings = objects["ConfigMap"]["data"]["serve.conf"].replace("interval = 10s", "interval = 1s") + "counters = no\n"
    (folder / "config/serve.conf").write_text(settings, encoding="utf-8")
    caps = [f"CAP_{c}" for c in secure["capabilities"]["add"]]
    return {
        "ociVersion": "1.0.2", "hostname": "t410trace-x7k2p", "root": {"path": str(root), "readonly": secure["readOnlyRootFilesystem"]},
        "process": {
            "args": [*emulator, "/usr/bin/t410trace", *args], "cwd": "/", "env": [f"{k}={v}" for k, v in env.items()],
            "user": {"uid": secure["runAsUser"], "gid": secure["runAsGroup"]},
            "noNewPrivileges": not secure["allowPrivilegeEscalation"],
            "capabilities": {kind: caps for kind in ("bounding", "effective", "permitted")},
        },
        "mounts": [{"destination": to, "type": kind, "source": of, "options": how} for to, kind, of, how in mounts],
        "linux": {"namespaces": [{"type": kind} for kind in ("mount", "ipc", "uts", "network", "cgroup")],
                  "maskedPaths": ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware"],
                  "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]},
    }


def asked(pid, path):
    """Status and text, by an address as the kubelet has it, from the pod's network"""
    done = subprocess.run(["nsenter", f"--net=/proc/{pid}/ns/net", "curl", "-s", "-m", "5", "-w", "\n%{http_code}", "-H",
                           "Host: 10.244.1.7:9410", f"http://127.0.0.1:9410{path}"], capture_output=True, text=True, check=False)
    text, _, status = done.stdout.rpartition("\n")
    return status, text


def run(root, folder, *emulator):
    folder.mkdir(parents=True, exist_ok=True)
    config = bundle(root, folder, emulator)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    name = f"t410trace-{time.time_ns()}"
    runc = ["runc", "--root", str(folder / "runc")]
    with open(folder / "log", "w", encoding="utf-8") as log:
        subprocess.run([*runc, "run", "-d", "-b", str(folder), name], stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
    try:
        state = json.loads(subprocess.run([*runc, "state", name], capture_output=True, text=True, check=True).stdout)
        pid = state["pid"]
        subprocess.run(["nsenter", f"--net=/proc/{pid}/ns/net", "ip", "link", "set", "lo", "up"], check=True)
        container = objects_of_manifest()[-1]["spec"]["template"]["spec"]["containers"][0]
        probes = {kind: container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")}
        for _ in range(100):
            if asked(pid, probes["startup"])[0] == "200":
                break
            time.sleep(0.2)
        for kind, path in probes.items():
            status, text = asked(pid, path)
            judge(f"pod {kind}", status == "200", f"{path}: {status} {text[:200]} {(folder / 'log').read_text(encoding='utf-8')}")
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        wanted = sum(1 << BITS[c] for c in config["process"]["capabilities"]["bounding"])
        has = {key: int(re.search(rf"^{key}:\s*(\w+)", status, re.M)[1], 16) for key in ("CapEff", "CapPrm", "CapBnd", "CapInh")}
        judge("pod capabilities", has["CapBnd"] == wanted and not any(v & ~wanted for v in has.values()), has)
        judge("pod names", asked(pid, "/jobs")[0] == "403", "anybody may read names")
        done = subprocess.run([*runc, "exec", name, *emulator, "/usr/bin/t410trace", "jobs", "--json"], capture_output=True, text=True,
                              check=False)
        judge("pod jobs", done.returncode == 0 and json.loads(done.stdout)["host"]["name"] == "node7", done.stdout[:300] + done.stderr)
    finally:
        subprocess.run([*runc, "delete", "-f", name], check=False)


if sys.argv[1] == "types":
    types(pathlib.Path(sys.argv[2]))
else:
    run(pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve(), *sys.argv[4:])
