"""What the plots of parameters draw and pick in a real browser."""

import math
import random

import browser as driven
import harness
import plots
import tap
from plots import (
    add, asked, behaves, brush, call, choose, GOALS, in_card, ink, legend,
    look, make_studies, make_study, PARAMETERS, point, reach, RESULTS,
    studies, STUDIES, table, ticks, wait_contour, wait_missing, wait_note,
    words, words_of)

server = None
browser = None


def a_range_that_is_brushed_holds_for_every_plot_and_tab():
    look("goals", "/parameters")
    before = {}
    for title in ("Contour", "Distribution of results",
                  "Parallel coordinates"):
        reach(title)
        before[title] = ink(title)
    in_card("Parallel coordinates", "card.scrollIntoView({block: 'start'})")
    brush("layers", 0.02, 0.45)
    browser.wait_text("picked:", ".ranges")
    n = int(browser.text(".ranges").split()[0])
    _, rows = table("Parallel coordinates")
    layers = [int(row[2]) for row in rows]
    tap.equal((min(layers) > 1, max(layers), 0 < len(rows) < RESULTS),
              (True, 8, True))
    tap.true(n >= len(rows), (n, len(rows)))  # failed trials count, too
    for title in before:
        reach(title)
        harness.wait_until(lambda: ink(title) != before[title],
                           title + " of the range")
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


def a_slice_goes_through_a_trial_that_has_the_parameter():
    look("goals", "/parameters")
    reach("momentum")
    wait_note("momentum", "The model is cut through trial ")
    _, rows = table("momentum")
    tap.equal((len(rows), float(rows[0][0]), float(rows[-1][0])),
              (50, 0, 0.99))
    tap.true(all(float(low) < float(middle) < float(high)
                 for _, low, middle, high in rows))
    tap.equal({"trial=" in url for url in asked("/slice?x=momentum")}, {True})
    tap.true(not any("trial=" in url for url in asked("/slice?x=lr")))


def a_contour_shows_the_model_its_doubt_and_what_comes_next():
    look("goals", "/parameters")
    reach("Contour")
    wait_contour()
    heads, rows = table("Contour")
    tap.equal((heads[:2], len(rows)), (["lr", "layers"], 36 * 8))
    expected = {(row[0], row[1]): float(row[3]) for row in rows}
    best = max(expected, key=expected.get)
    tap.true(1e-4 < float(best[0]) < 1e-2, best)
    median = ink("Contour")
    in_card("Contour", "card.querySelector('input[type=checkbox]').click()")
    wait_note("Contour", "How unsure the model is of accuracy")
    harness.wait_until(lambda: ink("Contour") != median, "its doubt")
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


def checked(title, label):
    """Whether that switch of a plot is on; None: it is not to be seen."""
    return in_card(title, """
        const found = [...card.querySelectorAll("label.choice")].find(
          one => one.textContent.trim() === arguments[1]);
        return found === undefined || found.hidden ? null
          : found.querySelector("input").checked;""", label)


def axis_ticks(title, name):
    """Of an axis of the parallel coordinates."""
    return in_card(title, """
        const axis = [...card.querySelectorAll(".parallel")].find(
          one => one.querySelector(".label title").textContent ===
            arguments[1]);
        return [...axis.querySelectorAll(".ticks text")].map(
          one => Number(one.textContent));""", name)


def powers(numbers):
    return len(numbers) > 1 and all(
        one > 0 and abs(math.log10(one) - round(math.log10(one))) < 1e-9
        for one in numbers)


def bar(title):
    """The values beside a bar of colours, from its foot."""
    return in_card(title, "return [...card.querySelectorAll('.bar text')]"
                          ".map(one => Number(one.textContent))")


def make_decades():
    """A loss over six decades, and parameters over many that say nothing of a
    scale."""
    made = studies["decades"] = int(call(STUDIES, {
        "displayName": "decades", "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [PARAMETERS[0], {
                "parameterId": "decay",
                "doubleValueSpec": {"minValue": 0, "maxValue": 10}},
                {"parameterId": "n" * 128,
                 "integerValueSpec": {"minValue": "1", "maxValue": "9"}},
                {"parameterId": "cut", "doubleValueSpec": {
                    "minValue": 1e-5, "maxValue": 10}}]}}
        )["name"].rsplit("/", 1)[1])
    draw = random.Random(5)
    for i in range(60):
        lr, decay = draw.uniform(-5, -1), draw.uniform(-6, 1)
        call("%s/%d/trials" % (STUDIES, made), {
            "parameters": words_of({"lr": 10 ** lr, "decay": 10 ** decay,
                                    "n" * 128: 1 + i % 9,
                                    "cut": 10 ** draw.uniform(-5, 1)}),
            "finalMeasurement": {"stepCount": "1", "metrics": words({
                "loss": 10 ** (1.5 * abs(lr + 3) + 0.4 * abs(decay + 3) - 4)
            })}})


def decades_are_logarithmic_on_axes_and_in_colours():
    make_decades()
    look("decades", "/parameters")
    title = "Parallel coordinates"
    reach(title)
    for name in ("lr", "decay", "loss"):
        tap.equal(powers(axis_ticks(title, name)), True, name)
    tap.equal(powers(axis_ticks(title, "n" * 128)), False)
    foot, middle, head = bar(title)
    tap.true(abs(math.log10(foot * head) / 2 - math.log10(middle)) < 0.01,
             (foot, middle, head))
    tap.true(head < foot, "the smallest loss is the best")
    wait_contour("loss")
    tap.equal([checked("Contour", "Log " + one)
               for one in ("x", "y", "colours")], [None, True, True])
    tap.equal(powers(ticks("Contour", "y")), True)
    foot, middle, head = bar("Contour")
    tap.true(head < middle < 0.1 * foot, (foot, middle, head))
    # What is said in one plot holds for all of the page, and says so.
    in_card("Contour", """
        [...card.querySelectorAll("label.choice")].find(
          one => one.textContent.trim() === "Log colours").click();""")
    harness.wait_until(lambda: not powers(axis_ticks(title, "loss")),
                       "a linear axis")
    reach("decay")
    harness.wait_until(lambda: checked("decay", "Log y") is False,
                       "its switch in another plot")
    foot, middle, head = bar(title)
    tap.true(abs((foot + head) / 2 - middle) < 0.01 * foot,
             (abs((foot + head) / 2 - middle), 0.01 * foot))
    reach("Contour")
    choose("Contour", "y", "parameter:cut")
    browser.wait("[...document.querySelectorAll('.y-label')].some("
                 "one => one.firstChild.data === 'cut')")
    for title, column, note in (("Contour", 1, "as in trial"),
                                ("cut", 0, "cut through trial")):
        reach(title)
        wait_note(title, note)
        points = sorted({float(row[column]) for row in table(title)[1]})
        tap.true(points[len(points) // 2] < 0.01 * points[-1],
                 "points of the model, even on the axis: %s" % points)
    behaves()


def a_tab_that_is_shown_again_has_its_answers():
    look("goals", "/parameters")
    reach("Contour")
    wait_contour()
    before = asked("/slice?points="), ink("Contour")
    for tab, title in (("overview", "Optimisation history"),
                       ("parameters", "Contour")):
        browser.run("location.hash = arguments[0]",
                    "#/studies/%d/%s" % (studies["goals"], tab))
        reach(title)
    wait_contour()
    tap.equal((asked("/slice?points="), ink("Contour")), before)
    choose("Contour", "x", "parameter:layers")
    choose("Contour", "y", "parameter:lr")
    harness.wait_until(lambda: len(asked("/slice?points=")) > len(before[0]),
                       "a question for the other axes")
    wait_contour()
    tap.equal(table("Contour")[0][:2], ["layers", "lr"])
    behaves()


def a_title_that_is_long_takes_one_line():
    look("decades", "/parameters")
    reach("n" * 128)
    heights = in_card("n" * 128, """
        return [card, ...document.querySelectorAll(".small .plot")].map(
          one => one.querySelector("h2").offsetHeight);""")
    tap.equal(len(set(heights)), 1, heights)
    tap.equal(in_card("n" * 128, "return card.querySelector('h2').title"),
              "n" * 128)


def slider():
    """The slider that has the focus: its name, its value in words, its role."""
    return browser.run("""const at = document.activeElement;
        return [at.ariaLabel, at.getAttribute("aria-valuetext"),
                at.getAttribute("role")];""")


def wait_slider(name, text):
    """Plots are drawn anew a moment after what they show has changed."""
    harness.wait_until(lambda: slider() == [name, text, "slider"],
                       "the slider %s tells %s" % (name, text))


def picked():
    """How many trials of how many the ranges leave."""
    found = browser.text(".ranges").split()
    return (int(found[0]), int(found[3])) if found else None


def ends_of_ranges_are_moved_by_keys():
    look("goals", "/parameters")
    title = "Parallel coordinates"
    reach(title)
    in_card(title, "card.querySelector('.ground').focus()")
    browser.press("Tab")
    name, text, role = slider()
    tap.equal((name, text.endswith(", any"), role), ("lr, from", True,
                                                     "slider"))
    browser.press("ArrowRight", "ArrowRight")
    tap.equal(slider(), ["layers, from", "1, any", "slider"])
    browser.press("ArrowUp", "ArrowUp")
    browser.wait_text("layers at least 3", ".ranges")
    wait_slider("layers, from", "3")
    browser.press("ArrowRight", "ArrowDown")
    browser.wait_text("layers 3 to 7", ".ranges")
    layers = {int(row[2]) for row in table(title)[1]}
    tap.equal((min(layers), max(layers)), (3, 7))
    # No end passes the other one.
    in_card(title, "card.querySelector('[aria-label=\"layers, to\"]').focus()")
    browser.press("Home")
    browser.wait_text("layers 3 to 3", ".ranges")
    browser.press("Delete")
    harness.wait_until(lambda: picked() is None, "no range")
    browser.press("ArrowRight", "ArrowUp")
    browser.wait_text("opt sgd", ".ranges")
    # Tab comes back to the end that it has left.
    browser.press("Tab")
    tap.equal(slider()[2], None)
    browser.press("Shift+Tab")
    wait_slider("opt, from", "sgd")
    browser.press("ArrowDown")
    harness.wait_until(lambda: picked() is None, "the whole axis")
    behaves()


def a_finger_picks_a_range():
    look("goals", "/parameters")
    reach("Parallel coordinates")
    x, top, height = browser.run("""
        const box = document.querySelectorAll(".brush-y .overlay")[1]
          .getBoundingClientRect();
        return [box.left + box.width / 2, box.top, box.height];""")
    browser.touch([(x, top + 10), (x, top + height / 4),
                   (x, top + height / 2)])
    browser.wait_text("picked:", ".ranges")
    few, all_ = picked()
    tap.true(0 < few < all_, (few, all_))
    behaves()


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
    tap.equal(browser.count("rect.importance"), 16)
    heads, rows = table("Importances")
    tap.equal((len(rows), rows[0][0]), (20, "parameter_07"))
    behaves()


def tick_labels(title, axis):
    """[shown, whole, box] of each label within that element of a plot."""
    return in_card(title, """
        return [...card.querySelectorAll(arguments[1] + " .tick text")].map(
          one => {
            const {left, top, right, bottom} = one.getBoundingClientRect();
            return [one.firstChild.data,
                    one.querySelector("title").textContent,
                    {left, top, right, bottom}];
          });""", axis)


def check_labels(title, axis, names):
    """They can be read, differ, and include the ends."""
    labels = tick_labels(title, axis)
    names_shown = [whole for _, whole, _ in labels]
    tap.equal((names_shown[0], names_shown[-1]), (names[0], names[-1]), title)
    tap.true(2 < len(labels) < len(names), labels)
    tap.equal(len({shown for shown, _, _ in labels}), len(labels), labels)
    for shown, whole, _ in labels:
        tap.true(whole.endswith(shown.rsplit("\u2026", 1)[-1]), shown)
    boxes = [box for _, _, box in labels]
    for a, b in zip(boxes, boxes[1:]):
        tap.true(a["right"] < b["left"] or b["bottom"] <= a["top"],
                 (title, a, b))
    left, right = in_card(title, """
        const box = card.getBoundingClientRect();
        return [box.left, box.right];""")
    tap.true(left < min(box["left"] for box in boxes) and
             max(box["right"] for box in boxes) < right, title)


def many_values_have_labels_that_can_be_read():
    names = ["resnet_block_variant_%02d_large" % i for i in range(60)]
    seeds = ["s%02d" % i for i in range(60)]
    widths = ["a_network_of_width_%02d_and_more" % i for i in range(20)]
    study = studies["values"] = int(call(STUDIES, {
        "displayName": "values", "studySpec": {
            "metrics": GOALS[:1], "parameters": [
                {"parameterId": name, "categoricalValueSpec": {
                    "values": values}}
                for name, values in (("architecture", names),
                                     ("seed", seeds), ("width", widths))]}}
        )["name"].rsplit("/", 1)[1])
    for i in range(4):
        call("%s/%d/trials" % (STUDIES, study), {
            "parameters": words_of({"architecture": names[-i],
                                    "seed": seeds[i],
                                    "width": widths[i]}),
            "finalMeasurement": {"stepCount": "1",
                                 "metrics": words({"accuracy": i})}})
    look("values", "/parameters")
    title = "Parallel coordinates"
    reach(title)
    check_labels(title, ".parallel:nth-child(1)", names)
    check_labels(title, ".parallel:nth-child(2)", seeds)
    reach("Contour")
    wait_note("Contour", "The model's median")
    check_labels("Contour", ".x-axis", names)
    check_labels("Contour", ".y-axis", seeds)
    choose("Contour", "x", "parameter:seed")
    choose("Contour", "y", "parameter:architecture")
    browser.wait("[...document.querySelectorAll('.y-label')].some("
                 "one => one.firstChild.data === 'architecture')")
    check_labels("Contour", ".x-axis", seeds)
    check_labels("Contour", ".y-axis", names)
    for name, values in (("architecture", names), ("seed", seeds),
                         ("width", widths)):
        reach(name)
        check_labels(name, ".x-axis", values)
    behaves()


def label_and_numbers(title):
    """Where the label of the vertical axis ends and its numbers begin."""
    return in_card(title, """
        const box = one => one.getBoundingClientRect();
        return [box(card.querySelector(".y-label")).right, Math.min(
          ...[...card.querySelectorAll(".y-axis text")].map(one => box(one).left))];""")


def inked(title, x, from_, to):
    """The share of a plot's rows from_..to that is drawn on at x."""
    return in_card(title, """
        const {width, height} = card.querySelector("canvas");
        const copy = Object.assign(document.createElement("canvas"),
          {width, height}).getContext("2d", {willReadFrequently: true});
        copy.drawImage(card.querySelector("canvas"), 0, 0);
        const [, x, from, to] = arguments;
        const {data} = copy.getImageData(x, from, 1, to - from);
        return data.filter((_, i) => i % 4 === 3).map(alpha => alpha > 0)
          .reduce((n, is) => n + is, 0) / (to - from);""", x, from_, to)


def left_of(title):
    """Pixels from the left of a plot to its vertical axis."""
    return in_card(title, """
        return Number(/[0-9.]+/.exec(card.querySelector(".y-axis")
          .getAttribute("transform"))[0]);""")


def large_numbers_and_single_values_are_drawn_whole():
    study = studies["huge"] = int(call(STUDIES, {
        "displayName": "huge", "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [
                {"parameterId": "x", "doubleValueSpec": {"maxValue": 1}},
                {"parameterId": "same", "integerValueSpec": {
                    "minValue": "3", "maxValue": "3"}},
                {"parameterId": "far", "doubleValueSpec": {
                    "minValue": -2500000, "maxValue": 9000000}}]}}
        )["name"].rsplit("/", 1)[1])
    for i in range(9):
        call("%s/%d/trials" % (STUDIES, study), {
            "parameters": words_of({"x": i / 8, "same": 3, "far": i * 1e6}),
            "finalMeasurement": {"metrics": words(
                {"loss": (1.234e+12, -2.5e7, 5)[i % 3]})}})
    look("huge", "/parameters")
    reach("Parallel coordinates")
    tap.equal(in_card("Parallel coordinates", """
        const end = card.querySelector(".sideways").getBoundingClientRect().right;
        return [...card.querySelectorAll(".bar text")].filter(
          one => one.getBoundingClientRect().right > end).length;"""), 0)
    reach("Contour")
    wait_note("Contour", "The model's median")
    axis = left_of("Contour")
    tap.equal(inked("Contour", axis + 40, 40, 300), 1, "one value of y")
    tap.true(inked("Contour", axis - 3, 40, 300) > 0, "the mark of x = 0")
    choose("Contour", "y", "parameter:far")
    browser.wait("[...document.querySelectorAll('.y-label')].some("
                 "one => one.firstChild.data === 'far')")
    for title in ("Contour", "x"):
        reach(title)
        label, numbers = label_and_numbers(title)
        tap.true(label < numbers, (title, label, numbers))
    reach("same")
    wait_note("same", "The model is cut")
    middle = in_card("same", """
        const box = one => one.getBoundingClientRect();
        const tick = box(card.querySelector(".x-axis .tick text"));
        return (tick.left + tick.right) / 2 - box(card.querySelector(".ground")).left;""")
    harness.wait_until(lambda: inked("same", middle + 10, 26, 217) > 0,
                       "what the model expects of one value")
    behaves()


def failed_trials_are_where_they_failed():
    look("goals", "/parameters")
    for title in ("lr", "layers", "opt"):
        reach(title)
        tap.contains("failed", legend(title))
    wait_contour()
    tap.contains("failed", legend("Contour"))
    look("drawn", "/parameters")
    reach("lr")
    tap.lacks("failed", legend("lr"))
    behaves()


def a_result_far_off_is_at_the_end_of_its_axis():
    study = make_study("far-off", GOALS[:1])
    draw = random.Random(7)
    for _ in range(10):
        add(study, point(draw), GOALS[:1])
    for title, note in NOTES_OF_OUTLIERS.items():
        look("far-off", "/parameters")
        reach(title)
        tap.lacks("far off", in_card(
            title, "return card.querySelector('.note').textContent"), note)
    call("%s/%d/trials" % (STUDIES, study), {
        "parameters": words_of({"lr": 0.1, "layers": 1, "opt": "adam"}),
        "finalMeasurement": {"stepCount": "1",
                             "metrics": words({"accuracy": -40})}})
    for title, note in NOTES_OF_OUTLIERS.items():
        wait_note(title, note)
    tap.true(min(ticks("Distribution of results", "x")) > 0,
             ticks("Distribution of results", "x"))
    behaves()


NOTES_OF_OUTLIERS = {
    "Parallel coordinates": "1 trial far off, drawn at the end of an axis.",
    "Distribution of results": "1 trial far off, beyond the axis.",
    "lr": "1 trial far off, drawn at the edge."}


with harness.Server("--runner", "none", "--auth", "none") as server, \
        driven.Browser() as browser:
    plots.begin(server, browser)
    make_studies()
    tap.run([
        a_range_that_is_brushed_holds_for_every_plot_and_tab,
        a_slice_goes_through_a_trial_that_has_the_parameter,
        a_contour_shows_the_model_its_doubt_and_what_comes_next,
        decades_are_logarithmic_on_axes_and_in_colours,
        a_tab_that_is_shown_again_has_its_answers,
        failed_trials_are_where_they_failed,
        a_result_far_off_is_at_the_end_of_its_axis,
        a_title_that_is_long_takes_one_line,
        ends_of_ranges_are_moved_by_keys,
        a_finger_picks_a_range,
        many_parameters_keep_room_to_be_brushed,
        many_values_have_labels_that_can_be_read,
        large_numbers_and_single_values_are_drawn_whole,
    ])
