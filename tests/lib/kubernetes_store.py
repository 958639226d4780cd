"""The objects of a played Kubernetes cluster: versions, owners, finalizers, and
a small Job controller. Tests play the kubelet: they give pods their phases."""

import collections
import copy
import datetime
import random
import threading
import uuid

from kubernetes_rules import (Refused, check_change, check_job, check_name,
                              check_size, has_fields, kinds, matches)

LETTERS = "bcdfghjklmnpqrstvwxz2456789"
TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
Change = collections.namedtuple("Change", "version type plural object")


def stamp():
    return datetime.datetime.utcnow().strftime("%Y-%m-%dT%H:%M:%SZ")


def key_of(plural, item):
    return plural, item["metadata"]["namespace"], item["metadata"]["name"]


def owner_of(item):
    owners = item["metadata"].get("ownerReferences") or [{}]
    return owners[0].get("uid")


def event(namespace, name, kind, of, reason, message, what="Warning"):
    return {"apiVersion": "v1", "kind": "Event", "type": what,
            "metadata": {"name": name, "namespace": namespace,
                         "uid": str(uuid.uuid4())},
            "involvedObject": {"kind": kind, "name": of,
                               "namespace": namespace},
            "reason": reason, "message": message, "lastTimestamp": stamp()}


class Store:
    """`webhooks` and `admission`: functions of (plural, object) that may raise
    Refused, and change the object."""

    def __init__(self, namespaces, minor):
        self.kinds = kinds(minor)
        self.minor = minor
        self.namespaces = set(namespaces)
        self.items = {}  # by (plural, namespace, name)
        self.changes = []
        self.version = 1000
        self.floor = 0  # what is older was compacted
        self.pages = {}  # the rest of lists that were begun, by their version
        self.admission = None
        self.webhooks = []  # of what is created by a request
        self.controllers = []  # functions of a namespace, beside that of Jobs
        self.is_held = lambda pod: False  # a kubelet has to end it first
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)

    # ---- changes ----

    def _note(self, kind, plural, item):
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        self.changes.append(Change(self.version, kind, plural,
                                   copy.deepcopy(item)))
        self.changed.notify_all()

    def bookmark(self):
        """Every watch gets one; the version may be of other objects."""
        with self.lock:
            self.version += 1
            self.changes.append(Change(self.version, "BOOKMARK", None, {
                "metadata": {"resourceVersion": str(self.version)}}))
            self.changed.notify_all()

    def compact(self):
        """What happened until now cannot be watched any more."""
        with self.lock:
            self.version += 1
            self.floor = self.version
            self.pages.clear()

    def note_change(self, plural, item):
        """A controller has changed it."""
        with self.lock:
            self._note("MODIFIED", plural, item)

    # ---- reading ----

    def get(self, plural, namespace, name):
        with self.lock:
            item = self.items.get((plural, namespace, name))
            if item is None:
                group = self.kinds[plural][1]
                raise Refused(404, "NotFound", '%s%s "%s" not found' % (
                    plural, "." + group if group else "", name))
            return item

    def find(self, plural, namespace, selector=""):
        with self.lock:
            return [item for key, item in sorted(self.items.items())
                    if key[:2] == (plural, namespace) and matches(
                        selector, item["metadata"].get("labels") or {})]

    def list(self, plural, namespace, selector, limit, more, fields=""):
        """One page: items, the version, the word for the next page."""
        with self.lock:
            if more:
                version = int(more)
                if version not in self.pages:
                    raise Refused(410, "Expired", "The provided continue "
                                  "parameter is too old to display a "
                                  "consistent list result.")
                rest = self.pages.pop(version)
            else:
                version = self.version
                rest = copy.deepcopy([
                    item for item in self.find(plural, namespace, selector)
                    if has_fields(fields, item)])
            page = rest[:limit] if limit else rest
            if len(page) < len(rest):
                self.pages[version] = rest[len(page):]
                return page, version, str(version)
            return page, version, ""

    # ---- writing ----

    def create(self, plural, namespace, item, dry=False):
        kind, group, _ = self.kinds[plural]
        with self.lock:
            if namespace not in self.namespaces:
                raise Refused(404, "NotFound",
                              'namespaces "%s" not found' % namespace)
            item = copy.deepcopy(item)
            meta = item.setdefault("metadata", {})
            if not meta.get("name") and meta.get("generateName"):
                meta["name"] = meta["generateName"] + "".join(
                    random.choice(LETTERS) for _ in range(5))
            check_name(kind, meta.get("name"), plural)
            if (plural, namespace, meta["name"]) in self.items:
                raise Refused(409, "AlreadyExists", '%s%s "%s" already exists'
                              % (plural, "." + group if group else "",
                                 meta["name"]))
            meta.update(namespace=namespace, uid=str(uuid.uuid4()),
                        creationTimestamp=stamp(), generation=1,
                        resourceVersion="")
            if plural == "jobs":
                self._default_job(item)
            if plural == "configmaps":
                check_size(kind, item)
            for admit in self.webhooks + [self.admission]:
                if admit:
                    admit(plural, item)
            if dry:
                return item
            self.items[plural, namespace, meta["name"]] = item
            self._note("ADDED", plural, item)
            self._sync(namespace)
            return copy.deepcopy(item)

    def add(self, plural, item):
        """A controller has made it."""
        with self.lock:
            if self.admission:
                self.admission(plural, item)
            self.items[key_of(plural, item)] = item
            self._note("ADDED", plural, item)
            return item

    def _default_job(self, job):
        spec, meta = job["spec"], job["metadata"]
        if "parallelism" not in spec:
            spec.setdefault("completions", 1)
        check_job(job)
        spec.setdefault("parallelism", 1)
        if spec.get("completionMode") != "Indexed":
            spec.setdefault("completions", 1)
            spec["completionMode"] = "NonIndexed"
        spec.setdefault("backoffLimit", 6)
        spec.setdefault("suspend", False)
        spec["selector"] = {"matchLabels": {"controller-uid": meta["uid"]}}
        labels = spec["template"].setdefault("metadata", {}).setdefault(
            "labels", {})
        for prefix in ("", "batch.kubernetes.io/")[:2 if self.minor > 26
                                                   else 1]:
            labels.update({prefix + "controller-uid": meta["uid"],
                           prefix + "job-name": meta["name"]})
        job["status"] = {}

    def patch(self, plural, namespace, name, change):
        with self.lock:
            old = self.get(plural, namespace, name)
            new = merge(copy.deepcopy(old), change)
            if new["metadata"].get("resourceVersion") != old["metadata"][
                    "resourceVersion"]:
                raise Refused(409, "Conflict", "Operation cannot be fulfilled "
                              'on %s "%s": the object has been modified; '
                              "please apply your changes to the latest "
                              "version and try again" % (plural, name))
            check_change(plural, self.kinds[plural][0], old, new)
            self.items[plural, namespace, name] = new
            self._note("MODIFIED", plural, new)
            self._settle(plural, new)
            self._sync(namespace)
            return copy.deepcopy(new)

    def delete(self, plural, namespace, name, options):
        """The object while it is still there, else None."""
        with self.lock:
            item = self.get(plural, namespace, name)
            meta = item["metadata"]
            wanted = (options.get("preconditions") or {}).get("uid")
            if wanted not in (None, meta["uid"]):
                raise Refused(409, "Conflict", "Precondition failed: UID in "
                              "precondition: %s, UID in object meta: %s" % (
                                  wanted, meta["uid"]))
            policy = options.get("propagationPolicy") or (
                "Orphan" if plural == "jobs" else "Background")
            if policy == "Foreground":
                meta.setdefault("finalizers", []).append("foregroundDeletion")
            elif policy == "Orphan":
                for _, other in self._owned(meta["uid"]):
                    other["metadata"].pop("ownerReferences")
            grace = options.get("gracePeriodSeconds")
            if plural == "pods" and self.is_held(item) and (
                    grace is not None or not meta.get("deletionTimestamp")):
                self._shorten(item, grace)
            if not meta.get("deletionTimestamp"):
                meta["deletionTimestamp"] = stamp()
                self._note("MODIFIED", plural, item)
            self._settle(plural, item)
            self._collect()
            return copy.deepcopy(self.items.get((plural, namespace, name)))

    def _shorten(self, pod, grace):
        """A later deletion may give it less time, never more."""
        meta = pod["metadata"]
        if grace is None:
            grace = pod["spec"].get("terminationGracePeriodSeconds", 30)
        before = meta.get("deletionGracePeriodSeconds")
        meta["deletionGracePeriodSeconds"] = (
            grace if before is None else min(before, grace))
        self.changed.notify_all()

    def _owned(self, uid):
        return [(key, item) for key, item in list(self.items.items())
                if owner_of(item) == uid]

    def _settle(self, plural, item):
        """It goes once it is deleted and has no finalizer."""
        meta = item["metadata"]
        key = plural, meta["namespace"], meta["name"]
        if not meta.get("deletionTimestamp") or key not in self.items:
            return
        if "foregroundDeletion" in meta.get("finalizers", ()):
            for other, owned in self._owned(meta["uid"]):
                self._drop_tracking(other, owned)
                if owned["metadata"].get("deletionTimestamp"):
                    self._settle(other[0], owned)
                else:
                    self.delete(*other, {})
            if key not in self.items:
                return  # with the last of them
            if not self._owned(meta["uid"]):
                meta["finalizers"].remove("foregroundDeletion")
        if plural == "pods" and meta.get("deletionGracePeriodSeconds") != 0 \
                and self.is_held(item):
            return
        if not meta.get("finalizers"):
            del self.items[key]
            self._note("DELETED", plural, item)
            for other, owner in list(self.items.items()):
                if owner["metadata"]["uid"] == owner_of(item):
                    self._settle(other[0], owner)

    def _collect(self):
        """The garbage collector: what belongs to an owner that is gone."""
        uids = {item["metadata"]["uid"] for item in self.items.values()}
        for key, item in list(self.items.items()):
            if owner_of(item) in uids | {None} or key not in self.items:
                continue
            self._drop_tracking(key, item)
            if item["metadata"].get("deletionTimestamp"):
                self._settle(key[0], item)
            else:
                self.delete(*key, {"propagationPolicy": "Background"})

    def _drop_tracking(self, key, item):
        finalizers = item["metadata"].get("finalizers", [])
        if key[0] == "pods" and TRACKING in finalizers:
            finalizers.remove(TRACKING)

    # ---- the Job controller ----

    def _sync(self, namespace):
        for job in self.find("jobs", namespace):
            self.sync_job(job)
        for controller in self.controllers:
            controller(namespace)

    def sync_job(self, job):
        if not job["metadata"].get("deletionTimestamp"):
            self._sync_job(job)

    def _sync_job(self, job):
        spec, meta, status = job["spec"], job["metadata"], job["status"]
        if any(one["type"] in ("Complete", "Failed")
               for one in status.get("conditions", ())):
            return
        pods = [item for key, item in self._owned(meta["uid"])
                if key[0] == "pods"]
        phases = collections.Counter(
            pod.get("status", {}).get("phase") for pod in pods)
        before = copy.deepcopy(status)
        status["succeeded"] = phases["Succeeded"]
        status["failed"] = phases["Failed"]
        reason = self._fault(job, pods)
        wanted = spec.get("completions") or 1
        if reason:
            self._end(job, "Failed", reason, pods)
        elif phases["Succeeded"] >= wanted:
            self._end(job, "Complete", "", pods)
        elif spec["suspend"]:
            for pod in pods:
                if pod["status"]["phase"] in ("Pending", "Running"):
                    self._drop_tracking(key_of("pods", pod), pod)
                    self.delete(*key_of("pods", pod), {})
        else:
            self._fill(job, pods, wanted)
        if status != before:
            self._note("MODIFIED", "jobs", job)

    @staticmethod
    def _fault(job, pods):
        failed = [pod for pod in pods
                  if pod.get("status", {}).get("phase") == "Failed"]
        rules = (job["spec"].get("podFailurePolicy") or {}).get("rules", ())
        for pod in failed:
            types = {one["type"] for one in pod["status"].get(
                "conditions", ()) if one["status"] == "True"}
            for rule in rules:
                if rule["action"] == "FailJob" and any(
                        one["type"] in types
                        for one in rule.get("onPodConditions", ())):
                    return "PodFailurePolicy"
        return ("BackoffLimitExceeded"
                if len(failed) > job["spec"]["backoffLimit"] else None)

    def _end(self, job, kind, reason, pods):
        job["status"].setdefault("conditions", []).append(
            {"type": kind, "status": "True", "reason": reason})
        job["status"]["active"] = 0
        for pod in pods:
            key = key_of("pods", pod)
            self._drop_tracking(key, pod)
            if pod.get("status", {}).get("phase") in ("Pending", "Running"):
                self.delete(*key, {})
            else:
                self._settle("pods", pod)

    def _fill(self, job, pods, wanted):
        indexed = job["spec"]["completionMode"] == "Indexed"
        used = {pod["metadata"].get("annotations", {}).get(INDEX)
                for pod in pods if pod.get("status", {}).get("phase") !=
                "Failed"}
        alive = sum(pod["status"]["phase"] in ("Pending", "Running")
                    for pod in pods)
        for index in range(wanted):
            if alive >= job["spec"]["parallelism"]:
                break
            if indexed and str(index) in used:
                continue
            try:
                self._add_pod(job, index if indexed else None)
            except Refused as problem:
                self._warn(job, "FailedCreate",
                           "Error creating: %s" % problem)
                break
            alive += 1
        job["status"]["active"] = alive

    def _warn(self, job, reason, message):
        meta = job["metadata"]
        name = "%s.%s" % (meta["name"], reason.lower())
        self.items["events", meta["namespace"], name] = event(
            meta["namespace"], name, "Job", meta["name"], reason, message)

    def sync(self, namespace):
        """The Job controller tries again, as it does after a while."""
        with self.lock:
            self._sync(namespace)

    def _add_pod(self, job, index):
        meta = job["metadata"]
        template = copy.deepcopy(job["spec"]["template"])
        name = meta["name"] + ("" if index is None else "-%d" % index)
        pod = {"apiVersion": "v1", "kind": "Pod",
               "metadata": dict(template.get("metadata", {}),
                                generateName=name + "-",
                                finalizers=[TRACKING], ownerReferences=[{
                                    "apiVersion": "batch/v1", "kind": "Job",
                                    "name": meta["name"], "uid": meta["uid"],
                                    "controller": True}]),
               "spec": template["spec"], "status": {"phase": "Pending"}}
        if index is not None:
            pod["metadata"].setdefault("annotations", {})[INDEX] = str(index)
            pod["spec"].setdefault("hostname", name)
            for one in pod["spec"]["containers"]:
                one.setdefault("env", []).append({
                    "name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {
                        "fieldPath": "metadata.annotations['%s']" % INDEX}}})
        pod["metadata"]["name"] = pod["metadata"]["generateName"] + "".join(
            random.choice(LETTERS) for _ in range(5))
        pod["metadata"].update(
            namespace=meta["namespace"], uid=str(uuid.uuid4()),
            creationTimestamp=stamp())
        self.add("pods", pod)

    # ---- what a kubelet does, or a test in its place ----

    def change_pod(self, pod, change):
        """`change` is called with the pod's status as it is now; nothing where
        the pod is gone. False: nothing was changed."""
        with self.lock:
            meta = pod["metadata"]
            now = self.items.get(("pods", meta["namespace"], meta["name"]))
            if now is None or now["metadata"]["uid"] != meta["uid"]:
                return False
            before = copy.deepcopy(now)
            change(now)
            if now == before:
                return False
            self._note("MODIFIED", "pods", now)
            self._sync(meta["namespace"])
            self._settle("pods", now)
            return True

    def set_pod(self, namespace, name, phase, code=None, reason=None,
                conditions=()):
        with self.lock:
            pod = self.get("pods", namespace, name)
            status = pod["status"]
            status["phase"] = phase
            status.setdefault("conditions", []).extend(conditions)
            if code is not None:
                status["containerStatuses"] = [{
                    "name": one["name"], "state": {"terminated": {
                        "exitCode": code, "reason": reason or (
                            "Error" if code else "Completed")}}}
                    for one in pod["spec"]["containers"]]
            self._note("MODIFIED", "pods", pod)
            self._sync(namespace)

    def evict(self, namespace, name, options=None):
        """By the eviction API."""
        condition = {"type": "DisruptionTarget", "status": "True",
                     "reason": "EvictionByEvictionAPI", "message": "Eviction "
                     "API: evicting"}
        with self.lock:
            pod = self.get("pods", namespace, name)
            if not self.is_held(pod):
                self.set_pod(namespace, name, "Failed", 137,
                             conditions=[condition])
                return
            self.change_pod(pod, lambda now: now["status"].setdefault(
                "conditions", []).append(condition))
            self.delete("pods", namespace, name, options or {})


def merge(value, change):
    """RFC 7396."""
    for key, item in change.items():
        if item is None:
            value.pop(key, None)
        elif isinstance(item, dict) and isinstance(value.get(key), dict):
            merge(value[key], item)
        else:
            value[key] = item
    return value
