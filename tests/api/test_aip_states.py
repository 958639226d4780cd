"""AI Platform's jobs: every state that they and their trials may be in."""

import aip
import harness
import tap

TUNING = "/v1/projects/p/locations/europe-west4/hyperparameterTuningJobs"

server = None

def ours(name, verb):
    server.good("POST", "/hypertune/v1/studies/%s:%s" % (name, verb))


def a_job_goes_from_queued_over_preparing_to_running():
    server.tune("steps", maxTrials=1)
    shown = server.job("steps")
    tap.equal((shown["state"], "startTime" in shown), ("QUEUED", False))
    with server.runner() as one:
        attempt = one.one()
        shown = server.job("steps")
        tap.equal((shown["state"], "startTime" in shown),
                  ("PREPARING", True))
        attempt.started()
        shown = server.job("steps")
        tap.equal((shown["state"],
                   shown["trainingOutput"]["trials"][0]["state"]),
                  ("RUNNING", "RUNNING"))
        tap.lacks("endTime", shown)
        attempt.report(0.5).ended("succeeded", exit=0)
    shown = server.wait_job("steps", "SUCCEEDED")
    tap.true(shown["createTime"] <= shown["startTime"] <= shown["endTime"],
             (shown["createTime"], shown["startTime"], shown["endTime"]))
    tap.lacks("errorMessage", shown)


def what_failed_says_why():
    server.tune("failing", maxTrials=1, maxParallelTrials=1)
    with server.runner() as one:
        one.one().fail(3)
        shown = server.job("failing")
        tap.equal((shown["state"],
                   shown["trainingOutput"]["trials"][0]["state"]),
                  ("RUNNING", "QUEUED"))  # it is tried once more
        one.one().fail(3)
    shown = server.wait_job("failing", "FAILED")
    tap.contains("exit 3", shown["errorMessage"])
    trial, = shown["trainingOutput"]["trials"]
    tap.equal((trial["state"], shown["trainingOutput"]["completedTrialCount"]),
              ("FAILED", "0"))
    tap.equal(("endTime" in trial, "finalMetric" in trial), (True, False))


def a_cancelled_job_is_cancelling_first():
    server.tune("dropped")
    with server.runner() as one:
        attempt = one.one().started()
        server.cancel("dropped")
        shown = server.job("dropped")
        tap.equal((shown["state"], "endTime" in shown), ("CANCELLING", False))
        attempt.ended("stopped", signal=15, reason="cancelled")
    shown = server.wait_job("dropped", "CANCELLED")
    tap.equal(("endTime" in shown, shown["errorMessage"] != ""), (True, True))
    tap.equal([trial["state"] for trial in shown["trainingOutput"]["trials"]],
              ["CANCELLED", "CANCELLED"])


def a_paused_job_is_what_it_would_be_otherwise():
    server.tune("paused", maxParallelTrials=1)
    ours("paused", "pause")
    tap.equal(server.job("paused")["state"], "QUEUED")
    ours("paused", "resume")
    with server.runner() as one:
        attempt = one.one().started()
        ours("paused", "pause")
        tap.equal(server.job("paused")["state"], "RUNNING")
        attempt.report(0.5).ended("succeeded", exit=0)
        tap.equal(server.job("paused")["state"], "RUNNING")
    server.cancel("paused")
    tap.equal(server.wait_job("paused", "CANCELLED")["trainingOutput"]
              ["completedTrialCount"], "1")


def a_job_that_was_stopped_has_succeeded():
    server.tune("stopped", maxParallelTrials=1)
    with server.runner() as one:
        attempt = one.one().started().report(0.7, 4)
        ours("stopped", "stop")
        tap.equal(server.job("stopped")["state"], "RUNNING")
        attempt.ended("stopped", signal=15, reason="stopped by user")
    shown = server.wait_job("stopped", "SUCCEEDED")
    trial = shown["trainingOutput"]["trials"][0]
    tap.equal((trial["state"], trial["finalMetric"]),
              ("SUCCEEDED", {"objectiveValue": 0.7, "trainingStep": "4"}))
    # By a person, not by a rule.
    tap.lacks("isTrialStoppedEarly", trial)


def a_result_that_is_no_number_has_failed():
    server.tune("nan", maxTrials=1, maxParallelTrials=1)
    with server.runner() as one:
        one.one().succeed("NaN")
    shown = server.wait_job("nan", "FAILED")
    trial, = shown["trainingOutput"]["trials"]
    tap.equal((trial["state"], "finalMetric" in trial), ("FAILED", False))


def a_trial_that_a_rule_ended_was_stopped_early():
    spec = {"metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}],
            "parameters": [{"parameterId": "x", "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}}]}
    server.good("POST", TUNING, {
        "displayName": "early", "studySpec": spec, "maxTrialCount": 3,
        "parallelTrialCount": 3,
        "trialJobSpec": {"workerPoolSpecs": [{
            "replicaCount": 1, "containerSpec": aip.IMAGE}]},
        "hypertune": {"name": "early", "earlyStopping": {
            "rule": "asha", "minSteps": 1, "maxSteps": 9}}})
    with server.runner() as one:
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
        trials = server.job("early")["trainingOutput"]["trials"]
        listed = [trial["trialId"] for trial in trials
                if trial.get("isTrialStoppedEarly")]
        tap.equal(listed, [str(worst.name["trial"])])
        trial, = [trial for trial in trials if trial["trialId"] in listed]
        tap.equal((trial["state"], "endTime" in trial), ("SUCCEEDED", True))
        server.cancel("early")
        for attempt in attempts:
            if attempt is not worst:
                attempt.ended("stopped", signal=15, reason="cancelled")
    server.wait_job("early", "CANCELLED")


with aip.Server() as server:
    tap.run([
        a_job_goes_from_queued_over_preparing_to_running,
        what_failed_says_why,
        a_cancelled_job_is_cancelling_first,
        a_paused_job_is_what_it_would_be_otherwise,
        a_job_that_was_stopped_has_succeeded,
        a_result_that_is_no_number_has_failed,
        a_trial_that_a_rule_ended_was_stopped_early,
    ])
