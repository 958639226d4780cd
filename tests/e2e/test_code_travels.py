#!/usr/bin/env python3
"""A working folder goes to the server with its job, and trials on other
machines begin in copies of it: what travels, what stays, what later edits
change, and what becomes of a trial whose code does not come. The other machines
are runners with another /etc/machine-id."""

import json
import os
import shutil
import socket
import subprocess
import threading

import harness
import tap
from runner_process import Runner
from tls_server import TlsServer

MIB = 1024 * 1024
A, B = "a" * 32, "b" * 32

if os.geteuid() != 0:
    tap.skip("code travels", "only root can give a runner another machine-id")

ENV = {"PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]}
class Line:
    """A TCP line to the server's HTTPS that is cut after every `most` bytes
    of one direction, and counts them; while `open` is false it is dead."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = "https://localhost:%d" % self.socket.getsockname()[1]
        self.ends = []
        self.lock = threading.Lock()
        self.begin(0)
        threading.Thread(target=self.accept, daemon=True).start()

    def begin(self, most, to_server=False):
        with self.lock:
            self.most = self.left = most
            self.to_server = to_server
            self.bytes, self.cuts, self.open = 0, 0, True

    def accept(self):
        while True:
            try:
                here = self.socket.accept()[0]
            except OSError:
                return
            if not self.open:
                here.close()
                continue
            there = socket.create_connection(
                ("127.0.0.1", server.ports[0].number))
            with self.lock:
                self.ends += [here, there]
            for ends in ((here, there, True), (there, here, False)):
                threading.Thread(target=self.carry, args=ends,
                                 daemon=True).start()

    def carry(self, source, target, to_server):
        try:
            while data := source.recv(65536):
                target.sendall(data)
                if to_server == self.to_server and self.count(len(data)):
                    break
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def count(self, n):
        with self.lock:
            self.bytes += n
            self.left -= n
            if self.left > 0 or self.most == 0:
                return False
            self.left = self.most
        self.cut()
        return True

    def cut(self):
        with self.lock:
            self.cuts += 1
            for end in self.ends:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.ends.clear()

    def die(self):
        """Once it was cut in the middle of something."""
        harness.wait_until(lambda: self.cuts > 0, "a cut")
        self.open = False
        self.cut()


line = Line()
server = TlsServer("--runner", "none", "--public-name", line.url)

TRAINER = """
import os, subprocess, sys, time
import lib.model
here = os.getcwd()
assert not os.path.exists("left"), "another trial was here"
open("left", "w").close()
while len(sys.argv) > 2 and not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
print("here", here, "data", open("data.txt").read(), "end")
subprocess.run(["hypertune", "report", "a=%g" % lib.model.VALUE], check=True)
"""


class Folder:
    """A project of a person: a trainer, a module of it, and data."""

    def __init__(self, name):
        self.name = name
        self.path = os.path.join(server.folder, name)
        self.write("train.py", TRAINER)
        self.write("lib/__init__.py", "")
        self.write("data.txt", "first")
        self.value(1)

    def at(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.at(name)), exist_ok=True)
        with open(self.at(name), "w", encoding="utf-8") as out:
            out.write(text)

    def large(self, name, mebibytes):
        os.makedirs(os.path.dirname(self.at(name)), exist_ok=True)
        with open(self.at(name), "wb") as out:
            for _ in range(mebibytes):
                out.write(os.urandom(MIB))

    def value(self, value):
        self.write("lib/model.py", "VALUE = %d\n" % value)

    def spec(self, *words, **members):
        self.write("spec.json", json.dumps({
            "name": self.name, "goal": "maximize a", "args": "none",
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "trials": 2, "parallel": 2, "algorithm": "random",
            "command": ["python3", "-B", "train.py", *words], **members}))
        return self.at("spec.json")

    def submit(self, *words, check=True, options=(), env=None, **members):
        return server.cli("submit", self.spec(*words, **members), *options,
                          check=check, env={**ENV, **(env or {})})


def elsewhere(name, machine=A, options=(), **named):
    return Runner(server, name, "--ca", server.ca, "--gpus", "none", *options,
                  machine=machine, **named)


def check(name, trials=2, value=1):
    status = server.wait_study(name)
    tap.equal(status["state"], "SUCCEEDED", server.explain(name))
    logs = [server.cli("logs", "%s/%d" % (name, n + 1)).stdout
            for n in range(trials)]
    for n in range(trials):
        tap.equal(server.measurements(name, n + 1)[-1]["metrics"]["a"], value)
    return [one.split("here ")[1].split(" data ")[0] for one in logs]


def online():
    return [one["runner"] for one in server.get("/hypertune/v1/runners")[
        "runners"] if one["state"] == "ONLINE"]


def attempts(name, trial=1):
    """None before there is such a trial."""
    status, answer = server.call(
        "GET", harness.STUDIES + "%s/trials/%d" % (name, trial))
    return answer["hypertune"]["attempts"] if status == 200 else []


def each_trial_elsewhere_begins_in_a_copy_of_its_own():
    folder = Folder("copies")
    with elsewhere("m1", slots=1) as one, elsewhere("m2", B, slots=1) as two:
        folder.submit(trials=4)
        places = check("copies", 4)
        tap.equal(len(set(places)), 4)
        for place in places:
            tap.true(place.startswith((one.folder, two.folder)), place)
        # Once for each machine, whatever the trials.
        for runner in (one, two):
            tap.equal(runner.log().count("tree.fetched"), 1, runner.log())
    tap.true(not os.path.exists(folder.at("left")))


def on_the_machine_of_the_submitter_the_folder_is_used_itself():
    folder = Folder("same")
    with Runner(server, "m0", "--ca", server.ca, "--gpus", "none") as runner:
        runner.wait_log("server.greeted")
        done = folder.submit(trials=1)
        tap.lacks("code", done.stderr)
        tap.equal(check("same", 1), [folder.path])
        tap.lacks("tree", runner.log())


def a_machine_that_joins_after_the_submit_gets_the_code_too():
    folder = Folder("later")
    go = os.path.join(server.folder, "later-go")
    with Runner(server, "m0", "--ca", server.ca, "--gpus", "none") as here:
        here.wait_log("server.greeted")
        folder.submit(go, parallel=1)
        harness.wait_until(
            lambda: [one["state"] for one in attempts("later")] == ["RUNNING"],
            "the first trial")
        here_name, = online()
        server.cli("runners", "drain", here_name)
        with elsewhere("late") as there, open(go, "w", encoding="ascii"):
            first, second = check("later")
        tap.equal(first, folder.path)
        tap.starts(second, there.folder)


def a_second_submit_sends_what_has_changed():
    folder = Folder("twice")
    folder.large("weights", 3)
    first = folder.submit()
    tap.contains("code: 6 files, 3.1 MB from ", first.stderr)
    tap.contains("code: sent 3.1 MB\n", first.stderr)
    tap.contains("code: sent 0 B\n", folder.submit().stderr)
    folder.value(22)
    again = folder.submit()
    tap.contains("code: sent 11 B\n", again.stderr)
    tap.contains("--continue gives trials that have not begun this one",
                 again.stderr)


def edits_reach_trials_that_have_not_begun_by_continue_alone():
    folder = Folder("edits")
    go = os.path.join(server.folder, "edits-go")
    with elsewhere("m1", slots=1):
        folder.submit(go, parallel=1, trials=3)
        harness.wait_until(lambda: len(attempts("edits")) == 1,
                           "the first trial")
        harness.wait_until(
            lambda: attempts("edits")[0]["state"] == "RUNNING", "its trainer")
        folder.value(2)
        folder.submit(go, parallel=1, trials=3)
        with open(go, "w", encoding="ascii"):
            pass
        check("edits", 3, 1)
    folder.value(3)
    done = folder.submit(go, options=["--continue"], parallel=1, trials=4)
    tap.contains("continues with this spec", done.stderr)
    with elsewhere("m1", slots=1):
        server.wait_study("edits")
        tap.equal([server.measurements("edits", n)[-1]["metrics"]["a"]
                   for n in (1, 2, 3, 4)], [1, 1, 1, 3])


def names_modes_and_links_arrive_and_nothing_that_git_ignores():
    folder = Folder("names")
    for name in ("-rf", "two words", "a\nline", "\u00fc\u4f60", "...", "q\"\\"):
        folder.write("odd/" + name, name)
    folder.write("run.sh", "#!/bin/sh\n")
    os.chmod(folder.at("run.sh"), 0o750)
    os.makedirs(folder.at("empty"))
    os.symlink("../data.txt", folder.at("odd/link"))
    os.symlink("/etc/passwd", folder.at("out"))
    os.mkfifo(folder.at("fifo"))
    folder.write(".gitignore", "*.ckpt\n!keep.ckpt\n/scratch/\n")
    folder.write("odd/x.ckpt", "no")
    folder.write("keep.ckpt", "yes")
    folder.write("scratch/x", "no")
    folder.write(".git/config", "no")
    listing = ("import os\nfor at, _, names in sorted(os.walk('.')):\n"
               "  print([at] + sorted(names))\n"
               "print(oct(os.stat('run.sh').st_mode), os.readlink('odd/link'),"
               " open('odd/link').read())\n")
    folder.write("train.py", listing + TRAINER)
    with elsewhere("m1") as runner:
        done = folder.submit(trials=1)
        tap.contains("(git ignore rules)", done.stderr)
        tap.contains("left out 1 link out of the folder, such as out",
                     done.stderr)
        check("names", 1)
        said = server.cli("logs", "names/1").stdout
    tap.contains(repr(["./odd"] + sorted(
        ["-rf", "two words", "a\nline", "\u00fc\u4f60", "...", "q\"\\",
         "link"])), said)
    tap.contains("['./empty']", said)
    tap.contains("0o100755 ../data.txt first", said)
    tap.contains("'keep.ckpt'", said)
    for absent in ("scratch", ".git/", "'./.git'", "x.ckpt", "fifo", "'out'"):
        tap.lacks(absent, said)
    tap.true(runner.process.returncode == 0, "the runner ended well")


def a_folder_that_is_too_large_is_an_error_where_it_would_have_to_travel():
    folder = Folder("large")
    os.makedirs(folder.at("sets/raw"))
    with open(folder.at("sets/raw/all"), "wb") as out:
        out.truncate(101 * MIB)
    alone = folder.submit(options=["--dry-run"])
    tap.lacks("code", alone.stderr)
    with elsewhere("m1") as runner:
        runner.wait_log("server.greeted")
        refused = folder.submit(check=False)
        tap.equal(refused.returncode, 2, refused.stderr)
        tap.contains("the code cannot go to ", refused.stderr)
        tap.contains("has 101.0 MB, more than 100\n  105.9 MB  sets/raw/all\n",
                     refused.stderr)
        tap.contains("in .gitignore: /sets/raw/all\n", refused.stderr)
        tap.equal(server.cli("describe", "large", check=False).returncode, 3)
        folder.write(".gitignore", "/sets/\n")
        folder.submit(trials=1)
        check("large", 1)
    harness.wait_until(lambda: not online(), "no runner")
    folder.write(".gitignore", "")
    folder.name = "large2"
    alone = folder.submit()
    tap.contains("code: stays on this machine: ", alone.stderr)
    tap.lacks("code", server.study("large2") or {})


def without_code_the_folder_is_that_of_the_other_machine():
    for name, options, members in (("none", [], {"code": "none"}),
                                   ("flag", ["--no-code"], {})):
        folder = Folder(name)
        with elsewhere("m1") as runner:
            done = folder.submit(options=options, trials=1, **members)
            tap.lacks("code:", done.stderr)
            tap.equal(check(name, 1), [folder.path])
            tap.lacks("tree", runner.log().split("server.greeted")[-1])


def a_line_that_is_cut_again_and_again_carries_little_twice():
    folder = Folder("cuts")
    folder.large("weights", 40)
    with elsewhere("m1", url=line.url) as runner:
        runner.wait_log("server.greeted")
        line.begin(5 * MIB)
        folder.submit(trials=1)
        check("cuts", 1)
        tap.contains("tree.fetched", runner.log())
    tap.true(line.cuts >= 7, line.cuts)
    tap.true(line.bytes < 40 * MIB * 1.05, line.bytes)
    tap.equal([one["state"] for one in attempts("cuts")], ["ENDED"])


def a_submit_that_is_cut_again_and_again_sends_little_twice():
    folder = Folder("sent")
    folder.large("weights", 80)
    line.begin(20 * MIB, True)
    done = folder.submit(env={"HYPERTUNE_SERVER": line.url,
                              "HYPERTUNE_CA": server.ca}, trials=1)
    tap.true(line.cuts >= 4, line.cuts)
    # Each cut costs at most a chunk of each of 8 connections.
    tap.true(line.bytes < 80 * MIB * 1.02 + line.cuts * 8 * MIB, line.bytes)
    tap.contains("code: sent 83.9 MB\n", done.stderr)
    line.begin(0)
    with elsewhere("m1"):
        check("sent", 1)


def a_trial_with_a_user_of_its_own_reads_its_copy():
    folder = Folder("user")
    os.chmod(folder.at("train.py"), 0o600)
    with elsewhere("m1", options=["--run-as", "auto"]):
        folder.submit(trials=1)
        check("user", 1)


def a_server_that_is_away_during_the_fetch_delays_the_trial_only():
    folder = Folder("away")
    folder.large("weights", 20)
    with elsewhere("m1", url=line.url) as runner:
        runner.wait_log("server.greeted")
        line.begin(8 * MIB)
        folder.submit(trials=1)
        line.die()
        server.stop()
        server.start()
        line.begin(1000 * MIB)
        check("away", 1)
    tap.equal(len(attempts("away")), 1, server.explain("away"))


def code_that_cannot_come_is_a_loss_and_not_the_trials_failure():
    folder = Folder("gone")
    folder.large("weights", 1)
    folder.submit(trials=1, retries=0)
    name = subprocess.run(["sha256sum", folder.at("weights")], check=True,
                          stdout=subprocess.PIPE).stdout[:64].decode()
    chunk = os.path.join(server.data, "store/local/chunks", name[:2], name)
    aside = os.path.join(server.folder, "aside")
    shutil.move(chunk, aside)
    with elsewhere("m1"):
        harness.wait_until(
            lambda: attempts("gone") and
            attempts("gone")[0]["state"] == "ENDED", "a loss")
        shutil.move(aside, chunk)
        check("gone", 1)
    first = attempts("gone")[0]
    tap.equal(first["outcome"], "lost", first)
    tap.contains("could not start it: its code: ", first["reason"])


def a_trial_that_waits_for_its_code_can_be_stopped():
    folder = Folder("stop")
    folder.large("weights", 20)
    with elsewhere("m1", url=line.url) as runner:
        runner.wait_log("server.greeted")
        line.begin(2 * MIB)
        folder.submit(trials=1)
        line.die()
        runner.wait_log("attempt.waits")
        server.cli("stop-trial", "stop/1")
        harness.wait_until(
            lambda: server.trial("stop", 1)["state"] not in
            ("ACTIVE", "STOPPING"), "its end")
        tap.equal(attempts("stop")[0]["outcome"], "stopped",
                  server.explain("stop"))


def a_restarted_runner_fetches_for_the_trial_that_it_has():
    folder = Folder("again")
    folder.large("weights", 20)
    with elsewhere("m1", url=line.url) as runner:
        runner.wait_log("server.greeted")
        line.begin(2 * MIB)
        folder.submit(trials=1)
        line.die()
        runner.wait_log("attempt.waits")
        runner.process.kill()
    line.begin(1000 * MIB)
    with elsewhere("m1", url=line.url):
        check("again", 1)
    tap.equal(len(attempts("again")), 1, server.explain("again"))


def code_goes_to_the_server_by_tls_too():
    folder = Folder("tls")
    done = folder.submit(env={"HYPERTUNE_SERVER": server.https,
                              "HYPERTUNE_CA": server.ca}, trials=1)
    tap.contains("code: sent ", done.stderr)
    with elsewhere("m1"):
        check("tls", 1)


CASES = [on_the_machine_of_the_submitter_the_folder_is_used_itself,
         a_machine_that_joins_after_the_submit_gets_the_code_too,
         each_trial_elsewhere_begins_in_a_copy_of_its_own,
         a_second_submit_sends_what_has_changed,
         edits_reach_trials_that_have_not_begun_by_continue_alone,
         names_modes_and_links_arrive_and_nothing_that_git_ignores,
         a_folder_that_is_too_large_is_an_error_where_it_would_have_to_travel,
         without_code_the_folder_is_that_of_the_other_machine,
         a_line_that_is_cut_again_and_again_carries_little_twice,
         a_submit_that_is_cut_again_and_again_sends_little_twice,
         a_trial_with_a_user_of_its_own_reads_its_copy,
         a_server_that_is_away_during_the_fetch_delays_the_trial_only,
         code_that_cannot_come_is_a_loss_and_not_the_trials_failure,
         a_trial_that_waits_for_its_code_can_be_stopped,
         a_restarted_runner_fetches_for_the_trial_that_it_has,
         code_goes_to_the_server_by_tls_too]

with server:
    tap.run(CASES)
