#include "tuner/core/audit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "tuner/base/budget.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/audit.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60000,   /* in which routine requests share a line */
    RECENT = 256,        /* such lines that are remembered */
    PEERS = 64,          /* addresses counted apart; all others together */
    PRUNE_MS = 3600000,  /* between looks for old lines */
    PRUNE_LINES = 10000, /* a look also after so many new ones */
    PRUNE_STEP = 500,    /* lines deleted in one transaction */
    ERROR_BYTES = 200,
    DETAIL_BYTES = 200
};
#define DAY_MS INT64_C(86400000)

/* The newest line of one kind of routine request. */
struct recent {
    uint64_t hash; /* of who, peer, action, study and code */
    int64_t id, time_ms;
};

/* Refusals of one address within the present second of it. */
struct refusing {
    char peer[PRINCIPAL_PEER_BYTES];
    int64_t since_ms; /* monotonic */
    int64_t n, more;  /* stored, and only counted */
    int64_t code;     /* of the newest one counted */
};

struct audit {
    struct recent recent[RECENT]; /* the core thread's own */
    int64_t prune_ms;             /* monotonic: the next look */
    int64_t new_lines;            /* since the last one */
    int64_t flush_ms;             /* monotonic; LIVE_NEVER: nothing to count */
    pthread_mutex_t lock;         /* guards what follows */
    struct refusing peers[PEERS + 1]; /* the last: all other addresses */
};

static struct audit *audit_of(struct core *core)
{
    return core_part(core, CORE_AUDIT);
}

enum ht_status audit_start(struct core *core, void **data, struct ht_error *err)
{
    (void)err;
    struct audit *audit = ht_xcalloc(1, sizeof *audit);
    audit->prune_ms = core_now_ms(core) + MINUTE_MS;
    audit->flush_ms = LIVE_NEVER;
    pthread_mutex_init(&audit->lock, NULL);
    *data = audit;
    return HT_OK;
}

void audit_stop(void *data)
{
    struct audit *audit = data;
    if (audit != NULL)
        pthread_mutex_destroy(&audit->lock);
    free(audit);
}

/* --- lines --- */

static const char *or_none(const char *text)
{
    return text != NULL ? text : "";
}

static const char *cut(struct arena *arena, const char *text, int bytes)
{
    size_t n = strnlen(text, (size_t)bytes);
    while (text[n] != '\0' && n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
        n--; /* not inside a character */
    return arena_printf(arena, "%.*s", (int)n, text);
}

/* What a stranger sends may be long; "" of a path without a route. */
static const char *action_of(struct arena *arena, const char *method,
                             const char *pattern)
{
    return method == NULL
               ? ""
               : arena_printf(arena, "%s %s", method,
                              cut(arena, or_none(pattern), DETAIL_BYTES));
}

/* An address has no space. */
static const char *peer_of(struct arena *arena, const char *address,
                           const struct principal *from)
{
    return from->certificate[0] == '\0'
               ? arena_strdup(arena, address)
               : arena_printf(arena, "%s %s", address, from->certificate);
}

static bool is_refusal(enum ht_status status)
{
    return status == HT_UNAUTHENTICATED || status == HT_DENIED ||
           status == HT_MISDIRECTED;
}

static struct audit_row row_of(struct core *core, const struct request *req,
                               enum ht_status status)
{
    const struct audit_subject *subject = &req->subject;
    const int64_t now_ms = core_wall_ms(core);
    return (struct audit_row){
        .time_ms = now_ms,
        .last_ms = now_ms,
        .count = 1,
        .refused = is_refusal(status),
        .code = ht_status_http(status),
        .who = req->from.name,
        .peer = peer_of(req->arena, req->from.peer, &req->from),
        .forwarded = "",
        .action = action_of(req->arena, req->method, req->pattern),
        .project = or_none(subject->project != NULL ? subject->project
                                                    : req->scope.project),
        .study = subject->study,
        .study_name =
            cut(req->arena,
                or_none(subject->name != NULL ? subject->name : req->study),
                DETAIL_BYTES),
        .trial = cut(req->arena, or_none(req->trial), DETAIL_BYTES),
        .detail = cut(
            req->arena,
            or_none(subject->detail != NULL ? subject->detail : req->operation),
            DETAIL_BYTES),
        .error =
            status == HT_OK ? "" : cut(req->arena, req->err.text, ERROR_BYTES),
    };
}

static enum ht_status insert(struct core *core, const struct audit_row *row,
                             int64_t *id, struct ht_error *err)
{
    struct audit *audit = audit_of(core);
    if (++audit->new_lines >= PRUNE_LINES)
        audit->prune_ms = 0;
    return db_audit_insert(core_db(core), row, id, err);
}

/* FNV-1a; a wrong match is found out by the database. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    while (*text++ != '\0');
    return hash;
}

static uint64_t hash_row(const struct audit_row *row)
{
    uint64_t hash = 0xcbf29ce484222325U;
    hash = hash_text(hash, row->who);
    hash = hash_text(hash, row->peer);
    hash = hash_text(hash, row->action);
    return (hash ^ (uint64_t)row->study ^ (uint64_t)row->code << 40) *
           0x100000001b3U;
}

static enum ht_status write_routine(struct core *core,
                                    const struct audit_row *row,
                                    struct ht_error *err)
{
    const uint64_t hash = hash_row(row);
    struct recent *recent = &audit_of(core)->recent[hash % RECENT];
    bool found = false;
    enum ht_status status = HT_OK;
    if (recent->hash == hash && row->time_ms - recent->time_ms < MINUTE_MS &&
        row->time_ms >= recent->time_ms)
        status = db_audit_count(core_db(core), recent->id, row, &found, err);
    if (status != HT_OK || found)
        return status;
    status = insert(core, row, &recent->id, err);
    recent->hash = hash;
    recent->time_ms = row->time_ms;
    return status;
}

enum ht_status audit_write(struct core *core, const struct request *req,
                           enum ht_status status, struct ht_error *err)
{
    int64_t id;
    if (req->audit == AUDIT_NOT || audit_of(core) == NULL ||
        (status == HT_OK && req->held_until_ms > 0))
        return HT_OK;
    const struct audit_row row = row_of(core, req, status);
    /* What failed changed nothing: alike ones share a line, so that they push
     * no changes out. */
    return req->audit == AUDIT_ROUTINE || status != HT_OK
               ? write_routine(core, &row, err)
               : insert(core, &row, &id, err);
}

/* --- from outside the core --- */

static struct refusing *find_peer(struct audit *audit, const char *peer,
                                  int64_t now_ms)
{
    struct refusing *fit = &audit->peers[PEERS];
    for (size_t i = 0; i < PEERS; i++) {
        struct refusing *at = &audit->peers[i];
        const bool live = now_ms - at->since_ms < SECOND_MS || at->more > 0;
        if (live && strcmp(at->peer, peer) == 0)
            return at;
        if ((!live || at->n == 0) && fit == &audit->peers[PEERS])
            fit = at;
    }
    if (fit != &audit->peers[PEERS]) {
        *fit = (struct refusing){.since_ms = now_ms};
        snprintf(fit->peer, sizeof fit->peer, "%s", peer);
    }
    return fit;
}

/* Whether it gets a line of its own; otherwise it is counted. */
static bool admit(struct audit *audit, const char *peer, int64_t code)
{
    const int64_t now_ms = clock_monotonic_ms();
    pthread_mutex_lock(&audit->lock);
    struct refusing *refusing = find_peer(audit, peer, now_ms);
    if (now_ms - refusing->since_ms >= SECOND_MS && refusing->more == 0) {
        refusing->since_ms = now_ms;
        refusing->n = 0;
    }
    const bool own = refusing->n < budget_of(BUDGET_REFUSALS);
    refusing->n += own;
    refusing->more += !own;
    if (!own)
        refusing->code = code;
    pthread_mutex_unlock(&audit->lock);
    if (!own)
        budget_exceeded(BUDGET_REFUSALS);
    return own;
}

static enum ht_status store(struct core *core, struct request *req,
                            struct ht_error *err)
{
    int64_t id;
    const struct audit_row *row = req->kept;
    text_puts(&req->reply, "{}");
    return insert(core, row, &id, err);
}

/* A line, also one that was not stored, wakes the core, which looks a second
 * later what was counted since. */
static void end_store(struct request *req)
{
    struct core *core = req->owner;
    if (core_is_here(core) && audit_of(core)->flush_ms == LIVE_NEVER)
        audit_of(core)->flush_ms = core_now_ms(core) + SECOND_MS;
    request_free(req);
}

void audit_note(struct core *core, const struct audit_note *note)
{
    static const struct principal nobody = {.name = ""};
    const struct principal *from = note->from != NULL ? note->from : &nobody;
    const char *peer = from->peer[0] != '\0' ? from->peer : or_none(note->peer);
    const int64_t code = ht_status_http(note->status);
    const bool sure = note->status == HT_OK && from->name[0] != '\0';
    if (!sure && !admit(audit_of(core), peer, code))
        return;
    struct request *req = request_new();
    struct arena *arena = req->arena;
    struct audit_row *row = arena_alloc(arena, 1, sizeof *row);
    const int64_t now_ms = clock_wall_ms();
    *row = (struct audit_row){
        .time_ms = now_ms,
        .last_ms = now_ms,
        .count = 1,
        .refused = is_refusal(note->status),
        .code = code,
        .who = arena_strdup(arena, from->name),
        .peer = peer_of(arena, peer, from),
        .forwarded = "",
        .action = action_of(arena, note->method, note->pattern),
        .project = "",
        .study_name = cut(arena, or_none(note->study), DETAIL_BYTES),
        .trial = cut(arena, or_none(note->trial), DETAIL_BYTES),
        .detail = cut(arena, or_none(note->detail), DETAIL_BYTES),
        .error = cut(arena, or_none(note->error), ERROR_BYTES),
    };
    req->kept = row;
    req->handle = store;
    req->owner = core;
    req->answer = end_store;
    core_post(core, req);
}

/* --- ticks --- */

struct flushed {
    size_t place; /* among the peers */
    int64_t more; /* that have a line now */
};

/* Only now: what is not committed is counted still. */
static void apply_flushed(struct core *core, const void *data)
{
    const struct flushed *flushed = data;
    struct audit *audit = audit_of(core);
    pthread_mutex_lock(&audit->lock);
    struct refusing *at = &audit->peers[flushed->place];
    at->more -= flushed->more;
    at->n = 0;
    at->since_ms = core_now_ms(core);
    pthread_mutex_unlock(&audit->lock);
}

/* Copies all, with `more` 0 where the second is not over; whether some are. */
static bool copy_counted(struct audit *audit, int64_t now_ms,
                         struct refusing counted[PEERS + 1])
{
    bool waiting = false;
    pthread_mutex_lock(&audit->lock);
    memcpy(counted, audit->peers, sizeof audit->peers);
    pthread_mutex_unlock(&audit->lock);
    for (size_t i = 0; i <= PEERS; i++) {
        const bool recent = now_ms - counted[i].since_ms < SECOND_MS;
        waiting |= counted[i].more > 0 || recent;
        counted[i].more *= !recent;
    }
    return waiting;
}

static enum ht_status flush(struct core *core, struct audit *audit,
                            struct ht_error *err)
{
    struct refusing counted[PEERS + 1];
    const int64_t now_ms = core_now_ms(core), wall_ms = core_wall_ms(core);
    const bool waiting = copy_counted(audit, now_ms, counted);
    enum ht_status status = HT_OK;
    audit->flush_ms = waiting ? now_ms + SECOND_MS : LIVE_NEVER;
    for (size_t i = 0; status == HT_OK && i <= PEERS; i++) {
        int64_t id;
        const struct flushed flushed = {i, counted[i].more};
        if (flushed.more == 0)
            continue;
        const struct audit_row row = {.time_ms = wall_ms - SECOND_MS,
                                      .last_ms = wall_ms,
                                      .count = counted[i].more,
                                      .refused = true,
                                      .code = counted[i].code,
                                      .who = "",
                                      .peer = counted[i].peer,
                                      .forwarded = "",
                                      .action = "",
                                      .project = "",
                                      .study_name = "",
                                      .trial = "",
                                      .detail = "more refusals of this address "
                                                "without a line of their own",
                                      .error = ""};
        status = insert(core, &row, &id, err);
        core_defer(core, apply_flushed, &flushed, sizeof flushed);
    }
    return status;
}

static enum ht_status prune(struct core *core, struct audit *audit,
                            struct ht_error *err)
{
    const struct audit_bounds bounds = {
        .before_ms = core_wall_ms(core) - budget_of(BUDGET_AUDIT_DAYS) * DAY_MS,
        .most = budget_of(BUDGET_AUDIT_LINES),
        .step = PRUNE_STEP};
    int64_t deleted;
    const enum ht_status status =
        db_audit_prune(core_db(core), &bounds, &deleted, err);
    audit->new_lines = 0;
    audit->prune_ms = core_now_ms(core) +
                      (status == HT_OK && deleted > 0 ? SECOND_MS : PRUNE_MS);
    return status;
}

enum ht_status audit_tick(struct core *core, struct ht_error *err)
{
    struct audit *audit = audit_of(core);
    enum ht_status status = HT_OK;
    if (audit->flush_ms <= core_now_ms(core))
        status = flush(core, audit, err);
    if (status == HT_OK && audit->prune_ms <= core_now_ms(core))
        status = prune(core, audit, err);
    return status;
}

int64_t audit_deadline(struct core *core)
{
    const struct audit *audit = audit_of(core);
    return audit->flush_ms < audit->prune_ms ? audit->flush_ms
                                             : audit->prune_ms;
}
