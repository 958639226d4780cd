"""One study of the server for one of Optuna's, however its space grows."""

import os
import subprocess
import sys
import tempfile

import harness
import optuna_there
import tap
import tree

BEGIN = """
import sys, optuna, hypertune.optuna
study = optuna.load_study(study_name="begin", storage={database!r},
    sampler=hypertune.optuna.Sampler(seed=1, url={url!r},
                                     token_file={token!r}))
print(flush=True)
sys.stdin.readline()
study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
"""


def branches(trial):
    """Its minimum is 0, at "b", lr 0.01, v 0.3 and n 7."""
    lr = trial.suggest_float("lr", 0.001, 0.1, log=True)
    loss = abs(lr - 0.01) * 10
    if trial.suggest_categorical("kind", ["a", "b"]) == "a":
        return loss + 0.5 + abs(trial.suggest_float("u", -3, 3) - 1)
    loss += abs(trial.suggest_float("v", 0, 1) - 0.3)
    return loss + abs(trial.suggest_int("n", 1, 20) - 7) / 20


def growing(trial):
    """Its range widens, and a second parameter comes."""
    x = trial.suggest_float("x", -5, 5 if trial.number < 8 else 10)
    y = trial.suggest_float("y", 0, 1) if trial.number >= 5 else 1
    return (x - 7) ** 2 + y


def main():
    import optuna
    from optuna.distributions import FloatDistribution
    from optuna.trial import TrialState

    import hypertune
    import hypertune.optuna

    with harness.Server() as server:
        client = hypertune.Client(server.http, server.token_file)

        def sampler(**options):
            return hypertune.optuna.Sampler(client=client, **options)

        def storage():
            return hypertune.optuna.Storage(client=client)

        def the_one(name):
            found = [study for study in client.studies()
                     if study.name.startswith(name)]
            tap.equal([study.name for study in found], [name])
            return found[0]

        def places():
            """Our storage, and another, with a word for each."""
            yield "ours", storage()
            yield "memory", optuna.storages.InMemoryStorage()

        def points(study):
            return [(t.value, t.params) for t in study.trials]

        def verdicts(study):
            return {trial["verdict"] for trial in
                    server.pages(study._ours("/replay"), "trials")}

        def conditional_spaces_are_in_one_study():
            for word, place in places():
                name = "branches-" + word
                study = optuna.create_study(study_name=name, storage=place,
                                            sampler=sampler(seed=3))
                study.optimize(branches, n_trials=18)
                shown = the_one(name)
                tap.equal([(t.value, t.params) for t in shown.trials()],
                          points(study), word)
                tap.equal(sorted(shown.parameters()),
                          ["kind", "lr", "n", "u", "v"])
                tap.equal(verdicts(shown), {"SAME"}, word)
                tap.true(study.best_value < 0.4, study.best_value)

        def every_storage_gets_the_same_points():
            seen = []
            database = "sqlite:///%s/optuna.db" % tempfile.mkdtemp()
            for word, place in list(places()) + [("sqlite", database)]:
                study = optuna.create_study(study_name="same-" + word,
                                            storage=place,
                                            sampler=sampler(seed=5))
                study.optimize(growing, n_trials=14)
                the_one("same-" + word)
                seen.append(points(study))
            tap.equal(seen[1:], seen[:1] * 2)
            # The wider range and the new parameter are searched.
            late = [params for _, params in seen[0][9:]]
            tap.true(max(params["x"] for params in late) > 6, late)

        def each_of_a_batch_gets_its_own_point():
            for word, place in places():
                study = optuna.create_study(study_name="batch-" + word,
                                            storage=place,
                                            sampler=sampler(seed=1))
                for _ in range(8):
                    trial = study.ask()
                    study.tell(trial, abs(trial.suggest_float("x", 0, 1) -
                                          0.4))
                trials = [study.ask() for _ in range(8)]
                values = {trial.suggest_float("x", 0, 1) for trial in trials}
                tap.equal(len(values), 8, values)
                shown = the_one("batch-" + word)
                tap.equal(shown.counts["active"], 8)
                why = client._transport.call(
                    "GET", shown._ours("/trials/16"))["hypertune"]["why"]
                tap.equal(why["pending"], [str(n) for n in range(9, 16)])
                for trial in trials:
                    study.tell(trial, 1.0)
                tap.equal(shown.counts["active"], 0)

        def constraints_are_metrics_of_the_same_study():
            for word, place in places():
                def limit(trial):
                    return (0.3 - trial.params["x"], -1.0)
                study = optuna.create_study(
                    study_name="limit-" + word, storage=place,
                    sampler=sampler(seed=2, constraints_func=limit))
                study.enqueue_trial({"x": 0.05})
                study.optimize(lambda t: t.suggest_float("x", 0, 1),
                               n_trials=14)
                shown = the_one("limit-" + word)
                tap.equal(shown._metrics(),
                          ["value", "constraint_0", "constraint_1"])
                best = shown.best_trial.params["x"]
                tap.true(0.3 <= best < 0.45, best)
                # Of one that has none, nothing is known to be safe.
                study.sampler = optuna.samplers.RandomSampler(1)
                study.optimize(lambda t: t.suggest_float("x", 0, 1),
                               n_trials=1)
                if word == "ours":  # others' have no sampler to send it
                    last = the_one("limit-" + word).trial(15)
                    tap.equal((last.state, last.latest),
                              ("INFEASIBLE",
                               {"value": study.trials[-1].value}))
                tap.equal(the_one("limit-" + word).counts["active"], 0)
                tap.equal(shown.best_trial.params["x"], best)

        def what_the_objective_takes_instead_is_what_counts():
            study = optuna.create_study(
                study_name="instead", storage=storage(), sampler=sampler(
                    seed=1, search_space={"x": FloatDistribution(0, 1)}))
            study.enqueue_trial({"x": 0.125})
            # Out of the range that is searched: Optuna draws it again.
            study.optimize(lambda t: t.suggest_float("x", 5, 6), n_trials=2)
            shown = the_one("instead")
            tap.equal([t.params for t in shown.trials()],
                      [t.params for t in study.trials])

        def values_of_ones_own_are_those_of_the_servers_trial():
            """An enqueued value outside of its range, and the retry of a
            trial, which waits with all its parameters."""
            study = optuna.create_study(study_name="own", storage=storage(),
                                        sampler=sampler(seed=1))

            def f(trial):
                return (trial.suggest_float("x", -1, 1) +
                        trial.suggest_int("y", 1, 4))
            study.optimize(f, n_trials=4)
            study.enqueue_trial({"x": 99.0})
            ranges = study.trials[0].distributions
            study.add_trial(optuna.trial.create_trial(
                state=TrialState.WAITING, params={"x": 1.0, "y": 1},
                distributions=ranges))
            study.optimize(f, n_trials=2)
            tap.equal([t.params for t in study.trials[-1:]],
                      [{"x": 1.0, "y": 1}])
            outside, retried = (the_one("own").trial(number)
                                for number in (5, 6))
            tap.equal(study.trials[4].params["x"], 99.0)
            tap.equal(outside.params, {"y": study.trials[4].params["y"]})
            tap.equal((retried.params, retried.value),
                      ({"x": 1.0, "y": 1}, 2.0))

        def a_name_that_is_taken_is_left_alone():
            first = optuna.create_study(study_name="name", sampler=sampler())
            second = optuna.create_study(study_name="name", sampler=sampler())
            for study in (first, second):
                study.optimize(lambda t: t.suggest_float("x", 0, 1),
                               n_trials=2)
            names = sorted(study.name for study in client.studies()
                           if study.name.startswith("name"))
            tap.equal((len(names), names[0], names[1][:5]),
                      (2, "name", "name-"))
            tap.equal(client.study("name").counts["succeeded"], 2)
            error = tap.raises(KeyError, optuna.load_study, study_name="name",
                               storage=storage())
            tap.contains("another storage", str(error))
            kept = optuna.create_study(study_name="kept-here",
                                       storage=storage())
            kept.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=1)
            other = optuna.create_study(study_name="kept-here",
                                        sampler=sampler())
            other.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=1)
            tap.equal(len(kept.trials), 1)
            tap.equal(client.study("kept-here").counts["succeeded"], 1)

        def processes_that_begin_together_make_one_study():
            database = "sqlite:///%s/optuna.db" % tempfile.mkdtemp()
            optuna.create_study(study_name="begin", storage=database)
            workers = [subprocess.Popen(
                [sys.executable, "-c", BEGIN.format(
                    database=database, url=server.http,
                    token=server.token_file)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=dict(os.environ, PYTHONPATH=tree.PACKAGE))
                for _ in range(3)]
            for worker in workers:
                worker.stdout.readline()
            for worker in workers:
                worker.stdin.write(b"\n")
                worker.stdin.flush()
            for worker in workers:
                worker.communicate(timeout=harness.PATIENCE)
                tap.equal(worker.returncode, 0)
            shown = the_one("begin")
            trials = optuna.load_study(study_name="begin",
                                       storage=database).trials
            tap.equal(sorted(t.value for t in shown.trials()),
                      sorted(t.value for t in trials))

        def a_grid_has_each_point_once():
            for word, place in places():
                study = optuna.create_study(
                    study_name="grid-" + word, storage=place,
                    sampler=sampler(algorithm="grid", search_space={
                        "x": FloatDistribution(0, 1, step=0.5),
                        "y": FloatDistribution(0, 1, step=0.5)}))
                study.optimize(
                    lambda t: t.suggest_float("x", 0, 1, step=0.5) +
                    t.suggest_float("y", 0, 1, step=0.5), n_trials=10)
                tap.equal(len({tuple(t.params.values())
                               for t in study.trials[:9]}), 9, word)
                tap.equal({t.state for t in study.trials},
                          {TrialState.COMPLETE})
                the_one("grid-" + word)

        def it_is_deleted_while_it_runs():
            study = optuna.create_study(study_name="gone", storage=storage(),
                                        sampler=sampler())
            study.ask()
            tap.equal(the_one("gone").state, "RUNNING")
            server.cli("delete", "gone", "--yes")
            tap.raises(KeyError, optuna.load_study, study_name="gone",
                       storage=storage())

        tap.run([
            conditional_spaces_are_in_one_study,
            every_storage_gets_the_same_points,
            each_of_a_batch_gets_its_own_point,
            constraints_are_metrics_of_the_same_study,
            what_the_objective_takes_instead_is_what_counts,
            values_of_ones_own_are_those_of_the_servers_trial,
            a_name_that_is_taken_is_left_alone,
            processes_that_begin_together_make_one_study,
            a_grid_has_each_point_once,
            it_is_deleted_while_it_runs,
        ])


if __name__ == "__main__":
    optuna_there.run(main)
