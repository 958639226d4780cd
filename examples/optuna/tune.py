"""An Optuna study whose points, storage and pruning are a hypertune server's.

    python3 tune.py [TRIALS]

Start it in two terminals to share the study; stop it and start it again to
continue. `hypertune trials bowls` and the dashboard show it meanwhile.
"""
import math
import sys

import optuna

import hypertune.optuna


def objective(trial):
    rate = trial.suggest_float("learning_rate", 1e-5, 1, log=True)
    layers = trial.suggest_int("layers", 1, 8)
    optimizer = trial.suggest_categorical("optimizer", ["adam", "sgd"])
    error = (math.log10(rate) + 3) ** 2 / 4 + abs(layers - 5) / 8
    if optimizer == "sgd":
        error += (trial.suggest_float("momentum", 0, 0.99) - 0.9) ** 2
    else:
        error += 0.05
    for epoch in range(1, 11):
        trial.report(error + 1 / epoch, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return error


def main():
    study = optuna.create_study(
        study_name="bowls", load_if_exists=True,
        storage=hypertune.optuna.Storage(),
        sampler=hypertune.optuna.Sampler(seed=1),
        pruner=hypertune.optuna.Pruner())
    study.optimize(objective,
                   n_trials=int(sys.argv[1]) if len(sys.argv) > 1 else 40)
    print("best", study.best_value, study.best_params)


if __name__ == "__main__":
    main()
