"""What the callbacks of other libraries share: which trial they report to, and
which checkpoints are whole.

A callback's `trial` is one of Study.ask() or minimize(), or any object with
report(metrics, step=...) and should_stop(). None is the trial that this
process runs in, by hypertune.report() and hypertune.should_stop(); outside of
one nothing is reported and nothing stops.
"""
import os
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from hypertune import reporter

Wanted = Union[None, str, Sequence[str], Mapping[str, str]]


def select(values: Mapping[str, Any], wanted: Wanted) -> Dict[str, float]:
    """The metrics to report, out of the `values` that a library has measured.

    `wanted` is the name of one or a list of several; a mapping such as
    {"loss": "validation-logloss"} gives the study's name of each; None is
    all. KeyError names what is not there.
    """
    if wanted is None:
        wanted = list(values)
    elif isinstance(wanted, str):
        wanted = [wanted]
    names = (dict(wanted) if isinstance(wanted, Mapping)
             else {name: name for name in wanted})
    for theirs in names.values():
        if theirs not in values:
            raise KeyError("no metric %r; there are: %s" % (
                theirs, ", ".join(map(str, values)) or "none"))
    return {ours: float(values[theirs]) for ours, theirs in names.items()}


def report(trial: Optional[Any], step: int,
           metrics: Mapping[str, float]) -> None:
    """Reports metrics that belong together, at that step. Nothing is sent
    when there are none."""
    if not metrics:
        return
    if trial is None:
        reporter.report_all(metrics, step)
    else:
        trial.report(dict(metrics), step=step)


def should_stop(trial: Optional[Any]) -> bool:
    """Whether the trial is to end now, by the study's early stopping or
    because someone has stopped it."""
    return bool(reporter.should_stop() if trial is None
                else trial.should_stop())


class Checkpoints:
    """Names what a library keeps in AIP_CHECKPOINT_DIR, so that the trial of
    this process may continue from it anywhere. `trial` as in report(): one
    that is given has no such folder."""

    def __init__(self, trial: Optional[Any]):
        self._folder = ("" if trial is not None
                        else os.environ.get("AIP_CHECKPOINT_DIR", ""))
        self._named: Dict[str, Any] = {}

    def name(self, step: int) -> None:
        """All files there are whole now. Nothing happens while there are none,
        or the ones that were named before."""
        files = self._files()
        if files and files != self._named:
            reporter.checkpoint(step=step)
        self._named = files

    def _files(self) -> Dict[str, Any]:
        files = {}
        for folder, _, names in os.walk(self._folder):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    status = os.stat(path)
                except OSError:  # a dangling link, or just removed
                    continue
                files[path] = (status.st_ino, status.st_size,
                               status.st_mtime_ns)
        return files
