"""What is read from a study: a data frame, importances, pictures."""
import matplotlib

matplotlib.use("Agg")
import optuna
import optuna.visualization.matplotlib as pictures
import pandas
from optuna.importance import get_param_importances


def objective(trial):
    x = trial.suggest_float("x", -5, 5)
    y = trial.suggest_float("y", -5, 5)
    trial.set_user_attr("sum", x + y)
    return x ** 2 + y / 100


study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=2))
study.optimize(objective, n_trials=12)
frame = study.trials_dataframe(attrs=("number", "value", "params", "state",
                                      "user_attrs"))
assert isinstance(frame, pandas.DataFrame)
importances = get_param_importances(
    study, evaluator=optuna.importance.MeanDecreaseImpurityImportanceEvaluator(
        seed=0))
axes = [pictures.plot_optimization_history(study),
        pictures.plot_contour(study), pictures.plot_param_importances(study)]
