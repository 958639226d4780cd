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
        a_trial_without_a_value_shows_why,
        an_export_has_every_trial_and_no_markup_of_its_own,
    ])
