"""Studies side by side in a real browser."""

import random

import browser as driven
import harness
import plots
import tap
from plots import (
    add, behaves, GOALS, legend, make_study, point, reach, studies, table)

server = None
browser = None


def objectives(study):
    _, answer = server.call("GET", "/hypertune/v1/studies/%d/table"
                            % studies[study])
    at = answer["columns"].index("objective")
    return [row[at] for row in answer["rows"]]


def make_pair():
    draw = random.Random(11)
    for name, n in (("first", 12), ("second", 20)):
        study = make_study(name, GOALS[:1])
        for _ in range(n):
            add(study, point(draw), GOALS[:1])
    other = make_study("unlike", GOALS[1:])
    add(other, point(draw), GOALS[1:])


def open_comparison(*names):
    browser.open("%s/#/compare/%s" % (server.http, ",".join(
        str(studies.get(name, name)) for name in names)))


def cells():
    """Texts of the table's rows, by their heads."""
    return dict(browser.run("""
        return [...document.querySelectorAll("tbody th[scope=row]")].map(
          head => [head.textContent, [...head.parentNode.querySelectorAll(
            "td")].map(one => one.textContent)])"""))


def studies_that_are_marked_are_compared():
    browser.open(server.http + "/#/studies")
    browser.wait_text("second", "#main")
    for name in ("first", "second"):
        browser.click("input", "Mark %d" % studies[name])
    browser.click("button", "Compare 2")
    reach("Best so far")
    tap.equal(legend("Best so far"), ["first", "second"])
    _, rows = table("Best so far")
    for name in ("first", "second"):
        best, wanted = None, []
        for n, value in enumerate(objectives(name), 1):
            if best is None or value > best:
                best = value
                wanted.append([name, str(n), str(n)])
        tap.equal([row[:3] for row in rows if row[0] == name], wanted)
    bests = [max(objectives(name)) for name in ("first", "second")]
    shown = cells()
    for text, best in zip(shown["Best accuracy"], bests):
        tap.true(abs(float(text.split()[0]) - best) < 1e-4, (text, best))
    after, = [shown[name] for name in shown if name.endswith(" after")]
    tap.equal(after, ["%d result%s" % (n, "" if n == 1 else "s") for n in (
        next(i for i, value in enumerate(objectives(name), 1)
             if value >= min(bests)) for name in ("first", "second"))])
    behaves()


def a_comparison_follows_each_of_its_studies():
    open_comparison("first", "second")
    reach("Best so far")
    best = add(studies["second"], {"lr": 0.001, "layers": 8, "opt": "adam"},
               GOALS[:1])
    browser.wait("[...document.querySelectorAll('tbody td a')].some("
                 "one => one.textContent === 'trial %d')" % best, "the best")
    harness.wait_until(lambda: str(best) in [row[2] for row in
                                             table("Best so far")[1]],
                       "the step in the plot")
    behaves()


def goals_that_differ_are_not_mixed():
    open_comparison("first", "unlike")
    browser.wait_text("The studies have no goal in common.", "#main")
    tap.lacks("Best", "\n".join(cells()))
    behaves()


def what_is_not_there_is_named():
    open_comparison("first", 999)
    browser.wait_text("999: there is no such study", "#main")
    open_comparison("first")
    browser.wait_text("There are no two studies to compare", "#main")
    behaves()


with harness.Server("--runner", "none", "--auth", "none") as server, \
        driven.Browser() as browser:
    plots.begin(server, browser)
    make_pair()
    tap.run([
        studies_that_are_marked_are_compared,
        a_comparison_follows_each_of_its_studies,
        goals_that_differ_are_not_mixed,
        what_is_not_there_is_named,
    ])
