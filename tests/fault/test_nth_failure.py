"""The n-th write, sync or change of a name fails in the server, the runner or
a shim: it continues or ends with a message, and what was confirmed is there
afterwards.

HYPERTUNE_FAILURES (default 2) is how many n of each program are tried, drawn
by HYPERTUNE_SEED (default 1); with more than there are, all of them are."""

import contextlib
import os
import random
import shutil
import urllib.error

import api
import chaos
import checker
import fake_runner
import harness
import power_cut
import tap

FAILURES = int(os.environ.get("HYPERTUNE_FAILURES", "2"))
SEED = int(os.environ.get("HYPERTUNE_SEED", "1"))
ERRORS = ("EIO", "ENOSPC")
TRIALS = 2


class Gone(Exception):
    """The server has ended."""


def persist(action, refused):
    """Does it again as long as the server says that it cannot now."""
    def tried():
        try:
            return action() or True
        except (ConnectionError, urllib.error.URLError) as error:
            raise Gone from error
        except AssertionError as error:
            if "hung up" in str(error):
                raise Gone from error
            if "'retry'" not in str(error) and ": 503 " not in str(error):
                raise
            refused.append(str(error))
            return None
    return harness.wait_until(tried, "an answer other than to try later")


def send_job(server, name, trials):
    status, answer = server.call("POST", api.JOBS, api.job(
        name, maxTrialCount=trials, parallelTrialCount=1))
    if status == 409:
        return  # an answer before was lost
    if status != 200:
        raise AssertionError("job: %d %s" % (status, answer))


def play_trial(runner, facts, refused):
    attempt = persist(runner.lease, refused)[0]
    trial = attempt.name["trial"]
    persist(attempt.started, refused)
    for step in range(1, 4):
        def report(step=step):
            attempt.records = step - 1  # the same one again
            attempt.report(trial + step / 64, step=step)
        persist(report, refused)
        facts.append((trial, step, trial + step / 64))
        persist(lambda: attempt.say("one line\n"), refused)
    persist(lambda: attempt.ended("succeeded", exit=0), refused)
    facts.append((trial, None, None))


def play(server, facts):
    """Returns how often it was refused."""
    refused = []
    persist(lambda: send_job(server, "job", TRIALS), refused)
    facts.append((0, None, None))
    with persist(lambda: fake_runner.Runner(server), refused) as runner:
        for _ in range(TRIALS):
            play_trial(runner, facts, refused)
    persist(lambda: send_job(server, "after", 1), refused)
    return refused


def check(server, facts):
    """A server that nothing fails any more."""
    stored = {}
    for trial, step, value in facts:
        if trial == 0:
            server.study("job")
        elif step is None:
            tap.equal(server.trial("job", trial)["hypertune"]["state"],
                      "SUCCEEDED")
        else:
            if trial not in stored:
                stored[trial] = {
                    int(item["step"]): item["metrics"]["accuracy"]
                    for item in server.measurements("job", trial)}
            tap.equal(stored[trial].get(step), value, "trial %d" % trial)
    tap.equal(checker.stop_and_check(server, is_over=False)[1], [])
    tap.lacks("damage", server.log_text())


class Failing:
    """A folder of programs of which one has such a failure."""

    def __init__(self, recorder, server, program):
        self.recorder = recorder
        self.server = server
        self.count = os.path.join(os.path.dirname(recorder.log), "count")
        self.ours = {**server.environment, "HT_DISK_COUNT": self.count,
                     "HT_DISK_PROGRAM": program}
        del self.ours["HT_DISK_LOG"]

    def arm(self, fault):
        harness.kill_runs(self.server.data, self.server.programs)
        for name in os.listdir(self.recorder.root):
            shutil.rmtree(os.path.join(self.recorder.root, name))
        if os.path.exists(self.count):
            os.unlink(self.count)
        self.server.environment = dict(self.ours, HT_DISK_FAULT=fault)
        self.server.log.seek(0)
        self.server.log.truncate()

    def disarm(self):
        self.server.environment = dict(self.ours)

    def counted(self):
        """How many operations of the kind there were."""
        with open(self.count, "rb") as file:
            return int.from_bytes(file.read(8), "little")

    def faults(self, once):
        """Which to try; `once` does what has operations."""
        self.arm("any:0:EIO")
        once()
        everything = range(1, self.counted() + 1)
        return ["any:%d:%s" % (n, error) for n in sorted(
            random.Random(SEED).sample(everything, min(
                FAILURES, len(everything)))) for error in ERRORS]


def fail_server(failing, fault):
    """Returns what became of it, in words."""
    server, facts, end = failing.server, [], "nothing failed"
    failing.arm(fault)
    try:
        server.start()
        refused = play(server, facts)
        end = "refused %d times" % len(refused)
        server.get(api.OURS + "/server")
        server.kill()
    except Gone:
        code = server.wait_death()
        end = "ended"
        tap.equal(code, 1, fault)
        tap.contains("hypertuned: ", server.log_text())
    except AssertionError as error:
        if "no ready line" not in str(error):
            raise AssertionError("%s: %s" % (fault, error)) from error
        tap.equal(server.wait_death(), 1, fault)
        tap.contains("hypertuned: ", server.log_text())
        end = "did not start"
    failing.disarm()
    server.start()
    check(server, facts)
    return end


@contextlib.contextmanager
def failing_server():
    """A Failing, and a function that gives its server all to do."""
    with power_cut.recorded("--runner", "none") as (recorder, server):
        def once():
            server.start()
            play(server, [])
            server.kill()
        yield Failing(recorder, server, "hypertuned"), once


def the_server_confirms_nothing_that_it_could_not_write():
    with failing_server() as (failing, once):
        for fault in failing.faults(once):
            print("# %s: %s" % (fault, fail_server(failing, fault)))


def a_write_that_only_seems_to_be_made_is_noticed():
    """Else the case above could not fail."""
    with failing_server() as (failing, once):
        failing.arm("write:0:EIO")
        once()
        middle = failing.counted() // 2
        for n in range(middle, middle + 8):
            try:
                fail_server(failing, "write:%d:LOST" % n)
            except AssertionError as error:
                print("# " + str(error).splitlines()[0][:200])
                return
        raise AssertionError("eight of them were not")


def survive(program):
    """Two trials of a machine on which that program has a failure."""
    with power_cut.recorded(slots=TRIALS, environment=harness.NO_SANDBOX) as (
            recorder, server):
        failing = Failing(recorder, server, program)
        journals = os.path.join(recorder.root, "journals")

        def once():
            study = chaos.Chaos(server, TRIALS, SEED, journals)
            server.start()
            study.submit()
            study.expect_completion()
            study.expect_quiet()
            study.expect_agreement()

        for fault in failing.faults(once):
            print("# " + fault)
            failing.arm(fault)
            once()


def a_study_completes_although_its_runner_cannot_write():
    survive("hypertune-runner")


def a_study_completes_although_its_shims_cannot_write():
    survive("hypertune-shim")


if power_cut.missing():
    tap.skip("failing writes", power_cut.missing())
tap.run([the_server_confirms_nothing_that_it_could_not_write,
         a_write_that_only_seems_to_be_made_is_noticed,
         a_study_completes_although_its_runner_cannot_write,
         a_study_completes_although_its_shims_cannot_write])
