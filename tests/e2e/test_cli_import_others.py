"""Studies of other programs: `hypertune import` of Optuna's databases and of
Katib's YAML, and what is neither."""

import datetime
import importlib.util
import json
import math
import os
import sqlite3
import subprocess
import sys

import harness
import tap
from cli_home import Home

# Optuna's own tables, as 2.3, 2.10 and 3.1 make them.
OLD = """
CREATE TABLE studies(study_id INTEGER PRIMARY KEY, study_name TEXT,
  direction TEXT);
CREATE TABLE trials(trial_id INTEGER PRIMARY KEY, number INTEGER,
  study_id INTEGER, state TEXT, value FLOAT);
CREATE TABLE trial_params(param_id INTEGER PRIMARY KEY, trial_id INTEGER,
  param_name TEXT, param_value FLOAT, distribution_json TEXT);
CREATE TABLE trial_values(trial_value_id INTEGER PRIMARY KEY,
  trial_id INTEGER, step INTEGER, value FLOAT);
INSERT INTO studies VALUES(1, 'old', 'MINIMIZE');
INSERT INTO trials VALUES(1, 0, 1, 'COMPLETE', 0.25), (2, 1, 1, 'FAIL', NULL),
  (3, 2, 1, 'RUNNING', NULL);
INSERT INTO trial_params VALUES
  (1, 1, 'x', 0.1, '{"name": "LogUniformDistribution",
    "attributes": {"low": 0.001, "high": 1.0}}'),
  (2, 1, 'k', 2, '{"name": "CategoricalDistribution",
    "attributes": {"choices": ["a", 1.5, null]}}'),
  (3, 2, 'x', 0.2, '{"name": "LogUniformDistribution",
    "attributes": {"low": 0.001, "high": 1.0}}'),
  (4, 2, 'k', 0, '{"name": "CategoricalDistribution",
    "attributes": {"choices": ["a", 1.5, null]}}');
INSERT INTO trial_values VALUES(1, 1, 5, 0.5), (2, 1, 10, 0.25);
"""
MIDDLE = """
CREATE TABLE studies(study_id INTEGER PRIMARY KEY, study_name TEXT);
CREATE TABLE study_directions(study_direction_id INTEGER PRIMARY KEY,
  direction TEXT, study_id INTEGER, objective INTEGER);
CREATE TABLE trials(trial_id INTEGER PRIMARY KEY, number INTEGER,
  study_id INTEGER, state TEXT);
CREATE TABLE trial_params(param_id INTEGER PRIMARY KEY, trial_id INTEGER,
  param_name TEXT, param_value FLOAT, distribution_json TEXT);
CREATE TABLE trial_values(trial_value_id INTEGER PRIMARY KEY,
  trial_id INTEGER, objective INTEGER, value FLOAT);
CREATE TABLE trial_intermediate_values(
  trial_intermediate_value_id INTEGER PRIMARY KEY, trial_id INTEGER,
  step INTEGER, intermediate_value FLOAT);
INSERT INTO studies VALUES(1, 'pareto!'), (2, '7');
INSERT INTO study_directions VALUES(1, 'MAXIMIZE', 1, 0),
  (2, 'MINIMIZE', 1, 1), (3, 'MAXIMIZE', 2, 0);
INSERT INTO trials VALUES(1, 0, 1, 'COMPLETE'), (2, 0, 2, 'PRUNED');
INSERT INTO trial_params VALUES
  (1, 1, 'q', 0.3, '{"name": "DiscreteUniformDistribution",
    "attributes": {"low": 0.0, "high": 1.0, "q": 0.1}}'),
  (2, 1, 'n', 5, '{"name": "IntUniformDistribution",
    "attributes": {"low": 1, "high": 9, "step": 2}}'),
  (3, 2, 'n', 4, '{"name": "IntLogUniformDistribution",
    "attributes": {"low": 1, "high": 64, "step": 1}}');
INSERT INTO trial_values VALUES(1, 1, 0, 0.7), (2, 1, 1, 30.5);
INSERT INTO trial_intermediate_values VALUES(1, 2, 1, 0.5), (2, 2, 2, 0.6);
"""

KATIB = """---
apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata:
  namespace: kubeflow
  name: random-example
spec:
  objective:
    type: maximize
    goal: 0.99
    objectiveMetricName: Validation-accuracy
    additionalMetricNames:
      - Train-accuracy
  algorithm:
    algorithmName: tpe
    algorithmSettings:
      - name: random_state
        value: "10"
      - name: n_startup_trials
        value: "3"
  parallelTrialCount: 3
  maxTrialCount: 12
  maxFailedTrialCount: 2
  resumePolicy: Never
  parameters:
    - name: lr
      parameterType: double
      feasibleSpace:
        min: "0.01"
        max: "0.03"
        distribution: logUniform
    - name: num-layers
      parameterType: int
      feasibleSpace: {min: "2", max: "8", step: "2"}
    - name: optimizer
      parameterType: categorical
      feasibleSpace:
        list: [sgd, adam]
    - name: batch
      parameterType: discrete
      feasibleSpace:
        list: ["32", "64"]
  earlyStopping:
    algorithmName: medianstop
    algorithmSettings:
      - {name: min_trials_required, value: "3"}
      - {name: start_step, value: "5"}
  trialTemplate:
    primaryContainerName: training
    trialParameters:
      - {name: learningRate, description: rate, reference: lr}
      - {name: layers, reference: num-layers}
      - {name: optimizer, reference: optimizer}
      - {name: where, reference: "${trialSpec.Namespace}"}
    trialSpec:
      apiVersion: batch/v1
      kind: Job
      spec:
        template:
          spec:
            containers:
              - name: training
                image: docker.io/kubeflowkatib/mxnet-mnist:v0.16
                command: [python3, /opt/mnist.py, --batch-size=64,
                  "--lr=${trialParameters.learningRate}",
                  "--num-layers=${trialParameters.layers}"]
                args: ["--optimizer=${trialParameters.optimizer}",
                  "--at=${trialParameters.where}"]
                env:
                  - {name: OPT, value: "${trialParameters.optimizer}"}
                resources:
                  limits: {cpu: 500m, memory: 1Gi, nvidia.com/gpu: 1}
                volumeMounts: []
            restartPolicy: Never
"""


def a_database(home, name, script):
    path = os.path.join(home.folder, name)
    base = sqlite3.connect(path)
    base.executescript(script)
    base.close()
    return path


def old_tables_of_optuna_are_read():
    with Home() as home:
        path = a_database(home, "old.db", OLD)
        out, err = home.cli("import", path, "--metric", "loss")
        tap.equal((out, "2 trials, 1 without" in err), ("old\n", True), err)
        found = home.trials("old")
        tap.equal([(one["state"], one["params"]) for one in found],
                  [("SUCCEEDED", {"x": 0.1, "k": "null"}),
                   ("FAILED", {"x": 0.2, "k": "a"})])
        tap.equal(found[0]["metrics"], {"loss": 0.25})
        tap.equal([(one["step"], one["metrics"]["loss"])
                   for one in found[0]["measurements"]],
                  [(5, 0.5), (10, 0.25)])
        spec = home.describe("old")["studySpec"]
        tap.equal(spec["metrics"], [{"metricId": "loss", "goal": "MINIMIZE"}])
        tap.equal(spec["parameters"][0]["scaleType"], "UNIT_LOG_SCALE")
        tap.equal(spec["parameters"][1]["categoricalValueSpec"]["values"],
                  ["a", "1.5", "null"])


def of_several_studies_one_is_chosen():
    with Home() as home:
        path = a_database(home, "middle.db", MIDDLE)
        _, err = home.cli("import", path, want=2)
        tap.contains("pareto!", err)
        tap.contains("\n  7", err)
        home.cli("import", path, "none", want=2)
        out, _ = home.cli("import", path, "pareto!")
        tap.equal(out, "pareto-\n")
        found = home.trials("pareto-")
        tap.equal(found[0]["metrics"], {"value_0": 0.7, "value_1": 30.5})
        tap.equal((abs(found[0]["params"]["q"] - 0.3) < 1e-9,
                   found[0]["params"]["n"]), (True, 5))
        out, _ = home.cli("import", path, "7")
        tap.equal(out, "optuna-7\n")
        found = home.trials("optuna-7")
        tap.equal((found[0]["metrics"], found[0]["state"]),
                  ({"value": 0.6}, "STOPPED"))
        tap.equal(found[0]["params"], {"n": 4})


MAKE = """
import sys, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.create_study(storage="sqlite:///" + sys.argv[1],
    study_name="real", direction="maximize",
    sampler=optuna.samplers.RandomSampler(seed=1),
    pruner=optuna.pruners.ThresholdPruner(upper=1.9))
def objective(trial):
    x = trial.suggest_float("x", 1e-3, 1.0, log=True)
    trial.set_user_attr("latency", 10 * x)
    trial.set_user_attr("host", "here")
    if trial.number % 2:
        trial.suggest_int("depth", 1, 9)
    kind = trial.suggest_categorical("kind", ["a", None, 3, True])
    for step in range(3):
        trial.report(x + step / 10 + (2 if trial.number == 3 else 0), step)
        if trial.should_prune():
            raise optuna.TrialPruned()
    if trial.number == 4:
        return float("inf")
    if trial.number == 5:
        raise ValueError("bad")
    return x
study.optimize(objective, n_trials=8, catch=(ValueError,))
for trial in study.trials:
    print(trial.number, trial.state.name, repr(trial.value),
          repr(trial.params["x"]), "depth" in trial.params,
          trial.datetime_start.timestamp(),
          trial.datetime_complete.timestamp(), sep="\\t")
"""


def a_real_database_of_optuna_comes_over():
    if importlib.util.find_spec("optuna") is None:
        raise tap.Skip("python3-optuna is not installed")
    with Home() as home:
        path = os.path.join(home.folder, "real.db")
        made = subprocess.run([sys.executable, "-c", MAKE, path],
                              check=True, capture_output=True, text=True)
        want = [line.split("\t") for line in made.stdout.splitlines()]
        home.cli("import", path)
        found = home.trials("real")
        tap.equal(len(found), 8)
        for theirs, ours in zip(want, found):
            number, state, value, x, depth, started, ended = theirs
            counts = state != "FAIL" and math.isfinite(float(value))
            tap.equal(ours["state"],
                      {"FAIL": "FAILED", "PRUNED": "STOPPED"}.get(
                          state, "SUCCEEDED" if counts else "INFEASIBLE"),
                      number)
            tap.equal(ours["metrics"]["latency"], 10 * float(x), number)
            for key, at in (("started", started), ("ended", ended)):
                exported = datetime.datetime.fromisoformat(
                    ours[key].replace("Z", "+00:00")).timestamp()
                tap.true(abs(exported - float(at)) < 0.002, (key, number))
            if counts:
                tap.equal(ours["metrics"]["value"], float(value), number)
            tap.equal(ours["params"]["x"], float(x), number)
            tap.equal("depth" in ours["params"], depth == "True", number)
        tap.equal([one[1] for one in want][3], "PRUNED")
        tap.equal(len(found[0]["measurements"]), 3)


def what_is_no_study_is_refused():
    with Home() as home:
        tap.contains("cannot read", home.cli("import", "none", want=3)[1])
        home.cli("import", home.write("x.yaml", "kind: Pod\n"), want=2)
        _, err = home.cli("import", a_database(
            home, "other.db", "CREATE TABLE t(a);"), want=1)
        tap.contains("not Optuna's", err)
        tap.equal(home.note(), None)


def a_katib_experiment_becomes_a_spec():
    with Home() as home:
        out, err = home.cli("import", home.write("katib.yaml", KATIB))
        spec = home.write("spec.yaml", out)
        shown = json.loads(home.cli("check", spec, "-o", "vertex")[0])
        words = shown["trialJobSpec"]["workerPoolSpecs"][0]["containerSpec"]
        tap.equal(words["imageUri"], "docker.io/kubeflowkatib/mxnet-mnist:v0.16")
        for line in ("goal: \"maximize Validation-accuracy\"", "trials: 12",
                     "parallel: 3", "maxFailed: 2", "seed: 10",
                     "algorithm: bayesian", "target: 0.99"):
            tap.contains(line, out)
        for word in ("--lr=${lr}", "--num-layers=${num-layers}",
                     "--optimizer=${optimizer}", "--at=kubeflow",
                     "${optimizer}", "selection: best"):
            tap.contains(word, out, word)
        study = shown["studySpec"]
        tap.equal([one["parameterId"] for one in study["parameters"]],
                  ["lr", "num-layers", "optimizer", "batch"])
        tap.equal(study["parameters"][0]["scaleType"], "UNIT_LOG_SCALE")
        notes = [line for line in err.splitlines() if "katib.yaml:" in line]
        for part in ("tpe is searched as bayesian", "n_startup_trials",
                     "resumePolicy", "metadata.namespace"):
            tap.true(any(part in note for note in notes), part)
        tap.true(any(":15:20: warning: spec.algorithm.algorithmName" in note
                     for note in notes), err)


def a_katib_experiment_is_submitted():
    with harness.Server("--runner", "none") as server:
        path = os.path.join(server.folder, "katib.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(KATIB)
        done = server.cli("import", path, "--submit", "--name", "mine")
        tap.equal(done.stdout, "mine\n")
        study = server.get(harness.JOBS + "mine")
        tap.equal((study["maxTrialCount"], study["parallelTrialCount"],
                   study["maxFailedTrialCount"]), (12, 3, 2))


tap.run([
    old_tables_of_optuna_are_read,
    of_several_studies_one_is_chosen,
    a_real_database_of_optuna_comes_over,
    what_is_no_study_is_refused,
    a_katib_experiment_becomes_a_spec,
    a_katib_experiment_is_submitted,
])
