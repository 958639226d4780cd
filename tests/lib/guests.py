"""A server whose trials are guests of the machine."""

import os

import another_user
import harness
import tap

PYTHON = "/usr/bin/python3"

REPORT = """
import subprocess
subprocess.run(["hypertune", "report", "score=1"], check=True)
"""

# What trainers need and a unit or filter could close.
DEVICES = """
import ctypes, mmap, os
# As a JIT: bytes that become a function (mov eax, 42; ret).
if os.uname().machine == "x86_64":
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ |
                     mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\\xb8\\x2a\\0\\0\\0\\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    assert ctypes.CFUNCTYPE(ctypes.c_int)(address)() == 42
open("/dev/null", "w").write("x")
open("/dev/shm/ht-%d" % os.getuid(), "w").close()
os.unlink("/dev/shm/ht-%d" % os.getuid())
"""


class Guests(harness.Server):
    """A server whose runner has these options."""

    def __init__(self, **options):
        super().__init__(slots=2, environment={
            "HYPERTUNE_RUNNER_" + name.upper(): value
            for name, value in options.items()})

    def run_trial(self, name, script, *words, state="SUCCEEDED", **members):
        """Runs a study of one trial; returns the trial."""
        self.submit({"spec": 1, "name": name, "goal": "maximize score",
                     "parameters": {"x": [1]}, "trials": 1, "retries": 0,
                     "algorithm": "grid", "args": "none",
                     "command": [PYTHON, "-c", script, *words], **members})
        status = self.wait_study(name)
        trial = self.trial(name, 1)["hypertune"]
        tap.equal(trial["state"], state, (status, trial, self.explain(name)))
        return trial

    def output(self, name):
        return self.cli("logs", name + "/1", "--stream", "stdout").stdout


def as_root(act):
    if os.geteuid() != 0:
        raise tap.Skip("this is root's")
    return act()


def as_user(act):
    if os.geteuid() != 0:
        act()
    elif not another_user.act_as(act):
        raise tap.Skip("the programs here are root's alone")
