"""A study in containers from submit to best: with a fake engine always, with
each engine of HT_DOCKER_HOSTS. More of real engines is in test_container_*."""

import contextlib
import os
import tempfile

import engines
import harness
import tap
from engines import shell, spec


class Cases:
    def __init__(self, server):
        self._server = server

    def a_study_of_three_trials_finds_its_best(self):
        self._server.submit(spec("three", shell(
            "echo score=${x}"), trials=3, parallel=2))
        self._server.wait_study("three")
        trials = [self._server.trial("three", number)["hypertune"]
                  for number in (1, 2, 3)]
        tap.equal([trial["state"] for trial in trials], ["SUCCEEDED"] * 3)
        best = self._server.cli("best", "three", "-o", "args").stdout
        value = float(best.split("--x=")[1].split()[0])
        tap.equal(value, max(trial["objective"] for trial in trials), "best x")

    def a_trial_is_stopped_by_a_person(self):
        self._server.submit(spec("stopped", shell("echo up; sleep 600")))
        harness.wait_until(lambda: "up" in self._log("stopped"),
                           "a trial that runs")
        self._server.cli("stop-trial", "stopped/1")
        self._server.wait_study("stopped")

    def a_trial_outlives_its_server(self):
        """The runner stays, or comes back with the server: the container must
        neither be lost nor made twice."""
        self._server.submit(spec("outlived", shell(
            "echo up; until [ -e $HYPERTUNE_TRIAL_DIR/go ]; do sleep 0.1; "
            "done; echo score=1")))
        harness.wait_until(lambda: "up" in self._log("outlived"),
                           "a trial that runs")
        self._server.kill()
        self._server.start()
        for folder, _, files in os.walk(os.path.join(self._server.data,
                                                     "runs")):
            if "shim.json" in files:
                open(os.path.join(folder, "go"), "w").close()
        self._server.wait_study("outlived")
        trial = self._server.trial("outlived", 1)["hypertune"]
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        tap.equal(len(trial["attempts"]), 1, "attempts")

    def nothing_is_left_in_the_engine(self):
        self._server.expect_nothing_left()

    def _log(self, study):
        try:
            return self._server.output(study)
        except AssertionError:
            return ""  # it has no log yet


def main():
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        fake = stack.enter_context(engines.FakeEngine(folder))
        bound = []
        for engine in [fake] + engines.here():
            server = stack.enter_context(engines.Server(engine, slots=2))
            bound += engines.bind(Cases, server, engine.name)
        tap.run(bound)


main()
