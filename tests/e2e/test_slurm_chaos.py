"""Daemons of a real Slurm, the runner and the server are killed in turn while
trials of one and of two nodes run: all end, none is won twice or lost.
HYPERTUNE_TRIALS: how many trials, by the commands and by slurmrestd each."""

import collections
import contextlib
import itertools
import os
import sys

import harness
import slurm
import tap
from runner_process import Runner

TRIALS = int(os.environ.get("HYPERTUNE_TRIALS", "16"))
# Slurm may kill a task of two when its controller comes back; the other one
# waits for a while, and later a requeued element for its turn.
PATIENCE_S = 400
# The master says that it begins, and has a curve.
TRAINER = """
import os, sys, time, hypertune
x, begun = float(sys.argv[1]), sys.argv[2]
if os.environ["HYPERTUNE_REPLICA"] == "master-0":
    with open(begun, "a") as file:
        file.write(os.environ["CLOUD_ML_TRIAL_ID"] + "\\n")
    for step in range(1, 4):
        hypertune.HyperTune().report_hyperparameter_tuning_metric(
            "score", x * step, step)
        time.sleep(0.5)
"""

server = harness.Server("--runner", "none")
cluster = slurm.Cluster(nodes=6)


def begun_file(name):
    return os.path.join(server.folder, name + ".begun")


def spec(name, trials, **members):
    return {"spec": 1, "name": name, "goal": "maximize score",
            "trials": trials, "parallel": 4, "algorithm": "random", "seed": 1,
            "parameters": {"x": {"type": "double", "min": 0.1, "max": 1}},
            "command": [sys.executable, "-c", TRAINER, "${x}",
                        begun_file(name)],
            "args": "none", "grace": "2s", "slurm": {}, **members}


def kill(process):
    process.kill()
    process.wait()


def restart_daemon(word, start):
    """Kills the newest daemon whose command line has that word."""
    kill([one for one in cluster.processes if word in one.args][-1])
    start()


def killers(runner):
    def restart_runner():
        kill(runner.process)
        runner.__enter__()

    def restart_server():
        server.kill()
        server.start()

    return [restart_runner, restart_server,
            lambda: restart_daemon(slurm_path("slurmctld"),
                                   cluster.start_controller),
            restart_runner,
            lambda: restart_daemon("n1", lambda: cluster.start_node("n1")),
            lambda: restart_daemon(cluster.rest, restart_rest)]


def slurm_path(name):
    return next(one.args[0] for one in cluster.processes
                if os.path.basename(one.args[0]) == name)


def restart_rest():
    with contextlib.suppress(FileNotFoundError):
        os.unlink(cluster.rest[len("unix:"):])
    cluster.start_rest()


def counts(names):
    studies = [server.study(name) for name in names]
    return (sum(study["counts"]["succeeded"] for study in studies),
            all(study["state"] == "SUCCEEDED" for study in studies))


def check(name, trials):
    status = server.wait_study(name)
    tap.equal(status["state"], "SUCCEEDED", server.explain(name))
    with open(begun_file(name), encoding="ascii") as file:
        begun = collections.Counter(file.read().split())
    found = server.trials(name)
    # A number is left out where a point was withdrawn before it began.
    tap.equal(len({trial["id"] for trial in found}), trials)
    tap.true(set(begun) <= {trial["id"] for trial in found}, "begun")
    for trial in found:
        x = float(trial["parameters"][0]["value"])
        ours = server.trial(name, trial["id"])["hypertune"]
        tap.equal(ours["state"], "SUCCEEDED")
        tap.equal([ours["objective"], ours["attempts"][-1]["outcome"]],
                  [x * 3, "succeeded"])
        tap.equal([one["outcome"] for one in ours["attempts"]].count(
            "succeeded"), 1, "attempts that won")
        tap.true(1 <= begun[trial["id"]] <= ours["attempt"],
                 "begun as often as attempted")


def quiet():
    harness.wait_until(lambda: not cluster.call(
        "squeue", "-h", "-t", "PENDING,RUNNING,COMPLETING").split(),
        "the end of all elements", PATIENCE_S)


@contextlib.contextmanager
def explained(runner):
    try:
        yield
    except AssertionError:
        print("\n# ".join(["# what Slurm and the runner say:"] + (
            cluster.call("squeue", "-a") + runner.log()).splitlines()[-60:]))
        raise


def survive(way, *options):
    pairs = max(TRIALS // 4, 2)
    names = {way + "-one": TRIALS - pairs, way + "-two": pairs}
    with Runner(server, way, "--engine", "slurm", *options, url=server.http,
                slots=8) as runner:
        server.submit(spec(way + "-one", TRIALS - pairs))
        server.submit(spec(way + "-two", pairs, parallel=1,
                           replicas={"worker": {"count": 1}}))
        rounds = 0
        for restart in itertools.cycle(killers(runner)):
            done, over = counts(names)
            if over:
                break
            with explained(runner):
                harness.wait_until(lambda done=done: counts(names)[0] > done or
                                   counts(names)[1], "a trial that succeeds",
                                   PATIENCE_S)
            restart()
            rounds += 1
        for name, trials in names.items():
            check(name, trials)
        quiet()
        print("# %d kills while %d trials ended" % (rounds, TRIALS))
        tap.true(rounds >= 4, "kills")


def by_commands():
    survive("commands")


def by_slurmrestd():
    survive("rest", "--slurm-rest", cluster.rest)


with contextlib.ExitStack() as stack:
    stack.enter_context(cluster)
    os.environ.update(cluster.environment)
    stack.callback(server.close)
    server.start()
    tap.run([by_commands, by_slurmrestd])
