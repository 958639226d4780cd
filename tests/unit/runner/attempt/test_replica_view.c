/* What a replica finds as a process and in a container: command, paths,
 * environment. */
#include "tests/check.h"

#include "proto/doc/json.h"
#include "runner/attempt/prepare.h"
#include "runner/attempt/replica_env.h"
#include "runner/attempt/replica_view.h"
#include "tests/lib/runner_fixture.h"

static const struct pair image_env[] = {{"PATH", "/opt/conda/bin:/bin"},
                                        {"LANG", "C.UTF-8"},
                                        {"MODE", "image"},
                                        {"PYTHONPATH", "/app"}};
static const char *const entrypoint[] = {"python3", "-m", "task"};
static const char *const command[] = {"--default"};
static const struct image image = {.entrypoint = {3, entrypoint},
                                   .command = {1, command},
                                   .env = {4, image_env},
                                   .workdir = "/app"};
static const struct pair runners_own[] = {{"HOME", "/home/runner"}};
static const struct site site = {.state = "/state",
                                 .programs = "/usr/lib/ht",
                                 .kit = "/usr/lib/ht/kit",
                                 .gcs_root = "/buckets",
                                 .slots = 2,
                                 .cores = 8,
                                 .inherited = {1, runners_own}};

static const struct pairs no_secrets;

/* An attempt of one replica; `members` and `own` begin with a comma. */
static struct order *make_order(const char *members, const char *own)
{
    struct text lease = {0};
    text_printf(&lease,
                "{\"study\":2,\"trial\":5,\"attempt\":1,\"token\":\"t\","
                "\"jobName\":\"j\",\"reportUrl\":\"tcp://127.0.0.1:1\","
                "\"captured\":[[\"PATH\",\"/home/me/venv/bin\"],"
                "[\"LD_LIBRARY_PATH\",\"/home/me/lib\"],"
                "[\"VIRTUAL_ENV\",\"/home/me/venv\"]]%s,"
                "\"replicas\":[{\"type\":\"master\",\"index\":0,"
                "\"image\":\"registry/x:1\"%s}]}",
                members, own);
    return runner_fixture_order(&lease);
}

static struct replica_view contained(const struct order *order)
{
    return replica_view_of_container(order->arena, &site, order, 0, &image,
                                     "tcp://172.20.0.1:4711");
}

static struct replica_view as_process(const struct order *order)
{
    return replica_view_of_process(order->arena, &site, order, 0,
                                   "/state/2/5/1/master-0");
}

static const char *joined(const struct order *order,
                          const struct strings *words)
{
    const char *line = "";
    for (size_t i = 0; i < words->n; i++)
        line = arena_printf(order->arena, "%s%s%s", line, i > 0 ? " " : "",
                            words->items[i]);
    return line;
}

static struct variables given_with(struct order *order,
                                   const struct replica_view *view,
                                   const struct pairs *secrets,
                                   const char *credentials)
{
    static struct replica_place place = {.address = "host:2222"};
    struct variables variables = {.arena = order->arena};
    const struct placement placement = {.n = 1, .replicas = &place};
    const struct replica_env env = {.site = &site,
                                    .order = order,
                                    .placement = &placement,
                                    .view = view,
                                    .secrets = secrets,
                                    .credentials = {.file = credentials}};
    replica_env_set(&variables, &env);
    return variables;
}

static struct variables given(struct order *order,
                              const struct replica_view *view,
                              const struct pairs *secrets)
{
    return given_with(order, view, secrets, NULL);
}

static const char *value_in(const struct variables *variables, const char *name)
{
    for (size_t i = 0; i < variables->n; i++) {
        if (strcmp(variables->items[i].name, name) == 0)
            return variables->items[i].value;
    }
    return "(unset)";
}

/* ---- the command ---- */

static void check_command(const char *own, const char *wanted)
{
    struct order *order = make_order("", own);
    const struct replica_view view = contained(order);
    CHECK_TEXT(joined(order, &view.argv), wanted);
    order_free(order);
}

static void the_image_decides_what_runs_unless_the_job_does(void)
{
    check_command("", "python3 -m task --default");
    check_command(",\"argv\":[\"--lr=1\"],\"entryWords\":0",
                  "python3 -m task --lr=1");
    check_command(",\"argv\":[\"sh\",\"-c\",\"x\",\"--lr=1\"],"
                  "\"entryWords\":3",
                  "sh -c x --lr=1");
    check_command(",\"argv\":[\"sh\"],\"entryWords\":1", "sh");
    check_command(",\"argv\":[\"a=${trialDir}/x\"],\"entryWords\":1",
                  "a=${trialDir}/x"); /* not asked for */
}

static void a_word_for_the_trial_s_folder_means_what_is_there(void)
{
    static const char own[] =
        ",\"argv\":[\"a\",\"${trialDir}/x:${trialDir}\"],\"entryWords\":2,"
        "\"env\":[[\"OUT\",\"${trialDir}/o\"]],\"workdir\":\"/w\"";
    struct order *order =
        make_order(",\"substitute\":true,\"ownWorkdir\":true", own);
    const struct replica_view there = contained(order);
    CHECK_TEXT(joined(order, &there.argv),
               "a /hypertune/trial/x:/hypertune/trial");
    const struct variables variables = given(order, &there, &no_secrets);
    CHECK_TEXT(value_in(&variables, "OUT"), "/hypertune/trial/o");
    const struct replica_view here = as_process(order);
    CHECK_TEXT(here.argv.items[1],
               arena_printf(order->arena, "%s/x:%s", here.folder, here.folder));
    CHECK_TEXT(here.workdir,
               arena_printf(order->arena, "%s/work", here.folder));
    CHECK_TEXT(here.copied, "/w");
    CHECK(there.copied == NULL);
    order_free(order);
}

static void an_image_without_a_command_needs_one(void)
{
    char folder[PATH_MAX];
    struct order *order = make_order("", "");
    const struct image empty = {.id = "sha256:0"};
    const struct replica_view view =
        replica_view_of_container(order->arena, &site, order, 0, &empty, NULL);
    struct replica_place place = {.address = "host:2222"};
    const struct placement placement = {.n = 1, .replicas = &place};
    struct ht_error err;
    CHECK(prepare_replicas(&site, order, &placement,
                           runner_fixture_folder(folder), &view,
                           &err) == HT_PRECONDITION);
    CHECK_TEXT(err.text,
               "image registry/x:1 has no command of its own: give one");
    order_free(order);
}

/* ---- the environment ---- */

static void a_container_has_the_images_environment_and_none_of_ours(void)
{
    struct order *order =
        make_order("", ",\"env\":[[\"MODE\",\"first\"],[\"EXTRA\",\"1\"],"
                       "[\"MODE\",\"job\"]]");
    const struct replica_view view = contained(order);
    const struct variables variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, "PATH"),
               "/hypertune/kit/bin:/opt/conda/bin:/bin");
    CHECK_TEXT(value_in(&variables, "LANG"), "C.UTF-8");
    CHECK_TEXT(value_in(&variables, "MODE"), "job");
    CHECK_TEXT(value_in(&variables, "EXTRA"), "1");
    CHECK_TEXT(value_in(&variables, "LD_LIBRARY_PATH"), "(unset)");
    CHECK_TEXT(value_in(&variables, "VIRTUAL_ENV"), "(unset)");
    CHECK_TEXT(value_in(&variables, "HOME"), "(unset)");
    CHECK(view.inherited.n == 2);
    CHECK_TEXT(view.inherited.items[0], "HOME");
    order_free(order);
}

static void a_container_is_reported_its_own_paths(void)
{
    struct order *order = make_order("", "");
    const struct replica_view view = contained(order);
    const struct variables variables = given(order, &view, &no_secrets);
    static const struct pair wanted[] = {
        {"HYPERTUNE_TRIAL_DIR", "/hypertune/trial"},
        {"HYPERTUNE_REPORT_FILE", "/hypertune/trial/reports.jsonl"},
        {"HYPERTUNE_TRIAL_TOKEN_FILE", "/hypertune/trial/token"},
        {"CLOUD_ML_HP_METRIC_FILE", "/hypertune/trial/output.metrics"},
        {"AIP_MODEL_DIR", "/hypertune/output/model"},
        {"AIP_CHECKPOINT_DIR", "/hypertune/output/checkpoints"},
        {"AIP_TENSORBOARD_LOG_DIR", "/hypertune/output/logs"},
        {"HYPERTUNE_REPORT_URL", "tcp://172.20.0.1:4711"},
        {"HYPERTUNE_KIT", "/hypertune/kit"},
        {"OMP_NUM_THREADS", "4"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        CHECK_TEXT(value_in(&variables, wanted[i].name), wanted[i].value);
    CHECK_TEXT(view.workdir, "/app");
    CHECK(view.makes == NULL);
    order_free(order);
}

static void a_container_without_a_way_to_the_server_has_no_url(void)
{
    struct order *order = make_order("", ",\"cpus\":2.5");
    const struct replica_view view =
        replica_view_of_container(order->arena, &site, order, 0, &image, NULL);
    const struct variables variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, "HYPERTUNE_REPORT_URL"), "(unset)");
    CHECK_TEXT(value_in(&variables, "OMP_NUM_THREADS"), "2");
    order_free(order);
}

static void a_process_has_the_submitting_shells_environment(void)
{
    struct order *order = make_order("", ",\"argv\":[\"a\"],\"env\":[["
                                         "\"VIRTUAL_ENV\",\"/mine\"]]");
    const struct replica_view view = as_process(order);
    const struct variables variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, "PATH"), "/home/me/venv/bin:/usr/lib/ht");
    CHECK_TEXT(value_in(&variables, "VIRTUAL_ENV"), "/mine");
    CHECK_TEXT(value_in(&variables, "HOME"), "/home/runner");
    CHECK_TEXT(value_in(&variables, "HYPERTUNE_TRIAL_DIR"),
               "/state/2/5/1/master-0");
    CHECK_TEXT(value_in(&variables, "AIP_MODEL_DIR"), "/state/2/5/model");
    CHECK_TEXT(value_in(&variables, "HYPERTUNE_REPORT_URL"),
               "tcp://127.0.0.1:1");
    CHECK_TEXT(value_in(&variables, "PYTHONPATH"), "/usr/lib/ht/kit/hook");
    CHECK_TEXT(view.makes, "/state/2/5");
    order_free(order);
}

static void later_attempts_are_reported_to_resume(void)
{
    struct order *order = make_order(",\"retries\":1", "");
    const struct replica_view view = contained(order);
    struct variables variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, "HYPERTUNE_RESUME"), "(unset)");
    order->key.attempt = 2;
    variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, "HYPERTUNE_RESUME"), "1");
    order_free(order);
}

static void secrets_are_variables_but_never_our_own(void)
{
    static const struct pair values[] = {{"KEY", "value"},
                                         {"HYPERTUNE_TRIAL_DIR", "/etc"}};
    const struct pairs secrets = {2, values};
    struct order *order = make_order("", ",\"env\":[[\"KEY\",\"job\"]]");
    const struct replica_view view = contained(order);
    const struct variables variables = given(order, &view, &secrets);
    CHECK_TEXT(value_in(&variables, "KEY"), "value");
    CHECK_TEXT(value_in(&variables, "HYPERTUNE_TRIAL_DIR"), "/hypertune/trial");
    order_free(order);
}

static void credentials_are_where_googles_libraries_look(void)
{
    static const char name[] = "GOOGLE_APPLICATION_CREDENTIALS";
    struct order *order = make_order("", ",\"argv\":[\"a\"]");
    struct replica_view view = contained(order);
    struct variables variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, name), "(unset)");
    variables = given_with(order, &view, &no_secrets, "/state/c.json");
    CHECK_TEXT(value_in(&variables, name), "/hypertune/credentials.json");
    view = as_process(order);
    variables = given_with(order, &view, &no_secrets, "/state/c.json");
    CHECK_TEXT(value_in(&variables, name), "/state/c.json");
    order_free(order);
    order = make_order("", ",\"env\":[[\"GOOGLE_APPLICATION_CREDENTIALS\","
                           "\"/mine\"]]");
    view = contained(order);
    variables = given_with(order, &view, &no_secrets, "/state/c.json");
    CHECK_TEXT(value_in(&variables, name), "/mine");
    order_free(order);
}

static void a_job_has_its_project_and_region(void)
{
    struct order *order =
        make_order(",\"project\":\"p\",\"location\":\"l\"",
                   ",\"env\":[[\"CLOUD_ML_REGION\",\"mine\"]]");
    const struct replica_view view = contained(order);
    const struct variables variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, "CLOUD_ML_PROJECT_ID"), "p");
    CHECK_TEXT(value_in(&variables, "CLOUD_ML_REGION"), "mine");
    CHECK_TEXT(value_in(&variables, "GOOGLE_CLOUD_PROJECT"), "(unset)");
    order_free(order);
}

/* ---- the reporter ---- */

static void our_package_is_offered_behind_the_images(void)
{
    struct order *order = make_order("", "");
    const struct replica_view view = contained(order);
    struct variables variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, "PYTHONPATH"), "/hypertune/kit/hook:/app");
    order_free(order);
    order = make_order("", ",\"env\":[[\"PYTHONPATH\",\"/mine\"]]");
    const struct replica_view process = as_process(order);
    variables = given(order, &process, &no_secrets);
    CHECK_TEXT(value_in(&variables, "PYTHONPATH"),
               "/usr/lib/ht/kit/hook:/mine");
    order_free(order);
}

static void our_package_comes_first_when_the_job_orders_it(void)
{
    struct order *order =
        make_order(",\"reporter\":\"python\"", ",\"argv\":[\"a\"]");
    struct replica_view view = contained(order);
    struct variables variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, "PYTHONPATH"),
               "/hypertune/kit/python:/app");
    view = as_process(order);
    variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, "PYTHONPATH"), "/usr/lib/ht/kit/python");
    order_free(order);
}

/* ---- gs:// ---- */

static void buckets_are_folders_only_when_job_and_admin_allow_it(void)
{
    static const char own[] =
        ",\"argv\":[\"gs://b/p\",\"--data=gs://b/x,gs://c/y\",\"logs://b\"],"
        "\"entryWords\":1,\"env\":[[\"AIP_TRAINING_DATA_URI\",\"gs://b/t\"],"
        "[\"DATA\",\"gs://b/d\"]]";
    struct order *order =
        make_order(",\"rewriteGs\":true,\"outputDir\":\"gs://out/job/5\"", own);
    struct replica_view view = contained(order);
    CHECK_TEXT(joined(order, &view.argv),
               "/gcs/b/p --data=/gcs/b/x,/gcs/c/y logs://b");
    struct variables variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, "AIP_MODEL_DIR"), "/gcs/out/job/5/model");
    CHECK_TEXT(value_in(&variables, "AIP_TRAINING_DATA_URI"), "/gcs/b/t");
    CHECK_TEXT(value_in(&variables, "DATA"), "gs://b/d");
    view = as_process(order);
    CHECK_TEXT(joined(order, &view.argv),
               "/buckets/b/p --data=/buckets/b/x,/buckets/c/y logs://b");
    CHECK_TEXT(view.makes, "/buckets/out/job/5");
    order_free(order);

    order = make_order(",\"outputDir\":\"gs://out/job/5\"", own);
    view = contained(order);
    CHECK_TEXT(joined(order, &view.argv),
               "gs://b/p --data=gs://b/x,gs://c/y logs://b");
    variables = given(order, &view, &no_secrets);
    CHECK_TEXT(value_in(&variables, "AIP_MODEL_DIR"), "gs://out/job/5/model");
    CHECK_TEXT(value_in(&variables, "AIP_TRAINING_DATA_URI"), "gs://b/t");
    order_free(order);
}

#define COPY "/state/2/5/1/master-0/work"

/* What the shell of another machine had of the folder is in the copy. */
static void paths_in_a_folder_that_travelled_are_those_of_the_copy(void)
{
    struct order *order = make_order(
        ",\"code\":{\"tree\":\"0123456789abcdef0123456789abcdef"
        "0123456789abcdef0123456789abcdef\",\"machine\":\"m\","
        "\"folder\":\"/home/me\"}",
        ",\"argv\":[\"/home/me/run\",\"--in=/home/me\",\"/home/me2\","
        "\"a/home/me\"],\"workdir\":\"/home/me\"");
    struct replica_view view = as_process(order);
    CHECK_TEXT(view.workdir, "/home/me");
    CHECK_TEXT(view.argv.items[0], "/home/me/run");
    order_copy_from(order, "/state/code/T");
    view = as_process(order);
    CHECK_TEXT(view.workdir, COPY);
    CHECK_TEXT(view.copied, "/state/code/T");
    CHECK_TEXT(view.argv.items[0], COPY "/run");
    CHECK_TEXT(view.argv.items[1], "--in=" COPY);
    CHECK_TEXT(view.argv.items[2], "/home/me2");
    CHECK_TEXT(view.argv.items[3], "a/home/me");
    CHECK_TEXT(view.base.items[0].value, COPY "/venv/bin");
    order_free(order);
}

int main(void)
{
    RUN(paths_in_a_folder_that_travelled_are_those_of_the_copy);
    json_init();
    runner_fixture_init();
    RUN(the_image_decides_what_runs_unless_the_job_does);
    RUN(a_word_for_the_trial_s_folder_means_what_is_there);
    RUN(an_image_without_a_command_needs_one);
    RUN(a_container_has_the_images_environment_and_none_of_ours);
    RUN(a_container_is_reported_its_own_paths);
    RUN(a_container_without_a_way_to_the_server_has_no_url);
    RUN(a_process_has_the_submitting_shells_environment);
    RUN(later_attempts_are_reported_to_resume);
    RUN(secrets_are_variables_but_never_our_own);
    RUN(credentials_are_where_googles_libraries_look);
    RUN(a_job_has_its_project_and_region);
    RUN(our_package_is_offered_behind_the_images);
    RUN(our_package_comes_first_when_the_job_orders_it);
    RUN(buckets_are_folders_only_when_job_and_admin_allow_it);
    runner_fixture_fini();
    return check_done();
}
