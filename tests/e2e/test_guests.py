"""Trial code as a hostile guest: it cannot read the server's data, signal its
programs or use more of the machine than it was given, whatever user it has."""

import json
import os
import subprocess

import another_user
import harness
import tap
from guests import DEVICES, Guests, PYTHON, REPORT, as_root, as_user

# What a trial finds out, printed as JSON; the paths come as its arguments.
LOOK = """
import json, os, sys
data = sys.argv[1]
found = {"uid": os.getuid(), "read": [], "signalled": []}
for name in ("token", "runner-token", "hypertune.db", "logs.db"):
    try:
        open(os.path.join(data, name), "rb").read(1)
        found["read"].append(name)
    except OSError:
        pass
for pid in sys.argv[2:]:
    try:
        os.kill(int(pid), 0)
        found["signalled"].append(pid)
    except OSError:
        pass
    for name in ("/environ", "/root" + data + "/token", "/mem"):
        try:
            open("/proc/" + pid + name, "rb").read(1)
            found["read"].append(name)
        except OSError:
            pass
for path in (data, os.path.dirname(os.path.dirname(
        os.environ["HYPERTUNE_TRIAL_DIR"]))):
    try:
        open(path + "/planted", "w").close()
    except OSError:
        pass
own = os.environ["HYPERTUNE_TRIAL_DIR"]
for path in (own + "/x", os.environ["AIP_MODEL_DIR"] + "/x"):
    open(path, "w").close()
open(os.environ["HYPERTUNE_TRIAL_TOKEN_FILE"]).read()
print(json.dumps(found))
""" + REPORT
NOTHING = {"read": [], "signalled": [], "planted": []}


def look(server):
    runner = harness.wait_until(
        lambda: harness.processes(server.program("hypertune-runner"),
                                  server.data), "its runner")
    server.run_trial("look", LOOK, server.data,
                     *map(str, [server.process.pid] + runner))
    found = json.loads(server.output("look"))
    found["planted"] = [folder for folder, _, names in os.walk(server.data)
                        if "planted" in names]
    return found


def see_nothing(**options):
    with Guests(**options) as server:
        found = look(server)
        tap.equal({key: found[key] for key in NOTHING}, NOTHING)
        return found["uid"]


def without_protection_it_finds_all_that():
    with Guests(sandbox="none") as server:
        found = look(server)
        tap.equal(found["read"][:4],
                  ["token", "runner-token", "hypertune.db", "logs.db"])
        tap.equal((len(found["signalled"]), len(found["planted"])), (2, 2))
        tap.contains("runner.open", server.log_text())


def a_trial_of_root_has_a_user_of_its_own():
    def act():
        uid = see_nothing(run_as="auto")
        tap.equal(61184 <= uid <= 65519, True)
        tap.equal(see_nothing(run_as="70000-70001") in (70000, 70001), True)
        tap.equal(see_nothing(run_as="nobody"), another_user.NOBODY)
    as_root(act)


def a_trial_in_namespaces_sees_nothing():
    as_root(lambda: see_nothing(sandbox="namespaces"))
    as_user(lambda: see_nothing(sandbox="namespaces"))


def a_trial_under_landlock_sees_nothing():
    as_user(lambda: see_nothing(sandbox="landlock"))


FORK = REPORT + """
import os, time
n = 0
try:
    for _ in range(300):
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        n += 1
except OSError:
    pass
print(n)
"""


def with_limits(act):
    """As root, which can make control groups of version 1; in version 2 only
    where this process has a group of its own."""
    def limited():
        with Guests(limit="memory=64M,pids=40,file=1M,cpus=1") as server:
            try:
                harness.wait_until(
                    lambda: "runner.ready" in server.log_text() or
                    "no control group" in server.log_text(), "its runner")
            finally:
                refused = "no control group" in server.log_text()
            if refused:
                raise tap.Skip("this process may not make control groups")
            act(server)
    as_root(limited)


def a_trial_has_its_processes_and_no_more():
    def act(server):
        server.run_trial("fork", FORK)
        tap.equal(20 < int(server.output("fork")) < 40, True)
    with_limits(act)
    with Guests(sandbox="none") as server:
        server.run_trial("fork", FORK)
        tap.equal(server.output("fork").strip(), "300")


def a_trial_that_fills_the_memory_is_ended_by_name():
    script = "kept = [bytearray(1 << 20) for _ in range(300)]" + REPORT

    def act(server):
        trial = server.run_trial("fill", script, state="FAILED")
        tap.contains("more than the memory", trial["reason"])
        server.run_trial("small", REPORT)
    with_limits(act)
    with Guests() as server:
        server.run_trial("fill", script)


def a_file_of_a_trial_ends_at_its_limit():
    script = """
import os
path = os.environ["HYPERTUNE_TRIAL_DIR"] + "/x"
try:
    with open(path, "wb", 0) as file:
        for _ in range(64):
            file.write(bytes(1 << 16))
except OSError:
    pass
print(os.path.getsize(path))
""" + REPORT

    def run(**options):
        with Guests(**options) as server:
            server.run_trial("file", script)
            return int(server.output("file"))
    tap.equal((run(limit="file=1M"), run()), (1 << 20, 4 << 20))


PLANT = """
import json, os, sys
os.chdir(os.environ["HYPERTUNE_TRIAL_DIR"])
def plant(name, make):
    try:
        if os.path.lexists(name):
            os.unlink(name)
        make(name)
        print(name)
    except OSError:
        pass
victim = sys.argv[1]
plant("shim.json", lambda name: open(name, "w").write(sys.argv[2]))
if os.stat(".").st_uid != os.getuid(): # else it may say how it ended
    plant("exit.json", lambda name: open(name, "w").write(
        '{"outcome":"lost","reason":"forged","startedMs":1,"endedMs":2}'))
plant("runner.000000000000.log", lambda name: os.symlink(victim, name))
plant("stdout.000001048576.log", lambda name: os.symlink(victim, name))
plant("output.metrics", os.mkfifo)
plant("reports.jsonl.x", os.mkfifo)
plant("token", lambda name: os.symlink(victim, name))
plant("params", os.mkfifo)
import subprocess
subprocess.run(["hypertune", "report", "score=1"], check=True)
sys.stdout.write("x" * (3 << 20))
"""


def identity(pid):
    stat = harness.read_proc(pid, "stat").decode().rsplit(")", 1)[1].split()
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return json.dumps({"pid": pid, "start": int(stat[19]),
                           "boot": file.read().strip()})


def nothing_that_a_trial_plants_harms_anyone():
    def plant(**options):
        with Guests(**options) as server:
            path = os.path.join(server.folder, "victim")
            with open(path, "w", encoding="ascii") as file:
                file.write("whole")
            # Its end is seen by that of its group as well.
            other = subprocess.Popen(["sleep", "600"], start_new_session=True)
            try:
                server.run_trial("plant", PLANT, path, identity(other.pid))
                # The folder goes, and what it names is looked for, just after
                # the trial's end.
                runs = os.path.join(server.data, "runs", "1", "1", "1")
                harness.wait_until(lambda: not os.path.exists(runs),
                                   "the removal of the folder")
                tap.equal(other.poll(), None)
            finally:
                other.kill()
                other.wait()
            with open(path, encoding="ascii") as file:
                tap.equal(file.read(), "whole")
    plant(sandbox="namespaces")
    as_user(plant)
    if os.geteuid() == 0:
        plant(run_as="auto")


FIND = """
import re
with open("/proc/self/status") as file:
    print(re.search("Seccomp:.*", file.read()).group())
""" + DEVICES + REPORT + "\nimport time\ntime.sleep(600)\n"


def the_shim_gives_up_calls_and_the_trainer_keeps_them():
    """The trainer compiles and uses devices, as under the runner's unit."""
    def run(**options):
        with Guests(**options) as server:
            server.submit({"spec": 1, "name": "find", "goal": "maximize score",
                           "parameters": {"x": [1]}, "trials": 1,
                           "algorithm": "grid", "args": "none",
                           "command": [PYTHON, "-u", "-c", FIND]})
            tap.equal(harness.wait_until(
                lambda: server.cli("logs", "find/1", "--stream", "stdout",
                                   check=False).stdout.strip(),
                "its output"), "Seccomp:\t0")
            # In namespaces their first process is a copy of the shim.
            if not harness.is_sanitized():
                harness.wait_until(lambda: any(
                    b"Seccomp:\t2" in harness.read_proc(pid, "status")
                    for pid in harness.processes(
                        server.program("hypertune-shim"), server.data)),
                    "the shim's filter")
            harness.wait_until(lambda: server.measurements("find", 1),
                               "what comes after the devices")
    run(sandbox="none")
    run(sandbox="namespaces")
    if os.geteuid() == 0:
        run(run_as="auto")


def main():
    tap.run([without_protection_it_finds_all_that,
             a_trial_of_root_has_a_user_of_its_own,
             a_trial_in_namespaces_sees_nothing,
             a_trial_under_landlock_sees_nothing,
             a_trial_has_its_processes_and_no_more,
             a_trial_that_fills_the_memory_is_ended_by_name,
             a_file_of_a_trial_ends_at_its_limit,
             nothing_that_a_trial_plants_harms_anyone,
             the_shim_gives_up_calls_and_the_trainer_keeps_them])


if __name__ == "__main__":
    main()
