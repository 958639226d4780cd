"""power_cut - what a power cut leaves of the files that programs wrote.

A Recorder has tests/tools/preload/disk.c write down what programs do below a
folder; a Disk follows that record up to an operation and builds an image: what
was synced is there, of the rest what a Draw says."""

import contextlib
import os
import random
import shutil
import struct
import tempfile

import harness
import tap

PRELOAD = os.path.realpath(os.path.join(harness.bin_dir(), "..", "tests",
                                        "tools", "preload"))
RECORD = struct.Struct("=IBBHHHxxxxQq")  # struct record of disk.c
SECTOR = 512  # bytes that a disk writes as a whole


def missing():
    """Why nothing can be recorded here; empty when it can."""
    return ("the sanitizers want to be loaded first"
            if harness.is_sanitized() else "")


class Recorder:
    """`environment` and `programs` are for a harness.Server whose data is
    below `root`, a real path; `folder`, elsewhere, gets the record."""

    def __init__(self, folder, root):
        self.root = root
        self.log = os.path.join(folder, "disk.log")
        self.programs = os.path.join(folder, "bin")
        os.mkdir(self.programs)
        for name in ("hypertuned", "hypertune-runner", "hypertune"):
            shutil.copy(os.path.join(harness.bin_dir(), name), self.programs)
        # The usual one is static: nothing can be preloaded into it.
        shutil.copy(os.path.join(PRELOAD, "hypertune-shim"), self.programs)
        self.boot = os.path.join(folder, "boot_id")
        self.reboot()
        self.environment = {
            "LD_PRELOAD": os.path.join(PRELOAD, "disk.so"),
            "HT_DISK_ROOT": root, "HT_DISK_LOG": self.log,
            "HT_DISK_BOOT": self.boot}

    def reboot(self):
        """Programs started from now on see another boot of the kernel."""
        digits = os.urandom(16).hex()
        with open(self.boot, "w", encoding="ascii") as file:
            file.write("-".join((digits[:8], digits[8:12], digits[12:16],
                                 digits[16:20], digits[20:])) + "\n")

    def finish(self, server):
        """What the server does from now on is not part of the record."""
        del server.environment["HT_DISK_LOG"]
        return list(read_log(self.log))

    def position(self):
        """What has happened by now is in the record before this byte."""
        return os.path.getsize(self.log) if os.path.exists(self.log) else 0


class Record:
    """One operation; `end` is where it ends in the log."""

    def __init__(self, data, at):
        (size, op, self.failed, name, other, self.mode, self.inode,
         self.at) = RECORD.unpack_from(data, at)
        self.op = chr(op)
        at += RECORD.size
        self.end = at - RECORD.size + size
        self.name = data[at:at + name].decode()
        self.other = data[at + name:at + name + other].decode()
        self.data = data[at + name + other:self.end]


def read_log(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        record = Record(data, at)
        yield record
        at = record.end


class File:
    """Its bytes as of the last sync, and what was done to it since."""

    def __init__(self, mode):
        self.mode = mode
        self.synced = bytearray()
        self.pending = []  # (offset, bytes), or (size, None): truncated

    def sync(self):
        for at, data in self.pending:
            apply(self.synced, at, data)
        self.pending = []


def apply(content, at, data):
    if data is None:
        del content[at:]
        content.extend(bytes(at - len(content)))
    else:
        content.extend(bytes(max(0, at - len(content))))
        content[at:at + len(data)] = data


class Draw:
    """What becomes of what was not synced, by chance unless a kind is given:
    drop, keep, or of each sector another state (torn)."""

    def __init__(self, seed, kind=None):
        self.random = random.Random(seed)
        # Whether names appear in order, as a journal of the file system has
        # it, or each folder for itself, as POSIX allows it.
        self.ordered = self.random.random() < 0.5
        self.kind = kind or self.random.choice(
            ("drop", "keep", "torn", "torn"))

    def content(self, file):
        """Of each sector any of its states since the sync may be there."""
        content = bytearray(file.synced)
        reached = {}  # sector -> how many of the operations it has seen
        for number, (at, data) in enumerate(file.pending):
            if data is None:
                if self.lasts(reached, -1, number, len(file.pending)):
                    apply(content, at, None)
                continue
            done = 0
            while done < len(data):
                place = at + done
                size = min(SECTOR - place % SECTOR, len(data) - done)
                if self.lasts(reached, place // SECTOR, number,
                              len(file.pending)):
                    apply(content, place, data[done:done + size])
                done += size
        return content

    def lasts(self, reached, sector, number, most):
        if sector not in reached:
            reached[sector] = {"drop": 0, "keep": most}.get(
                self.kind, self.random.choice(
                    (0, most, self.random.randint(0, most))))
        return number < reached[sector]

    def names(self, moves, committed):
        """Those of the moves that are on the disk."""
        if self.ordered:
            return moves[:self.random.randint(committed, len(moves))
                         if self.kind == "torn" else
                         committed if self.kind == "drop" else len(moves)]
        left = {}
        for move in moves:
            if not move.synced:
                left[move.folder] = left.get(move.folder, 0) + 1
        for folder, count in left.items():
            left[folder] = {"drop": 0, "keep": count}.get(
                self.kind, self.random.randint(0, count))
        found = []
        for move in moves:
            if not move.synced:
                left[move.folder] -= 1
            if move.synced or left[move.folder] >= 0:
                found.append(move)
        return found


class Move:
    """A change of a name; it lasts when its folder was synced."""

    def __init__(self, op, name, other="", file=None, mode=0):
        self.op, self.name, self.other = op, name, other
        self.file = file
        self.mode = mode
        self.folder = os.path.dirname(other or name)
        self.synced = False


class Tree:
    """Names and what they name: a File, or the mode of a folder."""

    def __init__(self, root):
        self.root = root
        self.names = {}

    def below(self, name):
        return [path for path in self.names if path.startswith(name + "/")]

    def make(self, move):
        parent = move.folder
        if parent != self.root and parent not in self.names:
            return  # it is in a folder that was lost
        if move.op == "C":
            self.names[move.name] = move.file
        elif move.op == "D" or (move.op == "M" and move.name in self.names):
            self.names[move.name] = move.mode
        elif move.op == "U":
            if not self.below(move.name):
                self.names.pop(move.name, None)
        elif move.op == "L" and move.name in self.names:
            self.names[move.other] = self.names[move.name]
        elif move.op == "R" and move.name in self.names:
            for path in self.below(move.name):
                self.names[move.other + path[len(move.name):]] = \
                    self.names.pop(path)
            self.names[move.other] = self.names.pop(move.name)


class Disk:
    """Follows a record. Below `witness` all is kept: what clients wrote down
    for a test. `but`: syncs of what has a path that ends so do nothing."""

    def __init__(self, root, witness=None, but=None):
        self.tree = Tree(root)  # as programs see it
        self.witness = witness
        self.but = but
        self.inodes = {}
        self.moves = []
        self.committed = 0  # of the moves, where they last in their order
        if witness is not None:
            self.move(Move("D", witness, mode=0o700))

    def is_kept(self, path):
        return self.witness is not None and (
            path + "/").startswith(self.witness + "/")

    def move(self, move):
        move.synced = self.is_kept(move.name)
        self.moves.append(move)
        self.tree.make(move)

    def file(self, record):
        file = self.inodes.get(record.inode)
        if file is None or (record.op == "C"):
            file = self.inodes[record.inode] = File(record.mode)
            self.move(Move("C", record.name, file=file))
        file.mode = record.mode
        return file

    def sync(self, record):
        if record.failed or (self.but and record.name.endswith(self.but)):
            return
        self.committed = len(self.moves)
        if isinstance(self.tree.names.get(record.name, 0), int):
            for move in self.moves:
                move.synced |= move.folder == record.name
        elif record.inode in self.inodes:
            self.inodes[record.inode].sync()

    def sync_all(self, record):
        if record.failed:
            return
        self.committed = len(self.moves)
        for move in self.moves:
            move.synced = True
        for name, file in self.tree.names.items():
            if not isinstance(file, int) and not (
                    self.but and name.endswith(self.but)):
                file.sync()

    def follow(self, record):
        if record.op == "S":
            self.sync(record)
        elif record.op == "A":
            self.sync_all(record)
        elif record.op == "C":
            self.file(record)
        elif record.op in "WT":
            file = self.file(record)
            file.pending.append((record.at, record.data
                                 if record.op == "W" else None))
            if self.is_kept(record.name):
                file.sync()
        else:
            self.move(Move(record.op, record.name, record.other,
                           mode=record.mode))

    def write_image(self, draw):
        """Makes the files below its root, where nothing may be."""
        tree = Tree(self.tree.root)
        for move in draw.names(self.moves, self.committed):
            tree.make(move)
        for path in sorted(tree.names):
            what = tree.names[path]
            if isinstance(what, int):
                os.mkdir(path, what)
            elif not path.endswith("-shm"):  # memory, made anew
                with open(path, "wb") as file:
                    file.write(draw.content(what))
                os.chmod(path, what.mode)


def moments_after(records, name):
    folders = set()
    for number, record in enumerate(records, 1):
        folder, what = os.path.split(record.other)
        if record.op == "R" and what == name:
            folders.add(folder)
        elif record.op == "S" and record.name in folders:
            folders.remove(record.name)
            yield number


class Cuts:
    """So many of them in the records, at moments drawn by a seed. `but`: syncs
    of files whose path ends so do nothing, and what no sync saved is lost;
    `after`: each is just after a file of that name was synced with its
    folder."""

    def __init__(self, recorder, server, records, seed, count, but=None,
                 witness=None, after=None):
        self.recorder = recorder
        self.server = server
        self.seed = seed
        self.now = ""
        self.disk = Disk(recorder.root, witness, but)
        self.kind = "drop" if but else None
        self.records = records
        self.draw = random.Random(seed)
        moments = list(moments_after(self.records, after) if after else
                       range(1, len(self.records)))
        self.at = sorted(self.draw.sample(moments, min(count, len(moments))))

    def images(self):
        """Builds one after the other; says where the record was by then."""
        done = 0
        for cut in self.at:
            for record in self.records[done:cut]:
                self.disk.follow(record)
            done = cut
            draw = Draw(self.draw.random(), self.kind)
            self.now = "seed %d, operation %d of %d, %s%s" % (
                self.seed, cut, len(self.records), draw.kind,
                " in order" if draw.ordered else "")
            harness.kill_runs(self.server.data, self.server.programs)
            self.recorder.reboot()
            for name in os.listdir(self.recorder.root):
                shutil.rmtree(os.path.join(self.recorder.root, name))
            self.disk.write_image(draw)
            yield self.records[cut - 1].end


def first_fault(cuts, check):
    """What is wrong with a server on an image: it does not start, or what
    check(end) finds while it runs. It ends with the first fault. None: nothing
    is wrong with any."""
    for end in cuts.images():
        try:
            cuts.server.start()
            check(end)
        except AssertionError as fault:
            return "%s: %s" % (cuts.now, fault)
        finally:
            if cuts.server.process is not None:
                cuts.server.kill()
    return None


@contextlib.contextmanager
def recorded(*options, environment=None, **more):
    """A recorder and a server below it, which was not started."""
    with tempfile.TemporaryDirectory(prefix="ht-cut-") as folder:
        folder = os.path.realpath(folder)
        root = os.path.join(folder, "disk")
        os.mkdir(root)
        recorder = Recorder(folder, root)
        server = harness.Server(*options, programs=recorder.programs,
                                environment={**recorder.environment,
                                             **(environment or {})}, **more)
        server.data = os.path.join(root, "data")
        try:
            yield recorder, server
        except BaseException:
            server.close(False)
            raise
        server.close()


def tree_of(folder):
    """Names, modes and bytes of what is in it, but for memory."""
    found = {}
    for path, _, names in os.walk(folder):
        found[path] = os.stat(path).st_mode
        for name in names:
            whole = os.path.join(path, name)
            if not name.endswith("-shm"):
                with open(whole, "rb") as file:
                    found[whole] = os.stat(whole).st_mode, file.read()
    return found


def expect_complete(recorder, records, witness=None):
    """Nothing that was written escaped the record: it makes the same files."""
    disk = Disk(recorder.root, witness)
    for record in records:
        disk.follow(record)
    want = tree_of(recorder.root)
    shutil.move(recorder.root, recorder.root + ".real")
    os.mkdir(recorder.root)
    disk.write_image(Draw(0, "keep"))
    got = tree_of(recorder.root)
    tap.equal(sorted(got), sorted(want))
    tap.equal([path for path in want
               if got[path] != want[path] and path != witness], [])
