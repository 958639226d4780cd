"""screenshot.py BIN-DIR FILE - tunes the digits example and takes the picture of
its study that the README shows."""

import os
import sys

import browser
import dashboard
import harness
import tree

EXAMPLE = tree.path("examples/digits")
MOST_BYTES = 200_000


def main():
    path = os.environ["PATH"] + os.pathsep + harness.bin_dir()
    with harness.Server("--auth", "none", slots=2) as server, \
            browser.Browser() as page:
        server.cli("submit", "spec.yaml", cwd=EXAMPLE, env={"PATH": path})
        status = server.wait_study("digits", 3600)
        if status["state"] != "SUCCEEDED":
            sys.exit("screenshot: the study %s" % status["reason"])
        page.resize(1400, 1020)
        page.keep_still()
        page.open(server.http + "/#/studies/digits/overview")
        page.wait_text("40 / 40", "#main")
        dashboard.settle(page)
        page.screenshot(sys.argv[2])
    if os.path.getsize(sys.argv[2]) > MOST_BYTES:
        sys.exit("screenshot: %s is larger than %d bytes" % (
            sys.argv[2], MOST_BYTES))


main()
