"""Every HTTP route with every kind of credential: who gets past the gate."""

import os
import subprocess
import sys

import api
import harness
import tap

TOOL = os.path.join(os.path.dirname(sys.argv[1]), "tests/tools/routes")
TOKENS = api.OURS + "/tokens"
PARTS = {"{project}": "local", "{location}": "local", "{study}": "none",
         "{trial}": "1", "{operation}": "1", "{token}": "none",
         "{file}": "none", "{runner}": "none"}
OPEN = ("GET /healthz", "GET /", "GET /web/{file}",
        "POST /hypertune/v1/login", "POST /hypertune/v1/logout")
ADMINS = ("/hypertune/v1/audit", "/hypertune/v1/backups",
          "/hypertune/v1/runners/", TOKENS)
# Of these each project has its own.
ALL_HAVE = tuple("/hypertune/v1/" + name for name in (
    "studies", "session", "login-links", "events"))
OF_STUDY = "/hypertune/v1/studies/{study}"
# What the token of one study may ask.
SHARED = ("/hypertune/v1/session", "/hypertune/v1/events", OF_STUDY) + tuple(
    OF_STUDY + part for part in (
        "/trials", "/trials/{trial}", "/confirmation", "/table", "/best",
        "/importances", "/health", "/slice", "/preview", "/measurements",
        "/curves"))
# Code and checkpoints, for who submits and for runners.
KEPT = "/hypertune/v1/projects/{project}/"
# What is asked by POST and changes nothing.
QUESTIONS = (":lookup", ":listOptimalTrials", "/entries:list", "/specs:check",
             ":wait", "/login-links")

server = None
routes = [tuple(line.split()) for line in subprocess.run(
    [TOOL], check=True, stdout=subprocess.PIPE,
    encoding="ascii").stdout.splitlines()]


def needed(method, pattern):
    """The least role; a read is a GET or a question, a change needs submit."""
    if method + " " + pattern in OPEN:
        return "open"
    if pattern.startswith(ADMINS) or (
            method == "PATCH" and "/v1/projects/" in pattern and
            pattern.startswith("/hypertune")):
        return "admin"
    if pattern.endswith("/runners:join"):
        return "join"
    if pattern.startswith(KEPT):
        return "submit"
    return ("read" if method == "GET" or pattern.endswith(QUESTIONS)
            else "submit")


def may(role, method, pattern):
    needs = needed(method, pattern)
    if role == "runner":
        return (needs == "open" or pattern == "/hypertune/v1/server" or
                pattern.startswith(KEPT))
    if "join" in (role, needs):
        return needs == "open" or role == needs
    ranks = ("open", "read", "submit", "admin")
    return ranks.index(needs) <= ranks.index(role)


def path_of(pattern, **parts):
    for part, value in dict(PARTS, **parts).items():
        pattern = pattern.replace(part, value)
    return pattern


def status(method, path, auth):
    if method == "GET":
        return api.ask(server, method, path, auth=auth).status
    return api.send(server, method, path, {}, auth=auth).status


def make(name, role, **more):
    answer = api.send(server, "POST", TOKENS,
                      dict(name=name, role=role, **more))
    tap.equal(answer.status, 200, answer.json())
    return answer.json()["secret"]


def who_may(role, auth):
    for method, pattern in routes:
        got = status(method, path_of(pattern), auth)
        what = "%s %s as %s: %d" % (method, pattern, role, got)
        if pattern.endswith("/login"):
            continue  # its token is in the body
        if may(role, method, pattern):
            assert got not in (401, 403, 421) and got < 500, what
        else:
            tap.equal(got, 403, what)


def the_table_is_whole():
    assert len(routes) > 100, len(routes)
    for line in OPEN:
        assert tuple(line.split()) in routes, line
    for suffix in ADMINS + QUESTIONS:
        assert any(suffix in pattern for _, pattern in routes), suffix


def a_role_gets_its_routes_alone():
    for role in ("admin", "submit", "read", "runner", "join"):
        who_may(role, make("is-" + role, role))


def the_tokens_of_the_data_folder_are_admin_and_runner():
    who_may("admin", api.token(server))
    who_may("runner", api.token(server, "runner-token"))


def what_is_no_valid_token_gets_401():
    brief = make("brief", "admin", expire="100ms")
    revoked, deleted = make("revoked", "admin"), make("deleted", "admin")
    turned = make("turned", "admin")
    for method, path, body in (("POST", "/revoked:revoke", {}),
                               ("DELETE", "/deleted", {}),
                               ("POST", "/turned:rotate", {"grace": "0s"})):
        tap.equal(api.send(server, method, TOKENS + path, body).status, 200)
    harness.wait_until(lambda: status("GET", api.JOBS, brief) == 401,
                       "the end of a token")
    admin = api.token(server)
    for auth in (None, "", "wrong", 64 * "0", admin[:-1], admin + "0", brief,
                 revoked, deleted, turned, "ht_a_" + 64 * "0"):
        for method, pattern in routes:
            got = status(method, path_of(pattern), auth)
            what = "%s %s with %s: %d" % (method, pattern, auth, got)
            if needed(method, pattern) == "open":
                assert got not in (403, 421) and got < 500, what
            else:
                tap.equal(got, 401, what)


def a_token_of_a_project_has_no_other():
    """Nothing of another one, and nothing that shows several."""
    for role in ("submit", "read"):
        secret = make("scoped-" + role, role, project="mine")
        for method, pattern in routes:
            if needed(method, pattern) == "open":
                continue
            there = status(method, path_of(pattern), secret)
            what = "%s %s of another as %s: %d" % (method, pattern, role, there)
            shown = pattern in ALL_HAVE and there < 401
            assert there in (403, 404) or shown or (
                "/hypertune/v1/studies" in pattern and there == 400), what
            if "{project}" in pattern:
                here = status(method, path_of(pattern, **{"{project}": "mine"}),
                              secret)
                tap.equal(here == 403, not may(role, method, pattern),
                          "%s %s as %s: %d" % (method, pattern, role, here))


def a_share_has_its_study_and_nothing_else():
    """By number and by name; of another study not even that there is one."""
    for name in ("mine", "theirs"):
        tap.equal(api.send(server, "POST", api.JOBS, api.job(name)).status, 200)
    secret = make("seen", "share", study="mine")
    number = api.ask(server, "GET", api.OURS + "/studies/mine").json()[
        "name"].rsplit("/", 1)[1]
    for method, pattern in routes:
        opens = method == "GET" and pattern in SHARED
        for key in ("mine", number, "theirs", "none"):
            if needed(method, pattern) == "open":
                continue
            path = path_of(pattern, **{"{study}": key})
            got = status(method, path, secret)
            what = "%s %s of a share: %d" % (method, path, got)
            if not opens:
                tap.equal(got, 403, what)
            elif pattern.startswith(OF_STUDY) and key in ("theirs", "none"):
                tap.equal(got, 404, what)
            else:
                assert got == 200 or got == 400 or (
                    pattern.endswith(("/best", "/confirmation", "{trial}"))
                    and got == 404), what
    harness.wait_until(lambda: api.ask(server, "GET", api.OURS + (
        "/studies/mine/trials")).json()["trials"], "a trial")
    for path in SHARED[2:5]:
        path = path_of(path, **{"{study}": "mine"})
        tap.equal(status("GET", path, secret), 200, path)


with harness.Server("--runner", "none") as server:
    tap.run([
        the_table_is_whole,
        a_role_gets_its_routes_alone,
        the_tokens_of_the_data_folder_are_admin_and_runner,
        what_is_no_valid_token_gets_401,
        a_token_of_a_project_has_no_other,
        a_share_has_its_study_and_nothing_else,
    ])
