"""tmux - a shell in a terminal of a given size, seen as a person sees it."""

import os
import shutil
import subprocess
import tempfile

import tap
from harness import PATIENCE, bin_dir, wait_until

PROMPT = "ready$ "


class Tmux:
    """A context manager; every command of hypertune in it uses `home`."""

    def __init__(self, home, columns, rows=24, **variables):
        if shutil.which("tmux") is None:
            raise tap.Skip("tmux is not installed")
        # A socket's path may have 107 bytes, which TMPDIR may use up.
        self.folder = tempfile.mkdtemp(prefix="ht-tmux-", dir="/tmp")
        environment = home.environment({
            "LC_ALL": "C.UTF-8", **variables,
            "PATH": os.path.realpath(bin_dir()) + ":" + os.environ["PATH"]})
        environment.pop("TMUX", None)
        try:
            # The person's login shell, which runs this, may wait for a child.
            self.call("new-session", "-d", "-x", str(columns), "-y", str(rows),
                      "-c", home.folder, "exec sh", environment=environment)
            # What PS1 is at first is up to the shell, and to who runs it.
            self.type("PS1='%s'; clear" % PROMPT)
            self.expect_prompt()
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(self.argv("kill-server"), check=False,
                       stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def argv(self, *arguments):
        return ["tmux", "-u", "-S", os.path.join(self.folder, "socket"), "-f",
                "/dev/null"] + list(arguments)

    def call(self, *arguments, environment=None):
        return subprocess.check_output(self.argv(*arguments), env=environment,
                                       encoding="utf-8", timeout=PATIENCE)

    def screen(self):
        """What is to be seen, without blanks at the ends of lines."""
        return self.call("capture-pane", "-p")

    def lines(self):
        return [line.rstrip() for line in self.screen().splitlines()]

    def colours(self):
        return self.call("capture-pane", "-p", "-e")

    def ask(self, variable):
        """A variable of tmux's formats, such as alternate_on."""
        return self.call("display-message", "-p",
                         "#{%s}" % variable).rstrip("\n")

    def type(self, line):
        self.call("send-keys", "-l", line)
        self.call("send-keys", "Enter")

    def press(self, *keys):
        """Keys by tmux's names: q, Down, C-c."""
        self.call("send-keys", *keys)

    def resize(self, columns, rows):
        self.call("resize-window", "-x", str(columns), "-y", str(rows))

    def sees(self, *texts):
        screen = self.screen()
        return all(text in screen for text in texts)

    def expect(self, *texts):
        """Waits until all texts are to be seen at once."""
        try:
            wait_until(lambda: self.sees(*texts), "%r" % (texts,))
        except AssertionError as error:
            raise AssertionError("%s in\n%s" % (error, self.screen()))

    def expect_prompt(self):
        """Waits until the shell is the one that reads, and says so last."""
        wait_until(lambda: [line for line in self.lines() if line][-1:] ==
                   [PROMPT.strip()] and self.ask("pane_current_command") == "sh",
                   "the shell's prompt")

    def clear(self):
        """Leaves nothing but the prompt to be seen."""
        self.type("clear")
        wait_until(lambda: "".join(self.lines()) == PROMPT.strip(),
                   "an empty screen")

    def modes(self):
        """All settings of the terminal, and what applications switch."""
        tty = self.ask("pane_tty")
        return (subprocess.check_output(["stty", "-a", "-F", tty],
                                        encoding="utf-8"),
                self.ask("alternate_on"), self.ask("cursor_flag"))
