/* What ended trials printed: found in their logs by a reader, stored by the
 * core. */
#include <pthread.h>
#include <string.h>

#include "proto/job/report.h"
#include "tests/lib/core_fixture.h"
#include "tests/lib/db_place.h"
#include "tuner/ask/printed.h"
#include "tuner/logs/log_lines.h"
#include "tuner/logs/logs.h"
#include "tuner/read/reader.h"

static const char spec[] = "spec: 1\nname: s\ngoal: maximize accuracy\n"
                           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                           "algorithm: random\ntrials: 5\nretries: 0\n"
                           "metrics: {stdout: 'loss={loss}'}\n"
                           "command: [./train]\n";

static struct logs *logs;

/* ---- logs ---- */

struct stored {
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool done;
    enum ht_status status;
};

static void on_stored(void *context, enum ht_status status, int64_t next)
{
    struct stored *stored = context;
    (void)next;
    pthread_mutex_lock(&stored->lock);
    stored->status = status;
    stored->done = true;
    pthread_cond_signal(&stored->came);
    pthread_mutex_unlock(&stored->lock);
}

static int64_t put(int64_t trial, int64_t offset, const char *data)
{
    const struct log_key key = {1, trial, 1, "master-0", "stdout"};
    struct stored stored = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                            false, HT_OK};
    const size_t len = strlen(data);
    logs_append(logs, &key, offset, (int64_t)len, data, len, on_stored,
                &stored);
    pthread_mutex_lock(&stored.lock);
    while (!stored.done)
        pthread_cond_wait(&stored.came, &stored.lock);
    pthread_mutex_unlock(&stored.lock);
    CHECK(stored.status == HT_OK);
    return offset + (int64_t)len;
}

/* A study whose first trials have ended without a result. */
static void begin(struct fixture *f, int trials)
{
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    for (int i = 0; i < trials; i++) {
        struct leased leased = fixture_lease_one(f);
        fixture_end_as(f, &leased, "\"outcome\":\"succeeded\",\"exit\":0");
        CHECK(fixture_await_trials(f, 1, TRIAL_INFEASIBLE, i + 1));
        if (i + 1 < trials)
            fixture_call(f, study_resume, "s", NULL);
    }
    CHECK(logs_start(arena_printf(f->arena, "%s/logs.db", f->dir), &logs,
                     NULL) == HT_OK);
}

static void close_logs(struct fixture *f)
{
    logs_stop(logs);
    db_place_remove(f->dir, "logs");
}

static void end(struct fixture *f, struct request *req)
{
    request_free(req);
    close_logs(f);
}

/* ---- the two halves of the method ---- */

#define ACCURACY "{\"patterns\":[\"accuracy={accuracy}\"]}"

static struct request *gather(struct fixture *f, const char *body,
                              int64_t deadline_ms)
{
    struct request *req = fixture_request(f, study_read_logs, body);
    struct reader reader = {.db = fixture_db(f),
                            .logs = logs,
                            .deadline_ms = deadline_ms,
                            .req = req};
    req->study = "s";
    req->status = read_printed(&reader, req, &req->err);
    db_close(reader.db);
    return req;
}

static const struct printed_trial *first_of(const struct request *req)
{
    const struct printed *printed = req->kept;
    CHECK(req->status == HT_OK && printed->n > 0);
    return &printed->trials[0];
}

static const struct node *store(struct fixture *f, struct request *req)
{
    core_post(f->core, req);
    fixture_wait(f, req);
    return req->status == HT_OK ? fixture_reply(req) : NULL;
}

/* ---- reading ---- */

static void lines_are_read_as_a_runner_reads_them(struct fixture *f)
{
    begin(f, 1);
    char *line = arena_alloc(f->arena, LOG_LINE_MOST + 64, 1);
    memset(line, 'x', LOG_LINE_MOST);
    strcpy(line + LOG_LINE_MOST, " accuracy=7\n"); /* too long to be read */
    int64_t at = put(1, 0, "accu");
    at = put(1, at, "racy=0.25\nloss=3\nval_accuracy=9\n");
    at = put(1, at, line);
    at = put(1, at, "accuracy=0.5 loss=2\nacc");
    put(1, at, "uracy=0.125");
    struct request *req = gather(f, ACCURACY, INT64_MAX);
    const struct printed_trial *trial = first_of(req);
    static const double values[] = {0.25, 3, 0.5, 0.125};
    static const char *const names[] = {"accuracy", "loss", "accuracy",
                                        "accuracy"};
    CHECK(trial->left == NULL && trial->n == 4);
    for (size_t i = 0; i < 4 && i < trial->n; i++) {
        CHECK(trial->reports[i].metrics[0].value == values[i]);
        CHECK_TEXT(trial->reports[i].metrics[0].name, names[i]);
        CHECK(trial->reports[i].seq == (int64_t)i + 1);
    }
    end(f, req);
}

static void a_log_with_a_hole_gives_nothing(struct fixture *f)
{
    begin(f, 2);
    put(1, 5, "accuracy=0.5\n"); /* without its beginning */
    put(2, put(2, 0, "accuracy=0.5\n") + 7, "accuracy=0.75\n");
    struct request *req = gather(f, ACCURACY, INT64_MAX);
    const struct printed_trial *trials = first_of(req);
    CHECK_TEXT(trials[0].left, "its log is cut: bytes from 0 on are missing");
    CHECK_TEXT(trials[1].left, "its log is cut: bytes from 13 on are missing");
    end(f, req);
}

static void a_hidden_digit_is_no_value(struct fixture *f)
{
    begin(f, 2);
    put(1, 0, "key *** accuracy=0.5\n");
    put(2, 0, "accuracy=0.***\n");
    struct request *req = gather(f, ACCURACY, INT64_MAX);
    const struct printed_trial *trials = first_of(req);
    CHECK(trials[0].left == NULL && trials[0].n == 1);
    CHECK_TEXT(trials[1].left, "a secret is hidden in a line with a value");
    end(f, req);
}

static void what_is_not_there_is_said(struct fixture *f)
{
    begin(f, 2);
    put(2, 0, "nothing\n");
    struct request *req = gather(f, ACCURACY, INT64_MAX);
    const struct printed_trial *trials = first_of(req);
    CHECK_TEXT(trials[0].left, "it has no log of stdout");
    CHECK_TEXT(trials[1].left, "no line of its stdout matches");
    CHECK(store(f, req) == NULL && req->status == HT_PRECONDITION);
    CHECK_TEXT(req->err.text,
               "no log of the 2 trials without accuracy has it, nothing was "
               "changed; trial 1: it has no log of stdout");
    close_logs(f);
}

static void a_late_reader_leaves_the_rest_for_later(struct fixture *f)
{
    begin(f, 2);
    struct request *req = gather(f, ACCURACY, 0);
    const struct printed *printed = req->kept;
    CHECK(printed->n == 1 && printed->next == 1);
    request_free(req);
    req = gather(f, "{\"after\":1}", 0);
    printed = req->kept;
    CHECK(printed->n == 1 && printed->next == 0 && printed->trials[0].id == 2);
    end(f, req);
}

static void a_wrong_pattern_is_named(struct fixture *f)
{
    begin(f, 1);
    struct request *req =
        gather(f, "{\"patterns\":[\"a={accuracy}\",\"b={accuracy\"]}", 0);
    CHECK(req->status == HT_INVALID);
    CHECK_TEXT(req->err.text, "patterns[1]: a brace is not closed");
    end(f, req);
}

/* ---- storing ---- */

static void what_was_printed_counts_as_reported(struct fixture *f)
{
    begin(f, 1);
    CHECK(fixture_await_study(f, 1, STUDY_PAUSED));
    const struct trial_row before = fixture_trial(f, 1, 1);
    put(1, 0, "accuracy=0.5\naccuracy=0.25\n");
    const struct node *reply = store(f, gather(f, ACCURACY, INT64_MAX));
    const struct trial_row trial = fixture_trial(f, 1, 1);
    CHECK(trial.state == TRIAL_SUCCEEDED && trial.objective == 0.25);
    CHECK(trial.final_step == 2 && trial.ended_ms == before.ended_ms);
    CHECK_TEXT(trial.reason, "accuracy was read from its log with the pattern "
                             "accuracy={accuracy}");
    CHECK(fixture_study(f, 1).state == STUDY_RUNNING);
    CHECK(strstr(fixture_study(f, 1).spec,
                 "[\"accuracy={accuracy}\",\"loss={loss}\"]") != NULL);
    CHECK_TEXT(node_get_string(reply, "state", ""), "RUNNING");
    CHECK_TEXT(node_get_string(node_first(reply, "read"), "trial", ""), "1");
    struct trial_counts counts;
    struct db *db = fixture_db(f);
    CHECK(db_trial_counts(db, 1, &counts, NULL) == HT_OK);
    CHECK(counts.of[TRIAL_SUCCEEDED] == 1 && counts.of[TRIAL_INFEASIBLE] == 0);
    db_close(db);
    close_logs(f);
}

static void what_is_no_result_is_not_stored(struct fixture *f)
{
    begin(f, 2);
    put(1, 0, "accuracy=0.5\naccuracy=nan\n");
    put(2, 0, "accuracy=0.5\n");
    const struct node *reply = store(f, gather(f, ACCURACY, INT64_MAX));
    CHECK(fixture_trial(f, 1, 1).state == TRIAL_INFEASIBLE);
    CHECK(fixture_latest(f, 1, 1).metrics == NULL);
    CHECK(fixture_trial(f, 1, 2).state == TRIAL_SUCCEEDED);
    CHECK_TEXT(node_get_string(node_first(reply, "left"), "reason", ""),
               "accuracy was NaN at step 2");
    close_logs(f);
}

static void a_trial_that_runs_again_meanwhile_is_left(struct fixture *f)
{
    begin(f, 2);
    put(1, 0, "accuracy=0.5\n");
    put(2, 0, "accuracy=0.5\n");
    struct request *req = gather(f, ACCURACY, INT64_MAX);
    fixture_call_trial(f, trial_retry, "s", "1", NULL);
    const struct node *reply = store(f, req);
    CHECK_TEXT(node_get_string(node_first(reply, "left"), "reason", ""),
               "it was changed meanwhile");
    CHECK(fixture_trial(f, 1, 1).state != TRIAL_SUCCEEDED);
    CHECK(fixture_latest(f, 1, 1).metrics == NULL);
    close_logs(f);
}

int main(void)
{
    json_init();
    RUN_ON_CORE(lines_are_read_as_a_runner_reads_them);
    RUN_ON_CORE(a_log_with_a_hole_gives_nothing);
    RUN_ON_CORE(a_hidden_digit_is_no_value);
    RUN_ON_CORE(what_is_not_there_is_said);
    RUN_ON_CORE(a_late_reader_leaves_the_rest_for_later);
    RUN_ON_CORE(a_wrong_pattern_is_named);
    RUN_ON_CORE(what_was_printed_counts_as_reported);
    RUN_ON_CORE(what_is_no_result_is_not_stored);
    RUN_ON_CORE(a_trial_that_runs_again_meanwhile_is_left);
    return check_done();
}
