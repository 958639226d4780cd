#!/usr/bin/env python3
"""fake_registry - a registry of images that asks for a password.

    fake_registry.py IMAGE[:TAG] USER PASSWORD

Serves one made-up image by the registry API of the OCI distribution
specification, on a port of 127.0.0.1 that it prints once it listens, without
TLS: dockerd takes that for a loopback address. USER "" asks for no password."""

import base64
import gzip
import hashlib
import http.server
import io
import json
import os
import sys
import tarfile

DOCKER = "application/vnd.docker."
MANIFEST = DOCKER + "distribution.manifest.v2+json"


def make_layer():
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        entry = tarfile.TarInfo("hello")
        entry.size = 6
        archive.addfile(entry, io.BytesIO(b"hello\n"))
    return made.getvalue()


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Image:
    """Blobs and the manifest that names them."""

    def __init__(self):
        layer = make_layer()
        packed = gzip.compress(layer, mtime=0)
        config = json.dumps({
            "architecture": "amd64", "os": "linux",
            "config": {"Entrypoint": ["/hello"], "Env": ["A=1"],
                       "WorkingDir": "/w", "User": "7:8"},
            "rootfs": {"type": "layers", "diff_ids": [digest_of(layer)]},
            "history": [{"created_by": "fake_registry"}]}).encode()
        self.blobs = {digest_of(data): data for data in (packed, config)}
        self.manifest = json.dumps({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": {"mediaType": DOCKER + "container.image.v1+json",
                       "size": len(config), "digest": digest_of(config)},
            "layers": [{"mediaType": DOCKER + "image.rootfs.diff.tar.gzip",
                        "size": len(packed), "digest": digest_of(packed)}],
        }).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    image, name, tag, password = Image(), "", "", ""

    def log_message(self, *_):
        pass

    def send(self, code, body, kind="application/json", **headers):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, code, word, **headers):
        self.send(code, json.dumps({"errors": [
            {"code": word, "message": word.lower().replace("_", " ")}
        ]}).encode(), **headers)

    def is_allowed(self):
        if self.password == ":":
            return True
        given = self.headers.get("Authorization", "")
        return given == "Basic " + base64.b64encode(
            self.password.encode()).decode()

    def serve(self):
        prefix = "/v2/%s/" % self.name
        kind, _, wanted = self.path[len(prefix):].partition("/")
        digest = digest_of(self.image.manifest)
        if not self.is_allowed():
            self.refuse(401, "UNAUTHORIZED",
                        WWW_Authenticate='Basic realm="fake"')
        elif self.path == "/v2/":
            self.send(200, b"{}")
        elif not self.path.startswith(prefix):
            self.refuse(404, "NAME_UNKNOWN")
        elif kind == "manifests" and wanted in (self.tag, digest):
            self.send(200, self.image.manifest, MANIFEST,
                      Docker_Content_Digest=digest)
        elif kind == "blobs" and wanted in self.image.blobs:
            self.send(200, self.image.blobs[wanted],
                      "application/octet-stream")
        else:
            self.refuse(404, "MANIFEST_UNKNOWN")

    do_GET = do_HEAD = serve


def main():
    name, user, password = sys.argv[1:]
    Handler.name, _, Handler.tag = name.partition(":")
    Handler.tag = Handler.tag or "latest"
    Handler.password = user + ":" + password
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    os.write(1, b"%d\n" % server.server_address[1])  # in one piece
    server.serve_forever()


if __name__ == "__main__":
    main()
