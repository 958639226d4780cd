"""Trials in jobs of a Slurm that shares no folder with the runner: all it has
is one connection of ssh to a login node, which a person opens."""

import os
import sys

import harness
import slurm_far
import tap
import tfevents

# In a folder of its person, of which the cluster gets a copy.
CODE = """
import os, sys
import own
root = sys.argv[1]
assert os.getcwd().startswith(root + "/"), os.getcwd()
assert own.__file__.startswith(root + "/"), own.__file__
with open("out.csv", "w") as file:
    file.write("step,score\\n")
    for step in range(1, 1001):
        file.write("%d,%d\\n" % (step, step * own.FACTOR))
"""


def trials_end_well():
    with slurm_far.Runner(far, "well") as one:
        far.server.submit(far.spec("well", one))
        far.check_trials("well", 12)
        far.quiet()
        # What they had there goes with what the runner had of them.
        harness.wait_until(
            lambda: not os.listdir(one.root + "/batches"), "removed batches")
        tap.equal(os.stat(one.root).st_mode & 0o777, 0o700)


def code_and_a_metrics_file():
    folder = os.path.join(far.server.folder, "project")
    os.mkdir(folder)
    for name, text in (("train.py", CODE), ("own.py", "FACTOR = 7\n")):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
    with slurm_far.Runner(far, "code") as one:
        command = [sys.executable, "train.py", one.root]
        far.server.submit(far.spec("code", one, 3, command, workdir=folder,
                                   parallel=1, metrics={"file": "out.csv"}),
                          cwd=folder)
        far.succeeded("code")
        for number in range(1, 4):
            tap.equal(far.scores("code", number),
                      [7 * step for step in range(1, 1001)])
        tap.equal(len(os.listdir(one.root + "/code")), 1)
        far.quiet()


def event_files_of_tensorboard():
    with slurm_far.Runner(far, "events") as one:
        command = ["sh", "-c", tfevents.shell_of(
            "${trialDir}/logs", ("score", 0.25, 1), ("score", 0.5, 2))]
        far.server.submit(far.spec("events", one, 1, command,
                                   metrics={"events": "${trialDir}/logs"}))
        far.succeeded("events")
        tap.equal(far.scores("events", 1), [0.25, 0.5])
        far.quiet()


def a_stop():
    with slurm_far.Runner(far, "stop") as one:
        far.server.submit(far.counting("stop", one, 500, 500))
        harness.wait_until(lambda: far.server.trials("stop") and
                           far.scores("stop", 1), "a report")
        far.server.cli("stop-trial", "stop/1")
        harness.wait_until(
            lambda: far.server.trial("stop", 1)["hypertune"]["state"] ==
            "STOPPED", "the end of trial 1")
        tap.true(far.server.trial("stop", 1)["hypertune"]["objective"] >= 1)
        far.server.cli("cancel", "stop", "--yes", check=False)
        far.quiet()


def a_checkpoint():
    """Stays at the cluster, where the next attempt continues from it."""
    with slurm_far.Runner(far, "resume") as one:
        far.server.submit(far.counting("resume", one, 6, 3))
        harness.wait_until(lambda: far.server.trials("resume") and
                           len(far.scores("resume", 1)) >= 3, "reports")
        running = far.cluster.call("squeue", "-h", "-r", "-t", "R", "-o",
                                   "%F_%K")
        far.cluster.call("scancel", running.split()[0])
        harness.wait_until(lambda: far.server.trial("resume", 1)["hypertune"][
            "attempt"] == 2, "the next attempt")
        far.open_gate("resume")
        far.succeeded("resume")
        tap.equal(far.server.trial("resume", 1)["hypertune"]["attempt"], 2)
        tap.contains("continues at ",
                     far.server.cli("logs", "resume/1").stdout)
        tap.equal(far.scores("resume", 1)[-1], 6)
        far.quiet()


with slurm_far.Far() as far:
    tap.run([trials_end_well, code_and_a_metrics_file,
             event_files_of_tensorboard, a_stop, a_checkpoint])
