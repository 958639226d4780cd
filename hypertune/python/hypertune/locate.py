"""Which server a client talks to: the command line's rules, once more.

A server that is named is never started. Otherwise it is this user's own one:
server.json of the state folder, believed only while the server holds `lock`.
"""
import fcntl
import json
import os
from typing import Mapping, NamedTuple, Optional
from urllib.parse import urlsplit

from hypertune import program
from hypertune.errors import PermissionDenied, Unavailable
from hypertune.trust import is_loopback


class Address(NamedTuple):
    """Where to send requests; `folder` is set when the server is our own."""
    url: str
    token_file: Optional[str]
    folder: Optional[str]


def state_folder(environment: Mapping[str, str]) -> Optional[str]:
    """The folder of this user's own server; None when nothing names one."""
    own = environment.get("HYPERTUNE_STATE")
    if own:
        return os.path.abspath(own)
    # The XDG rule: a relative value is ignored.
    state = environment.get("XDG_STATE_HOME", "")
    if state.startswith("/"):
        return os.path.join(state, "hypertune")
    home = environment.get("HOME", "")
    if home.startswith("/"):
        return os.path.join(home, ".local", "state", "hypertune")
    return None


def _is_held(folder: str) -> bool:
    """A shared lock that can be had means that none has the exclusive one."""
    try:
        fd = os.open(os.path.join(folder, "lock"), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(fd)


def _is_loopback(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and is_loopback(parts.hostname or "")


def find_own(folder: str) -> Optional[str]:
    """The URL of the server that runs in `folder`; None when none does.

    Unavailable when one runs but its server.json is not to be believed.
    """
    path = os.path.join(folder, "server.json")
    # The lock is probed only once server.json is there: a server that is just
    # starting must not find our shared lock in its way.
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return None
    if not _is_held(folder):
        return None
    try:
        url = json.loads(text)["http"]
    except (ValueError, KeyError, TypeError):
        raise Unavailable('%s does not say "http"' % path) from None
    if not isinstance(url, str) or not _is_loopback(url):
        raise Unavailable("%s names %s, which is not this machine" %
                          (path, url))
    return url


def ensure_own(folder: str, timeout: float) -> str:
    """The URL of the server in `folder`, started when none runs.

    The command line does the starting, so that several callers at once,
    notebooks or shells, end up with one server.
    """
    url = find_own(folder)
    if url is not None:
        return url
    try:
        program.run(["list", "--limit", "1", "-o", "name"],
                    {"HYPERTUNE_STATE": folder}, timeout)
    except program.NotInstalled as error:
        raise Unavailable(
            "no server runs in %s, and it cannot be started: %s\n  name a "
            "server by HYPERTUNE_SERVER or Client(server=...)" %
            (folder, error)) from None
    url = find_own(folder)
    if url is None:
        raise Unavailable("the server of %s ended at once" % folder)
    return url


def locate(server: Optional[str], token_file: Optional[str],
           environment: Mapping[str, str], timeout: float) -> Address:
    """Arguments first, then the environment, then the user's own server."""
    token_file = (token_file or environment.get("HYPERTUNE_TOKEN_FILE") or
                  None)
    folder = state_folder(environment)
    named = server or environment.get("HYPERTUNE_SERVER")
    if named:
        named = named.rstrip("/")
        # Our own server by its address still has its token in our folder.
        if token_file is None and folder and find_own(folder) == named:
            token_file = os.path.join(folder, "token")
        return Address(named, token_file, None)
    if folder is None:
        raise Unavailable(
            "no folder for a server: HOME is not set\n  name one by "
            "HYPERTUNE_STATE, or a server by HYPERTUNE_SERVER")
    return Address(ensure_own(folder, timeout),
                   token_file or os.path.join(folder, "token"), folder)


def read_token(path: Optional[str]) -> Optional[str]:
    """The token in the file; None without a file.

    PermissionDenied when the file cannot be read or holds none.
    """
    if path is None:
        return None
    try:
        with open(path, encoding="ascii") as file:
            token = file.read(1024).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise PermissionDenied("cannot read the token file %s: %s" %
                               (path, error)) from None
    if not token.replace("_", "").isalnum():  # a named one: ht_a_...
        raise PermissionDenied("%s holds no token" % path)
    return token
