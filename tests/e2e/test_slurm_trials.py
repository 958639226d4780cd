"""Trials in jobs of a real Slurm: by its commands and by slurmrestd, over
restarts of runner and server, and what goes wrong in a cluster."""

import contextlib
import os
import subprocess
import sys

import harness
import slurm
import tap
from runner_process import Runner

TRAINER = """
import os, sys, time
sys.path.insert(0, os.environ.get("KIT", ""))
import hypertune
x = float(sys.argv[1])
if "BEGUN" in os.environ:
    with open(os.environ["BEGUN"], "a") as begun:
        begun.write(os.environ["CLOUD_ML_TRIAL_ID"] + "\\n")
for step in range(1, 4):
    hypertune.HyperTune().report_hyperparameter_tuning_metric("score", x, step)
    time.sleep(0.3)
print("on job", os.environ["SLURM_JOB_ID"], flush=True)
"""
# Counts to the given number, one a second, and continues after a stop.
COUNTER = """
import os, sys, time, hypertune
path = os.path.join(os.environ["AIP_CHECKPOINT_DIR"], "count")
try:
    count = int(open(path).read())
except FileNotFoundError:
    count = 0
while count < int(sys.argv[1]):
    time.sleep(1)
    count += 1
    with open(path + ".new", "w") as file:
        file.write(str(count))
    os.rename(path + ".new", path)
    hypertune.HyperTune().report_hyperparameter_tuning_metric(
        "score", count, count)
"""

try:
    slurm.require()
except tap.Skip as reason:
    tap.skip("trials on Slurm", reason)

server = harness.Server("--runner", "none")
cluster = slurm.Cluster(nodes=4)


def runner(name, *options):
    return Runner(server, name, "--engine", "slurm", *options,
                  url=server.http, slots=8)


def spec(name, trials=12, **members):
    return {"spec": 1, "name": name, "goal": "maximize score",
            "trials": trials, "parallel": 4, "algorithm": "random", "seed": 1,
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "command": [sys.executable, "-c", TRAINER, "${x}"],
            "args": "none", "slurm": {}, **members}


def ended(name, trials=12):
    status = server.wait_study(name)
    tap.equal(status["state"], "SUCCEEDED", server.explain(name))
    tap.equal(status["counts"]["succeeded"], trials)
    for trial in server.trials(name):
        tap.equal(trial["hypertune"]["objective"],
                  float(trial["parameters"][0]["value"]))
    return status


def attempts(name):
    return [trial["hypertune"]["attempt"] for trial in server.trials(name)]


def elements():
    """State of each element of our jobs that is listed, by its id."""
    rows = cluster.call("squeue", "-h", "-r", "-t", "all", "-o",
                       "%F_%K %j %T").split("\n")
    return {row.split()[0]: row.split()[2] for row in rows
            if len(row.split()) == 3 and row.split()[1].startswith("ht-")}


def starts(study):
    """When the elements of the study's jobs began, in order."""
    number = server.trial(study, 1)["name"].split("/")[-3]
    rows = cluster.call("env", "SLURM_TIME_FORMAT=%s", "squeue", "-h", "-r",
                        "-t", "all", "-o", "%S %j").split("\n")
    return sorted(int(row.split()[0]) for row in rows
                  if "ht-" in row and row.split("-")[2] == number)


def active(*states):
    return [one for one, state in elements().items() if state in states]


def quiet():
    """Nothing of ours waits or runs at the cluster any more."""
    harness.wait_until(lambda: not active("PENDING", "RUNNING", "COMPLETING"),
                       "the end of all elements")


def by_commands():
    with runner("commands"):
        server.submit(spec("commands"))
        ended("commands")
        tap.equal(attempts("commands"), [1] * 12)
        tap.true("on job" in server.cli("logs", "commands/1").stdout)
        quiet()
    tap.true(len(elements()) <= 8, "elements take further trials")


def by_slurmrestd():
    before = len(elements())
    with runner("rest", "--slurm-rest", cluster.rest):
        server.submit(spec("rest"))
        ended("rest")
        tap.equal(attempts("rest"), [1] * 12)
        quiet()
    tap.true(len(elements()) - before <= 8, "elements take further trials")


def kill(process):
    process.process.kill()
    process.process.wait()


def over_kills():
    """Of runner and server, again and again; nothing is lost or doubled: an
    attempt that a runner was killed too early to keep never began."""
    begun = os.path.join(server.folder, "begun")
    one = runner("killed")
    one.__enter__()
    server.submit(spec("killed", trials=16, env={"BEGUN": begun}))
    for turn in range(6):
        done = server.study("killed")["counts"]["succeeded"]
        harness.wait_until(
            lambda: server.study("killed")["counts"]["succeeded"] > done
            or server.study("killed")["state"] == "SUCCEEDED", "a trial")
        if turn % 2:
            server.kill()
            server.start()
        else:
            kill(one)
            one.__enter__()
    ended("killed", 16)
    with open(begun, encoding="ascii") as file:
        tap.equal(sorted(file.read().split()),
                  sorted(trial["id"] for trial in server.trials("killed")))
    quiet()
    one.__exit__()


def a_persons_scancel():
    """The trial runs again, in another element."""
    with runner("scancel"):
        server.submit(spec("scancel", trials=2, parallel=1,
                           command=[sys.executable, "-c", COUNTER, "8"]))
        harness.wait_until(lambda: server.trials("scancel") and
                           server.measurements("scancel", 1), "a report")
        cluster.call("scancel", active("RUNNING")[0])
        status = server.wait_study("scancel")
        tap.equal(status["state"], "SUCCEEDED", server.explain("scancel"))
        tap.equal(attempts("scancel"), [2, 1])
        quiet()


def stop_and_pause():
    """A stopped trial keeps its value; a paused study gives its slot back."""
    with runner("stop"):
        server.submit(spec("stop", trials=4, parallel=2,
                           command=[sys.executable, "-c", COUNTER, "500"]))
        harness.wait_until(
            lambda: len(server.trials("stop")) == 2 and
            server.measurements("stop", 1) and
            server.measurements("stop", 2), "reports of both trials")
        server.cli("pause", "stop")
        server.cli("stop-trial", "stop/1")
        harness.wait_until(
            lambda: server.trial("stop", 1)["hypertune"]["state"] == "STOPPED",
            "the end of trial 1")
        tap.true(server.trial("stop", 1)["hypertune"]["objective"] >= 1)
        harness.wait_until(lambda: len(active("RUNNING")) == 1,
                           "the end of the element of trial 1")
        tap.equal(server.study("stop")["state"], "PAUSED")
        tap.equal([trial["hypertune"]["state"]
                   for trial in server.trials("stop")], ["STOPPED", "ACTIVE"])
        server.cli("cancel", "stop", "--yes")
        quiet()


def an_element_that_dies_early():
    """Its last words are the reason, and it is not sent again and again."""
    with runner("early") as one:
        server.submit(spec("early", trials=2,
                           slurm={"modules": ["no-such-module"]}))
        harness.wait_until(lambda: "ended before" in
                           server.study("early")["reason"], "the reason")
        sent = one.log().count("batch.submitted")
        tap.true(sent <= 3, one.log())
        server.cli("cancel", "early", "--yes", check=False)
        quiet()


def a_trial_longer_than_the_limit():
    """Each attempt is stopped `grace` before the limit: neither by Slurm nor at
    its warning, which comes earlier. The curve has no gap."""
    with runner("limit"):
        server.submit(spec("limit", trials=1, grace="10s", retries=0,
                           command=[sys.executable, "-c", COUNTER, "80"],
                           slurm={"time": "1m"}))
        status = server.wait_study("limit")
        tap.equal(status["state"], "SUCCEEDED", server.explain("limit"))
        ours = server.trial("limit", 1)["hypertune"]["attempts"]
        tap.true(len(ours) >= 2, ours)
        for attempt, start in zip(ours[:-1], starts("limit")):
            tap.equal([attempt["outcome"], attempt["reason"]],
                      ["lost", "stopped before Slurm's time limit"])
            tap.true(attempt["endTimeMs"] / 1000 - start > 49, ours)
        tap.equal([row["metrics"]["score"]
                   for row in server.measurements("limit", 1)],
                  list(range(1, 81)))
        quiet()


with contextlib.ExitStack() as stack:
    stack.enter_context(cluster)
    os.environ.update(cluster.environment)
    stack.callback(server.close)
    server.start()
    cases = [by_commands, by_slurmrestd, over_kills, a_persons_scancel,
             stop_and_pause, an_element_that_dies_early,
             a_trial_longer_than_the_limit]
    # What goes wrong is the same in another version.
    tap.run(cases[:2] if slurm.FOLDER else cases)
