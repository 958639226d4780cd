"""What is kept of a log is bounded, belongs to an attempt that lives, and goes
with its study."""

import os
import sqlite3

import api
import fake_runner
import harness
import tap

KEPT = 200000  # bytes of a stream
LINE = "%07d " + "x" * 91 + "\n"  # 100 bytes


def stored(server):
    base = sqlite3.connect("file:%s?mode=ro" % os.path.join(
        server.data, "logs.db"), uri=True)
    try:
        return base.execute("SELECT coalesce(sum(length(data)), 0), "
                            "count(*) FROM chunk").fetchone()
    finally:
        base.close()


def printing(server, runner, lines):
    api.send(server, "POST", api.JOBS, api.job("s", maxTrialCount=2))
    attempt = runner.one().started()
    for at in range(0, lines, 100):
        attempt.say("".join(LINE % n for n in range(at, at + 100)))
    return attempt


def serve():
    return harness.Server("--runner", "none", "--budget",
                          "log-bytes=%d" % KEPT)


def a_long_log_keeps_its_beginning_and_its_end():
    with serve() as server, fake_runner.Runner(server) as runner:
        attempt = printing(server, runner, 10000)
        size, chunks = stored(server)
        tap.true(KEPT / 2 < size <= KEPT, size)
        shown = server.cli("logs", "s/1")
        lines = shown.stdout.splitlines()
        tap.equal((lines[0][:7], lines[-1][:7]), ("0000000", "0009999"))
        tap.equal((shown.stdout + shown.stderr).count("were not kept"), 1)
        tap.contains("[%d bytes were not kept]" % (10000 * 100 - size),
                     shown.stdout + shown.stderr)
        mark = 'hypertune_budget_exceeded_total{budget="log-bytes"} '
        tap.contains(mark + str(100 - chunks),
                     api.ask(server, "GET", "/metrics").body.decode())
        attempt.ended("succeeded", exit=0)
        server.cli("stop", "s")
        server.cli("delete", "s", "--yes")
        harness.wait_until(lambda: stored(server) == (0, 0), "removal")


def refusal(runner, of, **changes):
    """Why the log message is refused; "" when it is not."""
    try:
        runner.tell("log", **dict(
            {"replica": "master-0", "stream": "stderr", "offset": 7,
             "data": "forged\n", "bytes": 7}, **dict(of.name, **changes)))
        return ""
    except AssertionError as refused:
        return str(refused)


def only_the_runner_of_a_living_attempt_writes_into_its_log():
    with serve() as server, fake_runner.Runner(server) as runner:
        attempt = printing(server, runner, 100)
        before = stored(server)
        with fake_runner.Runner(server, name="other") as other:
            tap.contains("gone", refusal(other, attempt))
        for changes in ({"attempt": 2}, {"attempt": 0}, {"trial": 2},
                        {"study": 99}, {"replica": "worker-7"},
                        {"replica": "../master-0"}):
            tap.true(refusal(runner, attempt, **changes), changes)
        tap.equal(refusal(runner, attempt), "")
        tap.equal(stored(server)[1], before[1] + 1)
        attempt.ended("succeeded", exit=0)
        tap.contains("gone", refusal(runner, attempt, offset=70))
        tap.equal(stored(server)[1], before[1] + 1)


tap.run([a_long_log_keeps_its_beginning_and_its_end,
         only_the_runner_of_a_living_attempt_writes_into_its_log])
