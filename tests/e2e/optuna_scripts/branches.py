"""A space with branches and loops, defined while it runs."""
import optuna
from optuna import Trial


class Objective:
    def __init__(self, most_layers):
        self.most_layers = most_layers

    def __call__(self, trial: Trial) -> float:
        from optuna.distributions import FloatDistribution
        kind = trial.suggest_categorical("classifier", ["SVC", "MLP"])
        if kind == "SVC":
            c = trial.suggest_float("svc_c", 1e-10, 1e10, log=True)
            assert trial.distributions["svc_c"] == FloatDistribution(
                1e-10, 1e10, log=True)
            return abs(c - 1) / (c + 1)
        error = 0.5
        for layer in range(trial.suggest_int("layers", 1, self.most_layers)):
            error -= trial.suggest_int(f"units_l{layer}", 4, 128) / 1000
        return error


study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=4))
study.optimize(Objective(3), n_trials=8, gc_after_trial=True)
