"""Tuners that minimise a function of parameters: this server's search beside
those of an installed Optuna.

A space is {name: (kind, low, high)} with kind "real", "log", "whole" or
"whole log", or {name: ("choice", labels)}.
"""

import math
import os
import sys
import warnings

import optuna

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "hypertune", "python"))
import hypertune  # noqa: E402

OURS = "hypertune"
PEERS = {"tpe": optuna.samplers.TPESampler,
         "cma": optuna.samplers.CmaEsSampler,
         "random": optuna.samplers.RandomSampler}


def our_parameter(name, kind, *rest):
    if kind == "choice":
        return hypertune.Categorical(name, *rest)
    make = hypertune.Integer if "whole" in kind else hypertune.Double
    return make(name, *rest, log="log" in kind)


def run_ours(place, problem, seed, trials, evaluate):
    """Through the server at `place`, the arguments of a client."""
    study = hypertune.Client(*place).create_study(
        "%s-%d" % (problem.name, seed), "loss", "MINIMIZE",
        [our_parameter(name, *one) for name, one in problem.space.items()],
        seed=seed, until={"trials": trials})
    for trial in study.ask(trials):
        loss = evaluate(trial.params)
        if math.isfinite(loss):
            trial.complete(loss)
        else:
            trial.infeasible("the loss is %g" % loss)


def their_value(trial, name, kind, *rest):
    if kind == "choice":
        return trial.suggest_categorical(name, *rest)
    draw = trial.suggest_int if "whole" in kind else trial.suggest_float
    return draw(name, *rest, log="log" in kind)


def run_theirs(sampler, problem, seed, trials, evaluate):
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    warnings.filterwarnings("ignore", module="optuna")
    # Where a loss is NaN, Optuna's trial fails, too.
    optuna.create_study(sampler=sampler(seed=seed)).optimize(
        lambda trial: evaluate({name: their_value(trial, name, *one)
                                for name, one in problem.space.items()}),
        n_trials=trials)


def run(tuner, place, problem, seed, trials):
    """[(parameters, loss)] of all trials."""
    seen = []

    def evaluate(params):
        seen.append((params, problem.evaluate(params, seed, len(seen))))
        return seen[-1][1]

    if tuner == OURS:
        run_ours(place, problem, seed, trials, evaluate)
    else:
        run_theirs(PEERS[tuner], problem, seed, trials, evaluate)
    assert len(seen) == trials, (tuner, problem.name, len(seen))
    return seen
