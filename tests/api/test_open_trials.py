"""Studies whose trials define the space, and texts kept with them."""

import time

import api
import harness
import tap

server = None
made = 0


def study(**own):
    """A new study of clients with an open space; its paths' beginning."""
    global made
    made += 1
    answer = api.send(server, "POST", harness.STUDIES.rstrip("/"), {
        "displayName": "open %d" % made,
        "studySpec": {"metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
                      "parameters": []},
        "hypertune": {"openSpace": True, **own}})
    tap.equal(answer.status, 200, answer.body)
    tap.equal(answer.json()["hypertuneStatus"]["openSpace"], True)
    return harness.OURS + answer.json()["name"].rsplit("/", 1)[1]


def post(path, body, status=200):
    answer = api.send(server, "POST", path, body)
    tap.equal(answer.status, status, answer.body)
    return answer.json()


def get(path):
    return api.ask(server, "GET", path).json()


def opened(path, **body):
    return post(path + "/trials:open", body)


def define(path, trial, values, specs=(), status=200):
    return post("%s/trials/%s:define" % (path, trial), {
        "parameterSpecs": list(specs),
        "parameters": [{"parameterId": name, "value": value}
                       for name, value in values.items()]}, status)


def double(name, low, high, **more):
    return {"parameterId": name,
            "doubleValueSpec": {"minValue": low, "maxValue": high}, **more}


def labels(name, *values):
    return {"parameterId": name,
            "categoricalValueSpec": {"values": list(values)}}


def a_trial_tells_its_parameters_one_by_one():
    path = study()
    trial = opened(path)
    tap.equal((trial["state"], trial["hypertune"]["params"]), ("ACTIVE", {}))
    define(path, 1, {"x": 0.5}, [double("x", 0, 1)])
    trial = define(path, 1, {"opt": "sgd"}, [labels("opt", "adam", "sgd")])
    tap.equal(trial["hypertune"]["params"], {"x": 0.5, "opt": "sgd"})
    tap.equal(trial["parameters"], [{"parameterId": "x", "value": 0.5},
                                   {"parameterId": "opt", "value": "sgd"}])
    define(path, 1, {"x": 0.25})
    tap.equal(get(path + "/trials/1")["hypertune"]["params"]["x"], 0.25)


def the_space_grows_by_what_trials_say():
    path = study()
    for number in (1, 2, 3):
        opened(path)
        define(path, number, {"x": float(number)},
               [double("x", 0, number), labels("c", "a", "b%d" % number),
                {"parameterId": "n", "integerValueSpec":
                 {"minValue": -number, "maxValue": 5 - number}},
                {"parameterId": "d", "discreteValueSpec":
                 {"values": [1, 1 + number]}}])
    tap.equal(get(path)["studySpec"]["parameters"], [
        double("x", 0, 3), labels("c", "a", "b1", "b2", "b3"),
        {"parameterId": "n", "integerValueSpec":
         {"minValue": "-3", "maxValue": "4"}},
        {"parameterId": "d", "discreteValueSpec": {"values": [1, 2, 3, 4]}}])
    table = get(path + "/table")
    tap.equal(table["parameters"], ["x", "c", "n", "d"])
    at = table["columns"].index("parameters")
    tap.equal([row[at][:2] for row in table["rows"]],
              [[1, None], [2, None], [3, None]])


def a_wider_space_outlives_a_restart():
    path = study()
    opened(path)
    define(path, 1, {"x": 0.5}, [double("x", 0, 1)])
    server.kill()
    server.start()
    define(path, 1, {"x": 0.75})
    tap.equal(get(path)["studySpec"]["parameters"], [double("x", 0, 1)])


def what_does_not_fit_is_refused():
    path = study()
    opened(path)
    define(path, 1, {"x": 0.5}, [double("x", 0, 1)])
    define(path, 1, {"x": 2}, status=400)
    define(path, 1, {"y": 2}, status=400)
    define(path, 1, {}, [double("x", 1, 2, scaleType="UNIT_LOG_SCALE")], 400)
    define(path, 1, {}, [labels("x", "a")], 400)
    define(path, 1, {}, [{**labels("c", "a"), "conditionalParameterSpecs": [
        {"parentCategoricalValues": {"values": ["a"]},
         "parameterSpec": double("z", 0, 1)}]}], 400)
    define(path, 1, {}, [double("p%d" % n, 0, 1) for n in range(64)], 400)
    define(path, 7, {}, status=404)
    tap.equal(get(path)["studySpec"]["parameters"], [double("x", 0, 1)])
    tap.equal(get(path + "/trials/1")["hypertune"]["params"], {"x": 0.5})


def a_waiting_trial_begins_when_it_is_defined():
    path = study()
    tap.equal(opened(path, state="REQUESTED")["hypertune"]["state"],
              "REQUESTED")
    made = get(path)["createTime"]
    begun = define(path, 1, {})
    tap.equal((begun["state"], begun["startTime"] >= made), ("ACTIVE", True),
              begun)


def the_same_point_is_another_replicate():
    path = study()
    for number, replicate in ((1, 0), (2, 1), (3, 2)):
        opened(path)
        define(path, number, {"x": 0.5}, [double("x", 0, 1)])
        tap.equal(get("%s/trials/%d" % (path, number))["hypertune"]
                  .get("replicate", 0), replicate)


def trials_are_measured_and_end_as_others_do():
    path = study(earlyStopping={"rule": "median", "minMeasurements": 2})
    for number in range(1, 13):
        opened(path)
        names = {"x": number / 12} if number % 2 else {
            "x": number / 12, "y": 1.0}
        define(path, number, names, [double("x", 0, 1), double("y", 0, 2)])
        trials = harness.STUDIES + path.rsplit("/", 1)[1] + "/trials/%d" % (
            number)
        for step in (1, 2, 3):
            post(trials + ":addTrialMeasurement", {"measurement": {
                "stepCount": step, "metrics": [{"metricId": "loss",
                                                "value": number}]}})
            if step == 2:  # at its end no rule stops a trial
                stop = post(trials + ":checkTrialEarlyStoppingState", {})
        post(trials + ":complete", {})
    tap.equal(stop["response"].get("shouldStop"), True)
    define(path, 1, {"x": 1}, status=400)
    tap.equal(get(path + "/best")["id"], "1")
    answer = get(path + "/importances")
    tap.equal((answer["trials"], answer["importances"][0]["parameter"]),
              (12, "x"), "what a trial lacks is absent to the model")
    line = get(path + "/slice?x=x")["median"]
    tap.true(line[0] < line[-1], line)


def the_search_has_no_say_there():
    path = study()
    error = post(harness.STUDIES + path.rsplit("/", 1)[1] + "/trials:suggest",
                 {"suggestionCount": 1, "clientId": "a"}, 400)["error"]
    tap.equal(error["status"], "FAILED_PRECONDITION")
    for number in range(1, 12):
        opened(path)
        post("%s%s/trials/%d:complete" % (
            harness.STUDIES, path.rsplit("/", 1)[1], number),
            {"finalMeasurement": {"metrics": [{"metricId": "loss",
                                               "value": number}]}})
    tap.equal(get(path + "/preview")["suggestions"], [])
    tap.equal(server.pages(path + "/replay", "trials"), [])
    tap.equal((get(path + "/importances")["trials"],
               get(path + "/importances")["importances"]), (11, []))


def other_studies_have_no_open_trials():
    spec = {"metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [double("x", 0, 1)]}
    name = post(harness.STUDIES.rstrip("/"), {
        "displayName": "closed", "studySpec": spec})["name"]
    path = harness.OURS + name.rsplit("/", 1)[1]
    post(path + "/trials:open", {}, 400)
    post(harness.STUDIES.rstrip("/"), {"displayName": "none", "studySpec": {
        **spec, "parameters": []}}, 400)
    job = api.job("job", hypertune={"name": "job", "openSpace": True})
    answer = api.send(server, "POST", harness.JOBS.rstrip("/"), job)
    tap.equal((answer.status, b"openSpace" in answer.body), (400, True))


def a_name_never_begins_with_a_dash():
    answer = post(harness.STUDIES.rstrip("/"), {
        "displayName": "\u00fc -x", "studySpec": {
            "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "parameters": [double("x", 0, 1)]}})
    tap.equal(answer["hypertuneStatus"]["name"], "x")


# --- metadata ---


def patch(path, body, status=200):
    answer = api.send(server, "PATCH", path + "/metadata", body)
    tap.equal(answer.status, status, answer.body)
    return answer.json()


def item(key, value=None, trial=0, ns="t"):
    return {"trial": trial, "ns": ns, "key": key,
            **({} if value is None else {"value": value})}


def texts_are_stored_and_returned_by_version():
    path = study()
    opened(path, metadata=[{"ns": "t", "key": "state", "value": "NEW"}])
    patch(path, {"metadata": [item("a", "1"), item("a", "2", trial=1)]})
    first = get(path + "/metadata")
    tap.equal(first["metadata"], [item("state", "NEW", 1), item("a", "1"),
                                  item("a", "2", 1)])
    tap.equal(first["more"], False)
    patch(path, {"metadata": [item("a", "\u00e4 3"), item("", "e", ns="")]})
    since = get("%s/metadata?since=%d" % (path, first["version"]))
    tap.equal(since["metadata"], [item("a", "\u00e4 3"), item("", "e", ns="")])
    now = time.time() * 1000
    since = get("%s/metadata?since=%d" % (path, since["version"]))
    tap.true(abs(since.pop("nowMs") - now) < 60000)
    tap.equal(since, {"version": since["version"], "more": False,
                      "metadata": []})


def long_lists_continue_where_they_were():
    path = study()
    for n in range(6):
        patch(path, {"metadata": [item("%d" % (1000 * n + i), "v")
                                  for i in range(1000)]})
    first = get(path + "/metadata")
    rest = get("%s/metadata?since=%d" % (path, first["version"]))
    tap.equal((first["more"], rest["more"]), (True, False))
    keys = [row["key"] for row in first["metadata"] + rest["metadata"]]
    tap.equal(keys, ["%d" % n for n in range(6000)])


def a_change_may_expect_what_is_there():
    path = study()
    opened(path, metadata=[item("state", "WAITING")])
    patch(path, {"metadata": [item("state", "RUNNING", 1)],
                 "expect": [item("state", "WAITING", 1),
                            item("owner", None, 1)]})
    for expected in (item("state", "WAITING", 1), item("state", None, 1),
                     item("missing", "x", 1)):
        lost = patch(path, {"metadata": [item("state", "LOST", 1)],
                            "expect": [expected]}, 409)
        tap.equal(lost["error"]["status"], "ABORTED")
    tap.equal(get(path + "/metadata")["metadata"],
              [item("state", "RUNNING", 1)])


def a_wrong_change_changes_nothing():
    path = study()
    patch(path, {"metadata": [item("a", "1"), item("b", "1", trial=9)]}, 404)
    for wrong in ([{"ns": "t"}], [item("a", 3)], [item("k" * 1025, "v")],
                  [item("a", "v", ns="n" * 129)], {"a": 1},
                  [item("a", "v")] * 1001, [{**item("a"), "more": 1}]):
        patch(path, {"metadata": wrong}, 400)
    tap.equal(get(path + "/metadata")["metadata"], [])


def user_attributes_are_shown():
    path = study()
    opened(path, metadata=[item("user:a b", '["<b>"]', ns="optuna"),
                           item("system:s", "1", ns="optuna"),
                           item("user:other", "1")])
    opened(path)
    tap.equal([get(path + "/trials/%d" % i)["hypertune"].get("userAttributes")
               for i in (1, 2)], [{"a b": '["<b>"]'}, None])
    tap.equal(["userAttributes" in t["hypertune"]
               for t in get(path + "/trials")["trials"]], [True, False])
    tap.lacks("userAttributes", get(path)["hypertuneStatus"])
    patch(path, {"metadata": [item("user:n", "NaN", ns="optuna")]})
    tap.equal(get(path)["hypertuneStatus"]["userAttributes"], {"n": "NaN"})
    tap.lacks("moreUserAttributes", get(path)["hypertuneStatus"])


def user_attributes_beyond_a_bound_are_left_out():
    path = study()
    opened(path, metadata=[item("user:%02d" % i, str(i), ns="optuna")
                           for i in range(33)])
    own = get(path + "/trials/1")["hypertune"]
    tap.equal(own["userAttributes"], {"%02d" % i: str(i) for i in range(32)})
    tap.equal(own["moreUserAttributes"], True)
    patch(path, {"metadata": [item("user:long", "x" * 1025, ns="optuna"),
                              item("user:short", "x" * 1024, ns="optuna")]})
    status = get(path)["hypertuneStatus"]
    tap.equal((list(status["userAttributes"]), status["moreUserAttributes"]),
              (["short"], True))


def texts_go_with_their_trial_and_study():
    path = study()
    opened(path, metadata=[item("a", "1")])
    opened(path, metadata=[item("a", "2")])
    number = path.rsplit("/", 1)[1]
    api.send(server, "DELETE", "%s%s/trials/1" % (harness.STUDIES, number), {})
    tap.equal(get(path + "/metadata")["metadata"], [item("a", "2", 2)])
    api.send(server, "DELETE", harness.STUDIES + number, {})
    tap.equal(api.ask(server, "GET", path + "/metadata").status, 404)


def a_study_of_clients_is_deleted_while_it_runs():
    for remove in (
            lambda path: server.cli("delete", path.rsplit("/", 1)[1], "--yes"),
            lambda path: tap.equal(api.send(server, "DELETE", path,
                                            {}).status, 200)):
        path = study()
        opened(path)
        tap.equal(get(path)["hypertuneStatus"]["state"], "RUNNING")
        remove(path)
        tap.equal(api.ask(server, "GET", path).status, 404)


def main():
    global server
    with harness.Server("--runner", "none") as server:
        tap.run([
            a_trial_tells_its_parameters_one_by_one,
            the_space_grows_by_what_trials_say,
            a_wider_space_outlives_a_restart,
            what_does_not_fit_is_refused,
            a_waiting_trial_begins_when_it_is_defined,
        the_same_point_is_another_replicate,
            trials_are_measured_and_end_as_others_do,
            the_search_has_no_say_there,
            other_studies_have_no_open_trials,
            a_name_never_begins_with_a_dash,
            texts_are_stored_and_returned_by_version,
            long_lists_continue_where_they_were,
            a_change_may_expect_what_is_there,
            a_wrong_change_changes_nothing,
            user_attributes_are_shown,
            user_attributes_beyond_a_bound_are_left_out,
            texts_go_with_their_trial_and_study,
            a_study_of_clients_is_deleted_while_it_runs,
        ])


if __name__ == "__main__":
    main()
