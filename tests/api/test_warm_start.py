"""Studies that start from what earlier ones found: names, what is copied, and
that the suggestions are the same whatever becomes of the others."""

import copy

import api
import harness
import tap
import vizier
from vizier import LAYERS, OPT, PARENT, X, Study

server = None

Y = {"parameterId": "y", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}
MODEL = {"algorithm": "ALGORITHM_UNSPECIFIED"}


def loss(x, y=0.3):
    return (x - 0.7) ** 2 + (y - 0.3) ** 2


def learnt(*space, **spec):
    """An earlier study of x (and y) with ten results."""
    space = space or (X, Y)
    study = Study(server, *space, **spec)
    for i in range(10):
        point = {"x": (5 + 10 * i) / 100, "y": (95 - 10 * i) / 100, "layers": 2,
                 "opt": "a"}
        own = {one["parameterId"]: point[one["parameterId"]] for one in space}
        trial = study.add(own)
        study.complete("/v1/" + trial["name"],
                       loss(own["x"], own.get("y", 0.3)))
    return study


def number(study):
    return study.name.rsplit("/", 1)[1]


def starting(names, *space, seed="7", **spec):
    """Makes a study that starts from others; (HTTP status, JSON)."""
    display = "warm %d" % next(vizier.numbers)
    return server.call("POST", vizier.STUDIES, {
        "displayName": display,
        "hypertune": {"warmStart": names, "seed": seed},
        "studySpec": dict({"metrics": [vizier.METRIC],
                           "parameters": list(space) or [X, Y]},
                          **dict(MODEL, **spec))})


class Warm(Study):
    def __init__(self, names, *space, **spec):
        self.server = server
        status, self.made = starting(names, *space, **spec)
        tap.equal(status, 200, self.made)
        self.name = self.made["name"]
        self.path = "/v1/" + self.name

    def play(self, n):
        """The points of n more trials."""
        points = []
        for _ in range(n):
            trial, = self.suggest(1, "me")["trials"]
            points.append(vizier.values(trial["parameters"]))
            self.complete("/v1/" + trial["name"],
                          loss(points[-1]["x"], points[-1].get("y", 0.3)))
        return points

    def status(self):
        return self.good("GET", self.path)["hypertuneStatus"]


def what_it_started_from_is_shown():
    old = learnt()
    new = Warm([number(old)])
    shown, = new.status()["warmStart"]
    tap.equal(shown, {"study": shown["study"], "resource": old.name,
                      "results": 10, "sharedParameters": 2,
                      "sameSpace": True})
    spec = new.good("GET", new.path)["studySpec"]
    tap.equal(spec["transferLearningConfig"], {"priorStudyNames": [old.name]})
    tap.equal("warmStart" in old.good("GET", old.path)["hypertuneStatus"],
              False)


def the_best_known_point_comes_first():
    old = learnt()
    first, = Warm([old.name]).play(1)
    best = min(old.trials(),
               key=lambda t: t["finalMeasurement"]["metrics"][0]["value"])
    tap.equal(first, vizier.values(best["parameters"]))


def a_seed_is_told_from_a_first_point():
    new = Warm([learnt().name])
    new.play(1)
    trial, = new.trials()
    tap.equal(trial["hypertune"]["why"]["kind"], "SEED")


def what_is_known_is_not_searched_for_again():
    old = learnt()
    points = Warm([old.name]).play(4)
    tap.equal(min(loss(**p) for p in points) < 0.01, True, points)


def a_parameter_that_is_new_is_searched_and_the_others_are_known():
    old = learnt(X, LAYERS)
    new = Warm([old.name], X, Y, OPT)
    shown, = new.status()["warmStart"]
    tap.equal((shown["results"], shown["sharedParameters"],
               shown["sameSpace"]), (10, 1, False))
    points = new.play(4)
    tap.equal(sum(abs(p["x"] - 0.7) < 0.1 for p in points) >= 3, True, points)
    tap.equal(len({p["y"] for p in points}) > 1, True, points)


def results_outside_the_new_range_are_left_out():
    narrow = copy.deepcopy(X)
    narrow["doubleValueSpec"]["maxValue"] = 0.5
    new = Warm([learnt().name], narrow, Y)
    tap.equal(new.status()["warmStart"][0]["results"], 5)
    tap.equal(all(p["x"] <= 0.5 for p in new.play(5)), True)


def later_results_and_a_deletion_change_nothing():
    old = learnt()
    first, second = Warm([old.name]), Warm([old.name])
    points = first.play(3)
    old.complete("/v1/" + old.add({"x": 0.1, "y": 0.1})["name"], -5)
    old.good("DELETE", old.path)
    server.stop()
    server.start()
    points += first.play(3)
    tap.equal(second.play(6), points)
    tap.equal(first.status()["warmStart"][0]["results"], 10)


def a_killed_server_suggests_the_same():
    old = learnt(X, OPT)
    first, second = (Warm([old.name], X, Y, LAYERS) for _ in range(2))
    points = first.play(3)
    server.kill()
    server.start()
    tap.equal(points + first.play(4), second.play(7))


def what_it_learnt_from_is_part_of_the_proof():
    old = learnt()
    new = Warm([old.name])
    new.play(6)
    old.good("DELETE", old.path)
    proof = new.good("GET", "/hypertune/v1/studies/%s/replay" % number(new))
    tap.equal([trial["verdict"] for trial in proof["trials"]], ["SAME"] * 6)


def several_studies_stand_on_each_other():
    one, two = learnt(), learnt(X, OPT)
    new = Warm([one.name, number(two)], X, Y, OPT)
    tap.equal([p["sharedParameters"] for p in new.status()["warmStart"]],
              [2, 2])
    points = new.play(5)
    tap.equal(min(loss(p["x"], p["y"]) for p in points) < 0.02, True, points)


def fields_of(answer):
    return [item["field"] for detail in answer["error"].get("details", [])
            for item in detail["fieldViolations"]]


def what_cannot_be_learnt_from_is_refused():
    old = learnt()
    other = {"parameterId": "z", "doubleValueSpec": X["doubleValueSpec"]}
    text = dict(X, categoricalValueSpec=OPT["categoricalValueSpec"])
    del text["doubleValueSpec"]
    for names, space, word in [
            (["nobody"], (X,), "does not exist"),
            ([old.name, number(old)], (X,), "named twice"),
            ([old.name], (other,), "no parameter in common"),
            ([old.name], (text,), "no parameter in common")]:
        status, answer = starting(names, *space)
        tap.equal(status, 400, answer)
        tap.equal(word in answer["error"]["message"], True, answer)
        tap.equal(fields_of(answer),
                  ["hypertune.warmStart[%d]" % (len(names) - 1)])
    status, answer = starting(
        [old.name], transferLearningConfig={"disableTransferLearning": True})
    tap.equal((status, fields_of(answer)),
              (400, ["studySpec.transferLearningConfig"
                     ".disableTransferLearning"]))


def what_is_odd_is_said():
    new = Warm([learnt().name], X, metrics=[
        {"metricId": "error", "goal": "MINIMIZE"}])
    texts = [w["description"]
             for w in new.made["hypertuneStatus"]["warnings"]]
    tap.equal(["its loss stands for it" in text for text in texts], [True])
    empty = Warm([Study(server, X).name], X)
    texts = [w["description"]
             for w in empty.made["hypertuneStatus"]["warnings"]]
    tap.equal(["no result yet" in text for text in texts], [True])
    tap.equal(len(empty.play(3)), 3)


def a_method_that_does_not_learn_is_warned_of():
    new = Warm([learnt().name], X, algorithm="RANDOM_SEARCH")
    warning, = new.made["hypertuneStatus"]["warnings"]
    tap.equal(warning["field"], "hypertune.warmStart")
    tap.equal("RANDOM_SEARCH does not learn" in warning["description"], True)
    tap.equal(len(new.play(2)), 2)


def a_goal_that_was_turned_around_is_understood():
    """The same metric is the same quantity, whatever is wanted of it now."""
    metrics = [{"metricId": "loss", "goal": "MAXIMIZE"}]
    new = Warm([learnt(X).name], X, metrics=metrics)
    tap.equal(new.status()["warmStart"][0]["sameSpace"], False)
    trial, = new.suggest(1, "me")["trials"]
    tap.equal(vizier.values(trial["parameters"]), {"x": 0.05})


def a_job_may_start_from_a_study_and_may_not_change_that():
    old = learnt(X)
    body = api.job("warm-job", hypertune={"name": "warm-job", "seed": "1",
                                          "warmStart": [number(old)]})
    body["studySpec"]["parameters"] = [X]
    status, made = server.call("POST", PARENT + "/hyperparameterTuningJobs",
                               body)
    tap.equal(status, 200, made)
    tap.equal(made["hypertune"]["warmStart"], [number(old)])
    tap.equal(made["hypertuneStatus"]["warmStart"][0]["results"], 10)
    del body["hypertune"]["warmStart"]
    status, answer = server.call("PATCH", "/hypertune/v1/studies/warm-job",
                                 {"job": body})
    tap.equal(status, 409, answer)


with harness.Server("--runner", "none") as server:
    tap.run([
        what_it_started_from_is_shown,
        the_best_known_point_comes_first,
        a_seed_is_told_from_a_first_point,
        what_is_known_is_not_searched_for_again,
        a_parameter_that_is_new_is_searched_and_the_others_are_known,
        results_outside_the_new_range_are_left_out,
        later_results_and_a_deletion_change_nothing,
        a_killed_server_suggests_the_same,
        what_it_learnt_from_is_part_of_the_proof,
        several_studies_stand_on_each_other,
        what_cannot_be_learnt_from_is_refused,
        what_is_odd_is_said,
        a_method_that_does_not_learn_is_warned_of,
        a_goal_that_was_turned_around_is_understood,
        a_job_may_start_from_a_study_and_may_not_change_that,
    ])
