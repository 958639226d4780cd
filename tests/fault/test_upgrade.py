"""A database of each earlier version is brought up to date by a server that is
killed at its n-th write, sync or change of a name: the file is of the old version
or of a newer one, never in between, and the next start completes it.

HYPERTUNE_FAILURES (default 2) is how many n of each version are tried, drawn by
HYPERTUNE_SEED (default 1); with more than there are, all of them are."""

import os
import random
import shutil
import sqlite3
import subprocess
import tempfile

import api
import fake_runner
import harness
import power_cut
import tap

FAILURES = int(os.environ.get("HYPERTUNE_FAILURES", "2"))
SEED = int(os.environ.get("HYPERTUNE_SEED", "1"))
OLD_DATABASE = os.path.realpath(os.path.join(
    harness.bin_dir(), "..", "tests", "tools", "old_database"))
QUESTIONS = [harness.OURS + "job/" + what for what in (
    "trials", "events", "measurements", "best")]


def play(server):
    """A study with results; returns what the server says of it."""
    tap.equal(server.call("POST", api.JOBS, api.job(
        "job", maxTrialCount=2, parallelTrialCount=1))[0], 200)
    with fake_runner.Runner(server) as runner:
        for value in (0.25, 0.5):
            runner.one().succeed(value)
    harness.wait_until(lambda: server.study("job")["state"] == "SUCCEEDED",
                       "the end")
    return answers(server)


def answers(server):
    return [server.get(question) for question in QUESTIONS]


def columns(db, schema, table):
    return [row[1] for row in db.execute("PRAGMA %s.table_info(%s)" % (
        schema, table))]


def copy_rows(db, table):
    """What both versions have; a checksum of a record is not looked at."""
    old, new = (columns(db, schema, table) for schema in ("main", "now"))
    taken = ['"%s"' % name for name in old if name in new]
    more = [name for name in old if name == "crc"]
    db.execute("INSERT INTO main.%s(%s) SELECT %s FROM now.%s" % (
        table, ", ".join(taken + more), ", ".join(taken + ["0"] * len(more)),
        table))


def write_old(path, version, now, folder):
    """A file of that version as SQLite alone writes it, with the rows of the
    file `now`; returns the newest version there is."""
    empty = os.path.join(folder, "empty-%d.db" % version)
    newest = int(subprocess.run([OLD_DATABASE, empty, str(version)], check=True,
                                stdout=subprocess.PIPE).stdout)
    with sqlite3.connect(empty) as db:
        schema = [row[0] for row in db.execute(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND"
            " name NOT LIKE 'sqlite_%' ORDER BY rowid")]
        application, = db.execute("PRAGMA application_id").fetchone()
    db.close()
    with sqlite3.connect(path) as db:
        for statement in schema:
            db.execute(statement)
        db.execute("ATTACH ? AS now", (now,))
        for table, in db.execute(
                "SELECT name FROM main.sqlite_schema WHERE type='table' AND"
                " name NOT LIKE 'sqlite_%'").fetchall():
            if columns(db, "now", table):
                copy_rows(db, table)
        db.execute("PRAGMA user_version=%d" % version)
        db.execute("PRAGMA application_id=%d" % application)
    db.close()
    return newest


def state_of(path):
    """Version and number of records, of a copy: SQLite alone would write."""
    with tempfile.TemporaryDirectory() as folder:
        for end in ("", "-wal", "-journal"):
            if os.path.exists(path + end):
                shutil.copy(path + end, os.path.join(folder, "copy.db" + end))
        db = sqlite3.connect(os.path.join(folder, "copy.db"))
        tap.equal(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        version, = db.execute("PRAGMA user_version").fetchone()
        count, = db.execute("SELECT count(*) FROM measurements").fetchone()
        has_crc = "crc" in columns(db, "main", "measurements")
        db.close()
    return version, count, has_crc


class Upgrade:
    """From one version, again and again."""

    def __init__(self, server, old, version, newest):
        self.server = server
        self.old = old
        self.version, self.newest = version, newest
        self.count = os.path.join(server.folder, "count")

    def begin(self, fault):
        """Returns whether the server was killed by it."""
        if os.path.exists(self.count):
            os.unlink(self.count)
        shutil.rmtree(self.server.data, ignore_errors=True)
        os.mkdir(self.server.data, 0o700)
        shutil.copy(self.old, os.path.join(self.server.data, "hypertune.db"))
        self.server.environment["HT_DISK_FAULT"] = fault
        try:
            self.server.start()
            self.server.kill()
            return False
        except AssertionError:
            tap.equal(self.server.wait_death(), -9, fault)
            return True
        finally:
            del self.server.environment["HT_DISK_FAULT"]

    def operations(self):
        self.begin("any:0:KILL")
        with open(self.count, "rb") as file:
            return int.from_bytes(file.read(8), "little")

    def check(self, n, want):
        killed = self.begin("any:%d:KILL" % n)
        version, count, has_crc = state_of(
            os.path.join(self.server.data, "hypertune.db"))
        print("# from %d, operation %d%s: version %d" % (
            self.version, n, " killed it" if killed else "", version))
        tap.true(self.version <= version <= self.newest, version)
        tap.equal((count > 0, has_crc), (True, version < 8))
        self.server.start()
        tap.equal(answers(self.server), want)
        self.server.stop()
        tap.equal(state_of(os.path.join(self.server.data, "hypertune.db"))[0],
                  self.newest)


def main():
    if power_cut.missing():
        tap.skip("upgrades", power_cut.missing())
    with power_cut.recorded("--runner", "none") as (recorder, server):
        server.start()
        want = play(server)
        server.stop()
        recorder.finish(server)
        now = shutil.copy(os.path.join(server.data, "hypertune.db"),
                          os.path.join(server.folder, "now.db"))
        server.environment["HT_DISK_COUNT"] = os.path.join(server.folder,
                                                           "count")
        draw = random.Random(SEED)

        def an_upgrade_that_is_killed_is_completed_by_the_next_start():
            version, newest = 1, 2
            while version < newest:
                old = os.path.join(server.folder, "old-%d.db" % version)
                newest = write_old(old, version, now, server.folder)
                upgrade = Upgrade(server, old, version, newest)
                everything = range(1, upgrade.operations() + 1)
                for n in sorted(draw.sample(everything, min(
                        FAILURES, len(everything)))):
                    upgrade.check(n, want)
                version += 1

        tap.run([an_upgrade_that_is_killed_is_completed_by_the_next_start])


if __name__ == "__main__":
    main()
