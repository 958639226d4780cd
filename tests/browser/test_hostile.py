"""Whatever studies, parameters, categories, metrics, labels, reasons and lines
of logs say, the dashboard shows it as text and does nothing of it."""

import json

import dashboard
import browser
import filling
import harness
import hostile
import tap
from dashboard import act, behaves, show, study
from hostile import STRINGS, visible

ROOT = "/v1/projects/local/locations/local"
X = {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}
LOSS = {"metricId": "loss", "goal": "MINIMIZE"}
TABS = dashboard.TABS + ("trials/1",)

# The strings that the page does not have in any of its texts, values of
# fields included.
MISSING = """
    const root = document.querySelector(arguments[1]);
    const texts = [root.textContent, ...[...root.querySelectorAll("input, textarea, select")].map(one => one.value)].join("\\n");
    return arguments[0].filter(text => !texts.includes(text))"""

# What markup in a name would have made.
INTRUDERS = """
    return [...document.querySelectorAll(
      "iframe, object, embed, video, base, template, form[action], math, marquee, details[ontoggle], main img, main script, main style," +
      "main link, [onerror], [onload], [onfocus], [onmouseover], a[href^=javascript], a[href*='evil.test']")]
      .map(one => one.outerHTML.slice(0, 100))"""

server = page = None


def good(method, path, body=None):
    status, answer = server.call(method, path, body)
    tap.equal(status, 200, answer)
    return answer


def make_study(name, metrics=None, parameters=None):
    made = good("POST", ROOT + "/studies", {
        "displayName": name, "studySpec": {
            "metrics": metrics or [LOSS], "parameters": parameters or [X],
            "algorithm": "RANDOM_SEARCH"}})
    return int(made["name"].rsplit("/", 1)[1])


def add(number, point, **result):
    return good("POST", "%s/studies/%d/trials" % (ROOT, number), {
        "parameters": [{"parameterId": key, "value": value}
                       for key, value in point.items()], **result})


def measured(**values):
    return {"finalMeasurement": {"stepCount": "1", "metrics": [
        {"metricId": key, "value": value} for key, value in values.items()]}}


def harmless(what):
    """The page shows texts and nothing has run, asked or moved."""
    tap.equal(page.run("return window.%s ?? null" % hostile.MARK), None, what)
    tap.equal(page.run(INTRUDERS), [], what)
    tap.equal(page.run("return location.origin"), server.http, what)
    behaves(page, what)


def shown(texts, selector="#main"):
    shown = [visible(text) for text in texts]
    tap.equal(page.run(MISSING, shown, selector), [], "not shown")


def tour(number):
    for tab in TABS:
        show(page, study(number, tab))
        harmless(tab)


def names_of_studies():
    """Each is the title of its study; the server makes a plain name of it for
    commands, which is beside it."""
    numbers = {name: make_study(name) for name in STRINGS}
    show(page, "#/studies", "toString")
    harmless("the list")
    tap.equal(page.run("""const box = document.querySelector(".long");
        return box.scrollWidth - box.clientWidth"""), 0, "its columns fit")
    page.type("input", "gpj", "Search by name")
    page.wait("document.querySelectorAll('table[role=grid] tbody tr')"
              ".length === 1", "the study that is looked for")
    tap.equal(page.text("tbody td a"),
              "\u27e8U+202E\u27e9gpj.exe gpj.exe")
    for name, number in list(numbers.items())[::6]:
        answer = good("GET", "/hypertune/v1/studies/%d" % number)
        tap.equal(answer["displayName"], name)
        show(page, study(number, "config"), "Spec")
        slug = answer["hypertuneStatus"]["name"]
        title = visible(name.strip())
        tap.equal(page.run("return [...document.querySelectorAll("
                           "'h1, .title .slug')].map(one => one.textContent)"),
                  list(dict.fromkeys([title, slug])))
        tap.equal(page.run("return document.title"), title + " - hypertune")
        page.run("""
            const menu = [...document.querySelectorAll("select")].find(one => one.ariaLabel === "Language");
            menu.value = "JSON";
            menu.dispatchEvent(new Event("change"))""")
        page.wait_text(visible(json.dumps(name, ensure_ascii=False)[1:-1]),
                       ".spec")
        harmless(name)


def names_of_metrics():
    for i in range(0, len(STRINGS), 12):
        some = STRINGS[i:i + 12]
        number = make_study("metrics %d" % i, [
            {"metricId": name, "goal": "MINIMIZE"} for name in some])
        for x in (0.25, 0.75):
            add(number, {"x": x}, **measured(**dict.fromkeys(some, x)))
        tour(number)
        shown(some)


def names_of_categories():
    number = make_study("categories", parameters=[X, {
        "parameterId": "kind", "categoricalValueSpec": {"values": STRINGS}}])
    for i, name in enumerate(STRINGS):
        add(number, {"x": i / 64, "kind": name}, **measured(loss=i))
    tour(number)
    show(page, study(number, "config"), "kind")
    page.run("""
        const menu = [...document.querySelectorAll("select")].find(one => one.ariaLabel === "Language");
        menu.value = "JSON";
        menu.dispatchEvent(new Event("change"))""")
    quoted = [json.dumps(text, ensure_ascii=False)[1:-1] for text in STRINGS]
    shown(quoted, ".spec")
    for i in (1, 8, 27, 60):
        show(page, study(number, "trials/%d" % i), "Trial %d" % i)
        shown([STRINGS[i - 1]])
        harmless("a category")


def names_of_parameters():
    allowed = []
    for i, name in enumerate(STRINGS):
        status, answer = server.call("POST", ROOT + "/studies", {
            "displayName": "parameter %d" % i, "studySpec": {
                "metrics": [LOSS], "algorithm": "RANDOM_SEARCH",
                "parameters": [{**X, "parameterId": name}]}})
        if status == 200:
            allowed.append(name)
        else:
            tap.true("illegal" in answer["error"]["message"] or
                     "name" in answer["error"]["message"], answer)
    tap.contains("__proto__", allowed)
    number = make_study("parameters", parameters=[
        {**X, "parameterId": name} for name in allowed])
    show(page, study(number))
    act(page, "Add a trial")
    tap.equal(page.run("return [...document.querySelectorAll('dialog input')]"
                       ".map(one => one.value)"), [""] * len(allowed))
    page.click("dialog button", "Back")
    for i in range(12):
        add(number, dict.fromkeys(allowed, i / 12), **measured(loss=i))
    tour(number)
    shown(allowed)


def reasons():
    number = make_study("reasons")
    for i, text in enumerate(STRINGS):
        add(number, {"x": i / 64}, infeasibleReason=text)
    tour(number)
    for i in range(1, len(STRINGS) + 1, 12):
        show(page, study(number, "trials/%d" % i), "Trial %d" % i)
        shown([STRINGS[i - 1]])
        harmless("a reason")


def user_attributes():
    """At most 32 are shown: half of the texts each, as names and values."""
    half = len(STRINGS) // 2
    for i, some in enumerate((STRINGS[:half], STRINGS[half:])):
        number = make_study("attributes %d" % i)
        add(number, {"x": 0.5}, **measured(loss=1))
        good("PATCH", "/hypertune/v1/studies/%d/metadata" % number, {
            "metadata": [{"trial": trial, "ns": "optuna",
                          "key": "user:" + text, "value": json.dumps(text)}
                         for trial in (0, 1) for text in some]})
        for tab in ("overview", "trials/1"):
            show(page, study(number, tab), "User attributes")
            shown(some, "[aria-label='User attributes'] dl")
            shown([json.dumps(text) for text in some],
                  "[aria-label='User attributes'] dl")
            harmless(tab)


def lines_of_logs_and_words_of_commands():
    made = good("POST", ROOT + "/hyperparameterTuningJobs", {
        "displayName": STRINGS[0], "hypertune": {"name": "prints"},
        "studySpec": {"metrics": [LOSS], "parameters": [X],
                      "algorithm": "RANDOM_SEARCH"},
        "maxTrialCount": 1, "parallelTrialCount": 1,
        "trialJobSpec": {"workerPoolSpecs": [{
            "replicaCount": 1, "containerSpec": {
                "command": ["printf", "%s\\n", *STRINGS]}}]}})
    number = int(made["name"].rsplit("/", 1)[1])
    server.wait_study("prints")
    tour(number)
    page.wait_text("passwd", ".log")
    shown(STRINGS, ".log")
    page.type("input", "<img", "Search in the log")
    page.wait_text("lines", "#main")
    harmless("the log")


def labels():
    """What can be one is shown; the rest is refused, each by its field."""
    keys = {"key%d" % i: text for i, text in enumerate(STRINGS)}
    job = filling.job("labelled", 1)
    job["trialJobSpec"]["workerPoolSpecs"][0]["containerSpec"] = {
        "command": ["true"]}
    status, answer = server.call(
        "POST", ROOT + "/hyperparameterTuningJobs", {**job, "labels": keys})
    tap.equal(status, 400, answer)
    refused = {item["field"] for item in
               answer["error"]["details"][0]["fieldViolations"]}
    legal = {key: text for key, text in keys.items()
             if "labels." + key not in refused}
    tap.equal(sorted(legal.values()), ["__proto__", "constructor", "null"])
    legal["__proto__"] = "x"
    made = good("POST", ROOT + "/hyperparameterTuningJobs",
                {**job, "labels": legal})
    number = int(made["name"].rsplit("/", 1)[1])
    tour(number)
    show(page, study(number, "config"), "key55")
    shown(list(legal.values()) + list(legal))


def a_spec_that_is_checked():
    show(page, "#/new", "The spec is valid.")
    for text in ("name: \"%s\"" % STRINGS[1], "%s: 1" % STRINGS[4],
                 "spec: 1\nname: a\ngoal: minimize %s\n" % STRINGS[2]):
        page.type("textarea", text)
        page.wait("document.querySelectorAll('.findings li').length > 0",
                  "what is wrong with it")
        harmless("the editor")


def nothing_was_asked_of_others():
    tap.equal(page.strangers(server.http), [])


with harness.Server("--auth", "none") as server, browser.Browser() as page:
    page.open(server.http + "/")
    tap.run([
        names_of_studies,
        names_of_metrics,
        names_of_categories,
        names_of_parameters,
        reasons,
        user_attributes,
        lines_of_logs_and_words_of_commands,
        labels,
        a_spec_that_is_checked,
        nothing_was_asked_of_others,
    ])
