"""Many trials and many connections: answers stay quick, memory small."""

import os
import resource
import socket
import time

import api
import harness
import pages
import tap

TRIALS = 12000
JOB = api.JOBS + "/many"
IDLE, HALF_OPEN = 1000, 200
SUCCEEDED = 4  # tuner/db/rows.h

server = None


def fill(path):
    """Ended trials as the core would have written them, straight into the
    file, since so many real ones would take a while."""
    with pages.changing(path) as db:
        first, revision = db.execute(
            "SELECT next_trial, revision FROM studies").fetchone()
        for i in range(first, TRIALS + 1):
            value = 0.1 + 0.9 * i / TRIALS
            metrics = '{"accuracy":%r}' % value
            db.execute(
                "INSERT INTO trials(study, id, state, params, ordinal,"
                " attempt, objective, final_step, final_metrics, reason,"
                " revision, created_ms, started_ms, ended_ms)"
                " VALUES(1,?,?,?,?,1,?,20,?,'',?,1,2,3)",
                (i, SUCCEEDED, '{"lr":%r}' % value, i - 1, value, metrics,
                 revision))
            db.execute(
                "INSERT INTO attempts(study, trial, n, state, outcome, runner,"
                " boot, lease_id, token_hash, winner, created_ms)"
                " VALUES(1,?,1,3,1,'r','b',0,?,1,1)", (i, os.urandom(32)))
        db.execute("UPDATE studies SET next_trial=?", (TRIALS + 1,))
        db.execute("INSERT OR REPLACE INTO trial_counts(study, state, n)"
                   " VALUES(1,?,?)",
                   (SUCCEEDED, TRIALS + 1 - first))
    db.close()


def memory(kind):
    """KiB; kind is VmRSS or VmHWM (the most there ever was)."""
    status = harness.read_proc(server.process.pid, "status").decode()
    line, = [line for line in status.splitlines() if line.startswith(kind)]
    return int(line.split()[1])


def a_whole_job_comes_in_pieces_and_takes_little_memory():
    api.ask(server, "GET", api.STUDIES + "/many/trials?pageSize=1000")
    before = memory("VmHWM")
    answer = api.ask(server, "GET", JOB)
    tap.equal(answer.headers.get("transfer-encoding"), "chunked")
    job = answer.json()
    tap.equal([trial["id"] for trial in job["trials"]],
              [str(i) for i in range(1, TRIALS + 1)])
    basic = api.ask(server, "GET", JOB + "?view=BASIC").json()
    del job["trials"]
    tap.equal(job, basic)
    if not harness.is_sanitized():
        tap.true(memory("VmHWM") - before < 4096,
                 (before, memory("VmHWM"), len(answer.body)))


def heads_of_unknown_length_have_no_body():
    for path in (JOB, api.OURS + "/events"):
        with api.connect(server) as sock:
            sock.sendall(api.head(server, "HEAD", path,
                                  "Accept: text/event-stream"))
            data = b""
            while True:
                more = sock.recv(65536)  # it closes
                if not more:
                    break
                data += more
        tap.starts(data, b"HTTP/1.1 200 OK\r\n")
        tap.equal(data.partition(b"\r\n\r\n")[2], b"", path)


def a_long_answer_keeps_no_memory():
    def ask_often():
        for _ in range(10):
            api.ask(server, "GET", api.STUDIES + "/many/trials?pageSize=1000")
            api.ask(server, "GET", JOB)

    ask_often()  # each reader has its page cache once
    before = memory("VmRSS")
    ask_often()
    if not harness.is_sanitized():
        tap.true(memory("VmRSS") - before < 2048, (before, memory("VmRSS")))


def best():
    """Asks for it; the seconds that it took."""
    begin = time.monotonic()
    answer = api.ask(server, "GET", api.OURS + "/studies/many/best")
    took = time.monotonic() - begin
    tap.equal(answer.json()["id"], str(TRIALS))
    return took


def the_best_of_many_is_found_at_once():
    # Other work may delay some answers, but not for ever.
    harness.wait_until(lambda: best() < 0.03, "an answer at once")


def connect_narrow():
    """A client whose kernel takes little, so that the server has to wait."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(harness.PATIENCE)
    sock.connect(api.address(server))
    return sock


def a_client_that_does_not_read_delays_no_other_and_no_stop():
    slow = [connect_narrow() for _ in range(4)]
    for sock in slow:
        sock.sendall(api.head(server, "GET", JOB))
    best()
    begin = time.monotonic()
    tap.equal(server.stop(), 0)
    tap.true(time.monotonic() - begin < 30)  # a call may take 60
    for sock in slow:
        sock.close()
    server.start()


def a_study_deleted_while_it_is_sent_cuts_the_answer():
    with connect_narrow() as sock:
        sock.sendall(api.head(server, "GET", JOB, "Connection: close"))
        sock.recv(1)  # the first piece is on its way
        server.call("POST", JOB + ":cancel")
        harness.wait_until(
            lambda: server.study("many")["state"] == "CANCELLED", "its end")
        tap.equal(server.call("DELETE", JOB)[0], 200)
        data = b""
        while True:
            more = sock.recv(65536)
            if not more:
                break
            data += more
    tap.true(not data.endswith(b"0\r\n\r\n"), len(data))
    tap.equal(server.get("/healthz"), {"status": "ok"})


def silent_connections_delay_no_other():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = IDLE + HALF_OPEN + 100
    if soft < wanted:
        if hard != resource.RLIM_INFINITY and hard < wanted:
            raise tap.Skip("needs %d descriptors" % wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    quiet = []
    for i in range(IDLE + HALF_OPEN):
        sock = api.connect(server)
        sock.sendall(b"GET /healthz HTT" if i >= IDLE else
                     api.head(server, "GET", api.OURS + "/session"))
        quiet.append(sock)
    for sock in quiet[:IDLE]:
        tap.equal(api.read_answer(sock).status, 200)

    def is_quick():
        begin = time.monotonic()
        server.get("/healthz")
        return time.monotonic() - begin < 0.1
    harness.wait_until(is_quick, "a quick answer")
    ended = [sock for sock in quiet[:IDLE] if api.is_ended(sock)]
    tap.equal(len(ended), 0, "ended of those with a token")
    for sock in quiet:
        sock.close()


with harness.Server("--runner", "none", "--budget",
                    "half-open=400,connections=2000") as server:
    server.call("POST", api.JOBS, api.job("many", maxTrialCount=100000))
    server.call("POST", api.OURS + "/studies/many:pause", {})
    server.stop()
    fill(os.path.join(server.data, "hypertune.db"))
    server.start()
    tap.run([
        a_whole_job_comes_in_pieces_and_takes_little_memory,
        heads_of_unknown_length_have_no_body,
        a_long_answer_keeps_no_memory,
        the_best_of_many_is_found_at_once,
        a_client_that_does_not_read_delays_no_other_and_no_stop,
        a_study_deleted_while_it_is_sent_cuts_the_answer,
        silent_connections_delay_no_other,
    ])
