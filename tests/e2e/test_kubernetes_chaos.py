"""Pods are evicted and deleted, their connections are cut, the API server goes
away and forgets, the runner and the server are killed, in turn, while trials
of one and of two replicas run: all end, each once, with its own measurements.

On the played cluster, or on a real one (see lib/pod_trials.py), which nothing
else may use, since its API server is killed. HYPERTUNE_TRIALS: how many
trials."""

import os
import random
import signal
import threading

import harness
import pod_trials
import tap
from kubernetes_rules import Refused
from pod_trials import SLOTS, shell, spec

if os.geteuid() != 0 and "HT_KUBECONFIG" not in os.environ:
    tap.skip("pods of the played cluster", "namespaces want root")

TRIALS = int(os.environ.get("HYPERTUNE_TRIALS", "24"))
PAIRS = max(TRIALS // 4, 2)
STUDIES = {"one": TRIALS - PAIRS, "two": PAIRS}
STEPS = list(range(1, 9))
MOST_LOST = 2  # attempts of a trial; a third in a row would end it
CLEAN_S = 60

# Each value says which trial it is of, and each measurement which attempt.
# Trials differ in how long they take.
TRAINER = """
case $HOSTNAME in *-worker-*) while :; do sleep 0.1; done;; esac
attempt=${HOSTNAME%-master-0*}; attempt=${attempt##*-}
for step in 1 2 3 4 5 6 7 8; do
    hypertune report score=$((${x} * step)) from=$attempt --step $step
    sleep 0.$((${x} % 5 + 1))
done
"""


def label(pod):
    """Of its attempt: "STUDY-TRIAL-ATTEMPT"."""
    return pod["metadata"]["labels"]["hypertune/attempt"]


def trial_of(pod):
    """(the study's name, the trial's number)"""
    study, number, _ = label(pod).split("-")
    return list(STUDIES)[int(study) - 1], number


def is_young(pod):
    """Its attempt is in its first half, so that it can be lost."""
    rows = [row for row in server.measurements(*trial_of(pod))
            if row["attempt"] == int(label(pod).rsplit("-", 1)[1])]
    return len(rows) <= len(STEPS) / 2


def alive():
    """The pods that run and are not asked to end."""
    return [pod for pod in cluster.list("pods")
            if pod["status"].get("phase") == "Running" and
            "deletionTimestamp" not in pod["metadata"]]


def is_unended(pod):
    """Whether its attempt is the runner's, which has no end of the master."""
    folder = os.path.join(server.data, "runs/kubernetes",
                          *label(pod).split("-"), "master-0")
    return os.path.isdir(folder) and not os.path.exists(
        os.path.join(folder, "exit.json"))


class Census(threading.Thread):
    """How many attempts run in pods at once, at most, until end()."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.over = 0, threading.Event()

    def run(self):
        while not self.over.wait(0.05):
            try:
                now = {label(pod) for pod in alive() if is_unended(pod)}
                self.most = max(self.most, len(now))
            except AssertionError:
                pass  # the real API server is away

    def end(self):
        self.over.set()
        self.join()


class Faults:
    """One after another by a fixed seed, all of them before one comes again;
    so many that they end."""

    def __init__(self):
        self.random = random.Random(8)
        self.left = max(TRIALS // 4, 20)
        self.taken = {}  # names of pods that were taken away, by their trial
        self.turn, self.done = [], set()

    def kinds(self):
        return [self.evict, self.delete, cluster.cut, cluster.leave,
                cluster.forget, self.kill_runner, self.kill_server,
                self.kill_both]

    def one(self):
        if not self.turn:
            self.turn = self.kinds() + [self.evict, self.delete]
            self.random.shuffle(self.turn)
        fault = self.turn.pop()
        print("# %d trials have succeeded: %s" % (succeeded(), fault.__name__))
        fault()
        self.done.add(fault.__name__)
        self.left -= 1

    def may_take(self, pod):
        taken = self.taken.get(trial_of(pod), ())
        return (len(taken) < MOST_LOST and is_young(pod) and
                pod["metadata"]["name"] not in taken)

    def take(self, way, word):
        """A pod of a trial that may lose one more, one with that word in its
        name where there are such; False: there is none now."""
        pods = [pod for pod in alive() if self.may_take(pod)]
        if not pods:
            return False
        pod = self.random.choice([pod for pod in pods if word in
                                  pod["metadata"]["name"]] or pods)
        name = pod["metadata"]["name"]
        try:
            way(name)
        except (AssertionError, Refused):
            return False  # it has just ended
        self.taken.setdefault(trial_of(pod), []).append(name)
        return True

    def evict(self):
        harness.wait_until(lambda: self.take(cluster.evict, "master") or
                           is_over(), "a pod to evict")

    def delete(self):
        harness.wait_until(lambda: self.take(cluster.delete, "worker") or
                           is_over(), "a pod to delete")

    def kill_runner(self):
        """Its server starts another one."""
        for pid in harness.wait_until(lambda: harness.runners(server.data),
                                      "a runner"):
            os.kill(pid, signal.SIGKILL)

    def kill_server(self):
        server.kill()
        server.start()

    def kill_both(self):
        server.kill()
        harness.kill_runs(server.data)
        server.start()


def succeeded():
    return sum(server.study(name)["counts"]["succeeded"] for name in STUDIES)


def is_over():
    return all(server.study(name)["state"] not in harness.OPEN
               for name in STUDIES)


def check_series(x, rows, attempt, won):
    """Its own, from the first step on, each once, all if it won. Returns
    whether there are any."""
    ours = [row for row in rows if row["attempt"] == attempt]
    steps = [int(row["step"]) for row in ours]
    tap.equal(steps, STEPS if won else STEPS[:len(ours)], "steps")
    tap.equal([row["metrics"] for row in ours],
              [{"score": x * step, "from": attempt} for step in steps])
    return bool(ours)


def check_trial(name, number):
    """Returns (the value that it tried, how many attempts it lost but for
    those of which the runner had written nothing when it was killed)."""
    trial = server.trial(name, number)
    ours, x = trial["hypertune"], int(trial["parameters"][0]["value"])
    tap.equal((ours["state"], ours["objective"]),
              ("SUCCEEDED", x * STEPS[-1]), ours["reason"])
    rows = server.measurements(name, number)
    numbers = [one["attempt"] for one in ours["attempts"]]
    tap.equal({row["attempt"] for row in rows} - set(numbers), set())
    lost = 0
    for one in ours["attempts"]:
        won = one["attempt"] == numbers[-1]
        tap.equal(one["outcome"], "succeeded" if won else "lost")
        begun = check_series(x, rows, one["attempt"], won)
        lost += not won and (begun or
                             "started again without it" not in one["reason"])
    return x, lost


def check(name):
    """The number of attempts that it lost."""
    tap.equal(server.wait_study(name)["state"], "SUCCEEDED",
              server.explain(name))
    numbers = {trial["id"] for trial in server.trials(name)}
    tap.equal(len(numbers), STUDIES[name], "trials")
    found = [check_trial(name, number) for number in numbers]
    best = server.cli("best", name, "-o", "args").stdout
    tap.equal(int(best.split("--x=")[1].split()[0]), max(found)[0], "best x")
    return sum(lost for _, lost in found)


def submit(name, **members):
    server.submit(spec(name, shell(TRAINER), trials=STUDIES[name],
                       metrics=None, parameters={"x": {
                           "type": "integer", "min": 1, "max": 1000000}},
                       **members))


def trials_survive_all_faults():
    census, faults = Census(), Faults()
    census.start()
    submit("one", parallel=SLOTS)
    submit("two", parallel=2, replicas={"worker": {"count": 1}})
    while faults.left and not is_over():
        done = succeeded()
        faults.one()
        harness.wait_until(lambda done=done: succeeded() > done or is_over(),
                           "one more trial that succeeds")
    lost = sum(check(name) for name in STUDIES)
    harness.wait_until(lambda: not server.left(), "a clean end", CLEAN_S)
    census.end()
    taken = sum(len(names) for names in faults.taken.values())
    print("# %d trials, %d attempts lost, %d pods taken away, %d at once" % (
        TRIALS, lost, taken, census.most))
    tap.true(0 < lost <= taken, "only what was taken away is lost")
    tap.true(1 < census.most <= SLOTS, "attempts at once")
    tap.equal(faults.done, {kind.__name__ for kind in faults.kinds()})


with pod_trials.cluster_here() as cluster, pod_trials.Server(
        cluster) as server:
    tap.run([trials_survive_all_faults])
