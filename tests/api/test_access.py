"""The gate on the wire: refusals, Host, Origin, kinds of bodies."""

import os
import subprocess

import api
import harness
import tap

PLACE = "the one in the file token of the server's data folder"

server = None


def only_health_and_the_dashboards_files_are_open():
    answer = api.ask(server, "GET", "/healthz", auth=None)
    tap.equal((answer.status, answer.json()), (200, {"status": "ok"}))
    for path in ("/web", "/nothing", "/v1", api.JOBS + "/x/y"):
        tap.equal(api.ask(server, "GET", path, auth=None).status, 401, path)
        tap.equal(api.ask(server, "GET", path).status, 404, path)


def a_refusal_says_how_to_come_in():
    answer = api.ask(server, "GET", api.JOBS, auth=None)
    tap.equal(answer.headers["www-authenticate"], "Bearer")
    tap.equal(answer.error(), {
        "code": 401, "status": "UNAUTHENTICATED",
        "message": "a token is needed, %s: Authorization: Bearer TOKEN" %
                   PLACE})
    for name, said in (("wrong", (401, "UNAUTHENTICATED", "is not valid here")),
                       (api.token(server, "runner-token"),
                        (403, "PERMISSION_DENIED", "may not do that"))):
        for method in ("GET", "POST"):
            answer = api.send(server, method, api.JOBS, {}, auth=name)
            error = answer.error()
            tap.equal((error["code"], error["status"], error["message"]),
                      said[:2] + ("this token %s: take %s" % (said[2], PLACE),))
            tap.equal(answer.status, said[0])


def a_token_is_a_header_and_nothing_else():
    """An address is kept where a token must not be: logs, histories."""
    token = api.token(server)
    for query in ("?access_token=", "?key=", "?oauth_token=", "?token="):
        tap.equal(api.ask(server, "GET", api.JOBS + query + token,
                          auth=None).status, 401, query)
    for line in ("X-Goog-Api-Key: " + token, "Cookie: token=" + token,
                 "Proxy-Authorization: Bearer " + token,
                 "X-Goog-Iam-Authorization-Token: " + token):
        tap.equal(api.ask(server, "GET", api.JOBS, line, auth=None).status,
                  401, line)


def what_else_googles_clients_send_has_no_effect():
    for line in ("X-Goog-User-Project: another", "X-Goog-Api-Client: gl-x/1",
                 "X-Goog-Request-Params: parent=elsewhere",
                 "X-Goog-FieldMask: name"):
        answer = api.ask(server, "GET", api.JOBS + "?alt=json&prettyPrint="
                         "false&%24alt=json%3Benum-encoding%3Dint", line)
        tap.equal((answer.status, answer.json()),
                  (200, {"hyperparameterTuningJobs": []}), line)


def another_host_is_misdirected():
    port = api.address(server)[1]
    for host in ("evil.test:%d" % port, "127.0.0.1", "127.0.0.1:1",
                 "localhost.evil.test:%d" % port, "0.0.0.0:%d" % port):
        for path in ("/healthz", api.JOBS):
            answer = api.ask(server, "GET", path, host=host)
            tap.equal((answer.status, answer.error()["status"]),
                      (421, "INVALID_ARGUMENT"), host)
    for host in ("localhost:%d", "[::1]:%d", "LOCALHOST:%d"):
        tap.equal(api.ask(server, "GET", "/healthz",
                          host=host % port).status, 200, host)


def exactly_one_host_is_needed():
    tap.equal(api.ask(server, "GET", "/healthz", host="").status, 400)
    host = "Host: " + server.http.split("//")[1]
    tap.equal(api.ask(server, "GET", "/healthz", host).status, 400)
    tap.equal(api.ask(server, "GET", "/healthz",
                      "Host: evil.test").status, 400)


def pages_of_others_are_refused():
    ours = server.http
    for origin in ("http://evil.test", "null", ours + ".evil.test",
                   ours.replace("http:", "https:"), "http://127.0.0.1:1"):
        tap.equal(api.ask(server, "GET", api.JOBS,
                          "Origin: " + origin).status, 403, origin)
    tap.equal(api.ask(server, "GET", api.JOBS, "Origin: " + ours).status, 200)


def forms_change_nothing():
    body = b'{"maxTrialCount":1}'
    for kind in ("text/plain", "application/x-www-form-urlencoded",
                 "multipart/form-data; boundary=x", "application/jsonx", ""):
        answer = api.send(server, "POST", api.JOBS, body,
                          "Content-Type: " + kind)
        tap.equal((answer.status, answer.error()["message"]),
                  (400, "changes need Content-Type: application/json"), kind)
    tap.equal(server.get(api.JOBS)["hyperparameterTuningJobs"], [])


def every_answer_is_json_that_is_not_cached():
    for answer in (api.ask(server, "GET", "/healthz"),
                   api.ask(server, "GET", "/nothing"),
                   api.ask(server, "GET", api.JOBS),
                   api.ask(server, "GET", api.JOBS, auth=None),
                   api.send(server, "POST", api.JOBS, {})):
        tap.equal(answer.headers["content-type"], "application/json")
        tap.equal(answer.headers["cache-control"], "no-store")
        tap.equal(answer.headers["x-content-type-options"], "nosniff")
        answer.json()


def tokens_are_in_no_log():
    text = server.log_text()
    for name in ("token", "runner-token"):
        if api.token(server, name) in text:
            raise AssertionError("%s is in the log" % name)


def without_a_token_only_loopback_is_served():
    program = os.path.join(harness.bin_dir(), "hypertuned")
    for listen in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
        done = subprocess.run(
            [program, "--data", os.path.join(server.folder, "open"),
             "--listen", listen, "--auth", "none"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=harness.PATIENCE)
        tap.equal(done.returncode, 2, listen)
        if b"--auth none is refused" not in done.stderr:
            raise AssertionError(done.stderr)
    with harness.Server("--runner", "none", "--auth", "none") as open_one:
        tap.equal(api.ask(open_one, "GET", api.JOBS, auth=None).status, 200)
        tap.equal(api.ask(open_one, "GET", api.JOBS, auth=None,
                          host="evil.test").status, 421)
        tap.equal(api.ask(open_one, "GET", api.JOBS, "Origin: http://evil.test",
                          auth=None).status, 403)
        tap.equal(api.send(open_one, "POST", api.JOBS, b"{}",
                           "Content-Type: text/plain", auth=None).status, 400)


with harness.Server("--runner", "none") as server:
    tap.run([
        only_health_and_the_dashboards_files_are_open,
        a_refusal_says_how_to_come_in,
        a_token_is_a_header_and_nothing_else,
        what_else_googles_clients_send_has_no_effect,
        another_host_is_misdirected,
        exactly_one_host_is_needed,
        pages_of_others_are_refused,
        forms_change_nothing,
        every_answer_is_json_that_is_not_cached,
        tokens_are_in_no_log,
        without_a_token_only_loopback_is_served,
    ])
