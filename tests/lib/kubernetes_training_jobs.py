"""PyTorchJobs (kubeflow/training-operator, kubeflow.org/v1) of a played cluster:
the fields of their CRD, and their controller, which makes pods and a Service
for each."""

import copy
import uuid

from kubernetes_rules import ANY, META, Refused, schemas

GROUP = "kubeflow.org"
RIGHTS = {"pytorchjobs": {"create", "get", "list", "watch", "delete"}}
LABEL = "training.kubeflow.org/"


def fields(minor):
    replica = {"replicas": ANY, "restartPolicy": ANY, "template": {
        "metadata": META, "spec": schemas(minor)["PodSpec"]}}
    return {"apiVersion": ANY, "kind": ANY, "metadata": META, "status": ANY,
            "spec": {"runPolicy": ANY, "elasticPolicy": ANY,
                     "nprocPerNode": ANY, "pytorchReplicaSpecs": {
                         "Master": replica, "Worker": replica}}}


def install(cluster):
    store = cluster.store
    store.kinds["pytorchjobs"] = ("PyTorchJob", GROUP, fields(cluster.minor))
    store.controllers.append(lambda namespace: sync(store, namespace))


def sync(store, namespace):
    for job in store.find("pytorchjobs", namespace):
        status = job.setdefault("status", {})
        conditions = status.setdefault("conditions", [])
        if job["metadata"].get("deletionTimestamp") or any(
                one["type"] in ("Succeeded", "Failed") for one in conditions):
            continue
        pods = make(store, job)
        phases = {name: pod["status"].get("phase") for name, pod in
                  pods.items()}
        failed = [name for name, phase in phases.items() if phase == "Failed"]
        if failed:
            end(store, job, "Failed", "PyTorchJob %s is failed because %d %s "
                "replica(s) failed." % (job["metadata"]["name"], len(failed),
                                        failed[0].split("-")[0].title()))
        elif phases["master-0"] == "Succeeded":
            end(store, job, "Succeeded", "PyTorchJob %s is successfully "
                "completed." % job["metadata"]["name"])


def end(store, job, kind, message):
    job["status"]["conditions"].append({
        "type": kind, "status": "True", "reason": "PyTorchJob" + kind,
        "message": message})
    store.note_change("pytorchjobs", job)
    if job["spec"].get("runPolicy", {}).get("cleanPodPolicy") == "All":
        for pod in make(store, job).values():
            store.delete("pods", pod["metadata"]["namespace"],
                         pod["metadata"]["name"], {})


def make(store, job):
    """{role and index: pod}; makes what is missing."""
    meta, pods = job["metadata"], {}
    for role, replica in job["spec"]["pytorchReplicaSpecs"].items():
        for index in range(replica.get("replicas", 1)):
            name = "%s-%d" % (role.lower(), index)
            try:
                pods[name] = store.get("pods", meta["namespace"],
                                       meta["name"] + "-" + name)
            except Refused:
                pods[name] = add(store, meta, role.lower(), index, replica)
    return pods


def add(store, meta, role, index, replica):
    pod = copy.deepcopy(replica["template"])
    head = pod.setdefault("metadata", {})
    head["name"] = "%s-%s-%d" % (meta["name"], role, index)
    head["ownerReferences"] = [{
        "apiVersion": GROUP + "/v1", "kind": "PyTorchJob",
        "name": meta["name"], "uid": meta["uid"], "controller": True}]
    head.update(namespace=meta["namespace"], uid=str(uuid.uuid4()))
    head.setdefault("labels", {}).update({
        LABEL + "job-name": meta["name"], LABEL + "replica-type": role,
        LABEL + "replica-index": str(index)})
    if role == "master":
        head["labels"][LABEL + "job-role"] = "master"
    pod["spec"]["restartPolicy"] = replica.get("restartPolicy", "OnFailure")
    for one in pod["spec"]["containers"]:
        one.setdefault("env", []).extend(
            {"name": name, "value": value} for name, value in (
                ("MASTER_ADDR", meta["name"] + "-master-0"),
                ("RANK", str(index if role == "master" else index + 1))))
    pod.update(apiVersion="v1", kind="Pod", status={"phase": "Pending"})
    return store.add("pods", pod)
