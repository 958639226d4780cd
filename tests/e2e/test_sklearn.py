"""HypertuneSearchCV with scikit-learn, on a real server."""

import json
import math
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import warnings

import harness
import library_there
import tap
import tree

# A process that dies in fold 2 of trial 3, as a kernel that is killed.
KILLED = """
    import json, os, signal, sys
    import numpy
    from sklearn.base import BaseEstimator
    from hypertune.sklearn import HypertuneSearchCV

    class Slope(BaseEstimator):
        fits = 0

        def __init__(self, x=0.0):
            self.x = x

        def fit(self, X, y=None):
            Slope.fits += 1
            if Slope.fits == dies:
                os.kill(os.getpid(), signal.SIGKILL)
            self.low_ = X.min()
            return self

        def score(self, X, y=None):
            return self.x + self.low_

    def fit(trials, shift=0):
        Slope.fits = 0
        search = HypertuneSearchCV(
            Slope(), {"x": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]}, n_trials=trials,
            cv=3, name="kernel", server=sys.argv[1], token_file=sys.argv[2])
        search.fit(numpy.arange(12.0).reshape(-1, 1) + shift)
        return (Slope.fits, list(search.cv_results_["mean_test_score"]),
                [row["x"] for row in search.cv_results_["params"]])
    dies = int(sys.argv[3])
    print(json.dumps([fit(4), fit(4), fit(6)]))
    fit(6, shift=1)
"""


def main():
    import joblib
    import numpy
    import pandas
    from joblib.externals import loky
    from scipy import stats
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.datasets import load_iris
    from sklearn.decomposition import PCA
    from sklearn.exceptions import FitFailedWarning
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.model_selection import (RandomizedSearchCV, ShuffleSplit,
                                         cross_val_score)
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    import hypertune
    from hypertune.sklearn import HypertuneSearchCV, _content

    X, y = load_iris(return_X_y=True)

    class Known(ClassifierMixin, BaseEstimator):
        """Its scores are known: x, less by what `faults` says of a fold."""
        fits = []
        barrier = None

        def __init__(self, x=0.0, choice=None):
            self.x = x
            self.choice = choice

        def fit(self, X, y):
            if Known.barrier is not None:
                Known.barrier.wait()
            Known.fits.append((self.x, self.choice))
            if self.choice == "fails":
                raise OverflowError("too much")
            self.classes_ = numpy.unique(y)
            return self

        def predict(self, X):
            return numpy.zeros(len(X))

        def score(self, X, y=None):
            return self.x

    with harness.Server() as server:
        client = hypertune.Client(server.http, server.token_file)

        def search(estimator, space, **options):
            Known.fits, Known.barrier = [], None
            return HypertuneSearchCV(
                estimator, space, server=server.http,
                token_file=server.token_file,
                **{"random_state": 1, "n_trials": 6, "cv": 3, **options})

        def the_result_is_that_of_a_randomized_search():
            space = {"C": stats.loguniform(1e-3, 1e3),
                     "kernel": ["rbf", "linear"]}
            ours = search(SVC(), space, return_train_score=True).fit(X, y)
            theirs = RandomizedSearchCV(SVC(), space, n_iter=2, cv=3,
                                        return_train_score=True).fit(X, y)
            tap.equal(set(ours.cv_results_), set(theirs.cv_results_))
            tap.equal({name for name in vars(theirs) if name[-1] == "_"} -
                      set(vars(ours)), set())
            for index, params in enumerate(ours.cv_results_["params"]):
                tap.equal([ours.cv_results_["split%d_test_score" % i][index]
                           for i in range(3)],
                          list(cross_val_score(SVC(**params), X, y, cv=3)))
            tap.equal(ours.best_score_,
                      max(ours.cv_results_["mean_test_score"]))
            best = client.study(ours.study_name_).best_trial
            tap.equal(best.params, ours.best_params_)
            tap.true(abs(best.value - ours.best_score_) < 1e-12)
            again = SVC(**ours.best_params_).fit(X, y)
            tap.equal(list(ours.predict(X)), list(again.predict(X)))
            tap.equal(ours.score(X, y), again.score(X, y))
            tap.equal(list(ours.classes_), [0, 1, 2])
            tap.lacks(open(server.token_file).read().strip().encode(),
                      pickle.dumps(ours))

        def each_point_follows_the_results_before_it():
            found = search(Known(), {"x": stats.uniform(0, 1)}).fit(X, y)
            why = [trial["hypertune"]["why"] for trial in
                   server.trials(found.study_name_)]
            tap.equal([one["pending"] for one in why], [[]] * 6)
            same = search(Known(), {"x": stats.uniform(0, 1)}).fit(X, y)
            tap.equal(same.cv_results_["params"], found.cv_results_["params"])

        def choices_come_back_as_the_very_objects():
            choices = [None, "None", True, 1.0, (100,), (100, 50), Ridge(1),
                       Ridge(2)]
            found = search(Known(), {
                "choice": choices, "x": numpy.logspace(-2, 2, 5)},
                n_trials=16, algorithm="random").fit(X, y)
            seen = [row["choice"] for row in found.cv_results_["params"]]
            tap.true(all(any(one is choice for choice in choices)
                         for one in seen), seen)
            tap.true(len({id(one) for one in seen}) >= 5, seen)
            grid = search(Known(), {"choice": [3, 1, 2]}, n_trials=9,
                          algorithm="grid").fit(X, y)
            tap.equal([(type(row["choice"]), row["choice"]) for row in
                       grid.cv_results_["params"]],
                      [(int, 1), (int, 2), (int, 3)])

        def hypertunes_own_words_are_a_space_too():
            found = search(make_pipeline(PCA(), LogisticRegression()), [
                hypertune.Integer("pca__n_components", 1, 4),
                hypertune.Double("logisticregression__C", 1e-3, 1e3,
                                 log=True)], n_trials=3).fit(X, y)
            tap.equal(sorted(found.best_params_), [
                "logisticregression__C", "pca__n_components"])
            whole = search(Known(), [hypertune.Discrete("choice", [32, 64])],
                           n_trials=1).fit(X, y)
            tap.true(isinstance(whole.best_params_["choice"], int))

        def trials_run_at_once():
            both = search(Known(), {"x": stats.uniform(0, 1)}, n_jobs=2,
                          refit=False)
            Known.barrier = threading.Barrier(2, timeout=harness.PATIENCE)
            with joblib.parallel_backend("threading"):
                both.fit(X, y)
            tap.equal(len(both.cv_results_["params"]), 6)
            found = search(SVC(), {"C": stats.loguniform(1e-2, 1e2)},
                           n_jobs=2).fit(X, y)
            loky.get_reusable_executor().shutdown(wait=True)
            tap.true(found.best_score_ > 0.9, found.best_score_)

        def a_hopeless_trial_ends_after_a_fold_without_a_score():
            found = search(
                Known(), {"x": stats.uniform(0, 1)}, n_trials=14,
                algorithm="random", refit=False, early_stopping={
                    "rule": "median", "minTrials": 3,
                    "minMeasurements": 1}).fit(X, y)
            states = [trial["hypertune"]["state"] for trial in
                      server.trials(found.study_name_)]
            tap.contains("STOPPED", states)
            means = found.cv_results_["mean_test_score"]
            tap.equal([math.isnan(mean) for mean in means],
                      [state == "STOPPED" for state in states])
            done = numpy.isfinite([found.cv_results_[
                "split%d_test_score" % i] for i in range(3)])
            tap.equal(len(Known.fits), done.sum())
            tap.true(done.sum() < 3 * 14, done)
            tap.equal(states[found.best_index_], "SUCCEEDED")
            tap.true(done[0].all(), done)

        def an_error_counts_as_its_score():
            space = {"choice": ["fails", "works"], "x": [1, 2]}

            def fitted(**options):
                with warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    found = search(Known(), space, n_trials=4,
                                   algorithm="grid", **options).fit(X, y)
                return found, [one for one in seen if
                               one.category is FitFailedWarning]
            found, seen = fitted()
            fails = [row["choice"] == "fails"
                     for row in found.cv_results_["params"]]
            tap.equal(fails.count(True), 2)
            tap.equal([math.isnan(mean) for mean in
                       found.cv_results_["mean_test_score"]], fails)
            tap.equal(found.best_params_, {"choice": "works", "x": 2})
            tap.equal(len(seen), 1)
            tap.contains("2 of 8 folds failed", str(seen[0].message))
            tap.contains("OverflowError: too much", str(seen[0].message))
            trials = client.study(found.study_name_).trials("infeasible")
            tap.equal([trial.reason for trial in trials],
                      ["OverflowError: too much"] * 2)

            found, seen = fitted(error_score=-5, return_train_score=True)
            tap.contains("6 of 12 folds failed", str(seen[0].message))
            tap.equal([mean == -5 for mean in
                       found.cv_results_["mean_test_score"]], fails)
            tap.equal(found.cv_results_["mean_train_score"][0],
                      found.cv_results_["mean_test_score"][0])
            tap.raises(OverflowError, fitted, error_score="raise")
            hopeless = search(Known(choice="fails"), {"x": [1, 2]})
            tap.raises(OverflowError, hopeless.fit, X, y)

        def several_scores_are_kept_and_one_is_searched_for():
            space = {"C": stats.loguniform(1e-3, 1e3)}
            found = search(SVC(), space, n_trials=3, scoring=[
                "accuracy", "f1_macro"], refit="f1_macro").fit(X, y)
            tap.true(found.multimetric_)
            tap.contains("mean_test_accuracy", found.cv_results_)
            tap.equal(found.best_score_,
                      max(found.cv_results_["mean_test_f1_macro"]))
            tap.equal(client.study(found.study_name_).goals(),
                      {"mean_test_f1_macro": True})
            both = search(SVC(), space, n_trials=3, refit=False, scoring={
                "a": "accuracy", "b": "f1_macro"}).fit(X, y)
            tap.equal(list(client.study(both.study_name_).goals()),
                      ["mean_test_a", "mean_test_b"])
            tap.lacks("best_params_", vars(both))

            def two(estimator, X, y):
                return {"one": 1.0, "size": float(len(X))}
            made = search(SVC(), space, n_trials=2, scoring=two,
                          refit="one").fit(X, y)
            tap.equal(list(made.cv_results_["mean_test_size"]), [50, 50])
            tap.equal(made.best_score_, 1)
            tap.contains("refit", str(tap.raises(ValueError, search(
                SVC(), space, scoring=two, error_score="raise").fit, X, y)))
            tap.raises(ValueError, search(
                SVC(), space, scoring=["accuracy", "f1_macro"]).fit, X, y)

        def kernel(dies):
            return subprocess.run(
                [sys.executable, "-c", textwrap.dedent(KILLED), server.http,
                 server.token_file, str(dies)], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, encoding="utf-8",
                timeout=harness.PATIENCE,
                env={**os.environ, "PYTHONPATH": tree.PACKAGE})

        def a_killed_process_is_continued_by_its_name():
            tap.equal(kernel(dies=8).returncode, -signal.SIGKILL)
            study = client.study("kernel")
            left = study.trial(3)
            tap.true(left.is_open)
            done = kernel(dies=0)
            tap.true(done.stdout, done.stderr)
            rest, nothing, more = json.loads(done.stdout)
            xs = [trial.params["x"] for trial in study.trials()]
            tap.equal(xs[2], left.params["x"])
            # Two folds of trial 3, three of trial 4, and the best one; the
            # training sets begin at 4, 0 and 0.
            scores = [sum((x + 4, x, x)) / 3 for x in xs]
            tap.equal(rest, [6, scores[:4], xs[:4]])
            tap.equal(nothing, [1, scores[:4], xs[:4]])
            tap.equal(more, [7, scores, xs])
            tap.equal(study.state, "SUCCEEDED")
            tap.contains("ValueError: the study kernel searches something "
                         "else: data is not the same; give this search "
                         "another name", done.stderr)

        def equal_data_is_recognized():
            def frame(order):
                return pandas.DataFrame({
                    "word": ["a", "b", "a"] * 50, "x": X[:, 0],
                    "kind": pandas.Categorical(y)}), numpy.array(X, order=order)

            def fit(data, target=y):
                search(Known(), {"x": [1, 2]}, n_trials=1, refit=False,
                       name="equal").fit(data, target)
                return len(Known.fits)
            first, dense = frame("C")
            again, turned = frame("F")
            again["word"].describe()
            again["x"].sum()
            tap.equal([fit(first), fit(again), fit(first.copy())], [3, 0, 0])
            again.loc[149, "word"] = "b"
            tap.raises(ValueError, fit, again)
            tap.raises(ValueError, fit, first, pandas.Series(y[::-1]))
            tap.equal(joblib.hash(_content(dense)),
                      joblib.hash(_content(turned)))

        def a_study_of_another_kind_is_left_alone():
            client.create_study("mine", metric="mean_test_score",
                                goal="MAXIMIZE", params=[
                                    hypertune.Double("x", 0, 1)])
            error = tap.raises(ValueError, search(
                Known(), {"x": stats.uniform(0, 1)}, name="mine").fit, X, y)
            tap.contains("mine searches something else: param_space, "
                         "estimator, scoring, data, folds are not the same",
                         str(error))
            tap.equal(client.study("mine").trials(), [])

        def folds_are_the_same_for_all_trials():
            found = search(Ridge(), {"alpha": [1.0, 1.5]}, n_trials=2,
                           algorithm="grid", cv=ShuffleSplit(3))
            found.set_params(param_space={"alpha": [1.0, 1.0 + 1e-12]})
            found.fit(X, y)
            first, second = found.cv_results_["mean_test_score"]
            tap.true(abs(first - second) < 1e-9, (first, second))

        def a_wrong_space_is_named():
            for space, text in (
                    ({"C": "rbf"}, "C is a list of choices"),
                    ({"C": []}, "C has no choices"),
                    ({"C": stats.norm()}, "C has the distribution norm"),
                    ({"C": hypertune.Double("D", 0, 1)}, "C is called 'D'"),
                    ([{"C": [1]}], "[0] is no Parameter")):
                tap.contains("param_space: " + text, str(tap.raises(
                    TypeError, search(SVC(), space).fit, X, y)))
            tap.contains("error_score is a number or 'raise', not 'no'", str(
                tap.raises(ValueError, search(
                    SVC(), {"C": [1, 2]}, error_score="no").fit, X, y)))
            tap.contains("Invalid parameter 'D'", str(tap.raises(
                ValueError, search(SVC(), {"D": [1, 2]}).fit, X, y)))

        tap.run([
            the_result_is_that_of_a_randomized_search,
            each_point_follows_the_results_before_it,
            choices_come_back_as_the_very_objects,
            hypertunes_own_words_are_a_space_too,
            trials_run_at_once,
            a_hopeless_trial_ends_after_a_fold_without_a_score,
            an_error_counts_as_its_score,
            several_scores_are_kept_and_one_is_searched_for,
            a_killed_process_is_continued_by_its_name,
            equal_data_is_recognized,
            a_study_of_another_kind_is_left_alone,
            folds_are_the_same_for_all_trials,
            a_wrong_space_is_named,
        ])


if __name__ == "__main__":
    library_there.run(main, "python3-sklearn", "python3-pandas")
