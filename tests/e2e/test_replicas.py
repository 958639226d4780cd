"""Trials of several processes: which one each is, how they end together, GPUs,
and a runner that is killed in the middle."""

import json
import os
import shutil
import signal

import checker
import harness
import tap
import tree

EXAMPLE = tree.path("examples/parameter-server")
GREETER = os.path.join(tree.TRAINERS, "greeter.py")
SHIM = os.path.join(harness.bin_dir(), "hypertune-shim")


def shell(text):
    return ["sh", "-c", text]


def spec(name, command, replicas, **members):
    """One trial whose master has `command`; args none: no flag is added."""
    members = dict({"trials": 1, "retries": 0, "args": "none", "grace": "10s"},
                   **members)
    return dict({"spec": 1, "name": name, "goal": "maximize score",
                 "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
                 "algorithm": "random", "seed": 1, "command": command,
                 "metrics": {"stdout": "score={score}"},
                 "replicas": replicas}, **members)


class Cases:
    def __init__(self, server):
        self.server = server

    # --- helpers ---

    def run(self, given):
        """Submits the spec and waits; returns hypertune's view of trial 1."""
        self.server.submit(given)
        self.server.wait_study(given["name"])
        return self.server.trial(given["name"], 1)["hypertune"]

    def output(self, name, replica, trial=1, stream="stdout"):
        return self.server.get(
            harness.OURS + "%s/trials/%s/logs?replica=%s&stream=%s&offset=0" %
            (name, trial, replica, stream))["data"]

    def said(self, name, replica):
        """The one JSON object that a replica has printed."""
        return json.loads(self.output(name, replica).splitlines()[0])

    def expect_quiet(self):
        harness.wait_until(lambda: not checker.leftovers(self.server.data),
                           "the end of every process of a trial")

    def shims(self):
        return harness.processes(SHIM, self.server.data)

    def wait_up(self, folder, names):
        harness.wait_until(
            lambda: all(os.path.exists(os.path.join(folder, name))
                        for name in names), "replicas that are up")

    def marks(self, name):
        folder = os.path.join(self.server.folder, name + ".marks")
        os.mkdir(folder)
        return folder

    # --- who a replica is ---

    def thirteen_replicas_find_each_other(self):
        name = "thirteen"
        trial = self.run(spec(
            name, ["python3", GREETER],
            {"worker": {"count": 9}, "ps": {"count": 3}}, args="auto"))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        tap.equal(trial["objective"], 13.0, "replicas that the master heard")
        master = self.said(name, "master-0")
        cluster = master["CLUSTER_SPEC"]["cluster"]
        tap.equal({kind: len(addresses)
                   for kind, addresses in cluster.items()},
                  {"master": 1, "worker": 9, "ps": 3}, "sizes")
        everybody = sum(cluster.values(), [])
        tap.equal(len(set(everybody)), 13, "different addresses")
        for kind, count in (("master", 1), ("worker", 9), ("ps", 3)):
            for index in range(count):
                replica = "%s-%d" % (kind, index)
                said = self.said(name, replica)
                tap.equal(said["HYPERTUNE_REPLICA"], replica, "name")
                task = {"type": kind, "index": index, "trial": "1"}
                for variable in ("CLUSTER_SPEC", "TF_CONFIG"):
                    tap.equal(said[variable]["cluster"], cluster, replica)
                    tap.equal(said[variable]["task"], task, replica)
                tap.equal(said["TF_CONFIG"]["environment"], "cloud", replica)
        self.expect_quiet()

    # --- how an attempt ends ---

    def a_failing_worker_fails_the_trial_by_name(self):
        trial = self.run(spec(
            "failing", shell("exec sleep 300"),
            {"worker": {"count": 2, "command": shell(
                'test $HYPERTUNE_REPLICA = worker-0 && exec sleep 300; '
                'exit 3')}, "ps": {"command": shell("exec sleep 300")}}))
        tap.equal(trial["state"], "FAILED")
        tap.equal(trial["reason"], "worker-1: exit 3")
        self.expect_quiet()

    def a_command_that_is_missing_names_its_replica(self):
        trial = self.run(spec(
            "missing", shell("exec sleep 300"),
            {"ps": {"command": ["/no/such/program"]}}))
        tap.equal(trial["state"], "FAILED")
        if not trial["reason"].startswith("ps-0: "):
            raise AssertionError("reason " + trial["reason"])
        self.expect_quiet()

    def workers_and_servers_may_end_early(self):
        trial = self.run(spec(
            "early", shell("until [ -e $DONE/worker-0 -a -e $DONE/ps-0 ]; "
                           "do sleep 0.02; done; echo score=1"),
            {"worker": {"command": shell("touch $DONE/worker-0")},
             "ps": {"command": shell("touch $DONE/ps-0")}},
            env={"DONE": self.marks("early")}))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])

    def a_server_that_ignores_the_end_is_killed_after_the_grace(self):
        folder = self.marks("stubborn")
        trial = self.run(spec(
            "stubborn", shell("until [ -e $DONE/up ]; do sleep 0.02; done; "
                              "echo score=1"),
            {"ps": {"command": shell("trap '' TERM; touch $DONE/up; "
                                     "while :; do sleep 0.1; done")}},
            env={"DONE": folder}, grace="1s"))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        self.expect_quiet()

    def stopping_reaches_a_worker_that_hangs(self):
        folder = self.marks("stopped")
        mark = "touch $DONE/$HYPERTUNE_REPLICA; "
        given = spec(
            "stopped", shell(mark + "echo score=1; exec sleep 300"),
            {"worker": {"count": 2, "command": shell(
                "trap '' TERM; " + mark + "while :; do sleep 0.1; done")},
             "ps": {"command": shell(mark + "exec sleep 300")}},
            env={"DONE": folder}, grace="1s")
        self.server.submit(given)
        self.wait_up(folder, ["master-0", "worker-0", "worker-1", "ps-0"])
        status, answer = self.server.call(
            "POST", harness.STUDIES + "stopped/trials/1:stop")
        tap.equal(status, 200, answer)
        self.server.wait_study("stopped")
        trial = self.server.trial("stopped", 1)["hypertune"]
        tap.equal(trial["state"], "STOPPED", trial["reason"])
        self.expect_quiet()

    def the_timeout_is_everybodys(self):
        trial = self.run(spec("late", shell("exec sleep 300"),
                              {"worker": {"command": shell("exec sleep 300")}},
                              trialTimeout="1s"))
        tap.equal(trial["state"], "FAILED")
        if "ran longer than 1s" not in trial["reason"]:
            raise AssertionError("reason " + trial["reason"])
        self.expect_quiet()

    def an_image_waits_for_a_runner_of_containers(self):
        # Google's clients do not see which runners there are.
        status, job = self.server.call("POST", harness.JOBS.rstrip("/"), {
            "displayName": "image", "maxTrialCount": 1,
            "parallelTrialCount": 1,
            "studySpec": {
                "metrics": [{"metricId": "score", "goal": "MAXIMIZE"}],
                "parameters": [{"parameterId": "x", "doubleValueSpec": {
                    "minValue": 0, "maxValue": 1}}]},
            "trialJobSpec": {
                "workerPoolSpecs": [{"replicaCount": "1", "containerSpec": {
                    "imageUri": "gcr.io/p/train:1"}}]}})
        tap.equal(status, 200, job)
        name = job["name"].rsplit("/", 1)[1]
        reason = ("1 of 1 wait: its trials run in images, and no runner does "
                  "that: start one with --engine docker")
        harness.wait_until(
            lambda: self.server.study(name)["reason"] == reason,
            "the reason %r, is %r" % (reason,
                                      self.server.study(name)["reason"]))
        self.server.cli("cancel", name, "--yes")
        self.server.wait_study(name)

    # --- GPUs ---

    def replicas_have_gpus_of_their_own(self):
        # $0 is the trial's point: each trial has its own marks.
        show = ("echo gpus=$CUDA_VISIBLE_DEVICES; mkdir -p $DONE/$0; "
                "touch $DONE/$0/$HYPERTUNE_REPLICA; ")
        others = "".join(
            "until [ -e $DONE/$0/%s ]; do sleep 0.02; done; " % replica
            for replica in ("worker-0", "worker-1", "ps-0"))
        trial = self.run(spec(
            "gpus", shell(show + others + "echo score=1"),
            {"worker": {"count": 2, "resources": {"gpus": 1},
                        "command": shell(show + "exec sleep 300")},
             "ps": {"command": shell(show + "exec sleep 300")}},
            trials=3, parallel=3, args="auto",
            env={"DONE": self.marks("gpus")}))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        for number in (1, 2, 3):
            got = [self.output("gpus", replica, number).split()[0]
                   for replica in ("worker-0", "worker-1")]
            tap.equal(sorted(got), ["gpus=0", "gpus=1"], "trial %d" % number)
            for replica in ("master-0", "ps-0"):
                tap.equal(self.output("gpus", replica, number).split()[0],
                          "gpus=", replica)

    def what_no_runner_has_is_named(self):
        given = spec("greedy", shell("echo score=1"),
                     {"worker": {"count": 4, "resources": {"gpus": 1}}})
        self.server.submit(given)
        reason = "1 of 1 wait: each needs 4 GPUs, no runner has more than 2"
        harness.wait_until(
            lambda: self.server.study("greedy")["reason"] == reason,
            "the reason %r, is %r" % (reason,
                                      self.server.study("greedy")["reason"]))
        self.server.cli("cancel", "greedy", "--yes")
        self.server.wait_study("greedy")

    # --- the runner dies ---

    def a_new_runner_finds_all_replicas(self):
        folder = self.marks("adopted")
        wait = "until [ -e $DONE/%s ]; do sleep 0.02; done; "
        begin = "touch $DONE/$HYPERTUNE_REPLICA; " + wait % "go"
        # The master's end ends all others: it comes last.
        given = spec(
            "adopted", shell(begin + wait % "end-worker-1" +
                             "echo gpus=$CUDA_VISIBLE_DEVICES; echo score=2"),
            {"worker": {"count": 2, "command": shell(
                begin + "echo done; touch $DONE/end-$HYPERTUNE_REPLICA")},
             "ps": {"resources": {"gpus": 2}, "command": shell(
                 "echo $$; touch $DONE/$HYPERTUNE_REPLICA; exec sleep 300")}},
            env={"DONE": folder})
        rival = spec("rival", shell("echo score=1"), {}, resources={"gpus": 1})
        del rival["replicas"]
        self.server.submit(given)
        self.wait_up(folder, ["master-0", "worker-0", "worker-1", "ps-0"])
        shims = self.shims()
        tap.equal(len(shims), 4, "shims")
        runner, = harness.runners(self.server.data)
        os.kill(runner, signal.SIGKILL)
        self.server.submit(rival)
        harness.wait_until(
            lambda: [pid for pid in harness.runners(self.server.data)
                     if pid != runner], "a new runner")
        tap.equal(self.shims(), shims, "shims after the restart")
        # Both GPUs are still in use, so the other study has to wait.
        harness.wait_until(
            lambda: "2 GPUs" in self.server.study("rival")["reason"],
            "a runner that polls")
        tap.equal(self.server.study("rival")["counts"]["active"], 0, "active")
        open(os.path.join(folder, "go"), "w").close()
        self.server.wait_study("adopted")
        trial = self.server.trial("adopted", 1)["hypertune"]
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        tap.equal(trial["objective"], 2.0)
        tap.equal(self.output("adopted", "worker-1"), "done\n")
        self.server.wait_study("rival")
        self.expect_quiet()

    def a_killed_shim_of_a_worker_starts_the_attempt_again(self):
        folder = self.marks("shim")
        given = spec(
            "shim", shell("[ -e $DONE/again ] && exec echo score=1; "
                          "touch $DONE/$HYPERTUNE_REPLICA; exec sleep 300"),
            {"worker": {"command": shell(
                "echo $$ >$DONE/pid.tmp; mv $DONE/pid.tmp $DONE/pid; "
                "exec sleep 300")}},
            env={"DONE": folder})
        self.server.submit(given)
        self.wait_up(folder, ["master-0", "pid"])
        with open(os.path.join(folder, "pid"), encoding="ascii") as file:
            trainer = int(file.read())
        open(os.path.join(folder, "again"), "w").close()
        stat = harness.read_proc(trainer, "stat").decode()
        os.kill(int(stat.rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
        self.server.wait_study("shim")
        trial = self.server.trial("shim", 1)["hypertune"]
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        events = json.dumps(self.server.get(
            harness.OURS + "shim/events?limit=100"))
        if "worker-0: its supervisor process was killed" not in events:
            raise AssertionError("no reason in " + events)
        self.expect_quiet()

    # --- the example ---

    def the_example_trains_on_five_processes(self):
        folder = os.path.join(self.server.folder, "parameter-server")
        shutil.copytree(EXAMPLE, folder)
        self.server.cli("submit", "spec.yaml", cwd=folder)
        status = self.server.wait_study("parameter-server")
        tap.equal(status["state"], "SUCCEEDED", status["reason"])
        tap.equal(status["counts"]["succeeded"], 8)
        trials = self.server.trials("parameter-server")
        best = min(trial["hypertune"]["objective"] for trial in trials)
        if not best < 0.1: # the noise is 0.05
            raise AssertionError("best error %g" % best)
        tap.equal(self.server.cli("logs", "parameter-server/1", "--replica",
                                  "worker-1").stdout, "")
        self.expect_quiet()


def main():
    with harness.Server("--gpus", "2", slots=4, environment=harness.NO_SANDBOX) as server:
        cases = Cases(server)
        tap.run([
            cases.thirteen_replicas_find_each_other,
            cases.a_failing_worker_fails_the_trial_by_name,
            cases.a_command_that_is_missing_names_its_replica,
            cases.workers_and_servers_may_end_early,
            cases.a_server_that_ignores_the_end_is_killed_after_the_grace,
            cases.stopping_reaches_a_worker_that_hangs,
            cases.the_timeout_is_everybodys,
            cases.an_image_waits_for_a_runner_of_containers,
            cases.replicas_have_gpus_of_their_own,
            cases.what_no_runner_has_is_named,
            cases.a_new_runner_finds_all_replicas,
            cases.a_killed_shim_of_a_worker_starts_the_attempt_again,
            cases.the_example_trains_on_five_processes,
        ])


main()
