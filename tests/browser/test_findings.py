"""The findings of a study's model on its page."""

import math

import browser as driven
import harness
import plots
import tap
from plots import behaves, call, look, STUDIES, studies

server = None
browser = None
RESULTS = 40
CARD = """[...document.querySelectorAll("section.card")]
    .find(one => one.ariaLabel === "Findings")"""


def make_study(name, results):
    """Good where lr is large."""
    made = call(STUDIES, {"displayName": name, "studySpec": {
        "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
        "parameters": [{"parameterId": "lr", "scaleType": "UNIT_LOG_SCALE",
                        "doubleValueSpec": {"minValue": 1e-4,
                                            "maxValue": 0.1}}]}})
    studies[name] = int(made["name"].rsplit("/", 1)[1])
    for i in range(results):
        lr = 10 ** -(1 + 3 * (i / results) ** 2)
        call("%s/%d/trials" % (STUDIES, studies[name]), {
            "parameters": [{"parameterId": "lr", "value": lr}],
            "finalMeasurement": {"metrics": [
                {"metricId": "loss", "value": -math.log10(lr)}]}})


def what_is_found_is_listed_with_its_command():
    make_study("edge", RESULTS)
    _, health = server.call(
        "GET", "/hypertune/v1/studies/%d/health" % studies["edge"])
    look("edge", "/overview")
    browser.wait("!%s.hidden" % CARD, "the findings")
    shown = browser.run("return [...%s.querySelectorAll('li bdi')]"
                        ".map(one => one.textContent)" % CARD)
    tap.equal(shown, [one["text"] for one in health["findings"]])
    tap.true("the best results lie at the upper end of lr (0.1): widen to 1?"
             in shown, shown)
    tap.equal(browser.run("return [...%s.querySelectorAll('li code')]"
                          ".map(one => one.textContent)" % CARD),
              ["hypertune set edge lr=..1"])
    behaves()


def without_a_finding_there_is_no_card():
    make_study("young", 3)
    look("young", "/overview")
    browser.wait("performance.getEntriesByType('resource').some("
                 "one => one.name.endsWith('/health') && one.responseEnd > 0)",
                 "the answer")
    tap.equal(browser.run("return %s.hidden" % CARD), True)
    behaves()


with harness.Server("--runner", "none", "--auth", "none") as server, \
        driven.Browser() as browser:
    plots.begin(server, browser)
    tap.run([
        what_is_found_is_listed_with_its_command,
        without_a_finding_there_is_no_card,
    ])
