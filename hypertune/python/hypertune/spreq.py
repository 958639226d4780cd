"""One REQ connection of nng's SP protocol over tcp.

Wire: an 8-byte hello each way, then frames of a 64-bit length, a 32-bit request
id with the top bit set, and the payload.
"""
import errno
import fcntl
import os
import select
import socket
import struct
import termios
import threading
import time

HELLO_REQ = b"\x00SP\x00\x00\x30\x00\x00"
HELLO_REP = b"\x00SP\x00\x00\x31\x00\x00"
MAX_MESSAGE = 1024 * 1024
BACKOFF_FIRST = 0.1
BACKOFF_LAST = 5.0
BACKOFF_CUT = 0.2  # at most, after a connection to a peer that spoke
CONNECT_SECONDS = 3.0
HELLO_SECONDS = 10.0  # behind a relay it follows a handshake
LOOK_SECONDS = 0.25  # between looks whether bytes have moved

monotonic = getattr(time, "monotonic", time.time)


class SpreqError(Exception):
    """No connection, or the peer does not speak the protocol."""


def parse_url(url):
    """(host, port) of tcp://host:port, [v6] in brackets; ValueError else.

    The host is bytes: a text would make the first connection import a codec,
    and a fork in the midst of that leaves the child with half of it.
    """
    if not url.startswith("tcp://"):
        raise ValueError("not a tcp:// address: %r" % url)
    host, colon, port = url[len("tcp://"):].rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    if not colon or not host or not 0 < int(port) < 65536:
        raise ValueError("no host and port in %r" % url)
    return host.encode("ascii"), int(port)


class SilenceError(SpreqError):
    """Nothing came, but the connection is not known to be broken."""


class Patience(object):
    """Waits for `silent` seconds from the last byte that moved."""

    def __init__(self, silent, deadline=0.0):
        self.silent = silent
        self.deadline = deadline
        self._unsent = 0
        self.moved()

    def moved(self):
        self.deadline = max(self.deadline, monotonic() + self.silent)

    def look(self, sock):
        """Bytes that were sent may still wait here for a slow link."""
        unsent = self._unsent
        try:
            unsent, = struct.unpack("i", fcntl.ioctl(
                sock.fileno(), termios.TIOCOUTQ, struct.pack("i", 0)))
        except EnvironmentError:
            pass  # a kernel that does not say
        if unsent < self._unsent:
            self.moved()
        self._unsent = unsent


class Spreq(object):
    """Connects when asked to send; one thread at a time, but for cut()."""

    def __init__(self, url):
        self._address = parse_url(url)
        self._socket = None
        self._id = struct.unpack(">I", os.urandom(4))[0]
        self._backoff = 0.0
        self._connect_at = 0.0
        self._cut = threading.Event()
        self.broke = False  # the connection, at the last request

    def cut(self):
        """Makes a running and every later request end soon, without answer."""
        self._cut.set()
        sock = self._socket
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except EnvironmentError:
                pass  # it was not connected any more

    def pause(self, seconds):
        """Sleeps, or less long when it is cut."""
        self._cut.wait(seconds)

    def close(self):
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def request(self, payload, silent):
        """Returns the answer's bytes, or None.

        None: no byte moved for `silent` seconds, or the connection broke, and
        the server may have got the payload. Answers to older requests are
        skipped.
        """
        deadline = monotonic() + silent
        self.broke = False
        self._id = (self._id + 1) & 0x7FFFFFFF
        wire_id = self._id | 0x80000000
        frame = struct.pack(">QI", len(payload) + 4, wire_id) + payload
        while True:
            try:
                if self._socket is None:
                    self._connect(deadline)
            except (SpreqError, EnvironmentError):
                self._back_off(BACKOFF_LAST)
                if self._cut.is_set() or monotonic() >= deadline:
                    return None
                continue
            try:
                patience = Patience(silent)
                self._send(frame, patience)
                answer = self._receive_answer(wire_id, patience)
                self._backoff = 0.0
                return answer
            except (SpreqError, EnvironmentError) as error:
                self.broke = not isinstance(error, SilenceError)
                self._back_off(BACKOFF_CUT)
                return None

    def _back_off(self, most):
        self.close()
        self._backoff = min(max(self._backoff * 2, BACKOFF_FIRST), most)
        self._connect_at = monotonic() + self._backoff

    def _connect(self, deadline):
        pause = min(self._connect_at, deadline) - monotonic()
        if pause > 0:
            self.pause(pause)
        left = deadline - monotonic()
        if left <= 0 or self._cut.is_set():
            raise SpreqError("no time left to connect")
        sock = socket.create_connection(self._address,
                                        min(left, CONNECT_SECONDS))
        self._socket = sock
        if self._cut.is_set():  # it was, before there was anything to cut
            raise SpreqError("cut")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(False)
        soon = Patience(0.0, min(deadline, monotonic() + HELLO_SECONDS))
        self._send(HELLO_REQ, soon)
        if self._receive(len(HELLO_REP), soon) != HELLO_REP:
            raise SpreqError("the peer is no REP socket")

    def _wait(self, readable, patience):
        patience.look(self._socket)
        left = patience.deadline - monotonic()
        if left <= 0:
            raise SilenceError("no answer in time")
        # poll, not select: a trainer may have more than 1024 descriptors.
        poller = select.poll()
        poller.register(self._socket,
                        select.POLLIN if readable else select.POLLOUT)
        poller.poll(int(min(left, LOOK_SECONDS) * 1000) + 1)

    def _send(self, data, patience):
        view = memoryview(data)
        while view:
            try:
                # Python ignores SIGPIPE itself, but a trainer may restore it.
                view = view[self._socket.send(
                    view, getattr(socket, "MSG_NOSIGNAL", 0x4000)):]
                patience.moved()
            except EnvironmentError as error:
                if error.errno not in (errno.EAGAIN, errno.EINTR):
                    raise
                self._wait(False, patience)

    def _receive(self, size, patience):
        chunks = []
        while size > 0:
            try:
                chunk = self._socket.recv(min(size, 65536))
            except EnvironmentError as error:
                if error.errno not in (errno.EAGAIN, errno.EINTR):
                    raise
                self._wait(True, patience)
                continue
            if not chunk:
                raise SpreqError("the server closed the connection")
            patience.moved()
            chunks.append(chunk)
            size -= len(chunk)
        return b"".join(chunks)

    def _receive_answer(self, wire_id, patience):
        while True:
            size, got = struct.unpack(">QI", self._receive(12, patience))
            if not 4 <= size <= MAX_MESSAGE + 4:
                raise SpreqError("a frame of %d bytes" % size)
            payload = self._receive(size - 4, patience)
            if got == wire_id:
                return payload
