"""The real gcloud and containers: a person's own server, which gcloud-env
starts together with its runner, and jobs that it streams to their end."""

import tempfile

import engines
import gcloud
import tap
from cli_home import Home

SUBMIT = ["ai-platform", "jobs", "submit", "training"]
IMAGE = ["--master-image-uri", engines.TINY, "--stream-logs"]
SEARCH = {"goal": "MAXIMIZE", "hyperparameterMetricTag": "score",
          "maxTrials": 2, "maxParallelTrials": 2,
          "params": [{"parameterName": "x", "type": "DOUBLE", "minValue": 0.5,
                      "maxValue": 1}]}
# What each replica does; the others wait for the master's end.
CLUSTER = ('echo I am here; cd $AIP_CHECKPOINT_DIR; touch $HYPERTUNE_REPLICA; '
           'case $TF_CONFIG in *\'"type":"master"\'*) '
           'until [ -e worker-0 -a -e worker-1 ]; do sleep 0.1; done ;; '
           '*) sleep 600 ;; esac')
REPORT = "hypertune report score=${0#--x=}"


def config(sdk, name, script, **more):
    command = {"containerCommand": ["sh", "-c", script]}
    return ["--config", sdk.write(name + ".yaml", {"trainingInput": dict(
        more, masterConfig=command)})]


def rows(done):
    """Severity, time, task, trial and text of each line that was streamed,
    which submit writes to stderr."""
    return [line.split("\t") for line in done.err.splitlines()
            if line.count("\t") == 4]


def jobs_are_streamed_to_their_end(engine):
    with Home() as home:
        own = {"HYPERTUNE_STATE": home.state, "DOCKER_HOST": engine.host}
        with gcloud.Gcloud(own) as sdk:
            cluster, failing, tuning = sdk.together(
                SUBMIT + ["cluster"] + IMAGE + config(
                    sdk, "c", CLUSTER, workerConfig={
                        "containerCommand": ["sh", "-c", CLUSTER]}) + [
                    "--worker-count=2", "--worker-machine-type=standard",
                    "--master-machine-type=standard", "--scale-tier=custom",
                    "--worker-image-uri", engines.TINY],
                SUBMIT + ["failing"] + IMAGE + config(
                    sdk, "f", "echo oh no >&2; exit 7"),
                SUBMIT + ["tuning"] + IMAGE + config(
                    sdk, "t", REPORT, hyperparameters=SEARCH))
            assert "state: SUCCEEDED" in cluster.good().out, cluster
            tap.equal(sorted(row[2] for row in rows(cluster)
                             if row[4] == "I am here"),
                      ["master-replica-0", "worker-replica-0",
                       "worker-replica-1"])
            tap.equal(failing.code, 1)
            assert "state: FAILED" in failing.out, failing
            assert ["ERROR", "master-replica-0", "oh no"] in [
                [row[0], row[2], row[4]] for row in rows(failing)], failing
            assert "state: SUCCEEDED" in tuning.good().out, tuning
            output = sdk.run("ai-platform", "jobs", "describe", "tuning",
                             "--format=json").json()["trainingOutput"]
            for trial in output["trials"]:
                tap.equal(float(trial["hyperparameters"]["x"]),
                          trial["finalMetric"]["objectiveValue"])
            tap.equal(len(output["trials"]), 2)
        listed = home.cli("list", "-o", "name")[0].split()
        tap.equal(sorted(listed), ["cluster", "failing", "tuning"])


def on(engine):
    def case():
        jobs_are_streamed_to_their_end(engine)
    case.__name__ = "jobs_are_streamed_to_their_end_on_" + engine.name
    return case


gcloud.need("the real gcloud runs containers")
with tempfile.TemporaryDirectory() as folder, \
        engines.FakeEngine(folder) as fake:
    tap.run([on(engine) for engine in [fake] + engines.here()])
