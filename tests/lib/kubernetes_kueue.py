"""Kueue (v1beta1) of a played cluster: its webhook suspends Jobs and JobSets
with the label of a queue, and its controllers make a Workload of each, admit
what the quota of the queue has room for, and take the place of workloads of a
lower priority. One queue has one resource, CPU. Measured with release 0.13 on
Kubernetes 1.34."""

import collections
import threading
import uuid

from kubernetes_rules import ANY, META
from kubernetes_store import event

GROUP = "kueue.x-k8s.io"
QUEUE = GROUP + "/queue-name"
CLASS = GROUP + "/priority-class"
KINDS = {"jobs": "Job", "jobsets": "JobSet"}
RIGHTS = {"workloads": {"get"}}
PRIORITIES = {None: 0, "high": 1000}
PREEMPTED = ("Preempted to accommodate a workload (UID: %s, JobUID: UNKNOWN) "
             "due to prioritization in the ClusterQueue")
Needs = collections.namedtuple("Needs", "pod_set milli")


def milli(cpu):
    return int(cpu[:-1]) if cpu.endswith("m") else int(float(cpu) * 1000)


def install(cluster):
    """The Kueue of that cluster."""
    return Kueue(cluster.store)


class Kueue:
    def __init__(self, store):
        self.store = store
        self.queues = {}  # quotas in thousandths of a CPU
        store.kinds["workloads"] = ("Workload", GROUP, {
            "apiVersion": ANY, "kind": ANY, "metadata": META, "spec": ANY,
            "status": ANY})
        store.webhooks.append(self.admit)
        threading.Thread(target=self.follow, daemon=True).start()

    def add_queue(self, name, cpu):
        with self.store.lock:
            self.queues[name] = milli(cpu)
            self.store.bookmark()

    def remove_queue(self, name):
        with self.store.lock:
            del self.queues[name]

    def follow(self):
        """Looks at all after each change."""
        seen = 0
        while True:
            with self.store.changed:
                self.store.changed.wait_for(
                    lambda: self.store.version > seen)
                seen = self.store.version
                for namespace in self.store.namespaces:
                    self.sync(namespace)

    @staticmethod
    def admit(plural, item):
        if plural in KINDS and QUEUE in item["metadata"].get("labels", {}):
            item["spec"]["suspend"] = True

    # ---- what waits and runs ----

    def sync(self, namespace):
        """The place that one has taken is not given to others."""
        for plural, item in sorted(self.items(namespace),
                                   key=lambda one: -priority(one[1])):
            if item["spec"].get("suspend") and self.look_at(
                    plural, item, self.ensure_workload(plural, item)):
                return

    def items(self, namespace):
        return [(plural, item) for plural in KINDS
                for item in self.store.find(plural, namespace)
                if QUEUE in item["metadata"].get("labels", {}) and
                not item["metadata"].get("deletionTimestamp") and
                not self.is_over(item)]

    @staticmethod
    def is_over(item):
        return any(one["type"] in ("Complete", "Completed", "Failed")
                   for one in item.get("status", {}).get("conditions", ()))

    def ensure_workload(self, plural, item):
        meta = item["metadata"]
        name = "%s-%s-%s" % (KINDS[plural].lower(), meta["name"],
                             meta["uid"][:5])
        found = [one for one in self.store.find("workloads",
                                                meta["namespace"])
                 if one["metadata"]["name"] == name]
        if found:
            return found[0]
        self.say(KINDS[plural], item, "CreatedWorkload",
                 "Created Workload: %s/%s" % (meta["namespace"], name))
        return self.store.add("workloads", {
            "apiVersion": GROUP + "/v1beta1", "kind": "Workload",
            "spec": {"queueName": meta["labels"][QUEUE]},
            "status": {"conditions": []}, "metadata": {
                "name": name, "namespace": meta["namespace"],
                "uid": str(uuid.uuid4()), "ownerReferences": [{
                    "apiVersion": "v1", "kind": KINDS[plural],
                    "name": meta["name"], "uid": meta["uid"],
                    "controller": True}]}})

    def look_at(self, plural, item, workload):
        """Whether it has taken a place, which it gets at the next look."""
        queue = item["metadata"]["labels"][QUEUE]
        if queue not in self.queues:
            self.wait(workload, "Inadmissible",
                      "LocalQueue %s doesn't exist" % queue)
            return False
        quota = self.queues[queue]
        running = [one for _, one in self.items(item["metadata"]["namespace"])
                   if one["metadata"]["labels"][QUEUE] == queue and
                   not one["spec"].get("suspend")]
        used = sum(need.milli for one in running for need in needs(one))
        wanted = sum(need.milli for need in needs(item))
        if used + wanted <= quota:
            self.start(plural, item, workload)
            return False
        for victim in running:
            if wanted <= quota and priority(victim) < priority(item):
                self.preempt(victim, workload)
                return True
        what = ("insufficient quota for cpu in flavor default, request > "
                "maximum capacity" if wanted > quota else
                "insufficient unused quota for cpu in flavor default, %dm more "
                "needed" % (used + wanted - quota))
        self.wait(workload, "Pending",
                  "couldn't assign flavors to pod set %s: %s" % (
                      needs(item)[0].pod_set, what), warns=True)
        return False

    def start(self, plural, item, workload):
        workload["status"]["conditions"] = [
            {"type": "QuotaReserved", "status": "True", "message": ""},
            {"type": "Admitted", "status": "True", "message": ""}]
        self.store.note_change("workloads", workload)
        item["spec"]["suspend"] = False
        self.store.note_change(plural, item)
        self.store.sync(item["metadata"]["namespace"])

    def preempt(self, victim, workload):
        plural = "jobsets" if "replicatedJobs" in victim["spec"] else "jobs"
        own = self.ensure_workload(plural, victim)
        words = PREEMPTED % workload["metadata"]["uid"]
        own["status"]["conditions"] = [
            {"type": "QuotaReserved", "status": "False", "message": words},
            {"type": "Evicted", "status": "True", "reason": "Preempted",
             "message": words}]
        self.store.note_change("workloads", own)
        self.say(KINDS[plural], victim, "Stopped", words)
        victim["spec"]["suspend"] = True
        self.store.note_change(plural, victim)
        self.store.sync(victim["metadata"]["namespace"])

    def wait(self, workload, reason, message, warns=False):
        """Only what a scheduling found out is an event, too."""
        condition = {"type": "QuotaReserved", "status": "False",
                     "reason": reason, "message": message}
        others = [one for one in workload["status"]["conditions"]
                  if one["type"] != "QuotaReserved"]
        if condition in workload["status"]["conditions"]:
            return
        workload["status"]["conditions"] = others + [condition]
        self.store.note_change("workloads", workload)
        if warns:
            self.say("Workload", workload, "Pending", message, "Warning")

    def say(self, kind, item, reason, message, what="Normal"):
        meta = item["metadata"]
        name = "%s.%s" % (meta["name"], reason.lower())
        self.store.items["events", meta["namespace"], name] = event(
            meta["namespace"], name, kind, meta["name"], reason, message, what)


def priority(item):
    return PRIORITIES[item["metadata"]["labels"].get(CLASS)]


def needs(item):
    """Of each pod set what all its pods ask for."""
    spec = item["spec"]
    jobs = [(one["name"], one["template"]["spec"], one["replicas"])
            for one in spec.get("replicatedJobs", ())] or [("main", spec, 1)]
    return [Needs(name, times * job.get("parallelism", 1) * sum(
        milli(one.get("resources", {}).get("requests", {}).get("cpu", "0"))
        for one in job["template"]["spec"]["containers"]))
            for name, job, times in jobs]
