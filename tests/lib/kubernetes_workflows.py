"""Workflows (argoproj.io/v1alpha1) of a played cluster: their controller makes a
pod of each of their templates at once. Steps are not played."""

import copy
import uuid

from kubernetes_rules import ANY, META, Refused

GROUP = "argoproj.io"
RIGHTS = {"workflows": {"create", "get", "list", "watch", "delete"}}
LABEL = "workflows.argoproj.io/workflow"


def install(cluster):
    store = cluster.store
    store.kinds["workflows"] = ("Workflow", GROUP, {
        "apiVersion": ANY, "kind": ANY, "metadata": META, "status": ANY,
        "spec": ANY})
    store.controllers.append(lambda namespace: sync(store, namespace))


def sync(store, namespace):
    for flow in store.find("workflows", namespace):
        status = flow.setdefault("status", {})
        if flow["metadata"].get("deletionTimestamp") or status.get(
                "phase") in ("Succeeded", "Failed"):
            continue
        phases = [make(store, flow, one)["status"].get("phase")
                  for one in flow["spec"]["templates"]]
        before = dict(status)
        if "Failed" in phases:
            status.update(phase="Failed", message="a step has failed")
        elif set(phases) == {"Succeeded"}:
            status.update(phase="Succeeded")
        if status != before:
            store.note_change("workflows", flow)


def make(store, flow, template):
    meta = flow["metadata"]
    name = meta["name"] + "-" + template["name"]
    try:
        return store.get("pods", meta["namespace"], name)
    except Refused:
        labels = template.get("metadata", {}).get("labels", {})
        return store.add("pods", {
            "apiVersion": "v1", "kind": "Pod", "status": {"phase": "Pending"},
            "metadata": {
                "name": name, "namespace": meta["namespace"],
                "uid": str(uuid.uuid4()),
                "labels": dict(labels, **{LABEL: meta["name"]}),
                "ownerReferences": [{
                    "apiVersion": GROUP + "/v1alpha1", "kind": "Workflow",
                    "name": meta["name"], "uid": meta["uid"],
                    "controller": True}]},
            "spec": {"restartPolicy": "Never",
                     "terminationGracePeriodSeconds": 1, "containers": [
                         dict(copy.deepcopy(template["container"]),
                              name="main")]}})
