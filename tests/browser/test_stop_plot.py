"""What the page of a trial that a rule has stopped shows of why: the curve that
the rule saw, the bar, and the end that it predicted."""

import math

import browser as driven
import harness
import plots
import tap
from plots import (
    behaves, call, in_card, legend, reach, STUDIES, table, ticks)

TITLE = "What the rule saw"
STEPS = 20

server = None
browser = None


def value(level, step):
    return level + math.exp(-step / 4)


def report(trial, level, steps):
    for step in range(1, steps + 1):
        call("/v1/" + trial + ":addTrialMeasurement", {"measurement": {
            "stepCount": str(step),
            "metrics": [{"metricId": "loss", "value": value(level, step)}]}})


def one(study):
    """A trial that a client has asked for."""
    asked = call("%s/%s/trials:suggest" % (STUDIES, study),
                 {"suggestionCount": 1, "clientId": "me"})
    done = harness.wait_until(
        lambda: (lambda now: now.get("done") and now)(
            server.get("/v1/" + asked["name"])), "a suggestion")
    return done["response"]["trials"][0]["name"]


def stopped(name, **rule):
    """A study with one trial that the rule has stopped after half of it;
    (study, trial)."""
    made = call(STUDIES, {"displayName": name, "studySpec": dict(
        metrics=[{"metricId": "loss", "goal": "MINIMIZE"}],
        algorithm="RANDOM_SEARCH", parameters=[{
            "parameterId": "x",
            "doubleValueSpec": {"minValue": 0, "maxValue": 1}}], **rule)})
    study = made["name"].rsplit("/", 1)[1]
    for level in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        trial = one(study)
        report(trial, level, STEPS)
        call("/v1/" + trial + ":complete", {})
    trial = one(study)
    report(trial, 3, STEPS // 2)
    answer = call("/v1/" + trial + ":checkTrialEarlyStoppingState", {})
    tap.equal(answer["response"]["shouldStop"], True)
    return study, trial.rsplit("/", 1)[1]


def page_of(study, trial):
    return "%s/#/studies/%s/trials/%s" % (server.http, study, trial)


def the_median_rule_shows_its_bar():
    browser.open(page_of(*stopped("median", medianAutomatedStoppingSpec={})))
    reach(TITLE)
    heads, rows = table(TITLE)
    tap.equal(heads[:2], ["Step", "loss"])
    tap.equal([(int(step), abs(float(shown) - value(3, int(step))) < 1e-3)
               for step, shown, _ in rows[:STEPS // 2]],
              [(step, True) for step in range(1, STEPS // 2 + 1)])
    tap.equal(legend(TITLE)[:2], ["seen", "had to reach"])
    behaves()


def the_decay_rule_shows_the_end_that_it_predicted():
    browser.open(page_of(*stopped("decay", decayCurveStoppingSpec={})))
    reach(TITLE)
    _, rows = table(TITLE)
    tap.equal(len(rows), STEPS // 2 + 1)
    step, end, deviation = map(float, rows[-1])
    tap.equal(step, STEPS)
    tap.true(abs(end - value(3, STEPS)) < max(0.5, 3 * deviation), rows)
    tap.equal(legend(TITLE), ["seen", "had to reach", "predicted end"])
    behaves()


def a_part_of_it_can_be_looked_at():
    reach(TITLE)
    whole = ticks(TITLE, "x")
    in_card(TITLE, "card.querySelector('.ground').focus()")
    browser.press("+")
    harness.wait_until(lambda: ticks(TITLE, "x") != whole, "a part")
    browser.press("0")
    harness.wait_until(lambda: ticks(TITLE, "x") == whole, "the whole")
    behaves()


with harness.Server("--runner", "none", "--auth", "none") as server, \
        driven.Browser() as browser:
    plots.begin(server, browser)
    tap.run([
        the_median_rule_shows_its_bar,
        the_decay_rule_shows_the_end_that_it_predicted,
        a_part_of_it_can_be_looked_at,
    ])
