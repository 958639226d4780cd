"""Keys of service accounts in containers of real engines: mounted for whoever
runs there, to read only, and gone with the trial."""

import json
import os
import shutil
import tempfile

import engines
import harness
import tap
from engines import TINY, shell, spec

ACCOUNT = "trainer@moon.iam.gserviceaccount.com"
LOOK = ("id -u; echo $GOOGLE_APPLICATION_CREDENTIALS; "
        "cat $GOOGLE_APPLICATION_CREDENTIALS || exit 9; echo; "
        "(echo >>$GOOGLE_APPLICATION_CREDENTIALS) 2>/dev/null "
        "|| echo read-only; ls /hypertune; echo $CLOUD_ML_PROJECT_ID; "
        "echo score=1")


def key(name):
    return json.dumps({"client_email": name})


class Credentials:
    def __init__(self, server):
        self._server = server
        self._engine = server.engine

    def _look(self, name, user, email, **members):
        trial = self._server.run(spec(name, shell(LOOK), **members))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        tap.equal(self._server.output(name).splitlines(),
                  [user, "/hypertune/credentials.json", key(email),
                   "read-only", "credentials.json", "kit", "output", "trial",
                   "local", "score=1"])
        tap.lacks("credentials", self._server.output(name, stream="runner"))

    def root_reads_the_key_of_the_jobs_account(self):
        self._look("root", "0", ACCOUNT, serviceAccount=ACCOUNT)

    def so_does_a_user_of_the_jobs_choice(self):
        self._look("user", "4711", ACCOUNT, serviceAccount=ACCOUNT,
                   container={"user": "4711:4711", "readOnly": True,
                              "network": "none"})

    def so_does_the_images_user(self):
        self._engine.build("localhost/somebody:1", {
            "Dockerfile": "FROM %s\nUSER 1234\n" % TINY})
        self._look("image", "1234", ACCOUNT, serviceAccount=ACCOUNT,
                   image="localhost/somebody:1")

    def a_job_without_an_account_finds_the_default(self):
        self._look("default", "0", "default@moon")

    def every_replica_finds_it(self):
        # The master's end is that of all, so it waits for the others.
        self._server.run(spec("cluster", shell(
            "cat $GOOGLE_APPLICATION_CREDENTIALS; echo; echo score=1; "
            "cd $AIP_CHECKPOINT_DIR; touch $HYPERTUNE_REPLICA; "
            "until [ -e worker-0 -a -e worker-1 ]; do sleep 0.1; done"),
            serviceAccount=ACCOUNT, replicas={"worker": {"count": 2}}))
        for replica in ("master-0", "worker-0", "worker-1"):
            first = self._server.output("cluster", replica).splitlines()[0]
            tap.equal(first, key(ACCOUNT), replica)

    def without_a_key_a_trial_runs_with_a_warning(self):
        trial = self._server.run(spec("none", shell(
            "echo ${GOOGLE_APPLICATION_CREDENTIALS:-nothing}; ls /hypertune; "
            "echo score=1"), serviceAccount="nobody@moon"))
        tap.equal(trial["state"], "SUCCEEDED", trial["reason"])
        tap.equal(self._server.output("none").splitlines(),
                  ["nothing", "kit", "output", "trial", "score=1"])
        words = self._server.output("none", stream="runner")
        tap.contains("no credentials of nobody@moon", words)

    def the_variable_of_an_image_stays(self):
        self._engine.build("localhost/own:1", {
            "Dockerfile": "FROM %s\n"
                          "ENV GOOGLE_APPLICATION_CREDENTIALS=/mine\n" % TINY})
        self._server.run(spec("own", shell(
            "echo $GOOGLE_APPLICATION_CREDENTIALS; echo score=1"),
            image="localhost/own:1", serviceAccount=ACCOUNT))
        tap.equal(self._server.output("own").splitlines()[0], "/mine")
        words = self._server.output("own", stream="runner")
        tap.contains(
            "the job or its image sets GOOGLE_APPLICATION_CREDENTIALS", words)

    def no_copy_is_left(self):
        self._server.expect_nothing_left()
        folder = os.path.join(self._server.data, "runs", "docker",
                              "credentials")
        harness.wait_until(lambda: os.listdir(folder) == [],
                           "copies to go")


def main():
    keys = tempfile.mkdtemp(prefix="ht-keys-")
    for account, email in ((ACCOUNT, ACCOUNT), ("default", "default@moon")):
        path = os.path.join(keys, account + ".json")
        with open(path, "w", encoding="ascii") as file:
            file.write(key(email))
        os.chmod(path, 0o600)
    try:
        engines.run(Credentials, "--credentials", keys)
    finally:
        shutil.rmtree(keys)


if __name__ == "__main__":
    main()
