"""Ways by which a hostile trial has the runner, its shim or the kernel read,
write or run for it what it cannot itself."""

import glob
import json
import os
import shutil
import signal
import tempfile

import harness
import tap
from guests import Guests, PYTHON, REPORT, as_root, as_user

SECRET = "score=0.87530942\n"


class Place:
    """A folder that every user can enter, unlike that of a test."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="ht-place-", dir="/tmp")
        os.chmod(self.folder, 0o777)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o755):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)


# The runner asks the trial's Python (-B -c ...) for its version.
EVIL = """#!/bin/sh
cd "$(dirname "$0")"
case "$1" in -B)
    cat %s/token %s/hypertune.db >leak.$$ 2>/dev/null
    kill -0 %d 2>/dev/null && echo signalled >>leak.$$
    env | grep HYPERTUNE_ >>leak.$$
    echo >asked ;;
esac
exec %s "$@"
"""


def the_runners_questions_to_its_programs_are_guests():
    def ask(**options):
        with Place() as place, Guests(**options) as server:
            evil = place.write("python3", EVIL % (
                server.data, server.data, server.process.pid, PYTHON))
            server.submit({"spec": 1, "name": "ask", "goal": "maximize score",
                           "parameters": {"x": [1]}, "trials": 1,
                           "algorithm": "grid", "args": "none",
                           "command": [evil, "-c", REPORT]})
            harness.wait_until(lambda: os.path.exists(place.path("asked")),
                               "the question")
            tap.equal(server.wait_study("ask")["state"], "SUCCEEDED")
            return "".join(open(path, encoding="latin-1").read()
                           for path in glob.glob(place.path("leak.*")))
    as_root(lambda: tap.equal(ask(run_as="auto"), ""))
    as_user(lambda: tap.equal(ask(sandbox="namespaces"), ""))
    tap.contains("SQLite format 3", ask(sandbox="none"))


def a_metrics_file_that_it_could_not_write_is_not_read():
    script = """
import os, sys
os.symlink(sys.argv[1], "through")
print("nothing")
"""

    def run(server, name, metrics_file, secret):
        trial = server.run_trial(name, script, os.path.dirname(secret),
                                 metrics={"file": metrics_file},
                                 state="INFEASIBLE", workdir=server.work)
        # What is there but counts for nothing is shown, too.
        tap.lacks("87530942", server.explain(name), trial["reason"])

    def act(**options):
        with Place() as place, Guests(**options) as server:
            server.work = place.path("work")
            secret = os.path.join(server.data, "secret")
            with open(secret, "w", encoding="ascii") as file:
                file.write(SECRET)
            os.mkdir(server.work)
            os.chmod(server.work, 0o777)
            run(server, "linked", "through/secret", secret)
    as_root(lambda: act(run_as="auto"))
    as_user(lambda: act(sandbox="namespaces"))


# What root in a sandbox, or the trial's user, must not be able to do.
BREAK = """
import ctypes, fcntl, json, os, socket, subprocess, termios
libc = ctypes.CDLL(None, use_errno=True)
done = []

def attempt(name, act):
    try:
        if act() not in (None, False):
            done.append(name)
    except OSError:
        pass

def writes(path):
    os.close(os.open(path, os.O_WRONLY))
    return True

for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
             "/proc/1/mem", "/proc/1/environ"):
    attempt(path, lambda: writes(path))
for folder, _, names in os.walk("/sys/fs/cgroup"):
    for name in names:
        if name in ("cgroup.procs", "tasks", "release_agent"):
            attempt(folder + "/" + name, lambda: writes(folder + "/" + name))
attempt("device", lambda: os.mknod("disk", 0o60600, os.makedev(8, 0)) or True)
attempt("mount", lambda: libc.mount(b"x", b"/mnt", b"tmpfs", 0, None) == 0)
attempt("ptrace", lambda: libc.ptrace(16, 1, 0, 0) == 0)
attempt("kill", lambda: os.kill(1, 9) or os.path.exists("/proc/1") is False)
for fd in range(16):
    attempt("fd of 1", lambda: os.open("/proc/1/fd/%d" % fd, os.O_RDWR))
own = os.open(".", os.O_RDONLY)
inherited = sorted(set(map(int, os.listdir("/proc/self/fd"))) - {0, 1, 2, own})
attempt("inherited", lambda: any(
    os.path.exists("/proc/self/fd/%d" % fd) for fd in inherited))

def type_in():
    tty = os.open("/dev/tty", os.O_RDWR)
    return fcntl.ioctl(tty, termios.TIOCSTI, b"x") or True
attempt("terminal", type_in)
# A user namespace of its own must not open what is covered.
hidden = os.environ["HIDDEN"]
shown = subprocess.run(["unshare", "-Urm", "sh", "-c", "umount " + hidden +
                        "; cat " + hidden + "/token"],
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
attempt("unshare", lambda: bool(shown.stdout))
attempt("setuid", lambda: b"uid=0" in subprocess.run(
    ["su", "-c", "id"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL).stdout and os.getuid() != 0)
print(json.dumps(done))
""" + REPORT


def the_kernels_switches_are_closed():
    def act(**options):
        with Guests(**options) as server:
            server.run_trial("break", BREAK, env={"HIDDEN": server.data})
            tap.equal(json.loads(server.output("break")), [])
    as_root(lambda: act(run_as="auto"))
    as_root(lambda: act(sandbox="namespaces"))
    as_user(lambda: act(sandbox="namespaces"))


def study_of(server):
    return server.get(harness.OURS + "forks")["name"].rsplit("/", 1)[1]


def groups_of(server):
    return glob.glob("/sys/fs/cgroup/**/ht-*-%s-1-1-*" % study_of(server),
                     recursive=True)


def what_a_killed_shim_leaves_is_removed():
    """Children in sessions of their own, and the control group."""
    script = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
""" + REPORT + "time.sleep(600)\n"

    def act():
        with Guests(run_as="auto", limit="pids=100,memory=200M") as server:
            server.submit({"spec": 1, "name": "forks", "retries": 0,
                           "goal": "maximize score", "parameters": {"x": [1]},
                           "trials": 1, "algorithm": "grid", "args": "none",
                           "command": [PYTHON, "-c", script]})
            harness.wait_until(lambda: "no control group" in server.log_text()
                               or server.trials("forks") and
                               server.measurements("forks", 1), "its report")
            if "no control group" in server.log_text():
                raise tap.Skip("this process may not make control groups")
            tap.equal(bool(groups_of(server)), True)
            for pid in harness.processes(server.program("hypertune-shim"),
                                         server.data):
                os.kill(pid, signal.SIGKILL)
            harness.wait_until(
                lambda: not groups_of(server), "the end of its group")
            first = os.path.join(server.data, "runs", study_of(server), "1",
                                 "1")
            tap.equal(harness.processes(PYTHON, first), [])
    as_root(act)


def outputs_pass_from_attempt_to_attempt():
    """Each attempt and replica has a user of its own; root gives the folders
    on, and makes none where the job says."""
    script = """
import os, sys
model = os.environ["AIP_MODEL_DIR"]
path = os.path.join(model, "deep", "x")
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "a") as file:
    file.write("x")
if not os.environ.get("HYPERTUNE_RESUME"):
    sys.exit(3)
os.utime(model)
""" + REPORT

    def act():
        with Place() as place:
            with Guests(run_as="auto", volume_root=place.folder) as server:
                server.run_trial("own", script, retries=1)
                out = place.path("out")
                server.run_trial("given", script, retries=1, outputDir=out)
                [path] = glob.glob(out + "/**/x", recursive=True)
                tap.equal(os.path.getsize(path), 2)
                refused = tempfile.mkdtemp(dir="/tmp")
                trial = server.run_trial("refused", script, state="FAILED",
                                         outputDir=refused)
                tap.contains("--volume-root", trial["reason"])
                tap.equal(os.listdir(refused), [])
                os.rmdir(refused)
    as_root(act)


def main():
    tap.run([the_runners_questions_to_its_programs_are_guests,
             a_metrics_file_that_it_could_not_write_is_not_read,
             the_kernels_switches_are_closed,
             what_a_killed_shim_leaves_is_removed,
             outputs_pass_from_attempt_to_attempt])


if __name__ == "__main__":
    main()
