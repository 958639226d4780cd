"""Requests to a server, what is repeated, and errors."""

import http.server
import json
import os
import socket
import tempfile
import threading

import tap

import hypertune
from hypertune import errors, locate, transport


class FakeServer(http.server.ThreadingHTTPServer):
    """Answers each request with the next of `answers`: (status, JSON or
    bytes), or None to close the connection without a word. Keeps what was
    asked."""

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


def a_question_is_repeated_while_the_server_is_busy():
    with FakeServer(BUSY, None, (200, {"a": 1})) as server:
        tap.equal(server.transport().call("GET", "/x", query={"q": "a b"}),
                  {"a": 1})
        tap.equal([asked[:2] for asked in server.asked],
                  [("GET", "/x?q=a+b")] * 3)


def a_change_is_never_repeated():
    for answer in (BUSY, None):
        with FakeServer(answer, (200, {})) as server:
            tap.raises(hypertune.Unavailable, server.transport().call, "POST",
                       "/x", {"b": 1})
            tap.equal(len(server.asked), 1)
            tap.equal(server.asked[0][2], b'{"b": 1}')


def the_token_goes_into_the_header():
    with tempfile.TemporaryDirectory() as path, FakeServer((200, {})) as server:
        token = os.path.join(path, "token")
        with open(token, "w") as file:
            file.write("abc123\n")
        server.transport(token_file=token).call("GET", "/")
        tap.equal(server.asked[0][3], "Bearer abc123")


def a_server_that_does_not_answer_is_given_up_in_time():
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = locate.Address("http://127.0.0.1:%d" %
                                 mute.getsockname()[1], None, None)
        # Nothing but its own deadline ends this.
        tap.raises(hypertune.DeadlineExceeded,
                   transport.Transport(address, 0.3).call, "GET", "/")


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
        tap.equal(str(error), "no, because\na.b: is wrong"
                  if kind is hypertune.Conflict else "a.b: is wrong")
        tap.equal((error.code, error.status, error.violations),
                  (code, status, {"a.b": "is wrong"}))
    tap.equal(str(errors.from_answer(400, {"error": {"details": [
        {"fieldViolations": [{"description": "is no JSON"}]}]}})),
        "is no JSON")


def an_operation_brings_a_response_or_its_error():
    tap.equal(errors.response_of({"done": True, "response": {"a": 1}}),
              {"a": 1})
    error = tap.raises(hypertune.DeadlineExceeded, errors.response_of,
                       {"error": {"code": 4, "message": "too late"}})
    tap.equal(str(error), "too late")


def an_answer_that_is_not_ours_says_so():
    with FakeServer((200, b"<html>")) as server:
        error = tap.raises(hypertune.ApiError, server.transport().call, "GET",
                           "/")
        tap.contains("is it a hypertune server", str(error))


if __name__ == "__main__":
    tap.run([
        a_question_is_repeated_while_the_server_is_busy,
        a_change_is_never_repeated,
        the_token_goes_into_the_header,
        a_server_that_does_not_answer_is_given_up_in_time,
        errors_have_the_servers_text_and_their_own_class,
        an_operation_brings_a_response_or_its_error,
        an_answer_that_is_not_ours_says_so,
    ])
