"""Who follows a log as gcloud does misses no line, gets none twice and none
late, although the server dies again and again while trials print. No line is
lost either when its clock is set back."""

import datetime
import time

import checker
import fake_clock
import harness
import tap

LINES = 400
LAG = 2.0  # seconds; gcloud leaves five
KILLS = (1.0, 2.0, 3.0)
SPEC = {
    "spec": 1, "name": "stream", "goal": "maximize score",
    "parameters": {"x": [1, 2]}, "trials": 2, "parallel": 2, "args": "none",
    "metrics": {"stdout": ["score={score}"]},
    "command": ["sh", "-c", "i=0; while [ $i -lt %d ]; do echo out $i; "
                "echo err $i >&2; i=$((i+1)); sleep 0.01; done; "
                "echo score=1; printf last" % LINES]}

STREAMS = [(trial, stream) for trial in ("1", "2")
           for stream in ("stdout", "stderr")]

server = None


def ask(more, token=""):
    body = {"resourceNames": ["projects/local"], "orderBy": "timestamp asc",
            "pageSize": 200, "pageToken": token,
            "filter": 'resource.type="ml_job" AND '
                      'resource.labels.job_id="stream"' + more}
    status, page = server.call("POST", "/v2/entries:list", body)
    tap.equal(status, 200, page)
    return page["entries"], page.get("nextPageToken")


def stamp(seconds):
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Follower:
    """Remembers the last answer, and asks for what comes behind it."""

    def __init__(self, more):
        self.more = more
        self.entries = []

    def poll(self, until):
        more = self.more + ' AND timestamp<"%s"' % stamp(until)
        if self.entries:
            last = self.entries[-1]
            more += (' AND ((timestamp="%s" AND insertId>"%s") OR '
                     'timestamp>"%s")' % (last["timestamp"], last["insertId"],
                                          last["timestamp"]))
        token = ""
        while token is not None:
            found, token = ask(more, token)
            self.entries += found


def follow(disturbances, more=""):
    """Lets the job run and does each of the disturbances, functions, at its
    second; what a follower got."""
    follower = Follower(more)
    begin = time.monotonic()
    left = list(disturbances)
    server.submit(SPEC)
    while server.study("stream")["state"] == "RUNNING":
        if left and time.monotonic() - begin > left[0][0]:
            left.pop(0)[1]()
        follower.poll(time.time() - LAG)
        time.sleep(0.1)
    tap.equal(left, [])
    end = time.time()
    harness.wait_until(lambda: time.time() > end + LAG, "the lag")
    follower.poll(time.time() - LAG + 1)
    return follower.entries


def lines(entries, trial, stream):
    """What is among the entries of a stream, in that order."""
    found = [entry["textPayload"] for entry in entries
             if entry["labels"].get("trial_id") == trial and
             entry["labels"].get("stream") == stream]
    printed = ["%s %d" % (stream[3:], number) for number in range(LINES)]
    tap.equal(found[:LINES], printed, (trial, stream))
    return found


def keys_grow(entries):
    keys = [(entry["timestamp"], entry["insertId"]) for entry in entries]
    tap.equal(keys, sorted(set(keys)))


def check(entries):
    """They are all there are, in order, and each line is among them once."""
    tap.equal(server.study("stream")["state"], "SUCCEEDED")
    whole, token = [], ""
    while token is not None:
        found, token = ask("", token)
        whole += found
    tap.equal(entries, whole)
    keys_grow(entries)
    for trial, stream in STREAMS:
        last = ["score=1", "last"] if stream == "stdout" else []
        tap.equal(lines(entries, trial, stream)[LINES:], last)


def die():
    server.kill()
    server.start()


def a_follower_misses_nothing_while_the_server_dies():
    global server
    with harness.Server(slots=2) as server:
        check(follow([(second, die) for second in KILLS]))
        tap.equal(checker.stop_and_check(server)[1], [])


def a_follower_misses_nothing_when_the_clock_is_set_back():
    global server
    if fake_clock.missing():
        raise tap.Skip(fake_clock.missing())
    with fake_clock.fake_clock() as clock, harness.Server(slots=2) as server:
        entries = follow([(1.0, lambda: clock.set("-30m")), (2.0, die)],
                         " AND textPayload=~\"^(out|err) \"")
        tap.equal([len(lines(entries, *of)) for of in STREAMS],
                  [LINES] * len(STREAMS))
        keys_grow(entries)
        tap.equal(checker.stop_and_check(server)[1], [])


tap.run([a_follower_misses_nothing_while_the_server_dies,
         a_follower_misses_nothing_when_the_clock_is_set_back])
