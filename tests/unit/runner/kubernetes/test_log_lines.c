/* Logs with timestamps: cuts anywhere, answers that repeat lines, and what is
 * no log. */
#include "runner/kubernetes/log_lines.h"

#include <string.h>

#include "proto/base/text.h"
#include "tests/check.h"

#define AT(second, rest) "2026-11-29T11:50:" second ".865628178Z " rest

static struct text taken;
static bool unbroken; /* the answer before ended well */

static void take(void *context, const char *text, size_t len)
{
    (void)context;
    text_append(&taken, text, len);
}

/* One answer in pieces of so many bytes; its mark where it has one. */
static struct kube_log_lines answer(struct kube_log_mark *mark, int64_t more,
                                    const char *bytes, size_t piece)
{
    struct kube_log_lines lines;
    const size_t len = strlen(bytes);
    const struct kube_log_place place = {*mark, more, unbroken};
    kube_log_begin(&lines, &place, take, NULL);
    for (size_t at = 0; at < len; at += piece)
        (void)kube_log_feed(&lines, bytes + at,
                            piece < len - at ? piece : len - at);
    (void)kube_log_end(&lines, mark);
    return lines;
}

static void expect(const char *text)
{
    CHECK_TEXT(text_string(&taken), text);
    text_clear(&taken);
}

static const char first[] =
    AT("18", "one\n") AT("18", "\n") AT("19", "\xc3\xa9 two\n") AT("19", "end");
static const char first_text[] = "one\n\n\xc3\xa9 two\nend";

static void cuts_anywhere_give_the_same_text(void)
{
    for (size_t piece = 1; piece < sizeof first; piece++) {
        struct kube_log_mark mark = {0};
        const struct kube_log_lines lines = answer(&mark, 0, first, piece);
        CHECK(lines.grew && lines.skip == 0 && !lines.missing);
        CHECK(mark.bytes == (int64_t)strlen("\xc3\xa9 two\nend"));
        CHECK_TEXT(mark.first, "2026-11-29T11:50:19.865628178Z");
        expect(first_text);
    }
}

static void an_answer_that_was_cut_continues_anywhere(void)
{
    static const char second[] =
        AT("19", "\xc3\xa9 two\n") AT("19", "end of it\n") AT("21", "last\n");
    for (size_t len = 1; len < sizeof first; len++) {
        struct kube_log_mark mark = {0};
        char cut[sizeof first];
        (void)snprintf(cut, len + 1, "%s", first);
        (void)answer(&mark, 0, cut, 7);
        const bool in_19 = strncmp(mark.first, "2026-11-29T11:50:19", 19) == 0;
        if (!in_19)
            (void)answer(&mark, 0, first, 7);
        const struct kube_log_lines lines = answer(&mark, 0, second, 5);
        CHECK(lines.grew && lines.skip == 0);
        expect("one\n\n\xc3\xa9 two\nend of it\nlast\n");
        (void)answer(&mark, 0, AT("21", "last\n"), 3);
        expect("");
    }
}

static void a_shorter_answer_leaves_the_mark(void)
{
    struct kube_log_mark mark = {0};
    (void)answer(&mark, 0, first, 100);
    const struct kube_log_mark before = mark;
    const struct kube_log_lines lines =
        answer(&mark, 0, AT("19", "\xc3\xa9 t"), 100);
    CHECK(lines.skip > 0 && !lines.grew);
    CHECK(mark.bytes == before.bytes);
    text_clear(&taken);
}

static void what_was_taken_behind_the_mark_is_not_taken_again(void)
{
    struct kube_log_mark mark = {0};
    (void)answer(&mark, 0, AT("18", "one\n"), 100);
    text_clear(&taken);
    (void)answer(&mark, 4, AT("18", "one\n") AT("19", "two\n") AT("19", "x\n"),
                 1);
    expect("x\n");
    CHECK(mark.bytes == 6);
}

static void an_older_line_is_taken_and_not_counted(void)
{
    struct kube_log_mark mark = {0};
    (void)answer(&mark, 0, AT("19", "one\n") AT("18", "late\n") AT("19", "b\n"),
                 100);
    expect("one\nlate\nb\n");
    (void)answer(&mark, 0, AT("19", "one\n") AT("19", "b\n") AT("19", "c\n"),
                 100);
    expect("c\n");
}

static void removed_lines_are_missed(void)
{
    struct kube_log_mark mark = {0};
    (void)answer(&mark, 0, first, 100);
    text_clear(&taken);
    const struct kube_log_lines lines = answer(&mark, 0, AT("20", "x\n"), 100);
    CHECK(lines.missing);
    expect("");
}

static void removed_lines_that_were_taken_are_not_missed(void)
{
    struct kube_log_mark mark = {0};
    (void)answer(&mark, 0, first, 100);
    text_clear(&taken);
    unbroken = true;
    const struct kube_log_lines lines = answer(
        &mark, 0,
        "2026-11-29T11:50:19.7Z c\n" AT("19", "end") "\n" AT("20", "x\n"), 1);
    CHECK(!lines.missing);
    expect("x\n");
    (void)answer(&mark, 0, AT("20", "x\n") AT("20", "y\n"), 1);
    expect("y\n");
    unbroken = false;
}

static void what_is_no_line_is_not_the_trial_s(void)
{
    struct kube_log_mark mark = {0};
    struct kube_log_lines lines =
        answer(&mark, 0, "unable to retrieve container logs\n", 3);
    CHECK(!lines.begun);
    CHECK_TEXT(lines.words, "unable to retrieve container logs");
    expect("");
    lines =
        answer(&mark, 0,
               "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx y\nx\n\n" AT(
                   "19", "a 2026-11-29T11:50:19.1Z b\n"),
               1);
    CHECK(lines.n_words == 0);
    expect("a 2026-11-29T11:50:19.1Z b\n");
}

int main(void)
{
    RUN(cuts_anywhere_give_the_same_text);
    RUN(an_answer_that_was_cut_continues_anywhere);
    RUN(a_shorter_answer_leaves_the_mark);
    RUN(what_was_taken_behind_the_mark_is_not_taken_again);
    RUN(an_older_line_is_taken_and_not_counted);
    RUN(removed_lines_are_missed);
    RUN(removed_lines_that_were_taken_are_not_missed);
    RUN(what_is_no_line_is_not_the_trial_s);
    text_free(&taken);
    return check_done();
}
