"""Pods that copy hypertune-shim from an image, where ConfigMaps must not have
programs."""

import os

import harness
import pod_trials
import tap
from pod_trials import shell, spec

if os.geteuid() != 0:
    tap.skip("pods of the played cluster", "namespaces want root")

SHIM = "registry.example.org/hypertune:1"


def a_pod_copies_its_shim():
    trial = server.run(spec("copied", shell("echo score=2")))
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 2),
              trial["reason"])
    pod = made[-1]["spec"]
    tap.equal([one["image"] for one in pod["initContainers"]], [SHIM])
    tap.equal(cluster.list("configmaps"), [])
    tap.true("nodeSelector" not in pod, "any node")


def a_template_s_own_first_containers_stay():
    first = {"name": "first", "image": pod_trials.IMAGE,
             "command": shell("true")}
    main = {"name": "main", "image": pod_trials.IMAGE,
            "command": shell("echo score=3; echo ${x}")}
    trial = server.run(spec("template", None, image=None, kubernetes={
        "template": {"apiVersion": "batch/v1", "kind": "Job", "spec": {
            "backoffLimit": 0, "template": {"spec": {
                "restartPolicy": "Never", "initContainers": [first],
                "containers": [main]}}}}}))
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 3),
              trial["reason"])
    tap.equal(sorted(one["name"] for one in made[-1]["spec"][
        "initContainers"]), ["first", "hypertune-shim"])


made = []


def note(plural, item):
    if plural == "pods":
        made.append(item)


with pod_trials.cluster_here() as cluster:
    os.environ["HYPERTUNE_RUNNER_KUBERNETES_SHIM"] = SHIM
    cluster.cluster.kubelet.programs[SHIM] = harness.bin_dir()
    cluster.cluster.store.admission = note
    with cluster.without_right("configmaps"), pod_trials.Server(
            cluster) as server:
        tap.run([a_pod_copies_its_shim,
                 a_template_s_own_first_containers_stay])
