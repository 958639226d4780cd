"""The plots of a study in a real browser: what they draw, tell, pick and save,
and that they follow a study that goes on."""

import json
import math
import os
import random
import sys
import time
import urllib.request
import xml.dom.minidom

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import browser as driven  # noqa: E402
import harness  # noqa: E402
import tap  # noqa: E402

driven.need()
server = None
browser = None
studies = {}

STUDIES = "/v1/projects/local/locations/local/studies"
OURS = "/hypertune/v1/studies"
RESULTS, STEPS = 40, 12
SGD = 0.5  # share of trials that have the conditional parameter

PARAMETERS = [
    {"parameterId": "lr", "scaleType": "UNIT_LOG_SCALE",
     "doubleValueSpec": {"minValue": 1e-5, "maxValue": 0.1}},
    {"parameterId": "layers",
     "integerValueSpec": {"minValue": "1", "maxValue": "8"}},
    {"parameterId": "opt", "categoricalValueSpec": {"values": ["adam", "sgd"]},
     "conditionalParameterSpecs": [{
         "parentCategoricalValues": {"values": ["sgd"]},
         "parameterSpec": {
             "parameterId": "momentum",
             "doubleValueSpec": {"minValue": 0, "maxValue": 0.99}}}]}]
GOALS = [{"metricId": "accuracy", "goal": "MAXIMIZE"},
         {"metricId": "cost", "goal": "MINIMIZE"}]
MEMORY = {"metricId": "memory", "goal": "MINIMIZE",
          "safetyConfig": {"safetyThreshold": 6}}


# --- studies to be looked at ---

def call(path, body):
    status, answer = server.call("POST", path, body)
    tap.equal(status, 200, answer)
    return answer


def make_study(name, metrics, algorithm="ALGORITHM_UNSPECIFIED"):
    made = call(STUDIES, {"displayName": name, "studySpec": {
        "metrics": metrics, "parameters": PARAMETERS, "algorithm": algorithm}})
    studies[name] = int(made["name"].rsplit("/", 1)[1])
    return studies[name]


def point(draw):
    made = {"lr": 10 ** draw.uniform(-5, -1), "layers": draw.randint(1, 8),
            "opt": "sgd" if draw.random() < SGD else "adam"}
    if made["opt"] == "sgd":
        made["momentum"] = draw.uniform(0, 0.99)
    return made


def values_of(made):
    """Good near lr 0.001; more layers cost more; adam is better."""
    return {"accuracy": 0.9 - 0.05 * (math.log10(made["lr"]) + 3) ** 2 +
                        0.01 * made["layers"] + 0.02 * (made["opt"] == "adam"),
            "cost": made["layers"] * 2 + 0.1, "memory": made["layers"] - 0.5}


def words(values):
    return [{"metricId": name, "value": value}
            for name, value in values.items()]


def add(study, made, metrics=GOALS, steps=0, **more):
    """A trial with its result, after so many steps."""
    path = "%s/%d/trials" % (STUDIES, study)
    names = {metric["metricId"] for metric in metrics}
    final = {name: value for name, value in values_of(made).items()
             if name in names}
    body = {"parameters": [{"parameterId": key, "value": value}
                           for key, value in made.items()], **more}
    if steps == 0:
        if not more:
            body["finalMeasurement"] = {"stepCount": "1",
                                        "metrics": words(final)}
        return int(call(path, body)["id"])
    trial = call(path, {**body, "state": "ACTIVE", "clientId": "c"})["id"]
    for step in range(1, steps + 1):
        part = 1 - math.exp(-step / 4)
        call("%s/%s:addTrialMeasurement" % (path, trial), {"measurement": {
            "stepCount": str(step), "metrics": words(
                {**final, "accuracy": final["accuracy"] * part})}})
    call("%s/%s:complete" % (path, trial), {"finalMeasurement": {
        "stepCount": str(steps), "metrics": words(final)}})
    return int(trial)


def make_studies():
    draw = random.Random(1)
    goals = make_study("goals", GOALS)
    for i in range(RESULTS):
        add(goals, point(draw), steps=STEPS if i < 12 else 0)
    for _ in range(3):
        add(goals, point(draw), infeasibleReason="the loss is NaN")
    bounded = make_study("bounded", GOALS + [MEMORY])
    for _ in range(RESULTS):
        add(bounded, point(draw), GOALS + [MEMORY])
    random_search = make_study("drawn", GOALS[:1], "RANDOM_SEARCH")
    for _ in range(12):
        add(random_search, point(draw), GOALS[:1])
    few = make_study("few", GOALS)
    for _ in range(2):
        add(few, point(draw))
    make_study("none", GOALS)
    failed = make_study("failed", GOALS)
    for reason in ("exit 1", "out of memory", "out of memory"):
        add(failed, point(draw), infeasibleReason=reason)


# --- the page ---

# The card with that title, in `card`.
CARD = """const card = [...document.querySelectorAll(".plot")]
    .find(one => one.ariaLabel === arguments[0]);"""


def look(study, tab=""):
    browser.open("%s/#/studies/%s%s" % (server.http, studies[study], tab))
    browser.wait("document.querySelector('.plot')")


def in_card(title, script, *arguments):
    return browser.run(CARD + script, title, *arguments)


def reach(title):
    """Brings a plot in sight and waits until it is drawn."""
    in_card(title, "card.scrollIntoView({block: 'center'})")
    browser.wait("(() => { %s return !card.querySelector('.ground').hidden &&"
                 " card.querySelector('canvas').height > 0 &&"
                 " card.querySelector('.axes').childElementCount > 0; })()"
                 % CARD.replace("arguments[0]", json.dumps(title)),
                 "the plot " + title)


def ground(title):
    return in_card(title, """
        const box = card.querySelector(".ground").getBoundingClientRect();
        return [box.left, box.top, box.width, box.height];""")


def ink(title):
    """A text that differs when the picture does; None: nothing is drawn."""
    return in_card(title, """
        const {width, height} = card.querySelector("canvas");
        const copy = Object.assign(document.createElement("canvas"),
          {width, height}).getContext("2d", {willReadFrequently: true});
        copy.drawImage(card.querySelector("canvas"), 0, 0);
        const {data} = copy.getImageData(0, 0, width, height);
        let sum = 0, drawn = 0;
        for (let i = 3; i < data.length; i += 4) {
          if (data[i] === 0) continue;
          drawn++;
          sum = (sum * 31 + i + data[i - 1] * 7 + data[i] * 3) % 1000000007;
        }
        return drawn === 0 ? null : `${drawn} ${sum}`;""")


def press(title, label):
    in_card(title, """
        [...card.querySelectorAll("button, summary")].find(
          one => one.textContent === arguments[1]).click();""", label)


def table(title):
    """[heads, rows] of the text form, which is shown for the time being."""
    press(title, "As table")
    browser.wait("(() => { %s return !card.querySelector('.as-text').hidden;"
                 " })()" % CARD.replace("arguments[0]", json.dumps(title)))
    found = in_card(title, """
        const texts = row => [...row.children].map(cell => cell.textContent);
        return [texts(card.querySelector("thead tr")),
                [...card.querySelectorAll("tbody tr")].map(texts)];""")
    press(title, "As plot")
    reach(title)
    return found


def choose(title, label, value):
    in_card(title, """
        const menu = [...card.querySelectorAll("select")].find(
          one => one.ariaLabel === arguments[1]);
        menu.value = arguments[2];
        menu.dispatchEvent(new Event("change"));""", label, value)


def missing(title):
    return in_card(title, "return card.querySelector('.missing').textContent")


def wait_missing(title, text):
    in_card(title, "card.scrollIntoView({block: 'center'})")
    browser.wait("(() => { %s return card.querySelector('.missing')"
                 ".textContent === %s; })()"
                 % (CARD.replace("arguments[0]", json.dumps(title)),
                    json.dumps(text)), "%s: %s" % (title, text))


def wait_note(title, text):
    browser.wait("(() => { %s return card.querySelector('.note')"
                 ".textContent.includes(%s); })()"
                 % (CARD.replace("arguments[0]", json.dumps(title)),
                    json.dumps(text)), "%s notes: %s" % (title, text))


def ticks(title, axis):
    return in_card(title, """return [...card.querySelectorAll(
        `.${arguments[1]}-axis text`)].map(one => Number(one.textContent));""",
                   axis)


def brush(dimension, from_part, to_part):
    """Drags along an axis of the parallel coordinates, parts of its height
    from above."""
    left, top, width, height = browser.run("""
        const at = [...document.querySelectorAll(".parallel")].findIndex(
          one => one.querySelector("title").textContent === arguments[0]);
        const box = document.querySelectorAll(".brush-y .overlay")[at]
          .getBoundingClientRect();
        return [box.left, box.top, box.width, box.height];""", dimension)
    x = left + width / 2
    browser.drag((x, top + height * from_part), (x, top + height * to_part))
    # d3 swallows the click that may follow a drag in the same turn.
    browser.run("return new Promise(done => setTimeout(done, 0))")


def behaves():
    """A case's last line."""
    tap.equal(browser.complaints(), [], "the browser's complaints")


def asked(part):
    return [url for url in browser.requests() if part in url]


# --- the cases ---

def every_plot_draws_and_says_the_same_as_text():
    look("goals")
    for title in ("Optimisation history", "Metric curves", "Pareto front"):
        reach(title)
        tap.equal(ink(title) is None, False, title)
    heads, rows = table("Optimisation history")
    tap.equal((heads, len(rows)),
              (["Trial", "State", "accuracy", "Best so far"], RESULTS))
    best = [row[0] for row in rows if row[3] == "yes"][-1]
    _, job = server.call("GET", "%s/%d" % (OURS, studies["goals"]))
    tap.equal(best, job["hypertuneStatus"]["best"]["id"])
    _, rows = table("Metric curves")
    tap.equal((len(rows) > 0, {tuple(row[1:3]) for row in rows}),
              (True, {("1", str(STEPS))}))
    reach("Importances")
    _, rows = table("Importances")
    tap.equal(({row[0] for row in rows}, rows[0][0]),
              ({"lr", "layers", "opt", "momentum"}, "lr"))
    look("goals", "/parameters")
    for title in ("Parallel coordinates", "Contour", "Distribution of results",
                  "lr", "layers", "opt", "momentum"):
        reach(title)
        tap.equal(ink(title) is None, False, title)
    _, rows = table("Distribution of results")
    tap.equal((len(rows), rows[-1][2]), (RESULTS, "1"))
    look("goals", "/timeline")
    reach("Timeline")
    tap.equal(len(table("Timeline")[1]), 12)
    behaves()


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
    tap.equal(len(outside) > 0, True)
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
    wait_note("Importances", "For cost")
    tap.equal(table("Importances")[1][0][0], "layers")


def the_pointer_and_the_arrow_keys_tell_of_a_trial():
    look("goals")
    reach("Optimisation history")
    title = "Optimisation history"
    in_card(title, "card.querySelector('.ground').focus()")
    browser.press("Home")
    browser.wait_text("succeeded", ".tip")
    tip = browser.text(".tip")
    tap.equal("Trial\n1, succeeded" in tip, True, tip)
    spoken = in_card(title, "return card.querySelector('.unseen').textContent")
    tap.equal(spoken.startswith("Trial 1, succeeded, accuracy "), True, spoken)
    browser.press("ArrowRight")
    browser.wait_text("2, succeeded", ".tip")
    # The same trial is ringed in another plot of the page.
    ring = in_card(title, """
        const box = card.querySelector(".ring").getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];""")
    tap.equal(in_card("Pareto front", "return card.querySelectorAll('.ring')"
                                      ".length"), 1)
    browser.press("Escape")
    browser.wait("document.querySelector('.tip').hidden")
    browser.hover((ring[0] + 4, ring[1] + 4))
    browser.wait_text("2, succeeded", ".tip")
    browser.press("m")
    browser.press("Escape")
    tap.equal(in_card("Pareto front", "return card.querySelectorAll('.ring')"
                                      ".length"), 1, "a marked trial")
    browser.press("Home", "Enter")
    browser.wait("location.hash.endsWith('/trials/1')")
    behaves()


def a_range_that_is_brushed_holds_for_every_plot_and_tab():
    look("goals", "/parameters")
    reach("Parallel coordinates")
    reach("Distribution of results")
    before = {title: ink(title) for title in
              ("Parallel coordinates", "Distribution of results", "Contour")}
    in_card("Parallel coordinates", "card.scrollIntoView({block: 'start'})")
    brush("layers", 0.02, 0.45)
    browser.wait_text("picked:", ".ranges")
    n = int(browser.text(".ranges").split()[0])
    _, rows = table("Parallel coordinates")
    layers = [int(row[2]) for row in rows]
    tap.equal((min(layers) > 1, max(layers), 0 < len(rows) < RESULTS),
              (True, 8, True))
    tap.equal(n >= len(rows), True)  # those that failed count, too
    reach("Distribution of results")
    for title in before:
        tap.equal(ink(title) != before[title], True, title)
    in_card("Parallel coordinates", "card.scrollIntoView({block: 'start'})")
    brush("opt", 0.02, 0.5)
    browser.wait("document.querySelectorAll('.chip').length === 2")
    tap.equal({row[3] for row in table("Parallel coordinates")[1]}, {"sgd"})
    browser.run("location.hash = arguments[0]",
                "#/studies/%d/overview" % studies["goals"])
    browser.wait("document.querySelectorAll('.chip').length === 2")
    reach("Optimisation history")
    picked = ink("Optimisation history")
    browser.click(".ranges button", "All trials")
    browser.wait("document.querySelectorAll('.chip').length === 0")
    harness.wait_until(lambda: ink("Optimisation history") != picked,
                       "the history of all")
    behaves()


def a_part_that_is_zoomed_stays_while_the_study_goes_on():
    study = make_study("live", GOALS)
    draw = random.Random(2)
    for _ in range(12):
        add(study, point(draw))
    look("live")
    reach("Optimisation history")
    title = "Optimisation history"
    whole = ticks(title, "y")
    left, top, width, height = ground(title)
    browser.drag((left + 100, top + 60), (left + width * 0.6, top + 150))
    browser.wait("[...document.querySelectorAll('.tools button')].some("
                 "one => one.textContent === 'Whole range' && !one.hidden)")
    harness.wait_until(lambda: ticks(title, "y") != whole, "the part")
    part = ticks(title, "y"), ticks(title, "x")
    browser.run("document.querySelector('.figures a').focus();"
                "window.scrollTo(0, 40)")
    best = add(study, {"lr": 0.001, "layers": 8, "opt": "adam"})
    browser.wait_text("trial %d" % best, ".figures")
    wait_note(title, "trial %d" % best)
    tap.equal((ticks(title, "y"), ticks(title, "x")), part)
    tap.equal(browser.run("return [document.activeElement.textContent,"
                          "scrollY]"), ["trial %d" % best, 40])
    press(title, "Whole range")
    harness.wait_until(lambda: max(ticks(title, "x")) >= best - 2,
                       "the whole")
    behaves()


def models_are_asked_again_only_now_and_then():
    look("live")
    reach("Importances")
    draw = random.Random(3)
    before = len(asked("/importances"))
    for _ in range(8):
        last = add(studies["live"], point(draw))
        time.sleep(0.1)
    browser.wait_text(str(last), ".figures")
    wait_note("Importances", "from %d results" % last)
    tap.equal(1 <= len(asked("/importances")) - before <= 2, True,
              asked("/importances"))


def a_slice_goes_through_a_trial_that_has_the_parameter():
    look("goals", "/parameters")
    reach("momentum")
    wait_note("momentum", "The model is cut through trial ")
    _, rows = table("momentum")
    tap.equal((len(rows), float(rows[0][0]), float(rows[-1][0])),
              (50, 0, 0.99))
    tap.equal(all(float(low) < float(middle) < float(high)
                  for _, low, middle, high in rows), True)
    tap.equal({"trial=" in url for url in asked("/slice?x=momentum")}, {True})
    tap.equal(any("trial=" in url for url in asked("/slice?x=lr")), False)


def wait_contour():
    wait_note("Contour", "The model's median of accuracy")
    browser.wait("[...document.querySelectorAll('.legend text')]"
                 ".some(one => one.textContent === 'comes next')")


def a_contour_shows_the_model_its_doubt_and_what_comes_next():
    look("goals", "/parameters")
    reach("Contour")
    wait_contour()
    heads, rows = table("Contour")
    tap.equal((heads[:2], len(rows)), (["lr", "layers"], 36 * 8))
    expected = {(row[0], row[1]): float(row[3]) for row in rows}
    best = max(expected, key=expected.get)
    tap.equal(1e-4 < float(best[0]) < 1e-2, True, best)
    median = ink("Contour")
    in_card("Contour", "card.querySelector('input[type=checkbox]').click()")
    wait_note("Contour", "How unsure the model is of accuracy")
    tap.equal(ink("Contour") != median, True)
    in_card("Contour", "card.querySelector('input[type=checkbox]').click()")
    choose("Contour", "y", "parameter:opt")
    wait_note("Contour", "The model's median")
    harness.wait_until(lambda: len(table("Contour")[1]) == 36 * 2,
                       "cells of two categories")
    choose("Contour", "x", "parameter:opt")
    wait_missing("Contour", "Choose two different parameters.")
    look("drawn", "/parameters")
    reach("Contour")
    wait_note("Contour", "drawn without it (random search)")
    behaves()


def too_few_results_are_told_and_nothing_is_asked():
    look("few")
    wait_missing("Importances", "Needs 10 results, has 2.")
    look("few", "/parameters")
    wait_missing("Contour", "A model needs 3 results, there are 2.")
    reach("lr")
    wait_note("lr", "A model needs 3 results, there are 2.")
    look("none")
    wait_missing("Optimisation history", "No trial has begun yet.")
    wait_missing("Pareto front", "No result has both metrics yet.")
    look("none", "/timeline")
    wait_missing("Timeline", "No trial has started yet.")
    look("failed")
    wait_missing("Optimisation history",
                 "No trial has a result so far; the reasons are told above.")
    first = browser.text("[aria-label^=Failures] tr")
    tap.equal(first.split("\t")[:3], ["2 ×", "infeasible", "out of memory"])
    number = studies["few"]
    tap.equal([url for url in asked("/slice") if "/%d/" % number in url], [])
    behaves()


def a_log_axis_is_for_positive_values_only():
    look("goals")
    reach("Optimisation history")
    title = "Optimisation history"
    choose(title, "Metric", "metric:cost")
    wait_note(title, "Best cost")
    linear = ink(title)
    in_card(title, "card.querySelector('input[type=checkbox]').click()")
    harness.wait_until(lambda: ink(title) != linear, "a log axis")
    gaps = [b / a for a, b in zip(ticks(title, "y"), ticks(title, "y")[1:])]
    tap.equal(min(gaps) > 1, True, gaps)
    study = make_study("negative", GOALS[:1])
    for lr in (1e-5, 1e-3, 0.1):
        call("%s/%d/trials" % (STUDIES, study), {
            "parameters": words_of({"lr": lr, "layers": 1, "opt": "adam"}),
            "finalMeasurement": {"stepCount": "1", "metrics": words(
                {"accuracy": math.log10(lr) + 3})}})
    look("negative")
    reach(title)
    tap.equal(in_card(title, "return card.querySelector("
                             "'input[type=checkbox]').disabled"), True)


def a_log_axis_is_on_where_values_span_decades():
    title = "Optimisation history"
    study = make_study("decades", [{"metricId": "loss", "goal": "MINIMIZE"}])
    for lr, loss in ((1e-5, 900.0), (1e-3, 3e-4), (0.1, 2.0)):
        call("%s/%d/trials" % (STUDIES, study), {
            "parameters": words_of({"lr": lr, "layers": 1, "opt": "adam"}),
            "finalMeasurement": {"stepCount": "1", "metrics": words(
                {"loss": loss})}})
    look("decades")
    reach(title)
    is_log = "return card.querySelector('input[type=checkbox]').checked"
    wait_note(title, "Best loss")
    tap.equal(in_card(title, is_log), True)
    in_card(title, "card.querySelector('input[type=checkbox]').click()")
    call("%s/%d/trials" % (STUDIES, study), {
        "parameters": words_of({"lr": 0.01, "layers": 2, "opt": "adam"}),
        "finalMeasurement": {"stepCount": "1", "metrics": words(
            {"loss": 1e-4})}})
    wait_note(title, "trial 4")
    tap.equal(in_card(title, is_log), False, "what the reader chose")


def words_of(made):
    return [{"parameterId": key, "value": value}
            for key, value in made.items()]


def a_plot_is_saved_as_a_picture_of_its_own():
    look("goals", "/parameters")
    reach("Contour")
    wait_contour()
    browser.run("""
        window.saved = [];
        URL.createObjectURL = blob => { saved.push(blob); return "data:,"; };
        HTMLAnchorElement.prototype.click = function () {
          saved[saved.length - 1].label = this.download;
        };""")
    press("Contour", "As SVG")
    press("Contour", "As PNG")
    browser.wait("saved.length === 2 && saved[1].label")
    browser.run("saved[0].text().then(text => window.svg = text);"
                "saved[1].arrayBuffer().then(bytes => window.png ="
                " [...new Uint8Array(bytes.slice(0, 4))]);")
    text = browser.wait("window.svg")
    root = xml.dom.minidom.parseString(text).documentElement
    told = [one.firstChild.data for one in root.getElementsByTagName("text")
            if one.firstChild is not None]
    tap.equal(told[0] if told[0].startswith("goals") else told[-1],
              "goals: Contour")
    tap.equal({"lr", "layers", "comes next"} <= set(told), True, told)
    tap.equal(len(root.getElementsByTagName("path")) > 12, True)
    tap.equal(browser.wait("window.png"), list(b"\x89PNG"))
    tap.equal(browser.run("return saved.map(one => one.label)"),
              ["goals-contour.svg", "goals-contour.png"])
    behaves()


def light_and_dark_are_drawn_in_colours_of_their_own():
    look("goals")
    reach("Optimisation history")
    light = ink("Optimisation history")
    browser.dark(True)
    harness.wait_until(lambda: ink("Optimisation history") != light,
                       "dark colours")
    browser.dark(False)
    harness.wait_until(lambda: ink("Optimisation history") == light,
                       "light colours")
    there = browser.run("return location.hash")
    go = "location.hash = arguments[0]"
    browser.run(go, "#/server")
    browser.wait("document.querySelector('.plot') === null")
    browser.dark(True)
    browser.run(go, there)
    browser.wait("document.querySelector('.plot')")
    reach("Optimisation history")
    try:
        harness.wait_until(lambda: ink("Optimisation history") != light,
                           "colours that turned where no plot was")
    finally:
        browser.dark(False)


def many_parameters_keep_room_to_be_brushed():
    names = ["parameter_%02d" % i for i in range(20)]
    study = studies["wide"] = int(call(STUDIES, {
        "displayName": "wide", "studySpec": {
            "metrics": GOALS[:1], "parameters": [
                {"parameterId": name,
                 "doubleValueSpec": {"minValue": 0, "maxValue": 1}}
                for name in names]}})["name"].rsplit("/", 1)[1])
    draw = random.Random(4)
    for _ in range(12):
        made = {name: draw.random() for name in names}
        call("%s/%d/trials" % (STUDIES, study), {
            "parameters": words_of(made),
            "finalMeasurement": {"stepCount": "1", "metrics": words(
                {"accuracy": made["parameter_07"]})}})
    look("wide", "/parameters")
    reach("Parallel coordinates")
    inner, outer, page = in_card("Parallel coordinates", """
        const ground = card.querySelector(".ground");
        return [ground.clientWidth, ground.parentElement.clientWidth,
                document.documentElement.scrollWidth];""")
    tap.equal((inner > outer, page <= 1400), (True, True))
    labels = browser.run("""return [...document.querySelectorAll(
        ".parallel .label")].map(one => one.firstChild.data)""")
    tap.equal(len(set(labels)), 21, labels)
    look("wide")
    reach("Importances")
    wait_note("Importances", "The first 16 of 20 parameters.")
    tap.equal(browser.count("rect.share"), 16)
    heads, rows = table("Importances")
    tap.equal((len(rows), rows[0][0]), (20, "parameter_07"))
    behaves()


def a_study_that_is_not_there_is_told():
    browser.open(server.http + "/#/studies/none-such")
    browser.wait_text("There is no such study.")
    gone = make_study("gone", GOALS)
    look("gone")
    urllib.request.urlopen(urllib.request.Request(
        "%s%s/%d" % (server.http, STUDIES, gone), method="DELETE"),
        timeout=harness.PATIENCE)
    browser.wait_text("This study has been deleted")
    browser.complaints()  # its console tells of the 404


with harness.Server("--runner", "none", "--auth", "none") as server, \
        driven.Browser() as browser:
    make_studies()
    tap.run([
        every_plot_draws_and_says_the_same_as_text,
        the_front_is_that_of_the_server_and_keeps_the_bounds,
        a_metric_that_is_chosen_is_chosen_in_all_plots,
        the_pointer_and_the_arrow_keys_tell_of_a_trial,
        a_range_that_is_brushed_holds_for_every_plot_and_tab,
        a_part_that_is_zoomed_stays_while_the_study_goes_on,
        models_are_asked_again_only_now_and_then,
        a_slice_goes_through_a_trial_that_has_the_parameter,
        a_contour_shows_the_model_its_doubt_and_what_comes_next,
        too_few_results_are_told_and_nothing_is_asked,
        a_log_axis_is_for_positive_values_only,
        a_log_axis_is_on_where_values_span_decades,
        a_plot_is_saved_as_a_picture_of_its_own,
        light_and_dark_are_drawn_in_colours_of_their_own,
        many_parameters_keep_room_to_be_brushed,
        a_study_that_is_not_there_is_told,
    ])
