"""How a client makes sure that a server is the one that it means, before the
server gets the token: authorities, pins, and no token in clear."""
import base64
import hashlib
import http.client
import ipaddress
import re
import ssl
from typing import Any, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import urlsplit

from hypertune.errors import PermissionDenied

_PIN = re.compile(r"sha256//[A-Za-z0-9+/]{43}=")


class Trust(NamedTuple):
    """Without both the system's authorities and the name of the host decide; a
    pin alone decides without them."""
    ca: Optional[str] = None  # file of the authority
    pins: Tuple[str, ...] = ()  # "sha256//BASE64" of public keys
    cert: Optional[str] = None  # file of what the client shows itself
    key: Optional[str] = None  # file of its key
    insecure: bool = False  # the token may go to another machine in clear


def read(environment: Mapping[str, str]) -> Trust:
    """HYPERTUNE_CA, HYPERTUNE_PIN, HYPERTUNE_CERT, HYPERTUNE_KEY and
    HYPERTUNE_INSECURE; ValueError."""
    pins = tuple(filter(None, environment.get("HYPERTUNE_PIN",
                                              "").split(";")))
    for pin in pins:
        if not _PIN.fullmatch(pin):
            raise ValueError("a pin is sha256//BASE64 of 32 bytes, several "
                             "by ';', not %r" % pin)
    cert = environment.get("HYPERTUNE_CERT") or None
    key = environment.get("HYPERTUNE_KEY") or None
    if (cert is None) != (key is None):
        raise ValueError("HYPERTUNE_CERT and HYPERTUNE_KEY are given together")
    return Trust(environment.get("HYPERTUNE_CA") or None, pins, cert, key,
                 environment.get("HYPERTUNE_INSECURE") == "1")


def is_loopback(host: str) -> bool:
    """Is it a name or address of this machine alone?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check(trust: Trust, url: str, has_token: bool) -> None:
    """PermissionDenied when the token would go over the network in clear."""
    parts = urlsplit(url)
    if (parts.scheme == "https" or not has_token or trust.insecure or
            is_loopback(parts.hostname or "")):
        return
    raise PermissionDenied(
        "http shows the token to everyone between here and %s; use https:// "
        "(docs/operations.md, \"On a network\"), or HYPERTUNE_INSECURE=1" %
        url)


def _element(der: bytes, at: int) -> Tuple[int, int, int]:
    """Of the DER element at `at`: its tag, and where its content begins and
    ends."""
    length, start = der[at + 1], at + 2
    if length & 0x80:
        count = length & 0x7f
        length = int.from_bytes(der[start:start + count], "big")
        start += count
    return der[at], start, start + length


def is_refused(error: BaseException) -> bool:
    """Does the server refuse the client's certificate, or miss it?"""
    reason = getattr(error, "reason", None) or ""
    return isinstance(error, ssl.SSLError) and "ALERT" in reason and (
        "CERTIFICATE" in reason or "UNKNOWN_CA" in reason)


def pin_of(certificate: bytes) -> str:
    """The pin of the public key of a certificate in DER (RFC 5280, 4.1)."""
    _, at, _ = _element(certificate, 0)
    _, at, _ = _element(certificate, at)  # tbsCertificate
    tag, _, end = _element(certificate, at)
    if tag == 0xa0:  # an explicit version
        at = end
    for _ in range(5):  # serial, signature, issuer, validity, subject
        at = _element(certificate, at)[2]
    key = certificate[at:_element(certificate, at)[2]]
    digest = hashlib.sha256(key).digest()
    return "sha256//" + base64.b64encode(digest).decode()


class Connection(http.client.HTTPSConnection):
    """HTTPS whose request is sent only after the pins were compared."""

    def __init__(self, host: str, port: Optional[int], seconds: float,
                 trust: Trust):
        self._pins = trust.pins
        try:
            context = ssl.create_default_context(cafile=trust.ca)
        except OSError as error:
            raise PermissionDenied(
                "cannot use the authority's file %s: %s" %
                (trust.ca, error.strerror or error)) from None
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if trust.cert is not None:
            try:
                context.load_cert_chain(trust.cert, trust.key)
            except OSError as error:
                raise PermissionDenied(
                    "cannot use the certificate %s and its key %s: %s" %
                    (trust.cert, trust.key, error.strerror or error)) from None
        if trust.pins and trust.ca is None:
            # The key itself is known: issuer and name add nothing.
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        super().__init__(host, port, timeout=seconds, context=context)

    def connect(self) -> None:
        super().connect()
        if not self._pins:
            return
        sock: Any = self.sock
        found = pin_of(sock.getpeercert(binary_form=True))
        if found not in self._pins:
            self.close()
            raise PermissionDenied(
                "no trust in %s: its key %s is none of HYPERTUNE_PIN; either "
                "it was changed or this is another server" % (self.host, found))
