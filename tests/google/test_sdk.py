"""The Python SDK's generated clients over REST, every method of both services,
against a real server."""

import importlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import harness  # noqa: E402
import sdk  # noqa: E402
import tap  # noqa: E402

PARENT = "projects/lab/locations/us-central1"

server = None
api = None      # google.cloud.aiplatform_v1 or _v1beta1
vizier = None   # clients of it
jobs = None


def failure():
    """google.api_core.exceptions"""
    from google.api_core import exceptions
    return exceptions


def refused(kind, call, *arguments, **named):
    """The violated fields of the error that a call raises."""
    try:
        call(*arguments, **named)
    except kind as error:
        return sorted(violation["field"] for detail in error.details
                      for violation in detail.get("fieldViolations", []))
    raise AssertionError("%s: nothing was raised" % call)


def metric(name="loss", goal="MINIMIZE", **more):
    return dict({"metric_id": name, "goal": goal}, **more)


def real(name, low, high, **more):
    spec = {"min_value": low, "max_value": high}
    if "default" in more:
        spec["default_value"] = more.pop("default")
    return dict({"parameter_id": name, "double_value_spec": spec}, **more)


def whole(name, low, high, **more):
    spec = {"min_value": low, "max_value": high}
    if "default" in more:
        spec["default_value"] = more.pop("default")
    return dict({"parameter_id": name, "integer_value_spec": spec}, **more)


def simple(**more):
    """A search of one parameter."""
    return dict({"metrics": [metric()], "parameters": [real("x", 0, 1)],
                 "algorithm": "RANDOM_SEARCH"}, **more)


def study(display, parent=PARENT, **spec):
    return vizier.create_study(parent=parent, study=api.Study(
        display_name=display, study_spec=simple(**spec)))


def values(trial):
    return {item.parameter_id: item.value for item in trial.parameters}


def measured(value, step=0, **more):
    return api.Measurement(step_count=step, metrics=[
        {"metric_id": "loss", "value": value}], **more)


def point(**named):
    return [{"parameter_id": name, "value": value}
            for name, value in named.items()]


# --- Vizier ---

def every_field_of_a_study_comes_back():
    child = real("momentum", 0, 0.9)
    spec = {
        "metrics": [metric(), metric("size", "MAXIMIZE", safety_config={
            "safety_threshold": -0.5,
            "desired_min_safe_trials_fraction": 0.25})],
        "parameters": [
            real("rate", 1e-5, 0.1, default=0.01, scale_type="UNIT_LOG_SCALE"),
            whole("layers", 0, 5, default=2, scale_type="UNIT_LINEAR_SCALE",
                  conditional_parameter_specs=[{
                      "parameter_spec": real("width", 1, 2),
                      "parent_int_values": {"values": [2, 3]}}]),
            {"parameter_id": "batch", "discrete_value_spec": {
                "values": [16, 32, 64.5], "default_value": 32},
             "scale_type": "UNIT_REVERSE_LOG_SCALE",
             "conditional_parameter_specs": [{
                 "parameter_spec": real("warm", -1, 1),
                 "parent_discrete_values": {"values": [64.5]}}]},
            {"parameter_id": "opt", "categorical_value_spec": {
                "values": ["sgd", "adam"], "default_value": "adam"},
             "conditional_parameter_specs": [{
                 "parameter_spec": child,
                 "parent_categorical_values": {"values": ["sgd"]}}]}],
        "algorithm": "RANDOM_SEARCH",
        "observation_noise": "HIGH",
        "measurement_selection_type": "BEST_MEASUREMENT",
        "median_automated_stopping_spec": {"use_elapsed_duration": True},
        "study_stopping_config": {
            "should_stop_asap": True,
            "minimum_runtime_constraint": {"max_duration": "60s"},
            "maximum_runtime_constraint": {
                "end_time": "2099-12-31T23:59:59Z"},
            "min_num_trials": 3, "max_num_trials": 40,
            "max_num_trials_no_progress": 20}}
    made = vizier.create_study(parent=PARENT, study=api.Study(
        display_name="whole " + api.__name__, study_spec=spec))
    got = vizier.get_study(name=made.name)
    tap.equal(got, made)
    tap.equal((got.state, got.inactive_reason), (api.Study.State.ACTIVE, ""))
    want = api.StudySpec(spec)
    tap.equal(got.study_spec, want)


def each_stopping_rule_comes_back():
    rules = {
        "decay_curve_stopping_spec": {"use_elapsed_duration": True},
        "median_automated_stopping_spec": {},
        "convex_automated_stopping_spec": {
            "max_step_count": 100, "min_step_count": 10,
            "min_measurement_count": 5, "learning_rate_parameter_name": "x",
            "use_elapsed_duration": True, "update_all_stopped_trials": True}}
    for rule, options in rules.items():
        made = study("%s %s" % (rule, api.__name__), **{rule: options})
        tap.equal(made.study_spec, api.StudySpec(simple(**{rule: options})))
        tap.equal(rule in made.study_spec, True, rule)
    made = study("no progress " + api.__name__, study_stopping_config={
        "max_duration_no_progress": "90s",
        "maximum_runtime_constraint": {"max_duration": "3600s"},
        "minimum_runtime_constraint": {"end_time": "2030-01-01T00:00:00Z"}})
    config = made.study_spec.study_stopping_config
    tap.equal((config.max_duration_no_progress.seconds,
               config.maximum_runtime_constraint.max_duration.seconds,
               config.minimum_runtime_constraint.end_time.year),
              (90, 3600, 2030))


def what_only_the_beta_has_is_understood():
    if api.__name__.endswith("v1"):
        raise tap.Skip("of v1beta1 only")
    made = study("convex", convex_stop_config={
        "max_num_steps": 50, "min_num_steps": 5, "autoregressive_order": 2,
        "learning_rate_parameter_name": "x", "use_seconds": True})
    rule = made.study_spec.convex_automated_stopping_spec
    tap.equal((rule.max_step_count, rule.min_step_count,
               rule.use_elapsed_duration,
               rule.learning_rate_parameter_name), (50, 5, True, "x"))
    made = study("alone", transfer_learning_config={
        "disable_transfer_learning": True})
    tap.equal(made.study_spec.transfer_learning_config
              .disable_transfer_learning, True)


def studies_are_listed_looked_up_and_deleted():
    alone = "projects/listing/locations/%s" % api.__name__.split("_")[-1]
    made = [study("listed %d" % i, alone) for i in range(5)]
    pages = list(vizier.list_studies(
        request={"parent": alone, "page_size": 2}).pages)
    names = [one.name for page in pages for one in page.studies]
    tap.equal([len(page.studies) for page in pages], [2, 2, 1])
    tap.equal(names, [one.name for one in reversed(made)])
    tap.equal(vizier.lookup_study(request={
        "parent": alone, "display_name": made[2].display_name}), made[2])
    vizier.delete_study(name=made[2].name)
    refused(failure().NotFound, vizier.get_study, name=made[2].name)
    refused(failure().NotFound, vizier.lookup_study, request={
        "parent": alone, "display_name": made[2].display_name})
    refused(failure().Conflict, vizier.create_study, parent=alone,
            study=api.Study(display_name=made[1].display_name,
                            study_spec=simple()))


def a_wrong_study_raises_invalid_argument_with_its_fields():
    tap.equal(refused(
        failure().BadRequest, vizier.create_study, parent=PARENT,
        study=api.Study(display_name="wrong", study_spec={
            "metrics": [metric(goal=0)],
            "parameters": [real("x", 1, 0), real("y", 0, 1,
                                                 scale_type=2)]})),
        ["studySpec.metrics[0].goal"] +
        ["studySpec.parameters[%d].doubleValueSpec.minValue" % n
         for n in range(2)])


def trials_are_suggested_measured_and_completed():
    made = study("worked " + api.__name__)
    answer = vizier.suggest_trials(request={
        "parent": made.name, "suggestion_count": 2, "client_id": "me"})
    found = answer.result()
    tap.equal([(trial.id, trial.state, trial.client_id)
               for trial in found.trials],
              [(n, api.Trial.State.ACTIVE, "me") for n in "12"])
    tap.equal(found.study_state, api.Study.State.ACTIVE)
    tap.equal((found.end_time >= found.start_time,
               answer.metadata.client_id), (True, "me"))
    first, second = found.trials
    tap.equal(first.name, made.name + "/trials/1")
    tap.equal(0 <= values(first)["x"] <= 1, True)
    for step, value in ((1, 0.5), (2, 0.25), (2, 0.125)):
        shown = vizier.add_trial_measurement(request={
            "trial_name": first.name, "measurement": measured(
                value, step, elapsed_duration="%gs" % (1 / value))})
    tap.equal([(one.step_count, one.elapsed_duration.seconds,
                one.metrics[0].value) for one in shown.measurements],
              [(1, 2, 0.5), (2, 4, 0.25), (2, 8, 0.125)])
    check = vizier.check_trial_early_stopping_state(
        request={"trial_name": first.name})
    tap.equal((check.result().should_stop, check.metadata.study,
               check.metadata.trial), (False, made.name, first.name))
    done = vizier.complete_trial(request={"name": first.name})
    tap.equal((done.state, done.final_measurement.step_count,
               done.final_measurement.metrics[0].value),
              (api.Trial.State.SUCCEEDED, 2, 0.125))
    done = vizier.complete_trial(request={
        "name": second.name, "final_measurement": measured(0, 3)})
    # A value of zero is not sent, and means zero.
    tap.equal(done.final_measurement.metrics[0].value, 0)
    optimal = vizier.list_optimal_trials(request={"parent": made.name})
    tap.equal([trial.id for trial in optimal.optimal_trials], ["2"])
    refused(failure().BadRequest, vizier.complete_trial,
            request={"name": second.name})


def trials_are_added_stopped_and_deleted():
    made = study("added " + api.__name__)
    waiting = vizier.create_trial(parent=made.name, trial=api.Trial(
        parameters=point(x=0.25)))
    tap.equal((waiting.state, values(waiting)),
              (api.Trial.State.REQUESTED, {"x": 0.25}))
    done = vizier.create_trial(parent=made.name, trial=api.Trial(
        parameters=point(x=0), state="SUCCEEDED",
        final_measurement=measured(1.5, 7)))
    tap.equal((done.state, values(done), done.final_measurement.step_count),
              (api.Trial.State.SUCCEEDED, {"x": 0}, 7))
    given, = vizier.suggest_trials(request={
        "parent": made.name, "suggestion_count": 1,
        "client_id": "next"}).result().trials
    tap.equal((given.name, given.client_id), (waiting.name, "next"))
    tap.equal(vizier.stop_trial(request={"name": given.name}).state,
              api.Trial.State.STOPPING)
    tap.equal(vizier.check_trial_early_stopping_state(
        request={"trial_name": given.name}).result().should_stop, True)
    lost = vizier.complete_trial(request={
        "name": given.name, "trial_infeasible": True,
        "infeasible_reason": "no such disk"})
    tap.equal((lost.state, lost.infeasible_reason),
              (api.Trial.State.INFEASIBLE, "no such disk"))
    for n in range(3):
        vizier.create_trial(parent=made.name, trial=api.Trial(
            parameters=point(x=n / 4)))
    pages = list(vizier.list_trials(
        request={"parent": made.name, "page_size": 2}).pages)
    tap.equal([[trial.id for trial in page.trials] for page in pages],
              [["1", "2"], ["3", "4"], ["5"]])
    vizier.delete_trial(name=done.name)
    refused(failure().NotFound, vizier.get_trial, name=done.name)
    tap.equal(vizier.get_trial(name=lost.name), lost)


def operations_are_kept_for_those_who_ask_again():
    made = study("operated " + api.__name__)
    answer = vizier.suggest_trials(request={
        "parent": made.name, "suggestion_count": 1, "client_id": "me"})
    name = answer.operation.name
    trial = answer.result().trials[0].name
    tap.equal(name.startswith(made.name + "/operations/"), True)
    got = vizier.get_operation({"name": name})
    tap.equal((got.name, got.done), (name, True))
    tap.equal(vizier.wait_operation({"name": name}).done, True)
    vizier.cancel_operation({"name": name})
    listed = vizier.list_operations({"name": made.name})
    tap.equal([one.name for one in listed.operations], [name])
    check = vizier.check_trial_early_stopping_state(
        request={"trial_name": trial}).operation.name
    tap.equal(vizier.get_operation({"name": check}).name, check)
    every = [one.name for one in vizier.list_operations(
        {"name": PARENT, "page_size": 2}).operations]
    tap.equal(every, [check, name])
    vizier.delete_operation({"name": name})
    refused(failure().NotFound, vizier.get_operation, {"name": name})


# --- jobs ---

REPORT = "hypertune report loss=0.5 --step 3"


def pool(command, **more):
    return dict({"replica_count": 1, "container_spec": {
        "command": ["sh", "-c", command, "sh"]}}, **more)


def tuning(display, command=REPORT, **more):
    return api.HyperparameterTuningJob(dict({
        "display_name": display, "study_spec": simple(),
        "max_trial_count": 2, "parallel_trial_count": 1,
        "trial_job_spec": {"worker_pool_specs": [pool(command)]}}, **more))


def ended(get, name):
    def look():
        job = get(name=name)
        return job if job.end_time else None
    return harness.wait_until(look, name + " to end")


def start(display, command=REPORT, **more):
    return jobs.create_hyperparameter_tuning_job(
        parent=PARENT,
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
    tap.equal(job.create_time <= job.start_time <= job.end_time, True)


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
    made = jobs.create_custom_job(parent=PARENT, custom_job=api.CustomJob({
        "display_name": "kept", "job_spec": spec,
        "encryption_spec": {"kms_key_name": "key"}}))
    tap.equal(made.job_spec, api.CustomJobSpec(spec))
    tap.equal(made.encryption_spec.kms_key_name, "key")
    job = ended(jobs.get_custom_job, made.name)
    tap.equal((job.state, job.job_spec),
              (api.JobState.JOB_STATE_SUCCEEDED, made.job_spec))


def a_failed_job_says_why():
    made = jobs.create_custom_job(parent=PARENT, custom_job=api.CustomJob({
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
    refused(failure().NotFound, jobs.get_hyperparameter_tuning_job,
            name=made.name)
    made = jobs.create_custom_job(parent=PARENT, custom_job=api.CustomJob({
        "display_name": "long", "job_spec": {
            "worker_pool_specs": [pool("sleep 600")]}}))
    refused(failure().BadRequest, jobs.delete_custom_job, name=made.name)
    jobs.cancel_custom_job(name=made.name)
    job = ended(jobs.get_custom_job, made.name)
    tap.equal(job.state, api.JobState.JOB_STATE_CANCELLED)
    gone = jobs.delete_custom_job(name=made.name)
    gone.result(timeout=harness.PATIENCE)
    refused(failure().NotFound, jobs.get_custom_job, name=made.name)


def jobs_are_listed_in_pages_by_filter_and_mask():
    team = "blue" + api.__name__[-4:]
    made = [start("wait %d" % n, "sleep 600", labels={"team": team})
            for n in range(3)]
    one = jobs.create_custom_job(parent=PARENT, custom_job=api.CustomJob({
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
                    request=dict({"parent": PARENT}, **request)).pages]
    tap.equal(listed(page_size=2, filter='labels.team="%s"' % team),
              [[names[2], names[1]], [names[0]]])
    tap.equal(listed(filter='labels.team=%s AND display_name="wait 1"' % team),
              [[names[1]]])
    tap.equal(listed(filter='labels.team=%s AND NOT displayName:"wait*"' %
                     team), [[]])
    tap.equal(listed(filter='labels.team=%s AND create_time<'
                     '"2001-01-01T00:00:00Z"' % team), [[]])
    masked, = jobs.list_custom_jobs(request={
        "parent": PARENT, "filter": 'labels.team="%s"' % team,
        "read_mask": "name,displayName"})
    tap.equal(masked, api.CustomJob(name=alone, display_name="alone"))
    tap.equal(refused(failure().BadRequest, jobs.list_custom_jobs, request={
        "parent": PARENT, "filter": "colour=red", "page_token": "nonsense"}),
        ["filter", "pageToken"])


def a_wrong_job_raises_invalid_argument_with_its_fields():
    tap.equal(refused(
        failure().BadRequest, start, "wrong", max_trial_count=-1,
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
        tap.equal("exit 7" in str(error), True, error)
    else:
        raise AssertionError("a job that fails raises nothing")
    tap.equal((job.state.name, job.error.code), ("JOB_STATE_FAILED", 9))


def a_study_of_the_sdk_is_worked_through():
    sdk.high_level(server)
    try:
        classes = importlib.import_module("google.cloud.aiplatform.vizier")
    except ImportError as error:
        raise tap.Skip("google-vizier is not here: %s" % error)
    problem = classes.pyvizier.StudyConfig()
    problem.algorithm = classes.pyvizier.Algorithm.RANDOM_SEARCH
    problem.metric_information.append(classes.pyvizier.MetricInformation(
        name="y", goal=classes.pyvizier.ObjectiveMetricGoal.MAXIMIZE))
    problem.search_space.select_root().add_float_param("x", -2, 2)
    made = classes.Study.create_or_load("sdk parabola", problem)
    for n in range(3):
        trial, = made.suggest(count=1, worker="me")
        tap.equal((trial.uid, abs(trial.parameters["x"].value) <= 2), (n + 1, True))
        measurement = classes.pyvizier.Measurement()
        measurement.metrics["y"] = n
        trial.add_measurement(measurement)
        tap.equal(trial.should_stop(), False)
        tap.equal(trial.complete().metrics["y"].value, n)
        tap.equal(trial.status.name, "COMPLETED")
    tap.equal([trial.uid for trial in made.optimal_trials()], [3])
    tap.equal([trial.uid for trial in made.trials()], [1, 2, 3])
    made.get_trial(2).delete()
    tap.equal([trial.uid for trial in made.trials()], [1, 3])
    same = classes.Study.from_uid(made.resource_name.rsplit("/", 1)[1])
    tap.equal(same.resource_name, made.resource_name)
    made.delete()
    refused(failure().NotFound, classes.Study, made.resource_name)


VIZIER = [every_field_of_a_study_comes_back,
          each_stopping_rule_comes_back,
          what_only_the_beta_has_is_understood,
          studies_are_listed_looked_up_and_deleted,
          a_wrong_study_raises_invalid_argument_with_its_fields,
          trials_are_suggested_measured_and_completed,
          trials_are_added_stopped_and_deleted,
          operations_are_kept_for_those_who_ask_again]
JOBS = [a_tuning_job_runs_and_shows_its_trials,
        a_job_keeps_what_has_no_effect_here,
        a_failed_job_says_why,
        jobs_are_cancelled_and_deleted,
        jobs_are_listed_in_pages_by_filter_and_mask,
        a_wrong_job_raises_invalid_argument_with_its_fields]


def token_of(guarded):
    with open(guarded.token_file, encoding="ascii") as file:
        return file.read().strip()


def use(version):
    """Makes clients of a version of the API."""
    global api, vizier, jobs
    api = sdk.load(version)
    token = None if "--auth" in server.options else token_of(server)
    vizier = sdk.client(api, "VizierServiceClient", server, token)
    jobs = sdk.client(api, "JobServiceClient", server, token)


def of_version(version, service, case):
    """The case with the clients of a version; what it sends is recorded."""
    def run():
        use(version)
        with sdk.Recorder() as recorder:
            case()
        recorder.write("%s-%s" % (service, version), case.__name__)
    run.__name__ = "%s of %s" % (case.__name__, version)
    return run


def a_static_token_opens_the_server():
    global server
    with harness.Server("--runner", "none") as other:
        open_one, server = server, other
        try:
            use("v1")
            study("guarded")
            stranger = sdk.client(api, "VizierServiceClient", other, "wrong")
            try:
                stranger.list_studies(parent=PARENT)
                raise AssertionError("a wrong token opens the server")
            except sdk.auth_error():
                pass
        finally:
            server = open_one


def the_sdk_is_here():
    raise tap.Skip(sdk.ABSENT)


if not sdk.is_there():
    tap.run([the_sdk_is_here])
with harness.Server("--auth", "none") as server:
    tap.run([of_version(version, service, case)
             for version in ("v1", "v1beta1")
             for service, cases in (("vizier", VIZIER), ("jobs", JOBS))
             for case in cases] + [
                 a_job_of_the_sdk_waits_for_its_end,
                 a_job_of_the_sdk_raises_what_went_wrong,
                 a_study_of_the_sdk_is_worked_through,
                 a_static_token_opens_the_server])
