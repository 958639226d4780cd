"""The played cluster runs pods: what the tests of the engine for Kubernetes
rely on is shown here, through the API."""

import contextlib
import json
import os
import subprocess
import tempfile
import urllib.request

import harness
import kubernetes
import kubernetes_kubelet
import tap
from kube_tool import TOOL, Tool, add_maps, config_of, write

if kubernetes_kubelet.why_not():
    tap.skip("the played kubelet", kubernetes_kubelet.why_not())


@contextlib.contextmanager
def cluster_of():
    with tempfile.TemporaryDirectory() as folder:
        cluster = kubernetes.Cluster()
        cluster.folder = folder
        kubernetes_kubelet.Kubelet(cluster)
        try:
            yield cluster
        finally:
            cluster.close()


def make_job(cluster, *command, name="j", completions=1, volumes=(),
             mounts=(), env=(), grace=30):
    cluster.store.create("jobs", "work", {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
        "spec": {"backoffLimit": 0, "completionMode": "Indexed",
                 "completions": completions, "parallelism": completions,
                 "template": {"spec": {
                     "restartPolicy": "Never", "volumes": list(volumes),
                     "terminationGracePeriodSeconds": grace,
                     "containers": [{
                         "name": "main", "image": "any", "env": list(env),
                         "command": list(command),
                         "volumeMounts": list(mounts)}]}}}})


def pods_of(cluster):
    with cluster.store.lock:
        return json.loads(json.dumps(cluster.store.find("pods", "work")))


def wait_pod(cluster, test, what):
    """The first pod, once the test holds of its status."""
    def found():
        pods = pods_of(cluster)
        return pods and test(pods[0]["status"]) and pods[0]
    harness.wait_until(found, what)
    return found()


def phase(*wanted):
    return lambda status: status.get("phase") in wanted


def state_of(pod):
    return pod["status"]["containerStatuses"][0]["state"]


def waiting_for(reason):
    return lambda status: status.get("containerStatuses") and status[
        "containerStatuses"][0]["state"].get("waiting", {}).get(
            "reason") == reason


def pods_url(cluster, namespace="work"):
    return "%s/api/v1/namespaces/%s/pods" % (cluster.url, namespace)


def log_of(cluster, pod, query=""):
    request = urllib.request.Request(
        "%s/%s/log%s" % (pods_url(cluster), pod["metadata"]["name"], query),
        headers={"Authorization": "Bearer admin"})
    with urllib.request.urlopen(request, timeout=harness.PATIENCE) as answer:
        return answer.read().decode()


def job_end(cluster, name="j"):
    def ended():
        conditions = cluster.store.get("jobs", "work", name)["status"].get(
            "conditions")
        return conditions and conditions[0]
    harness.wait_until(ended, "the end of the job")
    return ended()["type"], ended()["reason"]


# ---- running ----

def a_job_runs_its_pods_to_their_ends():
    with cluster_of() as cluster:
        make_job(cluster, "sh", "-c", "echo done >/dev/termination-log; "
                 "echo -n \"$JOB_COMPLETION_INDEX \"; "
                 "exec cut -d' ' -f1 /proc/self/stat", completions=2)
        tap.equal(job_end(cluster), ("Complete", ""))
        pods = pods_of(cluster)
        tap.equal(sorted(log_of(cluster, pod) for pod in pods),
                  ["0 1\n", "1 1\n"])
        tap.equal({pod["status"]["phase"] for pod in pods}, {"Succeeded"})
        ended = state_of(pods[0])["terminated"]
        tap.equal((ended["exitCode"], ended["reason"], ended["message"]),
                  (0, "Completed", "done\n"))


def a_container_that_fails_fails_its_job():
    with cluster_of() as cluster:
        make_job(cluster, "sh", "-c", "exit 7")
        tap.equal(job_end(cluster), ("Failed", "BackoffLimitExceeded"))
        ended = state_of(pods_of(cluster)[0])["terminated"]
        tap.equal((ended["exitCode"], ended["reason"]), (7, "Error"))
        make_job(cluster, "no-such-program", name="k")
        tap.equal(job_end(cluster, "k"), ("Failed", "BackoffLimitExceeded"))
        ended = state_of(pods_of(cluster)[1])["terminated"]
        tap.equal((ended["exitCode"], ended["reason"]), (128, "StartError"))
        tap.contains("No such file", ended["message"])


def volumes_and_variables_are_as_the_spec_has_them():
    with cluster_of() as cluster:
        cluster.store.create("configmaps", "work", {
            "metadata": {"name": "m"}, "data": {"text": "words"},
            "binaryData": {"raw": "AAEC"}})
        make_job(
            cluster, "sh", "-c", "cat /a/b/text; od -An -tx1 /a/b/raw; "
            "stat -Lc %a /a/b/raw; touch /a/b/x 2>&1 | grep -o Read-only; "
            "echo $NAME $BOTH; echo here >/scratch/in/file; ls /scratch/in; "
            "touch /dev/shm/../null && ls /etc/hostname /etc/mine",
            volumes=[{"name": "bin", "projected": {
                "defaultMode": 0o555,
                "sources": [{"configMap": {"name": "m"}}]}},
                {"name": "state", "emptyDir": {}},
                {"name": "one", "configMap": {"name": "m", "items": [
                    {"key": "text", "path": "t"}]}}],
            mounts=[{"name": "bin", "mountPath": "/a/b", "readOnly": True},
                    {"name": "state", "mountPath": "/scratch/in"},
                    {"name": "one", "mountPath": "/etc/mine"}],
            env=[{"name": "NAME", "valueFrom": {"fieldRef": {
                "fieldPath": "spec.nodeName"}}},
                {"name": "BOTH", "value": "$(NAME)-$(NONE)"}])
        tap.equal(job_end(cluster), ("Complete", ""))
        tap.equal(log_of(cluster, pods_of(cluster)[0]).split("\n"), [
            "words 00 01 02", "555", "Read-only",
            "node-1 node-1-$(NONE)", "file", "/etc/hostname", "", "/etc/mine:",
            "t", ""])
        tap.equal(log_of(cluster, pods_of(cluster)[0], "?tailLines=1"), "t\n")
        tap.equal(os.path.exists("/etc/mine"), False)


def what_is_missing_is_waited_for():
    with cluster_of() as cluster:
        make_job(cluster, "true", volumes=[
            {"name": "v", "configMap": {"name": "late"}}])
        wait_pod(cluster, waiting_for("ContainerCreating"), "the wait")
        add_maps(cluster, "late")
        tap.equal(job_end(cluster), ("Complete", ""))


def exec_runs_inside_of_the_container():
    with cluster_of() as cluster:
        make_job(cluster, "sh", "-c", "echo there >/s/pid; exec sleep 1000",
                 volumes=[{"name": "s", "emptyDir": {}}],
                 mounts=[{"name": "s", "mountPath": "/s"}],
                 env=[{"name": "WORD", "value": "w"}])
        pod = wait_pod(cluster, phase("Running"), "it runs")
        path = write(cluster.folder, "config", config_of(
            cluster, {"token": "admin"}))
        done = subprocess.run(
            [TOOL, "exec", pod["metadata"]["name"], "main", "sh", "-c",
             "while [ ! -s /s/pid ]; do sleep 0.01; done; cat /s/pid; pwd; "
             "echo $WORD; kill -0 1; exit 4"], capture_output=True,
            env=dict(os.environ, KUBECONFIG=path), check=True,
            stdin=subprocess.DEVNULL, timeout=harness.PATIENCE)
        tap.equal((done.stdout, done.stderr), (b"there\n/\nw\n", b"4 \n"))


# ---- ends ----

TRAP = "trap 'echo term; exit 5' TERM; echo up; while :; do sleep 0.05; done"
DEAF = "trap '' TERM; echo up; while :; do sleep 0.05; done"


def delete(cluster, plural, name):
    path = write(cluster.folder, "config", config_of(cluster,
                                                     {"token": "admin"}))
    tool = Tool(path)
    tap.equal(tool.end("delete", plural, name, "-", "-1", "Background"), "ok")
    tool.close()


def last_pod(cluster):
    """As the watch had it when it was deleted."""
    def gone():
        with cluster.store.lock:
            return [one.object for one in cluster.store.changes
                    if (one.type, one.plural) == ("DELETED", "pods")]
    harness.wait_until(gone, "the end of the pod")
    return gone()[0]


def begun(cluster):
    pod = wait_pod(cluster, phase("Running"), "it runs")
    harness.wait_until(lambda: "up" in log_of(cluster, pod), "it is up")
    return pod["metadata"]["name"]


def a_deletion_ends_it_by_a_signal_and_then_by_force():
    for command, grace, code in ((TRAP, 60, 5), (DEAF, 1, 137)):
        with cluster_of() as cluster:
            make_job(cluster, "sh", "-c", command, grace=grace)
            begun(cluster)
            delete(cluster, "jobs", "j")
            pod = last_pod(cluster)
            tap.equal(state_of(pod)["terminated"]["exitCode"], code)
            tap.equal(pod["status"]["phase"], "Failed")
            tap.equal(cluster.store.items, {})


def a_pod_of_a_job_that_is_deleted_fails_the_job():
    with cluster_of() as cluster:
        make_job(cluster, "sh", "-c", TRAP)
        delete(cluster, "pods", begun(cluster))
        tap.equal(job_end(cluster), ("Failed", "BackoffLimitExceeded"))
        last_pod(cluster)


def an_eviction_by_the_api_ends_it_with_its_reason():
    with cluster_of() as cluster:
        make_job(cluster, "sh", "-c", TRAP)
        name = begun(cluster)
        urllib.request.urlopen(urllib.request.Request(
            "%s/%s/eviction" % (pods_url(cluster), name),
            b"{}", {"Authorization": "Bearer admin"}),
            timeout=harness.PATIENCE).close()
        pod = last_pod(cluster)
        tap.equal(state_of(pod)["terminated"]["exitCode"], 5)
        tap.equal([one["reason"] for one in pod["status"]["conditions"]
                   if one["type"] == "DisruptionTarget"],
                  ["EvictionByEvictionAPI"])


def faults_come_as_ordered():
    with cluster_of() as cluster:
        make_job(cluster, "sh", "-c", TRAP)
        name = begun(cluster)
        data = json.dumps({"do": "evict", "pod": name}).encode()
        urllib.request.urlopen(cluster.url + "/control", data,
                               timeout=harness.PATIENCE).close()
        pod = wait_pod(cluster, phase("Failed"), "its eviction")
        tap.equal((pod["status"]["reason"],
                   state_of(pod)["terminated"]["exitCode"]), ("Evicted", 5))
        tap.equal([one["reason"] for one in pod["status"]["conditions"]
                   if one["type"] == "DisruptionTarget"],
                  ["TerminationByKubelet"])
    with cluster_of() as cluster:
        cluster.kubelet.refuse_nodes()
        cluster.kubelet.refuse_image("any")
        make_job(cluster, "sh", "-c", DEAF)
        wait_pod(cluster, lambda status: "Unschedulable" in str(status),
                 "no node")
        cluster.kubelet.refuse_nodes(None)
        wait_pod(cluster, waiting_for("ImagePullBackOff"), "no image")
        cluster.kubelet.refuse_image("any", False)
        cluster.kubelet.kill_by_memory(begun(cluster))
        pod = wait_pod(cluster, phase("Failed"), "its end")
        ended = state_of(pod)["terminated"]
        tap.equal((ended["exitCode"], ended["reason"]), (137, "OOMKilled"))


tap.run([a_job_runs_its_pods_to_their_ends,
         a_container_that_fails_fails_its_job,
         volumes_and_variables_are_as_the_spec_has_them,
         what_is_missing_is_waited_for,
         exec_runs_inside_of_the_container,
         a_deletion_ends_it_by_a_signal_and_then_by_force,
         a_pod_of_a_job_that_is_deleted_fails_the_job,
         an_eviction_by_the_api_ends_it_with_its_reason,
         faults_come_as_ordered])
