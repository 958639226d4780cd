"""Four machines behind routers that hide them, each in network namespaces: one
is cut off, one freezes, one is gone for good, and one joins late. No trial is
lost or won twice, nearly all work is kept, and a drain moves every trial.

HYPERTUNE_TRIALS (default 90) is how many trials there are, HYPERTUNE_CUT
(default 40) for how many seconds one machine is cut off and one frozen; the
server takes a runner for lost after 30."""

import collections
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

import checker
import harness
import tap
from tls_server import TlsServer

TRIALS = int(os.environ.get("HYPERTUNE_TRIALS", "90"))
CUT = float(os.environ.get("HYPERTUNE_CUT", "40"))
STEPS = 20
KEPT = 0.95  # of the steps that were run
HOST = "10.77.0.1"  # of the server
TRAINER = """
import os, subprocess, time
trial = os.environ["CLOUD_ML_TRIAL_ID"]
saved = os.path.join(os.environ["AIP_CHECKPOINT_DIR"], "step")
step = 0
if os.environ.get("HYPERTUNE_RESUME") == "1" and os.path.exists(saved):
    step = int(open(saved).read())
if step == %d:  # the machine broke after the last step
    subprocess.run(["hypertune", "report", "score=%%d" %% step], check=True)
while step < %d:
    step += 1
    time.sleep(0.1)
    with open(saved + ".new", "w") as file:
        file.write(str(step))
    os.replace(saved + ".new", saved)
    with open(os.environ["WORK"], "a") as file:
        file.write(trial + "\\n")
    subprocess.run(["hypertune", "report", "score=%%d" %% step, "--step",
                    str(step), "--checkpoint", saved], check=True)
""" % (STEPS, STEPS)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Machine:
    """A network namespace with a router of its own before it, and a runner
    that joined by the line that the server's admin was shown."""

    def __init__(self, server, number):
        self.server = server
        self.name = "m%d" % number
        self.router = "r%d" % number
        self.number = number
        self.home = os.path.join(server.folder, self.name)
        os.mkdir(self.home)
        for space in (self.name, self.router):
            ip("netns", "add", space)
            ip("-n", space, "link", "set", "lo", "up")
        self.link("out", None, "in", self.router, "10.77.%d" % number)
        self.link("in", self.router, "out", self.name, "10.88.%d" % number)
        self.in_router("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        self.in_router("iptables", "-t", "nat", "-A", "POSTROUTING", "-s",
                       "10.88.0.0/16", "-j", "MASQUERADE")

    def link(self, near, near_space, far, far_space, net):
        """Between two namespaces, NET.1 near and NET.2 far, where the default
        route leads back."""
        names = ["%s%d%s" % (end, self.number, net[3]) for end in (near, far)]
        ip("link", "add", names[0], "type", "veth", "peer", "name", names[1],
           "netns", far_space)
        if near_space is not None:
            ip("link", "set", names[0], "netns", near_space)
        for space, name, end in ((near_space, names[0], 1),
                                 (far_space, names[1], 2)):
            where = ["-n", space] if space is not None else []
            ip(*where, "addr", "add", "%s.%d/24" % (net, end), "dev", name)
            ip(*where, "link", "set", name, "up")
        ip("-n", far_space, "route", "add", "default", "via", net + ".1")

    def in_router(self, *words):
        subprocess.run(["ip", "netns", "exec", self.router, *words], check=True)

    def join(self):
        made = self.server.cli("token", "create", self.name, "--role", "join")
        line = made.stderr[made.stderr.index("hypertune runner"):].replace(
            "TOKEN", made.stdout.strip())
        words = shlex.split(line)
        url = "https://%s:%d" % (HOST, self.server.ports[0].number)
        with open(os.path.join(self.home, "log"), "ab") as log:
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", self.name,
                 os.path.join(harness.bin_dir(), words[0]), *words[1:3], url,
                 *words[4:], "--slots", "2", "--machine", self.name],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=dict(os.environ, HYPERTUNE_STATE=self.home))

    def pids(self):
        shown = subprocess.run(["ip", "netns", "pids", self.name], check=True,
                               stdout=subprocess.PIPE)
        return [int(pid) for pid in shown.stdout.split()]

    def signal(self, number):
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def cut(self, how):
        self.in_router("iptables", how, "FORWARD", "-j", "DROP")

    def end(self):
        while self.pids():
            self.signal(signal.SIGKILL)
        self.process.wait()
        ip("netns", "del", self.name)
        ip("netns", "del", self.router)


def submit(server, name, **changes):
    folder = os.path.join(server.folder, "code")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "train.py"), "w", encoding="ascii") as file:
        file.write(TRAINER)
    work = os.path.join(server.folder, name + ".work")
    server.submit(dict({
        "spec": 1, "name": name, "goal": "maximize score", "args": "none",
        "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
        "algorithm": "random", "trials": TRIALS, "parallel": 8, "retries": 0,
        "workdir": folder, "command": ["python3", "train.py"],
        "env": {"WORK": work}}, **changes), env={
            "PATH": harness.bin_dir() + os.pathsep + os.environ["PATH"]})
    return work


def counts(server, name):
    return collections.Counter(
        trial["hypertune"]["state"] for trial in server.trials(name))


def steps_in(work):
    if not os.path.exists(work):
        return 0
    with open(work, encoding="ascii") as file:
        return sum(1 for _ in file)


def check_results(server, name):
    status = server.wait_study(name, 1800)
    tap.equal(status["state"], "SUCCEEDED", server.explain(name)[-2000:])
    for trial in server.trials(name):
        facts = trial["hypertune"]
        tap.equal((facts["state"], facts.get("objective")),
                  ("SUCCEEDED", STEPS), facts)


def runner_of(server, machine):
    with open(os.path.join(machine.home, "log"), encoding="utf-8") as file:
        log = file.read()
    return log.split("runner.ready runner=", 1)[1].split()[0]


def no_machine_s_end_loses_a_trial_or_much_work(server, machines):
    cut, frozen, gone, late = machines
    for machine in machines[:3]:
        machine.join()
    work = submit(server, "many")
    harness.wait_until(
        lambda: len(set(one["runner"] for trial in server.trials("many")
                        for one in server.trial("many", trial["id"])[
                            "hypertune"]["attempts"])) == 3
        and steps_in(work) > 4 * STEPS, "all three work")
    gone.signal(signal.SIGKILL)
    cut.cut("-A")
    frozen.signal(signal.SIGSTOP)
    away = time.monotonic()
    late.join()
    harness.wait_until(lambda: time.monotonic() - away >= CUT, "the cut's end",
                       CUT + harness.PATIENCE)
    cut.cut("-D")
    frozen.signal(signal.SIGCONT)
    check_results(server, "many")
    run, counted = steps_in(work), TRIALS * STEPS
    print("# %d steps run, %d counted: %.1f %%" % (
        run, counted, 100 * counted / run))
    tap.true(counted / run >= KEPT, (counted, run))


def a_drain_moves_every_trial(server, machines):
    cut, frozen, _, late = machines
    harness.wait_until(lambda: len(
        [one for one in server.get("/hypertune/v1/runners")["runners"]
         if one["state"] == "ONLINE"]) == 3, "three machines")
    work = submit(server, "drained", trials=12, parallel=6)
    harness.wait_until(lambda: steps_in(work) > STEPS, "work")
    name = runner_of(server, late)
    server.cli("runners", "drain", name, "--move")
    harness.wait_until(lambda: not any(
        attempt["runner"] == name and attempt["state"] != "ENDED"
        for trial in server.trials("drained")
        for attempt in server.trial("drained", trial["id"])["hypertune"].get(
            "attempts", [])), "the drain")
    check_results(server, "drained")
    run, counted = steps_in(work), 12 * STEPS
    print("# drain: %d steps run, %d counted" % (run, counted))
    tap.true(counted / run >= KEPT, (counted, run))


def main():
    if os.geteuid() != 0 or shutil.which("iptables") is None:
        tap.skip("machines in network namespaces", "needs root and iptables")
    if len(sys.argv) < 3:
        done = subprocess.run(
            ["unshare", "--net", "--mount", sys.executable, *sys.argv,
             "inside"], check=False, env=dict(
                 os.environ, PYTHONPATH=os.path.dirname(tap.__file__)))
        sys.exit(done.returncode)
    ip("link", "set", "lo", "up")
    ip("addr", "add", HOST + "/32", "dev", "lo")
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
    server = TlsServer("--runner", "none", host=HOST)
    with server:
        machines = [Machine(server, number) for number in range(1, 5)]
        try:
            def no_machine_s_end_loses_a_trial():
                no_machine_s_end_loses_a_trial_or_much_work(server, machines)

            def a_drain_moves_all():
                a_drain_moves_every_trial(server, machines)
                tap.equal(checker.stop_and_check(server)[1], [])
            tap.run([no_machine_s_end_loses_a_trial, a_drain_moves_all])
        finally:
            for machine in machines:
                machine.end()


if __name__ == "__main__":
    main()
