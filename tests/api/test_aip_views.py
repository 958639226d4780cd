"""AI Platform's jobs as they are shown: every state, trials, results, lists.

A fake runner takes images, so that trials do what a case needs."""

import base64
import copy
import os
import re
import sqlite3
import time
import urllib.parse

import api
import harness
import tap
from fake_runner import Runner

JOBS = "/v1/projects/p/jobs"
EUROPE = "/v1/projects/p/locations/europe-west4"
TUNING = EUROPE + "/hyperparameterTuningJobs"
CUSTOM = EUROPE + "/customJobs"
SUCCEEDED, FAILED = 4, 6  # tuner/rows.h
IMAGE = {"imageUri": "gcr.io/demo/trainer:latest"}
INPUT = {
    "scaleTier": "CUSTOM", "masterType": "n1-standard-4",
    "masterConfig": IMAGE, "workerCount": "2", "workerType": "standard",
    "region": "us-central1", "args": ["--epochs=10"],
    "hyperparameters": {
        "goal": "MAXIMIZE", "hyperparameterMetricTag": "accuracy",
        "algorithm": "RANDOM_SEARCH", "maxTrials": 3, "maxParallelTrials": 2,
        "params": [
            {"parameterName": "lr", "type": "DOUBLE", "minValue": 0.0001,
             "maxValue": 0.1, "scaleType": "UNIT_LOG_SCALE"},
            {"parameterName": "units", "type": "INTEGER", "minValue": 8.0,
             "maxValue": 64.0},
            {"parameterName": "batch", "type": "DISCRETE",
             "discreteValues": [16, 32.5]},
            {"parameterName": "opt", "type": "CATEGORICAL",
             "categoricalValues": ["adam", "0.10"]}]}}
PLAIN = {"masterConfig": IMAGE, "region": "us-central1",
         "enableWebAccess": False}

server = None


def good(method, path, body=None):
    status, answer = server.call(method, path, body)
    if status != 200:
        raise AssertionError("%s %s: %s" % (method, path, answer))
    return answer


def tune(name, labels=None, **search):
    """Submits a tuning job; returns it as it is answered."""
    said = copy.deepcopy(INPUT)
    said["hyperparameters"].update(search)
    return good("POST", JOBS, {"jobId": name, "trainingInput": said,
                               "labels": labels or {}})


def run_plain(name):
    return good("POST", JOBS, {"jobId": name, "trainingInput": PLAIN})


def job(name):
    return server.get(JOBS + "/" + name)


def wait_for(name, state):
    harness.wait_until(lambda: job(name)["state"] == state,
                       "%s of %s" % (state, name))
    return job(name)


def ours(name, verb):
    return good("POST", "/hypertune/v1/studies/%s:%s" % (name, verb))


def cancel(*names):
    for name in names:
        good("POST", "%s/%s:cancel" % (JOBS, name))


def runner():
    return Runner(server, images=True)


def listed(query=""):
    page = server.get(JOBS + "?" + query)
    return [shown["jobId"] for shown in page.get("jobs", [])]


def matching(text, size=100):
    return sorted(listed("pageSize=%d&filter=%s" %
                         (size, urllib.parse.quote(text))))


def refused(path):
    status, answer = server.call("GET", path)
    return status, answer["error"]["status"]


# --- one job ---

def a_job_is_shown_as_it_was_sent():
    made = tune("sent", {"team": "red", "b": ""})
    shown = job("sent")
    tap.equal(made["trainingInput"], INPUT)
    tap.equal(shown["trainingInput"], INPUT)
    tap.equal(list(shown["trainingInput"]), list(INPUT))
    tap.equal((shown["jobId"], shown["state"], shown["labels"]),
              ("sent", "QUEUED", {"team": "red", "b": ""}))
    tap.equal(sorted(shown), ["createTime", "etag", "jobId", "labels", "state",
                              "trainingInput", "trainingOutput"])
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"
    tap.equal(bool(re.match(stamp, shown["createTime"])), True)
    tap.equal(len(base64.b64decode(shown["etag"], validate=True)), 9)
    cancel("sent")


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
    made = good("POST", JOBS, {"jobId": "numbers", "trainingInput": numbered})
    tap.equal(made["trainingInput"], named)
    tap.equal(job("numbers")["trainingInput"], named)
    cancel("numbers")


def a_search_tells_its_trials_in_texts():
    tune("texts", maxTrials=2, maxParallelTrials=1)
    with runner() as one:
        one.one().succeed(0.92, step=9007199254740993)
        attempt = one.one()
        shown = job("texts")["trainingOutput"]
        attempt.succeed(0.5)
    wait_for("texts", "SUCCEEDED")
    tap.equal((shown["isHyperparameterTuningJob"],
               shown["hyperparameterMetricTag"],
               shown["completedTrialCount"]), (True, "accuracy", "1"))
    first, second = shown["trials"]
    tap.equal((first["trialId"], first["state"]), ("1", "SUCCEEDED"))
    tap.equal(first["finalMetric"], {"objectiveValue": 0.92,
                                     "trainingStep": "9007199254740993"})
    tap.equal("startTime" in first and "endTime" in first, True)
    tap.equal("isTrialStoppedEarly" in first, False)
    # A value is what stands behind --name= of the trainer.
    given = dict(word[2:].split("=", 1)
                 for word in attempt.said["paramArgs"])
    tap.equal(second["hyperparameters"], given)
    tap.equal(sorted(given), ["batch", "lr", "opt", "units"])
    tap.equal((second["trialId"], second["state"]), ("2", "PREPARING"))
    tap.equal("finalMetric" in second or "endTime" in second, False)


def the_best_trial_stands_first():
    for goal, order in (("MAXIMIZE", "2 4 3 5 1"), ("MINIMIZE", "5 3 2 4 1")):
        name = "best_" + goal.lower()
        tune(name, goal=goal, maxTrials=5, maxParallelTrials=1)
        with runner() as one:
            for _ in range(2):  # the first trial is tried once more
                one.one().fail()
            for value in (0.9, 0.5, 0.9, 0.1):
                one.one().succeed(value)
        shown = wait_for(name, "SUCCEEDED")["trainingOutput"]["trials"]
        tap.equal([trial["trialId"] for trial in shown], order.split(), goal)
        tap.equal(shown[-1]["state"], "FAILED")


def a_confirmation_is_not_the_best_trial():
    tune("confirmed", maxTrials=1, maxParallelTrials=1)
    with runner() as one:
        one.one().succeed(0.5)
        wait_for("confirmed", "SUCCEEDED")
        good("POST", "/hypertune/v1/studies/confirmed:confirm",
             {"top": 1, "seeds": 1})
        one.one().succeed(0.9)
    output = wait_for("confirmed", "SUCCEEDED")["trainingOutput"]
    tap.equal([(trial["trialId"], trial["finalMetric"]["objectiveValue"])
               for trial in output["trials"]], [("1", 0.5), ("2", 0.9)])
    tap.equal(output["completedTrialCount"], "1")


def a_job_without_a_search_has_no_trials():
    run_plain("plain")
    tap.equal(job("plain")["trainingOutput"], {"consumedMLUnits": 0})
    with runner() as one:
        one.one().succeed()
    shown = wait_for("plain", "SUCCEEDED")
    tap.equal((shown["trainingInput"], shown["trainingOutput"]),
              (PLAIN, {"consumedMLUnits": 0}))
    tap.equal("errorMessage" in shown or "labels" in shown, False)


def the_etag_changes_with_the_labels_alone():
    tune("tagged", {"a": "1", "b": "2"})
    first = job("tagged")["etag"]
    path = JOBS + "/tagged?updateMask=labels"
    good("PATCH", path, {"labels": {"b": "2", "a": "1"}})
    tap.equal(job("tagged")["etag"], first)
    good("PATCH", path, {"labels": {"a": "2", "b": "1"}})
    changed = job("tagged")
    tap.equal((changed["etag"] == first, changed["labels"]),
              (False, {"a": "2", "b": "1"}))
    good("PATCH", path, {})
    tap.equal((job("tagged")["etag"] in (first, changed["etag"]),
               "labels" in job("tagged")), (False, False))
    cancel("tagged")
    other = run_plain("untagged")["etag"]
    tap.equal(job("tagged")["etag"], other)
    cancel("untagged")


def counts_that_were_changed_are_shown():
    tune("grown", maxTrials="3")
    good("PATCH", "/hypertune/v1/studies/grown",
         {"maxTrialCount": 7, "maxFailedTrialCount": 2})
    search = job("grown")["trainingInput"]["hyperparameters"]
    tap.equal((search["maxTrials"], search["maxFailedTrials"],
               search["maxParallelTrials"]), (7, 2, 2))
    good("PATCH", "/hypertune/v1/studies/grown",
         {"maxTrialCount": 3, "maxFailedTrialCount": 0})
    tap.equal(job("grown")["trainingInput"]["hyperparameters"]["maxTrials"],
              "3")
    cancel("grown")


# --- states ---

def a_job_goes_from_queued_over_preparing_to_running():
    tune("steps", maxTrials=1)
    tap.equal((job("steps")["state"], "startTime" in job("steps")),
              ("QUEUED", False))
    with runner() as one:
        attempt = one.one()
        shown = job("steps")
        tap.equal((shown["state"], "startTime" in shown),
                  ("PREPARING", True))
        attempt.started()
        shown = job("steps")
        tap.equal((shown["state"],
                   shown["trainingOutput"]["trials"][0]["state"]),
                  ("RUNNING", "RUNNING"))
        tap.equal("endTime" in shown, False)
        attempt.report(0.5).ended("succeeded", exit=0)
    shown = wait_for("steps", "SUCCEEDED")
    tap.equal(shown["createTime"] <= shown["startTime"] <= shown["endTime"],
              True)
    tap.equal("errorMessage" in shown, False)


def what_failed_says_why():
    tune("failing", maxTrials=1, maxParallelTrials=1)
    with runner() as one:
        one.one().fail(3)
        shown = job("failing")
        tap.equal((shown["state"],
                   shown["trainingOutput"]["trials"][0]["state"]),
                  ("RUNNING", "QUEUED"))  # it is tried once more
        one.one().fail(3)
    shown = wait_for("failing", "FAILED")
    tap.equal("exit 3" in shown["errorMessage"], True, shown["errorMessage"])
    trial, = shown["trainingOutput"]["trials"]
    tap.equal((trial["state"], shown["trainingOutput"]["completedTrialCount"]),
              ("FAILED", "0"))
    tap.equal(("endTime" in trial, "finalMetric" in trial), (True, False))


def a_cancelled_job_is_cancelling_first():
    tune("dropped")
    with runner() as one:
        attempt = one.one().started()
        cancel("dropped")
        shown = job("dropped")
        tap.equal((shown["state"], "endTime" in shown), ("CANCELLING", False))
        attempt.ended("stopped", signal=15, reason="cancelled")
    shown = wait_for("dropped", "CANCELLED")
    tap.equal(("endTime" in shown, shown["errorMessage"] != ""), (True, True))
    tap.equal([trial["state"] for trial in shown["trainingOutput"]["trials"]],
              ["CANCELLED", "CANCELLED"])


def a_paused_job_is_what_it_would_be_otherwise():
    tune("paused", maxParallelTrials=1)
    ours("paused", "pause")
    tap.equal(job("paused")["state"], "QUEUED")
    ours("paused", "resume")
    with runner() as one:
        attempt = one.one().started()
        ours("paused", "pause")
        tap.equal(job("paused")["state"], "RUNNING")
        attempt.report(0.5).ended("succeeded", exit=0)
        tap.equal(job("paused")["state"], "RUNNING")
    cancel("paused")
    tap.equal(wait_for("paused", "CANCELLED")["trainingOutput"]
              ["completedTrialCount"], "1")


def a_job_that_was_stopped_has_succeeded():
    tune("stopped", maxParallelTrials=1)
    with runner() as one:
        attempt = one.one().started().report(0.7, 4)
        ours("stopped", "stop")
        tap.equal(job("stopped")["state"], "RUNNING")
        attempt.ended("stopped", signal=15, reason="stopped by user")
    shown = wait_for("stopped", "SUCCEEDED")
    trial = shown["trainingOutput"]["trials"][0]
    tap.equal((trial["state"], trial["finalMetric"]),
              ("SUCCEEDED", {"objectiveValue": 0.7, "trainingStep": "4"}))
    # By a person, not by a rule.
    tap.equal("isTrialStoppedEarly" in trial, False)


def a_result_that_is_no_number_has_failed():
    tune("nan", maxTrials=1, maxParallelTrials=1)
    with runner() as one:
        one.one().succeed("NaN")
    shown = wait_for("nan", "FAILED")
    trial, = shown["trainingOutput"]["trials"]
    tap.equal((trial["state"], "finalMetric" in trial), ("FAILED", False))


def a_trial_that_a_rule_ended_was_stopped_early():
    spec = {"metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}],
            "parameters": [{"parameterId": "x", "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}}]}
    good("POST", TUNING, {
        "displayName": "early", "studySpec": spec, "maxTrialCount": 3,
        "parallelTrialCount": 3,
        "trialJobSpec": {"workerPoolSpecs": [{
            "replicaCount": 1, "containerSpec": IMAGE}]},
        "hypertune": {"name": "early", "earlyStopping": {
            "rule": "asha", "minSteps": 1, "maxSteps": 9}}})
    with runner() as one:
        attempts = []
        while len(attempts) < 3:
            attempts += one.lease(3)
        for attempt, value in zip(attempts, (0.9, 0.8, 0.1)):
            attempt.started().report(value, 1)
        stops = harness.wait_until(
            lambda: one.tell("heartbeat", attempts=[
                attempt.name for attempt in attempts])["stop"], "a stop")
        worst, = [attempt for attempt in attempts
                  if attempt.name["trial"] == stops[0]["trial"]]
        worst.ended("stopped", signal=15, reason="told to stop")
        trials = job("early")["trainingOutput"]["trials"]
        told = [trial["trialId"] for trial in trials
                if trial.get("isTrialStoppedEarly")]
        tap.equal(told, [str(worst.name["trial"])])
        trial, = [trial for trial in trials if trial["trialId"] in told]
        tap.equal((trial["state"], "endTime" in trial), ("SUCCEEDED", True))
        cancel("early")
        for attempt in attempts:
            if attempt is not worst:
                attempt.ended("stopped", signal=15, reason="cancelled")
    wait_for("early", "CANCELLED")


# --- views of the same objects ---

def jobs_of_vertex_are_shown_too():
    made = good("POST", TUNING, {
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
    shown = job("vertex_one")
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
    tap.equal(job(number)["jobId"], "vertex_one")
    cancel("vertex_one")
    tap.equal(server.get("/v1/" + made["name"])["state"],
              "JOB_STATE_CANCELLED")
    good("POST", CUSTOM, {"displayName": "c", "jobSpec": {"workerPoolSpecs": [
        {"replicaCount": 1, "containerSpec": IMAGE}]},
        "hypertune": {"name": "vertex_plain"}})
    shown = job("vertex_plain")
    tap.equal((shown["trainingInput"], shown["trainingOutput"]),
              ({"masterConfig": IMAGE, "region": "europe-west4"},
               {"consumedMLUnits": 0}))
    cancel("vertex_plain")


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
    good("POST", path + "/native:cancel")
    wanted = ("CANCELLED", "CANCELLED")
    tap.equal((server.get(path + "/native")["state"],
               server.study("native")["state"]), wanted)


def jobs_of_ai_platform_are_vertex_s_too():
    tune("shared")
    run_plain("shared_plain")
    place = "/v1/projects/p/locations/us-central1/"
    other = server.get(place + "hyperparameterTuningJobs/shared")
    tap.equal((other["displayName"], other["maxTrialCount"],
               other["hypertuneStatus"]["name"]), ("shared", 3, "shared"))
    tap.equal(server.get(place + "customJobs/shared_plain")["displayName"],
              "shared_plain")
    cancel("shared", "shared_plain")


def studies_of_clients_and_other_projects_are_not_shown():
    good("POST", EUROPE + "/studies", {
        "displayName": "clients", "studySpec": api.JOB["studySpec"]})
    name = server.get(EUROPE + "/studies")["studies"][0]["hypertuneStatus"]
    tap.equal(refused(JOBS + "/" + name["name"]), (404, "NOT_FOUND"))
    tap.equal(name["name"] in listed("pageSize=100"), False)
    run_plain("mine")
    tap.equal(refused("/v1/projects/q/jobs/mine"), (404, "NOT_FOUND"))
    tap.equal(server.get("/v1/projects/q/jobs"), {"jobs": []})
    cancel("mine")


def an_unknown_job_is_named():
    status, answer = server.call("GET", JOBS + "/nobody")
    tap.equal((status, answer["error"]["message"]),
              (404, "there is no job nobody in project p"))


def a_head_has_no_body():
    run_plain("headed")
    for path in (JOBS, JOBS + "/headed"):
        answer = api.ask(server, "HEAD", path)
        tap.equal((answer.status, answer.body), (200, b""))
    cancel("headed")


# --- lists ---

class Project:
    """Jobs of a project of their own, the newest first."""

    def __init__(self, name, jobs):
        self.path = "/v1/projects/%s/jobs" % name
        self.names = ["%s_%02d" % (name, i) for i in range(jobs)][::-1]
        for made in reversed(self.names):
            self.add(made)

    def add(self, name):
        good("POST", self.path, {"jobId": name, "trainingInput": PLAIN})

    def page(self, query):
        answer = server.get(self.path + "?" + query)
        return ([shown["jobId"] for shown in answer["jobs"]],
                answer.get("nextPageToken"))


def pages_of_any_size_hold_every_job_once():
    project = Project("paged", 23)
    for size in (1, 2, 20):
        found, token = [], ""
        while token is not None:
            names, token = project.page("pageSize=%d&pageToken=%s" % (
                size, urllib.parse.quote(token, safe="")))
            tap.equal(len(names) <= size, True)
            found += names
            if len(found) == 20:  # does not come into the pages behind
                project.add("late_%d" % size)
        tap.equal([name for name in found if "late" not in name],
                  project.names)


def a_page_is_of_twenty_and_at_most_a_hundred():
    project = Project("sized", 21)
    for query in ("", "pageSize=0"):
        names, token = project.page(query)
        tap.equal((names, token is None), (project.names[:20], False))
    names, token = project.page("pageSize=21")
    tap.equal((names, token), (project.names, None))
    tap.equal(len(project.page("pageSize=1000")[0]), 21)
    project = Project("many", 101)
    names, token = project.page("pageSize=1000")
    tap.equal((names, token is None), (project.names[:100], False))
    tap.equal(project.page("pageSize=1000&pageToken=" +
                           urllib.parse.quote(token, safe="")),
              (project.names[100:], None))


def a_strange_page_is_refused():
    project = Project("strange", 3)
    for query in ("pageToken=t%2F%2B%3D%261", "pageToken=99x", "pageSize=-1",
                  "pageSize=many", "pageToken=-5"):
        tap.equal(refused(project.path + "?" + query),
                  (400, "INVALID_ARGUMENT"), query)
    _, token = project.page("pageSize=1&filter=state:QUEUED")
    token = urllib.parse.quote(token, safe="")
    tap.equal(project.page("pageSize=1&filter=state:QUEUED&pageToken=" +
                           token)[0], project.names[1:2])
    for other in ("", "&filter=state:FAILED"):
        tap.equal(refused("%s?pageSize=1%s&pageToken=%s" % (
            project.path, other, token)), (400, "INVALID_ARGUMENT"), other)


def a_list_leaves_the_trials_out():
    tune("listed")
    harness.wait_until(lambda: job("listed")["trainingOutput"]["trials"],
                       "trials")
    shown, = [shown for shown in server.get(JOBS + "?pageSize=100")["jobs"]
              if shown["jobId"] == "listed"]
    whole = job("listed")
    del whole["trainingOutput"]["trials"]
    tap.equal(shown, whole)
    cancel("listed")


def jobs_are_filtered():
    for i, state in enumerate(("rnn_a", "rnn_b", "cnn_a")):
        tune(state, {"team": "red" if i == 0 else "blue", "n": str(i)})
    cancel("rnn_b")
    wait_for("rnn_b", "CANCELLED")
    tap.equal(matching("jobId:rnn*"), ["rnn_a", "rnn_b"])
    tap.equal(matching("jobId=rnn*"), [])
    tap.equal(matching("jobId:*nn_a AND state:QUEUED"), ["cnn_a", "rnn_a"])
    tap.equal(matching("jobId:rnn* AND state:CANCELLED"), ["rnn_b"])
    tap.equal(matching("job_id = \"rnn_a\""), ["rnn_a"])
    tap.equal(matching("jobId:rnn* AND NOT state=QUEUED"), ["rnn_b"])
    tap.equal(matching("(jobId=cnn_a OR jobId=rnn_b) AND -state=QUEUED"),
              ["rnn_b"])
    tap.equal(matching("labels.team=blue AND jobId:*nn_*"),
              ["cnn_a", "rnn_b"])
    tap.equal(matching("labels.team=blue AND state!=CANCELLED"), ["cnn_a"])
    tap.equal(matching("labels:n AND labels.n:0"), ["rnn_a"])
    made, ended = job("rnn_a")["createTime"], job("rnn_b")["endTime"]
    tap.equal(matching("jobId:*nn_* AND createTime<=\"%s\"" % made),
              ["rnn_a"])
    tap.equal(matching("jobId:*nn_* AND endTime>=\"%s\"" % ended), ["rnn_b"])
    tap.equal(matching("jobId:*nn_* AND startTime>\"2020-01-01T00:00:00Z\""),
              [])
    tap.equal(matching("jobId:*nn_* AND state=RUNNING"), [])
    cancel("rnn_a", "cnn_a")


def filters_see_what_is_preparing():
    run_plain("pulling")
    with runner() as one:
        attempt = one.one()
        tap.equal(matching("state=PREPARING"), ["pulling"])
        attempt.started()
        tap.equal((matching("state=PREPARING"),
                   matching("jobId=pulling AND state=RUNNING")),
                  ([], ["pulling"]))
        attempt.ended("succeeded", exit=0)
    wait_for("pulling", "SUCCEEDED")


def a_wrong_filter_is_refused():
    for text in ("jobId", "jobId:", "jobId<a", "state=", "color=red",
                 "displayName=x", "createTime>yesterday", "jobId=a AND",
                 "(jobId=a", "jobId=a jobId=b)", "labels=x"):
        tap.equal(refused(JOBS + "?filter=" + urllib.parse.quote(text)),
                  (400, "INVALID_ARGUMENT"), text)


def a_deleted_job_is_gone():
    run_plain("gone")
    cancel("gone")
    good("DELETE", "/hypertune/v1/studies/gone")
    tap.equal(refused(JOBS + "/gone"), (404, "NOT_FOUND"))
    tap.equal(matching("jobId=gone"), [])


# --- what cannot be had by asking ---

def change(*statements):
    """Changes the file of a server that is down meanwhile."""
    server.stop()
    with sqlite3.connect(os.path.join(server.data, "hypertune.db")) as db:
        for sql, values in statements:
            db.execute(sql, values)
    db.close()
    server.start()


def units_are_those_of_all_replicas_of_all_attempts():
    tune("billed", maxTrials=1, maxParallelTrials=1)
    with runner() as one:
        one.one().fail(3)
        one.one().succeed(0.5)
    wait_for("billed", "SUCCEEDED")
    change(("UPDATE attempts SET started_ms=1000, ended_ms=1000+1800000*n "
            "WHERE study=(SELECT id FROM studies WHERE name=?)", ("billed",)))
    # Half an hour and an hour of a master and two workers of 4 cores.
    tap.equal(job("billed")["trainingOutput"]["consumedMLUnits"],
              round(1.5 * 3 * 0.19 / 0.49, 4))


def units_of_what_runs_grow():
    run_plain("growing")
    with runner() as one:
        one.one().started()
    tap.equal(job("growing")["trainingOutput"]["consumedMLUnits"] < 0.01, True)
    hour_ago = int(time.time() * 1000) - 3600 * 1000
    change(("UPDATE attempts SET started_ms=? WHERE study=(SELECT id FROM "
            "studies WHERE name='growing')", (hour_ago,)))
    units = job("growing")["trainingOutput"]["consumedMLUnits"]
    tap.equal(0.3877 < units < 0.4, True, units)  # of a BASIC machine
    cancel("growing")


def damage_hides_no_other_job():
    for name in ("before", "torn", "behind"):
        tune(name, {"team": "torn"})
        cancel(name)
        wait_for(name, "CANCELLED")
    change(("UPDATE studies SET spec='{\"a\":' WHERE name=?", ("torn",)))
    tap.equal(listed("pageSize=3"), ["behind", "torn", "before"])
    tap.equal(matching("labels.team=torn"), ["before", "behind"])
    tap.equal(matching("jobId=torn AND state=CANCELLED"), ["torn"])
    shown = job("torn")
    tap.equal(sorted(shown), ["createTime", "endTime", "errorMessage", "jobId",
                              "state"])
    tap.equal("damaged" in shown["errorMessage"], True, shown)
    tap.equal(server.get("/hypertune/v1/server")["readOnly"], False)


def what_was_sent_is_written_anew_when_it_is_damaged():
    tune("misread")
    cancel("misread")
    wait_for("misread", "CANCELLED")
    change(("UPDATE studies SET submitted='{' WHERE name=?", ("misread",)))
    shown = job("misread")["trainingInput"]
    tap.equal((shown["masterConfig"], shown["region"],
               shown["hyperparameters"]["maxTrials"]),
              (IMAGE, "us-central1", 3))


def a_long_job_comes_whole():
    trials = 1201
    tune("long", maxTrials=5000)
    cancel("long")
    wait_for("long", "CANCELLED")
    server.stop()
    with sqlite3.connect(os.path.join(server.data, "hypertune.db")) as db:
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
    db.close()
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


with harness.Server("--runner", "none") as server:
    tap.run([
        a_job_is_shown_as_it_was_sent,
        an_enumeration_sent_as_its_number_is_shown_by_its_name,
        a_search_tells_its_trials_in_texts,
        the_best_trial_stands_first,
        a_confirmation_is_not_the_best_trial,
        a_job_without_a_search_has_no_trials,
        the_etag_changes_with_the_labels_alone,
        counts_that_were_changed_are_shown,
        a_job_goes_from_queued_over_preparing_to_running,
        what_failed_says_why,
        a_cancelled_job_is_cancelling_first,
        a_paused_job_is_what_it_would_be_otherwise,
        a_job_that_was_stopped_has_succeeded,
        a_result_that_is_no_number_has_failed,
        a_trial_that_a_rule_ended_was_stopped_early,
        jobs_of_vertex_are_shown_too,
        jobs_of_the_native_form_are_shown_too,
        jobs_of_ai_platform_are_vertex_s_too,
        studies_of_clients_and_other_projects_are_not_shown,
        an_unknown_job_is_named,
        a_head_has_no_body,
        units_are_those_of_all_replicas_of_all_attempts,
        units_of_what_runs_grow,
        filters_see_what_is_preparing,
        # From here on many jobs wait.
        pages_of_any_size_hold_every_job_once,
        a_page_is_of_twenty_and_at_most_a_hundred,
        a_strange_page_is_refused,
        a_list_leaves_the_trials_out,
        jobs_are_filtered,
        a_wrong_filter_is_refused,
        a_deleted_job_is_gone,
        damage_hides_no_other_job,
        what_was_sent_is_written_anew_when_it_is_damaged,
        a_long_job_comes_whole,
    ])
