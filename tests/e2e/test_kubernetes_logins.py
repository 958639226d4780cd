"""The client of Kubernetes' API against a played API server: who it is there,
and whom it believes."""

import json
import os

import kubernetes
import tap
from kube_tool import (Tool, config_of, exec_user, job, played, plugin_runs,
                       write)


def a_plugin_is_asked_again_when_its_token_is_refused_or_ends():
    with played() as (cluster, _):
        folder = cluster.folder
        cluster.users = {"first": None, "second": None}
        write(folder, "plugin.token", "first")
        user = exec_user(folder, provideClusterInfo=True)
        tool = Tool(write(folder, "two", config_of(cluster, user)))
        for _ in range(2):
            tap.equal(tool.end("list", "jobs", "-", "0"), "ok")
        tap.equal(plugin_runs(folder), 1)
        with open(os.path.join(folder, "plugin.info"),
                  encoding="utf-8") as file:
            info = json.load(file)
        tap.equal(info["spec"], {"interactive": False,
                                 "cluster": {"server": cluster.url}})
        write(folder, "plugin.token", "second")
        del cluster.users["first"]
        tap.equal(tool.end("list", "jobs", "-", "0"), "ok")
        tap.equal(plugin_runs(folder), 2)
        del cluster.users["second"]
        tap.starts(tool.end("list", "jobs", "-", "0"), "UNAUTHENTICATED")
        tool.close()
        user = exec_user(folder,
                         ',"expirationTimestamp":"2001-01-01T00:00:00Z"')
        cluster.users = {"second": None}
        tool = Tool(write(folder, "three", config_of(cluster, user)))
        before = plugin_runs(folder)
        for _ in range(2):
            tap.equal(tool.end("list", "jobs", "-", "0"), "ok")
        tap.equal(plugin_runs(folder), before + 2)
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


tap.run([a_plugin_is_asked_again_when_its_token_is_refused_or_ends,
         a_plugin_that_fails_or_is_missing_says_what_to_do,
         a_token_file_is_read_at_each_use,
         a_pod_finds_its_account,
         certificates_say_who_is_there_on_both_sides,
         a_key_with_a_password_is_refused_without_a_question,
         the_name_in_the_certificate_may_be_another_one])
