#include "hypertune/cli/spec/spec.h"

#include <string.h>

#include "proto/doc/diag.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/job.h"
#include "tests/check.h"

/* The JSON that one --param gives, or "refused". */
static const char *param(const char *flag)
{
    static char shown[512];
    cJSON *object = cJSON_CreateObject();
    struct ht_error err;
    struct text out = {0};
    enum ht_status status = cli_flags_param(object, flag, &err);
    json_print(object, &out);
    snprintf(shown, sizeof shown, "%s", status == HT_OK ? out.data : "refused");
    text_free(&out);
    return shown;
}

static void ranges_say_their_kind(void)
{
    CHECK_TEXT(param("layers=1..8"),
               "{\"layers\":{\"type\":\"integer\",\"min\":1,\"max\":8}}");
    CHECK_TEXT(param("drop=0.0..0.5"),
               "{\"drop\":{\"type\":\"double\",\"min\":0,\"max\":0.5}}");
    CHECK_TEXT(param("lr=log:1e-5..0.1"),
               "{\"lr\":{\"type\":\"double\",\"min\":1e-05,\"max\":0.1,"
               "\"scale\":\"log\"}}");
    CHECK_TEXT(param("m=rlog:0.9..0.999"),
               "{\"m\":{\"type\":\"double\",\"min\":0.9,\"max\":0.999,"
               "\"scale\":\"reverse_log\"}}");
    CHECK_TEXT(param("x=real:0..1"),
               "{\"x\":{\"type\":\"double\",\"min\":0,\"max\":1}}");
    CHECK_TEXT(param("n=16..128:16"),
               "{\"n\":{\"type\":\"integer\",\"min\":16,\"max\":128,"
               "\"step\":16}}");
    CHECK_TEXT(param("t=-3..-1"),
               "{\"t\":{\"type\":\"integer\",\"min\":-3,\"max\":-1}}");
}

static void lists_keep_numbers_and_names_apart(void)
{
    CHECK_TEXT(param("opt=adam,sgd"), "{\"opt\":[\"adam\",\"sgd\"]}");
    CHECK_TEXT(param("batch=32,64"), "{\"batch\":[32,64]}");
    CHECK_TEXT(param("mix=1,a"), "{\"mix\":[1,\"a\"]}");
    CHECK_TEXT(param("one=7"), "{\"one\":[7]}");
    CHECK_TEXT(param("path=../data,./x"), "{\"path\":[\"../data\",\"./x\"]}");
}

static void what_is_no_form_is_refused(void)
{
    static const char *const wrong[] = {
        "lr",      "=1..2",   "lr=",   "lr=1..",      "lr=..2",
        "lr=a..b", "lr=1,,2", "lr=1,", "lr=log:1..b", "n=1..9:x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_TEXT(param(wrong[i]), "refused");
}

static void a_range_with_other_marks_is_named(void)
{
    static const struct {
        const char *given, *range;
    } wrong[] = {{"a=1-2", "a=1..2"},           {"a=1:8", "a=1..8"},
                 {"a=1...8", "a=1..8"},         {"a=-5--1", "a=-5..-1"},
                 {"a=1e-5-0.1", "a=1e-5..0.1"}, {"a=log:1-9", "a=log:1..9"}};
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ht_error err;
        CHECK(cli_flags_param(object, wrong[i].given, &err) == HT_INVALID);
        CHECK_TEXT(strrchr(err.text, ' ') + 1, wrong[i].range);
    }
    cJSON_Delete(object);
    CHECK_TEXT(param("day=2026-11"), "{\"day\":[\"2026-11\"]}");
    CHECK_TEXT(param("net=resnet-50"), "{\"net\":[\"resnet-50\"]}");
    CHECK_TEXT(param("x=-3"), "{\"x\":[-3]}");
}

static void the_same_parameter_twice_is_refused(void)
{
    struct ht_error err;
    cJSON *object = cJSON_CreateObject();
    CHECK(cli_flags_param(object, "lr=1..2", &err) == HT_OK);
    CHECK(cli_flags_param(object, "lr=3..4", &err) == HT_INVALID);
    CHECK_TEXT(err.text, "--param lr is given twice");
    cJSON_Delete(object);
}

static void flags_become_a_job(void)
{
    struct arena *arena = arena_new();
    struct words command = {0};
    words_add(arena, &command, "python");
    words_add(arena, &command, "train.py");
    struct cli_settings set = {.maximize = "accuracy",
                               .seed = "7",
                               .algorithm = "random",
                               .trials = 40,
                               .parallel = 2,
                               .retries = 3,
                               .max_failed = CLI_UNSET,
                               .trial_timeout_ms = 90000};
    words_add(arena, &set.params, "lr=log:1e-5..0.1");
    words_add(arena, &set.params, "opt=adam,sgd");
    words_add(arena, &set.until, "target=0.9");
    words_add(arena, &set.until, "time=2h");
    words_add(arena, &set.env, "DATA=/tmp/x=y");
    cJSON *spec = NULL;
    struct ht_error err;
    CHECK(cli_flags_spec(&set, &command, NULL, &spec, &err) == HT_OK);
    struct text json = {0};
    json_print(spec, &json);
    struct diag diag;
    diag_init(&diag, arena, "flags", json.data, json.len);
    const struct node *root = node_read_json(arena, json.data, json.len, &diag);
    const struct job *job = native_read(root, &diag);
    CHECK(job != NULL && diag.errors == 0);
    if (job != NULL) {
        CHECK(job->space.n == 2 && job->max_trials == 40);
        CHECK(job->parallel == 2 && job->retries == 3 && job->seed == 7);
        CHECK(job->until.has_target && job->until.target == 0.9);
        CHECK(job->until.time_ms == 7200000 && job->trial_timeout_ms == 90000);
        CHECK(job->metrics[0].maximize);
        CHECK_TEXT(job->pools[0].env.items[0].value, "/tmp/x=y");
    }
    text_free(&json);
    arena_free(arena);
}

static void what_is_missing_is_said(void)
{
    struct arena *arena = arena_new();
    struct ht_error err;
    cJSON *spec;
    struct words command = {0};
    struct cli_settings set = {.trials = CLI_UNSET};
    CHECK(cli_flags_spec(&set, &command, NULL, &spec, &err) == HT_INVALID);
    CHECK(strstr(err.text, "--maximize") != NULL);
    set.minimize = "loss";
    CHECK(cli_flags_spec(&set, &command, NULL, &spec, &err) == HT_INVALID);
    CHECK(strstr(err.text, "--param") != NULL);
    words_add(arena, &set.params, "lr=1..2");
    CHECK(cli_flags_spec(&set, &command, NULL, &spec, &err) == HT_INVALID);
    CHECK(strstr(err.text, "after --") != NULL);
    set.maximize = "accuracy";
    CHECK(cli_flags_spec(&set, &command, NULL, &spec, &err) == HT_INVALID);
    CHECK(strstr(err.text, "not both") != NULL);
    set.minimize = NULL;
    set.seed = "x";
    words_add(arena, &command, "true");
    CHECK(cli_flags_spec(&set, &command, NULL, &spec, &err) == HT_INVALID);
    CHECK(strstr(err.text, "--seed") != NULL);
    arena_free(arena);
}

int main(void)
{
    json_init();
    RUN(ranges_say_their_kind);
    RUN(lists_keep_numbers_and_names_apart);
    RUN(what_is_no_form_is_refused);
    RUN(a_range_with_other_marks_is_named);
    RUN(the_same_parameter_twice_is_refused);
    RUN(flags_become_a_job);
    RUN(what_is_missing_is_said);
    return check_done();
}
