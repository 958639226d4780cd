"""Trials that clients evaluate: added, measured, completed, stopped, deleted."""

import api
import harness
import tap
import vizier
from vizier import BATCH, LAYERS, METRIC, OPT, Study, X, measured

server = None

INVALID = (400, "INVALID_ARGUMENT")
PRECONDITION = (400, "FAILED_PRECONDITION")


def an_added_trial_with_a_measurement_is_completed_at_once():
    study = Study(server, X, LAYERS, BATCH, OPT)
    trial = study.add({"x": 0.25, "layers": 3, "batch": 32.5, "opt": "b"},
                      finalMeasurement=measured(0.5, 7, elapsedDuration="2.5s"))
    tap.equal((trial["id"], trial["state"], trial["name"]),
              ("1", "SUCCEEDED", study.name + "/trials/1"))
    tap.equal(trial["parameters"], vizier.parameters(
        x=0.25, layers=3, batch=32.5, opt="b"))
    final = trial["finalMeasurement"]
    tap.equal((final["stepCount"], final["metrics"],
               float(final["elapsedDuration"][:-1])),
              ("7", [{"metricId": "loss", "value": 0.5}], 2.5))
    tap.contains("endTime", trial)
    tap.equal(server.get("/v1/" + trial["name"]), trial)


def values_may_be_numbers_or_texts():
    study = Study(server, X, LAYERS, BATCH, OPT)
    trial = study.add({"x": "0.25", "layers": "3", "batch": "16", "opt": "a"},
                      finalMeasurement={"stepCount": 1, "metrics": [
                          {"metricId": "loss", "value": "0.5"}]})
    tap.equal(vizier.values(trial["parameters"]),
              {"x": 0.25, "layers": 3, "batch": 16, "opt": "a"})
    # protobuf leaves zeros out
    zero = study.add({"x": 0, "layers": 1, "batch": 16, "opt": "a"},
                     finalMeasurement={"metrics": [{"metricId": "loss"}]})
    tap.equal(zero["finalMeasurement"]["metrics"],
              [{"metricId": "loss", "value": 0}])


def a_wrong_point_names_every_wrong_parameter():
    study = Study(server, X, LAYERS, OPT)
    path = study.path + "/trials"

    def fields(point):
        return study.refused("POST", path, {"parameters": point})[2]
    tap.equal(fields(vizier.parameters(x=2, layers=1.5, opt="z")),
              ["parameters[%d].value" % i for i in range(3)])
    tap.equal(fields(vizier.parameters(x=0.5, layers=1, opt="a", y=1)),
              ["parameters[3].parameterId"])
    tap.equal(fields(vizier.parameters(x=0.5, layers=1, opt="a") +
                     vizier.parameters(x=0.6)), ["parameters[3].parameterId"])
    tap.equal(fields([{"parameterId": "x"}]), ["parameters[0].value"])
    tap.equal(fields("x=1"), ["parameters"])
    tap.equal(study.refused("POST", path, {}), INVALID + (["parameters"],))
    tap.equal(study.refused("POST", path, {"colour": 1, "state": "LOST"}),
              INVALID + (["colour", "parameters", "state"],))
    tap.equal(study.trials(), [])


def conditions_decide_which_parameters_there_are():
    child = {"parameterSpec": {
        "parameterId": "momentum",
        "doubleValueSpec": {"minValue": 0, "maxValue": 1}},
        "parentCategoricalValues": {"values": ["b"]}}
    study = Study(server, dict(OPT, conditionalParameterSpecs=[child]))
    trial = study.add({"opt": "a"}, finalMeasurement=measured(1))
    tap.equal(vizier.values(trial["parameters"]), {"opt": "a"})
    tap.equal(vizier.values(study.add({"opt": "b", "momentum": 0.5})
                            ["parameters"]), {"opt": "b", "momentum": 0.5})
    path = study.path + "/trials"
    tap.equal(study.refused("POST", path, {
        "parameters": vizier.parameters(opt="a", momentum=0.5)}),
              INVALID + (["parameters[1].value"],))
    # A result belongs to a whole point.
    for wrong in ({"opt": "b"}, {"opt": "a", "momentum": 0.5}):
        tap.equal(study.refused("POST", path, {
            "parameters": vizier.parameters(**wrong),
            "finalMeasurement": measured(1)}), INVALID + (["parameters"],))
    for trial in study.suggest(8)["trials"]:
        point = vizier.values(trial["parameters"])
        tap.equal("momentum" in point, point["opt"] == "b")


def children_may_share_a_name():
    def child(value, low, high):
        return {"parameterSpec": {
            "parameterId": "rate",
            "doubleValueSpec": {"minValue": low, "maxValue": high}},
            "parentCategoricalValues": {"values": [value]}}
    study = Study(server, dict(OPT, conditionalParameterSpecs=[
        child("a", 0, 1), child("b", 10, 20)]))
    study.add({"opt": "a", "rate": 0.5}, finalMeasurement=measured(1))
    study.add({"rate": 15, "opt": "b"}, finalMeasurement=measured(2))
    tap.equal(study.refused("POST", study.path + "/trials", {
        "parameters": vizier.parameters(opt="b", rate=0.5)}),
        INVALID + (["parameters[1].value"],))
    for trial in study.suggest(12)["trials"]:
        point = vizier.values(trial["parameters"])
        low, high = (0, 1) if point["opt"] == "a" else (10, 20)
        tap.true(low <= point["rate"] <= high, point)


def the_same_point_may_be_added_again():
    study = Study(server)
    for n in range(3):
        trial = study.add({"x": 0.5}, finalMeasurement=measured(n))
        tap.equal(trial["id"], str(n + 1))
    tap.equal(len(study.trials()), 3)


def an_added_trial_is_given_to_the_next_client():
    study = Study(server)
    added = study.add({"x": 0.125})
    tap.equal((added["state"], "startTime" in added), ("REQUESTED", False))
    given, = study.suggest(1, "worker")["trials"]
    tap.equal((given["id"], given["state"], given["clientId"]),
              (added["id"], "ACTIVE", "worker"))
    mine = study.add({"x": 0.25}, state="ACTIVE", clientId="other")
    tap.equal((mine["state"], mine["clientId"]), ("ACTIVE", "other"))
    tap.equal(study.suggest(1, "other")["trials"][0]["id"], mine["id"])


def a_trial_may_be_added_as_infeasible():
    study = Study(server)
    trial = study.add({"x": 0.5}, infeasibleReason="the disk is too small")
    tap.equal((trial["state"], trial["infeasibleReason"]),
              ("INFEASIBLE", "the disk is too small"))
    tap.equal(study.add({"x": 0.5}, state="INFEASIBLE")["state"], "INFEASIBLE")
    tap.equal(study.refused("POST", study.path + "/trials", {
        "parameters": vizier.parameters(x=1), "state": "SUCCEEDED"}),
        INVALID + (["finalMeasurement"],))


def measurements_come_one_after_the_other():
    study = Study(server)
    trial = study.one()

    def add(measurement):
        return study.good("POST", trial + ":addTrialMeasurement",
                          {"measurement": measurement})
    add(measured(3, 1, elapsedDuration="1s"))
    add(measured("NaN", 2, elapsedDuration="1.5s"))
    shown = add(measured(2, 2, elapsedDuration="2.250s"))
    add(measured(1, 5))
    tap.equal([item["stepCount"] for item in shown["measurements"]],
              ["1", "2", "2"])
    tap.equal(shown["measurements"][1]["metrics"],
              [{"metricId": "loss", "value": "NaN"}])
    tap.equal(float(shown["measurements"][2]["elapsedDuration"][:-1]), 2.25)
    for late in (measured(1, 4), measured(1, 5), measured(1),
                 measured(1, 5, elapsedDuration="0.001s")):
        tap.equal(study.refused("POST", trial + ":addTrialMeasurement",
                                {"measurement": late}),
                  INVALID + (["measurement"],), late)
    listed, = study.trials()
    tap.equal(len(listed["measurements"]), 4)
    rows = server.measurements(study.name.rsplit("/", 1)[1], 1)
    tap.equal([row["step"] for row in rows], ["1", "2", "2", "5"])


def several_measurements_come_at_once_or_not_at_all():
    study = Study(server)
    trial = study.one()
    method = trial + ":addTrialMeasurement"
    shown = study.good("POST", method, {"measurements": [
        measured(n, n) for n in range(1, 121)]})
    tap.equal([int(item["stepCount"]) for item in shown["measurements"]],
              list(range(1, 121)))
    tap.equal(server.get(trial)["hypertune"]["latest"]["step"], "120")
    for wrong, fields in (
            ([measured(1, 121), measured(1, 122), measured(1, 122)],
             ["measurements[2]"]),
            ([measured(1, 121), {}], ["measurements[1].metrics"]),
            ({}, ["measurements"])):
        tap.equal(study.refused("POST", method, {"measurements": wrong}),
                  INVALID + (fields,), wrong)
    tap.equal(study.refused("POST", method, {
        "measurement": measured(1, 121), "measurements": []}),
              INVALID + (["measurement"],))
    tap.equal(len(server.get(trial)["measurements"]), 120)


def a_wrong_measurement_names_every_fault():
    study = Study(server)
    trial = study.one()
    for wrong, fields in (
            ({}, ["measurement"]),
            ({"measurement": {}}, ["measurement.metrics"]),
            ({"measurement": {"metrics": [{"metricId": "other", "value": 1},
                                          {"value": 1},
                                          {"metricId": "loss",
                                           "value": "much"}]}},
             ["measurement.metrics[0].metricId",
              "measurement.metrics[1].metricId",
              "measurement.metrics[2].value"]),
            ({"measurement": measured(1, -1)}, ["measurement.stepCount"]),
            ({"measurement": measured(1, elapsedDuration="soon")},
             ["measurement.elapsedDuration"]),
            ({"measurement": measured(1), "more": 1}, ["more"])):
        tap.equal(study.refused("POST", trial + ":addTrialMeasurement", wrong),
                  INVALID + (fields,), wrong)
    tap.equal(server.get(trial)["measurements"], [])


def a_value_that_is_no_double_is_shown_as_it_came():
    study = Study(server)
    method = study.one() + ":addTrialMeasurement"
    for value, why in (("1e999", "1e999 is beyond the range of a double"),
                       ('"nan"', 'must be a number, is "nan"'),
                       ("[1]", "must be a number, not a list")):
        body = ('{"measurement":{"metrics":[{"metricId":"loss",'
                '"value":%s}]}}' % value).encode()
        answer = api.exchange(server, api.head(
            server, "POST", method, "Content-Type: application/json",
            "Content-Length: %d" % len(body)) + body)
        tap.equal((answer.status, answer.error()["message"]),
                  (400, "measurement.metrics[0].value: " + why))


def a_trial_is_completed_once():
    study = Study(server)
    trial = study.one()
    done = study.good("POST", trial + ":complete",
                      {"finalMeasurement": measured(0.5, 3)})
    tap.equal((done["state"], done["finalMeasurement"]["stepCount"]),
              ("SUCCEEDED", "3"))
    for method, body in ((":complete", {"finalMeasurement": measured(1)}),
                         (":addTrialMeasurement",
                          {"measurement": measured(1)}), (":stop", {})):
        tap.equal(study.refused("POST", trial + method, body),
                  PRECONDITION + ([],))
    tap.equal(server.get(trial)["finalMeasurement"]["metrics"],
              [{"metricId": "loss", "value": 0.5}])


def a_wrong_completion_changes_nothing():
    second = {"metricId": "size", "goal": "MINIMIZE"}
    study = Study(server, metrics=[METRIC, second])
    trial = study.one()
    for wrong, fields in (
            ({"finalMeasurement": {"stepCount": "1"}},
             ["finalMeasurement.metrics"]),
            ({"finalMeasurement": measured(1)}, ["finalMeasurement.metrics"]),
            ({"finalMeasurement": {"metrics": [
                {"metricId": "depth", "value": 1}]}},
             ["finalMeasurement.metrics[0].metricId"]),
            ({"trialInfeasible": "yes"}, ["trialInfeasible"]),
            ({"trialInfeasible": False, "infeasibleReason": "diverged"},
             ["infeasibleReason"]),
            ({"infeasibleReason": "diverged"}, ["infeasibleReason"]),
            ({"done": True}, ["done"])):
        tap.equal(study.refused("POST", trial + ":complete", wrong),
                  INVALID + (fields,), wrong)
    tap.equal(server.get(trial)["state"], "ACTIVE")


def a_feasible_trial_may_be_said_to_be_so():
    study = Study(server)
    done = study.good("POST", study.one() + ":complete", {
        "trialInfeasible": False, "infeasibleReason": "",
        "finalMeasurement": measured(1)})
    tap.equal(done["state"], "SUCCEEDED")


def a_trial_without_an_objective_is_infeasible():
    study = Study(server)
    for value in ("NaN", "Infinity", "-Infinity"):
        done = study.complete(study.one(), value)
        tap.equal(done["state"], "INFEASIBLE")
        tap.contains(value, done["infeasibleReason"])
    done = study.good("POST", study.one() + ":complete", {
        "trialInfeasible": True, "infeasibleReason": "diverged",
        "finalMeasurement": measured(1)})
    tap.equal((done["state"], done["infeasibleReason"],
               "finalMeasurement" in done), ("INFEASIBLE", "diverged", False))


def the_final_measurement_is_chosen_as_the_study_has_it():
    for kind, step in (("LAST_MEASUREMENT", "3"), ("BEST_MEASUREMENT", "2"),
                       (2, "2"), (None, "3")):
        more = {"measurementSelectionType": kind} if kind else {}
        study = Study(server, **more)
        trial = study.one()
        tap.equal(study.refused("POST", trial + ":complete", {}),
                  PRECONDITION + ([],))
        for n, value in ((1, 5), (2, 1), (3, 3)):
            study.good("POST", trial + ":addTrialMeasurement",
                       {"measurement": measured(value, n)})
        done = study.good("POST", trial + ":complete", {})
        tap.equal(done["finalMeasurement"]["stepCount"], step, kind)


def the_best_measurement_is_never_nan():
    study = Study(server, measurementSelectionType="BEST_MEASUREMENT")
    trial = study.one()
    for n, value in ((1, "NaN"), (2, 4), (3, 4), (4, "NaN")):
        study.good("POST", trial + ":addTrialMeasurement",
                   {"measurement": measured(value, n)})
    done = study.good("POST", trial + ":complete", {})
    tap.equal((done["state"], done["finalMeasurement"]["stepCount"]),
              ("SUCCEEDED", "2"))


def a_stopped_trial_waits_for_its_client():
    study = Study(server)
    trial = study.one()

    def should_stop():
        answer = study.good("POST", trial + ":checkTrialEarlyStoppingState")
        tap.equal(answer["done"], True)
        tap.equal(answer["response"]["@type"], vizier.TYPE +
                  "CheckTrialEarlyStoppingStateResponse")
        tap.equal((answer["metadata"]["@type"], answer["metadata"]["study"],
                   answer["metadata"]["trial"]),
                  (vizier.TYPE + "CheckTrialEarlyStoppingStateMetatdata",
                   study.name, trial[4:]))
        tap.equal(server.get("/ui/" + answer["name"]), answer)
        return answer["response"]["shouldStop"]
    tap.equal(should_stop(), False)
    tap.equal(study.good("POST", trial + ":stop")["state"], "STOPPING")
    tap.equal(should_stop(), True)
    # No one is given it again, though it is still out.
    tap.true(study.one() != trial)
    done = study.complete(trial, 0.5)
    tap.equal((done["state"], done["hypertune"]["state"]),
              ("SUCCEEDED", "STOPPED"))
    other = study.one()
    study.good("POST", other + ":stop")
    tap.equal(study.good("POST", other + ":complete",
                         {"trialInfeasible": True})["state"], "INFEASIBLE")


def the_median_rule_stops_what_falls_behind():
    study = Study(server, medianAutomatedStoppingSpec={})
    for value in (1, 2, 3, 4, 5):
        trial = study.one()
        for step in range(1, 11):
            study.good("POST", trial + ":addTrialMeasurement",
                       {"measurement": measured(value, step)})
        study.good("POST", trial + ":complete", {})
    for value, stop in ((3.5, True), (2.5, False), (3, False)):
        trial = study.one("client %g" % value)
        path = trial + ":checkTrialEarlyStoppingState"
        for step in (1, 2, 3, 4):
            # Nothing is known yet, then too little.
            tap.equal(study.good("POST", path)["response"]["shouldStop"],
                      False)
            study.good("POST", trial + ":addTrialMeasurement",
                       {"measurement": measured(value, step)})
        tap.equal(study.good("POST", path)["response"]["shouldStop"], stop,
                  value)
        shown = server.get(trial)
        tap.equal(shown["state"], "STOPPING" if stop else "ACTIVE")
        tap.equal("median rule at step 4: best 3.5 > median 3 of 5 trials"
                  in shown["hypertune"]["reason"], stop)
        record = shown["hypertune"].get("stop", {})
        tap.equal([record.get(key) for key in
                   ("rule", "metric", "at", "value", "threshold", "trials",
                    "curve")],
                  ["median", "loss", 4, 3.5, 3, 5,
                   [[step, 3.5] for step in (1, 2, 3, 4)]]
                  if stop else [None] * 7)


def a_deleted_trial_is_gone_and_forgotten():
    study = Study(server, OPT, algorithm="GRID_SEARCH")
    points = []
    for _ in range(2):
        trial, = study.suggest()["trials"]
        points.append(vizier.values(trial["parameters"])["opt"])
        study.complete("/v1/" + trial["name"], 1)
    tap.equal(sorted(points), ["a", "b"])
    other = Study(server, OPT, LAYERS, algorithm="GRID_SEARCH")
    every = other.suggest(8)["trials"]
    tap.equal(other.suggest(9)["trials"], every)
    path = "/v1/" + every[3]["name"]
    tap.equal(server.call("DELETE", path), (200, {}))
    tap.equal(other.refused("GET", path)[:2], (404, "NOT_FOUND"))
    tap.equal(other.refused("DELETE", path)[:2], (404, "NOT_FOUND"))
    tap.equal(len(other.trials()), 7)
    again = other.suggest(8)["trials"][-1]
    tap.equal((again["id"], again["parameters"]),
              ("9", every[3]["parameters"]))
    counts = server.get(other.path)["hypertuneStatus"]["counts"]
    tap.equal(counts["active"], 8)
    events = server.get(api.OURS + "/studies/%s/events" %
                        other.name.rsplit("/", 1)[1])["events"]
    tap.equal([event["trial"] for event in events
               if event["kind"] == "trial.deleted"], [4])


def optimal_trials_are_the_best_or_the_front():
    study = Study(server)
    path = "/trials:listOptimalTrials"
    tap.equal(study.good("POST", study.path + path), {"optimalTrials": []})
    for x, loss in ((0.1, 3), (0.2, 1), (0.3, 1), (0.4, "NaN")):
        study.add({"x": x}, finalMeasurement=measured(loss))
    best, = study.good("POST", study.path + path)["optimalTrials"]
    tap.equal(best["id"], "2")
    study = Study(server, metrics=[METRIC, {"metricId": "speed",
                                            "goal": "MAXIMIZE"}])
    for loss, speed in ((1, 1), (2, 3), (2, 2), (3, 3), (3, 4), (1, 1)):
        study.add({"x": 0.5}, finalMeasurement={"metrics": [
            {"metricId": "speed", "value": speed},
            {"metricId": "loss", "value": loss}]})
    front = study.good("POST", study.path + path)["optimalTrials"]
    tap.equal([trial["id"] for trial in front], ["1", "2", "5", "6"])
    tap.equal(study.refused("POST", study.path + path, {"top": 1}),
              INVALID + (["top"],))


def trials_are_listed_in_pages():
    study = Study(server)
    study.suggest(5)
    pages, token = [], ""
    while True:
        page = server.get(study.path + "/trials?pageSize=2" +
                          ("&pageToken=" + token if token else ""))
        pages.append([trial["id"] for trial in page["trials"]])
        token = page.get("nextPageToken", "")
        if not token:
            break
    tap.equal(pages, [["1", "2"], ["3", "4"], ["5"]])


def what_does_not_exist_is_not_found():
    study = Study(server)
    trial = study.path + "/trials/7"
    for method, path in (("GET", trial), ("DELETE", trial),
                         ("POST", trial + ":complete"),
                         ("POST", trial + ":stop"),
                         ("POST", trial + ":addTrialMeasurement"),
                         ("POST", trial + ":checkTrialEarlyStoppingState"),
                         ("POST", study.path[:-1] + "x/trials"),
                         ("GET", study.path + "/trials/x"),
                         ("POST", study.path + "/trials/1x:stop")):
        status, answer = server.call(method, path)
        tap.equal((status, answer["error"]["status"]), (404, "NOT_FOUND"),
                  path)
    tap.equal(server.call("POST", trial + ":restart")[0], 404)
    tap.equal(server.call("PATCH", trial)[0], 405)


def an_ended_study_takes_no_more():
    study = Study(server, studyStoppingConfig={"maxNumTrials": 2})
    first, second = study.suggest(5)["trials"]
    answer = study.suggest(1, "late")
    tap.equal((answer["trials"], answer["studyState"]), ([], "ACTIVE"))
    for trial in (first, second):
        study.complete("/v1/" + trial["name"], 1)
    harness.wait_until(lambda: study.state() == "COMPLETED", "its end")
    answer = study.suggest(1, "late")
    tap.equal((answer["trials"], answer["studyState"]), ([], "COMPLETED"))
    tap.equal(study.refused("POST", study.path + "/trials", {
        "parameters": vizier.parameters(x=0.5)}), PRECONDITION + ([],))
    check = study.good("POST", "/v1/" + first["name"] +
                       ":checkTrialEarlyStoppingState")
    tap.equal(check["response"]["shouldStop"], True)


with harness.Server("--runner", "none") as server:
    tap.run([
        an_added_trial_with_a_measurement_is_completed_at_once,
        values_may_be_numbers_or_texts,
        a_wrong_point_names_every_wrong_parameter,
        conditions_decide_which_parameters_there_are,
        children_may_share_a_name,
        the_same_point_may_be_added_again,
        an_added_trial_is_given_to_the_next_client,
        a_trial_may_be_added_as_infeasible,
        measurements_come_one_after_the_other,
        several_measurements_come_at_once_or_not_at_all,
        a_wrong_measurement_names_every_fault,
        a_value_that_is_no_double_is_shown_as_it_came,
        a_trial_is_completed_once,
        a_wrong_completion_changes_nothing,
        a_feasible_trial_may_be_said_to_be_so,
        a_trial_without_an_objective_is_infeasible,
        the_final_measurement_is_chosen_as_the_study_has_it,
        the_best_measurement_is_never_nan,
        a_stopped_trial_waits_for_its_client,
        the_median_rule_stops_what_falls_behind,
        a_deleted_trial_is_gone_and_forgotten,
        optimal_trials_are_the_best_or_the_front,
        trials_are_listed_in_pages,
        what_does_not_exist_is_not_found,
        an_ended_study_takes_no_more,
    ])
