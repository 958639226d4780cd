"""Replicas of a trial as one JobSet, on the played cluster."""

import json
import os
import tempfile

import harness
import pod_trials
import tap
from pod_trials import UNTIL_GO, shell, spec

if os.geteuid() != 0:
    tap.skip("pods of the played cluster", "namespaces want root")

ONCE = ("case $HOSTNAME in *-1-1-*) echo up; while :; do sleep 0.1; done;; "
        "esac; echo score=1")
WORKERS = {"worker": {"count": 2}}


def owners(job):
    return [one["kind"] for one in job["metadata"].get("ownerReferences", ())]


def wait_up(study):
    for replica in ("master-0", "worker-0", "worker-1"):
        server.wait_output(study, "up", replica=replica)


def expect_best(study, attempt):
    server.wait_study(study)
    trial = server.trial(study, 1)["hypertune"]
    tap.equal((trial["state"], trial["objective"], trial["attempt"]),
              ("SUCCEEDED", 1, attempt), trial["reason"])
    harness.wait_until(lambda: not server.left() and
                       not cluster.list("jobsets"), "a clean end")


def replicas_are_the_pods_of_one_job_set():
    server.submit(spec("whole", shell("echo $CLUSTER_SPEC; " + UNTIL_GO),
                       replicas=WORKERS))
    wait_up("whole")
    job_set, = cluster.list("jobsets")
    name = job_set["metadata"]["name"]
    tap.equal(sorted((job["metadata"]["name"], owners(job))
                     for job in cluster.list("jobs")),
              [(name + "-master-0", ["JobSet"]), (name + "-worker-0",
                                                  ["JobSet"])])
    said = json.loads(server.output("whole").splitlines()[0])
    tap.equal(said["cluster"]["worker"],
              ["%s-worker-0-%d.%s:2222" % (name, index, name)
               for index in (0, 1)])
    tap.equal(sorted(pod["spec"]["hostname"] + "." + pod["spec"]["subdomain"]
                     for pod in cluster.list("pods")),
              ["%s-%s-0-%d.%s" % (name, kind, index, name) for kind, index in
               (("master", 0), ("worker", 0), ("worker", 1))])
    server.mark_go(server.pod("whole"))
    expect_best("whole", 1)


def one_replica_needs_no_job_set():
    before = cluster.cluster.count("create jobsets")
    server.run(spec("single", shell("echo score=1")))
    tap.equal(cluster.cluster.count("create jobsets"), before)
    expect_best("single", 1)


def a_worker_that_is_evicted_is_a_new_attempt_of_all():
    server.submit(spec("evicted", shell(ONCE), replicas=WORKERS))
    wait_up("evicted")
    cluster.evict(server.pod("evicted", "worker-0-1"))
    expect_best("evicted", 2)


def a_job_set_that_is_deleted_before_it_has_pods_is_a_new_attempt():
    with cluster.without_pods() as words:
        server.submit(spec("deleted", shell("echo score=1"),
                           replicas=WORKERS))
        server.wait_output("deleted", words, "runner")
        job_set, = cluster.list("jobsets")
        cluster.cluster.store.delete("jobsets", "work",
                                     job_set["metadata"]["name"], {})
        harness.wait_until(lambda: server.trial("deleted", 1)["hypertune"][
            "attempt"] == 2, "the next attempt")
    expect_best("deleted", 2)


def what_a_killed_runner_left_is_removed():
    server.submit(spec("left", shell(UNTIL_GO), replicas=WORKERS))
    wait_up("left")
    server.kill()
    harness.kill_runs(server.data)
    server.start()
    server.cli("cancel", "left", "--yes")
    server.wait_study("left")
    harness.wait_until(lambda: not server.left() and
                       not cluster.list("jobsets"), "a clean end")


def without_the_right_there_are_jobs():
    with cluster.without_right("jobsets"), pod_trials.Server(cluster) as other:
        before = cluster.cluster.count("create jobsets")
        trial = other.run(spec("plain", shell("echo score=1"),
                               replicas=WORKERS))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        tap.equal(cluster.cluster.count("create jobsets"), before)


with tempfile.TemporaryDirectory(prefix="kube") as folder:
    cluster = pod_trials.Played(folder, job_sets=True)
    try:
        with pod_trials.Server(cluster) as server:
            tap.run([replicas_are_the_pods_of_one_job_set,
                     one_replica_needs_no_job_set,
                     a_worker_that_is_evicted_is_a_new_attempt_of_all,
                     a_job_set_that_is_deleted_before_it_has_pods_is_a_new_attempt,
                     what_a_killed_runner_left_is_removed,
                     without_the_right_there_are_jobs])
    finally:
        cluster.close()
