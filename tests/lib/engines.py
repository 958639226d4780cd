"""engines - the container engines that tests may use.

HT_DOCKER_HOSTS has the DOCKER_HOST of each, separated by spaces, as
tests/engines/run.sh sets it (`make check-containers`). Both images of
tests/engines/images.sh are there: TINY is busybox, PYTHON has Python 3 too."""

import contextlib
import functools
import http.client
import io
import json
import os
import socket
import subprocess
import sys
import tarfile
import urllib.parse

import harness
import tap
import tree

TINY = "localhost/tiny:1"
PYTHON = "localhost/py:1"
SCRIPTS = tree.path("tests/engines")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def pack(files):
    """A tar archive of {name: text}."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            data = text.encode()
            entry.size, entry.mode = len(data), 0o755
            archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


class Engine:
    """dockerd or Podman's service behind a unix socket."""

    def __init__(self, host):
        self.host = host
        self.socket = host[len("unix://"):]
        said = json.dumps(self.get("/version"))
        self.podman = "Podman" in said
        self.name = "Podman" if self.podman else "dockerd"

    def send(self, method, path, body=None, kind="application/json",
             timeout=harness.PATIENCE):
        """One request; `body` is bytes, a file, or what becomes JSON. Returns
        (HTTP status, bytes)."""
        if body is not None and not hasattr(body, "read") and \
                not isinstance(body, bytes):
            body = json.dumps(body).encode()
        with contextlib.closing(UnixConnection(self.socket, timeout)) as link:
            link.request(method, "/v1.41" + path, body, {"Content-Type": kind})
            answer = link.getresponse()
            return answer.status, answer.read()

    def call(self, method, path, body=None):
        """Returns the decoded answer, None when it is empty."""
        status, data = self.send(method, path, body)
        if status >= 300 and status != 304:
            raise AssertionError("%s %s: %d %s" % (
                method, path, status, data.decode(errors="replace")))
        return json.loads(data) if data.strip() else None

    def get(self, path):
        return self.call("GET", path)

    def labelled(self, kind, label):
        """Containers or networks that have a label: NAME or NAME=VALUE."""
        filters = urllib.parse.quote(json.dumps({"label": [label]}))
        return self.get("/%s?all=1&filters=%s" % (kind, filters)) or []

    def containers(self, label):
        """Their names."""
        return sorted(item["Names"][0].lstrip("/")
                      for item in self.labelled("containers/json", label))

    def networks(self, label):
        return sorted(item["Name"]
                      for item in self.labelled("networks", label))

    def inspect(self, container):
        return self.get("/containers/%s/json" % container)

    def kill(self, container, signal="KILL"):
        self.call("POST", "/containers/%s/kill?signal=%s" %
                  (container, signal))

    def remove(self, container):
        self.send("DELETE", "/containers/%s?force=1&v=1" % container)

    def build(self, tag, files, **arguments):
        """Builds an image; `files` has names and texts, or one object with a
        method read() that gives a whole archive."""
        query = urllib.parse.urlencode({
            "t": tag, "buildargs": json.dumps(arguments), "forcerm": 1,
            "networkmode": "host"})
        context = files if hasattr(files, "read") else pack(files)
        status, said = self.send("POST", "/build?" + query, context,
                                 "application/x-tar", timeout=600)
        said = said.decode(errors="replace")
        if status != 200 or '"error"' in said:
            raise AssertionError("building %s: %s" % (tag, said[-3000:]))

    def remove_image(self, tag):
        self.send("DELETE", "/images/%s?force=1" % tag)

    def clear(self, label):
        """Removes whatever of a failed test is left."""
        for name in self.containers(label):
            self.remove(name)
        for name in self.networks(label):
            self.send("DELETE", "/networks/" + name)


class Server(harness.Server):
    """hypertuned whose runner starts containers in an engine."""

    def __init__(self, engine, *options, slots=4):
        super().__init__("--runner", "docker", "--docker-host", engine.host,
                         *options, slots=slots)
        self.engine = engine
        self.label = None

    def start(self, fail=None):
        seconds = super().start(fail)
        if seconds is not None:
            self.label = "hypertune.server=" + \
                self.get("/hypertune/v1/server")["server"]
        return seconds

    def close(self, succeeded=True):
        super().close(succeeded)
        if self.label:
            self.engine.clear(self.label)

    def left(self):
        """What the engine still has of this server's."""
        return (self.engine.containers(self.label) +
                self.engine.networks(self.label))

    def container(self, study):
        """The one that runs the study's only replica; those of studies before
        may still be about to go."""
        number = self.get(harness.JOBS + study)["name"].rsplit("/", 1)[1]
        name, = [name for name in self.engine.containers(self.label)
                 if name.split("-")[2] == number]
        return name

    def expect_nothing_left(self):
        try:
            harness.wait_until(lambda: not self.left(), "a clean end")
        except AssertionError as error:
            raise AssertionError("%s, but %s" % (error, self.left()))

    def run(self, spec):
        """Submits a spec and waits; returns hypertune's view of trial 1."""
        self.submit(spec)
        self.wait_study(spec["name"])
        return self.trial(spec["name"], 1)["hypertune"]

    def output(self, study, replica="master-0", trial=1, stream="stdout"):
        """What was printed so far; nothing before the trial has started."""
        status, answer = self.call(
            "GET", harness.OURS +
            "%s/trials/%s/logs?replica=%s&stream=%s&offset=0" %
            (study, trial, replica, stream))
        if status not in (200, 404):
            raise AssertionError("logs of %s: %s" % (study, answer))
        return answer.get("data", "")


class PrivateEngine:
    """An engine of one test alone, which it may kill. A context manager."""

    def __init__(self, kind, folder):
        self.kind = kind
        self.script = os.path.join(SCRIPTS, kind + ".sh")
        self.folder = folder

    def __enter__(self):
        self.start()
        images = os.path.join(harness.bin_dir(), "..", "images")
        subprocess.run([os.path.join(SCRIPTS, "images.sh"), images,
                        self.engine.socket], check=True)
        return self

    def __exit__(self, *_):
        subprocess.run([self.script, "stop", self.folder], check=True)

    def start(self):
        host = subprocess.run([self.script, "start", self.folder], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8",
                              env=dict(os.environ, HT_ENGINE_PRIVATE="1"))
        self.engine = Engine(host.stdout.strip())

    def kill(self):
        subprocess.run([self.script, "kill", self.folder], check=True)


class FakeEngine:
    """tests/tools/fake_engine.py, whose containers are processes of this
    machine. A context manager."""

    def __init__(self, folder, dialect="docker"):
        os.makedirs(folder, exist_ok=True)
        self.name = "a fake " + dialect
        self.socket = os.path.join(folder, "engine.sock")
        self.host = "unix://" + self.socket
        self.script = os.path.join(folder, "script.json")
        self.words = [sys.executable,
                      os.path.join(SCRIPTS, "..", "tools", "fake_engine.py"),
                      self.socket, "--dialect", dialect, "--run",
                      "--script", self.script,
                      "--state", os.path.join(folder, "state.json"),
                      "--journal", os.path.join(folder, "journal"),
                      "--image", TINY]
        self.process = None
        self.play()

    def play(self, *faults, **members):
        """What goes wrong from now on; nothing without arguments."""
        with open(self.script + ".new", "w", encoding="utf-8") as file:
            json.dump(dict(members, faults=faults), file)
        os.replace(self.script + ".new", self.script)

    def start(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE)
        self.process.stdout.readline()
        self.engine = Engine(self.host)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def containers(self, label):
        return self.engine.containers(label)

    def networks(self, label):
        return self.engine.networks(label)

    def clear(self, label):
        """Its containers end with it."""


def here():
    """The engines there are."""
    return [Engine(host)
            for host in os.environ.get("HT_DOCKER_HOSTS", "").split()]


def spec(name, command=None, image=TINY, **members):
    """One trial in a container; args none: no flag is added to a command. A
    member that is None is left out."""
    made = {"spec": 1, "name": name, "goal": "maximize score", "image": image,
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "algorithm": "random", "seed": 1, "trials": 1, "retries": 0,
            "metrics": {"stdout": "score={score}"}, "grace": "5s"}
    if command:
        made.update(command=command, args="none")
    made.update(members)
    return {name: value for name, value in made.items() if value is not None}


def shell(text):
    return ["sh", "-c", text]


def bind(cases, server, where):
    """The public methods of the class `cases`, made from the server, as cases
    of tap.run()."""
    bound = []
    group = cases(server)
    for name in list(vars(cases)):
        if not name.startswith("_"):
            case = functools.partial(getattr(group, name))
            case.__name__ = "%s_on_%s" % (name, where)
            bound.append(case)
    return bound


def absent():
    def container_engines():
        raise tap.Skip("HT_DOCKER_HOSTS names none; "
                       "make check-containers brings its own")
    return [container_engines]


def run(cases, *options, slots=4):
    """Runs the class of cases on each engine; exits with the outcome."""
    with contextlib.ExitStack() as stack:
        bound = []
        for engine in here():
            server = stack.enter_context(Server(engine, *options, slots=slots))
            bound += bind(cases, server, engine.name)
        tap.run(bound or absent())
