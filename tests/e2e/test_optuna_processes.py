"""Optuna studies that several processes work at, and that some die of."""

import os
import subprocess
import sys
import tempfile
import threading
import time

import harness
import optuna_there
import tap
import tree

WORKERS, EACH = 4, 8

HEAD = """
import optuna, hypertune.optuna
optuna.logging.set_verbosity(optuna.logging.CRITICAL)
server = dict(url={url!r}, token_file={token!r})
sampler = hypertune.optuna.Sampler(seed=1, **server)
"""

SHARE = HEAD + """
study = optuna.create_study(study_name="shared", load_if_exists=True,
    storage=hypertune.optuna.Storage(**server), sampler=sampler)


def objective(trial):
    x = trial.suggest_float("x", -1, 1)
    trial.set_user_attr("worker", {worker})
    trial.report(x, 1)
    return (x - 0.25) ** 2
study.optimize(objective, n_trials={each})
"""

ROWS = HEAD + """
study = optuna.load_study(study_name="rows", storage={database!r},
    sampler=hypertune.optuna.Sampler(seed=1, search_space={{
        "x": optuna.distributions.FloatDistribution(0, 1)}}, **server))
study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
"""

DIE = HEAD + """
import os, signal
study = optuna.create_study(study_name={name!r}, load_if_exists=True,
    storage=hypertune.optuna.Storage(heartbeat_interval={interval}, **server),
    sampler=sampler)
def objective(trial):
    x = trial.suggest_float("x", 0, 1)
    if trial.number == 3:
        trial.report(x, 1)
        storage = study._storage
        while {interval} and not storage._synced(study._study_id).beats.get(3):
            pass  # the first beat comes from another thread
        os.kill(os.getpid(), signal.SIGKILL)
    return x
study.optimize(objective, n_trials=9)
"""


def main():
    import optuna
    from optuna.trial import TrialState

    import hypertune
    import hypertune.optuna
    from hypertune.optuna import copies

    with harness.Server() as server:
        client = hypertune.Client(server.http, server.token_file)

        def storage(**options):
            return hypertune.optuna.Storage(client=client, **options)

        def start(program, **words):
            return subprocess.Popen(
                [sys.executable, "-c", program.format(
                    url=server.http, token=server.token_file, **words)],
                env=dict(os.environ, PYTHONPATH=tree.PACKAGE))

        def searched(name):
            """The one study of the server with the trials of Optuna's."""
            found = [study for study in client.studies()
                     if study.name.startswith(name)]
            tap.equal([study.name for study in found], [name])
            return found[0]

        def processes_share_a_study_and_lose_nothing():
            workers = [start(SHARE, worker=n, each=EACH)
                       for n in range(WORKERS)]
            for worker in workers:
                tap.equal(worker.wait(harness.PATIENCE), 0)
            trials = optuna.load_study(study_name="shared",
                                       storage=storage()).trials
            tap.equal([trial.number for trial in trials],
                      list(range(WORKERS * EACH)))
            tap.equal({trial.state for trial in trials},
                      {TrialState.COMPLETE})
            tap.equal([sum(trial.user_attrs["worker"] == n
                           for trial in trials) for n in range(WORKERS)],
                      [EACH] * WORKERS)
            shown = client.study("shared").trials()
            tap.equal([(t.id - 1, t.value, t.latest) for t in shown],
                      [(t.number, t.value, {"value": t.params["x"]})
                       for t in trials])
            tap.equal([t.params for t in searched("shared").trials()],
                      [t.params for t in trials])

        class SlowStorage(optuna.storages.InMemoryStorage):
            """Leaves others the time to read before a write."""

            def set_study_system_attr(self, *arguments):
                time.sleep(0.1)
                super().set_study_system_attr(*arguments)

        def samplers_that_begin_together_share_one_study():
            storage = SlowStorage()
            optuna.create_study(study_name="together", storage=storage)
            begin = threading.Barrier(3, timeout=harness.PATIENCE)

            def work():  # as a process of its own, with its own sampler
                study = optuna.load_study(
                    study_name="together", storage=storage,
                    sampler=hypertune.optuna.Sampler(
                        client=client, seed=1, search_space={
                            "x": optuna.distributions.FloatDistribution(0, 1)
                        }))
                begin.wait()
                study.optimize(lambda t: t.suggest_float("x", 0, 1),
                               n_trials=2)
            workers = [threading.Thread(target=work) for _ in range(3)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            tap.equal(searched("together").counts["succeeded"], 6)

        space = {"x": optuna.distributions.FloatDistribution(0, 1)}

        class Noting(hypertune.optuna.Sampler):
            """Keeps what it took the study for at every call."""

            def __init__(self):
                super().__init__(client=client, seed=1, search_space=space)
                self.families = []

            def infer_relative_search_space(self, study, trial):
                self.families.append(copies.family(study))
                return super().infer_relative_search_space(study, trial)

            def after_trial(self, study, trial, state, values):
                self.families.append(copies.family(study))
                super().after_trial(study, trial, state, values)

        def objective(trial):
            return trial.suggest_float("x", 0, 1)

        def storages():
            """One of each kind; each call makes new ones."""
            folder = tempfile.mkdtemp()
            yield "memory", optuna.storages.InMemoryStorage()
            yield "sqlite", "sqlite:///%s/optuna.db" % folder
            yield "journal", optuna.storages.JournalStorage(
                optuna.storages.JournalFileStorage(folder + "/optuna.log"))

        def a_study_has_one_name_in_every_storage():
            for kind, place in storages():
                noting = Noting()
                study = optuna.create_study(study_name=kind, storage=place,
                                            sampler=noting)
                study.enqueue_trial({"x": 0.5})
                study.optimize(objective, n_trials=2)
                study.add_trial(optuna.trial.create_trial(
                    params={"x": 0.25}, distributions=space, value=0.25))
                study.tell(study.ask(), state=TrialState.FAIL)
                retry = optuna.storages.RetryFailedTrialCallback()
                retry(study, study.trials[-1])
                study.optimize(objective, n_trials=2)
                tap.true(None not in noting.families, kind)
                tap.equal(len(set(noting.families)), 1, kind)
                tap.equal(searched(kind).counts["succeeded"], 5, kind)

        def processes_share_the_study_of_a_database():
            url = "sqlite:///%s/optuna.db" % tempfile.mkdtemp()
            optuna.create_study(study_name="rows", storage=url)
            workers = [start(ROWS, database=url) for _ in range(2)]
            for worker in workers:
                tap.equal(worker.wait(harness.PATIENCE), 0)
            tap.equal(searched("rows").counts["succeeded"], 6)

        def a_copy_has_a_search_of_its_own():
            for kind, place in storages():
                study = optuna.create_study(study_name="of-" + kind,
                                            storage=place, sampler=Noting())
                study.optimize(objective, n_trials=1)
                optuna.copy_study(from_study_name="of-" + kind,
                                  from_storage=place, to_storage=place,
                                  to_study_name="copy-of-" + kind)
                copy = optuna.load_study(study_name="copy-of-" + kind,
                                         storage=place, sampler=Noting())
                copy.optimize(objective, n_trials=1)
                tap.equal([searched(name + kind).counts["succeeded"]
                           for name in ("of-", "copy-of-")], [1, 2], kind)

        def a_trial_that_passes_the_first_one_waits_for_no_name():
            for kind, place in storages():
                noting = Noting()
                study = optuna.create_study(study_name="passed-" + kind,
                                            storage=place, sampler=noting)
                study.enqueue_trial({"x": 0.5})
                # As of a process that had looked for waiting trials before.
                number = study._storage.create_new_trial(study._study_id)
                passing = optuna.trial.Trial(study, number)
                tap.equal(noting.families, [None], kind)
                tap.equal([s.name for s in client.studies()
                           if s.name.startswith("passed-" + kind)], [], kind)
                study.optimize(objective, n_trials=2)
                study.tell(passing, objective(passing))
                tap.equal(searched("passed-" + kind).counts["succeeded"], 3,
                          kind)

        def what_two_samplers_know_is_sent_once():
            study = optuna.create_study(study_name="twice")
            study.optimize(objective, n_trials=3)
            first, second = [
                hypertune.optuna.Sampler(client=client)._copies_of(study)
                for _ in range(2)]
            tap.equal(first.record.remote.id, second.record.remote.id)
            # As if the second had looked before the first one sent it.
            second._over.clear()
            second._add(study.trials, set())
            tap.equal([t.value for t in searched("twice").trials()],
                      [t.value for t in study.trials])

        def what_a_sampler_could_not_send_is_sent_later():
            class Dying(hypertune.optuna.Sampler):
                def after_trial(self, *_):
                    raise ConnectionError("as if it had died")

            study = optuna.create_study(study_name="untold", sampler=Dying(
                client=client, search_space=space))
            tap.raises(ConnectionError, study.optimize, objective, n_trials=1)
            tap.equal(searched("untold").counts["active"], 1)
            study.sampler = hypertune.optuna.Sampler(client=client)
            study.optimize(objective, n_trials=1)
            tap.equal([t.value for t in searched("untold").trials()],
                      [t.value for t in study.trials])

        def after_a_kill_the_study_continues():
            died = start(DIE, name="killed", interval=None)
            tap.equal(died.wait(harness.PATIENCE), -9)
            study = optuna.load_study(study_name="killed", storage=storage())
            study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=2)
            tap.equal([t.state.name for t in study.trials],
                      ["COMPLETE"] * 3 + ["RUNNING"] + ["COMPLETE"] * 2)
            left = study.trials[3]
            tap.equal(left.intermediate_values, {1: left.params["x"]})

        def a_dead_trial_is_failed_and_tried_again():
            died = start(DIE, name="retried", interval=60)
            tap.equal(died.wait(harness.PATIENCE), -9)
            keep = storage(
                heartbeat_interval=60, grace_period=100,
                failed_trial_callback=optuna.storages.RetryFailedTrialCallback(
                    max_retry=1))
            study = optuna.load_study(
                study_name="retried", storage=keep,
                sampler=hypertune.optuna.Sampler(client=client, seed=1))
            optuna.storages.fail_stale_trials(study)
            tap.equal(study.trials[3].state, TrialState.RUNNING)
            dead = study.trials[3]
            keep._set(dead._trial_id, {"beat": "1"})  # long ago
            study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=1)
            tap.equal([t.state.name for t in study.trials],
                      ["COMPLETE"] * 3 + ["FAIL", "COMPLETE"])
            again = study.trials[4]
            tap.equal(again.params, dead.params)
            tap.equal(optuna.storages.RetryFailedTrialCallback
                      .retried_trial_number(again), 3)
            tap.equal([(t.state, t.value) for t in
                       client.study("retried").trials()[3:]],
                      [("INFEASIBLE", None), ("SUCCEEDED", dead.params["x"])])
            tap.equal(searched("retried").counts["active"], 0)

        def what_was_suggested_to_a_dead_trial_is_given_up():
            died = start(DIE, name="dropped", interval=60)
            tap.equal(died.wait(harness.PATIENCE), -9)
            keep = storage(heartbeat_interval=60)
            study = optuna.load_study(
                study_name="dropped", storage=keep,
                sampler=hypertune.optuna.Sampler(client=client, seed=1))
            keep._set(study.trials[3]._trial_id, {"beat": "1"})
            tap.equal(searched("dropped").counts["active"], 1)
            study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=1)
            counts = searched("dropped").counts
            tap.equal((counts["active"], counts["infeasible"]), (0, 1))

        def one_of_many_takes_a_dead_trial():
            study = optuna.create_study(
                study_name="many", storage=storage(heartbeat_interval=60))
            trial = study.ask()
            keep = study._storage
            tap.equal(keep._get_stale_trial_ids(study._study_id), [],
                      "no beat yet")
            keep.record_heartbeat(trial._trial_id)
            tap.equal(keep._get_stale_trial_ids(study._study_id), [])
            keep._set(trial._trial_id, {"beat": "1"})
            others = [storage(heartbeat_interval=60) for _ in range(3)]
            records = [other._synced(study._study_id) for other in others]
            won = [other._takes_over(record, record.trials[0])
                   for other, record in zip(others, records)]
            tap.equal(won, [True, False, False])
            keep._set(trial._trial_id, {"beat": "1"})
            found = [other._get_stale_trial_ids(study._study_id)
                     for other in others]
            tap.equal(found, [[trial._trial_id], [], []])
            study.tell(trial, 1.0)
            keep.record_heartbeat(trial._trial_id)
            tap.equal(keep._get_stale_trial_ids(study._study_id), [])
            tap.raises(ValueError, storage, heartbeat_interval=0)

        tap.run([
            processes_share_a_study_and_lose_nothing,
            samplers_that_begin_together_share_one_study,
            a_study_has_one_name_in_every_storage,
            processes_share_the_study_of_a_database,
            a_copy_has_a_search_of_its_own,
            a_trial_that_passes_the_first_one_waits_for_no_name,
            what_two_samplers_know_is_sent_once,
            what_a_sampler_could_not_send_is_sent_later,
            after_a_kill_the_study_continues,
            a_dead_trial_is_failed_and_tried_again,
            what_was_suggested_to_a_dead_trial_is_given_up,
            one_of_many_takes_a_dead_trial,
        ])


if __name__ == "__main__":
    optuna_there.run(main)
