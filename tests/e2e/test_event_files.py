"""Trainers that leave their metrics in event files of TensorBoard: each scalar
is a measurement once, with its step and time, and no value is another's."""

import json
import os
import signal
import sys

import harness
import tap
import tfevents
from guests import Guests, as_root
from trainers import event_files

TRAINER = os.path.realpath(event_files.__file__)

# No other user may read it.
OWN = """
import os
os.chdir(os.environ["HYPERTUNE_TRIAL_DIR"])
os.makedirs("logs/a")
os.chmod("logs", 0o700)
with open("logs/a/tfevents.1", "wb") as file:
    file.write(event("score", 4, 1, 1.5))
os.chmod("logs/a/tfevents.1", 0o600)
"""


def spec(name, way, **members):
    return dict({"spec": 1, "name": name, "goal": "minimize loss",
                 "parameters": {"x": [1]}, "algorithm": "grid", "trials": 1,
                 "retries": 0, "args": "none", "metricDoctor": "warn",
                 "metrics": {"events": "${trialDir}/logs"},
                 "command": [sys.executable, TRAINER, way, "${trialDir}/logs"]},
                **members)


class Place:
    def __init__(self, server):
        self.server = server

    def path(self, name):
        return os.path.join(self.server.folder, name)

    def submit(self, name, way, **members):
        env = {key: self.path(name + "." + key.lower())
               for key in ("GO", "MARK", "NEVER")}
        self.server.submit(spec(name, way, env=env, **members),
                           cwd=self.server.folder)

    def go(self, name):
        open(self.path(name + ".go"), "w").close()

    def run(self, name, way, **members):
        self.submit(name, way, **members)
        return self.end(name)

    def end(self, name):
        self.server.wait_study(name)
        return self.server.trial(name, 1)["hypertune"]

    def values(self, name, metric="loss"):
        """(attempt, step, value) by their steps."""
        return [(one["attempt"], int(one["step"]), one["metrics"][metric])
                for one in self.server.measurements(name, 1)
                if metric in one["metrics"]]

    def await_values(self, name, n, metric="loss"):
        harness.wait_until(lambda: self.server.trials(name) and
                           len(self.values(name, metric)) >= n,
                           "%d values of %s" % (n, name))


def main():
    with harness.Server(slots=4, environment=harness.NO_SANDBOX) as server:
        place = Place(server)

        def files_are_read_while_the_trainer_writes_them():
            name, metric = "keras", "validation/epoch_loss"
            place.submit(name, "keras", goal="minimize " + metric)
            place.await_values(name, 2, metric)
            tap.equal(place.values(name, metric), [(1, 0, 20), (1, 1, 19)])
            place.go(name)
            trial = place.end(name)
            tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 17),
                      trial["reason"])
            tap.equal(place.values(name, metric),
                      [(1, 0, 20), (1, 1, 19), (1, 2, 18), (1, 3, 17)])
            tap.equal([int(one["timeMs"]) for one in
                       server.measurements(name, 1)],
                      [1700000000250 + 1000 * step for step in range(4)])

        def a_tag_is_found_in_any_folder():
            trial = place.run("torch", "torch", selection="best")
            tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 2),
                      trial["reason"])
            tap.equal([(step, str(value)) for _, step, value in
                       place.values("torch")],
                      [(0, "4"), (1, "NaN"), (1, "3"), (2, "2"),
                       (5, "Infinity")])

        def two_folders_for_one_metric_end_the_trial():
            trial = place.run("two", "two")
            tap.equal(trial["state"], "FAILED")
            tap.contains("loss is twice in the event files, as ",
                         trial["reason"])
            tap.contains("eval/loss", trial["reason"])
            tap.contains("train/loss", trial["reason"])

        def a_damaged_file_is_read_up_to_there():
            trial = place.run("damaged", "damaged")
            tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 4))
            said = server.cli("logs", "damaged/1", "--stream", "runner").stdout
            tap.equal(said.count("no record begins there"), 1, said)
            tap.contains("event file a/events.out.tfevents.1700000000.host.1.0 "
                         "is read up to byte ", said)

        def a_trial_without_its_metric_says_what_there_was():
            trial = place.run("nothing", "nothing")
            tap.equal((trial["state"], trial["reason"]), (
                "INFEASIBLE", "ended without reporting loss; no event file "
                "below ${trialDir}/logs has a scalar"))
            trial = place.run("misnamed", "misnamed")
            tap.equal(trial["state"], "INFEASIBLE")
            tap.contains("saw: eval/the_loss; eval/the_loss (events.jsonl, "
                         "line 1) may be meant", trial["reason"])

        def a_retry_has_nothing_of_the_attempt_before():
            place.submit("again", "again", retries=1)
            place.await_values("again", 1)
            place.go("again")
            trial = place.end("again")
            tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 4))
            tap.equal(place.values("again"), [(1, 1, 90), (2, 2, 4)])

        def a_runner_that_starts_again_gives_nothing_twice():
            name, metric = "restart", "validation/epoch_loss"
            place.submit(name, "keras", goal="minimize " + metric)
            place.await_values(name, 2, metric)
            for pid in harness.processes(server.program("hypertune-runner"),
                                         server.data):
                os.kill(pid, signal.SIGKILL)
            server.kill()
            server.start()
            place.go(name)
            trial = place.end(name)
            tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 17),
                      trial["reason"])
            tap.equal(place.values(name, metric),
                      [(1, 0, 20), (1, 1, 19), (1, 2, 18), (1, 3, 17)])

        def files_of_earlier_runs_are_not_copied():
            folder = place.path("code")
            os.makedirs(os.path.join(folder, "logs"))
            left = os.path.join(folder, "logs", "events.out.tfevents.1")
            with open(left, "wb") as file:
                file.write(tfevents.event("loss", 1, 9, 1.5))
            trial = place.run("old", "old", metrics={"events": "logs"},
                              workdir={"own": folder},
                              command=[sys.executable, TRAINER, "old", "logs"])
            tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 4))
            tap.equal(place.values("old"), [(1, 1, 4)])
            tap.true(os.path.exists(left))

        def a_folder_that_trials_share_is_refused():
            path = place.path("shared.yaml")
            for events in ("logs", "/tmp/logs"):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(spec("shared", "old", metrics={"events": events}),
                              file)
                done = server.cli("submit", path, check=False,
                                  cwd=server.folder)
                tap.true(done.returncode != 0, done.stdout)
                tap.contains("metrics.events: all trials would write their "
                             "event files there", done.stderr)
                tap.contains("events: ${trialDir}/logs", done.stderr)

        def it_is_refused_later_too():
            job = server.get(harness.JOBS + "old")
            job["hypertune"]["metricsEvents"] = "/tmp/logs"
            status, answer = server.call("PATCH", harness.OURS + "old",
                                         {"job": job})
            tap.equal(status, 400, str(answer))
            tap.contains("all trials would write their event files there",
                         str(answer))

        def a_trial_with_a_user_of_its_own_is_read():
            def act():
                with open(tfevents.__file__, encoding="utf-8") as file:
                    writer = file.read()
                with Guests(run_as="auto") as guests:
                    trial = guests.run_trial(
                        "own", writer + OWN,
                        metrics={"events": "${trialDir}/logs"})
                    tap.equal(trial["objective"], 4)
                    tap.equal(Place(guests).values("own", "score"),
                              [(1, 1, 4)])
            as_root(act)

        tap.run([files_are_read_while_the_trainer_writes_them,
                 a_tag_is_found_in_any_folder,
                 two_folders_for_one_metric_end_the_trial,
                 a_damaged_file_is_read_up_to_there,
                 a_trial_without_its_metric_says_what_there_was,
                 a_retry_has_nothing_of_the_attempt_before,
                 a_runner_that_starts_again_gives_nothing_twice,
                 files_of_earlier_runs_are_not_copied,
                 a_folder_that_trials_share_is_refused,
                 it_is_refused_later_too,
                 a_trial_with_a_user_of_its_own_is_read])


if __name__ == "__main__":
    main()
