/* Operations: kept while there is room, told to those who ask below the right
 * resource. */
#include "tests/lib/core_fixture.h"
#include "tuner/api/operation.h"

enum { MADE = 1005, KEPT = 1000 };

static enum ht_status make_one(struct core *core, struct request *req,
                               struct ht_error *err)
{
    (void)err;
    struct operation operation = {
        .resource = "projects/local/locations/local/studies/7",
        .metadata = operation_message(req, "SuggestTrialsMetadata"),
        .response = operation_empty()};
    operation_add_times(core, operation.metadata);
    operation_reply(core, req, &operation);
    return HT_OK;
}

static enum ht_status make_failed(struct core *core, struct request *req,
                                  struct ht_error *err)
{
    (void)err;
    struct operation operation = {
        .resource = "projects/local/locations/local/studies/7"};
    ht_fail(&operation.why, HT_TIMEOUT, "too slow");
    operation_reply(core, req, &operation);
    return HT_OK;
}

static enum ht_status make_and_fail(struct core *core, struct request *req,
                                    struct ht_error *err)
{
    make_one(core, req, err);
    return ht_fail(err, HT_CONFLICT, "taken back");
}

static const char *id_of(struct request *req)
{
    const char *name = node_get_string(fixture_reply(req), "name", "");
    return strrchr(name, '/') + 1;
}

static enum ht_status ask(struct fixture *fixture, request_handler *handle,
                          const char *id, const char *study)
{
    struct request *req = fixture_request(fixture, handle, NULL);
    req->operation = id;
    req->study = study;
    core_post(fixture->core, req);
    fixture_wait(fixture, req);
    return req->status;
}

static size_t count(struct fixture *fixture)
{
    static const struct pair whole = {"pageSize", "1000"};
    struct request *req = fixture_request(fixture, operation_list, NULL);
    req->query = (struct pairs){1, &whole};
    core_post(fixture->core, req);
    fixture_wait(fixture, req);
    CHECK(req->status == HT_OK);
    return node_find(fixture_reply(req), "operations")->count;
}

static void the_newest_thousand_are_kept(struct fixture *f)
{
    const char *first = NULL, *last = NULL;
    for (int i = 0; i < MADE; i++) {
        struct request *req = fixture_call(f, make_one, NULL, NULL);
        CHECK(req->status == HT_OK);
        last = id_of(req);
        first = first == NULL ? last : first;
    }
    CHECK(ask(f, operation_get, first, NULL) == HT_NOT_FOUND);
    CHECK(ask(f, operation_get, last, NULL) == HT_OK);
    CHECK(count(f) == KEPT);
    CHECK(ask(f, operation_delete, last, NULL) == HT_OK);
    CHECK(ask(f, operation_delete, last, NULL) == HT_NOT_FOUND);
    CHECK(count(f) == KEPT - 1);
}

static void they_are_found_below_their_own_resource(struct fixture *f)
{
    const char *id = id_of(fixture_call(f, make_one, NULL, NULL));
    CHECK(ask(f, operation_get, id, "7") == HT_OK);
    CHECK(ask(f, operation_get, id, "77") == HT_NOT_FOUND);
    CHECK(ask(f, operation_cancel, id, "7") == HT_OK);
    CHECK(ask(f, operation_cancel, "12", "7") == HT_NOT_FOUND);
}

static void a_failed_one_says_why(struct fixture *f)
{
    const struct node *reply =
        fixture_reply(fixture_call(f, make_failed, NULL, NULL));
    const struct node *error = node_find(reply, "error");
    CHECK(node_get_bool(reply, "done", false));
    CHECK(node_find(reply, "response") == NULL);
    CHECK(node_get_int(error, "code", 0) == 4);
    CHECK_TEXT(node_get_string(error, "message", ""), "too slow");
}

static void one_that_was_taken_back_is_not_kept(struct fixture *f)
{
    CHECK(fixture_call(f, make_and_fail, NULL, NULL)->status == HT_CONFLICT);
    CHECK(count(f) == 0);
}

int main(void)
{
    RUN_ON_CORE(the_newest_thousand_are_kept);
    RUN_ON_CORE(they_are_found_below_their_own_resource);
    RUN_ON_CORE(a_failed_one_says_why);
    RUN_ON_CORE(one_that_was_taken_back_is_not_kept);
    return check_done();
}
