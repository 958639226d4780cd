"""What can go wrong with containers: each case ends in a named state, with its
reason in words, and is started again or not. docs/containers.md has the table.

Real engines (HT_DOCKER_HOSTS) show what they can be brought to; without them a
fake one shows what needs an engine that fails on demand."""

import contextlib
import json
import os
import re
import tempfile

import engines
import harness
import tap
from engines import PYTHON, shell, spec

GOOD = shell("echo score=1")
# Waits for what happens to it; when it is started again it ends well.
ONCE = shell("[ -z \"$HYPERTUNE_RESUME\" ] || { echo score=1; exit; }; "
             "echo up; exec sleep 300")
HOG = "x = bytearray(400 << 20); print(len(x))"


class Faults:
    """What both kinds of cases are made of."""

    def __init__(self, server):
        self._server = server
        self._engine = server.engine

    def _events(self, name):
        return [event.get("reason", "") for event in self._server.get(
            harness.OURS + name + "/events?limit=1000")["events"]]

    def _ends(self, given, state, reason="", attempts=1, act=None):
        """The trial ends in that state, after so many attempts, and the words
        (a pattern) were said on the way. `act` gets its container once the
        trial is up."""
        name = given["name"]
        self._server.submit(given)
        if act:
            act(self._is_up(name))
        self._server.wait_study(name)
        trial = self._server.trial(name, 1)["hypertune"]
        said = self._events(name) + [trial["reason"]]
        print("# %s: %s, %d attempts: %s" % (
            name, trial["state"], len(trial["attempts"]),
            [text for text in said if reason and re.search(reason, text)][:1]))
        tap.equal(trial["state"], state, trial["reason"])
        tap.true(any(re.search(reason, text) for text in said),
                 "%s in %s" % (reason, said))
        tap.equal(len(trial["attempts"]), attempts, "attempts")
        self._server.expect_nothing_left()
        return trial

    def _is_up(self, name):
        """Waits for the trial's first word; returns its container's name."""
        harness.wait_until(lambda: "up" in self._server.output(name),
                           "a trial that runs")
        return self._server.container(name)


class Real(Faults):
    # --- the image ---

    def an_image_that_is_missing(self):
        self._ends(spec("no-image", GOOD, "localhost/missing:1",
                        container={"pull": "never"}),
                   "FAILED", "localhost/missing:1")

    def a_registry_that_cannot_be_reached(self):
        given = spec("no-registry", GOOD, "127.0.0.1:9/missing:1")
        self._server.submit(given)
        harness.wait_until(
            lambda: [text for text in self._events("no-registry")
                     if "127.0.0.1:9" in text and "starts again" in text],
            "an attempt that is lost for its registry")
        self._server.call("POST", harness.JOBS + "no-registry:cancel")
        self._server.wait_study("no-registry")

    # --- the command ---

    def a_command_that_is_not_there(self):
        self._ends(spec("no-command", ["/no/such/program"]), "FAILED",
                   "command not found: /no/such/program")

    def a_command_that_is_no_program(self):
        self._ends(spec("no-program", ["/etc/passwd"]), "FAILED",
                   "not executable: /etc/passwd")

    def a_folder_to_work_in_that_is_not_there(self):
        self._ends(spec("no-folder", GOOD, workdir="/no/such/folder"),
                   "FAILED", "/no/such/folder")

    def a_user_that_the_image_does_not_know(self):
        self._ends(spec("no-user", GOOD, container={"user": "stranger"}),
                   "FAILED", "stranger")

    def an_exit_code(self):
        self._ends(spec("code", shell("exit 3")), "FAILED", "^exit 3$")

    def an_exit_code_that_is_tried_again(self):
        self._ends(spec("again", shell("exit 4"), retries=1), "FAILED",
                   "exit 4; retry 1 of 1", attempts=2)

    def a_signal(self):
        self._ends(spec("signal", shell("kill -SEGV $$")), "FAILED",
                   "signal 11 .SIGSEGV")

    def a_trial_that_runs_too_long(self):
        self._ends(spec("late", shell("exec sleep 300"), trialTimeout="2s"),
                   "FAILED", "ran longer than 2s")

    def a_trial_that_ends_well_and_reports_nothing(self):
        self._ends(spec("silent", shell("true")), "INFEASIBLE", "score")

    def a_trial_that_leaves_processes(self):
        self._ends(spec("leaves", shell(
            "(trap '' TERM HUP; sleep 300) & echo score=1")), "SUCCEEDED")

    # --- limits ---

    def memory_that_is_not_enough(self):
        self._ends(spec("memory", ["python3", "-c", HOG], PYTHON,
                        resources={"memory": "64Mi"}),
                   "FAILED", "out of memory")

    def memory_that_a_child_used_up(self):
        self._ends(spec("child", shell("python3 -c '%s'" % HOG), PYTHON,
                        resources={"memory": "64Mi"}),
                   "FAILED", "out of memory")

    def a_flood_of_output(self):
        trial = self._ends(spec("flood", shell(
            "yes flood | head -c 40000000; echo; echo score=1")), "SUCCEEDED")
        tap.equal(trial["objective"], 1.0, "the end of the log was read")

    # --- the container and its network ---

    def a_container_that_is_removed_by_hand(self):
        # Podman kills it first and does not say that it will remove it.
        words = "(removed|stopped) by another program"
        if self._engine.podman:
            words += "|was killed"
        self._ends(spec("removed", ONCE), "SUCCEEDED", words, 2,
                   self._engine.remove)

    def a_container_that_is_killed_by_hand(self):
        self._ends(spec("killed", ONCE), "SUCCEEDED", "killed", 2,
                   self._engine.kill)

    def a_network_that_goes_away(self):
        def disconnect(container):
            for network in self._engine.networks(self._server.label):
                status, said = self._engine.send(
                    "POST", "/networks/%s/disconnect" % network,
                    {"Container": container, "Force": True})
                tap.equal(status, 200, said)
        self._ends(spec("cut", shell(
            "echo up; until ! ip address show eth0 >/dev/null 2>&1; "
            "do sleep 0.1; done; hypertune report score=1"), metrics=None),
            "SUCCEEDED", act=disconnect)

    def a_name_that_a_stranger_has(self):
        newest = self._server.get(harness.JOBS[:-1] + "?pageSize=1")
        number = int(newest["hyperparameterTuningJobs"][0]["name"]
                     .rsplit("/", 1)[1])
        name = "ht-%s-%d-1-1-master-0" % (
            self._server.label.split("=")[1], number + 1)
        self._engine.call("POST", "/containers/create?name=" + name,
                          {"Image": engines.TINY, "Cmd": ["sleep", "300"],
                           "HostConfig": {"NetworkMode": "none"}})
        try:
            # The next attempt has another name.
            self._ends(spec("taken", GOOD), "SUCCEEDED", name, attempts=2)
        finally:
            tap.equal(self._engine.send("DELETE", "/containers/%s?force=1" %
                                        name)[0], 204, "it is still there")

    # --- what the admin does not allow ---

    def rights_that_were_not_given(self):
        for number, (field, options) in enumerate([
                ("privileged", {"container": {"privileged": True}}),
                ("network", {"container": {"network": "host"}}),
                ("hostPid", {"container": {"hostPid": True}}),
                ("volume", {"volumes": ["/etc:/host:ro"]}),
                ("secret", {"secrets": {"KEY": {"file": "key"}}})]):
            given = spec("right-%d" % number, GOOD, **options)
            path = os.path.join(self._server.folder, given["name"] + ".yaml")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(given, file)
            done = self._server.cli("submit", path, check=False)
            print("# %s: %s" % (field, done.stderr.strip().splitlines()[:1]))
            tap.true(done.returncode != 0, field)
            tap.contains(field, done.stderr)

    def gpus_that_the_engine_cannot_give(self):
        self._ends(spec("gpus", GOOD, resources={"gpus": 1}), "FAILED",
                   "GPU|gpus|NVIDIA")

    # --- a trial that is hostile ---

    def a_trial_that_tampers_with_its_folder(self):
        self._ends(spec("hostile", shell(
            "cd $HYPERTUNE_TRIAL_DIR; rm -rf stdout.* reports.jsonl; "
            "ln -s /etc/shadow reports.jsonl; mkfifo stdout.000001048576.log; "
            "mkdir output.metrics; ln -s /etc/shadow runner.000000000000.log; "
            "for i in $(seq 2000); do : >junk-$i; done; exit 5")),
            "FAILED", "exit 5")
        for stream in ("stdout", "stderr", "runner"):
            tap.lacks("root:", self._server.output("hostile", stream=stream),
                      stream)

    def a_trial_that_writes_its_own_verdict(self):
        """Its supervisor's word counts, once that is gone."""
        self._server.submit(spec("forged", shell(
            "cd $HYPERTUNE_TRIAL_DIR; echo '{\"exit\":0,\"outcome\":"
            "\"succeeded\",\"reason\":\"exit 0\"}' >exit.json; "
            "sleep 30; exit 6"), trialTimeout="10s"))
        self._server.wait_study("forged")
        trial = self._server.trial("forged", 1)["hypertune"]
        tap.contains(trial["state"], ("INFEASIBLE", "FAILED"), trial)
        self._server.expect_nothing_left()

    # --- the engine ---

    def an_engine_that_is_away_for_a_while(self):
        """The runner has it by a link, which is taken away."""
        link = self._engine.socket + ".link"
        os.symlink(self._engine.socket, link)
        engine = engines.Engine("unix://" + link)
        with contextlib.ExitStack() as stack:
            stack.callback(os.unlink, link)
            server = stack.enter_context(engines.Server(engine, slots=1))
            away = Real(server)
            away._engine = self._engine
            server.submit(spec("away", shell(
                "echo up; until [ -e $HYPERTUNE_TRIAL_DIR/go ]; "
                "do sleep 0.1; done; echo score=1")))
            container = away._is_up("away")
            os.unlink(link)
            folder = next(mount["Source"] for mount in self._engine.inspect(
                container)["Mounts"]
                if mount["Destination"] == "/hypertune/trial")
            with open(os.path.join(folder, "go"), "w", encoding="ascii"):
                pass
            status = server.wait_study("away")
            tap.equal(status["counts"]["succeeded"], 1, status["reason"])
            os.symlink(self._engine.socket, link)
            harness.wait_until(
                lambda: not self._engine.containers(server.label),
                "a container that the janitor removes")


class Fake(Faults):
    def _fault(self, method, path, **what):
        self._engine.play(dict(what, method=method, path=path))

    def a_disk_that_is_full(self):
        self._fault("POST", "/containers/create", nth=1, do="status",
                    status=500, body={"message": "mkdir /var/lib/docker: "
                                      "no space left on device"})
        self._ends(spec("full", GOOD), "SUCCEEDED",
                   "no space left on device", attempts=2)

    def no_addresses_for_a_network(self):
        self._fault("POST", "/networks/create", nth=1, do="status",
                    status=500, body={"message": "could not find an available,"
                                      " non-overlapping IPv4 address pool"})
        self._ends(spec("addresses", GOOD), "SUCCEEDED",
                   "non-overlapping IPv4 address pool", attempts=2)

    def an_answer_to_create_that_is_lost(self):
        self._fault("POST", "/containers/create", nth=1, do="drop",
                    effect=True)
        self._ends(spec("created", GOOD), "SUCCEEDED")

    def an_answer_to_start_that_is_lost(self):
        self._fault("POST", "/containers/.*/start", nth=1, do="drop",
                    effect=True)
        self._ends(spec("started", GOOD), "SUCCEEDED")

    def an_answer_that_is_nonsense(self):
        self._fault("POST", "/containers/create", nth=1, do="garbage")
        trial = self._server.run(spec("nonsense", GOOD))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        self._server.expect_nothing_left()

    def an_engine_that_stops_answering_about_a_container(self):
        # The trial's own folder shows how it ended.
        self._fault("GET", "/containers/.*/json", do="hang")
        self._server.submit(spec("hangs", GOOD))
        status = self._server.wait_study("hangs")
        tap.equal(status["counts"]["succeeded"], 1, status["reason"])
        self._engine.play()
        self._server.expect_nothing_left()

    def a_pull_that_is_refused(self):
        self._fault("POST", "/images/create", do="stream", items=[
            {"status": "Pulling from secret/image"},
            {"error": "denied: requested access to the resource is denied"}])
        self._ends(spec("refused", GOOD, "registry.example/secret/image:1"),
                   "FAILED", "registry.example/secret/image:1")

    def a_pull_of_what_does_not_exist(self):
        self._fault("POST", "/images/create", do="stream", items=[
            {"error": "manifest for registry.example/a:9 not found: manifest "
                      "unknown: manifest unknown"}])
        self._ends(spec("unknown", GOOD, "registry.example/a:9"), "FAILED",
                   "registry.example/a:9")

    def a_pull_that_breaks_off_once(self):
        self._engine.play(
            {"method": "POST", "path": "/images/create", "nth": 1,
             "do": "stream", "items": [{"status": "Downloading"},
                                       {"error": "unexpected EOF"}]},
            registry=["registry.example/b:1"])
        self._ends(spec("broken-pull", GOOD, "registry.example/b:1"),
                   "SUCCEEDED")

    def a_container_that_cannot_be_removed_at_once(self):
        self._fault("DELETE", "/containers/.*", nth=[1, 2], do="status",
                    status=500, body={"message": "device or resource busy"})
        self._server.submit(spec("busy", GOOD))
        status = self._server.wait_study("busy")
        tap.equal(status["counts"]["succeeded"], 1, status["reason"])
        self._server.expect_nothing_left()

    def a_network_that_is_still_in_use(self):
        self._fault("DELETE", "/networks/.*", nth=1, do="status", status=403,
                    body={"message": "error while removing network: network "
                                     "has active endpoints"})
        self._server.submit(spec("endpoints", GOOD))
        status = self._server.wait_study("endpoints")
        tap.equal(status["counts"]["succeeded"], 1, status["reason"])
        self._server.expect_nothing_left()

    def an_engine_that_fails_again_and_again(self):
        self._fault("POST", "/containers/create", nth=[1, 2], do="status",
                    status=500, body={"message": "no space left on device"})
        self._ends(spec("again-full", GOOD), "SUCCEEDED",
                   "no space left on device; starts again after [1-9]",
                   attempts=3)

    def a_container_that_does_not_begin(self):
        server = engines.Server(self._engine, slots=1)
        server.environment = {"HYPERTUNE_RUNNER_START_LIMIT": "1"}
        with server:
            self._fault("POST", "/containers/.*/start", nth=1, do="status",
                        status=204, body=None)
            Fake(server)._ends(spec("stuck", GOOD), "SUCCEEDED",
                               "its supervisor did not begin in time; starts "
                               "again", attempts=2)

    def failures_that_end_their_study(self):
        self._fault("POST", "/images/create", do="stream", items=[
            {"error": "manifest for registry.example/c:9 not found: manifest "
                      "unknown: manifest unknown"}])
        self._server.submit(spec("hopeless", GOOD, "registry.example/c:9",
                                 trials=5, maxFailed=2))
        status = self._server.wait_study("hopeless")
        tap.equal((status["state"], status["counts"]["failed"]),
                  ("FAILED", 2), status["reason"])
        tap.starts(status["reason"], "2 trials failed, limit 2: most often "
                   "'image registry.example/c:9: there is none")
        self._engine.play()
        self._server.expect_nothing_left()


def main():
    folder = tempfile.mkdtemp(prefix="ht-fake-")
    with contextlib.ExitStack() as stack:
        bound = []
        for engine in engines.here():
            server = stack.enter_context(
                engines.Server(engine, "--gpus", "0,", slots=1))
            bound += engines.bind(Real, server, engine.name)
        if bound == []:
            fake = stack.enter_context(engines.FakeEngine(folder))
            server = stack.enter_context(engines.Server(fake, slots=1))
            bound = engines.bind(Fake, server, fake.name) + engines.absent()
        tap.run(bound)


if __name__ == "__main__":
    main()
