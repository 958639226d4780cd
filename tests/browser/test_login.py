"""How a browser is let in, and who is not: links, tokens, sessions that end,
and pages of other hosts."""

import contextlib
import http.server
import os
import threading
import urllib.parse

import dashboard
import browser
import harness
import tap
from small_disk import SmallDisk

HOST = "evil.test"  # resolves to this machine, in this browser alone

server = page = None


@contextlib.contextmanager
def shown(own):
    """A server of a case. The page leaves before it ends, of which it would
    complain at any time."""
    with own:
        yield own
        page.open("about:blank")


def link():
    """The hash of a login link."""
    return server.call("POST", "/hypertune/v1/login-links")[1]["path"][1:]


def token():
    with open(server.token_file, encoding="ascii") as file:
        return file.read().strip()


def begin(hash_=""):
    """The dashboard for a browser without a session."""
    page.cookies_gone()
    page.open(server.http + "/" + hash_)


def expect(*allowed):
    """Complaints are those of the browser about these statuses alone."""
    noted = [line for line in page.complaints()
             if not any("status of %d" % code in line for code in allowed)]
    tap.equal(noted, [])


def give(text):
    page.type("input", text, "Token")
    page.click("button", "Log in")


def a_stranger_sees_the_login_and_nothing_else():
    begin("#/studies")
    page.wait_text("hypertune ui", "#main")
    tap.equal(page.text("#top"), "")
    tap.equal(page.run("return document.activeElement.ariaLabel"), "Token")
    tap.equal(page.run(dashboard.NAMELESS), [])
    for dark in (True, False):
        page.dark(dark)
        tap.equal(page.run(dashboard.FAINT), [], "dark: %s" % dark)
    expect(401)


def a_link_leads_in_and_leaves_no_trace_of_its_code():
    hash_ = link()
    begin(hash_)
    page.wait_text("Studies", "h1")
    tap.equal(page.run("return location.href"), server.http + "/#/")
    tap.equal(page.run("return document.cookie"), "", "no script reads it")
    tap.equal(page.complaints(), [])


def a_link_may_lead_to_a_page():
    begin(link() + "&to=server")
    page.wait_text("Data folder", "#main")
    tap.equal(page.run("return location.hash"), "#/server")
    tap.equal(page.complaints(), [])


def a_link_works_once():
    hash_ = link()
    begin(hash_)
    page.wait_text("Studies", "h1")
    begin(hash_)
    page.wait_text("Open the link that this command prints", "#main")
    page.wait_text("hypertune ui", "#notices")
    expect(401)


def a_token_leads_in_and_a_wrong_one_is_refused():
    begin()
    page.wait("document.querySelector('.login input')", "the login")
    give("0" * 64)
    page.wait("document.querySelector('[role=alert]').textContent !== ''",
              "what is wrong with it")
    give(token())
    page.wait_text("No study yet", "#main")
    expect(401)


def a_page_that_was_open_asks_again_when_its_session_ends():
    begin(link())
    page.wait_text("No study yet", "#main")
    page.cookies_gone()
    page.run("location.hash = '#/server'")
    page.wait("document.querySelector('.login input')", "the login")
    give(token())
    page.wait_text("Data folder", "#main")
    expect(401)


def who_leaves_has_to_log_in_again():
    begin(link())
    page.wait_text("No study yet", "#main")
    page.click("button", "Log out")
    page.wait("document.querySelector('.login input')", "the login")
    page.open(server.http + "/")
    page.wait("document.querySelector('.login input')", "the login")
    expect(401)


def a_share_shows_its_study_and_leads_to_nothing_else():
    """None of its pages asks for what is refused."""
    with shown(harness.Server("--runner", "none")) as own:
        own.submit({"spec": 1, "name": "seen", "goal": "minimize x",
                    "parameters": {"x": {"type": "integer", "min": 1,
                                         "max": 9}}, "trials": 2,
                    "command": ["true"]})
        url = own.cli("share", "seen", "--expire", "1h").stdout.strip()
        page.cookies_gone()
        page.open(url)
        page.wait_text("seen", "h1")
        tap.equal(page.run("return location.hash"), "#/studies/1")
        for tab in ("parameters", "trials", "timeline", "trials/1"):
            page.run("location.hash = '#/studies/1/%s'" % tab)
            page.wait_text("Trial 1" if tab == "trials/1" else "seen", "h1")
            dashboard.settle(page)
        for place in ("", "studies", "server", "new", "studies/2"):
            page.run("location.hash = '#/%s'" % place)
            page.wait("location.hash === '#/studies/1'", "its study")
        tap.equal(page.run(
            "return [...document.querySelectorAll('a')].map(one => one.hash)"
            ".filter(hash => /edit|clone|config|server|new/.test(hash))"), [])
        page.open(url + "/trials?filter=id>0&sort=-x&marks=1")
        page.wait("document.querySelector('tr[aria-selected=true]')"
                  "?.dataset.key === '1'", "the view of the link")
        tap.equal(page.run("""return [
            document.querySelector(".filter").value, location.hash,
            document.querySelector("th[aria-sort=descending]").title]"""),
            ["id>0", "#/studies/1/trials?filter=id%3E0&sort=-x&marks=1", "x"])
    expect(401)  # before it logged in


def an_open_server_asks_for_no_token():
    with shown(harness.Server("--runner", "none",
                              "--auth", "none")) as open_server:
        page.open(open_server.http + "/")
        page.wait_text("No study yet", "#main")
        tap.equal(page.run("return [...document.querySelectorAll('button')]"
                           ".some(one => one.textContent === 'Log out')"),
                  False)
        tap.equal(page.complaints(), [])


class Evil(http.server.BaseHTTPRequestHandler):
    """A page of a stranger."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>evil</title>")

    def log_message(self, *_):
        pass


ATTACK = """
    const [url, type, done] = arguments;
    const ask = async options => {
      try {
        const answer = await fetch(url, options);
        return [answer.status, await answer.text()];
      } catch (problem) {
        return [0, problem.message];
      }
    };
    ask({}).then(async read => done([read, await ask({method: "POST",
      body: '{"displayName": "stolen"}',
      headers: {"Content-Type": type}})]))"""


def every_page_tells_while_the_disk_is_nearly_full():
    with SmallDisk(64) as disk:
        if not disk.mounted:
            raise tap.Skip("may not mount")
        small = harness.Server("--runner", "none", "--auth", "none",
                               "--budget", "disk-warning=50")
        small.data = os.path.join(disk.path, "data")
        with shown(small):
            disk.fill_but(0.3)
            page.open(small.http + "/#/studies")
            page.wait_text("the disk of the data folder has", "#top")
            disk.free()
            harness.wait_until(lambda: "disk of" not in page.text("#top"),
                               "the alarm's end")
            expect()


def attack(url, content_type):
    """(status of a read, its text, status of a change) as the page got them."""
    reading, writing = page.run_later(ATTACK, url, content_type)
    return reading[0], reading[1], writing[0]


def studies():
    return server.get("/hypertune/v1/studies")["studies"]


def a_name_that_is_bound_to_this_machine_anew_opens_nothing():
    port = urllib.parse.urlsplit(server.http).port
    page.open("http://%s:%d/" % (HOST, port))
    tap.lacks("hypertune", page.run("return document.title"))
    status, text, changed = attack(
        "/v1/projects/local/locations/local/studies", "application/json")
    tap.equal((status, "error" in text, changed), (421, True, 421))
    tap.equal(studies(), [])
    expect(421, 404)


def a_page_of_another_host_reads_and_changes_nothing():
    begin(link())  # the browser has a session with us
    page.wait_text("No study yet", "#main")
    evil = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    thread = threading.Thread(target=evil.serve_forever)
    thread.start()
    try:
        page.open("http://%s:%d/" % (HOST, evil.server_address[1]))
        page.wait("document.title === 'evil'")
        path = server.http + "/v1/projects/local/locations/local/studies"
        for content_type in ("text/plain", "application/json"):
            status, _, changed = attack(path, content_type)
            tap.equal((status, changed), (0, 0), content_type)
    finally:
        evil.shutdown()
        thread.join()
        evil.server_close()
    tap.equal(studies(), [])
    for line in page.complaints():  # the browser logs each denial
        tap.true("CORS" in line or "ERR_FAILED" in line or "403" in line, line)


with harness.Server("--runner", "none") as server, browser.Browser(
        "--host-resolver-rules=MAP %s 127.0.0.1" % HOST) as page:
    tap.run([
        a_stranger_sees_the_login_and_nothing_else,
        a_link_leads_in_and_leaves_no_trace_of_its_code,
        a_link_may_lead_to_a_page,
        a_link_works_once,
        a_token_leads_in_and_a_wrong_one_is_refused,
        a_page_that_was_open_asks_again_when_its_session_ends,
        who_leaves_has_to_log_in_again,
        a_share_shows_its_study_and_leads_to_nothing_else,
        an_open_server_asks_for_no_token,
        every_page_tells_while_the_disk_is_nearly_full,
        a_name_that_is_bound_to_this_machine_anew_opens_nothing,
        a_page_of_another_host_reads_and_changes_nothing,
    ])
