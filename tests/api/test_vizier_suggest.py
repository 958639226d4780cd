"""Asking for trials: the same ones for a client that asks again, others for
everybody else, whatever happens to the server in between."""

import threading

import api
import harness
import tap
import vizier
from vizier import LAYERS, OPT, X, Study

server = None


def at_once(jobs):
    """Runs the functions in a thread each; returns what they return."""
    found = [None] * len(jobs)

    def work(i):
        found[i] = jobs[i]()
    threads = [threading.Thread(target=work, args=(i,))
               for i in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def ids(response):
    return [trial["id"] for trial in response["trials"]]


def the_answer_has_what_google_sends():
    study = Study(server, X, LAYERS, OPT)
    answer = study.suggest(3)
    tap.equal((answer["@type"], answer["studyState"]),
              (vizier.TYPE + "SuggestTrialsResponse", "ACTIVE"))
    tap.contains("startTime", answer)
    tap.contains("endTime", answer)
    tap.equal(ids(answer), ["1", "2", "3"])
    for trial in answer["trials"]:
        tap.equal((trial["state"], trial["clientId"]), ("ACTIVE", "me"))
        tap.contains("startTime", trial)
        point = vizier.values(trial["parameters"])
        tap.true(0 <= point["x"] <= 1 and point["opt"] in ("a", "b"))
        tap.contains(point["layers"], (1, 2, 3, 4))


def a_client_that_asks_again_gets_the_same():
    study = Study(server)
    first = study.suggest(2)
    tap.equal(study.suggest(2)["trials"], first["trials"])
    tap.equal(ids(study.suggest(1)), ["1"])
    tap.equal(ids(study.suggest(4)), ["1", "2", "3", "4"])
    study.complete("/v1/" + first["trials"][0]["name"], 1)
    tap.equal(ids(study.suggest(4)), ["2", "3", "4", "5"])
    tap.equal(ids(study.suggest(1, "other")), ["6"])


def a_client_without_a_name_is_one_client():
    study = Study(server)
    path = study.path + "/trials:suggest"
    first = study.good("POST", path, {"suggestionCount": 1})
    second = study.good("POST", path, {"suggestionCount": "1", "clientId": ""})
    tap.equal(first["response"]["trials"], second["response"]["trials"])


def wrong_questions_are_refused():
    study = Study(server)
    path = study.path + "/trials:suggest"
    for body, field in (({}, "suggestionCount"),
                        ({"suggestionCount": 0}, "suggestionCount"),
                        ({"suggestionCount": 1001}, "suggestionCount"),
                        ({"suggestionCount": 1.5}, "suggestionCount"),
                        ({"suggestionCount": 1, "clientId": 7}, "clientId"),
                        ({"suggestionCount": 1, "clientId": "x" * 129},
                         "clientId"),
                        ({"suggestionCount": 1, "n": 1}, "n")):
        tap.equal(study.refused("POST", path, body),
                  (400, "INVALID_ARGUMENT", [field]), body)
    tap.equal(study.trials(), [])


# --- contexts ---

STEPS = {"parameterId": "x",
         "discreteValueSpec": {"values": [i / 8 for i in range(9)]}}
ALGORITHMS = ("ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH", "GRID_SEARCH")


def suggestions_have_the_values_of_their_contexts():
    for algorithm in ALGORITHMS:
        study = Study(server, STEPS, LAYERS, OPT, algorithm=algorithm)
        for step in range(4):
            first, second, third = study.suggest_with(
                {"opt": "b"}, {"layers": 3, "opt": "a"}, {})
            tap.equal(first["opt"], "b", algorithm)
            tap.equal((second["layers"], second["opt"]), (3, "a"), algorithm)
            tap.equal(set(third), {"x", "layers", "opt"})
            for trial in study.trials()[3 * step:]:
                study.complete("/v1/" + trial["name"], step)
        points = [str(trial["parameters"]) for trial in study.trials()]
        tap.equal((len(points), len(set(points))), (12, 12), algorithm)


def values_come_back_to_the_last_digit():
    study = Study(server, X, LAYERS, algorithm="ALGORITHM_UNSPECIFIED")
    for x in (0.1, 1 / 3, 5e-324, 1, 0.7000000000000001):
        for _ in range(3):
            tap.equal(study.suggest_with({"x": x})[0]["x"], x)
            study.complete("/v1/" + study.trials()[-1]["name"], x)


def the_reason_of_a_trial_names_its_context():
    study = Study(server, X, OPT)
    trial, other = study.suggest(2, contexts=[
        {"description": "night \u00e9 \"shift\"",
         "parameters": vizier.parameters(opt="b", x=0.25)}, {}])["trials"]
    tap.equal(trial["hypertune"]["why"]["context"],
              {"description": "night \u00e9 \"shift\"",
               "parameters": {"x": 0.25, "opt": "b"}})
    tap.equal(other["hypertune"]["why"]["context"], {})
    last, = study.suggest(1, "other")["trials"]
    tap.lacks("context", last["hypertune"]["why"])


def wrong_contexts_are_refused():
    study = Study(server, X, LAYERS, vizier.BRANCHES,
                  hypertune={"constraints": ["layers <= 3", "x + layers < 4"]})
    path = study.path + "/trials:suggest"

    def of(**point):
        return {"parameters": vizier.parameters(**point)}
    given = "contexts[1].parameters"
    for context, field in (
            (of(x=2), given + "[0].value"),
            (of(x="much"), given + "[0].value"),
            (of(layers=1.5), given + "[0].value"),
            (of(x=0.5, opt="d"), given + "[1].value"),
            (of(z=1), given + "[0].parameterId"),
            ({"parameters": vizier.parameters(x=1) * 2},
             given + "[1].parameterId"),
            ({"parameters": [{"parameterId": "x"}]}, given + "[0].value"),
            ({"parameters": {"x": 1}}, given),
            (of(momentum=0.5, opt="b"), given + "[0].value"),
            (of(rate=0.5, opt="c"), given + "[0].value"),
            (of(rate=0.5), given + "[0].value"),
            (of(rate=7, momentum=0.5), given + "[0].value"),
            (of(layers=4), given),
            (of(layers=3, x=1), given),
            ({"description": 5}, "contexts[1].description"),
            ({"description": "x" * 513}, "contexts[1].description"),
            ({"values": {}}, "contexts[1].values"),
            ("x", "contexts[1]")):
        body = {"suggestionCount": 2, "contexts": [{}, context]}
        tap.equal(study.refused("POST", path, body),
                  (400, "INVALID_ARGUMENT", [field]), context)
    for count, contexts in ((1, [{}, {}]), (2, [{}]), (1, {"x": 1}),
                            (101, [{}] * 101)):
        body = {"suggestionCount": count, "contexts": contexts}
        tap.equal(study.refused("POST", path, body),
                  (400, "INVALID_ARGUMENT", ["contexts"]), count)
    tap.equal(study.trials(), [])
    tap.equal(len(study.suggest(1, contexts=[])["trials"]), 1)


def a_value_of_a_child_brings_its_parent():
    for algorithm in ALGORITHMS[:2]:
        study = Study(server, X, vizier.BRANCHES, algorithm=algorithm)
        for step in range(16):
            points = study.suggest_with(
                {"momentum": 0.5}, {"rate": 7}, {"rate": 0.5, "opt": "a"},
                {"rate": 0.25, "momentum": 0.75})
            tap.equal([point["opt"] in "ac" for point in points],
                      [True, False, True, True])
            tap.equal((points[0]["momentum"], points[1]["rate"]), (0.5, 7))
            tap.equal((points[3]["opt"], points[3]["rate"]), ("a", 0.25))
            for trial in study.trials()[4 * step:]:
                study.complete("/v1/" + trial["name"], step)
        seen = {vizier.values(trial["parameters"])["opt"]
                for trial in study.trials()[::4]}
        tap.equal(seen, {"a", "c"}, algorithm)


def who_asks_again_gets_what_suits():
    study = Study(server, X, LAYERS, OPT)
    study.add({"x": 0.5, "layers": 2, "opt": "a"})
    study.add({"x": 0.5, "layers": 2, "opt": "b"})

    def asked(*points, client="me"):
        answer = study.suggest(len(points), client, contexts=[
            {"parameters": vizier.parameters(**point)} for point in points])
        return [trial["id"] for trial in answer["trials"]]
    tap.equal(asked({"opt": "b"}), ["2"])
    tap.equal(asked({"opt": "b"}), ["2"])
    tap.equal(asked({"opt": "b"}, client="other"), ["3"])
    tap.equal(asked({"opt": "a", "layers": 3}), ["4"])
    tap.equal(asked({"layers": 3}, {"opt": "b"}, {"layers": 2}, {"x": 0.125}),
              ["4", "2", "1", "5"])
    tap.equal(asked({"layers": 3}, {"opt": "b"}, {"layers": 2}, {"x": 0.125}),
              ["4", "2", "1", "5"])
    tap.equal(ids(study.suggest(3)), ["1", "2", "4"])


def a_used_up_context_leaves_the_study():
    for algorithm in ALGORITHMS:
        study = Study(server, LAYERS, OPT, algorithm=algorithm)
        tap.equal(len(study.suggest_with(*[{"opt": "b"}] * 6)), 4, algorithm)
        tap.equal(study.suggest_with({"opt": "b"}, {"opt": "b"}, {"opt": "a"},
                                     client="late")[0]["opt"], "a")
        tap.equal(study.state(), "ACTIVE")
        tap.equal(len(study.suggest(9, "last")["trials"]), 3, algorithm)
        freed = "/v1/" + study.trials()[0]["name"]
        point = vizier.values(study.trials()[0]["parameters"])
        study.good("DELETE", freed)
        tap.equal(study.suggest_with({"opt": "b"}, client="new"), [point])


def clients_of_other_contexts_do_not_disturb_each_other():
    study = Study(server, X, LAYERS, OPT, algorithm="ALGORITHM_UNSPECIFIED")

    def work(i):
        points = []
        for _ in range(3):
            context = {"layers": 1 + i % 4, "opt": "ab"[i // 4]}
            point, = study.suggest_with(context, client="client %d" % i)
            points.append((point["layers"], point["opt"]) ==
                          (context["layers"], context["opt"]))
            mine, = study.suggest(1, "client %d" % i)["trials"]
            study.complete("/v1/" + mine["name"], point["x"])
            plain, = study.suggest(1, "client %d" % i)["trials"]
            study.complete("/v1/" + plain["name"], point["x"])
        return points
    tap.equal(at_once([lambda i=i: work(i) for i in range(8)]),
              [[True] * 3] * 8)
    tap.equal(len(study.trials()), 48)


def a_hundred_contexts_are_quick():
    study = Study(server, X, LAYERS)
    begin = server.computed()
    points = study.suggest_with(*[{"x": i / 128} for i in range(100)])
    tap.equal([point["x"] for point in points], [i / 128 for i in range(100)])
    slow = 10 if harness.is_sanitized() else 1
    took = server.computed() - begin
    tap.true(took < 10 * slow, "a hundred took %.1f s" % took)


# --- many clients ---

def eight_clients_at_once_get_their_own_trials():
    study = Study(server)
    names = ["client %d" % i for i in range(8)]
    answers = at_once([lambda name=name: study.suggest(3, name)
                       for name in names])
    given = [trial["id"] for answer in answers for trial in answer["trials"]]
    tap.equal(sorted(given, key=int), [str(i) for i in range(1, 25)])
    points = {str(trial["parameters"]) for answer in answers
              for trial in answer["trials"]}
    tap.equal(len(points), 24)
    again = at_once([lambda name=name: study.suggest(3, name)
                     for name in names])
    tap.equal([ids(answer) for answer in again],
              [ids(answer) for answer in answers])


def one_client_from_eight_places_gets_the_same():
    study = Study(server)
    answers = at_once([lambda: study.suggest(2)] * 8)
    tap.equal([ids(answer) for answer in answers], [["1", "2"]] * 8)
    tap.equal(len(study.trials()), 2)


def eight_clients_evaluate_a_study_to_its_end():
    study = Study(server, X, studyStoppingConfig={"maxNumTrials": 100})

    def work(name):
        done = 0
        while True:
            trials = study.suggest(1, name)["trials"]
            if not trials:
                return done
            point = vizier.values(trials[0]["parameters"])
            study.complete("/v1/" + trials[0]["name"], point["x"])
            done += 1
    done = at_once([lambda i=i: work("client %d" % i) for i in range(8)])
    tap.equal(sum(done), 100)
    trials = study.trials()
    tap.equal([trial["state"] for trial in trials], ["SUCCEEDED"] * 100)
    tap.equal(len({str(trial["parameters"]) for trial in trials}), 100)
    harness.wait_until(lambda: study.state() == "COMPLETED", "its end")


def a_space_that_is_used_up_gives_no_more():
    for algorithm in ("GRID_SEARCH", "RANDOM_SEARCH"):
        study = Study(server, OPT, LAYERS, algorithm=algorithm)
        trials = study.suggest(20)["trials"]
        tap.equal(len(trials), 8)
        tap.equal(len({str(trial["parameters"]) for trial in trials}), 8)
        tap.equal(study.suggest(1, "late")["trials"], [])
        for trial in trials:
            study.complete("/v1/" + trial["name"], 1)
        harness.wait_until(lambda: study.state() == "COMPLETED", "end")
        tap.equal(study.suggest(1)["trials"], [])


def a_study_that_ends_lets_its_clients_finish():
    study = Study(server)
    own = api.OURS + "/studies/" + study.name.rsplit("/", 1)[1]
    first, second = study.suggest(2)["trials"]
    study.complete("/v1/" + first["name"], 1)
    tap.equal(server.call("POST", own + ":stop")[0], 200)
    answer = study.suggest(1, "late")
    tap.equal((answer["trials"], answer["studyState"]), ([], "COMPLETED"))
    path = "/v1/" + second["name"]
    tap.equal(study.good("POST", path + ":checkTrialEarlyStoppingState")
              ["response"]["shouldStop"], True)
    tap.equal(study.suggest(1)["trials"][0]["id"], second["id"])
    tap.equal(study.complete(path, 0.5)["state"], "SUCCEEDED")
    tap.equal(server.get(own)["hypertuneStatus"]["state"], "STOPPED")


def the_same_seed_and_results_give_the_same_points():
    def points(algorithm):
        body = {"hypertune": {"seed": "11"}}
        study = Study(server, X, LAYERS, algorithm=algorithm)
        study.body.update(body, displayName=study.display + " seeded")
        study.path = "/v1/" + study.good("POST", vizier.STUDIES,
                                         study.body)["name"]
        found = []
        for _ in range(6):
            trial, = study.suggest()["trials"]
            found.append(vizier.values(trial["parameters"]))
            study.complete("/v1/" + trial["name"], found[-1]["x"])
        return found
    for algorithm in ("RANDOM_SEARCH", "ALGORITHM_UNSPECIFIED"):
        tap.equal(points(algorithm), points(algorithm))


def a_killed_server_loses_nothing():
    study = Study(server, X, LAYERS)
    for i in range(5):
        trial = study.one()
        study.good("POST", trial + ":addTrialMeasurement", {
            "measurement": vizier.measured(i, 1, elapsedDuration="1s")})
        study.complete(trial, i)
        if i % 2 == 0:
            before = study.trials()
            server.kill()
            server.start()
            tap.equal(study.trials(), before)
    given = study.suggest(2)["trials"]
    server.kill()
    server.start()
    tap.equal(study.suggest(2)["trials"], given)
    tap.equal(len(study.trials()), 7)
    shown = study.good("GET", study.path)
    tap.equal((shown["state"], shown["hypertuneStatus"]["counts"]["active"]),
              ("ACTIVE", 2))


def a_stopping_server_answers_who_waits():
    """SIGTERM while clients ask: each gets an answer or an honest refusal."""
    study = Study(server)
    seen = []

    def work(name):
        while True:
            try:
                status, answer = server.call(
                    "POST", study.path + "/trials:suggest",
                    {"suggestionCount": 5, "clientId": name})
            except OSError:
                return
            seen.append((status, len(answer.get("response", {})
                                     .get("trials", []))))
            if status != 200:
                return
    threads = [threading.Thread(target=work, args=("client %d" % i,))
               for i in range(4)]
    for thread in threads:
        thread.start()
    harness.wait_until(lambda: len(seen) > 20, "some answers")
    tap.equal(server.stop(), 0)
    for thread in threads:
        thread.join()
    tap.true(set(seen) <= {(200, 5), (503, 0)}, set(seen))
    server.start()
    tap.equal(len(study.trials()), 20)


def a_thousand_trials_are_quick():
    study = Study(server, X, LAYERS)
    # With a sanitizer so many take longer than the minute that a request has.
    many = 200 if harness.is_sanitized() else 1000
    begin = server.computed()
    given = study.suggest(many)["trials"]
    tap.equal(len({str(trial["parameters"]) for trial in given}), many)
    asked = server.computed() - begin
    for trial in given[:100]:
        study.complete("/v1/" + trial["name"], 1)
    begin = server.computed()
    for i in range(20):
        study.suggest(1, "late %d" % i)
    later = server.computed() - begin
    tap.equal(len(study.trials()), many + 20)
    slow = 10 if harness.is_sanitized() else 1
    # Ten times what it takes; what is slow here grows with the square.
    tap.true(asked < 25 * slow, "a thousand took %.1f s" % asked)
    tap.true(later < 10 * slow, "twenty more took %.1f s" % later)


with harness.Server("--runner", "none") as server:
    tap.run([
        the_answer_has_what_google_sends,
        a_client_that_asks_again_gets_the_same,
        a_client_without_a_name_is_one_client,
        wrong_questions_are_refused,
        suggestions_have_the_values_of_their_contexts,
        values_come_back_to_the_last_digit,
        the_reason_of_a_trial_names_its_context,
        wrong_contexts_are_refused,
        a_value_of_a_child_brings_its_parent,
        who_asks_again_gets_what_suits,
        a_used_up_context_leaves_the_study,
        clients_of_other_contexts_do_not_disturb_each_other,
        a_hundred_contexts_are_quick,
        eight_clients_at_once_get_their_own_trials,
        one_client_from_eight_places_gets_the_same,
        eight_clients_evaluate_a_study_to_its_end,
        a_space_that_is_used_up_gives_no_more,
        a_study_that_ends_lets_its_clients_finish,
        the_same_seed_and_results_give_the_same_points,
        a_killed_server_loses_nothing,
        a_stopping_server_answers_who_waits,
        a_thousand_trials_are_quick,
    ])
