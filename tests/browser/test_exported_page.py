"""The page that `hypertune export -o html` writes, in a browser, as one who
was sent the file opens it."""

import html
import os
import tempfile

import browser
import dashboard
import filling
import harness
import hostile
import tap
from hostile import STRINGS

ROOT = "/v1/projects/local/locations/local"
MANY, SHOWN = 10000, 2000
SIZES = ((1400, 1000), (800, 900), (390, 844))

# Elements that markup in a name would have made, and all that could load or
# run.
INTRUDERS = """
    return [...document.querySelectorAll(
      "script, iframe, object, embed, video, base, template, form, img, a, input, math, [style], [onload], [onerror], " +
      "meta[http-equiv=refresh], link:not([rel=icon])")]
      .map(one => one.outerHTML.slice(0, 100))"""

server = page = numbers = folder = None


def written(study):
    path = os.path.join(folder, "page.html")
    server.cli("export", str(study), "-o", "html", "--out", path)
    return path


def opened(study):
    path = written(study)
    page.open("file://" + path)
    tap.equal(page.run("return document.readyState"), "complete")
    return path


def behaves(what):
    tap.equal(page.run("return window.%s ?? null" % hostile.MARK), None, what)
    tap.equal(page.run(INTRUDERS), [], what)
    tap.equal(page.complaints(), [], what)


def good(path, body):
    status, answer = server.call("POST", ROOT + path, body)
    tap.equal(status, 200, answer)
    return answer


def a_page_fits_and_is_readable_in_light_and_dark():
    try:
        opened(numbers["some"])
        for dark in (False, True):
            page.dark(dark)
            for width, height in SIZES:
                page.resize(width, height)
                where = "%d, %s" % (width, "dark" if dark else "light")
                tap.equal(page.run("return document.documentElement"
                                   ".scrollWidth"), width, where)
                tap.equal(page.run(dashboard.FAINT), [], where)
        tap.equal(page.run(dashboard.NAMELESS), [])
        behaves("an own page")
    finally:
        page.dark(False)
        page.resize(*SIZES[0])


def words_of_axes_do_not_overlap_nor_leave_the_figure():
    for name in ("some", "one"):
        opened(numbers[name])
        tap.equal(page.run("""
            const faults = [];
            for (const svg of document.querySelectorAll("svg")) {
              const box = svg.getBoundingClientRect();
              const words = [...svg.querySelectorAll("text")].map(one => [one.textContent, one.getBoundingClientRect()]);
              words.forEach(([text, a], i) => {
                if (a.left < box.left - 1 || a.right > box.right + 1 || a.bottom > box.bottom + 1) faults.push(`outside: ${text}`);
                for (const [other, b] of words.slice(i + 1))
                  if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom) faults.push(`${text} over ${other}`);
              });
            }
            return faults"""), [], name)


def the_best_trial_is_marked():
    opened(numbers["some"])
    colour = page.run("""return getComputedStyle(
        document.querySelector(".dots.best")).stroke""")
    tap.equal(colour, "rgb(199, 90, 0)")
    best = page.run("return document.querySelector('tr.best th').textContent")
    tap.equal(page.run("return document.querySelector('tbody tr.best')"
                       ".rowIndex"), 1, "it is the first")
    tap.contains("Best: trial %s\n" % best, page.text())


def the_table_of_many_trials_is_bounded():
    path = opened(numbers["many"])
    tap.equal(page.run("return document.querySelectorAll('table')[1]"
                       ".tBodies[0].rows.length"), SHOWN)
    tap.contains("The best %d of %d trials; the other %d are left out" %
                 (SHOWN, MANY, MANY - SHOWN), page.text())
    tap.true(os.path.getsize(path) < 3_000_000, os.path.getsize(path))
    behaves("many")


def a_study_without_trials_has_a_page():
    opened(numbers["empty"])
    tap.equal(page.count("svg"), 0)
    behaves("empty")


def shown(texts):
    """Other than the dashboard, it shows what steers as the terminal does."""
    body = page.run("return document.body.textContent + document.title")
    plain = [text for text in texts if text.isprintable()]
    tap.true(len(plain) > len(texts) // 2)
    tap.equal([text for text in plain if text not in body], [])


def names_are_text():
    kinds = {"parameterId": "kind",
             "categoricalValueSpec": {"values": STRINGS}}
    for i in range(0, len(STRINGS), 12):
        some = STRINGS[i:i + 12]
        made = good("/studies", {
            "displayName": some[0], "studySpec": {
                "metrics": [{"metricId": name, "goal": "MINIMIZE"}
                            for name in some],
                "parameters": [kinds],
                "algorithm": "RANDOM_SEARCH"}})
        number = made["name"].rsplit("/", 1)[1]
        for k, kind in enumerate(STRINGS):
            good("/studies/%s/trials" % number, {
                "parameters": [{"parameterId": "kind", "value": kind}],
                "finalMeasurement": {"stepCount": "1", "metrics": [
                    {"metricId": name, "value": k} for name in some]}})
        path = opened(number)
        shown(some + STRINGS)
        behaves("names %d" % i)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        tap.lacks("<script", text)
        tap.contains(html.escape(STRINGS[0], quote=True), text)


def notes_are_shown_as_text():
    note = "lines\n\n" + "\n".join(STRINGS)
    server.cli("note", str(numbers["some"]), note)
    server.cli("tag", str(numbers["some"]), "paper", "good")
    opened(numbers["some"])
    tap.equal(page.text(".tags"), "good paper")
    shown(["lines"] + STRINGS)
    behaves("a note")


def reasons_are_text():
    made = good("/studies", {"displayName": "reasons", "studySpec": {
        "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
        "parameters": [
            {"parameterId": "x", "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}}]}})
    number = made["name"].rsplit("/", 1)[1]
    for reason in STRINGS[:20] + STRINGS[:1]:
        trial = good("/studies/%s/trials" % number, {
            "parameters": [{"parameterId": "x", "value": 0.5}]})
        good("/studies/%s/trials/%s:complete" % (number, trial["id"]), {
            "trialInfeasible": True, "infeasibleReason": reason})
    opened(number)
    shown(STRINGS[:20])
    tap.contains("21 of 21 trials failed", page.text())
    tap.equal(page.run("""
        const [row] = document.querySelector("table").tBodies[0].rows;
        return [row.cells[0].textContent, row.cells[2].textContent]"""),
              ["2", "1, 21"])
    behaves("reasons")


def nothing_is_asked_of_others():
    own = "file://" + folder + "/page.html"
    tap.equal([url for url in page.requests() if url != own and
               not url.startswith(("about:", "data:", "chrome:"))], [])


with harness.Server("--auth", "none", "--runner", "none") as server, \
        browser.Browser() as page, \
        tempfile.TemporaryDirectory() as folder:
    numbers = filling.fill(server, {"empty": 0, "one": 1, "some": 120,
                                    "many": MANY})
    tap.run([
        a_page_fits_and_is_readable_in_light_and_dark,
        words_of_axes_do_not_overlap_nor_leave_the_figure,
        the_best_trial_is_marked,
        the_table_of_many_trials_is_bounded,
        a_study_without_trials_has_a_page,
        names_are_text,
        notes_are_shown_as_text,
        reasons_are_text,
        nothing_is_asked_of_others,
    ])
