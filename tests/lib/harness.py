"""harness - a real server in its own folder, for tests in Python."""

import contextlib
import errno
import json
import os
import re
import select
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

JOBS = "/v1/projects/local/locations/local/hyperparameterTuningJobs/"
STUDIES = "/v1/projects/local/locations/local/studies/"
OURS = "/hypertune/v1/studies/"
OPEN = ("RUNNING", "PAUSED", "STOPPING", "CANCELLING")

# Seconds for what must happen at some time, however slow the machine and
# whatever the sanitizer; who waits for longer has found a fault.
PATIENCE = 200


# For tests whose trainers do what a sandbox prevents, or name their own pid.
NO_SANDBOX = {"HYPERTUNE_RUNNER_SANDBOX": "none"}


def bin_dir():
    """The programs under test: the first argument of every test script."""
    return os.path.realpath(sys.argv[1])


def is_sanitized():
    """Whether the server carries a sanitizer, whose shadow is memory too."""
    with open(os.path.join(bin_dir(), "hypertuned"), "rb") as file:
        image = file.read()
    return b"__asan_init" in image or b"__tsan_init" in image


def wait_until(condition, what, seconds=PATIENCE):
    """Polls; returns the first true value."""
    deadline = time.monotonic() + seconds
    pause = 0.002  # most of what is awaited is there at once
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("not within %d s: %s" % (seconds, what))
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def read_proc(pid, name):
    """A file of /proc/PID; empty when the process is gone."""
    try:
        with open("/proc/%s/%s" % (pid, name), "rb") as file:
            return file.read()
    except OSError:
        return b""


def contents(folder):
    """The bytes of every file below a folder that others may be writing to, by
    path. When one goes, maybe to another name, all are read again."""
    while True:
        paths = [os.path.join(place, name)
                 for place, _, names in os.walk(folder) for name in names]
        found = {}
        with contextlib.suppress(FileNotFoundError):
            for path in paths:
                if stat.S_ISREG(os.stat(path).st_mode):
                    with open(path, "rb") as file:
                        found[path] = file.read()
            return found


def processes(program, mark):
    """Pids that run `program` and name `mark` in arguments or environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            path = os.readlink("/proc/%s/exe" % pid)
        except OSError:
            continue
        words = read_proc(pid, "cmdline") + read_proc(pid, "environ")
        if path == os.path.realpath(program) and os.fsencode(mark) in words:
            found.append(int(pid))
    return sorted(found)


def runners(folder, programs=None):
    """Pids of the runners of the server whose data is in `folder`, without what
    they have forked and is no other program yet."""
    found = processes(os.path.join(programs or bin_dir(), "hypertune-runner"),
                      folder)
    status = {pid: read_proc(pid, "status").decode() for pid in found}
    return [pid for pid, text in status.items()
            if not any("\nPPid:\t%d\n" % other in text for other in found)]


def kill_runs(folder, programs=None):
    """Ends whatever runs for the server whose data is in `folder`. `programs`:
    where they are, if not where those under test are."""
    for program in ("hypertune-runner", "hypertune-shim"):
        for pid in processes(os.path.join(programs or bin_dir(), program),
                             folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    mark = b"HYPERTUNE_TRIAL_DIR=" + os.fsencode(folder)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if mark in read_proc(pid, "environ"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def held_socket(family, host, port):
    holder = socket.socket(family)
    try:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            holder.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        holder.bind((host, port))
    except OSError:
        holder.close()
        raise
    return holder


class Port:
    """A port of this machine, at the host and at ::1, that no one takes while
    its server is down: it is bound to, without listening, which a server that
    reuses addresses does not mind."""

    def __init__(self, host="127.0.0.1"):
        self.number, self.holders = 0, []
        while not self.number:
            self.holders = [held_socket(socket.AF_INET, host, 0)]
            self.number = self.holders[0].getsockname()[1]
            try:
                self.holders.append(
                    held_socket(socket.AF_INET6, "::1", self.number))
            except OSError as problem:
                if problem.errno == errno.EADDRINUSE:
                    self.close()
                    self.number = 0
        self.address = "%s:%d" % (host, self.number)

    def close(self):
        for holder in self.holders:
            holder.close()


class Server:
    """hypertuned on a data directory; its ports stay the same when it is
    started again. A context manager: leaving it stops everything."""

    def __init__(self, *options, slots=4, programs=None, host="127.0.0.1",
                 environment=None):
        self.environment = environment or {}  # besides that of the test
        self.programs = programs  # their folder; None: those under test
        self.folder = tempfile.mkdtemp(prefix="ht-")
        self.data = os.path.join(self.folder, "data")
        self.options = list(options) + ["--slots", str(slots)]
        self.ports = [Port(host) for _ in range(3)]
        http, report, control = [port.address for port in self.ports]
        self.http = "http://" + http
        self.report = "tcp://" + report
        self.control = "tcp://" + control
        self.process = None
        self.log = open(os.path.join(self.folder, "server.log"), "wb")

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close(False)
            raise
        return self

    def __exit__(self, kind, value, trace):
        self.close(kind is None or (kind is SystemExit and not value.code))

    def program(self, name):
        return os.path.join(self.programs or bin_dir(), name)

    def start(self, fail=None):
        """Returns the seconds until it was ready. With a failpoint armed
        (tuner/base/failpoint.h) it may die before; None then."""
        begin = time.monotonic()
        self.process = subprocess.Popen(
            [self.program("hypertuned"), "--data", self.data,
             "--listen", self.http.split("//")[1],
             "--report-listen", self.report,
             "--control-listen", self.control] + self.options,
            stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL,
            env={**os.environ, **self.environment,
                 **({"HT_FAIL": fail} if fail else {})})
        line = self._first_line(begin + PATIENCE)
        ready = re.match(r"ready http=%s report=%s token-file=(.+)$" % (
            re.escape(self.http), re.escape(self.report)), line)
        if not ready and fail and not line:
            return None
        if not ready:
            raise AssertionError("no ready line but %r\n%s" %
                                 (line, self.log_text()))
        self.token_file = ready.group(1)
        return time.monotonic() - begin

    def _first_line(self, deadline):
        line = b""
        fd = self.process.stdout.fileno()
        while not line.endswith(b"\n"):
            wait = max(0, deadline - time.monotonic())
            if not select.select([fd], [], [], wait)[0]:
                break
            byte = os.read(fd, 1)
            if not byte:
                break
            line += byte
        return line.decode().rstrip("\n")

    def log_text(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()[-4000:]

    def computed(self):
        """Seconds that it has computed for, whatever else the machine does."""
        stat = read_proc(self.process.pid, "stat").decode().rsplit(")", 1)[1]
        return sum(map(int, stat.split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def kill(self):
        self.process.kill()
        self._reap()

    def wait_death(self):
        """Waits for its own end; returns the exit code."""
        wait_until(lambda: self.process.poll() is not None,
                   "the death of the server")
        return self._reap()

    def stop(self):
        """SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self._reap()

    def _reap(self):
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.stdout.close()
            self.process = None

    def close(self, succeeded=True):
        """Ends the server, then by pid whatever it has started."""
        if not succeeded:
            print("# the server said:")
            for line in self.log_text().splitlines():
                print("# " + line)
        if self.process is not None:
            self.stop()
        kill_runs(self.data, self.programs)
        self.log.close()
        for port in self.ports:
            port.close()
        subprocess.run(["rm", "-rf", self.folder], check=True)

    def call(self, method, path, body=None):
        """Returns (HTTP status, decoded JSON)."""
        with open(self.token_file, encoding="ascii") as file:
            headers = {"Authorization": "Bearer " + file.read().strip()}
        data = None
        if method in ("POST", "PATCH"):
            headers["Content-Type"] = "application/json"
            data = json.dumps(body or {}).encode()
        request = urllib.request.Request(self.http + path, data, headers,
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def get(self, path):
        status, answer = self.call("GET", path)
        if status != 200:
            raise AssertionError("GET %s: %d %s" % (path, status, answer))
        return answer

    def cli(self, *arguments, check=True, env=None, cwd=None):
        """Runs `hypertune` against this server."""
        done = subprocess.run(
            [self.program("hypertune")] + list(arguments),
            env={**os.environ, "HYPERTUNE_SERVER": self.http,
                 "HYPERTUNE_TOKEN_FILE": self.token_file, **(env or {})},
            cwd=cwd or self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=PATIENCE,
            encoding="utf-8")
        if check and done.returncode != 0:
            raise AssertionError("hypertune %s: exit %d\n%s%s" % (
                " ".join(arguments), done.returncode, done.stdout,
                done.stderr))
        return done

    def submit(self, spec, cwd=None, env=None):
        """Submits a spec given as a dict (JSON is YAML); returns its name."""
        path = os.path.join(cwd or self.folder, spec["name"] + ".yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(spec, file)
        return self.cli("submit", path, cwd=cwd, env=env).stdout.strip()

    def study(self, name):
        """hypertuneStatus of a study, its state, reason and counts."""
        return self.get(JOBS + name)["hypertuneStatus"]

    def wait_study(self, name, seconds=PATIENCE):
        """Waits for a study's end; returns its status. It may take long, but
        each step in it at most `seconds`."""
        status = self.study(name)
        while status["state"] in OPEN:
            before = status["counts"]
            status = wait_until(lambda: self._moved(name, before),
                                "an end or a step of study " + name, seconds)
        return status

    def _moved(self, name, before):
        status = self.study(name)
        moved = status["state"] not in OPEN or status["counts"] != before
        return status if moved else None

    def trial(self, name, number):
        return self.get(STUDIES + "%s/trials/%s" % (name, number))

    def trials(self, name):
        return self.pages(STUDIES + name + "/trials?pageSize=100", "trials")

    def pages(self, path, key):
        """The elements of all pages of a list, its member `key`."""
        found, token = [], ""
        while True:
            page = self.get(path + ("&" if "?" in path else "?") +
                            "pageToken=" + token)
            found += page.get(key, [])
            token = page.get("nextPageToken", "")
            if not token:
                return found

    def replay(self, name, query=""):
        """What a replay says of each trial of a study."""
        return self.pages(OURS + name + "/replay" + query, "trials")

    def explain(self, name):
        """What became of a study whose trials did not all succeed: for the
        message of a test that expects them to."""
        parts = [self.cli("watch", name, check=False).stdout]
        for trial in self.trials(name):
            if trial["hypertune"]["state"] == "SUCCEEDED":
                continue
            parts.append(json.dumps(trial["hypertune"]))
            parts += [self.cli(
                "logs", "%s/%s" % (name, trial["id"]), "--stream", "stderr",
                "--replica", "%s-%d" % (pool["type"], index),
                check=False).stdout
                for pool in self.trial(name, trial["id"])["hypertune"][
                    "commands"]
                for index in range(pool["replicas"])]
        return "\n".join(parts)

    def measurements(self, name, trial):
        return self.get(OURS + "%s/measurements?trial=%s" %
                        (name, trial))["measurements"]
