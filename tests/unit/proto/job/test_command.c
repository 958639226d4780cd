/* Words as a shell splits them, substitution, and the argument list. */
#include "proto/doc/json.h"
#include "proto/job/command.h"
#include "tests/check.h"

static struct arena *arena;

/* Words joined by '|', for one comparison. */
static const char *joined(struct strings words)
{
    struct text text = {0};
    for (size_t i = 0; i < words.n; i++)
        text_printf(&text, "%s%s", i > 0 ? "|" : "", words.items[i]);
    const char *result = arena_strdup(arena, text.data ? text.data : "");
    text_free(&text);
    return result;
}

static void words_split_as_in_a_shell(void)
{
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"python3 train.py", "python3|train.py"},
        {"  a \t b\n c ", "a|b|c"},
        {"a 'b c' \"d e\"", "a|b c|d e"},
        {"a\\ b c\\'d", "a b|c'd"},
        {"'a'\"b\"c", "abc"},
        {"a '' b", "a||b"},
        {"'$HOME `x` \\n'", "$HOME `x` \\n"},
        {"\"a\\\"b \\$x \\q\"", "a\"b $x \\q"},
        {"a \\\n b", "a|b"},
        {"sh -c 'exit 3' ${lr} *.c; x&&y", "sh|-c|exit 3|${lr}|*.c;|x&&y"},
        {"1 2 3 4 5 6 7 8 9 10", "1|2|3|4|5|6|7|8|9|10"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strings words = {0};
        CHECK(command_split(arena, cases[i].line, &words, NULL) == HT_OK);
        CHECK_TEXT(joined(words), cases[i].words);
    }
}

static void open_quotes_and_empty_lines_are_refused(void)
{
    static const char *const bad[] = {"a 'b", "a \"b", "\"a\\\"",
                                      "",     " \t",   "\\\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct strings words = {.n = 9};
        CHECK(command_split(arena, bad[i], &words, NULL) == HT_INVALID);
        CHECK(words.n == 9);
    }
}

static const char *const labels[] = {"adam", "s gd"};
static struct param params[] = {
    {.name = "lr", .type = PARAM_DOUBLE, .min = 0, .max = 1},
    {.name = "net/depth",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 9,
     .int_step = 1},
    {.name = "opt",
     .type = PARAM_CATEGORICAL,
     .n_values = 2,
     .labels = labels}};
static const struct value point[] = {{.real = 0.1}, {.whole = 3}, {.whole = 1}};

static struct job make_job(enum job_args_mode mode, bool substitute)
{
    return (struct job){.space = {.n = 3, .params = params},
                        .args_mode = mode,
                        .substitute = substitute};
}

static const char *const command[] = {"train", "--rate=${lr}", "${HOME}", "$lr",
                                      "${lr}${net/depth"};
static const char *const args[] = {"tail"};
static const struct pair env[] = {{"DEPTH", "<${net/depth}>"}};
static const struct pool pool = {.type = "master",
                                 .count = 1,
                                 .command = {5, command},
                                 .args = {1, args},
                                 .env = {1, env}};

static void unused_parameters_are_appended_in_order(void)
{
    struct job job = make_job(ARGS_AUTO, true);
    CHECK_TEXT(joined(command_line(arena, &job, &pool, point, 0)),
               "train|--rate=0.1|${HOME}|$lr|0.1${net/depth|tail|--opt=s gd");
    struct pairs variables = command_env(arena, &job, &pool, point, 0);
    CHECK(variables.n == 1);
    CHECK_TEXT(variables.items[0].name, "DEPTH");
    CHECK_TEXT(variables.items[0].value, "<3>");
}

static void args_modes_append_all_or_none(void)
{
    struct job job = make_job(ARGS_APPEND, true);
    CHECK_TEXT(joined(command_line(arena, &job, &pool, point, 0)),
               "train|--rate=0.1|${HOME}|$lr|0.1${net/depth|tail|--lr=0.1|"
               "--net/depth=3|--opt=s gd");
    job = make_job(ARGS_NONE, true);
    CHECK_TEXT(joined(command_line(arena, &job, &pool, point, 0)),
               "train|--rate=0.1|${HOME}|$lr|0.1${net/depth|tail");
}

static void other_forms_are_passed_untouched(void)
{
    struct job job = make_job(ARGS_AUTO, false);
    CHECK_TEXT(joined(command_line(arena, &job, &pool, point, 0)),
               "train|--rate=${lr}|${HOME}|$lr|${lr}${net/depth|tail|--lr=0.1|"
               "--net/depth=3|--opt=s gd");
    CHECK_TEXT(command_env(arena, &job, &pool, point, 0).items[0].value,
               "<${net/depth}>");
}

/* A flag for a value that does not exist would be a lie or an empty text. */
static void words_that_mention_an_absent_parameter_are_left_out(void)
{
    struct value absent[] = {point[0], point[1], point[2]};
    struct job job = make_job(ARGS_AUTO, true);
    absent[0].absent = absent[2].absent = true;
    CHECK_TEXT(joined(command_line(arena, &job, &pool, absent, 0)),
               "train|${HOME}|$lr|tail");
    CHECK(command_env(arena, &job, &pool, absent, 0).n == 1);
    absent[1].absent = true;
    CHECK(command_env(arena, &job, &pool, absent, 0).n == 0);
    job = make_job(ARGS_APPEND, true);
    absent[0].absent = false;
    CHECK_TEXT(joined(command_line(arena, &job, &pool, absent, 0)),
               "train|--rate=0.1|${HOME}|$lr|0.1${net/depth|tail|--lr=0.1");
    absent[0].absent = true;
    job.substitute = false; /* then a word mentions nothing */
    CHECK_TEXT(joined(command_line(arena, &job, &pool, absent, 0)),
               "train|--rate=${lr}|${HOME}|$lr|${lr}${net/depth|tail");
    CHECK_TEXT(joined(command_params(arena, &job.space, absent)), "");
}

static void of_one_name_the_value_that_exists_is_meant(void)
{
    struct param named[3] = {[0] = {.name = "lr", .type = PARAM_DOUBLE},
                             [1] = {.name = "lr", .type = PARAM_DOUBLE},
                             [2] = {.name = "opt", .type = PARAM_DOUBLE}};
    struct value at[] = {
        {.real = 0.5, .absent = true}, {.real = 0.25}, {.real = 3}};
    const char *words[] = {"train", "--rate=${lr}"};
    struct pool one = {.type = "master", .count = 1, .command = {2, words}};
    struct job job = make_job(ARGS_AUTO, true);
    job.space = (struct space){.n = 3, .params = named};
    CHECK_TEXT(joined(command_line(arena, &job, &one, at, 0)),
               "train|--rate=0.25|--opt=3");
    at[0].absent = false;
    at[1].absent = true;
    CHECK_TEXT(joined(command_line(arena, &job, &one, at, 0)),
               "train|--rate=0.5|--opt=3");
}

/* Google: $(NAME) is an earlier variable, $$(NAME) the text itself. */
static void variables_of_googles_forms_refer_to_earlier_ones(void)
{
    static const struct pair pairs[] = {{"A", "1"},
                                        {"B", "<$(A)$(C)>"},
                                        {"C", "$$(A) $(B) $(A"},
                                        {"A", "2$(A)"},
                                        {"D", "$(A)$$$()$$(x"}};
    static const char *const want[] = {"1", "<1$(C)>", "$(A) <1$(C)> $(A", "21",
                                       "21$$$()$$(x"};
    const struct pool google = {.type = "master", .env = {5, pairs}};
    struct job job = make_job(ARGS_AUTO, false);
    struct pairs read = command_env(arena, &job, &google, point, 0);
    CHECK(read.n == 5);
    for (size_t i = 0; i < read.n; i++)
        CHECK_TEXT(read.items[i].value, want[i]);
    job.substitute = true; /* the native form has no such references */
    CHECK_TEXT(command_env(arena, &job, &google, point, 0).items[1].value,
               "<$(A)$(C)>");
}

static void references_are_found_in_words_and_variables(void)
{
    const struct space space = {.n = 3, .params = params};
    const struct pool words = {.command = {1, command + 1}};
    const struct pool others = {.command = {2, command + 2}, .args = {1, args}};
    const struct pool variables = {.env = {1, env}};
    CHECK(command_has_reference(&space, &words));
    CHECK(command_has_reference(&space, &variables));
    CHECK(!command_has_reference(&space, &others));
}

static void parameters_alone_come_in_declared_order(void)
{
    struct space space = {.n = 3, .params = params};
    CHECK_TEXT(joined(command_params(arena, &space, point)),
               "--lr=0.1|--net/depth=3|--opt=s gd");
}

static void the_seed_is_the_number_of_the_repetition(void)
{
    static const char *const words[] = {"train", "--seed=${HYPERTUNE_SEED}",
                                        "${HYPERTUNE_SEEDS}"};
    static const struct pair variables[] = {{"RUN", "r${HYPERTUNE_SEED}"}};
    const struct pool seeded = {
        .count = 1, .command = {3, words}, .env = {1, variables}};
    struct job job = make_job(ARGS_NONE, true);
    CHECK_TEXT(joined(command_line(arena, &job, &seeded, point, 12)),
               "train|--seed=12|${HYPERTUNE_SEEDS}");
    CHECK_TEXT(command_env(arena, &job, &seeded, point, 12).items[0].value,
               "r12");
    job.substitute = false;
    CHECK_TEXT(joined(command_line(arena, &job, &seeded, point, 12)),
               "train|--seed=${HYPERTUNE_SEED}|${HYPERTUNE_SEEDS}");
}

static void all_texts_of_json_have_their_values(void)
{
    static const char json[] =
        "{\"a\":[\"--lr=${lr}\",{\"b\":\"${opt}${lr}\"},\"${HOME}\"],"
        "\"${lr}\":1.50,\"c\":\"${opt}\",\"s\":\"${HYPERTUNE_SEED}\"}";
    struct value absent[] = {point[0], point[1], point[2]};
    struct job job = make_job(ARGS_AUTO, true);
    CHECK_TEXT(command_json(arena, &job, json, point, 4),
               "{\"a\":[\"--lr=0.1\",{\"b\":\"s gd0.1\"},\"${HOME}\"],"
               "\"${lr}\":1.50,\"c\":\"s gd\",\"s\":\"4\"}");
    absent[2].absent = true;
    CHECK_TEXT(command_json(arena, &job, json, absent, 4),
               "{\"a\":[\"--lr=0.1\",{},\"${HOME}\"],\"${lr}\":1.50,"
               "\"s\":\"4\"}");
    absent[0].absent = true;
    CHECK_TEXT(command_json(arena, &job, json, absent, 4),
               "{\"a\":[{},\"${HOME}\"],\"${lr}\":1.50,\"s\":\"4\"}");
    job.substitute = false;
    CHECK_TEXT(command_json(arena, &job, json, point, 4), json);
    CHECK(command_json(arena, &job, NULL, point, 4) == NULL);
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(words_split_as_in_a_shell);
    RUN(open_quotes_and_empty_lines_are_refused);
    RUN(unused_parameters_are_appended_in_order);
    RUN(args_modes_append_all_or_none);
    RUN(other_forms_are_passed_untouched);
    RUN(words_that_mention_an_absent_parameter_are_left_out);
    RUN(of_one_name_the_value_that_exists_is_meant);
    RUN(variables_of_googles_forms_refer_to_earlier_ones);
    RUN(references_are_found_in_words_and_variables);
    RUN(parameters_alone_come_in_declared_order);
    RUN(the_seed_is_the_number_of_the_repetition);
    RUN(all_texts_of_json_have_their_values);
    arena_free(arena);
    return check_done();
}
