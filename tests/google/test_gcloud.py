"""The real gcloud against a real server: AI Platform's jobs, Vertex's tuning
and custom jobs, logs. A fake runner takes the images and does what a trainer
would. One command takes a second or two, so independent ones run side by side."""

import gcloud
import harness
import tap
from fake_runner import Runner

IMAGE = "gcr.io/demo/trainer:latest"
REGION = ["--region", "us-central1"]
WITH_IMAGE = REGION + ["--master-image-uri", IMAGE]
SUBMIT = ["ai-platform", "jobs", "submit", "training"]
JOBS = ["ai-platform", "jobs"]
HP = ["ai", "hp-tuning-jobs"]
CUSTOM = ["ai", "custom-jobs"]
JSON = ["--format=json"]
NAME = ["--format=value(name)"]
SEARCH = {
    "goal": "MAXIMIZE", "hyperparameterMetricTag": "accuracy",
    "algorithm": "RANDOM_SEARCH", "maxTrials": 2, "maxParallelTrials": 2,
    "params": [{"parameterName": "lr", "type": "DOUBLE", "minValue": 0.001,
                "maxValue": 0.1, "scaleType": "UNIT_LOG_SCALE"},
               {"parameterName": "opt", "type": "CATEGORICAL",
                "categoricalValues": ["adam", "sgd"]}]}
STUDY_SPEC = {
    "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}],
    "algorithm": "RANDOM_SEARCH",
    "parameters": [{"parameterId": "units", "scaleType": "UNIT_LINEAR_SCALE",
                    "integerValueSpec": {"minValue": 8, "maxValue": 64}}]}
POOLS = [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1,
          "containerSpec": {"imageUri": IMAGE}}]

server = None
sdk = None


def run_attempts(count):
    """Does the work of `count` attempts; what is asked to fail fails."""
    with Runner(server, images=True) as runner:
        while count > 0:
            for attempt in runner.lease(count):
                count -= 1
                if "--fail" in str(attempt.said):
                    attempt.fail(3)
                    continue
                attempt.started()
                attempt.say("epoch 1\n").report(0.9)
                attempt.ended("succeeded", exit=0)


def the_command_of_a_distributed_job_is_taken_as_it_is():
    """As AI Platform's manual had it for custom containers."""
    job, = sdk.together(SUBMIT + [
        "mnist_9_3", "--region", "us-central1",
        "--master-machine-type", "complex_model_m",
        "--master-image-uri", "gcr.io/p/master:1",
        "--worker-machine-type", "complex_model_m",
        "--worker-image-uri", "gcr.io/p/worker:1", "--worker-count", "9",
        "--parameter-server-machine-type", "large_model",
        "--parameter-server-image-uri", "gcr.io/p/ps:1",
        "--parameter-server-count", "3", "--scale-tier", "custom"] + JSON + [
            "--", "--model-dir=gs://bucket/model", "--epochs=10"])
    said = job.json()["trainingInput"]
    tap.equal((said["workerCount"], said["parameterServerCount"]),
              ("9", "3"))
    tap.equal([said[pool + "Config"]["imageUri"]
               for pool in ("master", "worker", "parameterServer")],
              ["gcr.io/p/master:1", "gcr.io/p/worker:1", "gcr.io/p/ps:1"])
    tap.equal(said["args"], ["--model-dir=gs://bucket/model", "--epochs=10"])
    assert "Job [mnist_9_3] submitted successfully." in job.err, job
    tap.equal(sdk.run(*JOBS, "cancel", "mnist_9_3").good().out, "")


def jobs_of_ai_platform_are_submitted():
    config = sdk.write("config.yaml",
                       {"trainingInput": {"hyperparameters": SEARCH}})
    plain, tuning, labelled, failing = sdk.together(
        SUBMIT + ["plain"] + WITH_IMAGE,
        SUBMIT + ["tuning", "--config", config] + WITH_IMAGE + JSON,
        SUBMIT + ["labelled", "--labels", "team=red,kind=x"] + WITH_IMAGE,
        SUBMIT + ["failing"] + WITH_IMAGE + ["--", "--fail"])
    tap.equal(plain.lines(), ["jobId: plain", "state: QUEUED"])
    said = tuning.json()["trainingInput"]["hyperparameters"]
    tap.equal(said["params"], SEARCH["params"])
    labelled.good()
    failing.good()


def what_is_wrong_is_refused_in_words():
    wrong = sdk.write("wrong.yaml", {"trainingInput": {
        "hyperparameters": dict(SEARCH, goal="BIGGER"), "bogusField": 3}})
    taken, bad_id, bad_file, unknown, cancelled, updated = sdk.together(
        SUBMIT + ["plain"] + WITH_IMAGE,
        SUBMIT + ["1_bad"] + WITH_IMAGE,
        SUBMIT + ["bad_file", "--config", wrong] + WITH_IMAGE,
        JOBS + ["describe", "absent"], JOBS + ["cancel", "absent"],
        JOBS + ["update", "absent", "--update-labels", "a=b"])
    taken.refused("conflict", "plain")
    bad_id.refused("INVALID_ARGUMENT", "jobId")
    bad_file.refused("INVALID_ARGUMENT", "trainingInput.hyperparameters.goal",
                     "bogusField")
    for done in (unknown, cancelled, updated):
        done.refused("NOT_FOUND", "absent")


def jobs_are_listed_in_pages_and_filtered():
    table, one, limited = sdk.together(
        JOBS + ["list"],
        JOBS + ["list", "--filter=jobId=labelled", "--format=value(jobId)"],
        JOBS + ["list", "--limit=1", "--format=value(jobId)"])
    lines = table.lines()
    tap.equal(lines[0].split(), ["JOB_ID", "STATUS", "CREATED"])
    tap.equal(sorted(line.split()[0] for line in lines[1:]),
              ["failing", "labelled", "mnist_9_3", "plain", "tuning"])
    tap.equal(one.lines(), ["labelled"])
    tap.equal(len(limited.lines()), 1)


def labels_are_updated_removed_and_cleared():
    for arguments, want in (
            (["--update-labels", "team=blue,more=1"],
             {"team": "blue", "kind": "x", "more": "1"}),
            (["--remove-labels", "kind"], {"team": "blue", "more": "1"}),
            (["--clear-labels"], None)):
        sdk.run(*JOBS, "update", "labelled", *arguments).good()
        job = server.get("/v1/projects/local/jobs/labelled")
        tap.equal(job.get("labels"), want, arguments)


def a_job_is_cancelled_once_and_again():
    for _ in range(2):
        tap.equal(sdk.run(*JOBS, "cancel", "labelled").good().out, "")
    described, distributed = sdk.together(
        JOBS + ["describe", "labelled"] + JSON,
        JOBS + ["describe", "mnist_9_3"] + JSON)
    for done in (described, distributed):
        job = done.json()
        tap.equal(job["state"], "CANCELLED")
        assert job["endTime"] >= job["createTime"]


def jobs_of_vertex_are_created():
    tuning = {"studySpec": STUDY_SPEC,
              "trialJobSpec": {"workerPoolSpecs": POOLS}}
    config = sdk.write("tuning.yaml", tuning)
    wrong = sdk.write("no_metrics.yaml", dict(tuning, studySpec=dict(
        STUDY_SPEC, metrics=[])))
    pool = "replica-count=1,machine-type=n1-standard-4,container-image-uri="
    two, beta, custom, refused, local = sdk.together(
        HP + ["create", "--display-name=two", "--config", config,
              "--max-trial-count=2", "--parallel-trial-count=2",
              "--labels=a=b"] + REGION + JSON,
        ["beta"] + HP + ["create", "--display-name=beta", "--config", config,
                         "--algorithm=random-search"] + REGION + JSON,
        CUSTOM + ["create", "--display-name=once", "--worker-pool-spec=" +
                  pool + IMAGE, "--args=--x"] + REGION + JSON,
        HP + ["create", "--display-name=bad", "--config", wrong] + REGION,
        HP + ["list", "--region=local"])
    job = two.json()
    tap.equal((job["maxTrialCount"], job["parallelTrialCount"],
               job["labels"]), (2, 2, {"a": "b"}))
    tap.equal(job["studySpec"]["parameters"][0]["integerValueSpec"],
              {"minValue": "8", "maxValue": "64"})
    assert "submitted successfully" in two.err, two
    tap.equal(beta.json()["studySpec"]["algorithm"], "RANDOM_SEARCH")
    name = custom.json()["name"]
    assert name.startswith("projects/local/locations/us-central1/customJobs/")
    refused.refused("INVALID_ARGUMENT", "studySpec.metrics")
    local.refused("[local]")  # gcloud itself: no region of Google's


def jobs_of_vertex_are_listed_described_and_cancelled():
    names, both, absent, gone, once = sdk.together(
        HP + ["list", "--filter=displayName=two"] + REGION + NAME,
        HP + ["list", "--format=value(displayName)"] + REGION,
        HP + ["describe", "404404"] + REGION,
        HP + ["cancel", "404404"] + REGION,
        CUSTOM + ["list"] + REGION + NAME)
    two, = names.lines()
    custom = once.lines()
    # the project's jobs of AI Platform are seen here too
    assert {"two", "beta", "tuning"} <= set(both.lines()), both
    absent.refused("NOT_FOUND")
    gone.refused("NOT_FOUND")
    beta = sdk.run(*HP, "list", "--filter=displayName=beta", *REGION,
                   *NAME).lines()
    by_id, by_name, on_beta, cancelled, shown = sdk.together(
        HP + ["describe", two.split("/")[-1]] + REGION + NAME,
        HP + ["describe", two, "--format=value(displayName)"],
        ["beta"] + HP + ["describe", two, "--format=value(displayName)"],
        HP + ["cancel"] + beta,
        CUSTOM + ["describe", custom[0]] + NAME)
    tap.equal(by_id.lines(), [two])
    tap.equal((by_name.lines(), on_beta.lines()), (["two"], ["two"]))
    assert "has been sent" in cancelled.err, cancelled
    tap.equal(shown.lines(), custom[:1])
    again, described = sdk.together(HP + ["cancel"] + beta,
                                    HP + ["describe"] + beta + JSON)
    again.good()
    tap.equal(described.json()["state"], "JOB_STATE_CANCELLED")


def collections_of_googles_are_refused_in_words():
    for done in sdk.together(["ai-platform", "models", "list"],
                             ["ai", "models", "list"] + REGION,
                             ["ai", "endpoints", "list"] + REGION):
        done.refused("hypertune serves training jobs, tuning jobs and studies")


def results_are_shown_when_the_work_is_done():
    # plain, tuning, failing and its second start, two, once
    run_attempts(1 + 2 + 2 + 2 + 1)
    described, summary, failed, vertex, plain = sdk.together(
        JOBS + ["describe", "tuning"] + JSON,
        JOBS + ["describe", "tuning", "--summarize"],
        JOBS + ["describe", "failing"] + JSON,
        HP + ["list", "--filter=displayName=two"] + REGION + NAME,
        JOBS + ["describe", "plain"] + JSON)
    output = described.json()["trainingOutput"]
    tap.equal((output["completedTrialCount"],
               output["isHyperparameterTuningJob"],
               output["hyperparameterMetricTag"]), ("2", True, "accuracy"))
    for trial in output["trials"]:
        tap.equal(trial["finalMetric"],
                  {"trainingStep": "1", "objectiveValue": 0.9})
        tap.equal(sorted(trial["hyperparameters"]), ["lr", "opt"])
    assert "Training Output Trials" in summary.good().out, summary
    assert "lr=" in summary.out and "opt=" in summary.out, summary
    job = failed.json()
    tap.equal(job["state"], "FAILED")
    assert "exit 3" in job["errorMessage"], job
    job = plain.json()
    tap.equal((job["state"], "trials" in job["trainingOutput"]),
              ("SUCCEEDED", False))
    job = sdk.run(*HP, "describe", *vertex.lines(), *JSON).json()
    tap.equal([trial["finalMeasurement"]["metrics"] for trial in
               job["trials"]], [[{"metricId": "accuracy", "value": 0.9}]] * 2)


def logs_are_streamed_to_their_end():
    two, = sdk.run(*HP, "list", "--filter=displayName=two", *REGION,
                   *NAME).lines()
    plain, tuning, vertex, absent = sdk.together(
        JOBS + ["stream-logs", "plain", "--polling-interval=1"],
        JOBS + ["stream-logs", "tuning", "--polling-interval=1",
                "--task-name=master-replica-0"],
        HP + ["stream-logs", two, "--polling-interval=1"],
        HP + ["stream-logs", "404404", "--polling-interval=1"] + REGION)
    rows = [line.split("\t") for line in plain.lines()]
    tap.equal({len(row) for row in rows}, {5})
    tap.equal(sorted(row[1] for row in rows), [row[1] for row in rows])
    tap.equal([row[4] for row in rows if row[2] == "master-replica-0"],
              ["epoch 1"])
    assert "service" in {row[2] for row in rows}, plain
    tap.equal(sorted(line.split("\t")[2:] for line in tuning.lines()),
              [["master-replica-0", "1", "epoch 1"],
               ["master-replica-0", "2", "epoch 1"]])
    tap.equal([line.split("\t")[3] for line in vertex.lines()
               if "\tworkerpool0-0\t" in line], ["epoch 1"] * 2)
    absent.refused("NOT_FOUND")


def without_tokens_gcloud_needs_no_credentials():
    with harness.Server("--auth", "none", "--runner", "none") as other, \
            gcloud.Gcloud({"HYPERTUNE_SERVER": other.http},
                          "--project demo --region europe-west4") as open_sdk:
        made = open_sdk.run(*SUBMIT, "open", "--master-image-uri", IMAGE)
        tap.equal(made.lines(), ["jobId: open", "state: QUEUED"])
        shown, absent = open_sdk.together(
            JOBS + ["list", "--format=value(jobId)"],
            JOBS + ["describe", "absent"])
        tap.equal(shown.lines(), ["open"])
        absent.refused("NOT_FOUND", "absent")
        job = other.get("/v1/projects/demo/jobs/open")
        tap.equal(job["trainingInput"]["region"], "europe-west4")


CASES = [the_command_of_a_distributed_job_is_taken_as_it_is,
         jobs_of_ai_platform_are_submitted, what_is_wrong_is_refused_in_words,
         jobs_are_listed_in_pages_and_filtered,
         labels_are_updated_removed_and_cleared,
         a_job_is_cancelled_once_and_again, jobs_of_vertex_are_created,
         jobs_of_vertex_are_listed_described_and_cancelled,
         collections_of_googles_are_refused_in_words,
         results_are_shown_when_the_work_is_done,
         logs_are_streamed_to_their_end,
         without_tokens_gcloud_needs_no_credentials]


gcloud.need("the real gcloud talks to a real server")
# Pages of two, so that every list has to be followed.
with harness.Server("--runner", "none", "--max-page", "2") as server, \
        gcloud.Gcloud(gcloud.to_server(server)) as sdk:
    tap.run(CASES)
