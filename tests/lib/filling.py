"""filling - studies with many trials, written straight into the database of a
server that is not running, as the core would have left them: ten thousand real
ones would take minutes."""

import json
import math
import os
import random

import pages

# tuner/db/rows.h
SUCCEEDED, STOPPED, FAILED = 4, 5, 6
ENDED = 4  # of a study: SUCCEEDED
ATTEMPT_ENDED = 3
OUTCOMES = {SUCCEEDED: 1, FAILED: 2, STOPPED: 3}
BEGIN_MS = 1_790_000_000_000
LENGTH_MS, SLOTS, EPOCHS = 60_000, 4, 8
WRITER = 1

SPEC = {
    "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}],
    "algorithm": "RANDOM_SEARCH",
    "parameters": [
        {"parameterId": "lr", "scaleType": "UNIT_LOG_SCALE",
         "doubleValueSpec": {"minValue": 1e-4, "maxValue": 1}},
        {"parameterId": "units",
         "integerValueSpec": {"minValue": "8", "maxValue": "512"}},
        {"parameterId": "dropout",
         "doubleValueSpec": {"minValue": 0, "maxValue": 0.9}},
        {"parameterId": "opt", "categoricalValueSpec": {
            "values": ["sgd", "adam", "rmsprop"]}}]}


def job(name, trials):
    """A tuning job whose trials fill() writes."""
    return {"displayName": name, "hypertune": {"name": name, "seed": "1"},
            "studySpec": SPEC, "maxTrialCount": max(trials, 1),
            "parallelTrialCount": SLOTS,
            "trialJobSpec": {"workerPoolSpecs": [{
                "replicaCount": 1, "containerSpec": {
                    "command": ["python3", "train.py"]}}]}}


def make_point(draw):
    point = {"lr": 10 ** draw.uniform(-4, 0), "units": draw.randint(8, 512),
             "dropout": round(draw.uniform(0, 0.9), 4),
             "opt": draw.choice(["sgd", "adam", "rmsprop"])}
    best = (0.97 - 0.08 * (math.log10(point["lr"]) + 2) ** 2 -
            0.2 * point["dropout"] ** 2 - 0.03 * (point["opt"] == "sgd") -
            0.02 * abs(math.log2(point["units"] / 128)))
    return point, best + draw.gauss(0, 0.01)


def make_state(number):
    """Mostly good ones; the first has a result."""
    if number % 40 == 7:
        return FAILED
    return STOPPED if number % 9 == 5 else SUCCEEDED


def one_trial(study, revision, number, state):
    """Rows (trial, attempt, measurements) of a trial that has ended."""
    draw = random.Random(number)
    point, best = make_point(draw)
    start = BEGIN_MS + (number // SLOTS) * LENGTH_MS + number % SLOTS * 900
    end = start + draw.randrange(LENGTH_MS // 3, LENGTH_MS - 4000)
    good = state in (SUCCEEDED, STOPPED)
    epochs = 0 if not good else EPOCHS if state == SUCCEEDED else EPOCHS // 2
    values = [best * (1 - math.exp(-0.7 * (n + 1))) for n in range(epochs)]
    metrics = json.dumps({"accuracy": values[-1]}) if good else None
    reason = "" if state == SUCCEEDED else (
        "stopped by the median rule" if good else "exit 1")
    latest = (1, "master-0", WRITER, epochs) if good else (None,) * 4
    trial = (study, number, state, json.dumps(point, separators=(",", ":")),
             number - 1, values[-1] if good else None, epochs, metrics,
             *latest, reason, revision, start - 500, start, end)
    attempt = (study, number, ATTEMPT_ENDED, OUTCOMES[state],
               "runner", os.urandom(32), 0 if good else 1, reason, int(good),
               start, start, end)
    records = [("master-0", n + 1, n + 1,
                start + (end - start) * (n + 1) // epochs,
                json.dumps({"accuracy": value}))
               for n, value in enumerate(values)]
    return trial, attempt, [
        (study, number, *record)
        for record in records]


def write(db, study, trials, states):
    """`states(number)` is the state that a trial ended with."""
    revision, = db.execute("SELECT revision FROM studies WHERE id=?",
                           (study,)).fetchone()
    db.execute("DELETE FROM trials WHERE study=?", (study,))
    db.execute("DELETE FROM trial_counts WHERE study=?", (study,))
    made = [one_trial(study, revision, n, states(n))
            for n in range(1, trials + 1)]
    db.executemany(
        "INSERT INTO trials(study, id, state, params, ordinal, attempt,"
        " objective, final_step, final_metrics, latest_attempt,"
        " latest_replica, latest_writer, latest_seq, reason, revision,"
        " created_ms, started_ms, ended_ms)"
        " VALUES(?,?,?,?,?,1,?,?,?,?,?,?,?,?,?,?,?,?)",
        [row[0] for row in made])
    db.executemany(
        "INSERT INTO attempts(study, trial, n, state, outcome, runner, boot,"
        " lease_id, token_hash, exit_code, reason, winner, created_ms,"
        " started_ms, ended_ms) VALUES(?,?,1,?,?,?,'b',0,?,?,?,?,?,?,?)",
        [row[1] for row in made])
    db.executemany(
        "INSERT INTO measurements(study, trial, attempt, replica, writer, seq,"
        " step, time_ms, metrics, checkpoint)"
        " VALUES(?,?,1,?,%d,?,?,?,?,'')" % WRITER,
        [record for row in made for record in row[2]])
    for state in {row[0][2] for row in made}:
        db.execute("INSERT INTO trial_counts(study, state, n) VALUES(?,?,?)",
                   (study, state, sum(row[0][2] == state for row in made)))
    end = max([row[0][-1] for row in made], default=BEGIN_MS)
    db.execute("UPDATE studies SET state=?, reason='', next_trial=?,"
               " created_ms=?, started_ms=?, ended_ms=? WHERE id=?",
               (ENDED, trials + 1, BEGIN_MS - 1000,
                BEGIN_MS if trials else 0, end, study))


def fill(server, sizes, states=make_state):
    """Makes studies {name: how many trials} in a server that runs, which is
    stopped and started again meanwhile. Returns {name: number of the study}."""
    numbers = {}
    for name, trials in sizes.items():
        status, made = server.call(
            "POST", "/v1/projects/local/locations/local/"
            "hyperparameterTuningJobs", job(name, trials))
        if status != 200:
            raise AssertionError("%s: %s" % (name, made))
        numbers[name] = int(made["name"].rsplit("/", 1)[1])
        server.call("POST", "/hypertune/v1/studies/%s:pause" % name, {})
    server.stop()
    with pages.changing(os.path.join(server.data, "hypertune.db")) as db:
        for name, trials in sizes.items():
            write(db, numbers[name], trials, states)
    server.start()
    return numbers
