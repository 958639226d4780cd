"""Jobs by the Python SDK: every method of its generated client over REST, and
the classes that people use, against a real server."""

import importlib

import harness
import sdk
import tap

server = None
api = None  # google.cloud.aiplatform_v1 or _v1beta1
jobs = None  # its client


def use(version):
    """Makes a client of a version of the API."""
    global api, jobs
    api = sdk.load(version)
    jobs = sdk.client(api, "JobServiceClient", server)


REPORT = "hypertune report loss=0.5 --step 3"


def pool(command, **more):
    return dict({"replica_count": 1, "container_spec": {
        "command": ["sh", "-c", command, "sh"]}}, **more)


def tuning(display, command=REPORT, **more):
    return api.HyperparameterTuningJob(dict({
        "display_name": display, "study_spec": sdk.simple(),
        "max_trial_count": 2, "parallel_trial_count": 1,
        "trial_job_spec": {"worker_pool_specs": [pool(command)]}}, **more))


def ended(get, name):
    def look():
        job = get(name=name)
        return job if job.end_time else None
    return harness.wait_until(look, name + " to end")


def start(display, command=REPORT, **more):
    return jobs.create_hyperparameter_tuning_job(
        parent=sdk.PARENT,
        hyperparameter_tuning_job=tuning(display, command, **more))


def a_tuning_job_runs_and_shows_its_trials():
    made = start("run " + api.__name__, labels={"team": "red"},
                 max_failed_trial_count=1)
    tap.equal((made.state, made.labels, made.max_failed_trial_count,
               len(made.trials)),
              (api.JobState.JOB_STATE_PENDING, {"team": "red"}, 1, 0))
    job = ended(jobs.get_hyperparameter_tuning_job, made.name)
    tap.equal((job.state, job.error.code),
              (api.JobState.JOB_STATE_SUCCEEDED, 0))
    tap.equal([(trial.id, trial.state, trial.final_measurement.step_count,
                trial.final_measurement.metrics[0].value)
               for trial in job.trials],
              [(n, api.Trial.State.SUCCEEDED, 3, 0.5) for n in "12"])
    tap.true(job.create_time <= job.start_time <= job.end_time,
             (job.create_time, job.start_time, job.end_time))


def a_job_keeps_what_has_no_effect_here():
    spec = {"worker_pool_specs": [pool("true", disk_spec={
        "boot_disk_type": "pd-ssd", "boot_disk_size_gb": 200}, nfs_mounts=[{
            "server": "10.0.0.2", "path": "/exports", "mount_point": "data"}],
        machine_spec={"machine_type": "n1-standard-4",
                      "reservation_affinity": {
                          "reservation_affinity_type": 3, "key": "k",
                          "values": ["v"]}})],
        "scheduling": {"timeout": "3600s", "disable_retries": True,
                       "restart_job_on_worker_restart": True,
                       "strategy": "SPOT", "max_wait_duration": "60s"},
        "network": "projects/1/global/networks/n",
        "reserved_ip_ranges": ["range"], "enable_web_access": True,
        "enable_dashboard_access": True, "experiment": "e",
        "experiment_run": "r", "models": ["m"], "tensorboard": "t",
        "persistent_resource_id": "p",
        "protected_artifact_location_id": "a",
        "base_output_directory": {"output_uri_prefix": "gs://bucket/out"}}
    made = jobs.create_custom_job(parent=sdk.PARENT, custom_job=api.CustomJob({
        "display_name": "kept", "job_spec": spec,
        "encryption_spec": {"kms_key_name": "key"}}))
    tap.equal(made.job_spec, api.CustomJobSpec(spec))
    tap.equal(made.encryption_spec.kms_key_name, "key")
    job = ended(jobs.get_custom_job, made.name)
    tap.equal((job.state, job.job_spec),
              (api.JobState.JOB_STATE_SUCCEEDED, made.job_spec))


def a_failed_job_says_why():
    made = jobs.create_custom_job(parent=sdk.PARENT, custom_job=api.CustomJob({
        "display_name": "fails", "job_spec": {
            "scheduling": {"disable_retries": True},
            "worker_pool_specs": [pool("exit 3")]}}))
    job = ended(jobs.get_custom_job, made.name)
    tap.equal((job.state, job.error.code, job.error.message),
              (api.JobState.JOB_STATE_FAILED, 9, "exit 3"))
    made = start("failing", "exit 4", max_trial_count=1, trial_job_spec={
        "scheduling": {"disable_retries": True},
        "worker_pool_specs": [pool("exit 4")]})
    job = ended(jobs.get_hyperparameter_tuning_job, made.name)
    tap.equal(job.state, api.JobState.JOB_STATE_FAILED)
    tap.equal([(one.state, "exit 4" in one.infeasible_reason)
               for one in job.trials],
              [(api.Trial.State.INFEASIBLE, True)])


def jobs_are_cancelled_and_deleted():
    made = start("long " + api.__name__, "sleep 600")
    jobs.cancel_hyperparameter_tuning_job(name=made.name)
    job = ended(jobs.get_hyperparameter_tuning_job, made.name)
    tap.equal((job.state, job.error.code),
              (api.JobState.JOB_STATE_CANCELLED, 1))
    jobs.cancel_hyperparameter_tuning_job(name=made.name)
    gone = jobs.delete_hyperparameter_tuning_job(name=made.name)
    gone.result(timeout=harness.PATIENCE)
    tap.equal(jobs.get_operation({"name": gone.operation.name}).done, True)
    sdk.refused(sdk.errors().NotFound, jobs.get_hyperparameter_tuning_job,
                name=made.name)
    made = jobs.create_custom_job(parent=sdk.PARENT, custom_job=api.CustomJob({
        "display_name": "long", "job_spec": {
            "worker_pool_specs": [pool("sleep 600")]}}))
    sdk.refused(sdk.errors().BadRequest, jobs.delete_custom_job,
                name=made.name)
    jobs.cancel_custom_job(name=made.name)
    job = ended(jobs.get_custom_job, made.name)
    tap.equal(job.state, api.JobState.JOB_STATE_CANCELLED)
    gone = jobs.delete_custom_job(name=made.name)
    gone.result(timeout=harness.PATIENCE)
    sdk.refused(sdk.errors().NotFound, jobs.get_custom_job, name=made.name)


def jobs_are_listed_in_pages_by_filter_and_mask():
    team = "blue" + api.__name__[-4:]
    made = [start("wait %d" % n, "sleep 600", labels={"team": team})
            for n in range(3)]
    one = jobs.create_custom_job(parent=sdk.PARENT, custom_job=api.CustomJob({
        "display_name": "alone", "labels": {"team": team}, "job_spec": {
            "worker_pool_specs": [pool("sleep 600")]}}))
    try:
        check_lists(team, [job.name for job in made], one.name)
    finally:
        for job in made:
            jobs.cancel_hyperparameter_tuning_job(name=job.name)
        jobs.cancel_custom_job(name=one.name)
    for job in made:
        ended(jobs.get_hyperparameter_tuning_job, job.name)
    ended(jobs.get_custom_job, one.name)


def check_lists(team, names, alone):
    def listed(**request):
        return [[job.name for job in page.hyperparameter_tuning_jobs]
                for page in jobs.list_hyperparameter_tuning_jobs(
                    request=dict({"parent": sdk.PARENT}, **request)).pages]
    tap.equal(listed(page_size=2, filter='labels.team="%s"' % team),
              [[names[2], names[1]], [names[0]]])
    tap.equal(listed(filter='labels.team=%s AND display_name="wait 1"' % team),
              [[names[1]]])
    tap.equal(listed(filter='labels.team=%s AND NOT displayName:"wait*"' %
                     team), [[]])
    tap.equal(listed(filter='labels.team=%s AND create_time<'
                     '"2001-01-01T00:00:00Z"' % team), [[]])
    masked, = jobs.list_custom_jobs(request={
        "parent": sdk.PARENT, "filter": 'labels.team="%s"' % team,
        "read_mask": "name,displayName"})
    tap.equal(masked, api.CustomJob(name=alone, display_name="alone"))
    tap.equal(sdk.refused(
        sdk.errors().BadRequest, jobs.list_custom_jobs, request={
            "parent": sdk.PARENT, "filter": "colour=red",
            "page_token": "nonsense"}),
        ["filter", "pageToken"])


def a_wrong_job_raises_invalid_argument_with_its_fields():
    tap.equal(sdk.refused(
        sdk.errors().BadRequest, start, "wrong", max_trial_count=-1,
        labels={"Bad Key": "x"}, trial_job_spec={"worker_pool_specs": []}),
        ["labels.Bad Key", "maxTrialCount", "trialJobSpec.workerPoolSpecs"])


# --- the classes that people use ---

def searched(module, display, command):
    """A HyperparameterTuningJob of two trials."""
    spec = importlib.import_module(
        "google.cloud.aiplatform.hyperparameter_tuning")
    return module.HyperparameterTuningJob(
        display_name=display, custom_job=module.CustomJob(
            display_name=display, worker_pool_specs=[pool(command)]),
        metric_spec={"loss": "minimize"}, parameter_spec={
            "x": spec.DoubleParameterSpec(min=0, max=1, scale="linear")},
        search_algorithm="random", max_trial_count=2, parallel_trial_count=2)


def a_job_of_the_sdk_waits_for_its_end():
    module = sdk.high_level(server)
    job = searched(module, "sdk run", REPORT)
    job.run(sync=True)
    tap.equal((job.state.name, job.error.code), ("JOB_STATE_SUCCEEDED", 0))
    tap.equal(sorted((trial.id, trial.final_measurement.metrics[0].value)
                     for trial in job.trials), [("1", 0.5), ("2", 0.5)])
    same = module.HyperparameterTuningJob.get(job.resource_name)
    tap.equal((same.display_name, same.end_time), ("sdk run", job.end_time))
    listed = module.HyperparameterTuningJob.list(
        filter='display_name="sdk run"', order_by="create_time desc")
    tap.equal([one.resource_name for one in listed], [job.resource_name])
    job.delete()
    tap.equal(module.HyperparameterTuningJob.list(
        filter='display_name="sdk run"'), [])


def a_job_of_the_sdk_raises_what_went_wrong():
    module = sdk.high_level(server)
    job = searched(module, "sdk fails", "exit 7")
    try:
        job.run(sync=True)
    except RuntimeError as error:
        tap.contains("exit 7", str(error), error)
    else:
        raise AssertionError("a job that fails raises nothing")
    tap.equal((job.state.name, job.error.code), ("JOB_STATE_FAILED", 9))


CASES = [a_tuning_job_runs_and_shows_its_trials,
         a_job_keeps_what_has_no_effect_here,
         a_failed_job_says_why,
         jobs_are_cancelled_and_deleted,
         jobs_are_listed_in_pages_by_filter_and_mask,
         a_wrong_job_raises_invalid_argument_with_its_fields]

sdk.need()
with harness.Server("--auth", "none") as server:
    tap.run(sdk.of_each_version("jobs", use, CASES) + [
        a_job_of_the_sdk_waits_for_its_end,
        a_job_of_the_sdk_raises_what_went_wrong])
