"""The files of the data folder, as people who open them behind the server's
back find them."""

import json
import os
import shutil
import sqlite3
import subprocess

import api
import harness
import tap
import tree
from fake_runner import Runner

OLD = tree.path("tests/data/before_release_%s.db")
RESERVED_AT = 20  # of the file's header: bytes kept free in each page


def read(path):
    with open(path, "rb") as file:
        return file.read()


def files_of_before_the_release_are_refused_and_left_alone():
    for name, number in (("hypertune", "4879546e"), ("logs", "48794c67")):
        with harness.Server("--runner", "none") as server:
            server.stop()
            path = os.path.join(server.data, name + ".db")
            shutil.copyfile(OLD % name, path)
            done = subprocess.run(
                [os.path.join(harness.bin_dir(), "hypertuned"), "--data",
                 server.data, "--listen", "127.0.0.1:0", "--report-listen",
                 "tcp://127.0.0.1:0", "--runner", "none"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                timeout=harness.PATIENCE, encoding="utf-8", check=False)
            tap.equal(done.returncode, 1, done.stderr)
            said = ("%s.db: is a hypertune database of before the first "
                    "release (id 0x%s); this program cannot read it: give "
                    "another data folder or move the file away" %
                    (name, number))
            tap.contains(said, done.stderr)
            tap.equal(read(path), read(OLD % name))
            os.remove(path)
            if name == "hypertune":  # to begin anew, see test_vanished.py
                os.truncate(path + "-mark", 0)
            server.start()


def old_letters_are_refused_and_the_server_runs():
    server = harness.Server("--runner", "none")
    os.mkdir(server.data, 0o700)
    shutil.copyfile(OLD % "webhooks", os.path.join(server.data, "webhooks.db"))
    hooks(server)
    with server:
        harness.wait_until(
            lambda: "webhooks.db: is a hypertune database of before the first "
            "release" in server.log_text(), "the refusal")
        tap.equal(server.call("POST", api.JOBS, api.job("one"))[0], 200)


def hooks(server):
    path = os.path.join(server.data, "webhooks.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump([{"name": "a", "url": "http://127.0.0.1:1/", "local": True,
                    "on": ["trial.ended"]}], file)
    os.chmod(path, 0o600)


def every_page_has_room_for_a_checksum_also_in_a_backup():
    server = harness.Server("--runner", "none")
    os.mkdir(server.data, 0o700)
    hooks(server)
    with server:
        harness.wait_until(lambda: "webhooks.begun" in server.log_text(),
                           "webhooks.db")
        tap.equal(server.call("POST", api.JOBS, api.job("one"))[0], 200)
        for name in ("hypertune", "logs", "webhooks"):
            path = os.path.join(server.data, name + ".db")
            copies = [os.path.join(server.folder, how) for how in "vb"]
            base = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
            base.execute("VACUUM INTO ?", (copies[0],))
            other = sqlite3.connect(copies[1])
            base.backup(other)
            other.close()
            base.close()
            for copied in copies:
                tap.equal(read(copied)[RESERVED_AT], 8, name)
                os.remove(copied)
        server.stop()
        for name in ("hypertune", "logs", "webhooks"):
            path = os.path.join(server.data, name + ".db")
            tap.equal(read(path)[RESERVED_AT], 8, name)


def damaged_logs_are_set_aside_and_the_server_runs():
    with harness.Server("--runner", "none") as server:
        tap.equal(server.call("POST", api.JOBS, api.job("one"))[0], 200)
        server.stop()
        path = os.path.join(server.data, "logs.db")
        with open(path, "r+b") as file:
            file.seek(500)
            file.write(b"x")
        damaged = read(path)
        server.start()
        aside, = [name for name in os.listdir(server.data)
                  if name.startswith("logs.db.damaged-")
                  and name[-4:] not in ("-wal", "-shm")]
        tap.equal(read(os.path.join(server.data, aside)), damaged)
        tap.contains("logs.set_aside", server.log_text())
        tap.equal(server.call("POST", api.JOBS, api.job("two"))[0], 200)


def events_of(server, study, *members):
    events = server.get(api.OURS + "/studies/%s/events" % study)["events"]
    return [tuple(event.get(member) for member in members)
            for event in events]


def events_tell_who_caused_them():
    with harness.Server("--runner", "none") as server:
        tap.equal(server.call("POST", api.JOBS, api.job(
            "one", maxTrialCount=1, parallelTrialCount=1))[0], 200)
        with Runner(server, name="r") as runner:
            runner.one().succeed(0.5)
        harness.wait_until(
            lambda: server.get(api.JOBS + "/one")["state"] ==
            "JOB_STATE_SUCCEEDED", "the end")
        tap.equal(set(events_of(server, "one", "kind", "to", "actor")), {
            ("study.created", "RUNNING", "admin"),
            ("trial.created", "REQUESTED", "core"),
            ("attempt.moved", "STARTING", "runner r"),
            ("trial.moved", "ACTIVE", "runner r"),
            ("attempt.moved", "RUNNING", "runner r"),
            ("trial.measured", None, "trial"),
            ("attempt.moved", "DRAINING", "runner r"),
            ("attempt.moved", "ENDED", "runner r"),
            ("trial.moved", "SUCCEEDED", "runner r"),
            ("study.moved", "SUCCEEDED", "core")})


def without_tokens_a_client_is_all_that_is_known():
    with harness.Server("--runner", "none", "--auth", "none") as server:
        tap.equal(server.call("POST", api.JOBS, api.job("one"))[0], 200)
        tap.equal(server.call("POST", api.OURS + "/studies/one:stop", {})[0],
                  200)
        tap.equal({who for kind, who in
                   events_of(server, "one", "kind", "actor")
                   if kind in ("study.created", "study.moved")} -
                  {"core"}, {"client"})


def a_record_is_stored_once_and_returned_unchanged():
    with harness.Server("--runner", "none") as server:
        tap.equal(server.call("POST", api.JOBS, api.job(
            "one", maxTrialCount=1, parallelTrialCount=1))[0], 200)
        with Runner(server) as runner:
            runner.one().started().report(0.734375, step=3)
            trial, = server.get(api.JOBS + "/one")["trials"]
            tap.equal(trial["hypertune"]["latest"],
                      {"step": "3", "metrics": {"accuracy": 0.734375}})
            tap.equal([data for kind, data in
                       events_of(server, "one", "kind", "data")
                       if kind == "trial.measured"],
                      [{"step": 3, "metrics": {"accuracy": 0.734375}}])
        server.stop()
        path = os.path.join(server.data, "hypertune.db")
        tap.equal(read(path).count(b"0.734375"), 1)


tap.run([
    files_of_before_the_release_are_refused_and_left_alone,
    old_letters_are_refused_and_the_server_runs,
    every_page_has_room_for_a_checksum_also_in_a_backup,
    damaged_logs_are_set_aside_and_the_server_runs,
    events_tell_who_caused_them,
    without_tokens_a_client_is_all_that_is_known,
    a_record_is_stored_once_and_returned_unchanged,
])
