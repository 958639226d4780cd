"""A callback for Lightning's Trainer: reports every epoch, stops the trial.

    trainer = lightning.Trainer(callbacks=[
        hypertune.lightning.Callback(metrics={"loss": "val_loss"})])

It is one of `lightning` or of `pytorch_lightning`, whichever the program has
imported.
"""
import os
import sys
from typing import Any, Dict, Optional

from hypertune import callback

if "pytorch_lightning" in sys.modules:
    import pytorch_lightning
else:
    try:
        import lightning.pytorch as pytorch_lightning
    except ImportError:
        import pytorch_lightning


class Callback(pytorch_lightning.Callback):
    """Reports at the end of every training epoch in which the model was
    validated, or of every one when it never is; the step is the number of
    epochs done. `trial` and `metrics` are as in hypertune.callback; None is
    all that was logged. KeyError when a metric was not.

    The first process reports, and all stop after the same epoch. Lightning's
    checkpoints keep the last report: a further attempt that finds no epoch
    left to train makes it again, since only what the newest attempt reports
    is the result. Those in AIP_CHECKPOINT_DIR are named when the next epoch
    begins, so that a trial may continue from them anywhere.
    """

    def __init__(self, trial: Optional[Any] = None,
                 metrics: callback.Wanted = None):
        self._trial = trial
        self._metrics = metrics
        self._is_validated = self._has_reported = False
        self._last: Dict[str, Any] = {}
        self._checkpoints = callback.Checkpoints(trial)

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self._is_validated = False
        if trainer.is_global_zero:
            self._checkpoints.name(trainer.current_epoch)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self._is_validated = True

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        if not (self._is_validated or not trainer.enable_validation):
            return
        self._last = {"step": trainer.current_epoch + 1,
                      "metrics": callback.select(trainer.callback_metrics,
                                                 self._metrics)}
        self._report(trainer)
        if trainer.strategy.broadcast(trainer.is_global_zero and
                                      callback.should_stop(self._trial)):
            trainer.should_stop = True

    def _report(self, trainer: Any) -> None:
        self._has_reported = True
        if trainer.is_global_zero:
            callback.report(self._trial, **self._last)

    def state_dict(self) -> Dict[str, Any]:
        return self._last

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        self._last = state_dict

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        self._has_reported = False

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        if (self._last and not self._has_reported and
                os.environ.get("HYPERTUNE_RESUME") == "1"):
            self._report(trainer)
