"""A log of 200,000 lines: a page costs what is in it wherever it begins, and a
search that finds little is answered in pieces."""

import datetime
import time

import api
import harness
import long_log
import tap

LINES, EACH = 200000, 5
OF_JOB = 'resource.labels.job_id="long" '

server = None
begin = 0


def ask(filter, **more):
    body = dict({"resourceNames": ["projects/local"], "pageSize": 1000,
                 "filter": OF_JOB + filter}, **more)
    since = time.monotonic()
    status, page = server.call("POST", "/v2/entries:list", body)
    tap.equal(status, 200, page)
    return page["entries"], page.get("nextPageToken"), time.monotonic() - since


def walk(filter, **more):
    """All entries, and the longest time that a page took."""
    found, token, longest = [], "", 0
    while token is not None:
        entries, token, took = ask(filter, pageToken=token, **more)
        found += entries
        longest = max(longest, took)
    return found, longest


def texts(entries):
    return [entry["textPayload"] for entry in entries]


def lines(*numbers):
    return [long_log.line(number).rstrip("\n") for number in numbers]


def stamp(number):
    """That of the chunk which ends the line."""
    moment = datetime.datetime.fromtimestamp(0, datetime.timezone.utc)
    moment += datetime.timedelta(microseconds=begin + number // EACH)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def a_page_costs_what_is_in_it():
    whole = time.monotonic()
    walk('"no such text"')
    whole = time.monotonic() - whole
    shortest = []
    for filter, more, wanted in [
            ("", {}, lines(*range(50))),
            ('timestamp>="%s"' % stamp(100000), {},
             lines(*range(100000, 100050))),
            ('timestamp<="%s"' % stamp(LINES - 1),
             {"orderBy": "timestamp desc"},
             lines(*range(LINES - 1, LINES - 51, -1)))]:
        took = []
        for _ in range(3):
            entries, token, seconds = ask(
                "labels.stream=stdout " + filter, pageSize=50, **more)
            tap.equal(texts(entries), wanted)
            assert token
            took.append(seconds)
        shortest.append(min(took))
    assert max(shortest) < whole / 3, (shortest, whole)


def what_is_rare_is_found_in_pieces():
    found, longest = walk('"line %d "' % (LINES - 3))
    tap.equal(texts(found), lines(LINES - 3))
    assert longest < 30, longest  # the slice is 2 s, the machine may be busy


def one_trial_of_many_is_found():
    found, _ = walk('labels.trial_id="777" labels.stream=stdout')
    wanted = [number for number in range(LINES)
              if number // EACH % long_log.TRIALS == 776]
    tap.equal(texts(found), lines(*wanted))


with harness.Server("--runner", "none") as server:
    tap.equal(server.call("POST", api.JOBS, api.job("long"))[0], 200)
    server.stop()
    begin = long_log.write(server, 1, LINES, EACH)
    server.start()
    tap.run([a_page_costs_what_is_in_it, what_is_rare_is_found_in_pieces,
             one_trial_of_many_is_found])
