"""Webhooks: what is sent, how it is signed, and what happens to letters that
nobody takes."""

import hashlib
import hmac
import http.server
import json
import os
import threading

import api
import harness
import tap

SECRET = "the key"
EVENTS = ["study.ended", "study.paused", "trial.ended", "trial.failed",
          "best.improved"]


class Receiver:
    """An HTTP server that keeps letters and answers as it is told."""

    def __init__(self):
        receiver = self
        self.letters = []
        self.answers = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                code = receiver.answers.pop(0) if receiver.answers else 204
                receiver.letters.append((dict(self.headers), body, code,
                                         self.path))
                self.send_response(code)
                if code == 302:
                    self.send_header("Location", receiver.url + "/elsewhere")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    def taken(self, event=None, study=None):
        found = []
        for headers, body, code, _ in list(self.letters):
            letter = json.loads(body)
            if code == 204 and event in (None, letter["event"]) and \
                    study in (None, letter["study"]["name"]):
                found.append((headers, letter))
        return found

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def configure(server, *hooks):
    path = os.path.join(server.data, "webhooks.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(hooks, file)
    os.rename(path + ".new", path)
    harness.wait_until(lambda: "webhooks=%d" % len(hooks)
                       in server.log_text(), "the file is read")


def prepare(*hooks):
    server = harness.Server("--runner", "none")
    server.start()
    configure(server, *hooks)
    harness.wait_until(lambda: "webhooks.begun" in server.log_text(),
                       "what happens from now on is told")
    return server


def make_study(server, name):
    study = {"displayName": name, "hypertune": {"name": name},
             "studySpec": {"metrics": [{"metricId": "loss",
                                        "goal": "MINIMIZE"}],
                           "parameters": [{
                               "parameterId": "x",
                               "doubleValueSpec": {"minValue": 0,
                                                   "maxValue": 1}}]}}
    answer = api.send(server, "POST", api.STUDIES, study)
    tap.equal(answer.status, 200, answer.body)
    return name


def add(server, study, x, loss):
    trial = {"parameters": [{"parameterId": "x", "value": x}],
             "finalMeasurement": {"metrics": [{"metricId": "loss",
                                               "value": loss}]}}
    answer = api.send(server, "POST", "%s/studies/%s/trials"
                      % (api.OURS, study), trial)
    tap.equal(answer.status, 200, answer.body)


def hook(receiver, **changes):
    made = {"url": receiver.url + "/hook", "on": EVENTS, "secret": SECRET,
            "local": True}
    made.update(changes)
    return made


def signature(headers, body):
    told = headers["X-Hypertune-Timestamp"].encode() + b"." + body
    return "sha256=" + hmac.new(SECRET.encode(), told,
                                hashlib.sha256).hexdigest()


def each_event_is_told_and_signed():
    receiver = Receiver()
    server = prepare(hook(receiver))
    try:
        study = make_study(server, "told")
        add(server, study, 0.5, 2.0)
        harness.wait_until(lambda: receiver.taken("best.improved"),
                           "the first best")
        add(server, study, 0.6, 3.0)
        harness.wait_until(lambda: len(receiver.taken("trial.ended")) == 2,
                           "two trials")
        api.send(server, "POST", "%s/studies/%s:pause" % (api.OURS, study), {})
        harness.wait_until(lambda: receiver.taken("study.paused"),
                           "the pause")
        api.send(server, "POST", "%s/studies/%s:stop" % (api.OURS, study), {})
        harness.wait_until(lambda: receiver.taken("study.ended"), "the end")
        tap.equal(len(receiver.taken("best.improved")), 1)
        for headers, body, _, _ in receiver.letters:
            tap.equal(headers["X-Hypertune-Signature"],
                      signature(headers, body))
            tap.equal(headers["X-Hypertune-Event"], json.loads(body)["event"])
        ids = [headers["X-Hypertune-Delivery"] for headers, _, _, _
               in receiver.letters]
        tap.equal(len(set(ids)), len(ids))
        letter = receiver.taken("trial.ended")[1][1]
        tap.equal((letter["study"]["name"], letter["trial"]["parameters"],
                   letter["trial"]["objective"], letter["best"]["objective"]),
                  ("told", {"x": 0.6}, 3.0, 2.0))
        tap.equal(letter["link"].startswith(server.http + "/#/studies/"), True)
    finally:
        server.close()
        receiver.close()


def only_what_was_asked_for_is_told():
    receiver = Receiver()
    server = prepare(hook(receiver, on=["study.ended"], studies="mine*"))
    try:
        for name in ("other", "mine-1"):
            study = make_study(server, name)
            add(server, study, 0.5, 2.0)
            api.send(server, "POST", "%s/studies/%s:stop" % (api.OURS, study),
                     {})
        harness.wait_until(receiver.taken, "a letter")
        tap.equal([(letter["event"], letter["study"]["name"])
                   for _, letter in receiver.taken()],
                  [("study.ended", "mine-1")])
    finally:
        server.close()
        receiver.close()


def what_was_not_taken_comes_again_and_after_a_restart():
    receiver = Receiver()
    receiver.answers = [500, 302]
    server = prepare(hook(receiver, on=["trial.ended"]))
    try:
        study = make_study(server, "again")
        add(server, study, 0.5, 2.0)
        harness.wait_until(lambda: receiver.letters, "the first attempt")
        server.stop()
        server.start()
        harness.wait_until(receiver.taken, "the third attempt")
        tap.equal([code for _, _, code, _ in receiver.letters],
                  [500, 302, 204])
        tap.equal(len({headers["X-Hypertune-Delivery"] for headers, _, _, _
                       in receiver.letters}), 1)
        # No redirect was followed.
        tap.equal({path for _, _, _, path in receiver.letters}, {"/hook"})
    finally:
        server.close()
        receiver.close()


def one_that_is_gone_is_given_up_with_an_event():
    receiver = Receiver()
    receiver.answers = [410]
    server = prepare(hook(receiver, on=["trial.ended"]))
    try:
        study = make_study(server, "gone")
        add(server, study, 0.5, 2.0)

        def warned():
            answer = api.ask(server, "GET", "%s/studies/%s/events"
                             % (api.OURS, study)).json()
            return [event["reason"] for event in answer["events"]
                    if event["kind"] == "study.warned"]
        reason = harness.wait_until(warned, "the event")[0]
        tap.equal("1 letter " in reason and "127.0.0.1" in reason and
                  "410" in reason, True, reason)
        tap.equal("/hook" in reason, False, "the URL is no secret any more")
    finally:
        server.close()
        receiver.close()


def a_place_that_is_not_public_gets_nothing():
    receiver = Receiver()
    server = prepare(hook(receiver, on=["trial.ended"]))
    try:
        port = receiver.url.rsplit(":", 1)[1]
        configure(server, {"url": "https://localhost:%s/" % port,
                           "on": ["trial.ended"]},
                  {"url": "https://127.0.0.1:%s/" % port,
                   "on": ["trial.ended"]})
        study = make_study(server, "inside")
        add(server, study, 0.5, 2.0)

        def failures():
            text = api.ask(server, "GET", "/metrics").body.decode()
            return int(text.split("\nhypertune_webhook_failures_total ")[1]
                       .split("\n")[0]) >= 2
        harness.wait_until(failures, "two refusals")
        tap.equal(receiver.letters, [])
    finally:
        server.close()
        receiver.close()


tap.run([
    each_event_is_told_and_signed,
    only_what_was_asked_for_is_told,
    what_was_not_taken_comes_again_and_after_a_restart,
    one_that_is_gone_is_given_up_with_an_event,
    a_place_that_is_not_public_gets_nothing,
])
