#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""pictures.py T410TRACE FOLDER MAKE_ACCOUNTS: the pictures of docs/PAGE.md, from an invented recording.

That of a job is from invented accounts.
"""

import pathlib
import subprocess
import sys
import tempfile

import scene
from browser import Browser


def take(page, folder):
    with Browser(1000, 760) as b:
        b.open(page, "#t=0~40")
        b.run("document.querySelector('#plot-socket-0 h3').scrollIntoView()")
        b.at("plot-socket-0", 0.62, 0.8)
        b.run("scrollTo(0, 0)")
        b.picture(folder / "page.png")
        b.open(page, "#row=pid%3A5150%3A5150")
        b.run("document.querySelector('#selected').scrollIntoView()")
        b.picture(folder / "selected.png")
        b.dark(True)
        b.open(page)
        b.run("scrollTo(0, 0)")
        b.picture(folder / "dark.png")
    with Browser(400, 760) as b:
        b.open(page)
        b.picture(folder / "narrow.png")


def take_job(program, maker, directory, folder):
    store, out = directory / "accounts.db", directory / "job.html"
    subprocess.run([maker, store, "course=30"], check=True)
    # status 3: the account has a gap
    subprocess.run([program, "job", "30", "--state", store, "--html", out], check=False)
    with Browser(1000, 940) as b:
        b.open(out)
        b.at("plot-memory", 0.6, 0.5)
        b.picture(folder / "job.png")


if __name__ == "__main__":
    destination = pathlib.Path(sys.argv[2])
    destination.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        trace, out = pathlib.Path(directory) / "scene.ndjson", pathlib.Path(directory) / "page.html"
        scene.write(trace)
        subprocess.run([sys.argv[1], "report", trace, "--html", out], check=True)
        take(out, destination)
        take_job(sys.argv[1], sys.argv[3], pathlib.Path(directory), destination)
    # A quarter of the size, and nobody sees it
    names = [str(destination / f"{name}.png") for name in ("page", "selected", "dark", "narrow", "job")]
    subprocess.run(["pngquant", "--force", "--ext", ".png", "--strip", *names], check=True)
