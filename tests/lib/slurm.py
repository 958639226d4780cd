"""slurm - a real Slurm of its own for a test: munged, slurmctld, some slurmd's
on this machine and slurmrestd, all in the test's folder.

    with slurm.Cluster(nodes=2, partitions={"main": "INFINITE"}) as cluster:
        cluster.call("squeue")      # SLURM_CONF is in cluster.environment
        cluster.rest                # unix:/PATH of slurmrestd

Its packages: .ci/deps slurm. HT_SLURM, a folder that a script of tests/engines
has made, is another Slurm than that of this machine."""

import contextlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile

import harness
import tap

PROGRAMS = {"slurmctld": "slurmctld", "slurmd": "slurmd",
            "sbatch": "slurm-client", "slurmrestd": "slurmrestd",
            "munged": "munge"}
PLUGINS = {"auth_munge.so": "slurm-wlm-basic-plugins",
           "auth_jwt.so": "slurm-wlm-jwt-plugin"}
FOLDER = os.environ.get("HT_SLURM")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
if FOLDER:
    PATH = FOLDER + "/bin:" + PATH

# By the version of Slurm: what slurmrestd is to load, and the highest version
# of its API that we and it know.
APIS = {"22.05": ("openapi/v0.0.38", "v0.0.38"),
        "24.11": ("slurmctld", "v0.0.42")}
# slurmrestd refuses root else.
SECURITY = "disable_user_check,disable_unshare_files,disable_unshare_sysv"

CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=2,sched_min_interval=100000,batch_sched_delay=0
DefMemPerCPU=100
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
MinJobAge={min_job_age}
KillWait=2
CompleteWait=0
SlurmdTimeout=15
SlurmctldTimeout=15
ReturnToService=2
MaxArraySize={max_array}
"""


def missing():
    """The Debian package that a cluster lacks; None: there is all."""
    for program, package in PROGRAMS.items():
        if not shutil.which(program, path=PATH):
            return package
    if FOLDER:
        return None  # all in one
    for folder, _, names in os.walk("/usr/lib"):
        if os.path.basename(folder) == "slurm-wlm":
            return next((package for plugin, package in PLUGINS.items()
                         if plugin not in names), None)
    return PLUGINS["auth_munge.so"]


def require():
    """Ends the case, or the caller, where no cluster can be."""
    package = missing()
    if package:
        raise tap.Skip("%s is not installed" % package)
    if os.getuid() != 0:
        raise tap.Skip("only root may run slurmd")


class Cluster:
    """A context manager: leaving it kills the jobs and the daemons.

    partitions: names with MaxTime, the first is the default; gpus: pretended
    ones of each node; jwt: a second slurmrestd at rest_jwt takes tokens, see
    token(); config: more lines of slurm.conf. version: "22.05"; api: the
    highest that is in common with slurmrestd."""

    def __init__(self, nodes=2, cpus=2, memory=2000, partitions=None,
                 max_array=10001, min_job_age=300, gpus=0, jwt=False,
                 config=()):
        said = subprocess.check_output(
            [shutil.which("slurmctld", path=PATH), "-V"], text=True)
        self.version = ".".join(said.split()[-1].split(".")[:2])
        self.load, self.api = APIS[self.version]
        self.folder = tempfile.mkdtemp(prefix="ht-slurm-")
        os.chmod(self.folder, 0o755)
        self.nodes = nodes
        self.jwt = jwt
        self.ports = [harness.Port() for _ in range(nodes + 2)]
        self.conf = os.path.join(self.folder, "slurm.conf")
        self.environment = {"SLURM_CONF": self.conf}
        if FOLDER:
            self.environment["PATH"] = PATH
        self.rest = "unix:" + self._path("rest.sock")
        self.rest_jwt = "http://" + self.ports[1].address
        self.processes = []
        for name in ("state", "spool", "log", "munge", "dev"):
            os.mkdir(self._path(name))
        os.chmod(self._path("munge"), 0o711)
        self._write_secret("munge/key", 128)
        self._write_secret("jwt.key", 32)
        text = CONFIG.format(
            host=os.uname().nodename.split(".")[0], port=self.ports[0].number,
            user=pwd.getpwuid(os.getuid()).pw_name, folder=self.folder,
            min_job_age=min_job_age, max_array=max_array)
        lines = self._node_lines(cpus, memory, gpus) + list(config)
        lines += ["PartitionName=%s Nodes=ALL Default=%s MaxTime=%s State=UP" %
                  (name, "NO" if number else "YES", limit) for number,
                  (name, limit) in enumerate((partitions or {
                      "main": "INFINITE"}).items())]
        if FOLDER:
            lines.append("PluginDir=%s/plugins" % FOLDER)
        if jwt:
            lines += ["AuthAltTypes=auth/jwt",
                      "AuthAltParameters=jwt_key=" + self._path("jwt.key")]
        with open(self.conf, "w", encoding="ascii") as file:
            file.write(text + "\n".join(lines) + "\n")

    def _path(self, name):
        return os.path.join(self.folder, name)

    def _write_secret(self, name, size):
        with open(self._path(name), "wb") as file:
            file.write(os.urandom(size))
        os.chmod(self._path(name), 0o400)

    def _node_lines(self, cpus, memory, gpus):
        lines = []
        gres = ""
        if gpus:
            for number in range(gpus):
                # Slurm asks for devices of characters; this one is /dev/null.
                os.mknod(self._path("dev/nvidia%d" % number),
                         0o666 | stat.S_IFCHR, os.makedev(1, 3))
            with open(self._path("gres.conf"), "w", encoding="ascii") as file:
                file.write("Name=gpu File=%s[0-%d]\n" %
                           (self._path("dev/nvidia"), gpus - 1))
            lines.append("GresTypes=gpu")
            gres = " Gres=gpu:%d" % gpus
        host = os.uname().nodename.split(".")[0]
        for number in range(self.nodes):
            os.mkdir(self._path("spool/n%d" % (number + 1)))
            lines.append(
                "NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d "
                "CPUs=%d RealMemory=%d%s State=UNKNOWN" %
                (number + 1, host, self.ports[2 + number].number, cpus, memory,
                 gres))
        return lines

    def __enter__(self):
        try:
            self._start_all()
        except BaseException:
            self._print_logs()
            self.close()
            raise
        return self

    def _print_logs(self):
        for name in sorted(os.listdir(self._path("log"))):
            with open(self._path("log/" + name), errors="replace") as file:
                print("# %s: %s" % (name, "# ".join(file.readlines()[-15:])))

    def __exit__(self, kind, value, trace):
        if kind is not None and not (kind is SystemExit and value.code == 0):
            self._print_logs()
        self.close()

    def start(self, *words, **variables):
        """Starts one of the daemons, whose output goes to log/."""
        program = shutil.which(words[0], path=PATH)
        with open(self._path("log/%s.out" % words[0]), "ab") as log:
            process = subprocess.Popen(
                (program,) + words[1:], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True,
                env={**os.environ, **self.environment, **variables})
        self.processes.append(process)
        return process

    def start_controller(self):
        return self.start("slurmctld", "-D", "-f", self.conf)

    def start_node(self, name):
        return self.start("slurmd", "-D", "-N", name, "-f", self.conf)

    def start_rest(self):
        return self.start("slurmrestd", "-f", self.conf, "-a",
                          "rest_auth/local", "-s", self.load,
                          self.rest, SLURMRESTD_SECURITY=SECURITY)

    def _start_all(self):
        munge = self._path("munge")
        self.start("munged", "-F", "--force", "--num-threads=2",
                   "--socket=%s/socket" % munge, "--key-file=%s/key" % munge,
                   "--pid-file=%s/pid" % munge, "--log-file=%s/log" % munge,
                   "--seed-file=%s/seed" % munge)
        harness.wait_until(lambda: os.path.exists(munge + "/socket"), "munged")
        self.start_controller()
        for number in range(self.nodes):
            self.start_node("n%d" % (number + 1))
        self.start_rest()
        if self.jwt:
            # "daemon" makes it pass on the token of each caller.
            self.start("slurmrestd", "-f", self.conf, "-a", "rest_auth/jwt",
                       "-s", self.load, self.ports[1].address,
                       SLURMRESTD_SECURITY=SECURITY, SLURM_JWT="daemon")
        harness.wait_until(self._is_up, "nodes of Slurm")
        harness.wait_until(lambda: os.path.exists(self._path("rest.sock")),
                           "slurmrestd")

    def _is_up(self):
        for process in self.processes:
            if process.poll() is not None:
                raise AssertionError("%s ended" % process.args[0])
        states = self.ask("sinfo", "-h", "-N", "-o", "%t").stdout.split()
        return states.count("idle") >= self.nodes

    def ask(self, *words, **options):
        """A command's end and output, whatever its code."""
        return subprocess.run(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            check=False, env={**os.environ, **self.environment}, **options)

    def call(self, *words, **options):
        """A command's output; it must succeed."""
        ended = self.ask(*words, **options)
        if ended.returncode != 0:
            raise AssertionError("%s: %s" % (words, ended.stderr))
        return ended.stdout

    def has_asked(self, pid):
        """Whether the process has a connection to slurmctld."""
        port = ":%04X" % self.ports[0].number
        sockets = set()
        with contextlib.suppress(OSError):
            for name in os.listdir("/proc/%d/fd" % pid):
                with contextlib.suppress(OSError):
                    sockets.add(os.readlink("/proc/%d/fd/%s" % (pid, name)))
        return any(words[2].endswith(port) and "socket:[%s]" % words[9] in
                   sockets for words in (line.decode().split() for line in
                   harness.read_proc(pid, "net/tcp").splitlines()))

    def token(self, user="root", seconds=3600):
        """A JSON web token for rest_jwt."""
        words = self.call("scontrol", "token", "username=" + user,
                          "lifespan=%d" % seconds)
        return words.strip().partition("=")[2]

    def close(self):
        """Kills what names the folder: daemons, steps and jobs."""
        def left():
            return [int(pid) for pid in filter(str.isdigit, os.listdir("/proc"))
                    if int(pid) != os.getpid() and os.fsencode(self.folder) in
                    harness.read_proc(pid, "cmdline") +
                    harness.read_proc(pid, "environ")]

        def all_ended():
            for pid in left():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            for process in self.processes:
                process.poll()
            return not left()

        harness.wait_until(all_ended, "the end of Slurm")
        for port in self.ports:
            port.close()
        shutil.rmtree(self.folder)
