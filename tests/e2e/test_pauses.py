"""ASHA with pauses and a trainer that saves checkpoints: trials pause at their
rungs, the best continue from where they were, also when the server dies."""

import os
import shutil

import checker
import harness
import tap
import tree

STEPS = 18
# The best comes first, so that it has to wait for others at every rung.
LEVELS = [9, 1, 2, 3, 4, 5, 6, 7, 8]
# Notes every step it makes and where it began, in the folder it was submitted
# from; a step takes as long as an order to stop needs to arrive.
TRAINER = """
import os, subprocess, sys, time
level = int(sys.argv[1])
saved = os.path.join(os.environ["AIP_CHECKPOINT_DIR"], "step")
step = 0
if os.environ.get("HYPERTUNE_RESUME") == "1":
    with open(saved) as file:
        step = int(file.read())
with open("begun", "a") as file:
    file.write("%d %d\\n" % (level, step))
while step < 18:
    time.sleep(0.1)
    step += 1
    with open(saved + ".new", "w") as file:
        file.write(str(step))
    os.replace(saved + ".new", saved)
    with open("steps", "a") as file:
        file.write("%d %d\\n" % (level, step))
    subprocess.run(["hypertune", "report", "--step", str(step),
                    "score=%g" % (level + step / 100)], check=True)
"""
SPEC = {
    "spec": 1, "name": "pauses", "goal": "maximize score",
    "parameters": {"level": [str(level) for level in LEVELS]},
    "algorithm": "grid", "trials": 9, "parallel": 3, "args": "none",
    "command": ["python3", "train.py", "${level}"],
    "earlyStopping": {"rule": "asha", "minSteps": 2, "maxSteps": STEPS,
                      "pause": True}}


def pairs(server, name):
    with open(os.path.join(server.folder, name), encoding="ascii") as file:
        return [tuple(map(int, line.split())) for line in file]


def submit(server, **changes):
    path = harness.bin_dir() + os.pathsep + os.environ["PATH"]
    with open(os.path.join(server.folder, "train.py"), "w",
              encoding="ascii") as file:
        file.write(TRAINER)
    server.submit(dict(SPEC, workdir=server.folder, **changes),
                  env={"PATH": path})


def check_end(server):
    """One trial went all the way, without a step twice, and is the best."""
    status = server.wait_study("pauses")
    tap.equal(status["state"], "SUCCEEDED", status["reason"])
    tap.equal(status["counts"]["paused"], 0)
    trials = {int(trial["hypertune"]["params"]["level"]): trial["hypertune"]
              for trial in server.trials("pauses")}
    tap.equal(sorted(trials), sorted(LEVELS))
    tap.equal(trials[9]["state"], "SUCCEEDED")
    tap.equal(trials[9]["objective"], 9 + STEPS / 100)
    tap.equal(status["best"]["hypertune"]["params"]["level"], "9")
    for level, trial in trials.items():
        if trial["state"] != "SUCCEEDED":
            tap.equal(trial["state"], "STOPPED", trial["reason"])
            tap.contains("paused by the asha rule at step", trial["reason"])
            tap.equal(trial["stop"]["rule"], "asha")
            tap.contains(trial["stop"]["rung"], (0, 1))
            tap.equal(trial["objective"], level + int(trial["step"]) / 100)
    return trials


def the_best_continue_and_the_others_wait():
    with harness.Server(slots=3) as server:
        submit(server)
        harness.wait_until(
            lambda: server.study("pauses")["counts"]["paused"] > 0,
            "a paused trial")
        listed = server.cli("trials", "pauses", "--state", "paused").stdout
        tap.contains("PAUSED", listed)
        for trial in server.trials("pauses"):
            if trial["hypertune"]["state"] == "PAUSED":
                tap.equal(trial["state"], "REQUESTED")
                tap.true(trial["hypertune"]["stop"]["rung"] >= 0,
                         trial["hypertune"]["stop"]["rung"])
        trials = check_end(server)
        tap.equal(trials[1]["state"], "STOPPED")
        steps, begun = pairs(server, "steps"), pairs(server, "begun")
        tap.equal(len(set(steps)), len(steps), "no step was made twice")
        tap.true(len(steps) < 0.7 * STEPS * len(LEVELS), len(steps))
        starts = [step for level, step in begun if level == 9]
        tap.equal(starts[0], 0)
        tap.true(len(starts) > 1 and min(starts[1:]) >= 2, starts)
        tap.equal(trials[9]["attempt"], len(starts))
        # From the start, which a later watcher does not see.
        events = server.get(harness.OURS + "pauses/events?limit=1000")["events"]
        moves = [event["to"] + " " + event["reason"] for event in events
                 if event["kind"] == "trial.moved" and event["trial"] == 1]
        for words in ("PAUSED paused by the asha rule at step ",
                      "REQUESTED among the best at rung "):
            tap.true(any(move.startswith(words) for move in moves), moves)
        tap.true(any(move.endswith(": continues") for move in moves), moves)
        server.stop()
        tap.equal(checker.check(server.data)[1], [])


def a_server_that_dies_in_between_changes_nothing():
    with harness.Server(slots=3) as server:
        submit(server)
        for count in (2, 4):
            harness.wait_until(
                lambda: sum(server.study("pauses")["counts"][state] for state
                            in ("paused", "stopping")) >= count,
                "%d pauses" % count)
            server.kill()
            server.start()
        check_end(server)
        steps = pairs(server, "steps")
        tap.equal(len(set(steps)), len(steps), "no step was made twice")
        server.stop()
        tap.equal(checker.check(server.data)[1], [])


def the_example_with_checkpoints_continues_where_it_was():
    """Of two replicas, which pause and continue together. They average over
    sockets: PyTorch, which test_examples.py has, takes seconds to begin."""
    with harness.Server(slots=2) as server:
        with open(os.path.join(server.folder, "torch.py"), "w",
                  encoding="ascii") as file:
            file.write("raise ImportError('not in this test')\n")
        shutil.copy(tree.path("examples/pytorch-style/train.py"), server.folder)
        server.submit(
            {"spec": 1, "name": "pauses", "goal": "maximize accuracy",
             "parameters": {"lr": {"type": "double", "min": 1e-3, "max": 3,
                                   "scale": "log"}},
             "trials": 6, "parallel": 2, "seed": 1, "trialTimeout": "2m",
             "command": ["python3", "train.py", "--epochs=27"],
             "replicas": {"worker": {"count": 1}},
             "earlyStopping": {"rule": "asha", "maxSteps": 27, "pause": True}},
            env={"PYTHONPATH": tree.PACKAGE})
        status = server.wait_study("pauses")
        tap.equal(status["state"], "SUCCEEDED", status["reason"])
        trials = server.trials("pauses")
        tap.equal(len(trials), 6)
        done = [trial for trial in trials
                if trial["hypertune"]["state"] == "SUCCEEDED"]
        tap.true(len(done) > 0, len(done))
        for trial in trials:
            steps = [int(row["step"])
                     for row in server.measurements("pauses", trial["id"])]
            # An order to pause may come when a quick trial is through, which
            # then reports its last step once more.
            made = [step for step in steps if step < 27]
            tap.equal(len(set(made)), len(made), "a step twice")
            tap.true(max(steps) == 27 or trial not in done, steps)
        # On a busy machine it may have trained on until the order came.
        tap.contains("paused by the asha rule", server.log_text())


tap.run([the_best_continue_and_the_others_wait,
         a_server_that_dies_in_between_changes_nothing,
         the_example_with_checkpoints_continues_where_it_was])
