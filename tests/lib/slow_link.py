"""slow_link - a TCP proxy in user space that is slow and breaks: it passes so
many bytes a second, cuts each connection after so many, loses answers."""

import contextlib
import socket
import struct
import threading
import time

HELLO = 8


class SlowLink:
    """Between a client and 127.0.0.1:port. `rate`: bytes a second to the
    server; `cut`: bytes to it before a connection is cut; `lost`: the numbers
    of the answers (from 0, over all connections) that do not come."""

    def __init__(self, port, rate=None, cut=None, lost=()):
        self.target, self.rate, self.cut = port, rate, cut
        self.lost = frozenset(lost)
        self.sent = 0  # bytes to the server
        self.cuts = 0
        self.answers = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.target))
                for work in self._forward, self._back:
                    threading.Thread(target=self._run, daemon=True,
                                     args=(work, client, server)).start()

    @staticmethod
    def _run(work, client, server):
        with contextlib.suppress(OSError):
            work(client, server)
        for end in client, server:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _forward(self, client, server):
        passed = 0
        while True:
            size = 512 if self.cut is None else min(512, self.cut - passed)
            if size == 0:
                self.cuts += 1
                return
            data = client.recv(size)
            if not data:
                return
            passed += len(data)
            self.sent += len(data)
            if self.rate:
                time.sleep(len(data) / self.rate)
            server.sendall(data)

    def _back(self, client, server):
        stream = server.makefile("rb")
        client.sendall(stream.read(HELLO))
        while True:
            head = stream.read(8)
            if len(head) < 8:
                return
            frame = head + stream.read(struct.unpack(">Q", head)[0])
            self.answers += 1
            if self.answers - 1 not in self.lost:
                client.sendall(frame)
