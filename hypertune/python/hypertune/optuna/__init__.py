"""Optuna with this server behind it: keep your study and your objective.

    import hypertune.optuna
    import optuna

    optuna.create_study(sampler=hypertune.optuna.Sampler())

asks the server for every next point. Needs Optuna 3.1 or newer.
"""
from hypertune.optuna.sampler import Sampler

__all__ = ["Sampler"]
