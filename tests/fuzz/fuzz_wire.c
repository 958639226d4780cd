/* Any lines as the messages of one runner (after "c") and of its trial (after
 * "r"), as the server reads and handles them one after another: none is its own
 * fault, each has an answer, and what is stored stays consistent.
 *
 * All of an input happens in one savepoint that is taken back, so that inputs
 * do not depend on those before.
 *
 * fuzz-with: testlib tuner algorithms */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "tests/lib/core_fixture.h"
#include "tuner/wire/envelope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* In an input, where the running trial's token is to be. */
static const char token_mark[] = "00000000000000000000000000000000";
static const char spec[] = "spec: 1\nname: s\ngoal: maximize accuracy\n"
                           "parameters:\n  lr: {type: double, min: 0, max: 1}\n"
                           "algorithm: random\ntrials: 9\nparallel: 3\n"
                           "seed: 1\ncommand: [./train]\n";

static struct fixture fixture;
static struct leased running; /* trial 1 */

static struct { /* the input under way */
    const char *text;
    size_t len;
} input;

static void check_answer(struct request *req)
{
    struct text out = {0};
    struct diag diag;
    wire_answer(req, &out);
    diag_init(&diag, req->arena, "answer", out.data, out.len);
    const struct node *map =
        node_read_json(req->arena, out.data, out.len, &diag);
    if (map == NULL || node_get_int(map, "v", 0) != 1 ||
        *node_get_string(map, "status", "") == '\0')
        abort();
    text_free(&out);
}

/* As the loop of the core does it: a failure takes back what it changed. */
static void handle(struct core *core, struct request *req)
{
    struct db *db = core_db(core);
    if (db_savepoint(db, NULL) != HT_OK)
        abort();
    req->status = req->handle(core, req, &req->err);
    if (req->status == HT_OK)
        req->status = db_release(db, &req->err);
    else
        db_rollback_to(db);
    if (req->status == HT_INTERNAL || req->status == HT_CORRUPT ||
        req->status == HT_IO)
        abort();
    if (req->status == HT_OK && req->reply.len == 0 && req->held_until_ms == 0)
        abort();
    if (req->held_until_ms == 0)
        check_answer(req);
}

static void take_message(struct core *core, const char *line, size_t len)
{
    struct request *req = request_new();
    struct diag diag;
    char *text = arena_strndup(req->arena, line + 1, len - 1);
    char *at = strstr(text, token_mark);
    if (at != NULL)
        memcpy(at, running.token, sizeof token_mark - 1);
    diag_init(&diag, req->arena, "message", text, strlen(text));
    req->body = node_read_json(req->arena, text, strlen(text), &diag);
    req->handle = line[0] == 'r' ? report_handle : control_handle;
    if (req->body != NULL)
        handle(core, req);
    request_free(req);
}

static enum ht_status play(struct core *core, struct request *req,
                           struct ht_error *err)
{
    (void)req;
    for (size_t at = 0; at < input.len;) {
        const char *line = input.text + at;
        const char *end = memchr(line, '\n', input.len - at);
        const size_t len = end == NULL ? input.len - at : (size_t)(end - line);
        if (len > 1)
            take_message(core, line, len);
        at += len + 1;
    }
    if (db_measurement_check(core_db(core), NULL) != HT_OK)
        abort();
    return ht_fail(err, HT_CONFLICT, "taken back");
}

static void end(void)
{
    fixture_close(&fixture);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    fixture_open(&fixture);
    fixture_stop(&fixture);
    fixture.options.lost_after_ms = INT64_C(1) << 40; /* never */
    fixture_start(&fixture);
    fixture_submit(&fixture, spec);
    fixture_hello(&fixture, 3);
    running = fixture_begin(&fixture);
    atexit(end);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input.text = (const char *)data;
    input.len = size;
    struct request *req = fixture_request(&fixture, play, NULL);
    core_post(fixture.core, req);
    fixture_wait(&fixture, req);
    if (req->status != HT_CONFLICT)
        abort();
    fixture.answers = req->next;
    request_free(req);
    return 0;
}
