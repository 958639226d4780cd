#include "tuner/store/tar.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "proto/base/text.h"
#include "tests/check.h"

static const struct tar_rules rules = {"top", 1234567890};

static bool has(const struct text *text, size_t at, const char *want)
{
    return at + strlen(want) <= text->len &&
           memcmp(text->data + at, want, strlen(want)) == 0;
}

static void a_small_file_has_one_block(void)
{
    struct text out = {0};
    const struct tree_entry entry = {
        .path = "a/b", .kind = TREE_FILE, .mode = 0755, .bytes = 513};
    tar_head(&out, &entry, &rules);
    CHECK(out.len == TAR_BLOCK);
    CHECK(has(&out, 0, "top/a/b") && out.data[7] == '\0');
    CHECK(has(&out, 100, "0000755"));
    CHECK(has(&out, 124, "00000001001"));
    CHECK(has(&out, 136, "11145401322"));
    CHECK(has(&out, 156, "0") && has(&out, 257, "ustar"));
    CHECK(tar_padding(513) == 511 && tar_padding(512) == 0);
    text_free(&out);
}

static void what_ustar_cannot_hold_is_in_records(void)
{
    struct text out = {0};
    const struct tree_entry entry = {.path = "\xc3\xa4",
                                     .kind = TREE_FILE,
                                     .mode = 0644,
                                     .bytes = 077777777777 + INT64_C(1)};
    tar_head(&out, &entry, &rules);
    CHECK(out.len == (size_t)3 * TAR_BLOCK);
    CHECK(has(&out, 156, "x") && has(&out, 124, "00000000042"));
    CHECK(has(&out, TAR_BLOCK, "15 path=top/\xc3\xa4\n19 size=8589934592\n"));
    CHECK(has(&out, 2 * TAR_BLOCK + 124, "00000000000"));
    text_free(&out);
}

/* What the record at the begin of a block says of its length is so. */
static void check_record(const char *record)
{
    char *end;
    const long len = strtol(record, &end, 10);
    CHECK(*end == ' ' && record[len - 1] == '\n' && record[len] == '\0');
}

static void a_record_of_any_length_says_how_long_it_is(void)
{
    char path[300];
    for (size_t n = 90; n < sizeof path - 1; n++) {
        struct text out = {0};
        memset(path, 'p', n);
        path[n] = '\0';
        const struct tree_entry entry = {.path = path, .kind = TREE_FILE};
        tar_head(&out, &entry, &rules);
        const size_t blocks = n + strlen("top/") > 100 ? 3 : 1;
        CHECK(out.len == blocks * TAR_BLOCK);
        if (blocks == 3)
            check_record(out.data + TAR_BLOCK);
        text_free(&out);
    }
}

int main(void)
{
    RUN(a_small_file_has_one_block);
    RUN(what_ustar_cannot_hold_is_in_records);
    RUN(a_record_of_any_length_says_how_long_it_is);
    return check_done();
}
