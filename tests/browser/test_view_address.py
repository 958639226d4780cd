"""The address of a study's page holds what its reader has picked, so that a
link opens the same view for others: in a real browser."""

import random
import urllib.parse

import browser as driven
import harness
import plots
import tap
from plots import (
    add, behaves, brush, call, choose, GOALS, in_card, look, make_study, point,
    press, reach, studies, table, values_of, wait_note)

server = None
browser = None
RESULTS = 30


def make_trials():
    """Trials with a metric that is no goal, and one that ended badly."""
    number = make_study("viewed", GOALS)
    draw = random.Random(3)
    trials = []
    for i in range(1, RESULTS + 1):
        made = point(draw)
        values = values_of(made)
        del values["memory"]
        trials.append({"id": i, "state": "SUCCEEDED", "params": made,
                       "metrics": {**values, "latency": 99 + i}, "step": 9})
    call("%s/%d/trials:restore" % (plots.OURS, number), {
        "trials": trials, "measurements": [
            {"trial": trial["id"], "step": step, "timeMs": 1738368000000,
             "metrics": trial["metrics"]}
            for trial in trials for step in (3, 9)]})
    add(number, point(draw), infeasibleReason="the loss is NaN")


def picked():
    """{name: texts} of the address, as it is."""
    query = browser.run("return location.hash").partition("?")[2]
    return urllib.parse.parse_qs(query, strict_parsing=bool(query))


def wait_picked(name, *texts):
    try:
        harness.wait_until(lambda: picked().get(name, []) == list(texts),
                           "the address")
    except AssertionError:
        raise AssertionError("%s of the address is not %s: %s" % (
            name, texts, picked())) from None


def where(tab, query=""):
    return "/%s%s%s" % (tab, "?" if query else "",
                        urllib.parse.urlencode(query, doseq=True))


def shown_trials():
    return [int(text) for text in browser.run("""
        return [...document.querySelectorAll("table[role=grid] tbody a")]
          .map(one => one.textContent)""")]


def wait_trials(condition, what):
    harness.wait_until(lambda: condition(shown_trials()), what)


def compared():
    """What the button says of the marked trials."""
    return browser.run("""return [...document.querySelectorAll(
        ".tools button")].map(one => one.textContent)
        .find(text => text.startsWith("Compare"))""")


def rows_in_all():
    return int(browser.run("return document.querySelector("
                           "'table[role=grid]').ariaRowCount")) - 1


def menu(label):
    return browser.run("""return [...document.querySelectorAll("select")]
        .find(one => one.ariaLabel === arguments[0])?.value""", label)


def in_another_browser(tab, query, check):
    """The same link in a browser that has never seen the study."""
    with driven.Browser() as other:
        other.open("%s/#/studies/%d%s" % (
            server.http, studies["viewed"], where(tab, query)))
        plots.begin(server, other)
        try:
            check(other)
            tap.equal(other.complaints(), [], "the other browser")
        finally:
            plots.begin(server, browser)


def every_control_of_the_table_is_in_the_address():
    look_at_table()
    tap.equal(picked(), {})
    steps = browser.run("return history.length")
    browser.type("input", "layers>1", "Filter")
    wait_picked("filter", "layers>1")
    in_menu("State", "SUCCEEDED")
    wait_picked("state", "SUCCEEDED")
    browser.click("th button", "accuracy")
    wait_picked("sort", "-accuracy")
    browser.click("th button", "accuracy \u25be")
    wait_picked("sort", "accuracy")
    rows = shown_trials()
    tap.true(3 < len(rows) < RESULTS, rows)
    for trial in rows[:2]:
        browser.click("tr input", "Mark %d" % trial)
    wait_picked("marks", "%d,%d" % tuple(rows[:2]))
    pair = ",".join(map(str, sorted(rows[:2])))
    browser.click("button", "Compare 2")
    wait_picked("compare", pair)
    browser.wait_text("Trials " + pair.replace(",", ", "), ".comparison")
    tap.equal(browser.run("return history.length"), steps)
    same = {"filter": "layers>1", "state": "SUCCEEDED", "sort": "accuracy",
            "marks": "%d,%d" % tuple(rows[:2]), "compare": pair}
    tap.equal({name: texts[0] for name, texts in picked().items()}, same)

    def check(other):
        other.wait_text("Trials " + pair.replace(",", ", "), ".comparison")
        tap.equal(other.run("""return [
            document.querySelector(".filter").value,
            [...document.querySelectorAll("select")].find(
              one => one.ariaLabel === "State").value,
            [...document.querySelectorAll("table[role=grid] tbody a")].map(
              one => Number(one.textContent)),
            document.querySelector("th[aria-sort=ascending]").title,
            [...document.querySelectorAll("tr[aria-selected=true]")].map(
              one => Number(one.dataset.key))]"""),
            ["layers>1", "SUCCEEDED", rows, "accuracy", rows[:2]])
    in_another_browser("trials", same, check)
    browser.click(".comparison button", "Close")
    wait_picked("compare")
    browser.click("button", "Unmark all")
    wait_picked("marks")
    behaves()


def look_at_table(query=""):
    browser.open("%s/#/studies/%d%s" % (server.http, studies["viewed"],
                                        where("trials", query)))
    browser.wait("document.querySelector('table[role=grid] tbody a')")


def in_menu(label, value):
    browser.run("""
        const menu = [...document.querySelectorAll("select")].find(
          one => one.ariaLabel === arguments[0]);
        menu.value = arguments[1];
        menu.dispatchEvent(new Event("change"));""", label, value)


def switch(title, label):
    in_card(title, """
        [...card.querySelectorAll("label.choice")].find(
          one => one.textContent.trim() === arguments[1]).click();""", label)


def every_control_of_the_plots_is_in_the_address():
    look("viewed", "/parameters")
    reach("Contour")
    for title, label, value, name, text in (
            ("Contour", "x", "parameter:layers", "contour.x", "layers"),
            ("Contour", "y", "parameter:lr", "contour.y", "lr"),
            ("Scatter", "x", "metric:latency", "scatter.x", "metric:latency"),
            ("Scatter", "y", "parameter:opt", "scatter.y", "parameter:opt"),
            ("Scatter", "Metric", "metric:cost", "metric", "cost")):
        in_card(title, "card.scrollIntoView({block: 'center'})")
        choose(title, label, value)
        wait_picked(name, text)
    reach("Scatter")
    switch("Scatter", "Log x")
    wait_picked("log.metric:latency", "on")
    reach("Contour")
    switch("Contour", "Deviation")
    wait_picked("contour.deviation", "on")
    in_card("Parallel coordinates", "card.scrollIntoView({block: 'start'})")
    reach("Parallel coordinates")
    brush("opt", 0.02, 0.5)
    wait_picked("parameter:opt", "sgd")
    brush("layers", 0.02, 0.45)
    browser.wait("location.hash.includes('parameter:layers=')")
    number = int(browser.text(".ranges").split()[0])
    chips = browser.text(".ranges")
    same = picked()
    tap.equal(sorted(same), [
        "contour.deviation", "contour.x", "contour.y", "log.metric:latency",
        "metric", "parameter:layers", "parameter:opt", "scatter.x",
        "scatter.y"])

    def check(other):
        tap.equal(other.run("return document.querySelector('.ranges')"
                            "?.innerText"), chips)
        reach("Contour")
        wait_note("Contour", "How unsure the model is of cost")
        tap.equal(table("Contour")[0][:2], ["layers", "lr"])
        reach("Scatter")
        tap.equal(table("Scatter")[0],
                  ["Trial", "latency", "opt", "cost"])
        tap.equal(in_card("Scatter", """
            return [...card.querySelectorAll("label.choice")].filter(
              one => !one.hidden && one.querySelector("input")?.checked)
              .map(one => one.textContent.trim())"""), ["Log x"])

    def wait_and_check(other):
        other.wait("document.querySelector('.ranges')")
        check(other)
    in_another_browser("parameters", same, wait_and_check)
    # The other tabs keep what they have a place for.
    browser.click(".tabs a", "Trials")
    wait_picked("parameter:opt", "sgd")
    tap.equal(sorted(picked()), ["log.metric:latency", "metric",
                                 "parameter:layers", "parameter:opt"])
    browser.wait_text("%d of %d trials" % (number, RESULTS + 1), "#main")
    browser.click(".tabs a", "Parameters")
    browser.wait("document.querySelector('.plot')")
    harness.wait_until(lambda: picked() == same, "the view of before")
    behaves()


def the_overview_has_its_menus_there():
    look("viewed", "/overview")
    for title, label, value, name, text in (
            ("Metric curves", "Show", "50", "curves.show", "50"),
            ("Pareto front", "x", "metric:accuracy", "pareto.x", "accuracy"),
            ("Pareto front", "y", "metric:cost", "pareto.y", "cost"),
            ("Optimisation history", "Metric", "metric:cost", "metric",
             "cost")):
        in_card(title, "card.scrollIntoView({block: 'center'})")
        browser.wait("[...document.querySelectorAll('.plot')].find(one =>"
                     " one.ariaLabel === '%s').querySelector(\"select"
                     "[aria-label='%s'] option\")" % (title, label))
        choose(title, label, value)
        wait_picked(name, text)
    behaves()


def a_link_that_is_pasted_and_the_back_button_show_their_views():
    look_at_table({"filter": "layers>1", "marks": "3,7"})
    tap.equal(compared(), "Compare 2")
    few = shown_trials()
    tap.true(len(few) < RESULTS, few)
    browser.run("location.hash = arguments[0]", "#/studies/%d%s" % (
        studies["viewed"], where("trials", {"filter": "layers<=1"})))
    wait_trials(lambda rows: rows and not set(rows) & set(few), "the rest")
    tap.equal((compared(), menu("State")), ("Compare", ""))
    browser.run("history.back()")
    wait_trials(lambda rows: rows == few, "the first view")
    tap.equal(compared(), "Compare 2")
    # The page of a trial, and back.
    browser.click("tbody a", str(few[0]))
    browser.wait_text("Trial %d" % few[0], "h1")
    browser.run("history.back()")
    wait_trials(lambda rows: rows == few, "the table again")
    wait_picked("filter", "layers>1")
    # An address that says nothing leaves what is picked.
    browser.run("location.hash = arguments[0]",
                "#/studies/%d/timeline" % studies["viewed"])
    wait_picked("marks", "3,7")
    behaves()


def what_is_not_there_is_left_out():
    evil = "<img src=x onerror=window.pwned=1>"
    look_at_table([
        ("filter", ""), ("state", evil), ("sort", "-" + evil),
        ("marks", "3,999,-1,1e3,x,%s" % evil), ("compare", "5,999"),
        ("metric", evil), ("parameter:gone", "1..2"), ("parameter:lr", "x..1"),
        ("parameter:lr", evil), ("parameter:layers", "5..2"),
        ("parameter:opt", evil), ("parameter:momentum", ".."),
        ("log.parameter:lr", evil), ("log." + evil, "on"),
        ("__proto__", "1"), (evil, evil), ("toString", "x")])
    tap.equal((rows_in_all(), compared(), menu("State")),
              (RESULTS + 1, "Compare 1", ""))
    tap.equal(browser.count(".ranges, .comparison, main img"), 0)
    tap.equal(sorted(picked()), sorted([
        "compare", "log." + evil, "marks", "metric", "sort", "state"]))
    for tab in ("overview", "parameters", "timeline", "config"):
        browser.run("location.hash = arguments[0]", "#/studies/%d%s" % (
            studies["viewed"], where(tab, {
                name: evil for name in (
                    "metric", "pareto.x", "curves.show", "contour.x",
                    "contour.y", "scatter.x", "scatter.y",
                    "contour.deviation")})))
        browser.wait("document.querySelector('.tabs a[aria-current]')"
                     "?.textContent.toLowerCase() === '%s'" % tab)
    look("viewed", "/parameters" + where("", {"contour.x": evil})[1:])
    reach("Contour")
    wait_note("Contour", "The model's median of accuracy")
    for text in ("%", "?", "&&&", "%ff=%fe", "=", "marks", "a?b?c=d"):
        browser.open("%s/#/studies/%d/trials?%s" % (
            server.http, studies["viewed"], text))
        browser.wait("document.querySelector('table[role=grid] tbody a')")
        tap.equal(rows_in_all(), RESULTS + 1, text)
    tap.equal(browser.run("return window.pwned ?? null"), None)
    behaves()


def a_metric_that_is_no_goal_is_a_column():
    look_at_table({"filter": "latency<=109", "sort": "-latency"})
    tap.equal(shown_trials(), list(range(10, 0, -1)))
    browser.click("th button", "latency \u25be")
    wait_picked("sort", "latency")
    tap.equal(shown_trials(), list(range(1, 11)))
    behaves()


def two_of_anything_are_scattered():
    look("viewed", "/parameters")
    reach("Scatter")
    tap.equal(table("Scatter")[0], ["Trial", "lr", "accuracy"])
    choose("Scatter", "y", "metric:latency")
    wait_note("Scatter", "%d trials, coloured by accuracy" % RESULTS)
    harness.wait_until(lambda: table("Scatter")[0][1:] ==
                       ["lr", "latency", "accuracy"], "the other axis")
    tap.equal(len(table("Scatter")[1]), RESULTS)
    choose("Scatter", "x", "metric:latency")
    plots.wait_missing("Scatter", "Choose two different ones.")
    choose("Scatter", "x", "parameter:opt")
    reach("Scatter")
    tap.equal({row[1] for row in table("Scatter")[1]}, {"adam", "sgd"})
    in_card("Scatter", "card.querySelector('.ground').focus()")
    browser.press("Home")
    browser.wait_text("latency", ".tip:not([hidden])")
    press("Scatter", "As table")
    behaves()


def a_plot_stays_under_the_pointer_that_brushes():
    for width in (1400, 390):
        browser.resize(width, 900)
        browser.open("%s/#/studies/%d/parameters" % (
            server.http, studies["viewed"]))
        reach("Parallel coordinates")
        before = plots.ground("Parallel coordinates")
        for name in ("lr", "layers"):
            brush(name, 0.3, 0.9)
        browser.wait("document.querySelectorAll('.chip').length === 2")
        tap.equal(plots.ground("Parallel coordinates"), before, width)
        browser.click(".ranges button", "All trials")
        browser.wait("document.querySelector('.ranges') === null")
        tap.equal(plots.ground("Parallel coordinates"), before, width)
    browser.resize(1400, 1000)
    behaves()


def a_drag_does_not_flood_the_history():
    look("viewed", "/parameters")
    reach("Parallel coordinates")
    steps = browser.run("return history.length")
    browser.run("""
        window.written = 0;
        const {replaceState} = history;
        history.replaceState = function counted(...all) {
          window.written++;
          return replaceState.apply(this, all);
        };""")
    browser.run("""
        const brush = document.querySelector(".brush-y .overlay"),
          box = brush.getBoundingClientRect(), view = window;
        const send = (target, type, y) => target.dispatchEvent(
          new MouseEvent(type, {bubbles: true, cancelable: true, view,
            clientX: box.left + box.width / 2, clientY: y}));
        send(brush, "mousedown", box.top + 10);
        for (let i = 20; i < 220; i++)
          send(window, "mousemove", box.top + i);
        send(window, "mouseup", box.top + 220);""")
    browser.wait("document.querySelector('.ranges')")
    browser.wait("location.hash.includes('parameter:lr=')")
    tap.true(browser.run("return window.written") <= 3,
             browser.run("return window.written"))
    tap.equal(browser.run("return history.length"), steps)
    behaves()


with harness.Server("--runner", "none", "--auth", "none") as server, \
        driven.Browser() as browser:
    plots.begin(server, browser)
    make_trials()
    tap.run([
        every_control_of_the_table_is_in_the_address,
        every_control_of_the_plots_is_in_the_address,
        the_overview_has_its_menus_there,
        a_link_that_is_pasted_and_the_back_button_show_their_views,
        what_is_not_there_is_left_out,
        a_metric_that_is_no_goal_is_a_column,
        two_of_anything_are_scattered,
        a_plot_stays_under_the_pointer_that_brushes,
        a_drag_does_not_flood_the_history,
    ])
