"""Optuna's studies with our sampler, storage and pruner, on a real server."""

import datetime
import math
import os
import pickle
import subprocess
import sys
import threading

import harness
import optuna_there
import tap
import tree


def smooth(trial):
    """Its minimum is 0."""
    x = trial.suggest_float("x", -5, 10)
    rate = trial.suggest_float("learning rate", 1e-5, 1, log=True)
    layers = trial.suggest_int("layers", 1, 9, step=2)
    return ((x - 2) ** 2 / 10 + (math.log10(rate) + 3) ** 2 +
            abs(layers - 5) / 2)


def main():
    import optuna
    from optuna.distributions import (CategoricalDistribution,
                                      FloatDistribution, IntDistribution)
    from optuna.trial import TrialState

    import hypertune
    import hypertune.optuna
    from hypertune.optuna import spaces

    with harness.Server() as server:
        client = hypertune.Client(server.http, server.token_file)

        def sampler(**options):
            return hypertune.optuna.Sampler(client=client, **options)

        def storage(**options):
            return hypertune.optuna.Storage(client=client, **options)

        def remote(name):
            """The one study of the server with the trials of Optuna's."""
            found = [study for study in client.studies()
                     if study.name.startswith(name)]
            tap.equal([study.name for study in found], [name])
            return found[0]

        # --- the sampler ---

        def it_finds_what_random_search_does_not():
            wins = 0
            for seed in range(5):
                ours = optuna.create_study(sampler=sampler(seed=seed))
                ours.optimize(smooth, n_trials=30)
                drawn = optuna.create_study(
                    sampler=optuna.samplers.RandomSampler(seed))
                drawn.optimize(smooth, n_trials=30)
                wins += ours.best_value < drawn.best_value / 10
            tap.equal(wins, 5)

        def the_same_seed_gives_the_same_points():
            seen = []
            for _ in range(2):
                study = optuna.create_study(sampler=sampler(seed=7))
                study.optimize(smooth, n_trials=6)
                seen.append([trial.params for trial in study.trials])
            tap.equal(seen[0], seen[1])

        def values_come_back_as_they_were_given():
            choices = [None, True, 1, 1.5, "", "1", "adam", (2, 3)]
            study = optuna.create_study(study_name="kinds",
                                        sampler=sampler(seed=1))
            seen = []

            def objective(trial):
                choice = trial.suggest_categorical("choice ?", choices)
                seen.append(choice)
                step = trial.suggest_float("step", 0, 1, step=0.25)
                tap.contains(step, (0, 0.25, 0.5, 0.75, 1))
                whole = trial.suggest_int("whole", 2, 11, step=3)
                tap.contains(whole, (2, 5, 8, 11))
                tap.true(1 <= trial.suggest_int("log", 1, 99, log=True) <= 99)
                trial.suggest_float("one", 3, 3)
                return step + choices.index(choice)
            study.optimize(objective, n_trials=40)
            kinds = {(type(value), value) for value in seen}
            tap.true(kinds <= {(type(c), c) for c in choices})
            tap.true(len(kinds) >= 5, kinds)
            tap.equal(sorted(remote("kinds").parameters()),
                      ["choice_", "log", "one", "step", "whole"])

        def spaces_change_as_the_study_goes():
            study = optuna.create_study(study_name="branches",
                                        sampler=sampler(seed=1))

            def objective(trial):
                value = trial.suggest_float("lr", 0, 1)
                if trial.suggest_categorical("opt", ["adam", "sgd"]) == "sgd":
                    value += trial.suggest_float("momentum", 0, 1)
                return value
            study.optimize(objective, n_trials=15)
            names = {tuple(sorted(t.params)) for t in study.trials}
            tap.equal(len(names), 2, names)
            tap.true(study.best_value < 0.2, study.best_value)
            tap.equal(remote("branches").parameters(),
                      ["lr", "opt", "momentum"])
            tap.equal(remote("branches").counts["succeeded"], 15)

        def earlier_trials_are_sent_first():
            old = optuna.create_study(
                study_name="old", sampler=optuna.samplers.RandomSampler(3))
            old.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=8)
            old.add_trial(optuna.trial.create_trial(
                params={"x": 5.0}, value=9.0,
                distributions={"x": FloatDistribution(0, 9)}))
            old.sampler = sampler(seed=1, search_space={
                "x": FloatDistribution(0, 1)})
            old.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=3)
            stored = remote("old").trials()
            tap.equal([t.value for t in stored[:8]],
                      [t.value for t in old.trials[:8]])
            tap.equal(len(stored), 12, "the one out of range, too")

        def a_given_space_is_searched_from_the_first_trial():
            study = optuna.create_study(study_name="given", sampler=sampler(
                seed=1, search_space={"x": FloatDistribution(0, 1)}))
            study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=1)
            tap.equal(remote("given").trial(1).params, study.trials[0].params)
            tap.raises(ValueError, sampler, algorithm="magic")

        def failed_and_pruned_trials_are_sent_as_such():
            study = optuna.create_study(study_name="ends", sampler=sampler(
                seed=1, search_space={"x": FloatDistribution(0, 4)}))
            for x in (0.5, 1.5, 2.5, 3.5):
                study.enqueue_trial({"x": x})

            def objective(trial):
                x = trial.suggest_float("x", 0, 4)
                if 1 < x < 2:
                    raise ValueError("no")
                if x > 3:
                    raise optuna.TrialPruned
                if x > 2:
                    trial.report(7.0, 2)
                    raise optuna.TrialPruned
                return x
            study.optimize(objective, n_trials=4, catch=(ValueError,))
            tap.equal([(t.state, t.value, t.params["x"])
                       for t in remote("ends").trials()], [
                ("SUCCEEDED", 0.5, 0.5), ("INFEASIBLE", None, 1.5),
                ("STOPPED", 7.0, 2.5), ("INFEASIBLE", None, 3.5)])

        def several_goals_and_constraints_are_searched():
            def constraints(trial):
                return (0.3 - trial.params["x"],)
            study = optuna.create_study(
                study_name="goals", directions=["minimize", "maximize"],
                sampler=sampler(seed=1, constraints_func=constraints))
            study.optimize(lambda t: (t.suggest_float("x", 0, 1),
                                      t.suggest_float("y", 0, 1)),
                           n_trials=25)
            found = remote("goals")
            tap.equal([m["metricId"] for m in found._spec["metrics"]],
                      ["value_0", "value_1", "constraint_0"])
            tap.equal(study.trials[-1].system_attrs["constraints"],
                      (0.3 - study.trials[-1].params["x"],))
            feasible = [t for t in study.trials[10:] if t.params["x"] >= 0.3]
            tap.true(len(feasible) >= 9, len(feasible))
            tap.true(max(t.values[1] for t in feasible) > 0.95)

        def batches_have_points_of_their_own():
            study = optuna.create_study(study_name="batch", sampler=sampler(
                seed=1, search_space={"x": FloatDistribution(0, 1)}))
            together = threading.Barrier(4, timeout=harness.PATIENCE)

            def objective(trial):
                x = trial.suggest_float("x", 0, 1)
                together.wait()
                return x
            study.optimize(objective, n_trials=8, n_jobs=4)
            # A search that learns the noise may measure one point again.
            tap.true(len({t.params["x"] for t in study.trials}) >= 7,
                     len({t.params["x"] for t in study.trials}))
            tap.equal(remote("batch").counts["succeeded"], 8)

        def names_and_labels_are_the_servers():
            taken = set()
            tap.equal([spaces.safe_name(name, taken) for name in
                       ("a b", "a?b", "-x", "\u00e4", "")],
                      ["a_b", "a_b-2", "x", "_", "_-2"])
            labels = spaces.labels([None, "null", True, 1, "", " ", "x" * 2000,
                                    "x" * 3000])
            tap.equal(len(set(labels)), 8, labels)
            tap.true(all(0 < len(label) <= 1024 for label in labels))

        # --- the storage ---

        def studies_are_made_found_listed_and_deleted():
            keep = storage()
            name = 'digits "\u00e4" <b>'
            study = optuna.create_study(study_name=name, storage=keep,
                                        directions=["maximize", "minimize"])
            tap.raises(optuna.exceptions.DuplicatedStudyError,
                       optuna.create_study, study_name=name, storage=keep)
            study.set_user_attr("a", {"b": [1, None, "\u00e4"]})
            keep.set_study_system_attr(study._study_id, "s", 1.5)
            again = optuna.load_study(study_name=name, storage=storage())
            tap.equal(again.user_attrs, {"a": {"b": [1, None, "\u00e4"]}})
            tap.equal(keep.get_study_system_attrs(study._study_id), {"s": 1.5})
            tap.equal([d.name for d in again.directions],
                      ["MAXIMIZE", "MINIMIZE"])
            listed = [s for s in storage().get_all_studies()
                      if s.study_name == name]
            tap.equal(len(listed), 1)
            tap.equal(listed[0].user_attrs, again.user_attrs)
            other = storage()
            tap.equal(other.get_study_name_from_id(study._study_id), name)
            optuna.delete_study(study_name=name, storage=keep)
            tap.raises(KeyError, optuna.load_study, study_name=name,
                       storage=keep)
            tap.raises(KeyError, other.get_all_trials, study._study_id)
            tap.raises(KeyError, other.get_study_user_attrs, study._study_id)
            tap.raises(KeyError, keep.delete_study, study._study_id)
            tap.raises(KeyError, keep.get_study_directions, 99999)

        def other_studies_of_the_server_are_not_optunas():
            made = client.create_study("plain", "loss", "MINIMIZE",
                                       [hypertune.Double("x", 0, 1)])
            tap.raises(KeyError, storage().get_study_id_from_name, "plain")
            tap.raises(KeyError, storage().get_all_trials, made.id)
            tap.lacks("plain",
                      [s.study_name for s in storage().get_all_studies()])

        def a_trial_is_kept_whole():
            keep = storage()
            study = optuna.create_study(study_name="whole", storage=keep)
            trial = study.ask()
            x = trial.suggest_float("x", 0, 1)
            trial.suggest_categorical("c", [None, "a", 2])
            trial.suggest_int("i", 1, 64, log=True)
            trial.report(3.0, 1)
            keep.set_trial_intermediate_value(trial._trial_id, 1, 2.0)
            trial.report(float("nan"), 2)
            trial.set_user_attr("u", [1])
            keep.set_trial_system_attr(trial._trial_id, "s", None)
            study.tell(trial, x)
            (seen,) = optuna.load_study(study_name="whole",
                                        storage=storage()).trials
            tap.equal(repr(seen), repr(study.trials[0]))
            tap.equal((seen.value, seen.params["x"]), (x, x))
            tap.equal(seen.intermediate_values[1], 2.0)
            tap.true(math.isnan(seen.intermediate_values[2]))
            tap.equal((seen.user_attrs, seen.system_attrs),
                      ({"u": [1]}, {"s": None}))
            tap.equal(type(seen.datetime_start), datetime.datetime)
            tap.equal(seen.distributions["i"],
                      IntDistribution(1, 64, log=True))
            tap.equal(seen.distributions["c"],
                      CategoricalDistribution([None, "a", 2]))
            tap.equal(keep.get_trial_param(seen._trial_id, "x"), x)
            tap.equal(keep.get_trial_number_from_id(seen._trial_id), 0)
            tap.raises(KeyError, keep.get_trial, seen._trial_id + 1)
            tap.raises(KeyError, keep.get_trial_id_from_study_id_trial_number,
                       study._study_id, 1)

        def what_has_ended_stays_as_it_is():
            keep, other = storage(), storage()
            study = optuna.create_study(study_name="ended", storage=keep)
            trial = study.ask()
            other.get_trial(trial._trial_id)  # has it as running
            study.tell(trial, 1.0)
            for change in (
                    lambda s: s.set_trial_user_attr(trial._trial_id, "a", 1),
                    lambda s: s.set_trial_intermediate_value(
                        trial._trial_id, 1, 1.0),
                    lambda s: s.set_trial_param(trial._trial_id, "x", 0.5,
                                                FloatDistribution(0, 1)),
                    lambda s: s.set_trial_state_values(
                        trial._trial_id, TrialState.FAIL)):
                tap.raises(RuntimeError, change, keep)
                tap.raises(RuntimeError, change, other)
            tap.equal(other.get_trial(trial._trial_id).value, 1.0)

        def a_parameter_keeps_its_kind():
            keep = storage()
            study = optuna.create_study(study_name="kept", storage=keep)
            study.ask().suggest_float("x", 0, 1)
            tap.raises(ValueError, study.ask().suggest_int, "x", 0, 1)
            tap.raises(ValueError, study.ask().suggest_float, "x", 0.1, 1,
                       log=True)
            study.ask().suggest_float("x", -7, 1)
            tap.equal(client.study("kept")._spec["parameters"][0]
                      ["doubleValueSpec"], {"minValue": -7, "maxValue": 1})

        def one_of_many_takes_a_waiting_trial():
            study = optuna.create_study(study_name="queue", storage=storage())
            study.enqueue_trial({"x": 0.5})
            tap.equal(client.study("queue").trial(1).state, "REQUESTED")
            waiting = study.trials[0]._trial_id
            together = threading.Barrier(4, timeout=harness.PATIENCE)
            taken = []

            def take():
                mine = storage()
                mine.get_trial(waiting)
                together.wait()
                taken.append(mine.set_trial_state_values(
                    waiting, TrialState.RUNNING))
            threads = [threading.Thread(target=take) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            tap.equal(sorted(taken), [False, False, False, True])
            tap.equal(client.study("queue").trial(1).state, "ACTIVE")

        def trials_are_added_whole():
            study = optuna.create_study(study_name="added", storage=storage())
            study.add_trial(optuna.trial.create_trial(
                params={"x": 0.5}, value=3.0, user_attrs={"a": 1},
                distributions={"x": FloatDistribution(0, 1)},
                intermediate_values={1: 5.0, 2: 3.0}))
            study.add_trial(optuna.trial.create_trial(state=TrialState.FAIL))
            first, second = study.trials
            tap.equal((first.value, first.params, first.user_attrs),
                      (3.0, {"x": 0.5}, {"a": 1}))
            tap.equal(second.state, TrialState.FAIL)
            shown = client.study("added")
            tap.equal([(t.state, t.params, t.value) for t in shown.trials()],
                      [("SUCCEEDED", {"x": 0.5}, 3.0),
                       ("INFEASIBLE", {}, None)])
            tap.equal([v for _, v, _ in shown.curves(1)], [5.0, 3.0])

        def our_rule_prunes_and_the_server_shows_it():
            study = optuna.create_study(
                study_name="pruned", storage=storage(),
                pruner=hypertune.optuna.Pruner(),
                sampler=optuna.samplers.RandomSampler(1))
            for x in (0.1, 0.2, 0.3, 0.15, 0.25, 0.9):
                study.enqueue_trial({"x": x})

            def objective(trial):
                x = trial.suggest_float("x", 0, 1)
                for step in range(1, 6):
                    trial.report(x + 1 / step, step)
                    if trial.should_prune():
                        raise optuna.TrialPruned
                return x
            study.optimize(objective, n_trials=6)
            tap.equal(study.trials[0].state, TrialState.COMPLETE)
            tap.equal(study.trials[5].state, TrialState.PRUNED)
            tap.true(len(study.trials[5].intermediate_values) < 5,
                     len(study.trials[5].intermediate_values))
            shown = client.study("pruned")
            tap.equal(shown.trial(6).state, "STOPPED")
            tap.equal(shown.best_trial.value, 0.1)
            tap.equal(len(shown.curves(1)), 5)
            plain = optuna.create_study(pruner=hypertune.optuna.Pruner())
            trial = plain.ask()
            trial.report(1, 1)
            error = tap.raises(ValueError, trial.should_prune)
            tap.contains("Storage", str(error))

        def optunas_own_pruner_works_with_it():
            study = optuna.create_study(
                study_name="median", storage=storage(),
                pruner=optuna.pruners.MedianPruner(n_startup_trials=2))
            for bad in (0, 0, 5):
                trial = study.ask()
                trial.report(bad, 1)
                verdict = trial.should_prune()
                study.tell(trial, 0.0)
            tap.equal(verdict, True)

        def the_command_line_shows_it():
            study = optuna.create_study(study_name="seen", storage=storage())
            study.optimize(smooth, n_trials=2)
            text = server.cli("trials", "seen").stdout
            tap.true("learning_rate" in text and text.count("SUCCEEDED") == 2,
                     text)
            tap.raises(hypertune.FailedPrecondition,
                       client.study("seen").suggest)
            seen = client.study("seen").trial(1)
            tap.equal(seen.params["x"], study.trials[0].params["x"])
            tap.equal(seen.value, study.trials[0].value)

        def only_what_is_new_is_fetched():
            keep = storage()
            study = optuna.create_study(study_name="new", storage=keep)
            study.optimize(smooth, n_trials=3)
            record = keep._record(study._study_id)
            before = study.get_trials(deepcopy=False)
            asked = []
            call = keep._line.call
            keep._line.call = lambda *all, **named: asked.append(
                call(*all, **named)) or asked[-1]
            after = study.get_trials(deepcopy=False)
            tap.equal([len(answer["metadata"]) for answer in asked], [0])
            tap.true(after[0] is before[0], "nothing is read anew")
            tap.true(record.version > 0, record.version)

        def a_pickled_storage_and_sampler_continue():
            optuna.create_study(study_name="pickled", storage=storage())
            keep = pickle.loads(pickle.dumps(storage()))
            study = optuna.load_study(
                study_name="pickled", storage=keep,
                sampler=pickle.loads(pickle.dumps(sampler())))
            study.optimize(lambda t: t.suggest_float("x", -1, 1), n_trials=3)
            tap.equal(len(study.trials), 3)

        def a_restart_of_the_server_is_waited_for():
            study = optuna.create_study(study_name="restart",
                                        storage=storage())
            def objective(trial):
                x = trial.suggest_float("x", 0, 1)
                trial.report(x, 1)
                if trial.number == 1:
                    server.kill()
                    again = threading.Timer(0.5, server.start)
                    again.start()
                    trial.report(x, 2)
                    again.join()
                return x
            study.optimize(objective, n_trials=3)
            tap.equal([t.state.name for t in study.trials], ["COMPLETE"] * 3)
            tap.equal(study.trials[1].intermediate_values,
                      {1: study.trials[1].value, 2: study.trials[1].value})
            seen = optuna.load_study(study_name="restart", storage=storage())
            tap.equal(seen.trials, study.trials)
            tap.raises(hypertune.Unavailable, hypertune.optuna.Storage(
                "http://127.0.0.1:1", patience=0.2).get_all_studies)

        def what_a_process_could_no_longer_send_is_sent():
            keep = storage()
            study = optuna.create_study(study_name="died", storage=keep)
            first, second, third = study.ask(), study.ask(), study.ask()
            second.report(3.0, 4)
            study.tell(third, 1.0)
            keep._mirror._tell = lambda *_: None  # as if it had died by now
            study.tell(first, state=TrialState.FAIL)
            study.tell(second, 2.0)
            study.ask()
            shown = client.study("died")
            tap.equal(shown.counts["active"], 3)
            optuna.load_study(study_name="died", storage=storage())
            tap.equal([(t.state, t.value) for t in shown.trials()],
                      [("INFEASIBLE", None), ("SUCCEEDED", 2.0),
                       ("SUCCEEDED", 1.0), ("ACTIVE", None)])

        def the_example_runs_and_continues():
            script = tree.path("examples/optuna/tune.py")
            variables = dict(os.environ, PYTHONPATH=tree.PACKAGE,
                             HYPERTUNE_SERVER=server.http,
                             HYPERTUNE_TOKEN_FILE=server.token_file)
            for _ in range(2):
                done = subprocess.run(
                    [sys.executable, script, "10"], env=variables,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    encoding="utf-8", timeout=harness.PATIENCE)
                tap.equal(done.returncode, 0, done.stderr)
            tap.starts(done.stdout, "best 0.")
            bowls = client.study("bowls")
            tap.equal(len(bowls.trials()), 20)
            tap.equal(bowls.counts["active"], 0)

        tap.run([
            it_finds_what_random_search_does_not,
            the_same_seed_gives_the_same_points,
            values_come_back_as_they_were_given,
            spaces_change_as_the_study_goes,
            earlier_trials_are_sent_first,
            a_given_space_is_searched_from_the_first_trial,
            failed_and_pruned_trials_are_sent_as_such,
            several_goals_and_constraints_are_searched,
            batches_have_points_of_their_own,
            names_and_labels_are_the_servers,
            studies_are_made_found_listed_and_deleted,
            other_studies_of_the_server_are_not_optunas,
            a_trial_is_kept_whole,
            what_has_ended_stays_as_it_is,
            a_parameter_keeps_its_kind,
            one_of_many_takes_a_waiting_trial,
            trials_are_added_whole,
            our_rule_prunes_and_the_server_shows_it,
            optunas_own_pruner_works_with_it,
            the_command_line_shows_it,
            only_what_is_new_is_fetched,
            a_pickled_storage_and_sampler_continue,
            what_a_process_could_no_longer_send_is_sent,
            the_example_runs_and_continues,
            a_restart_of_the_server_is_waited_for,
        ])


if __name__ == "__main__":
    optuna_there.run(main)
