"""A file of an earlier release is written anew when it is opened first. A server
that is killed meanwhile, at any moment, leaves all that was in it.
HYPERTUNE_KILLS: how many kills."""

import contextlib
import os
import sqlite3
import threading

import filling
import harness
import tap

KILLS = int(os.environ.get("HYPERTUNE_KILLS", "6"))
NAME = "hypertune.db"


def without_checksums(server):
    """The file as an earlier release has left it, and without a mark."""
    path = os.path.join(server.data, NAME)
    base = sqlite3.connect(path)
    base.execute("VACUUM INTO ?", (path + ".old",))
    base.close()
    os.replace(path + ".old", path)
    os.remove(path + "-mark")
    with open(path, "rb") as file:
        tap.equal(file.read()[72:76], bytes(4))
    return os.path.getsize(path)


def rows(server):
    path = os.path.join(server.data, NAME)
    base = sqlite3.connect(path)
    tables = [name for name, in base.execute(
        "SELECT name FROM sqlite_schema WHERE type='table' ORDER BY name")]
    found = {name: base.execute("SELECT count(*) FROM " + name).fetchone()
             for name in tables if name not in ("meta", "sqlite_sequence")}
    base.close()
    return found


def length_of(path):
    with contextlib.suppress(OSError):
        return os.path.getsize(path)
    return 0


def killed_at(server, length):
    """Once its log is so long; returns how long it was."""
    log = os.path.join(server.data, NAME + "-wal")
    ended = threading.Event()

    def start():
        with contextlib.suppress(AssertionError):
            server.start()
        ended.set()

    before = server.process
    starting = threading.Thread(target=start)
    starting.start()
    harness.wait_until(lambda: server.process is not before, "the process")
    while length_of(log) < length and not ended.is_set():
        pass
    reached = length_of(log)
    server.process.kill()
    starting.join()
    server.kill()
    return reached


def nothing_is_lost():
    with harness.Server("--runner", "none") as server:
        filling.fill(server, {"one": 4000})
        server.stop()
        size = without_checksums(server)
        kept = rows(server)
        tap.true(kept["measurements"][0] > 1000, kept)
        reached = [killed_at(server, size * number // KILLS)
                   for number in range(KILLS)]
        print("# killed with logs of %s bytes, the file has %d" % (
            reached, size))
        server.start()
        best = server.get(harness.OURS + "one/best")
        tap.true(best, "a best trial")
        tap.equal(server.get("/hypertune/v1/server")["readOnly"], False)
        server.stop()
        tap.equal(rows(server), kept)
        with open(os.path.join(server.data, NAME), "rb") as file:
            tap.equal(file.read()[72:76], b"HtP1")


tap.run([nothing_is_lost])
