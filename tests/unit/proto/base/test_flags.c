#include "proto/base/flags.h"

#include "tests/check.h"

struct wanted {
    const char *place;
    int64_t seats;
    int64_t guests;
    int64_t wait_ms;
    bool loud;
    bool now;
};

#define MEMBER(name) offsetof(struct wanted, name)

static const struct flag table[] = {
    {"place", "DIR", FLAG_TEXT, MEMBER(place),
     "a place whose help is so long that it goes on in a second line of its "
     "own"},
    {"seats", "N", FLAG_COUNT, MEMBER(seats), "seats"},
    {"guests", "N", FLAG_POSITIVE, MEMBER(guests), "guests"},
    {"long-wait", "DURATION", FLAG_DURATION, MEMBER(wait_ms), "time to wait"},
    {"loud", NULL, FLAG_SWITCH, MEMBER(loud), "be loud"},
    {"now", NULL, FLAG_ORDER, MEMBER(now), "at once"},
};

static const struct flags flags = {
    .program = "party",
    .usage = "[flags]",
    .about = "Gives a party.",
    .prefix = "PARTY_",
    .items = table,
    .n = sizeof table / sizeof *table,
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

static void what_is_wrong_is_told_with_its_flag(void)
{
    CHECK(READ("--seats", "-1") == HT_INVALID);
    CHECK_TEXT(err.text, "--seats: \"-1\" is not a number from 0 to 1000");
    CHECK(READ("--guests=0") == HT_INVALID);
    CHECK_TEXT(err.text, "--guests: \"0\" is not a number from 1 to 1000");
    CHECK(READ("--guests=1001") == HT_INVALID);
    CHECK(READ("--guests=1x") == HT_INVALID);
    CHECK(READ("--long-wait", "soon") == HT_INVALID);
    CHECK_TEXT(err.text, "--long-wait: \"soon\" is not a duration such as 30m");
    CHECK(READ("--place") == HT_INVALID);
    CHECK_TEXT(err.text, "--place needs a value: DIR");
    CHECK(READ("--plac=a") == HT_INVALID);
    CHECK_TEXT(err.text, "unknown flag \"--plac=a\", see --help");
    CHECK(READ("more") == HT_INVALID);
    CHECK_TEXT(err.text, "unexpected argument \"more\"");
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
    RUN(every_kind_of_value_is_read);
    RUN(a_flag_wins_over_its_variable);
    RUN(what_is_wrong_is_told_with_its_flag);
    RUN(help_keeps_its_columns);
    RUN(the_version_is_shown_only_when_asked);
    text_free(&shown);
    return check_done();
}
