"""Secrets at rest: with a key none is in the data folder in plain, whenever the
server dies; what is sealed opens in its own place, with its own key, only."""

import json
import os
import shutil
import subprocess
import tempfile

import harness
import tap
from tls_server import TlsServer

EXIT = 86  # FAILPOINT_EXIT of tuner/base/failpoint.h
SECRETS = (b"PRIVATE KEY", b"the-signing-key", b"url-with-a-secret")
FILES = ("tls/key.pem", "tls/ca-key.pem", "webhooks.json", "hook.key")

folder = tempfile.mkdtemp(prefix="ht-keys-")
server = TlsServer("--runner", "none")


def make_key(name, mode=0o600):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(os.urandom(32).hex() + "\n")
    os.chmod(path, mode)
    return path


KEY, NEXT = make_key("key"), make_key("next")


def write(name, text):
    path = os.path.join(server.data, name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
    os.rename(path + ".new", path)


def read(name):
    with open(os.path.join(server.data, name), "rb") as file:
        return file.read()


def hooks(path="url-with-a-secret"):
    return json.dumps([{"url": "http://127.0.0.1:1/" + path, "local": True,
                        "on": ["study.ended"], "secretFile": "hook.key"}])


def plain_files():
    """Those with the bytes of a secret: databases and their logs, too."""
    return sorted(os.path.relpath(path, server.data)
                  for path, content in harness.contents(server.data).items()
                  if any(secret in content for secret in SECRETS))


def start_with(*options, **more):
    server.options = ["--runner", "none", *options]
    server.start(**more)


def run_daemon(*options, fail=None, environment=None):
    """A start that ends by itself: its code and what it said."""
    done = subprocess.run(
        [os.path.join(harness.bin_dir(), "hypertuned"), "--data", server.data,
         "--listen", "127.0.0.1:0", "--report-listen", "tcp://127.0.0.1:0",
         "--runner", "none", *options], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", timeout=harness.PATIENCE,
        env=dict(os.environ, HT_FAIL=fail or "", **(environment or {})))
    return done.returncode, done.stdout


def expect_refusal(said, *options):
    code, text = run_daemon(*options)
    tap.equal(code, 1, text)
    tap.contains(said, text)


def cli(*words, code=0):
    done = subprocess.run(
        [os.path.join(harness.bin_dir(), "hypertune"), *words, "--data",
         server.data], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8", stdin=subprocess.DEVNULL, timeout=harness.PATIENCE)
    tap.equal(done.returncode, code, (done.stdout, done.stderr))
    return done.stdout + done.stderr


def secrets_of_server():
    return json.loads(server.ask("/hypertune/v1/server")[1])["secrets"]


def without_a_key_the_plain_ones_are_named():
    start_with()
    tap.contains("secrets.plain files=\"tls/key.pem tls/ca-key.pem "
                 "webhooks.json\"", server.log_text())
    tap.contains("webhooks.json", secrets_of_server()["plain"])
    tap.contains("in plain in the data folder", cli("doctor"))
    tap.equal(plain_files(), sorted(FILES))
    tap.equal({os.stat(os.path.join(server.data, name)).st_mode & 0o777
               for name in FILES}, {0o600})
    tap.equal(server.stop(), 0)


def a_server_killed_while_it_seals_loses_nothing():
    for turn in (1, 2, 3):
        code, text = run_daemon("--key-file", KEY, fail="sealed:%d" % turn)
        tap.equal(code, EXIT, text)
    tap.true(0 < len(plain_files()) < len(FILES), plain_files())
    expect_refusal("is sealed with the key")


def with_a_key_none_is_plain():
    start_with("--key-file", KEY)
    tap.equal(plain_files(), [])
    tap.equal(server.ask("/healthz")[0], 200)
    key = secrets_of_server()["key"]
    tap.contains("with the key " + key, cli("doctor"))
    tap.contains("webhooks.read webhooks=1", server.log_text())
    tap.equal(cli("unseal", "webhooks.json", "--key-file", KEY), hooks())


def what_an_admin_writes_is_sealed_when_it_is_in_force():
    write("webhooks.json", hooks("url-with-a-secret-2"))
    harness.wait_until(lambda: not plain_files(), "it is sealed")
    tap.contains("url-with-a-secret-2",
                 cli("unseal", "webhooks.json", "--key-file", KEY))


def a_rotation_of_tls_makes_sealed_keys():
    before, _ = server.pins()
    tap.contains("give it by --key-file", cli("tls", "rotate", code=1))
    tap.equal(plain_files(), [])
    text = cli("tls", "rotate", "--key-file", KEY)
    tap.contains("next pin", text)
    cli("tls", "rotate", "--key-file", KEY)
    after, _ = server.pins()
    tap.true(before != after, after)
    server.reload(after)
    tap.equal(plain_files(), [])
    tap.equal(server.stop(), 0)


def it_opens_with_its_key_only():
    expect_refusal("give it by --key-file")
    expect_refusal("and --key-file is the key", "--key-file", NEXT)
    expect_refusal("is open to other users", "--key-file",
                   make_key("open", 0o640))
    expect_refusal("is in the data folder", "--key-file",
                   shutil.copy(KEY, os.path.join(server.data, "key")))
    os.unlink(os.path.join(server.data, "key"))
    expect_refusal("holds no key", "--key-file", os.path.join(folder, "empty"))


def it_opens_in_its_place_only():
    for one, other in (("hook.key", "webhooks.json"),
                       ("tls/key.pem", "tls/ca-key.pem")):
        was = read(one), read(other)
        write(one, was[1].decode())
        write(other, was[0].decode())
        expect_refusal("is another sealed file under this name", "--key-file",
                       KEY)
        write(one, was[0].decode())
        write(other, was[1].decode())
    was = read("hook.key").decode()
    write("hook.key", was[:40] + ("B" if was[40] == "A" else "A") + was[41:])
    expect_refusal("was changed since it was sealed", "--key-file", KEY)
    write("hook.key", was)


def a_new_key_takes_the_place_of_the_old_one():
    code, text = run_daemon("--key-file", NEXT, "--old-key-file", KEY,
                            fail="sealed:2")
    tap.equal(code, EXIT, text)
    start_with("--key-file", NEXT, "--old-key-file", KEY)
    tap.equal(plain_files(), [])
    tap.equal(server.stop(), 0)
    expect_refusal("and --key-file is the key", "--key-file", KEY)


def a_credential_of_systemd_is_a_key():
    shutil.copy(NEXT, os.path.join(folder, "hypertune-key"))
    os.chmod(os.path.join(folder, "hypertune-key"), 0o440)
    code, text = run_daemon(fail="sealed:1",
                            environment={"CREDENTIALS_DIRECTORY": folder})
    tap.equal(code, EXIT, text)
    os.environ["CREDENTIALS_DIRECTORY"] = folder
    start_with()
    tap.equal(server.ask("/healthz")[0], 200)


def main():
    try:
        os.makedirs(server.data, 0o700)
        open(os.path.join(folder, "empty"), "w", encoding="ascii").close()
        os.chmod(os.path.join(folder, "empty"), 0o600)
        write("webhooks.json", hooks())
        write("hook.key", "the-signing-key\n")
        tap.run([without_a_key_the_plain_ones_are_named,
                 a_server_killed_while_it_seals_loses_nothing,
                 with_a_key_none_is_plain,
                 what_an_admin_writes_is_sealed_when_it_is_in_force,
                 a_rotation_of_tls_makes_sealed_keys,
                 it_opens_with_its_key_only,
                 it_opens_in_its_place_only,
                 a_new_key_takes_the_place_of_the_old_one,
                 a_credential_of_systemd_is_a_key])
    finally:
        shutil.rmtree(folder)
        server.close(True)


main()
