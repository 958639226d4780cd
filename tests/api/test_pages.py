"""The dashboard's files, how a browser logs in, and the table it draws from."""

import gzip
import json
import os
import re

import api
import harness
import tap

MOST_PACKED_BYTES = 160_000

server = None


def cookie_of(answer):
    """The Cookie line for what the answer sets."""
    return "Cookie: " + answer.headers["set-cookie"].split(";")[0]


def origin():
    return "Origin: " + server.http


def log_in(body):
    return api.send(server, "POST", api.OURS + "/login", body, origin(),
                    auth=None)


def invite():
    return api.send(server, "POST", api.OURS + "/login-links", {}).json()


def the_first_page_comes_with_a_strict_policy():
    answer = api.ask(server, "GET", "/", auth=None)
    tap.equal(answer.status, 200)
    tap.equal(answer.headers["content-type"], "text/html; charset=utf-8")
    policy = answer.headers["content-security-policy"]
    tap.lacks("unsafe", policy)
    for part in ("default-src 'none'", "script-src 'self'",
                 "frame-ancestors 'none'"):
        tap.contains(part, policy)
    text = answer.body.decode()
    tap.equal(re.findall(r"<script(?![^>]*src=)|\son\w+=|style=", text), [])


def every_file_of_the_page_is_served_packed_and_plain():
    text = api.ask(server, "GET", "/", auth=None).body.decode()
    names = re.findall(r'(?:src|href)="(/web/[^"]+)"', text)
    tap.contains("/web/main.js", names)
    for name in names:
        plain = api.ask(server, "GET", name, auth=None)
        packed = api.ask(server, "GET", name, "Accept-Encoding: gzip, br",
                         auth=None)
        tap.equal((plain.status, packed.status), (200, 200), name)
        tap.equal(packed.headers["content-encoding"], "gzip", name)
        tap.equal(gzip.decompress(packed.body), plain.body, name)
        again = api.ask(server, "GET", name, "If-None-Match: "
                        + plain.headers["etag"], auth=None)
        tap.equal((again.status, again.body), (304, b""), name)
    tap.equal(api.ask(server, "GET", "/web/none.js", auth=None).status, 404)
    tap.equal(api.ask(server, "GET", "/web/..%2Fmain.js", auth=None).status,
              404)


def our_own_code_is_small():
    """d3 is another 95 KB."""
    ours = sorted(name for name in os.listdir("tuner/web")
                  if not name.endswith(".sh"))
    tap.true("main.js" in ours and len(ours) > 20, ours)
    packed = sum(len(api.ask(server, "GET", "/web/" + name,
                             "Accept-Encoding: gzip", auth=None).body)
                 for name in ours)
    tap.true(packed < MOST_PACKED_BYTES, packed)


def a_link_logs_a_browser_in_once():
    link = invite()
    tap.equal(link["path"], "/#login=" + link["code"])
    answer = log_in({"code": link["code"]})
    tap.equal(answer.json(), {"auth": "token", "name": "admin",
                              "roles": ["admin", "submit", "read"]})
    line = answer.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
        tap.contains(part, line)
    cookie = cookie_of(answer)
    asked = api.ask(server, "GET", api.OURS + "/studies", cookie, auth=None)
    tap.equal(asked.status, 200)
    again = log_in({"code": link["code"]})
    tap.equal((again.status, "hypertune ui" in again.error()["message"]),
              (401, True))


def a_token_logs_a_browser_in_too():
    tap.equal(log_in({"token": api.token(server)}).status, 200)
    tap.equal(log_in({"token": "0" * 64}).status, 401)
    tap.equal(log_in({}).status, 401)
    tap.equal(log_in([]).status, 400)
    runner = log_in({"token": api.token(server, "runner-token")})
    asked = api.ask(server, "GET", api.OURS + "/studies", cookie_of(runner),
                    auth=None)
    tap.equal(asked.status, 403)


def a_session_changes_things_only_from_our_own_page():
    cookie = cookie_of(log_in({"code": invite()["code"]}))
    path = api.OURS + "/studies/none:pause"
    for lines, status in (((cookie, origin()), 404), ((cookie,), 403),
                          ((cookie, "Origin: http://evil.test"), 403)):
        answer = api.send(server, "POST", path, {}, *lines, auth=None)
        tap.equal(answer.status, status, lines)
    forged = cookie[:-1] + ("0" if cookie[-1] != "0" else "1")
    asked = api.ask(server, "GET", api.OURS + "/studies", forged, auth=None)
    tap.equal(asked.status, 401)


def leaving_takes_the_cookie_away():
    answer = api.send(server, "POST", api.OURS + "/logout", {}, auth=None)
    tap.contains("Max-Age=0", answer.headers["set-cookie"])


def a_session_outlives_the_server():
    cookie = cookie_of(log_in({"code": invite()["code"]}))
    server.stop()
    server.start()
    answer = api.ask(server, "GET", api.OURS + "/session", cookie, auth=None)
    tap.equal(answer.json()["roles"], ["admin", "submit", "read"])


def table(study, since=0):
    answer = api.ask(server, "GET", "%s/studies/%s/table?since=%d"
                     % (api.OURS, study, since))
    tap.equal(answer.status, 200, answer.body)
    return answer.json()


def make_study(name, parameters=None):
    spec = {"metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
            "algorithm": "RANDOM_SEARCH",
            "parameters": parameters or [
                {"parameterId": "x",
                 "doubleValueSpec": {"minValue": 0, "maxValue": 1}},
                {"parameterId": "kind",
                 "categoricalValueSpec": {"values": ["a", "b"]},
                 "conditionalParameterSpecs": [{
                     "parentCategoricalValues": {"values": ["b"]},
                     "parameterSpec": {
                         "parameterId": "deep",
                         "integerValueSpec": {"minValue": "1",
                                              "maxValue": "9"}}}]}]}
    made = api.send(server, "POST", api.STUDIES,
                    {"displayName": name, "studySpec": spec})
    tap.equal(made.status, 200, made.body)
    return made.json()["name"].rsplit("/", 1)[1]


def add(study, values, loss=None):
    body = {"parameters": [{"parameterId": key, "value": value}
                           for key, value in values.items()]}
    if loss is not None:
        body["finalMeasurement"] = {"stepCount": "3", "metrics": [
            {"metricId": "loss", "value": loss}]}
    made = api.send(server, "POST", "%s/%s/trials" % (api.STUDIES, study),
                    body)
    tap.equal(made.status, 200, made.body)
    return int(made.json()["id"])


def rows(answer):
    return {row[0]: dict(zip(answer["columns"], row))
            for row in answer["rows"]}


def a_table_tells_every_trial_in_one_shape():
    study = make_study("table")
    first = add(study, {"x": 0.25, "kind": "a"}, 0.5)
    second = add(study, {"x": 0.5, "kind": "b", "deep": 4})
    answer = table(study)
    tap.equal((answer["complete"], answer["parameters"], answer["metrics"]),
              (True, ["x", "kind", "deep"], ["loss"]))
    shown = rows(answer)
    tap.equal(shown[first]["parameters"], [0.25, "a", None])
    tap.equal(shown[second]["parameters"], [0.5, "b", 4])
    tap.equal([shown[first][key] for key in
               ("state", "objective", "step", "metrics", "attempts")],
              ["SUCCEEDED", 0.5, 3, [0.5], []])
    tap.equal([shown[second][key]
               for key in ("state", "objective", "metrics")],
              ["REQUESTED", None, [None]])


def a_table_tells_only_what_changed():
    study = make_study("changes")
    for i in range(4):
        add(study, {"x": i / 8, "kind": "a"}, i)
    before = table(study)
    tap.equal(len(before["rows"]), 4)
    nothing = table(study, before["revision"])
    tap.equal((nothing["complete"], nothing["rows"], nothing["deleted"]),
              (False, [], []))
    fifth = add(study, {"x": 1, "kind": "a"}, 9)
    path = "%s/%s/trials/2" % (api.STUDIES, study)
    tap.equal(api.ask(server, "DELETE", path).status, 200)
    after = table(study, before["revision"])
    tap.equal((list(rows(after)), after["deleted"]), ([fifth], [2]))
    ahead = table(study, after["revision"] + 5)
    tap.equal((ahead["complete"], sorted(rows(ahead))), (True, [1, 3, 4, 5]))
    wrong = api.ask(server, "GET", "%s/studies/%s/table?since=x"
                    % (api.OURS, study))
    tap.equal(wrong.status, 400)


def a_large_table_comes_whole():
    study = make_study("large", [
        {"parameterId": "n",
         "integerValueSpec": {"minValue": "1", "maxValue": "100000"}}])
    for i in range(1, 2501):
        add(study, {"n": i}, i)
    answer = table(study)
    tap.equal([row[0] for row in answer["rows"]], list(range(1, 2501)))
    tap.equal(json.dumps(answer["deleted"]), "[]")


with harness.Server("--runner", "none") as server:
    tap.run([
        the_first_page_comes_with_a_strict_policy,
        every_file_of_the_page_is_served_packed_and_plain,
        our_own_code_is_small,
        a_link_logs_a_browser_in_once,
        a_token_logs_a_browser_in_too,
        a_session_changes_things_only_from_our_own_page,
        leaving_takes_the_cookie_away,
        a_session_outlives_the_server,
        a_table_tells_every_trial_in_one_shape,
        a_table_tells_only_what_changed,
        a_large_table_comes_whole,
    ])
