"""tests/tools/kube_api on a played cluster, order by order."""

import contextlib
import json
import os
import re
import subprocess
import tempfile
import threading

import harness
import kubernetes

TOOL = os.path.join(harness.bin_dir(), "../tests/tools/kube_api")
END = re.compile(r"^(ok$|! )")
PLUGIN = """#!/bin/sh
echo run >>"$0.runs"
printf '%%s' "$KUBERNETES_EXEC_INFO" >"$0.info"
cat <<END
{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
"status":{"token":"$(cat "$0.token")"%s}}
END
"""


class Tool:
    """runner/kubernetes, order by order."""

    def __init__(self, config, *words, env=None):
        environ = {key: value for key, value in os.environ.items()
                   if key != "KUBECONFIG"}
        if config:
            environ["KUBECONFIG"] = config
        environ.update(env or {})
        self.process = subprocess.Popen(
            (TOOL,) + words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environ, text=True)
        self.limit = threading.Timer(harness.PATIENCE, self.process.kill)
        self.limit.start()

    def give(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()

    def ask(self, *words):
        """The lines of the answer."""
        self.give(*words)
        lines = []
        while not lines or not END.match(lines[-1]):
            line = self.process.stdout.readline()
            assert line, lines
            lines.append(line.rstrip("\n"))
        return lines

    def end(self, *words):
        """Only how it ended: "ok", or the name of a failure and its words."""
        return self.ask(*words)[-1].removeprefix("! ")

    def line(self):
        return self.process.stdout.readline().rstrip("\n")

    def close(self):
        self.limit.cancel()
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def write(folder, name, text, mode=0o600):
    path = os.path.join(folder, name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path + ".new", mode)
    os.replace(path + ".new", path)
    return path


def exec_user(folder, extra="", **members):
    """Its plugin gives what is in FOLDER/plugin.token."""
    path = write(folder, "plugin", PLUGIN % extra, 0o700)
    return {"exec": dict({"apiVersion": "client.authentication.k8s.io/v1",
                          "command": path, "interactiveMode": "Never"},
                         **members)}


def plugin_runs(folder):
    with open(os.path.join(folder, "plugin.runs"), encoding="ascii") as file:
        return len(file.readlines())


def config_of(cluster, user, **members):
    return json.dumps({
        "current-context": "c", "contexts": [{"name": "c", "context": {
            "cluster": "one", "user": "me", "namespace": "work"}}],
        "clusters": [{"name": "one", "cluster": dict(
            {"server": cluster.url}, **members)}],
        "users": [{"name": "me", "user": user}]})


@contextlib.contextmanager
def played(user=None, tls=False, name="127.0.0.1", members=None, **named):
    with tempfile.TemporaryDirectory() as folder:
        certs = kubernetes.Tls(folder, name) if tls else None
        cluster = kubernetes.Cluster(tls=certs, **named)
        cluster.folder = folder
        tool = None
        try:
            tool = Tool(write(folder, "config", config_of(
                cluster, user if user is not None else {"token": "admin"},
                **(members or {}))))
            yield cluster, tool
        finally:
            if tool:
                tool.close()
            cluster.close()


def job(name, **spec):
    return json.dumps({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "labels": {"app": "ht"}},
        "spec": dict({"backoffLimit": 0, "template": {"spec": {
            "restartPolicy": "Never", "containers": [
                {"name": "main", "image": "busybox"}]}}}, **spec)},
        separators=(",", ":"))


def config_map(name, **meta):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": dict({"name": name}, **meta), "data": {}}


def add_maps(cluster, *names, labels=None):
    for name in names:
        cluster.store.create("configmaps", "work",
                             config_map(name, labels=labels or {}))
