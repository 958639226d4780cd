"""Trials whose pods are without hypertune-shim, since the runner may enter no
pod, or does not know the image's entry point: their log by the API is all there
is. On the played cluster, or on a real one (see lib/pod_trials.py)."""

import json
import os

import harness
import pod_trials
import tap
from pod_trials import IMAGE, shell, spec

if os.geteuid() != 0 and "HT_KUBECONFIG" not in os.environ:
    tap.skip("pods of the played cluster", "namespaces want root")

cluster = server = None
real = "HT_KUBECONFIG" in os.environ


def expect(study, state, attempt=1):
    trial = server.trial(study, 1)["hypertune"]
    tap.equal((trial["state"], trial["attempt"]), (state, attempt),
              trial["reason"])
    return trial


def mark_of(name):
    """A file in the pod; those of the played cluster see this machine's."""
    return os.path.join("/tmp" if real else cluster.folder, name)


def until(name):
    return "until [ -e %s ]; do sleep 0.1; done" % mark_of(name)


def go(study, name):
    server.mark(server.pod(study), "trial", mark_of(name))


def a_trial_is_read_while_it_runs_and_to_its_end():
    server.submit(spec("live", shell(
        "echo score=0.25; echo $KIND $$ '$$(KIND)' $HYPERTUNE_REPLICA; "
        "echo $CLUSTER_SPEC | tr = :; echo é >&2; %s; printf score=0.5" %
        until("live")), env={"KIND": "of the $(job) $$"}))
    server.wait_output("live", "é")
    harness.wait_until(lambda: server.trial("live", 1)["hypertune"].get(
        "latest", {}).get("metrics") == {"score": 0.25}, "a measurement")
    lines = [line for line in server.output("live").splitlines()
             if line != "é"]  # another stream, which may come first
    tap.equal(lines[0], "score=0.25")
    tap.equal(lines[1].split()[:4], ["of", "the", "$(job)", "$$"])
    tap.equal(lines[1].split()[5:], ["$$(KIND)", "master-0"])
    tap.contains('"task"', lines[2])
    pod, = cluster.list("pods")
    tap.equal(pod["spec"]["containers"][0]["command"][0], "sh")
    tap.true("hypertune-bin" not in str(pod["spec"]), pod["spec"])
    tap.contains("no right to pods/exec", server.output("live", "runner"))
    go("live", "live")
    server.wait_study("live")
    tap.equal(expect("live", "SUCCEEDED")["objective"], 0.5)
    tap.equal(server.output("live").splitlines()[-1], "score=0.5")
    server.expect_nothing_left()


def its_exit_code_is_its_end():
    trial = server.run(spec("fails", shell("echo no data; exit 3")))
    tap.equal(trial["state"], "FAILED")
    tap.contains("code 3", trial["reason"])
    server.expect_nothing_left()


def every_line_comes_once_through_cuts_and_restarts():
    """Also a line that the runtime cuts in pieces, and one without an end."""
    server.submit(spec("cuts", shell(
        "i=0; while [ $i -lt 400 ]; do echo line $i; i=$((i+1)); done; "
        "echo begin; %s; head -c 40000 /dev/zero | tr '\\0' x; echo; "
        "while [ $i -lt 800 ]; do echo line $i; i=$((i+1)); done; "
        "%s; printf score=1" % (until("one"), until("two")))))
    server.wait_output("cuts", "begin")
    cluster.cut()
    go("cuts", "one")
    server.wait_output("cuts", "line 799")
    server.kill()
    harness.kill_runs(server.data)
    server.start()
    go("cuts", "two")
    server.wait_study("cuts")
    tap.equal(expect("cuts", "SUCCEEDED")["objective"], 1)
    want = ["line %d" % i for i in range(400)] + ["begin", "x" * 40000] + [
        "line %d" % i for i in range(400, 800)] + ["score=1"]
    tap.equal(server.output("cuts").splitlines(), want)
    server.expect_nothing_left()


def an_answer_that_ends_too_early_loses_nothing():
    if real:
        raise tap.Skip("nothing does that from outside")
    for fault in ({"ends": 45}, {"after": 100}, {"ends": 0}, "cut",
                  {"words": "unable to retrieve container logs for x"}):
        cluster.cluster.fault("get pods/log", fault)
    trial = server.run(spec("early", shell(
        "i=0; while [ $i -lt 20 ]; do echo line $i; i=$((i+1)); done; "
        "echo score=1")))
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 1),
              trial["reason"])
    tap.equal(server.output("early").splitlines(),
              ["line %d" % i for i in range(20)] + ["score=1"])
    tap.equal(cluster.cluster.faults["get pods/log"], [])
    server.expect_nothing_left()


def lines_that_the_node_has_removed_are_a_new_attempt():
    if real:
        raise tap.Skip("a node does that after 10 MiB")
    server.submit(spec("rotated", shell(
        "case $HOSTNAME in *-1-1-master-0*) echo up; %s; echo score=2;; "
        "*) echo score=1;; esac" % until("rotated"))))
    server.wait_output("rotated", "up")
    pod = cluster.cluster.kubelet.running(server.pod("rotated"))
    pod.containers[0].output.rotate()
    cluster.cut()
    go("rotated", "rotated")
    server.wait_study("rotated")
    tap.equal(expect("rotated", "SUCCEEDED", 2)["objective"], 1)
    server.expect_nothing_left()


def lines_that_were_read_before_the_node_removed_them_are_enough():
    """The node begins a new file; nothing, or something, comes after that."""
    if real:
        raise tap.Skip("a node does that after 10 MiB")
    for name, last, want in (("quiet", "true", 1), ("loud", "echo score=2", 2)):
        server.submit(spec(name, shell("echo score=1; echo up; %s; %s" % (
            until(name), last))))
        server.wait_output(name, "up")
        pod = cluster.cluster.kubelet.running(server.pod(name))
        pod.containers[0].output.rotate()
        go(name, name)
        server.wait_study(name)
        tap.equal(expect(name, "SUCCEEDED")["objective"], want)
        tap.equal(len(server.output(name).splitlines()), 1 + want)
    server.expect_nothing_left()


def a_pod_that_is_deleted_before_its_log_was_read_is_a_new_attempt():
    """Its first attempt has succeeded, and nothing says with what."""
    if real:
        raise tap.Skip("its user's rights change")
    server.run(spec("before", shell("echo score=1")))  # it knows its rights
    rights = cluster.cluster.users["reader"]["work"]
    cluster.cluster.users["reader"]["work"] = {
        key: verbs for key, verbs in rights.items() if key != "pods/log"}
    server.submit(spec("unread", shell("echo score=1")))
    server.wait_output("unread", "pods/log", "runner")
    name, = [pod["metadata"]["name"] for pod in cluster.list("pods")]
    cluster.delete(name)
    cluster.cluster.users["reader"]["work"] = rights
    server.wait_study("unread")
    expect("unread", "SUCCEEDED", 2)
    server.expect_nothing_left()


def a_person_stops_it_and_time_ends_it():
    server.submit(spec("stopped", shell("echo score=0.5; sleep 1000")))
    harness.wait_until(lambda: "score" in server.output("stopped"), "a line")
    server.cli("stop-trial", "stopped/1")
    server.wait_study("stopped")
    expect("stopped", "STOPPED")
    trial = server.run(spec("long", shell("echo score=0.5; sleep 1000"),
                            trialTimeout="2s"))
    tap.contains("ran longer than 2s", trial["reason"])
    server.expect_nothing_left()


def replicas_of_several_types_are_read_each():
    server.submit(spec("types", shell(
        "echo $HYPERTUNE_REPLICA; case $HYPERTUNE_REPLICA in m*) %s; "
        "echo score=1;; *) sleep 1000;; esac" % until("types")),
        replicas={"worker": {"count": 1}}))
    for name in ("master-0", "worker-0"):
        server.wait_output("types", name, replica=name)
    go("types", "types")
    server.wait_study("types")
    tap.equal(expect("types", "SUCCEEDED")["objective"], 1)
    server.expect_nothing_left()


def what_needs_hypertune_in_the_pod_is_refused():
    trial = server.run(spec("library", shell("true"), metrics=None))
    tap.equal(trial["state"], "FAILED")
    tap.contains("metrics: {stdout: ...}", trial["reason"])
    trial = server.run(spec("file", shell("true"), metrics={
        "file": "${trialDir}/m.csv", "stdout": "score={score}"}))
    tap.contains("cannot have metrics.file", trial["reason"])
    trial = server.run(spec("two", shell("true"),
                            replicas={"worker": {"count": 2}}))
    tap.contains("of type worker there can be one", trial["reason"])


def an_unknown_entry_point_is_not_wrapped():
    """No registry is at localhost."""
    template = {"apiVersion": "batch/v1", "kind": "Job", "spec": {
        "backoffLimit": 0, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{
                "name": "main", "image": IMAGE, "imagePullPolicy": "Never",
                "args": shell("echo of ${x} $NAME; echo score=1"),
                "env": [{"name": "NAME", "value": "theirs"}]}]}}}}
    made = spec("entry", None, image=None, kubernetes={"template": template})
    trial = server.run(made)
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 1),
              trial["reason"])
    tap.contains(" theirs", server.output("entry"))
    tap.contains("the trial is read by its log",
                 server.output("entry", "runner"))
    trial = server.run(dict(made, name="silent", metrics={}))
    tap.equal(trial["state"], "FAILED")
    tap.contains("localhost", trial["reason"])
    server.expect_nothing_left()


def doctor_says_how_trials_are_read():
    said = server.cli("doctor", check=False, env={
        "KUBECONFIG": cluster.reader, "HYPERTUNE_RUNNER_KUBERNETES_NAMESPACE":
        cluster.namespace}).stdout
    tap.contains("trials are read by their logs: no right to pods/exec", said)
    tap.contains('resources: ["pods/exec"]', said)


def check_says_when_there_is_only_a_log():
    made = spec("plan", None, kubernetes={"labels": {"a": "b"}}, metrics={})
    path = os.path.join(server.folder, "plan.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    said = server.cli("check", path).stdout
    tap.contains("cannot read the image's entry point", said)
    tap.contains("fails without `metrics: {stdout: ...}`", said)


def on_the_other(case):
    """A case for the runner that may enter pods."""
    def run():
        global server
        server, before = other, server
        try:
            case()
        finally:
            server = before
    run.__name__ = case.__name__
    return run


with pod_trials.cluster_here(training_jobs=True) as cluster, \
        pod_trials.Server(cluster) as other, \
        pod_trials.Server(cluster, config=cluster.reader) as server:
    tap.run([a_trial_is_read_while_it_runs_and_to_its_end,
             its_exit_code_is_its_end,
             every_line_comes_once_through_cuts_and_restarts,
             an_answer_that_ends_too_early_loses_nothing,
             lines_that_the_node_has_removed_are_a_new_attempt,
             lines_that_were_read_before_the_node_removed_them_are_enough,
             a_pod_that_is_deleted_before_its_log_was_read_is_a_new_attempt,
             a_person_stops_it_and_time_ends_it,
             replicas_of_several_types_are_read_each,
             what_needs_hypertune_in_the_pod_is_refused,
             doctor_says_how_trials_are_read,
             check_says_when_there_is_only_a_log,
             on_the_other(an_unknown_entry_point_is_not_wrapped)])
