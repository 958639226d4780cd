"""Sessions of browsers: what the token that opened one may do, for as long as
that token may do it, until the session is left."""


import api
import harness
import pages
import tap

LOGIN, LOGOUT = api.OURS + "/login", api.OURS + "/logout"
STUDIES = api.OURS + "/studies"
TOKENS = api.OURS + "/tokens"
server = None


def origin():
    return "Origin: http://%s:%d" % api.address(server)


def make(name, role, **more):
    answer = api.send(server, "POST", TOKENS,
                      dict(name=name, role=role, **more))
    tap.equal(answer.status, 200, answer.json())
    return answer.json()["secret"]


def log_in(**body):
    """The cookie of a new session."""
    answer = api.send(server, "POST", LOGIN, body, origin(), auth=None)
    tap.equal(answer.status, 200, answer.json())
    return "Cookie: " + answer.headers["set-cookie"].split(";")[0]


def read(cookie, path=STUDIES):
    return api.ask(server, "GET", path, cookie, auth=None)


def change(cookie, path):
    return api.send(server, "POST", path, {}, cookie, origin(),
                    auth=None).status


def leave(cookie):
    return api.send(server, "POST", LOGOUT, {}, cookie, origin(), auth=None)


def a_session_opens_what_its_token_opens():
    cookies = {role: log_in(token=make("role-" + role, role))
               for role in ("admin", "submit", "read", "runner")}
    for path, wanted in ((STUDIES, (200, 200, 200, 403)),
                         (TOKENS, (200, 403, 403, 403))):
        tap.equal(tuple(read(cookie, path).status
                        for cookie in cookies.values()), wanted, path)
    tap.equal([change(cookie, STUDIES + "/none:stop")
               for cookie in cookies.values()], [404, 404, 403, 403])
    tap.equal(read(cookies["read"], api.OURS + "/session").json(),
              {"auth": "token", "roles": ["read"], "name": "role-read"})


def a_session_has_its_tokens_project():
    project = api.JOBS.split("/")[3]
    secret = make("scoped", "submit", project=project)
    for name, jobs in (("mine", api.JOBS),
                       ("theirs", api.JOBS.replace("/projects/",
                                                   "/projects/other-"))):
        tap.equal(api.send(server, "POST", jobs, api.job(name)).status, 200)
    cookie = log_in(token=secret)
    seen = read(cookie).json()["studies"]
    tap.equal([row["displayName"] for row in seen], ["mine"])
    tap.equal(read(cookie, api.OURS + "/session").json()["project"], project)


def a_link_opens_what_its_maker_may():
    secret = make("guide", "read")
    made = api.send(server, "POST", api.OURS + "/login-links", {}, auth=secret)
    cookie = log_in(code=made.json()["code"])
    tap.equal((read(cookie).status, read(cookie, TOKENS).status), (200, 403))
    tap.equal(read(cookie, api.OURS + "/session").json()["name"], "guide")


def a_link_is_worth_nothing_when_its_maker_has_ended():
    secret = make("gone", "read")
    made = api.send(server, "POST", api.OURS + "/login-links", {}, auth=secret)
    api.send(server, "POST", TOKENS + "/gone:revoke", {})
    answer = api.send(server, "POST", LOGIN, {"code": made.json()["code"]},
                      origin(), auth=None)
    tap.equal((answer.status, "set-cookie" in answer.headers), (401, False))


def a_session_ends_with_its_token():
    for name, body, path in (("off", {}, TOKENS + "/off:revoke"),
                             ("turn", {"grace": "0s"},
                              TOKENS + "/turn:rotate")):
        cookie = log_in(token=make(name, "read"))
        tap.equal(read(cookie).status, 200, name)
        tap.equal(api.send(server, "POST", path, body).status, 200)
        answer = read(cookie)
        tap.equal(answer.status, 401, name)
        tap.contains('"%s"' % name, answer.error()["message"])
    kept = log_in(token=make("kept", "read"))
    tap.equal(api.send(server, "POST", TOKENS + "/kept:rotate", {}).status, 200)
    tap.equal(read(kept).status, 200, "its secret is valid for a day more")
    api.send(server, "DELETE", TOKENS + "/kept", {})
    tap.equal(read(kept).status, 401)


def who_leaves_ends_every_copy_of_the_cookie():
    cookie, other = log_in(token=api.token(server)), log_in(
        token=api.token(server))
    answer = leave(cookie)
    tap.equal(answer.status, 200)
    tap.contains("Max-Age=0", answer.headers["set-cookie"])
    tap.equal([read(one).status for one in (cookie, other)], [401, 200])
    tap.equal(leave(cookie).status, 200, "again")
    server.kill()
    server.start()
    tap.equal([read(one).status for one in (cookie, other)], [401, 200])


def a_page_of_another_host_ends_no_session():
    cookie = log_in(token=api.token(server))
    answer = api.send(server, "POST", LOGOUT, {}, cookie,
                      "Origin: http://evil.test", auth=None)
    tap.equal((answer.status, read(cookie).status), (403, 200))


def the_audit_log_names_who_left():
    leave(log_in(token=make("leaver", "read")))
    lines = api.ask(server, "GET", api.OURS + "/audit?principal=leaver") \
        .json()["lines"]
    tap.equal([line["action"].rsplit("/", 1)[1] for line in lines],
              ["login", "logout"])
    before = len(api.ask(server, "GET", api.OURS + "/audit").json()["lines"])
    leave("Cookie: none=1")
    tap.equal(len(api.ask(server, "GET", api.OURS + "/audit").json()["lines"]),
              before, "a stranger leaves nothing")


def sessions_that_were_left_have_a_bound():
    cookie = log_in(token=api.token(server))
    server.stop()
    with pages.changing(server.data + "/hypertune.db") as rows:
        rows.executemany("INSERT INTO left_sessions VALUES(?, ?)",
                         ((i, 1 << 40 if i < 10001 else 1)
                          for i in range(1, 10020)))
    server.start()
    answer = leave(cookie)
    tap.equal((answer.status, read(cookie).status), (429, 200))
    tap.contains("rotate the token", answer.error()["message"])
    server.stop()
    with pages.changing(server.data + "/hypertune.db") as rows:
        rows.execute("DELETE FROM left_sessions WHERE id<100")
        tap.equal(rows.execute("SELECT count(*) FROM left_sessions "
                               "WHERE until_s=1").fetchone(),
                  (19,), "a refused change is rolled back")
    server.start()
    tap.equal((leave(cookie).status, read(cookie).status), (200, 401))


with harness.Server("--runner", "none") as server:
    tap.run([
        a_session_opens_what_its_token_opens,
        a_session_has_its_tokens_project,
        a_link_opens_what_its_maker_may,
        a_link_is_worth_nothing_when_its_maker_has_ended,
        a_session_ends_with_its_token,
        who_leaves_ends_every_copy_of_the_cookie,
        a_page_of_another_host_ends_no_session,
        the_audit_log_names_who_left,
        sessions_that_were_left_have_a_bound,
    ])
