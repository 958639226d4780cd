"""`hypertune ui`: links that log in, under SSH, and with a browser."""

import json
import os
import re
import urllib.error
import urllib.request

import tap
from cli_home import Home, Terminal
from harness import PATIENCE, wait_until

SPEC = {"spec": 1, "name": "digits", "goal": "maximize accuracy",
        "parameters": {"lr": [1, 2, 3]}, "trials": 1,
        "command": ["sh", "-c", "echo accuracy=0.5 $0 $@"],
        "metrics": {"stdout": "accuracy={accuracy}"}}
LINK = re.compile(r"(http://127\.0\.0\.1:(\d+))/#login=([0-9a-f]{32})"
                  r"(?:&to=(\S+))?\r?\n")
HERE = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "SSH_CONNECTION": ""}


def log_in(link):
    """The status of a login with the code of a link."""
    url, _, code, _ = LINK.fullmatch(link).groups()
    request = urllib.request.Request(
        url + "/hypertune/v1/login", json.dumps({"code": code}).encode(),
        {"Content-Type": "application/json", "Origin": url})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status
    except urllib.error.HTTPError as refusal:
        return refusal.code


def a_link_logs_in_once():
    with Home() as home:
        link, said = home.cli("ui", **HERE)
        tap.contains("works once", said)
        tap.lacks("ssh", said)
        tap.equal((log_in(link), log_in(link)), (200, 401))
        other = home.cli("ui", "-q", **HERE)
        tap.equal((other[1], log_in(other[0])), ("", 200))


def a_link_leads_to_a_study():
    with Home() as home:
        home.cli("submit", home.write("spec.json", SPEC), "--wait")
        link = home.cli("ui", "digits", **HERE)[0]
        tap.equal(LINK.fullmatch(link).group(4), "studies/digits")
        _, said = home.cli("ui", "digest", want=3, **HERE)
        tap.contains("digest", said)
        home.cli("ui", "one", "two", want=2, **HERE)
        made = json.loads(home.cli("ui", "-o", "json", **HERE)[0])
        tap.equal(sorted(made), ["expireTime", "url"])
        tap.equal(log_in(made["url"] + "\n"), 200)


def under_ssh_the_tunnel_is_shown():
    with Home() as home:
        far = {**HERE, "SSH_CONNECTION": "192.0.2.7 50123 192.0.2.9 22",
               "USER": "ada"}
        link, said = home.cli("ui", **far)
        port = LINK.fullmatch(link).group(2)
        tap.contains("  ssh -L %s:127.0.0.1:%s ada@192.0.2.9\n" % (port, port),
                     said)
        far["SSH_CONNECTION"] = "192.0.2.7 50123 192.0.2.9 2222"
        said = home.cli("ui", **far)[1]
        tap.contains("ssh -p 2222 -L ", said)
        made = json.loads(home.cli("ui", "-o", "json", **far)[0])
        tap.starts(made["ssh"], "ssh -p 2222 -L ", made)


def browser_of(home):
    """What reads the links that an xdg-open of ours was given, in order."""
    opened = home.write("opened", "")
    home.write("xdg-open", "#!/bin/sh\necho \"$1\" >> %s\n" % opened, 0o755)

    def links():
        with open(opened, encoding="ascii") as file:
            return file.read().splitlines(keepends=True)
    return links, {**HERE, "PATH": home.folder + ":" + os.environ["PATH"]}


def show(home, *line, **variables):
    with Terminal(home, "ui", *line, **variables) as it:
        it.expect("#login=")
        tap.equal(it.wait(), 0)


def a_browser_is_opened_where_there_is_a_screen():
    with Home() as home:
        links, variables = browser_of(home)
        screen = {**variables, "DISPLAY": ":7"}
        show(home, **variables)
        show(home, "--no-open", **screen)
        show(home, **{**screen, "SSH_CONNECTION": "192.0.2.7 1 192.0.2.9 22"})
        home.cli("ui", **screen)
        show(home, **screen)
        show(home, **{**variables, "WAYLAND_DISPLAY": "wayland-0"})
        wait_until(lambda: len(links()) >= 2, "two browsers")
        tap.equal([log_in(link) for link in links()], [200, 200])


tap.run([
    a_link_logs_in_once,
    a_link_leads_to_a_study,
    under_ssh_the_tunnel_is_shown,
    a_browser_is_opened_where_there_is_a_screen,
])
