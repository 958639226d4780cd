"""Trials that are PipelineRuns of Tekton, read by the log of the step that the
study names: on a real cluster that has them alone (see lib/pod_trials.py)."""

import os

import harness
import pod_trials
import tap
from pod_trials import IMAGE, shell, spec

if "HT_KUBECONFIG" not in os.environ:
    tap.skip("PipelineRuns as trials", "no played cluster has Tekton")

TRAIN = {"part": "train"}


def task(name, command, **members):
    return {"name": name, "taskSpec": dict({"steps": [
        {"name": "run", "image": IMAGE, "command": shell(command)}]},
        **members)}


def submit(name, train, other="echo score=9", **members):
    made = {"apiVersion": "tekton.dev/v1", "kind": "PipelineRun",
            "spec": dict({"pipelineSpec": {"tasks": [
                task("other", other),
                task("train", train, metadata={"labels": TRAIN})]}},
                **members)}
    server.submit(spec(name, None, image=None, args=None, kubernetes={
        "template": made, "primaryPodLabels": TRAIN,
        "primaryContainer": "step-run"}))


def expect(study, state, attempt=1):
    server.wait_study(study)
    trial = server.trial(study, 1)["hypertune"]
    tap.equal((trial["state"], trial["attempt"]), (state, attempt),
              trial["reason"])
    harness.wait_until(lambda: not server.left() and not cluster.list(
        "pipelineruns"), "a clean end")
    return trial


def the_named_step_is_the_trial_and_its_log_the_result():
    submit("good", "echo x ${x}; echo score=0.25; sleep 1; printf score=0.5")
    tap.equal(expect("good", "SUCCEEDED")["objective"], 0.5)
    number = server.output("good").split()[1]
    tap.true(0 <= float(number) <= 1, number)
    tap.true("score=9" not in server.output("good"), "another pod's line")


def the_failure_of_the_step_is_that_of_the_trial():
    submit("bad", "echo ${x}; exit 3")
    tap.contains("code 3", expect("bad", "FAILED")["reason"])


def the_failure_of_another_task_leaves_the_trial_its_end():
    """Tekton lets tasks end that run."""
    submit("other", "echo ${x}; sleep 5; echo score=1", "exit 1")
    tap.equal(expect("other", "SUCCEEDED")["objective"], 1)


def the_time_limit_of_the_object_is_its_failure():
    submit("late", "echo ${x}; sleep 1000", timeouts={"pipeline": "8s"})
    tap.contains("failed to finish within",
                 expect("late", "FAILED")["reason"])


def a_person_stops_it():
    submit("stopped", "echo ${x}; echo score=0.5; echo up; sleep 1000")
    server.wait_output("stopped", "up")
    server.cli("stop-trial", "stopped/1")
    tap.equal(expect("stopped", "STOPPED")["objective"], 0.5)


def an_evicted_pod_is_a_new_attempt():
    submit("evicted", "echo ${x}; case $HOSTNAME in *-1-1-train*) echo up; "
           "sleep 1000;; esac; echo score=1")
    server.wait_output("evicted", "up")
    name, = [pod["metadata"]["name"] for pod in cluster.list("pods")
             if "-train" in pod["metadata"]["name"]]
    cluster.evict(name)
    expect("evicted", "SUCCEEDED", 2)


with pod_trials.cluster_here() as cluster:
    if not cluster.has("pipelineruns"):
        tap.skip("PipelineRuns as trials", "the cluster has no PipelineRuns")
    with pod_trials.Server(cluster) as server:
        tap.run([the_named_step_is_the_trial_and_its_log_the_result,
                 the_failure_of_the_step_is_that_of_the_trial,
                 the_failure_of_another_task_leaves_the_trial_its_end,
                 the_time_limit_of_the_object_is_its_failure,
                 a_person_stops_it, an_evicted_pod_is_a_new_attempt])
