"""fake_runner - a runner that starts nothing: a test says what its attempts
do. It uses the control address of proto/README.md with sockets alone."""

import json
import os
import socket
import struct

import api
import harness

HELLO = b"\x00SP\x00\x00\x30\x00\x00"


def receive(sock, size):
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise AssertionError("the server hung up")
        data += more
    return data


class Attempt:
    """One that was leased; its methods are what a runner may report of it."""

    def __init__(self, runner, said):
        self.runner = runner
        self.said = said
        self.name = {key: said[key] for key in ("study", "trial", "attempt")}
        self.records = 0
        self.printed = {}  # bytes of each stream of each replica

    def started(self):
        self.runner.tell("started", **self.name)
        return self

    def say(self, text, stream="stdout", replica="master-0"):
        """Sends what the replica prints next."""
        offset, size = self.printed.get((replica, stream), 0), len(text.encode())
        self.runner.tell("log", replica=replica, stream=stream, offset=offset,
                         data=text, bytes=size, **self.name)
        self.printed[replica, stream] = offset + size
        return self

    def lose(self, size, stream="stdout", replica="master-0"):
        """So many bytes of the replica's log were not kept."""
        self.printed[replica, stream] = size + self.printed.get(
            (replica, stream), 0)
        return self

    def report(self, value, step=1, metric="accuracy"):
        self.records += 1
        self.runner.tell("report", replica="master-0", records=[
            {"w": "00000000000000aa", "n": self.records, "t": 1000 * step,
             "s": step, "m": {metric: value}}], **self.name)
        return self

    def ended(self, outcome, **more):
        self.runner.tell("ended", outcome=outcome, **self.name, **more)
        self.runner.tell("drained", **self.name)

    def succeed(self, value=None, step=1, metric="accuracy"):
        """Runs it to a good end, with a result unless it has none."""
        self.started()
        if value is not None:
            self.report(value, step, metric)
        self.ended("succeeded", exit=0)

    def fail(self, code=3):
        self.started().ended("failed", exit=code, reason="exit %d" % code)


class Runner:
    """Runs commands or images, whichever it is asked to. A context manager."""

    def __init__(self, server, slots=4, images=False, name="fake",
                 version="0.1.0", token=None, attempts=()):
        self.token = token or api.token(server, "runner-token")
        self.name = name
        self.boot = os.urandom(8).hex()
        self.number = 0
        self.server = server
        self.sock = None
        self.connect()
        self.tell("hello", engine="docker" if images else "process",
                  slots=slots, host="here", version=version,
                  attempts=[attempt.name for attempt in attempts],
                  rules={"images": images})

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.sock.close()

    def connect(self):
        """Anew, as a runner does whose connection has ended."""
        if self.sock is not None:
            self.sock.close()
        host, port = self.server.control.split("//")[1].rsplit(":", 1)
        self.sock = socket.create_connection((host, int(port)),
                                             timeout=harness.PATIENCE)
        self.sock.sendall(HELLO)
        receive(self.sock, len(HELLO))

    def send(self, what, **members):
        """Sends one request and waits for nothing."""
        self.number += 1
        body = json.dumps(dict(
            members, v=1, type=what, token=self.token, runner=self.name,
            boot=self.boot, id=self.number)).encode()
        self.sock.sendall(struct.pack(">QI", len(body) + 4,
                                      0x80000000 | self.number) + body)

    def tell(self, what, **members):
        """Sends one request, returns its answer, which must be a good one."""
        self.send(what, **members)
        return self.hear(what)

    def hear(self, what):
        """The next answer, which must be a good one."""
        size, = struct.unpack(">Q", receive(self.sock, 8))
        answer = json.loads(receive(self.sock, size)[4:].decode())
        if answer["status"] != "ok":
            raise AssertionError("%s: %s" % (what, answer))
        return answer

    def beat(self):
        """So that it does not count as lost; returns the answer."""
        return self.tell("heartbeat", attempts=[])

    def lease(self, free=1):
        """Waits for work, as long as the server holds the question."""
        answer = self.tell("lease", free=free, gpus=0)
        return [Attempt(self, said) for said in answer["attempts"]]

    def one(self):
        attempt, = self.lease()
        return attempt
