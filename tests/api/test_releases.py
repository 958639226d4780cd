"""Programs of other releases: one apart works, a farther one is refused with
the repair and changes nothing."""

import os
import subprocess
import sys
import tempfile

import api
import fake_runner
import harness
import tap
import tree

MAJOR, MINOR = 0, 1  # HT_VERSION of this tree, checked below
NEAR = "%d.%d.7" % (MAJOR, MINOR + 1)
FAR = "%d.%d.0" % (MAJOR, MINOR + 2)

server = None


def answer(version, path=api.STUDIES):
    return api.ask(server, "GET", path, "User-Agent: hypertune/" + version)


def this_release_is_known_to_the_test():
    said = api.ask(server, "GET", api.OURS + "/server").json()["version"]
    tap.equal(said.split(".")[:2], [str(MAJOR), str(MINOR)])


def a_client_one_release_apart_works():
    tap.equal(answer(NEAR).status, 200)


def a_client_two_releases_apart_is_refused_with_the_repair():
    refused = answer(FAR)
    tap.equal(refused.status, 400)
    tap.equal(refused.json()["error"]["status"], "FAILED_PRECONDITION")
    for part in (FAR, "install the same on both sides",
                 "kill %d" % server.process.pid):
        tap.contains(part, refused.json()["error"]["message"])


def who_has_no_token_does_not_learn_the_release():
    tap.equal(api.ask(server, "GET", api.STUDIES, "User-Agent: hypertune/" +
                      FAR, auth=None).status, 401)


def a_runner_one_release_apart_works():
    with fake_runner.Runner(server, name="near", version=NEAR):
        pass


def a_runner_two_releases_apart_is_refused():
    try:
        fake_runner.Runner(server, name="far", version=FAR)
        raise RuntimeError("it was taken")
    except AssertionError as error:
        tap.contains("'denied'", str(error))
        tap.contains("the runner " + FAR, str(error))
    runners = api.ask(server, "GET", api.OURS + "/runners").body.decode()
    tap.contains('"near"', runners)
    tap.lacks('"far"', runners)


def python(code, version):
    """Runs code with the package as another release has it."""
    with tempfile.TemporaryDirectory() as work:
        return subprocess.run(
            [sys.executable, "-c", "import hypertune\n"
             "hypertune.__version__ = %r\n%s" % (version, code)],
            env=dict(os.environ, PYTHONPATH=os.path.join(
                tree.ROOT, "hypertune/python"), HOME=work,
                HYPERTUNE_SERVER=server.http,
                HYPERTUNE_TOKEN_FILE=server.token_file),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
            timeout=harness.PATIENCE)


def the_python_client_says_its_release():
    code = "print(hypertune.Client().studies())"
    tap.equal(python(code, NEAR).stdout, "[]\n")
    tap.contains("FailedPrecondition: this server is",
                 python(code, FAR).stdout)


with harness.Server("--runner", "none") as server:
    tap.run([
        this_release_is_known_to_the_test,
        a_client_one_release_apart_works,
        a_client_two_releases_apart_is_refused_with_the_repair,
        who_has_no_token_does_not_learn_the_release,
        a_runner_one_release_apart_works,
        a_runner_two_releases_apart_is_refused,
        the_python_client_says_its_release,
    ])
