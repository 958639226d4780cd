#!/usr/bin/env python3
"""Compares the search of two revisions on the same random problems.

    search_ab.py A B

A and B are REVISION[:TRIALS[:PARALLEL]], by default 60 trials, one at a time;
"." is the working tree. Each revision is built once in build/ab, with the
problems of the working tree (bench/families.h). Prints by family and over all:
the figures of A and what B adds to them, with its standard error and a star
beyond two of them. Problems are the independent units: of each the mean over
the seeds of the algorithm counts.

    SEEDS (30): problems of a family, FIRST (0) and the next
    FAMILY (all), JOBS (processors): runs at a time
"""

import concurrent.futures
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "build", "ab")
PROBLEMS = ("bench_families.c", "families.h", "family_shapes.h", "curves.h")
FIGURES = ("score at 1/3", "score at 2/3", "score", "log10 left", "ms")


def check_out(revision):
    """A folder with that revision and the problems of this tree."""
    commit = subprocess.check_output(
        ["git", "-C", ROOT, "rev-parse", "--short=12", revision + "^{commit}"],
        text=True).strip()
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
    return tree


def build(tree, folder):
    """The program that measures it; in the folder it stays as it is while the
    working tree changes."""
    # The variables of a make that called this are not for the inner one.
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("MAKE", "MFLAGS"))}
    program = "build/gcc-release/bench/bench_families"
    subprocess.check_call(["make", "-C", tree, f"-j{os.cpu_count()}",
                           program], stdout=subprocess.DEVNULL,
                          env=environment)
    return shutil.copy(os.path.join(tree, program),
                       tempfile.mkdtemp(dir=folder))


def read_side(text, folder):
    """A program, and the trials and their number at a time."""
    revision, *numbers = text.split(":")
    tree = ROOT if revision == "." else check_out(revision)
    return build(tree, folder), *(numbers + ["60", "1"][len(numbers):])


def measure(side, family, problem):
    program, trials, parallel = side
    lines = subprocess.check_output(
        [program, family, str(problem), "1", trials, parallel], text=True,
        cwd=ROOT).splitlines()
    runs = [[float(word) for word in line.split()[3:]] for line in lines]
    return [statistics.fmean(column) for column in zip(*runs)]


def list_families(side):
    names = subprocess.check_output([side[0], "list"], text=True).split()
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


def compare_all(sides):
    first = int(os.environ.get("FIRST", "0"))
    problems = range(first, first + int(os.environ.get("SEEDS", "30")))
    jobs = int(os.environ.get("JOBS", os.cpu_count() or 1))
    print(f"{'family':14}", *(f"{figure:^22}" for figure in FIGURES), sep=" | ")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        asked = {name: [[pool.submit(measure, side, name, k) for k in problems]
                        for side in sides] for name in list_families(sides[0])}
        rows = [compare(name, *([run.result() for run in runs]
                                for runs in both))
                for name, both in asked.items()]
    say("all", over_all(rows))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        compare_all([read_side(text, folder) for text in sys.argv[1:]])


main()
