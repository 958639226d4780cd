"""Trials of pods without `command`: the entry point of the image is read from
its registry, and the pod runs the digest that it was read from."""

import base64
import contextlib
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
        trial = run("no-" + auth, images.add("no-" + auth, Entrypoint=ENTRY),
                    metrics=None)
        tap.equal(trial["state"], "FAILED")
        tap.contains("docker login", trial["reason"])
        tap.contains("metrics: {stdout: ...}", trial["reason"])
        tap.true(good not in trial["reason"])
    images.PASSWORD, images.auth = good, None


def run_unread(name, image, words):
    """The cluster knows the image, which the runner cannot read."""
    cluster.cluster.kubelet.entries[image] = ENTRY
    trial = run(name, image)
    tap.equal((trial["state"], trial["objective"]), ("SUCCEEDED", 0.5),
              trial["reason"])
    tap.starts(server.output(name), "words --x=")
    tap.contains(words, server.output(name, "runner"))
    tap.equal(pinned["images"][-1], image)


@contextlib.contextmanager
def may_read(*plurals):
    rights = dict(cluster.rights, **{plural: {"get"} for plural in plurals})
    cluster.cluster.users["runner"] = {"work": rights}
    try:
        yield
    finally:
        cluster.cluster.users["runner"] = {"work": cluster.rights}


@contextlib.contextmanager
def without_docker_login():
    kube_tool.write(folder, "config.json", "{}")
    images.auth = "bearer"
    try:
        yield
    finally:
        kube_tool.write(folder, "config.json", images.login())
        images.auth = None


def add_secret(name, config):
    cluster.add("secrets", {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": base64.b64encode(
            config.encode()).decode()}})


def pull_secrets_of_the_pod_are_used():
    add_secret("other", '{"auths": {"registry.example.org": {"auth": "YTpi"}}}')
    add_secret("pull", images.login())
    section = {"pod": {"imagePullSecrets": [
        {"name": "none"}, {"name": "other"}, {"name": "pull"}]}}
    with without_docker_login(), may_read("secrets"):
        trial = run("secret", images.add("secret", Entrypoint=ENTRY),
                    kubernetes=section)
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        run_unread("no-secret", images.add("unread", Entrypoint=ENTRY),
                   "gives no access")


def pull_secrets_of_the_service_account_are_used():
    cluster.add("serviceaccounts", {
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "puller"},
        "imagePullSecrets": [{"name": "pull"}]})
    with without_docker_login(), may_read("secrets", "serviceaccounts"):
        trial = run("account", images.add("account", Entrypoint=ENTRY),
                    serviceAccount="puller")
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])


def without_the_right_to_read_them_the_login_of_docker_is_used():
    images.auth = "bearer"
    trial = run("denied", images.add("denied", Entrypoint=ENTRY),
                kubernetes={"pod": {"imagePullSecrets": [{"name": "pull"}]}})
    images.auth = None
    tap.equal(trial["state"], "SUCCEEDED", trial["reason"])


def a_damaged_pull_secret_is_the_reason():
    add_secret("damaged", '{"auths": {"%s": {"auth": "none"}}}' % images.host)
    with may_read("secrets"):
        trial = run("damaged", images.add("damaged", Entrypoint=ENTRY),
                    kubernetes={"pod": {"imagePullSecrets": [
                        {"name": "damaged"}]}})
    tap.contains("the pull secret damaged is damaged", trial["reason"])


def an_image_that_the_cluster_alone_can_read_runs_as_it_is():
    name = images.add("closed", Entrypoint=ENTRY)
    images.auth, images.broken = "basic", lambda kind, reference, data: 403
    run_unread("closed", name, "gives no access")
    images.auth, images.broken = None, lambda kind, reference, data: 503
    run_unread("down", images.add("down", Entrypoint=ENTRY), "HTTP 503")
    images.broken = None


def what_is_wrong_fails_the_trial_with_the_registrys_answer():
    big = b"[" + b" " * (5 << 20)
    for name, broken, words in (
            ("gone", lambda kind, reference, data: 404, "no such image"),
            ("other", lambda kind, reference, data:
             b"{}" if kind == "blobs" else data, "is not sha256:"),
            ("huge", lambda kind, reference, data: big, "more than 4194304"),
            ("noise", lambda kind, reference, data: b"<html>",
             "is not noise")):
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
                     pull_secrets_of_the_pod_are_used,
                     pull_secrets_of_the_service_account_are_used,
                     without_the_right_to_read_them_the_login_of_docker_is_used,
                     a_damaged_pull_secret_is_the_reason,
                     an_image_that_the_cluster_alone_can_read_runs_as_it_is,
                     what_is_wrong_fails_the_trial_with_the_registrys_answer,
                     an_image_is_read_once])
    finally:
        cluster.close()
