"""The files of the data folder, as those who open them behind the server's
back find them."""

import json
import os
import shutil
import sqlite3
import subprocess

import api  # finds the library of the tests
import harness
import tap

OLD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                   "data", "before_release_%s.db")
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
            tap.equal(said in done.stderr, True, done.stderr)
            tap.equal(read(path) == read(OLD % name), True)
            os.remove(path)
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


tap.run([
    files_of_before_the_release_are_refused_and_left_alone,
    old_letters_are_refused_and_the_server_runs,
    every_page_has_room_for_a_checksum_also_in_a_backup,
])
