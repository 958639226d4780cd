"""Trials in a queue of Kueue, as Jobs and as JobSets: on the played cluster, or
on a real one that has both (see lib/pod_trials.py)."""

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
WORKERS = {"worker": {"count": 2}}
POD = {"containers": [{"name": "trial", "resources": {
    "requests": {"cpu": "100m"}}}]}


def queued(name, command, priority=None, **members):
    """A spec whose pods ask for a tenth of a CPU."""
    section = {"queue": "team-a", "pod": POD}
    if priority:
        section["labels"] = {"kueue.x-k8s.io/priority-class": priority}
    return spec(name, shell(command), kubernetes=section, **members)


def expect(study, attempt=1, trial=1, state="SUCCEEDED", objective=1):
    server.wait_study(study)
    found = server.trial(study, trial)["hypertune"]
    tap.equal((found["state"], found.get("objective"), found["attempt"]),
              (state, objective, attempt), found["reason"])
    return found


def expect_nothing_left():
    """Also no Workload of Kueue."""
    harness.wait_until(lambda: not server.left() and not any(
        cluster.list(plural) for plural in ("jobsets", "workloads")),
        "a clean end")


def said(study, trial=1):
    return server.output(study, "runner", trial=trial)


def trials_wait_for_room_in_their_queue():
    with cluster.queue("team-a", "200m"):
        server.submit(queued("four", UNTIL_GO, trials=4, parallel=4))
        numbers = range(1, 5)

        def of(stream, word):
            return [one for one in numbers
                    if word in server.output("four", stream, trial=one)]
        harness.wait_until(lambda: len(of("stdout", "up")) == 2 and len(
            of("runner", "insufficient unused quota for cpu")) == 2,
            "two that run and two that wait")
        waiting = of("runner", "in the queue team-a: couldn't assign flavors")
        running = of("stdout", "up")
        tap.equal(sorted(waiting + running), list(numbers))
        tap.contains("in the queue team-a", server.cli("runners").stdout)
        done = set()

        def finish():
            for pod in cluster.list("pods"):
                name = pod["metadata"]["name"]
                if pod["status"].get("phase") == "Running" and name not in done:
                    server.mark_go(name)
                    done.add(name)
            return len(done) == 4
        harness.wait_until(finish, "four pods")
        for number in numbers:
            expect("four", trial=number)
        expect_nothing_left()


def a_trial_of_a_higher_priority_takes_the_place_of_another():
    with cluster.queue("team-a", "100m"):
        server.submit(queued("low", ONCE))
        server.wait_output("low", "up")
        server.submit(queued("high", UNTIL_GO, priority="high"))
        server.wait_output("high", "up")
        harness.wait_until(lambda: server.trial("low", 1)["hypertune"][
            "attempt"] == 2, "the next attempt")
        server.wait_output("low", "in the queue team-a", "runner")
        server.mark_go(server.pod("high"))
        expect("high")
        trial = expect("low", 2)
        tap.contains("its Job was suspended: Preempted",
                     trial["attempts"][0]["reason"])
        expect_nothing_left()


def replicas_wait_as_a_whole():
    with cluster.queue("team-a", "500m"):
        for name in ("first", "second"):
            server.submit(queued(name, UNTIL_GO, replicas=WORKERS))
        names = {"first", "second"}

        def runs():
            return [name for name in names if all(
                "up" in server.output(name, replica=replica)
                for replica in ("master-0", "worker-0", "worker-1"))]
        now, = harness.wait_until(runs, "one of both")
        other, = names - {now}
        server.wait_output(
            other, "in the queue team-a: couldn't assign flavors", "runner")
        tap.equal(server.output(other), "")
        server.mark_go(server.pod(now))
        expect(now)
        server.wait_output(other, "up")
        server.mark_go(server.pod(other))
        expect(other)
        expect_nothing_left()


def replicas_that_lose_their_place_are_a_new_attempt():
    with cluster.queue("team-a", "300m"):
        server.submit(queued("weak", ONCE, replicas=WORKERS))
        for replica in ("master-0", "worker-0", "worker-1"):
            server.wait_output("weak", "up", replica=replica)
        server.submit(queued("strong", UNTIL_GO, priority="high"))
        server.wait_output("strong", "up")
        server.mark_go(server.pod("strong"))
        expect("strong")
        trial = expect("weak", 2)
        tap.contains("its JobSet was suspended: Preempted",
                     trial["attempts"][0]["reason"])
        expect_nothing_left()


def a_trial_in_a_queue_is_stopped():
    with cluster.queue("team-a", "50m"):
        server.submit(queued("job", "echo score=1"))
        server.submit(queued("set", "echo score=1", replicas=WORKERS))
        for name in ("job", "set"):
            server.wait_output(name, "insufficient quota for cpu", "runner")
            server.cli("cancel", name, "--yes")
            server.wait_study(name)
        expect_nothing_left()


def a_queue_that_is_not_there_is_said():
    server.submit(queued("none", "echo score=1"))
    server.wait_output("none", "in the queue team-a", "runner")
    server.wait_output("none", "LocalQueue team-a doesn't exist", "runner")
    with cluster.queue("team-a", "100m"):
        expect("none")
        expect_nothing_left()


def a_template_waits_in_its_queue():
    container = {"name": "main", "image": IMAGE, "resources": {
        "requests": {"cpu": "100m"}}, "command": shell(
            "echo ${x}; " + UNTIL_GO)}
    with cluster.queue("team-a", "100m"):
        server.submit(queued("ahead", UNTIL_GO))
        server.wait_output("ahead", "up")
        server.submit(spec("made", None, image=None, kubernetes={
            "queue": "team-a", "template": {
                "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
                "spec": {"replicatedJobs": [{
                    "name": "lead", "template": {"spec": {"template": {"spec": {
                        "restartPolicy": "Never",
                        "containers": [container]}}}}}]}}}))
        server.wait_output("made", "in the queue team-a: couldn't assign",
                           "runner")
        server.mark_go(server.pod("ahead"))
        server.wait_output("made", "up")
        server.mark_go(server.pod("made", "lead"), "main")
        expect("made")
        expect_nothing_left()


with pod_trials.cluster_here(job_sets=True, kueue=True) as cluster:
    for plural in ("jobsets", "workloads"):
        if not cluster.has(plural):
            tap.skip("trials in a queue", "the cluster has no " + plural)
    with pod_trials.Server(cluster) as server:
        tap.run([trials_wait_for_room_in_their_queue,
                 a_trial_of_a_higher_priority_takes_the_place_of_another,
                 replicas_wait_as_a_whole,
                 replicas_that_lose_their_place_are_a_new_attempt,
                 a_trial_in_a_queue_is_stopped,
                 a_queue_that_is_not_there_is_said,
                 a_template_waits_in_its_queue])
