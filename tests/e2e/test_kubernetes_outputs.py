"""Checkpoints and outputs of pods outlive them: on the played cluster, or on a
real one (see lib/pod_trials.py)."""

import os

import harness
import pod_trials
import tap
from pod_trials import shell, spec

if os.geteuid() != 0 and "HT_KUBECONFIG" not in os.environ:
    tap.skip("pods of the played cluster", "namespaces want root")

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


def a_new_pod_continues_from_the_last_checkpoint():
    server.submit(spec("resumed", shell(TRAINER), metrics=None))
    harness.wait_until(lambda: "step 3" in server.output("resumed"), "step 3")
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


with pod_trials.cluster_here() as cluster, pod_trials.Server(
        cluster) as server:
    tap.run([a_new_pod_continues_from_the_last_checkpoint,
             its_model_is_fetched])
