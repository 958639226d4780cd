"""login_node - a real sshd on loopback for a test, with a key that opens it."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile

import harness
import tap

SSHD = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def require():
    """Ends the case, or the caller, where there is no sshd."""
    if not SSHD or not shutil.which("ssh"):
        raise tap.Skip("openssh-server is not installed")


class LoginNode:
    """A context manager; environment: what its commands get besides."""

    def __init__(self, environment):
        # Short, since sockets of ssh are in it.
        self.folder = tempfile.mkdtemp(prefix="ht-", dir="/tmp")
        self.port = harness.Port()
        # As a URL, which has the port.
        self.host = "ssh://" + self.port.address
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "",
                            "-f", self._path(name)], check=True)
        shutil.copy(self._path("user.pub"), self._path("authorized"))
        # Which of its programs finds them depends on the shell otherwise.
        # The shell's files of this user may be slow.
        variables = {"PATH": os.environ["PATH"], "HOME": self.folder,
                     **environment}
        with open(self._path("config"), "w", encoding="utf-8") as file:
            file.write("\n".join(
                ["Port %d" % self.port.number, "ListenAddress 127.0.0.1",
                 "HostKey " + self._path("host"), "PidFile none",
                 "AuthorizedKeysFile " + self._path("authorized"),
                 "StrictModes no", "UsePAM no", "PermitRootLogin yes",
                 "PasswordAuthentication no",
                 "SetEnv " + " ".join("%s=%s" % pair for pair in
                                      variables.items()), ""]))
        # What a user's ssh needs to come in without a question.
        self.options = ["-F", "none", "-i", self._path("user"),
                        "-o", "IdentitiesOnly=yes",
                        "-o", "StrictHostKeyChecking=accept-new",
                        "-o", "UserKnownHostsFile=" + self._path("known")]
        self.process = None

    def _path(self, name):
        return os.path.join(self.folder, name)

    def __enter__(self):
        os.makedirs("/run/sshd", exist_ok=True)
        with open(self._path("log"), "wb") as log:
            self.process = subprocess.Popen(
                [SSHD, "-D", "-e", "-f", self._path("config")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        harness.wait_until(lambda: "listening" in self.log(), "sshd")
        return self

    def kill(self):
        """Ends it with all connections, as the end of a machine does."""
        sessions = [
            int(pid) for pid in filter(str.isdigit, os.listdir("/proc"))
            if b"PPid:\t%d\n" % self.process.pid in harness.read_proc(
                pid, "status")]
        for pid in [self.process.pid] + sessions:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def log(self):
        with open(self._path("log"), encoding="utf-8") as file:
            return file.read()

    def __exit__(self, kind, value, trace):
        if kind is not None:
            print("# sshd: " + self.log().replace("\n", "\n# "))
        if self.process.poll() is None:
            self.kill()
        self.port.close()
        shutil.rmtree(self.folder)
