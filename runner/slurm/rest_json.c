#include "runner/slurm/rest_json.h"

#include <stdlib.h>
#include <string.h>

#include "runner/docker/docker.h"
#include "runner/slurm/listing.h"
#include "runner/slurm/rest_options.h"

enum { MINUTE_MS = 60000, NOT_KNOWN = -1 };

/* ---- numbers and words ---- */

/* A number, or from v0.0.39 on {set, infinite, number}; -1: none. */
static int64_t number(const struct node *map, const char *key)
{
    const struct node *value = node_find(map, key);
    int64_t n;
    if (value != NULL && value->kind == NODE_MAP) {
        if (!node_get_bool(value, "set", false) ||
            node_get_bool(value, "infinite", false))
            return NOT_KNOWN;
        value = node_find(value, "number");
    }
    return value != NULL && node_int64(value, &n) ? n : NOT_KNOWN;
}

/* Whether a member is that word, or a list with it. */
static bool has_word(const struct node *map, const char *key, const char *word)
{
    const struct node *value = node_find(map, key);
    const char *text = value != NULL ? node_string(value) : NULL;
    if (text != NULL)
        return strcasecmp(text, word) == 0;
    NODE_EACH (item, node_items(value)) {
        text = node_string(item);
        if (text != NULL && strcasecmp(text, word) == 0)
            return true;
    }
    return false;
}

/* ---- errors ---- */

/* Numbers of slurm_errno.h. */
enum {
    NO_SUCH_JOB = 2017,
    ALREADY_ENDED = 2021,
    JOB_HELD = 2042,    /* as it was asked to be */
    OTHER_STATE = 2172, /* than the one in the request */
    FIRST_REFUSAL = 2000,
    LAST_REFUSAL = 2999,
    FIRST_OF_REST = 8000 /* of its plugins: it passed nothing on */
};

/* Of a controller that can take no job now. */
static const int64_t not_now[] = {
    2007, /* no record for another job */
    2027, /* standby */
    2037, /* disabled */
    2103, /* the database is being set up */
    2131  /* standby */
};

struct fault {
    int64_t code;
    struct text words;
};

static int64_t code_of(const struct node *error)
{
    const int64_t n = number(error, "error_number");
    return n > 0 ? n : number(error, "error_code");
}

static void add_words(struct text *words, const char *more)
{
    static const char *const empty[] = {"", "Unspecified error", "No error",
                                        "Failure during parsing"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        if (strcmp(more, empty[i]) == 0)
            return;
    if (strstr(text_string(words), more) != NULL)
        return;
    text_printf(words, "%s%s", words->len > 0 ? ": " : "", more);
}

static void add_fault(struct fault *fault, const struct node *error)
{
    const int64_t code = code_of(error);
    if (code == JOB_HELD)
        return;
    if (fault->code == 0 || code > fault->code)
        fault->code = code;
    add_words(&fault->words, node_get_string(error, "description", ""));
    add_words(&fault->words, node_get_string(error, "error", ""));
}

/* From v0.0.40 on an unknown field is no error: a typo would change a job in
 * silence. What has another source than our text is about the job itself. */
static void add_warnings(struct fault *fault, const struct node *answer)
{
    NODE_EACH (warning, node_first(answer, "warnings")) {
        if (node_get_string(warning, "source", "")[0] != '#')
            continue;
        fault->code = FIRST_OF_REST;
        add_words(&fault->words, node_get_string(warning, "description",
                                                 "a field is not understood"));
    }
}

static enum ht_status status_of(long code, int64_t number)
{
    if (code == 401 || code == 403)
        return HT_UNAVAILABLE;
    for (size_t i = 0; i < sizeof not_now / sizeof *not_now; i++) {
        if (number == not_now[i])
            return HT_UNAVAILABLE;
    }
    if (code == 404 || number == NO_SUCH_JOB || number == ALREADY_ENDED)
        return HT_NOT_FOUND;
    if (code == 400 || code == 422 || number >= FIRST_OF_REST ||
        (number >= FIRST_REFUSAL && number <= LAST_REFUSAL))
        return HT_PRECONDITION;
    return HT_UNAVAILABLE;
}

enum ht_status rest_check(struct arena *arena, long code,
                          const struct node *answer, struct ht_error *err)
{
    struct fault fault = {0};
    bool held = false;
    NODE_EACH (error, node_first(answer, "errors")) {
        held |= code_of(error) == JOB_HELD;
        add_fault(&fault, error);
    }
    add_warnings(&fault, answer);
    if (fault.code == 0 && ((code >= 200 && code < 300) || held)) {
        text_free(&fault.words);
        return HT_OK;
    }
    /* An answer of success with an error is one about a field. */
    const enum ht_status status = code == 200 && fault.code <= 0
                                      ? HT_PRECONDITION
                                      : status_of(code, fault.code);
    const char *words =
        docker_clean_words(arena, text_take(&fault.words, arena));
    if (words[0] == '\0')
        return ht_fail(err, status, "slurmrestd answered with code %ld", code);
    return ht_fail(err, status, "%s", words);
}

enum ht_status rest_check_kill(struct arena *arena, const struct node *answer,
                               struct ht_error *err)
{
    NODE_EACH (item, node_first(answer, "status")) {
        const struct node *error = node_find(item, "error");
        const int64_t code = number(error, "code");
        if (code > 0 && code != NO_SUCH_JOB && code != ALREADY_ENDED &&
            code != OTHER_STATE)
            return ht_fail(err, HT_PRECONDITION, "%s",
                           docker_clean_words(
                               arena, node_get_string(error, "string", "")));
    }
    return HT_OK;
}

int64_t rest_job_id(const struct node *answer)
{
    const int64_t id = number(answer, "job_id");
    return id > 0 ? id : 0;
}

/* ---- versions ---- */

int rest_find_version(const struct node *openapi)
{
    static const char before[] = "/slurm/v0.0.";
    int best = 0;
    NODE_EACH (path, node_first(openapi, "paths")) {
        if (path->key == NULL ||
            strncmp(path->key, before, strlen(before)) != 0)
            continue;
        const long version = strtol(path->key + strlen(before), NULL, 10);
        if (version >= REST_OLDEST && version <= REST_NEWEST && version > best)
            best = (int)version;
    }
    return best;
}

/* ---- states ---- */

/* From v0.0.39 on a job has several words, a state and flags: the one that says
 * most about what is left of it counts. */
static int rank(enum slurm_state state)
{
    switch (state) {
    case SLURM_ENDING:
        return 5;
    case SLURM_HELD:
        return 4;
    case SLURM_RUNNING:
    case SLURM_NODE_FAIL: /* LAUNCH_FAILED beside FAILED */
        return 3;
    case SLURM_PENDING: /* beside REQUEUED */
        return 1;
    case SLURM_UNKNOWN: /* a flag such as POWER_UP_NODE */
        return 0;
    case SLURM_COMPLETED:
    case SLURM_FAILED:
    case SLURM_CANCELLED:
    case SLURM_TIMEOUT:
    case SLURM_DEADLINE:
    case SLURM_OUT_OF_MEMORY:
    case SLURM_PREEMPTED:
    case SLURM_REQUEUED:
        break;
    }
    return 2;
}

static enum slurm_state state_of(const struct node *job, const char *reason)
{
    const struct node *words = node_find(job, "job_state");
    const char *alone = words != NULL ? node_string(words) : NULL;
    enum slurm_state state = SLURM_UNKNOWN;
    if (alone != NULL)
        state = listing_state(alone, reason);
    NODE_EACH (word, node_items(words)) {
        const enum slurm_state other =
            listing_state(word->text != NULL ? word->text : "", reason);
        if (rank(other) > rank(state))
            state = other;
    }
    return state == SLURM_PENDING && number(job, "restart_cnt") > 0
               ? SLURM_REQUEUED
               : state;
}

/* ---- jobs ---- */

static bool has_ended(enum slurm_state state)
{
    return state >= SLURM_COMPLETED && state <= SLURM_PREEMPTED;
}

/* A wait status, or from v0.0.39 on {return_code, signal}. */
static void read_exit(const struct node *job, struct slurm_row *row)
{
    const struct node *code = node_find(job, "exit_code");
    const struct node *signal = node_find(code, "signal");
    row->exit = row->signal = NOT_KNOWN;
    if (!has_ended(row->state))
        return;
    if (code != NULL && code->kind == NODE_MAP &&
        node_find(code, "return_code") != NULL) {
        const int64_t n = number(signal, "id");
        row->signal = (int)(n > 0 ? n : number(signal, "signal_id"));
        if (row->signal <= 0) {
            row->signal = NOT_KNOWN;
            row->exit = (int)number(code, "return_code");
        }
        return;
    }
    const int64_t status = number(job, "exit_code");
    if (status < 0 || status > INT32_MAX)
        return;
    if (WIFSIGNALED((int)status))
        row->signal = WTERMSIG((int)status);
    else if (WIFEXITED((int)status))
        row->exit = WEXITSTATUS((int)status);
}

/* At most this element; Slurm's own limit of MaxArraySize is 4000001. */
enum { MOST_ELEMENT = 10000000 };

static int read_element(const char **at)
{
    const size_t len = strspn(*at, "0123456789");
    const long n = len > 0 && len < 10 ? strtol(*at, NULL, 10) : NOT_KNOWN;
    *at += len;
    return n <= MOST_ELEMENT ? (int)n : NOT_KNOWN;
}

struct listing {
    struct arena *arena;
    struct slurm_rows *rows;
};

static void add_row(const struct listing *listing, const struct slurm_row *row)
{
    struct slurm_rows *rows = listing->rows;
    rows->rows = arena_grow(listing->arena, rows->rows, rows->n, sizeof *row);
    rows->rows[rows->n++] = *row;
}

/* Slurm's list ended with "..." behind the element before `first`. */
static void add_cut(const struct listing *listing, struct slurm_row row,
                    int first)
{
    row.first = first;
    row.last = MOST_ELEMENT;
    row.cut = true;
    add_row(listing, &row);
}

/* "2,5-7,10-20:2%4": one row for each part. */
static void add_waiting(const struct listing *listing, struct slurm_row row,
                        const char *elements)
{
    int next = 0; /* behind the last one that was added */
    while (*elements >= '0' && *elements <= '9') {
        row.first = row.last = read_element(&elements);
        int step = 1;
        if (*elements == '-') {
            elements++;
            row.last = read_element(&elements);
        }
        if (*elements == ':') {
            elements++;
            step = read_element(&elements);
        }
        /* Before "..." the last number may be cut off, too. */
        if (row.first < 0 || row.last < row.first || step < 1 ||
            *elements == '.')
            break;
        next = row.last + 1;
        if (step == 1)
            add_row(listing, &row);
        for (int i = row.first, last = row.last; step > 1 && i <= last;
             i += step) {
            row.first = row.last = i;
            add_row(listing, &row);
        }
        elements += *elements == ',';
    }
    if (strstr(elements, "...") != NULL)
        add_cut(listing, row, next);
}

static void add_job(const struct listing *listing, const struct node *job)
{
    const int64_t element = number(job, "array_task_id");
    const int64_t array = number(job, "array_job_id");
    const int64_t end = number(job, "end_time");
    const char *reason = node_get_string(job, "state_reason", "");
    const enum slurm_state state = state_of(job, reason);
    const char *waiting = node_get_string(job, "array_task_string", "");
    struct slurm_row row = {
        .job = array > 0 ? array : number(job, "job_id"),
        .name = node_get_string(job, "name", ""),
        .state = state,
        .reason = strcmp(reason, "None") == 0 ? "" : reason,
        .nodes = node_get_string(job, "nodes", ""),
    };
    /* Of one that waits it is when it may end if it begins as planned. */
    if (end > 0 &&
        (has_ended(state) || state == SLURM_RUNNING || state == SLURM_ENDING))
        row.end_ms = end * 1000;
    read_exit(job, &row);
    if (waiting[0] != '\0') {
        add_waiting(listing, row, waiting);
    } else if (element >= 0 && element <= MOST_ELEMENT) {
        row.first = row.last = (int)element;
        add_row(listing, &row);
    } else if (number(job, "het_job_id") > 0 &&
               number(job, "het_job_offset") == 0) {
        row.first = SLURM_WHOLE;
        add_row(listing, &row);
    }
}

static bool is_of(const struct node *job, const struct rest_user *user)
{
    if (user->name != NULL)
        return strcmp(node_get_string(job, "user_name", ""), user->name) == 0;
    return number(job, "user_id") == user->id;
}

void rest_rows(struct arena *arena, const struct node *answer,
               const char *prefix, const struct rest_user *user,
               struct slurm_rows *rows)
{
    struct slurm_rows found = {0};
    const struct listing listing = {arena, &found};
    NODE_EACH (job, node_first(answer, "jobs")) {
        const char *name = node_get_string(job, "name", "");
        if (strncmp(name, prefix, strlen(prefix)) == 0 && is_of(job, user))
            add_job(&listing, job);
    }
    *rows = found;
}

/* ---- limits ---- */

static int64_t minutes_ms(int64_t minutes)
{
    return minutes > 0 && minutes < INT32_MAX ? minutes * MINUTE_MS : 0;
}

static struct slurm_partition read_partition(const struct node *map)
{
    const struct node *state = node_find(map, "partition");
    if (state != NULL && state->kind == NODE_MAP) /* from v0.0.39 on */
        return (struct slurm_partition){
            .name = node_get_string(map, "name", ""),
            .is_default = has_word(map, "flags", "default") ||
                          has_word(state, "flags", "default"),
            .is_up = has_word(state, "state", "UP"),
            .default_ms =
                minutes_ms(number(node_find(map, "defaults"), "time")),
            .most_ms = minutes_ms(number(node_find(map, "maximums"), "time"))};
    return (struct slurm_partition){
        .name = node_get_string(map, "name", ""),
        .is_default = has_word(map, "flags", "default"),
        .is_up = has_word(map, "state", "UP"),
        .default_ms = minutes_ms(number(map, "default_time_limit")),
        .most_ms = minutes_ms(number(map, "max_time_limit"))};
}

static const char *release_of(const struct node *answer)
{
    const struct node *meta = node_find(answer, "meta");
    const struct node *slurm = node_find(meta, "slurm");
    if (slurm == NULL)
        slurm = node_find(meta, "Slurm"); /* up to v0.0.39 */
    return node_get_string(slurm, "release", "");
}

void rest_limits(struct arena *arena, const struct node *partitions,
                 const struct node *reservations, struct slurm_limits *limits)
{
    const struct node *list = node_find(partitions, "partitions");
    const struct node *names = node_find(reservations, "reservations");
    struct slurm_partition *found =
        arena_alloc(arena, list ? list->count + 1 : 1, sizeof *found);
    const char **reserved =
        arena_alloc(arena, names ? names->count + 1 : 1, sizeof *reserved);
    size_t n = 0, n_reserved = 0;
    NODE_EACH (item, node_items(list))
        found[n++] = read_partition(item);
    NODE_EACH (item, node_items(names))
        reserved[n_reserved++] = node_get_string(item, "name", "");
    if (n == 1)
        found[0].is_default = true; /* 24.11 does not say which one is */
    *limits = (struct slurm_limits){.version = release_of(partitions),
                                    .n_partitions = n,
                                    .partitions = found,
                                    .n_reservations = n_reserved,
                                    .reservations = reserved};
}
