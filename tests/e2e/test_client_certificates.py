"""A server that asks its clients for certificates: who is served, what others
are told, and what the audit log has of both."""

import itertools
import json
import os
import shutil
import signal
import ssl
import stat
import subprocess

import harness
import tap
from runner_process import Runner
from tls_server import TlsServer

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
addresses = itertools.count(1)
ENV = {"PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]}

server = TlsServer("--runner", "none", "--tls-clients", "own")


def tls(*words):
    return subprocess.run(
        [os.path.join(harness.bin_dir(), "hypertune"), "tls", *words, "--data",
         server.data], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8", timeout=harness.PATIENCE)


def own(name):
    """The files of a client, made when they are not there."""
    cert = os.path.join(server.tls, "clients", name + ".pem")
    if not os.path.exists(cert):
        server.make("client", name)
    return cert, os.path.join(server.tls, "clients", name + ".key")


def openssl(folder, script):
    subprocess.run(["sh", "-ec", script], check=True, cwd=folder,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def signed(name, authority, days=2, usage="clientAuth"):
    """A certificate of the authority in that folder (ca.pem, ca-key.pem)."""
    folder = os.path.join(server.folder, name)
    os.makedirs(folder)
    openssl(folder, """
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -batch \
    -subj /CN=%s -keyout key -out request
echo extendedKeyUsage=%s >extensions
openssl x509 -req -in request -CA %s/ca.pem -CAkey %s/ca-key.pem \
    -set_serial 7 -extfile extensions -days %d -out cert
""" % (name, usage, authority, authority, days))
    return os.path.join(folder, "cert"), os.path.join(folder, "key")


def other_authority():
    folder = os.path.join(server.folder, "other")
    if not os.path.exists(folder):
        os.makedirs(folder)
        openssl(folder, "openssl req -x509 -newkey ec -pkeyopt "
                "ec_paramgen_curve:P-256 -nodes -batch -subj '/CN=hypertune "
                "CA' -keyout ca-key.pem -out ca.pem -days 2")
    return folder


def context(files=None, version=None):
    made = ssl.create_default_context(cafile=server.ca)
    if files is not None:
        made.load_cert_chain(*files)
    if version is not None:
        made.minimum_version = made.maximum_version = version
    return made


def cli(files, *words):
    shown = ("--cert", files[0], "--key", files[1]) if files else ()
    return subprocess.run(
        [os.path.join(harness.bin_dir(), "hypertune"), "--server",
         server.https, "--ca", server.ca, "--token-file", server.token_file,
         *shown, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8", stdin=subprocess.DEVNULL, timeout=harness.PATIENCE)


def audit():
    """The lines, the newest first."""
    done = server.cli("audit", "-o", "json")
    return [line for line in json.loads(done.stdout)][::-1]


def refusals():
    return [line for line in audit() if line.get("action") == "tls handshake"]


def refused(files, why, alert):
    """The handshake ends with that alert, at each listener and by both
    versions, and the audit log says why. A new address has no refusals yet."""
    address = "127.0.1.%d" % next(addresses)
    for port in server.ports[:3]:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            try:
                with server.connect(context(files, version), address,
                                    port.number) as link:
                    link.sendall(b"GET / HTTP/1.1\r\n\r\n")
                    tap.equal(link.recv(100), None, "it is served")
            except ssl.SSLError as error:
                tap.contains(alert, str(error).lower())
    harness.wait_until(
        lambda: any(why in line["error"] and line["address"] == address
                    for line in refusals()),
        "%s in the audit log" % why)


def a_client_without_one_learns_what_it_needs():
    done = cli(None, "list")
    tap.equal(done.returncode, 4)
    tap.contains("asks clients for a certificate; get one made by `hypertune "
                 "tls client NAME`", done.stderr)
    tap.lacks("--ca FILE", done.stderr)
    for port in server.ports[:3]:
        try:
            with server.connect(context(None, ssl.TLSVersion.TLSv1_3),
                                port=port.number) as link:
                tap.equal(link.recv(100), None, "it is served")
        except ssl.SSLError as error:
            tap.contains("certificate_required", str(error).lower().replace(
                " ", "_"))
    harness.wait_until(refusals, "a line of the audit log")
    line = refusals()[0]
    tap.equal((line["error"], line["address"], line["code"], line["refused"],
               line["principal"]),
              ("the client shows no certificate", "127.0.0.1", 401, True, ""))


def python(files):
    shown = dict(zip(("HYPERTUNE_CERT", "HYPERTUNE_KEY"), files or ()))
    return subprocess.run(
        ["python3", "-c", "import hypertune; hypertune.Client().studies()"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        timeout=harness.PATIENCE,
        env=dict(os.environ, HYPERTUNE_SERVER=server.https,
                 HYPERTUNE_CA=server.ca,
                 HYPERTUNE_TOKEN_FILE=server.token_file,
                 PYTHONPATH=os.path.join(ROOT, "hypertune", "python"),
                 **shown))


def one_with_a_certificate_is_served():
    files = own("ann")
    tap.equal(cli(files, "list").returncode, 0)
    tap.equal(python(files).returncode, 0)
    done = python(None)
    tap.equal(done.returncode, 1)
    tap.contains("name one and its key by HYPERTUNE_CERT", done.stderr)


def files_of_a_client_are_private_and_made_once():
    done = tls("client", "bob")
    cert, key = own("bob")
    tap.contains(cert, done.stdout)
    tap.contains(key, done.stdout)
    tap.contains("ends in      824 days", done.stdout)
    tap.equal(stat.S_IMODE(os.stat(key).st_mode), 0o600)
    done = tls("client", "bob")
    tap.equal(done.returncode, 5)
    tap.contains("tls revoke bob", done.stderr)
    for words, code in ((("client", "../x"), 2), (("client", ""), 2),
                        (("client",), 2), (("init", "x"), 2),
                        (("client", 65 * "x"), 2), (("revoke", "eve"), 3)):
        tap.equal(tls(*words).returncode, code, words)


def a_certificate_is_given_with_a_private_key():
    cert, key = own("ann")
    done = cli(None, "--cert", cert, "list")
    tap.equal(done.returncode, 2)
    tap.contains("--cert and --key are given together", done.stderr)
    wide = shutil.copy(key, os.path.join(server.folder, "wide"))
    os.chmod(wide, 0o604)
    done = cli((cert, wide), "list")
    tap.contains("all users of this machine may use the key", done.stderr)


def the_audit_log_names_it_beside_the_principal():
    spec = {"spec": 1, "name": "audited", "goal": "maximize accuracy",
            "trials": 1, "parameters": {"x": [1]}, "args": "none",
            "command": ["true"]}
    path = os.path.join(server.folder, "audited.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(spec, file)
    done = cli(own("ann"), "submit", path)
    tap.equal(done.returncode, 0, done.stderr)
    lines = [line for line in audit() if line.get("study") == "audited"]
    tap.equal([(line["principal"], line["address"], line["certificate"])
               for line in lines], [("admin", "127.0.0.1", "ann")])
    tap.equal(server.cli("cancel", "audited").returncode, 0)
    tap.lacks("certificate", audit()[0])  # by a plain listener


def a_runner_shows_one_for_all_that_it_sends():
    cert, key = own("box")
    with Runner(server, "bare", "--ca", server.ca) as runner:
        runner.wait_log("asks clients for a certificate")
    with Runner(server, "box", "--ca", server.ca, "--cert", cert, "--key",
                key):
        server.submit({
            "spec": 1, "name": "boxed", "goal": "maximize accuracy",
            "trials": 1, "parameters": {"x": [1]}, "args": "none",
            "retries": 0, "command": [
                "sh", "-c", "unset HYPERTUNE_REPORT_FILE; hypertune report "
                "accuracy=7"]}, env=ENV)
        tap.equal(server.wait_study("boxed")["state"], "SUCCEEDED",
                  server.explain("boxed"))
    hello = [line for line in audit()
             if line.get("action") == "control hello"]
    tap.equal({line.get("certificate") for line in hello}, {"box"})


def others_are_refused_with_the_reason():
    refused(signed("foreign", other_authority()),
            "client's certificate of foreign is not signed by a CA that is "
            "accepted here", "unknown ca")
    refused(signed("late", server.tls, days=-1),
            "client's certificate of late has expired", "expired")
    refused(signed("turned", server.tls, usage="serverAuth"),
            "client's certificate of turned is not one for clients",
            "unsupported certificate")
    refused((os.path.join(server.tls, "cert.pem"),
             os.path.join(server.tls, "key.pem")), "is not one for clients",
            "unsupported certificate")
    done = cli((os.path.join(server.folder, "late", "cert"),
                os.path.join(server.folder, "late", "key")), "list")
    tap.equal(done.returncode, 4)
    tap.contains("refuses this one as foreign, expired, revoked", done.stderr)


def a_revoked_one_is_refused_and_its_name_is_free_again():
    files = [shutil.copy(file, server.folder) for file in own("gone")]
    tap.equal(cli(files, "list").returncode, 0)
    for name in ("gone", "bob"):
        tap.equal(tls("revoke", name).returncode, 0)
    before = server.log_text().count("tls.loaded")
    server.process.send_signal(signal.SIGHUP)
    harness.wait_until(
        lambda: server.log_text().count("tls.loaded") > before, "the list")
    refused(files, "client's certificate of gone is revoked", "revoked")
    tap.equal(cli(own("ann"), "list").returncode, 0)
    tap.equal(cli(own("gone"), "list").returncode, 0)


def many_refusals_share_a_line():
    sent = 0

    def counted():
        nonlocal sent
        try:
            server.connect(context(None, ssl.TLSVersion.TLSv1_2), "127.0.2.1")
        except ssl.SSLError:
            sent += 1
        return sum(line["count"] for line in audit()
                   if line["address"] == "127.0.2.1" and "count" in line)
    number = harness.wait_until(counted, "a line that counts")
    assert 1 < number < sent, (number, sent)


with server:
    tap.run([
        a_client_without_one_learns_what_it_needs,
        one_with_a_certificate_is_served,
        files_of_a_client_are_private_and_made_once,
        a_certificate_is_given_with_a_private_key,
        the_audit_log_names_it_beside_the_principal,
        a_runner_shows_one_for_all_that_it_sends,
        others_are_refused_with_the_reason,
        a_revoked_one_is_refused_and_its_name_is_free_again,
        many_refusals_share_a_line,
    ])
