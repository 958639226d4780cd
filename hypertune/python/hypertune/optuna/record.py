"""An Optuna study as metadata of a study of the server, and back."""
import copy
import datetime
import json
import threading
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from optuna.distributions import (BaseDistribution, distribution_to_json,
                                  json_to_distribution)
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from hypertune.optuna.spaces import Space, server_name
from hypertune.study import Study

_NAMESPACE = "optuna"
PER_STUDY = 1000000  # more than a study's trials: ids are unique over studies

Items = Mapping[str, Optional[str]]  # metadata by key; None: not there


def rows_of(trial: int, items: Items) -> List[Dict[str, Any]]:
    return [{"trial": trial, "ns": _NAMESPACE, "key": key,
             **({} if value is None else {"value": value})}
            for key, value in items.items()]


def _moment(text: str) -> Optional[datetime.datetime]:
    return datetime.datetime.fromisoformat(text) if text else None


def time_text(moment: Optional[datetime.datetime]) -> str:
    return "" if moment is None else moment.isoformat()


def attribute_text(value: Any) -> str:
    """JSON that people can read, where it is text: half of a surrogate pair
    is none."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def items_of(trial: FrozenTrial) -> Dict[str, str]:
    """A whole trial as metadata."""
    items = {"state": trial.state.name,
             "start": time_text(trial.datetime_start),
             "complete": time_text(trial.datetime_complete),
             "values": json.dumps(trial.values)}
    for name, distribution in trial.distributions.items():
        items["param:" + name] = param_text(
            distribution.to_internal_repr(trial.params[name]), distribution)
    for step, value in trial.intermediate_values.items():
        items["step:%d" % step] = json.dumps(value)
    for kind, attributes in (("user:", trial.user_attrs),
                             ("system:", trial.system_attrs)):
        for key, value in attributes.items():
            items[kind + key] = attribute_text(value)
    return items


def param_text(internal: float, distribution: BaseDistribution) -> str:
    return json.dumps([internal, distribution_to_json(distribution)])


class Record:
    """What is known here of one study; lists and trials that were given away
    are never changed, but replaced."""

    def __init__(self, remote: Study, name: str):
        self.remote = remote
        self.name = name
        self.lock = threading.RLock()
        self.version = 0
        self.trials: List[FrozenTrial] = []
        self.user: Dict[str, Any] = {}
        self.system: Dict[str, Any] = {}
        self.owners: Dict[str, int] = {}  # who began or ended which trial
        self.beats: Dict[int, int] = {}   # of trials: when last, server's ms
        self._ahead_ms = 0.0              # of the server, to our own clock
        self.names: Dict[str, str] = {}   # of parameters, on the server
        self.constraints = sum("safetyConfig" in metric
                               for metric in remote._spec["metrics"])
        self.ranges: Dict[str, BaseDistribution] = {}
        self.sent: Set[Tuple[str, str]] = set()  # ranges the server has
        # Of trials that run: the values that the server's have.
        self.given: Dict[int, Dict[str, Any]] = {}

    def take(self, answer: Mapping[str, Any]) -> bool:
        """Takes over the server's answer; is there more to ask for?"""
        self._apply([row for row in answer["metadata"]
                     if row["ns"] == _NAMESPACE])
        self.version = answer["version"]
        self._ahead_ms = answer["nowMs"] - time.monotonic() * 1000
        return bool(answer["more"])

    def now_ms(self) -> int:
        """The server's clock: those of clients differ."""
        return int(time.monotonic() * 1000 + self._ahead_ms)

    def directions(self) -> List[StudyDirection]:
        return [StudyDirection.MAXIMIZE if metric["goal"] == "MAXIMIZE"
                else StudyDirection.MINIMIZE
                for metric in self.remote._spec["metrics"]
                if "safetyConfig" not in metric]

    def space(self, distributions: Mapping[str, BaseDistribution]) -> Space:
        with self.lock:  # of the names
            return Space(distributions, self.names)

    def _apply(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """What was written, in the order of the writing."""
        fresh: Dict[int, FrozenTrial] = {}
        self.trials = list(self.trials)
        for row in rows:
            number = int(row["trial"]) - 1
            if number < 0:
                self._apply_own(row["key"], row["value"])
                continue
            while len(self.trials) <= number:  # one may have been deleted
                self.trials.append(self._empty(len(self.trials)))
            if number not in fresh:
                fresh[number] = self._copy(self.trials[number])
                self.trials[number] = fresh[number]
            self._apply_trial(fresh[number], row["key"], row["value"])

    def _apply_own(self, key: str, value: str) -> None:
        kind, _, name = key.partition(":")
        if kind == "user":
            self.user = {**self.user, name: json.loads(value)}
        elif kind == "system":
            self.system = {**self.system, name: json.loads(value)}

    def _empty(self, number: int) -> FrozenTrial:
        return FrozenTrial(
            number=number, state=TrialState.FAIL, value=None,
            datetime_start=None, datetime_complete=None, params={},
            distributions={}, user_attrs={}, system_attrs={},
            intermediate_values={},
            trial_id=self.remote.id * PER_STUDY + number)

    @staticmethod
    def _copy(trial: FrozenTrial) -> FrozenTrial:
        made = copy.copy(trial)
        for name in ("params", "distributions", "user_attrs", "system_attrs",
                     "intermediate_values"):
            setattr(made, name, dict(getattr(trial, name)))
        return made

    def _apply_trial(self, trial: FrozenTrial, key: str, value: str) -> None:
        kind, _, name = key.partition(":")
        if kind == "param":
            internal, text = json.loads(value)
            distribution = json_to_distribution(text)
            trial.distributions[name] = distribution
            trial.params[name] = distribution.to_external_repr(internal)
            if name not in self.ranges:  # in one order for all processes
                self.ranges[name] = distribution
                server_name(name, self.names)
        elif kind == "step":
            trial.intermediate_values[int(name)] = json.loads(value)
        elif kind == "user":
            trial.user_attrs[name] = json.loads(value)
        elif kind == "system":
            trial.system_attrs[name] = json.loads(value)
        elif kind == "owner":
            self.owners[value] = trial.number
        elif kind == "beat":
            self.beats[trial.number] = int(value)
        elif kind == "state":
            trial.state = TrialState[value]
        elif kind == "values":
            trial.values = json.loads(value)
        elif kind == "start":
            trial.datetime_start = _moment(value)
        elif kind == "complete":
            trial.datetime_complete = _moment(value)
