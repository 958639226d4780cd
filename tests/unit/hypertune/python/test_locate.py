"""Finding the server: the rules of the command line."""

import fcntl
import json
import os
import tempfile

import tap

import hypertune
from hypertune import locate


def the_state_folder_follows_the_command_lines_rules():
    home = {"HOME": "/home/x"}
    tap.equal(locate.state_folder({}), None)
    tap.equal(locate.state_folder(home), "/home/x/.local/state/hypertune")
    tap.equal(locate.state_folder({**home, "XDG_STATE_HOME": "/s"}),
              "/s/hypertune")
    tap.equal(locate.state_folder({**home, "XDG_STATE_HOME": "relative"}),
              "/home/x/.local/state/hypertune")
    tap.equal(locate.state_folder({**home, "XDG_STATE_HOME": "/s",
                                   "HYPERTUNE_STATE": "/own"}), "/own")


def write_state(path, url):
    with open(os.path.join(path, "server.json"), "w") as file:
        json.dump({"http": url, "pid": 1}, file)
    with open(os.path.join(path, "token"), "w") as file:
        file.write("abc123\n")
    return open(os.path.join(path, "lock"), "w")


def a_server_is_believed_only_while_it_holds_its_lock():
    with tempfile.TemporaryDirectory() as path:
        tap.equal(locate.find_own(path), None)
        with write_state(path, "http://127.0.0.1:1234") as lock:
            tap.equal(locate.find_own(path), None, "lock not held")
            fcntl.flock(lock, fcntl.LOCK_EX)
            tap.equal(locate.find_own(path), "http://127.0.0.1:1234")


def a_server_that_is_not_on_this_machine_is_refused():
    for url in ("http://192.0.2.1:80", "http://example.com:80",
                "https://127.0.0.1:80", 7):
        with tempfile.TemporaryDirectory() as path, \
                write_state(path, url) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tap.raises(hypertune.Unavailable, locate.find_own, path)


def arguments_win_over_variables_and_those_over_the_own_server():
    with tempfile.TemporaryDirectory() as path, \
            write_state(path, "http://127.0.0.1:3") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        own = {"HYPERTUNE_STATE": path}
        named = {**own, "HYPERTUNE_SERVER": "http://127.0.0.1:2/",
                 "HYPERTUNE_TOKEN_FILE": "/t"}
        token = os.path.join(path, "token")
        for server, file, variables, want in (
                (None, None, own, ("http://127.0.0.1:3", token, path)),
                (None, None, named, ("http://127.0.0.1:2", "/t", None)),
                ("http://h:1", "/u", named, ("http://h:1", "/u", None)),
                ("http://h:1", None, own, ("http://h:1", None, None)),
                ("http://127.0.0.1:3", None, own,
                 ("http://127.0.0.1:3", token, None))):
            tap.equal(tuple(locate.locate(server, file, variables, 1)), want)


def without_the_program_no_server_can_be_started():
    with tempfile.TemporaryDirectory() as path:
        saved = os.environ["PATH"]
        os.environ["PATH"] = path
        try:
            error = tap.raises(hypertune.Unavailable, locate.ensure_own, path,
                               1)
        finally:
            os.environ["PATH"] = saved
        tap.contains("not in PATH", str(error))


def a_token_file_that_holds_none_is_refused():
    with tempfile.TemporaryDirectory() as path:
        token = os.path.join(path, "token")
        tap.raises(hypertune.PermissionDenied, locate.read_token, token)
        with open(token, "w") as file:
            file.write("\n")
        tap.raises(hypertune.PermissionDenied, locate.read_token, token)


if __name__ == "__main__":
    tap.run([
        the_state_folder_follows_the_command_lines_rules,
        a_server_is_believed_only_while_it_holds_its_lock,
        a_server_that_is_not_on_this_machine_is_refused,
        arguments_win_over_variables_and_those_over_the_own_server,
        without_the_program_no_server_can_be_started,
        a_token_file_that_holds_none_is_refused,
    ])
