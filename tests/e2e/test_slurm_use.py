"""What people do with trials in jobs of a real Slurm: look at what runs and
waits, read and follow logs, fetch files, stop, pause, cancel, promote."""

import contextlib
import os
import sys

import harness
import slurm
import tap
from runner_process import Runner

# Leaves a file, says so and reports; then it waits for its stop.
TRAINER = """
import os, time, hypertune
for variable in "AIP_MODEL_DIR", "AIP_CHECKPOINT_DIR":
    with open(os.path.join(os.environ[variable], "weights"), "w") as file:
        file.write("of job " + os.environ["SLURM_JOB_ID"])
print("begins", flush=True)
hypertune.HyperTune().report_hyperparameter_tuning_metric("score", 0.5, 1)
while not os.path.exists(os.path.join(os.environ["HYPERTUNE_TRIAL_DIR"],
                                      "stop")):
    time.sleep(0.1)
print("ends", flush=True)
"""
# Continues at the step after its checkpoint. At the rung it waits for its stop,
# or for the file that lets it pass.
CLIMBER = """
import os, sys, time, hypertune
x, gate = sys.argv[1:]
path = os.path.join(os.environ["AIP_CHECKPOINT_DIR"], "step")
step = int(open(path).read()) if os.path.exists(path) else 0
stop = os.path.join(os.environ["HYPERTUNE_TRIAL_DIR"], "stop")
while step < 8:
    step += 1
    with open(path + ".new", "w") as file:
        file.write(str(step))
    os.replace(path + ".new", path)
    hypertune.HyperTune().report_hyperparameter_tuning_metric(
        "score", float(x) * step, step)
    while step == 4 and not os.path.exists(gate + x):
        if os.path.exists(stop):
            sys.exit()
        time.sleep(0.1)
"""

server = harness.Server("--runner", "none")
cluster = slurm.Cluster(nodes=2)


def spec(name):
    return {"spec": 1, "name": name, "goal": "maximize score", "trials": 9,
            "parallel": 2, "algorithm": "random", "seed": 1,
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "command": [sys.executable, "-c", TRAINER], "args": "none",
            "slurm": {}}


def report(name, trial):
    harness.wait_until(
        lambda: len(server.trials(name)) >= trial and
        server.measurements(name, trial), "trial %d of %s" % (trial, name))


def begin(name, trials=1):
    """Submits it; so many trials have reported."""
    server.submit(spec(name))
    for trial in range(1, trials + 1):
        report(name, trial)


def state(name, trial=1):
    return server.trial(name, trial)["hypertune"]["state"]


def cancel(name):
    server.cli("cancel", name, "--yes")
    tap.equal(server.wait_study(name)["state"], "CANCELLED")


def what_runs_is_shown():
    begin("shown")
    harness.wait_until(
        lambda: "slurm (Slurm by commands) · 2 run, 0 wait" in
        server.cli("runners").stdout, "both elements")
    tap.contains("shown", server.cli("list").stdout)
    tap.contains("ACTIVE", server.cli("trials", "shown").stdout)
    tap.contains("ACTIVE", server.cli("trial", "shown/1").stdout)
    cancel("shown")
    harness.wait_until(
        lambda: " · 0 run, 0 wait" in server.cli("runners").stdout, "no element")


def logs_come_while_it_runs():
    begin("read")
    harness.wait_until(
        lambda: "begins" in server.cli("logs", "read/1").stdout, "its log")
    tap.lacks("ends", server.cli("logs", "read/1").stdout)
    server.cli("stop-trial", "read/1")
    followed = server.cli("logs", "--follow", "read/1").stdout
    tap.contains("begins", followed)
    tap.contains("ends", followed)
    tap.equal(state("read"), "STOPPED")
    cancel("read")


def files_are_fetched():
    begin("fetched")
    folder = os.path.join(server.folder, "here")
    server.cli("fetch", "fetched/1", folder)
    for name in "model", "checkpoints":
        with open(os.path.join(folder, name, "weights"),
                  encoding="ascii") as file:
            tap.starts(file.read(), "of job ")
    cancel("fetched")


def a_paused_study_begins_no_trial():
    begin("paused", trials=2)
    server.cli("pause", "paused")
    for trial in 1, 2:
        server.cli("stop-trial", "paused/%d" % trial)
        harness.wait_until(lambda: state("paused", trial) == "STOPPED",
                           "the end of trial %d" % trial)
    tap.equal(server.study("paused")["state"], "PAUSED")
    tap.equal(len(server.trials("paused")), 2)
    server.cli("resume", "paused")
    report("paused", 3)
    server.cli("stop", "--yes", "paused")
    tap.equal(server.wait_study("paused")["state"], "STOPPED",
              server.explain("paused"))


def trials_are_promoted():
    """The best trial that pauses at a rung continues, in another turn or
    element, at its checkpoint."""
    gate = os.path.join(server.folder, "gate-")
    server.submit({**spec("rungs"), "trials": 4, "parallel": 1,
                   "algorithm": "grid", "parameters": {"x": list("4321")},
                   "command": [sys.executable, "-c", CLIMBER, "${x}", gate],
                   "earlyStopping": {"rule": "asha", "minSteps": 4, "factor": 2,
                                     "maxSteps": 8, "pause": True}})
    open(gate + "4", "w", encoding="ascii").close()
    harness.wait_until(
        lambda: len(server.trials("rungs")) >= 3 and
        state("rungs", 2) == "PAUSED", "the pause of the second trial")
    open(gate + "3", "w", encoding="ascii").close()
    tap.equal(server.wait_study("rungs")["state"], "SUCCEEDED",
              server.explain("rungs"))
    trials = [trial["hypertune"] for trial in server.trials("rungs")]
    tap.equal([(trial["state"], trial["attempt"]) for trial in trials[:2]],
              [("SUCCEEDED", 1), ("SUCCEEDED", 2)])
    tap.equal([int(row["step"]) for row in server.measurements("rungs", 2)],
              list(range(1, 9)))


with contextlib.ExitStack() as stack:
    stack.enter_context(cluster)
    os.environ.update(cluster.environment)
    stack.callback(server.close)
    server.start()
    stack.enter_context(Runner(server, "use", "--engine", "slurm",
                               url=server.http, slots=8))
    tap.run([what_runs_is_shown, logs_come_while_it_runs, files_are_fetched,
             a_paused_study_begins_no_trial, trials_are_promoted])
