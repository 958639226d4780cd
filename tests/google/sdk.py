"""sdk - Google's Python clients over REST, and a record of what they send.

HYPERTUNE_TEST_SDK names a folder from which google.cloud.aiplatform can be
imported; without it there is nothing to test. With HYPERTUNE_TEST_RECORD every
request is written there too, for tests/api/test_sdk_requests.py to send again.
"""

import importlib
import json
import os
import sys
import urllib.parse

import replay
import tap

FOLDER = os.environ.get("HYPERTUNE_TEST_SDK")
RECORD = os.environ.get("HYPERTUNE_TEST_RECORD")
ABSENT = "the Python SDK is not here: HYPERTUNE_TEST_SDK names no folder"

def load(version):
    """google.cloud.aiplatform_VERSION."""
    if FOLDER not in sys.path:
        sys.path.insert(0, FOLDER)
    return importlib.import_module("google.cloud.aiplatform_" + version)


def high_level(server):
    """google.cloud.aiplatform, pointed at the server; its jobs look at
    themselves more often than every five seconds."""
    try:
        module = importlib.import_module("google.cloud.aiplatform")
    except ImportError as error:
        raise tap.Skip("of the SDK only the generated clients are here: %s" %
                       error)
    importlib.import_module(
        "google.cloud.aiplatform.jobs")._JOB_WAIT_TIME = 0.1
    module.init(project="lab", location="us-central1",
                credentials=credentials(), api_transport="rest",
                api_endpoint=server.http, staging_bucket="gs://lab")
    return module


def is_there():
    if not FOLDER:
        return False
    load("v1")
    return True


def credentials(token=None):
    """Nobody's, or those of a static token."""
    auth = importlib.import_module("google.auth.credentials")
    oauth = importlib.import_module("google.oauth2.credentials")
    return oauth.Credentials(token=token) if token else (
        auth.AnonymousCredentials())


def auth_error():
    """What a client raises when its token is refused."""
    return importlib.import_module("google.auth.exceptions").GoogleAuthError


def client(sdk, service, server, token=None):
    """A generated client, such as VizierServiceClient, of the server."""
    return getattr(sdk, service)(credentials=credentials(token),
                                 transport="rest",
                                 client_options={"api_endpoint": server.http})


# --- recording ---

class Recorder:
    """Sees the requests of a case, in the order they are sent. A name or page
    token that an answer gave stands in later ones as {N} or {N+}, N counting
    the calls."""

    def __init__(self):
        self.calls = []
        self.given = {}  # text -> what stands for it
        requests = importlib.import_module("requests")
        self.session = requests.Session
        self.send = requests.Session.send

    def stand_in(self, text):
        for given in sorted(self.given, key=len, reverse=True):
            text = text.replace(given, self.given[given])
        return text

    def note(self, request, answer):
        parts = urllib.parse.urlsplit(request.url)
        call = {"method": request.method,
                "path": self.stand_in(urllib.parse.unquote(parts.path)),
                "query": self.stand_in(parts.query)}
        last = self.calls[-1] if self.calls else {}
        if request.method == "GET" and all(
                last.get(key) == value for key, value in call.items()):
            self.calls.pop()  # a poll: what it waited for is what counts
        got = answer.json()
        for key, mark in (("name", "{%d}"), ("nextPageToken", "{%d+}")):
            if got.get(key):
                self.given.setdefault(got[key], mark % len(self.calls))
        if request.body:
            call["body"] = json.loads(self.stand_in(
                request.body if isinstance(request.body, str)
                else request.body.decode()))
        call["status"] = answer.status_code
        call["answer"] = replay.shape(json.loads(
            self.stand_in(json.dumps(got))))
        self.calls.append(call)

    def __enter__(self):
        recorder = self

        def send(session, request, **options):
            answer = recorder.send(session, request, **options)
            recorder.note(request, answer)
            return answer
        self.session.send = send
        return self

    def __exit__(self, kind, value, trace):
        self.session.send = self.send

    def write(self, name, case):
        """Adds the calls to the file of that name, one a line."""
        if not RECORD:
            return
        path = os.path.join(RECORD, "sdk-%s.json" % name)
        cases = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                cases = json.load(file)
        cases[case.replace("_", " ")] = self.calls
        with open(path, "w", encoding="utf-8") as file:
            file.write("{" + ",\n".join(
                "%s: [\n%s]" % (json.dumps(key), ",\n".join(
                    json.dumps(call) for call in calls))
                for key, calls in cases.items() if calls) + "}\n")
