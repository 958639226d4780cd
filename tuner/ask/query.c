#include "tuner/ask/query.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/token.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/field_name.h"

enum { MARK_DIGITS = 12 /* of the hash in a token */ };

enum ht_status query_number(struct request *req, const char *name,
                            const struct number_range *range, int64_t *value,
                            struct ht_error *err)
{
    const char *text = request_query(req, name);
    if (text == NULL) {
        *value = range->fallback;
        return HT_OK;
    }
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || n < range->min ||
        n > range->max) {
        diag_error(faults_of(req), 0, 0, name,
                   "\"%.40s\" is no number from %lld to %lld", text,
                   (long long)range->min, (long long)range->max);
        return faults_check(req, err);
    }
    *value = n;
    return HT_OK;
}

enum ht_status query_choice(struct request *req, const char *name,
                            const char *const choices[], size_t *choice,
                            struct ht_error *err)
{
    const char *text = request_query(req, name), *all = "";
    size_t n = 0;
    while (text != NULL && choices[n] != NULL && strcmp(choices[n], text) != 0)
        all = arena_printf(req->arena, "%s %s", all, choices[n++]);
    if (choices[n] == NULL) {
        diag_error(faults_of(req), 0, 0, name, "\"%.40s\" is none of%s", text,
                   all);
        return faults_check(req, err);
    }
    *choice = n;
    return HT_OK;
}

enum ht_status query_flag(struct request *req, const char *name, bool *flag,
                          struct ht_error *err)
{
    static const char *const words[] = {"false", "true", NULL};
    size_t word = 0;
    const enum ht_status status = query_choice(req, name, words, &word, err);
    if (status == HT_OK)
        *flag = word == 1;
    return status;
}

/* --- tokens --- */

static void add_part(struct text *text, const char *part)
{
    text_append(text, part != NULL ? part : "", part ? strlen(part) + 1 : 1);
}

/* "57.0c1f...": the element, and a hash of the list and its filter. */
const char *query_page_token(const struct request *req, int64_t id)
{
    struct text list = {0};
    add_part(&list, req->pattern);
    add_part(&list, req->scope.project);
    add_part(&list, req->scope.location);
    add_part(&list, req->study);
    add_part(&list, req->trial);
    add_part(&list, request_query(req, "filter"));
    unsigned char hash[TOKEN_HASH_BYTES];
    char hex[TOKEN_TEXT_BYTES];
    token_sha256(hash, list.data, list.len);
    token_hex(hex, hash);
    text_free(&list);
    return arena_printf(req->arena, "%lld.%.*s", (long long)id, MARK_DIGITS,
                        hex);
}

static enum ht_status read_token(struct request *req, int64_t *id,
                                 struct ht_error *err)
{
    const char *text = request_query(req, "pageToken");
    *id = 0;
    if (text == NULL || text[0] == '\0')
        return HT_OK;
    const long long said = strtoll(text, NULL, 10);
    if (said > 0 && strcmp(query_page_token(req, said), text) == 0) {
        *id = said;
        return HT_OK;
    }
    diag_error(faults_of(req), 0, 0, "pageToken",
               "\"%.40s\" is none of this list with this filter", text);
    return faults_check(req, err);
}

/* --- pages --- */

size_t query_page_most(const struct request *req, size_t wanted)
{
    const size_t most = req->page_most;
    return most == 0 || wanted < most ? wanted : most;
}

enum ht_status query_page_sized(struct request *req,
                                const struct query_page_sizes *sizes,
                                struct query_page *page, struct ht_error *err)
{
    static const struct number_range any_size = {0, INT32_MAX, 0};
    int64_t size = 0, token = 0;
    const enum ht_status sized =
        query_number(req, "pageSize", &any_size, &size, err);
    const enum ht_status status = read_token(req, &token, err);
    if (sized != HT_OK || status != HT_OK)
        return HT_INVALID;
    const size_t wanted = size == 0 ? sizes->usual : (size_t)size;
    page->size =
        query_page_most(req, wanted < sizes->most ? wanted : sizes->most);
    page->token = token;
    return HT_OK;
}

enum ht_status query_page(struct request *req, struct query_page *page,
                          struct ht_error *err)
{
    static const struct query_page_sizes sizes = {PAGE_DEFAULT, PAGE_MOST};
    return query_page_sized(req, &sizes, page, err);
}

void query_page_end(struct request *req, int64_t id)
{
    text_puts(&req->reply, "]");
    if (id > 0)
        text_printf(&req->reply, ",\"nextPageToken\":\"%s\"",
                    query_page_token(req, id));
    text_puts(&req->reply, "}");
}

/* --- what a route takes --- */

/* Google's system parameters, which are of no method and of all. */
static bool is_system(const char *name)
{
    static const char *const names[] = {
        "access_token", "alt",         "callback",        "fields",
        "key",          "oauth_token", "prettyPrint",     "quotaUser",
        "trace",        "uploadType",  "upload_protocol", "userProject"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return name[0] == '$';
}

/* The accepted name that `said` is, in either spelling, or NULL. */
static const char *find_taken(struct arena *arena, const char *takes,
                              const char *said)
{
    while (takes != NULL && *takes != '\0') {
        const size_t len = strcspn(takes, " ");
        if (field_name_is(said, strlen(said), takes, len))
            return arena_strndup(arena, takes, len);
        takes += len + strspn(takes + len, " ");
    }
    return NULL;
}

static void take_pair(struct request *req, const char *takes,
                      const struct pair *said, struct pair *items)
{
    const char *name = find_taken(req->arena, takes, said->name);
    if (name == NULL && is_system(said->name))
        return;
    if (name == NULL && takes == NULL)
        diag_error(faults_of(req), 0, 0, said->name,
                   "is unknown: this method takes nothing in the query");
    else if (name == NULL)
        diag_error(faults_of(req), 0, 0, said->name,
                   "is unknown: this method takes %s", takes);
    else if (request_query(req, name) != NULL)
        diag_error(faults_of(req), 0, 0, name, "is given twice");
    else
        items[req->query.n++] = (struct pair){name, said->value};
}

enum ht_status query_take(struct request *req, const char *takes,
                          const struct pairs *said, struct ht_error *err)
{
    if (takes != NULL && strcmp(takes, QUERY_ANYTHING) == 0)
        return HT_OK;
    struct pair *items = arena_alloc(req->arena, said->n, sizeof *items);
    req->query = (struct pairs){.items = items};
    for (size_t i = 0; i < said->n; i++)
        take_pair(req, takes, &said->items[i], items);
    return faults_check(req, err);
}
