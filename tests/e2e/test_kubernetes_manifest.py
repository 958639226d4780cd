"""`hypertune kubernetes manifest`: a server inside a cluster. What it prints is
checked against the fields that the kinds have; on the real cluster that
HT_KUBECONFIG names also by its API server, and where HT_KUBE_IMAGE names an
image of the server that its nodes have, a study runs there, too."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile

import harness
import kubernetes_job_sets
import kubernetes_kueue
import kubernetes_rules
import pod_trials
import tap
import yaml

ALL = ("--ingress", "tuner.example.org", "--tls", "tuner-tls", "--monitor",
       "--allow-from", "ingress-nginx", "--allow-from", "monitoring")
SERVER = {"Namespace", "ServiceAccount", "Role", "RoleBinding", "Service",
          "StatefulSet", "PodDisruptionBudget", "NetworkPolicy"}
REAL = os.environ.get("HT_KUBECONFIG")


def run(*words, text=None, want=0):
    done = subprocess.run(words, input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    tap.equal(done.returncode, want, done.stderr)
    return done.stdout if want == 0 else done.stderr


def manifest(*options, want=0):
    return run(os.path.join(harness.bin_dir(), "hypertune"), "kubernetes",
               "manifest", "-q", *options, want=want)


def objects(*options):
    """{kind: object}"""
    read = list(yaml.safe_load_all(manifest(*options)))
    made = {one["kind"]: one for one in read}
    tap.equal(len(made), len(read), "one of each kind")
    return made


def each_object_has_fields_of_its_kind_alone():
    for options in ((), ALL, ("--namespace", "work"),
                    ("--storage-class", "fast", "--storage", "1Gi")):
        for one in objects(*options).values():
            kubernetes_rules.check_server_kind(one)


def options_add_what_they_name():
    tap.equal(set(objects()), SERVER)
    made = objects(*ALL)
    tap.equal(set(made), SERVER | {"Ingress", "ServiceMonitor"})
    tap.equal(made["Ingress"]["spec"]["tls"],
              [{"hosts": ["tuner.example.org"], "secretName": "tuner-tls"}])
    peers = made["NetworkPolicy"]["spec"]["ingress"][0]["from"]
    tap.equal([peer.get("namespaceSelector", {}).get("matchLabels", {}).get(
        "kubernetes.io/metadata.name") for peer in peers],
        [None, "ingress-nginx", "monitoring"])
    made = objects("--namespace", "work", "--image", "r.example.org/h:1",
                   "--storage", "1Gi", "--storage-class", "fast")
    tap.equal(set(made), SERVER - {"Namespace"})
    tap.equal({one["metadata"]["namespace"] for one in made.values()},
              {"work"})
    pod = made["StatefulSet"]["spec"]
    tap.equal(pod["template"]["spec"]["containers"][0]["image"],
              "r.example.org/h:1")
    claim = pod["volumeClaimTemplates"][0]["spec"]
    tap.equal((claim["storageClassName"], claim["resources"]),
              ("fast", {"requests": {"storage": "1Gi"}}))


def the_role_has_the_rights_of_a_runner_and_no_other():
    rights = {}
    for rule in objects()["Role"]["rules"]:
        for resource in rule["resources"]:
            rights[resource] = set(rule["verbs"])
    tap.equal(rights, dict(pod_trials.RIGHTS, **kubernetes_job_sets.RIGHTS,
                           **kubernetes_kueue.RIGHTS))


def wrong_options_are_refused_by_name():
    for options, words in (
            (("--namespace", "Work"), "--namespace: Work"),
            (("--tls", "s"), "--ingress HOST"),
            (("--ingress", "h.example"), "--allow-from NAMESPACE"),
            (("--monitor",), "--allow-from NAMESPACE")):
        tap.contains(words, manifest(*options, want=2))


def kubectl_renders_the_base():
    if not shutil.which("kubectl"):
        raise tap.Skip("kubectl is not installed")
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, "base")
        manifest("--kustomize", base, *ALL)
        over = os.path.join(folder, "over")
        os.mkdir(over)
        with open(os.path.join(over, "kustomization.yaml"), "w",
                  encoding="utf-8") as file:
            file.write("resources: [../base]\nnamespace: elsewhere\n")
        made = {one["kind"]: one for one in yaml.safe_load_all(
            run("kubectl", "kustomize", over))}
        tap.equal(set(made), SERVER | {"Ingress", "ServiceMonitor"})
        tap.equal(made["RoleBinding"]["subjects"][0]["namespace"],
                  "elsewhere")
        tap.contains("is there already", manifest("--kustomize", base, want=5))


@contextlib.contextmanager
def real_namespace():
    """A kubectl in a namespace with the policy "restricted"."""
    if not REAL:
        raise tap.Skip("no real cluster (HT_KUBECONFIG)")
    name = "ht-manifest-" + os.urandom(4).hex()

    def kubectl(*words, **more):
        return run("kubectl", "--kubeconfig", REAL, "-n", name, *words, **more)
    kubectl("create", "namespace", name)
    try:
        kubectl("label", "namespace", name,
                "pod-security.kubernetes.io/enforce=restricted")
        yield name, kubectl
    finally:
        kubectl("delete", "namespace", name, "--wait=false")


def a_real_server_takes_each_object():
    with real_namespace() as (name, kubectl):
        made = objects("--namespace", name, *ALL)
        del made["ServiceMonitor"]  # of an operator that may not be there
        said = kubectl("apply", "--dry-run=server", "--validate=strict", "-f",
                       "-", text=yaml.safe_dump_all(made.values()))
        tap.equal(len(said.splitlines()), len(made), said)


def bind_volume(kubectl, namespace, folder):
    """A folder of this machine, which is the node, for the server's claim."""
    node = kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")
    kubectl("create", "-f", "-", text=yaml.safe_dump({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": namespace},
        "spec": {"capacity": {"storage": "1Gi"}, "local": {"path": folder},
                 "accessModes": ["ReadWriteOnce"],
                 "persistentVolumeReclaimPolicy": "Retain",
                 "claimRef": {"namespace": namespace,
                              "name": "data-hypertune-0"},
                 "nodeAffinity": {"required": {"nodeSelectorTerms": [
                     {"matchExpressions": [
                         {"key": "kubernetes.io/hostname", "operator": "In",
                          "values": [node]}]}]}}}}))


@contextlib.contextmanager
def forwarded(kubectl_words):
    """The URL of the server here: at its own port, which it is called by."""
    address = "127.%d.%d.%d" % tuple(1 + byte % 250 for byte in os.urandom(3))
    process = subprocess.Popen(kubectl_words + (
        "port-forward", "--address", address, "svc/hypertune", "8470"), stdout=subprocess.PIPE,
        text=True)
    try:
        yield "http://" + re.match("Forwarding from (\\S+) ->",
                                   process.stdout.readline()).group(1)
    finally:
        process.terminate()
        process.wait()


def a_study_runs_inside_a_real_cluster():
    image = os.environ.get("HT_KUBE_IMAGE")
    if not image:
        raise tap.Skip("no image of the server (HT_KUBE_IMAGE)")
    with real_namespace() as (name, kubectl), \
            tempfile.TemporaryDirectory() as folder:
        try:
            bind_volume(kubectl, name, folder)
            run_study(name, kubectl, image, folder)
        finally:
            kubectl("delete", "pv", name, "--wait=false")


def run_study(name, kubectl, image, folder):
    kubectl("apply", "-f", "-", text=manifest(
        "--namespace", name, "--image", image, "--storage", "1Gi"))
    kubectl("rollout", "status", "sts/hypertune",
            "--timeout=%ds" % harness.PATIENCE)
    token = os.path.join(folder, "token-of-here")
    with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), "w",
              encoding="utf-8") as file:
        file.write(kubectl("exec", "sts/hypertune", "--", "cat",
                           "/data/hypertune/token"))
    tap.contains("http://127.0.0.1:8470/", kubectl(
        "exec", "sts/hypertune", "--", "hypertune", "ui", "--no-open"))
    spec = os.path.join(folder, "spec.json")
    with open(spec, "w", encoding="utf-8") as file:
        json.dump(pod_trials.spec("inside", pod_trials.shell(
            "echo score=${x}"), trials=3, parallel=2,
                                 container={"user": "1000:1000"}), file)
    with forwarded(("kubectl", "--kubeconfig", REAL, "-n", name)) as url:
        def hypertune(*words):
            return run(os.path.join(harness.bin_dir(), "hypertune"),
                       "--server", url, "--token-file", token, *words)
        hypertune("submit", spec, "--wait")
        best = json.loads(hypertune("best", "inside", "-o", "json"))
    tap.true(0 <= best["hypertune"]["objective"] <= 1, best)
    kubectl("delete", "pod", "hypertune-0")  # its data stays
    kubectl("rollout", "status", "sts/hypertune",
            "--timeout=%ds" % harness.PATIENCE)
    tap.equal(json.loads(kubectl("exec", "sts/hypertune", "--", "hypertune",
                                 "best", "inside", "-o", "json")), best)


tap.run([each_object_has_fields_of_its_kind_alone,
         options_add_what_they_name,
         the_role_has_the_rights_of_a_runner_and_no_other,
         wrong_options_are_refused_by_name, kubectl_renders_the_base,
         a_real_server_takes_each_object,
         a_study_runs_inside_a_real_cluster])
