"""Points of a grid, of a sequence, by chance, and partly fixed."""
import optuna
import scipy  # noqa: F401 - QMCSampler loads it
from optuna.samplers import (GridSampler, PartialFixedSampler, QMCSampler,
                             RandomSampler)


def objective(trial):
    x = trial.suggest_float("x", -100, 100)
    y = trial.suggest_int("y", -100, 100)
    return x ** 2 + y ** 2


grid = optuna.create_study(
    sampler=GridSampler({"x": [-50, 0, 50.5], "y": [-99, 99]}))
grid.optimize(objective, n_trials=50)
chance = optuna.create_study(sampler=RandomSampler(seed=10))
chance.optimize(objective, n_trials=5)
sequence = optuna.create_study(sampler=QMCSampler(seed=1))
sequence.optimize(objective, n_trials=5)
study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=3))
study.optimize(objective, n_trials=4)
study.sampler = PartialFixedSampler({"y": 7}, study.sampler)
study.optimize(objective, n_trials=4)
