"""What one does in the dashboard: new studies, actions, trials compared and
saved, output that is followed."""

import json

import browser
import filling
import harness
import tap
from dashboard import act, behaves, show, study

ROOT = "/v1/projects/local/locations/local/studies"
SPEC = """\
spec: 1
name: written
goal: maximize accuracy
parameters:
  lr: [1, 2, 3]
trials: 2
parallel: 1
retries: 0
command: [sh, -c, 'echo began; hypertune report accuracy=0.5; echo oops >&2;
  while [ ! -e FOLDER/go ]; do sleep 0.1; done; echo went; [ "$0" != --lr=2 ]']
workdir: /tmp
"""

server = page = None
LEFT = "left to the search"


def call(method, path, body=None):
    status, answer = server.call(method, path, body)
    tap.equal(status, 200, answer)
    return answer


def make_study(name, constraints=()):
    """A study of clients with a child parameter and three results."""
    child = {"parentCategoricalValues": {"values": ["sgd"]}, "parameterSpec": {
        "parameterId": "momentum",
        "doubleValueSpec": {"minValue": 0, "maxValue": 1}}}
    made = call("POST", ROOT, {"displayName": name, "hypertune": {
        "constraints": list(constraints)}, "studySpec": {
        "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
        "algorithm": "RANDOM_SEARCH",
        "parameters": [
            {"parameterId": "x",
             "doubleValueSpec": {"minValue": 0, "maxValue": 1}},
            {"parameterId": "opt",
             "categoricalValueSpec": {"values": ["adam", "sgd"]},
             "conditionalParameterSpecs": [child]}]}})
    number = int(made["name"].rsplit("/", 1)[1])
    for x, loss in ((0.5, 3), (0.25, 1), (0.75, 2)):
        call("POST", "%s/%d/trials" % (ROOT, number), {
            "parameters": [{"parameterId": "x", "value": x},
                           {"parameterId": "opt", "value": "adam"}],
            "finalMeasurement": {"stepCount": "4", "metrics": [
                {"metricId": "loss", "value": loss}]}})
    return number


def write_spec(text):
    page.run("""const area = document.querySelector(".editor textarea");
        area.value = arguments[0];
        area.dispatchEvent(new Event("input"));""", text)


def refused(path):
    """The browser's own note of an answer that was expected."""
    noted = page.complaints()
    tap.equal([line for line in noted if path not in line], [])


def faults_of_a_spec_are_beside_their_lines():
    show(page, "#/new", "The spec is valid.")
    write_spec(SPEC.replace("trials: 2", "trails: 2"))
    page.wait_text('did you mean "trials"?', ".findings")
    tap.equal(page.text(".numbers .error"), "6")
    tap.equal(page.run("return [...document.querySelectorAll('button')].find("
                       "one => one.textContent === 'Create the study')"
                       ".disabled"), True)
    page.click(".place", "6:1")
    tap.equal(page.run("""const area = document.activeElement;
        return area.value.slice(area.selectionStart).split(":")[0]"""),
              "trails")
    behaves(page, "a wrong spec")


def a_template_that_is_not_filled_in_is_warned_of():
    show(page, "#/new", "The spec is valid. 1 warning.")
    page.wait_text("say where your code is", ".findings .warning")
    tap.equal(page.count(".numbers .warning"), 1)
    write_spec(page.run("return document.querySelector('.editor textarea')"
                        ".value").replace("/path/to/your/code", "/tmp"))
    page.wait("document.querySelector('[role=status].good')?.innerText"
              " === 'The spec is valid.'", "no warning")
    behaves(page, "the template")


def a_spec_is_created_and_its_output_followed():
    show(page, "#/new", "The spec is valid.")
    write_spec(SPEC.replace("FOLDER", server.folder))
    page.wait_text("default search, 2 trials, 1 at a time", "#main")
    page.click("button", "Create the study")
    page.wait_text("written", "h1")
    number = int(page.run("return location.hash").split("/")[2])
    show(page, study(number, "trials/1"), "Trial 1")
    page.wait_text("began", ".log")
    tap.lacks("went", page.text(".log"))
    with open(server.folder + "/go", "w", encoding="ascii"):
        page.wait_text("went", ".log")
    page.type("input", "BEG", "Search in the log")
    page.wait("document.querySelector('.log').textContent === 'began'",
              "the line that was looked for")
    page.type("input", "", "Search in the log")
    page.run("""const menu = document.querySelector("[aria-label=Stream]");
        menu.value = "stderr";
        menu.dispatchEvent(new Event("change"));""")
    page.wait_text("oops", ".log")
    tap.starts(page.text(".command"), "sh -c 'echo began;")
    behaves(page, "the output")


def a_name_that_is_taken_is_shown_before_it_is_sent():
    show(page, "#/new", "The spec is valid.")
    write_spec(SPEC.replace("name: written", "name: other"))
    create = "[aria-label=Check] .primary:enabled"
    page.wait("document.querySelector('%s')" % create, "a free name")
    write_spec(SPEC)
    page.wait_text("there is a study of that name", ".findings")
    tap.equal(page.text(".numbers .error"), "2")
    tap.equal(page.count(create), 0)
    behaves(page, "a taken name")


def a_failed_trial_runs_again():
    number = call("GET", "/hypertune/v1/studies/written")["name"]
    number = int(number.rsplit("/", 1)[1])
    harness.wait_until(lambda: call(
        "GET", "/hypertune/v1/studies/written")["hypertuneStatus"]["counts"]
        ["failed"] == 1, "the trial that fails")
    trials = call("GET", "/hypertune/v1/studies/written/trials")["trials"]
    failed, = [one["id"] for one in trials
               if one["hypertune"]["state"] == "FAILED"]
    show(page, study(number, "trials/" + failed), "Attempt 1: failed")
    page.wait_text("oops", ".log")
    page.click("button", "Run again")
    page.wait_text("Attempt 2: failed", "#main")
    behaves(page, "run again")


def a_trial_without_its_objective_tells_what_came():
    show(page, "#/new", "The spec is valid.")
    write_spec("""\
spec: 1
name: mute
goal: maximize accuracy
parameters: {x: [1, 2]}
trials: 2
parallel: 1
retries: 0
command: [sh, -c, 'hypertune report acuracy=0.25 --step 1;
  hypertune report acuracy=0.75 "<b>loss</b>=1" --step 2']
workdir: /tmp
""")
    page.wait_text("default search, 2 trials, 1 at a time", "#main")
    page.click("button", "Create the study")
    page.wait_text("mute", "h1")
    page.wait_text("ended without reporting accuracy", "#main")
    page.wait_text("paused", "#main .title")
    page.wait_text("Repair what this names", ".held")
    page.wait("document.querySelector('.lists').compareDocumentPosition("
              "document.querySelector('.plots')) === 4", "the reasons first")
    words = page.text(".figures").split("\n")
    tap.equal(words[words.index("Failed") + 1], "1 infeasible", words)
    number = int(page.run("return location.hash").split("/")[2])
    show(page, study(number, "trials/1"), "Instead of accuracy")
    card = "[aria-label='Instead of accuracy']"
    for text in ("0.25 … 0.75, 2 times, master-0 reports.jsonl line 2",
                 "<b>loss</b>",
                 "acuracy (reports.jsonl, line 2) may be meant"):
        tap.contains(text, page.text(card))
    page.click(".crumbs a", "mute")
    page.wait_text("Repair what this names", ".held")
    page.click(".held button", "Resume as it is")
    page.wait("document.querySelector('.held') === null", "no banner")
    behaves(page, "a trial without its objective")


def the_form_writes_a_spec():
    show(page, "#/new", "The spec is valid.")
    page.click("summary", "Fill in a form instead")
    page.run("""const set = (label, value) => {
          const one = [...document.querySelectorAll("form label.field")]
            .find(field => field.firstChild.textContent === label);
          one.querySelector("input").value = value;
        };
        set("Name", "formed"); set("Goal", "score");
        set("Command", "python3 train.py"); set("Folder", "/tmp");
        set("Metric in its output", "acc: {score}");""")
    page.type("input", "lr", "Name of the parameter")
    page.type("input", "0.1", "Least")
    page.type("input", "0.5", "Most")
    page.click("button", "Write the spec")
    page.wait_text("maximize score", "#main")
    page.wait_text("python3 train.py --lr=0.3", "#main")
    tap.contains("metrics: {stdout: 'acc: {score}'}", page.run(
        "return document.querySelector('.editor textarea').value")
        .replace('"', "'"))
    page.click("summary", "Fill in a form instead")
    page.type("input", 'val: "loss" # x', "Metric")
    page.run("""const menu = [...document.querySelectorAll("form select")].find(one => one.ariaLabel === "Kind");
        menu.value = "values";
        menu.dispatchEvent(new Event("change"));""")
    page.type("input", "Infinity, a: b, 2", "Values")
    page.click("button", "Write the spec")
    page.wait_text('maximize val: "loss" # x', "#main dl")
    page.wait_text("Infinity, a: b, 2", "#main td:nth-child(3)")
    behaves(page, "the form")


def a_trial_is_added_by_a_form():
    number = make_study("adding")
    show(page, study(number, "trials"), "3 trials")
    act(page, "Add a trial")
    value = "document.querySelector('dialog input').value"
    tap.equal(page.run("return " + value), "0.25", "the best:")
    momentum = ("[...document.querySelectorAll('dialog .field')].some(one =>"
                " one.offsetParent && one.textContent.includes('momentum'))")
    tap.equal(page.run("return " + momentum), False)
    page.run("""const menu = document.querySelector("dialog select");
        menu.value = "sgd";
        menu.dispatchEvent(new Event("input", {bubbles: true}));""")
    tap.equal(page.run("return " + momentum), True)
    page.type("dialog input", "7")
    page.click("dialog button", "Add")
    tap.equal(page.run("return document.activeElement === document"
                       ".querySelector('dialog input:invalid')"), True)
    page.type("dialog input", "0.125")
    page.type("dialog .children input", "0.5")
    behaves(page, "what is wrong is not sent")
    page.click("dialog button", "Add")
    page.wait_text("4 trials", "#main")
    made = call("GET", "%s/%d/trials/4" % (ROOT, number))
    tap.equal(made["hypertune"]["params"],
              {"x": 0.125, "opt": "sgd", "momentum": 0.5})


def what_the_form_leaves_empty_is_chosen_by_the_search():
    number = make_study("leaving", ["x <= 0.25"])
    show(page, study(number, "trials"), "3 trials")
    act(page, "Add a trial")
    page.type("dialog input", "0.5")
    page.click("dialog button", "Add")
    page.wait_text("x <= 0.25 does not hold for x=0.5", "dialog .error")
    refused("/trials")
    page.click("dialog button", "Empty all")
    fill_field("opt", "sgd")
    page.click("dialog button", "Add")
    page.wait_text("4 trials", "#main")
    point = call("GET", "%s/%d/trials/4" % (ROOT, number))["hypertune"][
        "params"]
    tap.equal((sorted(point), point["opt"], point["x"] <= 0.25),
              (["momentum", "opt", "x"], "sgd", True), point)
    behaves(page, "a part of a point")


def make_job(name):
    """A paused job with a parameter of two conditions, and steps."""
    def choice(key, *values):
        return {"parameterId": key,
                "categoricalValueSpec": {"values": list(values)}}
    job = filling.job(name, 100)
    job["studySpec"] = {**job["studySpec"], "parameters": [
        {"parameterId": "depth", "doubleValueSpec": {"maxValue": 1}},
        choice("loss", "", "undefined", "long" * 30),
        choice("opt", "adam", "sgd"),
        {"parameterId": "lr", "doubleValueSpec": {"maxValue": 1}},
        {"parameterId": "units",
         "integerValueSpec": {"minValue": "2", "maxValue": "20"}}]}
    job["hypertune"]["parameters"] = {
        "depth": {"when": [{"parent": "loss", "values": ["undefined"]},
                           {"parent": "opt", "values": ["sgd"]}]},
        "lr": {"step": 0.25}, "units": {"step": "3"}}
    made = call("POST", "/v1/projects/local/locations/local/"
                "hyperparameterTuningJobs", job)
    number = int(made["name"].rsplit("/", 1)[1])
    call("POST", "/hypertune/v1/studies/%d:pause" % number)
    return number


def fill_field(name, text):
    page.run("""
        const [name, text] = arguments, control = [...document.querySelectorAll("dialog .field")]
          .find(one => one.querySelector("bdi").textContent === name).querySelector("input, select");
        if (control.options) control.selectedIndex = [...control.options].findIndex(one => one.textContent === text);
        else control.value = text;
        control.dispatchEvent(new Event("input", {bubbles: true}));""",
             name, text)


def the_form_of_a_trial_follows_conditions_and_steps():
    number = make_job("conditions")
    show(page, study(number))
    act(page, "Add a trial")
    asked = """return [...document.querySelectorAll("dialog .field")]
        .filter(one => one.offsetParent).map(one => one.querySelector("bdi").textContent)"""
    everything = ["depth", "loss", "opt", "lr", "units"]
    tap.equal(page.run("""return new Set([...document.querySelectorAll("dialog .field > :is(input, select)")]
        .filter(one => one.offsetParent).map(one => one.offsetLeft)).size"""),
              1, "controls stand below each other")
    for loss, opt, fields in ((LEFT, LEFT, everything[1:]),
                              (LEFT, "sgd", everything[1:]),
                              ("undefined", "sgd", everything),
                              ("", "sgd", everything[1:])):
        fill_field("loss", loss)
        fill_field("opt", opt)
        tap.equal(page.run(asked), fields, (loss, opt))
    invalid = """return [...document.querySelectorAll("dialog .field")].filter(one => one.querySelector(":invalid"))
        .map(one => one.querySelector("bdi").textContent)"""
    fill_field("units", "6")
    fill_field("lr", "0.3")
    page.click("dialog button", "Add")
    tap.equal(page.run(invalid), ["lr", "units"], "between two steps")
    fill_field("units", "8")
    fill_field("lr", "0.5")
    tap.equal(page.run(invalid), [], "steps count from the least value")
    behaves(page, "what is wrong is not sent")
    page.run("document.querySelector('dialog form').noValidate = true")
    fill_field("lr", "0.3")
    page.click("dialog button", "Add")
    page.wait_text("lr: 0.3 is between two steps", "dialog")
    refused("/trials")
    fill_field("lr", "0.5")
    page.click("dialog button", "Add")
    page.wait("document.querySelector('dialog') === null", "the new trial")
    trials = server.trials("conditions")
    tap.equal([trial["hypertune"]["params"] for trial in trials
               if trial["hypertune"].get("reason") == "added by user"],
              [{"loss": "", "opt": "sgd", "lr": 0.5, "units": 8}], trials)


def several_studies_are_stopped_and_deleted_at_once():
    several = [make_study("several %d" % i) for i in range(3)]
    other = make_study("another one")
    show(page, "#/studies", "several 2")
    page.type("[aria-label='Search by name']", "several")
    page.wait("document.querySelectorAll('tr[data-key]').length === 3", "them")
    for number in several:
        page.click("input", "Mark %d" % number)
    page.wait_text("3 studies marked", "[role=toolbar]")
    page.click("button", "Stop 3")
    page.wait_text("several 1", "dialog")
    page.click("dialog button", "Stop")
    page.wait("!document.querySelector('dialog')", "they are stopped")
    tap.equal([call("GET", "/hypertune/v1/studies/%d" % number)
               ["hypertuneStatus"]["state"] for number in (*several, other)],
              ["STOPPED"] * 3 + ["RUNNING"])
    page.wait("document.querySelectorAll('.state.stopped').length === 3",
              "their states")
    for number in several[:2]:
        page.click("input", "Mark %d" % number)
    page.click("button", "Delete 2")
    page.click("dialog button", "Delete")
    page.wait("document.querySelectorAll('tr[data-key]').length === 1", "one")
    tap.equal([server.call("GET", "/hypertune/v1/studies/%d" % number)[0]
               for number in (*several, other)], [404, 404, 200, 200])
    behaves(page, "several studies")


def a_study_is_paused_changed_stopped_and_deleted():
    number = make_study("steered")
    show(page, study(number), "steered")
    act(page, "Pause")
    page.wait_text("paused", ".title")
    act(page, "Resume")
    page.wait_text("running", ".title")
    act(page, "Extend")
    page.run("document.querySelector('dialog input').value = '2'")
    page.click("dialog button", "Change")
    page.wait_text("2 is below the 3 trials that study", "dialog .error")
    refused("/studies/%d" % number)
    page.run("document.querySelector('dialog input').value = '50'")
    page.click("dialog button", "Change")
    page.wait_text("3 / 50", ".figures")
    tap.contains("Confirm best", page.run(
        "return document.querySelector('.actions').textContent"))
    act(page, "Stop")
    page.click("dialog button", "Stop")
    page.wait_text("stopped", ".title")
    page.wait("!document.querySelector('.actions').textContent.includes("
              "'Confirm best')", "no confirmation that no runner would run")
    act(page, "Delete")
    disabled = "[...document.querySelectorAll('dialog button')].pop().disabled"
    tap.equal(page.run("return " + disabled), True)
    page.type("dialog input", "steered")
    tap.equal(page.run("return " + disabled), False)
    page.click("dialog button", "Delete")
    page.wait_text("Studies", "h1")
    status, _ = server.call("GET", "/hypertune/v1/studies/%d" % number)
    tap.equal(status, 404)
    page.run("history.back()")
    page.wait_text("This study has been deleted", "#main")
    behaves(page, "a study that is deleted")


def an_added_trial_is_shown_short_and_whole():
    number = make_study("short")
    call("POST", "%s/%d/trials" % (ROOT, number), {
        "parameters": [{"parameterId": "x", "value": 0.0000012327653643729431},
                       {"parameterId": "opt", "value": "adam"}],
        "finalMeasurement": {"metrics": [{"metricId": "loss", "value": 1}]}})
    show(page, study(number, "trials/4"), "Trial 4")
    page.wait_text("1.233e-6", "[aria-label=Parameters]")
    tap.equal(page.run("return document.querySelector("
                       "'[aria-label=Parameters] bdi[title]').title"),
              "0.0000012327653643729431")
    tap.equal(page.count(".plot"), 0, "there is no curve")
    behaves(page, "an added trial")


def reasons_are_alike_but_for_their_numbers():
    number = make_study("alike")
    for i, reason in enumerate((
            "exit 1: 2.50 GiB wanted", "exit 2", "exit 1: 2.25 GiB wanted")):
        call("POST", "%s/%d/trials" % (ROOT, number), {
            "parameters": [{"parameterId": "x", "value": i / 8},
                           {"parameterId": "opt", "value": "adam"}],
            "infeasibleReason": reason})
    show(page, study(number), "exit 2")
    rows = page.run("return [...document.querySelectorAll("
                    "'[aria-label^=Failed] tr')].map(one => one.innerText)")
    tap.equal([row.split("\t") for row in rows], [
        ["2 ×", "infeasible", "exit 1: 2.25 GiB wanted", "newest: 6, 4"],
        ["1 ×", "infeasible", "exit 2", "newest: 5"]])
    behaves(page, "reasons")


def marked_trials_are_compared():
    number = make_study("compared")
    show(page, study(number, "trials"), "3 trials")
    for trial in ("Mark 1", "Mark 3"):
        page.click("input", trial)
    page.click("button", "Compare 2")
    page.wait_text("Trials 1, 3", ".comparison")
    rows = page.run("""return [...document.querySelectorAll(
        ".comparison tbody tr")].slice(1).map(row => row.innerText)""")
    tap.equal(rows, ["loss\t3\t2", "x\t0.5\t0.75"])
    behaves(page, "a comparison")


def a_click_is_not_lost_to_rows_that_come_meanwhile():
    number = make_study("clicked")
    show(page, study(number, "trials"), "3 trials")
    x, y = page.run("""const box = document.querySelector("[aria-label='Mark 2']").getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2]""")
    mouse = {"x": x, "y": y, "button": "left", "clickCount": 1}
    page.cdp("Input.dispatchMouseEvent", type="mousePressed", **mouse)
    call("POST", "%s/%d/trials" % (ROOT, number), {"parameters": [
        {"parameterId": "x", "value": 1}, {"parameterId": "opt",
                                           "value": "adam"}]})
    page.wait_text("4 trials", "#main")
    page.cdp("Input.dispatchMouseEvent", type="mouseReleased", **mouse)
    page.wait("document.querySelector(\"[aria-label='Mark 2']\").checked",
              "the mark of what was pressed")
    tap.equal(page.run("return [...document.querySelectorAll('tbody input')]"
                       ".filter(one => one.checked).length"), 1)
    behaves(page, "a click")


def what_is_shown_is_saved():
    number = make_study("saved")
    show(page, study(number, "trials"), "3 trials")
    page.run("""URL.createObjectURL = blob => {
          window.blob = blob;
          return "#/saved";
        };""")
    page.type("input", "loss<3", "Filter")
    page.wait_text("2 of 3 trials", "#main")
    page.click("thead button", "loss")
    page.click("summary", "Download")
    page.click("button", "CSV")
    lines = page.run_later("blob.text().then(arguments[0])").splitlines()
    tap.equal([line.split(",")[:5] for line in lines],
              [["Trial", "State", "loss", "x", "opt"],
               ["2", "succeeded", "1", "0.25", "adam"],
               ["3", "succeeded", "2", "0.75", "adam"]])


def all_trials_are_saved_as_the_command_exports_them():
    """With metrics that are no goal, and every number as it is."""
    path = "%s/%s" % (ROOT, call("POST", ROOT, {
        "displayName": "exported", "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [{"parameterId": "big", "integerValueSpec": {
                "minValue": "0", "maxValue": "9223372036854775807"}}]},
        "hypertune": {"name": "exported"}})["name"].split("/")[-1])
    ours = "/hypertune/v1/studies/exported"
    moment = "2025-02-01T00:00:0%d.250Z"
    call("POST", ours + "/trials:restore", {"trials": [
        {"id": n, "state": "SUCCEEDED", "params": {"big": 9007199254740993 + n},
         "metrics": {"loss": 0.1 + n / 10, "latency": n, "Ünï,": "NaN"},
         "step": n, "runner": "=r", "attempt": 1, "created": moment % n,
         "ended": moment % (n + 1), "reason": 'say "so"'} for n in (1, 2, 5)],
        "measurements": [{"trial": 2, "step": 1, "timeMs": 1738368000000,
                          "metrics": {"loss": 1e-300, "other": -0.5}}]})
    show(page, study(int(path.rsplit("/", 1)[1]), "trials"), "3 trials")
    page.run("""URL.createObjectURL = blob => {
          window.blob = blob;
          return "#/saved";
        };""")

    def saved(button):
        # In one step: the menu closes when the page is drawn again.
        page.run("window.blob = null;"
                 "[...document.querySelectorAll('.tools details button')]"
                 ".find(one => one.textContent === arguments[0]).click();",
                 button)
        page.wait("window.blob !== null", "the file")
        return page.run_later("blob.text().then(arguments[0])")
    tap.equal(saved("All trials, CSV"),
              server.cli("export", "exported").stdout)
    tap.equal(json.loads(saved("All trials, JSON")), json.loads(
        server.cli("export", "exported", "-o", "json").stdout))


def chosen_columns_are_remembered():
    number = make_study("columns")
    show(page, study(number, "trials"), "3 trials")
    page.click("summary", "Columns")
    page.click("label", "opt")
    page.wait("!document.querySelector('thead').innerText.includes('opt')")
    page.open(server.http + "/" + study(number, "trials"))
    page.wait_text("3 trials", "#main")
    tap.lacks("opt", page.text("thead"))
    tap.contains("loss", page.text("thead"))


def events_are_shown_and_chosen_by_kind():
    """One that lies far back is looked for, whatever came since."""
    number = make_study("events")
    for i in range(260):
        call("POST", "%s/%d/trials" % (ROOT, number), {
            "parameters": [{"parameterId": "x", "value": i / 260},
                           {"parameterId": "opt", "value": "adam"}],
            "finalMeasurement": {"metrics": [
                {"metricId": "loss", "value": i}]}})
    show(page, study(number, "config"), "Read back to event")
    tap.lacks("study.created", page.text("#main"))
    page.run("""const menu = document.querySelector("[aria-label='Kind of event']");
        menu.value = "study.";
        menu.dispatchEvent(new Event("change"));""")
    page.wait("document.querySelectorAll('table[role=grid] tbody tr')"
              ".length === 1", "the study's event alone")
    call("POST", "/hypertune/v1/studies/%d:pause" % number, {})
    page.wait_text("running → paused", "#main")
    behaves(page, "events")


with harness.Server("--auth", "none") as server, browser.Browser() as page:
    page.open(server.http + "/")
    tap.run([
        faults_of_a_spec_are_beside_their_lines,
        a_template_that_is_not_filled_in_is_warned_of,
        a_spec_is_created_and_its_output_followed,
        a_name_that_is_taken_is_shown_before_it_is_sent,
        a_failed_trial_runs_again,
        a_trial_without_its_objective_tells_what_came,
        the_form_writes_a_spec,
        a_trial_is_added_by_a_form,
        what_the_form_leaves_empty_is_chosen_by_the_search,
        the_form_of_a_trial_follows_conditions_and_steps,
        an_added_trial_is_shown_short_and_whole,
        reasons_are_alike_but_for_their_numbers,
        marked_trials_are_compared,
        a_click_is_not_lost_to_rows_that_come_meanwhile,
        what_is_shown_is_saved,
        all_trials_are_saved_as_the_command_exports_them,
        chosen_columns_are_remembered,
        events_are_shown_and_chosen_by_kind,
        several_studies_are_stopped_and_deleted_at_once,
        a_study_is_paused_changed_stopped_and_deleted,
    ])
