"""Callbacks, attributes, enqueued trials and threads."""
import optuna
from optuna.study import MaxTrialsCallback
from optuna.trial import TrialState

seen = []


def remember(study, trial):
    seen.append((trial.number, study.best_value))


def objective(trial):
    x = trial.suggest_float("x", -10, 10)
    trial.set_user_attr("square", x * x)
    trial.set_user_attr("host", {"name": "a<b>&\"c\"", "gpus": [0, 1]})
    if trial.number == 3:
        raise ValueError("boom")
    return (x - 2) ** 2


study = optuna.create_study(study_name="attributes", load_if_exists=True)
study.set_user_attr("contributors", ["Akiba", "Sano"])
study.set_metric_names(["error"]) if hasattr(
    study, "set_metric_names") else None
study.enqueue_trial({"x": 2}, user_attrs={"memo": "a guess"})
study.optimize(objective, n_trials=20, n_jobs=2, catch=(ValueError,),
               callbacks=[remember, MaxTrialsCallback(
                   6, states=(TrialState.COMPLETE,))])
