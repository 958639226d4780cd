"""stored - what the tests of the store share: chunks and trees, sent and
asked for by hand."""

import hashlib
import json
import os

import api

CHUNK = 1 << 20
BYTES = "Content-Type: application/octet-stream"


def sha(data):
    return hashlib.sha256(data).hexdigest()


def path(what, project="local"):
    return "%s/projects/%s/%s" % (api.OURS, project, what)


def chunks_of(data):
    return [data[at:at + CHUNK] for at in range(0, len(data), CHUNK)]


def entry(name, data, mode=0o644):
    return {"path": name, "mode": mode, "bytes": len(data),
            "chunks": [sha(chunk) for chunk in chunks_of(data)]}


def manifest(*entries):
    """The canonical text of entries that are sorted."""
    return json.dumps({"entries": list(entries)}, separators=(",", ":"),
                      ensure_ascii=False).encode()


def put_chunk(server, chunk, project="local", name=None, **options):
    return api.send(server, "PUT",
                    path("chunks/" + (name or sha(chunk)), project), chunk,
                    BYTES, **options)


def post_tree(server, text, project="local", **options):
    return api.send(server, "POST", path("trees", project), text, **options)


def missing(server, names, project="local", **options):
    return api.send(server, "POST", path("chunks:missing", project),
                    {"chunks": names}, **options)


def get(server, what, *lines, project="local", **options):
    return api.ask(server, "GET", path(what, project), *lines, **options)


def keep(server, files, project="local"):
    """Sends a tree of {path: bytes}; returns its manifest."""
    for chunk in {chunk for data in files.values()
                  for chunk in chunks_of(data)}:
        assert put_chunk(server, chunk, project).status == 200
    text = manifest(*(entry(name, files[name]) for name in sorted(files)))
    answer = post_tree(server, text, project)
    assert answer.status == 200, answer.body
    assert answer.json()["tree"] == sha(text), answer.body
    return text


def files_in(server, folder=""):
    """Paths of all files of the store, below its folder."""
    root = os.path.join(server.data, "store", folder)
    return sorted(os.path.relpath(os.path.join(at, name), root)
                  for at, _, names in os.walk(root) for name in names)
