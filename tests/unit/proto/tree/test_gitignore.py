#!/usr/bin/env python3
"""A walk of code finds the files that git would add: random trees with random
.gitignore files, nested, negated, anchored, with stars and brackets, from a
fixed seed."""

import os
import random
import shutil
import subprocess
import sys
import tempfile

import tap

TREES = 150
TOOL = os.path.join(os.path.dirname(sys.argv[1]), "tests/tools/walk")
NAMES = ["a", "b", "ab", "abc", "a.log", "b.log", "x y", "out", "#h", "!n",
         "[z]", "c ", "A", "build", ".hid", "a-b", "d\\e"]
PIECES = ["a", "b", "c", "ab", "*", "**", "?", "*.log", "a*", "*b", "[ab]",
          "[!a]", "[a-c]*", "out", "build", "\\#h", "\\!n", "x y", "[z]",
          "\\[z]", "*c*", "[[:alpha:]]", "[[:upper:]]", ".*", "a**", "**b",
          "c\\ ", "d\\\\e", "[]a]", "[a-]", "[", "a[", "***"]


def a_rule(draw):
    if draw.random() < 0.06:
        return draw.choice(["", "# comment", "!", "/", "\\", "   ", "**/",
                            "/**", "*/", "!*/", "a\r"])
    parts = [draw.choice(PIECES)
             for _ in range(draw.choice([1, 1, 1, 2, 2, 3]))]
    return ("!" if draw.random() < 0.3 else "") + \
        ("/" if draw.random() < 0.25 else "") + "/".join(parts) + \
        ("/" if draw.random() < 0.25 else "") + \
        (" " * draw.choice([0, 0, 0, 0, 2]))


def fill(draw, folder, depth):
    for name in draw.sample(NAMES, draw.randint(2, 6)):
        path = os.path.join(folder, name)
        if depth > 0 and draw.random() < 0.5:
            os.mkdir(path)
            fill(draw, path, depth - 1)
        else:
            with open(path, "w", encoding="utf-8") as out:
                out.write(name)
    if draw.random() < 0.4 or depth == 3:
        with open(os.path.join(folder, ".gitignore"), "w", newline="",
                  encoding="utf-8") as out:
            out.write("\n".join(a_rule(draw)
                                for _ in range(draw.randint(1, 5))))


def git(folder, *words):
    env = dict(os.environ, GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null",
               XDG_CONFIG_HOME="/nonexistent")
    return subprocess.run(("git",) + words, cwd=folder, env=env, check=True,
                          stdout=subprocess.PIPE).stdout


def found_by_git(folder, below):
    names = git(os.path.join(folder, below), "ls-files", "-z", "--others",
                "--exclude-standard")
    return sorted(name.decode() for name in names.split(b"\0") if name)


def found_by_walk(folder, below):
    names = subprocess.run([TOOL, os.path.join(folder, below)], check=True,
                           stdout=subprocess.PIPE).stdout.decode()
    # Git knows no empty folders.
    return [name for name in names.split("\n")[:-1]
            if not os.path.isdir(os.path.join(folder, below, name))]


def rules_of(folder):
    for where, _, names in os.walk(folder):
        if ".gitignore" in names:
            with open(os.path.join(where, ".gitignore"), newline="",
                      encoding="utf-8") as text:
                yield "%s: %r" % (os.path.relpath(where, folder), text.read())


def compare(base, seed, left_out):
    """Also of a folder in it, where the rules above count, too."""
    draw = random.Random(seed)
    folder = os.path.join(base, "tree%d" % seed)
    os.mkdir(folder)
    git(folder, "init", "-q")
    fill(draw, folder, 3)
    folders = sorted(name for name in os.listdir(folder)
                     if name != ".git" and
                     os.path.isdir(os.path.join(folder, name)))
    for below in [""] + [name for name in folders if subprocess.run(
            ["git", "check-ignore", "-q", name], cwd=folder).returncode == 1]:
        ours, gits = found_by_walk(folder, below), found_by_git(folder, below)
        tap.equal(sorted(set(ours) ^ set(gits)), [],
                  "seed %d in %r with %s:" % (seed, below,
                                              list(rules_of(folder))))
        tap.equal(ours, sorted(ours, key=lambda name: name.encode()))
        left_out.append(sum(len(names) for _, _, names in os.walk(
            os.path.join(folder, below))) - len(gits))


LEFT_OUT = []


def the_walk_finds_what_git_would_add():
    if shutil.which("git") is None:
        raise tap.Skip("git is not installed")
    with tempfile.TemporaryDirectory() as base:
        for seed in range(TREES):
            compare(base, seed, LEFT_OUT)
    tap.true(sum(1 for n in LEFT_OUT if n > 0) > TREES / 2, "rules that match")


tap.run([the_walk_finds_what_git_would_add])
