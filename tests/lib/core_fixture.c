#include "tests/lib/core_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proto/form/form.h"
#include "tests/lib/db_place.h"
#include "tuner/parts.h"

/* --- life --- */

bool fixture_start(struct fixture *fixture)
{
    struct ht_error err = {0};
    fixture->options.parts = server_parts;
    fixture->options.data_dir = fixture->dir;
    fixture->options.runner_token = RUNNER_TOKEN;
    const bool started =
        core_start(&fixture->options, &fixture->core, &err) == HT_OK;
    if (!started)
        printf("# core_start: %s\n", err.text);
    CHECK(started);
    return started;
}

void fixture_open(struct fixture *fixture)
{
    json_init();
    *fixture = (struct fixture){.options = {.server_id = "ab12cd34",
                                            .hold_ms = 20000,
                                            .lost_after_ms = 30000,
                                            .retry_ms = 1000},
                                .arena = arena_new(),
                                .next_id = 1,
                                .runner = "r1",
                                .boot = "boot-1"};
    const char *root = getenv("TMPDIR");
    snprintf(fixture->dir, sizeof fixture->dir, "%s/ht-core-XXXXXX",
             root == NULL ? "/tmp" : root);
    CHECK(mkdtemp(fixture->dir) != NULL);
    fixture_start(fixture);
}

void fixture_stop(struct fixture *fixture)
{
    core_stop(fixture->core);
    fixture->core = NULL;
}

void fixture_close(struct fixture *fixture)
{
    fixture_stop(fixture);
    while (fixture->answers != NULL) {
        struct request *req = fixture->answers;
        fixture->answers = req->next;
        request_free(req);
    }
    arena_free(fixture->arena);
    db_place_remove(fixture->dir, "hypertune");
    char reserve[96];
    snprintf(reserve, sizeof reserve, "%s/reserve", fixture->dir);
    unlink(reserve);
    CHECK(rmdir(fixture->dir) == 0);
}

void fixture_run(void (*test)(struct fixture *f))
{
    struct fixture fixture;
    fixture_open(&fixture);
    test(&fixture);
    fixture_close(&fixture);
}

/* --- asking --- */

struct ticket { /* an answer that may be waited for */
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool done;
};

static void fixture_answered(struct request *req)
{
    struct ticket *ticket = req->owner;
    pthread_mutex_lock(&ticket->lock);
    ticket->done = true;
    pthread_cond_signal(&ticket->came);
    pthread_mutex_unlock(&ticket->lock);
}

struct request *fixture_request(struct fixture *fixture,
                                request_handler *handle, const char *body)
{
    (void)fixture;
    struct request *req = request_new();
    struct ticket *ticket = arena_alloc(req->arena, 1, sizeof *ticket);
    pthread_mutex_init(&ticket->lock, NULL);
    pthread_cond_init(&ticket->came, NULL);
    req->owner = ticket;
    req->handle = handle;
    req->answer = fixture_answered;
    req->scope = (struct study_scope){.project = "local", .location = "local"};
    if (body != NULL) {
        struct diag diag;
        diag_init(&diag, req->arena, "test", body, strlen(body));
        req->body = node_read_json(req->arena, body, strlen(body), &diag);
        CHECK(req->body != NULL);
    }
    return req;
}

bool fixture_is_done(struct request *req)
{
    struct ticket *ticket = req->owner;
    pthread_mutex_lock(&ticket->lock);
    const bool done = ticket->done;
    pthread_mutex_unlock(&ticket->lock);
    return done;
}

void fixture_wait(struct fixture *fixture, struct request *req)
{
    struct ticket *ticket = req->owner;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_MS / 1000;
    pthread_mutex_lock(&ticket->lock);
    while (!ticket->done)
        if (pthread_cond_timedwait(&ticket->came, &ticket->lock, &until) != 0)
            break;
    const bool done = ticket->done;
    pthread_mutex_unlock(&ticket->lock);
    CHECK(done);
    if (!done)
        abort(); /* the core still holds it: nothing sane can follow */
    req->next = fixture->answers;
    fixture->answers = req;
}

struct request *fixture_call(struct fixture *fixture, request_handler *handle,
                             const char *study, const char *body)
{
    struct request *req = fixture_request(fixture, handle, body);
    req->study = study;
    core_post(fixture->core, req);
    fixture_wait(fixture, req);
    return req;
}

struct request *fixture_call_trial(struct fixture *fixture,
                                   request_handler *handle, const char *study,
                                   const char *trial, const char *body)
{
    struct request *req = fixture_request(fixture, handle, body);
    req->study = study;
    req->trial = trial;
    core_post(fixture->core, req);
    fixture_wait(fixture, req);
    return req;
}

const struct node *fixture_reply(struct request *req)
{
    struct diag diag;
    diag_init(&diag, req->arena, "reply", req->reply.data, req->reply.len);
    return req->reply.len == 0 ? NULL
                               : node_read_json(req->arena, req->reply.data,
                                                req->reply.len, &diag);
}

/* --- studies --- */

struct request *fixture_submit(struct fixture *fixture, const char *yaml)
{
    struct arena *arena = arena_new();
    struct diag diag;
    diag_init(&diag, arena, "spec.yaml", yaml, strlen(yaml));
    const struct node *root = node_read_yaml(arena, yaml, strlen(yaml), &diag);
    struct job *job = root == NULL ? NULL : native_read(root, &diag);
    struct text text = {0};
    if (job == NULL)
        diag_print(&diag, &text);
    CHECK(job != NULL);
    if (job == NULL) {
        printf("# %s\n", text.data);
        abort();
    }
    if (job->display == NULL)
        job->display = "spec"; /* as a file's name would be */
    json_print(vertex_write(job), &text);
    struct request *req = fixture_call(fixture, study_create, NULL, text.data);
    text_free(&text);
    arena_free(arena);
    return req;
}

struct db *fixture_db(struct fixture *fixture)
{
    char path[128];
    struct db *db = NULL;
    struct ht_error err;
    snprintf(path, sizeof path, "%s/hypertune.db", fixture->dir);
    if (db_open_readonly(path, &db, &err) != HT_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    return db;
}

struct study_row fixture_study(struct fixture *fixture, int64_t id)
{
    struct study_row row = {0};
    struct db *db = fixture_db(fixture);
    db_study_get(db, fixture->arena, id, &row, NULL);
    db_close(db);
    return row;
}

struct trial_row fixture_trial(struct fixture *fixture, int64_t study,
                               int64_t trial)
{
    struct trial_row row = {0};
    struct db *db = fixture_db(fixture);
    db_trial_get(db, fixture->arena, study, trial, &row, NULL);
    db_close(db);
    return row;
}

struct measurement_row fixture_latest(struct fixture *fixture, int64_t study,
                                      int64_t trial)
{
    struct measurement_row row = {0};
    const struct trial_row named = fixture_trial(fixture, study, trial);
    struct db *db = fixture_db(fixture);
    CHECK(db_trial_latest(db, fixture->arena, &named, &row, NULL) == HT_OK);
    db_close(db);
    return row;
}

void fixture_nap(void)
{
    nanosleep(&(struct timespec){0, 2000000}, NULL);
}

bool fixture_await_trials(struct fixture *fixture, int64_t study,
                          enum trial_state state, int64_t number)
{
    struct db *db = fixture_db(fixture);
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    struct trial_counts counts = {0};
    while (db_trial_counts(db, study, &counts, NULL) == HT_OK &&
           counts.of[state] != number && clock_monotonic_ms() < end_ms)
        fixture_nap();
    db_close(db);
    if (counts.of[state] != number)
        printf("# %lld trials %s, awaited %lld\n", (long long)counts.of[state],
               db_trial_state_name(state), (long long)number);
    return counts.of[state] == number;
}

bool fixture_await_study(struct fixture *fixture, int64_t study,
                         enum study_state state)
{
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    struct study_row row = fixture_study(fixture, study);
    while (row.state != state && clock_monotonic_ms() < end_ms) {
        fixture_nap();
        row = fixture_study(fixture, study);
    }
    if (row.state != state)
        printf("# study is %s: %s\n", db_study_state_name(row.state),
               row.reason);
    return row.state == state;
}

bool fixture_await_reason(struct fixture *fixture, int64_t study,
                          const char *reason)
{
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    struct study_row row = fixture_study(fixture, study);
    while (strcmp(row.reason, reason) != 0 && clock_monotonic_ms() < end_ms) {
        fixture_nap();
        row = fixture_study(fixture, study);
    }
    CHECK_TEXT(row.reason, reason);
    return strcmp(row.reason, reason) == 0;
}

/* --- a runner --- */

struct request *fixture_post_control(struct fixture *fixture, const char *type,
                                     int64_t id, const char *members)
{
    struct text text = {0};
    text_printf(&text,
                "{\"v\":1,\"type\":\"%s\",\"token\":\"" RUNNER_TOKEN
                "\",\"runner\":\"%s\",\"boot\":\"%s\",\"id\":%lld%s%s}",
                type, fixture->runner, fixture->boot, (long long)id,
                *members ? "," : "", members);
    struct request *req = fixture_request(fixture, control_handle, text.data);
    text_free(&text);
    core_post(fixture->core, req);
    return req;
}

struct request *fixture_control(struct fixture *fixture, const char *type,
                                const char *members)
{
    struct request *req =
        fixture_post_control(fixture, type, fixture->next_id++, members);
    fixture_wait(fixture, req);
    return req;
}

struct request *fixture_hello_rules(struct fixture *fixture, int slots,
                                    const char *rules)
{
    struct text members = {0};
    text_printf(&members,
                "\"engine\":\"any\",\"host\":\"here\",\"slots\":%d,"
                "\"version\":\"0.1.0\",\"attempts\":[],\"rules\":{%s}",
                slots, rules);
    struct request *req = fixture_control(fixture, "hello", members.data);
    text_free(&members);
    CHECK(req->status == HT_OK);
    return req;
}

struct request *fixture_hello(struct fixture *fixture, int slots)
{
    return fixture_hello_rules(fixture, slots, "\"images\":false");
}

struct request *fixture_hello_images(struct fixture *fixture, int slots)
{
    return fixture_hello_rules(fixture, slots, "\"images\":true");
}

size_t fixture_leased(struct request *req, struct leased *out, size_t most)
{
    const struct node *list = node_find(fixture_reply(req), "attempts");
    size_t n = 0;
    for (const struct node *node = list == NULL ? NULL : list->first;
         node != NULL && n < most; node = node->next, n++)
        out[n] = (struct leased){.name = {node_get_int(node, "study", 0),
                                          node_get_int(node, "trial", 0),
                                          node_get_int(node, "attempt", 0)},
                                 .token = node_get_string(node, "token", ""),
                                 .node = node};
    return n;
}

size_t fixture_lease(struct fixture *fixture, int number, struct leased out[])
{
    size_t n = 0;
    while (n < (size_t)number) {
        char members[32];
        snprintf(members, sizeof members, "\"free\":%d", number - (int)n);
        struct request *req = fixture_control(fixture, "lease", members);
        CHECK(req->status == HT_OK);
        const size_t got = fixture_leased(req, &out[n], (size_t)number - n);
        if (req->status != HT_OK || got == 0)
            return n;
        n += got;
    }
    return n;
}

struct leased fixture_lease_one(struct fixture *fixture)
{
    struct leased leased = {0};
    CHECK(fixture_lease(fixture, 1, &leased) == 1);
    return leased;
}

struct request *fixture_tell(struct fixture *fixture, const char *type,
                             const struct trial_name *name, const char *more)
{
    struct text text = {0};
    text_printf(&text, "\"study\":%lld,\"trial\":%lld,\"attempt\":%lld%s%s",
                (long long)name->study, (long long)name->trial,
                (long long)name->attempt, *more ? "," : "", more);
    struct request *req = fixture_control(fixture, type, text.data);
    text_free(&text);
    return req;
}

struct leased fixture_begin(struct fixture *fixture)
{
    const struct leased leased = fixture_lease_one(fixture);
    CHECK(fixture_tell(fixture, "started", &leased.name, "")->status == HT_OK);
    return leased;
}

void fixture_end(struct fixture *fixture, const struct leased *leased,
                 const char *outcome)
{
    CHECK(fixture_tell(fixture, "ended", &leased->name, outcome)->status ==
          HT_OK);
    CHECK(fixture_tell(fixture, "drained", &leased->name, "")->status == HT_OK);
}

struct request *fixture_report(struct fixture *fixture, const char *token,
                               const char *records)
{
    struct text text = {0};
    text_printf(&text,
                "{\"v\":1,\"type\":\"report\",\"token\":\"%s\",\"id\":1,"
                "\"replica\":\"master-0\",\"records\":[%s]}",
                token, records);
    struct request *req = fixture_request(fixture, report_handle, text.data);
    text_free(&text);
    core_post(fixture->core, req);
    fixture_wait(fixture, req);
    return req;
}

const char *fixture_record(struct fixture *fixture, int64_t seq, int64_t step,
                           const char *accuracy)
{
    return arena_printf(fixture->arena,
                        "{\"w\":\"0000000000000001\",\"n\":%lld,\"t\":%lld,"
                        "\"s\":%lld,\"m\":{\"accuracy\":%s},\"c\":\"\"}",
                        (long long)seq, (long long)(1000 + seq),
                        (long long)step, accuracy);
}

void fixture_succeed(struct fixture *fixture, const struct leased *leased,
                     const char *accuracy)
{
    CHECK(fixture_tell(fixture, "started", &leased->name, "")->status == HT_OK);
    CHECK(fixture_report(fixture, leased->token,
                         fixture_record(fixture, 1, 1, accuracy))
              ->status == HT_OK);
    fixture_end(fixture, leased, "\"outcome\":\"succeeded\",\"exit\":0");
}

void fixture_end_as(struct fixture *fixture, const struct leased *leased,
                    const char *outcome)
{
    CHECK(fixture_tell(fixture, "started", &leased->name, "")->status == HT_OK);
    fixture_end(fixture, leased, outcome);
}
