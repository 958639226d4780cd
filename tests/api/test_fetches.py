"""Outputs of trials for people on other machines: a played runner sends them to
the store, and says so."""

import json

import harness
import stored
import tap
from fake_runner import Runner

SPEC = {"spec": 1, "name": "s", "goal": "maximize accuracy", "trials": 2,
        "parallel": 1, "parameters": {"x": [1, 2]}, "algorithm": "grid",
        "retries": 0, "args": "none", "command": ["true"],
        "metricDoctor": "warn"}
FETCH = harness.OURS + "s/trials/%s:fetch"


class Sender(Runner):
    """Says that it can send outputs."""

    def tell(self, what, **members):
        if what == "hello":
            members["rules"] = dict(members["rules"], outputs=True)
        return super().tell(what, **members)

    def beats(self, *outputs):
        return self.tell("heartbeat", attempts=[], outputs=list(outputs))

    def send_tree(self, files):
        for data in files.values():
            for chunk in stored.chunks_of(data):
                tap.equal(stored.put_chunk(self.server, chunk,
                                           auth=self.token).status, 200)
        text = stored.manifest(*(stored.entry(name, files[name])
                                 for name in sorted(files)))
        answer = stored.post_tree(self.server, text, auth=self.token)
        tap.equal(answer.status, 200, answer.body)
        return answer.json()["tree"]


def ask(server, trial=1, want=200, **body):
    status, answer = server.call("POST", FETCH % trial, body)
    tap.equal(status, want, answer)
    return answer


def the_store_gets_what_a_person_asks_for():
    with harness.Server("--runner", "none") as server:
        server.submit(dict(SPEC))
        with Sender(server, name="a") as a:
            a.one().succeed(0.5)
            said = ask(server)
            tap.equal((said["state"], said["runner"], said["project"]),
                      ("WAITING", "a", "local"))
            number = int(said["fetch"])
            wish = {"fetch": number, "study": 1, "trial": 1,
                    "project": "local"}
            tap.equal(a.tell("lease", free=0, gpus=0)["fetch"], [wish])
            tap.equal(a.beats()["fetch"], [wish])
            a.beats({"fetch": number, "bytes": 1, "of": 7})
            said = ask(server, fetch=said["fetch"])
            tap.equal((said["state"], said["bytes"], said["of"]),
                      ("SENDING", 1, 7))
            files = {"model/w": b"weights"}
            tree = a.send_tree(files)
            tap.equal(a.beats({"fetch": number, "tree": tree})["fetch"], [])
            said = ask(server, fetch=said["fetch"])
            tap.equal((said["state"], said["tree"]), ("READY", tree))
            text = stored.get(server, "trees/" + tree).body
            tap.equal([entry["path"] for entry in json.loads(text)["entries"]],
                      ["model/w"])


def what_cannot_be_is_refused():
    with harness.Server("--runner", "none") as server:
        server.submit(dict(SPEC))
        with Sender(server, name="a") as a:
            attempt = a.one()
            tap.contains("no outputs", str(ask(server, want=404)))
            attempt.succeed(0.5)
            tap.contains("no trial", str(ask(server, trial="x", want=404)))
            tap.contains("fetch", str(ask(server, want=400, fetch=[1])))
            tap.contains("nothing", str(ask(server, want=400, nothing=1)))
            tap.contains("no checkpoint",
                         str(ask(server, want=404, checkpoint=True)))
            said = ask(server)
            a.beats({"fetch": int(said["fetch"]), "tree": "0" * 64})
            tap.contains("the store lacks what it has sent", str(
                ask(server, want=400, fetch=said["fetch"])))


def a_question_that_was_lost_with_the_server_begins_anew():
    with harness.Server("--runner", "none") as server:
        server.submit(dict(SPEC))
        with Sender(server, name="a") as a:
            a.one().succeed(0.5)
            before = ask(server)["fetch"]
        server.kill()
        server.start()
        with Sender(server, name="a") as a:
            after = ask(server, fetch=before)
            tap.equal(after["state"], "WAITING")
            tap.true(int(after["fetch"]) > int(before), after)


tap.run([the_store_gets_what_a_person_asks_for, what_cannot_be_is_refused,
         a_question_that_was_lost_with_the_server_begins_anew])
