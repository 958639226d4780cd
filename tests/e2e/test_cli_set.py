"""Studies changed from the command line while they exist, and cloned with what
cannot change."""

import json
import os

import tap
from cli_home import Home
from harness import Server, wait_until

TRAIN = """
import sys
values = dict(a[2:].split("=") for a in sys.argv[1:])
print("accuracy=%g memory=%g" % (1 - float(values["lr"]),
                                 float(values["lr"])))
"""
SLOW = TRAIN + "import time; time.sleep(600)\n"
LR = {"type": "double", "min": 0.01, "max": 0.1, "scale": "log"}


def spec(**changes):
    made = {"spec": 1, "name": "quick", "goal": "maximize accuracy",
            "parameters": {"lr": LR, "layers": {"type": "integer", "min": 1,
                                                "max": 8},
                           "opt": ["adam", "sgd"]},
            "algorithm": "random", "seed": 7, "trials": 3, "parallel": 1,
            "grace": "1s",
            "metrics": {"stdout": "accuracy={accuracy} memory={memory}"},
            "command": ["python3", "train.py"]}
    made.update(changes)
    return made


def a_finished_study(home, **changes):
    home.write("train.py", TRAIN)
    home.write("spec.yaml", spec(**changes))
    home.cli("submit", "spec.yaml", "--wait")


def rates(home, name):
    """The values of lr, by trial."""
    return {trial["id"]: trial["params"]["lr"]
            for trial in home.trials(name)}


def a_study_searches_its_new_space_and_keeps_what_it_had():
    with Home() as home:
        a_finished_study(home)
        _, err = home.cli("set", "quick", "lr=0.5..0.9", "opt=+lion,-sgd",
                          "layers=..4", "-n", "+3")
        tap.equal(err.splitlines()[:5], [
            "parameters.lr.min: 0.01 -> 0.5",
            "parameters.lr.max: 0.1 -> 0.9",
            "parameters.layers.max: 8 -> 4",
            'parameters.opt: ["adam","sgd"] -> ["adam","lion"]',
            "trials: 3 -> 6"])
        tap.contains("study quick is RUNNING: 6 trials, 1 at a time\n", err)
        tap.contains("3 of 3 trials are outside the space as it is now; "
                     "hypertune best quick --within leaves them out\n", err)
        home.cli("watch", "quick")
        found = rates(home, "quick")
        tap.equal([0.5 <= found[n] <= 0.9 for n in sorted(found)],
                  [False] * 3 + [True] * 3, found)


def what_is_outside_is_marked_and_left_out_where_that_is_asked():
    with Home() as home:
        a_finished_study(home)
        tap.equal("OUTSIDE" in home.cli("trials", "quick")[0], False)
        home.cli("set", "quick", "lr=0.5..0.9", "-n", "+1")
        home.cli("watch", "quick")
        rows = [row.split() for row in
                home.cli("trials", "quick")[0].splitlines()]
        at = rows[0].index("OUTSIDE")
        tap.equal([row[at] for row in rows[1:4]], ["lr"] * 3, rows)
        out, _ = home.cli("trial", "quick/1")
        tap.contains("\noutside the space as it is now (lr)\n", out)
        tap.equal("outside" in home.cli("trial", "quick/4")[0], False)
        best = json.loads(home.cli("best", "quick", "-o", "json")[0])
        tap.equal(best["hypertune"]["outside"], True)
        tap.contains(", outside", home.cli("list")[0])
        best = json.loads(
            home.cli("best", "quick", "--within", "-o", "json")[0])
        tap.equal(best["id"], "4")


def of_several_goals_those_inside_are_compared_alone():
    with Home() as home:
        a_finished_study(home, goal=["maximize accuracy", "maximize memory"])
        home.cli("set", "quick", "lr=0.5..0.9", "-n", "+1")
        home.cli("watch", "quick")
        tap.equal(len(home.cli("best", "quick", "-o", "name")[0].split()), 4)
        tap.equal(home.cli("best", "quick", "--within", "-o", "name")[0],
                  "quick/4\n")


def without_a_trial_inside_there_is_no_best_within():
    with Home() as home:
        a_finished_study(home)
        home.cli("set", "quick", "lr=0.5..0.9")
        home.cli("best", "quick", "--within", want=3)
        home.cli("best", "quick")


def a_point_that_a_constraint_forbids_is_outside_by_it():
    with Home() as home:
        a_finished_study(home, parameters={
            "lr": {"type": "double", "min": 0, "max": 1},
            "layers": {"type": "integer", "min": 5, "max": 8}}, trials=1)
        _, err = home.cli("set", "quick", "layers=1..8", "--constraint",
                          "layers < 5")
        tap.contains("1 of 1 trials is outside", err)
        out, _ = home.cli("trial", "quick/1")
        tap.contains("\noutside the space as it is now (constraints)\n", out)
        _, err = home.cli("set", "quick", "--no-constraint", "layers<5")
        tap.contains('constraints: ["layers < 5"] -> none\n', err)
        tap.equal("outside" in home.cli("trial", "quick/1")[0], False)


def suggestions_that_wait_are_withdrawn():
    with Home() as home:
        home.write("train.py", SLOW)
        home.write("spec.yaml", spec(trials=4, parallel=4))
        home.cli("submit", "spec.yaml")
        counts = {"active": 2, "requested": 2}
        wait_until(lambda: counts.items() <= home.describe("quick")[
            "hypertuneStatus"]["counts"].items(), "two trials that wait")
        _, err = home.cli("set", "quick", "lr=0.5..0.9")
        tap.contains("2 suggestions that had not started are withdrawn\n", err)
        wait_until(lambda: counts.items() <= home.describe("quick")[
            "hypertuneStatus"]["counts"].items(), "two others")
        found = rates(home, "quick")
        tap.equal(sum(0.5 <= value <= 0.9 for value in found.values()), 2,
                  found)


def rules_and_bounds_change_with_it():
    with Home() as home:
        a_finished_study(home, safety="memory <= 1")
        home.cli("set", "quick", "--stop-rule", "asha:minSteps=2,factor=3",
                 "--safety", "memory <= 0.5 for 90% of trials", "--noise",
                 "high", "--until", "target=0.99", "--until", "time=2h",
                 "--max-failed", "2")
        # What is there already is no difference, but the one thing left out.
        out, _ = home.cli("set", "quick", "--stop-rule", "asha:factor=3",
                          "--safety", "memory <= 0.5", "--noise", "high",
                          "--until", "target=0.99", "--until", "time=2h",
                          "--max-failed", "2", "--dry-run")
        tap.equal(out, "earlyStopping.minSteps: 2 -> none\n")
        out, _ = home.cli("set", "quick", "--stop-rule", "none", "--safety",
                          "memory <= 0.4", "--dry-run")
        tap.equal(out, "safety: memory <= 0.5 for 90% of trials -> memory <= "
                  "0.4 for 90% of trials\nearlyStopping: "
                  '{"rule":"asha","minSteps":2,"factor":3} -> none\n')


STUDIES = "/v1/projects/local/locations/local/studies"


def categorical(name, *values, **more):
    return {"parameterId": name,
            "categoricalValueSpec": {"values": list(values)}, **more}


def real(name, low, high):
    return {"parameterId": name,
            "doubleValueSpec": {"minValue": low, "maxValue": high}}


def a_study_of_clients_changes_as_google_says_it():
    child = {"parameterSpec": real("rate", 0, 1)}
    with Server() as server:
        status, _ = server.call("POST", STUDIES, {
            "displayName": "theirs",
            "studySpec": {
                "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
                "parameters": [
                    {**real("lr", 0.1, 0.1), "scaleType": "UNIT_LINEAR_SCALE"},
                    categorical("opt", "sgd", "adam", "lion",
                                conditionalParameterSpecs=[
                                    {**child, "parentCategoricalValues":
                                     {"values": ["adam"]}},
                                    {**child, "parentCategoricalValues":
                                     {"values": ["lion"]}}])]}})
        tap.equal(status, 200)
        done = server.cli("set", "theirs", "opt=+rms,-sgd", "--dry-run")
        tap.equal(done.stdout, 'parameters.opt: ["sgd","adam","lion"] -> '
                  '["adam","lion","rms"]\n')
        server.cli("set", "theirs", "opt=+rms,-sgd")
        lr, opt = server.get("/hypertune/v1/studies/theirs")["studySpec"][
            "parameters"]
        tap.equal(opt["categoricalValueSpec"]["values"],
                  ["adam", "lion", "rms"])
        tap.equal([one["parentCategoricalValues"]["values"] for one in
                   opt["conditionalParameterSpecs"]], [["adam"], ["lion"]])
        tap.equal(lr["scaleType"], "UNIT_LINEAR_SCALE")
        done = server.cli("set", "theirs", "rate=0..2", check=False)
        tap.equal(done.returncode, 2)
        tap.contains("several parameters are called rate", done.stderr)
        done = server.cli("set", "theirs", "opt=-adam", check=False)
        tap.contains("opt: must keep adam, with which rate exists",
                     done.stderr)
        done = server.cli("clone", "theirs", "lr=real:0.1..0.2", "--algorithm",
                          "random", "--fresh")
        tap.equal(done.stdout, "theirs-2\n")
        clone = server.get("/hypertune/v1/studies/theirs-2")
        tap.equal(clone["studySpec"]["algorithm"], "RANDOM_SEARCH")
        tap.equal(clone["studySpec"]["parameters"][1], opt)


def a_dry_run_changes_nothing():
    with Home() as home:
        a_finished_study(home)
        before = home.describe("quick")
        out, _ = home.cli("set", "quick", "--dry-run", "lr=..1", "-n", "+1")
        tap.equal(out, "parameters.lr.max: 0.1 -> 1\ntrials: 3 -> 4\n")
        out, _ = home.cli("set", "quick", "--dry-run", "lr=..0.1")
        tap.equal(out, "")
        _, err = home.cli("set", "quick", "--dry-run", "--constraint",
                          "layers > 8", want=2)
        tap.contains("no values of the parameters satisfy it", err)
        home.cli("clone", "quick", "--dry-run", "lr=real:0..1")
        tap.equal(home.describe("quick"), before)
        tap.equal(home.cli("list", "-o", "name")[0], "quick\n")


def what_is_wrong_is_said_before_anything_changes():
    with Home() as home:
        a_finished_study(home, safety="memory <= 1")
        before = home.describe("quick")
        for words, message in (
                (["lr=..1", "layer=1..2"],
                 'study quick has no parameter "layer" (did you mean '
                 "layers?)"),
                (["trails=4"],
                 'study quick has no parameter "trails" (did you mean '
                 "trials?)"),
                (["lr"], '"lr" is no change'),
                (["lr=1.."], "lr: its low end 1 would be above its high end"),
                (["layers=1..8.5"], "layers needs a range of whole numbers"),
                (["--constraint", "layers > 8"],
                 "no values of the parameters satisfy it"),
                (["--constraint", "depth > 8"], '"depth" is no parameter'),
                (["--stop-rule", "medain"], "earlyStopping"),
                (["--safety", "memry <= 1"],
                 'no safety metric "memry" (did you mean memory?)'),
                (["--noise", "some"], "noise"),
                (["--max-failed", "100001"],
                 "max-failed must be 0 to 100000, is 100001"),
                (["lr=linear:0.1..1"],
                 "hypertune clone quick --name NEW lr=linear:0.1..1")):
            _, err = home.cli("set", "quick", *words, want=2)
            tap.contains(message, err)
        tap.equal(home.describe("quick"), before)


def a_clone_has_what_cannot_change_and_begins_with_the_results():
    with Home() as home:
        outputs = os.path.join(home.folder, "out")
        a_finished_study(home, outputDir=outputs)
        out, err = home.cli("clone", "quick", "lr=linear:0.01..0.5",
                            "opt=+lion", "--param", "drop=0.0..0.5",
                            "--algorithm", "bayesian", "--seed", "3", "-n",
                            "2")
        tap.equal(out, "quick-2\n")
        for line in ("parameters.lr.max: 0.1 -> 0.5",
                     "parameters.lr.scale: log -> none",
                     'parameters.opt: ["adam","sgd"] -> '
                     '["adam","sgd","lion"]',
                     'parameters.drop: none -> {"type":"double","min":0,'
                     '"max":0.5}',
                     'warmStart: none -> ["quick"]',
                     "algorithm: random -> bayesian", "seed: 7 -> 3",
                     "trials: 3 -> 2",
                     "outputDir: %s -> %s/quick-2" % (outputs, outputs),
                     "created study quick-2 (id 2), a clone of quick"):
            tap.contains(line + "\n", err)
        home.cli("watch", "quick-2")
        tap.contains("learns from quick, 3 results",
                     home.cli("describe", "quick-2")[0])
        tap.equal(sorted(home.trials("quick-2")[0]["params"]),
                  ["drop", "layers", "lr", "opt"])
        tap.equal(home.cli("clone", "quick", "--fresh")[0], "quick-3\n")
        tap.equal("learns from" in home.cli("describe", "quick-3")[0], False)


def a_clone_takes_the_first_free_name_or_the_given_one():
    with Home() as home:
        a_finished_study(home)
        for name in ("quick-2", "quick-3"):
            tap.equal(home.cli("clone", "quick")[0], name + "\n")
        tap.equal(home.cli("clone", "quick", "--name", "mine")[0], "mine\n")
        _, err = home.cli("clone", "quick", "--name", "mine", want=5)
        tap.contains("the name mine is taken", err)
        _, err = home.cli("clone", "quick", "--name", "7", want=2)
        tap.contains("7", err)


def a_spec_from_before_attaches_when_only_counts_were_set():
    with Home() as home:
        a_finished_study(home)
        home.cli("set", "quick", "-n", "+1", "-p", "2")
        home.cli("watch", "quick")
        _, err = home.cli("submit", "spec.yaml")
        tap.contains("study quick keeps what it was set to: trials 4, not 3; "
                     "parallel 2, not 1\n", err)
        tap.contains("4 of 4 trials ended", err)
        # A count that it never had is another spec, and so is another space.
        home.write("other.yaml", spec(trials=9))
        _, err = home.cli("submit", "other.yaml", want=5)
        tap.contains("trials: 4 -> 9\n", err)
        home.cli("submit", "spec.yaml", "-n", "3", want=5)
        home.cli("set", "quick", "lr=..0.2")
        _, err = home.cli("submit", "spec.yaml", want=5)
        tap.contains("parameters.lr.max: 0.2 -> 0.1\n", err)


tap.run([
    a_study_searches_its_new_space_and_keeps_what_it_had,
    what_is_outside_is_marked_and_left_out_where_that_is_asked,
    of_several_goals_those_inside_are_compared_alone,
    without_a_trial_inside_there_is_no_best_within,
    a_point_that_a_constraint_forbids_is_outside_by_it,
    suggestions_that_wait_are_withdrawn,
    rules_and_bounds_change_with_it,
    a_study_of_clients_changes_as_google_says_it,
    a_dry_run_changes_nothing,
    what_is_wrong_is_said_before_anything_changes,
    a_clone_has_what_cannot_change_and_begins_with_the_results,
    a_clone_takes_the_first_free_name_or_the_given_one,
    a_spec_from_before_attaches_when_only_counts_were_set,
])
