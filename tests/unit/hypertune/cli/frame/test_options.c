#include "hypertune/cli/frame/options.h"

#include "tests/check.h"

struct target {
    bool loud, quiet;
    const char *name;
    int64_t count, span;
    struct words list;
};

static const struct option_spec table[] = {
    {"quiet", 'q', true, OPTION_FLAG, offsetof(struct target, quiet), NULL,
     "say less"},
    {"loud", 'l', false, OPTION_FLAG, offsetof(struct target, loud), NULL,
     "say more"},
    {"name", 0, false, OPTION_TEXT, offsetof(struct target, name), "NAME",
     "a name"},
    {"count", 'n', false, OPTION_WHOLE, offsetof(struct target, count), "N",
     "a count"},
    {"time", 't', false, OPTION_SPAN, offsetof(struct target, span), "TIME",
     "a time"},
    {"param", 0, false, OPTION_LIST, offsetof(struct target, list), "P",
     "a list"},
    {.name = NULL}};

struct reading {
    struct arena *arena;
    struct target target;
    struct option_result result;
    struct ht_error err;
    enum ht_status status;
};

/* Reads the words of `line`, apart by blanks. */
static void read_line(struct reading *reading, const char *allowed,
                      const char *line)
{
    *reading = (struct reading){.arena = arena_new()};
    char *argv[32];
    int argc = 0;
    char *rest = NULL;
    for (char *word = strtok_r(arena_strdup(reading->arena, line), " ", &rest);
         word != NULL; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    struct options_parser parser = {.arena = reading->arena,
                                    .table = table,
                                    .target = &reading->target,
                                    .allowed = allowed,
                                    .command = "hypertune try"};
    reading->status =
        cli_options_parse(&parser, argc, argv, &reading->result, &reading->err);
}

#define ALL "loud name count time param"

static void every_spelling_of_a_value_is_read(void)
{
    struct reading r;
    read_line(&r, ALL, "--name=a one --count 7 -t90s two -lq");
    CHECK(r.status == HT_OK);
    CHECK_TEXT(r.target.name, "a");
    CHECK(r.target.count == 7);
    CHECK(r.target.span == 90000);
    CHECK(r.target.loud && r.target.quiet);
    CHECK(r.result.words.n == 2);
    CHECK_TEXT(r.result.words.items[1], "two");
    CHECK(!r.result.has_rest);
    arena_free(r.arena);
}

static void lists_keep_every_item_in_order(void)
{
    struct reading r;
    read_line(&r, ALL, "--param a=1 --param=b=2 --param c --param d --param e");
    CHECK(r.status == HT_OK);
    CHECK(r.target.list.n == 5);
    CHECK_TEXT(r.target.list.items[1], "b=2");
    CHECK_TEXT(r.target.list.items[4], "e");
    arena_free(r.arena);
}

static void what_follows_two_dashes_is_left_alone(void)
{
    struct reading r;
    read_line(&r, ALL, "-l -- python --count x --");
    CHECK(r.status == HT_OK);
    CHECK(r.result.has_rest);
    CHECK(r.result.rest.n == 4);
    CHECK_TEXT(r.result.rest.items[1], "--count");
    CHECK_TEXT(r.result.rest.items[3], "--");
    CHECK(r.target.count == 0);
    arena_free(r.arena);
}

static void a_single_dash_is_a_word(void)
{
    struct reading r;
    read_line(&r, ALL, "-");
    CHECK(r.status == HT_OK);
    CHECK(r.result.words.n == 1);
    arena_free(r.arena);
}

static void an_unknown_option_names_the_nearest(void)
{
    struct reading r;
    read_line(&r, ALL, "--cuont 7");
    CHECK(r.status == HT_INVALID);
    CHECK_TEXT(r.err.text, "hypertune try has no option --cuont (did you mean "
                           "--count?)");
    arena_free(r.arena);
}

static void an_option_of_another_command_is_refused(void)
{
    struct reading r;
    read_line(&r, "name", "--count 7");
    CHECK(r.status == HT_INVALID);
    arena_free(r.arena);
    read_line(&r, "name", "-q");
    CHECK(r.status == HT_OK && r.target.quiet);
    arena_free(r.arena);
}

static void malformed_values_are_refused(void)
{
    static const char *const wrong[] = {
        "--count x", "--count -1", "--count 1x",
        "--count",   "--loud=yes", "-t soon",
        "-n",        "-z",         "--count 99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct reading r;
        read_line(&r, ALL, wrong[i]);
        CHECK(r.status == HT_INVALID);
        CHECK(r.err.text[0] != '\0');
        arena_free(r.arena);
    }
}

static void leading_options_end_at_the_command(void)
{
    struct arena *arena = arena_new();
    struct target target = {0};
    char quiet[] = "-q", list[] = "list", count[] = "--count";
    char *argv[] = {quiet, list, count};
    struct options_parser parser = {.arena = arena,
                                    .table = table,
                                    .target = &target,
                                    .allowed = "",
                                    .command = "hypertune"};
    int used = 0;
    CHECK(cli_options_parse_leading(&parser, 3, argv, &used, NULL) == HT_OK);
    CHECK(used == 1);
    CHECK(target.quiet);
    arena_free(arena);
}

static void help_lists_only_what_is_allowed(void)
{
    struct text out = {0};
    cli_options_help(table, "count", false, &out);
    CHECK_TEXT(out.data, "  -n, --count N               a count\n");
    text_clear(&out);
    cli_options_help(table, "count", true, &out);
    CHECK_TEXT(out.data, "  -q, --quiet                 say less\n");
    text_free(&out);
}

static void other_names_are_words_where_the_command_wants_them(void)
{
    struct reading r;
    read_line(&r, "count *", "study --lr=0.1 --count=3 --quiet -n4 --=x");
    CHECK(r.status == HT_INVALID);
    arena_free(r.arena);
    read_line(&r, "count *", "study --lr=0.1 --count=3 --quiet opt=a --a=b=c");
    CHECK(r.status == HT_OK && r.target.count == 3 && r.target.quiet);
    CHECK(r.result.words.n == 4);
    CHECK_TEXT(r.result.words.items[1], "lr=0.1");
    CHECK_TEXT(r.result.words.items[3], "a=b=c");
    arena_free(r.arena);
    read_line(&r, "count *", "study --lr 0.1");
    CHECK(r.status == HT_INVALID);
    CHECK_TEXT(r.err.text,
               "hypertune try has no option --lr; a value is --lr=VALUE");
    arena_free(r.arena);
    read_line(&r, "count", "--lr=0.1");
    CHECK(r.status == HT_INVALID);
    arena_free(r.arena);
}

int main(void)
{
    RUN(every_spelling_of_a_value_is_read);
    RUN(lists_keep_every_item_in_order);
    RUN(what_follows_two_dashes_is_left_alone);
    RUN(a_single_dash_is_a_word);
    RUN(an_unknown_option_names_the_nearest);
    RUN(an_option_of_another_command_is_refused);
    RUN(malformed_values_are_refused);
    RUN(leading_options_end_at_the_command);
    RUN(help_lists_only_what_is_allowed);
    RUN(other_names_are_words_where_the_command_wants_them);
    return check_done();
}
