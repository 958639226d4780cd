"""Memory that runs out at the n-th allocation of a request: the server lives,
the answer is right or 503, and afterwards all is there.

CI takes some n of each request, from a random one on; HYPERTUNE_TEST_MEMORY=1
takes all of them. HYPERTUNE_TEST_SEED repeats a run."""

import collections
import os
import random
import tempfile

import api
import fake_runner
import harness
import tap
from failing_memory import FailingMemory

SEED = os.environ.get("HYPERTUNE_TEST_SEED") or os.urandom(4).hex()
ALL = os.environ.get("HYPERTUNE_TEST_MEMORY")
TRIES = 12  # of each request with each number of failures, in CI
FAILURES = (1, 3, 30)  # one after another; the reserve helps the first

STUDY = api.OURS + "/studies/one"


class Place:
    """A server whose memory can fail, with a study that has results."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="ht-memory-")
        self.memory = FailingMemory(self.folder.name)
        self.draw = random.Random(SEED)
        self.seen = collections.Counter()
        print("# HYPERTUNE_TEST_SEED=%s" % SEED)

    def __enter__(self):
        self.server = harness.Server("--runner", "none",
                                     environment=self.memory.environment)
        self.server.__enter__()
        return self

    def __exit__(self, kind, value, trace):
        self.server.__exit__(kind, value, trace)
        self.folder.cleanup()
        print("# " + ", ".join("%s: %d" % (key, self.seen[key])
                               for key in sorted(self.seen)))

    def with_results(self):
        tap.equal(api.send(self.server, "POST", api.JOBS, api.job(
            "one", maxTrialCount=3, parallelTrialCount=3)).status, 200)
        with fake_runner.Runner(self.server) as runner:
            for number in range(3):
                runner.one().succeed(0.1 * number)
            self.server.wait_study("one")
        return self

    def each_failure(self, request):
        """Calls request(again) with memory that fails ever later, until it
        fails no more, and each time once more when there is enough."""
        for fail in FAILURES:
            skip, most = 0, 1 << 30
            step = 1
            if not ALL:
                with self.memory.failing(1 << 40, 0):
                    request(False)
                most = self.memory.asked()
                step = max(1, most // TRIES)
                skip = self.draw.randrange(step)
            while skip < most:
                with self.memory.failing(skip, fail):
                    self.note(request(True))
                self.alive()
                tap.true(request(False), "failures %d from %d on" % (fail, skip))
                self.seen["failed allocations"] += self.memory.failed()
                if self.memory.failed() == 0:
                    break
                skip += step

    def note(self, outcome):
        self.seen[outcome] += 1

    def alive(self):
        if self.server.process.poll() is not None:
            raise AssertionError("the server has ended: %s\n%s" % (
                self.server.process.returncode, self.server.log_text()))


def outcome_of(answer, want=(200,)):
    """"200", "503" or "closed"; any other answer is wrong."""
    if answer is None:
        return "closed"
    if answer.status == 503:
        tap.equal(answer.headers["retry-after"], "1")
        tap.contains("out of memory", answer.error()["message"])
    else:
        tap.true(answer.status in want, (answer.status, answer.body))
    return str(answer.status)


READS = {
    "a study": (api.JOBS + "/one", "studySpec"),
    "trials": (api.STUDIES + "/one/trials", "trials"),
    "the best trial": (STUDY + "/best", None),
    "a table": (STUDY + "/table", None),
    "events": (STUDY + "/events", None),
    "importances": (STUDY + "/importances", None),
}


def part_of(answer, member):
    """What does not change by itself."""
    if member is None:
        return answer.body
    return answer.json()[member]


def questions_are_answered_rightly_or_with_503():
    with Place() as place:
        server = place.with_results().server
        for path, member in READS.values():
            want = part_of(api.ask(server, "GET", path), member)

            def request(failing):
                answer = api.ask(server, "GET", path)
                outcome = outcome_of(answer)
                if outcome == "200":
                    tap.equal(part_of(answer, member), want, path)
                return outcome if failing else outcome == "200"
            place.each_failure(request)

        def metrics(failing):
            outcome = outcome_of(api.ask(server, "GET", "/metrics"))
            return outcome if failing else outcome == "200"
        place.each_failure(metrics)
        tap.equal(server.call("GET", api.OURS + "/server")[1]["readOnly"],
                  False)


tap.run([questions_are_answered_rightly_or_with_503])
