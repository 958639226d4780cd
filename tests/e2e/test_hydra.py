"""The sweeper for Hydra against a real server; Debian has no package of Hydra."""

import glob
import importlib.util
import os
import subprocess
import sys

import harness
import tap
import tree

import hypertune

SCRIPT = """
import math, os
import hydra

@hydra.main(version_base="1.3", config_path=".", config_name="conf")
def main(cfg):
    with open(os.path.join(cfg.seen, str(os.getpid())), "a") as file:
        file.write("x")
    if cfg.opt == "bad":
        raise RuntimeError("no such optimizer")
    return (math.log10(cfg.lr) + 3) ** 2 + cfg.n

main()
"""
CONF = """
defaults: [{override hydra/sweeper: hypertune}, _self_]
lr: 1
n: 0
opt: adam
seen: .
hydra:
  sweep: {dir: swept}
  sweeper:
    n_trials: 8
    seed: 1
    params: {opt: "choice(adam, bad)"}
"""
POINTS = ["lr=tag(log, interval(1e-5, 0.1))", "n=range(0, 4)"]


def main():
    if importlib.util.find_spec("hydra") is None:
        tap.skip("Hydra sweeps by the server's search", "no Hydra here")
        return
    with harness.Server() as server:
        client = hypertune.Client(server.http, server.token_file)
        for name, text in (("app.py", SCRIPT), ("conf.yaml", CONF)):
            with open(os.path.join(server.folder, name), "w",
                      encoding="utf-8") as file:
                file.write(text)

        def sweep(*words):
            seen = os.path.join(server.folder, "pids")
            os.makedirs(seen, exist_ok=True)
            done = subprocess.run(
                [sys.executable, "app.py", "-m", "seen=" + seen] + POINTS +
                list(words), cwd=server.folder, timeout=harness.PATIENCE,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={**os.environ, "HYPERTUNE_SERVER": server.http,
                     "HYPERTUNE_TOKEN_FILE": server.token_file,
                     "PYTHONPATH": os.pathsep.join(
                         [tree.PACKAGE] + sys.path[1:])})
            return done.returncode, done.stdout.decode()

        def every_job_is_a_trial():
            code, out = sweep()
            tap.equal(code, 0, out)
            study = client.study("app")
            tap.equal((study.state, study.maximize), ("SUCCEEDED", False))
            for trial in study.trials():
                tap.contains(trial.params["n"], range(4))
                good = trial.params["opt"] == "adam"
                tap.equal(trial.state, "SUCCEEDED" if good else "INFEASIBLE")
                tap.contains("" if good else "no such optimizer",
                             trial.reason)
            tap.equal(len(study.trials()), 8)
            with open(os.path.join(server.folder, "swept",
                                   "optimization_results.yaml"),
                      encoding="utf-8") as file:
                tap.contains("best_value: %r" % study.best_trial.value,
                             file.read())

        def the_same_sweep_again_runs_nothing_and_another_is_refused():
            code, out = sweep()
            tap.equal(code, 0, out)
            tap.equal(len(client.study("app").trials()), 8)
            code, out = sweep("hydra.sweeper.n_trials=9")
            tap.equal(code, 1, out)
            tap.contains("trials: 8 -> 9", out)

        def jobs_run_side_by_side_in_processes():
            for path in glob.glob(os.path.join(server.folder, "pids", "*")):
                os.remove(path)
            code, out = sweep("hydra.sweeper.n_jobs=2",
                              "hydra.sweeper.study_name=two")
            tap.equal(code, 0, out)
            tap.equal(client.study("two").counts["succeeded"] +
                      client.study("two").counts["infeasible"], 8)
            tap.equal(len(os.listdir(os.path.join(server.folder, "pids"))), 2)

        tap.run([every_job_is_a_trial,
                 the_same_sweep_again_runs_nothing_and_another_is_refused,
                 jobs_run_side_by_side_in_processes])


if __name__ == "__main__":
    main()
