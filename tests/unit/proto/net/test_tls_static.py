"""The TLS client of static programs (mbedTLS) against servers of OpenSSL: whom
it accepts, by which versions, and how a connection ends."""

import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import warnings

import harness
import tap

TOOL = os.path.join(os.path.dirname(sys.argv[1]), "tests/tools/tls_ask")
NAMES = "DNS:tuner.example,DNS:*.wild.example,IP:127.0.0.1,IP:::1"
SERVER = "serverAuth"
MUCH = b"x" * 300000 + b"."


def openssl(*words, **options):
    return subprocess.run(["openssl", *words], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          **options).stdout


def make_ca(name):
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30",
            "-subj", "/CN=CA", "-keyout", name + "-key.pem", "-out",
            name + ".pem")


def make(name, ca="ca", days=30, usage=SERVER, key=("ec", "-pkeyopt",
                                                    "ec_paramgen_curve:P-256")):
    with open(name + ".ext", "w", encoding="ascii") as file:
        file.write("subjectAltName=%s\nextendedKeyUsage=%s\n" % (NAMES, usage))
    openssl("req", "-new", "-newkey", *key, "-nodes", "-subj", "/CN=" + name,
            "-keyout", name + "-key.pem", "-out", name + ".csr")
    openssl("x509", "-req", "-in", name + ".csr", "-CA", ca + ".pem", "-CAkey",
            ca + "-key.pem", "-days", str(days), "-extfile", name + ".ext",
            "-out", name + ".pem")


def pin_of(name):
    key = openssl("x509", "-in", name + ".pem", "-pubkey", "-noout")
    der = openssl("pkey", "-pubin", "-outform", "der", input=key)
    digest = openssl("dgst", "-sha256", "-binary", input=der)
    return "sha256//" + openssl("base64", input=digest).decode().strip()


def serve(listener, context, answer, says_end, seen):
    link, _ = listener.accept()
    link.settimeout(harness.PATIENCE)
    try:
        with context.wrap_socket(link, server_side=True) as tls:
            seen.append(tls.version())
            seen.append(tls.recv(100))
            tls.sendall(answer)
            if says_end:
                tls.unwrap()
    except OSError as error:  # of ssl, too
        seen.append(str(error))


def ask(host="tuner.example", shown="server", ca="ca.pem", pins="",
        answer=b"answer", says_end=True, change=None):
    """The tool's end, and what the server has seen."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(shown + ".pem", shown + "-key.pem")
    if change:
        change(context)
    seen = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(
            listener, context, answer, says_end, seen))
        thread.start()
        done = subprocess.run(
            [TOOL, str(listener.getsockname()[1]), host, ca, pins],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        thread.join()
    return done, seen


def accepts(**options):
    done, seen = ask(**options)
    tap.equal((done.returncode, done.stdout, done.stderr), (0, b"answer", b""))
    tap.equal(seen, ["TLSv1.2", b"question\n"])


def refuses(why, **options):
    """Before it has sent anything; "1": it knows that the server is wrong."""
    done, seen = ask(**options)
    tap.equal((done.returncode, done.stdout), (1, b""))
    tap.contains(why, done.stderr.decode())
    tap.equal(b"question\n" in seen, False)


def a_server_of_the_authority_is_accepted():
    accepts()
    accepts(shown="rsa")


def the_certificate_must_name_the_host():
    for host in ("TUNER.example", "a.wild.example", "127.0.0.1", "::1"):
        accepts(host=host)
    for host in ("example", "other.example", "tuner.example.evil.example",
                 "wild.example", "a.b.wild.example", "127.0.0.2", "::2"):
        refuses("1 the certificate names another host", host=host)


def it_must_be_valid_for_servers_and_of_the_authority():
    refuses("1 the certificate has expired", shown="old")
    refuses("1 the certificate is not signed by a CA", ca="other.pem")
    refuses("1 the certificate is not signed by a CA", ca="")
    refuses("1 the certificate is not one for servers", shown="client")
    refuses("1 the certificate is not signed by a CA", shown="foreign")


def a_pin_decides_alone_or_with_an_authority():
    right, wrong = pin_of("server"), pin_of("client")
    accepts(ca="", pins=right, host="any.example")
    accepts(ca="", pins=wrong + ";" + right, host="127.0.0.2")
    accepts(ca="", pins=pin_of("rsa"), shown="rsa")
    refuses("1 the server's key is none of the pins", ca="", pins=wrong)
    accepts(pins=right)
    refuses("1 the server's key is none of the pins", pins=wrong)
    refuses("1 the certificate names another host", pins=right,
            host="other.example")
    refuses("1 the certificate is not signed by a CA", pins=right,
            ca="other.pem")


def files_that_cannot_be_used_are_named():
    for ca, pins, why in (("absent.pem", "", "cannot read absent.pem"),
                          ("server-key.pem", "", "holds no certificate"),
                          ("ca.pem", "sha256//x", "is no pin")):
        done = subprocess.run([TOOL, "1", "tuner.example", ca, pins],
                              stderr=subprocess.PIPE, check=False)
        tap.equal(done.returncode, 1)
        tap.contains(why, done.stderr.decode())


def only(version, ciphers):
    def change(context):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = context.maximum_version = version
        context.set_ciphers(ciphers)
    return change


def old_versions_and_weak_ciphers_are_refused():
    weak = "ALL:@SECLEVEL=0"
    accepts(change=only(ssl.TLSVersion.TLSv1_2, weak))
    for version in ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1:
        refuses("0 the TLS handshake failed", change=only(version, weak))
    for cipher in ("AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA",
                   "ECDHE-RSA-AES128-SHA256"):
        refuses("0 the TLS handshake failed", shown="rsa", change=only(
            ssl.TLSVersion.TLSv1_2, cipher + ":@SECLEVEL=0"))


def much_arrives_and_a_loss_is_no_end():
    done, _ = ask(answer=MUCH)
    tap.equal((done.returncode, done.stdout), (0, MUCH))
    done, _ = ask(says_end=False)
    tap.equal((done.returncode, done.stdout), (3, b"answer"))


def plain_answers_are_no_server():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def answer():
            link, _ = listener.accept()
            with link:
                link.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
                link.recv(4096)
        thread = threading.Thread(target=answer)
        thread.start()
        done = subprocess.run(
            [TOOL, str(listener.getsockname()[1]), "tuner.example", "ca.pem",
             ""], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        thread.join()
    tap.equal((done.returncode, done.stdout), (1, b""))


os.chdir(tempfile.mkdtemp())  # below the folder that tests/run.sh removes
for authority in "ca", "other":
    make_ca(authority)
make("server")
make("rsa", key=("rsa:2048",))
make("old", days=-1)
make("client", usage="clientAuth")
make("foreign", ca="other")
tap.run([a_server_of_the_authority_is_accepted,
         the_certificate_must_name_the_host,
         it_must_be_valid_for_servers_and_of_the_authority,
         a_pin_decides_alone_or_with_an_authority,
         files_that_cannot_be_used_are_named,
         old_versions_and_weak_ciphers_are_refused,
         much_arrives_and_a_loss_is_no_end,
         plain_answers_are_no_server])
