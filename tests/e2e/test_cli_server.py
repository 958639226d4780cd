"""The user's own server: found, started, restarted, never a stranger's."""

import fcntl
import os
import shutil
import signal
import socket
import subprocess

import tap
from cli_home import Home, stop
from harness import PATIENCE, wait_until

SPEC = {"spec": 1, "name": "quick", "goal": "maximize accuracy",
        "parameters": {"lr": [1, 2, 3]}, "trials": 1,
        "command": ["sh", "-c", "echo accuracy=0.5 $0 $@"],
        "metrics": {"stdout": "accuracy={accuracy}"}}


def the_first_command_starts_a_server_and_the_next_finds_it():
    with Home() as home:
        home.cli("list")
        first = home.note()
        home.cli("list")
        tap.equal(home.note()["pid"], first["pid"])
        tap.equal(os.stat(home.state).st_mode & 0o777, 0o700)
        with open("/proc/%d/stat" % first["pid"], encoding="utf-8") as file:
            session = int(file.read().rsplit(")", 1)[1].split()[3])
        tap.equal(session, first["pid"], "the server leads its own session:")


def a_killed_server_is_started_again_by_the_next_command():
    with Home() as home:
        home.cli("list")
        first = home.note()
        stop(first["pid"], signal.SIGKILL)
        tap.equal(home.note()["pid"], first["pid"], "a stale note stays:")
        home.cli("list")
        if home.note()["pid"] == first["pid"]:
            raise AssertionError("no new server")


def a_server_that_stops_is_waited_for():
    with Home() as home:
        os.mkdir(home.state, 0o700)
        # What it looks like then: no server.json, and the lock is held.
        with open(os.path.join(home.state, "lock"), "w",
                  encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = home.start("list", "-v")
            try:
                process.wait(1)
                raise AssertionError("did not wait")
            except subprocess.TimeoutExpired:
                pass
        _, err = process.communicate(timeout=PATIENCE)
        tap.equal(process.returncode, 0, err)
        tap.contains("started a server", err)


def two_state_folders_have_two_servers():
    with Home() as one, Home() as two:
        one.cli("list")
        two.cli("list")
        if one.note()["http"] == two.note()["http"]:
            raise AssertionError("one address for two servers")
        _, err = one.cli("submit", one.write("quick.yaml", SPEC))
        tap.lacks("code:", err, "its runner may not be there yet")
        tap.equal(one.cli("list", "-o", "name")[0], "quick\n")
        tap.equal(two.cli("list", "-o", "name")[0], "")


def commands_that_start_at_once_share_one_server():
    with Home() as home:
        started = [home.start("list", "-v") for _ in range(4)]
        said = [process.communicate(timeout=PATIENCE)[1] for process in started]
        tap.equal([process.returncode for process in started], [0] * 4)
        tap.equal(sum("started a server" in text for text in said), 1)


def a_busy_port_does_not_hinder_a_start():
    with socket.socket() as busy, Home() as home:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        taken = "127.0.0.1:%d" % busy.getsockname()[1]
        home.cli("list", HYPERTUNED_LISTEN=taken)
        if home.note()["http"] == "http://" + taken:
            raise AssertionError("took a port that was in use")


def a_named_server_is_never_started():
    with Home() as home, socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = "http://127.0.0.1:%d" % unused.getsockname()[1]
        for said in (home.cli("list", HYPERTUNE_SERVER=url, want=6)[1],
                     home.cli("--server", url, "list", want=6)[1]):
            tap.equal(said.splitlines(), [
                "hypertune: cannot reach %s (connection refused)" % url,
                "  start a server with \"hypertune serve\", or name one with "
                "--server or HYPERTUNE_SERVER"])
        tap.true(not os.path.exists(home.state))


def a_server_that_cannot_start_shows_its_last_words():
    with Home() as home:
        os.mkdir(home.state, 0o755)
        os.chmod(home.state, 0o755)
        said = home.cli("list", want=6)[1]
        if "ended at once" not in said or home.state not in said:
            raise AssertionError(said)
        tap.true(len(said.splitlines()) > 1, said)


def a_stranger_needs_a_token():
    with Home() as home:
        home.cli("list")
        url = home.note()["http"]
        said = home.cli("--server", url, "list", want=4)[1]
        if "--token-file" not in said:
            raise AssertionError(said)
        token = os.path.join(home.folder, "token")
        shutil.copy(os.path.join(home.state, "token"), token)
        os.chmod(token, 0o644)
        said = home.cli("--server", url, "--token-file", token, "list")[1]
        if "chmod 600" not in said:
            raise AssertionError("no warning: " + said)
        with open(token, "w", encoding="ascii") as file:
            file.write("0" * 64)
        home.cli("--server", url, "--token-file", token, "list", want=4)


def each_data_folder_has_its_own_server():
    with Home() as home:
        home.state = os.path.join(home.folder, "mine")
        path = home.write("quick.yaml", SPEC)
        elsewhere = os.path.join(home.folder, "state")
        out, _ = home.cli("run", path, "--data", "mine",
                          HYPERTUNE_STATE=elsewhere)
        if "accuracy=0.5" not in out:
            raise AssertionError(out)
        tap.true(not os.path.exists(elsewhere))
        _, err = home.cli("run", path, "--data", "mine")
        if "same spec" not in err:
            raise AssertionError("not continued: " + err)
        _, err = home.cli("submit", path, "--data", "mine")
        if "hypertune watch quick --data mine" not in err:
            raise AssertionError("advice leads elsewhere: " + err)
        home.cli("best", "quick", "--data", "mine", HYPERTUNE_STATE=elsewhere)


def serve_runs_in_the_foreground():
    with Home() as home:
        process = home.start("serve", "--listen", "127.0.0.1:0",
                             "--report-listen", "tcp://127.0.0.1:0")
        wait_until(lambda: home.note() or process.poll() is not None,
                   "server.json")
        home.cli("list")
        tap.equal(home.note()["pid"], process.pid)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
        tap.equal(process.returncode, 0, err)
        tap.starts(out, "ready http=")


if __name__ == "__main__":
    tap.run([the_first_command_starts_a_server_and_the_next_finds_it,
             a_killed_server_is_started_again_by_the_next_command,
             a_server_that_stops_is_waited_for,
             two_state_folders_have_two_servers,
             commands_that_start_at_once_share_one_server,
             a_busy_port_does_not_hinder_a_start,
             a_named_server_is_never_started,
             a_server_that_cannot_start_shows_its_last_words,
             a_stranger_needs_a_token,
             each_data_folder_has_its_own_server,
             serve_runs_in_the_foreground])
