"""JobSets (kubernetes-sigs/jobset, v1alpha2) of a played cluster: the fields of
its CRD, and its controller, which makes Jobs and a headless Service."""

import copy

from kubernetes_rules import ANY, META, Refused, invalid, schemas

GROUP = "jobset.x-k8s.io"
LABEL = "jobset.sigs.k8s.io/jobset-name"
RIGHTS = {"jobsets": {"create", "get", "list", "delete"}}


def fields(minor):
    job = {"metadata": META, "spec": schemas(minor)["JobSpec"]}
    spec = dict.fromkeys(
        ("successPolicy failurePolicy startupPolicy suspend coordinator "
         "managedBy ttlSecondsAfterFinished volumeClaimPolicies").split(), ANY)
    spec["network"] = {"enableDNSHostnames": ANY, "subdomain": ANY,
                       "publishNotReadyAddresses": ANY}
    spec["replicatedJobs"] = [{"name": ANY, "groupName": ANY, "replicas": ANY,
                               "dependsOn": ANY, "template": job}]
    return {"apiVersion": ANY, "kind": ANY, "metadata": META, "spec": spec,
            "status": ANY}


def install(cluster):
    """Like its manifests: the CRD, its webhook and its controller."""
    store = cluster.store
    store.kinds["jobsets"] = ("JobSet", GROUP, fields(cluster.minor))
    store.controllers.append(lambda namespace: sync(store, namespace))
    before = store.admission

    def admit(plural, item):
        if plural == "jobsets":
            check(item)
        elif before:
            before(plural, item)
    store.admission = admit


def check(item):
    """Its webhook: no name of a Job or a pod may be too long."""
    name = item["metadata"]["name"]
    for one in item["spec"]["replicatedJobs"]:
        completions = one["template"]["spec"].get("completions", 1)
        longest = "%s-%s-%d-%d-abcde" % (name, one["name"],
                                         one["replicas"] - 1, completions - 1)
        if len(longest) > 63:
            raise invalid("JobSet", name, [(
                "", "FieldValueInvalid", "JobSet name is too long, pod names "
                "generated for this JobSet will exceed 63 characters")])


def sync(store, namespace):
    for item in store.find("jobsets", namespace):
        status = item.setdefault("status", {})
        if item["metadata"].get("deletionTimestamp") or \
                status.get("terminalState"):
            continue
        jobs = make(store, item)
        ends = [{one["type"] for one in job["status"].get("conditions", ())}
                for job in jobs]
        if any("Failed" in end for end in ends):
            finish(store, item, "Failed", jobs)
        elif all("Complete" in end for end in ends):
            finish(store, item, "Completed", jobs)


def make(store, item):
    """All its Jobs; makes what is missing."""
    meta, jobs = item["metadata"], []
    owner = [{"apiVersion": GROUP + "/v1alpha2", "kind": "JobSet",
              "name": meta["name"], "uid": meta["uid"], "controller": True}]
    head = {"labels": {LABEL: meta["name"]}, "ownerReferences": owner}
    if item["spec"].get("network", {}).get("enableDNSHostnames"):
        ensure(store, "services", meta["namespace"], meta["name"], {
            "metadata": head, "spec": {
                "clusterIP": "None", "selector": {LABEL: meta["name"]}}})
    for one in item["spec"]["replicatedJobs"]:
        for index in range(one["replicas"]):
            job = copy.deepcopy(one["template"])
            job["metadata"] = head
            job["spec"]["suspend"] = item["spec"].get("suspend", False)
            pod = job["spec"]["template"]
            pod["spec"]["subdomain"] = meta["name"]
            pod["metadata"]["labels"][LABEL] = meta["name"]
            jobs.append(ensure(store, "jobs", meta["namespace"], "%s-%s-%d" % (
                meta["name"], one["name"], index), job))
    return jobs


def ensure(store, plural, namespace, name, item):
    try:
        return store.get(plural, namespace, name)
    except Refused:
        item = copy.deepcopy(item)
        item["metadata"]["name"] = name
        return store.create(plural, namespace, item)


def finish(store, item, state, jobs):
    """The Jobs that still run end with it."""
    item["status"].update(terminalState=state, conditions=[
        {"type": state, "status": "True"}])
    store.note_change("jobsets", item)
    for job in jobs:
        if not job["status"].get("conditions"):
            store.delete("jobs", job["metadata"]["namespace"],
                         job["metadata"]["name"],
                         {"propagationPolicy": "Background"})
