"""Webhooks: what is sent, how it is signed, what becomes of deliveries that
nobody takes."""

import email
import hashlib
import hmac
import http.server
import json
import os
import socketserver
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

import api
import harness
import tap
import tree

SECRET = "the key"
EVENTS = ["study.ended", "study.paused", "trial.ended", "trial.failed",
          "best.improved"]


class Receiver:
    """An HTTP server that keeps deliveries and answers as ordered: by the codes
    in `answers`, then 204; `before` is called ahead of each answer."""

    def __init__(self, before=None):
        receiver = self
        self.deliveries = []
        self.answers = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                code = receiver.answers.pop(0) if receiver.answers else 204
                receiver.deliveries.append((dict(self.headers), body, code,
                                         self.path))
                if before is not None:
                    before()
                self.send_response(code)
                if code == 302:
                    self.send_header("Location", receiver.url + "/elsewhere")
                try:
                    self.end_headers()
                except OSError:
                    pass  # who asked was killed

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    def taken(self, event=None, study=None):
        found = []
        for headers, body, code, _ in list(self.deliveries):
            delivery = json.loads(body)
            if code == 204 and event in (None, delivery["event"]) and \
                    study in (None, delivery["study"]["name"]):
                found.append((headers, delivery))
        return found

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def write_file(server, name, text, mode=0o600):
    path = os.path.join(server.data, name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)
    os.rename(path + ".new", path)


def configure(server, *hooks):
    """Another webhooks.json, and waits until it is in force."""
    write_file(server, "webhooks.json", json.dumps(hooks))
    harness.wait_until(lambda: "webhooks=%d" % len(hooks)
                       in server.log_text(), "the file is read")


def prepare(*hooks):
    server = harness.Server("--runner", "none")
    os.mkdir(server.data, 0o700)
    write_file(server, "webhooks.json", json.dumps(hooks))
    server.start()
    harness.wait_until(lambda: "webhooks.begun" in server.log_text(),
                       "what happens from now on is sent")
    return server


def post_study(server, name, **ours):
    study = {"displayName": name, "hypertune": dict(ours, name=name),
             "studySpec": {"metrics": [{"metricId": "loss",
                                        "goal": "MINIMIZE"}],
                           "parameters": [{
                               "parameterId": "x",
                               "doubleValueSpec": {"minValue": 0,
                                                   "maxValue": 1}}]}}
    return api.send(server, "POST", api.STUDIES, study)


def make_study(server, name, **ours):
    answer = post_study(server, name, **ours)
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


def signature(headers, body, secret=SECRET):
    signed = headers["X-Hypertune-Timestamp"].encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed,
                                hashlib.sha256).hexdigest()


def standing(server, name):
    return {one["name"]: one for one
            in server.get("/hypertune/v1/server")["webhooks"]}.get(name)


def delivered(receiver):
    """Values of the objective by the deliveries' ids, as they came first; an
    attempt may have taken too long and come again."""
    return {headers["X-Hypertune-Delivery"]:
            json.loads(body)["trial"]["objective"]
            for headers, body, _, _ in list(receiver.deliveries)}


def losses(deliveries):
    """Values of the objective, as the deliveries of trials came."""
    return [delivery["trial"]["objective"] for _, delivery in deliveries]


def each_event_is_sent_and_signed():
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
        for headers, body, _, _ in receiver.deliveries:
            tap.equal(headers["X-Hypertune-Signature"],
                      signature(headers, body))
            tap.equal(headers["X-Hypertune-Event"], json.loads(body)["event"])
        ids = [headers["X-Hypertune-Delivery"] for headers, _, _, _
               in receiver.deliveries]
        tap.equal(len(set(ids)), len(ids))
        delivery = receiver.taken("trial.ended")[1][1]
        tap.equal((delivery["study"]["name"], delivery["trial"]["parameters"],
                   delivery["trial"]["objective"],
                   delivery["best"]["objective"]),
                  ("told", {"x": 0.6}, 3.0, 2.0))
        tap.starts(delivery["link"], server.http + "/#/studies/")
    finally:
        server.close()
        receiver.close()


def a_trial_without_a_result_has_failed():
    receiver = Receiver()
    server = prepare(hook(receiver))
    try:
        study = make_study(server, "failing")
        add(server, study, 0.5, 2.0)
        for i in range(2):
            api.send(server, "POST", "%s/studies/%s/trials" % (api.OURS, study),
                     {"parameters": [{"parameterId": "x", "value": i}],
                      "infeasibleReason": "out of range"})
        harness.wait_until(lambda: len(receiver.taken("trial.failed")) == 2,
                           "two failed trials")
        tap.equal([delivery["trial"]["state"] for _, delivery
                   in receiver.taken("trial.failed")], ["INFEASIBLE"] * 2)
        api.send(server, "POST", "%s/studies/%s:stop" % (api.OURS, study), {})
        harness.wait_until(lambda: receiver.taken("study.ended"), "the end")
        tap.equal(receiver.taken("study.ended")[0][1]["study"]["failures"],
                  {"words": "2 of 3 failed", "mostly": True,
                   "reason": "out of range"})
    finally:
        server.close()
        receiver.close()


def only_the_chosen_events_are_sent():
    receiver = Receiver()
    server = prepare(hook(receiver, on=["study.ended"], studies="mine*"))
    try:
        for name in ("other", "mine-1"):
            study = make_study(server, name)
            add(server, study, 0.5, 2.0)
            api.send(server, "POST", "%s/studies/%s:stop" % (api.OURS, study),
                     {})
        harness.wait_until(receiver.taken, "a delivery")
        tap.equal([(delivery["event"], delivery["study"]["name"])
                   for _, delivery in receiver.taken()],
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
        harness.wait_until(lambda: receiver.deliveries, "the first attempt")
        server.stop()
        server.start()
        harness.wait_until(receiver.taken, "the third attempt")
        tap.equal([code for _, _, code, _ in receiver.deliveries],
                  [500, 302, 204])
        tap.equal(len({headers["X-Hypertune-Delivery"] for headers, _, _, _
                       in receiver.deliveries}), 1)
        # No redirect was followed.
        tap.equal({path for _, _, _, path in receiver.deliveries}, {"/hook"})
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
        tap.contains("1 delivery ", reason)
        tap.contains("127.0.0.1", reason)
        tap.contains("410", reason)
        tap.lacks("/hook", reason, "the URL is no secret any more")
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
        tap.equal(receiver.deliveries, [])
    finally:
        server.close()
        receiver.close()


def a_receiver_that_hangs_delays_no_other_and_order_is_kept():
    go_on = threading.Event()
    slow = Receiver(before=lambda: go_on.wait(harness.PATIENCE))
    quick = Receiver()
    server = prepare(hook(slow, name="slow", on=["trial.ended"]),
                     hook(quick, name="quick", on=["trial.ended"]))
    try:
        study = make_study(server, "many")
        add(server, study, 0.1, 1.0)
        harness.wait_until(lambda: slow.deliveries, "one that hangs")
        for i in range(2, 8):
            add(server, study, i / 10, float(i))
        harness.wait_until(lambda: len(quick.taken()) == 7, "the others'")
        tap.equal(len(delivered(slow)), 1, "one is under way at a time")
        harness.wait_until(
            lambda: standing(server, "slow")["pending"] == 7, "its line")
        harness.wait_until(
            lambda: standing(server, "quick")["pending"] == 0, "an empty line")
        go_on.set()
        harness.wait_until(lambda: len(delivered(slow)) == 7, "the line")
        for receiver in (quick, slow):
            tap.equal(list(delivered(receiver).values()),
                      [float(i) for i in range(1, 8)])
    finally:
        go_on.set()
        server.close()
        slow.close()
        quick.close()


def what_failed_keeps_its_place_in_the_line():
    go_on = threading.Event()
    receiver = Receiver(before=lambda: len(receiver.deliveries) == 1 or
                        go_on.wait(harness.PATIENCE))
    receiver.answers = [500]
    server = prepare(hook(receiver, name="odd", on=["trial.ended"]))
    try:
        study = make_study(server, "order")
        for i in (1, 2, 3):
            add(server, study, i / 10, float(i))
        harness.wait_until(
            lambda: standing(server, "odd").get("lastError"), "the failure")
        failed = standing(server, "odd")
        tap.equal((failed["lastError"], failed["failures"],
                   failed["pending"]), ("answered 500", 1, 3))
        tap.lacks("lastSuccessTimeMs", failed)
        go_on.set()
        harness.wait_until(
            lambda: standing(server, "odd")["pending"] == 0, "no line")
        tap.equal(list(delivered(receiver).values()), [1.0, 2.0, 3.0])
        taken = standing(server, "odd")
        tap.equal(taken["failures"], 0)
        tap.true(taken["lastSuccessTimeMs"] >= taken["lastErrorTimeMs"] >=
                 failed["lastErrorTimeMs"], taken)
    finally:
        go_on.set()
        server.close()
        receiver.close()


def a_server_killed_before_the_delivery_loses_nothing():
    receiver = Receiver()
    receiver.answers = [500]
    server = prepare(hook(receiver, on=["trial.ended"]))
    try:
        study = make_study(server, "killed")
        for i in (1, 2, 3):
            add(server, study, i / 10, float(i))
        harness.wait_until(lambda: receiver.deliveries, "the first attempt")
        server.kill()
        server.start()
        harness.wait_until(lambda: len(receiver.taken()) == 3, "all three")
        tap.equal(losses(receiver.taken()), [1.0, 2.0, 3.0])
        ids = [headers["X-Hypertune-Delivery"] for headers, _, _, _
               in receiver.deliveries]
        tap.equal(ids[0], ids[1])
        tap.equal(len(set(ids)), 3)
    finally:
        server.close()
        receiver.close()


def a_server_killed_within_the_delivery_sends_the_same_delivery_again():
    kills = []

    def kill():
        if not kills:
            kills.append(server.process.pid)
            server.process.kill()
    receiver = Receiver(before=kill)
    server = prepare(hook(receiver, on=["trial.ended"]))
    try:
        study = make_study(server, "twice")
        add(server, study, 0.5, 2.0)
        harness.wait_until(lambda: kills, "the attempt")
        server.wait_death()
        server.start()
        harness.wait_until(lambda: len(receiver.deliveries) == 2, "the second")
        (first, body, _, _), (second, again, _, _) = receiver.deliveries
        tap.equal(first["X-Hypertune-Delivery"],
                  second["X-Hypertune-Delivery"])
        tap.equal(body, again)
        harness.wait_until(
            lambda: standing(server, "127.0.0.1")["pending"] == 0, "no more")
        tap.equal(len(receiver.deliveries), 2)
    finally:
        server.close()
        receiver.close()


def a_spec_names_who_tells_of_it():
    receiver, other = Receiver(), Receiver()
    server = prepare(hook(receiver, name="chat", named=True,
                          on=["study.ended", "trial.ended"]),
                     hook(other, name="pager"))
    try:
        answer = post_study(server, "wrong", notify=["chatt"])
        tap.equal(answer.status, 400)
        tap.equal(answer.error()["message"],
                  'hypertune.notify[0]: this server has no webhook "chatt"; '
                  'did you mean "chat"?')
        drafted = api.send(server, "POST", api.OURS + "/specs:check", {
            "text": "name: d\ngoal: minimize x\nparameters: {a: [1, 2]}\n"
                    "command: [\"true\"]\nworkdir: /\nnotify: chatt\n"})
        tap.equal([(one["severity"], one["path"], one["message"])
                   for one in drafted.json()["findings"]],
                  [("ERROR", "notify[0]",
                    'this server has no webhook "chatt"; '
                    'did you mean "chat"?')])
        named = make_study(server, "named", notify={
            "chat": ["trial.ended", "best.improved"]})
        quiet = make_study(server, "quiet", notify=[])
        usual = make_study(server, "usual")
        for study in (named, quiet, usual):
            add(server, study, 0.5, 2.0)
            api.send(server, "POST", "%s/studies/%s:stop" % (api.OURS, study),
                     {})
        harness.wait_until(lambda: other.taken("study.ended", "usual"),
                           "who named nobody")
        harness.wait_until(lambda: receiver.taken("trial.ended", "named"),
                           "who named one")
        tap.equal({delivery["study"]["name"] for _, delivery in other.taken()},
                  {"usual"})
        tap.equal([(delivery["event"], delivery["study"]["name"])
                   for _, delivery
                   in receiver.taken()], [("trial.ended", "named")])
        job = api.job("tuned")
        job["hypertune"]["notify"] = ["chat", "pager"]
        made = api.send(server, "POST", api.JOBS, job)
        tap.equal(made.status, 200, made.body)
        shown = api.ask(server, "GET", "/v1/" + made.json()["name"]).json()
        tap.equal(shown["hypertune"]["notify"], ["chat", "pager"])
        spec = api.ask(server, "GET", "%s/studies/%s/spec"
                       % (api.OURS, named)).json()["spec"]
        tap.equal(spec["notify"], {"chat": ["trial.ended", "best.improved"]})
        warned = [event["reason"] for event in api.ask(
            server, "GET", "%s/studies/%s/events" % (api.OURS, named)
        ).json()["events"] if event["kind"] == "study.warned"]
        tap.equal(warned, ["hypertune.notify.chat: chat never sends "
                           "best.improved"])
    finally:
        server.close()
        receiver.close()
        other.close()


def a_key_in_a_file_may_change_and_must_be_private():
    receiver = Receiver()
    server = harness.Server("--runner", "none")
    os.mkdir(server.data, 0o700)
    hooks = [hook(receiver, name="chat", on=["trial.ended"],
                  secretFile="hook.key")]
    del hooks[0]["secret"]
    write_file(server, "hook.key", "first\n")
    write_file(server, "webhooks.json", json.dumps(hooks))
    server.start()
    try:
        harness.wait_until(lambda: "webhooks.begun" in server.log_text(),
                           "the beginning")
        study = make_study(server, "signed")
        add(server, study, 0.1, 1.0)
        harness.wait_until(lambda: len(receiver.taken()) == 1, "a delivery")
        write_file(server, "hook.key", "other\n", mode=0o644)
        harness.wait_until(
            lambda: server.get("/hypertune/v1/server").get("webhooksError"),
            "the complaint")
        tap.equal(server.get("/hypertune/v1/server")["webhooksError"],
                  "line 1: [0].secretFile: hook.key is open to others, its "
                  "mode is 644: chmod 600")
        add(server, study, 0.2, 2.0)
        harness.wait_until(lambda: len(receiver.taken()) == 2,
                           "one under the old key")
        os.chmod(os.path.join(server.data, "hook.key"), 0o600)
        harness.wait_until(
            lambda: "webhooksError" not in server.get("/hypertune/v1/server"),
            "no complaint")
        add(server, study, 0.3, 3.0)
        harness.wait_until(lambda: len(receiver.taken()) == 3,
                           "one under the new key")
        for (headers, body, _, _), key in zip(receiver.deliveries,
                                              ("first", "first", "other")):
            tap.equal(headers["X-Hypertune-Signature"],
                      signature(headers, body, key))
    finally:
        server.close()
        receiver.close()


def doctor(server):
    """What `hypertune doctor` finds about webhooks, level and text."""
    ran = subprocess.run(
        [os.path.join(harness.bin_dir(), "hypertune"), "--server", server.http,
         "--token-file", server.token_file, "doctor", "-o", "json"],
        stdout=subprocess.PIPE, check=False, timeout=harness.PATIENCE,
        env=dict(os.environ, DOCKER_HOST="unix:///nonexistent/engine.sock"))
    return [(one["level"], one["text"]) for one in json.loads(ran.stdout)
            if one["subject"] == "webhook"]


def a_failing_webhook_is_shown_by_the_doctor():
    receiver = Receiver()
    server = prepare(hook(receiver, name="chat", on=["trial.ended"]),
                     {"name": "dead", "url": "http://127.0.0.1:1/",
                      "local": True, "on": ["trial.ended"]})
    try:
        study = make_study(server, "shown")
        add(server, study, 0.5, 2.0)
        harness.wait_until(lambda: standing(server, "chat")["pending"] == 0 and
                           standing(server, "dead")["failures"] > 0, "both")
        (good, taken), (bad, why) = doctor(server)
        tap.equal((good, bad), ("ok", "warn"))
        tap.starts(taken, "chat took a delivery ")
        tap.starts(why, "dead took no delivery yet, 1 waits; failed ")
        tap.true(why.endswith("ago: Couldn't connect to server"), why)
        metrics = api.ask(server, "GET", "/metrics").body.decode().split("\n")
        for line in ('hypertune_webhook_pending{webhook="chat"} 0',
                     'hypertune_webhook_pending{webhook="dead"} 1',
                     'hypertune_webhook_given_up_total{webhook="dead"} 0'):
            tap.contains(line, metrics)
        write_file(server, "webhooks.json", "[{}]")
        harness.wait_until(
            lambda: server.get("/hypertune/v1/server").get("webhooksError"),
            "the complaint")
        tap.equal(doctor(server)[0],
                  ("warn", "the earlier settings are in force: "
                   "line 1: [0].on: is missing: a list of events"))
    finally:
        server.close()
        receiver.close()


def bodies(receiver, path):
    return [json.loads(body) for _, body, code, at in receiver.deliveries
            if code == 204 and at == path]


def a_chat_gets_messages_in_its_own_form():
    receiver = Receiver()
    ends = ["trial.failed", "best.improved", "study.ended"]
    server = prepare(*(hook(receiver, name=name, format=name, on=ends,
                            url=receiver.url + "/" + name)
                       for name in ("slack", "teams")))
    try:
        study = make_study(server, "chatty")
        add(server, study, 0.5, 0.25)
        api.send(server, "POST", "%s/studies/%s/trials" % (api.OURS, study),
                 {"parameters": [{"parameterId": "x", "value": 1}],
                  "infeasibleReason": "<!channel> & [all](http://evil)"})
        api.send(server, "POST", "%s/studies/%s:stop" % (api.OURS, study), {})
        harness.wait_until(lambda: len(bodies(receiver, "/slack")) == 3 and
                           len(bodies(receiver, "/teams")) == 3, "all of it")
        link = server.http + "/#/studies/1"
        best = "chatty: trial 1 is the best so far, loss 0.25"
        failed = "chatty: trial 2 INFEASIBLE, %s"
        ended = ("chatty: STOPPED, stopped by user. "
                 "Best: trial 1, loss 0.25")
        tap.equal(bodies(receiver, "/slack"), [
            {"text": "%s <%s|Show it>" % (text, link)} for text in (
                best, failed % "&lt;!channel&gt; &amp; [all](http://evil)",
                ended)])
        tap.equal(bodies(receiver, "/teams"), [
            {"type": "message", "attachments": [{
                "contentType": "application/vnd.microsoft.card.adaptive",
                "content": {
                    "type": "AdaptiveCard", "version": "1.2",
                    "body": [{"type": "RichTextBlock", "inlines": [
                        {"type": "TextRun", "text": text}]}],
                    "actions": [{"type": "Action.OpenUrl",
                                 "title": "Show it", "url": link}]}}]}
            for text in (best, failed % "<!channel> & [all](http://evil)",
                         ended)])
    finally:
        server.close()
        receiver.close()


class MailServer(socketserver.StreamRequestHandler):
    """Takes mails; what it was sent is in `mails`."""
    mails = []

    def handle(self):
        self.say("220 here")
        while line := self.rfile.readline():
            word = line.split()[0].upper()
            if word == b"DATA":
                self.say("354 and now")
                self.mails.append(b"".join(iter(self.rfile.readline,
                                                b".\r\n")))
            self.say("221 bye" if word == b"QUIT" else "250 taken")

    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")


def the_example_sends_mails():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0),
                                         MailServer) as smtp, \
            tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=smtp.serve_forever, daemon=True).start()
        key = os.path.join(folder, "mail.key")
        with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "w",
                  encoding="ascii") as file:
            file.write(SECRET + "\n")
        program = subprocess.Popen(
            [sys.executable, tree.path("examples/mail/mail.py"),
             "--listen", "127.0.0.1:0", "--smtp",
             "127.0.0.1:%d" % smtp.server_address[1], "--from", "t@example.org",
             "--to", "team@example.org", "--secret-file", key],
            stdout=subprocess.PIPE, text=True)
        at = "http://" + program.stdout.readline().split()[-1]
        server = prepare({"name": "mail", "url": at, "local": True,
                          "secretFile": key, "on": ["study.ended"]})
        try:
            study = make_study(server, "mailed")
            add(server, study, 0.5, 0.25)
            api.send(server, "POST",
                     "%s/studies/%s:stop" % (api.OURS, study), {})
            harness.wait_until(lambda: MailServer.mails, "the mail")
            mail = email.message_from_bytes(MailServer.mails[0])
            tap.equal((mail["Subject"], mail["To"]),
                      ("hypertune: mailed, study.ended", "team@example.org"))
            for line in ("mailed: STOPPED", "Best: trial 1, SUCCEEDED",
                         "  loss: 0.25", "  x: 0.5",
                         server.http + "/#/studies/1"):
                tap.contains(line, mail.get_payload().splitlines())
            refusal = tap.raises(urllib.error.HTTPError,
                                 urllib.request.urlopen, at, b"{}",
                                 timeout=harness.PATIENCE)
            tap.equal(refusal.code, 403, "without a signature")
        finally:
            server.close()
            program.terminate()
            program.wait(harness.PATIENCE)
            smtp.shutdown()


tap.run([
    each_event_is_sent_and_signed,
             a_trial_without_a_result_has_failed,
    only_the_chosen_events_are_sent,
    what_was_not_taken_comes_again_and_after_a_restart,
    one_that_is_gone_is_given_up_with_an_event,
    a_place_that_is_not_public_gets_nothing,
    a_receiver_that_hangs_delays_no_other_and_order_is_kept,
    what_failed_keeps_its_place_in_the_line,
    a_server_killed_before_the_delivery_loses_nothing,
    a_server_killed_within_the_delivery_sends_the_same_delivery_again,
    a_spec_names_who_tells_of_it,
    a_key_in_a_file_may_change_and_must_be_private,
    a_failing_webhook_is_shown_by_the_doctor,
    a_chat_gets_messages_in_its_own_form,
    the_example_sends_mails,
])
