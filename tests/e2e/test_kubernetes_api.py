"""The client of Kubernetes' API against a played API server: objects, refusals,
lists, and watches over faults of the connection."""

import contextlib
import json
import os
import threading
import urllib.error
import urllib.request

import harness
import kubernetes
import tap
from kube_tool import Tool, add_maps, config_map, job, played
from kubernetes_rules import Refused

TOO_MANY = Refused(429, "TooManyRequests", "slow down", retry=1)


# ---- objects ----

def an_object_lives_and_goes_with_what_it_owns():
    with played() as (cluster, tool):
        made = tool.ask("create", "jobs", job("a"))
        tap.equal(made[-1], "ok")
        uid = made[0].split(" ")[2]
        tap.equal(len(cluster.store.find("pods", "work")), 1)
        tap.starts(tool.end("create", "jobs", job("a")), "ALREADY_EXISTS")
        tap.equal(tool.ask("get", "jobs", "a")[0].split(" ")[2], uid)
        tap.starts(tool.end("delete", "jobs", "a", "other", "-1",
                            "Background"), "ABORTED Precondition failed")
        tap.equal(tool.end("delete", "jobs", "a", uid, "-1", "Background"),
                  "ok")
        tap.equal(cluster.store.items, {})
        tap.starts(tool.end("get", "jobs", "a"), "NOT_FOUND")


def foreground_takes_the_pods_first_and_orphan_leaves_them():
    with played() as (cluster, tool):
        for name in ("a", "b"):
            tap.equal(tool.end("create", "jobs", job(name)), "ok")
        tap.equal(tool.end("delete", "jobs", "a", "-", "-1", "Foreground"),
                  "ok")
        gone = [(one.type, one.plural) for one in cluster.store.changes
                if one.type == "DELETED"]
        tap.equal(gone, [("DELETED", "pods"), ("DELETED", "jobs")])
        tap.equal(tool.end("delete", "jobs", "b", "-", "-1", "Orphan"), "ok")
        tap.equal(len(cluster.store.find("pods", "work")), 1)


def what_the_server_does_not_know_is_refused_with_its_field():
    with played() as (cluster, tool):
        tap.contains('unknown field "spec.backofLimit"', tool.end(
            "create", "jobs", job("a", backofLimit=1)))
        tap.contains('unknown field "spec.podReplacementPolicy"', tool.end(
            "create", "jobs", job("a", podReplacementPolicy="Failed")))
        tap.starts(tool.end("create", "jobs", job("A_b")),
                   "INVALID_ARGUMENT metadata.name: ")
        tap.equal(tool.end("dry", "jobs", job("a")), "ok")
        tap.equal(cluster.store.items, {})


def post(cluster, query):
    """(code, answer) for a ConfigMap with a field that there is not."""
    request = urllib.request.Request(
        cluster.url + "/api/v1/namespaces/%s/configmaps?%s" % ("work", query),
        json.dumps(dict(config_map("a"), dataz={})).encode(),
        {"Authorization": "Bearer admin", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def a_dry_run_is_checked_and_nothing_is_kept():
    """As measured on 1.34."""
    with played() as (cluster, _):
        for query, code, words in (
                ("dryRun=Some", 422, "dryRun: Unsupported value: "),
                ("dryRun=", 422, "dryRun: Unsupported value: "),
                ("fieldValidation=Other", 422,
                 "fieldValidation: Unsupported value: "),
                ("dryRun=All&fieldValidation=Strict", 400,
                 'strict decoding error: unknown field "dataz"')):
            got, answer = post(cluster, query)
            tap.equal(got, code, query)
            tap.contains(words, answer["message"])
        for query in "dryRun=All", "dryRun=All&fieldValidation=Ignore":
            code, answer = post(cluster, query)
            tap.equal((code, answer["metadata"]["name"]), (201, "a"))
            tap.lacks("dataz", json.dumps(answer))
        tap.equal(cluster.store.items, {})
        tap.equal(post(cluster, "")[0], 201)
        tap.equal(post(cluster, "dryRun=All")[0], 409)
        made = cluster.store.get("configmaps", "work", "a")
        tap.lacks("dataz", json.dumps(made))


def what_cannot_change_and_what_was_changed_are_refused():
    with played() as (cluster, tool):
        tap.equal(tool.end("create", "jobs", job("a")), "ok")
        image = "x" * 400
        said = tool.end("patch", "jobs", "a", json.dumps({"spec": {
            "template": {"spec": {"containers": [
                {"name": "main", "image": image}]}}}}, separators=(",", ":")))
        tap.starts(said, "INVALID_ARGUMENT spec.template: Invalid value: ")
        tap.contains("field is immutable", said)
        tap.starts(tool.end("patch", "jobs", "a", '{"metadata":'
                            '{"resourceVersion":"7"}}'),
                   "ABORTED Operation cannot be fulfilled")
        tap.equal(tool.end("patch", "jobs", "a", '{"spec":{"suspend":true}}'),
                  "ok")
        tap.equal(cluster.store.get("jobs", "work", "a")["spec"]["suspend"],
                  True)


def a_quota_is_another_refusal_than_a_missing_role():
    def full(*_):
        raise Refused(403, "Forbidden", 'jobs.batch "a" is forbidden: '
                      "exceeded quota: few, requested: count/jobs.batch=1")
    with played({"token": "weak"}) as (cluster, tool):
        cluster.users["weak"] = {"work": {"jobs": {"create"}}}
        cluster.store.admission = full
        tap.starts(tool.end("create", "jobs", job("a")), "RESOURCE_EXHAUSTED")
        tap.starts(tool.end("list", "jobs", "-", "0"), "PERMISSION_DENIED "
                   'jobs is forbidden: User "system:serviceaccount:weak" '
                   "cannot list")


# ---- lists ----

def a_list_comes_page_by_page_as_of_one_moment():
    with played() as (cluster, tool):
        add_maps(cluster, *("m%d" % n for n in range(7)),
                 labels={"app": "ht"})
        add_maps(cluster, "other")
        lines = tool.ask("list", "configmaps", "app=ht", "3")
        tap.equal([line.split(" ")[1] for line in lines[:-2]],
                  ["m%d" % n for n in range(7)])
        tap.equal(lines[-2], "version %d" % cluster.store.version)
        tap.equal(cluster.count("list configmaps"), 3)


def a_page_that_is_forgotten_is_out_of_range():
    with played() as (cluster, tool):
        add_maps(cluster, "a", "b", "c")
        cluster.fault("list configmaps", None, Refused(410, "Expired",
                                                       "too old"))
        tap.starts(tool.end("list", "configmaps", "-", "2"), "OUT_OF_RANGE")


def a_server_that_is_busy_is_asked_again_after_its_time():
    with played() as (cluster, tool):
        cluster.fault("create jobs", TOO_MANY)
        cluster.fault("list jobs", TOO_MANY)
        tap.equal(tool.end("create", "jobs", job("a")), "ok")
        tap.equal(cluster.count("create jobs"), 2)
        tap.equal(tool.end("list", "jobs", "-", "0"), "ok")


def a_lost_connection_repeats_reading_and_no_creation():
    with played() as (cluster, tool):
        cluster.fault("get jobs", "cut")
        tap.starts(tool.end("get", "jobs", "a"), "NOT_FOUND")
        tap.equal(cluster.count("get jobs"), 2)
        fresh = Tool(os.path.join(cluster.folder, "config"))
        cluster.fault("create jobs", "lost")
        tap.starts(fresh.end("create", "jobs", job("a")), "UNAVAILABLE")
        tap.equal(cluster.count("create jobs"), 1)
        tap.equal(fresh.end("get", "jobs", "a"), "ok")
        fresh.close()


# ---- watches ----

def names(lines):
    return [" ".join(line.split(" ")[:2]).strip() for line in lines]


class Watch:
    """A watch in its own process, read line by line."""

    def __init__(self, cluster, events, selector="-", timeout=60):
        self.tool = Tool(os.path.join(cluster.folder, "config"))
        self.tool.give("watch", "configmaps", selector, str(timeout),
                       str(events))

    def read(self, n):
        return names(self.tool.line() for _ in range(n))

    def close(self):
        self.tool.process.kill()
        self.tool.close()


@contextlib.contextmanager
def watching(cluster, events=1000, **named):
    watch = Watch(cluster, events, **named)
    try:
        yield watch
    finally:
        watch.close()


def a_watch_begins_where_its_list_ended():
    with played() as (cluster, _):
        add_maps(cluster, "a", "b", "c")
        cluster.fault("watch configmaps",
                      lambda: add_maps(cluster, "between"))
        with watching(cluster) as watch:
            tap.equal(watch.read(5), ["LISTING", "ITEM a", "ITEM b", "ITEM c",
                                      "LISTED"])
            tap.equal(watch.read(1), ["ADDED between"])
            add_maps(cluster, "d")
            cluster.store.patch("configmaps", "work", "a",
                                {"data": {"x": "1"}})
            cluster.store.delete("configmaps", "work", "b", {})
            tap.equal(watch.read(4), ["ADDED d", "MODIFIED a", "MODIFIED b",
                                      "DELETED b"])


def cuts_anywhere_lose_no_change_and_repeat_none():
    with played() as (cluster, _):
        cluster.fault("watch configmaps", *(
            {"after": 150 + 37 * n, "pieces": 1 + 13 * n} for n in range(12)))
        with watching(cluster) as watch:
            tap.equal(watch.read(2), ["LISTING", "LISTED"])
            made = ["m%02d" % n for n in range(40)]
            writer = threading.Thread(target=add_maps,
                                      args=(cluster, *made))
            writer.start()
            got = [line for line in watch.read(40)
                   if not line.startswith("TROUBLE")]
            while len(got) < 40:
                got += [line for line in watch.read(1)
                        if not line.startswith("TROUBLE")]
            writer.join()
            tap.equal(got, ["ADDED " + name for name in made])
            tap.equal(cluster.count("list configmaps"), 1)
            tap.true(cluster.count("watch configmaps") > 5)


def a_version_that_is_forgotten_makes_a_new_list():
    with played() as (cluster, _):
        add_maps(cluster, "a", "b")
        with watching(cluster, timeout=1) as watch:
            tap.equal(watch.read(4), ["LISTING", "ITEM a", "ITEM b",
                                      "LISTED"])
            # The status of HTTP this time, the event below.
            cluster.store.delete("configmaps", "work", "a", {})
            tap.equal(watch.read(2), ["MODIFIED a", "DELETED a"])
            cluster.fault("watch configmaps", Refused(410, "Gone", "gone"))
            tap.equal(watch.read(3), ["LISTING", "ITEM b", "LISTED"])
            with cluster.store.lock:
                cluster.store.delete("configmaps", "work", "b", {})
                cluster.store.changes.clear()
                cluster.store.compact()
            tap.equal(watch.read(2), ["LISTING", "LISTED"])


def bookmarks_move_the_version_on():
    def change():
        # Only of others: the bookmark alone says how far it is.
        cluster.store.create("jobs", "work", json.loads(job("a")))
        cluster.store.bookmark()

    def forget():
        cluster.store.floor = cluster.store.version

    with played() as (cluster, _):
        cluster.fault("watch configmaps", change, forget)
        with watching(cluster, timeout=1) as watch:
            tap.equal(watch.read(2), ["LISTING", "LISTED"])
            harness.wait_until(lambda: cluster.count("watch configmaps") > 2,
                               "two more watches")
            tap.equal(cluster.count("list configmaps"), 1)


def a_silent_server_is_asked_anew():
    with played() as (cluster, _):
        cluster.fault("watch configmaps", {"silent": True})
        with watching(cluster, timeout=1) as watch:
            tap.equal(watch.read(2), ["LISTING", "LISTED"])
            add_maps(cluster, "a")
            tap.starts(watch.read(1)[0], "TROUBLE http")
            tap.equal(watch.read(1), ["ADDED a"])
            tap.equal(cluster.count("list configmaps"), 1)


def no_message_of_a_pod_hides_the_others():
    with played() as (cluster, tool):
        tap.equal(tool.end("create", "jobs", job("a")), "ok")
        pod = cluster.store.find("pods", "work")[0]["metadata"]["name"]
        cluster.store.set_pod("work", pod, "Failed", 1, reason="a\0b")
        lines = tool.ask("list", "pods", "-", "0")
        tap.equal(lines[0].split(" ")[1], pod)
        tap.equal(lines[-1], "ok")


def a_watch_that_may_not_or_that_waits_says_why():
    with played({"token": "weak"}) as (cluster, _):
        cluster.users["weak"] = {"work": {"configmaps": {"list"}}}
        with watching(cluster) as watch:
            tap.equal(watch.read(3), ["LISTING", "LISTED",
                                      "TROUBLE configmaps"])
            cluster.users["weak"] = {"work": kubernetes.ROLE | {
                "configmaps": {"list", "watch"}}}
            tap.equal(watch.read(2), ["LISTING", "LISTED"])
            add_maps(cluster, "a")
            tap.equal(watch.read(1), ["ADDED a"])


def a_busy_server_and_a_broken_line_do_not_end_a_watch():
    with played() as (cluster, _):
        cluster.fault("watch configmaps", TOO_MANY, {"line": "{oops"})
        with watching(cluster) as watch:
            tap.equal(watch.read(3), ["LISTING", "LISTED", "TROUBLE slow"])
            tap.starts(watch.read(1)[0], "TROUBLE a")
            tap.equal(watch.read(2), ["LISTING", "LISTED"])
            add_maps(cluster, "a")
            tap.equal(watch.read(1), ["ADDED a"])


# ---- what a cluster has ----

def fields_follow_the_schema_and_without_one_the_version():
    for minor, schema, want in (
            (26, True, "podFailurePolicy schedulingGates resourceClaims"),
            (26, False, "podFailurePolicy"),
            (29, False, "podFailurePolicy podReplacementPolicy "
             "backoffLimitPerIndex schedulingGates restartPolicy")):
        with played(minor=minor) as (cluster, tool):
            cluster.openapi = schema
            tap.equal(tool.ask("fields")[0], "1.%d %s %s" % (
                minor, "schema" if schema else "version", want))


def the_role_that_is_missing_can_be_applied():
    with played({"token": "weak"}) as (cluster, tool):
        cluster.users["weak"] = {"work": kubernetes.ROLE}
        tap.equal(tool.ask("access"), ["0", "ok"])
        cluster.users["weak"] = {"other": kubernetes.ROLE, "work": dict(
            kubernetes.ROLE, **{"pods": {"get", "list"}, "pods/exec": {"create"}})}
        tap.equal(tool.ask("access"), [
            "2", "apiVersion: rbac.authorization.k8s.io/v1", "kind: Role",
            "metadata:", "  name: hypertune-runner", '  namespace: "work"',
            "rules:", '- apiGroups: [""]', '  resources: ["pods"]',
            '  verbs: ["watch", "delete"]', '- apiGroups: [""]',
            '  resources: ["pods/exec"]', '  verbs: ["get"]', "ok"])


tap.run([an_object_lives_and_goes_with_what_it_owns,
         foreground_takes_the_pods_first_and_orphan_leaves_them,
         what_the_server_does_not_know_is_refused_with_its_field,
         a_dry_run_is_checked_and_nothing_is_kept,
         what_cannot_change_and_what_was_changed_are_refused,
         a_quota_is_another_refusal_than_a_missing_role,
         a_list_comes_page_by_page_as_of_one_moment,
         a_page_that_is_forgotten_is_out_of_range,
         a_server_that_is_busy_is_asked_again_after_its_time,
         a_lost_connection_repeats_reading_and_no_creation,
         a_watch_begins_where_its_list_ended,
         cuts_anywhere_lose_no_change_and_repeat_none,
         a_version_that_is_forgotten_makes_a_new_list,
         bookmarks_move_the_version_on,
         a_silent_server_is_asked_anew,
         no_message_of_a_pod_hides_the_others,
         a_watch_that_may_not_or_that_waits_says_why,
         a_busy_server_and_a_broken_line_do_not_end_a_watch,
         fields_follow_the_schema_and_without_one_the_version,
         the_role_that_is_missing_can_be_applied])
