"""The logs of a played kubelet's containers: lines with their times, as the
runtime writes them, and the requests that read and follow them."""

import calendar
import datetime
import os
import threading
import time

import kubernetes_exec
from kubernetes_rules import Refused

PART = 16384  # bytes of a line that the runtime writes at once


def stamp(ns):
    """As RFC 3339, with nanoseconds."""
    seconds, rest = divmod(ns, 10 ** 9)
    return "%s.%09dZ" % (datetime.datetime.utcfromtimestamp(
        seconds).strftime("%Y-%m-%dT%H:%M:%S"), rest)


class Log:
    """Takes what comes from a descriptor, to its end."""

    def __init__(self, store, path):
        self.store, self.path = store, path
        self.parts = []  # (time in ns, bytes)
        out, self.into = os.pipe()
        self.thread = threading.Thread(target=self.read, args=(out,),
                                       daemon=True)
        self.thread.start()

    def close(self):
        """Nothing else holds its writing end."""
        os.close(self.into)

    def read(self, out):
        pending = b""
        with open(self.path, "ab") as file:
            while True:
                data = os.read(out, PART)
                file.write(data)
                file.flush()
                pending += data
                while b"\n" in pending or len(pending) >= PART or (
                        pending and not data):
                    size = min(PART, pending.find(b"\n") + 1 or len(pending))
                    self.add(pending[:size])
                    pending = pending[size:]
                if not data:
                    break
        os.close(out)

    def add(self, part):
        with self.store.lock:
            self.parts.append((time.time_ns(), part))
            self.store.changed.notify_all()

    def rotate(self):
        """The node has a new file for what follows."""
        with self.store.lock:
            self.parts = [(0, b"")] * len(self.parts)

    def text(self, begin, since, stamps):
        """What is after that many parts, and their number now. A part that
        continues a line has no time before it."""
        fresh, out = True, []
        for index, (ns, part) in enumerate(self.parts):
            if index >= begin and part and ns >= since:
                if stamps and fresh:
                    out.append(stamp(ns).encode() + b" ")
                out.append(part)
            fresh = part.endswith(b"\n") or not part
        return b"".join(out), len(self.parts)


def since_of(query):
    """A real server passes whole seconds to the node."""
    text = query.get("sinceTime")
    return 0 if text is None else calendar.timegm(time.strptime(
        text[:19], "%Y-%m-%dT%H:%M:%S")) * 10 ** 9


def serve(asked, namespace, name, fault):
    """`fault`: {"after": BYTES}: the connection is cut there; {"ends": BYTES}:
    the answer ends there as if it were whole; {"words": TEXT}: it is all."""
    cluster, query = asked.asked, asked.query
    pod, container = kubernetes_exec.find(asked, namespace, name,
                                          {key: [value] for key, value in
                                           query.items()})
    found = cluster.kubelet.find(pod, container)
    if not found:
        raise Refused(400, "BadRequest", 'container "%s" in pod "%s" is '
                      "waiting to start: ContainerCreating" % (container,
                                                               name))
    asked.send_response(200)
    asked.send_header("Content-Type", "text/plain")
    asked.send_header("Transfer-Encoding", "chunked")
    asked.end_headers()
    answer = Answer(asked, fault or {})
    if "words" in answer.fault:
        asked.piece(answer.fault["words"].encode())
    elif not follow(answer, found, query):
        return None
    asked.wfile.write(b"0\r\n\r\n")
    return None


class Answer:
    def __init__(self, asked, fault):
        self.asked, self.fault = asked, dict(fault)

    def put(self, data):
        """False: it has ended by the fault."""
        for kind in ("after", "ends"):
            if kind not in self.fault:
                continue
            left = self.fault[kind]
            self.fault[kind] -= len(data)
            if self.fault[kind] < 0:
                if left:
                    self.asked.piece(data[:left])
                if kind == "after":
                    self.asked.cut()
                return False
        if data:
            self.asked.piece(data)
        return True


def follow(answer, found, query):
    """False: the connection was cut."""
    store, begin = found.output.store, 0
    cluster = answer.asked.asked
    cuts = cluster.log_cuts
    while True:
        with store.lock:
            ended = found.code is not None or query.get("follow") != "true"
            data, count = found.output.text(begin, since_of(query),
                                            "timestamps" in query)
            if not data and not ended:
                store.changed.wait(5)
        if not answer.put(data):
            return "ends" in answer.fault
        if cluster.log_cuts != cuts or cluster.closing.is_set():
            answer.asked.cut()
            return False
        begin = count
        if ended:
            return True
