"""The addresses of HTTP, reports and control as a scanner of TLS sees them:
versions, ciphers, extensions, renegotiation and the certificate."""

import os
import re
import socket
import struct
import subprocess

import harness
import tap
from tls_server import NAME, TlsServer

server = TlsServer("--runner", "none")

STRONG = {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
          "ECDHE-ECDSA-CHACHA20-POLY1305"}
STRONG_13 = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
             "TLS_CHACHA20_POLY1305_SHA256"}
# By their numbers: what OpenSSL does not offer any more is offered, too.
WEAK = {
    "without encryption": (0x0001, 0x0002, 0x003B, 0xC006, 0xC010),
    "export": (0x0003, 0x0006, 0x0008, 0x000B, 0x000E, 0x0011, 0x0014),
    "RC4": (0x0004, 0x0005, 0xC007, 0xC011),
    "DES": (0x0009, 0x000A, 0x0015, 0x0016, 0xC008, 0xC012),
    "anonymous": (0x0018, 0x001B, 0x0034, 0x003A, 0xC018, 0xC019, 0x00A6),
    "without forward secrecy": (0x009C, 0x009D, 0xC02D, 0xC031, 0xC004),
    "CBC": (0xC009, 0xC00A, 0xC013, 0xC014, 0xC023, 0xC024, 0xC027),
    "finite fields": (0x009E, 0x009F, 0xCCAA, 0x0033, 0x0039),
}
GOOD = (0xC02B, 0xC02C, 0xC02F, 0xC030, 0xCCA9, 0xCCA8)
HEARTBEAT, ALERT, HANDSHAKE = 15, 21, 22
REFUSED, WRONG_VERSION, FALLBACK = 40, 70, 86


def listeners():
    return [port.number for port in server.ports[:3]]


def s_client(port, *options, lines=""):
    done = subprocess.run(
        ["openssl", "s_client", "-connect", "127.0.0.1:%d" % port,
         "-servername", NAME, "-CAfile", server.ca, *options], input=lines,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        errors="replace", timeout=harness.PATIENCE)
    return done.stdout


def chosen(port, *options):
    """The cipher of such a handshake; None where the server refuses it by an
    alert."""
    shown = s_client(port, *options)
    found = re.search(r"^New, (\S+), Cipher is (\S+)$", shown, re.M)
    assert found, shown
    if found.group(2) != "(NONE)":
        return found.group(2)
    tap.contains(" alert ", shown)
    return None


def extension(number, body=b""):
    return struct.pack(">HH", number, len(body)) + body


def hello(version, ciphers):
    """A ClientHello that offers compression and heartbeats."""
    extensions = (extension(0xFF01, b"\0") +  # secure renegotiation
                  extension(HEARTBEAT, b"\1") +
                  extension(10, struct.pack(">HHHH", 6, 23, 24, 29)) +
                  extension(11, b"\1\0") +
                  extension(13, struct.pack(">HHHHH", 8, 0x0403, 0x0503,
                                            0x0804, 0x0203)))
    body = (struct.pack(">H", version) + os.urandom(32) + b"\0" +
            struct.pack(">H", 2 * len(ciphers)) +
            b"".join(struct.pack(">H", one) for one in ciphers) +
            b"\2\1\0" +  # deflate, none
            struct.pack(">H", len(extensions)) + extensions)
    message = b"\1" + struct.pack(">I", len(body))[1:] + body
    return struct.pack(">BHH", HANDSHAKE, min(version, 0x0301),
                       len(message)) + message


def answer(port, version, ciphers):
    """The first record that the server sends: its type and content."""
    with socket.create_connection(("127.0.0.1", port),
                                  harness.PATIENCE) as link:
        link.sendall(hello(version, ciphers))
        with link.makefile("rb") as file:
            kind, _, length = struct.unpack(">BHH", file.read(5))
            return kind, file.read(length)


def alert(port, version, ciphers):
    kind, content = answer(port, version, ciphers)
    tap.equal(kind, ALERT, (port, hex(version), ciphers))
    tap.equal(content[0], 2)  # fatal
    return content[1]


def versions_1_2_and_1_3_are_spoken_and_no_others():
    for port in listeners():
        for version in (0x0300, 0x0301, 0x0302):
            tap.equal(alert(port, version, GOOD + (0x002F, 0xC009, 0xC00A)),
                      WRONG_VERSION, hex(version))
        for version in ("-tls1_2", "-tls1_3"):
            assert chosen(port, version) is not None, version
        tap.equal(alert(port, 0x0303, GOOD + (0x5600,)), FALLBACK)


def accepted(port, option, offered, *options):
    """As a scanner does: what was chosen is offered no more."""
    found = set()
    while True:
        left = [one for one in offered if one not in found]
        cipher = chosen(port, option, ":".join(left), *options)
        if cipher is None:
            return found
        found.add(cipher)


def ciphers_have_forward_secrecy_and_authentication():
    known = subprocess.run(
        ["openssl", "ciphers", "-tls1_2", "ALL:COMPLEMENTOFALL:@SECLEVEL=0"],
        check=True, stdout=subprocess.PIPE, encoding="ascii").stdout.strip()
    old = [one for one in known.split(":") if not one.startswith("TLS_")]
    assert len(old) > 50, old
    for port in listeners():
        tap.equal(accepted(port, "-cipher", old + ["@SECLEVEL=0"], "-tls1_2"),
                  STRONG)
        for one in STRONG_13 | {"TLS_AES_128_CCM_SHA256",
                                "TLS_AES_128_CCM_8_SHA256"}:
            tap.equal(chosen(port, "-tls1_3", "-ciphersuites", one),
                      one if one in STRONG_13 else None, one)
        for kind, numbers in WEAK.items():
            tap.equal(alert(port, 0x0303, numbers), REFUSED, kind)


def no_compression_and_no_heartbeat_is_agreed():
    for port in listeners():
        kind, content = answer(port, 0x0303, GOOD)
        tap.equal(kind, HANDSHAKE)
        tap.equal(content[0], 2, "no ServerHello")
        at = 4 + 2 + 32
        at += 1 + content[at]  # the session
        cipher, compression, length = struct.unpack_from(">HBH", content, at)
        assert cipher in GOOD, hex(cipher)
        tap.equal(compression, 0)
        at, end, seen = at + 5, at + 5 + length, set()
        while at < end:
            number, size = struct.unpack_from(">HH", content, at)
            seen.add(number)
            at += 4 + size
        tap.lacks(HEARTBEAT, seen)
        tap.contains(0xFF01, seen)  # renegotiation cannot be spliced


def a_client_cannot_renegotiate():
    for port in listeners():
        shown = s_client(port, "-tls1_2", lines="R\n")
        tap.contains("Secure Renegotiation IS supported", shown)
        before, _, after = shown.partition("RENEGOTIATING")
        tap.contains("Verify return code: 0 (ok)", before)
        tap.lacks("verify return:1", after)
        assert re.search("error:|errno", after), after


def sessions_are_not_resumed():
    for port in listeners():
        for version in ("-tls1_2", "-tls1_3"):
            shown = s_client(port, version, "-reconnect")
            tap.lacks("Reused, ", shown)
            tap.lacks("TLS session ticket:", shown)


def the_certificate_is_strong_and_no_client_is_asked_for_one():
    for port in listeners():
        shown = s_client(port, "-showcerts", "-tls1_2")
        tap.contains("Verify return code: 0 (ok)", shown)
        tap.lacks("Client Certificate Types", shown)
        text = subprocess.run(["openssl", "x509", "-noout", "-text"],
                              input=shown, check=True, encoding="ascii",
                              stdout=subprocess.PIPE).stdout
        kind, bits = re.search(r"Public Key Algorithm: (\S+)\s+Public-Key: "
                               r"\((\d+) bit\)", text).groups()
        assert kind == "id-ecPublicKey" and int(bits) >= 256, text
        tap.contains("Signature Algorithm: ecdsa-with-SHA256", text)


def http_alone_offers_a_protocol_and_that_is_1_1():
    for port in listeners():
        shown = s_client(port, "-alpn", "h2,http/1.1")
        tap.contains("ALPN protocol: http/1.1" if port == listeners()[0]
                     else "No ALPN negotiated", shown)


with server:
    tap.run([
        versions_1_2_and_1_3_are_spoken_and_no_others,
        ciphers_have_forward_secrecy_and_authentication,
        no_compression_and_no_heartbeat_is_agreed,
        a_client_cannot_renegotiate,
        sessions_are_not_resumed,
        the_certificate_is_strong_and_no_client_is_asked_for_one,
        http_alone_offers_a_protocol_and_that_is_1_1,
    ])
