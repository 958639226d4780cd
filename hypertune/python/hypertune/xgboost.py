"""XGBoost in a trial: each round is reported, and a hopeless trial ends.

    from hypertune.xgboost import Callback

    callback = Callback(metrics={"loss": "validation-logloss"})
    xgboost.train(params, data, 500, evals=[(held_out, "validation")],
                  callbacks=[callback])
    XGBClassifier(callbacks=[
        Callback(trial, {"loss": "validation_0-logloss"})])

Needs XGBoost 1.7 or newer.
"""
from typing import Any, Dict, Optional

import xgboost
from xgboost import collective

from hypertune import callback

__all__ = ["Callback"]

Log = Dict[str, Dict[str, Any]]  # a list of scores by data and metric


class Callback(xgboost.callback.TrainingCallback):
    """Reports the metrics of each round, and ends training when the trial
    should stop; its `stopped` then is True.

    trial    one of Study.ask() or minimize(); None is the trial that this
             process runs in
    metrics  the study's name of each metric, {"loss": "validation-logloss"},
             or a name or list of names of XGBoost's: DATA-METRIC, of
             cross-validation (xgboost.cv) the mean of the folds. None is all,
             which only a study that runs its trials takes

    Steps are rounds, from 0. A callback is for one training: a trial's steps
    only grow. Of several workers the first reports and decides.
    """

    def __init__(self, trial: Optional[Any] = None,
                 metrics: callback.Wanted = None):
        super().__init__()
        self.trial = trial
        self.metrics = metrics
        self.stopped = False

    def after_iteration(self, model: Any, epoch: int, evals_log: Log) -> bool:
        values = {}
        for data, metrics in evals_log.items():
            for metric, scores in metrics.items():
                newest = scores[-1]  # of xgboost.cv with its deviation
                values["%s-%s" % (data, metric)] = (
                    newest[0] if isinstance(newest, tuple) else newest)
        if collective.get_rank() == 0:
            callback.report(self.trial, epoch,
                            callback.select(values, self.metrics))
            self.stopped = callback.should_stop(self.trial)
        self.stopped = bool(collective.broadcast(self.stopped, 0))
        return self.stopped
