"""The readMask of lists: every path of an answer can be asked for, and is then
all that is shown."""

import json
import os
import urllib.parse

import api
import harness
import tap
import tree

GOOGLE = tree.path("tests/google")
LOCATION = "/v1/projects/masks/locations/us-central1"
AIP_JOBS = "/v1/projects/legacy/jobs"

server = None


def recorded(name, case):
    """The body of the first request that the Python SDK sent there."""
    with open(os.path.join(GOOGLE, "sdk-%s.json" % name),
              encoding="utf-8") as file:
        return json.load(file)[case][0]["body"]


def paths_of(value, path=""):
    """All of them, such as studySpec.metrics.goal; a list is its items."""
    if isinstance(value, list):
        return {found for item in value for found in paths_of(item, path)}
    found = {path} if path else set()
    for name, member in (value.items() if isinstance(value, dict) else ()):
        found |= paths_of(member, path + "." + name if path else name)
    return found


def pick(value, names):
    """What is left of a value when only that path is shown."""
    if isinstance(value, list):
        return [pick(item, names) if isinstance(item, dict) else item
                for item in value]
    if not names:
        return value
    return {name: pick(member, names[1:])
            for name, member in value.items() if name == names[0]}


def snake_case(path):
    return "".join("_" + c.lower() if c.isupper() else c for c in path)


def check(path, key):
    """Asks for each path of the newest item of a list alone."""
    item = server.get(path)[key][0]
    paths = paths_of(item)
    for wanted in sorted(paths):
        shown = server.get("%s?pageSize=1&readMask=%s" % (
            path, urllib.parse.quote(wanted)))[key]
        tap.equal(shown, [pick(item, wanted.split("."))], wanted)
    return paths


def make_still(path, body):
    """Makes a job, which changes no more."""
    status, made = server.call("POST", path, body)
    tap.equal(status, 200, made)
    path = "/v1/" + made["name"]
    tap.equal(server.call("POST", path + ":cancel"), (200, {}))
    harness.wait_until(lambda: "endTime" in server.get(path), "its end")


def each_path_of_a_tuning_job():
    study = recorded("vizier-v1", "every field of a study comes back")
    job = recorded("jobs-v1", "a job keeps what has no effect here")
    make_still(LOCATION + "/hyperparameterTuningJobs", {
        "displayName": "search", "maxTrialCount": 2, "parallelTrialCount": 1,
        "maxFailedTrialCount": 1, "labels": {"team_a": "red"},
        "encryptionSpec": {"kmsKeyName": "k"}, "trialJobSpec": job["jobSpec"],
        "studySpec": study["studySpec"]})
    for path, key in ((LOCATION + "/hyperparameterTuningJobs",
                       "hyperparameterTuningJobs"),
                      (LOCATION + "/studies", "studies"),
                      (api.OURS + "/studies", "studies")):
        paths = check(path, key)
        tap.equal({"studySpec.parameters.conditionalParameterSpecs"
                   ".parameterSpec.doubleValueSpec.minValue",
                   "studySpec.metrics.safetyConfig.safetyThreshold",
                   "hypertuneStatus.counts.active"} - paths, set())
    tap.contains("labels.team_a", paths)


def each_path_of_a_custom_job():
    job = recorded("jobs-v1", "a job keeps what has no effect here")
    make_still(LOCATION + "/customJobs", job)
    paths = check(LOCATION + "/customJobs", "customJobs")
    tap.equal({"jobSpec.workerPoolSpecs.nfsMounts.mountPoint",
               "jobSpec.workerPoolSpecs.machineSpec.reservationAffinity.key",
               "jobSpec.baseOutputDirectory.outputUriPrefix",
               "error.code"} - paths, set())


def each_path_of_an_ai_platform_job():
    folder, paths = os.path.join(GOOGLE, "aip-bodies"), set()
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            sample = json.load(file)
        status, _ = server.call("POST", AIP_JOBS, sample["request"])
        if status == 200:
            paths |= check(AIP_JOBS, "jobs")
    tap.equal({"trainingInput.hyperparameters.params.categoricalValues",
               "trainingInput.masterConfig.acceleratorConfig.count",
               "trainingInput.scheduling.maxRunningTime",
               "trainingOutput.consumedMLUnits", "etag"} - paths, set())


def a_path_may_be_in_snake_case_and_through_a_star():
    path = LOCATION + "/hyperparameterTuningJobs?pageSize=1&readMask="
    for mask in ("studySpec.parameters.parameterId",
                 snake_case("studySpec.parameters.parameterId"),
                 "study_spec.parameters.*.parameterId"):
        shown, = server.get(path + mask)["hyperparameterTuningJobs"]
        tap.equal([list(one) for one in shown["studySpec"]["parameters"]],
                  [["parameterId"]] * 4, mask)


def a_path_that_does_not_exist_is_named():
    for path, mask in ((LOCATION + "/hyperparameterTuningJobs", "trials.nope"),
                       (LOCATION + "/customJobs", "jobSpec.studySpec"),
                       (LOCATION + "/studies", "studySpec.metrics.goal.x"),
                       (AIP_JOBS, "trainingOutput.trials.id"),
                       (api.OURS + "/studies", "name.first")):
        answer = api.ask(server, "GET", "%s?readMask=state,%s" % (path, mask))
        tap.equal((answer.status, answer.error()["details"][0]
                   ["fieldViolations"]), (400, [{
                       "field": "readMask",
                       "description": 'there is no field "%s"' % mask}]))


with harness.Server("--runner", "none") as server:
    tap.run([
        each_path_of_a_tuning_job,
        each_path_of_a_custom_job,
        each_path_of_an_ai_platform_job,
        a_path_may_be_in_snake_case_and_through_a_star,
        a_path_that_does_not_exist_is_named])
