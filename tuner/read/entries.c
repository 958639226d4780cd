/* entries.c - entries:list of Cloud Logging: what jobs printed and what
 * happened to them, in the order of time. */

#include "tuner/ask/faults.h"
#include "tuner/read/reader.h"

#include <stdio.h>
#include <string.h>

#include "tuner/ask/filter.h"
#include "tuner/ask/query.h"
#include "tuner/ask/trial_body.h"
#include "tuner/logs/entry.h"
#include "tuner/logs/entry_jobs.h"
#include "tuner/logs/entry_walk.h"

enum {
    SIZE_USUAL = 50,
    REPLY_MOST = 4 * 1024 * 1024, /* a page ends with the entry over it */
    FILTER_MOST = 20000,          /* bytes */
    NAMES_MOST = 100
};

struct question {
    struct strings names, project_ids;
    const char *filter, *order, *token;
    int64_t size;
};

#define QUESTION(member) offsetof(struct question, member)

static const struct field question_fields[] = {
    {"resourceNames", field_texts, QUESTION(names), .max = NAMES_MOST},
    /* What clients said before there were resource names. */
    {"projectIds", field_texts, QUESTION(project_ids), .max = NAMES_MOST},
    {"filter", field_text, .offset = QUESTION(filter)},
    {"orderBy", field_text, .offset = QUESTION(order)},
    {"pageSize", field_whole, QUESTION(size), .min = 0, .max = INT32_MAX},
    {"pageToken", field_text, .offset = QUESTION(token)},
    {0}};

/* A question that was understood. */
struct asked {
    struct strings projects;
    const struct filter *filter;
    bool down;
    size_t size;
    bool has_after; /* a later page: entries up to `after` have been written */
    struct entry_key after;
    uint64_t hash; /* of all that a token is bound to */
};

/* --- what is asked --- */

static void read_name(struct request *req, const char *name, size_t index,
                      const char **project)
{
    static const char prefix[] = "projects/";
    const size_t len = sizeof prefix - 1;
    if (strncmp(name, prefix, len) == 0 && name[len] != '\0' &&
        strchr(name + len, '/') == NULL) {
        *project = name + len;
        return;
    }
    diag_error(faults_of(req), 0, 0,
               arena_printf(req->arena, "resourceNames[%zu]", index),
               "\"%.100s\" is not of the form projects/PROJECT; jobs belong to "
               "nothing else here",
               name);
}

static void read_projects(struct request *req, const struct question *question,
                          struct asked *asked)
{
    const size_t n = question->names.n + question->project_ids.n;
    const char **projects = arena_alloc(req->arena, n, sizeof *projects);
    for (size_t i = 0; i < question->names.n; i++)
        read_name(req, question->names.items[i], i, &projects[i]);
    for (size_t i = 0; i < question->project_ids.n; i++)
        projects[question->names.n + i] = question->project_ids.items[i];
    if (n == 0)
        diag_error(faults_of(req), 0, 0, "resourceNames",
                   "is missing, such as [\"projects/PROJECT\"]");
    asked->projects = (struct strings){.n = n, .items = projects};
}

static void read_order(struct request *req, const char *order,
                       struct asked *asked)
{
    asked->down = strcmp(order, "timestamp desc") == 0;
    if (!asked->down && order[0] != '\0' && strcmp(order, "timestamp") != 0 &&
        strcmp(order, "timestamp asc") != 0)
        diag_error(faults_of(req), 0, 0, "orderBy",
                   "is \"%.64s\", not \"timestamp asc\" or \"timestamp desc\"",
                   order);
}

static void read_filter(struct request *req, const char *text,
                        struct asked *asked)
{
    static const char prefix[] = "filter: ";
    struct ht_error why;
    struct diag *diag = faults_of(req);
    if (strlen(text) > FILTER_MOST)
        diag_error(diag, 0, 0, "filter", "is longer than %d bytes",
                   FILTER_MOST);
    else if (filter_read_log(req->arena, text, &entry_language, &asked->filter,
                             &why) != HT_OK)
        diag_error(diag, 0, 0, "filter", "%s", why.text + sizeof prefix - 1);
}

/* FNV-1a over the texts, each with its NUL. */
static uint64_t add_hash(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    while (*text++ != '\0');
    return hash;
}

static uint64_t hash_question(const struct question *question,
                              const struct asked *asked)
{
    uint64_t hash = add_hash(0xcbf29ce484222325, question->filter);
    hash = add_hash(hash, asked->down ? "desc" : "asc");
    for (size_t i = 0; i < asked->projects.n; i++)
        if (asked->projects.items[i] != NULL)
            hash = add_hash(hash, asked->projects.items[i]);
    return hash;
}

enum { TOKEN_BYTES = ENTRY_ID_BYTES + 1 + 16 };

/* The key that was reached, and the hash. */
static char *make_token(char buffer[TOKEN_BYTES], const struct asked *asked,
                        const struct entry_key *reached)
{
    char id[ENTRY_ID_BYTES];
    snprintf(buffer, TOKEN_BYTES, "%016llx-%s", (unsigned long long)asked->hash,
             entry_id(id, reached));
    return buffer;
}

static void read_token(struct request *req, const char *token,
                       struct asked *asked)
{
    char again[TOKEN_BYTES];
    const char *dash = strchr(token, '-');
    asked->has_after = token[0] != '\0';
    if (!asked->has_after ||
        (dash != NULL && entry_id_read(dash + 1, &asked->after) &&
         strcmp(make_token(again, asked, &asked->after), token) == 0))
        return;
    diag_error(faults_of(req), 0, 0, "pageToken",
               "is not what nextPageToken said for this filter, order and "
               "projects");
}

static enum ht_status read_question(struct request *req, struct asked *asked,
                                    struct ht_error *err)
{
    struct question question = {.filter = "", .order = "", .token = ""};
    const enum ht_status status =
        trial_body_read(req, question_fields, &question, err);
    if (status != HT_OK)
        return status;
    read_projects(req, &question, asked);
    read_order(req, question.order, asked);
    read_filter(req, question.filter, asked);
    asked->hash = hash_question(&question, asked);
    read_token(req, question.token, asked);
    const int64_t size = question.size == 0 ? SIZE_USUAL : question.size;
    asked->size =
        query_page_most(req, size < PAGE_MOST ? (size_t)size : PAGE_MOST);
    return faults_check(req, err);
}

/* --- the answer --- */

/* A page that is being written. */
struct writing {
    struct reader *reader;
    struct request *req;
    const struct asked *asked;
    size_t written;
    struct entry_key
        reached; /* entries up to here are written, or not wanted */
    bool more;   /* is left, or may be */
};

static bool is_before_page(const struct asked *asked,
                           const struct entry_key *key)
{
    const int order = entry_key_order(key, &asked->after);
    return asked->has_after && (asked->down ? order >= 0 : order <= 0);
}

/* Writes the selected entries of a group, until the page is full. */
static void write_group(struct writing *writing, struct arena *arena,
                        const struct entry_group *group)
{
    const struct asked *asked = writing->asked;
    struct text *reply = &writing->req->reply;
    for (size_t i = 0; i < group->n; i++) {
        struct entry *entry = &group->items[asked->down ? group->n - 1 - i : i];
        struct entry_question question = {arena, entry};
        if (is_before_page(asked, &entry->key))
            continue;
        entry_read_json(arena, entry);
        if (!filter_allows(asked->filter, entry_look_up, &question))
            continue;
        text_puts(reply, writing->written++ > 0 ? "," : "");
        entry_write(arena, entry, reply);
        writing->reached = entry->key;
        writing->more =
            writing->written == asked->size || reply->len > REPLY_MOST;
        if (writing->more)
            return;
    }
    writing->reached = group->key;
    writing->reached.line = asked->down ? 0 : ENTRY_LAST_LINE;
}

static enum ht_status write_groups(struct writing *writing,
                                   struct entry_walk *walk,
                                   struct ht_error *err)
{
    struct arena *arena = arena_new();
    enum ht_status status = HT_OK;
    while (status == HT_OK && !writing->more) {
        struct entry_group group;
        arena_reset(arena);
        status = entry_walk_next(walk, arena, &group, err);
        if (status != HT_OK)
            break;
        write_group(writing, arena, &group);
        writing->more = writing->more || reader_is_late(writing->reader);
    }
    arena_free(arena);
    if (filter_gave_up(writing->asked->filter))
        return ht_fail(err, HT_INVALID,
                       "filter: a regular expression takes too long for the "
                       "lines of this log");
    return status == HT_NOT_FOUND ? HT_OK : status;
}

/* The filter's span in whole microseconds; false when it is empty. Entries
 * begin in 1970. */
static bool find_span(const struct asked *asked, int64_t *from_us,
                      int64_t *until_us)
{
    const struct filter_span span = filter_times(asked->filter, "timestamp");
    *from_us = span.from_ns <= 0 ? 0 : (span.from_ns - 1) / 1000 + 1;
    *until_us = span.until_ns / 1000;
    return span.until_ns >= 0 && *from_us <= *until_us;
}

static enum ht_status write_page(struct writing *writing, struct ht_error *err)
{
    const struct asked *asked = writing->asked;
    struct reader *reader = writing->reader;
    struct arena *arena = writing->req->arena;
    struct entry_jobs jobs;
    struct entry_walk *walk;
    int64_t from_us, until_us;
    if (!find_span(asked, &from_us, &until_us))
        return HT_OK;
    struct entry_range range = {.down = asked->down, .filter = asked->filter};
    range.until_us = asked->down ? from_us : until_us;
    range.from = asked->down ? (struct entry_key){until_us, ENTRY_EVENT,
                                                  INT64_MAX, INT64_MAX, 0}
                             : (struct entry_key){.us = from_us};
    if (asked->has_after)
        range.from = asked->after;
    enum ht_status status = entry_jobs_find(reader->db, arena, &asked->projects,
                                            asked->filter, &jobs, err);
    range.jobs = &jobs;
    if (status == HT_OK)
        status = entry_walk_open(reader->db, reader->logs, arena, &range, &walk,
                                 err);
    return status == HT_OK ? write_groups(writing, walk, err) : status;
}

static enum ht_status answer(struct reader *reader, struct request *req,
                             const struct asked *asked, struct ht_error *err)
{
    struct writing writing = {.reader = reader, .req = req, .asked = asked};
    char token[TOKEN_BYTES];
    text_puts(&req->reply, "{\"entries\":[");
    const enum ht_status status = write_page(&writing, err);
    text_puts(&req->reply, "]");
    if (writing.more)
        text_printf(&req->reply, ",\"nextPageToken\":\"%s\"",
                    make_token(token, asked, &writing.reached));
    text_puts(&req->reply, "}");
    return status;
}

enum ht_status read_entries(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    struct asked asked = {0};
    const enum ht_status status = read_question(req, &asked, err);
    return status == HT_OK ? answer(reader, req, &asked, err) : status;
}
