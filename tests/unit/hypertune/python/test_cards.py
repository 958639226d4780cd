"""A study and its trials as a notebook shows them, and as files."""

import csv
import json
import os
import tempfile

import tap
from canned import HOSTILE, Canned, resource, trial

import hypertune
from hypertune.study import Study


def a_study_shows_its_card():
    made = resource("resnet", best=trial(46, 0.949597321048319),
                    succeeded=107, failed=9, stopped=4, active=3)
    study = Study(Canned(made), "", made)
    tap.equal(repr(study), "Study resnet RUNNING 120/160 trials, "
              "best accuracy=0.9496 (trial 46)")
    tap.equal(study._repr_html_(), (
        "<table><tr><th colspan=2>resnet - RUNNING</th></tr>\n"
        "<tr><td>best accuracy</td><td><b>0.9496</b> (trial 46)</td></tr>\n"
        "<tr><td>trials</td><td>120 / 160 - 3 running, 9 failed, "
        "4 stopped early</td></tr>\n"
        "<tr><td>best parameters</td><td><code>lr=0.0007912 opt=adam</code>"
        "</td></tr></table>"))
    tap.equal(repr(study.summary().best),
              "Trial 46 SUCCEEDED accuracy=0.9496 step=20\n"
              "  lr=0.0007912 opt='adam'")


def a_card_shows_the_failed_trials_of_an_ended_study():
    made = resource("resnet", succeeded=2, failed=4, infeasible=3)
    made["hypertuneStatus"].update(state="SUCCEEDED", failures={
        "words": "4 of 6 failed", "mostly": True, "reason": HOSTILE})
    study = Study(Canned(made), "", made)
    tap.equal(repr(study).split("'")[0], "Study resnet SUCCEEDED 6/160 trials, "
              "4 of 6 failed: most often ")
    tap.lacks("\x1b", repr(study))
    shown = study._repr_html_()
    tap.contains(
        '<td>failures</td><td><b style="color:#b03a2e">4 of 6 failed: ', shown)
    tap.lacks("<script", shown)


def names_from_outside_never_become_markup():
    made = resource(HOSTILE, HOSTILE, trial(1, 0.5, opt=HOSTILE), active=1)
    study = Study(Canned(made), "", made)
    for text in (study._repr_html_(), study.summary().best._repr_html_()):
        tap.lacks("<script", text)
        tap.contains("&lt;script&gt;", text)
    for text in (repr(study), repr(study.summary().best),
                 study._repr_html_(), study.summary().best._repr_html_()):
        tap.lacks("\x1b", text)
        tap.lacks("\u202e", text)


def a_study_shows_its_history_and_its_best_trials():
    made = resource("resnet", best=trial(3, 0.9), succeeded=4)
    made.update({"columns": ["id", "state", "objective", "parameters"],
                 "parameters": ["lr", HOSTILE], "rows": [
                     [1, "SUCCEEDED", 0.5, [0.1, None]],
                     [2, "FAILED", None, [0.1, "x"]],
                     [3, "SUCCEEDED", 0.9, [0.2, HOSTILE]],
                     [4, "STOPPED", 0.95, [0.2, "x"]],
                     [5, "SUCCEEDED", 0.7, [0.3, "x"]]]})
    shown = Study(Canned(made), "", made)._repr_html_()
    tap.lacks("<script", shown)
    tap.equal(shown.count("<circle"), 3)
    # The stairs of the best so far: up once, then level.
    tap.contains('points="4.0,36.0 100.0,4.0 196.0,4.0"', shown)
    rows = shown.split("best trials</td><td>")[1].split("<br>")
    tap.equal([row.split(" ")[:3] for row in rows],
              [["3:", "<b>0.9</b>", "<code>lr=0.2"],
               ["5:", "<b>0.7</b>", "<code>lr=0.3"],
               ["1:", "<b>0.5</b>", "<code>lr=0.1</code></td></tr></table>"]])


def a_trial_shows_all_its_metrics_and_its_curve():
    made = resource()
    study = Study(Canned({"measurements": [
        {"trial": 1, "step": str(step), "timeMs": 5, "metrics": {
            "accuracy": value}}
        for step, value in enumerate(["NaN", 0.25, 0.75, 0.5])]}), "", made)
    one = trial(1, 0.5)
    one["finalMeasurement"] = {"metrics": [
        {"metricId": "accuracy", "value": 0.5},
        {"metricId": HOSTILE, "value": 3}]}
    shown = hypertune.Trial(study, one)._repr_html_()
    tap.contains("=3</td>", shown)
    tap.lacks("<script", shown)
    tap.equal(shown.count("<circle"), 3)
    tap.lacks("nan", shown)
    tap.contains('points="4.0,36.0 100.0,4.0 196.0,20.0"', shown)


def waiting_outlives_a_server_that_restarts_but_not_a_deletion():
    made = resource(succeeded=1)
    made["hypertuneStatus"]["state"] = "SUCCEEDED"
    answers = [hypertune.Unavailable("refused"),
               hypertune.Unavailable("refused"), made,
               hypertune.NotFound("no study")]

    class Restarting:
        def call(self, *_, **__):
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
    study = Study(Restarting(), "", made)
    tap.equal(study.wait(60), "SUCCEEDED")
    tap.raises(hypertune.NotFound, study.wait)
    answers.append(hypertune.Unavailable("refused"))
    tap.raises(hypertune.Unavailable, study.wait, 0)


def a_trial_without_a_value_shows_why():
    made = resource()
    study = Study(Canned(made), "", made)
    shown = hypertune.Trial(study, trial(3, None, "FAILED"))
    tap.equal(shown.value, None)
    tap.contains("alert", repr(shown))
    tap.contains("&lt;script&gt;", shown._repr_html_())


def an_export_has_every_trial_and_no_markup_of_its_own():
    made = resource()
    study = Study(Canned(made), "", made)
    rows = [trial(1, 0.5, opt='a,"b"\n'), trial(2, None, "FAILED")]
    study._transport.answer = {"trials": rows, "measurements": [
        {"trial": 1, "step": "2", "timeMs": 5, "attempt": 1,
         "replica": "master-0", "metrics": {"accuracy": 0.25}}]}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "all.csv")
        study.export(path)
        with open(path, encoding="utf-8", newline="") as file:
            read = list(csv.DictReader(file))
        tap.equal([(row["id"], row["state"], row["value"], row["params.opt"])
                   for row in read], [("1", "SUCCEEDED", "0.5", 'a,"b"\n'),
                                      ("2", "FAILED", "", "adam")])
        path = os.path.join(folder, "all.jsonl")
        study.export(path)
        with open(path, encoding="utf-8") as file:
            read = [json.loads(line) for line in file]
        tap.equal([row.get("value") for row in read], [0.5, None])
        tap.equal([row["measurements"] for row in read], [
            [{"step": 2, "timeMs": 5, "attempt": 1, "replica": "master-0",
              "metrics": {"accuracy": 0.25}}], []])
        tap.equal(read[0]["params"], {"lr": 0.00079123, "opt": 'a,"b"\n'})


if __name__ == "__main__":
    tap.run([
        a_study_shows_its_card, a_card_shows_the_failed_trials_of_an_ended_study,
        names_from_outside_never_become_markup,
        a_study_shows_its_history_and_its_best_trials,
        a_trial_shows_all_its_metrics_and_its_curve,
        waiting_outlives_a_server_that_restarts_but_not_a_deletion,
        a_trial_without_a_value_shows_why,
        an_export_has_every_trial_and_no_markup_of_its_own,
    ])
