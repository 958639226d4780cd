"""Off loopback the heads of plain HTTP are checked as raw bytes, too: what the
HTTP library would repair is refused, with one answer and a line of the log."""

import json
import socket

import api
import harness
import tap

JSON = "Content-Type: application/json"
SECRET = "not-for-the-log"

server = None


def server_of_the_network(*options):
    """Not on loopback alone; clients of this machine reach it there."""
    made = harness.Server(*options)
    made.options += ["--listen", "0.0.0.0:" + made.http.rsplit(":", 1)[1]]
    return made


def answers(data, source="127.0.0.1"):
    """All that comes until the server ends the connection."""
    got = b""
    with socket.create_connection(api.address(server), harness.PATIENCE,
                                  (source, 0)) as sock:
        sock.sendall(data)
        try:
            while True:
                part = sock.recv(65536)
                if not part:
                    return got
                got += part
        except ConnectionResetError:
            return got  # it had not read all of it


def a_post(lines, body, end=b"\r\n"):
    return end.join([b"POST %s HTTP/1.1" % api.JOBS.encode(),
                     b"Host: " + server.http.split("//")[1].encode(),
                     b"Authorization: Bearer " + api.token(server).encode(),
                     *lines, b"", body])


def clients_are_served_in_every_form():
    job = json.dumps(api.job("whole")).encode()
    tap.equal(api.ask(server, "GET", "/healthz").status, 200)
    with api.connect(server) as sock:
        for _ in range(2):
            sock.sendall(api.head(server, "GET", "/healthz"))
            tap.equal(api.read_answer(sock).json(), {"status": "ok"})
        sock.sendall(api.head(server, "POST", api.JOBS, JSON,
                              "Transfer-Encoding: chunked") +
                     b"%x\r\n%s\r\n0\r\n\r\n" % (len(job), job))
        tap.equal(api.read_answer(sock).status, 200)


def what_two_servers_could_read_differently_gets_one_refusal():
    inner = api.head(server, "GET", "/healthz")
    length = b"%d" % len(inner)
    for lines, end in (([b"Content-Length : " + length], b"\r\n"),
                       ([b"Content-Length: " + length], b"\n"),
                       ([b"X: a", b" Content-Length: " + length], b"\r\n"),
                       ([b"X: a\0b"], b"\r\n"), ([b"X: a\rY: b"], b"\r\n"),
                       ([b": a"], b"\r\n"),
                       ([b"Content-Length: 2, 2"], b"\r\n"),
                       ([b"Content-Length: +2"], b"\r\n"),
                       ([b"Content-Length: 2", b"Content-Length: 2"], b"\r\n"),
                       ([b"Transfer-Encoding: chunked",
                         b"Content-Length: 3"], b"\r\n")):
        got = answers(a_post(lines, inner, end))
        tap.starts(got, b"HTTP/1.1 400 ", lines)
        tap.equal(got.count(b"HTTP/1.1 "), 1, lines)


def a_refused_head_is_logged_with_its_sender_and_without_its_bytes():
    answers(b"GET / HTTP/1.1\r\nAuthorization : Bearer " + SECRET.encode() +
            b"\r\n\r\n", "127.0.0.7")
    lines = [line for line in server.log_text().splitlines()
             if "peer=127.0.0.7" in line]
    tap.equal(len(lines), 1)
    tap.contains("http.refused status=400", lines[0])
    tap.contains("the name of a field is no token", lines[0])
    tap.lacks(SECRET, server.log_text())


def a_refusal_for_want_of_a_token_has_the_address_that_asked():
    head = b"GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (
        api.JOBS.encode(), server.http.split("//")[1].encode())
    tap.starts(answers(head, "127.0.0.9"), b"HTTP/1.1 401 ")
    # Lines of refusals are committed with what comes next.
    harness.wait_until(lambda: "127.0.0.9" in [
        line["address"] for line in
        api.ask(server, "GET", api.OURS + "/audit").json()["lines"]],
        "the address in the audit log")


with server_of_the_network("--insecure", "--budget",
                           "refused-lines=1000") as server:
    tap.run([
        clients_are_served_in_every_form,
        what_two_servers_could_read_differently_gets_one_refusal,
        a_refused_head_is_logged_with_its_sender_and_without_its_bytes,
        a_refusal_for_want_of_a_token_has_the_address_that_asked,
    ])
