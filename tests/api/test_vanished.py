"""Files of the data folder that are removed, exchanged or cut: no server runs on
what is not its own whole database, and none that runs acknowledges what would be
lost. HYPERTUNE_KILLS: how many kills."""

import os
import random
import shutil
import sqlite3
import subprocess
import threading

import api
import harness
import pages
import tap

KILLS = int(os.environ.get("HYPERTUNE_KILLS", "4"))
SEED = int(os.environ.get("HYPERTUNE_SEED", "1"))
DB, LOG, MARK = "hypertune.db", "hypertune.db-wal", "hypertune.db-mark"


def create(server, name):
    return api.send(server, "POST", api.JOBS, api.job(name, maxTrialCount=1))


def created(server, *names):
    for name in names:
        tap.equal(create(server, name).status, 200)


def names_of(server):
    return {study["displayName"] for study in
            server.pages(api.OURS + "/studies?pageSize=100", "studies")}


def place(server, name):
    return os.path.join(server.data, name)


def refused(server, *texts):
    """It does not start, and says why."""
    try:
        server.start()
    except AssertionError:
        server.wait_death()
        said = server.log_text().rsplit("hypertuned:", 1)[-1]
        for text in texts:
            tap.contains(text, said)
        return
    raise AssertionError("it starts: %s" % (texts,))


def commits_in_file(server):
    """Without what is in the log only."""
    base = sqlite3.connect("file:%s?immutable=1" % place(server, DB), uri=True)
    (count,), = base.execute("SELECT value FROM meta WHERE key='commits'")
    base.close()
    return int(count)


def commits_in_mark(server):
    with open(place(server, MARK), encoding="ascii") as file:
        return int(file.read().split()[3])


def killed_with_a_log(server, confirmed):
    """The log has commits that the file does not have yet."""
    for number in range(100):
        name = "log-%d" % number
        created(server, name)
        confirmed.add(name)
        server.kill()
        if commits_in_file(server) < commits_in_mark(server):
            return
        server.start()
    raise AssertionError("the log is written back each time")


def copied(server, folder):
    path = os.path.join(server.folder, folder)
    subprocess.run(["cp", "-a", server.data, path], check=True)
    return path


def put_back(server, folder):
    shutil.rmtree(server.data)
    subprocess.run(["cp", "-a", folder, server.data], check=True)


def spoiled(server, whole, spoil, *texts):
    """The server refuses what `spoil` leaves, more than once, and changes
    nothing in it."""
    spoil()
    before = {name: os.path.getsize(place(server, name))
              for name in (DB, LOG) if os.path.exists(place(server, name))}
    for _ in range(2):
        refused(server, *texts, "hypertune restore")
    for name, size in before.items():
        tap.equal(os.path.getsize(place(server, name)), size, name)
    put_back(server, whole)


def remove(server, *names):
    for name in names:
        os.remove(place(server, name))


def truncated(path, size):
    with open(path, "r+b") as file:
        file.truncate(size)


def what_is_not_the_database_of_before_is_refused():
    with harness.Server("--runner", "none") as other:
        created(other, *("o%d" % number for number in range(12)))
        other.stop()
        with harness.Server("--runner", "none") as server:
            check_exchanges(server, place(other, DB))


def check_exchanges(server, of_other):
    confirmed = {"a", "b"}
    created(server, "a")
    server.stop()
    old = copied(server, "old")
    server.start()
    created(server, "b")
    server.stop()
    server.start()
    killed_with_a_log(server, confirmed)
    whole = copied(server, "whole")
    data = place(server, DB)
    log = place(server, LOG)

    def put(path, to, *gone):
        shutil.copyfile(path, to)
        remove(server, *gone)

    old_file = os.path.join(old, DB)
    older_log = os.path.join(server.folder, "older-log")
    shutil.copyfile(log, older_log)
    truncated(older_log, os.path.getsize(log) // 2)
    for spoil, text in (
            (lambda: remove(server, DB, LOG), "is missing, and "),
            (lambda: remove(server, DB), "is missing, and "),
            (lambda: truncated(data, 0), "is empty, and "),
            (lambda: put(of_other, data, LOG), "is the database of server "),
            (lambda: put(old_file, data, LOG), "lacks "),
            (lambda: put(old_file, data), "is an older copy beside the -wal"),
            (lambda: remove(server, LOG), "lacks "),
            (lambda: truncated(log, 0), "lacks "),
            (lambda: put(older_log, log), "lacks ")):
        spoiled(server, whole, spoil, DB + ": " + text)
    server.start()
    tap.equal(names_of(server), confirmed)
    server.stop()
    # Who wants the older copy says so.
    put(old_file, data)
    truncated(place(server, MARK), 0)
    server.start()
    tap.equal(names_of(server), {"a"})


def no_database_begins_beside_what_a_server_left():
    with harness.Server("--runner", "none") as server:
        created(server, "a")
        server.stop()
        for name in os.listdir(server.data):
            if name.startswith(DB):
                remove(server, name)
        refused(server, DB + " is missing or empty beside token",
                "hypertune restore")
        tap.true(not os.path.exists(place(server, DB)))
        open(place(server, MARK), "wb").close()
        server.start()
        tap.equal(names_of(server), set())


def an_earlier_release_and_a_copied_folder_are_taken():
    with harness.Server("--runner", "none") as server:
        created(server, "a")
        server.stop()
        remove(server, MARK)
        with pages.changing(place(server, DB)) as base:
            base.execute("DELETE FROM meta WHERE key='commits'")
        server.start()
        created(server, "b")
        server.stop()
        server.data = copied(server, "elsewhere")
        server.start()
        tap.equal(names_of(server), {"a", "b"})
        tap.true(commits_in_mark(server) > 0)


def acknowledged_until_refused(server):
    """Studies that were made until one is refused; the refusal."""
    made = set()
    for number in range(1000):
        name = "after-%d" % number
        answer = create(server, name)
        if answer.status != 200:
            return made, answer
        made.add(name)
    raise AssertionError("all are acknowledged")


def nothing_is_acknowledged_once_a_file_is_away():
    for name, how in ((LOG, "removed"), (LOG, "replaced"), (DB, "removed"),
                      (DB, "replaced"), ("", "removed")):
        with harness.Server("--runner", "none") as server:
            check_away(server, name, how)


def check_away(server, name, how):
    created(server, "a", "b")
    path = place(server, name).rstrip("/")
    away = os.path.join(server.folder, "away")
    if how == "replaced":  # at once: there is never none
        shutil.copyfile(path, away)
        os.replace(away, path)
    else:
        os.rename(path, away)
    if not name:
        server.data = away
        server.token_file = place(server, "token")
    made, answer = acknowledged_until_refused(server)
    tap.equal((made, answer.status), (set(), 503), (name, how))
    if name:
        said = answer.error()["message"]
        reason = server.get(api.OURS + "/server")["readOnlyReason"]
        if (name, how) == (LOG, "removed"):
            # A thread that begins to read makes a new one.
            said, reason = (text.replace("replaced", how)
                            for text in (said, reason))
        # A reader may see first that the new log is not the old one.
        words = (["differs from its checksum"] if name == LOG else []) + [
            "%s was %s while it was open" % (name, how)]
        for text in (said, reason):
            tap.true(any(word in text for word in words), text)
    tap.true({"a", "b"} <= names_of(server))
    server.kill()
    if name == DB and how == "removed":
        refused(server, DB + ": is missing, and ")
    elif name == LOG:  # what was in it is in the file
        server.start()
        tap.true({"a", "b"} <= names_of(server))


def the_files_of_a_server_that_does_nothing_are_looked_at():
    with harness.Server("--runner", "none") as server:
        created(server, "a")
        remove(server, DB)
        harness.wait_until(
            lambda: "hypertune.db was removed" in server.log_text(), "a look")
        tap.true(server.get(api.OURS + "/server")["readOnly"])


def a_removed_lock_lets_no_second_server_in():
    with harness.Server("--runner", "none") as server:
        remove(server, "lock")
        done = subprocess.run(
            [server.program("hypertuned"), "--data", server.data, "--listen",
             "127.0.0.1:0", "--report-listen", "tcp://127.0.0.1:0",
             "--runner", "none"], stderr=subprocess.PIPE, encoding="utf-8",
            stdout=subprocess.PIPE, timeout=harness.PATIENCE, check=False)
        tap.equal(done.returncode, 5, done.stderr)
        tap.contains("owns %s" % server.data, done.stderr)
        created(server, "a")


def no_kill_makes_a_database_suspicious():
    draw = random.Random(SEED)
    confirmed, numbers = set(), iter(range(1000000))
    with harness.Server("--runner", "none") as server:
        for _ in range(KILLS):
            most, reached = draw.randrange(1, 120), threading.Event()
            senders = [threading.Thread(target=send_until_killed, args=(
                server, numbers, confirmed, len(confirmed) + most, reached))
                       for _ in range(2)]
            for sender in senders:
                sender.start()
            reached.wait(harness.PATIENCE)
            server.process.kill()
            for sender in senders:
                sender.join()
            server.kill()
            server.start()
            tap.true(confirmed <= names_of(server), "all are there")
    print("# %d kills, %d acknowledged" % (KILLS, len(confirmed)))


def send_until_killed(server, numbers, confirmed, most, reached):
    try:
        while True:
            name = "k%d" % next(numbers)
            answer = create(server, name)
            if answer is not None and answer.status == 200:
                confirmed.add(name)
            if len(confirmed) >= most:
                reached.set()
    except OSError:
        reached.set()


def mode_of(path):
    return os.stat(path).st_mode & 0o777


def files_are_private_and_none_is_a_link():
    with harness.Server("--runner", "none") as server:
        names = [name for name in os.listdir(server.data) if ".db" in name]
        tap.true({DB, "logs.db", MARK} <= set(names))
        tap.equal({mode_of(place(server, name)) for name in names}, {0o600})
        server.stop()
        os.chmod(place(server, DB), 0o644)
        server.start()
        tap.equal(mode_of(place(server, DB)), 0o600)
        server.stop()
        for name in (DB, "logs.db", "runs"):
            away = os.path.join(server.folder, "away")
            os.rename(place(server, name), away)
            os.symlink(away, place(server, name))
            refused(server, "%s is a symbolic link" % place(server, name))
            os.remove(place(server, name))
            os.rename(away, place(server, name))
        server.start()


tap.run([
    what_is_not_the_database_of_before_is_refused,
    no_database_begins_beside_what_a_server_left,
    an_earlier_release_and_a_copied_folder_are_taken,
    nothing_is_acknowledged_once_a_file_is_away,
    the_files_of_a_server_that_does_nothing_are_looked_at,
    a_removed_lock_lets_no_second_server_in,
    no_kill_makes_a_database_suspicious,
    files_are_private_and_none_is_a_link,
])
