"""What the Python SDK's clients sent, word for word, is answered as they were.

tests/google/sdk-*.json are records of tests/google/test_sdk_*.py; they are sent
again here, so that every machine tests what the SDK needs."""

import json
import re
import urllib.parse

import api
import harness
import replay
import tap
import tree

RECORDS = tree.path("tests/google/sdk-%s.json")
NAMES = ["vizier-v1", "jobs-v1", "vizier-v1beta1", "jobs-v1beta1"]
MARK = re.compile(r"\{(\d+\+?)\}")

server = None


def fill_in(text, given):
    return MARK.sub(lambda mark: given[mark.group(1)], text)


def send(call, given):
    """One request; (HTTP status, JSON)."""
    path = urllib.parse.quote(fill_in(call["path"], given), safe="/:")
    if call["query"]:
        path += "?" + fill_in(call["query"], given)
    if "body" in call:
        body = json.loads(fill_in(json.dumps(call["body"]), given))
        answer = api.send(server, call["method"], path, body)
    else:
        answer = api.ask(server, call["method"], path,
                         "Content-Type: application/json",
                         "Content-Length: 0")
    return answer.status, answer.json()


def shown(answer, given):
    """The answer as it is recorded."""
    text = json.dumps(answer)
    for mark, value in sorted(given.items(), key=lambda item: -len(item[1])):
        text = text.replace(value, "{%s}" % mark)
    return replay.shape(json.loads(text))


def take(number, answer, given):
    for key, mark in (("name", "%d"), ("nextPageToken", "%d+")):
        value = answer.get(key)
        if value and value not in given.values():
            given[mark % number] = value


def meets(number, call, given):
    """Whether the answer is the recorded one; what came, if not."""
    status, answer = send(call, given)
    after = dict(given)
    take(number, answer, after)
    got = {"status": status, "answer": shown(answer, after)}
    want = {"status": call["status"], "answer": call["answer"]}
    if got == want:
        given.update(after)
    return got == want, got, want


def say_again(calls):
    given = {}
    for number, call in enumerate(calls):
        what = "%s %s" % (call["method"], call["path"])
        if call["method"] == "GET" and call["status"] == 200:
            last = []

            def settled(number=number, call=call):
                last[:] = meets(number, call, given)
                return last[0]
            try:
                harness.wait_until(settled, what)
            except AssertionError:
                tap.equal(last[1], last[2], what)
        else:
            same, got, want = meets(number, call, given)
            tap.equal(got, want, what)


def case_of(name, title, calls):
    def run():
        say_again(calls)
    run.__name__ = "%s: %s" % (name, title)
    return run


def recorded():
    for name in NAMES:
        with open(RECORDS % name, encoding="utf-8") as file:
            cases = json.load(file)
        for title, calls in cases.items():
            yield case_of(name, title, calls)


with harness.Server() as server:
    tap.run(list(recorded()))
