/* Suggestions made again and ahead, by readers whose slice is used up. */
#include "tests/lib/core_fixture.h"
#include "tuner/read/reader.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\nseed: 7\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "  opt: [a, b]\ntrials: 12\nparallel: 4\n"
    "command: [./train]\n";

/* The reply to one question about study 1, in the fixture's arena. */
static const struct node *ask(struct fixture *fixture, reader_handler *handle,
                              int64_t deadline_ms, const char *key,
                              const char *value)
{
    const struct pair asked = {key, value};
    struct replay *replay = NULL;
    struct request *req = request_new();
    struct reader reader = {.db = fixture_db(fixture),
                            .deadline_ms = deadline_ms,
                            .replay = &replay,
                            .req = req};
    req->scope = (struct study_scope){.project = "local", .location = "local"};
    req->study = "1";
    req->query = (struct pairs){1, &asked};
    CHECK(handle(&reader, req, NULL) == HT_OK);
    struct diag diag;
    diag_init(&diag, fixture->arena, "reply", req->reply.data, req->reply.len);
    const struct node *reply =
        node_read_json(fixture->arena, req->reply.data, req->reply.len, &diag);
    CHECK(reply != NULL);
    request_free(req);
    read_replay_free(replay);
    db_close(reader.db);
    return reply;
}

static size_t count(const struct node *reply, const char *list)
{
    size_t n = 0;
    const struct node *items = node_find(reply, list);
    for (const struct node *item = items == NULL ? NULL : items->first;
         item != NULL; item = item->next)
        n++;
    return n;
}

static void a_preview_ends_with_its_slice(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 4));
    CHECK(count(ask(f, read_preview, INT64_MAX, "count", "7"), "suggestions") ==
          7);
    CHECK(count(ask(f, read_preview, 0, "count", "7"), "suggestions") == 1);
}

/* The last of a batch is known only with the whole batch. */
static void a_proof_makes_its_batch_however_late_it_is(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 4));
    CHECK(strstr(fixture_trial(f, 1, 4).why, "\"batch\":3") != NULL);
    const struct node *reply = ask(f, read_replay, 0, "from", "4");
    CHECK(count(reply, "trials") == 1);
    CHECK_TEXT(
        node_get_string(node_find(reply, "trials")->first, "verdict", ""),
        "SAME");
}

int main(void)
{
    RUN_ON_CORE(a_preview_ends_with_its_slice);
    RUN_ON_CORE(a_proof_makes_its_batch_however_late_it_is);
    return check_done();
}
