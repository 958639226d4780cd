"""Job files of Google's tutorials, run as processes by a command after "--"."""

import json
import os
import shutil

import tap
import tree
from cli_home import Home

SPECS = tree.path("tests/specs")
COMMAND = ("--", "python3", "-m", "trainer.task")


def bring(home, sample):
    """The sample beside a trainer package, as a tutorial's folder has them."""
    package = os.path.join(home.folder, "trainer")
    os.makedirs(package, exist_ok=True)
    open(os.path.join(package, "__init__.py"), "w").close()
    shutil.copy(os.path.join(tree.TRAINERS, "tutorial.py"),
                os.path.join(package, "task.py"))
    return shutil.copy(os.path.join(SPECS, sample), home.folder)


def run(home, sample, *options):
    """Runs the sample to its end; returns its best trial."""
    out, _ = home.cli("run", bring(home, sample), "-o", "json", *options,
                      *COMMAND)
    return json.loads(out.splitlines()[-1])


def log(home, study, trial=1, replica="master-0"):
    return home.cli("logs", "%s/%d" % (study, trial), "--replica", replica)[0]


def a_container_s_job_file_runs_as_processes():
    with Home() as home:
        best = run(home, "aip/mnist-pytorch-container.yaml", "-n", "4")
        args = best["hypertune"]["args"]
        tap.equal([word.split("=")[0] for word in args], ["--lr", "--momentum"])
        trials = json.loads(home.cli("trials", "mnist-pytorch-container", "-o",
                                     "json")[0])
        tap.equal(len(trials), 4)
        tap.equal(best["hypertune"]["objective"],
                  min(trial["hypertune"]["objective"] for trial in trials))
        shown = log(home, "mnist-pytorch-container").splitlines()
        tap.equal(shown[0], 'master-0 of {"master": 1} trial 1')
        tap.equal(json.loads(shown[1].split(" ", 1)[1])[:2], ["--epochs", "10"])


def a_grid_tries_every_choice_once():
    with Home() as home:
        path = bring(home, "aip/flowers-grid.yaml")
        _, err = home.cli("submit", path, "--dry-run", *COMMAND)
        tap.lacks("scaleTier", err)
        with open(path) as spec: # this machine need not have a GPU
            home.write("flowers-grid.yaml",
                       spec.read().replace("BASIC_GPU", "BASIC"))
        out, _ = home.cli("run", path, "-o", "json", *COMMAND)
        best = json.loads(out.splitlines()[-1])
        tap.equal(sorted(best["hypertune"]["args"]),
                  ["--batch-size=64", "--optimizer=sgd", "--trainable=true"])
        trials = json.loads(home.cli("trials", "flowers-grid", "--limit", "0",
                                     "-o", "json")[0])
        tap.equal(len({json.dumps(trial["hypertune"]["params"])
                       for trial in trials}), 12)


def a_vertex_config_needs_no_image_either():
    with Home() as home:
        best = run(home, "vertex/hp-tuning-config.yaml")
        tap.equal(len(best["hypertune"]["args"]), 2)
        shown = log(home, "hp-tuning-config").splitlines()
        tap.equal(json.loads(shown[1].split(" ", 1)[1])[:2], ["--epochs", "3"])


def a_cluster_of_thirteen_runs_on_one_machine():
    with Home() as home:
        best = run(home, "aip/census-cluster.yaml", "-n", "1", "-p", "1",
                   "--retries", "0")
        tap.contains("objective", best["hypertune"], best)
        sizes = '{"master": 1, "ps": 3, "worker": 9}'
        for replica in ("master-0", "worker-8", "ps-2"):
            tap.equal(log(home, "census-cluster", 1, replica).splitlines()[0],
                      "%s of %s trial 1" % (replica, sizes))


def a_local_job_dir_has_a_folder_for_each_trial():
    with Home() as home:
        run(home, "aip/sklearn-body.json", "-n", "1")
        shown = log(home, "sklearn_census_2").splitlines()
        tap.equal(shown[0], 'master-0 of {"master": 1} trial 1')
        words = json.loads(shown[1].split(" ", 1)[1])
        tap.equal(words[:2], ["--data", "gs://cloud-samples-data/census"])
        tap.equal(words[-1], "--job-dir=%s/output/1" % home.folder)


def a_job_without_a_search_shows_its_log():
    with Home() as home:
        path = bring(home, "vertex/custom-job-config.yaml")
        out, err = home.cli("run", path, *COMMAND)
        tap.equal(out.splitlines(),
                  ['workerpool0-0 of {"workerpool0": 1} trial None',
                   'arguments ["--epochs=3"]'])
        tap.contains("custom job custom-job-config SUCCEEDED", err)
        out, _ = home.cli("submit", path, "--name", "second", *COMMAND)
        tap.equal(out, "second\n")
        _, err = home.cli("submit", path, "--name", "second", *COMMAND)
        tap.contains("custom job second exists with the same spec", err)
        _, err = home.cli("submit", path, "--name", "second", "--", "true",
                          want=5)
        tap.contains("command: ", err)
        _, err = home.cli("run", path, "--name", "third", "--", "sh", "-c",
                          "echo some words >&2; exit 3", want=7)
        tap.contains("some words", err)
        tap.contains("third FAILED", err)


def an_image_alone_is_refused_where_only_processes_run():
    with Home() as home:
        path = bring(home, "vertex/horses-or-humans.json")
        _, err = home.cli("submit", path, want=2)
        for words in ("gcr.io/my-project/horse-human:hypertune", "-- python3"):
            tap.contains(words, err)
        path = bring(home, "vertex/hp-tuning-config.yaml")
        _, err = home.cli("submit", path, want=2)
        tap.contains("hp-tuning-config.yaml -- python3 -m trainer", err)
        tap.equal(home.cli("list", "-o", "name")[0], "")


def what_gcloud_has_in_flags_is_asked_for():
    with Home() as home:
        path = bring(home, "aip/default-metric.yaml")
        _, err = home.cli("submit", path, want=2)
        tap.contains("neither a command nor an image", err)
        out, _ = home.cli("submit", path, "--dry-run", *COMMAND)
        examples = [line for line in out.splitlines() if "--hidden1=" in line]
        tap.equal(len(examples), 3, out)
        tap.equal(examples[0].split()[-1], "--hidden1=220")
        tap.equal(home.cli("submit", path, "--dry-run", *COMMAND)[0], out)
        tap.true(not os.path.exists(home.state), "a server was started:")


def a_plan_shows_all_settings_of_the_search():
    with Home() as home:
        path = home.write("told.yaml", """
goal: [minimize loss, maximize accuracy]
safety: [memory <= 4 for 90% of trials, heat <= 80]
parameters: {x: {type: double, min: 0, max: 1}, y: [1, 2]}
constraints: [x * y <= 1, x < 0.9]
noise: high
earlyStopping: {rule: asha, minSteps: 3, pause: true}
cancelAfter: {running: 24h, waiting: 30m}
warmStart: [one, two]
command: [sh, -c, "true"]
""")
        out, _ = home.cli("check", path)
        for line in (
                "  goal        minimize loss, maximize accuracy\n",
                "  safety      memory <= 4 for 90% of trials, heat <= 80\n",
                "  constraints x * y <= 1\n              x < 0.9\n",
                ", high noise, trials pause early by asha, "
                "cancelled unless a trial starts within 30m, "
                "cancelled after running 1d, learns from one and two\n"):
            tap.contains(line, out)


def children_of_one_name_have_no_form_but_vertex():
    def child(value, low):
        return {"parameterSpec": {
            "parameterId": "rate",
            "doubleValueSpec": {"minValue": low, "maxValue": 9}},
            "parentCategoricalValues": {"values": [value]}}
    with Home() as home:
        path = home.write("job.json", json.dumps({
            "studySpec": {
                "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
                "parameters": [{
                    "parameterId": "opt",
                    "categoricalValueSpec": {"values": ["a", "b"]},
                    "conditionalParameterSpecs": [child("a", 1),
                                                  child("b", 2)]}]},
            "trialJobSpec": {"workerPoolSpecs": [{"containerSpec": {
                "command": ["true"]}}]}}))
        out, _ = home.cli("check", path, "-o", "vertex")
        tap.equal(out.count('"rate"'), 2, out)
        for form in ("native", "aip"):
            _, err = home.cli("check", path, "-o", form, want=2)
            tap.contains("only the form \"vertex\"", err)


def an_image_comes_from_a_flag_as_with_gcloud():
    with Home() as home:
        path = bring(home, "aip/default-metric.yaml")
        _, err = home.cli("check", path, want=2)
        tap.contains("--image IMAGE", err)
        out, _ = home.cli("check", path, "--image", "r.io/team/train:7", "-o",
                          "vertex", "--", "--epochs", "3")
        pool, = json.loads(out)["trialJobSpec"]["workerPoolSpecs"]
        tap.equal(pool["containerSpec"], {"imageUri": "r.io/team/train:7",
                                          "args": ["--epochs", "3"]})
        out, _ = home.cli("check", "--maximize", "a", "--param", "lr=1,2",
                          "--image", "r.io/team/train:7", "--", "--epochs", "3")
        tap.contains("  name        train\n", out)
        tap.contains("for example --epochs 3 --lr=", out)
        for image, fault in (("a b", "has a character"), ("-v", "must begin"),
                             ("r.io/T/x", "has capital letters")):
            _, err = home.cli("check", path, "--image=" + image, want=2)
            tap.contains(fault, err)
        again = home.write("job.json", json.dumps(
            {"jobSpec": {"workerPoolSpecs": [pool]}}))
        _, err = home.cli("check", again, "--image", "other", want=2)
        tap.contains("has an image of its own already", err)
        tap.true(not os.path.exists(home.state), "a server was started:")


def an_image_has_its_own_path_and_no_program_here():
    with Home() as home:
        spec = {"goal": "maximize a", "parameters": {"lr": [1, 2]},
                "command": ["no-such-program-here"], "image": "r.io/train:7",
                "workdir": "/srv/not-here", "passEnv": ["GIVEN"],
                "volumes": ["/data:/data:ro"], "container": {"shm": "1Gi"}}
        out, err = home.cli("check", home.write("spec.yaml", spec),
                            GIVEN="yes")
        tap.true("is valid" in out and err == "", err)
        del spec["image"]
        _, err = home.cli("check", home.write("spec.yaml", spec), want=2)
        tap.contains("no-such-program-here is not in PATH", err)
        tap.contains("volumes: has no effect on processes", err)
        tap.contains("container: has no effect on processes", err)


def forms_are_converted_and_losses_reported():
    with Home() as home:
        path = bring(home, "aip/xgboost-iris.yaml")
        out, err = home.cli("check", path, "-o", "vertex")
        vertex = json.loads(out)
        tap.equal(vertex["studySpec"]["metrics"],
                  [{"metricId": "training/hptuning/metric",
                    "goal": "MAXIMIZE"}])
        tap.contains(
            "xgboost-iris.yaml:6:19: warning: trainingInput.runtimeVersion",
            err)
        again = home.write("vertex.json", out)
        back = json.loads(home.cli("check", again, "-o", "json")[0])
        native = home.write("native.yaml",
                            home.cli("check", path, "-o", "native")[0])
        tap.equal(json.loads(home.cli("check", native, "-o", "json")[0]), back)
        home.write("many.yaml", {
            "spec": 1, "goal": "maximize a", "seed": 3, "command": "true",
            "parameters": {"x": [1, 2]}})
        out, err = home.cli("check", "many.yaml", "-o", "aip")
        tap.contains("seed: AI Platform has no word for it", err)
        tap.starts(out, "trainingInput:\n")
        _, err = home.cli("list", "-o", "aip", want=2)
        tap.contains('no output format "aip"', err)


def two_forms_in_one_file_are_distinguished():
    with Home() as home:
        path = home.write("spec.yaml", "studySpec: {}\ntrainingInput: {}\n")
        _, err = home.cli("check", path, want=2)
        tap.contains("spec.yaml:2:1: error: trainingInput: belongs to an AI "
                     "Platform job, but studySpec to a Vertex tuning job", err)
        home.write("spec.yaml", "scaleTier: BASIC\nhyperparameters: {}\n")
        _, err = home.cli("check", path, want=2)
        tap.contains("spec.yaml:2:1: error: hyperparameters: belongs into "
                     "trainingInput", err)


if __name__ == "__main__":
    tap.run([a_container_s_job_file_runs_as_processes,
             a_grid_tries_every_choice_once,
             a_vertex_config_needs_no_image_either,
             a_cluster_of_thirteen_runs_on_one_machine,
             a_local_job_dir_has_a_folder_for_each_trial,
             a_job_without_a_search_shows_its_log,
             an_image_alone_is_refused_where_only_processes_run,
             what_gcloud_has_in_flags_is_asked_for,
             a_plan_shows_all_settings_of_the_search,
             children_of_one_name_have_no_form_but_vertex,
             an_image_comes_from_a_flag_as_with_gcloud,
             an_image_has_its_own_path_and_no_program_here,
             forms_are_converted_and_losses_reported,
             two_forms_in_one_file_are_distinguished])
