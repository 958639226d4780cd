"""The files of a trial for people: listed, fetched one by one and as an archive,
from what a real runner and a played one have sent; who may, and what is damaged."""

import io
import json
import os
import tarfile
import urllib.parse
import urllib.request

import api
import harness
import stored
import tap
from fake_runner import Runner

MIB = stored.CHUNK
LONG = "d" * 90 + "/" + "e" * 90 + "/\u00e9t\u00e9.txt"
EVIL = 'q"\r\nX-Evil: 1\n..html'
WRITES = r"""
import os, sys
root = os.environ["AIP_MODEL_DIR"]
def write(name, data):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
write("weights.bin", bytes(range(256)) * 10000)
write("empty", b"")
write("page.html", b"<script>document.title='owned'</script>")
write("pic.PNG", b"\x89PNG no picture")
write(%r, b"evil")
write(%r, b"long")
os.symlink("weights.bin", os.path.join(root, "newest"))
os.mkdir(os.path.join(root, "nothing"))
print("score=1")
""" % (EVIL, LONG)
SPEC = {"spec": 1, "name": "s", "goal": "maximize score", "trials": 1,
        "parameters": {"x": [1]}, "algorithm": "grid", "args": "none",
        "command": ["python3", "-c", WRITES],
        "metrics": {"stdout": "score={score}"}}
PLAYED = {"spec": 1, "name": "p", "goal": "maximize accuracy", "trials": 1,
          "parameters": {"x": [1]}, "algorithm": "grid", "retries": 0,
          "args": "none", "command": ["true"], "metricDoctor": "warn"}

server = None


def trial(study="s"):
    return "%s/studies/%s/trials/1" % (api.OURS, study)


def fetched():
    """The tree of the outputs, once their runner has sent them."""
    said = {}

    def ready():
        status, answer = server.call("POST", trial() + ":fetch", dict(said))
        tap.equal(status, 200, answer)
        said["fetch"] = answer["fetch"]
        return answer["state"] == "READY" and answer["tree"]
    return harness.wait_until(ready, "the outputs")


def path_of(tree, path):
    return "%s/trees/%s/file?path=%s" % (trial(), tree,
                                         urllib.parse.quote(path, safe=""))


def get(tree, path, *lines):
    return api.ask(server, "GET", path_of(tree, path), *lines)


def the_outputs_are_listed_once_they_are_there():
    before = server.get(trial() + "/files")
    tap.equal((before["trees"], before["outputs"]["attempt"]), ([], 1))
    tap.true(os.path.isdir(before["outputs"]["folder"]), before)
    tap.equal("problem" in before["outputs"], False, before)
    tree = fetched()
    (found,) = server.get(trial() + "/files")["trees"]
    tap.equal((found["kind"], found["tree"], found["files"], found["attempt"]),
              ("OUTPUTS", tree, 6, 1))
    listed = server.get("%s/trees/%s/files" % (trial(), tree))
    tap.equal([list(one.items()) for one in listed["files"]], [
        [("path", "model/" + LONG), ("bytes", 4)],
        [("path", "model/empty"), ("bytes", 0)],
        [("path", "model/newest"), ("link", "weights.bin")],
        [("path", "model/nothing"), ("folder", True)],
        [("path", "model/page.html"), ("bytes", 39)],
        [("path", "model/pic.PNG"), ("bytes", 15)],
        [("path", "model/" + EVIL), ("bytes", 4)],
        [("path", "model/weights.bin"), ("bytes", 2560000)]])
    paths, after = [], 0
    while after is not None:
        page = server.get("%s/trees/%s/files?limit=3&after=%d" % (
            trial(), tree, after))
        paths += page["files"]
        after = page.get("next")
    tap.equal(paths, listed["files"])
    for query in ("limit=0", "limit=10001", "after=-1", "what=1"):
        tap.equal(server.call("GET", "%s/trees/%s/files?%s" % (
            trial(), tree, query))[0], 400, query)


def one_file_comes_as_it_is_and_runs_nowhere():
    tree, data = fetched(), bytes(range(256)) * 10000
    answer = get(tree, "model/weights.bin")
    tap.equal((answer.status, answer.body == data), (200, True))
    tap.equal(answer.headers["content-type"], "application/octet-stream")
    for begin, end in ((0, 10), (MIB - 5, MIB + 5), (2 * MIB, 2560000)):
        part = get(tree, "model/weights.bin",
                   "Range: bytes=%d-%d" % (begin, end - 1))
        tap.equal((part.status, part.body == data[begin:end],
                   part.headers["content-range"]),
                  (206, True, "bytes %d-%d/2560000" % (begin, end - 1)))
    tap.equal(get(tree, "model/weights.bin", "Range: bytes=2560000-").status,
              416)
    head = api.ask(server, "HEAD", path_of(tree, "model/weights.bin"))
    tap.equal((head.status, head.headers["content-length"]), (200, "2560000"))
    empty = get(tree, "model/empty")
    tap.equal((empty.status, empty.headers["content-length"], empty.body),
              (200, "0", b""))
    page = get(tree, "model/page.html")
    tap.equal(page.headers["content-disposition"],
              "attachment; filename=\"page.html\"; filename*=UTF-8''page.html")
    tap.equal((page.headers["content-type"],
               page.headers["x-content-type-options"],
               page.headers["content-security-policy"],
               page.headers["cross-origin-resource-policy"]),
              ("application/octet-stream", "nosniff",
               "default-src 'none'; sandbox", "same-origin"))
    tap.equal(get(tree, "model/pic.PNG").headers["content-type"], "image/png")


def hostile_names_are_words_alone():
    tree = fetched()
    evil = get(tree, "model/" + EVIL)
    tap.equal((evil.status, evil.body), (200, b"evil"))
    tap.equal("x-evil" in evil.headers, False, evil.headers)
    tap.equal(evil.headers["content-disposition"],
              "attachment; filename=\"q___X-Evil__1_..html\"; "
              "filename*=UTF-8''q%22__X-Evil%3A%201_..html")
    tap.contains("%C3%A9t%C3%A9.txt",
                 get(tree, "model/" + LONG).headers["content-disposition"])
    for path in ("../../../etc/passwd", "/etc/passwd", "model/../model/empty",
                 "model", "model/newest", "model/nothing", "", "\u202e"):
        tap.equal(get(tree, path).status, 404, path)
    tap.equal(api.ask(server, "GET", "%s/trees/%s/file" % (
        trial(), tree)).status, 400)
    for name in ("0" * 64, "..%2f..%2fsecrets", "x"):
        tap.equal(get(name, "model/empty").status, 404, name)


def all_of_them_come_as_an_archive():
    tree = fetched()
    answer = api.ask(server, "GET", "%s/trees/%s/archive" % (trial(), tree))
    tap.equal(answer.status, 200)
    tap.contains('filename="s-1-outputs.tar"',
                 answer.headers["content-disposition"])
    with tarfile.open(fileobj=io.BytesIO(answer.body)) as files:
        found = {one.name: one for one in files.getmembers()}
        top = "s-1-outputs/model/"
        tap.equal(sorted(found), sorted(top + name for name in (
            LONG, EVIL, "empty", "newest", "nothing", "page.html", "pic.PNG",
            "weights.bin")))
        tap.equal(files.extractfile(top + "weights.bin").read() ==
                  bytes(range(256)) * 10000, True)
        tap.equal(files.extractfile(top + LONG).read(), b"long")
        tap.equal((found[top + "newest"].issym(),
                   found[top + "newest"].linkname,
                   found[top + "nothing"].isdir()),
                  (True, "weights.bin", True))
        stored_ms = server.get(trial() + "/files")["trees"][0]["storedTimeMs"]
        tap.equal(found[top + "empty"].mtime, stored_ms // 1000)


def token(role, **more):
    answer = api.send(server, "POST", api.OURS + "/tokens",
                      dict(role=role, **more))
    tap.equal(answer.status, 200, answer.body)
    return answer.json()["secret"]


def who_may_read_the_study_may_read_its_files():
    tree = fetched()
    reader = token("read", name="r-all")
    mine = token("read", name="r-mine", project="local")
    foreign = token("read", name="r-foreign", project="other")
    share = token("share", name="r-share", study="s")
    for auth, want in ((reader, 200), (mine, 200), (foreign, 404),
                       (share, 403), (False, 401),
                       (api.token(server, "runner-token"), 403)):
        for what in ("/files", "/trees/%s/files" % tree,
                     "/trees/%s/archive" % tree,
                     "/trees/%s/file?path=model%%2Fempty" % tree):
            tap.equal(api.ask(server, "GET", trial() + what,
                              auth=auth).status, want, (want, what))


def only_trees_of_the_trial_are_shown():
    text = stored.keep(server, {"secret": b"of the code"})
    tap.equal(get(stored.sha(text), "secret").status, 404)


class Played:
    """A server with a checkpoint that a played runner has sent."""

    def __init__(self, files, *more):
        self.files = files
        self.more = more  # entries of the same chunks
        self.server = harness.Server("--runner", "none")
        self.tree = ""

    def __enter__(self):
        self.server.__enter__()
        self.server.submit(dict(PLAYED))
        with Runner(self.server, name="played") as runner:
            attempt = runner.one().started()
            text = stored.keep(self.server, self.files)
            if self.more:
                text = stored.manifest(*(
                    json.loads(text)["entries"] + list(self.more)))
                tap.equal(stored.post_tree(self.server, text).status, 200)
            self.tree = stored.sha(text)
            runner.tell("checkpoint", tree=self.tree, step=40, **attempt.name)
            attempt.report(0.5, step=41).ended("succeeded", exit=0)
        return self

    def __exit__(self, *problem):
        self.server.__exit__(*problem)

    def get(self, what, *lines):
        return api.ask(self.server, "GET", "%s/trees/%s/%s" % (
            trial("p"), self.tree, what), *lines)

    def stream(self, what):
        return urllib.request.urlopen(urllib.request.Request(
            "%s%s/trees/%s/%s" % (self.server.http, trial("p"), self.tree,
                                  what),
            headers={"Authorization": "Bearer " + api.token(self.server)}))

    def place(self, name):
        """Where the store has a file of that name."""
        (found,) = [one for one in stored.files_in(self.server)
                    if one.endswith(name)]
        return os.path.join(self.server.data, "store", found)

    def spoil(self, name):
        with open(self.place(name), "r+b") as file:
            file.seek(30)
            file.write(b"~")


def a_long_file_comes_whole():
    kinds = [os.urandom(MIB), os.urandom(MIB)]
    order = [kinds[i % 3 == 0] for i in range(520)] + [b"end"]
    whole = {"path": "w", "mode": 0o644, "bytes": 520 * MIB + 3,
             "chunks": [stored.sha(chunk) for chunk in order]}
    with Played({"0": kinds[0], "1": kinds[1], "2": b"end"}, whole) as one:
        for what in ("file?path=w", "archive"):
            with one.stream(what) as answer:
                if what == "archive":
                    files = tarfile.open(fileobj=answer, mode="r|")
                    for member in files:
                        if member.name.endswith("/w"):
                            answer = files.extractfile(member)
                            break
                for i, chunk in enumerate(order):
                    tap.equal(answer.read(len(chunk)) == chunk, True, i)
                tap.equal(answer.read(1), b"", "the end of " + what)


def a_checkpoint_is_shown_and_its_damage_never():
    data = os.urandom(3 * MIB + 9)
    many = {"many/%05d" % i: b"%d" % (i % 7) for i in range(12000)}
    with Played(dict(many, w=data, x=b"whole")) as one:
        (found,) = one.server.get(trial("p") + "/files")["trees"]
        tap.equal((found["kind"], found["step"], found["files"],
                   found["bytes"]),
                  ("CHECKPOINT", "40", 12002, len(data) + 5 + 12000))
        answer = one.get("archive")
        tap.contains('filename="p-1-checkpoint-step-40.tar"',
                     answer.headers["content-disposition"])
        tap.equal(len(answer.body), int(answer.headers["content-length"]))
        with tarfile.open(fileobj=io.BytesIO(answer.body)) as files:
            tap.equal({one.name: files.extractfile(one).read()
                       for one in files.getmembers()[:-2]},
                      {"p-1-checkpoint-step-40/" + name: text
                       for name, text in many.items()})
            tap.equal(files.extractfile("p-1-checkpoint-step-40/w").read() ==
                      data, True)
        names = [stored.sha(chunk) for chunk in stored.chunks_of(data)]
        one.spoil(names[2])
        cut = one.get("file?path=w")
        tap.equal((cut.status, cut.headers["content-length"]),
                  (200, str(len(data))))
        tap.equal(cut.body == data[:2 * MIB], True, "what is whole alone")
        bad = one.get("file?path=w", "Range: bytes=%d-" % (2 * MIB))
        tap.equal((bad.status, bad.error()["status"]), (500, "DATA_LOSS"))
        tap.contains("damaged", bad.error()["message"])
        os.unlink(one.place(names[3]))
        for what in ("file?path=w", "archive"):
            lost = one.get(what)
            tap.equal((lost.status, lost.error()["status"]),
                      (500, "DATA_LOSS"))
            tap.contains(names[3], lost.error()["message"])
        tap.equal(one.get("file?path=x").body, b"whole")
        one.spoil(one.tree)
        tap.equal(one.get("file?path=x").error()["status"], "DATA_LOSS")


with harness.Server() as server:
    server.submit(dict(SPEC))
    tap.equal(server.wait_study("s")["state"], "SUCCEEDED")
    tap.run([the_outputs_are_listed_once_they_are_there,
             one_file_comes_as_it_is_and_runs_nowhere,
             hostile_names_are_words_alone,
             all_of_them_come_as_an_archive,
             who_may_read_the_study_may_read_its_files,
             only_trees_of_the_trial_are_shown,
             a_long_file_comes_whole,
             a_checkpoint_is_shown_and_its_damage_never])
