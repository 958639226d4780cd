"""Studies from the command line that start from what others found."""

import json

import tap
from cli_home import Home

TRAIN = """
import sys
values = dict(a[2:].split("=") for a in sys.argv[1:])
lr, width = float(values["lr"]), int(values.get("width", 8))
print("accuracy=%g" % (1 - abs(lr - 0.3) - abs(width - 8) / 20))
"""


def spec(name, **changes):
    made = {"spec": 1, "name": name, "goal": "maximize accuracy",
            "parameters": {"lr": {"type": "double", "min": 0, "max": 1}},
            "trials": 6, "parallel": 1, "seed": 3,
            "metrics": {"stdout": "accuracy={accuracy}"},
            "command": ["python3", "train.py"]}
    made.update(changes)
    return made


def with_width(name, **changes):
    return spec(name, parameters={
        "lr": {"type": "double", "min": 0, "max": 1},
        "width": {"type": "integer", "min": 1, "max": 16}}, **changes)


def old_study(home):
    home.write("train.py", TRAIN)
    home.write("old.yaml", spec("old"))
    home.cli("run", "old.yaml")
    return json.loads(home.cli("best", "old", "-o", "json")[0])


def a_study_starts_from_the_best_of_another():
    with Home() as home:
        best = old_study(home)
        home.write("new.yaml", with_width("new", trials=1))
        home.cli("run", "new.yaml", "--warm-start", "old")
        home.cli("delete", "old", "--yes")
        first = json.loads(home.cli("best", "new", "-o", "json")[0])
        tap.equal(first["parameters"][0], best["parameters"][0])
        out, _ = home.cli("describe", "new")
        tap.contains("learns from old, 6 results, 1 parameter in common\n",
                     out)


def the_spec_may_say_it_and_the_flag_says_it_last():
    with Home() as home:
        old_study(home)
        home.write("again.yaml", spec("again", warmStart="nobody", trials=1))
        out, _ = home.cli("check", "again.yaml", "--warm-start", "a,b",
                          "--warm-start=c", "-o", "json")
        tap.equal(json.loads(out)["warmStart"], ["a", "b", "c"])
        out, _ = home.cli("submit", "again.yaml", "--dry-run")
        tap.contains("learns from nobody", out)
        _, err = home.cli("submit", "again.yaml", want=2)
        tap.contains('study "nobody" does not exist', err)
        home.cli("submit", "again.yaml", "--warm-start", "old", "--wait")
        out, _ = home.cli("describe", "again")
        tap.contains("learns from old, 6 results, all count as its own\n", out)
        out, _ = home.cli("trial", "again/1")
        tap.contains("6 earlier trials of old count\n", out)
        home.cli("submit", "again.yaml", "--warm-start", "old")
        _, err = home.cli("submit", "again.yaml", "--warm-start", "1,2",
                          want=5)
        tap.contains("warmStart: ", err)


def a_job_of_ai_platform_is_resumed():
    with Home() as home:
        old_study(home)
        home.write("job.yaml", {"jobId": "next", "trainingInput": {
            "hyperparameters": {
                "goal": "MAXIMIZE", "hyperparameterMetricTag": "accuracy",
                "maxTrials": 1, "resumePreviousJobId": "old",
                "params": [{"parameterName": "lr", "type": "DOUBLE",
                            "minValue": 0, "maxValue": 1}]},
            "masterConfig": {"imageUri": "none"}}})
        _, err = home.cli("submit", "job.yaml", "--", "python3", "train.py")
        tap.lacks("resumePreviousJobId", err)
        out, _ = home.cli("describe", "next")
        tap.contains("learns from old, 6 results, all count as its own\n", out)


def too_many_and_meaningless_ones_are_refused():
    with Home() as home:
        home.write("train.py", TRAIN)
        home.write("new.yaml", spec("new"))
        _, err = home.cli("check", "new.yaml", "--warm-start",
                          ",".join("abcdefghi"), want=2)
        tap.contains("at most 8 studies, not 9", err)
        home.write("one.json", {"jobSpec": {"workerPoolSpecs": [{
            "replicaCount": 1,
            "containerSpec": {"command": ["true"]}}]}})
        _, err = home.cli("check", "one.json", "--warm-start", "a", want=2)
        tap.contains("has no meaning", err)


tap.run([
    a_study_starts_from_the_best_of_another,
    the_spec_may_say_it_and_the_flag_says_it_last,
    a_job_of_ai_platform_is_resumed,
    too_many_and_meaningless_ones_are_refused,
])
