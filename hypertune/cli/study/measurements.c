#include "hypertune/cli/study/measurements.h"

#include "hypertune/cli/study/study.h"
#include "proto/doc/json.h"

enum { PAGE = 20000 };

void cli_measured_end(struct cli_measured *measured)
{
    arena_free(measured->arena);
    measured->arena = NULL;
    measured->next = NULL;
}

static bool has_more(const struct cli_measured *measured)
{
    return !measured->started || measured->token[0] != '\0';
}

static enum ht_status read_page(struct cli_measured *measured,
                                struct ht_error *err)
{
    struct cli *cli = measured->cli;
    struct arena *arena = arena_new();
    const char *path = arena_printf(
        arena, CLI_OURS "/%s/measurements?pageSize=%d%s%s",
        cli_http_segment(arena, measured->study), PAGE,
        measured->started ? "&pageToken=" : "",
        measured->started ? cli_http_segment(arena, measured->token) : "");
    const struct cli_http_request request = {.method = "GET", .path = path};
    struct cli_http_answer answer;
    const enum ht_status status =
        cli_http_call(cli->http, arena, &request, &answer, err);
    if (status != HT_OK) {
        arena_free(arena);
        return status;
    }
    cli_measured_end(measured);
    measured->arena = arena;
    measured->next = node_first(answer.root, "measurements");
    measured->token = arena_strdup(
        cli->lasting, node_get_string(answer.root, "nextPageToken", ""));
    measured->started = true;
    return HT_OK;
}

static void add(cJSON *list, const struct node *one)
{
    static const char *const numbers[] = {"step", "timeMs", "attempt"};
    static const char *const members[] = {"replica", "metrics", "checkpoint"};
    cJSON *object = json_push_object(list);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_add_int(object, numbers[i], node_get_int(one, numbers[i], 0));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct node *value = node_find(one, members[i]);
        if (value != NULL)
            cJSON_AddItemToObject(object, members[i], json_of_node(value));
    }
}

enum ht_status cli_measured_take(struct cli_measured *measured, int64_t trial,
                                 cJSON *list, struct ht_error *err)
{
    for (;;) {
        while (measured->next == NULL) {
            if (!has_more(measured))
                return HT_OK;
            const enum ht_status status = read_page(measured, err);
            if (status != HT_OK)
                return status;
        }
        const int64_t of = node_get_int(measured->next, "trial", 0);
        if (of > trial)
            return HT_OK;
        if (of == trial)
            add(list, measured->next);
        measured->next = measured->next->next;
    }
}
