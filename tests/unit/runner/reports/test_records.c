#include "tests/check.h"

#include "proto/doc/json.h"
#include "runner/reports/record_queue.h"
#include "runner/reports/records.h"
#include "tests/lib/runner_fixture.h"

static char folder_path[PATH_MAX];
static struct order *order;

/* A collector whose order has metrics acc and loss, and these members. */
static struct records *new_records(const char *more)
{
    struct text json = {0};
    text_printf(&json,
                "{\"study\":1,\"trial\":1,\"attempt\":1,\"token\":\"t\","
                "\"metrics\":[\"acc\",\"loss\"],%s\"replicas\":[{\"type\":"
                "\"master\",\"index\":0,\"argv\":[\"x\"]}]}",
                more);
    struct ht_error err;
    CHECK(order_parse(json.data, json.len, &order, &err) == HT_OK);
    text_free(&json);
    struct records *records =
        records_new(order, 0, runner_fixture_folder(folder_path), NULL);
    CHECK(records_begin(records, folder_path, true, &err) == HT_OK);
    return records;
}

static void end_records(struct records *records)
{
    records_free(records);
    order_free(order);
}

static void write_file(const char *name, const char *mode, const char *text)
{
    char path[PATH_MAX + 40];
    (void)snprintf(path, sizeof path, "%s/%s", folder_path, name);
    FILE *file = fopen(path, mode);
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Everything that may be sent after `beat`, as it would be sent. */
static struct text collect(struct records *records, int64_t beat, bool final)
{
    struct text out = {0};
    text_puts(&out, "");
    while (records_collect(records, beat, final))
        continue;
    struct record_queue *queue = records_queue(records);
    while (record_queue_is_ready(queue, beat)) {
        record_queue_batch(queue, beat, RECORD_BATCH_BYTES, NULL, &out);
        record_queue_confirm(queue);
    }
    return out;
}

static void expect(struct records *records, const char *want)
{
    struct text got = collect(records, 1, false);
    CHECK_TEXT(got.data, want);
    text_free(&got);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)) != NULL; text++)
        n++;
    return n;
}

#define RECORD(n)                                                              \
    "{\"w\":\"00000000000000aa\",\"n\":" #n ",\"t\":5,\"s\":" #n               \
    ",\"m\":{\"acc\":0.5},\"c\":\"\"}"

static void our_own_records_pass_unchanged(void)
{
    struct records *records = new_records("");
    write_file("reports.jsonl", "w", RECORD(1) "\n" RECORD(2) "\n");
    expect(records, "[" RECORD(1) "," RECORD(2) "]");
    write_file("reports.jsonl", "a", RECORD(3) "\n");
    expect(records, "[" RECORD(3) "]");
    end_records(records);
}

static void malformed_lines_are_skipped_and_counted(void)
{
    struct records *records = new_records("");
    write_file("reports.jsonl", "w", "{\n\nnonsense\n" RECORD(1) "\n");
    write_file("reports.jsonl", "a",
               "{\"w\":\"0000000000000000\",\"n\":1,\"t\":1,"
               "\"m\":{\"acc\":1}}\n");
    expect(records, "[" RECORD(1) "]");
    CHECK(records_skipped(records) == 4);
    end_records(records);
}

static void what_the_library_may_deliver_waits_for_a_heartbeat(void)
{
    struct records *records = new_records("\"reportUrl\":\"tcp://h:1\",");
    write_file("reports.jsonl", "w",
               RECORD(1) "\n" RECORD(2) "\n" RECORD(3) "\n");
    CHECK(!records_collect(records, 7, false));
    struct record_queue *queue = records_queue(records);
    CHECK(queue->n == 3 && !record_queue_is_ready(queue, 6));
    records_have(records, 0xaa, 2);
    CHECK(queue->n == 1 && record_queue_is_ready(queue, 7));
    struct text got = {0};
    record_queue_batch(queue, 7, RECORD_BATCH_BYTES, NULL, &got);
    CHECK_TEXT(got.data, "[" RECORD(3) "]");
    text_free(&got);
    end_records(records);
}

static void the_shims_records_of_event_files_are_sent(void)
{
    struct records *records =
        new_records("\"reportUrl\":\"tcp://h:1\",\"metricsEvents\":\"l\",");
    struct text text = {0};
    write_file(
        "events.jsonl", "w",
        RECORD(1) "\n"
                  "{\"w\":\"0000000000000000\",\"n\":2,\"t\":5,\"s\":1,\"m\":"
                  "{\"other\":3}}\n{\"fault\":\"l/x is "
                  "damaged\"}\nnonsense\n" RECORD(3) "\n");
    expect(records, "[" RECORD(1) "," RECORD(3) "]");
    CHECK(records_skipped(records) == 1);
    CHECK(runner_fixture_file_has(folder_path, "runner.000000000000.log",
                                  "l/x is damaged"));
    records_names_text(records, &text);
    CHECK(strstr(text_string(&text), "\"other\"") != NULL);
    CHECK(strstr(text_string(&text), "events.jsonl") != NULL);
    text_free(&text);
    end_records(records);
    records = new_records(""); /* no event files are read */
    write_file("events.jsonl", "w", RECORD(1) "\n");
    expect(records, "");
    end_records(records);
}

static void what_the_server_has_is_not_read_again(void)
{
    struct records *records = new_records("");
    records_have(records, 0xaa, 2);
    write_file("reports.jsonl", "w",
               RECORD(1) "\n" RECORD(2) "\n" RECORD(3) "\n");
    expect(records, "[" RECORD(3) "]");
    end_records(records);
}

static void batches_are_bounded(void)
{
    struct records *records = new_records("");
    struct text lines = {0};
    for (int i = 1; i <= 450; i++)
        text_printf(&lines,
                    "{\"w\":\"00000000000000aa\",\"n\":%d,\"t\":1,"
                    "\"m\":{\"acc\":1}}\n",
                    i);
    write_file("reports.jsonl", "w", lines.data);
    text_free(&lines);
    struct text got = collect(records, 1, false);
    CHECK(count(got.data, "[") == 3 && count(got.data, "\"n\":") == 450);
    text_free(&got);
    end_records(records);
}

static void a_batch_has_one_record_and_as_many_more_as_fit(void)
{
    struct records *records = new_records("");
    write_file("reports.jsonl", "w", RECORD(1) "\n" RECORD(2) "\n" RECORD(3));
    write_file("reports.jsonl", "a", "\n" RECORD(4) "\n");
    CHECK(!records_collect(records, 1, false));
    struct record_queue *queue = records_queue(records);
    static const struct {
        size_t most;
        const char *want;
    } rounds[] = {{0, "[" RECORD(1) "]"},
                  {2 * sizeof RECORD(2) + 1, "[" RECORD(2) "," RECORD(3) "]"},
                  {SIZE_MAX, "[" RECORD(4) "]"}};
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        struct text got = {0};
        record_queue_batch(queue, 1, rounds[i].most, NULL, &got);
        CHECK_TEXT(got.data, rounds[i].want);
        text_free(&got);
        record_queue_confirm(queue);
    }
    end_records(records);
}

static void a_bad_record_alone_is_dropped(void)
{
    struct records *records = new_records("");
    write_file("reports.jsonl", "w",
               RECORD(1) "\n" RECORD(2) "\n" RECORD(3) "\n" RECORD(4) "\n");
    CHECK(!records_collect(records, 1, false));
    struct record_queue *queue = records_queue(records);
    struct text got = {0};
    size_t dropped = 0;
    struct text kept = {0};
    while (record_queue_is_ready(queue, 1)) { /* a server that hates 3 */
        text_clear(&got);
        record_queue_batch(queue, 1, RECORD_BATCH_BYTES, NULL, &got);
        if (strstr(got.data, "\"n\":3,") != NULL) {
            dropped += record_queue_refuse(queue);
        } else {
            text_puts(&kept, got.data);
            record_queue_confirm(queue);
        }
    }
    CHECK(dropped == 1);
    CHECK(count(kept.data, "\"n\":") == 3);
    text_free(&got);
    text_free(&kept);
    end_records(records);
}

static void googles_file_is_read_once_however_often_it_is_rewritten(void)
{
    struct records *records = new_records("");
    struct text file = {0};
    size_t seen = 0;
    for (int last = 1; last <= 130; last++) { /* a window of 100 lines */
        text_clear(&file);
        for (int i = last > 100 ? last - 99 : 1; i <= last; i++)
            text_printf(&file,
                        "{\"acc\": \"0.5\", \"checkpoint_path\": \"\", "
                        "\"global_step\": \"%d\", \"timestamp\": 17.5, "
                        "\"trial\": \"1\"}\n",
                        i);
        write_file("output.metrics", "w", file.data);
        if (last % 7 != 0 && last != 130)
            continue; /* not every state is seen */
        struct text got = collect(records, 1, true);
        seen += count(got.data, "\"w\":\"0000000000000000\"");
        text_free(&got);
    }
    CHECK(seen == 130);
    text_free(&file);
    end_records(records);
}

static void lines_on_stdout_are_matched_by_place(void)
{
    struct records *records =
        new_records("\"stdoutPatterns\":[\"acc={acc} step={step}\"],");
    write_file("stdout.000000000000.log", "w",
               "hello\nacc=0.5 step=1\nacc=0.75 st");
    struct text got = collect(records, 1, false);
    CHECK(strstr(got.data, "\"n\":7,") != NULL);
    CHECK(strstr(got.data, "\"s\":1,\"m\":{\"acc\":0.5}") != NULL);
    CHECK(count(got.data, "\"w\"") == 1);
    text_free(&got);
    write_file("stdout.000000000000.log", "a", "ep=2\nacc=1 step=3");
    got = collect(records, 1, true);
    CHECK(strstr(got.data, "\"s\":2,\"m\":{\"acc\":0.75}") != NULL);
    CHECK(strstr(got.data, "\"s\":3,\"m\":{\"acc\":1}") != NULL);
    text_free(&got);
    end_records(records);
}

static void a_metrics_file_of_json_lines_is_read(void)
{
    struct records *records = new_records("\"metricsFile\":\"m.jsonl\",");
    write_file("m.jsonl", "w",
               "{\"acc\":0.5,\"loss\":\"1e-3\",\"step\":4,\"other\":[1]}\n"
               "{\"acc\":0.5,\"step\":4}\n{\"acc\":0.5,\"step\":4}\n"
               "{\"other\":1}\n{\"acc\":");
    struct text got = collect(records, 1, false);
    CHECK(count(got.data, "\"w\"") == 3); /* a repeated line counts twice */
    CHECK(strstr(got.data, "\"s\":4,\"m\":{\"acc\":0.5,\"loss\":0.001}") !=
          NULL);
    CHECK(records_skipped(records) == 1);
    text_free(&got);
    end_records(records);
}

static void a_metrics_file_of_csv_is_read_by_its_header(void)
{
    struct records *records = new_records("\"metricsFile\":\"m.csv\",");
    write_file("m.csv", "w",
               "epoch, step,\"acc\",loss\n1,10,0.5,0.25\n2,20,,0.125\n"
               "3,30,nan,x\n4,40,,\n");
    struct text got = collect(records, 1, false);
    CHECK(count(got.data, "\"w\"") == 3);
    CHECK(strstr(got.data, "\"s\":10,\"m\":{\"acc\":0.5,\"loss\":0.25}") !=
          NULL);
    CHECK(strstr(got.data, "\"s\":20,\"m\":{\"loss\":0.125}") != NULL);
    CHECK(strstr(got.data, "\"s\":30,\"m\":{\"acc\":\"NaN\"}") != NULL);
    CHECK(records_skipped(records) == 1);
    text_free(&got);
    end_records(records);
}

static void an_order_that_would_leave_its_folder_is_refused(void)
{
    static const char *const bad[] = {
        "{}",
        "[]",
        "{\"study\":1,\"trial\":1,\"attempt\":1,\"token\":\"t\"}",
        "{\"study\":0,\"trial\":1,\"attempt\":1,\"token\":\"t\",\"replicas\":"
        "[{\"type\":\"master\",\"index\":0,\"argv\":[\"x\"]}]}",
        "{\"study\":1,\"trial\":1,\"attempt\":1,\"token\":\"t\",\"replicas\":"
        "[{\"type\":\"../x\",\"index\":0,\"argv\":[\"x\"]}]}",
        "{\"study\":1,\"trial\":1,\"attempt\":1,\"token\":\"t\",\"replicas\":"
        "[{\"type\":\"master\",\"index\":0,\"argv\":[]}]}",
        "{\"study\":1,\"trial\":1,\"attempt\":1,\"token\":\"t\",\"replicas\":"
        "[{\"type\":\"master\",\"index\":0,\"argv\":[\"x\"],"
        "\"env\":[[\"A=B\",\"1\"]]}]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct order *read = NULL;
        struct ht_error err;
        CHECK(order_parse(bad[i], strlen(bad[i]), &read, &err) == HT_INVALID);
        CHECK(read == NULL);
    }
}

static void what_came_instead_is_reported_with_its_place(void)
{
    struct records *records = new_records("\"metricsFile\":\"m.csv\",");
    struct text out = {0};
    write_file("reports.jsonl", "w",
               "{\"w\":\"0000000000000001\",\"n\":1,\"t\":1,\"s\":1,"
               "\"m\":{\"ac\":0.5}}\n"
               "{\"w\":\"0000000000000001\",\"n\":2,\"t\":1,\"s\":2,"
               "\"m\":{\"ac\":0.75}}\n");
    write_file("stdout.000000000000.log", "w", "start\nAcc = 0.5\n");
    struct text sent = collect(records, 1, true);
    text_free(&sent);
    CHECK(!records_are_whole(records));
    text_puts(&out, "[");
    records_names_text(records, &out);
    CHECK_TEXT(out.data,
               "[{\"name\":\"ac\",\"count\":2,\"first\":\"0.5\","
               "\"last\":\"0.75\",\"file\":\"reports.jsonl\",\"line\":2,"
               "\"replica\":\"master-0\"}");
    text_clear(&out);
    records_hints_text(records, &out);
    CHECK_TEXT(out.data, "\"file\":{\"path\":\"m.csv\",\"state\":\"missing\"},"
                         "\"line\":{\"stream\":\"stdout\",\"line\":2,"
                         "\"replica\":\"master-0\",\"text\":\"Acc = 0.5\","
                         "\"name\":\"Acc\",\"before\":\"Acc = \"}");
    text_free(&out);
    end_records(records);
}

static void very_many_names_stay_few(void)
{
    struct records *records = new_records("");
    struct text lines = {0}, out = {0};
    for (int i = 0; i < 40; i++)
        text_printf(&lines,
                    "{\"w\":\"0000000000000001\",\"n\":%d,\"t\":1,\"s\":1,"
                    "\"m\":{\"%s%d\":0.5}}\n",
                    i + 1, i < 38 ? "x" : "acc", i);
    text_puts(&lines, "{\"w\":\"0000000000000001\",\"n\":41,\"t\":1,"
                      "\"s\":1,\"m\":{\"acc\":1,\"loss\":1}}\n");
    write_file("reports.jsonl", "w", lines.data);
    struct text sent = collect(records, 1, true);
    text_free(&sent);
    CHECK(records_are_whole(records));
    text_puts(&out, "[");
    records_names_text(records, &out);
    size_t n = 0;
    for (const char *at = out.data; (at = strstr(at, "\"name\"")) != NULL; at++)
        n++;
    CHECK(n == 10);
    text_free(&out);
    text_free(&lines);
    end_records(records);
}

/* The newest checkpoint, "PATH STEP"; "" without one. */
static const char *named(struct records *records)
{
    static char text[256];
    struct records_checkpoint found;
    while (records_collect(records, 1, false))
        continue;
    text[0] = '\0';
    if (records_take_checkpoint(records, &found))
        (void)snprintf(text, sizeof text, "%s %lld", found.path,
                       (long long)found.step);
    return text;
}

#define SAVED(n, path)                                                         \
    "{\"w\":\"00000000000000aa\",\"n\":" #n ",\"t\":5,\"s\":" #n               \
    ",\"m\":{\"acc\":0.5},\"c\":\"" path "\"}\n"

static void the_newest_checkpoint_is_named_once(void)
{
    struct records *records = new_records("");
    CHECK_TEXT(named(records), "");
    write_file("reports.jsonl", "w", SAVED(1, "a") SAVED(2, "b") SAVED(3, ""));
    CHECK_TEXT(named(records), "b 2");
    CHECK_TEXT(named(records), "");
    /* Also one whose record the server has from the library. */
    records_have(records, 0xaa, 9);
    write_file("reports.jsonl", "a", SAVED(4, "c"));
    CHECK_TEXT(named(records), "c 4");
    write_file("checkpoints.jsonl", "w",
               "{\"t\":1,\"s\":5,\"c\":\".\"}\n{\"t\":1}\nnonsense\n");
    CHECK_TEXT(named(records), ". 5");
    CHECK(records_skipped(records) == 2);
    write_file("checkpoints.jsonl", "a", "{\"t\":1,\"c\":\"d\"}\n");
    CHECK_TEXT(named(records), "d -1");
    end_records(records);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(our_own_records_pass_unchanged);
    RUN(malformed_lines_are_skipped_and_counted);
    RUN(what_the_library_may_deliver_waits_for_a_heartbeat);
    RUN(the_shims_records_of_event_files_are_sent);
    RUN(what_the_server_has_is_not_read_again);
    RUN(batches_are_bounded);
    RUN(a_batch_has_one_record_and_as_many_more_as_fit);
    RUN(a_bad_record_alone_is_dropped);
    RUN(googles_file_is_read_once_however_often_it_is_rewritten);
    RUN(lines_on_stdout_are_matched_by_place);
    RUN(a_metrics_file_of_json_lines_is_read);
    RUN(a_metrics_file_of_csv_is_read_by_its_header);
    RUN(an_order_that_would_leave_its_folder_is_refused);
    RUN(what_came_instead_is_reported_with_its_place);
    RUN(very_many_names_stay_few);
    RUN(the_newest_checkpoint_is_named_once);
    runner_fixture_fini();
    return check_done();
}
