"""A server with its own certificate: who is served by TLS and who is not, new
keys and certificates, and connections that stay silent or send wrong heads."""

import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile

import harness
import tap
from tls_server import TlsServer

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
WRONG_PIN = "sha256//" + 43 * "A" + "="


server = TlsServer("--runner", "none", "--budget",
                   "handshakes=3,handshakes-all=5")


def cli(*words):
    return subprocess.run(
        [os.path.join(harness.bin_dir(), "hypertune"), "--server",
         server.https, "--token-file", server.token_file, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        stdin=subprocess.DEVNULL, timeout=harness.PATIENCE)


def clients_that_trust_it_are_served_and_others_are_not():
    pin, _ = server.pins()
    for trust, code in ((("--ca", server.ca), 0), (("--pin", pin), 0),
                        ((), 4), (("--pin", WRONG_PIN), 4)):
        done = cli(*trust, "list")
        tap.equal(done.returncode, code, trust)
        assert code == 0 or "no trust" in done.stderr, done.stderr
    script = ("import hypertune; c = hypertune.Client(); "
              "print(len(c.studies()))")
    for trust, code in (({"HYPERTUNE_CA": server.ca}, 0), ({}, 1),
                        ({"HYPERTUNE_PIN": WRONG_PIN}, 1),
                        ({"HYPERTUNE_PIN": pin}, 0)):
        done = subprocess.run(
            ["python3", "-c", script], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8",
            env=dict(os.environ, HYPERTUNE_SERVER=server.https, **trust,
                     HYPERTUNE_TOKEN_FILE=server.token_file,
                     PYTHONPATH=os.path.join(ROOT, "hypertune", "python")))
        tap.equal(done.returncode, code, (trust, done.stderr))


def who_comes_by_tls_gets_addresses_with_tls():
    status, text = server.ask("/hypertune/v1/server")
    tap.equal(status, 200)
    facts = json.loads(text)
    tap.equal(facts["http"], server.https)
    tap.equal(facts["report"], "tls+" + server.report)
    tap.equal(facts["control"], "tls+" + server.control)
    tap.equal(facts["tlsPins"], server.pins()[0])
    plain = server.get("/hypertune/v1/server")
    tap.equal(plain["http"], server.http)
    assert plain["report"].startswith("tcp://127.0.0.1:"), plain
    tap.equal(server.note()["tls"]["pins"], server.pins()[0])
    done = cli("--ca", server.ca, "doctor")
    tap.contains("its certificate ends in", done.stdout)


def a_refused_client_is_named_by_its_own_address():
    with server.connect(source="127.0.0.2") as link:
        link.sendall(b"GET /hypertune/v1/server HTTP/1.1\r\nHost: %s\r\n"
                     b"Authorization: Bearer %s\r\n\r\n" % (
                         server.https[8:].encode(), 64 * b"0"))
        assert link.recv(1000).startswith(b"HTTP/1.1 401 ")
    tap.contains("peer=127.0.0.2", server.log_text())


def receive(link, n):
    data = b""
    while len(data) < n:
        piece = link.recv(n - len(data))
        assert piece, data
        data += piece
    return data


def reports_are_answered_by_tls():
    hello = b"\0SP\0\0\x30\0\0"  # of nanomsg's REQ
    text = b"\x80\0\0\1" + b'{"type":"nothing"}'
    message = len(text).to_bytes(8, "big") + text
    with server.connect(port=server.ports[1].number) as link:
        link.sendall(hello + message)
        tap.equal(receive(link, 8), b"\0SP\0\0\x31\0\0")
        answer = receive(link, int.from_bytes(receive(link, 8), "big"))
        tap.equal(answer[:4], text[:4])
        tap.equal(json.loads(answer[4:])["status"] != "OK", True)


def what_is_no_tls_or_an_old_one_is_refused():
    with socket.create_connection(("127.0.0.1", server.ports[0].number),
                                  harness.PATIENCE) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        tap.lacks(b"HTTP", plain.recv(100))
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname = False
    old.verify_mode = ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    try:
        server.connect(old)
    except (ssl.SSLError, OSError) as error:
        assert "alert" in str(error).lower(), error
    else:
        raise AssertionError("TLS 1.1 is taken")


def a_head_that_two_servers_could_read_differently_is_refused():
    for head in (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
                 b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                 b"Transfer-Encoding: chunked\r\n\r\n",
                 b"GET / HTTP/1.1\nHost: x\n\n"):
        with server.connect() as link:
            link.sendall(head)
            answer = link.recv(1000)
            assert answer.startswith(b"HTTP/1.1 400 "), (head, answer)
            tap.equal(link.recv(1000), b"", head)


def exceeded(budget):
    with server.connect() as link:
        link.sendall(b"GET /metrics HTTP/1.1\r\nHost: %s\r\nAuthorization: "
                     b"Bearer %s\r\nConnection: close\r\n\r\n" % (
                         server.https[8:].encode(), server.token().encode()))
        text = b"".join(iter(lambda: link.recv(65536), b"")).decode()
    return int(re.search(
        r'hypertune_budget_exceeded_total\{budget="%s"\} (\d+)' % budget,
        text).group(1))


def silent_handshakes_end_for_new_ones():
    before = exceeded("handshakes")
    silent = [socket.create_connection(
        ("127.0.0.1", server.ports[0].number), harness.PATIENCE)
        for _ in range(3)]
    tap.equal(exceeded("handshakes") > before, True)
    silent[0].settimeout(harness.PATIENCE)
    tap.equal(silent[0].recv(1), b"")
    for link in silent:
        link.close()


def files_that_do_not_fit_change_nothing_and_others_count_at_once():
    pin, _ = server.pins()
    key = os.path.join(server.tls, "key.pem")
    kept = os.path.join(server.tls, "kept.pem")
    shutil.copy(key, kept)
    with open(key, "w", encoding="ascii") as file:
        file.write("no key\n")
    server.process.send_signal(signal.SIGHUP)
    harness.wait_until(lambda: "tls.not_loaded" in server.log_text(),
                       "the line of the log")
    tap.equal(server.shown_pin(), pin)
    os.replace(kept, key)
    with server.connect() as link:
        serial = link.getpeercert()["serialNumber"]
    server.make("init")
    server.process.send_signal(signal.SIGHUP)

    def has_renewed():
        with server.connect() as link:
            return link.getpeercert()["serialNumber"] != serial
    harness.wait_until(has_renewed, "the new certificate")
    tap.equal(server.shown_pin(), pin)


def the_next_key_is_announced_before_it_is_used():
    pin, after = server.pins()
    tap.equal(after, None)
    server.make("rotate")
    shown = json.loads(server.make("show", "-o", "json"))
    tap.equal((shown["pin"], shown["nextPin"]), tuple(server.pins()))
    same, after = server.pins()
    tap.equal(same, pin)
    server.process.send_signal(signal.SIGHUP)
    harness.wait_until(
        lambda: server.note()["tls"]["pins"] == pin + ";" + after, "both pins")
    tap.equal(server.shown_pin(), pin)
    with server.connect() as old:
        server.make("rotate")
        tap.equal(server.pins(), [after, None])
        server.reload(after)
        old.sendall(b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" %
                    server.https[8:].encode())
        assert old.recv(100).startswith(b"HTTP/1.1 200 "), "the old session"
    tap.equal(cli("--pin", pin + ";" + after, "list").returncode, 0)
    tap.equal(cli("--pin", pin, "list").returncode, 4)


def an_expired_certificate_is_shown_as_such():
    folder = tempfile.mkdtemp(prefix="ht-tls-")
    cert = os.path.join(server.tls, "cert.pem")
    kept = os.path.join(folder, "cert.pem")
    shutil.copy(cert, kept)
    subprocess.run(
        "openssl req -new -key %(t)s/key.pem -subj /CN=localhost -out %(f)s/r "
        "&& printf 'subjectAltName=DNS:localhost\n' > %(f)s/x && openssl x509 "
        "-req -in %(f)s/r -CA %(t)s/ca.pem -CAkey %(t)s/ca-key.pem "
        "-set_serial 7 -extfile %(f)s/x -days -1 -out %(t)s/cert.pem" %
        {"t": server.tls, "f": folder}, shell=True, check=True,
        stderr=subprocess.DEVNULL)
    server.process.send_signal(signal.SIGHUP)
    harness.wait_until(lambda: "tls.expired" in server.log_text(),
                       "the line of the log")
    tap.equal(cli("--ca", server.ca, "list").returncode, 4)
    done = cli("--pin", server.pins()[0], "doctor")
    tap.contains("has expired", done.stdout)
    os.replace(kept, cert)
    shutil.rmtree(folder)


with server:
    tap.run([
        clients_that_trust_it_are_served_and_others_are_not,
        who_comes_by_tls_gets_addresses_with_tls,
        a_refused_client_is_named_by_its_own_address,
        reports_are_answered_by_tls,
        what_is_no_tls_or_an_old_one_is_refused,
        a_head_that_two_servers_could_read_differently_is_refused,
        silent_handshakes_end_for_new_ones,
        files_that_do_not_fit_change_nothing_and_others_count_at_once,
        the_next_key_is_announced_before_it_is_used,
        an_expired_certificate_is_shown_as_such,
    ])
