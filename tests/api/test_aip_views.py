"""AI Platform's jobs as each is shown, whichever API made it."""

import base64
import copy
import os
import re
import time

import aip
import api
import pages
import tap
from aip import IMAGE, INPUT, JOBS, PLAIN

EUROPE = "/v1/projects/p/locations/europe-west4"
TUNING = EUROPE + "/hyperparameterTuningJobs"
CUSTOM = EUROPE + "/customJobs"
SUCCEEDED, FAILED = 4, 6  # tuner/db/rows.h

server = None

def a_job_is_shown_as_it_was_sent():
    made = server.tune("sent", {"team": "red", "b": ""})
    shown = server.job("sent")
    tap.equal(made["trainingInput"], INPUT)
    tap.equal(shown["trainingInput"], INPUT)
    tap.equal(list(shown["trainingInput"]), list(INPUT))
    tap.equal((shown["jobId"], shown["state"], shown["labels"]),
              ("sent", "QUEUED", {"team": "red", "b": ""}))
    tap.equal(sorted(shown), ["createTime", "etag", "jobId", "labels", "state",
                              "trainingInput", "trainingOutput"])
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"
    tap.true(re.match(stamp, shown["createTime"]))
    tap.equal(len(base64.b64decode(shown["etag"], validate=True)), 9)
    server.cancel("sent")


def an_enumeration_sent_as_its_number_is_shown_by_its_name():
    numbered = {
        "scaleTier": 5, "masterType": "n1-standard-4", "region": "us-central1",
        "masterConfig": {"imageUri": "gcr.io/demo/trainer:latest",
                         "acceleratorConfig": {"type": 5, "count": 1}},
        "scheduling": {"strategy": 1},
        "hyperparameters": {
            "goal": 2, "algorithm": 2, "maxTrials": 1,
            "params": [{"parameterName": "lr", "type": 1, "minValue": 1,
                        "maxValue": 2, "scaleType": 2}]}}
    named = copy.deepcopy(numbered)
    named["scaleTier"] = "CUSTOM"
    named["masterConfig"]["acceleratorConfig"]["type"] = "NVIDIA_TESLA_T4"
    named["scheduling"]["strategy"] = "ON_DEMAND"
    named["hyperparameters"].update(goal="MINIMIZE", algorithm="RANDOM_SEARCH")
    named["hyperparameters"]["params"][0].update(
        type="DOUBLE", scaleType="UNIT_LOG_SCALE")
    made = server.create("numbers", numbered)
    tap.equal(made["trainingInput"], named)
    tap.equal(server.job("numbers")["trainingInput"], named)
    server.cancel("numbers")


def a_search_tells_its_trials_in_texts():
    server.tune("texts", maxTrials=2, maxParallelTrials=1)
    with server.runner() as one:
        one.one().succeed(0.92, step=9007199254740993)
        attempt = one.one()
        shown = server.job("texts")["trainingOutput"]
        attempt.succeed(0.5)
    server.wait_job("texts", "SUCCEEDED")
    tap.equal((shown["isHyperparameterTuningJob"],
               shown["hyperparameterMetricTag"],
               shown["completedTrialCount"]), (True, "accuracy", "1"))
    first, second = shown["trials"]
    tap.equal((first["trialId"], first["state"]), ("1", "SUCCEEDED"))
    tap.equal(first["finalMetric"], {"objectiveValue": 0.92,
                                     "trainingStep": "9007199254740993"})
    tap.contains("startTime", first)
    tap.contains("endTime", first)
    tap.lacks("isTrialStoppedEarly", first)
    # A value is what is behind --name= of the trainer.
    given = dict(word[2:].split("=", 1)
                 for word in attempt.said["paramArgs"])
    tap.equal(second["hyperparameters"], given)
    tap.equal(sorted(given), ["batch", "lr", "opt", "units"])
    tap.equal((second["trialId"], second["state"]), ("2", "PREPARING"))
    tap.lacks("finalMetric", second)
    tap.lacks("endTime", second)


def the_best_trial_comes_first():
    for goal, order in (("MAXIMIZE", "2 4 3 5 1"), ("MINIMIZE", "5 3 2 4 1")):
        name = "best_" + goal.lower()
        server.tune(name, goal=goal, maxTrials=5, maxParallelTrials=1)
        with server.runner() as one:
            for _ in range(2):  # the first trial is tried once more
                one.one().fail()
            for value in (0.9, 0.5, 0.9, 0.1):
                one.one().succeed(value)
        shown = server.wait_job(name, "SUCCEEDED")["trainingOutput"]["trials"]
        tap.equal([trial["trialId"] for trial in shown], order.split(), goal)
        tap.equal(shown[-1]["state"], "FAILED")


def a_confirmation_is_not_the_best_trial():
    server.tune("confirmed", maxTrials=1, maxParallelTrials=1)
    with server.runner() as one:
        one.one().succeed(0.5)
        server.wait_job("confirmed", "SUCCEEDED")
        server.good("POST", "/hypertune/v1/studies/confirmed:confirm",
                    {"top": 1, "seeds": 1})
        one.one().succeed(0.9)
    output = server.wait_job("confirmed", "SUCCEEDED")["trainingOutput"]
    tap.equal([(trial["trialId"], trial["finalMetric"]["objectiveValue"])
               for trial in output["trials"]], [("1", 0.5), ("2", 0.9)])
    tap.equal(output["completedTrialCount"], "1")


def a_job_without_a_search_has_no_trials():
    server.plain("plain", enableWebAccess=False)
    tap.equal(server.job("plain")["trainingOutput"], {"consumedMLUnits": 0})
    with server.runner() as one:
        one.one().succeed()
    shown = server.wait_job("plain", "SUCCEEDED")
    tap.equal((shown["trainingInput"], shown["trainingOutput"]),
              (dict(PLAIN, enableWebAccess=False),
               {"consumedMLUnits": 0}))
    tap.lacks("errorMessage", shown)
    tap.lacks("labels", shown)


def the_etag_changes_with_the_labels_alone():
    server.tune("tagged", {"a": "1", "b": "2"})
    first = server.job("tagged")["etag"]
    path = JOBS + "/tagged?updateMask=labels"
    server.good("PATCH", path, {"labels": {"b": "2", "a": "1"}})
    tap.equal(server.job("tagged")["etag"], first)
    server.good("PATCH", path, {"labels": {"a": "2", "b": "1"}})
    changed = server.job("tagged")
    tap.equal((changed["etag"] == first, changed["labels"]),
              (False, {"a": "2", "b": "1"}))
    server.good("PATCH", path, {})
    tap.equal((server.job("tagged")["etag"] in (first, changed["etag"]),
               "labels" in server.job("tagged")), (False, False))
    server.cancel("tagged")
    other = server.plain("untagged")["etag"]
    tap.equal(server.job("tagged")["etag"], other)
    server.cancel("untagged")


def counts_that_were_changed_are_shown():
    server.tune("grown", maxTrials="3")
    server.good("PATCH", "/hypertune/v1/studies/grown",
                {"maxTrialCount": 7, "maxFailedTrialCount": 2})
    search = server.job("grown")["trainingInput"]["hyperparameters"]
    tap.equal((search["maxTrials"], search["maxFailedTrials"],
               search["maxParallelTrials"]), (7, 2, 2))
    server.good("PATCH", "/hypertune/v1/studies/grown",
                {"maxTrialCount": 3, "maxFailedTrialCount": 0})
    search = server.job("grown")["trainingInput"]["hyperparameters"]
    tap.equal(search["maxTrials"], "3")
    server.cancel("grown")


def jobs_of_vertex_are_shown_too():
    made = server.good("POST", TUNING, {
        "displayName": "Vertex one", "labels": {"from": "vertex"},
        "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [{"parameterId": "x", "integerValueSpec": {
                "minValue": "1", "maxValue": "9"}}]},
        "maxTrialCount": 4, "parallelTrialCount": 1,
        "trialJobSpec": {"workerPoolSpecs": [{
            "machineSpec": {"machineType": "n1-standard-8"},
            "replicaCount": 1,
            "containerSpec": dict(IMAGE, args=["--fast"])}]},
        "hypertune": {"name": "vertex_one"}})
    shown = server.job("vertex_one")
    tap.equal(shown["trainingInput"], {
        "scaleTier": "CUSTOM", "masterConfig": IMAGE,
        "masterType": "n1-standard-8", "args": ["--fast"],
        "region": "europe-west4",
        "hyperparameters": {
            "goal": "MINIMIZE", "hyperparameterMetricTag": "loss",
            "maxTrials": 4, "maxParallelTrials": 1, "params": [
                {"parameterName": "x", "type": "INTEGER", "minValue": 1,
                 "maxValue": 9, "scaleType": "UNIT_LINEAR_SCALE"}]}})
    tap.equal((shown["labels"], shown["trainingOutput"]
               ["hyperparameterMetricTag"]), ({"from": "vertex"}, "loss"))
    # By its number as well.
    number = made["name"].rpartition("/")[2]
    tap.equal(server.job(number)["jobId"], "vertex_one")
    server.cancel("vertex_one")
    tap.equal(server.get("/v1/" + made["name"])["state"],
              "JOB_STATE_CANCELLED")
    server.good("POST", CUSTOM, {
        "displayName": "c", "jobSpec": {"workerPoolSpecs": [
            {"replicaCount": 1, "containerSpec": IMAGE}]},
        "hypertune": {"name": "vertex_plain"}})
    shown = server.job("vertex_plain")
    tap.equal((shown["trainingInput"], shown["trainingOutput"]),
              ({"masterConfig": IMAGE, "region": "europe-west4"},
               {"consumedMLUnits": 0}))
    server.cancel("vertex_plain")


def jobs_of_the_native_form_are_shown_too():
    server.submit({
        "name": "native", "goal": "maximize accuracy", "trials": 5,
        "parameters": {"lr": [0.1, 0.01], "layers": "1..4"},
        "command": ["python3", "train.py"]})
    path = "/v1/projects/local/jobs"
    shown = server.get(path + "/native")
    search = shown["trainingInput"].pop("hyperparameters")
    tap.equal(shown["trainingInput"], {
        "masterConfig": {"containerCommand": ["python3", "train.py"]},
        "region": "local"})
    tap.equal((search["maxTrials"], [one["parameterName"] for one in
                                     search["params"]]), (5, ["lr", "layers"]))
    tap.equal([one["jobId"] for one in server.get(path)["jobs"]], ["native"])
    server.good("POST", path + "/native:cancel")
    wanted = ("CANCELLED", "CANCELLED")
    tap.equal((server.get(path + "/native")["state"],
               server.study("native")["state"]), wanted)


def jobs_of_ai_platform_are_vertex_s_too():
    server.tune("shared")
    server.plain("shared_plain")
    place = "/v1/projects/p/locations/us-central1/"
    other = server.get(place + "hyperparameterTuningJobs/shared")
    tap.equal((other["displayName"], other["maxTrialCount"],
               other["hypertuneStatus"]["name"]), ("shared", 3, "shared"))
    tap.equal(server.get(place + "customJobs/shared_plain")["displayName"],
              "shared_plain")
    server.cancel("shared", "shared_plain")


def studies_of_clients_and_other_projects_are_not_shown():
    server.good("POST", EUROPE + "/studies", {
        "displayName": "clients", "studySpec": api.JOB["studySpec"]})
    name = server.get(EUROPE + "/studies")["studies"][0]["hypertuneStatus"]
    server.refused("GET", JOBS + "/" + name["name"], None, 404, "NOT_FOUND")
    tap.lacks(name["name"], server.listed("pageSize=100"))
    server.plain("mine")
    server.refused("GET", "/v1/projects/q/jobs/mine", None, 404, "NOT_FOUND")
    tap.equal(server.get("/v1/projects/q/jobs"), {"jobs": []})
    server.cancel("mine")


def an_unknown_job_is_named():
    status, answer = server.call("GET", JOBS + "/nobody")
    tap.equal((status, answer["error"]["message"]),
              (404, "there is no job nobody in project p"))


def a_head_has_no_body():
    server.plain("headed")
    for path in (JOBS, JOBS + "/headed"):
        answer = api.ask(server, "HEAD", path)
        tap.equal((answer.status, answer.body), (200, b""))
    server.cancel("headed")


def units_are_those_of_all_replicas_of_all_attempts():
    server.tune("billed", maxTrials=1, maxParallelTrials=1)
    with server.runner() as one:
        one.one().fail(3)
        one.one().succeed(0.5)
    server.wait_job("billed", "SUCCEEDED")
    server.change(("UPDATE attempts SET started_ms=1000, "
                   "ended_ms=1000+1800000*n WHERE study=(SELECT id FROM "
                   "studies WHERE name=?)", ("billed",)))
    # Half an hour and an hour of a master and two workers of 4 cores.
    tap.equal(server.job("billed")["trainingOutput"]["consumedMLUnits"],
              round(1.5 * 3 * 0.19 / 0.49, 4))


def units_of_what_runs_grow():
    server.plain("growing")
    with server.runner() as one:
        one.one().started()
    units = server.job("growing")["trainingOutput"]["consumedMLUnits"]
    tap.true(units < 0.01, units)
    hour_ago = int(time.time() * 1000) - 3600 * 1000
    server.change(("UPDATE attempts SET started_ms=? WHERE study=(SELECT id "
                   "FROM studies WHERE name='growing')", (hour_ago,)))
    units = server.job("growing")["trainingOutput"]["consumedMLUnits"]
    tap.true(0.3877 < units < 0.4, units)  # of a BASIC machine
    server.cancel("growing")


def what_was_sent_is_written_anew_when_it_is_damaged():
    server.tune("misread")
    server.cancel("misread")
    server.wait_job("misread", "CANCELLED")
    server.change(("UPDATE studies SET submitted='{' WHERE name=?",
                   ("misread",)))
    shown = server.job("misread")["trainingInput"]
    tap.equal((shown["masterConfig"], shown["region"],
               shown["hyperparameters"]["maxTrials"]),
              (IMAGE, "us-central1", 3))


def a_long_job_comes_whole():
    trials = 1201
    server.tune("long", maxTrials=5000)
    server.cancel("long")
    server.wait_job("long", "CANCELLED")
    server.stop()
    with pages.changing(os.path.join(server.data, "hypertune.db")) as db:
        (number, first), = db.execute(
            "SELECT id, next_trial FROM studies WHERE name='long'")
        point = '{"lr":0.01,"units":8,"batch":16,"opt":"adam"}'
        db.executemany(
            "INSERT INTO trials(study, id, state, params, replicate, ordinal,"
            " objective, final_metrics, reason, created_ms, started_ms,"
            " ended_ms) VALUES(?,?,?,?,?,?,?,'{}','',1,2,3)",
            [(number, i, SUCCEEDED if i < trials else FAILED, point, i, i,
              i / trials) for i in range(first, trials + 1)])
        db.executemany(
            "INSERT INTO trial_counts(study, state, n) VALUES(?,?,?)",
            [(number, SUCCEEDED, trials - first), (number, FAILED, 1)])
    server.start()
    answer = api.ask(server, "GET", JOBS + "/long")
    tap.equal(answer.headers.get("transfer-encoding"), "chunked")
    output = answer.json()["trainingOutput"]
    tap.equal([trial["trialId"] for trial in output["trials"]],
              [str(i) for i in range(trials - 1, first - 1, -1)] +
              [str(i) for i in range(1, first)] + [str(trials)])
    tap.equal(output["completedTrialCount"], str(trials - first))
    tap.equal(output["trials"][0]["hyperparameters"],
              {"lr": "0.01", "units": "8", "batch": "16", "opt": "adam"})


with aip.Server() as server:
    tap.run([
        a_job_is_shown_as_it_was_sent,
        an_enumeration_sent_as_its_number_is_shown_by_its_name,
        a_search_tells_its_trials_in_texts,
        the_best_trial_comes_first,
        a_confirmation_is_not_the_best_trial,
        a_job_without_a_search_has_no_trials,
        the_etag_changes_with_the_labels_alone,
        counts_that_were_changed_are_shown,
        jobs_of_vertex_are_shown_too,
        jobs_of_the_native_form_are_shown_too,
        jobs_of_ai_platform_are_vertex_s_too,
        studies_of_clients_and_other_projects_are_not_shown,
        an_unknown_job_is_named,
        a_head_has_no_body,
        units_are_those_of_all_replicas_of_all_attempts,
        units_of_what_runs_grow,
        what_was_sent_is_written_anew_when_it_is_damaged,
        a_long_job_comes_whole,
    ])
