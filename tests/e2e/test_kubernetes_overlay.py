"""The section `kubernetes` of a spec: what it lays over the pods of trials, and
the queue that they wait in, where a test plays Kueue. On the played cluster, or on a
real one (see lib/pod_trials.py)."""

import json
import os

import harness
import kubernetes_store
import pod_trials
import tap
from pod_trials import shell, spec

if os.geteuid() != 0 and "HT_KUBECONFIG" not in os.environ:
    tap.skip("pods of the played cluster", "namespaces want root")

# The first attempt stays until it is taken away.
STAY = ("case $HOSTNAME in *-1-1-master-0*) echo up; while :; do sleep 0.1; "
        "done;; esac; echo score=1")


def head(kind, name, **meta):
    return {"apiVersion": "v1", "kind": kind,
            "metadata": dict({"name": name, "namespace": cluster.namespace},
                             **meta)}


def job_of(study, attempt=1):
    """The Job of that attempt of the first trial, once it is there."""
    number = server.get(harness.JOBS + study)["name"].rsplit("/", 1)[1]
    name = "-%s-1-%d-master-0" % (number, attempt)

    def find():
        return [job for job in cluster.list("jobs")
                if job["metadata"]["name"].endswith(name)]
    return harness.wait_until(find, "a Job of " + study)[0]


def the_overlay_reaches_the_pod():
    cluster.add("secrets", dict(head("Secret", "login"), type="Opaque",
                                stringData={"key": "word"}))
    cluster.add("serviceaccounts", head("ServiceAccount", "trainer"))
    toleration = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
    server.submit(spec("laid", shell(
        "cd /scratch && echo $KEY-$PLAIN >made && cat made && " + STAY),
        env={"PLAIN": "spec"}, serviceAccount="trainer", kubernetes={
            "labels": {"team": "vision"}, "annotations": {"note": "a b"},
            "pod": {
                "tolerations": [toleration],
                "nodeSelector": {"kubernetes.io/os": "linux"},
                "volumes": [{"name": "scratch", "emptyDir": {}}],
                "containers": [{
                    "name": "trial",
                    "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {
                        "name": "login", "key": "key"}}}],
                    "resources": {"requests": {"cpu": "10m"}},
                    "volumeMounts": [{"name": "scratch",
                                      "mountPath": "/scratch"}]}]}}))
    server.wait_output("laid", "word-spec\nup")
    job = job_of("laid")
    pod, = [one for one in cluster.list("pods")
            if one["metadata"]["name"] == server.pod("laid")]
    for one in (job, pod):
        tap.equal(one["metadata"]["labels"]["team"], "vision")
        tap.equal(one["metadata"]["annotations"]["note"], "a b")
    tap.true(toleration in pod["spec"]["tolerations"], "tolerations")
    tap.equal(pod["spec"]["serviceAccountName"], "trainer")
    tap.equal(pod["spec"]["containers"][0]["resources"]["requests"],
              {"cpu": "10m"})
    tap.equal(job["spec"].get("suspend"), False, "not suspended")
    tap.true("credentials" not in server.output("laid", "runner"),
             "no words of the runner's own credentials")
    cluster.delete(pod["metadata"]["name"])
    server.wait_study("laid")
    server.expect_nothing_left()


def what_the_cluster_refuses_is_the_reason():
    trial = server.run(spec("wrong", shell("echo score=1"), kubernetes={
        "pod": {"tolerashuns": []}}))
    tap.equal(trial["state"], "FAILED")
    tap.contains('unknown field "spec.template.spec.tolerashuns"',
                 trial["reason"])


def play_kueue():
    if cluster.has("workloads"):
        raise tap.Skip("the cluster's own Kueue decides")


def a_suspended_job_waits_in_its_queue():
    play_kueue()
    server.submit(spec("queued", shell("echo score=1"),
                       kubernetes={"queue": "team-a"}))
    job = job_of("queued")["metadata"]
    tap.equal(job["labels"]["kueue.x-k8s.io/queue-name"], "team-a")
    server.wait_output("queued", "in the queue team-a", "runner")
    say("Job", job["name"], "CreatedWorkload", "Created Workload: %s/job-w" %
        cluster.namespace, "Normal")
    say("Workload", "job-w", "Pending", "couldn't assign flavors to pod set "
        "main: insufficient quota for cpu")
    server.wait_output("queued", "in the queue team-a: couldn't assign flavors",
                       "runner")
    tap.equal(server.trial("queued", 1)["hypertune"]["attempt"], 1)
    cluster.suspend(job["name"], False)
    server.wait_study("queued")
    trial = server.trial("queued", 1)["hypertune"]
    tap.equal((trial["state"], trial["attempt"]), ("SUCCEEDED", 1),
              trial["reason"])
    server.expect_nothing_left()


def say(kind, of, reason, message, what="Warning"):
    cluster.add("events", kubernetes_store.event(
        cluster.namespace, "%s.%s" % (of, reason.lower()), kind, of, reason,
        message, what))


def an_unadmitted_job_is_a_new_attempt():
    play_kueue()
    server.submit(spec("taken", shell(STAY), kubernetes={"queue": "team-a"}))
    first = job_of("taken")["metadata"]["name"]
    cluster.suspend(first, False)
    server.wait_output("taken", "up")
    cluster.suspend(first, True)
    second = job_of("taken", 2)["metadata"]["name"]
    harness.wait_until(lambda: first not in server.left(), "no first Job")
    cluster.suspend(second, False)
    server.wait_study("taken")
    trial = server.trial("taken", 1)["hypertune"]
    tap.equal((trial["state"], trial["attempt"], trial["objective"]),
              ("SUCCEEDED", 2, 1), trial["reason"])
    tap.equal(trial["attempts"][0]["reason"], "its Job was suspended")
    tap.contains("--x=", server.cli("best", "taken", "-o", "args").stdout)
    server.expect_nothing_left()


def a_trial_in_a_queue_is_stopped():
    server.submit(spec("left", shell("echo score=1"),
                       kubernetes={"queue": "team-a"}))
    job_of("left")
    server.cli("cancel", "left", "--yes")
    server.wait_study("left")
    server.expect_nothing_left()


def an_experiment_of_katib_has_what_its_pod_has():
    cluster.add("secrets", dict(head("Secret", "katib"), type="Opaque",
                                stringData={"key": "0.75"}))
    container = {
        "name": "main", "image": pod_trials.IMAGE,
        "command": shell("echo $PLAIN; echo score=$KEY; "
                         "echo ${trialParameters.x}"),
        "volumeMounts": [{"name": "keys", "mountPath": "/keys"}],
        "env": [{"name": "PLAIN", "value": "plain"},
                {"name": "KEY", "valueFrom": {"secretKeyRef": {
                    "name": "katib", "key": "key"}}}]}
    pod = {"restartPolicy": "Never", "containers": [container],
           "volumes": [{"name": "keys", "secret": {"secretName": "katib"}}]}
    made = {"apiVersion": "kubeflow.org/v1beta1", "kind": "Experiment",
            "metadata": {"name": "katib"}, "spec": {
                "objective": {"type": "maximize",
                              "objectiveMetricName": "score"},
                "algorithm": {"algorithmName": "random"}, "maxTrialCount": 1,
                "parameters": [{"name": "x", "parameterType": "double",
                                "feasibleSpace": {"min": "1", "max": "2"}}],
                "trialTemplate": {
                    "primaryContainerName": "main",
                    "trialParameters": [{"name": "x", "reference": "x"}],
                    "trialSpec": {"apiVersion": "batch/v1", "kind": "Job",
                                  "spec": {"template": {"metadata": {
                                      "labels": {"team": "a"}},
                                      "spec": pod}}}}}}
    path = os.path.join(server.folder, "katib.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    server.cli("submit", path)
    server.wait_study("katib")
    trial = server.trial("katib", 1)["hypertune"]
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 0.75),
              trial["reason"])
    lines = server.output("katib").splitlines()
    tap.equal(lines[:2], ["plain", "score=0.75"])
    tap.true(1 <= float(lines[2]) <= 2, lines[2])


with pod_trials.cluster_here() as cluster, pod_trials.Server(
        cluster) as server:
    tap.run([the_overlay_reaches_the_pod,
             what_the_cluster_refuses_is_the_reason,
             a_suspended_job_waits_in_its_queue,
             an_unadmitted_job_is_a_new_attempt,
             a_trial_in_a_queue_is_stopped,
             an_experiment_of_katib_has_what_its_pod_has])
