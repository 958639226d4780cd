"""api - what the API tests share: raw requests, and a small study."""

import copy
import json
import os
import select
import socket

import harness

JOBS = harness.JOBS[:-1]
STUDIES = harness.STUDIES[:-1]
OURS = "/hypertune/v1"

JOB = {
    "displayName": "digits",
    "studySpec": {
        "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}],
        "parameters": [{
            "parameterId": "lr",
            "doubleValueSpec": {"minValue": 0.1, "maxValue": 1},
            "scaleType": "UNIT_LOG_SCALE"}],
        "algorithm": "RANDOM_SEARCH"},
    "maxTrialCount": 3,
    "parallelTrialCount": 1,
    "trialJobSpec": {"workerPoolSpecs": [{
        "replicaCount": 1, "containerSpec": {"command": ["true"]}}]},
}


def job(name, **changes):
    made = copy.deepcopy(JOB)
    made["hypertune"] = {"name": name, "seed": "1"}
    made["displayName"] = name
    made.update(changes)
    return made


def token(server, name="token"):
    with open(os.path.join(server.data, name), encoding="ascii") as file:
        return file.read().strip()


def address(server):
    host, port = server.http.split("//")[1].rsplit(":", 1)
    return host, int(port)


def connect(server, source="127.0.0.1"):
    return socket.create_connection(address(server), timeout=harness.PATIENCE,
                                    source_address=(source, 0))


def is_ended(sock):
    """Whether the server has closed it; nothing was asked on it."""
    if not select.select([sock], [], [], 0)[0]:
        return False
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def head(server, method, path, *lines, auth=True, host=None):
    """Bytes of a request's head; `lines` are further headers."""
    out = ["%s %s HTTP/1.1" % (method, path)]
    if host != "":
        out.append("Host: " + (host or server.http.split("//")[1]))
    if auth:
        out.append("Authorization: Bearer " +
                   (token(server) if auth is True else auth))
    return ("\r\n".join(out + list(lines)) + "\r\n\r\n").encode("latin-1")


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def json(self):
        return json.loads(self.body.decode())

    def error(self):
        return self.json()["error"]


def read_chunks(sock, data):
    """A chunked body, of which `data` has come; None when it was cut."""
    body = b""
    while True:
        while data.count(b"\r\n") < 1:
            more = sock.recv(65536)
            if not more:
                return None
            data += more
        size, data = data.split(b"\r\n", 1)
        wanted = int(size, 16)
        while len(data) < wanted + 2:
            more = sock.recv(65536)
            if not more:
                return None
            data += more
        body += data[:wanted]
        data = data[wanted + 2:]
        if wanted == 0:
            return body


def read_answer(sock, bodiless=False):
    """One answer; None when the peer closed instead."""
    data = b""
    while b"\r\n\r\n" not in data:
        try:
            more = sock.recv(65536)
        except ConnectionResetError:
            more = b""
        if not more:
            return None
        data += more
    text, data = data.split(b"\r\n\r\n", 1)
    lines = text.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, value = line.split(":", 1)
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked" and not bodiless:
        body = read_chunks(sock, data)
        return None if body is None else Answer(int(lines[0].split()[1]),
                                                headers, body)
    wanted = 0 if bodiless else int(headers.get("content-length", 0))
    while len(data) < wanted:
        more = sock.recv(65536)
        if not more:
            break
        data += more
    return Answer(int(lines[0].split()[1]), headers, data)


def exchange(server, request, bodiless=False):
    """Sends bytes on a new connection, returns the answer."""
    with connect(server) as sock:
        sock.sendall(request)
        return read_answer(sock, bodiless)


def ask(server, method, path, *lines, **options):
    return exchange(server, head(server, method, path, *lines, **options),
                    method == "HEAD")


def send(server, method, path, body, *lines, **options):
    """A request with a body; JSON unless a header line says otherwise."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    if not any(line.lower().startswith("content-type") for line in lines):
        lines += ("Content-Type: application/json",)
    return exchange(server, head(server, method, path, *lines,
                                 "Content-Length: %d" % len(data),
                                 **options) + data)
