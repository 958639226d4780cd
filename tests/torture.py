#!/usr/bin/env python3
"""torture.py BUILD-DIR [--seed N] [--minutes M] [NAME...] - the long versions
of the tests that prove the promises of docs/reliability.md, one after another.

A line of PROOFS is one of them: its name, the promises, the test (a part of a
path as tests/run.sh takes it), the variables that make it long, the minutes that
it may take, and what is done. Each test gets HYPERTUNE_SEED, also where it draws
nothing. Without --seed a new one is drawn and printed; with it and a NAME, a
failure happens again. Once --minutes are over no further one begins.

It ends with a table: promise, how it is proved, rounds, result. The exit code is
1 when a test failed or did not run.
"""

import argparse
import collections
import os
import random
import re
import subprocess
import sys
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))

Proof = collections.namedtuple("Proof", "name promises test variables minutes how")

# The first variable counts the rounds.
PROOFS = [Proof(*row) for row in [
    ("kills", "R1 R7 R20", "fault/test_chaos", {"HYPERTUNE_KILLS": 500}, 30,
     "kill -9 of server, runner, shims and trainers at random moments"),
    ("failpoints", "R1", "fault/test_failpoints", {"HYPERTUNE_TURNS": 100}, 30,
     "the server dies before a commit, after it, and between answers"),
    ("power", "R2", "fault/test_power_cut.py", {"HYPERTUNE_CUTS": 300}, 60,
     "the power of the server's disk is cut at any write"),
    ("power-machine", "R2", "fault/test_power_cut_machine",
     {"HYPERTUNE_CUTS": 40}, 60,
     "the power of a machine with server, runner and trials is cut"),
    ("failures", "R4", "fault/test_nth_failure", {"HYPERTUNE_FAILURES": 200}, 90,
     "the n-th write, sync or rename of a program fails"),
    ("memory", "R5", "fault/test_memory", {"HYPERTUNE_TEST_MEMORY": 1}, 60,
     "the n-th allocation of the server fails, for every n"),
    ("disk-full", "R3", "fault/test_disk_full", {"HYPERTUNE_FILLS": 50}, 15,
     "the disk of the data folder is filled and freed"),
    ("clock", "R6", "fault/test_clock", {"HYPERTUNE_JUMPS": 20}, 15,
     "the clock jumps by days and decades while trials run"),
    ("links", "R8 R9", "e2e/test_slow_links", {}, 10,
     "links that are slow, cut every 4 KB, and lose answers"),
    ("broken-links", "R8 R9", "e2e/test_broken_links", {}, 10,
     "whole studies over links that lose nine of ten answers"),
    ("container-faults", "R10", "fault/test_container_faults", {}, 10,
     "an engine that fails on demand"),
    ("flips", "R11", "api/test_damage.py", {"HYPERTUNE_FLIPS": 250}, 60,
     "single bits of the database and its log flip, of each four kinds"),
    ("vanished", "R11 R13", "api/test_vanished", {"HYPERTUNE_KILLS": 100}, 30,
     "files of the database vanish or are exchanged; kills accuse none"),
    ("orders", "R12", "unit/tuner/wire/test_report_sequences",
     {"HYPERTUNE_SEQUENCES": 10000}, 60,
     "reports in random order, late and repeated, against a model"),
    ("upgrades", "R14", "fault/test_upgrade", {"HYPERTUNE_FAILURES": 1000}, 60,
     "an upgrade from each version is killed at each write"),
    ("clients", "R16", "api/test_scale", {}, 10,
     "silent, slow and greedy clients beside a good one"),
    ("week", "R17", "fault/test_week",
     {"HYPERTUNE_ROUNDS": 100, "HYPERTUNE_TRIALS": 100}, 60,
     "a week of studies that come and go while the clock runs ahead"),
    ("machines", "R22", "fault/test_machines",
     {"HYPERTUNE_TRIALS": 200, "HYPERTUNE_CUT": 600}, 30,
     "machines behind routers: one is cut off, one frozen, one gone"),
    ("slurm", "R23", "e2e/test_slurm_chaos", {"HYPERTUNE_TRIALS": 100}, 30,
     "daemons of Slurm, runner and server are killed in turn"),
    ("histories", "R18", "unit/algorithms/search/test_search_fuzz",
     {"HYPERTUNE_HISTORIES": 10000}, 60,
     "random histories of random spaces, with NaN and 1e308"),
    ("replay", "R19", "fault/test_replay", {}, 10,
     "the same study again, with deaths of the server in between"),
    ("fuzz", "", "fuzz", {"SECONDS": 300}, 90,
     "libFuzzer on every input from outside"),
]]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split(" - ")[1],
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--minutes", type=float, default=480)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=" ".join(proof.name for proof in PROOFS))
    given = parser.parse_intermixed_args()
    unknown = set(given.names) - {proof.name for proof in PROOFS}
    if unknown:
        parser.error("there is no test " + ", ".join(sorted(unknown)))
    if given.seed is None:
        given.seed = random.SystemRandom().randrange(1, 2 ** 31)
    return given


def command(proof, build):
    if proof.test == "fuzz":
        return ["tests/fuzz/run.sh", build, str(proof.variables["SECONDS"])]
    return ["tests/run.sh", build, proof.test]


def result_of(output, code):
    """In words; a test without a single passed case has proved nothing."""
    counts = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", output,
                        re.MULTILINE)
    if code != 0:
        return "FAILED"
    if not counts:
        return "ok"
    passed, _, skipped = map(int, counts[-1])
    if passed == 0:
        return "did not run"
    return "ok" if skipped == 0 else "ok, %d skipped" % skipped


def run(proof, build, seed, seconds):
    """Shows the output; returns the result in words."""
    environment = dict(os.environ, HYPERTUNE_SEED=str(seed),
                       HYPERTUNE_TEST_SECONDS=str(int(seconds)))
    environment.update((name, str(value))
                       for name, value in proof.variables.items())
    words = " ".join("%s=%s" % item for item in proof.variables.items())
    print("\n==== %s: %s%s" % (proof.name, words and words + " ", proof.test),
          flush=True)
    done = subprocess.Popen(command(proof, build), cwd=ROOT, env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            encoding="utf-8", errors="replace")
    output = []
    for line in done.stdout:
        output.append(line)
        print(line, end="", flush=True)
    return result_of("".join(output), done.wait())


def show(seed, results):
    print("\n| promise | how it is proved | rounds | result |\n|---|---|---|---|")
    for proof, result, seconds in results:
        rounds = next(iter(proof.variables.values()), 1)
        print("| %s | `%s`: %s | %s | %s, %.0f s |" % (
            proof.promises or "all", proof.name, proof.how, rounds, result,
            seconds))
    print("\nseed %d" % seed)


def main():
    given = arguments()
    deadline = time.monotonic() + given.minutes * 60
    print("seed %d, at most %g minutes" % (given.seed, given.minutes))
    results = []
    for proof in PROOFS:
        if given.names and proof.name not in given.names:
            continue
        begin = time.monotonic()
        left = min(deadline - begin, proof.minutes * 60)
        result = (run(proof, given.build, given.seed, left) if left >= 1
                  else "not run: no time left")
        results.append((proof, result, time.monotonic() - begin))
    show(given.seed, results)
    sys.exit(any(not result.startswith("ok") for _, result, _ in results))


if __name__ == "__main__":
    main()
