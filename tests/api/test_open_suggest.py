"""The search gives open trials values of a space that a question brings."""

import api
import harness
import tap

server = None
made = 0
SPEC = {"metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
        "parameters": []}


def study():
    """A new study of clients with an open space; its paths' beginning."""
    global made
    made += 1
    answer = api.send(server, "POST", harness.STUDIES.rstrip("/"), {
        "displayName": "open %d" % made, "studySpec": SPEC,
        "hypertune": {"openSpace": True}})
    tap.equal(answer.status, 200, answer.body)
    return harness.OURS + answer.json()["name"].rsplit("/", 1)[1]


def post(path, body, status=200):
    answer = api.send(server, "POST", path, body)
    tap.equal(answer.status, status, answer.body)
    return answer.json()


def get(path):
    return api.ask(server, "GET", path).json()


def opened(path):
    return int(post(path + "/trials:open", {})["id"])


def double(name, low, high):
    return {"parameterId": name,
            "doubleValueSpec": {"minValue": low, "maxValue": high}}


def whole(name, low, high):
    return {"parameterId": name, "integerValueSpec": {
        "minValue": str(low), "maxValue": str(high)}}


def wanted(*specs, **own):
    return {"studySpec": {"parameters": list(specs), **own.pop("spec", {})},
            "hypertune": {"seed": "7", **own}}


def suggest(path, trial, search, status=200, **given):
    answer = post("%s/trials/%d:suggest" % (path, trial), {
        "search": search, "parameters": [
            {"parameterId": name, "value": value}
            for name, value in given.items()]}, status)
    return answer["hypertune"]["params"] if status == 200 else answer


def complete(path, trial, value):
    post("%s%s/trials/%d:complete" % (
        harness.STUDIES, path.rsplit("/", 1)[1], trial),
        {"finalMeasurement": {"metrics": [{"metricId": "loss",
                                           "value": value}]}})


def replayed(path):
    return [(int(trial["trial"]), trial["verdict"])
            for trial in server.pages(path + "/replay", "trials")]


def a_space_that_grows_is_searched_in_one_study():
    path = study()
    best = []
    for number in range(1, 41):
        trial = opened(path)
        specs = [double("x", -5, 10)] + (
            [double("y", 0, 1)] if number > 12 else [])
        params = suggest(path, trial, wanted(*specs))
        tap.equal(sorted(params), ["x", "y"][:len(specs)])
        loss = (params["x"] - 2) ** 2 + params.get("y", 1.0)
        complete(path, trial, loss)
        best.append(loss)
    tap.true(min(best) < 0.05, min(best))
    tap.equal(replayed(path), [(n, "SAME") for n in range(1, 41)])
    tap.equal(get(path)["studySpec"]["parameters"],
              [double("x", -5, 10), double("y", 0, 1)])
    why = get(path + "/trials/40")["hypertune"]["why"]
    tap.equal((why["context"]["trial"], why["ordinal"]), ("40", "39"))


def the_same_seed_and_results_give_the_same_points():
    seen = []
    for _ in range(2):
        path = study()
        for _ in range(14):
            trial = opened(path)
            params = suggest(path, trial, wanted(double("x", 0, 1)))
            complete(path, trial, params["x"])
            seen.append(params)
    tap.equal(seen[:14], seen[14:])


def what_is_given_stays():
    path = study()
    trial = opened(path)
    search = wanted(double("x", 0, 1), whole("n", 1, 9))
    tap.equal(suggest(path, trial, search, n=4)["n"], 4)
    trial = opened(path)
    post("%s/trials/%d:define" % (path, trial), {
        "parameters": [{"parameterId": "n", "value": 6}]})
    params = suggest(path, trial, search)
    tap.equal(params["n"], 6)
    tap.equal(suggest(path, trial, search), params, "asked again")
    tap.equal(replayed(path), [(1, "SAME"), (2, "SAME")])
    post("%s/trials/%d:define" % (path, trial), {
        "parameters": [{"parameterId": "n", "value": 7}]})
    tap.equal(replayed(path), [(1, "SAME")], "7 was not suggested")
    x = get(path + "/trials/1")["hypertune"]["params"]["x"]
    left = post(path + "/trials/1:define", {
        "whole": True, "parameters": [{"parameterId": "x", "value": x}]})
    tap.equal(left["hypertune"]["params"], {"x": x})
    tap.equal(replayed(path), [], "n was suggested, too")
    left = post(path + "/trials/1:define", {"whole": True})
    tap.equal(left["hypertune"]["params"], {})


def open_trials_count_as_they_wait():
    path = study()
    points = []
    for _ in range(12):
        trial = opened(path)
        complete(path, trial, suggest(
            path, trial, wanted(double("x", 0, 1)))["x"])
    for _ in range(8):
        points.append(suggest(path, opened(path),
                              wanted(double("x", 0, 1)))["x"])
    tap.equal(len(set(points)), 8, points)
    why = get(path + "/trials/20")["hypertune"]["why"]
    tap.equal(why["pending"], [str(n) for n in range(13, 20)])
    tap.true(all(verdict == "SAME" for _, verdict in replayed(path)))


def a_grid_ends_and_the_trial_stays_empty():
    path = study()
    search = wanted(whole("n", 1, 5), spec={"algorithm": "GRID_SEARCH"},
                    parameters={"n": {"step": "2"}})
    seen = [suggest(path, opened(path), search) for _ in range(4)]
    tap.equal(sorted(point.get("n", 9) for point in seen), [1, 3, 5, 9])
    tap.equal(get(path)["hypertuneStatus"]["counts"]["active"], 4)
    # Other ranges are not bound to those steps.
    post("%s/trials/4:define" % path, {
        "parameters": [{"parameterId": "n", "value": 2}]})


def a_restart_changes_no_suggestion():
    points = []
    for restarts in (False, True):
        path = study()
        for number in range(16):
            if restarts and number == 14:
                server.kill()
                server.start()
            trial = opened(path)
            params = suggest(path, trial, wanted(double("x", 0, 1)))
            complete(path, trial, params["x"])
            points.append(params["x"])
    tap.equal(points[:16], points[16:])


def what_cannot_be_searched_is_refused():
    path = study()
    trial = opened(path)
    suggest(path, trial, wanted(double("x", 0, 1)))
    trial = opened(path)
    for wrong, word in (
            ({}, "studySpec"), ([], "search"), (wanted(), "parameters"),
            (wanted(double("x", 1, 0)), "minValue"),
            (wanted(whole("x", 0, 1)), "type or scale"),
            (wanted(double("x", 0, 1), openSpace=True), "search"),
            (wanted(double("x", 0, 1), constraints=["x > 0"]), "search"),
            (wanted(double("x", 0, 1), spec={"algorithm": "MAGIC"}),
             "algorithm"),
            (wanted(double("z", 0, 1), spec={"algorithm": "GRID_SEARCH"}),
             "grid"),
            (wanted({**whole("n", 0, 1), "conditionalParameterSpecs": [{
                "parentIntValues": {"values": ["1"]},
                "parameterSpec": double("z", 0, 1)}]}), "conditions")):
        error = suggest(path, trial, wrong, 400)["error"]
        tap.contains(word, str(error))
    suggest(path, trial, wanted(double("x", 0, 1)), 400, x=3)
    suggest(path, 77, wanted(double("x", 0, 1)), 404)
    tap.equal(get(path)["studySpec"]["parameters"], [double("x", 0, 1)])
    tap.equal(get("%s/trials/%d" % (path, trial))["hypertune"]["params"], {})
    complete(path, trial, 1.0)
    suggest(path, trial, wanted(double("x", 0, 1)), 400)
    name = post(harness.STUDIES.rstrip("/"), {
        "displayName": "closed", "studySpec": {
            **SPEC, "parameters": [double("x", 0, 1)]}})["name"]
    closed = harness.OURS + name.rsplit("/", 1)[1]
    post(closed + "/trials", {"parameters": [
        {"parameterId": "x", "value": 0.5}], "state": "ACTIVE"})
    suggest(closed, 1, wanted(double("x", 0, 1)), 400)


def constraints_are_added_as_trials_have_them():
    path = study()
    bound = {"metricId": "c", "goal": "MINIMIZE",
             "safetyConfig": {"safetyThreshold": 0.0}}

    def tell(trial, **metrics):
        post("%s%s/trials/%d:complete" % (
            harness.STUDIES, path.rsplit("/", 1)[1], trial),
            {"finalMeasurement": {"metrics": [
                {"metricId": name, "value": value}
                for name, value in metrics.items()]}})
    trial = opened(path)
    suggest(path, trial, wanted(double("x", 0, 1)))
    tell(trial, loss=-5.0)
    tap.equal(get(path + "/best")["id"], "1")
    late = []
    for number in range(2, 26):
        trial = opened(path)
        x = suggest(path, trial, wanted(double("x", 0, 1)))["x"]
        for _ in range(2):
            post("%s/trials/%d:define" % (path, trial),
                 {"metricSpecs": [bound]})
        tell(trial, loss=x, c=0.3 - x)
        late.append(x)
    tap.equal([metric["metricId"] for metric in
               get(path)["studySpec"]["metrics"]], ["loss", "c"])
    tap.true(sum(x >= 0.3 for x in late[12:]) >= 9, late)
    best = get(path + "/best")["hypertune"]["params"]["x"]
    tap.true(0.3 <= best < 0.4, best)
    tap.true(all(verdict == "SAME" for _, verdict in replayed(path)))
    trial = opened(path)
    for wrong in ({"a": 1}, [{"metricId": "d", "goal": "MINIMIZE"}],
                  [{"goal": "MINIMIZE"}], [3]):
        error = post("%s/trials/%d:define" % (path, trial),
                     {"metricSpecs": wrong}, 400)["error"]
        tap.contains("metric", str(error))


def main():
    global server
    with harness.Server("--runner", "none") as server:
        tap.run([
            a_space_that_grows_is_searched_in_one_study,
            the_same_seed_and_results_give_the_same_points,
            what_is_given_stays,
            open_trials_count_as_they_wait,
            a_grid_ends_and_the_trial_stays_empty,
            a_restart_changes_no_suggestion,
            what_cannot_be_searched_is_refused,
            constraints_are_added_as_trials_have_them,
        ])


if __name__ == "__main__":
    main()
