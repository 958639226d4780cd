"""Trials of 1 s and of 60 s in eight slots of a real Slurm of its own: which
part of the allocated time their trainers had, and how much the cluster was
asked: one key=value a line. As root, with the packages of `.ci/deps slurm`."""

import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import harness  # noqa: E402
import slurm  # noqa: E402
from runner_process import Runner  # noqa: E402

TRIALS, SLOTS = 60, 8
SPEC = {"spec": 1, "name": "mixed", "goal": "maximize score", "trials": TRIALS,
        "parallel": SLOTS, "algorithm": "random", "seed": 1, "args": "none",
        "parameters": {"seconds": {"type": "categorical",
                                   "values": ["1", "60"]},
                       "x": {"type": "double", "min": 0, "max": 1}},
        "command": ["/bin/sh", "-c", "sleep ${seconds}; echo score=1"],
        "metrics": {"stdout": "score={score}"}, "slurm": {}}


def show(key, value):
    print("%s=%.4g" % (key, value), flush=True)


def requests(cluster):
    """Of this user since the start of the controller."""
    said = cluster.call("sdiag").split("statistics by user")[1]
    return int(re.search(r"^\s*%s\s.*?count:(\d+)" % "root", said,
                         re.MULTILINE).group(1))


def allocated(cluster):
    """Seconds of all elements that have ended."""
    rows = cluster.call("env", "SLURM_TIME_FORMAT=%s", "squeue", "-h", "-r",
                        "-t", "all", "-o", "%j %S %e").split("\n")
    spans = [(int(start), int(end)) for name, start, end in
             (row.split() for row in rows if row.startswith("ht-"))
             if start.isdigit() and end.isdigit()]
    return len(spans), sum(end - start for start, end in spans)


def measure(server, cluster):
    before = requests(cluster)
    begin = time.monotonic()
    server.submit(SPEC)
    harness.wait_until(lambda: server.study("mixed")["state"] == "SUCCEEDED",
                       "the end of the study", 900)
    seconds = time.monotonic() - begin
    asked = requests(cluster) - before
    harness.wait_until(lambda: not cluster.call("squeue", "-h").split(),
                       "the end of all elements")
    elements, held = allocated(cluster)
    trials = server.trials("mixed")
    trained = sum(int(one["value"]) for trial in trials
                  for one in trial["parameters"]
                  if one["parameterId"] == "seconds")
    show("slurm_trials", len(trials))
    show("slurm_seconds", seconds)
    show("slurm_elements", elements)
    show("slurm_trainers_share", trained / held)
    show("slurm_requests_per_s", asked / seconds)


with slurm.Cluster(nodes=4) as own, \
        harness.Server("--runner", "none") as hypertuned:
    os.environ.update(own.environment)
    with Runner(hypertuned, "bench", "--engine", "slurm", url=hypertuned.http,
                slots=SLOTS):
        measure(hypertuned, own)
