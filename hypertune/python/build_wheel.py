"""Makes the wheel of this package with the standard library alone (PEP 517).

pip fetches setuptools for other backends, which a machine without a network
cannot do.
"""
import base64
import hashlib
import io
import os
import re
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "hypertune")

METADATA = """\
Metadata-Version: 2.1
Name: hypertune
Version: {version}
Summary: Reports metrics from inside a hypertune trial, asks about studies
Requires-Python: >=2.7, !=3.0.*, !=3.1.*, !=3.2.*, !=3.3.*, !=3.4.*
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: hypertune
Root-Is-Purelib: true
Tag: py2-none-any
Tag: py3-none-any
"""


def read(path):
    with io.open(path, "rb") as source:
        return source.read()


def version():
    text = read(os.path.join(PACKAGE, "__init__.py")).decode("utf-8")
    return re.search('__version__ = "([^"]+)"', text).group(1)


def package_files():
    for folder, _, names in sorted(os.walk(PACKAGE)):
        for name in sorted(names):
            if not name.endswith(".pyc"):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, HERE), read(path)


def write_wheel(directory, files):
    """Adds the metadata and RECORD; returns the file's name."""
    info = "hypertune-%s.dist-info" % version()
    files = list(files) + [
        (info + "/METADATA", METADATA.format(version=version()).encode()),
        (info + "/WHEEL", WHEEL.encode())]
    record = ""
    name = "hypertune-%s-py2.py3-none-any.whl" % version()
    with zipfile.ZipFile(os.path.join(directory, name), "w",
                         zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
            record += "%s,sha256=%s,%d\n" % (
                path, digest.decode().rstrip("="), len(data))
            wheel.writestr(path, data)
        record += info + "/RECORD,,\n"
        wheel.writestr(info + "/RECORD", record)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, package_files())


def build_editable(wheel_directory, config_settings=None,
                   metadata_directory=None):
    return write_wheel(wheel_directory,
                       [("hypertune.pth", (HERE + "\n").encode())])
