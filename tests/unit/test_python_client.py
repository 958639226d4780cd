"""The parts of the Python client that need no server of ours."""

import contextlib
import csv
import datetime
import fcntl
import glob
import http.server
import json
import math
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.realpath(os.path.join(HERE, "..", "..", "hypertune",
                                        "python"))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), PACKAGE]
import tap  # noqa: E402

import hypertune  # noqa: E402
from hypertune import (canvas, errors, locate, plot,  # noqa: E402
                       plot_model, plot_results, show, space, transport, where)
from hypertune.study import Study  # noqa: E402

HOSTILE = "<script>alert(\"1\")</script>&'"


def raises(kind, function, *arguments, **named):
    """The exception, which must be of that kind."""
    try:
        result = function(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError("no %s but %r" % (kind.__name__, result))


@contextlib.contextmanager
def folder():
    path = tempfile.mkdtemp(prefix="ht-client-")
    try:
        yield path
    finally:
        shutil.rmtree(path)


class FakeServer(http.server.ThreadingHTTPServer):
    """Answers each request with the next of `answers`: (status, JSON or
    bytes), or None to close the connection without a word. Keeps what was asked."""

    daemon_threads = True

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                server.asked.append((self.command, self.path, body,
                                     self.headers.get("Authorization")))
                answer = server.answers.pop(0)
                if answer is None:
                    return
                text = answer[1]
                if not isinstance(text, bytes):
                    text = json.dumps(text).encode()
                self.send_response(answer[0])
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server_address[1]
        self.thread = threading.Thread(target=self.serve_forever, args=(0.01,))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.thread.join()
        self.server_close()

    def transport(self, timeout=10.0, token_file=None):
        return transport.Transport(
            locate.Address(self.url, token_file, None), timeout)


BUSY = (503, {"error": {"code": 503, "status": "UNAVAILABLE",
                        "message": "the server stops"}})


# --- finding the server ---

def the_state_folder_follows_the_command_lines_rules():
    home = {"HOME": "/home/x"}
    tap.equal(locate.state_folder({}), None)
    tap.equal(locate.state_folder(home), "/home/x/.local/state/hypertune")
    tap.equal(locate.state_folder({**home, "XDG_STATE_HOME": "/s"}),
              "/s/hypertune")
    tap.equal(locate.state_folder({**home, "XDG_STATE_HOME": "relative"}),
              "/home/x/.local/state/hypertune")
    tap.equal(locate.state_folder({**home, "XDG_STATE_HOME": "/s",
                                   "HYPERTUNE_STATE": "/own"}), "/own")


def write_state(path, url):
    with open(os.path.join(path, "server.json"), "w") as file:
        json.dump({"http": url, "pid": 1}, file)
    with open(os.path.join(path, "token"), "w") as file:
        file.write("abc123\n")
    return open(os.path.join(path, "lock"), "w")


def a_server_is_believed_only_while_it_holds_its_lock():
    with folder() as path:
        tap.equal(locate.find_own(path), None)
        with write_state(path, "http://127.0.0.1:1234") as lock:
            tap.equal(locate.find_own(path), None, "lock not held")
            fcntl.flock(lock, fcntl.LOCK_EX)
            tap.equal(locate.find_own(path), "http://127.0.0.1:1234")


def a_server_that_is_not_on_this_machine_is_refused():
    for url in ("http://192.0.2.1:80", "http://example.com:80",
                "https://127.0.0.1:80", 7):
        with folder() as path, write_state(path, url) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            raises(hypertune.Unavailable, locate.find_own, path)


def arguments_win_over_variables_and_those_over_the_own_server():
    with folder() as path, write_state(path, "http://127.0.0.1:3") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        own = {"HYPERTUNE_STATE": path}
        named = {**own, "HYPERTUNE_SERVER": "http://127.0.0.1:2/",
                 "HYPERTUNE_TOKEN_FILE": "/t"}
        token = os.path.join(path, "token")
        for server, file, variables, want in (
                (None, None, own, ("http://127.0.0.1:3", token, path)),
                (None, None, named, ("http://127.0.0.1:2", "/t", None)),
                ("http://h:1", "/u", named, ("http://h:1", "/u", None)),
                ("http://h:1", None, own, ("http://h:1", None, None)),
                ("http://127.0.0.1:3", None, own,
                 ("http://127.0.0.1:3", token, None))):
            tap.equal(tuple(locate.locate(server, file, variables, 1)), want)


def without_the_program_no_server_can_be_started():
    with folder() as path:
        saved = os.environ["PATH"]
        os.environ["PATH"] = path
        try:
            error = raises(hypertune.Unavailable, locate.ensure_own, path, 1)
        finally:
            os.environ["PATH"] = saved
        tap.equal("not in PATH" in str(error), True, str(error))


def a_token_file_that_holds_none_is_refused():
    with folder() as path:
        token = os.path.join(path, "token")
        raises(hypertune.PermissionDenied, locate.read_token, token)
        with open(token, "w") as file:
            file.write("\n")
        raises(hypertune.PermissionDenied, locate.read_token, token)


# --- asking it ---

def a_question_is_repeated_while_the_server_is_busy():
    with FakeServer(BUSY, None, (200, {"a": 1})) as server:
        tap.equal(server.transport().call("GET", "/x", query={"q": "a b"}),
                  {"a": 1})
        tap.equal([asked[:2] for asked in server.asked],
                  [("GET", "/x?q=a+b")] * 3)


def a_change_is_never_repeated():
    for answer in (BUSY, None):
        with FakeServer(answer, (200, {})) as server:
            raises(hypertune.Unavailable, server.transport().call, "POST",
                   "/x", {"b": 1})
            tap.equal(len(server.asked), 1)
            tap.equal(server.asked[0][2], b'{"b": 1}')


def the_token_goes_into_the_header():
    with folder() as path, FakeServer((200, {})) as server:
        token = os.path.join(path, "token")
        with open(token, "w") as file:
            file.write("abc123\n")
        server.transport(token_file=token).call("GET", "/")
        tap.equal(server.asked[0][3], "Bearer abc123")


def a_server_that_does_not_answer_is_given_up_in_time():
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = locate.Address("http://127.0.0.1:%d" %
                                 mute.getsockname()[1], None, None)
        begin = datetime.datetime.now()
        raises(hypertune.DeadlineExceeded,
               transport.Transport(address, 0.3).call, "GET", "/")
        spent = datetime.datetime.now() - begin
        tap.equal(spent.total_seconds() < 5, True, str(spent))


def errors_have_the_servers_text_and_their_own_class():
    kinds = (("INVALID_ARGUMENT", 400, hypertune.InvalidArgument),
             ("FAILED_PRECONDITION", 400, hypertune.FailedPrecondition),
             ("UNAUTHENTICATED", 401, hypertune.PermissionDenied),
             ("NOT_FOUND", 404, hypertune.NotFound),
             ("ALREADY_EXISTS", 409, hypertune.Conflict),
             ("RESOURCE_EXHAUSTED", 429, hypertune.ResourceExhausted),
             ("SOMETHING_NEW", 500, hypertune.ApiError))
    for status, code, kind in kinds:
        plain = {"code": code, "status": status, "message": "no, because"}
        tap.equal(str(errors.from_answer(code, {"error": plain})),
                  "no, because")
        error = errors.from_answer(code, {"error": {
            **plain,
            "details": [{"fieldViolations": [
                {"field": "a.b", "description": "is wrong"}]}]}})
        tap.equal(type(error), kind)
        tap.equal(str(error), "a.b: is wrong")
        tap.equal((error.code, error.status, error.violations),
                  (code, status, {"a.b": "is wrong"}))


def an_operation_brings_a_response_or_its_error():
    tap.equal(errors.response_of({"done": True, "response": {"a": 1}}),
              {"a": 1})
    error = raises(hypertune.DeadlineExceeded, errors.response_of,
                   {"error": {"code": 4, "message": "too late"}})
    tap.equal(str(error), "too late")


def an_answer_that_is_not_ours_says_so():
    with FakeServer((200, b"<html>")) as server:
        error = raises(hypertune.ApiError, server.transport().call, "GET",
                       "/")
        tap.equal("is it a hypertune server" in str(error), True)


# --- words ---

def conditions_compare_numbers_as_numbers_and_words_without_case():
    def holds(text, value):
        return all(one.holds(value) for one in where.parse(text))
    for text, value, want in (
            ("x<0.3", 0.25, True), ("x<0.3", 0.3, False),
            ("x<=3e-1", 0.3, True), ("x>9", 10, True), ("x=adam", "Adam", True),
            ("x!=adam", "sgd", True), ("x>=2", None, False),
            ("x!=2", None, False), ("x=1", "1.0", True)):
        tap.equal(holds(text, value), want, "%s %r" % (text, value))
    tap.equal([(c.key, c.value) for c in where.parse("a<1  b=c=d")],
              [("a", "1"), ("b", "c=d")])
    for wrong in ("x", "<3", "x=", "x~3"):
        raises(ValueError, where.parse, wrong)


def times_are_read_as_a_person_writes_them():
    for text, seconds in (("90s", 90), ("1h30m", 5400), ("2d", 172800),
                          ("250ms", 0.25), ("1.5h", 5400), (7, 7)):
        tap.equal(show.seconds(text), seconds)
    for wrong in ("", "2", "h", "2h x", "-2h"):
        raises(ValueError, show.seconds, wrong)


def parameters_become_googles_words():
    made = space.to_vertex([
        hypertune.Double("lr", 1e-5, 1, log=True, default=0.1),
        hypertune.Integer("n", 1, 8), hypertune.Discrete("b", [64, 32]),
        hypertune.Categorical("opt", ["adam", "sgd"]),
        hypertune.Double("momentum", 0, 0.99, reverse_log=True,
                         when={"opt": "sgd"}),
        hypertune.Integer("m", 1, 2, when={"n": [2, 3]})])
    tap.equal([spec["parameterId"] for spec in made], ["lr", "n", "b", "opt"])
    tap.equal(made[0], {"parameterId": "lr", "scaleType": "UNIT_LOG_SCALE",
                        "doubleValueSpec": {"minValue": 1e-5, "maxValue": 1.0,
                                            "defaultValue": 0.1}})
    tap.equal(made[1]["integerValueSpec"], {"minValue": "1", "maxValue": "8"})
    tap.equal(made[1]["conditionalParameterSpecs"][0]["parentIntValues"],
              {"values": ["2", "3"]})
    tap.equal(made[2]["discreteValueSpec"], {"values": [32.0, 64.0]})
    child = made[3]["conditionalParameterSpecs"][0]
    tap.equal(child["parentCategoricalValues"], {"values": ["sgd"]})
    tap.equal(child["parameterSpec"]["scaleType"], "UNIT_REVERSE_LOG_SCALE")


def conditions_on_no_parent_are_refused():
    raises(ValueError, space.to_vertex,
           [hypertune.Double("a", 0, 1, when={"b": 1})])
    raises(ValueError, space.to_vertex,
           [hypertune.Double("b", 0, 1),
            hypertune.Double("a", 0, 1, when={"b": 1})])
    raises(ValueError, space.to_vertex, [hypertune.Double("a", 0, 1)] * 2)
    raises(ValueError, hypertune.Double, "a", 1, 2, log=True,
           reverse_log=True)


# --- what a notebook shows ---

def resource(name="digits", metric="accuracy", best=None, **counts):
    status = {"name": name, "state": "RUNNING", "reason": "",
              "counts": {"requested": 0, "active": 0, "stopping": 0,
                         "succeeded": 0, "stopped": 0, "failed": 0,
                         "infeasible": 0, "cancelled": 0, **counts}}
    if best is not None:
        status["best"] = best
    return {"name": "projects/p/locations/l/hyperparameterTuningJobs/7",
            "maxTrialCount": 160, "hypertuneStatus": status,
            "studySpec": {"metrics": [{"metricId": metric,
                                       "goal": "MAXIMIZE"}],
                          "parameters": [
                              {"parameterId": "lr", "scaleType":
                               "UNIT_LOG_SCALE", "doubleValueSpec":
                               {"minValue": 1e-5, "maxValue": 1}},
                              {"parameterId": "opt", "categoricalValueSpec":
                               {"values": ["adam", "sgd", HOSTILE]}}]}}


def trial(number, value, state="SUCCEEDED", **params):
    return {"id": str(number), "hypertune": {
        "state": state, "reason": HOSTILE if value is None else "",
        "objective": value, "step": "20",
        "params": {"lr": 0.00079123, "opt": "adam", **params}}}


class Canned:
    """A transport that knows one answer."""

    def __init__(self, answer):
        self.answer = answer

    def call(self, *_, **__):
        return self.answer


def a_study_shows_its_card():
    made = resource("resnet", best=trial(46, 0.949597321048319),
                    succeeded=107, failed=9, stopped=4, active=3)
    study = Study(Canned(made), "", made)
    tap.equal(repr(study), "Study resnet RUNNING 120/160 trials, "
              "best accuracy=0.9496 (trial 46)")
    tap.equal(study._repr_html_(), (
        "<table><tr><th colspan=2>resnet - RUNNING</th></tr>\n"
        "<tr><td>best accuracy</td><td><b>0.9496</b> (trial 46)</td></tr>\n"
        "<tr><td>trials</td><td>120 / 160 - 3 running, 9 failed, "
        "4 stopped early</td></tr>\n"
        "<tr><td>best parameters</td><td><code>lr=0.0007912 opt=adam</code>"
        "</td></tr></table>"))
    tap.equal(repr(study.summary().best),
              "Trial 46 SUCCEEDED accuracy=0.9496 step=20\n"
              "  lr=0.0007912 opt='adam'")


def names_from_outside_never_become_markup():
    made = resource(HOSTILE, HOSTILE, trial(1, 0.5, opt=HOSTILE), active=1)
    study = Study(Canned(made), "", made)
    for text in (study._repr_html_(), study.summary().best._repr_html_()):
        tap.equal("<script" in text, False, text)
        tap.equal("&lt;script&gt;" in text, True, text)


def a_trial_without_a_value_shows_why():
    made = resource()
    study = Study(Canned(made), "", made)
    shown = hypertune.Trial(study, trial(3, None, "FAILED"))
    tap.equal(shown.value, None)
    tap.equal("alert" in repr(shown), True)
    tap.equal("&lt;script&gt;" in shown._repr_html_(), True)


def numbers_of(svg):
    for node in svg.iter():
        for name, text in node.attrib.items():
            if name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r"):
                yield float(text)
            elif name == "points":
                for pair in text.split():
                    yield from map(float, pair.split(","))


def check_picture(picture):
    """It is well-formed, without script, and everything lies inside it."""
    svg = xml.etree.ElementTree.fromstring(picture._repr_svg_())
    tags = {node.tag.split("}")[1] for node in svg.iter()}
    tap.equal(tags - {"svg", "rect", "line", "polyline", "circle", "text",
                      "title"}, set())
    tap.equal([name for node in svg.iter() for name in node.attrib
               if name.startswith("on") or "href" in name], [])
    for number in numbers_of(svg):
        if not -5 <= number <= canvas.WIDTH + 5:
            raise AssertionError("%g is outside: %s" % (number, picture))
    return svg


ODD_VALUES = ([0.5], [0.5] * 3, [0.0, 0.0], [float("nan"), 1.0],
              [float("inf"), 1.0, 2.0], [-1.7e308, 1.7e308, 1.0], [1e-300, 2e-300],
              [1e17, 1e17 + 16], list(range(300)))


def pictures_bear_every_set_of_values():
    made = resource(HOSTILE, HOSTILE)
    study = Study(Canned(made), "", made)
    for values in ODD_VALUES:
        trials = [hypertune.Trial(study, trial(n, v, opt=HOSTILE))
                  for n, v in enumerate(values, 1)]
        trials += [hypertune.Trial(study, trial(301, None, "FAILED"))]
        now = datetime.datetime.now()
        curves = {n: [(s, v * s, now) for s in (0, 1, 10 ** 9)]
                  for n, v in enumerate(values, 1)}
        for maximize in (True, False):
            check_picture(plot.history(HOSTILE, HOSTILE, maximize, trials))
            check_picture(plot.parallel(HOSTILE, HOSTILE, maximize,
                                        study._specs(), trials))
            check_picture(plot_results.distribution(HOSTILE, HOSTILE,
                                                    maximize, trials))
        check_picture(plot.curves(HOSTILE, HOSTILE, curves, 1))
        check_picture(plot_results.timeline(HOSTILE, HOSTILE, trials, 2e9))


def slice_of(specs, *others):
    """What the server tells of one parameter, or of two."""
    axes = [{"parameter": spec["parameterId"], "values": values} for
            spec, values in zip(specs, ([1e-5, 1e-3, 1], ["adam", HOSTILE]))]
    return {"metric": HOSTILE, "trial": "1", "axes": axes,
            "low": others[0], "median": others[1], "high": others[2]}


def pictures_of_the_model_bear_what_it_leaves_out():
    made = resource(HOSTILE, HOSTILE)
    study = Study(Canned(made), "", made)
    lr, opt = study._specs()
    trials = [hypertune.Trial(study, trial(n, v, opt=HOSTILE))
              for n, v in enumerate((0.5, 0.25, float("nan")), 1)]
    line = slice_of([lr], [0.1, None, 0.2], [0.3, None, 0.3], [0.4, None, 1])
    svg = check_picture(plot_model.slices(HOSTILE, lr, line, trials))
    tap.equal(sum(node.tag.endswith("circle") for node in svg.iter()), 2)
    labels = {**slice_of([lr, opt], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6])}
    labels["axes"] = labels["axes"][1:]
    check_picture(plot_model.slices(HOSTILE, opt, labels, trials))
    grid = [[1.0, 2.0], [None, 2.0], [3.0, None]]
    for median in (grid, [[1.0, None]] * 3, [[5.0, 5.0]] * 3):
        for maximize in (True, False):
            svg = check_picture(plot_model.contour(
                HOSTILE, maximize, [lr, opt],
                slice_of([lr, opt], [], median, []), trials, 1))
            cells = [node for node in svg.iter()
                     if node.get("shape-rendering")]
            tap.equal(len(cells), 6)
    tap.equal(check_picture(plot_model.contour(
        "q", True, [lr, opt], slice_of([lr, opt], [], grid, []), [], None)
    ).findall(".//*[@fill='%s']" % canvas.shade(1.0)) != [], True)


def importances_are_bars_by_share():
    rows = [{"parameter": HOSTILE, "share": 0.8, "alone": 0.5, "total": 0.9},
            {"parameter": "lr", "share": 0.2, "alone": 0, "total": 0.1},
            {"parameter": "opt", "share": 0, "alone": 0, "total": 0}]
    svg = check_picture(plot_model.importances(HOSTILE, {
        "metric": HOSTILE, "trials": 50, "least": 10, "importances": rows}))
    widths = [float(node.get("width")) for node in svg.iter()
              if node.tag.endswith("rect")][1:]
    tap.equal(round(widths[0] / widths[1], 2), 4)
    text = "".join(svg.itertext())
    tap.equal("80 %" in text and "50 results" in text, True, text)


def the_front_is_joined_and_lanes_hold_one_trial_at_a_time():
    made = resource()
    study = Study(Canned(made), "", made)
    trials = []
    for n, (a, b) in enumerate(((1, 1), (2, 2), (3, 3), (0, 9)), 1):
        row = trial(n, a)
        row["finalMeasurement"] = {"metrics": [
            {"metricId": "a", "value": a}, {"metricId": HOSTILE, "value": b}]}
        row["hypertune"].update(startTimeMs=n * 1000,
                                endTimeMs=n * 1000 + 1500)
        trials.append(hypertune.Trial(study, row))
    tap.equal(trials[1].metrics, {"a": 2.0, HOSTILE: 2.0})
    svg = check_picture(plot_results.pareto(
        HOSTILE, [("a", True), (HOSTILE, False)], trials, {1, 2, 3}))
    line, = [node for node in svg.iter() if node.tag.endswith("polyline")]
    tap.equal(len(line.get("points").split()), 3)
    svg = check_picture(plot_results.timeline("q", "a", trials, 10.0))
    tops = [node.get("y") for node in svg.iter()
            if node.tag.endswith("rect")][1:]
    tap.equal([tops.index(top) for top in tops], [0, 1, 0, 1])


def an_export_has_every_trial_and_no_markup_of_its_own():
    made = resource()
    study = Study(Canned(made), "", made)
    rows = [trial(1, 0.5, opt='a,"b"\n'), trial(2, None, "FAILED")]
    study._transport.answer = {"trials": rows}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "all.csv")
        study.export(path)
        with open(path, encoding="utf-8", newline="") as file:
            read = list(csv.DictReader(file))
        tap.equal([(row["id"], row["state"], row["value"], row["params.opt"])
                   for row in read], [("1", "SUCCEEDED", "0.5", 'a,"b"\n'),
                                      ("2", "FAILED", "", "adam")])
        path = os.path.join(folder, "all.jsonl")
        study.export(path)
        with open(path, encoding="utf-8") as file:
            read = [json.loads(line) for line in file]
        tap.equal([row["value"] for row in read], [0.5, None])
        tap.equal(read[0]["params"], {"lr": 0.00079123, "opt": 'a,"b"\n'})


def pictures_of_nothing_say_so():
    made = resource()
    study = Study(Canned(made), "", made)
    for picture in (plot.history("q", "loss", True, []),
                    plot.curves("q", "loss", {}, None),
                    plot_results.distribution("q", "loss", True, []),
                    plot_results.timeline("q", "loss", [], 0.0),
                    plot_results.pareto("q", [("a", True), ("b", True)], [],
                                        set()),
                    plot_model.importances("q", {
                        "metric": "loss", "trials": 3, "least": 10,
                        "importances": []}),
                    plot_model.slices("q", study._specs()[0], slice_of(
                        study._specs()[:1], [None], [None], [None]), []),
                    plot.parallel("q", "loss", True, study._specs(), [])):
        text = "".join(check_picture(picture).itertext())
        tap.equal(" yet" in text, True, text)


def the_best_so_far_is_a_staircase():
    made = resource()
    study = Study(Canned(made), "", made)
    trials = [hypertune.Trial(study, trial(n, v))
              for n, v in enumerate([1.0, 3.0, 2.0, 4.0], 1)]
    tap.equal(plot._best_so_far(trials, True),
              [(1, 1.0), (2, 1.0), (2, 3.0), (3, 3.0), (3, 3.0), (4, 3.0),
               (4, 4.0)])
    tap.equal(plot._best_so_far(trials, False)[-1], (4, 1.0))


def ticks_are_round_and_inside():
    for low, high in ((0, 1), (0.93, 0.97), (-3, 12), (1e-7, 3e-7),
                      (0, 123456)):
        axis = canvas.axis([low, high], 100.0, 500.0)
        tap.equal(3 <= len(axis.ticks) <= 8, True, str(axis.ticks))
        for value, label in axis.ticks:
            tap.equal(axis.low <= value <= axis.high, True)
            tap.equal(math.isclose(float(label), value, rel_tol=1e-3,
                                   abs_tol=1e-12), True, label)


# --- the package ---

def run_python(path, program):
    done = subprocess.run([path, "-c", program], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd=PACKAGE,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    tap.equal(done.returncode, 0, done.stdout.decode())
    return done.stdout.decode().strip()


def a_trainer_imports_nothing_of_the_client():
    tap.equal(run_python(sys.executable, (
        "import hypertune, sys; hypertune.report(a=1);"
        "print([m for m in sys.modules if m.startswith('hypertune.')"
        " and m.split('.')[1] not in"
        " ('reporter', 'metric_file', 'sender', 'spreq')])")), "[]")


def every_public_name_is_there_and_documented():
    for name in hypertune._HOMES:
        thing = getattr(hypertune, name)
        tap.equal(bool(thing.__doc__), True, name)
        for member, value in vars(thing).items():
            if not member.startswith("_") and (callable(value) or
                                               isinstance(value, property)):
                tap.equal(bool(value.__doc__) or member == "to_vertex", True,
                          "%s.%s" % (name, member))
    raises(AttributeError, getattr, hypertune, "Cleint")


def the_oldest_python_it_promises_can_import_it():
    home = pwd.getpwuid(os.getuid()).pw_dir
    found = glob.glob(home + "/.pyenv/versions/3.8.*/bin/python3.8")
    path = shutil.which("python3.8", path="/usr/bin:/usr/local/bin") or (
        found[0] if found else None)
    if path is None:
        raise tap.Skip("no python3.8 on this machine")
    tap.equal(run_python(path, (
        "import hypertune; print([bool(getattr(hypertune, n)) for n in"
        " hypertune._HOMES].count(False));"
        "import hypertune.plot, hypertune.watch")), "0")


def pip_installs_it_into_a_virtual_environment_without_a_network():
    with folder() as path:
        done = subprocess.run([sys.executable, "-m", "venv", path + "/venv"],
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0 and b"ensurepip" in done.stdout:
            raise tap.Skip("no ensurepip")
        tap.equal(done.returncode, 0, done.stdout.decode())
        shutil.copytree(PACKAGE, path + "/source")
        environment = {**os.environ, "PIP_NO_INDEX": "1"}
        subprocess.run(
            [path + "/venv/bin/pip", "install", "--quiet", "--no-cache-dir",
             "--disable-pip-version-check", path + "/source"], check=True,
            env=environment, stdout=subprocess.DEVNULL)
        subprocess.run(
            [path + "/venv/bin/python", "-c",
             "import os, hypertune; print(hypertune.Client, hypertune.report);"
             "os.stat(os.path.join(hypertune.__path__[0], 'optuna', "
             "'storage.py'))"],
            check=True, cwd=path, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    tap.run([
        the_state_folder_follows_the_command_lines_rules,
        a_server_is_believed_only_while_it_holds_its_lock,
        a_server_that_is_not_on_this_machine_is_refused,
        arguments_win_over_variables_and_those_over_the_own_server,
        without_the_program_no_server_can_be_started,
        a_token_file_that_holds_none_is_refused,
        a_question_is_repeated_while_the_server_is_busy,
        a_change_is_never_repeated,
        the_token_goes_into_the_header,
        a_server_that_does_not_answer_is_given_up_in_time,
        errors_have_the_servers_text_and_their_own_class,
        an_operation_brings_a_response_or_its_error,
        an_answer_that_is_not_ours_says_so,
        conditions_compare_numbers_as_numbers_and_words_without_case,
        times_are_read_as_a_person_writes_them,
        parameters_become_googles_words,
        conditions_on_no_parent_are_refused,
        a_study_shows_its_card,
        names_from_outside_never_become_markup,
        a_trial_without_a_value_shows_why,
        pictures_bear_every_set_of_values,
        pictures_of_the_model_bear_what_it_leaves_out,
        importances_are_bars_by_share,
        the_front_is_joined_and_lanes_hold_one_trial_at_a_time,
        an_export_has_every_trial_and_no_markup_of_its_own,
        pictures_of_nothing_say_so,
        the_best_so_far_is_a_staircase,
        ticks_are_round_and_inside,
        a_trainer_imports_nothing_of_the_client,
        every_public_name_is_there_and_documented,
        the_oldest_python_it_promises_can_import_it,
        pip_installs_it_into_a_virtual_environment_without_a_network,
    ])
