#!/usr/bin/env python3
"""Compares the search of two revisions on the same random problems.

    search_ab.py A B

A and B are revisions; "." is the working tree. Each is built once in
build/ab, with the problems of the working tree (bench/families.h). Prints by
family and over all: the score of A and what B adds to it, each with its
standard error, and the time of a suggestion. Problems are the independent
units: of each the mean over the seeds of the algorithm counts, B minus A.

    SEEDS (30), FIRST (0), TRIALS (60), PARALLEL (1), FAMILY (all)
    JOBS (processors): runs at a time
"""

import concurrent.futures
import os
import shutil
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "build", "ab")
PROBLEMS = ("bench_families.c", "families.h", "family_shapes.h", "curves.h")
FIGURES = ("score at 1/3", "score at 2/3", "score", "log10 left", "ms")


def build(revision):
    """The program that measures a revision."""
    tree = ROOT
    if revision != ".":
        commit = subprocess.check_output(
            ["git", "-C", ROOT, "rev-parse", "--short=12",
             revision + "^{commit}"], text=True).strip()
        tree = os.path.join(FOLDER, commit)
        if not os.path.isdir(tree):
            os.makedirs(FOLDER, exist_ok=True)
            subprocess.check_call(["git", "clone", "--quiet", "--shared",
                                   "--no-checkout", ROOT, tree])
            subprocess.check_call(["git", "-C", tree, "checkout", "--quiet",
                                   commit])
        for name in PROBLEMS:
            shutil.copy(os.path.join(ROOT, "bench", name),
                        os.path.join(tree, "bench", name))
    program = "build/gcc-release/bench/bench_families"
    # The variables of a make that called this are not for the inner one.
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("MAKE", "MFLAGS"))}
    subprocess.check_call(["make", "-C", tree, f"-j{os.cpu_count()}",
                           program], stdout=subprocess.DEVNULL,
                          env=environment)
    return tree, os.path.join(tree, program)


def measure(built, family, problem):
    tree, program = built
    lines = subprocess.check_output(
        [program, family, str(problem), "1", os.environ.get("TRIALS", "60"),
         os.environ.get("PARALLEL", "1")], text=True, cwd=tree).splitlines()
    runs = [[float(word) for word in line.split()[3:]] for line in lines]
    return [statistics.fmean(column) for column in zip(*runs)]


def list_families(built):
    names = subprocess.check_output([built[1], "list"], text=True).split()
    only = os.environ.get("FAMILY", "all")
    return [name for name in names if only in ("all", name)]


def error_of(values):
    return statistics.stdev(values) / len(values) ** 0.5


def say(name, rows):
    """One line: each figure of A, and what B adds; rows are (A, gain, SE)."""
    cells = [f"{a:7.2f} {gain:+6.2f} ±{error:5.2f}" +
             ("*" if abs(gain) > 2 * error > 0 else " ")
             for a, gain, error in rows]
    print(f"{name:14}", *cells, sep=" | ", flush=True)


def compare(name, a, b):
    """Of one family: by figure the mean of A, the mean of B - A, its error."""
    rows = []
    for before, after in zip(zip(*a), zip(*b)):
        gains = [y - x for x, y in zip(before, after)]
        rows.append((statistics.fmean(before), statistics.fmean(gains),
                     error_of(gains)))
    say(name, rows)
    return rows


def over_all(families):
    """The mean of families, each with its own error."""
    n = len(families)
    return [(sum(row[0] for row in rows) / n, sum(row[1] for row in rows) / n,
             sum(row[2] ** 2 for row in rows) ** 0.5 / n)
            for rows in zip(*families)]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    built = [build(revision) for revision in sys.argv[1:]]
    first = int(os.environ.get("FIRST", "0"))
    problems = range(first, first + int(os.environ.get("SEEDS", "30")))
    jobs = int(os.environ.get("JOBS", os.cpu_count() or 1))
    print(f"{'family':14}", *(f"{figure:^22}" for figure in FIGURES), sep=" | ")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        asked = {name: [[pool.submit(measure, one, name, k) for k in problems]
                        for one in built] for name in list_families(built[0])}
        rows = [compare(name, *([run.result() for run in side]
                                for side in sides))
                for name, sides in asked.items()]
    say("all", over_all(rows))


main()
