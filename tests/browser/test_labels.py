"""Labels of all plots, of studies that are hard to draw, at three widths: none
lies on another one or is cut."""

import random

import browser as driven
import dashboard
import harness
import plots
import tap
from plots import call, STUDIES, studies, words, words_of

WIDTHS = (1400, 800, 390)
LONG = "the_share_of_units_that_are_left_out_of_the_second_hidden_layer"
TWELVE = ["a_rather_long_name_of_the_variant_%02d" % i for i in range(12)]
TOUCH = 1  # pixels that boxes may share

# Labels of one picture that lie on each other, and those that are cut by their
# card or, where it can be moved sideways, by what is moved.
CLASHES = """
  const seen = one => one.textContent.trim() !== "" && one.getClientRects().length > 0 &&
    getComputedStyle(one).visibility !== "hidden" && one.closest("[hidden]") === null;
  const found = [], touch = arguments[0];
  for (const picture of document.querySelectorAll("main svg")) {
    const labels = [...picture.querySelectorAll("text")].filter(seen)
      .map(one => ({text: one.firstChild.data, box: one.getBoundingClientRect()}));
    const card = picture.closest(".card");
    const title = card?.ariaLabel ?? picture.getAttribute("class");
    const {left, right, top, bottom} = (picture.closest(".sideways") ? picture : card ?? picture).getBoundingClientRect();
    labels.forEach(({text, box: a}, i) => {
      if (a.left < left - touch || a.right > right + touch || a.top < top - touch || a.bottom > bottom + touch)
        found.push(`${title}: "${text}" is cut`);
      for (const {text: other, box: b} of labels.slice(i + 1))
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > touch && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > touch)
          found.push(`${title}: "${text}" lies on "${other}"`);
    });
  }
  return [document.querySelectorAll("main svg text").length, found]"""

server = None
page = None


def double(name, low, high, **more):
    return {"parameterId": name, "doubleValueSpec": {
        "minValue": low, "maxValue": high}, **more}


def make(name, metrics, parameters, values_of, n=25):
    """A study with n results and one trial that the search chose."""
    made = call(STUDIES, {"displayName": name, "studySpec": {
        "metrics": metrics, "parameters": parameters}})
    study = studies[name] = int(made["name"].rsplit("/", 1)[1])
    draw = random.Random(9)
    for i in range(n):
        point = {}
        for one in parameters:
            spec = one.get("doubleValueSpec")
            point[one["parameterId"]] = (
                draw.uniform(spec["minValue"], spec["maxValue"]) if spec
                else draw.choice(one["categoricalValueSpec"]["values"]))
        call("%s/%d/trials" % (STUDIES, study), {
            "parameters": words_of(point), "finalMeasurement": {
                "stepCount": "1", "metrics": words(values_of(i, draw))}})
    call("%s/%d/trials" % (STUDIES, study), {
        "parameters": words_of(point), "infeasibleReason": "no value"})
    asked = call("%s/%d/trials:suggest" % (STUDIES, study),
                 {"suggestionCount": 1, "clientId": "me"})
    done = harness.wait_until(
        lambda: (lambda now: now.get("done") and now)(
            server.get("/v1/" + asked["name"])), "a suggestion")
    trial = done["response"]["trials"][0]["name"]
    for step in (1, 2, 3):
        call("/v1/%s:addTrialMeasurement" % trial, {"measurement": {
            "stepCount": str(step), "metrics": words(values_of(step, draw))}})
    return study, int(trial.rsplit("/", 1)[1])


def make_studies():
    """[(study, trial)]"""
    loss = {"metricId": "loss", "goal": "MINIMIZE"}
    long_goal = {"metricId": LONG + "_accuracy", "goal": "MAXIMIZE"}
    return [
        make("long names " + "and longer ones " * 6, [long_goal, loss], [
            double(LONG, 0, 1), double(LONG + "_again", 0, 1),
            {"parameterId": "variant",
             "categoricalValueSpec": {"values": TWELVE}}],
             lambda i, draw: {long_goal["metricId"]: draw.random(),
                              "loss": draw.random()}),
        make("many", [loss], [double("parameter_%02d" % i, 0, 1)
                              for i in range(24)],
             lambda i, draw: {"loss": draw.random()}),
        make("wide values", [loss], [
            double("rate", 1e-12, 1e12, scaleType="UNIT_LOG_SCALE"),
            double("offset", -123456789.125, 123456789.125),
            double("tiny", 1e-9, 1.0001e-9)],
             lambda i, draw: {"loss": -1.2345e9 * 10 ** draw.uniform(-9, 9)}),
        make("near", [loss], [
            double("x", 0, 1), double("y", 100000.001, 100000.002)],
             lambda i, draw: {"loss": 1234567.125 + 1e-3 * draw.random()})]


def check(hash_, width):
    dashboard.show(page, hash_)
    # Cards are drawn when they are seen.
    page.run("for (const one of document.querySelectorAll('.plot')) "
             "one.scrollIntoView({block: 'center'})")
    dashboard.settle(page)
    labels, clashes = page.run(CLASHES, TOUCH)
    return labels, ["%s at %d: %s" % (hash_, width, one) for one in clashes]


def check_pages(hashes):
    """How many labels there are."""
    labels, clashes = 0, []
    try:
        for width in WIDTHS:
            page.resize(width, 8000)  # all of a page is seen and drawn
            for hash_ in hashes:
                more, found = check(hash_, width)
                labels += more
                clashes += found
    finally:
        page.resize(1400, 1000)
    tap.equal("\n".join(clashes), "")
    return labels


def labels_of_overviews_are_apart():
    tap.true(check_pages(["#/studies/%d/overview" % study
                          for study, _ in made]) > 100)


def labels_of_parameters_are_apart():
    tap.true(check_pages(["#/studies/%d/parameters" % study
                          for study, _ in made]) > 100)


def labels_of_trials_are_apart():
    tap.true(check_pages(["#/studies/%d/trials/%d" % one
                          for one in made]) > 100)


def labels_of_other_pages_are_apart():
    numbers = ",".join(str(study) for study, _ in made)
    tap.true(check_pages(["#/studies", "#/server", "#/new",
                          "#/compare/" + numbers] +
                         ["#/studies/%d/%s" % (study, tab)
                          for study, _ in made
                          for tab in ("trials", "timeline", "config")]) > 10)


def the_check_sees_what_it_looks_for():
    dashboard.show(page, "#/studies/%d/parameters" % made[0][0])
    page.run("""
        const [a, b] = document.querySelectorAll("main svg .x-axis text");
        a.closest("g.x-axis").append(b.parentNode.cloneNode(true));
        document.querySelector(".plot svg").insertAdjacentHTML("beforeend", "<text x='-300' y='50'>out</text>");""")
    found = "\n".join(page.run(CLASHES, TOUCH)[1])
    tap.contains(" lies on ", found)
    tap.contains('"out" is cut', found)


with harness.Server("--runner", "none", "--auth", "none") as server, \
        driven.Browser() as page:
    plots.begin(server, page)
    made = make_studies()
    page.open(server.http + "/#/studies")
    tap.run([
        labels_of_overviews_are_apart,
        labels_of_parameters_are_apart,
        labels_of_trials_are_apart,
        labels_of_other_pages_are_apart,
        the_check_sees_what_it_looks_for,
    ])
