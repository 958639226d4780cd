"""Which axes a plot has at first, and what is picked at their ends."""

import random

import browser as driven
import harness
import plots
import tap
from plots import (
    add, behaves, brush, call, GOALS, look, make_study, point, reach, studies,
    STUDIES, table, wait_contour, wait_note, words, words_of)

server = None
browser = None


def picked():
    """How many trials of how many the ranges leave."""
    found = browser.text(".ranges").split()
    return (int(found[0]), int(found[3])) if found else None


def a_contour_is_of_the_parameters_that_matter_most():
    names = ["a", "b", "c", "d"]
    made = call(STUDIES, {"displayName": "axes", "studySpec": {
        "metrics": GOALS[:1], "parameters": [{
            "parameterId": name, "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}} for name in names]}})
    study = studies["axes"] = int(made["name"].rsplit("/", 1)[1])
    draw = random.Random(6)
    for _ in range(40):
        values = {name: draw.random() for name in names}
        call("%s/%d/trials" % (STUDIES, study), {
            "parameters": words_of(values), "finalMeasurement": {
                "stepCount": "1", "metrics": words({
                    "accuracy": 2 * values["d"] + values["b"]})}})
    look("axes", "/parameters")
    reach("Contour")
    wait_contour()
    tap.equal(table("Contour")[0][:2], ["d", "b"])
    look("axes", "/parameters?contour.x=a")
    reach("Contour")
    wait_contour()
    tap.equal(table("Contour")[0][:2], ["a", "d"])
    look("axes", "/parameters?contour.y=d")
    reach("Contour")
    wait_contour()
    tap.equal(table("Contour")[0][:2], ["b", "d"])
    behaves()


def a_range_to_the_end_of_an_axis_has_what_is_drawn_there():
    study = studies["far"] = make_study("far", GOALS[:1])
    draw = random.Random(7)
    for _ in range(30):
        add(study, point(draw), GOALS[:1])
    call("%s/%d/trials" % (STUDIES, study), {
        "parameters": words_of(point(draw)), "finalMeasurement": {
            "stepCount": "1", "metrics": words({"accuracy": -40})}})
    rows = server.get("/hypertune/v1/studies/%d/table" % study)
    at = rows["columns"].index("objective")
    values = [row[at] for row in rows["rows"]]
    look("far", "/parameters")
    reach("Parallel coordinates")
    wait_note("Parallel coordinates", "1 trial far off")
    brush("accuracy", 0.5, 1)
    browser.wait_text("at most", ".ranges")
    most = float(browser.text(".ranges").split("at most ")[1].split("×")[0])
    few, all_ = picked()
    tap.equal(all_, 31)
    tap.equal(few, sum(value < most for value in values))
    tap.true(1 < few < 31, few)
    browser.wait("/[?&]metric:accuracy=[.][.][0-9]/.test(location.hash)",
                 "the range in the address")
    browser.open(browser.run("return location.href"))
    browser.wait_text("at most", ".ranges")
    tap.equal(picked(), (few, all_))
    brush("accuracy", 0, 0.3)
    browser.wait_text("at least", ".ranges")
    least = float(browser.text(".ranges").split("at least ")[1].split("×")[0])
    tap.equal(picked()[0], sum(value > least for value in values))
    behaves()


with harness.Server("--runner", "none", "--auth", "none") as server, \
        driven.Browser() as browser:
    plots.begin(server, browser)
    tap.run([
        a_contour_is_of_the_parameters_that_matter_most,
        a_range_to_the_end_of_an_axis_has_what_is_drawn_there,
    ])
