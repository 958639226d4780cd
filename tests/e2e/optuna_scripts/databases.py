"""Studies that are kept where a URL says, continued, copied and deleted."""
import optuna


def objective(trial):
    return (trial.suggest_float("x", -10, 10) - 2) ** 2


for _ in range(2):
    study = optuna.create_study(
        storage="sqlite:///a.db", study_name="a", load_if_exists=True,
        sampler=optuna.samplers.TPESampler(seed=1))
    study.optimize(objective, n_trials=4)
loaded = len(optuna.load_study(
    study_name="a", storage="sqlite:///a.db").trials)
optuna.copy_study(from_study_name="a", from_storage="sqlite:///a.db",
                  to_storage="sqlite:///b.db", to_study_name="b")
summaries = [(summary.study_name, summary.n_trials) for summary in
             optuna.get_all_study_summaries(storage="sqlite:///b.db")]
optuna.delete_study(study_name="a", storage="sqlite:///a.db")
gone = optuna.get_all_study_summaries("sqlite:///a.db")
