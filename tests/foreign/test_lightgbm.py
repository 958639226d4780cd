"""LightGBM's training in trials, on a real server. Debian has no LightGBM:

    PYTHONPATH=FOLDER-OF-LIGHTGBM:tests/lib:hypertune/python \\
        python3 tests/foreign/test_lightgbm.py build/gcc-release/bin
"""

import harness
import tap


def main():
    import lightgbm
    import numpy

    import hypertune
    from hypertune.lightgbm import Callback

    x = numpy.linspace(-1, 1, 200).reshape(-1, 1)
    y = x[:, 0] ** 2
    fixed = {"objective": "l2", "verbosity": -1, "num_threads": 1,
             "min_data_in_leaf": 2}
    tap.true(lightgbm.__version__)
    print("# LightGBM %s" % lightgbm.__version__)

    with harness.Server() as server:
        client = hypertune.Client(server.http, server.token_file)

        def study(name, **options):
            return client.create_study(
                name, metric="loss", goal="MINIMIZE", algorithm="grid",
                params=[hypertune.Discrete("learning_rate",
                                           [0.01, 0.25, 0.5])], **options)

        def train(trial, rounds, metrics, *more):
            callback = Callback(trial, metrics)
            results = {}
            data = lightgbm.Dataset(x, y)
            model = lightgbm.train(
                {**fixed, **trial.params}, data, rounds,
                valid_sets=[data.create_valid(x / 2, y)], callbacks=[
                    callback, lightgbm.record_evaluation(results), *more])
            return callback, model, results

        def each_round_is_reported_as_lightgbm_measured_it():
            found = study("rounds")
            with found.suggest()[0] as trial:
                callback, model, results = train(trial, 5,
                                                 {"loss": "valid_0-l2"})
                tap.equal(callback.stopped, False)
            tap.equal([(step, value) for step, value, _ in
                       found.curves(trial)],
                      list(enumerate(results["valid_0"]["l2"])))

        def a_hopeless_trial_ends_with_its_best_round():
            found = study("stops", early_stopping={
                "rule": "median", "minTrials": 1, "minMeasurements": 1})
            rounds = []
            for rate in (0.5, 0.01):
                trial = found.suggest(contexts=[{"learning_rate": rate}])[0]
                with trial:
                    callback, model, results = train(trial, 20,
                                                     {"loss": "valid_0-l2"})
                rounds.append(model.current_iteration())
                tap.equal(trial.state,
                          "STOPPED" if callback.stopped else "SUCCEEDED")
            tap.equal(rounds[0], 20)
            tap.true(1 <= rounds[1] < 20, rounds)
            tap.equal(len(found.curves(2)), rounds[1])
            tap.equal(model.best_iteration, rounds[1])
            tap.equal(model.best_score["valid_0"]["l2"],
                      results["valid_0"]["l2"][-1])

        def estimators_and_cross_validation_report_too():
            found = study("others")
            trial = found.suggest()[0]
            model = lightgbm.LGBMRegressor(n_estimators=3, **fixed,
                                           **trial.params)
            model.fit(x, y, eval_set=[(x / 2, y)], eval_metric="l1",
                      callbacks=[Callback(trial, {"loss": "valid_0-l1"})])
            tap.equal([value for _, value, _ in found.curves(trial)],
                      model.evals_result_["valid_0"]["l1"])
            trial.complete()
            trial = found.suggest()[0]
            table = lightgbm.cv(
                {**fixed, **trial.params}, lightgbm.Dataset(x, y), 4,
                nfold=2, stratified=False,
                callbacks=[Callback(trial, {"loss": "valid-l2"})])
            tap.equal([value for _, value, _ in found.curves(trial)],
                      table["valid l2-mean"])

        def a_metric_that_is_not_there_is_named():
            trial = study("names").suggest()[0]
            error = tap.raises(KeyError, train, trial, 2, "valid-l2")
            tap.contains("no metric 'valid-l2'; there are: valid_0-l2",
                         str(error))

        def it_goes_together_with_early_stopping_of_lightgbm():
            trial = study("both").suggest()[0]
            _, model, results = train(
                trial, 300, {"loss": "valid_0-l2"},
                lightgbm.early_stopping(3, verbose=False, min_delta=1.0))
            tap.equal(len(trial.study.curves(trial)),
                      len(results["valid_0"]["l2"]))
            tap.true(model.current_iteration() < 300)

        def outside_of_a_trial_it_trains_as_always():
            data = lightgbm.Dataset(x, y)
            model = lightgbm.train(fixed, data, 4, valid_sets=[data],
                                   callbacks=[Callback()])
            tap.equal(model.current_iteration(), 4)

        tap.run([
            each_round_is_reported_as_lightgbm_measured_it,
            a_hopeless_trial_ends_with_its_best_round,
            estimators_and_cross_validation_report_too,
            a_metric_that_is_not_there_is_named,
            it_goes_together_with_early_stopping_of_lightgbm,
            outside_of_a_trial_it_trains_as_always,
        ])


if __name__ == "__main__":
    main()
