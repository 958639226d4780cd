"""A storage for Optuna that keeps its data on this server.

An Optuna study is a study of clients with an open space. What Optuna has
of its trials is their metadata (record.py), and decides; the trials themselves
are updated (mirror.py).
"""
import copy
import datetime
import json
import os
import threading
import uuid
from typing import (TYPE_CHECKING, Any, Callable, Container, Dict, List,
                    Mapping, Optional, Sequence, Tuple, Union)

from optuna.distributions import (BaseDistribution,
                                  check_distribution_compatibility)
from optuna.exceptions import DuplicatedStudyError
from optuna.storages import BaseStorage
from optuna.storages._heartbeat import BaseHeartbeat
from optuna.study import StudyDirection
from optuna.study._frozen import FrozenStudy
from optuna.trial import FrozenTrial, TrialState

from hypertune import errors
from hypertune.client import Client
from hypertune.optuna.copies import label_of
from hypertune.optuna.line import Line
from hypertune.optuna.mirror import Mirror, metric_specs
from hypertune.optuna.record import (PER_STUDY, Items, Record,
                                     attribute_text, items_of, param_text,
                                     rows_of, time_text)
from hypertune.study import STUDIES

if TYPE_CHECKING:
    import optuna

Failed = Callable[["optuna.Study", FrozenTrial], None]


class Storage(BaseStorage, BaseHeartbeat):
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

    heartbeat_interval, grace_period, failed_trial_callback  as of Optuna's
                    RDBStorage: optimize() reports every so many seconds that
                    its trials are alive; those of which nothing was heard for
                    the grace period, by default twice the interval, are
                    failed by the next optimize() anywhere, and the callback,
                    such as RetryFailedTrialCallback(), is called for each

    Threads and processes may work at one study; who takes or ends a trial is
    decided by the server. Without a heartbeat a trial whose process dies stays
    RUNNING.
    """

    def __init__(self, url: Optional[str] = None,
                 client: Optional[Client] = None,
                 token_file: Union[None, str, "os.PathLike[str]"] = None,
                 early_stopping: Any = "median", patience: float = 60.0,
                 heartbeat_interval: Optional[int] = None,
                 grace_period: Optional[int] = None,
                 failed_trial_callback: Optional[Failed] = None):
        for name, seconds in (("heartbeat_interval", heartbeat_interval),
                              ("grace_period", grace_period)):
            if seconds is not None and seconds <= 0:
                raise ValueError("%s is a positive number of seconds: %r" %
                                 (name, seconds))
        self._client = client or Client(url, token_file)
        self._early_stopping = early_stopping
        self._heartbeat_interval = heartbeat_interval
        self._grace_period = grace_period
        self._failed_trial_callback = failed_trial_callback
        self._line = Line(self._client, patience)
        self._mirror = Mirror(self._line)
        self._records: Dict[int, Record] = {}
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

    def _record(self, study_id: int) -> Record:
        """KeyError when there is no such study."""
        with self._lock:
            if study_id in self._records:
                return self._records[study_id]
        try:
            resource = self._line.call("GET", "/hypertune/v1/studies/%d" %
                                       int(study_id))
        except (errors.NotFound, errors.InvalidArgument):
            raise KeyError("there is no study %s" % study_id) from None
        return self._adopt(resource)

    def _adopt(self, resource: Mapping[str, Any]) -> Record:
        if not resource["hypertuneStatus"].get("openSpace"):
            raise KeyError("%s is no study of Optuna" %
                           resource.get("displayName"))
        if label_of(resource) is not None:
            raise KeyError("%s has copies of trials that another storage of "
                           "Optuna's keeps" % resource["displayName"])
        remote = self._client._study(resource)
        with self._lock:
            if remote.id in self._records:
                return self._records[remote.id]
            record = Record(remote, resource["displayName"])
            self._records[remote.id] = record
        with record.lock:
            self._sync(record)
        self._mirror.repair(record, resource["hypertuneStatus"]["counts"])
        return record

    def _synced(self, study_id: int) -> Record:
        """The record, as new as the server."""
        record = self._record(study_id)
        with record.lock:
            self._sync(record)
        return record

    def _sync(self, record: Record) -> None:
        more = True
        while more:
            try:
                answer = self._line.call(
                    "GET", record.remote._ours("/metadata"),
                    query={"since": record.version})
            except errors.NotFound:
                with self._lock:
                    self._records.pop(record.remote.id, None)
                raise KeyError("study %s was deleted" % record.name) from None
            more = record.take(answer)

    def _of_trial(self, trial_id: int) -> Tuple[Record, FrozenTrial]:
        """KeyError when there is no such trial. One that has ended is not
        asked for again: it stays as it is."""
        record = self._record(trial_id // PER_STUDY)
        number = trial_id % PER_STUDY
        with record.lock:
            known = number < len(record.trials)
            if not known or not record.trials[number].state.is_finished():
                self._sync(record)
            if number >= len(record.trials):
                raise KeyError("there is no trial %d" % trial_id)
            return record, record.trials[number]

    def _patch(self, record: Record, trial: int, items: Items,
               expect: Items) -> None:
        self._line.call("PATCH", record.remote._ours("/metadata"),
                        {"metadata": rows_of(trial, items),
                         "expect": rows_of(trial, expect)})

    def _set(self, trial_id: int, items: Items) -> Record:
        """Writes about a trial that has not ended. RuntimeError if it has."""
        while True:
            record, trial = self._of_trial(trial_id)
            self.check_trial_is_updatable(trial_id, trial.state)
            try:
                self._patch(record, trial.number + 1, items,
                            {"state": trial.state.name})
                return record
            except errors.Conflict:
                continue  # another process has moved it

    # --- studies ---

    def create_new_study(self, directions: Sequence[StudyDirection],
                         study_name: Optional[str] = None) -> int:
        name = study_name or "no-name-%s" % uuid.uuid4()
        own: Dict[str, Any] = {"openSpace": True}
        if self._early_stopping and len(directions) == 1:
            own["earlyStopping"] = self._early_stopping
        try:
            resource = self._line.call(
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
            self._line.call("DELETE", "%s/%s/%d" % (self._client._home,
                                                    STUDIES, study_id))
        except errors.NotFound:
            raise KeyError("study %s was deleted" % record.name) from None
        finally:
            with self._lock:
                self._records.pop(study_id, None)

    def _set_study(self, study_id: int, key: str, value: Any) -> None:
        record = self._synced(study_id)
        self._patch(record, 0, {key: attribute_text(value)}, {})

    def set_study_user_attr(self, study_id: int, key: str,
                            value: Any) -> None:
        self._set_study(study_id, "user:" + key, value)

    def set_study_system_attr(self, study_id: int, key: str,
                              value: Any) -> None:
        self._set_study(study_id, "system:" + key, value)

    def get_study_id_from_name(self, study_name: str) -> int:
        try:
            resource = self._line.call(
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
        for study in self._line.patiently(
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
        items = {"state": "RUNNING",
                 "start": time_text(datetime.datetime.now())}
        if template_trial is not None:
            items = items_of(template_trial)
        waits = items["state"] == "WAITING"
        path = record.remote._ours("/trials:open")
        body = {"state": "REQUESTED" if waits else "ACTIVE",
                "metadata": rows_of(0, {**items, "owner": owner})}

        def was_made() -> Optional[int]:
            with record.lock:
                self._sync(record)
            return record.owners.get(owner)

        number: int = self._line.patiently(lambda: int(
            self._client._transport.call("POST", path, body)["id"]) - 1,
            was_made)
        if template_trial is not None and not waits:
            self._mirror.whole(record, number, template_trial)
        return study_id * PER_STUDY + number

    def set_trial_param(self, trial_id: int, param_name: str,
                        param_value_internal: float,
                        distribution: BaseDistribution) -> None:
        record, trial = self._of_trial(trial_id)
        self.check_trial_is_updatable(trial_id, trial.state)
        if param_name in record.ranges:
            check_distribution_compatibility(record.ranges[param_name],
                                             distribution)
        self._set(trial_id, {"param:" + param_name: param_text(
            param_value_internal, distribution)})
        self._mirror.params(
            record, trial.number, {param_name: distribution},
            {param_name: distribution.to_external_repr(param_value_internal)})

    def set_trial_state_values(self, trial_id: int, state: TrialState,
                               values: Optional[Sequence[float]] = None
                               ) -> bool:
        record, trial = self._of_trial(trial_id)
        self.check_trial_is_updatable(trial_id, trial.state)
        if state == TrialState.RUNNING and trial.state != TrialState.WAITING:
            return False
        owner = uuid.uuid4().hex
        now = time_text(datetime.datetime.now())
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
        self._mirror.moved(record, trial, state, values)
        return True

    def _lost_race(self, trial_id: int, state: TrialState) -> bool:
        if state == TrialState.RUNNING:
            return False
        self.check_trial_is_updatable(trial_id, self.get_trial(trial_id).state)
        return self.set_trial_state_values(trial_id, state)

    def set_trial_intermediate_value(self, trial_id: int, step: int,
                                     intermediate_value: float) -> None:
        record = self._set(trial_id, {
            "step:%d" % step: json.dumps(float(intermediate_value))})
        self._mirror.report(record, trial_id % PER_STUDY, step,
                          intermediate_value)

    def set_trial_user_attr(self, trial_id: int, key: str,
                            value: Any) -> None:
        self._set(trial_id, {"user:" + key: attribute_text(value)})

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
        return study_id * PER_STUDY + trial_number

    def get_all_trials(self, study_id: int, deepcopy: bool = True,
                       states: Optional[Container[TrialState]] = None
                       ) -> List[FrozenTrial]:
        trials = [trial for trial in self._synced(study_id).trials
                  if states is None or trial.state in states]
        return copy.deepcopy(trials) if deepcopy else trials

    def should_stop(self, trial_id: int) -> bool:
        """Asks the server's early stopping whether the trial is worth it."""
        record = self._record(trial_id // PER_STUDY)
        operation = self._line.call(
            "POST", "%s/%d:checkTrialEarlyStoppingState" % (
                record.remote._trials_path(), trial_id % PER_STUDY + 1), {})
        return bool(errors.response_of(operation).get("shouldStop", False))

    # --- trials whose process died ---

    def get_heartbeat_interval(self) -> Optional[int]:
        return self._heartbeat_interval

    def get_failed_trial_callback(self) -> Optional[Failed]:
        return self._failed_trial_callback

    # The name since Optuna 4.9.
    get_heartbeat_stale_trial_callback = get_failed_trial_callback

    def record_heartbeat(self, trial_id: int) -> None:
        record = self._record(trial_id // PER_STUDY)
        try:
            self._set(trial_id, {"beat": str(record.now_ms())})
        except (RuntimeError, errors.Unavailable):
            pass  # it has just ended; or the next beat comes through

    def _get_stale_trial_ids(self, study_id: int) -> List[int]:
        """Each to one of all who ask, to whom it is then as if it lived: what
        that one does not do to it the next will, a grace period later."""
        record = self._synced(study_id)
        grace = self._grace_period or 2 * (self._heartbeat_interval or 0)
        latest = record.now_ms() - 1000 * grace
        return [trial._trial_id for trial in record.trials
                if trial.state == TrialState.RUNNING and
                record.beats.get(trial.number, latest) < latest and
                self._takes_over(record, trial)]

    def _takes_over(self, record: Record, trial: FrozenTrial) -> bool:
        seen = str(record.beats[trial.number])
        try:
            self._patch(record, trial.number + 1,
                        {"beat": str(record.now_ms())},
                        {"state": "RUNNING", "beat": seen})
            return True
        except errors.Conflict:
            return False  # another process was first, or it is alive
