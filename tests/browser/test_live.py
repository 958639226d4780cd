"""A page that is open follows the server: as results come, while it is away,
and when what is shown is deleted. A page that no one sees asks nothing."""

import time

import browser
import harness
import tap
from dashboard import act, behaves, show, study

ROOT = "/v1/projects/local/locations/local/studies"
server = page = None


def make_study(name):
    status, made = server.call("POST", ROOT, {
        "displayName": name, "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "algorithm": "RANDOM_SEARCH",
            "parameters": [{"parameterId": "x", "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}}]}})
    tap.equal(status, 200, made)
    return int(made["name"].rsplit("/", 1)[1])


def add(number, x, loss=None):
    """A trial; returns its number."""
    body = {"parameters": [{"parameterId": "x", "value": x}]}
    if loss is not None:
        body["finalMeasurement"] = {"metrics": [
            {"metricId": "loss", "value": loss}]}
    status, made = server.call("POST", "%s/%d/trials" % (ROOT, number), body)
    tap.equal(status, 200, made)
    return int(made["id"])


def report(number, trial, step, loss):
    status, made = server.call(
        "POST", "%s/%d/trials/%d:addTrialMeasurement" % (ROOT, number, trial),
        {"measurement": {"stepCount": str(step), "metrics": [
            {"metricId": "loss", "value": loss}]}})
    tap.equal(status, 200, made)


def asked():
    """What the pages asked for, but for a look at the disk every 10 s."""
    return [url for url in page.requests()
            if not url.endswith("/hypertune/v1/server")]


def streams():
    """How often the page has opened an event stream."""
    return sum(url.endswith("/events") for url in asked())


def quiet():
    """Until the page asks nothing more."""
    def asks_nothing():
        before = len(asked())
        page.run_later("setTimeout(arguments[0], 600)")
        return len(asked()) == before
    harness.wait_until(asks_nothing, "a page that asks nothing")


def a_result_comes_to_the_screen_by_itself():
    number = make_study("live")
    add(number, 0.5, 100)
    show(page, study(number), "Best loss")
    quiet()  # the server tells it; it does not ask now and then
    took = []
    for i in range(1, 6):
        loss = 100 - i
        begin = time.monotonic()
        add(number, i / 10, loss)
        page.wait_text("%d trial %d" % (loss, i + 1), ".figures")
        took.append(time.monotonic() - begin)
    print("# seconds from a report to the screen: %s" %
          " ".join("%.2f" % s for s in sorted(took)))
    behaves(page, "a live study")


def every_page_follows():
    number = make_study("follow")
    trial = add(number, 0.25)
    show(page, study(number, "trials"), "1 trial")
    add(number, 0.5, 7)
    page.wait_text("2 trials", "#main")
    show(page, study(number, "trials/%d" % trial), "Trial %d" % trial)
    server.call("POST", "%s/%d/trials:suggest" % (ROOT, number),
                {"suggestionCount": 1, "clientId": "c"})
    page.wait_text("active", "#main .title")
    report(number, trial, 1, 0.625)
    page.wait_text("0.625", "#main")
    page.run("window.kept = document.querySelector("
             "'[aria-label=Parameters] button')")
    report(number, trial, 2, 0.375)
    page.wait_text("0.375", "#main")
    tap.equal(page.run("return kept.isConnected"), True, "what did not change")
    show(page, "#/studies", "follow")
    make_study("newcomer")
    page.wait_text("newcomer", "#main")
    behaves(page, "pages that follow")


def a_hidden_page_closes_its_stream():
    number = make_study("hidden")
    add(number, 0.5, 3)
    show(page, study(number, "trials"), "1 trial")
    quiet()
    page.run("document.addEventListener('visibilitychange',"
             " () => window.wasHidden ||= document.hidden)")
    before = streams()
    with page.another_tab():
        before_change = len(page.requests())
        add(number, 0.25, 2)
        page.run_later("setTimeout(arguments[0], 1500)")
        tap.equal(page.requests()[before_change:], [],
                  "what is asked meanwhile")
    tap.equal(page.run("return window.wasHidden"), True)
    page.wait_text("2 trials", "#main")
    harness.wait_until(lambda: streams() > before, "a stream")
    tap.equal(streams(), before + 1, "it is opened again")
    behaves(page, "a hidden page")


def a_lost_server_is_shown_and_then_caught_up_with():
    number = make_study("away")
    add(number, 0.5, 3)
    show(page, study(number, "trials"), "1 trial")
    server.stop()
    page.wait_text("No answer from the server", "#top")
    tap.contains("1 trial", page.text("#main"), "what was known stays")
    server.start()
    add(number, 0.25, 2)
    page.wait_text("2 trials", "#main")
    page.wait("!document.getElementById('top').innerText"
              ".includes('No answer')", "its return is shown")
    for line in page.complaints():  # a server that stops may answer 503
        tap.true("net::ERR_" in line or "status of 503" in line, line)


def a_study_that_is_not_there_is_asked_for_again_once_one_is_made():
    busy = make_study("busy")
    show(page, "#/studies/awaited/trials", "There is no such study.")
    quiet()
    before = len(asked())
    for i in range(3):
        add(busy, i / 3, i)
        quiet()
    tap.equal(asked()[before:], [], "what is asked meanwhile")
    add(make_study("awaited"), 0.5, 3)
    page.wait_text("1 trial", "#main")
    behaves(page, "a study that is awaited")


def a_study_deleted_while_it_is_looked_at_is_said_to_be():
    number = make_study("doomed")
    add(number, 0.5, 3)
    show(page, study(number), "Best loss")
    quiet()  # what is on its way would find nothing
    tap.equal(server.call("DELETE", "%s/%d" % (ROOT, number))[0], 200)
    page.wait_text("This study has been deleted", "#main")
    show(page, "#/studies")
    tap.lacks("doomed", page.text("#main"))
    behaves(page, "a study that is deleted elsewhere")


def a_study_is_found_by_a_name_with_a_slash():
    status, made = server.call("POST", harness.JOBS.rstrip("/"), {
        "displayName": "Sweep of the team", "maxTrialCount": 1,
        "parallelTrialCount": 1, "hypertune": {"name": "team/sweep"},
        "studySpec": {"metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
                      "parameters": [{"parameterId": "x", "doubleValueSpec": {
                          "minValue": 0, "maxValue": 1}}]},
        "trialJobSpec": {"workerPoolSpecs": [{
            "replicaCount": 1, "containerSpec": {"command": ["true"]}}]}})
    tap.equal(status, 200, made)
    show(page, "#/studies/team%2Fsweep", "Sweep of the team")
    behaves(page, "a name with a slash")


def a_trial_deleted_while_it_is_looked_at_is_said_to_be():
    number = make_study("one less")
    trial = add(number, 0.5, 3)
    show(page, study(number, "trials/%d" % trial), "Trial %d" % trial)
    path = "%s/%d/trials/%d" % (ROOT, number, trial)
    quiet()
    tap.equal(server.call("DELETE", path)[0], 200)
    page.wait_text("This trial has been deleted", "#main")
    behaves(page, "a trial that is deleted")


def one_can_pause_resume_stop_and_delete():
    number = make_study("buttons")
    add(number, 0.5, 3)
    show(page, study(number), "Best loss")
    act(page, "Pause")
    page.wait_text("paused", "#main .title")
    tap.equal(server.get("/hypertune/v1/studies/%d" % number)
              ["hypertuneStatus"]["state"], "PAUSED")
    act(page, "Resume")
    page.wait_text("running", "#main .title")
    act(page, "Stop")
    page.click("dialog button", "Stop")
    page.wait("document.querySelector('.state.succeeded, .state.stopped')",
              "its end")
    quiet()
    act(page, "Delete")
    page.type("dialog input", "button")
    tap.equal(page.run("return [...document.querySelectorAll('dialog button')]"
                       ".find(one => one.textContent === 'Delete').disabled"),
              True, "a wrong name")
    page.type("dialog input", "buttons")
    page.click("dialog button", "Delete")
    page.wait("location.hash === '#/'", "the list of studies")
    tap.equal(server.call("GET", "/hypertune/v1/studies/%d" % number)[0], 404)
    behaves(page, "a study that was deleted here")


def one_can_add_a_trial():
    number = make_study("by hand")
    show(page, study(number, "trials"), "No trial has begun yet.")
    act(page, "Add a trial")
    page.type("dialog input", "7")
    page.click("dialog button", "Add")
    page.wait("document.querySelector('dialog input:invalid')",
              "what is wrong")
    page.type("dialog input", "0.75")
    page.click("dialog button", "Add")
    page.wait_text("1 trial", "#main")
    tap.equal(server.trials(str(number))[0]["parameters"],
              [{"parameterId": "x", "value": 0.75}])


def a_spec_is_checked_while_it_is_typed_and_made_a_study():
    show(page, "#/new", "The spec is valid.")
    page.type("textarea", "name: typed\nspec: 1\ngoal: minimise loss\n")
    page.wait_text("minimize", ".findings")
    page.type("textarea", "spec: 1\nname: typed\ngoal: minimize loss\n"
              "parameters: {x: {type: double, min: 0, max: 1}}\n"
              "trials: 3\nworkdir: /tmp\ncommand: [\"true\"]\n")
    page.wait_text("The spec is valid.", "#main")
    page.click("button", "Create the study")
    page.wait_text("typed", "h1")
    tap.equal(server.study("typed")["state"], "RUNNING")


with harness.Server("--runner", "none", "--auth", "none") as server, \
        browser.Browser() as page:
    page.open(server.http + "/")
    tap.run([
        a_result_comes_to_the_screen_by_itself,
        every_page_follows,
        a_hidden_page_closes_its_stream,
        a_lost_server_is_shown_and_then_caught_up_with,
        a_study_that_is_not_there_is_asked_for_again_once_one_is_made,
        a_study_deleted_while_it_is_looked_at_is_said_to_be,
        a_study_is_found_by_a_name_with_a_slash,
        a_trial_deleted_while_it_is_looked_at_is_said_to_be,
        one_can_pause_resume_stop_and_delete,
        one_can_add_a_trial,
        a_spec_is_checked_while_it_is_typed_and_made_a_study,
    ])
