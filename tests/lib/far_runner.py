"""far_runner - a study whose runner, as on another machine, reaches its server by
broken links only."""

import os
import subprocess
import sys

import harness
import slow_link
import tap
import tls_server
from runner_process import Runner


CHANGES = 10000  # bytes of git's that the runner sends once, at least
# Trial 1 reports by the C library and waits until all has arrived; trial 2 by
# the Python package, and leaves the rest to the runner, as both do where the
# library is sanitized, which Python cannot load. Each fifth record has a
# checkpoint.
TRAINER = """
import ctypes, sys, hypertune
records, library = %d, %r
in_c = library and sys.argv[1] == "1"
def checkpoint(value):
    return "c" * %d if value %% 5 == 1 else ""
if in_c:
    c = ctypes.CDLL(library)
    def report(value):
        c.report_hyperparameter_tuning_metric(
            b"accuracy", ctypes.c_double(value), ctypes.c_longlong(value),
            checkpoint(value).encode() or None)
else:
    reporter = hypertune.HyperTune()
    def report(value):
        reporter.report_hyperparameter_tuning_metric(
            "accuracy", value, value, checkpoint(value) or None)
for value in range(1, records + 1):
    report(value)
    print("step %%d" %% value, flush=True)
if in_c:
    assert c.hypertune_flush(%d) == 0
"""


def check_study(server, name, records):
    status = server.wait_study(name)
    tap.equal(status["state"], "SUCCEEDED", server.explain(name))
    for trial in 1, 2:
        tap.equal([row["metrics"]["accuracy"]
                   for row in server.measurements(name, trial)],
                  list(range(1, records + 1)), "trial %d" % trial)
        ours = server.trial(name, trial)["hypertune"]
        tap.equal((ours["objective"], ours["attempt"]), (records, 1))
        tap.equal(server.cli("logs", "%s/%d" % (name, trial)).stdout,
                  "".join("step %d\n" % step
                          for step in range(1, records + 1)))


def spec(name, records, checkpoint=0):
    library = "" if harness.is_sanitized() else os.path.realpath(
        os.path.join(harness.bin_dir(), "../lib/libhypertune.so"))
    return {"spec": 1, "name": name, "goal": "maximize accuracy", "trials": 2,
            "parameters": {"x": [1, 2]}, "algorithm": "grid", "retries": 0,
            "args": "none", "parallel": 2,
            "command": [sys.executable, "-c", TRAINER % (
                records, library, checkpoint,
                1000 * harness.PATIENCE), "${x}"]}


class Links:
    """Before the HTTP, report and control addresses of a server; each of the
    options is for one of them. A server that has TLS listens at all addresses
    of IPv4, and the links are at ::1."""

    def __init__(self, server, http=None, report=None, control=None):
        by_tls = isinstance(server, tls_server.TlsServer)
        rename = []  # the links have it before it is complete
        self.http, self.report, self.control = self.all = [
            slow_link.SlowLink(
                port.number, rename=rename,
                frames=not by_tls and port is not server.ports[0],
                at=("::1", port.number) if by_tls else ("127.0.0.1", 0),
                **(options or {}))
            for port, options in zip(server.ports, (http, report, control))]
        if by_tls:
            self.url = "https://[::1]:%d" % self.http.port
            return
        rename += [tuple(b"127.0.0.1:%d" % number
                         for number in (port.number, link.port))
                   for port, link in zip(server.ports, self.all)]
        self.url = "http://127.0.0.1:%d" % self.http.port

    def close(self):
        for link in self.all:
            link.close()


def repository(folder):
    """A work tree of git; what `git diff` says of it."""
    def git(*words):
        return subprocess.run(
            ["git", "-C", folder, "-c", "user.email=a@b.c", "-c",
             "user.name=n", *words], check=True, stdout=subprocess.PIPE,
            encoding="utf-8").stdout
    os.mkdir(folder)
    path = os.path.join(folder, "train.py")
    for step in "", "# changed\n" * (CHANGES // 10):
        with open(path, "a", encoding="ascii") as file:
            file.write(step)
        if not step:
            git("init", "-q")
            git("add", "train.py")
            git("commit", "-q", "-m", "first")
    return git("diff", "HEAD")


def run(name, records, checkpoint=0, tls=False, **options):
    """A study on a runner behind links with these options; all of it has to
    arrive. Returns the links."""
    server = (tls_server.TlsServer("--runner", "none", host="0.0.0.0") if tls
              else harness.Server("--runner", "none"))
    trust = []
    with server:
        links = Links(server, **options)
        if tls:
            trust = ["--pin", server.pins()[0]]
        try:
            with Runner(server, "far", *trust, url=links.url):
                tree = os.path.join(server.folder, "tree")
                changes = repository(tree)
                server.submit(spec(name, records, checkpoint), cwd=tree)
                check_study(server, name, records)
                for trial in 1, 2:
                    tap.equal(server.cli("trial", "%s/%d" % (name, trial),
                                         "--diff").stdout,
                              changes + "? %s.yaml\n" % name)
        finally:
            print("# %s: sent %s, cuts %s" % (
                name, [link.sent for link in links.all],
                [link.cuts for link in links.all]))
            links.close()
    return links
