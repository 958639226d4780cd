"""What replicas learn of their cluster and their job, for each form of job:
CLUSTER_SPEC and TF_CONFIG of every replica, key by key."""

import json
import os

import harness
import tap
import tree

GREETER = os.path.join(tree.TRAINERS, "greeter.py")
# A module of Python itself that runs a file: a job of AI Platform names one.
MODULE, ARGS = "cProfile", ["-o", "/dev/null", GREETER]

# Whether the arguments are those of the job that the variables show.
SHOW_ARGS = """import json, os, sys
for name in ("CLUSTER_SPEC", "TF_CONFIG"):
    pool, = json.loads(os.environ[name])["job"]["workerPoolSpecs"]
    print(pool["containerSpec"]["args"] == sys.argv[1:])
"""

ROLES = ("master", "worker", "ps", "evaluator")
AIP_JOBS = "/v1/projects/local/jobs"
TUNING_JOBS = harness.JOBS.rstrip("/")
CUSTOM_JOBS = TUNING_JOBS.replace("hyperparameterTuningJobs", "customJobs")


def expected(replica, sizes, addresses, names, job, trial):
    """One variable of one replica: `names` are what the roles are called."""
    role, index = replica.rsplit("-", 1)
    task = {"type": names.get(role, role), "index": int(index)}
    if trial is not None:
        task["trial"] = trial
    return {"cluster": {names[kind]: addresses[kind]
                        for kind in sizes if kind in names},
            "task": task, "job": job, "environment": "cloud"}


AIP = dict(zip(ROLES, ROLES))
VERTEX = {role: "workerpool%d" % i for i, role in enumerate(ROLES)}


def tensorflow(master):
    return {"master": master, "worker": "worker", "ps": "ps"}


def aip_input(**members):
    return dict({"region": "us-central1", "pythonModule": MODULE,
                 "args": ARGS}, **members)


SEARCH = {"goal": "MAXIMIZE", "hyperparameterMetricTag": "score",
          "maxTrials": 1, "maxParallelTrials": 1,
          "params": [{"parameterName": "x", "type": "DOUBLE", "minValue": 0,
                      "maxValue": 1, "scaleType": "UNIT_LINEAR_SCALE"}]}


def pool(count, **members):
    return dict({"replicaCount": count, "containerSpec": {
        "command": ["python3"], "args": [GREETER],
        "env": [{"name": "COLOUR", "value": "green"}]}}, **members)


def tuning(name, spec, **members):
    return dict({
        "displayName": name, "maxTrialCount": 1, "parallelTrialCount": 1,
        "studySpec": {
            "metrics": [{"metricId": "score", "goal": "MAXIMIZE"}],
            "parameters": [{"parameterId": "x", "doubleValueSpec": {
                "minValue": 0, "maxValue": 1}}]},
        "trialJobSpec": spec, "hypertune": {"name": name}}, **members)


class Cases:
    def __init__(self, server):
        self.server = server

    # --- helpers ---

    def post(self, path, body):
        status, answer = self.server.call("POST", path, body)
        tap.equal(status, 200, answer)

    def output(self, name, replica, trial=1, stream="stdout"):
        return self.server.get(
            harness.OURS + "%s/trials/%s/logs?replica=%s&stream=%s&offset=0" %
            (name, trial, replica, stream))["data"]

    def said(self, name, replica, trial=1):
        return json.loads(self.output(name, replica, trial).splitlines()[0])

    def finish(self, name):
        """Waits for a job of any kind; returns it as AI Platform shows it."""
        def ended():
            status, job = self.server.call("GET", AIP_JOBS + "/" + name)
            tap.equal(status, 200, job)
            return job if "endTime" in job else None
        job = harness.wait_until(ended, "the end of job " + name)
        tap.equal(job["state"], "SUCCEEDED", job)
        return job

    def check(self, name, sizes, master, job, names, trial="1", number=1):
        """Every replica of the trial against what it must get; `master` is
        its name in TF_CONFIG. The greeter has tried all addresses."""
        shown = self.said(name, "master-0", number)["CLUSTER_SPEC"]["cluster"]
        addresses = {role: shown[names[role]] for role in sizes}
        everybody = sum(addresses.values(), [])
        tap.equal(len(set(everybody)), sum(sizes.values()), "addresses")
        for role, count in sizes.items():
            tap.equal(len(addresses[role]), count, role)
            for index in range(count):
                replica = "%s-%d" % (role, index)
                said = self.said(name, replica, number)
                for variable, words in (("CLUSTER_SPEC", names),
                                        ("TF_CONFIG", tensorflow(master))):
                    tap.equal(said[variable],
                              expected(replica, sizes, addresses, words, job,
                                       trial), "%s of %s" % (variable, replica))
                tap.equal(said["HYPERTUNE_REPLICA"], replica, "name")

    # --- AI Platform ---

    def aip(self, name, sizes, master, trial, **members):
        given = aip_input(**members)
        self.post(AIP_JOBS, {"jobId": name, "trainingInput": given})
        self.finish(name)
        self.check(name, sizes, master, given, AIP, trial)

    def a_search_of_ai_platform_names_its_roles(self):
        self.aip("aip_search", {"master": 1, "worker": 2, "ps": 1}, "master",
                 "1", scaleTier="CUSTOM", workerCount="2",
                 parameterServerCount=1, hyperparameters=SEARCH)

    def evaluators_change_tf_config_alone(self):
        self.aip("aip_evaluated", {"master": 1, "worker": 1, "evaluator": 1},
                 "chief", "1", scaleTier="CUSTOM", workerCount="1",
                 evaluatorCount="1", hyperparameters=SEARCH)

    def a_chief_that_was_asked_for_is_in_tf_config_alone(self):
        self.aip("aip_chief", {"master": 1, "worker": 1}, "chief", None,
                 scaleTier="CUSTOM", workerCount="1", useChiefInTfConfig=True,
                 enableWebAccess=False)

    def a_job_of_one_replica_is_a_cluster_too(self):
        self.aip("aip_one", {"master": 1}, "master", None)

    # --- Vertex ---

    def a_tuning_job_of_vertex_numbers_its_pools(self):
        name = "vertex-all"
        given = {"workerPoolSpecs": [pool("1"), pool(2), pool(1), pool("1")],
                 "scheduling": {"timeout": "3600s", "disableRetries": True},
                 "network": ""}
        self.post(TUNING_JOBS, tuning(name, given))
        self.finish(name)
        self.check(name, {"master": 1, "worker": 2, "ps": 1, "evaluator": 1},
                   "chief", given, VERTEX)

    def a_skipped_pool_keeps_its_number(self):
        name = "vertex-gap"
        given = {"workerPoolSpecs": [pool(1), {}, pool(2)]}
        self.post(TUNING_JOBS, tuning(name, given))
        self.finish(name)
        self.check(name, {"master": 1, "ps": 2}, "chief", given, VERTEX)
        name = "vertex-late"
        given = {"workerPoolSpecs": [pool(1), {}, {"replicaCount": 0},
                                     pool(1)]}
        self.post(TUNING_JOBS, tuning(name, given))
        self.finish(name)
        self.check(name, {"master": 1, "evaluator": 1}, "chief", given, VERTEX)

    def a_custom_job_of_vertex_has_no_trial(self):
        name = "vertex-custom"
        given = {"workerPoolSpecs": [pool(1), pool(1)]}
        self.post(CUSTOM_JOBS, {"displayName": name, "jobSpec": given})
        self.finish(name)
        self.check(name, {"master": 1, "worker": 1}, "chief", given, VERTEX,
                   None)

    def a_job_that_was_changed_is_shown_as_changed(self):
        name = "changed"
        given = {"workerPoolSpecs": [pool(1)]}
        self.post(TUNING_JOBS, tuning(name, given))
        self.finish(name)
        self.check(name, {"master": 1}, "chief", given, VERTEX)
        given = {"workerPoolSpecs": [pool(1), pool("1")]}
        status, answer = self.server.call(
            "PATCH", harness.OURS + name,
            {"job": tuning(name, given, maxTrialCount=2)})
        tap.equal(status, 200, answer)
        self.finish(name)
        self.check(name, {"master": 1, "worker": 1}, "chief", given, VERTEX,
                   "2", 2)

    # --- what the command line sends ---

    def native(self, name, **members):
        self.server.submit(dict(
            {"spec": 1, "name": name, "goal": "maximize score",
             "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
             "trials": 1, "algorithm": "random", "seed": 1,
             "command": ["python3", GREETER],
             "metrics": {"stdout": "score={score}"}}, **members))
        return self.finish(name)

    def a_native_spec_has_ai_platforms_names(self):
        name = "native"
        job = self.native(name, replicas={"worker": {"count": 2}, "ps": {},
                                          "chief": True})
        self.check(name, {"master": 1, "worker": 2, "ps": 1}, "chief",
                   job["trainingInput"], AIP)
        tap.equal(job["trainingInput"]["workerCount"], "2")

    def an_evaluator_of_a_native_spec_makes_a_chief(self):
        name = "evaluated"
        job = self.native(name, replicas={"worker": {}, "evaluator": {}})
        self.check(name, {"master": 1, "worker": 1, "evaluator": 1}, "chief",
                   job["trainingInput"], AIP)

    def a_file_of_either_form_keeps_its_names(self):
        path = os.path.join(self.server.folder, "filed.json")
        for form, body, names in (
                ("aip", {"jobId": "filed_aip", "trainingInput": aip_input(
                    workerCount=1, hyperparameters=SEARCH)}, AIP),
                ("vertex", tuning("filed_vertex", {
                    "workerPoolSpecs": [pool(1), pool(1)]}), VERTEX)):
            with open(path, "w", encoding="ascii") as file:
                json.dump(body, file)
            self.server.cli("submit", path)
            name = "filed_" + form
            self.finish(name)
            job = self.said(name, "master-0")["CLUSTER_SPEC"]["job"]
            master = "chief" if form == "vertex" else "master"
            self.check(name, {"master": 1, "worker": 1}, master, job, names)
            if form == "aip":
                tap.equal(job["hyperparameters"], SEARCH)
                tap.equal(job["workerCount"], "1")
            else:
                tap.equal([item["replicaCount"]
                           for item in job["workerPoolSpecs"]], ["1", "1"])

    # --- its size ---

    def a_job_that_no_variable_can_hold_is_left_out_with_a_word(self):
        name = "huge"
        words = ["x" * 60000] * 3
        given = {"workerPoolSpecs": [pool(1)]}
        given["workerPoolSpecs"][0]["containerSpec"]["args"] = [GREETER] + words
        self.post(CUSTOM_JOBS, {"displayName": name, "jobSpec": given})
        self.finish(name)
        said = self.said(name, "master-0")
        for variable in ("CLUSTER_SPEC", "TF_CONFIG"):
            tap.equal(sorted(said[variable]),
                      ["cluster", "environment", "task"], variable)
        log = self.output(name, "master-0", stream="runner")
        for words in ('CLUSTER_SPEC and TF_CONFIG are without "job"',
                      "131071"):
            tap.contains(words, log)

    def a_job_that_nearly_fills_a_variable_is_there(self):
        name = "long"
        given = {"workerPoolSpecs": [{"replicaCount": 1, "containerSpec": {
            "command": ["python3", "-c", SHOW_ARGS],
            "args": ["x" * 60000, "y" * 60000]}}]}
        self.post(CUSTOM_JOBS, {"displayName": name, "jobSpec": given})
        self.finish(name)
        tap.equal(self.output(name, "master-0"), "True\nTrue\n")
        tap.equal(self.output(name, "master-0", stream="runner"), "")

    def trials_too_long_for_one_message_all_run(self):
        name = "longer"
        given = {"workerPoolSpecs": [{"replicaCount": 1, "containerSpec": {
            "command": ["sh", "-c", "echo score=1"],
            "args": ["x" * 100000] * 3}}]}
        self.post(TUNING_JOBS, tuning(
            name, given, maxTrialCount=4, parallelTrialCount=4, hypertune={
                "name": name, "stdoutPatterns": ["score={score}"]}))
        self.finish(name)
        tap.equal([trial["state"] for trial in self.server.trials(name)],
                  ["SUCCEEDED"] * 4)


def main():
    with harness.Server(slots=4) as server:
        cases = Cases(server)
        tap.run([
            cases.a_search_of_ai_platform_names_its_roles,
            cases.evaluators_change_tf_config_alone,
            cases.a_chief_that_was_asked_for_is_in_tf_config_alone,
            cases.a_job_of_one_replica_is_a_cluster_too,
            cases.a_tuning_job_of_vertex_numbers_its_pools,
            cases.a_skipped_pool_keeps_its_number,
            cases.a_custom_job_of_vertex_has_no_trial,
            cases.a_job_that_was_changed_is_shown_as_changed,
            cases.a_native_spec_has_ai_platforms_names,
            cases.an_evaluator_of_a_native_spec_makes_a_chief,
            cases.a_file_of_either_form_keeps_its_names,
            cases.a_job_that_no_variable_can_hold_is_left_out_with_a_word,
            cases.a_job_that_nearly_fills_a_variable_is_there,
            cases.trials_too_long_for_one_message_all_run,
        ])


main()
