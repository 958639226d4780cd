"""Specs that are written in the dashboard, specs of studies, the server."""

import json
import os

import api
import fake_runner
import harness
import tap

server = None

SPEC = """\
spec: 1
name: written
goal: maximize accuracy
parameters:
  lr: {type: double, min: 1e-5, max: 1e-1, scale: log}
  opt: [adam, sgd]
trials: 4
command: [python3, train.py]
workdir: /tmp
"""


def check(text):
    answer = api.send(server, "POST", api.OURS + "/specs:check",
                      {"text": text})
    tap.equal(answer.status, 200, answer.body)
    return answer.json()


def get(path, status=200):
    answer = api.ask(server, "GET", api.OURS + path)
    tap.equal(answer.status, status, answer.body)
    return answer.json()


def findings(text):
    reply = check(text)
    tap.equal(reply["ok"], False, reply)
    tap.equal([key in reply for key in ("plan", "resource")], [False, False])
    return reply["findings"]


def a_right_spec_is_shown_as_it_would_run():
    reply = check(SPEC)
    tap.equal((reply["ok"], reply["findings"]), (True, []))
    plan = reply["plan"]
    tap.equal((plan["name"], plan["goal"], plan["safety"], plan["folder"]),
              ("written", "maximize accuracy", "", "/tmp"))
    tap.equal(plan["search"], "default search, 4 trials, 1 at a time")
    tap.equal(plan["parameters"], [
        {"name": "lr", "type": "DOUBLE", "range": "[1e-05, 0.1]  log",
         "when": ""},
        {"name": "opt", "type": "CATEGORICAL", "range": "adam, sgd",
         "when": ""}])
    tap.equal([words[:2] for words in plan["examples"]],
              [["python3", "train.py"]] * 3)
    tap.equal(plan["examples"][0][2], "--lr=0.001")
    tap.equal(get("/studies")["studies"], [])


def what_was_checked_is_created_by_its_own_collection():
    reply = check(SPEC)
    made = api.send(server, "POST", reply["collection"], reply["resource"])
    tap.equal(made.status, 200, made.body)
    tap.equal(made.json()["hypertuneStatus"]["name"], "written")
    custom = check("displayName: once\njobSpec:\n  workerPoolSpecs:\n"
                   "  - {replicaCount: 1, containerSpec: "
                   "{imageUri: 'example.org/i:1'}}\n")
    tap.equal(custom["ok"], True, custom)
    tap.equal(custom["collection"].rsplit("/", 1)[1], "customJobs")
    tap.equal(len(custom["plan"]["examples"]), 1)
    tap.equal(custom["plan"]["image"], "example.org/i:1")


def faults_have_their_place_and_a_hint():
    found = findings(SPEC.replace("trials: 4", "trails: 4"))
    tap.equal(len(found), 1, found)
    tap.equal((found[0]["severity"], found[0]["line"], found[0]["column"],
               found[0]["path"]), ("ERROR", 7, 1, "trails"))
    tap.contains("trials", found[0]["message"] + found[0]["hint"])
    found = findings(SPEC.replace("{type: double", "{type: double]"))
    tap.equal(found[0]["line"], 5, found)


def every_form_is_read():
    job = api.job("vertex")
    job["trialJobSpec"]["workerPoolSpecs"][0]["containerSpec"]["imageUri"] = \
        "example.org/i:1"
    del job["hypertune"]["seed"]
    tap.equal(check(json.dumps(job))["ok"], True)
    reply = check(
        "trainingInput:\n  scaleTier: CUSTOM\n  masterType: n1-standard-4\n"
        "  masterConfig: {imageUri: 'example.org/i:1'}\n"
        "  region: here\njobId: old\n")
    tap.equal((reply["ok"], reply["plan"]["name"]), (True, "old"), reply)


def what_a_shell_would_add_must_be_said():
    found = findings(SPEC.replace("name: written\n", "")
                     .replace("workdir: /tmp\n", ""))
    tap.equal([one["path"] for one in found], ["name", "workdir"])
    other = SPEC.replace("name: written", "name: other")
    found = findings(other.replace("/tmp", "code"))
    tap.equal([(one["path"], one["line"]) for one in found], [("workdir", 9)])
    tap.equal(check(other.replace("workdir: /tmp", "image: example.org/i:1"))
              ["ok"], True)
    warned = check(other + "passEnv: [TOKEN]\n")
    tap.equal([(one["severity"], one["path"]) for one in warned["findings"]],
              [("WARNING", "passEnv")])
    tap.equal(warned["ok"], True)


def a_metrics_file_that_trials_share_is_found():
    shared = SPEC.replace("name: written", "name: other")
    shared += "metrics: {file: out.csv}\n"
    tap.equal(check(shared)["ok"], True)
    one = findings(shared + "parallel: 3\n")[0]
    tap.equal((one["path"], one["line"] > 0, "file: ${trialDir}/out.csv" in
               one["hint"]), ("metrics.file", True, True), one)
    own = shared + "parallel: 3\n"
    tap.equal(check(own.replace("out.csv", '"${trialDir}/out.csv"'))["ok"],
              True)
    reply = check(own.replace("workdir: /tmp", "workdir: {own: /tmp}"))
    tap.equal((reply["ok"], reply["resource"]["hypertune"]["ownWorkdir"]),
              (True, True), reply)
    one = findings(own.replace("workdir: /tmp", "workdir: own"))[0]
    tap.equal((one["path"], "{own: /FOLDER}" in one["hint"]),
              ("workdir", True), one)
    reply = check(own.replace("parallel: 3", "parallel: 1"))
    resource = dict(reply["resource"], parallelTrialCount=2)
    answer = api.send(server, "POST", reply["collection"], resource)
    tap.equal((answer.status, "hypertune.metricsFile" in str(answer.body)),
              (400, True), str(answer.body))


def a_body_without_text_is_refused():
    for body in ({}, {"text": 3}, []):
        answer = api.send(server, "POST", api.OURS + "/specs:check", body)
        tap.equal(answer.status, 400, body)


def the_template_needs_nothing_but_a_folder():
    yaml = get("/specs:template")["yaml"]
    reply = check(yaml)
    tap.equal([reply["ok"], *((one["severity"], one["path"], one["line"] > 0)
                              for one in reply["findings"])],
              [True, ("WARNING", "workdir", True)])
    reply = check(yaml.replace("/path/to/your/code", "/tmp"))
    tap.equal((reply["ok"], reply["findings"]), (True, []))


def a_study_shows_its_spec_in_every_form():
    native = get("/studies/written/spec")
    tap.equal((native["form"], native["omitted"]), ("native", []))
    tap.equal(native["spec"]["goal"], "maximize accuracy")
    tap.equal(native["spec"]["command"], ["python3", "train.py"])
    again = check(native["yaml"].replace("name: written", "name: again"))
    tap.equal(again["ok"], True, again)
    tap.equal(again["resource"]["studySpec"],
              get("/studies/written/spec?form=vertex")["spec"]["studySpec"])
    aip = get("/studies/written/spec?form=aip")
    tap.contains("trainingInput", aip["spec"])
    tap.equal([one["path"] for one in aip["omitted"]].count("workdir"), 1,
              aip["omitted"])
    get("/studies/written/spec?form=toml", 400)
    get("/studies/none/spec", 404)


def a_name_that_is_taken_is_refused_with_its_place():
    def taken(text):
        return [(one["path"], one["line"], one["column"])
                for one in findings(text)
                if one["message"] == "there is a study of that name"]
    tap.equal(taken(SPEC), [("name", 2, 7)])
    tap.equal(taken("displayName: any\nhypertune: {name: written}\njobSpec:\n"
                    "  workerPoolSpecs:\n  - containerSpec: {imageUri: i}\n"),
              [("hypertune.name", 2, 19)])
    tap.equal(taken("jobId: written\ntrainingInput:\n  scaleTier: CUSTOM\n"
                    "  masterType: n1-standard-4\n"
                    "  masterConfig: {imageUri: i}\n"), [("jobId", 1, 8)])
    reply = check(SPEC.replace("name: written", "name: gone"))
    made = api.send(server, "POST", reply["collection"], reply["resource"])
    tap.equal(made.status, 200, made.body)
    again = api.send(server, "POST", reply["collection"], reply["resource"])
    tap.equal(again.status, 409, again.body)
    path = api.OURS + "/studies/" + made.json()["name"].rsplit("/", 1)[1]
    for method, act in (("POST", ":cancel"), ("DELETE", "")):
        done = api.send(server, method, path + act, {})
        tap.equal(done.status, 200, done.body)
    tap.equal(check(SPEC.replace("name: written", "name: gone"))["ok"], True)


def a_spec_that_changes_a_study_lists_what_differs():
    def changes(text, **body):
        answer = api.send(server, "POST", api.OURS + "/specs:check",
                          {"text": text, "study": "written", **body})
        tap.equal(answer.status, 200, answer.body)
        return answer.json()
    tap.equal(changes(SPEC)["changes"], [])
    reply = changes(SPEC.replace("trials: 4", "trials: 9"))
    tap.equal((reply["ok"], reply["changes"]), (True, ["trials: 4 -> 9"]))
    reply = changes(SPEC.replace("name: written", "name: other"))
    one, = reply["findings"]
    tap.equal((reply["ok"], one["path"], one["line"], one["message"]),
              (False, "name", 2, "a study keeps its name"))
    reply = changes(SPEC.replace("scale: log", "scale: linear"))
    tap.equal([reply["ok"], *(one["path"] for one in reply["findings"])],
              [False, "parameters"], reply)
    answer = api.send(server, "POST", api.OURS + "/specs:check",
                      {"text": SPEC, "study": "absent"})
    tap.equal(answer.status, 404, answer.body)


def a_trial_shows_the_commands_of_its_replicas():
    job = api.job("commands")
    pool = job["trialJobSpec"]["workerPoolSpecs"][0]
    pool["containerSpec"] = {"command": ["python3", "train.py"],
                             "args": ["--fast"]}
    job["hypertune"]["workdir"] = "/tmp"
    made = api.send(server, "POST", api.JOBS, job)
    tap.equal(made.status, 200, made.body)
    point = [{"parameterId": "lr", "value": 0.5}]
    added = api.send(server, "POST", api.OURS + "/studies/commands/trials",
                     {"parameters": point})
    tap.equal(added.status, 200, added.body)
    trial = get("/studies/commands/trials/" + added.json()["id"])
    tap.equal(trial["hypertune"]["commands"],
              [{"type": "master", "replicas": 1,
                "words": ["python3", "train.py", "--fast", "--lr=0.5"]}])


def the_server_tells_of_its_disk():
    info = get("/server")
    tap.equal(info["folder"], os.path.realpath(server.data))
    disk = os.statvfs(server.data)
    tap.equal(info["disk"]["totalBytes"], disk.f_blocks * disk.f_frsize)
    tap.true(0 < info["disk"]["freeBytes"] <= info["disk"]["totalBytes"],
             (info["disk"]["freeBytes"], info["disk"]["totalBytes"]))
    tap.true(info["databaseBytes"] >= os.path.getsize(
        os.path.join(server.data, "hypertune.db")))


def a_runner_was_last_heard_when_it_last_spoke():
    with fake_runner.Runner(server) as runner:
        first = get("/runners")["runners"][0]
        tap.equal((first["runner"], first["state"]), ("fake", "ONLINE"))
        attempt = runner.lease()[0].started()

        def is_heard_later():
            attempt.report(0.5)
            return (get("/runners")["runners"][0]["lastSeenMs"]
                    > first["lastSeenMs"])
        harness.wait_until(is_heard_later, "a later time")


with harness.Server("--runner", "none") as server:
    tap.run([
        a_right_spec_is_shown_as_it_would_run,
        what_was_checked_is_created_by_its_own_collection,
        faults_have_their_place_and_a_hint,
        every_form_is_read,
        what_a_shell_would_add_must_be_said,
        a_metrics_file_that_trials_share_is_found,
        a_body_without_text_is_refused,
        the_template_needs_nothing_but_a_folder,
        a_study_shows_its_spec_in_every_form,
        a_name_that_is_taken_is_refused_with_its_place,
        a_spec_that_changes_a_study_lists_what_differs,
        a_trial_shows_the_commands_of_its_replicas,
        the_server_tells_of_its_disk,
        a_runner_was_last_heard_when_it_last_spoke,
    ])
