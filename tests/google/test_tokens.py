"""Tokens on their way here from Google's own clients: gcloud's file, and the
credentials of google-auth as the Cloud SDK brings it."""

import importlib
import os
import sys

import gcloud
import harness
import tap

PLACE = "the one in the file token of the server's data folder"
LIST = ("ai-platform", "jobs", "list")
JOBS = "/v1/projects/demo-proj/jobs"

server = None


def say(environment):
    """What a command says in an environment that is ours but for this."""
    with gcloud.Gcloud(gcloud.to_server(server)) as sdk:
        sdk.environment.update(environment)
        for name in [one for one in environment if environment[one] is None]:
            del sdk.environment[name]
        return sdk.run(*LIST)


def need_gcloud():
    if gcloud.PROGRAM is None:
        raise tap.Skip(gcloud.ABSENT)


def library(name):
    """A module of the Cloud SDK's own."""
    need_gcloud()
    root = os.path.dirname(os.path.dirname(os.path.realpath(gcloud.PROGRAM)))
    folder = os.path.join(root, "lib", "third_party")
    if not os.path.isdir(os.path.join(folder, "google", "auth")):
        raise tap.Skip("the Cloud SDK has no google-auth")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


def ask(credentials, where):
    """GET of AI Platform's jobs, by whom the credentials say."""
    requests = library("google.auth.transport.requests")
    with requests.AuthorizedSession(credentials) as session:
        session.trust_env = False  # no proxy
        return session.get(where.http + JOBS, timeout=harness.PATIENCE)


def token(name="token"):
    with open(os.path.join(server.data, name), encoding="ascii") as file:
        return file.read()


# --- gcloud ---

def gcloud_takes_the_token_file_as_it_is():
    need_gcloud()
    tap.equal(token()[-1], "\n")
    done = say({"CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": server.token_file,
                "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": None})
    tap.equal((done.good().code, "Listed 0 items" in done.err), (0, True), done)


def gcloud_shows_what_to_do_about_a_wrong_token():
    need_gcloud()
    path = os.path.join(server.folder, "wrong")
    with open(path, "w", encoding="ascii") as file:
        file.write("0" * 64 + "\n")
    say({"CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": path,
         "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": None}).refused(
             "UNAUTHENTICATED", "this token is not valid here: take " + PLACE)


def gcloud_shows_what_a_token_of_a_runner_may_not_do():
    need_gcloud()
    path = os.path.join(server.data, "runner-token")
    say({"CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": path,
         "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": None}).refused(
             "does not have permission", "this token may not do that: take " + PLACE)


def gcloud_without_credentials_shows_that_one_is_needed():
    need_gcloud()
    say({"CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": None,
         "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "1"}).refused(
             "UNAUTHENTICATED", "a token is needed, " + PLACE)


def gcloud_without_credentials_is_served_where_none_are_wanted():
    need_gcloud()
    with harness.Server("--runner", "none", "--auth", "none") as open_one, \
            gcloud.Gcloud(gcloud.to_server(open_one)) as sdk:
        sdk.environment.pop("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", None)
        sdk.environment["CLOUDSDK_AUTH_DISABLE_CREDENTIALS"] = "1"
        sdk.run(*LIST).good()


# --- google-auth ---

def a_static_token_comes_in():
    oauth = library("google.oauth2.credentials")
    answer = ask(oauth.Credentials(token=token().strip()), server)
    tap.equal((answer.status_code, answer.json()), (200, {"jobs": []}), answer.text)
    answer = ask(oauth.Credentials(token=token().strip(),
                                   quota_project_id="other"), server)
    tap.equal((answer.status_code, answer.json()), (200, {"jobs": []}), answer.text)


def refuses(credentials, error):
    """The library answers 401 by asking for a new token, which it cannot."""
    errors = library("google.auth.exceptions")
    try:
        answer = ask(credentials, server)
    except getattr(errors, error):
        return
    raise AssertionError("served: %s" % answer.text)


def a_wrong_static_token_does_not():
    oauth = library("google.oauth2.credentials")
    refuses(oauth.Credentials(token="0" * 64), "RefreshError")


def empty_credentials_come_in_where_none_are_wanted():
    auth = library("google.auth.credentials")
    refuses(auth.AnonymousCredentials(), "InvalidOperation")
    with harness.Server("--runner", "none", "--auth", "none") as open_one:
        answer = ask(auth.AnonymousCredentials(), open_one)
        tap.equal((answer.status_code, answer.json()),
                  (200, {"jobs": []}), answer.text)


with harness.Server("--runner", "none") as server:
    tap.run([
        gcloud_takes_the_token_file_as_it_is,
        gcloud_shows_what_to_do_about_a_wrong_token,
        gcloud_shows_what_a_token_of_a_runner_may_not_do,
        gcloud_without_credentials_shows_that_one_is_needed,
        gcloud_without_credentials_is_served_where_none_are_wanted,
        a_static_token_comes_in,
        a_wrong_static_token_does_not,
        empty_credentials_come_in_where_none_are_wanted,
    ])
