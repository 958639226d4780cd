"""What the server finds of the health of a study's model, and the commands that
it proposes. Clients bring the results, so no runner is needed."""

import json
import math
import os
import subprocess

import api
import harness
import tap
import vizier

LR = {"parameterId": "lr",
      "doubleValueSpec": {"minValue": 1e-4, "maxValue": 0.1},
      "scaleType": "UNIT_LOG_SCALE"}
UNITS = {"parameterId": "units",
         "integerValueSpec": {"minValue": "8", "maxValue": "40"}}
RESULTS = 30


class Taught(vizier.Study):
    """A study of 30 results, good where lr is large."""

    def __init__(self, results=RESULTS, **more):
        super().__init__(server, LR, UNITS, algorithm="ALGORITHM_UNSPECIFIED",
                         **more)
        self.number = self.name.split("/")[-1]
        self.slug = self.display.replace(" ", "-")
        for _ in range(results):
            trial, = self.suggest(1)["trials"]
            point = vizier.values(trial["parameters"])
            self.complete("/v1/" + trial["name"], (
                5 - math.log10(point["lr"]) +
                0.002 * (point["units"] - 20) ** 2))

    def health(self, query="", want=200):
        status, answer = server.call("GET", "%s/studies/%s/health%s" % (
            api.OURS, self.number, query))
        tap.equal(status, want, answer)
        return answer


def finding(health, kind):
    found, = [one for one in health["findings"] if one["kind"] == kind]
    return found


def kinds(health):
    return [one["kind"] for one in health["findings"]]


def few_results_give_no_finding():
    health = Taught(5).health()
    tap.equal((health["metric"], health["results"], health["least"],
               health["findings"]), ("loss", 5, 15, []))


def the_model_and_an_end_are_put_in_words():
    study = Taught()
    health = study.health()
    tap.equal((health["metric"], health["results"]), ("loss", RESULTS))
    quality = finding(health, "MODEL_QUALITY")
    tap.equal(quality["severity"], "GOOD")
    tap.starts(quality["text"], "the model ranks results it has not seen well "
               "(%.2f of 1, 30 results)" % quality["value"])
    tap.true(0.7 <= quality["value"] <= 1 and "command" not in quality,
             quality)
    tap.equal(finding(health, "BORDER"), {
        "kind": "BORDER", "severity": "HINT", "parameter": "lr",
        "value": 0.1,
        "text": "the best results lie at the upper end of lr (0.1): "
                "widen to 1?",
        "command": "hypertune set %s lr=..1" % study.slug})


def run(command):
    """As a person would paste it; what it says."""
    done = subprocess.run(
        ["sh", "-c", command], check=False, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "HYPERTUNE_SERVER": server.http,
             "HYPERTUNE_TOKEN_FILE": server.token_file,
             "PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]})
    tap.equal(done.returncode, 0, done.stderr)
    return done.stderr


def the_command_widens_the_range_and_the_finding_goes():
    study = Taught()
    command = finding(study.health(), "BORDER")["command"]
    tap.contains("parameters.lr.max: 0.1 -> 1", run(command))
    _, job = server.call("GET", "/v1/" + study.name)
    lr, _ = job["studySpec"]["parameters"]
    tap.equal(lr["doubleValueSpec"], {"minValue": 1e-4, "maxValue": 1})
    tap.equal("BORDER" in kinds(study.health()), False)


def commands_name_any_parameter_and_any_end():
    study = vizier.Study(
        server, {"parameterId": "net/x-0", "doubleValueSpec": {
            "minValue": -2, "maxValue": 2}},
        {"parameterId": "size", "discreteValueSpec": {
            "values": [8, 16, 32, 64]}})
    spread = [(-2 + i * 7 % 40 / 10, 8 << i % 4) for i in range(40)]
    for x, size in spread + [(-2 + i / 200, 64) for i in range(8)]:
        study.add({"net/x-0": x, "size": size},
                  finalMeasurement=vizier.measured(x - math.log2(size)))
    commands = [one["command"] for one in study.good(
        "GET", "%s/studies/%s/health" % (
            api.OURS, study.name.split("/")[-1]))["findings"]
        if one["kind"] == "BORDER"]
    slug = study.display.replace(" ", "-")
    tap.equal(commands, ["hypertune set %s net/x-0=-4.." % slug,
                         "hypertune set %s size=+128" % slug])
    for command in commands:
        run(command)
    x, size = study.good("GET", study.path)["studySpec"]["parameters"]
    tap.equal(x["doubleValueSpec"]["minValue"], -4)
    tap.equal(size["discreteValueSpec"]["values"], [8, 16, 32, 64, 128])


def a_command_shows_them_to_people_and_programs():
    study = Taught()
    health = study.health()
    lines = server.cli("health", study.slug).stdout.splitlines()
    border = finding(health, "BORDER")
    tap.equal(lines[0], health["findings"][0]["text"])
    at = lines.index(border["text"])
    tap.equal(lines[at + 1], "    " + border["command"])
    shown = json.loads(server.cli("health", study.slug, "-o", "json").stdout)
    tap.equal(shown, [health])
    few = server.cli("health", Taught(5).slug)
    tap.equal((few.stdout, few.stderr), (
        "", "nothing was found in 5 results; it takes 15\n"))


def a_rule_that_would_stop_the_best_is_said_to():
    """The two best trials are behind the others for half of their way."""
    for rule, eager in (({"useElapsedDuration": False}, True),
                        (None, False)):
        stops = {} if rule is None else {"medianAutomatedStoppingSpec": rule}
        study = vizier.Study(server, **stops)
        for i in range(22):
            path = "/v1/" + study.add({"x": i / 22}, state="ACTIVE",
                                      clientId="me")["name"]
            for step in range(1, 9):
                late = i >= 20 and step < 5
                study.good("POST", path + ":addTrialMeasurement", {
                    "measurement": vizier.measured(
                        99 if late else 10 - step - i / 100, step)})
            study.good("POST", path + ":complete", {})
        found = [one for one in study.good(
            "GET", "%s/studies/%s/health" % (
                api.OURS, study.name.split("/")[-1]))["findings"]
                 if one["kind"] == "STOPPED_TOO_EARLY"]
        tap.equal(len(found), int(eager), found)
        for one in found:
            tap.equal((one["severity"], one["value"]), ("WARNING", 0.4))
            tap.starts(one["text"], "early stopping would stop 2 of the 5 "
                       "best finished trials, at step 4 or before: ")


def wrong_questions_get_a_sentence():
    study = Taught(0)
    tap.contains('the study has no "lss" (did you mean loss?)',
                 study.health("?metric=lss", 400)["error"]["message"])
    status, answer = server.call("GET", api.OURS + "/studies/99/health")
    tap.equal((status, answer["error"]["status"]), (404, "NOT_FOUND"))


with harness.Server("--runner", "none") as server:
    tap.run([
        few_results_give_no_finding,
        the_model_and_an_end_are_put_in_words,
        the_command_widens_the_range_and_the_finding_goes,
        commands_name_any_parameter_and_any_end,
        a_command_shows_them_to_people_and_programs,
        a_rule_that_would_stop_the_best_is_said_to,
        wrong_questions_get_a_sentence,
    ])
