"""Search of an estimator's parameters, with scikit-learn's interface.

    from hypertune.sklearn import HypertuneSearchCV

    search = HypertuneSearchCV(SVC(), {"C": loguniform(1e-3, 1e3),
                                       "kernel": ["rbf", "linear"]},
                               n_trials=40, n_jobs=4, early_stopping="median")
    search.fit(X, y)
    search.best_params_

Needs scikit-learn 1.2 or newer.
"""
import numbers
import re
import time
import uuid
import warnings
from collections.abc import Collection
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import joblib
import numpy
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed

from hypertune import errors
from hypertune.client import Client
from hypertune.sklearn import folds
from hypertune.sklearn.space import Space
from hypertune.study import Study

__all__ = ["HypertuneSearchCV"]


class HypertuneSearchCV(BaseSearchCV):
    """RandomizedSearchCV's place, with a search that learns.

    estimator       what is tuned; a pipeline's parameters are STEP__NAME
    param_space     {name: list of choices, distribution or Parameter}, or a
                    list of hypertune.Double, Integer, Discrete, Categorical
    n_trials        how many points are evaluated, earlier ones of `name`
                    among them
    name            of the study on the server: fit() with it continues where
                    an earlier one, of this or a killed process, was; None is
                    a new one each time
    algorithm       "bayesian" (default), "random" or "grid"
    early_stopping  a rule such as "median" or {"rule": "asha"}: a trial ends
                    after a fold when its mean so far is not worth more
    server          URL, with token_file; None as for Client()
    random_state    the search's seed: an int gives the same points again
                    where trials run one after the other

    The others are scikit-learn's: scoring, n_jobs (trials at once), refit,
    cv, verbose (of the trials), pre_dispatch, error_score,
    return_train_score.

    With several scores the search is for that which `refit` names, else for
    all of them. Fitted, it has the attributes of RandomizedSearchCV and
    study_name_. A pruned trial has no score: the folds that it lacks, and so
    its mean, are NaN in cv_results_.
    """

    _required_parameters = ["estimator", "param_space"]

    def __init__(self, estimator: Any, param_space: Any, *,
                 n_trials: int = 20, name: Optional[str] = None,
                 algorithm: Optional[str] = None, early_stopping: Any = None,
                 server: Optional[str] = None,
                 token_file: Optional[str] = None, scoring: Any = None,
                 n_jobs: Optional[int] = None, refit: Any = True,
                 cv: Any = None, verbose: int = 0, random_state: Any = None,
                 pre_dispatch: Any = "2*n_jobs",
                 error_score: Any = numpy.nan,
                 return_train_score: bool = False):
        super().__init__(
            estimator=estimator, scoring=scoring, n_jobs=n_jobs, refit=refit,
            cv=cv, verbose=verbose, pre_dispatch=pre_dispatch,
            error_score=error_score, return_train_score=return_train_score)
        self.param_space = param_space
        self.n_trials = n_trials
        self.name = name
        self.algorithm = algorithm
        self.early_stopping = early_stopping
        self.server = server
        self.token_file = token_file
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, groups: Any = None,
            **fit_params: Any) -> "HypertuneSearchCV":
        """Searches, then fits the best estimator to all of the data.

        `groups` goes to the splitter, `fit_params` to the estimator's fit().
        ValueError when no trial has a score, or when the study `name` was
        made for something else; an error of a fold counts as `error_score`.
        """
        if self.error_score != "raise" and not isinstance(self.error_score,
                                                          numbers.Real):
            raise ValueError("error_score is a number or 'raise', not %r" %
                             (self.error_score,))
        X, y, groups = indexable(X, y, groups)
        scorer, scores = self._scorers()
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = list(cv.split(X, y, groups))
        space = Space(self.param_space)
        study = self._study(space, scores, {
            "data": joblib.hash([_content(X), _content(y), {
                key: _content(value) for key, value in fit_params.items()}]),
            "folds": joblib.hash(splits)})
        work = folds.Work(
            study, space, clone(self.estimator), (X, y), splits, {
                "scoring": self.scoring,
                "return_train_score": self.return_train_score,
                folds.FIT_PARAMS: fit_params},
            self.error_score, scores, folds.stored(study, "folds"))
        parallel = Parallel(n_jobs=self.n_jobs, verbose=self.verbose,
                            pre_dispatch=self.pre_dispatch)
        outcomes = sum(parallel(delayed(folds.run_trial)(work, client_id)
                                for client_id in self._client_ids(study)), [])
        _warn_or_raise(outcomes, bool(work.begun))
        self.study_name_, self.n_splits_ = study.name, len(splits)
        self.scorer_ = scorer
        self._choose(self._results(study, space))
        if self.refit:
            self._refit(X, y, fit_params)
        return self

    # --- the study ---

    def _scorers(self) -> Tuple[Any, List[str]]:
        """`scorer_` as scikit-learn has it, and the names of the scores."""
        if callable(self.scoring):
            return self.scoring, [self.refit if isinstance(self.refit, str)
                                  else "score"]
        if self.scoring is None or isinstance(self.scoring, str):
            return check_scoring(self.estimator, self.scoring), ["score"]
        scorers = {name: check_scoring(self.estimator, one) for name, one in (
            self.scoring.items() if isinstance(self.scoring, Mapping)
            else zip(self.scoring, self.scoring))}
        self._check_refit_for_multimetric(scorers)
        return scorers, list(scorers)

    def _study(self, space: Space, scores: List[str],
               hashes: Dict[str, str]) -> Study:
        """The study `name`, or a new one. ValueError when there is one for
        something else: its scores would be compared with others."""
        client = Client(self.server, self.token_file)
        name = self.name or "%s-%s" % (type(self.estimator).__name__,
                                       uuid.uuid4().hex[:12])
        goals = [self.refit] if self.refit in scores else scores
        about = {"param_space": repr([
            (type(one).__name__, vars(one)) for one in space.parameters]),
                 "estimator": _text(self.estimator),
                 "scoring": _text([self.scoring, goals]), **hashes}
        try:
            study = self._create(client, name, goals, space)
            folds.store(study, 0, "about", about)
            return study
        except errors.Conflict:
            study = client.study(name)
        known = folds.stored(study, "about").get(0, {})
        other = [key for key in about if known.get(key) != about[key]]
        if other:
            raise ValueError(
                "the study %s searches something else: %s %s not the same; "
                "give this search another name" % (
                    name, ", ".join(other), "is" if len(other) == 1 else
                    "are"))
        return study

    def _create(self, client: Client, name: str, goals: List[str],
                space: Space) -> Study:
        seed = self.random_state
        if seed is not None and not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(2**31 - 1)
        return client.create_study(
            name, metric=["mean_test_" + goal for goal in goals],
            goal=["MAXIMIZE"] * len(goals), params=space.parameters,
            algorithm=self.algorithm, seed=seed,
            until={"trials": self.n_trials},
            early_stopping=self.early_stopping)

    def _client_ids(self, study: Study) -> List[str]:
        """Who asks for a trial: first the ids that a killed process has left
        open, then one for each trial that is to be made."""
        trials = list(study._all_trials())
        new = max(self.n_trials - len(trials), 0)
        if self.n_trials > (study.summary().max_trials or self.n_trials):
            study._transport.call("PATCH", study._ours(""),
                                  {"maxTrialCount": self.n_trials})
        fit = uuid.uuid4().hex[:12]
        return [str(trial._resource["clientId"]) for trial in trials
                if trial.is_open] + ["%s-%d" % (fit, i) for i in range(new)]

    # --- the results ---

    def _results(self, study: Study, space: Space) -> Dict[str, Any]:
        """cv_results_ of all trials that have ended, by their numbers."""
        trials = [one for one in study._all_trials() if not one.is_open]
        known = folds.stored(study, "folds")
        rows = [(known.get(one.id, []) + [{}] * self.n_splits_)[
            :self.n_splits_] for one in trials]
        names = sorted({name for row in rows for fold in row for name in fold})
        tests = [name[5:] for name in names if name.startswith("test_")]
        if not tests:
            raise ValueError("no trial has a score")
        self.multimetric_ = (tests != ["score"] or
                             isinstance(self.scoring, Collection) and
                             not isinstance(self.scoring, str))

        def scores(fold: folds.Fold, kind: str) -> Any:
            found = {name: fold.get(kind + name, numpy.nan) for name in tests}
            return found if self.multimetric_ else found["score"]
        out = [{"fit_time": fold.get("fit_time", numpy.nan),
                "score_time": fold.get("score_time", numpy.nan),
                "test_scores": scores(fold, "test_"),
                "train_scores": scores(fold, "train_")}
               for row in rows for fold in row]
        with warnings.catch_warnings():  # that a pruned trial has no mean
            warnings.filterwarnings("ignore", ".*scores are non-finite")
            results: Dict[str, Any] = self._format_results(
                [space.values(one.params) for one in trials], self.n_splits_,
                out)
        return results

    def _choose(self, results: Dict[str, Any]) -> None:
        self.cv_results_ = results
        if self.multimetric_ and callable(self.scoring):
            self._check_refit_for_multimetric([
                key[len("mean_test_"):] for key in results
                if key.startswith("mean_test_")])
        if not self.refit and self.multimetric_:
            return
        metric = self.refit if self.multimetric_ else "score"
        self.best_index_ = self._select_best_index(self.refit, metric, results)
        if not callable(self.refit):
            self.best_score_ = results["mean_test_%s" % metric][
                self.best_index_]
            if numpy.isnan(self.best_score_):
                raise ValueError("no trial has a score of all folds")
        self.best_params_ = results["params"][self.best_index_]

    def _refit(self, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        best = folds.configured(self.estimator, self.best_params_)
        begin = time.time()
        best.fit(X, *([] if y is None else [y]), **fit_params)
        self.refit_time_ = time.time() - begin
        self.best_estimator_ = best
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_


def _warn_or_raise(outcomes: Sequence[Optional[folds.Fault]],
                   had_some: bool) -> None:
    """Says how many folds failed and why. The first error when all did, and
    none was scored before."""
    faults = [fault for fault in outcomes if fault is not None]
    if not faults:
        return
    text = "%d of %d folds failed. The first:\n%s" % (
        len(faults), len(outcomes), faults[0].trace)
    if len(faults) == len(outcomes) and not had_some:
        raise faults[0].error from FitFailedWarning(text)
    warnings.warn(text, FitFailedWarning)


def _content(data: Any) -> Any:
    """What joblib.hash() finds equal for equal data, however it lies in
    memory and whatever was asked of it before."""
    if hasattr(data, "iloc"):  # of pandas
        frame = data.to_frame() if data.ndim == 1 else data
        return [_text(list(frame.dtypes.items())),
                [_content(numpy.asarray(frame.iloc[:, column]))
                 for column in range(frame.shape[1])]]
    return (numpy.ascontiguousarray(data)
            if isinstance(data, numpy.ndarray) else data)


def _text(thing: Any) -> str:
    """What a thing is, the same in every process."""
    text = (thing.__repr__(N_CHAR_MAX=10**6)
            if isinstance(thing, BaseEstimator) else repr(thing))
    return re.sub(" at 0x[0-9a-f]+", "", text)
