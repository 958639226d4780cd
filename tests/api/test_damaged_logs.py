"""Damage of logs.db: named, other lines are read and stored as before."""

import os

import api
import harness
import pages
import tap
from fake_runner import Runner


def text_of(trial, piece):
    return "".join("trial %d piece %d line %d\n" % (trial, piece, line)
                   for line in range(60))


def read_log(server, trial):
    return server.call("GET", api.OURS + "/studies/one/trials/%d/logs?"
                       "replica=master-0&stream=stdout&offset=0&limit=1000000"
                       % trial)


def flip_page_with(server, text):
    """In the last page that has it; the first byte of it changes."""
    path = os.path.join(server.data, "logs.db")
    with open(path, "r+b") as file:
        data = file.read()
        at = data.rindex(text.encode())
        file.seek(at)
        file.write(bytes([data[at] ^ 1]))
    return at // pages.SIZE + 1


def with_logs(server, runner):
    tap.equal(server.call("POST", api.JOBS, api.job(
        "one", maxTrialCount=3, parallelTrialCount=3))[0], 200)
    attempts = [attempt.started() for attempt in runner.lease(3)]
    # Two or three to a page, and none of trials 1 and 2.
    for attempt in (attempts[0], attempts[2], attempts[1]):
        for piece in range(4):
            attempt.say(text_of(int(attempt.name["trial"]), piece))
    return attempts


def restarted(server, attempts):
    """The log is in the file, and no page in memory."""
    server.stop()
    server.start()
    return Runner(server, attempts=attempts)


def whole(trial):
    return "".join(text_of(trial, piece) for piece in range(4))


def lines_on_other_pages_are_read():
    with harness.Server("--runner", "none") as server:
        with Runner(server) as runner:
            with_logs(server, runner)
        server.stop()
        server.start()
        page = flip_page_with(server, "trial 1 piece 1 line 30")
        status, answer = read_log(server, 1)
        tap.equal(status, 500, answer)
        named = "page %d of logs.db differs from its checksum" % page
        tap.contains(named, answer["error"]["message"])
        tap.contains(named, server.get(api.OURS + "/server")["logsDamage"])
        tap.contains(named, server.cli("doctor", check=False).stdout)
        tap.contains("logs.damaged", server.log_text())
        tap.equal(read_log(server, 2)[1]["data"], whole(2))
        # Nothing else is affected.
        tap.equal(server.get(api.OURS + "/server")["readOnly"], False)
        tap.equal(server.call("POST", api.JOBS, api.job("two"))[0], 200)


def a_page_that_storing_needs_sets_the_file_aside():
    with harness.Server("--runner", "none") as server:
        with Runner(server) as runner:
            attempts = with_logs(server, runner)
        with restarted(server, attempts) as runner:
            first = attempts[0]
            first.runner = runner
            # The stream's end is looked up there.
            flip_page_with(server, "trial 1 piece 3 line 0")
            # As a runner: the same again until it is stored.
            for _ in range(2):
                try:
                    first.say("more\n")
                    break
                except AssertionError as refused:
                    tap.contains("retry", str(refused))
            else:
                raise AssertionError("it is not stored")
            tap.contains("logs.set_aside", server.log_text())
            tap.equal(read_log(server, 2)[1]["data"], whole(2))
            # Up to the damaged page; then the gap is shown as one.
            found = read_log(server, 1)[1]["data"]
            tap.true(text_of(1, 0) in found and whole(1).startswith(found),
                     found)
        tap.equal(len([name for name in os.listdir(server.data)
                       if name.startswith("logs.db.damaged-")
                       and name[-4:] not in ("-wal", "-shm")]), 1)


tap.run([
    lines_on_other_pages_are_read,
    a_page_that_storing_needs_sets_the_file_aside,
])
