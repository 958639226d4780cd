"""Start, stop, a second server, the idle time, damage, the local runner."""

import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time

import api
import harness
import pages
import tap

# Seconds of a stop that waits for no one; a call may take 60.
STOP_S = 30

# Stands in for hypertune-runner: notes its start, holds the runner's lock.
FAKE_RUNNER = """#!%s
import fcntl, json, os, signal, sys
state = sys.argv[sys.argv.index("--state") + 1]
os.makedirs(state, exist_ok=True)
def on_term(number, frame):
    open(os.path.join(state, "ended"), "w").close()
    os._exit(0)
signal.signal(signal.SIGTERM, on_term)
lock = open(os.path.join(state, "runner.lock"), "w")
fcntl.flock(lock, fcntl.LOCK_EX)
with open(os.path.join(state, "starts"), "a") as starts:
    starts.write(json.dumps([os.getpid(), sys.argv[1:]]) + "\\n")
while True:
    signal.pause()
"""


def program(name="hypertuned"):
    return os.path.join(harness.bin_dir(), name)


def run_beside(data, *options, env=None):
    """A hypertuned that is expected to end by itself."""
    return subprocess.run(
        [program(), "--data", data, "--listen", "127.0.0.1:0",
         "--report-listen", "tcp://127.0.0.1:0", "--runner", "none"] +
        list(options), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        timeout=harness.PATIENCE, encoding="utf-8", env=env)


def it_is_ready_soon_and_small():
    with harness.Server("--runner", "none") as server:
        server.stop()
        # The best of three, as other work may run on this machine.
        seconds = []
        for _ in range(3):
            seconds.append(server.start())
            pid = server.process.pid
            if harness.is_sanitized():
                server.stop()
                continue  # a sanitizer's shadow counts as memory
            resident = [line for line in harness.read_proc(pid, "status")
                        .decode().splitlines() if line.startswith("VmRSS")]
            tap.true(int(resident[0].split()[1]) < 20 * 1024, resident)
            server.stop()
        # The ready line comes before the first answer of a reader.
        tap.true(min(seconds) < 5, seconds)


def the_folder_tells_where_the_server_is():
    with harness.Server("--runner", "none") as server:
        path = os.path.join(server.data, "server.json")
        with open(path, encoding="utf-8") as file:
            note = json.load(file)
        tap.equal(note["pid"], server.process.pid)
        tap.equal((note["http"], note["report"], note["control"]),
                  (server.http, server.report, server.control))
        tap.equal(os.path.realpath(note["tokenFile"]),
                  os.path.realpath(server.token_file))
        for name in os.listdir(server.data):
            mode = os.stat(os.path.join(server.data, name)).st_mode
            tap.equal(stat.S_IMODE(mode) & 0o077, 0, name)
        tap.equal(server.stop(), 0)
        tap.true(not os.path.exists(path))


def a_second_server_learns_whose_folder_it_is():
    with harness.Server("--runner", "none") as server:
        done = run_beside(server.data)
        tap.equal((done.returncode, done.stdout), (5, ""))
        tap.equal(done.stderr, "hypertuned: another server (pid %d, http=%s) "
                  "owns %s\n" % (server.process.pid, server.http,
                                 os.path.realpath(server.data)))
        tap.equal(server.get(api.OURS + "/server")["http"], server.http)
        server.kill()
        server.start()


def a_port_in_use_is_refused_unless_on_demand():
    with harness.Server("--runner", "none") as server:
        taken = server.http.split("//")[1]
        other = os.path.join(server.folder, "other")
        done = run_beside(other, "--listen", taken)
        tap.equal((done.returncode, taken + " is in use" in done.stderr),
                  (1, True), done.stderr)
        done = run_beside(other, "--listen", taken, "--report-listen",
                          server.report, "--on-demand", "--idle-exit", "0.2s")
        tap.equal((done.returncode, done.stdout.startswith("ready http=")),
                  (0, True), done.stderr)
        tap.lacks(taken, done.stdout)


def wide_modes_are_refused():
    with harness.Server("--runner", "none") as server:
        server.stop()
        os.chmod(server.data, 0o755)
        done = run_beside(server.data)
        tap.equal((done.returncode, "chmod 700" in done.stderr), (1, True))
        os.chmod(server.data, 0o700)
        server.start()


def a_refusal_to_start_steers_no_terminal():
    done = run_beside("/dev/null/\x1b[2J\u202e")
    tap.equal(done.returncode, 1)
    tap.lacks("\x1b", done.stderr)
    tap.lacks("\u202e", done.stderr)


def an_idle_server_ends_by_itself_and_a_busy_one_does_not():
    with harness.Server("--runner", "none", "--on-demand", "--idle-exit",
                        "3s") as server:
        begin = time.monotonic()
        while time.monotonic() - begin < 3.5:
            server.get(api.JOBS)
            time.sleep(0.1)
        tap.equal(server.call("POST", api.JOBS, api.job("busy"))[0], 200)
        time.sleep(3.5)  # longer than its idle time: the study keeps it
        tap.equal(server.process.poll(), None)
        server.call("POST", api.JOBS + "/busy:cancel")
        tap.equal(server.process.wait(harness.PATIENCE), 0)
        server.process.stdout.close()
        server.process = None
        tap.contains("server.stopping reason=idle", server.log_text())


class Creator(threading.Thread):
    """Makes studies until the server is gone; notes the confirmed ones."""

    def __init__(self, server, prefix):
        super().__init__()
        self.server = server
        self.prefix = prefix
        self.confirmed, self.refused, self.torn = [], 0, 0

    def run(self):
        for i in range(100000):
            name = "%s%d" % (self.prefix, i)
            try:
                answer = api.send(self.server, "POST", api.JOBS,
                                  api.job(name, maxTrialCount=1))
            except OSError:
                return
            if answer is None:
                return
            if answer.status == 200:
                self.confirmed.append(name)
            elif answer.status == 503:
                self.refused += 1
            else:
                self.torn += 1


def what_is_in_flight_at_a_stop_is_answered():
    with harness.Server("--runner", "none") as server:
        creators = [Creator(server, "c%d-" % i) for i in range(4)]
        for creator in creators:
            creator.start()
        harness.wait_until(lambda: all(c.confirmed for c in creators),
                           "work")
        begin = time.monotonic()
        tap.equal(server.stop(), 0)
        tap.true(time.monotonic() - begin < STOP_S)
        for creator in creators:
            creator.join()
            tap.equal(creator.torn, 0)
        server.start()
        for creator in creators:
            for name in creator.confirmed:
                server.study(name)


def half_a_request_does_not_hold_up_a_stop():
    with harness.Server("--runner", "none") as server:
        with api.connect(server) as half, api.connect(server) as idle:
            half.sendall(api.head(server, "POST", api.JOBS,
                                  "Content-Type: application/json",
                                  "Content-Length: 100") + b"{")
            idle.sendall(api.head(server, "GET", "/healthz"))
            tap.equal(api.read_answer(idle).status, 200)
            begin = time.monotonic()
            tap.equal(server.stop(), 0)
            tap.true(time.monotonic() - begin < STOP_S)


def a_hangup_is_ignored():
    with harness.Server("--runner", "none") as server:
        server.process.send_signal(signal.SIGHUP)
        tap.equal(server.call("GET", api.JOBS)[0], 200)
        server.process.send_signal(signal.SIGINT)
        tap.equal(server.process.wait(harness.PATIENCE), 0)
        server.process.stdout.close()
        server.process = None


def damage(path):
    """Overwrites the root page of the table of measurements."""
    with sqlite3.connect(path) as db:
        page, = db.execute("SELECT rootpage FROM sqlite_master WHERE"
                           " type='table' AND name='measurements'").fetchone()
        size, = db.execute("PRAGMA page_size").fetchone()
    with open(path, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def a_damaged_database_is_read_and_not_written():
    with harness.Server("--runner", "none") as server:
        tap.equal(server.call("POST", api.JOBS, api.job("kept"))[0], 200)
        server.stop()
        damage(os.path.join(server.data, "hypertune.db"))
        server.start()
        harness.wait_until(
            lambda: server.get(api.OURS + "/server")["readOnly"],
            "read-only mode")
        status, answer = server.call("POST", api.JOBS, api.job("new"))
        tap.equal((status, answer["error"]["status"]), (503, "UNAVAILABLE"))
        tap.contains("read-only", answer["error"]["message"])
        tap.equal(server.get(api.JOBS + "/kept")["displayName"], "kept")


def damage_found_by_a_reader_stops_the_writing():
    with harness.Server("--runner", "none") as server:
        for name in ("torn", "kept"):
            tap.equal(server.call("POST", api.JOBS, api.job(name))[0], 200)
            server.call("POST", api.OURS + "/studies/%s:stop" % name)
        server.stop()
        # What SQLite's own check cannot see.
        with pages.changing(os.path.join(server.data, "hypertune.db")) as db:
            db.execute("UPDATE studies SET spec='{\"a\":' WHERE name='torn'")
        server.start()
        tap.equal(server.get(api.OURS + "/server")["readOnly"], False)
        status, answer = server.call("GET", api.JOBS + "/torn")
        tap.equal((status, answer["error"]["status"]), (500, "DATA_LOSS"))
        facts = server.get(api.OURS + "/server")
        tap.equal((facts["readOnly"], answer["error"]["message"]),
                  (True, facts["readOnlyReason"]))
        tap.equal(server.call("POST", api.JOBS, api.job("new"))[0], 503)
        tap.equal(server.get(api.JOBS + "/kept")["displayName"], "kept")


class Supervised:
    """A server whose runners are fake ones: all are in one folder."""

    def __init__(self, *flags):
        self.flags = flags or ("--runner", "process")

    def __enter__(self):
        self.server = harness.Server(*self.flags, slots=3)
        self.bin = os.path.join(self.server.folder, "bin")
        os.mkdir(self.bin)
        shutil.copy2(program(), self.bin)
        fake = os.path.join(self.bin, "hypertune-runner")
        with open(fake, "w", encoding="utf-8") as file:
            file.write(FAKE_RUNNER % sys.executable)
        os.chmod(fake, 0o755)
        self.real = sys.argv[1]
        sys.argv[1] = self.bin
        self.server.start()
        return self

    def __exit__(self, kind, value, trace):
        for pid, _ in self.starts():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.server.close(kind is None)
        sys.argv[1] = self.real

    def starts(self):
        found = []
        for state in ("runs", "runs/docker"):
            path = os.path.join(self.server.data, state, "starts")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    found += [json.loads(line) for line in file
                              if line.endswith("\n")]
        return found

    def wait_starts(self, n):
        return harness.wait_until(
            lambda: len(self.starts()) >= n and self.starts(),
            "%d runners" % n)


def the_runner_is_started_with_what_it_needs():
    with Supervised() as one:
        (_, arguments), = one.wait_starts(1)
        data = os.path.realpath(one.server.data)
        tap.equal(arguments, [
            "--server", one.server.http,
            "--token-file", data + "/runner-token", "--engine", "process",
            "--state", data + "/runs", "--slots", "3", "--exit-when-alone"])


def each_engine_has_its_own_runner_and_folder():
    with Supervised("--runner", "process,docker", "--gpus", "0,1", "--share",
                    "--volume-root", "/usr,/etc", "--allow", "networks",
                    "--docker-host", "unix:///x") as one:
        (_, first), (_, second) = one.wait_starts(2)
        runs = os.path.realpath(one.server.data) + "/runs"
        shared = ["--share", "--volume-root", "/usr,/etc", "--allow",
                  "networks", "--docker-host", "unix:///x",
                  "--exit-when-alone"]
        tap.equal(first[4:], ["--engine", "process", "--state", runs,
                              "--slots", "3", "--gpus", "0,1"] + shared)
        tap.equal(second[4:], ["--engine", "docker", "--state",
                               runs + "/docker", "--slots", "3", "--gpus",
                               "none"] + shared)


def a_runner_that_dies_is_started_again():
    with Supervised() as one:
        (first, _), = one.wait_starts(1)
        os.kill(first, signal.SIGKILL)
        pids = [pid for pid, _ in one.wait_starts(2)]
        tap.equal(len(set(pids)), 2)
        tap.contains("runner.died", one.server.log_text())


def a_stop_of_the_server_stops_its_runner():
    with Supervised() as one:
        one.wait_starts(1)
        begin = time.monotonic()
        tap.equal(one.server.stop(), 0)
        tap.true(time.monotonic() - begin < 10)
        tap.true(
            os.path.exists(os.path.join(one.server.data, "runs", "ended")))


def a_runner_left_by_a_crash_is_adopted():
    with Supervised() as one:
        (first, _), = one.wait_starts(1)
        one.server.kill()
        one.server.start()
        harness.wait_until(
            lambda: "runner.adopted" in one.server.log_text(), "adoption")
        tap.equal(len(one.starts()), 1)
        os.kill(first, signal.SIGKILL)
        tap.equal(len(one.wait_starts(2)), 2)


tap.run([
    it_is_ready_soon_and_small,
    the_folder_tells_where_the_server_is,
    a_second_server_learns_whose_folder_it_is,
    a_port_in_use_is_refused_unless_on_demand,
    wide_modes_are_refused,
    a_refusal_to_start_steers_no_terminal,
    an_idle_server_ends_by_itself_and_a_busy_one_does_not,
    what_is_in_flight_at_a_stop_is_answered,
    half_a_request_does_not_hold_up_a_stop,
    a_hangup_is_ignored,
    a_damaged_database_is_read_and_not_written,
    damage_found_by_a_reader_stops_the_writing,
    the_runner_is_started_with_what_it_needs,
    each_engine_has_its_own_runner_and_folder,
    a_runner_that_dies_is_started_again,
    a_stop_of_the_server_stops_its_runner,
    a_runner_left_by_a_crash_is_adopted,
])
