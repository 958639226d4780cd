"""Vizier by the Python SDK: every method of its generated client over REST, and
the classes that people use, against a real server."""

import importlib

import harness
import sdk
import tap

server = None
api = None  # google.cloud.aiplatform_v1 or _v1beta1
vizier = None  # its client


def use(version):
    """Makes a client of a version of the API."""
    global api, vizier
    api = sdk.load(version)
    vizier = sdk.client(api, "VizierServiceClient", server)


def whole(name, low, high, **more):
    spec = {"min_value": low, "max_value": high}
    if "default" in more:
        spec["default_value"] = more.pop("default")
    return dict({"parameter_id": name, "integer_value_spec": spec}, **more)


def study(display, parent=sdk.PARENT, **spec):
    return vizier.create_study(parent=parent, study=api.Study(
        display_name=display, study_spec=sdk.simple(**spec)))


def values(trial):
    return {item.parameter_id: item.value for item in trial.parameters}


def measured(value, step=0, **more):
    return api.Measurement(step_count=step, metrics=[
        {"metric_id": "loss", "value": value}], **more)


def point(**named):
    return [{"parameter_id": name, "value": value}
            for name, value in named.items()]


def every_field_of_a_study_comes_back():
    child = sdk.real("momentum", 0, 0.9)
    spec = {
        "metrics": [sdk.metric(), sdk.metric(
            "size", "MAXIMIZE", safety_config={
                "safety_threshold": -0.5,
                "desired_min_safe_trials_fraction": 0.25})],
        "parameters": [
            sdk.real("rate", 1e-5, 0.1, default=0.01,
                     scale_type="UNIT_LOG_SCALE"),
            whole("layers", 0, 5, default=2, scale_type="UNIT_LINEAR_SCALE",
                  conditional_parameter_specs=[{
                      "parameter_spec": sdk.real("width", 1, 2),
                      "parent_int_values": {"values": [2, 3]}}]),
            {"parameter_id": "batch", "discrete_value_spec": {
                "values": [16, 32, 64.5], "default_value": 32},
             "scale_type": "UNIT_REVERSE_LOG_SCALE",
             "conditional_parameter_specs": [{
                 "parameter_spec": sdk.real("warm", -1, 1),
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
    made = vizier.create_study(parent=sdk.PARENT, study=api.Study(
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
        tap.equal(made.study_spec,
                  api.StudySpec(sdk.simple(**{rule: options})))
        tap.contains(rule, made.study_spec)
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
    sdk.refused(sdk.errors().NotFound, vizier.get_study, name=made[2].name)
    sdk.refused(sdk.errors().NotFound, vizier.lookup_study, request={
        "parent": alone, "display_name": made[2].display_name})
    sdk.refused(sdk.errors().Conflict, vizier.create_study, parent=alone,
                study=api.Study(display_name=made[1].display_name,
                                study_spec=sdk.simple()))


def a_wrong_study_raises_invalid_argument_with_its_fields():
    tap.equal(sdk.refused(
        sdk.errors().BadRequest, vizier.create_study, parent=sdk.PARENT,
        study=api.Study(display_name="wrong", study_spec={
            "metrics": [sdk.metric(goal=0)],
            "parameters": [sdk.real("x", 1, 0), sdk.real("y", 0, 1,
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
    tap.true(0 <= values(first)["x"] <= 1)
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
    sdk.refused(sdk.errors().BadRequest, vizier.complete_trial,
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
    sdk.refused(sdk.errors().NotFound, vizier.get_trial, name=done.name)
    tap.equal(vizier.get_trial(name=lost.name), lost)


def operations_are_kept_for_those_who_ask_again():
    made = study("operated " + api.__name__)
    answer = vizier.suggest_trials(request={
        "parent": made.name, "suggestion_count": 1, "client_id": "me"})
    name = answer.operation.name
    trial = answer.result().trials[0].name
    tap.starts(name, made.name + "/operations/")
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
        {"name": sdk.PARENT, "page_size": 2}).operations]
    tap.equal(every, [check, name])
    vizier.delete_operation({"name": name})
    sdk.refused(sdk.errors().NotFound, vizier.get_operation, {"name": name})


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
        tap.equal((trial.uid, abs(trial.parameters["x"].value) <= 2),
                  (n + 1, True))
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
    sdk.refused(sdk.errors().NotFound, classes.Study, made.resource_name)


def a_static_token_opens_the_server():
    global server
    with harness.Server("--runner", "none") as other:
        open_one, server = server, other
        try:
            use("v1")
            study("guarded")
            stranger = sdk.client(api, "VizierServiceClient", other, "wrong")
            try:
                stranger.list_studies(parent=sdk.PARENT)
                raise AssertionError("a wrong token opens the server")
            except sdk.auth_error():
                pass
        finally:
            server = open_one


CASES = [every_field_of_a_study_comes_back,
         each_stopping_rule_comes_back,
         what_only_the_beta_has_is_understood,
         studies_are_listed_looked_up_and_deleted,
         a_wrong_study_raises_invalid_argument_with_its_fields,
         trials_are_suggested_measured_and_completed,
         trials_are_added_stopped_and_deleted,
         operations_are_kept_for_those_who_ask_again]

sdk.need()
with harness.Server("--auth", "none") as server:
    tap.run(sdk.of_each_version("vizier", use, CASES) + [
        a_study_of_the_sdk_is_worked_through,
        a_static_token_opens_the_server])
