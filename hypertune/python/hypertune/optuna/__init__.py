"""Optuna with this server behind it: change the import, keep the code.

    import hypertune.optuna as optuna

    study = optuna.create_study(direction="maximize")
    study.optimize(objective, n_trials=100)

All names and modules of Optuna are here. Functions that make, load, copy and
delete studies use the server where no storage is named, the samplers that
search are the server's search, all else is Optuna's own. `Sampler()`,
`Storage()` and `Pruner()` can be given to Optuna's own functions as well.
Needs Optuna 3.1 or newer.
"""
from typing import Any, List

import optuna

from hypertune.optuna import modules

modules.install()

from hypertune.optuna import integration, samplers, study
from hypertune.optuna.pruner import Pruner
from hypertune.optuna.sampler import Sampler
from hypertune.optuna.storage import Storage
from hypertune.optuna.study import (copy_study, create_study, delete_study,
                                    get_all_study_names,
                                    get_all_study_summaries, load_study)

__all__ = sorted({"Pruner", "Sampler", "Storage", "get_all_study_names"} |
                 set(optuna.__all__))


def __getattr__(name: str) -> Any:
    return getattr(optuna, name)


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(dir(optuna)))
