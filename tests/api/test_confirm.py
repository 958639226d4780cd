"""Confirming the best trials: only the repetitions are compared."""

import api
import harness
import tap
import vizier
from vizier import LAYERS, X, Study

server = None

OURS = api.OURS + "/studies/"


def number(study):
    return study.name.rsplit("/", 1)[1]


def confirm(study, **body):
    return study.good("POST", OURS + number(study) + ":confirm", body)


def confirmation(study):
    return study.good("GET", OURS + number(study) + "/confirmation")


def tried(*losses):
    """A study with a trial at x = loss for each."""
    study = Study(server, X)
    for loss in losses:
        study.add({"x": loss}, finalMeasurement=vizier.measured(loss))
    return study


def status(study):
    return study.good("GET", OURS + number(study))["hypertuneStatus"]


def run_all(study, value):
    """Evaluates the open confirmations; value(trial) is the loss."""
    for trial in study.suggest(confirmation(study)["open"])["trials"]:
        study.complete("/v1/" + trial["name"], value(trial))


def the_best_points_run_again():
    study = tried(0.5, 0.2, 0.4, 0.3, 0.2)
    answer = confirm(study, top=2, seeds=3)
    tap.equal((answer["metric"], answer["goal"], answer["open"]),
              ("loss", "MINIMIZE", 6))
    tap.equal([(item["trial"], item["found"], item["params"]["x"], item["n"],
                item["open"]) for item in answer["finalists"]],
              [("2", 0.2, 0.2, 0, 3), ("4", 0.3, 0.3, 0, 3)])
    tap.lacks("take", answer)
    made = study.trials()[5:]
    tap.equal([(trial["hypertune"]["confirms"], trial["state"],
                trial["hypertune"]["reason"]) for trial in made],
              [("2", "REQUESTED", "confirms trial 2"),
               ("4", "REQUESTED", "confirms trial 4")] * 3)
    # The point of trial 2 was tried twice.
    tap.equal([trial["hypertune"]["replicate"] for trial in made],
              [2, 1, 3, 2, 4, 3])


def only_the_repetitions_are_judged():
    study = tried(0.10, 0.12)
    confirm(study, top=2, seeds=3)
    runs = {"1": iter((0.30, 0.31, 0.32)), "2": iter((0.13, 0.15, 0.14))}
    run_all(study, lambda trial: next(runs[trial["hypertune"]["confirms"]]))
    answer = confirmation(study)
    best, other = answer["finalists"]
    tap.equal((answer["take"], answer["sure"], answer["open"]),
              ("2", True, 0))
    tap.equal((best["trial"], best["found"], best["n"]), ("2", 0.12, 3))
    tap.equal([round(best[key], 6) for key in ("mean", "sd", "low", "high")],
              [0.14, 0.01, 0.115159, 0.164841])
    tap.true(best["probability"] > 0.998, best)
    tap.equal(round(best["probability"] + other["probability"], 9), 1)
    tap.equal([run["value"] for run in other["confirmations"]],
              [0.30, 0.31, 0.32])
    tap.equal([run["trial"] for run in other["confirmations"]],
              ["3", "5", "7"])


def trials_too_near_to_rank_are_not_sure():
    study = tried(0.10, 0.12)
    confirm(study, top=2, seeds=2)
    runs = {"1": iter((0.1, 0.3)), "2": iter((0.11, 0.31))}
    run_all(study, lambda trial: next(runs[trial["hypertune"]["confirms"]]))
    answer = confirmation(study)
    tap.equal((answer["take"], answer["sure"]), ("1", False))


def repetitions_are_no_part_of_the_search():
    study = tried(0.5, 0.2, 0.4)
    before = status(study)
    confirm(study, top=1, seeds=2)
    run_all(study, lambda trial: 0.01)
    after = status(study)
    tap.equal(after["counts"], before["counts"])
    tap.equal((after["confirming"]["succeeded"], after["best"]["id"]),
              (2, "2"))
    best, = study.good("POST", study.path + "/trials:listOptimalTrials")[
        "optimalTrials"]
    tap.equal(best["id"], "2")
    shown = study.good("GET", OURS + number(study) + "/best")
    tap.equal((shown["id"], shown["hypertune"]["confirmation"]["take"]),
              ("2", "2"))


def they_do_not_count_as_trials():
    study = limited(3)
    confirm(study, top=1, seeds=4)
    run_all(study, lambda trial: 0.3)
    trial, = study.suggest(5)["trials"]
    study.complete("/v1/" + trial["name"], 0.1)
    answer = study.suggest(1)
    tap.equal((answer.get("trials", []), answer["studyState"]),
              ([], "COMPLETED"))
    tap.equal(status(study)["reason"], "all 3 trials have ended")


def limited(most):
    study = Study(server, X, studyStoppingConfig={"maxNumTrials": most})
    for loss in (0.5, 0.2):
        study.add({"x": loss}, finalMeasurement=vizier.measured(loss))
    return study


def ended(most=3):
    study = limited(most)
    trial, = study.suggest(1)["trials"]
    study.complete("/v1/" + trial["name"], 0.4)
    harness.wait_until(lambda: study.state() == "COMPLETED", "the end")
    return study


def a_study_of_clients_that_has_ended_stays_so():
    study = ended()
    before = status(study)
    answer = server.call("POST", OURS + number(study) + ":confirm", {})
    tap.equal((answer[0], answer[1]["error"]["status"],
               answer[1]["error"]["message"]),
              (400, "FAILED_PRECONDITION",
               "study %s is SUCCEEDED, and its trials are run by clients, of "
               "which none asks for more; reopen it with more trials when some "
               "will" % before["name"]))
    tap.equal((study.state(), status(study), len(study.trials())),
              ("COMPLETED", before, 3))
    # With more trials clients are expected again, and confirm first.
    study.good("PATCH", OURS + number(study), {"maxTrialCount": 4})
    confirm(study, top=1, seeds=2)
    tap.equal(status(study)["reason"],
              "waits for clients, 2 runs to confirm wait")
    tap.equal([trial["hypertune"].get("confirms") for trial in
               study.suggest(9)["trials"]], ["2", "2", None])


def what_waits_to_confirm_is_shown():
    study = tried(0.5, 0.2)
    confirm(study, top=1, seeds=3)
    study.one()
    tap.equal(status(study)["reason"],
              "clients evaluate 1, 2 runs to confirm wait")
    counts = status(study)["confirming"]
    tap.equal((counts["requested"], counts["active"]), (2, 1))


def an_open_space_is_not_confirmed():
    study = Study(server, hypertune={"openSpace": True}, parameters=[])
    server.call("POST", OURS + number(study) + "/trials:open", {})
    answer = server.call("POST", OURS + number(study) + ":confirm")[1]
    tap.contains("choose the points that they try", answer["error"]["message"],
                 answer)


def what_is_not_safe_is_no_finalist():
    risk = {"metricId": "risk", "goal": "MINIMIZE",
            "safetyConfig": {"safetyThreshold": 0.5}}
    study = Study(server, X, metrics=[vizier.METRIC, risk])
    for loss, harm in ((0.1, 0.9), (0.2, 0.4), (0.3, 0.1)):
        study.add({"x": loss}, finalMeasurement={"metrics": [
            {"metricId": "loss", "value": loss},
            {"metricId": "risk", "value": harm}]})
    answer = confirm(study, top=1, seeds=1)
    tap.equal([item["trial"] for item in answer["finalists"]], ["2"])


def is_stopped(study, trial, losses):
    """Whether a trial that measures these is stopped by the study's rule."""
    for step, loss in enumerate(losses, 1):
        study.good("POST", trial + ":addTrialMeasurement",
                   {"measurement": vizier.measured(loss, step)})
    answer = study.good("POST", trial + ":checkTrialEarlyStoppingState")
    return answer["response"].get("shouldStop", False)


def a_repetition_is_not_stopped_early():
    study = Study(server, X, medianAutomatedStoppingSpec={
        "useElapsedDuration": False})
    for _ in range(8):
        trial = study.one()
        is_stopped(study, trial, (0.4,) * 7 + (0.3, 0.2, 0.1))
        study.complete(trial, 0.1)
    bad = study.one()
    tap.equal(is_stopped(study, bad, (0.9,) * 4), True)
    study.complete(bad, 0.9)
    confirm(study, top=1, seeds=1)
    tap.equal(is_stopped(study, study.one(), (0.9,) * 4), False)


def asking_again_continues_where_it_was():
    study = tried(0.5, 0.2)
    confirm(study, top=1, seeds=2)
    tap.equal(confirm(study, top=1, seeds=2)["open"], 2)
    first, second = study.suggest(2)["trials"]
    study.complete("/v1/" + first["name"], 0.2)
    study.good("POST", "/v1/" + second["name"] + ":complete",
               {"trialInfeasible": True, "infeasibleReason": "crashed"})
    item, = confirmation(study)["finalists"]
    tap.equal((item["n"], item["lost"], item["open"]), (1, 1, 0))
    # The lost one is made up for; then one of each for three seeds.
    tap.equal(confirm(study, top=1, seeds=2)["open"], 1)
    answer = confirm(study, top=2, seeds=3)
    tap.equal([(item["trial"], item["open"]) for item in answer["finalists"]],
              [("2", 2), ("1", 3)])


def another_finalist_joins_those_before():
    study = tried(0.5, 0.2)
    confirm(study, top=1, seeds=1)
    run_all(study, lambda trial: 0.25)
    study.add({"x": 0.1}, finalMeasurement=vizier.measured(0.1))
    answer = confirm(study, top=1, seeds=1)
    tap.equal([item["trial"] for item in answer["finalists"]], ["2", "4"])


def what_cannot_be_confirmed_is_refused():
    study = Study(server, X, LAYERS)
    path = OURS + number(study)
    tap.equal(study.refused("POST", path + ":confirm"),
              (400, "FAILED_PRECONDITION", []))
    tap.equal(study.refused("GET", path + "/confirmation"),
              (404, "NOT_FOUND", []))
    for body, fields in (({"top": 0}, ["top"]), ({"seeds": 101}, ["seeds"]),
                         ({"tops": 1}, ["tops"])):
        tap.equal(study.refused("POST", path + ":confirm", body),
                  (400, "INVALID_ARGUMENT", fields))


with harness.Server("--runner", "none") as server:
    tap.run([
        the_best_points_run_again,
        only_the_repetitions_are_judged,
        trials_too_near_to_rank_are_not_sure,
        repetitions_are_no_part_of_the_search,
        they_do_not_count_as_trials,
        a_study_of_clients_that_has_ended_stays_so,
        what_waits_to_confirm_is_shown,
        an_open_space_is_not_confirmed,
        what_is_not_safe_is_no_finalist,
        a_repetition_is_not_stopped_early,
        asking_again_continues_where_it_was,
        another_finalist_joins_those_before,
        what_cannot_be_confirmed_is_refused,
    ])
