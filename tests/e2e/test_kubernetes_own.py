"""A person with a kubeconfig: `hypertune submit`, and the study runs in pods."""

import json
import os
import tempfile

import harness
import pod_trials
import tap
from cli_home import Home
from pod_trials import shell, spec

if os.geteuid() != 0 and "HT_KUBECONFIG" not in os.environ:
    tap.skip("pods of the played cluster", "namespaces want root")


def engines(home):
    return [one["engine"] for one in
            json.loads(home.cli("runners", "-o", "json")[0])
            if one["state"] == "ONLINE"]


def the_first_study_brings_its_runner():
    with Home() as home:
        for number in range(2):
            name = "study-%d" % number
            path = home.write(name + ".json", json.dumps(spec(
                name, shell("echo score=2"), kubernetes={})))
            out, err = home.cli("submit", path, "--wait")
            tap.equal(out, name + "\n")
            (tap.lacks if number else tap.contains)(
                "started a runner of Kubernetes (Kubernetes 1.", err)
            trial = json.loads(home.cli("trial", name + "/1", "-o", "json")[0])
            tap.equal(trial["hypertune"]["objective"], 2)
        tap.true("kubernetes" in engines(home))
        harness.wait_until(lambda: not cluster.list("jobs"), "a clean end")


def without_a_kubeconfig_it_is_said():
    del os.environ["KUBECONFIG"]
    with Home() as home:
        path = home.write("none.json", json.dumps(spec(
            "none", shell("true"), kubernetes={})))
        code, _, err = home.run("submit", path)
        tap.equal(code, 1)
        tap.contains("none.json runs on Kubernetes, to which this machine has "
                     "no way\n  there is no ~/.kube/config, and KUBECONFIG does "
                     "not name another", err)


with pod_trials.cluster_here() as cluster:
    os.environ["KUBECONFIG"] = cluster.config
    os.environ["HYPERTUNE_RUNNER_KUBERNETES_NAMESPACE"] = cluster.namespace
    tap.run([the_first_study_brings_its_runner,
             without_a_kubeconfig_it_is_said])
