"""A program in a pod's container over one WebSocket: its streams, its end, and
what is refused, against a played API server."""

import contextlib
import hashlib
import os
import struct
import subprocess
import tempfile
import threading

import harness
import kubernetes
import tap
from kube_tool import TOOL, config_of, write
from kubernetes_exec import frame, head
from kubernetes_rules import Refused

MIB = 1024 * 1024


def add_pod(cluster, name="p", phase="Running", node="n1"):
    cluster.store.create("pods", "work", {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "image": "x"}],
                 **({"nodeName": node} if node else {})},
        "status": {"phase": phase}})


class Program:
    """In a container, by kube_api; text on stderr: how it ended."""

    def __init__(self, cluster, *words, user=None, members=None, until=None,
                 where=("p", "main")):
        path = write(cluster.folder, "config", config_of(
            cluster, user if user is not None else {"token": "admin"},
            **(members or {})))
        limit = ("until=%d" % until,) if until else ()
        self.process = subprocess.Popen(
            (TOOL,) + limit + ("exec",) + where + words,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=dict(os.environ, KUBECONFIG=path))
        self.timer = threading.Timer(harness.PATIENCE, self.process.kill)
        self.timer.start()

    def end(self, given=b""):
        """(stdout, "CODE WORDS" or "! FAILURE")"""
        try:
            out, words = self.process.communicate(given)
        finally:
            self.timer.cancel()
        return out, words.decode().rstrip("\n")


@contextlib.contextmanager
def cluster_of(tls=False, pod=True, **named):
    with tempfile.TemporaryDirectory() as folder:
        cluster = kubernetes.Cluster(
            tls=kubernetes.Tls(folder) if tls else None, **named)
        cluster.folder = folder
        try:
            if pod:
                add_pod(cluster)
            yield cluster
        finally:
            cluster.close()


def run(cluster, *words, given=b"", **named):
    return Program(cluster, *words, **named).end(given)


def echo(cluster, size=8 * MIB, **named):
    """Through cat and back, unharmed."""
    given = os.urandom(size)
    out, said = run(cluster, "cat", given=given, until=size, **named)
    tap.equal(said, "-1 ")
    tap.equal(len(out), size)
    tap.equal(hashlib.sha256(out).digest(), hashlib.sha256(given).digest())


# ---- bytes ----

def bytes_come_back_unharmed():
    with cluster_of() as cluster:
        echo(cluster)


def bytes_come_back_unharmed_over_tls_with_a_certificate():
    with cluster_of(tls=True) as cluster:
        cluster.users, cluster.people = {}, {"ann": None}
        cert, key = cluster.tls.make("ann")
        echo(cluster, user={"client-certificate": cert, "client-key": key},
             members={"certificate-authority": cluster.tls.ca})


def fragments_pings_and_single_bytes_are_read_as_what_they_are():
    with cluster_of(tls=True) as cluster:
        cluster.fault("get pods/exec", {"odd": True})
        echo(cluster, 300 * 1000, members={
            "certificate-authority": cluster.tls.ca})
        stream = cluster.streams[0]
        tap.equal(bool(stream.odd.pings), True)
        # A pong may be left out, but none is of another ping.
        tap.equal([one for one in stream.pongs
                   if one not in stream.odd.pings], [])
        tap.equal(bool(stream.pongs), True)


def a_program_that_does_not_read_takes_all_later():
    """Neither side has room for so much."""
    given = os.urandom(24 * MIB)
    want = hashlib.sha256(given).hexdigest()
    with cluster_of(tls=True) as cluster:
        out, said = run(cluster, "sh", "-c", "echo begun; sleep 2; head -c %d "
                        "| sha256sum" % len(given), given=given, members={
                            "certificate-authority": cluster.tls.ca})
        tap.equal((out.decode().split()[:2], said), (["begun", want], "0 "))
        out, said = run(cluster, "sh", "-c", "sleep 1; exit 3", given=given,
                        members={"certificate-authority": cluster.tls.ca})
        tap.equal((out, said), (b"", "3 "))


# ---- ends ----

def its_code_and_the_last_line_of_its_stderr_are_its_end():
    with cluster_of() as cluster:
        tap.equal(run(cluster, "sh", "-c",
                      "echo out; echo first >&2; printf 'last\\033[1m\\n' >&2;"
                      " exit 3"), (b"out\n", "3 last\\x1b[1m"))
        tap.equal(run(cluster, "echo", "a b", "", "&c=d"), (b"a b  &c=d\n",
                                                            "0 "))
        tap.equal(run(cluster, "sh", "-c", "kill -9 $$"), (b"", "137 "))


def all_of_its_output_comes_before_its_end():
    with cluster_of() as cluster:
        out, said = run(cluster, "sh", "-c", "head -c 3000000 /dev/zero; "
                        "exit 7")
        tap.equal((len(out), said), (3000000, "7 "))


def a_connection_that_ends_is_an_end_with_words():
    with cluster_of() as cluster:
        cluster.fault("get pods/exec", {"cut": 100000})
        out, said = run(cluster, "cat", "/dev/zero")
        tap.equal(len(out), 100000)
        tap.equal(said, "-1 the connection ended before the program did")


def all_connections_can_be_cut():
    with cluster_of() as cluster:
        program = Program(cluster, "sh", "-c", "echo begun; cat")
        tap.equal(program.process.stdout.readline(), b"begun\n")
        cluster.cut_streams()
        tap.starts(program.end()[1], "-1 the connection ended")


def what_is_no_websocket_ends_with_words():
    status = b'\3{"status":"Failure","message":"Internal error occurred: x"}'
    close = frame(8, struct.pack("!H", 1011) + b"over")
    with cluster_of() as cluster:
        for raw, want in (
                (b"\xc2\1\1", "a frame has reserved bits"),
                (b"\x82\x81abcd\1", "a frame of the server is masked"),
                (head(0x82, 33 * MIB), "a frame is too long"),
                (frame(1, b"\1x"), "a frame is of a kind that is not known"),
                (frame(2, status) + close, "Internal error occurred: x"),
                (frame(2, b"\2w\n") + close, "the API server closed the "
                 "connection (1011): over")):
            cluster.fault("get pods/exec", {"raw": raw})
            tap.equal(run(cluster, "cat"), (b"", "-1 " + want))


# ---- refusals ----

def what_cannot_be_begun_says_why():
    with cluster_of() as cluster:
        add_pod(cluster, "waits", "Pending", None)
        add_pod(cluster, "over", "Succeeded")
        for where, want in (
                (("none", "main"), '! NOT_FOUND pods "none" not found'),
                (("p", "other"), "! INVALID_ARGUMENT container other is not "
                 "valid for pod p"),
                (("waits", "main"), "! INVALID_ARGUMENT pod waits does not "
                 "have a host assigned"),
                (("over", "main"), '! INTERNAL container not found ("main")')):
            tap.equal(run(cluster, "true", where=where), (b"", want))


def a_right_to_exec_is_needed_and_a_good_login():
    with cluster_of() as cluster:
        role = dict(kubernetes.ROLE)
        cluster.users.update(good={"work": role}, weak={"work": dict(
            role, **{"pods/exec": {"create"}})})
        tap.equal(run(cluster, "true", user={"token": "good"}), (b"", "0 "))
        tap.starts(run(cluster, "true", user={"token": "weak"})[1],
                   '! PERMISSION_DENIED pods "p" is forbidden: User "system:'
                   'serviceaccount:weak" cannot get resource "pods/exec"')
        tap.starts(run(cluster, "true", user={"token": "bad"})[1],
                   "! UNAUTHENTICATED ")
        cluster.minor = 35
        cluster.users["weak"]["work"]["pods/exec"] = {"get"}
        tap.contains("cannot create", run(cluster, "true", user={
            "token": "weak"})[1])


def a_token_that_is_refused_is_asked_for_anew():
    with cluster_of() as cluster:
        cluster.users = {"two": None}
        write(cluster.folder, "login", '#!/bin/sh\nfile=%s/token\n'
              'token=$(cat $file 2>/dev/null || echo one)\necho two >$file\n'
              'echo "{\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",'
              '\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":'
              '\\"$token\\"}}"\n' % cluster.folder, 0o700)
        tap.equal(run(cluster, "true", user={"exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "interactiveMode": "Never", "command": "./login"}}), (b"", "0 "))
        tap.equal(cluster.count("get pods/exec"), 1)


def a_busy_server_is_asked_again_and_one_that_is_not_there_is_not():
    with cluster_of() as cluster:
        cluster.fault("get pods/exec", Refused(429, "TooManyRequests", "wait",
                                               retry=1))
        tap.equal(run(cluster, "true"), (b"", "0 "))
        tap.equal(cluster.count("get pods/exec"), 2)
        cluster.fault("get pods/exec", "cut")
        tap.starts(run(cluster, "true")[1], "! UNAVAILABLE ")
        tap.equal(cluster.count("get pods/exec"), 3)


tap.run([bytes_come_back_unharmed,
         bytes_come_back_unharmed_over_tls_with_a_certificate,
         fragments_pings_and_single_bytes_are_read_as_what_they_are,
         a_program_that_does_not_read_takes_all_later,
         its_code_and_the_last_line_of_its_stderr_are_its_end,
         all_of_its_output_comes_before_its_end,
         a_connection_that_ends_is_an_end_with_words,
         all_connections_can_be_cut,
         what_is_no_websocket_ends_with_words,
         what_cannot_be_begun_says_why,
         a_right_to_exec_is_needed_and_a_good_login,
         a_token_that_is_refused_is_asked_for_anew,
         a_busy_server_is_asked_again_and_one_that_is_not_there_is_not])
