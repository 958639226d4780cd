"""A sampler of Optuna's that asks this server for every next point."""
import hashlib
import os
import re
import threading
import uuid
from typing import (Any, Callable, Dict, Iterator, List, Mapping, Optional,
                    Sequence, Set, Tuple, Union)

import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from hypertune import errors
from hypertune.client import ALGORITHMS, Client
from hypertune.optuna.record import rows_of
from hypertune.optuna.spaces import Space
from hypertune.study import STUDIES, Study
from hypertune.trial import Trial

_TRIAL = "hypertune:trial"    # of a trial: what the server calls it
_CONSTRAINTS = "constraints"  # where Optuna's own samplers keep them
_ENDED = (TrialState.COMPLETE, TrialState.PRUNED)

Constraints = Callable[[FrozenTrial], Sequence[float]]


def metric_names(directions: Sequence[StudyDirection]) -> List[str]:
    """What the server calls the objective values."""
    if len(directions) == 1:
        return ["value"]
    return ["value_%d" % i for i in range(len(directions))]


def metric_specs(directions: Sequence[StudyDirection],
                 constraints: int = 0) -> List[Dict[str, Any]]:
    """MetricSpecs of the values, then of constraints, which hold up to 0."""
    specs: List[Dict[str, Any]] = [
        {"metricId": name,
         "goal": "MAXIMIZE" if direction == StudyDirection.MAXIMIZE
         else "MINIMIZE"}
        for name, direction in zip(metric_names(directions), directions)]
    specs += [{"metricId": "constraint_%d" % i, "goal": "MINIMIZE",
               "safetyConfig": {"safetyThreshold": 0.0}}
              for i in range(constraints)]
    return specs


class _Session:
    """One of the server's studies: the trials of an Optuna study that have
    one search space."""

    def __init__(self, remote: Study, space: Space, names: List[str]):
        self.remote = remote
        self.space = space
        self._names = names  # of the metrics, constraints behind values
        self._over: Set[int] = set()  # trials of the server whose end was sent

    def number_of(self, trial: FrozenTrial) -> Optional[int]:
        """The server's trial that was suggested for it, if it was here."""
        known = trial.system_attrs.get(_TRIAL)
        return known[1] if known and known[0] == self.remote.id else None

    def suggested(self, trial: FrozenTrial) -> Optional[Trial]:
        number = self.number_of(trial)
        return None if number is None else self.remote.trial(number)

    def give_up(self, trials: Sequence[FrozenTrial]) -> None:
        """Ends what was suggested for trials that have failed untold: their
        process died, and no other continues with them."""
        kept = {self.number_of(trial) for trial in trials
                if not trial.state.is_finished()} | self._over
        for trial in trials:
            number = self.number_of(trial)
            if (number is None or number in kept or
                    trial.state != TrialState.FAIL):
                continue
            self._over.add(number)
            try:
                self.remote.trial(number).infeasible("FAIL in Optuna")
            except (errors.FailedPrecondition, errors.NotFound):
                pass  # it was sent

    def metrics(self, values: Sequence[float],
                constraints: Sequence[float]) -> Dict[str, float]:
        return dict(zip(self._names, list(values) + list(constraints)))

    def tell(self, trial: Trial, state: TrialState,
             metrics: Mapping[str, float]) -> None:
        """Ends an open trial of the server's as Optuna's ended."""
        self._over.add(trial.id)
        if state == TrialState.FAIL or len(metrics) < len(self._names):
            trial.infeasible("%s in Optuna" % state.name)
            return
        if state == TrialState.PRUNED:
            trial.stop()
        trial.complete(metrics)

    def add(self, trial: FrozenTrial, state: TrialState,
            metrics: Mapping[str, float]) -> None:
        """Tells of a trial that someone else chose, once for all processes
        that know of it."""
        complete = len(metrics) == len(self._names)
        if not (complete or state == TrialState.FAIL) or not self._claims(
                trial.number):
            return
        if complete:
            self.remote.add(self.space.wire_values(trial.params), metrics)
        else:
            self.remote.add(self.space.wire_values(trial.params)).infeasible(
                "FAIL in Optuna")

    def _claims(self, number: int) -> bool:
        """Is this the first process to send that trial of Optuna's?"""
        key = "told:%d" % number
        try:
            self.remote._transport.call(
                "PATCH", self.remote._ours("/metadata"),
                {"metadata": rows_of(0, {key: "yes"}),
                 "expect": rows_of(0, {key: None})})
            return True
        except errors.Conflict:
            return False


class Sampler(BaseSampler):
    """Suggests what this server's search suggests::

        study = optuna.create_study(sampler=hypertune.optuna.Sampler(seed=1))
        study.optimize(objective, n_trials=60)

    url               the server; without it, and without `client`, the one
                      of the command line
    client            a hypertune.Client to use instead
    seed              the same seed and results give the same suggestions
    algorithm         "bayesian" (default), "random" or "grid"
    search_space      distributions by name, to search from the first trial
                      on; without it, what all completed trials have in common
    constraints_func  as of Optuna's samplers: every value up to 0 is feasible
    independent_sampler  for parameters outside of that space; random

    The trials become a study of the server, one for each search space, to
    which earlier trials are sent first. It asks with its own client for
    each trial, so that threads and processes may share an Optuna study.
    """

    def __init__(self, url: Optional[str] = None,
                 client: Optional[Client] = None,
                 token_file: Union[None, str, "os.PathLike[str]"] = None,
                 seed: Optional[int] = None,
                 algorithm: Optional[str] = None,
                 search_space: Optional[Mapping[str, BaseDistribution]] = None,
                 constraints_func: Optional[Constraints] = None,
                 independent_sampler: Optional[BaseSampler] = None):
        if algorithm not in ALGORITHMS:
            raise ValueError("the algorithm is bayesian, random or grid: %r" %
                             algorithm)
        self._client = client or Client(url, token_file)
        self._seed = seed
        self._algorithm = ALGORITHMS[algorithm]
        self._search_space = dict(search_space or {})
        self._constraints_func = constraints_func
        self._independent = independent_sampler or RandomSampler(seed)
        self._sessions: Dict[str, _Session] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> Dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"]
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def reseed_rng(self) -> None:
        self._independent.reseed_rng()

    # --- choosing ---

    def infer_relative_search_space(
            self, study: "optuna.Study",
            trial: FrozenTrial) -> Dict[str, BaseDistribution]:
        return _searched(self._search_space or _common_space(study))

    def sample_relative(self, study: "optuna.Study", trial: FrozenTrial,
                        search_space: Dict[str, BaseDistribution]
                        ) -> Dict[str, Any]:
        if not search_space:
            return {}
        session = self._session(study, search_space)
        if session is None:
            return {}
        session.give_up(study.get_trials(deepcopy=False))
        suggested = self._suggest(session, trial)
        if suggested is None:  # the space is used up
            return {}
        study._storage.set_trial_system_attr(
            trial._trial_id, _TRIAL, [session.remote.id, suggested.id])
        return session.space.asked(suggested.params)

    def sample_independent(self, study: "optuna.Study", trial: FrozenTrial,
                           param_name: str,
                           param_distribution: BaseDistribution) -> Any:
        return self._independent.sample_independent(
            study, trial, param_name, param_distribution)

    @staticmethod
    def _suggest(session: _Session, trial: FrozenTrial) -> Optional[Trial]:
        fixed = session.space.wire_values(
            trial.system_attrs.get("fixed_params", {}))
        given = session.suggested(trial)
        if given is not None and given.is_open:
            return given  # to the trial that this one is the retry of
        # No one else has this name: a trial that its process has left behind
        # is not given to the next one.
        asker = "optuna-%d-%s" % (trial.number, uuid.uuid4().hex[:12])
        found = session.remote.suggest(1, asker, [fixed] if fixed else None)
        return found[0] if found else None

    # --- telling ---

    def after_trial(self, study: "optuna.Study", trial: FrozenTrial,
                    state: TrialState,
                    values: Optional[Sequence[float]]) -> None:
        constraints = self._keep_constraints(study, trial, state)
        self._independent.after_trial(study, trial, state, values)
        with self._lock:
            sessions = list(self._sessions.values())
        for session in sessions:
            metrics = session.metrics(values or (), constraints)
            suggested = session.suggested(trial)
            if not session.space.holds(trial.params):
                if suggested is not None:
                    suggested.infeasible("%s in Optuna" % state.name)
            elif suggested is None:
                session.add(trial, state, metrics)
            elif suggested.params == session.space.wire_values(trial.params):
                session.tell(suggested, state, metrics)
            else:  # the objective took its own values
                suggested.delete()
                session.add(trial, state, metrics)

    def _keep_constraints(self, study: "optuna.Study", trial: FrozenTrial,
                          state: TrialState) -> Tuple[float, ...]:
        if self._constraints_func is None or state not in _ENDED:
            return ()
        constraints = tuple(float(value)
                            for value in self._constraints_func(trial))
        if any(value != value for value in constraints):
            raise ValueError("a constraint is NaN")
        study._storage.set_trial_system_attr(trial._trial_id, _CONSTRAINTS,
                                             constraints)
        return constraints

    # --- the server's studies ---

    def _session(self, study: "optuna.Study",
                 search_space: Mapping[str, BaseDistribution]
                 ) -> Optional[_Session]:
        """None while it is not known which study it is, or how many
        constraints there are."""
        constraints = 0
        family = _family(study)
        if family is None:
            return None
        if self._constraints_func is not None:
            known = [trial.system_attrs[_CONSTRAINTS]
                     for trial in _ended(study)
                     if trial.system_attrs.get(_CONSTRAINTS) is not None]
            if not known:
                return None
            constraints = len(known[0])
        space = Space(search_space)
        with self._lock:
            key = "%s %s %d" % (family, space.key(), constraints)
            if key not in self._sessions:
                specs = metric_specs(study.directions, constraints)
                session = _Session(
                    self._open(study, key, space, specs), space,
                    [spec["metricId"] for spec in specs])
                self._catch_up(study, session)
                self._sessions[key] = session
            return self._sessions[key]

    def _open(self, study: "optuna.Study", key: str, space: Space,
              metrics: List[Dict[str, Any]]) -> Study:
        """Makes the server's study, or joins the one of another process."""
        digest = hashlib.sha256(key.encode()).hexdigest()[:8]
        title = re.sub(r"[^A-Za-z0-9_.-]+", "-", study.study_name)
        name = "%s-%s" % (title.strip("-")[:100] or "optuna", digest)
        spec: Dict[str, Any] = {"metrics": metrics,
                                "parameters": space.to_vertex()}
        own: Dict[str, Any] = {"name": name}
        if self._algorithm:
            spec["algorithm"] = self._algorithm
        if self._seed is not None:
            own["seed"] = str(int(self._seed))
        if space.steps():
            own["parameters"] = space.steps()
        try:
            return self._client._create(STUDIES, {
                "displayName": name, "studySpec": spec, "hypertune": own})
        except errors.Conflict:
            return self._client.study(name)

    @staticmethod
    def _catch_up(study: "optuna.Study", session: _Session) -> None:
        """Sends the server what it lacks of this study."""
        still_open = {trial.id: trial for trial in session.remote.trials()
                      if trial.is_open}
        for trial in _ended(study):
            if not session.space.holds(trial.params):
                continue
            metrics = session.metrics(
                trial.values or (), trial.system_attrs.get(_CONSTRAINTS) or ())
            number = session.number_of(trial)
            if number is None:
                session.add(trial, trial.state, metrics)
            elif number in still_open:  # its process could not send it
                session.tell(still_open[number], trial.state, metrics)


def _ended(study: "optuna.Study") -> Iterator[FrozenTrial]:
    return (trial for trial in study.get_trials(deepcopy=False)
            if trial.state in _ENDED)


def _searched(space: Mapping[str, BaseDistribution]
              ) -> Dict[str, BaseDistribution]:
    """Those with a choice; Optuna asks no sampler for the others."""
    return {name: distribution for name, distribution in space.items()
            if not distribution.single()}


def _common_space(study: "optuna.Study") -> Dict[str, BaseDistribution]:
    """What every completed trial has, with the same range."""
    common: Optional[Dict[str, BaseDistribution]] = None
    for trial in _ended(study):
        if common is None:
            common = dict(trial.distributions)
        common = {name: distribution for name, distribution in common.items()
                  if trial.distributions.get(name) == distribution}
    return common or {}


def _family(study: "optuna.Study") -> Optional[str]:
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
