#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of the Makefile in a small tree, with a compiler that writes down what it was asked: what
is made again, for which machine, and where "make install" puts things."""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import each_test

ROOT = pathlib.Path(__file__).resolve().parents[2]
NATIVE, OTHER = ("arm64", "amd64") if platform.machine() == "aarch64" else ("amd64", "arm64")
ENVIRONMENT = {name: value for name, value in os.environ.items() if not re.match("MAKE|MFLAGS|ARCH$|C?FLAGS$", name)}
# The last file that is named with -o has all arguments.
COMPILER = """#!/bin/sh
for word; do [ "$before" = -o ] && out=$word; before=$word; done
[ -z "$out" ] || { echo "$@" > "$out"; echo "$out" >> made; }
"""
BPFTOOL = """#!/bin/sh
[ "$2" = object ] && echo > "$3" || echo
"""


class Tree:
    """The Makefile's tree, with a few sources and BPF programs"""

    def __init__(self, name):
        self.root = pathlib.Path(name)
        for part in ("Makefile", "tests/tests.mk", "README.md", "CHANGELOG.md", "LICENSE"):
            (self.root / part).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / part, self.root / part)
        for part in ("packaging", "share", "man", "completion", "include", "docs", "LICENSES"):
            shutil.copytree(ROOT / part, self.root / part)
        for source in ("user/cli/main.c", "user/cli/settings.c", "user/cli/shared_options.c", "user/platform/bpf/load.c", "bpf/maps.bpf.c",
                       "bpf/lookup.bpf.c", f"vmlinux/{NATIVE}/vmlinux.h", f"vmlinux/{OTHER}/vmlinux.h"):
            (self.root / source).parent.mkdir(parents=True, exist_ok=True)
            (self.root / source).touch()
        for tool, text in (("cc", COMPILER), ("cc2", COMPILER), ("bpftool", BPFTOOL)):
            (self.root / tool).write_text(text, encoding="utf-8")
            (self.root / tool).chmod(0o755)

    def make(self, *arguments, status=0, **environment):
        """What was made: names of files; or what it said, if it fails."""
        (self.root / "made").write_text("", encoding="utf-8")
        tools = ("CLANG=./cc", "BPFTOOL=./bpftool", *([] if any(a.startswith("CC=") for a in arguments) else ["CC=./cc"]))
        done = subprocess.run(["make", "-s", *tools, *arguments], cwd=self.root, env={**ENVIRONMENT, **environment},
                              capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == bool(status), (arguments, done.stderr)
        if status:
            return done.stderr
        return sorted(pathlib.Path(line).name for line in (self.root / "made").read_text(encoding="utf-8").split())


def in_tree(test):
    def wrapped():
        with tempfile.TemporaryDirectory() as name:
            test(Tree(name))
    return wrapped


@in_tree
def test_other_flags_make_it_again(tree):
    of_c = ["load.o", "main.o", "settings.o", "shared_options.o", "t410trace"]
    of_bpf = ["lookup.bpf.o", "maps.bpf.o"]
    assert tree.make() == sorted(of_c + of_bpf)
    assert not tree.make(), "it was made twice"
    for flags in ("CFLAGS=-O3", "CPPFLAGS=-DX='a b'", "LDFLAGS=-Wl,-z,now", "CC=./cc2"):
        # objects do not depend on how they are linked
        again = ["t410trace"] if flags.startswith("LDFLAGS") else of_c
        assert tree.make(flags) == again, flags
        assert not tree.make(flags), flags
        assert tree.make() == again, flags
    assert tree.make("CLANG=./cc2") == sorted([*of_bpf, "load.o", "t410trace"])
    assert set(of_bpf) < set(tree.make())
    # another build beside it, which knows its own
    assert tree.make("VARIANT=-x", "CFLAGS=-O0") == sorted(of_c + of_bpf)
    assert not tree.make() and not tree.make("VARIANT=-x", "CFLAGS=-O0")
    assert tree.make("SYSCONFDIR=/srv/etc") == ["settings.o", "shared_options.o", "t410trace"]


@in_tree
def test_commit(tree):
    """--version has it, and another one is no reason to compile more than what says so."""
    tree.make()
    for commit in ("0123456789", "abcdef0123+"):
        (tree.root / ".version").write_text(f"0.1.0~7.{commit} {commit} 1700000000\n", encoding="utf-8")
        assert tree.make() == ["main.o", "t410trace"], commit
        assert f'-DT410TRACE_COMMIT="{commit}"' in (tree.root / f"build/{NATIVE}/user/cli/main.o").read_text(encoding="utf-8")
    assert not tree.make()


def git(root, *words, **environment):
    names = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", "-c", "init.defaultBranch=main", *words], cwd=root, env={**ENVIRONMENT, **names, **environment},
                   check=True, capture_output=True)


@in_tree
def test_version_from_git(tree):
    """Before its tag a release sorts as older, after it as newer; changed files are said."""
    def said():
        done = subprocess.run(["packaging/version.sh"], cwd=tree.root, env=ENVIRONMENT, capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert said() == ["0.1.0", "-", "0"]
    git(tree.root, "init", "-q")
    git(tree.root, "add", "README.md", "packaging", "include")
    git(tree.root, "commit", "-q", "-m", "x", GIT_COMMITTER_DATE="1700000000 +0000")
    version, commit, when = said()
    assert re.fullmatch("[0-9a-f]{10}", commit) and version == f"0.1.0~1.{commit}" and when == "1700000000", said()
    git(tree.root, "tag", "v0.1.0")
    assert said() == ["0.1.0", commit, when]
    (tree.root / "README.md").write_text("changed\n", encoding="utf-8")
    assert said() == ["0.1.0+", f"{commit}+", when]
    git(tree.root, "commit", "-q", "-a", "-m", "y")
    version, commit, _ = said()
    assert version == f"0.1.0+1.{commit}"


@in_tree
def test_dist(tree):
    """The same to the byte from another folder, at another time, and from what it has unpacked itself"""
    git(tree.root, "init", "-q")
    git(tree.root, "add", ".")
    git(tree.root, "commit", "-q", "-m", "x")

    def dist(root):
        subprocess.run(["make", "-s", "dist"], cwd=root, env=ENVIRONMENT, capture_output=True, check=True)
        (made,) = (root / "build/dist").iterdir()
        return made

    first = dist(tree.root)
    subprocess.run(["tar", "-xzf", first], cwd=tree.root.parent, check=True)
    unpacked = tree.root.parent / first.name.removesuffix(".tar.gz")
    try:
        assert (unpacked / ".version").read_text(encoding="utf-8").split()[0] in first.name
        for file in unpacked.rglob("*.sh"):
            os.utime(file, (0, 0))
            file.chmod(0o700)
        assert dist(unpacked).read_bytes() == first.read_bytes()
    finally:
        shutil.rmtree(unpacked)


@in_tree
def test_machine_of_the_environment(tree):
    """As on the command line, never one machine's program with the types of another"""
    for machine in (NATIVE, OTHER):
        said = [subprocess.run(["make", "-n", *arguments], cwd=tree.root, env={**ENVIRONMENT, **environment},
                               capture_output=True, text=True, check=True).stdout
                for arguments, environment in (([f"ARCH={machine}"], {}), ([], {"ARCH": machine}))]
        assert said[0] == said[1], machine
        assert f"build/{machine}/t410trace" in said[1] and "-static" in said[1]
    assert "only arm64" in tree.make(status=1, ARCH="vax")


@in_tree
def test_install(tree):
    for place, prefix, etc in (("of packages", "/usr", "/srv/etc"), ("x", "/opt/my & our #1 tools", "/etc")):
        to = tree.root / place
        tree.make("install", f"DESTDIR={to}", f"PREFIX={prefix}", f"SYSCONFDIR={etc}")
        found = {str(path.relative_to(to)) for path in to.rglob("*") if path.is_file()}
        under = prefix.lstrip("/")
        assert {f"{under}/bin/t410trace", f"{under}/share/man/man1/t410trace.1", f"{etc[1:]}/t410trace/serve.conf",
                f"{under}/lib/sysusers.d/t410trace.conf", f"{etc[1:]}/apparmor.d/t410trace-serve",
                f"{under}/share/t410trace/t410trace.report-1.schema.json", f"{under}/share/doc/t410trace/docs/USE.md",
                f"{under}/share/doc/t410trace/LICENSES/GPL-2.0-only.txt"} <= found, found
        assert {name.split("/")[0] for name in found} == {under.split("/")[0], etc.split("/")[1]}, found
        text = {name: (to / under / name).read_text(encoding="utf-8") for name in
                ("lib/systemd/system/t410trace.service", "share/t410trace/slurm-epilog.sh", "share/man/man1/t410trace.1",
                 "share/doc/t410trace/docs/SLURM.md")}
        unit, epilog, page, document = text.values()
        assert f'\nExecStart="{prefix}/bin/t410trace" serve\n' in unit
        assert f'\nT410TRACE="{prefix}/bin/t410trace"\n' in epilog and f":-{etc}/t410trace/epilog.conf}}\n" in epilog
        assert f"{etc}/t410trace/serve.conf" in page
        assert f" {prefix}/share/t410trace/slurm-epilog.sh " in document
        for name, said in text.items():
            assert etc == "/etc" or not re.search(r"(?<!/srv)/etc/t410trace", said), name
            assert "/usr/local/bin/t410trace" not in said, name
        for script in ("slurm-epilog", "slurm-epilog-slurmctld", "slurm-merge"):
            assert (to / under / f"share/t410trace/{script}.sh").stat().st_mode & 0o777 == 0o755
        merge = (to / under / "lib/systemd/system/t410trace-merge.service").read_text(encoding="utf-8")
        assert f'\nExecStart="{prefix}/share/t410trace/slurm-merge.sh"\n' in merge
        assert f'\nT410TRACE="{prefix}/bin/t410trace"\n' in (to / under / "share/t410trace/slurm-merge.sh").read_text(encoding="utf-8")
        collect = (to / under / "share/t410trace/collect.sh").read_text(encoding="utf-8")
        assert f":-{etc}/t410trace/collect.conf}}\n" in collect and (to / f"{etc[1:]}/t410trace/collect.conf").exists()
        service = (to / under / "lib/systemd/system/t410trace-collect.service").read_text(encoding="utf-8")
        assert f'\nExecStart="{prefix}/share/t410trace/collect.sh"\n' in service
        assert {"t410trace.rules.yml", "t410trace-fleet.rules.yml"} <= {path.name for path in (to / under / "share/t410trace").iterdir()}
        for source in ("settings", "shared_options"):
            built = (tree.root / f"build/{NATIVE}/user/cli/{source}.o").read_text(encoding="utf-8")
            assert f'-DSERVE_CONFIG_FILE="{etc}/t410trace/serve.conf"' in built, built
        # settings that somebody made stay
        conf = to / f"{etc[1:]}/t410trace/serve.conf"
        conf.write_text("top = 3\n", encoding="utf-8")
        tree.make("install", f"DESTDIR={to}", f"PREFIX={prefix}", f"SYSCONFDIR={etc}")
        assert conf.read_text(encoding="utf-8") == "top = 3\n"
        tree.make("uninstall", f"DESTDIR={to}", f"PREFIX={prefix}", f"SYSCONFDIR={etc}")
        assert [path for path in to.rglob("*") if not path.is_dir()] == [conf]
        assert not [path for path in to.rglob("t410trace") if path != conf.parent]


def test_objects_for_headers():
    """What "make vmlinux" looks at for the types that are needed: all BPF programs can be compiled and linked."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / f"vmlinux/{NATIVE}/vmlinux.h", folder)
        done = subprocess.run(["vmlinux/compile.sh", folder], cwd=ROOT, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        objects = [pathlib.Path(name).name for name in done.stdout.split() if pathlib.Path(name).stat().st_size]
        assert objects == ["all.o", "lookup.bpf.o"], done.stdout


sys.exit(each_test.run_all("make", globals()))
