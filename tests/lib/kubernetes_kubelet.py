"""A scheduler and a kubelet for the played cluster: its pods run as processes of
this machine, each container in mount and process namespaces of its own (see
kubernetes_container.py), so that a runner's whole way can be tested without a
cluster. Wants root. The image is this machine, whatever its name; networks,
limits are not played, and no container starts again."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import kubernetes_log
import kubernetes_volumes
from kubernetes_store import stamp

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = "node-1"
MOST_MESSAGE = 4096
UNSHARE = ["unshare", "--mount", "--pid", sys.executable, "-S", os.path.join(
    HERE, "kubernetes_container.py")]


def why_not():
    """Why there can be none here; None: there can."""
    made = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"],
                          stderr=subprocess.PIPE, check=False)
    return made.stderr.decode().strip() if made.returncode else None


def set_condition(status, kind, value, reason=None, message=None):
    conditions = status.setdefault("conditions", [])
    wanted = {"type": kind, "status": "True" if value else "False"}
    if reason:
        wanted.update(reason=reason, message=message or "")
    for index, one in enumerate(conditions):
        if one["type"] == kind:
            conditions[index] = wanted
            return
    conditions.append(wanted)


def child_of(pid):
    """The one child; None: it has none yet, or is gone."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid),
                  encoding="ascii") as file:
            return int(file.read().split()[0])
    except (OSError, IndexError):
        return None


def words_of(spec, entry):
    """What runs; `entry`: the entry point of the image."""
    command = spec.get("command") or entry
    return (command or []) + (spec.get("args") or [])


class Container:
    """One that was started."""

    def __init__(self, store, spec, folder, env, mounts, entry):
        self.name, self.spec = spec["name"], spec
        self.env = env
        self.killed_by_memory = False
        self.code = None  # once it has ended
        self.began, self.ended = stamp(), None
        self.log = os.path.join(folder, self.name + ".log")
        self.message = os.path.join(folder, self.name + ".message")
        with open(self.message, "wb"):
            pass
        os.chmod(self.message, 0o666)
        expand = kubernetes_volumes.expand
        context = spec.get("securityContext") or {}
        path = os.path.join(folder, self.name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({
                "mounts": mounts + [{
                    "at": spec.get("terminationMessagePath",
                                   "/dev/termination-log"),
                    "from": self.message, "readonly": False}],
                "argv": [expand(word, env) for word in
                         words_of(spec, entry)],
                "env": env, "cwd": spec.get("workingDir") or "/",
                "user": context.get("runAsUser")}, file)
        self.words, out = os.pipe()
        self.output = kubernetes_log.Log(store, self.log)
        self.process = subprocess.Popen(
            UNSHARE + [path, str(out)], stdin=subprocess.DEVNULL,
            stdout=self.output.into, stderr=self.output.into,
            start_new_session=True, pass_fds=(out,))
        os.close(out)
        self.output.close()
        self.is_up = False
        self.why = ""  # it could not be made

    def wait(self, is_up):
        """To its end; calls is_up once it has begun."""
        if os.read(self.words, 1):
            is_up()
        code = self.process.wait()
        self.output.thread.join(1)  # what it left may hold its stdout
        self.why = os.read(self.words, MOST_MESSAGE).decode()
        os.close(self.words)
        return 137 if code < 0 else code

    def first(self):
        """The process that is number 1 there; None: there is none now."""
        ended = self.process.poll() is not None
        return None if ended else child_of(self.process.pid)

    def signal(self, number):
        pid = self.first()
        try:
            if pid:
                os.kill(pid, number)
        except ProcessLookupError:
            pass

    def kill(self):
        if self.first():
            self.signal(signal.SIGKILL)
        else:
            self.process.kill()

    def state(self):
        if self.code is None:
            return {"running": {"startedAt": self.began}}
        reason = "Error" if self.code else "Completed"
        if self.killed_by_memory:
            reason = "OOMKilled"
        if self.why:
            return {"terminated": {"exitCode": 128, "reason": "StartError",
                                   "message": self.why, "startedAt":
                                   "1970-01-01T00:00:00Z",
                                   "finishedAt": self.ended}}
        ended = {"exitCode": self.code, "reason": reason,
                 "startedAt": self.began, "finishedAt": self.ended}
        with open(self.message, "rb") as file:
            said = file.read(MOST_MESSAGE)
        if not said and self.code and self.spec.get(
                "terminationMessagePolicy") == "FallbackToLogsOnError":
            with open(self.log, "rb") as file:
                said = file.read()[-2048:]
        if said:
            ended["message"] = said.decode(errors="replace")
        return {"terminated": ended}


class Pod:
    """One pod, from its scheduling to its end, in a thread. All but the
    processes' ends happens with the store locked."""

    def __init__(self, kubelet, pod):
        self.kubelet, self.store = kubelet, kubelet.store
        self.first = pod  # as it was: its names and uid
        meta = pod["metadata"]
        self.key = "pods", meta["namespace"], meta["name"]
        self.folder = os.path.join(kubelet.folder, meta["uid"])
        self.containers = []
        self.paths = None  # of its volumes, once they are there
        self.inits = list(pod["spec"].get("initContainers", ()))
        self.init = None  # the one that runs, or ran last
        self.evicted = None  # its status then
        self.deadline = None  # of its end by force
        self.done = False
        os.mkdir(self.folder)
        self.thread = threading.Thread(target=self.live, daemon=True)
        self.thread.start()

    def now(self):
        """None: it is gone."""
        pod = self.store.items.get(self.key)
        same = pod and pod["metadata"]["uid"] == self.first["metadata"]["uid"]
        return pod if same else None

    def change(self, function):
        self.store.change_pod(self.first, function)

    def status(self, function):
        self.change(lambda pod: function(pod.setdefault("status", {})))

    def live(self):
        with self.store.lock:
            while not self.done and not self.kubelet.closing:
                pod = self.now()
                if pod is None:
                    break
                version = self.store.version
                self.step(pod)
                # What it changed itself may lead to its next step.
                if not self.done and self.store.version == version:
                    left = None if self.deadline is None else max(
                        0, self.deadline - time.monotonic())
                    self.store.changed.wait(left)
        for one in self.containers + [self.init] * bool(self.init):
            one.kill()

    def step(self, pod):
        ended = all(one.code is not None for one in self.containers)
        if self.is_ending(pod):
            if not ended:
                self.stop(pod)
            else:
                self.finish()
        elif not pod["spec"].get("nodeName"):
            self.schedule()
        elif not self.containers:
            self.start(pod)
        elif ended:
            self.finish()
        else:
            self.report()

    def is_ending(self, pod):
        return self.evicted or pod["metadata"].get("deletionTimestamp")

    # ---- begin ----

    def schedule(self):
        def bind(pod):
            why = self.kubelet.unschedulable
            set_condition(pod["status"], "PodScheduled", not why,
                          "Unschedulable" if why else None, why)
            if not why:
                pod["spec"]["nodeName"] = NODE
        self.change(bind)

    def wait_for(self, reason, message=None):
        waiting = {"reason": reason}
        if message:
            waiting["message"] = message

        def change(status):
            status.setdefault("startTime", stamp())
            status["containerStatuses"] = [
                {"name": one["name"], "image": one.get("image", ""),
                 "ready": False, "restartCount": 0,
                 "state": {"waiting": waiting}}
                for one in self.first["spec"]["containers"]]
        self.status(change)

    def start(self, pod):
        bad = [one.get("image") for one in pod["spec"]["containers"]
               if one.get("image") in self.kubelet.bad_images]
        if bad:
            return self.wait_for("ImagePullBackOff",
                                 'Back-off pulling image "%s"' % bad[0])
        pod["status"]["podIP"] = pod["status"]["hostIP"] = "127.0.0.1"
        volumes = kubernetes_volumes.Volumes(self.store, pod, self.folder)
        try:
            self.paths = self.paths or volumes.make()
        except kubernetes_volumes.NotYet:  # a real one says why in events
            return self.wait_for("ContainerCreating")
        if self.init and self.init.code is None:
            return None
        if self.init and self.init.code:
            return self.finish()
        specs = [self.inits.pop(0)] if self.inits else \
            pod["spec"]["containers"]
        try:
            envs = [volumes.environment(one) for one in specs]
        except kubernetes_volumes.NotYet as why:
            return self.wait_for("CreateContainerConfigError", str(why))
        if specs is not pod["spec"]["containers"]:
            self.wait_for("PodInitializing")
            self.init = self.begin(specs[0], envs[0])
            return None
        self.wait_for("ContainerCreating")
        for spec, env in zip(specs, envs):
            self.containers.append(self.begin(spec, env))
        return None

    def begin(self, spec, env):
        mounts = [{"at": one["mountPath"],
                   "from": kubernetes_volumes.part(self.paths, one, env),
                   "readonly": bool(one.get("readOnly"))}
                  for one in spec.get("volumeMounts", ())]
        if spec.get("image") in self.kubelet.programs:
            env = dict(env, PATH="%s:%s" % (
                self.kubelet.programs[spec["image"]], env["PATH"]))
        container = Container(self.store, spec, self.folder, env, mounts,
                              self.kubelet.entries.get(spec.get("image")))
        threading.Thread(target=self.reap, args=(container,),
                         daemon=True).start()
        return container

    def reap(self, container):
        def is_up():
            with self.store.lock:
                container.is_up = True
                self.store.changed.notify_all()
        code = container.wait(is_up)
        with self.store.lock:
            container.ended = stamp()
            container.code = code
            self.store.changed.notify_all()

    def report(self):
        if not all(one.is_up for one in self.containers):
            return
        def change(status):
            status["phase"] = "Running"
            for kind in ("Initialized", "Ready", "ContainersReady"):
                set_condition(status, kind, True)
            self.put_states(status)
        self.status(change)

    def put_states(self, status):
        status["containerStatuses"] = [
            {"name": one.name, "image": one.spec.get("image", ""),
             "ready": one.code is None, "started": one.code is None,
             "restartCount": 0, "containerID": "played://%d"
             % one.process.pid, "state": one.state()}
            for one in self.containers]

    # ---- end ----

    def stop(self, pod):
        grace = pod["metadata"].get("deletionGracePeriodSeconds")
        if grace is None:
            grace = pod["spec"].get("terminationGracePeriodSeconds", 30)
        deadline = time.monotonic() + grace
        if self.deadline is None:
            for one in self.containers:
                one.signal(signal.SIGTERM)
            self.deadline = deadline
        self.deadline = min(self.deadline, deadline)
        if time.monotonic() >= self.deadline:
            for one in self.containers:
                one.kill()
            # Their ends wake the thread.
            self.deadline = time.monotonic() + 3600

    def finish(self):
        def change(status):
            for kind in ("Ready", "ContainersReady"):
                set_condition(status, kind, False)
            if self.containers:
                self.put_states(status)
            good = self.containers and not any(one.code
                                               for one in self.containers)
            status["phase"] = "Succeeded" if good else "Failed"
            if self.evicted:
                status.update(phase="Failed", **self.evicted)
        self.done = True
        self.status(change)
        pod = self.now()
        if pod and pod["metadata"].get("deletionTimestamp"):
            self.store.delete(*self.key, {"gracePeriodSeconds": 0})

    def evict(self, status, condition):
        self.evicted = status
        self.status(lambda now: set_condition(now, "DisruptionTarget", True,
                                              *condition))
        self.store.changed.notify_all()


class Kubelet:
    """Of a kubernetes.Cluster, until close(). What a test may order: the
    attributes below, and the functions by a pod's name."""

    def __init__(self, cluster, namespace="work"):
        self.store, self.namespace = cluster.store, namespace
        self.folder = tempfile.mkdtemp(prefix="kubelet.")
        self.pods = {}  # by uid
        self.closing = False
        self.unschedulable = None  # or why no node fits
        self.bad_images = set()
        self.entries = {}  # {image: its entry point}
        self.programs = {}  # {image: a folder that is in its PATH, too}
        self.store.is_held = self.holds
        cluster.kubelet = self
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def close(self):
        """Ends every container."""
        with self.store.lock:
            self.closing = True
            self.store.changed.notify_all()
        self.thread.join()
        for pod in self.pods.values():
            pod.thread.join()
            for one in pod.containers:
                one.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self):
        with self.store.lock:
            while not self.closing:
                for key, pod in list(self.store.items.items()):
                    uid = pod["metadata"]["uid"]
                    if key[0] == "pods" and uid not in self.pods:
                        self.pods[uid] = Pod(self, pod)
                self.store.changed.wait()

    def holds(self, pod):
        one = self.pods.get(pod["metadata"]["uid"])
        return bool(one and not one.done and one.containers)

    # ---- what the API server asks ----

    def find(self, pod, container):
        """The one that was started, or None."""
        one = self.pods.get(pod["metadata"]["uid"])
        return next((found for found in (one.containers if one else ())
                     if found.name == container), None)

    def enter(self, pod, container):
        """(the words before a command, its environment); words None: it does
        not run."""
        with self.store.lock:
            found = self.find(pod, container)
            pid = found.first() if found else None
            if not pid:
                return None, None
            return ["nsenter", "--target", str(pid), "--mount", "--pid",
                    "--root", "--wdns=" + (found.spec.get("workingDir") or
                                           "/"), "--"], found.env

    def log(self, pod, container):
        found = self.find(pod, container)
        if not found:
            return b""
        with open(found.log, "rb") as file:
            return file.read()

    # ---- what a test orders ----

    def order(self, body):
        """Of POST /control: {"do": "evict", "pod": NAME}, and so on."""
        what = body.pop("do")
        assert what in ("evict", "kill_by_memory", "refuse_image",
                        "refuse_nodes"), what
        getattr(self, what)(**body)

    def running(self, name):
        """The Pod that runs under that name."""
        with self.store.lock:
            pod = self.store.get("pods", self.namespace, name)
            return self.pods[pod["metadata"]["uid"]]

    def evict(self, pod):
        """As a node that has no memory left."""
        with self.store.lock:
            self.running(pod).evict(
                {"reason": "Evicted", "message": "The node was low on "
                 "resource: memory. "}, ("TerminationByKubelet", "The node "
                                         "was low on resource: memory. "))

    def kill_by_memory(self, pod):
        with self.store.lock:
            for one in self.running(pod).containers:
                one.killed_by_memory = True
                one.signal(signal.SIGKILL)

    def refuse_image(self, image, refuse=True):
        with self.store.lock:
            (self.bad_images.add if refuse else self.bad_images.discard)(image)
            self.store.changed.notify_all()

    def refuse_nodes(self, why="0/1 nodes are available: 1 Insufficient cpu."):
        """None: there is room now."""
        with self.store.lock:
            self.unschedulable = why
            self.store.changed.notify_all()
