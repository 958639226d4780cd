"""Noisy results: what is said of them, and points that are measured again."""

import copy
import random

import api
import harness
import tap
import vizier
from vizier import X, Study

server = None


def noisy(trials, **spec):
    """A study whose results are mostly luck; one trial at a time."""
    luck = random.Random(7)
    study = Study(server, X, algorithm="ALGORITHM_UNSPECIFIED", **spec)
    for _ in range(trials):
        trial, = study.suggest(1)["trials"]
        x = vizier.values(trial["parameters"])["x"]
        study.complete("/v1/" + trial["name"],
                       round((x - 0.3) ** 2 + luck.gauss(0, 0.3), 9))
    return study


def points(study):
    return [trial["hypertune"]["params"]["x"] for trial in study.trials()]


def repeated(study):
    return [trial for trial in study.trials()
            if "replicate" in trial["hypertune"]]


def where_noise_is_high_points_are_measured_again():
    study = noisy(30, observationNoise="HIGH")
    again = repeated(study)
    tap.true(again != [])
    for trial in again:
        ours = trial["hypertune"]
        tap.equal(ours["why"]["kind"], "REPEATS")
        first, = [other for other in study.trials()
                  if other["id"] == ours["why"]["nearest"]["trial"]]
        tap.equal(first["hypertune"]["params"], ours["params"])
        tap.true(int(first["id"]) < int(trial["id"]),
                 (int(first["id"]), int(trial["id"])))
    found = points(study)
    tap.equal(len(found) - len(set(found)), len(again))


def where_it_is_low_none_is():
    study = noisy(30, observationNoise="LOW")
    tap.equal(repeated(study), [])
    tap.equal(len(set(points(study))), 30)


def what_is_said_of_noise_is_kept():
    for said in ("LOW", "HIGH", 2):
        study = Study(server, X, observationNoise=said)
        tap.equal(study.made["studySpec"]["observationNoise"],
                  "HIGH" if said == 2 else said)
    study = Study(server, X, observationNoise="OBSERVATION_NOISE_UNSPECIFIED")
    tap.lacks("observationNoise", study.made["studySpec"])


def noise_and_constraints_may_change():
    made = api.job("settled")
    made["studySpec"]["observationNoise"] = "HIGH"
    made["hypertune"]["constraints"] = ["lr > 0.2"]
    tap.equal(server.call("POST", api.JOBS, made)[0], 200)
    path = api.OURS + "/studies/settled"
    for change in (lambda job: job["studySpec"].pop("observationNoise"),
                   lambda job: job["hypertune"].pop("constraints")):
        wanted = copy.deepcopy(made)
        change(wanted)
        status, answer = server.call("PATCH", path, {"job": wanted})
        tap.equal(status, 200, answer)
        for now in (answer, server.get(path)):
            tap.equal([now["studySpec"].get("observationNoise"),
                       now["hypertune"].get("constraints")],
                      [wanted["studySpec"].get("observationNoise"),
                       wanted["hypertune"].get("constraints")])
        tap.equal(server.call("PATCH", path, {"job": made})[0], 200)


def the_measurement_that_counts_is_chosen_as_the_study_says():
    for selection, want in ((None, 0.4), ("LAST_MEASUREMENT", 0.4),
                            ("BEST_MEASUREMENT", 0.1)):
        spec = {"measurementSelectionType": selection} if selection else {}
        study = Study(server, X, **spec)
        trial = study.one()
        for step, value in enumerate((0.3, 0.1, 0.4), 1):
            study.good("POST", trial + ":addTrialMeasurement",
                       {"measurement": vizier.measured(value, step)})
        study.good("POST", trial + ":complete", {})
        tap.equal(study.trials()[0]["hypertune"]["objective"], want, selection)


with harness.Server("--runner", "none") as server:
    tap.run([
        where_noise_is_high_points_are_measured_again,
        where_it_is_low_none_is,
        what_is_said_of_noise_is_kept,
        noise_and_constraints_may_change,
        the_measurement_that_counts_is_chosen_as_the_study_says,
    ])
