/* Studies that keep the outputs of their best trials only. */
#include "tests/lib/core_fixture.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
    "algorithm: random\ntrials: 9\nparallel: 1\nseed: 1\nretries: 0\n"
    "command: [./train]\nkeep: {best: 2}\n";

static void open_study_of(struct fixture *f, const char *text)
{
    fixture_open(f);
    CHECK(fixture_submit(f, text)->status == HT_OK);
    fixture_hello(f, 1);
}

static void open_study(struct fixture *f)
{
    open_study_of(f, spec);
}

static void run(struct fixture *f, const char *accuracy)
{
    struct leased leased = fixture_lease_one(f);
    if (accuracy != NULL)
        fixture_succeed(f, &leased, accuracy);
    else
        fixture_end_as(f, &leased, "\"outcome\":\"failed\",\"exit\":1");
}

/* What a heartbeat is told to discard: "3 5 ". */
static const char *unwanted(struct fixture *f, const char *said)
{
    struct text members = {0};
    text_printf(&members, "\"attempts\":[],\"discarded\":[%s]", said);
    struct request *req = fixture_control(f, "heartbeat", members.data);
    text_clear(&members);
    const struct node *list = node_find(fixture_reply(req), "discard");
    CHECK(list != NULL);
    text_puts(&members, "");
    for (const struct node *item = list->first; item; item = item->next)
        text_printf(&members, "%lld ",
                    (long long)node_get_int(item, "trial", 0));
    const char *copy =
        arena_strdup(f->arena, members.len > 0 ? members.data : "");
    text_free(&members);
    return copy;
}

static void those_that_are_not_among_the_best_are_unwanted(void)
{
    struct fixture f;
    open_study(&f);
    run(&f, "0.5");
    run(&f, "0.7");
    CHECK_TEXT(unwanted(&f, ""), "");
    run(&f, "0.6");
    CHECK_TEXT(unwanted(&f, ""), "1 ");
    run(&f, "0.1");
    run(&f, NULL);
    CHECK_TEXT(unwanted(&f, ""), "1 4 5 ");
    run(&f, "0.6"); /* as good as an older one */
    CHECK_TEXT(unwanted(&f, ""), "1 4 5 6 ");
    fixture_close(&f);
}

static void of_several_metrics_what_nothing_beats_is_wanted(void)
{
    struct fixture f;
    open_study_of(&f, "spec: 1\nname: s\n"
                      "goal: [maximize accuracy, maximize speed]\n"
                      "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                      "algorithm: random\ntrials: 9\nparallel: 1\nretries: 0\n"
                      "command: [./train]\nkeep: {best: 1}\n");
    run(&f, "0.5,\"speed\":5");
    run(&f, "0.6,\"speed\":4");
    run(&f, "0.4,\"speed\":6");
    CHECK_TEXT(unwanted(&f, ""), "");
    run(&f, "0.1,\"speed\":1"); /* is beaten */
    run(&f, NULL);
    CHECK_TEXT(unwanted(&f, ""), "4 5 ");
    run(&f, "0.7,\"speed\":5"); /* beats two */
    CHECK_TEXT(unwanted(&f, ""), "1 2 4 5 ");
    fixture_close(&f);
}

static void what_was_done_is_remembered_and_shown(void)
{
    struct fixture f;
    open_study(&f);
    run(&f, "0.5");
    run(&f, "0.7");
    run(&f, "0.6");
    run(&f, NULL);
    CHECK_TEXT(unwanted(&f, ""), "1 4 ");
    fixture_stop(&f);
    CHECK(fixture_start(&f));
    CHECK_TEXT(unwanted(&f, "{\"study\":1,\"trial\":1}"), "4 ");
    CHECK_TEXT(unwanted(&f, "{\"study\":1,\"trial\":4,\"kept\":true},"
                            "{\"study\":1,\"trial\":2},{\"study\":9}"),
               "");
    struct db *db = fixture_db(&f);
    static const enum outputs_state wanted[] = {
        OUTPUTS_DISCARDED, OUTPUTS_THERE, OUTPUTS_THERE, OUTPUTS_KEPT};
    for (int64_t i = 0; i < 4; i++) {
        struct attempt_list list = {0};
        CHECK(db_attempt_list(db, f.arena, 1, i + 1, &list, NULL) == HT_OK);
        CHECK(list.n == 1 && list.rows[0].outputs == wanted[i]);
    }
    db_close(db);
    fixture_close(&f);
}

static void another_runner_has_nothing_to_remove(void)
{
    struct fixture f;
    open_study(&f);
    run(&f, NULL);
    struct request *req = fixture_request(
        &f, control_handle,
        "{\"v\":1,\"type\":\"hello\",\"token\":\"" RUNNER_TOKEN
        "\",\"runner\":\"r2\",\"boot\":\"b\",\"id\":1,\"slots\":1}");
    core_post(f.core, req);
    fixture_wait(&f, req);
    req = fixture_request(
        &f, control_handle,
        "{\"v\":1,\"type\":\"heartbeat\",\"token\":\"" RUNNER_TOKEN
        "\",\"runner\":\"r2\",\"boot\":\"b\",\"id\":2,"
        "\"discarded\":[{\"study\":1,\"trial\":1}]}");
    core_post(f.core, req);
    fixture_wait(&f, req);
    CHECK(req->status == HT_OK);
    CHECK(node_find(fixture_reply(req), "discard")->count == 0);
    CHECK_TEXT(unwanted(&f, ""), "1 ");
    fixture_close(&f);
}

static void a_trial_that_is_tried_again_keeps_what_is_left(void)
{
    struct fixture f;
    open_study(&f);
    run(&f, NULL);
    CHECK_TEXT(unwanted(&f, ""), "1 ");
    CHECK(fixture_call_trial(&f, trial_retry, "s", "1", NULL)->status == HT_OK);
    CHECK_TEXT(unwanted(&f, ""), "");
    run(&f, "0.5");
    CHECK_TEXT(unwanted(&f, ""), "");
    fixture_close(&f);
}

int main(void)
{
    RUN(those_that_are_not_among_the_best_are_unwanted);
    RUN(of_several_metrics_what_nothing_beats_is_wanted);
    RUN(what_was_done_is_remembered_and_shown);
    RUN(another_runner_has_nothing_to_remove);
    RUN(a_trial_that_is_tried_again_keeps_what_is_left);
    return check_done();
}
