"""walkthrough - a document is done as it says: every file saved, every command
run, and every line that it shows found in what the command says. Numbers and
names of machines may differ."""

import os
import re
import subprocess

import tap
import tree
from harness import PATIENCE, bin_dir

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
VARIES = re.compile(r"[0-9a-f]{16,32}|[0-9]+(\.[0-9]+)?(e-?[0-9]+)?(ms|s|m|h)?")


def shape(line):
    return re.sub(r"\s+", " ", VARIES.sub("#", line)).strip()


def steps(text):
    """("save", name, content) and ("run", command, lines) in order."""
    for found in FENCE.finditer(text):
        kind, content = found.groups()
        if kind == "console":
            for part in re.split(r"^\$ ", content, flags=re.M)[1:]:
                command, *lines = part.rstrip("\n").split("\n")
                yield "run", command, lines
        else:
            before = text[:found.start()].rsplit("Save this as `", 1)[1]
            yield "save", before.split("`")[0], content


def run(home, command, lines):
    """Runs a command, which has to say the lines; returns all it said."""
    done = subprocess.run(
        ["sh", "-c", command], cwd=home.folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE,
        env=home.environment({
            "PATH": bin_dir() + os.pathsep + os.environ["PATH"],
            "PYTHONPATH": tree.PACKAGE}))
    said = done.stdout.decode()
    wrong = "error:" in "".join(lines)
    tap.equal(done.returncode != 0, wrong, "%s\n%s" % (command, said))
    shapes = [shape(line) for line in said.split("\n")]
    for line in lines:
        tap.contains(shape(line), shapes,
                     "%s\n%s\nlacks: %s" % (command, said, line))
    return said


def follow(home, document):
    """Does what docs/DOCUMENT says, in the folder of `home`; returns how many
    commands there were."""
    with open(tree.path("docs/" + document), encoding="utf-8") as file:
        text = file.read()
    n = 0
    for what, name, content in steps(text):
        if what == "save":
            home.write(name, content)
        else:
            run(home, name, content)
            n += 1
    return n
