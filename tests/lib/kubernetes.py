"""A Kubernetes API server for tests, written from the API's facts: objects by
kubernetes_store.py, what is refused by kubernetes_rules.py, and here who may
ask, lists, watches, and the faults that a test orders.

It is no proof of what a real one does: each of its rules that a test relies on
is to be shown on a real server, too (a cluster of its own by KUBE_BIN)."""

import base64
import contextlib
import copy
import http.server
import json
import os
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

import kubernetes_exec
import kubernetes_log
from kubernetes_rules import (Refused, check_options, check_strict,
                              keep_known, matches, schemas)
from kubernetes_store import Store

VERBS = {"GET": "get", "POST": "create", "PATCH": "patch",
         "DELETE": "delete", "PUT": "update"}
ROLE = {"jobs": {"create", "get", "list", "watch", "delete", "patch"},
        "pods": {"create", "get", "list", "watch", "delete", "patch"},
        "pods/log": {"get"}, "pods/exec": {"create", "get"},
        "pods/eviction": {"create"},
        "services": {"create", "get", "list", "watch", "delete"},
        "configmaps": {"create", "get", "list", "delete", "patch"},
        "events": {"list"}}


class Cluster:
    """`users`: {token: {namespace: role}}; None: may do everything. `people`:
    the same by the name in a client certificate.

    `faults` of a "VERB plural", such as "list pods", are taken one for each
    such request: a Refused; a function, which is called before it is done and
    may return one of these; "cut" (nothing was done, and the connection ends);
    "lost" (done, and it ends without an answer); and of a watch also
    {"after": BYTES} (it ends there), {"pieces": BYTES} (it comes in such
    pieces), {"silent": True} (nothing comes, and it does not end),
    {"line": TEXT} (comes first). Of "get pods/exec": see Stream; of "get
    pods/log": kubernetes_log.serve()."""

    def __init__(self, namespaces=("work",), minor=26, tls=None):
        self.store = Store(namespaces, minor)
        self.minor = minor
        self.users, self.people = {"admin": None}, {}
        self.faults, self.requests, self.logs = {}, [], {}
        self.created = []  # (plural, object as it was sent, dry run?)
        self.kubelet = None
        self.streams = []  # every exec that has begun
        self.openapi = True
        self.away = False  # every connection ends without an answer
        self.turned_away = 0  # requests
        self.log_cuts = 0  # so often all that follow a log
        self.ended_watches = 0  # so often all of them
        self.closing = threading.Event()
        self.lock = threading.Lock()
        cluster = self

        class Handler(Asked):
            asked = cluster

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.server.daemon_threads = True
        self.tls = tls
        if tls:
            self.server.socket = tls.context().wrap_socket(
                self.server.socket, server_side=True,
                do_handshake_on_connect=False)
        self.url = "%s://127.0.0.1:%d" % ("https" if tls else "http",
                                          self.server.server_address[1])
        threading.Thread(target=self.server.serve_forever,
                         kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.closing.set()
        if self.kubelet:
            self.kubelet.close()
        self.cut_streams()
        for stream in self.streams:
            stream.process.kill()
        with self.store.lock:
            self.store.changed.notify_all()
        self.server.shutdown()
        self.server.server_close()

    def fault(self, name, *faults):
        self.faults.setdefault(name, []).extend(faults)

    def take_fault(self, name):
        with self.lock:
            self.requests.append(name)
            queue = self.faults.get(name)
            return queue.pop(0) if queue else None

    def count(self, name):
        with self.lock:
            return self.requests.count(name)

    def cut_streams(self):
        """Every connection of an exec ends, in the middle of anything."""
        with self.lock:
            for stream in self.streams:
                try:
                    socket.socket.shutdown(stream.connection,
                                           socket.SHUT_RDWR)
                except OSError:
                    pass

    def cut_logs(self):
        with self.store.lock:
            self.log_cuts += 1
            self.store.changed.notify_all()

    def end_watches(self):
        with self.store.lock:
            self.ended_watches += 1
            self.store.changed.notify_all()

    @contextlib.contextmanager
    def gone(self):
        """As a server that was killed; pods run on."""
        self.away = True
        self.cut_streams()
        self.cut_logs()
        self.end_watches()
        try:
            yield
        finally:
            self.away = False

    # ---- who may do what ----

    def role_of(self, token, person):
        """(name, {namespace: role} or None for everything)."""
        if token:
            if token not in self.users:
                raise Refused(401, "Unauthorized", "Unauthorized")
            return "system:serviceaccount:" + token, self.users[token]
        if person in self.people:
            return person, self.people[person]
        return "system:anonymous", {}

    @staticmethod
    def allows(role, verb, namespace, resource):
        return role is None or verb in role.get(namespace, {}).get(resource,
                                                                   ())

    def check_access(self, who, verb, namespace, resource, item=None):
        name, role = who
        if not self.allows(role, verb, namespace, resource):
            what = resource.split("/")[0] + (' "%s"' % item if item else "")
            raise Refused(403, "Forbidden", '%s is forbidden: User "%s" '
                          'cannot %s resource "%s" in API group "" in the '
                          'namespace "%s"' % (what, name, verb, resource,
                                              namespace))

    def review(self, who, body):
        wanted = body["spec"]["resourceAttributes"]
        resource = wanted["resource"] + (
            "/" + wanted["subresource"] if wanted.get("subresource") else "")
        body["status"] = {"allowed": self.allows(
            who[1], wanted["verb"], wanted.get("namespace"), resource)}
        return body

    def schema(self):
        if not self.openapi:
            raise Refused(404, "NotFound", "the server could not find the "
                          "requested resource")
        places = {"JobSpec": "batch", "PodSpec": "core", "Container": "core",
                  "Volume": "core"}
        return {"openapi": "3.0.0", "components": {"schemas": {
            "io.k8s.api.%s.v1.%s" % (places[name], name): {
                "properties": {field: {} for field in fields}}
            for name, fields in schemas(self.minor).items()}}}


class Asked(http.server.BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    asked = None  # the cluster

    def log_message(self, *_):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (OSError, ssl.SSLError):
            self.close_connection = True

    def do_GET(self):
        self.answer()

    do_POST = do_PATCH = do_DELETE = do_GET

    # ---- one request ----

    def answer(self):
        if self.asked.away:
            self.asked.turned_away += 1
            return self.cut()
        length = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(length)
        try:
            self.body = json.loads(text) if text else {}
            self.route()
        except Refused as refused:
            self.send(refused.code, refused.status(), refused.retry)
        return None

    def send(self, code, value, retry=None):
        data = (value if isinstance(value, bytes)
                else json.dumps(value).encode())
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if retry is not None:
            self.send_header("Retry-After", str(retry))
        self.end_headers()
        self.wfile.write(data)

    def cut(self):
        self.close_connection = True
        raw = self.connection
        try:
            raw.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def who(self):
        words = (self.headers.get("Authorization") or "").split(" ", 1)
        token = words[1] if words[0] == "Bearer" and len(words) == 2 else None
        person = None
        if self.asked.tls:
            for part in (self.connection.getpeercert() or {}).get("subject",
                                                                  ()):
                person = dict(part).get("commonName", person)
        return self.asked.role_of(token, person)

    def route(self):
        cluster = self.asked
        address = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(
            address.query, keep_blank_values=True))
        parts = [urllib.parse.unquote(part)
                 for part in address.path.strip("/").split("/")]
        if parts == ["version"]:
            return self.send(200, {"major": "1", "minor": str(cluster.minor)})
        if parts == ["control"]:
            if self.body == {"do": "cut_streams"}:
                cluster.cut_streams()
            else:
                cluster.kubelet.order(self.body)
            return self.send(200, {})
        who = self.who()
        if parts[:2] == ["openapi", "v3"]:
            return self.send(200, cluster.schema())
        if parts[-1] == "selfsubjectaccessreviews":
            return self.send(201, cluster.review(who, self.body))
        if parts[0] == "apis" and len(parts) == 3:
            resources = [
                {"name": plural, "kind": kind[0], "namespaced": True}
                for plural, kind in cluster.store.kinds.items()
                if kind[1] == parts[1]]
            if resources:
                return self.send(200, {
                    "kind": "APIResourceList", "resources": resources,
                    "groupVersion": "/".join(parts[1:])})
        rest = parts[3:] if parts[0] == "apis" else parts[2:]
        if rest[:1] != ["namespaces"] or len(rest) < 3 or \
                rest[2] not in cluster.store.kinds:
            raise Refused(404, "NotFound", "the server could not find the "
                          "requested resource")
        return self.route_object(who, rest[1], *(rest[2:] + [None, None])[:3])

    def route_object(self, who, namespace, plural, name, part):
        verb = VERBS[self.command]
        if name is None and verb == "get":
            verb = "watch" if self.query.get("watch") else "list"
        resource = plural + "/" + part if part else plural
        fault = self.asked.take_fault("%s %s" % (verb, resource))
        self.asked.check_access(who, verb, namespace, resource, name)
        # A WebSocket is a GET. Since 1.35 it needs what a POST needs, too.
        if resource == "pods/exec" and self.asked.minor >= 35:
            self.asked.check_access(who, "create", namespace, resource,
                                    name)
        if isinstance(fault, Refused):
            raise fault
        if callable(fault):
            fault = fault()
        if fault == "cut":
            return self.cut()
        if verb == "watch":
            return self.watch(plural, namespace, fault or {})
        if part == "exec":
            return kubernetes_exec.serve(self, namespace, name, fault or {})
        if part == "log" and self.asked.kubelet and not (
                {"tailLines", "limitBytes"} & set(self.query)):
            return kubernetes_log.serve(self, namespace, name, fault)
        code, value = getattr(self, "do_" + verb)(plural, namespace, name,
                                                  part)
        return self.cut() if fault == "lost" else self.send(code, value)

    # ---- verbs ----

    def do_get(self, plural, namespace, name, part):
        if part == "log":
            return self.do_log(namespace, name)
        with self.asked.store.lock:
            return 200, copy.deepcopy(self.asked.store.get(plural, namespace,
                                                           name))

    def do_log(self, namespace, name):
        cluster = self.asked
        if not cluster.kubelet:
            return 200, cluster.logs.get((namespace, name), "").encode()
        pod, container = kubernetes_exec.find(self, namespace, name,
                                              {key: [value] for key, value in
                                               self.query.items()})
        data = cluster.kubelet.log(pod, container)
        if "tailLines" in self.query:
            data = b"".join(data.splitlines(True)[
                -int(self.query["tailLines"]):])
        return 200, data[:int(self.query.get("limitBytes", len(data)))]

    def do_create(self, plural, namespace, name, part):
        store = self.asked.store
        if part == "eviction":
            store.evict(namespace, name, self.body.get("deleteOptions"))
            return 201, {"kind": "Status", "status": "Success"}
        dry = check_options("Create", self.query)
        asked = copy.deepcopy(self.body)
        made = store.create(plural, namespace, self.fields_of(plural), dry)
        self.asked.created.append((plural, asked, dry))
        return 201, made

    def fields_of(self, plural):
        """Of the body: all, as none is unknown, or the known ones."""
        fields = self.asked.store.kinds[plural][2]
        if self.query.get("fieldValidation") == "Strict":
            check_strict(fields, self.body)
        return keep_known(fields, self.body)

    def do_patch(self, plural, namespace, name, _):
        store = self.asked.store
        if self.headers["Content-Type"] != "application/merge-patch+json":
            raise Refused(415, "UnsupportedMediaType", "the body of the "
                          "request was in an unknown format")
        assert not check_options("Patch", self.query), "only of creations"
        return 200, store.patch(plural, namespace, name,
                                self.fields_of(plural))

    def do_delete(self, plural, namespace, name, _):
        left = self.asked.store.delete(plural, namespace, name, self.body)
        return 200, left or {"kind": "Status", "apiVersion": "v1",
                             "status": "Success", "details": {"name": name}}

    def do_list(self, plural, namespace, *_):
        items, version, more = self.asked.store.list(
            plural, namespace, self.query.get("labelSelector", ""),
            int(self.query.get("limit", 0)), self.query.get("continue"),
            self.query.get("fieldSelector", ""))
        kind = self.asked.store.kinds[plural][0]
        return 200, {"kind": kind + "List", "metadata": {
            "resourceVersion": str(version), "continue": more},
            "items": items}

    # ---- watches ----

    def piece(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def line(self, kind, item, fault):
        """False: the watch was cut."""
        data = json.dumps({"type": kind, "object": item}).encode() + b"\n"
        if "after" in fault:
            fault["after"] -= len(data)
            if fault["after"] < 0:
                self.piece(data[:fault["after"]] or b"{")
                self.cut()
                return False
        size = fault.get("pieces", len(data))
        for start in range(0, len(data), size):
            self.piece(data[start:start + size])
        return True

    def watch(self, plural, namespace, fault):
        store, fault = self.asked.store, dict(fault)
        version = int(self.query.get("resourceVersion") or 0)
        until = time.monotonic() + float(self.query.get("timeoutSeconds", 300))
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if fault.get("silent"):
            return self.asked.closing.wait()
        if "line" in fault:
            self.piece(fault["line"].encode() + b"\n")
        if version < store.floor:
            self.line("ERROR", Refused(
                410, "Expired", "too old resource version: %d (%d)" % (
                    version, store.floor)).status(), {})
        else:
            if not self.follow(plural, namespace, version, until, fault):
                return None
        self.wfile.write(b"0\r\n\r\n")
        return None

    def follow(self, plural, namespace, version, until, fault):
        store = self.asked.store
        selector = self.query.get("labelSelector", "")
        ended = self.asked.ended_watches
        while True:
            with store.lock:
                changes = [one for one in store.changes
                           if one.version > version]
                left = until - time.monotonic()
                if not changes and (left <= 0 or self.asked.closing.is_set()
                                    or self.asked.ended_watches != ended):
                    return True
                if not changes:
                    store.changed.wait(min(left, 5))
                    continue
            for one in changes:
                version = one.version
                if self.is_wanted(one, plural, namespace, selector) and \
                        not self.line(one.type, one.object, fault):
                    return False

    def is_wanted(self, change, plural, namespace, selector):
        if change.type == "BOOKMARK":
            return "allowWatchBookmarks" in self.query
        meta = change.object["metadata"]
        return (change.plural == plural and meta["namespace"] == namespace and
                matches(selector, meta.get("labels") or {}))


class Tls:
    """Certificates in a folder: an authority, the server's for `name`, and
    clients' by their name."""

    def __init__(self, folder, name="127.0.0.1"):
        self.folder = folder
        self.ca = self.path("ca.crt")
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
                     "ec_paramgen_curve:prime256v1", "-nodes", "-days", "9",
                     "-subj", "/CN=authority", "-keyout", self.path("ca.key"),
                     "-out", self.ca)
        kind = "IP" if name[0].isdigit() else "DNS"
        self.make("server", "subjectAltName=%s:%s" % (kind, name))

    def path(self, name):
        return os.path.join(self.folder, name)

    def openssl(self, *words):
        subprocess.run(("openssl",) + words, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def make(self, name, extension="keyUsage=digitalSignature"):
        """(certificate, key): paths of files."""
        key, request, cert = (self.path(name + end)
                              for end in (".key", ".csr", ".crt"))
        with open(self.path(name + ".ext"), "w", encoding="ascii") as file:
            file.write(extension + "\n")
        self.openssl("req", "-new", "-newkey", "ec", "-pkeyopt",
                     "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                     "/CN=" + name, "-keyout", key, "-out", request)
        self.openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey",
                     self.path("ca.key"), "-CAcreateserial", "-days", "9",
                     "-extfile", self.path(name + ".ext"), "-out", cert)
        return cert, key

    def context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path("server.crt"),
                                self.path("server.key"))
        context.load_verify_locations(self.ca)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context


def data_of(path):
    """A file as kubeconfig's -data has it."""
    with open(path, "rb") as file:
        return base64.b64encode(file.read()).decode()
