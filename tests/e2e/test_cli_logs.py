"""`hypertune logs` and `hypertune trial`: what a trial printed on either stream,
and why one that has not begun waits."""

import json

import harness
import tap
from cli_home import Home, Terminal

CRASH = """
import sys
print("step 1 accuracy=0.5", flush=True)
sys.stderr.write("about to fail\\n")
raise ValueError("no such layer")
"""


def spec(**members):
    return {"spec": 1, "name": "crash", "goal": "maximize accuracy",
            "parameters": {"x": [1, 2]}, "algorithm": "grid", "args": "none",
            "trials": 1, "retries": 0, "command": ["python3", "train.py"],
            **members}


def trials_of(home):
    out, _ = home.cli("trials", "crash", "-o", "jsonl")
    return {trial["id"]: trial["hypertune"]["state"]
            for trial in map(json.loads, out.splitlines())}


def a_crashed_trial_shows_its_traceback():
    with Home() as home:
        home.write("train.py", CRASH)
        home.write("spec.yaml", spec())
        home.run("submit", "--wait")
        out, err = home.cli("logs", "crash/1")
        tap.equal(out, "step 1 accuracy=0.5\n")
        assert err.startswith("about to fail\n"), err
        tap.contains("ValueError: no such layer\n", err)
        followed = home.cli("logs", "crash/1", "-f")
        tap.equal(followed, (out, err))
        out, err = home.cli("logs", "crash/1", "--tail", "6")
        tap.equal((out, err), ("y=0.5\n", "layer\n"))


def a_named_stream_is_printed_alone():
    with Home() as home:
        home.write("train.py", CRASH)
        home.write("spec.yaml", spec())
        home.run("submit", "--wait")
        tap.equal(home.cli("logs", "crash/1", "--stream", "stdout"),
                  ("step 1 accuracy=0.5\n", ""))
        out, err = home.cli("logs", "crash/1", "--stream", "stderr")
        assert out.startswith("about to fail\nTraceback "), out
        tap.equal(err, "")


def a_trial_that_waits_is_said_to():
    with Home() as home:
        home.write("train.py", "import os, time\n"
                   "while not os.path.exists('go'): time.sleep(0.01)\n"
                   "print('accuracy=1')\n")
        home.write("spec.yaml", spec(trials=2, parallel=2))
        home.cli("submit", HYPERTUNED_SLOTS="1")
        harness.wait_until(
            lambda: sorted(trials_of(home).values()) ==
            ["ACTIVE", "REQUESTED"], "one trial that runs and one that waits")
        waits = [t for t, s in trials_of(home).items() if s == "REQUESTED"][0]
        name = "crash/" + waits
        harness.wait_until(
            lambda: "1 of 2 wait: 1 slots" in home.describe(
                "crash")["hypertuneStatus"]["reason"], "the study's reason")
        words = "waits: 1 of 2 wait: 1 slots"
        out, err = home.cli("logs", name, want=3)
        tap.equal((out, err), ("", "hypertune: trial %s %s\n" % (name, words)))
        tap.contains("\n" + words + "\n", home.cli("trial", name)[0])
        with Terminal(home, "logs", name, "-f") as terminal:
            terminal.expect("trial %s %s" % (name, words))
            home.write("go", "")
            terminal.expect("accuracy=1")
            tap.equal(terminal.wait(), 0)
        assert "waits" not in home.cli("trial", name)[0]
        _, err = home.cli("logs", "crash/9", want=3)
        assert "waits" not in err, err


def a_custom_job_without_a_runner_is_said_to_wait():
    with Home() as home:
        home.write("once.yaml", json.dumps({"jobSpec": {"workerPoolSpecs": [{
            "replicaCount": "1", "machineSpec": {"machineType": "n1-standard-4"},
            "containerSpec": {"command": ["sh", "-c", "echo hello"]}}]},
            "displayName": "once"}))
        home.cli("submit", "once.yaml", HYPERTUNED_RUNNER="none")
        harness.wait_until(
            lambda: "no runner" in home.describe(
                "once")["hypertuneStatus"]["reason"], "the job's reason")
        _, err = home.cli("logs", "once", want=3)
        tap.equal(err, "hypertune: trial once/1 waits: no runner is "
                  "connected\n")


tap.run([a_crashed_trial_shows_its_traceback,
         a_named_stream_is_printed_alone,
         a_trial_that_waits_is_said_to,
         a_custom_job_without_a_runner_is_said_to_wait])
