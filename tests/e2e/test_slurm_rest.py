"""The way of slurmrestd against a real Slurm: a unix socket, and a token."""

import contextlib
import os
import signal
import subprocess

import harness
import slurm
import tap

TOOL = os.path.join(harness.bin_dir(), "../tests/tools/slurm_way")
END = "#!/bin/sh\nexit 3\n"
SLEEP = "#!/bin/sh\nexec sleep 600\n"
SCRIPT = "#!/bin/sh\n[ $SLURM_ARRAY_TASK_ID = 0 ] && exit 3\nsleep 600\n"


class Way:
    def __init__(self, cluster, *settings):
        self.cluster, self.settings = cluster, settings

    def begin(self, *words):
        return subprocess.Popen((TOOL,) + self.settings + words,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def ask(self, *words):
        return self.begin(*words).communicate()[0].strip()

    def submit(self, name, *options, elements=6):
        return self.ask("submit", name, self.cluster.folder, str(elements),
                        SCRIPT, "nodes=1", "ntasks=1", "cpus-per-task=2",
                        "signal=B:USR1@30", "no-requeue", *options)

    def states(self, name):
        """{(first, last): "FAILED 3 -1"}"""
        rows = [line.split("|") for line in
                self.ask("list", name).splitlines()]
        return {(int(row[1]), int(row[2])): " ".join((row[3], row[7], row[8]))
                for row in rows}

    def elements(self, name):
        """The words of each element's state, and from which on there is no
        list of what waits; None: there is all."""
        found, cut = {}, None
        for line in self.ask("list", name).splitlines():
            _, first, last, state = line.split("|")[:4]
            if last.endswith("+"):
                cut = int(first)
            else:
                found.update(dict.fromkeys(range(int(first), int(last) + 1),
                                           state))
        return found, cut


def lives(way, name):
    job = way.submit(name, "time=10", "mem=100M", "exclusive")
    begun = {(0, 0): "FAILED 3 -1", (1, 1): "RUNNING -1 -1",
             (2, 2): "RUNNING -1 -1", (3, 5): "PENDING -1 -1"}
    harness.wait_until(lambda: way.states(name) == begun, "three elements")
    tap.equal("", way.ask("cancel", job, "2", "4", "waiting"))
    tap.equal({**{key: begun[key] for key in begun if key != (3, 5)},
               (5, 5): "PENDING -1 -1"}, way.states(name))
    tap.equal("", way.ask("cancel", job, "0", "5"))
    harness.wait_until(
        lambda: all(state.startswith(("FAILED", "CANCELLED"))
                    for state in way.states(name).values()), "the end")
    tap.equal("", way.ask("cancel", job, "0", "5"))
    tap.equal("", way.ask("cancel", "99999", "0", "5", "waiting"))


def refuses(way):
    words = way.submit("ht-no", "partition=nix")
    tap.contains("FAILED_PRECONDITION ", words)
    tap.contains("Invalid partition name specified", words)
    tap.contains("has no field for --export", way.submit("ht-no",
                                                         "export=NONE"))
    tap.equal("", way.ask("list", "ht-no"))


def a_job_lives_by_a_socket_and_by_a_token():
    slurm.require()
    with slurm.Cluster(nodes=2, jwt=True,
                       partitions={"main": "60", "long": "INFINITE"}) as own:
        token = os.path.join(own.folder, "token")
        with open(token, "w", encoding="ascii") as file:
            file.write(own.token() + "\n")
        for name, way in (
                ("ht-socket", Way(own, "rest=" + own.rest)),
                ("ht-token", Way(own, "rest=" + own.rest_jwt,
                                 "token=" + token))):
            harness.wait_until(lambda way=way: way.ask("way") ==
                               "slurmrestd, " + own.api, "slurmrestd")
            lives(way, name)
            refuses(way)
            # 24.11 does not say which partition is the default.
            tap.contains("partition main %d 1 0 3600000\n"
                         "partition long 0 1 0 0" % (own.version < "24"),
                         way.ask("limits"))
        tap.contains("wants a token",
                     Way(own, "rest=" + own.rest_jwt).ask("way"))


def long_lists_are_cut(own, way):
    """Slurm lists few of many gaps among what waits: "4,7-8,..."."""
    job = way.ask("submit", "ht-cut", own.folder, "300", SLEEP, "nodes=1",
                  "cpus-per-task=2")
    running = {0: "RUNNING", 1: "RUNNING"}
    harness.wait_until(lambda: way.elements("ht-cut")[0] ==
                       {**running, **dict.fromkeys(range(2, 300), "PENDING")},
                       "300 elements")
    gaps = [number for number in range(2, 280) if number % 7 in (1, 2, 5)]
    own.call("scancel", *("%s_%d" % (job, number) for number in gaps))
    # A list may be of the moment before.
    harness.wait_until(lambda: way.elements("ht-cut")[1] is not None,
                       "a list that is cut")
    found, cut = way.elements("ht-cut")
    # All that is listed is true, and what waits and is not is behind the cut.
    waiting = set(range(2, 300)) - set(gaps)
    listed = {number for number in found if found[number] == "PENDING"}
    tap.equal(listed, {number for number in waiting if number < cut})
    tap.equal(len(listed) > 5 and cut < 200, True)
    # A part behind the cut, and all.
    tap.equal("", way.ask("cancel", job, "200", "250", "waiting"))
    left = {number for number in waiting if not 200 <= number <= 250}
    tap.equal(waiting_of(own, job), left)
    tap.equal("", way.ask("cancel", job, "0", "299", "waiting"))
    tap.equal(waiting_of(own, job), set())
    tap.equal({number for number, state in way.elements("ht-cut")[0].items()
               if state == "RUNNING"}, {0, 1})
    own.call("scancel", job)


def waiting_of(own, job):
    """By squeue, which is asked for all."""
    own.environment["SLURM_BITSTR_LEN"] = "0"
    found = set()
    for line in own.call("squeue", "-h", "-r", "-t", "PENDING", "-j", job,
                         "-o", "%K").split():
        found.add(int(line))
    return found


@contextlib.contextmanager
def stopped(process):
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def has_all_ended(way, name):
    states = list(way.elements(name)[0].values())
    return states != [] and set(states) == {"FAILED"}


def lost_answers(own, way):
    """No answer is no refusal: the job may have been accepted."""
    controller, rest = (next(
        process for process in own.processes if process.args[0].endswith(
            "/" + name)) for name in ("slurmctld", "slurmrestd"))

    def submit(name):
        return ("submit", name, own.folder, "1", END, "nodes=1")

    with stopped(controller):
        tap.contains("UNAVAILABLE ", way.ask(*submit("ht-slow")))
    harness.wait_until(lambda: has_all_ended(way, "ht-slow"), "ht-slow")
    with stopped(controller):
        begun = way.begin(*submit("ht-cut-off"))
        harness.wait_until(lambda: own.has_asked(rest.pid), "a request")
        rest.kill()
        tap.contains("UNAVAILABLE slurmrestd at %s cannot be reached" %
                     own.rest, begun.communicate()[0])
        rest.wait()
        own.processes.remove(rest)
    os.unlink(own.rest.partition(":")[2])
    own.start_rest()
    harness.wait_until(lambda: way.ask("way") == "slurmrestd, " + own.api,
                       "slurmrestd")
    controller.kill()
    controller.wait()
    own.processes.remove(controller)
    for words in (submit("ht-no"), ("list", "ht-")):
        tap.contains("UNAVAILABLE ", way.ask(*words))
    own.start_controller()
    harness.wait_until(lambda: way.ask("limits").startswith("version"),
                       "slurmctld")


def odd_words(own, way):
    """Names, folders, options and scripts have any character."""
    name = "ht-odd 'x' \"y\" $HOME"
    folder = os.path.join(own.folder, "o \"a\" 'b' $HOME #;& \u00e9")
    os.mkdir(folder)
    job = way.ask("submit", name, folder, "1",
                  "#!/bin/sh\nprintf '%s' 'a \"b\" $c \\ #d'; exit 3\n",
                  "nodes=1", "comment=say \"no\" 'or' $HOME #1 \\n")
    harness.wait_until(lambda: has_all_ended(way, name), name)
    tap.equal(own.call("squeue", "-h", "-t", "all", "-j", job, "-o",
                       "%k").strip(), "say \"no\" 'or' $HOME #1 \\n")
    with open(os.path.join(folder, "0.out"), encoding="utf-8") as file:
        tap.equal(file.read(), "a \"b\" $c \\ #d")


def answers_that_are_lost_or_cut_are_no_end():
    slurm.require()
    with slurm.Cluster(nodes=2, max_array=1001) as own:
        way = Way(own, "rest=" + own.rest)
        odd_words(own, way)
        words = way.submit("ht-no", elements=1002)
        tap.contains("FAILED_PRECONDITION ", words)
        tap.contains("Invalid job array specification", words)
        long_lists_are_cut(own, way)
        lost_answers(own, way)


def a_slurmrestd_that_is_down_is_said():
    port = harness.Port()
    url = "http://" + port.address
    tap.contains("UNAVAILABLE slurmrestd at %s cannot be reached" % url,
                 Way(None, "rest=" + url).ask("way"))
    tap.contains("INVALID_ARGUMENT localhost is no address of slurmrestd",
                 Way(None, "rest=localhost").ask("way"))
    port.close()


tap.run([a_job_lives_by_a_socket_and_by_a_token,
         answers_that_are_lost_or_cut_are_no_end,
         a_slurmrestd_that_is_down_is_said])
