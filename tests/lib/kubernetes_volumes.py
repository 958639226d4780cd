"""What a kubelet makes of a pod's spec before its containers begin: volumes as
folders, and the environment. NotYet where an object is missing."""

import base64
import os
import re

VARIABLE = re.compile(r"\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")


class NotYet(Exception):
    """The kubelet tries again later; the words are of its message."""


def expand(text, env):
    """$(NAME) as the kubelet does it; what is not known stays."""
    def value(match):
        if match.group(0) == "$$":
            return "$"
        return env.get(match.group(1), match.group(0))
    return VARIABLE.sub(value, text)


def field_of(pod, path):
    """A value of the downward API."""
    keyed = re.match(r"^metadata\.(annotations|labels)\['(.*)'\]$", path)
    if keyed:
        return (pod["metadata"].get(keyed.group(1)) or {}).get(
            keyed.group(2), "")
    value = pod
    for part in path.split("."):
        value = (value or {}).get(part)
    if isinstance(value, dict):
        return "\n".join('%s="%s"' % one for one in sorted(value.items()))
    return "" if value is None else str(value)


def part(paths, mount, env):
    """What is mounted of a volume; a folder in it that lacks is made, for any
    user."""
    path = paths[mount["name"]]
    inner = mount.get("subPath") or expand(mount.get("subPathExpr", ""), env)
    for name in filter(None, inner.split("/")):
        path = os.path.join(path, name)
        if not os.path.exists(path):
            os.mkdir(path)
            os.chmod(path, 0o777)
    return path


class Volumes:
    """Of one pod, below its folder."""

    def __init__(self, store, pod, folder):
        self.store, self.pod, self.folder = store, pod, folder
        self.namespace = pod["metadata"]["namespace"]
        self.paths = {}

    def make(self):
        """{name: folder}"""
        for volume in self.pod["spec"].get("volumes", ()):
            path = os.path.join(self.folder, "volumes", volume["name"])
            os.makedirs(path, exist_ok=True)
            self.paths[volume["name"]] = self._fill(path, volume)
        return self.paths

    def _fill(self, path, volume):
        if "hostPath" in volume:
            return volume["hostPath"]["path"]
        if "emptyDir" in volume:
            os.chmod(path, 0o777)
            return path
        if "projected" in volume:
            source = volume["projected"]
            files = [one for part in source["sources"]
                     for one in self._files(part)]
        else:
            kind = next(key for key in volume if key != "name")
            source = volume[kind]
            files = self._files({kind: source})
        self._write(path, files, source.get("defaultMode", 0o644))
        return path

    @staticmethod
    def _write(path, files, mode):
        """As it is there: links to a folder that is replaced as a whole."""
        inner = os.path.join(path, "..2026_01_01")
        os.makedirs(inner, exist_ok=True)
        if not os.path.lexists(os.path.join(path, "..data")):
            os.symlink("..2026_01_01", os.path.join(path, "..data"))
        for name, data, own in files:
            target = os.path.join(inner, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(data)
            os.chmod(target, mode if own is None else own)
            top = name.split("/")[0]
            if not os.path.lexists(os.path.join(path, top)):
                os.symlink("..data/" + top, os.path.join(path, top))

    def _files(self, source):
        """[(name, bytes, mode or None)] of one source."""
        (kind, what), = source.items()
        if kind == "downwardAPI":
            return [(one["path"], field_of(
                self.pod, one["fieldRef"]["fieldPath"]).encode(),
                one.get("mode")) for one in what["items"]]
        if kind not in ("configMap", "secret"):
            raise NotYet("volumes of %s are not played here" % kind)
        name = what.get("name") or what.get("secretName")
        data = self.data(kind, name, what.get("optional"))
        if "items" not in what:
            return [(key, data[key], None) for key in sorted(data)]
        for one in what["items"]:
            if one["key"] not in data:
                raise NotYet("references non-existent config key: %s"
                             % one["key"])
        return [(one["path"], data[one["key"]], one.get("mode"))
                for one in what["items"]]

    def data(self, kind, name, optional=False):
        """{key: bytes} of a ConfigMap or a Secret."""
        item = self.store.items.get((kind.lower() + "s", self.namespace, name))
        if item is None and optional:
            return {}
        if item is None:
            raise NotYet('%s "%s" not found' % (kind.lower(), name))
        data = {key: base64.b64decode(value) for key, value in (
            item.get("binaryData") or {}).items()}
        for key, value in (item.get("data") or {}).items():
            data[key] = (base64.b64decode(value) if kind == "secret"
                         else value.encode())
        data.update({key: value.encode() for key, value in (
            item.get("stringData") or {}).items()})
        return data

    def environment(self, container):
        env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
               "/sbin:/bin", "HOSTNAME": self.pod["spec"].get("hostname") or
               self.pod["metadata"]["name"]}
        for one in container.get("envFrom", ()):
            for kind in ("configMap", "secret"):
                if kind + "Ref" in one:
                    what = one[kind + "Ref"]
                    env.update({one.get("prefix", "") + key: value.decode()
                                for key, value in self.data(
                                    kind, what["name"],
                                    what.get("optional")).items()})
        for one in container.get("env", ()):
            value = self._value(one.get("valueFrom") or {})
            if value is None:
                value = expand(one.get("value", ""), env)
            env[one["name"]] = value
        return env

    def _value(self, source):
        if "fieldRef" in source:
            return field_of(self.pod, source["fieldRef"]["fieldPath"])
        for kind in ("configMap", "secret"):
            what = source.get(kind + "KeyRef")
            if what:
                data = self.data(kind, what["name"], what.get("optional"))
                if what["key"] not in data and not what.get("optional"):
                    raise NotYet("couldn't find key %s in %s %s" % (
                        what["key"], kind, what["name"]))
                return data.get(what["key"], b"").decode()
        return None
