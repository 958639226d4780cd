"""HTTP itself: methods, framing, limits, deadlines, bad clients."""

import http.client
import json
import socket
import time

import api
import harness
import tap

JSON = "Content-Type: application/json"
MIB = 1024 * 1024

server = None
garbled = []  # connections that were sent garbage


def head_is_get_without_a_body():
    for path in ("/healthz", api.JOBS, "/nothing"):
        get = api.ask(server, "GET", path)
        with api.connect(server) as sock:
            sock.sendall(api.head(server, "HEAD", path))
            head = api.read_answer(sock, bodiless=True)
            tap.equal((head.status, head.headers["content-length"]),
                      (get.status, get.headers["content-length"]), path)
            # The connection continues, so no byte of a body was sent.
            sock.sendall(api.head(server, "GET", "/healthz"))
            tap.equal(api.read_answer(sock).json(), {"status": "ok"})


def other_methods_learn_what_is_possible():
    for method, path, allow in (
            ("OPTIONS", api.JOBS, "POST, GET, HEAD"),
            ("PUT", api.JOBS + "/1", "GET, HEAD, DELETE"),
            ("BREW", "/healthz", "GET, HEAD"),
            ("get", "/healthz", "GET, HEAD"),
            ("GET", api.JOBS + "/1:cancel", "POST")):
        answer = api.ask(server, method, path)
        tap.equal((answer.status, answer.headers["allow"],
                   answer.error()["status"]),
                  (405, allow, "UNIMPLEMENTED"), method)


def headers_are_limited():
    fits = "X-Pad: " + "a" * 7000
    tap.equal(api.ask(server, "GET", "/healthz", fits).status, 200)
    long = api.ask(server, "GET", "/healthz", "X-Pad: " + "a" * 8192)
    tap.equal((long.status, long.error()["code"]), (431, 431))
    many = ["X-%d: a" % i for i in range(1000)]
    tap.equal(api.ask(server, "GET", "/healthz", *many).status, 431)
    huge = api.ask(server, "GET", "/healthz", "X-Pad: " + "a" * 100000)
    if huge is not None:
        tap.equal(huge.status, 431)
    uri = api.ask(server, "GET", "/healthz?x=" + "a" * 100000)
    if uri is not None:
        tap.contains(uri.status, (414, 431))


def bodies_are_limited_to_a_mebibyte():
    pad = json.dumps({"a": "x" * (MIB - len('{"a": ""}'))}).encode()
    tap.equal(len(pad), MIB)
    tap.equal(api.send(server, "POST", api.JOBS, pad).status, 400)
    # From the announced length alone, before any byte of the body: who waits
    # for a go-ahead, or announces what no one reads to its end.
    for lines in (("Expect: 100-continue", "Content-Length: %d" % (MIB + 1)),
                  ("Content-Length: %d" % (16 * MIB + 1),),
                  ("Content-Length: 99999999999999",)):
        with api.connect(server) as sock:
            sock.sendall(api.head(server, "POST", api.JOBS, JSON, *lines))
            answer = api.read_answer(sock)
            tap.equal((answer.status, answer.error()["message"]),
                      (413, "the body is over 1048576 bytes"), lines)
            tap.equal(api.read_answer(sock), None, lines)


def a_refusal_is_there_for_who_reads_nothing_before_all_is_written():
    """As http.client does, and so google-auth and hypertune's own client."""
    body = b"x" * (15 * MIB)  # more than the buffers between us hold
    for path, token, status in (
            (api.JOBS, api.token(server), 413), (api.JOBS, "wrong", 401),
            ("/nothing", api.token(server), 404),
            (api.JOBS + "/1:pause", api.token(server), 404)):
        client = http.client.HTTPConnection(
            *api.address(server), timeout=harness.PATIENCE)
        client.request("POST", path, body, {
            "Content-Type": "application/json",
            "Authorization": "Bearer " + token})
        answer = client.getresponse()
        tap.equal((answer.status, json.load(answer)["error"]["code"]),
                  (status, status), path)
        client.close()


def a_body_that_does_not_end_is_cut():
    part = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with api.connect(server) as sock:
        sock.sendall(api.head(server, "POST", api.JOBS, JSON,
                              "Transfer-Encoding: chunked"))
        try:
            for _ in range(1024):  # 64 MiB: more than is read and buffered
                sock.sendall(part)
        except ConnectionError:
            return
    raise AssertionError("all of it was taken")


def chunked(body, size):
    out = b""
    for at in range(0, len(body), size):
        part = body[at:at + size]
        out += b"%x\r\n%s\r\n" % (len(part), part)
    return out + b"0\r\n\r\n"


def chunked_bodies_are_read_and_limited():
    head = api.head(server, "POST", api.JOBS, JSON,
                    "Transfer-Encoding: chunked")
    body = json.dumps(api.job("chunked")).encode()
    answer = api.exchange(server, head + chunked(body, 7))
    tap.equal((answer.status, answer.json()["displayName"]), (200, "chunked"))
    long = json.dumps({"a": "x" * MIB}).encode()
    tap.equal(api.exchange(server, head + chunked(long, 65536)).status, 413)


def ambiguous_framing_is_refused_and_ends_the_connection():
    smuggled = api.head(server, "GET", "/healthz")
    for lines in (("Content-Length: 5", "Transfer-Encoding: chunked"),
                  ("Content-Length: 5", "Content-Length: 6"),
                  ("Transfer-Encoding: gzip, chunked",),
                  ("Transfer-Encoding: chunked", "Transfer-Encoding: x"),
                  ("Content-Length: -5",), ("Content-Length: 5x",)):
        with api.connect(server) as sock:
            sock.sendall(api.head(server, "POST", api.JOBS, JSON, *lines) +
                         b"0\r\n\r\n" + smuggled)
            tap.contains(api.read_answer(sock).status, (400, 413), lines)
            tap.equal(api.read_answer(sock), None, lines)


def raw(lines, body=b""):
    """A POST whose head has these lines as they are."""
    return (b"POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"
            b"%s\r\n\r\n%s" % (
                api.JOBS.encode(), server.http.split("//")[1].encode(),
                api.token(server).encode(), lines, body))


def a_head_against_the_grammar_ends_the_connection():
    """None of them lets the next request through, which is in its body."""
    inner = api.head(server, "GET", "/healthz")
    length = b"%d" % len(inner)
    for lines in (b"Content-Length : " + length,
                  b"Content-Length\t: " + length,
                  b"X-A: a\x00b", b"X-A: a\rb", b"X-A: a\x1bb", b": a",
                  b" X-A: a", b"X A: a", b"X-A: a\r\n b", b"X-A: a\nX-B: b",
                  b"Origin: http://a\r\nOrigin: http://b",
                  b"Authorization: Bearer x", b"Host: x",
                  b"Content-Type: application/json\r\nContent-Type: text/a",
                  b"Transfer-Encoding: identity",
                  b"Content-Length: +2", b"Content-Length: 2, 2",
                  b"Content-Length:", b"Content-Length: 2x"):
        with api.connect(server) as sock:
            sock.sendall(raw(lines, inner))
            data = b""
            try:
                while True:
                    part = sock.recv(65536)
                    if not part:
                        break
                    data += part
            except ConnectionResetError:
                pass  # it had not read all of it
            tap.starts(data, b"HTTP/1.1 400", lines)
            tap.equal(data.count(b"HTTP/1.1 200"), 0, lines)


def a_request_line_is_taken_by_the_letter():
    place = server.http.split("//")[1]
    for target, version, status in (
            ("http://%s/healthz" % place, "1.1", 200),
            ("HTTP://%s/healthz?a=b" % place, "1.0", 200),
            ("http://other/healthz", "1.1", 400), ("healthz", "1.1", 400),
            ("*", "1.1", 400), ("ftp://%s/healthz" % place, "1.1", 400),
            ("/healthz#a", "1.1", 400), ("/health z", "1.1", 400),
            ("/h\xe4", "1.1", 400), (" /healthz", "1.1", 400),
            ("/healthz", "1.2", 400), ("/healthz", "2.0", 505)):
        answer = api.exchange(server, (
            "GET %s HTTP/%s\r\nHost: %s\r\n\r\n" %
            (target, version, place)).encode("latin-1"))
        tap.equal(answer.status, status, target)
    tap.equal(api.ask(server, "G(T", "/healthz").status, 400)


def what_is_not_json_is_refused_with_its_place():
    for body in (b"", b"{", b"{}{}", b'{"a":1,"a":2}', b"{'a':1}", b"\xff",
                 b"[1,]", b'{"a":01}', b"NaN", b'"\\u0000"',
                 b"[" * 65 + b"]" * 65):
        answer = api.send(server, "POST", api.JOBS, body)
        tap.equal((answer.status, answer.error()["status"]),
                  (400, "INVALID_ARGUMENT"), body)
    deep = api.send(server, "POST", api.JOBS, b"[" * 100000)
    tap.equal(deep.status, 400)
    place = api.send(server, "POST", api.JOBS, b'{"a":1,\n  "a":2}')
    if "2:3" not in place.error()["message"]:
        raise AssertionError(place.error())


def requests_may_follow_each_other_on_one_connection():
    with api.connect(server) as sock:
        one = api.head(server, "GET", "/healthz")
        sock.sendall(one * 20)
        data = b""
        while data.count(b'{"status":"ok"}') < 20:
            data += sock.recv(65536)
        for path, status in ((api.JOBS, 200), ("/nothing", 404)) * 5:
            sock.sendall(api.head(server, "GET", path))
            tap.equal(api.read_answer(sock).status, status, path)


def a_client_that_expects_a_go_ahead_gets_it():
    body = json.dumps(api.job("expecting")).encode()
    with api.connect(server) as sock:
        sock.sendall(api.head(server, "POST", api.JOBS, JSON,
                              "Expect: 100-continue",
                              "Content-Length: %d" % len(body)))
        tap.starts(sock.recv(100), b"HTTP/1.1 100")
        sock.sendall(body)
        tap.equal(api.read_answer(sock).status, 200)


def paths_and_queries_are_decoded_once():
    tap.equal(api.ask(server, "GET", "/healthz%20").status, 404)
    tap.equal(api.ask(server, "GET", api.JOBS + "/%zz").status, 400)
    tap.equal(api.ask(server, "GET", api.JOBS + "/a%2Fb").error()["status"],
              "NOT_FOUND")
    tap.equal(api.ask(server, "GET", api.JOBS + "?filter=%ff").status, 400)
    tap.equal(api.ask(server, "GET", api.JOBS + "?filter=displayName%3D%22"
                      "chunked%22").json()["hyperparameterTuningJobs"][0]
              ["displayName"], "chunked")


def garbage_ends_only_its_own_connection():
    for garbage in (b"\x16\x03\x01\x02\x00\x01", b"\0" * 100, b"GET\r\n\r\n",
                    b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 50,
                    b"A" * 100000):
        sock = api.connect(server)
        garbled.append(sock)
        try:
            sock.sendall(garbage)
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it may be closed before all was sent
        tap.equal(api.ask(server, "GET", "/healthz").status, 200)


def slow_headers_end_after_ten_seconds_and_delay_no_other():
    """One byte a second is activity, so only a deadline ends it."""
    begin = time.monotonic()
    slow = [api.connect(server) for _ in range(50)]
    for sock in slow:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
    dripping = slow[0]
    dripping.settimeout(0.5)
    ended = None
    while ended is None and time.monotonic() - begin < harness.PATIENCE:
        tap.equal(api.ask(server, "GET", "/healthz").status, 200)
        try:
            dripping.sendall(b"a")
            if dripping.recv(100) == b"":
                ended = time.monotonic() - begin
        except socket.timeout:
            pass
        except ConnectionError:
            ended = time.monotonic() - begin
    if ended is None or ended < 9:
        raise AssertionError("ended after %s s" % ended)
    for sock in slow[1:]:
        tap.equal(sock.recv(100), b"")
    for sock in slow:
        sock.close()


def connections_with_garbage_end_too():
    """Last, for some end with the same deadline."""
    for sock in garbled:
        try:
            while sock.recv(65536):
                pass
        except ConnectionError:
            pass
        sock.close()


with harness.Server("--runner", "none") as server:
    tap.run([
        head_is_get_without_a_body,
        other_methods_learn_what_is_possible,
        headers_are_limited,
        bodies_are_limited_to_a_mebibyte,
        a_refusal_is_there_for_who_reads_nothing_before_all_is_written,
        a_body_that_does_not_end_is_cut,
        chunked_bodies_are_read_and_limited,
        ambiguous_framing_is_refused_and_ends_the_connection,
        a_head_against_the_grammar_ends_the_connection,
        a_request_line_is_taken_by_the_letter,
        what_is_not_json_is_refused_with_its_place,
        requests_may_follow_each_other_on_one_connection,
        a_client_that_expects_a_go_ahead_gets_it,
        paths_and_queries_are_decoded_once,
        garbage_ends_only_its_own_connection,
        slow_headers_end_after_ten_seconds_and_delay_no_other,
        connections_with_garbage_end_too,
    ])
