"""The commands of Slurm, here and over ssh, on a real Slurm."""

import contextlib
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile

import cli_home
import harness
import login_node
import slurm
import tap

SLEEP = "#!/bin/sh\nexec sleep 600\n"
END = "#!/bin/sh\nexit 3\n"
# What a person may have set for jobs of their own, which these are not.
OPTIONS = {"SBATCH_PARTITION": "nope", "SBATCH_EXPORT": "NONE",
           "SBATCH_ARRAY_INX": "7", "SBATCH_WAIT": "1", "SBATCH_HOLD": "1",
           "SQUEUE_FORMAT": "%i", "SQUEUE_STATES": "PENDING",
           "SQUEUE_PARTITION": "short", "SCANCEL_STATE": "SUSPENDED",
           "SCANCEL_INTERACTIVE": "1", "SLURM_CLUSTERS": "other",
           "SLURM_TIME_FORMAT": "relative", "SLURM_EXIT_ERROR": "200",
           "SLURM_HINT": "nope", "SRUN_CPUS_PER_TASK": "9"}
# As slurm_way prints a row.
FIELDS = ("job", "first", "last", "state", "reason", "nodes", "end", "exit",
          "signal", "name")


def end_of(process):
    output, errors = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode,
                                       output, errors)


class Way:
    """slurm_way with settings, such as "ssh=HOST"."""

    def __init__(self, cluster, *settings, environment=None):
        self.program = os.path.join(harness.bin_dir(),
                                    "../tests/tools/slurm_way")
        self.cluster = cluster
        self.settings = settings
        self.environment = (cluster.environment if environment is None
                            else environment)

    def begin(self, *words):
        return subprocess.Popen(
            [self.program, *self.settings, *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env={**os.environ, **self.environment})

    def ask(self, *words):
        return end_of(self.begin(*words))

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


def odd_words(way, name):
    """Names, folders, options and scripts have any character."""
    folder = os.path.join(way.cluster.folder, name + " \"a\" 'b' $HOME #;& é")
    os.mkdir(folder)
    job = way.call("submit", name + " 'x' \"y\" $HOME", folder, 1,
                   "#!/bin/sh\nprintf '%s' 'a \"b\" $c \\ #d'; exit 3\n",
                   "comment=say \"no\" 'or' $HOME #1 \\n").strip()
    tap.equal(way.cluster.call("squeue", "-h", "-t", "all", "-j", job, "-o",
                               "%k").strip(),
              "say \"no\" 'or' $HOME #1 \\n")
    way.wait_for(name, {0: "FAILED"})
    tap.equal([row["name"] for row in way.rows(name)],
              [name + " 'x' \"y\" $HOME"])
    with open(os.path.join(folder, "0.out"), encoding="utf-8") as file:
        tap.equal(file.read(), "a \"b\" $c \\ #d")


def own_options(way, name):
    """OPTIONS are in the environment of the commands."""
    with tempfile.TemporaryDirectory(dir=way.cluster.folder) as folder:
        job = way.call("submit", name, folder, 2,
                       "#!/bin/sh\nenv\n: > $SLURM_ARRAY_TASK_ID.out.end\n"
                       "exec sleep 600\n", "export=ALL")
        way.wait_for(name, {0: "RUNNING", 1: "RUNNING"})
        output = os.path.join(folder, "0.out")
        harness.wait_until(lambda: os.path.exists(output + ".end"), output)
        with open(output, encoding="utf-8") as file:
            variables = dict(line.rstrip("\n").partition("=")[::2]
                             for line in file)
        tap.equal(variables["SLURM_ARRAY_TASK_MAX"], "1")
        tap.equal(variables["HT_OF_USER"], "yes")
        tap.equal(sorted(set(OPTIONS) & set(variables)), [])
        tap.contains("FAILED_PRECONDITION", way.refused(
            "submit", "no", folder, 1, END, "partition=other"))
        way.call("cancel", int(job), 0, 1)
        way.wait_for(name, {0: "CANCELLED", 1: "CANCELLED"})


def find_daemon(name):
    return next(process for process in cluster.processes
                if process.args[0].endswith("/" + name))


def end_daemon(name):
    process = find_daemon(name)
    process.kill()
    process.wait()
    cluster.processes.remove(process)


def wait_for_controller():
    harness.wait_until(lambda: cluster.ask("scontrol", "ping").stdout.count(
        "is UP"), "slurmctld")


@contextlib.contextmanager
def stopped_controller():
    """A controller that is as if its machine hangs."""
    process = find_daemon("slurmctld")
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)
    wait_for_controller()


def submissions():
    """The processes of sbatch that wait for the controller's answer."""
    return {int(pid) for pid in filter(str.isdigit, os.listdir("/proc"))
            if harness.read_proc(pid, "comm") == b"sbatch\n" and
            os.fsencode(cluster.conf) in harness.read_proc(pid, "environ") and
            cluster.has_asked(int(pid))}


@contextlib.contextmanager
def hanging(way, name):
    """A submission, whose controller does not answer, and its sbatch."""
    before = submissions()
    begun = way.begin("submit", name, cluster.folder, 1, END)
    pid = harness.wait_until(lambda: max(submissions() - before, default=0),
                             "sbatch")
    yield begun, pid


def unavailable(ended):
    tap.equal((ended.returncode, ended.stdout), (1, ""))
    tap.contains("UNAVAILABLE ", ended.stderr)
    return ended.stderr


def lost_answers(way, name):
    """No answer is no refusal: the job may have been accepted."""
    with stopped_controller(), hanging(way, name) as (begun, _):
        unavailable(end_of(begun))
    way.wait_for(name, {0: "FAILED"})
    with stopped_controller(), hanging(way, name + "-k") as (begun, pid):
        os.kill(pid, signal.SIGKILL)
        tap.contains("was killed", unavailable(end_of(begun)))
    with hanging_until_killed(way, name + "-d") as begun:
        unavailable(end_of(begun))


@contextlib.contextmanager
def hanging_until_killed(way, name):
    """A submission whose controller ends before it answers; another one is
    there afterwards."""
    find_daemon("slurmctld").send_signal(signal.SIGSTOP)
    with hanging(way, name) as (begun, _):
        end_daemon("slurmctld")
        yield begun
    cluster.start_controller()
    wait_for_controller()


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


def the_commands_take_any_words():
    odd_words(Way(cluster), "ht-odd")


def options_in_the_environment_change_nothing():
    own_options(Way(cluster, environment={
        **cluster.environment, **OPTIONS, "HT_OF_USER": "yes"}), "ht-options")


def an_answer_of_the_commands_that_is_lost_is_no_refusal():
    lost_answers(Way(cluster), "ht-lost")


def the_commands_tell_limits():
    limits(Way(cluster))


def jobs_of_other_users_are_not_listed():
    way = Way(cluster)
    cluster.call("sbatch", "--uid=65534", "--job-name=ht-other",
                 "--array=0-1", "--chdir=/", "--output=/dev/null", input=SLEEP)
    job = way.submit("ht-other", 1, SLEEP)
    try:
        way.wait_for("ht-other", {0: "RUNNING"})
        tap.equal([int(row["job"]) for row in way.rows("ht-other")], [job])
    finally:
        cluster.call("scancel", "--name=ht-other")


def the_script_of_a_study_loads_its_modules():
    if glob.glob("/etc/profile.d/*mod*.sh"):
        raise tap.Skip("this machine has modules of its own")
    with cli_home.Home() as home, tempfile.TemporaryDirectory(
            dir=cluster.folder) as folder:
        path = home.write("spec.yaml", {
            "spec": 1, "goal": "maximize accuracy", "trials": 1,
            "parameters": {"x": [1, 2]}, "command": ["true"],
            "slurm": {"modules": ["cuda/12.1", "gcc"]}})
        text, _ = home.cli("check", "-o", "sbatch", path)
        os.mkdir(os.path.join(folder, "init"))
        with open(os.path.join(folder, "init/sh"), "w",
                  encoding="ascii") as file:
            file.write("module() { export LOADED=\"$LOADED[$*]\"; }\n")
        shim = os.path.join(folder, "shim")
        with open(shim, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho \"$LOADED $*\"\necho \"$"
                       "HYPERTUNE_ENV_BEFORE\" | grep -c LOADED=\n"
                       "echo \"$HYPERTUNE_ENV_BEFORE\" | grep ^MODULESHOME=\n"
                       "exit 3\n")
        os.chmod(shim, 0o755)
        text = text.replace("/RUNNER/hypertune-shim", shim).replace(
            "/RUNNER/BATCH", folder).replace("RUNNER-NAME", "ht-modules")
        cluster.call("env", "MODULESHOME=" + folder, "sbatch", input=text)
        Way(cluster).wait_for("ht-modules", {0: "FAILED"})
        with open(os.path.join(folder, "0.out"), encoding="utf-8") as file:
            tap.equal(file.read(), "[load cuda/12.1][load gcc] --slurm %s\n0\n"
                      "MODULESHOME=%s\n" % (folder, folder))


def a_machine_without_slurm_has_no_way():
    with tempfile.TemporaryDirectory() as folder:
        os.symlink("/usr/bin/env", os.path.join(folder, "env"))
        way = Way(cluster, environment={"PATH": folder})
        tap.equal(way.refused("way"), "NOT_FOUND there is no squeue\n")


@contextlib.contextmanager
def connected(**variables):
    """A way over ssh, whose connection `runners connect` has opened."""
    login_node.require()
    with login_node.LoginNode({**cluster.environment, **variables}) as node:
        # A shell that greets, in words that are like answers.
        with open(os.path.join(node.folder, ".bashrc"), "w",
                  encoding="ascii") as file:
            file.write("echo 12\necho 'sbatch: error: hello' >&2\n")
        # Nothing of this machine's Slurm but what the login node has.
        way = Way(cluster, "ssh=" + node.host, environment={
            "HYPERTUNE_SSH_DIR": os.path.join(node.folder, "m")})
        way.node = node
        connect(way)
        try:
            yield way
        finally:
            disconnect(way)


def connect(way):
    command = [os.path.join(harness.bin_dir(), "hypertune"), "runners",
               "connect", way.node.host, "--", *way.node.options]
    variables = {**os.environ, **way.environment}
    # ssh in the background keeps what it has got.
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=variables)
    control = way.environment["HYPERTUNE_SSH_DIR"]
    tap.equal(os.stat(control).st_mode & 0o777, 0o700)
    again = subprocess.run(command, stderr=subprocess.PIPE, text=True,
                           check=True, env=variables)
    tap.contains("is open already", again.stderr)


def master(way, order):
    """What ssh says of the master of its connection."""
    return subprocess.run(
        ["ssh", "-F", "none", "-o", "ControlPath=" +
         os.path.join(way.environment["HYPERTUNE_SSH_DIR"], "%C"), "-O",
         order, way.node.host], stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout


def disconnect(way):
    master(way, "exit")


def kill_master(way):
    pid = int(re.search(r"pid=(\d+)", master(way, "check")).group(1))
    os.kill(pid, signal.SIGKILL)
    harness.wait_until(lambda: not harness.read_proc(pid, "cmdline"), "ssh")


def a_login_node_does_the_same_over_ssh():
    with connected() as way:
        tap.equal(way.call("way"), "ssh to %s\n" % way.node.host)
        everything(way, "ht-far")
        refusals(way)
        limits(way)
        odd_words(way, "ht-oddfar")


def options_in_the_login_nodes_environment_change_nothing():
    with connected(**OPTIONS, HT_OF_USER="yes") as way:
        own_options(way, "ht-optionsfar")


def an_answer_over_ssh_that_is_lost_is_no_refusal():
    with connected() as way:
        lost_answers(way, "ht-lostfar")
        with stopped_controller(), hanging(way, "ht-lostlink") as (begun, _):
            kill_master(way)
            tap.contains("UNAVAILABLE the connection to %s ended before sbatch "
                         "did" % way.node.host, unavailable(end_of(begun)))
        connect(way)
        way.wait_for("ht-lostlink", {0: "FAILED"})


def a_lapsed_connection_is_said_with_what_to_do():
    words = ("UNAVAILABLE no connection to %s is open; a person opens one by "
             "`hypertune runners connect %s`\n")
    with connected() as way:
        host = way.node.host
        way.call("limits")
        disconnect(way)
        for order in (["list", "ht-"], ["limits"], ["cancel", 1, 0, 1],
                      ["submit", "ht-no", cluster.folder, 1, END]):
            tap.equal(way.refused(*order), words % (host, host))
        tap.equal(way.node.log().count("Accepted publickey"), 1)
        connect(way)
        way.call("limits")
        # One that ended without removing its socket.
        kill_master(way)
        tap.equal(way.refused("list", "ht-"), words % (host, host))
        connect(way)
        way.call("limits")
        way.node.kill()
        tap.equal(way.refused("list", "ht-"), words % (host, host))


def what_is_no_host_is_refused():
    for host in ("-oProxyCommand=true", "--"):
        way = Way(cluster, "ssh=" + host)
        tap.contains("INVALID_ARGUMENT", way.refused("way"))


def a_controller_that_is_down_is_unavailable():
    way = Way(cluster)
    end_daemon("slurmctld")
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
                 the_commands_take_any_words,
                 the_script_of_a_study_loads_its_modules,
                 options_in_the_environment_change_nothing,
                 an_answer_of_the_commands_that_is_lost_is_no_refusal,
                 the_commands_tell_limits,
                 jobs_of_other_users_are_not_listed,
                 a_machine_without_slurm_has_no_way,
                 a_login_node_does_the_same_over_ssh,
                 options_in_the_login_nodes_environment_change_nothing,
                 an_answer_over_ssh_that_is_lost_is_no_refusal,
                 a_lapsed_connection_is_said_with_what_to_do,
                 what_is_no_host_is_refused,
                 a_controller_that_is_down_is_unavailable])
    except SystemExit as end:
        code = end.code
sys.exit(code)
