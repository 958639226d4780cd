"""cli_home - `hypertune` in its own state folder, for tests in Python."""

import json
import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import time

import tap
from harness import PATIENCE, bin_dir, kill_runs, processes, wait_until


def gone(pid):
    """Has the process ended, reaped or not? Its first thread may be a zombie
    while others still hold its files and ports."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            ended = file.read().rsplit(")", 1)[1].split()[0] == "Z"
        return ended and len(os.listdir("/proc/%d/task" % pid)) <= 1
    except OSError:
        return True


def stop(pid, how=signal.SIGTERM):
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return
    wait_until(lambda: gone(pid), "the end of server %d" % pid)


class Home:
    """A state folder and a folder to work in; a context manager that stops
    the server at the end."""

    def __init__(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="ht-cli-"))
        self.state = os.path.join(self.folder, "state")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        note = self.note()
        if note:
            for name in self.cli("list", "-o", "name")[0].split():
                self.run("cancel", name, "--yes")
            stop(self.note()["pid"])
        kill_runs(self.state)
        shutil.rmtree(self.folder, ignore_errors=True)

    def note(self):
        """server.json, None when there is none."""
        try:
            with open(os.path.join(self.state, "server.json"),
                      encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def runners(self):
        """Pids of the runners that work in the state folder."""
        return processes(os.path.join(bin_dir(), "hypertune-runner"),
                         self.state)

    def write(self, name, content, mode=0o644):
        """Writes a file of the folder; a dict is written as JSON."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            if isinstance(content, dict):
                json.dump(content, file)
            else:
                file.write(content)
        os.chmod(path, mode)
        return path

    def environment(self, variables):
        """Two trials run at once, however many processors there are."""
        clean = {k: v for k, v in os.environ.items()
                 if not k.startswith("HYPERTUNE_")}
        return {**clean, "HYPERTUNE_STATE": self.state,
                "HYPERTUNED_SLOTS": "2", **variables}

    def start(self, *arguments, cwd=None, stdout=subprocess.PIPE, **variables):
        return subprocess.Popen(
            [os.path.join(bin_dir(), "hypertune")] + list(arguments),
            env=self.environment(variables), cwd=cwd or self.folder,
            stdin=subprocess.DEVNULL, stdout=stdout,
            stderr=subprocess.PIPE, encoding="utf-8")

    def run(self, *arguments, cwd=None, **variables):
        """Returns (exit code, stdout, stderr)."""
        process = self.start(*arguments, cwd=cwd, **variables)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return process.returncode, out, err

    def cli(self, *arguments, want=0, cwd=None, **variables):
        """Returns (stdout, stderr) of a command that must exit with `want`."""
        code, out, err = self.run(*arguments, cwd=cwd, **variables)
        tap.equal(code, want, "%s: %s%s" % (arguments, out, err))
        return out, err

    def describe(self, name):
        """The study as `hypertune describe` shows it."""
        return json.loads(self.cli("describe", name, "-o", "json")[0])

    def trials(self, name):
        """The study's trials as `hypertune export` writes them."""
        out, _ = self.cli("export", name, "-o", "jsonl")
        return [json.loads(line) for line in out.splitlines()]


class Terminal:
    """A command on a pseudo-terminal; `program` is not hypertune but this."""

    def __init__(self, home, *arguments, program=None, **variables):
        self.shown = ""
        argv = program or [os.path.join(bin_dir(), "hypertune")]
        environment = home.environment({"TERM": "xterm", **variables})
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(home.folder)
                os.execve(argv[0], argv + list(arguments), environment)
            finally:
                os._exit(127)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def read(self, seconds):
        """Reads what comes within the time; False at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            return False
        self.shown += got.decode("utf-8", "replace")
        return bool(got)

    def expect(self, text):
        """Waits until `text` has been shown; forgets all up to it."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.shown:
            if not self.read(0.1) and text not in self.shown:
                raise AssertionError("ended without %r: %r" %
                                     (text, self.shown))
            if time.monotonic() > deadline:
                raise AssertionError("no %r in %r" % (text, self.shown))
        self.shown = self.shown.split(text, 1)[1]

    def time_drawings(self, number):
        """Seconds until so many pictures more have been drawn; what waits to be
        read is of those before."""
        begin = time.monotonic()
        while select.select([self.fd], [], [], 0)[0] and self.read(0):
            pass
        self.shown = ""
        wait_until(lambda: self.read(0.1) and
                   self.shown.count("\x1b[J") >= number, "pictures")
        return time.monotonic() - begin

    def is_raw(self):
        """Does the terminal neither echo nor wait for whole lines?"""
        flags = termios.tcgetattr(self.fd)[3]
        return not flags & (termios.ECHO | termios.ICANON)

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def wait(self):
        """The exit code."""
        deadline = time.monotonic() + PATIENCE
        while self.read(0.1):
            if time.monotonic() > deadline:
                raise AssertionError("still runs: %r" % self.shown)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
