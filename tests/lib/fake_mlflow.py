"""fake_mlflow - MLflow's tracking server as far as runs need it, in memory: it
refuses what MLflow refuses, and fails as it is told to."""

import http.server
import json
import re
import threading
import urllib.parse

NAME = re.compile(r"^[/\w.\- :]*$")


class Refused(Exception):
    def __init__(self, code, name, message):
        super().__init__(message)
        self.code, self.name = code, name


def check_name(name):
    parts = name.split("/")
    if not NAME.match(name) or "" in parts or "." in parts or ".." in parts:
        raise Refused(400, "INVALID_PARAMETER_VALUE", "name %r" % name)


class FakeMlflow:
    """`faults` of a request's name, such as "runs_create", are taken one for
    each such request: a status of HTTP, "lost" (done, and the connection ends
    without an answer), "cut" (not done, the same), or a function that is
    called before the request and returns one of these or None."""

    def __init__(self, login=None, port=0):
        fake = self
        self.experiments, self.runs, self.requests = {}, {}, []
        self.faults, self.made = {}, 0
        self.login = login
        self.broken = None  # the experiment that all requests fail for
        self.lock = threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                fake.handle(self, None)

            def do_POST(self):
                length = int(self.headers["Content-Length"])
                fake.handle(self, json.loads(self.rfile.read(length)))

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except OSError:
                    self.close_connection = True  # who asked was killed

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        self.url = "http://127.0.0.1:%d" % self.port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    # --- requests ---

    def handle(self, request, body):
        place = urllib.parse.urlsplit(request.path)
        name = place.path.replace("/api/2.0/mlflow/", "").replace("/", "_")
        if body is None:
            body = dict(urllib.parse.parse_qsl(place.query))
        with self.lock:
            waiting = self.faults.get(name)
            fault = waiting.pop(0) if waiting else None
            self.requests.append(name)
        if callable(fault):
            fault = fault()
        if fault == "cut":
            request.close_connection = True
            return
        try:
            if isinstance(fault, int):
                raise Refused(fault, "INTERNAL_ERROR", "as it was told")
            if self.login not in (None, request.headers["Authorization"]):
                raise Refused(401, "UNAUTHENTICATED", "who are you?")
            with self.lock:
                answer = getattr(self, name.replace("-", "_"))(**body)
            code = 200
        except Refused as refused:
            code = refused.code
            answer = {"error_code": refused.name, "message": str(refused)}
        if fault == "lost":
            request.close_connection = True
            return
        text = json.dumps(answer).encode()
        try:
            request.send_response(code)
            request.send_header("Content-Length", str(len(text)))
            request.end_headers()
            request.wfile.write(text)
        except OSError:
            pass  # who asked was killed

    # --- what MLflow does ---

    def experiments_get_by_name(self, experiment_name):
        if experiment_name == self.broken:
            raise Refused(503, "TEMPORARILY_UNAVAILABLE", "no such database")
        if experiment_name not in self.experiments:
            raise Refused(404, "RESOURCE_DOES_NOT_EXIST", experiment_name)
        return {"experiment": {
            "experiment_id": self.experiments[experiment_name]}}

    def experiments_create(self, name):
        if name in self.experiments:
            raise Refused(400, "RESOURCE_ALREADY_EXISTS", name)
        self.experiments[name] = str(len(self.experiments) + 1)
        return {"experiment_id": self.experiments[name]}

    def runs_create(self, experiment_id, run_name, start_time, tags):
        self.made += 1
        number = "%032x" % self.made
        self.runs[number] = {
            "id": number, "experiment": experiment_id, "name": run_name,
            "start": start_time, "status": "RUNNING", "end": None,
            "tags": {tag["key"]: tag["value"] for tag in tags},
            "params": {}, "metrics": []}
        return {"run": {"info": {"run_id": number}}}

    def find(self, run_id):
        if run_id not in self.runs:
            raise Refused(404, "RESOURCE_DOES_NOT_EXIST", run_id)
        return self.runs[run_id]

    def runs_get(self, run_id):
        run = self.find(run_id)
        return {"run": {"info": {"run_id": run_id}, "data": {
            "tags": [{"key": key, "value": value}
                     for key, value in run["tags"].items()]}}}

    def runs_search(self, experiment_ids, filter, max_results):
        key, value = re.match(r"tags\.`(.*)` = '(.*)'$", filter).groups()
        return {"runs": [{"info": {"run_id": run["id"]}}
                         for run in self.runs.values()
                         if run["experiment"] in experiment_ids
                         and run["tags"].get(key) == value][:max_results]}

    def runs_update(self, run_id, status, end_time=None):
        self.find(run_id).update(status=status, end=end_time)
        return {}

    def runs_log_batch(self, run_id, metrics=(), params=(), tags=()):
        run = self.find(run_id)
        if (len(metrics) + len(params) + len(tags) > 1000 or
                len(params) > 100 or len(tags) > 100):
            raise Refused(400, "INVALID_PARAMETER_VALUE", "too many")
        for one in list(metrics) + list(params):
            check_name(one["key"])
        for one in params:
            if run["params"].get(one["key"], one["value"]) != one["value"]:
                raise Refused(400, "INVALID_PARAMETER_VALUE", "changed")
            if len(one["value"]) > 500:
                raise Refused(400, "INVALID_PARAMETER_VALUE", "long")
        run["metrics"] += [(one["key"], float(one["value"]), one["step"],
                            one["timestamp"]) for one in metrics]
        run["params"].update({one["key"]: one["value"] for one in params})
        run["tags"].update({one["key"]: one["value"] for one in tags})
        return {}

    # --- what tests look at ---

    def run_of(self, study, trial=None):
        """The only run of a trial, or of the study; None: there is none."""
        with self.lock:
            found = [run for run in self.runs.values()
                     if run["tags"]["hypertune.study"] == study
                     and run["tags"].get("hypertune.trial") ==
                     (None if trial is None else str(trial))]
        if len(found) > 1:
            raise AssertionError("%d runs of trial %s" % (len(found), trial))
        return found[0] if found else None

    def state(self, study, trial=None):
        run = self.run_of(study, trial)
        return run and run["tags"].get("hypertune.state")
