"""A registry of images for tests, by the OCI distribution API: what it needs to
be asked for a manifest and a config, tokens, and the faults that a test orders.
"""

import base64
import hashlib
import http.server
import json
import threading
import urllib.parse

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Registry:
    """`auth`: None, "basic" or "bearer", for USER and PASSWORD. `broken` is a
    function of (kind, reference, data) that gives other bytes, or a status."""

    USER, PASSWORD = "ann", "secret of ann"

    def __init__(self, auth=None):
        self.auth, self.broken, self.paths = auth, None, []
        self.manifests, self.blobs = {}, {}
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                registry.answer(self)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.server.daemon_threads = True
        self.host = "127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever,
                         kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def login(self):
        """A docker config.json with its password."""
        both = "%s:%s" % (self.USER, self.PASSWORD)
        return json.dumps({"auths": {self.host: {
            "auth": base64.b64encode(both.encode()).decode()}}})

    # ---- images ----

    def put(self, data, *names):
        """Bytes as a manifest of the repository; their digest."""
        for name in names + (digest_of(data),):
            self.manifests[name] = data
        return digest_of(data)

    def add(self, tag, platforms=None, **config):
        """An image a/b:tag, or one for each of {"amd64": config}; the name."""
        made = {}
        for arch, of_arch in (platforms or {"amd64": config}).items():
            blob = json.dumps({"architecture": arch, "os": "linux",
                               "config": of_arch}).encode()
            self.blobs[digest_of(blob)] = blob
            made[arch] = json.dumps({
                "schemaVersion": 2, "mediaType": MANIFEST,
                "config": {"digest": digest_of(blob), "size": len(blob)},
                "layers": []}).encode()
        if platforms is None:
            self.put(made["amd64"], tag)
        else:
            self.put(json.dumps({
                "schemaVersion": 2, "mediaType": INDEX, "manifests": [
                    {"digest": self.put(data), "mediaType": MANIFEST,
                     "platform": {"os": "linux", "architecture": arch}}
                    for arch, data in made.items()]}).encode(), tag)
        return "%s/a/b:%s" % (self.host, tag)

    def pinned(self, tag):
        return "%s/a/b@%s" % (self.host, digest_of(self.manifests[tag]))

    # ---- answers ----

    def is_known(self, header):
        both = "%s:%s" % (self.USER, self.PASSWORD)
        return header == "Basic " + base64.b64encode(both.encode()).decode()

    def challenge(self):
        if self.auth == "basic":
            return 'Basic realm="here"'
        return ('Bearer realm="http://%s/token",service="here",scope='
                '"repository:a/b:pull"' % self.host)

    def answer(self, asked):
        self.paths.append(asked.path)
        header = asked.headers.get("Authorization") or ""
        address = urllib.parse.urlsplit(asked.path)
        query = urllib.parse.parse_qs(address.query)
        if address.path == "/token":
            good = (self.is_known(header) and query["service"] == ["here"] and
                    query["scope"] == ["repository:a/b:pull"])
            return self.send(asked, 200 if good else 401,
                             b'{"token":"one"}' if good else b"{}")
        allowed = {None: True, "basic": self.is_known(header),
                   "bearer": header == "Bearer one"}[self.auth]
        if not allowed:
            return self.send(asked, 401, b"{}", self.challenge())
        kind, reference = address.path.split("/")[-2:]
        data = {"manifests": self.manifests,
                "blobs": self.blobs}[kind].get(reference)
        code = 200
        if data is None or not address.path.startswith("/v2/a/b/"):
            code, data = 404, b"{}"
        if self.broken:
            data = self.broken(kind, reference, data)
        if isinstance(data, int):
            code, data = data, b"{}"
        return self.send(asked, code, data)

    @staticmethod
    def send(asked, code, data, challenge=None):
        asked.send_response(code)
        asked.send_header("Content-Length", str(len(data)))
        if challenge:
            asked.send_header("WWW-Authenticate", challenge)
        asked.end_headers()
        try:
            asked.wfile.write(data)
        except OSError:
            pass  # who asked has had enough
