"""A server whose runner starts pods, on the played cluster, or on the real one
whose kubeconfig HT_KUBECONFIG names: then by kubectl, in a namespace of its
own, with an image that is there."""

import contextlib
import json
import os
import subprocess
import tempfile

import harness
import kube_tool
import kubernetes
import kubernetes_job_sets
import kubernetes_kubelet
import kubernetes_training_jobs
import tap
from kubernetes_rules import Refused

IMAGE = "localhost/tiny:1"  # busybox, never pulled
RIGHTS = {"jobs": {"create", "get", "list", "delete"},
          "pods": {"list", "watch", "delete"}, "pods/exec": {"create", "get"},
          "services": {"create", "get", "list", "delete"},
          "configmaps": {"create", "get"}, "events": {"list"}}
UNTIL_GO = ("echo up; until [ -e $HYPERTUNE_TRIAL_DIR/go ]; do sleep 0.1; "
            "done; echo score=1")


class Played:
    """Its user has the rights that a runner asks for, no other."""

    name = "the_played_cluster"

    def __init__(self, folder, job_sets=False, training_jobs=False):
        self.cluster = kubernetes.Cluster()
        self.rights = dict(RIGHTS, **(kubernetes_job_sets.RIGHTS
                                      if job_sets else {}))
        if job_sets:
            kubernetes_job_sets.install(self.cluster)
        if training_jobs:
            self.rights.update(kubernetes_training_jobs.RIGHTS)
            kubernetes_training_jobs.install(self.cluster)
            self.rights["jobs"] = self.rights["jobs"] | {"watch"}
        self.cluster.users["runner"] = {"work": self.rights}
        kubernetes_kubelet.Kubelet(self.cluster)
        self.folder = folder
        kube_tool.write(folder, "plugin.token", "runner")
        self.config = kube_tool.write(folder, "config", kube_tool.config_of(
            self.cluster, kube_tool.exec_user(folder)))
        self.namespace = "work"

    def close(self):
        self.cluster.close()

    def logins(self):
        """How often the program that gives the token has run."""
        return kube_tool.plugin_runs(self.folder)

    def list(self, plural):
        return self.cluster.store.find(plural, "work")

    def evict(self, pod):
        self.cluster.kubelet.evict(pod)

    def delete(self, pod):
        self.cluster.store.delete("pods", "work", pod, {})

    def suspend(self, job, suspended):
        self.cluster.store.patch("jobs", "work", job,
                                 {"spec": {"suspend": suspended}})

    def add(self, plural, item):
        self.cluster.store.create(plural, "work", item)

    def cut(self):
        """Every connection to a pod."""
        self.cluster.cut_streams()

    def delete_job(self, job):
        self.cluster.store.delete("jobs", "work", job, {})

    @contextlib.contextmanager
    def without_pods(self):
        """A quota leaves room for none; its words."""
        def refuse(plural, _):
            if plural == "pods":
                raise Refused(403, "Forbidden", 'pods "a" is forbidden: '
                              'exceeded quota: none, requested: pods=1, used: '
                              'pods=0, limited: pods=0')
        self.cluster.store.admission = refuse
        try:
            yield "exceeded quota"
        finally:
            self.cluster.store.admission = None
            self.cluster.store.sync("work")

    @contextlib.contextmanager
    def without_right(self, resource):
        self.cluster.users["runner"] = {"work": {
            key: verbs for key, verbs in self.rights.items()
            if key != resource}}
        try:
            yield
        finally:
            self.cluster.users["runner"] = {"work": self.rights}

    @contextlib.contextmanager
    def full(self):
        """No node takes a pod; the scheduler's words."""
        words = "0/1 nodes are available: 1 Insufficient cpu."
        self.cluster.kubelet.refuse_nodes(words)
        try:
            yield "Insufficient cpu"
        finally:
            self.cluster.kubelet.refuse_nodes(None)


class Real:
    name = "a_real_cluster"

    def __init__(self, folder):
        self.config = os.environ["HT_KUBECONFIG"]
        self.namespace = "ht-" + os.path.basename(folder).lower().replace(
            "_", "-")
        self.call("create", "namespace", self.namespace)
        harness.wait_until(lambda: self.list("serviceaccounts"), "an account")

    def close(self):
        self.call("delete", "namespace", self.namespace, "--wait=false")

    def logins(self):
        return 1  # by its certificate

    def call(self, *words, text=None):
        done = subprocess.run(
            ("kubectl", "--kubeconfig", self.config, "-n",
             self.namespace) + words, input=text, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=60)
        if done.returncode != 0:
            raise AssertionError("kubectl %s: %s" % (words, done.stderr))
        return done.stdout

    def list(self, plural):
        return json.loads(self.call("get", plural, "-o", "json"))["items"]

    def evict(self, pod):
        body = {"apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": pod, "namespace": self.namespace}}
        self.call("create", "--raw", "/api/v1/namespaces/%s/pods/%s/eviction" %
                  (self.namespace, pod), "-f", "-", text=json.dumps(body))

    def delete(self, pod):
        self.call("delete", "pod", pod, "--wait=false")

    def suspend(self, job, suspended):
        self.call("patch", "job", job, "--type=merge", "-p", json.dumps(
            {"spec": {"suspend": suspended}}))

    def add(self, plural, item):
        self.call("create", "-f", "-", text=json.dumps(item))

    def cut(self):
        """Nothing does that from outside."""

    def delete_job(self, job):
        self.call("delete", "job", job, "--wait=false")

    @contextlib.contextmanager
    def without_pods(self):
        self.call("create", "quota", "none", "--hard=pods=0")
        try:
            yield "exceeded quota"
        finally:
            self.call("delete", "quota", "none")

    def without_right(self, resource):
        raise tap.Skip("its user may do everything: " + resource)

    @contextlib.contextmanager
    def full(self):
        node = self.call("get", "nodes", "-o", "name").split()[0]
        self.call("cordon", node)
        try:
            yield "unschedulable"
        finally:
            self.call("uncordon", node)


class Server(harness.Server):
    """Its runner finds the cluster by the environment."""

    def __init__(self, cluster, *options):
        super().__init__("--runner", "kubernetes", *options, slots=8,
                         environment={"KUBECONFIG": cluster.config,
                                      "HYPERTUNE_RUNNER_KUBERNETES_NAMESPACE":
                                      cluster.namespace})
        self.cluster = cluster

    def left(self):
        """Names of objects; ConfigMaps are for all runners."""
        return [item["metadata"]["name"]
                for plural in ("jobs", "pods", "services")
                for item in self.cluster.list(plural)]

    def expect_nothing_left(self):
        harness.wait_until(lambda: not self.left(), "a clean end")

    def pod(self, study, replica="master-0"):
        """The name of the one that runs; waits for it."""
        number = self.get(harness.JOBS + study)["name"].rsplit("/", 1)[1]

        def find():
            return [pod["metadata"]["name"] for pod in self.cluster.list("pods")
                    if "-%s-1-" % number in pod["metadata"]["name"] and
                    replica in pod["metadata"]["name"] and
                    pod["status"].get("phase") == "Running" and
                    "deletionTimestamp" not in pod["metadata"]]
        return harness.wait_until(find, "a pod of " + study)[0]

    def mark_go(self, pod, container="trial"):
        """Makes the file that UNTIL_GO waits for, in the pod."""
        self.mark(pod, container, "/hypertune/trial/go")

    def mark(self, pod, container, path):
        tap.equal(subprocess.run(
            (kube_tool.TOOL, "namespace=" + self.cluster.namespace, "exec",
             pod, container, "touch", path),
            env={**os.environ, "KUBECONFIG": self.cluster.config}, timeout=60,
            stdin=subprocess.DEVNULL, check=False).returncode, 0)

    def output(self, study, stream="stdout", replica="master-0", trial=1):
        status, answer = self.call(
            "GET", harness.OURS + "%s/trials/%s/logs?replica=%s&stream=%s&"
            "offset=0" % (study, trial, replica, stream))
        if status not in (200, 404):
            raise AssertionError("logs of %s: %s" % (study, answer))
        return answer.get("data", "")

    def wait_output(self, study, text, stream="stdout", **where):
        return harness.wait_until(
            lambda: text in self.output(study, stream, **where),
            "%r in %s of %s" % (text, stream, study))

    def run(self, made):
        """Submits a spec and waits; hypertune's view of trial 1."""
        self.submit(made)
        self.wait_study(made["name"])
        return self.trial(made["name"], 1)["hypertune"]


def shell(text):
    return ["sh", "-c", text]


def spec(name, command, **members):
    made = {"spec": 1, "name": name, "goal": "maximize score", "image": IMAGE,
            "command": command, "args": "none",
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "algorithm": "random", "seed": 1, "trials": 1, "retries": 0,
            "metrics": {"stdout": "score={score}"}, "grace": "5s"}
    made.update(members)
    return {name: value for name, value in made.items() if value is not None}


@contextlib.contextmanager
def cluster_here():
    with tempfile.TemporaryDirectory(prefix="kube") as folder:
        real = "HT_KUBECONFIG" in os.environ
        made = Real(folder) if real else Played(folder)
        try:
            yield made
        finally:
            made.close()


