"""One trial of an estimator: its folds, one after the other, each kept on the
server when it ends.

A measurement is one fold: step k (from 1) has the mean of folds 1 to k of what
is searched for, as mean_test_NAME. All scores and seconds of the folds, under
the names of cross_validate(), are metadata of the trial.
"""
import inspect
import json
import math
import pickle
import traceback
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from sklearn.base import clone
from sklearn.model_selection import cross_validate

from hypertune.sklearn.space import Space
from hypertune.study import Study

Fold = Dict[str, float]

_NAMESPACE = "sklearn"

# Since scikit-learn 1.4 `params`.
FIT_PARAMS = ("params" if "params" in
               inspect.signature(cross_validate).parameters else "fit_params")


class Fault(NamedTuple):
    """Why a fold has no score, and the traceback of its process."""
    error: Exception
    trace: str


class Work(NamedTuple):
    """What all trials of one fit() have in common."""
    study: Study
    space: Space
    estimator: Any
    data: Tuple[Any, Any]
    splits: List[Any]  # (train, test) indices
    options: Dict[str, Any]  # of cross_validate
    error_score: Any
    scores: List[str]  # their names
    begun: Dict[int, List[Fold]]  # by trial: what a killed process had done


def configured(estimator: Any, params: Mapping[str, Any]) -> Any:
    """A new estimator with these parameters, estimators among them copied."""
    return clone(estimator).set_params(**{
        name: clone(value, safe=False) for name, value in params.items()})


def store(study: Study, trial: int, key: str, value: Any) -> None:
    """Keeps a value as JSON with a trial, or with the study (trial 0)."""
    study._transport.call("PATCH", study._ours("/metadata"), {"metadata": [{
        "trial": trial, "ns": _NAMESPACE, "key": key,
        "value": json.dumps(value)}]})


def stored(study: Study, key: str) -> Dict[int, Any]:
    """The values of that key by trial."""
    found: Dict[int, Any] = {}
    answer: Dict[str, Any] = {"version": 0, "more": True}
    while answer["more"]:
        answer = study._transport.call("GET", study._ours("/metadata"),
                                       query={"since": answer["version"]})
        found.update((int(row["trial"]), json.loads(row["value"]))
                     for row in answer["metadata"]
                     if (row["ns"], row["key"]) == (_NAMESPACE, key))
    return found


def run_trial(work: Work, client_id: str) -> List[Optional[Fault]]:
    """Asks for a trial and evaluates it; what went wrong, or None, for each
    fold. Nothing when the search has no trial left. An error of a fold is
    raised where error_score is "raise"."""
    outcomes: List[Optional[Fault]] = []
    for trial in work.study.suggest(1, client_id):
        with trial:
            estimator = configured(work.estimator,
                                   work.space.values(trial.params))
            folds = list(work.begun.get(trial.id, ()))
            while len(folds) < len(work.splits):
                fold, fault = _run_fold(work, estimator, len(folds))
                outcomes.append(fault)
                if fold is None:
                    assert fault is not None
                    trial.infeasible(fault.trace.strip().splitlines()[-1])
                    return outcomes
                folds.append(fold)
                store(work.study, trial.id, "folds", folds)
                trial.report(_means(work, folds), step=len(folds))
                if len(folds) < len(work.splits) and trial.should_stop():
                    break
            trial.complete(_means(work, folds))
    return outcomes


def _means(work: Work, folds: List[Fold]) -> Fold:
    """Of the folds so far, under the names of the study's metrics."""
    return {metric: sum(fold[metric[len("mean_"):]] for fold in folds) /
            len(folds) for metric in work.study._metrics()}


def _run_fold(work: Work, estimator: Any, index: int
              ) -> Tuple[Optional[Fold], Optional[Fault]]:
    """Scores and seconds of a fold, and its error. There are no scores where
    an error has none: the mean would be NaN."""
    features, target = work.data
    try:
        result = cross_validate(
            estimator, features, target, cv=[work.splits[index]],
            error_score="raise", **work.options)
    except Exception as error:
        if work.error_score == "raise":
            raise
        fault = _fault(error)
        if math.isnan(work.error_score):
            return None, fault
        kinds = (["test_", "train_"] if work.options["return_train_score"]
                 else ["test_"])
        return {"fit_time": 0.0, "score_time": 0.0,
                **{kind + name: float(work.error_score)
                   for kind in kinds for name in work.scores}}, fault
    for metric in work.study._metrics():
        if metric[len("mean_"):] not in result:
            raise ValueError("scoring gives no %r but %s; `refit` names what "
                             "is searched for" % (metric[len("mean_test_"):],
                                                  ", ".join(result)))
    return {name: float(values[0]) for name, values in result.items()}, None


def _fault(error: Exception) -> Fault:
    trace = traceback.format_exc()
    try:  # it goes to another process
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = ValueError(trace)
    return Fault(error.with_traceback(None), trace)
