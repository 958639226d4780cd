"""sdk - Google's Python clients over REST, and a record of what they send.

HYPERTUNE_TEST_SDK names a folder from which google.cloud.aiplatform can be
imported; without it there is nothing to test. With HYPERTUNE_TEST_RECORD every
request is written there too, for tests/api/test_sdk_requests.py to send again.
"""

import importlib
import json
import os
import re
import sys
import urllib.parse

FOLDER = os.environ.get("HYPERTUNE_TEST_SDK")
RECORD = os.environ.get("HYPERTUNE_TEST_RECORD")
ABSENT = "the Python SDK is not here: HYPERTUNE_TEST_SDK names no folder"

# What differs from run to run: kept in a record as "there is one".
VARIES = re.compile(r"(name|\w*[tT]ime|createTimeMs|startTimeMs|endTimeMs|"
                    r"elapsedDuration|hypertune|hypertuneStatus|"
                    r"parameters|customJob)$")


def load(version):
    """google.cloud.aiplatform_VERSION."""
    if FOLDER not in sys.path:
        sys.path.insert(0, FOLDER)
    return importlib.import_module("google.cloud.aiplatform_" + version)


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

def shape(value):
    """An answer without what differs from run to run."""
    if isinstance(value, dict):
        return {key: "*" if VARIES.match(key) else shape(item)
                for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else value


class Recorder:
    """Sees the requests of a part of the test, in the order they are sent."""

    def __init__(self):
        self.calls = []
        self.names = {}  # of resources -> what stands for them
        requests = importlib.import_module("requests")
        self.session = requests.Session
        self.send = requests.Session.send

    def stand_in(self, text):
        for name in sorted(self.names, key=len, reverse=True):
            text = text.replace(name, self.names[name])
        return text

    def note(self, request, answer):
        parts = urllib.parse.urlsplit(request.url)
        body = json.loads(request.body) if request.body else None
        path = self.stand_in(urllib.parse.unquote(parts.path))
        call = {"method": request.method, "path": path,
                "query": parts.query, "status": answer.status_code}
        if body is not None:
            call["body"] = json.loads(self.stand_in(json.dumps(body)))
        call["answer"] = shape(answer.json())
        last = self.calls[-1] if self.calls else {}
        if (request.method == "GET" and last.get("method") == "GET" and
                last["path"] == path and last["query"] == call["query"]):
            self.calls.pop()  # a poll: what it waited for is what counts
        name = answer.json().get("name")
        if name and name not in self.names:
            self.names[name] = "{%d}" % len(self.calls)
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
        """Adds the calls to the file of that name."""
        if not RECORD:
            return
        path = os.path.join(RECORD, "sdk-%s.json" % name)
        cases = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                cases = json.load(file)
        cases[case.replace("_", " ")] = self.calls
        with open(path, "w", encoding="utf-8") as file:
            json.dump(cases, file, indent=1)
            file.write("\n")
