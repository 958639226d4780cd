"""Trackers: what MLflow and TensorBoard are given of a study, each measurement
once, whatever fails; trials never wait for them."""

import glob
import json
import math
import os
import shutil
import threading

import api
import harness
import tap
import tfevents
import vizier
from fake_mlflow import FakeMlflow

TRAINER = """
import os, sys
here = os.environ["HYPERTUNE_TRIAL_DIR"]
print("epoch 1: loss=4", flush=True)
mark = sys.argv[1] + "/ran"
if not os.path.exists(mark):
    open(mark, "w").close()
    sys.exit(3)
print("epoch 2: loss=2", flush=True)
"""


class Tracked:
    """A study of clients that names trackers."""

    def __init__(self, server, name, *space, **trackers):
        self.name = name
        self.study = vizier.Study(server, *space, hypertune={
            "name": name, "trackers": trackers or {"mlflow": "lab"}})

    def begin(self, **point):
        return "/v1/" + self.study.good(
            "POST", self.study.path + "/trials",
            {"parameters": vizier.parameters(**(point or {"x": 0.5}))})["name"]

    def measure(self, trial, value, step):
        self.study.good("POST", trial + ":addTrialMeasurement",
                        {"measurement": vizier.measured(value, step)})

    def end(self, trial):
        self.study.good("POST", trial + ":complete", {})

    def wait(self, mlflow, trial, state="SUCCEEDED"):
        harness.wait_until(lambda: mlflow.state(self.name, trial) == state,
                           "trial %s is %s" % (trial, state))
        return mlflow.run_of(self.name, trial)


def curve(run, metric="loss"):
    return [(value, step) for key, value, step, _ in run["metrics"]
            if key == metric]


def standing(server, name="mlflow"):
    return {one["name"]: one for one
            in server.get("/hypertune/v1/server")["trackers"]}[name]


def wait_failure(server, text):
    harness.wait_until(
        lambda: standing(server)["failures"] > 0 and
        text in standing(server)["lastError"], "a failure: " + text)


def a_study_has_a_run_and_one_for_each_trial():
    mlflow = FakeMlflow()
    with harness.Server("--runner", "none", "--mlflow", mlflow.url) as server:
        tracked = Tracked(server, "team/digits", vizier.X, vizier.OPT,
                          mlflow=True)
        first = tracked.begin(x=0.25, opt="a")
        for step, value in ((1, 3.5), (2, "NaN"), (3, "-Infinity"), (4, 2.5)):
            tracked.measure(first, value, step)
        tracked.end(first)
        second = tracked.begin(x=0.75, opt="b")
        tracked.study.good("POST", second + ":complete",
                           {"trialInfeasible": True,
                            "infeasibleReason": "too wide"})
        one = tracked.wait(mlflow, 1)
        two = tracked.wait(mlflow, 2, "INFEASIBLE")
        harness.wait_until(lambda: "hypertune.best_trial" in
                           mlflow.run_of(tracked.name)["tags"], "the best")
        parent = mlflow.run_of(tracked.name)
        tap.equal(list(mlflow.experiments), [tracked.name])
        tap.equal((one["name"], one["params"], one["status"]),
                  ("team/digits-1", {"x": "0.25", "opt": "a"}, "FINISHED"))
        points = curve(one)
        tap.equal([points[0], points[2], points[3]],
                  [(3.5, 1), (-math.inf, 3), (2.5, 4)])
        tap.true(math.isnan(points[1][0]) and len(points) == 4, points)
        tap.equal(curve(one, "hypertune.final.loss"), [(2.5, 4)])
        tap.equal((two["status"], two["tags"]["hypertune.reason"]),
                  ("FAILED", "too wide"))
        for child in (one, two):
            tap.equal(child["tags"]["mlflow.parentRunId"], parent["id"])
            tap.true(child["end"] >= child["start"], child)
        tap.equal((parent["status"], parent["tags"]["hypertune.best_run"]),
                  ("RUNNING", one["id"]))
        tap.equal(curve(parent, "hypertune.best.loss"), [(2.5, 1)])
        text = server.cli("describe", tracked.name).stdout
        tap.contains("mlflow      experiment team/digits at " + mlflow.url,
                     text)
        tracked.study.good("DELETE", tracked.study.path + "/trials/2")
        tap.equal(tracked.wait(mlflow, 2, "DELETED")["status"], "KILLED")
    mlflow.close()


def a_retried_trial_stays_one_run():
    mlflow = FakeMlflow()
    with harness.Server("--mlflow", mlflow.url) as server:
        path = os.path.join(server.folder, "t.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(TRAINER)
        spec = {"name": "again", "goal": "minimize loss",
                "parameters": {"a//b": [0.1, 0.2]}, "trials": 1,
                "retries": 1, "args": "none",
                "command": ["python3", path, server.folder],
                "metrics": {"stdout": ["epoch {step}: loss={loss}"]},
                "trackers": {"mlflow": "lab"}}
        server.submit(spec)
        server.wait_study("again")
        harness.wait_until(lambda: mlflow.state("again") == "SUCCEEDED",
                           "the end of the study")
        run = mlflow.run_of("again", 1)
        tap.equal(curve(run), [(4.0, 1), (4.0, 1), (2.0, 2)])
        tap.equal((run["status"], run["tags"]["hypertune.attempt"]),
                  ("FINISHED", "2"))
        tap.equal(list(run["params"]), ["a_x2F__x2F_b"])
        parent = mlflow.run_of("again")
        tap.equal(parent["status"], "FINISHED")
        tap.equal(curve(parent, "hypertune.best.loss"), [(2.0, 1)])
        # Another tracker later gets all that was before.
        spec["trackers"]["tensorboard"] = True
        with open(server.folder + "/again.yaml", "w",
                  encoding="utf-8") as file:
            json.dump(spec, file)
        server.cli("submit", "--continue", file.name)
        harness.wait_until(lambda: [
            (one["step"], one["value"]) for path in logs_of(server, "again")
            if "/trial-1/" in path for one in tfevents.read(path)
            if one.get("tag") == "loss"] == [(1, 4.0), (1, 4.0), (2, 2.0)],
            "what was measured before")
    mlflow.close()


def lost_answers_neither_lose_nor_repeat():
    mlflow = FakeMlflow()
    with harness.Server("--runner", "none", "--mlflow", mlflow.url) as server:
        mlflow.faults["runs_create"] = [None, "lost"]
        tracked = Tracked(server, "lossy")
        trial = tracked.begin()
        for step, fault in enumerate((None, "lost", "cut", 500, 429), 1):
            mlflow.faults["runs_log-batch"] = [fault]
            tracked.measure(trial, float(step), step)
            harness.wait_until(
                lambda: mlflow.run_of("lossy", 1) and
                curve(mlflow.run_of("lossy", 1))[-1:] == [(step, step)] and
                standing(server)["failures"] == 0, "step %d" % step)
        mlflow.faults["runs_log-batch"] = ["lost"]
        tracked.end(trial)
        run = tracked.wait(mlflow, 1)
        again = tracked.begin(x=0.75)
        tracked.measure(again, 9.0, 1)
        tracked.end(again)
        tracked.wait(mlflow, 2)  # after all of the first
        tap.equal(curve(run), [(float(n), n) for n in range(1, 6)])
        tap.equal(curve(run, "hypertune.final.loss"), [(5.0, 5)])
        tap.equal(mlflow.faults, {"runs_create": [], "runs_log-batch": []})
    mlflow.close()


def what_mlflow_refuses_holds_up_no_other_study():
    mlflow = FakeMlflow()
    with harness.Server("--runner", "none", "--mlflow", mlflow.url) as server:
        bad, good = (Tracked(server, name) for name in ("bad", "good"))
        trial = bad.begin()
        bad.measure(trial, 1.0, 1)
        harness.wait_until(lambda: mlflow.run_of("bad", 1) and
                           standing(server)["behind"] == 0 and
                           mlflow.state("bad", 1) == "ACTIVE", "its run")
        del mlflow.runs[mlflow.run_of("bad", 1)["id"]]
        bad.measure(trial, 2.0, 2)
        wait_failure(server, "RESOURCE_DOES_NOT_EXIST")
        other = good.begin()
        good.measure(other, 3.0, 1)
        good.end(other)
        tap.equal(curve(good.wait(mlflow, 1)), [(3.0, 1)])
        tap.equal(standing(server)["behind"], 1)
    mlflow.close()


def an_experiment_that_always_fails_holds_up_no_other_study():
    mlflow = FakeMlflow()
    mlflow.broken = "broken"
    with harness.Server("--runner", "none", "--mlflow", mlflow.url) as server:
        bad = Tracked(server, "bad", mlflow="broken")
        good = Tracked(server, "good")  # behind it
        bad.measure(bad.begin(), 1.0, 1)
        wait_failure(server, "503")
        trial = good.begin()
        good.measure(trial, 3.0, 1)
        good.end(trial)
        tap.equal(curve(good.wait(mlflow, 1)), [(3.0, 1)])
        mlflow.broken = None
        bad.wait(mlflow, 1, "ACTIVE")
    mlflow.close()


def a_server_killed_within_a_request_sends_it_once():
    mlflow = FakeMlflow()
    server = harness.Server("--runner", "none", "--mlflow", mlflow.url)
    server.start()
    try:
        tracked = Tracked(server, "killed")
        trial = tracked.begin()
        # The first batch arrives, and its answer finds no one; the second
        # does not arrive.
        for step, fault in ((1, None), (3, "cut")):
            answered, died = threading.Event(), threading.Event()

            def die(fault=fault, answered=answered, died=died):
                answered.wait(harness.PATIENCE)
                server.process.kill()
                died.set()
                return fault

            tracked.measure(trial, float(step), step)
            harness.wait_until(lambda: standing(server)["behind"] == 0 and (
                (float(step), step) in curve(mlflow.run_of("killed", 1) or
                                             {"metrics": []})),
                "what was before")
            mlflow.faults["runs_log-batch"] = [die]
            tracked.measure(trial, step + 0.5, step + 1)
            answered.set()
            died.wait(harness.PATIENCE)
            server.wait_death()
            server.start()
        tracked.end(trial)
        run = tracked.wait(mlflow, 1)
        tap.equal(sorted(curve(run)),
                  [(1.0, 1), (1.5, 2), (3.0, 3), (3.5, 4)])
    finally:
        server.close()
        mlflow.close()


def a_dead_or_slow_tracker_delays_nothing():
    port = harness.Port()
    server = harness.Server("--runner", "none", "--mlflow",
                            "http://" + port.address)
    server.start()
    release = threading.Event()
    mlflow = None
    try:
        tracked = Tracked(server, "early")
        first = tracked.begin()
        tracked.measure(first, 1.0, 1)
        tracked.end(first)
        wait_failure(server, "Couldn't connect to server")
        tap.contains("fails, and is tried again: experiments/get-by-name",
                     server.cli("describe", "early").stdout)
        doctor = server.cli("doctor", check=False, env={
            "DOCKER_HOST": "unix:///nonexistent/engine.sock"}).stdout
        tap.contains("mlflow at http://%s lacks parts of studies (1): "
                     "experiments/get-by-name" % port.address, doctor)
        metrics = api.ask(server, "GET", "/metrics").body.decode().split("\n")
        tap.contains('hypertune_tracker_behind{tracker="mlflow"} 1', metrics)
        port.close()
        mlflow = FakeMlflow(port=port.number)
        mlflow.faults["runs_create"] = [None, None, release.wait]
        tracked.wait(mlflow, 1)
        second = tracked.begin()
        tracked.measure(second, 2.0, 1)
        harness.wait_until(lambda: len(mlflow.requests) > 0 and
                           mlflow.requests.count("runs_create") == 3,
                           "the request that hangs")
        tracked.end(second)
        tap.equal(tracked.study.good("GET", second)["state"], "SUCCEEDED")
        tap.equal(server.stop(), 0)
        release.set()
        server.options = ["--runner", "none"]
        server.start()
        tap.contains("mlflow      experiment lab at -\n            not now",
                     server.cli("describe", "early").stdout)
        server.stop()
        server.options += ["--mlflow", mlflow.url]
        server.start()
        tap.equal(curve(tracked.wait(mlflow, 2)), [(2.0, 1)])
        tap.equal(curve(mlflow.run_of("early", 1)), [(1.0, 1)])
    finally:
        release.set()
        server.close()
        if mlflow is not None:
            mlflow.close()


def a_server_without_mlflow_refuses_a_spec_that_names_it():
    with harness.Server("--runner", "none") as server:
        spec = {"name": "no", "goal": "minimize loss", "command": ["true"],
                "parameters": {"x": [0.1, 0.2]}, "trackers": {"mlflow": "a"}}
        path = os.path.join(server.folder, "no.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(spec, file)
        done = server.cli("submit", path, check=False)
        tap.true(done.returncode != 0, done.stdout)
        tap.contains("trackers.mlflow: this server has no MLflow", done.stderr)
        answer = api.send(server, "POST", api.STUDIES, {
            "displayName": "no", "studySpec": {
                "metrics": [vizier.METRIC], "parameters": [vizier.X]},
            "hypertune": {"name": "no", "trackers": {"mlflow": "a"}}})
        tap.equal(answer.status, 400)
        tap.contains("hypertune.trackers.mlflow: this server has no MLflow",
                     answer.body.decode())


def the_login_is_in_a_private_file_alone():
    mlflow = FakeMlflow(login="Basic bWU6c2VjcmV0LTE3")  # me:secret-17
    server = harness.Server("--runner", "none", "--mlflow", mlflow.url,
                            "--mlflow-login", "mlflow.key")
    os.mkdir(server.data, 0o700)
    key = os.path.join(server.data, "mlflow.key")
    try:
        with open(key, "w", encoding="ascii") as file:
            file.write("me:secret-17\n")
        os.chmod(key, 0o644)
        server.start()
        tracked = Tracked(server, "private")
        trial = tracked.begin()
        tracked.measure(trial, 1.0, 1)
        wait_failure(server, "is open to others")
        os.chmod(key, 0o600)
        tracked.end(trial)
        tap.equal(curve(tracked.wait(mlflow, 1)), [(1.0, 1)])
        for path, content in harness.contents(server.folder).items():
            tap.true(path == key or b"secret-17" not in content, path)
    finally:
        server.close()
        mlflow.close()


def logs_of(server, name):
    return sorted(glob.glob("%s/tensorboard/*-%s/**/events*"
                            % (server.data, name), recursive=True))


def tensorboard_gets_scalars_and_parameters():
    with harness.Server("--runner", "none") as server:
        tracked = Tracked(server, "a/b", vizier.X, vizier.OPT,
                          tensorboard=True)
        trial = tracked.begin(x=0.25, opt="b")
        tracked.measure(trial, 0.1, 7)
        tracked.measure(trial, "NaN", 300)
        tracked.end(trial)
        folder = os.path.join(server.data, "tensorboard", "1-a_b")
        harness.wait_until(
            lambda: glob.glob(folder + "/trial-1/*") and
            any(one.get("tag") == "_hparams_/session_end_info" for one in
                tfevents.read(glob.glob(folder + "/trial-1/*")[0])), "the end")
        version, start, one, two, *rest = tfevents.read(
            glob.glob(folder + "/trial-1/*")[0])
        tap.equal(version["version"], "brain.Event:2")
        tap.equal((start["tag"], start["hparams"]),
                  ("_hparams_/session_start_info", {"x": 0.25, "opt": "b"}))
        tap.equal((one["tag"], one["step"], one["value"]),
                  ("loss", 7, tfevents.as_float(0.1)))
        tap.true(two["step"] == 300 and math.isnan(two["value"]), two)
        tap.equal(rest[-1]["tag"], "_hparams_/session_end_info")
        _, experiment = tfevents.read(glob.glob(folder + "/events*")[0])
        tap.equal(experiment["tag"], "_hparams_/experiment")
        tap.equal(experiment["metrics"], ["hypertune.final.loss"])
        tap.equal(experiment["parameters"],
                  {"x": (0.0, 1.0), "opt": ["a", "b"]})
        tap.contains("tensorboard --logdir %s\n" % folder,
                     server.cli("describe", "a/b").stdout)
        tracked.study.good("DELETE", tracked.study.path)
        harness.wait_until(lambda: not os.path.exists(folder), "its removal")


def a_torn_end_is_cut_off_and_written_again():
    server = harness.Server("--runner", "none")
    server.start()
    try:
        tracked = Tracked(server, "torn", tensorboard=True)
        trial = tracked.begin()
        ledger = os.path.join(server.data, "tensorboard.db")

        def steps():
            return [one["step"] for path in logs_of(server, "torn")
                    if "trial-1" in path for one in tfevents.read(path)
                    if one.get("tag") == "loss"]

        tracked.measure(trial, 1.0, 1)
        harness.wait_until(lambda: steps() == [1], "the first")
        server.stop()
        shutil.copy(ledger, ledger + ".before")
        server.start()
        tracked.measure(trial, 2.0, 2)
        harness.wait_until(lambda: steps() == [1, 2], "the second")
        server.stop()
        # As if it had been killed between the file and the ledger.
        shutil.move(ledger + ".before", ledger)
        with open(logs_of(server, "torn")[-1], "ab") as file:
            file.write(b"\x20\0\0\0\0\0\0\0half a record")
        server.start()
        harness.wait_until(lambda: steps() == [1, 2], "the same again")
        tracked.measure(trial, 3.0, 3)
        harness.wait_until(lambda: steps() == [1, 2, 3], "the third")
    finally:
        server.close()


tap.run([
    a_study_has_a_run_and_one_for_each_trial,
    a_retried_trial_stays_one_run,
    lost_answers_neither_lose_nor_repeat,
    what_mlflow_refuses_holds_up_no_other_study,
    an_experiment_that_always_fails_holds_up_no_other_study,
    a_server_killed_within_a_request_sends_it_once,
    a_dead_or_slow_tracker_delays_nothing,
    a_server_without_mlflow_refuses_a_spec_that_names_it,
    the_login_is_in_a_private_file_alone,
    tensorboard_gets_scalars_and_parameters,
    a_torn_end_is_cut_off_and_written_again,
])
