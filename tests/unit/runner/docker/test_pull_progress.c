#include "runner/docker/pull_progress.h"

#include "tests/check.h"

static struct pull_progress progress;
static struct text line;

/* One item at that time; whether a line came. */
static bool take(int64_t now_ms, const char *json)
{
    struct arena *arena = arena_new();
    struct diag diag;
    diag_init(&diag, arena, "item", NULL, 0);
    const struct node *item = node_read_json(arena, json, strlen(json), &diag);
    CHECK(item != NULL);
    text_clear(&line);
    const bool due = pull_progress_take(&progress, item, now_ms, &line);
    arena_free(arena);
    return due;
}

static bool take_layer(int64_t now_ms, const char *id, const char *state,
                       int64_t current, int64_t total)
{
    struct text json = {0};
    text_printf(&json, "{\"id\":\"%s\",\"status\":\"%s\",\"progressDetail\":{",
                id, state);
    if (total > 0)
        text_printf(&json, "\"current\":%lld,\"total\":%lld",
                    (long long)current, (long long)total);
    text_puts(&json, "}}");
    const bool due = take(now_ms, json.data);
    text_free(&json);
    return due;
}

static void begin(void)
{
    progress = (struct pull_progress){.n = 0};
}

static void the_share_of_all_layers_is_reported(void)
{
    begin();
    CHECK(take_layer(1000, "aaa", "Pulling fs layer", 0, 0));
    CHECK_TEXT(line.data, "layer aaa Pulling fs layer; 0 of 1 layers");
    CHECK(!take_layer(1001, "bbb", "Already exists", 0, 0));
    CHECK(!take_layer(1002, "ccc", "Downloading", 0, 3000000));
    CHECK(take_layer(3000, "aaa", "Downloading", 500000, 1000000));
    CHECK_TEXT(line.data,
               "layer aaa Downloading; 1 of 3 layers, 12% of 4.0 MB");
    CHECK(!take_layer(3001, "aaa", "Verifying Checksum", 0, 0));
    CHECK(take_layer(5001, "aaa", "Extracting", 10, 1000000));
    CHECK_TEXT(line.data, "layer aaa Extracting; 1 of 3 layers, 25% of 4.0 MB");
    CHECK(take_layer(9000, "aaa", "Pull complete", 0, 0));
    CHECK_TEXT(line.data,
               "layer aaa Pull complete; 2 of 3 layers, 25% of 4.0 MB");
}

static void lines_come_at_most_every_two_seconds(void)
{
    int lines = 0;
    begin();
    for (int64_t now = 1000; now < 11000; now += 10)
        lines += take_layer(now, "aaa", "Downloading", now, 20000);
    CHECK(lines == 5);
}

static void what_is_no_layer_is_passed_over(void)
{
    begin();
    CHECK(!take(1000, "{\"status\":\"Pulling from a\",\"id\":\"latest\"}"));
    CHECK(!take(1000, "{\"status\":\"Digest: sha256:00\"}"));
    CHECK(!take(1000, "{\"id\":\"aaa\"}"));
    CHECK(!take(1000, "{\"status\":7,\"id\":[]}"));
    CHECK(progress.n == 0);
}

static void strange_numbers_and_names_do_no_harm(void)
{
    begin();
    CHECK(take_layer(1000, "\\u001b[2J", "Downloading", -5, INT64_MAX));
    CHECK_TEXT(line.data, "layer \\x1b[2J Downloading; 0 of 1 layers");
    for (int i = 0; i < 2 * PULL_LAYERS; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "%d", i);
        (void)take_layer(1001, id, "Downloading", INT64_MAX, INT64_MAX);
    }
    CHECK(progress.n == PULL_LAYERS);
    CHECK(take_layer(9000, "1", "Downloading", 1, INT64_MAX / 300));
    CHECK(strstr(line.data, ", 0% of ") != NULL);
}

int main(void)
{
    RUN(the_share_of_all_layers_is_reported);
    RUN(lines_come_at_most_every_two_seconds);
    RUN(what_is_no_layer_is_passed_over);
    RUN(strange_numbers_and_names_do_no_harm);
    text_free(&line);
    return check_done();
}
