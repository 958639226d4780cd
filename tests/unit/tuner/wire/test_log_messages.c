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

#define SAID_BY(runner, boot, attempt)                                         \
    ",\"token\":\"" RUNNER_TOKEN "\",\"runner\":\"" runner                     \
    "\",\"boot\":\"" boot "\",\"study\":1,\"trial\":1,\"attempt\":" attempt
#define NAME SAID_BY("r1", "boot-1", "1")
#define CHUNK ",\"stream\":\"stdout\",\"offset\":0,\"data\":\"one\\n\""

static const char spec[] = "spec: 1\nname: s\ngoal: maximize accuracy\n"
                           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                           "algorithm: random\ntrials: 9\nparallel: 1\n"
                           "command: [./train]\n";

static struct leased lease(struct fixture *f)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    return fixture_begin(f);
}

static void store(struct place *place)
{
    static const char chunk[] = NAME CHUNK;
    static const char stored[] =
        "{\"v\":1,\"id\":4,\"status\":\"ok\",\"offset\":4}";
    lease(place->core);
    CHECK_TEXT(send_log(place, chunk), stored);
    CHECK_TEXT(send_log(place, chunk), stored); /* once is enough */
    struct log_slice slice = {0};
    const struct log_key key = {1, 1, 1, "master-0", "stdout"};
    CHECK(logs_read(place->logs, place->core->arena, &key, 0, 99, &slice,
                    NULL) == HT_OK);
    CHECK_TEXT(slice.data, "one\n");
}

static void a_chunk_is_stored_before_its_answer(struct fixture *f)
{
    run(f, store);
}

static void check_refused(struct place *place, const char *members,
                          const char *words)
{
    const char *answer = send_log(place, members);
    CHECK(strstr(answer, words) != NULL);
    CHECK(strstr(answer, "\"status\":\"ok\"") == NULL);
}

static void check_empty(struct place *place)
{
    struct log_head head;
    CHECK(logs_step(place->logs, 1, &(struct log_place){0}, false, &head,
                    NULL) == HT_NOT_FOUND);
}

static void refuse(struct place *place)
{
    static const struct {
        const char *members, *words;
    } wrong[] = {
        {",\"token\":\"x\"", "this is not the runner token"},
        {",\"token\":\"" RUNNER_TOKEN "\"", "must be positive integers"},
        {NAME ",\"stream\":\"stdin\"", "stream must be stdout"},
        {NAME CHUNK ",\"replica\":\"worker-0\"", "has no replica worker-0"},
        {NAME CHUNK ",\"replica\":\"master-1\"", "has no replica master-1"},
        {NAME ",\"stream\":\"stderr\",\"offset\":-1", "count from 0"}};
    lease(place->core);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_refused(place, wrong[i].members, wrong[i].words);
    check_empty(place);
}

static void a_wrong_message_stores_nothing(struct fixture *f)
{
    run(f, refuse);
}

/* Each case stores nothing, whatever the runner's token allows otherwise. */
static void keep_to_owner(struct place *place)
{
    struct fixture *f = place->core;
    check_refused(place, NAME CHUNK, "say hello first");
    fixture_hello(f, 1);
    check_refused(place, NAME CHUNK, "\"status\":\"gone\"");
    lease(f);
    check_refused(place, SAID_BY("r1", "boot-2", "1") CHUNK, "say hello first");
    check_refused(place, SAID_BY("r1", "boot-1", "2") CHUNK, "gone");
    f->runner = "r2";
    fixture_hello(f, 1);
    check_refused(place, SAID_BY("r2", "boot-1", "1") CHUNK, "gone");
    check_empty(place);
}

static void only_the_runner_of_the_attempt_may_send(struct fixture *f)
{
    run(f, keep_to_owner);
}

static void follow_life(struct place *place)
{
    struct fixture *f = place->core;
    const struct leased leased = lease(f);
    static const char ok[] = "\"status\":\"ok\"";
    fixture_tell(f, "ended", &leased.name,
                 "\"outcome\":\"succeeded\",\"exit\":0");
    CHECK(strstr(send_log(place, NAME CHUNK), ok) != NULL);
    fixture_stop(f); /* a restarted server has the same attempts */
    CHECK(fixture_start(f));
    CHECK(strstr(send_log(place, NAME CHUNK), ok) != NULL);
    fixture_tell(f, "drained", &leased.name, "\"evidence\":{}");
    check_refused(place, NAME CHUNK, "gone");
}

static void an_attempt_that_has_ended_takes_no_more(struct fixture *f)
{
    run(f, follow_life);
}

int main(void)
{
    RUN_ON_CORE(only_the_runner_of_the_attempt_may_send);
    RUN_ON_CORE(an_attempt_that_has_ended_takes_no_more);
    RUN_ON_CORE(a_chunk_is_stored_before_its_answer);
    RUN_ON_CORE(a_wrong_message_stores_nothing);
    return check_done();
}
