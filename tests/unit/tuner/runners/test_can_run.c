/* Jobs and runners that fit each other, and what is said when none does. */
#include "tests/lib/core_fixture.h"

#define SPEC(more) NAMED("s", more)
#define NAMED(name, more)                                                      \
    "spec: 1\nname: " name "\ngoal: maximize accuracy\n"                       \
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"                      \
    "algorithm: random\ntrials: 4\nparallel: 2\nseed: 1\n" more
#define IMAGE "image: registry.example.com/t:1\n"
#define COMMAND "command: [./train]\n"

/* The warnings of an answer as one text, a line each. */
static const char *warnings_of(struct request *req)
{
    struct text out = {0};
    const struct node *status =
        node_find(fixture_reply(req), "hypertuneStatus");
    const struct node *list = node_find(status, "warnings");
    for (const struct node *item = list ? list->first : NULL; item != NULL;
         item = item->next)
        text_printf(&out, "%s: %s\n", node_get_string(item, "field", "?"),
                    node_get_string(item, "description", "?"));
    const char *copy = arena_strdup(req->arena, out.data ? out.data : "");
    text_free(&out);
    return copy;
}

static void a_runner_is_given_what_it_can_run(struct fixture *f)
{
    fixture_hello_images(f, 4);
    fixture_submit(f, SPEC(COMMAND));
    struct request *held =
        fixture_post_control(f, "lease", f->next_id++, "\"free\":4");
    fixture_control(f, "heartbeat", "\"attempts\":[]");
    CHECK(!fixture_is_done(held));
    CHECK(fixture_await_reason(f, 1,
                               "2 of 2 wait: its trials run commands, and all "
                               "runners run images: start one with --engine "
                               "process"));
    f->boot = "boot-2";
    fixture_hello(f, 4);
    struct leased leased[2];
    CHECK(fixture_lease(f, 2, leased) == 2);
    fixture_wait(f, held);
}

static void
what_a_runner_can_survives_a_restart_of_the_server(struct fixture *f)
{
    fixture_hello_images(f, 1);
    fixture_stop(f);
    CHECK(fixture_start(f));
    fixture_submit(f, SPEC(IMAGE));
    fixture_lease_one(f);
    struct db *db = fixture_db(f);
    struct runner_list list;
    CHECK(db_runner_list(db, f->arena, &list, NULL) == HT_OK && list.n == 1);
    CHECK_TEXT(list.rows[0].rules, "{\"images\":true}");
    db_close(db);
}

static struct request *submit_text(struct fixture *f, const char *yaml)
{
    struct request *req = fixture_submit(f, yaml);
    if (req->status != HT_OK && req->status != HT_INVALID)
        printf("# %s\n", req->err.text);
    return req;
}

static void
what_every_runner_forbids_is_an_error_with_its_field(struct fixture *f)
{
    static const struct {
        const char *spec, *field;
    } cases[] = {
        {SPEC(IMAGE "container: {network: host}\n"),
         "hypertune.container.network"},
        {SPEC(IMAGE "container: {network: office}\n"),
         "hypertune.container.network"},
        {SPEC(IMAGE "container: {privileged: true}\n"),
         "hypertune.container.privileged"},
        {SPEC(IMAGE "container: {hostPid: true}\n"),
         "hypertune.container.hostPid"},
        {SPEC(IMAGE "volumes: ['/data/a:/a', '/etc:/etc2:ro']\n"),
         "hypertune.volumes[1]"},
        {SPEC(IMAGE "volumes: ['/database:/a']\n"), "hypertune.volumes[0]"},
        {SPEC(IMAGE "secrets: {KEY: {file: absent}}\n"),
         "hypertune.secrets.KEY"},
        {SPEC(IMAGE "secrets: {KEY: {env: ABSENT}}\n"),
         "hypertune.secrets.KEY"},
    };
    fixture_hello_rules(
        f, 1,
        "\"images\":true,\"volumeRoots\":[\"/data/\"],"
        "\"secrets\":[\"key\"],\"secretVariables\":[\"TOKEN\"]");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request *req = submit_text(f, cases[i].spec);
        CHECK(req->status == HT_INVALID);
        CHECK(strncmp(req->err.text, cases[i].field, strlen(cases[i].field)) ==
              0);
        CHECK(req->diag != NULL && req->diag->errors == 1);
    }
}

static void what_a_runner_allows_is_accepted(struct fixture *f)
{
    fixture_hello_rules(
        f, 1,
        "\"images\":true,\"volumeRoots\":[\"/data\"],"
        "\"allow\":[\"host-network\",\"privileged\"],"
        "\"secrets\":[\"key\"],\"secretVariables\":[\"TOKEN\"]");
    struct request *req = submit_text(
        f, SPEC(IMAGE "container: {network: host, privileged: true}\n"
                      "volumes: ['/data:/a']\n"
                      "secrets: {KEY: {file: key}, T: {env: TOKEN}}\n"));
    CHECK(req->status == HT_OK);
    CHECK_TEXT(warnings_of(req), "");
    const struct leased leased = fixture_lease_one(f);
    const struct node *container = node_find(leased.node, "container");
    CHECK_TEXT(node_get_string(container, "network", ""), "host");
    CHECK_TEXT(node_get_string(container, "pull", ""), "ifNotPresent");
    CHECK(node_get_bool(container, "privileged", false));
    CHECK_TEXT(node_find(leased.node, "volumes")->first->text, "/data:/a");
    const struct node *secret = node_find(leased.node, "secrets")->first;
    CHECK_TEXT(node_get_string(secret, "name", ""), "KEY");
    CHECK_TEXT(node_get_string(secret, "file", ""), "key");
    CHECK_TEXT(node_get_string(secret->next, "env", ""), "TOKEN");
}

static void without_a_runner_everything_is_accepted(struct fixture *f)
{
    struct request *req =
        submit_text(f, SPEC(IMAGE "container: {privileged: true}\n"));
    CHECK(req->status == HT_OK);
    CHECK_TEXT(warnings_of(req), "");
    CHECK_TEXT(fixture_study(f, 1).reason, "no runner is connected");
}

static void what_a_runner_to_come_may_offer_is_a_warning(struct fixture *f)
{
    fixture_hello(f, 1);
    struct request *req = submit_text(f, SPEC(IMAGE));
    CHECK(req->status == HT_OK);
    CHECK_TEXT(warnings_of(req),
               ": its trials run in images, and no runner does that: start "
               "one with --engine docker\n");
}

static void more_gpus_than_any_runner_has_are_told_at_once(struct fixture *f)
{
    fixture_stop(f);
    f->options.hold_ms = 1; /* nothing is there to be leased */
    CHECK(fixture_start(f));
    fixture_hello(f, 1);
    CHECK(fixture_control(f, "lease", "\"free\":0,\"gpus\":2")->status ==
          HT_OK);
    struct request *req =
        submit_text(f, SPEC(COMMAND "resources: {gpus: 3}\n"));
    CHECK(req->status == HT_OK);
    CHECK_TEXT(warnings_of(req), ": no trial can begin yet: each needs 3 GPUs, "
                                 "no runner has more than 2\n");
}

static void where_no_runner_suits_it_is_said_at_once(struct fixture *f)
{
    fixture_hello(f, 1);
    struct request *req = submit_text(f, SPEC(COMMAND "runOn: {gpu: a100}\n"));
    CHECK(req->status == HT_OK);
    CHECK_TEXT(warnings_of(req),
               ": no trial can begin yet: no runner has an a100\n");
    req = submit_text(f, NAMED("t", COMMAND "runOn: {label: {disk: fast}}\n"));
    CHECK_TEXT(warnings_of(req), ": no trial can begin yet: no runner has the "
                                 "label disk=fast\n");
    req = submit_text(f, NAMED("u", COMMAND));
    CHECK_TEXT(warnings_of(req), "");
}

static void shared_gpus_are_given_to_several_trials(struct fixture *f)
{
    fixture_hello_rules(f, 4, "\"images\":false,\"shareGpus\":true");
    fixture_submit(f, SPEC(COMMAND "resources: {gpus: 1}\n"));
    struct request *req = fixture_control(f, "lease", "\"free\":2,\"gpus\":1");
    struct leased leased[2];
    size_t n = fixture_leased(req, leased, 2);
    if (n < 2) /* the second trial was not chosen yet */
        n +=
            fixture_leased(fixture_control(f, "lease", "\"free\":1,\"gpus\":1"),
                           &leased[n], 1);
    CHECK(n == 2);
}

static void machine_types_limit_what_a_job_leaves_open(struct fixture *f)
{
    fixture_hello_rules(f, 4,
                        "\"images\":true,\"cpus\":4,\"memory\":8589934592");
    struct request *req =
        submit_text(f, SPEC(IMAGE "machine: n1-highmem-16\n"));
    CHECK(strstr(warnings_of(req),
                 "n1-highmem-16 of the master has 16 cores "
                 "and 104 GiB, the largest runner 4 and 8") != NULL);
    const struct leased leased = fixture_lease_one(f);
    const struct node *replica = node_find(leased.node, "replicas")->first;
    CHECK(node_get_double(replica, "cpus", 0) == 4);
    CHECK(node_get_int(replica, "memory", 0) == 8589934592);
}

static void an_unknown_machine_type_limits_nothing(struct fixture *f)
{
    fixture_hello_images(f, 4);
    struct request *req =
        submit_text(f, SPEC(IMAGE "machine: n1-standard-5\n"));
    CHECK(req->status == HT_OK);
    CHECK(strstr(warnings_of(req), "machine type n1-standard-5 of the master "
                                   "is not known here") != NULL);
    const struct leased leased = fixture_lease_one(f);
    const struct node *replica = node_find(leased.node, "replicas")->first;
    CHECK(node_get_double(replica, "cpus", -1) == 0);
    CHECK(node_get_int(replica, "memory", -1) == 0);
}

static void google_storage_without_a_way_in_is_warned_of_once(void)
{
    static const struct {
        const char *rules, *more;
        bool warned;
    } cases[] = {
        {"\"images\":true", "", true},
        {"\"images\":true,\"gcsRoot\":\"/srv\"", "", true},
        {"\"images\":true,\"gcsRoot\":\"/srv\"", "rewriteGs: true\n", false},
        {"\"images\":true", "env: {GOOGLE_APPLICATION_CREDENTIALS: /k}\n",
         false},
        {"\"images\":true,\"credentials\":[\"default\"]", "", false},
        {"\"images\":true,\"credentials\":[\"a@p\"]", "", true},
        {"\"images\":true,\"credentials\":[\"a@p\"]", "serviceAccount: a@p\n",
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        fixture_open(&f);
        fixture_hello_rules(&f, 1, cases[i].rules);
        const char *spec = arena_printf(
            f.arena, "%s%s",
            SPEC(IMAGE "command: [a, '--data=gs://b/p', 'gs://b/q']\n"),
            cases[i].more);
        struct request *req = submit_text(&f, spec);
        const char *warnings = warnings_of(req);
        const char *first = strstr(warnings, "gs://");
        CHECK((first != NULL) == cases[i].warned);
        CHECK(first == NULL || strchr(first, '\n')[1] == '\0');
        fixture_close(&f);
    }
}

/* ---- credentials ---- */

#define ACCOUNT "serviceAccount: a@p\n"
#define ANYBODYS "env: {GOOGLE_APPLICATION_CREDENTIALS: /k}\n"

static void an_account_without_credentials_is_a_warning(void)
{
    static const struct {
        const char *rules, *spec;
        bool warned;
    } cases[] = {
        {"\"images\":false", SPEC(COMMAND ACCOUNT), true},
        {"\"images\":false,\"credentials\":[\"b@p\",\"default\"]",
         SPEC(COMMAND ACCOUNT), true},
        {"\"images\":false,\"credentials\":[\"a@p\"]", SPEC(COMMAND ACCOUNT),
         false},
        {"\"images\":false", SPEC(COMMAND ACCOUNT ANYBODYS), false},
        {"\"images\":false", SPEC(COMMAND), false},
        /* Its kind cannot run the job. */
        {"\"images\":true,\"credentials\":[\"a@p\"]", SPEC(COMMAND ACCOUNT),
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        fixture_open(&f);
        fixture_hello_rules(&f, 1, cases[i].rules);
        struct request *req = submit_text(&f, cases[i].spec);
        CHECK(req->status == HT_OK);
        const char *said =
            strstr(warnings_of(req),
                   "trialJobSpec.serviceAccount: no runner has credentials of "
                   "a@p (--credentials DIR): trials run without\n");
        CHECK((said != NULL) == cases[i].warned);
        fixture_close(&f);
    }
}

static void an_attempt_names_its_account_project_and_region(struct fixture *f)
{
    struct leased leased = {0};
    fixture_hello(f, 1);
    fixture_submit(f, SPEC(COMMAND ACCOUNT));
    leased = fixture_lease_one(f);
    CHECK_TEXT(node_get_string(leased.node, "serviceAccount", ""), "a@p");
    const struct study_row study = fixture_study(f, 1);
    CHECK_TEXT(node_get_string(leased.node, "project", ""), study.project);
    CHECK_TEXT(node_get_string(leased.node, "location", ""), study.location);
}

#define PASSED(variable)                                                       \
    "{\"displayName\":\"c\",\"jobSpec\":{\"serviceAccount\":\"a@p\","          \
    "\"workerPoolSpecs\":[{\"containerSpec\":{\"command\":[\"a\","             \
    "\"gs://b\"]}}]},\"hypertune\":{\"capturedEnv\":[{\"name\":\"" variable    \
    "\",\"value\":\"/k\"}]}}"

static void credentials_that_were_passed_are_missed_by_nobody(void)
{
    static const struct {
        const char *job;
        bool warned;
    } cases[] = {{PASSED("GOOGLE_APPLICATION_CREDENTIALS"), false},
                 {PASSED("OTHER"), true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        fixture_open(&f);
        fixture_hello(&f, 1);
        struct request *req =
            fixture_call(&f, study_create_custom, NULL, cases[i].job);
        CHECK(req->status == HT_OK);
        const char *warnings = warnings_of(req);
        CHECK((strstr(warnings, "no runner has credentials") != NULL) ==
              cases[i].warned);
        CHECK((strstr(warnings, "no credentials for it") != NULL) ==
              cases[i].warned);
        fixture_close(&f);
    }
}

/* Else it would be chance whether a trial has its credentials. */
static void a_runner_leaves_a_job_to_one_with_its_credentials(struct fixture *f)
{
    struct leased leased = {0};
    fixture_hello(f, 4);
    fixture_submit(f, SPEC(COMMAND ACCOUNT));
    CHECK(fixture_lease(f, 1, &leased) == 1); /* nobody else is there */
    f->runner = "r2";
    fixture_hello_rules(f, 4, "\"images\":false,\"credentials\":[\"a@p\"]");
    f->runner = "r1";
    struct request *held =
        fixture_post_control(f, "lease", f->next_id++, "\"free\":3");
    fixture_control(f, "heartbeat",
                    "\"attempts\":[{\"study\":1,"
                    "\"trial\":1,\"attempt\":1}]");
    CHECK(!fixture_is_done(held));
    f->runner = "r2";
    leased = fixture_lease_one(f);
    CHECK(!fixture_is_done(held));
    fixture_stop(f);
    fixture_wait(f, held);
    CHECK(fixture_start(f));
}

int main(void)
{
    RUN_ON_CORE(a_runner_is_given_what_it_can_run);
    RUN_ON_CORE(what_a_runner_can_survives_a_restart_of_the_server);
    RUN_ON_CORE(what_every_runner_forbids_is_an_error_with_its_field);
    RUN_ON_CORE(what_a_runner_allows_is_accepted);
    RUN_ON_CORE(without_a_runner_everything_is_accepted);
    RUN_ON_CORE(what_a_runner_to_come_may_offer_is_a_warning);
    RUN_ON_CORE(more_gpus_than_any_runner_has_are_told_at_once);
    RUN_ON_CORE(where_no_runner_suits_it_is_said_at_once);
    RUN_ON_CORE(shared_gpus_are_given_to_several_trials);
    RUN_ON_CORE(machine_types_limit_what_a_job_leaves_open);
    RUN_ON_CORE(an_unknown_machine_type_limits_nothing);
    RUN(google_storage_without_a_way_in_is_warned_of_once);
    RUN(an_account_without_credentials_is_a_warning);
    RUN_ON_CORE(an_attempt_names_its_account_project_and_region);
    RUN(credentials_that_were_passed_are_missed_by_nobody);
    RUN_ON_CORE(a_runner_leaves_a_job_to_one_with_its_credentials);
    return check_done();
}
