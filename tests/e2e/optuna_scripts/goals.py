"""Two goals and a constraint: the front of Binh and Korn's problem."""
import optuna


def objective(trial):
    x = trial.suggest_float("x", 0, 5)
    y = trial.suggest_float("y", 0, 3)
    trial.set_user_attr("constraint", ((x - 5) ** 2 + y ** 2 - 25,))
    return 4 * x ** 2 + 4 * y ** 2, (x - 5) ** 2 + (y - 5) ** 2


def constraints(trial):
    return trial.user_attrs["constraint"]


study = optuna.create_study(
    directions=["minimize", "minimize"],
    sampler=optuna.samplers.NSGAIISampler(
        seed=1, population_size=4, constraints_func=constraints))
study.optimize(objective, n_trials=10)
for trial in study.best_trials:
    print(trial.number, trial.values, trial.params)
