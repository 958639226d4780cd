"""LightGBM in a trial: each round is reported, and a hopeless trial ends.

    from hypertune.lightgbm import Callback

    lightgbm.train(params, data, 500, valid_sets=[held_out],
                   callbacks=[Callback(metrics={"loss": "valid_0-l2"})])
    LGBMClassifier().fit(X, y, eval_set=[(X2, y2)],
                         callbacks=[Callback(trial, {"loss": "valid_0-l2"})])

Written for LightGBM 4.
"""
from typing import Any, Optional

from lightgbm.callback import CallbackEnv, EarlyStopException

from hypertune import callback

__all__ = ["Callback"]


class Callback:
    """Reports the metrics of each round, and ends training when the trial
    should stop; its `stopped` then is True.

    trial    one of Study.ask() or minimize(); None is the trial that this
             process runs in
    metrics  the study's name of each metric, {"loss": "valid_0-l2"}, or a
             name or list of names of LightGBM's: DATA-METRIC, of
             cross-validation (lightgbm.cv) the mean of the folds. None is
             all, which only a study that runs its trials takes

    Steps are rounds, from 0. A callback is for one training: a trial's steps
    only grow.
    """

    def __init__(self, trial: Optional[Any] = None,
                 metrics: callback.Wanted = None):
        self.trial = trial
        self.metrics = metrics
        self.stopped = False
        self.order = 25  # after what records and prints, before early stopping

    def __call__(self, env: CallbackEnv) -> None:
        results = env.evaluation_result_list or []
        values = {"%s-%s" % result[:2]: result[2] for result in results}
        callback.report(self.trial, env.iteration,
                        callback.select(values, self.metrics))
        self.stopped = callback.should_stop(self.trial)
        if self.stopped:
            raise EarlyStopException(env.iteration, results)
