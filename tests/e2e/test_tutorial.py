"""docs/tutorial.md, done as it says: every file saved, every command run, and
every line that it shows found in what the command says. Numbers and names of
machines may differ."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "..", "lib"))
import harness  # noqa: E402
import tap  # noqa: E402
from cli_home import Home  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
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
    bin_dir = os.path.realpath(harness.bin_dir())
    done = subprocess.run(
        ["sh", "-c", command], cwd=home.folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
        env=home.environment({
            "PATH": bin_dir + os.pathsep + os.environ["PATH"],
            "PYTHONPATH": os.path.join(ROOT, "hypertune", "python")}))
    said = done.stdout.decode()
    wrong = "error:" in "".join(lines)
    tap.equal(done.returncode != 0, wrong, "%s\n%s" % (command, said))
    shapes = [shape(line) for line in said.split("\n")]
    for line in lines:
        tap.equal(shape(line) in shapes, True,
                  "%s\n%s\nlacks: %s" % (command, said, line))


def the_tutorial_is_true():
    with open(os.path.join(ROOT, "docs", "tutorial.md"),
              encoding="utf-8") as file:
        text = file.read()
    n = 0
    with Home() as home:
        for what, name, content in steps(text):
            if what == "save":
                with open(os.path.join(home.folder, name), "w",
                          encoding="utf-8") as file:
                    file.write(content)
            else:
                run(home, name, content)
                n += 1
    tap.equal(n > 12, True, n)


tap.run([the_tutorial_is_true])
