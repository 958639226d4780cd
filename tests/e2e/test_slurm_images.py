"""Trials in container images, run by podman and by charliecloud in jobs of a
real Slurm."""

import contextlib
import os
import shutil
import subprocess

import harness
import slurm
import tap
import tree
from runner_process import Runner

TINY = "localhost/tiny:1"
REPORT = "hypertune report score=$1 --step 1"

if slurm.missing():
    tap.skip("images", "%s is not installed" % slurm.missing())
server = harness.Server("--runner", "none")
cluster = slurm.Cluster(nodes=2)
archive = os.path.join(os.path.dirname(harness.bin_dir()), "images",
                       "tiny.tar")
folder = os.path.join(cluster.folder, "image")


def make_archive():
    subprocess.run([tree.path("tests/engines/images.sh"),
                    os.path.dirname(archive)], check=True)


def podman(*words):
    return subprocess.run(("podman",) + words, check=True, text=True,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE).stdout.strip()


def set_up_podman():
    """Its own storage, so that nothing of the machine's is seen or left."""
    if not shutil.which("podman"):
        return
    make_archive()
    place = os.path.join(cluster.folder, "podman")
    os.mkdir(place)
    with open(place + "/storage.conf", "w", encoding="ascii") as file:
        file.write('[storage]\ndriver = "vfs"\ngraphroot = "%s/storage"\n'
                   'runroot = "%s/run"\n' % (place, place))
    with open(place + "/containers.conf", "w", encoding="ascii") as file:
        file.write('[engine]\ncgroup_manager = "cgroupfs"\n'
                   'events_logger = "file"\nruntime = "runc"\n'
                   'tmp_dir = "%s/tmp"\n' % place)
    os.environ.update(CONTAINERS_STORAGE_CONF=place + "/storage.conf",
                      CONTAINERS_CONF=place + "/containers.conf")
    podman("import", "--change", "ENV WHO=image",
           "--change", "ENV BOTH=image",
           "--change", "ENV PATH=/usr/local/bin:/usr/bin:/bin",
           "--change", "WORKDIR /work",
           "--change", 'ENTRYPOINT ["sh","-c"]',
           "--change", 'CMD ["hypertune report score=7"]', archive, TINY)


def set_up_folder():
    """An image for charliecloud."""
    if not shutil.which("ch-run"):
        return
    make_archive()
    os.makedirs(folder + "/ch")
    subprocess.run(["tar", "-C", folder, "-xf", archive], check=True)
    with open(folder + "/ch/environment", "w", encoding="ascii") as file:
        file.write("WHO=image\nBOTH=image\nPATH=/usr/local/bin:/usr/bin:/bin\n")


def require(program, package):
    if not shutil.which(program):
        raise tap.Skip("%s is not installed" % package)


def spec(name, way, image, script, **members):
    made = {"spec": 1, "name": name, "goal": "maximize score", "trials": 1,
            "parallel": 1, "algorithm": "random", "seed": 1, "retries": 0,
            "parameters": {"x": {"type": "double", "min": 0, "max": 1}},
            "image": image, "command": ["sh", "-c", script, "sh", "${x}"],
            "args": "none", "env": {"BOTH": "trial"},
            "container": {"pull": "never"}, **members}
    made["slurm"] = {"container": way} if way else {}
    return made


def ended(name, state="SUCCEEDED"):
    status = server.wait_study(name)
    tap.equal(status["state"], state, server.explain(name))
    return server.trial(name, 1)["hypertune"]


def failed(name, *parts):
    ours = ended(name, "FAILED")
    words = server.explain(name)
    for part in parts:
        tap.true(part in words, words)
    tap.equal(ours["attempts"][-1]["outcome"], "failed", words)
    return ours


def left():
    return podman("ps", "--all", "--quiet") if shutil.which("podman") else ""


def runs_well(name, container, image):
    """Environment of image and trial, reports, and nothing of the node."""
    os.environ["NODES_OWN"] = "1"
    server.submit(spec(name, container, image,
                       REPORT + '; echo "$WHO $BOTH [$NODES_OWN] '
                       '$CLOUD_ML_TRIAL_ID $SLURM_PROCID $AIP_CHECKPOINT_DIR"; '
                       'echo $PATH; touch $AIP_CHECKPOINT_DIR/made'))
    ours = ended(name)
    tap.true(0 <= ours["objective"] <= 1)
    tap.equal(server.cli("logs", name + "/1").stdout.split("\n")[:2],
              ["image trial [] 1 0 /hypertune/output/checkpoints",
               "/hypertune/kit/bin:/usr/local/sbin:/usr/sbin:/sbin:"
               "/usr/local/bin:/usr/bin:/bin"])


def fails(name, container, image):
    server.submit(spec(name + "-exit", container, image, "exit 7"))
    failed(name + "-exit", "exit 7")
    server.submit(spec(name + "-signal", container, image, "kill -SEGV $$"))
    failed(name + "-signal", "signal 11 (SIGSEGV)")
    server.submit(spec(name + "-lacks", container, image, "",
                       command=["no-such-command"]))
    failed(name + "-lacks", "command not found: no-such-command")


def stops(name, container, image):
    """The trainer gets the order, and its last report counts."""
    server.submit(spec(
        name, container, image,
        "trap 'hypertune report score=5 --step 2; exit 0' TERM; " + REPORT +
        "; while :; do sleep 0.2; done"))
    harness.wait_until(lambda: server.trials(name) and
                       server.measurements(name, 1), "a report")
    server.cli("stop-trial", name + "/1")
    harness.wait_until(
        lambda: server.trial(name, 1)["hypertune"]["state"] == "STOPPED",
        "the end of the trial")
    tap.equal(server.trial(name, 1)["hypertune"]["objective"], 5)


def trainers(name):
    """Processes whose words have the mark."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if os.fsencode(name) in harness.read_proc(int(pid), "cmdline"):
            found.append(int(pid))
    return found


def is_killed(name, container, image):
    """A trainer that ignores the order is killed after the grace, with all that
    it has started; the element can run the next trial."""
    server.submit(spec(
        name, container, image,
        "trap '' TERM; " + REPORT + "; sleep 98765 & "
        "while :; do sleep 0.2; done # mark-of-" + name, grace="1s"))
    harness.wait_until(lambda: server.trials(name) and
                       server.measurements(name, 1), "a report")
    server.cli("stop-trial", name + "/1")
    harness.wait_until(
        lambda: server.trial(name, 1)["hypertune"]["state"] == "STOPPED",
        "the end of the trial")
    tap.equal([trainers("mark-of-" + name), trainers("98765")], [[], []])


def podman_runs():
    require("podman", "podman")
    runs_well("podman", "podman", TINY)
    runs_well("first", None, TINY)
    harness.wait_until(lambda: left() == "", "the end of containers")


def podman_entry_point():
    require("podman", "podman")
    made = spec("entry", "podman", TINY, "")
    del made["command"], made["args"]
    server.submit(made | {"args": "none"})
    tap.equal(ended("entry")["objective"], 7)


def podman_fails():
    require("podman", "podman")
    fails("podman-fails", "podman", TINY)
    server.submit(spec("none", "podman", "localhost/none:1", "true"))
    failed("none", "image localhost/none:1: is not on this machine, and the "
           'job says "pull: never"')
    server.submit(spec("pulled", "podman", "localhost/none:1", "true",
                       container={"pull": "ifNotPresent"}))
    failed("pulled", "image localhost/none:1: there is none of that name")


def podman_stops():
    require("podman", "podman")
    stops("podman-stops", "podman", TINY)
    is_killed("podman-killed", "podman", TINY)
    harness.wait_until(lambda: left() == "", "the end of containers")


def charliecloud_runs():
    require("ch-run", "charliecloud")
    runs_well("charlie", "charliecloud", folder)


def charliecloud_fails():
    require("ch-run", "charliecloud")
    fails("charlie-fails", "charliecloud", folder)
    server.submit(spec("away", "charliecloud", folder + "/none", "true"))
    failed("away", "image %s/none: No such file or directory" % folder)


def charliecloud_stops():
    require("ch-run", "charliecloud")
    stops("charlie-stops", "charliecloud", folder)
    is_killed("charlie-killed", "charliecloud", folder)


def a_sites_own_command():
    """Its paths are those of the node."""
    server.submit(spec("own", "env IMAGE={image} {command}", "any",
                       REPORT + "; echo $IMAGE in $HYPERTUNE_TRIAL_DIR"))
    ended("own")
    tap.true("any in " + server.folder in
             server.cli("logs", "own/1").stdout)


def no_program_runs_it():
    server.submit(spec("lacking", "apptainer", "any", "true"))
    failed("lacking", "image any: no program that runs it is in the PATH of",
           "apptainer, singularity")
    server.submit(spec("pyxis", "pyxis", "any", "true"))
    harness.wait_until(lambda: "does not run images by pyxis" in
                       server.study("pyxis")["reason"], "the reason")
    server.cli("cancel", "pyxis", "--yes", check=False)


def over_a_kill_of_the_runner():
    """The trainer runs on, and its end is known to the next runner."""
    require("podman", "podman")
    server.submit(spec(
        "over", "podman", TINY, REPORT + "; until [ -e $AIP_CHECKPOINT_DIR/go ]; do sleep 0.2; "
        "done; hypertune report score=9 --step 2"))
    harness.wait_until(lambda: server.trials("over") and
                       server.measurements("over", 1), "a report")
    one.process.kill()
    one.process.wait()
    checkpoints = os.path.join(one.folder, "runs")
    for path, names, _ in os.walk(checkpoints):
        if "checkpoints" in names:
            open(os.path.join(path, "checkpoints", "go"), "w").close()
    one.__enter__()
    ours = ended("over")
    tap.equal([ours["objective"], ours["attempt"]], [9, 1])
    harness.wait_until(lambda: left() == "", "the end of containers")


with contextlib.ExitStack() as stack:
    set_up_podman()
    set_up_folder()
    stack.enter_context(cluster)
    os.environ.update(cluster.environment)
    stack.callback(server.close)
    server.start()
    one = stack.enter_context(Runner(server, "images", "--engine", "slurm",
                                     url=server.http, slots=4))
    cases = [podman_runs, podman_entry_point, podman_fails, podman_stops,
             charliecloud_runs, charliecloud_fails, charliecloud_stops,
             a_sites_own_command, no_program_runs_it,
             over_a_kill_of_the_runner]
    tap.run(cases)
