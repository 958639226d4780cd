"""The commands of Slurm, here and over ssh, on a real Slurm."""

import contextlib
import os
import subprocess
import sys
import tempfile

import harness
import login_node
import slurm
import tap

SLEEP = "#!/bin/sh\nexec sleep 600\n"
END = "#!/bin/sh\nexit 3\n"
# As slurm_way prints a row.
FIELDS = ("job", "first", "last", "state", "reason", "nodes", "end", "exit",
          "signal", "name")


class Way:
    """slurm_way with settings, such as "ssh=HOST"."""

    def __init__(self, cluster, *settings, environment=None):
        self.program = os.path.join(harness.bin_dir(),
                                    "../tests/tools/slurm_way")
        self.cluster = cluster
        self.settings = settings
        self.environment = (cluster.environment if environment is None
                            else environment)

    def ask(self, *words):
        return subprocess.run(
            [self.program, *self.settings, *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, **self.environment})

    def call(self, *words):
        ended = self.ask(*words)
        tap.equal((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout

    def refused(self, *words):
        ended = self.ask(*words)
        tap.equal((ended.returncode, ended.stdout), (1, ""))
        return ended.stderr

    def submit(self, name, elements, script, *options):
        return int(self.call("submit", name, self.cluster.folder, elements,
                             script, *options))

    def rows(self, prefix):
        """By first element; each row is a dict."""
        rows = [dict(zip(FIELDS, line.split("|", len(FIELDS) - 1)))
                for line in self.call("list", prefix).splitlines()]
        return sorted(rows, key=lambda row: (int(row["job"]),
                                             int(row["first"])))

    def states(self, prefix):
        """The state of each element."""
        return {number: row["state"] for row in self.rows(prefix)
                for number in range(int(row["first"]), int(row["last"]) + 1)}

    def wait_for(self, prefix, states):
        harness.wait_until(lambda: self.states(prefix) == states,
                           "%s %s" % (prefix, states))


def everything(way, prefix):
    """What each way does, on a cluster with four places and no other jobs."""
    job = way.submit(prefix + "-a", 300, SLEEP)
    running = {0: "RUNNING", 1: "RUNNING", 2: "RUNNING", 3: "RUNNING"}
    way.wait_for(prefix, {**running, **dict.fromkeys(range(4, 300),
                                                     "PENDING")})
    rows = way.rows(prefix)
    tap.equal({(row["job"], row["name"]) for row in rows},
              {(str(job), prefix + "-a")})
    tap.equal({row["nodes"] for row in rows[:4]}, {"n1", "n2"})
    tap.equal(rows[-1]["reason"], "Resources")
    tap.equal(way.rows("another"), [])
    tap.equal(way.rows(prefix[1:]), [])

    # A part, of which the first four run.
    way.call("cancel", job, 0, 199, "waiting")
    way.wait_for(prefix, {**running, **dict.fromkeys(range(200, 300),
                                                     "PENDING")})
    way.call("cancel", job, 200, 299, "waiting")
    way.wait_for(prefix, running)
    way.call("cancel", job, 1, 1)
    way.wait_for(prefix, {**running, 1: "CANCELLED"})
    way.call("cancel", job, 0, 3)
    way.wait_for(prefix, dict.fromkeys(range(4), "CANCELLED"))
    # Elements that are gone, and a job that never was.
    way.call("cancel", job, 0, 3)
    way.call("cancel", 987654, 0, 3, "waiting")

    way.submit(prefix + "-b", 2, END, "partition=short", "time=1")
    way.wait_for(prefix + "-b", dict.fromkeys(range(2), "FAILED"))
    tap.equal([int(row["end"]) > 0 for row in way.rows(prefix + "-b")],
              [True, True])


def refusals(way):
    folder = way.cluster.folder
    tap.equal(way.refused("submit", "no", folder, 2, END, "partition=nope"),
              "FAILED_PRECONDITION Slurm refuses the job: invalid partition "
              "specified: nope; Batch job submission failed: Invalid partition "
              "name specified\n")
    for options in (["time=5", "partition=short"], ["nodes=3"]):
        words = way.refused("submit", "no", folder, 1, END, *options)
        tap.contains("FAILED_PRECONDITION Slurm refuses the job: Batch job "
                     "submission failed: ", words)
    tap.contains("FAILED_PRECONDITION",
                 way.refused("submit", "no", folder, 2000, END))
    tap.contains("FAILED_PRECONDITION",
                 way.refused("test", "no", folder, 1, END, "partition=nope"))
    tap.contains(" to start at ", way.call("test", "no", folder, 1, END))
    tap.equal(way.rows("no"), [])


def limits(way):
    tap.equal(way.call("limits").splitlines()[1:],
              ["most_array 1001", "partition main 1 1 0 0",
               "partition short 0 1 0 120000"])


def the_commands_of_this_machine_submit_list_and_cancel():
    way = Way(cluster)
    tap.equal(way.call("way"), "commands\n")
    everything(way, "ht-here")


def the_commands_say_why_slurm_refuses():
    refusals(Way(cluster))


def the_commands_tell_limits():
    limits(Way(cluster))


def jobs_of_other_users_are_not_listed():
    way = Way(cluster)
    cluster.call("sbatch", "--uid=65534", "--job-name=ht-other",
                 "--array=0-1", "--chdir=/", "--output=/dev/null", input=SLEEP)
    way.submit("ht-other", 1, SLEEP)
    way.wait_for("ht-other", {0: "RUNNING"})
    tap.equal(len(way.rows("ht-")) - len(way.rows("ht-here")), 1)
    cluster.call("scancel", "--name=ht-other")


def a_machine_without_slurm_has_no_way():
    with tempfile.TemporaryDirectory() as folder:
        os.symlink("/usr/bin/env", os.path.join(folder, "env"))
        way = Way(cluster, environment={"PATH": folder})
        tap.equal(way.refused("way"), "NOT_FOUND there is no squeue\n")


@contextlib.contextmanager
def connected():
    """A way over ssh, whose connection `runners connect` has opened."""
    login_node.require()
    with login_node.LoginNode(cluster.environment) as node:
        control = os.path.join(node.folder, "m")
        variables = {"HYPERTUNE_SSH_DIR": control}
        connect = [os.path.join(harness.bin_dir(), "hypertune"), "runners",
                   "connect", node.host, "--", *node.options]
        # ssh in the background keeps what it has got.
        subprocess.run(connect, stdin=subprocess.DEVNULL, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, **variables})
        tap.equal(os.stat(control).st_mode & 0o777, 0o700)
        again = subprocess.run(connect, stderr=subprocess.PIPE, text=True,
                               check=True, env={**os.environ, **variables})
        tap.contains("is open already", again.stderr)
        # Nothing of this machine's Slurm but what the login node has.
        way = Way(cluster, "ssh=" + node.host, environment=variables)
        way.node = node
        try:
            yield way
        finally:
            disconnect(way)


def disconnect(way):
    subprocess.run(
        ["ssh", "-F", "none", "-o", "ControlPath=" +
         os.path.join(way.environment["HYPERTUNE_SSH_DIR"], "%C"), "-O",
         "exit", way.node.host], stderr=subprocess.DEVNULL, check=False)


def a_login_node_does_the_same_over_ssh():
    with connected() as way:
        tap.equal(way.call("way"), "ssh to %s\n" % way.node.host)
        everything(way, "ht-far")
        refusals(way)
        limits(way)


def a_lapsed_connection_is_said_with_what_to_do():
    with connected() as way:
        way.call("limits")
        disconnect(way)
        tap.equal(way.refused("list", "ht-"),
                  "UNAVAILABLE no connection to %s is open; a person opens one "
                  "by `hypertune runners connect %s`\n" % (way.node.host,
                                                          way.node.host))
        tap.equal(way.node.log().count("Accepted publickey"), 1)


def what_is_no_host_is_refused():
    for host in ("-oProxyCommand=true", "--"):
        way = Way(cluster, "ssh=" + host)
        tap.contains("INVALID_ARGUMENT", way.refused("way"))


def a_controller_that_is_down_is_unavailable():
    way = Way(cluster)
    controller = next(process for process in cluster.processes
                      if process.args[0].endswith("slurmctld"))
    controller.kill()
    controller.wait()
    cluster.processes.remove(controller)
    for words in (["list", "ht-"], ["limits"], ["cancel", "1", "0", "1"],
                  ["submit", "ht-down", cluster.folder, "1", END]):
        tap.contains("UNAVAILABLE ", way.refused(*words), words)


try:
    slurm.require()
except tap.Skip as reason:
    tap.skip("the ways to a Slurm", reason)

with slurm.Cluster(nodes=2, max_array=1001,
                   partitions={"main": "INFINITE", "short": "2"},
                   config=["EnforcePartLimits=ALL"]) as cluster:
    try:
        tap.run([the_commands_of_this_machine_submit_list_and_cancel,
                 the_commands_say_why_slurm_refuses,
                 the_commands_tell_limits,
                 jobs_of_other_users_are_not_listed,
                 a_machine_without_slurm_has_no_way,
                 a_login_node_does_the_same_over_ssh,
                 a_lapsed_connection_is_said_with_what_to_do,
                 what_is_no_host_is_refused,
                 a_controller_that_is_down_is_unavailable])
    except SystemExit as end:
        code = end.code
sys.exit(code)
