"""Backups of a running server: under load, by its schedule, refused."""

import json
import os
import shutil
import threading
import time

import api
import backups
import fake_runner
import harness
import stored
import tap
from small_disk import SmallDisk


def manifest(copy):
    with open(os.path.join(copy, "manifest.json"), encoding="utf-8") as file:
        return json.load(file)


def state(server):
    return server.get(api.OURS + "/server")["backups"]


def metric(server, name):
    for line in api.ask(server, "GET", "/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    return None


class Load:
    """Reports and log lines without a pause, until it is left."""

    def __init__(self, server):
        self.server, self.confirmed, self.ended = server, 0, False

    def __enter__(self):
        self.runner = fake_runner.Runner(self.server)
        self.attempt = self.runner.one().started()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        while not self.ended:
            self.attempt.report(0.5, step=self.confirmed + 1)
            self.attempt.say("line %d\n" % self.confirmed)
            self.confirmed += 1

    def __exit__(self, *unused):
        self.ended = True
        self.thread.join()
        self.runner.sock.close()


def restored(copy):
    """A server on a folder that was restored from it."""
    server = harness.Server("--runner", "none")
    done = backups.restore(copy, server.data)
    tap.equal(done.returncode, 0, done.stderr)
    return server


def copies_under_load_are_whole_and_of_one_moment():
    with harness.Server("--runner", "none") as server:
        backups.played(server, "done", trials=2)
        tap.equal(server.call("POST", api.JOBS, api.job(
            "busy", maxTrialCount=1))[0], 200)
        before = backups.answers(server, ["done"])
        found = []
        with Load(server) as load:
            for number in range(3):
                harness.wait_until(lambda: load.confirmed > 20 * number,
                                   "reports")
                low = load.confirmed
                to = os.path.join(server.folder, "to-%d" % number)
                os.mkdir(to)
                found.append((low, backups.make(server, "--to", to)))
        for low, copy in found:
            checked = backups.verify(copy)
            tap.equal(checked.returncode, 0, checked.stderr)
            with restored(copy) as other:
                backups.same(other, ["done"], before)
                steps = [int(m["step"])
                         for m in other.measurements("busy", 1)]
                tap.equal(steps, list(range(1, len(steps) + 1)))
                tap.true(len(steps) >= low, (len(steps), low))
                tap.equal(server.get(api.OURS + "/server")["server"],
                          other.get(api.OURS + "/server")["server"])


def a_copy_may_be_longer_than_what_fits_into_memory():
    with harness.Server("--runner", "none") as server:
        tap.equal(server.call("POST", api.JOBS, api.job("s"))[0], 200)
        server.stop()
        backups.fill(os.path.join(server.data, "hypertune.db"), 24)
        server.start()
        with Load(server) as load:  # its first pages are in the log, too
            harness.wait_until(lambda: load.confirmed > 5, "reports")
            copy = backups.make(server)
        checked = backups.verify(copy)
        tap.equal(checked.returncode, 0, checked.stderr)


def scheduled(server):
    return [name for name in os.listdir(os.path.join(server.data, "backups"))
            if name.startswith("scheduled-")]


def copies_by_schedule_follow_changes_and_old_ones_go():
    with harness.Server("--runner", "none", "--backup-every", "1s") as server:
        folder = os.path.join(server.data, "backups")
        first, = harness.wait_until(lambda: scheduled(server), "a copy")
        for name in ("scheduled-2020-01-01T00-00-00Z",
                     "scheduled-2020-01-01T00-30-00Z", "2020-01-01T00-00-00Z"):
            shutil.copytree(os.path.join(folder, first),
                            os.path.join(folder, name))
        begun = time.monotonic()
        harness.wait_until(lambda: time.monotonic() > begun + 2.5,
                           "two looks of the schedule")
        tap.contains(first, scheduled(server))  # nothing has changed
        tap.equal(server.call("POST", api.JOBS, api.job("new"))[0], 200)
        harness.wait_until(lambda: first not in scheduled(server) and
                           len(scheduled(server)) == 2, "a copy of the change")
        # Of the hour of 2020 the newest is kept, and what was asked for.
        tap.contains("scheduled-2020-01-01T00-30-00Z", scheduled(server))
        tap.contains("2020-01-01T00-00-00Z", os.listdir(folder))
        newest = max(scheduled(server))
        tap.equal(backups.verify(os.path.join(folder, newest)).returncode, 0)
        tap.equal(state(server)["failures"], 0)
        tap.true(metric(server, "hypertune_backup_time_seconds") > 1e9)


def a_copy_goes_where_an_admin_says():
    with harness.Server("--runner", "none", "--backups", "off") as server:
        copy = backups.make(server)
        tap.equal(os.path.dirname(copy), os.path.join(server.data, "backups"))
        tap.equal(sorted(os.listdir(copy)),
                  ["hypertune.db", "logs.db", "manifest.json"])
        for name in [copy] + [os.path.join(copy, n) for n in os.listdir(copy)]:
            tap.equal(os.stat(name).st_mode & 0o77, 0, name)
        tap.equal(manifest(copy)["incarnation"], 1)
        for to in ("relative", "/there/is/none"):
            status, answer = server.call("POST", api.OURS + "/backups",
                                         {"to": to})
            tap.equal(status, 400)
            tap.contains(to, answer["error"]["message"])
        secret = server.cli("token", "create", "s", "--role",
                            "submit").stdout.strip()
        tap.equal(api.ask(server, "POST", api.OURS + "/backups",
                          auth=secret).status, 403)
        tap.equal(len(os.listdir(os.path.join(server.data, "backups"))), 1)


def a_full_disk_refuses_a_copy_and_harms_nothing():
    with SmallDisk(64) as disk:
        if not disk.mounted:
            raise tap.Skip("may not mount")
        server = harness.Server("--runner", "none", "--budget",
                                "disk-warning=50,disk-reserve=25")
        server.data = os.path.join(disk.path, "data")
        wal = os.path.join(server.data, "hypertune.db-wal")
        with server:
            # The server empties it when it is idle, which frees more than what
            # a copy takes here.
            harness.wait_until(lambda: os.path.getsize(wal) == 0,
                               "an empty write-ahead log")
            disk.fill_but(0.252)
            done = server.cli("backup", check=False)
            tap.equal(done.returncode, 1)
            tap.contains("less than 25 % of the disk", done.stderr)
            tap.equal(state(server)["failures"], 1)
            tap.equal(metric(server, "hypertune_backup_failures"), 1)
            tap.contains("less than 25 %", server.cli(
                "doctor", check=False).stdout)
            tap.equal(os.listdir(os.path.join(server.data, "backups")), [])
            disk.free()
            backups.make(server)
            tap.equal(metric(server, "hypertune_backup_failures"), 0)


def a_target_that_fills_up_leaves_no_partial_copy():
    with SmallDisk(1) as disk, harness.Server(
            "--runner", "none", "--budget",
            "disk-warning=0,disk-reserve=0") as server:
        if not disk.mounted:
            raise tap.Skip("may not mount")
        disk.fill_but(0.1)
        done = server.cli("backup", "--to", disk.path, check=False)
        tap.equal(done.returncode, 1)
        tap.contains("disk", done.stderr)
        tap.equal(os.listdir(disk.path), ["ballast"])
        tap.equal(server.call("POST", api.JOBS, api.job("s"))[0], 200)
        disk.free()
        backups.make(server, "--to", disk.path)
        shutil.rmtree(os.path.join(disk.path, os.listdir(disk.path)[0]))


def a_damaged_page_is_named_and_not_copied():
    with harness.Server("--runner", "none") as server:
        backups.played(server, "done", trials=1)
        server.stop()
        path = os.path.join(server.data, "hypertune.db")
        with open(path, "r+b") as file:  # its last page, which no start needs
            at = os.path.getsize(path) - 2000
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 4]))
        page = "page %d of hypertune.db" % (at // 4096 + 1)
        server.start()
        done = server.cli("backup", check=False)
        tap.true(done.returncode != 0)
        tap.contains(page, done.stderr)
        tap.equal(os.listdir(os.path.join(server.data, "backups")), [])
        checked = backups.verify(server.data)
        tap.equal(checked.returncode, 1)
        tap.contains("page %d" % (at // 4096 + 1), checked.stderr)

def the_store_is_in_a_copy_and_comes_back_with_it():
    with harness.Server("--runner", "none") as server:
        data = os.urandom(2 * stored.CHUNK + 5)
        text = stored.keep(server, {"a/f": data, "g": b"second"})
        other = stored.keep(server, {"f": data[:99]}, "Other%20project")
        stored.put_chunk(server, b"of no tree")
        server.call("POST", api.JOBS, api.job("s"))
        far = os.path.join(server.folder, "far")
        os.mkdir(far)
        copy = backups.make(server, "--to", far)
        checked = backups.verify(copy)
        tap.equal(checked.returncode, 0, checked.stderr)
        found = sorted(name for _, _, names in os.walk(
            os.path.join(copy, "store")) for name in names)
        tap.equal(found, sorted(
            [stored.sha(text), stored.sha(other), stored.sha(b"second"),
             stored.sha(data[:99])] +
            [stored.sha(chunk) for chunk in stored.chunks_of(data)]))
        late = stored.keep(server, {"late": b"late"})
        with restored(copy) as again:
            tap.equal(stored.get(again, "trees/" + stored.sha(text)).body,
                      text)
            tap.equal(b"".join(
                stored.get(again, "chunks/" + stored.sha(chunk)).body
                for chunk in stored.chunks_of(data)) == data, True)
            tap.equal(stored.get(again, "trees/" + stored.sha(other),
                                 project="Other%20project").body, other)
            tap.equal(stored.get(again, "trees/" + stored.sha(late)).status,
                      404)
            again.stop()
            checked = backups.verify(again.data)
            tap.equal(checked.returncode, 0, checked.stderr)
            tap.contains("2 trees, whole", checked.stdout)
            again.start()
        server.stop()
        done = backups.restore(copy, server.data, "--replace")
        tap.equal(done.returncode, 0, done.stderr)
        server.start()
        tap.equal(stored.get(server, "trees/" + stored.sha(text)).body, text)
        tap.equal(stored.get(server, "trees/" + stored.sha(late)).status, 404)


def damage_of_a_stored_file_is_found_and_named():
    with harness.Server("--runner", "none") as server:
        text = stored.keep(server, {"f": b"some bytes"})
        copy = backups.make(server)
        folder = os.path.join(copy, "store", "local")
        name = stored.sha(b"some bytes")
        chunk = os.path.join(folder, "chunks", name[:2], name)
        for path in (chunk, os.path.join(folder, "trees", stored.sha(text))):
            with open(path, "rb") as file:
                whole = file.read()
            os.unlink(path)  # it is the server's, too
            checked = backups.verify(copy)
            tap.equal(checked.returncode, 1, checked.stdout)
            tap.contains(os.path.basename(path), checked.stderr)
            with open(path, "wb") as file:
                file.write(b"S" + whole[1:])
            checked = backups.verify(copy)
            tap.equal(checked.returncode, 1, checked.stdout)
            tap.contains(os.path.basename(path), checked.stderr)
            with open(path, "wb") as file:
                file.write(whole)
        tap.equal(backups.verify(copy).returncode, 0)


if __name__ == "__main__":
    tap.run([
        copies_under_load_are_whole_and_of_one_moment,
        a_copy_may_be_longer_than_what_fits_into_memory,
        copies_by_schedule_follow_changes_and_old_ones_go,
        a_copy_goes_where_an_admin_says,
        a_full_disk_refuses_a_copy_and_harms_nothing,
        a_target_that_fills_up_leaves_no_partial_copy,
        a_damaged_page_is_named_and_not_copied,
        the_store_is_in_a_copy_and_comes_back_with_it,
        damage_of_a_stored_file_is_found_and_named,
    ])
