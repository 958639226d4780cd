"""Checkpoints and outputs of pods outlive them: on the played cluster, or on a
real one (see lib/pod_trials.py)."""

import os

import harness
import pod_trials
import tap
from pod_trials import shell, spec

if os.geteuid() != 0 and "HT_KUBECONFIG" not in os.environ:
    tap.skip("pods of the played cluster", "namespaces want root")

BIG = 64 << 20
# The first attempt waits after step 3 until it is evicted.
TRAINER = """
cd $AIP_CHECKPOINT_DIR; n=0
[ "$HYPERTUNE_RESUME" = 1 ] && n=$(cat last)
echo begun $n
while [ $n -lt 6 ]; do
    n=$((n + 1)); echo $n >new; mv new last; echo step $n
    hypertune report score=$n --step $n --checkpoint $AIP_CHECKPOINT_DIR/last
    case $n$HOSTNAME in 3*-1-1-master-0*) while :; do sleep 0.1; done;; esac
done
mkdir $AIP_MODEL_DIR/sub; echo weights $n >$AIP_MODEL_DIR/sub/w
ln -s sub/w $AIP_MODEL_DIR/latest
"""
# Steps 1 and 2 have large checkpoints, all of it lines "step N"; step 3 has
# none. The first attempt waits before step 2, and at the end.
LARGE = """
cd $AIP_CHECKPOINT_DIR; n=0
lines() { yes step $1 | head -c %d; }
wait_for() { until [ -e $HYPERTUNE_TRIAL_DIR/$1 ]; do sleep 0.1; done; }
first() { case $HOSTNAME in *-1-1-master-0*) ;; *) false;; esac; }
if [ "$HYPERTUNE_RESUME" = 1 ]; then
    read _ n <big; lines $n | cmp - big || exit 9
    echo begun $n
fi
while [ $n -lt 2 ]; do
    n=$((n + 1)); lines $n >new; mv new big
    hypertune report score=$n --step $n --checkpoint $PWD/big
    if first && [ $n = 1 ]; then wait_for go; fi
done
hypertune report score=3 --step 3
if first; then wait_for end; fi
""" % BIG
MODEL = """
yes model | head -c %d >$AIP_MODEL_DIR/big
hypertune report score=1
""" % BIG


def a_new_pod_continues_from_the_last_checkpoint():
    server.submit(spec("resumed", shell(TRAINER), metrics=None))
    server.wait_checkpoint("resumed", 3)
    cluster.evict(server.pod("resumed"))
    server.wait_study("resumed")
    trial = server.trial("resumed", 1)["hypertune"]
    tap.equal((trial["state"], trial["attempt"], trial["objective"]),
              ("SUCCEEDED", 2, 6), trial["reason"])
    tap.equal(server.output("resumed").split("\n")[:2],
              ["begun 3", "step 4"])


def its_model_is_fetched():
    folder = os.path.join(server.folder, "fetched")
    server.cli("fetch", "resumed/1", folder)
    with open(os.path.join(folder, "model", "sub", "w"),
              encoding="ascii") as file:
        tap.equal(file.read(), "weights 6\n")
    kept = os.path.join(server.data, "runs/kubernetes/1/1/model/latest")
    tap.equal(os.readlink(kept), "sub/w")


def number_of(study):
    return server.get(harness.JOBS + study)["name"].rsplit("/", 1)[1]


def half_has_come(study):
    """Some of the file is in the folder for what is on its way, not all."""
    try:
        size = os.stat(os.path.join(
            server.data, "runs/kubernetes", number_of(study),
            "1/1/incoming/big")).st_size
    except FileNotFoundError:
        return False
    return 0 < size < BIG


def wait_half(study):
    harness.wait_until(lambda: half_has_come(study), "half of a file")


def make_first_checkpoint(study):
    """The server has it; returns the name of the pod."""
    server.submit(spec(study, shell(LARGE), metrics=None))
    server.wait_checkpoint(study, 1)
    return server.pod(study)


def check_lines(line, *path):
    with open(os.path.join(server.folder, *path), encoding="ascii") as file:
        tap.true(file.read() == (line * BIG)[:BIG], "what has come")


def expect_result(study, begun):
    server.wait_study(study)
    trial = server.trial(study, 1)["hypertune"]
    tap.equal((trial["state"], trial["attempt"], trial["objective"]),
              ("SUCCEEDED", 2, 3), trial["reason"])
    tap.starts(server.output(study), "begun %d\n" % begun)


def reports_do_not_wait_for_a_checkpoint():
    pod = make_first_checkpoint("reports")
    with cluster.slow():
        server.mark_go(pod)
        harness.wait_until(lambda: "3" in [
            row["step"] for row in server.measurements("reports", 1)],
                           "the report after it")
        tap.equal(server.checkpoints("reports"), [1])
    server.wait_checkpoint("reports", 2)
    server.cli("cancel", "reports", "--yes")
    server.wait_study("reports")


def a_checkpoint_comes_whole_though_the_runner_is_killed():
    pod = make_first_checkpoint("killed")
    with cluster.slow():
        server.mark_go(pod)
        wait_half("killed")
        harness.kill_runs(server.data)
    server.wait_checkpoint("killed", 2)
    server.cli("fetch", "killed/1", "killed", "--checkpoint")
    check_lines("step 2\n", "killed", "checkpoints", "big")
    cluster.evict(pod)
    expect_result("killed", 2)


def without_its_pod_a_trial_continues_from_the_checkpoint_before():
    pod = make_first_checkpoint("before")
    with cluster.slow():
        server.mark_go(pod)
        wait_half("before")
        server.kill()
        harness.kill_runs(server.data)
        cluster.kill(pod)
        server.start()
    expect_result("before", 1)


def a_pod_that_is_evicted_gives_its_outputs():
    with cluster.slow():
        server.submit(spec("outputs", shell(MODEL), metrics=None))
        wait_half("outputs")
        cluster.evict(server.pod("outputs"))
    server.wait_study("outputs")
    trial = server.trial("outputs", 1)["hypertune"]
    tap.equal((trial["state"], trial["attempt"]), ("SUCCEEDED", 1),
              trial["reason"])
    server.cli("fetch", "outputs/1", "outputs")
    check_lines("model\n", "outputs", "model", "big")


with pod_trials.cluster_here() as cluster, pod_trials.Server(
        cluster) as server:
    tap.run([a_new_pod_continues_from_the_last_checkpoint,
             its_model_is_fetched, reports_do_not_wait_for_a_checkpoint,
             a_checkpoint_comes_whole_though_the_runner_is_killed,
             without_its_pod_a_trial_continues_from_the_checkpoint_before,
             a_pod_that_is_evicted_gives_its_outputs])
