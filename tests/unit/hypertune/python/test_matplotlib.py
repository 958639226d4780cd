"""Pictures of studies drawn by matplotlib, where it is installed."""

import importlib.util
import os
import subprocess
import sys
import xml.etree.ElementTree

import tap
from tree import PACKAGE

if importlib.util.find_spec("matplotlib") is None:
    tap.skip("pictures are drawn by matplotlib",
             "matplotlib is not installed")

import test_pictures as plain  # noqa: E402
from canned import HOSTILE, Canned, resource, trial  # noqa: E402

import hypertune  # noqa: E402
from hypertune.plots import model as plot_model  # noqa: E402
from hypertune.plots import trials as plot  # noqa: E402
from hypertune.study import Study  # noqa: E402

del sys.modules["matplotlib"]


def check_picture(picture):
    """It is well-formed, by matplotlib, and has no script."""
    text = picture._repr_svg_()
    tap.equal(text.startswith("<svg ") and "matplotlib" in text, True, text)
    svg = xml.etree.ElementTree.fromstring(text)
    tags = {node.tag.split("}")[1] for node in svg.iter()}
    tap.equal("script" in tags, False, tags)
    tap.equal([value for node in svg.iter() for name, value in
               node.attrib.items() if name.startswith("on") or
               ("href" in name and not value.startswith("#"))], [])
    return svg


plain.check_picture = check_picture
plain.ODD_VALUES = plain.ODD_VALUES[:-1]  # 300 trials, which take a while


def titles_of(svg):
    return [node.text for node in svg.iter() if node.tag.endswith("}title")]


def each_trial_has_its_words_under_the_pointer():
    svg = check_picture(plot.history("q", "loss", True,
                                     plain.trials_of(0.5, 0.7, 0.9)))
    titles = titles_of(svg)
    tap.equal([title.split(":")[0] for title in titles if
               title.startswith("trial ")], ["trial 1", "trial 2", "trial 3"])


def a_dollar_sign_is_no_formula():
    svg = check_picture(plot.history("$\\frac{$", "a$b$c", True,
                                     plain.trials_of(0.5, 0.7,
                                                     metric="a$b$c")))
    tap.equal("$\\frac{$: a$b$c by trial" in "".join(svg.itertext()), True)


def results_over_decades_have_a_logarithmic_axis():
    svg = check_picture(plot.history("q", "loss", False,
                                     plain.trials_of(1e-6, 1e-3, 1, 1e3)))
    ys = [float(node.get("y")) for node in svg.iter()
          if node.tag.endswith("}use") and node.find("*") is not None]
    steps = [a - b for a, b in zip(ys, ys[1:])]
    tap.equal(max(steps) - min(steps) < 0.5 and min(steps) > 30, True, ys)


def importances_and_contours_are_boxes():
    rows = [{"parameter": name, "importance": importance, "certain": True}
            for name, importance in ((HOSTILE, 0.8), ("lr", 0.2))]
    svg = check_picture(plot_model.importances(HOSTILE, {
        "metric": HOSTILE, "trials": 50, "least": 10, "importances": rows}))
    tap.equal("lr: 20.0 %" in titles_of(svg), True, titles_of(svg))
    made = resource(HOSTILE, HOSTILE)
    study = Study(Canned(made), "", made)
    specs = study._specs()
    trials = [hypertune.Trial(study, trial(1, 0.5, opt=HOSTILE))]
    svg = check_picture(plot_model.contour(
        HOSTILE, True, specs, plain.slice_of(
            specs, [], [[1.0, 2.0], [None, 2.0], [3.0, None]], []), trials, 1))
    tap.equal("#440154" in xml.etree.ElementTree.tostring(svg).decode(), True)


def nothing_but_a_picture_loads_it():
    code = ("import sys, hypertune, hypertune.plots.pictures, hypertune.study; "
            "print('matplotlib' in sys.modules)")
    tap.equal(subprocess.run(
        [sys.executable, "-c", code], check=True, stdout=subprocess.PIPE,
        universal_newlines=True,
        env=dict(os.environ, PYTHONPATH=PACKAGE)).stdout, "False\n")
    check_picture(plot.history("q", "loss", True, plain.trials_of(0.5)))
    tap.equal("matplotlib.pyplot" in sys.modules, False)


if __name__ == "__main__":
    tap.run([
        plain.pictures_bear_every_set_of_values,
        plain.pictures_of_nothing_say_so,
        plain.a_study_that_only_fails_says_of_what,
        plain.a_model_that_is_not_there_yet_is_no_error,
        plain.the_time_axis_has_the_unit_that_fits,
        each_trial_has_its_words_under_the_pointer,
        a_dollar_sign_is_no_formula,
        results_over_decades_have_a_logarithmic_axis,
        importances_and_contours_are_boxes,
        nothing_but_a_picture_loads_it,
    ])
