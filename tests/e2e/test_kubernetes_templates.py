"""Trials that are objects from a template: a Job with an init container, and a
PyTorchJob with a worker. On the played cluster, or on a real one (see
lib/pod_trials.py), where PyTorchJobs need their operator."""

import glob
import json
import os

import harness
import kubernetes_training_jobs
import pod_trials
import tap
from pod_trials import IMAGE, UNTIL_GO, shell, spec

REAL = "HT_KUBECONFIG" in os.environ
if os.geteuid() != 0 and not REAL:
    tap.skip("pods of the played cluster", "namespaces want root")

VOLUME = {"name": "data", "emptyDir": {}}
MOUNT = {"name": "data", "mountPath": "/data"}


def of(name, template, **members):
    """Of a study whose spec says no image and no command."""
    section = dict(members.pop("kubernetes", {}), template=template)
    return spec(name, None, image=None, kubernetes=section, **members)


def job(command, **pod):
    container = {"name": "main", "image": IMAGE, "command": command,
                 "volumeMounts": [MOUNT]}
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": {
        "backoffLimit": 0, "template": {"spec": dict(
            {"restartPolicy": "Never", "containers": [container],
             "volumes": [VOLUME]}, **pod)}}}


def torch(master, worker, restart="OnFailure"):
    def replica(command):
        return {"replicas": 1, "restartPolicy": restart, "template": {
            "spec": {"terminationGracePeriodSeconds": 1, "containers": [
                {"name": "pytorch", "image": IMAGE, "command": command}]}}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {
        "pytorchReplicaSpecs": {"Master": replica(master),
                                "Worker": replica(worker)}}}


def torch_jobs():
    return cluster.list("pytorchjobs") if HAS_TORCH else []


def expect_nothing_left():
    harness.wait_until(lambda: not server.left() and not torch_jobs(),
                       "a clean end")


def expect(study, state, attempt=1):
    trial = server.trial(study, 1)["hypertune"]
    tap.equal((trial["state"], trial["attempt"]), (state, attempt),
              trial["reason"])
    return trial


def pods(role):
    return [pod for pod in cluster.list("pods")
            if pod["metadata"]["name"].endswith(role)]


def a_job_with_an_init_container_is_a_trial():
    first = {"name": "first", "image": IMAGE, "volumeMounts": [MOUNT],
             "command": shell("echo 0.5 >/data/score")}
    template = job(shell("echo made $X ${x}; echo score=$(cat /data/score)"),
                   initContainers=[first])
    template["spec"]["template"]["spec"]["containers"][0]["env"] = [
        {"name": "X", "value": "of ${x}"}]
    server.submit(of("plain", template))
    server.wait_study("plain")
    tap.equal(expect("plain", "SUCCEEDED")["objective"], 0.5)
    words = server.output("plain").splitlines()[0].split()
    tap.equal(words[:2], ["made", "of"])
    tap.true(words[2] == words[3] and 0 <= float(words[2]) <= 1, words)
    expect_nothing_left()


def the_spec_s_image_and_command_are_those_of_the_container():
    made = spec("own", shell("echo score=2"), kubernetes={
        "template": job(["none"]), "labels": {"team": "vision"}})
    made["kubernetes"]["template"]["spec"]["template"]["spec"]["containers"][
        0]["image"] = "localhost/none:1"
    server.submit(made)
    server.wait_study("own")
    tap.equal(expect("own", "SUCCEEDED")["objective"], 2)


def a_job_that_fails_is_its_pod_s_failure():
    server.submit(of("broken", job(shell("echo no >&2; exit 3"))))
    server.wait_study("broken")
    tap.contains("3", expect("broken", "FAILED")["reason"])
    expect_nothing_left()


def a_pytorch_job_is_a_trial_with_its_workers():
    server.submit(of("torch", torch(
        shell("echo $MASTER_ADDR $RANK; " + UNTIL_GO),
        shell("echo ${x}; while :; do sleep 0.1; done"))))
    server.wait_output("torch", "up")
    made, = torch_jobs()
    name = made["metadata"]["name"]
    tap.equal(server.output("torch").splitlines()[0], name + "-master-0 0")
    master, worker = pods("-master-0") + pods("-worker-0")
    for pod in (master, worker):
        tap.equal(pod["metadata"]["labels"]["hypertune/attempt"],
                  made["metadata"]["labels"]["hypertune/attempt"])
    tap.equal(master["spec"]["restartPolicy"], "Never")
    tap.equal(worker["spec"]["restartPolicy"], "OnFailure")
    x = worker["spec"]["containers"][0]["command"][2].split(";")[0]
    tap.true(0 <= float(x.split()[1]) <= 1, x)
    server.mark_go(name + "-master-0", "pytorch")
    server.wait_study("torch")
    tap.equal(expect("torch", "SUCCEEDED")["objective"], 1)
    expect_nothing_left()


def a_worker_s_failure_is_that_of_the_trial():
    server.submit(of("worker", torch(shell(UNTIL_GO), shell("exit 1"),
                               "Never")))
    server.wait_study("worker")
    tap.contains("its PyTorchJob failed: PyTorchJobFailed: PyTorchJob ",
                 expect("worker", "FAILED")["reason"])
    expect_nothing_left()


def pods_that_an_operator_takes_away_are_the_object_s_failure():
    template = torch(shell(UNTIL_GO), shell("until [ -e /go ]; do sleep 0.1; "
                                            "done; exit 1"), "Never")
    template["spec"]["runPolicy"] = {"cleanPodPolicy": "All"}
    server.submit(of("cleaned", template))
    server.wait_output("cleaned", "up")
    server.mark(pods("-worker-0")[0]["metadata"]["name"], "pytorch", "/go")
    server.wait_study("cleaned")
    tap.contains("its PyTorchJob failed: ",
                 expect("cleaned", "FAILED")["reason"])
    expect_nothing_left()


def a_condition_of_the_spec_counts():
    server.submit(of("said", torch(shell(UNTIL_GO), shell("sleep 1000")),
                     kubernetes={"failure": "status.[@this].#(word==bad)#"}))
    server.wait_output("said", "up")
    made, = torch_jobs()
    with cluster.cluster.store.lock:
        made["status"].update(word="bad", message="as the test wants")
        cluster.cluster.store.note_change("pytorchjobs", made)
    server.wait_study("said")
    tap.equal(expect("said", "FAILED")["reason"],
              "its PyTorchJob failed: as the test wants")
    expect_nothing_left()


def an_evicted_master_is_a_new_attempt():
    once = ("case $HOSTNAME in *-1-1-master-0) echo up; while :; do sleep 0.1;"
            " done;; esac; echo score=1")
    server.submit(of("evicted", torch(
        shell("HOSTNAME=$MASTER_ADDR; " + once),
        shell("while :; do sleep 0.1; done"))))
    server.wait_output("evicted", "up")
    cluster.evict(pods("-master-0")[0]["metadata"]["name"])
    server.wait_study("evicted")
    expect("evicted", "SUCCEEDED", 2)
    expect_nothing_left()


def an_evicted_master_s_object_may_be_seen_to_fail_first():
    server.submit(of("raced", torch(
        shell("case $MASTER_ADDR in *-1-1-master-0) echo up; "
              "trap 'sleep 1; exit' TERM; while :; do sleep 0.1; done;; esac; "
              "echo score=1"), shell("while :; do sleep 0.1; done"))))
    server.wait_output("raced", "up")
    made, = torch_jobs()
    name, = [pod["metadata"]["name"] for pod in pods("-master-0")]
    with cluster.cluster.store.lock:
        cluster.evict(name)
        kubernetes_training_jobs.end(cluster.cluster.store, made, "Failed",
                                     "one Master replica failed")
    server.wait_study("raced")
    expect("raced", "SUCCEEDED", 2)
    expect_nothing_left()


def a_kind_that_the_cluster_lacks_is_the_reason():
    template = torch(shell("true"), shell("true"))
    template.update(apiVersion="example.org/v1", kind="Made")
    server.submit(of("kind", template,
                     kubernetes={"primaryContainer": "pytorch"}))
    server.wait_study("kind")
    tap.equal(expect("kind", "FAILED")["reason"],
              "the cluster has no kind Made of example.org/v1")


def a_right_that_lacks_is_waited_for():
    with cluster.without_right("pytorchjobs"):
        server.submit(of("right", torch(shell("echo score=1"),
                                        shell("sleep 1000"))))
        server.wait_output("right", 'cannot create resource "pytorchjobs"',
                           "runner")
    server.wait_study("right")
    expect("right", "SUCCEEDED")
    expect_nothing_left()


def what_the_cluster_refuses_is_the_reason():
    template = torch(shell("true"), shell("true"))
    template["spec"]["pytorchReplicaSpecz"] = {}
    server.submit(of("refused", template))
    server.wait_study("refused")
    tap.contains('unknown field "spec.pytorchReplicaSpecz"',
                 expect("refused", "FAILED")["reason"])


def an_experiment_of_katib_keeps_its_pytorch_job():
    template = torch(
        shell("echo score=$(cat /data/score) ${trialParameters.rate}"),
        shell("echo ${trialParameters.rate}; sleep 1000"))
    template["metadata"] = {"name": "theirs", "namespace": "other"}
    pod = template["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    pod.update(volumes=[VOLUME], initContainers=[{
        "name": "first", "image": IMAGE, "volumeMounts": [MOUNT],
        "command": shell("echo 0.25 >/data/score")}])
    pod["containers"][0]["volumeMounts"] = [MOUNT]
    made = {"apiVersion": "kubeflow.org/v1beta1", "kind": "Experiment",
            "metadata": {"name": "katib"}, "spec": {
                "objective": {"type": "maximize",
                              "objectiveMetricName": "score"},
                "algorithm": {"algorithmName": "random"}, "maxTrialCount": 1,
                "parameters": [{"name": "x", "parameterType": "double",
                                "feasibleSpace": {"min": "1", "max": "2"}}],
                "trialTemplate": {
                    "primaryContainerName": "pytorch",
                    "primaryPodLabels": {
                        "training.kubeflow.org/job-role": "master"},
                    "trialParameters": [{"name": "rate", "reference": "x"}],
                    "trialSpec": template}}}
    path = os.path.join(server.folder, "katib.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    server.cli("submit", path)
    server.wait_study("katib")
    tap.equal(expect("katib", "SUCCEEDED")["objective"], 0.25)
    tap.true(1 <= float(server.output("katib").split()[1]) <= 2, "a value")
    expect_nothing_left()


def a_killed_runner_s_trial_continues():
    server.submit(of("killed", torch(shell(UNTIL_GO), shell("sleep 1000"))))
    server.wait_output("killed", "up")
    server.kill()
    harness.kill_runs(server.data)
    server.start()
    server.mark_go(pods("-master-0")[0]["metadata"]["name"], "pytorch")
    server.wait_study("killed")
    expect("killed", "SUCCEEDED")
    expect_nothing_left()


def what_a_killed_runner_left_is_removed():
    server.submit(of("left", torch(shell(UNTIL_GO), shell("sleep 1000"))))
    server.wait_output("left", "up")
    number = torch_jobs()[0]["metadata"]["name"]
    server.kill()
    harness.kill_runs(server.data)
    leases = glob.glob(server.data + "/**/lease.json", recursive=True)
    tap.true(leases, "the leases of the runner")
    for path in leases:
        os.remove(path)
    server.start()
    harness.wait_until(lambda: number not in [
        one["metadata"]["name"] for one in torch_jobs()], "no PyTorchJob")
    server.cli("cancel", "left", "--yes")
    server.wait_study("left")
    expect_nothing_left()


with pod_trials.cluster_here(training_jobs=True) as cluster, pod_trials.Server(
        cluster) as server:
    HAS_TORCH = cluster.has("pytorchjobs")
    CASES = [a_job_with_an_init_container_is_a_trial,
             the_spec_s_image_and_command_are_those_of_the_container,
             a_job_that_fails_is_its_pod_s_failure,
             a_kind_that_the_cluster_lacks_is_the_reason]
    if HAS_TORCH:
        CASES += [a_pytorch_job_is_a_trial_with_its_workers,
                  a_worker_s_failure_is_that_of_the_trial,
                  pods_that_an_operator_takes_away_are_the_object_s_failure,
                  an_evicted_master_is_a_new_attempt,
                  what_the_cluster_refuses_is_the_reason,
                  an_experiment_of_katib_keeps_its_pytorch_job,
                  a_killed_runner_s_trial_continues,
                  what_a_killed_runner_left_is_removed]
    if not REAL:
        CASES += [an_evicted_master_s_object_may_be_seen_to_fail_first,
                  a_condition_of_the_spec_counts,
                  a_right_that_lacks_is_waited_for]
    tap.run(CASES)
