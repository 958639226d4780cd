#include "hypertune/cli/study/points.h"

#include "proto/doc/json.h"
#include "proto/space/constraint.h"
#include "tests/check.h"

/* lr in [0.1, 0.9], opt of adam and sgd, momentum only with sgd, fixed = 3. */
static const char *const optimizers[] = {"adam", "sgd"};
static const double threes[] = {3};
static const struct value with_sgd[] = {{.whole = 1}};
static struct condition sgd = {.parent = 1, .n = 1, .values = with_sgd};
static struct param params[] = {
    {.name = "lr", .type = PARAM_DOUBLE, .min = 0.1, .max = 0.9},
    {.name = "opt",
     .type = PARAM_CATEGORICAL,
     .n_values = 2,
     .labels = optimizers},
    {.name = "momentum",
     .type = PARAM_INTEGER,
     .int_min = 0,
     .int_max = 9,
     .int_step = 1,
     .when = &sgd},
    {.name = "fixed",
     .type = PARAM_DISCRETE,
     .n_values = 1,
     .numbers = threes}};
static const struct space space = {.n = 4, .params = params};
static const char *const rules[] = {"momentum < lr*10"};

struct fixture {
    struct arena *arena;
    struct diag diag;
    struct constraint_set constraints;
    struct cli_points points;
};

static void set_up(struct fixture *fixture)
{
    *fixture = (struct fixture){.arena = arena_new()};
    diag_init(&fixture->diag, fixture->arena, "points", NULL, 0);
    fixture->points = (struct cli_points){.constraints = &fixture->constraints,
                                          .diag = &fixture->diag};
    CHECK(constraint_set_parse(fixture->arena, &space, 1, rules,
                               &fixture->constraints, NULL) == HT_OK);
}

static void read_words(struct fixture *fixture, const char *line)
{
    struct words words = {0};
    char *rest = NULL;
    set_up(fixture);
    for (char *word = strtok_r(arena_strdup(fixture->arena, line), " ", &rest);
         word != NULL; word = strtok_r(NULL, " ", &rest))
        words_add(fixture->arena, &words, word);
    cli_points_words(&fixture->points, &words);
}

static void read_file(struct fixture *fixture, const char *content)
{
    set_up(fixture);
    cli_points_file(&fixture->points, content);
}

static void check_point(struct fixture *fixture, size_t i, const char *want)
{
    struct text out = {0};
    CHECK(i < fixture->points.n);
    if (i < fixture->points.n)
        space_point_text(&space, fixture->points.items[i], &out);
    CHECK_TEXT(out.data != NULL ? out.data : "", want);
    text_free(&out);
}

static void check_fault(struct fixture *fixture, int line, const char *said)
{
    struct text out = {0};
    CHECK(fixture->diag.errors == 1);
    diag_print(&fixture->diag, &out);
    CHECK(out.data != NULL && strstr(out.data, said) != NULL);
    CHECK(fixture->diag.first != NULL && fixture->diag.first->line == line);
    text_free(&out);
    arena_free(fixture->arena);
}

static void words_become_a_point_or_a_part_of_one(void)
{
    struct fixture f;
    read_words(&f, "opt=adam lr=0.5");
    CHECK(f.diag.errors == 0);
    check_point(&f, 0, "{\"lr\":0.5,\"opt\":\"adam\"}");
    arena_free(f.arena);
    read_words(&f, "momentum=4");
    CHECK(f.diag.errors == 0);
    check_point(&f, 0, "{\"momentum\":4}");
    arena_free(f.arena);
    read_words(&f, "fixed=3 opt=sgd lr=5e-1 momentum=4");
    check_point(&f, 0,
                "{\"lr\":0.5,\"opt\":\"sgd\",\"momentum\":4,\"fixed\":3}");
    arena_free(f.arena);
}

static void wrong_words_are_told_with_their_name(void)
{
    struct fixture f;
    read_words(&f, "opt=adam lrr=0.5");
    check_fault(&f, 0,
                "lrr: the study has no such parameter (did you mean "
                "\"lr\"?)");
    read_words(&f, "opt=adam lr=2");
    check_fault(&f, 0, "lr: 2 is outside [0.1, 0.9]");
    read_words(&f, "opt=sgd lr=0.3 momentum=3");
    check_fault(&f, 0,
                "constraint momentum < lr*10 does not hold for lr=0.3, "
                "momentum=3");
    read_words(&f, "opt=adam momentum=1 lr=0.5");
    check_fault(&f, 0,
                "momentum: \"momentum\" exists only beside other values of "
                "\"opt\"");
    read_words(&f, "opt=adam opt=sgd lr=0.5");
    check_fault(&f, 0, "opt: is given twice");
}

static void files_of_both_kinds_are_read(void)
{
    static const char one[] = "{\"lr\":0.2,\"opt\":\"adam\"}";
    static const char two[] = "{\"lr\":0.3,\"opt\":\"sgd\",\"momentum\":1}";
    static const char *const files[] = {
        "lr,momentum,opt\r\n0.2,,adam\r\n0.3,1,sgd\r\n",
        "{\"lr\":0.2,\"opt\":\"adam\"}\n\n"
        "{\"lr\":\"0.3\",\"opt\":\"sgd\",\"momentum\":1}",
        "[{\"lr\":0.2,\"opt\":\"adam\"},\n"
        "{\"lr\":0.3,\"opt\":\"sgd\",\"momentum\":1}]"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct fixture f;
        read_file(&f, files[i]);
        CHECK(f.diag.errors == 0 && f.points.n == 2);
        check_point(&f, 0, one);
        check_point(&f, 1, two);
        arena_free(f.arena);
    }
}

static void faults_of_a_file_have_their_line(void)
{
    struct fixture f;
    read_file(&f, "lr,opt\n0.2,adam\n0.95,adam\n");
    CHECK(f.points.n == 1);
    check_fault(&f, 3, "0.95 is outside");
    read_file(&f, "lr,momentum\n0.2,1\n0.1,9\n");
    CHECK(f.points.n == 1);
    check_fault(&f, 3, "constraint momentum < lr*10 does not hold");
    read_file(&f, "lr,op\n0.2,adam\n");
    check_fault(&f, 1, "op: the study has no such parameter");
    read_file(&f, "lr,opt,lr\n0.2,adam,0.3\n");
    check_fault(&f, 1, "lr: names two columns");
    read_file(&f, "lr,opt\n0.2\n");
    check_fault(&f, 2, "has 1 fields, the first line has 2");
    read_file(&f, "{\"lr\":0.2,\"opt\":\"adam\"}\n{\"lr\":}\n");
    check_fault(&f, 2, "expected a value");
    read_file(&f, "[1]");
    check_fault(&f, 1, "a point is an object");
    read_file(&f, "");
    CHECK(f.diag.errors == 0 && f.points.n == 0);
    arena_free(f.arena);
}

static void points_are_sent_in_googles_form(void)
{
    struct fixture f;
    struct text out = {0};
    read_words(&f, "opt=adam lr=0.1");
    json_print(cli_points_json(&space, f.points.items[0]), &out);
    CHECK_TEXT(out.data, "[{\"parameterId\":\"lr\",\"value\":0.1},"
                         "{\"parameterId\":\"opt\",\"value\":\"adam\"}]");
    text_free(&out);
    arena_free(f.arena);
}

int main(void)
{
    json_init();
    RUN(words_become_a_point_or_a_part_of_one);
    RUN(wrong_words_are_told_with_their_name);
    RUN(files_of_both_kinds_are_read);
    RUN(faults_of_a_file_have_their_line);
    RUN(points_are_sent_in_googles_form);
    return check_done();
}
