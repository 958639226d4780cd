/* The board of webhooks: rows that one thread writes and others read, and the
 * names in a spec. */
#include "tuner/base/webhook_board.h"

#include "proto/doc/json.h"
#include "tests/check.h"

enum { ENDED = 1, PAUSED = 2 }; /* bits of study.ended and study.paused */

static struct webhook_row rows[] = {
    {.name = "chat",
     .studies = "*",
     .on = ENDED | PAUSED,
     .pending = 2,
     .given_up = 1,
     .failures = 3,
     .failed_ms = 9,
     .why = "HTTP 500"},
    {.name = "mail",
     .studies = "night-*",
     .on = ENDED,
     .taken_ms = 7,
     .why = ""},
};

static void without_rows_the_board_is_empty(void)
{
    struct arena *arena = arena_new();
    struct webhook_board *board = webhook_board_new();
    const struct webhook_rows got = webhook_board_get(board, arena);
    CHECK(got.n == 0 && got.complaint == NULL);
    webhook_board_free(board);
    webhook_board_free(NULL);
    arena_free(arena);
}

static void a_reader_has_a_copy_of_its_own(void)
{
    struct arena *arena = arena_new();
    struct webhook_board *board = webhook_board_new();
    char complaint[] = "line 1";
    webhook_board_set(board, &(struct webhook_rows){2, rows, complaint});
    complaint[0] = 'x';
    const struct webhook_rows got = webhook_board_get(board, arena);
    webhook_board_set(board, &(struct webhook_rows){0});
    CHECK(webhook_board_get(board, arena).n == 0);
    webhook_board_free(board);
    CHECK(got.n == 2);
    CHECK_TEXT(got.items[0].name, "chat");
    CHECK_TEXT(got.items[0].why, "HTTP 500");
    CHECK(got.items[0].pending == 2 && got.items[1].taken_ms == 7);
    CHECK_TEXT(got.complaint, "line 1");
    arena_free(arena);
}

static void the_status_shows_how_deliveries_do(void)
{
    struct arena *arena = arena_new();
    struct webhook_board *board = webhook_board_new();
    cJSON *object = cJSON_CreateObject();
    webhook_board_set(board, &(struct webhook_rows){2, rows, "line 1"});
    webhook_board_write(board, arena, object);
    CHECK_TEXT(json_text(arena, object),
               "{\"webhooks\":[{\"name\":\"chat\",\"pending\":2,\"givenUp\":1,"
               "\"failures\":3,\"lastErrorTimeMs\":9,"
               "\"lastError\":\"HTTP 500\"},"
               "{\"name\":\"mail\",\"pending\":0,\"givenUp\":0,\"failures\":0,"
               "\"lastSuccessTimeMs\":7}],\"webhooksError\":\"line 1\"}");
    webhook_board_free(board);
    arena_free(arena);
}

struct finding { /* of one name in a spec */
    size_t errors, warnings;
    bool names_field; /* the first one has the path of the field */
};

/* Checks a job of that name that wants the events of a webhook. */
static struct finding check(struct webhook_board *board, const char *study,
                            const char *webhook, unsigned events)
{
    struct arena *arena = arena_new();
    struct diag errors, warnings;
    diag_init(&errors, arena, "spec", NULL, 0);
    diag_init(&warnings, arena, "spec", NULL, 0);
    struct notify_item item = {.webhook = webhook, .events = events};
    const struct job job = {.name = study, .notify = {.n = 1, .items = &item}};
    webhook_board_check(board, &job, "hypertune.", &errors, &warnings);
    const struct diag_item *first =
        errors.first != NULL ? errors.first : warnings.first;
    const struct finding finding = {
        errors.errors, warnings.warnings,
        first != NULL && strncmp(first->path, "hypertune.notify", 16) == 0};
    arena_free(arena);
    return finding;
}

static void a_webhook_that_does_not_exist_is_an_error(void)
{
    struct webhook_board *board = webhook_board_new();
    webhook_board_set(board, &(struct webhook_rows){2, rows, NULL});
    CHECK(check(board, "s", "chat", ENDED).errors == 0);
    const struct finding unknown = check(board, "s", "chatt", ENDED);
    CHECK(unknown.errors == 1 && unknown.names_field);
    CHECK(check(NULL, "s", "chat", ENDED).errors == 1);
    webhook_board_free(board);
}

static void a_webhook_that_will_send_less_is_a_warning(void)
{
    struct webhook_board *board = webhook_board_new();
    webhook_board_set(board, &(struct webhook_rows){2, rows, NULL});
    CHECK(check(board, "night-1", "mail", ENDED).warnings == 0);
    const struct finding other = check(board, "day-1", "mail", ENDED);
    CHECK(other.errors == 0 && other.warnings == 1 && other.names_field);
    CHECK(check(board, "night-1", "mail", ENDED | PAUSED).warnings == 1);
    CHECK(check(board, "day-1", "mail", PAUSED).warnings == 2);
    CHECK(check(board, NULL, "mail", ENDED).warnings == 0);
    webhook_board_free(board);
}

int main(void)
{
    json_init();
    RUN(without_rows_the_board_is_empty);
    RUN(a_reader_has_a_copy_of_its_own);
    RUN(the_status_shows_how_deliveries_do);
    RUN(a_webhook_that_does_not_exist_is_an_error);
    RUN(a_webhook_that_will_send_less_is_a_warning);
    return check_done();
}
