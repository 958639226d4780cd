"""How fast the log of a job is read that printed a million lines, in chunks of
ten and of a thousand lines: one key=value a line."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import api  # noqa: E402
import harness  # noqa: E402
import long_log  # noqa: E402

LINES, PAGES = 1000000, 100
OF_JOB = 'resource.labels.job_id="long" '


def show(key, value, digits=1):
    print("%s=%.*f" % (key, digits, value), flush=True)


def ask(server, **members):
    status, page = server.call("POST", "/v2/entries:list", dict(
        {"resourceNames": ["projects/local"], "pageSize": 1000}, **members))
    if status != 200:
        sys.exit("bench: %s" % page)
    return page.get("nextPageToken")


def walk(server, pages, **members):
    """Seconds that so many pages of an answer, or all of it, take."""
    begin, token = time.monotonic(), ""
    while token is not None and pages > 0:
        token = ask(server, pageToken=token, **members)
        pages -= 1
    return time.monotonic() - begin


def measure(server, each):
    server.stop()
    long_log.write(server, 1, LINES, each)
    server.start()
    name = "log_by_%d_" % each
    walk(server, 1, filter=OF_JOB)
    show(name + "first_page_ms", 1e3 * walk(server, 1, filter=OF_JOB))
    show(name + "last_page_ms",
         1e3 * walk(server, 1, filter=OF_JOB, orderBy="timestamp desc"))
    show(name + "lines_per_s",
         1000 * PAGES / walk(server, PAGES, filter=OF_JOB), 0)
    show(name + "search_ms",
         1e3 * walk(server, LINES, filter=OF_JOB + '"no such text"'))
    show(name + "expression_ms",
         1e3 * walk(server, LINES, filter=OF_JOB + 'textPayload=~"^x.*9$"'))
    show(name + "one_trial_ms",
         1e3 * walk(server, LINES, filter=OF_JOB + "labels.trial_id=777"))


for size in (10, 1000):
    # All lines are kept, so that there are as many as are counted.
    with harness.Server("--runner", "none",
                        "--budget", "log-bytes=1000000000") as one:
        one.call("POST", api.JOBS, api.job("long"))
        measure(one, size)
