"""ASHA and Hyperband through the API: trials that clients run, and jobs."""

import api
import harness
import tap
import vizier
from vizier import Study

server = None


def check(study, trial, value, step):
    """Reports a step; whether the trial is to stop then."""
    study.good("POST", trial + ":addTrialMeasurement",
               {"measurement": vizier.measured(value, step)})
    answer = study.good("POST", trial + ":checkTrialEarlyStoppingState")
    return answer["response"]["shouldStop"]


def the_worst_of_a_rung_stop():
    study = Study(server, hypertune={"earlyStopping": {
        "rule": "asha", "minSteps": 2, "maxSteps": 18}})
    trials = [study.one("client %d" % i) for i in range(6)]
    for trial in trials:
        tap.equal(check(study, trial, 9, 1), False, "before the first rung")
    stops = [check(study, trial, value, 2)
             for trial, value in zip(trials, (3, 2, 4, 1, 2.5, 0.5))]
    # Of three the best continues, of four and more two.
    tap.equal(stops, [False, False, True, False, True, False])
    shown = server.get(trials[4])
    tap.equal(shown["state"], "STOPPING")
    tap.contains("stopped early by the asha rule at step 2: "
                 "value 2.5 > needed 2 of 5 trials",
                 shown["hypertune"]["reason"])
    tap.equal(shown["hypertune"]["stop"]["rung"], 0)
    # The next rung is at step 6; at this one none is compared again.
    tap.equal(check(study, trials[0], 9, 3), False)
    tap.equal(study.good("POST", trials[4] + ":complete", {})["state"],
              "SUCCEEDED")
    tap.equal(server.get(trials[4])["hypertune"]["state"], "STOPPED")


def rungs_come_one_after_the_other():
    study = Study(server, hypertune={"earlyStopping": {
        "rule": "asha", "minSteps": 1, "maxSteps": 9, "factor": 2}})
    first, second, third = (study.one("client %d" % i) for i in range(3))
    tap.equal(check(study, first, 1, 5), False)
    # Comes to steps 1, 2 and 4 at once, and fails at the last of them.
    study.good("POST", second + ":addTrialMeasurement",
               {"measurement": vizier.measured(0, 1)})
    tap.equal(check(study, second, 2, 4), True)
    tap.equal(server.get(second)["hypertune"]["stop"]["rung"], 2)
    tap.equal(check(study, third, 0, 4), False)


def many_stops_at_the_first_rung_bring_advice():
    study = Study(server, hypertune={"earlyStopping": {
        "rule": "asha", "minSteps": 1, "maxSteps": 90, "factor": 30}})
    path = study.path
    for number in range(30):
        trial = study.one("client %d" % number)
        check(study, trial, number, 1)
        if number == 0:
            tap.equal("earlyStops" in server.get(path)["hypertuneStatus"],
                      False)
        study.good("POST", trial + ":complete", {
            "finalMeasurement": vizier.measured(number, 1)})
    # None is compared before thirty came, then one of them continues.
    tap.equal(server.get(path)["hypertuneStatus"]["earlyStops"], {
        "stopped": 1, "ended": 30, "firstRung": 1, "words":
        "early stopping ended 1 of 30 trials (3 %), 1 at their first rung"})
    for number in range(30, 300):
        trial = study.one("client %d" % number)
        check(study, trial, number, 1)
        study.good("POST", trial + ":complete", {
            "finalMeasurement": vizier.measured(number, 1)})
    stops = server.get(path)["hypertuneStatus"]["earlyStops"]
    tap.true(stops["firstRung"] > 260, stops)
    tap.contains("minSteps", stops["advice"])
    tap.contains(stops["words"] + ": " + stops["advice"], server.cli(
        "describe", path.rsplit("/", 1)[1]).stdout)


def a_study_of_clients_has_no_pauses():
    body = {"displayName": "p", "studySpec": {
        "metrics": [vizier.METRIC], "parameters": [vizier.X]},
        "hypertune": {"earlyStopping": {"rule": "asha", "pause": True}}}
    status, answer = server.call("POST", vizier.STUDIES, body)
    tap.equal(status, 400)
    violation = answer["error"]["details"][0]["fieldViolations"][0]
    tap.equal(violation["field"], "hypertune.earlyStopping.pause")


def a_job_keeps_its_rule():
    rule = {"rule": "hyperband", "maxSteps": 81, "factor": 4, "pause": True}
    job = api.job("rungs")
    job["hypertune"]["earlyStopping"] = rule
    status, made = server.call("POST", api.JOBS, job)
    tap.equal(status, 200)
    tap.equal(server.get("/v1/" + made["name"])["hypertune"]["earlyStopping"],
              rule)
    tap.equal(made["hypertuneStatus"]["counts"]["paused"], 0)
    del rule["maxSteps"]
    job["hypertune"]["name"] = "endless"
    status, answer = server.call("POST", api.JOBS, job)
    tap.equal(status, 400)
    tap.equal(answer["error"]["details"][0]["fieldViolations"][0]["field"],
              "hypertune.earlyStopping")


with harness.Server("--runner", "none") as server:
    tap.run([the_worst_of_a_rung_stop, rungs_come_one_after_the_other,
             many_stops_at_the_first_rung_bring_advice,
             a_study_of_clients_has_no_pauses, a_job_keeps_its_rule])
