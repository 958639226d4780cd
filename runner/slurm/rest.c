/* rest.c - the way of slurmrestd. */

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "runner/base/json.h"
#include "runner/docker/docker.h"
#include "runner/slurm/listing.h"
#include "runner/slurm/rest_http.h"
#include "runner/slurm/rest_json.h"
#include "runner/slurm/rest_options.h"
#include "runner/slurm/way.h"

enum { NAME_BYTES = 32 };

struct rest {
    struct rest_http *http;
    int version;           /* of the API: 38 is v0.0.38 */
    char name[NAME_BYTES]; /* of the way */
};

static enum ht_status call(struct rest *rest,
                           const struct rest_request *request,
                           struct arena *arena, const struct node **answer,
                           struct ht_error *err)
{
    return rest_http_call(rest->http, request,
                          clock_monotonic_ms() + SLURM_PATIENCE_MS, arena,
                          answer, err);
}

static const char *path_of(const struct rest *rest, struct arena *arena,
                           const char *what)
{
    return arena_printf(arena, "/slurm/v0.0.%d/%s", rest->version, what);
}

static enum ht_status get(struct rest *rest, const char *what,
                          struct arena *arena, const struct node **answer,
                          struct ht_error *err)
{
    return call(rest,
                &(struct rest_request){"GET", path_of(rest, arena, what), NULL},
                arena, answer, err);
}

/* ---- open ---- */

/* From high to low; where there is no such version the answer is 404. */
static enum ht_status probe(struct rest *rest, struct arena *arena,
                            int64_t deadline_ms, struct ht_error *err)
{
    enum ht_status status = HT_NOT_FOUND;
    for (int v = REST_NEWEST; v >= REST_OLDEST && status == HT_NOT_FOUND; v--) {
        const struct node *answer;
        rest->version = v;
        const struct rest_request ping = {"GET", path_of(rest, arena, "ping"),
                                          NULL};
        status =
            rest_http_call(rest->http, &ping, deadline_ms, arena, &answer, err);
    }
    return status;
}

static enum ht_status find_version(struct rest *rest, struct arena *arena,
                                   struct ht_error *err)
{
    const int64_t deadline_ms = clock_monotonic_ms() + SLURM_PATIENCE_MS;
    const struct rest_request ask = {"GET", "/openapi/v3", NULL};
    const struct node *openapi;
    enum ht_status status =
        rest_http_call(rest->http, &ask, deadline_ms, arena, &openapi, err);
    if (status == HT_OK)
        rest->version = rest_find_version(openapi);
    else if (status == HT_NOT_FOUND)
        status = probe(rest, arena, deadline_ms, err);
    if (rest->version == 0 || status == HT_NOT_FOUND)
        return status == HT_OK || status == HT_NOT_FOUND
                   ? ht_fail(err, HT_INVALID,
                             "%s speaks none of the versions v0.0.%d to "
                             "v0.0.%d of slurmrestd",
                             rest_http_address(rest->http), REST_OLDEST,
                             REST_NEWEST)
                   : status;
    return status;
}

static void close_rest(void *state)
{
    struct rest *rest = state;
    rest_http_free(rest->http);
    free(rest);
}

static void abort_rest(void *state)
{
    const struct rest *rest = state;
    rest_http_abort(rest->http);
}

static enum ht_status open_rest(const struct slurm_settings *settings,
                                void **state, struct ht_error *err)
{
    struct rest *rest = ht_xcalloc(1, sizeof *rest);
    struct arena *arena = arena_new();
    enum ht_status status = rest_http_new(settings, &rest->http, err);
    if (status == HT_OK)
        status = find_version(rest, arena, err);
    arena_free(arena);
    if (status != HT_OK) {
        close_rest(rest);
        return status;
    }
    (void)snprintf(rest->name, sizeof rest->name, "slurmrestd, v0.0.%d",
                   rest->version);
    *state = rest;
    return HT_OK;
}

static const char *name_rest(const void *state)
{
    const struct rest *rest = state;
    return rest->name;
}

/* ---- cancel ---- */

/* From v0.0.40 on; the controller itself looks at the state. `id` has no
 * elements: a whole job. */
static enum ht_status kill_jobs(struct rest *rest, struct arena *arena,
                                const char *id, bool waiting,
                                struct ht_error *err)
{
    static const char *const pending = "PENDING";
    const struct node *answer;
    struct text body = {0};
    json_open(&body, NULL);
    json_put_strings(&body, "jobs", &(struct strings){1, &id});
    if (waiting)
        json_put_strings(&body, "job_state", &(struct strings){1, &pending});
    json_close(&body);
    const struct rest_request request = {
        "DELETE", path_of(rest, arena, "jobs/"), text_take(&body, arena)};
    const enum ht_status status = call(rest, &request, arena, &answer, err);
    return status == HT_OK ? rest_check_kill(arena, answer, err) : status;
}

/* Up to v0.0.39. Where some elements are gone the answer is that there is no
 * such job, and the others are cancelled all the same. */
static enum ht_status delete_job(struct rest *rest, struct arena *arena,
                                 const char *id, struct ht_error *err)
{
    const struct node *answer;
    const char *escaped = docker_escape(arena, id);
    const struct rest_request request = {
        "DELETE", path_of(rest, arena, arena_printf(arena, "job/%s", escaped)),
        NULL};
    return call(rest, &request, arena, &answer, err);
}

static enum ht_status cancel_id(struct rest *rest, struct arena *arena,
                                const char *id, struct ht_error *err)
{
    const enum ht_status status = rest->version >= REST_KILL_JOBS
                                      ? kill_jobs(rest, arena, id, false, err)
                                      : delete_job(rest, arena, id, err);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

/* What of the range one listing has as waiting, as "JOB_[4-9,12-12]"; NULL:
 * nothing. Of a list that is cut off it is what has no row of its own, which
 * what has begun always has. *more: there was no place for all. */
static const char *waiting_text(struct arena *arena,
                                const struct slurm_rows *rows,
                                const struct slurm_row *range, bool *more)
{
    enum { MOST_PARTS = 256 };
    enum { HAS_NO_ROW, WAITS, HAS_BEGUN };
    const int n = range->last - range->first + 1;
    char *known = arena_alloc(arena, (size_t)n, 1);
    bool cut = false;
    for (size_t i = 0; i < rows->n; i++) {
        const struct slurm_row *row = &rows->rows[i];
        const bool waits = row->state == SLURM_PENDING ||
                           row->state == SLURM_HELD ||
                           row->state == SLURM_REQUEUED;
        cut |= row->cut;
        for (int k = row->first > range->first ? row->first : range->first;
             !row->cut && k <= row->last && k <= range->last; k++)
            known[k - range->first] = waits ? WAITS : HAS_BEGUN;
    }
    struct text parts = {0};
    int n_parts = 0;
    for (int from = 0, to; from < n && n_parts < MOST_PARTS; from = to + 1) {
        to = from;
        while (to < n && (known[to] == WAITS || (cut && !known[to])))
            to++;
        if (to > from)
            text_printf(&parts, "%s%d-%d", n_parts++ > 0 ? "," : "",
                        range->first + from, range->first + to - 1);
    }
    *more = n_parts == MOST_PARTS;
    const char *text = text_take(&parts, arena);
    if (n_parts == 0)
        return NULL;
    return range->first == SLURM_WHOLE
               ? listing_elements(arena, range->job, SLURM_WHOLE, 0)
               : arena_printf(arena, "%" PRId64 "_[%s]", range->job, text);
}

static enum ht_status cancel_rows(struct rest *rest, struct arena *arena,
                                  const struct slurm_row *range, bool *more,
                                  struct ht_error *err)
{
    const struct node *answer;
    struct rest_user user;
    struct slurm_rows rows = {0};
    const char *path = arena_printf(arena, "job/%" PRId64, range->job);
    enum ht_status status = rest_http_user(rest->http, arena, &user, err);
    if (status == HT_OK)
        status = get(rest, path, arena, &answer, err);
    *more = false;
    if (status != HT_OK)
        return status == HT_NOT_FOUND ? HT_OK : status;
    rest_rows(arena, answer, "", &user, &rows);
    const char *id = waiting_text(arena, &rows, range, more);
    return id != NULL ? cancel_id(rest, arena, id, err) : HT_OK;
}

/* Up to v0.0.39 a request cannot say which state it means: what waits is read
 * right before. An element that begins between the two requests is cancelled
 * all the same. */
static enum ht_status cancel_listed(struct rest *rest, struct arena *arena,
                                    int64_t job, int first, int last,
                                    struct ht_error *err)
{
    const struct slurm_row range = {.job = job, .first = first, .last = last};
    enum ht_status status = HT_OK;
    bool more = true;
    while (more && status == HT_OK)
        status = cancel_rows(rest, arena, &range, &more, err);
    return status;
}

static enum ht_status cancel(void *state, int64_t job, int first, int last,
                             bool waiting, struct ht_error *err)
{
    struct rest *rest = state;
    struct arena *arena = arena_new();
    const char *id = listing_elements(arena, job, first, last);
    enum ht_status status;
    if (!waiting)
        status = cancel_id(rest, arena, id, err);
    else if (rest->version >= REST_KILL_JOBS)
        status = kill_jobs(rest, arena, id, true, err);
    else
        status = cancel_listed(rest, arena, job, first, last, err);
    arena_free(arena);
    return status;
}

/* ---- submit, test, list, limits ---- */

/* sbatch sends the whole environment; slurmrestd has none of ours, and a job
 * gets what a login has. */
static enum ht_status find_environment(const struct rest *rest,
                                       struct arena *arena,
                                       struct pairs *environment,
                                       struct ht_error *err)
{
    char buffer[4096];
    struct rest_user user;
    struct passwd entry, *found = NULL;
    const enum ht_status status = rest_http_user(rest->http, arena, &user, err);
    if (status != HT_OK)
        return status;
    if (user.name != NULL)
        (void)getpwnam_r(user.name, &entry, buffer, sizeof buffer, &found);
    else
        (void)getpwuid_r((uid_t)user.id, &entry, buffer, sizeof buffer, &found);
    enum { MOST = 5 };
    struct pair *items = arena_alloc(arena, MOST, sizeof *items);
    size_t n = 0;
    items[n++] = (struct pair){"PATH", "/usr/local/bin:/usr/bin:/bin"};
    if (found != NULL) {
        const char *name = arena_strdup(arena, found->pw_name);
        items[n++] = (struct pair){"USER", name};
        items[n++] = (struct pair){"LOGNAME", name};
        items[n++] = (struct pair){"HOME", arena_strdup(arena, found->pw_dir)};
        items[n++] =
            (struct pair){"SHELL", arena_strdup(arena, found->pw_shell)};
    }
    *environment = (struct pairs){n, items};
    return HT_OK;
}

static enum ht_status make_body(struct rest *rest, struct arena *arena,
                                const struct slurm_batch *batch,
                                const char **body, struct ht_error *err)
{
    struct pairs environment;
    const enum ht_status status =
        find_environment(rest, arena, &environment, err);
    return status == HT_OK ? rest_batch(arena, rest->version, batch,
                                        &environment, body, err)
                           : status;
}

/* A job may have been made in spite of an error or a warning: it is not the
 * one that was asked for. */
static enum ht_status submit_body(struct rest *rest, struct arena *arena,
                                  const char *body, int64_t *job,
                                  struct ht_error *err)
{
    const struct node *answer;
    const struct rest_request request = {
        "POST", path_of(rest, arena, "job/submit"), body};
    struct ht_error ignored;
    enum ht_status status = call(rest, &request, arena, &answer, err);
    const int64_t made = rest_job_id(answer);
    if (status == HT_OK && made == 0)
        return ht_fail(err, HT_UNAVAILABLE,
                       "slurmrestd at %s does not say which job it made",
                       rest_http_address(rest->http));
    if (status == HT_OK)
        *job = made;
    else if (made > 0 &&
             cancel_id(rest, arena, arena_printf(arena, "%" PRId64, made),
                       &ignored) != HT_OK)
        return ht_wrap(err, HT_UNAVAILABLE,
                       "job %" PRId64 " was made and cannot be cancelled",
                       made);
    return status == HT_NOT_FOUND ? HT_PRECONDITION : status;
}

static enum ht_status submit(void *state, const struct slurm_batch *batch,
                             int64_t *job, struct ht_error *err)
{
    struct rest *rest = state;
    struct arena *arena = arena_new();
    const char *body;
    enum ht_status status = make_body(rest, arena, batch, &body, err);
    if (status == HT_OK)
        status = submit_body(rest, arena, body, job, err);
    arena_free(arena);
    return status;
}

static enum ht_status test(void *state, const struct slurm_batch *batch,
                           struct arena *arena, const char **words,
                           struct ht_error *err)
{
    const char *body;
    const enum ht_status status = make_body(state, arena, batch, &body, err);
    if (status == HT_OK)
        *words = "slurmrestd cannot try a job without submitting it; it has "
                 "fields for all options";
    return status;
}

static enum ht_status list(void *state, const char *prefix, struct arena *arena,
                           struct slurm_rows *rows, struct ht_error *err)
{
    struct rest *rest = state;
    const struct node *answer;
    struct rest_user user;
    enum ht_status status = rest_http_user(rest->http, arena, &user, err);
    if (status == HT_OK)
        status = get(rest, "jobs", arena, &answer, err);
    if (status == HT_OK)
        rest_rows(arena, answer, prefix, &user, rows);
    return status;
}

static enum ht_status limits(void *state, struct arena *arena,
                             struct slurm_limits *limits, struct ht_error *err)
{
    struct rest *rest = state;
    const struct node *partitions, *reservations;
    enum ht_status status = get(rest, "partitions", arena, &partitions, err);
    if (status == HT_OK)
        status = get(rest, "reservations", arena, &reservations, err);
    if (status == HT_OK)
        rest_limits(arena, partitions, reservations, limits);
    return status;
}

const struct way way_rest = {.open = open_rest,
                             .close = close_rest,
                             .abort = abort_rest,
                             .name = name_rest,
                             .submit = submit,
                             .test = test,
                             .list = list,
                             .cancel = cancel,
                             .limits = limits};
