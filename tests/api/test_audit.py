"""The audit log: each change and refusal has its line, and `hypertune audit`."""

import json
import os
import subprocess

import api
import harness
import tap

server = None


def lines(query=""):
    answer = api.ask(server, "GET", api.OURS + "/audit?limit=1000" + query)
    tap.equal(answer.status, 200, query)
    return json.loads(answer.body)["lines"]


def last():
    answer = api.ask(server, "GET", api.OURS + "/audit?limit=1")
    return json.loads(answer.body)["last"]


def since(start, **wanted):
    return [line for line in lines("&since=%d" % start)
            if all(line.get(key) == value for key, value in wanted.items())]


def make(name):
    return json.loads(api.send(
        server, "POST", api.STUDIES,
        {"displayName": name, "studySpec": api.JOB["studySpec"]}).body)["name"]


def a_change_has_its_line_which_outlives_its_study():
    start = last()
    name = "kept-in-the-log"
    path = "/v1/" + make(name)
    tap.equal(api.ask(server, "DELETE", path).status, 200)
    made, deleted = since(start)
    tap.equal(made["action"].split()[0], "POST")
    tap.equal(deleted["action"].split()[0], "DELETE")
    for line in (made, deleted):
        tap.equal((line["study"], line["code"], line["principal"],
                   line["address"], line["refused"]),
                  (name, 200, "admin", "127.0.0.1", False))
    tap.equal(made["studyId"], deleted["studyId"])
    tap.equal([line["id"] for line in lines("&study=" + name)],
              [made["id"], deleted["id"]])
    tap.equal(lines("&study=none"), [])
    tap.equal(lines("&principal=none"), [])


def a_change_that_failed_has_its_line_with_the_error():
    start = last()
    path = api.OURS + "/studies/none:pause"
    tap.equal(api.send(server, "POST", path, {}).status, 404)
    line, = since(start)
    tap.equal((line["code"], line["study"], line["refused"]),
              (404, "none", False))
    tap.contains("none", line["error"])


def questions_have_none():
    start = last()
    tap.equal(api.ask(server, "GET", api.STUDIES).status, 200)
    tap.equal(since(start), [])


def work_of_clients_shares_a_line():
    path = "/v1/" + make("worked-on") + "/trials"
    start = last()
    point = {"parameters": [{"parameterId": "lr", "value": 0.5}]}
    for _ in range(5):
        tap.equal(api.send(server, "POST", path, point).status, 200)
    tap.equal(sum(line.get("count", 1) for line in since(start)), 5)
    tap.true(len(since(start)) <= 2, "lines")


def refusals_are_counted_beyond_a_few_a_second():
    start = last()
    for _ in range(60):
        tap.equal(api.ask(server, "GET", api.JOBS, auth="secret").status, 401)

    def counted():
        return sum(line.get("count", 1) for line in since(start, refused=True))
    harness.wait_until(lambda: counted() == 60, "60 refusals in the log")
    stored = since(start, refused=True)
    tap.true(len(stored) < 60, "each refusal has a line")
    tap.equal({line["code"] for line in stored}, {401})
    tap.lacks("secret", json.dumps(stored))


def a_look_at_another_project_is_a_refusal():
    secret = api.send(server, "POST", api.OURS + "/tokens", {
        "name": "curious", "role": "read", "project": "mine"}).json()["secret"]
    start = last()
    tap.equal(api.ask(server, "GET", api.JOBS, auth=secret).status, 404)
    line, = harness.wait_until(lambda: since(start, refused=True), "its line")
    tap.equal((line["principal"], line["code"]), ("curious", 403))


def only_an_admin_reads_it():
    runner = api.token(server, "runner-token")
    for stranger, code in ((None, 401), (runner, 403)):
        tap.equal(api.ask(server, "GET", api.OURS + "/audit",
                          auth=stranger).status, code)
    for query in ("after=yesterday", "since=-2", "limit=0", "other=1"):
        tap.equal(api.ask(server, "GET", api.OURS + "/audit?" + query).status,
                  400, query)
    tap.equal(lines("&after=2999-01-01T00:00:00Z"), [])


def command(*words):
    return [os.path.join(harness.bin_dir(), "hypertune"), "--server",
            server.http, "--token-file", os.path.join(server.data, "token"),
            "audit"] + list(words)


def the_command_prints_and_follows():
    name = make("printed").rsplit("/", 1)[1]
    wanted = [line["id"] for line in lines("&study=" + name)]
    out = subprocess.check_output(command("--study", name, "-o", "json"))
    tap.equal([line["id"] for line in json.loads(out)], wanted)
    out = subprocess.check_output(command("--since", "1h", "-o", "csv"))
    tap.starts(out.decode(), "TIME,WHO,FROM,CODE,COUNT,ACTION,STUDY,DETAIL")
    following = subprocess.Popen(
        command("--follow", "--limit", "0", "-o", "json"),
        stdout=subprocess.PIPE)
    try:
        json.loads(following.stdout.readline())
        start = last()
        make("followed")
        seen = {"id": 0}
        while seen["id"] <= start:
            seen = json.loads(following.stdout.readline())
        tap.equal(seen, since(start)[0])
    finally:
        following.terminate()
        following.wait(harness.PATIENCE)
        following.stdout.close()


with harness.Server("--runner", "none") as server:
    tap.run([
        a_change_has_its_line_which_outlives_its_study,
        a_change_that_failed_has_its_line_with_the_error,
        questions_have_none,
        work_of_clients_shares_a_line,
        refusals_are_counted_beyond_a_few_a_second,
        a_look_at_another_project_is_a_refusal,
        only_an_admin_reads_it,
        the_command_prints_and_follows,
    ])
