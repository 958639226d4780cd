"""`hypertune check -o kubernetes` and the dry run of --smoke: what is printed is
what the runner makes, and the cluster's answer is said. On the played cluster,
or on a real one (see lib/pod_trials.py)."""

import contextlib
import json
import os
import tempfile

import pod_trials
import tap
import yaml
from kubernetes_rules import Refused
from pod_trials import IMAGE, shell, spec

REAL = "HT_KUBECONFIG" in os.environ
if os.geteuid() != 0 and not REAL:
    tap.skip("pods of the played cluster", "namespaces want root")

ONE = {"x": 3}  # its value is known before
WORKERS = {"worker": {"count": 2}}
POD = {"volumes": [{"name": "data", "emptyDir": {}}],
       "tolerations": [{"key": "spot", "operator": "Exists"}],
       "containers": [{"name": "trial", "env": [{"name": "A", "value": "1"}]}]}


def played_only():
    if REAL:
        raise tap.Skip("what a real one was sent is not seen")


def template(kind="Job", **members):
    container = {"name": "main", "image": IMAGE,
                 "command": shell("echo score=${x}")}
    return {"apiVersion": "batch/v1", "kind": kind, "spec": dict({
        "backoffLimit": 0, "template": {"spec": {
            "restartPolicy": "Never", "containers": [container]}}},
        **members)}


def call(*words, to=None, at=None, **members):
    """(the spec, how `check` of its file ended) with the server's cluster, or
    that of the variables `at`."""
    to = to or server
    made = spec("checked", **dict({"command": shell("echo score=${x}"),
                                   "parameters": ONE}, **members))
    path = os.path.join(to.folder, "checked.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    return made, to.cli(
        "check", path, *words, check=False, env={
            "KUBECONFIG": to.cluster.config,
            "HYPERTUNE_RUNNER_KUBERNETES_NAMESPACE": to.cluster.namespace,
            **(at or {})})


def shown(to=None, **members):
    made, done = call("-o", "kubernetes", to=to, **members)
    tap.equal(done.returncode, 0, done.stderr)
    return made, list(yaml.safe_load_all(done.stdout)), done.stderr


def smoke(*words, **members):
    return call("--smoke", "--full", *words, **members)[1]


def with_places(objects):
    """As `check` shows them: without what only the runner knows."""
    label = objects[0]["metadata"]["labels"]
    runner, attempt = label["hypertune/runner"], label["hypertune/attempt"]
    name = objects[0]["metadata"]["name"].split("-" + attempt)[0]
    folder = attempt.replace("-", "/")
    text = json.dumps(objects)
    for old, new in (
            ('"%s"' % runner, '"runner"'), (name + "-", "ht-server-"),
            (attempt, "1-1-1"), ('"%s/' % folder, '"1/1/1/'),
            ('"%s"' % folder.rpartition("/")[0], '"1/1"')):
        text = text.replace(old, new)
    return json.loads(text)


def expect_as_made(to=None, **members):
    """What is shown is what the engine sends, once the study runs."""
    to = to or server
    made, objects, said = shown(to, **members)
    created = to.cluster.cluster.created
    before = len(created)
    made["name"] = "made%d" % before
    trial = to.run(made)
    tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
    tap.equal(objects, with_places([
        item for plural, item, dry in created[before:]
        if plural != "configmaps" and not dry]))
    return objects, said


def what_is_printed_is_what_is_made():
    played_only()
    objects, said = expect_as_made(
        resources={"cpus": 0.5, "memory": "64Mi"}, serviceAccount="default",
        kubernetes={"labels": {"team": "vision"}, "pod": POD,
                    "annotations": {"yes": "on", "n": "1e3"}})
    tap.equal([one["kind"] for one in objects], ["Job"])
    tap.equal(objects[0]["metadata"]["annotations"], {"yes": "on", "n": "1e3"})
    container, = objects[0]["spec"]["template"]["spec"]["containers"]
    tap.true("args" not in container, container)
    tap.contains('the runner fills in what has "runner", "server" and 1-1-1',
                 said)
    tap.contains("the fields are those of Kubernetes 1.26 at http://", said)


def replicas_are_a_service_and_jobs():
    played_only()
    objects, _ = expect_as_made(replicas=WORKERS)
    tap.equal([one["kind"] for one in objects], ["Service", "Job", "Job"])


def a_template_is_its_object_with_the_values():
    played_only()
    objects, _ = expect_as_made(
        image=None, command=None, kubernetes={
            "template": template(), "labels": {"team": "vision"}})
    tap.equal([one["kind"] for one in objects], ["Job"])


def torch():
    def replica(command):
        return {"replicas": 1, "template": {"spec": {"containers": [
            {"name": "pytorch", "image": IMAGE, "command": shell(command)}]}}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {
        "pytorchReplicaSpecs": {"Master": replica("echo score=${x}"),
                                "Worker": replica("echo ${x}; sleep 1000")}}}


def kinds_of_other_projects_are_as_made():
    played_only()
    with tempfile.TemporaryDirectory(prefix="kube") as folder:
        with contextlib.closing(pod_trials.Played(
                folder, job_sets=True, training_jobs=True)) as other, \
                pod_trials.Server(other) as to:
            objects, _ = expect_as_made(to, image=None, command=None,
                                        kubernetes={"template": torch()})
            tap.equal([one["kind"] for one in objects], ["PyTorchJob"])
            done = smoke(to=to, image=None, command=None,
                         kubernetes={"template": torch()})
            tap.contains("the cluster accepts its PyTorchJob (", done.stderr)
            objects, said = expect_as_made(to, replicas=WORKERS)
            tap.equal([one["kind"] for one in objects], ["JobSet"])
            tap.lacks("without JobSets", said)
            done = smoke(to=to, replicas=WORKERS)
            tap.contains("the cluster accepts its JobSet (", done.stderr)


def a_template_s_texts_have_the_first_example():
    made = template()
    made["spec"]["template"]["metadata"] = {"annotations": {"x": "is ${x}"}}
    _, objects, _ = shown(image=None, command=None,
                          kubernetes={"template": made})
    tap.equal(objects[0]["spec"]["template"]["metadata"]["annotations"],
              {"x": "is 3"})


def a_plan_has_the_words_of_pods():
    _, done = call(kubernetes={})
    tap.equal(done.returncode, 0, done.stderr)
    for label, words in (("mounts", "/hypertune/trial, /hypertune/output; "),
                         ("network", "that of its pod"),
                         ("user", "the image's, or as `kubernetes` ")):
        tap.contains("  %-11s %s" % (label, words), done.stdout)
    _, done = call(kubernetes={}, container={"user": "1000"})
    tap.contains("  %-11s 1000\n" % "user", done.stdout)


def no_cluster_is_needed():
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "spec.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(spec("a", shell("true"), replicas=WORKERS), file)

        def check(*words, **env):
            return server.cli("check", "-o", "kubernetes", path, *words,
                              check=False, env={
                                  "KUBECONFIG": "", "HOME": home, **env})
        done = check()
        tap.equal(done.returncode, 0, done.stderr)
        tap.equal([one["kind"] for one in yaml.safe_load_all(done.stdout)],
                  ["Service", "Job", "Job"])
        tap.contains("podReplacementPolicy: Failed", done.stdout)
        tap.contains("those of Kubernetes 1.34, without JobSets", done.stderr)
        done = check("--kubernetes-context", "none")
        tap.equal(done.returncode, 2, done.stderr)
        done = check("--kubernetes-config", "/absent")
        tap.equal(done.returncode, 2)
        tap.contains("/absent: No such file", done.stderr)
        with open(path + ".config", "w", encoding="utf-8") as file:
            file.write(away())
        done = check(KUBECONFIG=path + ".config")
        tap.equal(done.returncode, 0, done.stderr)
        tap.contains("the cluster was not asked: ", done.stderr)
        tap.contains("those of Kubernetes 1.34, without JobSets", done.stderr)


def away():
    """A kubeconfig of a cluster that is not there."""
    return json.dumps({
        "current-context": "c", "contexts": [
            {"name": "c", "context": {"cluster": "c"}}],
        "clusters": [{"name": "c",
                      "cluster": {"server": "http://127.0.0.1:1"}}]})


def what_no_pod_can_be_is_said():
    for members, words in (
            ({"runOn": {"engine": "docker"}},
             "runOn asks for the engine docker, not kubernetes"),
            ({"image": None, "kubernetes": None}, "master-0 has no image"),
            ({"container": {"network": "host"}},
             "network: pods of this runner do not have it"),
            ({"resources": {"gpu": 0.5}}, "asks for a part of a GPU")):
        _, done = call("-o", "kubernetes", **members)
        tap.equal((done.returncode, done.stdout), (2, ""), done.stderr)
        tap.contains(words, done.stderr)
    _, done = call("--kubernetes-context", "c")
    tap.equal(done.returncode, 2)
    tap.contains("--kubernetes-context is for check -o kubernetes and --smoke",
                 done.stderr)


def doctor_looks_at_the_cluster_that_is_named():
    done = server.cli("doctor", "--kubernetes-config", cluster.admin,
                      "--kubernetes-namespace", cluster.namespace,
                      check=False, env={"KUBECONFIG": "/absent"})
    tap.contains(", namespace " + cluster.namespace, done.stdout)
    done = server.cli("doctor", "--kubernetes-config", cluster.admin,
                      "--kubernetes-context", "none", check=False)
    tap.contains("--kubernetes-config names it; ", done.stdout)
    tap.contains('no context "none"', done.stdout)


# ---- --smoke ----

def the_cluster_accepts_it_and_one_trial_runs():
    for members, kinds in (({}, "Job"),
                           ({"replicas": WORKERS}, "Service, Job and Job"),
                           ({"kubernetes": {}}, "Job")):
        done = smoke(**members)
        tap.equal(done.returncode, 0, done.stderr)
        tap.contains("smoke: the cluster accepts its %s (" % kinds,
                     done.stderr)
        tap.contains("namespace %s)" % cluster.namespace, done.stderr)
        tap.lacks("smoke: but not", done.stderr)
        tap.contains("smoke: one trial ran in ", done.stderr)
    server.expect_nothing_left()


def expect_refusal(words, *arguments, **members):
    before = server.cli("list", "-o", "name").stdout
    done = smoke(*arguments, **members)
    tap.equal(done.returncode, 1, done.stderr)
    tap.contains(words, done.stderr)
    tap.contains("hypertune: smoke: ", done.stderr)
    tap.lacks("running one trial", done.stderr)
    tap.equal(server.cli("list", "-o", "name").stdout, before)
    tap.equal(server.left(), [])


def what_the_cluster_refuses_is_said_before_a_trial_runs():
    expect_refusal('unknown field "spec.template.spec.nodeSelectr"',
                   kubernetes={"pod": {"nodeSelectr": {"disk": "fast"}}})
    expect_refusal('unknown field "spec.backofLimit"', image=None,
                   command=None,
                   kubernetes={"template": template(backofLimit=1)})
    made = template(kind="Made")
    made["apiVersion"] = "example.org/v1"
    expect_refusal("the cluster has no kind Made of example.org/v1",
                   image=None, command=None, kubernetes={"template": made})
    expect_refusal('namespaces "absent" not found', "--kubernetes-config",
                   cluster.admin, "--kubernetes-namespace", "absent")
    expect_refusal("network: pods of this runner do not have it",
                   container={"network": "host"})


@contextlib.contextmanager
def without_jobs():
    """A quota leaves room for none."""
    if REAL:
        cluster.call("create", "quota", "none", "--hard=count/jobs.batch=0")
        try:
            yield
        finally:
            cluster.call("delete", "quota", "none")
        return

    def refuse(plural, _):
        if plural == "jobs":
            raise Refused(403, "Forbidden", 'jobs.batch "a" is forbidden: '
                          "exceeded quota: none, requested: count/jobs.batch=1"
                          ", used: count/jobs.batch=0, limited: "
                          "count/jobs.batch=0")
    cluster.cluster.store.admission = refuse
    try:
        yield
    finally:
        cluster.cluster.store.admission = None


def a_quota_is_a_refusal():
    with without_jobs():
        expect_refusal("exceeded quota: none")


def a_pod_that_is_refused_is_said():
    with cluster.without_pods() as words:
        done = smoke("--kubernetes-config", cluster.admin, "--timeout", "1s")
    tap.equal(done.returncode, 8, done.stderr)
    tap.contains("smoke: the cluster accepts its Job (", done.stderr)
    said, = [line for line in done.stderr.splitlines()
             if line.startswith("smoke: but not a pod of it by itself: ")]
    tap.contains(words, said)
    tap.contains("smoke: running one trial", done.stderr)
    server.expect_nothing_left()


def a_right_that_lacks_is_a_refusal():
    with cluster.without_right("jobs"):
        expect_refusal('cannot create resource "jobs"')


def a_cluster_that_is_away_is_not_asked():
    done = smoke("--kubernetes-config", "/absent")
    tap.equal(done.returncode, 1)
    tap.contains("smoke: cannot read /absent: No such file", done.stderr)
    path = os.path.join(server.folder, "away")
    with open(path, "w", encoding="utf-8") as file:
        file.write(away())
    for at, why in (({"KUBECONFIG": path}, "cannot be reached"),
                    ({"KUBECONFIG": "", "HOME": server.folder},
                     "there is no kubeconfig")):
        done = smoke(at=at)
        tap.equal(done.returncode, 0, done.stderr)
        said, = [line for line in done.stderr.splitlines() if line.startswith(
            "smoke: the cluster was not asked first: ")]
        tap.contains(why, said)
        tap.contains("smoke: one trial ran in ", done.stderr)


def a_dry_run_leaves_nothing():
    played_only()
    server.expect_nothing_left()
    created, changes = cluster.cluster.created, cluster.cluster.store.changes
    before = len(created), len(changes)
    with cluster.without_right("jobs"):
        expect_refusal("cannot create", replicas=WORKERS)
    tap.equal([(plural, dry) for plural, _, dry in created[before[0]:]],
              [("services", True)])
    tap.equal([one.plural for one in changes[before[1]:]
               if one.type == "ADDED"], [])


with pod_trials.cluster_here() as cluster:
    with pod_trials.Server(cluster) as server:
        tap.run([what_is_printed_is_what_is_made,
                 replicas_are_a_service_and_jobs,
                 a_template_is_its_object_with_the_values,
                 kinds_of_other_projects_are_as_made,
                 a_template_s_texts_have_the_first_example,
                 a_plan_has_the_words_of_pods,
                 no_cluster_is_needed,
                 what_no_pod_can_be_is_said,
                 doctor_looks_at_the_cluster_that_is_named,
                 the_cluster_accepts_it_and_one_trial_runs,
                 what_the_cluster_refuses_is_said_before_a_trial_runs,
                 a_quota_is_a_refusal,
                 a_pod_that_is_refused_is_said,
                 a_right_that_lacks_is_a_refusal,
                 a_cluster_that_is_away_is_not_asked,
                 a_dry_run_leaves_nothing])
