"""Pictures of studies, drawn without matplotlib: every set of values, names
from outside."""

import datetime
import sys
import xml.etree.ElementTree

import tap
from canned import HOSTILE, Canned, resource, trial

import hypertune
from hypertune.plots import marks, model as plot_model
from hypertune.plots import results as plot_results, trials as plot
from hypertune.study import Study

sys.modules["matplotlib"] = None  # as where it is not installed


def numbers_of(svg):
    for node in svg.iter():
        for name, text in node.attrib.items():
            if name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r"):
                yield float(text)
            elif name == "points":
                for pair in text.split():
                    yield from map(float, pair.split(","))


def check_picture(picture):
    """It is well-formed, without script, and everything lies inside it, texts
    by what letters take at least."""
    svg = xml.etree.ElementTree.fromstring(picture._repr_svg_())
    tags = {node.tag.split("}")[1] for node in svg.iter()}
    tap.equal(tags - {"svg", "rect", "line", "polyline", "circle", "text",
                      "title"}, set())
    tap.equal([name for node in svg.iter() for name in node.attrib
               if name.startswith("on") or "href" in name], [])
    width = float(svg.get("width"))
    for number in numbers_of(svg):
        if not -5 <= number <= width + 5:
            raise AssertionError("%g is outside: %s" % (number, picture))
    for node in svg.iter("{http://www.w3.org/2000/svg}text"):
        least = 0.4 * float(node.get("font-size")) * len(node.text)
        room = float(svg.get("height")) if node.get("transform") else width
        tap.equal(least < room, True, node.text)
    return svg


ODD_VALUES = ([0.5], [0.5] * 3, [0.0, 0.0], [float("nan"), 1.0],
              [float("inf"), 1.0, 2.0], [-1.7e308, 1.7e308, 1.0],
              [1e-300, 2e-300], [1e17, 1e17 + 16], list(range(300)))


def pictures_bear_every_set_of_values():
    made = resource(HOSTILE, HOSTILE)
    study = Study(Canned(made), "", made)
    for values in ODD_VALUES:
        trials = [hypertune.Trial(study, trial(n, v, opt=HOSTILE))
                  for n, v in enumerate(values, 1)]
        trials += [hypertune.Trial(study, trial(301, None, "FAILED"))]
        now = datetime.datetime.now()
        curves = {n: [(s, v * s, now) for s in (0, 1, 10 ** 9)]
                  for n, v in enumerate(values, 1)}
        for maximize in (True, False):
            check_picture(plot.history(HOSTILE, HOSTILE, maximize, trials))
            check_picture(plot.parallel(HOSTILE, HOSTILE, maximize,
                                        study._specs(), trials))
            check_picture(plot_results.distribution(HOSTILE, HOSTILE,
                                                    maximize, trials))
        check_picture(plot.curves(HOSTILE, HOSTILE, curves, 1))
        check_picture(plot_results.timeline(HOSTILE, trials, 2e9))


def slice_of(specs, *others):
    """What the server tells of one parameter, or of two."""
    axes = [{"parameter": spec["parameterId"], "values": values} for
            spec, values in zip(specs, ([1e-5, 1e-3, 1], ["adam", HOSTILE]))]
    return {"metric": HOSTILE, "trial": "1", "axes": axes,
            "low": others[0], "median": others[1], "high": others[2]}


def pictures_of_the_model_bear_what_it_leaves_out():
    made = resource(HOSTILE, HOSTILE)
    study = Study(Canned(made), "", made)
    lr, opt = study._specs()
    trials = [hypertune.Trial(study, trial(n, v, opt=HOSTILE))
              for n, v in enumerate((0.5, 0.25, float("nan")), 1)]
    line = slice_of([lr], [0.1, None, 0.2], [0.3, None, 0.3], [0.4, None, 1])
    svg = check_picture(plot_model.slices(HOSTILE, lr, line, trials))
    tap.equal(sum(node.tag.endswith("circle") for node in svg.iter()), 2)
    labels = {**slice_of([lr, opt], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6])}
    labels["axes"] = labels["axes"][1:]
    check_picture(plot_model.slices(HOSTILE, opt, labels, trials))
    grid = [[1.0, 2.0], [None, 2.0], [3.0, None]]
    for median in (grid, [[1.0, None]] * 3, [[5.0, 5.0]] * 3):
        for maximize in (True, False):
            svg = check_picture(plot_model.contour(
                HOSTILE, maximize, [lr, opt],
                slice_of([lr, opt], [], median, []), trials, 1))
            cells = [node for node in svg.iter()
                     if node.tag.endswith("rect")][1:]
            tap.equal(len(cells), 6)
    tap.equal(check_picture(plot_model.contour(
        "q", True, [lr, opt], slice_of([lr, opt], [], grid, []), [], None)
    ).findall(".//*[@fill='%s']" % marks.shade(1.0)) != [], True)


def a_trial_is_drawn_at_its_value_of_the_metric():
    trials = trials_of(0.5, 0.7, 0.9)
    for trial_, size in zip(trials[1:], (10.0, 20.0)):
        trial_._resource["finalMeasurement"] = {"metrics": [
            {"metricId": "size", "value": size}]}
    lr = resource()["studySpec"]["parameters"][0]
    answer = {**slice_of([lr], [8.0] * 3, [15.0] * 3, [22.0] * 3),
              "metric": "size"}
    ys = heights(check_picture(plot_model.slices("q", lr, answer, trials)))
    tap.equal(len(ys), 2)
    tap.equal(ys[0] - ys[1] > 100, True, ys)
    svg = check_picture(plot_model.contour("q", True, [lr, lr], {
        **slice_of([lr, lr], [], [[1.0] * 2] * 3, []), "axes": [
            {"parameter": "lr", "values": [1e-5, 1e-3, 1]},
            {"parameter": "lr", "values": [1e-5, 1]}]}, trials, 2))
    tips = [text for text in svg.itertext() if text.startswith("trial ")]
    tap.equal(len(tips), 0, "no trial has that metric")


def importances_are_bars_of_one_number():
    rows = [{"parameter": name, "importance": importance, "share": 0.3,
             "certain": importance > 0, "alone": 0.5, "total": 0.9}
            for name, importance in ((HOSTILE, 0.8), ("lr", 0.2), ("opt", 0))]
    svg = check_picture(plot_model.importances(HOSTILE, {
        "metric": HOSTILE, "trials": 50, "least": 10, "importances": rows}))
    widths = [float(node.get("width")) for node in svg.iter()
              if node.tag.endswith("rect")][1:]
    tap.equal(round(widths[0] / widths[1], 2), 4)
    text = "".join(svg.itertext())
    tap.equal("80 %" in text and "50 results" in text, True, text)
    tap.equal("30 %" in text or "90 %" in text, False, text)


def the_front_is_joined_and_lanes_hold_one_trial_at_a_time():
    made = resource()
    study = Study(Canned(made), "", made)
    trials = []
    for n, (a, b) in enumerate(((1, 1), (2, 2), (3, 3), (0, 9)), 1):
        row = trial(n, a)
        row["finalMeasurement"] = {"metrics": [
            {"metricId": "a", "value": a}, {"metricId": HOSTILE, "value": b}]}
        row["hypertune"].update(startTimeMs=n * 1000,
                                endTimeMs=n * 1000 + 1500)
        trials.append(hypertune.Trial(study, row))
    tap.equal(trials[1].metrics, {"a": 2.0, HOSTILE: 2.0})
    svg = check_picture(plot_results.pareto(
        HOSTILE, [("a", True), (HOSTILE, False)], trials, {1, 2, 3}))
    line, = [node for node in svg.iter() if node.tag.endswith("polyline")]
    tap.equal(len(line.get("points").split()), 3)
    svg = check_picture(plot_results.timeline("q", trials, 10.0))
    tops = [node.get("y") for node in svg.iter()
            if node.tag.endswith("rect")][1:]
    tap.equal([tops.index(top) for top in tops], [0, 1, 0, 1])


def pictures_of_nothing_say_so():
    made = resource()
    study = Study(Canned(made), "", made)
    for picture in (plot.history("q", "loss", True, []),
                    plot.curves("q", "loss", {}, None),
                    plot_results.distribution("q", "loss", True, []),
                    plot_results.timeline("q", [], 0.0),
                    plot_results.pareto("q", [("a", True), ("b", True)], [],
                                        set()),
                    plot_model.importances("q", {
                        "metric": "loss", "trials": 3, "least": 10,
                        "importances": []}),
                    plot_model.slices("q", study._specs()[0], slice_of(
                        study._specs()[:1], [None], [None], [None]), []),
                    plot.parallel("q", "loss", True, study._specs(), [])):
        text = "".join(check_picture(picture).itertext())
        tap.equal(" yet" in text, True, text)


def trials_of(*values, metric="loss"):
    made = resource(metric=metric)
    return [hypertune.Trial(Study(Canned(made), "", made), trial(n, value))
            for n, value in enumerate(values, 1)]


def heights(svg):
    return [float(node.get("cy")) for node in svg.iter()
            if node.tag.endswith("circle")]


def results_over_decades_are_seen_apart():
    svg = check_picture(plot.history("q", "loss", False,
                                     trials_of(1e-6, 1e-3, 1, 1e3)))
    ys = heights(svg)
    steps = [a - b for a, b in zip(ys, ys[1:])]
    tap.equal(max(steps) - min(steps) < 0.5 and min(steps) > 50, True, ys)
    tap.equal({"1e-06", "1000"} <= set(svg.itertext()), True)
    ys = heights(check_picture(plot.history("q", "loss", False,
                                            trials_of(0.0, 1e-3, 1, 1e3))))
    tap.equal(ys[0] - ys[2] < 1, True, "0 has no logarithm")
    # A model without logarithms may expect less than 0.
    lr = resource()["studySpec"]["parameters"][0]
    line = {**slice_of([lr], [-1.0, -1.0, -1.0], [1e-6, -0.5, 1.0],
                       [1.0, 1.0, 1e3]), "metric": "accuracy"}
    ys = heights(check_picture(plot_model.slices(
        "q", lr, line, trials_of(1e-6, 1e-3, 1e3, metric="accuracy"))))
    tap.equal(ys[0] - ys[1] > 50, True, ys)


def words_that_are_too_long_end_in_an_ellipsis():
    long = "m" * 128
    trials = trials_of(0.5, 0.7, metric=long)
    svg = check_picture(plot.history(long, long, True, trials))
    texts = [text for text in svg.itertext() if text.startswith("mmm")]
    tap.equal([text.count("\u2026") for text in texts if len(text) < 128],
              [2, 1])
    tap.equal(marks.fit("plain", 5), "plain")
    tap.equal(marks.fit("W" * 9, 5), "WWWW\u2026")


def long_names_of_values_stay_different():
    names = ["a_network_of_the_same_family_%02d" % n for n in range(20)]
    spec = {"parameterId": "net", "categoricalValueSpec": {"values": names}}
    answer = {"metric": "loss", "trial": "1",
              "axes": [{"parameter": "net", "values": names}],
              "low": [1.0] * 20, "median": [2.0] * 20, "high": [3.0] * 20}
    known = [trial(n + 1, 0.5 + n, net=names[n]) for n in range(20)]
    made = resource("q", "loss")
    study = Study(Canned(made), "", made)
    trials = [hypertune.Trial(study, one) for one in known]
    for svg, least in (
            (check_picture(plot_model.slices("q", spec, answer, trials)), 6),
            (check_picture(plot.parallel("q", "loss", False, [spec] * 7,
                                         trials)), 20)):
        labels = [text for text in svg.itertext() if "\u2026" in text and
                  text.strip("\u2026")[:2].isdigit()]
        tap.equal(len(set(labels)) >= least, True, labels)
    tap.equal(marks.fit_all(["other", "others"], 6), ["other", "others"])


def a_study_that_only_fails_says_of_what():
    made = resource()
    study = Study(Canned(made), "", made)
    failed = [hypertune.Trial(study, trial(n, None, "FAILED"))
              for n in (1, 2, 3)]
    failed[1]._own["reason"] = "once"
    for picture in (plot.history("q", "loss", True, failed),
                    plot.parallel("q", "loss", True, study._specs(), failed),
                    plot_results.distribution("q", "loss", True, failed)):
        text = "".join(check_picture(picture).itertext())
        tap.equal("3 ended without" in text and "alert(" in text, True, text)


def a_model_that_is_not_there_yet_is_no_error():
    made = resource()

    class Refusing(Canned):
        def call(self, method, path, **_):
            if path.endswith("/slice"):
                raise hypertune.FailedPrecondition("too few results")
            return super().call()

    study = Study(Refusing(made), "", made)
    for picture in (study.plot_slice("lr"), study.plot_contour("lr", "opt")):
        text = "".join(check_picture(picture).itertext())
        tap.equal("too few results" in text, True, text)
    tap.raises(ValueError, study.plot_slice, "rate")


def the_time_axis_has_the_unit_that_fits():
    for seconds, word, colour in ((5, "seconds", "succeeded"),
                                  (600, "minutes", "infeasible"),
                                  (9000, "hours", "infeasible"),
                                  (9e5, "days", "infeasible")):
        trials = trials_of(0.5)
        trials[0]._own.update(startTimeMs=1000, endTimeMs=1000 + seconds * 1e3,
                              state=colour.upper())
        texts = list(check_picture(plot_results.timeline(
            "q", trials, 0.0)).itertext())
        tap.equal(word + " since the first trial started" in texts, True)
        tap.equal(colour in texts and "failed" not in texts, True, texts)


def the_best_so_far_is_a_staircase():
    made = resource()
    study = Study(Canned(made), "", made)
    trials = [hypertune.Trial(study, trial(n, v))
              for n, v in enumerate([1.0, 3.0, 2.0, 4.0], 1)]
    tap.equal(plot._best_so_far(trials, True),
              [(1, 1.0), (2, 1.0), (2, 3.0), (3, 3.0), (3, 3.0), (4, 3.0),
               (4, 4.0)])
    tap.equal(plot._best_so_far(trials, False)[-1], (4, 1.0))


if __name__ == "__main__":
    tap.run([
        pictures_bear_every_set_of_values,
        pictures_of_the_model_bear_what_it_leaves_out,
        a_trial_is_drawn_at_its_value_of_the_metric,
        importances_are_bars_of_one_number,
        the_front_is_joined_and_lanes_hold_one_trial_at_a_time,
        pictures_of_nothing_say_so,
        results_over_decades_are_seen_apart,
        words_that_are_too_long_end_in_an_ellipsis,
        long_names_of_values_stay_different,
        a_study_that_only_fails_says_of_what,
        a_model_that_is_not_there_yet_is_no_error,
        the_time_axis_has_the_unit_that_fits,
        the_best_so_far_is_a_staircase,
    ])
