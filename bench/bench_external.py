"""The search beside Debian's Optuna in the same run, one key=value a line.

    bench_external.py BUILD-DIR

Two suites. bbob: the 24 functions of bbob.h, FACTOR trials for each coordinate;
`left` is log10 of the share of the regret that is left at the end, where the
median of random points has 0; at least -8. sklearn: the models of
external_sklearn.py, TRIALS trials; `score` is that of the point with the least
loss, judged over other folds: 0 the median loss of random trials, 1 the best
that a tuner of this run found; at least -1. All points of ours come from a
server, through REST.

    left_GROUP_TUNER    mean over problems and seeds +- its standard error;
    score_GROUP_TUNER   a group of sklearn is a model
    ours_GROUP_PEER     how often ours was better, by how much in the mean, p of
                        a sign test without ties; * where it is below 5 % after
                        Holm's correction, for the peers in "all" and for all
                        lines of groups

Variables, of the environment or of make:

    SUITES     "bbob sklearn"
    FUNCTIONS  "1 2 ... 24"; DIMS "3 5 10 20"; FACTOR 20: of bbob
    MODELS     "knn svm ..."; DATA "breast digits ..."; TRIALS 60: of sklearn
    INSTANCES  1: of each function, and seeds of sklearn
    JOBS       runs at a time: the processors
    RUNS       a file that keeps each run as a line of JSON; what it has is not
               run again
"""

import json
import math
import multiprocessing
import os
import statistics
import subprocess
import sys

# One for each job; before numpy is loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "lib"))
import external_sklearn  # noqa: E402
import external_tuners  # noqa: E402
import harness  # noqa: E402

OURS, PEERS = external_tuners.OURS, list(external_tuners.PEERS)
GROUPS = ((5, "separable"), (9, "moderate"), (14, "ill_conditioned"),
          (19, "many_valleys"), (24, "weak_structure"))
FLOOR = 1e-8


def chosen(name, choices, default=None):
    """The words of a variable; all choices where it has no default."""
    choices = list(map(str, choices))
    words = os.environ.get(name, default or " ".join(choices)).split()
    for word in words:
        if word not in choices:
            sys.exit("bench_external: %s has %s, which is none of %s" % (
                name, word, " ".join(choices)))
    return words


def count(name, default):
    text = os.environ.get(name, str(default))
    if not text.isdecimal() or int(text) < 1:
        sys.exit("bench_external: %s is %s, which is no count" % (name, text))
    return int(text)


class Bbob:
    """One function; bench_bbob has its values."""

    def __init__(self, program, function, dim, instance):
        self.name = "f%d-%d" % (function, dim)
        self.group = next(name for last, name in GROUPS if function <= last)
        self.space = {"x%02d" % i: ("real", -5.0, 5.0) for i in range(dim)}
        self.process = subprocess.Popen(
            [program, str(function), str(dim), str(instance)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="ascii")
        self.optimum, self.median = map(float, self.answer().split())

    def answer(self):
        return self.process.stdout.readline()

    def evaluate(self, params, _seed, _number):
        self.process.stdin.write(" ".join(
            "%.17g" % params[name] for name in self.space) + "\n")
        self.process.stdin.flush()
        return float(self.answer())

    def left(self, losses):
        self.process.stdin.close()
        self.process.wait()
        share = (min(losses) - self.optimum) / (self.median - self.optimum)
        return math.log10(max(share, FLOOR))


# ---- runs ----

def run_bbob(program, place, tuner, seed, function, dim, trials):
    problem = Bbob(program, function, dim, seed)
    seen = external_tuners.run(tuner, place, problem, seed, trials)
    return {"group": problem.group,
            "left": problem.left([loss for _, loss in seen])}


def run_sklearn(_, place, tuner, seed, model, data, trials):
    problem = external_sklearn.Problem(model, data)
    seen = external_tuners.run(tuner, place, problem, seed, trials)
    good = [one for one in seen if math.isfinite(one[1])]
    best = min(good, key=lambda one: one[1])[0]
    return {"group": problem.group, "loss": problem.judge(best, seed),
            "median": statistics.median(loss for _, loss in good)}


SUITES = {"bbob": run_bbob, "sklearn": run_sklearn}


def all_tasks():
    """[suite, tuner, seed, ...] of each run, the longest first."""
    tasks = []
    seeds = range(1, 1 + count("INSTANCES", 1))
    suites = chosen("SUITES", SUITES)
    if "bbob" in suites:
        factor = count("FACTOR", 20)
        dims = map(int, chosen("DIMS", range(2, 41), "3 5 10 20"))
        functions = chosen("FUNCTIONS", range(1, 25))
        tasks += [("bbob", tuner, seed, int(function), dim, factor * dim)
                  for dim in sorted(dims, reverse=True)
                  for function in functions
                  for seed in seeds for tuner in [OURS] + PEERS]
    if "sklearn" in suites:
        trials = count("TRIALS", 60)
        models = chosen("MODELS", external_sklearn.MODELS)
        tasks += [("sklearn", tuner, seed, model, data, trials)
                  for data in chosen("DATA", external_sklearn.DATA)
                  for model in models
                  for seed in seeds for tuner in [OURS] + PEERS]
    return tasks


def perform(work):
    task, program, place = work
    return list(task), SUITES[task[0]](program, place, *task[1:])


def read_runs(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="ascii") as file:
        return {tuple(task): found for task, found in map(json.loads, file)}


def perform_all(build, tasks):
    """{task: what its run found}"""
    path = os.environ.get("RUNS")
    found = read_runs(path)
    rest = [task for task in tasks if task not in found]
    program = os.path.join(build, "bench", "bench_bbob")
    jobs = count("JOBS", os.cpu_count())
    with harness.Server("--runner", "none",
                        programs=os.path.join(build, "bin")) as server, \
            multiprocessing.Pool(jobs) as pool:
        place = server.http, server.token_file
        for task, result in pool.imap_unordered(
                perform, [(task, program, place) for task in rest]):
            found[tuple(task)] = result
            if path:
                with open(path, "a", encoding="ascii") as file:
                    file.write(json.dumps([task, result]) + "\n")
    return {task: found[task] for task in tasks}


# ---- figures ----

def scored(found):
    """{suite: {problem and seed: (group, {tuner: its figure})}}, of which less
    is better in bbob, more in sklearn."""
    table = {}
    for (suite, tuner, *problem), result in found.items():
        group, row = table.setdefault(suite, {}).setdefault(
            tuple(problem), (result["group"], {}))
        row[tuner] = result["left"] if suite == "bbob" else result
    for _, row in table.get("sklearn", {}).values():
        best = min(result["loss"] for result in row.values())
        median = row["random"]["median"]
        for tuner, result in row.items():
            row[tuner] = max((median - result["loss"]) / (median - best), -1)
    return table


def sign_test(won, lost):
    """Two-sided; 1 without any pair."""
    n, few = won + lost, min(won, lost)
    return min(1, 2 * sum(math.comb(n, k) for k in range(few + 1)) / 2 ** n)


def holm(values):
    """Which of several p are below 5 % together."""
    order, passed = sorted(values, key=values.get), set()
    for i, key in enumerate(order):
        if values[key] > 0.05 / (len(order) - i):
            break
        passed.add(key)
    return passed


def spread(values):
    return statistics.stdev(values) / math.sqrt(len(values)) \
        if len(values) > 1 else math.nan


def report(suite, table):
    figure, sign = ("left", -1) if suite == "bbob" else ("score", 1)
    groups = {"all": [row for _, row in table.values()]}
    for group, row in table.values():
        groups.setdefault(group, []).append(row)
    lines, values = {}, {}
    for group, rows in groups.items():
        for tuner in [OURS] + PEERS:
            column = [row[tuner] for row in rows]
            print("%s_%s_%s=%.3f +- %.3f" % (
                figure, group, tuner, statistics.mean(column), spread(column)))
        for peer in PEERS:
            ahead = [sign * (row[OURS] - row[peer]) for row in rows]
            won, lost = sum(x > 0 for x in ahead), sum(x < 0 for x in ahead)
            key = "ours_%s_%s" % (group, peer)
            values[key] = sign_test(won, lost)
            lines[key] = "won %d of %d, ahead by %.3f +- %.3f, p %.2g" % (
                won, len(ahead), statistics.mean(ahead), spread(ahead),
                values[key])
    passed = holm({key: p for key, p in values.items() if "_all_" in key})
    passed |= holm({key: p for key, p in values.items() if "_all_" not in key})
    for key, line in lines.items():
        print("%s=%s%s" % (key, line, " *" if key in passed else ""))


def main():
    table = scored(perform_all(os.path.abspath(sys.argv[1]), all_tasks()))
    for suite, rows in table.items():
        report(suite, rows)


main()
