"""A study's suggestions proved from the command line."""

import json
import os
import sys

import harness
import pages
import tap

TRAIN = """
import sys
x = float(sys.argv[1])
if x > 0.8:
    raise SystemExit(3)
print("loss=%.17g" % ((x - 0.4) ** 2))
"""

# Continues from its checkpoint after a pause.
RUNGS = """
import os, subprocess, sys, time
x = float(sys.argv[1])
place = os.path.join(os.environ["AIP_CHECKPOINT_DIR"], "step")
begin = int(open(place).read()) if os.path.exists(place) else 0
for step in range(begin + 1, 10):
    subprocess.run(["hypertune", "report", "--step=%d" % step,
                    "loss=%g" % ((x - 0.4) ** 2 + 1 / step)], check=True)
    with open(place, "w") as file:
        file.write(str(step))
    time.sleep(0.1)
    if subprocess.run(["hypertune", "should-stop"]).returncode == 0:
        break
"""

server = None


def study(name, **changes):
    path = os.path.join(server.folder, "train.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(TRAIN)
    server.submit(dict({
        "spec": 1, "name": name, "goal": "minimize loss", "retries": 0,
        "parameters": {"x": {"type": "double", "min": 0, "max": 1},
                       "y": ["a", "b", "c"]},
        "trials": 12, "parallel": 3, "seed": 3, "args": "none",
        "metrics": {"stdout": "loss={loss}"},
        "command": [sys.executable, path, "${x}"]}, **changes))
    server.wait_study(name)
    return name


def replay(name, *arguments, code=0):
    done = server.cli("replay", name, *arguments, check=False)
    tap.equal(done.returncode, code, done.stdout + done.stderr)
    tap.equal("another version" in done.stderr, " differ" in done.stdout)
    return done.stdout.splitlines()


def a_tuning_job_is_proved_trial_by_trial():
    name = study("sound")
    lines = replay(name)
    tap.equal(lines[0].split(), ["TRIAL", "VERDICT", "POINT", "AGAIN"])
    tap.equal([line.split()[:2] for line in lines[1:13]],
              [[str(i), "same"] for i in range(1, 13)])
    tap.equal(lines[13:], ["12 of 12 suggestions are the same"])
    items = [json.loads(line) for line in replay(name, "-o", "jsonl")]
    tap.equal([item["verdict"] for item in items], ["SAME"] * 12)


def a_trial_that_runs_again_later_changes_nothing_before():
    name = study("retried", trials=10)
    failed = [trial["id"] for trial in server.trials(name)
              if trial["hypertune"]["state"] == "FAILED"]
    tap.true(failed != [], "no x was above 0.8")
    server.cli("retry", name + "/" + failed[0])
    server.wait_study(name)
    # What had failed then is known to have failed.
    tap.equal(replay(name)[-1], "10 of 10 suggestions are the same")


def the_forecast_of_a_paused_trial_is_restored():
    train = os.path.join(server.folder, "rungs.py")
    with open(train, "w", encoding="utf-8") as file:
        file.write(RUNGS)
    server.submit({
        "spec": 1, "name": "rungs", "goal": "minimize loss", "retries": 0,
        "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
        "trials": 14, "parallel": 3, "seed": 3, "args": "none",
        "earlyStopping": {"rule": "asha", "minSteps": 1, "maxSteps": 9,
                          "factor": 3, "pause": True},
        "command": [sys.executable, train, "${x}"]})
    server.wait_study("rungs")
    events = server.get(harness.OURS + "rungs/events?limit=1000")["events"]
    went = [event for event in events if event.get("from") == "PAUSED" and
            event.get("to") == "REQUESTED"]
    tap.true(went != [], "no trial went on")
    tap.equal(replay("rungs")[-1], "14 of 14 suggestions are the same")


def another_algorithm_shows_its_points_and_makes_no_trial():
    name = study("ahead", trials=6)
    lines = replay(name, "--algorithm", "random", "--count", "3")
    tap.equal([line.split()[0] for line in lines], ["KIND"] + ["drawn"] * 3)
    tap.equal(len(server.trials(name)), 6)
    again = replay(name, "--algorithm", "bayesian", "--count", "1", "--from",
                   "1")
    first = server.trial(name, 1)["hypertune"]["params"]
    tap.contains("x=%s y=%s" % (json.dumps(first["x"]), first["y"]), again[1],
                 again)
    replay(name, "--count", "3", code=2)
    replay(name, "--algorithm", "fastest", code=2)


def a_stored_point_that_is_another_is_found_out():
    name = study("forged", trials=6)
    server.stop()
    with pages.changing(os.path.join(server.data, "hypertune.db")) as db:
        changed = db.execute(
            "UPDATE trials SET params='{\"x\":0.123,\"y\":\"a\"}' WHERE id=6 "
            "AND study=(SELECT id FROM studies WHERE name=?)", (name,))
        tap.equal(changed.rowcount, 1)
    server.start()
    lines = replay(name, code=1)
    tap.equal(lines[6].split()[:4], ["6", "differs", "x=0.123", "y=a"])
    tap.equal(lines[-1], "5 of 6 suggestions are the same, 1 differ")


with harness.Server(slots=3) as server:
    tap.run([
        a_tuning_job_is_proved_trial_by_trial,
        a_trial_that_runs_again_later_changes_nothing_before,
        the_forecast_of_a_paused_trial_is_restored,
        another_algorithm_shows_its_points_and_makes_no_trial,
        a_stored_point_that_is_another_is_found_out,
    ])
