"""A person on a login node: `hypertune submit`, and the study runs on Slurm."""

import contextlib
import json
import os
import signal

import harness
import slurm
import tap
from cli_home import Home, stop

cluster = slurm.Cluster(nodes=2)


def spec(name, script="echo score=$SLURM_JOB_ID"):
    return json.dumps({
        "spec": 1, "name": name, "goal": "maximize score", "trials": 2,
        "algorithm": "random", "seed": 1, "args": "none",
        "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
        "command": ["/bin/sh", "-c", script],
        "metrics": {"stdout": "score={score}"}, "slurm": {}})


def runner(home):
    """The runner of Slurm that is online, or None."""
    return next((one for one in
                 json.loads(home.cli("runners", "-o", "json")[0])
                 if one["engine"] == "slurm" and one["state"] == "ONLINE"),
                None)


def pid(home):
    """Of the runner of Slurm."""
    for one in home.runners():
        with open("/proc/%d/cmdline" % one, "rb") as file:
            if b"slurm" in file.read().split(b"\0"):
                return one
    raise AssertionError("no runner of Slurm")


def the_first_study_brings_its_runner():
    with Home() as home:
        path = home.write("first.yaml", spec("first"))
        out, err = home.cli("submit", path, "--wait")
        tap.equal(out, "first\n")
        tap.contains("started a runner of Slurm (Slurm by commands)", err)
        _, err = home.cli("submit", home.write("second.yaml", spec("second")),
                          "--wait")
        tap.lacks("started", err)
        for name in "first", "second":
            trial = json.loads(home.cli("trial", name + "/2", "-o", "json")[0])
            tap.equal(trial["hypertune"]["runner"], runner(home)["runner"])
            tap.true(trial["hypertune"]["objective"] > 0, "a job's number")


def a_runner_that_died_is_started_again():
    with Home() as home:
        gate = os.path.join(home.folder, "go")
        path = home.write("long.yaml", spec(
            "long", "until [ -e %s ]; do sleep 0.1; done; echo score=1" %
            gate))
        home.cli("submit", path)
        harness.wait_until(
            lambda: json.loads(home.cli("trials", "long", "-o", "json")[0]),
            "a trial")
        first = pid(home)
        stop(first, signal.SIGKILL)  # one that still ends is not started again
        open(gate, "w", encoding="ascii").close()
        home.cli("watch", "long")
        tap.true(pid(home) != first, "another process")
        trials = json.loads(home.cli("trials", "long", "-o", "json")[0])
        tap.equal([(one["hypertune"]["state"], one["hypertune"]["attempt"])
                   for one in trials], [("SUCCEEDED", 1)] * 2)


with contextlib.ExitStack() as stack:
    stack.enter_context(cluster)
    os.environ.update(cluster.environment)
    tap.run([the_first_study_brings_its_runner,
             a_runner_that_died_is_started_again])
