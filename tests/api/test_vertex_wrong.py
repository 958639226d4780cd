"""Wrong requests of Vertex's API: each wrong field is named by its path.

tests/google/wrong/vertex-NAME.json has a path below a location, a body, and
the fields that must be named; {study}, {trial} and {job} are there already."""

import glob
import json
import os

import api
import harness
import tap
import tree

SAMPLES = tree.path("tests/google/wrong/vertex-*.json")
LOCATION = "/v1/projects/p/locations/here"
SPEC = {"metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
        "parameters": [{"parameterId": "x", "doubleValueSpec": {
            "minValue": 0, "maxValue": 1}}]}

server = None
known = {}


def named_fields(error):
    """Of google.rpc.BadRequest, which is there once, if any field is
    wrong, and explains each of them."""
    fields = []
    for detail in error.get("details", []):
        tap.equal(detail["@type"],
                  "type.googleapis.com/google.rpc.BadRequest")
        for violation in detail["fieldViolations"]:
            tap.true(len(violation["description"]) > 0, violation)
            fields.append(violation["field"])
    return sorted(fields)


def refuse(wrong):
    path = LOCATION + wrong["path"]
    for name, value in known.items():
        path = path.replace("{%s}" % name, value)
    method = wrong.get("method", "POST")
    answer = (api.send(server, method, path, wrong["request"])
              if "request" in wrong else api.ask(server, method, path))
    error = answer.json().get("error", {})
    tap.equal((answer.status, error.get("code"), error.get("status")),
              (wrong.get("status", 400), wrong.get("status", 400),
               wrong.get("error", "INVALID_ARGUMENT")), answer.json())
    tap.equal(named_fields(error), wrong["fields"])


def case_of(path):
    with open(path, encoding="utf-8") as file:
        wrong = json.load(file)

    def case():
        refuse(wrong)
    case.__name__ = os.path.basename(path)[len("vertex-"):-len(".json")]
    return case


def prepare():
    """A study with a trial that no one has measured, and a job."""
    def made(path, body):
        status, answer = server.call("POST", path, body)
        tap.equal(status, 200, answer)
        return answer["name"]
    study = made(LOCATION + "/studies", {"displayName": "known",
                                         "studySpec": SPEC})
    trial = made("/v1/" + study + "/trials", {"parameters": [
        {"parameterId": "x", "value": 0.5}], "state": "ACTIVE"})
    job = made(LOCATION + "/hyperparameterTuningJobs", {
        "displayName": "known", "studySpec": SPEC, "maxTrialCount": 1,
        "parallelTrialCount": 1, "trialJobSpec": {"workerPoolSpecs": [
            {"replicaCount": 1, "containerSpec": {"command": ["true"]}}]}})
    known.update(study=study.rsplit("/", 1)[1], trial=trial.rsplit("/", 1)[1],
                 job=job.rsplit("/", 1)[1])


def nothing_has_been_created_or_changed():
    studies = server.get(LOCATION + "/studies")["studies"]
    tap.equal([study["displayName"] for study in studies], ["known"] * 2)
    trial, = server.get(LOCATION + "/studies/%s/trials" %
                        known["study"])["trials"]
    tap.equal((trial["state"], trial["measurements"]), ("ACTIVE", []))
    tap.equal(server.get(LOCATION + "/customJobs"), {"customJobs": []})
    job, = server.get(LOCATION + "/hyperparameterTuningJobs")[
        "hyperparameterTuningJobs"]
    tap.equal(job["state"], "JOB_STATE_PENDING")


with harness.Server("--runner", "none") as server:
    prepare()
    tap.run([case_of(path) for path in sorted(glob.glob(SAMPLES))] +
            [nothing_has_been_created_or_changed])
