#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/base/secret_file.h"
#include "proto/base/text.h"
#include "runner/base/json.h"
#include "runner/slurm/rest_batch.h"
#include "runner/slurm/rows.h"
#include "runner/slurm/way.h"

enum {
    OLDEST = 38,
    NEWEST = 44,
    MOST_BYTES = 256 * 1024 * 1024,
    ALREADY_DONE = 2021, /* of Slurm: ESLURM_ALREADY_DONE */
    INVALID_JOB = 2017
};

struct way {
    CURL *curl;
    const char *address, *socket, *base; /* socket: NULL over http(s) */
    const char *token_file;              /* NULL: none */
    const char *user;
    int version; /* 38: v0.0.38 */
};

/* ---- one request ---- */

static size_t take_bytes(char *bytes, size_t size, size_t n, void *context)
{
    struct text *answer = context;
    if (answer->len + size * n > MOST_BYTES)
        return 0;
    text_append(answer, bytes, size * n);
    return size * n;
}

static void add_header(struct curl_slist **headers, const char *name,
                       const char *value)
{
    struct text line = {0};
    text_printf(&line, "%s: %s", name, value);
    *headers = curl_slist_append(*headers, line.data);
    text_free(&line);
}

static enum ht_status add_token(const struct way *way, struct arena *arena,
                                struct curl_slist **headers,
                                struct ht_error *err)
{
    struct text token = {0};
    if (way->token_file == NULL)
        return HT_OK;
    const enum ht_status status =
        secret_file_read(way->token_file, &token, err);
    if (status == HT_OK) {
        /* As `scontrol token` prints it, too: "SLURM_JWT=..." */
        const char *word = text_string(&token);
        word += strncmp(word, "SLURM_JWT=", 10) == 0 ? 10 : 0;
        word = arena_strndup(arena, word, strcspn(word, " \r\n"));
        add_header(headers, "X-SLURM-USER-NAME", way->user);
        add_header(headers, "X-SLURM-USER-TOKEN", word);
    }
    secret_wipe(&token);
    return status;
}

static void set_request(const struct way *way, const char *method,
                        const char *path, const char *body, struct text *answer)
{
    CURL *curl = way->curl;
    struct text url = {0};
    text_printf(&url, "%s%s", way->base, path);
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url.data); /* copied */
    text_free(&url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)SLURM_PATIENCE_MS);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    if (body != NULL)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    if (way->socket != NULL) {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, way->socket);
        curl_easy_setopt(curl, CURLOPT_PROXY, "");
    }
}

/* The code and the answer's JSON, NULL when it has none. */
static enum ht_status call(struct way *way, struct arena *arena,
                           const char *const request[3], long *code,
                           const struct node **answer, struct ht_error *err)
{
    struct text bytes = {0};
    struct curl_slist *headers = NULL;
    set_request(way, request[0], request[1], request[2], &bytes);
    add_header(&headers, "Expect", "");
    add_header(&headers, "Accept", "application/json");
    if (request[2] != NULL)
        add_header(&headers, "Content-Type", "application/json");
    enum ht_status status = add_token(way, arena, &headers, err);
    if (status == HT_OK) {
        curl_easy_setopt(way->curl, CURLOPT_HTTPHEADER, headers);
        const CURLcode done = curl_easy_perform(way->curl);
        curl_easy_getinfo(way->curl, CURLINFO_RESPONSE_CODE, code);
        if (done != CURLE_OK)
            status = ht_fail(err, HT_UNAVAILABLE, "slurmrestd at %s: %s",
                             way->address, curl_easy_strerror(done));
        else
            *answer = json_read_map(arena, text_string(&bytes), bytes.len);
    }
    curl_slist_free_all(headers);
    text_free(&bytes);
    return status;
}

/* The first error, or warning, of an answer; NULL: it has none. */
static const struct node *find_fault(const struct node *answer)
{
    const struct node *first = node_first(answer, "errors");
    return first != NULL ? first : node_first(answer, "warnings");
}

static int64_t fault_number(const struct node *fault)
{
    return node_get_int(fault, "error_number",
                        node_get_int(fault, "error_code", 0));
}

static bool is_gone(const struct node *fault)
{
    const int64_t number = fault_number(fault);
    return number == INVALID_JOB || number == ALREADY_DONE;
}

static const char *fault_words(const struct node *fault)
{
    const char *error = node_get_string(fault, "error", "it failed");
    return node_get_string(fault, "description", error);
}

/* Slurm's numbers of a controller that does not answer: 1..999 are of the
 * system, 1000..1999 of communication; 2000.. is about the request. */
static bool is_silence(const struct node *fault, long code)
{
    const int64_t number = fault_number(fault);
    return fault == NULL || (number >= 1000 && number < 2000) || code == 502 ||
           code == 503 || code == 504;
}

static enum ht_status check(const struct way *way, const struct node *answer,
                            long code, struct ht_error *err)
{
    const struct node *fault = find_fault(answer);
    if (code == 401 || code == 403)
        return ht_fail(err, HT_PRECONDITION,
                       "slurmrestd at %s refuses the token of %s", way->address,
                       way->user);
    if (code >= 200 && code < 300 && fault == NULL && answer != NULL)
        return HT_OK;
    const bool silent = is_silence(fault, code);
    return ht_fail(err, silent ? HT_UNAVAILABLE : HT_PRECONDITION,
                   "slurmrestd at %s: %s", way->address,
                   fault != NULL ? fault_words(fault)
                                 : "an answer that is none of Slurm's");
}

static const char *route(struct arena *arena, const struct way *way,
                         const char *path)
{
    return arena_printf(arena, "/slurm/v0.0.%d/%s", way->version, path);
}

static enum ht_status get(struct way *way, struct arena *arena,
                          const char *path, const struct node **answer,
                          struct ht_error *err)
{
    const char *const request[3] = {"GET", route(arena, way, path), NULL};
    long code = 0;
    const enum ht_status status = call(way, arena, request, &code, answer, err);
    return status == HT_OK ? check(way, *answer, code, err) : status;
}

/* ---- what the functions do ---- */

/* An id that is gone has no error. "12_[0-3]" as the last part of a path. */
static enum ht_status delete_elements(struct way *way, struct arena *arena,
                                      const char *elements,
                                      struct ht_error *err)
{
    const char *path =
        route(arena, way, arena_printf(arena, "job/%s", elements));
    const char *const request[3] = {"DELETE", path, NULL};
    const struct node *answer = NULL;
    long code = 0;
    const enum ht_status status =
        call(way, arena, request, &code, &answer, err);
    const struct node *fault = find_fault(answer);
    if (status != HT_OK || (fault != NULL && is_gone(fault)))
        return status;
    return check(way, answer, code, err);
}

/* The job of an answer to a submission. One that was accepted with warnings, a
 * member that slurmrestd ignored, is not what was asked for: it is taken
 * back. */
static enum ht_status read_job(struct way *way, struct arena *arena,
                               const struct node *answer, long code,
                               int64_t *job, struct ht_error *err)
{
    const int64_t id = rows_number(node_find(answer, "job_id"), 0);
    const enum ht_status status = check(way, answer, code, err);
    if (status != HT_OK) {
        if (id > 0)
            (void)delete_elements(way, arena,
                                  arena_printf(arena, "%" PRId64, id), NULL);
        return status;
    }
    if (id <= 0)
        return ht_fail(err, HT_UNAVAILABLE, "slurmrestd at %s named no job",
                       way->address);
    *job = id;
    return HT_OK;
}

static enum ht_status make_body(const struct way *way, struct arena *arena,
                                const struct slurm_batch *batch,
                                const char **body, struct ht_error *err)
{
    const char *path = getenv("PATH");
    return rest_batch(arena, batch, way->version,
                      path != NULL ? path : "/usr/local/bin:/usr/bin:/bin",
                      body, err);
}

static enum ht_status submit(struct way *way, const struct slurm_batch *batch,
                             int64_t *job, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const struct node *answer = NULL;
    const char *body = NULL;
    long code = 0;
    enum ht_status status = make_body(way, arena, batch, &body, err);
    if (status == HT_OK) {
        const char *const request[3] = {"POST", route(arena, way, "job/submit"),
                                        body};
        status = call(way, arena, request, &code, &answer, err);
    }
    if (status == HT_OK)
        status = read_job(way, arena, answer, code, job, err);
    arena_free(arena);
    return status;
}

/* slurmrestd has no --test-only: the options alone can be checked. */
static enum ht_status test(struct way *way, const struct slurm_batch *batch,
                           struct arena *arena, const char **words,
                           struct ht_error *err)
{
    const char *body = NULL;
    const enum ht_status status = make_body(way, arena, batch, &body, err);
    if (status == HT_OK)
        *words = "slurmrestd has no test of a job: only its options were "
                 "checked";
    return status;
}

static enum ht_status list(struct way *way, const char *prefix,
                           struct arena *arena, struct slurm_rows *rows,
                           struct ht_error *err)
{
    struct arena *work = arena_new();
    const struct node *answer = NULL;
    enum ht_status status = get(way, work, "jobs", &answer, err);
    if (status == HT_OK && node_find(answer, "jobs") == NULL)
        status =
            ht_fail(err, HT_UNAVAILABLE,
                    "slurmrestd at %s: an answer without jobs", way->address);
    if (status == HT_OK)
        rows_read_json(arena, answer, prefix, way->user, rows);
    arena_free(work);
    return status;
}

/* slurmrestd cannot end only what waits. What waits is listed right before: an
 * element that begins between the two requests is ended all the same. */
static enum ht_status cancel_waiting(struct way *way, struct arena *arena,
                                     int64_t job, int first, int last,
                                     struct ht_error *err)
{
    struct slurm_rows rows;
    enum ht_status status = list(way, "", arena, &rows, err);
    for (size_t i = 0; i < rows.n && status == HT_OK; i++) {
        const struct slurm_row *row = &rows.rows[i];
        const int from = row->first > first ? row->first : first;
        const int to = row->last < last ? row->last : last;
        const bool waits = row->state == SLURM_PENDING ||
                           row->state == SLURM_HELD ||
                           row->state == SLURM_REQUEUED;
        if (row->job == job && waits && from <= to)
            status = delete_elements(
                way, arena,
                arena_printf(arena, "%" PRId64 "_%%5B%d-%d%%5D", job, from, to),
                err);
    }
    return status;
}

static enum ht_status cancel(struct way *way, int64_t job, int first, int last,
                             bool waiting, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const enum ht_status status =
        waiting
            ? cancel_waiting(way, arena, job, first, last, err)
            : delete_elements(way, arena,
                              arena_printf(arena, "%" PRId64 "_%%5B%d-%d%%5D",
                                           job, first, last),
                              err);
    arena_free(arena);
    return status;
}

/* ---- limits ---- */

static bool has_word(const struct node *list, const char *word)
{
    if (list != NULL && list->kind == NODE_STRING)
        return strcasecmp(list->text, word) == 0;
    NODE_EACH (item, node_items(list)) {
        const char *text = node_string(item);
        if (text != NULL && strcasecmp(text, word) == 0)
            return true;
    }
    return false;
}

/* The second name is of v0.0.40 and later, a path of two members. */
static const struct node *find_either(const struct node *map, const char *first,
                                      const char *outer, const char *inner)
{
    const struct node *node = node_find(map, first);
    return node != NULL ? node : node_find(node_find(map, outer), inner);
}

static int64_t minutes(const struct node *node)
{
    const int64_t number = rows_number(node, 0);
    return number > 0 && number < UINT32_MAX - 1 ? number * 60000 : 0;
}

static struct slurm_partition read_partition(struct arena *arena,
                                             const struct node *item)
{
    const struct node *state = find_either(item, "state", "partition", "state");
    return (struct slurm_partition){
        .name = arena_strdup(arena, node_get_string(item, "name", "")),
        .is_default = has_word(find_either(item, "flags", "partition", "flags"),
                               "default"),
        .is_up = has_word(state, "UP"),
        .default_ms = minutes(
            find_either(item, "default_time_limit", "defaults", "time")),
        .most_ms =
            minutes(find_either(item, "max_time_limit", "maximums", "time")),
    };
}

static const char *read_version(struct arena *arena, const struct node *answer)
{
    const struct node *meta = node_find(answer, "meta");
    const struct node *slurm = node_find(meta, "Slurm");
    if (slurm == NULL)
        slurm = node_find(meta, "slurm");
    return arena_strdup(arena, node_get_string(slurm, "release", ""));
}

static enum ht_status limits(struct way *way, struct arena *arena,
                             struct slurm_limits *limits, struct ht_error *err)
{
    const struct node *answer = NULL;
    struct slurm_limits found = {0};
    enum ht_status status = get(way, arena, "partitions", &answer, err);
    if (status != HT_OK)
        return status;
    found.version = read_version(arena, answer);
    struct slurm_partition *partitions = NULL;
    NODE_EACH (item, node_first(answer, "partitions")) {
        partitions = arena_grow(arena, partitions, found.n_partitions,
                                sizeof *partitions);
        partitions[found.n_partitions++] = read_partition(arena, item);
    }
    found.partitions = partitions;
    status = get(way, arena, "reservations", &answer, err);
    if (status != HT_OK)
        return status;
    const char **names = NULL;
    NODE_EACH (item, node_first(answer, "reservations")) {
        names = arena_grow(arena, names, found.n_reservations, sizeof *names);
        names[found.n_reservations++] = node_get_string(item, "name", "");
    }
    found.reservations = names;
    *limits = found;
    return HT_OK;
}

/* ---- open ---- */

/* The highest version that both sides have, by what paths slurmrestd lists. */
static enum ht_status choose_version(struct way *way, struct ht_error *err)
{
    static const char *const request[3] = {"GET", "/openapi/v3", NULL};
    struct arena *arena = arena_new();
    const struct node *answer = NULL;
    long code = 0;
    enum ht_status status = call(way, arena, request, &code, &answer, err);
    if (status == HT_OK && (code == 401 || code == 403))
        status = check(way, answer, code, err);
    NODE_EACH (path, node_first(answer, "paths")) {
        int version = 0;
        if (sscanf(path->key, "/slurm/v0.0.%d/", &version) == 1 &&
            version >= OLDEST && version <= NEWEST && version > way->version)
            way->version = version;
    }
    if (status == HT_OK && way->version == 0)
        status = ht_fail(err, HT_UNAVAILABLE,
                         "slurmrestd at %s has none of v0.0.%d to v0.0.%d",
                         way->address, OLDEST, NEWEST);
    arena_free(arena);
    return status;
}

static void close_way(struct way *way)
{
    curl_easy_cleanup(way->curl);
}

static const char *own_user(struct arena *arena)
{
    char buffer[4096];
    struct passwd entry, *found = NULL;
    (void)getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found);
    return arena_strdup(arena, found != NULL ? found->pw_name : "");
}

enum ht_status rest_open(struct slurm *slurm, const char *address,
                         const char *token_file, struct ht_error *err)
{
    static const struct way_functions functions = {
        .close = close_way,
        .submit = submit,
        .test = test,
        .list = list,
        .cancel = cancel,
        .limits = limits,
    };
    const bool local = strncmp(address, "unix:/", 6) == 0;
    if (!local && strncmp(address, "http://", 7) != 0 &&
        strncmp(address, "https://", 8) != 0)
        return ht_fail(err, HT_INVALID,
                       "\"%s\" is no address of slurmrestd: write unix:/PATH "
                       "or https://HOST:PORT",
                       address);
    struct way *way = arena_alloc(slurm->arena, 1, sizeof *way);
    way->curl = curl_easy_init();
    if (way->curl == NULL)
        ht_out_of_memory();
    way->address = arena_strdup(slurm->arena, address);
    way->socket = local ? way->address + 5 : NULL;
    way->base = local ? "http://localhost" : way->address;
    way->user = own_user(slurm->arena);
    if (token_file != NULL)
        way->token_file = arena_strdup(slurm->arena, token_file);
    slurm->functions = &functions;
    slurm->way = way;
    const enum ht_status status = choose_version(way, err);
    slurm->name =
        arena_printf(slurm->arena, "slurmrestd, v0.0.%d", way->version);
    return status;
}
