"""The image of the server: built from the Dockerfile on a Debian made here,
run as it says, and asked for a study."""

import json
import os
import subprocess
import tempfile
import time

import engines
import harness
import tap
import tree

DEBIAN = "localhost/debian:1"
NAME = "hypertune-image-test-%d" % os.getpid()


class Image:
    """The server's image and one container of it."""

    def __init__(self, engine):
        self.engine = engine

    def build(self):
        cache = os.path.join(harness.bin_dir(), "..", "images")
        subprocess.run([os.path.join(engines.SCRIPTS, "debian.sh"), cache,
                        self.engine.socket], check=True)
        with tempfile.TemporaryFile() as context:
            subprocess.run(["tar", "-C", tree.ROOT, "--exclude=./.git",
                            "--exclude=./build", "-cf", "-", "."],
                           stdout=context, check=True)
            context.seek(0)
            self.engine.build(NAME, context, BASE=DEBIAN)

    def run(self, *command):
        """Returns exit code and output of a command in the container."""
        made = self.engine.call("POST", "/containers/%s/exec" % NAME, {
            "Cmd": list(command), "AttachStdout": True, "AttachStderr": True,
            "Tty": True})
        _, output = self.engine.send(
            "POST", "/exec/%s/start" % made["Id"], {"Tty": True})
        ended = self.engine.get("/exec/%s/json" % made["Id"])
        return ended["ExitCode"], output.decode().replace("\r", "")

    def start(self, *arguments):
        self.engine.call("POST", "/containers/create?name=" + NAME, {
            "Image": NAME, "Cmd": list(arguments),
            "HostConfig": {"NetworkMode": "none", "CapDrop": ["ALL"],
                           "ReadonlyRootfs": True,
                           "Mounts": [{"Type": "volume", "Source": NAME,
                                       "Target": "/data"}]}})
        self.engine.call("POST", "/containers/%s/start" % NAME)

    def clear(self):
        self.engine.remove(NAME)
        self.engine.send("DELETE", "/volumes/%s?force=1" % NAME)
        self.engine.remove_image(NAME)


def cases(image):
    def the_dockerfile_builds():
        begin = time.monotonic()
        image.build()
        print("# built in %.0f s" % (time.monotonic() - begin))

    def the_server_runs_as_a_user_and_keeps_its_data_in_a_volume():
        image.start("--runner", "process", "--slots", "1")
        harness.wait_until(
            lambda: image.run("hypertune", "list", "-o", "name")[0] == 0,
            "a server that answers")
        tap.equal(image.run("id", "-un"), (0, "hypertune\n"))
        tap.equal(image.run("stat", "-c", "%U %a", "/data/token"),
                  (0, "hypertune 600\n"))

    def its_health_is_asked_by_its_own_command():
        check = image.engine.inspect(NAME)["Config"]["Healthcheck"]["Test"]
        tap.equal(check[0], "CMD")
        tap.equal(image.run(*check[1:])[0], 0)

    def it_tunes():
        spec = {"spec": 1, "name": "in-image", "goal": "maximize score",
                "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
                "trials": 2, "seed": 1, "workdir": "/data",
                "command": ["sh", "-c", "hypertune report score=1"],
                "args": "none"}
        code, output = image.run(
            "sh", "-c", "printf %s '" + json.dumps(spec) + "' >/data/s.yaml "
            "&& hypertune run /data/s.yaml")
        tap.equal(code, 0, output)

    def it_is_the_same_after_a_restart():
        image.engine.call("POST", "/containers/%s/restart?t=20" % NAME)
        code, output = harness.wait_until(
            lambda: [said for said in [image.run(
                "hypertune", "best", "in-image", "-o", "json")]
                if said[0] == 0], "the best trial")[0]
        tap.equal(json.loads(output)["hypertune"]["objective"], 1.0)

    return [the_dockerfile_builds,
            the_server_runs_as_a_user_and_keeps_its_data_in_a_volume,
            its_health_is_asked_by_its_own_command, it_tunes,
            it_is_the_same_after_a_restart]


def main():
    # One engine is enough: what is built does not depend on it.
    found = [engine for engine in engines.here() if not engine.podman]
    if not found:
        tap.skip("the server image", "no dockerd in HT_DOCKER_HOSTS")
    image = Image(found[0])
    try:
        tap.run(cases(image))
    finally:
        image.clear()


if __name__ == "__main__":
    main()
