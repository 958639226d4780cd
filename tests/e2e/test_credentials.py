"""Keys of service accounts: a folder of the runner, found by trials."""

import json
import os
import shutil
import sys
import tempfile

import cli_home
import harness
import tap

PLACE = "/v1/projects/moon/locations/us-central1"
VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"
ACCOUNT = "trainer@moon.iam.gserviceaccount.com"
SECRET = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
# What a trial finds, as one line of JSON.
LOOK = """
import json, os
path = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
print(json.dumps({
    "email": path and json.load(open(path)).get("client_email"),
    "path": path,
    "project": os.environ.get("CLOUD_ML_PROJECT_ID"),
    "region": os.environ.get("CLOUD_ML_REGION")}))
"""

server = None
keys = tempfile.mkdtemp(prefix="ht-keys-")


def write_key(name, email, mode=0o600, folder=None):
    path = os.path.join(folder or keys, name + ".json")
    with open(path, "w", encoding="ascii") as file:
        json.dump({"type": "service_account", "client_email": email,
                   "private_key": "-----BEGIN PRIVATE KEY-----\n%s\n"
                                  "-----END PRIVATE KEY-----\n" % SECRET},
                  file, indent=2)
    os.chmod(path, mode)
    return path


def submit(name, program, account=None, env=()):
    """A custom job of one Python program; the answer of its creation."""
    spec = {"workerPoolSpecs": [{
        "replicaCount": "1",
        "containerSpec": {
            "command": [sys.executable, "-c", program],
            "env": [{"name": one, "value": value} for one, value in env]}}]}
    if account is not None:
        spec["serviceAccount"] = account
    status, made = server.call("POST", PLACE + "/customJobs", {
        "displayName": name, "jobSpec": spec,
        "hypertune": {"name": name, "retries": "0"}})
    tap.equal(status, 200, made)
    return made


def await_end(name):
    def look():
        job = server.get(PLACE + "/customJobs/" + name)
        return job if "endTime" in job else None
    job = harness.wait_until(look, name + " to end")
    tap.equal(job["state"], "JOB_STATE_SUCCEEDED", job)
    return job["name"].rsplit("/", 1)[1]


def log_of(number, stream):
    path = harness.OURS + "%s/trials/1/logs?stream=%s" % (number, stream)
    return server.get(path)["data"]


def run(name, *arguments, **options):
    """What the trial found, the runner's words, the warnings of create."""
    made = submit(name, LOOK, *arguments, **options)
    number = await_end(name)
    warnings = [one["field"] + ": " + one["description"] for one in
                made["hypertuneStatus"].get("warnings", [])]
    return (json.loads(log_of(number, "stdout")), log_of(number, "runner"),
            warnings)


def the_runner_tells_whose_keys_it_has():
    runners = harness.wait_until(
        lambda: server.get("/hypertune/v1/runners")["runners"], "a runner")
    tap.equal([one["rules"]["credentials"] for one in runners],
              [["default", ACCOUNT]])
    tap.contains("credentials.unusable", server.log_text())
    tap.contains("open@moon.json", server.log_text())


def a_trial_finds_the_key_of_its_account():
    found, words, warnings = run("named", ACCOUNT)
    tap.equal((found["email"], words, warnings), (ACCOUNT, "", []))
    tap.equal((found["project"], found["region"]), ("moon", "us-central1"))
    inside = os.path.realpath(os.path.join(server.data, "runs", "credentials"))
    tap.equal(os.path.dirname(found["path"]), inside)
    harness.wait_until(lambda: os.listdir(inside) == [],
                       "the copy to go with its attempt")


def a_job_without_an_account_finds_the_default():
    found, words, warnings = run("unnamed")
    tap.equal((found["email"], words, warnings), ("default@moon", "", []))


def an_unknown_account_is_named_twice_and_the_job_runs():
    found, words, warnings = run("unknown", "nobody@moon")
    tap.equal((found["email"], found["path"]), (None, None))
    tap.equal(words, "no credentials of nobody@moon: nobody@moon.json is not "
                     "there in this runner's --credentials folder; it runs "
                     "without\n")
    tap.equal(warnings, [
        "jobSpec.serviceAccount: no runner has credentials of nobody@moon "
        "(--credentials DIR): trials run without"])


def a_key_that_others_can_read_is_none():
    found, words, _ = run("open", "open@moon")
    tap.equal(found["email"], None)
    tap.contains("open@moon.json is open to other users", words)


def what_the_job_sets_itself_stays():
    # Those of the runner are hidden.
    own = write_key("own", "own@moon", folder=server.folder)
    found, words, warnings = run("own", ACCOUNT, env=[(VARIABLE, own)])
    tap.equal((found["email"], found["path"]), ("own@moon", own))
    tap.equal(words, "the job or its image sets %s: the credentials of %s are "
                     "not used\n" % (VARIABLE, ACCOUNT))
    tap.equal(warnings, [])


def a_key_is_never_in_a_log_nor_in_a_trials_folder():
    shown = ("import os; print(open(os.environ['%s']).read()); "
             "import json; print(json.load(open(os.environ['%s']))"
             "['private_key'])" % (VARIABLE, VARIABLE))
    submit("shown", shown, ACCOUNT)
    text = log_of(await_end("shown"), "stdout")
    tap.equal((SECRET in text, "***" in text, ACCOUNT in text),
              (False, True, True), text)
    # The attempt's own copy goes with the attempt, just after its end; then its
    # folder, whose log is what the trainer printed.
    runs = os.path.join(server.data, "runs")
    harness.wait_until(
        lambda: not os.listdir(os.path.join(runs, "credentials")) and
        not any(name.endswith(".log") for _, _, names in os.walk(runs)
                for name in names), "the attempts to go")
    # The runner forgets the attempt meanwhile, folder and all.
    for path, content in harness.contents(server.data).items():
        tap.lacks(SECRET.encode(), content, path)


def submit_legacy(name, account):
    """An AI Platform job; timeit runs its last argument, once."""
    status, made = server.call("POST", "/v1/projects/moon/jobs", {
        "jobId": name, "trainingInput": {
            "region": "us-east1", "pythonModule": "timeit",
            "serviceAccount": account, "args": ["-n1", "-r1", LOOK]}})
    tap.equal((status, made.get("jobId")), (200, name), made)

    def look():
        job = server.get("/v1/projects/moon/jobs/" + name)
        return job if "endTime" in job else None
    tap.equal(harness.wait_until(look, name + " to end")["state"],
              "SUCCEEDED")


def an_ai_platform_job_has_its_account_too():
    submit_legacy("legacy", ACCOUNT)
    found = json.loads(log_of("legacy", "stdout").splitlines()[0])
    tap.equal((found["email"], found["project"], found["region"]),
              (ACCOUNT, "moon", "us-east1"))
    submit_legacy("legacy_2", "nobody@moon")
    events = server.get(harness.OURS + "legacy_2/events")["events"]
    tap.equal([one["reason"] for one in events
               if one["kind"] == "study.warned"],
              ["trainingInput.serviceAccount: no runner has credentials of "
               "nobody@moon (--credentials DIR): trials run without"])


def ones_own_server_takes_the_folder_that_a_variable_names():
    with cli_home.Home() as home:
        spec = home.write("spec.yaml", {
            "name": "own", "goal": "maximize a", "parameters": {"x": [1]},
            "trials": 1, "serviceAccount": ACCOUNT, "args": "none",
            "metrics": {"stdout": "a={a}"},
            "command": [sys.executable, "-c", LOOK + "print('a=1')"]})
        home.cli("run", spec, HYPERTUNE_RUNNER_CREDENTIALS=keys)
        found = json.loads(home.cli("logs", "own/1")[0].splitlines()[0])
        tap.equal(found["email"], ACCOUNT, found)


def an_account_that_names_no_file_is_refused():
    for account in ("../" + ACCOUNT, "a/b", "..", ".hidden", "a b", 7):
        status, answer = server.call("POST", PLACE + "/customJobs", {
            "displayName": "bad", "jobSpec": {
                "serviceAccount": account, "workerPoolSpecs": [{
                    "containerSpec": {"command": ["true"]}}]}})
        tap.equal((status, answer["error"]["status"]),
                  (400, "INVALID_ARGUMENT"), answer)
        tap.contains("jobSpec.serviceAccount", answer["error"]["message"],
                     answer)


def the_account_is_shown_to_a_person():
    spec = {"name": "mine", "goal": "maximize a", "parameters": {"x": [1, 2]},
            "command": ["true"], "trials": 1, "serviceAccount": ACCOUNT}
    server.submit(spec)
    line = "\n  account     " + ACCOUNT + "\n"
    for words in (["describe", "mine"], ["check", "mine.yaml"]):
        text = server.cli(*words).stdout
        tap.contains(line, text)
    report = server.cli("doctor").stdout
    tap.contains(", credentials of default," + ACCOUNT, report)
    lines = server.cli("runners", "-o", "csv").stdout.splitlines()
    column = lines[0].split(",").index("CREDENTIALS")
    tap.contains(ACCOUNT, lines[1].split(",", column)[column], lines)


write_key(ACCOUNT, ACCOUNT)
write_key("default", "default@moon", 0o640)
write_key("open@moon", "open@moon", 0o644)
try:
    with harness.Server("--runner", "process",
                        "--credentials", keys) as server:
        tap.run([
            the_runner_tells_whose_keys_it_has,
            a_trial_finds_the_key_of_its_account,
            a_job_without_an_account_finds_the_default,
            an_unknown_account_is_named_twice_and_the_job_runs,
            a_key_that_others_can_read_is_none,
            what_the_job_sets_itself_stays,
            a_key_is_never_in_a_log_nor_in_a_trials_folder,
            an_ai_platform_job_has_its_account_too,
            ones_own_server_takes_the_folder_that_a_variable_names,
            an_account_that_names_no_file_is_refused,
            the_account_is_shown_to_a_person,
        ])
finally:
    shutil.rmtree(keys)
