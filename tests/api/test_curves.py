"""How metrics went in the best trials: which ones, and thinned how."""

import api
import harness
import tap
from fake_runner import Runner

server = None


def curves(study, query=""):
    answer = api.ask(server, "GET", "%s/studies/%s/curves%s"
                     % (api.OURS, study, query))
    tap.equal(answer.status, 200, answer.body)
    return answer.json()


def refusal(study, query):
    answer = api.ask(server, "GET", "%s/studies/%s/curves%s"
                     % (api.OURS, study, query))
    return answer.status, answer.error()["message"]


def make_study(name, goal="MAXIMIZE"):
    spec = {"metrics": [{"metricId": "score", "goal": goal},
                        {"metricId": "cost", "goal": "MINIMIZE"}],
            "algorithm": "RANDOM_SEARCH",
            "parameters": [{"parameterId": "n", "integerValueSpec": {
                "minValue": "1", "maxValue": "1000"}}]}
    made = api.send(server, "POST", api.STUDIES,
                    {"displayName": name, "studySpec": spec})
    tap.equal(made.status, 200, made.body)
    return made.json()["name"].rsplit("/", 1)[1]


def call(path, body):
    answer = api.send(server, "POST", path, body)
    tap.equal(answer.status, 200, answer.body)
    return answer.json()


def metrics(values):
    return [{"metricId": key, "value": value} for key, value in values.items()]


def train(study, values, n, ends=True, cost=1):
    """A trial of a client that scores `values` one step after the other."""
    trials = "%s/%s/trials" % (api.STUDIES, study)
    trial = call(trials, {"state": "ACTIVE", "clientId": "c", "parameters": [
        {"parameterId": "n", "value": n}]})["id"]
    for step, value in enumerate(values, 1):
        call("%s/%s:addTrialMeasurement" % (trials, trial), {"measurement": {
            "stepCount": str(step), "metrics": metrics({"score": value})}})
    if ends:
        call("%s/%s:complete" % (trials, trial), {"finalMeasurement": {
            "stepCount": str(len(values)),
            "metrics": metrics({"score": values[-1], "cost": cost})}})
    return int(trial)


def trials_of(answer):
    return [curve["trial"] for curve in answer["curves"]]


def the_best_come_first_and_then_what_runs():
    study = make_study("ranked")
    poor = train(study, [1, 2], 1)
    good = train(study, [1, 9], 2)
    middle = train(study, [1, 5], 3)
    runs = train(study, [1], 4, ends=False)
    answer = curves(study)
    tap.equal((answer["metric"], answer["left"]), ("score", 0))
    tap.equal(trials_of(answer), [good, middle, poor, runs])
    tap.equal(answer["curves"][0], {"trial": good, "steps": [1, 2],
                                    "values": [1, 9]})
    tap.equal(trials_of(curves(study, "?top=2")), [good, middle, runs])


def the_smallest_are_the_best_where_they_should_be():
    study = make_study("smallest", "MINIMIZE")
    high, low = train(study, [9], 1), train(study, [2], 2)
    tap.equal(trials_of(curves(study)), [low, high])


def a_long_curve_is_thinned_evenly_with_both_its_ends():
    study = make_study("long")
    train(study, list(range(101)), 1)
    for points in (2, 3, 11, 50, 100):
        curve, = curves(study, "?points=%d" % points)["curves"]
        steps = curve["steps"]
        tap.equal((len(steps), steps[0], steps[-1]), (points, 1, 101))
        gaps = [b - a for a, b in zip(steps, steps[1:])]
        tap.true(max(gaps) - min(gaps) <= 1, gaps)
        tap.equal(curve["values"], [step - 1 for step in steps])
    for points in (101, 102, 1000):
        curve, = curves(study, "?points=%d" % points)["curves"]
        tap.equal(curve["steps"], list(range(1, 102)))


def a_curve_is_of_one_metric():
    study = make_study("metric")
    trial = train(study, [1, 2], 1)
    path = "%s/%s/trials" % (api.STUDIES, study)
    other = call(path, {"state": "ACTIVE", "clientId": "c", "parameters": [
        {"parameterId": "n", "value": 2}]})["id"]
    reported = ({"cost": 5}, {"score": 3}, {"cost": 4})
    for step, values in enumerate(reported, 1):
        call("%s/%s:addTrialMeasurement" % (path, other), {"measurement": {
            "stepCount": str(step), "metrics": metrics(values)}})
    tap.equal(curves(study, "?metric=cost")["curves"],
              [{"trial": int(other), "steps": [1, 3], "values": [5, 4]}])
    tap.equal(trials_of(curves(study)), [trial, int(other)])


def of_one_step_the_newest_value_counts():
    study = make_study("twice")
    path = "%s/%s/trials" % (api.STUDIES, study)
    trial = call(path, {"state": "ACTIVE", "clientId": "c", "parameters": [
        {"parameterId": "n", "value": 1}]})["id"]
    for step, seconds, value in ((1, 1, 5), (2, 2, 6), (2, 3, 7), (3, 4, 8)):
        call("%s/%s:addTrialMeasurement" % (path, trial), {"measurement": {
            "stepCount": str(step), "elapsedDuration": "%ds" % seconds,
            "metrics": metrics({"score": value})}})
    curve, = curves(study)["curves"]
    tap.equal((curve["steps"], curve["values"]), ([1, 2, 3], [5, 7, 8]))


def values_that_are_not_finite_are_listed_apart():
    study = make_study("diverged")
    trial = train(study, [1, "NaN", 3, "Infinity", 5], 1, ends=False)
    curve, = curves(study)["curves"]
    tap.equal(curve, {"trial": trial, "steps": [1, 3, 5], "values": [1, 3, 5],
                      "notFinite": [{"step": 2, "value": "NaN"},
                                    {"step": 4, "value": "Infinity"}]})
    lost = train(study, ["NaN"] * 9, 2, ends=False)
    curve, = [one for one in curves(study, "?points=3")["curves"]
              if one["trial"] == lost]
    tap.equal((curve["steps"], [one["step"] for one in curve["notFinite"]]),
              ([], [1, 5, 9]))


def metrics_of_no_goal_have_curves_too():
    made = api.send(server, "POST", api.JOBS, api.job(
        "misspelt", maxTrialCount=1, hypertune={"name": "misspelt"}))
    tap.equal(made.status, 200, made.body)
    tap.equal(curves("misspelt")["metrics"], ["accuracy"])
    with Runner(server) as runner:
        lease = runner.one().started()
        for step, value in ((1, 0.1), (2, 0.2)):
            lease.report(value, step, metric='acu"racy')
        lease.ended("succeeded", exit=0)
        harness.wait_until(lambda: api.ask(
            server, "GET", api.OURS + "/studies/misspelt/trials/1")
            .json()["hypertune"]["state"] == "INFEASIBLE", "its end")
    answer = curves("misspelt")
    tap.equal((answer["metrics"], answer["curves"]),
              (["accuracy", 'acu"racy'], []))
    curve, = curves("misspelt", "?metric=acu%22racy")["curves"]
    tap.equal(curve, {"trial": 1, "steps": [1, 2], "values": [0.1, 0.2]})


def what_is_asked_wrongly_is_refused():
    study = make_study("wrong")
    tap.equal(refusal(study, "?metric=speed"),
              (400, 'metric: the study has no "speed"'))
    tap.equal(refusal(study, "?metric=scores"),
              (400, 'metric: the study has no "scores" (did you mean '
                    'score?)'))
    for query in ("?top=0", "?top=1001", "?points=1", "?points=x"):
        tap.equal(refusal(study, query)[0], 400, query)
    tap.equal(refusal("none", "")[0], 404)
    tap.equal(curves(study)["curves"], [])


def what_a_further_attempt_measures_again_is_left_out():
    made = api.send(server, "POST", api.JOBS, api.job(
        "again", maxTrialCount=1, hypertune={"name": "again", "retries": 1}))
    tap.equal(made.status, 200, made.body)
    with Runner(server) as runner:
        first = runner.one().started()
        for step, value in ((1, 0.1), (2, 0.2), (3, 0.9), (4, 0.8)):
            first.report(value, step)
        first.ended("failed", exit=3, reason="exit 3")
        second = runner.one().started()
        for step, value in ((3, 0.3), (5, 0.5)):
            second.report(value, step)
        second.ended("succeeded", exit=0)
        harness.wait_until(lambda: api.ask(
            server, "GET", api.OURS + "/studies/again/best").status == 200,
            "a result")
    curve, = curves("again")["curves"]
    tap.equal((curve["steps"], curve["values"]),
              ([1, 2, 3, 5], [0.1, 0.2, 0.3, 0.5]))


with harness.Server("--runner", "none") as server:
    tap.run([
        the_best_come_first_and_then_what_runs,
        the_smallest_are_the_best_where_they_should_be,
        a_long_curve_is_thinned_evenly_with_both_its_ends,
        a_curve_is_of_one_metric,
        of_one_step_the_newest_value_counts,
        values_that_are_not_finite_are_listed_apart,
        metrics_of_no_goal_have_curves_too,
        what_is_asked_wrongly_is_refused,
        what_a_further_attempt_measures_again_is_left_out,
    ])
