"""Makes the wheel of this package with the standard library alone (PEP 517).

pip fetches setuptools for other backends, which a machine without a network
cannot do. bundle_wheel.py adds the programs.
"""
import base64
import hashlib
import io
import os
import re
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "hypertune")
PURE_TAGS = ("py2-none-any", "py3-none-any")

METADATA = """\
Metadata-Version: 2.1
Name: hypertune
Version: {version}
Summary: Reports metrics from inside a hypertune trial, asks about studies
Requires-Python: >=2.7, !=3.0.*, !=3.1.*, !=3.2.*, !=3.3.*, !=3.4.*
"""


def read(path):
    with io.open(path, "rb") as source:
        return source.read()


def version():
    text = read(os.path.join(PACKAGE, "__init__.py")).decode("utf-8")
    return re.search('__version__ = "([^"]+)"', text).group(1)


def tree(folder, place=""):
    """(name in the wheel, content, mode) of all files below the folder."""
    for parent, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if not name.endswith(".pyc"):
                path = os.path.join(parent, name)
                yield (os.path.join(place, os.path.relpath(path, folder)),
                       read(path), os.stat(path).st_mode & 0o755)


def write_wheel(directory, files, tags=PURE_TAGS, metadata=METADATA):
    """Adds the metadata and RECORD; returns the file's name."""
    info = "hypertune-%s.dist-info" % version()
    purelib = "true" if tags is PURE_TAGS else "false"
    wheel_text = "Wheel-Version: 1.0\nGenerator: hypertune\n" \
        "Root-Is-Purelib: %s\n%s" % (
            purelib, "".join("Tag: %s\n" % tag for tag in tags))
    files = list(files) + [
        (info + "/METADATA", metadata.format(version=version()).encode(),
         0o644),
        (info + "/WHEEL", wheel_text.encode(), 0o644)]
    record = "".join("%s,sha256=%s,%d\n" % (
        path, base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        .decode().rstrip("="), len(data)) for path, data, _ in files)
    files.append((info + "/RECORD", (record + info + "/RECORD,,\n").encode(),
                  0o644))
    name = "hypertune-%s-%s.whl" % (version(), ".".join(
        sorted(set(tag.split("-")[0] for tag in tags))) +
        tags[0][tags[0].index("-"):])
    with zipfile.ZipFile(os.path.join(directory, name), "w",
                         zipfile.ZIP_DEFLATED) as wheel:
        for path, data, mode in files:
            entry = zipfile.ZipInfo(path)  # of 1980: the same bytes each time
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data, compresslevel=9)
    return name


def packages():
    """All that Python imports; Hydra finds its plugins by their place."""
    return list(tree(PACKAGE, "hypertune")) + list(
        tree(os.path.join(HERE, "hydra_plugins"), "hydra_plugins"))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, packages())


def build_editable(wheel_directory, config_settings=None,
                   metadata_directory=None):
    return write_wheel(wheel_directory, [
        ("hypertune.pth", (HERE + "\n").encode(), 0o644)])
