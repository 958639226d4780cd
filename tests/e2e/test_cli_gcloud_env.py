"""`hypertune gcloud-env`: what a shell gets, keeps and gives back."""

import json
import os
import shutil
import stat
import subprocess
import time
import urllib.error
import urllib.request

import harness
import tap
from cli_home import Home

COMMAND = '"%s" gcloud-env ' % os.path.join(harness.bin_dir(), "hypertune")
POSIX = ["sh", "-c"]
# No engine of this machine: the server gets no runner of containers.
QUIET = {"DOCKER_HOST": "unix:///nonexistent"}
ENDPOINTS = ["CLOUDSDK_API_ENDPOINT_OVERRIDES_" + api
             for api in ("ML", "AIPLATFORM", "LOGGING")]

# Nothing of Google's or a proxy's from the shell that runs the tests.
for inherited in list(os.environ):
    if inherited.startswith(("CLOUDSDK_", "GOOGLE_")) or \
            inherited.lower().endswith("_proxy"):
        del os.environ[inherited]


def settings(home, **variables):
    return {**QUIET, "HOME": home.folder, **variables}


def evaluate(home, script, shell=POSIX, **variables):
    """The exported variables after a script of the shell."""
    done = subprocess.run(shell + [script + "\nenv -0"], cwd=home.folder,
                          env=home.environment(settings(home, **variables)),
                          timeout=harness.PATIENCE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tap.equal(done.returncode, 0, done.stderr.decode())
    return dict(entry.split("=", 1)
                for entry in done.stdout.decode().split("\0")
                if "=" in entry)


def eval_of(arguments=""):
    return 'eval "$(%s%s)"\n' % (COMMAND, arguments)


def without_noise(env):
    return {k: v for k, v in env.items() if k not in ("_", "SHLVL", "PWD",
                                                      "OLDPWD")}


def asks(url, token=None):
    headers = {"Authorization": "Bearer " + token} if token else {}
    request = urllib.request.Request(url + "hypertune/v1/server",
                                     headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=harness.PATIENCE) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def content(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def a_shell_gets_what_gcloud_needs():
    with Home() as home:
        env = evaluate(home, eval_of())
        url = home.note()["http"] + "/"
        for name in ENDPOINTS:
            tap.equal(env[name], url)
        token = env["CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"]
        tap.equal(token, os.path.join(home.state, "token"))
        tap.equal(asks(url, content(token).strip()), 200)
        tap.equal(asks(url), 401)
        assert "CLOUDSDK_AUTH_DISABLE_CREDENTIALS" not in env
        for name in ("CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT"):
            tap.equal(env[name], "local")
        for name in ("CLOUDSDK_AI_REGION", "CLOUDSDK_COMPUTE_REGION",
                     "GOOGLE_CLOUD_REGION"):
            tap.equal(env[name], "us-central1")
        tap.equal(env["CLOUDSDK_AI_PLATFORM_REGION"], "global")
        for name in ("no_proxy", "NO_PROXY"):
            tap.equal(env[name], "127.0.0.1")
        for name in ("CLOUDSDK_CORE_DISABLE_USAGE_REPORTING",
                     "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK"):
            tap.equal(env[name], "true")
        assert "CLOUDSDK_CORE_DISABLE_PROMPTS" not in env


def the_folder_of_settings_is_private_and_asks_no_metadata_server():
    with Home() as home:
        folder = evaluate(home, eval_of())["CLOUDSDK_CONFIG"]
        tap.equal(folder, os.path.join(home.state, "gcloud"))
        tap.equal(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        note = os.path.join(folder, "gce")
        tap.equal(content(note), "False")
        assert os.stat(note).st_mtime > time.time() + 10 * 365 * 86400
        with open(note, "w", encoding="utf-8") as file:
            file.write("True, it seems")
        evaluate(home, eval_of())
        tap.equal(content(note), "False")
        assert os.stat(note).st_mtime > time.time() + 10 * 365 * 86400


def undone_all_is_as_it_was():
    before = {"CLOUDSDK_CONFIG": "/some where/it's",
              "CLOUDSDK_CORE_PROJECT": "", "NO_PROXY": "example.com",
              "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "1",
              "CLOUDSDK_ACTIVE_CONFIG_NAME": "work"}
    with Home() as home:
        for given in ({}, before):
            untouched = without_noise(evaluate(home, "", **given))
            changed = evaluate(home, eval_of(), **given)
            assert without_noise(changed) != untouched
            assert "CLOUDSDK_AUTH_DISABLE_CREDENTIALS" not in changed
            assert "CLOUDSDK_ACTIVE_CONFIG_NAME" not in changed
            again = evaluate(home, eval_of() + eval_of("--project x") +
                             eval_of("--unset"), **given)
            tap.equal(without_noise(again), untouched)


def a_second_time_changes_nothing():
    with Home() as home:
        once = evaluate(home, eval_of(), NO_PROXY="example.com")
        twice = evaluate(home, eval_of() * 2, NO_PROXY="example.com")
        tap.equal(without_noise(twice), without_noise(once))
        tap.equal(once["no_proxy"], "example.com,127.0.0.1")
        listed = "x, 127.0.0.1 ,y"
        tap.equal(evaluate(home, eval_of(), no_proxy=listed)["NO_PROXY"],
                  listed)


def without_an_earlier_one_there_is_nothing_to_undo():
    with Home() as home:
        out, err = home.cli("gcloud-env", "--unset")
        tap.equal(out, "")
        assert "nothing to undo" in err, err
        assert home.note() is None, "a server was started"


def a_persons(home, folder="home/.config/gcloud"):
    """Makes settings of a person's gcloud; returns their folder."""
    path = os.path.join(home.folder, folder)
    os.makedirs(os.path.join(path, "configurations"))
    for name, text in (("active_config", "work"),
                       ("configurations/config_default",
                        "[core]\nproject = other\n"),
                       ("configurations/config_work",
                        "[core]\naccount = a@example.com\nproject = mine \n\n"
                        "[compute]\nregion = europe-west4\n"
                        "project = wrong\n")):
        with open(os.path.join(path, name), "w", encoding="utf-8") as file:
            file.write(text)
    return path


def every_file(folder):
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            found[path] = (content(path), os.stat(path).st_mtime_ns)
    return found


def names(env):
    return env["CLOUDSDK_CORE_PROJECT"], env["CLOUDSDK_COMPUTE_REGION"]


def the_persons_project_and_region_are_taken_and_left_alone():
    with Home() as home:
        theirs = a_persons(home)
        other = os.path.join(home.folder, "elsewhere")
        shutil.copytree(theirs, other)
        before = every_file(theirs), every_file(other)
        variables = {"HOME": os.path.join(home.folder, "home")}
        tap.equal(names(evaluate(home, eval_of(), **variables)),
                  ("mine", "europe-west4"))
        # also the second time, when the settings of the shell are ours
        tap.equal(names(evaluate(home, eval_of() * 2, **variables)),
                  ("mine", "europe-west4"))
        tap.equal(names(evaluate(home, eval_of(), **variables,
                                 CLOUDSDK_ACTIVE_CONFIG_NAME="default")),
                  ("other", "us-central1"))
        tap.equal(names(evaluate(home, eval_of(), CLOUDSDK_CONFIG=other)),
                  ("mine", "europe-west4"))
        tap.equal(names(evaluate(home, eval_of(), **variables,
                                 CLOUDSDK_CORE_PROJECT="set",
                                 CLOUDSDK_AI_REGION="us-east1")),
                  ("set", "us-east1"))
        tap.equal(names(evaluate(
            home, eval_of("--project p --region asia-east1"), **variables)),
                  ("p", "asia-east1"))
        tap.equal((every_file(theirs), every_file(other)), before)


def takes_it(shell, script):
    """A shell gets from the script what bash gets from an eval."""
    if shutil.which(shell) is None:
        raise tap.Skip(shell + " is not installed")
    odd = "it's $(a) \\x"

    def settings_of(which, lines):
        lines = lines.replace("gcloud-env", 'gcloud-env --project "$ODD"')
        env = evaluate(home, lines, [which, "-c"], ODD=odd)
        return {k: v for k, v in env.items()
                if k.startswith(("CLOUDSDK", "GOOGLE", "HYPERTUNE"))}
    with Home() as home:
        got = settings_of(shell, script)
        tap.equal(got, settings_of("bash", eval_of()), shell)
        tap.equal(got["CLOUDSDK_CORE_PROJECT"], odd, shell)


def dash_takes_it():
    takes_it("dash", eval_of())


def sh_takes_it_as_one_line():
    """As an unquoted substitution gives it."""
    takes_it("sh", "eval $(%s)\n" % COMMAND)


def zsh_takes_it():
    takes_it("zsh", eval_of())


def fish_takes_it():
    takes_it("fish", "%s-o fish | source\n" % COMMAND)


def fish_undoes_it_too():
    with Home() as home:
        if shutil.which("fish") is None:
            raise tap.Skip("fish is not installed")
        fish = ["fish", "-c"]
        script = COMMAND + "-o fish | source\n"
        plain = without_noise(evaluate(home, "", fish))
        assert without_noise(evaluate(home, script, fish)) != plain
        tap.equal(without_noise(evaluate(
            home, script + COMMAND + "--unset -o fish | source\n", fish)),
                  plain)


def json_has_the_same_values():
    with Home() as home:
        env = evaluate(home, eval_of())
        out, _ = home.cli("gcloud-env", "-o", "json", **settings(home))
        wanted = json.loads(out)
        tap.equal(wanted, {name: env[name] for name in env
                           if name in wanted or name.startswith("CLOUDSDK_")})


def the_python_lines_reach_the_server_with_its_token():
    with Home() as home:
        out, _ = home.cli("gcloud-env", **settings(home))
        lines = [line[2:] for line in out.splitlines() if line[:2] == "# "]
        tap.equal(len(lines), 2)
        given = {}
        scope = {
            "Credentials": lambda token: token,
            "aiplatform": type("", (), {
                "init": staticmethod(lambda **all: given.update(all))})}
        exec(lines[1], scope)  # what a person pastes
        tap.equal(given["api_transport"], "rest")
        tap.equal((given["project"], given["location"]),
                  ("local", "us-central1"))
        tap.equal(asks(given["api_endpoint"] + "/", given["credentials"]),
                  200)


def a_server_without_tokens_is_asked_without_credentials():
    with Home() as home, harness.Server("--auth", "none", "--runner",
                                        "none") as server:
        variables = {"HYPERTUNE_SERVER": server.http,
                     "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": "/nonexistent"}
        env = evaluate(home, eval_of(), **variables)
        tap.equal(env["CLOUDSDK_AUTH_DISABLE_CREDENTIALS"], "true")
        assert "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE" not in env
        tap.equal(env[ENDPOINTS[0]], server.http + "/")
        out, _ = home.cli("gcloud-env", **settings(home, **variables))
        assert "credentials=AnonymousCredentials())" in out, out
        assert home.note() is None, "a server was started"


def a_named_server_wants_its_token():
    with Home() as home, harness.Server("--runner", "none") as server:
        named = {"HYPERTUNE_SERVER": server.http + "/"}
        out, err = home.cli("gcloud-env", want=4, **named)
        tap.equal(out, "")
        assert "--token-file" in err, err
        env = evaluate(home, eval_of("--token-file " + server.token_file),
                       **named)
        tap.equal(env["CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"], server.token_file)
        tap.equal(env[ENDPOINTS[1]], server.http + "/")


def nothing_is_printed_without_a_server():
    with Home() as home:
        out, err = home.cli("gcloud-env", "--server", "http://127.0.0.1:1",
                            want=6)
        tap.equal(out, "")
        assert "cannot reach" in err, err
        tap.equal(home.cli("gcloud-env", "now", want=2)[0], "")
        _, err = home.cli("gcloud-env", "-o", "csv", want=2)
        assert "sh, fish or json" in err, err


def talk_goes_to_stderr_and_warns_without_images():
    with Home() as home:
        _, err = home.cli("gcloud-env", **settings(home))
        assert "project local, region us-central1" in err, err
        assert "no runner runs images here" in err, err
        tap.equal(home.cli("gcloud-env", "--quiet", **settings(home))[1], "")


tap.run([a_shell_gets_what_gcloud_needs,
         the_folder_of_settings_is_private_and_asks_no_metadata_server,
         undone_all_is_as_it_was, a_second_time_changes_nothing,
         without_an_earlier_one_there_is_nothing_to_undo,
         the_persons_project_and_region_are_taken_and_left_alone,
         dash_takes_it, sh_takes_it_as_one_line, zsh_takes_it, fish_takes_it,
         fish_undoes_it_too, json_has_the_same_values,
         the_python_lines_reach_the_server_with_its_token,
         a_server_without_tokens_is_asked_without_credentials,
         a_named_server_wants_its_token, nothing_is_printed_without_a_server,
         talk_goes_to_stderr_and_warns_without_images])
