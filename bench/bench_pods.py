"""bench_pods - what pods that are alive cost the runner: the played cluster, by
TLS, runs PODS (default 60) trials at once, idle at first, then with a line of
output each second. One key=value a line; as root.

    python3 bench/bench_pods.py BIN-DIR

kb_per_pod is the runner's PSS beyond that without pods, cpu_..._per_pod a part of
one core, and ..._share the measure as a part of its limit: 500 pods that are
idle are to take half a core."""

import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests",
                                "lib"))
import harness  # noqa: E402
import kube_tool  # noqa: E402
import kubernetes  # noqa: E402
import kubernetes_kubelet  # noqa: E402
import pod_trials  # noqa: E402

PODS = int(os.environ.get("PODS", "60"))
SECONDS = 20
LIMITS = {"kb_per_pod": 150, "cpu_idle_per_pod": 0.001}
TRAINER = ("exec 3<> <(:); until [ -e %s ]; do read -t 1 -u 3; done; "
           "while :; do echo score=$SECONDS; read -t 1 -u 3; done")


def show(key, value):
    print("%s=%.4g" % (key, value), flush=True)
    if key in LIMITS:
        print("%s_share=%.4g" % (key, value / LIMITS[key]), flush=True)


def memory_kb(pid):
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file
                    if line.startswith("Pss:"))


def threads(pid):
    return len(os.listdir("/proc/%d/task" % pid))


def cpu_s(pid):
    """Of all its threads."""
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sleeps(pid):
    """How often its threads have slept."""
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/status" % (pid, task),
                  encoding="ascii") as file:
            total += next(int(line.split()[1]) for line in file
                          if line.startswith("voluntary_ctxt_switches"))
    return total


def show_load(pid, name):
    used, slept = cpu_s(pid), sleeps(pid)
    time.sleep(SECONDS)
    show("cpu_%s_per_pod" % name, (cpu_s(pid) - used) / SECONDS / PODS)
    show("wakes_per_s_%s_per_pod" % name,
         (sleeps(pid) - slept) / SECONDS / PODS)


class Cluster(pod_trials.Played):
    """Reached by TLS, as a real one."""

    def __init__(self, folder):
        super().__init__(folder)
        self.cluster.close()
        tls = kubernetes.Tls(folder)
        self.cluster = kubernetes.Cluster(tls=tls)
        kubernetes_kubelet.Kubelet(self.cluster)
        self.config = kube_tool.write(folder, "config", kube_tool.config_of(
            self.cluster, {"token": "admin"},
            **{"certificate-authority": tls.ca}))


def running(server):
    """Trials of which the runner has the pod's first file."""
    return sum(one["run"] for runner in server.get("/hypertune/v1/runners")[
        "runners"] for one in runner["elements"])


def measure(server, folder):
    go = os.path.join(folder, "go")
    pid, = harness.processes(os.path.join(harness.bin_dir(),
                                          "hypertune-runner"), server.folder)
    before_kb, before_threads = memory_kb(pid), threads(pid)
    begin, used = time.monotonic(), cpu_s(pid)
    server.submit(pod_trials.spec(
        "many", ["bash", "-c", TRAINER % go], trials=PODS, parallel=PODS))
    harness.wait_until(lambda: running(server) == PODS, "all pods", 1800)
    show("connected_s", time.monotonic() - begin)
    show("connected_cpu_s_per_pod", (cpu_s(pid) - used) / PODS)
    time.sleep(5)
    show("threads_per_pod", (threads(pid) - before_threads) / PODS)
    show("kb_per_pod", (memory_kb(pid) - before_kb) / PODS)
    show_load(pid, "idle")
    with open(go, "wb"):
        pass
    time.sleep(5)
    show_load(pid, "line_a_second")
    show("kb_per_pod_busy", (memory_kb(pid) - before_kb) / PODS)


with tempfile.TemporaryDirectory(prefix="bench") as place:
    own = Cluster(place)
    pod_trials.SLOTS = PODS
    try:
        with pod_trials.Server(own) as hypertuned:
            harness.wait_until(
                lambda: "ONLINE" in json.dumps(hypertuned.get(
                    "/hypertune/v1/runners")), "the runner")
            measure(hypertuned, place)
    finally:
        own.close()
