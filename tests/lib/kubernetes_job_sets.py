"""JobSets (kubernetes-sigs/jobset, v1alpha2) of a played cluster: the fields of
its CRD, its webhooks, and its controller, which makes Jobs and a headless
Service. Measured with the controller of 0.9 on Kubernetes 1.34."""

import copy

from kubernetes_rules import ANY, META, Refused, invalid, schemas

GROUP = "jobset.x-k8s.io"
LABEL = "jobset.sigs.k8s.io/"
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
    """Like its manifests: the CRD, its webhooks and its controller."""
    store = cluster.store
    store.kinds["jobsets"] = ("JobSet", GROUP, fields(cluster.minor))
    store.controllers.append(lambda namespace: sync(store, namespace))
    store.webhooks.append(
        lambda plural, item: plural == "jobsets" and admit(item))


def admit(item):
    """Gives it its defaults; no name of a Job or a pod may be too long."""
    name, spec = item["metadata"]["name"], item["spec"]
    network = spec.setdefault("network", {})
    network.setdefault("enableDNSHostnames", True)
    network.setdefault("publishNotReadyAddresses", True)
    spec.setdefault("successPolicy", {"operator": "All"})
    for one in spec["replicatedJobs"]:
        job = one["template"]["spec"]
        one.setdefault("replicas", 1)
        job.setdefault("completionMode", "Indexed")
        job["template"]["spec"].setdefault("restartPolicy", "OnFailure")
        longest = "%s-%s-%d-%d-abcde" % (
            name, one["name"], one["replicas"] - 1,
            job.get("completions", 1) - 1)
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
        ends = {job["metadata"]["name"]: {
            one["type"] for one in job["status"].get("conditions", ())}
            for job in jobs}
        failed = [name for name, end in ends.items() if "Failed" in end]
        if failed:
            finish(store, item, "Failed", "FailedJobs", jobs, "jobset failed "
                   "due to one or more job failures (first failed job: %s)" %
                   failed[0])
        elif all("Complete" in end for end in ends.values()):
            finish(store, item, "Completed", "AllJobsCompleted", jobs,
                   "jobset completed successfully")


def make(store, item):
    """All its Jobs; makes what is missing, and suspends and resumes them."""
    meta, jobs = item["metadata"], []
    suspended = item["spec"].get("suspend", False)
    owner = [{"apiVersion": GROUP + "/v1alpha2", "kind": "JobSet",
              "name": meta["name"], "uid": meta["uid"], "controller": True}]
    if item["spec"]["network"]["enableDNSHostnames"]:
        ensure(store, "services", meta["namespace"], meta["name"], {
            "metadata": {"ownerReferences": owner}, "spec": {
                "clusterIP": "None",
                "selector": {LABEL + "jobset-name": meta["name"]}}})
    for one in item["spec"]["replicatedJobs"]:
        for index in range(one["replicas"]):
            name = "%s-%s-%d" % (meta["name"], one["name"], index)
            job = ensure(store, "jobs", meta["namespace"], name, job_of(
                meta["name"], one, index, owner, suspended))
            if job["spec"]["suspend"] != suspended:
                job["spec"]["suspend"] = suspended
                store.note_change("jobs", job)
                store.sync_job(job)
            jobs.append(job)
    return jobs


def job_of(name, replicated, index, owner, suspended):
    job = copy.deepcopy(replicated["template"])
    labels = {LABEL + "jobset-name": name,
              LABEL + "replicatedjob-name": replicated["name"],
              LABEL + "job-index": str(index)}
    pod = job["spec"]["template"]
    for part in (job, pod):
        part.setdefault("metadata", {}).setdefault("labels", {}).update(labels)
    job["metadata"]["ownerReferences"] = owner
    job["spec"]["suspend"] = suspended
    pod["spec"]["subdomain"] = name
    return job


def ensure(store, plural, namespace, name, item):
    try:
        return store.get(plural, namespace, name)
    except Refused:
        item["metadata"]["name"] = name
        store.create(plural, namespace, item)
        return store.get(plural, namespace, name)


def finish(store, item, state, reason, jobs, message):
    """The Jobs that still run end with it, after their pods."""
    item["status"].update(terminalState=state, conditions=[
        {"type": state, "status": "True", "reason": reason,
         "message": message}])
    store.note_change("jobsets", item)
    for job in jobs:
        if not job["status"].get("conditions"):
            store.delete("jobs", job["metadata"]["namespace"],
                         job["metadata"]["name"],
                         {"propagationPolicy": "Foreground"})
