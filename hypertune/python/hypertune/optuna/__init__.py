"""Optuna with this server behind it: keep your study and your objective.

    import hypertune.optuna
    import optuna

    optuna.create_study(sampler=hypertune.optuna.Sampler())

asks the server for every next point; `Storage()` as `storage=` keeps studies
on the server, where the dashboard and the command line show them; `Pruner()`
prunes by the server's early stopping rules. Needs Optuna 3.1 or newer.
"""
from hypertune.optuna.pruner import Pruner
from hypertune.optuna.sampler import Sampler
from hypertune.optuna.storage import Storage

__all__ = ["Pruner", "Sampler", "Storage"]
