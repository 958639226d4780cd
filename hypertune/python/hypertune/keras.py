"""A callback for Keras 3: reports every epoch, stops the trial.

    model.fit(x, y, epochs=20, validation_split=0.2, callbacks=[
        hypertune.keras.Callback(metrics={"loss": "val_loss"})])
"""
from typing import Any, Mapping, Optional

import keras

from hypertune import callback


class Callback(keras.callbacks.Callback):
    """Reports at the end of every epoch; the step is the number of epochs
    done. `trial` and `metrics` are as in hypertune.callback; None is all that
    Keras has measured. Where a `val_` metric is wanted, epochs without a
    validation (`validation_freq`) are left out. KeyError when a metric is not
    there, at the end of training when there was no validation at all.
    Checkpoints in AIP_CHECKPOINT_DIR are named when the next epoch begins, so
    that the trial may continue from them anywhere.
    """

    def __init__(self, trial: Optional[Any] = None,
                 metrics: callback.Wanted = None):
        super().__init__()
        self._trial = trial
        self._metrics = metrics
        self._missing: Optional[KeyError] = None
        self._checkpoints = callback.Checkpoints(trial)

    def on_train_begin(self, logs: Optional[Mapping[str, Any]] = None) -> None:
        self._missing = KeyError("nothing was reported: no epoch ended")

    def on_epoch_begin(self, epoch: int,
                       logs: Optional[Mapping[str, Any]] = None) -> None:
        self._checkpoints.name(epoch)

    def on_epoch_end(self, epoch: int,
                     logs: Optional[Mapping[str, Any]] = None) -> None:
        try:
            values = callback.select(logs or {}, self._metrics)
        except KeyError as missing:
            if any(name.startswith("val_") for name in logs or {}):
                raise
            if self._missing:
                self._missing = missing
            return
        self._missing = None
        callback.report(self._trial, epoch + 1, values)
        if callback.should_stop(self._trial):
            self.model.stop_training = True

    def on_train_end(self, logs: Optional[Mapping[str, Any]] = None) -> None:
        if self._missing:
            raise self._missing
