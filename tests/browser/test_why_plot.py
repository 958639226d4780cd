"""The picture of why a point was chosen, with the server's own numbers."""

import random

import browser as driven
import harness
import plots
import tap
from plots import (
    add, behaves, call, GOALS, legend, make_study, point, reach, STUDIES,
    studies, table, wait_note, words, words_of)

TITLE = "The point in its space"
server = None
browser = None


def suggest(study):
    """A trial that the search chose: its resource's name."""
    asked = call("%s/%d/trials:suggest" % (STUDIES, studies[study]),
                 {"suggestionCount": 1, "clientId": "me"})
    done = harness.wait_until(
        lambda: (lambda now: now.get("done") and now)(
            server.get("/v1/" + asked["name"])), "a suggestion")
    return done["response"]["trials"][0]["name"]


def end(trial, accuracy):
    call("/v1/%s:complete" % trial, {"finalMeasurement": {
        "stepCount": "1", "metrics": words({"accuracy": accuracy})}})


def number_of(trial):
    return int(trial.rsplit("/", 1)[1])


def ours(study, trial):
    return server.get("/hypertune/v1/studies/%d/trials/%d"
                      % (studies[study], trial))["hypertune"]


def open_trial(study, trial):
    browser.open("%s/#/studies/%d/trials/%d"
                 % (server.http, studies[study], trial))
    reach(TITLE)


def near(shown, value):
    return abs(float(shown) - value) <= 1e-4 * max(1, abs(value))


def make_known(name, n):
    """A study with so many results, and the best of them."""
    draw = random.Random(5)
    study = make_study(name, GOALS[:1])
    for _ in range(n):
        add(study, point(draw), GOALS[:1])
    rows = server.get("/hypertune/v1/studies/%d/table" % study)
    at = rows["columns"].index("objective")
    return max(row[at] for row in rows["rows"])


def what_was_expected_is_beside_what_was_known_and_what_came():
    best = make_known("expected", 30)
    trial = number_of(suggest("expected"))
    open_trial("expected", trial)
    rows = {row[0]: row[1:] for row in table(TITLE)[1]}
    tap.equal(rows["accuracy of this trial"][0], "", "it has none yet")
    end("%s/%d/trials/%d" % (STUDIES[4:], studies["expected"], trial), 0.5)
    # What comes later is not what was known.
    add(studies["expected"], {"lr": 0.001, "layers": 8, "opt": "adam"},
        GOALS[:1])
    harness.wait_until(lambda: dict((row[0], row[1]) for row in table(
        TITLE)[1])["accuracy of this trial"] == "0.5", "its result")
    found = ours("expected", trial)
    predicted, = found["why"]["predicted"]
    rows = {row[0]: row[1:] for row in table(TITLE)[1]}
    for shown, key in zip(rows["accuracy expected then"][1:],
                          ("low", "median", "high")):
        tap.true(near(shown, predicted[key]), (shown, key, predicted))
    tap.true(near(rows["best accuracy by then"][0], best), (rows, best))
    for name, value in found["params"].items():
        shown = rows[name + " of this trial"][0]
        tap.true(shown == value if isinstance(value, str)
                 else near(shown, value), (name, shown, value))
    tap.equal(legend(TITLE), ["this trial", "best then", "expected",
                              "earlier trials"])
    behaves()


def along_a_parameter_it_shows_what_the_server_expects():
    make_known("sliced", 30)
    trial = suggest("sliced")
    end(trial, 0.9)
    open_trial("sliced", number_of(trial))
    cut = server.get("/hypertune/v1/studies/%d/slice?x=layers&metric=accuracy"
                     "&trial=%d" % (studies["sliced"], number_of(trial)))
    shown = [row for row in table(TITLE)[1] if row[0] == "with layers"]
    tap.equal([row[1] for row in shown],
              [str(value) for value in cut["axes"][0]["values"]])
    for row, median in zip(shown, cut["median"]):
        tap.true(near(row[3], median), (row, median))
    wait_note(TITLE, "the model is that of now")
    behaves()


def a_point_that_no_model_chose_has_no_model():
    study = make_study("by chance", GOALS[:1], "RANDOM_SEARCH")
    for _ in range(5):
        trial = suggest("by chance")
        end(trial, 0.5)
    open_trial("by chance", number_of(trial))
    wait_note(TITLE, "No model chose this point.")
    tap.equal(legend(TITLE), ["this trial", "earlier trials"])
    tap.lacks("expected", " ".join(row[0] for row in table(TITLE)[1]))
    tap.equal([url for url in browser.requests()
               if "/studies/%d/slice" % study in url], [])
    behaves()


def a_point_of_a_person_has_no_picture():
    study = make_study("own", GOALS[:1])
    trial = add(study, {"lr": 0.001, "layers": 8, "opt": "adam"}, GOALS[:1])
    tap.true("why" not in ours("own", trial))
    browser.open("%s/#/studies/%d/trials/%d" % (server.http, study, trial))
    browser.wait_text("layers", "[aria-label=Parameters]")
    tap.equal(browser.count(".plot"), 0)
    behaves()


def many_parameters_show_those_that_matter_most():
    names = ["p%02d" % i for i in range(20)]
    made = call(STUDIES, {"displayName": "many", "studySpec": {
        "metrics": GOALS[:1], "parameters": [{
            "parameterId": name, "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}} for name in names]}})
    study = studies["many"] = int(made["name"].rsplit("/", 1)[1])
    draw = random.Random(2)
    for _ in range(40):
        values = {name: draw.random() for name in names}
        call("%s/%d/trials" % (STUDIES, study), {
            "parameters": words_of(values), "finalMeasurement": {
                "stepCount": "1", "metrics": words({
                    "accuracy": 1 - (values["p17"] - 0.3) ** 2
                    - (values["p19"] - 0.6) ** 2})}})
    trial = suggest("many")
    end(trial, 0.9)
    open_trial("many", number_of(trial))
    wait_note(TITLE, "The 12 parameters of 20 that matter most.")
    own = [row[0].split()[0] for row in table(TITLE)[1]
           if row[0].endswith("of this trial")]
    tap.equal(sorted(own[1:3]), ["p17", "p19"])
    tap.equal(len(own), 1 + 12)
    behaves()


with harness.Server("--runner", "none", "--auth", "none") as server, \
        driven.Browser() as browser:
    plots.begin(server, browser)
    tap.run([
        what_was_expected_is_beside_what_was_known_and_what_came,
        along_a_parameter_it_shows_what_the_server_expects,
        a_point_that_no_model_chose_has_no_model,
        a_point_of_a_person_has_no_picture,
        many_parameters_show_those_that_matter_most,
    ])
