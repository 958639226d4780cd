"""The exec subresource of the played API server: a program with its streams in
the messages of one WebSocket, v4.channel.k8s.io. Wordings as of a real server
(registry/core/pod/strategy.go, the kubelet) and its websocket."""

import base64
import hashlib
import json
import os
import random
import selectors
import socket
import ssl
import struct
import subprocess
import time
import urllib.parse

from kubernetes_rules import Refused

PROTOCOL = "v4.channel.k8s.io"
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
MOST_WAITING = 256 * 1024


def head(first, length):
    """Of a server's frame."""
    if length < 126:
        return struct.pack("!BB", first, length)
    if length < 0x10000:
        return struct.pack("!BBH", first, 126, length)
    return struct.pack("!BBQ", first, 127, length)


def frame(opcode, data, fin=True):
    return head((0x80 if fin else 0) | opcode, len(data)) + data


def take_frame(data):
    """The first masked frame: (fin, opcode, payload, its length in `data`);
    None: there is no whole one."""
    if len(data) < 2:
        return None
    assert data[1] & 0x80, "a client's frame is masked"
    assert data[0] & 0x70 == 0, "reserved bits"
    length, at = data[1] & 0x7f, 2
    if length > 125:
        size = 2 if length == 126 else 8
        if len(data) < at + size:
            return None
        length = int.from_bytes(data[at:at + size], "big")
        at += size
    if len(data) < at + 4 + length:
        return None
    mask = bytes(data[at:at + 4]) * (length // 4 + 1)
    payload = int.from_bytes(data[at + 4:at + 4 + length], "big") ^ \
        int.from_bytes(mask[:length], "big")
    return (bool(data[0] & 0x80), data[0] & 0x0f,
            payload.to_bytes(length, "big"), at + 4 + length)


def status_of(code):
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
            "message": "command terminated with non-zero exit code: exit "
            "status %d" % code, "details": {"causes": [
                {"reason": "ExitCode", "message": str(code)}]}}


class Odd:
    """Legal, and as no server sends it: messages in fragments, pings between
    them, few bytes at a time."""

    def __init__(self):
        self.random = random.Random(1)
        self.pings = []

    def message(self, data):
        out, opcode = b"", 2
        while True:
            size = self.random.choice((0, 1, 2, 125, 126, 4000, 70000))
            part, data = data[:size], data[size:]
            out += frame(opcode, part, not data)
            if not data:
                return out
            opcode = 0
            if self.random.random() < 0.3:
                self.pings.append(b"%d" % len(self.pings))
                out += frame(9, self.pings[-1]) + frame(10, b"unasked")

    def size(self):
        return self.random.choice((1, 2, 3, 1000, 9000))


class Stream:
    """One program. `pause`: seconds before each piece of what it says.
    `fault`: {"odd": True}: see Odd; {"cut": BYTES}: it ends
    after so many bytes of stdout; {"raw": BYTES}: these come in place of what
    the program says."""

    pause = 0  # of all

    def __init__(self, connection, process, fault):
        self.connection, self.process, self.fault = connection, process, fault
        self.odd = Odd() if fault.get("odd") else None
        self.pongs = []
        self.out, self.read, self.stdin = bytearray(), bytearray(), bytearray()
        self.closing = False  # the last bytes are in `out`
        self.left = fault.get("cut")
        self.selector = selectors.DefaultSelector()
        self.channels = {process.stdout.fileno(): 1,
                         process.stderr.fileno(): 2}
        for pipe in (process.stdout, process.stderr, process.stdin):
            os.set_blocking(pipe.fileno(), False)

    def put(self, channel, data):
        message = bytes([channel]) + data
        self.out += (self.odd.message(message) if self.odd
                     else frame(2, message))

    def run(self):
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection.setblocking(False)
        if "raw" in self.fault:
            self.out += self.fault["raw"]
        else:
            self.put(1, b"")  # "it is connected"
        try:
            while self.step():
                pass
        except (OSError, ssl.SSLError):
            pass
        finally:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.stderr.close()
            self.selector.close()
            self.connection.setblocking(True)

    def wait(self):
        """The descriptors that are ready."""
        events = selectors.EVENT_WRITE if self.out else 0
        if len(self.stdin) <= MOST_WAITING:
            events |= selectors.EVENT_READ
        wanted = {self.connection.fileno(): events} if events else {}
        if len(self.out) < MOST_WAITING:
            wanted.update(dict.fromkeys(self.channels, selectors.EVENT_READ))
        if self.stdin and not self.process.stdin.closed:
            wanted[self.process.stdin.fileno()] = selectors.EVENT_WRITE
        for key in list(self.selector.get_map().values()):
            self.selector.unregister(key.fd)
        for fd, events in wanted.items():
            self.selector.register(fd, events)
        buffered = getattr(self.connection, "pending", lambda: 0)()
        return {key.fd for key, _ in
                self.selector.select(0 if buffered else None)}

    def step(self):
        """False: the connection is to end."""
        ready = self.wait()
        if not self.send() or not self.receive():
            return False
        for fd in ready & set(self.channels):
            if not self.take(fd):
                return False
        self.feed()
        if not self.channels and not self.closing:
            code = self.process.wait()
            self.put(3, json.dumps(status_of(
                128 - code if code < 0 else code)).encode())
            self.out += frame(8, struct.pack("!H", 1000))
            self.closing = True
        return not self.closing or bool(self.out)

    def send(self):
        try:
            while self.out:
                size = self.odd.size() if self.odd else len(self.out)
                del self.out[:self.connection.send(self.out[:size])]
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            pass
        return True

    def receive(self):
        if len(self.stdin) > MOST_WAITING:
            return True
        try:
            data = self.connection.recv(65536)
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        self.read += data
        while True:
            found = take_frame(self.read)
            if not found:
                return bool(data)
            fin, opcode, payload, length = found
            del self.read[:length]
            assert fin, "our client sends no fragments"
            if opcode == 8:
                return False
            if opcode == 10:
                self.pongs.append(payload)
            if opcode == 2 and payload[0] == 0:
                self.stdin += payload[1:]

    def take(self, fd):
        """Of the program's; False: the fault wants the end here."""
        time.sleep(self.pause)
        try:
            data = os.read(fd, 32 * 1024)
        except BlockingIOError:
            return True
        if not data:
            del self.channels[fd]
        elif "raw" not in self.fault:
            if self.left is not None and fd == self.process.stdout.fileno():
                data = data[:self.left]
                self.left -= len(data)
            self.put(self.channels[fd], data)
            if self.left == 0:
                self.connection.setblocking(True)
                self.connection.sendall(self.out + frame(2, b"\1more")[:3])
                return False
        return True

    def feed(self):
        if not self.stdin:
            return
        try:
            del self.stdin[:os.write(self.process.stdin.fileno(), self.stdin)]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self.stdin.clear()


def find(asked, namespace, name, query):
    """(pod, container's name), or the refusal of the API server."""
    pod = asked.asked.store.get("pods", namespace, name)
    names = [one["name"] for one in pod["spec"]["containers"]]
    wanted = query.get("container", [None])[0]
    if wanted is None and len(names) > 1:
        raise Refused(400, "BadRequest", "a container name must be specified "
                      "for pod %s, choose one of: [%s]" % (
                          name, " ".join(names)))
    if wanted not in names + [None]:
        raise Refused(400, "BadRequest", "container %s is not valid for pod "
                      "%s" % (wanted, name))
    if not pod["spec"].get("nodeName"):
        raise Refused(400, "BadRequest", "pod %s does not have a host "
                      "assigned" % name)
    return pod, wanted or names[0]


def greet(asked):
    key = asked.headers["Sec-WebSocket-Key"] + GUID
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    asked.send_response(101)
    asked.send_header("Upgrade", "websocket")
    asked.send_header("Connection", "Upgrade")
    asked.send_header("Sec-WebSocket-Accept", accept)
    asked.send_header("Sec-WebSocket-Protocol", PROTOCOL)
    asked.end_headers()


def serve(asked, namespace, name, fault):
    """One request, to its end. Without a kubelet the program runs beside the
    server, for a pod whose phase is Running."""
    cluster = asked.asked
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(asked.path).query,
                                  keep_blank_values=True)
    pod, container = find(asked, namespace, name, query)
    if (asked.headers.get("Upgrade") or "").lower() != "websocket":
        raise Refused(400, "BadRequest", "Upgrade request required")
    if PROTOCOL not in asked.headers.get("Sec-WebSocket-Protocol", ""):
        raise Refused(400, "BadRequest", "unable to upgrade: no protocol")
    way, env = [], None
    if cluster.kubelet:
        way, env = cluster.kubelet.enter(pod, container)
    elif pod["status"]["phase"] != "Running":
        way = None
    if way is None:
        # The kubelet's own words, which the API server passes on.
        return asked.send(500, b'container not found ("%s")\n'
                          % container.encode())
    if asked.headers.get("Accept", "*/*") != "*/*":
        return asked.send(406, b"406: Not Acceptable\n\n"
                          b"Available representations: ")
    greet(asked)
    asked.close_connection = True
    with subprocess.Popen(way + query["command"], env=env, bufsize=0,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        stream = Stream(asked.connection, process, fault)
        with cluster.lock:
            cluster.streams.append(stream)
        stream.run()
        asked.cut()
    return None
