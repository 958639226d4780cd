"""The cards of plots in a real browser: what they draw, describe, zoom and save, and
that they follow a study that continues."""

import math
import random
import time
import urllib.request
import xml.dom.minidom

import browser as driven
import harness
import plots
import tap
from plots import (
    add, asked, behaves, call, choose, GOALS, ground, in_card, ink, look,
    make_studies, make_study, OURS, point, press, reach, RESULTS, STEPS,
    STUDIES, studies, table, ticks, wait_contour, wait_missing, wait_note,
    words, words_of)

server = None
browser = None


def every_plot_draws_and_says_the_same_as_text():
    look("goals")
    for title in ("Optimisation history", "Metric curves", "Pareto front"):
        reach(title)
        tap.true(ink(title) is not None, title)
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
        tap.true(ink(title) is not None, title)
    _, rows = table("Distribution of results")
    tap.equal((len(rows), rows[-1][2]), (RESULTS, "1"))
    look("goals", "/timeline")
    reach("Timeline")
    tap.equal(len(table("Timeline")[1]), 12)
    behaves()


def the_pointer_and_the_arrow_keys_tell_of_a_trial():
    look("goals")
    reach("Pareto front")
    reach("Optimisation history")
    title = "Optimisation history"
    in_card(title, "card.querySelector('.ground').focus()")
    browser.press("Home")
    browser.wait_text("succeeded", ".tip")
    tip = browser.text(".tip")
    tap.contains("Trial\n1, succeeded", tip)
    spoken = in_card(title, "return card.querySelector('.unseen').textContent")
    tap.starts(spoken, "Trial 1, succeeded, accuracy ")
    browser.press("ArrowRight")
    browser.wait_text("2, succeeded", ".tip")
    # The same trial is ringed in another plot of the page.
    ring = in_card(title, """
        const box = card.querySelector(".ring").getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];""")
    rings = "return card.querySelectorAll('.ring').length"
    harness.wait_until(lambda: in_card("Pareto front", rings) == 1, "a ring")
    browser.press("Escape")
    browser.wait("document.querySelector('.tip').hidden")
    browser.hover((ring[0] + 4, ring[1] + 4))
    browser.wait_text("2, succeeded", ".tip")
    browser.press("m")
    browser.press("Escape")
    harness.wait_until(lambda: in_card("Pareto front", rings) == 1,
                       "the ring of a marked trial")
    browser.press("Home", "Enter")
    browser.wait("location.hash.endsWith('/trials/1')")
    behaves()


def a_part_that_is_zoomed_stays_while_the_study_continues():
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
    harness.wait_until(lambda: "trial %d" % best in in_card(
        title, "return card.querySelector('.note').textContent"), "a note")
    tap.equal((ticks(title, "y"), ticks(title, "x")), part)
    tap.equal(browser.run("return [document.activeElement.textContent,"
                          "scrollY]"), ["trial %d" % best, 40])
    press(title, "Whole range")
    harness.wait_until(lambda: max(ticks(title, "x")) >= best - 2,
                       "the whole")
    behaves()


HISTORY = "Optimisation history"


def seen():
    """The ends of what the history shows of both axes."""
    return [(min(one), max(one)) for one in
            (ticks(HISTORY, "x"), ticks(HISTORY, "y"))]


def wait_seen(condition, what):
    harness.wait_until(lambda: condition(*seen()), what)


def a_wheel_zooms_with_control_and_else_scrolls():
    look("goals")
    reach(HISTORY)
    in_card(HISTORY, "card.scrollIntoView({block: 'start'})")
    x, y = whole = seen()
    left, top, width, height = ground(HISTORY)
    middle = (left + width / 2, top + height / 2)
    at = browser.run("return scrollY")
    browser.wheel(middle, -400, "Control")
    wait_seen(lambda a, b: a[0] > x[0] and a[1] < x[1] and b[0] > y[0],
              "a part of both axes")
    tap.equal(browser.run("return scrollY"), at)
    part = seen()
    browser.wheel(middle, 120)
    browser.wait("scrollY > %d" % at)
    tap.equal(seen(), part)
    in_card(HISTORY, "card.scrollIntoView({block: 'start'})")
    browser.wait("scrollY === %d" % at)
    browser.wheel(middle, 4000, "Control")
    wait_seen(lambda *now: list(now) == whole, "the whole, and no more")
    tap.equal(in_card(HISTORY, """return [...card.querySelectorAll("button")]
        .find(one => one.textContent === "Whole range").hidden;"""), True)
    behaves()


def a_part_is_moved_by_dragging_with_shift():
    look("goals")
    reach(HISTORY)
    in_card(HISTORY, "card.scrollIntoView({block: 'start'})")
    left, top, width, height = ground(HISTORY)
    middle = (left + width / 2, top + height / 2)
    whole = seen()
    browser.wheel(middle, -400, "Control")
    wait_seen(lambda *now: list(now) != whole, "a part")
    (low, high), _ = seen()
    hash_ = browser.run("return location.hash")
    browser.drag(middle, (left + width, top + height / 2), "Shift")
    wait_seen(lambda a, b: a[0] < low and a[1] < high, "what lies at its left")
    tap.equal(browser.run("return location.hash"), hash_)
    browser.run("""
        const box = document.querySelector(".brushes .overlay");
        box.dispatchEvent(new MouseEvent("dblclick", {bubbles: true}));""")
    wait_seen(lambda *now: list(now) == whole, "the whole")
    behaves()


def keys_zoom_and_move():
    look("goals")
    reach(HISTORY)
    whole = seen()
    in_card(HISTORY, "card.querySelector('.ground').focus()")
    browser.press("+")
    wait_seen(lambda a, b: a[0] > whole[0][0] and a[1] < whole[0][1], "a part")
    part = seen()
    browser.press("Shift+ArrowRight")
    wait_seen(lambda a, b: a[0] > part[0][0] or a[1] > part[0][1], "the right")
    browser.press("Shift+ArrowLeft")
    wait_seen(lambda *now: list(now) == part, "where it was")
    browser.press("-", "-", "-")
    wait_seen(lambda *now: list(now) == whole, "the whole")
    browser.press("+")
    wait_seen(lambda *now: list(now) != whole, "a part")
    browser.press("0")
    wait_seen(lambda *now: list(now) == whole, "the whole")
    text = in_card(HISTORY, "return card.querySelector('.help').textContent")
    for what in ("Ctrl or \u2318 and the wheel", "Shift while dragging",
                 "Double click, 0", "arrow keys"):
        tap.contains(what, text)
    behaves()


def fingers_zoom_scroll_and_tell():
    look("goals")
    reach(HISTORY)
    in_card(HISTORY, "card.scrollIntoView({block: 'start'})")
    whole = seen()
    left, top, width, height = ground(HISTORY)
    x, y = left + width / 2, top + height / 2
    apart = [(10, 0), (60, 0), (120, 0)]
    browser.touch([(x - a, y) for a, _ in apart], [(x + a, y) for a, _ in apart])
    wait_seen(lambda a, b: a[0] > whole[0][0] and a[1] < whole[0][1], "a part")
    press(HISTORY, "Whole range")
    wait_seen(lambda *now: list(now) == whole, "the whole")
    at = browser.run("return scrollY")
    browser.touch([(x, y + 60), (x, y), (x, y - 60)])
    browser.wait("scrollY > %d" % at)
    tap.equal(seen(), whole)
    in_card(HISTORY, "card.querySelector('.ground').focus()")
    browser.press("Home")
    browser.wait_text("1, succeeded", ".tip")
    mark = in_card(HISTORY, """
        const box = card.querySelector(".ring").getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];""")
    browser.press("Escape")
    browser.wait("document.querySelector('.tip').hidden")
    browser.touch([mark])
    browser.wait_text("1, succeeded", ".tip")
    tap.lacks("/trials/", browser.run("return location.hash"))
    browser.touch([mark])
    browser.wait("location.hash.endsWith('/trials/1')")
    behaves()


def models_are_asked_again_only_now_and_then():
    look("live")
    reach("Importances")
    draw = random.Random(3)
    before, began = len(asked("/importances")), time.monotonic()
    for _ in range(8):
        last = add(studies["live"], point(draw))
        time.sleep(0.1)
    browser.wait_text(str(last), ".figures")
    wait_note("Importances", "from %d results" % last)
    most = 2 + (time.monotonic() - began) // 4  # one in four seconds
    tap.true(1 <= len(asked("/importances")) - before <= most,
             asked("/importances"))


def too_few_results_are_named_and_nothing_is_asked():
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
                 "No trial has a result so far; the reasons are shown above.")
    first = browser.text("[aria-label^=Failed] tr")
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
    tap.true(min(gaps) > 1, gaps)
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


def a_plot_is_saved_as_its_own_picture():
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
    texts = [one.firstChild.data for one in root.getElementsByTagName("text")
            if one.firstChild is not None]
    tap.equal(texts[0] if texts[0].startswith("goals") else texts[-1],
              "goals: Contour")
    tap.true({"lr", "layers", "comes next"} <= set(texts), texts)
    tap.true(len(root.getElementsByTagName("path")) > 12)
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


def a_study_that_does_not_exist_is_named():
    browser.open(server.http + "/#/studies/none-such")
    browser.wait_text("There is no such study.")
    behaves()
    gone = make_study("gone", GOALS)
    look("gone")
    urllib.request.urlopen(urllib.request.Request(
        "%s%s/%d" % (server.http, STUDIES, gone), method="DELETE"),
        timeout=harness.PATIENCE)
    browser.wait_text("This study has been deleted")
    browser.complaints()  # its console logs the 404


with harness.Server("--runner", "none", "--auth", "none") as server, \
        driven.Browser() as browser:
    plots.begin(server, browser)
    make_studies()
    tap.run([
        every_plot_draws_and_says_the_same_as_text,
        the_pointer_and_the_arrow_keys_tell_of_a_trial,
        a_part_that_is_zoomed_stays_while_the_study_continues,
        a_wheel_zooms_with_control_and_else_scrolls,
        a_part_is_moved_by_dragging_with_shift,
        keys_zoom_and_move,
        fingers_zoom_scroll_and_tell,
        models_are_asked_again_only_now_and_then,
        too_few_results_are_named_and_nothing_is_asked,
        a_log_axis_is_for_positive_values_only,
        a_log_axis_is_on_where_values_span_decades,
        a_plot_is_saved_as_its_own_picture,
        light_and_dark_are_drawn_in_colours_of_their_own,
        a_study_that_does_not_exist_is_named,
    ])
