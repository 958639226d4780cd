"""The image that debian/image.sh makes of the package (make deb): started as a
cluster starts it, with a root that cannot be written, and its runner's pods on
the played cluster."""

import glob
import json
import os
import subprocess
import tempfile

import engines
import harness
import kube_tool
import pod_trials
import tap
import tree

NAME = "hypertune-server-test-%d" % os.getpid()
DATA = "/data/hypertune"


class Server:
    def __init__(self, engine, folder):
        self.engine, self.folder = engine, folder
        self.cluster = pod_trials.Played(folder)
        os.chmod(folder, 0o755)
        kube_tool.write(folder, "token", kube_tool.config_of(
            self.cluster.cluster, {"token": "runner"}), 0o644)

    def load(self, package):
        path = os.path.join(self.folder, "image.tar")
        subprocess.run(
            [os.path.join(tree.ROOT, "debian/image.sh"), package, path],
            env=dict(os.environ, IMAGES=os.path.join(harness.bin_dir(),
                                                     "../images")), check=True)
        with open(path, "rb") as archive:
            status, said = self.engine.send(
                "POST", "/images/load", archive, "application/x-tar",
                timeout=600)
        os.unlink(path)
        tap.equal(status, 200, said)
        return "localhost/hypertune:" + package.split("_")[1]

    def start(self, image):
        self.engine.call("POST", "/containers/create?name=" + NAME, {
            "Image": image, "User": "10001:10001",
            "Entrypoint": ["hypertuned", "--data=" + DATA,
                           "--runner=kubernetes", "--listen=127.0.0.1:0",
                           "--report-listen=tcp://127.0.0.1:0"],
            "Cmd": [], "Env": ["KUBECONFIG=/cluster/token"],
            "HostConfig": {"NetworkMode": "host", "CapDrop": ["ALL"],
                           "SecurityOpt": ["no-new-privileges"],
                           "ReadonlyRootfs": True,
                           "Tmpfs": {"/tmp": ""},
                           "Binds": [self.folder + ":/cluster:ro"]}})
        self.engine.call("POST", "/containers/%s/start" % NAME)

    def run(self, *command):
        """Exit code and output of a command in the container."""
        made = self.engine.call("POST", "/containers/%s/exec" % NAME, {
            "Cmd": list(command), "AttachStdout": True, "AttachStderr": True,
            "Tty": True})
        _, said = self.engine.send(
            "POST", "/exec/%s/start" % made["Id"], {"Tty": True})
        ended = self.engine.get("/exec/%s/json" % made["Id"])
        return ended["ExitCode"], said.decode().replace("\r", "")

    def hypertune(self, *words):
        return self.run("env", "-u", "HYPERTUNE_SERVER", "-u",
                        "HYPERTUNE_TOKEN_FILE", "hypertune", "--data", DATA,
                        *words)

    def close(self):
        self.engine.remove(NAME)
        self.cluster.close()


def cases(server, package):
    def the_package_becomes_an_image_that_starts():
        image = server.load(package)
        user = server.engine.get("/images/%s/json" % image)["Config"]["User"]
        tap.equal(user, "10001:10001")
        server.start(image)
        harness.wait_until(
            lambda: server.hypertune("list", "-o", "name")[0] == 0,
            "a server that answers")
        tap.equal(server.run("stat", "-c", "%u %a", DATA + "/token"),
                  (0, "10001 600\n"))
        tap.true(server.run("touch", "/etc/new")[0] != 0)

    def its_runner_starts_pods():
        spec = json.dumps(pod_trials.spec(
            "inside", pod_trials.shell("echo score=0.5")))
        code, said = server.run("sh", "-c", "printf %%s '%s' >/tmp/s" % spec)
        tap.equal(code, 0, said)
        harness.wait_until(
            lambda: "ONLINE" in server.hypertune("runners", "-o", "json")[1],
            "the server's runner")
        code, said = server.hypertune("submit", "/tmp/s", "--wait")
        tap.equal(code, 0, said)
        code, said = server.hypertune("best", "inside", "-o", "json")
        tap.equal(json.loads(said)["hypertune"]["objective"], 0.5)

    return [the_package_becomes_an_image_that_starts, its_runner_starts_pods]


def main():
    found = [engine for engine in engines.here() if engine.podman]
    packages = glob.glob(os.path.join(tree.ROOT, "build/deb/hypertune_*.deb"))
    if not found or not packages:
        tap.skip("the server's image", "no Podman in HT_DOCKER_HOSTS, or no "
                 "package in build/deb (make deb)")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(found[0], folder)
        try:
            tap.run(cases(server, packages[0]))
        finally:
            server.close()


main()
