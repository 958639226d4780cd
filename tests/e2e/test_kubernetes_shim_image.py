"""Pods that copy hypertune-shim from an image, where ConfigMaps must not have
programs. On the played cluster, or on a real one (see lib/pod_trials.py) whose
nodes have the image that HT_SHIM_IMAGE names."""

import os

import harness
import pod_trials
import tap
from pod_trials import UNTIL_GO, shell, spec

REAL = "HT_KUBECONFIG" in os.environ
if os.geteuid() != 0 and not REAL:
    tap.skip("pods of the played cluster", "namespaces want root")
if REAL and "HT_SHIM_IMAGE" not in os.environ:
    tap.skip("pods with an image of hypertune-shim", "HT_SHIM_IMAGE names none")

SHIM = (os.environ["HT_SHIM_IMAGE"] if REAL else
        "registry.example.org/hypertune:1")


def finish(study):
    """Its trial's pod, which has succeeded then."""
    server.wait_output(study, "up")
    name = server.pod(study, "")
    pod, = [one for one in cluster.list("pods")
            if one["metadata"]["name"] == name]
    server.mark_go(name, pod["spec"]["containers"][0]["name"])
    server.wait_study(study)
    trial = server.trial(study, 1)["hypertune"]
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 1),
              trial["reason"])
    tap.equal([one["metadata"]["name"] for one in cluster.list("configmaps")
               if "hypertune" in one["metadata"]["name"]], [])
    return pod["spec"]


def a_pod_copies_its_shim():
    server.submit(spec("copied", shell(UNTIL_GO)))
    pod = finish("copied")
    tap.equal([one["image"] for one in pod["initContainers"]], [SHIM])
    tap.true("nodeSelector" not in pod, "any node")


def a_template_s_own_first_containers_stay():
    first = {"name": "first", "image": pod_trials.IMAGE,
             "command": shell("true")}
    main = {"name": "main", "image": pod_trials.IMAGE,
            "command": shell("echo ${x}; " + UNTIL_GO)}
    server.submit(spec("template", None, image=None, kubernetes={
        "template": {"apiVersion": "batch/v1", "kind": "Job", "spec": {
            "backoffLimit": 0, "template": {"spec": {
                "restartPolicy": "Never", "initContainers": [first],
                "containers": [main]}}}}}))
    tap.equal(sorted(one["name"] for one in finish("template")[
        "initContainers"]), ["first", "hypertune-shim"])


def run_all():
    tap.run([a_pod_copies_its_shim, a_template_s_own_first_containers_stay])


os.environ["HYPERTUNE_RUNNER_KUBERNETES_SHIM"] = SHIM
with pod_trials.cluster_here() as cluster:
    if REAL:
        with pod_trials.Server(cluster) as server:
            run_all()
    else:
        cluster.cluster.kubelet.programs[SHIM] = harness.bin_dir()
        with cluster.without_right("configmaps"), pod_trials.Server(
                cluster) as server:
            run_all()
