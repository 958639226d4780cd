"""What the plots of a study's results show in a real browser."""

import re
import time

import browser as driven
import harness
import plots
import tap
from fake_runner import Runner
from plots import (
    add, behaves, call, choose, GOALS, in_card, legend, look, make_studies,
    make_study, OURS, PARAMETERS, reach, studies, STUDIES, table, ticks,
    wait_missing, wait_note, words, words_of)

server = None
browser = None


def the_front_is_that_of_the_server_and_keeps_the_bounds():
    look("bounded")
    reach("Pareto front")
    heads, rows = table("Pareto front")
    tap.equal(heads[3:], ["Beaten by none", "Within bounds"])
    _, job = server.call("GET", "%s/%d" % (OURS, studies["bounded"]))
    status = job["hypertuneStatus"]
    tap.equal(sorted(row[0] for row in rows if row[3] == "yes"),
              sorted(status["optimal"]))
    outside = {row[0] for row in rows if row[4] == "no"}
    _, answer = server.call("GET", "%s/%d/table" % (OURS, studies["bounded"]))
    at = [answer["columns"].index(name) for name in ("id", "metrics")]
    tap.equal(outside, {str(row[at[0]]) for row in answer["rows"]
                        if row[at[1]][2] > 6})
    tap.true(len(outside) > 0, len(outside))
    listed = browser.run("return [...document.querySelectorAll("
                         "'[aria-label=\"Best 5\"] tbody a')]"
                         ".map(one => one.textContent)")
    tap.equal((listed[0], outside & set(listed)),
              (status["best"]["id"], set()))
    behaves()


def a_metric_that_is_chosen_is_chosen_in_all_plots():
    look("goals")
    reach("Optimisation history")
    reach("Metric curves")
    choose("Optimisation history", "Metric", "metric:cost")
    wait_note("Optimisation history", "Best cost 2.1")
    browser.wait("[...document.querySelectorAll('.y-label')]"
                 ".filter(one => one.firstChild.data === 'cost')[1]")
    reach("Importances")
    wait_note("Importances", "of the variation of cost")
    tap.equal(table("Importances")[1][0][0], "layers")


HISTORY = "Optimisation history"


def steps_that_were_not_finite_are_crossed():
    study = make_study("diverged", GOALS[:1])
    path = "%s/%d/trials" % (STUDIES, study)
    made = {"lr": 0.1, "layers": 1, "opt": "adam"}
    trial = call(path, {"parameters": words_of(made), "state": "ACTIVE",
                        "clientId": "c"})["id"]
    for step, value in enumerate((0.5, "NaN", 0.7, "Infinity"), 1):
        call("%s/%s:addTrialMeasurement" % (path, trial), {"measurement": {
            "stepCount": str(step), "metrics": words({"accuracy": value})}})
    look("diverged")
    reach("Metric curves")
    heads, rows = table("Metric curves")
    tap.equal((heads[-1], rows),
              ("Not finite", [[trial, "1", "3", "0.5", "0.7",
                               "NaN at 2; Infinity at 4"]]))
    tap.contains("not finite", legend("Metric curves"))
    in_card("Metric curves", "card.querySelector('.ground').focus()")
    browser.press("End")
    harness.wait_until(lambda: "Step 4, Value there Infinity" in in_card(
        "Metric curves", "return card.querySelector('.unseen').textContent"),
        "the result of the last step")
    look("diverged", "/trials/" + trial)
    reach("Curves")
    tap.equal([row[3:] for row in table("Curves")[1]],
              [["1", "0.5"], ["2", "NaN"], ["3", "0.7"], ["4", "Infinity"]])
    behaves()


def a_metric_that_is_no_goal_has_curves():
    job = {"displayName": "misspelt", "maxTrialCount": 1,
           "parallelTrialCount": 1, "hypertune": {"name": "misspelt"},
           "studySpec": {"metrics": GOALS[:1], "parameters": PARAMETERS[:1]},
           "trialJobSpec": {"workerPoolSpecs": [{
               "replicaCount": 1, "containerSpec": {"command": ["train"]}}]}}
    made = call(harness.JOBS.rstrip("/"), job)
    studies["misspelt"] = int(made["name"].rsplit("/", 1)[1])
    with Runner(server) as runner:
        lease = runner.one().started()
        for step, value in ((1, 0.25), (2, 0.5)):
            lease.report(value, step, metric="acuracy")
        lease.ended("succeeded", exit=0)
        harness.wait_until(lambda: server.call(
            "GET", "%s/misspelt/trials/1" % OURS)[1]["hypertune"]["state"] ==
            "INFEASIBLE", "the trial's end")
    look("misspelt", "/trials/1")
    reach("Curves")
    heads, rows = table("Curves")
    tap.equal((heads[-1], [row[3:] for row in rows]),
              ("acuracy", [["1", "0.25"], ["2", "0.5"]]))
    look("misspelt")
    wait_missing("Metric curves",
                 "No trial has reported this metric more than once.")
    choose("Metric curves", "Metric", "metric:acuracy")
    reach("Metric curves")
    heads, rows = table("Metric curves")
    tap.equal((heads[3:5], rows),
              (["First acuracy", "Last acuracy"],
               [["1", "1", "2", "0.25", "0.5", ""]]))
    behaves()


def no_quarter_of_the_page_is_left_empty():
    look("drawn")
    reach(HISTORY)
    reach("Importances")
    wait_missing("Metric curves",
                 "No trial has reported this metric more than once.")
    boxes = browser.run("""
        const of = {};
        for (const one of document.querySelectorAll(".plot")) {
          const box = one.getBoundingClientRect();
          of[one.ariaLabel] = [box.left, box.right, box.height];
        }
        return of;""")
    history, curves, bars = (boxes[title] for title in (
        HISTORY, "Metric curves", "Importances"))
    tap.equal((history[0], history[1]), (curves[0], bars[1]))
    tap.true(curves[2] < 0.8 * bars[2], boxes)


def infeasible_trials_are_called_so():
    study = make_study("infeasible", GOALS)
    made = {"lr": 0.1, "layers": 1, "opt": "adam"}
    add(study, made)
    path = "%s/%d/trials" % (STUDIES, study)
    trial = call(path, {"parameters": words_of(made), "state": "ACTIVE",
                        "clientId": "c"})["id"]
    call("%s/%s:complete" % (path, trial),
         {"trialInfeasible": True, "infeasibleReason": "out of range"})
    look("infeasible")
    reach(HISTORY)
    tap.equal(legend(HISTORY), ["succeeded", "infeasible", "best so far"])
    look("infeasible", "/timeline")
    reach("Timeline")
    tap.equal(legend("Timeline"), ["infeasible"])
    tap.equal([row[:1] + row[3:4] for row in table("Timeline")[1]],
              [[trial, "infeasible"]])
    behaves()


def a_short_timeline_tells_the_whole_time():
    study = make_study("short", GOALS)
    begun = time.time()
    add(study, {"lr": 0.1, "layers": 1, "opt": "adam"}, steps=3)
    ended = time.time()
    look("short", "/timeline")
    reach("Timeline")
    texts = in_card("Timeline", "return [...card.querySelectorAll("
                                "'.x-axis .tick text')].map("
                                "one => one.textContent)")
    # The axis goes a little beyond both ends.
    moments = [time.localtime(one) for one in
               (begun - 1, begun, ended, ended + 1)]
    minutes = {time.strftime("%H:%M", one) for one in moments}
    days = {time.strftime("%Y-%m-%d", one) for one in moments}
    for text in texts:
        tap.true(text in days or
                 re.fullmatch(r"\d\d:\d\d:\d\d(\.\d{3})?", text) is not None
                 and text[:5] in minutes, texts)
    tap.true(len(texts) > 1, texts)
    day = in_card("Timeline",
                  "return card.querySelector('.day').textContent")
    tap.contains(day, days)


def an_outlier_leaves_the_others_their_room():
    study = make_study("outlier", GOALS[:1])
    for layers in range(1, 9):
        add(study, {"lr": 0.001, "layers": layers, "opt": "adam"}, GOALS[:1])
    call("%s/%d/trials" % (STUDIES, study), {
        "parameters": words_of({"lr": 0.1, "layers": 1, "opt": "adam"}),
        "finalMeasurement": {"stepCount": "1",
                             "metrics": words({"accuracy": -40})}})
    look("outlier")
    reach(HISTORY)
    wait_note(HISTORY, "1 trial far off, drawn at the edge.")
    tap.true(min(ticks(HISTORY, "y")) > 0.5, ticks(HISTORY, "y"))
    in_card(HISTORY, "[...card.querySelectorAll('label')].find("
                     "one => one.textContent === ' Outliers').click()")
    harness.wait_until(lambda: min(ticks(HISTORY, "y")) <= -40, "the outlier's place")
    tap.lacks("far off", in_card(
        HISTORY, "return card.querySelector('.note').textContent"))
    behaves()


def the_head_shows_how_far_the_study_is():
    look("goals")
    spark, bar = browser.run(
        "return ['.hero .spark', '.segments'].map(one => "
        "document.querySelector(one).getAttribute('aria-label'))")
    tap.equal(bar, "40 succeeded, 3 failed")
    first, last = re.fullmatch(r"Best so far: from (\S+) to (\S+)",
                               spark).groups()
    _, job = server.call("GET", "%s/%d" % (OURS, studies["goals"]))
    best = job["hypertuneStatus"]["best"]["hypertune"]["objective"]
    tap.true(float(first) < best and abs(float(last) - best) < 1e-4,
             (spark, best))
    sinking = make_study("sinking", GOALS[1:])
    for layers in (8, 1):
        add(sinking, {"lr": 0.001, "layers": layers, "opt": "adam"}, GOALS[1:])
    look("sinking")
    begin, end = browser.run(
        "const path = document.querySelector('.spark path'), box = "
        "length => path.getPointAtLength(length).y;"
        "return [box(0), box(path.getTotalLength())]")
    tap.true(begin < end, "a cost that sinks is drawn sinking")
    behaves()


def the_best_trial_is_marked_on_every_page():
    _, job = server.call("GET", "%s/%d" % (OURS, studies["drawn"]))
    best = job["hypertuneStatus"]["best"]["id"]
    at = server.http + "/#/studies/%d/trials" % studies["drawn"]
    browser.open(at)
    browser.wait("document.querySelector('tr.best')")
    tap.equal(browser.run("return [...document.querySelectorAll('tr.best')]"
                          ".map(one => one.dataset.key)"), [best])
    browser.open("%s/%s" % (at, best))
    browser.wait_text("★ best", ".hero")
    browser.open("%s/%d" % (at, int(best) % 12 + 1))
    browser.wait_text("accuracy", ".figures")
    tap.equal(browser.count(".hero"), 0)
    behaves()


def importances_have_one_bar_and_the_rest_on_request():
    look("goals")
    reach("Importances")
    wait_note("Importances", "Share of the variation of")
    tap.equal(in_card("Importances", """
        return card.querySelectorAll("svg .axes rect").length ===
               card.querySelectorAll("text.figure").length;"""), True)
    heads, rows = table("Importances")
    tap.equal(heads, ["Parameter", "Importance", "Certain", "Alone",
                      "With others", "Among the best"])
    _, answer = server.call("GET", "%s/%d/importances" % (OURS,
                                                          studies["goals"]))
    tap.equal([(row[0], row[2]) for row in rows],
              [(one["parameter"], "yes" if one["certain"] else "no")
               for one in answer["importances"]])

    def gaps():
        return in_card("Importances", """
            const bars = [...card.querySelectorAll("rect.importance")];
            return [...card.querySelectorAll("text.figure")].map((one, i) =>
              one.getBoundingClientRect().left -
              bars[i].getBoundingClientRect().right);""")
    harness.wait_until(lambda: all(0 < gap < 10 for gap in gaps()),
                       "each figure behind its bar")


with harness.Server("--runner", "none", "--auth", "none") as server, \
        driven.Browser() as browser:
    plots.begin(server, browser)
    make_studies()
    tap.run([
        the_front_is_that_of_the_server_and_keeps_the_bounds,
        a_metric_that_is_chosen_is_chosen_in_all_plots,
        steps_that_were_not_finite_are_crossed,
        a_metric_that_is_no_goal_has_curves,
        no_quarter_of_the_page_is_left_empty,
        an_outlier_leaves_the_others_their_room,
        the_head_shows_how_far_the_study_is,
        the_best_trial_is_marked_on_every_page,
        infeasible_trials_are_called_so,
        a_short_timeline_tells_the_whole_time,
        importances_have_one_bar_and_the_rest_on_request,
    ])
