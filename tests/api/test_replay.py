"""Proving suggestions by making them again, here and on a copy."""

import os
import shutil

import api
import harness
import pages
import tap
import vizier
from vizier import LAYERS, OPT, X, Study

server = None

OURS = api.OURS + "/studies/"


def number(study):
    return study.name.rsplit("/", 1)[1]


def loss(trial):
    point = vizier.values(trial["parameters"])
    return round((point["x"] - 0.3) ** 2 + 0.1 * abs(point["layers"] - 2) +
                 (0.05 if point["opt"] == "b" else 0), 6)


def complete(study, trial):
    path = "/v1/" + trial["name"]
    if vizier.values(trial["parameters"])["x"] > 0.9:
        study.good("POST", path + ":complete", {"trialInfeasible": True})
    else:
        study.complete(path, loss(trial))


STEPS = {"parameterId": "x",
         "discreteValueSpec": {"values": [i / 20 for i in range(21)]}}


def searched(rounds, algorithm="ALGORITHM_UNSPECIFIED", space=X, **spec):
    """Two clients with three trials each; results come late and in another
    order than the trials."""
    study = Study(server, space, LAYERS, OPT, algorithm=algorithm,
                  **spec)
    for step in range(rounds):
        mine = study.suggest(3, "me")["trials"]
        others = study.suggest(3, "other")["trials"]
        complete(study, mine[2])
        complete(study, others[step % 3])
        complete(study, mine[0])
    return study


def verdicts(study, query=""):
    return study.server.replay(number(study), query)


def preview(study, query):
    return study.good("GET", OURS + number(study) + "/preview?" + query)


def params(trials):
    return [trial["hypertune"]["params"] for trial in trials]


def every_suggestion_is_made_again():
    study = searched(6)
    found = verdicts(study)
    trials = study.trials()
    tap.true(len(trials) >= 20, len(trials))
    tap.equal([(item["trial"], item["verdict"], item["params"])
               for item in found],
              [(trial["id"], "SAME", trial["hypertune"]["params"])
               for trial in trials])
    kinds = {trial["hypertune"]["why"]["kind"] for trial in trials}
    tap.true(kinds & {"EXPLOITS", "EXPLORES"} != set(), kinds)


def random_and_grid_are_too():
    for algorithm in ("RANDOM_SEARCH", "GRID_SEARCH"):
        found = verdicts(searched(2, algorithm, STEPS))
        tap.equal({item["verdict"] for item in found}, {"SAME"})


def other_inputs_of_a_search_are_restored():
    same = searched(5)
    other = Study(server, X, LAYERS)
    for i in range(8):
        other.complete("/v1/" + other.add({"x": i / 8, "layers": 2})["name"],
                       (i / 8 - 0.4) ** 2)
    study = searched(5, observationNoise="HIGH",
                     hypertune={"warmStart": [number(same), number(other)]})
    whys = [trial["hypertune"]["why"] for trial in study.trials()]
    tap.equal({"SEED", "REPEATS"} - {why["kind"] for why in whys}, set())
    tap.equal([len(why["earlier"]) for why in whys], [1] * len(whys))
    tap.equal({item["verdict"] for item in verdicts(study)}, {"SAME"})


def given_values_are_asked_for_again():
    for algorithm in ("ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH"):
        study = searched(3, algorithm)
        for step in range(4):
            study.suggest(4, "night", contexts=[
                {"description": "a \u00fc",
                 "parameters": vizier.parameters(opt="b", x=0.1 + step)}
                if 0.1 + step <= 1 else
                {"parameters": vizier.parameters(layers=1 + step)},
                {"parameters": vizier.parameters(opt="a")},
                {"parameters": vizier.parameters(opt="a")}, {}])
            for trial in study.trials()[-4:]:
                complete(study, trial)
            study.suggest(1, "me")
        found = verdicts(study)
        tap.equal({item["verdict"] for item in found}, {"SAME"})
        asked = [trial for trial in study.trials()
                 if trial["clientId"] == "night"]
        tap.equal((len(asked), len(found)), (16, len(study.trials())))
        # A slow machine finds the points of a pair in two searches.
        tap.true({trial["hypertune"]["why"]["batch"] for trial in asked} <=
                 {0, 1}, "pairs")
        last = asked[-4]
        ahead, = preview(study, "from=%s&count=1" % last["id"])["suggestions"]
        tap.equal(ahead["params"], last["hypertune"]["params"])
        tap.equal(ahead["why"]["context"], {"parameters": {"layers": 4}})


def children_that_share_a_name_are_distinguished_again():
    study = Study(server, X, vizier.BRANCHES, algorithm="ALGORITHM_UNSPECIFIED")
    contexts = [{"parameters": vizier.parameters(**point)} for point in (
        {"rate": 0.5, "opt": "a"}, {"opt": "b", "rate": 0.5},
        {"momentum": 0.25}, {"momentum": 0.25, "rate": 0.125})]
    for step in range(4):
        for trial in study.suggest(4, contexts=contexts)["trials"]:
            point = vizier.values(trial["parameters"])
            study.complete("/v1/" + trial["name"],
                           point["x"] + (point["opt"] == "c"))
    found = verdicts(study)
    tap.equal((len(found), {item["verdict"] for item in found}),
              (16, {"SAME"}))


def a_replay_may_begin_anywhere():
    study = searched(3)
    tap.equal([item["trial"] for item in verdicts(study, "?from=8")],
              [trial["id"] for trial in study.trials()[7:]])


def every_page_leads_to_the_next():
    study = searched(3)
    trials = study.trials()
    found = verdicts(study, "?pageSize=7")
    tap.true(len(trials) > 7, len(trials))
    tap.equal([(item["trial"], item["verdict"]) for item in found],
              [(trial["id"], "SAME") for trial in trials])
    path = OURS + number(study) + "/replay?pageSize=7"
    token = study.good("GET", path)["nextPageToken"]
    other = OURS + number(searched(1)) + "/replay?pageToken="
    tap.equal(study.refused("GET", other + token),
              (400, "INVALID_ARGUMENT", ["pageToken"]))


def trials_of_others_are_left_out():
    study = searched(1)
    study.add({"x": 0.5, "layers": 2, "opt": "a"},
              finalMeasurement=vizier.measured(0.1))
    study.good("POST", OURS + number(study) + ":confirm",
               {"top": 1, "seeds": 1})
    searched_for = [trial["id"] for trial in study.trials()
                    if "why" in trial["hypertune"]]
    study.suggest(6, "third")
    found = verdicts(study)
    tap.equal({item["verdict"] for item in found}, {"SAME"})
    tap.equal([item["trial"] for item in found][:len(searched_for)],
              searched_for)


def an_input_that_was_deleted_has_no_replay():
    study = searched(3)
    trials = study.trials()
    ended = [trial for trial in trials if trial["state"] == "SUCCEEDED"]
    study.good("DELETE", "/v1/" + ended[1]["name"])
    study.suggest(6, "third")
    found = {item["trial"]: item for item in verdicts(study)}
    tap.equal(found["1"]["verdict"], "SAME")
    # Suggestions that used the trial, and later ones, made after it was gone.
    last = trials[-1]["id"]
    tap.equal((found[last]["verdict"], found[last]["reason"]),
              ("UNKNOWN", "a trial that was known then was deleted or retried"))
    tap.equal(found[study.trials()[-1]["id"]]["verdict"], "SAME")


def what_was_forgotten_does_not_spoil_the_rest():
    study = searched(0)
    first, gone = [study.suggest(1, who)["trials"][0] for who in "ab"]
    complete(study, first)  # the next point is of a search that has both
    study.suggest(1, "c")
    complete(study, gone)
    study.suggest(1, "e")
    study.good("DELETE", "/v1/" + gone["name"])
    study.suggest(1, "d")
    tap.equal([item["verdict"] for item in verdicts(study)],
              ["SAME", "SAME", "UNKNOWN", "SAME"])


def a_trial_deleted_without_a_result_is_known_again():
    study = searched(2, space=STEPS)
    gone = study.suggest(2, "b")["trials"]
    study.suggest(2, "c")
    study.good("POST", "/v1/" + gone[1]["name"] + ":complete",
               {"trialInfeasible": True})
    study.suggest(2, "d")
    for trial in gone:
        study.good("DELETE", "/v1/" + trial["name"])
    study.suggest(2, "e")
    found = verdicts(study)
    tap.equal((len(found), {item["verdict"] for item in found}),
              (len(study.trials()), {"SAME"}))


def the_preview_is_what_comes():
    for algorithm in ("ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH"):
        study = searched(3, algorithm)
        before = len(study.trials())
        name = "bayesian" if algorithm[0] == "A" else "RANDOM_SEARCH"
        ahead = preview(study, "algorithm=%s&count=1" % name)["suggestions"]
        tap.equal(len(study.trials()), before)
        come = study.suggest(1, "third")["trials"]
        tap.equal([item["params"] for item in ahead], params(come))


def another_algorithm_goes_another_way():
    study = searched(3, space=STEPS)
    own = preview(study, "count=4")
    tap.equal(own["algorithm"], "BAYESIAN_SEARCH")
    for name in ("random", "grid"):
        other = preview(study, "algorithm=%s&count=4" % name)
        tap.equal((other["algorithm"], len(other["suggestions"])),
                  (name.upper() + "_SEARCH", 4))
        tap.true(other["suggestions"] != own["suggestions"])
        tap.equal(other["suggestions"][0]["why"]["kind"], "DRAWN")


def a_preview_goes_back_to_a_trial():
    study = searched(3)
    trials = study.trials()
    first = [trial for trial in trials
             if trial["hypertune"]["why"]["batch"] == 0][-1]
    ahead = preview(study, "from=%s&count=1" % first["id"])
    tap.equal(ahead["suggestions"][0]["params"], first["hypertune"]["params"])


def wrong_questions_are_refused():
    study = searched(1)
    path = OURS + number(study)
    for query in ("/preview?algorithm=best", "/preview?count=0",
                  "/replay?from=x"):
        tap.equal(study.refused("GET", path + query)[:2],
                  (400, "INVALID_ARGUMENT"), query)
    tap.equal(study.refused("GET", path + "/preview?from=999")[:2],
              (404, "NOT_FOUND"))


def copied(run):
    """Runs with a server on a copy of the folder while this one is stopped."""
    server.stop()
    copy = harness.Server("--runner", "none")
    try:
        shutil.copytree(server.data, copy.data)
        server.start()
        copy.start()
        run(copy)
    finally:
        copy.close()


def a_copy_suggests_the_same():
    study = searched(4)

    def check(copy):
        mine = study.suggest(4, "third")["trials"]
        study.server = copy
        try:
            tap.equal(params(study.suggest(4, "third")["trials"]),
                      params(mine))
            tap.equal({item["verdict"] for item in verdicts(study)}, {"SAME"})
        finally:
            study.server = server
    copied(check)


def a_point_that_the_search_never_chose_is_found_out():
    study = searched(2)

    def check(copy):
        study.server = copy
        try:
            copy.stop()
            with pages.changing(os.path.join(copy.data,
                                             "hypertune.db")) as db:
                db.execute("UPDATE trials SET params=? WHERE study=? AND id=5",
                           ('{"x":0.123,"layers":1,"opt":"a"}',
                            int(number(study))))
            copy.start()
            item = verdicts(study)[4]
            tap.equal((item["verdict"], item["params"]["x"],
                       "again" in item), ("DIFFERS", 0.123, True))
        finally:
            study.server = server
    copied(check)


with harness.Server("--runner", "none") as server:
    tap.run([
        every_suggestion_is_made_again,
        random_and_grid_are_too,
        other_inputs_of_a_search_are_restored,
        given_values_are_asked_for_again,
        children_that_share_a_name_are_distinguished_again,
        a_replay_may_begin_anywhere,
        every_page_leads_to_the_next,
        trials_of_others_are_left_out,
        an_input_that_was_deleted_has_no_replay,
        what_was_forgotten_does_not_spoil_the_rest,
        a_trial_deleted_without_a_result_is_known_again,
        the_preview_is_what_comes,
        another_algorithm_goes_another_way,
        a_preview_goes_back_to_a_trial,
        wrong_questions_are_refused,
        a_copy_suggests_the_same,
        a_point_that_the_search_never_chose_is_found_out,
    ])
