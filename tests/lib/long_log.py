"""long_log - the log of a job that printed very much, put into logs.db of a
server that is stopped, as its log thread would have stored it."""

import os
import time

import pages

TRIALS = 1000


def line(number):
    return "line %d of the log, loss=0.123456 accuracy=0.98765\n" % number


def chunks(study, lines, each, begin):
    """Rows of chunks of so many lines, one a microsecond, trials in turn."""
    ends = {}
    for number, first in enumerate(range(0, lines, each)):
        trial = number % TRIALS + 1
        data = "".join(map(line, range(first, first + each))).encode()
        start = ends.get(trial, 0)
        ends[trial] = start + len(data)
        yield (study, trial, 1, "master-0", "stdout", start, ends[trial], data,
               begin + number, 0)


def write(server, study, lines, each):
    """The stamp of the first chunk, in microseconds."""
    begin = int((time.time() - 1000) * 1e6)
    with pages.changing(os.path.join(server.data, "logs.db")) as base:
        base.executemany(
            "INSERT INTO chunk(study, trial, attempt, replica, stream, start,"
            " next, data, stored_us, open) VALUES(?,?,?,?,?,?,?,?,?,?)",
            chunks(study, lines, each, begin))
    return begin
