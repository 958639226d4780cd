"""What the callbacks of other libraries share: which trial they report to.

A callback's `trial` is one of Study.ask() or minimize(), or any object with
report(metrics, step=...) and should_stop(). None is the trial that this
process runs in, by hypertune.report() and hypertune.should_stop(); outside of
one nothing is reported and nothing stops.
"""
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
