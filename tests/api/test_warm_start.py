"""Studies that start from what earlier ones found: names, what is copied, and
that the suggestions are the same whatever becomes of the others."""

import copy

import api
import harness
import tap
import vizier
from fake_runner import Runner
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
                          loss(points[-1].get("x", 0.7),
                               points[-1].get("y", 0.3)))
        return points

    def status(self):
        return self.good("GET", self.path)["hypertuneStatus"]


def what_it_started_from_is_shown():
    old = learnt()
    new = Warm([number(old)])
    shown, = new.status()["warmStart"]
    tap.equal(shown, {"study": shown["study"], "resource": old.name,
                      "results": 10, "failures": 0, "own": 10,
                      "sharedParameters": 2, "sameSpace": True})
    spec = new.good("GET", new.path)["studySpec"]
    tap.equal(spec["transferLearningConfig"], {"priorStudyNames": [old.name]})
    tap.lacks("warmStart", old.good("GET", old.path)["hypertuneStatus"])


def of_another_space_the_best_known_point_comes_first():
    old = learnt()
    new = Warm([old.name], X)
    first, = new.play(1)
    best = min(old.trials(),
               key=lambda t: t["finalMeasurement"]["metrics"][0]["value"])
    tap.equal(first["x"], vizier.values(best["parameters"])["x"])
    trial, = new.trials()
    why = trial["hypertune"]["why"]
    tap.equal((why["kind"], "earlier" in why), ("SEED", False))


def points_of(study):
    return [vizier.values(t["parameters"]) for t in study.trials()]


def in_the_same_space_no_earlier_point_is_measured_again():
    """Whatever the order of the parameters, and by all methods."""
    for space in ((X, Y), (Y, X)):
        for algorithm in ("ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH"):
            old = learnt()
            new = Warm([old.name], *space, algorithm=algorithm)
            points = new.play(6)
            tap.equal([p for p in points if p in points_of(old)], [])
            tap.equal(new.status()["warmStart"][0]["own"], 10)


def the_model_starts_from_earlier_results():
    """No first point, no best point again: at once where it is good."""
    old = learnt()
    new = Warm([old.name])
    points = new.play(4)
    whys = [trial["hypertune"]["why"] for trial in new.trials()]
    tap.true({why["kind"] for why in whys} <= {"EXPLOITS", "EXPLORES"}, whys)
    name = new.status()["warmStart"][0]["study"]
    tap.equal([why["earlier"] for why in whys],
              [[{"study": name, "trials": 10}]] * 4)
    tap.equal(whys[0]["nearest"]["study"], name)
    tap.true(min(loss(**p) for p in points) < 0.01, points)
    status = new.status()
    tap.equal(status["counts"]["succeeded"], 4)
    tap.true(int(status["best"]["id"]) <= 4, status)


GRID = {"parameterId": "n",
        "integerValueSpec": {"minValue": "1", "maxValue": "4"}}


def job_of(name, spec, **changes):
    """Submits a job; returns how to wait for its status."""
    body = api.job(name, hypertune={"name": name,
                                    "warmStart": changes.pop("warmStart")})
    body["studySpec"] = dict(spec, metrics=[vizier.METRIC])
    path = PARENT + "/hyperparameterTuningJobs"
    tap.equal(server.call("POST", path, dict(body, **changes))[0], 200)

    def ended():
        status = server.get(path + "/" + name)["hypertuneStatus"]
        return status if status["state"] not in harness.OPEN else None
    return lambda: harness.wait_until(ended, "the end of " + name)


def a_grid_skips_what_was_measured_and_says_so_at_its_end():
    old = Study(server, GRID, OPT)
    for n in (1, 2, 4):
        for opt in ("a", "b"):
            old.complete("/v1/" + old.add({"n": n, "opt": opt})["name"], n)
    new = Warm([old.name], OPT, GRID, algorithm="GRID_SEARCH")
    tap.lacks("warnings", new.made["hypertuneStatus"])
    tap.equal(new.play(2), [{"opt": "a", "n": 3}, {"opt": "b", "n": 3}])
    tap.equal(new.suggest(1, "me")["trials"], [])
    tap.equal(new.status()["reason"],
              "all 8 points of the space were tried, 6 by earlier studies")
    last = Warm([new.name], OPT, GRID, algorithm="GRID_SEARCH")
    tap.equal([p["own"] for p in last.status()["warmStart"]], [6, 2])
    tap.equal(last.suggest(1, "me")["trials"], [])
    tap.equal((last.status()["state"], last.status()["reason"]),
              ("SUCCEEDED",
               "all 8 points of the space were tried by earlier studies"))


def a_job_ends_well_when_nothing_is_left_to_measure():
    old = Study(server, OPT)
    for opt in ("a", "b"):
        old.complete("/v1/" + old.add({"opt": opt})["name"], 1)
    status = job_of("nothing-left", {"parameters": [OPT],
                                     "algorithm": "GRID_SEARCH"},
                    warmStart=[number(old)])()
    tap.equal((status["state"], status["reason"]),
              ("SUCCEEDED",
               "all 2 points of the space were tried by earlier studies"))


def crash(study, trial):
    study.good("POST", trial + ":complete",
               {"trialInfeasible": True, "infeasibleReason": "crashed"})


def crashing(*space, edge=0.5):
    """Twelve trials of which those right of the edge crashed."""
    study = Study(server, *space)
    for i in range(12):
        point = {"x": (1 + 2 * i) / 24, "y": (i * 5 % 12) / 12}
        own = {one["parameterId"]: point[one["parameterId"]] for one in space}
        trial = "/v1/" + study.add(own)["name"]
        if point["x"] > edge:
            crash(study, trial)
        else:
            study.complete(trial, loss(**own))
    return study


def failures_are_carried_and_their_region_is_known():
    """The optimum for what came out is at the edge of what crashes."""
    old = crashing(X, Y)
    new = Warm([old.name])
    shown, = new.status()["warmStart"]
    tap.equal((shown["results"], shown["failures"], shown["own"]), (6, 6, 12))
    points = []
    for _ in range(8):
        trial, = new.suggest(1, "me")["trials"]
        points.append(vizier.values(trial["parameters"]))
        if points[-1]["x"] > 0.5:
            crash(new, "/v1/" + trial["name"])
        else:
            new.complete("/v1/" + trial["name"], loss(**points[-1]))
    tap.equal([p for p in points if p in points_of(old)], [])
    tap.true(sum(p["x"] > 0.6 for p in points) <= 1, points)


def failures_are_known_through_transfer_too():
    new = Warm([crashing(X).name], X, Y)
    shown, = new.status()["warmStart"]
    tap.equal((shown["results"], shown["failures"], shown["own"]), (6, 6, 0))
    points = []
    for _ in range(8):
        trial, = new.suggest(1, "me")["trials"]
        points.append(vizier.values(trial["parameters"]))
        if points[-1]["x"] > 0.5:
            crash(new, "/v1/" + trial["name"])
        else:
            new.complete("/v1/" + trial["name"], loss(**points[-1]))
    tap.true(sum(p["x"] > 0.5 for p in points) <= 2, points)


def own_failures_alone_count_against_the_limit():
    with Runner(server) as one:
        wait = job_of("limited", {"parameters": [X]}, maxTrialCount=1,
                      maxFailedTrialCount=1, warmStart=[number(crashing(X))])
        one.one().succeed(0.7, metric="loss")
        status = wait()
    tap.equal((status["state"], status["counts"]["failed"]), ("SUCCEEDED", 0))


def where_results_are_noisy_an_earlier_point_may_be_measured_again():
    old = learnt()
    new = Warm([old.name], observationNoise="HIGH")
    new.play(10)
    again = [t for t in new.trials()
             if t["hypertune"]["why"]["kind"] == "REPEATS"]
    earlier = [t for t in again
               if vizier.values(t["parameters"]) in points_of(old)]
    tap.equal(len(again), 1)
    for trial in earlier:
        tap.equal(trial["hypertune"]["replicate"], 1)
    low = Warm([old.name], observationNoise="LOW")
    tap.equal([p for p in low.play(12) if p in points_of(old)], [])


def a_point_that_a_person_repeats_gets_another_seed():
    old = learnt()
    new = Warm([old.name])
    point = points_of(old)[0]
    tap.equal(new.add(point)["hypertune"]["replicate"], 1)
    tap.lacks("replicate", new.add({"x": 0.011, "y": 0.5})["hypertune"])


def inherited(study):
    return [(p["resource"], p["own"], p.get("inherited", False))
            for p in study.status()["warmStart"]]


def what_an_earlier_study_started_from_counts_as_well():
    one = learnt()
    two = Warm([one.name])
    two.play(3)
    three = Warm([two.name])
    tap.equal(inherited(three), [(one.name, 10, True), (two.name, 3, False)])
    tap.equal(three.good("GET", three.path)["studySpec"]
              ["transferLearningConfig"], {"priorStudyNames": [two.name]})
    known = points_of(one) + points_of(two)
    tap.equal([p for p in three.play(4) if p in known], [])
    # One that is named as well counts once, with what it has by now.
    one.complete("/v1/" + one.add({"x": 0.5, "y": 0.5})["name"], 1)
    four = Warm([two.name, one.name])
    tap.equal(inherited(four), [(two.name, 3, False), (one.name, 11, False)])
    # What two of them inherited counts once.
    five = Warm([two.name, three.name])
    tap.equal(inherited(five), [(one.name, 10, True), (two.name, 3, False),
                                (three.name, 4, False)])
    # A study that is gone by now is still known to the studies that started from it.
    one.good("DELETE", one.path)
    tap.equal(inherited(Warm([two.name])),
              [(one.name, 10, True), (two.name, 3, False)])


def a_parameter_that_is_new_is_searched_and_the_others_are_known():
    old = learnt(X, LAYERS)
    new = Warm([old.name], X, Y, OPT)
    shown, = new.status()["warmStart"]
    tap.equal((shown["results"], shown["sharedParameters"],
               shown["sameSpace"]), (10, 1, False))
    points = new.play(4)
    tap.true(sum(abs(p["x"] - 0.7) < 0.1 for p in points) >= 3, points)
    tap.true(len({p["y"] for p in points}) > 1, points)


def results_outside_the_new_range_are_left_out():
    narrow = copy.deepcopy(X)
    narrow["doubleValueSpec"]["maxValue"] = 0.5
    new = Warm([learnt().name], narrow, Y)
    shown, = new.status()["warmStart"]
    tap.equal((shown["results"], shown["own"]), (5, 5))
    tap.true(all(p["x"] <= 0.5 for p in new.play(5)))
    wide = copy.deepcopy(X)
    wide["doubleValueSpec"]["maxValue"] = 2
    tap.equal(Warm([learnt().name], wide, Y).status()["warmStart"][0]["own"],
              10)


def what_a_constraint_forbids_is_left_out():
    status, made = server.call("POST", vizier.STUDIES, {
        "displayName": "constrained",
        "hypertune": {"warmStart": [learnt().name],
                      "constraints": ["x < 0.5"]},
        "studySpec": {"metrics": [vizier.METRIC], "parameters": [X, Y]}})
    tap.equal(status, 200, made)
    tap.equal([(p["results"], p["own"])
               for p in made["hypertuneStatus"]["warmStart"]], [(5, 5)])


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
    for algorithm in ("ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH"):
        old, other = crashing(X, Y), learnt(X)
        new = Warm([old.name, other.name], algorithm=algorithm)
        new.play(6)
        # One that is deleted makes the search forget and begin again.
        new.good("DELETE", "/v1/" + new.trials()[2]["name"])
        points = new.play(2)
        tap.equal([p for p in points if p in points_of(old)], [])
        old.good("DELETE", old.path)
        proof = server.replay(number(new))
        tap.equal([trial["verdict"] for trial in proof[:2] + proof[-2:]],
                  ["SAME"] * 4, proof)


def several_studies_build_on_each_other():
    one, two = learnt(), learnt(X, OPT)
    new = Warm([one.name, number(two)], X, Y, OPT)
    tap.equal([p["sharedParameters"] for p in new.status()["warmStart"]],
              [2, 2])
    points = new.play(5)
    tap.true(min(loss(p["x"], p["y"]) for p in points) < 0.02, points)


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
        tap.contains(word, answer["error"]["message"], answer)
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
    tap.equal(["its loss is used for it" in text for text in texts], [True])
    empty = Warm([Study(server, X).name], X)
    texts = [w["description"]
             for w in empty.made["hypertuneStatus"]["warnings"]]
    tap.equal(["no result yet" in text for text in texts], [True])
    tap.equal(len(empty.play(3)), 3)


def a_method_that_does_not_learn_is_warned_of():
    new = Warm([learnt().name], X, algorithm="RANDOM_SEARCH")
    warning, = new.made["hypertuneStatus"]["warnings"]
    tap.equal(warning["field"], "hypertune.warmStart[0]")
    tap.contains("RANDOM_SEARCH learns nothing", warning["description"])
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
        of_another_space_the_best_known_point_comes_first,
        in_the_same_space_no_earlier_point_is_measured_again,
        the_model_starts_from_earlier_results,
        a_grid_skips_what_was_measured_and_says_so_at_its_end,
        a_job_ends_well_when_nothing_is_left_to_measure,
        failures_are_carried_and_their_region_is_known,
        failures_are_known_through_transfer_too,
        own_failures_alone_count_against_the_limit,
        where_results_are_noisy_an_earlier_point_may_be_measured_again,
        a_point_that_a_person_repeats_gets_another_seed,
        what_an_earlier_study_started_from_counts_as_well,
        a_parameter_that_is_new_is_searched_and_the_others_are_known,
        results_outside_the_new_range_are_left_out,
        what_a_constraint_forbids_is_left_out,
        later_results_and_a_deletion_change_nothing,
        a_killed_server_suggests_the_same,
        what_it_learnt_from_is_part_of_the_proof,
        several_studies_build_on_each_other,
        what_cannot_be_learnt_from_is_refused,
        what_is_odd_is_said,
        a_method_that_does_not_learn_is_warned_of,
        a_goal_that_was_turned_around_is_understood,
        a_job_may_start_from_a_study_and_may_not_change_that,
    ])
