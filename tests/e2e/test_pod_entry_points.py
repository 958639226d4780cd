"""Trials of pods without `command`: the entry point of the image is read from
its registry, and the pod runs the digest that it was read from."""

import os
import tempfile

import kube_tool
import pod_trials
import registry
import tap
from pod_trials import spec

if os.geteuid() != 0:
    tap.skip("pods of the played cluster", "namespaces want root")

ENTRY = ["sh", "-c", 'echo words $0 $@; echo score=0.5']
images = cluster = server = None


def run(name, image, **members):
    return server.run(spec(name, None, image=image, args=None, **members))


def the_entry_point_gets_the_parameters():
    trial = run("plain", images.add("1", Entrypoint=ENTRY, Cmd=["unused"]))
    tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
    tap.starts(server.output("plain"), "words --x=")
    tap.equal(pinned["images"][-1], images.pinned("1"))


def without_one_the_images_command_is_the_trial():
    trial = server.run(spec("command", None, image=images.add("cmd",
                                                              Cmd=ENTRY)))
    tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
    tap.starts(server.output("command"), "words sh")


def of_a_list_the_config_is_that_of_the_processor():
    name = images.add("list", platforms={
        "s390x": {"Entrypoint": ["false"]}, "amd64": {"Entrypoint": ENTRY},
        "arm64": {"Entrypoint": ENTRY}})
    trial = run("list", name)
    tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
    tap.equal(pinned["images"][-1], images.pinned("list"))
    trial = run("foreign", images.add("foreign", platforms={
        "s390x": {"Entrypoint": ENTRY}}))
    tap.contains("is not there for linux/", trial["reason"])


def the_login_of_docker_is_used():
    for auth in ("basic", "bearer"):
        images.auth = auth
        trial = run(auth, images.add(auth, Entrypoint=ENTRY))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
    good = images.PASSWORD
    images.PASSWORD = "another"
    for auth in ("basic", "bearer"):
        images.auth = auth
        trial = run("no-" + auth, images.add("no-" + auth, Entrypoint=ENTRY))
        tap.equal(trial["state"], "FAILED")
        tap.contains("docker login", trial["reason"])
        tap.true(good not in trial["reason"])
    images.PASSWORD, images.auth = good, None


def what_is_wrong_fails_the_trial_with_the_registrys_answer():
    big = b"[" + b" " * (5 << 20)
    for name, broken, words in (
            ("gone", lambda kind, reference, data: 404, "no such image"),
            ("other", lambda kind, reference, data:
             b"{}" if kind == "blobs" else data, "is not sha256:"),
            ("huge", lambda kind, reference, data: big, "more than 4194304"),
            ("noise", lambda kind, reference, data: b"<html>", "is not noise"),
            ("down", lambda kind, reference, data: 503, "HTTP 503")):
        images.broken = broken
        trial = run(name, images.add(name, Entrypoint=ENTRY))
        images.broken = None
        tap.equal(trial["state"], "FAILED", name)
        tap.contains(words, trial["reason"], name)
    trial = server.run(spec("empty", None, image=images.add("empty")))
    tap.contains("no entry point", trial["reason"])


def an_image_is_read_once():
    name = images.add("once", Entrypoint=ENTRY)
    for study in ("once-a", "once-b"):
        tap.equal(run(study, name)["state"], "SUCCEEDED")
    tap.equal(images.paths.count("/v2/a/b/manifests/once"), 1)


pinned = {"images": []}


def note(plural, made):
    if plural == "pods":
        pinned["images"].append(made["spec"]["containers"][0]["image"])


with tempfile.TemporaryDirectory() as folder, registry.Registry() as images:
    kube_tool.write(folder, "config.json", images.login())
    os.environ["DOCKER_CONFIG"] = folder
    cluster = pod_trials.Played(folder)
    cluster.cluster.store.admission = note
    try:
        with pod_trials.Server(cluster) as server:
            tap.run([the_entry_point_gets_the_parameters,
                     without_one_the_images_command_is_the_trial,
                     of_a_list_the_config_is_that_of_the_processor,
                     the_login_of_docker_is_used,
                     what_is_wrong_fails_the_trial_with_the_registrys_answer,
                     an_image_is_read_once])
    finally:
        cluster.close()
