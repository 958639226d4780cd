"""One trial of a study: what was tried and how it went."""
import datetime
import html
import math
import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple, Union

from hypertune import show
from hypertune.errors import ApiError, response_of
from hypertune.notes import Noted
from hypertune.transport import Transport

if TYPE_CHECKING:
    from hypertune.study import Study

Metrics = Mapping[str, float]

_MOST_REASON = 512
_OPEN = ("REQUESTED", "ACTIVE", "STOPPING", "PAUSED")


def _json_number(value: float) -> Union[float, str]:
    """JSON lacks what is not finite; Google's JSON has these words."""
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def measurement(metrics: Metrics, step: Optional[int],
                elapsed: Optional[float] = None) -> Dict[str, Any]:
    """A Measurement of Vertex AI; `elapsed` in seconds."""
    made: Dict[str, Any] = {"metrics": [
        {"metricId": name, "value": _json_number(value)}
        for name, value in metrics.items()]}
    if step is not None:
        made["stepCount"] = str(int(step))
    if elapsed is not None:
        made["elapsedDuration"] = "%.3fs" % elapsed
    return made


class Trial(Noted):
    """A trial as it was when it was read; refresh() reads it again.

    A trial from Study.ask() or Study.suggest() is yours to evaluate::

        with trial:
            for step in range(10):
                trial.report(step=step, loss=train(**trial.params))
                if trial.should_stop():
                    break

    Leaving the block completes the trial with what it has reported; an
    exception makes it infeasible and is passed on.
    """

    def __init__(self, study: "Study", resource: Mapping[str, Any]):
        self._study = study
        self._begin = time.monotonic()
        self._step = 0
        self._reported: Optional[int] = None
        self._adopt(resource)

    def _adopt(self, resource: Mapping[str, Any]) -> None:
        self._resource = resource
        self._own: Mapping[str, Any] = resource["hypertune"]

    def _time(self, key: str) -> Optional[datetime.datetime]:
        return show.moment(self._own[key]) if self._own.get(key) else None

    def _notes_of(self) -> Tuple[Transport, str]:
        return (self._study._transport,
                self._study._ours("/trials/%d/notes" % self.id))

    @property
    def study(self) -> "Study":
        """The study it belongs to."""
        return self._study

    @property
    def id(self) -> int:
        """Its number within the study, from 1."""
        return int(self._resource["id"])

    @property
    def state(self) -> str:
        """REQUESTED, ACTIVE, PAUSED, STOPPING, SUCCEEDED, STOPPED, FAILED,
        INFEASIBLE or CANCELLED, at the last reading."""
        return str(self._own["state"])

    @property
    def reason(self) -> str:
        """Why it is in this state, in words; often empty."""
        return str(self._own.get("reason", ""))

    @property
    def params(self) -> Dict[str, Any]:
        """The hyperparameters by name: int, float or str."""
        reals = self._study._reals  # JSON has no 1000.0
        return {name: float(value) if name in reals else value
                for name, value in self._own.get("params", {}).items()}

    @property
    def args(self) -> List[str]:
        """The parameters as arguments: ["--lr=0.1", ...]."""
        return list(self._own.get("args", ()))

    @property
    def value(self) -> Optional[float]:
        """The objective that counts; None before there is one."""
        value = self._own.get("objective")
        return None if value is None else float(value)

    @property
    def step(self) -> Optional[int]:
        """The step of `value`."""
        step = self._own.get("step")
        return None if step is None else int(step)

    @property
    def metrics(self) -> Dict[str, float]:
        """All metrics that count, by name; empty before there are any."""
        final = self._resource.get("finalMeasurement", {})
        return {metric["metricId"]: float(metric["value"])
                for metric in final.get("metrics", ())}

    @property
    def latest(self) -> Dict[str, float]:
        """The newest metrics it has reported."""
        metrics = self._own.get("latest", {}).get("metrics", {})
        return {name: float(value) for name, value in metrics.items()}

    @property
    def start(self) -> Optional[datetime.datetime]:
        """When work on it began, UTC."""
        return self._time("startTimeMs")

    @property
    def end(self) -> Optional[datetime.datetime]:
        """When it ended, UTC; None while it is open."""
        return self._time("endTimeMs")

    @property
    def is_open(self) -> bool:
        """Is its result still to come, as far as is known here?"""
        return self.state in _OPEN

    def refresh(self) -> "Trial":
        """Reads the trial again; returns it. NotFound when it is gone."""
        self._adopt(self._study._transport.call("GET", self._path()))
        return self

    def _path(self, verb: str = "") -> str:
        return "%s/%d%s" % (self._study._trials_path(), self.id, verb)

    def _post(self, verb: str, body: Mapping[str, Any]) -> Any:
        return self._study._transport.call("POST", self._path(verb), body)

    def _elapsed(self) -> float:
        return time.monotonic() - self._begin

    # --- evaluating it ---

    def _skip_reported(self) -> None:
        """A trial that is given again begins anew: the steps that it had
        reported are there."""
        step = self._own.get("latest", {}).get("step")
        self._reported = None if step is None else int(step)

    def report(self, value: Union[None, float, Metrics] = None, *,
               step: Optional[int] = None, **metrics: float) -> None:
        """Stores intermediate metrics: report(0.2) is the study's objective,
        report(step=3, loss=0.2, auc=0.9) are metrics by name, which may also
        come as a mapping.

        Without a step the reports are counted, from 1. Of a trial that was
        given again, steps up to the last that it had are not sent again.
        ApiError when the trial has ended.
        """
        metrics = self._by_name(value, metrics)
        if not metrics:
            raise ValueError("report() without a metric")
        self._step = self._step + 1 if step is None else int(step)
        if self._reported is not None and self._step <= self._reported:
            return
        self._adopt(self._post(":addTrialMeasurement", {
            "measurement": measurement(metrics, self._step,
                                       self._elapsed())}))

    def _by_name(self, value: Union[None, float, Metrics],
                 metrics: Dict[str, float]) -> Dict[str, float]:
        if isinstance(value, Mapping):
            return {**value, **metrics}
        return (metrics if value is None
                else {self._study.metric: value, **metrics})

    def should_stop(self) -> bool:
        """Whether continuing is worth it, by the study's early stopping."""
        operation = self._post(":checkTrialEarlyStoppingState", {})
        return bool(response_of(operation).get("shouldStop", False))

    def complete(self, value: Union[None, float, Metrics] = None, *,
                 step: Optional[int] = None, **metrics: float) -> None:
        """Ends the trial with its final metrics.

        complete(0.3) is the study's objective, complete(loss=0.3, auc=0.9)
        are metrics by name; complete() takes what was reported.
        FailedPrecondition when nothing was.
        """
        metrics = self._by_name(value, metrics)
        body: Dict[str, Any] = {}
        if metrics:
            if step is None and self._step > 0:
                step = self._step
            body["finalMeasurement"] = measurement(metrics, step,
                                                   self._elapsed())
        self._adopt(self._post(":complete", body))

    def infeasible(self, reason: str) -> None:
        """Ends the trial: these parameters cannot be evaluated. The server
        keeps 512 bytes of the reason."""
        self._adopt(self._post(":complete", {
            "trialInfeasible": True,
            "infeasibleReason": show.plain(reason[:_MOST_REASON])}))

    def stop(self) -> None:
        """Asks the trial's client to end it; its results count."""
        self._adopt(self._post(":stop", {}))

    def delete(self) -> None:
        """Removes the trial; the search forgets it."""
        self._study._transport.call("DELETE", self._path())

    def __enter__(self) -> "Trial":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not self.is_open:
            return
        if kind is None:
            self.complete()
        elif issubclass(kind, Exception) and not issubclass(kind, ApiError):
            self.infeasible("%s: %s" % (kind.__name__, error))
        # After an interrupt, or when the server refused, nothing is known
        # about the parameters: the trial stays open, and who asks again with
        # the same client id gets it again.

    # --- showing it ---

    def _outcome(self) -> str:
        if self.value is None:
            return self.reason
        return "%s=%s%s" % (self._study.metric, show.number(self.value),
                            " step=%d" % self.step if self.step else "")

    def __repr__(self) -> str:
        first = ("Trial %d %s %s" % (self.id, self.state,
                                     self._outcome())).rstrip()
        return show.plain("%s\n  %s" % (
            first, show.params(self.params, quoted=True)))

    def _repr_html_(self) -> str:
        rows = []
        if self.value is not None:
            rows.append((self._study.metric, "<b>%s</b>%s" % (
                html.escape(show.number(self.value)),
                " (step %d)" % self.step if self.step else "")))
        others = {name: value for name, value in self.metrics.items()
                  if name != self._study.metric}
        if others:
            rows.append(("other metrics", html.escape(show.params(others))))
        curve = [(float(step), value)
                 for step, value, _ in self._study.curves(self)]
        curve = curve[::len(curve) // show.MOST_DOTS + 1]
        if len(curve) > 1:
            rows.append(("reported", show.spark(curve, [
                point for point in curve if math.isfinite(point[1])])))
        if self.reason:
            rows.append(("reason", html.escape(self.reason)))
        rows.append(("parameters", "<code>%s</code>" %
                     html.escape(show.params(self.params))))
        return show.table("%s, trial %d - %s" % (self._study.name, self.id,
                                                 self.state), rows)
