"""Asking for trials: the same ones for a client that asks again, others for
everybody else, whatever happens to the server in between."""

import threading
import time

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
    tap.equal("startTime" in answer and "endTime" in answer, True)
    tap.equal(ids(answer), ["1", "2", "3"])
    for trial in answer["trials"]:
        tap.equal((trial["state"], trial["clientId"]), ("ACTIVE", "me"))
        tap.equal("startTime" in trial, True)
        point = vizier.values(trial["parameters"])
        tap.equal(0 <= point["x"] <= 1 and point["opt"] in ("a", "b"), True)
        tap.equal(point["layers"] in (1, 2, 3, 4), True)


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
    tap.equal(study.refused("POST", path, {
        "suggestionCount": 1,
        "contexts": [{"parameters": vizier.parameters(x=1)}]})[:2],
        (501, "UNIMPLEMENTED"))
    tap.equal(study.trials(), [])


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
    harness.wait_until(lambda: study.state() == "COMPLETED", 10, "its end")


def a_space_that_is_used_up_gives_no_more():
    for algorithm in ("GRID_SEARCH", "RANDOM_SEARCH"):
        study = Study(server, OPT, LAYERS, algorithm=algorithm)
        trials = study.suggest(20)["trials"]
        tap.equal(len(trials), 8)
        tap.equal(len({str(trial["parameters"]) for trial in trials}), 8)
        tap.equal(study.suggest(1, "late")["trials"], [])
        for trial in trials:
            study.complete("/v1/" + trial["name"], 1)
        harness.wait_until(lambda: study.state() == "COMPLETED", 10, "end")
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
    harness.wait_until(lambda: len(seen) > 20, 10, "some answers")
    tap.equal(server.stop(), 0)
    for thread in threads:
        thread.join()
    tap.equal(set(seen) <= {(200, 5), (503, 0)}, True, set(seen))
    server.start()
    tap.equal(len(study.trials()), 20)


def a_thousand_trials_are_quick():
    study = Study(server, X, LAYERS)
    begin = time.monotonic()
    given = study.suggest(1000)["trials"]
    tap.equal(len({str(trial["parameters"]) for trial in given}), 1000)
    asked = time.monotonic() - begin
    for trial in given[:100]:
        study.complete("/v1/" + trial["name"], 1)
    times = []
    for i in range(20):
        start = time.monotonic()
        study.suggest(1, "late %d" % i)
        times.append(time.monotonic() - start)
    tap.equal(len(study.trials()), 1020)
    slow = 10 if harness.is_sanitized() else 1
    tap.equal(asked < 10 * slow, True, "a thousand took %.1f s" % asked)
    tap.equal(sorted(times)[10] < 0.25 * slow, True,
              "one took %.3f s" % sorted(times)[10])


with harness.Server("--runner", "none") as server:
    tap.run([
        the_answer_has_what_google_sends,
        a_client_that_asks_again_gets_the_same,
        a_client_without_a_name_is_one_client,
        wrong_questions_are_refused,
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
