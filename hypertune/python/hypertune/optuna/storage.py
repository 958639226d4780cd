"""A storage of Optuna's behind which this server stands.

An Optuna study is a study of clients with an open space. What Optuna knows of
its trials is their metadata, in the namespace `optuna`, and decides. The trial
itself is what the dashboard, the command line and early stopping see: it is
told each parameter, report and end right behind.
"""
import copy
import datetime
import json
import os
import threading
import time
import uuid
from typing import (Any, Callable, Container, Dict, List, Mapping, Optional,
                    Sequence, Set, Tuple, Union)

from optuna.distributions import (BaseDistribution,
                                  check_distribution_compatibility,
                                  distribution_to_json, json_to_distribution)
from optuna.exceptions import DuplicatedStudyError
from optuna.storages import BaseStorage
from optuna.study import StudyDirection
from optuna.study._frozen import FrozenStudy
from optuna.trial import FrozenTrial, TrialState

from hypertune import errors
from hypertune.client import Client
from hypertune.optuna.sampler import metric_names, metric_specs
from hypertune.optuna.spaces import Parameter, safe_name
from hypertune.study import STUDIES, Study
from hypertune.trial import measurement

_NAMESPACE = "optuna"
_PER_STUDY = 1000000  # more than a study's trials: ids are unique over studies
_PAUSE, _LONGEST_PAUSE = 0.1, 1.0  # seconds between questions to a dead server

Items = Mapping[str, Optional[str]]  # metadata by key; None: not there


def _rows(trial: int, items: Items) -> List[Dict[str, Any]]:
    return [{"trial": trial, "ns": _NAMESPACE, "key": key,
             **({} if value is None else {"value": value})}
            for key, value in items.items()]


def _moment(text: str) -> Optional[datetime.datetime]:
    return datetime.datetime.fromisoformat(text) if text else None


def _text(moment: Optional[datetime.datetime]) -> str:
    return "" if moment is None else moment.isoformat()


def _items_of(trial: FrozenTrial) -> Dict[str, str]:
    """A whole trial as metadata."""
    items = {"state": trial.state.name,
             "start": _text(trial.datetime_start),
             "complete": _text(trial.datetime_complete),
             "values": json.dumps(trial.values)}
    for name, distribution in trial.distributions.items():
        items["param:" + name] = _param_text(
            distribution.to_internal_repr(trial.params[name]), distribution)
    for step, value in trial.intermediate_values.items():
        items["step:%d" % step] = json.dumps(value)
    for kind, attributes in (("user:", trial.user_attrs),
                             ("system:", trial.system_attrs)):
        for key, value in attributes.items():
            items[kind + key] = json.dumps(value)
    return items


def _param_text(internal: float, distribution: BaseDistribution) -> str:
    return json.dumps([internal, distribution_to_json(distribution)])


class _Record:
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
        self.names: Dict[str, str] = {}   # of parameters, on the server
        self.ranges: Dict[str, BaseDistribution] = {}
        self.told: Set[Tuple[str, str]] = set()  # ranges the server knows

    def directions(self) -> List[StudyDirection]:
        return [StudyDirection.MAXIMIZE if metric["goal"] == "MAXIMIZE"
                else StudyDirection.MINIMIZE
                for metric in self.remote._spec["metrics"]]

    def apply(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Takes over what was written, in the order of the writing."""
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
            trial_id=self.remote.id * _PER_STUDY + number)

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
            self.ranges.setdefault(name, distribution)
        elif kind == "step":
            trial.intermediate_values[int(name)] = json.loads(value)
        elif kind == "user":
            trial.user_attrs[name] = json.loads(value)
        elif kind == "system":
            trial.system_attrs[name] = json.loads(value)
        elif kind == "owner":
            self.owners[value] = trial.number
        elif kind == "state":
            trial.state = TrialState[value]
        elif kind == "values":
            trial.values = json.loads(value)
        elif kind == "start":
            trial.datetime_start = _moment(value)
        elif kind == "complete":
            trial.datetime_complete = _moment(value)


class Storage(BaseStorage):
    """Keeps Optuna's studies on a server::

        study = optuna.create_study(
            study_name="digits", storage=hypertune.optuna.Storage(),
            load_if_exists=True)

    url             the server; without it, and without `client`, the one of
                    the command line
    client          a hypertune.Client to use instead
    early_stopping  the rule that Pruner() asks, as `earlyStopping` of a spec:
                    "median" (default), "decay", {"rule": "asha", ...}
    patience        seconds that a call waits for a server that is away; what
                    it asks for is then done once

    Threads and processes may work at one study; who takes or ends a trial is
    decided by the server. A trial whose process dies stays RUNNING.
    """

    def __init__(self, url: Optional[str] = None,
                 client: Optional[Client] = None,
                 token_file: Union[None, str, "os.PathLike[str]"] = None,
                 early_stopping: Any = "median", patience: float = 60.0):
        self._client = client or Client(url, token_file)
        self._early_stopping = early_stopping
        self._patience = patience
        self._records: Dict[int, _Record] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> Dict[str, Any]:
        state = self.__dict__.copy()
        state["_records"] = {}
        del state["_lock"]
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    # --- asking the server ---

    def _patiently(self, ask: Callable[[], Any],
                   was_done: Callable[[], Any] = lambda: None) -> Any:
        """Asks until the server is there. `was_done` tells whether a question
        whose answer was lost had its effect."""
        deadline = time.monotonic() + self._patience
        pause = _PAUSE
        while True:
            try:
                return ask()
            except errors.Unavailable:
                if time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            try:
                done = was_done()
            except errors.Unavailable:
                continue
            if done is not None:
                return done

    def _call(self, method: str, path: str, body: Any = None,
              query: Optional[Dict[str, Any]] = None) -> Any:
        """For questions that may be repeated."""
        return self._patiently(lambda: self._client._transport.call(
            method, path, body, query))

    def _record(self, study_id: int) -> _Record:
        """KeyError when there is no such study."""
        with self._lock:
            if study_id in self._records:
                return self._records[study_id]
        try:
            resource = self._call("GET", "/hypertune/v1/studies/%d" %
                                  int(study_id))
        except (errors.NotFound, errors.InvalidArgument):
            raise KeyError("there is no study %s" % study_id) from None
        return self._adopt(resource)

    def _adopt(self, resource: Mapping[str, Any]) -> _Record:
        if not resource["hypertuneStatus"].get("openSpace"):
            raise KeyError("%s is no study of Optuna" %
                           resource.get("displayName"))
        remote = self._client._study(resource)
        with self._lock:
            if remote.id in self._records:
                return self._records[remote.id]
            record = _Record(remote, resource["displayName"])
            self._records[remote.id] = record
        with record.lock:
            self._sync(record)
        self._repair(record, resource["hypertuneStatus"]["counts"])
        return record

    def _repair(self, record: _Record, counts: Mapping[str, int]) -> None:
        """Ends trials whose process wrote that they had ended, and died
        before it could tell them."""
        ended = [trial for trial in record.trials if trial.state.is_finished()]
        closed = sum(counts[state] for state in (
            "succeeded", "stopped", "failed", "infeasible", "cancelled"))
        if closed >= len(ended):
            return
        still_open = {trial.id for trial in record.remote.trials(
            state=("REQUESTED", "ACTIVE", "STOPPING"))}
        for trial in ended:
            if trial.number + 1 in still_open:
                self._show_end(record, trial.number, trial.state,
                               trial.values)

    def _synced(self, study_id: int) -> _Record:
        """The record, as new as the server."""
        record = self._record(study_id)
        with record.lock:
            self._sync(record)
        return record

    def _sync(self, record: _Record) -> None:
        more = True
        while more:
            try:
                answer = self._call("GET", record.remote._ours("/metadata"),
                                    query={"since": record.version})
            except errors.NotFound:
                with self._lock:
                    self._records.pop(record.remote.id, None)
                raise KeyError("study %s was deleted" % record.name) from None
            record.apply([row for row in answer["metadata"]
                          if row["ns"] == _NAMESPACE])
            record.version = answer["version"]
            more = answer["more"]

    def _of_trial(self, trial_id: int) -> Tuple[_Record, FrozenTrial]:
        """KeyError when there is no such trial. One that has ended is not
        asked for again: it stays as it is."""
        record = self._record(trial_id // _PER_STUDY)
        number = trial_id % _PER_STUDY
        with record.lock:
            known = number < len(record.trials)
            if not known or not record.trials[number].state.is_finished():
                self._sync(record)
            if number >= len(record.trials):
                raise KeyError("there is no trial %d" % trial_id)
            return record, record.trials[number]

    def _patch(self, record: _Record, trial: int, items: Items,
               expect: Items) -> None:
        self._call("PATCH", record.remote._ours("/metadata"),
                   {"metadata": _rows(trial, items),
                    "expect": _rows(trial, expect)})

    def _set(self, trial_id: int, items: Items) -> _Record:
        """Writes about a trial that has not ended. RuntimeError if it has."""
        while True:
            record, trial = self._of_trial(trial_id)
            self.check_trial_is_updatable(trial_id, trial.state)
            try:
                self._patch(record, trial.number + 1, items,
                            {"state": trial.state.name})
                return record
            except errors.Conflict:
                continue  # somebody has moved it

    def _show(self, record: _Record, number: int, verb: str,
              body: Mapping[str, Any]) -> None:
        """Tells the trial itself. What our API has no words for, such as a
        report of an earlier step, is known to Optuna alone."""
        try:
            self._call("POST", "%s/%d:%s" % (
                record.remote._ours("/trials") if verb == "define"
                else record.remote._trials_path(), number + 1, verb), body)
        except (errors.InvalidArgument, errors.FailedPrecondition,
                errors.NotFound, errors.ResourceExhausted):
            pass

    # --- studies ---

    def create_new_study(self, directions: Sequence[StudyDirection],
                         study_name: Optional[str] = None) -> int:
        name = study_name or "no-name-%s" % uuid.uuid4()
        own: Dict[str, Any] = {"openSpace": True}
        if self._early_stopping and len(directions) == 1:
            own["earlyStopping"] = self._early_stopping
        try:
            resource = self._client._transport.call(
                "POST", "%s/%s" % (self._client._home, STUDIES),
                {"displayName": name, "hypertune": own,
                 "studySpec": {"metrics": metric_specs(directions),
                               "parameters": []}})
        except errors.Conflict:
            raise DuplicatedStudyError(
                "there is a study %s already" % name) from None
        return self._adopt(resource).remote.id

    def delete_study(self, study_id: int) -> None:
        record = self._record(study_id)
        try:
            self._call("DELETE", "%s/%s/%d" % (self._client._home, STUDIES,
                                               study_id))
        except errors.NotFound:
            raise KeyError("study %s was deleted" % record.name) from None
        finally:
            with self._lock:
                self._records.pop(study_id, None)

    def _set_study(self, study_id: int, key: str, value: Any) -> None:
        record = self._synced(study_id)
        self._patch(record, 0, {key: json.dumps(value)}, {})

    def set_study_user_attr(self, study_id: int, key: str,
                            value: Any) -> None:
        self._set_study(study_id, "user:" + key, value)

    def set_study_system_attr(self, study_id: int, key: str,
                              value: Any) -> None:
        self._set_study(study_id, "system:" + key, value)

    def get_study_id_from_name(self, study_name: str) -> int:
        try:
            resource = self._call(
                "POST", "%s/%s:lookup" % (self._client._home, STUDIES),
                {"displayName": study_name})
        except errors.NotFound:
            raise KeyError("there is no study %s" % study_name) from None
        return self._adopt(resource).remote.id

    def get_study_name_from_id(self, study_id: int) -> str:
        return self._synced(study_id).name

    def get_study_directions(self, study_id: int) -> List[StudyDirection]:
        return self._record(study_id).directions()

    def get_study_user_attrs(self, study_id: int) -> Dict[str, Any]:
        return copy.deepcopy(self._synced(study_id).user)

    def get_study_system_attrs(self, study_id: int) -> Dict[str, Any]:
        return copy.deepcopy(self._synced(study_id).system)

    def get_all_studies(self) -> List[FrozenStudy]:
        found = []
        for study in self._patiently(
                lambda: list(self._client._list(STUDIES))):
            try:
                record = self._synced(study.id)
            except KeyError:
                continue  # another kind of study, or deleted meanwhile
            found.append(FrozenStudy(
                study_name=record.name, direction=None,
                directions=record.directions(),
                user_attrs=copy.deepcopy(record.user),
                system_attrs=copy.deepcopy(record.system),
                study_id=record.remote.id))
        return sorted(found)

    # --- trials ---

    def create_new_trial(self, study_id: int,
                         template_trial: Optional[FrozenTrial] = None) -> int:
        record = self._synced(study_id)
        owner = uuid.uuid4().hex
        items = {"state": "RUNNING", "start": _text(datetime.datetime.now())}
        if template_trial is not None:
            items = _items_of(template_trial)
        waits = items["state"] == "WAITING"
        path = record.remote._ours("/trials:open")
        body = {"state": "REQUESTED" if waits else "ACTIVE",
                "metadata": _rows(0, {**items, "owner": owner})}

        def was_made() -> Optional[int]:
            with record.lock:
                self._sync(record)
            return record.owners.get(owner)

        number: int = self._patiently(lambda: int(
            self._client._transport.call("POST", path, body)["id"]) - 1,
            was_made)
        if template_trial is not None and not waits:
            self._show_whole(record, number, template_trial)
        return study_id * _PER_STUDY + number

    def _show_whole(self, record: _Record, number: int,
                    trial: FrozenTrial) -> None:
        for name, distribution in trial.distributions.items():
            self._show_param(record, number, name, distribution,
                             trial.params[name])
        for step, value in sorted(trial.intermediate_values.items()):
            self._show_report(record, number, step, value)
        if trial.state.is_finished():
            self._show_end(record, number, trial.state, trial.values)

    def set_trial_param(self, trial_id: int, param_name: str,
                        param_value_internal: float,
                        distribution: BaseDistribution) -> None:
        record, trial = self._of_trial(trial_id)
        self.check_trial_is_updatable(trial_id, trial.state)
        if param_name in record.ranges:
            check_distribution_compatibility(record.ranges[param_name],
                                             distribution)
        self._set(trial_id, {"param:" + param_name: _param_text(
            param_value_internal, distribution)})
        self._show_param(record, trial.number, param_name, distribution,
                         distribution.to_external_repr(param_value_internal))

    def _show_param(self, record: _Record, number: int, name: str,
                    distribution: BaseDistribution, value: Any) -> None:
        with record.lock:
            if name not in record.names:
                record.names[name] = safe_name(
                    name, set(record.names.values()))
            known = (name, distribution_to_json(distribution))
            is_new = known not in record.told
            record.told.add(known)
        parameter = Parameter(record.names[name], distribution)
        body: Dict[str, Any] = {"parameters": [
            {"parameterId": parameter.name, "value": parameter.told(value)}]}
        if is_new:
            body["parameterSpecs"] = [parameter.to_vertex()]
        self._show(record, number, "define", body)

    def set_trial_state_values(self, trial_id: int, state: TrialState,
                               values: Optional[Sequence[float]] = None
                               ) -> bool:
        record, trial = self._of_trial(trial_id)
        self.check_trial_is_updatable(trial_id, trial.state)
        if state == TrialState.RUNNING and trial.state != TrialState.WAITING:
            return False
        owner = uuid.uuid4().hex
        now = _text(datetime.datetime.now())
        items: Dict[str, str] = {"state": state.name, "owner": owner}
        if state == TrialState.RUNNING:
            items["start"] = now
        if state.is_finished():
            items["complete"] = now
        if values is not None:
            items["values"] = json.dumps([float(value) for value in values])
        try:
            self._patch(record, trial.number + 1, items,
                        {"state": trial.state.name})
        except errors.Conflict:
            # It was this very call when its first answer was lost.
            with record.lock:
                self._sync(record)
            if owner not in record.owners:
                return self._lost_race(trial_id, state)
        self._show_state(record, trial, state, values)
        return True

    def _lost_race(self, trial_id: int, state: TrialState) -> bool:
        if state == TrialState.RUNNING:
            return False
        self.check_trial_is_updatable(trial_id, self.get_trial(trial_id).state)
        return self.set_trial_state_values(trial_id, state)

    def _show_state(self, record: _Record, trial: FrozenTrial,
                    state: TrialState,
                    values: Optional[Sequence[float]]) -> None:
        if state == TrialState.RUNNING:
            self._show(record, trial.number, "define", {})
        elif state.is_finished():
            self._show_end(record, trial.number, state,
                           trial.values if values is None else values)

    def _show_end(self, record: _Record, number: int, state: TrialState,
                  values: Optional[Sequence[float]]) -> None:
        names = metric_names(record.directions())
        if state == TrialState.FAIL or values is None:
            self._show(record, number, "complete", {
                "trialInfeasible": True,
                "infeasibleReason": "%s in Optuna" % state.name})
            return
        if state == TrialState.PRUNED:
            self._show(record, number, "stop", {})
        steps = record.trials[number].intermediate_values if number < len(
            record.trials) else {}
        self._show(record, number, "complete", {
            "finalMeasurement": measurement(dict(zip(names, values)),
                                            max(steps) if steps else None)})

    def set_trial_intermediate_value(self, trial_id: int, step: int,
                                     intermediate_value: float) -> None:
        record = self._set(trial_id, {
            "step:%d" % step: json.dumps(float(intermediate_value))})
        self._show_report(record, trial_id % _PER_STUDY, step,
                          intermediate_value)

    def _show_report(self, record: _Record, number: int, step: int,
                     value: float) -> None:
        name = metric_names(record.directions())[0]
        self._show(record, number, "addTrialMeasurement", {
            "measurement": measurement({name: value}, step)})

    def set_trial_user_attr(self, trial_id: int, key: str,
                            value: Any) -> None:
        self._set(trial_id, {"user:" + key: json.dumps(value)})

    def set_trial_system_attr(self, trial_id: int, key: str,
                              value: Any) -> None:
        self._set(trial_id, {"system:" + key: json.dumps(value)})

    def get_trial(self, trial_id: int) -> FrozenTrial:
        return self._of_trial(trial_id)[1]

    def get_trial_id_from_study_id_trial_number(self, study_id: int,
                                                trial_number: int) -> int:
        if trial_number >= len(self._synced(study_id).trials):
            raise KeyError("study %d has no trial number %d" %
                           (study_id, trial_number))
        return study_id * _PER_STUDY + trial_number

    def get_all_trials(self, study_id: int, deepcopy: bool = True,
                       states: Optional[Container[TrialState]] = None
                       ) -> List[FrozenTrial]:
        trials = [trial for trial in self._synced(study_id).trials
                  if states is None or trial.state in states]
        return copy.deepcopy(trials) if deepcopy else trials

    def should_stop(self, trial_id: int) -> bool:
        """Asks the server's early stopping whether the trial is worth it."""
        record = self._record(trial_id // _PER_STUDY)
        operation = self._call(
            "POST", "%s/%d:checkTrialEarlyStoppingState" % (
                record.remote._trials_path(), trial_id % _PER_STUDY + 1), {})
        return bool(errors.response_of(operation).get("shouldStop", False))
