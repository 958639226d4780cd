"""sdk - Google's Python clients over REST: what their tests share, and a
record of what they send.

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
PARENT = "projects/lab/locations/us-central1"


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


def need():
    """Ends the test, with one skipped case, without the SDK."""
    if not FOLDER:
        tap.skip("Google's Python SDK", "HYPERTUNE_TEST_SDK names no folder")
    load("v1")


def credentials(token=None):
    """No one's, or those of a static token."""
    auth = importlib.import_module("google.auth.credentials")
    oauth = importlib.import_module("google.oauth2.credentials")
    return oauth.Credentials(token=token) if token else (
        auth.AnonymousCredentials())


def auth_error():
    """What a client raises when its token is refused."""
    return importlib.import_module("google.auth.exceptions").GoogleAuthError


def errors():
    return importlib.import_module("google.api_core.exceptions")


def refused(kind, call, *arguments, **named):
    """The violated fields of the error that a call raises."""
    try:
        call(*arguments, **named)
    except kind as error:
        return sorted(violation["field"] for detail in error.details
                      for violation in detail.get("fieldViolations", []))
    raise AssertionError("%s: nothing was raised" % call)


def token_of(server):
    if "--auth" in server.options:
        return None
    with open(server.token_file, encoding="ascii") as file:
        return file.read().strip()


def client(sdk, service, server, token=None):
    """A generated client, such as VizierServiceClient, of the server, with the
    server's own token unless there is another one."""
    token = token or token_of(server)
    return getattr(sdk, service)(credentials=credentials(token),
                                 transport="rest",
                                 client_options={"api_endpoint": server.http})


# --- small resources ---

def metric(name="loss", goal="MINIMIZE", **more):
    return dict({"metric_id": name, "goal": goal}, **more)


def real(name, low, high, **more):
    spec = {"min_value": low, "max_value": high}
    if "default" in more:
        spec["default_value"] = more.pop("default")
    return dict({"parameter_id": name, "double_value_spec": spec}, **more)


def simple(**more):
    """A search of one parameter."""
    return dict({"metrics": [metric()], "parameters": [real("x", 0, 1)],
                 "algorithm": "RANDOM_SEARCH"}, **more)


# --- recording ---

class Recorder:
    """Sees the requests of a case, in the order they are sent. A name or page
    token that an answer gave is in later ones as {N} or {N+}, N counting
    the calls."""

    def __init__(self):
        self.calls = []
        self.given = {}  # text -> its stand-in
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


def of_each_version(service, use, cases):
    """The cases, each with the clients that use(version) makes; what they send
    is recorded."""
    def of_version(version, case):
        def run():
            use(version)
            with Recorder() as recorder:
                case()
            recorder.write("%s-%s" % (service, version), case.__name__)
        run.__name__ = "%s of %s" % (case.__name__, version)
        return run
    return [of_version(version, case)
            for version in ("v1", "v1beta1") for case in cases]
