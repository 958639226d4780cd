"""A loop of its own around ask and tell, with batches."""
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution

space = {"x": FloatDistribution(-10, 10),
         "kind": CategoricalDistribution(["a", "b", None])}
study = optuna.create_study(direction="minimize")
for _ in range(3):
    batch = [study.ask(space) for _ in range(4)]
    for trial in batch:
        study.tell(trial, (trial.params["x"] - 2) ** 2)
trial = study.ask()
trial.suggest_int("y", 1, 3)
study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
study.add_trial(optuna.trial.create_trial(
    params={"x": 2.0, "kind": "a"}, distributions=space, value=0.0))
print(study.best_trial.number, study.best_params)
