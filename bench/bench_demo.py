"""The model against random draws on the digits network: bench_demo.py BIN.

For each seed, which also splits the data, two studies over the space of
examples/digits/spec.yaml, one by each algorithm, a trial at a time. Then the
best network of each, chosen on validation images, is trained again and tested
on images that no trial has seen. One key=value a line:

  test_<algorithm>_seed_<k>    test accuracy of that best network
  valid_<algorithm>_seed_<k>   its validation accuracy, what was maximised
  reach_<algorithm>_seed_<k>   trials until the first was as good as the best
                               of the random study; <trials>+1: none was
"""

import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "lib"))
import harness  # noqa: E402

DIGITS = os.path.join(HERE, "..", "examples", "digits")
SEEDS, TRIALS, EPOCHS = range(1, 11), 25, 20
ALGORITHMS = ("random", "default")


def show(key, value):
    print("%s=%s" % (key, value), flush=True)


def command(seed):
    return ["digits", "--data=digits.csv.gz", "--epochs=%d" % EPOCHS,
            "--seed=%d" % seed]


def spec_of(algorithm, seed):
    """The example's own spec with other counts."""
    with open(os.path.join(DIGITS, "spec.yaml"), encoding="utf-8") as file:
        text = file.read()
    lines = {"name": "%s-%d" % (algorithm, seed), "trials": TRIALS,
             "parallel": 1, "seed": seed, "workdir": os.path.abspath(DIGITS),
             "command": "[%s]" % ", ".join(command(seed))}
    if algorithm != "default":
        lines["algorithm"] = algorithm
    for key, value in lines.items():
        text = re.sub(r"(?m)^%s:.*\n" % key, "", text)
        text += "%s: %s\n" % (key, value)
    return text


def submit(server, algorithm, seed, env):
    path = os.path.join(server.folder, "%s-%d.yaml" % (algorithm, seed))
    with open(path, "w", encoding="utf-8") as file:
        file.write(spec_of(algorithm, seed))
    server.cli("submit", path, env=env)


def accuracies(server, name):
    """Of all trials, in their order; a failed one has 0."""
    server.wait_study(name, 600)
    trials = sorted(server.trials(name), key=lambda one: int(one["id"]))
    return [one.get("finalMeasurement", {"metrics": [{"value": 0}]})
            ["metrics"][0]["value"] for one in trials]


def test_accuracy(server, name, seed, env):
    flags = server.cli("best", name, "-o", "args").stdout.split()
    done = subprocess.run(command(seed) + flags, cwd=DIGITS,
                          env=dict(os.environ, **env), check=True,
                          stdout=subprocess.PIPE, encoding="utf-8")
    return float(re.search(r"test accuracy (\S+)", done.stdout).group(1))


def measure_seed(server, seed, env):
    """{algorithm: (test, validation, trials to reach random's best)}"""
    for algorithm in ALGORITHMS:
        submit(server, algorithm, seed, env)
    curves = {algorithm: accuracies(server, "%s-%d" % (algorithm, seed))
              for algorithm in ALGORITHMS}
    goal = max(curves["random"])
    found = {}
    for algorithm, curve in curves.items():
        reach = next((i for i, value in enumerate(curve, 1) if value >= goal),
                     TRIALS + 1)
        test = test_accuracy(server, "%s-%d" % (algorithm, seed), seed, env)
        found[algorithm] = (test, max(curve), reach)
        for key, value in zip(("test", "valid", "reach"), found[algorithm]):
            show("%s_%s_seed_%d" % (key, algorithm, seed),
                 value if key == "reach" else "%.4f" % value)
    return found


def main():
    env = {"PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]}
    show("trials", TRIALS)
    show("epochs", EPOCHS)
    with harness.Server(slots=2) as server:
        rows = [measure_seed(server, seed, env) for seed in SEEDS]
    for algorithm in ALGORITHMS:
        for column, key in enumerate(("test", "valid", "reach")):
            middle = statistics.median(row[algorithm][column] for row in rows)
            show("median_%s_%s" % (key, algorithm),
                 "%g" % middle if key == "reach" else "%.4f" % middle)
    ahead = sum(row["default"][1] > row["random"][1] for row in rows)
    behind = sum(row["default"][1] < row["random"][1] for row in rows)
    show("seeds_default_better", ahead)
    show("seeds_random_better", behind)


main()
