"""The Python reporter, under the interpreters of this machine.

Without --cases: finds python2.7, python3 and what pyenv has, runs the cases
with 2.7, the oldest, our own and the newest (HT_PYTHONS=all: with each) and
prints TAP. The server is tests/tools/rep_server, the real nng.
Only the standard library of 2.7 and of 3.5 may be used below main().
"""
from __future__ import print_function

import glob
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..", "..", "..", "..", "hypertune", "python")
VARIABLES = ("HYPERTUNE_REPORT_FILE", "HYPERTUNE_REPORT_URL",
             "HYPERTUNE_TRIAL_TOKEN_FILE", "HYPERTUNE_TRIAL_DIR",
             "HYPERTUNE_REPLICA", "CLOUD_ML_HP_METRIC_FILE",
             "CLOUD_ML_HP_METRIC_TAG", "CLOUD_ML_TRIAL_ID")


class Trial(object):
    """A folder, a server, and programs that run inside them."""

    def __init__(self, server_program):
        self.folder = tempfile.mkdtemp(prefix="ht-python-")
        self.reports = os.path.join(self.folder, "reports.jsonl")
        self.store = os.path.join(self.folder, "store")
        self.server_program = server_program
        self.server = None
        self.port = 0

    def serve(self, mode="ok"):
        self.server = subprocess.Popen(
            [self.server_program, str(self.port), self.store, mode],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = int(self.server.stdout.readline().split()[1])

    def kill_server(self):
        if self.server is not None:
            self.server.kill()
            self.server.wait()
            self.server.stdin.close()
            self.server.stdout.close()
            self.server = None

    def close(self):
        self.kill_server()
        shutil.rmtree(self.folder)

    def start(self, program, variables=None):
        environment = dict((name, value) for name, value in os.environ.items()
                           if name not in VARIABLES)
        environment["PYTHONPATH"] = PACKAGE
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        if variables is None:
            variables = {
                "HYPERTUNE_REPORT_FILE": self.reports,
                "HYPERTUNE_TRIAL_DIR": self.folder,
                "HYPERTUNE_REPLICA": "master-0",
                "HYPERTUNE_REPORT_URL": "tcp://127.0.0.1:%d" % self.port,
            }
            if not self.port:
                del variables["HYPERTUNE_REPORT_URL"]
        environment.update(variables)
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
            env=environment, cwd=self.folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, program, variables=None):
        process = self.start(program, variables)
        output = process.communicate()[0].decode("utf-8")
        if process.returncode != 0:
            raise AssertionError("exit %s: %s" % (process.returncode, output))
        return output

    def records(self, path):
        with open(path) as lines:
            return [json.loads(line) for line in lines]


class Skip(Exception):
    """Raised by a case that cannot run here; the text says why."""


def equal(got, want):
    if got != want:
        raise AssertionError("got %r, want %r" % (got, want))


def count_by_writer(records):
    seqs = {}
    for record in records:
        seqs.setdefault(record["w"], []).append(record["n"])
    for writer, numbers in seqs.items():
        equal(sorted(numbers), list(range(1, len(numbers) + 1)))
    return dict((writer, len(numbers)) for writer, numbers in seqs.items())


def records_have_the_documented_form(trial):
    trial.run("""
        import hypertune
        hypertune.report(step=3, accuracy=0.1, loss=float("nan"))
        hypertune.report(checkpoint="gs://b/\\u00e4", up=float("inf"), n=True)
        hypertune.HyperTune().report_hyperparameter_tuning_metric(
            hyperparameter_metric_tag="", metric_value="0.5", global_step="12",
            checkpoint_path="p")
        hypertune.HyperTune().report_hyperparameter_tuning_metric("a", 1)
        """, {"HYPERTUNE_REPORT_FILE": trial.reports,
              "CLOUD_ML_HP_METRIC_TAG": "objective"})
    records = trial.records(trial.reports)
    count_by_writer(records)
    equal(records[0]["m"], {"accuracy": 0.1, "loss": "NaN"})
    equal(records[0]["s"], 3)
    equal(records[1]["m"], {"up": "Infinity", "n": 1})
    equal(("s" in records[1], "c" in records[1]), (False, True))
    equal((records[2]["m"], records[2]["s"], records[2]["c"]),
          ({"objective": 0.5}, 12, "p"))
    equal("s" in records[3], False)
    equal(os.stat(trial.reports).st_mode & 0o777, 0o600)


def wrong_arguments_raise_what_the_original_raises(trial):
    program = """
        import hypertune
        def error_of(*arguments):
            try:
                hypertune.HyperTune().report_hyperparameter_tuning_metric(
                    *arguments)
            except Exception as error:
                return type(error).__name__
        print(error_of("a", "x"), error_of("a", None), error_of("a", [1]),
              error_of("a", 1, "1.5"), error_of("a", "1e3", 2.9))
        """
    want = "ValueError TypeError TypeError ValueError None".split()
    inside = {"HYPERTUNE_REPORT_FILE": trial.reports}
    outside = {"CLOUD_ML_HP_METRIC_FILE": os.path.join(trial.folder, "f/m")}
    for variables in (inside, outside):
        got = trial.run("from __future__ import print_function\n" +
                        textwrap.dedent(program), variables)
        equal(got.split(), want)
    equal([r["s"] for r in trial.records(trial.reports)], [2])


def googles_file_is_written_by_its_rules(trial):
    path = os.path.join(trial.folder, "new", "folder", "output.metrics")
    trial.run("""
        import hypertune
        tuner = hypertune.HyperTune()
        for i in range(250):
            tuner.report_hyperparameter_tuning_metric("acc", i, i)
        """, {"CLOUD_ML_HP_METRIC_FILE": path, "CLOUD_ML_TRIAL_ID": "7"})
    with open(path) as lines:
        lines = lines.readlines()
    equal(len(lines), 100)
    head, tail = lines[0].split('"timestamp": ')
    equal(head, '{"acc": "150.0", "checkpoint_path": "", '
                '"global_step": "150", ')
    equal(tail.split(", ")[1], '"trial": "7"}\n')
    failed = trial.start("import hypertune; hypertune.HyperTune()",
                         {"CLOUD_ML_HP_METRIC_FILE": "no-folder"})
    failed.communicate()
    equal(failed.returncode, 1)


def outside_a_trial_nothing_happens(trial):
    trial.run("""
        import hypertune, threading
        hypertune.report(accuracy=1)
        assert not hypertune.should_stop()
        assert hypertune.params() == {}
        assert hypertune.flush()
        assert threading.active_count() == 1
        """, {})
    equal(os.listdir(trial.folder), [])


def stop_and_params_come_from_the_folder(trial):
    with open(os.path.join(trial.folder, "params"), "w") as params:
        params.write("lr=1e-3\nbatch=64\nopt=adam\ntag=a=b\ncode=007\n")
    program = """
        import hypertune
        print(sorted(hypertune.params().items()) == [
            ("batch", 64), ("code", "007"), ("lr", 0.001), ("opt", "adam"),
            ("tag", "a=b")], hypertune.should_stop())
        """
    program = "from __future__ import print_function\n" + textwrap.dedent(
        program)
    equal(trial.run(program).split(), ["True", "False"])
    open(os.path.join(trial.folder, "stop"), "w").close()
    equal(trial.run(program).split(), ["True", "True"])


def a_checkpoint_is_noted_by_its_place(trial):
    top = os.path.join(trial.folder, "ckpt")
    os.makedirs(os.path.join(top, "epoch-3"))
    trial.run("""
        import hypertune, os
        os.environ["AIP_CHECKPOINT_DIR"] = top = %r
        hypertune.checkpoint()
        hypertune.checkpoint(os.path.join(top, "epoch-3"), step=3)
        for path, error in ((os.path.dirname(top), ValueError),
                            (os.path.join(top, "none"), OSError)):
            try:
                hypertune.checkpoint(path)
                assert False, path
            except error:
                pass
        """ % top)
    with open(os.path.join(trial.folder, "checkpoints.jsonl")) as lines:
        noted = [json.loads(line) for line in lines]
    equal([(line["c"], line.get("s")) for line in noted],
          [(".", None), ("epoch-3", 3)])


def reports_survive_a_restart_of_the_server(trial):
    trial.serve()
    process = trial.start("""
        import hypertune, sys
        hypertune.report(step=0, a=0)
        assert hypertune.flush(200)
        sys.stdout.write("ready\\n")
        sys.stdout.flush()
        sys.stdin.readline()
        for i in range(1, 50):
            hypertune.report(step=i, a=i)
        assert not hypertune.flush(0.05)
        sys.stdout.write("away\\n")
        sys.stdout.flush()
        assert hypertune.flush(200)
        """)
    equal(process.stdout.readline(), b"ready\n")
    trial.kill_server()
    process.stdin.write(b"\n")
    process.stdin.flush()
    equal(process.stdout.readline(), b"away\n")
    trial.serve()
    output = process.communicate()[0]
    equal((process.returncode, output), (0, b""))
    equal(list(count_by_writer(trial.records(trial.store)).values()), [50])


def forked_children_report_with_their_parent(trial):
    trial.serve()
    trial.run("""
        import hypertune, os, sys, warnings
        warnings.simplefilter("ignore")  # 3.12 warns of any fork with threads
        hypertune.report(step=0, a=0)
        children = []
        for child in range(3):
            pid = os.fork()
            if pid == 0:
                for i in range(100):
                    hypertune.report(step=i, a=i)
                os._exit(0 if hypertune.flush(200) else 1)
            children.append(pid)
        for i in range(99):
            hypertune.report(step=i, a=i)
        for pid in children:
            assert os.waitpid(pid, 0)[1] == 0
        assert hypertune.flush(200)
        """)
    for path in (trial.reports, trial.store):
        equal(list(count_by_writer(trial.records(path)).values()), [100] * 4)


def threads_share_one_writer(trial):
    trial.serve()
    trial.run("""
        import hypertune, threading
        def work():
            for i in range(250):
                hypertune.report(step=i, a=i)
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert hypertune.flush(200)
        """)
    for path in (trial.reports, trial.store):
        equal(list(count_by_writer(trial.records(path)).values()), [2000])


def an_exit_delivers_but_never_waits_long(trial):
    trial.serve()
    trial.run("import hypertune; hypertune.report(a=1)")
    equal(len(trial.records(trial.store)), 1)
    trial.kill_server()
    trial.serve("silent")
    bare = time.time()
    trial.run("import hypertune")
    bare = time.time() - bare
    start = time.time()
    trial.run("import hypertune; hypertune.report(a=2)")
    if time.time() - start > bare + 50:
        raise AssertionError("the exit took %.1f s" % (time.time() - start))
    equal(len(trial.records(trial.reports)), 2)


def a_trial_that_is_gone_sends_no_more(trial):
    trial.serve("gone")
    trial.run("""
        import hypertune, time
        hypertune.report(a=1)
        start = time.time()
        assert not hypertune.flush(200)
        assert time.time() - start < 100
        hypertune.report(a=2)
        """)
    equal(len(trial.records(trial.reports)), 2)


def thinning_keeps_every_fourth_and_the_last(trial):
    trial.serve("thin=4")
    trial.run("""
        import hypertune
        hypertune.report(step=0, a=0)
        assert hypertune.flush(200)
        for i in range(1, 103):
            hypertune.report(step=i, a=i)
        """)
    steps = [record["s"] for record in trial.records(trial.reports)]
    equal(steps, list(range(0, 101, 4)) + [102])


def a_size_limit_leaves_no_torn_line(trial):
    trial.run("""
        import hypertune, os, resource
        hypertune.report(step=1, a=1)
        size = os.path.getsize(os.environ["HYPERTUNE_REPORT_FILE"])
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, size + 20))
        hypertune.report(step=2, a=2)
        """)
    equal(len(trial.records(trial.reports)), 1)


def a_foreign_torn_tail_is_not_joined_to_our_line(trial):
    with open(trial.reports, "w") as torn:
        torn.write('{"w":"half')
    trial.run("""
        import hypertune, os
        hypertune.report(step=1, a=1)
        hypertune.report(step=2, a=2)
        """)
    with open(trial.reports) as lines:
        lines = lines.read().split("\n")
    equal([lines[0], lines[-1], len(lines)], ['{"w":"half', "", 4])
    equal([json.loads(line)["s"] for line in lines[1:3]], [1, 2])


def an_answer_that_is_not_known_is_asked_for_again(trial):
    trial.serve("busy")
    trial.run("""
        import hypertune
        hypertune.report(a=1)
        assert hypertune.flush(200)
        """)
    equal(len(trial.records(trial.store)), 1)


def signals_reach_the_main_thread(trial):
    if not hasattr(signal, "pthread_sigmask"):
        raise Skip("Python 2 has no way to block them")
    trial.serve()
    trial.run("""
        import glob, hypertune, os
        hypertune.report(a=1)
        masks = {}
        for path in glob.glob("/proc/self/task/*/status"):
            with open(path) as status:
                for line in status:
                    if line.startswith("SigBlk:"):
                        masks[int(path.split("/")[4])] = int(
                            line.split()[1], 16)
        assert masks.pop(os.getpid()) == 0
        assert [mask & 0x4003 for mask in masks.values()] == [0x4003]
        """)


def pip_installs_it_without_a_network(trial):
    if sys.version_info < (3, 8):
        raise Skip("its bundled pip is older than build backends in a tree")
    target = os.path.join(trial.folder, "site")
    source = os.path.join(trial.folder, "source")
    shutil.copytree(PACKAGE, source)
    process = subprocess.Popen(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
         "--no-cache-dir", "--disable-pip-version-check", "--target", target,
         source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = process.communicate()[0]
    if b"No module named pip" in output:
        raise Skip("python3-pip is not installed")
    equal((process.returncode, output if process.returncode else b""),
          (0, b""))
    equal(sorted(name for name in os.listdir(
        os.path.join(target, "hypertune")) if name.endswith(".py")),
        sorted(name for name in os.listdir(os.path.join(PACKAGE, "hypertune"))
               if name.endswith(".py")))


def no_thread_outlives_the_exit(trial):
    """A thread that comes back while the interpreter goes down aborts it where
    libgcc_s is missing; this server lets everybody wait."""
    silent = socket.socket()
    silent.bind(("127.0.0.1", 0))
    silent.listen(5)
    trial.port = silent.getsockname()[1]
    left = trial.run("""
        import atexit, threading
        def tell():
            print([t.name for t in threading.enumerate()])
        atexit.register(tell)  # runs behind what is registered later
        import hypertune
        hypertune.report(accuracy=1)
        """)
    silent.close()
    equal("hypertune" in left, False)
    equal("[" in left, True)


CASES = (
    no_thread_outlives_the_exit,
    records_have_the_documented_form,
    wrong_arguments_raise_what_the_original_raises,
    googles_file_is_written_by_its_rules,
    outside_a_trial_nothing_happens,
    stop_and_params_come_from_the_folder, a_checkpoint_is_noted_by_its_place,
    reports_survive_a_restart_of_the_server,
    forked_children_report_with_their_parent,
    threads_share_one_writer,
    an_exit_delivers_but_never_waits_long,
    a_trial_that_is_gone_sends_no_more,
    thinning_keeps_every_fourth_and_the_last,
    a_size_limit_leaves_no_torn_line,
    a_foreign_torn_tail_is_not_joined_to_our_line,
    an_answer_that_is_not_known_is_asked_for_again,
    signals_reach_the_main_thread,
    pip_installs_it_without_a_network,
)


def run_cases(server_program):
    """Prints "ok" or "not ok" and the case's name, for main()."""
    for case in CASES:
        trial = Trial(server_program)
        try:
            case(trial)
            print("ok %s" % case.__name__)
        except Skip as reason:
            print("ok %s # SKIP %s" % (case.__name__, reason))
        except Exception as error:
            print("# %s: %s" % (type(error).__name__,
                                str(error).replace("\n", "\n# ")))
            print("not ok %s" % case.__name__)
        finally:
            trial.close()
        sys.stdout.flush()


def find_interpreters():
    """{version: path}; one of each minor version, 2.7 and 3.5 or newer."""
    # The home of the password file: a test run may have its own HOME.
    home = pwd.getpwuid(os.getuid()).pw_dir
    candidates = [sys.executable, "python2.7"]
    candidates += sorted(glob.glob(home + "/.pyenv/versions/*/bin/python"))
    found = {}
    for path in candidates:
        try:
            text = subprocess.check_output(
                [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                stderr=subprocess.DEVNULL).decode().strip()
        except (OSError, subprocess.CalledProcessError):
            continue
        major, minor = (int(part) for part in text.split("."))
        if (major, minor) == (2, 7) or (major, minor) >= (3, 5):
            found.setdefault((major, minor), path)
    return found


def choose_interpreters():
    found = find_interpreters()
    if os.environ.get("HT_PYTHONS") == "all":
        return found
    threes = sorted(version for version in found if version[0] == 3)
    wanted = set([(2, 7), threes[0], sys.version_info[:2], threes[-1]])
    return dict((version, path) for version, path in found.items()
                if version in wanted)


def main():
    bin_folder = os.path.abspath(sys.argv[1])
    server_program = os.path.join(bin_folder, "..", "tests", "tools",
                                  "rep_server")
    interpreters = choose_interpreters()
    os.environ.pop("PYTHONPATH", None)  # a trainer has none of ours
    number = failed = 0
    if (2, 7) not in interpreters:
        number += 1
        print("ok 1 - python 2.7: its cases # SKIP there is no python2.7")
    for version, path in sorted(interpreters.items()):
        process = subprocess.run(
            [path, os.path.abspath(__file__), "--cases", server_program],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            universal_newlines=True)
        names = set()
        for line in process.stdout.splitlines():
            found = re.match(r"(ok|not ok) (\w+)( # SKIP .*)?$", line)
            if not found:
                print("# " + line.lstrip("# "))
                continue
            outcome, name, skipped = found.groups()
            number += 1
            names.add(name)
            failed += outcome == "not ok"
            print("%s %d - python %d.%d: %s%s" % (
                (outcome, number) + version +
                (name.replace("_", " "), skipped or "")))
        if len(names) != len(CASES):
            number += 1
            failed += 1
            print("not ok %d - python %d.%d: ran all its cases" % (
                (number,) + version))
    print("1..%d" % number)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    if sys.argv[1] == "--cases":
        run_cases(sys.argv[2])
    else:
        main()
