"""Memory that runs out at the n-th allocation of a request: the server lives,
the answer is right or 503, and afterwards all is there.

CI takes some n of each request, from a random one on; HYPERTUNE_TEST_MEMORY=1
takes all of them. HYPERTUNE_TEST_SEED repeats a run."""

import collections
import json
import os
import random
import select
import socket
import struct
import tempfile

import api
import fake_runner
import harness
import tap
from failing_memory import FailingMemory

SEED = os.environ.get("HYPERTUNE_TEST_SEED") or os.urandom(4).hex()
ALL = os.environ.get("HYPERTUNE_TEST_MEMORY")
TRIES = 4  # of each request with each number of failures, in CI
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
        why = answer.error()["message"]
        tap.true("ask again" in why or "cannot store now" in why, why)
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


def an_event_stream_begins_or_is_refused():
    with Place() as place:
        server = place.with_results().server

        def stream(failing):
            with api.connect(server) as sock:
                sock.sendall(api.head(server, "GET", api.OURS + "/events",
                                      "Accept: text/event-stream"))
                try:
                    head = sock.recv(4096)
                except ConnectionResetError:
                    head = b""
                if head.startswith(b"HTTP/1.1 200"):
                    outcome = "200"
                else:
                    outcome = "503" if b" 503 " in head else "closed"
                    tap.true(outcome == "503" or not head, head)
            return outcome if failing else outcome == "200"
        place.each_failure(stream)


def changes_are_kept_once_they_are_confirmed():
    with Place() as place:
        server = place.server
        names = ["job-%d" % number for number in range(100000)]
        confirmed = []

        def submit(failing):
            name = names[0]
            outcome = outcome_of(
                api.send(server, "POST", api.JOBS, api.job(name)),
                (200,) if failing else (200, 409))
            if outcome == "200":
                confirmed.append(name)
            if not failing:
                names.pop(0)
            return outcome if failing else outcome in ("200", "409")
        place.each_failure(submit)
        server.kill()
        server.start()
        for name in confirmed[-300:]:
            tap.equal(server.study(name)["name"], name)


class Client:
    """Asks for trials of a study with a model, and completes them."""

    def __init__(self, place):
        self.server = place.server
        made = server_call(self.server, api.STUDIES, {
            "displayName": "modelled", "hypertune": {"seed": "1"},
            "studySpec": {
                "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
                "parameters": [{"parameterId": "x", "doubleValueSpec": {
                    "minValue": 0, "maxValue": 1}}]}})
        self.path = "/v1/" + made["name"]
        self.number = 0
        self.given = {}  # trials by their clients
        self.values = {}  # confirmed, by trial

    def ask(self):
        return api.send(self.server, "POST", self.path + "/trials:suggest", {
            "suggestionCount": 1, "clientId": "c%d" % self.number})

    def trial_in(self, answer):
        trial, = answer.json()["response"]["trials"]
        return trial["name"]

    def asked(self):
        """The answer once there is one; a search that failed rests a while."""
        answer = self.ask()
        while answer is not None and answer.status == 503:
            answer = self.ask()
        return answer

    def suggest(self, failing):
        answer = self.ask() if failing else self.asked()
        outcome = outcome_of(answer)
        if outcome != "200":
            return outcome if failing else False
        trial = self.trial_in(answer)
        tap.equal(self.given.setdefault(self.number, trial), trial)
        if not failing:
            self.finish(trial)
        return outcome if failing else True

    def finish(self, trial):
        tap.true(self.complete_trial(trial).status in (200, 400))
        self.number += 1

    def complete_trial(self, trial):
        value = 0.01 * (self.number % 50)
        answer = api.send(
            self.server, "POST", "/v1/%s:complete" % trial,
            {"finalMeasurement": {"metrics": [
                {"metricId": "loss", "value": value}]}})
        if answer is not None and answer.status == 200:
            self.values[trial] = value
        return answer

    def complete(self, failing):
        if self.number not in self.given:
            self.given[self.number] = self.trial_in(self.asked())
        trial = self.given[self.number]
        if failing:
            return outcome_of(self.complete_trial(trial))
        self.finish(trial)
        self.given[self.number] = self.trial_in(self.asked())
        return True

    def check(self):
        """Nothing that was confirmed is missing or another value."""
        stored = {trial["name"]: trial for trial in self.server.pages(
            self.path + "/trials?pageSize=1000", "trials")}
        for trial, value in self.values.items():
            metric, = stored[trial]["finalMeasurement"]["metrics"]
            tap.equal(metric["value"], value, trial)


def server_call(server, path, body):
    status, answer = server.call("POST", path, body)
    tap.equal(status, 200, answer)
    return answer


def clients_lose_no_trial_and_no_result():
    with Place() as place:
        client = Client(place)
        for _ in range(12):
            client.suggest(False)
        place.each_failure(client.suggest)
        place.each_failure(client.complete)
        client.check()
        gapless(place.server, client.path.rsplit("/", 1)[1])


def gapless(server, study):
    """The revisions of its events are 1, 2, 3 and so on."""
    revisions = [event["revision"] for event in server.get(
        api.OURS + "/studies/%s/events?limit=500" % study)["events"]]
    tap.equal(revisions, list(range(1, len(revisions) + 1)))
    tap.true(revisions, "events")


class Asker:
    """Sends a runner's messages, which may have no answer. A connection that
    the server gave up is made again, as nng does."""

    def __init__(self, runner):
        self.runner = runner
        self.broken = False

    def answer_to(self, number, seconds):
        """The answer with that id; None when there is none."""
        sock = self.runner.sock
        while select.select([sock], [], [], seconds)[0]:
            try:
                self.broken = not sock.recv(1, socket.MSG_PEEK)
            except ConnectionResetError:
                self.broken = True
            if self.broken:
                return None
            size, = struct.unpack(">Q", fake_runner.receive(sock, 8))
            answer = json.loads(fake_runner.receive(sock, size)[4:].decode())
            if answer["id"] == number:
                return answer
        return None

    def say(self, failing, what, **members):
        """How it was answered, and the answer."""
        if self.broken:
            self.runner.connect()
            self.broken = False
        self.runner.send(what, **members)
        answer = self.answer_to(self.runner.number,
                                0.2 if failing else harness.PATIENCE)
        if answer is None:
            return "closed", None
        tap.true(answer["status"] in (("ok", "retry") if failing else ("ok",)),
                 answer)
        return answer["status"], answer


def runners_lose_no_report():
    with Place() as place:
        server = place.server
        tap.equal(api.send(server, "POST", api.JOBS, api.job(
            "many", maxTrialCount=1000, parallelTrialCount=8)).status, 200)
        with fake_runner.Runner(server, slots=8) as runner:
            attempt, asker = runner.one().started(), Asker(runner)
            written = []

            def report(failing):
                number = len(written) + 1
                status, _ = asker.say(
                    failing, "report", replica="master-0", records=[
                        {"w": "00000000000000aa", "n": number,
                         "t": 1000 * number, "s": number,
                         "m": {"accuracy": number / 7}}], **attempt.name)
                if not failing:
                    written.append(number / 7)
                return status if failing else status == "ok"

            def beat(failing):
                status, _ = asker.say(failing, "heartbeat",
                                      attempts=[attempt.name])
                return status if failing else status == "ok"

            def lease(failing):
                status, answer = asker.say(failing, "lease", free=1, gpus=0)
                for said in (answer or {}).get("attempts", []):
                    leased[said["study"], said["trial"]] = fake_runner.Attempt(
                        runner, said)
                if not failing:
                    for one in leased.values():
                        one.succeed(0.5)
                    leased.clear()
                return status if failing else status == "ok"

            leased = {}
            for request in (report, beat, lease):
                place.each_failure(request)
            stored = [m["metrics"]["accuracy"] for m in server.pages(
                api.OURS + "/studies/many/measurements?trial=%d" %
                attempt.name["trial"], "measurements")]
            tap.equal(stored, written)


def has_ended(server, name):
    answer = api.ask(server, "GET", harness.JOBS + name)
    return (answer is not None and answer.status == 200 and
            answer.json()["hypertuneStatus"]["state"] not in harness.OPEN)


def a_trial_is_run_to_an_end_with_its_result():
    """Server, runner and shims share one count, so that any of them is hit."""
    if harness.is_sanitized():
        raise tap.Skip("the sanitizers want to be loaded first in all of them")
    with tempfile.TemporaryDirectory(prefix="ht-memory-") as folder:
        run_trials(FailingMemory(folder))


def run_trials(memory):
    draw = random.Random(SEED)
    report = os.path.join(harness.bin_dir(), "hypertune-trial")
    with harness.Server(environment=memory.environment) as server:
        ends = collections.Counter()
        for number in range(60 if ALL else 3):
            with memory.failing(draw.randrange(4000), draw.choice(FAILURES)):
                name = "real-%d" % number
                answer = api.send(server, "POST", api.JOBS, api.job(
                    name, maxTrialCount=1, trialJobSpec={"workerPoolSpecs": [{
                        "replicaCount": 1, "containerSpec": {"command": [
                            "sh", "-c", "exec %s report accuracy=0.25" %
                            report]}}]}))
                if answer is not None and answer.status == 200:
                    harness.wait_until(
                        lambda: memory.failed() > 0 or has_ended(server, name),
                        "a failure or the end")
            if answer is None or answer.status != 200:
                continue
            ended = server.wait_study(name)
            ends[ended["state"]] += 1
            trial, = server.trials(name)
            if trial["hypertune"]["state"] == "SUCCEEDED":
                metric, = server.measurements(name, 1)[-1]["metrics"].values()
                tap.equal(metric, 0.25)
        print("# ends of studies: %s" % dict(ends))
        tap.true(server.process.poll() is None, "the server is alive")


tap.run([questions_are_answered_rightly_or_with_503,
         an_event_stream_begins_or_is_refused,
         changes_are_kept_once_they_are_confirmed,
         clients_lose_no_trial_and_no_result,
         runners_lose_no_report,
         a_trial_is_run_to_an_end_with_its_result])
