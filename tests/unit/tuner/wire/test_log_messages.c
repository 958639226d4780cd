/* Chunks of logs that runners send. */
#include "tuner/wire/log_messages.h"

#include <pthread.h>
#include <stdio.h>

#include "tests/lib/core_fixture.h"
#include "tests/lib/db_place.h"
#include "tuner/logs/logs.h"
#include "tuner/wire/envelope.h"

struct place {
    struct fixture *core;
    struct logs *logs;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static bool answered;

static void on_answer(struct request *req)
{
    (void)req;
    pthread_mutex_lock(&lock);
    answered = true;
    pthread_cond_signal(&came);
    pthread_mutex_unlock(&lock);
}

/* Sends a `log` message with these members; its answer, in the arena. */
static const char *send_log(struct place *place, const char *members)
{
    struct fixture *f = place->core;
    struct request *req = fixture_request(
        f, control_handle,
        arena_printf(f->arena, "{\"v\":1,\"type\":\"log\",\"id\":4%s}",
                     members));
    struct text text = {0};
    req->answer = on_answer;
    answered = false;
    log_messages_handle(f->core, place->logs, req);
    pthread_mutex_lock(&lock);
    while (!answered)
        pthread_cond_wait(&came, &lock);
    pthread_mutex_unlock(&lock);
    wire_answer(req, &text);
    const char *answer = arena_strdup(f->arena, text.data);
    text_free(&text);
    request_free(req);
    return answer;
}

static void run(struct fixture *f, void (*test)(struct place *place))
{
    struct place place = {.core = f};
    char path[96];
    snprintf(path, sizeof path, "%s/logs.db", f->dir);
    CHECK(logs_start(path, &place.logs, NULL) == HT_OK);
    test(&place);
    logs_stop(place.logs);
    db_place_remove(f->dir, "logs");
}

#define NAME                                                                   \
    ",\"token\":\"" RUNNER_TOKEN "\",\"study\":1,\"trial\":2,\"attempt\":3"

static void store(struct place *place)
{
    static const char chunk[] =
        NAME ",\"stream\":\"stdout\",\"offset\":0,\"data\":\"one\\n\"";
    static const char stored[] =
        "{\"v\":1,\"id\":4,\"status\":\"ok\",\"offset\":4}";
    CHECK_TEXT(send_log(place, chunk), stored);
    CHECK_TEXT(send_log(place, chunk), stored); /* once is enough */
    struct log_slice slice = {0};
    const struct log_key key = {1, 2, 3, "master-0", "stdout"};
    CHECK(logs_read(place->logs, place->core->arena, &key, 0, 99, &slice,
                    NULL) == HT_OK);
    CHECK_TEXT(slice.data, "one\n");
}

static void a_chunk_is_stored_before_its_answer(struct fixture *f)
{
    run(f, store);
}

static void refuse(struct place *place)
{
    static const struct {
        const char *members, *words;
    } wrong[] = {
        {",\"token\":\"x\"", "this is not the runner token"},
        {",\"token\":\"" RUNNER_TOKEN "\"", "must be positive integers"},
        {NAME ",\"stream\":\"stdin\"", "stream must be stdout"},
        {NAME ",\"stream\":\"stderr\",\"offset\":-1", "count from 0"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *answer = send_log(place, wrong[i].members);
        CHECK(strstr(answer, wrong[i].words) != NULL);
        CHECK(strstr(answer, "\"status\":\"ok\"") == NULL);
    }
    struct log_head head;
    CHECK(logs_step(place->logs, 1, &(struct log_place){0}, false, &head,
                    NULL) == HT_NOT_FOUND);
}

static void a_wrong_message_stores_nothing(struct fixture *f)
{
    run(f, refuse);
}

int main(void)
{
    RUN_ON_CORE(a_chunk_is_stored_before_its_answer);
    RUN_ON_CORE(a_wrong_message_stores_nothing);
    return check_done();
}
