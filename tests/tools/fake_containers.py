"""fake_containers - what fake_engine.py keeps: images, containers, networks, and
what its two dialects say of them."""

import collections
import json
import os
import re
import signal
import subprocess
import threading
import time
import uuid

LAYER = "4f4fb700ef54"


class Refusal(Exception):
    """What an engine does not do: its code and words in both dialects."""

    def __init__(self, docker, podman, words, cause=None):
        super().__init__(words)
        self.codes = {"docker": docker, "podman": podman}
        self.cause = cause

    def answer(self, dialect):
        code, words = self.codes[dialect], str(self)
        if dialect == "docker":
            return code, {"message": words}
        return code, {"cause": self.cause or words,
                      "message": "%s: %s" % (words, self.cause or words),
                      "response": code}


def descendants(pid):
    """The process and all it started, as far as they are its children still."""
    parents = collections.defaultdict(list)
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name) as file:
                fields = file.read().rpartition(")")[2].split()
            parents[int(fields[1])].append(int(name))
        except OSError:
            pass
    found = [pid]
    for each in found:
        found.extend(parents[each])
    return found


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def map_path(text, binds):
    """The text with targets of binds, where they are paths, replaced."""
    for source, target in binds:
        text = re.sub(re.escape(target) + r"(?=$|[/:;,\s\"'])",
                      lambda _: source, text)
    return text


def map_tree(value, binds):
    if isinstance(value, str):
        return map_path(value, binds)
    if isinstance(value, list):
        return [map_tree(item, binds) for item in value]
    if isinstance(value, dict):
        return {key: map_tree(item, binds) for key, item in value.items()}
    return value


class Container:
    def __init__(self, name, body, image):
        self.id = uuid.uuid4().hex * 2
        self.name, self.body, self.image = name, body, image
        self.state, self.code, self.oom, self.error = "created", 0, False, ""
        self.pid = 0
        self.process = None  # of this life of the fake

    def binds(self):
        host = self.body.get("HostConfig") or {}
        pairs = [(bind.split(":")[0], bind.split(":")[1])
                 for bind in host.get("Binds") or []]
        pairs += [(m["Source"], m["Target"]) for m in host.get("Mounts") or []
                  if m.get("Type", "bind") == "bind"]
        return sorted(pairs, key=lambda pair: -len(pair[1]))

    def networks(self):
        mode = (self.body.get("HostConfig") or {}).get("NetworkMode")
        named = (self.body.get("NetworkingConfig") or {}).get("EndpointsConfig")
        return set(named or {}) | {mode or "bridge"}

    def command(self):
        """Giving an entry point drops the image's command, too."""
        config = self.image["Config"]
        entry, args = self.body.get("Entrypoint"), self.body.get("Cmd")
        if not entry:
            args = args or config.get("Cmd") or []
            entry = config.get("Entrypoint") or []
        return list(entry) + list(args or [])

    def facts(self):
        return {key: value for key, value in vars(self).items()
                if key != "process"}


class Engine:
    def __init__(self, options, script):
        self.options, self.dialect = options, options.dialect
        self.script = script
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.images, self.containers, self.networks = {}, {}, {}
        for name in options.image:
            self.add_image(name)
        self.load()

    # ---- memory ----

    def load(self):
        try:
            with open(self.options.state) as file:
                kept = json.load(file)
        except (TypeError, OSError):
            return
        self.images, self.networks = kept["images"], kept["networks"]
        for facts in kept["containers"]:
            container = Container("", {}, {})
            vars(container).update(facts)
            self.containers[container.id] = container
            if container.state == "running":
                self.watch(container)

    def save(self):
        self.changed.notify_all()
        if not self.options.state:
            return
        kept = {"images": self.images, "networks": self.networks,
                "containers": [c.facts() for c in self.containers.values()]}
        with open(self.options.state + ".new", "w") as file:
            json.dump(kept, file)
        os.rename(self.options.state + ".new", self.options.state)

    def add_image(self, name):
        number = uuid.uuid5(uuid.NAMESPACE_URL, name).hex * 2
        config = {"Env": ["PATH=/usr/local/bin:/usr/bin:/bin"], "Cmd": ["sh"],
                  "Entrypoint": None, "WorkingDir": "", "User": ""}
        config.update(self.script.read().get("config", {}).get(name, {}))
        self.images[name] = {
            "Id": "sha256:" + number, "RepoTags": [name], "Config": config,
            "RepoDigests": ["%s@sha256:%s" % (name.rpartition(":")[0],
                                              number[::-1])]}

    def get_image(self, name):
        for tag, image in self.images.items():
            if name in (tag, image["Id"], image["Id"][7:]) or (
                    name + ":latest" == tag) or name in image["RepoDigests"]:
                return image
        raise Refusal(404, 404, "No such image: " + name, "image not known")

    def get_container(self, name):
        """A name goes before the beginning of an id, as engines have it."""
        everyone = list(self.containers.values())
        for container in everyone:
            if name in (container.name, container.id):
                return container
        for container in everyone:
            if container.id.startswith(name):
                return container
        raise Refusal(404, 404, "No such container: " + name,
                      "no such container")

    def get_network(self, name):
        for network in self.networks.values():
            if name in (network["Name"], network["Id"]):
                return network
        raise Refusal(404, 404, "network %s not found" % name,
                      "network not found")

    # ---- running ----

    def check_networks(self, container):
        """Podman misses a network when a container is made, dockerd when it is
        started."""
        for network in container.networks():
            if network not in ("none", "host", "bridge", "default"):
                self.get_network(network)

    def start(self, container):
        self.check_networks(container)
        argv = map_tree(container.command(), container.binds())
        container.state, container.code, container.oom = "running", 0, False
        if self.options.run:
            self.spawn(container, argv)
        self.save()
        self.watch(container)

    def spawn(self, container, argv):
        binds = container.binds()
        for source, _ in binds:
            launch = os.path.join(source, "launch.json")
            if os.path.exists(launch):
                with open(launch) as file:
                    content = map_tree(json.load(file), binds)
                with open(launch + ".fake", "w") as file:
                    json.dump(content, file)
                os.rename(launch + ".fake", launch)
        env = dict(line.partition("=")[::2] for line in
                   (container.image["Config"].get("Env") or []) +
                   map_tree(container.body.get("Env") or [], binds))
        folder = map_path(container.body.get("WorkingDir") or "/", binds)
        try:
            container.process = subprocess.Popen(
                argv, env=env, cwd=folder if os.path.isdir(folder) else "/",
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True)
        except OSError as fault:
            container.state = "created"
            if self.dialect == "docker":
                container.code = 126 if fault.errno == 13 else 127
                container.error = str(fault)
            self.save()
            raise Refusal(400, 500, "OCI runtime create failed: exec: \"%s\": "
                          "%s" % (argv[0], fault.strerror.lower()),
                          "runc: runc create failed: OCI runtime attempted to "
                          "invoke a command that was not found")
        container.pid = container.process.pid

    def find_run(self, container):
        for run in self.script.read().get("runs", []):
            if re.fullmatch(run.get("name", ".*"), container.name):
                return run
        return None

    def watch(self, container):
        threading.Thread(target=self.follow, args=(container,),
                         daemon=True).start()

    def follow(self, container):
        """Until it ends: by itself, by the script, or killed by a call."""
        run = self.find_run(container)
        due = time.monotonic() + run.get("after", 0) if run else None
        while container.state == "running":
            process, code = container.process, None
            if process is not None:
                code = process.poll()
            elif container.pid and not is_alive(container.pid):
                code = 0  # it outlived the fake that was its parent
            if code is not None:
                self.end(container, 128 - code if code < 0 else code)
            elif due is not None and time.monotonic() >= due:
                self.end(container, run.get("exit", 137), run.get("oom", False))
            else:
                time.sleep(0.02)

    def end(self, container, code, oom=False):
        with self.lock:
            if container.state != "running":
                return
            if container.pid:
                for pid in descendants(container.pid):
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
            if container.process is not None:
                container.process.wait()
            container.state, container.code = "exited", code
            container.oom = oom and self.dialect == "docker"
            self.save()

    def signal(self, container, number):
        if container.state != "running":
            raise Refusal(409, 500, "Container %s is not running" %
                          container.id, "container state improper")
        if container.process is None and not container.pid:
            if number in (signal.SIGKILL, signal.SIGTERM):
                self.end(container, 128 + number)
        elif number == signal.SIGKILL:
            self.end(container, 137)
        elif is_alive(container.pid):
            os.kill(container.pid, number)

    # ---- calls: images ----

    def pull(self, query):
        tag = query.get("tag") or "latest"
        name = query["fromImage"] + ("@" if ":" in tag else ":") + tag
        if name in self.script.read().get("registry", []):
            self.add_image(name)
            self.save()
            return 200, [
                {"status": "Pulling from " + query["fromImage"], "id": tag},
                {"status": "Pulling fs layer", "progressDetail": {},
                 "id": LAYER},
                {"status": "Downloading", "id": LAYER,
                 "progressDetail": {"current": 500000, "total": 2000000}},
                {"status": "Download complete", "progressDetail": {},
                 "id": LAYER},
                {"status": "Status: Downloaded newer image for " + name}]
        words = ("manifest for %s not found: manifest unknown: manifest "
                 "unknown" % name)
        if self.dialect == "podman":
            return 200, [{"errorDetail": {"message": words}, "error": words}]
        raise Refusal(404, 500, words)

    # ---- calls: containers ----

    def create(self, query, body):
        image = self.get_image(body.get("Image", ""))
        name = query.get("name") or uuid.uuid4().hex[:12]
        for other in self.containers.values():
            if other.name == name:
                raise Refusal(409, 500, "Conflict. The container name \"/%s\" "
                              "is already in use by container \"%s\"" %
                              (name, other.id),
                              "that name is already in use")
        container = Container(name, body, image)
        if self.dialect == "podman":
            self.check_networks(container)
        for source, _ in container.binds():
            if not os.path.exists(source):
                os.makedirs(source)
        self.containers[container.id] = container
        self.save()
        return 201, {"Id": container.id, "Warnings": []}

    def list_containers(self, query):
        wanted = self.filters(query)
        everyone = query.get("all") in ("1", "true", "True")
        return 200, [
            {"Id": c.id, "Names": ["/" + c.name], "State": c.state,
             "Image": c.body["Image"], "ImageID": c.image["Id"],
             "Labels": c.body.get("Labels") or {}, "Status": c.state}
            for c in self.containers.values()
            if (everyone or c.state == "running") and self.fits(
                wanted, c.name, c.id, c.body.get("Labels") or {})]

    def inspect(self, container):
        networks = {}
        for name in container.networks():
            known = [n for n in self.networks.values() if n["Name"] == name]
            networks[name] = {
                "NetworkID": known[0]["Id"] if known else "",
                "Gateway": self.gateway(known[0]) if known else ""}
        return 200, {
            "Id": container.id, "Name": "/" + container.name,
            "Image": container.image["Id"],
            "State": {"Status": container.state,
                      "Running": container.state == "running",
                      "Pid": container.pid, "ExitCode": container.code,
                      "OOMKilled": container.oom, "Error": container.error,
                      "Dead": False},
            "Config": {key: value for key, value in container.body.items()
                       if key not in ("HostConfig", "NetworkingConfig")},
            "HostConfig": container.body.get("HostConfig") or {},
            "NetworkSettings": {"Networks": networks}}

    def wait(self, container):
        if container.state == "created":
            return 200, {"StatusCode": 0 if self.dialect == "docker" else -1}
        while container.state == "running":
            self.changed.wait(1)
        return 200, {"StatusCode": container.code}

    def stop(self, container, seconds):
        if container.state != "running":
            return 304, None
        self.signal(container, signal.SIGTERM)
        deadline = time.monotonic() + seconds
        while container.state == "running" and time.monotonic() < deadline:
            self.changed.wait(0.1)
        if container.state == "running":
            self.end(container, 137)
        return 204, None

    def kill(self, container, name):
        try:
            number = signal.Signals[name if name.startswith("SIG")
                                    else "SIG" + name]
        except KeyError:
            raise Refusal(400, 500, "Invalid signal: " + name) from None
        self.signal(container, number)
        return 204, None

    def delete_container(self, container, query):
        if container.state == "running":
            if query.get("force") not in ("1", "true", "True"):
                raise Refusal(409, 500, "You cannot remove a running container "
                              + container.id, "container state improper")
            self.end(container, 137)
        self.containers.pop(container.id, None)
        self.save()
        return 204, None

    def container_call(self, method, name, verb, query):
        container = self.get_container(name)
        if (method, verb) == ("GET", "json"):
            return self.inspect(container)
        if (method, verb) == ("POST", "start"):
            if container.state == "running":
                return 304, None
            self.start(container)
            return 204, None
        if (method, verb) == ("POST", "stop"):
            return self.stop(container, float(query.get("t", 10)))
        if (method, verb) == ("POST", "kill"):
            return self.kill(container, query.get("signal", "SIGKILL"))
        if (method, verb) == ("POST", "wait"):
            return self.wait(container)
        if (method, verb) == ("DELETE", ""):
            return self.delete_container(container, query)
        raise Refusal(404, 404, "page not found")

    # ---- calls: networks ----

    @staticmethod
    def gateway(network):
        return network["IPAM"]["Config"][0]["Gateway"]

    def create_network(self, body):
        name = body["Name"]
        if any(n["Name"] == name for n in self.networks.values()):
            raise Refusal(409, 500, "network with name %s already exists" %
                          name, "network already exists")
        number = len(self.networks) % 200 + 1
        network = {"Name": name, "Id": uuid.uuid4().hex * 2,
                   "Driver": "bridge", "Labels": body.get("Labels") or {},
                   "Internal": bool(body.get("Internal")),
                   "IPAM": {"Config": [{"Subnet": "127.77.%d.0/24" % number,
                                        "Gateway": "127.77.%d.1" % number}]}}
        self.networks[network["Id"]] = network
        self.save()
        return 201, {"Id": network["Id"], "Warning": ""}

    def delete_network(self, network):
        users = [c for c in self.containers.values()
                 if network["Name"] in c.networks() and
                 (c.state == "running" or self.dialect == "podman")]
        if users:
            raise Refusal(403, 500, "error while removing network: network %s "
                          "has active endpoints" % network["Name"],
                          "network is being used")
        del self.networks[network["Id"]]
        self.save()
        return 204, None

    # ---- calls: the rest ----

    @staticmethod
    def filters(query):
        """{"label": ["a=b"]} or the older {"label": {"a=b": true}}."""
        return {key: list(values) for key, values in
                json.loads(query.get("filters") or "{}").items()}

    @staticmethod
    def fits(wanted, name, number, labels):
        return (all(label.partition("=")[0] in labels and
                    ("=" not in label or labels[label.partition("=")[0]] ==
                     label.partition("=")[2])
                    for label in wanted.get("label", [])) and
                all(re.search(each, name) for each in wanted.get("name", []))
                and all(number.startswith(each)
                        for each in wanted.get("id", [])))

    def version(self):
        podman = self.dialect == "podman"
        number = "4.3.1" if podman else "20.10.24+dfsg1"
        return 200, {"Version": number, "ApiVersion": self.options.api,
                     "MinAPIVersion": self.options.oldest_api,
                     "Components": [{"Name": "Podman Engine" if podman
                                     else "Engine", "Version": number}]}

    def info(self):
        facts = {"NCPU": 2, "MemTotal": 1 << 32, "OSType": "linux",
                 "Runtimes": {"runc": {"path": "runc"}},
                 "SecurityOptions": ["name=seccomp,profile=default"]}
        if self.dialect == "podman":
            facts["Rootless"] = False
        facts.update(self.script.read().get("info", {}))
        return 200, facts

    def call(self, method, path, query, body):
        """The answer as (code, None, a JSON value, or a list of items)."""
        parts = path.strip("/").split("/")
        if (method, path) == ("GET", "/version"):
            return self.version()
        if (method, path) == ("GET", "/info"):
            return self.info()
        if (method, path) == ("GET", "/images/json"):
            return 200, list(self.images.values())
        if (method, path) == ("POST", "/images/create"):
            return self.pull(query)
        if parts[0] == "images" and parts[-1] == "json" and method == "GET":
            return 200, self.get_image("/".join(parts[1:-1]))
        if (method, path) == ("POST", "/containers/create"):
            return self.create(query, body)
        if (method, path) == ("GET", "/containers/json"):
            return self.list_containers(query)
        if parts[0] == "containers" and len(parts) in (2, 3):
            return self.container_call(method, parts[1], "".join(parts[2:]),
                                       query)
        if (method, path) == ("POST", "/networks/create"):
            return self.create_network(body)
        if (method, path) == ("GET", "/networks"):
            return 200, [n for n in self.networks.values() if self.fits(
                self.filters(query), n["Name"], n["Id"], n["Labels"])]
        if parts[0] == "networks" and len(parts) == 2 and method == "GET":
            return 200, self.get_network(parts[1])
        if parts[0] == "networks" and len(parts) == 2 and method == "DELETE":
            return self.delete_network(self.get_network(parts[1]))
        raise Refusal(404, 404, "page not found")
