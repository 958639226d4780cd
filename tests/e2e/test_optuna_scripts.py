"""What Optuna's users write, with our Storage as with Optuna's own in memory.

Each case is a script in the manner of Optuna's tutorials. It runs with both, and
what it returns must be the same.
"""

import harness
import optuna_there
import tap


def main():
    import optuna
    from optuna.distributions import (CategoricalDistribution,
                                      FloatDistribution, IntDistribution)
    from optuna.trial import TrialState

    import hypertune
    import hypertune.optuna

    def seen(study):
        """All that Optuna has of its trials but times and storage's ids."""
        return [(t.number, t.state.name, t.values, t.params, t.distributions,
                 t.user_attrs, t.system_attrs, t.intermediate_values)
                for t in study.trials]

    def attempt(function, *arguments, **named):
        """What the call refuses, or None."""
        try:
            function(*arguments, **named)
        except Exception as error:
            return type(error).__name__, str(error)
        return None

    def pruned(storage):
        study = optuna.create_study(
            study_name="pruned", storage=storage, direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=10, n_startup_trials=4),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=2,
                                               n_warmup_steps=1))

        def objective(trial):
            rate = trial.suggest_float("lr", 1e-4, 1e-1, log=True)
            units = [trial.suggest_int("units_l%d" % i, 4, 64, log=True)
                     for i in range(trial.suggest_int("layers", 1, 3))]
            for epoch in range(4):
                accuracy = rate * (epoch + 1) + sum(units) / 1000
                trial.report(accuracy, epoch)
                if trial.should_prune():
                    raise optuna.exceptions.TrialPruned()
            return accuracy
        study.optimize(objective, n_trials=9, timeout=600)
        return (seen(study), study.best_trial.number, study.best_params,
                len(study.get_trials(states=[TrialState.PRUNED])))

    def loaded_again_summed_up_and_copied(storage):
        def objective(trial):
            return trial.suggest_float("x", -10, 10) ** 2
        for seed in (1, 2):
            study = optuna.create_study(
                study_name="again", storage=storage, load_if_exists=True,
                sampler=optuna.samplers.RandomSampler(seed=seed))
            study.optimize(objective, n_trials=3)
        optuna.copy_study(from_study_name="again", from_storage=storage,
                          to_storage=storage, to_study_name="copy")
        summaries = [(s.study_name, s.n_trials, s.direction.name,
                      s.best_trial.number)
                     for s in optuna.get_all_study_summaries(storage=storage)
                     if s.study_name in ("again", "copy")]
        return (seen(optuna.load_study(study_name="copy", storage=storage)),
                attempt(optuna.load_study, study_name="no", storage=storage)
                [0], summaries, seen(study),
                attempt(optuna.create_study, study_name="again",
                        storage=storage)[0])

    def of_several_goals(storage):
        study = optuna.create_study(
            study_name="goals", storage=storage,
            directions=["minimize", "maximize"],
            sampler=optuna.samplers.NSGAIISampler(seed=3, population_size=4))

        def objective(trial):
            x, y = trial.suggest_float("x", 0, 5), trial.suggest_int("y", 0, 3)
            trial.set_user_attr("sum", x + y)
            return 4 * x ** 2 + 4 * y ** 2, -(x - 5) ** 2 - (y - 5) ** 2
        study.optimize(objective, n_trials=12)
        return seen(study), [t.number for t in study.best_trials]

    def enqueued_and_added(storage):
        study = optuna.create_study(
            study_name="queue", storage=storage,
            sampler=optuna.samplers.TPESampler(seed=1))
        study.enqueue_trial({"x": 1.5, "c": "b"}, user_attrs={"memo": "1st"})
        study.enqueue_trial({"x": 2.5})
        study.enqueue_trial({"x": 1.5, "c": "b"}, skip_if_exists=True)
        waiting = seen(study)

        def objective(trial):
            return (trial.suggest_float("x", 0, 3) +
                    len(trial.suggest_categorical("c", ["a", "b", None]) or
                        ""))
        study.optimize(objective, n_trials=3)
        study.add_trial(optuna.trial.create_trial(
            params={"x": 0.1, "c": None}, value=-1.0, distributions={
                "x": FloatDistribution(0, 3),
                "c": CategoricalDistribution(["a", "b", None])}))
        study.add_trials(study.get_trials()[:2])
        return waiting, seen(study), study.best_params

    def of_odd_results_with_callbacks(storage):
        study = optuna.create_study(
            study_name="odd", storage=storage,
            sampler=optuna.samplers.RandomSampler(seed=4))
        study.set_user_attr("contributors", ["A", "B"])
        study.set_user_attr("contributors", [{"\u00e9": None}])
        called = []

        def callback(study, trial):
            called.append((trial.number, trial.state.name, study.best_value))
            if trial.number == 6:
                study.stop()

        def objective(trial):
            trial.set_user_attr("accuracy", 0.9)
            trial.set_user_attr("accuracy", 0.95)
            odd = {2: float("nan"), 3: None, 4: float("inf"), 5: "bad"}
            return odd.get(trial.number, trial.suggest_float("x", 0, 1))
        study.optimize(objective, n_trials=50, callbacks=[callback])
        return called, study.user_attrs, repr(seen(study))

    def of_four_threads_with_exceptions(storage):
        study = optuna.create_study(study_name="threads", storage=storage)

        def objective(trial):
            x = trial.suggest_float("x", 0, 1)
            trial.report(x, 1)
            if trial.number % 5 == 4:
                raise ValueError("boom <b>")
            return x
        study.optimize(objective, n_trials=20, n_jobs=4, catch=(ValueError,))
        interrupted = optuna.create_study(storage=storage)

        def interrupting(trial):
            raise KeyboardInterrupt
        try:
            interrupted.optimize(interrupting, n_trials=3)
        except KeyboardInterrupt:
            pass
        return ([(t.number, t.state.name, set(t.intermediate_values))
                 for t in study.trials],
                [t.state.name for t in interrupted.trials])

    def as_a_data_frame(storage):
        try:
            __import__("pandas")
        except ImportError:
            raise tap.Skip("pandas is not installed") from None
        study = optuna.create_study(
            study_name="frame", storage=storage,
            sampler=optuna.samplers.RandomSampler(seed=4))
        study.optimize(lambda t: t.suggest_float("x", 0, 1) *
                       t.suggest_int("y", 1, 5), n_trials=4)
        frame = study.trials_dataframe()
        wide = study.trials_dataframe(attrs=("number", "params", "state"),
                                      multi_index=True)
        return (list(frame.columns), [str(d) for d in frame.dtypes],
                frame["value"].tolist(), wide.to_csv())

    def with_ask_and_tell(storage):
        study = optuna.create_study(
            study_name="told", storage=storage, direction="maximize",
            sampler=optuna.samplers.RandomSampler(seed=4))
        space = {"x": FloatDistribution(-5, 5),
                 "k": IntDistribution(1, 9, step=2)}
        for trial in reversed([study.ask(space) for _ in range(3)]):
            study.tell(trial, trial.params["x"])
        study.tell(study.ask().number, state=TrialState.PRUNED)
        trial = study.ask()
        trial.report(4.0, 3)
        study.tell(trial, state=TrialState.PRUNED)
        trial = study.ask()
        study.tell(trial, state=TrialState.FAIL)
        return ([attempt(study.tell, trial, 1.0),
                 attempt(study.tell, trial, 1.0, skip_if_finished=True),
                 attempt(study.tell, 99, 1.0),
                 attempt(study.tell, study.ask(), [1.0, 2.0]),
                 attempt(trial.suggest_float, "z", 0, 1),
                 attempt(trial.set_user_attr, "a", 1)], seen(study))

    def of_conditional_and_changing_spaces(storage):
        study = optuna.create_study(
            study_name="branches", storage=storage,
            sampler=optuna.samplers.TPESampler(
                seed=5, multivariate=True, group=True, n_startup_trials=3))

        def objective(trial):
            if trial.suggest_categorical("classifier", ["SVC", "RF"]) == "SVC":
                return trial.suggest_float("svc_c", 1e-10, 1e10, log=True)
            return (trial.suggest_int("rf_max_depth", 2, 32, log=True) +
                    trial.suggest_float("q", 0, 1, step=0.1))
        study.optimize(objective, n_trials=8)
        growing = optuna.create_study(
            study_name="growing", storage=storage,
            sampler=optuna.samplers.RandomSampler(seed=1))
        growing.optimize(lambda t: t.suggest_float("x", 0, t.number + 1),
                         n_trials=3)

        def another_kind(trial):
            return float(trial.suggest_categorical("x", ["1"]))
        return (attempt(growing.optimize, another_kind, n_trials=1),
                seen(study), seen(growing))

    def of_a_grid_and_hyperband(storage):
        grid = optuna.create_study(
            study_name="grid", storage=storage,
            sampler=optuna.samplers.GridSampler({"x": [1, 2], "y": ["a", "b"]},
                                                seed=1))
        grid.optimize(lambda t: t.suggest_int("x", 1, 3) + len(
            t.suggest_categorical("y", ["a", "b"])), n_trials=100)
        band = optuna.create_study(
            study_name="band", storage=storage,
            sampler=optuna.samplers.RandomSampler(seed=1),
            pruner=optuna.pruners.HyperbandPruner(min_resource=1,
                                                  max_resource=4))

        def objective(trial):
            x = trial.suggest_float("x", -5, 5)
            for step in range(4):
                trial.report(x * x + 1 / (step + 1), step)
                if trial.should_prune():
                    raise optuna.TrialPruned()
            return x * x
        band.optimize(objective, n_trials=8)
        return ([t.params for t in grid.trials],
                [(t.state.name, t.params, t.intermediate_values)
                 for t in band.trials])

    with harness.Server() as server:
        ours = hypertune.optuna.Storage(server.http,
                                        token_file=server.token_file)

        def a_study(script):
            def case():
                want = script(optuna.storages.InMemoryStorage())
                tap.equal(script(ours), want)
            case.__name__ = "a study " + script.__name__
            return case

        tap.run([a_study(script) for script in (
            pruned, loaded_again_summed_up_and_copied, of_several_goals,
            enqueued_and_added, of_odd_results_with_callbacks,
            of_four_threads_with_exceptions, as_a_data_frame, with_ask_and_tell,
            of_conditional_and_changing_spaces, of_a_grid_and_hyperband)])


if __name__ == "__main__":
    optuna_there.run(main)
