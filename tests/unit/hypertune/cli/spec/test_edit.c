#include "hypertune/cli/spec/edit.h"

#include <string.h>

#include "proto/base/text.h"
#include "proto/doc/diag.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "tests/check.h"

static const char spec[] =
    "spec: 1\n"
    "goal: maximize accuracy\n"
    "safety: memory <= 4\n"
    "parameters:\n"
    "  lr: {type: double, min: 0.001, max: 0.1, scale: log, default: 0.01}\n"
    "  drop: {type: double, min: 0, max: 1, step: 0.25}\n"
    "  layers: {type: integer, min: 1, max: 8}\n"
    "  batch: [16, 32, 64]\n"
    "  opt: {type: categorical, values: [adam, sgd, lion], default: lion}\n"
    "  momentum: {type: double, min: 0, max: 1, when: {opt: sgd}}\n"
    "constraints: ['layers <= batch']\n"
    "command: [train]\n";

static struct arena *arena;

/* The job of that spec, a new one each time. */
static struct job *a_job(void)
{
    struct diag diag;
    if (arena == NULL)
        arena = arena_new();
    diag_init(&diag, arena, "spec.yaml", spec, sizeof spec - 1);
    const struct node *root = node_read(arena, spec, sizeof spec - 1, &diag);
    struct job *job = native_read(root, &diag);
    CHECK(job != NULL);
    return job;
}

/* The differences that the edits make, the last one's error in their place; the
 * job must be one that a server reads. */
static const char *edits(const char *const words[])
{
    struct ht_error err;
    struct text lines = {0};
    struct diag diag;
    struct job *job = a_job();
    for (size_t i = 0; words[i] != NULL; i++)
        if (cli_edit_parameter(arena, job, words[i], &err) != HT_OK)
            return arena_strdup(arena, err.text);
    diag_init(&diag, arena, "job", NULL, 0);
    const char *json = json_text(arena, vertex_write(job));
    const struct node *root = node_read_json(arena, json, strlen(json), &diag);
    const struct job *read = vertex_read(root, JOB_TUNING, &diag);
    if (read == NULL)
        return diag.first->text;
    form_diff(a_job(), read, &lines);
    return lines.len > 0 ? text_take(&lines, arena) : "";
}

#define EDIT(...) edits((const char *const[]){__VA_ARGS__, NULL})

static void an_end_of_a_range_moves_alone_or_with_the_other(void)
{
    CHECK_TEXT(EDIT("lr=..0.5"), "parameters.lr.max: 0.1 -> 0.5\n");
    CHECK_TEXT(EDIT("lr=1e-4.."), "parameters.lr.min: 0.001 -> 0.0001\n");
    CHECK_TEXT(EDIT("lr=1e-4..0.5"), "parameters.lr.min: 0.001 -> 0.0001\n"
                                     "parameters.lr.max: 0.1 -> 0.5\n");
    CHECK_TEXT(EDIT("layers=-2..9007199254740993"),
               "parameters.layers.min: 1 -> -2\n"
               "parameters.layers.max: 8 -> 9007199254740993\n");
    CHECK_TEXT(EDIT("layers=..12", "layers=2.."),
               "parameters.layers.min: 1 -> 2\n"
               "parameters.layers.max: 8 -> 12\n");
}

static void a_step_is_kept_given_or_taken_away(void)
{
    CHECK_TEXT(EDIT("drop=..2"), "parameters.drop.max: 1 -> 2\n");
    CHECK_TEXT(EDIT("drop=..:0.5"), "parameters.drop.step: 0.25 -> 0.5\n");
    CHECK_TEXT(EDIT("drop=..:0"), "parameters.drop.step: 0.25 -> none\n");
    CHECK_TEXT(EDIT("drop=0.5..0.5"),
               "parameters.drop: {\"type\":\"double\",\"min\":0,\"max\":1,"
               "\"step\":0.25} -> [0.5]\n");
    CHECK_TEXT(EDIT("layers=2..8:2", "layers=4..4"),
               "parameters.layers: {\"type\":\"integer\",\"min\":1,\"max\":8}"
               " -> [4]\n");
    CHECK_TEXT(EDIT("layers=2..8:2"), "parameters.layers.min: 1 -> 2\n"
                                      "parameters.layers.step: none -> 2\n");
}

static void values_are_added_removed_or_all_given(void)
{
    CHECK_TEXT(EDIT("batch=+128,8"),
               "parameters.batch: [16,32,64] -> [8,16,32,64,128]\n");
    CHECK_TEXT(EDIT("batch=-16,64"), "parameters.batch: [16,32,64] -> [32]\n");
    CHECK_TEXT(EDIT("batch=+8,-16,+-1"),
               "parameters.batch: [16,32,64] -> [-1,8,32,64]\n");
    CHECK_TEXT(EDIT("batch=64,1e3"),
               "parameters.batch: [16,32,64] -> [64,1000]\n");
    CHECK_TEXT(EDIT("layers=-9..", "batch==-1,-2"),
               "parameters.layers.min: 1 -> -9\n"
               "parameters.batch: [16,32,64] -> [-2,-1]\n");
    CHECK_TEXT(EDIT("opt=+adamw"),
               "parameters.opt.values: [\"adam\",\"sgd\",\"lion\"] -> "
               "[\"adam\",\"sgd\",\"lion\",\"adamw\"]\n");
}

/* Values are stored by their places, which a removed one shifts. */
static void conditions_and_defaults_keep_their_values(void)
{
    CHECK_TEXT(EDIT("opt=-adam"), "parameters.opt.values: [\"adam\",\"sgd\","
                                  "\"lion\"] -> [\"sgd\",\"lion\"]\n");
    CHECK_TEXT(EDIT("opt=lion,sgd"), "parameters.opt.values: [\"adam\",\"sgd\","
                                     "\"lion\"] -> [\"lion\",\"sgd\"]\n");
    CHECK_TEXT(EDIT("opt=-sgd"),
               "opt: must keep sgd, with which momentum exists");
    CHECK_TEXT(EDIT("lr=0.02.."), "parameters.lr.min: 0.001 -> 0.02\n"
                                  "parameters.lr.default: 0.01 -> none\n");
}

static void what_is_no_edit_says_what_would_be_one(void)
{
    static const char ranges[] =
        "a range of numbers: 0.1..0.9, ..0.9, 0.1.., 0..1:0.25";
    static const char *const wrong[] = {"lr=",      "lr=..",   "lr=0.1",
                                        "lr=a..b",  "lr=1..:", "lr=0..1:x",
                                        "lr=nan..1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(strstr(EDIT(wrong[i]), ranges) != NULL);
    CHECK_TEXT(EDIT("layers=1.5..3"),
               "layers=1.5..3: layers needs a range of whole numbers: 1..8, "
               "..8, 1.., 16..128:16");
    CHECK_TEXT(EDIT("batch=1..8"),
               "batch=1..8: batch needs a list of numbers: +64,128 adds, -16 "
               "removes, 16,32 are all");
    CHECK_TEXT(EDIT("opt=+"), "opt=+: opt needs a list of values: +lion,adamw "
                              "adds, -sgd removes, adam,sgd are all");
    CHECK_TEXT(EDIT("lrr=1..2"),
               "there is no parameter \"lrr\" (did you mean lr?)");
}

static void a_space_without_points_is_refused(void)
{
    CHECK_TEXT(EDIT("lr=0.5.."),
               "lr: its low end 0.5 would be above its high end 0.1");
    CHECK_TEXT(EDIT("layers=9.."),
               "layers: its low end 9 would be above its high end 8");
    CHECK_TEXT(EDIT("lr=0..1"), "lr: its scale is logarithmic, so its low end "
                                "must be over 0, not 0");
    CHECK_TEXT(EDIT("drop=..0.1"),
               "drop: its step 0.25 must be over 0 and fit into the range");
    CHECK_TEXT(EDIT("layers=..:8"),
               "layers: its step 8 must be over 0 and fit into the range");
}

static void a_value_is_there_once_or_not_at_all(void)
{
    CHECK_TEXT(EDIT("batch=-16,32,64"), "batch: must keep at least one value");
    CHECK_TEXT(EDIT("batch=-17"), "batch: has no value 17");
    CHECK_TEXT(EDIT("opt=-lions"),
               "opt: has no value lions (did you mean lion?)");
    CHECK_TEXT(EDIT("opt=+lion"), "opt: has the value lion already");
    CHECK_TEXT(EDIT("opt=sgd,sgd"), "opt: the value sgd is given twice");
    CHECK_TEXT(EDIT("batch=16,16.0"), "batch: the value 16 is given twice");
}

static void a_type_or_scale_is_told_from_values(void)
{
    CHECK(cli_edit_names_kind("lr=log:1e-5..1"));
    CHECK(cli_edit_names_kind("lr=int:1..8"));
    CHECK(cli_edit_names_kind("lr=linear:..8"));
    CHECK(!cli_edit_names_kind("lr=1..8"));
    CHECK(!cli_edit_names_kind("opt=log:loss,abs"));
}

static void a_parameter_is_replaced_or_added(void)
{
    struct ht_error err;
    struct text lines = {0};
    struct job *job = a_job();
    const char *const labels[] = {"sgd", "rms"};
    struct param opt = {.name = "opt",
                        .type = PARAM_CATEGORICAL,
                        .n_values = 2,
                        .labels = labels};
    const struct param more = {
        .name = "more", .type = PARAM_DOUBLE, .min = 0, .max = 1};
    CHECK(cli_edit_replace(arena, job, &opt, &err) == HT_OK);
    CHECK(cli_edit_replace(arena, job, &more, &err) == HT_OK);
    form_diff(a_job(), job, &lines);
    CHECK_TEXT(lines.data,
               "parameters.opt: {\"type\":\"categorical\",\"values\":[\"adam\","
               "\"sgd\",\"lion\"],\"default\":\"lion\"} -> [\"sgd\",\"rms\"]\n"
               "parameters.more: none -> "
               "{\"type\":\"double\",\"min\":0,\"max\":1}\n");
    CHECK(job->space.params[5].when->values[0].whole == 0);
    opt.labels = &labels[1];
    opt.n_values = 1;
    CHECK(cli_edit_replace(arena, job, &opt, &err) == HT_INVALID);
    text_free(&lines);
}

static void a_constraint_comes_once(void)
{
    struct ht_error err;
    struct job *job = a_job();
    CHECK(cli_edit_add_constraint(arena, job, "lr < drop", &err) == HT_OK);
    CHECK(job->constraints.n == 2);
    CHECK_TEXT(job->constraints.items[1], "lr < drop");
    CHECK(cli_edit_add_constraint(arena, job, "lr<drop", &err) == HT_INVALID);
    CHECK_TEXT(err.text, "the constraint \"lr<drop\" is there already");
}

static void a_constraint_ends_by_its_words(void)
{
    struct ht_error err;
    struct job *job = a_job();
    CHECK(cli_edit_add_constraint(arena, job, "lr < drop", &err) == HT_OK);
    CHECK(cli_edit_remove_constraint(arena, job, "layers<= batch", &err) ==
          HT_OK);
    CHECK(job->constraints.n == 1);
    CHECK_TEXT(job->constraints.items[0], "lr < drop");
    CHECK(cli_edit_remove_constraint(arena, job, "lr < dro", &err) ==
          HT_NOT_FOUND);
    CHECK_TEXT(err.text,
               "there is no constraint \"lr < dro\"; the first is lr < drop");
}

static void a_bound_moves_but_not_to_the_other_side(void)
{
    struct ht_error err;
    struct job *job = a_job();
    struct metric_goal bound = {
        .name = "memory", .safety = true, .threshold = 5, .safe_share = 0.9};
    CHECK(cli_edit_bound(arena, job, &bound, &err) == HT_OK);
    CHECK(job->metrics[1].threshold == 5 && job->metrics[1].safe_share == 0.9);
    bound.safe_share = 0;
    CHECK(cli_edit_bound(arena, job, &bound, &err) == HT_OK);
    CHECK(job->metrics[1].safe_share == 0.9);
    bound.maximize = true;
    CHECK(cli_edit_bound(arena, job, &bound, &err) == HT_INVALID);
    CHECK_TEXT(err.text, "the bound of memory is <=, which cannot change");
    bound.name = "accuracy";
    CHECK(cli_edit_bound(arena, job, &bound, &err) == HT_NOT_FOUND);
}

static const char *rule(const char *text)
{
    cJSON *made = cJSON_CreateObject();
    cli_edit_add_rule(arena, made, text);
    return json_text(arena, made);
}

static void a_rule_may_have_options(void)
{
    CHECK_TEXT(rule("median"), "{\"earlyStopping\":\"median\"}");
    CHECK_TEXT(rule("asha:minSteps=2,by=time,pause"),
               "{\"earlyStopping\":{\"rule\":\"asha\",\"minSteps\":2,"
               "\"by\":\"time\",\"pause\":true}}");
}

int main(void)
{
    json_init();
    RUN(an_end_of_a_range_moves_alone_or_with_the_other);
    RUN(a_step_is_kept_given_or_taken_away);
    RUN(values_are_added_removed_or_all_given);
    RUN(conditions_and_defaults_keep_their_values);
    RUN(what_is_no_edit_says_what_would_be_one);
    RUN(a_space_without_points_is_refused);
    RUN(a_value_is_there_once_or_not_at_all);
    RUN(a_type_or_scale_is_told_from_values);
    RUN(a_parameter_is_replaced_or_added);
    RUN(a_constraint_comes_once);
    RUN(a_constraint_ends_by_its_words);
    RUN(a_bound_moves_but_not_to_the_other_side);
    RUN(a_rule_may_have_options);
    arena_free(arena);
    return check_done();
}
