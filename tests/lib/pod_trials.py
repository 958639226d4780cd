"""A server whose runner starts pods, on the played cluster, or on the real one
whose kubeconfig HT_KUBECONFIG names: then by kubectl, in a namespace of its
own, with an image that is there."""

import contextlib
import functools
import json
import os
import signal
import subprocess
import tempfile

import harness
import kube_tool
import kubernetes
import kubernetes_exec
import kubernetes_job_sets
import kubernetes_kubelet
import kubernetes_kueue
import kubernetes_training_jobs
import tap
from kubernetes_rules import Refused

SLOTS = 8
IMAGE = "localhost/tiny:1"  # busybox, never pulled
RIGHTS = {"jobs": {"create", "get", "list", "delete"},
          "pods": {"list", "watch", "delete"}, "pods/exec": {"create", "get"},
          "pods/log": {"get"},
          "services": {"create", "get", "list", "delete"},
          "configmaps": {"create", "get"}, "events": {"list"}}
UNTIL_GO = ("echo up; until [ -e $HYPERTUNE_TRIAL_DIR/go ]; do sleep 0.1; "
            "done; echo score=1")


class Played:
    """Its user has the rights that a runner asks for, no other."""

    name = "the_played_cluster"

    def __init__(self, folder, job_sets=False, training_jobs=False,
                 kueue=False):
        self.cluster = kubernetes.Cluster()
        self.rights = dict(RIGHTS)
        if job_sets:
            self.rights["jobsets"] = kubernetes_job_sets.RIGHTS["jobsets"] | {
                "watch"}  # as templates
            kubernetes_job_sets.install(self.cluster)
        if kueue:
            self.rights.update(kubernetes_kueue.RIGHTS)
            self.kueue = kubernetes_kueue.install(self.cluster)
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
        self.admin = kube_tool.write(folder, "admin", kube_tool.config_of(
            self.cluster, {"token": "admin"}))

    def close(self):
        self.cluster.close()

    @functools.cached_property
    def reader(self):
        """A kubeconfig whose user may read logs and enter no pod."""
        self.cluster.users["reader"] = {"work": {
            key: verbs for key, verbs in self.rights.items()
            if key != "pods/exec"}}
        return kube_tool.write(self.folder, "reader", kube_tool.config_of(
            self.cluster, {"token": "reader"}))

    def logins(self):
        """How often the program that gives the token has run."""
        return kube_tool.plugin_runs(self.folder)

    def list(self, plural):
        return self.cluster.store.find(plural, "work")

    def evict(self, pod):
        self.cluster.kubelet.evict(pod)

    def delete(self, pod):
        self.cluster.store.delete("pods", "work", pod, {})

    def kill(self, pod):
        """Without grace."""
        self.cluster.store.delete("pods", "work", pod,
                                  {"gracePeriodSeconds": 0})

    @contextlib.contextmanager
    def slow(self):
        """Some MB/s from each pod."""
        kubernetes_exec.Stream.pause = 0.01
        try:
            yield
        finally:
            kubernetes_exec.Stream.pause = 0

    def suspend(self, job, suspended):
        self.cluster.store.patch("jobs", "work", job,
                                 {"spec": {"suspend": suspended}})

    def add(self, plural, item):
        self.cluster.store.create(plural, "work", item)

    def cut(self):
        """Every connection to a pod."""
        self.cluster.cut_streams()
        self.cluster.cut_logs()

    def leave(self):
        """The API server is away, until some requests had no answer."""
        before = self.cluster.turned_away
        with self.cluster.gone():
            harness.wait_until(
                lambda: self.cluster.turned_away >= before + 3, "requests")

    def forget(self):
        """Watches end, and cannot continue where they were."""
        self.cluster.store.compact()
        self.cluster.end_watches()

    def remove(self, plural, name):
        self.cluster.store.delete(plural, "work", name, {})

    def has(self, plural):
        return plural in self.cluster.store.kinds

    @contextlib.contextmanager
    def queue(self, name, cpu):
        """As of Real."""
        self.kueue.add_queue(name, cpu)
        try:
            yield
        finally:
            self.kueue.remove_queue(name)

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
        self.config = self.admin = os.environ["HT_KUBECONFIG"]
        self.folder = folder
        self.namespace = "ht-" + os.path.basename(folder).lower().replace(
            "_", "-").rstrip("-")
        self.call("create", "namespace", self.namespace)
        harness.wait_until(lambda: self.list("serviceaccounts"), "an account")

    def close(self):
        self.call("delete", "namespace", self.namespace, "--wait=false")

    @functools.cached_property
    def reader(self):
        """As of Played."""
        self.call("create", "serviceaccount", "reader")
        groups = {"jobs": "batch"}
        self.add("", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "reader"}, "rules": [
                {"apiGroups": [groups.get(key, "")], "resources": [key],
                 "verbs": sorted(verbs | {"watch"} if key == "jobs" else
                                 verbs)}
                for key, verbs in RIGHTS.items() if key != "pods/exec"]})
        self.call("create", "rolebinding", "reader", "--role=reader",
                  "--serviceaccount=%s:reader" % self.namespace)
        path = os.path.join(self.folder, "reader")
        config = json.loads(self.call("config", "view", "--raw", "--minify",
                                      "-o", "json"))
        config["users"][0]["user"] = {
            "token": self.call("create", "token", "reader").strip()}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return path

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

    def kill(self, pod):
        self.call("delete", "pod", pod, "--wait=false", "--force",
                  "--grace-period=0")

    @contextlib.contextmanager
    def slow(self):
        """It is as fast as it is."""
        yield

    def suspend(self, job, suspended):
        self.call("patch", "job", job, "--type=merge", "-p", json.dumps(
            {"spec": {"suspend": suspended}}))

    def add(self, plural, item):
        self.call("create", "-f", "-", text=json.dumps(item))

    def cut(self):
        """Nothing does that from outside."""

    def leave(self):
        """Kills the API server, whose pid is in a file beside the kubeconfig,
        and starts it again."""
        name = os.path.join(os.path.dirname(self.config), "run",
                            "apiserver.pid")
        with open(name, encoding="ascii") as file:
            old = int(file.read().split()[0])
        words = harness.read_proc(old, "cmdline").split(b"\0")[:-1]
        tap.equal(os.path.basename(words[0]), b"kube-apiserver")
        env = dict(word.split(b"=", 1) for word in harness.read_proc(
            old, "environ").split(b"\0")[:-1])
        log = os.readlink("/proc/%d/fd/1" % old)
        os.kill(old, signal.SIGKILL)
        harness.wait_until(lambda: not harness.read_proc(old, "cmdline"),
                           "the end of the API server")
        process = None

        def is_back():
            """It ends at once while the port is still taken."""
            nonlocal process
            if process is None or process.poll() is not None:
                with open(log, "ab") as file:
                    process = subprocess.Popen(
                        words, env=env, start_new_session=True,
                        stdin=subprocess.DEVNULL, stdout=file, stderr=file)
            return self.is_up()
        harness.wait_until(is_back, "the API server")
        born = harness.read_proc(process.pid, "stat").rsplit(
            b")", 1)[1].split()[19]
        with open(name, "w", encoding="ascii") as file:
            file.write("%d %s\n" % (process.pid, born.decode()))

    def is_up(self):
        try:
            return self.call("get", "--raw", "/readyz") == "ok"
        except AssertionError:
            return False

    def forget(self):
        """As cut()."""

    def remove(self, plural, name):
        self.call("delete", plural, name, "--wait=false")

    def has(self, plural):
        """Whether it knows such objects."""
        return plural in self.call("api-resources", "-o", "name",
                                   "--no-headers")

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
    def queue(self, name, cpu):
        """A LocalQueue of Kueue, whose ClusterQueue has so much and lets a
        workload of the priority class "high" take the place of others."""
        own = self.namespace
        objects = [
            ("WorkloadPriorityClass", {"value": 1000, "description": ""},
             "high"),
            ("ResourceFlavor", {"spec": {}}, own),
            ("ClusterQueue", {"spec": {
                "namespaceSelector": {"matchLabels": {
                    "kubernetes.io/metadata.name": own}},
                "preemption": {"withinClusterQueue": "LowerPriority"},
                "resourceGroups": [{
                    "coveredResources": ["cpu"], "flavors": [{
                        "name": own, "resources": [
                            {"name": "cpu", "nominalQuota": cpu}]}]}]}}, own),
            ("LocalQueue", {"spec": {"clusterQueue": own}}, name)]
        for kind, body, called in objects:
            self.call("apply", "-f", "-", text=json.dumps(dict(
                body, apiVersion="kueue.x-k8s.io/v1beta1", kind=kind,
                metadata={"name": called})))
        try:
            yield
        finally:
            for kind, _, called in reversed(objects[1:]):
                self.call("delete", kind, called)

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

    def __init__(self, cluster, *options, config=None):
        super().__init__("--runner", "kubernetes", *options, slots=SLOTS,
                         environment={"KUBECONFIG": config or cluster.config,
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
        tap.equal(self.enter(pod, "touch", path, container=container), 0)

    def enter(self, pod, *command, container="trial"):
        """Its exit code in the pod."""
        return subprocess.run(
            (kube_tool.TOOL, "namespace=" + self.cluster.namespace, "exec",
             pod, container) + command,
            env={**os.environ, "KUBECONFIG": self.cluster.admin}, timeout=60,
            stdin=subprocess.DEVNULL, check=False).returncode

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

    def checkpoints(self, study, trial=1):
        """Steps of what the server has; none before there is a trial."""
        status, found = self.call(
            "GET", harness.OURS + "%s/trials/%s/files" % (study, trial))
        if status not in (200, 404):
            raise AssertionError("files of %s: %s" % (study, found))
        return [int(one["step"]) for one in found.get("trees", ())
                if one["kind"] == "CHECKPOINT" and "step" in one]

    def wait_checkpoint(self, study, step):
        harness.wait_until(lambda: step in self.checkpoints(study),
                           "checkpoint %d of %s" % (step, study))

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
def cluster_here(**played):
    """`played`: as of Played."""
    with tempfile.TemporaryDirectory(prefix="kube") as folder:
        real = "HT_KUBECONFIG" in os.environ
        made = Real(folder) if real else Played(folder, **played)
        try:
            yield made
        finally:
            made.close()


