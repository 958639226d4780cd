"""What one changes of a study on its page: its spec, a copy of it, and what a
repair needs."""

import json

import browser
import harness
import tap
from dashboard import act, behaves, show, study

SPEC = """\
spec: 1
name: edited
goal: maximize accuracy
parameters:
  lr: {type: double, min: 0, max: 1}
trials: 1
command: [hypertune, report, accuracy=0.5]
workdir: /tmp
"""

server = page = None


def call(method, path, body=None):
    status, answer = server.call(method, path, body)
    tap.equal(status, 200, answer)
    return answer


def write_spec(text):
    page.run("""const area = document.querySelector(".editor textarea");
        area.value = arguments[0];
        area.dispatchEvent(new Event("input"));""", text)


SHELL = [{"name": "MINE", "value": "of the shell that submitted"}]


def begin_study(text):
    """The number of a study that a shell made of this spec."""
    reply = call("POST", "/hypertune/v1/specs:check", {"text": text})
    reply["resource"]["hypertune"]["capturedEnv"] = SHELL
    made = call("POST", reply["collection"], reply["resource"])
    return int(made["name"].rsplit("/", 1)[1])


def best_is(number, value):
    page.wait("document.querySelector('.figures')?.innerText"
              ".includes('Best accuracy\\n%s')" % value, "the best")
    job = call("GET", "/hypertune/v1/studies/%d" % number)
    tap.equal(job["hypertuneStatus"]["best"]["hypertune"]["objective"], value)


SILENT = """\
spec: 1
name: NAME
goal: maximize accuracy
parameters: {lr: [1, 2]}
trials: 2
command: [sh, -c, 'SCRIPT']
workdir: /tmp
"""


def a_study_is_edited_and_cloned():
    text = SPEC + "outputDir: %s/out\n" % server.data
    number = begin_study(text)
    show(page, study(number, "edit"), "Nothing differs from the study")
    button = "[aria-label=Check] .primary:enabled"
    tap.equal(page.count(button), 0)
    write_spec(text.replace("max: 1", "max: 2").replace("edited", "other"))
    page.wait_text("a study keeps its name", ".findings")
    write_spec(text.replace("double", "integer"))
    page.wait_text("clone the study", ".findings")
    write_spec(text.replace("max: 1", "max: 2"))
    page.wait_text("parameters.lr.max: 1 -> 2", "[aria-label=Changes]")
    page.click("button", "Change the study")
    page.wait("location.hash === '#/studies/%d'" % number, "the study")
    changed = call("GET", "/hypertune/v1/studies/%d" % number)
    parameter, = changed["studySpec"]["parameters"]
    tap.equal(parameter["doubleValueSpec"]["maxValue"], 2)
    tap.equal(changed["hypertune"]["capturedEnv"], SHELL)
    act(page, "Clone")
    page.wait_text("The spec is valid.", "[aria-label=Check]")
    page.click("button", "Create the study")
    page.wait_text("edited-2", "h1")
    clone = call("GET", "/hypertune/v1/studies/edited-2")
    tap.equal([one["study"] for one in clone["hypertuneStatus"]["warmStart"]],
              ["edited"])
    tap.equal(clone["hypertune"]["capturedEnv"], SHELL)
    tap.contains(server.data + "/out/edited-2", json.dumps(clone))
    behaves(page, "editing and cloning")


def a_metric_that_is_printed_is_read_from_the_banner():
    number = begin_study(SILENT.replace("NAME", "printing").replace(
        "SCRIPT", "echo accuracy: 0.625"))
    show(page, study(number), "Repair what this names")
    page.wait_text("accuracy: {accuracy}", ".held")
    page.click("button", "Read such lines")
    page.wait("document.querySelector('.held') === null", "no banner")
    best_is(number, 0.625)
    behaves(page, "a printed metric")


def a_repaired_study_runs_its_failed_trials_again():
    flag = server.folder + "/repaired"
    number = begin_study(SILENT.replace("NAME", "broken").replace(
        "SCRIPT", "[ -e %s ] && hypertune report accuracy=0.75; true" % flag))
    show(page, study(number), "Repair what this names")
    with open(flag, "w", encoding="ascii"):
        page.click("button", "Repaired: run the failed again")
        page.wait_text("succeeded", "#main .title")
    best_is(number, 0.75)
    counts = call("GET", "/hypertune/v1/studies/%d" % number)[
        "hypertuneStatus"]["counts"]
    tap.equal((counts["succeeded"], counts["failed"]), (2, 0), counts)
    page.wait_text("Trial", "#main")
    show(page, study(number, "trials/1"), "Attempt 2: succeeded")
    facts = page.text("[aria-label=Attempts]")
    tap.contains("Host", facts)
    tap.contains("Spec", facts)
    behaves(page, "a repaired study")


with harness.Server("--auth", "none") as server, browser.Browser() as page:
    page.open(server.http + "/")
    tap.run([
        a_study_is_edited_and_cloned,
        a_metric_that_is_printed_is_read_from_the_banner,
        a_repaired_study_runs_its_failed_trials_again,
    ])
