"""Named tokens: roles, projects, ends, rotation, and the runners they own."""

import concurrent.futures
import hashlib

import api
import fake_runner
import harness
import tap

TOKENS = api.OURS + "/tokens"
OTHER = api.JOBS.replace("/projects/", "/projects/other-")
server = None


def make(name, role, **more):
    answer = api.send(server, "POST", TOKENS,
                      dict(name=name, role=role, **more))
    tap.equal(answer.status, 200, answer.json())
    return answer.json()["secret"]


def status(method, path, auth, body=None):
    if method == "GET":
        return api.ask(server, method, path, auth=auth).status
    return api.send(server, method, path, body or {}, auth=auth).status


def message(path, auth):
    return api.ask(server, "GET", path, auth=auth).error()["message"]


def a_role_opens_its_routes_alone():
    secrets = {role: make("role-" + role, role)
               for role in ("admin", "submit", "read", "runner")}
    routes = [  # admin, submit, read, runner
        ("GET", api.JOBS, (200, 200, 200, 403)),
        ("POST", api.JOBS, (400, 400, 403, 403)),
        ("GET", api.OURS + "/studies", (200, 200, 200, 403)),
        ("POST", api.OURS + "/studies/none:stop", (404, 404, 403, 403)),
        ("GET", api.OURS + "/server", (200, 200, 200, 200)),
        ("GET", TOKENS, (200, 403, 403, 403)),
        ("POST", TOKENS, (400, 403, 403, 403)),
        ("POST", TOKENS + "/none:revoke", (404, 403, 403, 403)),
        ("POST", TOKENS + "/none:rotate", (404, 403, 403, 403)),
        ("DELETE", TOKENS + "/none", (404, 403, 403, 403)),
    ]
    for method, path, wanted in routes:
        got = tuple(status(method, path, secrets[role]) for role in secrets)
        tap.equal(got, wanted, method + " " + path)
    for method, path, _ in routes:
        tap.equal(status(method, path, secrets["admin"][:-1]), 401, path)


def a_secret_is_shown_once_and_never_stored():
    secret = make("once", "read", expire="720h")
    tap.equal((secret[:5], len(secret)), ("ht_r_", 69))
    listed = api.ask(server, "GET", TOKENS)
    row = [row for row in listed.json()["tokens"] if row["name"] == "once"][0]
    tap.equal((row["role"], row["createdBy"], "expireTime" in row,
               "secret" in row), ("read", "admin", True, False))
    for path in ("hypertune.db", "hypertune.db-wal"):
        with open("%s/%s" % (server.data, path), "rb") as file:
            tap.equal(secret[5:].encode() in file.read(), False, path)


def wrong_wishes_name_the_member():
    make("taken", "read")
    for wish, code, said in (
            ({"name": "taken", "role": "read"}, 409, "taken"),
            ({"name": "admin", "role": "read"}, 400, "name"),
            ({"name": "Up", "role": "read"}, 400, "name"),
            ({"role": "read"}, 400, "name"),
            ({"name": "x", "role": "root"}, 400, "role"),
            ({"name": "x", "role": "admin", "project": "p"}, 400, "project"),
            ({"name": "x", "role": "runner", "project": "p"}, 400, "project"),
            ({"name": "x", "role": "read", "expire": "soon"}, 400, "expire"),
            ({"name": "x", "role": "read", "expire": "2001-01-01T00:00:00Z"},
             400, "expire")):
        answer = api.send(server, "POST", TOKENS, wish)
        tap.equal(answer.status, code, wish)
        tap.contains(said, answer.error()["message"])


def an_ended_token_is_refused_with_the_reason():
    secret = make("brief", "read", expire="300ms")
    harness.wait_until(lambda: status("GET", api.JOBS, secret) == 401,
                       "the end of a token")
    tap.contains('"brief" expired at', message(api.JOBS, secret))
    secret = make("gone", "read")
    tap.equal(status("GET", api.JOBS, secret), 200)
    tap.equal(status("POST", TOKENS + "/gone:revoke", True), 200)
    tap.contains('"gone" was revoked at', message(api.JOBS, secret))
    tap.contains("is not valid here", message(api.JOBS, secret[:-1]))
    tap.equal(status("POST", TOKENS + "/gone:rotate", True), 400)
    tap.equal(status("DELETE", TOKENS + "/gone", True), 200)
    tap.contains("is not valid here", message(api.JOBS, secret))


def a_rotation_leaves_the_old_secret_its_time():
    old = make("turn", "read")
    turned = api.send(server, "POST", TOKENS + "/turn:rotate", {})
    new = turned.json()["secret"]
    tap.equal([status("GET", api.JOBS, secret) for secret in (old, new)],
              [200, 200])
    last = api.send(server, "POST", TOKENS + "/turn:rotate",
                    {"grace": "0s"}).json()["secret"]
    tap.equal([status("GET", api.JOBS, secret)
               for secret in (old, new, last)], [401, 401, 200])
    tap.contains("since it was rotated", message(api.JOBS, new))


def a_project_is_all_that_there_is():
    tap.equal(api.send(server, "POST", api.JOBS, api.job("mine")).status, 200)
    tap.equal(api.send(server, "POST", OTHER, api.job("theirs")).status, 200)
    found = api.ask(server, "GET", api.OURS + "/studies").json()["studies"]
    numbers = {row["displayName"]: row["name"].rsplit("/", 1)[1]
               for row in found if row.get("displayName")}
    project = api.JOBS.split("/")[3]
    secret = make("scoped", "submit", project=project)
    for method, path, wanted in (
            ("GET", api.JOBS, 200),
            ("GET", OTHER, 404),
            ("POST", OTHER, 404),
            ("GET", api.OURS + "/studies/" + numbers["mine"], 200),
            ("GET", api.OURS + "/studies/" + numbers["theirs"], 404),
            ("GET", api.OURS + "/studies/%s/events" % numbers["theirs"], 404),
            ("POST", api.OURS + "/studies/%s:stop" % numbers["theirs"], 404),
            ("DELETE", api.OURS + "/studies/" + numbers["theirs"], 404),
            ("GET", api.OURS + "/runners", 403),
            ("GET", api.OURS + "/server", 403),
            ("GET", api.OURS + "/session", 200),
            ("POST", api.OURS + "/login-links", 200),
            ("GET", "/metrics", 403),
            ("POST", "/v2/entries:list", 403)):
        tap.equal(status(method, path, secret), wanted, method + " " + path)
    seen = api.ask(server, "GET", api.OURS + "/studies",
                   auth=secret).json()["studies"]
    tap.equal([row["name"].rsplit("/", 1)[1] for row in seen],
              [numbers["mine"]])


def a_change_names_the_token_that_made_it():
    """Each event that a request brings about at once; others are the core's."""
    secret = make("changer", "submit")
    made = api.send(server, "POST", api.STUDIES, {
        "displayName": "changed", "studySpec": api.JOB["studySpec"]})
    study = api.OURS + "/studies/" + made.json()["name"].rsplit("/", 1)[1]
    result = {"finalMeasurement": {"metrics": [{"metricId": "accuracy",
                                                "value": 0.5}]}}
    seen = 0
    for method, path, body, kind in (
            ("POST", "/trials", {"parameters": [
                {"parameterId": "lr", "value": 0.5}]}, "trial.created"),
            ("POST", "/trials/1:complete", result, "trial.moved"),
            ("POST", "/trials:suggest", {"suggestionCount": 1,
                                         "clientId": "me"}, "trial.created"),
            ("POST", "/trials/2:stop", {}, "trial.moved"),
            ("DELETE", "/trials/1", {}, "trial.deleted"),
            ("POST", ":pause", {}, "study.moved"),
            ("POST", ":resume", {}, "study.moved"),
            ("POST", ":stop", {}, "study.moved")):
        base = ("/v1/" + made.json()["name"] if path.startswith("/trials")
                else study)
        answer = api.send(server, method, base + path, body, auth=secret)
        tap.equal(answer.status, 200, (path, answer.body))
        events = harness.wait_until(lambda: [
            event for event in api.ask(
                server, "GET", "%s/events?since=%d" % (study, seen)).json()[
                    "events"] if event["kind"] == kind], path)
        tap.equal(events[0]["actor"], "changer", path)
        seen = api.ask(server, "GET", study + "/events").json()["revision"]


def hash_of(secret):
    return hashlib.sha256(secret.encode()).hexdigest()


def join(auth, body):
    return api.send(server, "POST", api.OURS + "/runners:join", body, auth=auth)


def row_of(name):
    return [row for row in api.ask(server, "GET", TOKENS).json()["tokens"]
            if row["name"] == name][0]


def a_join_token_becomes_the_token_of_one_runner():
    secret, own = make("box", "join"), "ht_n_" + 64 * "a"
    tap.equal((secret[:5], "expireTime" in row_of("box")), ("ht_j_", True))
    for path in (api.JOBS, api.OURS + "/server", TOKENS):
        tap.equal(status("GET", path, secret), 403, path)
    tap.contains("denied", refusal(name="box", token=secret))
    for body in ({}, {"hash": "ab"}, {"hash": 64 * "A"}, {"hash": 65 * "a"},
                 {"hash": hash_of(own), "role": "admin"},
                 {"hash": hash_of(secret)}):
        tap.equal(join(secret, body).status, 400, body)
    answer = join(secret, {"hash": hash_of(own)})
    tap.equal((answer.status, answer.json()["role"], "secret" in answer.json()),
              (200, "runner", False))
    row = row_of("box")
    tap.equal((row["role"], row["createdBy"], "expireTime" in row),
              ("runner", "admin", False))
    tap.equal(refusal(name="box", token=own), "")
    tap.equal(status("GET", api.OURS + "/server", own), 200)
    again = join(secret, {"hash": hash_of(own + "b")})
    tap.equal(again.status, 401)
    tap.contains("used to join", again.error()["message"])
    tap.equal(join(own, {"hash": hash_of(own + "b")}).status, 403)


def one_of_many_who_join_at_once_gets_in():
    secret = make("race", "join")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        got = list(pool.map(
            lambda i: join(secret, {"hash": hash_of(str(i))}).status, range(8)))
    tap.equal(got.count(200), 1, got)
    assert set(got) <= {200, 400, 401, 403}, got


def a_join_token_ends_unused():
    secret = make("late", "join", expire="50ms")
    harness.wait_until(
        lambda: status("GET", api.JOBS, secret) == 401, "its end")
    tap.equal(join(secret, {"hash": hash_of("x")}).status, 401)
    tap.equal(row_of("late")["role"], "join")
    revoked = make("never", "join")
    api.send(server, "POST", TOKENS + "/never:revoke", {})
    tap.equal(join(revoked, {"hash": hash_of("x")}).status, 401)


def refusal(**options):
    try:
        with fake_runner.Runner(server, **options):
            return ""
    except AssertionError as error:
        return str(error)


def a_runner_belongs_to_its_token():
    first, second = make("gpu-1", "runner"), make("gpu-2", "runner")
    with fake_runner.Runner(server, name="one", token=first) as one:
        one.tell("heartbeat", attempts=[])
        for options in ({"token": second}, {}, {"token": make("no", "admin")}):
            tap.contains("denied", refusal(name="one", **options))
        tap.contains("denied", refusal(name="two", token=first))
        one.tell("heartbeat", attempts=[])
    with fake_runner.Runner(server, name="shared"):
        tap.contains("denied", refusal(name="shared", token=second))
    tap.equal(refusal(name="two", token=second), "")
    with fake_runner.Runner(server, name="one", token=first) as one:
        tap.equal(status("POST", TOKENS + "/gpu-1:revoke", True), 200)
        try:
            one.tell("heartbeat", attempts=[])
            raise ValueError("a revoked token was taken")
        except AssertionError as error:
            tap.contains("denied", str(error))
    tap.contains("denied", refusal(name="one"))


with harness.Server("--runner", "none") as server:
    tap.run([
        a_role_opens_its_routes_alone,
        a_secret_is_shown_once_and_never_stored,
        wrong_wishes_name_the_member,
        an_ended_token_is_refused_with_the_reason,
        a_rotation_leaves_the_old_secret_its_time,
        a_project_is_all_that_there_is,
        a_change_names_the_token_that_made_it,
        a_runner_belongs_to_its_token,
        a_join_token_becomes_the_token_of_one_runner,
        one_of_many_who_join_at_once_gets_in,
        a_join_token_ends_unused,
    ])
