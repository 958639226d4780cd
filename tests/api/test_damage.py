"""Single bits of hypertune.db and of its log that flip: every answer of the server
is that of the undamaged one, or an error. HYPERTUNE_FLIPS: how many of each kind;
HYPERTUNE_FLIPS_OF: the only kind, from 1 on."""

import os
import random
import shutil

import api
import harness
import pages
import tap
from fake_runner import Runner

FLIPS = int(os.environ.get("HYPERTUNE_FLIPS", "8"))
SEED = int(os.environ.get("HYPERTUNE_SEED", "1"))
JOBS, TRIALS = 3, 6

QUESTIONS = [api.JOBS, api.OURS + "/studies", api.OURS + "/audit"]
for NAME in ("job%d" % number for number in range(1, JOBS + 1)):
    QUESTIONS += [api.JOBS + "/" + NAME] + [
        "%s/studies/%s%s" % (api.OURS, NAME, end) for end in (
            "", "/trials", "/events", "/best", "/measurements", "/curves")]
    QUESTIONS += ["%s/studies/%s/trials/%d" % (api.OURS, NAME, trial)
                  for trial in range(1, TRIALS + 1)]


def played(server):
    """Studies with results of every kind that is kept."""
    for number in range(1, JOBS + 1):
        name = "job%d" % number
        tap.equal(server.call("POST", api.JOBS, api.job(
            name, maxTrialCount=TRIALS, parallelTrialCount=1))[0], 200)
        with Runner(server) as runner:
            for trial in range(TRIALS):
                attempt = runner.one().started()
                for step in range(1, 9):
                    attempt.report(0.1 * trial + step / 97, step=step)
                attempt.succeed(0.5 + trial / 83)
        harness.wait_until(
            lambda named=name: server.get(api.JOBS + "/" + named)["state"] ==
            "JOB_STATE_SUCCEEDED", "the end of " + name)


def ask(server, path):
    try:
        return server.call("GET", path)
    except ValueError:
        return 200, "no JSON"


def answers(server):
    return [ask(server, path) for path in QUESTIONS]


def flip(path, draw):
    """Returns what was flipped, in words."""
    with open(path, "r+b") as file:
        size = os.path.getsize(path)
        at, bit = draw.randrange(size), draw.randrange(8)
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))
    return "page %d byte %d bit %d" % (at // pages.SIZE + 1, at % pages.SIZE,
                                       bit)


def differing(server, whole):
    """Questions that are answered, and otherwise than before; whether any was
    refused."""
    now = answers(server)
    wrong = [path for path, old, new in zip(QUESTIONS, whole, now)
             if new[0] == 200 and new != old]
    return wrong, any(new[0] != 200 for new in now)


class Counts:
    def __init__(self):
        self.silent, self.noticed = [], 0

    def add(self, what, wrong, noticed):
        self.noticed += noticed
        if wrong:
            self.silent.append((what, wrong[:3]))

    def check(self):
        print("# %d flips, %d noticed, %d silent" % (
            FLIPS, self.noticed, len(self.silent)))
        tap.equal(self.silent, [])
        tap.true(self.noticed > 0 or FLIPS < 100, "no flip was noticed")


def try_start(server):
    """False: it refuses to start, and says of what."""
    try:
        server.start()
        return True
    except AssertionError:
        server.wait_death()
        said = server.log_text()[-2000:]
        tap.true("damaged" in said or "lacks " in said, said)
        return False


class Kept:
    """A server that was killed, and copies of its files."""

    def __init__(self, server):
        self.server = server
        self.names = [name for name in os.listdir(server.data)
                      if name.startswith("hypertune.db")]
        self.folder = os.path.join(server.folder, "kept")
        os.mkdir(self.folder)
        for name in self.names:
            shutil.copyfile(os.path.join(server.data, name),
                            os.path.join(self.folder, name))

    def put_back(self):
        for name in self.names:
            shutil.copyfile(os.path.join(self.folder, name),
                            os.path.join(self.server.data, name))


def count(counts, server, what, whole):
    counts.add(what, *differing(server, whole))
    # Read-only by now, or soon.
    counts.add(what, differing(server, whole)[0], False)


def flipped(server, kept, name, counts, whole, draw, running):
    """One bit of that file, of a server that is down or has begun."""
    kept.put_back()
    path = os.path.join(server.data, name)
    if running:
        server.start()
    what = name + " " + flip(path, draw)
    if not running and not try_start(server):
        counts.add(what, [], True)
        return
    count(counts, server, what, whole)
    server.kill()


def check_flips(name, running, stop):
    draw, counts = random.Random(SEED), Counts()
    with harness.Server("--runner", "none") as server:
        played(server)
        whole = answers(server)
        tap.equal({status for status, _ in whole}, {200})
        stop(server)
        kept = Kept(server)
        for _ in range(FLIPS):
            flipped(server, kept, name, counts, whole, draw, running)
        kept.put_back()
        server.start()
        tap.equal(answers(server), whole)
    counts.check()


def a_bit_of_the_file_that_flips_while_the_server_is_down():
    check_flips("hypertune.db", False, harness.Server.stop)


def a_bit_of_a_page_that_a_server_has_not_read_yet():
    check_flips("hypertune.db", True, harness.Server.stop)


def a_bit_of_the_log_that_flips_while_the_server_is_down():
    check_flips("hypertune.db-wal", False, harness.Server.kill)


def a_bit_of_the_log_of_a_server_that_runs():
    check_flips("hypertune.db-wal", True, harness.Server.kill)


CASES = [
    a_bit_of_the_file_that_flips_while_the_server_is_down,
    a_bit_of_a_page_that_a_server_has_not_read_yet,
    a_bit_of_the_log_that_flips_while_the_server_is_down,
    a_bit_of_the_log_of_a_server_that_runs,
]
ONLY = int(os.environ.get("HYPERTUNE_FLIPS_OF", "0"))
tap.run(CASES[ONLY - 1:ONLY] if ONLY else CASES)
