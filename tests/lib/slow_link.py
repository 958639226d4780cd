"""slow_link - a TCP proxy in user space that is slow and breaks: it passes so
many bytes a second, cuts each connection after so many, loses answers."""

import contextlib
import itertools
import socket
import struct
import threading
import time

HELLO = 8
PART = 256  # bytes that are passed at once


class Line:
    """So many bytes a second each way, for all links that share it."""

    def __init__(self, rate):
        self.rate = rate
        self.lock = threading.Lock()
        self.free_at = [0, 0]

    def take(self, way, size):
        with self.lock:
            begin = max(time.monotonic(), self.free_at[way])
            self.free_at[way] = end = begin + size / self.rate
        time.sleep(max(0, end - time.monotonic()))


class SlowLink:
    """Between a client and 127.0.0.1:port. `line`: a Line; `cut`: bytes of
    both ways before a connection is cut; `lost`: whether the answer of this
    number (from 0, over all connections) does not come, and with `closes` its
    connection ends, too. `rename`: pairs of equally long bytes, what the
    server says and what its client gets and says, so that clients find links
    in place of the server's addresses. With `frames` both ends speak SP, as
    `lost` needs. `at`: (address, port) of the link."""

    def __init__(self, port, line=None, cut=None, lost=None, closes=False,
                 rename=(), frames=True, at=("127.0.0.1", 0)):
        self.target, self.line, self.cut = port, line, cut
        self.lost = lost or (lambda number: False)
        self.closes, self.rename, self.frames = closes, rename, frames
        self.sent = 0  # bytes to the server
        self.cuts = 0
        self.answers = itertools.count()
        family = socket.AF_INET6 if ":" in at[0] else socket.AF_INET
        self.listener = socket.create_server(at, family=family)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                self._connect(self.listener.accept()[0])

    def _connect(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.target))
        except OSError:  # the server has ended
            client.close()
            return
        passed = [0]
        for work in self._forward, self._back:
            threading.Thread(target=self._run, daemon=True,
                             args=(work, client, server, passed)).start()

    @staticmethod
    def _run(work, client, server, passed):
        with contextlib.suppress(OSError):
            work(client, server, passed)
        for end in client, server:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _pass(self, way, end, data, passed):
        """False: the connection was cut within these bytes."""
        while data:
            size = PART if self.cut is None else min(PART,
                                                     self.cut - passed[0])
            if size <= 0:
                self.cuts += 1
                return False
            part, data = data[:size], data[size:]
            passed[0] += len(part)
            if self.line:
                self.line.take(way, len(part))
            end.sendall(part)
        return True

    def _forward(self, client, server, passed):
        while True:
            data = client.recv(PART)
            self.sent += len(data)
            for server_says, client_says in self.rename:
                data = data.replace(client_says, server_says)
            if not data or not self._pass(0, server, data, passed):
                return

    def _back(self, client, server, passed):
        stream = server.makefile("rb")
        if self.frames:
            client.sendall(stream.read(HELLO))
        while True:
            data = self._frame(stream) if self.frames else server.recv(65536)
            for server_says, client_says in self.rename:
                data = data.replace(server_says, client_says)
            is_lost = self.frames and self.lost(next(self.answers))
            if not data or (is_lost and self.closes):
                return
            if not is_lost and not self._pass(1, client, data, passed):
                return

    @staticmethod
    def _frame(stream):
        head = stream.read(8)
        if len(head) < 8:
            return b""
        return head + stream.read(struct.unpack(">Q", head)[0])
