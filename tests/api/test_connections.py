"""Connections: how many an address and a principal may have, and who ends."""

import socket

import api
import fake_runner
import harness
import tap

HALF_OPEN = 16
CONNECTIONS = 8
PIPES = 8
JSON = "Content-Type: application/json"

server = None


def connect(address="127.0.0.1"):
    return socket.create_connection(api.address(server), harness.PATIENCE,
                                    (address, 0))


def wait_ended(socks, n):
    harness.wait_until(lambda: sum(map(api.is_ended, socks)) >= n,
                       "the end of %d connections" % n)


def metric(mark):
    lines = api.ask(server, "GET", "/metrics").body.decode().splitlines()
    return [float(line[len(mark) + 1:]) for line in lines
            if line.startswith(mark + " ")][0]


def count(name):
    return metric('hypertune_budget_exceeded_total{budget="%s"}' % name)


def a_runner_that_has_gone_gets_no_work():
    def held():
        return metric('hypertune_requests_open{lane="core"}')
    before = held()
    with fake_runner.Runner(server, name="gone") as gone:
        gone.send("lease", free=1, gpus=0)
        harness.wait_until(lambda: held() > before, "the poll")
    harness.wait_until(lambda: held() == before, "the end of the poll")
    server.submit({"spec": 1, "name": "polls", "goal": "maximize accuracy",
                   "parameters": {"x": [1]}, "trials": 1,
                   "algorithm": "grid", "command": ["true"]})
    with fake_runner.Runner(server, name="here") as here:
        here.one().succeed(1.0)
    tap.equal(server.wait_study("polls")["state"], "SUCCEEDED")


def silent_ones_at_the_other_addresses_end():
    for url in (server.control, server.report):
        before = count("pipes")
        host, port = url.split("//")[1].rsplit(":", 1)
        with fake_runner.Runner(server, name="early") as early:
            silent = [socket.create_connection((host, int(port)),
                                               harness.PATIENCE)
                      for _ in range(5 * PIPES)]
            for sock in silent:
                sock.sendall(fake_runner.HELLO)
            wait_ended(silent, 4 * PIPES)
            tap.true(count("pipes") >= before + 4 * PIPES, "counted")
            early.tell("heartbeat", attempts=[])
            with fake_runner.Runner(server, name="late") as late:
                late.tell("heartbeat", attempts=[])
        for sock in silent:
            sock.close()


def silent_ones_shut_nobody_out():
    before = count("half-open")
    silent = [connect() for _ in range(10 * HALF_OPEN)]
    tap.equal(api.ask(server, "GET", "/healthz", auth=False).status, 200)
    wait_ended(silent, 9 * HALF_OPEN)
    # Those that ended are the oldest ones.
    tap.equal([api.is_ended(sock) for sock in silent[-HALF_OPEN // 2:]],
              [False] * (HALF_OPEN // 2))
    tap.true(count("half-open") >= before + 9 * HALF_OPEN, "counted")
    for sock in silent:
        sock.close()


def one_address_leaves_the_other_alone():
    other = connect("127.0.0.2")
    silent = [connect("127.0.0.3") for _ in range(3 * HALF_OPEN)]
    wait_ended(silent, 2 * HALF_OPEN)
    tap.equal(api.is_ended(other), False)
    other.sendall(api.head(server, "GET", "/healthz", auth=False))
    tap.equal(api.read_answer(other).status, 200)
    for sock in silent + [other]:
        sock.close()


def slow_heads_count_as_silent():
    slow = [connect("127.0.0.4") for _ in range(3 * HALF_OPEN)]
    for sock in slow:
        try:
            sock.sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: a")
        except ConnectionError:
            pass  # it has ended already
    wait_ended(slow, 2 * HALF_OPEN)
    for sock in slow:
        sock.close()


def who_has_sent_a_token_keeps_the_connection():
    kept = connect("127.0.0.5")
    kept.sendall(api.head(server, "GET", api.JOBS))
    tap.equal(api.read_answer(kept).status, 200)
    silent = [connect("127.0.0.5") for _ in range(3 * HALF_OPEN)]
    wait_ended(silent, 2 * HALF_OPEN)
    kept.sendall(api.head(server, "GET", api.JOBS))
    tap.equal(api.read_answer(kept).status, 200)
    for sock in silent + [kept]:
        sock.close()


def of_a_principal_the_oldest_idle_one_ends():
    kept = []
    for _ in range(CONNECTIONS + 3):
        sock = connect()
        sock.sendall(api.head(server, "GET", api.JOBS))
        tap.equal(api.read_answer(sock).status, 200)
        kept.append(sock)
    wait_ended(kept, 3)
    tap.equal([api.is_ended(sock) for sock in kept],
              [True] * 3 + [False] * CONNECTIONS)
    for sock in kept:
        sock.close()


def bodies_to_come():
    """Connections of one principal, all in use."""
    busy = []
    for _ in range(CONNECTIONS):
        sock = connect()
        sock.sendall(api.head(server, "POST", api.JOBS, JSON,
                              "Content-Length: 1000", "Expect: 100-continue"))
        tap.starts(sock.recv(100), b"HTTP/1.1 100")
        busy.append(sock)
    return busy


def none_in_use_ends_and_a_new_request_is_refused():
    busy = bodies_to_come()
    answer = api.ask(server, "GET", api.JOBS)
    tap.equal((answer.status, answer.headers["retry-after"],
               answer.headers["connection"].lower()), (429, "1", "close"))
    tap.equal([api.is_ended(sock) for sock in busy], [False] * CONNECTIONS)
    tap.equal(api.ask(server, "GET", "/healthz", auth=False).status, 200)
    for sock in busy:
        sock.close()
    harness.wait_until(lambda: api.ask(server, "GET", api.JOBS).status == 200,
                       "room for a request")


def bytes_of_bodies_that_do_not_come_to_an_end_are_bounded():
    part = b" " * 400000
    socks = []
    for _ in range(4):
        sock = connect()
        sock.sendall(api.head(server, "POST", api.JOBS, JSON,
                              "Content-Length: %d" % (len(part) + 2)))
        sock.sendall(part)
        socks.append(sock)
    harness.wait_until(lambda: count("body-bytes") > 0, "a body beyond them")
    statuses = []
    for sock in socks:
        sock.sendall(b"{}")
        statuses.append(api.read_answer(sock).status)
        sock.close()
    tap.equal(sorted(statuses)[-1], 429)


def a_client_that_closes_its_own_half_gets_its_answer():
    for version in (b"HTTP/1.0", b"HTTP/1.1"):
        with connect() as sock:
            sock.sendall(api.head(server, "GET", "/healthz").replace(
                b"HTTP/1.1", version))
            sock.shutdown(socket.SHUT_WR)
            answer = api.read_answer(sock)
            tap.equal(answer and answer.status, 200, version)


def refused_requests_are_logged_without_secrets():
    api.ask(server, "GET", api.JOBS + "?token=hidden", auth="not-the-token")
    line = harness.wait_until(
        lambda: [line for line in server.log_text().splitlines()
                 if "http.refused" in line and "status=401" in line],
        "the line of the log")[-1]
    for part in ('method="GET"', 'path="%s"' % api.JOBS, "peer=127.0.0.1"):
        if part not in line:
            raise AssertionError(line)
    for secret in ("hidden", "not-the-token"):
        if secret in line:
            raise AssertionError(line)


with harness.Server("--runner", "none", "--budget",
                    "half-open=%d,connections=%d,body-bytes=%d,pipes=%d" %
                    (HALF_OPEN, CONNECTIONS, 1 << 20, PIPES)) as server:
    tap.run([
        a_runner_that_has_gone_gets_no_work,
        silent_ones_at_the_other_addresses_end,
        silent_ones_shut_nobody_out,
        one_address_leaves_the_other_alone,
        slow_heads_count_as_silent,
        who_has_sent_a_token_keeps_the_connection,
        of_a_principal_the_oldest_idle_one_ends,
        none_in_use_ends_and_a_new_request_is_refused,
        bytes_of_bodies_that_do_not_come_to_an_end_are_bounded,
        a_client_that_closes_its_own_half_gets_its_answer,
        refused_requests_are_logged_without_secrets,
    ])
