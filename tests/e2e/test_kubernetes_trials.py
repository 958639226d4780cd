"""Trials as pods of Kubernetes, from submit to best: on the played cluster, or
on a real one (see lib/pod_trials.py)."""

import json
import os

import harness
import pod_trials
import tap
import tfevents
from pod_trials import UNTIL_GO, shell, spec

if os.geteuid() != 0 and "HT_KUBECONFIG" not in os.environ:
    tap.skip("pods of the played cluster", "namespaces want root")


def state_of(study, trial=1):
    return server.trial(study, trial)["hypertune"]["state"]


def a_study_of_three_trials_finds_its_best():
    server.submit(spec("three", shell("echo score=${x}"), trials=3,
                       parallel=2))
    server.wait_study("three")
    trials = [server.trial("three", number)["hypertune"]
              for number in (1, 2, 3)]
    tap.equal([trial["state"] for trial in trials], ["SUCCEEDED"] * 3,
              [trial["reason"] for trial in trials])
    best = server.cli("best", "three", "-o", "args").stdout
    value = float(best.split("--x=")[1].split()[0])
    tap.equal(value, max(trial["objective"] for trial in trials), "best x")
    tap.equal(cluster.logins(), 1, "one login serves all pods")
    server.expect_nothing_left()


def a_trial_has_its_files_command_and_environment():
    trial = server.run(spec("files", shell(
        "cd $HYPERTUNE_TRIAL_DIR && test -s launch.json && pwd && "
        "hypertune report score=0.25 && echo $CLUSTER_SPEC && "
        "echo $KIND && echo $(ls $HYPERTUNE_KIT/bin) && echo words >&2"),
        env={"KIND": "of the job"},
        metrics=None))
    tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
    tap.equal(trial["objective"], 0.25)
    lines = server.output("files").splitlines()
    tap.equal([lines[0]] + lines[2:],
              ["/hypertune/trial", "of the job", "hypertune"])
    tap.equal(json.loads(lines[1])["task"]["type"], "master")
    tap.equal(server.output("files", "stderr"), "words\n")


def event_files_of_tensorboard_are_read_in_the_pod():
    trial = server.run(spec("events", shell(tfevents.shell_of(
        "${trialDir}/logs/eval", ("score", 0.25, 1), ("score", 0.5, 2))),
        goal="maximize eval/score", metrics={"events": "${trialDir}/logs"}))
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 0.5),
              trial["reason"])
    tap.equal([(int(one["step"]), one["metrics"]["eval/score"])
               for one in server.measurements("events", 1)],
              [(1, 0.25), (2, 0.5)])


def a_failure_has_its_exit_code():
    trial = server.run(spec("fails", shell("echo no data >&2; exit 3")))
    tap.equal(trial["state"], "FAILED")
    tap.contains("exit 3", trial["reason"])
    tap.contains("no data", trial["reason"])


def a_person_stops_a_trial():
    server.submit(spec("stopped", shell(
        "trap 'echo bye; exit 0' TERM; echo score=0.5; echo up; "
        "while :; do sleep 0.1; done")))
    server.wait_output("stopped", "up")
    server.cli("stop-trial", "stopped/1")
    server.wait_study("stopped")
    tap.equal(state_of("stopped"), "STOPPED")
    server.wait_output("stopped", "bye")
    server.expect_nothing_left()


def a_trial_outlives_the_server_and_the_runner():
    server.submit(spec("outlived", shell(UNTIL_GO)))
    server.wait_output("outlived", "up")
    server.kill()
    harness.kill_runs(server.data)
    server.start()
    pod = server.pod("outlived")
    server.mark_go(pod)
    server.wait_study("outlived")
    trial = server.trial("outlived", 1)["hypertune"]
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 1),
              trial["reason"])
    tap.equal(len(trial["attempts"]), 1, "attempts")
    server.expect_nothing_left()


def a_cut_connection_comes_again():
    server.submit(spec("cut", shell(UNTIL_GO)))
    server.wait_output("cut", "up")
    cluster.cut()
    server.mark_go(server.pod("cut"))
    server.wait_study("cut")
    tap.equal(state_of("cut"), "SUCCEEDED")


def an_evicted_pod_is_a_new_attempt():
    server.submit(spec("evicted", shell(
        "case $HOSTNAME in *-1-1-master-0*) echo up; while :; do sleep 0.1; "
        "done;; esac; echo score=1")))
    server.wait_output("evicted", "up")
    cluster.evict(server.pod("evicted"))
    server.wait_study("evicted")
    trial = server.trial("evicted", 1)["hypertune"]
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 1),
              trial["reason"])
    tap.equal(trial["attempt"], 2)
    server.expect_nothing_left()


def a_pod_that_cannot_be_placed_says_why():
    with cluster.full() as words:
        server.submit(spec("full", shell("echo score=1")))
        server.wait_output("full", words, "runner")
    server.wait_study("full")
    tap.equal(state_of("full"), "SUCCEEDED")


def a_trial_that_waits_is_stopped():
    with cluster.full() as words:
        server.submit(spec("waiting", shell("echo score=1")))
        server.wait_output("waiting", words, "runner")
        server.cli("cancel", "waiting", "--yes")
        server.wait_study("waiting")
        server.expect_nothing_left()


def a_quota_without_room_says_why():
    with cluster.without_pods() as words:
        server.submit(spec("quota", shell("echo score=1")))
        server.wait_output("quota", words, "runner")
    server.wait_study("quota")
    tap.equal(state_of("quota"), "SUCCEEDED")


def a_job_that_is_deleted_before_it_has_pods_is_a_new_attempt():
    with cluster.without_pods() as words:
        server.submit(spec("deleted", shell("echo score=1")))
        server.wait_output("deleted", words, "runner")
        job, = cluster.list("jobs")
        cluster.remove("jobs", job["metadata"]["name"])
        harness.wait_until(lambda: server.trial("deleted", 1)["hypertune"][
            "attempt"] == 2, "the next attempt")
    server.wait_study("deleted")
    tap.equal(state_of("deleted"), "SUCCEEDED")


def a_pod_that_is_deleted_is_a_new_attempt():
    server.submit(spec("gone", shell(
        "case $HOSTNAME in *-1-1-master-0*) echo up; while :; do sleep 0.1; "
        "done;; esac; echo score=1")))
    server.wait_output("gone", "up")
    cluster.delete(server.pod("gone"))
    server.wait_study("gone")
    trial = server.trial("gone", 1)["hypertune"]
    tap.equal((trial["state"], trial["attempt"]), ("SUCCEEDED", 2),
              trial["reason"])


def a_pod_that_is_deleted_before_its_trial_begins_is_a_new_attempt():
    with cluster.without_right("pods/exec"):
        server.submit(spec("early", shell("echo score=1")))
        cluster.delete(server.pod("early"))
        harness.wait_until(lambda: server.trial("early", 1)["hypertune"][
            "attempt"] == 2, "the next attempt")
    server.wait_study("early")
    tap.equal(state_of("early"), "SUCCEEDED")


def a_pod_that_ends_before_its_reports_have_come_is_a_new_attempt():
    if not isinstance(cluster, pod_trials.Played):
        raise tap.Skip("its user may do everything")
    server.submit(spec("unheard", shell(
        "case $HOSTNAME in *-1-1-master-0*) %s;; *) echo score=1;; esac" %
        UNTIL_GO)))
    server.wait_output("unheard", "up")
    pod = server.pod("unheard")
    with cluster.without_right("pods/exec"):
        cluster.cut()
        server.mark_go(pod)
        harness.wait_until(lambda: server.enter(
            pod, "test", "-e", "/hypertune/trial/exit.json") == 0, "its end")
        cluster.delete(pod)
        harness.wait_until(lambda: server.trial("unheard", 1)["hypertune"][
            "attempt"] == 2, "the next attempt")
    server.wait_study("unheard")
    trial = server.trial("unheard", 1)["hypertune"]
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 1),
              trial["reason"])


def a_runner_that_may_not_enter_pods_says_why():
    with cluster.without_right("pods/exec"):
        server.submit(spec("right", shell("echo score=1")))
        server.wait_output("right", "pods/exec", "runner")
    server.wait_study("right")
    tap.equal(state_of("right"), "SUCCEEDED")


def replicas_reach_each_other_by_names_that_are_known_before():
    """The workers run until the master ends."""
    server.submit(spec("replicas", shell("echo $CLUSTER_SPEC; " + UNTIL_GO),
                       replicas={"worker": {"count": 2}}))
    names = ("master-0", "worker-0", "worker-1")
    for name in names:
        server.wait_output("replicas", "up", replica=name)
    said = {name: json.loads(server.output("replicas", replica=name)
                             .splitlines()[0]) for name in names}
    number = server.get(harness.JOBS + "replicas")["name"].rsplit("/", 1)[1]
    for worker, address in enumerate(said["master-0"]["cluster"]["worker"]):
        host, port = address.split(":")
        name, service = host.split(".")
        tap.true(service.endswith("-%s-1-1" % number), service)
        tap.equal((name, port), ("%s-worker-0-%d" % (service, worker), "2222"))
    for name, one in said.items():
        task = one["task"]
        tap.equal("%s-%d" % (task["type"], int(task["index"])), name)
    server.mark_go(server.pod("replicas"))
    server.wait_study("replicas")
    trial = server.trial("replicas", 1)["hypertune"]
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 1),
              trial["reason"])
    server.expect_nothing_left()


with pod_trials.cluster_here() as cluster, pod_trials.Server(
        cluster) as server:
    tap.run([a_study_of_three_trials_finds_its_best,
             a_trial_has_its_files_command_and_environment,
             event_files_of_tensorboard_are_read_in_the_pod,
             a_failure_has_its_exit_code, a_person_stops_a_trial,
             a_trial_outlives_the_server_and_the_runner,
             a_cut_connection_comes_again, an_evicted_pod_is_a_new_attempt,
             a_pod_that_cannot_be_placed_says_why,
             a_trial_that_waits_is_stopped, a_quota_without_room_says_why,
             a_job_that_is_deleted_before_it_has_pods_is_a_new_attempt,
             a_pod_that_is_deleted_is_a_new_attempt,
             a_pod_that_is_deleted_before_its_trial_begins_is_a_new_attempt,
             a_pod_that_ends_before_its_reports_have_come_is_a_new_attempt,
             a_runner_that_may_not_enter_pods_says_why,
             replicas_reach_each_other_by_names_that_are_known_before])
