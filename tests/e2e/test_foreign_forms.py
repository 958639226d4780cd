"""Files of W&B, Katib, Hydra and Optuna, run to their end as they are."""

import json
import os
import sys

import harness
import tap
import tree
from cli_home import Home

import hypertune

# Prints its arguments, then metrics as the trainers of the tools do.
TRAINER = """import re, sys
print("got", *sys.argv[1:], flush=True)
x = float(re.search(r"[xX]=(\\S+)", " ".join(sys.argv)).group(1))
print("loss=%r accuracy=%r" % (x * x, 1 - x * x))
print("value: %r" % (x * x))
"""

SWEEP = """
program: train.py
method: grid
metric: {name: loss, goal: minimize}
parameters:
  x: {values: [0.5, 0.25]}
  amp: {values: [true, false]}
  net: {parameters: {kind: {value: mlp}}}
command: ["${env}", "${interpreter}", "${program}", "${args}"]
"""

KATIB = """
apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata: {name: exp}
spec:
  objective: {type: minimize, objectiveMetricName: loss,
              additionalMetricNames: [accuracy]}
  algorithm: {algorithmName: random, algorithmSettings: [
    {name: random_state, value: "3"}]}
  maxTrialCount: 2
  parallelTrialCount: 2
  parameters:
    - {name: x, parameterType: double, feasibleSpace: {min: "-1", max: "1"}}
  trialTemplate:
    trialParameters: [{name: theirX, reference: x}]
    trialSpec:
      kind: Job
      spec: {template: {spec: {containers: [{name: main, image: lab/train,
        command: [train], args: ["--theirX=${trialParameters.theirX}"]}]}}}
"""

HYDRA = """
hydra:
  sweeper:
    sampler: {_target_: optuna.samplers.GridSampler}
    direction: minimize
    params: {x: "choice(0.5, -0.25)", +new.y: "range(1, 3)", k: 7}
"""

SPACE = {"x": {"name": "FloatDistribution",
               "attributes": {"low": 0.25, "high": 1, "log": True}},
         "c": {"name": "CategoricalDistribution",
               "attributes": {"choices": ["a", None]}}}


def words_of(home, study):
    """The words that each trial's trainer got, in the trials' order."""
    trials = json.loads(home.cli("trials", study, "-o", "json")[0])
    return [home.cli("logs", "%s/%d" % (study, number + 1))[0]
            .splitlines()[0] for number in range(len(trials))]


def run(home, name, text, *options):
    """Runs the file to its end; returns the best trial's objective."""
    home.write("train.py", TRAINER)
    out, err = home.cli("run", home.write(name, text), "-o", "json", *options)
    return json.loads(out.splitlines()[-1])["hypertune"]["objective"], err


def a_sweep_of_wandb_runs_with_the_agents_arguments():
    with Home() as home:
        best, err = run(home, "sweep.yaml", SWEEP, "--metric", "loss={loss}")
        tap.equal(best, 0.0625)
        tap.contains("wandb.log() is not read", err)
        tap.equal(sorted(words_of(home, "sweep")), sorted(
            "got --x=%s --amp=%s --net={'kind': 'mlp'}" % (x, amp)
            for x in (0.5, 0.25) for amp in (True, False)))


def an_experiment_of_katib_runs_as_processes_too():
    with Home() as home:
        best, _ = run(home, "exp.yaml", KATIB, "--",
                      sys.executable, "train.py")
        trials = json.loads(home.cli("trials", "exp", "-o", "json")[0])
        tap.equal(len(trials), 2)
        values = [float(trial["parameters"][0]["value"]) for trial in trials]
        tap.equal(best, min(value * value for value in values))
        metrics = trials[0]["finalMeasurement"]["metrics"]
        tap.equal(sorted(metric["metricId"] for metric in metrics),
                  ["accuracy", "loss"])
        tap.equal(words_of(home, "exp"), ["got --theirX=%r" % x for x in values])


# As Katib's trainers do it: values are texts in JSON, lines have a date.
LOGGER = """import json, logging, os, sys
x = float(sys.argv[-1].split("=")[1])
if sys.argv[1] == "json":
    with open(os.environ["HYPERTUNE_TRIAL_DIR"] + "/m.json", "w") as file:
        for value in (x * x + 1, x * x):
            print(json.dumps({"timestamp": 1.5, "loss": str(value)}), file=file)
else:
    logging.basicConfig(filename="/dev/stdout", level=logging.INFO,
                        format="%(asctime)s %(message)s")
    for value in (x * x + 1, x * x):
        logging.info("{metricName: loss, metricValue: %s}", value)
"""

COLLECTOR = """
  metricsCollectorSpec:
    collector: {kind: File}
    source:
      fileSystemPath: {path: /logs/m.json, kind: File, format: %s}
      filter: {metricsFormat: [
        '{metricName: ([\\w|-]+), metricValue: ((-?\\d+)(\\.\\d+)?)}']}
  maxTrialCount"""


def files_that_a_trainer_of_katib_writes_are_read():
    for form, reads in (("JSON", "${trialDir}/m.json"),
                        ("TEXT", "/dev/stdout")):
        with Home() as home:
            home.write("log.py", LOGGER)
            text = KATIB.replace("\n  maxTrialCount", COLLECTOR % form).replace(
                "[train]", "[train, --log=/logs/m.json]")
            best, err = run(home, "exp.yaml", text, "--", sys.executable,
                            "log.py", form.lower())
            tap.contains("is %s in the trial's words" % reads, err)
            trials = json.loads(home.cli("trials", "exp", "-o", "json")[0])
            tap.equal(best, min(float(trial["parameters"][0]["value"]) ** 2
                                for trial in trials), form)


def a_sweep_of_hydra_is_a_run_with_overrides():
    with Home() as home:
        best, err = run(home, "config.yaml", HYDRA, "-n", "4", "--metric",
                        "value: {value}", "--", sys.executable, "train.py",
                        "mode=fast")
        tap.equal(best, 0.0625)
        tap.contains("returns to Hydra is not read", err)
        tap.equal(sorted(words_of(home, "config")), sorted(
            "got mode=fast x=%s +new.y=%d k=7 hydra.run.dir="
            "${oc.env:HYPERTUNE_TRIAL_DIR}/hydra" % (x, y)
            for x in ("0.5", "-0.25") for y in (1, 2)))


def flags_complete_a_search_space_of_optuna():
    with Home() as home:
        best, _ = run(home, "space.json", json.dumps(SPACE), "--maximize",
                      "accuracy", "-n", "3", "--seed", "1", "--metric",
                      "accuracy={accuracy}", "--", sys.executable, "train.py")
        tap.true(0 <= best <= 1 - 0.25 ** 2, best)
        for words in words_of(home, "train"):
            tap.true(words.split()[2] in ("--c=a", "--c=null"), words)
        _, err = home.cli("check", "space.json", "--", "train.py", want=2)
        tap.contains("say --maximize METRIC or --minimize METRIC", err)


def the_server_and_the_python_client_read_them_as_well():
    with harness.Server("--runner", "none") as server, Home() as home:
        status, draft = server.call("POST", "/hypertune/v1/specs:check",
                                    {"text": SWEEP})
        tap.equal(status, 200)
        tap.true(any("wandb.log() is not read" in one["message"]
                     for one in draft["findings"]), draft)
        home.write("train.py", TRAINER)
        os.environ["PATH"] = harness.bin_dir() + os.pathsep + \
            os.environ["PATH"]
        os.environ["PYTHONPATH"] = tree.PACKAGE
        client = hypertune.Client(server.http, server.token_file)
        study = client.submit(home.write("sweep.yaml", SWEEP))
        job = server.get(harness.JOBS + study.name)
        tap.equal((job["displayName"], job["maxTrialCount"]), ("sweep", 4))


tap.run([
    a_sweep_of_wandb_runs_with_the_agents_arguments,
    an_experiment_of_katib_runs_as_processes_too,
    files_that_a_trainer_of_katib_writes_are_read,
    a_sweep_of_hydra_is_a_run_with_overrides,
    flags_complete_a_search_space_of_optuna,
    the_server_and_the_python_client_read_them_as_well,
])
