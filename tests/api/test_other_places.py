"""The command and the studies of other projects and locations than its own."""

import json
import os

import api
import harness
import tap
from fake_runner import Runner

PLACE = "/v1/projects/my project/locations/europe-west4"
SPEC = {"spec": 1, "name": "twin", "goal": "maximize accuracy",
        "parameters": {"lr": [0.1, 0.2]}, "trials": 1, "command": ["true"]}
server = None


def post(collection, body, place=PLACE):
    status, answer = server.call(
        "POST", place.replace(" ", "%20") + "/" + collection, body)
    tap.equal(status, 200, answer)
    return answer


def cli(*words):
    return server.cli(*words).stdout


def a_study_of_another_project_is_found_by_its_name():
    post("hyperparameterTuningJobs", api.job("far"))
    tap.equal(cli("list", "-o", "name").split(), ["far"])
    tap.equal(cli("list", "--state", "running", "-o", "name").split(), ["far"])
    tap.equal(cli("list", "--state", "paused", "-o", "name").split(), [])
    shown = json.loads(cli("describe", "far", "-o", "json"))
    tap.equal(shown["name"].rsplit("/", 1)[0],
              PLACE[4:] + "/hyperparameterTuningJobs")
    tap.equal(cli("trials", "far", "-o", "name").split(), ["far/1"])


def its_trials_are_added_and_stopped():
    tap.equal(cli("add", "far", "lr=0.5", "-o", "name").split(), ["far/2"])
    with Runner(server) as runner:
        attempt = runner.one().started()
        name = "far/%s" % attempt.said["trial"]
        server.cli("stop-trial", name)
        trial = server.get(api.OURS + "/studies/far/trials/" +
                           name.split("/")[1])
        tap.equal(trial["hypertune"]["state"], "STOPPING")
        attempt.report(0.5).ended("stopped", exit=0)
    tap.equal(cli("best", "far", "-o", "name").split(), [name])


def the_front_of_several_goals_is_shown():
    made = api.job("front")
    made["studySpec"]["metrics"].append({"metricId": "ms", "goal": "MINIMIZE"})
    made = post("studies", {"displayName": "front",
                            "studySpec": made["studySpec"]})
    trials = "/v1/" + made["name"].replace(" ", "%20") + "/trials"
    for accuracy, latency in ((0.9, 5), (0.8, 1), (0.7, 2)):
        server.call("POST", trials, {
            "parameters": [{"parameterId": "lr", "value": accuracy}],
            "finalMeasurement": {"metrics": [
                {"metricId": "accuracy", "value": accuracy},
                {"metricId": "ms", "value": latency}]}})
    tap.equal(cli("best", "front", "-o", "name").split(),
              ["front/1", "front/2"])


def it_is_cancelled_and_deleted():
    server.cli("cancel", "far", "--yes")
    harness.wait_until(
        lambda: "CANCELLED" in cli("describe", "far"), "the end")
    server.cli("delete", "far", "--yes")
    tap.equal(cli("list", "-o", "name").split(), ["front"])


def one_of_the_same_name_elsewhere_is_no_hindrance():
    post("hyperparameterTuningJobs", api.job("twin"))
    path = os.path.join(server.folder, "twin.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(SPEC, file)
    tap.equal(cli("submit", path).split(), ["twin"])
    post("customJobs", {"displayName": "x", "hypertune": {"name": "twin"},
                        "jobSpec": api.JOB["trialJobSpec"]},
         "/v1/projects/third/locations/x")
    # again: it is the command's own that counts, not the newest
    tap.equal(cli("submit", path).split(), ["twin"])
    tap.equal(len(server.get(api.OURS + "/studies")["studies"]), 4)


with harness.Server("--runner", "none") as server:
    tap.run([a_study_of_another_project_is_found_by_its_name,
             its_trials_are_added_and_stopped,
             the_front_of_several_goals_is_shown, it_is_cancelled_and_deleted,
             one_of_the_same_name_elsewhere_is_no_hindrance])
