"""What a study teaches: importances, slices of its model, and why a point was
chosen. Clients bring the results, so no runner is needed."""

import csv
import io
import math
import random

import api
import harness
import tap
import vizier

import hypertune

LR = {"parameterId": "lr",
      "doubleValueSpec": {"minValue": 1e-4, "maxValue": 1},
      "scaleType": "UNIT_LOG_SCALE"}
UNITS = {"parameterId": "units",
         "integerValueSpec": {"minValue": "1", "maxValue": "8"}}
OPT = {"parameterId": "opt", "categoricalValueSpec": {"values": ["a", "s"]}}


def loss(point):
    return (100 + 10 * (math.log10(point["lr"]) + 2) ** 2 +
            0.2 * abs(point["units"] - 3) + (point["opt"] == "s"))


class Taught(vizier.Study):
    """A study with a model that learns a known loss."""

    def __init__(self, results):
        super().__init__(server, LR, UNITS, OPT,
                         algorithm="ALGORITHM_UNSPECIFIED")
        self.teach(results)

    def teach(self, results):
        for _ in range(results):
            trial, = self.suggest(1)["trials"]
            self.complete("/v1/" + trial["name"],
                          loss(vizier.values(trial["parameters"])))

    def ours(self, what):
        return "%s/studies/%s/%s" % (api.OURS, self.name.split("/")[-1], what)

    def asked(self, what):
        return self.good("GET", self.ours(what))

    def denied(self, what):
        status, answer = self.server.call("GET", self.ours(what))
        tap.equal(status, 400, what)
        return answer["error"]["message"]


def holds(condition, what=""):
    tap.true(condition, what)


def importances_come_with_enough_results():
    study = Taught(4)
    few = study.asked("importances")
    tap.equal((few["trials"], few["importances"]), (4, []))
    study.teach(16)
    many = study.asked("importances")
    tap.equal((many["metric"], many["trials"]), ("loss", 20))
    listed = many["importances"]
    tap.equal(sorted(i["parameter"] for i in listed), ["lr", "opt", "units"])
    holds(abs(sum(i["share"] for i in listed) - 1) < 1e-9, listed)
    numbers = [i["importance"] for i in listed]
    tap.equal(numbers, sorted(numbers, reverse=True))
    holds(sum(numbers) < 1 + 1e-9, listed)
    for one in listed:
        holds(one["certain"] or one["importance"] == 0, one)
        holds(not one["certain"] or
              one["alone"] <= one["importance"] <= one["total"], one)
    tap.equal((listed[0]["parameter"], listed[0]["certain"]), ("lr", True),
              listed)
    holds(listed[0]["importance"] > 0.8, listed)


def the_command_and_python_show_the_same_number():
    study = Taught(30)
    number = study.name.split("/")[-1]
    listed = study.asked("importances")["importances"]
    done = server.cli("importance", number)
    lines = [line.split() for line in done.stdout.splitlines()]
    tap.equal(lines[0], ["PARAMETER", "IMPORTANCE"])
    tap.equal([line[:2] for line in lines[1:]], [
        [one["parameter"], "%.0f" % (100 * one["importance"])
         if one["certain"] else "-"] for one in listed])
    holds("variation of loss" in done.stderr, done.stderr)
    rows = list(csv.DictReader(io.StringIO(
        server.cli("importance", number, "-o", "csv").stdout)))
    for key, member in (("IMPORTANCE", "importance"), ("ALONE", "alone"),
                        ("WITH OTHERS", "total"), ("AMONG THE BEST", "share")):
        tap.equal(["%.6g" % one[member] for one in listed],
                  [row[key] for row in rows], key)
    wide = server.cli("importance", number, "-o", "wide")
    holds("AMONG THE BEST" in wide.stdout and "ALONE: " in wide.stderr, wide)
    read = hypertune.Client(
        server.http, server.token_file, project="lab",
        location="here").study(int(number)).importances()
    tap.equal(read, {one["parameter"]: one["importance"] for one in listed})


def a_parameter_that_is_not_used_has_none_in_an_open_space():
    """As Optuna's define by run: layers decides which units are there."""
    name = server.call("POST", api.STUDIES, {
        "displayName": "layers", "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [dict(UNITS, parameterId=one) for one in (
                "layers", "u0", "u1", "u2", "u3")]},
        "hypertune": {"name": "layers", "openSpace": True}})[1]["name"]
    draw = random.Random(4)
    trials = []
    for number in range(1, 41):
        layers = draw.randint(1, 4)
        params = {"layers": layers, **{"u%d" % i: draw.randint(1, 8)
                                       for i in range(layers)}}
        trials.append({"id": number, "state": "SUCCEEDED", "params": params,
                       "metrics": {"loss": abs(layers - 3)}})
    ours = "%s/studies/%s" % (api.OURS, name.split("/")[-1])
    tap.equal(server.call("POST", ours + "/trials:restore",
                          {"trials": trials})[0], 200)
    listed = server.call("GET", ours + "/importances")[1]["importances"]
    tap.equal([one["parameter"] for one in listed if one["certain"]],
              ["layers"], listed)
    holds(listed[0]["importance"] > 0.95, listed)


def a_slice_is_in_the_users_units():
    study = Taught(25)
    line = study.asked("slice?x=lr&points=9")
    tap.equal(line["axes"][0]["parameter"], "lr")
    values = line["axes"][0]["values"]
    tap.equal(len(values), 9)
    holds(abs(values[0] - 1e-4) < 1e-9 and abs(values[-1] - 1) < 1e-6)
    for low, median, high in zip(line["low"], line["median"], line["high"]):
        holds(low <= median <= high)
    best = min(range(9), key=lambda i: line["median"][i])
    holds(abs(math.log10(values[best]) + 2) <= 1, line)
    holds(99 < min(line["median"]) < 103, line)
    plane = study.asked("slice?x=opt&y=units&points=8")
    tap.equal(plane["axes"][0]["values"], ["a", "s"])
    tap.equal([len(row) for row in plane["median"]], [8, 8])


def a_slice_is_even_on_the_scale_that_is_asked_for():
    study = Taught(6)

    def steps(question):
        values = study.asked("slice?%s&points=5" % question)["axes"][-1][
            "values"]
        return values, [b - a for a, b in zip(values, values[1:])]
    values, apart = steps("x=units")
    holds(max(apart) <= min(apart) + 1, values)
    for question in ("x=units&xScale=log", "x=opt&y=units&y_scale=log"):
        tap.equal(steps(question)[0], [1, 2, 4, 8])
    values, apart = steps("x=lr&xScale=linear")
    holds(abs(max(apart) - min(apart)) < 1e-9, values)


def wrong_questions_get_a_sentence():
    study = Taught(0)
    holds("too few results" in study.denied("slice?x=lr"))
    study.teach(6)
    for question, words in (
            ("slice", "x: name the parameter"),
            ("slice?x=nothing", 'x: the study has no parameter "nothing"'),
            ("slice?x=l-r", 'no parameter "l-r" (did you mean lr?)'),
            ("slice?x=lr&y=lr", "y: is the same parameter"),
            ("slice?x=lr&points=1", "points"),
            ("slice?x=lr&xScale=square", 'xScale: "square" is none of linear log'),
            ("slice?x=opt&xScale=log",
             "xScale: not all values of opt are positive"),
            ("slice?x=lr&metric=acc", 'the study has no "acc"'),
            ("importances?metric=lss",
             'the study has no "lss" (did you mean loss?)')):
        said = study.denied(question)
        holds(words in said, said)


def every_suggestion_says_why():
    study = Taught(12)
    trials = study.asked("trials")["trials"]
    whys = [t["hypertune"]["why"] for t in trials]
    tap.equal(whys[0]["kind"], "DESIGN")
    modelled = [(t, w) for t, w in zip(trials, whys) if "predicted" in w]
    holds(len(modelled) >= 2, whys)
    for trial, why in modelled:
        holds(why["kind"] in ("EXPLOITS", "EXPLORES"), why)
        predicted = why["predicted"][0]
        tap.equal(predicted["metric"], "loss")
        holds(predicted["low"] <= predicted["median"] <= predicted["high"])
        holds(50 < predicted["median"] < 300, predicted)
        holds(int(why["nearest"]["trial"]) < int(trial["id"]), why)
        holds(why["nearest"]["distance"] > 0, why)


with harness.Server("--runner", "none") as server:
    tap.run([
        importances_come_with_enough_results,
        the_command_and_python_show_the_same_number,
        a_parameter_that_is_not_used_has_none_in_an_open_space,
        a_slice_is_in_the_users_units,
        a_slice_is_even_on_the_scale_that_is_asked_for,
        wrong_questions_get_a_sentence,
        every_suggestion_says_why,
    ])
