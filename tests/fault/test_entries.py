"""Who follows a log as gcloud does misses no line, gets none twice and none
late, although the server dies again and again while trials print."""

import datetime
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import harness  # noqa: E402
import tap  # noqa: E402

LINES = 600
LAG = 2.0  # seconds; gcloud leaves five
KILLS = (1.0, 2.5, 4.0)
SPEC = {
    "spec": 1, "name": "stream", "goal": "maximize score",
    "parameters": {"x": [1, 2]}, "trials": 2, "parallel": 2, "args": "none",
    "metrics": {"stdout": ["score={score}"]},
    "command": ["sh", "-c", "i=0; while [ $i -lt %d ]; do echo out $i; "
                "echo err $i >&2; i=$((i+1)); sleep 0.01; done; "
                "echo score=1; printf last" % LINES]}

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
    """Remembers what it was told last, and asks for what comes behind it."""

    def __init__(self):
        self.entries = []

    def poll(self, until):
        more = ' AND timestamp<"%s"' % stamp(until)
        if self.entries:
            last = self.entries[-1]
            more += (' AND ((timestamp="%s" AND insertId>"%s") OR '
                     'timestamp>"%s")' % (last["timestamp"], last["insertId"],
                                          last["timestamp"]))
        token = ""
        while token is not None:
            found, token = ask(more, token)
            self.entries += found


def run():
    """Lets the job run, the server dying; what a follower was told."""
    follower = Follower()
    begin = time.monotonic()
    kills = list(KILLS)
    while server.study("stream")["state"] == "RUNNING":
        if kills and time.monotonic() - begin > kills[0]:
            kills.pop(0)
            server.kill()
            server.start()
        follower.poll(time.time() - LAG)
        time.sleep(0.1)
    tap.equal(kills, [], "kills left")
    end = time.time()
    harness.wait_until(lambda: time.time() > end + LAG, 10, "the lag")
    follower.poll(time.time() - LAG + 1)
    return follower.entries


def a_follower_misses_nothing_while_the_server_dies():
    server.submit(SPEC)
    told = run()
    tap.equal(server.study("stream")["state"], "SUCCEEDED")
    whole, token = [], ""
    while token is not None:
        found, token = ask("", token)
        whole += found
    tap.equal(told, whole)
    keys = [(entry["timestamp"], entry["insertId"]) for entry in told]
    tap.equal(keys, sorted(set(keys)))
    for trial in ("1", "2"):
        for stream, last in (("stdout", ["score=1", "last"]), ("stderr", [])):
            wanted = ["%s %d" % (stream[3:], number)
                      for number in range(LINES)] + last
            tap.equal([entry["textPayload"] for entry in told
                       if entry["labels"].get("trial_id") == trial and
                       entry["labels"].get("stream") == stream], wanted,
                      (trial, stream))


with harness.Server(slots=2) as server:
    tap.run([a_follower_misses_nothing_while_the_server_dies])
