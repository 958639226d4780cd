"""What the server keeps in memory of studies and connections is bounded, and
what was dropped comes again as it was."""

import http.client
import itertools
import json
import resource

import api
import harness
import tap
import vizier

STUDIES, CONNECTIONS = 1000, 1000
MIB = 1024  # of the KiB that /proc shows
server = None
numbers = itertools.count()


def rss():
    status = harness.read_proc(server.process.pid, "status").decode()
    line, = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1])


def dropped():
    text = api.ask(server, "GET", "/metrics").body.decode()
    line, = [line for line in text.splitlines() if line.startswith(
        'hypertune_budget_exceeded_total{budget="study-memory"}')]
    return int(line.split()[-1])


def make_studies(count):
    """On one connection."""
    link = http.client.HTTPConnection(*api.address(server))
    for _ in range(count):
        link.request("POST", vizier.STUDIES, json.dumps({
            "displayName": "many %d" % next(numbers),
            "studySpec": {"metrics": [vizier.METRIC],
                          "parameters": [vizier.X, vizier.LAYERS],
                          "algorithm": "RANDOM_SEARCH"}}), {
            "Authorization": "Bearer " + api.token(server),
            "Content-Type": "application/json"})
        answer = link.getresponse()
        tap.equal((answer.status, bool(answer.read())), (200, True))
    link.close()


def played(between):
    """The points of a Bayesian study, with `between` called before each."""
    study = vizier.Study(server, vizier.X, vizier.OPT,
                         algorithm="ALGORITHM_UNSPECIFIED")
    points = []
    for _ in range(8):
        between()
        trial, = study.suggest()["trials"]
        points.append(trial["parameters"])
        study.complete("/v1/" + trial["name"],
                       (vizier.values(trial["parameters"])["x"] - 0.3) ** 2)
    tap.equal({item["verdict"] for item in server.replay(
        study.name.rsplit("/", 1)[1])}, {"SAME"})
    return points


def a_study_that_was_dropped_gets_the_same_suggestions():
    others = [vizier.Study(server) for _ in range(80)]
    for other in others:
        other.suggest(1)

    def use_others():
        before = dropped()
        for other in others:
            other.suggest(1)
        # Of 20 KiB at least each, fewer than 60 fit: this study's was used
        # before all of the others', so it is gone; and so is its search, of
        # which 32 are kept.
        tap.true(dropped() - before >= 60, dropped() - before)
    tap.equal(played(use_others), played(lambda: None))


def open_studies_take_no_more_memory_than_the_budget():
    make_studies(STUDIES)
    before = rss()
    make_studies(STUDIES)
    if harness.is_sanitized():
        raise tap.Skip("a sanitizer's shadow is memory, too")
    # Each takes 40 KiB and more where all are kept.
    tap.true(rss() - before < 8 * MIB, (before, rss()))


def the_memory_of_ended_connections_goes_back():
    if harness.is_sanitized():
        raise tap.Skip("a sanitizer keeps freed memory for a while")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + 100
    if soft < wanted:
        if hard != resource.RLIM_INFINITY and hard < wanted:
            raise tap.Skip("needs %d descriptors" % wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    before = rss()
    head = api.head(server, "GET", api.OURS + "/session")
    socks = []
    for _ in range(CONNECTIONS):
        sock = api.connect(server)
        sock.sendall(head)
        tap.equal(api.read_answer(sock).status, 200)
        socks.append(sock)
    grown = rss() - before
    for sock in socks:
        sock.close()
    tap.true(grown > 10 * MIB, grown)
    harness.wait_until(lambda: rss() - before < grown / 4,
                       "the return of the memory of connections")


with harness.Server("--runner", "none", "--budget",
                    "study-memory=1048576,connections=2000") as server:
    tap.run([
        a_study_that_was_dropped_gets_the_same_suggestions,
        open_studies_take_no_more_memory_than_the_budget,
        the_memory_of_ended_connections_goes_back,
    ])
