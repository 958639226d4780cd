"""Studies of several metrics: the trials that nothing beats, bounds that make
a trial safe, and the search for both."""

import api
import harness
import tap
import vizier
from vizier import METRIC, Study

server = None

SPEED = {"metricId": "speed", "goal": "MAXIMIZE"}
MEMORY = {"metricId": "memory", "goal": "MINIMIZE",
          "safetyConfig": {"safetyThreshold": 4,
                           "desiredMinSafeTrialsFraction": 0.8}}
Y = {"parameterId": "y", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}


def final(**values):
    return {"metrics": [{"metricId": key, "value": value}
                        for key, value in values.items()]}


def add(study, x=0.5, **values):
    return study.add({"x": x}, finalMeasurement=final(**values))


def front(study):
    answer = study.good("POST", study.path + "/trials:listOptimalTrials")
    return [trial["id"] for trial in answer["optimalTrials"]]


def status(study):
    return study.good("GET", study.path)["hypertuneStatus"]


def number(study):
    return study.name.rsplit("/", 1)[1]


def best(study):
    return server.call("GET", api.OURS + "/studies/%s/best" % number(study))


def the_front_is_shown_with_the_study():
    study = Study(server, metrics=[METRIC, SPEED])
    tap.equal(status(study)["optimal"], [])
    for loss, speed, want in ((1, 1, "1"), (2, 3, "1 2"), (2, 2, "1 2"),
                              (3, 3, "1 2"), (3, 4, "1 2 5"), (1, 1, "1 2 5 6"),
                              (1, 3, "5 7"), (0.5, 5, "8")):
        add(study, loss=loss, speed=speed)
        tap.equal(" ".join(front(study)), want)
        tap.equal(status(study)["optimal"], want.split())
    tap.equal(best(study)[1]["id"], "8")


def the_best_of_several_is_the_best_in_the_first():
    study = Study(server, metrics=[SPEED, METRIC])
    for speed, loss in ((1, 1), (3, 3), (2, 2)):
        add(study, loss=loss, speed=speed)
    tap.equal(best(study)[1]["id"], "2")
    tap.equal(status(study)["best"]["id"], "2")
    add(study, loss=0, speed=3)
    tap.equal(best(study)[1]["id"], "4")


def what_a_deleted_trial_beat_comes_back():
    study = Study(server, metrics=[METRIC, SPEED])
    for loss, speed in ((2, 2), (1, 3), (3, 1)):
        add(study, loss=loss, speed=speed)
    tap.equal(front(study), ["2"])
    tap.equal(server.call("DELETE", study.path + "/trials/2"), (200, {}))
    tap.equal(front(study), ["1"])
    tap.equal(status(study)["optimal"], ["1"])


def only_trials_within_the_bounds_are_best():
    study = Study(server, metrics=[MEMORY, METRIC])
    tap.equal([metric["metricId"] for metric in
               study.made["studySpec"]["metrics"]], ["loss", "memory"])
    add(study, loss=1, memory=5)
    tap.equal((front(study), "best" in status(study)), ([], False))
    tap.equal((best(study)[0], "within" in best(study)[1]["error"]["message"]),
              (404, True))
    for loss, memory in ((3, 4), (2, 1), (2, 1), (0, 4.5)):
        add(study, loss=loss, memory=memory)
    tap.equal((front(study), best(study)[1]["id"]), (["3"], "3"))
    tap.lacks("optimal", status(study))
    several = Study(server, metrics=[METRIC, SPEED, MEMORY])
    for loss, speed, memory in ((1, 1, 9), (2, 2, 2), (3, 1, 1), (4, 9, 4)):
        add(several, loss=loss, speed=speed, memory=memory)
    tap.equal(front(several), ["2", "4"])


def a_result_has_every_metric():
    study = Study(server, metrics=[METRIC, SPEED])
    trial = study.one()
    tap.equal(study.refused("POST", trial + ":complete",
                            {"finalMeasurement": final(loss=1)})[2],
              ["finalMeasurement.metrics"])
    study.good("POST", trial + ":complete",
               {"finalMeasurement": final(loss=1, speed="NaN")})
    ended = study.good("GET", trial)
    tap.equal((ended["state"], ended["infeasibleReason"]),
              ("INFEASIBLE", "speed was NaN at step 0"))
    tap.equal(front(study), [])


def progress_is_a_change_of_the_front():
    study = Study(server, metrics=[METRIC, SPEED], studyStoppingConfig={
        "maxNumTrialsNoProgress": 3})
    for loss, speed in ((5, 5), (6, 6), (7, 7), (7, 6), (5, 5), (8, 9),
                        (8, 9), (5, 5)):
        tap.equal(study.state(), "ACTIVE")
        add(study, loss=loss, speed=speed)
    add(study, loss=9, speed=1)
    harness.wait_until(lambda: study.state() == "COMPLETED", "its end")


def a_target_is_reached_within_the_bounds():
    study = Study(server, metrics=[METRIC, MEMORY])
    tap.equal(server.call("PATCH", api.OURS + "/studies/" + number(study),
                          {"target": 0.5})[0], 200)
    add(study, loss=0.1, memory=5)
    tap.equal(study.state(), "ACTIVE")
    add(study, loss=0.4, memory=3)
    harness.wait_until(lambda: study.state() == "COMPLETED", "its end")
    tap.equal(status(study)["reason"],
              "trial 2 reached loss 0.4, target 0.5")


def the_search_foretells_every_metric():
    study = Study(server, vizier.X, Y, metrics=[METRIC, SPEED, MEMORY],
                  algorithm="ALGORITHM_UNSPECIFIED")
    for _ in range(9):
        trial = study.one()
        point = vizier.values(study.good("GET", trial)["parameters"])
        x, y = point["x"], point["y"]
        study.good("POST", trial + ":complete", {"finalMeasurement": final(
            loss=x * x + y, speed=x - y * y, memory=6 * x)})
    why = study.good("GET", study.one())["hypertune"]["why"]
    tap.equal([item["metric"] for item in why["predicted"]],
              ["loss", "speed", "memory"])
    for item in why["predicted"]:
        tap.true(item["low"] <= item["median"] <= item["high"], item)


with harness.Server("--runner", "none") as server:
    tap.run([
        the_front_is_shown_with_the_study,
        the_best_of_several_is_the_best_in_the_first,
        what_a_deleted_trial_beat_comes_back,
        only_trials_within_the_bounds_are_best,
        a_result_has_every_metric,
        progress_is_a_change_of_the_front,
        a_target_is_reached_within_the_bounds,
        the_search_foretells_every_metric,
    ])
