"""Trials of several containers: who they are, how they end together, and the
examples."""

import json
import os
import shutil

import engines
import tap
import tree
from engines import PYTHON, shell, spec

EXAMPLES = tree.path("examples")


def greeter():
    with open(os.path.join(tree.TRAINERS, "greeter.py"),
              encoding="utf-8") as file:
        return ["python3", "-c", file.read()]


class Clusters:
    def __init__(self, server):
        self._server = server
        self._engine = server.engine

    def _said(self, name, replica):
        return json.loads(self._server.output(name, replica).splitlines()[0])

    def thirteen_replicas_find_each_other_by_name(self):
        kinds = {"master": 1, "worker": 9, "ps": 3}
        name = "thirteen"
        trial = self._server.run(spec(
            name, greeter(), PYTHON,
            replicas={"worker": {"count": 9}, "ps": {"count": 3}}))
        failed = trial["reason"].split(":")[0]
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"] +
                  self._server.output(name, failed, stream="stderr"))
        tap.equal(trial["objective"], 13.0, "replicas that the master heard")
        cluster = self._said(name, "master-0")["CLUSTER_SPEC"]["cluster"]
        tap.equal({kind: len(addresses)
                   for kind, addresses in cluster.items()}, kinds)
        for kind, addresses in cluster.items():
            for index, address in enumerate(addresses):
                host, port = address.split(":")
                tap.equal(port, "2222", address)
                tap.true(host.endswith("-%s-%d" % (kind, index)), host)
                said = self._said(name, "%s-%d" % (kind, index))
                task = {"type": kind, "index": index, "trial": "1"}
                for variable in ("CLUSTER_SPEC", "TF_CONFIG"):
                    tap.equal(said[variable]["cluster"], cluster, host)
                    tap.equal(said[variable]["task"], task, host)
        for variable in ("CLUSTER_SPEC", "TF_CONFIG"):
            tap.equal(self._said(name, "ps-2")[variable]["job"]
                      ["workerCount"], "9", variable)
        self._server.expect_nothing_left()

    def replicas_may_have_images_and_commands_of_their_own(self):
        name = "mixed"
        trial = self._server.run(spec(
            name, shell("until [ -e $AIP_CHECKPOINT_DIR/said ]; do sleep 0.1; "
                        "done; command -v python3 || echo score=1"),
            replicas={"worker": {"image": PYTHON, "command": [
                "python3", "-c", "import os, pathlib\n"
                "print('a worker with Python', flush=True)\n"
                "pathlib.Path(os.environ['AIP_CHECKPOINT_DIR'], 'said')"
                ".touch()"]}}))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        tap.equal(trial["objective"], 1.0)
        tap.equal(self._server.output(name, "worker-0"),
                  "a worker with Python\n")

    def a_failing_worker_fails_the_trial_by_name(self):
        trial = self._server.run(spec(
            "failing", shell("exec sleep 300"), replicas={
                "worker": {"count": 2, "command": shell(
                    "test $HYPERTUNE_REPLICA = worker-0 && exec sleep 300; "
                    "exit 3")},
                "ps": {"command": shell("exec sleep 300")}}))
        tap.equal(trial["state"], "FAILED")
        tap.equal(trial["reason"], "worker-1: exit 3")
        self._server.expect_nothing_left()

    def parameter_servers_end_with_the_master(self):
        trial = self._server.run(spec(
            "served", shell("echo score=1"), replicas={"ps": {
                "count": 2, "command": shell("exec sleep 300")}}))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        self._server.expect_nothing_left()

    def two_trials_side_by_side_keep_apart(self):
        # Each worker asks for the other trial's master by its whole name.
        worker = shell(
            "name=$(hostname); me=${name%-worker-0}; study=${me%-*-*}; "
            "case $me in *-1-1) other=$study-2-1;; *) other=$study-1-1;; esac;"
            " echo $other; ! nslookup $other-master-0 >/dev/null 2>&1")
        self._server.submit(spec(
            "apart", shell("sleep 2; echo score=1"), trials=2, parallel=2,
            replicas={"worker": {"command": worker}}))
        status = self._server.wait_study("apart")
        tap.equal(status["counts"]["succeeded"], 2, status["reason"])

    def _example(self, name):
        """Runs an example's container.yaml with an image that its Dockerfile
        makes; returns its successful trials' objectives."""
        folder = os.path.join(self._server.folder, name)
        shutil.copytree(os.path.join(EXAMPLES, name), folder)
        files = {}
        for file in ("Dockerfile", "train.py"):
            with open(os.path.join(folder, file), encoding="utf-8") as text:
                files[file] = text.read()
        self._engine.build("localhost/%s:1" % name, files, BASE=PYTHON)
        study = self._server.cli("submit", "container.yaml",
                                 cwd=folder).stdout.strip()
        status = self._server.wait_study(study)
        tap.equal(status["state"], "SUCCEEDED", status["reason"])
        trials = self._server.trials(study)
        tap.equal(len(trials), 8)
        return [trial["hypertune"]["objective"] for trial in trials]

    def replicas_average_their_gradients(self):
        best = max(self._example("pytorch-style"))
        tap.true(best > 0.9, best)

    def parameter_servers_hold_the_weights(self):
        best = min(self._example("parameter-server"))
        tap.true(best < 0.1, best)

    def nothing_is_left_of_them_in_the_engine(self):
        self._server.expect_nothing_left()


if __name__ == "__main__":
    engines.run(Clusters, slots=2)
