"""Trials that are objects whose pods an operator makes: Workflows of Argo on the
played cluster, read by the log of the pod that the study names."""

import json
import os
import tempfile

import harness
import kubernetes_workflows
import pod_trials
import tap
from pod_trials import IMAGE, shell, spec

if os.geteuid() != 0:
    tap.skip("pods of the played cluster", "namespaces want root")

TRAIN = {"part": "train"}
cluster = server = None


def until(name):
    return "until [ -e %s ]; do sleep 0.1; done" % os.path.join(
        cluster.folder, name)


def template(name, command, **members):
    return dict({"name": name, "container": {
        "image": IMAGE, "command": shell(command)}}, **members)


def flow(train, other="echo score=9"):
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
            "spec": {"entrypoint": "train", "templates": [
                template("other", other),
                template("train", train, metadata={"labels": TRAIN})]}}


def submit(name, made, **members):
    server.submit(spec(name, None, image=None, args=None, kubernetes={
        "template": made, "primaryPodLabels": TRAIN}, **members))


def expect(study, state, attempt=1):
    trial = server.trial(study, 1)["hypertune"]
    tap.equal((trial["state"], trial["attempt"]), (state, attempt),
              trial["reason"])
    return trial


def expect_nothing_left():
    harness.wait_until(lambda: not server.left() and not cluster.list(
        "workflows"), "a clean end")


def open_mark(name):
    with open(os.path.join(cluster.folder, name), "wb"):
        pass


def the_named_pod_is_the_trial_and_its_log_the_result():
    submit("good", flow("echo x ${x}; echo score=0.25; %s; printf score=0.5"
                        % until("good")))
    server.wait_output("good", "0.25")
    number = server.output("good").split()[1]
    tap.true(0 <= float(number) <= 1, number)
    tap.contains("the pods of a Workflow are its operator's",
                 server.output("good", "runner"))
    open_mark("good")
    server.wait_study("good")
    tap.equal(expect("good", "SUCCEEDED")["objective"], 0.5)
    tap.true("score=9" not in server.output("good"), "another pod's line")
    expect_nothing_left()


def the_failure_of_the_pod_or_of_the_object_is_that_of_the_trial():
    submit("bad", flow("echo ${x}; exit 3"))
    server.wait_study("bad")
    tap.contains("code 3", expect("bad", "FAILED")["reason"])
    submit("other", flow("echo ${x}; sleep 1000", "exit 1"))
    server.wait_study("other")
    tap.contains("its Workflow failed", expect("other", "FAILED")["reason"])
    expect_nothing_left()


def an_evicted_pod_is_a_new_attempt():
    submit("evicted", flow(
        "echo ${x}; case $HOSTNAME in *-1-1-train) echo up; sleep 1000;; esac; "
        "echo score=1"))
    server.wait_output("evicted", "up")
    name, = [pod["metadata"]["name"] for pod in cluster.list("pods")
             if pod["metadata"]["name"].endswith("-train")]
    cluster.evict(name)
    server.wait_study("evicted")
    expect("evicted", "SUCCEEDED", 2)
    expect_nothing_left()


def a_killed_runner_s_trial_continues():
    submit("killed", flow("echo up ${x}; %s; echo score=1" % until("killed")))
    server.wait_output("killed", "up")
    server.kill()
    harness.kill_runs(server.data)
    server.start()
    open_mark("killed")
    server.wait_study("killed")
    expect("killed", "SUCCEEDED")
    tap.equal(len(server.output("killed").splitlines()), 2)
    expect_nothing_left()


def an_experiment_of_katib_keeps_its_workflow():
    made = flow("echo ${trialParameters.rate}; echo score=0.75")
    experiment = {
        "apiVersion": "kubeflow.org/v1beta1", "kind": "Experiment",
        "metadata": {"name": "katib"}, "spec": {
            "objective": {"type": "maximize", "objectiveMetricName": "score"},
            "algorithm": {"algorithmName": "random"}, "maxTrialCount": 1,
            "parameters": [{"name": "x", "parameterType": "double",
                            "feasibleSpace": {"min": "1", "max": "2"}}],
            "trialTemplate": {
                "primaryContainerName": "main", "primaryPodLabels": TRAIN,
                "successCondition": 'status.[@this].#(phase=="Succeeded")#',
                "failureCondition": 'status.[@this].#(phase=="Failed")#',
                "trialParameters": [{"name": "rate", "reference": "x"}],
                "trialSpec": made}}}
    path = os.path.join(server.folder, "katib.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(experiment, file)
    server.cli("submit", path)
    server.wait_study("katib")
    tap.equal(expect("katib", "SUCCEEDED")["objective"], 0.75)
    expect_nothing_left()


with tempfile.TemporaryDirectory(prefix="kube") as folder:
    cluster = pod_trials.Played(folder)
    kubernetes_workflows.install(cluster.cluster)
    cluster.rights.update(kubernetes_workflows.RIGHTS)
    try:
        with pod_trials.Server(cluster) as server:
            tap.run([the_named_pod_is_the_trial_and_its_log_the_result,
                     the_failure_of_the_pod_or_of_the_object_is_that_of_the_trial,
                     an_evicted_pod_is_a_new_attempt,
                     a_killed_runner_s_trial_continues,
                     an_experiment_of_katib_keeps_its_workflow])
    finally:
        cluster.close()
