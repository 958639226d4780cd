"""Replicas of a trial as one JobSet, and a JobSet as a template: on the played
cluster, or on a real one that has them (see lib/pod_trials.py)."""

import json
import os

import harness
import pod_trials
import tap
from pod_trials import IMAGE, UNTIL_GO, shell, spec

if os.geteuid() != 0 and "HT_KUBECONFIG" not in os.environ:
    tap.skip("pods of the played cluster", "namespaces want root")

# The first attempt stays until it is taken away.
ONCE = ("case $HOSTNAME in *-1-1-*) echo up; while :; do sleep 0.1; done;; "
        "esac; echo score=1")
STAY = "echo up; while :; do sleep 0.1; done"
WORKERS = {"worker": {"count": 2}}


def owners(job):
    return [one["kind"] for one in job["metadata"].get("ownerReferences", ())]


def of_roles(master, worker):
    """What each replica does, by its type."""
    return shell("case $HOSTNAME in *-master-*) %s;; *) %s;; esac" % (
        master, worker))


def wait_up(study):
    for replica in ("master-0", "worker-0", "worker-1"):
        server.wait_output(study, "up", replica=replica)


def expect_nothing_left():
    harness.wait_until(lambda: not server.left() and
                       not cluster.list("jobsets"), "a clean end")


def expect(study, state, attempt=1, objective=None):
    server.wait_study(study)
    trial = server.trial(study, 1)["hypertune"]
    tap.equal((trial["state"], trial.get("objective"), trial["attempt"]),
              (state, objective, attempt), trial["reason"])
    expect_nothing_left()
    return trial["reason"]


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
    expect("whole", "SUCCEEDED", objective=1)


def replicas_reach_each_other_by_their_names():
    """The first worker answers on its port, for the master alone."""
    if isinstance(cluster, pod_trials.Played):
        raise tap.Skip("the played cluster has no names")
    server.submit(spec("names", of_roles(
        "a=${HOSTNAME%-master-0-0}; until n=$(nc $a-worker-0-0.$a 2222 "
        "</dev/null) && [ -n \"$n\" ]; do sleep 0.2; done; echo score=$n",
        "while :; do echo 7 | nc -l -p 2222; done"), replicas=WORKERS))
    expect("names", "SUCCEEDED", objective=7)


def one_replica_needs_no_job_set():
    server.submit(spec("single", shell(UNTIL_GO)))
    server.wait_output("single", "up")
    tap.equal(cluster.list("jobsets"), [])
    server.mark_go(server.pod("single"))
    expect("single", "SUCCEEDED", objective=1)


def a_master_that_fails_is_the_trial_s_failure():
    server.submit(spec("fails", of_roles("echo no data >&2; exit 3", STAY),
                       replicas=WORKERS))
    reason = expect("fails", "FAILED")
    tap.contains("exit 3", reason)
    tap.contains("no data", reason)


def a_worker_that_fails_is_the_trial_s_failure():
    server.submit(spec("worker", of_roles(STAY, "echo no peer >&2; exit 4"),
                       replicas=WORKERS))
    reason = expect("worker", "FAILED")
    tap.contains("exit 4", reason)
    tap.contains("worker-", reason)


def workers_that_end_before_the_master_are_no_end():
    server.submit(spec("early", of_roles(UNTIL_GO, "echo up"),
                       replicas=WORKERS))
    wait_up("early")
    server.mark_go(server.pod("early"))
    expect("early", "SUCCEEDED", objective=1)


def a_person_stops_all_replicas():
    server.submit(spec("stopped", shell(
        "trap 'echo bye; exit 0' TERM; echo score=0.5; " + STAY),
        replicas=WORKERS))
    wait_up("stopped")
    server.cli("stop-trial", "stopped/1")
    expect("stopped", "STOPPED", objective=0.5)
    for replica in ("master-0", "worker-0", "worker-1"):
        server.wait_output("stopped", "bye", replica=replica)


def a_worker_that_is_evicted_is_a_new_attempt_of_all():
    server.submit(spec("evicted", shell(ONCE), replicas=WORKERS))
    wait_up("evicted")
    cluster.evict(server.pod("evicted", "worker-0-1"))
    expect("evicted", "SUCCEEDED", 2, 1)


def a_master_that_is_evicted_is_a_new_attempt_of_all():
    server.submit(spec("moved", shell(ONCE), replicas=WORKERS))
    wait_up("moved")
    cluster.evict(server.pod("moved"))
    expect("moved", "SUCCEEDED", 2, 1)


def a_job_set_that_is_deleted_while_it_runs_is_a_new_attempt():
    server.submit(spec("taken", shell(ONCE), replicas=WORKERS))
    wait_up("taken")
    job_set, = cluster.list("jobsets")
    cluster.remove("jobsets", job_set["metadata"]["name"])
    expect("taken", "SUCCEEDED", 2, 1)


def a_job_set_that_is_deleted_before_it_has_pods_is_a_new_attempt():
    with cluster.without_pods() as words:
        server.submit(spec("deleted", shell("echo score=1"),
                           replicas=WORKERS))
        server.wait_output("deleted", words, "runner")
        job_set, = cluster.list("jobsets")
        cluster.remove("jobsets", job_set["metadata"]["name"])
        harness.wait_until(lambda: server.trial("deleted", 1)["hypertune"][
            "attempt"] == 2, "the next attempt")
    expect("deleted", "SUCCEEDED", 2, 1)


def template(master, worker):
    """A JobSet of a trial and another Job."""
    def job(name, command):
        return {"name": name, "template": {"spec": {
            "backoffLimit": 0, "template": {"spec": {
                "restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "main", "image": IMAGE,
                                "command": shell(command)}]}}}}}
    return {"template": {
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "spec": {"replicatedJobs": [job("lead", master),
                                    job("help", worker)]}},
        "primaryPodLabels": {"jobset.sigs.k8s.io/replicatedjob-name": "lead"}}


def of_template(name, *commands):
    server.submit(spec(name, None, image=None,
                       kubernetes=template(*commands)))


def a_job_set_of_a_template_is_a_trial():
    of_template("made", "echo ${x}; " + UNTIL_GO, STAY)
    server.wait_output("made", "up")
    job_set, = cluster.list("jobsets")
    server.mark_go(server.pod("made", "lead"), "main")
    expect("made", "SUCCEEDED", objective=1)
    tap.equal([one["name"] for one in job_set["spec"]["replicatedJobs"]],
              ["lead", "help"])


def a_job_of_a_template_that_fails_is_the_trial_s_failure():
    of_template("helper", "echo ${x}; " + STAY,
                "until [ -e /go ]; do sleep 0.1; done; exit 5")
    server.wait_output("helper", "up")
    server.mark(server.pod("helper", "help"), "main", "/go")
    tap.contains("-help-0", expect("helper", "FAILED"))


def the_lead_of_a_template_fails_with_its_words():
    of_template("lead", "echo ${x}; echo no lead >&2; exit 6", STAY)
    reason = expect("lead", "FAILED")
    tap.contains("exit 6", reason)
    tap.contains("no lead", reason)


def a_template_s_pod_that_is_evicted_is_a_new_attempt():
    of_template("again", "echo ${x}; " + ONCE, STAY)
    server.wait_output("again", "up")
    cluster.evict(server.pod("again", "lead"))
    expect("again", "SUCCEEDED", 2, 1)


def what_the_cluster_refuses_of_a_template_is_the_reason():
    made = template("echo ${x}", STAY)
    made["template"]["spec"]["retries"] = 3
    server.submit(spec("wrong", None, image=None, kubernetes=made))
    tap.contains('unknown field "spec.retries"', expect("wrong", "FAILED"))


def what_a_killed_runner_left_is_removed():
    server.submit(spec("left", shell(UNTIL_GO), replicas=WORKERS))
    wait_up("left")
    server.kill()
    harness.kill_runs(server.data)
    server.start()
    server.cli("cancel", "left", "--yes")
    server.wait_study("left")
    expect_nothing_left()


def without_the_right_there_are_jobs():
    with cluster.without_right("jobsets"), pod_trials.Server(cluster) as other:
        before = cluster.cluster.count("create jobsets")
        trial = other.run(spec("plain", shell("echo score=1"),
                               replicas=WORKERS))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        tap.equal(cluster.cluster.count("create jobsets"), before)


with pod_trials.cluster_here(job_sets=True) as cluster:
    if not cluster.has("jobsets"):
        tap.skip("replicas as JobSets", "the cluster has no JobSets")
    with pod_trials.Server(cluster) as server:
        tap.run([replicas_are_the_pods_of_one_job_set,
                 replicas_reach_each_other_by_their_names,
                 one_replica_needs_no_job_set,
                 a_master_that_fails_is_the_trial_s_failure,
                 a_worker_that_fails_is_the_trial_s_failure,
                 workers_that_end_before_the_master_are_no_end,
                 a_person_stops_all_replicas,
                 a_worker_that_is_evicted_is_a_new_attempt_of_all,
                 a_master_that_is_evicted_is_a_new_attempt_of_all,
                 a_job_set_that_is_deleted_while_it_runs_is_a_new_attempt,
                 a_job_set_that_is_deleted_before_it_has_pods_is_a_new_attempt,
                 a_job_set_of_a_template_is_a_trial,
                 a_job_of_a_template_that_fails_is_the_trial_s_failure,
                 the_lead_of_a_template_fails_with_its_words,
                 a_template_s_pod_that_is_evicted_is_a_new_attempt,
                 what_the_cluster_refuses_of_a_template_is_the_reason,
                 what_a_killed_runner_left_is_removed,
                 without_the_right_there_are_jobs])
