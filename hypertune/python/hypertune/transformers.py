"""A callback for the Trainer of Hugging Face's transformers: reports every
evaluation, stops the trial.

    trainer = transformers.Trainer(model, arguments, callbacks=[
        hypertune.transformers.Callback(metrics={"loss": "eval_loss"})], ...)
"""
import math
import os
from typing import Any, Dict, Mapping, Optional

from transformers import TrainerCallback

from hypertune import callback
from hypertune.torch import should_stop

# What an evaluation says about itself and not about the model.
_ITS_OWN = ("epoch", "step", "_runtime", "_per_second", "_compilation_time",
            "_preparation_time")


class Callback(TrainerCallback):
    """Reports the evaluations of the training, at the number of epochs done
    where it evaluates after each of them, else at the number of steps.
    `trial` and `metrics` are as in hypertune.callback; None is all that was
    evaluated. KeyError when the next step begins, or the training ends,
    without a metric of the evaluation before.

    The first process reports, and all of them stop after the same step. A
    further attempt whose checkpoint has no step left to train reports the
    last evaluation again, since only what the newest attempt reports is the
    result. Checkpoints in AIP_CHECKPOINT_DIR are named as they are saved, so
    that the trial may continue from them anywhere.
    """

    def __init__(self, trial: Optional[Any] = None,
                 metrics: callback.Wanted = None):
        self._trial = trial
        self._metrics = metrics
        self._is_training = self._has_reported = False
        self._found: Dict[str, float] = {}  # since the step began
        self._missing: Optional[KeyError] = None
        self._checkpoints = callback.Checkpoints(trial)

    def on_train_begin(self, args: Any, state: Any, control: Any,
                       **_: Any) -> None:
        self._is_training, self._has_reported = True, False

    def on_step_begin(self, args: Any, state: Any, control: Any,
                      **_: Any) -> None:
        if self._missing:
            raise self._missing
        self._found = {}

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            self._checkpoints.name(state.global_step)

    def on_evaluate(self, args: Any, state: Any, control: Any,
                    metrics: Optional[Mapping[str, Any]] = None,
                    **_: Any) -> None:
        if (self._is_training and  # else of data that is not for the choice
                self._report(args, state, state.epoch, metrics or {}) and
                should_stop(self._trial)):
            control.should_training_stop = True

    def _report(self, args: Any, state: Any, epoch: float,
                metrics: Mapping[str, Any]) -> bool:
        """False while a metric is of a data set that is still to come."""
        self._found.update(
            (name, value) for name, value in metrics.items()
            if self._metrics is not None or not name.endswith(_ITS_OWN))
        try:
            values = callback.select(self._found, self._metrics)
        except KeyError as missing:
            self._missing = missing
            return False
        self._missing, self._has_reported = None, True
        strategy = (getattr(args, "eval_strategy", None) or
                    args.evaluation_strategy)
        # The last samples of an epoch may be too few for a step.
        step = (math.ceil(epoch - 0.001) if strategy == "epoch"
                else state.global_step)
        if state.is_world_process_zero:
            callback.report(self._trial, step, values)
        return True

    def on_train_end(self, args: Any, state: Any, control: Any,
                     **_: Any) -> None:
        self._is_training = False
        past = [entry for entry in state.log_history
                if any(name.startswith("eval_") for name in entry)]
        if (past and not self._has_reported and
                os.environ.get("HYPERTUNE_RESUME") == "1"):
            for entry in past:
                if entry["step"] == past[-1]["step"]:
                    self._report(args, state, entry["epoch"], entry)
        if self._missing:
            raise self._missing
