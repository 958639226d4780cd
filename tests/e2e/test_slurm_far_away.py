"""A Slurm that shares no folder with the runner, while the runner, its process
on the login node or the connection between them is gone."""

import contextlib
import os
import signal

import harness
import slurm_far
import tap


def over_kills():
    """Of the runner and of its process on the login node."""
    with slurm_far.Runner(far, "killed") as one:
        far.server.submit(far.spec("killed", one, trials=16))
        for turn in range(6):
            done = far.server.study("killed")["counts"]["succeeded"]
            harness.wait_until(
                lambda: far.server.study("killed")["counts"]["succeeded"] >
                done or far.server.study("killed")["state"] == "SUCCEEDED",
                "a trial")
            if turn % 2:
                one.kill()
                one.__enter__()
            else:
                for pid in harness.wait_until(one.mirrors, "a mirror"):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        far.check_trials("killed", 16)
        far.quiet()


def over_a_lapse():
    """Trials continue while there is no connection, and arrive later."""
    with slurm_far.Runner(far, "lapse") as one:
        far.server.submit(far.counting("lapse", one, 12, 1, trials=2))
        harness.wait_until(lambda: len(far.server.trials("lapse")) == 2 and
                           far.scores("lapse", 1) and far.scores("lapse", 2),
                           "reports")
        far.disconnect()
        one.wait_log("far.away")
        far.open_gate("lapse")
        ends = [os.path.join(folder, "exit.json")
                for folder, _, names in os.walk(one.root)
                if "launch.json" in names]
        tap.equal(len(ends), 2)
        harness.wait_until(lambda: all(map(os.path.exists, ends)),
                           "the ends of both trials at the cluster")
        far.server.submit(far.spec("later", one, trials=2))
        harness.wait_until(
            lambda: "hypertune runners connect" in
            far.server.study("later")["reason"], "words about the connection")
        tap.equal(far.server.study("lapse")["counts"]["succeeded"], 0)
        one.kill()
        far.connect()
        one.__enter__()
        far.succeeded("lapse")
        for number in (1, 2):
            tap.equal(far.scores("lapse", number), list(range(1, 13)))
            trial = far.server.trial("lapse", number)
            tap.equal(trial["hypertune"]["attempt"], 1)
        far.check_trials("later", 2)
        far.quiet()


with slurm_far.Far() as far:
    tap.run([over_kills, over_a_lapse])
