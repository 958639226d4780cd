"""What people come to the dashboard for, each from the list of studies with at
most three clicks, all of which are a person's."""

import os

import browser
import dashboard
import harness
import tap
from dashboard import behaves

MOST = 3
SWEPT = """\
spec: 1
name: swept
goal: maximize accuracy
seed: 4
parameters:
  x: {type: double, min: 0.1, max: 1}
  opt: [adam, sgd, broken]
trials: 8
parallel: 2
retries: 0
command: [sh, -c, 'case "$*" in *broken*) echo the disk is full >&2; exit 3;;
  esac; hypertune report "accuracy=${0#--x=}"']
workdir: /tmp
"""
WAITING = """\
spec: 1
name: waiting
goal: maximize accuracy
parameters: {x: [1, 2]}
trials: 2
parallel: 1
retries: 0
command: [sh, -c, 'hypertune report accuracy=0.5 --step 1;
  while [ ! -e FOLDER/go ]; do sleep 0.1; done;
  hypertune report accuracy=1']
workdir: /tmp
"""

server = page = None
clicks = 0


def call(method, path, body=None):
    status, answer = server.call(method, path, body)
    tap.equal(status, 200, answer)
    return answer


def submit(text):
    """The number of a new study."""
    reply = call("POST", "/hypertune/v1/specs:check", {"text": text})
    made = call("POST", reply["collection"], reply["resource"])
    return int(made["name"].rsplit("/", 1)[1])


def status_of(number):
    return call("GET", "/hypertune/v1/studies/%d" % number)["hypertuneStatus"]


def begin():
    """The list of studies, from which the clicks are counted."""
    global clicks
    dashboard.show(page, "#/studies", "swept")
    clicks = 0


def click(selector, label=None):
    global clicks
    page.click(selector, label)
    clicks += 1


def open_study(name):
    click("#main tbody a", name)
    page.wait_text(name, "h1")


# The tenth, to download a model, is in test_trial_files.py.
def few():
    """A task's last line."""
    tap.true(clicks <= MOST, clicks)
    print("# %d clicks" % clicks)
    behaves(page, "a task")


def best_trial():
    return int(status_of(swept)["best"]["id"])


def find_the_best():
    begin()
    open_study("swept")
    click(".hero a", "trial %d" % best_trial())
    page.wait_text("★ best", ".figures")
    few()


def why_it_was_chosen():
    begin()
    open_study("swept")
    click(".hero a")
    page.wait_text("Chosen because", "[aria-label='Why this point']")
    page.wait("document.querySelector(\"[aria-label='The point in its space']"
              " .axes text\")")
    few()


def compare_two_trials():
    begin()
    open_study("swept")
    page.wait("document.querySelector(\"[aria-label='Best 5'] tbody\")")
    second = page.run("return document.querySelectorAll("
                      "\"[aria-label='Best 5'] tbody a\")[1].textContent")
    click("[aria-label='Best 5'] a", second)
    page.wait_text("Trial " + second, "h1")
    click("a.button", "Compare with the best")
    page.wait_text("Trials %d, %s" % (best_trial(), second), ".comparison")
    page.wait("document.querySelector('.comparison')"
              ".getBoundingClientRect().top < innerHeight", "it is in sight")
    few()


def share_the_view():
    page.cdp("Browser.grantPermissions", permissions=[
        "clipboardReadWrite", "clipboardSanitizedWrite"])
    begin()
    open_study("swept")
    click(".tabs a", "Parameters")
    click("#top button", "Copy link")
    page.wait_text("Copied the link to this view", "#notices")
    copied = page.run("return navigator.clipboard.readText()")
    tap.equal(copied, page.run("return location.href"))
    tap.contains("#/studies/%d/parameters" % swept, copied)
    few()


def where_trials_fail():
    begin()
    open_study("swept")
    page.wait_text("exit 3", "#main")
    click(".tabs a", "Parameters")
    page.wait("document.querySelector(\"[aria-label='opt'].plot\")")
    few()


def what_runs_where():
    begin()
    click("#top a", "Server")
    page.wait("document.querySelector("
              "'table[role=grid] a[href$=\"/trials/1\"]')")
    few()


def stop_a_trial():
    begin()
    click("#top a", "Server")
    page.wait("document.querySelector("
              "'table[role=grid] a[href$=\"/trials/1\"]')")
    click("table[role=grid] a[href$='/trials/1']")
    page.wait_text("Trial 1", "h1")
    click("button", "Stop")
    page.wait("/stopped|stopping/.test(document.querySelector("
              "'.head .state').textContent)", "its end")
    few()
    harness.wait_until(lambda: status_of(waiting)["counts"]["stopped"] == 1,
                       "a stopped trial")


def extend_a_study():
    begin()
    open_study("swept")
    click("button", "Extend")
    page.type("dialog input", "10")
    click("dialog button", "Change")
    page.wait_text("10", ".figures")
    few()
    harness.wait_until(lambda: status_of(swept)["state"] == "SUCCEEDED"
                       and sum_of(swept) == 10, "two trials more")


def sum_of(number):
    counts = status_of(number)["counts"]
    return sum(counts[key] for key in ("succeeded", "stopped", "failed"))


def read_a_crash():
    begin()
    open_study("swept")
    page.wait_text("exit 3", "td.reason")
    click("td.reason + td a")
    page.wait_text("exit 3", "#main")
    page.wait_text("the disk is full", ".log")
    few()


with harness.Server("--auth", "none") as server, browser.Browser() as page:
    swept = submit(SWEPT)
    harness.wait_until(lambda: status_of(swept)["state"] == "SUCCEEDED",
                       "the end of the study")
    waiting = submit(WAITING.replace("FOLDER", server.folder))
    harness.wait_until(lambda: server.call(
        "GET", "/hypertune/v1/studies/%d/trials/1" % waiting)[1].get(
            "hypertune", {}).get("latest"), "a trial that has reported")
    page.open(server.http + "/#/studies")
    tap.run([
        find_the_best,
        why_it_was_chosen,
        compare_two_trials,
        share_the_view,
        where_trials_fail,
        read_a_crash,
        what_runs_where,
        stop_a_trial,
        extend_a_study,
    ])
    with open(os.path.join(server.folder, "go"), "w", encoding="utf-8"):
        pass  # what waits ends
