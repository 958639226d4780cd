"""Kills in the middle of a backup and of a restore, and damaged copies: a server
finds its old databases or the new, and nothing is taken from a copy that is not
whole."""

import contextlib
import json
import os
import shutil

import api
import backups
import fake_runner
import harness
import tap

# Each place where a restore with --replace can die, and what is there then.
DEATHS = ([("restore_copied:%d" % n, "old") for n in (2,)] +
          [("restore_prepared:1", "old"), ("restore_decided:1", "new")] +
          [("restore_moved:%d" % n, "new") for n in (1, 3)] +
          [("restore_away:1", "new"), ("restore_arriving:1", "new")])


def studies(server):
    return sorted(study["hypertuneStatus"]["name"] for study in server.get(
        api.OURS + "/studies")["studies"])


@contextlib.contextmanager
def copied():
    """A server that is down, and a backup without its newest study."""
    with harness.Server("--runner", "none") as server:
        tap.equal(server.call("POST", api.JOBS, api.job("copied"))[0], 200)
        to = os.path.join(server.folder, "to")
        os.mkdir(to)
        copy = backups.make(server, "--to", to)
        tap.equal(server.call("POST", api.JOBS, api.job("later"))[0], 200)
        server.kill()
        yield server, copy


def a_killed_restore_leaves_the_old_or_the_new():
    with copied() as (server, copy):
        kept = os.path.join(server.folder, "kept")
        shutil.copytree(server.data, kept)
        for fail, left in DEATHS:
            shutil.rmtree(server.data)
            shutil.copytree(kept, server.data)
            done = backups.restore(copy, server.data, "--replace", fail=fail)
            tap.equal(done.returncode, 86, fail)
            server.start()
            tap.equal(studies(server), ["copied", "later"] if left == "old"
                      else ["copied"], fail)
            server.stop()
            tap.equal(backups.verify(server.data).returncode, 0, fail)
            names = os.listdir(server.data)
            tap.equal([name for name in names if name.startswith(".")], [])
            aside = [name for name in names if name.startswith("replaced-")]
            tap.equal(len(aside), left == "new", fail)
            for name in aside:  # nothing of before is lost
                old = os.path.join(server.data, name)
                tap.equal(backups.verify(old).returncode, 0, fail)


def a_killed_restore_can_be_given_again():
    with copied() as (server, copy):
        new = os.path.join(server.folder, "new")
        for fail in ("restore_prepared:1", "restore_copied:1"):
            tap.equal(backups.restore(copy, new, fail=fail).returncode, 86)
        tap.equal(backups.restore(copy, new).returncode, 0)
        server.data = new
        server.start()
        tap.equal(studies(server), ["copied"])


def a_killed_backup_leaves_nothing():
    with harness.Server("--runner", "none") as server:
        folder = os.path.join(server.data, "backups")
        for fail in ("backup:1", "backup:2", "backup_made:1"):
            server.stop()
            server.start(fail=fail)
            server.cli("backup", check=False)
            tap.equal(server.wait_death(), 86, fail)
            tap.equal([name[:8] for name in os.listdir(folder)], [".making-"])
            server.start()
            tap.equal(os.listdir(folder), [])
        tap.equal(backups.verify(backups.make(server)).returncode, 0)


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 16]))


def change(path, **members):
    with open(path, encoding="utf-8") as file:
        made = json.load(file)
    made.update(members)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)


def damages():
    """What happens to a copy, and what its refusal names."""
    def at(name):
        return lambda copy: os.path.join(copy, name)
    database, logs, manifest = map(
        at, ("hypertune.db", "logs.db", "manifest.json"))
    yield lambda c: flip(database(c), 3 * 4096 + 77), "page 4"
    yield lambda c: flip(database(c), 17), "hypertune.db"
    yield lambda c: flip(logs(c), 4096 + 4090), "page 2"
    yield lambda c: os.truncate(database(c), 5 * 4096), "hypertune.db"
    yield lambda c: os.truncate(logs(c), 4097), "whole pages"
    yield lambda c: os.unlink(logs(c)), "logs.db is missing"
    yield lambda c: os.truncate(manifest(c), 100), "no JSON"
    yield lambda c: os.unlink(manifest(c)), "manifest"
    yield lambda c: change(manifest(c), form=2), "newer program"
    yield lambda c: change(manifest(c), incarnation=7), "marks differ"
    yield lambda c: change(manifest(c), files=[
        {"name": "../x", "bytes": 1, "sha256": "0" * 64}]), "../x"
    yield lambda c: open(database(c) + "-wal", "w").close(), "-wal"


def a_damaged_copy_is_refused_and_named():
    with copied() as (server, copy):
        before = sorted(os.listdir(server.data))
        for damage, name in damages():
            spoiled = os.path.join(server.folder, "spoiled")
            shutil.copytree(copy, spoiled)
            damage(spoiled)
            if os.path.exists(os.path.join(spoiled, "manifest.json")):
                checked = backups.verify(spoiled)
                tap.equal(checked.returncode, 1, name)
                tap.contains(name, checked.stderr)
            done = backups.restore(spoiled, server.data, "--replace")
            tap.true(done.returncode != 0, name)
            tap.contains(name, done.stderr)
            tap.equal(sorted(os.listdir(server.data)), before)
            shutil.rmtree(spoiled)


def logs_of_another_time_are_noticed():
    with copied() as (server, copy):
        server.start()
        with fake_runner.Runner(server) as runner:
            runner.one().started().say("later\n")
        server.stop()
        mixed = os.path.join(server.folder, "mixed")
        os.mkdir(mixed)
        shutil.copy(os.path.join(copy, "hypertune.db"), mixed)
        shutil.copy(os.path.join(server.data, "logs.db"), mixed)
        checked = backups.verify(mixed)
        tap.equal(checked.returncode, 1)
        tap.contains("not of one copy", checked.stderr)


def a_restore_refuses_a_folder_that_is_used():
    with copied() as (server, copy):
        done = backups.restore(copy, server.data)
        tap.equal(done.returncode, 5)
        tap.contains("is not empty", done.stderr)
        server.start()
        done = backups.restore(copy, server.data, "--replace")
        tap.equal(done.returncode, 5)
        tap.contains("another server", done.stderr)
        tap.equal(studies(server), ["copied", "later"])
        server.stop()
        tap.equal(backups.restore(copy + "x", server.data).returncode, 3)
        # The clock tells how much to skip.
        change(os.path.join(copy, "manifest.json"), madeMs=1 << 45)
        done = backups.restore(copy, server.data, "--replace")
        tap.equal(done.returncode, 1)
        tap.contains("clock", done.stderr)
        tap.contains("hypertune.db", os.listdir(server.data))


def a_copy_is_verified_where_nothing_can_be_written():
    with copied() as (_, copy):
        before = {name: os.stat(os.path.join(copy, name)).st_mtime_ns
                  for name in os.listdir(copy)}
        os.chmod(copy, 0o500)
        checked = backups.verify(copy)
        tap.equal(checked.returncode, 0, checked.stderr)
        tap.contains("hypertune.db", checked.stdout)
        os.chmod(copy, 0o700)
        tap.equal({name: os.stat(os.path.join(copy, name)).st_mtime_ns
                   for name in os.listdir(copy)}, before)


if __name__ == "__main__":
    tap.run([
        a_killed_restore_leaves_the_old_or_the_new,
        a_killed_restore_can_be_given_again,
        a_killed_backup_leaves_nothing,
        a_damaged_copy_is_refused_and_named,
        logs_of_another_time_are_noticed,
        a_restore_refuses_a_folder_that_is_used,
        a_copy_is_verified_where_nothing_can_be_written,
    ])
