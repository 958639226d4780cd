"""pods - hypertune-shim --pod as the first process of a pid namespace, with a
/dev of its own, as a kubelet starts it; another program in there as by
`kubectl exec`.

    with pods.Pod(PATH="/usr/bin:/bin") as pod:
        pod.bring(["true"])
        tap.equal(pod.end(), 0)
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import elements
import harness
import tap

FOLDER = "s/1/1/master-0"
# $1: a folder for its /dev, $2: the termination message.
INSIDE = """
mount -t proc proc /proc && mount -t tmpfs none "$1" || exit 99
for device in null zero random urandom; do
    : >"$1/$device" && mount --bind "/dev/$device" "$1/$device" || exit 99
done
: >"$1/termination-log"
mount --bind "$2" "$1/termination-log" && mount --rbind "$1" /dev || exit 99
shift 2
exec "$@"
"""


def needs_namespaces():
    if os.geteuid() != 0:
        raise tap.Skip("this is root's")
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        raise tap.Skip("root may not make namespaces here")


class Pod:
    """Named arguments are the container's environment."""

    def __init__(self, folder=FOLDER, workdir=None, **env):
        needs_namespaces()
        self.base = tempfile.mkdtemp(prefix="ht-pod-")
        self.root = os.path.join(self.base, "state")
        self.folder = os.path.join(self.root, folder)
        self.log = os.path.join(self.base, "log")
        self.others = []
        os.mkdir(os.path.join(self.base, "dev"))
        with open(self.log, "w", encoding="utf-8") as log:
            log.write("old" * 2000)
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child",
             "sh", "-c", INSIDE, "sh", os.path.join(self.base, "dev"),
             self.log, elements.SHIM, "--pod", self.root, folder],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **env}, cwd=workdir,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in [self.process] + self.others:
            if one.poll() is None:
                one.kill()
            one.wait()
            for pipe in (one.stdin, one.stdout, one.stderr):
                if pipe and not pipe.closed:
                    pipe.close()
        shutil.rmtree(self.base, ignore_errors=True)

    def first(self):
        """The pid, seen from here, of the first process once it takes
        signals: one that comes before is none to it."""
        def find():
            for pid in elements.children(self.process.pid):
                if not harness.read_proc(pid, "cmdline").startswith(
                        elements.SHIM.encode()):
                    continue  # the shell blocks signals, too
                status = harness.read_proc(pid, "status").decode()
                blocked = re.search("SigBlk:\t([0-9a-f]+)", status)
                if blocked and int(blocked[1], 16) >> (signal.SIGCHLD - 1) & 1:
                    return pid
            return None
        return harness.wait_until(find, "the first process")

    def bring(self, argv, term_ms=5000, env=(), **more):
        """launch.json, as the mirror brings it: in a folder made before."""
        os.makedirs(self.folder)
        elements.write(self.folder, "launch.json", {
            "argv": argv, "inherit": [], "workdir": None, "timeoutMs": 0,
            "graceMs": term_ms, "boot": "another",
            "env": [["HYPERTUNE_TRIAL_DIR", self.folder],
                    *[list(pair) for pair in env]], **more})

    def enter(self, *argv):
        """A program in the container, no child of anything in there."""
        self.others.append(subprocess.Popen(
            ["nsenter", "-t", str(self.first()), "-m", "-p", *argv],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        return self.others[-1]

    def signal(self, number=signal.SIGTERM):
        os.kill(self.first(), number)

    def wait_exit(self):
        return elements.wait_exit(self.folder)

    def wait_message(self):
        """The termination message as it is in the end."""
        def whole():
            text = elements.read(self.log)
            return text if text.endswith("}\n") else None
        return json.loads(harness.wait_until(whole, "the message"))

    def end(self):
        """Its exit code."""
        self.process.wait(timeout=harness.PATIENCE)
        return self.process.returncode
