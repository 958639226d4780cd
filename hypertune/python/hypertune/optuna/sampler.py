"""A sampler of Optuna's that asks this server for every next point."""
import os
import threading
from typing import (Any, Callable, Dict, Iterator, Mapping, Optional, Sequence,
                    Union)

import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.trial import FrozenTrial, TrialState

from hypertune.client import ALGORITHMS, Client
from hypertune.optuna.copies import Copies, family
from hypertune.optuna.mirror import CONSTRAINTS
from hypertune.optuna.storage import Storage

_ENDED = (TrialState.COMPLETE, TrialState.PRUNED)

_COMMON_LEAST = 10  # trials that show which parameters all have

Constraints = Callable[[FrozenTrial], Sequence[float]]


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
    independent_sampler  for parameters outside of that space; without it they
                      are searched, too, beside what the trial has so far

    All trials are in one study of the server, however the space grows: the one
    of the study's Storage, which is then asked whatever `url` and `client`
    say; with another storage of Optuna's, one of the same name, to which
    earlier trials are sent first. Threads and processes may share an Optuna
    study.
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
        self._independent = independent_sampler
        self._drawn = RandomSampler(seed)  # where the server has no point
        self._copies: Dict[str, Copies] = {}  # by family
        self._lock = threading.Lock()

    def __getstate__(self) -> Dict[str, Any]:
        state = self.__dict__.copy()
        state["_copies"] = {}
        del state["_lock"]
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def reseed_rng(self) -> None:
        for sampler in (self._independent, self._drawn):
            if sampler is not None:
                sampler.reseed_rng()

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
        return self._suggest(study, trial, search_space, {
            **trial.system_attrs.get("fixed_params", {}), **trial.params})

    def sample_independent(self, study: "optuna.Study", trial: FrozenTrial,
                           param_name: str,
                           param_distribution: BaseDistribution) -> Any:
        if self._independent is not None:
            return self._independent.sample_independent(
                study, trial, param_name, param_distribution)
        space = _searched({**trial.distributions,
                           param_name: param_distribution})
        found = self._suggest(study, trial, space, {
            name: value for name, value in trial.params.items()
            if name != param_name})
        if param_name in found:
            return found[param_name]
        return self._drawn.sample_independent(study, trial, param_name,
                                              param_distribution)

    def _suggest(self, study: "optuna.Study", trial: FrozenTrial,
                 space: Mapping[str, BaseDistribution],
                 given: Mapping[str, Any]) -> Dict[str, Any]:
        """Values of all of the space; {} when the server has none."""
        storage = study._storage
        if isinstance(storage, Storage):
            mirror, record = storage._mirror, storage._record(study._study_id)
            number = trial.number
        else:
            copies = self._copies_of(study)
            if copies is None:
                return {}
            mirror, record = copies.mirror, copies.record
            number = copies.number(study, trial)
        asked = record.space(space)
        return mirror.suggest(record, number, asked, asked.search(
            self._algorithm, self._seed), given)

    # --- telling ---

    def after_trial(self, study: "optuna.Study", trial: FrozenTrial,
                    state: TrialState,
                    values: Optional[Sequence[float]]) -> None:
        self._keep_constraints(study, trial, state)
        if self._independent is not None:
            self._independent.after_trial(study, trial, state, values)
        copies = None if isinstance(study._storage, Storage) else \
            self._copies_of(study)
        if copies is not None:  # with its constraints
            copies.end(study._storage.get_trial(trial._trial_id), state,
                       values)

    def _keep_constraints(self, study: "optuna.Study", trial: FrozenTrial,
                          state: TrialState) -> None:
        if self._constraints_func is None or state not in _ENDED:
            return
        constraints = tuple(float(value)
                            for value in self._constraints_func(trial))
        if any(value != value for value in constraints):
            raise ValueError("a constraint is NaN")
        study._storage.set_trial_system_attr(trial._trial_id, CONSTRAINTS,
                                             constraints)

    def _copies_of(self, study: "optuna.Study") -> Optional[Copies]:
        """None while it is not known which study it is."""
        name = family(study)
        if name is None:
            return None
        with self._lock:
            if name not in self._copies:
                self._copies[name] = Copies(self._client, study, name)
            return self._copies[name]


def _ended(study: "optuna.Study") -> Iterator[FrozenTrial]:
    return (trial for trial in study.get_trials(deepcopy=False)
            if trial.state in _ENDED)


def _searched(space: Mapping[str, BaseDistribution]
              ) -> Dict[str, BaseDistribution]:
    """Those with a choice; Optuna asks no sampler for the others."""
    return {name: distribution for name, distribution in space.items()
            if not distribution.single()}


def _common_space(study: "optuna.Study") -> Dict[str, BaseDistribution]:
    """What the newer half of the completed trials have in common, with the
    newest one's range: a space that has grown is searched as a whole."""
    common: Optional[Dict[str, BaseDistribution]] = None
    ended = list(_ended(study))
    for trial in ended[-max(_COMMON_LEAST, len(ended) // 2):]:
        common = {name: distribution
                  for name, distribution in trial.distributions.items()
                  if common is None or name in common}
    return common or {}
