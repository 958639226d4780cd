"""hypertune-shim as ConfigMaps of a played cluster: made once, checked, and
whole again in a pod."""

import base64
import json
import os
import shutil
import subprocess
import tempfile

import harness
import tap
from kube_tool import Tool, config_map, played
from kubernetes_rules import Refused

SHIM = os.path.join(harness.bin_dir(), "hypertune-shim")


def ensure(tool):
    """Names of the maps, and the volume."""
    lines = tool.ask("maps", SHIM)
    tap.equal(lines[-1], "ok")
    return lines[:-2], json.loads(lines[-2])


def maps_of(cluster):
    return {one["metadata"]["name"]: one
            for one in cluster.store.find("configmaps", "work")}


def a_pod_gets_the_shim_from_all_of_them():
    with played() as (cluster, tool), tempfile.TemporaryDirectory() as folder:
        names, volume = ensure(tool)
        maps = maps_of(cluster)
        tap.equal(sorted(maps), sorted(names))
        tap.equal(volume["projected"]["sources"],
                  [{"configMap": {"name": name}} for name in names])
        for one in maps.values():
            tap.equal(one["immutable"], True)
            tap.equal(one["metadata"]["labels"], {
                "app.kubernetes.io/name": "hypertune-shim",
                "app.kubernetes.io/managed-by": "hypertune"})
            for name, text in one["binaryData"].items():
                path = os.path.join(folder, name)
                tap.true(not os.path.exists(path), name)
                with open(path, "wb") as file:
                    file.write(base64.b64decode(text))
                os.chmod(path, volume["projected"]["defaultMode"])
        said = [subprocess.run([program, "--sandbox"], capture_output=True,
                               check=True).stdout
                for program in (SHIM, os.path.join(folder, "shim"))]
        tap.equal(said[1], said[0])


def what_is_there_is_not_made_again():
    with played() as (cluster, tool):
        names, _ = ensure(tool)
        made = cluster.count("create configmaps")
        tap.equal(made, len(names))
        cluster.store.delete("configmaps", "work", names[-1], {})
        tap.equal(ensure(tool)[0], names)
        tap.equal(ensure(tool)[0], names)
        tap.equal(cluster.count("create configmaps"), made + 1)


def several_runners_make_them_at_once():
    with played() as (cluster, tool):
        other = Tool(os.path.join(cluster.folder, "config"))
        # Both have asked before one of them makes the first.
        names = []
        cluster.fault("create configmaps", lambda: names.extend(
            ensure(other)[0]))
        tap.equal(ensure(tool)[0], names)
        tap.equal(sorted(maps_of(cluster)), sorted(names))
        other.close()


def one_that_is_not_as_made_is_not_used():
    with played() as (cluster, tool):
        names, _ = ensure(tool)
        one = maps_of(cluster)[names[0]]
        for change in ({"immutable": False}, {"binaryData": {}},
                       {"binaryData": dict(one["binaryData"], shim="eA==")}):
            cluster.store.items["configmaps", "work", names[0]] = dict(
                one, **change)
            said = tool.end("maps", SHIM)
            tap.starts(said, "DATA_LOSS the ConfigMap " + names[0])
            tap.contains("delete it", said)


def a_refusal_is_said():
    with played() as (cluster, tool):
        cluster.fault("create configmaps", Refused(
            403, "Forbidden", 'configmaps "a" is forbidden: exceeded quota'))
        tap.starts(tool.end("maps", SHIM), "RESOURCE_EXHAUSTED")
        tap.equal(maps_of(cluster), {})


def programs_of_another_version_have_other_maps():
    with played() as (_, tool), tempfile.TemporaryDirectory() as folder:
        names, _ = ensure(tool)
        shutil.copy(SHIM + "-loader", folder)
        other = shutil.copy(SHIM, folder)
        tap.equal(tool.ask("maps", other)[:len(names)], names)
        with open(other, "ab") as file:
            file.write(b"x")
        tap.equal(set(tool.ask("maps", other)) & set(names), set())


def the_played_cluster_has_the_limit_of_a_real_one():
    with played() as (cluster, _):
        def make(name, size):
            half = size // 2
            cluster.store.create("configmaps", "work", dict(
                config_map(name), data={"a": "x" * half}, binaryData={
                    "b": base64.b64encode(bytes(size - half)).decode()}))
        make("most", 1048576)
        try:
            make("more", 1048577)
        except Refused as refused:
            tap.equal(refused.status()["message"], 'ConfigMap "more" is '
                      "invalid: []: Too long: must have at most 1048576 bytes")
        tap.equal(list(maps_of(cluster)), ["most"])


tap.run([a_pod_gets_the_shim_from_all_of_them,
         what_is_there_is_not_made_again,
         several_runners_make_them_at_once,
         one_that_is_not_as_made_is_not_used,
         a_refusal_is_said,
         programs_of_another_version_have_other_maps,
         the_played_cluster_has_the_limit_of_a_real_one])
