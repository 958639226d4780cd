"""The client of Kubernetes' API against a played API server: logins, objects,
refusals, lists and watches over faults of the connection."""

import contextlib
import json
import os
import stat
import subprocess
import tempfile
import threading

import harness
import kubernetes
import tap
from kubernetes_rules import Refused

TOOL = os.path.join(harness.bin_dir(), "../tests/tools/kube_api")
TOO_MANY = Refused(429, "TooManyRequests", "slow down", retry=1)


class Tool:
    """runner/kubernetes, order by order."""

    def __init__(self, config, *words, env=None):
        environ = {key: value for key, value in os.environ.items()
                   if key != "KUBECONFIG"}
        if config:
            environ["KUBECONFIG"] = config
        environ.update(env or {})
        self.process = subprocess.Popen(
            (TOOL,) + words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environ, text=True)
        self.limit = threading.Timer(harness.PATIENCE, self.process.kill)
        self.limit.start()

    def give(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()

    def ask(self, *words):
        """The lines of the answer; the last one is "ok" or a failure."""
        self.give(*words)
        lines = []
        while not lines or not (lines[-1] == "ok" or
                                lines[-1].split(" ")[0].isupper() and
                                "_" in lines[-1].split(" ")[0] or
                                lines[-1].split(" ")[0] in PLAIN):
            line = self.process.stdout.readline()
            assert line, lines
            lines.append(line.rstrip("\n"))
        return lines

    def end(self, *words):
        """Only how it ended."""
        return self.ask(*words)[-1]

    def line(self):
        return self.process.stdout.readline().rstrip("\n")

    def close(self):
        self.limit.cancel()
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


PLAIN = ("UNAVAILABLE", "ABORTED", "INTERNAL", "UNAUTHENTICATED",
         "UNIMPLEMENTED")


def write(folder, name, text, mode=0o600):
    path = os.path.join(folder, name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path + ".new", mode)
    os.replace(path + ".new", path)
    return path


def config_of(cluster, user, **members):
    return json.dumps({
        "current-context": "c", "contexts": [{"name": "c", "context": {
            "cluster": "one", "user": "me", "namespace": "work"}}],
        "clusters": [{"name": "one", "cluster": dict(
            {"server": cluster.url}, **members)}],
        "users": [{"name": "me", "user": user}]})


@contextlib.contextmanager
def played(user=None, tls=False, name="127.0.0.1", members=None, **named):
    with tempfile.TemporaryDirectory() as folder:
        certs = kubernetes.Tls(folder, name) if tls else None
        cluster = kubernetes.Cluster(tls=certs, **named)
        cluster.folder = folder
        tool = None
        try:
            tool = Tool(write(folder, "config", config_of(
                cluster, user if user is not None else {"token": "admin"},
                **(members or {}))))
            yield cluster, tool
        finally:
            if tool:
                tool.close()
            cluster.close()


def job(name, **spec):
    return json.dumps({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "labels": {"app": "ht"}},
        "spec": dict({"backoffLimit": 0, "template": {"spec": {
            "restartPolicy": "Never", "containers": [
                {"name": "main", "image": "busybox"}]}}}, **spec)},
        separators=(",", ":"))


def config_map(name, **meta):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": dict({"name": name}, **meta), "data": {}}


def add_maps(cluster, *names, labels=None):
    for name in names:
        cluster.store.create("configmaps", "work",
                             config_map(name, labels=labels or {}))


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
    with played() as (cluster, _):
        with watching(cluster, timeout=1) as watch:
            tap.equal(watch.read(2), ["LISTING", "LISTED"])
            harness.wait_until(lambda: cluster.count("watch configmaps"),
                               "the watch")
            # Only of others: the bookmark alone says how far it is.
            cluster.store.create("jobs", "work", json.loads(job("a")))
            cluster.store.bookmark()
            with cluster.store.lock:
                cluster.store.floor = cluster.store.version
            seen = cluster.count("watch configmaps")
            harness.wait_until(lambda: cluster.count("watch configmaps") >
                               seen + 1, "two more watches")
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


# ---- who we are ----

PLUGIN = """#!/bin/sh
echo run >>"$0.runs"
printf '%%s' "$KUBERNETES_EXEC_INFO" >"$0.info"
cat <<END
{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
"status":{"token":"$(cat "$0.token")"%s}}
END
"""


def exec_user(folder, extra="", **members):
    path = write(folder, "plugin", PLUGIN % extra, 0o700)
    assert os.stat(path).st_mode & stat.S_IXUSR
    return {"exec": dict({"apiVersion": "client.authentication.k8s.io/v1",
                          "command": path, "interactiveMode": "Never"},
                         **members)}


def runs(folder):
    with open(os.path.join(folder, "plugin.runs"), encoding="ascii") as file:
        return len(file.readlines())


def a_plugin_is_asked_again_when_its_token_is_refused_or_ends():
    with played() as (cluster, _):
        folder = cluster.folder
        cluster.users = {"first": None, "second": None}
        write(folder, "plugin.token", "first")
        user = exec_user(folder, provideClusterInfo=True)
        tool = Tool(write(folder, "two", config_of(cluster, user)))
        for _ in range(2):
            tap.equal(tool.end("list", "jobs", "-", "0"), "ok")
        tap.equal(runs(folder), 1)
        with open(os.path.join(folder, "plugin.info"),
                  encoding="utf-8") as file:
            info = json.load(file)
        tap.equal(info["spec"], {"interactive": False,
                                 "cluster": {"server": cluster.url}})
        write(folder, "plugin.token", "second")
        del cluster.users["first"]
        tap.equal(tool.end("list", "jobs", "-", "0"), "ok")
        tap.equal(runs(folder), 2)
        del cluster.users["second"]
        tap.starts(tool.end("list", "jobs", "-", "0"), "UNAUTHENTICATED")
        tool.close()
        user = exec_user(folder,
                         ',"expirationTimestamp":"2001-01-01T00:00:00Z"')
        cluster.users = {"second": None}
        tool = Tool(write(folder, "three", config_of(cluster, user)))
        before = runs(folder)
        for _ in range(2):
            tap.equal(tool.end("list", "jobs", "-", "0"), "ok")
        tap.equal(runs(folder), before + 2)
        tool.close()


def a_plugin_that_fails_or_is_missing_says_what_to_do():
    with played() as (cluster, _):
        user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1",
                         "command": "./fails"}}
        write(cluster.folder, "fails", "#!/bin/sh\necho first >&2\n"
              "echo 'run: cloud login' >&2\nexit 3\n", 0o700)
        tool = Tool(write(cluster.folder, "two", config_of(cluster, user)))
        said = tool.end("list", "jobs", "-", "0")
        tap.starts(said, "UNAUTHENTICATED ")
        tap.contains("failed with code 3: run: cloud login", said)
        tool.close()
        user["exec"].update(command="no-such-plugin",
                            installHint="install cloud-cli")
        tool = Tool(write(cluster.folder, "three", config_of(cluster, user)))
        said = tool.end("list", "jobs", "-", "0")
        tap.contains("not installed: install cloud-cli", said)
        tool.close()


def a_token_file_is_read_at_each_use():
    with played() as (cluster, _):
        cluster.users = {"one": None}
        write(cluster.folder, "token", "one\n")
        tool = Tool(write(cluster.folder, "two", config_of(
            cluster, {"tokenFile": "token"})))
        tap.equal(tool.end("list", "jobs", "-", "0"), "ok")
        cluster.users = {"two": None}
        said = tool.end("list", "jobs", "-", "0")
        tap.starts(said, "UNAUTHENTICATED ")
        tap.contains("the token in %s/token" % cluster.folder, said)
        write(cluster.folder, "token", "two\n")
        tap.equal(tool.end("list", "jobs", "-", "0"), "ok")
        tool.close()


def a_pod_finds_its_account():
    with played(tls=True) as (cluster, _):
        port = cluster.url.rsplit(":", 1)[1]
        cluster.users = {"pod": {"lab": kubernetes.ROLE}}
        cluster.store.namespaces.add("lab")
        write(cluster.folder, "token", "pod")
        write(cluster.folder, "namespace", "lab")
        tool = Tool(None, "account=" + cluster.folder, env={
            "HOME": cluster.folder, "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": port})
        tap.equal(tool.ask("config"), ["context -", "server " + cluster.url,
                                       "namespace lab", "ok"])
        tap.equal(tool.end("create", "jobs", job("a")), "ok")
        tool.close()


def certificates_say_who_is_there_on_both_sides():
    with played(tls=True) as (cluster, _):
        cluster.users, cluster.people = {}, {"ann": None}
        cert, key = cluster.tls.make("ann")
        data = {"client-certificate-data": kubernetes.data_of(cert),
                "client-key-data": kubernetes.data_of(key)}
        files = {"client-certificate": "ann.crt", "client-key": "ann.key"}
        trust = {"certificate-authority-data":
                 kubernetes.data_of(cluster.tls.ca)}
        for user, members in ((data, trust), (files, {
                "certificate-authority": "ca.crt"}), (data, {
                    "insecure-skip-tls-verify": True})):
            tool = Tool(write(cluster.folder, "two", config_of(
                cluster, user, **members)))
            tap.equal(tool.end("list", "jobs", "-", "0"), "ok")
            tool.close()
        for user, members, want in (
                ({}, trust, "PERMISSION_DENIED"),
                (data, {}, "UNAVAILABLE"),
                (data, dict(trust, **{"tls-server-name": "other.example"}),
                 "UNAVAILABLE")):
            tool = Tool(write(cluster.folder, "two", config_of(
                cluster, user, **members)))
            tap.starts(tool.end("get", "jobs", "a"), want)
            tool.close()


def a_key_with_a_password_is_refused_without_a_question():
    with played(tls=True) as (cluster, _):
        cluster.people = {"ann": None}
        _, key = cluster.tls.make("ann")
        cluster.tls.openssl("ec", "-in", key, "-aes256", "-passout",
                            "pass:secret", "-out", key)
        tool = Tool(write(cluster.folder, "two", config_of(
            cluster, {"client-certificate": "ann.crt",
                      "client-key": "ann.key"},
            **{"certificate-authority": "ca.crt"})))
        said = tool.end("get", "jobs", "a")
        tap.starts(said, "UNAVAILABLE")
        tap.contains("unable to set private key", said)
        tool.close()


def the_name_in_the_certificate_may_be_another_one():
    with played(tls=True, name="api.example") as (cluster, _):
        members = {"certificate-authority": "ca.crt"}
        for name, want in ((None, "UNAVAILABLE"), ("api.example", "ok")):
            if name:
                members["tls-server-name"] = name
            tool = Tool(write(cluster.folder, "two", config_of(
                cluster, {"token": "admin"}, **members)))
            tap.starts(tool.end("list", "jobs", "-", "0"), want)
            tool.close()


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
            kubernetes.ROLE, **{"pods": {"get", "list"}, "pods/log": set()})}
        tap.equal(tool.ask("access"), [
            "2", "apiVersion: rbac.authorization.k8s.io/v1", "kind: Role",
            "metadata:", "  name: hypertune-runner", '  namespace: "work"',
            "rules:", '- apiGroups: [""]', '  resources: ["pods"]',
            '  verbs: ["watch", "delete"]', '- apiGroups: [""]',
            '  resources: ["pods/log"]', '  verbs: ["get"]', "ok"])


tap.run([an_object_lives_and_goes_with_what_it_owns,
         foreground_takes_the_pods_first_and_orphan_leaves_them,
         what_the_server_does_not_know_is_refused_with_its_field,
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
         a_plugin_is_asked_again_when_its_token_is_refused_or_ends,
         a_plugin_that_fails_or_is_missing_says_what_to_do,
         a_token_file_is_read_at_each_use,
         a_pod_finds_its_account,
         certificates_say_who_is_there_on_both_sides,
         a_key_with_a_password_is_refused_without_a_question,
         the_name_in_the_certificate_may_be_another_one,
         fields_follow_the_schema_and_without_one_the_version,
         the_role_that_is_missing_can_be_applied])
