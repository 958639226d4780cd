/* The trials of a study: found, walked, filtered; the best of them. */
#include "tests/lib/core_fixture.h"
#include "tuner/read/reader.h"

static const char spec[] = "spec: 1\nname: s\ngoal: maximize accuracy\n"
                           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                           "algorithm: random\ntrials: 3\nparallel: 3\n"
                           "command: [./train]\n";

/* A question about study "s"; the fixture owns the request. */
static struct request *ask(struct fixture *f, reader_handler *handle,
                           const char *trial, const char *key,
                           const char *value)
{
    const struct pair said = {key, value};
    struct request *req = fixture_request(f, NULL, NULL);
    struct reader reader = {
        .db = fixture_db(f), .deadline_ms = INT64_MAX, .req = req};
    req->study = "s";
    req->trial = trial;
    req->query = (struct pairs){key != NULL, &said};
    req->status = handle(&reader, req, &req->err);
    req->query = (struct pairs){0};
    db_close(reader.db);
    return req;
}

static void three_trials(struct fixture *f)
{
    static const char *const accuracies[] = {"0.5", "0.9"};
    fixture_submit(f, spec);
    fixture_hello(f, 3);
    for (int i = 0; i < 2; i++) {
        struct leased leased = fixture_lease_one(f);
        fixture_succeed(f, &leased, accuracies[i]);
    }
    CHECK(fixture_await_trials(f, 1, TRIAL_SUCCEEDED, 2));
}

/* The ids of the list in an answer, such as "1 2 ". */
static const char *ids_of(struct fixture *f, struct request *req)
{
    const char *all = "";
    CHECK(req->status == HT_OK);
    NODE_EACH (item, node_first(fixture_reply(req), "trials"))
        all = arena_printf(f->arena, "%s%s ", all,
                           node_get_string(item, "id", "?"));
    request_free(req);
    return all;
}

static void a_list_is_in_the_order_of_ids_and_in_pages(struct fixture *f)
{
    three_trials(f);
    CHECK_TEXT(ids_of(f, ask(f, read_trials, NULL, NULL, NULL)), "1 2 3 ");
    CHECK_TEXT(ids_of(f, ask(f, read_trials, NULL, "pageSize", "2")), "1 2 ");
    CHECK_TEXT(
        ids_of(f, ask(f, read_trials, NULL, "filter", "state=SUCCEEDED")),
        "1 2 ");
    struct request *req = ask(f, read_trials, NULL, "filter", "state=FLYING");
    CHECK(req->status == HT_INVALID);
    request_free(req);
}

static void a_trial_is_named_by_its_number(struct fixture *f)
{
    three_trials(f);
    struct request *req = ask(f, read_trial, "2", NULL, NULL);
    CHECK(req->status == HT_OK);
    CHECK_TEXT(node_get_string(fixture_reply(req), "id", ""), "2");
    request_free(req);
    static const char *const wrong[] = {"0", "4", "2x", "-1", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        req = ask(f, read_trial, wrong[i], NULL, NULL);
        CHECK(req->status == HT_NOT_FOUND);
        request_free(req);
    }
}

static void the_best_trial_is_there_once_one_has_a_result(struct fixture *f)
{
    fixture_submit(f, spec);
    CHECK(fixture_await_trials(f, 1, TRIAL_REQUESTED, 3));
    struct request *req = ask(f, read_best, NULL, NULL, NULL);
    CHECK(req->status == HT_NOT_FOUND);
    CHECK_TEXT(req->err.text, "study \"s\" has no succeeded trial yet (0 "
                              "running, 3 waiting)");
    request_free(req);
    fixture_hello(f, 1);
    struct leased leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
    CHECK(fixture_await_trials(f, 1, TRIAL_SUCCEEDED, 1));
    req = ask(f, read_best, NULL, NULL, NULL);
    CHECK(req->status == HT_OK);
    CHECK_TEXT(node_get_string(fixture_reply(req), "id", ""), "1");
    request_free(req);
}

/* As for a machine so slow that each piece is late at once: what all pieces
 * have, as one document. */
static const struct node *read_late(struct fixture *f, reader_handler *handle)
{
    struct text whole = {0};
    struct diag diag;
    struct request *req = fixture_request(f, NULL, NULL);
    struct reader reader = {.db = fixture_db(f), .deadline_ms = 0, .req = req};
    req->study = "s";
    int pieces = 0;
    do {
        req->more = false;
        text_clear(&req->reply);
        CHECK(handle(&reader, req, &req->err) == HT_OK);
        text_puts(&whole, text_string(&req->reply));
    } while (req->more && ++pieces < 100);
    db_close(reader.db);
    request_free(req);
    const char *json = text_take(&whole, f->arena);
    diag_init(&diag, f->arena, "reply", json, strlen(json));
    const struct node *root =
        node_read_json(f->arena, json, strlen(json), &diag);
    CHECK(root != NULL);
    return root;
}

static size_t count(const struct node *root, const char *key)
{
    size_t n = 0;
    NODE_EACH (item, node_first(root, key))
        n++;
    return n;
}

static void an_answer_that_is_always_late_is_whole(struct fixture *f)
{
    three_trials(f);
    CHECK(count(read_late(f, read_job), "trials") == 3);
    CHECK(count(read_late(f, read_table), "rows") == 3);
    const struct node *page = read_late(f, read_trials);
    CHECK(count(page, "trials") == 1);
    CHECK(strncmp(node_get_string(page, "nextPageToken", ""), "1.", 2) == 0);
    CHECK(count(read_late(f, read_measurements), "measurements") > 0);
    CHECK(count(read_late(f, read_curves), "curves") > 0);
    CHECK(count(read_late(f, read_studies), "studies") == 1);
}

int main(void)
{
    RUN_ON_CORE(an_answer_that_is_always_late_is_whole);
    RUN_ON_CORE(a_list_is_in_the_order_of_ids_and_in_pages);
    RUN_ON_CORE(a_trial_is_named_by_its_number);
    RUN_ON_CORE(the_best_trial_is_there_once_one_has_a_result);
    return check_done();
}
