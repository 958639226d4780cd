"""browser - a real Chromium, driven by chromedriver with plain HTTP.

One session at a time; whatever it starts ends with it. What every page must
keep (no error, no breach of the policy, no dialog, nothing asked of others) is
collected all the while, see `complaints`.
"""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import tap
from harness import PATIENCE, read_proc, wait_until

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of WebDriver's answers
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004",
        "Backspace": "\ue003", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Home": "\ue011",
        "End": "\ue010", "Delete": "\ue017", "Space": " ",
        "Shift": "\ue008", "Control": "\ue009"}

# What chromedriver says when it listens.
PORT = re.compile(r"started successfully on port (\d+)")

# What the browser says of all it has asked when an interface of the machine
# comes or goes, as those of containers do; not a fault of the page.
DISTURBED = "net::ERR_NETWORK_CHANGED"

# What the driver says of an element that was drawn anew before the click.
REDRAWN = ("stale element", "not interactable")

# Runs before each page's own scripts, and outlives what they do.
WATCHER = """
window.seenByTest = [];
const tell = text => seenByTest.push(text);
document.addEventListener("securitypolicyviolation",
  event => tell(`policy: ${event.violatedDirective} ${event.blockedURI}`));
window.addEventListener("error", event => tell(`error: ${event.message}`));
window.addEventListener("unhandledrejection",
  event => tell(`rejection: ${event.reason?.stack ?? event.reason}`));
for (const name of ["alert", "confirm", "prompt"])
  window[name] = text => { tell(`dialog: ${text}`); return null; };
"""


def programs():
    """(browser, driver) as they are on this machine, or None."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def need():
    """For a script without a browser: every case is skipped, which is seen."""
    if programs() is None:
        tap.skip("the dashboard in a browser",
                 "chromium with its chromedriver is not installed")


def _moved(place, ms=0):
    """A pointer's way to a point of the window."""
    return {"type": "pointerMove", "duration": ms,
            "x": round(place[0]), "y": round(place[1])}


class Browser:
    """A context manager."""

    def __init__(self, *arguments, width=1400, height=1000):
        self.folder = tempfile.mkdtemp(prefix="ht-browser-")
        self.arguments = list(arguments) + [
            "--headless=new", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--no-first-run", "--lang=en-US",
            "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--disable-extensions", "--hide-scrollbars",
            "--window-size=%d,%d" % (width, height),
            "--user-data-dir=" + os.path.join(self.folder, "profile")]
        self.driver = None
        self.session = None
        self.base = ""
        self.asked = []  # addresses of all requests so far
        self.console = []  # what the browser itself complained of

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _start(self):
        browser, driver = programs()
        for _ in range(5):
            if self._start_driver(driver):
                break
        else:
            raise AssertionError("chromedriver does not start: "
                                 + self._said_by_driver())
        made = self._send("POST", "/session", {"capabilities": {
            "alwaysMatch": {
                "browserName": "chrome",
                "unhandledPromptBehavior": "ignore",
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                "goog:chromeOptions": {"binary": browser,
                                       "args": self.arguments}}}})
        self.session = "/session/" + made["sessionId"]
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCHER)

    def _start_driver(self, driver):
        """Starts chromedriver and learns its port; returns whether it runs.

        It takes a free port of IPv4 and then wants the same of IPv6, and
        exits when another program on the machine has that one.
        """
        # Its own group, which is ended as a whole.
        with open(self._driver_log(), "wb") as log:
            self.driver = subprocess.Popen(
                [driver, "--port=0", "--log-path=" + os.devnull],
                stdout=log, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, start_new_session=True,
                env=dict(os.environ, HOME=self.folder))

        def port_of_driver():
            exited = self.driver.poll() is not None
            return PORT.search(self._said_by_driver()) or exited
        port = wait_until(port_of_driver, "a port of chromedriver")
        if port is True:
            return False
        self.base = "http://127.0.0.1:" + port[1]
        return True

    def _driver_log(self):
        return os.path.join(self.folder, "driver.log")

    def _said_by_driver(self):
        with open(self._driver_log(), encoding="utf-8",
                  errors="replace") as log:
            return log.read()

    def close(self):
        if self.session:
            try:
                self._send("DELETE", self.session)
            except (AssertionError, OSError):
                pass  # it is ended below, by its group
        if self.driver:
            try:
                os.killpg(self.driver.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.driver.wait(PATIENCE)
            wait_until(lambda: not self._left(), "the browser's end")
        subprocess.run(["rm", "-rf", self.folder], check=True)

    def _left(self):
        """Ends what runs on our folder still; returns whether there was any."""
        mark, left = os.fsencode(self.folder), False
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if int(pid) != os.getpid() and mark in read_proc(pid, "cmdline"):
                left = True
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        return left

    def _send(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(
            self.base + path, data, {"Content-Type": "application/json"},
            method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as problem:
            value = json.load(problem)["value"]
            raise AssertionError("%s: %s" % (value["error"], value["message"]
                                             .split("\n")[0])) from None

    # --- the page ---

    def cdp(self, command, **parameters):
        return self._send("POST", self.session + "/goog/cdp/execute",
                          {"cmd": command, "params": parameters})

    def open(self, url):
        """Loads it anew, also where only its hash differs."""
        for _ in range(5):
            self.take_notes()
            self._send("POST", self.session + "/url", {"url": "about:blank"})
            self._send("POST", self.session + "/url", {"url": url})
            noted = len(self.console)
            self.take_notes()
            if not any(DISTURBED in text for text in self.console[noted:]):
                return
            del self.console[noted:]
        raise AssertionError("the machine's network does not come to rest")

    def run(self, script, *arguments):
        """Runs a function's body in the page; returns what it returns."""
        return self._send("POST", self.session + "/execute/sync",
                          {"script": script, "args": list(arguments)})

    def run_later(self, script, *arguments):
        """The same for a body that calls its last argument with the value."""
        return self._send("POST", self.session + "/execute/async",
                          {"script": script, "args": list(arguments)})

    def wait(self, expression, what=""):
        """Until the JavaScript expression is true; returns its value. Asked
        within the page, so that waiting takes the machine nothing."""
        script = """
            const [end, done] = [performance.now() + 20000, arguments[0]];
            const look = () => {
              let value = null;
              try { value = (%s); } catch (problem) { value = null; }
              if (value || performance.now() > end) done(value);
              else setTimeout(look, 15);
            };
            look();""" % expression
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                value = self.run_later(script)
            except AssertionError:  # the page was left meanwhile
                value = None
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError("not within %d s: %s\nthe page shows: %s"
                                     % (PATIENCE, what or expression,
                                        self.text()[:600]))

    def text(self, selector="body"):
        """What a reader sees there."""
        return self.run("return document.querySelector(arguments[0])"
                        "?.innerText ?? ''", selector)

    def wait_text(self, text, selector="body"):
        self.wait("document.querySelector(%s)?.innerText.includes(%s)" % (
            json.dumps(selector), json.dumps(text)),
                  "the text %r" % text)

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0])"
                        ".length", selector)

    def find(self, selector, label=None):
        """The element in sight, with this accessible name or text."""
        found = self.run("""
            return [...document.querySelectorAll(arguments[0])].find(one =>
              one.offsetParent !== null && (arguments[1] === null ||
              (one.ariaLabel ?? "") === arguments[1] ||
              one.textContent.trim() === arguments[1])) ?? null""",
                         selector, label)
        if found is None:
            raise AssertionError("the page has no %s %r; it shows: %s" % (
                selector, label or "", self.text()[:600]))
        return found[ELEMENT]

    def _act(self, selector, label, acts, before=None):
        """Sends [(action, body)] to an element; one that was drawn anew in
        between is looked for again. `before`: a script that brings it in
        sight, which gets the label."""
        for last in (False, False, False, True):
            if before:
                self.run(before, label)
            one = "%s/element/%s/" % (self.session, self.find(selector, label))
            try:
                for action, body in acts:
                    self._send("POST", one + action, body)
                return
            except AssertionError as problem:
                if last or not any(text in str(problem) for text in REDRAWN):
                    raise

    def click(self, selector, label=None, before=None):
        self._act(selector, label, [("click", {})], before)

    def type(self, selector, text, label=None):
        """Makes `text` the value of a field, as a person does."""
        self._act(selector, label, [("clear", {}), ("value", {"text": text})])

    def press(self, *keys):
        """Keys, to what has the focus; "Shift+Tab" holds the first."""
        actions = []
        for key in keys:
            shift = key.startswith("Shift+")
            value = KEYS.get(key[6 * shift:], key[6 * shift:])
            one = [{"type": "keyDown", "value": value},
                   {"type": "keyUp", "value": value}]
            if shift:
                one = [{"type": "keyDown", "value": "\ue008"}, *one,
                       {"type": "keyUp", "value": "\ue008"}]
            actions += one
        self._send("POST", self.session + "/actions", {"actions": [
            {"type": "key", "id": "keys", "actions": actions}]})

    def drag(self, start, end, holding=None):
        """The pointer, pressed, from one point of the window to another, while
        a key is held."""
        middle = [(a + b) / 2 for a, b in zip(start, end)]
        self._hold(holding, {
            "type": "pointer", "id": "mouse", "actions": [
                _moved(start), {"type": "pointerDown", "button": 0},
                _moved(middle, 30), _moved(end, 30),
                {"type": "pointerUp", "button": 0}]})

    def wheel(self, place, pixels, holding=None):
        """Turns the wheel over a point; below 0 away from the reader."""
        self._hold(holding, {"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": round(place[0]), "y": round(place[1]),
             "deltaX": 0, "deltaY": pixels, "duration": 0}]})

    def touch(self, *fingers):
        """Each finger along its points, all of them at once."""
        self._send("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "finger%d" % i,
             "parameters": {"pointerType": "touch"}, "actions": [
                 _moved(points[0]), {"type": "pointerDown", "button": 0},
                 *[_moved(point, 30) for point in points[1:]],
                 {"type": "pointerUp", "button": 0}]}
            for i, points in enumerate(fingers)]})

    def _hold(self, key, source):
        """What a device does, while a key is held."""
        sources = [source]
        if key:
            pause = {"type": "pause"}
            source["actions"].insert(0, pause)
            sources.append({"type": "key", "id": "keys", "actions": [
                {"type": "keyDown", "value": KEYS[key]},
                *[pause] * len(source["actions"]),
                {"type": "keyUp", "value": KEYS[key]}]})
        self._send("POST", self.session + "/actions", {"actions": sources})

    def hover(self, place):
        self._send("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "actions": [_moved(place)]}]})

    # --- its surroundings ---

    @contextlib.contextmanager
    def another_tab(self):
        """An empty tab before the page, which is hidden meanwhile."""
        first = self._send("GET", self.session + "/window")
        tab = self._send("POST", self.session + "/window/new",
                         {"type": "tab"})["handle"]
        self._send("POST", self.session + "/window", {"handle": tab})
        try:
            yield
        finally:
            self._send("DELETE", self.session + "/window")
            self._send("POST", self.session + "/window", {"handle": first})

    def resize(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width,
                 height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, is_dark):
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if is_dark else "light"}])

    def keep_still(self):
        """Nothing moves, as some readers wish."""
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def cookies_gone(self):
        self.cdp("Network.clearBrowserCookies")

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._send(
                "GET", self.session + "/screenshot")))

    # --- what it noted ---

    def take_notes(self):
        """Collects what was logged since, before a page is left."""
        self.console += self.run("return (window.seenByTest ?? []).splice(0)")
        logs = self.session + "/se/log"
        for entry in self._send("POST", logs, {"type": "browser"}):
            if entry["level"] in ("SEVERE", "WARNING"):
                self.console.append(entry["message"])
        for entry in self._send("POST", logs, {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.asked.append(message["params"]["request"]["url"])
            elif message["method"] == "Page.javascriptDialogOpening":
                self.console.append("dialog: " + message["params"]["message"])

    def complaints(self):
        """All since the last call; the list is then empty."""
        self.take_notes()
        taken, self.console = self.console, []
        return [text for text in taken if DISTURBED not in text]

    def requests(self):
        """Addresses of all that any page has asked for so far."""
        self.take_notes()
        return list(self.asked)

    def strangers(self, origin):
        """Those of them that are not of this origin."""
        inner = ("about:", "data:", "blob:", "chrome:", "chrome-untrusted:",
                 "devtools:")
        return [url for url in self.requests()
                if not url.startswith((origin + "/",) + inner)]
