"""The server dies at each place of a tree's way onto the disk and into the
database: what was acknowledged is there, what was not can be sent again, and
nothing counts as whole that is not."""

import contextlib
import os

import api
import harness
import stored
import tap
from stored import sha

EXIT = 86  # FAILPOINT_EXIT of tuner/base/failpoint.h
PLACES = ("store_synced", "store_moved", "store_named", "before_commit",
          "after_commit")
FILES = {"a/%d" % i: os.urandom(40000 + i) for i in range(20)}
TEXT = stored.manifest(*(stored.entry(name, FILES[name])
                         for name in sorted(FILES)))


def check_whole(server):
    """Every file below a name by which it counts has the bytes of that name,
    and a tree that is there has all of its chunks."""
    root = os.path.join(server.data, "store")
    for path in stored.files_in(server):
        parts = path.split("/")
        if parts[1] in ("chunks", "trees"):
            with contextlib.suppress(FileNotFoundError):  # it was no tree's
                with open(os.path.join(root, path), "rb") as file:
                    tap.equal(sha(file.read()), parts[-1], path)
    tap.equal([path for path in stored.files_in(server)
               if "/arriving/" in path], [])


def dies_at(place, turn):
    with harness.Server("--runner", "none") as server:
        kept = stored.keep(server, {"kept": b"before", "a": FILES["a/1"]})
        for data in FILES.values():
            tap.equal(stored.put_chunk(server, data).status, 200)
        tap.equal(server.stop(), 0, "exit of the server")
        while server.start(fail="%s:%d" % (place, turn)) is None:
            turn += 1  # its own first commits
        acknowledged = False
        try:
            for data in FILES.values():
                stored.put_chunk(server, data)
            answer = stored.post_tree(server, TEXT)
            acknowledged = answer is not None and answer.status == 200
        except OSError:
            pass
        if place.startswith("store"):
            tap.equal((acknowledged, server.wait_death()), (False, EXIT))
        elif server.process.poll() is None:
            server.kill()
        else:
            server.wait_death()
        server.start()
        check_whole(server)
        tap.equal(stored.get(server, "trees/" + sha(kept)).body, kept)
        tap.equal(stored.get(server, "chunks/" + sha(FILES["a/1"])).body,
                  FILES["a/1"])
        if acknowledged:
            tap.equal(stored.get(server, "trees/" + sha(TEXT)).body, TEXT)
        by_name = {sha(data): data for data in FILES.values()}
        answer = stored.post_tree(server, TEXT)
        while answer.status == 409:  # what no tree has is being removed, too
            for name in answer.json()["missing"]:
                tap.equal(stored.put_chunk(server, by_name[name]).status, 200)
            answer = stored.post_tree(server, TEXT)
        tap.equal(answer.status, 200, answer.body)
        server.kill()
        server.start()
        check_whole(server)
        for data in FILES.values():
            tap.equal(stored.get(server, "chunks/" + sha(data)).body, data)
        trees = server.get(api.OURS + "/server")["store"]["trees"]
        tap.equal(trees, 2)


def a_tree_survives_a_death_at_any_place():
    for place in PLACES:
        dies_at(place, 1)


def what_comes_is_gone_after_kill_and_what_was_acknowledged_is_not():
    with harness.Server("--runner", "none") as server:
        for number in range(5):
            kept = stored.keep(server, {"f": os.urandom(100000)})
            loose = os.urandom(5000)
            tap.equal(stored.put_chunk(server, loose).status, 200)
            server.kill()
            server.start()
            check_whole(server)
            tap.equal(stored.get(server, "trees/" + sha(kept)).body, kept)
            tap.equal(stored.missing(server, [sha(loose)]).json(),
                      {"missing": [sha(loose)]}, number)


tap.run([a_tree_survives_a_death_at_any_place,
         what_comes_is_gone_after_kill_and_what_was_acknowledged_is_not])
