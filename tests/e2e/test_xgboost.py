"""XGBoost's training in trials, with the real library on a real server."""

import os
import sys

import harness
import library_there
import tap
import tree

# A trainer as users have it: its trial is that of its process.
TRAINER = """
import numpy, sys, xgboost
from hypertune.xgboost import Callback
rate = float(sys.argv[1].split("=")[1])
x = numpy.linspace(-1, 1, 40).reshape(-1, 1)
data = xgboost.DMatrix(x, x[:, 0] ** 2)
xgboost.train({"eta": rate, "nthread": 1}, data, 6,
              evals=[(data, "validation")], verbose_eval=False,
              callbacks=[Callback(metrics={"loss": "validation-rmse"})])
"""


def main():
    import numpy
    import xgboost

    import hypertune
    from hypertune.xgboost import Callback

    x = numpy.linspace(-1, 1, 40).reshape(-1, 1)
    data = xgboost.DMatrix(x, x[:, 0] ** 2)

    with harness.Server() as server:
        client = hypertune.Client(server.http, server.token_file)

        def study(name, **options):
            return client.create_study(
                name, metric="loss", goal="MINIMIZE", algorithm="grid",
                params=[hypertune.Discrete("eta", [0.03, 0.25, 0.5])],
                **options)

        def train(trial, rounds, metrics, **options):
            callback = Callback(trial, metrics)
            results = {}
            model = xgboost.train(
                {"nthread": 1, **trial.params}, data, rounds,
                evals=[(data, "train")], callbacks=[callback],
                verbose_eval=False, evals_result=results, **options)
            return callback, model, results

        def each_round_is_reported_as_xgboost_measured_it():
            found = study("rounds")
            with found.suggest()[0] as trial:
                callback, model, results = train(
                    trial, 5, {"loss": "train-rmse"})
                tap.equal(callback.stopped, False)
            tap.equal([(step, value) for step, value, _ in
                       found.curves(trial)],
                      list(enumerate(results["train"]["rmse"])))
            tap.equal(trial.refresh().value, results["train"]["rmse"][-1])

        def a_hopeless_trial_ends():
            found = study("stops", early_stopping={
                "rule": "median", "minTrials": 1, "minMeasurements": 1})
            rounds = []
            for rate in (0.5, 0.03):
                trial = found.suggest(contexts=[{"eta": rate}])[0]
                with trial:
                    callback, model, _ = train(trial, 20,
                                               {"loss": "train-rmse"})
                rounds.append(model.num_boosted_rounds())
                tap.equal(trial.state,
                          "STOPPED" if callback.stopped else "SUCCEEDED")
            tap.equal(rounds[0], 20)
            tap.true(1 <= rounds[1] < 20, rounds)
            tap.equal(len(found.curves(2)), rounds[1])

        def estimators_and_cross_validation_report_too():
            found = study("others")
            trial = found.suggest()[0]
            model = xgboost.XGBRegressor(
                n_estimators=3, n_jobs=1,
                callbacks=[Callback(trial, {"loss": "validation_0-mae"})],
                eval_metric="mae", **trial.params)
            model.fit(x, x[:, 0] ** 2, eval_set=[(x, x[:, 0] ** 2)],
                      verbose=False)
            tap.equal([value for _, value, _ in found.curves(trial)],
                      model.evals_result()["validation_0"]["mae"])
            trial.complete()
            trial = found.suggest()[0]
            table = xgboost.cv({"nthread": 1, **trial.params}, data, 4,
                               nfold=2, as_pandas=False, callbacks=[
                                   Callback(trial, {"loss": "test-rmse"})])
            tap.equal([value for _, value, _ in found.curves(trial)],
                      table["test-rmse-mean"])

        def a_metric_that_is_not_there_is_named():
            trial = study("names").suggest()[0]
            error = tap.raises(KeyError, train, trial, 2, "valid-rmse")
            tap.contains("no metric 'valid-rmse'; there are: train-rmse",
                         str(error))
            error = tap.raises(hypertune.InvalidArgument, train, trial, 2,
                               None)
            tap.contains("train-rmse", str(error))

        def outside_of_a_trial_it_trains_as_always():
            model = xgboost.train({"nthread": 1}, data, 4,
                                  evals=[(data, "train")], verbose_eval=False,
                                  callbacks=[Callback()])
            tap.equal(model.num_boosted_rounds(), 4)

        def a_function_trains_in_processes_though_this_one_has_trained():
            """What waits for this process's OpenMP threads hangs."""
            xgboost.train({}, data, 1)

            def f(eta):
                said = {}
                xgboost.train({"eta": eta}, data, 3, verbose_eval=False,
                              evals=[(data, "x")], evals_result=said,
                              callbacks=[Callback(metrics={
                                  "loss": "x-rmse"})])
                return said["x"]["rmse"][-1]
            found = hypertune.minimize(f, {"eta": "0.1..0.5"}, trials=2,
                                       metric="loss", client=client)
            for trial in found.trials():
                tap.equal([value for _, value, _ in found.curves(trial)][-1],
                          trial.value)

        def a_launched_trial_is_the_one_of_its_process():
            path = os.path.join(server.folder, "trainer.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(TRAINER)
            name = server.submit({
                "name": "launched", "goal": "minimize loss", "trials": 2,
                "algorithm": "grid", "command": [sys.executable, path],
                "env": {"PYTHONPATH": tree.PACKAGE},
                "parameters": {"eta": [0.25, 0.5]}})
            status = server.wait_study(name)
            tap.equal(status["counts"]["succeeded"], 2, server.explain(name))
            found = client.study(name)
            for trial in found.trials():
                curve = found.curves(trial)
                tap.equal([step for step, _, _ in curve], list(range(6)))
                tap.equal(trial.value, min(value for _, value, _ in curve))

        tap.run([
            each_round_is_reported_as_xgboost_measured_it,
            a_hopeless_trial_ends,
            estimators_and_cross_validation_report_too,
            a_metric_that_is_not_there_is_named,
            outside_of_a_trial_it_trains_as_always,
            a_function_trains_in_processes_though_this_one_has_trained,
            a_launched_trial_is_the_one_of_its_process,
        ])


if __name__ == "__main__":
    library_there.run(main, "python3-xgboost")
