"""The search beside recorded runs of other tuners, one key=value a line.

    bench_peers.py BIN-DIR FOLDER [--sequential-only]

FOLDER has problems.py (PROBLEMS with .kind, .refs, initial_points()), peers.json
(runs of other tuners on them) and compare.py, which drives our server through
Google's Vizier API. What is printed:

    score_N            mean over problems after N trials: 0 is the median of
                       random points, 100 the best known value
    log_regret         mean log10 of the share of that way that is left
    rank               mean place among all tuners, by log regret
    score_60_KIND      by kind of problem, and of the best other tuner there
    ratio_PROBLEM      trials until our mean reaches what the best other tuner
                       has after 60, divided by 60; inf: not within 60
    batch_...          the same with 8 trials at a time, 100 in all
"""

import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import harness  # noqa: E402

MODES = {"": ("seq", 60, 1, (20, 40, 60)),
         "batch_": ("batch", 100, 8, (40, 70, 100))}
OURS = "hypertune"


def show(key, value, digits=2):
    print("%s=%.*f" % (key, digits, value), flush=True)


def load_problems(folder):
    spec = importlib.util.spec_from_file_location(
        "problems", os.path.join(folder, "problems.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROBLEMS


def run_ours(server, folder, names, trials, pending):
    out = os.path.join(server.folder, "ours-%d.json" % pending)
    subprocess.run(
        [sys.executable, os.path.join(folder, "compare.py"), "--endpoint",
         server.http, "--token-file", os.path.join(server.data, "token"),
         "--only", ",".join(names), "--trials", str(trials), "--pending",
         str(pending), "--out", out],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out, encoding="ascii") as file:
        return json.load(file)


class Results:
    """Runs of every tuner that has all of these problems."""

    def __init__(self, problems, runs):
        self.problems = problems
        self.runs = {tuner: found for tuner, found in runs.items()
                     if all(found.get(name) for name in problems)}

    def left(self, tuner, name, n):
        """Mean share of the way from random to best left after n trials."""
        refs = self.problems[name].refs
        width = refs["median1"] - refs["opt"]
        shares = []
        for run in self.runs[tuner][name].values():
            value = [v for k, v in run["imp"] if k < n][-1]
            shares.append(min(max((value - refs["opt"]) / width, 0), 1))
        return shares

    def score(self, tuner, names, n):
        return statistics.mean(
            100 * (1 - statistics.mean(self.left(tuner, name, n)))
            for name in names)

    def log_regret(self, tuner, name, n):
        return statistics.mean(math.log10(max(share, 1e-4))
                               for share in self.left(tuner, name, n))

    def rank(self, name, n):
        mine = self.log_regret(OURS, name, n)
        return 1 + sum(self.log_regret(tuner, name, n) < mine
                       for tuner in self.runs if tuner != OURS)

    def peers(self):
        return [tuner for tuner in self.runs if tuner != OURS]

    def ratio(self, name, n):
        best = min(statistics.mean(self.left(tuner, name, n))
                   for tuner in self.peers())
        for k in range(1, n + 1):
            if all(run["imp"][0][0] < k
                   for run in self.runs[OURS][name].values()) and \
                    statistics.mean(self.left(OURS, name, k)) <= best:
                return k / n
        return math.inf


def report(prefix, results, marks):
    names, last = list(results.problems), marks[-1]
    for n in marks:
        show("%sscore_%d" % (prefix, n), results.score(OURS, names, n), 1)
        best = max(results.peers(),
                   key=lambda tuner: results.score(tuner, names, n))
        show("%sscore_%d_%s" % (prefix, n, best),
             results.score(best, names, n), 1)
    regrets = {tuner: statistics.mean(results.log_regret(tuner, name, last)
                                      for name in names)
               for tuner in results.runs}
    best = min(results.peers(), key=regrets.get)
    show(prefix + "log_regret", regrets[OURS])
    show(prefix + "log_regret_" + best, regrets[best])
    show(prefix + "rank", statistics.mean(results.rank(name, last)
                                          for name in names))
    kinds = {}
    for name in names:
        kinds.setdefault(results.problems[name].kind, []).append(name)
    for kind, members in kinds.items():
        best = max(results.peers(),
                   key=lambda tuner: results.score(tuner, members, last))
        key = "%sscore_%d_%s" % (prefix, last, kind)
        show(key, results.score(OURS, members, last), 1)
        show("%s_%s" % (key, best), results.score(best, members, last), 1)
    ratios = {name: results.ratio(name, last) for name in names}
    for name, ratio in ratios.items():
        show("%sratio_%s" % (prefix, name), ratio)
    show(prefix + "ratio_median", statistics.median(ratios.values()))
    asked = [run["ask_s"] / (last - 8) for name in names
             for run in results.runs[OURS][name].values()]
    show(prefix + "ask_ms", 1e3 * statistics.mean(asked), 1)


def main():
    folder = sys.argv[2]
    problems = load_problems(folder)
    with open(os.path.join(folder, "peers.json"), encoding="utf-8") as file:
        peers = json.load(file)
    with harness.Server("--runner", "none") as server:
        for prefix, (key, trials, pending, marks) in MODES.items():
            if prefix and "--sequential-only" in sys.argv[3:]:
                continue
            by_peer = peers[key]
            names = [name for name in problems
                     if any(name in found for found in by_peer.values())]
            ours = run_ours(server, folder, names, trials, pending)
            chosen = {name: problems[name] for name in names}
            report(prefix, Results(chosen, dict(by_peer, **{OURS: ours})), marks)


main()
