#!/usr/bin/env python3
"""fake_engine - a container engine that fails when it is asked to.

    fake_engine.py SOCKET [--dialect docker|podman] [--script FILE] [--run]
                   [--image NAME]... [--journal FILE] [--state FILE]
                   [--api VERSION] [--oldest-api VERSION] [--tls FOLDER]

Serves Docker's HTTP API on a unix socket as dockerd 20.10 or Podman 4.3 do, with
the differences between them that were measured. Prints "ready" once it
listens, ends at SIGTERM.

Images, containers and networks are kept in memory, with --state also in a file
from which the next start continues, as after a daemon's restart. With --run a
container is its command as a process of this machine: paths below the targets
of its binds become the sources, also in launch.json of a bound folder, and
killing it kills what it started. Without, it pretends to run until it is
stopped. A network's gateway is a loopback address, so one can listen there.
Each request is a line of the journal: {"method", "path", "query", "auth",
"body"}. With --tls it also listens on 127.0.0.1, for clients with a certificate
of the folder's ca.pem, has server.pem and server-key.pem itself, and leaves the
number of its port in the file port.

The script is JSON, read again whenever it changes, all of it optional:

    {"faults": [{"method": "POST", "path": "/containers/.*/start", "nth": 1,
                 "do": "drop", "effect": true}],
     "registry": ["localhost:5000/a:1"],
     "config": {"a:1": {"Entrypoint": ["/x"], "Env": ["A=1"]}},
     "runs": [{"name": ".*-worker-1", "exit": 3, "after": 0.2, "oom": true}],
     "info": {"Runtimes": {"nvidia": {}}}}

registry: what can be pulled. config: what images say of themselves. runs: how
containers end that only pretend, or, with --run, are killed as if by the kernel
("oom"). info: members of the answer to /info.

A fault strikes requests whose method and whole path (without version) match; of
these the nth, a number or a list of them, or all. "do" is one of
    status    answers with "status" and "body" (JSON, or text as it is)
    delay     waits "seconds", then continues as usual
    hold      waits for a script without this fault, then continues as usual
    hang      never answers; "drop": closes the connection without an answer
    truncate  sends half of the usual answer and closes
    garbage   answers 200 with bytes that are no JSON
    stream    answers 200 with "items", one JSON object after another
hang and drop with "effect" first do what was asked: only the answer is lost.
"""

import argparse
import collections
import http.server
import json
import os
import re
import select
import signal
import socketserver
import ssl
import sys
import threading
import time
import urllib.parse

from fake_containers import Engine, Refusal


class Script:
    """The file of faults, read again when it changes."""

    def __init__(self, path):
        self.path, self.stamp, self.content = path, None, {}
        self.seen = collections.Counter()
        self.lock = threading.Lock()

    def read(self):
        with self.lock:
            try:
                facts = os.stat(self.path) if self.path else None
                stamp = facts and (facts.st_mtime_ns, facts.st_ino)
                if stamp != self.stamp:
                    with open(self.path) as file:
                        self.content = json.load(file)
                    self.stamp = stamp
                    self.seen.clear()
            except (OSError, ValueError):
                pass  # being written: the next request will see it
            return self.content

    def find_fault(self, method, path):
        faults = self.read().get("faults", [])
        struck = None
        with self.lock:
            for number, fault in enumerate(faults):
                if (fault.get("method", method) != method or
                        not re.fullmatch(fault["path"], path)):
                    continue
                self.seen[number] += 1
                nth = fault.get("nth", self.seen[number])
                if struck is None and self.seen[number] in (
                        nth if isinstance(nth, list) else [nth]):
                    struck = fault
        return struck


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine = journal = None  # set by main()

    def log_message(self, *_):
        pass

    def address_string(self):
        return "unix"

    def read_request(self):
        """(path without version, query, body); notes it in the journal."""
        url = urllib.parse.urlsplit(self.path)
        path = re.sub(r"^/v(\d+\.\d+)(?=/)", "", urllib.parse.unquote(url.path))
        query = dict(urllib.parse.parse_qsl(url.query))
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size) or "null")
        if self.journal:
            self.journal.write(json.dumps(
                {"method": self.command, "path": path, "query": query,
                 "auth": self.headers.get("X-Registry-Auth"),
                 "body": body}) + "\n")
            self.journal.flush()
        return path, query, body

    def check_version(self):
        """dockerd accepts a range of versions; Podman does not look."""
        asked = re.match(r"/v(\d+)\.(\d+)/", self.path)
        if asked is None or self.engine.dialect == "podman":
            return
        asked = tuple(map(int, asked.groups()))
        newest, oldest = (tuple(map(int, text.split("."))) for text in (
            self.engine.options.api, self.engine.options.oldest_api))
        words = "client version %d.%d is too " % asked
        if asked > newest:
            raise Refusal(400, 400, words + "new. Maximum supported API version"
                          " is %d.%d" % newest)
        if asked < oldest:
            raise Refusal(400, 400, words + "old. Minimum supported API version"
                          " is %d.%d" % oldest)

    def answer(self, path, query, body):
        try:
            self.check_version()
            with self.engine.lock:
                return self.engine.call(self.command, path, query, body)
        except Refusal as refusal:
            return refusal.answer(self.engine.dialect)

    @staticmethod
    def encode(value):
        if value is None:
            return b""
        return json.dumps(value).encode() + b"\n"

    def send(self, code, body, stop_at=None):
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        if code not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:stop_at])
        self.close_connection = stop_at is not None

    def send_items(self, items):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for item in items:
            line = self.encode(item)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def hang(self):
        """Until the client goes away."""
        while select.select([self.connection], [], [], 60)[0]:
            if not self.connection.recv(4096):
                break

    def strike(self, fault, path, query, body):
        """False when the request continues as usual."""
        kind = fault["do"]
        if kind == "delay":
            time.sleep(fault["seconds"])
            return False
        if kind == "hold":
            while fault in self.engine.script.read().get("faults", []):
                time.sleep(0.02)
            return False
        if kind in ("hang", "drop"):
            if fault.get("effect"):
                self.answer(path, query, body)
            if kind == "hang":
                self.hang()
            self.close_connection = True
        elif kind == "truncate":
            whole = self.encode(self.answer(path, query, body)[1])
            self.send(200, whole, len(whole) // 2)
        elif kind == "garbage":
            self.send(200, b"}{ this is no JSON\n")
        elif kind == "stream":
            self.send_items(fault["items"])
        else:
            content = fault.get("body")
            self.send(fault["status"], content.encode()
                      if isinstance(content, str) else self.encode(content))
        return True

    def serve(self):
        path, query, body = self.read_request()
        fault = self.engine.script.find_fault(self.command, path)
        try:
            if fault and self.strike(fault, path, query, body):
                return
            code, value = self.answer(path, query, body)
            if path == "/images/create" and isinstance(value, list):
                self.send_items(value)
            else:
                self.send(code, self.encode(value))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_DELETE = serve


class Threads(socketserver.ThreadingMixIn):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        if not isinstance(sys.exc_info()[1], OSError):  # the client went away
            super().handle_error(*_)


class Server(Threads, socketserver.UnixStreamServer):
    pass


class TlsServer(Threads, socketserver.TCPServer):
    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        context = ssl.create_default_context(
            ssl.Purpose.CLIENT_AUTH, cafile=os.path.join(folder, "ca.pem"))
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(os.path.join(folder, "server.pem"),
                                os.path.join(folder, "server-key.pem"))
        # The handshake is the handler's, so that a bad one stops no one else.
        self.socket = context.wrap_socket(self.socket, server_side=True,
                                          do_handshake_on_connect=False)
        with open(os.path.join(folder, "port"), "w") as file:
            file.write(str(self.server_address[1]))
        threading.Thread(target=self.serve_forever, daemon=True).start()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("socket")
    parser.add_argument("--dialect", choices=("docker", "podman"),
                        default="docker")
    parser.add_argument("--script")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--image", action="append", default=[])
    parser.add_argument("--journal")
    parser.add_argument("--state")
    parser.add_argument("--api", default="1.41")
    parser.add_argument("--oldest-api", default="1.12")
    parser.add_argument("--tls")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    Handler.engine = Engine(options, Script(options.script))
    if options.journal:
        Handler.journal = open(options.journal, "a")
    if options.tls:
        TlsServer(options.tls)
    if os.path.exists(options.socket):
        os.unlink(options.socket)
    with Server(options.socket, Handler) as server:
        os.write(sys.stdout.fileno(), b"ready\n")  # in one piece
        server.serve_forever()


if __name__ == "__main__":
    main()
