"""docs/tutorial.md and the quick start of README.md, done as they say."""

import os
import re
import shutil

import tap
import tree
import walkthrough
from cli_home import Home


def the_tutorial_is_true():
    with Home() as home:
        n = walkthrough.follow(home, "tutorial.md")
    tap.true(n > 12, n)


def read(name):
    with open(os.path.join(tree.ROOT, name), encoding="utf-8") as file:
        return file.read()


def the_readme_opens_with_what_does_everything():
    """And CI, which proves both on a fresh Debian, begins with all tests."""
    commands = re.findall(r"^    (\S.*?)(?:  +#.*)?$", read("README.md"), re.M)
    tap.equal(commands[:2], ["make demo", "make check"])
    stages = re.findall(r"^stage \w+ (.*?)(?: .*\\)?$", read(".ci/run"), re.M)
    tap.equal(stages[:2], ["make check", "tests/fresh.sh"])


def the_quick_start_is_true():
    """Built it is already, so its first two commands are not repeated."""
    part = read("README.md").split("## Quick start", 1)[1].split("\n## ", 1)[0]
    build, path, enter, *rest = re.findall(r"^    (\S.*)$", part, re.M)
    tap.equal(build, "make deps && make")
    tap.starts(path, "export PATH=")
    with Home() as home:
        shutil.copytree(os.path.join(tree.ROOT, "examples"),
                        os.path.join(home.folder, "examples"))
        for command in rest:
            said = walkthrough.run(home, "%s && %s" % (enter, command), [])
        tap.contains("/#login=", said)
        out, _ = home.cli("best", "nile", "-o", "args")
    tap.starts(out, "--level=")


tap.run([the_readme_opens_with_what_does_everything, the_tutorial_is_true,
         the_quick_start_is_true])
