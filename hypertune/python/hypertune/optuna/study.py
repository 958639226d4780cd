"""Making, loading, copying and deleting studies: on the server unless a storage
is named."""
import itertools
from typing import List, Optional, Sequence, Union

import optuna
from optuna.exceptions import DuplicatedStudyError
from optuna.pruners import BasePruner
from optuna.samplers import BaseSampler
from optuna.storages import BaseStorage
from optuna.study import StudyDirection, StudySummary

from hypertune.client import Client
from hypertune.optuna import modules
from hypertune.optuna.sampler import Sampler
from hypertune.optuna.storage import Storage

__path__: List[str] = []  # modules inside it are Optuna's
__getattr__ = modules.rest_of(__name__)

_log = optuna.logging.get_logger("optuna.hypertune")

Place = Union[None, str, BaseStorage]  # None: the server


def _kept(storage: Place) -> Union[str, BaseStorage]:
    """The storage that was named, or the server's.

    Unavailable at once when there is no server: a study that is about to begin
    has nothing to lose, and its user waits for an answer.
    """
    if storage is not None:
        return storage
    client = Client()
    client._transport.call("GET", "/hypertune/v1/server")
    return Storage(client=client)


def _searching(sampler: Optional[BaseSampler],
               storage: Union[str, BaseStorage]) -> BaseSampler:
    """The sampler that was given, or the search of the storage's server."""
    if sampler is not None:
        return sampler
    if isinstance(storage, Storage):
        return Sampler(client=storage._client)
    ours = Sampler()
    _log.info("The study is kept where storage= says; its points come from "
              "%s." % ours._client.server)
    return ours


def create_study(storage: Place = None, sampler: Optional[BaseSampler] = None,
                 pruner: Optional[BasePruner] = None,
                 study_name: Optional[str] = None,
                 direction: Union[None, str, StudyDirection] = None,
                 load_if_exists: bool = False,
                 directions: Optional[Sequence[Union[str, StudyDirection]]]
                 = None) -> "optuna.Study":
    """Optuna's, with a study of the server where no storage is named.

    Without a storage every call makes a study, as Optuna does in memory: when
    the name is taken, it is NAME-2 and so on, and a log line says so.
    `load_if_exists=True` continues the study of that name.
    """
    place = _kept(storage)
    search = _searching(sampler, place)
    for number in itertools.count(1):
        name = study_name
        if name is not None and number > 1:
            name = "%s-%d" % (name, number)
        try:
            study = optuna.create_study(
                storage=place, sampler=search, pruner=pruner, study_name=name,
                direction=direction, load_if_exists=load_if_exists,
                directions=directions)
            break
        except DuplicatedStudyError:
            if storage is not None:
                raise
    if name != study_name:
        _log.warning("There is a study %s already; this one is %s. "
                     "load_if_exists=True continues %s." %
                     (study_name, name, study_name))
    if isinstance(place, Storage):
        _log.info("The study %s is at %s." % (study.study_name,
                                              place._client.server))
    return study


def load_study(study_name: Optional[str] = None, storage: Place = None,
               sampler: Optional[BaseSampler] = None,
               pruner: Optional[BasePruner] = None) -> "optuna.Study":
    """Optuna's; without a storage from the server."""
    place = _kept(storage)
    return optuna.load_study(study_name=study_name, storage=place,
                             sampler=_searching(sampler, place), pruner=pruner)


def delete_study(study_name: str, storage: Place = None) -> None:
    """Optuna's; without a storage from the server."""
    optuna.delete_study(study_name=study_name, storage=_kept(storage))


def copy_study(from_study_name: str, from_storage: Place = None,
               to_storage: Place = None,
               to_study_name: Optional[str] = None) -> None:
    """Optuna's; a storage that is not named is the server's, so that a study
    of another storage can be brought there."""
    optuna.copy_study(from_study_name=from_study_name,
                      from_storage=_kept(from_storage),
                      to_storage=_kept(to_storage),
                      to_study_name=to_study_name)


def get_all_study_summaries(storage: Place = None,
                            include_best_trial: bool = True
                            ) -> List[StudySummary]:
    """Optuna's; without a storage those on the server."""
    return optuna.get_all_study_summaries(
        storage=_kept(storage), include_best_trial=include_best_trial)


def get_all_study_names(storage: Place = None) -> List[str]:
    """Optuna's, since 3.2; without a storage those on the server."""
    return [summary.study_name for summary in
            get_all_study_summaries(storage, include_best_trial=False)]
