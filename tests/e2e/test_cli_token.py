"""`hypertune token`: a team's tokens from the shell, from the first day to the
last."""

import json
import os

import harness
import tap

server = None


def make(name, *options):
    """The file of a new token's secret."""
    done = server.cli("token", "create", name, *options)
    tap.equal(done.stdout.count("\n"), 1, done.stdout)
    tap.contains("token %s, role" % name, done.stderr)
    tap.lacks(done.stdout.strip(), done.stderr)
    return keep(name, done.stdout)


def keep(name, secret):
    path = os.path.join(server.folder, name + ".token")
    with open(path, "w", encoding="ascii") as file:
        os.chmod(path, 0o600)
        file.write(secret)
    return path


def refused(*words):
    done = server.cli(*words, check=False)
    return done.returncode, done.stderr


def state_of(name):
    tokens = json.loads(server.cli("token", "list", "-o", "json").stdout)
    found, = [token for token in tokens if token["name"] == name]
    tap.lacks("secret", found)
    return found


def a_new_token_opens_what_its_role_may():
    reads = make("eve", "--role", "read")
    server.cli("list", "--token-file", reads)
    submits = make("dan", "--role", "submit")
    for path in (reads, submits):
        tap.contains("this token may not do that",
                     refused("token", "list", "--token-file", path)[1])
    server.submit({"spec": 1, "name": "theirs", "goal": "minimize x",
                   "parameters": {"x": {"type": "integer", "min": 1,
                                        "max": 2}}, "trials": 1,
                   "command": ["sh", "-c", "hypertune report x=1"],
                   "args": "none"}, env={"HYPERTUNE_TOKEN_FILE": submits})
    code, text = refused("pause", "theirs", "--token-file", reads)
    tap.equal((code != 0, "may not do that" in text), (True, True), text)


def a_token_has_its_project_and_its_end():
    make("ci", "--role", "submit", "--project", "vision", "--expire", "720h")
    token = state_of("ci")
    tap.equal((token["role"], token["project"]), ("submit", "vision"))
    tap.equal("expireTime" in token, True)
    row, = [line for line in server.cli("token", "list").stdout.splitlines()
            if line.startswith("ci ")]
    tap.contains("vision", row)
    tap.contains("valid", row)


def a_rotated_token_has_two_secrets_for_a_while():
    first = make("bob", "--role", "read")
    second = keep("bob2", server.cli("token", "rotate", "bob").stdout)
    for path in (first, second):
        server.cli("list", "--token-file", path)
    third = keep("bob3", server.cli("token", "rotate", "bob", "--grace",
                                    "0s").stdout)
    server.cli("list", "--token-file", third)
    for path in (first, second):
        tap.equal(refused("list", "--token-file", path)[0] != 0, True)


def a_revoked_token_ends_and_a_deleted_ones_name_is_free():
    path = make("mallory", "--role", "submit")
    tap.contains("token mallory has ended",
                 server.cli("token", "revoke", "mallory").stderr)
    tap.contains("revoked", refused("list", "--token-file", path)[1])
    tap.contains("revoked", server.cli("token", "list").stdout)
    tap.contains('there is a token "mallory"',
                 refused("token", "create", "mallory", "--role", "read")[1])
    server.cli("token", "delete", "mallory")
    make("mallory", "--role", "read")


def scripts_get_json():
    made = json.loads(server.cli("token", "create", "robot", "--role", "read",
                                 "-o", "json").stdout)
    tap.equal(made["name"], "robot")
    server.cli("list", "--token-file", keep("robot", made["secret"]))
    names = server.cli("token", "list", "-o", "name").stdout.split()
    tap.contains("robot", names)


def what_is_wrong_is_said():
    for words, want in (
            (["create", "x"], (2, "needs --role")),
            (["create", "x", "--role", "king"], (2, '"king" is not admin')),
            (["create", "Admin", "--role", "read"], (2, 'name: "Admin"')),
            (["create", "x", "--role", "read", "--expire", "soon"],
             (2, 'expire: "soon"')),
            (["create", "x", "--role", "admin", "--project", "p"],
             (2, "project: only the roles")),
            (["rotate", "nobody"], (3, "there is no such token")),
            (["delete", "nobody"], (3, "there is no such token")),
            (["revoke"], (2, "usage: hypertune token")),
            (["list", "x"], (2, "usage: hypertune token")),
            (["burn", "x"], (2, "usage: hypertune token"))):
        code, text = refused("token", *words)
        tap.equal((code, want[1] in text), (want[0], True),
                  "%s: %s" % (words, text))


def a_link_shows_one_study_until_it_ends():
    server.submit({"spec": 1, "name": "shown", "goal": "minimize x",
                   "parameters": {"x": {"type": "integer", "min": 1,
                                        "max": 2}}, "trials": 1,
                   "command": ["sh", "-c", "hypertune report x=1"],
                   "args": "none"})
    done = server.cli("share", "shown")
    number = server.get("/hypertune/v1/studies/shown")["name"].split("/")[-1]
    url, _, rest = done.stdout.strip().partition("/#token=")
    secret, _, place = rest.partition("&to=")
    tap.equal((url, place, done.stdout.count("\n")),
              (server.http, "studies/" + number, 1))
    path = keep("shared", secret)
    server.cli("trials", "shown", "--token-file", path)
    tap.equal(refused("list", "--token-file", path)[0] != 0, True)
    name = done.stderr.split()[-1]
    tap.equal(state_of(name)["study"], number)
    server.cli("token", "revoke", name)
    tap.contains("was revoked",
                 refused("trials", "shown", "--token-file", path)[1])
    made = json.loads(server.cli("share", "shown", "--expire", "1h", "-o",
                                 "json").stdout)
    tap.equal(made["expireTime"], state_of(made["name"])["expireTime"])
    tap.contains("/#token=ht_h_", made["url"])


with harness.Server() as server:
    tap.run([a_new_token_opens_what_its_role_may,
             a_token_has_its_project_and_its_end,
             a_rotated_token_has_two_secrets_for_a_while,
             a_revoked_token_ends_and_a_deleted_ones_name_is_free,
             a_link_shows_one_study_until_it_ends,
             scripts_get_json, what_is_wrong_is_said])
