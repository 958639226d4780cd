"""Equal spec, seed and results give equal suggestions, with and without a
server that dies in between."""

import os

import checker
import harness
import tap

TRIALS = 30
SPEC = {
    "spec": 1, "name": "replay", "goal": "minimize loss", "seed": 77,
    "parameters": {
        "lr": {"type": "double", "min": 1e-5, "max": 0.1, "scale": "log"},
        "units": {"type": "integer", "min": 1, "max": 512},
        "opt": ["adam", "sgd", "rmsprop"]},
    "algorithm": "random", "trials": TRIALS, "parallel": 1, "args": "none",
    "command": "hypertune report loss=${lr}"}
# 2 * 3 * 2 points, fewer than the trials asked for.
GRID = dict(SPEC, name="grid", algorithm="grid", parameters={
    "lr": [0.25, 0.5], "units": {"type": "integer", "min": 1, "max": 3},
    "opt": ["adam", "sgd"]})


def run(spec, kills=()):
    """The parameters of all trials, by id; the server dies when that many
    trials have succeeded."""
    path = harness.bin_dir() + os.pathsep + os.environ["PATH"]
    with harness.Server(slots=1) as server:
        server.submit(spec, env={"PATH": path})
        for count in kills:
            harness.wait_until(
                lambda: server.study(spec["name"])["counts"]["succeeded"] >=
                count, "%d trials" % count)
            server.kill()
            server.start()
        status = server.wait_study(spec["name"])
        tap.equal(status["state"], "SUCCEEDED", status["reason"])
        trials = [trial["hypertune"]
                  for trial in server.trials(spec["name"])]
        for trial in trials:
            tap.equal(trial["objective"], trial["params"]["lr"], "objective")
        tap.equal(checker.stop_and_check(server)[1], [])
        return [trial["params"] for trial in trials]


first = []


def a_study_tries_as_many_points_as_asked():
    first.extend(run(SPEC))
    tap.equal(len(first), TRIALS)
    tap.equal(len({str(params) for params in first}), TRIALS)


def the_same_study_tries_the_same_points_again():
    tap.equal(run(SPEC), first)


def a_server_that_dies_in_between_changes_nothing():
    tap.equal(run(SPEC, kills=(5, 15)), first)


def another_seed_tries_other_points():
    others = run(dict(SPEC, seed=78, trials=3))
    tap.equal([params for params in others if params in first], [])


def a_grid_ends_with_its_last_point_also_after_a_crash():
    tap.equal(run(GRID, kills=(4,)), [
        {"lr": lr, "units": units, "opt": opt}
        for lr in (0.25, 0.5) for units in (1, 2, 3)
        for opt in ("adam", "sgd")])


tap.run([a_study_tries_as_many_points_as_asked,
         the_same_study_tries_the_same_points_again,
         a_server_that_dies_in_between_changes_nothing,
         another_seed_tries_other_points,
         a_grid_ends_with_its_last_point_also_after_a_crash])
