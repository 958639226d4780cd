"""backups - what the tests of backups share: a server with studies of every
kind, a restore of it, and what a study says."""

import json
import os
import socket
import struct
import subprocess
import time

import api
import fake_runner
import harness
import pages
import tap

HERE = ["metadata", "best", "measurements", "curves", "trials", "spec"]


def answers(server, names):
    """All that is known of these studies. Restoring adds one event to each and
    raises revisions; nothing else may differ."""
    found = {}
    for name in names:
        ours = api.OURS + "/studies/" + name
        for end in HERE:
            found[name, end] = server.get(ours + "/" + end)
            found[name, end].pop("nowMs", None)
        study = server.get(ours)
        study["hypertuneStatus"].pop("revision")
        study.pop("updateTime")
        found[name, ""] = study
        found[name, "events"] = [
            event for event in server.get(ours + "/events")["events"]
            if "the server was restored" not in event["reason"]]
        for trial in server.pages(ours + "/trials?pageSize=100", "trials"):
            found[name, trial["id"]] = server.get(
                "%s/trials/%s" % (ours, trial["id"]))
            found[name, trial["id"], "logs"] = server.get(
                "%s/trials/%s/logs?stream=stdout" % (ours, trial["id"]))
    return found


def same(server, names, before):
    """Whether they are answered as they were."""
    now = answers(server, names)
    tap.equal(sorted(map(str, now)), sorted(map(str, before)))
    for question, answer in before.items():
        tap.equal(now[question], answer, question)


def played(server, name, trials=4):
    """A study that has ended, with curves and logs."""
    tap.equal(server.call("POST", api.JOBS, api.job(
        name, maxTrialCount=trials, parallelTrialCount=1))[0], 200)
    with fake_runner.Runner(server, name="player") as runner:
        for trial in range(trials):
            attempt = runner.one().started()
            attempt.say("line one of %d\n" % trial)
            for step in range(1, 6):
                attempt.report(0.1 * trial + step / 97, step=step)
            attempt.succeed(0.5 + trial / 83)
    harness.wait_until(
        lambda: server.get(api.JOBS + "/" + name)["state"] ==
        "JOB_STATE_SUCCEEDED", "the end of " + name)


def fill(path, mebibytes):
    """Lines of the audit log, each with some pages of its own."""
    with pages.changing(path) as base:
        base.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n "
            "WHERE i<?) INSERT INTO audit(time_ms, last_ms, count, refused, "
            "code, who, peer, forwarded, action, project, study, study_name, "
            "trial, detail, error) SELECT 1, ?, 1, 0, 200, '', '', '', '', "
            "'', 0, '', '', hex(randomblob(8000)), '' FROM n",
            (mebibytes * 64, int(1000 * time.time())))


def program(name, *words, env=None):
    """hypertuned or hypertune, without a server; what it printed and its code."""
    return subprocess.run(
        [os.path.join(harness.bin_dir(), name)] + list(words),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL, timeout=harness.PATIENCE, encoding="utf-8",
        env={**os.environ, **(env or {})})


def verify(path):
    return program("hypertune", "verify", path)


def restore(copy, data, *more, fail=None):
    return program("hypertune", "restore", copy, "--data", data, *more,
                   env={"HT_FAIL": fail} if fail else None)


def make(server, *more):
    """The path of a new backup."""
    return server.cli("backup", *more).stdout.strip()


def report_by_token(server, attempt, number, value):
    """What a trainer itself would send to the report address: the answer."""
    host, port = server.report.split("//")[1].rsplit(":", 1)
    body = json.dumps({
        "v": 1, "type": "report", "token": attempt.said["token"],
        "replica": "master-0", "records": [
            {"w": "00000000000000bb", "n": number, "t": 1000 * number,
             "s": number, "m": {"accuracy": value}}]}).encode()
    with socket.create_connection((host, int(port)),
                                  timeout=harness.PATIENCE) as sock:
        sock.sendall(fake_runner.HELLO)
        fake_runner.receive(sock, len(fake_runner.HELLO))
        sock.sendall(struct.pack(">QI", len(body) + 4, 0x80000001) + body)
        size, = struct.unpack(">Q", fake_runner.receive(sock, 8))
        return json.loads(fake_runner.receive(sock, size)[4:].decode())
