"""People whom a declared proxy names by a header, and everyone else who sends
that header."""

import os
import subprocess

import api
import harness
import tap

PROXY, OTHER = "127.0.0.2", "127.0.0.1"
NAME = "https://tuner.test"
HEADER = "X-Forwarded-User: "
COME = ("X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https")
STUDIES = api.OURS + "/studies"
server = None


def ask(method, path, *lines, source=PROXY, auth=False, body=None):
    if body is not None:
        lines += ("Content-Type: application/json",
                  "Content-Length: %d" % len(body))
    with api.connect(server, source) as sock:
        sock.sendall(api.head(server, method, path, *lines, auth=auth,
                              host=NAME.split("//")[1]) + (body or b""))
        return api.read_answer(sock)


def proxied(method, path, *lines, **more):
    return ask(method, path, *COME, *lines, **more)


def named(name, method, path, *lines, **more):
    return proxied(method, path, HEADER + name, *lines, **more)


def a_person_has_the_role_of_people():
    session = named("eve@lab.example", "GET", api.OURS + "/session").json()
    tap.equal((session["name"], session["roles"], session["auth"]),
              ("user eve@lab.example", ["submit", "read"], "proxy"))
    tap.equal(named("eve", "GET", STUDIES).status, 200)
    tap.equal(named("eve", "GET", api.OURS + "/tokens").status, 403)
    tap.equal(named("eve", "POST", api.OURS + "/login-links",
                    "Origin: " + NAME, body=b"{}").status, 400)


def without_the_header_there_is_no_one():
    tap.equal(proxied("GET", STUDIES).status, 401)
    tap.equal(proxied("GET", STUDIES, auth=api.token(server)).status, 200)


def a_token_comes_before_the_person():
    session = named("eve", "GET", api.OURS + "/session",
                    auth=api.token(server)).json()
    tap.equal((session["name"], session["auth"]), ("admin", "token"))
    tap.equal(named("eve", "GET", STUDIES, auth="wrong").status, 401)


def from_others_the_header_is_no_ones_word():
    """Whatever else they send, and the proxy's address for itself too."""
    for lines in ((), COME):
        for source in (OTHER, PROXY):
            if (lines, source) == (COME, PROXY):
                continue
            got = ask("GET", STUDIES, HEADER + "eve", *lines, source=source)
            tap.equal(got.status, 401, (lines, source))
    session = ask("GET", api.OURS + "/session", HEADER + "eve", *COME,
                  source=OTHER, auth=api.token(server)).json()
    tap.equal(session["name"], "admin")


def a_name_that_is_none_is_refused():
    for name in ("", " ", "(null)", "eve adams", "eve\tadams", "\xe9ve",
                 "a" * 129, "eve, bob"):
        got = named(name, "GET", STUDIES)
        tap.equal(got.status, 400, name)
        tap.contains("names a person", got.error()["message"])
    for name in ("eve\x01", "eve\x7f"):
        tap.equal(named(name, "GET", STUDIES).status, 400, name)
    twice = proxied("GET", STUDIES, HEADER + "eve", HEADER.lower() + "bob")
    tap.equal(twice.status, 400)
    tap.equal(named("a" * 128, "GET", STUDIES).status, 200)
    tap.equal(named("", "GET", STUDIES, auth=api.token(server)).status, 400)


def a_change_must_come_from_our_page():
    """The browser's proxy adds the person to requests of any page."""
    body = b'{"displayName": "x"}'
    for lines, code in (((), 403), (("Origin: https://evil.example",), 403),
                        (("Origin: " + NAME,), 400)):
        got = named("eve", "POST", api.JOBS, *lines, body=body)
        tap.equal(got.status, code, lines)


def events_and_the_audit_log_name_the_person():
    job = api.json.dumps(api.job("hers")).encode()
    got = named("eve", "POST", api.JOBS, "Origin: " + NAME, body=job)
    tap.equal(got.status, 200, got.body)
    events = named("eve", "GET", STUDIES + "/hers/events").json()["events"]
    tap.equal(events[0]["actor"], "user eve")
    lines = proxied("GET", api.OURS + "/audit?study=hers",
                    auth=api.token(server)).json()["lines"]
    tap.equal([(line["principal"], line["address"]) for line in lines],
              [("user eve", "192.0.2.7")])


def no_token_can_have_a_persons_name():
    got = proxied("POST", api.OURS + "/tokens", auth=api.token(server),
                  body=b'{"name": "user eve", "role": "read"}')
    tap.equal(got.status, 400)


def people_read_unless_told_otherwise():
    global server
    with harness.Server(*OPTIONS, "--runner", "none") as plain:
        server, kept = plain, server
        try:
            tap.equal(named("eve", "GET", api.OURS + "/session").json()[
                "roles"], ["read"])
            tap.equal(named("eve", "POST", api.JOBS, "Origin: " + NAME,
                            body=b"{}").status, 403)
        finally:
            server = kept


def a_network_has_the_addresses_of_its_bits():
    global server
    kept = server
    with harness.Server("--behind-proxy", "::1/128,127.0.0.8/30", *OPTIONS[2:],
                        "--runner", "none") as server:
        try:
            for source, status in (("127.0.0.7", 401), ("127.0.0.8", 200),
                                   ("127.0.0.11", 200), ("127.0.0.12", 401)):
                tap.equal(named("eve", "GET", STUDIES, source=source).status,
                          status, source)
        finally:
            server = kept
    for wrong in ("10.0.0.0/33", "10.0.0.0/", "::/129", "10.0.0.0/-1"):
        done = subprocess.run(
            (os.path.join(harness.bin_dir(), "hypertuned"), "--data",
             os.path.join(kept.data, "no"), "--public-name", NAME,
             "--listen", "127.0.0.1:0", "--report-listen",
             "tcp://127.0.0.1:0", "--behind-proxy", wrong), stderr=subprocess.PIPE, text=True)
        tap.true(done.returncode != 0, wrong)
        tap.contains("networks such as", done.stderr, wrong)


OPTIONS = ("--behind-proxy", PROXY, "--public-name", NAME,
           "--proxy-user-header", "X-Forwarded-User")
with harness.Server(*OPTIONS, "--proxy-role", "submit", "--runner",
                    "none") as server:
    tap.run([
        a_person_has_the_role_of_people,
        without_the_header_there_is_no_one,
        a_token_comes_before_the_person,
        from_others_the_header_is_no_ones_word,
        a_name_that_is_none_is_refused,
        a_change_must_come_from_our_page,
        events_and_the_audit_log_name_the_person,
        no_token_can_have_a_persons_name,
        people_read_unless_told_otherwise,
        a_network_has_the_addresses_of_its_bits,
    ])
