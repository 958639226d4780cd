"""Chooses a random forest's size, as in scikit-learn's own tutorials."""
import optuna
import sklearn.datasets
import sklearn.ensemble
import sklearn.model_selection


def objective(trial):
    x, y = sklearn.datasets.load_iris(return_X_y=True)
    depth = trial.suggest_int("max_depth", 2, 32, log=True)
    trees = trial.suggest_int("n_estimators", 4, 20)
    forest = sklearn.ensemble.RandomForestClassifier(
        max_depth=depth, n_estimators=trees, random_state=0)
    return sklearn.model_selection.cross_val_score(forest, x, y, cv=3).mean()


if __name__ == "__main__":
    study = optuna.create_study(direction="maximize")
    study.optimize(objective, n_trials=3)
    print(study.best_trial)
    print(f"accuracy {study.best_value:.3f} with {study.best_params}")
