"""plots - what the tests of the plots share: studies to be looked at, and what
the card of a plot shows."""

import json
import math
import random

import browser
import tap

browser.need()
server = None
page = None
studies = {}  # numbers by name

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


def begin(its_server, its_page):
    """What all that follows goes to."""
    global server, page
    server, page = its_server, its_page


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


def words_of(made):
    return [{"parameterId": key, "value": value}
            for key, value in made.items()]


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
    page.open("%s/#/studies/%s%s" % (server.http, studies[study], tab))
    page.wait("document.querySelector('.plot')")


def in_card(title, script, *arguments):
    return page.run(CARD + script, title, *arguments)


def wait_in(title, condition, what):
    """Until it holds for the plot, which is kept in sight: what is not seen is
    not drawn, and plots above it that change their size push it out of it."""
    page.wait("(() => { %s card.scrollIntoView({block: 'center'});"
              " return %s; })()"
              % (CARD.replace("arguments[0]", json.dumps(title)), condition),
              "%s: %s" % (title, what))


def reach(title):
    """Brings a plot in sight and waits until it is drawn."""
    wait_in(title, "!card.querySelector('.ground').hidden"
            " && card.querySelector('.axes').childElementCount > 0",
            "it is drawn")


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
    wait_in(title, "!card.querySelector('.as-text').hidden", "its table")
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
    wait_in(title, "card.querySelector('.missing').textContent === "
            + json.dumps(text), text)


def wait_note(title, text):
    wait_in(title, "card.querySelector('.note').textContent.includes(%s)"
            % json.dumps(text), "a note with " + text)


def legend(title):
    return in_card(title, "return [...card.querySelectorAll('.legend text')]"
                          ".map(one => one.textContent)")


def ticks(title, axis):
    return in_card(title, """return [...card.querySelectorAll(
        `.${arguments[1]}-axis text`)].map(one => Number(one.textContent));""",
                   axis)


def brush(dimension, from_part, to_part):
    """Drags along an axis of the parallel coordinates, parts of its height
    from above."""
    left, top, width, height = page.run("""
        const at = [...document.querySelectorAll(".parallel")].findIndex(
          one => one.querySelector(".label title").textContent ===
            arguments[0]);
        const box = document.querySelectorAll(".brush-y .overlay")[at]
          .getBoundingClientRect();
        return [box.left, box.top, box.width, box.height];""", dimension)
    x = left + width / 2
    page.drag((x, top + height * from_part), (x, top + height * to_part))
    # d3 swallows the click that may follow a drag in the same turn.
    page.run("return new Promise(done => setTimeout(done, 0))")


def behaves():
    """A case's last line."""
    tap.equal(page.complaints(), [], "the browser's complaints")


def asked(part):
    return [url for url in page.requests() if part in url]


def wait_contour(metric="accuracy"):
    wait_note("Contour", "The model's median of " + metric)
    page.wait("[...document.querySelectorAll('.legend text')]"
                 ".some(one => one.textContent === 'comes next')")
