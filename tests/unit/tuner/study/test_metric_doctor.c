/* The sentences about a trial without its objective, and the pause of a study
 * whose first trials all lack it. */
#include "tuner/study/metric_doctor.h"

#include <string.h>

#include "tests/lib/core_fixture.h"
#include "tuner/study/pauses.h"

/* ---- sentences ---- */

static struct arena *arena;

static struct metric_diagnosis
examine(const char *evidence, const char *records, const struct job *job)
{
    struct diag diag;
    struct measurement_row row = {.replica = "worker-0", .metrics = records};
    diag_init(&diag, arena, "evidence", evidence, strlen(evidence));
    const struct metric_symptoms symptoms = {
        .job = job,
        .metric = "accuracy",
        .master = "master-0",
        .records = {.n = records != NULL, .rows = &row},
        .evidence =
            evidence[0] == '\0'
                ? NULL
                : node_read_json(arena, evidence, strlen(evidence), &diag)};
    return metric_doctor_examine(arena, &symptoms);
}

#define SEEN(name, file)                                                       \
    "{\"name\":\"" name "\",\"count\":2,\"first\":\"0.5\",\"last\":\"0.75\","  \
    "\"file\":\"" file "\",\"line\":3,\"replica\":\"master-0\"}"
#define COLUMN(name)                                                           \
    "{\"name\":\"" name "\",\"count\":0,\"file\":\"m.csv\",\"line\":1,"        \
    "\"replica\":\"master-0\"}"
#define NONE "\"names\":[]"
#define LACK "ended without reporting accuracy"

static void each_wrong_way_has_its_sentence(void)
{
    char *patterns[] = {(char[]){"acc={accuracy}"}};
    const struct job plain = {.n_metrics = 1};
    const struct job filed = {.n_metrics = 1, .metrics_file = "m.csv"};
    const struct job matched = {.n_metrics = 1,
                                .stdout_patterns = {1, (void *)patterns}};
    const struct job drawn = {.n_metrics = 1, .metrics_events = "logs"};
    static const char line[] =
        "{" NONE ",\"line\":{\"stream\":\"stdout\",\"line\":14,"
        "\"replica\":\"master-0\",\"text\":\"Accuracy: 0.93\","
        "\"name\":\"Accuracy\",\"before\":\"Accuracy: \"}}";
    const struct {
        const char *evidence, *records;
        const struct job *job;
        const char *want;
    } all[] = {
        {"", NULL, &plain, LACK},
        {"{" NONE "}", NULL, &plain, LACK},
        {"{" NONE "}", NULL, &drawn,
         LACK "; no event file below logs has a scalar"},
        {"{\"names\":[{\"name\":\"a/b\",\"count\":1,\"first\":\"1\","
         "\"last\":\"1\",\"file\":\"events.jsonl\",\"line\":1}]}",
         NULL, &drawn, LACK "; saw: a/b"},
        {"", "{\"acc\":1,\"loss\":2}", &plain,
         LACK "; saw: acc, loss; acc may be meant"},
        {"{\"names\":[" SEEN("loss", "reports.jsonl") "," SEEN(
             "acuracy", "reports.jsonl") "]}",
         NULL, &plain,
         LACK "; saw: loss, acuracy; acuracy (reports.jsonl, line 3) may be "
              "meant"},
        {"{\"names\":[" SEEN("loss", "output.metrics") "]}", NULL, &plain,
         LACK "; saw: loss"},
        {"", "{\"accuracy\":1}", &plain,
         LACK "; worker-0 reported accuracy, but only the reports of master-0 "
              "count"},
        {"{" NONE ",\"file\":{\"path\":\"m.csv\",\"state\":\"missing\"}}", NULL,
         &filed, LACK "; the metrics file m.csv is missing"},
        {"{" NONE ",\"file\":{\"path\":\"m.csv\",\"state\":\"empty\"}}", NULL,
         &filed, LACK "; the metrics file m.csv is empty"},
        {"{\"names\":[" COLUMN("step") "," COLUMN("loss") "]}", NULL, &filed,
         LACK "; m.csv has step, loss but no accuracy"},
        {line, NULL, &plain,
         LACK "; line 14 of stdout looks like it: Accuracy: 0.93"},
        {"{" NONE "}", NULL, &matched,
         LACK "; no line of stdout matches acc={accuracy}"},
        {"{" NONE ",\"elsewhere\":\"/tmp/x\"}", NULL, &plain,
         LACK "; /tmp/x was written meanwhile: the trial's own file is "
              "CLOUD_ML_HP_METRIC_FILE"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK_TEXT(examine(all[i].evidence, all[i].records, all[i].job).reason,
                   all[i].want);
    CHECK(strstr(examine(line, NULL, &plain).json,
                 "such lines are read with the pattern: Accuracy: {accuracy}"));
}

#define LINE(replica, text)                                                    \
    "{" NONE                                                                   \
    ",\"line\":{\"stream\":\"stdout\",\"line\":14,\"replica\":\"" replica      \
    "\",\"text\":\"" text "\",\"before\":\"Accuracy: \"}}"

static void a_pattern_is_offered_where_it_would_count(void)
{
    const struct job plain = {.n_metrics = 1};
    static const char offer[] = "\"pattern\":\"Accuracy: {accuracy}\"";
    CHECK(strstr(examine(LINE("master-0", "Accuracy: 0.93"), NULL, &plain).json,
                 offer) != NULL);
    CHECK(strstr(examine(LINE("worker-0", "Accuracy: 0.93"), NULL, &plain).json,
                 offer) == NULL);
    CHECK(strstr(examine(LINE("master-0", "Accuracy: none"), NULL, &plain).json,
                 offer) == NULL);
    const char *fraction =
        examine(LINE("master-0", "Accuracy: 8655/10000 (87%)"), NULL, &plain)
            .json;
    CHECK(strstr(fraction, "\"pattern\"") == NULL);
    CHECK(strstr(fraction, "it is a fraction") != NULL);
}

static void what_a_runner_sends_may_be_anything(void)
{
    const struct job plain = {.n_metrics = 1, .metrics_file = "m.csv"};
    static const char *const all[] = {
        "[]", "7", "{\"names\":7}", "{\"names\":[7,{\"name\":7}],\"line\":7}",
        "{\"names\":{},\"file\":[],\"elsewhere\":{}}"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK(strncmp(examine(all[i], NULL, &plain).reason, LACK,
                      strlen(LACK)) == 0);
}

/* ---- the pause ---- */

#define SPEC_OF(trials, parallel, more)                                        \
    "spec: 1\nname: s\ngoal: maximize accuracy\n"                              \
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"                      \
    "algorithm: random\ntrials: " trials "\nparallel: " parallel               \
    "\nseed: 1\nretries: 0\ncommand: [./train]\n" more
#define SPEC(parallel, more) SPEC_OF("9", parallel, more)

static void end_silent(struct fixture *f, const char *more)
{
    struct leased leased = fixture_begin(f);
    CHECK(fixture_tell(f, "ended", &leased.name,
                       "\"outcome\":\"succeeded\",\"exit\":0")
              ->status == HT_OK);
    CHECK(fixture_tell(f, "drained", &leased.name, more)->status == HT_OK);
}

static void a_study_pauses_after_its_first_silent_trials(struct fixture *f)
{
    static const char want[] =
        "paused, as the first 2 trials all " LACK
        "; saw: acuracy; acuracy (reports.jsonl, line 3) may be meant";
    static const char evidence[] =
        "\"evidence\":{\"names\":[" SEEN("acuracy", "reports.jsonl") "]}";
    fixture_submit(f, SPEC("2", ""));
    fixture_hello(f, 1);
    end_silent(f, evidence);
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    end_silent(f, evidence);
    CHECK(fixture_study(f, 1).state == STUDY_PAUSED);
    CHECK(fixture_await_reason(f, 1, want));
    fixture_stop(f);
    CHECK(fixture_start(f));
    fixture_control(f, "heartbeat", "\"attempts\":[]");
    CHECK_TEXT(fixture_study(f, 1).reason, want);
    CHECK(fixture_call(f, study_resume, "s", NULL)->status == HT_OK);
    for (int i = 0; i < 3; i++)
        end_silent(f, evidence);
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
}

static void the_last_trials_have_nothing_to_wait_for(struct fixture *f)
{
    fixture_submit(f, SPEC_OF("2", "2", ""));
    fixture_hello(f, 1);
    end_silent(f, "");
    end_silent(f, "");
    CHECK(fixture_study(f, 1).unreported_in_row == 2);
    CHECK(fixture_study(f, 1).state != STUDY_PAUSED);
}

static void one_result_is_enough_for_ever(struct fixture *f)
{
    struct leased leased = {0};
    fixture_submit(f, SPEC("1", ""));
    fixture_hello(f, 1);
    leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
    for (int i = 0; i < 4; i++)
        end_silent(f, "");
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    CHECK(fixture_study(f, 1).unreported_in_row == UNREPORTED_NEVER_PAUSES);
}

static void a_late_result_brings_the_study_back(struct fixture *f)
{
    fixture_submit(f, SPEC("2", ""));
    fixture_hello(f, 2);
    const struct leased leased = fixture_lease_one(f);
    end_silent(f, "");
    end_silent(f, "");
    CHECK(fixture_study(f, 1).state == STUDY_PAUSED);
    fixture_succeed(f, &leased, "0.5");
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
}

static void who_resumed_it_may_pause_it_for_good(struct fixture *f)
{
    fixture_submit(f, SPEC("2", ""));
    fixture_hello(f, 2);
    const struct leased leased = fixture_lease_one(f);
    end_silent(f, "");
    end_silent(f, "");
    CHECK(fixture_call(f, study_resume, "s", NULL)->status == HT_OK);
    CHECK(fixture_call(f, study_pause, "s", NULL)->status == HT_OK);
    fixture_succeed(f, &leased, "0.5");
    CHECK(fixture_study(f, 1).state == STUDY_PAUSED);
}

static void a_study_that_only_warns_goes_on(struct fixture *f)
{
    fixture_submit(f, SPEC("1", "metricDoctor: warn\n"));
    fixture_hello(f, 1);
    for (int i = 0; i < 4; i++)
        end_silent(f, "");
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
}

static void a_pause_of_the_user_is_his_own(struct fixture *f)
{
    struct leased leased[2];
    static const char well[] = "\"outcome\":\"succeeded\",\"exit\":0";
    fixture_submit(f, SPEC("2", ""));
    fixture_hello(f, 2);
    CHECK(fixture_lease(f, 2, leased) == 2);
    CHECK(fixture_call(f, study_pause, "s", NULL)->status == HT_OK);
    fixture_end_as(f, &leased[0], well);
    fixture_end_as(f, &leased[1], well);
    CHECK(fixture_study(f, 1).unreported_in_row == 0);
    CHECK(fixture_call(f, study_resume, "s", NULL)->status == HT_OK);
    end_silent(f, "");
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    end_silent(f, "");
    CHECK(fixture_study(f, 1).state == STUDY_PAUSED);
}

int main(void)
{
    arena = arena_new();
    RUN(each_wrong_way_has_its_sentence);
    RUN(a_pattern_is_offered_where_it_would_count);
    RUN(what_a_runner_sends_may_be_anything);
    RUN_ON_CORE(a_study_pauses_after_its_first_silent_trials);
    RUN_ON_CORE(the_last_trials_have_nothing_to_wait_for);
    RUN_ON_CORE(one_result_is_enough_for_ever);
    RUN_ON_CORE(a_late_result_brings_the_study_back);
    RUN_ON_CORE(who_resumed_it_may_pause_it_for_good);
    RUN_ON_CORE(a_study_that_only_warns_goes_on);
    RUN_ON_CORE(a_pause_of_the_user_is_his_own);
    arena_free(arena);
    return check_done();
}
