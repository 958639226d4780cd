"""The command line's program, for what only it can do.

It reads spec files: there is one reader of YAML and of every spec form, and it
is written in C. It also starts a user's own server.
"""
import os
import shutil
import subprocess
import sys
from typing import Dict, Mapping, Optional, Sequence

from hypertune import errors

_BY_EXIT = {
    2: errors.InvalidArgument,
    3: errors.NotFound,
    4: errors.PermissionDenied,
    5: errors.Conflict,
    6: errors.Unavailable,
}

# What would lead the program to another server than the one that is meant.
_PLACES = ("HYPERTUNE_SERVER", "HYPERTUNE_TOKEN_FILE", "HYPERTUNE_STATE")


class NotInstalled(errors.Unavailable):
    """The program `hypertune` is not in PATH."""


def find() -> Optional[str]:
    """Its path: in the virtual environment of this Python, which need not
    be activated, else in PATH."""
    own = os.path.join(sys.prefix, "bin", "hypertune")
    if sys.prefix != sys.base_prefix and os.access(own, os.X_OK):
        return own
    return shutil.which("hypertune")


def run(arguments: Sequence[str], places: Mapping[str, str], timeout: float,
        text: Optional[str] = None) -> str:
    """Runs `hypertune` with `text` on stdin; returns what it printed.

    `places` are the variables that lead it to the server. A refusal raises
    the ApiError of its exit code, with its message.
    """
    path = find()
    if path is None:
        raise NotInstalled("the program hypertune is not in PATH")
    environment: Dict[str, str] = {name: value for name, value
                                   in os.environ.items()
                                   if name not in _PLACES}
    environment.update(places)
    try:
        done = subprocess.run([path] + list(arguments), input=text or "",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment, timeout=timeout,
                              encoding="utf-8", errors="replace")
    except subprocess.TimeoutExpired:
        raise errors.DeadlineExceeded("hypertune %s took more than %g s" %
                                      (arguments[0], timeout)) from None
    if done.returncode != 0:
        words = done.stderr.strip()
        if words.startswith("hypertune: "):
            words = words[len("hypertune: "):]
        kind = _BY_EXIT.get(done.returncode, errors.ApiError)
        raise kind(words or "hypertune %s ended with exit code %d" %
                   (arguments[0], done.returncode))
    return done.stdout
