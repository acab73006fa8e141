#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""examples.py PROGRAM DOCUMENT...: makes the reports that documents show.

A comment names the arguments of t410trace, or a file; the indented lines below it are replaced by the
output, with --check only compared. Recording and files are in docs/examples ("make scene").

    <!-- example: report scene.rec --summary --by job -->

A number, as in "example 12:", keeps the first lines only.
"""
import pathlib
import re
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parent / "examples"
EXAMPLE = re.compile(r"^( *)<!-- example(?: (\d+))?: (.+) -->\n\n((?: {4}.*\n|\n(?= {4}))*)", re.M)


def shown(program, arguments, lines):
    """The output of the program, or the file: the first lines, or all."""
    file = EXAMPLES / arguments
    if file.is_file():
        text = file.read_text(encoding="utf-8").splitlines()
    else:
        run = subprocess.run([program, *arguments.split()], cwd=EXAMPLES, capture_output=True, text=True, check=False)
        if run.returncode not in (0, 3):
            sys.exit(f"examples.py: t410trace {arguments}: {run.stderr}")
        text = run.stdout.splitlines()
    if lines and len(text) > int(lines):
        text = text[:int(lines)] + ["..."]
    return "".join(f"    {line}".rstrip() + "\n" for line in text)


def renewed(program, text):
    """The document with the examples of this program."""
    def example(match):
        indent, lines, arguments, _ = match.groups()
        count = f" {lines}" if lines else ""
        return f"{indent}<!-- example{count}: {arguments} -->\n\n{shown(program, arguments, lines)}"
    return EXAMPLE.sub(example, text)


def main():
    check = sys.argv[1] == "--check"
    program, *documents = sys.argv[2 if check else 1:]
    program = str(pathlib.Path(program).resolve())
    for document in map(pathlib.Path, documents):
        old = document.read_text(encoding="utf-8")
        new = renewed(program, old)
        if new != old and check:
            print(f"{document} is not up to date: make docs")
        elif new != old:
            document.write_text(new, encoding="utf-8")


main()
