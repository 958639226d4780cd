"""Points that a person adds: whole or in part, never outside the constraints."""

import concurrent.futures

import api
import harness
import tap
import vizier
from vizier import BRANCHES, LAYERS, OPT, Study, X, measured

server = None

INVALID = (400, "INVALID_ARGUMENT")
PRECONDITION = (400, "FAILED_PRECONDITION")
OURS = api.OURS + "/studies/"
DEPTH = {"parameterId": "depth",
         "integerValueSpec": {"minValue": "1", "maxValue": "12"}}
SIZE = {"parameterId": "size", "discreteValueSpec": {"values": [16, 32, 64]}}
RULE = "depth*10 <= size*2"
Y = {"parameterId": "y", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}
METHODS = ("ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH", "GRID_SEARCH")


def number(study):
    return study.name.rsplit("/", 1)[1]


def ruled(*space, rules=(RULE,), **spec):
    return Study(server, *(space or (DEPTH, SIZE, OPT)),
                 hypertune={"constraints": list(rules)}, **spec)


def point_of(trial):
    return vizier.values(trial["parameters"])


def refusal(study, point, path=None, **more):
    """(HTTP status, name of the error, violated fields, words)"""
    status, answer = server.call(
        "POST", (path or study.path) + "/trials",
        dict({"parameters": vizier.parameters(**point)}, **more))
    tap.true(status != 200, answer)
    error = answer["error"]
    fields = [item["field"] for detail in error.get("details", [])
              for item in detail["fieldViolations"]]
    return status, error["status"], fields, error["message"]


def replayed(study):
    return [(item["trial"], item["verdict"])
            for item in server.replay(number(study))]


def a_point_outside_a_constraint_is_refused_by_its_name():
    study = ruled()
    words = "parameters: constraint " + RULE + \
        " does not hold for depth=12, size=16"
    for path in (study.path, OURS + number(study)):
        tap.equal(refusal(study, {"depth": 12, "size": 16, "opt": "a"}, path),
                  INVALID + (["parameters"], words))
        # The missing value changes nothing about it.
        tap.equal(refusal(study, {"depth": 12, "size": 16}, path),
                  INVALID + (["parameters"], words))
    tap.equal(refusal(study, {"depth": 12, "size": 16, "opt": "a"},
                      state="ACTIVE")[3], words)
    tap.equal(study.trials(), [])
    tap.equal(point_of(study.add({"depth": 12, "size": 64, "opt": "a"})),
              {"depth": 12, "size": 64, "opt": "a"})
    answer = study.refused("POST", study.path + "/trials:suggest", {
        "suggestionCount": 1, "clientId": "me", "contexts": [
            {"parameters": vizier.parameters(depth=12, size=16)}]})
    tap.equal(answer, INVALID + (["contexts[0].parameters"],))


def the_search_completes_a_part_of_a_point():
    for method in METHODS:
        study = ruled(algorithm=method)
        for depth in (12, 9, 6, 3):
            trial = study.add({"depth": depth})
            point = point_of(trial)
            tap.equal((sorted(point), point["depth"]),
                      (["depth", "opt", "size"], depth), method)
            tap.true(depth * 10 <= point["size"] * 2, point)
            own = trial["hypertune"]
            tap.equal((trial["state"], own["reason"], own["why"]["context"]),
                      ("REQUESTED", "added by user",
                       {"parameters": {"depth": depth}, "untried": True}))
        tap.equal([trial["id"] for trial in study.suggest(4)["trials"]],
                  ["1", "2", "3", "4"])
        for trial in study.trials():
            study.complete("/v1/" + trial["name"], 0.5)
        study.suggest(2)
        tap.equal(replayed(study), [(str(n), "SAME") for n in range(1, 7)],
                  method)


def no_value_at_all_is_a_part_as_well():
    study = ruled()
    point = point_of(study.good("POST", study.path + "/trials",
                                {"parameters": []}))
    tap.equal(sorted(point), ["depth", "opt", "size"])
    tap.equal(study.refused("POST", study.path + "/trials", {}),
              INVALID + (["parameters"],))


def conditions_and_steps_hold_for_what_is_completed():
    study = Study(server, BRANCHES, X, hypertune={
        "parameters": {"x": {"step": 0.25}}})
    for given in ({"momentum": 0.5}, {"rate": 5}, {"opt": "b"}, {"opt": "c"},
                  {"opt": "a", "rate": 0.5}, {"x": 0.75}):
        point = point_of(study.add(given))
        tap.equal({name: point[name] for name in given}, given)
        wanted = {"a": ["momentum", "opt", "rate", "x"],
                  "b": ["opt", "rate", "x"],
                  "c": ["momentum", "opt", "x"]}[point["opt"]]
        tap.equal(sorted(point), wanted)
        tap.contains(point["x"], (0, 0.25, 0.5, 0.75, 1), point)
    tap.equal(refusal(study, {"opt": "b", "momentum": 0.5}),
              INVALID + (["parameters[1].value"],
                         "parameters[1].value: \"momentum\" exists only beside "
                         "other values of \"opt\""))
    tap.equal(refusal(study, {"opt": "a", "rate": 5})[3],
              "parameters[1].value: 5 is outside [0, 1]")


def a_part_is_never_a_point_that_was_tried():
    for method in METHODS:
        study = Study(server, OPT, LAYERS, algorithm=method)
        made = [point_of(study.add({"opt": "a"}))["layers"] for _ in range(4)]
        tap.equal(sorted(made), [1, 2, 3, 4], method)
        tap.equal(refusal(study, {"opt": "a"}), PRECONDITION + (
            [], "all points with these values were tried; to try one again "
            "give all of its values"))
        tap.equal(study.add({"opt": "a", "layers": 2})["id"], "5")


def the_best_is_not_measured_again_for_a_part():
    """Where noise is said to be high, every tenth suggestion repeats one."""
    study = Study(server, OPT, LAYERS, X, algorithm="ALGORITHM_UNSPECIFIED",
                  observationNoise="HIGH")
    for n in range(9):
        study.add({"opt": "a", "layers": 1 + n % 4, "x": n / 10},
                  finalMeasurement=measured(n / 10))
    trial = study.add({"opt": "a"})
    tap.equal((trial["hypertune"].get("replicate", 0),
               trial["hypertune"]["why"]["kind"] == "REPEATS"), (0, False))


def a_part_that_no_constraint_allows_is_refused():
    study = ruled(DEPTH, SIZE, rules=("depth <= size/16",))
    tap.equal(refusal(study, {"depth": 5}), INVALID + (
        ["parameters"],
        "parameters: no point with these values satisfies depth <= size/16"))
    study = ruled(X, Y, OPT, rules=("x + y <= 0.5", "x - y <= 0.2"))
    tap.equal(refusal(study, {"x": 0.5})[3],
              "parameters: no point with these values satisfies all of the 2 "
              "constraints")
    for _ in range(20):
        point = point_of(study.add({"x": 0.25}))
        tap.true(0.05 <= point["y"] <= 0.25, point)


def constants_need_not_be_given_to_try_a_point_again():
    study = Study(server, X, {"parameterId": "one", "discreteValueSpec": {
        "values": [1]}})
    for n in (1, 2):
        trial = study.add({"x": 0.5})
        tap.equal((trial["id"], point_of(trial)), (str(n), {"x": 0.5,
                                                            "one": 1}))


def a_result_from_elsewhere_is_whole_and_may_lie_outside():
    study = ruled()
    outside = {"depth": 12, "size": 16, "opt": "a"}
    tap.equal(study.add(outside, finalMeasurement=measured(0.1))["state"],
              "SUCCEEDED")
    tap.equal(refusal(study, {"depth": 1},
                      finalMeasurement=measured(0.1))[2:],
              (["parameters", "parameters"],
               "parameters: parameter size is missing"))
    study.add({"depth": 1, "size": 16, "opt": "a"},
              finalMeasurement=measured(0.2))
    # It is never tried here.
    answer = study.good("POST", OURS + number(study) + ":confirm",
                        {"top": 3, "seeds": 1})
    tap.equal([item["trial"] for item in answer["finalists"]], ["2"])


def outside_results_are_not_measured_again():
    study = ruled(DEPTH, SIZE, X, algorithm="ALGORITHM_UNSPECIFIED",
                  observationNoise="HIGH")
    for n in range(12):
        study.add({"depth": 12, "size": 16, "x": n / 20},
                  finalMeasurement=measured(0.01 * n))
    for n in range(12):
        study.add({"depth": 1 + n % 3, "size": 16, "x": n / 20},
                  finalMeasurement=measured(1 + 0.01 * n))
    for _ in range(18):
        trial = study.one()
        point = point_of(study.good("GET", trial))
        tap.true(point["depth"] * 10 <= point["size"] * 2, point)
        study.complete(trial, 1 + point["x"])


def a_paused_study_takes_points_and_an_ended_one_does_not():
    study = ruled()
    study.good("POST", OURS + number(study) + ":pause")
    tap.equal(study.add({"depth": 2})["state"], "REQUESTED")
    study.good("POST", OURS + number(study) + ":resume")
    tap.equal(study.suggest(1)["trials"][0]["id"], "1")
    study.good("POST", OURS + number(study) + ":stop")
    name = study.good("GET", study.path)["hypertuneStatus"]["name"]
    tap.equal(refusal(study, {"depth": 2}),
              PRECONDITION + ([], "study %s has ended: STOPPED" % name))


def a_job_runs_points_that_were_given_in_part():
    job = api.job("parts", maxTrialCount=2)
    job["studySpec"]["parameters"] = [DEPTH, SIZE, OPT]
    job["hypertune"]["constraints"] = [RULE]
    server.call("POST", api.JOBS, job)
    path = OURS + "parts"
    for depth in (12, 11, 10):  # more than the search would make
        status, trial = server.call("POST", path + "/trials", {
            "parameters": vizier.parameters(depth=depth)})
        tap.equal((status, trial.get("state")), (200, "REQUESTED"), trial)
        tap.equal((point_of(trial)["depth"], point_of(trial)["size"]),
                  (depth, 64))
    tap.equal([item["verdict"] for item in server.replay("parts")],
              ["SAME"] * len(server.trials("parts")))


def many_parts_wait_in_turn():
    study = ruled()
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(study.add, [{"size": 64}] * 6))
    points = [tuple(sorted(point_of(trial).items())) for trial in answers]
    tap.equal(len(set(points)), 6)
    tap.equal(sorted(int(trial["id"]) for trial in answers),
              [1, 2, 3, 4, 5, 6])
    tap.equal(replayed(study), [(str(n), "SAME") for n in range(1, 7)])


with harness.Server("--runner", "none") as server:
    tap.run([
        a_point_outside_a_constraint_is_refused_by_its_name,
        the_search_completes_a_part_of_a_point,
        no_value_at_all_is_a_part_as_well,
        conditions_and_steps_hold_for_what_is_completed,
        a_part_is_never_a_point_that_was_tried,
        the_best_is_not_measured_again_for_a_part,
        a_part_that_no_constraint_allows_is_refused,
        constants_need_not_be_given_to_try_a_point_again,
        a_result_from_elsewhere_is_whole_and_may_lie_outside,
        outside_results_are_not_measured_again,
        a_paused_study_takes_points_and_an_ended_one_does_not,
        a_job_runs_points_that_were_given_in_part,
        many_parts_wait_in_turn,
    ])
