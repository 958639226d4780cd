"""A training loop of PyTorch that reports, stops and continues by itself.

    for epoch in hypertune.torch.epochs(20, model=model, optimizer=optimizer):
        train(model, optimizer)
        epoch.report(loss=validate(model))

Under torch.distributed every process runs the loop: the first one reports and
keeps the checkpoint, and all of them end after the same epoch. PyTorch 1.13
and newer.
"""
import os
import signal
import threading
from typing import Any, Dict, Iterator, Mapping, Optional

import torch
from torch import distributed

from hypertune import callback, reporter


def _is_group() -> bool:
    return distributed.is_available() and distributed.is_initialized()


def is_first() -> bool:
    """Is this process the one of its group that reports?"""
    return not _is_group() or distributed.get_rank() == 0


def from_first(value: Any) -> Any:
    """The first process's value, in all of them; all have to call it."""
    if not _is_group():
        return value
    box = [value]
    distributed.broadcast_object_list(box, src=0)
    return box[0]


def should_stop(trial: Optional[Any] = None) -> bool:
    """hypertune.should_stop() of the first process, in all of them: if each
    asked for itself, some would stop and the others wait for them."""
    return bool(from_first(is_first() and callback.should_stop(trial)))


class Epoch(int):
    """The number of an epoch, from 1."""

    _loop: "_Loop"

    def report(self, metrics: Optional[Mapping[str, float]] = None,
               **more: float) -> None:
        """Keeps the checkpoint and reports the epoch's metrics, once: numbers
        or tensors of one element. Names that are no Python names go into
        `metrics`."""
        values = {**(metrics or {}), **more}
        if self._loop.done >= self:
            raise RuntimeError("epoch %d is reported already; give all its "
                               "metrics to one report()" % self)
        self._loop.finish(self, {name: float(value)
                                 for name, value in values.items()})


class _Loop:
    """`parts` have state_dict() and load_state_dict(); without a `path`
    nothing is kept."""

    def __init__(self, trial: Optional[Any], path: Optional[str],
                 parts: Mapping[str, Any]):
        self.trial, self.path, self.parts = trial, path, parts
        self.done = 0

    def finish(self, epoch: int, metrics: Dict[str, float]) -> None:
        """The checkpoint comes first: the answer to a report may be that the
        trial pauses."""
        self.done = int(epoch)
        if is_first():
            if self.path:
                self._save(metrics)
            callback.report(self.trial, epoch, metrics)

    def _save(self, metrics: Dict[str, float]) -> None:
        state = {"epoch": self.done, "metrics": metrics,
                 "parts": {name: part.state_dict()
                           for name, part in self.parts.items()},
                 "random": torch.get_rng_state(),
                 "cuda": (torch.cuda.get_rng_state()
                          if torch.cuda.is_initialized() else None)}
        with open(self.path + ".new", "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.path + ".new", self.path)
        if self.trial is None:
            reporter.checkpoint(self.path, step=self.done)

    def restore(self) -> None:
        """Continues after the checkpoint of the attempt before, if any."""
        kept = None
        if (self.path and is_first() and os.path.exists(self.path) and
                os.environ.get("HYPERTUNE_RESUME") == "1"):
            kept = torch.load(self.path, map_location="cpu",
                              weights_only=False)
        kept = from_first(kept)
        if kept is None:
            return
        if set(kept["parts"]) != set(self.parts):
            raise ValueError("%s has the states of %s, not of %s" % (
                self.path, ", ".join(kept["parts"]) or "nothing",
                ", ".join(self.parts) or "nothing"))
        for name, part in self.parts.items():
            part.load_state_dict(kept["parts"][name])
        if not _is_group():  # else every process draws its own numbers
            torch.set_rng_state(kept["random"])
            if kept["cuda"] is not None:
                torch.cuda.set_rng_state(kept["cuda"])
        self.done = kept["epoch"]
        if is_first():
            # The attempt before may have died before it reported this, and
            # only what the newest attempt reports is the result.
            callback.report(self.trial, self.done, kept["metrics"])


def _hold_sigterm() -> Any:
    """A trial that is to stop gets SIGTERM as well, which would end it amid
    an epoch. Any other SIGTERM has its effect. Returns the old handler."""
    before = signal.getsignal(signal.SIGTERM) or signal.SIG_DFL

    def hold(number: int, _: Any) -> None:
        if not callback.should_stop(None):
            signal.signal(number, before)
            os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, hold)
    return before


def epochs(count: int, trial: Optional[Any] = None,
           **parts: Any) -> Iterator[Epoch]:
    """The epochs 1 to `count`; it ends after an earlier one when the trial is
    to stop, if that comes within the `grace` of the study.

    After every epoch of the trial that this process runs in, the states of
    `parts` (model, optimizer, scheduler ..., by any name) and of PyTorch's
    random numbers are kept in AIP_CHECKPOINT_DIR. A further attempt reports
    the last epoch again and continues after it. Of a `trial` from ask() or
    minimize() nothing is kept.

    ValueError when the checkpoint is one of other parts.
    """
    path = None
    if trial is None and os.environ.get("HYPERTUNE_TRIAL_DIR"):
        path = os.path.join(os.environ["AIP_CHECKPOINT_DIR"], "hypertune.pt")
    loop = _Loop(trial, path, parts)
    loop.restore()
    is_held = (path is not None and
               threading.current_thread() is threading.main_thread())
    before = _hold_sigterm() if is_held else None
    for number in range(loop.done + 1, count + 1):
        epoch = Epoch(number)
        epoch._loop = loop
        yield epoch
        if loop.done < number:
            loop.finish(number, {})
        if number < count and should_stop(trial):
            return  # and what follows may be done before SIGKILL
    if is_held:
        signal.signal(signal.SIGTERM, before)
