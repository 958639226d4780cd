"""`hypertune doctor --image`: one pod shows which way works in the cluster."""

import json
import os
import signal
import subprocess
import tempfile

import harness
import pod_trials
import tap
from cli_home import Home
from pod_trials import IMAGE

REAL = "HT_KUBECONFIG" in os.environ
if os.geteuid() != 0 and not REAL:
    tap.skip("pods of the played cluster", "namespaces want root")

ABSENT = "localhost/absent:1"


def left():
    return [item["metadata"]["name"] for plural in ("jobs", "pods", "services")
            for item in cluster.list(plural)]


def expect_nothing_left(folder):
    harness.wait_until(lambda: not left(), "a clean end")
    tap.equal(os.listdir(folder), [])


def about_cluster(out):
    return [one for one in json.loads(out) if one["subject"] == "kubernetes" and
            "kubectl is here" not in one["text"]]


def doctor(*words, image=IMAGE, config=None):
    """The finding that --image adds, and the others about the cluster."""
    with Home() as home, tempfile.TemporaryDirectory() as folder:
        out, err = home.cli("doctor", "-o", "json", "--image", image,
                            "--kubernetes-config", config or cluster.config,
                            "--kubernetes-namespace", cluster.namespace,
                            *words, TMPDIR=folder)
        tap.contains("running one pod, for ", err)
        expect_nothing_left(folder)
        found = about_cluster(out)
        return found[-1], found[:-1]


def expect_trouble(words, *options, **members):
    last, _ = doctor("--timeout", "10s", *options, **members)
    tap.equal(last["level"], "warn", last)
    tap.contains(words, last["text"])
    tap.contains("no pod ran to its end within 10s: ", last["text"])


def a_pod_that_can_be_entered_proves_it():
    last, _ = doctor()
    tap.equal(last["level"], "ok", last)
    tap.starts(last["text"],
               "a pod runs: reports and logs arrive by exec (", last)


def without_the_right_to_enter_it_its_log_is_read():
    last, before = doctor(config=cluster.reader)
    tap.equal(last["level"], "ok", last)
    tap.starts(last["text"], "a pod runs: it is read by its log (", last)
    tap.contains("no right to pods/exec", before[1]["text"])


def no_room_is_said_in_the_cluster_s_words():
    with cluster.full() as words:
        expect_trouble(words)


def an_image_that_is_not_there_is_said():
    if not REAL:
        cluster.cluster.kubelet.refuse_image(ABSENT)
    expect_trouble("its image cannot be had (", image=ABSENT)


def a_quota_is_said():
    with cluster.without_pods() as words:
        expect_trouble(words)


def a_right_that_lacks_is_said():
    with cluster.without_right("jobs"):
        expect_trouble('cannot create resource "jobs"')


def a_cluster_that_is_away_is_not_tried():
    with Home() as home:
        out, err = home.cli("doctor", "-o", "json", "--image", IMAGE,
                            KUBECONFIG="", HOME=home.folder)
        found, = about_cluster(out)
        tap.contains("--image is said; there is no kubeconfig", found["text"])
        tap.lacks("running one pod", err)


def an_order_to_end_leaves_nothing():
    with cluster.full(), tempfile.TemporaryDirectory() as folder, \
            tempfile.TemporaryFile() as image:
        image.write(IMAGE.encode())
        image.seek(0)
        proof = subprocess.Popen(
            [os.path.join(harness.bin_dir(), "hypertune-runner"),
             "--kubernetes-prove", "--kubernetes-namespace",
             cluster.namespace], stdin=image, stdout=subprocess.PIPE,
            encoding="utf-8", env={**os.environ, "TMPDIR": folder,
                                   "KUBECONFIG": cluster.config})
        harness.wait_until(lambda: cluster.list("pods"), "a pod that waits")
        proof.send_signal(signal.SIGTERM)
        said = json.loads(proof.stdout.read())
        tap.equal(proof.wait(harness.PATIENCE), 0)
        tap.equal(said, {"error": "it was interrupted"})
        expect_nothing_left(folder)


def a_role_is_printed_as_lines():
    with Home() as home:
        out, _ = home.cli("doctor", "--kubernetes-config", cluster.reader,
                          "--kubernetes-namespace", cluster.namespace)
        tap.contains('\n%18srules:\n%18s- apiGroups: [""]\n' % ("", ""), out)


with pod_trials.cluster_here() as cluster:
    tap.run([a_pod_that_can_be_entered_proves_it,
             without_the_right_to_enter_it_its_log_is_read,
             no_room_is_said_in_the_cluster_s_words,
             an_image_that_is_not_there_is_said,
             a_quota_is_said,
             a_right_that_lacks_is_said,
             a_cluster_that_is_away_is_not_tried,
             an_order_to_end_leaves_nothing,
             a_role_is_printed_as_lines])
