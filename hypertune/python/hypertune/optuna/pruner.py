"""A pruner of Optuna's that asks this server's early stopping."""
import optuna
from optuna.pruners import BasePruner
from optuna.trial import FrozenTrial

from hypertune.optuna.storage import Storage


class Pruner(BasePruner):
    """Prunes what the rule of the study's Storage would stop::

        storage = hypertune.optuna.Storage(early_stopping="median")
        study = optuna.create_study(storage=storage,
                                    pruner=hypertune.optuna.Pruner())
    """

    def prune(self, study: "optuna.Study", trial: FrozenTrial) -> bool:
        storage = study._storage
        if not isinstance(storage, Storage):
            raise ValueError("the reports of this study are not at a "
                             "hypertune server; use "
                             "storage=hypertune.optuna.Storage()")
        return (bool(trial.intermediate_values) and
                storage.should_stop(trial._trial_id))
