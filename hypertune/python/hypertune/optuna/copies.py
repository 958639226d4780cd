"""A study of the server that gets the trials of an Optuna study which another
storage keeps, so that the server's search can learn from them."""
import hashlib
import re
import threading
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set

import optuna
from optuna.trial import FrozenTrial, TrialState

from hypertune import errors
from hypertune.client import Client
from hypertune.optuna.line import Line
from hypertune.optuna.mirror import Mirror, metric_specs
from hypertune.optuna.record import Record, rows_of
from hypertune.study import STUDIES, Study

_TRIAL = "hypertune:trial"  # of a trial: study and trial of the server
_LABEL = "optuna"           # of a study: whose trials it gets


def family(study: "optuna.Study") -> Optional[str]:
    """A name for all processes that work at this study, and no others.

    Nothing is written for it, since few storages could decide between two
    processes that begin at the same moment: the start of the first trial does
    not change. None while that trial waits, enqueued by another process after
    this one had looked for waiting trials."""
    storage, number = study._storage, study._study_id
    first = storage.get_trial(
        storage.get_trial_id_from_study_id_trial_number(number, 0))
    if first.datetime_start is None:
        return None
    return "%s %d %s" % (study.study_name, number, first.datetime_start)


def label_of(resource: Mapping[str, Any]) -> Optional[str]:
    """What a study of copies has to tell whose trials they are; None: it is
    no such study."""
    label: Optional[str] = resource.get("hypertune", {}).get(
        "labels", {}).get(_LABEL)
    return label


class Copies:
    """The study of the server, and what was sent to it."""

    def __init__(self, client: Client, study: "optuna.Study", name: str):
        self._line = Line(client, 0.0)
        self.mirror = Mirror(self._line)
        remote = _join(client, study, name)
        self.record = Record(remote, remote.name)
        self._numbers: Dict[int, int] = {}  # of copies, by Optuna's
        self._over: Set[int] = set()  # Optuna's numbers of ended ones
        self._lock = threading.Lock()
        self._catch_up(study)

    def number(self, study: "optuna.Study", trial: FrozenTrial) -> int:
        """The copy of a trial that runs, from 0; made when there is none. The
        retry of a trial continues with its copy."""
        if trial.number in self._numbers:
            return self._numbers[trial.number]
        trials = study.get_trials(deepcopy=False)
        self._give_up(trials)
        self._add(trials, set())
        known = self._known(trial)
        if known is None or not self.record.remote.trial(known + 1).is_open:
            known = self._open()
            study._storage.set_trial_system_attr(
                trial._trial_id, _TRIAL, [self.record.remote.id, known + 1])
        self._numbers[trial.number] = known
        return known

    def end(self, trial: FrozenTrial, state: TrialState,
            values: Optional[Sequence[float]]) -> None:
        """Sends a trial that has ended, once for all processes."""
        number = self._numbers.pop(trial.number, self._known(trial))
        with self._lock:
            if trial.number in self._over:
                return
            self._over.add(trial.number)
        if number is None:
            if not self._claims(trial.number):
                return
            number = self._open()
        self.mirror.params(self.record, number, trial.distributions,
                           trial.params)
        self.mirror.end(self.record, number, trial, state, values)

    def _known(self, trial: FrozenTrial) -> Optional[int]:
        known = trial.system_attrs.get(_TRIAL)
        return (known[1] - 1 if known and known[0] == self.record.remote.id
                else None)

    def _open(self) -> int:
        return int(self._line.client._transport.call(
            "POST", self.record.remote._ours("/trials:open"), {})["id"]) - 1

    def _claims(self, number: int) -> bool:
        """Is this the first process to send that trial of Optuna's?"""
        key = "told:%d" % number
        try:
            self._line.client._transport.call(
                "PATCH", self.record.remote._ours("/metadata"),
                {"metadata": rows_of(0, {key: "yes"}),
                 "expect": rows_of(0, {key: None})})
            return True
        except errors.Conflict:
            return False

    def _give_up(self, trials: Sequence[FrozenTrial]) -> None:
        """Ends the copies of trials that have failed untold: their process
        died, and no other continues with them."""
        kept = {self._known(trial) for trial in trials
                if not trial.state.is_finished()}
        for trial in trials:
            number = self._known(trial)
            if (trial.state == TrialState.FAIL and number is not None and
                    number not in kept):
                self.end(trial, trial.state, None)

    def _catch_up(self, study: "optuna.Study") -> None:
        """Sends the server what it lacks of this study."""
        still_open = {trial.id - 1 for trial in self.record.remote.trials()
                      if trial.is_open}
        self._add(study.get_trials(deepcopy=False), still_open)

    def _add(self, trials: Sequence[FrozenTrial],
             still_open: Set[int]) -> None:
        """Sends results of trials without a copy, and of open copies."""
        for trial in trials:
            number = self._known(trial)
            if (trial.state in (TrialState.COMPLETE, TrialState.PRUNED) and
                    trial.number not in self._over and
                    (number is None or number in still_open)):
                self.end(trial, trial.state, trial.values)


def _join(client: Client, study: "optuna.Study", name: str) -> Study:
    """Makes the server's study, or joins the one of another process; the
    server decides by its name. One of that name that is of another study of
    Optuna's, as of an earlier run in memory, stays as it is."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    title = re.sub(r"[^A-Za-z0-9_.-]+", "-", study.study_name).strip("-")
    names: List[str] = [title[:100] or "optuna"]
    names.append("%s-%s" % (names[0], digest[:8]))
    for own in names:
        body: Dict[str, Any] = {
            "displayName": own,
            "hypertune": {"name": own, "openSpace": True,
                          "labels": {_LABEL: digest}},
            "studySpec": {"metrics": metric_specs(study.directions),
                          "parameters": []}}
        try:
            return client._create(STUDIES, body)
        except errors.Conflict:
            found = client._transport.call("GET",
                                           "/hypertune/v1/studies/" + own)
            if label_of(found) == digest:
                return client._study(found)
    raise errors.Conflict("there are other studies %s" % " and ".join(names))
