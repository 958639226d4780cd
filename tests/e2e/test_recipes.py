"""docs/recipes, each done as it says where its tool is installed, and the
studies that they leave."""

import importlib.util
import json
import shutil
import subprocess

import tap
import tree
import walkthrough
from cli_home import Home


def need_module(name, called):
    """The python3 of the trials is the one that runs this."""
    if importlib.util.find_spec(name) is None:
        raise tap.Skip(called + " is not installed")


def trials_of(home, study):
    """All trials of a study, none of which may have failed."""
    rows = [row["hypertune"] for row in json.loads(
        home.cli("trials", study, "-o", "json", "--limit", "0")[0])]
    states = {row["state"] for row in rows}
    tap.true(states <= {"SUCCEEDED", "STOPPED"}, states)
    return rows


def result_of(home, study):
    """The best trial of a study, and the last steps of all. The best may be one
    that ended early: what it reports is not the same at every step."""
    steps = {trial["step"] for trial in trials_of(home, study)}
    best = json.loads(home.cli("best", study, "-o", "json")[0])
    return best["hypertune"], steps


def follow(recipe, study):
    """Does what a recipe says; returns the result of its study."""
    with Home() as home:
        tap.true(walkthrough.follow(home, "recipes/" + recipe) > 1, recipe)
        return result_of(home, study)


def a_script_reports_every_step():
    best, steps = follow("shell.md", "valley")
    tap.contains("20", steps)
    tap.true(best["objective"] < 1, best)


def scikit_learn_reports_every_fold():
    need_module("sklearn", "scikit-learn")
    best, steps = follow("scikit-learn.md", "tumours")
    tap.contains("5", steps)
    tap.true(best["objective"] > 0.9, best)


def pytorch_continues_from_its_checkpoint():
    need_module("torch", "PyTorch")
    with Home() as home:
        walkthrough.follow(home, "recipes/pytorch.md")
        _, steps = result_of(home, "sine")
        # The document's own runs left the checkpoint of the last epoch.
        again = subprocess.run(
            ["python3", "train.py"], cwd=home.folder,
            env=home.environment({
                "HYPERTUNE_RESUME": "1",
                "PYTHONPATH": tree.PACKAGE}),
            stdout=subprocess.PIPE, encoding="utf-8")
    tap.contains("27", steps)
    tap.contains("epochs 27 to 27:", again.stdout)


def the_best_round_of_xgboost_counts():
    need_module("xgboost", "XGBoost")
    best, _ = follow("xgboost.md", "boosting")
    tap.true(best["objective"] <= best["latest"]["metrics"]["rmse"], best)
    tap.true(best["objective"] < 0.5, best)


def r_reports_through_the_command():
    if not shutil.which("Rscript"):
        raise tap.Skip("Rscript is not installed")
    _, steps = follow("r-julia.md", "brakes")
    tap.equal(steps, {"5"})


tap.run([a_script_reports_every_step, scikit_learn_reports_every_fold,
         pytorch_continues_from_its_checkpoint, the_best_round_of_xgboost_counts,
         r_reports_through_the_command])
