"""docs/tutorial.md, done as it says."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "..", "lib"))
import tap  # noqa: E402
import walkthrough  # noqa: E402
from cli_home import Home  # noqa: E402


def the_tutorial_is_true():
    with Home() as home:
        n = walkthrough.follow(home, "tutorial.md")
    tap.equal(n > 12, True, n)


tap.run([the_tutorial_is_true])
