"""A study's space, constraints and bounds change while it runs or after its
end: what is tried stays evidence, what is searched follows."""

import concurrent.futures
import copy

import api
import harness
import tap
import vizier
from fake_runner import Runner
from vizier import LAYERS, OPT, X, Study

server = None

OURS = api.OURS + "/studies/"


def number(study):
    return study.name.rsplit("/", 1)[1]


def double(name, low, high):
    return {"parameterId": name,
            "doubleValueSpec": {"minValue": low, "maxValue": high}}


def integer(low, high):
    return {"parameterId": "layers",
            "integerValueSpec": {"minValue": str(low), "maxValue": str(high)}}


def options(*words):
    return {"parameterId": "opt",
            "categoricalValueSpec": {"values": list(words)}}


def changed(body, parameters=None, hypertune=None, **spec):
    body = copy.deepcopy(body)
    body["studySpec"].update(spec)
    if parameters:
        body["studySpec"]["parameters"] = list(parameters)
    body["hypertune"].update(hypertune or {})
    return body


def edit(study, *parameters, hypertune=None, **spec):
    """Changes the study as `--continue` does; the next edit begins there."""
    study.body = changed(study.body, parameters, hypertune, **spec)
    return study.good("PATCH", OURS + number(study), {"job": study.body})


def refusal(study, *parameters, hypertune=None, **spec):
    """(HTTP status, message) of an edit that changes nothing."""
    events = revision(study)
    status, answer = study.server.call(
        "PATCH", OURS + number(study),
        {"job": changed(study.body, parameters, hypertune, **spec)})
    tap.equal(revision(study), events)
    return status, answer["error"]["message"]


def status_of(study):
    return study.good("GET", OURS + number(study))["hypertuneStatus"]


def revision(study):
    return status_of(study)["revision"]


def events(study, kind):
    return [event for event in study.good(
        "GET", OURS + number(study) + "/events?limit=1000")["events"]
        if event["kind"] == kind]


def points(study):
    return [trial["hypertune"]["params"] for trial in study.trials()]


def outside(study):
    return [trial["id"] for trial in study.trials()
            if trial["hypertune"].get("outside")]


def loss(point):
    return round((point["x"] - 0.3) ** 2 +
                 0.1 * abs(point.get("layers", 2) - 2) +
                 (0.05 if point.get("opt") == "b" else 0), 6)


def search(study, rounds, client="me", leave=0):
    """Tries points, the last ones of which stay without a result."""
    for step in range(rounds):
        for trial in study.suggest(2, client + str(step))["trials"]:
            if leave and step >= rounds - leave:
                continue
            study.complete("/v1/" + trial["name"],
                           loss(vizier.values(trial["parameters"])))


def verdicts(study):
    return study.server.replay(number(study))


def is_proven(study, what=""):
    found = verdicts(study)
    tap.equal([item for item in found if item["verdict"] != "SAME"], [], what)
    tap.true(len(found) > 0, what)


# --- clients' studies ---

def edits_are_followed(algorithm):
    study = Study(server, X, LAYERS, OPT, algorithm=algorithm)
    search(study, 6, leave=1)
    edit(study, double("x", 0.25, 0.5), LAYERS, OPT)
    old = len(study.trials())
    tap.equal(outside(study),
              [str(i + 1) for i, point in enumerate(points(study))
               if not 0.25 <= point["x"] <= 0.5])
    search(study, 4, "narrow", leave=1)
    tap.equal([point for point in points(study)[old:]
               if not 0.25 <= point["x"] <= 0.5], [])
    old = len(study.trials())
    edit(study, double("x", 0.25, 2), integer(3, 8), options("c", "a"))
    search(study, 4, "wide", leave=1)
    new = points(study)[old:]
    tap.equal([point for point in new if not 0.25 <= point["x"] <= 2 or
               not 3 <= point["layers"] <= 8 or point["opt"] == "b"], [])
    tap.true(any(point["x"] > 1 or point["layers"] > 4 or point["opt"] == "c"
                 for point in new), new)
    old = len(study.trials())
    edit(study, hypertune={"constraints": ["layers >= 5"]})
    search(study, 3, "bound")
    tap.equal([point for point in points(study)[old:]
               if point["layers"] < 5], [])
    edit(study, X, LAYERS, OPT, hypertune={"constraints": []})
    search(study, 3, "back")
    tap.equal(outside(study),
              [str(i + 1) for i, point in enumerate(points(study))
               if point["x"] > 1 or point["layers"] > 4 or point["opt"] == "c"])
    return study


def each_search_follows_its_edits_and_is_proven():
    studies = [edits_are_followed(name) for name in
               ("ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH")]
    for study in studies:
        is_proven(study)
    server.stop()
    server.start()
    for study in studies:
        is_proven(study, "after a restart")


def a_grid_lists_the_new_points_only():
    study = Study(server, LAYERS, OPT, algorithm="GRID_SEARCH",
                  hypertune={"seed": "1"})
    first = study.suggest(3)["trials"]
    edit(study, integer(1, 2), options("a", "b", "c"))
    rest = study.suggest(10, "other")["trials"]
    tried = [tuple(vizier.values(trial["parameters"]).values())
             for trial in first + rest]
    inside = {(layers, opt) for layers in (1, 2) for opt in "abc"}
    tap.equal(inside - set(tried), set())
    tap.equal(len(set(tried)), len(tried))
    tap.equal([point for point in tried[3:] if point not in inside], [])
    for trial in first + rest:
        study.complete("/v1/" + trial["name"], 1)
    study.suggest(1, "last")
    tap.equal(status_of(study)["reason"], "every point of the space was tried")
    edit(study, integer(1, 3), options("a", "b", "c"),
         studyStoppingConfig={"maxNumTrials": 40})
    tap.equal(status_of(study)["state"], "RUNNING")
    more = study.suggest(10, "more")["trials"]
    tap.equal({vizier.values(trial["parameters"])["layers"] for trial in more},
              {3})
    is_proven(study)


def several_goals_have_a_front_within():
    study = Study(server, X, metrics=[vizier.METRIC,
                                      {"metricId": "size", "goal": "MINIMIZE"}])

    def add(x, size):
        study.add({"x": x}, finalMeasurement={"metrics": [
            {"metricId": "loss", "value": x},
            {"metricId": "size", "value": size}]})
    for x, size in ((0.1, 9), (0.3, 5), (0.4, 6), (0.5, 4), (0.9, 1)):
        add(x, size)
    edit(study, double("x", 0.35, 0.8))

    def optimal(query=""):
        return [trial["id"] for trial in study.good(
            "POST", OURS + number(study) + "/trials:listOptimalTrials" + query,
            {})["optimalTrials"]]

    def best(query=""):
        trial = study.good("GET", OURS + number(study) + "/best" + query)
        return trial["id"], trial["hypertune"].get("outside")
    tap.equal((optimal(), optimal("?within=true"), optimal("?within=false")),
              (["1", "2", "4", "5"], ["3", "4"], ["1", "2", "4", "5"]))
    tap.equal((best(), best("?within=true")), (("1", True), ("3", None)))
    tap.equal(status_of(study)["outside"], 3)
    status, answer = server.call("GET", OURS + number(study) +
                                 "/best?within=maybe")
    tap.equal(status, 400, answer)
    edit(study, X)
    tap.equal((optimal("?within=true"), status_of(study).get("outside")),
              (optimal(), None))


def the_best_within_is_one_that_may_be_tried():
    study = Study(server, X)
    for x in (0.1, 0.6, 0.7):
        study.add({"x": x}, finalMeasurement=vizier.measured(x))
    edit(study, double("x", 0.5, 1))
    best = study.good("GET", OURS + number(study) + "/best")
    tap.equal((best["id"], best["hypertune"]["outside"]), ("1", True))
    best = study.good("GET", OURS + number(study) + "/best?within=true")
    tap.equal((best["id"], "outside" in best["hypertune"]), ("2", False))
    tap.equal(status_of(study)["best"]["id"], "1")
    edit(study, double("x", 0.8, 1))
    status, answer = server.call("GET", OURS + number(study) +
                                 "/best?within=true")
    tap.equal((status, answer["error"]["status"]), (404, "NOT_FOUND"))


def bounds_decide_anew_what_is_best():
    def goals(threshold):
        return [vizier.METRIC,
                {"metricId": "size", "goal": "MINIMIZE",
                 "safetyConfig": {"safetyThreshold": threshold}}]
    study = Study(server, X, metrics=goals(5))
    for x, size in ((0.1, 9), (0.3, 4)):
        study.add({"x": x}, finalMeasurement={"metrics": [
            {"metricId": "loss", "value": x},
            {"metricId": "size", "value": size}]})
    tap.equal(status_of(study)["best"]["id"], "2")
    edit(study, metrics=goals(10))
    tap.equal(status_of(study)["best"]["id"], "1")
    edit(study, metrics=goals(5))
    tap.equal((status_of(study)["best"]["id"], outside(study)), ("2", []))


def what_needs_another_study_is_refused_by_name():
    study = Study(server, X, LAYERS, OPT)
    search(study, 1)
    for text, edited in (
            ("parameters.x", {"parameters": [
                {"parameterId": "x", "integerValueSpec": {
                    "minValue": "0", "maxValue": "1"}}, LAYERS, OPT]}),
            ("parameters.x", {"parameters": [LAYERS, OPT]}),
            ("parameters.y",
             {"parameters": [X, LAYERS, OPT, double("y", 0, 1)]}),
            ("parameters.x", {"parameters": [dict(
                double("x", 0.1, 1), scaleType="UNIT_LOG_SCALE"), LAYERS,
                OPT]}),
            ("goal", {"metrics": [{"metricId": "loss", "goal": "MAXIMIZE"}]}),
            ("seed", {"hypertune": {"seed": "2"}})):
        status, message = refusal(study, *edited.pop("parameters", ()),
                                  **edited)
        tap.equal(status, 409, message)
        tap.contains(text, message)
        tap.contains("hypertune clone", message)
    status, message = refusal(study, double("x", 1, 0), LAYERS, OPT)
    tap.equal(status, 400, message)
    status, message = refusal(study, hypertune={"constraints": ["y > 1"]})
    tap.equal(status, 400, message)
    search(study, 2)
    is_proven(study)
    study = Study(server, LAYERS)
    status, message = refusal(study, LAYERS, algorithm="GRID_SEARCH")
    tap.equal(status, 409, message)
    tap.contains("algorithm: random -> grid", message)


def an_edit_is_an_event_with_its_differences():
    study = Study(server, X, LAYERS)
    edit(study, double("x", 0, 0.5), LAYERS)
    edit(study, double("x", 0, 0.5), LAYERS)  # no difference, no event
    event, = events(study, "study.changed")
    tap.equal((event["actor"], event["reason"]),
              ("admin", "parameters.x.max: 1 -> 0.5\n"))
    tap.true(event["timeMs"] > 0)
    edit(study, X, LAYERS, hypertune={"constraints": ["x > 0.1"]},
         observationNoise="LOW")
    reason = events(study, "study.changed")[1]["reason"]
    for difference in ("parameters.x.max: 0.5 -> 1\n",
                       "constraints: none -> [\"x > 0.1\"]\n", "noise:"):
        tap.contains(difference, reason)


def the_table_is_sent_again_after_an_edit():
    study = Study(server, X)
    for x in (0.1, 0.6):
        study.add({"x": x}, finalMeasurement=vizier.measured(x))
    since = revision(study)
    edit(study, double("x", 0.5, 1))
    table = study.good("GET", OURS + number(study) + "/table?since=%d" % since)
    at = table["columns"].index("outside")
    tap.equal([row[at] for row in table["rows"]], [1, 0])


def a_point_stocked_before_is_not_given_after():
    study = Study(server, X, algorithm="ALGORITHM_UNSPECIFIED")
    search(study, 4)
    for low, high in ((0.5, 0.6), (0.1, 0.2), (0.8, 0.9)):
        edit(study, double("x", low, high))
        for trial in study.suggest(2, "of %g" % low)["trials"]:
            x = vizier.values(trial["parameters"])["x"]
            tap.true(low <= x <= high, (low, x))
            study.complete("/v1/" + trial["name"], loss({"x": x}))
    is_proven(study)


def edits_of_several_people_while_clients_search():
    study = Study(server, X, LAYERS, algorithm="ALGORITHM_UNSPECIFIED")
    ranges = [(0, 0.6), (0.2, 0.9), (0.1, 2), (0.4, 0.7)]

    def client(name):
        for _ in range(6):
            for trial in study.suggest(2, name)["trials"]:
                study.complete("/v1/" + trial["name"], loss(
                    vizier.values(trial["parameters"])))

    def person(ranges):
        for low, high in ranges:
            body = changed(study.body, [double("x", low, high), LAYERS])
            study.good("PATCH", OURS + number(study), {"job": body})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        running = [pool.submit(client, "a"), pool.submit(client, "b"),
                   pool.submit(person, ranges),
                   pool.submit(person, ranges[::-1])]
        for one in running:
            one.result()
    tap.true(len(events(study, "study.changed")) >= len(ranges))
    is_proven(study)
    now = study.good("GET", OURS + number(study))["studySpec"]["parameters"]
    low, high = [now[0]["doubleValueSpec"][key]
                 for key in ("minValue", "maxValue")]
    tap.equal(outside(study), [str(i + 1) for i, point in
                               enumerate(points(study))
                               if not low <= point["x"] <= high])


def a_point_that_a_person_adds_may_lie_outside():
    study = Study(server, X, hypertune={"constraints": ["x > 0.5"]})
    for x in (0.25, 0.75):
        study.add({"x": x}, finalMeasurement=vizier.measured(x))
    tap.equal(outside(study), ["1"])
    best = study.good("GET", OURS + number(study) + "/best?within=true")
    tap.equal(best["id"], "2")


# --- jobs ---

def job_study(name, **changes):
    study = Study.__new__(Study)
    study.server = server
    study.body = api.job(name, **changes)
    study.name = study.good("POST", api.JOBS, study.body)["name"]
    study.path = "/v1" + OURS + number(study)
    return study


def job_trials(study):
    return study.good("GET", OURS + number(study) + "/trials")["trials"]


def lr(low, high):
    return dict(double("lr", low, high), scaleType="UNIT_LOG_SCALE")


def states(study):
    return [(trial["id"], trial["hypertune"]["state"])
            for trial in job_trials(study)]


def what_has_not_begun_is_withdrawn():
    with Runner(server, slots=1) as runner:
        study = job_study("withdrawn", maxTrialCount=8, parallelTrialCount=3,
                          studySpec=dict(api.JOB["studySpec"],
                                         parameters=[lr(0.1, 1), OPT]))
        first = runner.one()
        harness.wait_until(lambda: len(states(study)) == 3, "three trials")
        # The search completes it beside trials that are withdrawn later.
        study.good("POST", OURS + number(study) + "/trials",
                   {"parameters": [{"parameterId": "lr", "value": 0.1}]})
        edit(study, lr(0.5, 2), OPT)
        gone = events(study, "trial.deleted")
        tap.equal([(event["trial"], event["from"], event["reason"])
                   for event in gone],
                  [(2, "REQUESTED", "withdrawn: the study has changed"),
                   (3, "REQUESTED", "withdrawn: the study has changed")])
        first.succeed(0.5)
        for _ in range(7):
            runner.one().succeed(0.5)
        server.wait_study("withdrawn")
    found = {trial["id"]: trial["hypertune"] for trial in job_trials(study)}
    tap.equal(len(found), 8)  # its whole budget was tried
    tap.equal(status_of(study)["counts"]["succeeded"], 8)
    tap.equal(found["4"]["params"]["lr"], 0.1)  # a person chose it
    tap.equal([own["params"] for key, own in found.items()
               if int(key) > 4 and not 0.5 <= own["params"]["lr"] <= 2], [])
    is_proven(study)


def a_trial_that_ran_with_withdrawn_ones_is_proven():
    with Runner(server, slots=2) as runner:
        study = job_study("pending", maxTrialCount=9, parallelTrialCount=4,
                          studySpec=dict(api.JOB["studySpec"],
                                         algorithm="ALGORITHM_UNSPECIFIED"))
        runner.one().succeed(0.1)
        running = runner.one()
        harness.wait_until(lambda: len(states(study)) == 5, "five trials")
        runner.one().succeed(0.9)  # trial 3; one more is made beside 4 and 5
        harness.wait_until(lambda: len(states(study)) == 6, "six trials")
        late = runner.one()
        edit(study, lr(0.2, 0.6))
        running.succeed(0.4)
        edit(study, lr(0.3, 3))
        late.succeed(0.3)
        while status_of(study)["state"] == "RUNNING":
            attempts = runner.lease()
            if attempts:
                attempts[0].succeed(0.2)
    tap.equal(len(states(study)), 9)
    tap.true(len(events(study, "trial.deleted")) >= 2)
    is_proven(study)


def a_finished_study_is_edited_and_goes_on():
    with Runner(server, slots=1) as runner:
        study = job_study("finished", maxTrialCount=2)
        for _ in range(2):
            runner.one().succeed(0.5)
        server.wait_study("finished")
        edit(study, lr(0.6, 1))
        tap.equal((status_of(study)["state"], len(states(study))),
                  ("SUCCEEDED", 2))
        study.body["maxTrialCount"] = 4
        edit(study, lr(0.7, 0.8))
        tap.equal(status_of(study)["state"], "RUNNING")
        for _ in range(2):
            runner.one().succeed(0.5)
        server.wait_study("finished")
    tap.equal([trial["hypertune"]["params"] for trial in job_trials(study)[2:]
               if not 0.7 <= trial["hypertune"]["params"]["lr"] <= 0.8], [])
    is_proven(study)


with harness.Server("--runner", "none") as server:
    tap.run([
        each_search_follows_its_edits_and_is_proven,
        a_grid_lists_the_new_points_only,
        several_goals_have_a_front_within,
        the_best_within_is_one_that_may_be_tried,
        bounds_decide_anew_what_is_best,
        what_needs_another_study_is_refused_by_name,
        an_edit_is_an_event_with_its_differences,
        the_table_is_sent_again_after_an_edit,
        a_point_stocked_before_is_not_given_after,
        edits_of_several_people_while_clients_search,
        a_point_that_a_person_adds_may_lie_outside,
        what_has_not_begun_is_withdrawn,
        a_trial_that_ran_with_withdrawn_ones_is_proven,
        a_finished_study_is_edited_and_goes_on,
    ])
