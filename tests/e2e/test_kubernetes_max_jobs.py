"""A runner has no more objects in its cluster than --kubernetes-max-jobs, and can
have as many."""

import os

import harness
import pod_trials
import tap
from pod_trials import UNTIL_GO, shell, spec

if os.geteuid() != 0 and "HT_KUBECONFIG" not in os.environ:
    tap.skip("pods of the played cluster", "namespaces want root")

MOST = 3
os.environ["HYPERTUNE_RUNNER_KUBERNETES_MAX_JOBS"] = str(MOST)


def names(plural):
    return {item["metadata"]["name"] for item in cluster.list(plural)}


def objects():
    return names("jobs") | names("services")


def most_alive():
    """Of all times, as the played cluster's history has it."""
    alive, most = set(), 0
    for change in cluster.cluster.store.changes:
        if change.plural not in ("jobs", "services"):
            continue
        name = change.plural, change.object["metadata"]["name"]
        (alive.discard if change.type == "DELETED" else alive.add)(name)
        most = max(most, len(alive))
    return most


def more_trials_wait_at_the_server():
    server.submit(spec("many", shell("echo score=${x}"), trials=8,
                       parallel=8))
    server.wait_study("many")
    tap.equal([one["state"] for one in server.trials("many")],
              ["SUCCEEDED"] * 8)
    server.expect_nothing_left()
    if "HT_KUBECONFIG" not in os.environ:
        tap.equal(most_alive(), MOST)


def a_trial_of_several_objects_waits_and_says_why():
    """It is said before anything of the trial is prepared."""
    server.submit(spec("alone", shell(UNTIL_GO)))
    server.wait_output("alone", "up")
    server.submit(spec("several", shell("echo score=1"),
                       replicas={"worker": {"count": 2}}))
    server.wait_output("several", "waits: it needs 3 of the 3 objects that "
                       "its runner may have in the cluster "
                       "(--kubernetes-max-jobs)", "runner")
    tap.equal(len(objects()), 1)
    server.mark_go(server.pod("alone"))
    for name in ("alone", "several"):
        server.wait_study(name)
        trial = server.trial(name, 1)["hypertune"]
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
    server.expect_nothing_left()
    if "HT_KUBECONFIG" not in os.environ:
        tap.equal(most_alive(), MOST)


def the_runner_has_descriptors_for_many_pods():
    """Its server gives it the limit that trainers may inherit."""
    pid, = harness.processes(os.path.join(harness.bin_dir(),
                                          "hypertune-runner"), server.folder)
    line, = [one for one in harness.read_proc(pid, "limits").decode().split(
        "\n") if one.startswith("Max open files")]
    soft, hard = line.split()[3:5]
    tap.equal(soft, hard)
    tap.true(int(soft) > 1024, "the machine's own limit")


with pod_trials.cluster_here() as cluster, pod_trials.Server(
        cluster) as server:
    tap.run([more_trials_wait_at_the_server,
             a_trial_of_several_objects_waits_and_says_why,
             the_runner_has_descriptors_for_many_pods])
