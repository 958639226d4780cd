"""The store: chunks and trees over HTTP, who may, what is refused, what is
left after a crash, and what is removed."""

import contextlib
import os
import threading

import api
import harness
import stored
import tap
from fake_clock import fake_clock, missing as no_clock
from small_disk import SmallDisk
from stored import sha

MIB = stored.CHUNK
server = None


def metric(which, name):
    for line in api.ask(which, "GET", "/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    return None


def a_tree_is_kept_and_comes_back():
    data = os.urandom(2 * MIB + 77)
    names = [sha(chunk) for chunk in stored.chunks_of(data)]
    tap.equal(stored.missing(server, names).json(), {"missing": names})
    first = stored.put_chunk(server, data[:MIB])
    tap.equal((first.status, first.json()),
              (200, {"chunk": names[0], "bytes": MIB}))
    tap.equal(stored.missing(server, names).json(), {"missing": names[1:]})
    text = stored.manifest(
        stored.entry("a/b.bin", data, 0o755),
        {"path": "empty", "folder": True}, {"path": "l", "link": "a/b.bin"},
        stored.entry("z", b""))
    early = stored.post_tree(server, text)
    tap.equal((early.status, early.error()["status"]), (409, "ABORTED"))
    tap.equal(early.json()["missing"], sorted(names[1:]))
    tap.equal(stored.get(server, "chunks/" + names[0]).status, 404)
    for chunk in stored.chunks_of(data):
        tap.equal(stored.put_chunk(server, chunk).status, 200)
    for _ in range(2):
        made = stored.post_tree(server, text)
        tap.equal((made.status, made.json()),
                  (200, {"tree": sha(text), "bytes": len(data), "files": 2}))
    back = stored.get(server, "trees/" + sha(text))
    tap.equal((back.status, back.headers["content-type"], back.body),
              (200, "application/json", text))
    parts = [stored.get(server, "chunks/" + name) for name in names]
    tap.equal(b"".join(part.body for part in parts) == data, True)
    tap.equal(parts[0].headers["content-type"], "application/octet-stream")


def a_part_of_a_chunk_may_be_asked_for():
    data = os.urandom(700000)
    name = sha(data)
    stored.keep(server, {"f": data})

    def ask(value):
        return stored.get(server, "chunks/" + name, "Range: " + value)
    for value, begin, end in (("bytes=0-0", 0, 1), ("bytes=300000-", 300000,
                              700000), ("bytes=-5", 699995, 700000),
                              ("bytes=10-9999999", 10, 700000),
                              ("bytes=-9999999", 0, 700000)):
        part = ask(value)
        tap.equal((part.status, part.body == data[begin:end]), (206, True))
        tap.equal(part.headers["content-range"],
                  "bytes %d-%d/700000" % (begin, end - 1))
    for value in ("bytes=5-2", "lines=1-2", "bytes=1-2,4-5", "bytes=-",
                  "bytes=a-b"):
        tap.equal((ask(value).status, ask(value).body == data), (200, True))
    for value in ("bytes=700000-", "bytes=-0"):
        tap.equal((ask(value).status, ask(value).error()["status"]),
                  (416, "OUT_OF_RANGE"))
    head = api.ask(server, "HEAD", stored.path("chunks/" + name))
    tap.equal((head.status, head.headers["content-length"]), (200, "700000"))


def what_is_wrong_is_refused_and_leaves_nothing():
    before = stored.files_in(server)
    data = b"some bytes"
    wrong = stored.put_chunk(server, data, name=sha(b"others"))
    tap.equal(wrong.status, 400)
    tap.contains(sha(data), wrong.error()["message"])
    for name in ("x", "a" * 63, "A" * 64, "%2e%2e%2fpasswd", "g" * 64):
        tap.equal(stored.put_chunk(server, data, name=name).status, 400, name)
        tap.equal(stored.get(server, "chunks/" + name).status, 400, name)
        tap.equal(stored.get(server, "trees/" + name).status, 400, name)
        tap.equal(stored.missing(server, [name]).status, 400, name)
    tap.equal(stored.put_chunk(server, b"").status, 400)
    tap.equal(stored.put_chunk(server, os.urandom(MIB + 1)).status, 413)
    chunked = api.exchange(server, api.head(
        server, "PUT", stored.path("chunks/" + sha(data)), stored.BYTES,
        "Transfer-Encoding: chunked") + b"200000\r\n" + bytes(0x200000) +
        b"\r\n0\r\n\r\n")
    tap.equal(chunked.status, 413)
    for body in ({}, {"chunks": "x"}, {"chunks": [1]}, {"chunks": [], "a": 1},
                 {"chunks": [sha(b"%d" % i) for i in range(10001)]}):
        answer = api.send(server, "POST", stored.path("chunks:missing"), body)
        tap.equal(answer.status, 400, str(body)[:60])
    tap.equal(stored.get(server, "chunks/" + "0" * 64).status, 404)
    tap.equal(stored.get(server, "trees/" + "0" * 64).status, 404)
    harness.wait_until(lambda: stored.files_in(server) == before,
                       "the parts of what was refused to go")


def hostile_manifests_are_refused_by_the_name_of_the_entry():
    data = b"x"
    stored.put_chunk(server, data)
    file = stored.entry("a", data)

    def tree(*entries):
        return stored.post_tree(server, stored.manifest(*entries))
    for entries, said in (
            ([dict(file, path="../a")], '("../a")'),
            ([dict(file, path="/etc/passwd")], "entries[0]"),
            ([file, file], "entries[1]"),
            ([file, dict(file, path="a/b")], '("a/b"): it lies below'),
            ([{"path": "l", "link": "a"}, dict(file, path="l/b")], "below"),
            ([{"path": "l", "link": "../../etc"}], "lead out"),
            ([dict(file, mode=0o4755)], "permission bits"),
            ([dict(file, bytes=2)], "chunks[0] has 1 bytes, not 2"),
            ([dict(file, bytes=MIB + 1)], "2 chunks"),
            ([dict(file, path="p" * 300)], "255")):
        answer = tree(*entries)
        tap.true(answer.status in (400, 413), (answer.status, entries))
        tap.contains(said, answer.error()["message"])
    for text in (b"{}", b"[]", b"", b'{"entries": []}', b"\x00" * 300000,
                 stored.manifest(file) + b"\n"):
        tap.equal(stored.post_tree(server, text).status, 400, text[:40])
    many = [dict(file, path="%07d" % i) for i in range(20000)]
    tap.equal(tree(*many).status, 200)  # of 2.6 MB


def each_project_has_its_own_chunks():
    data = os.urandom(5000)
    text = stored.keep(server, {"secret": data}, "ours")
    for other in ("theirs", "..", "Ours", "o%75rs%20", "%C3%A9%0A", "a" * 100):
        tap.equal(stored.missing(server, [sha(data)], other).json()["missing"],
                  [sha(data)], other)
        tap.equal(stored.get(server, "chunks/" + sha(data),
                             project=other).status, 404, other)
        tap.equal(stored.get(server, "trees/" + sha(text),
                             project=other).status, 404, other)
        tap.equal(stored.post_tree(server, text, other).status, 409, other)
    for other in ("..", "Ours", "%C3%A9%0A", "=6f757273"):
        mine = stored.keep(server, {"f": b"of " + other.encode()}, other)
        tap.equal(stored.get(server, "trees/" + sha(mine),
                             project=other).body, mine)
    store = os.path.join(server.data, "store")
    tap.true(all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_=")
                 for name in os.listdir(store)), os.listdir(store))
    tap.equal(stored.put_chunk(server, data, "x" * 128).status, 400)


def token(role, **more):
    answer = api.send(server, "POST", api.OURS + "/tokens",
                      dict(role=role, **more))
    tap.equal(answer.status, 200, answer.body)
    return answer.json()["secret"]


def a_token_of_a_project_has_that_alone():
    data = os.urandom(100)
    text = stored.manifest(stored.entry("f", data))
    mine = token("submit", name="s-mine", project="mine")
    tap.equal(stored.put_chunk(server, data, "mine", auth=mine).status, 200)
    tap.equal(stored.post_tree(server, text, "mine", auth=mine).status, 200)
    tap.equal(stored.put_chunk(server, data, "local", auth=mine).status, 404)
    tap.equal(stored.get(server, "trees/" + sha(text), project="ours",
                         auth=mine).status, 404)
    reader = token("read", name="r-mine", project="mine")
    tap.equal(stored.get(server, "trees/" + sha(text), project="mine",
                         auth=reader).status, 403)
    runner = api.token(server, "runner-token")
    tap.equal(stored.get(server, "trees/" + sha(text), project="mine",
                         auth=runner).body, text)
    tap.equal(stored.put_chunk(server, data, "mine", auth=False).status, 401)


def begin_tree(which, sock, sent):
    """A body of which a piece has been written."""
    sock.sendall(api.head(which, "POST", stored.path("trees"),
                          "Content-Type: application/json",
                          "Content-Length: %d" % (3 * MIB)) + bytes(sent))
    harness.wait_until(lambda: any(name.endswith(".part")
                                   for name in stored.files_in(which)),
                       "a part")


def a_connection_that_is_cut_leaves_nothing():
    before = stored.files_in(server)
    data = os.urandom(MIB)
    for sent in (0, 1, 400000, MIB - 1):
        with api.connect(server) as sock:
            sock.sendall(api.head(
                server, "PUT", stored.path("chunks/" + sha(data)),
                stored.BYTES, "Content-Length: %d" % MIB) + data[:sent])
    for sent in (MIB + 1, 2 * MIB, 2 * MIB + 300000):
        with api.connect(server) as sock:
            begin_tree(server, sock, sent)
    harness.wait_until(lambda: stored.files_in(server) == before,
                       "the parts to go")
    tap.equal(stored.missing(server, [sha(data)]).json()["missing"],
              [sha(data)])


def many_at_once_wait_for_their_turn():
    with harness.Server("--runner", "none", "--budget",
                        "transfers=2") as small:
        datas = [os.urandom(MIB) for _ in range(12)]
        answers = []
        threads = [threading.Thread(target=lambda data=data: answers.append(
            stored.put_chunk(small, data).status)) for data in datas]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        tap.equal(answers, [200] * 12)


def one_that_stops_in_its_middle_holds_up_no_other_principal():
    with harness.Server("--runner", "none", "--budget",
                        "transfers=2") as small, \
            contextlib.ExitStack() as slow:
        for _ in range(3):
            sock = slow.enter_context(api.connect(small))
            begin_tree(small, sock, MIB + 1)
        runner = api.token(small, "runner-token")
        tap.equal(stored.put_chunk(small, b"now", auth=runner).status, 200)


def what_was_not_a_tree_is_gone_after_a_restart():
    with harness.Server("--runner", "none") as other:
        data, loose = os.urandom(3 * MIB + 5), os.urandom(1000)
        text = stored.keep(other, {"f": data})
        stored.put_chunk(other, loose)
        used = other.get(api.OURS + "/server")["store"]["bytes"]
        tap.equal(used, len(data) + len(text) + len(loose))
        other.kill()
        other.start()
        tap.equal(stored.missing(other, [sha(loose)]).json()["missing"],
                  [sha(loose)])
        tap.equal(stored.get(other, "trees/" + sha(text)).body, text)
        tap.equal(b"".join(stored.get(other, "chunks/" + sha(chunk)).body
                           for chunk in stored.chunks_of(data)) == data, True)
        state = harness.wait_until(
            lambda: other.get(api.OURS + "/server")["store"], "its state")
        tap.equal(state, {"bytes": len(data) + len(text), "trees": 1})
        tap.equal(metric(other, "hypertune_store_trees"), 1)
        tap.equal(metric(other, "hypertune_store_bytes"),
                  len(data) + len(text))


def a_project_keeps_no_more_than_its_budget():
    with harness.Server("--runner", "none", "--budget",
                        "project-store=%d" % (2 * MIB)) as small:
        text = stored.keep(small, {"f": os.urandom(MIB)})
        tap.equal(stored.put_chunk(small, os.urandom(MIB - 1000)).status, 200)
        last = stored.put_chunk(small, os.urandom(5000))
        tap.equal(last.status, 503)
        tap.contains("project-store", last.error()["message"])
        tap.equal(stored.put_chunk(small, os.urandom(5000),
                                   "other").status, 200)
        tap.equal(stored.get(small, "trees/" + sha(text)).body, text)


def a_disk_without_room_takes_no_chunk():
    with SmallDisk(32) as disk:
        if not disk.mounted:
            raise tap.Skip("may not mount")
        full = harness.Server("--runner", "none")
        full.data = os.path.join(disk.path, "data")
        with full:
            text = stored.keep(full, {"f": b"kept"})
            disk.fill_but(0.03)
            reserved = stored.put_chunk(full, os.urandom(1000))
            tap.equal(reserved.status, 503)
            tap.contains("disk", reserved.error()["message"])
            os.unlink(os.path.join(disk.path, "ballast"))
            disk.fill_but(0.0501)  # above the reserve of 5 %, 1.6 MiB
            answers = [stored.put_chunk(full, os.urandom(MIB)).status
                       for _ in range(4)]
            tap.equal(answers[-1], 503)
            tap.equal(stored.get(full, "trees/" + sha(text)).body, text)
            disk.free()
            tap.equal(stored.put_chunk(full, os.urandom(MIB)).status, 200)


def what_nothing_uses_for_an_hour_is_removed():
    if no_clock():
        raise tap.Skip(no_clock())
    shared, own, used = os.urandom(2000), os.urandom(2000), os.urandom(2000)
    with fake_clock() as clock, harness.Server("--runner", "none") as other:
        first = stored.keep(other, {"a": shared, "b": own})
        tap.equal(stored.put_chunk(other, own).status, 200)
        clock.set("+50m")
        second = stored.keep(other, {"a": shared, "c": used})
        clock.set("+70m")
        harness.wait_until(
            lambda: stored.get(other, "trees/" + sha(first)).status == 404,
            "the first tree's end")
        harness.wait_until(
            lambda: stored.get(other, "chunks/" + sha(own)).status == 404,
            "the end of its own chunk")
        tap.equal(stored.get(other, "trees/" + sha(second)).body, second)
        tap.equal(stored.get(other, "chunks/" + sha(shared)).body, shared)
        tap.equal(other.get(api.OURS + "/server")["store"],
                  {"bytes": len(shared) + len(used) + len(second),
                   "trees": 1})


with harness.Server("--runner", "none") as server:
    tap.run([
        a_tree_is_kept_and_comes_back,
        a_part_of_a_chunk_may_be_asked_for,
        what_is_wrong_is_refused_and_leaves_nothing,
        hostile_manifests_are_refused_by_the_name_of_the_entry,
        each_project_has_its_own_chunks,
        a_token_of_a_project_has_that_alone,
        a_connection_that_is_cut_leaves_nothing,
        many_at_once_wait_for_their_turn,
        one_that_stops_in_its_middle_holds_up_no_other_principal,
        what_was_not_a_tree_is_gone_after_a_restart,
        a_project_keeps_no_more_than_its_budget,
        a_disk_without_room_takes_no_chunk,
        what_nothing_uses_for_an_hour_is_removed,
    ])
