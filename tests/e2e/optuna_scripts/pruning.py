"""Reports each epoch, and is pruned by Optuna's own pruners."""
import optuna
from optuna.trial import TrialState


def objective(trial):
    rate = trial.suggest_float("lr", 1e-5, 1e-1, log=True)
    optimizer = trial.suggest_categorical("optimizer", ["Adam", "RMSprop"])
    momentum = 0.0
    if optimizer == "RMSprop":
        momentum = trial.suggest_float("momentum", 0.0, 0.9, step=0.1)
    for epoch in range(6):
        accuracy = 1 - abs(rate - 0.01) * 8 / (epoch + 1) - momentum / 9
        trial.report(accuracy, epoch)
        if trial.should_prune():
            raise optuna.exceptions.TrialPruned()
    return accuracy


optuna.logging.get_logger("optuna").debug("no handler of its own")
study = optuna.create_study(
    direction="maximize", study_name="pruning",
    pruner=optuna.pruners.MedianPruner(n_startup_trials=2, n_warmup_steps=1))
for rate in (0.01, 0.011, 0.09, 0.1):
    study.enqueue_trial({"lr": rate, "optimizer": "Adam"})
study.optimize(objective, n_trials=8, timeout=600)
pruned = study.get_trials(deepcopy=False, states=[TrialState.PRUNED])
complete = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
print("pruned", len(pruned), "complete", len(complete))

band = optuna.create_study(
    direction="maximize", sampler=optuna.samplers.TPESampler(seed=1),
    pruner=optuna.pruners.HyperbandPruner(min_resource=1, max_resource=6))
band.optimize(objective, n_trials=4)
