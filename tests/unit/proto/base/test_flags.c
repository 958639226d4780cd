#include "proto/base/flags.h"

#include <string.h>

#include "tests/check.h"

/* ---- the command ---- */

struct target {
    bool loud, quiet;
    const char *name;
    int64_t count, span;
    struct words list;
};

static const struct flag table[] = {
    {"quiet", NULL, offsetof(struct target, quiet), "say less", FLAG_TRUE, 'q',
     true},
    {"loud", NULL, offsetof(struct target, loud), "say more", FLAG_TRUE, 'l',
     false},
    {"name", "NAME", offsetof(struct target, name), "a name", FLAG_TEXT, 0,
     false},
    {"count", "N", offsetof(struct target, count), "a count", FLAG_WHOLE, 'n',
     false},
    {"time", "TIME", offsetof(struct target, span), "a time", FLAG_DURATION,
     't', false},
    {"param", "P", offsetof(struct target, list), "a list", FLAG_LIST, 0,
     false},
    {.name = NULL}};

struct reading {
    struct arena *arena;
    struct target target;
    struct flags_result result;
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
    struct flags_parser parser = {.arena = reading->arena,
                                  .table = table,
                                  .target = &reading->target,
                                  .allowed = allowed,
                                  .command = "hypertune try"};
    reading->status =
        flags_parse(&parser, argc, argv, &reading->result, &reading->err);
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
    struct flags_parser parser = {.arena = arena,
                                  .table = table,
                                  .target = &target,
                                  .allowed = "",
                                  .command = "hypertune"};
    int used = 0;
    CHECK(flags_parse_leading(&parser, 3, argv, &used, NULL) == HT_OK);
    CHECK(used == 1);
    CHECK(target.quiet);
    arena_free(arena);
}

static void help_lists_only_what_is_allowed(void)
{
    struct text out = {0};
    flags_help(table, "count", false, &out);
    CHECK_TEXT(out.data, "  -n, --count N               a count\n");
    text_clear(&out);
    flags_help(table, "count", true, &out);
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

/* ---- a server program ---- */

struct wanted {
    const char *place;
    int64_t seats;
    int64_t guests;
    int64_t wait_ms;
    bool loud;
    bool now;
};

#define MEMBER(name) offsetof(struct wanted, name)

static const struct flag server_table[] = {
    FLAG(
        "place", "DIR", FLAG_TEXT, MEMBER(place),
        "a place whose help is so long that it goes on in a second line of its "
        "own"),
    FLAG("seats", "N", FLAG_COUNT, MEMBER(seats), "seats"),
    FLAG("guests", "N", FLAG_POSITIVE, MEMBER(guests), "guests"),
    FLAG("long-wait", "DURATION", FLAG_DURATION, MEMBER(wait_ms),
         "time to wait"),
    FLAG("loud", NULL, FLAG_SWITCH, MEMBER(loud), "be loud"),
    FLAG("now", NULL, FLAG_ORDER, MEMBER(now), "at once"),
    {.name = NULL}};

static const struct flags flags = {
    .program = "party",
    .usage = "[flags]",
    .about = "Gives a party.",
    .prefix = "PARTY_",
    .table = server_table,
};

static struct wanted wanted;
static struct text shown;
static struct ht_error err;

/* What the environment holds: one variable, or none. */
static const char *variable;
static char value[16];

static char *look_up(const char *name)
{
    return variable != NULL && strcmp(name, variable) == 0 ? value : NULL;
}

#define READ(...) read_words((char *[]){"party", __VA_ARGS__, NULL})

static struct flags_source source_of(char *words[])
{
    int n = 0;
    while (words[n] != NULL)
        n++;
    return (struct flags_source){n, words, look_up};
}

static enum ht_status read_words(char *words[])
{
    const struct flags_source source = source_of(words);
    wanted = (struct wanted){0};
    return flags_read(&flags, &source, &wanted, &err);
}

static void set_variable(const char *name, const char *to)
{
    variable = name;
    snprintf(value, sizeof value, "%s", to);
}

static void every_kind_of_value_is_read(void)
{
    CHECK(READ("--place", "a", "--seats=0", "--guests", "1000", "--long-wait",
               "1.5s", "--loud", "--now") == HT_OK);
    CHECK_TEXT(wanted.place, "a");
    CHECK(wanted.seats == 0 && wanted.guests == 1000);
    CHECK(wanted.wait_ms == 1500 && wanted.loud && wanted.now);
    CHECK(READ("--loud", "--loud=0", "--place=") == HT_OK);
    CHECK(!wanted.loud);
    CHECK_TEXT(wanted.place, "");
}

static void a_flag_wins_over_its_variable(void)
{
    set_variable("PARTY_LONG_WAIT", "2s");
    CHECK(READ("--loud") == HT_OK && wanted.wait_ms == 2000);
    CHECK(READ("--long-wait=3s") == HT_OK && wanted.wait_ms == 3000);
    set_variable("PARTY_LONG_WAIT", "");
    CHECK(READ("--loud") == HT_OK && wanted.wait_ms == 0);
    set_variable("PARTY_NOW", "1");
    CHECK(READ("--loud") == HT_OK && !wanted.now);
    set_variable(NULL, "");
}

static void an_error_names_the_flag(void)
{
    CHECK(READ("--seats", "-1") == HT_INVALID);
    CHECK_TEXT(err.text, "--seats: \"-1\" is not a number from 0 to 1000");
    CHECK(READ("--guests=0") == HT_INVALID);
    CHECK_TEXT(err.text, "--guests: \"0\" is not a number from 1 to 1000");
    CHECK(READ("--guests=1001") == HT_INVALID);
    CHECK(READ("--guests=1x") == HT_INVALID);
    CHECK(READ("--long-wait", "soon") == HT_INVALID);
    CHECK_TEXT(err.text,
               "--long-wait needs a time such as 90s or 2h, not \"soon\"");
    CHECK(READ("--place") == HT_INVALID);
    CHECK_TEXT(err.text, "--place needs a value: --place DIR");
    CHECK(READ("--plac=a") == HT_INVALID);
    CHECK_TEXT(err.text, "party has no option --plac (did you mean --place?)");
    CHECK(READ("more") == HT_INVALID);
    CHECK_TEXT(err.text, "unexpected argument \"more\"");
    CHECK(READ("-x") == HT_INVALID);
    CHECK_TEXT(err.text, "unexpected argument \"-x\"");
    CHECK(READ("--", "--loud") == HT_INVALID);
    CHECK_TEXT(err.text, "party has no option --");
    set_variable("PARTY_SEATS", "two");
    CHECK(READ("--loud") == HT_INVALID);
    CHECK_TEXT(err.text, "PARTY_SEATS: --seats: \"two\" is not a number from "
                         "0 to 1000");
    set_variable(NULL, "");
}

static void help_keeps_its_columns(void)
{
    const struct flags_source source =
        source_of((char *[]){"party", "--place", "a", "-h", NULL});
    text_clear(&shown);
    CHECK(flags_show(&flags, &source, &shown));
    CHECK_TEXT(shown.data,
               "usage: party [flags]\n"
               "\n"
               "Gives a party.\n"
               "\n"
               "  --place DIR           a place whose help is so long that it "
               "goes on in a\n"
               "                        second line of its own\n"
               "                          or PARTY_PLACE\n"
               "  --seats N             seats\n"
               "                          or PARTY_SEATS\n"
               "  --guests N            guests\n"
               "                          or PARTY_GUESTS\n"
               "  --long-wait DURATION  time to wait\n"
               "                          or PARTY_LONG_WAIT\n"
               "  --loud                be loud\n"
               "                          or PARTY_LOUD\n"
               "  --now                 at once\n"
               "  --help                show this\n"
               "  --version             show the version\n");
}

static void the_version_is_shown_only_when_asked(void)
{
    const struct flags_source asked =
        source_of((char *[]){"party", "--version", "--help", NULL});
    const struct flags_source unasked =
        source_of((char *[]){"party", "--loud", NULL});
    text_clear(&shown);
    CHECK(!flags_show(&flags, &unasked, &shown));
    CHECK(shown.len == 0);
    CHECK(flags_show(&flags, &asked, &shown));
    CHECK_TEXT(shown.data, "party " HT_VERSION "\n");
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
    RUN(every_kind_of_value_is_read);
    RUN(a_flag_wins_over_its_variable);
    RUN(an_error_names_the_flag);
    RUN(help_keeps_its_columns);
    RUN(the_version_is_shown_only_when_asked);
    text_free(&shown);
    return check_done();
}
