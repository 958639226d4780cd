"""Requests and answers: JSON over HTTP/1.1, with the standard library."""
import http.client
import json
import os
import socket
import ssl
import time
from typing import Any, Dict, Optional
from urllib.parse import quote, urlencode, urlsplit

import hypertune
from hypertune import errors, locate, trust

ATTEMPTS = 4
PAUSE_SECONDS = 0.1  # before the second attempt, doubled for each further one


def segment(text: Any) -> str:
    """A name as one part of a path."""
    return quote(str(text), safe="")


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(
        error).__name__


class Transport:
    """Sends requests to one server. Every request has its own
    connection, so that threads and forked children may share a Transport."""

    def __init__(self, address: locate.Address, timeout: float):
        self.timeout = timeout
        self._settle(address)

    def _settle(self, address: locate.Address) -> None:
        parts = urlsplit(address.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("a server is named by an http:// URL: %r" %
                             address.url)
        self.address = address
        self._parts = parts
        self._trust = trust.read(os.environ)
        trust.check(self._trust, address.url, address.token_file is not None)
        self._token = locate.read_token(address.token_file)

    def call(self, method: str, path: str, body: Any = None,
             query: Optional[Dict[str, Any]] = None,
             repeatable: bool = False) -> Any:
        """The decoded answer; ApiError when there is none or it is an error.

        A GET, and what the caller calls repeatable, is sent again when the
        connection fails or the server is busy, all within the timeout.
        """
        repeatable = repeatable or method == "GET"
        target = self._parts.path + path
        if query:
            target += "?" + urlencode(query)
        deadline = time.monotonic() + self.timeout
        pause = PAUSE_SECONDS
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._exchange(method, target, body, deadline)
            except errors.Unavailable as error:
                again = repeatable or self._never_arrived(error)
                if (attempt == ATTEMPTS or not again or
                        time.monotonic() + pause >= deadline):
                    raise
            time.sleep(pause)
            pause *= 2
            self._find_again(deadline)
        raise AssertionError("the last attempt returns or raises")

    @staticmethod
    def _never_arrived(error: errors.Unavailable) -> bool:
        return isinstance(error.__cause__, ConnectionRefusedError)

    def _find_again(self, deadline: float) -> None:
        """Our own server may have died or ended in idleness: another one may
        be at another port, or is started."""
        folder = self.address.folder
        if folder is not None:
            url = locate.ensure_own(folder, deadline - time.monotonic())
            self._settle(self.address._replace(url=url))

    def _connect(self, seconds: float) -> http.client.HTTPConnection:
        host, port = str(self._parts.hostname), self._parts.port
        if self._parts.scheme == "https":
            return trust.Connection(host, port, seconds, self._trust)
        return http.client.HTTPConnection(host, port, timeout=seconds)

    def _exchange(self, method: str, target: str, body: Any,
                  deadline: float) -> Any:
        headers = {"Accept": "application/json", "Connection": "close",
                   "User-Agent": "hypertune/" + hypertune.__version__}
        data = None
        if body is not None:
            data = json.dumps(body, allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        if self._token is not None:
            headers["Authorization"] = "Bearer " + self._token
        connection = self._connect(max(deadline - time.monotonic(), 0.001))
        try:
            connection.request(method, target, data, headers)
            answer = connection.getresponse()
            text = answer.read()
        except socket.timeout as error:
            raise errors.DeadlineExceeded(
                "no answer from %s within %g s" %
                (self.address.url, self.timeout)) from error
        except ssl.SSLCertVerificationError as error:
            raise errors.PermissionDenied(
                "no trust in %s: %s\n  name the authority of its certificate by "
                "HYPERTUNE_CA, or its key by HYPERTUNE_PIN" % (self.address.url,
                                   error.verify_message)) from error
        except (OSError, http.client.HTTPException) as error:
            if trust.is_refused(error):
                raise errors.PermissionDenied(
                    "%s asks clients for a certificate of its authority (%s)\n"
                    "  name one and its key by HYPERTUNE_CERT and HYPERTUNE_KEY"
                    % (self.address.url, _reason(error))) from error
            raise errors.Unavailable("cannot reach %s (%s)" % (
                self.address.url, _reason(error))) from error
        finally:
            connection.close()
        return self._read(answer.status, text)

    def _read(self, code: int, text: bytes) -> Any:
        try:
            body = json.loads(text.decode("utf-8")) if text else {}
        except ValueError:
            body = None
        if 200 <= code < 300 and body is not None:
            return body
        if body is None:
            raise errors.ApiError("%s answered %d and no JSON; is it a "
                                  "hypertune server?" %
                                  (self.address.url, code), code)
        raise errors.from_answer(code, body)
