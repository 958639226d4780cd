#include <stdlib.h>

#include "tests/check.h"

#include "proto/base/limits.h"
#include "runner/reports/log.h"
#include "tests/lib/runner_fixture.h"

static const char lease[] =
    "{\"study\":2,\"trial\":5,\"attempt\":1,\"name\":\"n\",\"token\":\"t\","
    "\"graceMs\":1,\"metrics\":[],\"jobName\":\"j\",\"params\":{},"
    "\"secrets\":[{\"name\":\"KEY\",\"env\":\"KEY\"}],"
    "\"replicas\":[{\"type\":\"master\",\"index\":0,\"argv\":[\"x\"]}]}";

static void write_stderr(const char *folder, int64_t offset, const char *bytes,
                         size_t len)
{
    char path[PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/stderr.%012lld.log", folder,
                   (long long)offset);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fwrite(bytes, 1, len, file) == len);
    CHECK(file != NULL && fclose(file) == 0);
}

static void write_launch(const char *folder)
{
    static const char *const argv[] = {"x"};
    static const struct pair env[] = {{"KEY", "a-long-secret"}};
    const struct launch launch = {.argv = {1, argv}, .env = {1, env}};
    CHECK(folder_write_launch(folder, &launch, NULL) == HT_OK);
}

/* "" when there is none; owned by the caller. */
static char *line_of(const char *folder)
{
    struct order *order = NULL;
    struct ht_error err = {.text = ""};
    struct text line = {0};
    text_puts(&line, "");
    CHECK(order_parse(lease, sizeof lease - 1, &order, &err) == HT_OK);
    CHECK_TEXT(err.text, "");
    if (order != NULL)
        log_last_line(order, folder, "", &line);
    order_free(order);
    return line.data;
}

static void expect(const char *bytes, const char *want)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    write_launch(folder);
    write_stderr(folder, 0, bytes, strlen(bytes));
    char *line = line_of(folder);
    CHECK_TEXT(line, want);
    free(line);
}

static void the_last_line_with_a_text_is_reported(void)
{
    expect("", "");
    expect("one", "one");
    expect("one\ntwo\n", "two");
    expect("Traceback:\n  File x\nMemoryError: no\n\n  \n", "MemoryError: no");
    expect("failed\n=======\n-------\n", "failed");
    expect("\xd0\xbd\xd0\xb5\xd1\x82\n!!!\n", "\xd0\xbd\xd0\xb5\xd1\x82");
    expect("=====\n", "");
}

static void a_bar_of_progress_is_its_last_state(void)
{
    expect("start\r 10%\r 20%\r", "20%");
    expect("dos\r\nlines\r\n", "lines");
}

static void nothing_in_it_steers_a_terminal(void)
{
    expect("\033[1;31mValueError\033[0m: \tbad\a\n", "ValueError:  bad");
    expect("\033]0;a title\aone\033]8;;http://x\033\\two\n", "onetwo");
    expect("\033(Bold \xe2\x80\xaetxt\xc2\x9b\n", "old txt");
    expect("\033\xc3\xa9t\xc3\xa9\n", "\xc3\xa9t\xc3\xa9");
    expect("half a command \033[", "half a command");
    expect("caf\xc3\xa9 \xff\n", "caf\xc3\xa9 \xef\xbf\xbd");
}

static void a_long_line_is_cut_between_characters(void)
{
    struct text bytes = {0}, want = {0};
    for (int i = 0; i < LOG_LAST_LINE_CHARACTERS; i++)
        text_puts(&bytes, "x");
    expect(bytes.data, bytes.data);
    text_append(&want, bytes.data, LOG_LAST_LINE_CHARACTERS - 1);
    text_puts(&want, "\xe2\x80\xa6");
    text_puts(&bytes, "x");
    expect(bytes.data, want.data);
    text_clear(&bytes);
    text_clear(&want);
    text_puts(&bytes, "x");
    for (int i = 0; i < 150; i++)
        text_puts(&bytes, "\xe2\x82\xac"); /* three bytes, 150 characters */
    text_append(&want, bytes.data, 1 + 3 * ((LOG_LAST_LINE_BYTES - 3 - 1) / 3));
    text_puts(&want, "\xe2\x80\xa6");
    expect(bytes.data, want.data);
    text_free(&bytes);
    text_free(&want);
}

static void secrets_are_blanked(void)
{
    expect("bad key a-long-secret, sir\n", "bad key ***, sir");
}

static void without_the_secrets_nothing_is_reported(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    write_stderr(folder, 0, "bad key a-long-secret\n", 22);
    char *line = line_of(folder);
    CHECK_TEXT(line, "");
    free(line);
}

/* The end of a long stream, whose segments in between were dropped. */
/* What a slow link gets of `bytes`: "|" between chunks of about `most`. */
static void expect_chunks(const char *bytes, size_t most, const char *want)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    struct order *order = NULL;
    struct log_ship ship;
    struct log_chunk chunk;
    struct text got = {0};
    write_launch(folder);
    write_stderr(folder, 0, bytes, strlen(bytes));
    CHECK(order_parse(lease, sizeof lease - 1, &order, NULL) == HT_OK);
    log_ship_init(&ship, order, folder, "stderr", "");
    while (log_ship_next(&ship, 0, true, most, &chunk, &got)) {
        text_puts(&got, "|");
        log_ship_confirm(&ship, &chunk, 0);
    }
    CHECK_TEXT(got.data, want);
    text_free(&got);
    log_ship_fini(&ship);
    order_free(order);
}

static void chunks_for_a_slow_link_cut_no_secret_and_no_character(void)
{
    char bytes[600], want[600];
    (void)snprintf(bytes, sizeof bytes, "%0500d a-long-secret end", 0);
    (void)snprintf(want, sizeof want, "%0500d |*** end|", 0);
    expect_chunks(bytes, 0, want);
    (void)snprintf(bytes, sizeof bytes, "%0511d\xc3\xa9 end", 0);
    (void)snprintf(want, sizeof want, "%0511d|\xc3\xa9 end|", 0);
    expect_chunks(bytes, 100, want);
    (void)snprintf(want, sizeof want, "%0511d\xc3\xa9 end|", 0);
    expect_chunks(bytes, 1000, want);
}

static void the_end_is_read_across_segments(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    char *full = ht_xcalloc(HT_LOG_SEGMENT, 1);
    memset(full, 'y', HT_LOG_SEGMENT);
    write_launch(folder);
    write_stderr(folder, 0, full, HT_LOG_SEGMENT);
    memcpy(full + HT_LOG_SEGMENT - 8, "\nthe en", 7);
    full[HT_LOG_SEGMENT - 1] = 'd';
    write_stderr(folder, (int64_t)8 * HT_LOG_SEGMENT, full, HT_LOG_SEGMENT);
    write_stderr(folder, (int64_t)9 * HT_LOG_SEGMENT, " of it\n", 7);
    char *line = line_of(folder);
    CHECK_TEXT(line, "the end of it");
    free(line);
    free(full);
}

static void a_line_without_its_beginning_is_not_reported(void)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    char *full = ht_xcalloc(HT_LOG_SEGMENT, 1);
    memset(full, 'y', HT_LOG_SEGMENT);
    write_launch(folder);
    write_stderr(folder, 0, full, HT_LOG_SEGMENT);
    char *line = line_of(folder);
    CHECK_TEXT(line, "");
    free(line);
    free(full);
}

/* After a restart the chunks are others, and the server has stored the first
 * `had` bytes of what is sent. */
static void expect_the_rest(int64_t had)
{
    char path[PATH_MAX];
    const char *folder = runner_fixture_folder(path);
    struct log_ship ship;
    struct log_chunk chunk;
    struct text out = {0};
    log_ship_init(&ship, NULL, folder, "stderr", "");
    write_stderr(folder, 0, "0123456789", 10);
    CHECK(log_ship_next(&ship, 1000, true, 100, &chunk, &out));
    CHECK(chunk.offset == 0 && chunk.bytes == 10);
    log_ship_confirm(&ship, &chunk, had);
    text_clear(&out);
    CHECK(log_ship_next(&ship, 2000, true, 100, &chunk, &out));
    CHECK(chunk.offset == had && chunk.bytes == 10 - had);
    CHECK_TEXT(out.data, &"0123456789"[had]);
    log_ship_confirm(&ship, &chunk, 10);
    CHECK(!log_ship_next(&ship, 3000, true, 100, &chunk, &out) && ship.done);
    text_free(&out);
}

static void what_the_server_has_in_part_is_sent_to_its_end(void)
{
    expect_the_rest(1);
    expect_the_rest(7);
    expect_the_rest(9);
}

int main(void)
{
    runner_fixture_init();
    RUN(the_last_line_with_a_text_is_reported);
    RUN(a_bar_of_progress_is_its_last_state);
    RUN(nothing_in_it_steers_a_terminal);
    RUN(a_long_line_is_cut_between_characters);
    RUN(secrets_are_blanked);
    RUN(without_the_secrets_nothing_is_reported);
    RUN(chunks_for_a_slow_link_cut_no_secret_and_no_character);
    RUN(the_end_is_read_across_segments);
    RUN(what_the_server_has_in_part_is_sent_to_its_end);
    RUN(a_line_without_its_beginning_is_not_reported);
    runner_fixture_fini();
    return check_done();
}
